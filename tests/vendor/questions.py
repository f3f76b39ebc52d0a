"""The typing questions that are put to the vendor's compiler (ask.py) and to ctilec (judge.py).

A question stands in a section, under a heading (the kinds of the operands) and a form (the expression), in a row and a
column; its operands are a, b, c, d. The same question is spelled in the ctile language and in CUDA Tile C++, and where
tests/rules/documented.py states the rule, what it says comes along.

tile is a tile of shape [4], rank0 a tile of rank 0, scalar a scalar.
"""
import os
import sys
from itertools import product

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "rules"), os.path.join(HERE, "..", "run")]
import documented as doc
from documented import ARITH, BASIC, FLOATS, INTEGRAL, NUMERIC, POINTERS, RESTRICTED, Type
from table import all_shapes, axis_lists

KINDS = {"tile": (4,), "rank0": (), "scalar": None}
ELEMENTS = NUMERIC + POINTERS

CPP = {"bool": "bool", "i8": "signed char", "i16": "short", "i32": "int", "i64": "long long", "u8": "unsigned char",
       "u16": "unsigned short", "u32": "unsigned", "u64": "unsigned long long", "f16": "__half", "bf16": "__nv_bfloat16",
       "f32": "float", "f64": "double", "tf32": "__nv_tf32", "f8e4m3": "__nv_fp8_e4m3", "f8e5m2": "__nv_fp8_e5m2", "void": "void"}


def cpp_element(e):
    return cpp_element(e[4:-1]) + "*" if doc.is_ptr(e) else CPP[e]


def cpp_shape(shape):
    return "ct::shape<%s>" % ", ".join(map(str, shape))


def cpp_type(t):
    if isinstance(t, str):
        return t
    return cpp_element(t.elem) if t.shape is None else "ct::tile<%s, %s>" % (cpp_element(t.elem), cpp_shape(t.shape))


def short_shape(shape):
    return "scalar" if shape is None else "[%s]" % ",".join(map(str, shape))


def spell(shape):
    return "[%s]" % ", ".join(map(str, shape))


class Question:
    """params: the operands, a Type or the text of a ctile type. tile: an expression, or a statement (it ends in ; or }).
    cpp: the expression; types: what its template parameters A, B, C, D stand for, by default params.
    says: the documented rule's answer (documented.py), None where it has none.
    like: not asked; the answer is that under another heading, or (heading, row, column), for the reason in differences.py."""
    def __init__(self, section, heading, form, row, col, params, tile, cpp, types=None, says=None, like=None):
        self.section, self.heading, self.form, self.row, self.col = section, heading, form, row, col
        self.params, self.tile, self.cpp, self.says, self.like = tuple(params), tile, cpp, says, like
        self.types = tuple(params if types is None else types)

    @property
    def key(self):
        return self.section, self.heading, self.form, self.row, self.col

    @property
    def is_statement(self):
        return self.tile[-1] in ";}"


# ---- operators ----

CALLS = ["add", "sub", "mul", "div", "min", "max", "remainder", "ceildiv", "floordiv", "mulhi", "pow", "atan2"]
SAME_RULE = {"sub": "*", "div": "/"}


def binary_forms():
    for op in doc.OPERATORS:
        yield op, "a %s b" % op, "a %s b" % op
    for op in CALLS:
        yield op, "%s(a, b)" % op, "ct::%s(a, b)" % op


def ask_binary():
    """Every operator and two-operand function on every pair of kinds and element types. Operators on two scalars are C++'s
    own and cannot be asked: like two tiles of rank 0."""
    for ka, kb in product(KINDS, KINDS):
        heading = "%s, %s" % (ka, kb)
        for op, form, cpp in binary_forms():
            own = ka == kb == "scalar" and not op[0].isalpha()
            for x, y in product(ELEMENTS, ELEMENTS):
                a, b = Type(x, KINDS[ka]), Type(y, KINDS[kb])
                yield Question("binary", heading, form, x, y, (a, b), form, None if own else cpp,
                               says=doc.binary(SAME_RULE.get(op, op), a, b), like="rank0, rank0" if own else None)


