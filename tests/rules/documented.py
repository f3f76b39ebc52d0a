"""The documented typing rules, stated once more in Python: what table.py compares ctilec with.

Written from the text of the CUDA Tile C++ documents and from what the vendor's compiler was observed to accept, not from
ctilec's sources. Where the ctile language differs on purpose (docs/language.md 18) the difference is one function whose
comment begins with "ctile:".

A type is a Type(elem, shape); shape None is a scalar, () a tile of rank 0. Each question answers with a Type, or with the
set of codes of which the compiler has to give one.
"""
from collections import namedtuple

Type = namedtuple("Type", "elem shape")

SIGNED = ["i8", "i16", "i32", "i64"]
UNSIGNED = ["bool", "u8", "u16", "u32", "u64"]
INTEGRAL = SIGNED + UNSIGNED
BASIC = ["f16", "bf16", "f32", "f64"]
RESTRICTED = ["tf32", "f8e4m3", "f8e5m2"]
FLOATS = BASIC + RESTRICTED
NUMERIC = INTEGRAL + FLOATS
ARITH = INTEGRAL + BASIC
POINTERS = ["ptr<f32>", "ptr<i32>", "ptr<void>"]

NUMBER_OF_VALUE_BITS = {"bool": 1, "i8": 7, "i16": 15, "i32": 31, "i64": 63, "u8": 8, "u16": 16, "u32": 32, "u64": 64}
BYTES = {"bool": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8,
         "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "tf32": 4, "f8e4m3": 1, "f8e5m2": 1}
# "The floating point conversion ranks form a partial order": the pairs of the document, closed under transitivity
RANK = {"f8e4m3": 8, "f8e5m2": 8, "f16": 16, "bf16": 16, "tf32": 19, "f32": 32, "f64": 64}

NARROWS, NO_COMMON, BROADCAST, RESTRICTED_USE, NOT_INT, NOT_FLOAT, NOT_NUMBER, TOO_LARGE = (
    "E0261", "E0260", "E0262", "E0263", "E0264", "E0265", "E0266", "E0278")


def is_ptr(e):
    return e.startswith("ptr<")


def size_of(e):
    return 8 if is_ptr(e) else BYTES[e]


def text(t):
    if t.shape is None:
        return t.elem
    return "tile<%s, [%s]>" % (t.elem, ", ".join(map(str, t.shape)))


# ---- element types ----

def holds_every_value(to, of):
    """Integers: does `to` represent each value of `of`?"""
    if of in SIGNED and to in UNSIGNED:
        return False
    return NUMBER_OF_VALUE_BITS[to] >= NUMBER_OF_VALUE_BITS[of]


def narrowing(a, b):
    """Is the conversion from a to b narrowing (or not there at all)?"""
    if a == b:
        return False
    if is_ptr(a) or is_ptr(b):
        return not (is_ptr(a) and b == "ptr<void>")
    if a in FLOATS and b in FLOATS:
        return RANK[b] <= RANK[a]
    if a in FLOATS or b in FLOATS:
        return True
    return not holds_every_value(b, a)


def common_type(a, b):
    """The arithmetic common type, None where there is none."""
    if a == b:
        return a
    if a in FLOATS and b in FLOATS:
        return None if RANK[a] == RANK[b] else max(a, b, key=RANK.get)
    if a in FLOATS:
        return a
    if b in FLOATS:
        return b
    width = {"bool": 1}
    rank = lambda e: width.get(e, 8 * size_of(e))
    if (a in SIGNED) == (b in SIGNED):
        return a if rank(a) > rank(b) else b
    s, u = (a, b) if a in SIGNED else (b, a)
    if rank(u) >= rank(s):
        return u
    if holds_every_value(s, u):
        return s
    return "u" + s[1:]


# ---- shapes ----

def mutual_shape(a, b):
    """The mutual broadcast shape; None: not compatible. Scalars have rank 0."""
    a, b = a or (), b or ()
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
    out = []
    for x, y in zip(a, b):
        if x != y and x != 1 and y != 1:
            return None
        out.append(max(x, y))
    return tuple(out)


def broadcastable(a, to):
    a = a or ()
    return len(a) <= len(to) and all(x == 1 or x == y for x, y in zip(a[::-1], to[::-1]))


def tile_limits(elem, shape):
    """The codes a tile type may be refused with; empty: it is one."""
    bad, count = set(), 1
    for d in shape:
        if d < 1 or d & (d - 1):
            return {"E0243"}
        if d > 1 << 24:
            bad.add("E0244")
        count *= d
    if len(shape) > 8:
        bad.add("E0246")        # ctile: tiles have at most 8 dimensions
    if count > 1 << 24:
        bad.add("E0245")
    if count * size_of(elem) > 16 << 20:
        bad.add("E0247")
    return bad


def shaped(elem, a, b):
    """A result of two operands: a scalar of two scalars, else a tile of the mutual broadcast shape."""
    if a.shape is None and b.shape is None:
        return Type(elem, None)
    s = mutual_shape(a.shape, b.shape)
    if s is None:
        return {BROADCAST}
    return {TOO_LARGE} if tile_limits(elem, s) else Type(elem, s)


# ---- operators ----

def operand_faults(a, b, integers=False, both_basic=False):
    bad = set()
    for t in (a, b):
        if is_ptr(t.elem):
            bad.add(NOT_NUMBER)
            bad.add("E0279")
        elif integers and t.elem not in INTEGRAL:
            bad |= {NOT_INT, RESTRICTED_USE} if t.elem in RESTRICTED else {NOT_INT}
        elif t.elem in RESTRICTED:
            bad.add(RESTRICTED_USE)
        elif both_basic and t.elem not in BASIC:
            bad.add(NOT_FLOAT)
    return bad


def brought_to(elem, a, b):
    """Each operand converts to elem; narrowing is ill-formed, but integral to floating is forgiven."""
    for t in (a, b):
        if narrowing(t.elem, elem) and not (t.elem in INTEGRAL and elem in FLOATS):
            return {NARROWS}
    return None


def arithmetic(a, b, integers=False, both_basic=False, to_float=False):
    """+ - * / min max and the like: arithmetic tile conversion. ctile: two scalars follow the rule of two tiles."""
    bad = operand_faults(a, b, integers, both_basic)
    if bad:
        return bad
    if (a.shape is None) != (b.shape is None):
        elem = b.elem if a.shape is None else a.elem
    else:
        elem = common_type(a.elem, b.elem)
        if elem is None:
            return {NO_COMMON}
    bad = brought_to(elem, a, b)
    if bad:
        return bad | ({NOT_FLOAT} if to_float and elem not in BASIC else set())
    if to_float and elem not in BASIC:
        return {NOT_FLOAT}
    return shaped(elem, a, b)


def shift(a, b):
    return operand_faults(a, b, integers=True) or shaped(a.elem, a, b)


def comparison(a, b):
    """Arithmetic comparison conversion: the common type, whoever is a scalar."""
    if is_ptr(a.elem) and is_ptr(b.elem):
        if a.elem != b.elem and "ptr<void>" not in (a.elem, b.elem):
            return {NO_COMMON}
        return shaped("bool", a, b)
    bad = operand_faults(a, b)
    if bad:
        return bad
    elem = common_type(a.elem, b.elem)
    if elem is None:
        return {NO_COMMON}
    return brought_to(elem, a, b) or shaped("bool", a, b)


def logic(a, b):
    """&& and ||: every type, pointers too, as bool. ctile: restricted types as conditions are refused at once."""
    if a.elem in RESTRICTED or b.elem in RESTRICTED:
        return {RESTRICTED_USE}
    return shaped("bool", a, b)


def plus_minus(op, a, b):
    """+ and -, which pointers have too: p + i, i + p, p - i, p - q."""
    pa, pb = is_ptr(a.elem), is_ptr(b.elem)
    if not pa and not pb:
        return arithmetic(a, b)
    bad = {"E0279"}
    if pa and pb:
        if op == "+" or a.elem != b.elem:
            return bad | {NOT_NUMBER, NO_COMMON}
        return {"E0280"} if a.elem == "ptr<void>" else shaped("i64", a, b)
    p, i = (a, b) if pa else (b, a)
    if i.elem not in INTEGRAL or (pb and op == "-"):
        return bad | {NOT_NUMBER, RESTRICTED_USE}
    return {"E0280"} if p.elem == "ptr<void>" else shaped(p.elem, a, b)


def binary(op, a, b):
    if op in ("+", "-"):
        return plus_minus(op, a, b)
    if op in ("*", "/", "min", "max", "remainder", "add", "mul"):
        return arithmetic(a, b)
    if op in ("%", "&", "|", "^", "ceildiv", "floordiv", "floormod", "mulhi"):
        return arithmetic(a, b, integers=True)
    if op in ("<<", ">>"):
        return shift(a, b)
    if op in ("==", "!=", "<", "<=", ">", ">="):
        return comparison(a, b)
    if op in ("&&", "||"):
        return logic(a, b)
    if op in ("pow", "hypot", "fmod"):
        return arithmetic(a, b, both_basic=True)
    if op == "atan2":
        return arithmetic(a, b, to_float=True)
    raise KeyError(op)


OPERATORS = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">=", "&&", "||"]
FUNCTIONS = ["min", "max", "remainder", "ceildiv", "floordiv", "mulhi", "pow", "atan2"]


