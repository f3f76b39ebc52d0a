"""The standard library. Without arguments: each file compiles by itself, without warnings. With NAME: tests/stdlib/NAME.c, which
compares the library with plain C, on the C target, or with `NAME gpu` on the GPU. Its kernels are NAME.tile beside it, or else in the library's NAME.tile."""
import json
import os
import re
import sys

from common import *


def compiles():
    for path in tile_files("stdlib"):
        r = ctilec("--check", "-Wall", "-Wextra", "--diagnostics=json", path)
        # a library's kernels are for programs to instantiate: W1003 says that this file does not
        left = [d["message"] for d in map(json.loads, r.text.splitlines()) if d["code"] != "W1003"]
        check(r.code == 0 and not left, "%s: %s" % (os.path.relpath(path, ROOT), left))
        r = ctilec("--emit=ast", path)
        check(r.code == 0 and r.out, "%s does not print: %s" % (os.path.relpath(path, ROOT), r.text))


def program(name, target="c"):
    if target == "gpu" and (not NVCC or run(["sh", "-c", "command -v nvidia-smi && nvidia-smi -L"]).code != 0):
        skip("no GPU here")
    folder = os.path.join(ROOT, "tests", "stdlib")
    common = os.path.join(ROOT, "samples", "common")
    source = os.path.join(folder, name + ".c")
    with tmpdir() as tmp:
        objects = []
        for header in re.findall(r'#include "(\w+)\.h"', read(source)):
            for place in (folder, os.path.join(ROOT, "stdlib")):
                tile = os.path.join(place, header + ".tile")
                if os.path.exists(tile):
                    out = os.path.join(tmp, header + (".cu" if target == "gpu" else ".c"))
                    r = ctilec("--target=" + ("cuda" if target == "gpu" else "c"), "-o", out, tile)
                    if not check(r.code == 0 and not r.text, "%s:\n%s" % (tile, r.text)):
                        finish()
                    objects.append(out)
                    break
        check(objects, "%s includes no header of a .tile file" % source)
        exe = os.path.join(tmp, name)
        strict = [CC, "-std=c11", "-Wall", "-Wextra", "-Werror"]
        builds = [[NVCC, "-O2", "-arch=native"]] if target == "gpu" else [strict + ["-O2"], strict + SANITIZED]
        device = os.path.join(common, "device_cuda.c" if target == "gpu" else "device_host.c")
        for compiler in builds:
            must(compiler + ["-I" + tmp, "-I" + common, "-o", exe, source, device] + objects + ["-lm"])
            r = run([exe])
            print(r.out.decode("utf-8", "replace"))
            check(r.code == 0, "%s: %s: exit %d\n%s" % (name, " ".join(compiler), r.code, r.text[-3000:]))


compiles() if len(sys.argv) == 1 else program(*sys.argv[1:])
finish()
