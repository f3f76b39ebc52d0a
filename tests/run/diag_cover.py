"""Each code has a golden message, each golden message a code, and each explanation a failing and a mended program that do
what they say."""
import json
import os
import re

from common import *

FENCE = re.compile(r"^```(tile-error|tile)[^\n]*\n(.*?)^```$", re.M | re.S)
FLAGS = ["--check", "-Wall", "-Wextra", "-Wperf", "--diagnostics=json"]


def codes_of(r):
    return [json.loads(l)["code"] for l in r.text.splitlines() if l.startswith("{")]


def explained(row, tmp):
    blocks = FENCE.findall(row["explanation"] + "\n")
    kinds = [k for k, _ in blocks]
    code = row["code"]
    if not check("tile-error" in kinds and "tile" in kinds, code + ": the explanation lacks a failing and a mended program"):
        return
    for i, (kind, text) in enumerate(blocks):
        path = os.path.join(tmp, "%s_%d.tile" % (code, i))
        write(path, text)
        found = codes_of(ctilec(*FLAGS, path))
        if kind == "tile-error":
            check(code in found, "%s: the failing program of the explanation gives %s" % (code, found or "nothing"))
        else:
            check(not found, "%s: the mended program of the explanation gives %s" % (code, found))


def main():
    rows = json.loads(ctilec("--list-diagnostics=json").out)
    have = set()
    for name in os.listdir(os.path.join(ROOT, "tests", "diag")):
        m = re.match(r"([EW]\d{4})[^.]*\.(tile|ir|cmd)$", name)
        if m:
            have.add(m.group(1))
    codes = [r["code"] for r in rows]
    check(len(codes) == len(set(codes)), "a code stands in two rows")
    for family in "EW":
        mine = [c for c in codes if c[0] == family]
        check(mine == sorted(mine), "the rows are not sorted by code")
    for code in codes:
        check(code in have or code == "E0900", code + " has no golden message in tests/diag")
    for code in sorted(have - set(codes)):
        fail("tests/diag has a message for %s, which does not exist" % code)
    with tmpdir() as tmp:
        for row in rows:
            if not row["code"].startswith(NO_PROGRAM):
                explained(row, tmp)
    finish()


# about files, several files, options, IR that is read, what a target lacks, depths, names of files, outputs, what is
# known after the checks: not about one short program
NO_PROGRAM = ("E0001", "E0002", "E0003", "E0015", "E0127", "E0204", "E0211", "E0212", "E0231", "E0421", "E0447", "E06", "E0900", "E0903", "W1014", "W1015", "W1021", "W1301")
main()
