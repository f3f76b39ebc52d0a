"""What each operation gives, computed without ctilec: numpy and ml_dtypes, Python integers, double arithmetic rounded once."""
import math
from fractions import Fraction
import ml_dtypes
import numpy as np
from runner import DTYPE

INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["f16", "bf16", "f32", "f64"]
ANY_FLOATS = ["f8e4m3", "f8e5m2", "f16", "bf16", "tf32", "f32", "f64"]
NUMERIC = ["bool"] + INTS + ANY_FLOATS
ARITH = ["bool"] + INTS + FLOATS


def bits(t):
    return 1 if t == "bool" else DTYPE[t].itemsize * 8


def limits(t):
    n = bits(t)
    return (-(1 << (n - 1)), (1 << (n - 1)) - 1) if t[0] == "i" else (0, (1 << n) - 1)


def wrap(v, t):
    n = bits(t)
    v &= (1 << n) - 1
    return v - (1 << n) if t[0] == "i" and v >> (n - 1) else v


def limits_of(t):
    if t != "tf32":
        return ml_dtypes.finfo(DTYPE[t])
    return type("tf32", (), dict(max=(2 - 2.0 ** -10) * 2.0 ** 127, min=-(2 - 2.0 ** -10) * 2.0 ** 127, tiny=2.0 ** -126,
                                 smallest_subnormal=2.0 ** -136, eps=2.0 ** -10))


def keep(v, t):
    """Doubles as elements; those of tf32 lose what it does not hold."""
    with np.errstate(all="ignore"):
        a = v.astype(DTYPE[t])
    if t != "tf32":
        return a
    return np.where(np.isnan(a), a, (a.view(np.uint32) & np.uint32(0xffffe000)).view(np.float32))


