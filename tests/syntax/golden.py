"""golden.py tests/syntax/NAME.tile. NAME.txt: all messages in the short form, for a file with mistakes. NAME.ast and
NAME.tokens: what --emit prints for a file without. UPDATE=1 writes them again."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *


def compare(path, got):
    if UPDATE:
        write(path, got)
    want = read(path) if os.path.exists(path) else ""
    if not check(got == want, "the output differs from " + os.path.basename(path)):
        for w, g in zip(want.splitlines() + [""], got.splitlines() + [""]):
            if w != g:
                print("expected: %s\nprinted:  %s" % (w, g))
                break


def main(path):
    base = os.path.splitext(path)[0]
    name, folder = os.path.basename(path), os.path.dirname(os.path.abspath(path))
    r = ctilec("--check", "--diagnostics=short", "--color=never", "--error-limit=0", name, cwd=folder)
    if os.path.exists(base + ".ast"):
        for kind in ("ast", "tokens"):
            e = ctilec("--emit=" + kind, name, cwd=folder)
            check(e.code == 0, "--emit=%s: exit %d\n%s" % (kind, e.code, e.text))
            compare(base + "." + kind, e.out.decode())
    else:
        check(r.code == 1, "exit %d" % r.code)
        compare(base + ".txt", r.text)
        for line in r.text.splitlines():
            check(re.match(re.escape(name) + r":\d+:\d+: error: .*\[E0[01]\d\d\]$", line), "not a located syntax message: " + line)
    finish()


main(sys.argv[1])
