#!/usr/bin/env python3
"""Checks that no two arguments of a call, nor two members of a list in braces, both make operations: C leaves open which of them is
evaluated first, so what is emitted would depend on the compiler that ctilec is built with. Name them in local variables instead. A
function makes operations if it calls ir_op or a function that makes them; calls by pointer, and operands of operators, are not seen.
Prints each violation; exit 1 if there is one."""
import os
import re
import sys

FOLDERS = "ir plan placed sema lower".split()
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NO_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
HEAD = re.compile(r"^(static )?[A-Za-z][\w *]*?\b(\w+)\([^;{}]*\)\s*\{", re.M)
CALL = re.compile(r"\b([A-Za-z_]\w*)\(")


def parts(text, at):
    """What commas separate in the brackets that open before `at`, as (from, to), and where they close."""
    depth, found, start = 0, [], at
    while depth or text[at] not in ")]}":
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if text[at] == "," and not depth:
            found.append((start, at))
            start = at + 1
        at += 1
    return found + [(start, at)], at


def called(text):
    return {m.group(1) for m in CALL.finditer(text)}


class File:
    def __init__(self, path):
        self.path = path
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            self.text = NO_TEXT.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), f.read())
        self.own = {}       # functions of this file alone, and what they call
        self.all = {}
        for m in HEAD.finditer(self.text):
            body = self.text[m.end():parts(self.text, m.end())[1]]
            (self.own if m.group(1) else self.all)[m.group(2)] = called(body)


def makers(files):
    """Of each file the names of functions that make operations."""
    everywhere, own = {"ir_op"}, {f: set() for f in files}
    more = True
    while more:
        more = False
        for f in files:
            for functions, to in (f.own, own[f]), (f.all, everywhere):
                for name, calls in functions.items():
                    if name not in to and calls & ((everywhere - f.own.keys()) | own[f]):
                        to.add(name)
                        more = True
    return {f: (everywhere - f.own.keys()) | own[f] for f in files}


def main():
    files = [File(os.path.join(folder, name)) for folder in FOLDERS for name in sorted(os.listdir(os.path.join(ROOT, folder)))
        if name.endswith((".c", ".h"))]
    bad = 0
    for f, make in makers(files).items():
        for m in re.finditer(r"\w\(|\{", f.text):
            lists, end = parts(f.text, m.end())
            if ";" in f.text[m.end():end]:
                continue            # a block, or the head of a loop
            names = [sorted(called(f.text[a:b]) & make) for a, b in lists]
            names = [n[0] for n in names if n]
            if len(names) > 1:
                bad += 1
                print("%s:%d: %s" % (f.path, f.text.count("\n", 0, m.start()) + 1, ", ".join(names)))
    sys.exit(1 if bad else 0)


main()
