#!/usr/bin/env python3
"""Measures how far the mathematical functions are from exact, on the C target and on a GPU, and compares with what docs/operations.md states.

accuracy.py c [--sample BITS] [--only REGEX] [--types f16,f32] [--seconds S] [--jobs N] [--out FILE]
                                  builds and measures the C target here: all inputs of one operand and all pairs of 16 bits, or 2^BITS of each
accuracy.py emit CTILEC FOLDER    writes kernels, sources and go.sh into FOLDER, to be built and run on a machine with a GPU
accuracy.py record FILE... [--page PAGE] [--keep]
                                  compares measurements with the table, and writes bench/results/accuracy.md (PAGE); with --keep
                                  what FILEs do not measure stays on the page as it is, if it is of the same machine
accuracy.py check FILE...         compares only

A measurement is a line of JSON for each function, element type and target. An error of a table: its bound lies below what was measured.
"""
import argparse
import json
import math
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("BUILD", os.path.join(ROOT, "build"))
CTILEC = os.environ.get("CTILEC", os.path.join(BUILD, "ctilec"))
CC = os.environ.get("CC", "cc")
TILE = 1024
DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
ALL, SINGLE = ("f16", "bf16", "f32", "f64"), ("f32",)


class Function:
    """A row of the table, or a form of one. result: an element type to which a result of f32 is cast."""
    def __init__(self, key, label, text, reference, types=ALL, direction="NEAREST", flush=False, result=None):
        self.key, self.label, self.text, self.reference, self.types = key, label, text, reference, types
        self.direction, self.flush, self.result = direction, flush, result
        self.arity = 2 if re.search(r"\bb\b", text) else 1


def functions():
    out = []
    def add(*args, **kw): out.append(Function(*args, **kw))
    plain = ("exp exp2 log log2 log10 log1p expm1 sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh erf erfc cbrt ceil floor round rint trunc"
             .split())
    for name in plain:
        add(name, "`%s`" % name, name + "(a)", name)
    for name in ("div", "atan2", "pow", "hypot", "fmod"):
        add(name, "`%s`" % name, name + "(a, b)", name)
    low = Function("exp_low", "`exp`", "exp(-abs(a))", "exp_low", SINGLE)        # of operands that are proved not to be above 0
    out.append(low)
    for name, text in (("exp", "exp(a"), ("tanh", "tanh(a"), ("sqrt", "sqrt(a"), ("div", "div(a, b")):
        add(name + "_approximate", "`%s`, `rounding: approximate`" % name, text + ", rounding: approximate)", name, SINGLE)
    add("div_full", "`div`, `rounding: full`", "div(a, b, rounding: full)", "div", SINGLE)
    for t in ("f16", "bf16"):
        label = "`exp` whose uses end in rounding to `f16` or `bf16`"
        add("exp_to_" + t, label, "exp(a)", "exp", SINGLE, result=t)
        add("div_to_" + t, "`div`, `rounding: full`", "div(a, b)", "div", SINGLE, result=t)
    for name, text in (("exp2", "exp2(a"), ("rsqrt", "rsqrt(a"), ("sqrt", "sqrt(a"), ("div", "div(a, b")):
        add(name + "_flush", "`%s`" % name, text + ", subnormals: flush)", name, SINGLE, flush=True)
    for name, text in (("sqrt", "sqrt(a"), ("div", "div(a, b")):
        label = "`%s`, `rounding: approximate`" % name
        add(name + "_approximate_flush", label, text + ", rounding: approximate, subnormals: flush)", name, SINGLE, flush=True)
        for mode in ("toward_zero", "toward_negative", "toward_positive"):
            add(name + "_" + mode, "`%s`" % name, text + ", rounding: %s)" % mode, name, direction=mode.upper())
    add("div_full_flush", "`div`, `rounding: full`", "div(a, b, rounding: full, subnormals: flush)", "div", SINGLE, flush=True)
    return out


