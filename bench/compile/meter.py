#!/usr/bin/env python3
"""What nvcc makes of each emitted kernel: registers, shared memory, spills and the instructions that say how it moves data.

Usage: bench/compile/meter.py [--ctilec PATH] [--nvcc PATH] [--cuobjdump PATH] [--arch sm_80,sm_90a] [--record FILE] [--against FILE] [FILE.tile ...]
Each .tile file (default: all samples and bench/memory) is emitted for each architecture alone and compiled to machine code. A row for each
kernel: regs a thread, bytes of static shared memory, bytes of stack and spills, SASS instructions in all, global accesses of 16 bytes and
narrower ones (loads and stores), shared accesses, shuffles, barriers, accesses of local memory. Rows are compared with those of --against
(default bench/results/meter.txt, if it is there): what changed is printed with both values, then a summary. --record writes the rows.
Without cuobjdump the instructions are left out. Exit 1 where a kernel has a stack frame, spills or local memory. No GPU is used.
"""
import argparse, collections, glob, os, re, shutil, subprocess, sys, tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIELDS = "regs shared stack spill sass wide narrow lds sts shfl bar local".split()
ENTRY = re.compile(r"Compiling entry function '(\w+)'")
STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")
SASS = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+\s+)?([A-Z][\w.]*)", re.M)
# the functions of emitted text are static: C++ gives them names with their length and a file's number
PLAIN = re.compile(r"^_Z(?:N\d+_GLOBAL__N__\w+?E?)?L?(\d+)(\w+)$")


def kernel_name(symbol):
    m = PLAIN.match(symbol)
    return m.group(2)[:int(m.group(1))] if m else symbol


def from_ptxas(text):
    """name -> row, from what `ptxas -v` says."""
    rows, row = {}, None
    for line in text.splitlines():
        m = ENTRY.search(line)
        if m:
            row = rows.setdefault(kernel_name(m.group(1)), dict.fromkeys(FIELDS[:4], 0))
        if row is None:
            continue
        m = STACK.search(line)
        if m:
            row["stack"], row["spill"] = int(m.group(1)), int(m.group(2)) + int(m.group(3))
        m = USED.search(line)
        if m:
            row["regs"] = int(m.group(1))
            shared = SHARED.search(line)
            row["shared"] = int(shared.group(1)) if shared else 0
    return rows


def kinds(opcode):
    """The fields that an instruction counts in, besides sass."""
    base = opcode.split(".")[0]
    if base in ("LDG", "STG", "LD", "ST"):
        return ["wide" if ".128" in opcode or ".ENL2.256" in opcode else "narrow"]
    return {"LDS": ["lds"], "LDSM": ["lds"], "STS": ["sts"], "STSM": ["sts"], "SHFL": ["shfl"], "BAR": ["bar"], "LDL": ["local"], "STL": ["local"]}.get(base, [])


def add_sass(rows, cuobjdump, cubin):
    text = subprocess.run([cuobjdump, "-sass", cubin], stdout=subprocess.PIPE, text=True, check=True).stdout
    for part in re.split(r"^\s+Function : ", text, flags=re.M)[1:]:
        row = rows.get(kernel_name(part.split("\n", 1)[0].strip()))
        if row is None:
            continue
        counts = collections.Counter()
        for opcode in SASS.findall(part):
            counts.update(["sass"] * (opcode != "NOP") + kinds(opcode))
        row.update({f: counts[f] for f in FIELDS[4:]})


def measure(a, path, arch, folder):
    """Rows of one file for one architecture, or an exit with what the compilers say."""
    text, cubin = os.path.join(folder, "k.cu"), os.path.join(folder, "k.cubin")
    subprocess.run([a.ctilec, "-w", "--arch=" + arch, "-o", text, path], check=True)
    r = subprocess.run([a.nvcc, "-cubin", "-arch=" + arch, "-Xptxas", "-v", "-o", cubin, text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if r.returncode:
        sys.exit("%s for %s:\n%s" % (path, arch, r.stdout[-3000:]))
    rows = from_ptxas(r.stdout)
    if a.cuobjdump:
        add_sass(rows, a.cuobjdump, cubin)
    return rows


def read_rows(path):
    rows, fields = {}, None
    if path and os.path.exists(path):
        with open(path) as f:
            for line in f:
                words = line.split()
                if words[:3] == ["file", "kernel", "arch"]:
                    fields = words[3:]
                elif fields and len(words) == len(fields) + 3:
                    rows[tuple(words[:3])] = {f: int(w) for f, w in zip(fields, words[3:]) if w != "-"}
    return rows


def compare(rows, before):
    """Prints what changed; how many kernels did."""
    changed = 0
    for key, row in rows.items():
        old = before.get(key)
        if old is None:
            print("new       %s" % " ".join(key))
            continue
        diff = ["%s %d -> %d" % (f, old[f], row[f]) for f in FIELDS if f in old and f in row and old[f] != row[f]]
        if diff:
            changed += 1
            print("changed   %s: %s" % (" ".join(key), ", ".join(diff)))
    for key in sorted(set(before) - set(rows)):
        print("gone      %s" % " ".join(key))
    return changed


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("files", nargs="*")
    ap.add_argument("--ctilec", default=os.path.join(TOP, "build", "ctilec"))
    ap.add_argument("--nvcc", default="nvcc")
    ap.add_argument("--cuobjdump", default=shutil.which("cuobjdump"))
    ap.add_argument("--arch", default="sm_80,sm_90a")
    ap.add_argument("--record")
    ap.add_argument("--against", default=os.path.join(TOP, "bench", "results", "meter.txt"))
    a = ap.parse_args()
    files = a.files or sorted(glob.glob(os.path.join(TOP, "samples", "*", "*.tile")) + glob.glob(os.path.join(TOP, "bench", "memory", "*.tile")))
    version = subprocess.run([a.nvcc, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            for arch in a.arch.split(","):
                for name, row in measure(a, path, arch, folder).items():
                    rows[(os.path.relpath(path, TOP).replace(os.sep, "/"), name, arch)] = row
    rows = dict(sorted(rows.items()))
    before = read_rows(a.against)
    if a.files:
        mine = {os.path.relpath(p, TOP).replace(os.sep, "/") for p in files}
        before = {k: v for k, v in before.items() if k[0] in mine}
    changed = compare(rows, before)
    bad = [k for k, r in rows.items() if r["stack"] or r["spill"] or r.get("local")]
    for key in bad:
        print("LOCAL     %s: %s" % (" ".join(key), ", ".join("%s %d" % (f, rows[key][f]) for f in ("stack", "spill", "local") if rows[key].get(f))))
    print("%d kernels, %d changed, %d with local memory" % (len(rows), changed, len(bad)))
    if a.record:
        with open(a.record, "w") as f:
            f.write("Registers, memory and instructions of each emitted kernel. Command: make meter-record\n")
            f.write("nvcc %s. Meaning of the columns: bench/compile/meter.py --help\n\n" % re.search(r"V([\d.]+)", version).group(1))
            f.write("file kernel arch %s\n" % " ".join(FIELDS))
            for key, row in rows.items():
                f.write("%s %s\n" % (" ".join(key), " ".join(str(row.get(x, "-")) for x in FIELDS)))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
