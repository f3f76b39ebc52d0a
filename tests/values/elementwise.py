#!/usr/bin/env python3
"""Every elementwise operation, for every element type it takes, on values that show mistakes and on random ones.

Usage: elementwise.py build FOLDER --ctilec PATH [--target c|cuda]
       elementwise.py run FOLDER [--target c|cuda]
       elementwise.py test --ctilec PATH        builds and runs the C target in a temporary folder
"""
import argparse, ctypes, itertools, os, subprocess, sys, tempfile
import numpy as np
import reference as ref
import runner
from reference import ARITH, FLOATS, INTS, halves_once, ints
from runner import DTYPE

def add(a, b): return a + b


def arith(f):
    """Integers wrap; of bool a result that is not zero is true."""
    g = ints(f)
    return lambda t, *a: g(t, *a) if t != "bool" else np.array([int(f(*map(int, r)) != 0) for r in zip(*a)], DTYPE[t])


INTEGRAL = ["bool"] + INTS
ANY_FLOAT = FLOATS + ["tf32", "f8e4m3", "f8e5m2"]
BOOL = "bool"

# operation -> (source of the call with {0} {1} {2}, element types, reference(t, *inputs), result type or None, ulp or 0)
CASES = {}


def case(name, call, types, f, result=None, ulp=0):
    CASES[name] = (call, types, f, result, ulp)


def both(fi, ff):
    return lambda t, *a: fi(t, *a) if t not in FLOATS else ff(t, *a)