def specials(t):
    """Values that show a mistake: limits, zeros, the least and the greatest, halves, NaN."""
    if t == "bool":
        return np.array([0, 1], DTYPE[t])
    if t[0] in "iu":
        lo, hi = limits(t)
        return np.array(sorted({lo, lo + 1, hi, hi - 1, 0, 1, 2, 3, 5, 7, hi // 2, hi // 3} | ({-1, -2, -3, -7} if lo else set())), DTYPE[t])
    info = limits_of(t)
    v = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.5, 0.1, -0.3, 7.75, 100.0, float(info.max), float(info.min),
         float(info.tiny), -float(info.tiny), float(info.smallest_subnormal), float(info.eps), math.inf, -math.inf, math.nan]
    return keep(np.array(v, np.float64), t)


def randoms(t, n, rng):
    if t == "bool":
        return rng.integers(0, 2, n).astype(DTYPE[t])
    if t[0] in "iu":
        lo, hi = limits(t)
        return rng.integers(lo, hi, n, dtype=DTYPE[t], endpoint=True)
    return keep(rng.standard_normal(n) * np.exp(rng.uniform(-3, 3, n)), t)


def wide(x, t):
    """As what numpy computes in: f16 and bf16 in double (products, sums and quotients of halves are then rounded once)."""
    return x.astype(np.float64) if t in ("f16", "bf16", "f8e4m3", "f8e5m2", "tf32") else x


def halves_once(f):
    """A float function of one or two operands, rounded once to the type."""
    def g(t, *a):
        with np.errstate(all="ignore"):
            return f(*[wide(x, t) for x in a]).astype(DTYPE[t])
    return g


def ints(f):
    """An integer function, element by element on Python integers, wrapped."""
    def g(t, *a):
        return np.array([wrap(int(f(*[int(v) for v in row])), t) for row in zip(*a)], DTYPE[t])
    return g


def tdiv(a, b): return 0 if b == 0 else (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)
def trem(a, b): return 0 if b == 0 else a - tdiv(a, b) * b
def cdiv(a, b): return 0 if b == 0 else -(-a // b)
def fdiv(a, b): return 0 if b == 0 else a // b
def fmod_(a, b): return 0 if b == 0 else a % b


def minmax(greater, propagate=False):
    def g(t, a, b):
        if t not in FLOATS:
            return np.maximum(a, b) if greater else np.minimum(a, b)
        out = []
        for x, y in zip(a.astype(np.float64), b.astype(np.float64)):
            if math.isnan(x) or math.isnan(y):
                out.append(math.nan if propagate or (math.isnan(x) and math.isnan(y)) else (y if math.isnan(x) else x))
            elif x == y:            # -0 is less than +0
                neg = math.copysign(1, x) < 0 or math.copysign(1, y) < 0 if not greater else math.copysign(1, x) < 0 and math.copysign(1, y) < 0
                out.append(-abs(x) if x == 0 and neg else (abs(x) if x == 0 else x))
            else:
                out.append(max(x, y) if greater else min(x, y))
        return np.array(out).astype(DTYPE[t])
    return g


def popcount(t, a): return np.array([bin(int(v) & ((1 << bits(t)) - 1)).count("1") for v in a], DTYPE[t])
def clz(t, a): return np.array([bits(t) - (int(v) & ((1 << bits(t)) - 1)).bit_length() for v in a], DTYPE[t])
def ctz(t, a):
    u = [int(v) & ((1 << bits(t)) - 1) for v in a]
    return np.array([bits(t) if v == 0 else (v & -v).bit_length() - 1 for v in u], DTYPE[t])
def bitreverse(t, a):
    return np.array([wrap(int(format(int(v) & ((1 << bits(t)) - 1), f"0{bits(t)}b")[::-1], 2), t) for v in a], DTYPE[t])


def saturate(f):
    def g(t, a, b):
        lo, hi = limits(t)
        return np.array([min(max(f(int(x), int(y)), lo), hi) for x, y in zip(a, b)], DTYPE[t])
    return g


def mulhi(signed):
    def g(t, a, b):
        n, m = bits(t), (1 << bits(t)) - 1
        def s(v): return wrap(int(v), "i" + str(n)) if signed else int(v) & m
        return np.array([wrap((s(x) * s(y)) >> n, t) for x, y in zip(a, b)], DTYPE[t])
    return g


def same(t, got, want):
    """Bit for bit; any NaN is any other."""
    if t in FLOATS or t in ("f8e4m3", "f8e5m2", "tf32"):
        with np.errstate(all="ignore"):
            g, w = got.astype(np.float64), want.astype(np.float64)
        return (np.isnan(g) & np.isnan(w)) | ((g == w) & (np.signbit(g) == np.signbit(w)))
    return got == want


def ulps(t, got, want):
    """Distance in units in the last place of the type, against a double (or long double) reference."""
    info = __import__("ml_dtypes").finfo(DTYPE[t])
    g, w = got.astype(np.longdouble), want.astype(np.longdouble)
    out = np.full(g.shape, np.inf)
    both_nan = np.isnan(g) & np.isnan(w)
    inf_ok = np.isinf(g) & (np.isinf(w) | (np.abs(w) > float(info.max))) & (np.sign(g) == np.sign(w))
    near = np.isfinite(g) & (np.isfinite(w) | (np.abs(w) < np.inf))
    with np.errstate(all="ignore"):
        e = np.floor(np.log2(np.maximum(np.abs(w), float(info.tiny)).astype(np.float64)))
        unit = np.ldexp(np.longdouble(1), (e - info.nmant).astype(int))
        out[near] = (np.abs(g - w) / unit)[near]
    big = np.isfinite(g) & np.isinf(w) & (np.abs(g) == float(info.max))
    out[both_nan | inf_ok] = 0
    out[big] = 1
    return out


# ---- one rounding of an exact number ----
# significand bits, least exponent, greatest finite value, whether there are infinities
FORMATS = {"f8e4m3": (4, -6, 448, False), "f8e5m2": (3, -14, 57344, True), "f16": (11, -14, 65504, True),
           "bf16": (8, -126, (2 - Fraction(1, 2 ** 7)) * 2 ** 127, True), "tf32": (11, -126, (2 - Fraction(1, 2 ** 10)) * 2 ** 127, True),
           "f32": (24, -126, (2 - Fraction(1, 2 ** 23)) * 2 ** 127, True), "f64": (53, -1022, (2 - Fraction(1, 2 ** 52)) * 2 ** 1023, True)}
MODES = ["nearest_even", "toward_zero", "toward_negative", "toward_positive"]


def rounded(v, t, mode):
    """A Fraction that is not 0, without its sign, rounded to the digits of t, beyond its greatest number too: n and e of n 2^e.
    nearest_away, what tf32 does without a word: ties away from zero. In integers, for suites do it a million times."""
    p, emin, _, _ = FORMATS[t]
    a, b = abs(v.numerator), v.denominator
    k = a.bit_length() - b.bit_length()             # the logarithm of a / b, rounded down, is k or k - 1
    k -= a << max(-k, 0) < b << max(k, 0)
    e = max(k, emin) - p + 1
    b <<= max(e, 0)
    n, rest = divmod(a << max(-e, 0), b)
    if mode == "nearest_even":
        n += 2 * rest > b or (2 * rest == b and n & 1)
    elif mode == "nearest_away":
        n += 2 * rest >= b
    elif rest and mode == ("toward_negative" if v < 0 else "toward_positive"):
        n += 1
    return n, e


def unlimited(v, t, mode):
    """A Fraction rounded to the digits of t, beyond its greatest number too."""
    if v == 0:
        return v
    n, e = rounded(v, t, mode)
    return (-n if v < 0 else n) * Fraction(2) ** e


def round_fraction(v, t, mode=None):
    """A Fraction as a double that t holds, or an infinity."""
    mode = mode or ("nearest_away" if t == "tf32" else "nearest_even")
    if v == 0:
        return 0.0
    neg, top = v < 0, FORMATS[t][2]
    n, e = rounded(v, t, mode)
    if n.bit_length() + e >= int(top).bit_length() and n * Fraction(2) ** e > top:
        away = mode.startswith("nearest") or mode == ("toward_negative" if neg else "toward_positive")
        r = math.inf if away else float(top)
    else:
        r = math.ldexp(n, e)
    return -r if neg else r        # what rounds to zero keeps its sign


def whole(v, mode):
    """A Fraction as an integer."""
    f = v.numerator // v.denominator
    if mode == "toward_negative":
        return f
    if mode == "toward_positive":
        return -(-v.numerator // v.denominator)
    if mode == "nearest_even":
        return round(v)
    return f if v >= 0 or v == f else f + 1


def cast_one(x, s, t, mode=None, overflow="default"):
    """x: a Python int or float of type s. Gives one that t holds."""
    if s == t and not (t in ANY_FLOATS and overflow != "default"):
        return x
    if t == "bool":
        return int(x != x or x != 0)
    special = isinstance(x, float) and not math.isfinite(x)
    if t in INTS:
        lo, hi = limits(t)
        if special:
            return 0 if x != x or overflow == "wrap" else hi if x > 0 else lo
        n = x if isinstance(x, int) else whole(Fraction(x), mode or "toward_zero")
        if overflow == "wrap" or (overflow == "default" and s not in ANY_FLOATS):
            return wrap(n, t)
        return min(max(n, lo), hi)
    eight = t in ("f8e4m3", "f8e5m2")
    if special and x != x:
        return math.nan
    neg = math.copysign(1, x) < 0
    away = "nearest_away" if t == "tf32" else "nearest_even"
    r = x if special else math.copysign(abs(round_fraction(Fraction(x), t, mode or away)), x)
    beyond = not special and overflow != "default" and abs(unlimited(Fraction(x), t, mode or away)) > FORMATS[t][2]
    if math.isinf(r) or beyond:
        what = overflow if overflow != "default" else "saturate" if eight else "inf"
        r = {"saturate": float(FORMATS[t][2]), "inf": math.inf, "nan": math.nan}[what]
        r = -r if neg else r
    return r


def cast(a, s, t, mode=None, overflow="default"):
    out = [cast_one(v, s, t, mode, overflow) for v in numbers(a, s)]
    if t in ANY_FLOATS:
        return np.array(out, np.float64).astype(DTYPE[t]).reshape(a.shape)
    return np.array(out, dtype=object).astype(DTYPE[t]).reshape(a.shape)


def numbers(a, s):
    """Elements as Python numbers; bool memory as 0 and 1."""
    if s == "bool":
        return [int(v != 0) for v in a.reshape(-1)]
    return [int(v) for v in a.reshape(-1)] if s in INTS else [float(v) for v in a.reshape(-1)]


def common(a, b):
    """The common element type, or None."""
    if a == b:
        return a
    rank = {"f8e4m3": 1, "f8e5m2": 1, "f16": 2, "bf16": 2, "tf32": 3, "f32": 4, "f64": 5}
    if a in rank and b in rank:
        return None if rank[a] == rank[b] else a if rank[a] > rank[b] else b
    if a in rank or b in rank:
        return a if a in rank else b
    signed = [t for t in (a, b) if t[0] == "i"]
    if len(signed) != 1:
        return a if bits(a) > bits(b) else b
    s, = signed
    u = b if s == a else a
    if bits(u) >= bits(s) and u != "bool":
        return u if bits(u) > bits(s) else "u" + s[1:]
    return s


def narrows(s, t):
    """Whether s to t loses values by its types."""
    rank = {"f8e4m3": 1, "f8e5m2": 1, "f16": 2, "bf16": 2, "tf32": 3, "f32": 4, "f64": 5}
    if s == t:
        return False
    if s in rank or t in rank:
        return not (s in rank and t in rank and rank[s] < rank[t])
    (a, b), (c, d) = limits(s), limits(t)
    return not (c <= a and b <= d)