def unary(op, t):
    e = t.elem
    if op == "!":
        return {RESTRICTED_USE} if e in RESTRICTED else Type("bool", t.shape)
    if is_ptr(e):
        return t if op == "+" else {NOT_NUMBER, NOT_INT, NOT_FLOAT, RESTRICTED_USE}
    if op in ("isnan", "isinf"):
        return Type("bool", t.shape) if e in FLOATS else {NOT_FLOAT}
    if op == "~":
        return t if e in INTEGRAL else {NOT_INT, RESTRICTED_USE}
    if e in RESTRICTED:
        return {RESTRICTED_USE, NOT_FLOAT}
    if op == "+":
        return Type("i32", t.shape) if e in INTEGRAL and size_of(e) < 4 else t
    if op in ("-", "abs"):
        return t
    return t if e in BASIC else {NOT_FLOAT}


MATH = ["ceil", "floor", "cos", "cosh", "sin", "sinh", "tan", "tanh", "exp", "exp2", "log", "log2", "sqrt", "rsqrt"]
UNARY = ["+", "-", "~", "!", "abs", "isnan", "isinf"] + MATH


# ---- conversions ----

def implicit(t, to, variable):
    """Assignment and initialisation (of a variable), argument: the same shape, no narrowing. ctile: a variable of tile
    type takes a scalar by broadcast; an argument of another shape may also be E0229, which names the parameter."""
    fits = t.shape == to.shape or (t.shape is None and (variable or to.shape == ()))
    if not fits:
        return {"E0251"} if variable or to.shape is None else {"E0229", "E0251"}
    if narrowing(t.elem, to.elem):
        return {"E0252" if is_ptr(t.elem) or is_ptr(to.elem) else "E0250"}      # E0252: there is no conversion at all
    return to


