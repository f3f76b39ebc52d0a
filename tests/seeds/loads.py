"""Items of the page on loads of cuTile Python (002)."""
import numpy as np
from table import *

S = "002"
I32 = np.int32
M = np.arange(6 * 20, dtype=I32).reshape(6, 20)
TEN = np.arange(10, dtype=I32)


def tile(x, at, shape, pad=0):
    """Tile number `at` of an array."""
    big = np.full([n * (i + 1) for n, i in zip(shape, at)] + np.array(x.shape), pad, x.dtype)
    big[tuple(slice(0, n) for n in x.shape)] = x
    return big[tuple(slice(i * n, (i + 1) * n) for i, n in zip(at, shape))]


for scope in ("block", "device", "system"):
    P = Values(S, tensors=[("x: tensor<i32, [n]>", TEN)], dims=[10])
    P.row(f"memory scope {scope} of a load", f"x.load([1], [4], order: acquire, scope: {scope})", TEN[4:8], "i32")
P = Values(S, tensors=[("x: tensor<i32, [m, n]>", M), ("i: i32", I32(1)), ("j: i32", I32(1))], dims=[6, 20])
P.row("a tile by its number in each axis", "x.load([i, j], [4, 8])", tile(M, (1, 1), (4, 8)), "i32")
program(S, "how many tiles there are", [("x: tensor<i32, [m, n]>", M), ("o: out tensor<i32, [4]>", Out(I32([2, 3, 2, 3])))],
        "    let p = x.partition([4, 8]);\n    o[0] = p.num_tiles(0); o[1] = p.num_tiles(1); o[2] = cdiv(m, 4); o[3] = cdiv(n, 8);", (6, 20))
P = Values(S, tensors=[("x: tensor<i32, [n]>", TEN), ("i: i32", I32(0))], dims=[10], before="    let k = iota([1], i32);\n")
P.row("ten elements by fours, zeros behind them", "cat(cat(x.load([i], [4]), x.load([i + 1], [4]), 0), cat(x.load([i + 2], [4], pad: zero), x.load([i + 2], [4]), 0), 0)",
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 8, 9, 0, 0], "i32")
prints(S, "the same, printed", [("x: tensor<i32, [n]>", "ten"), ("", "10")], 'for i in 0 .. 3 { print("{}", x.load([i], [4], pad: zero)); }',
       "[0, 1, 2, 3]\n[4, 5, 6, 7]\n[8, 9, 0, 0]\n")
P = Values(S, tensors=[("x: tensor<i32, [m, n]>", M), ("i: i32", I32(1)), ("j: i32", I32(1))], dims=[6, 20])
P.row("order: a transposed load", "x.permute([1, 0]).load([j, i], [8, 4])", tile(M, (1, 1), (4, 8)).T, "i32")
P.row("order C: no exchange", "x.permute([0, 1]).load([i, j], [4, 8])", tile(M, (1, 1), (4, 8)), "i32")
Q = np.arange(16, dtype=I32).reshape(4, 4)
P = Values(S, tensors=[("x: tensor<i32, [4, 4]>", Q), ("k: i32", I32(2))])
P.row("order F of 4 x 4, by 1 x 4", "x.permute([1, 0]).load([k, 0], [1, 4])", [[2, 6, 10, 14]], "i32")
P.row("the same by transpose", "x.transpose().load([k, 0], [1, 4])", [[2, 6, 10, 14]], "i32")
C = np.arange(8, dtype=I32).reshape(2, 2, 2)
P = Values(S, tensors=[("x: tensor<i32, [2, 2, 2]>", C), ("k: i32", I32(1))])
P.row("order 0, 2, 1 of 2 x 2 x 2", "x.permute([0, 2, 1]).load([k, 0, 0], [1, 2, 2])", [[[4, 6], [5, 7]]], "i32")
P.row("order F in rank 3", "x.permute([2, 1, 0]).load([k, 0, 0], [1, 2, 2])", [C.transpose(2, 1, 0)[1]], "i32")
prints(S, "a tile of shape () is an element; a line by ten prints", [("x: tensor<i32, [n]>", "ten"), ("", "10")],
       'for i in 0 .. n { print("{}", x.load([i], []), end: " "); }\nprint("");', "0 1 2 3 4 5 6 7 8 9 \n")
