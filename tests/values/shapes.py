#!/usr/bin/env python3
"""Operations that make, move and choose elements: literals, full, iota, reshape, broadcast, permute, cat, extract, insert,
flip, shift, rotate, gather inside a tile, sort, topk, histogram, join, split, pack, unpack, alone and in chains.

Usage: shapes.py build FOLDER --ctilec PATH [--target c|cuda]
       shapes.py run FOLDER [--target c|cuda]
       shapes.py test --ctilec PATH        builds and runs the C target in a temporary folder
"""
import itertools, math
import numpy as np
import reference as ref
from reference import ANY_FLOATS, FLOATS, INTS, NUMERIC
from runner import DTYPE
from suite import Call, Out, Suite
from tables import Row, shape_text, size, table

S = Suite("shapes")
SHAPES = [(), (1,), (16,), (1, 8), (8, 1), (4, 8), (2, 4, 8), (4, 1, 2), (2, 2, 2, 4), (2, 1, 2, 2, 2), (2, 2, 2, 2, 2, 1, 2, 2)]


def label(shape):
    return "x".join(map(str, shape)) if shape else "0"


# ---- references ----
def shifted(x, axis, n, fill):
    out = np.full_like(x, fill)
    d = x.shape[axis]
    if abs(n) < d:
        src = [slice(None)] * x.ndim
        dst = [slice(None)] * x.ndim
        src[axis] = slice(max(0, -n), d - max(0, n))
        dst[axis] = slice(max(0, n), d - max(0, -n))
        out[tuple(dst)] = x[tuple(src)]
    return out


