"""2,000 drawn calls of the corpus (bench/corpus) reach a kernel: launchers of target cuda, whose kernels do nothing here.

Extents are those of the benchmark, up to a gigabyte, tensors begin at multiples of 256 bytes or only of their elements, and each call goes
to `f_ws` and to `f` where there is one. A launcher may refuse a call only for what language.md names; none of these calls is such a one, so
each returns success, and what it launches is within the bounds of its kernel (emu.h). calls.py [COUNT]"""
import collections
import ctypes
import os
import random
import re
import sys

from common import *

sys.path[:0] = [os.path.join(ROOT, "tests", "cuda"), os.path.join(ROOT, "bench", "corpus")]
import emulation

try:
    import numpy
    import ml_dtypes
except ImportError:
    skip("no numpy or ml_dtypes")
import arrays
import check as corpus
import table

ARCHS = ("sm_80", "sm_90a")
ROWS = re.compile(r"^CT_FN void \w+_rows\(.*?^}\n", re.S | re.M)
FAR = 1 << 40       # bytes between tensors, which are never accessed


def build(tmp):
    """The launchers of each file, for each architecture, as shared libraries."""
    for name in corpus.sources():
        cu = os.path.join(tmp, name + ".cu")
        r = ctilec("--target=cuda", "--line=off", "-w", "-o", cu, os.path.join(ROOT, "bench", "corpus", name + ".tile"))
        if not check(r.code == 0 and not r.text, "%s:\n%s" % (name, r.text)):
            finish()
        write(cu, ROWS.sub("", emulation.without_bodies(read(cu))))
        for arch in ARCHS:
            out = os.path.join(tmp, "%s.%s" % (name, arch))
            emulation.rewrite(BUILD, cu, out + ".c", arch)
            must(["gcc", "-std=gnu11", "-O0", "-w", "-DEMU_LAUNCH_ONLY", "-fPIC", "-shared", "-I" + os.path.join(ROOT, "tests", "cuda"), "-I" + tmp,
                  "-o", out + ".so", out + ".c", "-lm"])


def calls(tmp, case, draw, libs):
    """(function, status) of each call."""
    key = case.file, draw.choice(ARCHS)
    if key not in libs:
        libs[key] = ctypes.CDLL(os.path.join(tmp, "%s.%s.so" % key))
    lib, dims = libs[key], [ctypes.c_int64(d) for d in case.dims]
    at = [(i + 1) * FAR + draw.choice((0, 0, table.SIZE[a.type] * draw.randrange(128))) for i, a in enumerate(case.args)]
    given = [ctypes.c_void_p(p) for p in at] + [corpus.NUMBERS[k](v) for k, v in case.numbers] + dims
    size = getattr(lib, case.function + "_workspace")
    size.restype = ctypes.c_size_t
    need = size(*corpus.integers(case), *dims)
    yield case.function + "_ws", getattr(lib, case.function + "_ws")(*given, ctypes.c_void_p(FAR // 2), ctypes.c_size_t(need), None)
    if hasattr(lib, case.function):
        yield case.function, getattr(lib, case.function)(*given, None)


def main(count):
    draw, done, libs, statuses = random.Random(1), 0, {}, collections.Counter()
    with tmpdir() as tmp:
        build(tmp)
        seed = 0
        while done < count:
            seed += 1
            for case in corpus.cases(arrays.Numpy(), seed, False):
                for function, status in calls(tmp, case, draw, libs):
                    done += 1
                    statuses[status] += 1
                    check(status == 0, "%s, seed %d, %s: status %d" % (function, seed, case.name, status))
    print("%d calls, %s" % (done, ", ".join("%d with status %d" % (n, s) for s, n in sorted(statuses.items()))))
    finish()


main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
