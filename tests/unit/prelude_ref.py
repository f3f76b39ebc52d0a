#!/usr/bin/env python3
"""Checks the functions that emitted code calls.

prelude_ref.py values [scale]   the C text against exact arithmetic, compiled plainly, for this machine, and with UBSan
prelude_ref.py math             the mathematical functions of f32 in the CUDA text, and quotients, on the host: tests/cuda/prelude_math.c
prelude_ref.py clean            the C text under gcc and clang with all warnings as errors
prelude_ref.py nvcc             the CUDA text for every architecture, no warnings; nvcc's flags change no instruction
prelude_ref.py gpu [folder]     test_prelude_cuda.cu under four sets of flags, on a GPU. With a folder: programs that lie there
                                are run as they are, others are built into it, so that a machine without nvcc can run them

The reference is independent: numbers are exact, n 2^k as a pair of integers (n, k), formats are decoded and rounded bit by
bit. scale multiplies the number of random cases. CC, NVCC: compilers; 77 is returned where what is needed is not there."""
import ctypes, math, os, random, re, shutil, struct, subprocess, sys, tempfile
from functools import lru_cache

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CC = os.environ.get("CC") or "cc"
BUILD = os.environ.get("BUILD") or os.path.join(ROOT, "build")
text, lib, scale = "", None, 1.0
rng = random.Random(20240607)
failures, checks = 0, 0

# ---- formats ----
FLOATS = {  # name: exponent bits, fraction bits, width, least bit of the container
    "f8e4m3": (4, 3, 8), "f8e5m2": (5, 2, 8), "f16": (5, 10, 16), "bf16": (8, 7, 16),
    "tf32": (8, 10, 32), "f32": (8, 23, 32), "f64": (11, 52, 64)}
INTS = {"bool": (0, 1), "i8": (-2**7, 2**7 - 1), "i16": (-2**15, 2**15 - 1), "i32": (-2**31, 2**31 - 1),
    "i64": (-2**63, 2**63 - 1), "u8": (0, 2**8 - 1), "u16": (0, 2**16 - 1), "u32": (0, 2**32 - 1), "u64": (0, 2**64 - 1)}
C = {"uint8_t": ctypes.c_uint8, "int8_t": ctypes.c_int8, "uint16_t": ctypes.c_uint16, "int16_t": ctypes.c_int16,
    "uint32_t": ctypes.c_uint32, "int32_t": ctypes.c_int32, "uint64_t": ctypes.c_uint64, "int64_t": ctypes.c_int64,
    "float": ctypes.c_uint32, "double": ctypes.c_uint64, "int": ctypes.c_int}
INF, NAN = "inf", "nan"

class Fn:
    """One function of the library. float and double travel as bits, through a second, generated entry."""
    def __init__(self, name, result, args):
        self.name, self.result, self.args = name, result, args
        f = getattr(lib, "x_" + name)
        f.restype, f.argtypes = C[result], [C[a] for a in args]
        self.f = f
    def __call__(self, *a):
        return self.f(*a)

fns = {}
def open_library(path):
    global lib
    lib = ctypes.CDLL(path)
    fns.clear()
    for m in re.finditer(r"^CT_FN (\w+) (ct_\w+)\(([^)*]*)\)", text, re.M):
        args = [a.split()[0] for a in m.group(3).split(",")]
        if m.group(1) in C and all(a in C for a in args) and hasattr(lib, "x_" + m.group(2)):
            fns[m.group(2)] = Fn(m.group(2), m.group(1), args)

@lru_cache(None)
def shape(t):
    e, m, w = FLOATS[t]
    pad = 13 if t == "tf32" else 0
    return e, m, w, pad, (1 << (e - 1)) - 1

def decode(t, bits):
    """(sign, value): value a pair (n, k) for n 2^k, n >= 0, or INF or NAN"""
    e, m, w, pad, bias = shape(t)
    s, bits = bits >> (w - 1), (bits & ((1 << (w - 1)) - 1)) >> pad
    x, f = bits >> m, bits & ((1 << m) - 1)
    if t == "f8e4m3":
        if bits == 0x7f: return s, NAN
    elif x == (1 << e) - 1:
        return s, NAN if f else INF
    if x == 0: return s, (f, 1 - bias - m)
    return s, (f + (1 << m), x - bias - m)

def top_code(t):
    e, m, w, pad, bias = shape(t)
    return 0x7e if t == "f8e4m3" else (((1 << e) - 1) << m) - 1

ZERO = (0, 0)
def log2floor(v): return v[0].bit_length() - 1 + v[1]
def plus(x, y):
    k = min(x[1], y[1])
    return (x[0] << (x[1] - k)) + (y[0] << (y[1] - k)), k
def times(x, y): return x[0] * y[0], x[1] + y[1]
def whole(v): return v[0] << v[1] if v[1] >= 0 else v[0] >> -v[1]

def encode(t, s, v, mode="", over="", source_inf=False):
    """bits of the rounded value; mode "", _rz, _rm, _rp; over: what an overflow gives, "" for the type's default"""
    e, m, w, pad, bias = shape(t)
    sign = s << (w - 1)
    eight, named = w == 8, over != ""
    over = over or ("_sat" if eight else "_inf")
    nan = {"f8e4m3": 0x7f, "f8e5m2": 0x7f}.get(t, ((1 << e) - 1) << m | 1 << (m - 1))
    if v == NAN: return nan << pad
    top = top_code(t)
    up = (mode == "_rm" and s) or (mode == "_rp" and not s)
    if v == INF: code, infinite = top + 1, True
    else:
        k = max(log2floor(v), 1 - bias) if v[0] else 1 - bias
        below = k - m - v[1]                # bits of v after the last one of the result
        n = v[0] >> below if below > 0 else v[0] << -below
        r, half = v[0] - (n << below) if below > 0 else 0, 1 << below >> 1 if below > 0 else 1
        if mode == "":
            if r > half or (r == half and (n & 1 or t == "tf32")): n += 1
        elif up and r: n += 1
        code = n + ((k - 1 + bias) << m) if n >= 1 << m else n
        infinite = code > top
        if infinite: code = top + 1 if named or mode == "" or up else top        # a named overflow is one in every mode
    if code > top or (infinite and over == "_sat"):
        if over == "_sat": code = top
        elif over == "_nan": return nan << pad
        else: code = top + 1
    return sign | code << pad

