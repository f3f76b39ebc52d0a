"""How rows side by side meet what is the same for all of them (emit_cuda/dense.c): weights come from shared memory in as wide a piece as
the text's registers are a multiple of, and a thread that has whole rows compares their places with the length as it is."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

SOURCE = """
kernel scaled(x: tensor<bf16, [m, n]>, w: tensor<bf16, [n]>, y: out tensor<bf16, [m, n]>) grid [m] where n <= 32 {
    let v = element_cast(x.load([bid(0), 0], [1, 32]), f32), d = select(iota([1, 32], i32) < n, v - sum(v, 1) / n, 0);
    y.store([bid(0), 0], element_cast(d * sum(d * d, 1) * element_cast(w.load([0], [32]), f32), bf16));
}
"""

with tmpdir() as tmp:
    source, out = os.path.join(tmp, "k.tile"), os.path.join(tmp, "k.cu")
    with open(source, "w") as f: f.write(SOURCE)
    r = ctilec("-w", "--versions=16", "--arch=sm_90a", "--line=off", source, "-o", out)
    check(r.code == 0, "the source does not compile:\n" + r.text)
    texts = dict(re.findall(r"^scaled_sm90a(\w*)\((.*?)^}", read(out), re.M | re.S))
    for name, piece in (("_below_18", "unsigned int"), ("_below_22", "unsigned int"), ("", "ct_u32x4")):
        check("const %s ct_w = *(const %s *)(ct_p" % (piece, piece) in texts.get(name, ""), "scaled%s: weights do not come by %s" % (name, piece))
    check("ct_within(" not in texts.get("_below_18", "ct_within("), "the length is held within bounds")
finish()
