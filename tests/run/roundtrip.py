"""Printing and reading again is the identity: roundtrip.py ast|ir. On every .tile file of the project that is a whole,
correct program."""
import os
import sys

from common import *


def same_again(kind, path, tmp):
    """Is path a whole program? Then what is printed of it, printed again, must be the same."""
    first = ctilec("--emit=" + kind, path)
    if first.code != 0:
        return False
    again = os.path.join(tmp, "again." + {"ast": "tile", "ir": "ir"}[kind])
    write(again, first.out)
    second = ctilec("--emit=" + kind, again)
    check(second.code == 0, "%s: what is printed does not read:\n%s" % (path, second.text[:1000]))
    check(second.out == first.out, "%s: what is printed prints differently" % path)
    return True


def main(kind):
    done = 0
    with tmpdir() as tmp:
        for path in tile_files("samples", "stdlib", "tests"):
            done += same_again(kind, path, tmp)
    print("%d files" % done)
    check(done >= 10, "too few files could be tried")
    finish()


main(sys.argv[1])