def element_cast(t, elem):
    if t.elem == elem:
        return t
    if is_ptr(t.elem) or is_ptr(elem):
        ok = is_ptr(t.elem) and elem in ("bool", "ptr<void>")
        return Type(elem, t.shape) if ok else {"E0272"}
    return Type(elem, t.shape)


def scalar_cast(t, elem):
    """f32(x): a scalar, or a tile of one element."""
    if t.shape is not None and any(d != 1 for d in t.shape):
        return {"E0273"}
    r = element_cast(t, elem)
    return r if isinstance(r, set) else Type(elem, None)


def element_bitcast(t, elem):
    return Type(elem, t.shape) if size_of(t.elem) == size_of(elem) else {"E0317"}


def select(c, a, b):
    if c.elem in RESTRICTED:
        return {RESTRICTED_USE}
    if a != b:
        return {"E0270"}
    return a if broadcastable(c.shape, a.shape or ()) else {"E0271"}


def arms(a, b):
    """c ? a : b: the type of the one arm, to which the other converts by itself."""
    for x, to in ((b, a), (a, b)):
        same = x.shape == to.shape or (x.shape is None and to.shape == ())
        if same and not narrowing(x.elem, to.elem):
            return to
    return {"E0270"}


def fma(a, b, acc):
    """The factors convert to the accumulator's type and shape without narrowing; an integer factor narrows."""
    if acc.elem not in BASIC:
        return {NOT_FLOAT, RESTRICTED_USE, "E0322"}
    if a.elem in RESTRICTED or b.elem in RESTRICTED:
        return {RESTRICTED_USE, "E0322"}
    for f in (a, b):
        fits = broadcastable(f.shape, acc.shape or ())
        if not fits or narrowing(f.elem, acc.elem):
            return {"E0322"}
    return acc


