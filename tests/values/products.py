#!/usr/bin/env python3
"""Matrix products: mma, matmul and @ for every mix of element types, ranks 2 and 3, batches of one, every size from 1 to 64,
the words of precision:, products over whole matrices whose sizes are no multiples of the tile.

Usage: products.py build FOLDER --ctilec PATH [--target c|cuda]
       products.py run FOLDER [--target c|cuda]
       products.py test --ctilec PATH        builds and runs the C target in a temporary folder
"""
import itertools, math
import numpy as np
import reference as ref
from runner import DTYPE
from suite import Call, Out, Suite
import tables
from tables import Row

S = Suite("products")


def table(*args, **more):
    tables.table(*args, index="at", **more)


SIZES = [1, 2, 4, 8, 16, 32, 64]
BYTES = ["bool", "i8", "u8"]
# a, b -> accumulators; the first is what a product without one gives
TRIPLES = {("f16", "f16"): ["f16", "f32"], ("bf16", "bf16"): ["f32"], ("tf32", "tf32"): ["f32"], ("f32", "f32"): ["f32"], ("f64", "f64"): ["f64"],
           ("f8e4m3", "f8e4m3"): ["f16", "f32"], ("f8e5m2", "f8e5m2"): ["f16", "f32"]}
TRIPLES.update({(s, t): ["i32"] for s in BYTES for t in BYTES})


def product(a, b, c=None):
    r = np.matmul(a.astype(np.float64), b.astype(np.float64))
    return r if c is None else r + c.astype(np.float64)


def as_type(x, t):
    """Small integers as t holds them."""
    if t == "bool":
        return (x != 0).astype(np.float64)
    return x.astype(np.int64).astype(DTYPE[t]).astype(np.float64) if t in ref.INTS else x


F4E2M1 = np.array([s * v for s in (1.0, -1.0) for v in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)])


def nibbles(x):
    """Two 4-bit values of each byte, the low one first."""
    return np.stack([x & 15, x >> 4], -1).reshape(*x.shape[:-1], -1)


def small(name, t, n, rng):
    return rng.integers(-3, 4, n)


def typed(s, t, acc):
    ca = f"element_cast(a, {s})" if s != "i8" else "a"
    cb = f"element_cast(b, {t})" if t != "i8" else "b"
    cc = f"element_cast(c, {acc})"
    return ca, cb, cc, lambda a, b, c: product(as_type(a, s), as_type(b, t), c), lambda a, b, c: product(as_type(a, s), as_type(b, t))


def rows_of(triples, default=True):
    rows = []
    for (s, t), accs in triples.items():
        for i, acc in enumerate(accs):
            ca, cb, cc, with_c, without = typed(s, t, acc)
            rows.append(Row(f"mma({ca}, {cb}, {cc})", with_c, acc))
            if i == 0 and default:
                rows.append(Row(f"{ca} @ {cb}", without, acc))
                rows.append(Row(f"matmul({ca}, {cb})", without, acc))
    return rows


def shapes(m, n, k):
    return {"a": ("i8", (m, k)), "b": ("i8", (k, n)), "c": ("i8", (m, n))}


# every type at some sizes, two types at many
for m, n, k in [(16, 8, 16), (1, 1, 1), (64, 64, 64), (8, 32, 4), (2, 1, 64)]:
    table(S, f"types_{m}_{n}_{k}", shapes(m, n, k), rows_of(TRIPLES, (m, n, k) != (64, 64, 64)), small)
MANY = {("f16", "f16"): ["f32"], ("i8", "u8"): ["i32"]}
done = set()
for i, (m, n) in enumerate(itertools.product(SIZES, SIZES)):        # each pair of two of the sizes, m n and, in turn, k
    k = SIZES[(SIZES.index(m) + 2 * SIZES.index(n)) % 7]
    table(S, f"size_{m}_{n}_{k}", shapes(m, n, k), rows_of(MANY if i % 2 else {("bf16", "bf16"): ["f32"], ("f32", "f32"): ["f32"]}, False), small)

