"""What is emitted for every program of the tree, as digests: emitted.py [--against CTILEC [PROGRAM...]]. UPDATE=1 writes emitted.txt again.

For each program a line, and below it one for each kernel: in each column (COLUMNS: the options) the number of functions that belong to
the kernel (its versions, guards and launchers), their lines, and a digest of their text; `*`, of all that belongs to no kernel. A
column that has no such function has a `-`. Nothing here says whether a text is right: that is for tests of values, and for the texts
of tests/golden, which are there to be read. It says that a text has changed, and of which kernels: look at the change, then write the
record again. With --against the texts of another build of the compiler, say of the commit before, are compared instead, line by line."""
import difflib
import hashlib
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *

RECORD = os.path.join(HERE, "emitted.txt")
RENEW = "UPDATE=1 .deps/python3.11/bin/python tests/record/emitted.py"
COLUMNS = {
    "cuda": ["--target=cuda"],
    "sm_120": ["--target=cuda", "--arch=sm_120"],
    "checked": ["--target=cuda", "--checked", "--arch=sm_80"],
    "O0": ["--target=cuda", "-O0", "--arch=sm_90a"],
    "c": ["--target=c"],
    "c-checked": ["--target=c", "--checked"],
    "beside": ["--target=cuda", "--arch=sm_80", "--tile-arch=sm_100"],
    "tile": ["--target=cuda-tile"],
    "tile-checked": ["--target=cuda-tile", "--checked", "--tile-version=13.3"],
}
SHOWN = 40      # lines of difference between two compilers, of each kernel


def programs():
    return [os.path.relpath(p, ROOT) for p in tile_files("samples", "stdlib", "bench", "tests/cuda", "tests/golden", "tests/gpu", "tests/language", "tests/launch",
        "tests/operations", "tests/orders", "tests/stdlib", "tests/tile")] + sorted(
            os.path.join("tests", "ir", n) for n in os.listdir(os.path.join(ROOT, "tests", "ir")) if n.endswith(".tir"))


def kernel_of(name):
    """The kernel that a function of emitted text belongs to, without its version and its part in a launch."""
    return re.sub(r"_sm_?\d+a?(_\w+)?$", "", re.sub(r"^ct_(block|run|fits)_", "", name))


def name_of(part):
    """The name of the function that a part of emitted text ends with: of the last line before its body that has one."""
    end = part.find("\n{\n")
    for line in reversed(part[max(0, end - 2000):max(0, end)].split("\n")):
        m = line[:1] != "#" and re.search(r"(?:^|[\s*])(?!__)(\w+)\(", line)
        if m:
            return m.group(1)
    return "*"


def functions(text):
    """{kernel: its functions}; "*": the rest."""
    parts = [(name_of(p), p) for p in text.split("\n}\n")]
    kernels = {kernel_of(name) for name, _ in parts if name.startswith(("ct_block_", "ct_run_", "ct_fits_"))}
    found = {}
    for name, part in parts:
        kernel = kernel_of(name)
        found.setdefault(kernel if kernel in kernels else "*", []).append(part)
    return found


def compile(program, options, out, compiler=CTILEC):
    """{kernel: functions}, or None where the program is not for this target."""
    r = run([compiler, "-w", "--line=off", "--no-header", *options, "-o", out, program], cwd=ROOT)
    check(r.code in (0, 1, 2), "%s %s: exit %d\n%s" % (" ".join(options), program, r.code, r.text[-2000:]))
    return functions(read(out)) if r.code == 0 else None


def known(found):
    text = "\n}\n".join(found)
    return "%d/%d/%s" % (len(found), text.count("\n"), hashlib.sha256(text.encode()).hexdigest()[:6])


def now(tmp):
    rows = []
    for program in programs():
        columns = [compile(program, options, os.path.join(tmp, "k.out")) for options in COLUMNS.values()]
        kernels = sorted({k for c in columns if c for k in c})
        if kernels:
            rows.append(program + "\n")
            rows += ["\t%s %s\n" % (k, " ".join(known(c[k]) if c and k in c else "-" for c in columns)) for k in kernels]
    return rows


def table(rows):
    """{(program, kernel): columns}"""
    found, program = {}, None
    for row in rows:
        if row.startswith("\t"):
            kernel, *columns = row.split()
            found[program, kernel] = columns
        elif not row.startswith("#"):
            program = row.strip()
    return found


def against(other, only, tmp):
    for program in programs():
        for column, options in COLUMNS.items():
            if only and program not in only:
                continue
            old, new = [compile(program, options, os.path.join(tmp, "k.out"), c) or {} for c in (other, CTILEC)]
            for kernel in sorted(set(old) | set(new)):
                a, b = ["".join(texts.get(kernel, [])).splitlines() for texts in (old, new)]
                if a != b:
                    print("== %s %s (%s)" % (program, kernel, column))
                    print("\n".join(list(difflib.unified_diff(a, b, lineterm="", n=2))[2:SHOWN]))


def main(args):
    with tmpdir() as tmp:
        if args[:1] == ["--against"]:
            return against(os.path.abspath(args[1]), args[2:], tmp)
        rows = now(tmp)
    text = "# kernel %s: functions/lines/digest (emitted.py)\n" % " ".join(COLUMNS) + "".join(rows)
    if UPDATE:
        write(RECORD, text)
    kept, found = table(read(RECORD).splitlines()), table(rows)
    check(len(found) > 1000, "only %d kernels" % len(found))
    changed = {}
    for key in sorted(set(kept) | set(found)):
        if kept.get(key) != found.get(key):
            columns = [n for n, a, b in zip(COLUMNS, kept.get(key, [""] * len(COLUMNS)), found.get(key, [""] * len(COLUMNS))) if a != b]
            changed.setdefault(key[0], []).append("%s (%s)" % (key[1], " ".join(columns)))
    for program, kernels in changed.items():
        fail("%s: emitted text has changed: %s%s" % (program, ", ".join(kernels[:4]), ", ..." if kernels[4:] else ""))
    if changed:
        print("To see how, build the commit before elsewhere and type: emitted.py --against FOLDER/build/ctilec %s" % " ".join(list(changed)[:3]))
        print("To write the record again: " + RENEW)
    finish()


main(sys.argv[1:])
