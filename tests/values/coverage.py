#!/usr/bin/env python3
"""Every operation is compared with values somewhere: coverage.py [--ctilec PATH] [--list].

Rows of ir/ops.def that typed IR may hold must stand in the IR of a suite of this folder or of a program that checks itself
(tests/operations, language, stdlib, checked); names of `ctilec --list-ops` must be called in their sources. The suites run on the
C target and on a GPU, so a row that is found is compared on both. A new operation without a test fails here."""
import argparse, importlib, os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SUITES = "casts control elementwise memory modes products rand reductions shapes spans".split()
PROGRAMS = ["tests/operations/ops.tile", "tests/language/rules.tile", "tests/stdlib/functions.tile"]
# what has no value of its own, and the test that sees what it does
ELSEWHERE = {
    "assert": "checked/traps", "check": "checked/traps", "print": "operations/values", "static_assert": "docs/language: the pages compile",
    "static_stride": "rules/cases", "static_extent": "rules/cases",
    "static_print": "diag: what is printed", "type_of": "language/rules",
    "private": "emulated/private, sim/private: a pass alone writes it", "publish": "emulated/private, sim/private",
}


def sources():
    """(name, text, options) of everything whose values are compared."""
    sys.path.insert(0, HERE)
    for name in SUITES:
        module = importlib.import_module(name)
        found = [v for v in vars(module).values() if hasattr(v, "used") and hasattr(v, "groups") and not isinstance(v, type)]
        for s in found:
            for group in s.used():
                yield f"{name}{':' + group if group else ''}", s.source(group), list(s.groups[group])
        if not found:
            yield name, module.source(), []
    for path in PROGRAMS:
        if os.path.exists(os.path.join(ROOT, path)):
            yield path, open(os.path.join(ROOT, path)).read(), ["-I", os.path.dirname(os.path.join(ROOT, path))]


def rows():
    """Names in IR of the rows that typed IR may hold."""
    text = open(os.path.join(ROOT, "ir", "ops.def")).read()
    return [m.group(2) for m in re.finditer(r'^OP\((\w+),\s*"([^"]*)",\s*(?:BOTH|TYPED),', text, re.M)]


def words(ctilec):
    """Names that programs may call."""
    text = subprocess.run([ctilec, "--list-ops"], capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r"^  (?:t\.)?(\w+)\(", text, re.M)))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--ctilec", default=os.environ.get("CTILEC", "build/ctilec"))
    ap.add_argument("--list", action="store_true", help="print where each is seen first")
    a = ap.parse_args()
    in_ir, called = {}, {}
    with tempfile.TemporaryDirectory() as d:
        for name, text, options in sources():
            path = os.path.join(d, "k.tile")
            with open(path, "w") as f:
                f.write(text)
            r = subprocess.run([a.ctilec, "-w", *options, "--emit=ir", path, "-o", "-"], capture_output=True, text=True)
            if r.returncode:
                sys.exit(f"{name} does not compile:\n{r.stderr[:2000]}")
            for op in set(re.findall(r"^\s*(?:%[^=\n]*= )?([a-z_]\w*)\b", r.stdout, re.M)):
                in_ir.setdefault(op, name)
            for op in set(re.findall(r"\b([a-z_]\w*)\(", text)):
                called.setdefault(op, name)
    bad = 0
    for kind, wanted, seen in (("operation of the IR", rows(), in_ir), ("name", words(a.ctilec), called)):
        for op in wanted:
            where = seen.get(op) or ELSEWHERE.get(op)
            if a.list:
                print(f"{kind} {op}: {where}")
            if not where:
                bad += 1
                print(f"FAILED: no test of values has the {kind} `{op}`")
        print(f"{len(wanted)} of kind {kind}, {sum(op in seen for op in wanted)} with values")
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
