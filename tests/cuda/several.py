"""Of which loops of several.tile several rounds ask for their tiles together (pass jam)."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "several.tile")
TOGETHER = {"columns_i32_32": 1, "columns_i32_128": 1, "columns_u8_32": 1, "columns_i64_32": 1, "rows_1x8": 1, "rows_1x32": 1, "rows_16x8": 1, "rows_16x32": 1, "fibonacci": 1, "ends": 2, "follows": 2,
    "columns_u8_32_rest": 1, "rows_1x8_rest": 1, "rows_1x32_rest": 1,
    # loops over a part of the iterations
    "columns_i32_32_share": 1, "columns_i32_128_share": 1, "columns_u8_32_share": 1, "columns_i64_32_share": 1, "rows_1x8_share": 1, "rows_1x32_share": 1,
    "rows_16x8_share": 1, "rows_16x32_share": 1, "ends_share": 1, "ends_share_2": 1}


with tmpdir() as tmp:
    out = os.path.join(tmp, "several.ir")
    r = ctilec("-w", "--arch=sm_90a", "--stop-after=jam", SOURCE, "-o", out)
    check(r.code == 0, "the source does not compile:\n" + r.text)
    found = {name: len(re.findall(r"\{jam = \d+\}", body)) for name, body in re.findall(r"^kernel (\w+) placed {(.*?)^}", read(out), re.M | re.S)}
    check(set(TOGETHER) < set(found), "kernels are missing: %s" % sorted(set(TOGETHER) - set(found)))
    for name in found:
        check(found[name] == TOGETHER.get(name, 0), "%s: %d loops ask together, want %d" % (name, found[name], TOGETHER.get(name, 0)))
finish()