# ---- what the table states ----
class Bound:
    """ulp: in units of f32 or f64. r0, r1: a relative error of r0 + r1 |a|. nearest: nothing is stated, so it is the nearest value."""
    def __init__(self, text):
        self.text, self.ulp, self.r0, self.r1, rest = text, None, 0.0, 0.0, text
        self.flush = self.divisors = False
        self.nearest = not text
        if m := re.match(r"at most (\d+) ulp", rest):
            self.ulp, rest = float(m.group(1)), rest[m.end():]
        elif m := re.match(r"relative error at most 2\^(-\d+)(?: \+ 2\^(-\d+) abs\(a\))?", rest):
            self.r0, self.r1, rest = 2.0 ** int(m.group(1)), 2.0 ** int(m.group(2)) if m.group(2) else 0.0, rest[m.end():]
        elif self.nearest:
            self.ulp = 0.5
        else:
            sys.exit("accuracy: unknown words in the table: " + text)
        for words, name in (("; subnormal results are 0", "flush"), (" for divisors of 2^-126 to 2^126", "divisors"),
                            ("; what has a subnormal result is the square of what has not", None)):
            if words in rest:
                rest = rest.replace(words, "")
                if name:
                    setattr(self, name, True)
        if rest.strip():
            sys.exit("accuracy: unknown words in the table: " + text)


def table(page):
    """Bounds by label, target and width of the type that computes: {(label, "c", "f32"): Bound}."""
    out = {}
    section = page.split("\n## Accuracy\n")[1].split("\n## ")[0]
    for line in section.splitlines():
        cells = [c.strip() for c in line.split("|")[1:-1]]
        if len(cells) == 5 and cells[0].startswith("`"):
            for (target, t), text in zip((("c", "f32"), ("cuda", "f32"), ("c", "f64"), ("cuda", "f64")), cells[1:]):
                out[cells[0], target, t] = Bound(text)
    return out


def bound_of(bounds, f, target, t):
    b = bounds.get((f.label, target, "f64" if t == "f64" else "f32"))
    return b or Bound("")


def allowed(bound, f, t):
    """The greatest error in units of the result's type. 16-bit types round what f32 gives once more."""
    if f.direction != "NEAREST":
        return 1.0
    out = f.result or t
    if bound.nearest and not f.result:
        return 0.5
    if bound.ulp is not None and out in ("f16", "bf16"):
        return 0.5 + bound.ulp * 2.0 ** (DIGITS[out] - DIGITS["f32"])
    return bound.ulp


# ---- what is emitted ----
def kernel_name(f, t):
    return "k_%s_%s" % (f.key, t)


def tile_text(chosen):
    out = []
    for f, types in chosen:
        args = ["a", "b"][:f.arity]
        result = f.result or "T"
        text = f.text if not f.result else "element_cast(%s, %s)" % (f.text, f.result)
        loads = "".join(" let %s = x%s.load([bid(0)], [%d]);" % (v, v, TILE) for v in args)
        params = ", ".join("x%s: tensor<T, [n]>" % v for v in args)
        out.append("kernel of_%s<T: float>(%s, y: out tensor<%s, [n]>) grid [cdiv(n, %d)] {%s y.store([bid(0)], %s); }\n"
                   % (f.key, params, result, TILE, loads, text))
        for t in types:
            out.append("instance %s = of_%s<%s>;\n" % (kernel_name(f, t), f.key, t))
    return "".join(out)