def ask_unary():
    for kind, shape in KINDS.items():
        for op in doc.UNARY:
            form = "%s(a)" % op if op[0].isalpha() else op + "a"
            own = shape is None and not op[0].isalpha()
            for e in ELEMENTS:
                t = Type(e, shape)
                yield Question("unary", kind, "", form, e, (t,), form, None if own else "ct::" + form if op[0].isalpha() else form,
                               says=doc.unary(op, t), like="rank0" if own else None)


# ---- shapes of two operands ----

SHAPES = all_shapes()


def ask_shapes():
    """Broadcast pairs: mutual, one way, none. Operands f32 unless the form needs others."""
    for s, t in product(SHAPES, SHAPES):
        both_scalars = ("a, b", "[]", "[]") if s is None and t is None else None
        f, g, i, j = Type("f32", s), Type("f32", t), Type("i32", s), Type("i32", t)
        p, q, m = Type("ptr<f32>", s), Type("ptr<f32>", t), Type("bool", s)
        row, col = short_shape(s), short_shape(t)

        def q2(form, params, says, cpp=None, operator=True):
            if operator and both_scalars:
                return Question("shapes", "a, b", form, row, col, params, form, None, says=says, like=both_scalars)
            return Question("shapes", "a, b", form, row, col, params, form, cpp or form, says=says)
        for op in ("+", "/", "<", "==", "&&"):
            yield q2("a %s b" % op, (f, g), doc.binary(op, f, g))
        for op in ("max", "pow", "atan2"):
            yield q2("%s(a, b)" % op, (f, g), doc.binary(op, f, g), "ct::%s(a, b)" % op, False)
        for op in ("<<", "&", "%"):
            yield q2("a %s b" % op, (i, j), doc.binary(op, i, j))
        yield q2("mulhi(a, b)", (i, j), doc.binary("mulhi", i, j), "ct::mulhi(a, b)", False)
        yield q2("ptr + i32", (p, j), doc.binary("+", p, j), "a + b").spelled("a + b")
        yield q2("ptr - i32", (p, j), doc.binary("-", p, j), "a - b").spelled("a - b")
        yield q2("i32 + ptr", (i, q), doc.binary("+", i, q), "a + b").spelled("a + b")
        yield q2("ptr - ptr", (p, q), doc.binary("-", p, q), "a - b").spelled("a - b")
        yield q2("ptr == ptr", (p, q), doc.binary("==", p, q), "a == b").spelled("a == b")
        yield q2("fma(a, a, b)", (f, g), doc.fma(f, f, g), "ct::fma(a, a, b)", False)
        yield q2("fma(a, b, b)", (f, g), doc.fma(f, g, g), "ct::fma(a, b, b)", False)
        yield q2("fma(a, b, a)", (f, g), doc.fma(f, g, f), "ct::fma(a, b, a)", False)
        yield q2("select(b, b, bool a)", (m, g), doc.select(m, g, g), "ct::select(a, b, b)", False).spelled("select(a, b, b)")
        yield q2("select(a, b, bool)", (m, f, g), doc.select(m, f, g), "ct::select(a, b, c)", False).spelled("select(a, b, c)")
        if t is not None:
            yield q2("broadcast(a, B)", (f,), doc.broadcast(f, t), "ct::broadcast<%s>(a)" % cpp_shape(t), False).spelled(
                "broadcast(a, %s)" % spell(t))
            yield q2("reshape(a, B)", (f,), doc.reshape(f, t), "ct::reshape<%s>(a)" % cpp_shape(t), False).spelled(
                "reshape(a, %s)" % spell(t))
            yield q2("extract(a, B)", (f,), doc.extract(f, t), "ct::extract(%s)" % ", ".join(
                ["a", cpp_shape(t) + "{}"] + ["0"] * len(t)), False).spelled("extract(a, %s, %s)" % (spell(t), spell((0,) * len(t))))
        for axis in range(-1, 4):
            cpp = "ct::cat(a, b, ct::integral_constant<%d>{})" % axis
            yield q2("cat(a, b, %d)" % axis, (f, g), doc.cat(f, g, axis), cpp, False)


