"""Which kernels have texts with half their tile, and for which rows they are launched (lower/half.c)."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

SOURCE = """
kernel mean_of<T: float, BN: int>(x: tensor<T, [m, n]>, y: out tensor<T, [m, n]>) grid [m] where n <= BN {
    let v = element_cast(x.load([bid(0), 0], [1, BN]), f32);
    y.store([bid(0), 0], element_cast(v - sum(v, 1) / n, T));
}
kernel two_lengths(x: tensor<f32, [m, n]>, w: tensor<f32, [k]>, y: out tensor<f32, [m, n]>) grid [m] {
    let v = x.load([bid(0), 0], [1, 4096]);
    y.store([bid(0), 0], v * w.load([0], [4096]) - sum(v, 1));
}
kernel parts(x: tensor<f32, [m, n]>, y: out tensor<f32, [m, n]>) grid [m, cdiv(n, 4096)] {
    let v = x.load([bid(0), bid(1)], [1, 4096]);
    y.store([bid(0), bid(1)], v - sum(v, 1));
}
kernel padded(x: tensor<f32, [m, n]>, y: out tensor<f32, [m, n]>) grid [m] where n <= 4096 {
    let v = x.load([bid(0), 0], [1, 4096], pad: 0.5);
    y.store([bid(0), 0], v - sum(v, 1));
}
instance mean_f32 = mean_of<f32, {512, 4096}>;
instance mean_bf16 = mean_of<bf16, 4096>;
"""
# rows of which lengths, in the order in which the launcher asks; those of bf16 are peeled
WANT = {"mean_of_f32_4096": ["1024 1280", "1280 1792", "0 2049", "2048 2560", "2560 3584"]}

with tmpdir() as tmp:
    source, out = os.path.join(tmp, "k.tile"), os.path.join(tmp, "k.cu")
    with open(source, "w") as f: f.write(SOURCE)
    r = ctilec("-w", "--arch=sm_90a", "--line=off", source, "-o", out)
    check(r.code == 0, "the source does not compile:\n" + r.text)
    text = read(out)
    halves = {}
    for name, size in re.findall(r"^(\w+)_sm90a_below_(\d+)\(", text, re.M):
        if int(size) % 2: halves.setdefault(name, []).append(int(size))
    check(halves == {name: [2049] for name in WANT}, "kernels with half their tile: %s" % halves)
    for name, want in WANT.items():
        # versions stand in the order in which their guards are asked
        asked = re.findall(r"^// .*; for (.*)\nstatic .*\n%s_sm90a_(\w+)\(" % name, text, re.M)
        lengths = [(re.search(r"(\d+) <= n", guard), re.search(r"n < (\d+)", guard)) for guard, _ in asked]
        found = ["%s %s" % (least.group(1) if least else "0", below.group(1)) for least, below in lengths if below]
        check(found == want, "%s is launched for rows of %s" % (name, found))
        check([version for _, version in asked][-1] == "aligned", "%s: the version for aligned rows is not asked last" % name)
finish()
