"""The command line: exit codes, nearest names, response files, streams, what is written and what is not."""
import json
import os
import re
import resource
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
from common import *

PAIRS = """kernel pairs<N: int = 64>(x: tensor<f32, [rows, N, 2]>, y: out tensor<f32, [rows, N, 2]>)
    grid [rows]
    where rows <= 1000 * N
{
    let v = x.load([bid(0), 0, 0], [1, N, 2]);
    y.store([bid(0), 0, 0], v * 2);
}
"""
GOOD = """kernel scale<N: int = 256>(x: tensor<f32, [n]>, y: out tensor<f32, [n]>)
    grid [cdiv(n, N)]
{
    y.store([bid(0)], x.load([bid(0)], [N]) * 2);
}
"""
BAD = GOOD.replace("* 2", "* undefined_name")


def usage():
    cases = [([], "no input file"), (["--chck", "x"], "`--check`"), (["-check", "x"], "`--check`"), (["x", "--color=alway"], "`always`"),
             (["x", "--target=cude"], "`cuda`"), (["x", "--arch=sm_81"], "`sm_8"), (["-D", "X"], "NAME=VALUE"), (["-o"], "needs a value"),
             (["-O7", "x"], "`3`"), (["-Wnosuchwarning", "x"], "unknown warning"), (["-Werror=pref", "x"], "`perf`"), (["--explain=E9999"], "--list-diagnostics"),
             (["a", "b"], "one input"), (["@nosuchfile"], "cannot read `@nosuchfile`"), (["--stop-after=nosuchpass", "x"], "`--stop-after`"),
             (["--error-limit=x", "a"], "number"), (["x.tile", "-o", "x.c", "--header=x.c"], "same name"),
             (["--namespace=1a", "x"], "`1a`"), (["--namespace=a::int", "x"], "`a::int`"), (["--namespace=a::", "x"], "`a::`"),
             (["--arch=sm_80,", "x"], "`--arch`"), (["--tile-arch=sm_100,sm_81", "x"], "`sm_8"), (["--tile-arch=sm_90a", "x"], "`sm_90`"),
             (["--tile-arch=sm_90", "--target=c", "x"], "`--target=cuda`"), (["--tile-arch=sm_90", "--target=cuda-tile", "x"], "`--target=cuda`"), (["explain"], "needs a code")]
    for args, words in cases:
        r = ctilec(*args)
        check(r.code == 2 and words in r.text and r.text.count("\n") == 1 and not r.out, "%s: exit %d: %s" % (args, r.code, r.text))
    for args in (["--help"], ["-h"], ["--help=markdown"], ["--help=man"], ["--help=json"], ["--version"], ["-V"], ["--version=short"],
                 ["--list-ops"], ["--list-ops=markdown"], ["--list-diagnostics"], ["--list-passes"], ["--print-arch"], ["explain", "E0001"]):
        r = ctilec(*args)
        check(r.code == 0 and r.out and not r.text, "%s: exit %d: %s" % (args, r.code, r.text))
    listed = ctilec("--list-diagnostics").out.decode()
    check("-Wunused (in -Wall): " in listed and "-Wrace (on by default): " in listed, "--list-diagnostics does not say what is on")
    said = ctilec("--explain=E0262").out.decode()
    for short in ("e0262", "e262", "E262"):
        check(ctilec("--explain=" + short).out.decode() == said, "--explain=%s is not that of E0262" % short)
    check("```" not in said and "\t" not in said and "\nnot so:\n\n    fn" in said and "\nbut so:\n\n    fn" in said, said)
    options = json.loads(ctilec("--help=json").out)["options"]
    text = ctilec("--help").out.decode()
    for o in options:
        for s in o["spellings"]:
            check(s in text, s + " is not in the text of --help")
    json.loads(ctilec("--list-ops=json").out)
    json.loads(ctilec("--list-diagnostics=json").out)


