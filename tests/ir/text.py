"""Placed IR text: printing what was read, and reading that again, gives the same bytes; and ctilec prints it as CUDA twice alike.
Usage: text.py FILE.tir..."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *


def printed(*args):
    r = ctilec(*args, "-o", "-")
    check(r.code == 0, "%s: exit %d\n%s" % (" ".join(args), r.code, r.text))
    return r.out


def main(files):
    for path in files:
        text = printed("--emit=ir", path)
        with tmpdir() as tmp:
            again = os.path.join(tmp, os.path.basename(path))
            write(again, text)
            check(printed("--emit=ir", again) == text, "%s: reading and printing changes it" % path)
        check(printed("--emit=cuda", path) == printed("--emit=cuda", path), "%s: two outputs" % path)
    finish()


main(sys.argv[1:])