def spelled(self, tile):
    self.tile = tile
    return self


Question.spelled = spelled


def ask_axes():
    """Transposition, permutations, axes of reductions and scans."""
    for s in SHAPES:
        a, row = Type("f32", s), short_shape(s)
        yield Question("axes", "a", "", row, "transpose(a)", (a,), "transpose(a)", "ct::transpose(a)", says=doc.transpose(a))
        for axis in range(-1, 5):
            for op in ("sum", "max_element", "partial_sum"):
                cpp = "ct::%s(a, ct::integral_constant<%d>{})" % (op, axis)
                form = "%s(a, %d)" % (op, axis)
                yield Question("axes", "a", form.split("(")[0] + "(a, axis)", row, str(axis), (a,), form, cpp,
                               says=doc.reduction(op, a, axis))
        for axes in axis_lists(len(s or ())):
            if sorted(axes) != list(range(len(axes))):
                continue        # no dimension_map: what the vendor deduces from such a list is another map
            cpp = "ct::permute<ct::dimension_map<%s>>(a)" % ", ".join(map(str, axes))
            yield Question("axes", "a", "permute(a, axes)", row, short_shape(axes), (a,), "permute(a, %s)" % spell(axes), cpp,
                           says=doc.permute(a, axes))


def ask_cat():
    for s in (None, (), (4,), (2, 4)):
        for x, y in product(ELEMENTS, ELEMENTS):
            a, b = Type(x, s), Type(y, s)
            yield Question("cat", "%s, %s" % (short_shape(s), short_shape(s)), "cat(a, b, 0)", x, y, (a, b), "cat(a, b, 0)",
                           "ct::cat(a, b, ct::integral_constant<0>{})", says=doc.cat(a, b, 0))


# ---- conversions ----

def ask_conversions():
    for kind, shape in list(KINDS.items()) + [("[1]", (1,)), ("[1,1]", (1, 1))]:
        for x, y in product(ELEMENTS, ELEMENTS):
            a = Type(x, shape)
            target = () if doc.is_ptr(y) else (y,)
            for e in target:
                yield Question("conversions", kind, "element_cast(a, T)", x, e, (a,), "element_cast(a, %s)" % e,
                               "ct::element_cast<B>(a)", (a, Type(e, None)), doc.element_cast(a, e))
                yield Question("conversions", kind, "element_bitcast(a, T)", x, e, (a,), "element_bitcast(a, %s)" % e,
                               "ct::element_bitcast<B>(a)", (a, Type(e, None)), doc.element_bitcast(a, e))
                own = shape is None
                yield Question("conversions", kind, "T(a)", x, e, (a,), "%s(a)" % e, None if own else "static_cast<B>(a)",
                               (a, Type(e, None)), doc.scalar_cast(a, e), like="rank0" if own else None)


def ask_implicit():
    """Initialisation, assignment and arguments. Of two scalars C++ converts by its own rules: like two tiles of rank 0."""
    shapes = [("scalar", None), ("rank0", ()), ("[1]", (1,)), ("tile", (4,)), ("[1,4]", (1, 4))]
    for (ka, s), (kb, d) in product(shapes, shapes):
        heading = "%s to %s" % (ka, kb)
        same = ka == kb
        for x, y in product(ELEMENTS, ELEMENTS) if same or s is None or d is None else [("f32", "f32"), ("i8", "i32"), ("i32", "i8")]:
            a, to = Type(x, s), Type(y, d)
            like = "rank0 to rank0" if s is None and d is None else None
            text = doc.text(to)
            for form, body, params, cpp, variable in (
                    ("var v: T = a", "{ var v: %s = a; }" % text, (a,), "takes<B>(a)", True),
                    ("v = a", "{ var v = b; v = a; }", (a, to), "(b = a, done())", True),
                    ("f(a)", "let _ = takes_%s(a);" % mangled(to), (a,), "takes<B>(a)", False)):
                yield Question("implicit", heading, form, x, y, params, body, None if like else cpp, (a, to),
                               doc.implicit(a, to, variable), like)


