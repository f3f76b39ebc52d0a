"""How many versions kernels have: each must earn its text (lower/budget.c), whose length record/bars.py bounds."""
import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

# versions of a kernel for an architecture; those of transpositions: of short rows, of aligned ones, and of all others, none of which serves
# the others' calls at more than half their rate
ROWS, TURNED, PRODUCTS = 2, 3, 6


def versions(path, *options):
    """(kernel, architecture) -> names of its versions; kernel -> how many it may have."""
    r = ctilec("-w", "--emit=placed", *options, path, "-o", "-")
    check(r.code == 0, r.text)
    text, found = r.out.decode(), collections.defaultdict(list)
    for kernel, name, archs in re.findall(r'(?m)^version (\w+) "(.*?)" for (.*) {$', text):
        for arch in archs.split(", "): found[kernel, arch].append(name)
    bodies = re.findall(r"(?ms)^kernel (\w+) typed {(.*?)^}", text)
    return found, {k: PRODUCTS if "= mma " in body else TURNED if "= permute " in body else ROWS for k, body in bodies}


for path in tile_files("samples") + tile_files("stdlib"):
    name = os.path.relpath(path, ROOT)
    found, most = versions(path)
    for (kernel, arch), names in found.items():
        check(len(names) <= most.get(kernel, ROWS), "%s: %s has the versions %s for %s" % (name, kernel, names, arch))
    for (kernel, arch), names in versions(path, "--versions=1")[0].items():
        check(len(names) == 1, "%s: %s has the versions %s for %s, where one is asked for" % (name, kernel, names, arch))
softmax = os.path.join(ROOT, "samples", "softmax", "softmax.tile")
many = versions(softmax, "--versions=16")[0]
check(max(len(names) for names in many.values()) > ROWS, "no kernel of softmax has more versions where they are asked for")
# the version for all calls is always there
check(all("" in names for names in versions(softmax)[0].values()), "a kernel of softmax has no version for all calls")
r = ctilec("--versions=0", softmax, "-o", "-")
check(r.code == 2 and "one version serves all calls" in r.text, "--versions=0: %d %s" % (r.code, r.text))
finish()
