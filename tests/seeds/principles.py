"""Items of the page on general principles of Tile C++ (004)."""
import numpy as np
from table import *

S = "004"
I32, F32 = np.int32, np.float32
inf, nan = np.inf, np.nan

differs(S, "header, namespace, flags, architectures, ABI", "types that describe")
differs(S, "std::byte is no scalar", "types that describe")
differs(S, "the extended floating types of C++23 are no scalars", "types that describe")
differs(S, "fp8 from sm_90 on", "fp8 works on every architecture")
differs(S, "const and volatile scalars and pointers", "there is no `const`")
differs(S, "extents of types of one's own", "types that describe")
P = Values(S, {"x": ("tf32", (4,))}, before="")
P.source_before = "fn g<T: tf32 | f8e4m3 | f8e5m2>(x: tile<T, [N]>) -> tile<f32, [N]> { return element_cast(x, f32); }\nfn h<T: any>(p: T) -> bool { return !!p; }\n"
P.row("restricted and pointer tiles as classes", "g(x)", np.arange(4), "f32")
differs(S, "subranks of the character types", "one integer type of each size")
program(S, "a span made in the kernel of a pointer, a mapping and an accessor", [("p: ptr<f32>", np.arange(8, dtype=F32)), ("y: out tensor<f32, [2, 4]>", Out(np.arange(8, dtype=F32).reshape(2, 4)))],
        "    y.store([0, 0], (unsafe tensor_span(p, [2, 4])).load([0, 0], [2, 4]));")
differs(S, "accessor policies", "types that describe")
differs(S, "spans, mappings and policies of types of one's own", "types that describe")
differs(S, "the default scope is the system", "memory orders and scopes have defaults")
program(S, "strong operations synchronize, and a race has one of the values", [("x: inout tensor<i32, [1]>", Out(I32([4]), I32([0]))), ("o: inout tensor<i32, [1]>", Out(I32([6]), I32([0])))],
        "    let old = atomic_add(x, [0], 1, order: acquire_release, scope: device);\n    atomic_add(o, [0], old, order: relaxed);", (), "[4]")
differs(S, "tile threads make progress beside each other", "a block waits only for blocks")
program(S, "the sum of two elements, by the block's index", [("a: tensor<i32, [n]>", I32([1, 2, 3])), ("b: tensor<i32, [n]>", I32([10, 20, 30])), ("c: out tensor<i32, [n]>", Out(I32([11, 22, 33])))],
        "    let i = bid(0);\n    c[i] = add(a[i], b[i]);", (3,), "[n]")

# ---- scalars ----
C_TYPES = [("char", "i8"), ("unsigned int", "u32"), ("long long", "i64"), ("char32_t", "u32"), ("wchar_t", "i32"), ("bool", "bool"), ("signed char", "i8"),
           ("unsigned char", "u8"), ("short", "i16"), ("unsigned short", "u16"), ("int", "i32"), ("long", "i64"), ("unsigned long", "u64"), ("char8_t", "u8"),
           ("char16_t", "u16"), ("unsigned long long", "u64")]
P = Values(S, {f"x{i}": (t, (2,), [1, 0]) for i, (_, t) in enumerate(C_TYPES)})
for i, (c, t) in enumerate(C_TYPES):
    P.row(f"integral scalar {c}", f"x{i} | x{i}", [1, 0], t)
P = Values(S, {f"x_{t}": (t, (2,), [1.5, -2]) for t in ("f64", "f32", "f16", "bf16")})
for t in ("f64", "f32", "f16", "bf16"):
    P.row(f"floating scalar {t}", f"x_{t} * 2", [3, -4], t)
P = Values(S, {f"x_{t}": (t, (2, 2), [1.5, -2, 1, 0]) for t in RESTRICTED})
for t in RESTRICTED:
    P.row(f"restricted {t}: loaded and stored", f"x_{t}", P.value(f"x_{t}"), t)
    v = P.value(f"x_{t}").astype(F32)
    P.row(f"restricted {t}: mma", f"mma(x_{t}, x_{t}, full([2, 2], 1, f32))", v @ v + 1, "f32")
