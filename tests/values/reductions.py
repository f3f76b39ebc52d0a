#!/usr/bin/env python3
"""Reductions and scans: every one over every axis, list of axes and all, for every element type; NaN and rounding words; custom
functions, also over tuples and where operands may not change places. Floats that a sum holds exactly must come out bit for
bit, others within the bound that any order of combination keeps.

Usage: reductions.py build FOLDER --ctilec PATH [--target c|cuda]
       reductions.py run FOLDER [--target c|cuda]
       reductions.py test --ctilec PATH        builds and runs the C target in a temporary folder
"""
import functools, itertools, math
import numpy as np
import reference as ref
from reference import ARITH, FLOATS, INTS
from runner import DTYPE
from suite import Suite
from tables import Row, shape_text, size, table

S = Suite("reductions")


def label(shape):
    return "x".join(map(str, shape))


# ---- folds over axes, element by element ----
def fold(x, axes, f, squeeze=False, dtype=None):
    """f gets the elements along the axes, in index order, as a list of Python numbers."""
    axes = tuple(range(x.ndim)) if axes is None else axes
    keep = [a for a in range(x.ndim) if a not in axes]
    y = np.transpose(x, keep + list(axes)).reshape([x.shape[a] for a in keep] + [-1])
    out = np.empty([x.shape[a] for a in keep], dtype or x.dtype)
    for i in np.ndindex(*out.shape):
        out[i] = f([v.item() if x.dtype.kind in "iubf" else float(v) for v in y[i]])
    return out if squeeze else out.reshape([1 if a in axes else x.shape[a] for a in range(x.ndim)])


def running(x, axis, f, backward=False, exclusive=False, identity=None):
    """f gets the elements so far, in index order."""
    def line(v):
        v = [e.item() if x.dtype.kind in "iubf" else float(e) for e in v]
        out = []
        for i in range(len(v)):
            part = v[i + exclusive:] if backward else v[:i + 1 - exclusive]
            out.append(f(part) if part else identity)
        return np.array(out, object)
    return np.apply_along_axis(line, axis, x).astype(x.dtype)


def adder(t):
    if t == "bool":
        return lambda v: int(any(v))
    return (lambda v: ref.wrap(sum(v), t)) if t in INTS else lambda v: math.fsum(v)


def multiplier(t):
    if t == "bool":
        return lambda v: int(all(v))
    return (lambda v: ref.wrap(math.prod(v), t)) if t in INTS else math.prod


def least(v, greatest=False, propagate=False):
    real = [x for x in v if x == x]
    if not real or (propagate and len(real) < len(v)):
        return math.nan
    key = (lambda x: (x, math.copysign(1, x))) if isinstance(v[0], float) else lambda x: x
    return max(real, key=key) if greatest else min(real, key=key)


def where_least(v, greatest=False, propagate=False):
    nan, real = [i for i, x in enumerate(v) if x != x], [x for x in v if x == x]
    if nan and (propagate or not real):
        return nan[0]
    return v.index(max(real) if greatest else min(real))


def bits_of(f, t):
    return lambda v: functools.reduce(f, v)


REDUCTIONS = {  # name -> (fold of a list, given t; result type or None; types; one axis only)
    "sum": (adder, None, ARITH, False), "prod": (multiplier, None, ARITH, False),
    "reduce_max": (lambda t: lambda v: least(v, True), None, ARITH, False), "reduce_min": (lambda t: lambda v: least(v), None, ARITH, False),
    "max_element": (lambda t: lambda v: where_least(v, True), "u32", ARITH, True), "min_element": (lambda t: lambda v: where_least(v), "u32", ARITH, True),
    "argmax": (lambda t: lambda v: where_least(v, True), "i32", ARITH, True), "argmin": (lambda t: lambda v: where_least(v), "i32", ARITH, True),
    "any_of": (lambda t: lambda v: int(any(x != 0 for x in v)), "bool", ARITH, False), "all_of": (lambda t: lambda v: int(all(x != 0 for x in v)), "bool", ARITH, False),
    "reduce_bitand": (lambda t: bits_of(lambda a, b: a & b, t), None, ["bool"] + INTS, False),
    "reduce_bitor": (lambda t: bits_of(lambda a, b: a | b, t), None, ["bool"] + INTS, False),
    "reduce_bitxor": (lambda t: bits_of(lambda a, b: a ^ b, t), None, ["bool"] + INTS, False),
}


