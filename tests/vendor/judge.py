"""Compares ctilec, and the rules of tests/rules/documented.py, with what the vendor's compiler answered (answers.txt).

judge.py            all sections
judge.py SECTION... some of them

Where the ctile language differs on purpose, differences.py says how and why. A difference that no question shows is an
error too, and so is a question that answers.txt does not have: then `make vendor-table` writes it again.
"""
import os
import re
import sys

from questions import head, questions
from common import ctilec, fail, finish, tmpdir, write
from documented import Type, text
import answers
import differences

PER_FILE = 20000
SHOWN = 40

# What a question may be refused with. Any other code says that the question itself is not well put.
TYPING = set("""E0229 E0243 E0244 E0245 E0246 E0247 E0250 E0251 E0252 E0253 E0254 E0255 E0260 E0261 E0262 E0263 E0264 E0265 E0266
    E0268 E0269 E0270 E0271 E0272 E0273 E0279 E0280 E0305 E0308 E0310 E0311 E0312 E0313 E0314 E0316 E0317 E0322 E0330 E0331 E0332
    E0333 E0334 E0340 E0504 E0513 E0515 E0516""".split())


def vendor_answer(found, q):
    """What the vendor says; scalars that it was not asked about are like tiles of rank 0."""
    if not q.like:
        return found.get(q.key)
    heading, row, col = q.like if isinstance(q.like, tuple) else (q.like, q.row, q.col)
    a = found.get((q.section, heading, q.form, row, col))
    return Type(a.elem, None) if isinstance(a, Type) and a.shape == () else a


def line_of(q, want):
    if q.is_statement:
        return q.tile
    if isinstance(want, Type):
        return "static_assert(type_of(%s) == %s);" % (q.tile, text(want))
    return "let _ = %s;" % q.tile


def write_file(path, cases):
    """One line each; questions with the same operands share a function. Returns {line: case}."""
    at, lines, now = {}, head(), None
    for q, want in cases:
        if q.params != now:
            if now is not None:
                lines.append("}")
            params = ", ".join("%s: %s" % (n, p if isinstance(p, str) else text(p)) for n, p in zip("abcd", q.params))
            lines.append("fn case_%d(%s) {" % (len(lines), params))
            now = q.params
        lines.append("    " + line_of(q, want))
        at[len(lines)] = q, want
    write(path, "\n".join(lines + ["}"]) + "\n")
    return at


def refusals(path):
    """{line: (code, message)} of the first error on each line."""
    r = ctilec("--check", "--diagnostics=short", "--error-limit=0", "-w", path)
    out = {}
    for line in r.text.splitlines():
        m = re.match(r".*?:(\d+):\d+: error: (.*) \[(E\d{4})\]$", line)
        if m:
            out.setdefault(int(m.group(1)), (m.group(3), m.group(2)))
        elif not line.startswith(" "):
            fail("unexpected output: " + line)
    return out


def name(a):
    return "refuses" if a is None else "accepts" if a == "ok" else "gives " + text(a)


class Report:
    def __init__(self):
        self.counts = {}

    def wrong(self, q, message):
        n = self.counts[q.section] = self.counts.get(q.section, 0) + 1
        if n <= SHOWN:
            operands = ", ".join("%s: %s" % (x, p if isinstance(p, str) else text(p)) for x, p in zip("abcd", q.params))
            fail("%s: %s   where %s\n      %s" % (q.section, q.tile, operands, message))

    def end(self):
        for section, n in self.counts.items():
            if n > SHOWN:
                fail("%s: and %d more" % (section, n - SHOWN))


def judge_file(report, at, codes):
    for line, (q, want) in at.items():
        got = codes.pop(line, None)
        if want is None and not got:
            report.wrong(q, "ctilec accepts it, and the vendor's compiler refuses it")
        elif want is None and got[0] not in TYPING:
            report.wrong(q, "ctilec refuses it for another reason than its types: %s %s" % got)
        elif want is not None and got:
            what = "gives another type" if got[0] == "E0350" else "refuses it: %s %s" % got
            report.wrong(q, "ctilec %s, and the vendor's compiler %s" % (what, "accepts it" if want == "ok" else name(want)))
    for line, got in sorted(codes.items()):
        fail("line %d has an error and no question: %s" % (line, got))


def judge_documented(report, q, want):
    """The rules as the documents state them, and as documented.py says them once more."""
    if q.says is None:
        return
    says = None if isinstance(q.says, set) else q.says
    if want == "ok" or says == "ok":
        same = (want is None) == (says is None)
    else:
        same = want == says
    if not same:
        report.wrong(q, "documented.py %s, the vendor's compiler %s" % (name(says), name(want)))


def main(sections):
    found, forms = answers.read()
    report, cases, used = Report(), [], set()
    for q in questions():
        if sections and q.section not in sections:
            continue
        if q.cpp and q.key[:3] not in forms:
            report.wrong(q, "answers.txt does not have it: make vendor-table")
            continue
        want = vendor_answer(found, q)
        difference = differences.find(q, want)
        if difference:
            used.add(difference)
            want = difference.gives(q, want, found)
        judge_documented(report, q, want)
        cases.append((q, want))
    cases.sort(key=lambda c: repr(c[0].params))
    with tmpdir() as folder:
        for i in range(0, len(cases), PER_FILE):
            path = os.path.join(folder, "vendor_%d.tile" % (i // PER_FILE))
            at = write_file(path, cases[i:i + PER_FILE])
            judge_file(report, at, refusals(path))
    report.end()
    if not sections:
        for d in differences.ALL:
            if d not in used:
                fail("no question shows this difference: " + d.reason)
    print("%d questions, %d differences" % (len(cases), len(used)))
    finish()


if __name__ == "__main__":
    main(sys.argv[1:])
