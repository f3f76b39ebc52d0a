#!/usr/bin/env python3
"""Random programs that are right by construction, with the values they must give.

A kernel is made of statements over tiles and scalars (let, var, assignment, if, loops, functions, memory); each knows its text and
what it does to numpy arrays. Ints, and floats that are rounded once per operation, must come out bit for bit; sums and math within
bounds. Kernel I of seed S is always the same: `--seed S --first I --count 1` makes it again, `source` prints it.

Usage: programs.py test [--count N] [--seed S] [--first I] [--ctilec PATH]     C target: gcc takes it, values agree
       programs.py emulated [same options]      emitted CUDA on the host: values agree
       programs.py tile [same options]          CUDA Tile C++, interpreted (tests/tile): values agree
       programs.py nvcc [same options]          nvcc takes it, one architecture after another
       programs.py mutants [same options]       each kernel changed at one token: accepted, or located errors
       programs.py source [same options]        prints the kernels
"""
import argparse, os, random, re, shutil, subprocess, sys, tempfile
import numpy as np
import reference as ref
import runner
from reference import FLOATS, INTS
from runner import DTYPE
from suite import Call, Out, Suite

INTEGRAL = ["bool"] + INTS
ARITH = INTEGRAL + FLOATS
TERNARY, OR, AND, CMP, BOR, BXOR, BAND, SHIFT, SUM, PRODUCT, UNARY, POST = range(1, 13)       # levels of language.md 5


class V:
    """An expression: its text and how tight it binds, element type, shape (None: a scalar), and its value in an environment.
    loose: how far its value may be from the reference, relative; such a value only goes to memory."""
    def __init__(self, text, type, shape, f, level=POST, loose=0.0):
        self.text, self.type, self.shape, self.f, self.level, self.loose = text, type, shape, f, level, loose

    def at(self, level):
        return self.text if self.level >= level else f"({self.text})"

    @property
    def size(self):
        return int(np.prod(self.shape or (), dtype=np.int64))


def type_text(v):
    return v.type if v.shape is None else f"tile<{v.type}, {list(v.shape)}>"


# ---- arithmetic on arrays ----
def cast(a, s, t):
    if s == t:
        return a
    if s in INTEGRAL and t in INTS:
        return a.astype(DTYPE[t])
    if s in FLOATS and t in FLOATS and not ref.narrows(s, t):
        return a.astype(DTYPE[t])
    return ref.cast(a, s, t)


def once(f):
    """A float function, rounded once."""
    def g(t, *a):
        with np.errstate(all="ignore"):
            return np.asarray(f(*[x.astype(np.float64) if t in ("f16", "bf16") else x for x in a])).astype(DTYPE[t])
    return g


def wrapped(f):
    def g(t, *a):
        flat = np.broadcast_arrays(*a)
        return np.array([ref.wrap(int(f(*map(int, r))), t) if t != "bool" else int(f(*map(int, r)) != 0) for r in zip(*[x.reshape(-1) for x in flat])], dtype=object).astype(DTYPE[t]).reshape(flat[0].shape)
    return g


def flat(f):
    """A function of reference.py that takes rows of elements."""
    def g(t, *a):
        b = np.broadcast_arrays(*a)
        return np.asarray(f(t, *[x.reshape(-1) for x in b])).astype(DTYPE[t]).reshape(b[0].shape)
    return g


def either(i, f):
    return lambda t, *a: f(t, *a) if t in FLOATS else i(t, *a)


OPERATORS = {"+": (SUM, either(wrapped(lambda a, b: a + b), once(np.add))), "-": (SUM, either(wrapped(lambda a, b: a - b), once(np.subtract))),
             "*": (PRODUCT, either(wrapped(lambda a, b: a * b), once(np.multiply))), "/": (PRODUCT, either(wrapped(ref.tdiv), once(np.divide))),
             "%": (PRODUCT, either(wrapped(ref.trem), once(np.fmod)))}
