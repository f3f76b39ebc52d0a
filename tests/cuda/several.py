"""Of which loops of several.tile several rounds become one (pass several): each such loop becomes two, the second for what is left."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "several.tile")
TWICE = {"columns_i32_32": 1, "columns_i32_128": 1, "columns_u8_32": 1, "columns_i64_32": 1, "rows_1x8": 1, "rows_1x32": 1, "rows_16x8": 1, "rows_16x32": 1, "fibonacci": 1, "ends": 2, "follows": 1}


def loops(tmp, after):
    out = os.path.join(tmp, after + ".ir")
    r = ctilec("-w", "--arch=sm_90a", "--stop-after=" + after, SOURCE, "-o", out)
    check(r.code == 0, "the source does not compile:\n" + r.text)
    return {name: len(re.findall(r"\bfor %", body)) for name, body in re.findall(r"^kernel (\w+) placed {(.*?)^}", read(out), re.M | re.S)}


with tmpdir() as tmp:
    before, after = loops(tmp, "turn"), loops(tmp, "several")
    check(set(TWICE) < set(before), "kernels are missing: %s" % sorted(set(TWICE) - set(before)))
    for name in before:
        want = before[name] + TWICE.get(name, 0)
        check(after[name] == want, "%s: %d loops became %d, want %d" % (name, before[name], after[name], want))
finish()
