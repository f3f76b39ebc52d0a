#!/usr/bin/env python3
"""The words of arithmetic: rounding:, subnormals:, approximate and full, on every type that takes them; fma; the named forms
of the operators; what contracts and what must not; operands of different types and shapes. Exact results are Fractions, rounded once.

Usage: modes.py build FOLDER --ctilec PATH [--target c|cuda]
       modes.py run FOLDER [--target c|cuda]
       modes.py test --ctilec PATH        builds and runs the C target in a temporary folder
"""
import itertools, math
from fractions import Fraction
import numpy as np
import reference as ref
from reference import ARITH, FLOATS, INTS, MODES
from runner import DTYPE
from suite import Suite
from tables import Row, table

S = Suite("modes")
N = 512


# ---- one exact operation ----
def zero(sign):
    return -0.0 if sign else 0.0


def sum_of(x, y, mode):
    """The exact sum of two doubles as (Fraction) or what IEEE 754 says of zeros and infinities (float)."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return x + y
    s = Fraction(x) + Fraction(y)
    if s:
        return s
    if x == 0 and y == 0 and math.copysign(1, x) == math.copysign(1, y):
        return x
    return zero(mode == "toward_negative")


def product_of(x, y):
    if not (math.isfinite(x) and math.isfinite(y)) or x == 0 or y == 0:
        return x * y
    return Fraction(x) * Fraction(y)


def quotient_of(x, y):
    if math.isfinite(x) and math.isfinite(y) and x and y:
        return Fraction(x) / Fraction(y)
    if x != x or y != y:
        return math.nan
    sign = (math.copysign(1, x) < 0) != (math.copysign(1, y) < 0)
    if y == 0:
        return math.nan if x == 0 else -math.inf if sign else math.inf
    if math.isinf(x):
        return math.nan if math.isinf(y) else -math.inf if sign else math.inf
    return zero(sign)


def root_of(x):
    if x != x or x == 0:
        return x
    if x < 0:
        return math.nan
    if math.isinf(x):
        return x
    f = Fraction(x)
    shift = 1200            # n has bits enough also where x is the smallest f64
    n = (f.numerator << 2 * shift) // f.denominator
    r = math.isqrt(n)
    exact = r * r == n and (f.numerator << 2 * shift) % f.denominator == 0
    return Fraction(2 * r + (not exact), 2 << shift)        # one bit below all others says that something is left


def fma_of(x, y, z, mode):
    p = product_of(x, y)
    if isinstance(p, float):
        return sum_of(p, z, mode) if not math.isfinite(p) or not math.isfinite(z) else (Fraction(z) if z else sum_of(p, z, mode))
    if not math.isfinite(z):
        return z
    s = p + Fraction(z)
    return s if s else zero(mode == "toward_negative")


def flushed(v, t):
    return math.copysign(0.0, v) if math.isfinite(v) and v != 0 and abs(v) < 2.0 ** ref.FORMATS[t][1] else v


def once(f, t, mode="nearest_even", flush=False):
    """f of doubles, rounded once to t."""
    def one(*a):
        a = [flushed(v, t) for v in a] if flush else a
        r = f(*a)
        r = ref.round_fraction(r, t, mode) if isinstance(r, Fraction) else r
        return flushed(r, t) if flush else r
    def g(*arrays):
        with np.errstate(all="ignore"):
            return np.array([one(*map(float, row)) for row in zip(*[a.reshape(-1) for a in arrays])], np.float64).astype(DTYPE[t])
    return g


OPS = {"add": (2, lambda m: lambda x, y: sum_of(x, y, m)), "sub": (2, lambda m: lambda x, y: sum_of(x, -y, m)), "mul": (2, lambda m: product_of), "div": (2, lambda m: quotient_of),
       "fma": (3, lambda m: lambda x, y, z: fma_of(x, y, z, m)), "sqrt": (1, lambda m: root_of)}


def operands(name, t, n, rng):
    """Special values of all kinds, results near the least and the greatest, near ties; c of fma often near -a b."""
    s = ref.specials(t)
    p, emin, top, _ = ref.FORMATS[t]
    v = ref.randoms(t, n, rng).astype(np.float64)
    k = rng.integers(0, 6, n)
    v = np.where(k == 0, rng.choice(s.astype(np.float64), n), v)
    v = np.where(k == 1, np.ldexp(1 + np.round(rng.random(n) * 2 ** (p - 1)) / 2 ** (p - 1), rng.integers(emin // 2 - 3, emin // 2 + 4, n)) * rng.choice([-1, 1], n), v)
    v = np.where(k == 2, np.ldexp(rng.integers(1, 2 ** min(p, 40), n).astype(np.float64), rng.integers(-3, 4, n)), v)
    v = np.where(k == 3, np.ldexp(rng.random(n) + 0.5, emin - rng.integers(0, p, n)) * rng.choice([-1, 1], n), v)
    with np.errstate(all="ignore"):
        return v.astype(DTYPE[t])


for t in FLOATS:
    rows = []
    for op, (k, f) in OPS.items():
        args = ", ".join("xyz"[:k])
        for mode in [None] + MODES:
            for flush in (None, "preserve", "flush") if t == "f32" else (None, "preserve"):
                if flush == "preserve" and mode is not None:
                    continue
                words = (f", rounding: {mode}" if mode else "") + (f", subnormals: {flush}" if flush else "")
                g = once(f(mode or "nearest_even"), t, mode or "nearest_even", flush == "flush")
                rows.append(Row(f"{op}({args}{words})", lambda x, y, z, g=g, k=k: g(*[x, y, z][:k]), shape=(N,)))
    table(S, f"arith_{t}", {"x": (t, (N,)), "y": (t, (N,)), "z": (t, (N,))}, rows, operands)


def near(ulps, t, f):
    """A bound around f, and f itself."""
    unit = ref.FORMATS[t][0]
    def bound(x, y, z):
        w = np.abs(f(x, y, z).astype(np.float64))
        return ulps * np.maximum(w, 2.0 ** -126) * 2.0 ** (1 - unit)
    return bound


def flat(x):
    return np.where(np.abs(x) < 2.0 ** -126, np.float32(0), x)


positive = lambda name, t, n, rng: np.exp(rng.uniform(-20, 20, n))
with np.errstate(all="ignore"):
    wide = [("div(x, y, rounding: approximate)", lambda x, y, z: x.astype(np.float64) / y), ("div(x, y, rounding: full)", lambda x, y, z: x.astype(np.float64) / y),
            ("sqrt(x, rounding: approximate)", lambda x, y, z: np.sqrt(x.astype(np.float64))), ("exp(z, rounding: approximate)", lambda x, y, z: np.exp(z.astype(np.float64))),
            ("exp(z, rounding: full)", lambda x, y, z: np.exp(z.astype(np.float64))), ("tanh(z, rounding: approximate)", lambda x, y, z: np.tanh(z.astype(np.float64))),
            ("tanh(z, rounding: full)", lambda x, y, z: np.tanh(z.astype(np.float64))), ("rsqrt(x, subnormals: flush)", lambda x, y, z: 1 / np.sqrt(x.astype(np.float64))),
            ("exp2(z, subnormals: flush)", lambda x, y, z: np.exp2(z.astype(np.float64))), ("div(x, y, rounding: approximate, subnormals: flush)", lambda x, y, z: x.astype(np.float64) / y),
            ("sqrt(x, rounding: approximate, subnormals: flush)", lambda x, y, z: np.sqrt(x.astype(np.float64)))]
    table(S, "approximate", {"x": ("f32", (N,)), "y": ("f32", (N,)), "z": ("f32", (N,))},
          [Row(text, f, bound=near(64 * (16 if "tanh" in text else 1) if "approximate" in text else 4, "f32", f)) for text, f in wide],
          lambda name, t, n, rng: rng.uniform(-10, 10, n) if name == "z" else positive(name, t, n, rng))
table(S, "flushed", {"x": ("f32", (64,)), "y": ("f32", (64,)), "z": ("f32", (64,))}, [
    Row("min(x, y, subnormals: flush)", lambda x, y, z: np.minimum(flat(x), flat(y))), Row("max(x, y, subnormals: flush)", lambda x, y, z: np.maximum(flat(x), flat(y))),
    Row("max(x, y, subnormals: flush, nan: propagate)", lambda x, y, z: np.maximum(flat(x), flat(y))), Row("rsqrt(x, subnormals: flush)", lambda x, y, z: np.where(flat(x) == 0, np.inf, 1 / np.sqrt(x)), bound=lambda x, y, z: np.spacing(1 / np.sqrt(x)) * 2),
    Row("exp2(-x, subnormals: flush)", lambda x, y, z: np.exp2(-flat(x)), bound=lambda x, y, z: np.spacing(np.exp2(-flat(x))) * 2), Row("min(x, y)", lambda x, y, z: np.minimum(x, y)),
], lambda name, t, n, rng: np.where(rng.random(n) < 0.5, rng.integers(1, 2 ** 23, n) * 2.0 ** -149, rng.uniform(1, 2, n)))


# ---- the named forms are the operators ----
for t in ARITH:
    rows = []
    for name, op in (("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/"), ("remainder", "%")):
        def f(x, y, name=name, t=t):
            if t in FLOATS:
                return once({"add": lambda a, b: sum_of(a, b, ""), "sub": lambda a, b: sum_of(a, -b, ""), "mul": product_of, "div": quotient_of}[name], t)(x, y) if name != "remainder" else ref.halves_once(np.fmod)(t, x, y)
            g = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": ref.tdiv, "remainder": ref.trem}[name]
            r = [g(int(a), int(b)) for a, b in zip(x, y)]
            return np.array([int(v != 0) if t == "bool" else ref.wrap(v, t) for v in r], DTYPE[t])
        rows += [Row(f"{name}(x, y)", f), Row(f"x.{name}(y)", f)]
        if op != "%" or t not in FLOATS:
            rows += [Row(f"x {op} y", f), Row(f"v{name}", f, before=f"    var v{name} = x;\n    v{name} {op}= y;\n")]
    table(S, f"named_{t}", {"x": (t, (64,)), "y": (t, (64,))}, rows)
INTEGER = {"&": lambda a, b, n: a & b, "|": lambda a, b, n: a | b, "^": lambda a, b, n: a ^ b, "<<": lambda a, b, n: a << (b % n), ">>": lambda a, b, n: a >> (b % n)}
for t in INTS:
    table(S, f"assigned_{t}", {"x": (t, (64,)), "y": (t, (64,))}, [
        Row(f"v{i}", lambda x, y, f=f, t=t: np.array([ref.wrap(f(int(a), int(b), ref.bits(t)), t) for a, b in zip(x, y)], DTYPE[t]), before=f"    var v{i} = x;\n    v{i} {op}= y;\n")
        for i, (op, f) in enumerate(INTEGER.items())] + [Row("+x", lambda x, y: x.astype(np.int32) if x.dtype.itemsize < 4 else x, "i32" if ref.bits(t) < 32 else t)])

# ---- contraction: a b + c is one rounding, unless forbidden ----
for t in FLOATS:
    fma, mul, add = once(lambda x, y, z: fma_of(x, y, z, ""), t), once(product_of, t), once(lambda x, y: sum_of(x, y, ""), t)
    table(S, f"contract_{t}", {"x": (t, (128,)), "y": (t, (128,)), "z": (t, (128,))}, [
        Row("x * y + z", lambda x, y, z, f=fma: f(x, y, z)), Row("z + x * y", lambda x, y, z, f=fma: f(x, y, z)), Row("x * y - z", lambda x, y, z, f=fma: f(x, y, -z)),
        Row("z - x * y", lambda x, y, z, f=fma: f(-x, y, z)),
        Row("q1", lambda x, y, z, m=mul, a=add: a(m(x, y), z), before="    @no_contract\n    let q1 = x * y + z;\n"),
        Row("q2", lambda x, y, z, m=mul, a=add: a(z, -m(x, y)), before="    @no_contract\n    let q2 = z - x * y;\n"),
        Row("plain_" + t + "(x, y, z)", lambda x, y, z, m=mul, a=add: a(m(x, y), z)),
        Row("add(mul(x, y, rounding: toward_zero), z)", lambda x, y, z, a=add, t=t: a(once(product_of, t, "toward_zero")(x, y), z)),
        Row("add(x * y, z, rounding: toward_positive)", lambda x, y, z, m=mul, t=t: once(lambda p, q: sum_of(p, q, "toward_positive"), t, "toward_positive")(m(x, y), z)),
    ], operands, before=f"@no_contract\nfn plain_{t}(x: tile<{t}, [N]>, y: tile<{t}, [N]>, z: tile<{t}, [N]>) -> tile<{t}, [N]> {{ return x * y + z; }}\n")

# ---- fma of narrower factors, broadcast ----
table(S, "fma_mixed", {"x": ("f16", (4, 8)), "y": ("f16", (8,)), "z": ("f32", (4, 8)), "k": ("bf16", (4, 1))}, [
    Row("fma(x, y, z)", lambda x, y, z, k: once(lambda a, b, c: fma_of(a, b, c, ""), "f32")(*np.broadcast_arrays(x, y, z)).reshape(4, 8), "f32"),
    Row("fma(k, z, z)", lambda x, y, z, k: once(lambda a, b, c: fma_of(a, b, c, ""), "f32")(*np.broadcast_arrays(k.astype(np.float32), z, z)).reshape(4, 8), "f32"),
    Row("fma(2.5, z, z)", lambda x, y, z, k: once(lambda a, b, c: fma_of(a, b, c, ""), "f32")(*np.broadcast_arrays(2.5, z, z)).reshape(4, 8), "f32"),
    Row("fma(x, k0, element_cast(z, f64), rounding: toward_zero)", lambda x, y, z, k: once(lambda a, b, c: fma_of(a, b, c, "toward_zero"), "f64", "toward_zero")(*np.broadcast_arrays(x, 0.1, z)).reshape(4, 8), "f64",
        before="    let k0 = f64(0.1);\n"),
], lambda name, t, n, rng: np.round(rng.normal(0, 3, n), 2))


# ---- operands of different types and shapes: the common type, or the tile's ----
def mixed(s, t):
    c = ref.common(s, t)
    if not c or any(v != c and ref.narrows(v, c) and not (v in ["bool"] + INTS and c in FLOATS) for v in (s, t)):
        return []
    def to(v, f, a, b):
        a, b = np.broadcast_arrays(ref.cast(a, s, v), ref.cast(b, t, v))
        flatten = once(f[0], v)(a, b) if v in FLOATS else np.array([int(f[1](int(p), int(q)) != 0) if v == "bool" else ref.wrap(f[1](int(p), int(q)), v) for p, q in zip(a.reshape(-1), b.reshape(-1))], DTYPE[v])
        return flatten.reshape(a.shape)
    add = (lambda a, b: sum_of(a, b, ""), lambda a, b: a + b)
    sub = (lambda a, b: sum_of(a, -b, ""), lambda a, b: a - b)
    rows = [Row("x + y", lambda x, y, k: to(c, add, x, y), c), Row("extract(x, [1], [0]) - y", lambda x, y, k: to(c, sub, x[:1], y), c),
            Row("x < y", lambda x, y, k: np.array([p < q for p, q in zip(*np.broadcast_arrays(np.array(ref.numbers(x, s), object), np.array(ref.numbers(y, t), object)))]) if s not in FLOATS and t not in FLOATS
                else ref.cast(x, s, c) < ref.cast(y, t, c), "bool")]
    if not ref.narrows(t, s) or t == s or (t in ["bool"] + INTS and s in FLOATS):
        rows.append(Row("x + one", lambda x, y, k: to(s, add, x, ref.cast(y[:1], t, s)) if s == t else wins(x, y, s, t, add), s, before=f"    let one = {t}(extract(y, [1], [0]));\n"))
    def wins(x, y, s, t, f):
        b = ref.cast(y[:1], t, s)
        a, b = np.broadcast_arrays(x, b)
        return once(f[0], s)(a, b) if s in FLOATS else np.array([int(f[1](int(p), int(q)) != 0) if s == "bool" else ref.wrap(f[1](int(p), int(q)), s) for p, q in zip(a, b)], DTYPE[s])
    return rows


def pair_values(name, t, n, rng):
    if t in FLOATS:
        return np.round(rng.normal(0, 20, n), 1)
    return None


for s, t in itertools.product(ARITH, ARITH):
    rows = mixed(s, t)
    if rows and s != t:
        table(S, f"mixed_{s}_{t}", {"x": (s, (8,)), "y": (t, (8,)), "k": (t, (1,))}, rows, pair_values)
table(S, "broadcast", {"x": ("i32", (4, 1)), "y": ("i32", (1, 8)), "z": ("i32", (2, 1, 8)), "k": ("i32", (1,))}, [
    Row("x + y", lambda x, y, z, k: x + y), Row("x * z", lambda x, y, z, k: x * z), Row("(x - y) ^ z", lambda x, y, z, k: (x - y) ^ z), Row("k - z", lambda x, y, z, k: k - z), Row("x < y", lambda x, y, z, k: x < y, "bool"),
    Row("x < y && z > 3", lambda x, y, z, k: (x < y) & (z > 3), "bool"), Row("select(x > 5, y + x, y - x)", lambda x, y, z, k: np.where(x > 5, y + x, y - x)), Row("x << (y & 7)", lambda x, y, z, k: x << (y & 7)),
    Row("max(x, y) + min(z, 4)", lambda x, y, z, k: np.maximum(x, y) + np.minimum(z, 4)), Row("i32(k) + x", lambda x, y, z, k: k[0] + x), Row("fn3(x, y)", lambda x, y, z, k: 2 * x + y),
    Row("clamp(x + y, -5, 20)", lambda x, y, z, k: np.clip(x + y, -5, 20)), Row("i32(k) + zeros([], i32)", lambda x, y, z, k: k[0]), Row("100 - x", lambda x, y, z, k: 100 - x), Row("x % 7 == 0", lambda x, y, z, k: np.fmod(x, 7) == 0, "bool"),
], lambda name, t, n, rng: rng.integers(-50, 50, n), before="fn fn3(a: tile<i32, [M, 1]>, b: tile<i32, [1, N]>) -> tile<i32, [M, N]> { return a * 2 + b; }\n", repeat=3)

if __name__ == "__main__":
    S.main(__doc__)
