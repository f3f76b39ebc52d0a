"""Every version of a sample's kernels runs in the simulator: versions.py SAMPLE. For each version a call is sought, with as few elements
as may be, of which its guard holds; it must give what the version for all calls gives, up to the order of sums. A version for which
no call is found fails, and so does a fault."""
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
        self.dims = [(name, type, value and compile(python(value), "dim", "eval")) for name, type, value in dims]
        self.where = [compile(python(w.split(" text ")[0]), "where", "eval") for w in found("where")]
        self.grid = compile(python(found("grid")[0]), "grid", "eval")
        self.params = []
        for p in found("param"):
            m = re.match(r"(\w+): (\w+) tensor<(\w+), \[(.*)\]> strides \[(.*?)\]", p)
            if m: self.params.append((m[1], m[2], m[3], *[compile(python("[%s]" % m[i]), "shape", "eval") for i in (4, 5)]))
            else: self.params.append((*re.match(r"(\w+): (\w+)", p).groups(),))

    def spans(self, dims):
        """Elements of each tensor from its first to its last; None: a scalar."""
        out = []
        for p in self.params:
            shape, strides = (eval(p[3], NAMES, dims), eval(p[4], NAMES, dims)) if len(p) > 2 else (None, None)
            out.append(None if shape is None else 1 + sum((n - 1) * s for n, s in zip(shape, strides)) if all(n > 0 for n in shape) else 0)
        return out


NAMES = {"cdiv": cdiv, "min": min, "max": max}


def read_versions(text):
    heads, versions = {}, []
    for kind, name, rest, lines in re.findall(r"(?m)^(kernel|version) (\w+) (.*) \{\n((?:\t.*\n)*?)\tbody", text):
        lines = [l.strip() for l in lines.splitlines()]
        if kind == "kernel": heads[name] = Head(lines)
        else: versions.append((name, rest.split('"')[1], python(lines[0][len("guard "):])))
    return heads, versions


def calls(head, guard):
    """Dimensions and the elements by which tensors begin after a multiple of 256 bytes, the smallest calls first."""
    free = [d[0] for d in head.dims if not d[2]]
    near = sorted({int(n) + k for n in re.findall(r"\d+", guard) for k in (-1, 0, 1)} - {-1, 0})
    holds = compile(guard, "guard", "eval")
    phases = [{p[0]: front * np.dtype(compare.DTYPE[p[2]]).itemsize for p in head.params if len(p) > 2} for front in (0, 1)]
    choices = [USUAL + [n for n in near if n > USUAL[-1]] if re.search(r"\b%s\b" % d, guard) or "blocks" in guard else USUAL for d in free]
    found = []
    for values in itertools.product(*choices):
        dims = dict(zip(free, values))
        try:
            for name, _, value in head.dims:
                if value: dims[name] = eval(value, NAMES, dims)
            if not all(eval(w, NAMES, dims) for w in head.where): continue
            blocks = math.prod(eval(head.grid, NAMES, dims))
            fronts = [front for front in (0, 1) if eval(holds, {**NAMES, "phase": phases[front], "blocks": blocks}, dict(dims))]
            spans = head.spans(dims) if fronts else None
        except (ZeroDivisionError, NameError):
            continue
        size = sum(s or 0 for s in spans or [])
        if blocks < 1 or size > MOST or any(s == 0 for s in spans or []): continue
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
