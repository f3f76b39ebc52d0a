"""What the author's functions of scans and reductions combine is printed once, as a function that all of their steps call, in all kernels that
combine so (emit_cuda/combine.c); a function that uses what its kernel computes is printed where it is used."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

SOURCE = """
fn joined(p: T, q: T) -> T { return p + q - p * q * 0.5; }
kernel reduced(x: tensor<f32, [m, n]>, y: out tensor<f32, [m]>) grid [m] where n <= 2048 {
    y[bid(0)] = f32(reduce(x.load([bid(0), 0], [1, 2048]), 1, 0.0, joined));
}
kernel scanned(x: tensor<f32, [m, n]>, y: out tensor<f32, [m, n]>) grid [m] where n <= 2048 {
    y.store([bid(0), 0], scan(x.load([bid(0), 0], [1, 2048]), 1, 0.0, joined));
}
kernel added(x: tensor<f32, [m, n]>, y: out tensor<f32, [m, n]>) grid [m] where n <= 256 {
    y.store([bid(0), 0], scan(x.load([bid(0), 0], [1, 256]), 1, 0.0, fn(p, q) max(p + q, 0)));
}
kernel of_kernel(x: tensor<f32, [m, n]>, k: f32, y: out tensor<f32, [m]>) grid [m] where n <= 256 {
    y[bid(0)] = f32(reduce(x.load([bid(0), 0], [1, 256]), 1, 0.0, fn(p, q) p + q - k * p * q));
}
"""
ONCE = {"reduced": {"ct_combine"}, "scanned": {"ct_combine"}, "added": {"ct_combine_2"}, "of_kernel": set()}
# with lines of the source: what becomes the result is of the line that combines
BY_LINE = {"reduced": {"ct_combine"}, "scanned": {"ct_combine_2"}, "added": {"ct_combine_3"}, "of_kernel": set()}

for lines, want in (("off", ONCE), ("on", BY_LINE)):
    with tmpdir() as tmp:
        source, out = os.path.join(tmp, "k.tile"), os.path.join(tmp, "k.cu")
        write(source, SOURCE)
        r = ctilec("-w", "--arch=sm_90a", "--line=" + lines, source, "-o", out)
        check(r.code == 0, "the source does not compile:\n" + r.text)
        text = read(out)
        made = re.findall(r"^CT_FN void (ct_combine\w*)\(", text, re.M)
        check(set(made) == set().union(*want.values()) and len(set(made)) == len(made), "--line=%s: functions: %s" % (lines, made))
        found = {}
        for name, body in re.findall(r"^(?:CT_FN void )?(\w+?)_sm90a\w*\([^\n]*\n\{\n(.*?)^\}", text, re.M | re.S):
            found[name] = found.get(name, set()) | set(re.findall(r"\b(ct_combine\w*)\(", body))
        check(found == want, "--line=%s: kernels call %s, want %s" % (lines, found, want))
finish()
