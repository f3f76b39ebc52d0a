"""Items of the page on layout mappings of Tile C++ (001)."""
import numpy as np
from table import *

S = "001"
SIX = np.arange(6, dtype=np.int32)
I32, I64 = np.int32, np.int64


def strides(words, tensor, data, want, dims=(), expr="stride"):
    """The strides of x, axis by axis; x[0..] is read so that the parameter is used."""
    n = len(want)
    o = np.full(4, -1, I64)
    o[:n] = want
    body = "    o.store([0], full([4], -1, i64));\n" + "".join(f"    o[{i}] = x.{expr}({i});\n" for i in range(n))
    program(S, words, [(f"x: {tensor}", data), ("o: out tensor<i64, [4]>", Out(o))], body, dims)


differs(S, "types of mappings and their member types", "types that describe")
differs(S, "what the types of mappings guarantee about moves", "types that describe")
differs(S, "constructors of mappings", "types that describe")
program(S, "a layout mapping of one's own is a function that gives a span",
        [("p: ptr<i32>", np.arange(20, dtype=I32)), ("y: out tensor<i32, [2, 4]>", Out(I32([[0, 2, 4, 6], [9, 11, 13, 15]])))],
        "    y.store([0, 0], mine(p, 2, 4).load([0, 0], [2, 4]));",
        before="fn mine(p: ptr<T>, m: i32, n: i32) -> tensor<T, [m, n]> { return unsafe tensor_span(p, [m, n], layout_strided([2 * n + 1, 2])); }\n")
program(S, "a tensor over a pointer, extents and a layout",
        [("p: ptr<i32>", SIX), ("y: out tensor<i32, [2, 4]>", Out(I32([[0, 1, 2, -1], [3, 4, 5, -1]])))],
        "    let t = unsafe tensor_span(p, [2, 3], layout_right);\n    y.store([0, 0], t.load([0, 0], [2, 4], pad: -1));")
program(S, "layout policies as arguments of a span, static and run-time extents",
        [("p: ptr<i32>", SIX), ("n: i32", I32(3)), ("y: out tensor<i32, [4, 4]>", Out(I32([[0, 2, 4, -1], [1, 3, 5, -1]] * 2)))],
        "    let t = unsafe tensor_span(p, [2, 3], layout_left), u = unsafe tensor_span(p, [2, n], layout_left);\n"
        "    y.store([0, 0], cat(t.load([0, 0], [2, 4], pad: -1), u.load([0, 0], [2, 4], pad: -1), 0));")
for words, layout, data, want in [
        ("layout_right, 2 x 3", "layout_right", SIX, [[0, 1, 2], [3, 4, 5]]), ("layout_left, 2 x 3", "layout_left", SIX, [[0, 2, 4], [1, 3, 5]]),
        ("layout_right_padded, alignment 4", "layout_right_padded<4>", np.arange(8), [[0, 1, 2], [4, 5, 6]]),
        ("layout_right_padded, alignment 2, rounded up", "layout_right_padded<2>", np.arange(8), [[0, 1, 2], [4, 5, 6]]),
        ("layout_right_padded, alignment 3, nothing to round", "layout_right_padded<3>", SIX, [[0, 1, 2], [3, 4, 5]]),
        ("layout_left_padded, alignment 6", "layout_left_padded<6>", np.arange(14), [[0, 6, 12], [1, 7, 13]]),
        ("layout_left_padded, alignment 3", "layout_left_padded<3>", np.arange(8), [[0, 3, 6], [1, 4, 7]]),
        ("layout_strided, strides 6 and 2", "layout_strided<[6, 2]>", np.arange(11), [[0, 2, 4], [6, 8, 10]])]:
    P = Values(S, tensors=[(f"x: tensor<i32, [2, 3], {layout}>", np.asarray(data, I32))])
    P.row(words, "x.load([0, 0], [2, 4], pad: -1)", np.pad(want, ((0, 0), (0, 1)), constant_values=-1), "i32")
for layout, room, at in [("layout_right", 6, [0, 1, 2, 3, 4, 5]), ("layout_left", 6, [0, 2, 4, 1, 3, 5]), ("layout_right_padded<4>", 7, [0, 1, 2, 4, 5, 6]),
                         ("layout_strided<[6, 2]>", 11, [0, 2, 4, 6, 8, 10])]:
    y = np.full(room, 9, I32)
    y[at] = np.arange(6) + 10
    x = np.zeros(room, I32)
    x[at] = np.arange(6)
    program(S, f"loads and stores of tiles: {layout}", [(f"x: tensor<i32, [2, 3], {layout}>", x), (f"y: out tensor<i32, [2, 3], {layout}>", Out(y, np.full(room, 9, I32)))],
            "    y.store([0, 0], x.load([0, 0], [2, 4]) + 10);")