for t in ("f32", "i32"):
    P = Values(S, tensors=[(f"x: tensor<{t}, [n]>", array(t, TEN))], dims=[10])
    P.row(f"no padding said: {t}", "x.load([2], [4])", [8, 9, 0, 0], t)
PADS = [("zero", "zero", 0.0, ELEMS), ("neg_zero", "neg_zero", -0.0, FLOATS + RESTRICTED), ("nan", "nan", np.nan, FLOATS + RESTRICTED),
        ("positive infinity", "inf", np.inf, FLOATS + ["tf32", "f8e5m2"]), ("negative infinity", "-inf", -np.inf, FLOATS + ["tf32", "f8e5m2"])]
for words, spelled, value, types in PADS:
    P = Values(S, tensors=[(f"x_{t}: tensor<{t}, [n]>", array(t, TEN % 2)) for t in types], dims=[10])
    for t in types:
        P.row(f"padding {words} of {t}", f"x_{t}.load([2], [4], pad: {spelled})", np.concatenate([array(t, [0, 1]), array(t, [value, value])]), t)
P = Values(S, tensors=[("x: tensor<f32, [n]>", array("f32", TEN)), ("i: i32", I32(2))], dims=[10])
P.row("padding by any value", "x.load([i], [4], pad: 7)", [8, 9, 7, 7], "f32")
P.row("a tile wholly outside is the pad", "x.load([i + 3], [4], pad: nan)", [np.nan] * 4, "f32")
P.row("latency 1", "x.load([i], [4], latency: 1)", [8, 9, 0, 0], "f32")
P.row("latency 10", "x.load([i], [4], latency: 10)", [8, 9, 0, 0], "f32")
program(S, "no bulk copies", [("x: tensor<f32, [n]>", array("f32", TEN)), ("y: out tensor<f32, [4]>", Out(np.float32([4, 5, 6, 7])))],
        "    @no_tma\n    y.store([0], x.load([1], [4]));", (10,))
P = Values(S, tensors=[("x: tensor<i32, [n]>", TEN), ("i: i32", I32(1))], dims=[10])
P.row("memory order relaxed", "x.load([i], [4], order: relaxed)", TEN[4:8], "i32")
P.row("memory order acquire", "x.load([i], [4], order: acquire)", TEN[4:8], "i32")
P.row("memory order weak", "x.load([i], [4])", TEN[4:8], "i32")
for scope in ("block", "device", "system"):
    P.row(f"memory scope {scope} of an atomic load", f"atomic_load(x, [iota([4], i32) + 4 * i], order: acquire, scope: {scope})", TEN[4:8], "i32")
refused(S, "order with a repeated axis", "E0312", "x.permute([0, 0])", "x: tensor<i32, [m, n]>")
P = Values(S, tensors=[("x: tensor<i32, [n]>", TEN), ("i: i32", I32(7))], dims=[10])
P.row("a tile of rank 0 of a tensor of rank 1", "x.load([i], [])", 7, "i32")
for words, pad, code in [("neg_zero", "neg_zero", "E0265"), ("nan", "nan", "E0255"), ("inf", "inf", "E0255"), ("-inf", "-inf", "E0255")]:
    refused(S, f"padding {words} of integers", code, f"x.load([0], [4], pad: {pad})", "x: tensor<i32, [n]>")
refused(S, "f8e4m3 has no infinity", "E0254", "x.load([0], [4], pad: inf)", "x: tensor<f8e4m3, [n]>")
for latency in (0, 11):
    refused(S, f"latency {latency}", "E0514", f"x.load([0], [4], latency: {latency})", "x: tensor<f32, [n]>")
for order in ("release", "acquire_release"):
    refused(S, f"memory order {order} of a load", "E0515", f"x.load([0], [4], order: {order})", "x: tensor<f32, [n]>")
refused(S, "one index for each axis", "E0503", "x.load([0], [4, 4])", "x: tensor<f32, [m, n]>")
refused(S, "a shape that is not constant", "E0209", "x.load([0], [n])", "x: tensor<f32, [n]>")
