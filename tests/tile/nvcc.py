"""Emitted CUDA Tile C++ through NVIDIA's compiler: nvcc.py GROUP [VERSION]. GROUP: one of ../cuda/emitted.py, forms, operations, or random
(200 programs of ../values/programs.py); VERSION: --tile-version and its nvcc. TILE_ARCH: the architecture, or several with commas between.
TILE_STAGE=tilebc: the front end alone.

The kernels of many programs go through nvcc as one file, each program in a namespace of its own, down to machine code: the front end once,
then the next stage for each architecture, for which the front end makes the same (group forms compares). Of all groups but forms that
stage optimizes as many kernels as have all forms of text together, and compiles the others, which have no form of their own, at --opt-level=0,
which takes half the time; where there are several architectures, for one of them, in turn. For sm_90, of each group but random, one program
is compiled whole, with its host part, in which no architecture shows. Whatever nvcc says is a failure."""
import collections
import difflib
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cuda"))
from emitted import *

FORMS = os.path.join(ROOT, "tests", "tile", "forms.tile")
NAMES = os.path.join(ROOT, "tests", "tile", "names.tile")
GROUPS["operations"] = lambda tmp: [(os.path.relpath(p, ROOT), p, []) for p in tile_files("tests/operations")]
ALL = GROUPS["programs"]
GROUPS["programs"] = lambda tmp: [p for p in ALL(tmp) if not p[0].startswith("tests/operations")]      # which are a group here
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
STAGE = os.environ.get("TILE_STAGE", "tilecubin")
ARCHES = os.environ.get("TILE_ARCH", "sm_90").split(",")
ARCH = ARCHES[0]
# Kernels of one file. The stage after the front end takes longer for each where there are many, and the front end reads the headers for every
# file: 103 drawn kernels take 31 s for an architecture and 11 s before in one file, 21 s and 20 s in five. Few pay for two architectures.
AT_ONCE = 12 if len(ARCHES) > 1 and STAGE != "tilebc" else 100
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


KERNEL = re.compile(r"^(?:template<bool ct_aligned>\n)?(?:\[\[.*\n)?static __tile_global__ void (\w+)\([^\n]*\)\n\{\n(.*?)^\}\n", re.M | re.S)
CALL = re.compile(r"\b(ct(?:::|_)\w+)(<[^;(){}]*>)?\(")
OPERATION = re.compile(r"/\* (?:\w+(?:, \w+)* = )?(\w+)\([^)]*\).*?: (?:tile<)?(\w+)")
WORDS = re.compile(r"\b(?:if|else|for|while|do|switch|break|continue|return|struct)\b|\[\[[^\]]*\]\]")
THIN = {"samples": 100, "library": 150, "operations": 100, "random": 100}      # groups, and how many forms they have at least


def forms(body):
    """What the last stage could dislike in a kernel: the functions that it calls and the types that they are given, the words of C and the hints;
    operations and types of their results, which the comments name. Numbers of elements are left out."""
    calls = {(name, re.sub(r"\b\d+\b", "#", re.sub(r"_[\dx_]+\b", "", types))) for name, types in CALL.findall(body)}
    return calls | set(OPERATION.findall(body)) | {re.sub(r"\d+", "#", word) for word in WORDS.findall(body)}


def without(part, names):
    """The part of a program without some of its kernels."""
    name, (headers, body) = part
    return name, (headers, KERNEL.sub(lambda m: "" if m.group(1) in names else m.group(0), body))