def exact(name, t, n, rng):
    """Elements whose sums and products are exact in t: small integers; for p, mostly ones."""
    if t == "bool":
        return rng.random(n) < (0.9 if name == "p" else 0.3)
    if t in INTS:
        return ref.randoms(t, n, rng) if name != "p" else rng.integers(0, 4, n)
    if name == "p":
        return rng.choice(np.array([1, 1, 1, 1, -1, 2, 0.5]), n)
    return rng.integers(-1, 2, n) if t == "bf16" else rng.integers(-4, 5, n)


def axes_of(shape):
    n = len(shape)
    for a in range(n):
        yield str(a), (a,)
    for k in range(1, n + 1):
        for c in itertools.combinations(range(n), k):
            if n <= 3 or c in ((0, 2), (1, 3), (0, 1, 2, 3)):
                yield shape_text(c[::-1]), c
    yield None, None


def reduction_rows(t, shape, names):
    rows = []
    for name in names:
        f, result, types, single = REDUCTIONS[name]
        if t not in types:
            continue
        x = "p" if name in ("prod", "all_of", "reduce_bitand") else "x"
        for text, axes in axes_of(shape):
            if single and (text is None or text[0] == "["):
                continue
            args = f"{x}" + (f", {text}" if text else "")
            get = lambda x, p, v=x, f=f(t), axes=axes, result=result, sq=False: fold(p if v == "p" else x, axes, f, sq, DTYPE[result or t])
            rows.append(Row(f"{name}({args})", get, result))
            if text in (None, "0", shape_text((1, 0)), str(len(shape) - 1)):
                rows.append(Row(f"{name}({args}, squeeze: true)", functools.partial(get, sq=True), result))
    return rows


for shape in [(1,), (2,), (64,), (1, 16), (16, 1), (8, 4), (2, 4, 8), (4, 1, 16), (1, 1, 1), (2, 2, 4, 2), (2, 1, 2, 2, 2)]:
    table(S, f"reduce_{label(shape)}", {"x": ("i32", shape), "p": ("i32", shape)}, reduction_rows("i32", shape, REDUCTIONS), exact)
for t in ARITH:
    table(S, f"reduce_{t}", {"x": (t, (4, 16)), "p": (t, (4, 16))}, reduction_rows(t, (4, 16), REDUCTIONS), exact, repeat=3)


# ---- NaN, infinities, zeros of both signs, ties ----
def odd(name, t, n, rng):
    v = rng.choice(np.array([1.0, 2.0, -1.0, 0.0, -0.0, math.inf, -math.inf, 3.5, 3.5, math.nan, 1.0, 2.0]), n)
    return np.where(rng.random(n) < (0.8 if name == "x" else 0), np.where(np.isnan(v), 1.0, v), v)


