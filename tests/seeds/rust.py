"""Items of the page on operations of cuTile Rust (003)."""
import numpy as np
from table import *

S = "003"
F = np.array([1.5, -2.0, 0.25, 8.0, -0.5, 3.0, 100.0, -7.25], np.float32)
G = np.array([2.0, 4.0, -0.5, 1.0, 3.0, -1.5, 0.125, 10.0], np.float32)
M = np.arange(32 * 32, dtype=np.float32).reshape(32, 32)


def ulps(want, n=4):
    return n * 2.0 ** -23 * np.abs(np.asarray(want, np.float64)) + 1e-37


def exact(f, *a):
    return f(*[np.asarray(v, np.float64) for v in a])


program(S, "the output's own tile", [("y: inout tensor<f32, [m, n]>", Out(M[:8, :8] * 2, M[:8, :8]))],
        "    let t = y.load([0, 0], [8, 8]);\n    y.store([0, 0], t * 2.0);", (8, 8))
program(S, "a tile is stored", [("y: out tensor<f32, [m, n]>", Out(np.full((4, 4), 3, np.float32)))], "    y.store([0, 0], full([4, 4], 3.0, f32));", (4, 4))
program(S, "a load at the place of the output's tile", [("x: tensor<f32, [m, n]>", M), ("z: out tensor<f32, [m, n]>", Out(M + 1))],
        "    z.store([bid(0), bid(1)], x.load([bid(0), bid(1)], [16, 16]) + 1.0);", (32, 32), "[cdiv(m, 16), cdiv(n, 16)]")
P = Values(S, tensors=[("x: tensor<f32, [m, n]>", M), ("i: i32", np.int32(1))], dims=[32, 32])
P.row("a partition, loaded by row and column", "x.partition([16, 16]).load([i, i - 1])", M[16:, :16], "f32")
P = Values(S, {"a": ("f32", (8,), F), "b": ("f32", (8,), G), "y": ("f32", (8,), F + 1), "s": ("f32", None, [3.0]), "i": ("i32", (8,), np.arange(8) - 4),
               "h": ("f32", (8,), np.abs(F)), "p": ("f32", (8,), F / 16)})
a, b, y, h, p = (P.value(n) for n in "abyhp")
P.row("a + b", "a + b", a + b)
P.row("a - b", "a - b", a - b)
P.row("a * b", "a * b", a * b)
P.row("a / b", "a / b", a / b)
P.row("a tile with scalars", "a * s + 1.0", np.float32(a.astype(np.float64) * 3 + 1))
P.row("a * x + y", "a * b + y", np.float32(a.astype(np.float64) * b + y))
P.row("fma", "fma(a, b, y)", np.float32(a.astype(np.float64) * b + y))
for mode in ("nearest_even", "toward_zero", "toward_negative", "toward_positive"):
    P.row(f"fma, rounding {mode}", f"fma(a, b, y, rounding: {mode})", np.float32(a.astype(np.float64) * b + y))
for f, n, x in [("exp", np.exp, "p"), ("exp2", np.exp2, "p"), ("log", np.log, "h"), ("log2", np.log2, "h"), ("sqrt", np.sqrt, "h"), ("rsqrt", lambda v: 1 / np.sqrt(v), "h"),
                ("sin", np.sin, "p"), ("cos", np.cos, "p"), ("tanh", np.tanh, "p")]:
    want = exact(n, P.value(x))
    P.row(f, f"{f}({x})", want, bound=ulps(want))
P.row("sqrt, rounded to nearest", "sqrt(h, rounding: nearest_even)", np.float32(exact(np.sqrt, h)))
P.row("absf", "abs(a)", np.abs(a))
P.row("absi", "abs(i)", np.abs(P.value("i")), "i32")
P.row("negf", "-a", -a)
P.row("negi", "-i", -P.value("i"), "i32")
P.row("ceil", "ceil(a)", np.ceil(a))
P.row("floor", "floor(a)", np.floor(a))
P = Values(S, {"x": ("f32", (2, 4), F)})
x = P.value("x")
for words, op, f in [("reduce_max", "reduce_max", np.max), ("reduce_sum", "sum", np.sum), ("reduce_min", "reduce_min", np.min), ("reduce_prod", "prod", np.prod)]:
    for axis in (1, 0):
        want = f(x.astype(np.float64), axis)
        P.row(f"{words} along axis {axis}, which goes", f"{op}(x, {axis}, squeeze: true)", want, bound=ulps(want))
        P.row(f"{words} along axis {axis}, which stays", f"{op}(x, {axis})", np.expand_dims(want, axis), bound=ulps(np.expand_dims(want, axis)))
P = Values(S, {"a": ("f16", (16, 8), np.arange(128) % 7), "b": ("f16", (8, 16), np.arange(128) % 5), "c": ("f32", (16, 16), np.arange(256) % 3)},
           [("u: tensor<f32, [m, k]>", M), ("v: tensor<f32, [k, n]>", M)], dims=[32, 32, 32])
a, b, c = (P.value(n).astype(np.float32) for n in "abc")
P.row("mma", "mma(a, b, c)", a @ b + c, "f32")
P.row("mma in a loop", "acc", M[:16] % 4 @ (M[:, :16] % 4), "f32", before="    var acc: tile<f32, [16, 16]> = 0;\n"
      "    for p in 0 .. cdiv(k, 8) { acc = mma(q(u.load([0, p], [16, 8])), q(v.load([p, 0], [8, 16])), acc); }\n")
