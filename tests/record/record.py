"""What is emitted for the samples and the library, counted: record.py. UPDATE=1 writes counts.txt again: read the difference.

For each program and target: kernels, loops, loops within loops, calls of memcpy and memset, lines. Values do not show that a copy went
element by element, or that a text became twice as long; these numbers do. Lines may differ by 2 % without a word, the rest not at all on
the C target, by 2 % in CUDA."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *

RECORD = os.path.join(HERE, "counts.txt")
KINDS = ["kernels", "loops", "nested", "copies", "lines"]
KERNEL = {"c": r"^static void ct_block_", "cuda": r"^static __global__"}
ACCESS = r"^CT_FN void (?:ct_(?:load|store)_tile_|\w+_rows\()"        # functions that kernels of this program call: for their tiles, for rows of any length


def counts(text, target):
    """Of kernels and of what is printed for their tiles: launchers and functions of the prelude are the same for all programs."""
    bodies = re.split(KERNEL[target] + "|" + ACCESS, text, flags=re.M)[1:]
    loops = nested = copies = lines = 0
    for body in bodies:
        body = body[:body.index("\n}\n")]
        depth = []
        for line in body.split("\n"):
            indent = len(line) - len(line.lstrip("\t"))
            while depth and depth[-1] >= indent and line.strip():
                depth.pop()
            here = len(re.findall(r"\b(?:for|while) \(|\bCT_UNROLL\w*\(", line))
            if here:
                loops += here
                nested += here - (not depth)
                depth.append(indent)
        copies += len(re.findall(r"\bmem(?:cpy|set)\(", body))
        lines += body.count("\n")
    return [len(re.findall(KERNEL[target], text, flags=re.M)), loops, nested, copies, lines]


def now():
    found = {}
    with tmpdir() as where:
        for path in tile_files("samples", "stdlib") + [os.path.join(ROOT, "tests", "operations", "ops.tile")]:
            for target in ("c", "cuda"):
                out = os.path.join(where, "k." + target)
                r = ctilec("-w", "--line=off", "--no-header", "--target=" + target, "-o", out, path)
                if r.code == 0:
                    found[os.path.relpath(path, ROOT), target] = counts(read(out), target)
    return found


def main():
    found = now()
    if UPDATE:
        write(RECORD, "# program target %s\n" % " ".join(KINDS) + "".join("%s %s %s\n" % (*k, " ".join(map(str, v))) for k, v in sorted(found.items())))
    kept = {tuple(l.split()[:2]): list(map(int, l.split()[2:])) for l in read(RECORD).splitlines() if not l.startswith("#")}
    check(set(kept) == set(found) and len(found) > 20, "programs: %s" % sorted(set(kept) ^ set(found)))
    for key in sorted(set(kept) & set(found)):
        for kind, a, b in zip(KINDS, kept[key], found[key]):
            near = abs(a - b) * 50 <= a if key[1] == "cuda" or kind == "lines" else a == b
            check(near, "%s, target %s: %s %d, recorded %d" % (*key, kind, b, a))
    finish()


main()
