"""Message passing, store buffering and coherence between tile blocks that run at once (litmus.tile, litmus.c): the C target with a thread for
each block. On a GPU: gpu/prepare.sh, 100,000 rounds of ten pairs."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *

with tmpdir() as tmp:
    r = ctilec("--target=c", "-Wall", "-o", os.path.join(tmp, "litmus_k.c"), "--header=" + os.path.join(tmp, "litmus.h"), os.path.join(HERE, "litmus.tile"))
    check(r.code == 0 and not r.text, r.text)
    common = os.path.join(ROOT, "samples", "common")
    must([CC, "-std=c11", "-O2", "-fopenmp", "-I", tmp, "-I", common, "-o", os.path.join(tmp, "litmus"), os.path.join(HERE, "litmus.c"),
          os.path.join(tmp, "litmus_k.c"), os.path.join(common, "device_host.c"), "-lm"])
    r = run([os.path.join(tmp, "litmus"), "20000", "1"], env={"OMP_NUM_THREADS": "2", "OMP_DYNAMIC": "false"})
    print(r.out.decode())
    check(r.code == 0 and r.out.count(b"forbidden") == 4, "a forbidden outcome:\n" + r.out.decode() + r.text)
finish()