def files(tmp):
    write(os.path.join(tmp, "a.tile"), GOOD)
    write(os.path.join(tmp, "bad.tile"), BAD)
    r = ctilec("--target=c", "a.tile", cwd=tmp)
    check(r.code == 0 and sorted(os.listdir(tmp)) == ["a.c", "a.h", "a.tile", "bad.tile"], "default outputs: %s %s" % (os.listdir(tmp), r.text))
    r = ctilec("--target=c", "--list-outputs", "-MD", "a.tile", cwd=tmp)
    check(r.out.decode().split() == ["a.c", "a.h", "a.tile.d"], "--list-outputs: %s" % r.out)
    # a wrong program writes nothing and leaves what is there
    write(os.path.join(tmp, "bad.c"), "old")
    r = ctilec("--target=c", "-MD", "bad.tile", cwd=tmp)
    check(r.code == 1 and read(os.path.join(tmp, "bad.c")) == "old" and not os.path.exists(os.path.join(tmp, "bad.h")), "a wrong program wrote files")
    # an unchanged header keeps its time stamp, the program does not
    old = time.time() - 1000
    for n in ("a.c", "a.h"):
        os.utime(os.path.join(tmp, n), (old, old))
    ctilec("--target=c", "a.tile", cwd=tmp)
    check(os.stat(os.path.join(tmp, "a.h")).st_mtime < old + 1, "an equal header was written again")
    check(os.stat(os.path.join(tmp, "a.c")).st_mtime > old + 500, "the program was not written again")
    os.remove(os.path.join(tmp, "a.h"))
    ctilec("--target=c", "--no-header", "a.tile", cwd=tmp)
    check(not os.path.exists(os.path.join(tmp, "a.h")), "--no-header wrote a header")
    for kind in ("tokens", "ast", "types", "ir", "header", "manifest", "c"):
        r = ctilec("--emit=" + kind, "a.tile", cwd=tmp)
        check(r.code == 0 and r.out, "--emit=%s: %s" % (kind, r.text))
    manifest = json.loads(ctilec("--emit=manifest", "a.tile", cwd=tmp).out)
    check([e["name"] for e in manifest["entries"]] == ["scale"], "the manifest lacks the entry")
    kernels = ["index", "index_", "sin", "sin_", "_x", "u__x", "conj", "mtx_lock", "plain"]
    write(os.path.join(tmp, "taken.tile"), "".join(GOOD.replace("scale", k, 1) for k in kernels))
    manifest = json.loads(ctilec("-w", "--emit=manifest", "taken.tile", cwd=tmp).out)
    header = ctilec("-w", "--emit=header", "taken.tile", cwd=tmp).out.decode()
    functions = [e["function"] for e in manifest["entries"]]
    check([e["entry"] for e in manifest["entries"]] == kernels, "the manifest lacks the names of the source")
    check(functions == ["index_", "index__", "sin_", "sin__", "u__x", "u_u__x", "conj_", "mtx_lock_", "plain"], "C functions: %s" % functions)
    for f in [e[k] for e in manifest["entries"] for k in ("function", "ws", "workspace")]:
        check(re.search(r"^\w+ %s\(" % f, header, re.M), "the header lacks %s" % f)
    r = ctilec("--check", "a.tile", cwd=tmp)
    check(r.code == 0 and not r.out and not r.text, "--check printed something")
    write(os.path.join(tmp, "args"), "--target=c -o 'with space.c'\n\"a.tile\"")
    r = ctilec("@args", cwd=tmp)
    check(r.code == 0 and os.path.exists(os.path.join(tmp, "with space.c")), "@FILE: " + r.text)
    write(os.path.join(tmp, "loop"), "@loop")
    check(ctilec("@loop", cwd=tmp).code == 2, "a response file that reads itself")
    r = ctilec("--emit=header", "--namespace=a::b", "a.tile", cwd=tmp)
    check(r.code == 0 and b"namespace a { namespace b {" in r.out, "C++11 has no nested names of namespaces: " + r.text)
    # standard streams
    r = ctilec("--target=c", "-", stdin=GOOD.encode(), cwd=tmp)
    check(r.code == 0 and b"scale" in r.out, "standard input to standard output: " + r.text)
    r = ctilec("--target=c", "-", stdin=BAD.encode(), cwd=tmp)
    check(r.code == 1 and "<stdin>:4:" in r.text and not r.out, "standard input's name: " + r.text)
    r = ctilec("--target=c", "-", "--stdin-name=k.tile", stdin=BAD.encode(), cwd=tmp)
    check("k.tile:4:" in r.text, "--stdin-name: " + r.text)
    # symbolic links stay links; a file keeps its mode
    os.mkdir(os.path.join(tmp, "real"))
    write(os.path.join(tmp, "real", "k.c"), "")
    os.chmod(os.path.join(tmp, "real", "k.c"), 0o640)
    os.symlink("real/k.c", os.path.join(tmp, "k.c"))
    ctilec("--target=c", "-o", "k.c", "a.tile", cwd=tmp)
    check(os.path.islink(os.path.join(tmp, "k.c")) and os.path.getsize(os.path.join(tmp, "real", "k.c")) > 0, "a symbolic link was replaced")
    check(os.stat(os.path.join(tmp, "real", "k.c")).st_mode & 0o777 == 0o640, "the mode of the output changed")


