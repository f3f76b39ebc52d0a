"""Emitted CUDA through nvcc: nvcc.py GROUP. Groups: see emitted.py.

Every program is emitted with the default --arch and with other lists, and each text is compiled to machine code for sm_80, 89, 90a,
100 and 120: in turn, so that a group of any size sees all combinations and few compilations; samples with the default list for all
five, those together for which the text is the same. Texts of other groups for one architecture go through nvcc as one file, for starting
it costs as much as twenty kernels. Of the kernels of tests/values, most of which have nothing that no other has, as many keep their bodies as
have all forms of text together. Anything that nvcc says is a failure; so are spills in samples. Set TURN to begin elsewhere in the turns."""
import collections
import functools
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from emitted import *

ARCHS = ["sm_80", "sm_89", "sm_90a", "sm_100", "sm_120"]
LISTS = ["", "sm_80", "sm_89", "sm_90a", "sm_100", "sm_120", ",".join(ARCHS)]
COMBINATIONS = [(i, a) for i in LISTS for a in ARCHS]
SPILL = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
FUNCTION = re.compile(r"Compiling entry function '(\w+)'")
INFO = re.compile(r"^ptxas info\s*:|^\s+\d+ bytes stack frame|^$")

# samples are optimized, so that it shows where registers are spilled; all else hardly is: nothing more would be said of it
QUICK = ["-Xcicc", "--Ofast-compile=mid", "-Xptxas", "--Ofast-compile=max"]        # `max` and -Xcicc -O0 leave ptxas more than they save
# ptxas gives registers to tensor cores in optimized code only: text with wgmma is optimized, unless it is very long, and in other text
# what it says of them (C75xx) counts for nothing
WHOLE, WHOLE_LINES = "ct_wgmma_", 20000
AT_ONCE = 60000     # lines of one file for nvcc: enough that its start is nothing beside them

# The host part of other groups than samples is given to the host's compiler alone: nvcc needs five times as long to come to it.
HOST_FLAGS = ["-Wall", "-Wextra", "-Werror"]

spills, done = [], set()


def compile_one(name, text, archs, where, whole, quick):
    """archs: between which the text makes no difference. whole: with its host part; else the device's part."""
    check_silent(name, ", ".join(archs), *compiled(text, archs, where, whole, quick))


def compiled(text, archs, where, whole, quick):
    """(exit status, what was said)"""
    kind = ["-c", "-Xcompiler", "-Wall,-Wextra"] if whole else ["-fatbin"] if len(archs) > 1 else ["-cubin"]
    least = min(archs, key=lambda arch: int(re.sub(r"\D", "", arch)))
    codes = ["-gencode=arch=%s,code=%s" % (least.replace("sm", "compute"), arch) for arch in archs] if len(archs) > 1 else ["-arch=" + least]
    r = run([NVCC] + kind + (QUICK if quick else []) + codes + ["-Xptxas", "-v", "-Werror", "all-warnings", "-o", os.path.join(where, "k.bin"), text], timeout=500)
    said = r.out.decode("utf-8", "replace") + r.text
    return r.code, "".join(line for line in said.splitlines(True) if not (quick and "C75" in line))


def wrong_lines(said):
    return [line for line in said.splitlines() if not INFO.match(line) or "C75" in line]


def check_silent(name, arch, code, said):
    wrong = wrong_lines(said)
    check(code == 0 and not wrong, "%s for %s:\n%s" % (name, arch, "\n".join(wrong)[-3000:]))
    function = "?"
    for line in said.splitlines():
        m = FUNCTION.search(line)
        function = m.group(1) if m else function
        m = SPILL.search(line)
        if m and int(m.group(1)) + int(m.group(2)):
            spills.append("%s: %s for %s: %s" % (name, function, arch, m.group(0)))


def host_part(name, text, where):
    host = os.path.join(where, "host.cpp")
    write(host, host_side(read(text)))
    r = run(["g++", "-c", "-o", host + ".o", "-include", cuda_header(where), *HOST_FLAGS, "-I" + os.path.dirname(text), "-isystem", include_folder(), host])
    check(r.code == 0, "%s, host part:\n%s" % (name, r.text[-3000:]))


@functools.lru_cache(None)
def cuda_header(where):
    """CUDA's header, which every host part includes first, precompiled: it takes longer than the rest."""
    path = os.path.join(where, "cuda.h")
    write(path, "#include <cuda_runtime.h>\n")
    must(["g++", "-x", "c++-header", "-o", path + ".gch", *HOST_FLAGS, "-isystem", include_folder(), path])
    return path