def mangled(t):
    e = "".join(c for c in t.elem if c.isalnum())
    return e + ("" if t.shape is None else "_t" + "_".join(map(str, t.shape)))


def head():
    """Functions that every .tile file of questions has: takes_T for ask_implicit."""
    out = []
    for e in ELEMENTS:
        for s in (None, (), (1,), (4,), (1, 4)):
            t = Type(e, s)
            out.append("fn takes_%s(x: %s) -> %s { return x; }" % (mangled(t), doc.text(t), doc.text(t)))
    return out


def ask_conditions():
    for s in SHAPES:
        for e in ELEMENTS if s in (None, (), (1,), (4,), (1, 1, 1)) else ["bool", "f32"]:
            a = Type(e, s)
            yield Question("conditions", "a", "if a { }", short_shape(s), e, (a,), "if a { }", "((a ? 1 : 2), done())")


# ---- three operands ----

def ask_arms():
    """c ? a : b. Of two scalars C++ converts by its own rules: like two tiles of rank 0."""
    for ka, kb in product(KINDS, KINDS):
        like = "rank0, rank0" if ka == kb == "scalar" else None
        for x, y in product(ELEMENTS, ELEMENTS):
            a, b = Type(x, KINDS[ka]), Type(y, KINDS[kb])
            yield Question("arms", "%s, %s" % (ka, kb), "c ? a : b", x, y, (a, b, Type("bool", None)), "c ? a : b",
                           None if like else "any<bool>() ? a : b", says=doc.arms(a, b), like=like)


def ask_select():
    for kind, shape in KINDS.items():
        for other, arm in KINDS.items():
            for x, y in product(ELEMENTS, ["f32", "i8", "ptr<f32>"]):
                c, a = Type(x, shape), Type(y, arm)
                yield Question("select", "condition %s, arms %s" % (kind, other), "select(c, a, a)", x, y, (c, a), "select(a, b, b)",
                               "ct::select(a, b, b)", says=doc.select(c, a, a))
    for (ka, s), (kb, t) in product(KINDS.items(), KINDS.items()):
        for x, y in product(ELEMENTS, ELEMENTS):
            c, a, b = Type("bool", None), Type(x, s), Type(y, t)
            yield Question("select", "arms %s, %s" % (ka, kb), "select(bool, a, b)", x, y, (c, a, b), "select(a, b, c)",
                           "ct::select(a, b, c)", says=doc.select(c, a, b))


def ask_fma():
    for (ka, s), (kb, t) in product(KINDS.items(), KINDS.items()):
        for x, y in product(NUMERIC, NUMERIC):
            f, acc = Type(x, s), Type(y, t)
            heading = "factor %s, accumulator %s" % (ka, kb)
            yield Question("fma", heading, "fma(a, acc, acc)", x, y, (f, acc), "fma(a, b, b)", "ct::fma(a, b, b)",
                           says=doc.fma(f, acc, acc))
            yield Question("fma", heading, "fma(acc, a, acc)", x, y, (f, acc), "fma(b, a, b)", "ct::fma(b, a, b)",
                           says=doc.fma(acc, f, acc))
            yield Question("fma", heading, "fma(a, a, acc)", x, y, (f, acc), "fma(a, a, b)", "ct::fma(a, a, b)",
                           says=doc.fma(f, f, acc))


