"""A sample on one target: sample.py NAME c|gpu.

c: the generated program compiles without a warning under gcc and clang and runs; with sanitizers too.
gpu: the generated CUDA runs there, when there is a GPU. (tests/cuda/nvcc.py compiles it for each architecture.)"""
import os
import shutil
import sys

from common import *

STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror"]


def folder_of(name):
    return os.path.join(ROOT, "samples", name)


def mains(name):
    folder = folder_of(name)
    files = ["main.c"] + (["image.c"] if name == "picture" else [])
    return [os.path.join(folder, f) for f in files]


def generate(name, target, tmp):
    ending = {"c": "c", "cuda": "cu"}[target]
    out = os.path.join(tmp, name + "." + ending)
    r = ctilec("--target=" + target, "-o", out, os.path.join(folder_of(name), name + ".tile"))
    if not check(r.code == 0 and not r.text, "%s does not compile for target %s:\n%s" % (name, target, r.text)):
        finish()
    return out


def start(name, program, tmp):
    args = [program]
    if name == "picture":
        make = os.path.join(tmp, "make_picture")
        folder = folder_of(name)
        must([CC, "-std=c11", "-O1", "-o", make, os.path.join(folder, "make_picture.c"), os.path.join(folder, "image.c"), "-lm"])
        must([make, os.path.join(tmp, "input"), "201", "149"])
        picture = [f for f in sorted(os.listdir(tmp)) if f.startswith("input")][0]
        args = [program, os.path.join(tmp, picture), os.path.join(tmp, "out")]
    r = run(args, cwd=tmp)
    print(r.out.decode("utf-8", "replace"))
    check(r.code == 0, "%s: exit %d\n%s" % (name, r.code, r.text[-3000:]))


def on_c(name):
    common = os.path.join(ROOT, "samples", "common")
    with tmpdir() as tmp:
        text = generate(name, "c", tmp)
        others = mains(name) + [os.path.join(common, "device_host.c")]
        builds = [("gcc", ["-O2"]), ("clang", ["-O2"]), ("gcc", ["-Og"] + SANITIZED[1:])]     # runs for seconds; -O1 compiles twice as long
        for cc, flags in builds:
            if not shutil.which(cc):
                continue
            program = os.path.join(tmp, name)
            must([cc] + STRICT + flags + ["-I" + tmp, "-I" + common, "-o", program, text] + others + ["-lm"], "%s on %s" % (cc, name))
            start(name, program, tmp)


def on_gpu(name):
    if not NVCC or run(["sh", "-c", "command -v nvidia-smi && nvidia-smi -L"]).code != 0:
        skip("no GPU here")
    common = os.path.join(ROOT, "samples", "common")
    with tmpdir() as tmp:
        text = generate(name, "cuda", tmp)
        program = os.path.join(tmp, name)
        must([NVCC, "-O2", "-arch=native", "-I" + tmp, "-I" + common, "-o", program, text] + mains(name) + [os.path.join(common, "device_cuda.c")])
        start(name, program, tmp)


{"c": on_c, "gpu": on_gpu}[sys.argv[2]](sys.argv[1])
finish()