def rows_text(chosen, bounds, target):
    """Wrappers of one signature, then ROWS, the initialisers of struct Row."""
    c = {"f32": "float", "f64": "double"}
    calls, rows = [], []
    for f, types in chosen:
        for t in types:
            k, b = kernel_name(f, t), bound_of(bounds, f, target, t)
            args = "".join("(const %s *)%s, " % (c.get(t, "void"), v) for v in ("a", "b")[:f.arity])
            calls.append("static int call_%s(const void *a, const void *b, void *y, int64_t n)\n{\n\t%sreturn %s(%s(%s *)y, n, NULL);\n}\n"
                         % (k, "" if f.arity == 2 else "(void)b;\n\t", k, args, c.get(f.result or t, "void")))
            rows.append('\t{ "%s", "%s", REF_%s, %d, %s, %s, %s, %d, %d, %d, %s, %s, call_%s }, \\\n' % (
                f.key, t, f.reference, f.arity, t.upper(), (f.result or t).upper(), f.direction, f.flush, f.flush or b.flush, b.divisors,
                b.r0.hex(), b.r1.hex(), k))
    return "".join(calls) + "#define ROWS \\\n" + "".join(rows) + "\n"


def choose(only, types):
    out = []
    for f in functions():
        ts = tuple(t for t in f.types if t in types)
        if ts and (not only or re.fullmatch(only, f.key)):
            out.append((f, ts))
    return out


def in_order(chosen):
    """What matters most first, for a run that ends before all is measured: functions of f32 as they stand, pairs of 16 bits, forms of them."""
    each = [(f, (t,)) for f, types in chosen for t in types]
    plain = re.compile(r"[a-z]+[0-9]*p?")
    def rank(e):
        f, (t,) = e
        form = not plain.fullmatch(f.key) or f.key in ("ceil", "floor", "round", "rint", "trunc", "fmod")
        return form, f.arity == 2 and t != "f64", t in ("f16", "bf16") and f.arity == 2
    return sorted(each, key=rank)


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def stated(ctilec):
    return table(subprocess.run([ctilec, "--list-ops=markdown"], check=True, stdout=subprocess.PIPE, text=True).stdout)


def emit_c(ctilec, folder, chosen):
    write(os.path.join(folder, "functions.tile"), tile_text(chosen))
    subprocess.run([ctilec, "--target=c", "functions.tile", "-o", "kernels.c"], cwd=folder, check=True)
    write(os.path.join(folder, "rows.inc"), rows_text(in_order(chosen), stated(ctilec), "c"))
    for name in ("measure.h", "judge64.h", "report.h", "measure_c.c"):
        shutil.copy(os.path.join(HERE, name), folder)


C_FLAGS = ["-std=gnu11", "-O2", "-march=x86-64-v3", "-pthread"]


def build_c(folder, link=()):
    vector = ["-DVECTOR_REFERENCES"] if platform.machine() == "x86_64" and has_vector(folder) else []
    libs = ["-lmvec"] if vector else []
    flags = C_FLAGS if platform.machine() == "x86_64" else [f for f in C_FLAGS if not f.startswith("-march")]
    subprocess.run([CC, *flags, "-c", "kernels.c"], cwd=folder, check=True)
    subprocess.run([CC, *flags, "-O3", "-fno-math-errno", "-fno-trapping-math", *vector, *link, "-o", "measure", "measure_c.c", "kernels.o", *libs, "-lm"],
                   cwd=folder, check=True)
    return os.path.join(folder, "measure")


CUDA_PARTS = 16         # files of kernels, compiled at once

MAKEFILE = """# make -j: builds `measure` of the sources that accuracy.py wrote here.
NVCC ?= nvcc
ARCH ?= sm_90a
FLAGS = -O3 -std=c++17 -arch=$(ARCH) -diag-suppress 177
KERNELS = $(patsubst %.cu,%.o,$(wildcard kernels_*.cu))
REFERENCES = $(patsubst %,references_%.o,0 1 2 3 4 5 6 7)
measure: measure_cuda.o $(KERNELS) $(REFERENCES)
\t$(NVCC) -arch=$(ARCH) -cudart static -o $@ $^
measure_cuda.o: measure_cuda.cu
\t$(NVCC) $(FLAGS) -c -o $@ $<
kernels_%.o: kernels_%.cu
\t$(NVCC) $(FLAGS) -c -o $@ $<
references_%.o: references.cu
\t$(NVCC) $(FLAGS) -DPART=$* -c -o $@ $<
"""


