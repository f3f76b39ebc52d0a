"""Options of nvcc that change arithmetic change no value of emitted CUDA: flags.py. Samples, the library and the programs of other
tests are compiled to PTX plainly and with all options; it must be the same, and hold nothing that ptxas, which knows one of the options, may
fuse: a product and a sum without a rounding of their own. Where there are such, and where the PTX differs, the sections with machine code
must be the same bytes. Texts whose arithmetic does depend on the options are compiled too, so that this test is known to see it.

The functions of f64 that CUDA provides hold a few instructions of f32 that -ftz changes, and no value with them: HARMLESS. The PTX may
be the same after these instead."""
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from emitted import *

FMAD, FAST = ["-fmad=false"], ["-use_fast_math"]      # the second is -ftz=true -prec-div=false -prec-sqrt=false and other names for functions
HARMLESS = [
    # the upper half of a double, read as a float, against a large number: a subnormal and zero are on the same side of it
    (r"abs\.ftz(\.f32\s+(%f\d+), %f\d+;\s+setp\.\w+)\.ftz(\.f32\s+%p\d+, \2, 0f4[0-9A-F]{7};)", r"abs\1\3"),
    (r"(setp\.(?:lt|gt|geu))\.ftz(\.f32\s+%p\d+, %f\d+, 0f[4C]0[0-9A-F]{6};)", r"\1\2"),
    # x / log 2 as a float, to the nearest integer: what is flushed gives zero with and without; an integer is no subnormal
    (r"cvt\.rn\.ftz(\.f32\.f64\s+(%f\d+), %fd\d+;\s+mul(?:\.rn)?)\.ftz(\.f32\s+(%f\d+), \2, 0f[3B]FB8AA3B;\s+cvt\.rni\.f32\.f32\s+(%f\d+), \4;"
     r"\s+cvt)\.ftz(\.f64\.f32\s+%fd\d+, \5;)", r"cvt.rn\1\3\6"),
    # what was flushed already
    (r"(ex2\.approx\.ftz\.f32\s+(%f\d+), %f\d+;\s+cvt)\.ftz(\.f64\.f32\s+%fd\d+, \2;)", r"\1\3"),
]
WITNESS = """extern "C" __global__ void k(float *p) { p[0] = p[1] * p[2] + p[3] / __fadd_rn(p[4], sqrtf(p[5])); }\n"""
# the same PTX with all options, of which ptxas makes other code
FUSED = """extern "C" __global__ void k(float *p) { float v; asm("{ .reg .f32 t; mul.f32 t, %1, %2; add.f32 %0, t, %3; }" : "=f"(v) : "f"(p[1]), "f"(p[2]), "f"(p[3])); p[0] = v; }\n"""
ROUNDING = re.compile(r"(?<=\bmul|\badd|\bsub)\.rn(?=\.f(?:32|64)\b)")
UNROUNDED = re.compile(r"\bmul(?!\.\w*\.?r[nzmp]\b)(?:\.\w+)*\.(?:b?f16(?:x2)?|f32|f64)\b")


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
    """The machine code, and the PTX that it is made of."""
    out = os.path.join(tmp, "k.cubin")
    must([NVCC, "-cubin", "-arch=" + arch, "--keep", "--keep-dir", tmp, "-o", out] + flags + [text])
    return code_of(out), read(os.path.join(tmp, os.path.basename(text)[:-3] + ".ptx"))


def ptx_of(text, arch, flags, tmp):
    out = os.path.join(tmp, "k.ptx")
    must([NVCC, "-ptx", "-arch=" + arch, "-o", out] + flags + [text])
    return read(out)


def without_harmless(text, arch, flags, tmp):
    """The PTX for these options, without what they change and no value shows."""
    ptx = ptx_of(text, arch, flags, tmp)
    for pattern, instead in HARMLESS:
        ptx = re.sub(pattern, instead, ptx)
    return ptx


def assembled(ptx, arch, flags, tmp):
    """The machine code of a text in PTX."""
    path, out = os.path.join(tmp, "plain.ptx"), os.path.join(tmp, "plain.cubin")
    write(path, ptx)
    must([NVCC, "-cubin", "-arch=" + arch, "-o", out] + flags + [path])
    return code_of(out)


def changed(text, arch, flags, tmp, plain):
    """The sections whose code is not the plain one."""
    code, ptx = plain
    if flags != FMAD and without_harmless(text, arch, flags, tmp) == ptx:
        return []
    other, _ = compiled(text, arch, flags, tmp)
    return sorted(s for s in code.keys() | other.keys() if other.get(s) != code.get(s))


def all_the_same(text, arch, tmp, ptx):
    """All options at once: the same PTX, and of it the same code with the one that is an option of ptxas itself, too. That option may also
    spell out a rounding that the PTX leaves to ptxas; then the code decides. Nothing is compiled three times for what is so nearly always."""
    other = without_harmless(text, arch, FAST + FMAD, tmp)
    if other == ptx and not UNROUNDED.search(ptx):
        return True
    return ROUNDING.sub("", other) == ROUNDING.sub("", ptx) and assembled(ptx, arch, [], tmp) == assembled(other, arch, FMAD, tmp)


def main():
    if not NVCC:
        fail("there is no nvcc; `sh tools/setup.sh test` gets one")
        finish()
    seen = 0
    with tmpdir() as tmp:
        text = os.path.join(tmp, "witness.cu")
        write(text, WITNESS)
        plain = compiled(text, "sm_80", [], tmp)
        for flags in (FMAD, FAST):
            check(changed(text, "sm_80", flags, tmp, plain), "the witness does not depend on %s" % flags)
        check(not all_the_same(text, "sm_80", tmp, plain[1]), "the witness does not depend on all options at once")
        write(text, FUSED)
        ptx = ptx_of(text, "sm_80", [], tmp)
        check(without_harmless(text, "sm_80", FAST + FMAD, tmp) == ptx and not all_the_same(text, "sm_80", tmp, ptx), "what ptxas fuses is not seen")
        wanted = [p for p in samples(tmp) if p[0] in ("softmax", "layer_norm", "saxpy", "picture", "gemm")]
        wanted += [p for p in programs(tmp) if p[0].startswith(("tests/operations", "tests/language"))]
        wanted += [p for p in library(tmp) if p[0].startswith("tests/stdlib")]
        for i, (name, path, options) in enumerate(wanted):
            arch = ("sm_80", "sm_90a")[i % 2]
            text = os.path.join(tmp, "k.cu")
            if emit(name, path, options + ["--arch=" + arch], text):
                ptx = ptx_of(text, arch, [], tmp)
                check(".entry" in ptx and ptx.count(";") > 100, "%s: no code" % name)
                if not all_the_same(text, arch, tmp, ptx):
                    plain = assembled(ptx, arch, [], tmp), ptx
                    for flags in (FMAD, FAST):
                        found = changed(text, arch, flags, tmp, plain)
                        check(not found, "%s for %s: %s changes %s" % (name, arch, " ".join(flags), found))
                seen += 1
    check(seen, "nothing was compared")
    print("%d comparisons" % seen)
    finish()


main()
