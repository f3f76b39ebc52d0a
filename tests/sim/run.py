"""Kernels in the simulator (sim/sim.h), which also finds races and counts: run.py NAME.

sample/vecadd, ...; operations, language, functions: the programs of those tests, which check their values; report/vecadd, ...: counts; tiles/SECTION, clusters,
coarsen, several, packed, dense, overlap, jam, scans, scans_cluster, slide, odd, slices, sorts, pipeline, chains: files of tests/cuda, compared with the C target; stages: pipeline for sm_80. With warps in a random order (SEEDS; 0: in turn)."""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(TESTS, "run"))
from common import *

SEEDS = os.environ.get("SEEDS", "0 5").split()
PROGRAMS = {"operations": "tests/operations/ops", "language": "tests/language/rules", "functions": "tests/stdlib/functions"}
COMMON = os.path.join(ROOT, "samples", "common")
LIBRARY = os.path.join(BUILD, "libctilec.a")


def program(source, main, seeds):
    name = os.path.splitext(os.path.basename(source))[0]
    with tmpdir() as tmp:
        text, exe = os.path.join(tmp, name + ".c"), os.path.join(tmp, name)
        r = ctilec("--target=sim", "-w", "-o", text, source)
        if not check(r.code == 0 and not r.text, "%s:\n%s" % (source, r.text)):
            return
        must(["gcc", "-std=gnu11", "-O1", "-w", "-I" + tmp, "-I" + COMMON, "-o", exe, text, main, os.path.join(COMMON, "device_host.c"), LIBRARY,
              "-lm"])
        for seed in seeds:
            r = run([exe], cwd=tmp, env={"CTILE_SIM_SEED": seed}, timeout=300)
            check(r.code == 0, "%s, seed %s: exit %d\n%s%s" % (name, seed, r.code, r.out.decode("utf-8", "replace")[-2000:], r.text[-1000:]))


def tiles(source, arch, *section):
    for seed in SEEDS[-1:]:
        r = run([sys.executable, os.path.join(TESTS, "cuda", "diff.py"), CTILEC, LIBRARY, os.path.join(TESTS, "cuda", source), arch, *section],
                env={"CTILE_SIM_SEED": seed}, timeout=300)
        print(r.out.decode("utf-8", "replace"))
        check(r.code == 0, "%s, seed %s:\n%s%s" % (" ".join((source, *section)), seed, r.out.decode("utf-8", "replace")[-3000:], r.text[-1000:]))


# Smaller than the usual ones, for time.
SIZES = {"windows": "=h=64,w=5003", "gemm": "=m=200,n=150,k=200", "attention": "=batch=1,heads=2,rows=100,cols=100"}


def report(name):
    """What `--report` prints for a sample, or a program beside the counts, as it was (UPDATE=1 writes it again)."""
    beside = os.path.exists(os.path.join(HERE, "report", name + ".tile"))
    folder = os.path.join(HERE, "report") if beside else os.path.join(ROOT, "samples", name)
    r = ctilec("--report" + SIZES.get(name, ""), "-w", "%s.tile" % name, cwd=folder)
    golden = os.path.join(HERE, "report", name + ".txt")
    check(r.code == 0, "exit %d\n%s" % (r.code, r.text))
    if UPDATE:
        write(golden, r.out)
    elif r.out.decode() != read(golden):
        fail("the report of %s is another; UPDATE=1 writes it:\n%s" % (name, r.out.decode("utf-8", "replace")[:3000]))


def main(name):
    if not shutil.which("gcc"):
        skip("needs gcc")
    kind, _, rest = name.partition("/")
    if kind == "report":
        report(rest)
    elif kind == "sample":
        folder = os.path.join(ROOT, "samples", rest)
        program(os.path.join(folder, rest + ".tile"), os.path.join(folder, "main.c"), SEEDS[-1:])
    elif kind in ("clusters", "pairs", "weights", "slices_cluster", "scans_cluster", "wide", "peel", "pipeline", "chains"):
        tiles(kind + ".tile", "sm_90a")
    elif kind == "stages":
        tiles("pipeline.tile", "sm_80")
    elif kind in ("coarsen", "several", "overlap", "packed", "dense", "jam", "scans", "slide", "indexed", "anywhere", "odd", "shift", "slices",
        "shifted_slices", "orders", "split", "defer", "sorts", "once", "short_axes", "private", "reads"):
        tiles(kind + ".tile", "sm_80")
    elif kind == "tiles":
        tiles("tiles.tile", "sm_80", rest)
    else:
        path = os.path.join(ROOT, PROGRAMS[kind])
        program(path + ".tile", path + ".c", SEEDS)
    finish()


main(sys.argv[1])
