"""Kernels of sm_90 and newer begin while those before them in the stream end: each waits before it accesses memory, in the text that
nvcc makes of it, and where cuobjdump lies beside nvcc also in machine code. Those of older architectures need no wait."""
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from emitted import *

SAMPLES = ["saxpy", "transpose", "histogram", "layer_norm", "gemm"]
BY_STAGES = "gemm"      # products of several stages, where no version has roles
PTX = re.compile(r"^\.entry (\w+)|^\s*(?:@!?%p\d+ )?(griddepcontrol\.wait|(?:ld|st|atom|red|prefetch|cp\.async)\.[\w.:]*global[\w.:]*)", re.M)
# CCTL.IVALL, of a barrier of a cluster, makes L1 forget what it has; other forms of CCTL fetch
SASS = re.compile(r"Function : (\w+)|\b(ACQBULK|LDG|STG|ATOMG?|REDG?|LDGSTS|CCTL(?!\.IVALL))\b")
FIRST = {"griddepcontrol.wait", "ACQBULK"}


def first_of_kernels(text, pattern):
    """kernel -> the first of what the pattern's second group finds in it, None for nothing"""
    found, name = {}, None
    for m in pattern.finditer(text):
        if m[1]:
            name = m[1]
            found[name] = None
        elif name and not found[name]:
            found[name] = m[2]
    return found


def looks(sample, arch, text, pattern, waits):
    found = {k: v for k, v in first_of_kernels(text, pattern).items() if v}         # those for other architectures are empty
    check(found, "%s for %s: no kernels" % (sample, arch))
    for name, first in found.items():
        check((first in FIRST) == waits, "%s for %s: %s begins with %s" % (sample, arch, name, first))


if not NVCC:
    fail("there is no nvcc; `sh tools/setup.sh test` gets one")
    finish()
cuobjdump = shutil.which(os.path.join(os.path.dirname(NVCC), "cuobjdump"))
with tmpdir() as tmp:
    for sample in SAMPLES:
        source, made = os.path.join(tmp, "k.cu"), os.path.join(tmp, "k.out")
        if not emit(sample, os.path.join(ROOT, "samples", sample, sample + ".tile"), [], source):
            continue
        for arch, waits in (("sm_80", False), ("sm_90a", True)):
            # one run gives both: --keep leaves the PTX beside the machine code
            ptx = ["-cubin", "--keep", "--keep-dir", tmp] if waits and cuobjdump else ["-ptx"]
            r = run([NVCC, *ptx, "-arch=" + arch, "-o", made, source], timeout=500)
            if not check(r.code == 0, "%s for %s:\n%s" % (sample, arch, r.text)):
                continue
            text = read(made if ptx == ["-ptx"] else os.path.join(tmp, "k.ptx"))
            looks(sample, arch, re.sub(r"^\.visible (?=\.entry)|^\.weak (?=\.entry)", "", text, flags=re.M), PTX, waits)
            if ptx != ["-ptx"]:
                looks(sample, arch + ", machine code", run([cuobjdump, "-sass", made]).out.decode(), SASS, waits)
    if emit(BY_STAGES, os.path.join(ROOT, "samples", BY_STAGES, BY_STAGES + ".tile"), ["--arch=sm_90"], source):
        r = run([NVCC, "-ptx", "-arch=sm_90", "-o", made, source], timeout=500)
        if check(r.code == 0, "%s for sm_90:\n%s" % (BY_STAGES, r.text)):
            looks(BY_STAGES, "sm_90", re.sub(r"^\.visible (?=\.entry)|^\.weak (?=\.entry)", "", read(made), flags=re.M), PTX, True)
finish()
