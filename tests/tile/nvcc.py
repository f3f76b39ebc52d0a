"""Emitted CUDA Tile C++ through NVIDIA's compiler: nvcc.py GROUP [VERSION], a group of ../cuda/emitted.py, forms, or random (200 programs
of ../values/programs.py); VERSION: --tile-version and its nvcc. TILE_ARCH: the architecture. TILE_STAGE=tilebc: the front end alone, which
takes a tenth of the time.

The kernels of many programs go through nvcc as one file, each program in a namespace of its own, down to machine code; one program is
compiled whole, with its host part. Whatever nvcc says is a failure. Programs that the target refuses, with an error of its own (E09..), are left out and named."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cuda"))
from emitted import *

FORMS = os.path.join(ROOT, "tests", "tile", "forms.tile")
NAMES = os.path.join(ROOT, "tests", "tile", "names.tile")
GROUPS["forms"] = lambda tmp: [("names.tile", NAMES, []), ("forms.tile", FORMS, []), ("forms.tile, checked", FORMS, ["--checked"])]


def random_programs(tmp, count=200, each=20):
    """Drawn ones, each in ways that all targets take."""
    found = []
    for first in range(0, count, each):
        r = must([sys.executable, os.path.join(ROOT, "tests", "values", "programs.py"), "source", "--seed", "16", "--first", str(first), "--count", str(each)])
        path = os.path.join(tmp, "random_%d.tile" % first)
        write(path, r.out)
        found.append(("random programs from %d on" % first, path, []))
    return found


GROUPS["random"] = random_programs
AT_ONCE = 24        # kernels of one file: it takes seconds for each, and one for the file
STAGE = os.environ.get("TILE_STAGE", "tilecubin")
FLAGS = ["--enable-tile", "-std=c++20", "-arch=" + os.environ.get("TILE_ARCH", "sm_90"), "-Werror", "all-warnings"]


def find_nvcc(version):
    """The pinned nvcc of the version, the newest one for None."""
    r = run([sys.executable, os.path.join(ROOT, "tools", "get.py"), "--there", "nvcc-tile" + ("-" + version if version else "")])
    if not check(r.code == 0, r.text.strip() + "\n`sh tools/setup.sh test` gets it"):
        finish()
    return r.out.decode().strip()


# of checked kernels too, whose messages are assertions
ALWAYS = "#undef NDEBUG\n#include <assert.h>\n#include <stdio.h>\n"


def device_part(text):
    """(headers, kernels)"""
    head, rest = text.split("\nnamespace {\n", 1)
    return re.findall(r"^#include <.*>$", head, re.M), "namespace {\n" + rest.split("\n} // namespace\n", 1)[0] + "\n}\n"


def silent(name, nvcc, args):
    r = run([nvcc] + FLAGS + args, timeout=560)
    said = (r.out.decode("utf-8", "replace") + r.text).strip()
    check(r.code == 0 and not said, "%s:\n%s" % (name, said[:4000]))


def versions(body):
    """What makes the compiler instantiate the versions of each kernel: a launcher names them. Of sm_100 the one for aligned tensors is enough."""
    of = ("true",) if os.environ.get("TILE_ARCH") == "sm_100" else ("true", "false")
    names = re.findall(r"template<bool ct_aligned>\n(?:\[\[.*\n)?static __tile_global__ void (\w+)\(", body)
    return "const void *const versions[] = { %s };\n" % ", ".join("(const void *)ct_kernels::%s<%s>" % (n, v) for n in names for v in of) if names else ""


def compile_together(nvcc, parts, tmp, number):
    headers = sorted({h for _, (hs, _) in parts for h in hs if "cuda_tile" not in h}) + ["#include <cuda_tile.h>"]
    text = "#pragma nv_diag_suppress 177, 550\n" + ALWAYS + "\n".join(headers) + "\n"
    for i, (_, (_, body)) in enumerate(parts):
        text += "namespace program_%d {\n%s%s}\n#undef CT_LINE\n#undef CT_TILE\n" % (i, body, versions(body))
    path = os.path.join(tmp, "together_%d.cu" % number)
    write(path, text)
    silent(", ".join(n for n, _ in parts), nvcc, ["--" + STAGE, "-o", path + "bin", path])
    if STAGE == "tilecubin" and os.path.exists(path + "bin"):
        with open(path + "bin", "rb") as f:
            check(b"malloc" not in f.read(), "tile blocks take memory from the device's heap: %s" % [n for n, _ in parts])


def main(group, version=None):
    nvcc = find_nvcc(version)
    chosen = ["--tile-version=" + version] if version else []
    with tmpdir() as tmp:
        parts, kernels, files = [], 0, 0
        for i, (name, path, options) in enumerate(GROUPS[group](tmp)):
            out = os.path.join(tmp, "k%d.cu" % i)
            r = ctilec("-w", "--target=cuda-tile", *chosen, *options, path, "-o", out)
            refused = re.search(r"\[E09\d\d\]: (.*)", r.text) if r.code else None
            if refused:
                print("refused: %s: %s" % (name, refused.group(1)))
                check(group not in ("samples", "library", "random"), name + " is refused")
                continue
            if not check(r.code == 0, "%s:\n%s" % (name, r.text)):
                continue
            text = read(out)
            if i == 0:
                silent(name, nvcc, ["-Xcompiler", "-Wall,-Wextra", "-I" + tmp, "-c", "-o", out + ".o", out])
                continue
            parts.append((name, device_part(text)))
            kernels += text.count("__tile_global__")
            if kernels >= AT_ONCE:
                compile_together(nvcc, parts, tmp, files)
                parts, kernels, files = [], 0, files + 1
        if parts:
            compile_together(nvcc, parts, tmp, files)
    finish()


main(*sys.argv[1:])
