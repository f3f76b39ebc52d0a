"""Kernels whose body is a table of expressions over tiles: one output for each row, flat. Inputs are flat tensors that are
reshaped to tiles, so that every shape up to rank 8 goes the same road."""
import numpy as np
import reference as ref
from runner import DTYPE
from suite import Call, Out


def shape_text(shape):
    return "[" + ", ".join(str(n) for n in shape) + "]"


def size(shape):
    return int(np.prod(shape, dtype=np.int64))


class Row:
    """expr: source text over the inputs' names. f: what it gives, from numpy arrays. type: of the result's elements. shape: of the
    result; without it f is called once for it, also where nothing but the source text is wanted."""
    def __init__(self, expr, f, type=None, bound=None, before="", shape=None):
        self.expr, self.f, self.type, self.bound, self.before, self.shape = expr, f, type, bound, before, shape

    def value(self, arrays):
        v = np.asarray(self.f(**arrays))
        assert self.shape in (None, v.shape), (self.expr, v.shape)
        return v


def inputs(types_shapes, rng, make=None):
    out = {}
    for name, (t, shape) in types_shapes.items():
        n = size(shape)
        v = make(name, t, n, rng) if make else None
        if v is None:
            v = ref.randoms(t, n, rng)
        out[name] = v.astype(DTYPE[t]).reshape(shape)
    return out


def table(suite, name, operands, rows, make=None, repeat=1, group="", before="", index="b"):
    """operands: name -> (element type, shape). Rows get the arrays by these names. `index` is 0 at run time,
    unknown to the compiler."""
    probe = inputs(operands, np.random.default_rng(0), make)
    with np.errstate(all="ignore"):
        shapes = [r.value(probe).shape if r.shape is None else r.shape for r in rows]
    first = next(iter(operands.values()))[0]
    types = [r.type or first for r in rows]
    params = [f"{n}_: tensor<{t}, [{size(s)}]>" for n, (t, s) in operands.items()]
    params += [f"r{i}: out tensor<{t}, [{size(s)}]>" for i, (t, s) in enumerate(zip(types, shapes))]
    body = "".join(f"    let {n} = reshape({n}_.load([{index}], [{size(s)}]), {shape_text(s)});\n" for n, (t, s) in operands.items())
    for i, (r, s) in enumerate(zip(rows, shapes)):
        body += r.before + f"    let y{i}: tile<{types[i]}, {shape_text(s)}> = {r.expr};\n"
        body += f"    r{i}.store([{index}], reshape(y{i}, [{size(s)}]));\n"
    def calls(rng):
        out = []
        for _ in range(repeat):
            a = inputs(operands, rng, make)
            want = [np.ascontiguousarray(r.value(a).astype(DTYPE[t])).reshape(-1) for r, t in zip(rows, types)]
            bounds = [None if r.bound is None else np.broadcast_to(r.bound(**a), s).reshape(-1) for r, s in zip(rows, shapes)]
            out.append(Call(name, *[v.reshape(-1) for v in a.values()], *[Out(w, bound=bd, what=r.expr) for w, r, bd in zip(want, rows, bounds)]))
        return out
    suite.add(name, f"{before}kernel {name}({', '.join(params)}) grid [1] {{\n    let {index} = bid(0);\n{body}}}\n", calls, group)
