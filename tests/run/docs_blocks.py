"""The code blocks of a page: docs_blocks.py FILE.md. ```tile blocks must compile for every target, ```tile-error CODE blocks
must give that code, ```schedule must be what --explain-schedule prints for the program before it, ```report OPTION what that option prints, ```c must be C declarations or a program, ```python must parse, ```sh must be a shell script, and the
blocks of quickstart.md and python.md that need no GPU are run, in the order of the page."""
import os
import re
import sys

from common import *

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)


def tile(path, where):
    for target in ("c", "cuda"):
        r = ctilec("--target=" + target, "--no-header", "-o", path + "." + target, path)
        check(r.code == 0 and not r.text, "%s does not compile for target %s:\n%s" % (where, target, r.text))


def tile_error(path, where, code):
    r = ctilec("--check", "--diagnostics=short", "-Wall", "-Wextra", path)
    if "import " in read(path) and "[E0200]" in r.text:     # of a file that the page cannot give
        return
    check(r.code == (0 if code.startswith("W") else 1) and "[%s" % code in r.text, "%s should give %s:\n%s" % (where, code, r.text))


def schedule(path, where, text, option):
    r = ctilec(option, path)
    check(r.code == 0 and r.out.decode() == text, "%s is not what is printed:\n%s" % (where, r.text + r.out.decode()))


def c(path, where):
    text = "#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\nstruct CUstream_st;\n" + read(path)
    write(path + ".c", text)
    r = run([CC, "-std=c11", "-fsyntax-only", path + ".c"])
    check(r.code == 0, "%s is not C:\n%s" % (where, r.text))


def shell(path, where, tmp, quick):
    r = run(["sh", "-n", path])
    check(r.code == 0, "%s is not a shell script:\n%s" % (where, r.text))
    text = read(path)
    if quick and "nvcc" not in text and not re.search(r"^make\b(?! -C)", text, re.M):
        r = run(["sh", "-eu", path], cwd=tmp, env={"PATH": os.path.dirname(CTILEC) + os.pathsep + os.environ["PATH"], "OUT": os.path.join(tmp, "made")})
        check(r.code == 0, "%s fails:\n%s" % (where, r.text))


def python(path, where, tmp, quick):
    text = read(path)
    try:
        compile(text, where, "exec")
    except SyntaxError as e:
        fail("%s: %s" % (where, e))
        return
    if quick and "import torch" not in text:
        r = run([sys.executable, path], cwd=tmp)
        check(r.code == 0, "%s fails:\n%s" % (where, r.text))


def main(page):
    name = os.path.basename(page)
    text = read(page)
    with tmpdir() as tmp:
        os.symlink(os.path.join(ROOT, "samples"), os.path.join(tmp, "samples"))
        os.mkdir(os.path.join(tmp, "build"))
        os.symlink(CTILEC, os.path.join(tmp, "build", "ctilec"))
        last = None
        for m in FENCE.finditer(text):
            words = m.group(1).split() or ["text"]
            where = "%s:%d" % (name, text.count("\n", 0, m.start()) + 1)
            path = os.path.join(tmp, "block_%d.tile" % m.start())
            write(path, m.group(2))
            if words[0] == "tile":
                tile(path, where)
                last = path
                if name == "python.md":
                    write(os.path.join(tmp, "saxpy.tile"), m.group(2))
            elif words[0] == "tile-error":
                titles = re.findall(r"^## ([EW]\d+)$", text[:m.start()], re.M)        # of the page of messages
                code = words[1] if len(words) > 1 else titles[-1] if titles else ""
                if check(code, "%s does not say what it gives" % where):
                    tile_error(path, where, code)
            elif words[0] in ("schedule", "report"):
                if check(last, "%s follows no program" % where):
                    schedule(last, where, m.group(2), "--explain-schedule" if words[0] == "schedule" else " ".join(words[1:]))
            elif words[0] == "c":
                c(path, where)
            elif words[0] == "python":
                python(path, where, tmp, name == "python.md")
            elif words[0] == "sh":
                shell(path, where, tmp, name in ("quickstart.md", "python.md"))
            else:
                check(words[0] in ("text", "cmake", "cuda", "make", "meson"), "%s: unknown kind of block `%s`" % (where, words[0]))
    finish()


main(sys.argv[1])
