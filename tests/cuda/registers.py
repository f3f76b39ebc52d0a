"""Registers of the kernels of bench/corpus: what the compiler expects (placed/pressure.c, printed by --explain-schedule) beside what ptxas
gives, for sm_90a, optimized as a user has it. registers.py [--all] [--list] [--arch ARCH] [FILE.tile ...]

It holds the compiler to tests/cuda/registers.txt: of all kernels, of each version, at least as large a part is predicted within 8 registers,
and none spills but those that are named there, each with its bytes of stores and loads; what no longer spills, or less, has to go from there.
Without --all every third kernel counts, by a number that its name gives, and those that are known to spill. --list prints every kernel:
registers expected and taken, bytes spilled. With files or another architecture all of their kernels count and nothing is held."""
import argparse
import concurrent.futures
import os
import re
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

RECORD = os.path.join(ROOT, "tests", "cuda", "registers.txt")
AT_ONCE = 2             # compilations, as tests/cuda/tests.cmake says
WITHIN = 8
PARTS = 3
# static __global__ void ... name(...) { ... }
KERNEL = re.compile(r"^(static __global__ void [^\n]*\n(?:#if[^\n]*\n__cluster_dims__[^\n]*\n#endif\n)?(\w+)\([^{]*\)\n)\{\n.*?^\}\n", re.M | re.S)
ENTRY = re.compile(r"Compiling entry function '(\w+)'")
SPILL = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
# the functions of emitted text are static: C++ gives them names with their length and a file's number
PLAIN = re.compile(r"^_Z(?:N\d+_GLOBAL__N__\w+?E?)?L?(\d+)(\w+)$")


def expected(program, arch):
    """{kernel: registers}"""
    r = ctilec("--explain-schedule", "-w", "--arch=" + arch, program)
    if not check(r.code == 0, "%s does not compile:\n%s" % (program, r.text[-2000:])):
        return {}
    found, kernel, versions = {}, None, False
    for line in r.out.decode().splitlines():
        m = re.match(r"kernel (\w+), ", line)
        kernel, versions = (m.group(1), False) if m else (kernel, versions and line.startswith("    "))
        if line == "  versions":
            versions = True
        elif versions and not line.split()[0] == "version":
            name, _, _, registers = re.split(r"  +", line.strip())
            name = "_".join(w for w in (kernel, arch.replace("_", ""), name.replace(", short rows", "_short").lstrip("-").lstrip("_")) if w)
            found[name] = int(registers)
    return found


def taken(program, arch, where, counts):
    """{kernel: (registers, bytes spilled)} of those that count; the others have no body."""
    text = os.path.join(where, "k.cu")
    os.makedirs(where)
    r = ctilec("--target=cuda", "-w", "--arch=" + arch, "-o", text, program)
    if not check(r.code == 0, "%s does not compile:\n%s" % (program, r.text[-2000:])):
        return {}
    write(text, KERNEL.sub(lambda m: m.group(0) if counts(m.group(2)) else m.group(1) + "{\n}\n", read(text)))
    r = run([NVCC, "-cubin", "-arch=" + arch, "-Xptxas", "-v", "-o", text + ".cubin", text], timeout=550)
    said = r.out.decode("utf-8", "replace") + r.text
    if not check(r.code == 0, "nvcc: %s:\n%s" % (program, said[-3000:])):
        return {}
    found, name, spilled = {}, None, 0
    for line in said.splitlines():
        m = ENTRY.search(line)
        if m:
            plain = PLAIN.match(m.group(1))
            name = plain.group(2)[:int(plain.group(1))] if plain else m.group(1)
        m = SPILL.search(line)
        if m:
            spilled = int(m.group(1)) + int(m.group(2))
        m = USED.search(line)
        if m and name and counts(name):
            found[name] = (int(m.group(1)), spilled)
    return found


def measure(programs, arch, counts):
    """{(program, kernel): (expected, taken, bytes spilled)}"""
    rows = {}
    with tmpdir() as tmp, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        longest = sorted(programs, key=os.path.getsize, reverse=True)
        jobs = [(p, pool.submit(taken, p, arch, os.path.join(tmp, "text%d" % i), counts)) for i, p in enumerate(longest)]
        for program, job in jobs:
            title, want, have = os.path.basename(program)[:-5], expected(program, arch), job.result()
            check(set(have) <= set(want), "%s: of these kernels nothing is expected: %s" % (title, sorted(set(have) - set(want))))
            rows.update({(title, name): (want[name], *have[name]) for name in have if name in want})
    return dict(sorted(rows.items()))


def record():
    """({"all" or "some": percent}, {(program, kernel): bytes})"""
    parts, spills = {}, {}
    for line in read(RECORD).splitlines():
        words = line.split()
        if words[:1] == ["within"]:
            parts[words[1]] = float(words[2])
        elif words[:1] == ["spills"]:
            spills[words[1], words[2]] = int(words[3])
    return parts, spills


def share(rows, limit):
    near = sum(abs(want - have) <= limit for want, have, _ in rows.values())
    return near, 100 * near / max(1, len(rows))


def hold(rows, part, spills):
    now = share(rows, WITHIN)[1]
    check(now >= part, "%.2f %% of the predictions are within %d registers; tests/cuda/registers.txt has %.2f" % (now, WITHIN, part))
    for key, (_, _, spilled) in rows.items():
        check(spilled <= spills.get(key, 0), "%s spills %d bytes; tests/cuda/registers.txt has %d" % (" ".join(key), spilled, spills.get(key, 0)))
    for key, known in spills.items():
        spilled = rows[key][2] if key in rows else 0
        check(spilled >= known, "%s spills %d bytes and no longer %d: say so in tests/cuda/registers.txt" % (" ".join(key), spilled, known))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("files", nargs="*")
    ap.add_argument("--arch", default="sm_90a")
    ap.add_argument("--all", action="store_true")
    ap.add_argument("--list", action="store_true")
    a = ap.parse_args()
    if not NVCC:
        fail("there is no nvcc; `sh tools/setup.sh test` gets one")
        finish()
    parts, spills = record()
    held, known = not a.files and a.arch == "sm_90a", {kernel for _, kernel in spills}
    every = a.all or not held
    rows = measure([os.path.abspath(f) for f in a.files] or tile_files("bench/corpus"), a.arch,
                   lambda name: every or name in known or zlib.crc32(name.encode()) % PARTS == 0)
    for (program, kernel), (want, have, spilled) in rows.items():
        if a.list or spilled:
            print("%-12s %-56s expected %3d, taken %3d%s" % (program, kernel, want, have, ", spilled %d" % spilled if spilled else ""))
    for limit in (WITHIN, 2 * WITHIN):
        print("within %2d registers: %d of %d, %.2f %%" % (limit, *share(rows, limit)[:1], len(rows), share(rows, limit)[1]))
    if held:
        hold(rows, parts["all" if a.all else "some"], spills)
    finish()


main()