for t in ("i32", "f64", "f16", "f8e4m3", "bool", "tf32"):
    P = Values(S, tensors=[(f"p: ptr<{t}>", array(t, [1, 0, 1]))])
    P.row(f"pointer scalar {t}*", "unsafe load(p + 2)", array(t, 1), t, scalar=True)
P = Values(S, tensors=[("p: ptr<void>", array("i32", [1]))])
P.row("pointer scalar void*", "p != null && !!p", 1, "bool", scalar=True)
P = Values(S, {"b": ("bool", (2,), [1, 0]), "z": ("bool", (2,), [1, 1])})
P.row("bool in arithmetic: 0 or 1, one bit", "b + z", [1, 1], "bool")
P.row("bool in base two: a single bit", "select(~b == !b && clz(b) == popcount(!b), b, !b)", [1, 0], "bool")

# ---- extents, tiles ----
X = np.arange(32, dtype=F32).reshape(4, 8)
P = Values(S, tensors=[("a: tensor<f32, [4, 8]>", X), ("b: tensor<f32, [m, 8]>", X), ("c: tensor<f32, [m, n]>", X)], dims=[4, 8])
P.row("extents static, mixed, of run time", "a.load([0, 0], [4, 8]) + b.load([0, 0], [4, 8]) + c.load([0, 0], [4, 8])", X * 3, "f32")
P = Values(S, tensors=[("x: tensor<f32, [n: i64]>", X.reshape(-1))], dims=[32])
P.row("index type of 32 or 64 bits", "n", 32, "i64", scalar=True)
program(S, "static extents are compile-time values", [("x: tensor<f32, [4, n]>", X), ("o: out tensor<i32, [1]>", Out(I32([4])))],
        "    static_assert(x.static_extent(0) == 4 && x.static_extent(1) == dynamic_extent);\n    o[0] = x.static_extent(0);", (8,))
P = Values(S, {"x": ("i32", (4, 8))})
P.source_before = "fn ranks<T: any, S: shape>(x: tile<T, S>) -> i32 { return 10 * S.rank + S[1]; }\n"
P.row("the rank of a shape", "ranks(x)", 28, scalar=True)
P = Values(S, tensors=[("x: tensor<f32, []>", F32([6]))])
P.row("extents of rank 0 have one element", "f32(x.load([], []))", 6, "f32", scalar=True)
P = Values(S, tensors=[("x: tensor<i32, [2, n]>", np.arange(6, dtype=I32))], dims=[3])
P.row("the index space of [2, n]", "x[1, 2]", 5, "i32", scalar=True)
P = Values(S, {"x": ("i32", (4, 8)), "r": ("f32", (), [2.5]), "y": ("i32", (4, 2)), "s": ("f64", None, [1.5]), "o": ("f64", (1, 1), [2.5]), "e": ("f64", (), [4])})
P.row("a tile of 4 x 8", "x", P.value("x"))
P.row("a tile of rank 0", "r", 2.5, "f32")
P.row("row-major arrangement of 4 x 2", "reshape(y, [8])", np.arange(8))
P.row("tiles of one element: conditions, scalars", "(o ? f64(o) : 0.0) + (e ? s + f64(e) : 0.0)", 8, "f64", scalar=True)
P.source_before = "fn i(x: tile<T, S>) -> tile<T, S> where T != f16 { return x; }\nfn c<T: integral, U: float, V: any_float, W: arith, N: numeric>(a: tile<T, []>, b: tile<U, []>, d: tile<V, []>, e: tile<W, []>, f: tile<N, []>) -> tile<U, []> { return b; }\n"
P.row("classes of tiles", "c(reshape(extract(x, [1, 1], [0, 0]), []), r, element_cast(r, tf32), e, r)", 2.5, "f32")
RANKS = [("f8e4m3", "f16"), ("f8e4m3", "bf16"), ("f8e5m2", "f16"), ("f8e5m2", "bf16"), ("f16", "tf32"), ("bf16", "tf32"), ("tf32", "f32"), ("f32", "f64")]
P = Values(S, {f"x_{t}": (t, (4,), [1.5, -2, 0, 4]) for t in ("f8e4m3", "f8e5m2", "f16", "bf16", "tf32", "f32")})
for a, b in RANKS:
    P.row(f"{a} becomes {b} by itself", f"v_{a}_{b}", [1.5, -2, 0, 4], b, before=f"    let v_{a}_{b}: tile<{b}, [4]> = x_{a};\n")

