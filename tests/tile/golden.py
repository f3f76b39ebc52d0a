"""What target cuda-tile prints for forms.tile, the kernels' part: forms.cu (UPDATE=1 writes it). The header, which is every target's. And the
same kernels beside those of target cuda (--tile-arch). Of ../golden/scale.tile all that follows the kernels, the launchers: scale.cu."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

HERE = os.path.join(ROOT, "tests", "tile")


def same(name, got):
    path = os.path.join(HERE, name)
    if UPDATE:
        write(path, got)
    if not check(read(path) == got, name + " is another text now; UPDATE=1 writes it again"):
        print(got)


with tmpdir() as tmp:
    headers = {}
    for target, ending in (("cuda-tile", "cu"), ("cuda", "cu"), ("c", "c")):
        out = os.path.join(tmp, target + "." + ending)
        r = ctilec("-w", "--line=off", "--target=" + target, "--header=" + os.path.join(tmp, target + ".h"), "-o", out, "tests/tile/forms.tile", cwd=ROOT)
        check(r.code == 0, "%s:\n%s" % (target, r.text))
        headers[target] = read(os.path.join(tmp, target + ".h")).replace(target.upper().replace("-", "_") + "_H", "")
    check(len(set(headers.values())) == 1, "the header is not the same for all targets")
    behind = "}\n} // namespace\n"
    got = read(os.path.join(tmp, "cuda-tile.cu")).split("\nnamespace ct_kernels {\n", 1)[1].split(behind, 1)[0]
    same("forms.cu", got)

    r = ctilec("-w", "--line=off", "--tile-arch=sm_120,sm_100", "--arch=sm_90a", "--header=" + os.path.join(tmp, "beside.h"), "-o", out, "tests/tile/forms.tile", cwd=ROOT)
    check(r.code == 0, r.text)
    beside = read(out)
    check(read(os.path.join(tmp, "beside.h")).replace("BESIDE_H", "") in headers.values(), "the header is another one with --tile-arch")
    kernels = beside.split("\nnamespace ct_kernels {\n", 1)[1].split(behind, 1)[0]
    check(kernels.replace("{\n#if CT_TILED\n", "{\n").replace("#endif\n}\n", "}\n") == got, "beside others, tile kernels are other texts")
    runs = re.findall(r"^static int (ct_run_\w+)\(", read(os.path.join(tmp, "cuda-tile.cu")), re.M)
    check(runs, "no launchers")
    for name in runs:
        check("\n#if CT_TILES\n\tif (ct_on_tiles()) return ct_tiled::%s(" % name in beside, "no launcher takes the tile kernels of " + name)

    out = os.path.join(tmp, "scale.cu")
    r = ctilec("-w", "--line=off", "--no-header", "--target=cuda-tile", "-o", out, "tests/golden/scale.tile", cwd=ROOT)
    check(r.code == 0, r.text)
    same("scale.cu", read(out).split(behind, 1)[1])
finish()
