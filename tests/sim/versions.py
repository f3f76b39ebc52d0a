"""Every kernel that is printed for a program runs in the simulator: versions.py PROGRAM. For each version of each kernel a call is
sought, with as few elements as may be, of which its guard holds; where a version is printed twice, as a kernel for rows that share thread
blocks too, two calls. Each must give what the version for all calls gives, up to the order of sums, and that one what it gives without
optimization. A kernel for which no call is found fails, and so does a fault, and a printed kernel that is none of these."""
import ast
import itertools
import math
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cuda"))
from common import *

import numpy as np
import compare

LIBRARY = os.path.join(BUILD, "libctilec.a")
USUAL = [1, 2, 3, 4, 7, 8, 16, 33, 64, 128]
MOST = 1 << 23                          # elements of all tensors
LARGE = {("transpose_bytes_16", "aligned")}     # served calls have more


def python(text):
    """An expression of the text form as one of Python; integers are not below 0."""
    text = re.sub(r"phase\((\w+)\)", r"phase['\1']", text)
    text = re.sub(r"aligned\((\w+), (\d+)\)", r"(phase['\1'] % \2 == 0)", text)
    return re.sub(r"!(?!=)", " not ", text.replace("&&", " and ").replace("||", " or ").replace("/", "//")).replace("blocks()", "blocks")


def cdiv(a, b): return -(-a // b)


class Head:
    """A kernel's head, as the text has it."""
    def __init__(self, lines):
        found = lambda word: [l[len(word) + 1:] for l in lines if l.startswith(word + " ")]
        dims = [re.match(r"(\w+): (\w+)(?: = (.*))?$", d).groups() for d in found("dim") + found("stride")]
        self.dims = [(name, type, value and python(value)) for name, type, value in dims]
        self.where = [python(w.split(" text ")[0]) for w in found("where")]
        self.grid = python(found("grid")[0])
        steps = [re.match(r"([\w, ]+) guard (.*) gain ", s) for s in found("steps")]
        self.steps = [(s[1].split(", "), python(s[2])) for s in steps]
        self.extents = set()            # dimensions of which a tensor has at least as many elements
        self.params = []
        for p in found("param"):
            m = re.match(r"(\w+): (\w+) tensor<(\w+), \[(.*)\]> strides \[(.*?)\]", p)
            if m: self.params.append((m[1], m[2], m[3], *[python("(%s,)" % m[i]) for i in (4, 5)]))
            else: self.params.append((*re.match(r"(\w+): (\w+)", p).groups(),))
            if m: self.extents.update(d for d, stride in zip(m[4].split(", "), m[5].split(", ")) if stride != "0")


def parts_of_tuple(text): return [ast.unparse(e) for e in ast.parse(text.strip(), mode="eval").body.elts]


def span(shape, strides):
    """Elements of a tensor from its first to its last, and when there are any: expressions."""
    extents, steps = parts_of_tuple(shape), parts_of_tuple(strides)
    return " + ".join(["1"] + ["((%s) - 1) * (%s)" % pair for pair in zip(extents, steps)]), \
        " and ".join("(%s) > 0" % n for n in extents)


NAMES = {"cdiv": cdiv, "min": min, "max": max}


def shared_rows(lines):
    """Elements of the row of a version whose rows may share thread blocks; 0 of another one."""
    rows = [l.split()[1] for l in lines if l.startswith("rows ")]
    return 1 << int(rows[0]) if {"short_rows", "warp_rows"} & set(lines) else 0


def read_versions(text):
    heads, versions = {}, []
    for kind, name, rest, lines in re.findall(r"(?m)^(kernel|version) (\w+) (.*) \{\n((?:\t.*\n)*?)\tbody", text):
        lines = [l.strip() for l in lines.splitlines()]
        if kind == "kernel": heads[name] = Head(lines)
        else: versions.append((name, rest.split('"')[1], python(lines[0][len("guard "):]), shared_rows(lines)))
    return heads, versions


def parts_of(text):
    """What must hold for a condition to hold, and the names in each part."""
    tree = ast.parse(text.strip(), mode="eval").body
    parts = tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]
    return [(ast.unparse(p), {n.id for n in ast.walk(p) if isinstance(n, ast.Name)} - set(NAMES)) for p in parts]