# ---- conversions ----
P = Values(S, {"d": ("f64", None, [1 / 3]), "b": ("bf16", (4,), [1.0078125, 3.140625, 65536, -0.0]), "g": ("f32", (2,), [1e6, -1e6]), "i": ("i32", (4,), [2049, 2051, 70000, -70000]),
               "u": ("u64", (1,), np.array([2 ** 64 - 1], np.uint64)), "s": ("i32", None, [5]), "f": ("f32", (4,), [0, -0.0, nan, 2])})
P.row("f64 to f16", "f16(d)", 1 / 3, "f16", scalar=True)
P.row("bf16 to f16", "element_cast(b, f16)", [1.0078125, 3.140625, inf, -0.0], "f16")
P.row("beyond fp8: its greatest finite value", "element_cast(g, f8e4m3)", [448, -448], "f8e4m3")
P.row("integer to float: ties to even, beyond it infinity", "element_cast(i, f16)", [2048, 2052, inf, -inf], "f16")
P.row("the greatest u64 to f16", "element_cast(u, f16)", [inf], "f16")
P.row("a scalar becomes a tile of rank 0", "t0", 5, "i32", before="    let t0: tile<i32, []> = s;\n")
P.row("a scalar starts a variable of shape [1]", "t1", [5], "i32", before="    let t1: tile<i32, [1]> = s;\n")
P.row("a tile to bool", "element_cast(f, bool)", [0, 0, 1, 1], "bool")
P.row("a scalar to bool", "!!s && bool(s)", 1, "bool", scalar=True)
P = Values(S, {"a": ("i32", (4, 1), [1, 2, 3, 4]), "b": ("i32", (2,), [1, 2]), "s": ("f64", None, [2.5]), "c": ("i32", (2, 1, 8)), "r": ("i32", (1, 2), [1, 2])})
P.row("[4, 1] broadcasts to [4, 8]", "broadcast(a, [4, 8])", np.broadcast_to(P.value("a"), (4, 8)))
P.row("[2] broadcasts to [4, 2]", "broadcast(b, [4, 2])", np.broadcast_to(P.value("b"), (4, 2)))
P.row("a scalar broadcasts to [4, 8]", "broadcast(s, [4, 8])", np.full((4, 8), 2.5), "f64")
P.row("[2] to [8, 2] and [2, 1, 8] to [2, 16, 8]", "broadcast(c, [2, 16, 8]) + reshape(broadcast(b, [8, 2]), [2, 1, 8])",
      np.broadcast_to(P.value("c"), (2, 16, 8)) + np.broadcast_to(P.value("b"), (8, 2)).reshape(2, 1, 8))
P.row("a scalar broadcast to [] is a tile", "broadcast(s, [])", 2.5, "f64")
P.row("broadcast of a column, element by element", "broadcast(a, [4, 8])", [[v] * 8 for v in (1, 2, 3, 4)])
P.row("broadcast of a row, element by element", "broadcast(r, [4, 2])", [[1, 2]] * 4)
PAIRS = [((4, 1), (4, 8)), ((1, 8), (2, 1)), ((4, 2, 1), (2, 8)), ((4,), (1, 2, 1)), ((2, 4, 1), (4, 2)), ((), (2, 4, 8))]
P = Values(S, {f"{n}{i}": ("i32", s) for i, pair in enumerate(PAIRS) for n, s in zip("ab", pair)})
for i, (a, b) in enumerate(PAIRS):
    P.row(f"mutual broadcast of {list(a)} and {list(b)}", f"a{i} + b{i}", P.value(f"a{i}") + P.value(f"b{i}"))