def refused(tmp):
    """What cannot be read or written: a sentence, exit 1, no output, no temporary left."""
    before = sorted(os.listdir(tmp))
    os.mkdir(os.path.join(tmp, "folder.tile"))
    cases = [["nosuch.tile"], ["folder.tile"], ["a.tile", "-o", "no/such/folder/k.c"], ["a.tile", "-o", "folder.tile"],
             ["a.tile", "-o", "/dev/full"], ["a.tile", "-o", "k2.c", "--header=no/such/k.h"]]
    for args in cases:
        r = ctilec("--target=c", *args, cwd=tmp)
        check(r.code == 1 and ("cannot read" in r.text or "cannot write" in r.text) and r.text.count("\n") <= 2, "%s: exit %d: %s" % (args, r.code, r.text))
    os.rmdir(os.path.join(tmp, "folder.tile"))
    check(sorted(os.listdir(tmp)) == before, "something was left behind: %s" % os.listdir(tmp))
    if os.getuid() != 0:
        write(os.path.join(tmp, "secret.tile"), GOOD)
        os.chmod(os.path.join(tmp, "secret.tile"), 0)
        check(ctilec("secret.tile", cwd=tmp).code == 1, "an unreadable file")
    full = subprocess.run([CTILEC, "--help"], stdout=open("/dev/full", "wb"), stderr=subprocess.PIPE)
    check(full.returncode == 1 and b"disk is full" in full.stderr, "a full disk: %d %s" % (full.returncode, full.stderr))
    r, w = os.pipe()
    os.close(r)
    closed = subprocess.run([CTILEC, "--list-ops"], stdout=w, stderr=subprocess.PIPE)
    os.close(w)
    check(closed.returncode == 1 and not closed.stderr, "a closed pipe: %d %s" % (closed.returncode, closed.stderr))
    write(os.path.join(tmp, "pairs.tile"), PAIRS)
    r, w = os.pipe()
    os.close(r)
    closed = subprocess.run([CTILEC, "--explain-schedule", "pairs.tile"], cwd=tmp, stdout=w, stderr=subprocess.PIPE)
    os.close(w)
    check(closed.returncode == 1 and not closed.stderr, "a closed pipe of --explain-schedule: %d %s" % (closed.returncode, closed.stderr))
    told = ctilec("--explain-schedule", "pairs.tile", cwd=tmp).out.decode()
    check(told.count("  8 / 8") == 2 and "32 / 8" not in told, "sectors of rows that lie side by side:\n" + told)
    os.mkdir(os.path.join(tmp, "sub"))
    for target, name in (("c", "p.c"), ("cuda", "p.cu")):
        for line, want in (("on", "sub/" + name), ("abs", os.path.join(os.path.realpath(tmp), "sub", name))):
            ctilec("--target=" + target, "--line=" + line, "pairs.tile", "-o", "sub/" + name, cwd=tmp)
            text = read(os.path.join(tmp, "sub", name))
            own = set(re.findall(r'^#line \d+ "(.*)"$', text, re.M)) - {"pairs.tile", os.path.join(os.path.realpath(tmp), "pairs.tile")}
            check(own == {want}, "#line of %s with --line=%s: %s, not %s" % (name, line, own, want))
            check("rows <= 1000 * N does not hold (rows = %lld, N = 64)" in text, "%s: the text of a condition lacks its tile size" % name)
    gone = subprocess.run(["sh", "-c", '"$0" --help >&-', CTILEC], stderr=subprocess.PIPE)
    check(gone.returncode == 1, "a closed standard output: %d" % gone.returncode)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    p = subprocess.run([CTILEC, "--target=c", "-o", "k3.c", "a.tile"], cwd=tmp, stderr=subprocess.PIPE, preexec_fn=limit)
    check(p.returncode == 1 and b"cannot write" in p.stderr and not os.path.exists(os.path.join(tmp, "k3.c")), "a write that stops half way: %s" % p.stderr)