# ---- literals: ctile's own rules (docs/language.md 3) ----

LIMITS = {e: ((-(1 << (8 * size_of(e) - 1)), (1 << (8 * size_of(e) - 1)) - 1) if e in SIGNED
              else (0, (1 << (1 if e == "bool" else 8 * size_of(e))) - 1)) for e in INTEGRAL}
GREATEST = {"f16": 65504, "bf16": (2 ** 8 - 1) * 2 ** 120, "f32": (2 ** 24 - 1) * 2 ** 104, "f64": (2 ** 53 - 1) * 2 ** 971}
DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}


def integer_fits(v, e):
    if e in INTEGRAL:
        return LIMITS[e][0] <= v <= LIMITS[e][1]
    v = abs(v)
    while v and v % 2 == 0:
        v //= 2
    return v < 1 << DIGITS[e]


def adapted(lit, e):
    """The type a literal takes beside an operand of type e, or the code."""
    if is_ptr(e):
        return {"E0254", "E0255"}
    if isinstance(lit, float) and e in INTEGRAL:
        return {"E0255"}
    if isinstance(lit, float):
        return e if abs(lit) <= GREATEST[e] else {"E0254"}
    return e if integer_fits(lit, e) and (e in INTEGRAL or abs(lit) <= GREATEST[e]) else {"E0254"}


def with_literal(op, t, lit):
    """t op lit."""
    e, flt = t.elem, isinstance(lit, float)
    if op in ("&&", "||"):
        return {RESTRICTED_USE} if e in RESTRICTED else Type("bool", t.shape)
    if is_ptr(e):
        if op in ("+", "-") and not flt and not integer_fits(lit, "i64"):
            return {"E0254"}
        if op in ("+", "-") and not flt:
            return {"E0280"} if e == "ptr<void>" else t
        return {"E0279", "E0254", "E0255", "E0266", "E0260", NOT_INT, NOT_FLOAT}
    if e in RESTRICTED:
        return {RESTRICTED_USE, NOT_INT}
    compares = op in ("==", "!=", "<", "<=", ">", ">=")
    ints_only = op in ("%", "&", "|", "^", "<<", ">>", "ceildiv", "floordiv", "mulhi")
    if ints_only and (flt or e not in INTEGRAL):
        return {NOT_INT, "E0255"}
    if op in ("pow", "atan2") and e not in BASIC:
        return {NOT_FLOAT}
    if compares and flt and e in INTEGRAL:
        return Type("bool", t.shape)            # compared in f64, as documented
    a = adapted(lit, e)
    if isinstance(a, set):
        return a
    return Type("bool" if compares else e, t.shape)


# ---- operations on tiles ----

MMA = {"f16": ["f16", "f32"], "f8e4m3": ["f16", "f32"], "f8e5m2": ["f16", "f32"], "bf16": ["f32"], "tf32": ["f32"],
       "f32": ["f32"], "f64": ["f64"], "bool": ["i32"], "i8": ["i32"], "u8": ["i32"]}


def mma(a, b, acc=None):
    """acc None: matmul."""
    ts = [a, b] + ([acc] if acc else [])
    if any(t.shape is None for t in ts):
        return {"E0268"}
    bad = set()
    if any(len(t.shape) not in (2, 3) or len(t.shape) != len(a.shape) for t in ts):
        bad.add("E0334")
    if a.elem not in MMA or b.elem not in MMA:
        bad.add("E0330")
    elif a.elem != b.elem and (a.elem in FLOATS or b.elem in FLOATS):
        bad.add("E0331")
    elif acc and acc.elem not in MMA[a.elem]:
        bad.add("E0332")
    if bad & {"E0334"}:
        return bad
    n = len(a.shape)
    if a.shape[n - 1] != b.shape[n - 2]:
        bad.add("E0333")
    shape = (a.shape[n - 2], b.shape[n - 1])
    if n == 3:
        batch = acc.shape[0] if acc else max(a.shape[0], b.shape[0])
        if any(t.shape[0] not in (1, batch) for t in (a, b)):
            bad.add("E0334")
        shape = (batch,) + shape
    if acc and acc.shape != shape:
        bad.add("E0334")
    if bad:
        return bad
    t = Type(acc.elem if acc else MMA[a.elem][0], shape)
    return {TOO_LARGE} if tile_limits(t.elem, t.shape) else t


