"""The sources of bench/memory: without warnings, at most 25 lines a kernel, and right on the C target, compared with numpy on small
shapes whose rows do not fill their tiles. With `cuda`: emitted text compiles without warnings, too (hardly optimized: what optimizing makes of it is what `make meter` prints)."""
import ctypes
import os
import re
import sys

from common import *
from lengths import check_lengths

FOLDER = os.path.join(ROOT, "bench", "memory")
SOURCES = sorted(n[:-5] for n in os.listdir(FOLDER) if n.endswith(".tile"))


def emitted(name, target, folder):
    out = os.path.join(folder, name + (".c" if target == "c" else ".cu"))
    r = ctilec("-Wall", "-Wextra", "--target=" + target, "-o", out, os.path.join(FOLDER, name + ".tile"))
    check(r.code == 0 and not r.text, "%s.tile:\n%s" % (name, r.text))
    return out


def cuda():
    if not NVCC:
        fail("there is no nvcc; `sh tools/setup.sh test` gets one")
        return
    sys.path.insert(0, os.path.join(ROOT, "tests", "cuda"))
    from emitted import together

    def said(text):
        return run([NVCC, "-std=c++17", "-arch=sm_90a", "-Ofc", "mid", "-cubin", "-Werror", "all-warnings", "-o", text + "bin", text]).text

    with tmpdir() as tmp:
        texts = [(name, emitted(name, "cuda", tmp)) for name in SOURCES]
        one = os.path.join(tmp, "together.cu")
        write(one, together(texts))         # the start of nvcc and CUDA's headers take longer than a text
        if not check(not said(one) and os.path.getsize(one + "bin"), "the texts of bench/memory together"):
            for name, text in texts:
                check(not said(text), "%s:\n%s" % (name, said(text)))


# ---- values ----

class Calls:
    """The C functions of all sources; arrays of bf16 are rounded f32 here and 16-bit patterns in memory."""

    def __init__(self, np, folder):
        self.np, self.libs = np, []
        for name in SOURCES:
            lib = os.path.join(folder, name + ".so")
            must([CC, "-std=c11", "-O0", "-shared", "-fPIC", "-o", lib, emitted(name, "c", folder), "-lm"])
            self.libs.append(ctypes.CDLL(lib))

    def bf16(self, x):
        """Rounded to the nearest, ties to even."""
        bits = x.astype(self.np.float32).view(self.np.uint32)
        bits = bits + 0x7fff + (bits >> 16 & 1)
        return (bits >> 16).astype(self.np.uint16)

    def run(self, name, args, half):
        """The arrays after the call; f32 arrays travel as bf16 where `half` has their index."""
        np = self.np
        arrays = {i: np.array(self.bf16(a) if i in half else a, order="C") for i, a in enumerate(args) if isinstance(a, np.ndarray)}
        c = []
        for i, a in enumerate(args):
            if i in arrays: c.append(ctypes.c_void_p(arrays[i].ctypes.data))
            elif isinstance(a, float): c.append(ctypes.c_float(a))
            elif isinstance(a, np.uint64): c.append(ctypes.c_uint64(int(a)))
            else: c.append(ctypes.c_int64(a))
        lib = next(lib for lib in self.libs if hasattr(lib, name + "_ws"))
        fn, size = getattr(lib, name + "_ws"), getattr(lib, name + "_workspace")
        size.restype = ctypes.c_size_t
        need = size(*[v for v in c if isinstance(v, (ctypes.c_int64, ctypes.c_uint64))])
        space = np.zeros(need + 256, np.uint8)
        at = space.ctypes.data + 255 & -256
        status = fn(*c, ctypes.c_void_p(at), ctypes.c_size_t(need), None)
        check(status == 0, "%s: status %d" % (name, status))
        return {i: (a.astype(np.uint32) << 16).view(np.float32) if i in half else a for i, a in arrays.items()}


def dimensions(args):
    """The extents, which are last."""
    count = 0
    while count < len(args) and type(args[-1 - count]) is int: count += 1
    return args[len(args) - count:]


def values():
    import numpy as np
    random = np.random.default_rng(1)

    def normal(*shape):
        return random.standard_normal(shape, np.float32)

    def halves(*shape):
        return (random.standard_normal(shape, np.float32).view(np.uint32) & 0xffff0000).view(np.float32)

    with tmpdir() as tmp:
        calls = Calls(np, tmp)
        named = set()

        def case(name, args, want, half=(), tol=1e-6):
            """want: index of an output -> its value; tol: of the greatest magnitude, 0 for equal."""
            named.add(name)
            got = calls.run(name, args, half)
            for i, w in want.items():
                w = np.asarray(w, np.float64).reshape(got[i].shape)
                g = got[i].astype(np.float64)
                error = np.abs(g - w).max() / max(np.abs(w).max(), 1e-300)
                check(error <= tol, "%s %s: output %d: %.2e off" % (name, dimensions(args), i, error))

        elementwise(np, case, normal, halves)
        reductions(np, case, normal, random)
        rows(np, case, normal, halves, random)
        norms(np, case, normal, halves)
        moving(np, case, normal, halves, random)
        stencils(np, case, normal)
        there = {n for s in SOURCES for n in re.findall(r"^int (\w+)_ws\(", read(os.path.join(tmp, s + ".h")), re.M)}
        check(there and there == named, "without a case: %s; not there: %s" % (sorted(there - named), sorted(named - there)))


