"""Names of the author's that C, C++ or their headers use otherwise: names.py c|cuda. Kernels of such names, and one whose
parameters, dimensions and variables have them, compile without a warning."""
import re
import shutil
import sys

from common import *

HEADERS = "stdarg stdio stdlib math stdint string stddef".split()
FUNCTIONS = "memcpy memset malloc free printf fprintf abort fma fmaf exp expf sqrt fabs min max main index y0 j1 gamma time".split()
WORDS = "l at i in int float half double char signed register restrict auto new this class template bool_ int_ v0 v1 v_2 x_2 stdout errno".split()
ENTRIES = """int4 uint2 float4 double4_16a make_float4 dim3 cudaMalloc sin sinf sinl sin_ exit write read index gamma norm time abs div clock pow
    rsqrt uchar4 rand select getline remove y0 copy fill add sum scale dot end""".split()
TAKEN = set("let var for while if else break continue return const in step fn kernel import as tile tensor ptr unsafe true false inf nan null "
    "param instance tune grid where out inout scratch entry dims f16 f32 f64 static_assert assert print min max exp sqrt".split())


def macros(tool):
    text = "".join("#include <%s.h>\n" % h for h in HEADERS)
    r = must([tool, "-dM", "-E", "-xc", "-"], stdin=text.encode())
    return [m for m in re.findall(r"^#define (\w+) ", r.out.decode(), re.M) if not m.startswith("_")]


def program(names):
    names = sorted(set(names) - TAKEN)
    lets = "".join("    let %s = x.load([%d], [64]) + %d.0;\n    r += %s * %s;\n" % (n, i % 3, i, n, n) for i, n in enumerate(names))
    lower = [n for n in names if n[0].islower()]
    dims = "".join("kernel dim_%d(x: tensor<f32, [%s]>, y: out tensor<f32, [%s]>) grid [cdiv(%s, 64)] { y.store([bid(0)], x.load([bid(0)], [64])); }\n"
        % (i, n, n, n) for i, n in enumerate(lower))
    params = "".join("kernel par_%d(%s: tensor<f32, [n]>, y: out tensor<f32, [n]>, a: f32) grid [cdiv(n, 64)] { y.store([bid(0)], a * %s.load([bid(0)], [64])); }\n"
        % (i, n, n) for i, n in enumerate(names) if n != "y" and n != "a" and n != "n")
    params += "kernel launch(l: tensor<f32, [h, w]>, bid: out tensor<f32, [cdiv(h, 3), cdiv(w, 5)]>) grid [1] { bid.store([0, 0], l.load([0, 0], [8, 8])); }\n"
    params += "".join("kernel %s(r: out tensor<f32, [n]>) grid [1] { r.store([0], zeros([8], f32)); }\n" % n for n in ENTRIES)
    return "kernel names(x: tensor<f32, [n]>, y: out tensor<f32, [n]>) grid [1] {\n    var r: tile<f32, [64]> = 0;\n%s    y.store([0], r);\n}\n%s%s" % (
        lets, dims, params)


with tmpdir() as where:
    cuda = sys.argv[1] == "cuda"
    tools = [c for c in ("gcc", "clang") if shutil.which(c)] or [CC]
    write(os.path.join(where, "k.tile"), program([m for t in tools for m in macros(t)] + FUNCTIONS + WORDS))
    out = os.path.join(where, "k.cu" if cuda else "k.c")
    r = ctilec("-w", "--target=" + sys.argv[1], "-o", out, os.path.join(where, "k.tile"))
    check(r.code == 0, r.text[-2000:])
    write(os.path.join(where, "cxx.cc"), '#include "k.h"\n#include "k.h"\nint main() { return 0; }\n')
    lines = [[NVCC, "-Werror", "all-warnings", "-c", "-arch=sm_90a", "-o", "k.o", "k.cu"]] if cuda else []
    for t in tools if not cuda else []:
        lines += [[t, "-std=" + std, "-Wall", "-Wextra", "-Werror", "-c", "-o", "k.o", "k.c"] for std in ("c11", "gnu17")]
        lines += [[t, "-xc++", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "cxx.cc"]]
    for line in lines:
        r = run(line, cwd=where)
        check(r.code == 0, " ".join(line) + ":\n" + r.text[:3000])
finish()