P = Values(S, {"a": ("i32", (2, 1, 8)), "b": ("i32", (1, 4, 1)), "c": ("f32", (4, 8)), "d": ("f64", None, [3.5]), "e": ("i32", None, [2]), "g": ("i32", (1, 4), [1, 2, 3, 4]),
               "h": ("i32", (2, 1), [5, 6])})
a, b, c = (P.value(n) for n in "abc")
P.row("four that are compatible in pairs", "(a < b) && (a < c) && (b < c) && (a < d) && (b < d) && (c < d)", (a < b) & (a < c) & (b < c) & (a < 3.5) & (b < 3.5) & (c < 3.5), "bool")
P.row("two scalars give a scalar", "d + e", 5.5, "f64", scalar=True)
P.row("mutual broadcast of 1 x 4 and 2 x 1, element by element", "g * 10 + h", [[15, 25, 35, 45], [16, 26, 36, 46]])
COMMON = [("i32", "f64", "f64"), ("f16", "f32", "f32"), ("f32", "f16", "f32"), ("i16", "i16", "i16"), ("u16", "u16", "u16"), ("i64", "u32", "i64"), ("i32", "i8", "i32"),
          ("u64", "u8", "u64"), ("i32", "u16", "i32"), ("bool", "i8", "i8"), ("bool", "bool", "bool")]
P = Values(S, {f"{n}{i}": (t, (2,), [1, 0]) for i, (a, b, _) in enumerate(COMMON) for n, t in (("a", a), ("b", b))})
for i, (a, b, t) in enumerate(COMMON):
    P.row(f"the common type of {a} and {b}", f"a{i} + b{i}", [1 if t == "bool" else 2, 0], t)
P = Values(S, {"x": ("f32", (1, 2), [2, 6]), "y": ("f64", (2, 1), [4, 1]), "i": ("i32", (8,)), "k": ("i32", (2,), [2, 16777217]), "a": ("i32", (4, 1)), "b": ("f32", (1, 8)), "s": ("f32", None, [2.5]),
               "q": ("i32", (4, 8))})
P.row("f32 1 x 2 minus f64 2 x 1", "x - y", [[-2, 2], [1, 5]], "f64")
P.row("a float compared with integers", "2.0 == i", np.arange(8) == 2, "bool")
P.row("the comparison is one of f64", "(k == 16777217.0) || (k < 2.5)", [1, 1], "bool")
P.row("i32 and f32 tiles, arithmetic", "a + b", P.value("a") + P.value("b"), "f32")
P.row("i32 and f32 tiles, comparison", "a < b", P.value("a") < P.value("b"), "bool")
P.row("a float scalar compared with an i32 tile", "s < q", 2.5 < P.value("q"), "bool")
PROMOTED = [("bool", "i32"), ("i8", "i32"), ("u8", "i32"), ("i16", "i32"), ("u16", "i32"), ("i32", "i32"), ("u32", "u32"), ("i64", "i64"), ("u64", "u64"), ("f16", "f16"), ("f32", "f32")]
P = Values(S, {f"x_{t}": (t, (2,), [1, 0]) for t, _ in PROMOTED})
for t, to in PROMOTED:
    P.row(f"unary plus of {t}", f"+x_{t}", [1, 0], to)

# ---- spans ----
P = Values(S, tensors=[("x: tensor<f32, [2, 4]>", np.arange(8, dtype=F32))])
P.row("a span of 2 x 4, row-major", "x.load([0, 0], [2, 4])", np.arange(8).reshape(2, 4), "f32")
P.row("a span seen as tiles; the view is copied", "q.load([0, 1])", [[2, 3], [6, 7]], "f32", before="    let p = x.partition([2, 2]), q = p;\n")
refused(S, "a span of const elements is not written", "E0501", "x", source="fn f(x: tensor<f32, [2, 4]>) { x[0, 0] = 1.0; }\n")
P = Values(S, tensors=[("x: tensor<i32, [2, 3], layout_strided<[5, 2]>>", np.arange(10, dtype=I32))])
P.row("an index to an element's address", "x[1, 2]", 9, "i32", scalar=True)

