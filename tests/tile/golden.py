"""What target cuda-tile prints for forms.tile, the kernels' part: forms.cu (UPDATE=1 writes it). And the header, which is every target's."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

HERE = os.path.join(ROOT, "tests", "tile")
with tmpdir() as tmp:
    headers = {}
    for target, ending in (("cuda-tile", "cu"), ("cuda", "cu"), ("c", "c")):
        out = os.path.join(tmp, target + "." + ending)
        r = ctilec("-w", "--line=off", "--target=" + target, "--header=" + os.path.join(tmp, target + ".h"), "-o", out, "tests/tile/forms.tile", cwd=ROOT)
        check(r.code == 0, "%s:\n%s" % (target, r.text))
        headers[target] = read(os.path.join(tmp, target + ".h")).replace(target.upper().replace("-", "_") + "_H", "")
    check(len(set(headers.values())) == 1, "the header is not the same for all targets")
    got = read(os.path.join(tmp, "cuda-tile.cu")).split("\nnamespace ct_kernels {\n", 1)[1].split("}\n} // namespace\n", 1)[0]
    path = os.path.join(HERE, "forms.cu")
    if UPDATE:
        write(path, got)
    if not check(read(path) == got, "forms.cu is another text now; UPDATE=1 writes it again"):
        print(got)
finish()
