#!/usr/bin/env python3
"""Stands in for nvcc in tests/tune/tune.py. A program is built for the host, with cuda_runtime.h beside this file. A candidate becomes a
library whose function doubles a vector and takes as many milliseconds as its thread block has warps; FAKE_WRONG, FAKE_FAILS: the number of
warps of a candidate whose values are wrong, in one millisecond, and of one that cannot be built. FAKE_KILL: a function at whose first candidate who asks is
killed."""
import os
import re
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CXX = os.environ.get("CXX", "g++")

if "--version" in sys.argv:
    print("not nvcc")
    sys.exit(0)
out, source = sys.argv[sys.argv.index("-o") + 1], sys.argv[sys.argv.index("-o") + 2]
text = open(source).read()
if "-shared" not in sys.argv:
    clock = out + "_clock.cc"
    with open(clock, "w") as f:
        f.write('extern "C" { double fake_clock; }\n')
    sys.exit(subprocess.run([CXX, "-O1", "-rdynamic", "-I" + HERE, "-o", out, "-x", "c++", source, clock, "-ldl"]).returncode)
if os.environ.get("FAKE_KILL", "no function") in text:
    os.kill(os.getppid(), signal.SIGKILL)
    sys.exit(1)
warps = int(re.search(r"__launch_bounds__\(CT_\w+ \? (\d+)", text).group(1)) // 32
if str(warps) == os.environ.get("FAKE_FAILS"):
    print("error: this candidate cannot be built")
    sys.exit(1)
factor, took = (3, 1) if str(warps) == os.environ.get("FAKE_WRONG") else (2, warps)
with open(out + ".c", "w") as f:
    f.write("extern double fake_clock;\nint doubled(float *x, long long n, void *s) { (void)s; fake_clock += %d; "
            "for (long long i = 0; i < n; i++) x[i] *= %d; return 0; }\n"
            "const char *ctile_status_text(int s) { (void)s; return \"a status\"; }\n" % (took, factor))
sys.exit(subprocess.run(["cc", "-shared", "-fPIC", "-o", out, out + ".c"]).returncode)
