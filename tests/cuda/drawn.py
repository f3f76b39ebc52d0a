#!/usr/bin/env python3
"""Kernels drawn at random, of the kinds that the passes of lower/ look for: rows of any length in tiles of one row or several, tiles of two
axes, stencils, permutations, loops along and across rows; with weights, masks, pads, labels, tensors that begin anywhere. The C target and
emitted CUDA, emulated on the host, must agree: bit for bit where all sums are exact, else closely. With --arch tile the kernels are CUDA
Tile C++ instead, interpreted (tests/tile).

Kernel I of seed S is always the same: `--seed S --first I --count 1` makes it again, `source` prints it.

Usage: drawn.py test [--count N] [--seed S] [--first I] [--arch A] [--only REGEX]      values; only of kernels whose CUDA text matches
           [--sim N]                            of N in a hundred files in the simulator, too
       drawn.py fired [same options]            which pass changes how many kernels, and which kinds of texts there are
       drawn.py source [same options]           prints the kernels
"""
import argparse
import collections
import json
import math
import os
import random
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE] + [os.path.join(os.path.dirname(HERE), n) for n in ("run", "sim", "tile")]
from common import BUILD, CTILEC, must
import emulation
from compare import Emulated, Interpreted, Target, compare, nearly
from simulated import Simulated

BATCH = 8                       # kernels in a file
ARCHS = ["sm_80", "sm_90a", "tile"]


def target_of(arch):
    """Options for it"""
    return "--target=cuda-tile" if arch == "tile" else "--arch=" + arch


LITERALS = {"f": ["0.5", "2", "-1", "0.25", "3", "-4"], "i": ["2", "-1", "3", "7", "-20", "1000003"]}


FULL, ROW, LINE = "full", "row", "line"


def joint(*values):
    """The shape of what is made of them."""
    shapes = {v.shape for v in values} - {None}
    return FULL if FULL in shapes or len(shapes) > 1 else shapes.pop() if shapes else None


class V:
    """A value: its text, its shape, how great it is at most, whether all targets must agree in its bits, and by which power of two it is
    a whole number (None: none that is known). Shapes: FULL, a tile; ROW, its reduction; LINE, what rows share; None, a literal."""
    def __init__(self, text, shape, most, exact=True, unit=0, zero=False):
        self.text, self.shape, self.most, self.exact, self.unit, self.used = text, shape, most, exact, unit, False
        self.zero = zero        # outside of its tensor

    @property
    def wide(self): return self.shape == FULL


