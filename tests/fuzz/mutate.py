"""Mutants of every .tile file through the compiler: mutate.py [--count N] [--seed S] [--first I] [--jobs J] [--compile PERCENT] [--ctilec PROGRAM].

A mutant is a file of the tree with some of its tokens or bytes changed, cut, exchanged or taken from another file. Whatever it is, the
compiler ends in time with exit 0 or 1, says nothing of its inside, and gives each message a place. Mutant I of seed S is always the
same: `--seed S --first I --count 1` makes it again. Without --ctilec the compiler is built with sanitizers first.
--compile: of the mutants that were accepted for the C target, so many of a hundred go through the C compiler, with warnings as errors.
A failure is cut down to the least text that still fails and lies in BUILD/tests/mutants."""
import argparse
import concurrent.futures
import hashlib
import os
import random
import re
import resource
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
from common import *

LIMIT = 60                      # seconds of processor time, with sanitizers: a hundredfold of what a compilation takes; a busy machine changes nothing
BYTES = 16 * 1024               # of a mutant: longer files lose items first
TOKEN = re.compile(rb'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|0[xX][\w.]+(?:[pP][+-]?\d+)?|\d[\w.]*(?:(?<=[eE])[+-]\d+)?|[A-Za-z_]\w*|'
                   rb'\.\.|->|<<=|>>=|<<|>>|[<>=!+\-*/%&|^@]=|&&|\|\||\s+|.', re.S)
WORD = re.compile(rb"[A-Za-z_]\w*$")
NUMBERS = b"""0 1 2 3 4 5 7 8 16 31 32 33 63 64 65 127 128 255 256 1000 1024 4096 65535 65536 16777216 2147483647 2147483648 4294967296
    9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616 170141183460469231731687303715884105727
    340282366920938463463374607431768211456 0x7fffffff 0b1010 1_000 7u8 300u8 5i64 0.0 0.5 1.0 1e-5 1e38 1e39 1e308 1e309 1e-400
    2.5f64 1.0bf16 65504.0f16 0x1.8p3 inf nan null true false""".split()
TYPES = b"bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 tf32 f8e4m3 f8e5m2 ptr<f32> ptr<void> tile<f32,[64]> tensor<f32,[n]>".split()
SMALL = b"( ) [ ] { } < > , ; : . .. = + - * / % @ & | ^ ! ~ ? _ == != <= >= && || << >> += -> in out inout unsafe const let var for while if else".split()
OPTIONS = [["--target=c"], ["--target=cuda"], ["--check", "-Wall", "-Wextra", "-Wperf"], ["--target=c", "--checked"], ["--target=cuda", "--checked", "--arch=sm_80"],
           ["--target=cuda", "--arch=sm_90a,sm_100", "-O1"], ["--target=cuda", "--arch=sm_89", "-O0"], ["--target=c", "-O0", "--line=off"],
           ["--target=cuda", "-O3", "-Wall", "-Wextra", "-Wperf"], ["--emit=types"], ["--emit=ast"], ["--emit=manifest"]]
WORDS = read(os.path.join(ROOT, "tests", "diag", "forbidden-words")).split()
INSIDE = re.compile(r"\b(?:TOK|EX|ST|IT|OP|EL|TY|D|BIN|UN|SYM|AT|TR|SV)_[A-Z][A-Z_0-9]*\b")
PLACED = re.compile(r"^[^:\n]+:[1-9]\d*:[1-9]\d*: (?:error|warning|note): .+")
SETTLED = re.compile(r"^ctilec: stopped after \d+ errors?; --error-limit=0 shows all$")


# ---- texts ----
def corpus():
    return [(os.path.relpath(p, ROOT), open(p, "rb").read()) for p in tile_files("samples", "stdlib", "tests", "bench")
            if not p.startswith(os.path.join(ROOT, "tests", "fuzz"))]


def tokens(text):
    return TOKEN.findall(text)


def solid(toks):
    """Where tokens are that mean something."""
    return [i for i, t in enumerate(toks) if t.strip() and not t.startswith((b"//", b"/*"))]


