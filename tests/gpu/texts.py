#!/usr/bin/env python3
"""The programs of tests/cuda, and kernels drawn at random (cuda/drawn.py, cuda/mixed.py), on a GPU, compared with the C target
(cuda/compare.py).

  texts.py emit CTILEC FOLDER [DRAWN [SEED]]      each program as C, as CUDA for sm_90a, and as CUDA for sm_80 that later devices run, too
  texts.py run FOLDER/TEXT.so             calls of one CUDA text, and of NAME.c.so beside it

After each tensor lie bytes that nobody may change."""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cuda"))
sys.path.insert(0, HERE)
from compare import Emulated, Gpu, Target, anything, compare, each_variant, equal, nearly, section, told, SIZES

DRAWN, SEED = 64, 24            # kernels of each kind


def programs(folder):
    """Names and texts; each section of a file is a program."""
    for name in sorted(n[:-5] for n in os.listdir(folder) if n.endswith(".tile")):
        with open(os.path.join(folder, name + ".tile")) as f:
            text = f.read()
        sections = re.findall(r"(?m)^// ---- (\w+)", text)
        for part in sections:
            yield name + "." + part, section(text, part)
        if not sections:
            yield name, text


def emit_one(ctilec, folder, name, text, how):
    """A program for all targets; how: entries as compare() takes them, and how they are called."""
    one, at = os.path.join(folder, name + ".tile"), os.path.join(folder, name)
    with open(one, "w") as f:
        f.write(text)
    manifest = subprocess.run([ctilec, "-w", "--emit=manifest", one, "-o", "-"], check=True, capture_output=True, text=True)
    calls = how([e for e in json.loads(manifest.stdout)["entries"] if all("shape" in p for p in e["params"])])           # tensors alone
    if calls:
        subprocess.run([ctilec, "-w", "--target=c", "--line=off", one, "-o", at + ".c"], check=True)
        for arch in ("sm_90a", "sm_80"):
            subprocess.run([ctilec, "-w", "--arch=" + arch, "--line=off", one, "-o", "%s-%s.cu" % (at, arch)], check=True)
        with open(at + ".json", "w") as f:
            json.dump(calls, f)
    os.remove(one)


def emit(ctilec, folder, count=DRAWN, seed=SEED):
    from drawn import BATCH, Kernel         # need more of this tree than a GPU machine has
    import mixed
    os.makedirs(folder, exist_ok=True)
    for name, text in programs(os.path.join(os.path.dirname(HERE), "cuda")):
        emit_one(ctilec, folder, name, each_variant(text), lambda entries: entries and [
            {"entries": entries, "sizes": told(text, "sizes", SIZES), "phases": told(text, "phases", [0])}])
    for first in range(0, int(count), BATCH):
        kernels = {k.name: k for k in [Kernel(int(seed), i) for i in range(first, min(first + BATCH, int(count)))]}
        emit_one(ctilec, folder, "drawn_%d" % first, "\n".join(k.text() for k in kernels.values()), lambda entries: [
            {"entries": [e], "sizes": [size], "phases": phases, "exact": kernels[e["name"]].exact, "special": special}
            for e in entries for size, special, phases in kernels[e["name"]].calls])
    for first in range(0, int(count), mixed.BATCH):
        kernels = {k.name: k for k in [mixed.Kernel(int(seed), i) for i in range(first, min(first + mixed.BATCH, int(count)))]}
        kernels = {name: k for name, k in kernels.items() if not mixed.refused(k)}
        emit_one(ctilec, folder, "mixed_%d" % first, "\n".join(k.text() for k in kernels.values()), lambda entries: [
            {"entries": [e], "sizes": kernels[e["name"]].sizes, "phases": kernels[e["name"]].phases, "mixed": True} for e in entries])


def run(library):
    at = re.sub(r"-sm_\w+\.so$", "", library)
    with open(at + ".json") as f:
        parts = json.load(f)
    device = Emulated if os.environ.get("VALUES_TARGET") == "emulated" else Gpu
    host, device, calls, bad = Target(os.path.abspath(at + ".c.so")), device(os.path.abspath(library)), 0, 0
    for p in parts:
        how = {"agree": equal, "make": anything} if "mixed" in p else {}
        if "exact" in p: how = {"agree": nearly(p["exact"]), "special": p["special"]}
        done, wrong = compare(host, device, p["entries"], p["sizes"], p["phases"], ["0"], **how)
        calls, bad = calls + done, bad + wrong
    print("%d calls, %d wrong" % (calls, bad))
    return 1 if bad or not calls else 0


def main():
    step, *args = sys.argv[1:] or ["-h"]
    if (step, len(args)) not in (("emit", 2), ("emit", 3), ("emit", 4), ("run", 1)):
        sys.exit(__doc__)
    sys.exit({"emit": emit, "run": run}[step](*args))


main()
