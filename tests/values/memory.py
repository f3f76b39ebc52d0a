#!/usr/bin/env python3
"""Loads and stores: pads and edges, indices of every type and size, layouts, slices and other views, element access, gathers and
scatters, raw pointers, atomics, bool memory, i64 dimensions, the order of accesses to one tensor.

Usage: memory.py build FOLDER --ctilec PATH [--target c|cuda]
       memory.py run FOLDER [--target c|cuda]
       memory.py test --ctilec PATH        builds and runs the C target in a temporary folder
"""
import ctypes, itertools, math
import numpy as np
import reference as ref
from reference import ANY_FLOATS, FLOATS, INTS, NUMERIC
from runner import DTYPE
from suite import Call, Out, Suite

S = Suite("memory")
LENGTHS = [0, 1, 7, 64, 1000, 4097]
I32, I64 = np.int32, np.int64


# ---- references ----
def tile_at(x, start, shape, pad=0):
    """The tile whose first element is `start` (Python ints of any size)."""
    out = np.full(shape, pad, x.dtype)
    src, dst = [], []
    for s, n, d in zip(start, shape, x.shape):
        lo, hi = max(0, s), min(d, s + n)
        if lo >= hi:
            return out
        src.append(slice(lo, hi))
        dst.append(slice(lo - s, hi - s))
    out[tuple(dst)] = x[tuple(src)]
    return out


def put_at(y, start, v):
    """y with the tile stored."""
    y = y.copy()
    src, dst = [], []
    for s, n, d in zip(start, v.shape, y.shape):
        lo, hi = max(0, s), min(d, s + n)
        if lo >= hi:
            return y
        src.append(slice(lo - s, hi - s))
        dst.append(slice(lo, hi))
    y[tuple(dst)] = v[tuple(src)]
    return y


