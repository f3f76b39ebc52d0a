"""Which loads are asked for before others in loops over slices (pass strip, slices.tile, slices_cluster.tile)."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

# file, last pass, kernel: the tensors that its body accesses, in their order; what it stores to in capitals; ! where the thread keeps
# what it loaded, for which it has to wait; [ where a loop begins
WANT = [("slices", "cache", {"twice_8192": "[ x r x! r! S [ w R Y [ r Z", "apart_8192": "[ x [ w X S"}),
        ("slices_cluster", "cache", {"widths_65536": "x t S Y"})]
STEP = re.compile(r"(%[\w.]+) = load (%[\w.]+)|\b(?:load|gather) (%[\w.]+)|\bstore (%[\w.]+)|\bkeep %[\w.]+, (%[\w.]+)|(\bfor) ")


def order(body):
    views = dict(re.findall(r"(%\d+) = view %(\w+)", body))
    tensor = lambda base: views.get(base, base[1:]).split(".")[0]
    made, found = {}, []
    for m in STEP.finditer(body):
        result, loaded, other, stored, kept, loop = m.groups()
        if result: made[result] = tensor(loaded)
        found.append("[" if loop else made[kept] + "!" if kept else tensor(stored).upper() if stored else tensor(loaded or other))
    return " ".join(found)


with tmpdir() as tmp:
    for name, last, want in WANT:
        out = os.path.join(tmp, "early.ir")
        r = ctilec("-w", "--arch=sm_90a", "--stop-after=" + last, os.path.join(ROOT, "tests", "cuda", name + ".tile"), "-o", out)
        check(r.code == 0, "%s.tile does not compile:\n%s" % (name, r.text))
        kernels = dict(re.findall(r"^kernel (\w+) placed {(.*?)^}", read(out), re.M | re.S))
        for kernel, accesses in want.items():
            found = order(kernels[kernel])
            check(found == accesses, "%s: want %s, found %s" % (kernel, accesses, found))
finish()
