"""Files that are read and written: files.py names|nvcc|outputs|limits|replay.

names: any bytes in file names give code that compiles and messages that no terminal acts on. outputs: none touches an input or another
output; program and header change together. limits: endless inputs, full disks, signals. replay: tools/replay.py writes in its folder only."""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
from common import *

GOOD = b"""kernel scale<N: int = 64>(x: tensor<f32, [n]>, y: out tensor<f32, [n]>)
    grid [cdiv(n, N)]
{
    assert(n >= 0, "n");
    y.store([bid(0)], x.load([bid(0)], [N]) * 2);
}
"""
BAD = GOOD.replace(b"* 2", b"* undefined_name")


def put(folder, name, text):
    with open(os.path.join(os.fsencode(folder), os.fsencode(name)), "wb") as f:
        f.write(text)


def get(folder, name):
    with open(os.path.join(os.fsencode(folder), os.fsencode(name)), "rb") as f:
        return f.read()


def names_in(folder):
    return sorted(os.listdir(folder))


# ---- names ----
NAMES = [b"pl ain", "größe".encode(), b'a"b', b"a\\b", b"a??=b", b"a??'b", b"a'b", b"a\nb", b"a\rb", b"a\x1b[31mb", b"\xff\xfe", b"a*", b"x*", "a\u202eb".encode(), "a\u009bb".encode(),
         b"#h", b"%d%s%n", b"$(x)", b"tail\\", b"??", b"a\x7fb", b"n" * 246]


