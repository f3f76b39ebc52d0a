"""Line tables: lines.py c|gdb|cuda. The machine code of each kernel belongs to the lines of its statements, to all of them and to no
others: those marked //= in the program below. `gdb`: a failed check and a breakpoint on a line, as a debugger shows them. `cuda`: and
what nvcc says of a mistake in the midst of a statement's text names the statement."""
import re
import shutil
import sys

from common import *

PROGRAM = '''\
/// Statements are apart, so that a line too far is no statement.

kernel lines<N: int = 256>(x: tensor<f32, [rows, cols]>, y: out tensor<f32, [rows, cols]>, s: out tensor<i32, [rows]>)

    grid [rows]

{
    // the row
    let row = bid(0);                                   //=

    var total: tile<f32, [1, 1]> = 0;


    for j in 0 .. cdiv(cols, N) {                       //=

        let v = x.load([row, j], [1, N]);               //=


        let w = scaled(v);

        total += sum(w, 1);                             //=

        y.store(
            [row, j],

            w);
    }


    if row > 2 {                                        //=

        assert(row < 5, "row is small");                //=

    }

    let b = reduce(x.load([row, 0], [1, 64]),

        1, 0.0, fn(p, q) p + q);

    let c = reduce(x.load([row, 0], [1, 64]), 1, 0.0, joined);

    s.store([row],

        reshape(element_cast(total + b + c, i32), [1]));
}

fn scaled(v: tile<T, S>) -> tile<T, S> {

    let half = v * 0.5;                                 //=

    return exp(half);                                   //=
}

// a function of its own in emitted CUDA
fn joined(p: T, q: T) -> T {

    let both = p * q;                                   //=

    return p + q - both * 0.5;                          //=
}
'''

MAIN = '''\
#include "k.h"
int main(void)
{
	static float x[8 * 300], y[8 * 300];
	static int32_t s[8];
	return lines(x, y, s, 8, 300, 0);
}
'''
ROW = re.compile(r"^(\S+\.(?:tile|cu|c))\s+(\d+)\s+0x[0-9a-f]+", re.M)


def expected():
    """(lines that must be there, lines that may be)"""
    text = PROGRAM.split("\n")
    marked = {i + 1 for i, line in enumerate(text) if "//=" in line}
    starts = {i + 1 for i, line in enumerate(text) if re.match(r"kernel|fn |\s+(y|s)\.store|\s+let [bc]|\s+1, 0\.0|.*w\);|.*reshape|\s+\[row|\s+let w", line)}
    return marked, marked | starts


def table(path, where):
    out = must(["readelf", "--debug-dump=decodedline", path], cwd=where).out.decode("utf-8", "replace")
    return {int(n) for f, n in ROW.findall(out) if f.endswith("k.tile")} - {0}, {int(n) for f, n in ROW.findall(out) if not f.endswith("k.tile")}


def compare(what, have, all_of_them):
    must_be, may_be = expected()
    check(not have - may_be, "%s: lines that are no statements: %s" % (what, sorted(have - may_be)))
    missing = must_be - have
    check(not missing if all_of_them else len(missing) < 5, "%s: statements without code: %s" % (what, sorted(missing)))


def source(where, target, name, *options):
    write(os.path.join(where, "k.tile"), PROGRAM)
    r = run([CTILEC, "--target=" + target, "-Wno-padding", "-o", name, *options, "k.tile"], cwd=where)
    check(r.code == 0 and not r.text, r.text)


def few_directives(path):
    """Statements share them: CT_LINE."""
    text = read(path).split("\n")
    have = sum(line.startswith("#line") for line in text)
    check(have and have * 8 < len(text), "%s: %d of %d lines are #line" % (os.path.basename(path), have, len(text)))


def test_c(where):
    source(where, "cuda", "k.cu")
    few_directives(os.path.join(where, "k.cu"))
    for cc in [CC] + [c for c in ("gcc", "clang") if shutil.which(c)]:
        for level in ("-O0", "-O2"):
            source(where, "c", "k.c", "--checked")
            must([cc, "-std=c11", "-gdwarf-4", level, "-c", "-o", "k.o", "k.c"], cwd=where)
            compare("%s %s" % (cc, level), table("k.o", where)[0], level == "-O0")
    source(where, "c", "k.c", "--line=off")
    check("#line" not in read(os.path.join(where, "k.c")), "--line=off prints #line")
    source(where, "c", "k.c", "--line=abs")
    check('"%s"' % os.path.join(os.path.realpath(where), "k.tile") in read(os.path.join(where, "k.c")), "--line=abs prints no absolute path")
    source(where, "c", "k.c")
    few_directives(os.path.join(where, "k.c"))
    check(where not in read(os.path.join(where, "k.c")), "the folder is named although k.tile was not")


