"""A program of many kernels whose values a C file knows: checked_by_c.py FOLDER/NAME c|nvcc|gpu. NAME.tile is compiled for the target,
NAME.c beside it calls the kernels and compares."""
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import *

COMMON = os.path.join(ROOT, "samples", "common")
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"]
SOURCE = os.path.join(ROOT, "tests", sys.argv[1])
NAME = os.path.basename(SOURCE)


def generate(target, tmp, *options):
    out = os.path.join(tmp, NAME + {"c": ".c", "cuda": ".cu"}[target])
    r = ctilec("--target=" + target, "-Wno-outside", "-Wno-cast-range", "-Wno-wrap",  # meant here
               "-o", out, *options, SOURCE + ".tile")
    if not check(r.code == 0 and not r.text, "%s.tile does not compile for target %s:\n%s" % (NAME, target, r.text)):
        finish()
    return out


def build(cc, flags, tmp, text, device):
    program = os.path.join(tmp, NAME)
    must([cc] + flags + ["-I" + tmp, "-o", program, text, SOURCE + ".c", os.path.join(COMMON, device), "-lm"])
    return program


def start(program, what):
    r = run([program])
    print(r.out.decode("utf-8", "replace"))
    check(r.code == 0, "%s: exit %d\n%s" % (what, r.code, r.text[-3000:]))


def on_c(tmp):
    seen = set()
    for options in ([], ["-O0"], ["-O3"]):
        text = generate("c", tmp, *options)
        if read(text) in seen:      # what C compilers make of it is known
            continue
        seen.add(read(text))
        for cc, flags in (("gcc", ["-O2"]), ("clang", ["-O2"]), ("gcc", SANITIZED)):
            if shutil.which(cc):
                start(build(cc, STRICT + flags, tmp, text, "device_host.c"), "%s with %s" % (cc, options or "default options"))


def on_nvcc(tmp):
    if not NVCC:
        fail("there is no nvcc; `sh tools/setup.sh test` gets one")
        return
    text = generate("cuda", tmp)
    # sm_120 takes the text for sm_80; only what nvcc says matters here, so it hardly optimizes
    for code in ("arch=compute_80,code=[sm_80,sm_120]", "arch=compute_90a,code=sm_90a"):
        must([NVCC, "-fatbin", "-Ofc", "mid", "-gencode", code, "-Werror", "all-warnings", "-I" + tmp, "-o", os.path.join(tmp, "k.fatbin"), text])


def on_gpu(tmp):
    if not NVCC or run(["sh", "-c", "command -v nvidia-smi && nvidia-smi -L"]).code != 0:
        skip("no GPU here")
    text = generate("cuda", tmp)
    start(build(NVCC, ["-O2", "-arch=native"], tmp, text, "device_cuda.c"), "the GPU")


with tmpdir() as folder:
    {"c": on_c, "nvcc": on_nvcc, "gpu": on_gpu}[sys.argv[2]](folder)
finish()
