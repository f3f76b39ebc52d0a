"""Emitted CUDA Tile C++ through NVIDIA's compiler: nvcc.py GROUP [VERSION]. GROUP: one of ../cuda/emitted.py, forms, operations, or random
(200 programs of ../values/programs.py); VERSION: --tile-version and its nvcc. TILE_ARCH: the architecture, or several with commas between.
TILE_STAGE=tilebc: the front end alone.

The kernels of many programs go through nvcc as one file, each program in a namespace of its own, down to machine code: the front end once,
then the next stage for each architecture, for which the front end makes the same (group forms compares). Of each group but random, one
program is compiled whole, with its host part. Whatever nvcc says is a failure. Programs that the target refuses, with an error of its own
(E09..), are left out and named."""
import difflib
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cuda"))
from emitted import *

FORMS = os.path.join(ROOT, "tests", "tile", "forms.tile")
NAMES = os.path.join(ROOT, "tests", "tile", "names.tile")
GROUPS["operations"] = lambda tmp: [(os.path.relpath(p, ROOT), p, []) for p in tile_files("tests/operations")]
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
ARCHES = os.environ.get("TILE_ARCH", "sm_90").split(",")
ARCH = ARCHES[0]
FLAGS = ["--enable-tile", "-std=c++20", "-arch=" + ARCH, "-Werror", "all-warnings"]


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


def silent(name, command, env=None):
    r = run(command, timeout=560, env=env)
    said = (r.out.decode("utf-8", "replace") + r.text).strip()
    check(r.code == 0 and not said, "%s: %s:\n%s" % (name, os.path.basename(command[0]), said[:4000]))


def versions(body, group):
    """What makes the compiler instantiate the versions of each kernel: a launcher names them. The front end alone gets both, and forms for sm_90;
    else each kernel has one, in turn the one for aligned tensors and the other, and for sm_100 the one that sm_90 has not."""
    names = re.findall(r"template<bool ct_aligned>\n(?:\[\[.*\n)?static __tile_global__ void (\w+)\(", body)
    both = STAGE == "tilebc" or group == "forms" and ARCH == "sm_90"
    chosen = [(n, v) for i, n in enumerate(names) for v in ("true", "false") if both or (v == "true") == (i % 2 == (ARCH == "sm_100"))]
    return "const void *const versions[] = { %s };\n" % ", ".join("(const void *)ct_kernels::%s<%s>" % nv for nv in chosen) if names else ""


def together(parts, group):
    headers = sorted({h for _, (hs, _) in parts for h in hs if "cuda_tile" not in h}) + ["#include <cuda_tile.h>"]
    text = "#pragma nv_diag_suppress 177, 550\n" + ALWAYS + "\n".join(headers) + "\n"
    for i, (_, (_, body)) in enumerate(parts):
        text += "namespace program_%d {\n%s%s}\n#undef CT_LINE\n#undef CT_TILE\n" % (i, body, versions(body, group))
    return text


def compile_together(nvcc, parts, tmp, number, group):
    path = os.path.join(tmp, "together_%d.cu" % number)
    write(path, together(parts, group))
    names = ", ".join(n for n, _ in parts)
    silent(names, [nvcc] + FLAGS + ["--tilebc", "-o", path + ".bc", path])
    if STAGE == "tilebc" or not os.path.exists(path + ".bc"):
        return
    at = os.path.dirname(nvcc)
    env = dict(os.environ, CUDA_ROOT=os.path.dirname(at), PATH=at + os.pathsep + os.environ["PATH"])
    for arch in ARCHES:
        out = path + "." + arch
        silent(names, [os.path.join(at, "tileiras"), "--host-arch=x86_64", "--host-os=linux", "-arch=" + arch, path + ".bc", "-o", out], env)
        if os.path.exists(out):
            with open(out, "rb") as f:
                check(b"malloc" not in f.read(), "tile blocks take memory from the device's heap: %s" % names)


def front_end(nvcc, path, arch):
    """Its Tile IR as text, without names that nvcc makes from file names and a number of its own."""
    made = path + "." + arch + ".bc"
    must([nvcc] + [f if not f.startswith("-arch=") else "-arch=" + arch for f in FLAGS] + ["--tilebc", "-o", made, path], timeout=560)
    text = must([os.path.join(os.path.dirname(nvcc), "tileirdisasm"), made]).out.decode()
    return re.sub(r"_[0-9a-f]{8}_\d+_\w+?_cu_[0-9a-f]{8}_\d+", "_FILE", text)


def same_for_all(nvcc, parts, tmp):
    """The front end makes the same for both architectures, so that it has to see other groups for one of them only."""
    path = os.path.join(tmp, "same.cu")
    write(path, together(parts, "forms"))
    one, other = front_end(nvcc, path, "sm_90"), front_end(nvcc, path, "sm_100")
    check("entry @" in one, "no kernel in the Tile IR:\n" + one[:1000])
    check(one == other, "the front end makes other Tile IR for sm_100 than for sm_90:\n" + "\n".join(difflib.unified_diff(one.splitlines(), other.splitlines(), n=0))[:3000])


def emitted(group, version, tmp):
    """(name, path of the text, number of kernels) of each program of the group"""
    chosen = ["--tile-version=" + version] if version else []
    for i, (name, path, options) in enumerate(GROUPS[group](tmp)):
        out = os.path.join(tmp, "k%d.cu" % i)
        r = ctilec("-w", "--target=cuda-tile", *chosen, *options, path, "-o", out)
        refused = re.search(r"\[E09\d\d\]: (.*)", r.text) if r.code else None
        if refused:
            print("refused: %s: %s" % (name, refused.group(1)))
            check(group not in ("samples", "library", "random"), name + " is refused")
        elif check(r.code == 0, "%s:\n%s" % (name, r.text)):
            yield name, out, read(out).count("__tile_global__")


def main(group, version=None):
    nvcc = find_nvcc(version)
    with tmpdir() as tmp:
        found = list(emitted(group, version, tmp))
        if not check(found, "group %s is empty" % group):
            finish()
        # whole, with its host part: of forms names.tile, else what has least kernels, for that takes both versions of each down to machine code
        whole = found[0] if group == "forms" else min(found, key=lambda f: f[2]) if group != "random" else None
        if whole:
            silent(whole[0], [nvcc] + FLAGS + ["-Xcompiler", "-Wall,-Wextra", "-I" + tmp, "-c", "-o", whole[1] + ".o", whole[1]])
        parts, kernels, files, all_parts = [], 0, 0, []
        for name, out, count in found:
            if (name, out, count) == whole:
                continue
            parts.append((name, device_part(read(out))))
            all_parts.append(parts[-1])
            kernels += count
            if kernels >= AT_ONCE:
                compile_together(nvcc, parts, tmp, files, group)
                parts, kernels, files = [], 0, files + 1
        if parts:
            compile_together(nvcc, parts, tmp, files, group)
        if group == "forms" and not version and ARCH == "sm_100":
            same_for_all(nvcc, all_parts, tmp)
    finish()


main(*sys.argv[1:])
