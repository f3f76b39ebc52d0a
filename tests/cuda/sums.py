"""Which sums of sums.tile add products without rounding them first (pass products)."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

WANT = {"norms": 2, "columns": 2, "others": 1, "rounded": 0, "in_one": 0, "named": 0}

with tmpdir() as tmp:
    out = os.path.join(tmp, "sums.ir")
    r = ctilec("-w", "--arch=sm_90a", "--stop-after=products", os.path.join(ROOT, "tests", "cuda", "sums.tile"), "-o", out)
    check(r.code == 0, "the source does not compile:\n" + r.text)
    kernels = dict(re.findall(r"^kernel (\w+) placed {(.*?)^}", read(out), re.M | re.S))
    for name, want in WANT.items():
        found = len(re.findall(r"reduce_regs %[\w.]+, %", kernels[name]))
        check(found == want, "%s: %d sums of products, want %d" % (name, found, want))
finish()
