"""Which kernels of planes.tile have a text for whole planes (lower/planes.c): those alone that exchange two axes of all of a tensor."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

NAMES = {"first", "inner", "heads_i8_128", "heads_bf16_128", "heads_f32_128", "heads_f64_128"}

with tmpdir() as tmp:
    source = os.path.join(ROOT, "tests", "cuda", "planes.tile")
    for arch in "sm_80", "sm_90a", "sm_80,sm_90a":
        out = os.path.join(tmp, "planes.cu")
        r = ctilec("-w", "--arch=" + arch, source, "-o", out)
        check(r.code == 0, "planes.tile does not compile:\n%s" % r.text)
        found = set(re.findall(r"^(\w+)_sm\d+a?_planes\(", read(out), re.M))
        check(found == NAMES, "%s: by planes: %s; expected: %s" % (arch, sorted(found), sorted(NAMES)))
        check(len(re.findall(r"return ct_launch\(.*ct_k_planes,", read(out))) == 2 * len(NAMES), "%s: not all are launched, for aligned tensors and others" % arch)
finish()
