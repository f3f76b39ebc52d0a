"""Items of the page on operations of Tile C++ (000)."""
import itertools
import numpy as np
from table import *

S = "000"
inf, nan = np.inf, np.nan

# ---- full, iota, ones, zeros ----
P = Values(S, {"z": ("i32", ())}, [("p: ptr<f32>", np.float32([2.5]))])
P.row("full, 2 x 2 of 42", "full([2, 2], 42, i32)", np.full((2, 2), 42), "i32")
P.row("full of pointers", "unsafe load(full([4], p, ptr<f32>))", np.full(4, 2.5), "f32")
P = Values(S, {f"x_{t}": (t, None, [1 if t == "bool" else 3]) for t in ELEMS})
for t in ELEMS:
    P.row(f"full of {t}", f"full([4], x_{t}, {t})", np.full(4, P.value(f"x_{t}")), t)
differs(S, "full of a scalar type", "factories make tiles")
P = Values(S, {"z": ("i32", ())})
P.row("iota, 2 x 4", "iota([2, 4], i32)", np.arange(8).reshape(2, 4), "i32")
for t, n in [("i8", 128), ("u8", 256), ("i16", 32768), ("u16", 65536), ("i32", 1024), ("u32", 1024), ("i64", 1024), ("u64", 1024), ("bool", 2)]:
    P.row(f"iota of {t}, {n} values", f"iota([{n}], {t})", np.arange(n), t)
for t in ELEMS:
    P.row(f"ones of {t}", f"ones([2, 2], {t})", np.ones((2, 2)), t)
    P.row(f"zeros of {t}, of positive sign", f"zeros([2, 2], {t})", np.zeros((2, 2)), t)
P.row("zeros: the reciprocal is +inf", "1.0 / zeros([4], f32)", np.full(4, inf), "f32")

# ---- isinf, isnan ----
P = Values(S, {f"x_{t}": (t, (4,), [inf, -inf, nan, 1.0]) for t in FLOATS + RESTRICTED}, [("p: ptr<f32>", np.float32([inf, -inf, nan, 1.0]))])
for t in FLOATS + RESTRICTED:
    v = P.value(f"x_{t}").astype(np.float64)
    P.row(f"isinf of {t}", f"isinf(x_{t})", np.isinf(v), "bool")
    P.row(f"isnan of {t}", f"isnan(x_{t})", np.isnan(v), "bool")
P.row("isinf of what is loaded by pointers", "isinf(unsafe load(p + iota([4], i32)))", [1, 1, 0, 0], "bool")

# ---- shapes ----
P = Values(S, {"x": ("i32", (2, 4)), "a": ("i32", (4, 2, 2)), "s": ("i32", None, [7]), "o": ("i32", (1, 1), [7]), "r": ("i32", (), [7]),
               "l": ("i32", (8,)), "w": ("i32", (4, 2, 16, 8))})
x, a, w = P.value("x"), P.value("a"), P.value("w")
P.row("reshape, 2 x 4 to 4 x 2", "reshape(x, [4, 2])", x.reshape(4, 2))
P.row("reshape keeps row-major order, rank 3 to 1", "reshape(a, [16])", a.reshape(16))
P.row("reshape of a scalar to [1, 1]", "reshape(s, [1, 1])", [[7]])
P.row("reshape of a tile of one element to []", "reshape(o, [])", 7)
P.row("permute of a scalar by []", "f32(permute(s, []))", 7, "f32", scalar=True)
P.row("permute of a tile of rank 0 by []", "permute(r, [])", 7)
P.row("permute, four axes by 2, 1, 3, 0", "permute(w, [2, 1, 3, 0])", w.transpose(2, 1, 3, 0))
P.row("permute, 4 x 2 x 2 by 2, 0, 1", "permute(a, [2, 0, 1])", a.transpose(2, 0, 1))
for p in itertools.permutations(range(3)):
    P.row(f"permute by {p}: element by element", f"a.permute({list(p)})", a.transpose(p))
