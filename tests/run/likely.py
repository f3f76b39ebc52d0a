"""The messages of tests/diag/likely.txt: likely.py. UPDATE=1 writes them again. Each message has at most ten lines and a place and
is the only one; the edits that it offers, or the program given as mended, compile without an error or a warning."""
import json
import os
import re

from common import *

TABLE = os.path.join(ROOT, "tests", "diag", "likely.txt")
OPTIONS = ["--check", "-Wall", "--color=never"]


def say(folder, program, *more):
    write(os.path.join(folder, "k.tile"), program)
    return ctilec(*OPTIONS, *more, "k.tile", cwd=folder)


def compiles(folder, program, what):
    r = say(folder, program)
    check(r.code == 0 and not r.text, "%s does not compile quietly:\n%s\n%s" % (what, program, r.text))


def case(folder, title, program, message, mended):
    r = say(folder, program)
    if not UPDATE:
        check(r.text == message, "%s: expected\n%s\nprinted\n%s" % (title, message, r.text))
    check(len(r.text.splitlines()) <= 10, "%s: more than ten lines\n%s" % (title, r.text))
    check(re.search(r"^ +--> k\.tile:\d+:\d+$", r.text, re.M) is not None, "%s: no place" % title)
    found = [json.loads(l) for l in say(folder, program, "--diagnostics=json").text.splitlines()]
    if not check(len(found) == 1, "%s: %d messages" % (title, len(found))):
        return r.text
    helps = found[0]["help"]
    check(helps, "%s: no help" % title)
    edits = [h["edits"] for h in helps if h["edits"]]
    check(bool(edits) != bool(mended), "%s: either an edit or a mended program" % title)
    for h in helps:
        check(h["edits"] or not claims(h["title"]), "%s: `%s` claims to be a replacement and is none" % (title, h["title"]))
    for e in edits:
        compiles(folder, edited(program, e), title)
    if mended:
        compiles(folder, mended, title)
    return r.text


def main():
    head, *rest = re.split(r"^=== (.*)\n", read(TABLE), flags=re.M)
    out, titles = head, rest[::2]
    check(len(titles) >= 40 and len(set(titles)) == len(titles), "%d mistakes" % len(titles))
    with tmpdir() as folder:
        for title, body in zip(titles, rest[1::2]):
            program, _, tail = body.partition("--- says\n")
            message, _, mended = (tail.rstrip("\n") + "\n").partition("--- mended\n")
            text = case(folder, title, program, message, mended)
            out += "=== %s\n%s--- says\n%s%s\n" % (title, program, text, "--- mended\n" + mended if mended else "")
    if UPDATE:
        write(TABLE, out)
    finish()


main()
