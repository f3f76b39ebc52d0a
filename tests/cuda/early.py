"""Which loads are asked for before others (pass early), in early.tile; and whether their accesses have one way (bound.c)."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

# kernel: the tensors that its body accesses, in the order after the pass; what it stores to in capitals
WANT = {"rows": "at y z x R R", "again": "x y X x R"}
ONE_WAY = {"held": True, "known": False}         # the text for aligned tensors

with tmpdir() as tmp:
    out = os.path.join(tmp, "early.ir")
    r = ctilec("--arch=sm_90a", "--stop-after=early", os.path.join(ROOT, "tests", "cuda", "early.tile"), "-o", out)
    check(r.code == 0, "early.tile does not compile:\n" + r.text)
    for name, body in re.findall(r"^kernel (\w+) placed {(.*?)^}", read(out), re.M | re.S):
        views = dict(re.findall(r"(%\d+) = view %(\w+)", body))
        found = []
        for op, base in re.findall(r"\b(load|gather|store) (%[\w.]+)", body):
            tensor = views.get(base, base[1:].split(".")[0])
            found.append(tensor.upper() if op == "store" else tensor)
        if name in WANT:
            check(" ".join(found) == WANT[name], "%s: want %s, found %s" % (name, WANT[name], " ".join(found)))
    r = ctilec("--arch=sm_90a", os.path.join(ROOT, "tests", "cuda", "early.tile"), "-o", os.path.join(tmp, "early.cu"))
    check(r.code == 0, "early.tile is not emitted:\n" + r.text)
    bodies = dict(re.findall(r"^(\w+)_sm90a_aligned\((.*?)^}", read(os.path.join(tmp, "early.cu")), re.M | re.S))
    for name, one in ONE_WAY.items():
        check(name in bodies and ("} else {" not in bodies[name]) == one, "%s: want %s" % (name, "one way" if one else "two ways"))
finish()
