"""Which kernels of private.tile have a version whose thread blocks have sums of their own (lower/privatise.c), and a kernel that leaves no
shared memory for such sums, which has none."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

WANT = {"counts", "weighted", "extremes", "bits", "flags", "asked", "ordered", "ordered_sums", "skewed", "runs", "at_once"}

FULL = """kernel full(x: tensor<f32, [m, n]>, w: tensor<f32, [256, 256]>, y: inout tensor<f32, [bins]>) grid [cdiv(m, 64), cdiv(n, 256)] {
    let v = x.load([bid(0), bid(1)], [64, 256]);
    atomic_add(y, [element_cast(v, i32)], mma(v, w.load([0, 0], [256, 256]), zeros([64, 256], f32)));
}
"""


def versions(path):
    r = ctilec("-w", "--arch=sm_90a", "--emit=placed", path, "-o", "-")
    check(r.code == 0, "%s does not compile:\n%s" % (os.path.basename(path), r.text))
    return re.findall(r'(?m)^version (\w+) "(\w*)"', r.out.decode())


found = versions(os.path.join(ROOT, "tests", "cuda", "private.tile"))
check({k for k, v in found if v == "private"} == WANT, "kernels with sums of their own: %s" % sorted(k for k, v in found if v == "private"))
check({k for k, _ in found} > WANT, "no kernel without them: the test says nothing")
with tmpdir() as where:
    path = os.path.join(where, "full.tile")
    write(path, FULL)
    check("private" not in [v for _, v in versions(path)], "a kernel has sums of its own and no room for them")
finish()
