"""The sweep over tile sizes (bench/tiles): tiles.py emit | nvcc.

emit: every tile of every family compiles for each architecture; text does not grow with tiles: what is printed for the largest has no
more lines than half as many again, and a tenth, as for 4,096 elements; in proportion where it has more kernels, two of which rows by parts take. nvcc: some of them without local memory, without messages, and with no more
instructions than a text that is not unrolled has."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "bench", "tiles"))
from common import *
import sweep

SOME = {"softmax_f32": "sm_90a", "cumsum_f32": "sm_80", "sum1_loop": "sm_100", "blur_separable": "sm_120", "transpose_bf16": "sm_80", "add_f32": "sm_90a"}


class Options:
    ctilec, nvcc, cuobjdump = CTILEC, NVCC, None


def lines(family, tile, arch, o):
    """(lines of the file, kernels in it without those that call the same body for short rows)"""
    family.tiles = [tile]
    text = read(sweep.emitted(o, family, arch))
    return text.count("\n"), text.count("static __global__ void ") - len(re.findall(r"^\w+_short\(", text, re.M))


def emit(o):
    for family in sweep.families():
        tiles = sorted(family.tiles, key=sweep.elements)
        middle = max((t for t in tiles if sweep.elements(t) <= 4096), key=sweep.elements)
        for arch in ("sm_80", "sm_90a"):
            (most, many), (some, few) = [lines(family, t, arch, o) for t in (tiles[-1], middle)]
            said = "%s for %s: %d lines, %d kernels for tiles of %s; %d, %d for %s" % (
                family.name, arch, most, many, sweep.words(tiles[-1]), some, few, sweep.words(middle))
            check(most <= 1.6 * some * max(1, many / few) and many <= 3 * few, said)


def nvcc(o):
    if not NVCC:
        fail("there is no nvcc; `sh tools/setup.sh test` gets one")
        return
    for family in sweep.families():
        if family.name not in SOME: continue
        family.tiles = [family.tiles[0], family.tiles[-1]]
        arch = SOME[family.name]
        rows, _ = sweep.measured(o, family, arch)
        for tile, r in rows.items():
            check(not r["local"], "%s by %s for %s: %d bytes or accesses of local memory" % (family.name, sweep.words(tile), arch, r["local"]))


with tmpdir() as folder:
    Options.dir = folder
    {"emit": emit, "nvcc": nvcc}[sys.argv[1]](Options)
finish()