for t in FLOATS:
    rows = []
    for a in (0, 1):
        for nan in ("suppress", "propagate"):
            p = nan == "propagate"
            rows += [Row(f"reduce_max(x, {a}, nan: {nan})", lambda x, p=p, a=a, **_: fold(x, (a,), lambda v: least(v, True, p))),
                     Row(f"reduce_min(x, {a}, nan: {nan})", lambda x, p=p, a=a, **_: fold(x, (a,), lambda v: least(v, False, p))),
                     Row(f"partial_max(x, {a}, nan: {nan})", lambda x, p=p, a=a, **_: running(x, a, lambda v: least(v, True, p))),
                     Row(f"max_element(x, {a}, nan: {nan})", lambda x, p=p, a=a, **_: fold(x, (a,), lambda v: where_least(v, True, p), dtype=np.uint32), "u32"),
                     Row(f"min_element(x, {a}, nan: {nan})", lambda x, p=p, a=a, **_: fold(x, (a,), lambda v: where_least(v, False, p), dtype=np.uint32), "u32"),
                     Row(f"partial_min(x, {a}, nan: {nan}, direction: backward)", lambda x, p=p, a=a, **_: running(x, a, lambda v: least(v, False, p), True))]
        rows += [Row(f"reduce_max(x, {a})", lambda x, a=a, **_: fold(x, (a,), lambda v: least(v, True))),
                 Row(f"max_element(x, {a})", lambda x, a=a, **_: fold(x, (a,), lambda v: where_least(v, True), dtype=np.uint32), "u32"),
                 Row(f"min_element(x, {a})", lambda x, a=a, **_: fold(x, (a,), lambda v: where_least(v), dtype=np.uint32), "u32"),
                 Row(f"any_of(x, {a})", lambda x, a=a, **_: np.any(x != 0, a, keepdims=True), "bool"), Row(f"all_of(x, {a})", lambda x, a=a, **_: np.all(x != 0, a, keepdims=True), "bool")]
    table(S, f"nan_{t}", {"x": (t, (8, 4))}, rows, odd, repeat=6)
    table(S, f"nan_wide_{t}", {"x": (t, (2, 256))}, [r for r in rows if ", 1" in r.expr], odd, repeat=2)


# ---- scans ----
def bottom(t, top):
    if t in FLOATS:
        return math.inf if top else -math.inf
    return ref.limits(t)[top]


def scan_rows(t, shape):
    rows = []
    kinds = {"partial_sum": (adder(t), 0, "x"), "cumsum": (adder(t), 0, "x"), "partial_prod": (multiplier(t), 1, "p"), "cumprod": (multiplier(t), 1, "p"),
             "partial_max": (lambda v: least(v, True), bottom(t, 0), "x"), "partial_min": (lambda v: least(v), bottom(t, 1), "x")}
    for name, (f, identity, v) in kinds.items():
        for a in range(len(shape)):
            for words in itertools.product(["", ", direction: backward", ", direction: forward"], ["", ", exclusive: true", ", exclusive: false"]):
                if ("forward" in words[0] or "false" in words[1]) and (name, a) != ("cumsum", 0):
                    continue
                if bool(words[0]) != bool(words[1]) and (t != "i32" or name in ("cumsum", "cumprod")):
                    continue
                rows.append(Row(f"{name}({v}, {a}{''.join(words)})", lambda x, p, v=v, a=a, f=f, identity=identity, w=words:
                                running(p if v == "p" else x, a, f, "backward" in w[0], "true" in w[1], identity)))
    return rows


for shape in [(1,), (64,), (2, 4, 2), (1, 256), (64, 1)]:
    table(S, f"scan_{label(shape)}", {"x": ("i32", shape), "p": ("i32", shape)}, scan_rows("i32", shape), exact)
for t in ARITH:
    if t != "i32":
        table(S, f"scan_{t}", {"x": (t, (4, 8)), "p": (t, (4, 8))}, scan_rows(t, (4, 8)), exact, repeat=2)


# ---- sums of any floats: within the bound of n roundings in any order ----
UNIT = {"f16": 2.0 ** -11, "bf16": 2.0 ** -8, "f32": 2.0 ** -24, "f64": 2.0 ** -53}


def plain(name, t, n, rng):
    return np.exp(rng.normal(0, 0.02, n)) if name == "p" else ref.randoms(t, n, rng)


