"""Which tile blocks are joined with their neighbours (pass coarsen): those of coarsen.tile whose tiles have short rows, and none that
could see it. Which are divided (pass refine): large ones, where parts need nothing of each other."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "coarsen.tile")
APART = {"regrouped", "counts", "part", "sliced", "from_behind", "apart", "numbered", "chosen", "counted", "from_memory",
         "large_i16_1x65536", "large_i32_256x256", "large_turned_64x512", "large_turned_256x512", "large_stencil", "padded",
         "large_numbered", "large_shifted"}
WANT = {        # extents of the grid
    "map_u8_32x8": "cdiv(m, 32), cdiv(n, 256)",
    "row_sums": "cdiv(m, 32), cdiv(n, 128)",
    "turned_f32": "cdiv(k, 2), cdiv(m, 64), cdiv(n, 32)",
    "in_loop": "cdiv(n, 8)",
    "stencil_64": "cdiv(m, 8), cdiv(n, 64)",
    "planes": "cdiv(k, 16), cdiv(m, 4), cdiv(n, 32)",
    "beyond": "cdiv(m, 32), cdiv(cdiv(n, 4) + 3, 16)",
}
DIVIDED = {
    "large_i16_1x65536": "m, cdiv(n, 8192)",
    "large_i32_256x256": "cdiv(m, 32), cdiv(n, 256)",
    "large_turned_64x512": "cdiv(m, 64), cdiv(n, 256)",
    "large_turned_256x512": "cdiv(m, 128), cdiv(n, 128)",
    "large_stencil": "cdiv(m, 32), cdiv(n, 252)",
    "padded": "2 * cdiv(m, 128), cdiv(n, 128)",
    "large_numbered": "cdiv(m, 128), cdiv(n, 64)",
}


def grids(tmp, name, *options):
    out = os.path.join(tmp, name + ".ir")
    r = ctilec("-w", "--arch=sm_90a", *options, SOURCE, "-o", out)
    check(r.code == 0, "the source does not compile:\n" + r.text)
    return dict(re.findall(r"^kernel (\w+) typed {.*?^\tgrid \[(.*?)\]$", read(out), re.M | re.S))


with tmpdir() as tmp:
    before, after = grids(tmp, "before", "--stop-after=simplify"), grids(tmp, "after", "--stop-after=coarsen")
    for name in before:
        check((before[name] == after[name]) == (name in APART), "%s: grid [%s] became [%s]" % (name, before[name], after[name]))
    parts = grids(tmp, "parts", "--stop-after=refine")
    for name in before:
        check((after[name] != parts[name]) == (name in DIVIDED), "%s: grid [%s] became [%s]" % (name, after[name], parts[name]))
    for name, want in DIVIDED.items():
        check(parts[name] == want, "%s: want [%s], found [%s]" % (name, want, parts[name]))
    for name, want in WANT.items():
        check(after[name] == want, "%s: want [%s], found [%s]" % (name, want, after[name]))
finish()