REDUCTIONS = ["sum", "prod", "reduce_max", "reduce_min", "max_element", "min_element", "argmax", "any_of", "all_of", "reduce_bitand",
              "reduce_bitor", "reduce_bitxor", "partial_sum", "partial_prod"]


def reduction(op, t, axis):
    """The axis stays with length 1; scans keep the shape."""
    bad = set()
    if t.shape is None:
        return {"E0268"}
    if op in ("any_of", "all_of"):
        if t.elem in RESTRICTED:
            bad.add(RESTRICTED_USE)
    elif is_ptr(t.elem):
        bad |= {NOT_NUMBER, NOT_INT}
    elif op.startswith("reduce_bit"):
        if t.elem not in INTEGRAL:
            bad |= {NOT_INT, RESTRICTED_USE}
    elif t.elem in RESTRICTED:
        bad.add(RESTRICTED_USE)
    if not t.shape:
        bad |= {"E0340", "E0308"}
    elif not 0 <= axis < len(t.shape):
        bad.add("E0308")
    if bad:
        return bad
    elem = {"max_element": "u32", "min_element": "u32", "argmax": "i32", "any_of": "bool", "all_of": "bool"}.get(op, t.elem)
    if op.startswith("partial"):
        return t
    return Type(elem, t.shape[:axis] + (1,) + t.shape[axis + 1:])


def cat(a, b, axis):
    if a.shape is None or b.shape is None:
        return {"E0268"}
    bad = set()
    if not 0 <= axis < len(a.shape):
        bad.add("E0308")
    if a != b:
        bad.add("E0313")
    if bad:
        return bad
    shape = a.shape[:axis] + (2 * a.shape[axis],) + a.shape[axis + 1:]
    return {TOO_LARGE} if tile_limits(a.elem, shape) else Type(a.elem, shape)


def reshape(t, shape):
    bad = tile_limits(t.elem, shape)
    if bad:
        return bad
    count = 1
    for d in t.shape or ():
        count *= d
    for d in shape:
        count = count // d if count % d == 0 else 0
    return Type(t.elem, tuple(shape)) if count == 1 else {"E0310"}


def broadcast(t, shape):
    bad = tile_limits(t.elem, shape)
    if bad:
        return bad
    return Type(t.elem, tuple(shape)) if broadcastable(t.shape, shape) else {"E0311"}


def extract(t, shape):
    bad = tile_limits(t.elem, shape)
    if bad:
        return bad
    have = t.shape or ()
    ok = len(shape) == len(have) and all(x % s == 0 for x, s in zip(have, shape))
    return Type(t.elem, tuple(shape)) if ok else {"E0314"}


def permute(t, axes):
    if sorted(axes) != list(range(len(t.shape or ()))):
        return {"E0312"}
    return t if t.shape is None else Type(t.elem, tuple(t.shape[a] for a in axes))


def transpose(t):
    if t.shape is None or len(t.shape) < 2:
        return t
    return Type(t.elem, (t.shape[1], t.shape[0]) + t.shape[2:])


def iota(elem, shape):
    bad = tile_limits(elem, shape)
    if elem not in INTEGRAL:
        return bad | {NOT_INT}
    count = 1
    for d in shape:
        count *= d
    if count - 1 > LIMITS[elem][1]:
        bad.add("E0316")
    return bad or Type(elem, tuple(shape))


# ---- modes ----

IEEE = ["nearest_even", "toward_zero", "toward_negative", "toward_positive"]


def mode_allowed(op, mode, word, e):
    """Which words an operation takes for a mode on element type e."""
    if e not in BASIC:
        return False
    if mode == "rounding":
        if op in ("add", "sub", "mul", "fma", "sum", "prod", "partial_sum", "partial_prod"):
            return word in IEEE
        if op == "div":
            return word in IEEE or (word in ("approximate", "full") and e == "f32")
        if op == "sqrt":
            return word in IEEE or (word == "approximate" and e == "f32")
        return word == "full" or (word == "approximate" and e == "f32")        # exp, tanh
    if mode == "subnormals":
        return word == "preserve" or e == "f32"
    return word in ("suppress", "propagate")