def ask_mma():
    sa, sb, sc = (16, 32), (32, 8), (16, 8)
    for x, y in product(NUMERIC, NUMERIC):
        a, b = Type(x, sa), Type(y, sb)
        for z in NUMERIC:
            c = Type(z, sc)
            yield Question("mma", "[16,32], [32,8]", "mma(a, b, c: %s)" % z, x, y, (a, b, c), "mma(a, b, c)", "ct::mma(a, b, c)",
                           says=doc.mma(a, b, c))
        yield Question("mma", "[16,32], [32,8]", "matmul(a, b)", x, y, (a, b), "matmul(a, b)", "ct::matmul(a, b)", says=doc.mma(a, b))
        yield Question("mma", "[16,32], [32,8]", "a @ b", x, y, (a, b), "a @ b", "ct::matmul(a, b)", says=doc.mma(a, b))
    some = [None, (), (4,), (1, 1), (4, 8), (8, 4), (1, 8), (8, 8), (1, 4, 8), (2, 4, 8), (2, 8, 4), (1, 8, 4), (4, 4, 8), (2, 4, 4),
            (1, 4, 4), (1, 1, 4, 8), (2, 1, 8, 4)]
    for x, y in product(some, some):
        a, b = Type("f16", x), Type("f16", y)
        row, col = short_shape(x), short_shape(y)
        yield Question("mma shapes", "a, b", "matmul(a, b)", row, col, (a, b), "matmul(a, b)", "ct::matmul(a, b)", says=doc.mma(a, b))
        for z in some:
            c = Type("f32", z)
            yield Question("mma shapes", "a, b", "mma(a, b, c: %s)" % short_shape(z), row, col, (a, b, c), "mma(a, b, c)",
                           "ct::mma(a, b, c)", says=doc.mma(a, b, c))


# ---- reductions, tiles ----

def ask_reductions():
    for s in (None, (), (4,), (2, 4)):
        for op in doc.REDUCTIONS:
            if op == "argmax":
                continue
            for e in ELEMENTS:
                a = Type(e, s)
                form = "%s(a, 0)" % op
                yield Question("reductions", short_shape(s), "", form, e, (a,), form, "ct::%s(a, ct::integral_constant<0>{})" % op,
                               says=doc.reduction(op, a, 0))


def ask_tiles():
    """Which tile types there are, what fills them. (A tile above 16 MiB passes the header; a later stage refuses it.)"""
    shapes = [(), (1,), (2,), (4,), (128,), (256,), (1 << 15,), (1 << 16,), (1 << 24,), (1 << 25,), (3,), (0,), (4, 7), (4, 0),
              (1 << 10, 1 << 10), (1 << 12, 1 << 12), (1 << 13, 1 << 12), (1,) * 8, (2,) * 8, (1,) * 9]
    for s in shapes:
        for e in ELEMENTS:
            t = "ct::tile<A, %s>" % cpp_shape(s)
            bad = doc.tile_limits(e, s)
            types = (Type(e, None),)
            row = short_shape(s)
            made = "full(%s, null, %s)" if doc.is_ptr(e) else "zeros(%s, %s)"
            tile = "static_assert(type_of(%s) == tile<%s, %s>);" % (made % (spell(s), e), e, spell(s))
            yield Question("tiles", "T", "tile<T, shape>", row, e, (), tile, "(takes<%s>(any<%s>()))" % (t, t), types, bad or "ok")
            if doc.is_ptr(e):
                continue
            for op in ("zeros", "ones", "iota"):
                says = doc.iota(e, s) if op == "iota" else bad or Type(e, s)
                yield Question("tiles", "T", "%s(shape, T)" % op, row, e, (), "%s(%s, %s)" % (op, spell(s), e), "ct::%s<%s>()" % (op, t),
                               types, says)
    for kind, shape in KINDS.items():
        for x, y in product(NUMERIC, NUMERIC):
            a = Type(x, shape)
            says = Type(y, (4,)) if shape is None and not doc.narrowing(x, y) else {"E0250", "E0251"}
            yield Question("tiles", "a " + kind, "full([4], a, T)", x, y, (a,), "full([4], a, %s)" % y,
                           "ct::full<ct::tile<B, ct::shape<4>>>(a)", (a, Type(y, None)), says)


