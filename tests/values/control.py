#!/usr/bin/env python3
"""Control flow, functions, generics, launches, entries, statuses, printing, and what --checked traps.

Random programs of scalars and tiles, with loops, branches, break and continue, are run here and by Python alike.

Usage: control.py build FOLDER --ctilec PATH [--target c|cuda]
       control.py run FOLDER [--target c|cuda]
       control.py test --ctilec PATH        builds and runs the C target in a temporary folder
"""
import concurrent.futures, ctypes, os, re, subprocess, sys, tempfile
import numpy as np
import reference as ref
import runner
from runner import DTYPE
from suite import At, Call, Out, Suite, Workspace, scalar

S = Suite("control")
S.groups["checked"] = ["--checked"]
I32, I64 = np.int32, np.int64


def w32(v):
    return ref.wrap(int(v), "i32")


# ---- random programs: one text for ctilec, one for Python ----
class Program:
    """Statements over i32 variables a b c d and a tile t of 8; k is read only. Every loop ends."""
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.tile, self.py, self.deep, self.loops, self.names, self.open = [], [], 0, 0, 0, []
        self.budget = 40
        for _ in range(int(self.rng.integers(3, 8))):
            self.statement()

    def pick(self, *of):
        return of[int(self.rng.integers(0, len(of)))]

    def put(self, tile, py=None):
        self.tile.append("    " * (self.deep + 1) + tile)
        if py is not None:
            self.py.append("    " * (self.deep + 1) + py)

    def expr(self, depth=2):
        """(tile text, Python text) of an i32"""
        if depth == 0 or self.rng.random() < 0.2:
            n = int(self.rng.choice([0, 1, 2, 3, 7, -1, -5, 100, 2 ** 31 - 1, -2 ** 31]))
            return self.pick(("a", "a"), ("b", "b"), ("c", "c"), ("d", "d"), ("k", "k"), (f"i32({n})", str(n)), *[(f"i{j}", f"i{j}") for j in self.open])
        x, y = self.expr(depth - 1), self.expr(depth - 1)
        kind = int(self.rng.integers(0, 16))
        two = {0: ("{} + {}", "w32({} + {})"), 1: ("{} - {}", "w32({} - {})"), 2: ("{} * {}", "w32({} * {})"), 3: ("{} / {}", "w32(ref.tdiv({}, {}))"), 4: ("{} % {}", "w32(ref.trem({}, {}))"),
               5: ("{} & {}", "({} & {})"), 6: ("{} | {}", "({} | {})"), 7: ("{} ^ {}", "({} ^ {})"), 8: ("{} << {}", "w32({} << ({} & 31))"), 9: ("{} >> {}", "({} >> ({} & 31))"),
               10: ("min({}, {})", "min({}, {})"), 11: ("max({}, {})", "max({}, {})")}
        if kind in two:
            return "(" + two[kind][0].format(x[0], y[0]) + ")", two[kind][1].format(x[1], y[1])
        if kind == 12:
            c = self.condition(depth - 1)
            return f"({c[0]} ? {x[0]} : {y[0]})", f"({x[1]} if {c[1]} else {y[1]})"
        if kind == 13:
            return f"mix({x[0]}, {y[0]})", f"mix({x[1]}, {y[1]})"
        if kind == 14:
            return "i32(sum(t))", "w32(sum(t))"
        return f"i32(extract(t, [1], [{x[0]} & 7]))", f"t[{x[1]} & 7]"

    def condition(self, depth=1):
        x, y = self.expr(depth), self.expr(depth)
        op = self.pick("==", "!=", "<", "<=", ">", ">=")
        c = f"{x[0]} {op} {y[0]}", f"{x[1]} {op} {y[1]}"
        if depth and self.rng.random() < 0.3:
            d = self.condition(depth - 1)
            o = self.pick(("&&", "and"), ("||", "or"))
            return f"({c[0]} {o[0]} {d[0]})", f"({c[1]} {o[1]} {d[1]})"
        if self.rng.random() < 0.1:
            return f"!({c[0]})", f"(not ({c[1]}))"
        if self.rng.random() < 0.1:
            return f"any_of(t == {x[0]}, 0)", f"any(v == {x[1]} for v in t)"
        return f"({c[0]})", f"({c[1]})"

    def block(self):
        self.deep += 1
        for _ in range(int(self.rng.integers(1, 4))):
            self.statement()
        if not self.py or len(self.py[-1]) - len(self.py[-1].lstrip()) != 4 * (self.deep + 1):
            self.py.append("    " * (self.deep + 1) + "pass")
        self.deep -= 1

    def statement(self):
        self.budget -= 1
        kind = int(self.rng.integers(0, 14))
        if self.budget < 0 or (self.deep >= 4 and kind in (6, 7, 8, 9, 10)):
            kind = 0
        v = self.pick("a", "b", "c", "d")
        if kind in (0, 1):
            e = self.expr()
            self.put(f"{v} = {e[0]};", f"{v} = {e[1]}")
        elif kind == 2:
            e, o = self.expr(1), self.pick("+", "-", "*", "^")
            self.put(f"{v} {o}= {e[0]};", f"{v} = w32({v} {o} {e[1]})")
        elif kind == 3:
            e = self.expr(1)
            self.put(f"t = select(t > {v}, t - {e[0]}, rotate(t, 0, 1) + {v});",
                     f"t = [w32(x - {e[1]}) if x > {v} else w32(y + {v}) for x, y in zip(t, t[-1:] + t[:-1])]")
        elif kind == 4:
            self.put("t = t * 3 + iota([8], i32);", "t = [w32(x * 3 + i) for i, x in enumerate(t)]")
        elif kind == 5:
            e, f = self.expr(1), self.expr(1)
            self.put(f"({v}, k2) = both({e[0]}, {f[0]});", f"{v}, k2 = both({e[1]}, {f[1]})")
        elif kind in (6, 7):
            c = self.condition()
            self.put(f"if {c[0]} {{", f"if {c[1]}:")
            self.block()
            if self.rng.random() < 0.6:
                self.put("} else {", "else:")
                self.block()
            self.put("}")
        elif kind in (8, 9):
            i = self.names
            self.names += 1
            lo, hi, step = int(self.rng.integers(-3, 3)), self.expr(1), int(self.rng.choice([1, 1, 2, 3]))
            self.put(f"for i{i} in {lo} .. {hi[0]} % 6{'' if step == 1 else f' step {step}'} {{", f"for i{i} in range({lo}, ref.trem({hi[1]}, 6), {step}):")
            self.loops += 1
            self.open.append(i)
            self.block()
            self.open.pop()
            self.loops -= 1
            self.put("}")
        elif kind == 10:
            c = self.condition(0)
            i, n = self.names, int(self.rng.integers(1, 5))
            self.names += 1
            self.put(f"var w{i} = {n};", f"w{i} = {n}")
            self.put(f"while w{i} > 0 && {c[0]} {{", f"while w{i} > 0 and {c[1]}:")
            self.deep += 1
            self.put(f"w{i} -= 1;", f"w{i} -= 1")
            self.deep -= 1
            self.loops += 1
            self.block()
            self.loops -= 1
            self.put("}")
        elif kind == 11 and self.loops:
            c, word = self.condition(1), self.pick("break", "continue")
            self.put(f"if {c[0]} {{ {word}; }}", f"if {c[1]}: {word}")
        elif kind == 12 and self.loops and self.rng.random() < 0.3:
            c, e, word = self.condition(1), self.expr(1), self.pick("break", "continue")
            self.put(f"if {c[0]} {{ {v} = {e[0]}; t = t + 1; {word}; }} else {{ {v} += 1; }}",
                     f"if {c[1]}: {v} = {e[1]}; t = [w32(x + 1) for x in t]; {word}\n" + "    " * (self.deep + 1) + f"else: {v} = w32({v} + 1)")
        else:
            e = self.expr(1)
            self.put(f"{v} = {v} ^ ({e[0]});", f"{v} = {v} ^ ({e[1]})")


