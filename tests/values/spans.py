#!/usr/bin/env python3
"""Tensors made of raw pointers, `tensor_span`: extents and strides static and at run time, every layout, every element type, views of
them, gathers, scatters, atomics, functions, spans that overlap each other.

Usage: spans.py test --ctilec PATH [--target c|emulated|cuda]
"""
import itertools
import numpy as np
from runner import DTYPE
from suite import Call, Out, Suite

S = Suite("spans")
ELEMS = ["bool", "i8", "u16", "i32", "u64", "f16", "bf16", "f32", "f64", "tf32", "f8e4m3", "f8e5m2"]


def up(n, a):
    return -(-n // a) * a


def strides_of(layout, ext, arg):
    """In elements; arg: the alignment, or the strides."""
    if layout == "strided":
        return list(arg)
    order = list(range(len(ext)))
    if layout.startswith("right"):
        order.reverse()
    strides, s = [0] * len(ext), 1
    for k, i in enumerate(order):
        strides[i] = s
        s *= up(ext[i], arg) if k == 0 and "padded" in layout else ext[i]
    return strides


def places(ext, strides, at=0):
    """The element number of each index of the tensor."""
    n = np.full(ext, at, np.int64)
    for axis, s in enumerate(strides):
        n += np.arange(ext[axis]).reshape([-1 if a == axis else 1 for a in range(len(ext))]) * s
    return n


def numbers(t, n):
    return (np.arange(n) % (2 if t == "bool" else 13)).astype(DTYPE[t])


# ---- each layout, with run-time and with static extents: reads all of x[], writes y[] where z[] is ----
SHAPES = [(5,), (3, 7), (2, 3, 5)]
LAYOUTS = [("right", None), ("left", None), ("right_padded", 4), ("left_padded", 6), ("strided", (40, 9, 2))]
TILES = {1: [8], 2: [4, 8], 3: [2, 4, 8]}


def spelled(layout, arg, names):
    if layout == "strided":
        return "layout_strided([" + ", ".join(names) + "])"
    return f"layout_{layout}" + (f"({names[0]})" if arg else "")


for (layout, arg), ext, static in itertools.product(LAYOUTS, SHAPES, (False, True)):
    rank = len(ext)
    given = list(arg[-rank:]) if layout == "strided" else [arg] if arg else []
    name = f"{layout}_{rank}_{'static' if static else 'dynamic'}"
    words = [str(v) for v in given] if static else [f"s{i}" for i in range(len(given))]
    extents = [str(v) for v in ext] if static else [f"n{i}" for i in range(rank)]
    params = ["p: ptr<i32>", "q: ptr<i32>", "y: out tensor<i32, [" + ", ".join(str(v) for v in TILES[rank]) + "]>", "o: out tensor<i64, [16]>"]
    if not static:
        params += [f"n{i}: {'i64' if i == 0 else 'i32'}" for i in range(rank)] + [f"s{i}: i{64 if i else 32}" for i in range(len(given))]
    zero = "[" + ", ".join("0" for _ in ext) + "]"
    shape = "[" + ", ".join(str(v) for v in TILES[rank]) + "]"
    sums = "\n".join(f"    o[{a}] = x.stride({a}); o[{8 + a}] = i64(x.extent({a}));" for a in range(rank))
    S.add(name, f"""kernel {name}({', '.join(params)}) grid [1] {{
    let x = unsafe tensor_span(p, [{', '.join(extents)}], {spelled(layout, arg, words)});
    let z = unsafe tensor_span(q, [{', '.join(extents)}]{', ' + spelled(layout, arg, words) if layout != 'right' else ''});
    o.store([0], full([16], -1, i64));
    let v = x.load({zero}, {shape}, pad: -7);
    y.store({zero}, v);
    z.store({zero}, v + 100);
    o[15] = x.span_size();
{sums}
}}
""", lambda rng, ext=ext, layout=layout, given=given, static=static, rank=rank, arg=arg: [make(rng, ext, layout, given, static, rank, arg)])


def make(rng, ext, layout, given, static, rank, arg):
    strides = strides_of(layout, ext, given if layout == "strided" else arg)
    at = places(ext, strides)
    room = int(at.max()) + 1
    x = rng.integers(0, 1000, room).astype(np.int32)
    want = np.full(TILES[rank], -7, np.int32)
    want[tuple(slice(0, n) for n in ext)] = x[at]
    before = np.full(room, 5, np.int32)
    after = before.copy()
    after[at.reshape(-1)] = x[at].reshape(-1) + 100
    o = np.full(16, -1, np.int64)
    o[:rank], o[8:8 + rank], o[15] = strides, ext, room
    numbers = [] if static else [np.int64(ext[0])] + [np.int32(v) for v in ext[1:]] + [np.int64(v) if i else np.int32(v) for i, v in enumerate(given)]
    return Call(f"{layout}_{rank}_{'static' if static else 'dynamic'}", x, Out(after, before), Out(want), Out(o), *numbers)


# ---- every element type, many tile blocks, an edge ----
for t in ELEMS:
    S.add(f"elem_{t}", f"""kernel elem_{t}(p: ptr<{t}>, q: ptr<{t}>, rows: i32, cols: i32, pitch: i64) grid [cdiv(rows, 8), cdiv(cols, 16)] {{
    let x = unsafe tensor_span(p, [rows, cols], layout_strided([pitch, 1])), y = unsafe tensor_span(q, [cols, rows]);
    y.store([bid(1), bid(0)], transpose(x.load([bid(0), bid(1)], [8, 16])));
}}
""", lambda rng, t=t: [transposed(t, r, c, p) for r, c, p in [(8, 16, 16), (19, 37, 40), (64, 64, 64)]])


def transposed(t, r, c, pitch):
    x = numbers(t, (r - 1) * pitch + c)
    return Call(f"elem_{t}", x, Out(np.ascontiguousarray(x[places((r, c), (pitch, 1))].T).reshape(-1)), np.int32(r), np.int32(c), np.int64(pitch))


# ---- views of a span, gathers, scatters, elements, functions ----
S.add("views", """fn corner(t: inout tensor<i32, [a, b]>, v: i32) -> i32 {
    t[a - 1, b - 1] = v;
    return t[0, 0];
}
fn mine(p: ptr<i32>, n: i32) -> tensor<i32, [n, n]> { return unsafe tensor_span(p, [n, n], layout_strided([n + 1, 1])); }
kernel views(p: ptr<i32>, n: i32, a: out tensor<i32, [2, 2]>, b: out tensor<i32, [4, 2]>, c: out tensor<i32, [4]>, d: out tensor<i32, [4]>,
    e: out tensor<i32, [2, 2]>, m: out tensor<bool, [8, 8]>) grid [1] {
    let t = unsafe tensor_span(p, [n, n]);
    a.store([0, 0], t.partition([2, 2]).load([1, 2]));
    b.store([0, 0], t.permute([1, 0]).load_at([1, 0], [4, 2]));
    c.store([0], t[2, :].slice(0, 1, n).load([0], [4]));
    let i = iota([4], i32);
    d.store([0], t.gather([i, n - 1 - i], mask: i != 2, pad: -3));
    e.store([0, 0], t.strided([2, 2], [3, 1], [1, 0]).load([0, 3]));
    m.store([0, 0], t.mask([0, 0], [8, 8]));
    t.scatter([i, i * 0 + 3], -i, mask: i > 0);
    t[n, 0] = 999;                          // outside: dropped
    t[0, 0] = corner(t, 77) + (layout_of(t) == layout_of(t.permute([0, 1])) ? 1000 : 0);
}
""", lambda rng: [views(rng, n) for n in (5, 6)])


def views(rng, n):
    x = rng.integers(0, 100, (n, n)).astype(np.int32)
    whole = np.zeros((8, 8), np.int32)
    whole[:n, :n] = x
    i = np.arange(4)
    after = x.copy()
    after[i[1:], 3] = -i[1:]
    after[n - 1, n - 1] = 77
    after[0, 0] = after[0, 0] + 1000
    mask = np.zeros((8, 8), np.uint8)
    mask[:n, :n] = 1
    return Call("views", Out(after.reshape(-1), x.reshape(-1)), np.int32(n), Out(whole[2:4, 4:6]), Out(whole.T[1:5, 0:2]), Out(whole[2, 1:5]),
                Out(np.where(i != 2, x[i, n - 1 - i], -3).astype(np.int32)), Out(whole[1:3, 3:5]), Out(mask))


S.add("ranks", """kernel ranks(p: ptr<f32>, q: ptr<f32>, r: ptr<i32>, n: i32, y: out tensor<f32, [4]>) grid [1] {
    let zero = unsafe tensor_span(p, []), five = unsafe tensor_span(q, [2, 1, n, 1, 2]), none = unsafe tensor_span(r, [n - 100, 4]);
    zero.store([], zero.load([], []) + 1.0);
    y[0] = zero[];
    y[1] = five[1, 0, n - 1, 0, 1];
    y[2] = f32(none.extent(0)) + f32(none.load([0, 0], [1, 4], pad: 5).sum());
    none.store([0, 0], full([4, 4], 8, i32));       // an extent below zero counts as zero
    y[3] = f32(unsafe tensor_span(r + 2, [2], layout_left)[1]);
}
""".replace("zero[]", "f32(zero.load([], []))"), lambda rng: [Call("ranks", Out(np.float32([3]), np.float32([2])), np.arange(12, dtype=np.float32), np.int32([4, 5, 6, 7]), np.int32(3),
                           Out(np.float32([3, 11, 20, 7])))])

# ---- atomics, loops, spans in one place ----
S.add("atomics", """kernel atomics<N: int = 64>(x: tensor<i32, [n]>, p: ptr<i32>, old: out tensor<i32, [n]>) grid [cdiv(n, N)] {
    let c = unsafe tensor_span(p, [10]), v = x.load([bid(0)], [N]), m = x.mask([bid(0)], [N]);
    atomic_add(c, [v], full([N], 1, i32), mask: m);
    c.partition([8]).atomic_max([0], full([8], 3, i32));
    old.store([bid(0)], atomic_load(c, [v * 0 + 9]));
}
""", lambda rng: [atomics(rng, n) for n in (1, 64, 300)])


def atomics(rng, n):
    x = rng.integers(0, 8, n).astype(np.int32)
    c = np.bincount(x, minlength=10).astype(np.int32)
    start = np.full(10, 3, np.int32)
    c += start
    return Call("atomics", x, Out(c, start), Out(np.full(n, 3, np.int32)), n)


S.add("aliases", """kernel aliases(p: ptr<i32>, y: out tensor<i32, [64]>, z: out tensor<i32, [8, 8]>, n: i32) grid [1] {
    let a = unsafe tensor_span(p, [n]), b = unsafe tensor_span(p + 1, [n - 1]), c = unsafe tensor_span(p, [8, 8], layout_strided([1, 1]));
    a.store([0], iota([64], i32));
    b.store([0], b.load([0], [64]) + a.load([0], [64], pad: 0) * 1000);
    y.store([0], a.load([0], [64]));                // what was stored through b
    c.store([0, 0], z_of());
    z.store([0, 0], c.load([0, 0], [8, 8]));        // elements that lie in one place are equal
    for i in 0 .. 4 { a.store([i], reverse(b.load([i], [8]))); }
}
fn z_of() -> tile<i32, [8, 8]> { let i = iota([8, 1], i32), j = iota([1, 8], i32); return i + j; }
fn reverse(x: tile<i32, [8]>) -> tile<i32, [8]> { return flip(x, 0); }
""", lambda rng: [aliases()])


def aliases():
    a = np.arange(64)
    b = a[1:] + a[:-1] * 1000
    a = np.concatenate([a[:1], b])
    y = a.copy()
    a[:15] = np.arange(15)
    z = np.add.outer(np.arange(8), np.arange(8))
    for i in range(4):
        a[8 * i:8 * i + 8] = a[1 + 8 * i:9 + 8 * i][::-1].copy()
    return Call("aliases", Out(a.astype(np.int32), np.zeros(64, np.int32)), Out(y.astype(np.int32)), Out(z.astype(np.int32)), np.int32(64))


def one_of(v):
    """Each place has one of the values stored there, and all of its elements are equal."""
    for k in range(63):
        at = [v[i, k - i] for i in range(max(0, k - 31), min(k, 31) + 1)]
        if len(set(at)) != 1 or not any(at[0] == i * 32 + k - i for i in range(max(0, k - 31), min(k, 31) + 1)):
            return f"place {k} reads {sorted(set(at))}"
    return None


S.add("one_place", """kernel one_place(p: ptr<i32>, z: out tensor<i32, [32, 32]>, n: i32) grid [1] {
    let c = unsafe tensor_span(p, [n, n], layout_strided([1, 1]));
    c.store([0, 0], iota([32, 32], i32));
    z.store([0, 0], c.load([0, 0], [32, 32]));
}
""", lambda rng: [Call("one_place", Out(np.zeros(63, np.int32), accept=lambda v: None), Out(np.zeros((32, 32), np.int32), accept=one_of), np.int32(32))])

S.add("behind", """kernel behind<N: int = 1024>(p: ptr<f32>, y: out tensor<f32, [n]>) grid [1] {
    let a = unsafe tensor_span(p, [n]), b = unsafe tensor_span(p + N, [n - N]);
    var s: tile<f32, [1]> = 0;
    for j in 0 .. cdiv(n, N) { s += sum(a.load([j], [N]), 0); }
    for j in 0 .. cdiv(n, N) {
        let v = a.load([j], [N]);       // what the last round stored through b
        b.store([j], v + 1.0);
        y.store([j], v + s);
    }
}
""", lambda rng: [behind(rng)])


def behind(rng):
    x = rng.integers(0, 50, 8192).astype(np.float32)
    after = np.concatenate([x[:1024] + j for j in range(8)]).astype(np.float32)
    return Call("behind", Out(after, x), Out(after + x.sum()), 8192)


# rows, as kernels of parameters have them: reductions, wide tiles, loops over a row; p and q may be one array
S.add("rows", """kernel rows<BN: int = 256>(p: ptr<f32>, q: ptr<f32>, m: i32, n: i32) grid [m] {
    let x = unsafe tensor_span(p, [m, n]), y = unsafe tensor_span(q, [m, n]);
    let v = x.load([bid(0), 0], [1, BN], pad: -inf);
    y.store([bid(0), 0], v - reduce_max(v, 1));
}
kernel long_rows<BN: int = 64>(p: ptr<f32>, m: i32, n: i32) grid [m] {
    let x = unsafe tensor_span(p, [m, n]);
    var s: tile<f32, [1, 1]> = 0;
    for j in 0 .. cdiv(n, BN) { s += sum(x.load([bid(0), j], [1, BN]), 1); }
    for j in 0 .. cdiv(n, BN) { x.store([bid(0), j], x.load([bid(0), j], [1, BN]) - s); }
}
""", lambda rng: [c for m, n in [(3, 256), (7, 200), (2, 1)] for c in rows(rng, m, n)])


def rows(rng, m, n):
    x = rng.integers(-50, 50, (m, n)).astype(np.float32)
    return [Call("rows", x.reshape(-1), Out((x - x.max(1, keepdims=True)).reshape(-1)), np.int32(m), np.int32(n)),
            Call("long_rows", Out((x - x.sum(1, keepdims=True)).reshape(-1), x.reshape(-1)), np.int32(m), np.int32(n))]


# ---- the alignment of a parameter's layout at run time ----
S.add("padded_by", """kernel padded_by(x: tensor<i32, [m, n], layout_right_padded<a>>, y: out tensor<i32, [n, m], layout_left_padded<b>>) grid [cdiv(m, 4), cdiv(n, 8)] {
    y.store([bid(1), bid(0)], transpose(x.load([bid(0), bid(1)], [4, 8])));
}
kernel padded_to(x: tensor<i32, [m, n], layout_right_padded<a>>, y: out tensor<i32, [n, m], layout_left_padded<a>>) grid [1] { y[n - 1, m - 1] = x[0, 0]; }
instance by_alignment = padded_by;
entry both_padded(x: tensor<i32, [m, n], layout_right_padded<a>>, y: out tensor<i32, [n, m], layout_left_padded<a>>) {
    padded_by(x, y, a: a, b: a);
    padded_to(x, y, a: a);
}
""", lambda rng: [padded_by(rng, m, n, a, b) for m, n, a, b in [(3, 7, 8, 1), (8, 16, 5, 3), (9, 9, 9, 10)]] + [
    Call("by_alignment", np.zeros(4, np.int32), Out(np.zeros(4, np.int32)), 2, 2, 0, 1, status=3, text="a >= 1"),
    Call("by_alignment", np.zeros(4, np.int32), Out(np.zeros(4, np.int32)), 2, 2, 1, -3, status=7, text="b is -3"), both_padded(rng)])


def padded_by(rng, m, n, a, b):
    at, to = places((m, n), strides_of("right_padded", (m, n), a)), places((n, m), strides_of("left_padded", (n, m), b))
    x = rng.integers(0, 99, up(n, a) * (m - 1) + n).astype(np.int32)
    y = np.full(up(n, b) * (m - 1) + n, -1, np.int32)
    want = y.copy()
    want[to] = x[at].T
    return Call("by_alignment", x, Out(want, y), m, n, a, b)


def both_padded(rng):
    call = padded_by(rng, 3, 5, 4, 4)
    x, y = call.args[:2]
    y.want[-1] = x[0]
    return Call("both_padded", x, y, 3, 5, 4)


if __name__ == "__main__":
    S.main(__doc__)
