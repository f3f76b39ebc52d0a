"""How often threads wait in the loops of rounds.tile (passes meet and share), and which tiles are loaded a round ahead (ahead)."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

# kernel: barriers in its text, loads of tiles that the loop holds: none where they are too many, or in a loop that is left early
WANT = {"one": (2, 2), "two": (2, 0), "jumps": (5, 0), "turned": (2, 1)}

with tmpdir() as tmp:
    out = os.path.join(tmp, "rounds.ir")
    r = ctilec("--arch=sm_90a", "--stop-after=share", os.path.join(ROOT, "tests", "cuda", "rounds.tile"), "-o", out)
    check(r.code == 0, "rounds.tile does not compile:\n" + r.text)
    found = {}
    for name, body in re.findall(r"^kernel (\w+) placed {(.*?)^}", read(out), re.M | re.S):
        found[name] = (len(re.findall(r"^\s*barrier\b", body, re.M)), len(re.findall(r"\bheld = ", body)))
    for name, n in WANT.items():
        check(found.get(name) == n, "%s: want barriers and loads ahead %s, found %s" % (name, n, found.get(name)))
finish()