def mix(x, y):
    if x > y:
        return w32(x - y)
    if x == y:
        return 7
    return w32(x + 2 * y)


def both(x, y):
    return (y, x) if x < y else (x, w32(y + 1))


S.add("mix and both", """fn mix(x: i32, y: i32) -> i32 {
    if x > y { return x - y; }
    if x == y { return 7; }
    return x + 2 * y;
}
fn both(x: i32, y: i32) -> (i32, i32) {
    if x < y { return (y, x); } else { return (x, y + 1); }
}
""")


def program(seed):
    p = Program(seed)
    tile = f"kernel program_{seed}(x: tensor<i32, [8]>, r: out tensor<i32, [8]>, s: out tensor<i32, [4]>, k: i32) grid [1] {{\n" \
        "    var t = x.load([0], [8]);\n    var a = k, b = i32(sum(t)), c = i32(1), d = i32(-7), k2 = i32(0);\n" + "\n".join(p.tile) + \
        "\n    c = c ^ k2;\n    r.store([0], t);\n    s[0] = a; s[1] = b; s[2] = c; s[3] = d;\n}\n"
    body = "def run(t, k):\n    a, b, c, d, k2 = k, w32(sum(t)), 1, -7, 0\n" + "\n".join(p.py) + "\n    c = c ^ k2\n    return t, [a, b, c, d]\n"
    space = {"w32": w32, "mix": mix, "both": both, "ref": ref}
    exec(body, space)
    def calls(rng):
        for k in (0, 3, -1, 5, 2 ** 31 - 1):
            x = rng.integers(-9, 10, 8).astype(I32)
            t, s = space["run"]([int(v) for v in x], k)
            yield Call(f"program_{seed}", x, Out(np.array(t, I32)), Out(np.array(s, I32)), I32(k))
    S.add(f"program_{seed}", tile, calls)


for seed in range(80):
    program(seed)

# ---- counters of every type, and their edges ----
LOOPS = [("i32", "-3", "4", "2"), ("i32", "2147483640", "2147483647", "5"), ("i32", "-2147483648", "-2147483640", "3"), ("i32", "5", "5", "1"), ("i32", "6", "-6", "1"),
         ("u8", "u8(250)", "u8(255)", "u8(3)"), ("u8", "u8(0)", "u8(255)", "u8(200)"), ("i8", "i8(-128)", "i8(127)", "i8(100)"), ("u32", "4294967290u32", "4294967295u32", "4u32"),
         ("i64", "i64(9223372036854775800)", "i64(9223372036854775807)", "i64(3)"), ("u64", "u64(18446744073709551610)", "u64(18446744073709551615)", "u64(2)"), ("i16", "i16(-5)", "i16(5)", "i16(3)"),
         ("i64", "-4294967297", "-4294967290", "3"), ("u16", "u16(65530)", "u16(65535)", "u16(1)")]


def number(text):
    return int(re.sub(r"^\w+\(|\)$|u32$", "", text))


S.add("counters", "kernel counters(y: out tensor<i64, [" + str(len(LOOPS)) + ", 4]>, one: i32) grid [1] {\n" + "".join(
    f"    {{\n        var n = i64(0), s = i64(0), last = i64(0);\n        for i in {lo} .. {hi} step {step} {{ static_assert(type_of(i) == {t}); n += 1; s = s * 3 + i64(i); last = i64(i); }}\n"
    f"        var m = i64(0);\n        for i in {lo} .. {hi} step {step} * {t}(one) {{ m += 1; }}\n"
    f"        y[{k}, 0] = n; y[{k}, 1] = s; y[{k}, 2] = last; y[{k}, 3] = m;\n    }}\n" for k, (t, lo, hi, step) in enumerate(LOOPS)) + "}\n",
    lambda rng: [Call("counters", Out(np.array([loop(*map(number, row[1:])) for row in LOOPS], I64)), I32(1))])


def loop(lo, hi, step):
    s = last = n = 0
    for i in range(lo, hi, step):
        n += 1
        s = ref.wrap(s * 3 + i, "i64")
        last = ref.wrap(i, "i64")
    return n, s, last, n


S.add("bounds", """kernel bounds(y: out tensor<i32, [7]>, lo: i32, hi: i32, step: i32) grid [1] {
    var n = 0, s = 0, e = hi;
    for i in lo .. e step step { n += 1; s += i; e = 1000; if n > 50 { break; } }
    y[0] = n; y[1] = s;
    var t: tile<i32, [4]> = 0;
    for i in lo .. hi { if i - lo > 10 { break; } if i % 2 == 0 { continue; } t = t + i; }
    y[2] = i32(sum(t));
    for i in lo .. hi step 7 { for j in i .. hi { if j - i == 3 { break; } t += j; } if i - lo > 30 { break; } }
    y[3] = i32(sum(t));
    var i = lo;
    while i < hi && i - lo < 5 { i += 1; }
    y[4] = i;
    var z = 0;
    for u in u8(lo & 3) .. u8(hi & 15) { z += i32(u); }
    y[5] = z;
    var w = 0;
    for i in 0 .. 5 step (lo ^ lo) { w += i; }
    y[6] = w;
}
""", lambda rng: [bounds(lo, hi, step) for lo, hi, step in [(0, 10, 1), (-3, 4, 2), (5, 5, 1), (9, 2, 3), (0, 7, 100), (2 ** 31 - 4, 2 ** 31 - 1, 2), (-2 ** 31, -2 ** 31 + 9, 4), (0, 100, 1), (1, 8, 0), (1, 8, -5)]])