P.row("transpose of a scalar", "f32(transpose(s))", 7, "f32", scalar=True)
P.row("transpose of rank 0", "transpose(r)", 7)
P.row("transpose of rank 1", "transpose(l)", np.arange(8))
P.row("transpose of four axes exchanges the first two", "transpose(w)", w.swapaxes(0, 1))
P.row("transpose, 4 x 2 x 2", "transpose(a)", a.swapaxes(0, 1))
P.row("cat along both axes: shapes", "cat(reshape(cat(x, x, 0), [16]), reshape(cat(x, x, 1), [16]), 0)",
      np.concatenate([np.concatenate([x, x], 0).reshape(-1), np.concatenate([x, x], 1).reshape(-1)]))
P.row("cat of zeros and ones along axis 1", "cat(full([4, 2], 0, i32), full([4, 2], 1, i32), 1)", [[0, 0, 1, 1]] * 4)

P = Values(S, {"i": ("i32", (4,)), "c": ("bool", (4,), [1, 0, 1, 0]), "n": ("i32", (4,), [0, 3, 0, -1]), "f": ("f32", (4,), [0, nan, -0.0, 0.5]),
               "m": ("bool", (2, 1), [0, 1]), "x": ("i32", (2, 4)), "b": ("bool", None, [1]), "q": ("i32", (4, 4)), "big": ("i32", (32, 8), np.arange(256)),
               "s": ("i32", None, [9]), "k": ("i32", None, [1])})
i, q, big = P.value("i"), P.value("q"), P.value("big")
P.row("select by a tile of bools", "select(c, i, -i)", [0, -1, 2, -3])
P.row("select: an integer is a condition", "select(n, i, -i)", [0, 1, -2, 3])
P.row("select: a float is one, NaN true, -0 false", "select(f, i, -i)", [0, 1, -2, 3])
P.row("select: the condition broadcasts", "select(m, x, x + 100)", np.where([[0], [1]], P.value("x"), P.value("x") + 100))
P.row("select of scalars", "select(b, 1.5, 2.5)", 1.5, "f32", scalar=True)
P.row("extract of a scalar", "f32(extract(s, [], []))", 9, "f32", scalar=True)
P.row("extract, 16 x 2 of 32 x 8", "extract(big, [16, 2], [1, 3])", big[16:32, 6:8])
P.row("extract, a quarter", "extract(q, [2, 2], [0, 1])", q[0:2, 2:4])
P.row("extract by run-time indices, outside: zeros", "extract(q, [2, 2], [k, k + 1])", np.zeros((2, 2)))
P.row("broadcast, 4 x 1 to 4 x 4", "broadcast(reshape(i, [4, 1]), [4, 4])", np.repeat(i[:, None], 4, 1))
P.row("element_cast of integers to f64", "element_cast(reshape(i, [4, 1]), f64)", i[:, None], "f64")

# ---- element_bitcast ----
BITS = {8: [0x38, 0x3C, 0, 0xB8], 16: [0x3C00, 0x4000, 0, 0xBC00], 32: [0x3F800000, 0x40000000, 0, 0xBF800000],
        64: [0x3FF0000000000000, 0x4000000000000000, 0, 0xBFF0000000000000]}
FAMILY = {8: ["bool", "i8", "u8", "f8e4m3", "f8e5m2"], 16: ["i16", "u16", "f16", "bf16"], 32: ["i32", "u32", "f32", "tf32"], 64: ["i64", "u64", "f64"]}
P = Values(S, {"b": ("u8", (4,), [255] * 4)})
P.row("element_bitcast, u8 255 to i8 -1", "element_bitcast(b, i8)", [-1] * 4, "i8")
for bits, types in FAMILY.items():
    for a, b in itertools.permutations(types, 2):
        raw = np.array([0, 1, 0, 1] if "bool" in (a, b) else BITS[bits], f"u{bits // 8}")
        P.inputs[f"v_{a}_{b}"] = (a, (4,), raw.view(NP[a]))
        P.row(f"element_bitcast, {a} to {b}", f"element_bitcast(v_{a}_{b}, {b})", raw.view(NP[b]), b)

