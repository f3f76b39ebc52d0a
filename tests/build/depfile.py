"""Dependency files in a build: depfile.py text|make|ninja. Names with spaces, `#`, `$`; a second build does nothing; editing an
imported file rebuilds; editing a kernel's body rebuilds one object and not those that include the header."""
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
from common import *

IMPORTED = "fn twice(v: tile<f32, [N]>) -> tile<f32, [N]> { return v * 2; }\n"
KERNEL = """import "my lib#1.tile";
kernel k(x: tensor<f32, [n]>, y: out tensor<f32, [n]>) grid [cdiv(n, 64)] {
    y.store([bid(0)], twice(x.load([bid(0)], [64])));
}
"""
MAIN = '#include "k.h"\nint main(void) { float x[3] = {1, 2, 3}, y[3]; return k(x, y, 3, 0) || y[2] != 6; }\n'
OTHER = '#include "k.h"\nint other(void); int other(void) { return 0; }\n'


def text():
    with tmpdir() as tmp:
        os.mkdir(os.path.join(tmp, "in $1"))
        write(os.path.join(tmp, "in $1", "my lib#1.tile"), IMPORTED)
        write(os.path.join(tmp, "in $1", "k.tile"), KERNEL)
        args = ["--target=c", "in $1/k.tile", "-o", "out put.c"]
        r = ctilec("-MD", *args, cwd=tmp)
        check(r.code == 0, r.text)
        lines = read(os.path.join(tmp, "out put.tile.d")).replace("\\\n ", "").split("\n")
        want = r"out\ put.c out\ put.h: in\ $$1/k.tile in\ $$1/my\ lib\#1.tile"
        check(" ".join(lines[0].split(" ")).replace("  ", " ") == want, "the rule is\n%s\nand not\n%s" % (lines[0], want))
        r = ctilec("-M", "-MP", *args[:2], cwd=tmp)
        rule = r.out.decode()
        check(rule.startswith("k.c k.h: ") and rule.endswith("\n\nin\\ $$1/my\\ lib\\#1.tile:\n"), "-M -MP prints\n" + rule)
        check(not os.path.exists(os.path.join(tmp, "k.c")), "-M wrote a program")
        ctilec("-MD", "-MF", "d.d", "-MT", "one two", "-MT", "$(three)", *args, cwd=tmp)
        check(read(os.path.join(tmp, "d.d")).startswith("one two $(three): "), "-MT: " + read(os.path.join(tmp, "d.d")))
        for n, word in (("a:b", r"a\:b"), ("~a", "./~a"), ("a'b[1]", "a'b[1]")):
            write(os.path.join(tmp, n + ".tile"), "fn f() -> i32 { return 1; }\n")
            rule = ctilec("-M", "-w", "--target=c", n + ".tile", cwd=tmp).out.decode()
            check(rule == "%s.c %s.h: %s.tile\n" % (word, word, word), "the rule of `%s`: %s" % (n, rule))
        for n in ("a;b", "a=b", "a|b", "a%b", "a\tb", "a\nb", "a\rb"):
            write(os.path.join(tmp, n + ".tile"), "fn f() -> i32 { return 1; }\n")
            for how in (["-M"], ["-MD"]):
                r = ctilec(*how, "-w", "--target=c", n + ".tile", cwd=tmp)
                check(r.code == 1 and "cannot stand in a make rule" in r.text and r.text.count("\n") == 1 and not r.out, "`%s` in a rule: %d %s %s" % (n, r.code, r.text, r.out))
            check(not os.path.exists(os.path.join(tmp, n + ".c")), "a program was written without its rule")
        r = ctilec("-M", "-MT", "k", "-w", "--target=c", "a%b.tile", cwd=tmp)
        check(r.out == b"k: a%b.tile\n", "-MT for a target that cannot be named: %s%s" % (r.out, r.text))
        r = ctilec("--check", "-MD", "-MF", "c.d", "in $1/k.tile", "--target=c", cwd=tmp)
        check(r.code == 0 and read(os.path.join(tmp, "c.d")).startswith("k.c k.h: "), "--check -MD: " + r.text)


def project(tmp):
    folder = os.path.join(tmp, "src dir")
    os.mkdir(folder)
    write(os.path.join(folder, "my lib#1.tile"), IMPORTED)
    write(os.path.join(folder, "k.tile"), KERNEL)
    write(os.path.join(folder, "main.c"), MAIN)
    write(os.path.join(folder, "other.c"), OTHER)
    return folder


def touch_edit(path, old, new):
    """Edits a file so that its time stamp is certainly newer."""
    time.sleep(1.1)
    write(path, read(path).replace(old, new))


class Steps:
    """What a build did, from the lines it prints."""

    def __init__(self, text):
        self.tile = text.count("ctilec --target")
        self.objects = sorted(o for o in ("k.o", "main.o", "other.o") if "-o " + o in text)
        self.link = "-o prog" in text


def scenario(folder, build):
    def steps(what):
        r = build()
        check(r.code == 0, "%s: %s%s" % (what, r.out.decode(), r.text))
        return Steps(r.out.decode())
    s = steps("first build")
    check(s.tile == 1 and len(s.objects) == 3 and s.link, "the first build: %s" % vars(s))
    check(run(["./prog"], cwd=folder).code == 0, "the program gives a wrong result")
    s = steps("second build")
    check(not s.tile and not s.objects and not s.link, "a second build is not idle: %s" % vars(s))
    touch_edit(os.path.join(folder, "my lib#1.tile"), "v * 2", "v + v")
    s = steps("after the edit of an imported file")
    check(s.tile == 1 and s.objects == ["k.o"], "editing the imported file should rebuild k.o alone: %s" % vars(s))
    s = steps("again")
    check(not s.tile and not s.objects, "a build after it is not idle: %s" % vars(s))
    touch_edit(os.path.join(folder, "k.tile"), "kernel k(", "/// Documented.\nkernel k(")
    s = steps("after a change of the header")
    check(s.objects == ["k.o", "main.o", "other.o"], "a changed header should rebuild its users: %s" % vars(s))
    check(run(["./prog"], cwd=folder).code == 0, "the program gives a wrong result")


MAKEFILE = """all: prog
prog: k.o main.o other.o
	cc k.o main.o other.o -lm -o prog
%.o: %.c
	cc -MMD -MP -c $< -o $@
main.o other.o: | k.h
k.c: k.tile
	ctilec --target=c -MD -MP -o k.c k.tile
k.h: k.c
	@test -f k.h
-include k.tile.d $(wildcard *.d)
"""

NINJA = """rule tile
  command = ctilec --target=c -MD -MF k.c.d -o k.c k.tile
  depfile = k.c.d
  restat = 1
rule cc
  command = cc -MD -MF $out.d -c $in -o $out
  depfile = $out.d
rule link
  command = cc $in -lm -o prog
build k.c k.h: tile k.tile
build k.o: cc k.c || k.h
build main.o: cc main.c || k.h
build other.o: cc other.c || k.h
build prog: link k.o main.o other.o
default prog
"""


def with_tool(tool, name, rules, args):
    if not shutil.which(tool):
        skip(tool + " is not here")
    with tmpdir() as tmp:
        folder = project(tmp)
        write(os.path.join(folder, name), rules)
        env = {"PATH": os.path.dirname(CTILEC) + ":" + os.environ["PATH"]}
        scenario(folder, lambda: run([tool] + args, cwd=folder, env=env))


kind = sys.argv[1]
if kind == "text":
    text()
elif kind == "make":
    with_tool("make", "Makefile", MAKEFILE, [])
else:
    with_tool("ninja", "build.ninja", NINJA, ["-v"])
finish()
