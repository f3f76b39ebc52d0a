"""Which accesses of single elements compare numbers of elements apart, so that ptxas keeps no comparison for others: those of rows
that are loaded before the first reduction, and not those of weights."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

MASKED = """
kernel masked_sum(x: tensor<f16, [rows, cols]>, mask: tensor<bool, [rows, cols]>, y: out tensor<f16, [rows, cols]>)
    grid [rows] where cols <= 16384
{
    let v = select(mask.load([bid(0), 0], [1, 16384]), element_cast(x.load([bid(0), 0], [1, 16384]), f32), 0);
    y.store([bid(0), 0], element_cast(v * sum(v, 1), f16));
}
"""
WEIGHTED = """
kernel weighted(x: tensor<f16, [rows, cols]>, w: tensor<f32, [cols]>, y: out tensor<f16, [rows, cols]>)
    grid [rows] where cols <= 16384
{
    let v = element_cast(x.load([bid(0), 0], [1, 16384]), f32);
    y.store([bid(0), 0], element_cast(v * sum(v * v, 1) * w.load([0], [16384]), f16));
}
"""
# functions of accesses in the version for all calls, and how many of them compare apart
WANT = {"masked_sum": (MASKED, 3, 3), "weighted": (WEIGHTED, 3, 0)}

with tmpdir() as tmp:
    for name, (source, *want) in WANT.items():
        one, out = os.path.join(tmp, name + ".tile"), os.path.join(tmp, name + ".cu")
        with open(one, "w") as f:
            f.write(source)
        r = ctilec("-w", "--arch=sm_90a", one, "-o", out)
        check(r.code == 0, "%s does not compile:\n%s" % (name, r.text))
        made = re.findall(r"^CT_FN void ct_\w+_tile_\w+\(.*?^}", read(out), re.M | re.S)
        single = [text for text in made if "ct_last" in text]
        found = [len(single), sum("ct_unknown_zero(ct_base)" in text for text in single)]
        check(found == want, "%s: want accesses of single elements, and those apart, %s, found %s" % (name, want, found))
finish()