def thin(parts, group):
    """(parts whose kernels have all forms together, parts with the other kernels)"""
    found = [(i, m.group(1), m.group(2).count("\n"), forms(m.group(2))) for i, (_, (_, body)) in enumerate(parts) for m in KERNEL.finditer(body)]
    check(len(found) == sum(body.count("__tile_global__") for _, (_, body) in parts), "kernels are not recognised")
    count = collections.Counter(f for *_, mine in found for f in mine)
    left, gone = count.copy(), {i: set() for i, _ in enumerate(parts)}
    for i, name, _, mine in sorted(found, key=lambda k: (-k[2], k[1])):
        if all(left[f] > 1 for f in mine):
            left.subtract(mine)
            gone[i].add(name)
    kept = [without(part, gone[i]) for i, part in enumerate(parts)]
    rest = [without(part, {name for j, name, *_ in found if j == i} - gone[i]) for i, part in enumerate(parts)]
    lost = set(count).difference(*(forms(m.group(2)) for _, (_, body) in kept for m in KERNEL.finditer(body)))
    check(len(count) >= THIN[group] and not lost, "of %d forms these are in no kernel that is compiled: %s" % (len(count), sorted(map(str, lost))))
    print("%d of %d kernels have all of %d forms" % (len(found) - sum(map(len, gone.values())), len(found), len(count)))
    return tuple([p for p in some if KERNEL.search(p[1][1])] for some in (kept, rest))


def files(parts):
    """The programs in lists, each for one file."""
    some, kernels = [], 0
    for part in parts:
        some.append(part)
        kernels += part[1][1].count("__tile_global__")
        if kernels >= AT_ONCE:
            yield some
            some, kernels = [], 0
    if some:
        yield some


def together(parts, group):
    headers = sorted({h for _, (hs, _) in parts for h in hs if "cuda_tile" not in h}) + ["#include <cuda_tile.h>"]
    text = "#pragma nv_diag_suppress 177, 550\n" + ALWAYS + "\n".join(headers) + "\n"
    for i, (_, (_, body)) in enumerate(parts):
        text += "namespace program_%d {\n%s%s}\n#undef CT_LINE\n#undef CT_TILE\n" % (i, body, versions(body, group))
    return text


def compile_together(nvcc, parts, tmp, number, group, level, arches):
    path = os.path.join(tmp, "together_%s.cu" % number)
    write(path, together(parts, group))
    names = ", ".join(n for n, _ in parts)
    silent(names, [nvcc] + FLAGS + ["--tilebc", "-o", path + ".bc", path])
    if STAGE == "tilebc" or not os.path.exists(path + ".bc"):
        return
    at = os.path.dirname(nvcc)
    env = dict(os.environ, CUDA_ROOT=os.path.dirname(at), PATH=at + os.pathsep + os.environ["PATH"])
    for arch in arches:
        out = path + "." + arch
        silent(names, [os.path.join(at, "tileiras"), "--opt-level=%d" % level, "--host-arch=x86_64", "--host-os=linux", "-arch=" + arch, path + ".bc", "-o", out], env)
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
        if check(r.code == 0, "%s:\n%s" % (name, r.text)):
            yield name, out, read(out).count("__tile_global__")


def main(group, version=None):
    nvcc = find_nvcc(version)
    with tmpdir() as tmp:
        found = list(emitted(group, version, tmp))
        if not check(found, "group %s is empty" % group):
            finish()
        # whole, with its host part: of forms names.tile, else what has least kernels, for that takes both versions of each down to machine code
        whole = found[0] if group == "forms" else min(found, key=lambda f: f[2]) if group != "random" and ARCH == "sm_90" else None
        if whole and ARCH == "sm_90":
            silent(whole[0], [nvcc] + FLAGS + ["-Xcompiler", "-Wall,-Wextra", "-I" + tmp, "-c", "-o", whole[1] + ".o", whole[1]])
        all_parts = [(name, device_part(read(out))) for name, out, count in found if (name, out, count) != whole]
        chosen, rest = thin(all_parts, group) if all_parts and group in THIN and STAGE != "tilebc" else (all_parts, [])
        for level, those in ((3, chosen), (0, rest)):
            for i, parts in enumerate(files(those)):
                compile_together(nvcc, parts, tmp, "%d_%d" % (level, i), group, level, ARCHES if level else [ARCHES[i % len(ARCHES)]])
        if group == "forms" and not version and ARCH == "sm_100":
            same_for_all(nvcc, all_parts, tmp)
    finish()


main(*sys.argv[1:])