with np.errstate(all="ignore"):
    case("add", "{0} + {1}", ARITH, both(arith(add), halves_once(np.add)))
    case("sub", "{0} - {1}", ARITH, both(arith(lambda a, b: a - b), halves_once(np.subtract)))
    case("mul", "{0} * {1}", ARITH, both(ints(lambda a, b: a * b), halves_once(np.multiply)))
    case("div", "{0} / {1}", ARITH, both(ints(ref.tdiv), halves_once(np.divide)))
    case("remainder", "remainder({0}, {1})", ARITH, both(ints(ref.trem), halves_once(np.fmod)))
    case("ceildiv", "ceildiv({0}, {1})", INTEGRAL, ints(ref.cdiv))
    case("cdiv", "cdiv({0}, {1})", INTEGRAL, ints(ref.cdiv))
    case("floordiv", "floordiv({0}, {1})", INTEGRAL, ints(ref.fdiv))
    case("floormod", "floormod({0}, {1})", INTEGRAL, ints(ref.fmod_))
    case("neg", "-{0}", ARITH, both(ints(lambda a: -a), lambda t, a: np.negative(a)))
    case("abs", "abs({0})", ARITH, both(ints(abs), lambda t, a: np.abs(a)))
    case("min", "min({0}, {1})", ARITH, ref.minmax(False))
    case("max", "max({0}, {1})", ARITH, ref.minmax(True))
    case("min_nan", "min({0}, {1}, nan: propagate)", FLOATS, ref.minmax(False, True))
    case("max_nan", "max({0}, {1}, nan: propagate)", FLOATS, ref.minmax(True, True))
    case("clamp", "clamp({0}, {1}, {2})", INTEGRAL, lambda t, a, lo, hi: np.minimum(np.maximum(a, lo), hi))
    case("mulhi", "mulhi({0}, {1})", INTEGRAL, ref.mulhi(False))
    case("mulhi_signed", "mulhi_signed({0}, {1})", INTS, ref.mulhi(True))
    case("and", "{0} & {1}", INTEGRAL, ints(lambda a, b: a & b))
    case("or", "{0} | {1}", INTEGRAL, ints(lambda a, b: a | b))
    case("xor", "{0} ^ {1}", INTEGRAL, ints(lambda a, b: a ^ b))
    case("not", "~{0}", INTEGRAL, ints(lambda a: ~a))
    case("lnot", "!{0}", ARITH, lambda t, a: (a == 0).astype(np.uint8), BOOL)
    case("land", "{0} && {1}", ARITH, lambda t, a, b: ((a != 0) & (b != 0)).astype(np.uint8), BOOL)
    case("lor", "{0} || {1}", ARITH, lambda t, a, b: ((a != 0) | (b != 0)).astype(np.uint8), BOOL)
    case("popcount", "popcount({0})", INTEGRAL, ref.popcount)
    case("clz", "clz({0})", INTEGRAL, ref.clz)
    case("ctz", "ctz({0})", INTEGRAL, ref.ctz)
    case("bitreverse", "bitreverse({0})", INTEGRAL, ref.bitreverse)
    case("add_sat", "add_sat({0}, {1})", INTEGRAL, ref.saturate(lambda a, b: a + b))
    case("sub_sat", "sub_sat({0}, {1})", INTEGRAL, ref.saturate(lambda a, b: a - b))
    case("shl", "{0} << {1}", INTEGRAL, lambda t, a, b: np.array([ref.wrap(int(x) << (int(y) % ref.bits(t)), t) for x, y in zip(a, b)], DTYPE[t]))
    case("shr", "{0} >> {1}", INTEGRAL, lambda t, a, b: np.array([int(x) >> (int(y) % ref.bits(t)) for x, y in zip(a, b)], DTYPE[t]))
    for op, f in [("==", np.equal), ("!=", np.not_equal), ("<", np.less), ("<=", np.less_equal), (">", np.greater), (">=", np.greater_equal)]:
        names = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
        case(names[op], "{0} %s {1}" % op, ARITH, lambda t, a, b, f=f: f(a, b).astype(np.uint8), BOOL)
    case("select", "select({0} < {1}, {0}, {2})", ARITH, lambda t, a, b, c: np.where(a < b, a, c))
    case("isnan", "isnan({0})", ANY_FLOAT, lambda t, a: np.isnan(a).astype(np.uint8), BOOL)
    case("isinf", "isinf({0})", ANY_FLOAT, lambda t, a: np.isinf(a).astype(np.uint8), BOOL)
    case("isfinite", "isfinite({0})", ANY_FLOAT, lambda t, a: np.isfinite(a).astype(np.uint8), BOOL)
    case("signbit", "signbit({0})", ANY_FLOAT, lambda t, a: np.signbit(a).astype(np.uint8), BOOL)
    case("copysign", "copysign({0}, {1})", ANY_FLOAT, lambda t, a, b: np.copysign(a, b))
    case("sqrt", "sqrt({0})", FLOATS, halves_once(np.sqrt))
    case("ceil", "ceil({0})", FLOATS, halves_once(np.ceil))
    case("floor", "floor({0})", FLOATS, halves_once(np.floor))
    case("trunc", "trunc({0})", FLOATS, halves_once(np.trunc))
    case("rint", "rint({0})", FLOATS, halves_once(np.rint))
    case("round", "round({0})", FLOATS, halves_once(lambda a: np.copysign(np.where(np.abs(a) < 2.0 ** 52,
         np.floor(np.abs(a)) + (np.abs(a) - np.floor(np.abs(a)) >= 0.5), np.abs(a)).astype(a.dtype), a)))
    case("fmod", "fmod({0}, {1})", FLOATS, halves_once(np.fmod))

    def long_of(f): return lambda t, *a: f(*[x.astype(np.longdouble) for x in a])
    try:
        from math import erf, erfc
    except ImportError:
        pass
    for name, f, ulp in [("exp", np.exp, 2), ("exp2", np.exp2, 2), ("log", np.log, 2), ("log2", np.log2, 2), ("log10", np.log10, 3),
                         ("log1p", np.log1p, 2), ("expm1", np.expm1, 2), ("sin", np.sin, 2), ("cos", np.cos, 2), ("tan", np.tan, 4),
                         ("asin", np.arcsin, 4), ("acos", np.arccos, 4), ("atan", np.arctan, 3), ("sinh", np.sinh, 4), ("cosh", np.cosh, 3),
                         ("tanh", np.tanh, 3), ("cbrt", np.cbrt, 4)]:
        case(name, name + "({0})", FLOATS, long_of(f), None, ulp)
    case("rsqrt", "rsqrt({0})", FLOATS, long_of(lambda a: 1 / np.sqrt(a)), None, 2)
    case("pow", "pow({0}, {1})", FLOATS, long_of(np.power), None, 4)
    case("square", "pow({0}, 2.0)", FLOATS, halves_once(np.square))
    case("atan2", "atan2({0}, {1})", FLOATS, long_of(np.arctan2), None, 4)
    case("hypot", "hypot({0}, {1})", FLOATS, long_of(np.hypot), None, 2)
    def by_element(f): return lambda t, a: np.array([f(float(v)) for v in a], np.float64)
    case("erf", "erf({0})", ["f16", "bf16", "f32"], by_element(erf), None, 3)
    case("erfc", "erfc({0})", ["f16", "bf16", "f32"], by_element(erfc), None, 6)
    case("fma", "fma({0}, {1}, {2})", ["f32"], lambda t, a, b, c: fma32(a, b, c))
    case("contract", "{0} * {1} + {2}", ["f32"], lambda t, a, b, c: fma32(a, b, c))
    for mode in ["toward_zero", "toward_negative", "toward_positive"]:
        for op, f in [("add", lambda a, b: a + b), ("mul", lambda a, b: a * b)]:
            case(f"{op}_{mode}", "%s({0}, {1}, rounding: %s)" % (op, mode), ["f32"],
                 lambda t, a, b, f=f, mode=mode: directed32(f, mode, a, b))