# ---- batches ----
for ba, bb in [(1, 1), (4, 4), (1, 4), (2, 1)]:
    some = {p: TRIPLES[p] for p in [("f16", "f16"), ("f32", "f32"), ("f64", "f64"), ("u8", "i8"), ("f8e4m3", "f8e4m3")]}
    table(S, f"batch_{ba}_{bb}", {"a": ("i8", (ba, 8, 16)), "b": ("i8", (bb, 16, 4)), "c": ("i8", (max(ba, bb), 8, 4))}, rows_of(some), small)

# ---- operands that other operations make, products that go on ----
table(S, "around", {"a": ("f32", (16, 8)), "b": ("f32", (8, 16)), "c": ("f32", (16, 16))}, [
    Row("transpose(b) @ transpose(a)", lambda a, b, c: (a @ b).T), Row("(a + 1) @ (b * 2)", lambda a, b, c: (a + 1) @ (b * 2)),
    Row("mma(a, b, c) - c", lambda a, b, c: a @ b), Row("mma(a, b, mma(a, b, c))", lambda a, b, c: 2 * (a @ b) + c),
    Row("mma(a, b, zeros([16, 16], f32))", lambda a, b, c: a @ b), Row("sum(a @ b, 1)", lambda a, b, c: np.sum(a @ b, 1, keepdims=True)),
    Row("a @ (b @ c)", lambda a, b, c: a @ (b @ c)), Row("c @ reshape(transpose(b), [16, 8])", lambda a, b, c: c @ b.T),
    Row("a @ b * 2 + c", lambda a, b, c: (a @ b) * 2 + c), Row("max(a @ b, c)", lambda a, b, c: np.maximum(a @ b, c)),
    Row("acc", lambda a, b, c: 3 * (a @ b) + c, before="    var acc = c;\n    for i in 0 .. 3 { acc = mma(a, b, acc); }\n"),
    Row("power", lambda a, b, c: c, before="    var power = c;\n    power @= select(iota([16, 16], i32) % 17 == 0, 1.0, zeros([16, 16], f32));\n"),
    Row("extract(a @ b, [4, 8], [1, at])", lambda a, b, c: (a @ b)[4:8, :8]),
], small)

# two operands of one operation, in other layouts: what the first was made of is the second
table(S, "beside", {"a": ("f16", (16, 16)), "b": ("f16", (16, 16)), "c": ("f32", (16, 16))}, [
    Row("sort(p, 1) - p", lambda a, b, c: np.sort(product(a, b, c), 1) - product(a, b, c), "f32", before="    let p = mma(a, b, c);\n"),
    Row("flip(q, 0) - q * 2", lambda a, b, c: np.flip(product(a, b, c), 0) - product(a, b, c) * 2, "f32", before="    let q = mma(a, b, c);\n"),
], small)


# ---- values that integers do not show ----
def wild(name, t, n, rng):
    return ref.randoms(t, n, rng)


def bound_of(unit, extra=0.0):
    """n roundings of the accumulator in any order, and the rounding of the operands."""
    def f(a, b, c=None):
        mag = np.matmul(np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64)))
        if c is not None:
            mag = mag + np.abs(c.astype(np.float64))
        return ((a.shape[-1] + 2) * unit + extra) * mag
    return f


for s, acc, unit, extra in [("f16", "f32", 2.0 ** -23, 0), ("bf16", "f32", 2.0 ** -23, 0), ("f32", "f32", 2.0 ** -24, 0), ("f64", "f64", 2.0 ** -53, 0),
                            ("f8e4m3", "f32", 2.0 ** -13, 0), ("tf32", "f32", 2.0 ** -23, 0), ("f16", "f16", 2.0 ** -11, 0)]:
    table(S, f"any_{s}_{acc}", {"a": (s, (16, 64)), "b": (s, (64, 32)), "c": (acc, (16, 32))}, [
        Row("mma(a, b, c)", lambda a, b, c: product(a, b, c), acc, bound=bound_of(unit, extra))] + ([
        Row("a @ b", lambda a, b, c: product(a, b), acc, bound=lambda a, b, c, f=bound_of(unit, extra): f(a, b))] if TRIPLES[s, s][0] == acc else []), wild, repeat=2)