P.source_before = "fn q(x: tile<f32, S>) -> tile<f32, S> { return x - 4.0 * floor(x * 0.25); }\n"
P = Values(S, {"x": ("f32", (2, 4), F), "r": ("f32", (8,), F), "s": ("f32", None, [2.0]), "z": ("f32", (16, 8), np.arange(128) % 11)}, [("t: tensor<f32, [n, 4]>", F)], dims=[2])
P.row("permute, M x N to N x M", "permute(x, [1, 0])", P.value("x").T)
P.row("a scalar broadcast to 64 x 64", "s.broadcast([64, 64])", np.full((64, 64), 2))
P.row("a column reshaped and broadcast", "r.reshape([8, 1]).broadcast([8, 4])", np.repeat(F[:, None], 4, 1))
P.row("the greatest of each row taken off", "x - reduce_max(x, 1)", P.value("x") - P.value("x").max(1, keepdims=True))
P.row("reshape, flat and to a column", "z.reshape([16 * 8]).reshape([128, 1])", (np.arange(128) % 11)[:, None])
P.row("the shape of a tensor", "i32(t.extent(0)) * 10 + t.static_extent(1) + n * 0", 24, "i32", scalar=True)
P = Values(S, {"a": ("f32", (8,), F), "b": ("f32", (8,), np.roll(F, 1)), "e": ("f32", (8,), F[[0, 0, 2, 2, 4, 4, 6, 6]]), "i": ("i32", (8,))})
a, b, e = (P.value(n) for n in "abe")
for words, op, f in [("gt_tile", ">", np.greater), ("ge_tile", ">=", np.greater_equal), ("lt_tile", "<", np.less), ("le_tile", "<=", np.less_equal), ("eq_tile", "==", np.equal)]:
    P.row(words, f"a {op} e", f(a, e), "bool")
P.row("select by a mask", "select(a > b, a, b)", np.maximum(a, b))
P.row("max_tile", "max(a, b)", np.maximum(a, b))
P.row("min_tile", "min(a, b)", np.minimum(a, b))
P.row("constant tiles of zeros and ones", "full([64], 0.0, f32) + full([64], 1.0, f32)", np.ones(64))
P.row("a constant tile of negative infinity", "full([16, 1], -inf, f32)", np.full((16, 1), -np.inf))
P.row("iota of 64", "iota([64], i32)", np.arange(64), "i32")
P.row("convert_tile, integer to float", "element_cast(i, f32)", np.arange(8))
P.row("convert_tile, float to half", "element_cast(a, f16)", a, "f16")
SOFTMAX = exact(lambda v: np.exp(v - v.max(1, keepdims=True)) / np.exp(v - v.max(1, keepdims=True)).sum(1, keepdims=True), F.reshape(2, 4))
P = Values(S, {"x": ("f32", (2, 4), F), "c": ("f32", None, [3.0]), "d": ("f32", None, [1.0])})
P.source_before = """fn scale_and_shift<S: shape>(x: tile<f32, S>, scale: f32, shift: f32) -> tile<f32, S> { return x * scale.broadcast(S) + shift.broadcast(S); }
fn softmax(x: tile<f32, [BM, BN]>) -> tile<f32, [BM, BN]> { let e = exp(x - reduce_max(x, 1)); return e / sum(e, 1); }
fn softmax_by_hand(x: tile<f32, [BM, BN]>) -> tile<f32, [BM, BN]> {
    let stable = x - reduce_max(x, 1, squeeze: true).reshape([BM, 1]).broadcast([BM, BN]);
    let e = exp(stable), sum: tile<f32, [BM, BN]> = sum(e, 1, squeeze: true).reshape([BM, 1]).broadcast([BM, BN]);
    return e / sum;
}
"""
P.row("scale and shift, of any shape", "scale_and_shift(x, c, d)", np.float32(F.reshape(2, 4).astype(np.float64) * 3 + 1))
P.row("softmax as a function", "softmax(x)", SOFTMAX, bound=ulps(SOFTMAX, 8))
P.row("softmax with its reshapes and broadcasts", "softmax_by_hand(x)", SOFTMAX, bound=ulps(SOFTMAX, 8))
A, B = M % 5, M % 3
program(S, "a tiled product", [("z: out tensor<f32, [m, n]>", Out(A @ B)), ("x: tensor<f32, [m, k]>", A), ("y: tensor<f32, [k, n]>", B)],
        "    let px = x.partition([16, 8]), py = y.partition([8, 16]);\n    var acc: tile<f32, [16, 16]> = 0;\n"
        "    for i in 0 .. k / 8 { acc = mma(px.load([bid(0), i]), py.load([i, bid(1)]), acc); }\n    z.store([bid(0), bid(1)], acc);", (32, 32, 32), "[m / 16, n / 16]")
program(S, "the block's indices", [("o: out tensor<i32, [2, 3, 4]>", Out(np.arange(24).astype(np.int32)))],
        "    o[bid(0), bid(1), bid(2)] = bid(0) * 12 + bid(1) * 4 + bid(2);", (), "[2, 3, 4]")
refused(S, "mma: inner lengths differ", "E0333", "mma(a, b, c)", "a: tile<f16, [16, 8]>, b: tile<f16, [16, 16]>, c: tile<f32, [16, 16]>")
refused(S, "mma: an accumulator of another shape", "E0334", "mma(a, b, c)", "a: tile<f16, [16, 8]>, b: tile<f16, [8, 16]>, c: tile<f32, [8, 16]>")
