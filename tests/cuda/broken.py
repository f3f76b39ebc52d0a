"""Kernels in clusters whose text breaks the protocol of their exchanges: the emulation must say so, in whatever order threads run.
broken.py, or broken.py LIBRARY ENTRY to run one."""
import ctypes
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *
import emulation

SOURCE = """kernel softmax(x: tensor<f32, [m, n]>, y: out tensor<f32, [m, n]>) grid [m] where n <= 16384 {
    let v = x.load([bid(0), 0], [1, 16384], pad: -inf);
    let e = exp(v - reduce_max(v, 1));
    y.store([bid(0), 0], e / sum(e, 1));
}
"""
BROKEN = [  # what is said, pattern, replacement
    ("", "$^", ""),
    ("before it knows that the cluster's thread blocks have begun", r"\tct_cluster_wait\(\);\n", ""),
    ("at which it has not arrived", r"\tct_cluster_arrive\(\);\n", ""),
    ("arrives twice", r"(\tct_cluster_arrive\(\);\n)", r"\1\1"),
    ("without having waited", r"\tct_bar_wait\(ct_smem \+ (?!0\b)\d+\);\n", ""),
    ("more bytes are sent", r"(ct_bar_init\(ct_smem \+ \d+, [^,\n]+, )[^)\n]+", r"\g<1>4"),
    ("no such thread block", r"(ct_send_b32\([^\n]*, )ct_lane\)", r"\g<1>ct_lane + 1)"),
]


def run(path, entry):
    lib = ctypes.CDLL(path)
    lib.dev_alloc.restype = ctypes.c_void_p
    m, n = 3, 9001
    x, y = (ctypes.c_void_p(lib.dev_alloc(ctypes.c_size_t(4 * m * n))) for _ in range(2))
    data = (ctypes.c_float * (m * n))(*[(i * 7 % 13) / 4 for i in range(m * n)])
    ctypes.memmove(x, data, 4 * m * n)
    status = getattr(lib, entry)(x, y, ctypes.c_int64(m), ctypes.c_int64(n), None)
    rows = (ctypes.c_float * (m * n)).from_address(y.value)
    sums = [sum(rows[i * n:(i + 1) * n]) for i in range(m)]
    sys.exit(status or any(abs(s - 1) > 1e-3 for s in sums))


def main():
    build = os.environ.get("BUILD") or os.path.join(ROOT, "build")
    with tmpdir() as tmp:
        tile, cu = os.path.join(tmp, "softmax.tile"), os.path.join(tmp, "softmax.cu")
        write(tile, SOURCE.encode())
        subprocess.run([os.environ.get("CTILEC", os.path.join(build, "ctilec")), tile, "--arch=sm_90a", "-o", cu], check=True)
        text = read(cu)
        start = text.index("/* ---- kernels ---- */")
        for i, (says, pattern, by) in enumerate(BROKEN):
            body, n = re.subn(pattern, by, text[start:])
            check(n or not says, "nothing to change for `%s`" % says)
            write(cu, (text[:start] + body).encode())
            lib = os.path.join(tmp, "%d.so" % i)
            emulation.library(build, cu, lib, "sm_90a")
            for order in ("0", "1", "2"):
                r = subprocess.run([sys.executable, os.path.abspath(__file__), lib, "softmax"], capture_output=True, text=True, timeout=60,
                                   env=dict(os.environ, EMU_ORDER=order))
                check((r.returncode != 0) == bool(says), "order %s, `%s`: status %d\n%s" % (order, says or "as it is", r.returncode, r.stderr))
                check(re.search(says, r.stderr), "order %s: `%s` is not said: %s" % (order, says, r.stderr))
    finish()


if __name__ == "__main__":
    run(*sys.argv[1:]) if len(sys.argv) > 1 else main()
