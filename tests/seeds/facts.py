"""Items that the collected facts about the documents' behaviour add (one of each: C numbers are theirs)."""
import numpy as np
from table import *

S = "facts"
I32, F32 = np.int32, np.float32

X = np.arange(32, dtype=I32).reshape(4, 8)
P = Values(S, tensors=[("x: tensor<i32, [4, 8]>", X), ("i: i32", I32(1))])
P.row("C133: a partition by 2 x 2, tile 1, 2", "x.partition([2, 2]).load([i, i + 1])", [[20, 21], [28, 29]], "i32")
program(S, "C144: the tiles of 42 x 64 by 4 x 8", [("x: tensor<i8, [m, n]>", np.zeros((42, 64), np.int8)), ("o: out tensor<i32, [2]>", Out(I32([11, 8])))],
        "    let p = x.partition([4, 8]);\n    o[0] = p.num_tiles(0); o[1] = p.num_tiles(1);", (42, 64))
Y = np.arange(50, dtype=I32).reshape(5, 10)
P = Values(S, tensors=[("x: tensor<i32, [5, 10]>", Y), ("i: i32", I32(1))])
P.row("C145: a strided view, steps 3 and 4", "x.strided([2, 2], [3, 4]).load([i - 1, i])", Y[0:2, 4:6], "i32")
P = Values(S, {"r": ("i32", (4,), [1, 1, 3, 0])}, [("x: tensor<i32, [4, 8]>", X), ("i: i32", I32(0))])
P.row("C146: a gathered row comes twice", "x.gather_scatter([4, 8], 0).load([r, i])", X[[1, 1, 3, 0]], "i32")
P = Values(S, {"i": ("i32", (4,), [-1, 0, 9, 10])}, [("x: tensor<i32, [n]>", np.arange(10, dtype=I32))], [10])
P.row("C147: a negative index is outside", "x.gather([i], pad: -7)", [-7, 0, 9, -7], "i32")
program(S, "C148: masked lanes read the pad, and a scatter outside stores nothing", [("x: tensor<i32, [4]>", I32([5, 6, 7, 8])), ("y: out tensor<i32, [4]>", Out(I32([5, 0, 7, 8]), I32([1, 1, 1, 8])))],
        "    let i = iota([4], i32);\n    y.scatter([select(i == 3, 9, i)], x.gather([i], mask: i != 1));")
P = Values(S, {"i": ("i32", (2, 2))}, [("p: ptr<i32>", np.arange(16, dtype=I32))])
P.row("C149: pointers at (2 + 9 i) mod 16", "unsafe load(p + (2 + 9 * i) % 16)", [[2, 11], [4, 13]], "i32")
program(S, "C161: a masked compare-exchange gives what was expected", [("x: inout tensor<i32, [2]>", Out(I32([1, 9]), I32([1, 2]))), ("o: out tensor<i32, [2]>", Out(I32([7, 2])))],
        "    let i = iota([2], i32), e: tile<i32, [2]> = [7, 2];\n    o.store([0], atomic_compare_exchange(x, [i], e, full([2], 9, i32), mask: i == 1));")
