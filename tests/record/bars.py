"""How long emitted CUDA may be: bars.py. Prints lines and kernels of programs that people look at, for the default architectures, with the
header in a file of its own, and fails where one is beyond its bar."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

# program: lines, kernels. A bar goes down when text gets shorter, and never up; the aim for vecadd is 450 lines.
BARS = {"samples/vecadd/vecadd.tile": (510, 2), "README.md": (1800, 36), "samples/softmax/softmax.tile": (8000, 36),
        "samples/layer_norm/layer_norm.tile": (4500, 24), "samples/gemm/gemm.tile": (5000, 24)}


def readme(tmp):
    """The program that README.md shows first."""
    text = re.search(r"```(?:tile)?\n((?:(?!```)(?:.|\n))*?\bkernel softmax(?:.|\n)*?)```", read(os.path.join(ROOT, "README.md"))).group(1)
    path = os.path.join(tmp, "readme.tile")
    write(path, text)
    return path


with tmpdir() as tmp:
    print("%-36s %6s %6s %8s %4s" % ("program", "lines", "bar", "kernels", "bar"))
    for program, (lines, kernels) in BARS.items():
        source, out = readme(tmp) if program == "README.md" else os.path.join(ROOT, program), os.path.join(tmp, "k.cu")
        r = ctilec("-w", "-o", out, source)
        check(r.code == 0, "%s: %s" % (program, r.text))
        text = read(out)
        n, k = text.count("\n"), text.count("__global__ void")
        print("%-36s %6d %6d %8d %4d" % (program, n, lines, k, kernels))
        check(n <= lines and k <= kernels, "%s: %d lines, %d kernels" % (program, n, k))
finish()