def bounds(lo, hi, step):
    n = s = 0
    for i in range(lo, hi, max(1, step)):
        n, s = n + 1, w32(s + i)
        if n > 50:
            break
    t = [0] * 4
    for i in range(lo, hi):
        if i - lo > 10:
            break
        if i % 2 == 0:
            continue
        t = [w32(v + i) for v in t]
    a = w32(sum(t))
    for i in range(lo, hi, 7):
        for j in range(i, hi):
            if j - i == 3:
                break
            t = [w32(v + j) for v in t]
        if i - lo > 30:
            break
    i = lo
    while i < hi and i - lo < 5:
        i += 1
    return Call("bounds", Out(np.array([n, s, a, w32(sum(t)), i, sum(range(lo & 3, hi & 15)), 10], I32)), I32(lo), I32(hi), I32(step))


# ---- functions, generics, compile-time code ----
S.add("functions", """param WIDTH: int = 8;
const SCALE = 2 * WIDTH;
fn relu<T: arith, S: shape>(x: tile<T, S>) -> tile<T, S> { return max(x, 0); }
fn first_positive(x: tile<i32, [N]>) -> i32 {
    let at = i32(reduce(select(x > 0, iota([N], i32), N), 0, N, fn(p, q) min(p, q)));
    if at == N { return -1; }
    if at == 0 { return 1000; } else { return at; }
}
fn minmax<T: arith>(x: tile<T, [N]>) -> (T, T) { return (T(reduce_min(x, 0)), T(reduce_max(x, 0))); }
fn pow<K: int>(x: i32) -> i32 {
    var r = 1;
    for const i in 0 .. K { r *= x; }
    return r;
}
fn pick<FLAG: bool>(a: i32, b: i32 = 5) -> i32 { if const FLAG { return a; } else { return b; } }
fn kind<T: any>(x: T) -> i32 {
    if const T == i32 { return 1; } else if const T == f32 { return 2; } else if const T == tile<i32, [8]> { return 3; }
    return 4;
}
fn nothing(y: out tensor<i32, [n]>, i: i32, v: i32) { if v < 0 { return; } y[i] = v; }
fn rank_of<S: shape>(x: tile<f32, S>) -> i32 { return 100 * S.rank + S[0]; }
fn nested(a: i32, b: i32, c: i32) -> (i32, (i32, i32)) { return (a, (b, c)); }
kernel functions(x: tensor<i32, [8]>, r: out tensor<i32, [24]>, q: out tensor<i32, [2, 8]>, k: i32) grid [1] {
    let v = x.load([0], [8]);
    q[0, :].store([0], relu(v));
    q[1, :].store([0], element_cast(relu(element_cast(v, f32)), i32));
    r[0] = first_positive(v);
    let (lo, hi) = minmax(v);
    r[1] = lo; r[2] = hi;
    var (p, _) = minmax(element_cast(v, i8));
    r[3] = i32(p);
    r[4] = pow(k, K: 3); r[5] = pow(2, K: 10); r[6] = pow(k, K: 0);
    r[7] = pick(k, FLAG: true); r[8] = pick(k, FLAG: false); r[9] = pick(k, k + 1, FLAG: false); r[10] = pick(k, b: 9, FLAG: false);
    r[11] = kind(k); r[12] = kind(f32(1.0)); r[13] = kind(v); r[14] = kind(u8(3));
    nothing(r, 15, k); nothing(r.slice(0, 16, 18), 0, 77); nothing(r, 17, -k * k);
    r[18] = rank_of(zeros([4, 2], f32));
    let (n1, (n2, n3)) = nested(k, 2, 3);
    r[19] = n1 + n2; r[20] = n3;
    r[21] = SCALE + WIDTH;
    if const WIDTH > 4 && SCALE == 16 { r[22] = 1; } else { r[22] = undefined_name; }
    var total = 0;
    for const i in 0 .. 4 { for const j in 0 .. i { const SUM: int = i * j; if const SUM % 2 == 0 { total += SUM + 1; } } }
    r[23] = total;
}
""", lambda rng: [functions(rng, k) for k in (0, 1, 3, -2)])


def functions(rng, k):
    x = rng.integers(-9, 5, 8).astype(I32)
    pos = [i for i in range(8) if x[i] > 0]
    start = np.full(24, -55, I32)
    r = start.copy()
    r[0] = -1 if not pos else 1000 if pos[0] == 0 else pos[0]
    r[1], r[2], r[3] = x.min(), x.max(), x.min()
    r[4], r[5], r[6] = k ** 3, 1024, 1
    r[7], r[8], r[9], r[10] = k, 5, k + 1, 9
    r[11:15] = [1, 2, 3, 4]
    if k >= 0:
        r[15] = k
    r[16] = 77
    if k == 0:
        r[17] = 0
    r[18] = 204
    r[19], r[20] = k + 2, 3
    r[21], r[22] = 24, 1
    r[23] = sum(i * j + 1 for i in range(4) for j in range(i) if i * j % 2 == 0)
    return Call("functions", x, Out(r, start), Out(np.stack([np.maximum(x, 0)] * 2)), I32(k))


S.add("returns", """kernel returns(x: tensor<i32, [n]>, y: inout tensor<i32, [n]>, k: i32) grid [n] {
    let i = bid(0);
    if k < 0 { return; }
    if i % 3 == 0 {
        y[i] = 1;
        if x[i] > k { return; }
        y[i] = 2;
    } else if i % 3 == 1 {
        var t: tile<i32, [2]> = 0;
        while true { t += 1; if i32(sum(t)) > k { break; } }
        y[i] = i32(sum(t));
        return;
    }
    y[i] += 10;
}
kernel conditions(x: tensor<f32, [n]>, y: out tensor<i32, [n]>, p: ptr<i32>) grid [cdiv(n, 4)] {
    let v = x.load([bid(0)], [4]);
    for const j in 0 .. 4 {
        let one = extract(v, [1], [j]);
        var r = 0;
        if one > 0 { r += 1; }
        if one { r += 2; }
        r += one == 0 ? 4 : 8;
        r += reshape(one, [1, 1]) < 1 && one > -1 ? 16 : 0;
        if !one || one > 5 { r += 32; }
        if p { r += 64; }
        let i = bid(0) * 4 + j;
        if i < n && 100 / (i + 1) > 20 { r += 128; }
        y[i] = r;
    }
}
""", lambda rng: list(returns(rng)))


