"""Runs what NVIDIA's front end makes of emitted CUDA Tile C++, so that values can be tested without a GPU: Tile IR in text form, as
tileirdisasm prints it, becomes Python over numpy, one function for each kernel. What Tile IR leaves undefined is an error here: signed
overflow, division by zero, shifts by the width or more, casts of what does not fit, tiles wholly outside of their view."""
import ctypes
import math
import re
from fractions import Fraction

import ml_dtypes
import numpy as np

DTYPES = {"i1": np.dtype(np.bool_), "i8": np.dtype(np.int8), "i16": np.dtype(np.int16), "i32": np.dtype(np.int32), "i64": np.dtype(np.int64),
          "f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16), "f32": np.dtype(np.float32), "tf32": np.dtype(np.float32),
          "f64": np.dtype(np.float64), "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn), "f8E5M2": np.dtype(ml_dtypes.float8_e5m2)}
WIDTH = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
FLOATS = {k for k in DTYPES if k not in WIDTH}
PRECISION = {"f16": (11, -24, 65504.0), "f32": (24, -149, None), "bf16": (8, -133, None), "f64": (53, -1074, None)}
LIBM = ctypes.CDLL("libm.so.6")
for _f in ("fma", "fmaf"):
    getattr(LIBM, _f).restype = ctypes.c_double if _f == "fma" else ctypes.c_float
    getattr(LIBM, _f).argtypes = [getattr(LIBM, _f).restype] * 3


class Undefined(Exception):
    pass


def undefined(what):
    raise Undefined(what)


class Type:
    """tile<128x4xptr<f32>>: elem "f32", ptr, shape"""
    def __init__(self, text):
        body = re.match(r"tile<(.*)>$", text).group(1)
        shape = []
        while (m := re.match(r"(\d+)x", body)):
            shape.append(int(m.group(1)))
            body = body[m.end():]
        self.shape = tuple(shape)
        self.ptr = body.startswith("ptr<")
        self.elem = body[4:-1] if self.ptr else body
        self.dtype = np.dtype(np.int64) if self.ptr else DTYPES[self.elem]


class View:
    def __init__(self, base, elem, shape, strides):
        self.base, self.elem, self.shape, self.strides = int(base), elem, [int(v) for v in shape], [int(v) for v in strides]

    def over(self, tile, steps, padding):
        v = View(self.base, self.elem, self.shape, self.strides)
        v.tile, v.steps, v.padding = tile, steps, padding
        return v


# ---- memory ----
def window(at, size):
    lo = int(at.min())
    return (ctypes.c_uint8 * (int(at.max()) + size - lo)).from_address(lo), lo


def reached(at, size, mask, what):
    """(mask, memory, places of each byte in it) of an access; memory None where nothing is accessed."""
    at = np.asarray(at)
    mask = np.ones(at.shape, bool) if mask is None else np.broadcast_to(mask, at.shape)
    live = at[mask]
    if not live.size:
        return mask, None, None
    if (live % size).any():
        undefined(what + " that is not aligned")
    buf, lo = window(live, size)
    return mask, np.frombuffer(buf, np.uint8), (live - lo)[..., None] + np.arange(size)


def read(at, elem, mask, pad):
    d = DTYPES[elem]
    shape = np.shape(at)
    out = np.array(np.broadcast_to(pad, shape), dtype=d) if pad is not None else np.zeros(shape, d)
    mask, raw, index = reached(at, d.itemsize, mask, "a load")
    if raw is not None:
        out[mask] = raw[index].view(d).reshape(index.shape[:-1])
    return out


def write(at, elem, value, mask):
    d = DTYPES[elem]
    mask, raw, index = reached(at, d.itemsize, mask, "a store")
    if raw is not None:
        data = np.ascontiguousarray(np.broadcast_to(value, mask.shape)[mask]).astype(d)
        raw[index] = data.view(np.uint8).reshape(index.shape)


def places(view, index):
    at, inside = np.int64(view.base) + np.zeros(view.tile, np.int64), np.ones(view.tile, bool)
    for a, (n, step) in enumerate(zip(view.tile, view.steps)):
        first = int(index[a]) * step
        c = first + np.arange(n)
        if first >= view.shape[a] or first + n <= 0:
            undefined("a tile at element %d of an axis of %d" % (first, view.shape[a]))
        c_in = (c >= 0) & (c < view.shape[a])
        shape = [1] * len(view.tile)
        shape[a] = n
        at = at + (np.where(c_in, c, 0) * view.strides[a] * DTYPES[view.elem].itemsize).reshape(shape)
        inside &= c_in.reshape(shape)
    if view.padding is None and not inside.all():
        undefined("an access outside of a view without padding")
    return at, inside


PADS = {"zero": 0.0, "neg_zero": -0.0, "pos_inf": math.inf, "neg_inf": -math.inf, "nan": math.nan, None: 0.0}


def load_view(view, index):
    at, inside = places(view, index)
    d = DTYPES[view.elem]
    pad = np.array(PADS[view.padding], np.float32).astype(d) if view.elem in FLOATS else np.zeros((), d)
    return read(at, view.elem, inside, pad)


def store_view(view, index, value):
    at, inside = places(view, index)
    write(at, view.elem, value, inside)


# ---- arithmetic ----
def unsigned(x):
    x = np.asarray(x)
    return x.astype(np.uint8) if x.dtype == np.bool_ else x.view(np.dtype("u%d" % x.dtype.itemsize))


def exact_int(f, x, y, elem, flags):
    """Wrapped; a result that does not fit is an error where flags say that it cannot be."""
    if elem == "i1":
        return f(np.asarray(x).astype(np.int64), np.asarray(y).astype(np.int64)) & 1 != 0
    with np.errstate(all="ignore"):
        r = f(x, y)
    if flags:
        wide = f(np.asarray(x).astype(object), np.asarray(y).astype(object))
        if "no_signed_wrap" in flags and (np.asarray(wide != r.astype(object))).any():
            undefined("signed overflow")
    return np.asarray(r, dtype=DTYPES[elem])


def divide(x, y, elem, signed, rounding):
    d = DTYPES[elem]
    a, b = (np.asarray(x).astype(object), np.asarray(y).astype(object)) if signed else (unsigned(x).astype(object), unsigned(y).astype(object))
    if (np.asarray(b == 0)).any():
        undefined("division by zero")
    q = np.vectorize(lambda p, n: -((-p) // n) if rounding == "positive_inf" else p // n if rounding == "negative_inf" else
                     abs(p) // abs(n) * (1 if (p < 0) == (n < 0) else -1), otypes=[object])(a, b)
    if signed and (np.asarray(q > np.iinfo(d).max)).any():
        undefined("overflow of a quotient")
    return q.astype(d if signed else unsigned(np.zeros((), d)).dtype).view(d)


def remainder(x, y, elem, signed):
    a, b = (np.asarray(x).astype(object), np.asarray(y).astype(object)) if signed else (unsigned(x).astype(object), unsigned(y).astype(object))
    if (np.asarray(b == 0)).any():
        undefined("remainder by zero")
    if signed and np.asarray((b == -1) & (a == np.iinfo(DTYPES[elem]).min)).any():
        undefined("overflow of a remainder")
    r = np.vectorize(lambda p, n: abs(p) % abs(n) * (1 if p >= 0 else -1), otypes=[object])(a, b)
    d = DTYPES[elem]
    return r.astype(d if signed else unsigned(np.zeros((), d)).dtype).view(d)


def shift(f, x, y, elem):
    n = unsigned(y)
    if (n >= WIDTH[elem]).any():
        undefined("a shift by the width or more")
    return f, n


def shl(x, y, elem):
    _, n = shift(None, x, y, elem)
    return (unsigned(x) << n).astype(unsigned(x).dtype).view(DTYPES[elem])


def shr(x, y, elem, signed):
    _, n = shift(None, x, y, elem)
    return np.asarray(x >> n.view(DTYPES[elem])) if signed else (unsigned(x) >> n).view(DTYPES[elem])


def mulhi(x, y, elem):
    p = unsigned(x).astype(object) * unsigned(y).astype(object) >> WIDTH[elem]
    return np.asarray(p).astype(unsigned(x).dtype).view(DTYPES[elem])


def compare(how, x, y, signed=True, ordered=True, is_int=False):
    if is_int and not signed:
        x, y = unsigned(x), unsigned(y)
    f = {"equal": np.equal, "not_equal": np.not_equal, "less_than": np.less, "less_than_or_equal": np.less_equal, "greater_than": np.greater,
         "greater_than_or_equal": np.greater_equal}[how]
    r = f(x, y)
    if not is_int:
        nan = np.isnan(x) | np.isnan(y)
        r = (r & ~nan) if ordered else (r | nan)
    return r


def flush(x, on):
    if not on:
        return x
    tiny = np.finfo(np.float32).tiny
    return np.where(np.abs(x) < tiny, np.copysign(np.float32(0), x), x)


def round_to(v, elem, mode):
    """A Fraction to elem, in a direction."""
    p, least, _ = PRECISION[elem]
    if v == 0:
        return 0.0
    e = max(abs(v.numerator).bit_length() - v.denominator.bit_length() - p - 1, least)
    while abs(v) >= Fraction(2) ** (e + p):
        e += 1
    q = v / Fraction(2) ** e
    down = mode == "negative_inf" or (mode == "zero" and v > 0)
    r = Fraction(math.floor(q) if down else math.ceil(q)) * Fraction(2) ** e
    most = greatest(elem)
    if abs(r) > most:
        return math.copysign(most if mode == "zero" or (v > 0) == (mode == "negative_inf") else math.inf, float(v > 0) - 0.5)
    return math.copysign(float(r), 1 if v > 0 else -1)


def greatest(elem):
    return {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": float(np.finfo(np.float32).max), "f64": float(np.finfo(np.float64).max)}[elem]


def directed(f, args, elem, mode, sums=0):
    with np.errstate(all="ignore"):
        near = f(*[np.asarray(a, np.float64) for a in args])

    def one(*a):
        if not all(math.isfinite(v) for v in a[:-1]):
            return a[-1]
        try:
            v = f(*[Fraction(float(x)) for x in a[:-1]])
        except ZeroDivisionError:
            return a[-1]
        if v == 0:              # of a sum the sign is that of the direction, unless all parts are zeros of one sign
            parts = [a[0], sums * a[1]] if len(a) == 3 else [a[0] * a[1], a[2]]
            alike = all(x == 0 and math.copysign(1, x) == math.copysign(1, parts[0]) for x in parts)
            return -0.0 if sums and mode == "negative_inf" and not alike else a[-1]
        return round_to(v, elem, mode)
    return np.vectorize(one, otypes=[np.float64])(*np.broadcast_arrays(*args, near)).astype(DTYPES[elem])


def arithmetic(f, args, elem, mode, ftz):
    args = [flush(a, ftz) for a in args]
    with np.errstate(all="ignore"):
        if mode in (None, "approx", "full"):
            r = f(*args)
        else:
            r = directed(f, args, elem, mode, {3.0: 1, 1.0: -1}.get(f(2.0, 1.0), 0))
        return flush(np.asarray(r, dtype=DTYPES[elem]), ftz)


def fma(x, y, z, elem, mode, ftz):
    x, y, z = flush(x, ftz), flush(y, ftz), flush(z, ftz)
    if mode:
        return flush(directed(lambda a, b, c: a * b + c, [x, y, z], elem, mode, 1), ftz)
    if elem == "f64":
        with np.errstate(all="ignore"):
            return np.vectorize(LIBM.fma, otypes=[np.float64])(x, y, z)
    if elem == "f32":
        with np.errstate(all="ignore"):
            return flush(np.vectorize(LIBM.fmaf, otypes=[np.float32])(x, y, z), ftz)
    with np.errstate(all="ignore"):
        p, w = np.asarray(x, np.float64) * np.asarray(y, np.float64), np.asarray(z, np.float64)        # the product is exact
        s = p + w
        rest = (p - (s - (s - p))) + (w - (s - p))
        even = (np.ascontiguousarray(s).view(np.int64).reshape(s.shape) & 1) == 0
        odd = np.where((rest != 0) & np.isfinite(rest) & even, np.nextafter(s, np.where(rest > 0, np.inf, -np.inf)), s)
        return cast_float(odd, "f64", elem)


def extreme(f, x, y, propagate):
    """-0 is less than +0, as PTX has it."""
    with np.errstate(all="ignore"):
        r = (np.maximum if f == "max" else np.minimum)(x, y) if propagate else (np.fmax if f == "max" else np.fmin)(x, y)
        take = np.signbit(y) if f == "min" else np.signbit(x)
        return np.asarray(np.where(np.asarray(x) == np.asarray(y), np.where(take, y, x), r), dtype=np.asarray(x).dtype)


def math_f32(f, x, elem):
    with np.errstate(all="ignore"):
        return np.asarray(f(np.asarray(x, np.float64))).astype(DTYPES[elem])


def to_int(x, elem, signed):
    d = DTYPES[elem] if signed else unsigned(np.zeros((), DTYPES[elem])).dtype
    v = np.trunc(np.asarray(x, np.float64))
    if not np.isfinite(v).all() or (v < float(np.iinfo(d).min)).any() or (v >= float(np.iinfo(d).max) + (1 if d.itemsize < 8 else 0)).any():
        undefined("a cast of %s to %s" % (np.asarray(x).ravel()[:4], elem))
    return v.astype(d).view(DTYPES[elem])


def to_float(x, elem, signed):
    a = np.asarray(x).astype(object) if signed else unsigned(x).astype(object)
    if elem == "f64" or np.asarray(x).dtype.itemsize < 8:
        return np.asarray(a.astype(np.float64) if elem == "f64" or np.asarray(x).dtype.itemsize < 8 else a).astype(DTYPES[elem])
    # through a double with a sticky last bit, so that it rounds once
    def once(v):
        n = abs(v)
        s = max(n.bit_length() - 40, 0)
        m = (n >> s) | (1 if n & ((1 << s) - 1) else 0)
        return math.ldexp(-m if v < 0 else m, s)
    return np.vectorize(once, otypes=[np.float64])(a).astype(DTYPES[elem])


def cast_float(x, src, dst):
    with np.errstate(all="ignore"):
        if dst.startswith("f8") and not np.isfinite(np.asarray(x, np.float64)).all():
            undefined("a cast of what is not finite to fp8")
        if src == "f64" and dst in ("f16", "bf16") or src == "f64" and dst.startswith("f8"):
            p = np.asarray(x, np.float64)
            f = p.astype(np.float32)
            odd = (f.astype(np.float64) != p) & np.isfinite(p) & np.isfinite(f)          # round to odd, then once
            bits = f.view(np.uint32).copy() if f.shape else f.reshape(1).view(np.uint32).copy().reshape(())
            up = odd & (np.abs(f.astype(np.float64)) > np.abs(p))
            bits = np.where(up, bits - 1, bits)
            bits = np.where(odd, bits | 1, bits).astype(np.uint32)
            return bits.view(np.float32).astype(DTYPES[dst])
        return np.asarray(x).astype(DTYPES[dst])


def bitcast(x, dst):
    return np.ascontiguousarray(x).view(DTYPES[dst]).reshape(np.shape(x))


def extract(x, shape, index):
    slices = []
    for n, i, whole in zip(shape, index, np.shape(x)):
        if not 0 <= int(i) * n < whole:
            undefined("a sub-tile outside of its tile")
        slices.append(slice(int(i) * n, int(i) * n + n))
    return x[tuple(slices)]


def reduce(body, xs, dim, identities):
    """Neighbours first, as a tree: the order is free, and a GPU's sums round about so often."""
    xs = [np.moveaxis(x, dim, 0) for x in xs]
    while len(xs[0]) > 1:
        xs = [np.asarray(x) for x in body(*[v for x in xs for v in (x[0::2], x[1::2])])]
    return [np.asarray(a) for a in body(*[v for x, e in zip(xs, identities) for v in (np.full(x.shape[1:], e, x.dtype), x[0])])]


def scan(body, xs, dim, reverse, identities):
    acc = [np.full(tuple(n for i, n in enumerate(x.shape) if i != dim), v, x.dtype) for x, v in zip(xs, identities)]
    out = [np.empty_like(x) for x in xs]
    n = xs[0].shape[dim]
    for j in (range(n - 1, -1, -1) if reverse else range(n)):
        acc = body(*[v for x, a in zip(xs, acc) for v in (a, np.take(x, j, dim))])
        for o, a in zip(out, acc):
            np.moveaxis(o, dim, 0)[j] = a
    return out


def products(a, b, acc, kinds, elem):
    if kinds:
        a, b = [(np.asarray(v) if k == "signed" else unsigned(v)).astype(np.int64) for v, k in zip((a, b), kinds)]
        return (np.matmul(a, b) + acc).astype(np.int32)
    with np.errstate(all="ignore"):
        return (np.matmul(np.asarray(a, np.float64), np.asarray(b, np.float64)) + np.asarray(acc, np.float64)).astype(DTYPES[elem])


def rmw(at, how, value, mask, elem):
    at, value = np.asarray(at), np.asarray(value)
    old = np.zeros(at.shape, DTYPES[elem])
    mask = np.ones(at.shape, bool) if mask is None else np.broadcast_to(mask, at.shape)
    f = {"add": lambda a, b: a + b, "addf": lambda a, b: a + b, "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
         "xchg": lambda a, b: b, "max": np.maximum, "min": np.minimum,
         "umax": lambda a, b: np.maximum(unsigned(a), unsigned(b)).view(a.dtype), "umin": lambda a, b: np.minimum(unsigned(a), unsigned(b)).view(a.dtype)}[how]
    for i in np.ndindex(at.shape):
        if mask[i]:
            old[i] = read(at[i], elem, None, None)
            with np.errstate(all="ignore"):
                write(at[i], elem, np.asarray(f(old[i], value[i])).astype(old.dtype), None)
    return old


def cas(at, expected, value, mask, elem):
    at = np.asarray(at)
    old = np.zeros(at.shape, DTYPES[elem])
    mask = np.ones(at.shape, bool) if mask is None else np.broadcast_to(mask, at.shape)
    for i in np.ndindex(at.shape):
        if mask[i]:
            old[i] = read(at[i], elem, None, None)
            if old[i] == np.asarray(expected)[i]:
                write(at[i], elem, np.asarray(value)[i], None)
    return old


def constant(text, t):
    text = text.strip()
    if text.startswith('"0x'):          # the bytes of all elements, or of one for all
        raw = np.frombuffer(bytes.fromhex(text[3:-1]), np.uint8)
        v = (raw != 0) if t.elem == "i1" else raw.view(t.dtype)
        return v.reshape(t.shape).copy() if v.size == int(np.prod(t.shape)) else np.full(t.shape, v[0])
    if text.startswith("["):
        return np.concatenate([constant(v, Type("tile<%s>" % t.elem)).reshape(1) for v in text[1:-1].split(",")]).reshape(t.shape)
    if text in ("true", "false"):
        v = text == "true"
    elif t.elem in FLOATS and text.startswith("0x"):
        v = np.array(int(text, 16), np.dtype("u%d" % t.dtype.itemsize)).view(t.dtype)
    elif t.elem in FLOATS:
        v = np.float64(text)
    else:
        v = int(text) & (1 << WIDTH[t.elem]) - 1 if not t.ptr else int(text)
        if not t.ptr and t.elem != "i1":
            v = np.array(v, unsigned(np.zeros((), t.dtype)).dtype).view(t.dtype)
    return np.full(t.shape, v).astype(t.dtype)


def assertion(c, text):
    if not np.asarray(c).all():
        raise AssertionError(text)


def printf(text, *args):
    text = re.sub(r"\\([0-9A-F]{2}|\\)", lambda m: "\\" if m.group(1) == "\\" else chr(int(m.group(1), 16)).replace("\0", ""), text)
    text = re.sub(r"%l*([duxg])", r"%\1", text).replace("%u", "%d").replace("%p", "%d")
    print(text % tuple(a.item() for a in args), end="")


# ---- text to Python ----
NAME = re.compile(r"%([A-Za-z_0-9.\-]+)(?:#(\d+))?")
TYPE = r"tile<[^<>]*(?:<[^<>]*>)?[^<>]*>"


def py(name):
    m = NAME.match(name.strip())
    return "v_" + re.sub(r"[^A-Za-z0-9]", "_", m.group(1)) + ("_%s" % m.group(2) if m.group(2) else "")


class Translator:
    def __init__(self, lines):
        self.lines, self.at, self.out, self.depth = lines, 0, [], 1
        self.scopes = []        # (kind, carried names, result names)
        self.types = []

    def put(self, text):
        self.out.append("\t" * self.depth + text)

    def type(self, text):
        self.types.append(Type(text))
        return self.types[-1], "T[%d]" % (len(self.types) - 1)

    def results(self, left):
        """Python names of `%a, %b` or `%a:3`"""
        names = []
        for part in left.split(","):
            part = part.strip()
            if ":" in part:
                n = int(part.split(":")[1])
                names += [py(part.split(":")[0]) + "_%d" % k for k in range(n)]
            elif part:
                names.append(py(part))
        return names

    def block(self):
        """Up to the closing brace; gives that line."""
        empty = True
        while True:
            line = self.lines[self.at].strip()
            self.at += 1
            if line.startswith("}"):
                if empty:
                    self.put("pass")
                return line
            empty = False
            self.statement(line)

    def statement(self, line):
        m = re.match(r"((?:%[^=]*?)) = (.*)$", line)
        left, rest = (m.group(1), m.group(2)) if m and line.startswith("%") else ("", line)
        names = self.results(left)
        if names and re.search(r"_token|token$", rest) or "_tko" in rest or rest.startswith("join_tokens"):
            self.put("%s = None" % names[-1])       # tokens order what is done in order here
        op = re.match(r"[a-z_0-9]+", rest).group(0)
        method = getattr(self, "op_" + op, None)
        if method:
            method(names, rest)
            return
        self.simple(op, names, rest)

    # ---- control ----
    def carried(self, rest):
        m = re.search(r"iter_values\((.*?)\) (?::|->)", rest) or re.search(r"iter_values\((.*?)\)", rest)
        pairs = [p.split(" = ") for p in m.group(1).split(", ")] if m else []
        return [py(a) for a, _ in pairs], [py(b) for _, b in pairs]

    def op_for(self, names, rest):
        m = re.match(r"for (?:(unsigned) )?(%\S+) in \((%\S+) to (%\S+), step (%\S+)\)", rest)
        own, init = self.carried(rest)
        for a, b in zip(own, init):
            self.put("%s = %s" % (a, b))
        self.put("for %s in steps(%s, %s, %s, %s):" % (py(m.group(2)), py(m.group(3)), py(m.group(4)), py(m.group(5)), m.group(1) is None))
        self.region("for", own, names)
        for a, b in zip(names, own):
            self.put("%s = %s" % (a, b))

    def op_loop(self, names, rest):
        own, init = self.carried(rest)
        for a, b in zip(own, init):
            self.put("%s = %s" % (a, b))
        self.put("while True:")
        self.region("loop", own, names)

    def region(self, kind, own, names):
        self.scopes.append((kind, own, names))
        self.depth += 1
        end = self.block()
        self.depth -= 1
        self.scopes.pop()
        return end

    def op_if(self, names, rest):
        self.put("if bool(%s):" % py(rest.split()[1]))
        end = self.region("if", [], names)
        if "else" in end:
            self.put("else:")
            self.region("if", [], names)

    def jump(self, kinds, names, rest, word):
        values = [py(v) for v in re.match(r"\w+ ?(.*?)(?: :|$)", rest).group(1).split(", ") if v.startswith("%")]
        scope = next(s for s in reversed(self.scopes) if s[0] in kinds)
        target = scope[1] if word == "continue" else scope[2]
        if target and values:
            self.put("%s = %s" % (", ".join(target), ", ".join(values)) if len(target) > 1 else "%s = %s" % (target[0], values[0]))
        self.put(word if word != "yield" else "pass")

    def op_yield(self, names, rest):
        if self.scopes and self.scopes[-1][0] == "body":
            self.put("return [%s]" % ", ".join(py(v) for v in re.match(r"yield (.*?) :", rest).group(1).split(", ")))
        else:
            self.jump(("if",), names, rest, "yield")

    def op_break(self, names, rest):
        self.jump(("loop",), names, rest, "break")

    def op_continue(self, names, rest):
        self.jump(("loop", "for"), names, rest, "continue")

    def op_return(self, names, rest):
        self.put("return")

    def folded(self, f, names, rest):
        m = re.match(r"\w+ (.*?) dim=(\d+) (?:reverse=(\w+) )?identities=\[(.*?)\] : ", rest)
        xs = [py(v) for v in m.group(1).split(", ")]
        elems = [Type(t).elem for t in re.findall(TYPE, rest.split("] : ", 1)[1].split("->")[0])]
        ids = ["constant(%r, %s)" % (v.partition(" : ")[0], self.type("tile<%s>" % e)[1]) for v, e in zip(m.group(4).split(", "), elems)]
        args = re.findall(r"(%[A-Za-z_0-9]+):", self.lines[self.at])
        self.at += 1
        body = "body_%d" % self.at
        self.put("def %s(%s):" % (body, ", ".join(py(a) for a in args)))
        self.region("body", [], [])
        more = ", %s" % (m.group(3) == "true") if f == "scan" else ""
        self.put("%s, = %s(%s, [%s], %s%s, [%s])" % (", ".join(names), f, body, ", ".join(xs), m.group(2), more, ", ".join(ids)))

    def op_reduce(self, names, rest): self.folded("reduce", names, rest)
    def op_scan(self, names, rest): self.folded("scan", names, rest)

    # ---- memory ----
    def op_make_tensor_view(self, names, rest):
        m = re.match(r"make_tensor_view (%\S+), shape = \[(.*?)\], strides = \[(.*?)\] : .*tensor_view<(?:[0-9?]+x)*(\w+), strides", rest)
        def values(t): return "[%s]" % ", ".join(py(v) if v.startswith("%") else v for v in t.split(", ") if v)
        self.put("%s = View(%s, %r, %s, %s)" % (names[0], py(m.group(1)), m.group(4), values(m.group(2)), values(m.group(3))))

    def view(self, names, rest):
        m = re.match(r"\w+ (%\S+) : \w+<tile=\(([0-9x]*)\)(?:, traversal_strides=\[([0-9,]*)\])?(?:, padding_value = (\w+))?", rest)
        tile = [int(v) for v in m.group(2).split("x")]
        steps = [int(v) for v in m.group(3).split(",")] if m.group(3) else tile
        self.put("%s = %s.over(%s, %s, %r)" % (names[0], py(m.group(1)), tile, steps, m.group(4)))

    op_make_partition_view = op_make_strided_view = view

    def op_load_view_tko(self, names, rest):
        m = re.search(r"(%\S+?)\[(.*?)\]", rest)
        self.put("%s = load_view(%s, [%s])" % (names[0], py(m.group(1)), ", ".join(py(v) for v in m.group(2).split(", "))))

    def op_store_view_tko(self, names, rest):
        m = re.search(r"(%\S+), (%\S+?)\[(.*?)\]", rest)
        self.put("store_view(%s, [%s], %s)" % (py(m.group(2)), ", ".join(py(v) for v in m.group(3).split(", ")), py(m.group(1))))

    def memory(self, rest):
        head, types = rest.split(" : ", 1)
        args = [py(v) for v in re.findall(r"%[A-Za-z_0-9.\-]+(?:#\d+)?", re.sub(r"token ?= ?%\S+", "", head))]
        return args, [Type(t) for t in re.findall(TYPE, types)]

    def op_load_ptr_tko(self, names, rest):
        args, types = self.memory(rest)
        args += ["None"] * (3 - len(args))
        self.put("%s = read(%s, %r, %s, %s)" % (names[0], args[0], types[-1].elem, args[1], args[2]))

    def op_store_ptr_tko(self, names, rest):
        args, types = self.memory(rest)
        args += ["None"] * (3 - len(args))
        self.put("write(%s, %r, %s, %s)" % (args[0], types[1].elem, args[1], args[2]))

    def op_atomic_rmw_tko(self, names, rest):
        how = re.search(r"%\S+, ([a-z]+), %", rest).group(1)
        args, types = self.memory(rest)
        args += ["None"] * (3 - len(args))
        self.put("%s = rmw(%s, %r, %s, %s, %r)" % (names[0], args[0], how, args[1], args[2], types[1].elem))

    def op_atomic_cas_tko(self, names, rest):
        args, types = self.memory(rest)
        args += ["None"] * (4 - len(args))
        self.put("%s = cas(%s, %r)" % (names[0], ", ".join(args[:4]), types[1].elem))

    def op_print_tko(self, names, rest):
        m = re.match(r'print_tko ("(?:[^"\\]|\\.)*")', rest)
        args, _ = self.memory(rest[m.end():] if " : " in rest[m.end():] else " : ")
        self.put("printf(%r, %s)" % (m.group(1)[1:-1], ", ".join(args)))

    def op_assert(self, names, rest):
        m = re.match(r'assert (%\S+), (".*?") :', rest)
        self.put("assertion(%s, %s)" % (py(m.group(1)), m.group(2)))

    # ---- values ----
    def op_constant(self, names, rest):
        m = re.match(r"constant <[^:]*: (.*)> : (%s)$" % TYPE, rest)
        self.put("%s = constant(%r, %s)" % (names[0], m.group(1), self.type(m.group(2))[1]))

    def simple(self, op, names, rest):
        head, _, types = rest.rpartition(" : ") if " : " in rest else (rest, "", "")
        ts = [Type(t) for t in re.findall(TYPE, types)]
        a = [py(v) for v in re.findall(r"%[A-Za-z_0-9.\-]+(?:#\d+)?", head)]
        words = re.sub(r"%[A-Za-z_0-9.\-]+(?:#\d+)?", "", head)
        mode = re.search(r"rounding<(\w+)>", words)
        mode = mode.group(1) if mode and mode.group(1) != "nearest_even" else None
        ftz, signed = "flush_to_zero" in words, "unsigned" not in words
        nsw = "no_signed_wrap" if "no_signed_wrap" in words else ""
        e = ts[-1].elem if ts else None
        text = None
        if op in ("make_token", "join_tokens"):
            return
        if op == "get_tile_block_id":
            text = "BID"
        elif op == "iota":
            text = "np.arange(%d).astype(%s).reshape(%r)" % (int(np.prod(ts[0].shape)), self.type("tile<%s>" % e)[1] + ".dtype", ts[0].shape)
        elif op in ("addi", "subi", "muli"):
            text = "exact_int(lambda x, y: x %s y, %s, %s, %r, %r)" % ({"a": "+", "s": "-", "m": "*"}[op[0]], a[0], a[1], e, nsw)
        elif op in ("andi", "ori", "xori"):
            text = "%s %s %s" % (a[0], {"a": "&", "o": "|", "x": "^"}[op[0]], a[1])
        elif op == "divi":
            text = "divide(%s, %s, %r, %s, %r)" % (a[0], a[1], e, signed, mode)
        elif op == "remi":
            text = "remainder(%s, %s, %r, %s)" % (a[0], a[1], e, signed)
        elif op == "shli":
            text = "shl(%s, %s, %r)" % (a[0], a[1], e)
        elif op == "shri":
            text = "shr(%s, %s, %r, %s)" % (a[0], a[1], e, signed)
        elif op == "mulhii":
            text = "mulhi(%s, %s, %r)" % (a[0], a[1], e)
        elif op == "negi":
            text = "exact_int(lambda x, y: x - y, np.zeros_like(%s), %s, %r, %r)" % (a[0], a[0], e, nsw)
        elif op == "absi":
            text = "np.abs(%s)" % a[0]
        elif op in ("maxi", "mini"):
            f = "np.maximum" if op == "maxi" else "np.minimum"
            text = "%s(%s, %s)" % (f, a[0], a[1]) if signed else "%s(unsigned(%s), unsigned(%s)).view(%s.dtype)" % (f, a[0], a[1], a[0])
        elif op in ("cmpi", "cmpf"):
            text = "compare(%r, %s, %s, %s, %s, %s)" % (words.split()[1], a[0], a[1], signed, "unordered" not in words, op == "cmpi")
        elif op in ("addf", "subf", "mulf", "divf"):
            text = "arithmetic(lambda x, y: x %s y, [%s, %s], %r, %r, %s)" % ({"a": "+", "s": "-", "m": "*", "d": "/"}[op[0]], a[0], a[1], e, mode, ftz)
        elif op == "fma":
            text = "fma(%s, %r, %r, %s)" % (", ".join(a), e, mode, ftz)
        elif op in ("maxf", "minf"):
            text = "extreme(%r, flush(%s, %s), flush(%s, %s), %s)" % (op[:3], a[0], ftz, a[1], ftz, "propagate_nan" in words)
        elif op == "negf":
            text = "-%s" % a[0]
        elif op == "absf":
            text = "np.abs(%s)" % a[0]
        elif op == "remf":
            text = "quiet(np.fmod, %s, %s).astype(%s.dtype)" % (a[0], a[1], a[0])
        elif op in ("sqrt", "exp", "exp2", "log", "log2", "sin", "cos", "tan", "sinh", "cosh", "tanh", "ceil", "floor"):
            if op == "sqrt" and mode and mode not in ("approx", "full"):
                text = "flush(directed_sqrt(flush(%s, %s), %r, %r), %s)" % (a[0], ftz, e, mode, ftz)
            else:
                text = "flush(math_f32(np.%s, flush(%s, %s), %r), %s)" % (op, a[0], ftz, e, ftz)
        elif op == "rsqrt":
            text = "flush(math_f32(lambda x: 1 / np.sqrt(x), flush(%s, %s), %r), %s)" % (a[0], ftz, e, ftz)
        elif op in ("atan2", "pow", "fpowf"):
            text = "quiet(np.%s, np.asarray(%s, np.float64), np.asarray(%s, np.float64)).astype(%s.dtype)" % ("arctan2" if op == "atan2" else "power", a[0], a[1], a[0])
        elif op == "select":
            text = "np.where(%s, %s, %s)" % tuple(a)
        elif op == "exti":
            t = self.type("tile<%s>" % e)[1]
            text = "%s.astype(%s.dtype)" % (a[0], t) if signed else "unsigned(%s).astype(%s.dtype)" % (a[0], t)
        elif op == "trunci":
            text = "(%s & 1) != 0" % a[0] if e == "i1" else "quiet_cast(%s, %s.dtype)" % (a[0], self.type("tile<%s>" % e)[1])
        elif op == "ftof":
            text = "cast_float(%s, %r, %r)" % (a[0], ts[0].elem, e)
        elif op == "ftoi":
            text = "to_int(%s, %r, %s)" % (a[0], e, signed)
        elif op == "itof":
            text = "to_float(%s, %r, %s)" % (a[0], e, signed)
        elif op == "bitcast":
            text = "bitcast(%s, %r)" % (a[0], e)
        elif op == "alloca":
            text = "allocated(%d)" % (int(re.search(r"num_elem = (\d+)", rest).group(1)) * DTYPES[e].itemsize)
        elif op == "get_global":
            text = "GLOBALS[%r]" % re.search(r"@(\S+)", rest).group(1)
        elif op in ("ptr_to_ptr", "ptr_to_int", "int_to_ptr"):
            text = a[0]
        elif op == "offset":
            text = "%s + %s.astype(np.int64) * %d" % (a[0], a[1], DTYPES[e].itemsize)
        elif op == "reshape":
            text = "np.reshape(%s, %r)" % (a[0], ts[1].shape)
        elif op == "broadcast":
            text = "np.broadcast_to(%s, %r)" % (a[0], ts[1].shape)
        elif op == "permute":
            text = "np.transpose(%s, %s)" % (a[0], re.search(r"\[(.*?)\]", rest).group(0))
        elif op == "cat":
            text = "np.concatenate([%s, %s], %s)" % (a[0], a[1], re.search(r"dim = (\d+)", rest).group(1))
        elif op == "extract":
            m = re.match(r"extract (%\S+?)\[(.*?)\]", rest)
            text = "extract(%s, %r, [%s])" % (py(m.group(1)), ts[1].shape, ", ".join(py(v) for v in m.group(2).split(", ")))
        elif op in ("mmaf", "mmai"):
            kinds = re.findall(r"\b(?:un)?signed\b", words)
            text = "products(%s, %r, %r)" % (", ".join(a), kinds, e)
        elif op.startswith("assume"):
            text = a[0]
        if text is None:
            raise NotImplementedError(rest)
        self.put("%s = %s" % (", ".join(names), text))


def quiet(f, *args):
    with np.errstate(all="ignore"):
        return np.asarray(f(*args))


blocks_of_memory = []           # kept to the end: nothing says when one is given back


def allocated(size):
    blocks_of_memory.append(np.zeros(size + 16, np.uint8))
    return np.asarray((blocks_of_memory[-1].ctypes.data + 15) & ~15)


def quiet_cast(x, d):
    return np.asarray(x).astype(d)


def directed_sqrt(x, elem, mode):
    def one(v):
        if not math.isfinite(v) or v <= 0:
            return math.sqrt(v) if v >= 0 or v == 0 else math.nan
        f, scale = Fraction(v), 400
        n = math.isqrt(int(f * Fraction(4) ** scale * Fraction(4) ** 700))
        exact = Fraction(n * n) == f * Fraction(4) ** scale * Fraction(4) ** 700
        r = Fraction(2 * n + (0 if exact else 1), 2) / Fraction(2) ** (scale + 700)
        return round_to(r, elem, mode)
    return np.vectorize(one, otypes=[np.float64])(np.asarray(x, np.float64)).astype(DTYPES[elem])


def steps(lo, hi, step, signed):
    d = np.asarray(lo).dtype
    lo, hi, step = [int(v if signed else unsigned(v)) for v in (lo, hi, step)]
    return (np.asarray(i, d if signed else unsigned(np.zeros((), d)).dtype).view(d) for i in range(lo, hi, step))


class Kernel:
    def __init__(self, name, params, body, arrays):
        t = Translator(body)
        t.block()
        names = [py(n) for n, _ in params]
        self.name, self.params = name, [Type(p) for _, p in params]
        self.source = "def kernel(BID, %s):\n%s\n" % (", ".join(names), "\n".join(t.out) or "\tpass")
        space = dict(globals(), T=t.types, GLOBALS=arrays)
        exec(compile(self.source, name, "exec"), space)
        self.run = space["kernel"]

    def launch(self, blocks, args):
        with np.errstate(all="ignore"):
            self.blocks(blocks, args)

    def blocks(self, blocks, args):
        values = [np.frombuffer((ctypes.c_uint8 * (8 if t.ptr else t.dtype.itemsize)).from_address(p), np.int64 if t.ptr else t.dtype)[0]
                  for t, p in zip(self.params, args)]
        values = [np.asarray(v) for v in values]
        for b in range(blocks):
            self.run((np.int32(b), np.int32(0), np.int32(0)), *values)


def constant_array(line):
    """(name, address) of `global constant @name alignment = 4 <i8: "0x..."> : tile<256xi8>`, or of one number for all bytes"""
    m = re.match(r"global +constant @(\S+) .*?<i8: (.*)> : (%s)$" % TYPE, line)
    data = constant(m.group(2), Type(m.group(3))).tobytes()
    at = allocated(len(data))
    ctypes.memmove(int(at), data, len(data))
    return m.group(1), at


def kernels(text):
    """By the name in the mangled one."""
    found = {}
    lines = text.splitlines()
    arrays = dict(constant_array(line) for line in lines if line.startswith("global"))
    for i, line in enumerate(lines):
        m = re.match(r"entry @(\S+?)\((.*)\) .*{$", line)
        if m:
            params = re.findall(r"(%%\w+): (%s)" % TYPE, m.group(2))
            found[m.group(1)] = (params, lines[i + 1:], arrays)
    return found
