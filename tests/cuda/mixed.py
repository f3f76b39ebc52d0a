#!/usr/bin/env python3
"""Kernels drawn at random over all operations: tiles of one to four axes and up to 262,144 elements, products, scans, sorts, gathers,
atomics, views, moved and cast elements of every type, loops that carry several tiles, branches. Only results that every target must
agree in: no float sum that rounds. The C target, emitted CUDA emulated on the host and the simulator give the same values; with --arch tile
the C target and CUDA Tile C++, interpreted (tests/tile).

Kernel I of seed S is always the same: `--seed S --first I --count 1` makes it again, `source` prints it.

Usage: mixed.py test [--count N] [--seed S] [--first I] [--arch A] [--sim N] values; of N in a hundred files in the simulator, too
       mixed.py source [same options]           prints the kernels
"""
import argparse
import math
import os
import random
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), n) for n in ("run", "sim", "tile")] + [HERE]
import numpy as np
from common import CTILEC, run
from compare import DTYPE, anything, compare, equal
from drawn import ARCHS, Both, target_of

INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["f16", "bf16", "f32", "f64"]
KEPT = ["tf32", "f8e4m3", "f8e5m2"]             # are only moved, cast and multiplied
ALL = INTS + FLOATS + KEPT + ["bool"]
BITS = {t: 8 * np.dtype(d).itemsize for t, d in DTYPE.items()}


class V:
    """A value: its text, element type, shape (None: a scalar), and how great its whole numbers are at most (None: anything)."""
    def __init__(self, text, type, shape, most=None):
        self.text, self.type, self.shape, self.most = text, type, shape, most

    @property
    def size(self): return math.prod(self.shape)


def listed(shape): return "[%s]" % ", ".join(map(str, shape))


def joint(a, b):
    try: return tuple(map(int, np.broadcast_shapes(a, b)))
    except ValueError: return None