# ---- rounding, subnormals, NaN ----
EPS = F32(2 ** -23)
P = Values(S, {"a": ("f32", None, [8]), "b": ("f32", None, [5 * EPS])})
UP, DOWN = F32(8) + 8 * EPS, F32(8)
for mode, plus, minus in [("nearest_even", UP, -UP), ("toward_zero", DOWN, -DOWN), ("toward_negative", DOWN, -UP), ("toward_positive", UP, -DOWN)]:
    P.row(f"add, rounding {mode}", f"add(a, b, rounding: {mode})", plus, scalar=True)
    P.row(f"sub of negative numbers, rounding {mode}", f"sub(-a, b, rounding: {mode})", minus, scalar=True)
P.row("the default rounding", "a + b", UP, scalar=True)
P = Values(S, {"x": ("f32", (4,), [1, 2, 3, 0.5]), "y": ("f32", (4,), [3, 0.5, -4, 8]), "t": ("f32", (2,), [float.fromhex('0x1.1p-126'), 2.0 ** -126]), "n": ("f32", (1,), [-1e-40]), "o": ("f32", (1,), [1])})
x, y = P.value("x").astype(float), P.value("y").astype(float)
close = lambda v: dict(bound=2 ** -20 * np.abs(v))
P.row("div, approximate", "div(x, y, rounding: approximate)", x / y, **close(x / y))
P.row("div, full", "div(x, y, rounding: full)", x / y, **close(x / y))
P.row("sqrt, approximate", "sqrt(x, rounding: approximate)", np.sqrt(x), **close(np.sqrt(x)))
P.row("exp, full", "exp(y, rounding: full)", np.exp(y), **close(np.exp(y)))
P.row("exp, approximate", "exp(y, rounding: approximate)", np.exp(y), **close(np.exp(y)))
P.row("tanh, full", "tanh(y, rounding: full)", np.tanh(y), **close(np.tanh(y)))
P.row("tanh, approximate", "tanh(y, rounding: approximate)", np.tanh(y), bound=2.0 ** -10)
P.row("a subnormal result becomes zero", "sub(extract(t, [1], [0]), extract(t, [1], [1]), rounding: nearest_even, subnormals: flush)", [0])
P.row("a subnormal operand becomes zero of its sign", "mul(n, o, subnormals: flush)", [-0.0])
P = Values(S, {"a": ("f32", (4,), [nan, 1, nan, 3]), "b": ("f32", (4,), [1, nan, nan, 2])})
for f, least in (("max", [1, 1, nan, 3]), ("min", [1, 1, nan, 2])):
    P.row(f"{f} without a word ignores NaN", f"{f}(a, b)", least)
    P.row(f"{f} ignores NaN", f"{f}(a, b, nan: suppress)", least)
    P.row(f"{f} hands NaN on", f"{f}(a, b, nan: propagate)", [nan, nan, nan, least[3]])
    P.row(f"reduce_{f} and NaN", f"cat(reduce_{f}(a, 0), reduce_{f}(a, 0, nan: propagate), 0)", [{"max": 3, "min": 1}[f], nan])