def returns(rng):
    for n, k in [(10, 3), (10, -1), (1, 0), (0, 5)]:
        x, y0 = rng.integers(0, 7, n).astype(I32), rng.integers(100, 200, n).astype(I32)
        y = y0.copy()
        for i in range(n if k >= 0 else 0):
            if i % 3 == 0:
                y[i] = 1 if x[i] > k else 12
            elif i % 3 == 1:
                y[i] = k // 2 * 2 + 2
            else:
                y[i] += 10
        yield Call("returns", x, Out(y, y0), I32(k), n)
    x = np.array([0.0, -0.0, 1, -1, 0.5, 7, np.nan, np.inf, -3], np.float32)
    for p in (None, np.zeros(1, I32)):
        def value(i, v):
            r = (v > 0) + 2 * (v != 0) + (4 if v == 0 else 8) + 16 * (-1 < v < 1) + 32 * (v == 0 or v > 5) + 64 * (p is not None)
            return r + 128 * (100 // (i + 1) > 20)
        yield Call("conditions", x, Out(np.array([value(i, v) for i, v in enumerate(x)], I32)), p, len(x))


S.add("carried", """kernel carried(x: tensor<f32, [n]>, y: out tensor<f32, [4, 8]>, n2: i32) grid [1] {
    var a: tile<f32, [8]> = 0, b: tile<f32, [8]> = 1;
    var (p1, p2) = (1, f32(2.0)), q = 0;
    for i in 0 .. cdiv(n, 8) {
        let v = x.load([i], [8]);
        (a, b) = (b + v, a);
        if i % 2 == 0 { a = flip(a, 0); } else { b = a * 2; continue; }
        var k: tile<f32, [2, 8]> = 3;
        k += a;
        a = sum(k, 0, squeeze: true) - a;
        (p1, p2) = (q, f32(5.0));
        q += 1;
    }
    y[0, :].store([0], a);
    y[1, :].store([0], b);
    let (r, s) = (p1, p2);
    y[2, 0] = f32(r); y[2, 1] = s; y[2, 2] = f32(q);
    var m = zeros([4, 2], f32);
    var j = 0;
    while j < n2 { m = insert(m, full([1, 2], f32(j + 1), f32), [j, 0]); j += 1; }
    y[3, :].store([0], reshape(m, [8]));
}
""", lambda rng: [carried(rng, n, k) for n, k in [(0, 0), (8, 1), (30, 3), (47, 7)]])


def carried(rng, n, k):
    x = rng.integers(-5, 6, n).astype(np.float32)
    a, b, p, q = np.zeros(8, np.float32), np.ones(8, np.float32), (1, 2.0), 0
    for i in range(-(-n // 8)):
        v = np.zeros(8, np.float32)
        v[:len(x[8 * i:8 * i + 8])] = x[8 * i:8 * i + 8]
        a, b = b + v, a
        if i % 2 == 0:
            a = a[::-1]
        else:
            b = a * 2
            continue
        a = 2 * (a + 3) - a
        p = (q, 5.0)
        q += 1
    y = np.zeros((4, 8), np.float32)
    y[0], y[1] = a, b
    y[2, :3] = p[0], p[1], q
    m = np.zeros((4, 2), np.float32)
    for j in range(min(k, 4)):
        m[j] = j + 1
    y[3] = m.reshape(8)
    start = np.zeros((4, 8), np.float32)
    return Call("carried", x, Out(y, start), I32(k), n)


# ---- launches: grids, dimensions, where, variants, tensors as they come ----
S.add("grids", """kernel grid4(y: out tensor<i32, [a, b, c, d, 5]>) grid [a, b, c, d] {
    let z = y[bid(0), bid(1), bid(2), bid(3), :];
    z[0] = bid(0); z[1] = bid(1); z[2] = bid(2); z[3] = bid(3);
    z[4] = ((num_blocks(0) * 100 + num_blocks(1)) * 100 + num_blocks(2)) * 100 + num_blocks(3);
}
kernel dims_order(x: tensor<i32, [2 * a, b + 1]>, y: out tensor<i32, [cdiv(c, 4)]>, k: i32) dims [c, b, a] grid [cdiv(c, 4)] {
    y[bid(0)] = x[2 * a - 1, b] * k + a * 100 + b * 10 + c;
}
kernel defined(x: tensor<i32, [total]>, y: out tensor<i32, [m, n]>) grid [m] where total == m * n, n <= 16 {
    y.store([bid(0), 0], reshape(x.slice(0, bid(0) * n, (bid(0) + 1) * n).load([0], [16]), [1, 16]));
}
kernel ordered_blocks(y: inout tensor<i32, [1]>, r: out tensor<i32, [a, b]>) grid [a, b] {
    r[bid(0), bid(1)] = i32(atomic_add(y, [0], 1)) >= 0 ? 1 : 0;
}
kernel scalars(y: out tensor<f64, [12]>, a: i8, b: u16, c: i64, d: u64, e: bool, f: f16, g: bf16, h: f64, i: f8e4m3, j: tf32, k: f32, l: u8) grid [1] {
    y[0] = f64(a); y[1] = f64(b); y[2] = f64(c); y[3] = f64(d); y[4] = f64(e); y[5] = f64(f); y[6] = f64(g); y[7] = h; y[8] = f64(i); y[9] = f64(j); y[10] = f64(k); y[11] = f64(l);
}
kernel sized<N: int>(x: tensor<i32, [n]>, y: out tensor<i32, [n]>) grid [cdiv(n, N)] where n <= 2 * N { y.store([bid(0)], x.load([bid(0)], [N]) + N); }
instance sizes = sized<{4, 16, 64}>;
instance even_sizes = sized<N: {8, 16, 32}> where N != 16;
""", lambda rng: list(grids(rng)))


def grids(rng):
    for s in [(1, 1, 1, 1), (2, 3, 4, 5), (1, 7, 1, 2), (0, 2, 2, 2), (3, 1, 0, 1)]:
        y = np.zeros((*s, 5), I32)
        for i in np.ndindex(*s):
            y[i] = (*i, ((s[0] * 100 + s[1]) * 100 + s[2]) * 100 + s[3])
        yield Call("grid4", Out(y), *s)
    for a, b, c in [(1, 0, 1), (2, 3, 17), (1, 5, 0)]:
        x = rng.integers(1, 9, (2 * a, b + 1)).astype(I32)
        yield Call("dims_order", x, Out(np.full(-(-c // 4), x[-1, -1] * 7 + a * 100 + b * 10 + c, I32)), I32(7), c, b, a)
    for m, n in [(1, 1), (3, 5), (4, 16), (0, 3)]:
        x = rng.integers(0, 99, m * n).astype(I32)
        yield Call("defined", x, Out(x.reshape(m, n)), m, n)
    yield Call("defined", np.zeros(34, I32), Out(np.zeros((2, 17), I32)), 2, 17, status=3, text="n <= 16")
    for a, b in [(1, 1), (5, 3), (100, 7)]:
        yield Call("ordered_blocks", Out(np.array([a * b], I32), np.zeros(1, I32)), Out(np.ones((a, b), I32)), a, b)
    v = [np.int8(-5), np.uint16(60000), I64(-2 ** 53), np.uint64(2 ** 63), np.bool_(True), np.float16(0.1), DTYPE["bf16"].type(0.1), np.float64(0.1), DTYPE["f8e4m3"].type(0.4), np.float32(1.5), np.float32(0.1), np.uint8(200)]
    yield Call("scalars", Out(np.array([float(a) for a in v])), *v)
    for n in (0, 1, 8, 9, 32, 33, 128):
        x = rng.integers(0, 99, n).astype(I32)
        k = [v for v in (4, 16, 64) if n <= 2 * v][0]
        yield Call("sizes", x, Out(x + k), n)
        if n <= 64:
            yield Call("even_sizes", x, Out(x + [v for v in (8, 32) if n <= 2 * v][0]), n)
    yield Call("sizes", np.zeros(129, I32), Out(np.zeros(129, I32)), 129, status=10, text="n <= 2 * N")


# ---- names that C would take for its own ----
S.add("names", """kernel register(auto: tensor<i32, [long]>, double: inout tensor<i32, [long]>, l: out tensor<i32, [errno]>, int: i32, stream: i32) grid [cdiv(long, 8)] {
    let printf = bid(0), ct_x = auto.load([printf], [8]);
    var memcpy = ct_x + int, i0 = 0;
    for NULL in 0 .. 3 { i0 += NULL; memcpy += i0; }
    let M_PI = memcpy * stream, y0 = M_PI, v0 = y0 + long;
    double.store([printf], v0 + cdiv(long, 3));
    if printf == 0 { l[0] = errno + cdiv(errno, 2); }
}
fn sum2(a: i32, b: i32) -> i32 { let sum = a + b; return sum; }
kernel hides(x: tensor<i32, [4]>, y: out tensor<i32, [4]>) grid [1] {
    let load = x.load([0], [4]);
    let iota = 3, max = load + iota;
    { let iota = 5; y.store([0], max * iota); }
    y[0] = sum2(iota, 4);
}
""", lambda rng: [Call("register_", x, Out(((x + 3 + 4) * 2 + n + -(-n // 3)).astype(I32), np.zeros(n, I32)), Out(np.array([8] + [0] * 4, I32), np.zeros(5, I32)), I32(3), I32(2), n, 5)
                  for n in (1, 20) for x in [rng.integers(0, 99, n).astype(I32)]] +
                 [Call("hides", np.arange(4, dtype=I32), Out(np.array([7, 20, 25, 30], I32)))])

# ---- entries ----
S.add("entries", """kernel fill<N: int>(y: out tensor<i32, [n]>, v: i32) grid [cdiv(n, N)] { y.store([bid(0)], full([N], v, i32)); }
kernel add_into<N: int = 32>(x: tensor<i32, [n]>, y: inout tensor<i32, [n]>, f: i32) grid [cdiv(n, N)] { y.store([bid(0)], y.load([bid(0)], [N]) + x.load([bid(0)], [N]) * f); }
kernel block_sums<N: int = 64>(x: tensor<i32, [n]>, p: out tensor<i64, [cdiv(n, N)]>) grid [cdiv(n, N)] { p.store([bid(0)], sum(element_cast(x.load([bid(0)], [N]), i64), 0)); }
kernel last_sum(p: tensor<i64, [n]>, s: out tensor<i64, [1]>) grid [1] {
    var t: tile<i64, [1]> = 0;
    for j in 0 .. cdiv(n, 16) { t += sum(p.load([j], [16]), 0); }
    s.store([0], t);
}
entry total(x: tensor<i32, [n]>, s: out tensor<i64, [1]>) {
    scratch p: tensor<i64, [cdiv(n, 64)]>;
    block_sums(x, p);
    last_sum(p, s);
}
entry steps(x: tensor<i32, [n]>, y: inout tensor<i32, [n]>, k: i32) where k >= -5 {
    let twice = 2 * k, half = n / 2;
    add_into(x, y, twice);
    if n > 100 && k != 3 {
        add_into(x, y, 1, N: 128);
    } else if n == 7 || half >= 20 {
        fill(y, half, N: 16);
    } else {
        add_into(x, y, k > 0 ? 5 : -5);
    }
    add_into(x, y, min(half, 9));
}
entry two_scratches(y: inout tensor<i32, [n]>, m: i32) where n >= 1 {
    scratch a: tensor<i32, [n]>;
    scratch b: tensor<i32, [n]>;
    fill(a, m, N: 64);
    fill(b, 10, N: 4);
    fill(y, 1, N: 256);
    if n > 50 {
        scratch c: tensor<i32, [n]>;
        fill(c, 1000, N: 32);
        add_into(c, y, 1);
    }
    add_into(a, y, 1);
    add_into(b, y, m);
}
entry shaped(x: tensor<i32, [h, w]>, y: out tensor<i32, [w, h]>) dims [w, h] { turn(x, y); }
kernel turn(x: tensor<i32, [a, b]>, y: out tensor<i32, [b, a]>) grid [cdiv(a, 16), cdiv(b, 16)] { y.store([bid(1), bid(0)], transpose(x.load([bid(0), bid(1)], [16, 16]))); }
""", lambda rng: list(entries(rng)))


def entries(rng):
    for n in (0, 1, 7, 64, 1000, 4097):
        x = rng.integers(-2 ** 31, 2 ** 31, n).astype(I32)
        # `total` has scratch for a sum of each tile; on a GPU a row of workspace more for the loop over them, which is split over the grid
        need = -(-8 * -(-n // 64) // 256) * 256
        more = need and 256
        yield Call("total_ws", x, Out(np.array([x.astype(I64).sum()], I64)), n, Workspace(max(need + more, 1)), need + more)
        yield Call("total_ws", x, Out(np.array([x.astype(I64).sum()], I64)), n, Workspace(need + 512), need + 512)
        if need:
            yield Call("total_ws", x, Out(np.zeros(1, I64)), n, Workspace(need), need - 1, status=9, text="total")
            yield Call("total_ws", x, Out(np.zeros(1, I64)), n, None, need, status=9)
            yield Call("total_ws", x, Out(np.zeros(1, I64)), n, None, 0, status=9)
        y = rng.integers(-9, 9, n).astype(I32)
        for k in (0, 3, -5):
            r = y + 2 * k * x
            half = n // 2
            if n > 100 and k != 3:
                r = r + x
            elif n == 7 or half >= 20:
                r = np.full(n, half, I32)
            else:
                r = r + (5 if k > 0 else -5) * x
            r = r + min(half, 9) * x
            yield Call("steps", x, Out(r.astype(I32), y), I32(k), n)
        yield Call("steps", x, Out(y, y), I32(-6), n, status=3, text="k >= -5")
        if n:
            m = 3
            need = (2 + 1) * -(-4 * n // 256) * 256
            yield Call("two_scratches_ws", Out(np.full(n, 1 + (1000 if n > 50 else 0) + m + 10 * m, I32)), I32(m), n, Workspace(need), need)
    for h, w in [(3, 5), (16, 16), (40, 1), (0, 4)]:
        x = rng.integers(0, 99, (h, w)).astype(I32)
        yield Call("shaped", x, Out(np.ascontiguousarray(x.T)), w, h)


# ---- statuses: every wrong call, its number and its text ----
S.add("statuses", """kernel status_sizes(x: tensor<f32, [n, m]>, y: out tensor<f32, [n, m]>, z: inout tensor<i16, [m]>, a: i32) grid [cdiv(n, 4), cdiv(m, 4)] where a >= 1, m % 2 == 0 where aligned(x, 8) || n < 100 {
    y.store([bid(0), bid(1)], x.load([bid(0), bid(1)], [4, 4]) * a);
}
kernel status_huge(x: tensor<u8, [n: i64, m: i64]>, y: out tensor<u8, [1]>) grid [1] { y[0] = x[n - 1, m - 1]; }
kernel status_grid(x: tensor<f32, [n, m], layout_strided<[0, 0]>>, y: inout tensor<f32, [1]>) grid [n, m] { if bid(0) == 0 && bid(1) == 0 { y[0] = 7; } }
kernel status_strides(x: tensor<i32, [n, m], layout_strided<[s, t]>>, y: out tensor<i32, [n, m], layout_strided<[u, 1]>>) grid [cdiv(n, 4), cdiv(m, 8)] {
    y.store([bid(0), bid(1)], x.load([bid(0), bid(1)], [4, 8]));
}
kernel status_defined(x: tensor<u8, [total]>, y: out tensor<u8, [1]>, n: i32) grid [1] where total == n * 1000000000000000 { y[0] = 1; }
kernel status_dims(y: out tensor<i32, [n - 5]>) grid [n] { y[0] = 1; }
kernel status_types(x: tensor<u8, [a: u8, b: i16]>, y: out tensor<i32, [1]>) grid [1] where b <= 300 { y[0] = 1; }
kernel status_types_of(x: tensor<u8, [a: u8, b: i16]>, y: out tensor<i32, [1]>) grid [1] where b <= 300 { y[0] = 1; }
entry status_types_entry(x: tensor<u8, [a: u8, b: i16]>, y: out tensor<i32, [1]>) where b <= 300 { status_types_of(x, y); }
""", lambda rng: list(statuses(rng)))


def statuses(rng):
    x, y, z = np.ones((6, 8), np.float32), Out(np.full((6, 8), 2, np.float32)), np.zeros(8, np.int16)
    two = I32(2)
    def wrong(status, text, *args, name="status_sizes"):
        args = [Out(a.start, a.start) if isinstance(a, Out) else a for a in args]
        return Call(name, *args, status=status, text=text, aligned=any(isinstance(a, At) for a in args))
    yield Call("status_sizes", x, y, z, two, 6, 8)
    yield wrong(4, "x is null", None, y, z, two, 6, 8)
    yield wrong(4, "y is null", x, None, z, two, 6, 8)
    yield wrong(4, "z is null", x, y, None, two, 6, 8)
    yield Call("status_sizes", None, None, z, two, 0, 8)
    yield Call("status_sizes", None, None, None, two, 0, 0)
    yield Call("status_sizes", None, None, None, two, 5, 0)
    big = np.zeros(4096, np.uint8)
    yield wrong(5, "x is not aligned", At(6, 2), y, z, two, 6, 8, big)
    yield wrong(5, "y is not aligned", x, At(6, 1), z, two, 6, 8, big)
    yield wrong(5, "z is not aligned", x, y, At(6, 3), two, 6, 8, big)
    yield wrong(6, "overlap", At(6, 0), At(6, 0), z, two, 6, 8, big)
    yield wrong(6, "overlap", At(6, 0), At(6, 188), z, two, 6, 8, big)
    yield wrong(6, "overlap", At(6, 188), At(6, 0), z, two, 6, 8, big)
    yield wrong(6, "overlap", At(6, 0), y, At(6, 190), two, 6, 8, big)
    room = Out(np.concatenate([np.ones(48, np.float32), np.full(48, 2, np.float32), np.zeros(4, np.float32)]), np.concatenate([np.ones(48), np.zeros(52)]).astype(np.float32))
    yield Call("status_sizes", At(6, 0), At(6, 192), At(6, 384), two, 6, 8, room, aligned=True)
    yield wrong(1, "n is -1", x, y, z, two, -1, 8)
    yield wrong(1, "m is -8", x, y, z, two, 6, -8)
    yield wrong(1, "2147483648", x, y, z, two, 2 ** 31, 8)
    yield wrong(1, "n is", x, y, z, two, -2 ** 63, 8)
    yield wrong(3, "a >= 1", x, y, z, I32(0), 6, 8)
    yield wrong(3, "m % 2 == 0", np.ones((6, 7), np.float32), Out(np.zeros((6, 7), np.float32)), z, two, 6, 7)
    odd = np.ones(100 * 8 + 1, np.float32)
    yield Call("status_sizes", At(6, 8), Out(np.full((100, 8), 2, np.float32)), z, two, 100, 8, np.ones(100 * 8 + 2, np.float32), aligned=True)
    yield Call("status_sizes", At(6, 4), Out(np.zeros((100, 8), np.float32), np.zeros((100, 8), np.float32)), z, two, 100, 8, odd, aligned=True, status=3, text="aligned(x, 8)")
    one = np.ones(1, np.uint8)
    yield wrong(2, None, one, Out(np.zeros(1, np.uint8)), 2 ** 62, 4, name="status_huge")
    yield wrong(2, None, one, Out(np.zeros(1, np.uint8)), 2 ** 32, 2 ** 32, name="status_huge")
    yield Call("status_huge", np.array([[1, 2]], np.uint8), Out(np.array([2], np.uint8)), 1, 2)
    f = np.zeros(1, np.float32)
    yield wrong(8, "2^31", f, Out(f), 2 ** 31 - 1, 2, name="status_grid")
    yield wrong(8, "2^31", f, Out(f), 2 ** 31 - 1, 2 ** 31 - 1, name="status_grid")
    yield wrong(8, "2^31", f, Out(f), 2 ** 16, 2 ** 15, name="status_grid")
    yield Call("status_grid", f, Out(np.array([7], np.float32), f), 1000, 2)
    yield Call("status_grid", f, Out(f, f), 2 ** 31 - 1, 0)
    a = np.arange(64, dtype=I32)
    yield Call("status_strides", a, Out(np.arange(32, dtype=I32)), 4, 8, 8, 1, 8)
    yield Call("status_strides", a, Out(np.tile(np.arange(8, dtype=I32), 4)), 4, 8, 0, 1, 8)
    yield Call("status_strides", a, Out(np.zeros(32, I32)), 4, 8, 0, 0, 8)
    yield wrong(7, None, a, Out(np.zeros(32, I32)), 4, 8, 8, 1, 0, name="status_strides")
    yield wrong(7, None, a, Out(np.zeros(32, I32)), 4, 8, 8, 1, 7, name="status_strides")
    yield wrong(7, None, a, Out(np.zeros(32, I32)), 4, 8, 8, 1, -8, name="status_strides")
    yield wrong(7, None, a, Out(np.zeros(32, I32)), 4, 8, -1, 1, 8, name="status_strides")
    yield Call("status_strides", a, Out(np.arange(8, dtype=I32)), 1, 8, 8, 1, 0)
    yield wrong(2, None, one, Out(np.zeros(1, np.uint8)), I32(10000), name="status_defined")
    yield wrong(1, None, Out(np.zeros(1, I32)), 3, name="status_dims")
    yield Call("status_dims", None, 5)
    for name in ("status_types", "status_types_entry"):
        none = Out(np.zeros(1, I32))
        yield wrong(1, "a is 256, outside 0 to 255", None, none, 256, 0, name=name)
        yield wrong(1, "b is 32768, outside 0 to 32767", None, none, 0, 32768, name=name)
        yield wrong(1, "a is -1", None, none, -1, 0, name=name)
        yield wrong(3, "where b <= 300", None, none, 0, 301, name=name)
        yield Call(name, None, Out(np.ones(1, I32)), 255, 0)


def texts(suite, folder, target):
    """Each number has a text of its own, unknown ones too."""
    lib, _ = runner.load(suite.library(folder, ""), target)
    seen = [lib.ctile_status_text(k).decode() for k in range(0, 14)]
    faults = [f"status {k} has no text" for k, t in enumerate(seen) if not t or t == "unknown status"]
    if len(set(seen)) != len(seen):
        faults.append("two statuses have the same text")
    for k in (-1, 99, 2 ** 31 - 1):
        if not lib.ctile_status_text(k):
            faults.append(f"status {k} has no text")
    for n, want in ((0, 0), (1, 256), (2049, 512), (64 * 1000, 8192)):
        lib.total_workspace.restype = ctypes.c_size_t
        got = lib.total_workspace(ctypes.c_int64(n))
        split = 256 if want and target in ("cuda", "emulated") else 0
        if got != want + split:
            faults.append(f"total_workspace({n}) is {got}, want {want + split}")
    if hasattr(lib, "total"):
        faults.append("an entry with scratch has a function without workspace")
    return faults


S.after.append(texts)
S.after_all = True

# ---- printing ----
S.add("printing", r"""kernel printing(x: tensor<f32, [2]>, k: i32) grid [2] {
    if bid(0) == 1 { return; }
    print("plain {{}} text");
    print("view {} of {} and {}{}", x, k, x.slice(0, 1, 9), x.slice(0, 0, k - 7));
    print("k = {}, twice {}", k, 2 * k);
    print("{} {} {}", true, u8(200), i64(-5000000000));
    let v = reshape(iota([4], i32) + k, [2, 2]);
    print("tile {} and {}", v, x.load([0], [2]));
    print("nested {}", reshape(v, [1, 2, 2]));
    print("rank {}", reshape(extract(v, [1, 1], [0, 0]), []));
    print("half {} small {}", f16(1.5), element_cast(2.0, f8e4m3));
    print("100% \"quoted\" \\ tab	end");
    print("{} {} {}", f64(0.5), f32(nan), f32(-inf));
    for i in 0 .. 2 { print("round {}", i); }
}
""")
PRINTED = ["plain {} text", "view [1.5, -2] of 7 and [-2][]", "k = 7, twice 14", "true 200 -5000000000", "tile [[7, 8], [9, 10]] and [1.5, -2]", "nested [[[7, 8], [9, 10]]]", "rank 7", "half 1.5 small 2",
           '100% "quoted" \\ tab\tend', "0.5 nan -inf", "round 0", "round 1"]


def captured(f):
    """What a function writes to the standard output of the process."""
    libc = ctypes.CDLL(None)
    sys.stdout.flush()
    with tempfile.TemporaryFile() as t:
        old = os.dup(1)
        os.dup2(t.fileno(), 1)
        try:
            f()
            libc.fflush(None)
        finally:
            os.dup2(old, 1)
            os.close(old)
        t.seek(0)
        return t.read().decode()


def prints(suite, folder, target):
    lib, dev = runner.load(suite.library(folder, ""), target)
    text = captured(lambda: runner.call(lib, dev, "printing", [np.array([1.5, -2], np.float32), ctypes.c_int32(7)], []))
    got = text.splitlines()
    return [f"line {i}: got {g!r}, want {w!r}" for i, (g, w) in enumerate(zip(got + [None] * len(PRINTED), PRINTED)) if g != w][:5] + ([f"{len(got)} lines"] if len(got) != len(PRINTED) else [])


S.after.append(prints)

# ---- --checked ----
TRAPS = [  # name, statement that traps when k is 1 and does not when k is 0; x holds 0 .. 7, y and z are i32 of 8, f is 1e10 for k = 1
    ("assert_scalar", 'assert(k == 0, "k must be zero");', "k must be zero"), ("assert_tile", "assert(x.load([0], [8]) + k < 8);", ""), ("assert_words", 'assert(all_of(x.load([0], [8]) >= k), "too {} \\"small\\"");', "small"),
    ("div_zero", "y[0] = 5 / (1 - k);", "division by zero"), ("rem_tile", "y.store([0], x.load([0], [8]) % (x.load([0], [8]) + 1 - k));", "division by zero"), ("floordiv", "y[0] = floordiv(7, 1 - k);", ""),
    ("int_min", "y[0] = (-2147483647 - k) / (k * -2 + 1);", "overflow"), ("add", "y[0] = 2147483647 + k;", "overflow"), ("sub", "y[0] = -2147483648 - k;", "overflow"), ("mul", "y[0] = 65536 * (32767 + k);", "overflow"),
    ("add_tile", "y.store([0], x.load([0], [8]) + (2147483640 + k));", "overflow"), ("neg", "y[0] = -(k * -2147483648);", "overflow"), ("abs", "y[0] = abs(k * -2147483648);", "overflow"), ("i8_add", "y[0] = i32(i8(100) + i8(27 + k));", "overflow"),
    ("shift", "y[0] = 1 << (k * 32);", "shift"), ("shift_negative", "y[0] = 1 >> -k;", "shift"), ("cast_small", "y[0] = i32(u8(255 + k));", "u8"), ("cast_float", "y[0] = i32(f);", "i32"), ("cast_nan", "y[0] = i32(k == 1 ? f32(nan) : f32(2.0));", "i32"),
    ("cast_tile", "z.store([0], element_cast(x.load([0], [8]) - k, u32));", "u32"), ("gather", "y.store([0], x.gather([iota([8], i32) + k]));", "outside"),
    ("scatter", "y.scatter([assume_unique(iota([8], i32) + k)], x.load([0], [8]));", "outside"), ("element", "y[0] = x[k * 8];", "outside"), ("element_store", "y[7 + k] = 1;", "outside"), ("take", "y.store([0], gather(x.load([0], [8]), iota([8], i32) + k, 0));", "outside"),
    ("extract", "y.store([0], broadcast(extract(x.load([0], [8]), [1], [7 + k]), [8]));", "outside"), ("assume", "assume(k != 1);", "k != 1"), ("divisible", "y[0] = assume_divisible(8 + k, 8);", "8 + k"), ("bounded", "y[0] = assume_bounded(k, 0, 0);", ""),
    ("below", "y[0] = assume_bounded_below(-k, 0);", ""), ("above", "y[0] = assume_bounded_above(k, 0);", ""), ("unique", "y.scatter([assume_unique(iota([8], i32) / (k + 1))], x.load([0], [8]));", ""),
    ("step", "for i in 0 .. 3 step 1 - k { y[0] = i; }", "not positive"), ("atomic", "atomic_add(y, [7 + k], 1);", "outside"), ("row", "y[0] = x.reshape([2, 4])[2 * k, :][0];", "outside"), ("ceil", "y[0] = cdiv(1, 1 - k);", "division by zero"),
    ("where_of_function", "narrow(k);", "does not hold"),
]
LINES = {}


def trap_source():
    text = "fn narrow(k: i32) where k < 1 { }\n"
    for name, line, _ in TRAPS:
        text += f"kernel trap_{name}(x: tensor<i32, [8]>, y: inout tensor<i32, [8]>, z: inout tensor<u32, [8]>, k: i32, f: f32) grid [1] {{\n"
        LINES[name] = text.count("\n") + 1
        text += f"    {line}\n}}\n"
    return text


def trap_calls(rng):
    """None of them traps when nothing is wrong."""
    for name, _, _ in TRAPS:
        y = Out(np.zeros(8, I32), np.zeros(8, I32), accept=lambda got: None)
        z = Out(np.zeros(8, np.uint32), np.zeros(8, np.uint32), accept=lambda got: None)
        yield Call(f"trap_{name}", np.arange(8, dtype=I32), y, z, I32(0), np.float32(3.5))


S.add("traps", trap_source(), trap_calls, "checked")
S.add("unmasked", """kernel unmasked(x: tensor<i32, [n]>, y: out tensor<i32, [16]>, m: inout tensor<i32, [n]>) grid [1] {
    let i = iota([16], i32);
    y.store([0], x.gather([i], mask: i < n));
    m.scatter([i], i * 2, mask: i < n && i > 1);
    if n > 100 { y[0] = x[50]; }
    let v = x.load([0], [16]) + m.load_at([-2], [16], pad: 5);
    assert(v == v);
}
""", lambda rng: [Call("unmasked", x, Out(np.concatenate([x, np.zeros(16 - n, I32)])), Out(np.where(np.arange(n) > 1, 2 * np.arange(n), 9).astype(I32), np.full(n, 9, I32)), n)
                  for n in (1, 5, 16) for x in [rng.integers(1, 99, n).astype(I32)]], "checked")


def trapped(suite, folder, target, name):
    """Runs one trap in this process; it does not come back."""
    lib, dev = runner.load(suite.library(folder, "checked"), target)
    runner.call(lib, dev, f"trap_{name}", [np.arange(8, dtype=I32), np.zeros(8, I32), np.zeros(8, np.uint32), ctypes.c_int32(1), ctypes.c_float(1e10)], [])


def trap_in_child(suite, folder, target, name):
    """How the process that runs the trap ended, and what it said."""
    if target != "c":
        p = subprocess.run([sys.executable, os.path.abspath(__file__), "trap", folder, "--target", target, "--only", name], capture_output=True, text=True)
        return p.returncode, p.stdout + p.stderr
    with tempfile.TemporaryFile() as t:
        sys.stdout.flush()
        child = os.fork()
        if not child:
            os.dup2(t.fileno(), 2)
            os.dup2(t.fileno(), 1)
            trapped(suite, folder, target, name)
            os._exit(0)
        _, end = os.waitpid(child, 0)
        t.seek(0)
        return end, t.read().decode()


def traps(suite, folder, target):
    faults = []
    with concurrent.futures.ThreadPoolExecutor(1 if target == "c" else os.cpu_count()) as pool:
        ends = list(pool.map(lambda t: trap_in_child(suite, folder, target, t[0]), TRAPS))
    for (name, line, words), (end, text) in zip(TRAPS, ends):
        at = f"control-checked.tile:{LINES[name]}"
        if not end:
            faults.append(f"`{line}` does not trap")
        elif not re.search(re.escape(at) + r"\b", text) or words not in text:
            faults.append(f"`{line}` says {text.strip()[:200]!r}, want {at} and {words!r}")
    return faults


S.after.append(traps)

# ---- many values carried by one loop, each read by the next ----
CARRIED = 70


def many_carried(rng):
    x = rng.integers(-9, 9, 4).astype(np.int32)
    v = [x + i for i in range(CARRIED)]
    for _ in range(3):
        v = [v[0] * 3 % 1001] + [v[i] + v[i - 1][::-1] for i in range(1, CARRIED)]
    return [Call("many_carried", x, Out(sum(v).astype(np.int32)), 4)]


S.add("many_carried", "kernel many_carried(x: tensor<i32, [n]>, y: out tensor<i32, [n]>) grid [1] {\n    let x = x.load([0], [4]);\n" + "".join(
    f"    var v{i} = x + {i};\n" for i in range(CARRIED)) + "    for k in 0 .. 3 {\n" + "".join(
    f"        v{i} += flip(v{i - 1}, 0);\n" for i in range(CARRIED - 1, 0, -1)) + "        v0 = floormod(v0 * 3, 1001);\n    }\n    y.store([0], " + " + ".join(
    f"v{i}" for i in range(CARRIED)) + ");\n}\n", many_carried)

if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "trap":
        trapped(S, sys.argv[2], sys.argv[sys.argv.index("--target") + 1], sys.argv[sys.argv.index("--only") + 1])
    else:
        S.main(__doc__)
