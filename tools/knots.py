#!/usr/bin/env python3
"""Prints the knots of each folder: files that need each other's functions or data, around a circle (strongly connected by symbol, as nm
reads them from the objects of `make`). knots.py [OBJECTS]; exit 1 where a folder has a larger knot than LARGEST allows.

It fails, too, where one pass calls another.

LARGEST is a ratchet: a number there goes down when a knot is cut, and never up. The aim is at most 5 files. `--why FOLDER` prints what
each file of the folder's knots takes from the others, the links with the fewest symbols first: those are the cheapest to cut."""
import glob
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = "base ast grammar lexer parser layout ir plan placed sema lower emit emit_c emit_cuda emit_tile sim driver".split()
LARGEST = {"base": 3, "lexer": 3, "ir": 4, "sema": 23, "lower": 3, "emit_cuda": 2, "emit_tile": 3, "sim": 4}


def symbols(paths):
    """object: (what it defines, what it asks for). One nm for all: starting it takes longer than reading an object."""
    found = {path: (set(), set()) for path in paths}
    for line in subprocess.run(["nm", "-P", "-A", *paths], capture_output=True, text=True, check=True).stdout.splitlines():
        path, rest = line.rsplit(": ", 1)
        name, kind = rest.split()[:2]
        if kind in "TDBRCGSVWU":
            found[path][kind == "U"].add(name)
    return found


def links(objects, folder, known):
    """{file: {file that it needs: symbols}} of one folder"""
    files = sorted(f[:-2] for f in os.listdir(os.path.join(ROOT, folder)) if f.endswith(".c"))
    known = {f: known[path] for f in files if (path := os.path.join(objects, folder, f + ".o")) in known}
    of = {s: f for f, (has, _) in known.items() for s in has}
    found = {f: {} for f in known}
    for f, (_, asks) in known.items():
        for s in sorted(asks):
            if of.get(s, f) != f:
                found[f].setdefault(of[s], []).append(s)
    return found


def reach(graph, start):
    seen, left = set(), [start]
    while left:
        for n in graph[left.pop()]:
            if n not in seen:
                seen.add(n)
                left.append(n)
    return seen


def knots(graph):
    """Files that reach each other, largest set first."""
    beyond = {f: reach(graph, f) for f in graph}
    sets = {frozenset(g for g in graph if g == f or (g in beyond[f] and f in beyond[g])) for f in graph}
    return sorted((sorted(s) for s in sets if len(s) > 1), key=lambda s: (-len(s), s))


def passes_called(known):
    """Passes do not call each other: only the list of passes names them. What several need is a function of one kernel."""
    return ["%s calls %s" % (os.path.relpath(path, ROOT), s) for path, (_, asks) in sorted(known.items())
            if "/lower/" in path and not path.endswith("/lower.o") for s in sorted(asks) if s.startswith("pass_")]


def why(folder, graph):
    for knot in knots(graph):
        rows = [(len(taken), f, g, taken) for f in knot for g, taken in graph[f].items() if g in knot]
        for _, f, g, taken in sorted(rows):
            print("%s/%s.c needs %s.c: %s" % (folder, f, g, ", ".join(taken)))


def main(args):
    wanted = args[args.index("--why") + 1] if "--why" in args else None
    rest = [a for a in args if a not in ("--why", wanted)]
    objects = rest[0] if rest else os.path.join(ROOT, "build", "obj")
    known = symbols(sorted(glob.glob(os.path.join(glob.escape(objects), "*", "*.o"))))
    bad, seen = [], 0
    for folder in FOLDERS:
        if not os.path.isdir(os.path.join(ROOT, folder)):
            continue
        graph = links(objects, folder, known)
        seen += len(graph)
        if wanted:
            if folder == wanted:
                why(folder, graph)
            continue
        found = knots(graph)
        for knot in found:
            print("%s: %d files: %s" % (folder, len(knot), " ".join(knot)))
        largest = max([len(k) for k in found], default=1)
        if largest > LARGEST.get(folder, 1):
            bad.append("%s has a knot of %d files, at most %d are allowed" % (folder, largest, LARGEST.get(folder, 1)))
        if largest < LARGEST.get(folder, 1):
            bad.append("%s has no knot of more than %d files: say so in LARGEST" % (folder, largest))
    bad += passes_called(known)
    if seen < 100:
        bad.append("only %d objects in %s: is it built?" % (seen, objects))
    for line in bad:
        print(line)
    sys.exit(1 if bad else 0)


main(sys.argv[1:])