def is_nan(t, bits): return decode(t, bits)[1] == NAN

def check(name, got, want, *info):
    global failures, checks
    checks += 1
    if got != want:
        failures += 1
        if failures <= 40: print("FAIL", name, [hex(x) if isinstance(x, int) else x for x in info], "got",
            hex(got) if isinstance(got, int) else got, "want", hex(want) if isinstance(want, int) else want)

def check_float(t, name, got, want, *info):
    if got != want and is_nan(t, got) and is_nan(t, want): check(name, 0, 0)
    else: check(name, got, want, *info)

# ---- operands ----
def interesting(t):
    e, m, w, pad, bias = shape(t)
    top = top_code(t)
    base = [0, 1, 2, (1 << m) - 1, 1 << m, (1 << m) + 1, top, top - 1, bias << m, (bias << m) + 1, (bias << m) - 1,
        (bias + 1) << m, (bias - 1) << m, (bias + m) << m, (bias + m + 1) << m | 1]
    if t != "f8e4m3": base += [top + 1, top + 1 | 1 << (m - 1)]
    else: base += [0x7f]
    return [(x << pad) & ((1 << (w - 1)) - 1) | s << (w - 1) for x in base for s in (0, 1)]

def random_float(t, near=None):
    e, m, w, pad, bias = shape(t)
    x = rng.getrandbits(w - pad)
    if rng.random() < 0.5: x &= ~((1 << rng.randrange(m + 1)) - 1)
    if near is not None and rng.random() < 0.6:
        ne = (near >> (m + pad) & ((1 << e) - 1)) + rng.randrange(-m - 3, m + 4)
        ne = min(max(ne, 0), (1 << e) - 2)
        x = x & ((1 << m) - 1) | ne << m | (x >> (w - pad - 1)) << (w - pad - 1)
    return x << pad & ((1 << w) - 1)

def near_midpoints(src, dst, n):
    """values of src close to values of dst and to the middles between them"""
    out = []
    es, ms, ws, ps, bs = shape(src)
    for _ in range(n):
        s, v = decode(dst, random_float(dst))
        if v in (INF, NAN): continue
        k = max(log2floor(v), 1 - shape(dst)[4]) if v[0] else 1 - shape(dst)[4]
        bits = encode(src, s, plus(v, (rng.choice([0, 1, 1, 2]), k - shape(dst)[1] - 1)))
        out.append((bits + rng.choice([-1, 0, 0, 1]) * (1 << ps)) & ((1 << ws) - 1))
    return out

def ints_for(src, n):
    lo, hi = INTS[src]
    out = [x for k in range(0, 65) for d in (-2, -1, 0, 1, 2) for x in ((1 << k) + d, -(1 << k) + d) if lo <= x <= hi]
    for _ in range(n):
        k = rng.randrange(1, 65)
        x = rng.getrandbits(k)
        if rng.random() < .6 and k > 13:   # few leading digits, then a middle, then one more or less
            x = (x >> (k - rng.choice([3, 4, 8, 9, 11, 12]))) << (k - 12) | rng.choice([0, 1]) | rng.choice([0, 1]) << (k - 13)
        x = rng.choice([x, -x])
        if lo <= x <= hi: out.append(x)
    return out

