"""Every version of a sample's kernels runs in the simulator: versions.py SAMPLE. For each version a call is sought, with as few elements
as may be, of which its guard holds; it must give what the version for all calls gives, up to the order of sums. A version for which
no call is found fails, and so does a fault."""
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
        self.extents = set()            # dimensions of which a tensor has at least as many elements
        self.params = []
        for p in found("param"):
            m = re.match(r"(\w+): (\w+) tensor<(\w+), \[(.*)\]> strides \[(.*?)\]", p)
            if m: self.params.append((m[1], m[2], m[3], *[python("(%s,)" % m[i]) for i in (4, 5)]))
            else: self.params.append((*re.match(r"(\w+): (\w+)", p).groups(),))
            if m: self.extents.update(d for d, stride in zip(m[4].split(", "), m[5].split(", ")) if stride != "0")


def span(shape, strides):
    """Elements of a tensor from its first to its last."""
    return 1 + sum([(n - 1) * s for n, s in zip(shape, strides)]) if min(shape) > 0 else 0


NAMES = {"cdiv": cdiv, "min": min, "max": max}


def read_versions(text):
    heads, versions = {}, []
    for kind, name, rest, lines in re.findall(r"(?m)^(kernel|version) (\w+) (.*) \{\n((?:\t.*\n)*?)\tbody", text):
        lines = [l.strip() for l in lines.splitlines()]
        if kind == "kernel": heads[name] = Head(lines)
        else: versions.append((name, rest.split('"')[1], python(lines[0][len("guard "):])))
    return heads, versions


def parts_of(text):
    """What must hold for a condition to hold, and the names in each part."""
    tree = ast.parse(text.strip(), mode="eval").body
    parts = tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]
    return [(ast.unparse(p), {n.id for n in ast.walk(p) if isinstance(n, ast.Name)} - set(NAMES)) for p in parts]


def tried(head, free, conditions):
    """A function, of two choices of phases and the free dimensions, that gives for which of those all conditions hold, the number of tile
    blocks, all dimensions and the span of each tensor, None for a scalar; None for none. What is called so often is compiled as one."""
    of_phase = ["phase" in names or "blocks" in names for _, names in conditions]
    both = lambda kind: " and ".join("(%s)" % text for (text, _), k in zip(conditions, of_phase) if k == kind) or "True"
    spans = ", ".join("span(%s, %s)" % p[3:] if len(p) > 2 else "None" for p in head.params)
    lines = ["%s = %s" % (name, value) for name, _, value in head.dims if value]
    lines += ["if not (%s): return None" % both(False), "blocks = prod(%s)" % head.grid, "fronts = [i for i, phase in enumerate(phases) if %s]" % both(True),
              "return (fronts, blocks, dict(%s), [%s]) if fronts else None" % (", ".join("%s=%s" % (d[0], d[0]) for d in head.dims), spans)]
    scope = {**NAMES, "prod": math.prod, "span": span}
    exec("def f(phases, %s):\n" % ", ".join(free) + "".join("    %s\n" % l for l in lines), scope)
    return scope["f"]


def calls(head, guard):
    """Dimensions and the elements by which tensors begin after a multiple of 256 bytes, the smallest calls first."""
    free = [d[0] for d in head.dims if not d[2]]
    near = sorted({int(n) + k for n in re.findall(r"\d+", guard) for k in (-1, 0, 1)} - {-1, 0})
    conditions = [part for text in (*head.where, guard) for part in parts_of(text)]
    phases = [{p[0]: front * np.dtype(compare.DTYPE[p[2]]).itemsize for p in head.params if len(p) > 2} for front in (0, 1)]
    choices = []
    for d in free:
        own = [compile(text, "condition", "eval") for text, names in conditions if names == {d}]
        some = USUAL + [n for n in near if n > USUAL[-1]] if re.search(r"\b%s\b" % d, guard) or "blocks" in guard else USUAL
        choices.append([n for n in some if (d not in head.extents or n <= MOST) and all(eval(c, NAMES, {d: n}) for c in own)])
    f, found = tried(head, free, conditions), []
    for values in itertools.product(*choices):
        try:
            fronts, blocks, dims, spans = f(phases, *values) or ((), 0, {}, [])
        except (ZeroDivisionError, NameError):
            continue
        size = sum([s or 0 for s in spans])
        if blocks < 1 or size > MOST or 0 in spans: continue
        found += [(size + 64 * blocks, front, dims, spans) for front in fronts]
    return sorted(found, key=lambda f: (f[0], -f[1]))


def number(n): return np.int64(n).tobytes()


def told(text): return number(len(text)) + text.encode()


class Simulator:
    """The process that calls kernels of a text (call.c)."""
    def __init__(self, program, path):
        self.process = subprocess.Popen([program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def call(self, kernel, version, dims, arrays):
        data = told(kernel) + told(version) + number(len(dims)) + b"".join(map(number, dims)) + number(len(arrays))
        self.process.stdin.write(data + b"".join(number(front) + number(a.nbytes) + a.tobytes() for front, a in arrays))
        self.process.stdin.flush()
        take = lambda n: self.process.stdout.read(n)
        why = take(int(np.frombuffer(take(8), "i8")[0])).decode()
        return why, [np.frombuffer(take(a.nbytes), a.dtype) for _, a in arrays]


def arguments(head, dims, spans, front):
    """Of each parameter its type, and whether it is a tensor; bytes before it, and elements."""
    rng, kinds, arrays = np.random.default_rng(1), [], []
    for p, span in zip(head.params, spans):
        kind = p[1] if span is None else p[2]
        a = compare.data(kind, (1 if span is None else span,), rng, p[0], dims)
        kinds.append((kind, span is not None))
        arrays.append((0, np.abs(a)) if span is None else (front * a.itemsize, a))
    return kinds, arrays


def main(sample):
    path = os.path.join(ROOT, "samples", sample, sample + ".tile")
    done = 0
    with tmpdir() as tmp:
        program = os.path.join(tmp, "call")
        must(["gcc", "-std=gnu11", "-O1", "-o", program, os.path.join(HERE, "call.c"), LIBRARY, "-lm"])
        for arch in ("sm_80", "sm_90a"):
            r = ctilec("-w", "--versions=16", "--arch=" + arch, "--emit=placed", path, "-o", "-")
            if not check(r.code == 0, r.text): break
            write(os.path.join(tmp, "k.ir"), r.out)
            simulator = Simulator(program, os.path.join(tmp, "k.ir"))
            heads, versions = read_versions(r.out.decode())
            check(len(versions) == r.out.count(b"\nversion "), "not all versions are found")
            for kernel, version, guard in versions:
                if not version: continue
                name, found = "%s for %s, version `%s`" % (kernel, arch, version), calls(heads[kernel], guard)
                if not check(found, "%s: no call for %s" % (name, guard)): continue
                _, front, dims, spans = found[0]
                kinds, arrays = arguments(heads[kernel], dims, spans, front)
                values = [dims[d[0]] for d in heads[kernel].dims]
                (why, one), (other, every) = [simulator.call(kernel, v, values, arrays) for v in (version, "")]
                check(not why and not other, "%s: %s%s" % (name, why, other))
                good = all(not tensor or compare.same(a, b, kind) for a, b, (kind, tensor) in zip(one, every, kinds))
                check(good, "%s, %s: other values than the version for all calls" % (name, dims))
                done += 1
    print("%d versions" % done)
    check(done or sample == "histogram", "no versions")
    finish()


main(sys.argv[1])
