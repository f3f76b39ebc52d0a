#!/usr/bin/env python3
"""Where the model would take another plan than the passes do: differences.py CTILEC [--arch sm_90a] [FILE...], by default over the corpus, the
samples and bench/memory. Prints a line for each kernel whose plans differ by more than what counts as equally fast, then how many."""
import argparse
import glob
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLAN = re.compile(r"^  (taken|best|next) +(\w+) +([\d.]+) us .*?(?:in flight)?(?:, sliced)?  (\d+ warps?.*)$", re.M)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("ctilec")
    p.add_argument("--arch", default="sm_90a")
    p.add_argument("files", nargs="*")
    o = p.parse_args()
    files = o.files or sorted(f for d in ("bench/corpus", "samples/*", "bench/memory") for f in glob.glob(os.path.join(ROOT, d, "*.tile")))
    same = near = other = 0
    for path in files:
        text = subprocess.run([o.ctilec, "-w", "--explain-schedule", "--arch", o.arch, path], capture_output=True, text=True).stdout
        for part in re.split(r"^plans of ", text, flags=re.M)[1:]:
            rows = PLAN.findall(part)
            taken, best = rows[0], rows[1]
            if taken[1] == best[1]: same += 1
            elif float(taken[2]) <= 1.03 * float(best[2]): near += 1
            else:
                other += 1
                print("%-40s %8.2f us by %-9s %s; %8.2f us by %-9s %s" % (part.split(",")[0], float(taken[2]), taken[1], taken[3],
                                                                     float(best[2]), best[1], best[3]))
    print("%d kernels take the model's plan, %d one that it predicts within 3 percent, %d another" % (same, near, other))


main()
