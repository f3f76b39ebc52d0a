"""Which kernels have a text for rows as long as their tile, what it knows, and when it is launched (lower/whole.c)."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

SOURCE = """
kernel mean_of<BN: int>(x: tensor<f32, [m, n]>, y: out tensor<f32, [m, n]>) grid [m] where n <= BN {
    let v = x.load([bid(0), 0], [1, BN]);
    y.store([bid(0), 0], v - sum(v, 1) / n);
}
kernel two_lengths(x: tensor<f32, [m, n]>, w: tensor<f32, [k]>, y: out tensor<f32, [m, n]>) grid [m] {
    let v = x.load([bid(0), 0], [1, 128]);
    y.store([bid(0), 0], v * w.load([0], [128]) - sum(v, 1));
}
instance mean = mean_of<{128, 8192}>;
"""

with tmpdir() as tmp:
    source, out = os.path.join(tmp, "k.tile"), os.path.join(tmp, "k.cu")
    with open(source, "w") as f: f.write(SOURCE)
    r = ctilec("-w", "--arch=sm_90a", "--line=off", source, "-o", out)
    check(r.code == 0, "the source does not compile:\n" + r.text)
    text = read(out)
    found = re.findall(r"^(\w+)_sm90a_whole\(", text, re.M)
    check(found == ["mean_of_128"], "texts for whole rows: %s" % found)
    body = text[text.index("mean_of_128_sm90a_whole("):]
    body = body[:body.index("\n}\n")]
    check("cols" not in body and not re.search(r"\bn\b", body[body.index("{"):]), "it asks for the length of a row:\n" + body)
    check(re.search(r"^\s*&& n == 128;", text, re.M), "the launcher does not ask for the length")
finish()
