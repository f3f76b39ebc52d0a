"""Libraries that serve some architectures by tile kernels: mixed.py dispatch|without|gpu.

dispatch: compiled by the nvcc that has tile kernels; what is in each piece of machine code, and which kernel launchers start on which
    device, with cudart.c in the place of CUDA's runtime, which knows of each kernel what nvcc made of it.
without: the same file through an nvcc that has none, or is not asked for them, serves what it would without --tile-arch.
gpu: on a GPU, compiled for tile kernels and for others."""
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *

FLAGS = ["-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra"]
TILED = ["--enable-tile", "-std=c++20"]
STATUS_ARCH = "row_sum: the device is sm_%d, compiled in is code for %s"


def tool(name, package):
    r = run([sys.executable, os.path.join(ROOT, "tools", "get.py"), "--there", package])
    path = os.path.join(os.path.dirname(r.out.decode().strip()), name)
    if not check(r.code == 0 and os.path.exists(path), "%s is not there: %s\n`sh tools/setup.sh test` gets it" % (name, r.text.strip())):
        finish()
    return path


# a kernel for calls that only ask who serves: compiling those of mixed.tile takes seconds for each architecture
LEAST = "kernel least(x: out tensor<i32, [n]>) grid [n] { x[bid(0)] = 1; }\n"


def library(tmp, *options, source=os.path.join(HERE, "mixed.tile")):
    r = ctilec("-o", "mixed.cu", *options, source, cwd=tmp)
    if not check(r.code == 0 and not r.text, r.text):
        finish()
    return os.path.join(tmp, "mixed.cu")


def codes(*arches):
    return [a for arch in arches for a in ("-gencode", "arch=compute_%s,code=sm_%s" % (arch, arch))]


def images(made):
    """{(architecture, kernel): threads of a block at most}; tile kernels, whose blocks have one thread, lie in machine code of their own."""
    text = must([tool("cuobjdump", "nvcc"), "-elf", made]).out.decode("utf-8", "replace")
    found = {}
    for part in re.split(r"^Fatbin elf code:", text, flags=re.M)[1:]:
        arch = re.search(r"^arch = (\w+)", part, re.M).group(1)
        for kernel in re.findall(r"^\.text\.(\w+)", part, re.M):
            info = re.search(r"^\.nv\.info\.%s\n(.*?)(?=^\.|\Z)" % re.escape(kernel), part, re.M | re.S)
            threads = info and re.search(r"EIATTR_MAX_THREADS\s+Format:\s+\w+\s+Value:\s+0x(\w+)", info.group(1))
            found[arch, kernel] = int(threads.group(1), 16) if threads else 1024
    return found


def on(device, tmp, table):
    """The kernels that are started, as (name, grid, threads), and what statuses say."""
    r = must([os.path.join(tmp, "calls")], env={"CAPABILITY": str(device), "IMAGES": table})
    lines = r.out.decode().splitlines()
    return [tuple(l.rsplit(" ", 2)) for l in lines if ": " not in l], dict(l.split(": ", 1) for l in lines if ": " in l)


def compiled(tmp, nvcc, flags, what):
    """The object, and what images() finds in it"""
    made = os.path.join(tmp, "mixed.o")
    r = run([nvcc] + FLAGS + flags + ["-c", "-o", made, "mixed.cu"], cwd=tmp, timeout=560)
    if not check(r.code == 0 and not r.out and not r.err, "%s:\n%s%s" % (what, r.out.decode(), r.text[-3000:])):
        finish()
    return made, images(made)


def build(tmp, nvcc, flags, what):
    """The calls linked with cudart.c; the table of what nvcc made"""
    made, found = compiled(tmp, nvcc, flags, what)
    must(["g++", "-o", "calls", made, "calls.o", "cudart.o"], cwd=tmp)
    table = os.path.join(tmp, "images")
    write(table, "".join("%s %s %d\n" % (arch, kernel, threads) for (arch, kernel), threads in sorted(found.items())))
    return found, table


def prepare(tmp):
    for name in ("calls", "cudart"):
        must([CC, "-std=gnu11", "-Wall", "-Wextra", "-I" + tmp, "-c", "-o", name + ".o", os.path.join(HERE, name + ".c")], cwd=tmp)


def tiles_of(kernels):
    return [k for k in kernels if "ct_kernels" in k[0]]


def bounds(found):
    """{architecture: threads of the kernel that says who serves}, of the machine code of other kernels than those of tiles"""
    return {arch: threads for (arch, kernel), threads in found.items() if "ct_probe" in kernel}


