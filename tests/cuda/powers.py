"""Which powers of e are proved not to be above 1 (pass powers), and that their text says so."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

# formula of the tile v, of its row's maximum m, and of the scalar s: is it never above 0?
FORMULAS = {
    "v - m": True, "v - max(m, s)": True, "m - v": False, "v - reduce_max(abs(v), 1)": False, "v - min(m, s)": False, "v - s": False,
    "v": False, "-v": False, "-abs(v)": True, "-(v * v)": True, "-(v * s)": False, "min(v, 0)": True, "min(v, 1)": False, "min(v, s)": False,
    "-abs(v) - sqrt(abs(v))": True, "-abs(v) * abs(v) - abs(v)": True, "v * v - abs(v)": False, "-abs(v) * 3": True, "(v - m) * abs(v)": True, "(v - m) * s": False, "-abs(v) * -2": False,
    "max(-abs(v), v - m)": True, "max(-abs(v), v)": False, "select(v > 0, -v * v, v - m)": False, "select(v > 0, -(v * v), v - m)": True,
    "fma(v - m, abs(v), v - m)": True, "fma(v - m, abs(v), v)": False, "fma(v - m, v, v - m)": False,
    "sqrt(abs(v)) * -0.5": True, "(v - m) / 2": True, "(v - m) / s": False, "v - reduce_min(v, 1)": False,
}

with tmpdir() as tmp:
    source, out = os.path.join(tmp, "k.tile"), os.path.join(tmp, "k.cu")
    with open(source, "w") as f:
        for i, formula in enumerate(FORMULAS):
            f.write("kernel k%d(x: tensor<f32, [r, c]>, y: out tensor<f32, [r, c]>, s: f32) grid [r] {\n"
                    "    let v = x.load([bid(0), 0], [1, 256], pad: -inf), m = reduce_max(v, 1);\n"
                    "    y.store([bid(0), 0], exp(%s));\n}\n" % (i, formula))
        # 16 bits: less is asked of these, and f64 has its own
        f.write("""kernel rounded(x: tensor<f32, [r, c]>, y: out tensor<bf16, [r, c]>) grid [r] {
    y.store([bid(0), 0], element_cast(exp(-abs(x.load([bid(0), 0], [1, 256]))), bf16));
}
kernel doubled(x: tensor<f64, [r, c]>, y: out tensor<f64, [r, c]>) grid [r] {
    y.store([bid(0), 0], exp(-abs(x.load([bid(0), 0], [1, 256]))));
}
""")
    r = ctilec("-w", "--arch=sm_90a", "--line=off", source, "-o", out)
    check(r.code == 0, "the source does not compile:\n" + r.text)
    text = read(out)
    for i, (formula, low) in enumerate(FORMULAS.items()):
        bodies = re.findall(r"^k%d_sm90a\w*\(.*?^}" % i, text, re.M | re.S)
        check(bodies and all(("ct_exp_f32_low(" in b) == low and ("ct_exp_f32(" in b) != low for b in bodies), "exp(%s)" % formula)
    for name, call in (("rounded", "ct_exp_f32_full("), ("doubled", "ct_exp_f64(")):
        bodies = re.findall(r"^%s_sm90a\w*\(.*?^}" % name, text, re.M | re.S)
        check(bodies and all(call in b and "_low(" not in b for b in bodies), name)
finish()
