"""The complete text of what kernels are placed as (--emit=placed): compiling it gives the bytes that compiling its source gives, and reading
and printing it gives the same text. placed.py PART OF: every OF-th program of samples, library, bench and tests/cuda, from PART on."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

OPTIONS = [["--arch=sm_80,sm_90a,sm_120"], [], ["--line=off", "--checked"], ["-O0", "--arch=sm_90a"]]


def same(path, options, where):
    text, again = os.path.join(where, "k.ir"), os.path.join(where, "again.ir")

    def out(*args):
        r = ctilec("-w", *options, *args)
        return r.code == 0, r.text
    ok, said = out("--emit=placed", "-o", text, path)
    if not ok and "E02" in said: return False               # imports a folder that is not given here
    if not check(ok, "%s does not compile:\n%s" % (path, said)): return False
    for source, to in ((path, "a"), (text, "b")):
        os.makedirs(os.path.join(where, to), exist_ok=True)
        ok, said = out("-o", os.path.join(where, to, "k.cu"), "--header=%s" % os.path.join(where, to, "k.h"), source)
        if not check(ok, "%s, from %s:\n%s" % (path, os.path.basename(source), said)): return False
    for name in ("k.cu", "k.h"):
        a, b = [read(os.path.join(where, to, name)).replace(os.path.join(where, to), "") for to in "ab"]
        check(a == b, "%s %s: %s is another from the placed text" % (path, " ".join(options), name))
    ok, said = out("--emit=placed", "-o", again, text)
    check(ok and read(again) == read(text), "%s: reading and printing changes the text\n%s" % (path, said))
    return True


def main(part, of):
    files = sorted(tile_files("samples", "stdlib", "bench", os.path.join("tests", "cuda")))
    with tmpdir() as where:
        done = [path for i, path in enumerate(files[part::of]) if same(path, OPTIONS[i % len(OPTIONS) if of > 1 else 0], where)]
    check(len(done) * of > 60, "only %d programs" % len(done))
    finish()


main(*map(int, sys.argv[1:]))
