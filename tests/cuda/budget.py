"""Unrolled loops in emitted CUDA stay within a budget: budget.py. nvcc's time and the size of the code grow with the copies that nested
unrolled loops make, so their product is counted in the text of the samples and of tiles.tile: each statement is copied at most
UNROLL_REGS times (lower/placed.h), in kernels of roles once for each register of the largest accumulator of wgmma."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from emitted import *

ROLES = re.compile(r"^\w+\([^\n]*\n\{\n(?:(?!^\}).)*?ct_rings\[.*?^\}\n", re.S | re.M)
SUM_REGS = 128

LOOP = re.compile(r"\s*for \((?:unsigned )?int \w+ = (\d+); \w+ < (\d+); \w+(?:\+\+| \+= (\d+))\)")
EACH = re.compile(r"CT_UNROLL\(\w+, (\d+), (\d+)\)()|CT_UNROLL_BY\(\w+(), (\d+), (\d+)\)")


def most_copies(text):
    """(copies, line) of the statement inside of the most unrolled turns."""
    worst, stack, unrolled = (1, 0), [1], False
    for number, line in enumerate(text.split("\n"), 1):
        code = re.sub(r'"(?:\\.|[^"\\])*"|//.*', "", line)
        if code.startswith("#line"):
            continue
        loop = LOOP.match(code)
        turns = len(range(int(loop[1]), int(loop[2]), int(loop[3] or 1))) if loop and unrolled else 1
        for first, end, _, _, to, by in EACH.findall(code):
            turns *= max(int(end) - int(first), 1) if end else int(to) // int(by)
        worst = max(worst, (stack[-1] * turns, number))
        for c in code:
            if c == "{":
                stack.append(stack[-1] * turns)
                turns = 1
            elif c == "}" and len(stack) > 1:
                stack.pop()
        unrolled = code.strip() == "#pragma unroll" or (unrolled and not code.strip())
    return worst


def main():
    budget = int(re.search(r"COST\(UNROLL_REGS,\s*(\d+)", read(os.path.join(ROOT, "base", "cost.def"))).group(1))
    seen = 0
    with tmpdir() as tmp:
        for name, path, options in samples(tmp) + [("tiles", os.path.join(ROOT, "tests", "cuda", "tiles.tile"), [])]:
            out = os.path.join(tmp, "k.cu")
            if emit(name, path, options + ["--line=off"], out):
                text = read(out)
                for part, most in [(ROLES.sub("", text), budget)] + [(k, SUM_REGS) for k in ROLES.findall(text)]:
                    copies, line = most_copies(part)
                    seen = max(seen, copies)
                    check(copies <= most, "%s: %d copies at line %d:\n%s" % (name, copies, line, "\n".join(part.split("\n")[line - 12:line])))
    check(seen > 16, "no unrolled loop is found")
    finish()


main()