def items(text):
    """The file at its outermost level: pieces that end after a `;` or `}` there."""
    depth, out, now = 0, [], []
    for t in tokens(text):
        now.append(t)
        if t in (b"{", b"(", b"["):
            depth += 1
        elif t in (b"}", b")", b"]"):
            depth -= 1
        if depth <= 0 and t in (b"}", b";"):
            out.append(b"".join(now))
            now = []
    return out + [b"".join(now)]


def shortened(text, rng):
    if len(text) <= BYTES:
        return text
    parts = items(text)
    while len(parts) > 1 and sum(map(len, parts)) > BYTES:
        del parts[rng.randrange(len(parts))]
    return b"".join(parts)


def group_end(toks, i):
    """The index after the bracket that closes the one at i."""
    pairs = {b"(": b")", b"[": b"]", b"{": b"}"}
    depth = 0
    for k in range(i, len(toks)):
        depth += toks[k] in pairs
        depth -= toks[k] in pairs.values()
        if depth == 0:
            return k + 1
    return len(toks)


class Mutator:
    def __init__(self, files):
        self.files = files
        self.words = sorted({t for _, text in files for t in tokens(text) if WORD.match(t)})
        self.pool = sorted({t for _, text in files for t in tokens(text) if t.strip() and len(t) < 40})

    def any_token(self, rng):
        return rng.choice([lambda: rng.choice(NUMBERS), lambda: rng.choice(TYPES), lambda: rng.choice(SMALL), lambda: rng.choice(self.words), lambda: rng.choice(self.pool)])()

    def alike(self, t, rng):
        """Another token of the same kind."""
        if t[:1].isdigit():
            return rng.choice(NUMBERS)
        if t in TYPES:
            return rng.choice(TYPES)
        if WORD.match(t):
            return rng.choice(self.words)
        return rng.choice(SMALL)

    def by_token(self, text, rng):
        toks = tokens(text)
        at = solid(toks)
        if not at:
            return text + self.any_token(rng)
        i, k = rng.choice(at), rng.choice(at)
        kind = rng.randrange(12)
        if kind == 0:
            del toks[i]
        elif kind == 1:
            toks.insert(i, toks[i])
        elif kind == 2:
            toks[i], toks[k] = toks[k], toks[i]
        elif kind in (3, 4, 5):
            toks[i] = self.alike(toks[i], rng)
        elif kind == 6:
            toks[i] = self.any_token(rng)
        elif kind == 7:
            toks.insert(i, b" " + self.any_token(rng) + b" ")
        elif kind == 8:                                     # a name for another of the same file
            names = [toks[j] for j in at if WORD.match(toks[j])] or [b"x"]
            toks[i] = rng.choice(names)
        elif kind == 9:                                     # a bracketed group for another, or for nothing
            open_at = [j for j in at if toks[j] in (b"(", b"[", b"{")]
            if open_at:
                i, k = rng.choice(open_at), rng.choice(open_at)
                toks[i:group_end(toks, i)] = toks[k:group_end(toks, k)] if rng.random() < 0.7 else []
        elif kind == 10:                                    # some tokens in a row, elsewhere
            piece = toks[k:k + rng.randrange(1, 12)]
            toks[i:i] = piece
        else:
            del toks[i:i + rng.randrange(1, 12)]
        return b"".join(toks)

    def by_line(self, text, rng):
        lines = text.split(b"\n")
        other = rng.choice(self.files)[1].split(b"\n")
        i = rng.randrange(len(lines))
        kind = rng.randrange(4)
        if kind == 0:
            del lines[i]
        elif kind == 1:
            lines.insert(i, lines[rng.randrange(len(lines))])
        elif kind == 2:
            lines.insert(i, rng.choice(other))
        else:
            lines += items(rng.choice(self.files)[1])[:rng.randrange(1, 4)]
        return b"\n".join(lines)

    def by_byte(self, text, rng):
        b = bytearray(text)
        i = rng.randrange(len(b) + 1)
        kind = rng.randrange(5)
        if kind == 0 and i < len(b):
            b[i] ^= 1 << rng.randrange(8)
        elif kind == 1:
            b[i:i] = bytes(rng.choices(range(256), k=rng.randrange(1, 5)))
        elif kind == 2:
            del b[i:i + rng.randrange(1, 20)]
        elif kind == 3:
            del b[i:]
        else:
            b[i:i] = rng.choice([b"\0", b"\r", b"\xe2\x82", b"\xef\xbb\xbf", b"\"", b"/*", b"*/", b"\\", b"(" * 300, b"[" * 300, b"-" * 300, b"9" * 400])
        return bytes(b)

    def make(self, seed, number):
        """The name of the file it came from, the text, the options."""
        rng = random.Random("%d/%d" % (seed, number))
        name, text = rng.choice(self.files)
        text = shortened(text, rng)
        for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 5])):
            text = rng.choice([self.by_token] * 7 + [self.by_line] * 2 + [self.by_byte])(text, rng)
        return name, text, rng.choice(OPTIONS)