def test_gdb(where):
    if not shutil.which("gdb"):
        skip("there is no gdb")
    source(where, "c", "k.c", "--checked")
    write(os.path.join(where, "main.c"), MAIN)
    must([CC, "-std=c11", "-g", "-O0", "-o", "k", "main.c", "k.c", "-lm"], cwd=where)
    number = 1 + [i for i, line in enumerate(PROGRAM.split("\n")) if "assert(" in line][0]
    r = run(["gdb", "-batch", "-nx", "-ex", "run", "-ex", "bt", "./k"], cwd=where)
    out = r.out.decode("utf-8", "replace")
    if "ptrace" in out + r.text or "not permitted" in out + r.text:
        skip("gdb may not run programs here")
    check(re.search(r"ct_block_lines\w* .* at \S*k\.tile:%d\b" % number, out), "backtrace of the failed check:\n" + out)
    check("row is small" in out + r.text, "the message of the check is missing:\n" + out)
    first = 1 + [i for i, line in enumerate(PROGRAM.split("\n")) if "total += " in line][0]
    r = run(["gdb", "-batch", "-nx", "-ex", "break k.tile:%d" % first, "-ex", "run", "-ex", "info locals", "./k"], cwd=where)
    out = r.out.decode("utf-8", "replace")
    check("total += sum(w, 1)" in out and re.search(r"^row = 0$", out, re.M), "stopping at a line shows neither it nor its variables:\n" + out)


STATEMENT_END = re.compile(r";(?=\s*(?:/\*.*\*/)?\)?$)")      # a comment, or the end of CT_LINE(, may follow


def plant(text, first, on, name):
    """text with an unknown name after the statement that ends with the on-th `;` after a match of `first`"""
    lines = text.split("\n")
    at = next(i for i, line in enumerate(lines) if re.search(first, line))
    ends = [i for i in range(at, len(lines)) if STATEMENT_END.search(lines[i])]
    lines[ends[on]] = STATEMENT_END.sub("; %s;" % name, lines[ends[on]])
    return "\n".join(lines)


def messages(where):
    planted = {}
    text = read(os.path.join(where, "k.cu"))
    for first, on, statement in ((r"\bct_load_tile\w+\(v(\[ct_round\])?, ", 0, "let v ="), ("half\\w* = ", 0, "let half"),
                             ("both\\w* = ", 0, "let both"), (r"\bct_store_tile\w+\(w, ", 0, "y.store(")):
        name = "ct_nowhere%d" % len(planted)
        text = plant(text, first, on, name)
        planted[name] = 1 + [i for i, line in enumerate(PROGRAM.split("\n")) if statement in line][0]
    write(os.path.join(where, "wrong.cu"), text)
    r = run([NVCC, "-ptx", "-arch=sm_80", "-o", "wrong.ptx", "wrong.cu"], cwd=where)
    for name, number in planted.items():
        check("k.tile(%d): error: identifier \"%s\"" % (number, name) in r.text + r.out.decode("utf-8", "replace"),
            "%s: nvcc should name line %d:\n%s" % (name, number, r.text))


def test_cuda(where):
    if not NVCC:
        fail("there is no nvcc; `sh tools/setup.sh test` gets one")
        finish()
    for arch in ("sm_80", "sm_90a"):
        source(where, "cuda", "k.cu", "--checked")
        must([NVCC, "-cubin", "-lineinfo", "-arch=" + arch, "-o", "k.cubin", "k.cu"], cwd=where)
        tile, own = table("k.cubin", where)
        compare("nvcc -arch=" + arch, tile, False)
        text = read(os.path.join(where, "k.cu")).split("\n")
        first = [i for i, line in enumerate(text) if "---- kernels ----" in line][0]
        inside = [n for n in sorted(own) if n > first and not re.search("threadIdx|blockIdx|ct_blocks|ct_grid_wait", text[n - 1])]
        check(not inside, "lines of k.cu inside of kernels: %s" % [(n, text[n - 1]) for n in inside])
    source(where, "cuda", "k.cu")
    messages(where)


with tmpdir() as where:
    {"c": test_c, "gdb": test_gdb, "cuda": test_cuda}[sys.argv[1]](where)
finish()