def values(src, dst, n):
    if src in INTS: return ints_for(src, n)
    out = interesting(src) + [random_float(src) for _ in range(n)]
    if dst in FLOATS: out += near_midpoints(src, dst, n)
    else:
        lo, hi = INTS[dst]
        for x in ints_for("i64", n // 2) + ints_for("u64", n // 2) + [lo, hi, lo - 1, hi + 1]:
            n = 4 * x + rng.choice([0, 1, -1, 3, 2])
            out.append(encode(src, int(n < 0), (abs(n), -2)))
    return out

def signed(t, bits):
    lo, hi = INTS[t]
    bits &= hi - lo
    return bits - (hi - lo + 1) if bits > hi else bits

# ---- conversions ----
@lru_cache(None)            # the builds are compared with one reference
def want_cvt(dst, src, mode, over, x):
    if dst == src and not (over and dst in FLOATS): return x
    if src in INTS: s, v = int(x < 0), (abs(x), 0)
    else: s, v = decode(src, x)
    if dst == "bool": return int(v in (INF, NAN) or v[0] != 0)
    if dst in FLOATS: return encode(dst, s, v, mode, over)
    lo, hi = INTS[dst]
    if over == "_wrap" or (over == "" and src in INTS):
        if v in (INF, NAN): return 0
        n = whole(v)
        return signed(dst, -n if s else n)
    if v == NAN: return 0
    if v == INF: return lo if s else hi
    n = whole(v)
    return min(max(-n if s else n, lo), hi)

def test_conversions():
    rows = 0
    for name, f in fns.items():
        m = re.fullmatch(r"ct_cvt_([a-z0-9]+)_([a-z0-9]+?)((?:_r[zmp])?)((?:_(?:sat|inf|nan|wrap))?)", name)
        if not m: continue
        dst, src, mode, over = m.groups()
        rows += 1
        n = int((60 if mode or over else 200) * scale) + 1
        every = src in FLOATS and FLOATS[src][2] <= 16 and (FLOATS[src][2] == 8 or (not mode and not over))
        xs = range(1 << FLOATS[src][2]) if every else range(INTS[src][0], INTS[src][1] + 1) if src in ("i8", "u8", "bool") \
            else values(src, dst, n)
        if every and FLOATS[src][2] == 16 and scale < 1: xs = range(0, 1 << 16, 7)
        for x in xs:
            got, want = f(x), want_cvt(dst, src, mode, over, x)
            if dst in FLOATS: check_float(dst, name, got, want, x)
            else: check(name, got, want, x)
    check("number of conversions", rows > 700, True, rows)
    # NaN has one form in the small types
    for t, x in (("f16", 0x7fff), ("bf16", 0x7fff), ("f8e4m3", 0x7f), ("f8e5m2", 0x7f)):
        check("nan of " + t, fns["ct_cvt_%s_f32" % t](0xffc00001), x)

# ---- arithmetic ----
def root(v):
    """sqrt of v to more than 300 bits, and a sticky one below"""
    n, k = v[0] << 600 + v[1] % 2, v[1] - v[1] % 2 - 600
    r = math.isqrt(n)
    return r << 1 | (r * r != n), k // 2 - 1

def quotient(x, y):
    """x / y to 200 bits or more, and a sticky one below"""
    shift = 200 + y[0].bit_length()
    q, r = divmod(x[0] << shift, y[0])
    return q << 1 | (r != 0), x[1] - y[1] - shift - 1

def exact(op, t, a, mode):
    """bits of op on the bits a in format t"""
    d = [decode(t, x) for x in a]
    if any(v == NAN for s, v in d): return encode(t, 0, NAN)
    zero = 1 if mode == "_rm" else 0
    def signed_sum(x, y):      # (sign, value) each, values finite
        n, k = plus(*((-v[0] if s else v[0], v[1]) for s, v in (x, y)))
        if n == 0: return encode(t, x[0] if x[0] == y[0] else zero, ZERO)
        return encode(t, int(n < 0), (abs(n), k), mode)
    def product(x, y):
        s, x, y = x[0] ^ y[0], x[1], y[1]
        if INF in (x, y): return s, NAN if 0 in (x[0], y[0]) else INF
        return s, times(x, y)
    if op == "sub": d[1] = (1 - d[1][0], d[1][1]); op = "add"
    if op == "fma":
        p = product(d[0], d[1])
        if p[1] == NAN: return encode(t, 0, NAN)
        d, op = [p, d[2]], "add"
    if op == "add":
        if d[0][1] == INF or d[1][1] == INF:
            if d[0][1] == d[1][1] and d[0][0] != d[1][0]: return encode(t, 0, NAN)
            return encode(t, d[0][0] if d[0][1] == INF else d[1][0], INF)
        return signed_sum(d[0], d[1])
    if op == "mul":
        s, v = product(d[0], d[1])
        return encode(t, s, v, mode)
    if op == "div":
        s = d[0][0] ^ d[1][0]
        x, y = d[0][1], d[1][1]
        if (x == INF and y == INF) or (x[0] == 0 and y[0] == 0): return encode(t, 0, NAN)
        if x == INF or y[0] == 0: return encode(t, s, INF)
        return encode(t, s, ZERO if y == INF else quotient(x, y), mode)
    if op == "sqrt":
        s, v = d[0]
        if v[0] == 0: return encode(t, s, v)
        if s: return encode(t, 0, NAN)
        return encode(t, 0, v if v == INF else root(v), mode)
    raise ValueError(op)

def flush(bits): return bits & 0x80000000 if not bits & 0x7f800000 else bits

def operands(t, arity, n, op):
    special = interesting(t)
    for _ in range(n):
        a = [rng.choice(special) if rng.random() < .15 else random_float(t)]
        for _ in range(arity - 1): a.append(rng.choice(special) if rng.random() < .15 else random_float(t, a[0]))
        e, m, w, pad, bias = shape(t)
        kind = rng.random()
        if op == "fma" and kind < .5:      # c near -a b: cancellation, and results next to midpoints
            (s0, v0), (s1, v1) = decode(t, a[0]), decode(t, a[1])
            if v0 not in (INF, NAN) and v1 not in (INF, NAN):
                c = encode(t, s0 ^ s1 ^ 1, times(times(v0, v1), (1, rng.choice([0, 0, m, m + 1, -m, -m - 1, m + 2, 200]))))
                a[2] = (c + rng.randrange(-2, 3)) & ((1 << w) - 1)
        elif op in ("mul", "div") and kind < .4:    # results around the least normal number
            x = a[0] >> m & ((1 << e) - 1)
            y = (bias + 1 - x if op == "mul" else x + bias - 1) + rng.randrange(-m - 2, 3)
            a[1] = a[1] & ~(((1 << e) - 1) << m) | min(max(y, 0), (1 << e) - 2) << m
        yield a

def test_arithmetic():
    arity = {"add": 2, "sub": 2, "mul": 2, "div": 2, "sqrt": 1, "fma": 3}
    for t in ("f32", "f64", "f16", "bf16"):
        for op, k in arity.items():
            for mode in ("", "_rz", "_rm", "_rp"):
                f = fns["ct_%s_%s%s" % (op, t, mode)]
                fz = fns.get("ct_%s_%s%s_ftz" % (op, t, mode))
                for a in operands(t, k, int(700 * scale) + 1, op):
                    check_float(t, f.name, f(*a), exact(op, t, a, mode), *a)
                    if fz: check_float(t, fz.name, fz(*a), flush(exact(op, t, [flush(x) for x in a], mode)), *a)
        # one operand through every value where that is possible
        if FLOATS[t][2] == 16:
            for mode in ("", "_rz", "_rm", "_rp"):
                f = fns["ct_sqrt_%s%s" % (t, mode)]
                for x in range(0, 1 << 16, 1 if scale >= 1 else 5): check_float(t, f.name, f(x), exact("sqrt", t, [x], mode), x)

def key(t, x):
    s, v = decode(t, x)
    v = 1 << 20000 if v == INF else v[0] << v[1] + 1100      # no format has bits below 2^-1100
    return (-v if s else v), 1 - s

def test_compare():
    ops = {"eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
        "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y}
    for t in ("f32", "f64", "f16", "bf16"):
        w = FLOATS[t][2]
        pairs = [(a, b) for a in interesting(t) for b in interesting(t)] + [(x, random_float(t, x)) for x in (random_float(t) for _ in range(int(300 * scale)))]
        for a, b in pairs:
            an, bn = is_nan(t, a), is_nan(t, b)
            for op, py in ops.items():
                want = int(op == "ne") if an or bn else int(py(key(t, a)[0], key(t, b)[0]))
                check("ct_%s_%s" % (op, t), fns["ct_%s_%s" % (op, t)](a, b), want, a, b)
            for op, pick in (("min", min), ("max", max)):
                want = b if an else a if bn else pick((a, b), key=lambda x: key(t, x))
                check_float(t, "ct_%s_%s" % (op, t), fns["ct_%s_%s" % (op, t)](a, b), want, a, b)
                wantn = encode(t, 0, NAN) if an or bn else want
                check_float(t, "ct_%s_%s_nan" % (op, t), fns["ct_%s_%s_nan" % (op, t)](a, b), wantn, a, b)
                if t == "f32":
                    c, d = flush(a), flush(b)
                    w2 = d if an else c if bn else pick((c, d), key=lambda x: key(t, x))
                    check_float(t, "ct_%s_f32_ftz" % op, fns["ct_%s_f32_ftz" % op](a, b), w2, a, b)
            check("copysign", fns["ct_copysign_" + t](a, b), a & ~(1 << (w - 1)) | b & 1 << (w - 1), a, b)
    for t in FLOATS:
        w = FLOATS[t][2]
        for x in (range(1 << w) if w <= 16 else interesting(t) + [random_float(t) for _ in range(300)]):
            s, v = decode(t, x)
            check("isnan " + t, fns["ct_isnan_" + t](x), int(v == NAN), x)
            check("isinf " + t, fns["ct_isinf_" + t](x), int(v == INF), x)
            check("isfinite " + t, fns["ct_isfinite_" + t](x), int(v not in (INF, NAN)), x)
            check("signbit " + t, fns["ct_signbit_" + t](x), s, x)

def test_integers():
    def quo(a, b): return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    for t, (lo, hi) in INTS.items():
        if t == "bool": continue
        w = (hi - lo).bit_length()
        u = hi - lo
        wrap = lambda x: signed(t, x)
        clip = lambda x: min(max(x, lo), hi)
        two = {
            "add": lambda a, b: wrap(a + b), "sub": lambda a, b: wrap(a - b), "mul": lambda a, b: wrap(a * b),
            "div": lambda a, b: wrap(quo(a, b)), "remainder": lambda a, b: 0 if b == 0 else a - b * quo(a, b),
            "floordiv": lambda a, b: wrap(a // b) if b else 0, "ceildiv": lambda a, b: wrap(-(-a // b)) if b else 0,
            "floormod": lambda a, b: a % b if b else 0, "min": min, "max": max,
            "bitand": lambda a, b: a & b, "bitor": lambda a, b: a | b, "bitxor": lambda a, b: a ^ b,
            "shl": lambda a, b: wrap(a << (b % w)), "shr": lambda a, b: a >> (b % w),
            "mulhi": lambda a, b: wrap((a & u) * (b & u) >> w),
            "mulhi_signed": lambda a, b: wrap(sg(a) * sg(b) >> w),
            "add_sat": lambda a, b: clip(a + b), "sub_sat": lambda a, b: clip(a - b),
            "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
            "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
        sg = lambda x: (x & u) - (u + 1) if (x & u) >> (w - 1) else x & u
        one = {
            "neg": lambda a: wrap(-a), "abs": lambda a: wrap(abs(a)), "bitnot": lambda a: wrap(~a),
            "popcount": lambda a: bin(a & u).count("1"), "clz": lambda a: w - (a & u).bit_length(),
            "ctz": lambda a: w if a == 0 else (a & -a).bit_length() - 1,
            "bitreverse": lambda a: wrap(int(bin((a & u) | 1 << w)[3:][::-1], 2))}
        xs = ints_for(t, int(200 * scale)) + [lo, hi, 0, 1]
        pairs = [(rng.choice(xs), rng.choice(xs)) for _ in range(int(1500 * scale))] + [(lo, -1 if lo else 1), (lo, lo), (hi, hi), (hi, 0), (lo, 0)]
        if w == 8 and scale >= 1: pairs = [(a, b) for a in range(lo, hi + 1) for b in range(lo, hi + 1)]
        for op, py in two.items():
            f = fns["ct_%s_%s" % (op, t)]
            for a, b in pairs: check(f.name, f(a, b), int(py(a, b)), a, b)
        for op, py in one.items():
            f = fns["ct_%s_%s" % (op, t)]
            for a in xs: check(f.name, f(a), py(a), a)

def test_bits():
    for name, f in fns.items():
        m = re.fullmatch(r"ct_bits_([a-z0-9]+)_([a-z0-9]+)", name)
        if not m: continue
        dst, src = m.groups()
        w = FLOATS[dst][2] if dst in FLOATS else 8 if dst == "bool" else (INTS[dst][1] - INTS[dst][0]).bit_length()
        for _ in range(50):
            x = rng.getrandbits(1 if src == "bool" else w)
            if src == "tf32": x &= ~0x1fff
            arg = signed(src, x) if src in INTS else x
            want = x & ~0x1fff if dst == "tf32" else int(x != 0) if dst == "bool" else x
            check(name, f(arg) & ((1 << w) - 1), want, x)

# ---- mathematics: against Python's double functions, in units of the last place of the f32 result ----
def to_float(bits): return struct.unpack("<f", struct.pack("<I", bits))[0]
def ulps(got, want):
    if math.isnan(want) or math.isnan(got): return 0 if math.isnan(want) == math.isnan(got) else 1e9
    if math.isinf(want) or abs(want) >= 2.0 ** 128: return 0 if math.isinf(got) or abs(got) > 3.4e38 else 1e9
    if math.isinf(got): return 0 if abs(want) > 3.402823e38 else 1e9
    unit = 2.0 ** max(math.frexp(want)[1] - 24, -149) if want else 2.0 ** -149
    return abs(got - want) / unit

def test_math():
    def guard(f):
        def g(*a):
            try: return f(*a)
            except OverflowError: return math.inf
            except (ValueError, ZeroDivisionError): return math.nan
        return g
    def log_like(f): return lambda x: -math.inf if x == 0 else f(x)
    one = {"exp": (math.exp, 2), "exp2": (lambda x: 2.0 ** x, 2), "log": (log_like(math.log), 2), "log2": (log_like(math.log2), 2),
        "log10": (log_like(math.log10), 2.5), "log1p": (lambda x: -math.inf if x == -1 else math.log1p(x), 2), "expm1": (math.expm1, 2),
        "sin": (math.sin, 2), "cos": (math.cos, 2), "tan": (math.tan, 2), "asin": (math.asin, 2), "acos": (math.acos, 2),
        "atan": (math.atan, 2), "cosh": (math.cosh, 2.5), "tanh": (math.tanh, 2.5), "erf": (math.erf, 2), "erfc": (math.erfc, 4),
        "sqrt": (math.sqrt, .5001), "rsqrt": (lambda x: math.inf if x == 0 else 1 / math.sqrt(x), 1.6),
        "cbrt": (lambda x: math.copysign(abs(x) ** (1 / 3), x), 1.5),
        "ceil": (lambda x: x if math.isinf(x) or math.isnan(x) else math.ceil(x), 0), "floor": (lambda x: x if math.isinf(x) or math.isnan(x) else math.floor(x), 0),
        "trunc": (lambda x: x if math.isinf(x) or math.isnan(x) else math.trunc(x), 0), "rint": (lambda x: x if math.isinf(x) or math.isnan(x) else round(x), 0),
        "round": (lambda x: x if math.isinf(x) or math.isnan(x) else math.copysign(math.floor(abs(x) + .5), x), 0)}
    worst = {}
    xs = interesting("f32") + [random_float("f32") for _ in range(int(400 * scale))]
    xs += [struct.unpack("<I", struct.pack("<f", rng.uniform(-r, r)))[0] for r in (1, 1, 3, 10, 100) for _ in range(int(200 * scale))]
    for op, (py, bound) in one.items():
        f = fns["ct_%s_f32" % op]
        for x in xs:
            v = to_float(x)
            u = ulps(to_float(f(x)), guard(py)(v))
            worst[op] = max(worst.get(op, 0), u)
            check("%s within %s ulp" % (f.name, bound), u <= bound, True, x, v, to_float(f(x)), u)
    for op, py, bound in (("pow", lambda x, y: x ** y if isinstance(x ** y, float) else math.nan, 2), ("atan2", math.atan2, 2), ("hypot", math.hypot, 2), ("fmod", math.fmod, 0)):
        f = fns["ct_%s_f32" % op]
        for _ in range(int(500 * scale)):
            a, b = to_float(random_float("f32")), rng.uniform(-8, 8)
            x, y = (struct.unpack("<I", struct.pack("<f", v))[0] for v in (a, b))
            if math.isnan(a) or a == 0: continue
            u = ulps(to_float(f(x, y)), guard(py)(to_float(x), to_float(y)))
            check("%s within %s ulp" % (f.name, bound), u <= bound, True, x, y, u)
    return worst

# CUDA's own functions run on the host, too: their text over the C functions of the names that are one instruction there
CUDA_F64 = "round_f32 log_f64 log2_f64 log10_f64 log1p_f64 acos_f64 pow_f64".split()
CUDA_MATH1 = """exp log log2 log10 log1p expm1 sin cos tan asin acos atan sinh cosh tanh erf erfc cbrt""".split()
CUDA_MATH2 = "atan2 hypot pow".split()
HARDWARE = "exp2_f32_ftz rcp_f32_ftz rsqrt_f32_ftz lg2_f32 lg2_f32_ftz fma_f32_sat".split()        # in prelude_math.c
def cuda_function(cuda, name):
    """The comment that states the error, and the text, of ct_<name>"""
    head = r"(/\* [^*\n]* \*/\n)?^CT_(?:FN|CALL) [\w ]+ ct_%s\(" % name
    m = re.search(head + r"[^\n]*\n?\{[^\n]*\}\n", cuda, re.M) or re.search(head + r".*?\n\}\n", cuda, re.M | re.S)
    return (m.group(1) or "", m.group(0)) if m else ("", "")
def cuda_math_text(cuda, roots, given=()):
    """The roots and what they call, as cu_<name>; functions of one instruction stay calls of the C target's"""
    own, order = set(given), []
    def visit(name):
        text = cuda_function(cuda, name)[1]
        if name in own or not text or "asm(" in text or "__" in text: return
        own.add(name)
        for callee in re.findall(r"\bct_(\w+)\(", text[text.index("{"):]): visit(callee)
        order.append(text)
    for name in roots: visit(name)
    out = "".join(order)
    for name in own: out = re.sub(r"\bct_%s\b" % name, "cu_" + name, out)
    return out.replace("CT_CALL ", "static " if given else "").replace("CT_FN ", "static inline " if given else "")

def run_math(d):
    write = generator(d)
    write("c", "c.inc")
    cuda = open(write("cuda", "full.cu")).read()
    def bound(name): return re.search(r"at most (\d+) ulp", cuda_function(cuda, name + "_f32")[0]).group(1)
    with open(os.path.join(d, "cuda.inc"), "w") as f:
        f.write(cuda_math_text(cuda, [n + "_f32" for n in CUDA_MATH1 + CUDA_MATH2] + ["exp_f32_low", "quotient"], HARDWARE))
    with open(os.path.join(d, "rows.inc"), "w") as f:
        for k, names in ((1, CUDA_MATH1), (2, CUDA_MATH2)):
            for n in names: f.write("ROW%d(%s, %s)\n" % (k, n, bound(n)))
        f.write("ROW1(exp_low, %s)\n" % bound("exp"))
    out = os.path.join(d, "math")
    sh(CC, "-std=gnu11", "-O2", "-march=native", "-ffp-contract=off", "-w", "-I" + d, os.path.join(ROOT, "tests/cuda/prelude_math.c"), "-o", out, "-lm")
    r = subprocess.run([out])
    sys.exit(r.returncode != 0)

def test_cuda_math(path):
    so = ctypes.CDLL(path)
    def special(f, *a):
        try: return f(*a)
        except OverflowError: return math.inf
        except (ValueError, ZeroDivisionError): return math.nan
    edges = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, .5, -.5, 3.0, -3.0, math.inf, -math.inf, math.nan, 2.5, -2.5, 1e30, -1e30, 2.0 ** -140, -2.0 ** -140]
    def spread(n): return edges + [rng.uniform(-r, r) for r in (.4, 1, 1.4, 3, 30, 100, 40000) for _ in range(n)]
    to32 = lambda x: to_float(struct.unpack("<I", struct.pack("<f", x))[0])
    log = lambda f: lambda x: -math.inf if x == 0 else f(x)
    round_away = lambda x: x if not math.isfinite(x) else math.copysign(math.floor(abs(x) + .5), x)
    f = so.cu_round_f32
    f.restype, f.argtypes = ctypes.c_float, [ctypes.c_float]
    for x in map(to32, spread(int(800 * scale) + 50)):
        got, want = f(x), round_away(x)
        check("CUDA's round of f32", ulps(got, want) == 0 and (want != 0 or math.copysign(1, got) == math.copysign(1, want)), True, x, got, want)
    def ulps64(a, b):
        if math.isnan(b) or math.isinf(b) or math.isnan(a) or math.isinf(a): return 0 if a == b or (math.isnan(a) and math.isnan(b)) else 1e9
        return abs(a - b) / math.ulp(b)
    wide = edges + [1e300, -1e300, 5e-324, 1e-310, 2.0 ** 53, 2.0 ** 53 + 2, 1e17]
    for name, py in (("log", log(math.log)), ("log2", log(math.log2)), ("log10", log(math.log10)), ("log1p", lambda x: -math.inf if x == -1 else math.log1p(x)), ("acos", math.acos)):
        f = getattr(so, "cu_%s_f64" % name)
        f.restype, f.argtypes = ctypes.c_double, [ctypes.c_double]
        for x in wide + spread(int(800 * scale) + 50):
            u = ulps64(f(x), special(py, x))
            check("CUDA's %s of f64 within 3 ulp of libm" % name, u <= 3, True, x, u)
    f = so.cu_pow_f64
    f.restype, f.argtypes = ctypes.c_double, [ctypes.c_double] * 2
    def power(x, y):
        if x == 0 and y < 0: return math.copysign(math.inf, x) if y % 2 == 1 else math.inf
        if math.isfinite(x) and x < 0 and math.isfinite(y) and y != math.floor(y): return math.nan
        try: return math.pow(x, y)
        except OverflowError: return -math.inf if x < 0 and y % 2 == 1 else math.inf
    pairs = [(x, y) for x in wide for y in wide] + [(10 ** rng.uniform(-300, 300), rng.uniform(-1, 1)) for _ in range(1000)] + \
        [(1 + rng.uniform(-1e-3, 1e-3), rng.uniform(-5e5, 5e5)) for _ in range(1000)]
    for x, y in pairs:
        got, want = f(x, y), power(x, y)
        u = ulps64(got, want)
        check("CUDA's pow of f64 within 2 ulp of libm", u <= 2 and (want != 0 or math.copysign(1, got) == math.copysign(1, want)), True, x, y, got, want, u)

def test_random():
    class Out(ctypes.Structure): _fields_ = [("v", ctypes.c_uint32 * 4)]
    p = lib.ct_philox
    p.restype, p.argtypes = Out, [ctypes.c_uint64, ctypes.c_uint64]
    # known answers of Philox4x32-10 for key and counter 0; the others by the definition
    check("philox zero", list(p(0, 0).v), [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8])
    def philox(seed, off):
        k = [seed & 0xffffffff, seed >> 32]
        c = [off & 0xffffffff, off >> 32, 0, 0]
        for _ in range(10):
            a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(b >> 32) ^ c[1] ^ k[0], b & 0xffffffff, (a >> 32) ^ c[3] ^ k[1], a & 0xffffffff]
            k = [(k[0] + 0x9E3779B9) & 0xffffffff, (k[1] + 0xBB67AE85) & 0xffffffff]
        return c
    for _ in range(200):
        s, o = rng.getrandbits(64), rng.getrandbits(64)
        check("philox", list(p(s, o).v), philox(s, o), s, o)
        check("rand", to_float(fns["ct_rand_f32"](s, o)), (philox(s, o >> 2)[o & 3] >> 8) / 2.0 ** 24, s, o)
        for t in ("f16", "bf16"):
            v = decode(t, fns["ct_rand_" + t](s, o))[1]
            check("rand below 1", log2floor(v) < 0, True, s, o)
        check("randint", fns["ct_randint_u32"](s, o), philox(s, o >> 2)[o & 3])
    z = [to_float(fns["ct_randn_f32"](7, i)) for i in range(20000)]
    mean = sum(z) / len(z)
    check("randn mean", abs(mean) < .03, True, mean)
    var = sum(x * x for x in z) / len(z)
    check("randn variance", abs(var - 1) < .05, True, var)

def test_atomics():
    def call(name, ty, cell, *v):
        f = getattr(lib, name)
        f.restype = ty
        f.argtypes = [ctypes.POINTER(ty)] + [ty] * len(v)
        return f(ctypes.byref(cell), *v)
    for t, ty in (("i32", ctypes.c_int32), ("u32", ctypes.c_uint32), ("i64", ctypes.c_int64), ("u64", ctypes.c_uint64)):
        for order in ("relaxed", "acquire", "release", "acquire_release"):
            for scope in ("device", "block", "system"):
                for op, py in (("add", lambda a, b: a + b), ("sub", lambda a, b: a - b), ("min", min), ("max", max),
                        ("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b), ("xchg", lambda a, b: b)):
                    a, b = rng.choice(ints_for(t, 5)), rng.choice(ints_for(t, 5))
                    cell = ty(a)
                    name = "ct_atomic_%s_%s_%s_%s" % (op, t, order, scope)
                    check(name, call(name, ty, cell, b), a)
                    check(name, cell.value, signed(t, py(a, b)), a, b)
                cell = ty(5)
                name = "ct_atomic_cas_%s_%s_%s" % (t, order, scope)
                check(name, (call(name, ty, cell, 5, 9), cell.value, call(name, ty, cell, 5, 11), cell.value), (5, 9, 9, 9))
    for t, ty in (("f32", ctypes.c_float), ("f64", ctypes.c_double)):
        cell = ty(1.5)
        check("atomic add " + t, (call("ct_atomic_add_%s_relaxed_device" % t, ty, cell, 2.25), cell.value), (1.5, 3.75))
        check("atomic sub " + t, (call("ct_atomic_sub_%s_acquire_block" % t, ty, cell, 4), cell.value), (3.75, -.25))
        check("atomic xchg " + t, (call("ct_atomic_xchg_%s_release_system" % t, ty, cell, 7), cell.value), (-.25, 7))
        check("atomic cas " + t, (call("ct_atomic_cas_%s_relaxed_device" % t, ty, cell, 7, 8), cell.value), (7, 8))
    cell = ctypes.c_uint16(0x3c00)
    check("atomic add f16", (call("ct_atomic_add_f16_relaxed_device", ctypes.c_uint16, cell, 0x4000), cell.value), (0x3c00, 0x4200))

def test_ml_dtypes():
    """A second opinion on the reference itself."""
    import numpy as np, ml_dtypes as ml
    xs = np.array([random_float("f32") for _ in range(20000)] + interesting("f32") + near_midpoints("f32", "bf16", 2000), dtype=np.uint32)
    f = xs.view(np.float32)
    with np.errstate(all="ignore"):
        for t, dt, over, u in (("f16", np.float16, "", np.uint16), ("bf16", ml.bfloat16, "", np.uint16),
                ("f8e4m3", ml.float8_e4m3fn, "_nan", np.uint8), ("f8e5m2", ml.float8_e5m2, "_inf", np.uint8)):
            want = f.astype(dt).view(u)
            for x, y in zip(xs.tolist(), want.tolist()):
                check_float(t, "reference against ml_dtypes, " + t, encode(t, *decode("f32", x), "", over), y, x)

# ---- building and running ----
def sh(*cmd, **kw):
    r = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, **kw)
    if r.returncode:
        print("failed:", " ".join(cmd), r.stdout[:4000], sep="\n")
        sys.exit(1)
    return r.stdout

def generator(d):
    gen = os.path.join(d, "gen")
    tables = ["emit_c/prelude", "emit_cuda/prelude", "emit_cuda/device"]
    sh(CC, "-std=c11", "-O1", "-I" + ROOT, os.path.join(ROOT, "tests/unit/test_prelude_c.c"), os.path.join(ROOT, "emit/snippet.c"),
        *[os.path.join(ROOT, t + ".c") for t in tables], *[os.path.join(BUILD, "gen", t + "_names.c") for t in tables], "-o", gen)
    def write(what, name):
        with open(os.path.join(d, name), "w") as f: f.write(sh(gen, what))
        return os.path.join(d, name)
    return write

def run_values(d):
    global text
    write = generator(d)
    visible = write("visible", "visible.c")
    text = open(write("c", "full.c")).read()
    cuda = os.path.join(d, "cuda_math.c")
    with open(cuda, "w") as f: f.write(text + cuda_math_text(open(write("cuda", "full.cu")).read(), CUDA_F64))
    sh(CC, "-std=c11", "-O2", "-shared", "-fPIC", cuda, "-o", cuda + ".so", "-lm")
    test_cuda_math(cuda + ".so")
    print("CUDA's own mathematics on the host: %d checks so far, %d failures" % (checks, failures))
    test_ml_dtypes()
    builds = [("-O2", 1.0), ("-O3 -march=native", .2), ("-O1 -fsanitize=undefined -fno-sanitize-recover=all", .2)]
    for k, (flags, part) in enumerate(builds):
        global scale
        scale = part * float(sys.argv[2] if len(sys.argv) > 2 else .3)
        so = os.path.join(d, "lib%d.so" % k)
        sh(CC, "-std=c11", *flags.split(), "-shared", "-fPIC", visible, "-o", so, "-lm")
        open_library(so)
        for test in (test_bits, test_conversions, test_integers, test_compare, test_arithmetic, test_random,
                test_atomics, test_math):
            before = checks
            test()
            check(test.__name__ + " did something", checks > before, True)
        print("%s: %d checks so far, %d failures" % (flags, checks, failures))

def run_clean(d):
    global checks
    full = generator(d)("c", "full.c")
    for cc in ("gcc", "clang"):
        if not shutil.which(cc): continue
        for flags in ("-O0", "-O2", "-O3 -march=native"):
            checks += 1
            sh(cc, "-std=c11", *flags.split(), "-Wall", "-Wextra", "-Wno-unused-function", "-Werror", "-c", full, "-o", os.path.join(d, "full.o"))

def code_of(cubin):
    """section -> bytes of each function's code"""
    b = open(cubin, "rb").read()
    at, = struct.unpack_from("<Q", b, 40)
    size, n, names = struct.unpack_from("<HHH", b, 58)
    rows = [struct.unpack_from("<IIQQQQ", b, at + i * size) for i in range(n)]
    def name(r):
        p = rows[names][4] + r[0]
        return b[p:b.index(b"\0", p)].decode()
    return {name(r)[6:]: b[r[4]:r[4] + r[5]] for r in rows if name(r).startswith(".text.")}

# Functions that compare f32 in plain C, such as f64 functions of CUDA's own that look at the upper half of an operand: -ftz
# changes that comparison, never its outcome, because the limits are normal numbers
FTZ_MAY_CHANGE = {"ct_exp_f64", "ct_exp2_f64", "ct_expm1_f64", "ct_tanh_f64", "ct_erf_f64", "ct_asin_f64", "ct_acos_f64", "ct_cbrt_f64",
    "ct_pow_f64", "ct_div_f32_full"}

def run_nvcc(d):
    nvcc = os.environ.get("NVCC", "")
    if not nvcc: sys.exit(77)
    global checks, failures
    full = open(generator(d)("cuda", "full.cu")).read()
    full = re.sub(r"#define CT_(FN|CALL) .*", r'#define CT_\1 extern "C" __device__ __noinline__', full)
    functions = re.compile(r"^CT_(?:FN|CALL) ([^\n]*?\bct_\w+\([^)\n]*\))[^\n]*(?:\n?\{[^\n]*\}\n|\n\{\n.*?^\}\n)", re.M | re.S)
    def since_sm_90(m):        # clusters
        return "#if __CUDA_ARCH__ >= 900\n%s#endif\n" % m.group(0) if re.search("cluster|mbarrier", m.group(0)) else m.group(0)
    def cubin(arch, *options, only=None):
        """The code of each function; of the functions for which only(text) holds, the others being declared."""
        def kept(m):
            return since_sm_90(m) if not only or only(m.group(0)) else "CT_FN %s;\n" % m.group(1)
        src, out = os.path.join(d, "all.cu"), os.path.join(d, "all.cubin")
        with open(src, "w") as f: f.write(functions.sub(kept, full))
        said = sh(nvcc, "-arch=sm_" + arch, "-rdc=true", "-Werror", "all-warnings", *options, "-cubin", src, "-o", out)
        check("nvcc for sm_%s is silent" % arch, said, "")
        return code_of(out)
    # Here only what nvcc says matters, and of the C of a function that asks for no architecture it has said it for sm_80.
    asking = lambda text: re.search(r"\basm\b|^#", text, re.M)
    for arch in ("89", "90a", "100", "120"):
        made = cubin(arch, "-Ofc", "mid", only=asking)
        check("functions compiled for sm_" + arch, len(made) > 750, True, len(made))
    plain = cubin("80")
    check("functions compiled", len(plain) > 2000, True, len(plain))
    def changed(*flags, may=frozenset(), only=None):
        without, other = cubin("80", only=only) if only else plain, cubin("80", *flags, only=only)
        return sorted(k for k in without if k.startswith("ct_") and without[k] != other.get(k) and k not in may)
    # -use_fast_math is -ftz=true and more: what all options at once leave as it is, each leaves so; what may change is compared for one of them
    both = changed("-use_fast_math", "-fmad=false", may=FTZ_MAY_CHANGE)
    check("code that -use_fast_math -fmad=false changes", both, [])
    names = re.compile(r"\b(?:%s)\(" % "|".join(FTZ_MAY_CHANGE))
    some = None if both else lambda text: names.search(text.split("{")[0])
    check("code that -fmad=false changes", changed("-fmad=false", only=some), [])
    if both:
        for flag in ("-ftz=true", "-use_fast_math"): check("code that %s changes" % flag, changed(flag, may=FTZ_MAY_CHANGE), [])

def run_gpu(d):
    global checks
    for_later = len(sys.argv) > 2          # the programs are kept, perhaps for another machine
    gpu = os.path.exists("/dev/nvidia0")
    if not gpu and not for_later: sys.exit(77)
    keep = sys.argv[2] if for_later else d
    os.makedirs(keep, exist_ok=True)
    flags = {"plain": [], "fmad": ["-fmad=false"], "ftz": ["-ftz=true"], "fast": ["-use_fast_math"]}
    missing = [k for k in flags if not os.path.exists(os.path.join(keep, "prelude_" + k))]
    nvcc = os.environ.get("NVCC", "")
    if missing and not nvcc: sys.exit(77)
    if missing:
        write = generator(d)
        write("c", "c.inc"), write("cuda", "cuda.inc"), write("same", "same.inc")
    for k in missing:
        sh(nvcc, "-std=c++17", "-I" + d, "-diag-suppress", "177,1675", "-gencode", "arch=compute_80,code=sm_80",
            "-gencode", "arch=compute_90,code=[sm_90,compute_90]", *flags[k], os.path.join(ROOT, "tests/unit/test_prelude_cuda.cu"),
            "-o", os.path.join(keep, "prelude_" + k))
    if not gpu: sys.exit(77)
    said = {k: subprocess.run([os.path.join(keep, "prelude_" + k)], stdout=subprocess.PIPE, universal_newlines=True) for k in flags}
    print(said["plain"].stdout, end="")
    check("exit status", said["plain"].returncode, 0)
    for k in flags: check("results with " + k, said[k].stdout, said["plain"].stdout)

if __name__ == "__main__":
    what = {"values": run_values, "math": run_math, "clean": run_clean, "nvcc": run_nvcc, "gpu": run_gpu}.get(sys.argv[1] if len(sys.argv) > 1 else "")
    if not what: sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder: what(folder)
    print("%d checks, %d failures" % (checks, failures))
    sys.exit(failures != 0)