def fma32(a, b, c):
    """Exact through Fractions, rounded once."""
    from fractions import Fraction
    out = []
    for x, y, z in zip(*[v.astype(np.float64) for v in (a, b, c)]):
        with np.errstate(all="ignore"):
            plain = x * y + z
        if not np.isfinite(x) or not np.isfinite(y) or not np.isfinite(z):
            out.append(plain)
            continue
        v = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        out.append(round32(v) if v else plain)
    return np.array(out, np.float32)


def round32(v, mode="nearest"):
    """A non-zero Fraction as f32."""
    import math
    s, m = (-1, -v) if v < 0 else (1, v)
    e = max(m.numerator.bit_length() - m.denominator.bit_length(), -126)
    while m >= 2 ** (e + 1) if e >= 0 else m * 2 ** -e >= 2:
        e += 1
    while e > -126 and (m < 2 ** e if e >= 0 else m * 2 ** -e < 1):
        e -= 1
    from fractions import Fraction
    q = m / (Fraction(2) ** (e - 23))
    n, rest = q.numerator // q.denominator, q - q.numerator // q.denominator
    up = {"nearest": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and n & 1), "toward_zero": False,
          "toward_negative": s < 0 and rest > 0, "toward_positive": s > 0 and rest > 0}[mode]
    n += bool(up)
    if n >= 2 ** 24 and e >= 127 or e > 127:
        big = float(np.finfo(np.float32).max)
        stays = mode == "toward_zero" or (mode == "toward_negative" and s > 0) or (mode == "toward_positive" and s < 0)
        return np.float32(s * (big if stays else math.inf))
    return np.float32(s * math.ldexp(n, e - 23))


def directed32(f, mode, a, b):
    from fractions import Fraction
    out = []
    for x, y in zip(a, b):
        with np.errstate(all="ignore"):
            plain = f(np.float32(x), np.float32(y))
        if not np.isfinite(x) or not np.isfinite(y):
            out.append(plain)
            continue
        v = f(Fraction(float(x)), Fraction(float(y)))
        if v == 0:      # x + -x is -0 only when rounding down; products keep their sign
            exact_zero = plain == 0 and not (x == 0 or y == 0)
            out.append(np.float32(-0.0) if exact_zero and mode == "toward_negative" else (np.float32(0.0) if exact_zero else zero(plain, mode, x, y, f)))
        else:
            out.append(round32(v, mode))
    return np.array(out, np.float32)


def zero(plain, mode, x, y, f):
    if f(2, 3) == 5 and np.signbit(x) != np.signbit(y):        # 0 + -0
        return np.float32(-0.0) if mode == "toward_negative" else np.float32(0.0)
    return plain


def inputs(t, n, rng):
    """n operands: all pairs of special values, then random ones."""
    s = ref.specials(t)
    grid = np.stack(np.meshgrid(*[s] * min(n, 2), indexing="ij"), -1).reshape(-1, min(n, 2))
    cols = [grid[:, i] for i in range(grid.shape[1])]
    if n == 3:
        cols.append(rng.permutation(np.resize(s, len(grid))))
    return [np.ascontiguousarray(np.concatenate([c, ref.randoms(t, 777, rng)])) for c in cols]


