"""The vendor's answers as text: reading and writing answers.txt.

An answer is None (refused), "ok" (accepted, without a result) or the Type of the result. The file has one block for each
set of equal matrices; how to read one stands at its top.
"""
import os
import textwrap
from collections import OrderedDict

from documented import Type

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "answers.txt")

TOP = """\
# What NVIDIA's compiler answered when it was asked which operations of <cuda_tile.h> are well-formed, and what type they give.
# Written by ask.py (make vendor-table), compared with ctilec by judge.py; the questions are those of questions.py.
# nvcc %s, -arch=sm_90.
#
# A block is a section, headings and a matrix. A heading says "@ operands -> result: expressions": all of them have the same
# matrix. tile is a tile of shape [4], rank0 a tile of rank 0, scalar a scalar. A matrix has one cell for each row and column:
#   .              refused; a row that is refused throughout is left out, and so is a whole matrix ("-> refused")
#   +              accepted: there is no result ("-> ok"), or it has the one type that "->" gives ("-> bool tile")
#   an element     its type; "-> tile" gives the shape of all results of the block
#   a shape        where "->" gives the element type
#   both           where "->" gives neither
# A matrix without a line of columns lists column=cell for what is accepted.
"""

SHAPE_NAMES = {(4,): "tile", (): "rank0", None: "scalar"}
NAMED_SHAPES = {v: k for k, v in SHAPE_NAMES.items()}


def shape_text(shape):
    return "scalar" if shape is None else "[%s]" % ",".join(map(str, shape))


def shape_of(text):
    if text in NAMED_SHAPES:
        return NAMED_SHAPES[text]
    return tuple(int(d) for d in text[1:-1].split(",") if d)


def result_kind(cells):
    """What all accepted answers share, and how the rest is written: (text after ->, function from answer to cell)."""
    given = {a for row in cells for a in row if a is not None}
    types = given - {"ok"}
    if not types:
        return "ok" if given else "refused", lambda a: "+"
    if len(given) == 1:
        a = next(iter(types))
        return "%s %s" % (a.elem, SHAPE_NAMES.get(a.shape, shape_text(a.shape))), lambda a: "+"
    if len({a.shape for a in types}) == 1:
        shape = next(iter(types)).shape
        return SHAPE_NAMES.get(shape, shape_text(shape)), lambda a: "+" if a == "ok" else a.elem
    if len({a.elem for a in types}) == 1:
        return next(iter(types)).elem, lambda a: "+" if a == "ok" else shape_text(a.shape)
    return "type", lambda a: "+" if a == "ok" else a.elem + shape_text(a.shape)


def read_cell(kind, cell):
    if cell == ".":
        return None
    if cell == "+":
        return Type(kind.split()[0], shape_of(kind.split()[1])) if " " in kind else "ok"
    if kind == "type":
        cut = cell.index("[") if "[" in cell else cell.index("scalar")
        return Type(cell[:cut], shape_of(cell[cut:]))
    if kind in NAMED_SHAPES or kind.startswith("["):
        return Type(cell, shape_of(kind))
    return Type(kind, shape_of(cell))


def matrices(answers):
    """answers: {(section, heading, form, row, col): answer} -> {(section, heading, form): (rows, columns, cells)}"""
    out = OrderedDict()
    for (section, heading, form, row, col), answer in answers.items():
        rows, cols, cells = out.setdefault((section, heading, form), (OrderedDict(), OrderedDict(), {}))
        rows[row] = cols[col] = True
        cells[row, col] = answer
    return OrderedDict((k, (list(r), list(c), [[m.get((x, y)) for y in c] for x in r])) for k, (r, c, m) in out.items())


def matrix_lines(cols, rows):
    """rows: (label, cells) of the rows that are not refused throughout."""
    label = max(len(r) for r, _ in rows)
    wide = [max(len(c), max(len(cells[i]) for _, cells in rows)) for i, c in enumerate(cols)]
    if label + 3 + sum(w + 1 for w in wide) <= 120:
        yield "  %s | %s" % (" " * label, " ".join(c.ljust(w) for c, w in zip(cols, wide)).rstrip())
        for r, cells in rows:
            yield "  %s | %s" % (r.ljust(label), " ".join(c.ljust(w) for c, w in zip(cells, wide)).rstrip())
        return
    for r, cells in rows:
        text = " ".join("%s=%s" % (c, a) for c, a in zip(cols, cells) if a != ".")
        lines = textwrap.wrap(text, 115 - label, break_long_words=False, break_on_hyphens=False)
        for i, line in enumerate(lines):
            yield "  %s | %s" % ((r if i == 0 else "").ljust(label), line)


def write(version, answers):
    blocks = OrderedDict()
    for (section, heading, form), (rows, cols, cells) in matrices(answers).items():
        kind, cell = result_kind(cells)
        kept = tuple((r, tuple("." if a is None else cell(a) for a in line)) for r, line in zip(rows, cells) if any(line))
        where = blocks.setdefault((section, kind == "refused", () if kind == "refused" else tuple(cols), kept), OrderedDict())
        where.setdefault((heading, kind), []).append(form)
    lines = [TOP % version]
    now = None
    for (section, _, cols, rows), headings in blocks.items():
        if section != now:
            lines.append("== " + section)
            now = section
        for (heading, kind), forms in headings.items():
            lines += textwrap.wrap("@ %s -> %s: %s" % (heading, kind, " ; ".join(forms).rstrip()), 120, subsequent_indent="@   ",
                                   break_long_words=False, break_on_hyphens=False)
        if rows:
            lines += matrix_lines(list(cols), rows)
        lines.append("")
    with open(FILE, "w") as f:
        f.write("\n".join(lines).rstrip() + "\n")


def read():
    """{(section, heading, form, row, col): answer} of all that is accepted, and the set of (section, heading, form)."""
    found, forms = {}, set()
    section, headings, cols, row = None, [], None, None
    joined = []
    with open(FILE) as f:
        for line in f:
            line = line.rstrip("\n")
            if line.startswith("@  "):
                joined[-1] += " " + line[1:].strip()
            else:
                joined.append(line)
    for line in joined:
        if line.startswith("== "):
            section = line[3:]
        elif line.startswith("@ "):
            operands, rest = line[2:].split(" -> ", 1)
            kind, text = rest.split(":", 1)
            headings.append((operands, kind, [t.strip() for t in text.split(" ; ")]))
            forms |= {(section, operands, t.strip()) for t in text.split(" ; ")}
        elif not line:
            headings, cols, row = [], None, None
        elif not line.startswith("#"):
            label, cells = line.split(" | ", 1)
            label, cells = label.strip(), cells.split()
            if not label and row is None and cols is None:
                cols = cells
                continue
            row = label or row
            pairs = zip(cols, cells) if cols else (c.split("=", 1) for c in cells)
            for col, cell in pairs:
                for operands, kind, names in headings:
                    for form in names:
                        a = read_cell(kind, cell)
                        if a is not None:
                            found[section, operands, form, row, col] = a
    return found, forms
