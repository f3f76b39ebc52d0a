"""Applies every edit that a `help:` of a golden message offers, one help at a time; the result must compile, or at least
no longer have the message that offered it when the file holds several mistakes."""
import json
import os
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


def apply(text, edits):
    for e in sorted(edits, key=lambda e: e["bytes"], reverse=True):
        lo, hi = e["bytes"]
        text = text[:lo] + e["newText"].encode() + text[hi:]
    return text


def main(paths):
    applied = 0
    for path in paths:
        found = diagnose(path, options(path))
        with open(path, "rb") as f:
            text = f.read()
        name = os.path.basename(path)
        for d in found:
            for h in d["help"]:
                if not h["edits"] or any(e["file"] != name for e in h["edits"]):
                    continue
                mended = os.path.join(os.path.dirname(path), ".mended_" + name)
                write(mended, apply(text, h["edits"]))
                try:
                    left = diagnose(mended, options(path))
                finally:
                    os.remove(mended)
                applied += 1
                if len(found) == 1:
                    check(not left, "%s: after \"%s\" there still is: %s" % (name, h["title"], left and left[0]["message"]))
                else:
                    same = [x for x in left if x["code"] == d["code"] and x.get("range", {}).get("start") == d["range"]["start"]]
                    check(not same and len(left) < len(found), "%s: \"%s\" does not mend it" % (name, h["title"]))
    print("%d edits applied" % applied)
    check(applied > 0, "no message offers an edit")
    finish()


main(sys.argv[1:] or tile_files("tests/diag"))
