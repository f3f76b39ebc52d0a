#!/usr/bin/env python3
"""targets.py prepares and runs without a GPU: a suite, a main and drawn kernels through the C target are right; a wrong value, a crash and a
hang are each found, named, and stop nothing else."""
import json, os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CTILEC = os.environ.get("CTILEC", os.path.join(os.environ.get("BUILD") or os.path.join(ROOT, "build"), "ctilec"))


def run(folder, *more):
    out = os.path.join(folder, "out.json")
    r = subprocess.run([sys.executable, "-B", os.path.join(folder, "targets.py"), "run", folder, "--targets", "c", "--jobs", "2", "--json", out, *more],
                       capture_output=True, text=True)
    with open(out) as f: return r.returncode, {c: v["c"][0] for c, v in json.load(f)["verdicts"].items()}


def changed(path, was, now):
    with open(path) as f: text = f.read()
    with open(path, "w") as f: f.write(re.sub(was, now, text, count=1))


def main():
    faults = []
    with tempfile.TemporaryDirectory() as d:
        line = [sys.executable, "-B", os.path.join(HERE, "targets.py"), "prepare", CTILEC, d, "--only", "^spans$|mains/vecadd$|random", "--random", "2"]
        p = subprocess.run(line, capture_output=True, text=True)
        if p.returncode: sys.exit("FAILED prepare: %s%s" % (p.stdout, p.stderr))
        for name in ("spans.so", "drawn_0.so", "mixed_0.so", "mains/vecadd/run"):
            if not os.path.exists(os.path.join(d, "texts", "cuda-tile", name)): faults.append("%s is not compiled for cuda-tile: %s" % (name, p.stdout))
        status, first = run(d)
        kinds = {k: sum(c.startswith(k) for c in first) for k in ("values/spans/", "mains/", "random/")}
        if status or set(first.values()) != {"right"} or kinds["values/spans/"] < 40 or kinds["mains/"] != 1 or kinds["random/"] != 2:
            faults.append("the first run: status %d, %s, %s" % (status, kinds, [c for c in first.items() if c[1] != "right"]))
        # the third function of the text waits for ever, the sixth ends the process, a statement of the main is another
        c = os.path.join(d, "texts", "c", "spans.c")
        with open(c) as f: names = re.findall(r"(?m)^(?:CT_API )?int (\w+)\(", f.read())
        names = [n for n in names if not n.endswith("_ws")]
        for name, line in ((names[2], "for (;;) { }"), (names[5], "__builtin_trap();")):
            changed(c, r"(?ms)^((?:CT_API )?int %s\([^{;]*\)\s*\{)" % name, r"\1 %s" % line)
        changed(os.path.join(d, "texts", "c", "mains", "vecadd", "main.c"), r"(?m)^(int main\([^)]*\)\s*\{)", r"\1 return 3;")
        changed(os.path.join(d, "targets.py"), r"(?m)^A_CASE = \d+", "A_CASE = 3")
        status, second = run(d)
        count = {v: sum(x == v for x in second.values()) for v in ("hangs", "crashes", "wrong", "right")}
        found = count["hangs"] and count["crashes"] and count["wrong"] == 1 and second.get("mains/vecadd") == "wrong"
        if status != 1 or not found or len(second) != len(first):
            faults.append("the second run: status %d, %s" % (status, count))
    for f in faults: print("FAILED", f)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