def sub(x, shape, index):
    """extract: zeros where the sub-tile is not inside."""
    if any(not 0 <= i < d // n for i, d, n in zip(index, x.shape, shape)):
        return np.zeros(shape, x.dtype)
    return x[tuple(slice(i * n, i * n + n) for i, n in zip(index, shape))]


def inserted(x, y, index):
    x = x.copy()
    if all(0 <= i < d // n for i, d, n in zip(index, x.shape, y.shape)):
        x[tuple(slice(i * n, i * n + n) for i, n in zip(index, y.shape))] = y
    return x


def taken(x, index, axis, pad):
    """Other coordinates are kept."""
    d = x.shape[axis]
    ok = (index >= 0) & (index < d)
    out = np.take_along_axis(x, np.where(ok, index, 0).astype(np.int64), axis)
    return np.where(ok, out, np.array(pad, x.dtype))


def order(v, descending, nan_first=False):
    """Indices in stable order; NaN after everything else, or before it."""
    nan = [v != v for v in v]
    def key(i):
        x = v[i].item() if hasattr(v[i], "item") else v[i]
        x = float(x) if isinstance(x, float) or v.dtype.kind not in "iub" else int(x)
        return (-1 if nan_first else 1, 0) if nan[i] else (0, -x if descending else x)
    return sorted(range(len(v)), key=key)


def sort(x, axis, descending=False):
    return np.apply_along_axis(lambda v: v[order(v, descending)], axis, x)


def top(x, k, axis, index):
    pick = np.apply_along_axis(lambda v: np.array(order(v, True, True)[:k], np.int32), axis, x)
    return pick if index else np.take_along_axis(x, pick.astype(np.int64), axis)


# ---- one row for each way to move elements of a tile ----
def moving_rows(shape):
    r, n = [], len(shape)
    for other in sorted({(size(shape),), shape[::-1], (1,) + shape, shape + (1, 1), (size(shape) // 2, 2) if size(shape) > 1 else (1,)}):
        if len(other) <= 8:
            r.append(Row(f"reshape(x, {shape_text(other)})", lambda x, other=other: x.reshape(other)))
    if n:
        r.append(Row(f"reshape(x, [_, {shape[-1]}])", lambda x: x.reshape(-1, shape[-1])))
        r.append(Row("reshape(x, [_])", lambda x: x.reshape(-1)))
    wide = tuple(4 if d == 1 else d for d in shape)
    for to in {wide, (2,) + shape, (2, 1) + wide}:
        if len(to) <= 8:
            r.append(Row(f"broadcast(x, {shape_text(to)})", lambda x, to=to: np.broadcast_to(x, to)))
    axes = list(itertools.permutations(range(n)))
    for p in axes if n <= 3 else [axes[len(axes) // 3], axes[-1], axes[len(axes) * 2 // 3]]:
        r.append(Row(f"permute(x, {shape_text(p)})", lambda x, p=p: np.transpose(x, p)))
    if n >= 2:
        r.append(Row("transpose(x)", lambda x: np.swapaxes(x, 0, 1)))
        r.append(Row(f"transpose(x, {n - 2}, {n - 1})", lambda x: np.swapaxes(x, n - 2, n - 1)))
        r.append(Row("transpose(x, i: 1, j: 0)", lambda x: np.swapaxes(x, 0, 1)))
    for a in range(n + 1):
        if n < 8:
            r.append(Row(f"expand(x, {a})", lambda x, a=a: np.expand_dims(x, a)))
            r.append(Row("x[" + ", ".join([":"] * a + ["_"] + [":"] * (n - a)) + "]", lambda x, a=a: np.expand_dims(x, a)))
    if 0 < n < 7:
        r.append(Row("x[" + ", ".join(["_"] + [":"] * n + ["_"]) + "]", lambda x: x[None, ..., None]))
    for a, d in enumerate(shape):
        r.append(Row(f"flip(x, {a})", lambda x, a=a: np.flip(x, a)))
        for k in sorted({0, 1, -1, 3, d - 1, -d, d, -d - 1, 1000}):
            r.append(Row(f"shift(x, {a}, {k}, 5)", lambda x, a=a, k=k: shifted(x, a, k, 5)))
            r.append(Row(f"rotate(x, {a}, {k})", lambda x, a=a, k=k: np.roll(x, k, a)))
    return r


def pair_rows(shape):
    """x and y of one type"""
    r, n = [], len(shape)
    for a in range(n):
        r.append(Row(f"cat(x, y, {a})", lambda x, y, a=a: np.concatenate([x, y], a)))
        if shape[a] <= 8:
            r.append(Row(f"cat(cat(x, y, {a}), cat(y, x, {a}), {a})", lambda x, y, a=a: np.concatenate([x, y, y, x], a)))
    if n < 8:
        r.append(Row("join(x, y)", lambda x, y: np.stack([x, y], -1)))
        r.append(Row("p", lambda x, y: x, before="    let (p, q) = split(join(x, y));\n"))
        r.append(Row("q", lambda x, y: y))
    if n and shape[-1] == 2:
        r.append(Row("u", lambda x, y: x[..., 0], before="    let (u, v) = split(x);\n"))
        r.append(Row("v", lambda x, y: x[..., 1]))
    return r


def sub_rows(shape):
    """x, and z, the sub-tile to insert"""
    small = tuple(max(1, d // 2) if i % 2 == 0 else max(1, d // 4) for i, d in enumerate(shape))
    counts = [d // s for d, s in zip(shape, small)]
    r, t = [], shape_text(small)
    places = list(itertools.product(*[range(c) for c in counts]))
    outside = [tuple(c if i == k else 0 for i, c in enumerate(counts)) for k in range(len(shape))]
    outside += [tuple(-1 if i == k else c - 1 for i, c in enumerate(counts)) for k in range(len(shape))]
    for at in [places[0], places[-1], places[len(places) // 2]]:
        r.append(Row(f"extract(x, {t}, {shape_text(at)})", lambda x, z, at=at: sub(x, small, at)))
        r.append(Row(f"insert(x, z, {shape_text(at)})", lambda x, z, at=at: inserted(x, z, at)))
    for at in [places[-1], places[len(places) // 2]] + outside:
        text = "[" + ", ".join(f"b + {i}" if i >= 0 else f"b - {-i}" for i in at) + "]"
        r.append(Row(f"extract(x, {t}, {text})", lambda x, z, at=at: sub(x, small, at)))
        r.append(Row(f"insert(x, z, {text})", lambda x, z, at=at: inserted(x, z, at)))
    if shape:
        far = "[" + ", ".join(["i64(b) + 4294967296"] + ["0"] * (len(shape) - 1)) + "]"
        r.append(Row(f"extract(x, {t}, {far})", lambda x, z: np.zeros(small, x.dtype)))
        r.append(Row(f"insert(x, z, {far})", lambda x, z: x))
    return small, r


for shape in SHAPES:
    table(S, f"move_{label(shape)}", {"x": ("i32", shape)}, moving_rows(shape))
    table(S, f"pair_{label(shape)}", {"x": ("i32", shape), "y": ("i32", shape)}, pair_rows(shape))
    small, rows = sub_rows(shape)
    table(S, f"sub_{label(shape)}", {"x": ("i32", shape), "z": ("i32", small)}, rows)
for t in NUMERIC:
    if t != "i32":
        fill = {"bool": ("true", 1)}.get(t, ("1.5", 1.5) if t in ANY_FLOATS else ("5", 5))
        table(S, f"moves_{t}", {"x": (t, (4, 8)), "y": (t, (4, 8)), "z": (t, (2, 2))}, [
            Row("flip(transpose(x), 0)", lambda x, y, z: np.flip(x.T, 0)),
            Row(f"shift(x, 1, -3, {fill[0]})", lambda x, y, z, fill=fill: shifted(x, 1, -3, fill[1])),
            Row("rotate(cat(x, y, 0), 0, 3)", lambda x, y, z: np.roll(np.concatenate([x, y]), 3, 0)),
            Row("insert(x, z, [b + 1, 3])", lambda x, y, z: inserted(x, z, (1, 3))),
            Row("extract(x, [2, 4], [b + 1, b])", lambda x, y, z: sub(x, (2, 4), (1, 0))),
            Row("extract(x, [2, 4], [b + 2, b])", lambda x, y, z: np.zeros((2, 4), x.dtype)),
            Row("join(x, y)", lambda x, y, z: np.stack([x, y], -1)),
            Row("broadcast(reshape(z, [4, 1]), [4, 8])", lambda x, y, z: np.broadcast_to(z.reshape(4, 1), (4, 8))),
            Row("gather(x, [[0, 1], [3, -1], [9, 2], [1, 1]], 1)", lambda x, y, z: taken(x, np.array([[0, 1], [3, -1], [9, 2], [1, 1]]), 1, 0)),
            Row(f"gather(x, iota([1, 8], i32), 0, pad: {fill[0]})", lambda x, y, z, fill=fill: taken(x, np.arange(8).reshape(1, 8), 0, fill[1])),
            Row("select([[true], [false], [true], [false]], x, y)",
                lambda x, y, z: np.where(np.array([[1], [0], [1], [0]], bool), x, y)),
        ])


# ---- making ----
def making(t):
    k = t in INTS
    rows = [Row(f"zeros([4, 2], {t})", lambda x: np.zeros((4, 2))), Row(f"ones([], {t})", lambda x: np.ones(())),
            Row(f"full([], x0, {t})", lambda x: x[0], before=f"    let x0 = {t}(extract(x, [1], [0]));\n"),
            Row(f"full([2, 4, 1], x0, {t})", lambda x: np.full((2, 4, 1), x[0])),
            Row(f"broadcast(x0, [2, 2])", lambda x: np.full((2, 2), x[0])),
            Row(f"[x0, {t}(1), x0, {t}(0)]", lambda x: np.array([x[0], 1, x[0], 0], x.dtype)),
            Row(f"[[x0], [{t}(1)]]", lambda x: np.array([[x[0]], [1]], x.dtype)),
            Row(f"cat(x, zeros([8], {t}), 0)", lambda x: np.concatenate([x, np.zeros(8, x.dtype)]))]
    if k or t in ANY_FLOATS:
        v = {"f8e4m3": 448, "f8e5m2": 57344, "u8": 255, "u16": 65535, "i8": -128}.get(t, -7 if t[0] != "u" else 9)
        rows += [Row(f"full([8], {v}, {t})", lambda x: np.full(8, v)), Row(f"full([1, 1], -2 + 5, {t})", lambda x: np.full((1, 1), 3))]
    if t in ANY_FLOATS:
        rows += [Row(f"full([2], -inf, {t})", lambda x: np.full(2, -np.inf)), Row(f"full([2], nan, {t})", lambda x: np.full(2, np.nan)),
                 Row(f"full([2], -0.0, {t})", lambda x: np.full(2, -0.0)), Row(f"full([2], 0.1, {t})", lambda x: ref.cast(np.array([0.1, 0.1]), "f64", t)),
                 Row(f"full([2], 0x1.8p3, {t})", lambda x: np.full(2, 12.0))]
        if t == "f8e4m3":
            rows = [r for r in rows if "inf" not in r.expr]
    if k or t == "bool":
        n = 2 if t == "bool" else 128 if t == "i8" else 256
        rows += [Row(f"iota([{n}], {t})", lambda x: np.arange(n)), Row(f"iota([{n // 2}, 2], {t})", lambda x: np.arange(n).reshape(-1, 2)),
                 Row(f"iota([], {t})", lambda x: np.zeros(())), Row(f"iota([2, 1, {max(1, n // 4)}], {t})", lambda x: np.arange(2 * max(1, n // 4)).reshape(2, 1, -1))]
    if k:
        rows += [Row(f"arange(8, {t}(3))", lambda x: 3 + np.arange(8)), Row(f"arange(8, {t}(3), {t}(2))", lambda x: 3 + 2 * np.arange(8)),
                 Row(f"arange(4, x0, {t}(3))", lambda x: x[0] + 3 * np.arange(4).astype(x.dtype))]
    table(S, f"make_{t}", {"x": (t, (8,))}, rows)


for t in NUMERIC:
    making(t)
table(S, "make_untyped", {"x": ("i32", (8,))}, [
    Row("arange(8)", lambda x: np.arange(8)), Row("arange(8, 5)", lambda x: 5 + np.arange(8)), Row("arange(4, -1, -3)", lambda x: -1 - 3 * np.arange(4)),
    Row("arange(1)", lambda x: np.zeros(1)), Row("[1, -2, 3, 4]", lambda x: np.array([1, -2, 3, 4])), Row("[7]", lambda x: np.array([7])),
    Row("[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]", lambda x: np.arange(1, 9).reshape(2, 2, 2)),
    Row("[1.5, 2.0]", lambda x: np.array([1.5, 2]), "f32"), Row("[1, 2.5]", lambda x: np.array([1, 2.5]), "f32"), Row("[true, false]", lambda x: np.array([1, 0]), "bool"),
    Row("[1, 2, 3, 4, 5, 6, 7, 8] * x", lambda x: x * np.arange(1, 9)),
    Row("[1.5, -0.25] * element_cast([1, 3], f64)", lambda x: np.array([1.5, -0.75]), "f64"),
])


# ---- choosing ----
def few(name, t, n, rng):
    """Values that meet: order and ties matter."""
    if name in ("i", "j"):
        return rng.integers(-3, 20, n)
    if t == "bool":
        return rng.integers(0, 2, n)
    v = rng.integers(0, 12, n)
    if t[0] == "u":
        return np.where(rng.random(n) < 0.2, DTYPE[t].type(ref.limits(t)[1]), v.astype(DTYPE[t]))
    if t in INTS:
        return np.where(rng.random(n) < 0.2, DTYPE[t].type(ref.limits(t)[rng.integers(0, 2)]), v - 6)
    return np.where(rng.random(n) < 0.3, rng.choice(np.array([math.nan, math.inf, -math.inf, -0.0, 0.0]), n), v - 6.0).astype(np.float64)


for shape in [(1,), (2,), (32,), (4, 8), (8, 4), (2, 8, 4), (1, 16), (64, 1)]:
    for t in ["i32"] if shape != (4, 8) else ["bool"] + INTS + FLOATS:
        rows = []
        for a, d in enumerate(shape):
            rows += [Row(f"sort(x, {a})", lambda x, a=a, **_: sort(x, a)), Row(f"sort(x, {a}, descending: true)", lambda x, a=a, **_: sort(x, a, True)),
                     Row(f"sort(x, {a}, descending: false)", lambda x, a=a, **_: sort(x, a))]
            for k in sorted({1, max(1, d // 2), d}):
                v = f"v{a}_{k}"
                rows += [Row(v, lambda x, a=a, k=k, **_: top(x, k, a, False), before=f"    let ({v}, i{v}) = topk(x, {k}, {a});\n"),
                         Row("i" + v, lambda x, a=a, k=k, **_: top(x, k, a, True), "i32")]
        rows += [Row("w", lambda x, **_: top(x, 1, -1, False), before="    let (w, wi) = topk(x, 1);\n"), Row("wi", lambda x, **_: top(x, 1, -1, True), "i32")]
        table(S, f"choose_{t}_{label(shape)}", {"x": (t, shape)}, rows, few, repeat=2)

for it in ["i32", "u8", "i64", "i8", "u64"]:
    def pick(name, t, n, rng):
        return few(name, t, n, rng) if name == "x" or it[0] == "i" else np.where(rng.random(n) < 0.1, DTYPE[t].type(ref.limits(t)[1]), rng.integers(0, 20, n).astype(DTYPE[t]))
    table(S, f"take_{it}", {"x": ("i32", (8, 4)), "i": (it, (16, 4)), "j": (it, (8, 2))}, [
        Row("gather(x, i, 0)", lambda x, i, j: taken(x, i.astype(np.int64), 0, 0)), Row("gather(x, j, 1, pad: -77)", lambda x, i, j: taken(x, j.astype(np.int64), 1, -77)),
        Row("gather(x, i, 0, pad: 9)", lambda x, i, j: taken(x, i.astype(np.int64), 0, 9)),
        Row("gather(gather(x, i, 0), iota([16, 2], i32), 1)", lambda x, i, j: taken(taken(x, i.astype(np.int64), 0, 0), np.arange(32).reshape(16, 2), 1, 0)),
    ], pick, repeat=3)
for t in INTS:
    def near(name, t, n, rng):
        lo, hi = ref.limits(t)
        return np.where(rng.random(n) < 0.1, rng.choice(np.array([lo, hi], DTYPE[t]), n), rng.integers(max(lo, -2), 12, n).astype(DTYPE[t]))
    def count(x, n):
        return np.array([np.sum(x == k) for k in range(n)])
    table(S, f"histogram_{t}", {"x": (t, (64,)), "y": (t, (4, 8)), "z": (t, ())}, [
        Row("histogram(x, 8)", lambda x, y, z: count(x, 8), "i32"), Row("histogram(x, 1)", lambda x, y, z: count(x, 1), "i32"),
        Row("histogram(x, 256)", lambda x, y, z: count(x, 256), "i32"), Row("histogram(reshape(y, [32]), 16)", lambda x, y, z: count(y, 16), "i32"),
    ], near, repeat=2)
F4E2M1 = np.array([s * v for s in (1.0, -1.0) for v in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)])
table(S, "packing", {"x": ("u8", (4, 8)), "i": ("i8", (4, 8)), "k": ("u8", (2,))}, [
    Row("pack(x & 15)", lambda x, i, k: (x[..., 0::2] & 15) | (x[..., 1::2] & 15) << 4), Row("pack(k & 15)", lambda x, i, k: (k[0:1] & 15) | (k[1:2] & 15) << 4),
    Row("unpack(x, u4)", lambda x, i, k: np.stack([x & 15, x >> 4], -1).reshape(4, 16)),
    Row("unpack(x, i4)", lambda x, i, k: ((np.stack([x & 15, x >> 4], -1).reshape(4, 16).astype(np.int16) ^ 8) - 8), "i8"),
    Row("unpack(x, f4e2m1)", lambda x, i, k: F4E2M1[np.stack([x & 15, x >> 4], -1).reshape(4, 16)], "f8e4m3"),
    Row("unpack(pack(x & 15), u4)", lambda x, i, k: x & 15),
])


# ---- chains: what fusing gets wrong ----
def chain(seed):
    """A random walk through shapes."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(2 ** k) for k in rng.integers(0, 4, rng.integers(1, 4)))
    x = np.arange(size(shape)).reshape(shape)
    start, text, steps = shape, "x", [lambda v: v]
    for _ in range(int(rng.integers(3, 8))):
        n, a = len(shape), int(rng.integers(0, len(shape))) if shape else 0
        kind = int(rng.integers(0, 13))
        if kind == 0:
            to = list(shape) + [1] * int(rng.integers(0, 2)) if n < 4 else list(shape)
            to = [int(v) for v in rng.permutation(to)]
            text, f = f"reshape({text}, {shape_text(to)})", lambda v, to=tuple(to): v.reshape(to)
        elif kind == 1:
            p = [int(v) for v in rng.permutation(n)]
            text, f = f"permute({text}, {shape_text(p)})", lambda v, p=tuple(p): np.transpose(v, p)
        elif kind == 2 and n and size(shape) < 256:
            text, f = f"cat({text}, flip({text}, {a}), {a})", lambda v, a=a: np.concatenate([v, np.flip(v, a)], a)
        elif kind == 3 and n:
            k = int(rng.integers(-9, 9))
            text, f = f"rotate({text}, {a}, {k})", lambda v, a=a, k=k: np.roll(v, k, a)
        elif kind == 4 and n:
            k = int(rng.integers(-3, 4))
            text, f = f"shift({text}, {a}, {k}, -3)", lambda v, a=a, k=k: shifted(v, a, k, -3)
        elif kind == 5 and n and shape[a] > 1:
            small = tuple(d // 2 if i == a else d for i, d in enumerate(shape))
            at = tuple(int(rng.integers(0, 3)) if i == a else 0 for i in range(n))
            text = f"extract({text}, {shape_text(small)}, [" + ", ".join(f"b + {i}" for i in at) + "])"
            f = lambda v, small=small, at=at: sub(v, small, at)
        elif kind == 6 and n < 6 and size(shape) < 256:
            text, f = f"join({text}, {text} + 1)", lambda v: np.stack([v, v + 1], -1)
        elif kind == 7 and n:
            text, f = f"flip({text}, {a})", lambda v, a=a: np.flip(v, a)
        elif kind == 8 and n and size(shape) <= 256:
            down = bool(rng.integers(0, 2))
            text, f = f"sort({text}, {a}, descending: {str(down).lower()})", lambda v, a=a, down=down: sort(v, a, down)
        elif kind == 9 and n:
            text = f"gather({text}, ({text}) & {2 * shape[a] - 1}, {a}, pad: -9)"
            f = lambda v, a=a: taken(v, v & (2 * v.shape[a] - 1), a, -9)
        elif kind == 10 and n and size(shape) < 256:
            to = tuple(2 if d == 1 else d for d in (2,) + shape)
            text, f = f"broadcast({text}, {shape_text(to)})", lambda v, to=to: np.broadcast_to(v, to)
        elif kind == 11 and n:
            half = tuple(max(1, d // 2) for d in shape)
            zero = shape_text([0] * n)
            text = f"insert({text}, extract({text}, {shape_text(half)}, {zero}) * 3, [" + ", ".join(["b"] * n) + "])"
            f = lambda v, half=half, n=n: inserted(v, sub(v, half, (0,) * n) * 3, (0,) * n)
        elif kind == 12:
            text, f = f"select({text} > 5, {text} - 7, 100 - {text})", lambda v: np.where(v > 5, v - 7, 100 - v)
        else:
            continue
        steps.append(f)
        x = f(x)
        shape = x.shape
        if len(text) > 3000:
            break
    def apply(x):
        for f in steps:
            x = f(x)
        return x
    return start, Row(text, apply)


for seed in range(60):
    start, row = chain(seed)
    table(S, f"chain_{seed}", {"x": ("i32", start)}, [row], lambda name, t, n, rng: rng.integers(-20, 40, n))

if __name__ == "__main__":
    S.main(__doc__)
