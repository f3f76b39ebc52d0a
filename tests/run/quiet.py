"""What must not be warned of: quiet.py FILE.tile ... [-- OPTIONS]. Each file compiles and prints nothing with -Wall -Wextra and OPTIONS, where
it is only checked and where its IR is printed. A file of the library makes no C function by itself; that alone is not counted."""
import os
import sys

from common import *


def main(args):
    cut = args.index("--") if "--" in args else len(args)
    for path in args[:cut]:
        for what in ("--check", "--emit=ir"):
            r = ctilec(what, "--diagnostics=short", "--color=never", "-Wall", "-Wextra", *args[cut + 1:], os.path.basename(path),
                       cwd=os.path.dirname(os.path.abspath(path)))
            library = os.path.basename(os.path.dirname(os.path.abspath(path))) == "stdlib"
            left = [l for l in r.text.splitlines() if not (library and l.endswith("[W1003]"))]
            check(r.code == 0 and not left, "%s with %s: %s" % (path, what, "\n".join(left) or "exit code %d" % r.code))
    check(cut > 0, "no file")
    finish()


main(sys.argv[1:])
