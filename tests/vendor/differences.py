"""Where the ctile language answers otherwise than the vendor's compiler, and why: judge.py takes these answers instead.

The reference lists the same differences for the reader (docs/language.md 18). Each row says which questions it is about
(want is the vendor's answer), what ctile answers, and the reason.
"""
from documented import INTEGRAL, RESTRICTED, Type
import documented as doc

INTEGERS = [e for e in INTEGRAL if e != "bool"]


class Difference:
    def __init__(self, about, gives, reason):
        self.about, self.gives, self.reason = about, gives, reason


def refused(q, want, found):
    return None


def operand(q, i=0):
    return q.params[i]


def restricted_condition(q, want):
    """A tf32 or fp8 value where a truth value is asked for."""
    def is_restricted(*at):
        return any(operand(q, i).elem in RESTRICTED for i in at)
    if want is None:
        return False
    if q.section == "binary":
        return q.form in ("a && b", "a || b") and is_restricted(0, 1)
    if q.section == "unary":
        return q.row == "!a" and is_restricted(0)
    if q.section == "conditions":
        return is_restricted(0)
    if q.section == "select":
        return q.form == "select(c, a, a)" and is_restricted(0)
    if q.section == "reductions":
        return q.row in ("all_of(a, 0)", "any_of(a, 0)") and is_restricted(0)
    return q.section == "masks" and is_restricted(len(q.params) - 1)


def scalar_to_variable(q, want):
    return q.section == "implicit" and q.heading in ("scalar to [1]", "scalar to tile", "scalar to [1,4]") and q.form != "f(a)"


def like_rank0_variable(q, want, found):
    return found.get((q.section, "scalar to rank0", q.form, q.row, q.col))


def narrowing_full(q, want):
    return q.form == "full([4], a, T)" and want is not None and doc.narrowing(q.row, q.col)


def restricted_full(q, want):
    """To and from tf32 and fp8 C++ has conversions in one direction only, or only explicit ones."""
    return (q.form == "full([4], a, T)" and q.heading == "a scalar" and want is None and not doc.narrowing(q.row, q.col)
            and (q.row in RESTRICTED or q.col in RESTRICTED))


def above_16_mib(q, want):
    if q.section != "tiles" or q.heading != "T" or want is None:
        return False
    return "E0247" in doc.tile_limits(q.col, shape_of_row(q))


def above_rank_8(q, want):
    return q.section == "tiles" and q.heading == "T" and want is not None and len(shape_of_row(q)) > 8


def shape_of_row(q):
    return tuple(int(d) for d in q.row[1:-1].split(",") if d)


def no_integer_index(q, want):
    return q.section == "views" and "[i " in q.row and want is not None and q.col not in INTEGERS


def representable_pad(q, want):
    """Pads other than zero on restricted types: all that the type can represent."""
    if q.section != "views" or "pad: " not in q.row or q.col not in RESTRICTED or want is not None:
        return False
    return not (q.col == "f8e4m3" and "inf" in q.row)


ALL = [
    Difference(restricted_condition, refused,
               "a restricted type as a condition: the header takes it, and code generation ends in an internal compiler error"),
    Difference(scalar_to_variable, like_rank0_variable,
               "a scalar initialises or is assigned to a variable of tile type by broadcast"),
    Difference(narrowing_full, refused,
               "full refuses a narrowing value: the vendor's converts it as C++ converts an argument"),
    Difference(restricted_full, lambda q, want, found: Type(q.col, (4,)),
               "full converts as an assignment does: the vendor's as C++ does, which lacks conversions of tf32 and fp8"),
    Difference(above_16_mib, refused,
               "a tile above 16 MiB: the header takes it, the front end refuses it after overload resolution"),
    Difference(above_rank_8, refused, "tiles have at most 8 dimensions"),
    Difference(no_integer_index, refused, "an index is an integer: the vendor's converts floats and truth values too"),
    Difference(representable_pad, lambda q, want, found: Type(q.col, (4,)),
               "a pad is any value that the element type can represent, on restricted types too"),
]


def find(q, want):
    for d in ALL:
        if d.about(q, want):
            return d
    return None
