"""Conversions from every numeric type to every float, in every rounding mode, with every word of overflow: and with none, bit for bit alike on the C target
and in the simulator, NaN included. All elements of f16, bf16 and the types of 8 bits; of wider floats every exponent with chosen and random fractions, of wider
integers those about powers of two."""
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *

BYTES = {"f8e4m3": 1, "f8e5m2": 1, "f16": 2, "bf16": 2, "tf32": 4, "f32": 4, "f64": 8, "bool": 1,
         "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8}
FLOATS = [t for t in BYTES if t[0] not in "iu" and t != "bool"]
COMMON = os.path.join(ROOT, "samples", "common")


def modes(t):
    """Words of the conversion to t: `inf` is not one of f8e4m3."""
    rounding = ["", "toward_zero", "toward_negative", "toward_positive"] + (["nearest_even"] if t == "tf32" else [])
    overflow = ["", "saturate", "nan"] + (["inf"] if t != "f8e4m3" else [])
    return [(", rounding: " + r if r else "") + (", overflow: " + o if o else "") for r in rounding for o in overflow]


def integers(w, rng):
    near = [(1 << k) + d for k in range(w + 1) for d in (-2, -1, 0, 1, 2)]
    return [x & (1 << w) - 1 for n in near for x in (n, -n)] + [rng.getrandbits(w) >> rng.randrange(w) for _ in range(1000)]


def wide_floats(w, digits, exponents, low, rng):
    """low: places that tf32 has not."""
    top = (1 << digits) - 1
    fractions = [0, 1 << low, 1 << digits - 1, (1 << digits - 1) + (1 << low), top]
    for k in (2, 3, 7, 10, 23):         # last places of narrower types, and halves of them
        if k < digits:
            fractions += [top >> digits - k << digits - k, top >> digits - k - 1 << digits - k - 1]
    out = [s << w - 1 | e << digits | f for s in (0, 1) for e in exponents for f in fractions]
    out += [rng.getrandbits(w) for _ in range(1000)]
    nans = exponents[-1] << digits
    return [x >> low << low for x in out + [rng.getrandbits(w) | nans for _ in range(200)]]


def elements(t):
    """Bit patterns, as numbers."""
    w, rng = 8 * BYTES[t], random.Random(1)
    if t == "bool":
        return [0, 1]
    if w == 8 or t in ("f16", "bf16"):
        return range(1 << w)
    if t == "f64":
        return wide_floats(w, 52, [*range(3), *range(860, 1160), 2045, 2046, 2047], 0, rng)
    return wide_floats(w, 23, range(256), 13 if t == "tf32" else 0, rng) if t in FLOATS else integers(w, rng)


def kernels():
    out = []
    for s in BYTES:
        for t in FLOATS:
            stores = "".join(" y.store([%d, b], element_cast(v, %s%s));" % (i, t, m) for i, m in enumerate(modes(t)))
            out.append("kernel %s_%s(x: tensor<%s, [n]>, y: out tensor<%s, [%d, n]>) grid [cdiv(n, 256)] { let b = bid(0);"
                       " let v = reshape(x.load([b], [256]), [1, 256]);%s }\n" % (s, t, s, t, len(modes(t)), stores))
    return "".join(out)


def main_text():
    size = max(len(elements(s)) for s in BYTES) * 8 * max(len(modes(t)) for t in FLOATS)
    out = ['#include <stdio.h>\n#include "sample.h"\n#include "casts.h"\n'
           "static void *input(const char *name, size_t n)\n{\n\tchar *p = calloc(n, 1);\n\tFILE *f = fopen(name, \"rb\");\n"
           "\tif (!f || fread(p, 1, n, f) != n) exit(2);\n\tfclose(f);\n\treturn p;\n}\n"
           "int main(void)\n{\n\tvoid *x, *y = dev_alloc(%d), *got = malloc(%d);\n" % (size, size)]
    for s in BYTES:
        n = len(elements(s))
        out.append('\tx = dev_copy_of(input("%s.bin", %d), %d);\n' % (s, n * BYTES[s], n * BYTES[s]))
        for t in FLOATS:
            bytes = n * BYTES[t] * len(modes(t))
            out.append('\tif (%s_%s(x, y, %d, NULL)) exit(3);\n\tdev_download(got, y, %d);\n\tfwrite(got, 1, %d, stdout);\n' % (s, t, n, bytes, bytes))
    return "".join(out) + "\treturn 0;\n}\n"


def outputs(target, tmp):
    text, exe = os.path.join(tmp, target + ".c"), os.path.join(tmp, target)
    r = ctilec("--target=" + target, "-w", "-o", text, "--header=" + os.path.join(tmp, "casts.h"), os.path.join(tmp, "casts.tile"))
    check(r.code == 0, r.text)
    must([CC, "-std=gnu11", "-O0", "-w", "-I" + tmp, "-I" + COMMON, "-o", exe, os.path.join(tmp, "main.c"), text,
          os.path.join(COMMON, "device_host.c")] + ([os.path.join(BUILD, "libctilec.a")] if target == "sim" else []) + ["-lm"])
    return must([exe], cwd=tmp).out


def compare(what, xs, width, c, sim):
    if c == sim:
        return
    at = [i for i in range(len(xs)) if c[i * width:i * width + width] != sim[i * width:i * width + width]]
    fail("%s: %d of %d differ, first %#x: C %#x, simulator %#x" % (what, len(at), len(xs), xs[at[0]], *(
        int.from_bytes(b[at[0] * width:at[0] * width + width], "little") for b in (c, sim))))


with tmpdir() as tmp:
    write(os.path.join(tmp, "casts.tile"), kernels())
    write(os.path.join(tmp, "main.c"), main_text())
    for t in BYTES:
        write(os.path.join(tmp, t + ".bin"), b"".join(x.to_bytes(BYTES[t], "little") for x in elements(t)))
    c, sim = outputs("c", tmp), outputs("sim", tmp)
    at = 0
    for s in BYTES:
        xs = elements(s)
        for t in FLOATS:
            for mode in modes(t):
                size = len(xs) * BYTES[t]
                compare("%s to %s%s" % (s, t, mode), xs, BYTES[t], c[at:at + size], sim[at:at + size])
                at += size
    check(at == len(c) == len(sim), "%d bytes compared, of %d and %d" % (at, len(c), len(sim)))
    print("%d bytes compared" % at)
finish()