class Kernel:
    def __init__(self, seed, number):
        self.rng = random.Random("%d/%d" % (seed, number))
        self.name = "k%d_%d" % (seed, number)
        self.params, self.lines, self.values, self.scalars = [], [], [], []
        self.count, self.depth, self.head = 0, 1, ""
        self.most = self.pick(32, 256, 256, 2048, 2048, 8192, 16384, 65536, 65536, 262144)
        self.left = 5 if self.most > 65536 else 7 if self.most > 8192 else 10           # so many statements
        self.build()

    # ---- text ----
    def pick(self, *a): return self.rng.choice(a)
    def word(self, words): return self.rng.choice(words.split())
    def chance(self, p): return self.rng.random() < p
    def say(self, text): self.lines.append("    " * self.depth + text)

    def fresh(self, letter):
        self.count += 1
        return "%s%d" % (letter, self.count)

    def let(self, text, type, shape, most=None):
        name = self.fresh("v")
        self.say("let %s = %s;" % (name, text))
        self.values.append(V(name, type, tuple(shape), most))
        return self.values[-1]

    def param(self, letter, mode, type, shape, layout=""):
        name = self.fresh(letter)
        self.params.append("%s: %stensor<%s, [%s]%s>" % (name, mode, type, ", ".join(shape), layout))
        return name

    def text(self):
        params, body = ", ".join(self.params), "\n".join(self.lines)
        if ": i64" in params: body = re.sub(r"(iota\(\[[^]]*\], )i32", r"\1i64", body)
        return "%skernel %s(%s)\n    grid %s\n{\n%s\n}\n" % (self.head, self.name, params, listed(self.grid), body)

    # ---- values there are ----
    def some(self, ok=lambda v: True):
        found = [v for v in self.values if ok(v)]
        return self.rng.choice(found[-4:] if self.chance(0.6) else found) if found else None

    def typed(self, types, ok=lambda v: True):
        """A value of one of the types; cast to one where there is none."""
        v = self.some(lambda v: v.type in types and ok(v))
        if v and self.chance(0.85): return v
        v = self.some(ok)
        return v if not v or v.type in types else self.cast(v, self.pick(*types))

    def cast(self, v, type):
        if v.type == type: return v
        fits = v.most is not None and type != "bool" and self.holds(type, v.most)
        return self.let("element_cast(%s, %s)" % (v.text, type), type, v.shape, v.most if fits else None)

    @staticmethod
    def holds(type, most):
        """Are whole numbers from -most to most, or from 0 where the type has no sign, exact?"""
        top = {"f8e5m2": 8, "f8e4m3": 16, "bf16": 256, "f16": 2048, "f32": 2 ** 24, "tf32": 2 ** 11, "f64": 2 ** 53, "bool": 1}
        return most <= top[type] if type in top else most < 2 ** (BITS[type] - 1)

    def small(self, v, most, type):
        """Whole numbers from 0 to most, a power of two less 1, as type."""
        i = v if v.type in INTS else self.cast(v, self.pick("i32", "u8", "u16", "i64"))
        w = self.let("%s & %d" % (i.text, most), i.type, v.shape, most)
        if i.type[0] == "i" and self.chance(0.4) and type[0] != "u": w = self.let("%s - %d" % (w.text, most // 2), i.type, v.shape, most)
        return self.cast(w, type)

    def scalar(self):
        return self.pick(*self.scalars)

    def unknown(self):
        return self.rng.choice([s for s in self.scalars if not s.isdigit()])

    def ranked(self, v):
        return v if v.shape else self.let("reshape(%s, [1])" % v.text, v.type, (1,), v.most)

    def beside(self, v):
        """A value of the type of v whose shape meets that of v."""
        b = self.some(lambda b: joint(b.shape, v.shape) and math.prod(joint(b.shape, v.shape)) <= max(self.most, v.size))
        return self.cast(b, v.type) if b.type != v.type else b

    def literal(self, type):
        if type == "bool": return self.pick("true", "false")
        if type in INTS: return str(self.pick(0, 1, 2, 3, 7, 100, 127, 5))
        return self.pick("0.5", "2.0", "1.0", "0.25", "-1.5", "100.0", "0.0")

    # ---- statements: elementwise ----
    def arith(self):
        a = self.typed(INTS + FLOATS)
        b = self.literal(a.type) if self.chance(0.3) else self.beside(a)
        shape = a.shape if isinstance(b, str) else joint(a.shape, b.shape)
        b = b if isinstance(b, str) else b.text
        if a.type in INTS:
            op = self.word("+ - * / % & | ^ << >> min max add_sat sub_sat mulhi floordiv floormod ceildiv mulhi_signed")
            if op in ("<<", ">>") and shape != a.shape: op = "^"
        else: op = self.pick("+", "-", "*", "min", "max", "copy") if a.type != "f64" else self.pick("+", "-", "*", "/", "min", "max")
        if op == "copy": text = "fma(%s, %s, %s)" % (a.text, self.literal(a.type), a.text)
        else: text = "%s(%s, %s)" % (op, a.text, b) if op[0].isalpha() else "%s %s %s" % (a.text, op, b)
        if op == "copy": shape = a.shape
        if op in ("min", "max") and a.type in FLOATS and self.chance(0.3): text = text[:-1] + ", nan: propagate)"
        self.let(text, a.type, shape)

    def unary(self):
        a = self.typed(INTS + FLOATS)
        op = self.word("- abs ~ popcount clz ctz bitreverse" if a.type in INTS else "- abs floor ceil trunc rint round sqrt")
        self.let("%s(%s)" % (op, a.text), a.type, a.shape)

    def compared(self):
        a = self.typed(INTS + FLOATS)
        if a.type in FLOATS and self.chance(0.2):
            return self.let("%s(%s)" % (self.pick("isnan", "isinf", "isfinite"), a.text), "bool", a.shape)
        b = self.beside(a)
        self.let("%s %s %s" % (a.text, self.pick("<", "<=", ">", ">=", "==", "!="), b.text), "bool", joint(a.shape, b.shape))

    def selected(self):
        a = self.some()
        b = self.some(lambda b: b.shape == a.shape)
        b = self.cast(b, a.type)
        c = self.some(lambda c: c.type in INTS + ["bool"] and joint(c.shape, a.shape) == a.shape)
        if not c: return
        self.let("select(%s, %s, %s)" % (c.text, a.text, b.text), a.type, a.shape)

    def casted(self):
        a = self.some()
        type = self.pick(*ALL)
        if type == a.type: return
        if BITS[type] == BITS[a.type] and a.type in INTS and type != "bool" and self.chance(0.3):
            return self.let("element_bitcast(%s, %s)" % (a.text, type), type, a.shape)
        how = ""
        if a.type in FLOATS and type in INTS and self.chance(0.3):
            how = ", rounding: " + self.word("nearest_even toward_zero toward_negative toward_positive")
        self.let("element_cast(%s, %s%s)" % (a.text, type, how), type, a.shape)

    def random_bits(self):
        a = self.typed(["u32", "i32", "u64", "i64"])
        seed = self.pick("7", "12345", "i64(%s)" % self.scalar())
        if self.chance(0.5): self.let("rand(%s, %s)" % (seed, a.text), "f32", a.shape)
        else: self.let("randint(%s, %s)" % (seed, a.text), "u32", a.shape)

    # ---- statements: elements that move ----
    def shape_of(self, size):
        axes = [1] * self.pick(1, 2, 2, 3, 4)
        while size > 1:
            axes[self.rng.randrange(len(axes))] *= 2
            size //= 2
        return tuple(axes)

    def moved(self):
        a = self.ranked(self.some())
        s, r = list(a.shape), len(a.shape)
        ax = self.rng.randrange(r)
        n = s[ax]
        kind = self.word("reshape permute flip shift rotate cat extract extract insert join split pack unpack broadcast gather axis")
        if kind == "reshape":
            s = self.shape_of(a.size)
            self.let("reshape(%s, %s)" % (a.text, listed(s)), a.type, s, a.most)
        elif kind == "permute" and r > 1:
            axes = self.rng.sample(range(r), r)
            self.let("permute(%s, %s)" % (a.text, listed(axes)), a.type, [s[i] for i in axes], a.most)
        elif kind == "flip": self.let("flip(%s, %d)" % (a.text, ax), a.type, s, a.most)
        elif kind == "shift":
            self.let("shift(%s, %d, %d, %s)" % (a.text, ax, self.rng.randrange(-n, n + 1), self.literal(a.type)), a.type, s)
        elif kind == "rotate": self.let("rotate(%s, %d, %d)" % (a.text, ax, self.rng.randrange(-n, n + 1)), a.type, s, a.most)
        elif kind == "cat" and a.size * 2 <= self.most:
            b = self.some(lambda b: b.shape == a.shape)
            b = self.cast(b, a.type)
            s[ax] *= 2
            self.let("cat(%s, %s, %d)" % (a.text, b.text, ax), a.type, s)
        elif kind == "extract":
            parts = [self.pick(1, 1, 2, 4) if x >= 4 else 1 for x in s]
            t = [x // p for x, p in zip(s, parts)]
            at = [self.pick(self.unknown(), str(self.rng.randrange(p))) for p in parts]
            self.let("extract(%s, %s, %s)" % (a.text, listed(t), listed(at)), a.type, t, a.most)
        elif kind == "insert":
            b = self.some(lambda b: b.type == a.type and len(b.shape) == r and all(x <= y for x, y in zip(b.shape, s)))
            at = [self.pick(self.unknown(), str(self.rng.randrange(x // y))) for x, y in zip(s, b.shape)]
            self.let("insert(%s, %s, %s)" % (a.text, b.text, listed(at)), a.type, s)
        elif kind == "join" and a.size * 2 <= self.most and r < 4:
            b = self.cast(self.some(lambda b: b.shape == a.shape), a.type)
            self.let("join(%s, %s)" % (a.text, b.text), a.type, s + [2])
        elif kind == "split" and s[-1] == 2:
            one, two = self.fresh("v"), self.fresh("v")
            self.say("let (%s, %s) = split(%s);" % (one, two, a.text))
            self.values += [V(one, a.type, tuple(s[:-1]), a.most), V(two, a.type, tuple(s[:-1]), a.most)]
        elif kind == "pack" and s[-1] >= 2:
            a = self.cast(a, "u8")
            self.let("pack(%s)" % a.text, "u8", s[:-1] + [s[-1] // 2])
        elif kind == "unpack" and a.size * 2 <= self.most:
            to, type = self.pick(("u4", "u8"), ("i4", "i8"), ("f4e2m1", "f8e4m3"))
            a = self.cast(a, "u8")
            self.let("unpack(%s, %s)" % (a.text, to), type, s[:-1] + [s[-1] * 2])
        elif kind == "broadcast":
            ones = [i for i in range(r) if s[i] == 1]
            if self.chance(0.3) and r < 4: s = [1] + s; ones = [0]
            if not ones or a.size * 2 > self.most: return
            s[self.rng.choice(ones)] = 2 ** self.rng.randrange(1, int(math.log2(self.most // a.size)) + 1)
            self.let("broadcast(%s, %s)" % (a.text, listed(s)), a.type, s, a.most)
        elif kind == "gather":
            others = tuple(s[:ax] + s[ax + 1:])
            i = self.some(lambda i: i.type in ("i32", "i64", "u8", "i16", "u32") and i.shape[:ax] + i.shape[ax + 1:] == others)
            if not i or len(i.shape) != r: return
            top = min(2 * n - 1 if self.chance(0.2) else n - 1, 127)
            if self.chance(0.8) and n > 1: i = self.let("%s & %d" % (i.text, top), i.type, i.shape)
            self.let("gather(%s, %s, %d)" % (a.text, i.text, ax), a.type, i.shape)
        elif kind == "axis" and r < 4:
            s.insert(ax, 1)
            self.let("expand(%s, %d)" % (a.text, ax), a.type, s, a.most)

    # ---- statements: along axes ----
    def reduced(self):
        a = self.ranked(self.some(lambda a: a.size > 1) or self.some())
        if a.type in KEPT: a = self.cast(a, self.pick(*FLOATS))
        r = len(a.shape)
        axes = sorted(self.rng.sample(range(r), self.pick(1, 1, 1, self.rng.randrange(1, r + 1))))
        text = str(axes[0]) if len(axes) == 1 else listed(axes)
        squeeze = self.chance(0.3) and len(axes) < r
        s = [1 if i in axes else x for i, x in enumerate(a.shape) if not squeeze or i not in axes]
        end = ", squeeze: true)" if squeeze else ")"
        n = math.prod(a.shape[i] for i in axes)
        kind = self.pick("sum", "sum", "sum", "prod", "max", "min", "arg", "arg", "any", "bits", "own", "pair")
        if kind == "sum":
            if a.type == "f16" or a.type == "bf16" or a.type == "bool": a = self.cast(a, "f32")
            if a.type in FLOATS and (a.most is None or a.most * n >= 2 ** 24): a = self.small(a, 7, a.type)
            m = a.most * n if a.most is not None and self.holds(a.type, a.most * n) else None
            self.let("sum(%s, %s%s" % (a.text, text, end), a.type, s, m)
        elif kind == "prod":
            if a.type in FLOATS: a = self.let("select(%s > 1, full(%s, -1, %s), 1)" % (a.text, listed(a.shape), a.type), a.type, a.shape)
            self.let("prod(%s, %s%s" % (a.text, text, end), a.type, s)
        elif kind in ("max", "min"):
            if a.type == "bool": return
            how = ", nan: propagate" if a.type in FLOATS and self.chance(0.3) else ""
            self.let("reduce_%s(%s, %s%s%s" % (kind, a.text, text, how, end), a.type, s, a.most)
        elif kind == "arg":
            if a.type == "bool": return
            how = ", nan: propagate" if a.type in FLOATS and self.chance(0.3) else ""
            op, type = self.pick(("argmax", "i32"), ("argmin", "i32"), ("max_element", "u32"), ("min_element", "u32"))
            self.let("%s(%s, %s%s%s" % (op, a.text, text, how, end), type, s, n)
        elif kind == "any": self.let("%s(%s, %s%s" % (self.pick("any_of", "all_of"), a.text, text, end), "bool", s)
        elif kind == "bits":
            if a.type in FLOATS: a = self.cast(a, self.pick(*INTS))
            self.let("reduce_bit%s(%s, %s%s" % (self.pick("and", "or", "xor"), a.text, text, end), a.type, s)
        elif kind == "own":
            if a.type not in INTS: a = self.cast(a, self.pick(*INTS))
            # whose order matters: pairs of a product and a sum would need two tiles; the first that is not zero does not
            self.let("reduce(%s, %s, 0%s, fn(a, b) (a != 0 ? a : b)%s" % (a.text, text, a.type, end), a.type, s)
        else:
            a = self.cast(a, self.pick("i32", "u32", "i64")) if a.type not in ("i32", "u32", "i64") else a
            b = self.cast(self.some(lambda b: b.shape == a.shape), a.type)
            one, two = self.fresh("v"), self.fresh("v")
            self.say("let (%s, %s) = reduce((%s, %s), %s, (1%s, 0%s), fn(a, b, c, d) (a * c, c * b + d)%s;" %
                     (one, two, a.text, b.text, text, a.type, a.type, end))
            self.values += [V(one, a.type, tuple(s)), V(two, a.type, tuple(s))]

    def scanned(self):
        a = self.some(lambda a: a.size > 1)
        if not a: return
        ax = self.rng.randrange(len(a.shape))
        n = a.shape[ax]
        how = self.pick("", "", ", direction: backward", ", exclusive: true", ", direction: backward, exclusive: true")
        kind = self.pick("sum", "sum", "max", "min", "prod", "own", "pair")
        if a.type not in INTS + FLOATS: a = self.cast(a, self.pick(*INTS))
        if kind == "sum":
            if a.type in ("f16", "bf16"): a = self.cast(a, "f32")
            if a.type in FLOATS and (a.most is None or a.most * n >= 2 ** 24): a = self.small(a, 7, a.type)
            self.let("%s(%s, %d%s)" % (self.pick("cumsum", "partial_sum"), a.text, ax, how), a.type, a.shape)
        elif kind in ("max", "min"):
            if a.type in FLOATS and self.chance(0.3): how += ", nan: propagate"
            self.let("partial_%s(%s, %d%s)" % (kind, a.text, ax, how), a.type, a.shape)
        elif kind == "prod":
            if a.type in FLOATS: a = self.let("select(%s > 1, full(%s, -1, %s), 1)" % (a.text, listed(a.shape), a.type), a.type, a.shape)
            self.let("cumprod(%s, %d%s)" % (a.text, ax, how), a.type, a.shape)
        elif kind == "own":
            a = self.cast(a, self.pick(*INTS)) if a.type in FLOATS else a
            self.let("scan(%s, %d, 0%s, fn(a, b) (b != 0 ? b : a)%s)" % (a.text, ax, a.type, how), a.type, a.shape)
        else:
            a = self.cast(a, self.pick("i32", "u32", "i64", "i16")) if a.type in FLOATS else a
            f = self.some(lambda f: f.shape == a.shape)
            f = self.let("isfinite(%s)" % f.text, "bool", f.shape) if f.type in FLOATS else self.cast(f, "bool")
            one, two = self.fresh("v"), self.fresh("v")
            self.say("let (%s, %s) = scan((%s, %s), %d, (false, 0%s), fn(fa, a, fb, b) (fa || fb, fb ? b : a + b)%s);" %
                     (one, two, f.text, a.text, ax, a.type, how))
            self.values += [V(one, "bool", a.shape), V(two, a.type, a.shape)]

    def sorted(self):
        a = self.typed(INTS + FLOATS, lambda a: 1 < a.size <= 16384)           # longer ones take the emulation minutes
        if not a: return
        ax = self.rng.randrange(len(a.shape))
        kind = self.pick("sort", "sort", "topk", "histogram")
        if kind == "sort": self.let("sort(%s, %d%s)" % (a.text, ax, self.pick("", ", descending: true")), a.type, a.shape, a.most)
        elif kind == "topk":
            k = 2 ** self.rng.randrange(0, int(math.log2(a.shape[ax])) + 1)
            s = list(a.shape)
            s[ax] = k
            one, two = self.fresh("v"), self.fresh("v")
            self.say("let (%s, %s) = topk(%s, %d, %d);" % (one, two, a.text, k, ax))
            self.values += [V(one, a.type, tuple(s), a.most), V(two, "i32", tuple(s), a.shape[ax])]
        else:
            a = a if a.type in INTS else self.cast(a, self.pick(*INTS))
            bins = self.pick(1, 8, 64, 256)
            self.let("histogram(%s, %d)" % (a.text, bins), "i32", (bins,), a.size)

    def product(self):
        """Of small whole numbers, so that sums are exact."""
        m, n, k = [self.pick(1, 2, 4, 8, 16, 16, 32, 64, 128) for _ in range(3)]
        b = self.pick(0, 0, 0, 1, 2)
        if max(m * n, m * k, k * n) * max(b, 1) > self.most: return
        one, two, sum = self.pick("bf16 bf16 f32", "f16 f16 f32", "f16 f16 f16", "f32 f32 f32", "f64 f64 f64", "i8 i8 i32", "u8 i8 i32",
                                  "u8 u8 i32", "f8e4m3 f8e4m3 f32", "f8e5m2 f8e5m2 f32", "tf32 tf32 f32", "f8e4m3 f8e4m3 f16").split()
        top = 3 if sum == "f16" else 7
        batch = [b] if b else []
        x, y = [self.operand(batch + s, type, top) for s, type in (([m, k], one), ([k, n], two))]
        precision = self.pick("", "", ", precision: tf32", ", precision: tf32x3") if one == "f32" else ""
        add, shape = top * top * k, batch + [m, n]
        fits = lambda v: sum == "i32" or v.most is not None and self.holds(sum, v.most + add)
        old = self.some(lambda v: v.type == sum and v.shape == tuple(shape) and fits(v))
        most = None if old and old.most is None else add + (old.most if old else 0)
        plain = not old and not precision and (sum != "f32" or one in ("bf16", "tf32", "f32"))
        to = old.text if old else "full(%s, 0, %s)" % (listed(shape), sum)
        self.let("matmul(%s, %s)" % (x.text, y.text) if plain else "mma(%s, %s, %s%s)" % (x.text, y.text, to, precision), sum, shape, most)

    def operand(self, shape, type, most):
        v = self.some(lambda v: v.shape == tuple(shape))
        if not v: v = self.load(shape, self.pick(type, type, "i8", "i32") if type not in KEPT else "i8")
        return self.small(v, most, type)

    # ---- statements: memory ----
    def index(self):
        """A tile number along an axis: mostly one that all blocks together cover."""
        return self.pick("bid(0)", "bid(0)", "0", "bid(%d)" % self.rng.randrange(len(self.grid)), self.scalar())

    def numbers(self, shape, axis, text="iota([%d], i32)"):
        """0, 1, 2 ... along an axis."""
        return "reshape(%s, %s)" % (text % shape[axis], listed(n if i == axis else 1 for i, n in enumerate(shape)))

    def load(self, shape, type=None):
        """A tile of that shape, in one of many ways."""
        type = type or self.pick(*ALL)
        shape = list(shape)
        r = len(shape)
        if r > 3: return self.let("reshape(%s, %s)" % (self.load([math.prod(shape)], type).text, listed(shape)), type, shape)
        dims = self.rng.sample(["m", "n", "p"], r)
        way = self.word("load load load load_at load_at gather slice permute fixed strided partition left line pitch")
        pad = self.pick("", "", "", ", pad: %s" % self.literal(type)) if type != "bool" and type not in KEPT else ""
        at = listed(self.index() for _ in shape)
        if way == "load_at":
            at = ["%s%s" % (self.pick("%s * %d" % (self.index(), x), self.scalar()), self.pick("", " + 1", " - 3", " + 8")) for x in shape]
            text = "%s.load_at(%s, %s%s)" % (self.param("t", "", type, dims), listed(at), listed(shape), pad)
        elif way == "gather":
            x = self.param("t", "", type, dims)
            at = ["%s * %d + %s%s" % (self.index(), n, self.numbers(shape, i), self.pick("", "", " * 3", " & 5", " / 2"))
                  for i, n in enumerate(shape)]
            known = self.some(lambda v: v.type in ("i32", "u8", "i64") and len(v.shape) == r and joint(v.shape, shape) == tuple(shape))
            if known and self.chance(0.5): at[self.rng.randrange(r)] = known.text
            cast = known and known.text in at
            mask = None if cast else self.some(lambda v: v.type == "bool" and joint(v.shape, shape) == tuple(shape))
            text = "%s.gather(%s%s%s)" % (x, listed(at), ", mask: " + mask.text if mask and self.chance(0.7) else "", pad)
            if cast: text = "broadcast(%s, %s)" % (text, listed(shape))
        elif way == "slice":
            step = self.pick("", "", ", step: 2", ", step: 3")
            lo, hi = self.pick("0", "1", "3", self.scalar()), self.pick(dims[0], "20", "1000", self.scalar())
            view = "slice(%d, %s, %s%s)" % (self.rng.randrange(r), lo, hi, step)
            text = "%s.%s.load(%s, %s%s)" % (self.param("t", "", type, dims), view, at, listed(shape), pad)
        elif way == "permute" and r > 1:
            axes = self.rng.sample(range(r), r)
            text = "%s.permute(%s).load(%s, %s%s)" % (self.param("t", "", type, dims), listed(axes), at, listed(shape), pad)
        elif way == "fixed" and r < 3:
            more = self.rng.sample(["m", "n", "p"], r + 1)
            free = self.rng.randrange(r + 1)
            view = "[%s]" % ", ".join(self.scalar() if i == free else ":" for i in range(r + 1))
            text = "%s%s.load(%s, %s%s)" % (self.param("t", "", type, more), view, at, listed(shape), pad)
        elif way == "strided":
            steps, begin = listed(max(1, n + self.pick(-1, 0, 0, 3)) for n in shape), listed(self.pick(0, 0, -1, 2) for _ in shape)
            text = "%s.strided(%s, %s, %s).load(%s%s)" % (self.param("t", "", type, dims), listed(shape), steps, begin, at, pad)
        elif way == "partition":
            text = "%s.partition(%s).load(%s%s)" % (self.param("t", "", type, dims), listed(shape), at, pad)
        elif way == "pitch":
            strides = ["1"]
            for i in range(r - 1): strides.insert(0, "q" if i == 0 else "q * %s" % dims[-2])
            layout = self.pick(", layout_right_padded<%d>" % self.pick(4, 16), ", layout_left_padded<8>",
                               ", layout_strided<[%s]>" % ", ".join(strides) if r < 3 else "")
            text = "%s.load(%s, %s%s)" % (self.param("t", "", type, dims, layout), at, listed(shape), pad)
        elif way == "left": text = "%s.load(%s, %s%s)" % (self.param("t", "", type, dims, ", layout_left"), at, listed(shape), pad)
        elif way == "line" and r > 1:                   # a row or column of it
            ax = self.rng.randrange(r)
            line = [shape[i] if i == ax else 1 for i in range(r)]
            text = "%s.load([%s], [%d]%s)" % (self.param("t", "", type, ["n"]), self.index(), shape[ax], pad)
            text = "broadcast(reshape(%s, %s), %s)" % (text, listed(line), listed(shape))
        else: text = "%s.load(%s, %s%s)" % (self.param("t", "", type, dims), at, listed(shape), pad)
        return self.let(text, type, shape)

    def loaded(self):
        if len(self.params) > 9: return
        v = self.some() if self.values else None
        size = 2 ** self.rng.randrange(0, int(math.log2(self.most)) + 1)
        self.load(v.shape if v and v.shape and self.chance(0.6) else self.shape_of(size)[:3])

    def element(self):
        x = self.param("t", "", self.pick("i32", "i64", "u8", "i16"), ["m", "n"])
        name = self.fresh("s")
        self.say("let %s = i32(%s[%s, %s]);" % (name, x, self.scalar(), self.scalar()))
        self.scalars.append(name)

    def number(self):
        """A scalar made of a tile."""
        v = self.typed(INTS)
        name = self.fresh("s")
        self.say("let %s = i32(%s(%s)) & 15;" % (name, self.pick("sum", "reduce_max", "reduce_bitxor"), v.text))
        self.scalars.append(name)

    def counted(self):
        """An atomic whose result no order changes."""
        if len(self.params) > 9: return
        type = self.pick("i32", "u32", "i64", "u64")
        v = self.typed([type])
        i = self.typed(["i32", "u8", "i16"], lambda i: i.shape == v.shape)
        op = self.pick("add", "sub", "add") if self.chance(0.5) else self.pick("min", "max", "or", "and", "xor")
        mask = self.some(lambda c: c.type == "bool" and joint(c.shape, v.shape) == v.shape)
        u = self.param("a", "inout ", type, ["n"])
        mask = ", mask: " + mask.text if mask and self.chance(0.5) else ""
        if self.chance(0.5): self.say("%s.atomic_%s([%s], %s%s);" % (u, op, i.text, v.text, mask))
        else: self.say("%s.partition([%d]).atomic_%s([%s], reshape(%s, [%d]));" % (u, v.size, op, self.index(), v.text, v.size))

    def stored(self, v):
        """To a place of its own for each block; sometimes cut, sometimes scattered."""
        if len(self.params) > 11: return
        v = self.ranked(v)
        s = list(v.shape)
        if len(s) > 3 or self.chance(0.3):
            v, s = V("reshape(%s, [%d])" % (v.text, v.size), v.type, (v.size,)), [v.size]
        cut = self.pick("", "", "", " - 1", " + 3") if math.prod(s) > 1 else ""
        block, first = self.linear, ["%s * %d%s" % (self.blocks, s[0], cut)]
        rest = [self.pick(str(n), str(n), str(n + 1), "n", "p") for n in s[1:]]
        y = self.param("y", "out ", v.type, first + rest)
        at = [block] + ["0"] * len(rest)
        way = self.pick("store", "store", "store_at", "scatter", "left")
        if way == "store": self.say("%s.store(%s, %s);" % (y, listed(at), v.text))
        elif way == "store_at": self.say("%s.store_at([%s], %s);" % (y, ", ".join(["%s * %d" % (block, s[0])] + ["0"] * len(rest)), v.text))
        elif way == "left":
            self.params[-1] = self.params[-1][:-1] + ", layout_left>"
            self.say("%s.store(%s, %s);" % (y, listed(at), v.text))
        else:
            at = [self.numbers(s, i, self.pick("iota([%d], i32)", "iota([%d], i32)", "flip(iota([%d], i32), 0)")) for i in range(len(s))]
            at[0] = "%s * %d + %s" % (block, s[0], at[0])
            mask = self.some(lambda c: c.type == "bool" and joint(c.shape, tuple(s)) == tuple(s))
            self.say("%s.scatter(%s, %s%s);" % (y, listed(at), v.text, ", mask: " + mask.text if mask and self.chance(0.5) else ""))

    # ---- statements: control ----
    def inside(self, count):
        """Statements of a block: what they make is not known after it."""
        known, scalars = len(self.values), len(self.scalars)
        self.depth += 1
        self.statements(count)
        return known, scalars

    def leave(self, known, scalars):
        del self.values[known:], self.scalars[scalars:]
        self.depth -= 1
        self.say("}")

    def variables(self):
        out = []
        for _ in range(self.pick(1, 1, 2, 3)):
            v = self.some()
            if v.most is not None: v = V(v.text, v.type, v.shape)
            name = self.fresh("c")
            self.say("var %s: tile<%s, %s> = %s;" % (name, v.type, listed(v.shape), v.text))
            out.append(V(name, v.type, v.shape))
        return out

    def assign(self, variables):
        """Each gets something of its shape, mostly of what was made last."""
        for c in variables:
            if self.chance(0.15): continue
            v = self.some(lambda v: v.shape == c.shape and v.text != c.text) or c
            v = self.cast(v, c.type)
            if c.type in INTS and self.chance(0.7): self.say("%s = %s %s %s;" % (c.text, c.text, self.pick("+", "^", "-", "*"), v.text))
            elif c.type in FLOATS and self.chance(0.6): self.say("%s = %s(%s, %s);" % (c.text, self.pick("max", "min"), c.text, v.text))
            else: self.say("%s = %s;" % (c.text, v.text))

    def condition(self):
        return "%s %s %s" % (self.scalar(), self.pick("<", ">", "==", "!=", "<="), self.pick(self.scalar(), "1", "3", "0"))

    def looped(self):
        if self.depth > 2: return
        variables = self.variables()
        i = self.fresh("j")
        lo = self.pick("0", "1")
        hi = self.pick("3", "(%s & 3)" % self.scalar(), "min(cdiv(n, 32), 6)", "min(cdiv(m, 16), 6)", "1", "17 step 5")
        self.say("for %s in %s .. %s {" % (i, lo, hi))
        kept = len(self.values), len(self.scalars)
        self.values += variables
        self.scalars.append(i)
        known = self.inside(self.rng.randrange(1, 5))
        self.assign(variables)
        if self.chance(0.2): self.say("if %s { %s; }" % (self.condition(), self.pick("break", "continue")))
        if self.chance(0.3): self.assign(variables)
        self.leave(*known)
        del self.values[kept[0]:], self.scalars[kept[1]:]
        self.values += variables

    def branched(self):
        if self.depth > 3: return
        variables = self.variables()
        self.say("if %s {" % self.condition())
        known = self.inside(self.rng.randrange(0, 4))
        self.assign(variables)
        self.leave(*known)
        if self.chance(0.6):
            self.lines[-1] += " else {"
            known = self.inside(self.rng.randrange(0, 4))
            self.assign(variables)
            self.leave(*known)
        self.values += variables

    def statements(self, count):
        kinds = [self.arith] * 4 + [self.casted] * 3 + [self.moved] * 6 + [self.reduced] * 4 + \
                [self.compared, self.selected, self.scanned, self.product, self.loaded] * 2 + \
                [self.unary, self.sorted, self.element, self.number, self.counted, self.random_bits, self.looped, self.branched]
        for _ in range(count):
            if self.left <= 0: return
            self.left -= 1
            self.pick(*kinds)()

    def build(self):
        if self.chance(0.3):
            self.head = "@%s\n" % self.word("warps(1) warps(2) warps(4) warps(8) warps(32) cluster(2) cluster(4) cluster(8) cluster(16)")
        self.grid = self.pick(["cdiv(m, 16)"], ["2"], ["1"], ["cdiv(n, 64)"], ["2", "cdiv(n, 32)"], ["cdiv(m, 32)", "2"])
        self.blocks = " * ".join(self.grid)
        self.linear = "bid(0)" if len(self.grid) == 1 else "(bid(0) * num_blocks(1) + bid(1))"
        self.scalars = ["m", "n", "p", "bid(0)", "1", "0", "bid(0) + 1"]
        # dimensions are known by what they are in
        self.params.append("d0: tensor<i8, [%s]>" % ", ".join(d + self.pick(*[""] * 6, ": i64") for d in "mnp"))
        if self.chance(0.5): self.load(self.shape_of(self.most)[:3])
        for _ in range(self.pick(1, 2, 3)): self.loaded()
        self.statements(self.left)
        made = self.values[:]
        for v in self.rng.sample(made, min(len(made), 2)) + made[-4:]: self.stored(v)
        r = self.rng.randrange
        top = 3 if self.most > 8192 else 4
        sizes = (r(1, 40), r(1, 140), r(1, 20)), (32, 64, 16), (1, r(1, 9), 1), (5, r(100, 2000), 3)
        self.sizes = [dict(zip("mnp", size)) for size in sizes[:top]]
        if any("[q, 1]" in p for p in self.params):
            for size in self.sizes: size["q"] = max(size.values()) + self.pick(0, 1, 3, 8)
        self.phases = self.pick([0], [0], [0, 1, 5, 3, 16, 2, 7])


# ---- runs ----
BATCH = 6


def refused(k, *options):
    """What the compiler says to a kernel that it does not take: some need more shared memory than there is."""
    r = run([CTILEC, "-w", "--no-header", *options, "-", "-o", os.devnull], stdin=k.text().encode())
    return r.text if r.code == 1 else ""


def child(f):
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        import signal
        signal.alarm(300)
        bad = 1
        try: bad = f()
        finally:
            sys.stdout.flush()
            os._exit(bad != 0)
    return os.waitpid(pid, 0)[1] != 0


def calls(both, k):
    def of(target):
        rng = random.Random(k.name)
        os.environ["CTILE_SIM_SEED"] = str(rng.randrange(9))
        os.environ["EMU_CLUSTER_MOST"] = rng.choice(["8", "16"])
        orders = [str(rng.randrange(3))]
        return lambda: compare(both.host, target, [both.entries[k.name]], k.sizes, k.phases, orders, equal, make=anything)[1]
    bad = child(of(both.device))
    if bad: print("%s: emulated" % k.name)
    if both.simulator and child(of(both.simulator)):
        print("%s: simulated" % k.name)
        bad = True
    return bad


def test(o):
    bad, no, count = [], {}, 0
    kernels = [Kernel(o.seed, i) for i in range(o.first, o.first + o.count)]
    for first in range(0, len(kernels), BATCH):
        batch, level = [], random.Random(first).choice(["-O2", "-O2", "-O2", "-O0", "-O1", "-O3"])
        for k in kernels[first:first + BATCH]:
            why = refused(k, level, target_of(o.arch))
            if why: no.setdefault(why.split("error")[-1][:90].split("\n")[0], []).append(k.name)
            else: batch.append(k)
        if not batch: continue
        count += len(batch)
        with tempfile.TemporaryDirectory() as tmp:
            text = "\n".join(k.text() for k in batch)
            try: both = Both(tmp, text, o.arch, level)
            except SystemExit as e:
                print("a file of %s: %s" % (" ".join(k.name for k in batch), e))
                bad += [k.name for k in batch]
                continue
            if o.arch != "tile" and random.Random(first).random() * 100 < o.sim: both.simulate(tmp, o.arch)
            for k in batch:
                if calls(both, k): bad.append(k.name)
        sys.stdout.flush()
    for why, names in no.items(): print("refused %d: %s (%s)" % (len(names), why, names[0]))
    print("%d kernels, %d wrong%s" % (count, len(bad), ": " + " ".join(bad) if bad else ""))
    return 1 if bad or not count else 0


def source(o):
    print("\n".join(Kernel(o.seed, i).text() for i in range(o.first, o.first + o.count)))
    return 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument("step", choices=["test", "source"])
    p.add_argument("--count", type=int, default=8)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--sim", type=int, default=100)
    p.add_argument("--arch", default="sm_90a", choices=ARCHS)
    o = p.parse_args()
    sys.exit(globals()[o.step](o))


if __name__ == "__main__": main()
