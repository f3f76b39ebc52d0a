"""Which tile blocks follow each other in a cluster, and what they share (pass persist)."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

SOURCE = """
kernel norm<T: float, N: int>(x: tensor<T, [m, n]>, w: tensor<T, [n]>, b: tensor<T, [n]>, y: out tensor<T, [m, n]>) grid [m] {
    let v = element_cast(x.load([bid(0), 0], [1, N]), f32);
    let d = select(iota([1, N], i32) < n, v - sum(v, 1) / n, 0);
    let r = rsqrt(sum(d * d, 1) / n + 1.0);
    y.store([bid(0), 0], element_cast(d * r * element_cast(w.load([0], [N]), f32) + element_cast(b.load([0], [N]), f32), T));
}
kernel scaled<N: int>(x: tensor<f32, [m, n]>, w: tensor<f32, [n]>, y: out tensor<f32, [m, n]>) grid [m] {
    let v = x.load([bid(0), 0], [1, N]);
    y.store([bid(0), 0], v * rsqrt(sum(v * v, 1) / n + 1.0) * w.load([0], [N]));
}
kernel chosen<N: int>(x: tensor<f32, [m, n]>, k: tensor<i32, [m]>, w: tensor<f32, [p, n]>, b: tensor<f32, [p, n]>,
    y: out tensor<f32, [m, n]>) grid [m] {
    let v = x.load([bid(0), 0], [1, N]), i = k[bid(0)];
    y.store([bid(0), 0], v * sum(v, 1) * w.load([i, 0], [1, N]) + b.load([i, 0], [1, N]));
}
instance norm_f32 = norm<f32, {4096, 16384, 32768, 65536, 131072}>;
instance norm_bf16 = norm<bf16, 65536>;
instance scaled_f32 = scaled<65536>;
instance chosen_f32 = chosen<65536>;
"""
# tile blocks that a thread block has at once, and what is there for all of them
WANT = {"norm_f32_32768": (2, ["b", "w"]), "norm_f32_65536": (2, ["b", "w"])}
PLAIN = ["norm_f32_4096", "norm_f32_16384", "norm_f32_131072", "norm_bf16_65536", "scaled_65536", "chosen_65536"]

with tmpdir() as tmp:
    source, out = os.path.join(tmp, "k.tile"), os.path.join(tmp, "k.ir")
    with open(source, "w") as f: f.write(SOURCE)
    r = ctilec("-w", "--arch=sm_90a", "--stop-after=stage", source, "-o", out)
    check(r.code == 0, "the source does not compile:\n" + r.text)
    found = {}
    for name, body in re.findall(r"^kernel (\w+) placed {(.*?)^}", read(out), re.M | re.S):
        mark = re.search(r"= bid \{.*follows = \d+.*\}", body)
        if not mark:
            check(name in PLAIN, name + " does not follow")
            PLAIN.remove(name)
            continue
        views = dict(re.findall(r"(%\d+) = view %(\w+)", body))
        groups = int((re.findall(r"groups = (\d+)", mark[0]) or ["1"])[0])
        once = re.findall(r"load (%[\w.]+),.*staged = ", body[:mark.start()])
        found[name] = (groups, sorted(views.get(v, v[1:]).split(".")[0] for v in once))
    check(found == WANT, "found %s" % found)
    check(not PLAIN, "kernels are missing: %s" % PLAIN)
    r = ctilec("-w", "--versions=16", "--arch=sm_90a", source, "-o", os.path.join(tmp, "k.cu"))
    text = read(os.path.join(tmp, "k.cu"))
    check(len(re.findall(r"= ct_follow\(&ct_bid0", text)) == 6, "%d versions with rounds" % len(re.findall(r"= ct_follow\(&ct_bid0", text)))
finish()