def paths(tmp):
    """Where paths go: the prefix map holds in all that is printed, rules name what is written."""
    absolute = os.path.join(os.path.abspath(tmp), "a.tile")
    for kind in ("ir", "types", "manifest", "header", "c", "cuda"):
        for line in ("on", "abs"):
            r = ctilec("--emit=" + kind, "--line=" + line, "--checked", "--file-prefix-map=%s=SRC" % os.path.abspath(tmp), absolute)
            check(r.code == 0 and os.path.abspath(tmp).encode() not in r.out, "--emit=%s --line=%s shows the folder" % (kind, line))
    ctilec("--emit=manifest", "-MD", "-o", "m.json", "a.tile", cwd=tmp)
    check(read(os.path.join(tmp, "m.tile.d")) == "m.json: a.tile\n", "the rule of --emit: " + read(os.path.join(tmp, "m.tile.d")))
    r = ctilec("-M", "--stdin-name=k.tile", "-", stdin=GOOD.encode(), cwd=tmp)
    check(b"k.tile" not in r.out, "standard input is no file to depend on: %s" % r.out)
    r = ctilec("--check", "--save-repro=/dev/full", "a.tile", cwd=tmp)
    check(r.code == 1 and "disk is full" in r.text, "a repro file that cannot be written: exit %d" % r.code)


