#!/usr/bin/env python3
"""What the model of plans loses: README.md has the method.

  regret.py CTILEC [--best K] [--drawn N] [--only REGEX] [--jobs J] [--json FILE]

Needs nvcc and a GPU. Exit status 1 where a kernel was not measured."""
import argparse
import concurrent.futures
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(os.path.dirname(HERE), "corpus")
CASES = """
activations gelu_tanh n=25000000
activations swiglu_packed rows=8192 h=2048
activations bias_relu_mask rows=16384 cols=2048
elementwise add n=12000000
elementwise bias_residual rows=12000 cols=2000
elementwise scale_rows rows=20000 cols=1024
embeddings embedding words=50000 cols=768 rows=20000
embeddings permute_tokens rows=30000 cols=1024
images average_pool c=64 h=512 w=512
images sobel h=6000 w=4096
move transpose_bf16 m=6000 n=4096
move transpose_f32 m=4096 n=4000
norms rms_norm rows=8192 cols=4096
norms layer_norm rows=20000 cols=1024
norms rms_norm_int8 rows=8192 cols=3000
norms group_norm batch=64 groups=32 n=8192
optimisers adamw n=6000000
quantise rows_to_int8 rows=6000 cols=5120
random dropout n=20000000
reductions sum_rows rows=10000 cols=3000
reductions argmax_rows rows=4000 cols=8000
rope rope_halves tokens=4096 heads=32 half=64
scans cumsum_f32 rows=8000 cols=2048
softmax softmax rows=16384 cols=2048
softmax softmax_f32 rows=2000 cols=8192
softmax log_softmax rows=1000 cols=32000
stencils heat h=4096 w=4096
"""
ROW = re.compile(r"^ +([\d.]+) us +\d* ?%? +(\d+) % +(?:([\d.]+) us)? +(as compiled|best \d+|drawn) +([0-9a-f]*) +(.*)$", re.M)


def measure(o, line):
    file, entry, *extents = line.split()
    with tempfile.TemporaryDirectory() as tmp:
        args = [o.ctilec, "tune", os.path.join(CORPUS, file + ".tile"), "--entry", entry, "--best", str(o.best), "--drawn", str(o.drawn),
                "-o", os.path.join(tmp, "list.tune")]
        for e in extents: args += ["--extent", e]
        r = subprocess.run(args, capture_output=True, text=True)
    rows = [dict(us=float(us), spread=int(s), predicted=float(p or 0), kind=k, plan=i, text=t) for us, s, p, k, i, t in ROW.findall(r.stdout)]
    return dict(name="%s.%s" % (file, entry), extents=extents, rows=rows, said=r.stdout if not rows else "", error=r.stderr.strip(),
                refused=re.findall(r"^  not measured: (.*)$", r.stdout, re.M))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("ctilec")
    p.add_argument("--best", type=int, default=8)
    p.add_argument("--drawn", type=int, default=8)
    p.add_argument("--only", default="")
    p.add_argument("--jobs", type=int, default=4)
    p.add_argument("--json")
    o = p.parse_args()
    lines = [l for l in CASES.strip().split("\n") if re.search(o.only, l)]
    model, passes, missing, cases = [], [], 0, []
    pool = concurrent.futures.ThreadPoolExecutor(o.jobs)
    print("%-28s %9s %9s %9s  %7s %7s  %s" % ("kernel", "compiled", "model", "best", "loss", "loss", "the best measured"))
    for done in concurrent.futures.as_completed([pool.submit(measure, o, l) for l in lines]):
        c = done.result()
        cases.append(c)
        rows = c["rows"]
        first = [r for r in rows if r["kind"] == "best 1"]
        compiled = [r for r in rows if r["kind"] == "as compiled"]
        if not first or not compiled:
            missing += 1
            print("%-28s not measured: %s" % (c["name"], (c["error"] or c["said"] or str(c["refused"][:1])).split("\n")[0]))
            continue
        best = min(rows, key=lambda r: r["us"])
        c["loss"] = [r[0]["us"] / best["us"] - 1 for r in (compiled, first)]
        passes.append(c["loss"][0])
        model.append(c["loss"][1])
        print("%-28s %9.2f %9.2f %9.2f  %6.1f%% %6.1f%%  %s %s" % (c["name"], compiled[0]["us"], first[0]["us"], best["us"], 100 * c["loss"][0],
              100 * c["loss"][1], best["plan"], best["text"]), flush=True)
        if o.json:
            with open(o.json, "w") as f: json.dump(cases, f, indent=1)
    for name, loss in (("what is compiled", passes), ("the model's first", model)):
        if loss:
            q = sorted(loss)
            print("%s loses against the best measured: median %.1f%%, 95th percentile %.1f%%, most %.1f%%" % (
                name, 100 * statistics.median(q), 100 * q[min(len(q) - 1, int(0.95 * len(q)))], 100 * q[-1]))
    sys.exit(1 if missing else 0)


main()
