#!/usr/bin/env python3
"""What the documents in the seeds describe, item by item: run.py [--target c|emulated] [--ctilec PATH] [--list].

Each item of the table (table.py) has the program that shows it here: values, the code of an error, what is printed, or a row in the
list of differences of the reference (docs/language.md 18). COUNT says how many items each document has, so that none is lost. Each row of that
list is shown by an item, or is about something that the documents do not have (BEYOND): the list is complete, and has nothing else."""
import argparse
import concurrent.futures
import importlib
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(1, os.path.join(os.path.dirname(HERE), "values"))
import numpy as np      # noqa: the suites need it
import table
from suite import Suite

PAGES = ["operations", "layouts", "loads", "rust", "principles", "facts"]
COUNT = {"000": 197, "001": 45, "002": 82, "003": 75, "004": 380, "facts": 24}
# rows of the list of differences that no item is about: typing questions (tests/vendor), what is defined here and not there, and more
# that there is here. Each is tested where the row's subject is.
BEYOND = [
    "literals take the type of the other operand", "two scalars follow the rules of tiles", "of two scalars look at the right side", "compound assignment exists",
    "a scalar starts or is assigned", "`full` converts its value", "`bid`, extents and indices are i32", "atomics of views take every order",
    "reductions and scans take several axes", "`argmax` and `argmin` give i32", "`atomic_add` on bf16 works", "overflow and shifts are defined",
    "casts of every value are defined", "indices outside are defined", "a race gives one of the values", "pads may be any value", "a false promise about a constant",
    "`assume_divisible` takes any number", "`a * b + c` in one expression", "a tile has at most 8 axes", "an output whose elements overlap", "`print` ends its line",
    "sub-views, slices, tuples", "a tile of rank 0 is an element of a tensor of any rank",
]


def differences():
    """The first column of the list."""
    text = open(os.path.join(ROOT, "docs", "language.md"), encoding="utf-8").read()
    section = text[text.index("\n## 18 "):text.index("\n## 19 ")]
    rows = [line for line in section.split("\n") if line.startswith("| ")]
    return [re.split(r"(?<!\\) \| ", line[2:])[0] for line in rows[1:]]


def check_differences():
    rows, bad, shown = differences(), 0, set()
    for words, wanted in [(w, r) for w, r in table.DIFFERS] + [(None, r) for r in BEYOND]:
        found = [r for r in rows if wanted in r]
        shown.update(found)
        if len(found) != 1:
            bad += 1
            print(f"FAILED {words or 'BEYOND'}: {len(found)} rows of the list of differences hold `{wanted}`")
    for row in rows:
        if row not in shown:
            bad += 1
            print(f"FAILED: no item shows the difference `{row}`")
    return bad


def check_refused(ctilec):
    def one(r):
        words, source, code = r
        p = subprocess.run([ctilec, "--check", "-w", "--color=never", "-"], input=source, capture_output=True, text=True)
        codes = re.findall(r"^error\[(\w+)\]", p.stderr, re.M)
        return None if codes and set(codes) == {code} else f"FAILED {words}: wanted {code}, found {p.stderr or 'nothing'}"
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        faults = [f for f in pool.map(one, table.REFUSED) if f]
    print("\n".join(faults), end="\n" if faults else "")
    return len(faults)


def check_prints(ctilec, folder):
    source, main = os.path.join(folder, "prints.tile"), os.path.join(folder, "main.c")
    calls = "".join(f"\tputs(\"<<\"); if ({name}({', '.join(c for c in args if c)}, 0)) return 1;\n" for _, name, _, args, _ in table.PRINTS)
    with open(source, "w") as f:
        f.write("".join(s for _, _, s, _, _ in table.PRINTS))
    with open(main, "w") as f:
        f.write('#include "prints.h"\n#include <stdio.h>\nint main(void)\n{\n\tconst int32_t ten[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };\n' + calls + "\treturn 0;\n}\n")
    subprocess.run([ctilec, source, "--target=c", "-w", "-o", source[:-5] + ".c"], check=True)
    subprocess.run([os.environ.get("CC", "gcc"), "-std=c11", "-I" + folder, "-o", source[:-5], main, source[:-5] + ".c", "-lm"], check=True)
    parts = subprocess.run([source[:-5]], capture_output=True, text=True).stdout.split("<<\n")[1:]
    bad = 0
    for (words, _, _, _, text), found in zip(table.PRINTS, parts + [None] * len(table.PRINTS)):
        if found != text:
            bad += 1
            print(f"FAILED {words}: printed {found!r}, wanted {text!r}")
    return bad


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--ctilec", default=os.environ.get("CTILEC", "build/ctilec"))
    ap.add_argument("--target", default="c")
    ap.add_argument("--list", action="store_true", help="print the items")
    ap.add_argument("--pages", default=",".join(PAGES), help="some of " + ", ".join(PAGES))
    a = ap.parse_args()
    for page in a.pages.split(","):
        importlib.import_module(page)
    if a.list:
        print("\n".join("%s %s" % i for i in table.ITEMS))
        return 0
    bad = 0
    if a.pages.split(",") == PAGES:
        count = {seed: sum(s == seed for s, _ in table.ITEMS) for seed in COUNT}
        if count != COUNT or len(table.ITEMS) != sum(COUNT.values()):
            bad += 1
            print(f"FAILED: the items are {count}, and the documents have {COUNT}")
    suite = Suite("seeds")
    for k in table.KERNELS:
        suite.add(k.name, k.source(), lambda rng, k=k: [k.call()])
    with tempfile.TemporaryDirectory() as folder:
        try:
            suite.build(a.ctilec, a.target, folder)
            bad += suite.run(folder, a.target)
        except subprocess.CalledProcessError:
            bad += suite.each(a.ctilec, a.target, folder)
        if a.target == "c":
            bad += check_refused(a.ctilec) + check_prints(a.ctilec, folder) + check_differences()
    print(f"{len(table.ITEMS)} items, {bad} failed")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
