#!/usr/bin/env python3
"""Conversions: element_cast between all numeric types with every rounding and overflow word, on tiles and on constants,
element_bitcast, casts of scalars, implicit conversions, the types of mixed operands.

Usage: casts.py build FOLDER --ctilec PATH [--target c|cuda]
       casts.py run FOLDER [--target c|cuda]
       casts.py test --ctilec PATH        builds and runs the C target in a temporary folder
"""
import math, os, subprocess, tempfile
import numpy as np
import reference as ref
from fractions import Fraction
from reference import ANY_FLOATS, ARITH, FLOATS, INTS, MODES, NUMERIC
from runner import DTYPE
from suite import Call, Out, Suite

S = Suite("casts")
MANY = 24           # stores of a kernel after which another one begins


# ---- values ----
def values(s, rng, every=True):
    """Special and random elements of s, and those next to where other types change."""
    small = ref.bits(s) == 8 or s == "bool"
    if small and every:
        return np.arange(2 if s == "bool" else 256, dtype=np.uint8).view(DTYPE[s])
    v = [ref.specials(s), ref.randoms(s, 40, rng)]
    if s in INTS:
        lo, hi = ref.limits(s)
        near = {x for k in range(65) for d in (-1, 0, 1) for x in ((1 << k) + d, -(1 << k) + d, (1 << k) + (1 << k >> 9), (1 << k) + (3 << k >> 12)) if lo <= x <= hi}
        v.append(np.array(sorted(near), DTYPE[s]))
        return np.concatenate(v)
    near = []
    for t in NUMERIC:
        if t in ANY_FLOATS:
            p, emin, top, _ = ref.FORMATS[t]
            unit = Fraction(2) ** (emin - p + 1)
            half = Fraction(2) ** (int(top).bit_length() - 1 - p)
            near += [top, top + half, top + half * Fraction(3, 2), top + half / 2, unit / 2, unit * Fraction(3, 2), unit * Fraction(5, 2), unit / 4,
                     1 + Fraction(2) ** -p, 1 + 3 * Fraction(2) ** -p, 1 + Fraction(2) ** -p + Fraction(2) ** -(p + 3)]
        else:
            lo, hi = ref.limits(t)
            near += [lo, hi, lo - 1, hi + 1, hi + Fraction(1, 2), lo - Fraction(1, 2), lo + Fraction(1, 2), hi - Fraction(1, 2)]
    near = [n for n in near if abs(n) < 2 ** 1023]
    v.append(ref.keep(np.array([float(n) for n in near] + [-float(n) for n in near], np.float64), s))
    return np.concatenate(v)


def modes(s, t):
    """(rounding or None, overflow) that element_cast takes beside the default."""
    rounding = MODES if t in ANY_FLOATS or (s in ANY_FLOATS and t in INTS) else []
    if t in ANY_FLOATS:
        over = ["saturate", "nan"] + (["inf"] if t != "f8e4m3" else [])
        return [(r, "default") for r in rounding] + [(r, o) for r in [None, *rounding[1:]] for o in over]
    return [(r, o) for r in [None, *rounding] for o in ("default", "saturate", "wrap") if r or o != "default"]


def call_text(x, t, rounding, overflow):
    words = (f", rounding: {rounding}" if rounding else "") + (f", overflow: {overflow}" if overflow != "default" else "")
    return f"element_cast({x}, {t}{words})"


# ---- every pair, in tiles ----
def all_targets(s):
    params = ", ".join(f"r_{t}: out tensor<{t}, [n]>" for t in NUMERIC)
    body = "".join(f"    r_{t}.store([b], element_cast(v, {t}));\n" for t in NUMERIC)
    S.add(f"cast_{s}", f"kernel cast_{s}(x: tensor<{s}, [n]>, {params}) grid [cdiv(n, 64)] {{\n"
          f"    let b = bid(0);\n    let v = x.load([b], [64]);\n{body}}}\n",
          lambda rng: [Call(f"cast_{s}", x, *[Out(ref.cast(x, s, t)) for t in NUMERIC], len(x)) for x in [values(s, rng)]])


def all_modes(s):
    """In kernels of few stores: compilers take a time that grows faster than a kernel."""
    parts = [{}]
    for t in NUMERIC:
        if t != s and modes(s, t):
            if sum(map(len, parts[-1].values())) > MANY:
                parts.append({})
            parts[-1][t] = modes(s, t)
    for i, todo in enumerate(parts):
        some_modes(f"modes_{s}_{i}", s, todo)


def some_modes(name, s, todo):
    params = ", ".join(f"r_{t}: out tensor<{t}, [{len(m)}, n]>" for t, m in todo.items())
    body = "".join(f"    r_{t}.store([{k}, b], {call_text('v', t, *m)});\n" for t, ms in todo.items() for k, m in enumerate(ms))
    def calls(rng):
        x = values(s, rng)
        return [Call(name, x, *[Out(np.stack([ref.cast(x, s, t, *m) for m in ms])) for t, ms in todo.items()], len(x))]
    S.add(name, f"kernel {name}(x: tensor<{s}, [n]>, {params}) grid [cdiv(n, 64)] {{\n"
          f"    let b = bid(0);\n    let v = reshape(x.load([b], [64]), [1, 64]);\n{body}}}\n", calls)