table(S, "precision", {"a": ("f32", (32, 64)), "b": ("f32", (64, 16)), "c": ("f32", (32, 16))}, [
    Row("mma(a, b, c, precision: exact)", lambda a, b, c: product(a, b, c), bound=bound_of(2.0 ** -24)),
    Row("mma(a, b, c, precision: tf32)", lambda a, b, c: product(a, b, c), bound=bound_of(2.0 ** -23, 2.0 ** -10)),
    Row("mma(a, b, c, precision: tf32x3)", lambda a, b, c: product(a, b, c), bound=bound_of(2.0 ** -22, 2.0 ** -19)),
    Row("matmul(a, b, precision: tf32x3)", lambda a, b, c: product(a, b), bound=lambda a, b, c: bound_of(2.0 ** -22, 2.0 ** -19)(a, b)),
    Row("matmul(a, b, precision: tf32)", lambda a, b, c: product(a, b), bound=lambda a, b, c: bound_of(2.0 ** -23, 2.0 ** -10)(a, b)),
], wild, repeat=2)


def loops(a, b, c):
    """Element by element: numpy's own product may take shortcuts."""
    p = a.astype(np.float64)[:, :, None] * b.astype(np.float64)[None, :, :]
    return np.sum(p, 1) + c.astype(np.float64)


def infinite(name, t, n, rng):
    return np.where(rng.random(n) < 0.05, rng.choice(np.array([math.inf, -math.inf, math.nan]), n), rng.integers(-2, 3, n))


