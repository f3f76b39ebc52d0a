"""Golden outputs: golden.py tests/golden/NAME.tile. For each NAME.KIND beside it, KIND one of tokens, ast, types, ir, cuda, c,
header, manifest, the output of --emit=KIND must be those bytes. UPDATE=1 writes them again."""
import os
import shlex
import sys

from common import *

KINDS = ["tokens", "ast", "types", "ir", "cuda", "c", "header", "manifest"]


def main(path):
    base = os.path.splitext(path)[0]
    first = read(path).split("\n", 1)[0]
    extra = shlex.split(first[len("// options:"):]) if first.startswith("// options:") else []
    kinds = [k for k in KINDS if os.path.exists(base + "." + k)]
    check(kinds, "no golden output beside " + path)
    for kind in kinds:
        r = ctilec("--emit=" + kind, *extra, os.path.basename(path), cwd=os.path.dirname(os.path.abspath(path)))
        check(r.code == 0, "--emit=%s: exit %d\n%s" % (kind, r.code, r.text))
        if UPDATE:
            write(base + "." + kind, r.out)
        elif r.out.decode() != read(base + "." + kind):
            with tmpdir() as tmp:
                new = os.path.join(tmp, "new")
                write(new, r.out)
                print(run(["diff", "-u", base + "." + kind, new]).out.decode("utf-8", "replace")[:4000])
            fail("--emit=%s differs from %s.%s" % (kind, base, kind))
    finish()


main(sys.argv[1])