for t in FLOATS:
    def bound(x, axis, t=t):
        n = x.shape[axis]
        return (n * UNIT[t] * np.sum(np.abs(x.astype(np.float64)), axis, keepdims=True)).astype(np.float64)
    def run_bound(x, axis, t=t):
        return x.shape[axis] * UNIT[t] * np.cumsum(np.abs(x.astype(np.float64)), axis) + UNIT[t]
    rows = []
    for a in (0, 1):
        rows += [Row(f"sum(x, {a})", lambda x, p, a=a: fold(x, (a,), math.fsum), bound=lambda x, p, a=a, b=bound: b(x, a)),
                 Row(f"prod(p, {a})", lambda x, p, a=a: fold(p, (a,), math.prod), bound=lambda x, p, a=a, t=t: 2 * p.shape[a] * UNIT[t] * np.prod(np.abs(p.astype(np.float64)), a, keepdims=True)),
                 Row(f"cumsum(x, {a})", lambda x, p, a=a: running(x, a, math.fsum), bound=lambda x, p, a=a, b=run_bound: b(x, a)),
                 Row(f"reduce(x, {a}, 0, fn(u, v) u + v)", lambda x, p, a=a: fold(x, (a,), math.fsum), bound=lambda x, p, a=a, b=bound: b(x, a))]
    rows += [Row("sum(x)", lambda x, p: fold(x, None, math.fsum), bound=lambda x, p, t=t: x.size * UNIT[t] * np.sum(np.abs(x.astype(np.float64))))]
    table(S, f"sums_{t}", {"x": (t, (8, 64)), "p": (t, (8, 64))}, rows, plain, repeat=3)
    table(S, f"long_sums_{t}", {"x": (t, (4096,)), "p": (t, (64,))}, [
        Row("sum(x, 0)", lambda x, p: fold(x, (0,), math.fsum), bound=lambda x, p, b=bound: b(x, 0)),
        Row("cumsum(x, 0)", lambda x, p: np.array(list(itertools.accumulate(x.astype(np.float64)))), bound=lambda x, p, b=run_bound: b(x, 0)),
        Row("sum(x * x, 0)", lambda x, p, t=t: fold(ref.halves_once(np.multiply)(t, x, x), (0,), math.fsum), bound=lambda x, p, b=bound, t=t: b(x.astype(np.float64) ** 2, 0))], plain)
    # rounding words on sums that are exact: the same value
    table(S, f"sum_words_{t}", {"x": (t, (4, 8)), "p": (t, (4, 8))}, [
        Row(f"{name}({v}, {a}, rounding: {m})", lambda x, p, f=f, v=v, a=a: fold(p if v == "p" else x, (a,), f), bound=lambda x, p: 0)       # x - x may be -0
        for name, v, f in (("sum", "x", math.fsum), ("prod", "p", math.prod)) for a in (0, 1) for m in ref.MODES] + [
        Row(f"cumsum(x, 1, rounding: {m})", lambda x, p: running(x, 1, math.fsum), bound=lambda x, p: 0) for m in ref.MODES], exact, repeat=2)
# larger than the shared memory that one conversion takes: moved in pieces
table(S, "scan_in_pieces", {"x": ("f32", (16384,))}, [Row("cumsum(x, 0)", lambda x: np.array(list(itertools.accumulate(x.astype(np.float64)))),
      bound=lambda x: len(x) * UNIT["f32"] * np.cumsum(np.abs(x.astype(np.float64))) + UNIT["f32"])], plain)
# two elements: one rounding, in the direction that is asked for
for t in FLOATS:
    def pair(f, mode, t=t):
        return lambda x: fold(x, (1,), lambda v: float(ref.round_fraction(f(ref.Fraction(v[0]), ref.Fraction(v[1])), t, mode)))
    table(S, f"sum_rounds_{t}", {"x": (t, (64, 2))}, [Row(f"{n}(x, 1, rounding: {m})", pair(f, m)) for m in ref.MODES
          for n, f in (("sum", lambda a, b: a + b), ("prod", lambda a, b: a * b))], lambda name, t, n, rng: np.abs(ref.randoms(t, n, rng).astype(np.float64)) + 0.5)
table(S, "subnormal_sums", {"x": ("f32", (4, 8))}, [
    Row("sum(x, 1)", lambda x: fold(x, (1,), math.fsum)), Row("sum(x, 1, subnormals: preserve)", lambda x: fold(x, (1,), math.fsum)),
    Row("sum(x, 1, subnormals: flush)", lambda x: np.zeros((4, 1))), Row("reduce_max(x, 0, subnormals: flush)", lambda x: np.zeros((1, 8))),
    Row("cumsum(x, 0)", lambda x: running(x, 0, math.fsum)),
], lambda name, t, n, rng: rng.integers(1, 1000, n) * 2.0 ** -149)


# ---- custom functions ----
def chained(f, identity):
    return lambda v: functools.reduce(f, v, identity)