strides("stride of layout_right, run-time extents", "tensor<i32, [a, b, c]>", np.zeros(24, I32), [12, 4, 1], (2, 3, 4))
strides("stride of layout_left, run-time extents", "tensor<i32, [a, b, c], layout_left>", np.zeros(24, I32), [1, 2, 6], (2, 3, 4))
strides("stride of layout_right_padded, run-time extents", "tensor<i32, [a, b, c], layout_right_padded<8>>", np.zeros(48, I32), [24, 8, 1], (2, 3, 4))
strides("stride of layout_left_padded, run-time extents", "tensor<i32, [a, b, c], layout_left_padded<8>>", np.zeros(96, I32), [1, 8, 24], (2, 3, 4))
strides("stride of layout_right_padded, static extents", "tensor<i32, [2, 3], layout_right_padded<4>>", np.zeros(8, I32), [4, 1])
strides("stride of layout_strided, static and run-time", "tensor<i32, [2, 3], layout_strided<[s, 2]>>", np.zeros(16, I32), [7, 2], (7,))
strides("layout_right_padded of rank 1", "tensor<i32, [n], layout_right_padded<4>>", np.zeros(8, I32), [1], (5,))
P = Values(S, tensors=[("x: tensor<f32, [], layout_right_padded<4>>", np.float32([2.5]))])
P.row("a padded layout of rank 0", "x.load([], [])", 2.5, "f32")
P = Values(S, tensors=[("x: tensor<f32, []>", np.float32([3.5]))])
P.row("a layout of rank 0", "x.load([], [])", 3.5, "f32")
strides("static_stride", "tensor<i32, [2, 3]>", SIX, [3, 1], expr="static_stride")
strides("static_stride of a padded layout", "tensor<i32, [2, 3], layout_left_padded<4>>", np.zeros(12, I32), [1, 4], expr="static_stride")
P = Values(S, tensors=[("x: tensor<i32, [2, 4]>", np.arange(8, dtype=I32))])
P.row("static_stride as a shape", "x[0, 1] + iota([x.static_stride(0)], i32)", [1, 2, 3, 4], "i32")
program(S, "extents", [("x: tensor<i32, [n, 3]>", SIX), ("o: out tensor<i64, [4]>", Out(I64([2, 3, 2, 3])))],
        "    o[0] = x.extent(0); o[1] = x.extent(1); o[2] = n; o[3] = x.static_extent(1);\n    static_assert(x.static_extent(0) == dynamic_extent);", (2,))
SAME = [("operator== of layout_right and the same strides", "tensor<i32, [2, 3]>", "tensor<i32, [2, 3], layout_strided<[3, 1]>>", 1, ()),
        ("operator== with run-time strides", "tensor<i32, [m, 3]>", "tensor<i32, [2, 3], layout_strided<[s, 1]>>", 1, (2, 3)),
        ("operator== with another stride", "tensor<i32, [2, 3]>", "tensor<i32, [2, 3], layout_left>", 0, ()),
        ("operator== with another rank", "tensor<i32, [2, 3]>", "tensor<i32, [6]>", 0, ())]
for words, a, b, want, dims in SAME:
    program(S, words, [(f"x: {a}", np.zeros(6, I32)), (f"z: {b}", np.zeros(6, I32)), ("o: out tensor<bool, [2]>", Out(np.uint8([want, 1 - want])))],
            "    o[0] = layout_of(x) == layout_of(z); o[1] = layout_of(x) != layout_of(z);", dims)
P = Values(S, tensors=[("x: tensor<i32, [4, 4], layout_strided<[0, 1]>>", np.arange(4, dtype=I32))])
P.row("a mapping that is not injective, for reading", "x.load([0, 0], [4, 4])", [np.arange(4)] * 4, "i32")
P = Values(S, tensors=[("x: tensor<i32, [2, 2], layout_strided<[pitch, 1]>>", np.arange(7, dtype=I32))], dims=[5])
P.row("rows a run-time pitch apart", "x.load([0, 0], [2, 2])", [[0, 1], [5, 6]], "i32")
DYNAMIC = "const D: bool = x.static_stride(%d) == dynamic_extent; static_assert(D && x.static_stride(%d) != dynamic_extent);"
for words, tensor, d, s, dims in [("static_stride is dynamic: layout_right, a later extent", "tensor<i32, [2, n]>", 0, 1, (3,)),
                                  ("static_stride is dynamic: layout_left, an earlier extent", "tensor<i32, [n, 3], layout_left>", 1, 0, (2,)),
                                  ("static_stride is dynamic: layout_strided", "tensor<i32, [2, 3], layout_strided<[s, 1]>>", 0, 1, (3,))]:
    program(S, words, [(f"x: {tensor}", SIX), ("o: out tensor<bool, [1]>", Out(np.uint8([1])))], "    " + DYNAMIC % (d, s) + " o[0] = D;", dims)
refused(S, "stride of an axis that is not there", "E0308", "x.stride(2)", "x: tensor<i32, [n, 2]>")
refused(S, "fewer strides than dimensions", "E0411", "x.stride(0)", "x: tensor<i32, [2, 3], layout_strided<[1]>>")
refused(S, "layouts that are not strided", "E0409", "x.stride(0)", "x: tensor<i32, [2, 3], layout_tiled<4>>")
program(S, "layout_right_padded with a run-time alignment", [("x: tensor<i32, [2, n], layout_right_padded<a>>", np.arange(10, dtype=I32)), ("y: out tensor<i32, [2, 4]>",
        Out(I32([[0, 1, 2, -1], [6, 7, 8, -1]])))], "    y.store([0, 0], x.load([0, 0], [2, 4], pad: -1));", (3, 6))
program(S, "layout_left_padded with a run-time alignment", [("x: tensor<i32, [n, 2], layout_left_padded<a>>", np.arange(10, dtype=I32)), ("y: out tensor<i32, [4, 2]>",
        Out(I32([[0, 5], [1, 6], [2, 7], [-1, -1]])))], "    y.store([0, 0], x.load([0, 0], [4, 2], pad: -1));", (3, 5))
