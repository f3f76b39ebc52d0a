"""Emitted CUDA run on the host (emu.h): emulated.py NAME.

NAME: sample/vecadd, ...; operations, language, functions, cumsum, long_rows, workspace: the programs of those tests; tiles/SECTION of tiles.tile, compared with the C
target; carried, coarsen, several, packed, overlap, early, jam, slide, slices, shifted_slices, pieces, rare, sums, defer, indexed, whole, planes, parts, numbers, scan_parts, orders, once, short_axes, narrow, private, flat, anywhere, sorts, reads, the same of those files; by_warp, short_rows, short_scans, clusters, pairs, byte_pairs, weights, slices_cluster, scans, scans_cluster, odd, peel, shift,
the same for sm_90a;
wide, the same on a device that runs clusters of 16 thread blocks, and on one that does not.
Each with threads in two orders (EMU_ORDER); ARCH is the architecture (sm_80), ORDERS those orders."""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *
import emulation

ARCH = os.environ.get("ARCH", "sm_80")
ORDERS = os.environ.get("ORDERS", "0 2").split()
PROGRAMS = {"operations": "tests/operations/ops", "language": "tests/language/rules", "functions": "tests/stdlib/functions", "cumsum": "tests/stdlib/cumsum",
            "long_rows": "tests/stdlib/long_rows", "workspace": "tests/cuda/workspace"}
FLAGS = {"workspace": ["-DCT_STEPS=1"]}


def program(source, main, *flags):
    name = os.path.splitext(os.path.basename(source))[0]
    with tmpdir() as tmp:
        cu, emu, exe = [os.path.join(tmp, name + e) for e in (".cu", ".emu.c", ".emu")]
        r = ctilec("--target=cuda", "--line=off", "-w", "-o", cu, source)
        if not check(r.code == 0 and not r.text, "%s:\n%s" % (source, r.text)):
            return
        emulation.rewrite(BUILD, cu, emu, ARCH)
        must(["gcc", "-std=gnu11", "-O1", "-w", *flags, "-I" + HERE, "-I" + tmp, "-I" + os.path.join(ROOT, "samples", "common"), "-o", exe, emu, main, "-lm"])
        for order in ORDERS:
            r = run([exe], cwd=tmp, env={"EMU_ORDER": order}, timeout=900)
            check(r.code == 0, "%s, order %s: exit %d\n%s%s" % (name, order, r.code, r.out.decode("utf-8", "replace")[-2000:], r.text[-1000:]))


def tiles(source, arch, *section, env={}):
    r = run([sys.executable, os.path.join(HERE, "diff.py"), CTILEC, emulation.prelude_tool(BUILD), os.path.join(HERE, source), arch, *section],
            env={"EMU_ORDER": " ".join(ORDERS), **env}, timeout=900)
    print(r.out.decode("utf-8", "replace"))
    check(r.code == 0, "%s:\n%s%s" % (" ".join((source, *section)), r.out.decode("utf-8", "replace")[-3000:], r.text[-1000:]))


def main(name):
    if not shutil.which("gcc"):
        skip("the emulation needs gcc")
    kind, _, rest = name.partition("/")
    if kind == "sample":
        folder = os.path.join(ROOT, "samples", rest)
        program(os.path.join(folder, rest + ".tile"), os.path.join(folder, "main.c"))
    elif kind in ("by_warp", "short_rows", "short_scans", "clusters", "pairs", "byte_pairs", "weights", "slices_cluster", "scans", "scans_cluster", "odd", "peel", "shift"):
        tiles(kind + ".tile", "sm_90a")
    elif kind == "wide":
        tiles("wide.tile", "sm_90a")
        tiles("wide.tile", "sm_90a", env={"EMU_CLUSTER_MOST": "8"})
    elif kind in ("carried", "coarsen", "several", "overlap", "packed", "dense", "early", "jam", "slide", "oddtiles", "slices", "shifted_slices", "pieces", "rare", "sums", "defer",
        "indexed", "whole", "planes", "parts", "numbers", "scan_parts", "orders", "once", "short_axes", "nests", "split", "narrow", "private", "flat", "groups", "anywhere", "sorts", "reads", "pipeline"):
        tiles(kind + ".tile", ARCH)
    elif kind == "tiles":
        tiles("tiles.tile", ARCH, rest)
    else:
        path = os.path.join(ROOT, PROGRAMS[kind])
        own = path + ".tile"
        program(own if os.path.exists(own) else os.path.join(ROOT, "stdlib", kind + ".tile"), path + ".c", *FLAGS.get(kind, ()))
    finish()


main(sys.argv[1])
