"""What loops over a row keep in shared memory for later ones (pass cache): what nobody writes in between. Spans of raw pointers may lie
in one place, so that a store to one of them is a store to all; tensors do not overlap what is written."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

HEAD = "kernel %s(a: %s, b: %s, y: out tensor<f32, [m, 8192]>, r: out tensor<f32, [m, 1]>) grid [m] {\n"
SPAN = "let %s = unsafe tensor_span(%s, [m, 8192]);\n"
ROW = """var s: tile<f32, [1, 1]> = 0;
for j in 0 .. 8 { s += sum(x.load([bid(0), j], [1, 1024]), 1); }
%s
for j in 0 .. 8 {
    let v = x.load([bid(0), j], [1, 1024]) * s;
    y.store([bid(0), j], v);
    %s
}
}
"""
STORE = "z.store([bid(0), j], v);"
TENSOR, POINTER = "inout tensor<f32, [m, 8192]>", "ptr<f32>"
# name: what x and z are, what stands between the loops, in the second one, whether rows of x are kept
CASES = {
    "tensors": (TENSOR, TENSOR, "", STORE, True),
    "span": (POINTER, TENSOR, "", "", True),
    "span_and_tensor": (POINTER, TENSOR, "", STORE, True),
    "tensor_and_span": (TENSOR, POINTER, "", STORE, True),
    "spans": (POINTER, POINTER, "", STORE, False),
    "span_and_pointer": (POINTER, POINTER, "unsafe store(b + bid(0), reshape(s, []));", "", False),
    "ordered": (TENSOR, TENSOR, "r.store([bid(0), 0], s, order: release);", "", False),
}


def source():
    text = ""
    for name, (x, z, between, within, _) in CASES.items():
        text += HEAD % (name, x, z)
        for given, of, kind in (("x", "a", x), ("z", "b", z)):
            text += SPAN % (given, of) if kind == POINTER else "let %s = %s;\n" % (given, of)
        text += ROW % (between, within)
    return text


with tmpdir() as tmp:
    path, out = os.path.join(tmp, "k.tile"), os.path.join(tmp, "k.ir")
    write(path, source())
    r = ctilec("-w", "--arch=sm_90a", "--stop-after=cache", path, "-o", out)
    if check(r.code == 0, "the source does not compile:\n" + r.text):
        kernels = dict(re.findall(r"^kernel (\w+) placed {(.*?)^}", read(out), re.M | re.S))
        for name, (*_, want) in CASES.items():
            check(("keep %" in kernels[name]) == want, "%s: the row is%s kept" % (name, " not" if want else ""))
finish()
