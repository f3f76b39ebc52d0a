"""The remedies of all golden messages, by their form (base/diag.h). The edits of a help are applied: the program then has the other
mistakes of the file and nothing else, and compiles if there are none. What has no edits does not claim to be a replacement."""
import collections
import glob
import json
import os
import re
import sys

from common import *
import shlex


def options(path):
    first = read(path).split("\n", 1)[0]
    extra = shlex.split(first[len("// options:"):]) if first.startswith("// options:") else []
    return [e for e in extra if not e.startswith(("--emit", "-W", "--error-limit"))]


def diagnose(path, extra):
    r = ctilec("--check", "-Wall", "-Wextra", "-Wperf", "--diagnostics=json", *extra, os.path.basename(path), cwd=os.path.dirname(path))
    return [json.loads(l) for l in r.text.splitlines() if l.startswith("{")]


def kinds(found):
    return collections.Counter((d["code"], d["message"]) for d in found)


def follow(name, title, path, text, known, steps=4):
    """Applies edits until nothing is left but the other mistakes of the file, or what is offered is a question or advice."""
    write(path, text)
    try:
        left = diagnose(path, options(path))
    finally:
        os.remove(path)
    new = kinds(left) - known
    if not check(sum(new.values()) <= (steps > 0), "%s: after \"%s\" there is: %s" % (name, title, list(new))):
        return
    for d in left:
        if (d["code"], d["message"]) in new:
            check(d["help"], "%s: after \"%s\" there is no remedy for: %s" % (name, title, d["message"]))
            for h in d["help"]:
                if h["edits"]:
                    follow(name, h["title"], path, edited(text, h["edits"]), known, steps - 1)


def sources():
    """A help that claims to be a replacement has its edit beside it, in the sources of the compiler."""
    for folder in ("base", "lexer", "parser", "sema", "ir", "driver"):
        for path in sorted(glob.glob(os.path.join(ROOT, folder, "*.c"))):
            lines = read(path).split("\n")
            for i, line in enumerate(lines):
                check(not ("advice_with(" in line and claims(line)), "%s:%d: no edit: %s" % (path, i + 1, line.strip()))
                if "diag_help(" in line and claims(line):
                    near = "\n".join(lines[max(0, i - 3):i + 6])
                    check(re.search(r"diag_edit\(|translate_arguments\(", near), "%s:%d: no edit: %s" % (path, i + 1, line.strip()))
    for line in read(os.path.join(ROOT, "ast", "foreign.def")).split("\n"):
        check(not (re.match(r"FOREIGN\((SAY|MEMBERSAY|NEEDLESS|LACKS),", line) and claims(line)), "foreign.def: " + line)


def main(paths):
    sources()
    applied = 0
    for path in paths:
        found = diagnose(path, options(path))
        with open(path, "rb") as f:
            text = f.read()
        name = os.path.basename(path)
        for d in found:
            for h in d["help"]:
                if not h["edits"]:
                    check(not claims(h["title"]), "%s: `%s` claims to be a replacement and is none" % (name, h["title"]))
                if not h["edits"] or any(e["file"] != name for e in h["edits"]):
                    continue
                mended = os.path.join(os.path.dirname(path), ".mended_" + name)
                applied += 1
                follow(name, h["title"], mended, edited(text, h["edits"]), kinds(found) - kinds([d]))
    print("%d edits applied" % applied)
    check(applied > 0, "no message offers an edit")
    finish()


main(sys.argv[1:] or tile_files("tests/diag"))