P = Values(S, {"a": ("i32", (4,), [7, -7, 7, -7]), "b": ("i32", (4,), [2, 2, -2, -2])})
P.row("C163, C164: quotients of negative numbers", "cat(cat(a / b, floordiv(a, b), 0), cat(ceildiv(a, b), remainder(a, b), 0), 0)", [3, -3, -3, 3, 3, -4, -4, 3, 4, -3, -3, 4, 1, -1, 1, -1])
P = Values(S, {"a": ("f32", (4,), [7.5, -7.5, 7.5, -7.5]), "b": ("f32", (4,), [2, 2, -2, -2])})
P.row("C166: a floating remainder has the dividend's sign", "remainder(a, b)", [1.5, -1.5, 1.5, -1.5])
P = Values(S, {"a": ("i32", (2,), [-1, 1 << 30])})
P.row("C167: mulhi is unsigned", "cat(mulhi(a, a), mulhi_signed(a, a), 0)", [-2, 1 << 28, 0, 1 << 28])
A, B = (np.arange(128) % 251 - 125).astype(np.int8).reshape(16, 8), (np.arange(128) * 2).astype(np.uint8).reshape(8, 16)
P = Values(S, {"a": ("i8", (16, 8), A), "b": ("u8", (8, 16), B)})
P.row("C174: i8 by u8", "mma(a, b, full([16, 16], 0, i32))", A.astype(I32) @ B.astype(I32), "i32")
P = Values(S, {"a": ("f32", (2, 4), [1] * 8), "b": ("f32", (4, 2), [1] * 8), "i": ("i32", (2, 4))})
P.row("C175: ones by ones, plus ten", "mma(a, b, full([2, 2], 10, f32))", np.full((2, 2), 14))
P2 = Values(S, {"a": ("f8e4m3", (2, 32), [1] * 64), "b": ("f8e4m3", (32, 2), [1] * 64), "sa": ("u8", (2, 1), [128, 128]), "sb": ("u8", (1, 2), [127, 128])})
P2.row("C177: a scaled product", "mma_scaled(a, sa, b, sb, full([2, 2], 0, f32))", [[64, 128], [64, 128]], "f32")
P = Values(S, {"i": ("i32", (2, 4)), "t": ("f32", (4,), [2, np.nan, 5, 5])})
P.row("C178: a sum keeps its axis", "cat(sum(i, 1), reshape(sum(i, 1, squeeze: true), [2, 1]), 1)", [[6, 6], [22, 22]])
P.row("C180: the greatest of all: its place, ties, NaN", "i32(argmax(i)) * 100 + i32(argmax(t)) * 10 + i32(argmax(t, nan: propagate))", 721, scalar=True)
P.row("C181: a running sum from the last", "cat(partial_sum(i, 1), partial_sum(i, 1, direction: backward), 0)", [[0, 1, 3, 6], [4, 9, 15, 22], [6, 6, 5, 3], [22, 18, 13, 7]])
program(S, "C183: a loop by steps, and none", [("o: out tensor<i32, [2]>", Out(I32([0 + 3 + 6 + 9, 0]))), ("n: i32", I32(10))],
        "    var s = 0, t = 0;\n    for i in 0 .. n step 3 { s += i; }\n    for i in n .. 0 { t += 1; }\n    o[0] = s; o[1] = t;")
P = Values(S, {"u": ("u8", (1,), [200]), "v": ("u8", (1,), [100]), "i": ("i8", (1,), [100])})
P.row("C078, C079: bytes wrap", "cat(element_cast(u + v, i32), element_cast(i + i, i32), 0)", [44, -56], "i32")
P = Values(S, {"a": ("f32", (2,), [0.0, -0.0]), "b": ("f32", (2,), [-0.0, 0.0]), "n": ("f32", (1,), [np.nan])})
P.row("C131: zeros and their signs", "cat(max(a, b), min(a, b), 0)", [0.0, 0.0, -0.0, -0.0])
P.row("C132: NaN differs from itself, and has no order", "cat(cat(n != n, n < n, 0), cat(n >= n, n == n, 0), 0)", [1, 0, 0, 0], "bool")
P = Values(S, tensors=[("x: tensor<f32, []>", F32([2.5]))])
P.row("a partition of rank 0", "x.partition([]).load([])", 2.5, "f32")
prints(S, "a print that ends no line", [("x: tensor<i32, [n]>", "ten"), ("", "10")], 'print("a {}", x[1], end: ""); print("b{{}}", end: "{}\\n"); print("c");', "a 1b{}{}\nc\n")
refused(S, "C184: return in a loop", "E0233", "x", source="fn f(n: i32) -> i32 { for i in 0 .. n { return i; } return 0; }\n")