BITS = {"&": (BAND, wrapped(lambda a, b: a & b)), "|": (BOR, wrapped(lambda a, b: a | b)), "^": (BXOR, wrapped(lambda a, b: a ^ b))}
COMPARE = {"==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
CALLS = {"min": flat(ref.minmax(False)), "max": flat(ref.minmax(True))}
INT_CALLS = {"ceildiv": wrapped(ref.cdiv), "floordiv": wrapped(ref.fdiv), "floormod": wrapped(ref.fmod_), "mulhi": flat(ref.mulhi(False)),
             "add_sat": flat(ref.saturate(lambda a, b: a + b)), "sub_sat": flat(ref.saturate(lambda a, b: a - b))}
INT_UNARY = {"popcount": flat(ref.popcount), "clz": flat(ref.clz), "ctz": flat(ref.ctz), "bitreverse": flat(ref.bitreverse)}
FLOAT_UNARY = {"sqrt": once(np.sqrt), "floor": once(np.floor), "ceil": once(np.ceil), "trunc": once(np.trunc), "rint": once(np.rint)}
FLOAT_TESTS = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "signbit": np.signbit}
MATH = {"exp": np.exp, "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "atan": np.arctan, "cbrt": np.cbrt, "expm1": np.expm1}


def truth(a):
    return (np.asarray(a) != 0).astype(np.uint8)


def fits(s, t, scalar_int_to_float=True):
    """May a value of type s become t by itself as an operand?"""
    return s == t or not ref.narrows(s, t) or (s in INTEGRAL and t in FLOATS and scalar_int_to_float)


def arith_type(a, b, types):
    """Element type of `a op b`, or None (language.md 4.2)."""
    if (a.shape is None) != (b.shape is None):
        t = a.type if a.shape is not None else b.type
    else:
        t = ref.common(a.type, b.type)
    return t if t in types and fits(a.type, t) and fits(b.type, t) else None


def compare_type(a, b):
    t = ref.common(a.type, b.type)
    return t if t and fits(a.type, t) and fits(b.type, t) else None


def joint(a, b):
    """The shape of both, None for two scalars, False where they do not fit."""
    if a.shape is None and b.shape is None:
        return None
    try:
        s = tuple(np.broadcast_shapes(a.shape or (), b.shape or ()))
    except ValueError:
        return False
    return s if np.prod(s, dtype=np.int64) <= 512 else False


def best_index(row, greatest):
    """Of the first greatest or least element; a NaN counts only where all are."""
    best = 0
    for i, v in enumerate(row):
        if row[best] != row[best] and v == v or (v > row[best] if greatest else v < row[best]):
            best = i
    return best


# ---- a kernel ----
class Kernel:
    def __init__(self, seed, number):
        self.rng = random.Random(f"{seed}/{number}")
        self.name = f"k{seed}_{number}"
        self.data = np.random.default_rng([seed, number])
        self.lines, self.steps, self.scope, self.params = [], [], [], []
        self.before = []                # functions
        self.count = 0
        self.depth = 1
        self.arrays, self.outs = {}, []
        self.contract = self.rng.random() < 0.25
        self.n = self.rng.choice([1, 7, 16, 33, 64, 100])
        self.tile = self.rng.choice([8, 16, 32, 64])
        self.blocks = -(-self.n // self.tile) if self.rng.random() < 0.6 else 1
        self.grid = "cdiv(n, %d)" % self.tile if self.blocks != 1 or self.n <= self.tile else "1"
        self.build()

    def fresh(self, kind="v"):
        self.count += 1
        return f"{kind}{self.count}"

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def pick(self, *kinds):
        return self.rng.choice(kinds)

    # ---- data ----
    def input(self, t, n):
        with np.errstate(all="ignore"):
            v = ref.randoms(t, n, self.data)
            special = ref.specials(t)
            keep = self.data.random(n) < 0.2
            v = np.where(keep, self.data.choice(special.astype(np.float64) if t == "bf16" else special, n), v.astype(np.float64) if t == "bf16" else v).astype(DTYPE[t])
            if t in INTS and self.data.random() < 0.5:
                lo, hi = ref.limits(t)
                v = self.data.integers(max(lo, -20), min(hi, 50), n).astype(DTYPE[t])
        return v

    # ---- making values ----
    def let(self, v, var=False):
        """Binds v to a name."""
        name = self.fresh("r" if var else "v")
        typed = ": " + type_text(v) if self.rng.random() < 0.4 else ""
        self.line(f"{'var' if var else 'let'} {name}{typed} = {v.text};")
        self.steps.append(lambda env, v=v, name=name: env.__setitem__(name, v.f(env)))
        got = V(name, v.type, v.shape, lambda env, name=name: env[name], loose=v.loose)
        got.var = var
        self.scope.append(got)
        return got

    def known(self, ok=lambda v: True):
        found = [v for v in self.scope if not v.loose and ok(v)]
        return self.rng.choice(found[-6:] if found and self.rng.random() < 0.6 else found) if found else None

    def scalar_literal(self, t):
        if t == "bool":
            b = self.pick("true", "false")
            return V(b, "bool", None, lambda env: np.uint8(b == "true"))
        if t in INTS:
            lo, hi = ref.limits(t)
            n = self.pick(0, 1, 2, 3, 5, 7, 10, 31, 100, hi, hi // 2)
            return V(f"{n}{t}", t, None, lambda env: np.asarray(n).astype(DTYPE[t]))
        x = self.pick("0.0", "1.0", "0.5", "2.0", "1.5", "0.1", "100.0", "3.75")
        return V(f"{x}{t}", t, None, lambda env: np.asarray(float(x)).astype(DTYPE[t]))

    def literal_for(self, v):
        """An untyped literal beside v: (text, value in the type of v)."""
        if v.type in FLOATS:
            x = self.pick("0.5", "2.0", "1", "3", "0.25", "10", "1e-3")
            return x, np.asarray(float(x)).astype(DTYPE[v.type])
        n = self.pick(0, 1, 2, 3, 7, 15, 100) if v.type != "bool" else self.pick(0, 1)
        return str(n), np.asarray(n).astype(DTYPE[v.type])

    def tile_of(self, ok=lambda v: True):
        return self.known(lambda v: v.shape is not None and v.type in ARITH and ok(v))

    def expression(self, depth=2):
        """Some value; at the least one that is in scope."""
        if depth <= 0 or self.rng.random() < 0.12:
            return self.known(lambda v: v.type in ARITH) or self.scalar_literal("i32")
        for _ in range(12):
            v = getattr(self, self.pick("arith", "arith", "arith", "bitwise", "compare", "logic", "call", "int_call", "unary", "unary", "shift_op", "choose", "conversion",
                                        "with_literal", "shape_op", "shape_op", "reduction", "scan_op", "make", "ternary", "sort_op", "pack_op", "reduce_fn", "one_element"))(depth - 1)
            if v is not None:
                return v
        return self.known(lambda v: v.type in ARITH)

    def pair(self, depth):
        """Two values; mostly of types that meet."""
        a, b = self.expression(depth), self.expression(depth)
        if not a.loose and not b.loose and compare_type(a, b) is None and self.rng.random() < 0.8:
            c = b
            b = V(f"element_cast({c.text}, {a.type})", a.type, c.shape, lambda env: cast(c.f(env), c.type, a.type))
        if joint(a, b) is False and self.rng.random() < 0.8:
            b = self.known(lambda v: v.type == a.type and v.shape == a.shape) or b
        return a, b

    def arith(self, depth):
        a, b = self.pair(depth)
        op = self.pick(*OPERATORS)
        t, s = arith_type(a, b, ARITH), joint(a, b)
        if a.loose or b.loose or t is None or s is False or (op == "%" and t in FLOATS):
            return None
        level, f = OPERATORS[op]
        return V(f"{a.at(level)} {op} {b.at(level + 1)}", t, s, lambda env: f(t, cast(a.f(env), a.type, t), cast(b.f(env), b.type, t)), level)

    def bitwise(self, depth):
        a, b = self.pair(depth)
        op = self.pick(*BITS)
        t, s = arith_type(a, b, INTEGRAL), joint(a, b)
        if a.loose or b.loose or t is None or s is False or a.type in FLOATS or b.type in FLOATS:
            return None
        level, f = BITS[op]
        return V(f"{a.at(level)} {op} {b.at(level + 1)}", t, s, lambda env: f(t, cast(a.f(env), a.type, t), cast(b.f(env), b.type, t)), level)

    def compare(self, depth):
        a, b = self.pair(depth)
        op = self.pick(*COMPARE)
        t, s = compare_type(a, b), joint(a, b)
        if a.loose or b.loose or t is None or s is False:
            return None
        f = COMPARE[op]
        return V(f"{a.at(CMP + 1)} {op} {b.at(CMP + 1)}", "bool", s, lambda env: truth(f(cast(a.f(env), a.type, t), cast(b.f(env), b.type, t))), CMP)

    def logic(self, depth):
        a, b = self.pair(depth)
        s = joint(a, b)
        if a.loose or b.loose or s is False:
            return None
        if self.rng.random() < 0.3:
            return V(f"!{a.at(UNARY)}", "bool", a.shape, lambda env: 1 - truth(a.f(env)), UNARY)
        op, level, f = self.pick(("&&", AND, np.logical_and), ("||", OR, np.logical_or))
        return V(f"{a.at(level)} {op} {b.at(level + 1)}", "bool", s, lambda env: truth(f(truth(a.f(env)), truth(b.f(env)))), level)

    def call(self, depth):
        a, b = self.pair(depth)
        t, s = arith_type(a, b, ARITH), joint(a, b)
        if a.loose or b.loose or t is None or s is False:
            return None
        name = self.pick(*CALLS)
        f = CALLS[name]
        return V(f"{name}({a.text}, {b.text})", t, s, lambda env: f(t, cast(a.f(env), a.type, t), cast(b.f(env), b.type, t)))

    def int_call(self, depth):
        a, b = self.pair(depth)
        t, s = arith_type(a, b, INTEGRAL), joint(a, b)
        if a.loose or b.loose or t is None or s is False or a.type in FLOATS or b.type in FLOATS:
            return None
        name = self.pick(*INT_CALLS)
        f = INT_CALLS[name]
        return V(f"{name}({a.text}, {b.text})", t, s, lambda env: f(t, cast(a.f(env), a.type, t), cast(b.f(env), b.type, t)))

    def unary(self, depth):
        a = self.expression(depth)
        if a.loose:
            return None
        t = a.type
        kind = self.rng.randrange(6)
        if kind == 0:
            f = either(wrapped(lambda x: -x), once(np.negative))
            return V(f"-{a.at(UNARY)}" if not a.text.startswith("-") else f"-({a.text})", t, a.shape, lambda env: f(t, a.f(env)), UNARY)
        if kind == 1:
            f = either(wrapped(abs), once(np.abs))
            return V(f"abs({a.text})", t, a.shape, lambda env: f(t, a.f(env)))
        if kind == 2 and t in INTEGRAL:
            f = wrapped(lambda x: ~x if t != "bool" else 1 - x)
            return V(f"~{a.at(UNARY)}", t, a.shape, lambda env: f(t, a.f(env)), UNARY)
        if kind == 3 and t in INTEGRAL:
            name = self.pick(*INT_UNARY)
            f = INT_UNARY[name]
            return V(f"{name}({a.text})", t, a.shape, lambda env: f(t, a.f(env)))
        if kind == 4 and t in FLOATS:
            name = self.pick(*FLOAT_UNARY)
            f = FLOAT_UNARY[name]
            return V(f"{name}({a.text})", t, a.shape, lambda env: f(t, a.f(env)))
        if kind == 5 and t in FLOATS:
            if self.rng.random() < 0.6:
                name = self.pick(*FLOAT_TESTS)
                f = FLOAT_TESTS[name]
                return V(f"{name}({a.text})", "bool", a.shape, lambda env: truth(f(a.f(env))))
            name = self.pick(*MATH)
            f = MATH[name]
            loose = {"f64": 1e-13, "f32": 1e-5, "f16": 4e-3, "bf16": 3e-2}[t]
            b = f"clamp({a.text}, -8, 8)"
            def g(env):
                x = CALLS["min"](t, CALLS["max"](t, a.f(env), np.asarray(-8).astype(DTYPE[t])), np.asarray(8).astype(DTYPE[t]))
                with np.errstate(all="ignore"):
                    return np.asarray(f(x.astype(np.float64))).astype(DTYPE[t])
            return V(f"{name}({b})", t, a.shape, g, loose=loose)
        return None

    def shift_op(self, depth):
        a, b = self.pair(depth)
        s = joint(a, b)
        if a.loose or b.loose or s is False or a.type in FLOATS or b.type in FLOATS:
            return None
        if a.shape is None and s is not None:
            return None
        op = self.pick("<<", ">>")
        t, n = a.type, ref.bits(a.type)
        f = wrapped((lambda x, y: x << (y % n)) if op == "<<" else (lambda x, y: x >> (y % n)))
        # the count is converted to the left operand's type first
        return V(f"{a.at(SHIFT)} {op} {b.at(SHIFT + 1)}", t, s, lambda env: f(t, *np.broadcast_arrays(a.f(env), cast(b.f(env), b.type, t))), SHIFT) if b.type == t else None

    def choose(self, depth):
        a = self.tile_of()
        if a is None:
            return None
        b = self.known(lambda v: v.shape == a.shape and v.type == a.type)
        c = self.expression(depth)
        if b is None or c.loose or joint(a, c) != a.shape:
            return None
        return V(f"select({c.text}, {a.text}, {b.text})", a.type, a.shape, lambda env: np.where(truth(c.f(env)), a.f(env), b.f(env)).astype(DTYPE[a.type]))

    def conversion(self, depth):
        a = self.expression(depth)
        t = self.pick(*ARITH)
        if a.loose:
            return None
        if a.shape is None and self.rng.random() < 0.5:
            return V(f"{t}({a.text})", t, None, lambda env: cast(a.f(env), a.type, t))
        return V(f"element_cast({a.text}, {t})", t, a.shape, lambda env: cast(a.f(env), a.type, t))

    def with_literal(self, depth):
        a = self.expression(depth)
        if a.loose or a.text[0].isdigit():
            return None
        op = self.pick("+", "-", "*")
        if a.type == "bool":
            return None
        text, value = self.literal_for(a)
        level, f = OPERATORS[op]
        if self.rng.random() < 0.5:
            return V(f"{a.at(level)} {op} {text}", a.type, a.shape, lambda env: f(a.type, a.f(env), value), level)
        return V(f"{text} {op} {a.at(level + 1)}", a.type, a.shape, lambda env: f(a.type, value, a.f(env)), level)

    def ternary(self, depth):
        c = self.known(lambda v: v.shape is None and v.type in ARITH)
        a = self.known(lambda v: v.type in ARITH)
        if c is None or a is None:
            return None
        b = self.known(lambda v: v.type == a.type and v.shape == a.shape)
        return V(f"{c.at(TERNARY + 1)} ? {a.at(TERNARY + 1)} : {b.at(TERNARY)}", a.type, a.shape, lambda env: a.f(env) if truth(c.f(env)) else b.f(env), TERNARY) if b else None

    def make(self, depth):
        kind = self.rng.randrange(4)
        shape = self.pick((8,), (16,), (4, 4), (2, 8), (1, 4), (1,), (), (2, 2, 2))
        n = int(np.prod(shape, dtype=np.int64))
        t = self.pick(*ARITH)
        if kind == 0:
            return self.filled(shape, t)
        if kind == 1:
            t = self.pick(*INTS)
            return V(f"iota({list(shape)}, {t})", t, shape, lambda env: np.arange(n).astype(DTYPE[t]).reshape(shape))
        if kind == 2:
            return V(f"arange({n}, 3, 2)", "i32", (n,), lambda env: (3 + 2 * np.arange(n)).astype(np.int32)) if n else None
        x = self.known(lambda v: v.shape is None and v.type == t)
        if x is None:
            return None
        return V(f"full({list(shape)}, {x.text}, {t})", t, shape, lambda env: np.full(shape, x.f(env), DTYPE[t]))

    def filled(self, shape, t):
        one = self.rng.random() < 0.5
        return V(f"{'ones' if one else 'zeros'}({list(shape)}, {t})", t, shape, lambda env: np.full(shape, int(one)).astype(DTYPE[t]))

    def shape_op(self, depth):
        a = self.tile_of() if self.rng.random() < 0.6 else self.expression(depth)
        if a is None or a.loose or a.shape is None:
            return None
        s, r = a.shape, len(a.shape)
        kind = self.rng.randrange(13)
        ax = self.rng.randrange(r) if r else 0
        T = DTYPE[a.type]
        if kind == 0:
            to = self.shape_for(a.size)
            return V(f"reshape({a.text}, {list(to)})", a.type, to, lambda env: a.f(env).reshape(to))
        if r == 0:
            return V(f"broadcast({a.text}, [4])", a.type, (4,), lambda env: np.broadcast_to(a.f(env), (4,)))
        if kind == 1 and a.size <= 64:
            to = (self.pick(1, 2, 4),) + tuple(self.pick(2, 4) if n == 1 else n for n in s)
            return V(f"broadcast({a.text}, {list(to)})", a.type, to, lambda env: np.broadcast_to(a.f(env), to)) if np.prod(to) <= 512 else None
        if kind == 2:
            order = list(range(r))
            self.rng.shuffle(order)
            return V(f"permute({a.text}, {order})", a.type, tuple(s[i] for i in order), lambda env: a.f(env).transpose(order))
        if kind == 3 and r >= 2:
            return V(f"transpose({a.text})", a.type, (s[1], s[0]) + s[2:], lambda env: a.f(env).swapaxes(0, 1))
        if kind == 4:
            b = self.known(lambda v: v.shape == s and v.type == a.type)
            to = s[:ax] + (2 * s[ax],) + s[ax + 1:]
            return V(f"cat({a.text}, {b.text}, {ax})", a.type, to, lambda env: np.concatenate([a.f(env), b.f(env)], ax)) if b and a.size <= 128 else None
        if kind == 5:
            to = tuple(max(1, n // self.pick(1, 2, 4)) for n in s)
            at = [self.rng.randrange(n // m) for n, m in zip(s, to)]
            cut = tuple(slice(i * m, i * m + m) for i, m in zip(at, to))
            return V(f"extract({a.text}, {list(to)}, {at})", a.type, to, lambda env: a.f(env)[cut])
        if kind == 6:
            b = self.known(lambda v: v.shape is not None and v.type == a.type and len(v.shape) == r and all(n % m == 0 for n, m in zip(s, v.shape)))
            if b is None:
                return None
            at = [self.rng.randrange(n // m) for n, m in zip(s, b.shape)]
            def put(env):
                x = np.array(a.f(env))
                x[tuple(slice(i * m, i * m + m) for i, m in zip(at, b.shape))] = b.f(env)
                return x
            return V(f"insert({a.text}, {b.text}, {at})", a.type, s, put)
        if kind == 7 and r < 4:
            ax = self.rng.randrange(r + 1)
            return V(f"expand({a.text}, {ax})", a.type, s[:ax] + (1,) + s[ax:], lambda env: np.expand_dims(a.f(env), ax))
        if kind == 8:
            return V(f"flip({a.text}, {ax})", a.type, s, lambda env: np.flip(a.f(env), ax))
        if kind == 9:
            n = self.rng.randrange(-s[ax], s[ax] + 1)
            return V(f"rotate({a.text}, {ax}, {n})", a.type, s, lambda env: np.roll(a.f(env), n, ax))
        if kind == 10:
            n = self.rng.randrange(-s[ax], s[ax] + 1)
            text, value = self.literal_for(a)
            def moved(env):
                x = a.f(env)
                y = np.full(s, value, T)
                k = s[ax]
                src = [slice(None)] * r
                dst = [slice(None)] * r
                src[ax], dst[ax] = (slice(0, k - n), slice(n, k)) if n >= 0 else (slice(-n, k), slice(0, k + n))
                y[tuple(dst)] = x[tuple(src)]
                return y
            return V(f"shift({a.text}, {ax}, {n}, {text})", a.type, s, moved) if a.type != "bool" else None
        if kind == 11:
            b = self.known(lambda v: v.shape == s and v.type == a.type)
            return V(f"join({a.text}, {b.text})", a.type, s + (2,), lambda env: np.stack([a.f(env), b.f(env)], -1)) if b and r < 5 and a.size <= 128 else None
        i = self.known(lambda v: v.shape is not None and v.shape == s and v.type in ("i32", "i64", "u32"))
        if i is None or a.type == "bool":
            return None
        text, value = self.literal_for(a)
        def taken(env):
            k = i.f(env).astype(object)
            inside = (k >= 0) & (k < s[ax])
            k = np.where(inside, k, 0).astype(np.int64)
            return np.where(inside.astype(bool), np.take_along_axis(np.asarray(a.f(env)), k, ax), np.asarray(0).astype(T)).astype(T)
        return V(f"gather({a.text}, {i.text}, {ax})", a.type, s, taken)

    def shape_for(self, n):
        out = []
        while n > 1 and len(out) < 3:
            k = self.pick(*[2 ** i for i in range(1, n.bit_length())])
            out.append(k)
            n //= k
        out.append(n)
        if len(out) > 1 and out[-1] == 1 and self.rng.random() < 0.7:
            out.pop()
        self.rng.shuffle(out)
        return tuple(out)

    def reduction(self, depth):
        a = self.tile_of() if self.rng.random() < 0.5 else self.expression(depth)
        if a is None or a.loose or not a.shape:
            return None
        s, t = a.shape, a.type
        ax = self.rng.randrange(len(s))
        to = s[:ax] + (1,) + s[ax + 1:]
        squeeze = self.rng.random() < 0.3
        name = self.pick("sum", "prod", "reduce_max", "reduce_min", "any_of", "all_of", "reduce_bitand", "reduce_bitor", "reduce_bitxor", "argmax", "argmin", "max_element", "min_element")
        loose, result = 0.0, t
        if name.startswith("reduce_bit"):
            if t in FLOATS:
                return None
            f = {"reduce_bitand": np.bitwise_and, "reduce_bitor": np.bitwise_or, "reduce_bitxor": np.bitwise_xor}[name]
            g = lambda x: f.reduce(x, ax, keepdims=True)
        elif name in ("any_of", "all_of"):
            result = "bool"
            g = lambda x: truth((np.any if name == "any_of" else np.all)(truth(x), axis=ax, keepdims=True))
        elif name in ("reduce_max", "reduce_min"):
            g = lambda x: self.fold(lambda p, q: flat(ref.minmax(name == "reduce_max"))(t, p, q), x, ax)
        elif name in ("sum", "prod"):
            if t in FLOATS:
                return None
            op = OPERATORS["+" if name == "sum" else "*"][1]
            g = lambda x: self.fold(lambda p, q: op(t, p, q), x, ax)
        else:
            if t == "bool":
                return None
            result = "i32" if name[:3] == "arg" else "u32"
            g = lambda x: np.apply_along_axis(best_index, ax, x.astype(np.float64) if t == "bf16" else x, "max" in name).reshape(s[:ax] + (1,) + s[ax + 1:])
        if squeeze:
            to = s[:ax] + s[ax + 1:]
        return V(f"{name}({a.text}, {ax}{', squeeze: true' if squeeze else ''})", result, to, lambda env: np.asarray(g(np.asarray(a.f(env)))).reshape(to).astype(DTYPE[result]), loose=loose)

    def fold(self, f, x, ax):
        parts = np.split(x, x.shape[ax], ax)
        r = parts[0]
        for p in parts[1:]:
            r = f(r, p)
        return r

    def reduce_fn(self, depth):
        a = self.tile_of(lambda v: v.type in INTS and v.shape)
        if a is None:
            return None
        ax = self.rng.randrange(len(a.shape))
        text, op, unit = self.pick(("p + q", "+", 0), ("p ^ q", "^", 0), ("p * q", "*", 1))
        f = (OPERATORS | BITS)[op][1]
        to = a.shape[:ax] + (1,) + a.shape[ax + 1:]
        return V(f"reduce({a.text}, {ax}, {unit}, fn(p, q) {text})", a.type, to, lambda env: self.fold(lambda p, q: f(a.type, p, q), np.asarray(a.f(env)), ax))

    def scan_op(self, depth):
        a = self.tile_of(lambda v: v.shape)
        if a is None or (a.type in FLOATS):
            return None
        ax = self.rng.randrange(len(a.shape))
        name, op, unit = self.pick(("cumsum", "+", 0), ("cumprod", "*", 1), ("partial_sum", "+", 0), ("partial_prod", "*", 1))
        f = OPERATORS[op][1]
        back, open_ = self.rng.random() < 0.3, self.rng.random() < 0.3
        def g(env):
            x = np.asarray(a.f(env))
            x = np.flip(x, ax) if back else x
            parts = np.split(x, x.shape[ax], ax)
            run, out = np.full(parts[0].shape, unit).astype(x.dtype), []
            for p in parts:
                if open_:
                    out.append(run)
                run = f(a.type, run, p)
                if not open_:
                    out.append(run)
            y = np.concatenate(out, ax)
            return np.flip(y, ax) if back else y
        words = (", direction: backward" if back else "") + (", exclusive: true" if open_ else "")
        return V(f"{name}({a.text}, {ax}{words})", a.type, a.shape, g)

    def sort_op(self, depth):
        a = self.tile_of(lambda v: v.shape and v.type in INTS)
        if a is None:
            return None
        ax = self.rng.randrange(len(a.shape))
        if self.rng.random() < 0.3 and a.size <= 64:
            bins = self.pick(4, 8, 16)
            return V(f"histogram({a.text}, {bins})", "i32", (bins,), lambda env: np.array([np.sum(np.asarray(a.f(env)).astype(object) == i) for i in range(bins)], np.int32))
        down = self.rng.random() < 0.4
        return V(f"sort({a.text}, {ax}{', descending: true' if down else ''})", a.type, a.shape,
                 lambda env: np.flip(np.sort(a.f(env), ax), ax) if down else np.sort(a.f(env), ax))

    def pack_op(self, depth):
        a = self.tile_of(lambda v: v.shape and v.type == "u8" and v.shape[-1] >= 2)
        if a is None:
            return None
        if self.rng.random() < 0.5:
            def packed(env):
                x = np.asarray(a.f(env))
                return ((x[..., 0::2] & 15) | (x[..., 1::2] << 4)).astype(np.uint8)
            return V(f"pack({a.text})", "u8", a.shape[:-1] + (a.shape[-1] // 2,), packed)
        signed = self.rng.random() < 0.5
        def unpacked(env):
            x = np.asarray(a.f(env))
            y = np.stack([x & 15, x >> 4], -1).reshape(a.shape[:-1] + (a.shape[-1] * 2,))
            return np.where(y > 7, y.astype(np.int16) - 16, y).astype(np.int8) if signed else y
        return V(f"unpack({a.text}, {'i4' if signed else 'u4'})", "i8" if signed else "u8", a.shape[:-1] + (a.shape[-1] * 2,), unpacked) if a.size <= 128 else None

    def one_element(self, depth):
        """A tile of one element as a scalar."""
        a = self.tile_of(lambda v: v.size == 1)
        if a is None:
            return None
        t = self.pick(a.type, *ARITH)
        return V(f"{t}({a.text})", t, None, lambda env: cast(np.asarray(a.f(env)).reshape(()), a.type, t))

    # ---- statements ----
    def statement(self):
        kind = self.rng.randrange(14)
        if kind < 6:
            v = self.expression(3)
            if v.loose:
                self.store(v)
            else:
                self.let(v, self.rng.random() < 0.4)
        elif kind in (6, 7):
            self.assign()
        elif kind == 8 and self.depth < 3:
            self.loop()
        elif kind == 9 and self.depth < 3:
            self.branch()
        elif kind == 10:
            self.function()
        elif kind == 11:
            self.split()
        elif kind == 12:
            self.product()
        else:
            self.element()

    def assign(self):
        r = self.known(lambda v: getattr(v, "var", False))
        if r is None:
            return
        v = self.known(lambda v: v.type == r.type and v.shape == r.shape)
        if self.rng.random() < 0.5:
            op = self.pick(*OPERATORS)
            e = self.known(lambda v: v.type in ARITH and arith_type(r, v, ARITH) == r.type and joint(r, v) == r.shape)
            if e is None or (op == "%" and r.type in FLOATS):
                return
            f = OPERATORS[op][1]
            self.line(f"{r.text} {op}= {e.text};")
            self.steps.append(lambda env: env.__setitem__(r.text, f(r.type, np.asarray(r.f(env)), cast(e.f(env), e.type, r.type))))
            return
        e = self.expression(2)
        if e.loose or e.type != r.type or e.shape != r.shape:
            e = v
        self.line(f"{r.text} = {e.text};")
        self.steps.append(lambda env: env.__setitem__(r.text, np.array(e.f(env))))

    def body(self, make):
        """Statements in a block of their own: gives what runs them."""
        steps, scope = self.steps, self.scope
        self.steps, self.scope = [], list(scope)
        self.depth += 1
        make()
        self.depth -= 1
        inner, self.steps, self.scope = self.steps, steps, scope
        def run(env):
            for s in inner:
                s(env)
        return run

    def loop(self):
        i = self.fresh("c")
        rounds = self.rng.randrange(0, 4)
        first, step = self.rng.randrange(-2, 3), self.rng.randrange(1, 4)
        end = first + rounds * step - self.rng.randrange(0, step) if rounds else first
        const = self.rng.random() < 0.3
        zero = "" if const or self.rng.random() < 0.5 else "zero + "       # known at run time only
        stop = self.known(lambda v: v.shape is None and v.type == "bool") if not const and self.rng.random() < 0.3 else None
        way = self.pick("break", "continue")
        self.line(f"for {'const ' if const else ''}{i} in {zero}{first} .. {zero}{end}{f' step {step}' if step > 1 else ''} {{")
        counter = V(f"i32({i})" if const else i, "i32", None, lambda env: env[i])      # of an unrolled loop: a constant without a type
        holder = {}
        def make():
            self.scope.append(counter)
            for _ in range(self.rng.randrange(1, 4)):
                self.pick(self.assign, self.assign, self.one_let, self.loop if self.depth < 3 else self.assign, self.branch if self.depth < 4 else self.assign)()
            if stop:
                self.line(f"if {stop.text} {{ {way}; }}")
                def leave(env):
                    if truth(stop.f(env)):
                        raise holder["leave"]
                self.steps.append(leave)
                self.assign()
        class Leave(Exception):
            """of this loop"""
        holder["leave"] = Leave
        run = self.body(make)
        self.line("}")
        def go(env):
            for k in range(first, end, step):
                env[i] = np.int32(k)
                try:
                    run(env)
                except Leave:
                    if way == "break":
                        break
        self.steps.append(go)

    def one_let(self):
        v = self.expression(2)
        if not v.loose:
            self.let(v)

    def branch(self):
        c = self.known(lambda v: v.shape is None and v.type in ARITH)
        if c is None:
            return
        if self.rng.random() < 0.5:
            t, k = c.type, self.scalar_literal("i32")
            if t in INTS and compare_type(c, k):
                u = compare_type(c, k)
                d = c
                c = V(f"{d.text} > {k.text}", "bool", None, lambda env: truth(cast(d.f(env), d.type, u) > cast(k.f(env), "i32", u)), CMP)
        self.line(f"if {c.text} {{")
        then = self.body(lambda: [self.pick(self.assign, self.assign, self.one_let)() for _ in range(2)])
        self.line("} else {")
        other = self.body(lambda: [self.pick(self.assign, self.assign, self.one_let)() for _ in range(2)])
        self.line("}")
        self.steps.append(lambda env: (then if truth(c.f(env)) else other)(env))

    def function(self):
        """A function of tiles whose shape and element type are its generics, called once or twice."""
        a = self.tile_of(lambda v: v.shape and v.type in INTS + FLOATS)
        if a is None:
            return
        name = f"{self.name}_{self.fresh('f')}"
        kind = self.rng.randrange(4)
        if kind == 0:
            self.before.append(f"fn {name}<T: arith, S: shape>(x: tile<T, S>, y: tile<T, S>) -> tile<T, S> {{ return select(x < y, x, y); }}\n")
            b = self.known(lambda v: v.shape == a.shape and v.type == a.type)
            self.let(V(f"{name}({a.text}, {b.text})", a.type, a.shape, lambda env: np.where(a.f(env) < b.f(env), a.f(env), b.f(env)).astype(DTYPE[a.type])))
        elif kind == 1:
            self.before.append(f"fn {name}(x: tile<T, S>, up: bool) -> tile<T, S> {{\n    if up {{ return max(x, 1); }}\n    return -x;\n}}\n")
            c = self.known(lambda v: v.shape is None and v.type == "bool") or self.scalar_literal("bool")
            one = np.asarray(1).astype(DTYPE[a.type])
            neg = either(wrapped(lambda x: -x), once(np.negative))
            self.let(V(f"{name}({a.text}, {c.text})", a.type, a.shape, lambda env: CALLS["max"](a.type, np.asarray(a.f(env)), one) if truth(c.f(env)) else neg(a.type, np.asarray(a.f(env)))))
        elif kind == 2:
            self.before.append(f"fn {name}<N: int = 3>(x: tile<T, S>) -> (tile<bool, S>, i32) {{ return (x == N, N + 1); }}\n")
            p, q = self.fresh(), self.fresh()
            n = self.pick("", ", N: 5")
            want = 5 if n else 3
            self.line(f"let ({p}, {q}) = {name}({a.text}{n});")
            def take(env):
                env[p], env[q] = truth(np.asarray(a.f(env)) == np.asarray(want).astype(DTYPE[a.type])), np.int32(want + 1)
            self.steps.append(take)
            self.scope += [V(p, "bool", a.shape, lambda env: env[p]), V(q, "i32", None, lambda env: env[q])]
        else:
            self.before.append(f"fn {name}<T: arith>(x: tile<T, S>) -> tile<i32, S> {{\n    if const T == f32 {{ return element_cast(x, i32); }} else {{ return element_cast(x, i32) + 1; }}\n}}\n")
            add = OPERATORS["+"][1]
            self.let(V(f"{name}({a.text})", "i32", a.shape, lambda env: cast(np.asarray(a.f(env)), a.type, "i32") if a.type == "f32" else add("i32", cast(np.asarray(a.f(env)), a.type, "i32"), np.int32(1))))

    def split(self):
        a = self.tile_of(lambda v: v.shape and v.shape[-1] == 2)
        if a is None:
            return
        p, q = self.fresh(), self.fresh()
        self.line(f"let ({p}, {q}) = split({a.text});")
        def take(env):
            x = np.asarray(a.f(env))
            env[p], env[q] = x[..., 0], x[..., 1]
        self.steps.append(take)
        self.scope += [V(p, a.type, a.shape[:-1], lambda env: env[p]), V(q, a.type, a.shape[:-1], lambda env: env[q])]

    def product(self):
        """i8 or f16 with f32: exact where the factors are small whole numbers."""
        a = self.tile_of(lambda v: v.shape and len(v.shape) == 2 and v.size <= 256)
        b = self.tile_of(lambda v: v.shape and len(v.shape) == 2 and a is not None and v.shape[0] == a.shape[1] and v.size <= 256)
        if a is None or b is None:
            return
        t, acc, op = self.pick(("i8", "i32", "%"), ("f16", "f32", "&"), ("u8", "i32", "%"), ("bf16", "f32", "&"), ("f32", "f32", "&"), ("f64", "f64", "&"))
        def small(v):
            n = self.fresh()
            self.line(f"let {n} = element_cast(element_cast({v.text}, i32) % 8, {t});")
            def g(env):
                x = cast(np.asarray(v.f(env)), v.type, "i32")
                y = wrapped(ref.trem)("i32", x, np.int32(8))
                env[n] = cast(y, "i32", t)
            self.steps.append(g)
            return n
        p, q = small(a), small(b)
        to = (a.shape[0], b.shape[1])
        self.let(V(f"mma({p}, {q}, zeros({list(to)}, {acc}))", acc, to, lambda env: (env[p].astype(np.float64) @ env[q].astype(np.float64)).astype(DTYPE[acc])))

    def element(self):
        """One element of a tensor that is read, at an index that may lie outside."""
        name, t, n = self.rng.choice(self.inputs)
        i = self.known(lambda v: v.shape is None and v.type in ("i32", "i64", "u8", "i16"))
        if i is None:
            return
        def g(env):
            k = int(i.f(env))
            return self.arrays[name].reshape(-1)[k] if 0 <= k < n else np.asarray(0).astype(DTYPE[t])
        self.let(V(f"{name}[{i.text}]", t, None, g))

    # ---- memory ----
    def loads(self):
        self.inputs = []
        self.types = [self.pick(*ARITH), self.pick(*ARITH), self.pick("f32", "i32", "f16", "u8")]
        for _ in range(self.rng.randrange(2, 5)):
            t = self.pick(*self.types)
            name = self.fresh("x")
            self.inputs.append((name, t, self.n))
            self.params.append(f"{name}: tensor<{t}, [n]>")
            self.arrays[name] = self.input(t, self.n)
        for name, t, n in self.inputs:
            N = self.tile
            x = self.arrays[name]
            kind = self.rng.randrange(5)
            pad, value = "", np.asarray(0).astype(DTYPE[t])
            if self.rng.random() < 0.5 and t != "bool":
                v = self.scalar_literal(t)
                pad, value = f", pad: {v.text}", np.asarray(v.f({}))
            at = lambda env: env["b"] * N
            text = f"{name}.load([b], [{N}]{pad})"
            if kind == 0:
                off = self.rng.randrange(-3, 6)
                at = lambda env, off=off: env["b"] * N + off
                text = f"{name}.load_at([b * {N} + {off}], [{N}]{pad})" if off >= 0 else f"{name}.load_at([b * {N} - {-off}], [{N}]{pad})"
            elif kind == 1:
                text = f"{name}.partition([{N}]).load([b]{pad})"
            elif kind == 2:
                text = f"{name}.gather([b * {N} + iota([{N}], i32)]{pad})"
            elif kind == 3:
                lo = self.rng.randrange(0, 4)
                hi = self.rng.randrange(0, n + 3)
                text = f"{name}.slice(0, {lo}, {hi}).load([b], [{N}]{pad})"
                def cut(env, x=x, lo=lo, hi=hi, value=value, t=t):
                    y = x[lo:hi] if hi > lo and lo < n else x[:0]
                    return self.window(y, env["b"] * N, N, value, t)
                self.let(V(text, t, (N,), cut))
                continue
            self.let(V(text, t, (N,), lambda env, x=x, at=at, value=value, t=t: self.window(x, at(env), N, value, t)))

    @staticmethod
    def window(x, at, n, value, t):
        k = at + np.arange(n)
        inside = (k >= 0) & (k < len(x))
        out = np.full(n, value, DTYPE[t])
        out[inside] = x[k[inside]]
        return out

    def store(self, v):
        """A tensor of its own: the tile of each block, flat."""
        name = self.fresh("y")
        size = v.size if v.shape is not None else 1
        self.params.append(f"{name}: out tensor<{v.type}, [{size * self.blocks}]>")
        if v.shape is None:
            self.line(f"{name}[b] = {v.text};")
        elif self.rng.random() < 0.2 and size > 1:
            self.line(f"{name}.scatter([b * {size} + iota([{size}], i32)], reshape({v.text}, [{size}]));")
        else:
            self.line(f"{name}.store([b], reshape({v.text}, [{size}]));" if v.shape != (size,) else f"{name}.store([b], {v.text});")
        self.outs.append((name, v, size))
        self.steps.append(lambda env: env["out"][name].__setitem__(env["b"], np.asarray(v.f(env)).astype(DTYPE[v.type]).reshape(-1)))

    # ---- all of it ----
    def build(self):
        self.line("let b = bid(0);")
        self.line("let zero = b - b;")
        self.scope.append(V("b", "i32", None, lambda env: np.int32(env["b"])))
        self.scope.append(V("n", "i32", None, lambda env: np.int32(self.n)))
        if self.rng.random() < 0.5:
            t = self.pick(*INTS, *FLOATS)
            self.scalar = (t, self.input(t, 1)[0])
            self.params.append(f"s: {t}")
            self.scope.append(V("s", t, None, lambda env: np.asarray(self.scalar[1])))
        else:
            self.scalar = None
        self.loads()
        for v in self.rng.sample(self.scope[-len(self.inputs):], self.rng.randrange(1, len(self.inputs) + 1)):
            self.let(v, var=True)
        if self.rng.random() < 0.6:
            self.let(self.pick(self.scalar_literal(self.pick("i32", "u32", "i64")), V("zero + 1", "i32", None, lambda env: np.int32(1), SUM)), var=True)
        for _ in range(self.rng.randrange(3, 9)):
            self.statement()
        ends = [v for v in self.scope if getattr(v, "var", False)][:3] + self.scope[-2:]
        for v in {id(v): v for v in ends}.values():
            if v.type in ARITH:
                self.store(v)
        if not self.outs:
            self.store(self.scope[0])

    def source(self):
        head = "" if self.contract else "@no_contract\n"
        return "".join(self.before) + f"{head}kernel {self.name}({', '.join(self.params)}) grid [{self.blocks if self.grid == '1' else self.grid}] {{\n" + "\n".join(self.lines) + "\n}\n"

    def run(self):
        """What each out tensor must hold."""
        out = {name: {} for name, _, _ in self.outs}
        with np.errstate(all="ignore"):
            for b in range(self.blocks):
                env = {"b": b, "out": out}
                for s in self.steps:
                    s(env)
        return {name: np.concatenate([rows[b] for b in range(self.blocks)]) for name, rows in out.items()}

    def calls(self):
        want = self.run()
        loose = {name: v.loose for name, v, _ in self.outs}
        args = []
        for p in self.params:
            name = p.split(":")[0]
            if name == "s":
                args.append(self.scalar[1] if self.scalar[0] != "bool" else bool(self.scalar[1]))
            elif name in want:
                w = want[name]
                bound = None
                if loose[name]:
                    bound = loose[name] * (np.abs(w.astype(np.float64)) + 1e-3)
                args.append(Out(w, bound=bound, accept=(lambda got: None) if self.contract else None, what=name))
            else:
                args.append(self.arrays[name])
        return [Call(self.name, *args, self.n)]


# ---- running ----
PER_FILE = 50
HERE = os.path.dirname(os.path.abspath(__file__))


def kernels(a):
    return [Kernel(a.seed, i) for i in range(a.first, a.first + a.count)]


def suite(found, per_file=PER_FILE):
    s = Suite("programs")
    s.groups = {f"{i // per_file}": [] for i in range(0, len(found), per_file)}
    for i, k in enumerate(found):
        s.add(k.name, k.source(), lambda rng, k=k: k.calls(), f"{i // per_file}")
    return s


def again(a, text):
    """Says how to make the kernels again whose names are in the text."""
    for seed, number in sorted(set(re.findall(r"\bk(\d+)_(\d+)\b", text)), key=lambda p: int(p[1]))[:5]:
        print(f"again: {os.path.basename(__file__)} {a.what} --seed {seed} --first {number} --count 1")


def build_all(s, a, target):
    """Each file; gives the number of files that do not build."""
    bad = 0
    for g in s.used():
        stem = os.path.basename(s.library(a.folder, g))[:-3]
        try:
            runner.build(a.ctilec, target, s.source(g), a.folder, stem)
        except subprocess.CalledProcessError:
            bad += 1
            for name, text, _, _ in [c for c in s.cases if c[3] == g]:
                try:
                    runner.build(a.ctilec, target, text, a.folder, "one")
                except subprocess.CalledProcessError:
                    print(f"FAILED to build {name} for target {target}:\n{text}")
                    again(a, name)
            s.cases = [c for c in s.cases if c[3] != g]
    return bad


# ---- nvcc ----
ARCHS = ["sm_80", "sm_89", "sm_90a", "sm_100", "sm_120"]


def nvcc(a, found):
    """Many kernels a file, one architecture after another; nothing may be said."""
    tool = os.environ.get("NVCC")
    if not tool:
        print("skipped: no nvcc")
        sys.exit(77)
    bad = 0
    s = suite(found, 20)
    for g in s.used():
        arch = ARCHS[(a.seed + int(g)) % len(ARCHS)]
        stem = os.path.join(a.folder, os.path.basename(s.library(a.folder, g))[:-3])
        with open(stem + ".tile", "w") as f:
            f.write(s.source(g))
        for line in ([a.ctilec, "-w", "--target=cuda", "--arch=" + arch, stem + ".tile", "-o", stem + ".cu"],
                     [tool, "-cubin", "-Xptxas", "-O0", "-Werror", "all-warnings", "-std=c++17", "-arch=" + arch, "-o", stem + ".cubin", stem + ".cu"]):
            r = subprocess.run(line, capture_output=True, text=True)
            if r.returncode or r.stdout.strip() or r.stderr.strip():
                bad += 1
                print(f"FAILED {os.path.basename(line[0])} for {arch}, exit {r.returncode}: {(r.stdout + r.stderr)[:3000]}")
                again(a, s.source(g))
                break
    return bad


# ---- mutants ----
TOKEN = re.compile(r"\w+(?:\.\d+)?|[-+*/%&|^<>=!]+|\s+|.", re.S)
OTHER = ["[", ")", "]", ",", "let", "x", "", "_", "[4]", "[2, 3]", "@", "inf", "fn", "b"]
KINDS = [("bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 f8e4m3 tf32").split(),
         "sum prod reduce_max any_of argmax cumsum sort flip expand permute reshape broadcast transpose histogram join split extract rotate".split(),
         "min max abs sqrt popcount clz exp isnan select fma mulhi add_sat floordiv zeros ones iota full arange".split(),
         "+ - * / % & | ^ << >> == != < <= > >= && ||".split()]
NUMBERS = "0 1 2 3 4 5 7 8 16 31 32 64 100 128 255 256 300 4096 65536 2147483648 1.5 0.1 7u8 1e39".split()


def exchanged(t, at, i, rng):
    """Another token for t[i]: mostly one of its kind, so that the checker and not the parser has to say no."""
    if rng.random() < 0.15:
        return rng.choice(OTHER)
    if t[i][0].isdigit():
        return rng.choice(NUMBERS)
    for kind in KINDS:
        if t[i] in kind:
            return rng.choice(kind)
    names = [t[k] for k in at if re.fullmatch(r"[a-z]\d+|[nbs]", t[k])]
    return rng.choice(names) if t[i] in names else rng.choice(OTHER)


PLACED = re.compile(r"[^:]+:[1-9]\d*:[1-9]\d*: (error|warning|note): .")


def mutants(a, found):
    """One token changed: whatever the compiler says has a place; what it accepts the C compiler takes."""
    bad = accepted = 0
    words = [w for w in open(os.path.join(HERE, "..", "diag", "forbidden-words")).read().split() if w != "internal"]
    taken = []
    for k in found:
        rng = random.Random(f"mutant/{k.name}")
        t = TOKEN.findall(k.source())
        at = [i for i, w in enumerate(t) if w.strip()]
        i = rng.choice(at)
        t[i] = exchanged(t, at, i, rng)
        text = "".join(t)
        path = os.path.join(a.folder, "m.tile")
        with open(path, "w") as f:
            f.write(text)
        target = rng.choice(["c", "cuda"])
        r = subprocess.run([a.ctilec, "-w", "--diagnostics=short", "--target=" + target, path, "-o", os.path.join(a.folder, "m." + target)], capture_output=True, text=True)
        lines = [l for l in r.stderr.splitlines() if not l.startswith((" ", "ctilec: stopped after"))]
        wrong = r.returncode not in (0, 1) or (r.returncode == 1 and not any(": error: " in l for l in lines)) or not all(PLACED.match(l) for l in lines)
        wrong = wrong or any(re.search(r"\b" + re.escape(w) + r"\b", r.stderr) for w in words if w[0].isalpha() and w not in text)
        if wrong:
            bad += 1
            print(f"FAILED mutant of {k.name}, exit {r.returncode}:\n{text}\n{r.stderr[:2000]}")
            again(a, k.name)
        accepted += r.returncode == 0
        if r.returncode == 0:
            taken.append((k.name, text))
    for name, text in taken:
        try:
            runner.build(a.ctilec, "c", text, a.folder, "taken", ["--line=off"])
        except subprocess.CalledProcessError:
            bad += 1
            print(f"FAILED to build an accepted mutant of {name}:\n{text}")
            again(a, name)
    print(f"{len(found)} mutants, {accepted} accepted, {bad} wrong")
    return bad


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("what", choices=["test", "emulated", "tile", "nvcc", "mutants", "source"])
    ap.add_argument("--count", type=int, default=100)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--first", type=int, default=0)
    ap.add_argument("--ctilec", default=os.environ.get("CTILEC", "build/ctilec"))
    a = ap.parse_args()
    a.ctilec = os.path.abspath(a.ctilec)
    found = kernels(a)
    if a.what == "source":
        for k in found:
            print(k.source())
        return
    print(f"seed {a.seed}, kernels {a.first} to {a.first + a.count - 1}", flush=True)
    with tempfile.TemporaryDirectory() as a.folder:
        if a.what in ("nvcc", "mutants"):
            bad = {"nvcc": nvcc, "mutants": mutants}[a.what](a, found)
        else:
            target = {"test": "c", "tile": "tile"}.get(a.what, "emulated")
            s = suite(found)
            bad = build_all(s, a, target)
            bad += s.run(a.folder, target)
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