def tried(head, free, conditions):
    """A function, of two choices of phases, the cost that a call has at most, and the free dimensions, that gives the cost, for which of
    those phases all conditions hold, all dimensions and the span of each tensor, None for a scalar; None for no call. The cost is the
    number of elements, and 64 for each tile block. What is called so often is compiled as one, and asks first what refuses most."""
    of_phase = ["phase" in names or "blocks" in names for _, names in conditions]
    both = lambda kind: " and ".join("(%s)" % text for (text, _), k in zip(conditions, of_phase) if k == kind) or "True"
    spans = ["span_%d" % i if len(p) > 2 else "None" for i, p in enumerate(head.params)]
    lines = ["%s = %s" % (name, value) for name, _, value in head.dims if value] + ["cost = 0"]
    for name, p in zip(spans, head.params):
        if len(p) > 2:
            elements, any_elements = span(*p[3:])
            lines += ["%s = %s" % (name, elements), "cost += %s" % name, "if cost > most or not (%s): return None" % any_elements]
    lines += ["if cost > MOST or not (%s): return None" % both(False), "blocks = prod(%s)" % head.grid, "cost += 64 * blocks",
              "if blocks < 1 or cost > most: return None", "fronts = [i for i, phase in enumerate(phases) if %s]" % both(True),
              "return (cost, fronts, dict(%s), [%s]) if fronts else None" % (", ".join("%s=%s" % (d[0], d[0]) for d in head.dims), ", ".join(spans))]
    scope = {**NAMES, "prod": math.prod, "MOST": MOST}
    exec("def f(phases, most, %s):\n" % ", ".join(free) + "".join("    %s\n" % l for l in lines), scope)
    return scope["f"]


