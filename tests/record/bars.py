"""How long emitted CUDA may be: bars.py. Prints lines and kernels of programs that people look at, for the default architectures, with the
header in a file of its own, and fails where one is beyond its bar."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

# program: lines, kernels, lines of the longest kernel. A bar goes down when text gets shorter; picture's went
# up once, by the version of its histogram whose thread blocks have counts of their own, and gemm's by a fifth plan. The aim for a kernel is 220 lines.
BARS = {"samples/vecadd/vecadd.tile": (420, 2, 25), "README.md": (1080, 10, 60), "samples/softmax/softmax.tile": (2750, 30, 96),
        "samples/layer_norm/layer_norm.tile": (1830, 20, 92), "samples/gemm/gemm.tile": (4900, 24, 208),
        "samples/attention/attention.tile": (4370, 12, 430), "samples/picture/picture.tile": (1960, 13, 220)}
KERNEL = re.compile(r"^static __global__ void", re.M)
# a body: of a kernel, or of the function that a version's kernels for long and for short rows call
BODY = re.compile(r"^(?:static __global__ void|CT_FN void \w+_rows\().*?^}\n", re.S | re.M)


def readme(tmp):
    """The program that README.md shows first."""
    text = re.search(r"```(?:tile)?\n((?:(?!```)(?:.|\n))*?\bkernel softmax(?:.|\n)*?)```", read(os.path.join(ROOT, "README.md"))).group(1)
    path = os.path.join(tmp, "readme.tile")
    write(path, text)
    return path


with tmpdir() as tmp:
    print("%-36s %12s %12s %18s" % ("program, and the bars", "lines", "kernels", "longest kernel"))
    for program, bars in BARS.items():
        source, out = readme(tmp) if program == "README.md" else os.path.join(ROOT, program), os.path.join(tmp, "k.cu")
        r = ctilec("-w", "-o", out, source)
        check(r.code == 0, "%s: %s" % (program, r.text))
        text = read(out)
        found = text.count("\n"), len(KERNEL.findall(text)), max(body.count("\n") for body in BODY.findall(text))
        print("%-36s %12s %12s %18s" % (program, *("%d / %d" % pair for pair in zip(found, bars))))
        check(all(n <= bar for n, bar in zip(found, bars)), "%s: lines, kernels, longest kernel %s, bars %s" % (program, found, bars))
finish()