def acts(text):
    """Whether a terminal would do more than show it: bytes that are no UTF-8, controls, marks of direction."""
    try:
        s = text.decode()
    except UnicodeDecodeError:
        return True
    return any(c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u200e\u200f\u061c" or 0x2028 <= ord(c) <= 0x202E or 0x2066 <= ord(c) <= 0x2069) for c in s)


def names(tmp):
    for name in NAMES:
        folder = os.path.join(tmp, "d%d" % NAMES.index(name))
        os.mkdir(folder)
        tile = name + b".tile"
        if len(tile) > 255:
            tile = name[:250] + b".tile"
        put(folder, tile, GOOD)
        r = ctilec("--target=c", "--checked", "--", os.fsdecode(tile), cwd=folder)
        if not check(r.code == 0 and not r.text, "%r: exit %d: %s" % (name, r.code, r.text)):
            continue
        program = tile[:-5] + b".c"
        for cc in [c for c in ("gcc", "clang") if shutil.which(c)]:
            c = run([cc, "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-unknown-pragmas", "-fsyntax-only", b"./" + program], cwd=folder)
            check(c.code == 0, "%s refuses the code of %r: %s" % (cc, name, c.text[:2000]))
        said = [ctilec("--emit=ir", "--", os.fsdecode(tile), cwd=folder).out]
        put(folder, "again.ir", said[0])
        check(ctilec("--emit=ir", "again.ir", cwd=folder).out == said[0], "%r: the IR reads back as another" % name)
        cuda = ctilec("--emit=cuda", "--checked", "--", os.fsdecode(tile), cwd=folder).out
        tiles = ctilec("--target=cuda-tile", "--", os.fsdecode(tile), cwd=folder)
        check(tiles.code == 0, "%r for cuda-tile: %s" % (name, tiles.text))
        texts = [get(folder, program), cuda, get(folder, tile[:-5] + b".tile.cu"), get(folder, tile[:-5] + b".h")]
        for t in texts:
            lines = [l for l in t.split(b"\n") if acts(l.replace(b"\t", b" "))]
            check(not lines, "%r: raw bytes in generated text: %r" % (name, lines[:2]))
        put(folder, tile, BAD)
        for form in ("rich", "short", "json", "sarif"):
            for what in (tile, b"no" + tile[2:]):
                r = ctilec("--target=c", "--diagnostics=" + form, "--", os.fsdecode(what), cwd=folder)
                check(r.code == 1 and r.err and not acts(r.err), "%r, %s: a message with raw bytes: %r" % (name, form, r.err))
                if form == "json":
                    [json.loads(l) for l in r.err.splitlines()]
                elif form == "sarif":
                    json.loads(r.err)
        r = ctilec("-o", os.fsdecode(b"no/" + name), "--target=c", "--stdin-name", os.fsdecode(name), "-", cwd=folder, stdin=GOOD)
        check(r.code == 1 and "cannot write" in r.text and not acts(r.err), "%r: %r" % (name, r.err))
        r = ctilec(os.fsdecode(b"--x" + name), cwd=folder)
        check(r.code == 2 and r.text.count("\n") == 1 and not acts(r.err), "%r as an option: %r" % (name, r.err))
    c = get(os.path.join(tmp, "d0"), "pl ain.c")
    check(b'#include "pl ain.h"' in c and b"int scale(" in c, "the header of a plain name is not included")


def nvcc(tmp):
    """One name with all that is special, for nvcc reads what a preprocessor has made of it."""
    if not NVCC:
        fail("there is no nvcc; `sh tools/get-nvcc.sh` gets one")
        return
    name = b'a"b\\c\nd\xff??=%s$'
    put(tmp, name + b".tile", GOOD)
    r = ctilec("--checked", "--arch=sm_80", "--", os.fsdecode(name + b".tile"), cwd=tmp)
    check(r.code == 0, r.text)
    os.rename(os.path.join(os.fsencode(tmp), name + b".cu"), os.path.join(os.fsencode(tmp), b"k.cu"))      # nvcc itself takes no such name
    r = run([NVCC, "-arch=sm_80", "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra", "-c", "-o", "k.o", "k.cu"], cwd=tmp)
    check(r.code == 0, "nvcc refuses the code: %s" % r.text[-2000:])


# ---- outputs ----
def outputs(tmp):
    def fresh():
        shutil.rmtree(tmp)
        os.mkdir(tmp)
        put(tmp, "v.tile", b'import "lib.tile";\n' + GOOD.replace(b"* 2", b"* TWO") + b"tune t = scale<{32, 64}>;\n")
        put(tmp, "lib.tile", b"const TWO: f32 = 2.0;\n")
        put(tmp, "t.tune", b"*: n > 5 -> 64\n")
        put(tmp, "args", b"-w v.tile")
        os.symlink("v.tile", os.path.join(tmp, "soft"))
        os.link(os.path.join(tmp, "v.tile"), os.path.join(tmp, "hard"))
        os.symlink("nowhere.c", os.path.join(tmp, "dangling"))
        os.mkdir(os.path.join(tmp, "d"))
        return {n: get(tmp, n) for n in ("v.tile", "lib.tile", "t.tune", "args", "hard")}

    cases = [["-o", n] for n in ("v.tile", "./v.tile", "d/../v.tile", "soft", "hard", "lib.tile", "t.tune", os.path.join(tmp, "v.tile"))]
    cases += [["--header=" + n] for n in ("v.tile", "soft", "lib.tile")] + [["-MD", "-MF", n] for n in ("v.tile", "hard", "t.tune")]
    cases += [["--save-repro=" + n] for n in ("v.tile", "soft", "lib.tile")] + [["--emit=ir", "-o", "v.tile"], ["-M", "-o", "lib.tile"], ["-M", "-MF", "v.tile"], ["--check", "-MF", "v.tile"]]
    cases += [["-o", "o.c", "-MF", "o.c"], ["-o", "o.c", "-MF", "./o.c"], ["-o", "o.c", "--header=d/../o.c"], ["-o", "o.c", "--save-repro=o.c"], ["-o", "nowhere.c", "-MF", "dangling"],
              ["-o", "-", "-MF", "-"], ["--header=v.h", "-MF", "v.h"], ["--explain-schedule", "--target=cuda", "-o", "v.tile"], ["--save-repro=v.h"], ["--stop-after=simplify", "-o", "lib.tile"]]
    before = fresh()
    there = names_in(tmp)
    for args in cases:
        line = args + ["v.tile"] if "--target=cuda" in args else ["--target=c", "-w"] + args + ["v.tile"]
        r = ctilec(*line, cwd=tmp)
        check(r.code == 2 and r.text.count("\n") == 1 and "nothing was written" in r.text and not r.out, "%s: exit %d: %s%s" % (line, r.code, r.text, r.out[:80]))
        changed = [n for n in before if get(tmp, n) != before[n]]
        if not check(not changed and names_in(tmp) == there, "%s changed %s: %s" % (line, changed, names_in(tmp))):
            fresh()
    # by way of standard input and response files; a wrong program saves no repro over an input either
    with open(os.path.join(tmp, "v.tile"), "rb") as f:
        p = subprocess.run([CTILEC, "--target=c", "-w", "-", "-o", "v.tile"], cwd=tmp, stdin=f, stderr=subprocess.PIPE)
    check(p.returncode == 2 and get(tmp, "v.tile") == before["v.tile"], "standard input was overwritten: %d %s" % (p.returncode, p.stderr))
    r = ctilec("--target=c", "@args", "-o", "args", cwd=tmp)
    check(r.code == 2 and get(tmp, "args") == before["args"], "a response file was overwritten: %d %s" % (r.code, r.text))
    r = ctilec("--help", "-o", "v.tile", "v.tile", cwd=tmp)
    check(r.code == 2 and get(tmp, "v.tile") == before["v.tile"], "--help -o overwrote the input: %d %s" % (r.code, r.text))
    put(tmp, "lib.tile", b"const TWO: f32 = ;\n")
    r = ctilec("--target=c", "--save-repro=lib.tile", "v.tile", cwd=tmp)
    check(r.code == 2 and get(tmp, "lib.tile") == b"const TWO: f32 = ;\n", "a repro overwrote a wrong import: %d %s" % (r.code, r.text))
    # what is no clash
    fresh()
    for args in (["-o", "/dev/null", "-MF", "/dev/null"], ["-o", "a.c", "-MD", "--save-repro"], ["-o", "-", "-MF", "r.d"], ["-o", "d/v.c"]):
        r = ctilec("--target=c", "-w", *args, "v.tile", cwd=tmp)
        check(r.code == 0, "%s: %d %s" % (args, r.code, r.text))
    r = ctilec("--target=c", "-w", "-o", "dangling", "v.tile", cwd=tmp)
    check(r.code == 0 and os.path.islink(os.path.join(tmp, "dangling")) and b"scale" in get(tmp, "nowhere.c"), "a link to no file yet: %d %s" % (r.code, r.text))
    together(tmp)


RENAME = b"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
int rename(const char *from, const char *to)
{
	static int n;
	if (++n == atoi(getenv("RENAME"))) {
		if (*getenv("KILL")) raise(SIGKILL);
		errno = EPERM;
		return -1;
	}
	return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(from, to);
}
"""


def together(tmp):
    """A header that cannot be replaced leaves the old program; a stop between two steps leaves none."""
    shutil.rmtree(tmp)
    os.mkdir(tmp)
    put(tmp, "a.tile", GOOD)
    put(tmp, "new.tile", GOOD.replace(b"scale", b"other"))
    ctilec("--target=c", "a.tile", cwd=tmp)
    old = get(tmp, "a.c"), get(tmp, "a.h")
    shim = os.path.join(tmp, "shim")
    put(tmp, "shim.c", RENAME)
    must([CC, "-shared", "-fPIC", "-o", shim, os.path.join(tmp, "shim.c")])
    codes = []
    for k in range(1, 7):       # rename number k fails, or the program is killed as it is called
        for how in ("", "kill"):
            put(tmp, "a.c", old[0])
            put(tmp, "a.h", old[1])
            r = run([CTILEC, "--target=c", "-o", "a.c", "new.tile"], cwd=tmp, env={"LD_PRELOAD": shim, "RENAME": str(k), "KILL": how})
            now = [get(tmp, n) if os.path.exists(os.path.join(tmp, n)) else None for n in ("a.c", "a.h")]
            new = [n is not None and b"other" in n for n in now]
            left = [n for n in names_in(tmp) if n.startswith(".ctilec")]
            codes.append(r.code)
            check(r.code != 1 or (tuple(now) == old and not left), "rename %d fails: program %s, header %s, left %s" % (k, new[0], new[1], left))
            check(now[0] is None or new[0] == new[1], "%s at rename %d: a %s program beside a %s header" % (how, k, new[0], new[1]))
            for n in left:
                os.remove(os.path.join(tmp, n))
    check(codes == [1, -9, 1, -9, 1, -9, 1, -9, 0, 0, 0, 0], "four renames change two files: %s" % codes)
    os.remove(shim)
    os.remove(shim + ".c")
    # the usual ways to fail: the header is a folder, or stands in one that takes no files
    put(tmp, "a.c", old[0])
    if os.path.exists(os.path.join(tmp, "a.h")):
        os.remove(os.path.join(tmp, "a.h"))
    os.mkdir(os.path.join(tmp, "a.h"))
    r = ctilec("--target=c", "-o", "a.c", "new.tile", cwd=tmp)
    check(r.code == 1 and "is a directory" in r.text and get(tmp, "a.c") == old[0], "a header that is a folder: %d %s" % (r.code, r.text))
    check(names_in(tmp) == ["a.c", "a.h", "a.tile", "new.tile"], "left: %s" % names_in(tmp))
    if os.getuid() != 0:
        os.mkdir(os.path.join(tmp, "closed"), 0o500)
        r = ctilec("--target=c", "-o", "a.c", "--header=closed/a.h", "new.tile", cwd=tmp)
        check(r.code == 1 and "permission denied" in r.text and get(tmp, "a.c") == old[0], "a folder that takes no files: %d %s" % (r.code, r.text))


# ---- limits ----
def limits(tmp):
    put(tmp, "a.tile", GOOD)
    put(tmp, "z.tile", b'import "/dev/zero";\n' + GOOD)
    put(tmp, "t.tile", GOOD + b"tune t = scale<{32, 64}>;\n")
    with open(os.path.join(tmp, "big.tile"), "wb") as f:
        f.truncate((64 << 20) + 1)
    for n in ("b", "c"):
        put(tmp, n + ".lib.tile", b"// " + b"x" * (33 << 20) + b"\nconst C_%s: i32 = 1;\n" % n.encode())
    put(tmp, "two.tile", b'import "b.lib.tile";\nimport "c.lib.tile";\n' + GOOD)

    def memory():
        resource.setrlimit(resource.RLIMIT_AS, (700 << 20, 700 << 20))

    for args in (["/dev/zero"], ["z.tile"], ["big.tile"], ["two.tile"], ["@/dev/zero"], ["--tune=/dev/zero", "t.tile"], ["-"]):
        with open("/dev/zero", "rb") as zero:
            p = subprocess.run([CTILEC, "--check"] + args, cwd=tmp, stdin=zero, stderr=subprocess.PIPE, preexec_fn=memory, env=clean_env())
        check(p.returncode in (1, 2) and b"larger than 64 MiB" in p.stderr, "%s: exit %d: %s" % (args, p.returncode, p.stderr[-300:]))
    # a file that may not grow
    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    before = names_in(tmp)
    p = subprocess.run([CTILEC, "--target=c", "a.tile"], cwd=tmp, stderr=subprocess.PIPE, preexec_fn=small)
    check(p.returncode == 1 and b"cannot write `a.c`: the file would become larger than allowed" in p.stderr and names_in(tmp) == before, "ulimit -f: %d %s %s" % (p.returncode, p.stderr, names_in(tmp)))
    # signals while a file is written: the compiler waits for the reader of its other output
    fifo = os.path.join(tmp, "fifo")
    os.mkfifo(fifo)
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        p = subprocess.Popen([CTILEC, "--target=c", "-o", "a.c", "--header=a.h", "-MF", "fifo", "a.tile"], cwd=tmp, stderr=subprocess.PIPE,
                             preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)])
        end = time.monotonic() + 20
        while sum(n.startswith(".ctilec") for n in names_in(tmp)) < 2 and p.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.05)
        p.send_signal(sig)
        p.communicate(timeout=20)
        check(p.returncode == -sig, "%s: exit %d" % (sig, p.returncode))
        check(names_in(tmp) == sorted(before + ["fifo"]), "%s left %s" % (sig, names_in(tmp)))
    os.remove(fifo)
    # nohup: what is ignored stays so
    p = subprocess.run(["sh", "-c", 'trap "" HUP; "$0" --target=c -o n.c a.tile; kill -HUP $$; exit 0', CTILEC], cwd=tmp)
    check(p.returncode == 0 and os.path.exists(os.path.join(tmp, "n.c")), "an ignored signal")
    long = "k" * 248 + ".c"
    r = ctilec("--target=c", "-o", long, "--no-header", "a.tile", cwd=tmp)
    check(r.code == 0 and len(get(tmp, long)) > 100, "a name of 250 characters: %s" % r.text)
    r = ctilec("--target=c", "-o", "k" * 256, "--no-header", "a.tile", cwd=tmp)
    check(r.code == 1 and "the path is too long" in r.text, "a name of 256 characters: %s" % r.text)
    check(not [n for n in names_in(tmp) if n.startswith(".ctilec")], "left: %s" % names_in(tmp))


# ---- replay ----
def replayed(tmp, folder, repro):
    return run([sys.executable, os.path.join(ROOT, "tools", "replay.py"), repro, folder, CTILEC], cwd=tmp)


def replay(tmp):
    os.makedirs(os.path.join(tmp, "work", "in"))
    os.mkdir(os.path.join(tmp, "lib"))
    put(tmp, "work/in/v.tile", b'import "../up.tile";\nimport "side.tile";\nimport "softmax.tile";\n' + GOOD.replace(b"* 2", b"* TWO * SIDE") + b"tune t = scale<{32, 64}>;\n")
    put(tmp, "work/up.tile", b"const TWO: f32 = 2.0;\n")
    put(tmp, "lib/side.tile", b"const SIDE: f32 = 3.0;\n")
    put(tmp, "list", b"*: n > 5 -> 64\n")
    here = os.path.join(tmp, "work")
    args = ["--target=c", "-w", "-I", "../lib", "-I" + os.path.join(tmp, "lib"), "--tune=../list", "-MD", "-MF", "x.d", "-Dback=1"]
    for source in ("in/v.tile", os.path.join(here, "in", "v.tile")):
        r = ctilec(*args[:-1], "--save-repro=../r", "-o", "v.c", "--header=v.h", source, cwd=here)
        check(r.code == 0, r.text)
        folder = os.path.join(tmp, "again")
        shutil.rmtree(folder, ignore_errors=True)
        before = sorted((os.path.join(d, n), os.stat(os.path.join(d, n)).st_mtime_ns) for d, _, ns in os.walk(tmp) for n in ns)
        r = replayed(tmp, folder, "r")
        after = sorted((os.path.join(d, n), os.stat(os.path.join(d, n)).st_mtime_ns) for d, _, ns in os.walk(tmp) for n in ns if not d.startswith(folder))
        check(r.code == 0 and before == after, "replay: exit %d: %s%s" % (r.code, r.out, r.text))
        if r.code == 0 and not source.startswith("/"):
            new, old = read(os.path.join(folder, "out")), get(tmp, "work/v.c").decode()
            check(new[new.index("ct_block"):new.index("#line", new.index("ct_block"))] == old[old.index("ct_block"):old.index("#line", old.index("ct_block"))], "the replay gives another program")
        check(replayed(tmp, folder, "r").code == 1, "a folder that is in use")
    evil = os.path.join(tmp, "evil")
    text = b"kernel k(y: out tensor<f32, [8]>) grid [1] { y.store([0], full([8], 1.0, f32)); }\n"
    head = b"ctilec-repro 1\nversion 0.1.0\n"
    for n, (lines, files, code) in enumerate([
            ([b"-MF" + evil.encode(), b"k.tile"], [(b"k.tile", text)], 0), ([b"-MD", b"-MF", evil.encode(), b"--header=" + evil.encode(), b"k.tile"], [(b"k.tile", text)], 0),
            ([b"--save-repro=" + evil.encode(), b"k.tile"], [(b"k.tile", text)], 0), ([b"-o" + evil.encode(), b"k.tile"], [(b"k.tile", text)], 0),
            ([b"@" + evil.encode(), b"k.tile"], [(b"k.tile", text)], 1), ([b"k.tile"], [(b"k.tile", text), (b"../" * 30 + evil.encode(), text)], 1),
            ([b"k.tile"], [(b"k.tile", text), (evil.encode(), text)], 0), ([b"--", b"@evil"], [(b"@evil", text)], 0), ([b"--tune=/etc/passwd", b"k.tile"], [(b"k.tile", text)], 1),
            ([b"k.tile"], [(b"k.tile", text), (b"k.tile/x", text)], 1), ([b"--nosuch", b"k.tile"], [(b"k.tile", text)], 1), ([b"/etc/passwd"], [(b"k.tile", text)], 1),
            ([b"--stdin-name=" + evil.encode(), b"-MD", b"-"], [(evil.encode(), text)], 0)]):
        put(tmp, "hostile", head + b"".join(b"argument %s\n" % l for l in lines) + b"".join(b"file %d %s\n%s\n" % (len(t), p, t) for p, t in files) + b"end\n")
        r = replayed(tmp, "evil%d" % n, "hostile")
        check(r.code == code and r.text.count("\n") <= 1 and not os.path.exists(evil), "%s: exit %d: %s" % (lines, r.code, r.text))
    for data in (b"", b"x", head, head + b"file 99999 k\nshort\nend\n", head + b"file -1 k\n\nend\n", head + b"end\n", os.urandom(1000)):
        put(tmp, "hostile", data)
        shutil.rmtree(os.path.join(tmp, "cut"), ignore_errors=True)
        r = replayed(tmp, "cut", "hostile")
        check(r.code == 1 and r.text.startswith("replay: ") and r.text.count("\n") == 1, "%r: exit %d: %s" % (data[:40], r.code, r.text))


with tmpdir() as parent:
    inside = os.path.join(parent, "t")
    os.mkdir(inside)
    {"names": names, "nvcc": nvcc, "outputs": outputs, "limits": limits, "replay": replay}[sys.argv[1]](inside)
finish()