KERNEL = re.compile(r"^(static __global__ void [^\n]*\n(?:#if[^\n]*\n__cluster_dims__[^\n]*\n#endif\n)?(\w+)\([^{]*\)\n)\{\n(.*?)^\}\n", re.M | re.S)
WORDS = re.compile(r"\b(?:if|else|for|while|do|switch|break|continue|goto|return|asm|volatile|union|struct|__\w+)\b|[-+*/%&|^<>=!?~]+")
# functions that load and store tiles of one shape, numbered, for one kernel or a few
ACCESS = re.compile(r"^CT_FN [^\n]*?\b(ct_(?:load|store)_tile_\w+)\([^\n]*\)\n(\{\n.*?^\}\n)", re.M | re.S)
ACCESS_NAME = re.compile(r"\b((ct_(?:load|store)_tile_\w+?)_\d+(?:x\d+)*(?:_\d+)?)(?=\()")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


@functools.lru_cache(None)
def forms(body):
    """What nvcc could dislike in a kernel: the functions that it calls, whose names hold their types; the instructions, with their modifiers,
    and the words of C; the operations and types of tiles that the comments name. Numbers of elements are left out."""
    code = ACCESS_NAME.sub("", COMMENT.sub("", body))
    return {*re.findall(r"\b[A-Za-z_]\w*(?=\()", code), *WORDS.findall(code), *re.findall(r'"[a-z][\w.:]+(?=[ ;])', code),
            *("operation " + name for name in re.findall(r"// (?:[^=\n]* = )?(\w+)\(", body)), *re.findall(r"\btile<\w+", body)}


def bodies(text, names):
    """(name, lines, forms) of each kernel with the functions that access tiles for it: each form in one of those, with what that is for."""
    text = read(text)
    access, found = dict(ACCESS.findall(text)), []
    for m in KERNEL.finditer(text):
        name, body = m.group(2, 3)
        if name in names and body:
            called = set(ACCESS_NAME.findall(COMMENT.sub("", body)))
            mine = forms(body).union(*({"%s: %s" % (kind, f) for f in forms(access[one])} for one, kind in called))
            found.append((name, body.count("\n") + sum(access[one].count("\n") for one, _ in called), mine))
    return found


def emptied(text, names):
    """The text without the bodies of some kernels."""
    return KERNEL.sub(lambda m: m.group(1) + "{\n}\n" if m.group(2) in names else m.group(0), text)


def thin(texts):
    """Takes the bodies of kernels whose forms other kernels have, too, from texts, (name, path, arch, quick); the longest first. Kernels of
    other architectures than the one that a text is compiled for do not count."""
    heads = re.compile(r"static __global__ void [^{]*\b(\w+)\([^(){]*\)\s*\{\s*[^}\s]")
    there = {path: {m.group(1) for m in map(heads.match, pieces_for(path, arch)) if m} for _, path, arch, _ in texts}
    found = [(path, *one) for path, names in there.items() for one in bodies(path, names)]
    count = collections.Counter(f for *_, mine in found for f in mine)
    left, gone = count.copy(), {path: set() for path in there}
    for path, name, _, mine in sorted(found, key=lambda k: (-k[2], k[1])):
        if all(left[f] > 1 for f in mine):
            left.subtract(mine)
            gone[path].add(name)
    for path, names in gone.items():
        write(path, emptied(read(path), names))
    kept = [(lines, mine) for path, names in there.items() for _, lines, mine in bodies(path, names)]
    lost = set(count).difference(*(mine for _, mine in kept))
    check(len(count) > 2000 and not lost, "of %d forms these are in no kernel that is compiled: %s" % (len(count), sorted(lost)))
    print("%d of %d kernels, %d of %d lines have all of %d forms" % (len(kept), len(found), sum(n for n, _ in kept), sum(k[2] for k in found), len(count)))