for s in NUMERIC:
    all_targets(s)
    all_modes(s)


# ---- the same of constants: what the compiler computes itself ----
def literal(v, s):
    if s == "bool":
        return "true" if v else "false"
    if s in INTS:
        return f"{s}({v})"
    if not math.isfinite(v):
        return f"{s}({'nan' if v != v else 'inf' if v > 0 else '-inf'})"
    return f"{s}({float(v).hex()})"


def constants(s):
    rng = np.random.default_rng(3)
    with np.errstate(all="ignore"):
        x = np.concatenate([ref.specials(s), ref.randoms(s, 4, rng)])[:28]
        if s in ANY_FLOATS and s not in ("f8e4m3", "f8e5m2"):
            x = np.concatenate([x[:26], ref.keep(np.array([465.0, 2147483648.0, 65520.0, 3e38, 1 + 2.0 ** -11, 1 + 3 * 2.0 ** -11]), s)])
    x = np.resize(x, 32)
    rows = [(t, None, "default") for t in NUMERIC]
    if s in ("i64", "f16", "f32", "f64"):
        rows += [(t, *m) for t in ("f8e4m3", "f8e5m2", "f16", "tf32", "f32", "i8", "u32") if t != s for m in modes(s, t)]
    counts = {t: sum(r[0] == t for r in rows) for t in NUMERIC}
    params = ", ".join(f"r_{t}: out tensor<{t}, [{counts[t]}, 32]>" for t in NUMERIC)
    body, want, at = "", {t: [] for t in NUMERIC}, dict.fromkeys(NUMERIC, 0)
    for t, *m in rows:
        body += f"    r_{t}.store([{at[t]}, 0], [[" + ", ".join(call_text(literal(v, s), t, *m) for v in ref.numbers(x, s)) + "]]);\n"
        at[t] += 1
        want[t].append(ref.cast(x, s, t, *m))
    S.add(f"constant_{s}", f"kernel constant_{s}({params}) grid [1] {{\n{body}}}\n",
          lambda rng: [Call(f"constant_{s}", *[Out(np.stack(want[t])) for t in NUMERIC])])


for s in NUMERIC:
    constants(s)


# ---- scalars: arguments of kernels, the call form, one-element tiles ----
def scalars(s):
    params = ", ".join(f"r_{t}: out tensor<{t}, [3]>" for t in NUMERIC)
    body = "".join(f"    r_{t}[0] = {t}(a);\n    r_{t}[1] = element_cast(a, {t});\n    r_{t}[2] = {t}(x.load([1, 0], [1, 1]));\n" for t in NUMERIC)
    def calls(rng):
        out = []
        for a in list(ref.specials(s)) + list(ref.randoms(s, 3, rng)):
            a = np.array(a, DTYPE[s])[()]
            x = np.resize(ref.randoms(s, 4, rng), (2, 2))
            out.append(Call(f"scalar_{s}", x, *[Out(ref.cast(np.array([a, a, x[1, 0]], DTYPE[s]), s, t)) for t in NUMERIC],
                            np.bool_(a) if s == "bool" else a))
        return out
    S.add(f"scalar_{s}", f"kernel scalar_{s}(x: tensor<{s}, [2, 2]>, {params}, a: {s}) grid [1] {{\n{body}}}\n", calls)


for s in NUMERIC:
    scalars(s)


# ---- element_bitcast ----
def kept(x, t):
    """x read as t. tf32 has no place for the last 13 bits: they are cut off."""
    return (x.view(np.uint32) & np.uint32(0xffffe000)).view(DTYPE[t]) if t == "tf32" else x.view(DTYPE[t])


def bitcasts(s):
    same = [t for t in NUMERIC if t != "bool" and DTYPE[t].itemsize == DTYPE[s].itemsize]
    params = ", ".join(f"r_{t}: out tensor<{t}, [n]>" for t in same)
    body = "".join(f"    r_{t}.store([b], element_bitcast(v, {t}));\n" for t in same)
    def calls(rng):
        x = values(s, rng)
        if DTYPE[s].itemsize == 2 and s in ("u16", "i16"):
            x = np.arange(65536, dtype=np.uint16).view(DTYPE[s])
        nan = np.isnan(x.astype(np.float64)) if s in ANY_FLOATS else np.zeros(len(x), bool)
        x = x[~nan]         # which NaN a NaN is, is not said
        if s not in ANY_FLOATS:     # nor must other bits be read as one
            for t in same:
                if t in ANY_FLOATS:
                    x = x[~np.isnan(x.view(DTYPE[t]).astype(np.float64))]
        return [Call(f"bits_{s}", x, *[Out(kept(x, t)) for t in same], len(x))]
    S.add(f"bits_{s}", f"kernel bits_{s}(x: tensor<{s}, [n]>, {params}) grid [cdiv(n, 128)] {{\n"
          f"    let b = bid(0);\n    let v = x.load([b], [128]);\n{body}}}\n", calls)