FUNCTIONS = """fn larger_c(a: i32, b: i32) -> i32 { return a > b ? a : b; }
fn last_set(a: i32, b: i32) -> i32 {
    if b >= 0 { return b; }
    return a;
}
fn larger_by_branches(a: i32, b: i32) -> i32 {
    var r = a;
    if a < b {
        if b >= 0 { return b; }
        r = b;
    } else { if a >= 0 { return a; } }
    return r;
}
fn generic_add<T: arith>(a: T, b: T) -> T { return a + b; }
fn then_affine(m1: i32, c1: i32, m2: i32, c2: i32) -> (i32, i32) { return (m1 * m2, c1 * m2 + c2); }
fn best(v1: i32, i1: i32, v2: i32, i2: i32) -> (i32, i32) {
    if v2 > v1 || (v2 == v1 && i2 < i1) { return (v2, i2); }
    return (v1, i1);
}
"""
# rounds that differ between elements: of a while, of ranges, with continue and break, in branches, after an early return
ROUND_FUNCTIONS = """fn gcd(a: i32, b: i32) -> i32 {
    var x = a, y = b;
    while y != 0 {
        let t = x % y;
        x = y;
        y = t;
    }
    return x;
}
fn greater_by_rounds(a: i32, b: i32) -> i32 {
    var r = a;
    for i in a .. b { r = i + 1; }
    return r;
}
fn or_by_bits(a: i32, b: i32) -> i32 {
    var r = 0;
    for i in 0 .. 31 {
        if (a >> i) == 0 && (b >> i) == 0 { break; }
        if ((a | b) >> i & 1) == 0 { continue; }
        r += 1 << i;
    }
    return r;
}
fn greater_by_steps(a: i32, b: i32) -> i32 {
    if b <= a { return a; }
    var r = a;
    if a % 2 == 0 {
        for i in a .. b step 3 {
            var k = 0;
            while k < 3 {
                if r == b { break; }
                r += 1;
                k += 1;
            }
        }
    } else {
        while true {
            r += 1;
            if r == b { break; }
        }
    }
    return r;
}
"""
w32 = lambda v: ref.wrap(v, "i32")
SINGLE = [  # source of identity and function, Python function
    ("0", "fn(a, b) a + b", lambda a, b: w32(a + b), 0), ("1", "fn(a, b) a * b", lambda a, b: w32(a * b), 1), ("-2147483648", "larger_c", max, -2 ** 31),
    ("-2147483648", "max", max, -2 ** 31), ("2147483647", "fn(a, b) min(a, b)", min, 2 ** 31 - 1), ("0", "generic_add", lambda a, b: w32(a + b), 0),
    ("-1", "last_set", lambda a, b: b if b >= 0 else a, -1), ("-1", "fn(a, b) a >= 0 ? a : b", lambda a, b: a if a >= 0 else b, -1),
    ("-1", "fn(a, b) { let c = a & b; return c; }", lambda a, b: a & b, -1), ("b", "fn(p, q) p + q", lambda a, b: w32(a + b), 0),
    ("-2147483648", "larger_by_branches", max, -2 ** 31),
]
ROUNDS = [("0", "gcd", math.gcd, 0), ("0", "greater_by_rounds", max, 0), ("0", "or_by_bits", lambda a, b: a | b, 0), ("0", "greater_by_steps", max, 0)]
LOOP = [("1", "fn(p, q) { var r = 1; for i in 0 .. 2 { r = i == 0 ? r * p : r * q; } return r; }", lambda a, b: w32(a * b), 1)]


def zip_fold(x, y, axis, f, identity):
    """f of two (x, y) pairs."""
    def line(u, v):
        acc = identity
        for pair in zip(u, v):
            acc = f(acc, (int(pair[0]), int(pair[1])))
        return acc
    x2, y2 = np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1)
    out = np.empty(x2.shape[:-1] + (2,), x.dtype)
    for i in np.ndindex(*x2.shape[:-1]):
        out[i] = line(x2[i], y2[i])
    return np.expand_dims(out[..., 0], axis), np.expand_dims(out[..., 1], axis)