for s, acc in [("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("f64", "f64"), ("f8e5m2", "f32"), ("f16", "f16")]:
    table(S, f"infinite_{s}_{acc}", {"a": (s, (16, 8)), "b": (s, (8, 16)), "c": (acc, (16, 16))},
          [Row("mma(a, b, c)", lambda a, b, c: loops(a, b, c), acc)], infinite, repeat=2)


table(S, "wrapping", {"a": ("i8", (8, 32)), "b": ("u8", (32, 8)), "c": ("i32", (8, 8))}, [
    Row("mma(a, b, c)", lambda a, b, c: np.vectorize(lambda v: ref.wrap(int(v), "i32"))(a.astype(object) @ b.astype(object) + c.astype(object)), "i32")],
    lambda name, t, n, rng: rng.choice(np.array([2 ** 31 - 1, -2 ** 31, 2 ** 31 - 70000]), n) if name == "c" else ref.randoms(t, n, rng), repeat=3)

# ---- block scales ----
SCALED = ["f8e4m3", "f8e5m2"]


def e8m0(s):
    """The byte s as 2^(s - 127); 255 is NaN."""
    return np.where(s == 255, math.nan, np.exp2(s.astype(np.float64) - 127))


def spread(x, s, axis):
    """An operand times its scales."""
    v = e8m0(s) if s.dtype == np.uint8 else s.astype(np.float64)
    return x.astype(np.float64) * np.repeat(v, x.shape[axis] // s.shape[axis], axis)


def scaled_product(a, sa, b, sb, c):
    return product(spread(a, sa, -1), spread(b, sb, -2), c)


def some_scales(name, t, n, rng):
    """Powers of two around 1, so that every sum is exact in f32."""
    if t == "u8":
        return rng.integers(125, 130, n)
    if name in ("sa", "sb"):
        return rng.choice(np.array([0.5, 1.0, 1.5, 2.0, -3.0]), n)
    return rng.integers(-3, 4, n)


def scaled_shapes(s, t, scale, m, n, k, block, batches=()):
    ba, bb = [(x,) for x in batches] or [(), ()]
    return {"a": (s, (*ba, m, k)), "sa": (scale, (*ba, m, k // block)), "b": (t, (*bb, k, n)), "sb": (scale, (*bb, k // block, n)),
            "c": ("f32", (*max(ba, bb), m, n))}


SCALED_ROWS = [Row("mma_scaled(a, sa, b, sb, c)", scaled_product, "f32")]
for i, (s, t) in enumerate(itertools.product(SCALED, SCALED)):
    for scale, block in [("u8", 32), ("u8", 16), ("f8e4m3", 16)]:
        m, n, k = [(16, 8, 64), (32, 16, 32), (1, 2, 128), (64, 64, 64)][i]
        table(S, f"scaled_{s}_{t}_{scale}_{block}", scaled_shapes(s, t, scale, m, n, k, block), SCALED_ROWS, some_scales)
table(S, "scaled_batches", scaled_shapes("f8e4m3", "f8e5m2", "u8", 16, 8, 64, 32, (1, 4)), SCALED_ROWS, some_scales)
table(S, "scaled_ones", scaled_shapes("f8e4m3", "f8e4m3", "u8", 2, 2, 64, 32), [
    Row("mma_scaled(a, sa, b, sb, c)", lambda a, sa, b, sb, c: np.full((2, 2), 256.0), "f32"),
    Row("mma_scaled(transpose(b), transpose(sb), transpose(a), transpose(sa), c)", lambda a, sa, b, sb, c: np.full((2, 2), 256.0), "f32"),
], lambda name, t, n, rng: np.full(n, 128 if t == "u8" else 0.0 if name == "c" else 1.0))
table(S, "scaled_ends", scaled_shapes("f8e4m3", "f8e5m2", "u8", 16, 8, 32, 32), SCALED_ROWS,     # one product each: exact, also where it is small or NaN
      lambda name, t, n, rng: (np.array([0, 1, 100, 254, 255, 127, 3, 126] * n)[:n] if name == "sa" else np.array([127, 254, 255, 128, 120, 127, 126, 0])[:n])
      if t == "u8" else np.array([0.0 if name == "c" else float(i % (32 if name == "a" else 1) == 0) if name == "a" else 1.0 for i in range(n)]), repeat=1)
table(S, "scaled_f4", {"a": ("u8", (16, 32)), "sa": ("f8e4m3", (16, 4)), "b": ("u8", (8, 32)), "sb": ("f8e4m3", (4, 8)), "c": ("f32", (16, 8))}, [
    Row("mma_scaled(unpack(a, f4e2m1), sa, transpose(unpack(b, f4e2m1)), sb, c)",
        lambda a, sa, b, sb, c: scaled_product(F4E2M1[nibbles(a)], sa, F4E2M1[nibbles(b)].T, sb, c), "f32")],
    lambda name, t, n, rng: rng.integers(0, 256, n) if t == "u8" else some_scales(name, t, n, rng), repeat=2)
table(S, "scaled_any", scaled_shapes("f8e4m3", "f8e5m2", "u8", 32, 16, 128, 32), [
    Row("mma_scaled(a, sa, b, sb, c)", scaled_product, "f32",
        bound=lambda a, sa, b, sb, c: 130 * 2.0 ** -23 * (np.abs(spread(a, sa, -1)) @ np.abs(spread(b, sb, -2)) + np.abs(c.astype(np.float64))))],
    lambda name, t, n, rng: rng.integers(100, 150, n) if t == "u8" else rng.standard_normal(n), repeat=2)

# ---- whole matrices ----
S.add("gemm", """
kernel gemm<T: any, A: any, BM: int = 32, BN: int = 16, BK: int = 16>(
    a: tensor<T, [m, k]>, b: tensor<T, [k, n], layout_left>, c: out tensor<A, [m, n]>) grid [cdiv(m, BM), cdiv(n, BN)]
{
    let i = bid(0), j = bid(1);
    var acc: tile<A, [BM, BN]> = 0;
    for p in 0 .. cdiv(k, BK) { acc = mma(a.load([i, p], [BM, BK]), b.load([p, j], [BK, BN]), acc); }
    c.store([i, j], acc);
}
instance gemm_f16 = gemm<f16, f32>;
instance gemm_bf16 = gemm<bf16, f32, 64, 64, 32>;
instance gemm_f32 = gemm<f32, f32, 8, 8, 4>;
instance gemm_f64 = gemm<f64, f64>;
instance gemm_i8 = gemm<i8, i32, 16, 8, 64>;
instance gemm_f16_sets = gemm<f16, f32, {16, 32}, {8, 64}, 16>;
kernel batched<B: int = 2>(a: tensor<f16, [b, m, k]>, w: tensor<f16, [k, n]>, c: out tensor<f32, [b, m, n]>) grid [cdiv(b, B), cdiv(m, 16), cdiv(n, 16)] {
    let z = bid(0), i = bid(1), j = bid(2);
    var acc: tile<f32, [B, 16, 16]> = 0;
    for p in 0 .. cdiv(k, 32) { acc = mma(a.load([z, i, p], [B, 16, 32]), reshape(w.load([p, j], [32, 16]), [1, 32, 16]), acc); }
    c.store([z, i, j], acc);
}
kernel pairs<B: int = 4>(a: tensor<f16, [b, 16, 32]>, w: tensor<f16, [b, 32, 16]>, c: out tensor<f16, [b, 16, 16]>) grid [cdiv(b, B)] {
    let z = bid(0);
    c.store([z, 0, 0], element_cast(max(mma(a.load([z, 0, 0], [B, 16, 32]), w.load([z, 0, 0], [B, 32, 16]), zeros([B, 16, 16], f32)), 0), f16));
}
kernel in_turn<B: int = 4>(a: tensor<f16, [b, 16, 32]>, w: tensor<f16, [B, 32, 16]>, c: out tensor<f16, [b, 16, 16]>) grid [cdiv(b, B)] {
    c.store([bid(0), 0, 0], a.load([bid(0), 0, 0], [B, 16, 32]) @ w.load([0, 0, 0], [B, 32, 16]));
}
""", lambda rng: gemm_calls(rng))


def gemm_calls(rng):
    for t, acc, name in [("f16", "f32", "gemm_f16"), ("bf16", "f32", "gemm_bf16"), ("f32", "f32", "gemm_f32"), ("f64", "f64", "gemm_f64"), ("i8", "i32", "gemm_i8"),
                         ("f16", "f32", "gemm_f16_sets")]:
        for m, n, k in [(1, 1, 1), (7, 5, 3), (32, 16, 16), (33, 17, 15), (64, 64, 64), (100, 30, 70), (0, 5, 5), (5, 0, 5), (5, 5, 0), (1, 129, 2)]:
            a, b = rng.integers(-3, 4, (m, k)), rng.integers(-3, 4, (k, n))
            yield Call(name, a.astype(DTYPE[t]), np.ascontiguousarray(b.T).astype(DTYPE[t]), Out((a @ b).astype(DTYPE[acc])), m, k, n)
    for b, m, n, k in [(1, 1, 1, 1), (3, 17, 20, 40), (2, 16, 16, 32), (5, 1, 33, 7)]:
        a, w = rng.integers(-3, 4, (b, m, k)), rng.integers(-3, 4, (k, n))
        yield Call("batched", a.astype(np.float16), w.astype(np.float16), Out((a @ w).astype(np.float32)), b, m, k, n)
    for b in (1, 4, 7, 10):
        a, w, every = rng.integers(-3, 4, (b, 16, 32)), rng.integers(-3, 4, (b, 32, 16)), rng.integers(-3, 4, (4, 32, 16))
        yield Call("pairs", a.astype(np.float16), w.astype(np.float16), Out(np.maximum(a @ w, 0).astype(np.float16)), b)
        want = a @ np.concatenate([every] * 3)[:b]
        yield Call("in_turn", a.astype(np.float16), every.astype(np.float16), Out(want.astype(np.float16)), b)


if __name__ == "__main__":
    S.main(__doc__)