# ---- pads of views ----
TEN = np.arange(3, dtype=F32) + 1
for words, pad, value in [("zero", ", pad: zero", 0.0), ("positive infinity", ", pad: inf", inf), ("negative infinity", ", pad: -inf", -inf), ("NaN", ", pad: nan", nan),
                          ("zero by default", "", 0.0), ("negative zero", ", pad: neg_zero", -0.0)]:
    P = Values(S, tensors=[("x: tensor<f32, [n]>", TEN), ("z: tensor<f32, [n, 2]>", np.repeat(TEN, 2))], dims=[3], before="    let i = iota([4], i32);\n")
    P.row(f"padding {words} of a partition", f"x.partition([4]).load([0]{pad})", [1, 2, 3, value], "f32")
    P.row(f"padding {words} of a strided view", f"x.strided([4], [4]).load([0]{pad})", [1, 2, 3, value], "f32")
    P.row(f"padding {words} of a gather-scatter view", f"z.gather_scatter([4, 2], 0).load([i, 0]{pad})", [[1, 1], [2, 2], [3, 3], [value] * 2], "f32")
P = Values(S, tensors=[(f"x_{t}: tensor<{t}, [n]>", array(t, [1, 0, 1])) for t in ELEMS], dims=[3])
for t in ELEMS:
    P.row(f"padding zero of {t}", f"x_{t}.partition([4]).load([0], pad: zero)", [1, 0, 1, 0], t)

# ---- memory ----
program(S, "atomic stores of four values to one place", [("p: ptr<i32>", Out(I32([0]), I32([9]), accept=lambda v: None if 0 <= v[0] <= 3 else f"{v[0]}"))],
        "    unsafe { atomic_store(full([4], p, ptr<i32>), iota([4], i32), order: relaxed, scope: block); }")
program(S, "plain stores of four values to one place", [("p: ptr<i32>", Out(I32([0]), I32([9]), accept=lambda v: None if 0 <= v[0] <= 3 else f"{v[0]}"))],
        "    unsafe { store(full([4], p, ptr<i32>), iota([4], i32)); }")
EIGHT = np.arange(8, dtype=I32)
P = Values(S, tensors=[("x: tensor<i32, [8]>", EIGHT)], before="    let i = iota([8], i32);\n")
for order in ("relaxed", "acquire"):
    P.row(f"order {order} of reads", f"atomic_load(x, [i], order: {order}, scope: device)", EIGHT, "i32")
for order in ("relaxed", "release"):
    program(S, f"order {order} of writes", [("x: out tensor<i32, [8]>", Out(EIGHT * 2))], f"    let i = iota([8], i32);\n    atomic_store(x, [i], 2 * i, order: {order});")
for order in ("relaxed", "acquire", "release", "acquire_release"):
    program(S, f"order {order} of read-writes", [("x: inout tensor<i32, [8]>", Out(EIGHT + 5, EIGHT)), ("o: out tensor<i32, [8]>", Out(EIGHT))],
            f"    o.store([0], atomic_add(x, [iota([8], i32)], full([8], 5, i32), order: {order}));")
for scope in ("block", "device", "system"):
    program(S, f"scope {scope}", [("x: inout tensor<i32, [8]>", Out(EIGHT + 5, EIGHT)), ("o: out tensor<i32, [8]>", Out(EIGHT))],
            f"    o.store([0], atomic_add(x, [iota([8], i32)], full([8], 5, i32), order: relaxed, scope: {scope}));")
WIDE = ["i32", "u32", "i64", "u64"]
RMW = [("add", WIDE + ["f32", "f64", "f16", "bf16"], np.add), ("sub", WIDE + ["f32", "f64", "f16", "bf16"], np.subtract), ("min", WIDE, np.minimum), ("max", WIDE, np.maximum),
       ("and", WIDE, np.bitwise_and), ("or", WIDE, np.bitwise_or), ("xor", WIDE, np.bitwise_xor), ("xchg", WIDE + ["f32", "f64"], lambda a, b: b)]
for op, types, f in RMW:
    for t in types:
        x, v = array(t, [12, 5, 9, 40]), array(t, [3, 5, 1, 33])
        program(S, f"atomic_{op} of {t}", [(f"x: inout tensor<{t}, [4]>", Out(array(t, f(x, v)), x)), (f"v: tensor<{t}, [4]>", v), (f"o: out tensor<{t}, [4]>", Out(x))],
                f"    o.store([0], atomic_{op}(x, [iota([4], i32)], v.load([0], [4])));")