def zip_scan(x, y, axis, f, identity, backward, exclusive):
    x2, y2 = np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1)
    a, b = np.empty_like(x2), np.empty_like(y2)
    for i in np.ndindex(*x2.shape[:-1]):
        line = [(int(u), int(v)) for u, v in zip(x2[i], y2[i])]
        for k in range(len(line)):
            part = line[k + exclusive:] if backward else line[:k + 1 - exclusive]
            a[i][k], b[i][k] = functools.reduce(f, part, identity)
    return np.moveaxis(a, -1, axis), np.moveaxis(b, -1, axis)


affine = lambda p, q: (w32(p[0] * q[0]), w32(p[1] * q[0] + q[1]))
best = lambda p, q: q if q[0] > p[0] or (q[0] == p[0] and q[1] < p[1]) else p
segment = lambda p, q: (p[0] | q[0], q[1] if q[0] else w32(p[1] + q[1]))
TUPLES = [("(1, 0)", "then_affine", affine, (1, 0)), ("(-2147483648, 2147483647)", "best", best, (-2 ** 31, 2 ** 31 - 1)),
          ("(1, 0)", "fn(m1, c1, m2, c2) (m1 * m2, c1 * m2 + c2)", affine, (1, 0)), ("(0, 0)", "fn(f1, v1, f2, v2) (f1 | f2, f2 != 0 ? v2 : v1 + v2)", segment, (0, 0))]


def custom_rows(shape, single=SINGLE, tuples=TUPLES):
    rows = []
    for a in range(len(shape)) if len(shape) < 3 else [1]:
        for identity, text, f, one in single:
            g = chained(f, one)
            rows.append(Row(f"reduce(x, {a}, {identity}, {text})", lambda x, y, a=a, g=g: fold(x, (a,), g)))
            every = text in ("last_set", "fn(a, b) a + b", "max")
            for words in itertools.product(["", ", direction: backward"], ["", ", exclusive: true"]) if every else [("", ""), (", direction: backward", ", exclusive: true")]:
                rows.append(Row(f"scan(x, {a}, {identity}, {text}{''.join(words)})", lambda x, y, a=a, g=g, one=one, w=words: running(x, a, g, bool(w[0]), bool(w[1]), one)))
        rows.append(Row(f"reduce(x, {a}, 0, fn(p, q) p + q, squeeze: true)", lambda x, y, a=a: fold(x, (a,), lambda v: w32(sum(v)), True)))
        for n, (identity, text, f, one) in enumerate(tuples):
            u = f"u{a}_{n}"
            rows.append(Row(u, lambda x, y, a=a, f=f, one=one: zip_fold(x, y, a, f, one)[0], before=f"    let ({u}, v{u}) = reduce((x, y), {a}, {identity}, {text});\n"))
            rows.append(Row("v" + u, lambda x, y, a=a, f=f, one=one: zip_fold(x, y, a, f, one)[1]))
            for k, (back, excl) in enumerate(itertools.product([False, True], [False, True])):
                s = f"s{a}_{n}_{k}"
                words = (", direction: backward" if back else "") + (", exclusive: true" if excl else "")
                rows.append(Row(s, lambda x, y, a=a, f=f, one=one, back=back, excl=excl: zip_scan(x, y, a, f, one, back, excl)[0],
                                before=f"    let ({s}, t{s}) = scan((x, y), {a}, {identity}, {text}{words});\n"))
                rows.append(Row("t" + s, lambda x, y, a=a, f=f, one=one, back=back, excl=excl: zip_scan(x, y, a, f, one, back, excl)[1]))
    return rows


def small(name, t, n, rng):
    return rng.integers(-1, 6, n)       # -1 is the identity of those that keep the first or last that is set


S.add("functions", FUNCTIONS)
S.add("custom_rounds_functions", ROUND_FUNCTIONS)
for shape in [(32,), (4, 8), (2, 1, 2)]:
    table(S, f"custom_{label(shape)}", {"x": ("i32", shape), "y": ("i32", shape)}, custom_rows(shape), small)
table(S, "custom_loop", {"x": ("i32", (4, 8)), "y": ("i32", (4, 8))}, custom_rows((4, 8), LOOP, []), small)
table(S, "custom_rounds", {"x": ("i32", (4, 8)), "y": ("i32", (4, 8))}, custom_rows((4, 8), ROUNDS, []), lambda name, t, n, rng: rng.integers(0, 60, n))