def emit_cuda(ctilec, folder, chosen, arch):
    each = [(f, (t,)) for f, types in chosen for t in types]
    includes = ""
    for i in range(CUDA_PARTS):
        part = each[i::CUDA_PARTS]
        if part:
            write(os.path.join(folder, "functions_%d.tile" % i), tile_text(part))
            subprocess.run([ctilec, "--arch=" + arch, "functions_%d.tile" % i, "-o", "kernels_%d.cu" % i], cwd=folder, check=True)
            includes += '#include "kernels_%d.h"\n' % i
    write(os.path.join(folder, "kernels.h"), includes)
    write(os.path.join(folder, "rows.inc"), rows_text(chosen, stated(ctilec), "cuda"))
    write(os.path.join(folder, "Makefile"), MAKEFILE)
    for name in ("measure.h", "judge64.h", "report.h", "answer.h", "references.cu", "measure_cuda.cu"):
        shutil.copy(os.path.join(HERE, name), folder)


GO = """#!/bin/bash
# Builds the GPU's program with nvcc and runs it; the C target's, built already, runs beside it for LIMIT seconds. Results: OUT/*.jsonl.
cd "$(dirname "$0")" || exit 1
export PATH=$PATH:/usr/local/cuda/bin OUT=${OUT:-$PWD}
cores=$(nproc)
(timeout $((${LIMIT:-160} + 40)) nice -n 10 c/measure 32 ${LIMIT:-160} $((cores > 2 ? cores - 1 : cores)) >"$OUT/c.jsonl" 2>"$OUT/c.err"
echo "C: exit $?, $(wc -l <"$OUT/c.jsonl") lines, $SECONDS s") &
make -C cuda -j"$cores" >"$OUT/build.log" 2>&1
echo "build: exit $?, $SECONDS s"
timeout 170 cuda/measure >"$OUT/cuda.jsonl" 2>"$OUT/cuda.err"
echo "GPU: exit $?, $(wc -l <"$OUT/cuda.jsonl") lines, $SECONDS s"
wait
tail -n 3 "$OUT"/*.err "$OUT"/cuda.jsonl "$OUT"/c.jsonl
"""


def emit(ctilec, folder):
    c, cuda = os.path.join(folder, "c"), os.path.join(folder, "cuda")
    os.makedirs(c)
    os.makedirs(cuda)
    with tempfile.TemporaryDirectory() as tmp:
        emit_c(ctilec, tmp, choose(None, ALL))
        shutil.copy(build_c(tmp, ["-static"]), c)
    emit_cuda(ctilec, cuda, choose(None, ALL), "sm_90a")
    go = os.path.join(folder, "go.sh")
    write(go, GO)
    os.chmod(go, 0o755)


def has_vector(folder):
    """Whether the C library has vector functions of all that are named in measure_c.c (glibc 2.35)."""
    path = os.path.join(folder, "probe.c")
    write(path, "#include <immintrin.h>\n__m256d _ZGVdN4v_erfc(__m256d);\n"
          "int main(void) { return (int)_mm256_cvtsd_f64(_ZGVdN4v_erfc(_mm256_setzero_pd())); }\n")
    r = subprocess.run([CC, "-mavx2", "-o", path + ".out", path, "-lmvec", "-lm"], stderr=subprocess.DEVNULL)
    return r.returncode == 0


# ---- what was measured ----
def shown(f):
    return "element_cast(%s, %s)" % (f.text, f.result) if f.result else f.text


class Results:
    """Lines of measurements, by target, function and element type; of several the one of most inputs, the last among equals."""
    def __init__(self, lines):
        self.machines, self.rows = {}, {}
        by_key = {f.key: f for f in functions()}
        for line in lines:
            d = json.loads(line)
            if "machine" in d:
                self.machines[d["target"]] = d["machine"]
                continue
            key = d["target"], d["function"], d["type"]
            if key not in self.rows or d["inputs"] >= self.rows[key]["inputs"]:
                self.rows[key] = d
        self.functions = by_key


