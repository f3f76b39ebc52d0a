"""Rows of infinities and NaN alone, as long as so many lanes hold, so that none of these holds a pad (lower/cut.c): emulated CUDA gives what the C target does."""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "run"), os.path.join(os.path.dirname(HERE), "sim")]
from common import *
import json
import numpy as np
import emulation
from compare import Emulated, Target

SOURCE = """
kernel soft<BN: int = 256>(x: tensor<f32, [m, n]>, y: out tensor<f32, [m, n]>) grid [m] where n <= BN {
    let v = x.load([bid(0), 0], [1, BN], pad: -inf);
    let e = exp(v - reduce_max(v, 1));
    y.store([bid(0), 0], e / sum(e, 1));
}
kernel log_sum<BN: int = 256>(x: tensor<f32, [m, n]>, y: out tensor<f32, [m]>) grid [m] where n <= BN {
    let v = x.load([bid(0), 0], [1, BN], pad: -inf), g = reduce_max(v, 1);
    y[bid(0)] = f32(g + log(sum(exp(v - g), 1)));
}
kernel both<BN: int = 256>(x: tensor<f32, [m, n]>, y: out tensor<f32, [m]>, z: out tensor<f32, [m]>) grid [m] where n <= BN {
    let v = x.load([bid(0), 0], [1, BN], pad: -inf), g = reduce_max(v, 1);
    y[bid(0)] = f32(g);
    z[bid(0)] = f32(sum(exp(v - g), 1));
}
kernel extremes<BN: int = 256>(x: tensor<f32, [m, n]>, y: out tensor<f32, [m]>, z: out tensor<f32, [m]>) grid [m] where n <= BN {
    let v = x.load([bid(0), 0], [1, BN]);
    y[bid(0)] = f32(reduce_max(abs(v), 1));
    z[bid(0)] = f32(reduce_min(v, 1));
}
kernel carried<BN: int = 256>(x: tensor<f32, [m, n]>, y: out tensor<f32, [m]>) grid [m] where n <= BN {
    y[bid(0)] = f32(reduce_max(x.load([bid(0), 0], [1, BN], pad: 3), 1, nan: propagate));
}
kernel scaled<BN: int = 256>(x: tensor<f32, [m, n]>, y: out tensor<f32, [m]>, z: out tensor<f32, [m]>) grid [m] where n <= BN {
    let v = x.load([bid(0), 0], [1, BN]), k = v * rsqrt(sum(v * v, 1));
    y[bid(0)] = f32(max(reduce_max(abs(k), 1), 1e-12));
    z[bid(0)] = f32(min(reduce_min(-k, 1), -0.01));
}
kernel below<BN: int = 256>(x: tensor<f32, [m, n]>, y: out tensor<f32, [m]>) grid [m] where n <= BN {
    let v = x.load([bid(0), 0], [1, BN]);
    y[bid(0)] = f32(max(reduce_max(v * rsqrt(sum(v * v, 1)), 1), -1));
}
kernel propagated<BN: int = 256>(x: tensor<f32, [m, n]>, y: out tensor<f32, [m]>) grid [m] where n <= BN {
    let v = x.load([bid(0), 0], [1, BN]);
    y[bid(0)] = f32(max(reduce_max(v * rsqrt(sum(v * v, 1)), 1), 0.01, nan: propagate));
}
"""
LENGTHS = (1, 2, 4, 7, 8, 16, 17, 32, 64, 127, 128, 129, 255, 256)


def rows(n):
    x = np.random.default_rng(n).normal(size=(9, n)).astype("f4")
    x[0], x[1], x[2] = -np.inf, np.nan, np.inf
    x[3, 0], x[4, 0], x[5, 0] = np.nan, -np.inf, np.inf
    x[6], x[6, -1] = -np.inf, np.nan
    x[7], x[8] = 0, -0.5
    return x


if not shutil.which("gcc"):
    skip("the emulation needs gcc")
with tmpdir() as tmp:
    path = lambda name: os.path.join(tmp, name)
    write(path("t.tile"), SOURCE)
    entries = json.loads(must([CTILEC, "-w", "--emit=manifest", path("t.tile"), "-o", "-"]).out)["entries"]
    must([CTILEC, "-w", "--target=c", "--line=off", path("t.tile"), "-o", path("t.c")])
    must(["gcc", "-std=c11", "-O0", "-w", "-fPIC", "-shared", "-I" + tmp, "-o", path("t.so"), path("t.c"), "-lm"])
    must([CTILEC, "-w", "--target=cuda", "--arch=sm_90a", "--line=off", path("t.tile"), "-o", path("t.cu")])
    emulation.rewrite(BUILD, path("t.cu"), path("e.c"), "sm_90a")
    must(["gcc", "-std=gnu11", "-O0", "-w", "-fPIC", "-shared", "-I" + HERE, "-I" + tmp, "-o", path("e.so"), path("e.c"), "-lm"])
    host, device = Target(path("t.so")), Emulated(path("e.so"))
    for n in LENGTHS:
        for e in entries:
            x, dims = rows(n), {"m": 9, "n": n}
            arrays = [x] + [np.zeros([9, n] if e["name"] == "soft" else [9], "f4") for p in e["params"] if p["mode"] == "out"]
            order = [dims[d["name"]] for d in e["dims"]]
            (s, want), (t, got) = [at.call(e["name"], [a.copy() for a in arrays], order, [0] * len(arrays)) for at in (host, device)]
            check(s == t == 0, "%s, rows of %d: status %d, %d" % (e["name"], n, s, t))
            for a, b in zip(want[1:], got[1:]):
                check(np.allclose(a, b, rtol=1e-5, equal_nan=True), "%s, rows of %d: %s, expected %s" % (e["name"], n, b[:8], a[:8]))
finish()
