"""Hardware limits: no version of a row kernel has more threads, thread blocks in a cluster or shared memory than a GPU launches.
Operands of two element types are the case that once asked for 2,048 threads: their tiles cannot be spread over a cluster."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *

ROWS = 'import "norms.tile";\nimport "softmax.tile";\n'
VERSION = re.compile(r"\{ \(const void \*\)\w+, (\d+), [01], (\d+), (\d+), (-?\d+), (\d+), [\w |]+, \"sm_\w+\" \}")

with tmpdir() as where:
    n = 0
    for size in (65536, 262144, 524288):
        text = ROWS
        for i, (t, w) in enumerate([("bf16", "f32"), ("bf16", "bf16"), ("f32", "bf16"), ("f32", "f32")]):
            for k in ("rms_norm_rows", "layer_norm_rows"):
                text += "instance %s_%d = %s<%s, %d, %s>;\n" % (k, i, k, t, size, w)
        path = os.path.join(where, "rows.tile")
        write(path, text)
        r = ctilec("--arch=sm_80,sm_90a", "--no-header", "-o", "-", path)
        if not check(r.code == 0, "rows of %d: %s" % (size, r.text[-500:])):
            continue
        for arch, threads, cluster, _, shared in VERSION.findall(r.out.decode()):
            n += 1
            check(1 <= int(threads) <= 1024, "rows of %d: a version of %s threads for sm_%s" % (size, threads, arch))
            check(1 <= int(cluster) <= 16, "rows of %d: a cluster of %s" % (size, cluster))
            check(int(shared) <= 227 << 10, "rows of %d: %s bytes of shared memory" % (size, shared))
    # W1108 says how products of 8-bit floats are multiplied
    path = os.path.join(where, "fp8.tile")
    write(path, "kernel k(x: tensor<f8e4m3, [64, 64]>, y: out tensor<f32, [64, 64]>) grid [1] {\n    let a = x.load([0, 0], [64, 64]);\n"
          "    y.store([0, 0], mma(a, a, zeros([64, 64], f32)));\n}\n")
    text = ctilec("--arch=sm_89,sm_90a,sm_100a", "--no-header", "-o", "-", path).out.decode()
    check("e4m3.e4m3" not in text and ".f16.f16.f32" in text, "products of f8e4m3 are not multiplied as f16")
    check(n > 100, "only %d versions were found" % n)
finish()