def faults_of(d):
    what = {"nan": "is NaN where the exact value is not, or the other way round", "inf": "is infinite where the exact value is not, or the other way round",
            "sign": "is zero of the other sign", "direction": "lies on the wrong side"}
    return ["%s for %d inputs, first %s" % (words, d[k], d[k + "_at"]) for k, words in what.items() if d[k]]


def errors(results, bounds):
    """Where a measurement exceeds what the table states."""
    out = []
    for (target, key, t), d in sorted(results.rows.items()):
        f = results.functions[key]
        b = bound_of(bounds, f, target, t)
        name = "%s %s, %s" % (target, shown(f), t)
        most = allowed(b, f, t)
        slack = 2.0 ** -9 if t == "f64" else 1e-6        # of the references
        if most is not None and d["ulp"] > most + slack:
            out.append("%s: %.6f ulp at %s, stated are %.6g" % (name, d["ulp"], d["at"], most))
        if d.get("part", 0) > 1:
            out.append("%s: %.6f times the relative error that is stated, at %s" % (name, d["part"], d["part_at"]))
        if (d.get("r0", 0), d.get("r1", 0)) != (b.r0, b.r1):
            out.append("%s: measured against a relative error that is not the stated one" % name)
        if not d["inputs"]:
            out.append(name + ": no inputs")
        out += ["%s: %s" % (name, x) for x in faults_of(d)]
    return out


def missing(results, bounds):
    """Rows of the table that no function here measures, and functions that were not measured."""
    labels = {f.label for f in functions()}
    out = ["no function here measures the row %s" % x for x in sorted({label for label, _, _ in bounds}) if x not in labels]
    for target in results.machines:
        out += ["%s %s, %s: not measured" % (target, shown(f), t) for f in functions() for t in f.types if (target, f.key, t) not in results.rows]
    return out


# ---- the page ----
def cell(d, most):
    if not d:
        return "", ""
    text = "%.4f" % d["ulp"] if d["ulp"] < 1000 else "%.3g" % d["ulp"]
    if d["inputs"] < d["planned"] * 0.5 and d["planned"] > 2 ** 22:
        text += " (of 2^%.1f)" % math.log2(d["inputs"])
    if "part" in d:
        text += "; %.3f of the stated" % d["part"]
    return text, d["part_at"] if "part" in d else d["at"] if d["ulp"] else ""


HEAD = """# Accuracy, measured

Written by `tests/accuracy/accuracy.py record`; do not edit. The greatest error of each function in units in the last place (ulp) of its result, where the
exact value lies, and the operand or operands where it occurs in `f32`. Functions of one operand: all inputs of `f16`, `bf16` and `f32`. Of two
operands: all 2^32 pairs of `f16` and of `bf16`; of `f32` the 2^32 pairs of `sample_pair` in `tests/accuracy/measure.h`: boundaries with each other, any
numbers, like exponents, powers within the range. `f64`: 2^22 inputs of `sample_f64` there. References are double functions (off by 2^-27 ulp of `f32`);
for `f64` long double, off by 2^-10 ulp. A fraction "of the stated" is that of a relative error; an empty cell was not measured. NaN, infinities, signs of zero and directions of rounding
were compared for every input; what differs is listed below the table.
"""
PARTIAL = "`(of 2^n)`: so many inputs, where time did not suffice for all.\n"


TITLES = (("c", "The C target"), ("cuda", "The CUDA target"))
COLUMNS = {"f16": (0,), "bf16": (1,), "f32": (2, 3), "f64": (4,)}


def on_page(text):
    """The machines and the cells of a page: {target: machine}, {(target, function as shown): cells}."""
    machines, rows = {}, {}
    for target, title in TITLES:
        if "\n## %s\n\n" % title not in text:
            continue
        section = text.split("\n## %s\n\n" % title)[1].split("\n## ")[0].split("\n")
        machines[target] = section[0]
        for line in section:
            if m := re.match(r"\| `(.*?)` \|(.*)\|$", line):
                rows[target, m.group(1)] = [c.strip() for c in m.group(2).split("|")]
    return machines, rows


