"""Options of nvcc that change arithmetic change no instruction of emitted CUDA: flags.py. Samples, the library and the programs of other
tests are compiled to machine code plainly and with each option; the sections that hold code must be the same bytes. A text whose
arithmetic does depend on the options is compiled too, so that this test is known to see it."""
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from emitted import *

FLAGS = [["-fmad=false"], ["-ftz=true"], ["-prec-div=false", "-prec-sqrt=false"], ["-use_fast_math"]]
WITNESS = """extern "C" __global__ void k(float *p) { p[0] = p[1] * p[2] + p[3] / __fadd_rn(p[4], sqrtf(p[5])); }\n"""


def code_of(path):
    """Names and bytes of the sections with code of an ELF file."""
    with open(path, "rb") as f:
        data = f.read()
    at, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    rows = [struct.unpack_from("<IIQQQQ", data, at + size * i) for i in range(count)]
    def name(row):
        start = rows[names][4] + row[0]
        return data[start:data.index(b"\0", start)].decode()
    return {name(r): data[r[4]:r[4] + r[5]] for r in rows if name(r).startswith(".text.")}


def compiled(text, arch, flags, tmp):
    out = os.path.join(tmp, "k.cubin")
    must([NVCC, "-cubin", "-arch=" + arch, "-o", out] + flags + [text])
    return code_of(out)


def main():
    if not NVCC:
        fail("there is no nvcc; `sh tools/get-nvcc.sh` gets one")
        finish()
    seen = 0
    with tmpdir() as tmp:
        text = os.path.join(tmp, "witness.cu")
        write(text, WITNESS)
        plain = compiled(text, "sm_80", [], tmp)
        for flags in FLAGS:
            check(compiled(text, "sm_80", flags, tmp) != plain, "the witness does not depend on %s" % flags)
        wanted = [p for p in samples(tmp) if p[0] in ("softmax", "layer_norm", "saxpy", "picture", "gemm")]
        wanted += [p for p in programs(tmp) if p[0].startswith(("tests/operations", "tests/language"))]
        wanted += [p for p in library(tmp) if p[0].startswith("tests/stdlib")]
        for i, (name, path, options) in enumerate(wanted):
            arch = ("sm_80", "sm_90a")[i % 2]
            text = os.path.join(tmp, "k.cu")
            if emit(name, path, options + ["--arch=" + arch], text):
                plain = compiled(text, arch, [], tmp)
                check(any(len(code) > 1000 for code in plain.values()), "%s: no code" % name)
                for k in (i, i + 2) if i % 2 else (i, i + 1, i + 3):
                    flags = FLAGS[k % len(FLAGS)]
                    other = compiled(text, arch, flags, tmp)
                    changed = sorted(s for s in plain if other.get(s) != plain[s])
                    check(not changed and len(other) == len(plain), "%s for %s: %s changes %s" % (name, arch, " ".join(flags), changed))
                    seen += 1
    print("%d comparisons" % seen)
    finish()


main()