def calls(head, guard, row=0):
    """Dimensions and the elements by which tensors begin after a multiple of 256 bytes, the smallest calls first; without rows that share
    thread blocks only the first of them counts, and others may be left out."""
    free = [d[0] for d in head.dims if not d[2]]
    numbers = {int(n) for n in re.findall(r"\d+", guard)}
    numbers |= {n * int(d) for d in re.findall(r"cdiv\([^,]+, (\d+)\)", guard) for n in numbers if n < 1024}
    near = sorted({n + k for n in numbers for k in (-1, 0, 1)} - {-1, 0})
    conditions = [part for text in (*head.where, guard) for part in parts_of(text)]
    phases = [{p[0]: front * np.dtype(compare.DTYPE[p[2]]).itemsize for p in head.params if len(p) > 2} for front in (0, 1)]
    choices = []
    for d in free:
        lengths = [n for n in (row // 16, row // 4, row // 2 + 1, row - 1, row) if n > USUAL[-1]]
        own = [compile(text, "condition", "eval") for text, names in conditions if names == {d}]
        some = USUAL + [n for n in near if n not in USUAL] if re.search(r"\b%s\b" % d, guard) or "blocks" in guard else USUAL
        some = some + lengths
        choices.append([n for n in some if (d not in head.extents or n <= MOST) and all(eval(c, NAMES, {d: n}) for c in own)])
    f, found, most = tried(head, free, conditions), [], math.inf
    for values in itertools.product(*choices):
        try:
            got = f(phases, most, *values)
        except (ZeroDivisionError, NameError):
            continue
        if not got: continue
        cost, fronts, dims, spans = got
        found += [(cost, front, dims, spans) for front in fronts]
        if not row: most = cost
    return sorted(found, key=lambda f: (f[0], -f[1]))


def number(n): return np.int64(n).tobytes()


def told(text): return number(len(text)) + text.encode()


class Simulator:
    """The process that calls kernels of a text (call.c)."""
    def __init__(self, program, path):
        self.process = subprocess.Popen([program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def call(self, kernel, version, dims, arrays, asks=False):
        """The fault, or "", and the arrays then; or whether that would be the version's kernel for short rows."""
        data = told("?" * asks + kernel) + told(version) + number(len(dims)) + b"".join(map(number, dims)) + number(len(arrays))
        given = lambda a: a.tobytes() if not asks or a.nbytes <= 8 else b""
        self.process.stdin.write(data + b"".join(number(front) + number(a.nbytes) + given(a) for front, a in arrays))
        self.process.stdin.flush()
        take = lambda n: self.process.stdout.read(n)
        is_short = int(np.frombuffer(take(8), "i8")[0])
        why = take(int(np.frombuffer(take(8), "i8")[0])).decode()
        if asks: return is_short == 1
        return why, [np.frombuffer(take(a.nbytes), a.dtype) for _, a in arrays]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def arguments(head, dims, spans, front):
    """Of each parameter its type, and whether it is a tensor; bytes before it, and elements."""
    rng, kinds, arrays = np.random.default_rng(1), [], []
    for p, span in zip(head.params, spans):
        kind = p[1] if span is None else p[2]
        a = compare.data(kind, (1 if span is None else span,), rng, p[0], dims)
        if kind in ("f32", "f64"): a = a / a.dtype.type(16)    # products of many stay finite
        kinds.append((kind, span is not None))
        arrays.append((0, np.abs(a)) if span is None else (front * a.itemsize, a))
    return kinds, arrays


class Call:
    """A call of a kernel: dimensions, arguments."""
    def __init__(self, head, found):
        _, front, self.sizes, spans = found
        self.dims = [self.sizes[d[0]] for d in head.dims]
        self.kinds, self.arrays = arguments(head, self.sizes, spans, front)

    def run(self, simulator, kernel, version): return simulator.call(kernel, version, self.dims, self.arrays)

    def run_steps(self, simulator, steps, kernel, version, own):
        """All steps in turn, this kernel among them by its version; arguments from `own` on are workspace, which is 0 before."""
        arrays = [(front, a if i < own else np.zeros_like(a)) for i, (front, a) in enumerate(self.arrays)]
        for step in steps:
            why, after = simulator.call(step, version if step == kernel else "", self.dims, arrays)
            if why: return why, after
            arrays = [(front, a) for (front, _), a in zip(arrays, after)]
        return "", after[:own]

    def same(self, one, other): return all(not tensor or compare.same(a, b, kind) for a, b, (kind, tensor) in zip(one, other, self.kinds))


def forms(simulator, head, kernel, version, guard, row):
    """For each kernel that a version is printed as, whether it is the one for short rows, and the smallest call that it serves, or None."""
    found = calls(head, guard, row)
    if not row: return [(False, Call(head, found[0]) if found else None)]
    first = {}
    for i, f in enumerate(found):
        if len(first) == 2: break
        call = Call(head, f)
        first.setdefault(simulator.call(kernel, version, call.dims, call.arrays, asks=True), call)
    return [(is_short, first.get(is_short)) for is_short in (False, True)]


def both(call, simulators, heads, kernel, version):
    """What the kernel gives, and what it should: as (fault, arrays)."""
    simulator, plain = simulators
    for owner, head in heads.items():
        for steps, _ in head.steps:
            if kernel in steps:
                n = len(head.params)
                whole = Call.__new__(Call)
                whole.dims, whole.arrays = call.dims, call.arrays[:n]
                return call.run_steps(simulator, steps, kernel, version, n), whole.run(simulator, owner, "")
    if kernel.startswith("clear_partials"): return call.run(simulator, kernel, version), ("", [np.zeros_like(a) for _, a in call.arrays])
    origin = re.sub("_(single_trip|single_tile|small_tile|short_axes(_[123])?)$", "", kernel)    # for short tensors (lower/single_trip.c, single_tile.c, short_axes.c)
    whole = origin if origin in heads else kernel
    return call.run(simulator, kernel, version), call.run(*((simulator, kernel, "") if version else (plain, whole, "")))


def check_version(simulators, heads, version, arch):
    """How many printed kernels it is."""
    kernel, text, guard, row = version
    guard = " and ".join(["(%s)" % guard] + ["(%s)" % of for head in heads.values() for steps, of in head.steps if kernel in steps])
    printed = forms(simulators[0], heads[kernel], kernel, text, guard, row)
    for is_short, call in printed:
        name = "%s for %s, version `%s`%s" % (kernel, arch, text, " for short rows" if is_short else "")
        if not check(call or (kernel, text) in LARGE, "%s: no call for %s" % (name, guard)) or not call: continue
        (why, one), (other, every) = both(call, simulators, heads, kernel, text)
        if check(not why and not other, "%s, %s: %s%s" % (name, call.sizes, why, other)):
            check(call.same(one, every), "%s, %s: other values than it should give" % (name, call.sizes))
    return len(printed)


def main(path):
    path, done = os.path.join(ROOT, path), 0
    with tmpdir() as tmp:
        program = os.path.join(tmp, "call")
        must(["gcc", "-std=gnu11", "-O1", "-o", program, os.path.join(HERE, "call.c"), LIBRARY, "-lm"])
        for arch in ("sm_80", "sm_90a"):
            options, ir = ["-w", "--arch=" + arch, *["--versions=16"] * path.startswith(os.path.join(ROOT, "samples"))], []
            for level in ("-O2", "-O0"):
                r = ctilec(*options, level, "--emit=placed", path, "-o", "-")
                if not check(r.code == 0, r.text): finish()
                ir.append(os.path.join(tmp, "k%s.ir" % level))
                write(ir[-1], r.out)
            cuda = ctilec(*options, "--target=cuda", "--no-header", path, "-o", "-").out.decode()
            heads, versions = read_versions(open(ir[0]).read())
            simulator, plain = [Simulator(program, i) for i in ir]
            kernels = sum([check_version((simulator, plain), heads, v, arch) for v in versions])
            simulator.close(), plain.close()
            printed = len(re.findall(r"\b__global__ void", cuda))
            check(kernels == printed, "%s: %d kernels are printed, and %d have run" % (arch, printed, kernels))
            done += kernels
    print("%d kernels" % done)
    check(done, "no kernels")
    finish()


main(sys.argv[1])
