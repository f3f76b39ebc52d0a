"""Which kernels of private.tile have a version whose thread blocks have sums of their own (lower/privatise.c)."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

WANT = {"counts", "weighted", "extremes", "bits", "flags"}

r = ctilec("-w", "--arch=sm_90a", "--emit=placed", os.path.join(ROOT, "tests", "cuda", "private.tile"), "-o", "-")
check(r.code == 0, "the source does not compile:\n" + r.text)
found = re.findall(r'(?m)^version (\w+) "(\w*)"', r.out.decode())
check({k for k, v in found if v == "private"} == WANT, "kernels with sums of their own: %s" % sorted(k for k, v in found if v == "private"))
check({k for k, _ in found} > WANT, "no kernel without them: the test says nothing")
finish()
