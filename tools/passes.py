#!/usr/bin/env python3
"""What each optional pass does to the kernels of bench/corpus: compiles them without it (--without-pass) and compares their placed forms.

Usage: tools/passes.py [CTILEC] [--only PASS,PASS] [--kernels]
Prints a line for each pass: the kernels and the families that it changes, and their names where they are few. A pass that serves fewer than
three families has to show by measurement that it is worth its lines. --kernels: names all kernels. Needs numpy and ml_dtypes, as
bench/corpus/check.py does."""
import argparse
import collections
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORPUS = os.path.join(ROOT, "bench", "corpus")
sys.path.insert(0, CORPUS)
FEW = 3


def output(*command):
    r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if r.returncode:
        sys.exit("passes: failed: %s\n%s" % (" ".join(command), r.stderr[-2000:]))
    return r.stdout


def optional(ctilec):
    """Passes that may be left out, as the option's own message lists them."""
    r = subprocess.run([ctilec, "--without-pass=?", os.path.join(CORPUS, "norms.tile")], stderr=subprocess.PIPE, text=True)
    return re.findall(r"`(\w+)`", r.stderr.split("one of")[-1])


def families():
    """{(file, function): family}"""
    import arrays
    import check
    return {(c.file, c.function): c.family for c in check.cases(arrays.Numpy(), 1, True)}


def forms(ctilec, file, without=()):
    """{kernel: the text of its versions}; what numbers values is no difference."""
    text = output(ctilec, "-w", "--emit=placed", *["--without-pass=" + p for p in without], "-o", "-", os.path.join(CORPUS, file + ".tile"))
    found = collections.defaultdict(str)
    for head, name, body in re.findall(r"^((?:kernel|version) (\S+).*\n)((?:.*\n)*?)^}", text, re.M):
        found[name] += head + body
    return found


def function_of(kernel, names):
    """The C function that a kernel serves: the longest whose name it begins with."""
    fit = [n for n in names if kernel == n or kernel.startswith(n + "_") or kernel.startswith(n)]
    return max(fit, key=len) if fit else kernel


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("ctilec", nargs="?", default=os.path.join(ROOT, "build", "ctilec"))
    p.add_argument("--only", default="")
    p.add_argument("--kernels", action="store_true")
    o = p.parse_args()
    of = families()
    files = sorted({f for f, _ in of})
    names = {f: [n for file, n in of if file == f] for f in files}
    whole = {f: forms(o.ctilec, f) for f in files}
    print("%d kernels of %d families" % (len(of), len(set(of.values()))))
    for one in o.only.split(",") if o.only else optional(o.ctilec):
        changed = set()
        for f in files:
            now = forms(o.ctilec, f, [one])
            changed |= {(f, function_of(k, names[f])) for k in set(now) | set(whole[f]) if now.get(k) != whole[f].get(k)}
        served = collections.Counter(of.get(c, c[1]) for c in changed)
        shown = ", ".join("%s (%d)" % s for s in sorted(served.items())) if len(served) <= FEW else ""
        print("%-10s %3d kernels, %2d families%s%s" % (one, len(changed), len(served), ": " if shown else "", shown), flush=True)
        if o.kernels or len(served) <= FEW:
            print("           " + " ".join("%s.%s" % c for c in sorted(changed)))


if __name__ == "__main__":
    main()