# ---- modes ----

WORDS = {"rounding": [("nearest_even", "ct::round_ties_to_even_t{}"), ("toward_zero", "ct::round_toward_zero_t{}"),
                      ("toward_negative", "ct::round_toward_negative_t{}"), ("toward_positive", "ct::round_toward_positive_t{}"),
                      ("approximate", "ct::round_approximate_t{}"), ("full", "ct::round_full_t{}")],
         "subnormals": [("preserve", "ct::preserve_subnormals_t{}"), ("flush", "ct::round_subnormals_to_zero_t{}")],
         "nan": [("suppress", "ct::suppress_nan_t{}"), ("propagate", "ct::propagate_nan_t{}")]}
# operation: its operands, and which modes it has, in the vendor's order
MODES = {"add": ("a, a", "rounding subnormals"), "sub": ("a, a", "rounding subnormals"), "mul": ("a, a", "rounding subnormals"),
         "div": ("a, a", "rounding subnormals"), "fma": ("a, a, a", "rounding subnormals"), "sqrt": ("a", "rounding subnormals"),
         "exp": ("a", "rounding"), "tanh": ("a", "rounding"), "exp2": ("a", "subnormals"), "rsqrt": ("a", "subnormals"),
         "max": ("a, a", "nan subnormals"), "min": ("a, a", "nan subnormals"), "reduce_max": ("a, 0", "nan subnormals"),
         "reduce_min": ("a, 0", "nan subnormals"), "sum": ("a, 0", "rounding subnormals"), "prod": ("a, 0", "rounding subnormals"),
         "partial_sum": ("a, 0", "rounding subnormals"), "partial_prod": ("a, 0", "rounding subnormals")}


def mode_rule(op, mode, word, e):
    """What documented.py says: the operation without the mode, where it takes the word."""
    t = Type(e, (4,))
    operands = MODES[op][0]
    if operands == "a, 0":
        plain = doc.reduction(op, t, 0)
    elif operands == "a":
        plain = doc.unary(op, t)
    else:
        plain = doc.fma(t, t, t) if op == "fma" else doc.binary(SAME_RULE.get(op, op), t, t)
    return plain if doc.mode_allowed(op, mode, word, e) else {"E0305"}


def ask_modes():
    for op, (operands, modes) in MODES.items():
        modes = modes.split()
        for mode in modes:
            for word, constant in WORDS[mode]:
                before = ["%s" % WORDS[m][0][1] for m in modes[:modes.index(mode)]]
                cpp = "ct::%s(%s)" % (op, ", ".join([operands.replace("0", "ct::integral_constant<0>{}")] + before + [constant]))
                for e in NUMERIC:
                    form = "%s(%s, %s: %s)" % (op, operands, mode, word)
                    yield Question("modes", "tile", "", form, e, (Type(e, (4,)),), form, cpp, says=mode_rule(op, mode, word, e))


# ---- memory ----

RMW = ["add", "sub", "min", "max", "and", "or", "xor", "xchg"]


