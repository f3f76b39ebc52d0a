"""Golden outputs: golden.py tests/golden/NAME.tile... For each NAME.KIND beside it, KIND one of tokens, ast, types, ir, cuda, c,
header, manifest, the output of --emit=KIND must be those bytes; for NAME.schedule that of --explain-schedule; for NAME.kernels that
of --emit=cuda, of each kernel the last version alone, which takes every call, for NAME.aligned the one for aligned tensors.
UPDATE=1 writes them again."""
import os
import re
import shlex
import sys

from common import *

KINDS = ["tokens", "ast", "types", "ir", "cuda", "c", "header", "manifest", "schedule", "kernels", "aligned"]


def versions(text, wanted):
    """Of each kernel of emitted CUDA the last version that is wanted by its name: the function that its kernels call, where they are two."""
    found = {}
    for m in re.finditer(r"^(?:static __global__ .*\n(?:[#_].*\n)*|CT_FN void )((\w+?)_sm\d+a?(?:_\w+?)??)(?:_rows)?\([^{]*\n\{\n(?:.*\n)*?}\n", text, re.M):
        if wanted(m.group(1)) and not re.search(r"^\t\w+_rows\(", m.group(0), re.M):
            found[m.group(2)] = m.group(0)
    return "\n".join(found.values())


# kind: what --emit=cuda prints, or a part of it
PARTS = {"kernels": lambda text: versions(text, lambda name: True), "aligned": lambda text: versions(text, lambda name: name.endswith("_aligned"))}


def main(path):
    base = os.path.splitext(path)[0]
    first = read(path).split("\n", 1)[0]
    extra = shlex.split(first[len("// options:"):]) if first.startswith("// options:") else []
    kinds = [k for k in KINDS if os.path.exists(base + "." + k)]
    check(kinds, "no golden output beside " + path)
    for kind in kinds:
        option = "--explain-schedule" if kind == "schedule" else "--emit=" + ("cuda" if kind in PARTS else kind)
        r = ctilec(option, *extra, os.path.basename(path), cwd=os.path.dirname(os.path.abspath(path)))
        check(r.code == 0, "%s: exit %d\n%s" % (option, r.code, r.text))
        out = PARTS.get(kind, str)(r.out.decode())
        check(out, "%s prints nothing that belongs to %s.%s" % (option, base, kind))
        if UPDATE:
            write(base + "." + kind, out)
        elif out != read(base + "." + kind):
            with tmpdir() as tmp:
                new = os.path.join(tmp, "new")
                write(new, out)
                print(run(["diff", "-u", base + "." + kind, new]).out.decode("utf-8", "replace")[:4000])
            fail("%s differs from %s.%s" % (option, base, kind))


for path in sys.argv[1:]:
    main(path)
finish()