def dispatch(tmp):
    nvcc = tool("nvcc", "nvcc-tile")
    whole = library(tmp, "--tile-arch=sm_100,sm_120")
    prepare(tmp)
    plain = read(os.path.join(tmp, "mixed.h"))
    found, table = build(tmp, nvcc, TILED + codes("90a", "100", "80"), "sm_80, sm_90a and sm_100")
    check(bounds(found) == {"sm_80": 32, "sm_90a": 32, "sm_100": 64}, "which kernels serve: %s" % bounds(found))
    for (arch, kernel), threads in found.items():
        if arch == "sm_100" and "ct_probe" not in kernel and "ct_kernels" not in kernel:
            check(threads == 1, "%s is compiled for sm_100, which tile kernels serve" % kernel)
    for device in (80, 86, 90):
        kernels, said = on(device, tmp, table)
        # what is the same for both architectures is named after the first
        check(len(kernels) == 4 and not tiles_of(kernels) and all("_sm80" in k[0] for k in kernels), "on sm_%d: %s" % (device, kernels))
        check(said["row_sum"] == "success" == said["shift"] == said["product_f16"], "on sm_%d: %s" % (device, said))
        check("x is null" in said["row_sum of null"], said["row_sum of null"])
    kernels, said = on(100, tmp, table)
    check([(re.search(r"ct_kernels\d+([a-z_0-9]+?)(?:ILb[01]E)?E", k).group(1), grid, threads) for k, grid, threads in kernels]
          == [("row_sum_4x256", "3", "1"), ("row_sum_4x256", "3", "1"), ("product_32x64", "4", "1"), ("shift_128", "2", "1")], "on sm_100: %s" % kernels)
    check(said["row_sum"] == "success" == said["shift"] == said["product_f16"] and "x is null" in said["row_sum of null"], "on sm_100: %s" % said)
    kernels, said = on(120, tmp, table)
    check(not kernels and said["row_sum"] == STATUS_ARCH % (120, "sm_80, sm_90a, sm_100 (tile kernels), sm_120 (tile kernels)"), said["row_sum"])

    # an architecture of its own comes before those that older ones serve, an `a` before all
    least = os.path.join(tmp, "least.tile")
    write(least, LEAST)
    for arch, tiles, made, want in (("sm_80,sm_90a", "sm_80,sm_90", ("90a", "80", "89"), {"sm_80": 64, "sm_89": 64, "sm_90a": 32}),
                                    ("sm_80,sm_90", "sm_86", ("80", "86", "89", "90"), {"sm_80": 32, "sm_86": 64, "sm_89": 64, "sm_90": 32})):
        library(tmp, "--arch=" + arch, "--tile-arch=" + tiles, source=least)
        found = compiled(tmp, nvcc, TILED + codes(*made), "--arch=%s --tile-arch=%s" % (arch, tiles))[1]
        check(bounds(found) == want, "which kernels serve with --arch=%s --tile-arch=%s: %s" % (arch, tiles, bounds(found)))
    library(tmp)
    check(read(os.path.join(tmp, "mixed.h")) == plain, "--tile-arch changes the header")


def without(tmp):
    if not NVCC:
        fail("there is no nvcc; `sh tools/setup.sh test` gets one")
        return
    library(tmp, "--tile-arch=sm_90")
    prepare(tmp)
    for what, nvcc, flags in (("an nvcc without tile kernels", NVCC, []), ("nvcc without --enable-tile", tool("nvcc", "nvcc-tile"), ["-std=c++17"])):
        found, table = build(tmp, nvcc, flags + codes("90"), what)
        check(not bounds(found), "%s compiles what asks for tile kernels" % what)
        kernels, said = on(90, tmp, table)
        check(len(kernels) == 4 and all("sm80" in k[0] for k in kernels) and said["row_sum"] == "success", "%s: %s, %s" % (what, kernels, said))
        kernels, said = on(100, tmp, table)
        check(not kernels and said["row_sum"] == STATUS_ARCH % (100, "sm_80, sm_90a"), said["row_sum"])


def programs(tmp):
    """(name, program, what it is told to expect), for sm_90"""
    with_tiles, other = tool("nvcc", "nvcc-tile"), NVCC
    plans = [("tiles", with_tiles, ["--tile-arch=sm_90"], TILED + codes("90"), "tiles"),
             ("tiles-beside-90a", with_tiles, ["--tile-arch=sm_100"], TILED + codes("90a", "100"), "own"),
             ("only-100", with_tiles, ["--tile-arch=sm_100"], TILED + codes("100"), "none"),
             ("not-asked-for", other, ["--tile-arch=sm_90"], ["-std=c++17"] + codes("90a"), "own"),
             ("plain", other, [], ["-std=c++17"] + codes("90a"), "own")]
    for name, nvcc, options, flags, want in plans:
        where = os.path.join(tmp, name)
        os.mkdir(where)
        library(where, *options)
        must([nvcc] + flags + ["-cudart", "static", "-DLIBRARY=\"mixed.cu\"", "-I" + where, "-o", where + ".out", os.path.join(HERE, "mixed_values.cu")], cwd=where, timeout=560)
        yield name, where + ".out", want


def on_gpu(tmp):
    if not shutil.which("nvidia-smi"):
        skip("there is no GPU")
    for name, program, want in programs(tmp):
        r = run([program, want])
        print(r.out.decode())
        check(r.code == 0, "%s: exit %d\n%s" % (name, r.code, r.text[-2000:]))


if __name__ == "__main__":
    with tmpdir() as t:
        {"dispatch": dispatch, "without": without, "gpu": on_gpu}[sys.argv[1]](t)
    finish()
