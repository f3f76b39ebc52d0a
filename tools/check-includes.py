#!/usr/bin/env python3
"""Checks the order of the folders: a file may include only from its own folder or an earlier one, and what CLOSED keeps out of it, not
at all. Also the small rules:
C files under 1,200 lines, no CR, no trailing blank, a comment at the head of each file.
Prints each violation; exit 1 if there is one."""
import os
import re
import sys

ORDER = "base ast grammar lexer parser layout ir plan placed sema lower emit emit_c emit_cuda emit_tile sim driver".split()
# Printers and the simulator do what PLACED IR says: they take nothing from the passes that decide it.
CLOSED = {folder: {"plan", "sema", "lower"} for folder in "emit emit_c emit_cuda emit_tile sim".split()}
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAX_LINES = 1200
bad = []


def check_file(folder, name):
    path = os.path.join(folder, name)
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        lines = f.read().split("\n")
    for i, line in enumerate(lines, 1):
        where = "%s:%d: " % (path, i)
        m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if m:
            target = m.group(1)
            first = target.split("/")[0]
            if "/" not in target:
                if target != "git_id.h":
                    bad.append(where + "an include names its folder: " + target)
            elif first not in ORDER:
                bad.append(where + "no such folder in the order: " + target)
            elif ORDER.index(first) > ORDER.index(folder):
                bad.append(where + "%s comes after %s: %s" % (first, folder, target))
            elif first in CLOSED.get(folder, ()):
                bad.append(where + "%s takes nothing of %s: %s" % (folder, first, target))
        if line != line.rstrip():
            bad.append(where + "blanks at the end of the line")
    if name.endswith((".c", ".h")):
        if len(lines) > MAX_LINES:
            bad.append("%s: %d lines" % (path, len(lines)))
        if not lines[0].startswith("/*"):
            bad.append(path + ": no comment at the head")


def main():
    for folder in ORDER:
        full = os.path.join(ROOT, folder)
        if not os.path.isdir(full):
            continue
        for name in sorted(os.listdir(full)):
            if name.endswith((".c", ".h", ".def", ".y", ".re")):
                check_file(folder, name)
    for line in bad:
        print(line)
    sys.exit(1 if bad else 0)


main()
