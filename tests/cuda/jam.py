"""How often threads wait in the loops of jam.tile (pass share), and which tiles are loaded an iteration ahead (prefetch); how often
the thread blocks of the clusters of clusters.tile wait for each other."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

# kernel: barriers in its text, loads that the loop holds: of no tiles where they are too many, of nothing in a loop that is left early
WANT = {"one": (3, 2), "two": (4, 0), "jumps": (5, 0), "turned": (3, 1), "scaled": (2, 2)}
# kernel: thread blocks, exchanges: one for each reduction
CLUSTERS = {"most_of_16384": (2, 4), "walk_behind_16384": (4, 2), "walk_of_f32_16384x1": (4, 4), "walk_of_bf16_32768x2": (8, 4)}


def placed(tmp, name, folder=("tests", "cuda")):
    """Kernel -> its text after pass share."""
    out = os.path.join(tmp, name + ".ir")
    r = ctilec("-w", "--arch=sm_90a", "--stop-after=share", os.path.join(ROOT, *folder, name + ".tile"), "-o", out)
    check(r.code == 0, "%s.tile does not compile:\n%s" % (name, r.text))
    return re.findall(r"^kernel (\w+) placed {(.*?)^}", read(out), re.M | re.S)


with tmpdir() as tmp:
    found = {}
    for name, body in placed(tmp, "jam"):
        found[name] = (len(re.findall(r"^\s*barrier\b", body, re.M)), len(re.findall(r"\bheld = ", body)))
    for name, n in WANT.items():
        check(found.get(name) == n, "%s: want barriers and loads ahead %s, found %s" % (name, n, found.get(name)))
    found = {}
    for name, body in placed(tmp, "clusters"):
        blocks = re.search(r"^\s*cluster (\d+)", body, re.M)
        found.setdefault(name, (int(blocks.group(1)) if blocks else 0, len(re.findall(r"\bexchange\b", body))))
    for name, n in CLUSTERS.items():
        check(found.get(name) == n, "%s: want thread blocks and exchanges %s, found %s" % (name, n, found.get(name)))
    body = dict(placed(tmp, "backward", folder=("bench", "memory")))
    warps = {name: int(re.search(r"^\s*warps (\d+)", text, re.M).group(1)) for name, text in body.items() if "_16384x" in name}
    check(sorted(warps.values()) == [32, 64], "of loops that carry one tile of 16,384 and two, half as many threads share the second: %s" % warps)
    text = os.path.join(tmp, "backward.cu")
    r = ctilec("-w", "--arch=sm_90a", os.path.join(ROOT, "bench", "memory", "backward.tile"), "-o", text)
    check(r.code == 0, "backward.tile does not compile:\n" + r.text)
    made = re.findall(r"^CT_FN void (\w+)\((?:(?!^}).)*?ct_cluster_zero\(\)", read(text), re.M | re.S)
    again = set(re.findall(r"^(\w+?)_sm90a\w*\((?:(?!^}).)*?\b(?:%s)\(" % "|".join(made), read(text), re.M | re.S))
    check(again == {"rmsnorm_rows_bf16_16384x66"}, "the place of a store behind a loop is made again in %s" % sorted(again))
    text = os.path.join(tmp, "clusters.cu")
    r = ctilec("-w", "--arch=sm_90a", os.path.join(ROOT, "tests", "cuda", "clusters.tile"), "-o", text)
    check(r.code == 0, "clusters.tile does not compile:\n" + r.text)
    ways = re.findall(r"^(walk_\w+)_sm90a_aligned\((.*?)^}", read(text), re.M | re.S)
    check(len(ways) == len(CLUSTERS) - 1, "aligned texts of loops in clusters: %s" % [name for name, _ in ways])
    for name, body in ways: check("} else {" not in body, "%s: accesses of rounds in which thread blocks wait go two ways" % name)
finish()
