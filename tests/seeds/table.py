"""The table of items: what the documents in the seeds describe, one item each, with the program that shows it here.

    P = Values("000", {"x": ("i32", (2, 4))})       a kernel; its inputs are tiles x, ...
    P.row("words", "expression", want)              an item: the expression's values, and its type
    program("000", "words", params, body)           an item: a kernel of its own, whose Out parameters are compared
    refused("000", "words", "E0316", "expression")  an item: an error with that code
    prints("002", "words", params, body, text)      an item: what is printed
    differs("000", "words", "row")                  an item that is another here: a row of docs/language.md 18 that holds these words
"""
import numpy as np
from runner import DTYPE
from suite import Call, Out

ITEMS = []              # (seed, words), in order
KERNELS = []            # (name, source, arguments, how many items it shows)
REFUSED = []            # (words, source, code)
PRINTS = []             # (words, name, source, C arguments, text)
DIFFERS = []            # (words, row)

INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["f16", "bf16", "f32", "f64"]
RESTRICTED = ["tf32", "f8e4m3", "f8e5m2"]
ELEMS = ["bool"] + INTS + FLOATS + RESTRICTED
NP = DTYPE


def item(seed, words):
    assert (seed, words) not in ITEMS, (seed, words)
    ITEMS.append((seed, words))


def spell(shape):
    return "[" + ", ".join(str(n) for n in shape) + "]"


def size(shape):
    return int(np.prod(shape, dtype=np.int64))


def array(t, values, shape=None):
    a = np.asarray(values)
    with np.errstate(all="ignore"):
        a = a.astype(NP[t])
    return a.reshape(shape if shape is not None else a.shape)


class Values:
    """inputs: name -> (element type, shape[, values]); tiles, or scalars of shape None. tensors: declarations "x: tensor<..>" with
    their values, which may be an Out; dims: the launcher's dimensions. before: statements in front."""
    def __init__(self, seed, inputs=None, tensors=(), dims=(), before=""):
        self.seed, self.tensors, self.dims, self.before = seed, list(tensors), list(dims), before
        self.inputs = {}
        for name, spec in (inputs or {}).items():
            t, shape, values = (*spec, None)[:3]
            n = 1 if shape is None else size(shape)
            v = np.arange(n) % (2 if t == "bool" else 120) if values is None else np.asarray(values)
            with np.errstate(all="ignore"):
                self.inputs[name] = (t, shape, np.broadcast_to(v.astype(NP[t]).reshape(-1), n).copy())
        self.rows, self.number, self.source_before = [], len(KERNELS), ""
        KERNELS.append(self)

    def value(self, name):
        t, shape, v = self.inputs[name]
        return v[0] if shape is None else v.reshape(shape)

    def row(self, words, expr, want, type=None, before="", bound=None, scalar=False, accept=None):
        """type: of the elements; without it that of the first input. scalar: the expression is one, and no tile."""
        item(self.seed, words)
        self.add(words, expr, want, type, before, bound, scalar, accept)

    def add(self, words, expr, want, type=None, before="", bound=None, scalar=False, accept=None):
        t = type or next(iter(self.inputs.values()))[0]
        with np.errstate(all="ignore"):
            want = np.asarray(want).astype(NP[t])
        self.rows.append((words, expr, want, t, before, bound, scalar, accept))

    @property
    def name(self):
        return f"s{self.number}"

    def source(self):
        params, body = [], ""
        for n, (t, shape, v) in self.inputs.items():
            params.append(f"{n}_: tensor<{t}, [{len(v)}]>")
            body += f"    let {n} = {n}_[0];\n" if shape is None else f"    let {n} = reshape({n}_.load([0], [{len(v)}]), {spell(shape)});\n"
        params += [d for d, _ in self.tensors]
        body += self.before
        for i, (words, expr, want, t, before, bound, scalar, accept) in enumerate(self.rows):
            params.append(f"r{i}_: out tensor<{t}, [{want.size}]>")
            body += before + f"    let r{i} = {expr};\n    static_assert(type_of(r{i}) == {t if scalar else f'tile<{t}, {spell(want.shape)}>'});\n"
            body += f"    r{i}_[0] = r{i};\n" if scalar else f"    r{i}_.store([0], reshape(r{i}, [{want.size}]));\n"
        return f"{self.source_before}kernel {self.name}({', '.join(params)}) grid [1] {{\n{body}}}\n"

    def call(self):
        args = [v for _, _, v in self.inputs.values()] + [v for _, v in self.tensors]
        for words, expr, want, t, before, bound, scalar, accept in self.rows:
            b = None if bound is None else np.broadcast_to(bound, want.shape).reshape(-1)
            args.append(Out(want.reshape(-1), bound=b, what=f"{words}: {expr}", accept=accept))
        return Call(self.name, *args, *self.dims)


class Program:
    def __init__(self, words, params, body, dims, grid, before):
        self.words, self.params, self.dims, self.number = words, params, dims, len(KERNELS)
        self.name = f"s{self.number}"
        self.text = f"{before}kernel {self.name}({', '.join(d for d, _ in params)}) grid {grid} {{\n{body}\n}}\n"
        for _, v in params:
            if isinstance(v, Out):
                v.what = words
        KERNELS.append(self)

    def source(self):
        return self.text

    def call(self):
        return Call(self.name, *[v for _, v in self.params], *self.dims)


def program(seed, words, params, body, dims=(), grid="[1]", before=""):
    item(seed, words)
    Program(words, params, body, dims, grid, before)


def refused(seed, words, code, expr, params="", source=None):
    """Without source: the expression in a function with these parameters; the word FN in source is its name."""
    item(seed, words)
    REFUSED.append((words, source or f"fn f({params}) {{ let r = {expr}; }}\n", code))


def prints(seed, words, params, body, text):
    """params: "x: tensor<i32, [n]>" and the C arguments for it, dimensions last."""
    item(seed, words)
    name = f"p{len(PRINTS)}"
    decls = ", ".join(d for d, _ in params)
    PRINTS.append((words, name, f"kernel {name}({decls}) grid [1] {{\n{body}\n}}\n", [c for _, c in params], text))


def differs(seed, words, row):
    item(seed, words)
    DIFFERS.append((words, row))