def elementwise(np, case, normal, halves):
    from math import erf
    n = 5003
    x, y = normal(n), normal(n)
    case("add_f32", [x, y, normal(n), n], {2: x + y}, tol=0)
    case("saxpy", [0.5, x, y, n], {2: np.float32(0.5) * x + y})
    u, v = halves(n), halves(n)
    case("swiglu_bf16", [u, v, halves(n), n], {2: u / (1 + np.exp(-u.astype(float))) * v}, (0, 1, 2), 4e-3)
    case("gelu_bf16", [u, halves(n), n], {1: u * (1 + np.vectorize(erf)(u / 2 ** .5)) / 2}, (0, 1), 4e-3)
    r, c = 3, 2500
    a, b, s = halves(r, c), halves(c), halves(r, c)
    case("bias_bf16", [a, b, s, halves(r, c), r, c], {3: a + b + s}, (0, 1, 2, 3), 4e-3)
    seed, p = 0x123456789, 0.25
    keep = np.array([philox(seed, i) for i in range(n)]) >= p
    case("dropout", [x, normal(n), p, np.uint64(seed), n], {1: np.where(keep, x / (1 - p), 0)})


def philox(seed, offset):
    """Word offset mod 4 of block offset / 4 of Philox4x32-10 (Salmon et al. 2011), as a fraction of 24 bits."""
    low = 0xffffffff
    k0, k1, c = seed & low, seed >> 32, [offset >> 2 & low, offset >> 34, 0, 0]
    for _ in range(10):
        p, q = 0xd2511f53 * c[0], 0xcd9e8d57 * c[2]
        c = [q >> 32 ^ c[1] ^ k0, q & low, p >> 32 ^ c[3] ^ k1, p & low]
        k0, k1 = k0 + 0x9e3779b9 & low, k1 + 0xbb67ae85 & low
    return (c[offset & 3] >> 8) * 2.0 ** -24


def reductions(np, case, normal, random):
    for kind, r, c in (("rows", 5, 9001), ("cols", 701, 301), ("long", 3, 20011)):
        axis = 0 if kind == "cols" else 1
        x = normal(r, c)
        out = normal(c if axis == 0 else r)
        for op, want in (("sum", x.sum(axis, np.float64)), ("mean", x.mean(axis, np.float64)), ("max", x.max(axis))):
            case("%s_%s" % (op, kind), [x, out, r, c], {1: want}, tol=0 if op == "max" else 1e-5)
    x = random.integers(-128, 128, (3, 20011), np.int8)
    case("sum_int8", [x, np.zeros(3, np.int32), 3, 20011], {1: x.sum(1, np.int64)}, tol=0)


def rows(np, case, normal, halves, random):
    for name, make, half, tol in (("f32", normal, (), 1e-6), ("bf16", halves, (0, 1), 4e-3)):
        for c in (17, 1025, 5000):
            x = make(4, c)
            e = np.exp(x.astype(float) - x.max(1, keepdims=True))
            p = e / e.sum(1, keepdims=True)
            for entry in "softmax_", "softmax_long_":
                case(entry + name, [x, make(4, c), 4, c], {1: p}, half, tol)
            target = random.integers(0, c, 4, np.int32)
            hit = np.arange(c) == target[:, None]
            loss = np.log(e.sum(1)) + x.max(1) - x[hit]
            case("cross_entropy_" + name, [x, target, normal(4), 0.5, 4, c], {0: (p - hit) * 0.5, 2: loss}, half and (0,), tol)
            case("cumsum_" + name, [x, make(4, c), 4, c], {1: x.cumsum(1, np.float64)}, half, max(tol, 1e-5))
    for r, c in ((3, 70001), (1, 8192), (2, 300007)):
        x = normal(r, c)
        case("cumsum_long", [x, normal(r, c), r, c], {1: x.cumsum(1, np.float64)}, tol=1e-5)
    x = np.round(normal(7, 5000) * 2)
    x[3, 4000] = x[3, 77] = x[5, 4999] = np.nan
    first = [np.flatnonzero(np.isnan(v))[0] if np.isnan(v).any() else v.argmax() for v in x]
    case("argmax_f32", [x, np.zeros(7, np.int32), 7, 5000], {1: first}, tol=0)