for t in ("i32", "u64", "f32", "f64"):
    x, e, d = array(t, [1, 2, 3, 4]), array(t, [1, 9, 3, 9]), array(t, [10, 20, 30, 40])
    program(S, f"atomic_compare_exchange of {t}", [(f"x: inout tensor<{t}, [4]>", Out(np.where(x == e, d, x).astype(x.dtype), x)), (f"e: tensor<{t}, [4]>", e), (f"d: tensor<{t}, [4]>", d),
            (f"o: out tensor<{t}, [4]>", Out(x))], "    o.store([0], atomic_compare_exchange(x, [iota([4], i32)], e.load([0], [4]), d.load([0], [4])));")
program(S, "a compare-exchange of floats compares bits", [("x: inout tensor<f32, [2]>", Out(F32([-0.0, 5]), F32([-0.0, 0.0])))],
        "    atomic_compare_exchange(x, [iota([2], i32)], full([2], 0.0, f32), full([2], 5.0, f32));")
program(S, "a block's indices and the numbers of blocks", [("o: out tensor<i32, [2, 3]>", Out((np.arange(6) + 230).astype(I32)))],
        "    o[bid(0), bid(1)] = num_blocks(0) * 100 + num_blocks(1) * 10 + bid(0) * 3 + bid(1);", (), "[2, 3]")

# ---- what is refused ----
refused(S, "i128", "E0202", "x", "x: i128")
for t in RESTRICTED:
    for e in ("a + a", "a * a", "-a", "a < a", "a == a", "exp(a)", "max(a, a)", "abs(a)", "sum(a, 0)", "!a", "a && a"):
        refused(S, f"restricted {t}: {e}", "E0263", e, f"a: tile<{t}, [4]>")
refused(S, "pointers to pointers", "E0241", "p", "p: ptr<ptr<i32>>")
refused(S, "a load by void*", "E0280", "unsafe load(p)", "p: ptr<void>")
program(S, "an index type of 16 bits", [("x: tensor<i32, [n: i16]>", EIGHT), ("o: out tensor<i16, [2]>", Out(np.int16([8, 9])))],
        "    static_assert(type_of(n) == i16);\n    o[0] = n; o[1] = n + 1i16;", (8,))
refused(S, "elements of a tile are not assigned", "E0518", "x", source="fn f(x: tile<i32, [4]>) { x[0] = 1; }\n")
refused(S, "a length that is no power of two", "E0243", "x", "x: tile<f32, [4, 7]>")
refused(S, "a length of 0", "E0243", "x", "x: tile<f32, [0]>")
refused(S, "a length beyond the limit", "E0244", "x", "x: tile<i8, [33554432]>")
refused(S, "too many elements", "E0245", "x", "x: tile<i8, [8192, 4096]>")
refused(S, "too many bytes", "E0247", "x", "x: tile<f32, [4096, 2048]>")
refused(S, "a tile of several elements is no condition", "E0269", "x ? 1 : 2", "x: tile<f32, [2]>")
for a, b in RANKS:
    refused(S, f"{b} to {a} narrows", "E0250", "v", source=f"fn f(x: tile<{b}, [4]>) {{ let v: tile<{a}, [4]> = x; }}\n")
for a, b in [("f8e4m3", "f8e5m2"), ("f8e5m2", "f8e4m3"), ("f16", "bf16"), ("bf16", "f16")]:
    refused(S, f"the ranks of {a} and {b} have no order", "E0250", "v", source=f"fn f(x: tile<{a}, [4]>) {{ let v: tile<{b}, [4]> = x; }}\n")
