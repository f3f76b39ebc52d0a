"""Golden messages: diag.py tests/diag/NAME.tile... (or NAME.ir: IR in text form; NAME.cmd: the arguments, one line). NAME begins with the code.

NAME.txt holds what the compiler prints. A first line `// options: ...` gives further arguments. UPDATE=1 writes NAME.txt.
Besides the golden text each message must have its code, a place, at most ten lines, and no forbidden word."""
import json
import os
import re
import shlex
import sys

import sarif
from common import *

WORDS = read(os.path.join(ROOT, "tests", "diag", "forbidden-words")).split()


def forbidden(text):
    plain = re.sub(r"^ *\d* \|.*$", "", text, flags=re.M)  # source lines are the author's
    return [w for w in WORDS if re.search(r"(?<![A-Za-z0-9_])" + re.escape(w) + r"(?![A-Za-z0-9_])" if w[0].isalpha()
                                          else re.escape(w), plain)] + re.findall(r"\b(?:TOK|EX|ST|IT|OP|EL|TY|D|BIN|UN|SYM|AT|TR)_[A-Z][A-Z_0-9]*\b", plain)


def arguments(path):
    if path.endswith(".cmd"):
        return shlex.split(read(path).strip())
    name = os.path.basename(path)
    first = read(path).split("\n", 1)[0]
    extra = shlex.split(first[len("// options:"):]) if first.startswith("// options:") else []
    return (extra if any(e in ("--check", "--target=c", "--target=cuda", "--target=cuda-tile") or e.startswith("--emit") for e in extra)
            else ["--check", "-Wall", "-Wextra", "-Wperf"] + extra) + [name]


def main(path):
    base = os.path.splitext(path)[0]
    code = re.match(r"[EW]\d{4}", os.path.basename(path)).group(0)
    folder = os.path.dirname(os.path.abspath(path))
    args = arguments(path)
    r = ctilec("--color=never", *args, cwd=folder)
    if UPDATE:
        write(base + ".txt", r.text)
    want = read(base + ".txt") if os.path.exists(base + ".txt") else ""
    if not check(r.text == want, "the message differs from %s.txt" % base):
        print("--- expected\n%s--- printed\n%s" % (want, r.text))
    check("[%s]" % code in r.text, "%s: no message has the code %s" % (base, code))
    has_error = re.search(r"^error\[", r.text, re.M) is not None
    check(r.code == (1 if has_error else 0), "%s: exit code %d" % (base, r.code))
    check(not forbidden(r.text), "%s: forbidden words: %s" % (base, forbidden(r.text)))
    for message in r.text.split("\n\n"):
        check(len(message.strip("\n").split("\n")) <= 10, "more than ten lines:\n" + message)
    j = ctilec("--color=never", "--diagnostics=json", *args, cwd=folder)
    for line in j.text.splitlines():
        d = json.loads(line)
        if not path.endswith(".cmd"):
            check("range" in d, "a message without a place: " + d["message"])
        check(not d["message"].endswith("."), "a full stop at the end: " + d["message"])
        check(not re.match(r"[A-Z][a-z]", d["message"]), "a capital at the start: " + d["message"])
    s = ctilec("--color=never", "--diagnostics=sarif", *args, cwd=folder)
    doc = json.loads(s.text)
    check(not sarif.problems(doc), "%s: SARIF: %s" % (base, sarif.problems(doc)))
    check(len(doc["runs"][0]["results"]) == len(j.text.splitlines()), "%s: SARIF has another number of results" % base)
    short = ctilec("--color=never", "--diagnostics=short", *args, cwd=folder)
    check(len([l for l in short.text.splitlines() if re.search(r"\[[EW]\d{4}\]$", l)]) == len(j.text.splitlines()),
          "%s: the short form has another number of lines" % base)


for path in sys.argv[1:]:
    main(path)
finish()