def page(results, bounds, before=""):
    """before: a page whose cells stand where there is no measurement."""
    out = [HEAD]
    machines, kept = on_page(before)
    for target, title in TITLES:
        machine = results.machines.get(target, machines.get(target))
        if not machine:
            continue
        if machine != machines.get(target, machine):
            sys.exit("accuracy: the page is of another machine: %s, and not %s" % (machines[target], machine))
        out.append("\n## %s\n\n%s\n\n| Function | f16 | bf16 | f32 | at | f64 |\n|---|---|---|---|---|---|\n" % (title, machine))
        for f in functions():
            cells = kept.get((target, shown(f)), [""] * 5)[:]
            for t, at in COLUMNS.items():
                if d := results.rows.get((target, f.key, t)):
                    text, place = cell(d, None)
                    for i, c in zip(at, (text, "`%s`" % place if place else "")):
                        cells[i] = c
            out.append("| `%s` | %s |\n" % (shown(f), " | ".join(cells)))
        wrong = ["- `%s`, %s: %s" % (shown(f), t, x) for f in functions() for t in ALL if (d := results.rows.get((target, f.key, t))) for x in faults_of(d)]
        out.append("\n" + ("\n".join(wrong) if wrong else "NaN, infinities, signs of zero and directions differ nowhere.") + "\n")
    text = "".join(out)
    return text.replace("below the table.\n", "below the table.\n" + PARTIAL, 1) if " (of 2^" in text else text


def compare(results, bounds, whole):
    found = errors(results, bounds) + (missing(results, bounds) if whole else [])
    for x in found:
        print(x)
    print("%d measurements, %d errors" % (len(results.rows), len(found)))
    return 1 if found else 0


def measure(args):
    """Builds and runs the C target's program; the lines it prints."""
    with tempfile.TemporaryDirectory() as tmp:
        emit_c(CTILEC, tmp, choose(args.only, args.types.split(",")))
        program = build_c(tmp)
        return subprocess.run([program, str(args.sample), str(args.seconds), str(args.jobs)], check=True, stdout=subprocess.PIPE, text=True).stdout


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = p.add_subparsers(dest="what", required=True)
    c = sub.add_parser("c")
    c.add_argument("--sample", type=int, default=32, help="2^SAMPLE inputs of each function of 32 bits, 16 to 32")
    c.add_argument("--seconds", type=float, default=0, help="after so many, what is left takes part in a quarter of a second each")
    c.add_argument("--only", help="a regular expression: keys of functions")
    c.add_argument("--types", default=",".join(ALL))
    c.add_argument("--jobs", type=int, default=os.cpu_count())
    c.add_argument("--out", help="a file for the measurements")
    e = sub.add_parser("emit")
    e.add_argument("ctilec")
    e.add_argument("folder")
    for name in ("record", "check"):
        r = sub.add_parser(name)
        r.add_argument("files", nargs="+")
        r.add_argument("--keep", action="store_true")
        r.add_argument("--page", default=os.path.join(ROOT, "bench", "results", "accuracy.md"))
    return p.parse_args()


def main():
    args = arguments()
    if args.what == "emit":
        emit(os.path.abspath(args.ctilec), args.folder)
        return 0
    bounds = stated(CTILEC)
    if args.what == "c":
        text = measure(args)
        if args.out:
            write(args.out, text)
        return compare(Results(text.splitlines()), bounds, False)
    lines = []
    for path in args.files:
        with open(path) as f:
            lines += f.read().splitlines()
    results = Results(lines)
    if args.what == "record":
        before = ""
        if args.keep:
            with open(args.page) as f:
                before = f.read()
        write(args.page, page(results, bounds, before))
    return compare(results, bounds, not args.keep)


if __name__ == "__main__":
    sys.exit(main())