def ask_pointers():
    """Loads, stores and atomics through pointer tiles."""
    relaxed = "ct::memory_order_relaxed_t{}"
    for kind, shape in KINDS.items():
        if shape is None:
            continue
        for e in NUMERIC + ["void"]:
            p = Type("ptr<%s>" % e, shape)
            yield Question("pointers", kind, "", "load(p)", e, (p,), "unsafe load(a)", "ct::load(a)")
            yield Question("pointers", kind, "", "atomic_load(p)", e, (p,), "unsafe atomic_load(a)", "ct::atomic_load(a, %s)" % relaxed)
            for x in NUMERIC:
                v = Type(x, shape)
                yield Question("pointers", kind, "store(p, v)", e, x, (p, v), "unsafe store(a, b);", "ct::store(a, b)")
                yield Question("pointers", kind, "atomic_store(p, v)", e, x, (p, v), "unsafe atomic_store(a, b);",
                               "ct::atomic_store(a, b, %s)" % relaxed)
                for other, s in KINDS.items():
                    w = Type(x, s)
                    yield Question("pointers", kind, "load(p, mask, pad: v %s)" % other, e, x, (p, w), "unsafe load(a, mask: true, pad: b)",
                                   "ct::load_masked(a, true, b)")
                for op in RMW:
                    yield Question("pointers", kind, "atomic_%s(p, v)" % op, e, x, (p, v), "unsafe atomic_%s(a, b)" % op,
                                   "ct::atomic_%s(a, b, %s)" % (op, relaxed))
                yield Question("pointers", kind, "atomic_compare_exchange(p, v, v)", e, x, (p, v),
                               "unsafe atomic_compare_exchange(a, b, b)", "ct::atomic_compare_exchange(a, b, b, %s)" % relaxed)
    p, v = Type("ptr<f32>", (4,)), Type("f32", (4,))
    for e in ELEMENTS:
        for kind, shape in KINDS.items():
            m = Type(e, shape)
            yield Question("masks", "tile, tile", "", "load(p, mask: m %s)" % kind, e, (p, m), "unsafe load(a, mask: b)",
                           "ct::load_masked(a, b)")
            yield Question("masks", "tile, tile", "", "store(p, v, mask: m %s)" % kind, e, (p, v, m), "unsafe store(a, b, mask: c);",
                           "ct::store_masked(a, b, c)")
            yield Question("masks", "tile, tile", "", "atomic_add(p, v, mask: m %s)" % kind, e, (p, v, m),
                           "unsafe atomic_add(a, b, mask: c)", "ct::atomic_add_masked(a, b, c, %s)" % relaxed)


def ask_pointer_shapes():
    relaxed = "ct::memory_order_relaxed_t{}"
    for s, t in product(SHAPES, SHAPES):
        p, v, m = Type("ptr<f32>", s), Type("f32", t), Type("bool", t)
        row, col = short_shape(s), short_shape(t)
        for form, params, tile, cpp in (
                ("store(p, v)", (p, v), "unsafe store(a, b);", "ct::store(a, b)"),
                ("atomic_add(p, v)", (p, v), "unsafe atomic_add(a, b)", "ct::atomic_add(a, b, %s)" % relaxed),
                ("load(p, mask: m)", (p, m), "unsafe load(a, mask: b)", "ct::load_masked(a, b)"),
                ("load(p, mask: true, pad: v)", (p, v), "unsafe load(a, mask: true, pad: b)", "ct::load_masked(a, true, b)")):
            yield Question("pointer shapes", "p, v", form, row, col, params, tile, cpp)
    for order, _ in ORDERS:
        for scope, _ in SCOPES:
            yield from order_questions(order, scope)


ORDERS = [("relaxed", "ct::memory_order_relaxed_t{}"), ("acquire", "ct::memory_order_acquire_t{}"),
          ("release", "ct::memory_order_release_t{}"), ("acquire_release", "ct::memory_order_acq_rel_t{}")]
SCOPES = [("block", "ct::thread_scope_block_t{}"), ("device", "ct::thread_scope_device_t{}"), ("system", "ct::thread_scope_system_t{}")]


