"""Printing and reading again is the identity: roundtrip.py ast|ir. On every .tile file of the project that is a whole,
correct program."""
import os
import sys

from common import *


def ast(path, tmp):
    first = ctilec("--emit=ast", path)
    if first.code != 0:
        return False
    again = os.path.join(tmp, "again.tile")
    write(again, first.out)
    second = ctilec("--emit=ast", again)
    check(second.code == 0, "%s: the printed program does not parse:\n%s" % (path, second.text[:1000]))
    check(second.out == first.out, "%s: the printed program prints differently" % path)
    # the same tree means the same IR
    check(ctilec("--emit=tokens", again).code == 0, path + ": the printed program has bad tokens")
    return True


def ir(path, tmp):
    first = ctilec("--emit=ir", path)
    if first.code != 0:
        return False
    again = os.path.join(tmp, "again.ir")
    write(again, first.out)
    second = ctilec("--emit=ir", again)
    check(second.code == 0, "%s: the printed IR does not read:\n%s" % (path, second.text[:1000]))
    check(second.out == first.out, "%s: the IR that was read prints differently" % path)
    return True


def main(kind):
    done = 0
    with tmpdir() as tmp:
        for path in tile_files("samples", "stdlib", "tests"):
            done += {"ast": ast, "ir": ir}[kind](path, tmp)
    print("%d files" % done)
    check(done >= 10, "too few files could be tried")
    finish()


main(sys.argv[1])
