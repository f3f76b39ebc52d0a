#!/usr/bin/env python3
"""Checks that no line of C is longer than 120 columns, a tab being 4. Tables (*.def) are left out, where a row is a line and ends in a
sentence for the documentation; so are generated files, and tests and benchmarks, which have not been broken yet. Prints each longer line;
exit 1 if there is one."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMIT, TAB = 120, 4
ELSEWHERE = "bootstrap/", "tests/", "bench/", "build/", ".deps/"


def sources():
    for folder, folders, files in os.walk(ROOT):
        here = os.path.relpath(folder, ROOT) + "/"
        here = "" if here == "./" else here
        folders[:] = sorted(f for f in folders if not f.startswith(".") and not (here + f + "/").startswith(ELSEWHERE))
        yield from (here + f for f in sorted(files) if f.endswith((".c", ".h", ".re", ".y")))


long = 0
for path in sources():
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            n = len(line.rstrip("\n").expandtabs(TAB))
            if n > LIMIT:
                print("%s:%d: %d columns, at most %d" % (path, number, n, LIMIT))
                long += 1
sys.exit(long > 0)