def norms(np, case, normal, halves):
    def scaled(x):
        return x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5)

    def mean(x):
        return x.mean(1, keepdims=True)

    for name, make, half, tol in (("f32", normal, False, 1e-5), ("bf16", halves, True, 5e-3)):
        for c in (17, 1025, 5000):
            x, w, b, s = make(4, c), make(c), make(c), make(4, c)
            v = x.astype(float)
            case("rmsnorm_" + name, [x, w, make(4, c), 1e-5, 4, c], {2: scaled(v) * w}, (0, 1, 2) if half else (), tol)
            case("layernorm_" + name, [x, w, b, make(4, c), 1e-5, 4, c], {3: scaled(v - mean(v)) * w + b}, (0, 1, 2, 3) if half else (), tol)
            if half:
                case("rmsnorm_long_bf16", [x, w, make(4, c), 1e-5, 4, c], {2: scaled(v) * w}, (0, 1, 2), tol)
                case("layernorm_long_bf16", [x, w, b, make(4, c), 1e-5, 4, c], {3: scaled(v - mean(v)) * w + b}, (0, 1, 2, 3), tol)
                case("add_rmsnorm_bf16", [x, s, w, make(4, c), 1e-5, 4, c], {1: x + s, 3: scaled(v + s) * w}, (0, 1, 2, 3), 1e-2)
    for r, c in ((300, 1001), (3, 5000)):
        x, w, dy = halves(r, c), halves(c), halves(r, c)
        v, d = x.astype(float), dy.astype(float)
        for centred in (False, True):
            m = normal(r) if centred else np.zeros(r)
            k = 1 + 0.1 * normal(r)
            n, g = (v - m[:, None]) * k[:, None], d * w
            dx = (g - (mean(g) if centred else 0) - n * mean(g * n)) * k[:, None]
            if centred:
                case("layernorm_backward", [x, w, dy, m, k, halves(r, c), halves(c), halves(c), r, c], {5: dx, 6: (d * n).sum(0), 7: d.sum(0)},
                     (0, 1, 2, 5, 6, 7), 5e-3)
            else:
                case("rmsnorm_backward", [x, w, dy, k, halves(r, c), halves(c), r, c], {4: dx, 5: (d * n).sum(0)}, (0, 1, 2, 4, 5), 5e-3)


def moving(np, case, normal, halves, random):
    m, n = 133, 301
    x = normal(m, n)
    case("transpose_f32", [x, normal(n, m), m, n], {1: x.T}, tol=0)
    h = halves(m, n)
    case("transpose_bf16", [h, halves(n, m), m, n], {1: h.T}, (0, 1), 0)
    i = random.integers(-128, 128, (m, n), np.int8)
    case("transpose_i8", [i, np.zeros((n, m), np.int8), m, n], {1: i.T}, tol=0)
    x = halves(3, 21, 7, 33)
    case("permute_bf16", [x, halves(3, 7, 21, 33), 3, 21, 7, 33], {1: x.transpose(0, 2, 1, 3)}, (0, 1), 0)
    for c in (33, 1000):
        table, at = halves(50, c), random.integers(0, 50, 90, np.int32)
        case("embedding_bf16", [table, at, halves(90, c), 50, c, 90], {2: table[at]}, (0, 2), 0)
    k, v, kc, vc = halves(9, 1500), halves(9, 1500), halves(40, 1500), halves(40, 1500)
    slot = random.permutation(40)[:9].astype(np.int32)
    kw, vw = kc.copy(), vc.copy()
    kw[slot], vw[slot] = k, v
    case("append", [k, v, slot, kc, vc, 9, 1500, 40], {3: kw, 4: vw}, (0, 1, 3, 4), 0)
    x, at = halves(11, 19, 2, 33), random.integers(0, 50, 11, np.int32)
    angle = normal(50, 33)
    c, s = np.cos(angle)[at][:, None], np.sin(angle)[at][:, None]
    a, b = x[:, :, 0], x[:, :, 1]
    case("rope", [x, at, np.cos(angle), np.sin(angle), 11, 19, 33, 50], {0: np.stack([a * c - b * s, b * c + a * s], 2)}, (0,), 4e-3)


def stencils(np, case, normal):
    h, w = 37, 521
    x = normal(h, w)
    for name, weights in (("blur3", (1, 2, 1)), ("blur3_separable", (1, 2, 1)), ("blur5_separable", (1, 4, 6, 4, 1))):
        k = np.array(weights) / sum(weights)
        half = len(k) // 2
        p = np.pad(x.astype(float), half)
        want = sum(k[i] * k[j] * p[i:i + h, j:j + w] for i in range(len(k)) for j in range(len(k)))
        case(name, [x, normal(h, w), h, w], {1: want})
    d, h, w = 9, 13, 203
    x = normal(d, h, w)
    p = np.pad(x.astype(float), 1)
    near = p[:-2, 1:-1, 1:-1] + p[2:, 1:-1, 1:-1] + p[1:-1, :-2, 1:-1] + p[1:-1, 2:, 1:-1] + p[1:-1, 1:-1, :-2] + p[1:-1, 1:-1, 2:]
    case("laplace", [x, normal(d, h, w), d, h, w], {1: near - 6 * x})


if sys.argv[1:] == ["cuda"]:
    cuda()
else:
    check_lengths(FOLDER)
    values()
finish()