def kernel(name, call, t, result, n):
    params = ", ".join(f"x{i}: tensor<{t}, [n]>" for i in range(n))
    loads = "".join(f"    let a{i} = x{i}.load([b], [64]);\n" for i in range(n))
    return (f"kernel {name}({params}, r: out tensor<{result}, [n]>) grid [cdiv(n, 64)] {{\n    let b = bid(0);\n{loads}"
            f"    r.store([b], {call.format(*[f'a{i}' for i in range(n)])});\n}}\n")


PART = (1, 1)     # which, of how many


def all_cases():
    return itertools.islice(every_case(), PART[0] - 1, None, PART[1])


def every_case():
    for op, (call, types, f, result, ulp) in CASES.items():
        n = 1 + max(i for i in range(3) if "{%d}" % i in call)
        for t in types:
            yield f"v_{op}_{t}", op, call, t, result or t, n, f, ulp


def unary_plus_promotes(t):
    return t


def source():
    return "".join(kernel(name, call, t, r, n) for name, _, call, t, r, n, _, _ in all_cases())


def run(lib, target):
    return runner.guarded("elementwise", lambda box: inside(lib, target, box))


def verdicts(lib, dev, before=lambda name: True, worst=None):
    """(name, None or what is wrong) of each case that `before` lets run."""
    rng = np.random.default_rng(7)
    for name, op, _, t, r, n, f, ulp in all_cases():
        a = inputs(t, n, rng)
        if not before(name):
            continue
        out = np.zeros(len(a[0]), DTYPE[r])
        try:
            got, = runner.call(lib, dev, name, [*a, out, ctypes.c_int64(len(out))], [n])
        except RuntimeError as e:
            yield name, str(e)
            continue
        with np.errstate(all="ignore"):
            want = f(t, *a)
            if ulp:
                slack = ulp if t in ("f32", "f64") else 0.5 + ulp / 256
                u = ref.ulps(r, got, want)
                ok = u <= slack
                if worst is not None: worst[op, t] = float(np.max(np.where(ok, u, 0)))
            else:
                ok = ref.same(r, got, want)
        i = int(np.argmin(ok))
        yield name, None if np.all(ok) else f"{int(np.sum(~ok))} of {len(ok)}; first at {[str(v[i]) for v in a]}: got {got[i]}, want {want[i]}"


def inside(lib, target, box):
    lib, dev = runner.load(lib, target)
    failed = total = 0
    worst = {}

    def before(name):
        runner.say(box, name)
        return True
    for name, fault in verdicts(lib, dev, before, worst):
        total += 1
        if fault:
            failed += 1
            print(f"FAILED {name}: {fault}")
    print(f"{runner.part_name('elementwise', *PART)}, target {target}: {total - failed} of {total} cases right")
    if "-v" in sys.argv:
        for (op, t), u in sorted(worst.items()):
            print(f"  {op:8} {t:5} {u:.3f} ulp")
    return failed


def main():
    global PART
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("what", choices=["emit", "build", "run", "test"])
    ap.add_argument("folder", nargs="?")
    ap.add_argument("--ctilec", default=os.environ.get("CTILEC", "build/ctilec"))
    ap.add_argument("--target", default="c")
    ap.add_argument("-v", action="store_true")
    ap.add_argument("--part", type=runner.part_of, default=PART, help="I/N: every N-th case from the I-th")
    ap.add_argument("--parts", type=int, default=1, help="emit and build: all of them, each with a text of its own")
    a = ap.parse_args()
    PART = a.part
    name = runner.part_name("elementwise", *PART)
    if a.what == "test":
        with tempfile.TemporaryDirectory() as d:
            sys.exit(run(runner.build(a.ctilec, a.target, source(), d, name), a.target) != 0)
    if a.what in ("emit", "build"):
        for i in range(1, a.parts + 1):
            PART = (i, a.parts)
            getattr(runner, a.what)(a.ctilec, a.target, source(), a.folder, runner.part_name("elementwise", *PART))
    else:
        sys.exit(run(os.path.join(a.folder, name + ".so"), a.target) != 0)


if __name__ == "__main__":
    main()
