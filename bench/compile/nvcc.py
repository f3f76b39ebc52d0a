#!/usr/bin/env python3
"""Time of nvcc, to machine code for one architecture, for each emitted kernel of the samples on its own.

Usage: bench/compile/nvcc.py [--ctilec PATH] [--nvcc PATH] [--arch sm_90a] [--rounds 3] [--phases] [--over SECONDS] [--jobs 1]
                             [FILE.tile ...]
A text is emitted for that architecture alone, cut into files with one kernel each and without the host's part, and `nvcc -cubin` runs
on each. Times are the processor time of nvcc and everything it starts, which on an idle machine is the time one waits: its steps follow
each other. `gross`: the least of the rounds; `net`: less that of an empty kernel; `wall`: seconds on the clock of that round. With
--phases also the share of the front end (cicc) and of ptxas, by the clock. --jobs: so many kernels at a time. Exit 1 where a kernel is over the bar (net, default 1 s).
"""
import argparse, concurrent.futures, glob, os, re, subprocess, sys, tempfile, time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNEL = re.compile(r"^static __global__ void [^\n]*\n(\w+)\(.*?^}\n", re.M | re.S)
ROWS = re.compile(r"^CT_FN void (\w+_rows)\(.*?^}\n", re.M | re.S)       # the body that kernels of short and of long rows share
HOST = "#ifndef __CUDACC_RTC__\n#include <stdarg.h>"


def once(command):
    """Processor seconds and clock seconds of one run."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit("failed: %s" % " ".join(command))
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - start


def pieces(text):
    """(name, text) of each kernel: the file without its other kernels, and this one not static so that nvcc keeps it."""
    device = text[:text.index(HOST)]
    for kernel in KERNEL.finditer(device):
        kept = kernel.group(0)
        alone = KERNEL.sub(lambda m: kept.replace("static __global__", 'extern "C" __global__') if m.start() == kernel.start() else "", device)
        yield kernel.group(1), ROWS.sub(lambda m: m.group(0) if m.group(1) + "(" in kept else "", alone)


def phases(command, table):
    """Clock seconds of cicc and ptxas."""
    if os.path.exists(table):
        os.remove(table)
    subprocess.run(command + ["-time", table], check=True, stdout=subprocess.DEVNULL)
    rows = [[c.strip() for c in line.split(",")] for line in open(table)]
    return [sum(float(r[6]) for r in rows if r[1] == what) / 1000 for what in ("cicc", "ptxas")]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("files", nargs="*")
    ap.add_argument("--ctilec", default=os.path.join(TOP, "build", "ctilec"))
    ap.add_argument("--nvcc", default="nvcc")
    ap.add_argument("--arch", default="sm_90a")
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--phases", action="store_true")
    ap.add_argument("--over", type=float, default=1.0)
    ap.add_argument("--jobs", type=int, default=1)
    a = ap.parse_args()
    files = a.files or sorted(glob.glob(os.path.join(TOP, "samples", "*", "*.tile")))
    version = subprocess.run([a.nvcc, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    print("nvcc %s, %s" % (re.search(r"V([\d.]+)", version).group(1), a.arch))
    print("%-36s %6s %9s %7s %7s %7s" % ("kernel", "lines", "KiB code", "gross", "net", "wall") + ("  %6s %6s" % ("cicc", "ptxas") if a.phases else ""))
    over = []
    with tempfile.TemporaryDirectory() as top, concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:

        def measure(number, name, text, rounds):
            d = os.path.join(top, str(number))
            os.mkdir(d)
            source, out = os.path.join(d, "k.cu"), os.path.join(d, "k.cubin")
            command = [a.nvcc, "-cubin", "-arch=" + a.arch, "-o", out, source]
            with open(source, "w") as f:
                f.write(text)
            cpu, wall = min(once(command) for _ in range(rounds))
            with open(out, "rb") as f:
                code = f.read()
            if name.encode() not in code:
                sys.exit("%s is not in the machine code" % name)
            return name, text.count("\n"), len(code) / 1024, cpu, wall, phases(command, os.path.join(d, "time.csv")) if a.phases else None

        def show(name, lines, size, cpu, wall, parts):
            more = "  %6.2f %6.2f" % tuple(parts) if parts else ""
            late = cpu - fixed > a.over
            print("%-36s %6d %9.1f %7.2f %7.2f %7.2f%s%s" % (name, lines, size, cpu, cpu - fixed, wall, more, "  over" if late else ""), flush=True)
            if late:
                over.append(name)

        empty = measure(0, "empty", 'extern "C" __global__ void empty(float *p) { }\n', max(a.rounds, 5))
        fixed = empty[3]
        show(*empty)
        kernels = []
        for path in files:
            emitted = os.path.join(top, "whole.cu")
            subprocess.run([a.ctilec, "-w", "--arch=" + a.arch, "-o", emitted, path], check=True)
            with open(emitted) as f:
                kernels += pieces(f.read())
        for row in pool.map(lambda job: measure(job[0], *job[1], a.rounds), enumerate(kernels, 1)):
            show(*row)
    print("%d over %.1f s: %s" % (len(over), a.over, " ".join(over)) if over else "none over %.1f s" % a.over)
    sys.exit(1 if over else 0)


if __name__ == "__main__":
    main()
