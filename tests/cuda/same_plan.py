"""The plan of a kernel follows from what it computes: renaming, another order of independent lines and a neutral operation change nothing
in it. same_plan.py [--seed S] rewrites the sources of bench/corpus, by a seed, and compares what --explain-schedule says, without
names and places."""
import argparse
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

FOLDER = os.path.join(ROOT, "bench", "corpus")
LEAST = 60              # kernels
DECLARED = re.compile(r"(?:\b(?:let|var)|,)\s+(\w+)\s*(?::[^=,;]*)?=(?!=)")
SIDE = re.compile(r"atomic|random|\.store|\.scatter|load\w*\(.*order")


def taken():
    """Words that are no author's: of operations, arguments and types."""
    words = set(re.findall(r"\w+", ctilec("--list-ops=json").out.decode()))
    return words | set("kernel instance entry fn let var for in if else while return grid where out inout tensor tile const scratch step tune param as dims".split())


def named(text):
    """What a source gives a name to inside of kernels, functions and entries: parameters, dimensions, variables."""
    names = set(DECLARED.findall(text)) | set(re.findall(r"\bfor (?:const )?(\w+) in\b", text))
    for head in re.findall(r"^(?:kernel|fn|entry) \w+(?:<[^(]*>)?\(((?:.|\n)*?)\)\s*(?:->|grid|where|dims|\{)", text, re.M):
        names |= set(re.findall(r"(\w+)\s*:", head))
        for dims in re.findall(r"\[([^\]]*)\]", head): names |= set(re.findall(r"[A-Za-z_]\w*", dims))
    generic = {n for g in re.findall(r"^(?:kernel|fn) \w+<([^(]*)>\(", text, re.M) for n in re.findall(r"(\w+)\s*:", g)}
    items = set(re.findall(r"^(?:kernel|fn|entry|instance|param) (\w+)", text, re.M))
    return names - generic - items


def renamed(text, draw, words):
    """Each name gets another letter in front, so that their order is another one, too."""
    for name in sorted(named(text) - words):
        new = "%s_%s" % (draw.choice("bcdghjkmopqrsvwxz"), name)
        text = re.sub(r"(?<![\w\"])(?:(?<!\.)|(?<=\.\.))%s\b" % name, new, text)
    return text


def declarations(line):
    """`a = x` and `b = y` of `let a = x, b = y;`; []: it is another line."""
    m = re.match(r"\s+let ([^;]*);$", line)
    if not m or SIDE.search(line): return []
    parts, depth, at = [], 0, 0
    for i, c in enumerate(m.group(1) + ","):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and not depth:
            parts.append(m.group(1)[at:i].strip())
            at = i + 1
    return parts if all(re.match(r"\w+\s*(?::[^=]*)?=(?!=)", p) for p in parts) else []


def apart(a, b):
    """Neither mentions what the other declares."""
    return not any(re.match(r"\w+", x).group() in re.findall(r"\w+", y) for x, y in ((a, b), (b, a)))


def reordered(text, draw):
    """Neighbours that declare, in one line or in two, change places where neither mentions the other."""
    lines, i, n = text.split("\n"), 0, 0
    for i, line in enumerate(lines):
        d = declarations(line)
        for k in range(len(d) - 1):
            if apart(d[k], d[k + 1]) and draw.random() < 0.7:
                d[k], d[k + 1] = d[k + 1], d[k]
                n += 1
        if d: lines[i] = re.match(r"\s+let ", line).group() + ", ".join(d) + ";"
    for i in range(len(lines) - 1):
        a, b = declarations(lines[i]), declarations(lines[i + 1])
        same = a and b and re.match(r"\s+", lines[i]).group() == re.match(r"\s+", lines[i + 1]).group()
        if same and all(apart(x, y) for x in a for y in b) and draw.random() < 0.7:
            lines[i], lines[i + 1] = lines[i + 1], lines[i]
            n += 1
    return "\n".join(lines), n


def neutral(text, draw, refused):
    """Times one, where a line declares one value; refused: numbers of lines in which the compiler did not take it."""
    lines, n = text.split("\n"), 0
    for i, line in enumerate(lines):
        m = re.match(r"(\s+let \w+ = )([^;]*);$", line)
        if m and len(DECLARED.findall(line)) == 1 and i + 1 not in refused and draw.random() < 0.7:
            lines[i] = "%s(%s) * 1;" % m.groups()
            n += 1
    return "\n".join(lines), n


def plans(path):
    """{kernel on an architecture: its plan}, or the compiler's words."""
    r = ctilec("-w", "--explain-schedule", "-o", "-", path)
    if r.code: return r.text
    found = {}
    for part in r.out.decode().split("\n\n"):
        head, *lines = part.strip().split("\n")
        plan = []
        for line in lines:
            line = re.sub(r"\bat \d+:\d+$", "", re.sub(r"^    \d+:\d+ +", "    ", line))
            line = re.sub(r"^    (loads?|store|atomic_\w+|gather|scatter) +\S+ ", r"    \1 ", line)
            line = re.sub(r"^( +taken +\S+).*", r"\1", line)       # what the model predicts for it is no part of the plan
            if re.match(r" +(best|next) +\S", line): continue
            if "registers  " not in line and not re.match(r"    at +access", line): plan.append(re.sub(r" +", " ", line))
        found[head] = sorted(plan)
    return found


def compare(name, what, first, now):
    if not check(isinstance(now, dict), "%s, %s: %s" % (name, what, now)): return 0
    for kernel in sorted(set(first) | set(now)):
        a, b = first.get(kernel, []), now.get(kernel, [])
        if a != b:
            fail("%s, %s: %s has another plan:\n  - %s\n  + %s" % (name, what, kernel, "\n  - ".join(x for x in a if x not in b), "\n  + ".join(x for x in b if x not in a)))
    return len(first)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", default="1")
    o = p.parse_args()
    words, count, swaps, times = taken(), 0, 0, 0
    with tmpdir() as tmp:
        for file in sorted(f for f in os.listdir(FOLDER) if f.endswith(".tile")):
            draw, path, text = random.Random(o.seed + file), os.path.join(tmp, file), read(os.path.join(FOLDER, file))
            write(path, text)
            first = plans(path)
            write(path, renamed(text, draw, words))
            count += compare(file, "renamed", first, plans(path)) // 2
            other, n = reordered(text, draw)
            swaps += n
            write(path, other)
            compare(file, "reordered", first, plans(path))
            refused, state = set(), draw.getstate()
            for _ in range(40):
                draw.setstate(state)
                other, n = neutral(text, draw, refused)
                write(path, other)
                now = plans(path)
                if isinstance(now, dict): break
                refused |= {int(l) for l in re.findall(r"--> \S+?:(\d+):", now)}
            times += n
            compare(file, "times one", first, now)
    check(count >= LEAST, "only %d kernels" % count)
    check(swaps >= 20 and times >= 60, "only %d lines changed places, %d have a neutral operation" % (swaps, times))
    print("%d kernels, %d lines changed places, %d with a neutral operation" % (count, swaps, times))
    finish()


main()