refused(S, "a scalar is no argument of shape [1]", "E0229", "g(s)", source="fn g(x: tile<i32, [1]>) { }\nfn f(s: i32) { g(s); }\n")
differs(S, "restricted types as conditions", "restricted types are no conditions")
refused(S, "a shape that broadcasts and is no tile's", "E0243", "broadcast(x, [5, 2])", "x: tile<i32, [2]>")
refused(S, "broadcast aligns the last dimensions", "E0311", "broadcast(x, [2, 4])", "x: tile<i32, [2]>")
refused(S, "lengths 4 and 8 do not meet", "E0262", "a + b", "a: tile<i32, [4, 2]>, b: tile<i32, [8, 2]>")
refused(S, "a mutual broadcast that is too large", "E0278", "a + b", "a: tile<i8, [8192, 1]>, b: tile<i8, [1, 4096]>")
refused(S, "f16 and bf16 have no common type", "E0260", "a + b", "a: tile<f16, [4]>, b: tile<bf16, [4]>")
for a, b in [("i32", "u32"), ("i32", "u64"), ("i8", "u8"), ("i8", "u16")]:
    refused(S, f"the common type of {a} and {b} is unsigned", "E0261", "a + b", f"a: tile<{a}, [4]>, b: tile<{b}, [4]>")
refused(S, "f64 times an i32 tile", "E0261", "d * x", "d: f64, x: tile<i32, [8]>")
refused(S, "a floating literal times an i32 tile", "E0255", "2.0 * x", "x: tile<i32, [8]>")
refused(S, "f64 times an f32 tile; the literal 2.0 takes its type", "E0261", "2.0 * x + d * x", "d: f64, x: tile<f32, [8]>")
refused(S, "f32 plus an i32 tile", "E0261", "a + b", "a: f32, b: tile<i32, [4, 8]>")
refused(S, "bf16 plus an f16 tile", "E0261", "a + b", "a: bf16, b: tile<f16, [4, 8]>")
refused(S, "bf16 compared with an f16 tile", "E0260", "a < b", "a: bf16, b: tile<f16, [4, 8]>")
refused(S, "u32 plus an i32 tile", "E0261", "a + b", "a: u32, b: tile<i32, [4, 8]>")
refused(S, "u32 compared with an i32 tile", "E0261", "a < b", "a: u32, b: tile<i32, [4, 8]>")
refused(S, "a tile stored through a span of const elements", "E0501", "x", source="fn f(x: tensor<f32, [4]>) { x.store([0], zeros([4], f32)); }\n")
for e in ("add(a, a, rounding: approximate)", "mul(a, a, rounding: full)", "sqrt(a, rounding: full)"):
    refused(S, f"f32: {e}", "E0305", e, "a: tile<f32, [4]>")
for t in ("f16", "bf16", "f64"):
    for e in ("div(a, a, rounding: approximate)", "exp(a, rounding: approximate)", "add(a, a, subnormals: flush)"):
        refused(S, f"{t}: {e}", "E0305", e, f"a: tile<{t}, [4]>")
refused(S, "rounding of integers", "E0305", "add(a, a, rounding: toward_zero)", "a: tile<i32, [4]>")
for order in ("release", "acquire_release"):
    refused(S, f"order {order} of an atomic load", "E0515", f"atomic_load(x, [0], order: {order})", "x: tensor<i32, [n]>")
for order in ("acquire", "acquire_release"):
    refused(S, f"order {order} of an atomic store", "E0515", "x", source=f"fn f(x: inout tensor<i32, [n]>) {{ atomic_store(x, [0], 1, order: {order}); }}\n")
for op, types in [("add", ["i8", "u16", "bool"]), ("sub", ["i8", "u16", "bool"])] + [(o, ["i8", "u16", "bool", "f32", "f64", "f16"]) for o in ("min", "max", "and", "or", "xor")] + \
        [("xchg", ["i8", "u16", "bool"])]:
    for t in types:
        refused(S, f"atomic_{op} of {t}", "E0516", f"atomic_{op}(x, [0], {t}(1))", f"x: inout tensor<{t}, [n]>")
P = Values(S, tensors=[("x: tensor<i32, [n]>", EIGHT)], dims=[8])
P.row("an atomic load of a view", "x.partition([4]).atomic_load([1])", EIGHT[4:], "i32")
