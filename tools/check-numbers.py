#!/usr/bin/env python3
"""Keeps measured numbers in base/machine.def, base/cost.def and bench/: elsewhere neither a comment nor a constant of the compiler may
speak of a rate, a time, a device that was measured or an architecture's size. Prints each line that does; exit 1 if there is one.

What a measurement has fitted does not look different from the size of an array, so passes and printers may also not have more constants of
their own (of enumerations without a name) than CONSTANTS says: a new one is a row of cost.def, with its reason, or has to be one of few that
say how far a search goes or how large something is. `--constants` prints them."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = "base ir layout plan placed lower emit emit_c emit_cuda emit_tile sim".split()
HERE = {"base/machine.def", "base/cost.def"}
FIGURE = re.compile(r"[0-9] ?%(?![0-9a-zA-Z(*.,_\\-])|\bH[12]00s?\b|\bA100\b|\bTFLOP|\bG[Bb]/s|\bTB/s|\bper ?cent of\b"
    r"|\b[0-9][0-9.,]* ?(?:[un\u00b5]s|cycles|times as (?:fast|slow|long))\b|\b[0-9]+ registers instead\b")
# What a multiprocessor holds: registers, threads, shared memory of a thread block.
# In passes and printers (CONSTANTS) any number of KiB is one, too, and so is what is named after shared memory, clusters, warps, threads, registers
# or multiprocessors; and lists of numbers are as suspect as single ones.
SIZE = re.compile(r"\b65536\b|\b(?:227|228|163|164|99|100) ?<< ?10\b|\b2048 : 1536\b|\barch (?:==|!=) (?:8[069]|90|1[02]0)\b")
HELD = re.compile(r"\b[0-9]+ ?<< ?10\b|\b\w*(?:SHARED|CLUSTER|WARP|THREADS|REGS|REGISTERS|SMS)\w* = [0-9]")
LIST = re.compile(r"\bstatic const \w+ (\w+)\[[^\n=]*\] = \{([^;]*)\};")
NUMBER = re.compile(r"(?<![\w.])[0-9]+\b")
# Lists of numbers that no measurement gave, and what they are of.
LISTS = {
    ("lower/budget.c", "classes"): "lengths of rows that a version may ask for: multiples of so many elements",
    ("lower/budget.c", "counts"): "powers of two, in an order in which the first few of them lie far apart",
    ("lower/pipeline_plan.c", "clusters"): "two thread blocks along either axis, or one",
    ("emit_cuda/tmap.c", "known"): "numbers of types in the driver's interface",
    ("lower/pipeline.c", "alone"): "two groups, or one",
}

CONSTANTS = {"plan": 11, "placed": 8, "lower": 107, "emit_cuda": 12}
ENUM = re.compile(r"\benum \{([^}]*)\}")
CONSTANT = re.compile(r"(\w+) = [0-9]")


def constants(text):
    """Names and values of constants of enumerations without a name, one a line."""
    return [(text.count("\n", 0, e.start() + c.start()) + 1, c.group(1)) for e in ENUM.finditer(text) for c in CONSTANT.finditer(e.group(1))]


def comments(text):
    """The text with all but comments blanked; lines stay."""
    keep = []
    for m in re.finditer(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|[^/"]+|.', text, re.S):
        s = m.group(0)
        keep.append(s if s.startswith(("/*", "//")) else re.sub(r"[^\n]", " ", s))
    return "".join(keep)


def code(text):
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S)


def device_lines(folder, text):
    """Lines of code that hold a number of a device."""
    return [(i, line) for i, line in enumerate(code(text).split("\n"), 1) if SIZE.search(line) or folder in CONSTANTS and HELD.search(line)]


def lists(text):
    """Names of lists of three numbers or more, each with its line."""
    t = code(text)
    return [(t.count("\n", 0, m.start()) + 1, m.group(1)) for m in LIST.finditer(t) if len(NUMBER.findall(m.group(2))) > 2]


# What has to be found: a text, and which of the two finds it.
SEEDS = [("enum { SHARED_LIMIT = 96 << 10 };", device_lines), ("\tSHARED_LARGE = 227 << 10,", device_lines), ("\tCLUSTER_WIDE = 4", device_lines),
         ("\tbool fits = bytes <= 48 << 10;", device_lines), ("enum { STAGE_WARPS = 3 };", device_lines),
         ("static const int peel_parts[PEEL_COPIES] = { 8, 8, 12, 14, 16 };", lists),
         ("static const StagePlan stage_plans[] = {\n\t{ { .rows = 128, .cols = 256 }, 1 },\n};", lists)]


def seeds():
    return ["a seeded violation is not found: " + text for text, finds in SEEDS if not (finds("lower", text) if finds is device_lines else finds(text))]


def main():
    bad, files, own = seeds(), 0, {folder: [] for folder in CONSTANTS}
    for folder in FOLDERS:
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            path = folder + "/" + name
            if not name.endswith((".c", ".h", ".def")) or path in HERE:
                continue
            files += 1
            with open(os.path.join(ROOT, path), encoding="utf-8") as f:
                text = f.read()
            for i, line in enumerate(comments(text).split("\n"), 1):
                if FIGURE.search(line):
                    bad.append("%s:%d: a measured figure, which belongs in bench/notes: %s" % (path, i, line.strip()))
            bad += ["%s:%d: a number of a device, which belongs in base/machine.def, or of a model, in base/cost.def: %s" % (path, i, line.strip())
                    for i, line in device_lines(folder, text)]
            if folder in own:
                own[folder] += ["%s:%d: %s" % (path, i, name) for i, name in constants(code(text))]
                bad += ["%s:%d: a list of numbers, which belongs in base/cost.def, or in LISTS with what it is: %s" % (path, i, name)
                        for i, name in lists(text) if (path, name) not in LISTS]
    if "--constants" in sys.argv:
        print("\n".join(line for folder in own for line in own[folder]))
    for folder, most in CONSTANTS.items():
        if len(own[folder]) > most:
            bad.append("%s has %d constants of its own, at most %d: one that was measured belongs in base/cost.def" % (folder, len(own[folder]), most))
        elif len(own[folder]) < most:
            bad.append("%s has only %d constants of its own: say so in CONSTANTS" % (folder, len(own[folder])))
    if files < 200:
        bad.append("only %d files were looked at" % files)
    for line in bad:
        print(line)
    sys.exit(1 if bad else 0)


main()
