"""Golden outputs: golden.py tests/golden/NAME.tile. For each NAME.KIND beside it, KIND one of tokens, ast, types, ir, cuda, c,
header, manifest, the output of --emit=KIND must be those bytes; for NAME.schedule that of --explain-schedule. UPDATE=1 writes them
again."""
import os
import shlex
import sys

from common import *

KINDS = ["tokens", "ast", "types", "ir", "cuda", "c", "header", "manifest", "schedule"]


def main(path):
    base = os.path.splitext(path)[0]
    first = read(path).split("\n", 1)[0]
    extra = shlex.split(first[len("// options:"):]) if first.startswith("// options:") else []
    kinds = [k for k in KINDS if os.path.exists(base + "." + k)]
    check(kinds, "no golden output beside " + path)
    for kind in kinds:
        option = "--explain-schedule" if kind == "schedule" else "--emit=" + kind
        r = ctilec(option, *extra, os.path.basename(path), cwd=os.path.dirname(os.path.abspath(path)))
        check(r.code == 0, "%s: exit %d\n%s" % (option, r.code, r.text))
        if UPDATE:
            write(base + "." + kind, r.out)
        elif r.out.decode() != read(base + "." + kind):
            with tmpdir() as tmp:
                new = os.path.join(tmp, "new")
                write(new, r.out)
                print(run(["diff", "-u", base + "." + kind, new]).out.decode("utf-8", "replace")[:4000])
            fail("%s differs from %s.%s" % (option, base, kind))
    finish()


main(sys.argv[1])