def order_questions(order, scope):
    p, v = Type("ptr<i32>", (4,)), Type("i32", (4,))
    cpp = "%s, %s" % (dict(ORDERS)[order], dict(SCOPES)[scope])
    tile = "order: %s, scope: %s" % (order, scope)
    for op, args, cppargs, statement in (("load", "a", "a", False), ("store", "a, b", "a, b", True), ("add", "a, b", "a, b", False),
                                         ("compare_exchange", "a, b, b", "a, b, b", False)):
        yield Question("orders", "tile", "atomic_%s" % op, order, scope, (p, v), "unsafe atomic_%s(%s, %s)%s" % (
            op, args, tile, ";" if statement else ""), "ct::atomic_%s(%s, %s)" % (op, cppargs, cpp))


def view_cpp(element, shape, rank):
    return "ct::partition_view<ct::tensor_span<%s, ct::extents<int%s>>, %s>" % (
        cpp_element(element), ", ct::dynamic_extent" * rank, cpp_shape(shape))


def ask_views():
    """Tiles of a tensor: values stored, padding, indices."""
    dims = ["m", "n", "k"]
    for e in NUMERIC:
        tensor, view = "out tensor<%s, [n]>" % e, view_cpp(e, (4,), 1)
        for x in NUMERIC:
            for kind, shape in KINDS.items():
                v = Type(x, shape)
                if shape == (4,):
                    yield Question("views", "[4] of " + kind, "t.store([0], v)", e, x, (tensor, v), "a.store([0], b);",
                                   "a.store(b, 0)", (view, v))
        for word, constant in (("zero", "zero"), ("neg_zero", "negative_zero"), ("inf", "positive_inf"), ("-inf", "negative_inf"),
                               ("nan", "nan")):
            yield Question("views", "[4]", "", "t.load([0], [4], pad: %s)" % word, e, ("tensor<%s, [n]>" % e,),
                           "a.load([0], [4], pad: %s)" % word, "a.load_masked(ct::view_padding_%s_t{}, 0)" % constant, (view,))
        for op in ("add", "sub", "min", "max", "and", "or", "xor"):
            v = Type(e, (4,))
            yield Question("views", "[4]", "", "t.partition([4]).atomic_%s([0], v)" % op, e, ("inout tensor<%s, [n]>" % e, v),
                           "{ let p = a.partition([4]); p.atomic_%s([0], b); }" % op,
                           "a.atomic_%s(b, ct::memory_order_relaxed_t{}, ct::thread_scope_device_t{}, 0)" % op, (view, v))
        for kind, shape in KINDS.items():
            i = Type(e, shape)
            yield Question("views", "[4] of f32", "", "t.load([i %s], [4])" % kind, e, ("tensor<f32, [n]>", i), "a.load([b], [4])",
                           "a.load(b)", (view_cpp("f32", (4,), 1), i))
            yield Question("views", "[4] of f32", "", "extract(x, [4], [i %s])" % kind, e, (Type("f32", (8,)), i), "extract(a, [4], [b])",
                           "ct::extract(a, ct::shape<4>{}, b)")
    for rank in (1, 2, 3):
        for s, t in product([s for s in SHAPES if s is not None and len(s) == rank], SHAPES):
            v = Type("f32", t)
            tensor = "out tensor<f32, [%s]>" % ", ".join(dims[:rank])
            zeros = [0] * rank
            yield Question("view shapes", "tile of the view, value", "p.store(index, v)", short_shape(s), short_shape(t), (tensor, v),
                           "{ let p = a.partition(%s); p.store(%s, b); }" % (spell(s), spell(zeros)),
                           "a.store(b, %s)" % ", ".join("0" * rank), (view_cpp("f32", s, rank), v))


ALL = [ask_binary, ask_unary, ask_shapes, ask_axes, ask_cat, ask_conversions, ask_implicit, ask_conditions, ask_arms, ask_select, ask_fma, ask_mma,
       ask_reductions, ask_tiles, ask_modes, ask_pointers, ask_pointer_shapes, ask_views]


def questions():
    for ask in ALL:
        yield from ask()


if __name__ == "__main__":
    for ask in ALL:
        print("%8d  %s" % (sum(1 for _ in ask()), ask.__name__[4:]))