# ---- what is refused ----
for t, n in [("i8", 256), ("u8", 512), ("i16", 65536), ("u16", 131072), ("bool", 4)]:
    refused(S, f"iota: {t} holds the last of {n} values", "E0316", f"iota([{n}], {t})")
for t in ["f32", "f16", "tf32", "f8e4m3", "ptr<f32>"]:
    refused(S, f"iota of integers only, not {t}", "E0264", f"iota([4], {t})")
refused(S, "ones and zeros take no value", "E0301", "ones([2, 2], i32, 42)")
refused(S, "ones of pointers", "E0266", "ones([4], ptr<f32>)")
refused(S, "zeros of pointers", "E0266", "zeros([4], ptr<f32>)")
refused(S, "isinf of i32", "E0265", "isinf(x)", "x: tile<i32, [4]>")
refused(S, "isinf of bool", "E0265", "isinf(x)", "x: tile<bool, [4]>")
refused(S, "reshape to another number of elements", "E0310", "reshape(x, [4, 4])", "x: tile<i32, [2, 4]>")
refused(S, "permute by a map of another rank", "E0312", "permute(x, [1, 0])", "x: tile<i32, [4, 2, 2]>")
refused(S, "permute by a repeated axis", "E0312", "permute(x, [0, 0])", "x: tile<i32, [4, 2]>")
refused(S, "cat of scalars", "E0268", "cat(s, s, 0)", "s: i32")
refused(S, "cat of rank 0", "E0308", "cat(x, x, 0)", "x: tile<i32, []>")
refused(S, "cat of two element types", "E0313", "cat(x, y, 0)", "x: tile<i32, [4]>, y: tile<f32, [4]>")
refused(S, "cat of two ranks", "E0313", "cat(x, y, 0)", "x: tile<i32, [2, 4]>, y: tile<i32, [8]>")
refused(S, "cat along an axis that is not there", "E0308", "cat(x, x, 1)", "x: tile<i32, [4]>")
refused(S, "cat along a negative axis", "E0308", "cat(x, x, -1)", "x: tile<i32, [4]>")
refused(S, "cat where other lengths differ", "E0313", "cat(x, y, 0)", "x: tile<i32, [2, 4]>, y: tile<i32, [2, 8]>")
refused(S, "cat to a length that is no power of two", "E0313", "cat(x, y, 0)", "x: tile<i32, [2, 4]>, y: tile<i32, [4, 4]>")
refused(S, "select of two element types", "E0270", "select(c, x, y)", "c: tile<bool, [4]>, x: tile<i32, [4]>, y: tile<f32, [4]>")
refused(S, "select: its values do not broadcast", "E0270", "select(c, x, y)", "c: tile<bool, [4]>, x: tile<i32, [4]>, y: tile<i32, [1]>")
refused(S, "select: a condition larger than the values", "E0271", "select(c, x, x)", "c: tile<bool, [2, 4]>, x: tile<i32, [4]>")
refused(S, "extract, 2 x 16 of 32 x 8", "E0314", "extract(x, [2, 16], [0, 0])", "x: tile<i32, [32, 8]>")
refused(S, "extract of another rank", "E0314", "extract(x, [2], [0])", "x: tile<i32, [4, 4]>")
refused(S, "extract at a constant outside", "E0315", "extract(x, [2, 2], [0, 2])", "x: tile<i32, [4, 4]>")
refused(S, "extract with too few indices", "E0503", "extract(x, [2, 2], [0])", "x: tile<i32, [4, 4]>")
differs(S, "extract: floats as indices", "an index is an integer")
refused(S, "broadcast of [4] to [4, 8]", "E0311", "broadcast(x, [4, 8])", "x: tile<i32, [4]>")
refused(S, "broadcast to a lower rank", "E0311", "broadcast(x, [8])", "x: tile<i32, [4, 8]>")
refused(S, "element_bitcast between sizes", "E0317", "element_bitcast(x, i64)", "x: tile<i32, [4]>")
