#!/usr/bin/env python3
"""Time of ctilec for each kernel instance of the corpus and each architecture, from TYPED IR to CUDA text.

Usage: bench/compile/instances.py [CTILEC] [--arch sm_80,sm_90a,sm_100,sm_120] [--rounds 7] [--most 15] [--median-bar 0.5] [--bar 5]
                                  [FILE.tile ...]
Each instance of each file (default: bench/corpus) is compiled alone, by --entry, for each architecture alone, and the steps that
--time-report prints are added: all passes and `emit`, which are what an instance and an architecture cost; reading, parsing, checking
and writing are the file's. A process has run nothing before, so caches and memory are cold. Times are of the processor; the least of the
rounds counts, since other work on the machine only adds to it. Prints the machine, the median, the 95th percentile and the greatest, for each
architecture and for all, and the slowest instances with their slowest steps. Exit 1 where the median or the greatest is over its bar
(milliseconds).
"""
import argparse, glob, os, re, statistics, subprocess, sys, tempfile

import growth

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STEP = re.compile(r"^(\S+)(?: sm_\d+)? +([\d.]+) ms$", re.M)
FILES_OWN = {"read", "parse", "check", "write", "all"}


def instances(ctilec, path):
    """(entry, instance) in the order of the file; an instance of several entries counts for the first."""
    text = subprocess.run([ctilec, "-w", "--emit=ir", "-o", "-", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {}
    for entry, body in re.findall(r"^entry (\w+) \{\n(.*?)^\}", text, re.M | re.S):
        for names in re.findall(r"^\s*launch ([\w, ]+) \(", body, re.M):
            for name in names.split(", "):
                found.setdefault(name, entry)
    return [(entry, name) for name, entry in found.items()]


def once(ctilec, path, entry, name, arch, out):
    """{step: milliseconds} of one run."""
    command = [ctilec, "-w", "--time-report", "--no-header", f"--arch={arch}", f"--entry={entry}={name}", "-o", out, path]
    r = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if r.returncode:
        sys.exit("failed: %s\n%s" % (" ".join(command), r.stderr))
    return {step: float(ms) for step, ms in STEP.findall(r.stderr) if step not in FILES_OWN}


def summary(what, times):
    times = sorted(times)
    print("%-8s %9d %8.3f %8.3f %8.3f" % (what, len(times), statistics.median(times), times[len(times) * 95 // 100], times[-1]))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("ctilec", nargs="?", default=os.path.join(TOP, "build", "ctilec"))
    ap.add_argument("files", nargs="*")
    ap.add_argument("--arch", default="sm_80,sm_90a,sm_100,sm_120")
    ap.add_argument("--rounds", type=int, default=7)
    ap.add_argument("--most", type=int, default=15, help="so many of the slowest are printed")
    ap.add_argument("--median-bar", type=float, default=0.5)
    ap.add_argument("--bar", type=float, default=5.0)
    a = ap.parse_args()
    files = a.files or sorted(glob.glob(os.path.join(TOP, "bench", "corpus", "*.tile")))
    print(growth.machine(a.ctilec))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            for entry, name in instances(a.ctilec, path):
                for arch in a.arch.split(","):
                    runs = [once(a.ctilec, path, entry, name, arch, os.path.join(folder, "k.cu")) for _ in range(a.rounds)]
                    steps = min(runs, key=lambda r: sum(r.values()))
                    rows.append((sum(steps.values()), name, arch, steps))
    print("%-8s %9s %8s %8s %8s   milliseconds" % ("arch", "instances", "median", "95 %", "most"))
    for arch in a.arch.split(","):
        summary(arch, [r[0] for r in rows if r[2] == arch])
    summary("all", [r[0] for r in rows])
    rows.sort(key=lambda r: (-r[0], r[1:3]))
    for ms, name, arch, steps in rows[:a.most]:
        slow = sorted(steps.items(), key=lambda s: -s[1])[:3]
        print("%8.3f  %s %s: %s" % (ms, name, arch, ", ".join("%s %.3f" % s for s in slow)))
    over = [r for r in rows if r[0] > a.bar]
    median = statistics.median(r[0] for r in rows)
    print("median %.3f ms (bar %g), %d of %d over %g ms" % (median, a.median_bar, len(over), len(rows), a.bar))
    sys.exit(1 if over or median > a.median_bar else 0)


if __name__ == "__main__":
    main()
