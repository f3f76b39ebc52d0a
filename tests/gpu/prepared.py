#!/usr/bin/env python3
"""prepare.sh and run.sh work together: every value suite is in the folder with all its texts, and run.sh builds and runs what it
finds there. Two suites and a text of tests/cuda go the whole way, in a folder that was moved, with the emulation in place of nvcc and the GPU."""
import importlib, os, re, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "values"))
from coverage import SUITES

NVCC = """#!/bin/sh
exec "%s" -B -c 'import sys; sys.path.insert(0, "%s"); import emulation
emulation.library("%s", sys.argv[-1], sys.argv[sys.argv.index("-o") + 1], "sm_80")' "$@"
"""
WHOLE = ["rand", "control"]
TEXTS = ["early.c", "early-sm_80.cu"]


def main():
    build = os.environ.get("BUILD") or os.path.join(ROOT, "build")
    faults = []
    with tempfile.TemporaryDirectory() as d:
        made, moved, tools = (os.path.join(d, n) for n in ("made", "moved", "tools/bin"))
        subprocess.run(["sh", os.path.join(HERE, "prepare.sh"), os.environ.get("CTILEC", os.path.join(build, "ctilec")), made], check=True,
                       env=dict(os.environ, PYTHON=sys.executable))
        os.rename(made, moved)
        values = os.path.join(moved, "values")
        for n in SUITES:
            suite = getattr(importlib.import_module(n), "S", None)
            for lib in [suite.library("", g) for g in suite.used()] if suite else [n + ".so"]:
                texts = [f for f in os.listdir(values) if re.fullmatch(re.escape(lib[:-3]) + r"(\.\d+of\d+)?\.cu", f)]
                if len(texts) != max(int((re.search(r"of(\d+)\.cu$", f) or [0, 1])[1]) for f in texts or [""]):
                    faults.append(f"{lib[:-3]}.cu is not prepared: {texts}")
            if not os.path.exists(os.path.join(values, n + ".py")):
                faults.append(f"{n}.py is not prepared")
            if n not in WHOLE:
                for f in os.listdir(values):
                    if f.split(".")[0].split("-")[0] == n:
                        os.remove(os.path.join(values, f))
        texts = os.path.join(moved, "texts")
        for f in os.listdir(texts):
            if f.endswith((".c", ".cu")) and f not in TEXTS:
                os.remove(os.path.join(texts, f))
        os.makedirs(tools)
        nvcc = os.path.join(tools, "nvcc")
        with open(nvcc, "w") as f:
            f.write(NVCC % (sys.executable, os.path.join(ROOT, "tests", "cuda"), build))
        os.chmod(nvcc, 0o755)
        # a `python3` that would not do: run.sh takes the one it is given
        os.symlink(shutil.which("false"), os.path.join(tools, "python3"))
        environment = dict(os.environ, PATH=tools + os.pathsep + os.environ["PATH"], PYTHON=sys.executable, VALUES_TARGET="emulated",
                           PYTHONDONTWRITEBYTECODE="1")
        r = subprocess.run(["bash", os.path.join(moved, "run.sh"), "values", "texts"], capture_output=True, text=True,
                           env=environment)
        for n in WHOLE:
            if f"ok    values {n}, target emulated: " not in r.stdout:
                faults.append(f"run.sh did not run {n}")
        if not re.search(r"(?m)^ok    texts early-sm_80: [1-9]\d* calls, 0 wrong$", r.stdout):
            faults.append("run.sh did not run a text of tests/cuda")
        if r.returncode or "failures: 0" not in r.stdout:
            faults.append(f"run.sh: status {r.returncode}")
        # a suite whose library is missing fails
        os.remove(os.path.join(values, "rand.so"))
        os.remove(os.path.join(values, "control.py"))
        os.remove(nvcc)
        os.symlink(shutil.which("false"), nvcc)
        broken = subprocess.run(["bash", os.path.join(moved, "run.sh"), "values"], capture_output=True, text=True,
                                env=environment)
        if not broken.returncode or "WRONG values rand" not in broken.stdout:
            faults.append("run.sh does not fail where a suite was not built")
    for f in faults:
        print("FAILED", f)
    if faults:
        print(r.stdout, r.stderr)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
