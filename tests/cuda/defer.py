"""How many reductions of defer.tile cross lanes in the iterations of a loop (pass defer)."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "defer.tile")
# of `rows`: the sum of each row, after the loop over its columns
WANT = {"planes": 0, "columns": 0, "bits": 0, "stays": 4, "rows": 1}


def in_loops(body):
    depth = found = 0
    for line in body.splitlines():
        found += depth > 0 and " reduce_lanes " in line
        depth += bool(re.search(r"= for .* do \(.*\) \{$|^\s*for .*\{$", line)) or (depth > 0 and line.endswith("{"))
        depth -= depth > 0 and line.strip().startswith("}")
    return found


with tmpdir() as tmp:
    out = os.path.join(tmp, "defer.ir")
    r = ctilec("-w", "--arch=sm_90a", "--stop-after=combine", SOURCE, "-o", out)
    check(r.code == 0, "the source does not compile:\n" + r.text)
    found = {name: in_loops(body) for name, body in re.findall(r"^kernel (\w+) placed {(.*?)^}", read(out), re.M | re.S)}
    for name, n in WANT.items():
        check(found.get(name) == n, "%s: %s reductions cross lanes in iterations, want %d" % (name, found.get(name), n))
finish()
