"""Which kernels of private.tile have a version whose thread blocks have sums of their own (lower/privatise.c), and a kernel that leaves no
shared memory for such sums, which has none; and in which updates of memory lanes combine what goes to one place."""
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

LANES = """kernel sums(x: tensor<f32, [n]>, k: tensor<i32, [n]>, y: inout tensor<f32, [m]>) grid [cdiv(n, 1024)] {
    atomic_add(y, [k.load([bid(0)], [1024], pad: -1)], x.load([bid(0)], [1024]));
}
kernel rows(x: tensor<f32, [n, 256]>, k: tensor<i32, [n]>, y: inout tensor<f32, [m, 256]>) grid [cdiv(n, 4)] {
    let row = k.load([bid(0)], [4], pad: -1);
    atomic_add(y, [row[:, _], iota([1, 256], i32)], x.load([bid(0), 0], [4, 256]));
}
kernel wide(x: tensor<f32, [n]>, k: tensor<i64, [n]>, y: inout tensor<f32, [m]>) grid [cdiv(n, 1024)] {
    atomic_add(y, [k.load([bid(0)], [1024], pad: -1)], x.load([bid(0)], [1024]));
}
"""


def joined(path):
    """Kernels of which lanes combine updates of memory, each by one thread's last neighbour of four."""
    r = ctilec("-w", "--arch=sm_90a", path, "-o", "-", "--no-header", "--line=off")
    check(r.code == 0, "%s does not compile:\n%s" % (os.path.basename(path), r.text))
    parts = re.split(r"(?m)^static __global__ .*\n(\w+)_sm90a\w*\(", r.out.decode())
    return {n for n, text in zip(parts[1::2], parts[2::2]) if re.search(r"& 3\) == 3 \? ct_lanes_add_f32", text)}


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
    path = os.path.join(where, "lanes.tile")
    write(path, LANES)
    check(joined(path) == {"sums"}, "kernels of which lanes combine updates of memory: %s" % sorted(joined(path)))
finish()