class Together:
    """Texts that wait until there are enough of their architecture for one call of nvcc; those of tests/values until all are there."""
    def __init__(self, tmp, all_first):
        self.tmp, self.all_first, self.waiting, self.made = tmp, [] if all_first else None, {}, 0

    def path(self):
        folder = os.path.join(self.tmp, "text%d" % self.made)      # headers of the same name
        os.makedirs(folder)
        self.made += 1
        return os.path.join(folder, "k.cu")

    def add(self, name, path, arch, quick):
        if self.all_first is not None:
            self.all_first.append((name, path, arch, quick))
            return
        texts = self.waiting.setdefault((arch, quick), [])
        texts.append((name, path))
        if sum(read(p).count("\n") for _, p in texts) > AT_ONCE:
            self.compile(arch, quick)

    def compile(self, arch, quick):
        texts = self.waiting.pop((arch, quick))
        one = os.path.join(self.tmp, "together.cu")
        write(one, together(texts))
        code, said = compiled(one, [arch], self.tmp, False, quick)
        before = len(failures)
        if code or wrong_lines(said):       # whose fault is it?
            for name, path in texts:
                compile_one(name, path, [arch], self.tmp, False, quick)
        if len(failures) == before:
            check_silent("together", arch, code, said)
            want, have = (len(re.findall(pattern, text)) for pattern, text in ((r"static __global__ void ", read(one)), (FUNCTION, said)))
            check(want == have, "%d of %d kernels are in the machine code for %s of %s" % (have, want, arch, [name for name, _ in texts]))
        for _, path in texts:
            shutil.rmtree(os.path.dirname(path))

    def finish(self):
        if self.all_first is not None:
            texts, self.all_first = self.all_first, None
            thin(texts)
            for text in texts:
                self.add(*text)
        for key in list(self.waiting):
            self.compile(*key)


@functools.lru_cache(None)
def include_folder():
    """Of the toolkit that nvcc belongs to, as nvcc itself says."""
    said = run([NVCC, "--dryrun", "-E", "-x", "cu", os.devnull]).text
    return re.search(r'^#\$ INCLUDES="-I([^"]*)"', said, re.M).group(1).strip()


def hardly(text, arch):
    """Is the text hardly optimized for an architecture?"""
    return not (arch.endswith("a") and WHOLE in text and text.count("\n") < WHOLE_LINES)


def one_of_many(name, path, options, tmp, archs, arch, whole, others):
    """Emits a program for one list and compiles it for one architecture, with others; whole: its host part, too."""
    out = others.path()
    if not emit(name, path, options + (["--arch=" + archs] if archs else []), out):
        return
    name, quick = "%s, --arch=%s" % (name, archs or "default"), hardly(read(out), arch)
    done.add((archs, arch))
    if whole:
        host_part(name, out, tmp)
    others.add(name, out, arch, quick)


def program(name, path, options, tmp, combinations, whole):
    """Emits and compiles one program for each combination; the one named by whole with its host part. A text whose functions
    another list had for this architecture, too, is not compiled again; nor are kernels of another text that were in one."""
    texts, served, known, had = {}, {}, {}, {}
    for archs, arch in combinations:
        if archs not in texts:
            where = os.path.join(tmp, "list%d" % LISTS.index(archs))
            os.makedirs(where, exist_ok=True)
            out = os.path.join(where, "k.cu")
            texts[archs] = out if emit(name, path, options + (["--arch=" + archs] if archs else []), out) else None
        if not texts[archs]:
            continue
        mine = functions_for(texts[archs], arch)
        have = known.setdefault(arch, set())
        if (archs, arch) == whole or not mine <= have:
            served.setdefault((archs, differs(read(texts[archs]), arch)), []).append(arch)
            had[archs, arch] = kernels_known(texts[archs], arch, have)
        have |= mine
        done.add((archs, arch))
    for (archs, _), mine in served.items():
        text = os.path.join(os.path.dirname(texts[archs]), "left.cu")
        write(text, emptied(read(texts[archs]), set.intersection(*(had[archs, arch] for arch in mine))))
        compile_one("%s, --arch=%s" % (name, archs or "default"), text, mine, tmp, whole in [(archs, arch) for arch in mine], False)


def pieces_for(text, arch):
    """What the preprocessor leaves of the device's part of a text for an architecture: its functions, types and variables."""
    number = re.sub(r"\D", "", arch)
    own = ["-D__CUDA_ARCH_FEAT_SM%s_ALL" % number] if arch.endswith("a") else []
    said = must([CC, "-E", "-P", "-undef", "-nostdinc", "-x", "c", "-D__CUDACC_RTC__", "-D__CUDA_ARCH__=%s0" % number, *own, text]).out.decode()
    return [piece.strip() for piece in re.split(r"\n(?=(?:static|typedef|struct|extern)\b)", said)]


def functions_for(text, arch):
    """The functions of the device that a text has for an architecture, without kernels that are empty there; names do not say for which
    architecture the list has them."""
    pieces = pieces_for(text, arch)
    empty = {m.group(1) for m in (re.search(r"\b(\w+)\([^{;]*\{\s*\}$", piece) for piece in pieces) if m}
    calls = [m and m.group(1) for m in (re.search(r"__global__[^{]*\{\s*(\w+_rows)\(", piece) for piece in pieces)]
    kept = [piece for piece, rows in zip(pieces, calls) if rows not in empty and not re.search(r"(?:__global__|_rows\()[^{]*\{\s*\}$", piece)]
    return set(general(kept))