for s in NUMERIC:
    if s != "bool":
        bitcasts(s)


# ---- implicit conversions that do not narrow: store, argument, variable, return, full, one element, pad ----
def implicit(s):
    wider = [t for t in NUMERIC if t != s and not ref.narrows(s, t)]
    if not wider:
        return
    params = ", ".join(f"r_{t}: out tensor<{t}, [6, n]>" for t in wider)
    fns = "".join(f"fn take_{s}_{t}(x: tile<{t}, [1, 32]>) -> tile<{t}, [1, 32]> {{ return x; }}\n"
                  f"fn give_{s}_{t}(x: tile<{s}, [1, 32]>) -> tile<{t}, [1, 32]> {{ return x; }}\n" for t in wider)
    body = ""
    for t in wider:
        body += (f"    r_{t}.store([0, b], v);\n    r_{t}.store([1, b], take_{s}_{t}(v));\n    r_{t}.store([2, b], give_{s}_{t}(v));\n"
                 f"    let c_{t}: tile<{t}, [1, 32]> = v;\n    var d_{t}: tile<{t}, [1, 32]> = 0;\n    d_{t} = v;\n"
                 f"    r_{t}.store([3, b], c_{t});\n    r_{t}.store([4, b], d_{t});\n    r_{t}.store([5, b], full([1, 32], a, {t}));\n")
    def calls(rng):
        x = values(s, rng)
        x = np.resize(x, (len(x) // 32 + 1) * 32)
        a = np.array(3, DTYPE[s])[()] if s != "bool" else np.bool_(True)
        return [Call(f"implicit_{s}", x, *[Out(np.stack([ref.cast(x, s, t)] * 5 + [np.full(len(x), int(a), DTYPE[t])])) for t in wider], a, len(x))]
    S.add(f"implicit_{s}", fns + f"kernel implicit_{s}(x: tensor<{s}, [n]>, {params}, a: {s}) grid [cdiv(n, 32)] {{\n"
          f"    let b = bid(0);\n    let v = reshape(x.load([b], [32]), [1, 32]);\n{body}}}\n", calls)


for s in NUMERIC:
    implicit(s)


# ---- which conversions happen by themselves: one line each, right or refused as the rules say ----
def rule_lines():
    """(source line, whether it is legal)"""
    for s in NUMERIC:
        for t in NUMERIC:
            yield f"fn store_{s}_{t}(x: tile<{s}, [4]>, y: out tensor<{t}, [n]>) {{ y.store([0], x); }}", not ref.narrows(s, t)
    for s in ARITH:
        for t in ARITH:
            c = ref.common(s, t)
            fine = c and not any(x != c and ref.narrows(x, c) and not (x in ["bool"] + INTS and c in FLOATS) for x in (s, t))
            yield (f"fn add_{s}_{t}(x: tile<{s}, [4, 1]>, y: tile<{t}, [8]>) {{ static_assert(type_of(x + y) == tile<{c or 'f32'}, [4, 8]>); }}",
                   bool(fine))
            yield f"fn scalars_{s}_{t}(x: {s}, y: {t}) {{ static_assert(type_of(x * y) == {c or 'f32'}); }}", bool(fine)
            yield f"fn less_{s}_{t}(x: tile<{s}, [8]>, y: {t}) {{ static_assert(type_of(x < y) == tile<bool, [8]>); }}", bool(fine)
            wins = s == t or not ref.narrows(t, s) or (t in ["bool"] + INTS and s in FLOATS)
            yield f"fn tile_wins_{s}_{t}(x: tile<{s}, [8]>, y: {t}) {{ static_assert(type_of(x - y) == tile<{s}, [8]>); }}", wins
            yield f"fn tile_wins_too_{s}_{t}(x: tile<{s}, [8]>, y: {t}) {{ static_assert(type_of(y * x) == tile<{s}, [8]>); }}", wins


def rules(suite, ctilec):
    lines = list(rule_lines())
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "rules.tile")
        with open(path, "w") as f:
            f.write("".join(l + "\n" for l, _ in lines))
        p = subprocess.run([ctilec, "--check", "--error-limit=0", "--diagnostics=short", path], capture_output=True, text=True)
    bad = {int(m.split(":")[1]) for m in p.stderr.splitlines() if ": error" in m and m.startswith(path)}
    return [f"{'refused' if ok else 'accepted'}: {l}" for i, (l, ok) in enumerate(lines, 1) if ok == (i in bad)]


S.static.append(rules)

if __name__ == "__main__":
    S.main(__doc__)
