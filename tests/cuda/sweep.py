"""The order in which blocks run over the grid (pass rasterise): along the rows of what is stored, unless blocks speak; rows of a table that an
index from memory names one after the other, where their parts are long."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

SOURCE = """
kernel rows(x: tensor<f32, [m, n]>, y: out tensor<f32, [m, n]>) grid [cdiv(m, 8), cdiv(n, 64)] {
    y.store([bid(0), bid(1)], 2 * x.load([bid(0), bid(1)], [8, 64]));
}
kernel turned(x: tensor<f32, [m, n]>, y: out tensor<f32, [n, m]>) grid [cdiv(m, 64), cdiv(n, 64)] {
    y.store([bid(1), bid(0)], transpose(x.load([bid(0), bid(1)], [64, 64])));
}
kernel columns(x: tensor<f32, [m, n], layout_left>, y: out tensor<f32, [m, n], layout_left>) grid [cdiv(m, 64), cdiv(n, 8)] {
    y.store([bid(0), bid(1)], 2 * x.load([bid(0), bid(1)], [64, 8]));
}
kernel slices(x: tensor<f32, [k, m, n]>, y: out tensor<f32, [m, k, n]>) grid [k, m, cdiv(n, 64)] {
    let part = y[bid(1), :, :];
    part.store([bid(0), bid(2)], x[bid(0), :, :].load([bid(1), bid(2)], [1, 64]));
}
kernel sums(x: tensor<f32, [m, n]>, y: out tensor<f32, [m, parts]>) grid [m, parts] {
    y.store([bid(0), bid(1)], reshape(sum(x.load([bid(0), bid(1)], [1, 1024]), 1), [1, 1]));
}
kernel table<N: int>(x: tensor<bf16, [v, n]>, at: tensor<i32, [m]>, y: out tensor<bf16, [m, n]>) grid [m, cdiv(n, N)] {
    let row = select(at[bid(0)] < 0, 0, at[bid(0)]);
    y.store([bid(0), bid(1)], x.load_at([row, bid(1) * N], [1, N]));
}
instance parts = table<512>;
instance pieces = table<64>;
kernel put(x: tensor<bf16, [m, n]>, at: tensor<i32, [m]>, y: inout tensor<bf16, [v, n]>) grid [m, cdiv(n, 512)] {
    y.store_at([at[bid(0)], bid(1) * 512], x.load([bid(0), bid(1)], [1, 512]));
}
kernel locks(x: tensor<f32, [m, n]>, y: inout tensor<i32, [m]>) grid [m, cdiv(n, 64)] {
    atomic_add(y, [bid(0)], i32(sum(x.load([bid(0), bid(1)], [1, 64]))));
}
"""
WANT = {"rows": "1 0", "turned": None, "columns": None, "slices": "2 0 1", "sums": "1 0", "locks": None,
        "table_512": None, "table_64": "1 0", "put": "1 0"}

with tmpdir() as tmp:
    source, out = os.path.join(tmp, "sweep.tile"), os.path.join(tmp, "sweep.ir")
    with open(source, "w") as f:
        f.write(SOURCE)
    r = ctilec("-w", "--arch=sm_90a", "--stop-after=rasterise", source, "-o", out)
    if check(r.code == 0, "the source does not compile:\n" + r.text):
        kernels = dict(re.findall(r"^kernel (\w+) typed {(.*?)^}", read(out), re.M | re.S))
        for name, want in WANT.items():
            found = re.search(r"^\tsweep ([\d ]+)$", kernels[name], re.M)
            check((found.group(1) if found else None) == want, "%s: want %s, found %s" % (name, want, found and found.group(1)))
finish()
