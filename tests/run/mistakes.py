"""The mistakes of tests/diag/mistakes.txt, whose head says what is checked. UPDATE=1 writes the messages again; arguments are
parts of titles, of which only those cases run."""
import json
import os
import re

from common import *

TABLE = os.path.join(ROOT, "tests", "diag", "mistakes.txt")
AT_LEAST = 450
STEPS = 6


class Case:
    def __init__(self, frame, title, body):
        self.title, self.frame = frame + ": " + title, frame
        self.program, self.line, self.says, self.mended = re.fullmatch(
            r"(.*?)^--- (\d+)\n(?:^--- says\n(.*?))?^--- mended\n(.*)", body.rstrip("\n") + "\n", re.S | re.M).groups()


def parts(table):
    head, *rest = re.split(r"^=== (\w+): (.*)\n", table, flags=re.M)
    frames = dict(re.findall(r"^@@@ (\w+)\n(.*?)(?=^@@@|\Z)", head, re.S | re.M))
    return head, {n: f.strip() + "\n" for n, f in frames.items()}, [Case(*c) for c in zip(rest[::3], rest[1::3], rest[2::3])]


def framed(frames, case, program):
    """The whole program, and the number of lines before the case's own."""
    if case.frame not in frames:
        return program, 0
    head, tail = frames[case.frame].split("...\n")
    return head + program + tail, head.count("\n")


def diagnose(folder, program):
    write(os.path.join(folder, "k.tile"), program)
    r = ctilec("--check", "-Wall", "--diagnostics=json", "k.tile", cwd=folder)
    return [json.loads(l) for l in r.text.splitlines() if l.startswith("{")]


def code_of(folder, program):
    """What the program computes, without its places; None where it does not compile."""
    write(os.path.join(folder, "k.tile"), program)
    r = ctilec("--emit=ir", "-w", "k.tile", cwd=folder)
    return re.sub(r"@\d+(:\d+)?", "", r.out.decode()) if r.code == 0 else None


def say(d, before):
    start = d["range"]["start"]
    lines = ["%d:%d: %s %s" % (start["line"] + 1 - before, start["character"] + 1, d["code"], d["message"])]
    return "\n".join(lines + ["    " + h["title"] for h in d["help"]]) + "\n"


def check_helps(folder, case, program, meant, steps=0):
    """Follows the edits until the program compiles, or what is offered is a question or advice. Each step has one message."""
    found = diagnose(folder, program)
    errors = [d for d in found if d["severity"] == 1]
    if not errors and code_of(folder, program) is not None:
        return check(code_of(folder, program) == meant, "%s: after its edits it is not what was meant:\n%s" % (case.title, program))
    what = "%s: after %d edits" % (case.title, steps)
    if not check(len(errors) == 1 and steps < STEPS, "%s there are %d messages:\n%s\n%s" % (what, len(errors), program, "".join(say(d, 0) for d in errors))):
        return
    d = errors[0]
    check(d["help"], "%s: no remedy: %s" % (what, say(d, 0)))
    for h in d["help"]:
        if h["edits"]:
            check_helps(folder, case, edited(program, h["edits"]), meant, steps + 1)
        else:
            check(not claims(h["title"]), "%s: `%s` claims to be a replacement and is none" % (what, h["title"]))


def run_case(folder, frames, case):
    program, before = framed(frames, case, case.program)
    meant_program = framed(frames, case, case.mended)[0]
    meant = code_of(folder, meant_program)
    check(meant is not None, "%s: what was meant does not compile:\n%s\n%s" % (case.title, meant_program, diagnose(folder, meant_program)[:2]))
    found = diagnose(folder, program)
    text = "".join(say(d, before) for d in found)
    if not check(len(found) == 1, "%s: %d messages\n%s" % (case.title, len(found), text)):
        return text
    line = found[0]["range"]["start"]["line"] + 1 - before
    check(line == int(case.line), "%s: in line %d\n%s" % (case.title, line, text))
    if not UPDATE:
        check(text == case.says, "%s: expected\n%sprinted\n%s" % (case.title, case.says, text))
    check_helps(folder, case, program, meant)
    return text


def main():
    head, frames, cases = parts(read(TABLE))
    check(len(cases) >= AT_LEAST and len({c.title for c in cases}) == len(cases), "%d mistakes" % len(cases))
    out = head
    with tmpdir() as folder:
        for c in cases:
            chosen = not sys.argv[1:] or any(a in c.title for a in sys.argv[1:])
            text = run_case(folder, frames, c) if chosen else c.says or ""
            out += "=== %s\n%s--- %s\n--- says\n%s--- mended\n%s\n" % (c.title, c.program, c.line, text, c.mended)
    if UPDATE:
        write(TABLE, out.rstrip("\n") + "\n")
    finish()


main()
