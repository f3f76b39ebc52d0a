"""How often threads wait in the loops of rounds.tile: passes meet and share."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

# kernel: barriers in its text
WANT = {"one": 2, "two": 2, "jumps": 5, "turned": 2}

with tmpdir() as tmp:
    out = os.path.join(tmp, "rounds.ir")
    r = ctilec("--arch=sm_90a", "--stop-after=share", os.path.join(ROOT, "tests", "cuda", "rounds.tile"), "-o", out)
    check(r.code == 0, "rounds.tile does not compile:\n" + r.text)
    found = {name: len(re.findall(r"^\s*barrier\b", body, re.M)) for name, body in re.findall(r"^kernel (\w+) placed {(.*?)^}", read(out), re.M | re.S)}
    for name, n in WANT.items():
        check(found.get(name) == n, "%s: want %d barriers, found %s" % (name, n, found.get(name)))
finish()
