"""Types by enumeration: operand kinds x element types x operations, each case once by documented.py and once by ctilec.

table.py            all groups
table.py GROUP...   some of them; --list prints the groups and the number of their cases

A case is one line of a .tile file: an expression that has a type becomes a static_assert on it, one that has none must get
one of the codes the rules allow, on its line. Whole files are checked at once, so that a case costs microseconds.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
from common import *
from documented import *
import documented as doc

PER_FILE = 20000


class Row:
    """params: types of a, b, c. body: the statement for a row that is not one expression of a known type."""
    def __init__(self, params, expr, want, body=None):
        self.params, self.expr, self.want, self.body = tuple(params), expr, want, body

    def line(self):
        if self.body:
            return self.body
        if isinstance(self.want, set):
            return "let _ = %s;" % self.expr
        return "static_assert(type_of(%s) == %s);" % (self.expr, text(self.want))


def write_file(path, rows):
    """Rows that share their operand types share a function. Returns {line: row}."""
    at, lines, now = {}, [], None
    for r in rows:
        if r.params != now:
            if now is not None:
                lines.append("}")
            lines.append("fn case_%d(%s) {" % (len(lines), ", ".join("%s: %s" % (n, text(t)) for n, t in zip("abcd", r.params))))
            now = r.params
        lines.append("    " + r.line())
        at[len(lines)] = r
    lines.append("}")
    write(path, "\n".join(lines) + "\n")
    return at


def codes_by_line(path, *options):
    r = ctilec("--check", "--diagnostics=short", "--error-limit=0", "-w", *options, path)
    codes = {}
    for line in r.text.splitlines():
        m = re.match(r".*?:(\d+):\d+: error: (.*) \[(E\d{4})\]$", line)
        if m:
            codes.setdefault(int(m.group(1)), []).append((m.group(3), m.group(2)))
        elif not line.startswith(" "):
            fail("unexpected output: " + line)
    return codes


def show(row):
    return "%s   where %s" % (row.body or row.expr, ", ".join("%s: %s" % (n, text(t)) for n, t in zip("abcd", row.params)))


def judge(at, codes):
    wrong = 0
    for line, row in sorted(at.items()):
        got = codes.pop(line, [])
        expected_error = isinstance(row.want, set)
        if expected_error and not got:
            message = "accepted, and the rules refuse it (%s)" % "/".join(sorted(row.want))
        elif not expected_error and got:
            message = "%s, and the rules give %s" % ("another type" if got[0][0] == "E0350" else "refused: %s %s" % got[0], text(row.want))
        elif expected_error and got[0][0] not in row.want:
            message = "refused as %s (%s), the rules say %s" % (got[0] + ("/".join(sorted(row.want)),))
        else:
            continue
        wrong += 1
        if wrong <= LIMIT:
            fail("%s\n      %s" % (show(row), message))
    if wrong > LIMIT:
        fail("and %d more" % (wrong - LIMIT))
    for line, got in sorted(codes.items()):
        fail("line %d has an error and no case: %s" % (line, got[0]))


# ---- the groups ----

KINDS = {"tile": (4,), "rank-0 tile": (), "scalar": None}


def operands(elems):
    return [Type(e, s) for e in elems for s in KINDS.values()]


def group_binary():
    """Every operator and two-operand function on every pair of kinds and element types."""
    for a in operands(NUMERIC + POINTERS):
        for b in operands(NUMERIC + POINTERS):
            for op in OPERATORS:
                yield Row((a, b), "a %s b" % op, binary(op, a, b))
            for op in FUNCTIONS:
                yield Row((a, b), "%s(a, b)" % op, binary(op, a, b))


def group_unary():
    for t in operands(NUMERIC + POINTERS):
        for op in UNARY:
            yield Row((t,), "%sa" % op if not op[0].isalpha() else "%s(a)" % op, unary(op, t))


LITERALS = [("0", 0), ("1", 1), ("2", 2), ("-1", -1), ("127", 127), ("128", 128), ("255", 255), ("256", 256), ("2049", 2049),
            ("65535", 65535), ("65536", 65536), ("2147483648", 1 << 31), ("9223372036854775808", 1 << 63), ("2.0", 2.0), ("0.5", 0.5),
            ("1.0e5", 1.0e5), ("1.0e39", 1.0e39)]


def group_literals():
    """Literals adapt to the other operand, or do not fit."""
    for t in operands(NUMERIC + POINTERS):
        for lit, value in LITERALS:
            for op in OPERATORS + ["min", "atan2", "pow", "ceildiv"]:
                if op in ("<<", ">>", "/", "%", "ceildiv") and value in (0, 1 << 63):
                    continue
                want = with_literal(op, t, value)
                yield Row((t,), "a %s %s" % (op, lit) if not op[0].isalpha() else "%s(a, %s)" % (op, lit), want)
                if op in ("+", "-", "*", "&", "==", "<", "&&", "||", "<<", "min", "pow", "atan2"):
                    want = {"E0279", "E0254"} if op == "-" and is_ptr(t.elem) else want
                    yield Row((t,), "%s %s a" % (lit, op) if not op[0].isalpha() else "%s(%s, a)" % (op, lit), want)


def group_implicit():
    """Initialisation, assignment, arguments, results: same shape, no narrowing."""
    shapes = [None, (), (1,), (4,), (1, 4)]
    for e in NUMERIC + POINTERS:
        for f in NUMERIC + POINTERS:
            for s in shapes[:4]:
                for d in shapes:
                    a, to = Type(e, s), Type(f, d)
                    b = Type(f, d)
                    want = implicit(a, to, True)
                    yield Row((a, b), "a -> %s" % text(to), want, "var v: %s = a;" % text(to))
                    yield Row((a, b), "a -> %s" % text(to), want, "{ var v = b; v = a; }")
                    arg = implicit(a, to, False)
                    yield Row((a, b), "a -> %s" % text(to), arg, "let _ = takes_%s(a);" % mangled(to))


def mangled(t):
    e = re.sub(r"\W", "", t.elem)
    return e + ("" if t.shape is None else "_t" + "_".join(map(str, t.shape)))


def implicit_head():
    out = []
    for e in NUMERIC + POINTERS:
        for s in [None, (), (1,), (4,), (1, 4)]:
            t = Type(e, s)
            out.append("fn takes_%s(x: %s) -> %s { return x; }" % (mangled(t), text(t), text(t)))
    return out


def group_casts():
    for t in [Type(e, s) for e in NUMERIC + POINTERS for s in (None, (), (1,), (1, 1), (4,))]:
        for e in NUMERIC:
            yield Row((t,), "element_cast(a, %s)" % e, element_cast(t, e))
            yield Row((t,), "%s(a)" % e, scalar_cast(t, e))
            yield Row((t,), "element_bitcast(a, %s)" % e, element_bitcast(t, e))


def group_select():
    """Conditions of every type, arms of every pair of types; shapes are in group_shapes."""
    for c in operands(NUMERIC + POINTERS):
        for a in operands(["f32", "i8", "ptr<f32>"]):
            for b in operands(["f32", "i8", "ptr<f32>"]):
                yield Row((c, a, b), "select(a, b, c)", select(c, a, b))
    for a in operands(NUMERIC + POINTERS):
        for b in operands(NUMERIC + POINTERS):
            c = Type("bool", None)
            yield Row((c, a, b), "select(a, b, c)", select(c, a, b))


def group_fma():
    for acc in operands(NUMERIC):
        for a in operands(NUMERIC):
            yield Row((a, acc), "fma(a, b, b)", fma(a, acc, acc))
            yield Row((a, acc), "fma(b, a, b)", fma(acc, a, acc))
    for acc in operands(BASIC):
        for a in operands(BASIC):
            for b in operands(BASIC):
                yield Row((a, b, acc), "fma(a, b, c)", fma(a, b, acc))


def all_shapes():
    dims = (1, 2, 4)
    out = [None, ()]
    out += [(x,) for x in dims]
    out += [(x, y) for x in dims for y in dims]
    return out + [(1, 1, 1), (2, 1, 4), (1, 4, 1), (4, 2, 1), (2, 2, 2), (1, 2, 4), (4, 1, 1), (2, 1, 1, 4), (1, 1, 2, 1)]


def spell(shape):
    return "[%s]" % ", ".join(map(str, shape))


def group_shapes():
    """Broadcast pairs: mutual in operators, one-way where the document says so, none in the rest."""
    for s in all_shapes():
        for t in all_shapes():
            a, b, i, j, m = Type("f32", s), Type("f32", t), Type("i32", s), Type("i32", t), Type("bool", s)
            for op in ("+", "/", "<", "==", "&&"):
                yield Row((a, b), "a %s b" % op, binary(op, a, b))
            for op in ("max", "pow", "atan2"):
                yield Row((a, b), "%s(a, b)" % op, binary(op, a, b))
            yield Row((a, b), "fma(a, a, b)", fma(a, a, b))
            yield Row((a, b), "fma(a, b, b)", fma(a, b, b))
            for op in ("<<", "&", "%"):
                yield Row((i, j), "a %s b" % op, binary(op, i, j))
            yield Row((i, j), "mulhi(a, b)", binary("mulhi", i, j))
            p = Type("ptr<f32>", s)
            for op in ("+", "-"):
                yield Row((p, j), "a %s b" % op, binary(op, p, j))
            yield Row((p, Type("ptr<f32>", t)), "a - b", binary("-", p, Type("ptr<f32>", t)))
            yield Row((p, Type("ptr<f32>", t)), "a == b", binary("==", p, Type("ptr<f32>", t)))
            yield Row((m, b), "select(a, b, b)", select(m, b, b))
            yield Row((m, a, b), "select(a, b, c)", select(m, a, b))
            if t is not None:
                yield Row((a,), "broadcast(a, %s)" % spell(t), broadcast(a, t))
                yield Row((a,), "reshape(a, %s)" % spell(t), reshape(a, t))
                yield Row((a,), "extract(a, %s, %s)" % (spell(t), spell((0,) * len(t))), extract(a, t))
            for axis in range(-1, 3):
                yield Row((a, b), "cat(a, b, %d)" % axis, cat(a, b, axis))
        yield Row((a,), "transpose(a)", transpose(a))
        n = len(s or ())
        for axes in axis_lists(n):
            yield Row((a,), "permute(a, %s)" % spell(axes), permute(a, axes))


def axis_lists(n):
    out = [()]
    for length in range(1, 4):
        out += [tuple((k // 4 ** i) % 4 for i in range(length)) for k in range(4 ** length)]
    return out


def group_cat():
    for a in [Type(e, s) for e in NUMERIC + POINTERS for s in (None, (), (4,), (2, 4))]:
        for b in [Type(e, s) for e in NUMERIC + POINTERS for s in (None, (4,), (2, 4), (4, 4))]:
            yield Row((a, b), "cat(a, b, 0)", cat(a, b, 0))


def group_reductions():
    for t in [Type(e, s) for e in NUMERIC + POINTERS for s in (None, (), (1,), (4,), (4, 8), (2, 1, 4))]:
        for op in REDUCTIONS:
            for axis in range(-1, 4):
                yield Row((t,), "%s(a, %d)" % (op, axis), reduction(op, t, axis))


def group_mma():
    shapes = [((16, 32), (32, 8), (16, 8))]
    for a in NUMERIC:
        for b in NUMERIC:
            for c in NUMERIC:
                for x, y, z in shapes:
                    ta, tb, tc = Type(a, x), Type(b, y), Type(c, z)
                    yield Row((ta, tb, tc), "mma(a, b, c)", mma(ta, tb, tc))
            ta, tb = Type(a, shapes[0][0]), Type(b, shapes[0][1])
            yield Row((ta, tb), "matmul(a, b)", mma(ta, tb))
            yield Row((ta, tb), "a @ b", mma(ta, tb))
    some = [None, (), (4,), (1, 1), (4, 8), (8, 4), (1, 8), (8, 8), (1, 4, 8), (2, 4, 8), (2, 8, 4), (1, 8, 4), (4, 4, 8), (2, 4, 4),
            (1, 4, 4), (1, 1, 4, 8), (2, 1, 8, 4)]
    for x in some:
        for y in some:
            ta, tb = Type("f16", x), Type("f16", y)
            yield Row((ta, tb), "a @ b", mma(ta, tb))
            for z in some:
                tc = Type("f32", z)
                yield Row((ta, tb, tc), "mma(a, b, c)", mma(ta, tb, tc))


def group_tiles():
    """Which tile types there are, and what fills them."""
    shapes = [(), (1,), (2,), (128,), (256,), (3,), (0,), (4, 7), (4, 0), (1 << 12, 1 << 12), (1 << 12, 1 << 11), (1 << 12, 1 << 10),
              (1 << 11, 1 << 10), (1 << 24,), (1 << 25,), (1 << 13, 1 << 12), (1,) * 8, (2,) * 8, (1,) * 9, (1 << 15, 1 << 8), (1 << 16,)]
    for e in NUMERIC + POINTERS:
        for s in shapes:
            bad = tile_limits(e, s)
            want = bad or Type(e, s)
            yield Row((), "tile<%s, %s>" % (e, spell(s)), want, "static_assert(type_of(%s(%s%s, %s)) == tile<%s, %s>);" %
                      ("full" if is_ptr(e) else "zeros", spell(s), ", null" if is_ptr(e) else "", e, e, spell(s)))
            if not is_ptr(e):
                yield Row((), "iota(%s, %s)" % (spell(s), e), iota(e, s))
                yield Row((), "ones(%s, %s)" % (spell(s), e), want)
    for t in operands(NUMERIC):
        for e in NUMERIC:
            if t.shape is None:
                want = {"E0250"} if narrowing(t.elem, e) else Type(e, (4,))
                yield Row((t,), "full([4], a, %s)" % e, want)


def group_modes():
    """Numeric modifiers: which operation takes which word on which type."""
    words = IEEE + ["approximate", "full"]
    calls = {"add": "add(a, a, %s)", "sub": "sub(a, a, %s)", "mul": "mul(a, a, %s)", "div": "div(a, a, %s)", "fma": "fma(a, a, a, %s)",
             "sqrt": "sqrt(a, %s)", "exp": "exp(a, %s)", "tanh": "tanh(a, %s)", "sum": "sum(a, 0, %s)", "prod": "prod(a, 0, %s)",
             "partial_sum": "partial_sum(a, 0, %s)", "partial_prod": "partial_prod(a, 0, %s)"}
    flush = ["add", "sub", "mul", "div", "fma", "sqrt", "sum", "prod", "partial_sum", "partial_prod"]
    more = {"exp2": "exp2(a, %s)", "rsqrt": "rsqrt(a, %s)", "max": "max(a, a, %s)", "min": "min(a, a, %s)",
            "reduce_max": "reduce_max(a, 0, %s)", "reduce_min": "reduce_min(a, 0, %s)"}
    for e in NUMERIC:
        t = Type(e, (4,))

        def row(op, call, mode, word):
            plain = (reduction(op, t, 0) if "0" in call else
                     unary(op, t) if call.count("a,") == 1 else
                     fma(t, t, t) if op == "fma" else binary({"sub": "-", "div": "/"}.get(op, op), t, t))
            ok = mode_allowed(op, mode, word, e)
            bad = plain if isinstance(plain, set) else set()
            want = plain if ok and not bad else bad | {"E0305"}
            return Row((t,), call % ("%s: %s" % (mode, word)), want)
        for op, call in calls.items():
            for word in words:
                yield row(op, call, "rounding", word)
        for op, call in list(calls.items()) + list(more.items()):
            if op in flush or op in more:
                for word in ("preserve", "flush"):
                    yield row(op, call, "subnormals", word)
        for op in ("max", "min", "reduce_max", "reduce_min"):
            for word in ("suppress", "propagate"):
                yield row(op, more[op], "nan", word)


GROUPS = {n[6:]: f for n, f in sorted(globals().items()) if n.startswith("group_")}
LIMIT = 30


def run_group(name):
    rows = sorted(GROUPS[name](), key=lambda r: r.params.__repr__())
    count = len(rows)
    with tmpdir() as folder:
        for i in range(0, count, PER_FILE):
            path = os.path.join(folder, "%s_%d.tile" % (name, i // PER_FILE))
            at = write_file(path, rows[i:i + PER_FILE])
            if name == "implicit":
                write(path, read(path) + "\n".join(implicit_head()) + "\n")
            judge(at, codes_by_line(path))
    return count


def main(args):
    if args == ["--list"]:
        for name in GROUPS:
            print("%8d  %s" % (sum(1 for _ in GROUPS[name]()), name))
        return
    total = 0
    for name in args or GROUPS:
        n = run_group(name)
        print("%s: %d cases" % (name, n))
        total += n
    print("%d cases" % total)
    finish()


if __name__ == "__main__":
    main(sys.argv[1:])