def general(pieces):
    """Functions without the architecture in their names, with launch bounds as numbers, with the values of the launcher numbered as they are
    used and no parameters that are not, and without waiting for other grids, whose function counts for itself."""
    def value(text):
        condition, _, rest = text.partition("?")
        chosen, _, other = rest.partition(":")
        return text.strip() if not rest else chosen.strip() if "1" in condition.split() else value(other)

    def bounds(m):
        return "__launch_bounds__(%s)" % ", ".join(map(value, m.group(1).split(",")))

    def plain(piece):
        piece = re.sub(r"\bct_grid_wait\(\);", "", re.sub(r"_sm\d+a?(?=\w*\()", "", piece))
        m = re.match(r"([^{]*__global__[^{]*)\b(\w+)\(([^(){]*)\)\s*(?=\{)", piece)
        if m:
            body = piece[m.end():]
            used = [p for p in m.group(3).split(",") if re.search(r"\b%s\b" % re.search(r"\w*$", p).group(0), body)]
            at = {name: "ct_l_%d" % i for i, name in enumerate(dict.fromkeys(re.findall(r"\bct_l\d+\b", body)))}
            used, body = (re.sub(r"\bct_l\d+\b", lambda m: at[m.group(0)], t) for t in (",".join(used), body))
            piece = "%s%s(%s)%s" % (re.sub(r"__launch_bounds__\(([^()]*)\)", bounds, m.group(1)), m.group(2), ",".join(sorted(used.split(","))), body)
        return " ".join(piece.split())
    return [plain(piece) for piece in pieces]


def kernels_known(text, arch, have):
    """Kernels of a text that are among the functions of others for an architecture, as all that they call is."""
    pieces = pieces_for(text, arch)
    found = {m.group(1): (piece, known in have) for piece, known in zip(pieces, general(pieces)) for m in [re.search(r"\b(\w+)\([^(){]*\)\s*\{", piece)] if m}
    words = {name: set(re.findall(r"\w+", piece)) for name, (piece, _) in found.items()}
    new, before = {name for name, (_, known) in found.items() if not known}, None
    while new != before:
        before, new = new, new | {name for name in found if words[name] & new}
    return {name for name, (piece, _) in found.items() if "__global__" in piece and name not in new}


def differs(text, arch):
    """What the preprocessor's questions come to: architectures for which it is the same get the same text."""
    number = 10 * int(re.sub(r"\D", "", arch))
    own = arch if "__CUDA_ARCH_FEAT_SM%d_ALL" % (number // 10) in text and arch.endswith("a") else ""
    return own, tuple(number >= int(n) for n in sorted(set(re.findall(r"__CUDA_ARCH__ *(?:>=|<) *(\d+)", text))))


def serves(archs, arch):
    """Does a text for this list hold code for arch? An entry with `a` serves only itself."""
    number = int(re.search(r"\d+", arch).group(0))
    own = (archs or "sm_80,sm_90a").split(",")
    return any(a == arch or (not a.endswith("a") and int(a[3:]) <= number) for a in own)


def spread(combinations):
    """In an order whose short runs hold many lists and architectures; those without any code come last."""
    return sorted(combinations, key=lambda c: (not serves(*c), (ARCHS.index(c[1]) + LISTS.index(c[0])) % len(ARCHS)))


def main(group):
    if not NVCC:
        fail("there is no nvcc; `sh tools/setup.sh test` gets one")
        finish()
    turn = int(os.environ.get("TURN", "0"))
    with tmpdir() as tmp:
        found = GROUPS[group](tmp)
        check(found, "group %s is empty" % group)
        sample = group == "samples"
        rest = spread(c for c in COMBINATIONS if not sample or c[0])
        if group == "values":
            rest = [c for c in rest if serves(*c)]
        each = -(-len(rest) // len(found)) if sample else 1
        others = Together(tmp, group == "values")
        for i, (name, path, options) in enumerate(found):
            mine = [rest[(turn + each * i + k) % len(rest)] for k in range(each)]
            if sample:
                mine = [("", a) for a in ARCHS] + mine
                program(name, path, options, tmp, mine, mine[i % len(ARCHS)])
            else:
                one_of_many(name, path, options, tmp, *mine[0], i % 4 == 0, others)
        others.finish()
        print("%d programs, %d of %d combinations of --arch and architecture" % (len(found), len(done), len(COMBINATIONS)))
        if sample:
            check(len(done) == len(COMBINATIONS), "combinations that no sample saw: %s" % sorted(set(COMBINATIONS) - done))
    for s in spills:
        print("spills: " + s)
    check(not spills or not sample, "samples spill registers")
    finish()


main(sys.argv[1])