class Kernel:
    def __init__(self, seed, number, kind=""):
        self.rng = random.Random("%d/%d" % (seed, number))
        self.name = "k%d_%d" % (seed, number)
        self.params, self.lines, self.values, self.exact = [], [], [], {}
        self.count, self.depth, self.where, self.head = 0, 1, "", ""
        self.type = self.pick("bf16", "bf16", "bf16", "f16", "f32", "f32", "f64", "i32", "i8", "i16", "u8")
        self.of_type(self.type)
        self.far = self.pick("", "", "", "", "", "", "m", "n")
        self.pitch = self.pick("layout_strided<[q, 1]>", "layout_right_padded<8>", "layout_right_padded<64>") if self.chance(0.15) else ""
        self.proper = False             # pads do not enter sums
        drawn = self.pick(*["rows"] * 4, "several_rows", "along", "down", "plane", "stencil", "line_of", "permuted")
        getattr(self, kind or drawn)()
        if any("[q, 1]" in p for p in self.params) and "q" not in self.sizes[0]:
            for size in self.sizes: size["q"] = size["n"] + self.pick(0, 0, 1, 3, -size["n"] % 8, -size["n"] % 64, 64)
        # some with infinities and NaN; with tensors that are aligned, begin at one phase, or anywhere
        anywhere = lambda n: [self.rng.randrange(16) for _ in range(n)]
        self.calls = [(size, self.chance(0.2), self.pick([0], [0], anywhere(1), anywhere(7))) for size in self.sizes]

    def of_type(self, type):
        self.type, self.whole = type, type[0] in "iu"
        self.work = "i32" if self.whole else "f64" if type == "f64" else "f32"

    # ---- text ----
    def pick(self, *a): return self.rng.choice(a)
    def chance(self, p): return self.rng.random() < p
    def say(self, text): self.lines.append("    " * self.depth + text)

    def fresh(self, letter):
        self.count += 1
        return "%s%d" % (letter, self.count)

    def let(self, v, letter="v"):
        name = self.fresh(letter)
        self.say("let %s = %s;" % (name, v.text))
        self.values.append(V(name, v.shape, v.most, v.exact, v.unit, v.zero))
        return self.values[-1]

    def param(self, letter, mode, type, shape):
        name = self.fresh(letter) if letter != "k" else "k"
        layout = ", " + self.pitch if self.pitch and shape == "m, n" and self.chance(0.6) else ""
        self.params.append("%s: %stensor<%s, [%s]%s>" % (name, mode, type, self.wide_dims(shape), layout))
        return name

    def wide_dims(self, shape):
        """A dimension may be declared to pass 2^31."""
        wide, self.far = self.far, ""
        return re.sub(r"\b%s\b" % wide, wide + ": i64", shape) if wide else shape

    def text(self):
        head = "%skernel %s(%s)\n    grid [%s]%s\n" % (self.head, self.name, ", ".join(self.params), self.grid, self.where)
        body = "\n".join(self.lines)
        if ": i64" in head: body = re.sub(r"(iota\(\[[^]]*\], )i32", r"\1i64", body)
        return head + "{\n%s\n}\n" % body

    # ---- loads and stores ----
    def as_work(self, text, type): return text if type == self.work else "element_cast(%s, %s)" % (text, self.work)
    @property
    def line(self): return self.shape if "," not in self.shape else "1," + self.shape.split(",")[1]

    def range_of(self, type):
        few = {"f32": (16, 2), "f64": (16, 2), "f8e4m3": (2, 1), "f8e5m2": (2, 1), "bool": (1, 0)}
        return few.get(type, (8, 0) if type[0] in "bf" else (100, 0))

    def another(self):
        """The type of a tensor beside those of the kernel's own type."""
        if self.whole or self.work == "f64" or self.chance(0.8): return self.type
        return self.pick("f8e4m3", "f8e5m2", "bool", "u8", "i8", "i16", "f16", "f32", "i32", "i64")

    def weights(self, name, type, at, wide):
        """What all rows of the tile share."""
        most, unit = self.range_of(type)
        pad = self.pick("", "", ", pad: 1")
        text = "reshape(%s.load([%s], [%d]%s), [%s])" % (name, at, wide, pad, self.line)
        shape = FULL if self.line == self.shape else ROW if self.axis == 0 else LINE
        return self.let(V(self.as_work(text, type), shape, most, True, unit, pad == ""), "x")

    def load(self, name, type, at, shape, kind=FULL):
        most, unit = self.range_of(type)
        pad = "" if self.proper else self.pick("", "", "", ", pad: 1", ", pad: 3" if type != "bool" else "")
        if at.startswith("+"): text = "%s.load_at([%s], [%s]%s)" % (name, at[1:], shape, pad)
        else: text = "%s.load([%s], [%s]%s)" % (name, at, shape, pad)
        return self.let(V(self.as_work(text, type), kind, most, True, unit, pad == ""), "x")

    def store(self, name, type, at, v, way="store"):
        text = v.text if type == self.work else "element_cast(%s, %s)" % (v.text, type)
        if v.text.startswith("full"): text = v.text
        self.say("%s.%s([%s], %s);" % (name, way, at, text))
        self.exact[name] = self.exact.get(name, True) and v.exact

    # ---- what is made of values ----
    def some(self, ok=lambda v: True):
        found = [v for v in self.values if ok(v)]
        new = [v for v in found if not v.used]
        if new and self.chance(0.6): found = new
        if not found: return None
        v = self.rng.choice(found[-5:] if self.chance(0.7) else found)
        v.used = True
        return v

    def result(self):
        """A tile that depends on much of what there is: what nothing has used yet comes together."""
        v = self.some(lambda v: v.wide)
        for other in [v for v in self.values if not v.used][-4:]:
            v = self.joined(v, other, self.pick("+", "-", "*", "max")) or v
        return v

    def mapped(self):
        a, b = self.some(), self.some()
        if self.chance(0.3):
            lit = self.pick(*LITERALS["i" if self.whole else "f"])
            b = V(lit, None, abs(float(lit)), True, 2)
        return self.joined(a, b, self.pick("+", "-", "*", "max", "min", "abs", "+", "*"))

    def joined(self, a, b, op):
        if op == "abs":
            return self.let(V("abs(%s)" % a.text, a.shape, a.most, a.exact, a.unit, a.zero))
        most = max(a.most, b.most) if op[0] == "m" else a.most * b.most if op == "*" else a.most + b.most
        if most > 3000 and not self.whole: return None
        unit = None if a.unit is None or b.unit is None else a.unit + b.unit if op == "*" else max(a.unit, b.unit)
        exact = a.exact and b.exact and (self.whole or op[0] == "m" or unit is not None and most * 2 ** unit < 2 ** 24)
        text = "%s(%s, %s)" % (op, a.text, b.text) if op[0] == "m" else "%s %s %s" % (a.text, op, b.text)
        zero = a.zero or b.zero if op == "*" else a.zero and b.zero
        return self.let(V(text, joint(a, b), most, exact, unit if exact else None, zero))

    def arm(self, v, shape):
        """An arm of a select: its text with the shape of the whole."""
        return v.text if v.shape in (shape, None) else "broadcast(%s, [%s])" % (v.text, self.shape)

    def masked(self):
        a = self.some(lambda v: v.wide)
        if not a: return None
        c = self.pick("< n", "< n", "< n / 2", "< n - 1") if self.proper else self.pick("< n", "< n", "< n", "!= 3", "== 5", "< n / 2", ">= n - 1")
        b = self.some(lambda v: v.exact) if self.chance(0.25) else None
        b = b if b else V(self.pick("0", "0", "0", "1", "-4" if self.type[0] != "u" else "4"), None, 4)
        unit = None if a.unit is None or b.unit is None else max(a.unit, b.unit)
        return self.let(V("select(%s %s, %s, %s)" % (self.numbers, c, a.text, self.arm(b, FULL)), FULL, max(a.most, b.most), a.exact and b.exact, unit,
                          c == "< n" and b.text == "0"), "m")

    def labelled(self):
        """One element of a row differs."""
        a, b = self.some(lambda v: v.wide), self.some()
        if not a or not b or not self.label or self.proper and self.chance(0.5): return None
        unit = None if a.unit is None or b.unit is None else max(a.unit, b.unit)
        one, other = (a, b) if self.chance(0.7) else (b, a)
        text = "select(%s == %s, %s, %s)" % (self.numbers, self.label, self.arm(one, FULL), self.arm(other, FULL))
        return self.let(V(text, FULL, max(a.most, b.most), a.exact and b.exact, unit))

    def dropped(self):
        """Some elements become zero, by their number."""
        a = self.some(lambda v: v.wide)
        if not a or not self.chance(0.5): return None
        if "," in self.shape:
            high = self.shape.split(",")[0]
            at = "(iota([%s, 1], i32) + bid(0) * %s) * n + %s" % (high, high, self.numbers)
        else: at = self.numbers
        text = "select(rand(%s, %s) %s, %s, 0)" % (self.pick("7", "i64(n)", "12345678901"), at, self.pick("> 0.25", "< 0.5"), a.text)
        return self.let(V(text, FULL, a.most, a.exact, a.unit, a.zero))

    def chosen(self):
        a, b, c = self.some(lambda v: v.exact), self.some(), self.some()
        if not a: return None
        unit = None if b.unit is None or c.unit is None else max(b.unit, c.unit)
        shape = joint(a, b, c)
        text = "select(%s %s 1, %s, %s)" % (a.text, self.pick(">", "<=", "=="), self.arm(b, shape), self.arm(c, shape))
        return self.let(V(text, shape, max(b.most, c.most), b.exact and c.exact, unit))

    def rounded(self):
        a = self.some()
        if self.whole or self.type == self.work or a.most > 500: return None
        return self.let(V("element_cast(element_cast(%s, %s), %s)" % (a.text, self.type, self.work), a.shape, a.most * 1.01, a.exact, None, a.zero))

    def reduced(self):
        a = self.some(lambda v: v.wide)
        if not a: return None
        if self.proper and not a.zero:
            a = self.let(V("select(%s < n, %s, 0)" % (self.numbers, a.text), FULL, a.most, a.exact, a.unit, True), "m")
        kind = self.pick("sum", "sum", "max", "min", "square", "soft", "count", "arg", "spread")
        ax, length = self.axis, self.length
        if kind in ("max", "min"):
            return self.let(V("reduce_%s(%s, %d)" % (kind, a.text, ax), ROW, a.most, a.exact, a.unit), "r")
        if kind == "count" and a.exact:
            return self.let(V("sum(element_cast(%s > 1, %s), %d)%s" % (a.text, self.work, ax, "" if self.whole else " * %r" % (1 / length)),
                              ROW, 1, True, 20), "r")
        if kind == "arg" and a.exact:
            at = V("%s(%s, %d)" % (self.pick("argmax", "argmin"), a.text, ax), ROW, length)
            if not self.whole: at = V("element_cast(%s, %s) * %r" % (at.text, self.work, 1 / length), ROW, 1, True, 20)
            return self.let(at, "r")
        if self.whole:
            return self.let(V("sum(%s, %d)" % (a.text, ax), ROW, a.most), "r")
        exact = a.exact and a.unit is not None and a.most * length * 2 ** a.unit < 2 ** 24
        if kind in ("sum", "count", "arg") and exact:
            return self.let(V("sum(%s, %d) * %r" % (a.text, ax, 1 / length), ROW, a.most, True, a.unit + length.bit_length()), "r")
        if kind == "soft" and a.most < 40:
            top = self.let(V("reduce_max(%s, %d)" % (a.text, ax), ROW, a.most, a.exact, a.unit), "r")
            e = self.let(V("exp(%s - %s)" % (a.text, top.text), FULL, 1, False, None), "e")
            s = self.let(V("sum(%s, %d)" % (e.text, ax), ROW, length, False, None), "r")
            self.values.remove(s)
            return self.let(V(self.pick("%s / %s" % (e.text, s.text), "%s * (1 / %s)" % (e.text, s.text)), FULL, 1, False, None))
        if kind == "spread" and a.most < 50 and length <= 16384:        # of longer rows the C target rounds the mean too much
            mean = self.let(V("sum(%s, %d) / n" % (a.text, ax), ROW, a.most, False, None), "r")
            d = self.let(V("%s - %s" % (a.text, mean.text), FULL, 400, False, None), "d")
            if self.proper: d = self.let(V("select(%s < n, %s, 0)" % (self.numbers, d.text), FULL, d.most, False, None, True), "m")
            s = self.let(V("rsqrt(sum(%s * %s, %d) / n + 0.5)" % (d.text, d.text, ax), ROW, 2, False, None), "r")
            return self.let(V("%s * %s" % (d.text, s.text), FULL, 200, False, None, d.zero))
        if kind == "square" and a.most < 50:
            s = V("sum(%s * %s, %d) / n" % (a.text, a.text, ax), ROW, min(a.most ** 2, 3000), False, None)
            if self.chance(0.6): s = V("rsqrt(%s + 0.5)" % s.text, ROW, 2, False, None)
            return self.let(s, "r")
        return self.let(V("sum(%s, %d) / n" % (a.text, ax), ROW, a.most, False, None), "r")

    def softened(self, name):
        """Powers of e of a row of which nothing is greater than 1."""
        x = self.let(V(self.as_work("%s.load([bid(0), 0], [%s], pad: -inf)" % (name, self.shape), self.type), FULL, 16), "x")
        e = self.let(V("exp(%s - reduce_max(%s, 1))" % (x.text, x.text), FULL, 1, False, None, True), "e")
        self.values.remove(x)
        s = self.let(V("sum(%s, 1)" % e.text, ROW, self.length, False, None), "r")
        self.values.remove(s)
        if self.chance(0.4):            # the loss; what is stored has a power of its own
            self.let(V("log(%s) + reduce_max(%s, 1)" % (s.text, x.text), ROW, 40, False, None), "r")
            e = self.values[-2]
            self.values.remove(e)
        return self.let(V(self.pick("%s / %s" % (e.text, s.text), "%s * (1 / %s)" % (e.text, s.text)), FULL, 1, False, None, True))

    def scanned(self):
        if self.proper: return None
        a = self.some(lambda v: v.wide and v.exact and (self.whole or v.unit is not None and v.most * self.length * 2 ** v.unit < 2 ** 24))
        if not a or not self.chance(0.3): return None
        return self.let(V("cumsum(%s, %d)%s" % (a.text, self.axis, "" if self.whole else " * %r" % (1 / self.length)), FULL, a.most, True,
                          0 if self.whole else a.unit + self.length.bit_length()))

    def statements(self, count):
        for _ in range(count):
            self.pick(self.mapped, self.mapped, self.mapped, self.masked, self.labelled, self.chosen, self.rounded, self.reduced, self.reduced,
                      self.scanned, self.dropped)()

    # ---- kinds of kernels ----
    def rows(self):
        tile = self.pick(8, 16, 32, 32, 128, 512, 1024, 1024, 2048, 2048, 4096, 8192, 16384, 32768, 32768, 65536, 65536, 131072, 262144)
        self.row_kernel(1, tile)

    def several_rows(self):
        self.row_kernel(self.pick(2, 4, 8, 16), self.pick(4, 8, 16, 32, 64, 128, 512, 2048))

    def row_kernel(self, high, tile):
        self.shape, self.length, self.axis = "%d, %d" % (high, tile), tile, 1
        self.grid = "m" if high == 1 else "cdiv(m, %d)" % high
        self.where = " where n <= %d" % tile
        self.attributes(high * tile, 16384)
        self.numbers = "iota([1, %d], i32)" % tile
        self.label = None
        if high == 1 and self.chance(0.35):
            self.param("k", "", "i32", "m")
            self.label = "k[bid(0)]"
        if high == 1 and self.chance(0.75):
            self.proper = True
            if tile >= 1024 and self.chance(0.6): self.of_type(self.pick("bf16", "bf16", "f16", "f32"))
        tensors = [(self.param("t", "", t, "m, n"), t) for t in [self.another() for _ in range(self.pick(0, 0, 1, 2))]]
        kept = self.param("u", "inout ", self.type, "m, n") if self.chance(0.4) or not tensors else None
        shared = self.pick(0, 0, 1, 1, 2, 3) if tile < 16384 else self.pick(0, 1, 2, 3, 3)
        weights = [(self.param("w", "", t, "n"), t) for t in [self.type if self.chance(0.85) else self.work for _ in range(shared)]]
        out = self.param("y", "out ", self.pick(self.type, self.type, self.work), "m, n") if self.chance(0.7) or not kept else None
        out_type = re.search(r"%s: out tensor<(\w+)" % out, " ".join(self.params)).group(1) if out else None
        scalar = self.param("s", "out ", self.work, "m, 1")
        for name, type in tensors + ([(kept, self.type)] if kept else []):
            off = self.pick(0, 0, 0, 0, 0, 1, -1, 3) if name != kept and not self.proper else 0
            row = self.pick("bid(0)", self.label, "%s %% m" % self.label) if self.label and name != kept and self.chance(0.4) else "bid(0)"
            self.load(name, type, "+bid(0) * %d, %d" % (high, off) if off else row + ", 0", self.shape)
        if self.proper and not self.whole and tensors and tensors[0][1] == self.type and self.chance(0.4):
            soft = self.softened(tensors[0][0])
            if self.chance(0.3): self.store(self.param("z", "out ", self.type, "m, n"), self.type, "bid(0), 0", soft)
        late = self.chance(0.8)
        if not late:
            for w, t in weights: self.weights(w, t, "0", tile)
        self.statements(self.rng.randrange(1, 5))
        self.reduced()
        if late:
            for w, t in weights: self.weights(w, t, "0", tile)
        if kept and self.chance(0.3):           # stored before the last wait
            self.store(kept, self.type, "bid(0), 0", self.result())
            kept = None
        self.statements(self.rng.randrange(1, 6))
        self.reduced()
        one = self.some(lambda v: v.shape == ROW)
        self.store(scalar, self.work, "bid(0), 0", one if one else V("full([%d, 1], 1, %s)" % (high, self.work), ROW, 1))
        if out: self.store(out, out_type, "bid(0), 0", self.result())
        if kept: self.store(kept, self.type, "bid(0), 0", self.result())
        r = self.rng.randrange
        lengths = {tile, max(tile - 1, 1), tile // 2 + 1, r(1, tile + 1), max(tile - r(1, 40), 1), max(8 * r(tile // 8 + 1), 1), 0 if r(8) == 0 else 1}
        some = self.rng.sample(sorted(lengths), min(len(lengths), 3 if tile > 20000 else 4))
        self.sizes = [{"m": r(1, 4 if tile > 4000 else 12 * high), "n": n} for n in some]
        if self.chance(0.1): self.sizes[0]["m"] = 0
        if self.chance(0.1 if tile > 4000 else 0.02 if tile > 64 else 0):               # clusters and blocks with many rows
            n = self.sizes[-1]["n"]
            self.sizes[-1]["m"] = min(r(100, 300), 900000 // (n + 1) + 1)
        if tile * high <= 64 and self.chance(0.1): self.sizes[-1] = {"m": self.pick(65535, 65536, 65537, 70001) * high, "n": r(1, 5 if high < 4 else 2)}

    def attributes(self, elements, least):
        """What an author may ask for: perhaps a cluster for tiles of at least so many elements, or warps."""
        if elements >= least and self.chance(0.25): self.head = "@cluster(%d)\n" % self.pick(2, 4, 8)
        elif elements >= least * 4 and self.chance(0.05): self.head = "@cluster(16)\n"
        elif elements >= 256 and self.chance(0.1): self.head = "@warps(%d)\n" % self.pick(1, 2, 4, 8)

    def plane(self):
        large = self.chance(0.25)
        high = self.pick(1, 16, 64, 128) if large else self.pick(1, 2, 4, 8, 16, 32, 64)
        wide = self.pick(256, 512, 1024) if large else self.pick(2, 4, 8, 16, 32, 64)
        self.shape, self.axis = "%d, %d" % (high, wide), self.pick(0, 1)
        self.length = high if self.axis == 0 else wide
        self.grid = "cdiv(m, %d), cdiv(n, %d)" % (high, wide)
        self.numbers, self.label = "(iota([1, %d], i32) + bid(1) * %d)" % (wide, wide), None
        self.attributes(high * wide, 4096)
        x = self.param("t", "", self.type, "m, n")
        self.load(x, self.type, "bid(0), bid(1)", self.shape)
        if self.chance(0.4): self.weights(self.param("w", "", self.work, "n"), self.work, "bid(1)", wide)
        if self.chance(0.4): self.load(self.param("u", "", self.type, "m, n"), self.type, "bid(0), bid(1)", self.shape)
        statements = [self.mapped, self.mapped, self.chosen, self.rounded, self.masked]
        if self.chance(0.5): statements += [self.reduced, self.scanned]
        for _ in range(self.rng.randrange(1, 6)): self.pick(*statements)()
        v = self.result()
        if self.chance(0.4):
            self.store(self.param("y", "out ", self.type, "n, m"), self.type, "bid(1), bid(0)", V("transpose(%s)" % v.text, FULL, v.most, v.exact))
        else: self.store(self.param("y", "out ", self.type, "m, n"), self.type, "bid(0), bid(1)", v)
        one = self.some(lambda v: v.shape == ROW)
        if one and "[" not in one.text:
            extents = "cdiv(m, %d), n" % high if self.axis == 0 else "m, cdiv(n, %d)" % wide
            self.store(self.param("s", "out ", self.work, extents), self.work, "bid(0), bid(1)", one)
        self.sizes = self.areas(high, wide)

    def areas(self, high, wide):
        r = self.rng.randrange
        some = [(1, 1), (r(1, 2 * high + 3), r(1, 3 * wide + 3)), (min(high * 2, 130), min(8 * wide, 1024)), (r(1, 100), r(1, 300))]
        if self.chance(0.2): some.append(self.pick((0, 5), (5, 0)))
        if self.chance(0.05): some.append((self.pick(65535, 65537, 70001) * high, r(1, 4)) if high < 4 else (r(1, 4), 65537 * wide) if wide < 8 else (3, 3))
        return [{"m": m, "n": n} for m, n in some]

    def stencil(self):
        high, wide = self.pick(1, 1, 2, 4, 16), self.pick(8, 16, 32, 64, 128)
        self.shape, self.axis, self.length = "%d, %d" % (high, wide), 1, wide
        self.grid = "cdiv(m, %d), cdiv(n, %d)" % (high, wide)
        self.numbers, self.label = "(iota([1, %d], i32) + bid(1) * %d)" % (wide, wide), None
        x = self.param("t", "", self.type, "m, n")
        for _ in range(self.pick(2, 3, 5)):
            at = "+bid(0) * %d + (%d), bid(1) * %d + (%d)" % (high, self.rng.randrange(-2, 3), wide, self.rng.randrange(-3, 4))
            self.load(x, self.type, at, self.shape)
        for _ in range(self.rng.randrange(2, 7)): self.pick(self.mapped, self.mapped, self.mapped, self.masked, self.rounded, self.chosen)()
        self.store(self.param("y", "out ", self.type, "m, n"), self.type, "bid(0), bid(1)", self.result())
        self.sizes = self.areas(high, wide)

    # a map of what is computed from places along axes: sums of multiples of a block's index, of numbers in the tile and of extents
    def of_index(self, axis):
        """A place along an axis, as authors write it."""
        g, tile = self.at[axis], self.tile[axis]
        if tile == 1 and self.chance(0.5): return "i32(bid(%d))" % g
        shape = ", ".join(str(tile) if a == axis else "1" for a in range(len(self.tile)))
        return self.pick("(bid({0}) * {1} + iota([{2}], i32))", "(iota([{2}], i32) + {1} * bid({0}))").format(g, tile, shape)

    def of_scalar(self):
        g = self.pick(*self.at)
        return self.pick("i32(bid(%d) %% 3)", "i32(bid(%d) / 2)", "(5 - bid(%d))", "min(bid(%d), 2)") % g

    def of_places(self):
        """An integer: a sum in any order."""
        dims, terms = self.dims, []
        dense = self.chance(0.4)
        for a in range(len(self.tile)):
            if dense: by = " * ".join(dims[a + 1:]) or "1"
            else: by = self.pick("1", "1", "2", "-1", "3", "0", dims[-1], "7", "100000007")
            if by == "0": continue
            place = self.of_index(a)
            terms.append(place if by == "1" else self.pick("%s * (%s)", "(%s) * (%s)") % (place, by))
        if self.chance(0.4): terms.append(self.pick("3", "1000", "2147483640", "(-5)"))
        if self.chance(0.2): terms.append(self.of_scalar())
        if not any("iota" in term for term in terms): terms.append(self.of_index(len(self.tile) - 1))
        self.rng.shuffle(terms)
        text = " + ".join(terms)
        if self.chance(0.25): text = "element_cast(%s, %s)" % (text, self.pick("i64", "i16", "u32"))
        return "broadcast(%s, [%s])" % (text, self.shape)

    def places(self):
        rank = self.pick(2, 2, 3)
        self.dims = "kmn"[3 - rank:]
        self.far, self.pitch = "", ""
        self.tile = [self.pick(1, 1, 2, 4, 8) for _ in range(rank - 1)] + [self.pick(16, 32, 64, 128, 256, 512)]
        while math.prod(self.tile) > 2048: self.tile[0] = 1; self.tile[-1] //= 2
        self.shape, self.at = ", ".join(map(str, self.tile)), self.rng.sample(range(rank), rank)
        grid = {g: "cdiv(%s, %d)" % (d, t) if t > 1 else d for g, d, t in zip(self.at, self.dims, self.tile)}
        self.grid, where = ", ".join(grid[g] for g in range(rank)), ", ".join("bid(%d)" % g for g in self.at)
        extents = ", ".join(self.dims)
        x = self.param("t", "", self.type, extents)
        self.load(x, self.type, where, self.shape)
        if self.chance(0.3): self.load(x, self.type, "+" + ", ".join("bid(%d) * %d + (%d)" % (g, t, self.pick(-1, 0, 0, 1)) for g, t in zip(self.at, self.tile)), self.shape)
        if self.chance(0.3):
            w = self.param("w", "", self.work, "n")
            text = "%s.load([bid(%d)], [%d]).reshape([%s])" % (w, self.at[-1], self.tile[-1], ", ".join(["1"] * (rank - 1) + [str(self.tile[-1])]))
            self.let(V("broadcast(%s, [%s])" % (text, self.shape), FULL, 16, True, 2), "x")
        for _ in range(self.rng.randrange(1, 6)):
            a, kind = self.some(), self.pick("number", "mask", "mask", "drawn", "drawn", "gather", "gather", "scalar")
            if kind == "number": text = "%s + element_cast(%s & 15, %s)" % (a.text, self.of_places(), self.work)
            elif kind == "mask": text = "select(%s %s, %s, 1)" % (self.of_places(), self.pick("% 3 == 0", "< 20", "!= 7", ">= 5"), a.text)
            elif kind == "drawn": text = "%s + element_cast(randint(%s, %s) >> 28, %s)" % (a.text, self.pick("7", "u64(n)"), self.of_places(), self.work)
            elif kind == "scalar": text = "%s + %s(%s)" % (a.text, self.work, self.of_scalar())
            else:
                index = []
                for axis in range(rank):
                    i = self.of_index(self.pick(axis, axis, axis, self.rng.randrange(rank)))
                    i = self.pick("%s", "%s", "%s + 1", "%s - 1", "2 * %s", "%s / 2", "n - 1 - %s") % i
                    index.append("broadcast(%s, [%s])" % (i, self.shape) if "iota" in i else i)
                if not any("iota" in i for i in index): index[-1] = "broadcast(%s, [%s])" % (self.of_index(rank - 1), self.shape)
                text = "%s + %s" % (a.text, self.as_work("%s.gather([%s]%s)" % (x, ", ".join(index), self.pick("", ", pad: 1")), self.type))
            most, unit = self.range_of(self.type)
            self.let(V(text, FULL, a.most + 16 + most, a.exact, a.unit), "v")
        v = self.result()
        if self.chance(0.25):
            y = self.param("y", "inout ", self.type, ", ".join(["2 * " + self.dims[0]] + list(self.dims[1:])))
            y = "%s.slice(0, 0, %s)" % (y, self.dims[0])
        else: y = self.param("y", "out ", self.type, extents)
        self.store(y, self.type, where, v)
        self.exact[y.split(".")[0]] = v.exact
        r = self.rng.randrange
        self.sizes = [dict(zip("kmn", (self.pick(1, r(1, 4)), self.pick(1, r(1, 16)), n))) for n in (1, r(1, 70), r(17, 200), self.pick(r(1, 600), 64, 128))]
        self.sizes = [{d: s[d] for d in self.dims} for s in self.sizes]

    def line_of(self):
        wide = self.pick(32, 128, 1024, 4096, 16384)
        self.shape, self.axis, self.length = str(wide), 0, wide
        self.grid = "cdiv(n, %d)" % wide
        self.numbers, self.label = "(iota([%d], i32) + bid(0) * %d)" % (wide, wide), None
        x = self.param("t", "", self.type, "n")
        for _ in range(self.pick(1, 2, 3)):
            off = self.rng.randrange(-2, 3)
            self.load(x, self.type, "+bid(0) * %d + (%d)" % (wide, off) if off else "bid(0)", self.shape)
        self.statements(self.rng.randrange(1, 6))
        self.store(self.param("y", "out ", self.type, "n"), self.type, "bid(0)", self.result())
        self.sizes = [{"n": n} for n in (1, wide, 2 * wide + 3, self.rng.randrange(1, 40000))]

    def permuted(self):
        """A tensor whose axes change order, of any rank; rows of both may have pads after them, which nobody reads or writes."""
        rank = self.pick(1, 2, 2, 3, 3, 3, 4, 4)
        dims, axes = "abcd"[:rank], self.rng.sample(range(rank), rank)
        if rank > 2 and self.chance(0.4):               # neighbours
            at = self.rng.randrange(rank - 2)
            axes = list(range(rank))
            axes[at], axes[at + 1] = at + 1, at
        tile, left = [1] * rank, self.pick(1, 5, 7, 9, 11, 13, 16)
        while left:
            step = self.rng.randrange(1, left + 1)
            at = self.pick(rank - 1, axes[-1], self.rng.randrange(rank))
            tile[at] = min(tile[at] << step, 1 << 14)
            left -= step
        whole = rank > 1 and self.chance(0.3)           # rows in one tile
        if whole: self.where = " where %s <= %d" % (dims[-1], tile[-1])
        on = [a for a in range(rank) if not whole or a < rank - 1][:4]
        self.rng.shuffle(on)
        self.grid = ", ".join("cdiv(%s, %d)" % (dims[a], tile[a]) if tile[a] > 1 else dims[a] for a in on)
        at = ["bid(%d)" % on.index(a) if a in on else "0" for a in range(rank)]
        if math.prod(tile) > 2048 and self.chance(0.1): self.head = "@warps(%d)\n" % self.pick(1, 4, 16)
        wide = self.chance(0.1) and dims[0] + ": i64"

        def tensor(letter, mode, dims, pitch):
            """Rows of a pitch, or padded to a multiple; the other axes follow each other."""
            strides = [" * ".join([pitch] + list(dims[i + 1:-1])) for i in range(rank - 1)] + ["1"]
            layout = self.pick("", "right_padded<8>", "right_padded<64>", "right_padded<3>", "left", "left_padded<8>") if self.chance(0.5) else \
                "strided<[%s]>" % ", ".join(strides)
            name = self.fresh(letter)
            text = ", ".join(dims).replace("a", wide or "a")
            self.params.append("%s: %stensor<%s, [%s]%s>" % (name, mode, self.type, text, layout and ", layout_" + layout))
            return name
        if self.chance(0.8): self.of_type(self.pick("bf16", "bf16", "i8", "f32"))
        x, turned = tensor("t", "", dims, "p"), "".join(dims[a] for a in axes)
        y = tensor("y", self.pick("out ", "inout "), turned, "q")
        listed = lambda some: "[%s]" % ", ".join(map(str, some))
        inside = lambda some: listed([some[a] for a in axes])
        pad = self.pick("", "", ", pad: 1")
        how = self.pick("tile", "tile", "view", "result")
        if how == "view": text = "%s.permute(%s).load(%s, %s%s)" % (x, listed(axes), inside(at), inside(tile), pad)
        else: text = "%s.load(%s, %s%s)" % (x, listed(at), listed(tile), pad)
        if how == "tile" and rank > 1: text = "permute(%s, %s)" % (text, listed(axes))
        moved = not self.chance(0.3)
        if not moved: text = "%s(%s, 1)" % (self.pick("max", "min"), text)
        place = [axes.index(a) for a in range(rank)]
        if how == "result" and rank > 1: self.say("%s.permute(%s).store(%s, %s);" % (y, listed(place), listed(at), text))
        else: self.say("%s.store(%s, %s);" % (y, inside(at), text))
        self.exact[y] = "bits" if moved else True

        def extent(axis, most):
            t = tile[axis]
            n = self.pick(1, t, t + 1, 2 * t + 3, max(t - 1, 1), self.rng.randrange(1, 3 * t + 2), self.rng.randrange(1, 200),
                          0 if self.chance(0.2) else t)
            return min(n, max(t, 1) if whole and axis == rank - 1 else n, most)
        self.sizes = []
        while len(self.sizes) < 4:
            left, size = 150000, {}
            for a in self.rng.sample(range(rank), rank):
                size[dims[a]] = extent(a, max(left, 1))
                left //= max(size[dims[a]], 1)
            if math.prod(size.values()) // (min(size[dims[-1]], size[turned[-1]]) or 1) > 25000: continue       # pads of so many rows
            size["p"] = size[dims[-1]] + self.pick(0, 1, 3, 7, 8, -size[dims[-1]] % 8, 64)
            size["q"] = size[turned[-1]] + self.pick(0, 1, 3, 7, 8, -size[turned[-1]] % 8, 64)
            self.sizes.append(size)

    def carry(self, shape):
        """A variable that loops add to, and how."""
        name, kind = self.fresh("c"), self.pick("+", "max")
        self.say("var %s: tile<%s, [%s]> = %s;" % (name, self.work, shape, "0" if kind == "+" else "-100"))
        return name, kind

    def carried(self, carry, v):
        name, kind = carry
        self.say("%s += %s;" % (name, v.text) if kind == "+" else "%s = max(%s, %s);" % (name, name, v.text))
        return v.exact and (kind == "max" or self.whole or v.unit is not None and v.most * 2 ** (v.unit + 13) < 2 ** 24)

    def softening(self, high):
        """The maximum and the sum of powers of e that a loop keeps up."""
        top, sum = self.fresh("c"), self.fresh("c")
        self.say("var %s: tile<%s, [%d, 1]> = -inf, %s: tile<%s, [%d, 1]> = 0;" % (top, self.work, high, sum, self.work, high))
        return top, sum, high

    def soften(self, soft):
        top, sum, _ = soft
        v, now = self.some(lambda v: v.wide and v.most < 1000), self.fresh("r")
        if not v: return
        self.say("let %s = max(%s, reduce_max(%s, 1));" % (now, top, v.text))
        self.say("%s = %s * exp(%s - %s) + sum(exp(%s - %s), 1);" % (sum, sum, top, now, v.text, now))
        self.say("%s = %s;" % (top, now))

    def along(self):
        """Loops over the tiles of rows; perhaps a second one that needs what the first one found."""
        high, wide = self.pick(1, 1, 2, 8), self.pick(16, 32, 128, 512, 1024)
        self.shape, self.axis, self.length, self.label = "%d, %d" % (high, wide), 1, wide, None
        self.grid = "cdiv(m, %d)" % high
        self.numbers = "(iota([1, %d], i32) + j * %d)" % (wide, wide)
        self.attributes(high * wide, 1024)
        x = self.param("t", "", self.type, "m, n")
        per_row = self.chance(0.5)
        soft = self.softening(high) if not self.whole and self.chance(0.4) else None
        carry = self.carry("%d, 1" % high if per_row else self.shape)
        self.say("for j in 0 .. cdiv(n, %d) {" % wide)
        self.depth += 1
        self.load(x, self.type, "bid(0), j", self.shape)
        for _ in range(self.rng.randrange(0, 4)): self.pick(self.mapped, self.masked, self.chosen, self.rounded)()
        v = self.reduced() if per_row else None
        if not v or v.wide:
            v = self.some(lambda v: v.wide)
            if per_row: v = self.let(V("reduce_max(%s, 1)" % v.text, ROW, 100, False, None))
        exact = self.carried(carry, v)
        if soft: self.soften(soft)
        self.depth -= 1
        self.say("}")
        if soft:
            v = V("log(%s + 1) + clamp(%s, -100, 100)" % soft[1::-1], ROW, 200, False)
            self.store(self.param("s", "out ", self.work, "m, 1"), self.work, "bid(0), 0", v)
        self.values = [V(carry[0], ROW if per_row else FULL, 3000, exact, None)]
        if self.chance(0.5):
            y = self.param("y", "out ", self.type, "m, n")
            self.say("for j in 0 .. cdiv(n, %d) {" % wide)
            self.depth += 1
            self.load(x, self.type, "bid(0), j", self.shape)
            op = "*" if self.whole else self.pick("+", "-")
            v = self.let(V("%s %s %s" % (self.values[-1].text, op, carry[0]), FULL, 3000, exact and self.whole, None))
            if not self.whole: v = self.let(V("clamp(%s * 0.01, -100, 100)" % v.text, FULL, 100, False, None))
            self.store(y, self.type, "bid(0), j", v)
            self.depth -= 1
            self.say("}")
        v = V(carry[0], ROW, 3000, exact) if per_row else V("reduce_max(%s, 1)" % carry[0], ROW, 3000, exact)
        self.store(self.param("s", "out ", self.work, "m, 1"), self.work, "bid(0), 0", v)
        self.sizes = [{"m": self.rng.randrange(1, 10), "n": n} for n in (1, wide, self.rng.randrange(1, 20 * wide), self.rng.randrange(1, 5 * wide))]

    def down(self):
        """Loops over rows, with sums of columns carried; perhaps threads wait for each other in each round."""
        wide, parts = self.pick(32, 64, 128, 1024, 4096), self.pick(1, 2, 3)
        high = self.pick(1, 1, 1, 4, 16) if wide <= 128 else 1
        self.shape, self.axis, self.length, self.label = "%d, %d" % (high, wide), 1, wide, None
        self.numbers = "iota([1, %d], i32)" % wide
        whole_row = wide >= 1024
        if whole_row: self.where = " where n <= %d" % wide
        self.grid = str(parts) if whole_row else "%d, cdiv(n, %d)" % (parts, wide)
        at = "0" if whole_row else "bid(1)"
        self.attributes(high * wide, 1024)
        x, z = self.param("t", "", self.type, "m, n"), self.param("u", "", self.type, "m, n")
        y = self.param("y", "out ", self.type, "m, n") if self.chance(0.5) else None
        carry = self.carry(self.shape)
        others = [self.carry(self.shape) for _ in range(self.pick(0, 0, 1, 2))]
        self.say("for i in bid(0) .. cdiv(m, %d) step %d {" % (high, parts))
        self.depth += 1
        self.load(x, self.type, "i, " + at, self.shape)
        if self.chance(0.6): self.load(z, self.type, "i, " + at, self.shape)
        if self.chance(0.3): self.weights(self.param("w", "", self.work, "n"), self.work, at, wide)
        statements = [self.mapped, self.mapped, self.masked, self.chosen, self.rounded]
        if self.chance(0.5): statements += [self.reduced] * 3
        for _ in range(self.rng.randrange(1, 6)): self.pick(*statements)()
        exact = self.carried(carry, self.some(lambda v: v.wide))
        others = [(other, self.carried(other, self.some(lambda v: v.wide))) for other in others]
        if y: self.store(y, self.type, "i, " + at, self.result())
        self.depth -= 1
        self.say("}")
        v = V(carry[0], FULL, 3000, exact)
        s = self.param("s", "out ", self.work, "%d, n" % (high * parts))
        self.store(s, self.work, "bid(0), " + at, v)
        for other, exact in others:
            s = self.param("s", "out ", self.work, "%d, n" % (high * parts))
            self.store(s, self.work, "bid(0), " + at, V(other[0], FULL, 3000, exact))
        self.sizes = [{"m": m, "n": n} for m, n in [(1, 1), (self.rng.randrange(1, 40), self.rng.randrange(1, wide + 1)), (self.rng.randrange(1, 20), wide),
                                                     (self.rng.randrange(1, 20), max(wide - 8, 1) if whole_row else 3 * wide + 5)]]


# ---- runs ----
def drawn(o):
    kernels = [Kernel(o.seed, i, o.kind) for i in range(o.first, o.first + o.count)]
    return [k for k in kernels if re.search(o.only, emitted(k, o.arch))] if o.only else kernels


def emitted(kernel, arch):
    return must([CTILEC, "-w", "--line=off", "--arch=" + arch, "-", "-o", "-"], stdin=kernel.text().encode()).out.decode()


class Both:
    """A file of kernels, built for both targets."""
    def __init__(self, tmp, text, arch, *options):
        self.options = options
        def sh(*args): return must(list(args), timeout=600).out.decode()
        source, cu, emu, c = [os.path.join(tmp, n) for n in ("k.tile", "k.cu", "e.c", "k.c")]
        with open(source, "w") as f:
            f.write(text)
        self.entries = {e["name"]: e for e in json.loads(sh(CTILEC, "-w", "--emit=manifest", source, "-o", "-"))["entries"]}
        sh(CTILEC, "-w", "--target=c", "--line=off", source, "-o", c)
        sh(CTILEC, "-w", "--line=off", target_of(arch), *options, source, "-o", cu)
        sh("gcc", "-std=c11", "-O0", "-w", "-fPIC", "-shared", "-I" + tmp, "-o", c + ".so", c, "-lm")
        if arch == "tile":
            import emulation_tile
            emulation_tile.library(cu, cu + ".so")
            self.host, self.device, self.simulator = Target(c + ".so"), Interpreted(cu + ".so"), None
            return
        emulation.rewrite(BUILD, cu, emu, arch)
        sh("gcc", "-std=gnu11", "-O0", "-w", "-DCT_LEAST(n)=((n)/128)", "-DCT_STEPS=1", "-fPIC", "-shared", "-I" + HERE, "-I" + tmp, "-o", emu + ".so", emu, "-lm")
        self.host, self.device, self.simulator = Target(c + ".so"), Emulated(emu + ".so"), None

    def simulate(self, tmp, arch):
        sim = os.path.join(tmp, "sim.c")
        must([CTILEC, "-w", "--target=sim", "--arch=" + arch, "--line=off", *self.options, os.path.join(tmp, "k.tile"), "-o", sim])
        self.simulator = Simulated(sim, os.path.join(BUILD, "libctilec.a"), tmp, list(self.entries.values()))


def calls_of(both, kernel):
    """Calls a kernel with its sizes; how many of them were wrong. In a child, as the emulation ends with the first fault it finds."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        bad = 0
        rng = random.Random(kernel.name)
        os.environ["EMU_CLUSTER_MOST"] = rng.choice(["8", "16"])        # once: launchers remember what a device runs
        for device in [both.device, both.simulator]:
            for size, special, phases in kernel.calls if device else []:
                os.environ["CTILE_SIM_SEED"] = str(rng.randrange(9))
                order = [str(rng.randrange(3))]
                bad += compare(both.host, device, [both.entries[kernel.name]], [size], phases, order, nearly(kernel.exact), special, most=1 << 24)[1]
        sys.stdout.flush()
        os._exit(bad != 0)
    return os.waitpid(child, 0)[1] != 0


def test(o):
    """Of --sim in a hundred files in the simulator, too."""
    kernels, bad = drawn(o), []
    for first in range(0, len(kernels), BATCH):
        batch = kernels[first:first + BATCH]
        with tempfile.TemporaryDirectory() as tmp:
            both = Both(tmp, "\n".join(k.text() for k in batch), o.arch)
            if o.arch != "tile" and random.Random(first).random() * 100 < o.sim: both.simulate(tmp, o.arch)
            for k in batch:
                if calls_of(both, k): bad.append(k.name)
    print("%d kernels, %d wrong%s" % (len(kernels), len(bad), ": " + " ".join(bad) if bad else ""))
    return 1 if bad or not kernels else 0


def fired(o):
    """A pass fires on a kernel that it changes; a kind of text is counted where a kernel has it."""
    kernels = drawn(o)
    passes = [line.split()[0] for line in must([CTILEC, "--list-passes"]).out.decode().split("\n") if line]
    changed, kinds = collections.Counter(), collections.Counter()
    for first in range(0, len(kernels), BATCH):
        with tempfile.TemporaryDirectory() as tmp:
            source, cu = os.path.join(tmp, "k.tile"), os.path.join(tmp, "k.cu")
            with open(source, "w") as f:
                f.write("\n".join(k.text() for k in kernels[first:first + BATCH]))
            r = must([CTILEC, "-w", "--line=off", "--arch=" + o.arch, *["--dump-after=" + p for p in passes], source, "-o", cu], timeout=600)
            before = {}
            for part in re.split(r"(?m)^// after ", r.text)[1:]:
                name = re.match(r"\w+", part).group(0)
                now = dict(re.findall(r"(?ms)^kernel (\w+) (.*?^})", part))
                changed.update({name: sum(k in before and before[k] != now[k] for k in now)})
                before = now
            with open(cu) as f:
                heads = re.findall(r"(?m)^(k\d+_\d+)_sm\w+?(?:_(\w+?))?_?\d*\(", f.read())
            kinds.update(kind for _, kind in set(heads))
    print("%d kernels" % len(kernels))
    for name in passes: print("%-10s %5d" % (name, changed[name]))
    for kind, n in sorted(kinds.items()): print("text %-20s %5d" % (kind or "(first)", n))
    return 0


def source(o):
    print("\n".join(k.text() for k in drawn(o)))
    return 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument("step", choices=["test", "fired", "source"])
    p.add_argument("--count", type=int, default=8)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--only", default="")
    p.add_argument("--kind", default="")
    p.add_argument("--sim", type=int, default=0)
    p.add_argument("--arch", default="sm_90a", choices=ARCHS)
    o = p.parse_args()
    sys.exit(globals()[o.step](o))


if __name__ == "__main__": main()