# ---- judging ----
class Judge:
    def __init__(self, program, folder, compile_percent):
        self.program, self.folder, self.percent = program, folder, compile_percent
        # intercept_strstr: it would measure the whole text at each search in it, which takes minutes
        self.env = clean_env({"ASAN_OPTIONS": "detect_leaks=0:intercept_strstr=0:allocator_may_return_null=0:max_allocation_size_mb=4096", "UBSAN_OPTIONS": "print_stacktrace=1"})

    def run(self, args, where):
        def limited():
            resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
        p = subprocess.run(args, cwd=where, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env, preexec_fn=limited)
        hangs = -p.returncode in (signal.SIGKILL, signal.SIGXCPU)
        return None if hangs else p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")

    def fault(self, name, text, options, compiled=False):
        """None, or (what kind of failure, where: the same for the same mistake; all that was said)."""
        with tempfile.TemporaryDirectory(dir=self.folder) as d:
            with open(os.path.join(d, "m.tile"), "wb") as f:
                f.write(text)
            out = ["-o", "-"] if options[0].startswith("--emit") else [] if options[0] == "--check" else ["-o", "m.c" if "--target=c" in options else "m.cu"]
            args = [self.program, *options, *out, "--color=never", "--diagnostics=short", "-I", os.path.dirname(os.path.join(ROOT, name)), "m.tile"]
            code, _, said = self.run(args, d)
            found = self.judge(code, said, text)
            if not found and code == 1 and hash_of(text) % 4 == 0:      # the long form is read less often: it has more to go wrong in, but is slower
                args[args.index("--diagnostics=short")] = "--diagnostics=rich"
                code, _, said = self.run(args, d)
                found = self.judge_rich(code, said, text)
            if not found and code == 0 and compiled and os.path.exists(os.path.join(d, "m.c")):
                code, _, said = self.run([CC, "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "m.c"], d)
                if code:
                    found = "the C compiler refuses", (re.findall(r"error: (.*)", said) or [""])[0]
            if not found and code == 1:
                left = [n for n in os.listdir(d) if n != "m.tile"]
                if left:
                    found = "files written after an error", " ".join(left)
            return found and (found[0], found[1], said)

    def judge(self, code, said, text):
        if code is None:
            return "no end in %d seconds" % LIMIT, ""
        if code not in (0, 1):
            return "exit %d" % code, signature(said)
        if "Sanitizer" in said or "runtime error" in said:
            return "a sanitizer's report", signature(said)
        lines = said.splitlines()
        if code == 1 and not any(": error: " in l for l in lines):
            return "exit 1 without an error", said[:80]
        for l in lines:
            if not PLACED.match(l) and not SETTLED.match(l) and not l.startswith((" ", "\t")):
                return "a message without a place", re.sub(r"\d+", "0", l)[:60]
        return self.words(said, text)

    def judge_rich(self, code, said, text):
        if code is None or code not in (0, 1) or "Sanitizer" in said or "runtime error" in said:
            return self.judge(code, said, text)
        return self.words(re.sub(r"^ *\d* \|.*$", "", said, flags=re.M), text)

    def words(self, said, text):
        """Forbidden words that the author of the text did not write."""
        mine = text.decode("utf-8", "replace")
        for w in WORDS:
            pattern = r"(?<![A-Za-z0-9_])" + re.escape(w) + r"(?![A-Za-z0-9_])" if w[0].isalpha() else re.escape(w)
            if re.search(pattern, said) and w not in mine:
                return "a forbidden word", w
        found = [w for w in INSIDE.findall(said) if w not in mine]
        return ("a name from the inside", found[0]) if found else None


def hash_of(text):
    return int(hashlib.md5(text).hexdigest()[:8], 16)


def signature(said):
    """What tells one mistake from another: the place in the compiler, not the values."""
    m = re.search(r"internal error.*\n\s+at (\S+):\d+", said)
    if m:
        return re.sub(r"\d+", "0", re.search(r"internal error: (.*)", said).group(1))[:60] + " at " + m.group(1)
    frames = re.findall(r"#\d+ 0x[0-9a-f]+ in (\w+) (?!\.\.|/build|\S*libsanitizer)", said)
    frames = [f for f in frames if not f.startswith(("__", "_IO", "printf", "vsn"))]
    m = re.search(r"(\S+): runtime error: (\S+ \S+)|ERROR: \w+: ([\w-]+)", said)
    what = (m.group(2) or m.group(3)) if m else said[-60:]
    return "%s in %s" % (what, frames[0] if frames else "?") if "stack-overflow" not in what else "stack-overflow in " + " ".join(sorted(set(frames[:60]))[:4])


# ---- the least text ----
def minimal(judge, name, text, options, found, compiled, tries=400):
    """Cuts while the same mistake shows: items, lines, then tokens, in pieces of falling size."""
    left = [tries]

    def still(t):
        if left[0] <= 0:
            return False
        left[0] -= 1
        now = judge.fault(name, t, options, compiled)
        return now is not None and now[:2] == found[:2]

    for split in (items, lambda t: re.findall(rb"[^\n]*\n|[^\n]+", t), tokens):
        parts = split(text)
        n = len(parts) // 2
        while n >= 1:
            i = 0
            while i < len(parts):
                less = parts[:i] + parts[i + n:]
                if b"".join(less) != b"".join(parts) and still(b"".join(less)):
                    parts = less
                else:
                    i += n
            n //= 2
        text = b"".join(parts)
    return text


def main():
    ap = argparse.ArgumentParser(description=__doc__.replace("%", "%%"), formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--count", type=int, default=200)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--first", type=int, default=0)
    ap.add_argument("--jobs", type=int, default=1)
    ap.add_argument("--compile", type=int, default=0)
    ap.add_argument("--ctilec")
    ap.add_argument("--print", action="store_true", help="print the mutants, run nothing")
    a = ap.parse_args()
    made = Mutator(corpus())
    if a.print:
        for i in range(a.first, a.first + a.count):
            name, text, options = made.make(a.seed, i)
            print("// %s %s" % (name, " ".join(options)))
            sys.stdout.flush()
            sys.stdout.buffer.write(text)
        return
    program = a.ctilec or os.path.join(sanitized(), "ctilec")
    print("seed %d, mutants %d to %d of %d files" % (a.seed, a.first, a.first + a.count - 1, len(made.files)))
    keep = os.path.join(BUILD, "tests", "mutants")
    os.makedirs(keep, exist_ok=True)
    seen = {}

    def one(i):
        name, text, options = made.make(a.seed, i)
        compiled = hash_of(text) % 100 < a.compile
        return i, name, text, options, compiled, judge.fault(name, text, options, compiled)

    with tmpdir() as tmp, concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        judge = Judge(os.path.abspath(program), tmp, a.compile)
        for i, name, text, options, compiled, found in pool.map(one, range(a.first, a.first + a.count)):
            if i % 1000 == 999:
                print("%d mutants" % (i + 1 - a.first), flush=True)
            if not found:
                continue
            key = found[:2]
            seen[key] = seen.get(key, 0) + 1
            if seen[key] > 1:
                continue
            least = minimal(judge, name, text, options, found, compiled)
            path = os.path.join(keep, "%d-%d.tile" % (a.seed, i))
            write(path, least)
            fail("%s: %s\n  again: --seed %d --first %d --count 1, from %s; least text (%s): ctilec %s %s\n%s\n  said:\n%s" % (
                found[0], found[1], a.seed, i, name, "%d bytes" % len(least), " ".join(options), os.path.relpath(path, ROOT),
                "".join("    " + l + "\n" for l in least.decode("utf-8", "backslashreplace").splitlines()[:30]), found[2][-1500:]))
            sys.stdout.flush()
    for key, n in sorted(seen.items(), key=lambda kv: -kv[1]):
        print("%6d times: %s: %s" % (n, *key))
    finish()


main()
