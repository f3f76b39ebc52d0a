"""Operations by their values: run.py c|nvcc|gpu. ops.tile is compiled for the target, ops.c knows what it must give."""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *

COMMON = os.path.join(ROOT, "samples", "common")
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"]


def generate(target, tmp, *options):
    out = os.path.join(tmp, "ops." + {"c": "c", "cuda": "cu"}[target])
    r = ctilec("--target=" + target, "-Wno-outside", "-Wno-cast-range",  # meant here
               "-o", out, *options, os.path.join(HERE, "ops.tile"))
    if not check(r.code == 0 and not r.text, "ops.tile does not compile for target %s:\n%s" % (target, r.text)):
        finish()
    return out


def start(program, what):
    r = run([program])
    print(r.out.decode("utf-8", "replace"))
    check(r.code == 0, "%s: exit %d\n%s" % (what, r.code, r.text[-3000:]))


def build(cc, flags, tmp, text, device):
    program = os.path.join(tmp, "ops")
    must([cc] + flags + ["-I" + tmp, "-o", program, text, os.path.join(HERE, "ops.c"), os.path.join(COMMON, device), "-lm"])
    return program


def on_c(tmp):
    sanitized = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    for options in ([], ["-O0"]):
        text = generate("c", tmp, *options)
        for cc, flags in (("gcc", ["-O2"]), ("clang", ["-O2"]), ("gcc", sanitized)):
            if shutil.which(cc):
                start(build(cc, STRICT + flags, tmp, text, "device_host.c"), "%s with %s" % (cc, options or "default options"))


def on_nvcc(tmp):
    if not NVCC:
        fail("there is no nvcc; `sh tools/get-nvcc.sh` gets one")
        return
    text = generate("cuda", tmp)
    for arch in ("sm_80", "sm_90a", "sm_120"):
        must([NVCC, "-arch=" + arch, "-cubin", "-Werror", "all-warnings", "-I" + tmp, "-o", os.path.join(tmp, "k.cubin"), text])


def on_gpu(tmp):
    if not NVCC or run(["sh", "-c", "command -v nvidia-smi && nvidia-smi -L"]).code != 0:
        skip("no GPU here")
    text = generate("cuda", tmp)
    start(build(NVCC, ["-O2", "-arch=native"], tmp, text, "device_cuda.c"), "the GPU")


with tmpdir() as folder:
    {"c": on_c, "nvcc": on_nvcc, "gpu": on_gpu}[sys.argv[1]](folder)
finish()