def index_of(x, axes, greatest):
    """The index among the elements of those axes, in row-major order; ties: the lowest."""
    rest = [i for i in range(x.ndim) if i not in axes]
    flat = np.transpose(x, rest + sorted(axes)).reshape([x.shape[i] for i in rest] + [-1])
    return (np.argmax if greatest else np.argmin)(flat, -1).reshape([1 if i in axes else n for i, n in enumerate(x.shape)])


first = "fn(p, q) p >= 0 ? p : q"       # associative, not commutative: the order of the axes shows
table(S, "several_axes", {"x": ("i32", (4, 2, 8))}, [
    Row("argmax(x)", lambda x: index_of(x, (0, 1, 2), True)), Row("x.argmin([0, 2])", lambda x: index_of(x, (0, 2), False)),
    Row("max_element(x, [2, 1])", lambda x: index_of(x, (1, 2), True), "u32"), Row("min_element(x, [0, 1], squeeze: true)", lambda x: index_of(x, (0, 1), False).reshape(8), "u32"),
    Row(f"reduce(x, [0, 2], -1, {first})", lambda x: np.array([[next((v for v in x[:, j, :].flat if v >= 0), -1)] for j in range(2)]).reshape(1, 2, 1)),
    Row(f"reduce(x, [1, 0], -1, {first}, squeeze: true)", lambda x: np.array([next((v for v in x[:, :, k].flat if v >= 0), -1) for k in range(8)])),
    Row("m", lambda x: np.max(x, (0, 1, 2), keepdims=True), before="    let (m, n) = reduce((x, x), [0, 1, 2], (-100, 0), fn(a, i, b, j) (max(a, b), i + j));\n"),
    Row("n", lambda x: np.sum(x, (0, 1, 2), keepdims=True)),
], lambda name, t, n, rng: np.where(rng.random(n) < 0.8, -1, rng.integers(0, 9, n)), repeat=6, index="bb")
table(S, "custom_mixed", {"x": ("f32", (8, 4)), "y": ("i64", (8, 4)), "z": ("u8", (8, 4)), "k": ("bool", (8, 4))}, [
    Row("m", lambda x, y, z, k: fold(x, (0,), lambda v: least(v, True)), before="    let (m, n) = reduce((x, y), 0, (-inf, 0), fn(a, i, b, j) (b > a ? b : a, i + j));\n"),
    Row("n", lambda x, y, z, k: np.sum(y, 0, keepdims=True), "i64"),
    Row("s3", lambda x, y, z, k: fold(z, (1,), lambda v: sum(v) % 256), "u8", before="    let (s1, s2, s3) = reduce((x, y, z), 1, (0, 0, 0), fn(a, i, p, b, j, q) (a + b, i + j, p + q));\n"),
    Row("s2", lambda x, y, z, k: np.sum(y, 1, keepdims=True), "i64"), Row("s1", lambda x, y, z, k: np.sum(x, 1, keepdims=True)),
    Row("reduce(k, 0, false, fn(p, q) p != q)", lambda x, y, z, k: np.sum(k, 0, keepdims=True) % 2, "bool"),
    Row("reduce(z, 0, 7, fn(p, q) p > q ? p : q)", lambda x, y, z, k: np.maximum(np.max(z, 0, keepdims=True), 7), "u8"),
    Row("scan(k, 1, false, fn(p, q) p || q)", lambda x, y, z, k: np.logical_or.accumulate(k, 1), "bool"),
    Row("sum(x * 2, 1) + reduce_max(x)", lambda x, y, z, k: 2 * np.sum(x, 1, keepdims=True) + np.max(x)),
    Row("sum(sum(x, 1) * x, 0)", lambda x, y, z, k: np.sum(np.sum(x, 1, keepdims=True) * x, 0, keepdims=True)),
], lambda name, t, n, rng: rng.integers(-20, 20, n) if name in "xy" else None, repeat=2)

if __name__ == "__main__":
    S.main(__doc__)
