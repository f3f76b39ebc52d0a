"""Quotients of every integer of 8 and 16 bits by constants, which are products (lower/quotient.c): emulated CUDA gives what numpy does, bit by bit."""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "run"), os.path.join(os.path.dirname(HERE), "sim")]
from common import *
import numpy as np
import emulation
from compare import Emulated

KERNEL = """
kernel {name}(x: tensor<{type}, [n]>, y: out tensor<f32, [n]>) grid [cdiv(n, 256)] {{
    y.store([bid(0)], element_cast(x.load([bid(0)], [256]), f32) / {by});
}}
"""
BY = (255, 127, 3, -3, 7, 1e-3, 65535, 0.1, 8, 1, 1e38, 3e-39, 1e-45, 0)
TYPES = dict(u8="u1", i8="i1", u16="u2", i16="i2")

if not shutil.which("gcc"):
    skip("the emulation needs gcc")
np.seterr(all="ignore")
with tmpdir() as tmp:
    path = lambda name: os.path.join(tmp, name)
    cases = [("%s_by_%d" % (t, i), t, by) for t in TYPES for i, by in enumerate(BY)]
    write(path("t.tile"), "".join(KERNEL.format(name=name, type=t, by=by) for name, t, by in cases))
    must([CTILEC, "-w", "--target=cuda", "--arch=sm_80", "--line=off", path("t.tile"), "-o", path("t.cu")])
    text = read(path("t.cu"))
    emulation.rewrite(BUILD, path("t.cu"), path("e.c"), "sm_80")
    must(["gcc", "-std=gnu11", "-O1", "-w", "-fPIC", "-shared", "-ffp-contract=off", "-I" + HERE, "-I" + tmp, "-o", path("e.so"), path("e.c"), "-lm"])
    device, divided = Emulated(path("e.so")), set()
    for name, t, by in cases:
        bounds = np.iinfo(TYPES[t])
        x = np.arange(bounds.min, bounds.max + 1).astype(TYPES[t])
        status, (_, got) = device.call(name, [x, np.zeros(len(x), "f4")], [len(x)], [0, 0])
        want = x.astype("f4") / np.float32(by)
        same = (got.view("u4") == want.view("u4")) | (np.isnan(got) & np.isnan(want))
        check(status == 0 and same.all(), "%s: %s, expected %s" % (name, got[~same][:4], want[~same][:4]))
        body = text[text.index("// %s; " % name):]
        if "ct_div_f32(" in body[:body.index("\n}\n")]: divided.add(by)
    check(divided <= {-3, 1e38, 3e-39, 1e-45, 0} and {0, 1e-45} <= divided, "divided by %s" % sorted(divided))
finish()