def colours(tmp):
    plain = ctilec("--target=c", "bad.tile", cwd=tmp)
    check("\x1b" not in plain.text, "colour without a terminal")
    check("\x1b" in ctilec("--color=always", "bad.tile", cwd=tmp).text, "--color=always")
    check("\x1b" in ctilec("bad.tile", cwd=tmp, env={"CLICOLOR_FORCE": "1"}).text, "CLICOLOR_FORCE")
    check("\x1b" not in ctilec("bad.tile", cwd=tmp, env={"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}).text, "NO_COLOR")
    check("\x1b" not in ctilec("--color=never", "bad.tile", cwd=tmp, env={"CLICOLOR_FORCE": "1"}).text, "--color=never")


def warnings(tmp):
    write(os.path.join(tmp, "w.tile"), GOOD.replace("{\n", "{\n    let idle = 3;\n"))
    for args, code, word in (([], 0, ""), (["-Wall"], 0, "warning"), (["-Wall", "-w"], 0, ""), (["-Wunused"], 0, "warning"),
                             (["-Wall", "-Wno-unused"], 0, ""), (["-Werror"], 0, ""), (["-Wall", "-Werror"], 1, "error"),
                             (["-Werror=unused"], 1, "error"), (["-Werror=all"], 1, "error"), (["-Werror=perf", "-Wall"], 0, "warning"),
                             (["-Wall", "-Werror", "-Wno-error=unused"], 0, "warning"), (["-Werror=all", "-Wno-error=all"], 0, "warning")):
        r = ctilec("--check", "--diagnostics=short", *args, "w.tile", cwd=tmp)
        said = r.text.split(": ")[1] if r.text else ""
        check(r.code == code and said == word, "%s: exit %d: %s" % (args, r.code, r.text))


def more(tmp):
    many = GOOD.replace("* 2", " + ".join("* v%d" % i if not i else "v%d" % i for i in range(40)))
    write(os.path.join(tmp, "many.tile"), many)
    for limit, want in ((5, 5), (20, 20), (0, 40)):
        r = ctilec("--diagnostics=short", "--error-limit=%d" % limit, "many.tile", cwd=tmp)
        n = sum(": error: " in l for l in r.text.splitlines() if l.startswith("many.tile"))
        check(n == want, "--error-limit=%d shows %d" % (limit, n))
    write(os.path.join(tmp, "p.tile"), "param BN: int = 128;\n" + GOOD.replace("256", "BN"))
    r = ctilec("--explain-schedule", "--target=c", "p.tile", cwd=tmp)
    check(r.code == 2 and "target cuda" in r.text, "--explain-schedule for target c: %s %s" % (r.out, r.text))
    r = ctilec("--print-params", "-D", "BN=64", "p.tile", cwd=tmp)
    check(r.out.decode() == "BN: int = 64\n", "--print-params: %s %s" % (r.out, r.text))
    a = ctilec("--emit=ir", "-DBN=64", "p.tile", cwd=tmp).out
    b = ctilec("--emit=ir", "-D", "BN=128", "p.tile", cwd=tmp).out
    check(a != b and b == ctilec("--emit=ir", "p.tile", cwd=tmp).out, "-D has no effect")
    check(ctilec("-DBM=64", "p.tile", cwd=tmp).code == 1, "-D of a name that is no param")
    r = ctilec("--diagnostics=sarif", "--check", "-Wall", os.path.join(tmp, "w.tile"), cwd=tmp)
    check('"uri":"file://%s/w.tile"' % tmp in r.text, "SARIF names an absolute path without its scheme:\n" + r.text)
    check(ctilec("-DBN=abc", "p.tile", cwd=tmp).code == 1, "-D with a value of another type")
    # the author's kernels keep their names, whatever passes call theirs
    write(os.path.join(tmp, "taken.tile"), "".join("kernel %s(x: tensor<f32, [m, n]>, y: out tensor<f32, [m]>) grid [m] {\n    var s: tile<f32, [1]> = 0;\n"
          "    for j in 0 .. cdiv(n, 1024) { s += sum(x.load([bid(0), j], [1, 1024]), 1, squeeze: true); }\n    y.store([bid(0)], s);\n}\n" % name
          for name in ("total", "total_single_trip", "total_share", "total_rest")))
    r = ctilec("--emit=placed", "taken.tile", cwd=tmp)
    made = set(re.findall(r"^version (\w+)", r.out.decode(), re.M))
    check(r.code == 0 and {"total", "total_single_trip", "total_single_trip_", "total_share", "total_share_", "total_rest_"} <= made, "names that passes take: %s %s" % (made, r.text))
    # four lanes for each tile block, 64 of which share a thread block: the number that is printed can be pinned
    write(os.path.join(tmp, "frames.tile"), "kernel frames<W: int = 32, H: int = 8>(x: tensor<i16, [n]>, y: out tensor<i16, [f, W]>) grid [f] {\n"
          "    y.store([bid(0), 0], x.strided([W], [H], [-12]).load([bid(0)]).reshape([1, W]));\n}\n"
          "instance narrow = frames<32, 8>;\n")
    write(os.path.join(tmp, "frames.tune"), "[narrow]\n*: * -> frames_32x8 @88881711\n")
    r = ctilec("--explain-schedule", "frames.tile", cwd=tmp)
    check(r.code == 0 and b"taken 88881711" in r.out, "a plan of 64 tile blocks a thread block")
    for option in ("--plan=frames_32x8=88881711", "--tune=frames.tune"):
        r = ctilec(option, "-o", "frames.cu", "frames.tile", cwd=tmp)
        check(r.code == 0, "%s: %s" % (option, r.text))
    # tile blocks of two warps that share a thread block: what is taken, and as much as is pinned
    write(os.path.join(tmp, "crop.tile"), "kernel crop(x: tensor<bf16, [c, h + 8, w + 8]>, y: out tensor<bf16, [c, h, w]>)\n"
          "        grid [cdiv(h, 8), cdiv(w, 128), c] {\n"
          "    y.store([bid(2), bid(0), bid(1)], x.load_at([bid(2), bid(0) * 8 + 4, bid(1) * 128 + 4], [1, 8, 128]));\n}\n")
    r = ctilec("--explain-schedule", "crop.tile", cwd=tmp)
    check(r.code == 0 and b"taken 88881312" in r.out, "a plan of four tile blocks of two warps: %s" % r.text)
    for plan, packed in (("88881112", None), ("88881212", 2), ("88881312", 4)):
        r = ctilec("--plan=crop=" + plan, "--emit=placed", "crop.tile", cwd=tmp)
        found = re.findall(r"^\twarps (\d+)(?:\n\tpacked (\d+))?", r.out.decode(), re.M)
        check(r.code == 0 and found[:1] == [("2", str(packed or ""))], "plan %s: %s %s" % (plan, found, r.text))
    r = ctilec("--target=c", "--time-report", "-o", "t.c", "a.tile", cwd=tmp)
    check(r.code == 0 and " ms" in r.text, "--time-report")
    for hint, again in (("@warps(4)", False), ("@warps(4, sm_90: 8)", True)):      # passes that run for an architecture name it
        write(os.path.join(tmp, "hinted.tile"), "%s\nkernel hinted(x: tensor<f32, [m]>, y: out tensor<f32, [m]>) grid [cdiv(m, 1024)] {\n"
              "    y.store([bid(0)], exp(x.load([bid(0)], [1024])));\n}\n" % hint)
        r = ctilec("--arch=sm_80,sm_90a", "--time-report", "-o", "t.cu", "hinted.tile", cwd=tmp)
        check(r.code == 0 and ("sm_90" in r.text) == again, "%s: placed for sm_90 %s\n%s" % (hint, "never" if again else "again", r.text))
    r = ctilec("--target=c", "--save-repro=r.txt", "-o", "t.c", "a.tile", cwd=tmp)
    repro = read(os.path.join(tmp, "r.txt"))
    check(r.code == 0 and GOOD in repro and "argument --target=c" in repro, "--save-repro")
    on = ctilec("--emit=c", "a.tile", cwd=tmp).out
    check(b'"a.tile"' in on, "#line lacks the name of the input")
    check(b"#line" not in ctilec("--emit=c", "--line=off", "a.tile", cwd=tmp).out, "--line=off")
    check(os.path.join(tmp, "a.tile").encode() in ctilec("--emit=c", "--line=abs", "a.tile", cwd=tmp).out, "--line=abs")
    mapped = ctilec("--emit=c", "--line=abs", "--file-prefix-map=%s=/src" % tmp, "a.tile", cwd=tmp).out
    check(b'"/src/a.tile"' in mapped and tmp.encode() not in mapped, "--file-prefix-map")
    check(b"namespace kern" in ctilec("--emit=header", "--namespace=kern", "a.tile", cwd=tmp).out, "--namespace")
    h1 = ctilec("--emit=header", "--target=c", "-o", "a.h", "a.tile", cwd=tmp)
    c_header = read(os.path.join(tmp, "a.h"))
    ctilec("--emit=header", "--target=cuda", "-o", "a.h", "a.tile", cwd=tmp)
    check(h1.code == 0 and read(os.path.join(tmp, "a.h")) == c_header, "the headers of the targets differ")
    passes = [l.split() for l in ctilec("--list-passes").out.decode().splitlines()]
    check(passes, "--list-passes is empty")
    typed = [p[0] for p in passes if p[1] == "typed" and p[2] <= "-O2"]
    if typed:
        r = ctilec("--stop-after=" + typed[-1], "a.tile", cwd=tmp)
        check(r.code == 0 and r.out, "--stop-after=%s: %s" % (typed[-1], r.text))
        r = ctilec("--target=c", "--dump-after=" + typed[0], "-o", "t.c", "a.tile", cwd=tmp)
        check(r.code == 0 and "// after " + typed[0] in r.text, "--dump-after=%s" % typed[0])


usage()
with tmpdir() as t:
    files(t)
    refused(t)
    paths(t)
    colours(t)
    warnings(t)
    more(t)
finish()
