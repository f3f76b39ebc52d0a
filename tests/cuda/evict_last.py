"""Which loads have lines that stay in the L2 cache longer than what is written (pass evict)."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

SOURCE = """
kernel copied(x: tensor<f32, [m, n]>, y: out tensor<f32, [m, n]>) grid [m] { y.store([bid(0), 0], x.load([bid(0), 0], [1, 1024])); }
kernel weighed(x: tensor<f32, [m, n]>, w: tensor<f32, [n]>, y: out tensor<f32, [m, n]>) grid [m] {
    y.store([bid(0), 0], x.load([bid(0), 0], [1, 1024]) * w.load([0], [1024]));
}
kernel said(x: tensor<f32, [m, n]>, y: out tensor<f32, [m, n]>) grid [m] {
    y.store([bid(0), 0], x.load([bid(0), 0], [1, 1024], cache: evict_last) + x.load([bid(0), 1], [1, 1024], cache: evict_first));
}
kernel summed(x: tensor<f32, [m, n]>, s: out tensor<f32, [m, 1]>) grid [m] { s.store([bid(0), 0], sum(x.load([bid(0), 0], [1, 1024]), 1)); }
kernel columns(x: tensor<f32, [m, n]>, w: tensor<f32, [n]>, s: out tensor<f32, [n]>) grid [cdiv(n, 64)] {
    var t = zeros([1, 64], f32);
    for i in 0 .. cdiv(m, 16) { t = t + sum(x.load([i, bid(0)], [16, 64]), 0); }
    s.store([bid(0)], reshape(t, [64]) * w.load([bid(0)], [64]));
}
kernel each(x: tensor<f32, [m, n]>, y: inout tensor<f32, [m, n]>) grid [cdiv(n, 64)] {
    for i in 0 .. cdiv(m, 16) { y.store([i, bid(0)], y.load([i, bid(0)], [16, 64]) + x.load([i, bid(0)], [16, 64])); }
}
"""
# tensors whose loads do
WANT = {"copied": ["x"], "weighed": ["x"], "said": [], "summed": [], "columns": ["w"], "columns_share": [], "columns_rest": ["w"], "each": ["x", "y"]}

with tmpdir() as tmp:
    source, out = os.path.join(tmp, "k.tile"), os.path.join(tmp, "k.ir")
    with open(source, "w") as f: f.write(SOURCE)
    r = ctilec("-w", "--arch=sm_90a", "--stop-after=evict", source, "-o", out)
    check(r.code == 0, "the source does not compile:\n" + r.text)
    for name, body in re.findall(r"^kernel (\w+) placed {(.*?)^}", read(out), re.M | re.S):
        views = dict(re.findall(r"(%\d+) = view %(\w+)", body))
        found = [views.get(v, v[1:]).split(".")[0] for v in re.findall(r"load (%[\w.]+),.*l2_evict_last = true", body)]
        check(sorted(found) == WANT.pop(name), "%s: %s" % (name, found))
    check(not WANT, "kernels are missing: %s" % sorted(WANT))
    r = ctilec("-w", "--arch=sm_90a", source, "-o", os.path.join(tmp, "k.cu"))
    for bits in 128, 32:
        check(len(re.findall(r"\bct_ldnc_evict_last_b%d(?:_if)?\(ct_p" % bits, read(os.path.join(tmp, "k.cu")))) > 0, "the text does not say so of %d bits" % bits)
finish()