def sliced(x, axis, lo, hi, step=1):
    d = x.shape[axis]
    n = 0 if lo < 0 or lo > d else max(0, -(-(min(hi, d) - lo) // step))
    return x[tuple(slice(lo, lo + n * step, step) if a == axis and n else slice(0, 0) if a == axis else slice(None) for a in range(x.ndim))]


def count(*shape, t="i32", start=0):
    return (np.arange(int(np.prod(shape, dtype=np.int64))) + start).reshape(shape).astype(DTYPE[t])


def cdiv(a, b):
    return -(-a // b)


def some(t, n, rng):
    v = ref.randoms(t, n, rng)
    if n > 24:
        s = ref.specials(t)
        v[:min(n, len(s))] = s[:min(n, len(s))]
    return v


# ---- whole tensors, tile by tile ----
for t in NUMERIC:
    for tile in (1, 64, 1024) if t in ("i32", "u8", "f64") else (64,):
        S.add(f"copy_{t}_{tile}", f"kernel copy_{t}_{tile}(x: tensor<{t}, [n]>, y: out tensor<{t}, [n]>) grid [cdiv(n, {tile})] "
              f"{{ y.store([bid(0)], x.load([bid(0)], [{tile}])); }}\n",
              lambda rng, t=t, tile=tile: [Call(f"copy_{t}_{tile}", x, Out(x), len(x)) for n in LENGTHS for x in [some(t, n, rng)]])
SHAPED = [((8, 16), [(0, 5), (5, 0), (1, 1), (7, 7), (8, 16), (9, 17), (100, 33), (1, 1000)]), ((1, 256), [(3, 1000), (1, 4097)]), ((64, 1), [(1000, 3)]),
          ((2, 4, 8), [(1, 1, 1), (2, 4, 8), (3, 5, 7), (0, 1, 1), (4, 1, 30)]), ((2, 1, 2, 4), [(3, 2, 3, 5), (1, 1, 1, 1)]), ((2, 2, 1, 4, 2), [(3, 1, 2, 5, 3), (2, 2, 1, 4, 2)])]
for tile, sizes in SHAPED:
    name, dims = "copy_" + "x".join(map(str, tile)), "abcde"[:len(tile)]
    if len(tile) < 5:
        grid = ", ".join(f"cdiv({d}, {n})" for d, n in zip(dims, tile))
        index = ", ".join(f"bid({i})" for i in range(len(tile)))
        lets = ""
    else:
        grid = "cdiv(a, 2), cdiv(b, 2), c * cdiv(d, 4), cdiv(e, 2)"
        index = "bid(0), bid(1), z / dn, z % dn, bid(3)"
        lets = "let z = bid(2), dn = cdiv(d, 4); "
    S.add(name, f"kernel {name}(x: tensor<i32, [{', '.join(dims)}]>, y: out tensor<i32, [{', '.join(dims)}]>) grid [{grid}] "
          f"{{ {lets}y.store([{index}], x.load([{index}], [{', '.join(map(str, tile))}])); }}\n",
          lambda rng, name=name, sizes=sizes: [Call(name, x, Out(x), *s) for s in sizes for x in [count(*s)]])

S.add("rank0", """kernel rank0(x: tensor<f32, []>, y: inout tensor<f32, []>, z: out tensor<f32, [2]>) grid [3] {
    if bid(0) == 1 {
        let v = x.load([], []);
        y.store([], v + y.load([], []));
        z[0] = f32(v);
        z.store_at([1], reshape(v, [1]) * 2);
    }
}
""", lambda rng: [Call("rank0", np.array(3.5, np.float32).reshape(1), Out(np.array([5.0], np.float32), np.array([1.5], np.float32)), Out(np.array([3.5, 7], np.float32)))])


# ---- pads, and offsets of every size ----
FAR = [0, 1, 3, -1, -3, -4, -8, -9, 8, 13, 14, 2 ** 31 - 1, -2 ** 31, 2 ** 31 - 4]
PADS = {"zero": 0, "neg_zero": -0.0, "nan": math.nan, "inf": math.inf, "-inf": -math.inf, "7": 7, "-1.5": -1.5, "a": None}
S.add("pads", "kernel pads(x: tensor<f32, [h, w]>, y: out tensor<f32, [8, 4, 8]>, r: i32, c: i32, a: f32) grid [1] {\n" +
      "".join(f"    y[{i}, :, :].store([0, 0], x.load_at([r, c], [4, 8], pad: {p}));\n" for i, p in enumerate(PADS)) + "}\n",
      lambda rng: [Call("pads", x, Out(np.stack([tile_at(x, (r, c), (4, 8), 2.5 if p is None else p) for p in PADS.values()])), I32(r), I32(c), np.float32(2.5), 5, 13)
                   for x in [some("f32", 65, rng).reshape(5, 13)] for r, c in [(0, 0), (3, 9), (-2, -3), (4, 12), (5, 0), (0, 13), (-4, 0), (-3, 5)] + list(zip(FAR, FAR[::-1]))])
for t in NUMERIC:
    texts = {"bool": ["true", "false"]}.get(t, ["zero", "1", "a"] + (["-0.0", "nan", "0.5"] if t in ANY_FLOATS else []) + (["neg_zero"] if t in ANY_FLOATS else []))
    value = {"true": 1, "false": 0, "zero": 0, "neg_zero": -0.0, "nan": math.nan, "a": None}
    def calls(rng, t=t, texts=texts, value=value):
        for at in (-5, 3, 20):
            x, a = some(t, 17, rng), some(t, 1, rng)[0]
            yield Call(f"pad_{t}", x, Out(np.stack([tile_at(x, (at,), (16,), a if p == "a" else np.array(value.get(p, 0) if p in value else float(p)).astype(DTYPE[t])) for p in texts])),
                       I32(at), np.bool_(a) if t == "bool" else a, 17)
    S.add(f"pad_{t}", f"kernel pad_{t}(x: tensor<{t}, [n]>, y: out tensor<{t}, [{len(texts)}, 16]>, at: i32, a: {t}) grid [1] {{\n" +
          "".join(f"    y[{i}, :].store([0], x.load_at([at], [16], pad: {p}));\n" for i, p in enumerate(texts)) + "}\n", calls)

# indices of every type, as tile numbers and as element offsets
for t in INTS:
    def calls(rng, t=t):
        x = count(100, start=1)
        for k in sorted({v for v in (0, 1, 2, 6, 7, -1, -2, 100, 2 ** 31 - 1, -2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 58, 2 ** 59, 2 ** 60, -2 ** 59, 2 ** 62, 2 ** 63 - 1, -2 ** 63, 2 ** 63, 2 ** 64 - 1,
                                     2 ** 64 - 8) if ref.limits(t)[0] <= v <= ref.limits(t)[1]}):
            one = int(x[k]) if 0 <= k < 100 else 0
            y = put_at(np.zeros(100, I32), (16 * k,), np.full(16, 5, I32))
            z = put_at(np.zeros(100, I32), (k,), np.full(16, 6, I32))
            if 0 <= k < 100:
                z[k] = 9
            yield Call(f"index_{t}", x, Out(np.stack([tile_at(x, (16 * k,), (16,), -1), tile_at(x, (k,), (16,), -2)])), Out(np.array([one], I32)),
                       Out(y, np.zeros(100, I32)), Out(z, np.zeros(100, I32)), DTYPE[t].type(k), 100)
    S.add(f"index_{t}", f"""kernel index_{t}(x: tensor<i32, [n]>, r: out tensor<i32, [2, 16]>, e: out tensor<i32, [1]>, y: inout tensor<i32, [n]>, z: inout tensor<i32, [n]>, k: {t}) grid [1] {{
    r[0, :].store([0], x.load([k], [16], pad: -1));
    r[1, :].store([0], x.load_at([k], [16], pad: -2));
    e[0] = x[k];
    y.store([k], full([16], 5, i32));
    z.store_at([k], full([16], 6, i32));
    z[k] = 9;
}}
""", calls)

S.add("store_edges", """kernel store_edges(y: inout tensor<i32, [h, w]>, r: i32, c: i32) grid [1] {
    y.store_at([r, c], reshape(iota([32], i32), [4, 8]));
}
kernel store_tiles(y: inout tensor<i32, [h, w]>, r: i32, c: i32) grid [1] {
    y.store([r, c], reshape(iota([32], i32), [4, 8]));
}
kernel elements(x: tensor<i32, [h, w]>, y: inout tensor<i32, [h, w]>, r: i32, c: i32) grid [1] {
    y[r, c] = x[r, c] + 1000;
    y[c, r] += 5;
    y[r + 1, c - 1] = i32(x[r, c] > 0);
}
""", lambda rng: edge_calls(rng))


def edge_calls(rng):
    places = [(0, 0), (3, 9), (-2, -3), (4, 12), (-4, 0), (-3, 5), (1, -7), (1, -8), (2, 13)] + list(zip(FAR, FAR[::-1]))
    tile = np.arange(32, dtype=I32).reshape(4, 8)
    for r, c in places:
        y = rng.integers(100, 200, (5, 13)).astype(I32)
        yield Call("store_edges", Out(put_at(y, (r, c), tile), y), I32(r), I32(c), 5, 13)
        yield Call("store_tiles", Out(put_at(y, (4 * r, 8 * c), tile), y), I32(r), I32(c), 5, 13)
        x, z = rng.integers(-9, 9, (5, 13)).astype(I32), y.copy()
        def inside(i, j): return 0 <= i < 5 and 0 <= j < 13
        if inside(r, c):
            z[r, c] = x[r, c] + 1000
        if inside(c, r):
            z[c, r] += 5
        if r + 1 < 2 ** 31 and inside(r + 1, c - 1):
            z[r + 1, c - 1] = inside(r, c) and x[r, c] > 0
        if abs(r) < 2 ** 30 and abs(c) < 2 ** 30:
            yield Call("elements", x, Out(z, y), I32(r), I32(c), 5, 13)


# ---- layouts ----
def placed(x, strides, fill):
    """A flat buffer that holds x with these strides."""
    n = 1 + sum((d - 1) * s for d, s in zip(x.shape, strides)) if x.size else 0
    buf = np.full(n, fill, x.dtype)
    for i in np.ndindex(*x.shape):
        buf[sum(a * b for a, b in zip(i, strides))] = x[i]
    return buf


def up(n, a):
    return cdiv(n, a) * a


LAYOUTS2 = {  # text -> (strides of [h, w], names of free strides)
    "layout_right": (lambda h, w: (w, 1), []), "layout_left": (lambda h, w: (1, h), []), "layout_right_padded<8>": (lambda h, w: (up(w, 8), 1), []),
    "layout_left_padded<16>": (lambda h, w: (1, up(h, 16)), []), "layout_strided<[s, 1]>": (lambda h, w: (w + 3, 1), ["s"]),
    "layout_strided<[1, s]>": (lambda h, w: (1, h + 5), ["s"]), "layout_strided<[s, r]>": (lambda h, w: (2 * w + 1, 2), ["s", "r"]), "layout_strided<[64, 2]>": (lambda h, w: (64, 2), []),
}
IN2 = dict(LAYOUTS2)
IN2.update({"layout_strided<[0, 1]>": (lambda h, w: (0, 1), []), "layout_strided<[1, 0]>": (lambda h, w: (1, 0), []), "layout_strided<[s, 0]>": (lambda h, w: (3, 0), ["s"]),
            "layout_strided<[0, 0]>": (lambda h, w: (0, 0), []), "layout_strided<[1, 1]>": (lambda h, w: (1, 1), [])})
for i, ((lx, (sx, nx)), (ly, (sy, ny))) in enumerate(list(zip(list(IN2.items()), list(LAYOUTS2.items()) * 2)) + list(zip(list(IN2.items()), list(LAYOUTS2.items())[3:] + list(LAYOUTS2.items())))):
    ly2 = ly.replace("s", "t").replace("layout_ttrided", "layout_strided").replace("r]", "u]") if "strided" in ly else ly
    def calls(rng, i=i, sx=sx, sy=sy, nx=nx, ny=ny):
        for h, w in [(1, 1), (5, 13), (16, 16), (17, 30), (0, 4), (4, 0), (1, 30), (30, 1)]:
            x = rng.integers(-1000, 1000, (h, w)).astype(I32)
            bx = placed(x, sx(h, w), 77)
            x = np.array([[bx[a * sx(h, w)[0] + b * sx(h, w)[1]] for b in range(w)] for a in range(h)], I32).reshape(h, w)      # overlapping elements of x are one
            ran = h and w
            free = [v for v, one in zip(sx(h, w), fixed(sx)) if one] + [v for v, one in zip(sy(h, w), fixed(sy)) if one]
            yield Call(f"layout_{i}", bx, Out(placed(x, sy(h, w), -5), np.full(len(placed(x, sy(h, w), -5)), -5, I32)), Out(np.ascontiguousarray(x.T)), Out(np.array([sx(h, w)[0], sy(h, w)[1]] if ran else [0, 0], I64), np.zeros(2, I64)), h, w, *free)
    S.add(f"layout_{i}", f"""kernel layout_{i}(x: tensor<i32, [h, w], {lx}>, y: inout tensor<i32, [h, w], {ly2}>, z: out tensor<i32, [w, h]>, k: out tensor<i64, [2]>) grid [cdiv(h, 8), cdiv(w, 16)] {{
    let i = bid(0), j = bid(1);
    let v = x.load([i, j], [8, 16]);
    y.store([i, j], v);
    z.store([j, i], transpose(v));
    if i == 0 && j == 0 {{ k[0] = x.stride(0); k[1] = y.stride(1); }}
}}
""", calls)


def fixed(f):
    """Which strides are free: those the layouts above give by name."""
    for text, (g, names) in IN2.items():
        if g is f:
            inside = text[text.index("[") + 1:text.index("]")].split(", ") if "[" in text else ["1", "1"]
            return [not v.isdigit() for v in inside]


S.add("layouts3", """kernel layouts3(x: tensor<f64, [a, b, c], layout_left>, y: out tensor<f64, [a, b, c], layout_strided<[p, q, 1]>>, z: inout tensor<f64, [a, b, c], layout_left_padded<4>>) grid [cdiv(a, 2), cdiv(b, 4), cdiv(c, 8)] {
    let v = x.load([bid(0), bid(1), bid(2)], [2, 4, 8]);
    y.store([bid(0), bid(1), bid(2)], v);
    z.store([bid(0), bid(1), bid(2)], -v);
}
""", lambda rng: [Call("layouts3", placed(x, (1, a, a * b), 0), Out(placed(x, (p, q, 1), 3), np.full(1 + (a - 1) * p + (b - 1) * q + c - 1, 3.0)),
                       Out(placed(-x, (1, up(a, 4), up(a, 4) * b), 4), np.full(len(placed(x, (1, up(a, 4), up(a, 4) * b), 4)), 4.0)), a, b, c, p, q)
                  for a, b, c in [(1, 1, 1), (2, 4, 8), (3, 5, 9), (5, 2, 1)] for q in [c + 2] for p in [q * b + 7] for x in [rng.standard_normal((a, b, c))]])

# ---- views ----
S.add("slices", """kernel slices(x: tensor<i32, [n, m]>, r: out tensor<i32, [4, 8, 8]>, e: out tensor<i32, [4]>, lo: i32, hi: i32) grid [1] {
    let a = x.slice(0, lo, hi), b = x.slice(1, lo, hi, step: 3), c = x.slice(0, lo, hi, step: 2).slice(1, 1, hi);
    let d = x.slice(0, 2, hi).slice(0, lo, 100);
    r[0, :, :].store([0, 0], a.load([0, 0], [8, 8], pad: -1));
    r[1, :, :].store([0, 0], b.load([0, 0], [8, 8], pad: -2));
    r[2, :, :].store([0, 0], c.load_at([1, 1], [8, 8], pad: -3));
    r[3, :, :].store([0, 0], d.load([bid(0), 0], [8, 8], pad: -4));
    e[0] = a.extent(0);
    e[1] = b.extent(1);
    e[2] = c.extent(0);
    e[3] = d.extent(0);
}
kernel slice_stores(y: inout tensor<i32, [n, m]>, lo: i32, hi: i64, k: i32) grid [1] {
    y.slice(0, lo, hi).store([0, 0], full([4, 4], 1, i32));
    y.slice(1, lo, hi, step: 2).store_at([k, 0], full([2, 4], 2, i32));
    y.slice(0, lo, hi)[k, 0] = 3;
    y.slice(0, 1, 3).slice(1, lo, hi)[0, k] = 4;
}
""", lambda rng: slice_calls(rng))


def slice_calls(rng):
    x = count(9, 11, start=1)
    for lo, hi in itertools.product([0, 1, 4, 8, 9, 10, -1, -5, 2 ** 31 - 1, -2 ** 31], [0, 1, 3, 7, 9, 11, 100, -1, 2 ** 31 - 1, -2 ** 31]):
        a, b, c, d = sliced(x, 0, lo, hi), sliced(x, 1, lo, hi, 3), sliced(sliced(x, 0, lo, hi, 2), 1, 1, hi), sliced(sliced(x, 0, 2, hi), 0, lo, 100)
        yield Call("slices", x, Out(np.stack([tile_at(a, (0, 0), (8, 8), -1), tile_at(b, (0, 0), (8, 8), -2), tile_at(c, (1, 1), (8, 8), -3), tile_at(d, (0, 0), (8, 8), -4)])),
                   Out(np.array([a.shape[0], b.shape[1], c.shape[0], d.shape[0]], I32)), I32(lo), I32(hi), 9, 11)
        for k in (0, 2, -1, 5):
            y = np.zeros((9, 11), I32)
            write(sliced(y, 0, lo, hi), (0, 0), np.full((4, 4), 1, I32))
            write(sliced(y, 1, lo, hi, 2), (k, 0), np.full((2, 4), 2, I32))
            write(sliced(y, 0, lo, hi), (k, 0), np.full((1, 1), 3, I32))
            write(sliced(sliced(y, 0, 1, 3), 1, lo, hi), (0, k), np.full((1, 1), 4, I32))
            yield Call("slice_stores", Out(y, np.zeros((9, 11), I32)), I32(lo), I64(hi), I32(k), 9, 11)


def write(view, at, tile):
    view[...] = put_at(view, at, tile)


S.add("slices_far", """kernel slices_far(x: tensor<i32, [n]>, r: out tensor<i32, [4, 16]>, lo: i64, hi: i64, uh: u64, uw: u32) grid [1] {
    r[0, :].store([0], x.slice(0, lo, hi).load([0], [16], pad: -1));
    r[1, :].store([0], x.slice(0, 3, uh).load([0], [16], pad: -1));
    r[2, :].store([0], x.slice(0, 3, uw).load([0], [16], pad: -1));
    r[3, :].store([0], x.slice(0, uw, 100).load([0], [16], pad: -1));
}
""", lambda rng: [Call("slices_far", x, Out(np.stack([tile_at(sliced(x, 0, a, b), (0,), (16,), -1) for a, b in [(lo, hi), (3, uh), (3, uw), (uw, 100)]])),
                       I64(lo), I64(hi), np.uint64(uh), np.uint32(uw), 13) for x in [count(13, start=1)]
                  for lo, hi, uh, uw in [(0, 2 ** 63 - 1, 2 ** 64 - 1, 2 ** 32 - 1), (-2 ** 63, 5, 5, 5), (2, -2 ** 63, 2 ** 63, 2 ** 31), (2 ** 63 - 1, 2 ** 63 - 1, 0, 0), (2 ** 32, 2 ** 33, 2 ** 32, 1)]])

S.add("rows", """kernel rows(x: tensor<f32, [a, b, c]>, r: out tensor<f32, [6, 4, 8]>, i: i32, j: i64) grid [1] {
    r[0, :, :].store([0, 0], x[i, :, :].load([0, 0], [4, 8], pad: -1));
    r[1, :, :].store([0, 0], x[:, i, :].load([0, 0], [4, 8], pad: -2));
    r[2, :, :].store([0, 0], x[:, :, i].load([0, 0], [4, 8], pad: -3));
    r[3, 0, :].store([0], x[i, j, :].load([0], [8], pad: -4));
    r[3, 1, :].store([0], x[:, j, i].load([0], [8], pad: -5));
    r[3, 2, 0] = x[i, j, 0];
    r[4, :, :].store([0, 0], x.permute([2, 0, 1])[i, :, :].load_at([-1, 1], [4, 8], pad: -6));
    r[5, :, :].store([0, 0], transpose(x[i, :, :]).slice(0, 1, 4).load([0, 0], [4, 8], pad: -7));
}
""", lambda rng: row_calls(rng))


def at(x, axis, i):
    """x with an axis fixed; empty when the index is outside."""
    rest = np.delete(np.array(x.shape), axis)
    return np.take(x, i, axis) if 0 <= i < x.shape[axis] else np.zeros([0] * (x.ndim - 1), x.dtype).reshape([0] + list(rest[1:])) if len(rest) else x


def row_calls(rng):
    for shape in [(3, 4, 8), (5, 6, 7), (1, 1, 1)]:
        x = rng.integers(1, 100, shape).astype(np.float32)
        for i, j in [(0, 0), (2, 3), (-1, 0), (5, 1), (6, 2 ** 40), (2 ** 31 - 1, -2 ** 63), (-2 ** 31, 0), (1, -1)]:
            r = np.full((6, 4, 8), np.nan, np.float32)
            start = np.full((6, 4, 8), 9, np.float32)
            r[:] = start
            r[0] = tile_at(at(x, 0, i), (0, 0), (4, 8), -1)
            r[1] = tile_at(at(x, 1, i), (0, 0), (4, 8), -2)
            r[2] = tile_at(at(x, 2, i), (0, 0), (4, 8), -3)
            in_i, in_j = 0 <= i < shape[0], 0 <= j < shape[1]
            r[3, 0] = tile_at(x[i, j] if in_i and in_j else x[0, 0, :0], (0,), (8,), -4)
            r[3, 1] = tile_at(x[:, j, i] if 0 <= i < shape[2] and in_j else x[0, 0, :0], (0,), (8,), -5)
            r[3, 2, 0] = x[i, j, 0] if in_i and in_j else 0
            r[4] = tile_at(np.transpose(x, (2, 0, 1))[i] if 0 <= i < shape[2] else np.zeros((0, 0), np.float32), (-1, 1), (4, 8), -6)
            r[5] = tile_at(sliced(x[i].T, 0, 1, 4) if in_i else np.zeros((0, 0), np.float32), (0, 0), (4, 8), -7)
            yield Call("rows", x, Out(r, start), I32(i), I64(j), *shape)


S.add("row_stores", """kernel row_stores(y: inout tensor<i32, [a, b, c]>, i: i32, j: i32) grid [1] {
    y[i, :, :].store([0, 0], full([2, 4], 1, i32));
    y[:, j, :].store_at([1, -1], full([2, 4], 2, i32));
    y[i, j, :].store([0], full([2], 3, i32));
    let p = y.permute([1, 2, 0]);
    p.store_at([j, 1, i], full([1, 2, 1], 4, i32));
    p[0, j, i] = 5;
}
""", lambda rng: row_store_calls())


def row_store_calls():
    for shape in [(3, 4, 8), (2, 2, 1)]:
        for i, j in [(0, 0), (1, 1), (2, 3), (-1, 0), (0, -1), (7, 7)]:
            y = np.zeros(shape, I32)
            if 0 <= i < shape[0]:
                write(y[i], (0, 0), np.full((2, 4), 1, I32))
            if 0 <= j < shape[1]:
                write(y[:, j], (1, -1), np.full((2, 4), 2, I32))
            if 0 <= i < shape[0] and 0 <= j < shape[1]:
                write(y[i, j], (0,), np.full(2, 3, I32))
            p = np.transpose(y, (1, 2, 0))
            write(p, (j, 1, i), np.full((1, 2, 1), 4, I32))
            write(p, (0, j, i), np.full((1, 1, 1), 5, I32))
            yield Call("row_stores", Out(y, np.zeros(shape, I32)), I32(i), I32(j), *shape)


S.add("partitions", """fn first_row<V: any>(v: V, i: i32) -> tile<i32, [4, 8]> { return v.load([i, 0], pad: -1); }
kernel partitions(x: tensor<i32, [h, w]>, y: inout tensor<i32, [h, w]>, r: out tensor<i32, [5, 4, 8]>, e: out tensor<i32, [8]>, m: out tensor<bool, [2, 4, 8]>, i: i32, j: i32) grid [1] {
    let p = x.partition([4, 8]), s = x.strided([4, 8], [3, 5], [1, -2]), t = x.strided([4, 8], [16, 1]);
    r[0, :, :].store([0, 0], p.load([i, j]));
    r[1, :, :].store([0, 0], s.load([i, j], pad: -9));
    r[2, :, :].store([0, 0], t.load([i, j]));
    r[3, :, :].store([0, 0], first_row(p, i));
    r[4, :, :].store([0, 0], x.permute([1, 0]).partition([4, 8]).load([i, j], pad: 3));
    e[0] = p.num_tiles(0); e[1] = p.num_tiles(1); e[2] = s.num_tiles(0); e[3] = s.num_tiles(1); e[4] = t.num_tiles(0); e[5] = t.num_tiles(1);
    e[6] = x.extent(0); e[7] = i32(x.span_size());
    m[0, :, :].store([0, 0], x.mask([i, j], [4, 8]));
    m[1, :, :].store([0, 0], s.load([i, j], pad: -9) != -9);
    y.partition([2, 4]).store([i, j], full([2, 4], 1, i32));
    y.strided([2, 2], [3, 4], [-1, 1]).store([i, j], full([2, 2], 2, i32));
}
""", lambda rng: partition_calls())


def partition_calls():
    for h, w in [(9, 19), (1, 1), (4, 8), (0, 3), (17, 5)]:
        x = count(h, w, start=1)
        for i, j in [(0, 0), (1, 1), (2, 0), (-1, 0), (0, -1), (0, 3), (5, 5), (2 ** 31 - 1, 2 ** 31 - 1), (-2 ** 31, 1)]:
            r = [tile_at(x, (4 * i, 8 * j), (4, 8)), tile_at(x, (3 * i + 1, 5 * j - 2), (4, 8), -9), tile_at(x, (16 * i, j), (4, 8)),
                 tile_at(x, (4 * i, 0), (4, 8), -1), tile_at(x.T, (4 * i, 8 * j), (4, 8), 3)]
            y = put_at(np.zeros((h, w), I32), (2 * i, 4 * j), np.full((2, 4), 1, I32))
            y = put_at(y, (3 * i - 1, 4 * j + 1), np.full((2, 2), 2, I32))
            def tiles(n, step, offset): return max(0, cdiv(n - offset, step))
            e = [cdiv(h, 4), cdiv(w, 8), tiles(h, 3, 1), tiles(w, 5, -2), tiles(h, 16, 0), tiles(w, 1, 0), h, h * w]
            m = [tile_at(np.ones((h, w), np.uint8), (4 * i, 8 * j), (4, 8)), tile_at(np.ones((h, w), np.uint8), (3 * i + 1, 5 * j - 2), (4, 8))]
            yield Call("partitions", x, Out(y, np.zeros((h, w), I32)), Out(np.stack(r)), Out(np.array(e, I32)), Out(np.stack(m)), I32(i), I32(j), h, w)


S.add("picked_tiles", """kernel picked_tiles(x: tensor<f32, [h, w]>, y: inout tensor<f32, [h, w]>, r: out tensor<f32, [3, 4, 8]>, rows: tensor<i32, [4]>, cols: tensor<i64, [8]>, k: i32) grid [1] {
    let v = rows.load([0], [4]), u = cols.load([0], [8]);
    r[0, :, :].store([0, 0], x.gather_scatter([4, 8], 0).load([v, k], pad: -1));
    r[1, :, :].store([0, 0], x.gather_scatter([4, 8], 1).load([k, u], pad: -2));
    r[2, :, :].store([0, 0], x.slice(0, 1, 100).gather_scatter([4, 8], 0).load([v, k]));
    y.gather_scatter([4, 2], 0).store([assume_unique(v), k], full([4, 2], 7, f32));
}
""", lambda rng: pick_calls(rng))


def pick_calls(rng):
    for h, w in [(9, 19), (3, 8), (1, 1)]:
        x = rng.integers(1, 99, (h, w)).astype(np.float32)
        for k in (0, 1, 2, -1, 100):
            rows = rng.permutation(np.arange(-2, h + 4))[:4].astype(I32)
            cols = np.concatenate([rng.integers(-2, w + 2, 6), [2 ** 40, -2 ** 63]]).astype(I64)
            def take(x, axis, index, k, n, pad):
                out = np.full((len(index), n) if axis == 0 else (n, len(index)), pad, np.float32)
                for q, v in enumerate(index):
                    if 0 <= v < x.shape[axis]:
                        line = tile_at(np.take(x, int(v), axis), (k * n,), (n,), pad)
                        out[(q, slice(None)) if axis == 0 else (slice(None), q)] = line
                return out
            y = np.zeros((h, w), np.float32)
            for v in rows:
                if 0 <= v < h:
                    y[v] = put_at(y[v], (2 * k,), np.full(2, 7, np.float32))
            yield Call("picked_tiles", x, Out(y, np.zeros((h, w), np.float32)), Out(np.stack([take(x, 0, rows, k, 8, -1), take(x, 1, cols, k, 4, -2), take(x[1:], 0, rows, k, 8, 0)])), rows, cols, I32(k), h, w)


S.add("reshaped", """kernel reshaped(x: tensor<i32, [4, 6]>, r: out tensor<i32, [3, 16]>, s: tensor<i32, [24]>, e: out tensor<i32, [2]>) grid [1] {
    let f = x.reshape([_]), g = s.reshape([2, 3, 4]), h = s.reshape([4, 6])[2, :];
    r[0, :].store([0], f.load_at([3], [16], pad: -1));
    r[1, :].store([0], reshape(g.load([1, 0, 0], [1, 4, 4], pad: -2), [16]));
    r[2, :].store([0], h.load([0], [16], pad: -3));
    e[0] = f.extent(0);
    e[1] = layout_of(s) == layout_of(f) ? 1 : 0;
}
""", lambda rng: [Call("reshaped", x, Out(np.stack([tile_at(x.reshape(-1), (3,), (16,), -1), tile_at(s.reshape(2, 3, 4), (1, 0, 0), (1, 4, 4), -2).reshape(16), tile_at(s.reshape(4, 6)[2], (0,), (16,), -3)])),
                       s, Out(np.array([24, 1], I32))) for x in [count(4, 6, start=1)] for s in [count(24, start=100)]])

# ---- functions that take memory ----
S.add("passed", """fn put_rows(y: out tensor<i32, [h, w]>, k: i32) { y.store([0, 0], full([2, 4], k, i32)); }
fn sum_of(x: tensor<T, [n]>) -> i32 { return i32(sum(element_cast(x.load([0], [16]), i32))); }
fn add_to(y: inout tensor<i32, [n]>, k: i32) { y[0] += k; y[n - 1] += n; }
kernel passed(x: tensor<i32, [a, b]>, z: tensor<u8, [9]>, y: inout tensor<i32, [4, a, b]>, r: inout tensor<i32, [8]>) grid [1] {
    put_rows(y[1, :, :], 5);
    put_rows(y[2, :, :].slice(0, 1, 100), 6);
    put_rows(y[3, :, :].permute([1, 0]), 7);
    r[0] = sum_of(x[0, :]);
    r[1] = sum_of(x[:, 1]);
    r[2] = sum_of(z);
    r[3] = sum_of(z.slice(0, 2, 5));
    add_to(r.slice(0, 4, 7), 100);
}
""", lambda rng: pass_calls(rng))


def pass_calls(rng):
    for a, b in [(3, 5), (1, 2), (7, 7)]:
        x, z = rng.integers(-9, 9, (a, b)).astype(I32), rng.integers(0, 255, 9).astype(np.uint8)
        y = np.zeros((4, a, b), I32)
        write(y[1], (0, 0), np.full((2, 4), 5, I32))
        write(y[2][1:], (0, 0), np.full((2, 4), 6, I32))
        write(y[3].T, (0, 0), np.full((2, 4), 7, I32))
        r = np.arange(8, dtype=I32)
        start = r.copy()
        r[0], r[1], r[2], r[3] = x[0, :16].sum(), x[:16, 1].sum(), z.astype(I32).sum(), z[2:5].astype(I32).sum()
        r[4] += 100
        r[6] += 3
        yield Call("passed", x, z, Out(y, np.zeros((4, a, b), I32)), Out(r, start), a, b)


# ---- gathers and scatters ----
S.add("gathers", """kernel gathers(x: tensor<i32, [h, w]>, r: out tensor<i32, [5, 8, 16]>, rows: tensor<i32, [8, 1]>, cols: tensor<i64, [16]>, on: tensor<bool, [8, 16]>, a: i32) grid [1] {
    let i = rows.load([0, 0], [8, 1]), j = cols.load([0], [16]), m = on.load([0, 0], [8, 16]);
    r[0, :, :].store([0, 0], x.gather([i, j]));
    r[1, :, :].store([0, 0], x.gather([i, j], mask: m, pad: -1));
    r[2, :, :].store([0, 0], x.gather([a, broadcast(j, [8, 16])], pad: a));
    r[3, :, :].store([0, 0], x.gather([element_cast(i, i8), element_cast(j, u16)], mask: i > 0, pad: 5));
    r[4, :, :].store([0, 0], transpose(x).gather([j, i], mask: a, pad: -7));
}
""", lambda rng: gather_calls(rng))


def picks(x, i, j, on=True, pad=0):
    i, j, on = np.broadcast_arrays(i, j, on)
    ok = (i >= 0) & (i < x.shape[0]) & (j >= 0) & (j < x.shape[1]) & on
    if not x.size:
        return np.full(i.shape, pad, x.dtype)
    return np.where(ok, x[np.where(ok, i, 0), np.where(ok, j, 0)], np.array(pad, x.dtype))


def gather_calls(rng):
    for h, w in [(5, 13), (100, 7), (1, 1), (0, 4)]:
        x = rng.integers(-1000, 1000, (h, w)).astype(I32)
        i = np.concatenate([rng.integers(-1, h + 2, 6), [2 ** 31 - 1, -2 ** 31]]).reshape(8, 1)
        j = np.concatenate([rng.integers(-1, w + 2, 13), [2 ** 32, 2 ** 63 - 1, -2 ** 63]])
        on = rng.choice(np.array([0, 0, 1, 2, 255]), (8, 16))
        for a in (3, -1, 0):
            wide = [picks(x, i, j), picks(x, i, j, on != 0, -1), picks(x, a, np.broadcast_to(j, (8, 16)), True, a),
                    picks(x, i.astype(np.int8), j.astype(np.uint16), i > 0, 5), picks(x, i, j, a != 0, -7)]
            wide[4] = picks(x.T, j, i, a != 0, -7)
            yield Call("gathers", x, Out(np.stack(wide)), i.astype(I32), j.astype(I64), on.astype(np.uint8), I32(a), h, w)


S.add("scatters", """kernel scatters(y: inout tensor<i32, [h, w]>, z: inout tensor<bool, [h, w]>, rows: tensor<i32, [8, 1]>, cols: tensor<i64, [16]>, on: tensor<bool, [8, 16]>) grid [1] {
    let i = assume_unique(rows.load([0, 0], [8, 1])), j = assume_unique(cols.load([0], [16])), m = on.load([0, 0], [8, 16]);
    let v = reshape(iota([128], i32), [8, 16]);
    y.scatter([i, j], v, mask: m);
    y.scatter([i, j], v + 1000, mask: v % 3 == 0);
    z.scatter([i, j], m, mask: true);
    z.slice(0, 1, 3).scatter([iota([2], i32), full([2], 0, i32)], [true, true]);
}
""", lambda rng: scatter_calls(rng))


def scatter_calls(rng):
    for h, w in [(5, 13), (30, 40), (1, 1)]:
        i = rng.permutation(np.arange(-3, h + 10))[:8].astype(np.int64).reshape(8, 1)
        j = np.concatenate([rng.permutation(np.arange(-3, w + 12))[:14], [2 ** 32, -2 ** 63]])
        on = rng.choice(np.array([0, 1, 2, 255]), (8, 16))
        y = rng.integers(-9, 0, (h, w)).astype(I32)
        z = np.zeros((h, w), np.uint8)
        start = y.copy()
        v = np.arange(128).reshape(8, 16)
        for p, q in np.ndindex(8, 16):
            a, b = int(i[p, 0]), int(j[q])
            if 0 <= a < h and 0 <= b < w:
                if on[p, q]:
                    y[a, b] = v[p, q]
                if v[p, q] % 3 == 0:
                    y[a, b] = v[p, q] + 1000
                z[a, b] = on[p, q] != 0
        if w:
            z[1:3, 0] = 1
        yield Call("scatters", Out(y, start), Out(z, np.zeros((h, w), np.uint8)), i.astype(I32), j.astype(I64), on.astype(np.uint8), h, w)


for t in NUMERIC:
    def calls(rng, t=t):
        for n in (1, 7, 100):
            x, i = some(t, n, rng), rng.integers(-3, n + 3, 64).astype(I32)
            pad = np.array(1, DTYPE[t])
            g = np.array([x[k] if 0 <= k < n else pad for k in i], DTYPE[t])
            p = rng.permutation(n)
            p = np.concatenate([p, np.arange(n, 128)]).astype(I32)
            y = np.empty_like(x)
            y[p[:n]] = x
            yield Call(f"gather_{t}", x, Out(g), Out(y), i, p, n)
    S.add(f"gather_{t}", f"""kernel gather_{t}(x: tensor<{t}, [n]>, r: out tensor<{t}, [64]>, y: out tensor<{t}, [n]>, i: tensor<i32, [64]>, p: tensor<i32, [128]>) grid [1] {{
    r.store([0], x.gather([i.load([0], [64])], pad: {'true' if t == 'bool' else '1'}));
    y.scatter([assume_unique(p.load([0], [128]))], x.load([0], [128]));
}}
""", calls)

# ---- raw pointers ----
S.add("dimension_types", """kernel dimension_types(x: tensor<i32, [n: i16]>, y: out tensor<i32, [m: u32, n]>, o: out tensor<i64, [4]>, c: tensor<i8, [k: u8, j: u64]>) grid [1] {
    static_assert(type_of(n) == i16 && type_of(m) == u32 && type_of(k) == u8 && type_of(j) == u64);
    o[0] = n; o[1] = m; o[2] = k; o[3] = i64(j);
    for i in 0 .. n { y[m - 1, i] = x[i] + i32(i) + i32(c[k - 1, j - 1]); }
}
""", lambda rng: [dimension_types(5, 1, 2, 3), dimension_types(0, 2, 1, 1), dimension_types(40000, 1, 1, 1, "n is 40000, outside 0 to 32767"), dimension_types(0, 1 << 32, 1, 1, "m is 4294967296, outside 0 to 4294967295"),
                  dimension_types(4, 1, 256, 1, "k is 256, outside 0 to 255")])


def dimension_types(n, m, k, j, refused=None):
    x, c = np.arange(n, dtype=I32), np.full((k, j), 3, np.int8)
    y = np.zeros((1 if refused else m, n), I32)
    want = y.copy()
    want[-1] = 2 * np.arange(n) + 3
    if refused:
        return Call("dimension_types", x, y, np.zeros(4, I64), c, n, m, k, j, status=1, text=refused)
    return Call("dimension_types", x, Out(want, y), Out(I64([n, m, k, j])), c, n, m, k, j)


S.add("pointers", """kernel pointers(p: ptr<f32>, q: ptr<f32>, r: out tensor<f32, [6, 16]>, d: out tensor<i64, [4]>, c: out tensor<bool, [8]>, n: i32) grid [1] {
    let i = iota([16], i32);
    r[0, :].store([0], unsafe load(p + i, mask: i < n, pad: -1));
    r[1, :].store([0], unsafe load((p + n) - (i + 1), mask: i < n));
    unsafe {
        store(q + 2 * i, load(i + p, mask: i < n, pad: 9.0) * 2, mask: i < n && i % 2 == 0);
        store(q + 1, 4.5);
        r[2, :].store([0], full([16], load(q + 1), f32));
        let one = load(p);
        r[3, 0] = one;
        store(q, one + 1, mask: n > 1);
    }
    let t = p + reshape(i, [4, 4]);
    r[4, :].store([0], reshape(unsafe load(transpose(t), mask: transpose(reshape(i, [4, 4])) < n, pad: 0.5), [16]));
    r[5, :].store([0], element_cast((t - p) == reshape(element_cast(i, i64), [4, 4]), f32).reshape([16]));
    d[0] = (p + 5) - p;
    d[1] = p - (p + n);
    d[2] = i64(sum((p + i) - p));
    d[3] = (q + 3i64) - (q - 2u8);
    let z: ptr<f32> = null, v: ptr<void> = p;
    c[0] = p == null; c[1] = z == null; c[2] = p != q; c[3] = p < p + 1; c[4] = !z; c[5] = p && true; c[6] = v == null; c[7] = all_of((p + i) >= p);
}
kernel maybe(x: ptr<i32>, y: out tensor<i32, [n]>) grid [1] {
    let i = iota([8], i32);
    y.store([0], unsafe load(x + i, mask: x != null && i < n, pad: 42));
    if x { y[0] = 1; }
}
""", lambda rng: pointer_calls(rng))


def pointer_calls(rng):
    for n in (1, 2, 7, 16):
        x = rng.standard_normal(n).astype(np.float32)
        q0 = np.zeros(32, np.float32)
        q = q0.copy()
        for i in range(0, n, 2):
            q[2 * i] = x[i] * 2
        q[1] = 4.5
        if n > 1:
            q[0] = x[0] + 1
        r = np.full((6, 16), 3, np.float32)
        start = r.copy()
        r[0] = tile_at(x, (0,), (16,), -1)
        r[1] = tile_at(x[::-1], (0,), (16,), 0)
        r[2] = 4.5
        r[3, 0] = x[0]
        r[4] = tile_at(x, (0,), (16,), 0.5).reshape(4, 4).T.reshape(16)
        r[5] = 1
        yield Call("pointers", x, Out(q, q0), Out(r, start), Out(np.array([5, -n, 120, 5], I64)), Out(np.array([0, 1, 1, 1, 1, 1, 0, 1], np.uint8)), I32(n))
    for n in (1, 5):
        x = count(n, start=10)
        y = x.copy()
        y[0] = 1
        yield Call("maybe", x, Out(y), n)
        yield Call("maybe", None, Out(np.full(n, 42, I32)), n)


for t in NUMERIC:
    S.add(f"pointer_{t}", f"""kernel pointer_{t}(p: ptr<{t}>, q: ptr<{t}>, n: i32) grid [1] {{
    let i = iota([32], i32);
    unsafe {{ store(q + (n - 1 - i), load(p + i, mask: i < n), mask: i < n); }}
}}
""", lambda rng, t=t: [Call(f"pointer_{t}", x, Out(x[::-1]), I32(n)) for n in (1, 9, 32) for x in [some(t, n, rng)]])

# ---- atomics ----
RMW = {"add": lambda a, b, t: ref.wrap(a + b, t), "sub": lambda a, b, t: ref.wrap(a - b, t), "min": lambda a, b, t: min(a, b), "max": lambda a, b, t: max(a, b),
       "and": lambda a, b, t: a & b, "or": lambda a, b, t: a | b, "xor": lambda a, b, t: a ^ b, "xchg": lambda a, b, t: b}
WORDS = ["", ", order: acquire", ", order: release", ", order: acquire_release", ", scope: block", ", scope: system", ", order: relaxed, scope: device", ", order: acquire_release, scope: system"]


def rmw_case(t, kinds):
    names = [f"y_{k}" for k in kinds]
    text = f"kernel atomic_{t}(x: tensor<{t}, [64]>, i: tensor<i32, [64]>, " + ", ".join(f"{n}: inout tensor<{t}, [n]>, o_{n}: out tensor<{t}, [64]>" for n in names) + ") grid [1] {\n"
    text += "    let v = x.load([0], [64]), k = i.load([0], [64]), on = iota([64], i32) % 5 != 0;\n"
    for q, (kind, n) in enumerate(zip(kinds, names)):
        text += f"    o_{n}.store([0], atomic_{kind}({n}, [k], v, mask: on{WORDS[q % len(WORDS)]}));\n"
    text += "}\n"
    whole = "kernel views_" + t + "(x: tensor<" + t + ", [64]>, " + ", ".join(f"{n}: inout tensor<{t}, [n]>" for n in names) + ") grid [3] {\n    let v = x.load([0], [64]);\n"
    for q, (kind, n) in enumerate(zip(kinds, names)):
        if kind != "xchg":
            whole += f"    {n}.partition([64]).atomic_{kind}([bid(0) - 1], v{WORDS[(q + 3) % len(WORDS)]});\n"
    whole += "}\n"
    many = "kernel crowd_" + t + "(x: tensor<" + t + ", [n]>, " + ", ".join(f"{n}: inout tensor<{t}, [4]>" for n in names) + ") grid [cdiv(n, 32)] {\n    let v = x.load([bid(0)], [32]), on = x.mask([bid(0)], [32]), k = iota([32], i32) % 3;\n"
    for q, (kind, n) in enumerate(zip(kinds, names)):
        if kind != "xchg":
            many += f"    atomic_{kind}({n}, [k], v, mask: on);\n    atomic_{kind}({n}, [0 * k + 3], v, mask: on);\n" if q % 2 == 0 else f"    let old_{kind} = atomic_{kind}({n}, [k], v, mask: on);\n"
    many += "}\n"
    def value(rng, n):
        return ref.randoms(t, n, rng) if t in INTS else rng.integers(-8, 9, n).astype(DTYPE[t])
    def py(v):
        return int(v) if t in INTS else float(v)
    def combine(kind, a, b):
        return RMW[kind](a, b, t) if t in INTS else {"add": a + b, "sub": a - b, "xchg": b}[kind]
    def calls(rng):
        for n in (80, 64, 30):
            x, i = value(rng, 64), rng.permutation(np.arange(-8, 100))[:64].astype(I32)
            args = []
            for kind in kinds:
                y0 = value(rng, n)
                y, old = y0.copy(), np.zeros(64, DTYPE[t])
                for q in range(64):
                    if q % 5 and 0 <= i[q] < n:
                        old[q] = y[i[q]]
                        y[i[q]] = DTYPE[t].type(combine(kind, py(y[i[q]]), py(x[q])))
                args += [Out(y, y0), Out(old)]
            yield Call(f"atomic_{t}", x, i, *args, n)
            args = []
            for kind in kinds:
                y0 = value(rng, n)
                y = y0.copy()
                if kind != "xchg":
                    for q in range(min(n, 128)):
                        y[q] = DTYPE[t].type(combine(kind, py(y[q]), py(x[q % 64])))
                args.append(Out(y, y0))
            yield Call(f"views_{t}", x, *args, n)
        for n in (1, 100, 1000):
            x = value(rng, n) if t not in ("f16", "bf16") else rng.integers(-1, 2, n).astype(DTYPE[t])
            if t in ("f16", "bf16"):
                x[100:] = 0
            args = []
            for q, kind in enumerate(kinds):
                y0 = value(rng, 4)
                y = [py(v) for v in y0]
                if kind != "xchg":
                    for p in range(n):
                        y[p % 32 % 3] = combine(kind, y[p % 32 % 3], py(x[p]))
                        if q % 2 == 0:
                            y[3] = combine(kind, y[3], py(x[p]))
                args.append(Out(np.array([DTYPE[t].type(v) for v in y], DTYPE[t]), y0))
            yield Call(f"crowd_{t}", x, *args, n)
    S.add(f"atomic_{t}", text + whole + many, calls)


for t in ("i32", "u32", "i64", "u64"):
    rmw_case(t, list(RMW))
for t in ("f16", "bf16", "f32", "f64"):
    rmw_case(t, ["add", "sub"] + (["xchg"] if t in ("f32", "f64") else []))

for t in ("i32", "u32", "i64", "u64", "f32", "f64"):
    def calls(rng, t=t):
        for n in (40, 12):
            y0 = rng.integers(0, 3, n).astype(DTYPE[t])
            i = rng.permutation(np.arange(-4, 60))[:32].astype(I32)
            e, d = rng.integers(0, 3, 32).astype(DTYPE[t]), rng.integers(10, 20, 32).astype(DTYPE[t])
            y, old = y0.copy(), e.copy()        # what was expected, where the element lies outside or is masked off
            z, zold = y0.copy(), np.ones(32, DTYPE[t])
            for q in range(32):
                if 0 <= i[q] < n:
                    old[q] = y[i[q]]
                    if y[i[q]] == e[q]:
                        y[i[q]] = d[q]
                    if q % 3:
                        zold[q] = z[i[q]]
                        if z[i[q]] == 1:
                            z[i[q]] = d[q]
            w = y0.copy()
            for q in range(32):
                if q < n and q % 2 and w[q] == e[q]:
                    w[q] = d[q]
            yield Call(f"cas_{t}", Out(y, y0), Out(z, y0), Out(w, y0), Out(old), Out(zold), i, e, d, n)
    S.add(f"cas_{t}", f"""kernel cas_{t}(y: inout tensor<{t}, [n]>, z: inout tensor<{t}, [n]>, w: ptr<{t}>, o: out tensor<{t}, [32]>, p: out tensor<{t}, [32]>, i: tensor<i32, [32]>, e: tensor<{t}, [32]>, d: tensor<{t}, [32]>) grid [1] {{
    let k = i.load([0], [32]), ev = e.load([0], [32]), dv = d.load([0], [32]), q = iota([32], i32);
    o.store([0], atomic_compare_exchange(y, [k], ev, dv, order: acquire_release));
    p.store([0], atomic_compare_exchange(z, [k], full([32], 1, {t}), dv, mask: q % 3 != 0, scope: system));
    let old = unsafe atomic_compare_exchange(w + q, ev, dv, mask: q < n && q % 2 == 1);
}}
""", calls)


def exchanged(t, y0, i, e, d):
    """Accepts what any order of the lanes leaves: every element of `y` and the old values `o` of the lanes that meet there."""
    def chain(start, lanes, old, end):
        """Is there an order of `lanes` from `start` to `end` in which each sees its old value?"""
        if not lanes:
            return start == end
        return any(chain(d[q] if old[q] == e[q] else old[q], [p for p in lanes if p != q], old, end) for q in lanes if old[q] == start)
    def fault(got):
        y, old = got[:len(y0)], got[len(y0):]
        for k in range(len(y0)):
            lanes = [q for q in range(len(i)) if i[q] == k]
            if not chain(y0[k], lanes, old, y[k]):
                return f"element {k}: {y0[k]} -> {y[k]}, old values {[old[q] for q in lanes]}: no order of the lanes gives that"
        return None
    return fault


for t in ("i32", "u64", "f32"):
    def calls(rng, t=t):
        for n in (6, 16):
            y0, i = rng.integers(0, 3, n).astype(DTYPE[t]), rng.permutation(np.arange(32) % n).astype(I32)      # 6 lanes at most meet
            e, d = rng.integers(0, 4, 32).astype(DTYPE[t]), rng.integers(0, 4, 32).astype(DTYPE[t])
            start = np.concatenate([y0, np.zeros(32, DTYPE[t])])
            yield Call(f"cas_met_{t}", Out(start, start, accept=exchanged(t, y0, i, e, d)), i, e, d, n)
    S.add(f"cas_met_{t}", f"""kernel cas_met_{t}(y: inout tensor<{t}, [n + 32]>, i: tensor<i32, [32]>, e: tensor<{t}, [32]>, d: tensor<{t}, [32]>) grid [1] {{
    let old = atomic_compare_exchange(y, [i.load([0], [32])], e.load([0], [32]), d.load([0], [32]));
    y.store_at([n], old);
}}
""", calls)

for t in NUMERIC:
    if t == "tf32":
        continue
    orders = {"i32": "relaxed", "u8": "acquire", "f64": "acquire"}
    S.add(f"atomic_move_{t}", f"""kernel atomic_move_{t}(x: inout tensor<{t}, [n]>, y: inout tensor<{t}, [n]>, r: out tensor<{t}, [64]>, p: ptr<{t}>) grid [1] {{
    let i = iota([64], i32);
    let v = atomic_load(x, [i - 3], pad: {'true' if t == 'bool' else '1'}, order: {orders.get(t, 'relaxed')}, scope: block);
    r.store([0], v);
    atomic_store(y, [i * 2], v, mask: i != 4, order: release);
    unsafe {{
        let u = atomic_load(p + i, mask: i < n && i % 2 == 0, order: acquire, scope: system);
        atomic_store(p + i, u, mask: i < n && i % 2 == 0 && i > 4, scope: block);
    }}
}}
""", lambda rng, t=t: move_calls(t, rng))


def move_calls(t, rng):
    for n in (1, 30, 200):
        x, y0, p = some(t, n, rng), some(t, n, rng), some(t, n, rng)
        v = tile_at(x, (-3,), (64,), 1)
        y = y0.copy()
        for i in range(64):
            if i != 4 and 2 * i < n:
                y[2 * i] = v[i]
        yield Call(f"atomic_move_{t}", Out(x, x), Out(y, y0), Out(v), Out(p, p), n)


S.add("atomic_pointers", """kernel atomic_pointers(p: ptr<i32>, f: ptr<f32>, o: out tensor<i32, [8]>, n: i32) grid [4] {
    let i = iota([16], i32);
    unsafe {
        atomic_add(p + i % 4, full([16], 1, i32), mask: i < n);
        atomic_max(p + 4, bid(0));
        atomic_sub(f, 0.5);
        atomic_min(p + 5, -bid(0));
        atomic_or(p + 6, 1 << bid(0));
        let last = atomic_xchg(p + 7, 3);
        if bid(0) == 0 { o[0] = last; }
    }
}
""", lambda rng: [Call("atomic_pointers", Out(np.array([4 * len([k for k in range(n) if k % 4 == c]) for c in range(4)] + [3, -3, 15, 3], I32), np.array([0, 0, 0, 0, 0, 0, 0, 3], I32)),
                       Out(np.array([8.0], np.float32), np.array([10.0], np.float32)), Out(np.array([3] + [0] * 7, I32), np.zeros(8, I32)), I32(n)) for n in (16, 5, 0)])

# ---- bool memory, long dimensions, the order of accesses ----
S.add("bools", """kernel bools(x: tensor<bool, [n]>, y: inout tensor<bool, [n]>, r: out tensor<i32, [n]>, k: i32) grid [cdiv(n, 16)] {
    let b = bid(0);
    let v = x.load([b], [16]), w = y.load([b], [16], pad: true);
    r.store([b], select(v, 10, 20) + element_cast(w, i32) + zeros([16], i32));
    y.store([b], v != w);
    if b == 0 { r[0] = i32(x[k]) + 2 * i32(x.gather([k])) + 4 * i32(x[k] == x[k + 1]); }
}
""", lambda rng: [Call("bools", x, Out(((x != 0) != (y != 0)).astype(np.uint8), y), Out(r), I32(1), n) for n in (3, 16, 50)
                  for x, y in [(rng.choice(np.array([0, 1, 2, 128, 255], np.uint8), n), rng.choice(np.array([0, 1, 7, 255], np.uint8), n))]
                  for r in [np.concatenate([[3 * (x[1] != 0) + 4 * ((x[1] != 0) == (x[2] != 0))], (np.where(x != 0, 10, 20) + (y != 0))[1:]]).astype(I32)]])

S.add("long_dims", """kernel long_dims(x: tensor<i32, [n: i64, 4]>, y: out tensor<i32, [n, 4]>, k: i64) grid [cdiv(n, 8)] {
    let b = bid(0);
    static_assert(type_of(b) == i64 && type_of(n) == i64 && type_of(x.extent(0)) == i64);
    y.store([b, 0], x.load([b + k, 0], [8, 4], pad: i32(num_blocks(0))));
}
""", lambda rng: [Call("long_dims", x, Out(np.concatenate([tile_at(x, (8 * (b + k), 0), (8, 4), cdiv(n, 8)) for b in range(cdiv(n, 8))] + [np.zeros((0, 4), I32)])[:n]), I64(k), n)
                  for n in (0, 1, 30) for k in (0, 1, -1, 2 ** 33, -2 ** 62) for x in [count(n, 4, start=1)]])

S.add("in_order", """kernel in_order(y: inout tensor<i32, [16, 16]>, z: inout tensor<i32, [64]>, r: out tensor<i32, [64]>) grid [1] {
    y.store([0, 0], transpose(y.load([0, 0], [16, 16])));
    y.store([0, 0], flip(y.load([0, 0], [16, 16]), 0) + y.load([0, 0], [16, 16]));
    let before = z.load([0], [64]);
    z.store([0], before + 1);
    let after = z.load([0], [64]);
    z.store([0], zeros([64], i32));
    r.store([0], after * 2 - before);
    z.scatter([63 - iota([64], i32)], before);
    let mid = z.gather([iota([64], i32) ^ 1]);
    z[0] = 7;
    z[1] = z[0] + z[2];
    z.store([1], extract(z.load([0], [32]), [16], [0]));
    z.store([1], mid.extract([16], [bid(0) + 3]));
    z[40] = i32(sum(mid)) + z[40];
}
""", lambda rng: order_calls(rng))


def order_calls(rng):
    y0, z0 = rng.integers(-99, 99, (16, 16)).astype(I32), rng.integers(-99, 99, 64).astype(I32)
    y = y0.T.copy()
    y = y[::-1] + y
    r = (z0 + 1) * 2 - z0
    z = z0[::-1].copy()
    mid = z[np.arange(64) ^ 1].copy()
    z[0] = 7
    z[1] = z[0] + z[2]
    z[16:32] = z[0:16]
    z[16:32] = mid[48:64]
    z[40] += mid.sum()
    yield Call("in_order", Out(y, y0), Out(z, z0), Out(r), )


S.add("aliases", """kernel aliases(x: inout tensor<i32, [n]>, k: i32) grid [1] {
    let a = x.slice(0, 0, k), b = x.slice(0, 2, n);
    var v = a.load([0], [16]);
    for i in 0 .. 3 {
        b.store([0], v + i);
        v = a.load([0], [16]);
    }
    a[0] = i32(sum(v));
    let w = b.load([0], [8]);
    a.store([1], w);
    x.store_at([k], w + extract(x.load([0], [16]), [8], [0]));
}
""", lambda rng: alias_calls(rng))


def alias_calls(rng):
    for n, k in [(20, 20), (30, 10), (18, 3), (5, 5)]:
        x0 = rng.integers(-99, 99, n).astype(I32)
        x = x0.copy()
        a, b = sliced(x, 0, 0, k), sliced(x, 0, 2, n)
        v = tile_at(a, (0,), (16,))
        for i in range(3):
            write(b, (0,), v + i)
            v = tile_at(a, (0,), (16,))
        a[0] = v.sum()
        w = tile_at(b, (0,), (8,))
        write(a, (8,), w)
        write(x, (k,), w + tile_at(x, (0,), (16,))[:8])
        yield Call("aliases", Out(x, x0), I32(k), n)


# ---- where clauses and static shapes: accesses that are proved inside ----
S.add("proved", """kernel proved(x: tensor<f32, [n, 64]>, y: out tensor<f32, [n, 64]>) grid [n / 32] where n % 32 == 0 {
    for j in 0 .. 4 { y.store([bid(0), j], x.load([bid(0), j], [32, 16]) + j); }
}
kernel stencil(x: tensor<f32, [n]>, y: out tensor<f32, [n]>) grid [cdiv(n, 128)] {
    let i = bid(0) * 128;
    y.store([bid(0)], x.load_at([i - 1], [128]) + 2 * x.load_at([i], [128]) + x.load_at([i + 1], [128]));
}
kernel reversed(x: tensor<f32, [n]>, y: out tensor<f32, [n]>) grid [cdiv(n, 64)] {
    y.store_at([n - (bid(0) + 1) * 64], flip(x.load([bid(0)], [64]), 0));
}
""", lambda rng: proved_calls(rng))


def proved_calls(rng):
    for n in (0, 32, 96):
        x = rng.standard_normal((n, 64)).astype(np.float32)
        yield Call("proved", x, Out(x + np.repeat(np.arange(4), 16).astype(np.float32)), n)
    yield Call("proved", np.zeros((7, 64), np.float32), Out(np.zeros((7, 64), np.float32)), 7, status=3, text="n % 32 == 0")
    for n in LENGTHS:
        x = rng.integers(-99, 99, n).astype(np.float32)
        p = np.concatenate([[0], x, [0]]).astype(np.float32)
        yield Call("stencil", x, Out(p[:-2] + 2 * p[1:-1] + p[2:]), n)
        yield Call("reversed", x, Out(x[::-1]), n)


# ---- a mask that only the store makes needless: the sum takes columns that the store drops ----
S.add("beyond", """kernel beyond(x: tensor<f32, [m, n]>, w: tensor<f32, [m, p]>, y: out tensor<f32, [m, n]>, z: out tensor<f32, [m]>) grid [m] where n <= p, p <= 64 {
    let i = bid(0), v = x.load([i, 0], [1, 64], pad: 7);
    let s = select(iota([1, 64], i32) < p, select(iota([1, 64], i32) < n, v, 0) * 2, 0);
    y.store([i, 0], s);
    z.store([i], reshape(sum(s + 0 * w.load([i, 0], [1, 64]), 1), [1]));
}
""", lambda rng: [Call("beyond", x, np.zeros((3, p), np.float32), Out(2 * x), Out(2 * x.sum(1)), 3, n, p)
                  for n, p in ((5, 9), (20, 64), (64, 64)) for x in [rng.integers(-9, 9, (3, n)).astype(np.float32)]])


# ---- promises change no value ----
S.add("promised", """kernel promised(p: ptr<f32>, y: out tensor<f32, [64]>, z: out tensor<i32, [64]>) grid [1] {
    let i = iota([64], i32);
    let q = assume_aligned_strided(assume_aligned(p, 16) + i, 16, 4, 0);
    y.store([0], unsafe load(q));
    z.store([0], assume_divisible_strided(i, 4, 4, 0) * 3 + assume_blocked(i / 8, [8]));
}
""", lambda rng: [Call("promised", ref.randoms("f32", 64, np.random.default_rng(5)), Out(ref.randoms("f32", 64, np.random.default_rng(5))),
                       Out((np.arange(64) * 3 + np.arange(64) // 8).astype(np.int32)), aligned=True)])

if __name__ == "__main__":
    S.main(__doc__)
