#!/usr/bin/env python3
"""The corpus beside torch and torch.compile. README.md has the method.

  measure.py build CTILEC DIR [--nvcc PATH]                       compile the sources beside this file into DIR; no GPU needed
  measure.py warm DIR --seed S [--points N] [--only REGEX] [--jobs J] [--limit SECONDS]   compile what torch.compile needs for these shapes, J cases at once
  measure.py run DIR --seed S [--points N] [--only REGEX] [--rounds R] [--part I/N] [--no-peers] [--json FILE]

warm and run need torch and a GPU; run needs sm_90a. run does without warm, but compiles one peer after the other then, which takes most
of its time. Exit status 1 where a value is wrong or a case did not run."""
import argparse
import concurrent.futures
import ctypes
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "memory")]
import arrays
import check
import table
from bench import COPIED, NVCC_OPTIONS, SLEEP, clocks, output_of        # bench/memory/bench.py: it has the method's figures

GUARD = 1 << 20         # bytes around each tensor that is written
CYCLED = 1 << 30        # a case takes turns with copies of its data, of so many bytes in all
PEERS = ("torch", "torch.compile")


def build(o):
    os.makedirs(o.dir, exist_ok=True)

    def one(name):
        text = os.path.join(o.dir, name + ".cu")
        subprocess.run([o.ctilec, "--arch=sm_90a", "-o", text, os.path.join(HERE, name + ".tile")], check=True)
        subprocess.run([o.nvcc, *NVCC_OPTIONS, "-o", os.path.join(o.dir, name + ".so"), text], check=True)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, check.sources()))
    versions = {"ctilec": output_of([o.ctilec, "--version"]).split("\n")[0],
                "nvcc": re.search(r"V([\d.]+)", output_of([o.nvcc, "--version"])).group(1)}
    with open(os.path.join(o.dir, "build.json"), "w") as f: json.dump(versions, f)


def compiled(torch, case):
    """The peer as torch.compile makes it. What is fastest is measured anew by each process, for processes that warm share the GPU."""
    import torch._inductor.config as config
    config.autotune_local_cache = False
    return torch.compile(case.peer, mode="max-autotune-no-cudagraphs", dynamic=False)


def chosen(o, m):
    """The cases of a run: every N-th from the I-th whose name is asked for."""
    part, parts = [int(v) for v in o.part.split("/")]
    count = 0
    for point in range(o.points):
        for case in check.cases(m, "%s/%d" % (o.seed, point), False, "cuda"):
            count += 1
            if re.search(o.only, case.name) and count % parts == part % parts: yield case


def warm(o):
    """Fills the caches of torch.compile by --jobs processes; one process alone where --part names its share."""
    if o.jobs:
        ours = [sys.executable, os.path.abspath(__file__), "warm", o.dir, "--seed", o.seed, "--points", str(o.points), "--only", o.only]
        env = dict(os.environ, TORCHINDUCTOR_COMPILE_THREADS="1")
        shares = [subprocess.Popen([*ours, "--part", "%d/%d" % (i + 1, o.jobs)], env=env) for i in range(o.jobs)]
        end = time.monotonic() + o.limit
        for p in shares:
            try:
                p.wait(max(0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                p.kill()                # the run compiles what is left
        return 0
    m = arrays.Torch()
    for case in chosen(o, m):
        try:
            m.torch._dynamo.reset()
            compiled(m.torch, case)(*[Tensor(m, a).data for a in case.args if isinstance(a, table.In)], *[v for _, v in case.numbers])
        except Exception as e:          # the run that follows says so again
            print("%s: %s" % (case.name, (str(e) or type(e).__name__).split("\n")[0]), flush=True)
        m.torch.cuda.empty_cache()
    return 0


class Tensor:
    """A tensor of a case on the device; one that is written stands between guards."""

    def __init__(self, m, spec):
        T, self.spec = m.torch, spec
        self.first = spec.make() if isinstance(spec, table.In) else None
        size = table.SIZE[spec.type] * math.prod(spec.shape)
        self.bytes = T.full((size + 2 * GUARD,), 0xA5, dtype=T.uint8, device="cuda")
        self.data = self.bytes[GUARD:GUARD + size].view(m.types[spec.type]).view(spec.shape)
        self.reset()

    def reset(self):
        if self.first is not None: self.data.copy_(self.first)
        else: self.bytes[GUARD:-GUARD] = 0xA5

    def intact(self):
        return bool((self.bytes[:GUARD] == 0xA5).all() and (self.bytes[-GUARD:] == 0xA5).all())


class Runner:
    def __init__(self, o):
        self.m = arrays.Torch()
        self.torch, self.folder, self.rounds, self.peers, self.libs = self.m.torch, o.dir, o.rounds, not o.no_peers, {}
        self.shuffle = random.Random(o.seed)
        self.source = self.torch.randint(0, 255, (COPIED,), device="cuda", dtype=self.torch.uint8)
        self.copied = self.torch.empty_like(self.source)

    def library(self, name):
        if name not in self.libs:
            self.libs[name] = ctypes.CDLL(os.path.join(self.folder, name + ".so"))
            self.libs[name].ctile_status_text.restype = ctypes.c_char_p
        return self.libs[name]

    def ours(self, case, tensors, workspace):
        """A call of f_ws, or of f; None where f needs a workspace."""
        lib = self.library(case.file)
        dims = [ctypes.c_int64(d) for d in case.dims]
        size = getattr(lib, case.function + "_workspace")
        size.restype = ctypes.c_size_t
        need = size(*check.integers(case), *dims)
        args = [*[ctypes.c_void_p(t.data.data_ptr()) for t in tensors], *[check.NUMBERS[k](v) for k, v in case.numbers], *dims]
        stream = ctypes.c_void_p(self.torch.cuda.current_stream().cuda_stream)
        if workspace:
            space = self.torch.empty(need + 256, dtype=self.torch.uint8, device="cuda")
            args += [ctypes.c_void_p((space.data_ptr() + 255) // 256 * 256), ctypes.c_size_t(need), stream]
        elif not hasattr(lib, case.function):
            return None
        else:
            space, args = None, args + [stream]
        fn = getattr(lib, case.function + ("_ws" if workspace else ""))

        def call(space=space):          # which keeps the workspace alive
            status = fn(*args)
            if status: raise RuntimeError(lib.ctile_status_text(status).decode())
        return call

    def wrong(self, case, tensors, outs):
        """'' or what is wrong, against the formula in f64."""
        reads = [t.first for t in tensors if t.first is not None]
        if case.want is None: return ""
        for a, got, w in zip(case.writes, outs, case.want(*reads, *[v for _, v in case.numbers]), strict=True):
            tol = case.tol if case.tol is not None else table.TOLERANCE.get(a.type, 0)
            if a.type == "u32": got = got.long() & 0xFFFFFFFF     # which torch holds as i32
            got, w = got.double().reshape(-1), w.double().reshape(-1)
            same = (got == w) | (got.isnan() & w.isnan())
            if tol == 0:
                if not same.all(): return "differs at %d of %d" % (int((~same).sum()), got.numel())
                continue
            d = self.torch.where(same, 0.0, got - w)
            error = float(d.square().sum() / self.torch.where(w.isfinite(), w, 0.0).square().sum().clamp(min=1e-300)) ** 0.5
            if not error <= tol: return "relative error %.1e" % error
        return ""

    def seconds(self, calls, n):
        a, b = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.torch.cuda._sleep(SLEEP)           # the host is ahead when the timing starts
        a.record()
        for i in range(n): calls[i % len(calls)]()
        b.record()
        b.synchronize()
        return a.elapsed_time(b) / n * 1e-3

    def contestants(self, case, sets):
        """Name -> (calls that take turns over the sets, a function that gives the outputs of a call on the first set)."""
        numbers = [v for _, v in case.numbers]
        found = {}
        for name, workspace in (("f_ws", True), ("f", False)):
            calls = [self.ours(case, s, workspace) for s in sets]
            if calls[0]:
                found[name] = calls, lambda call: (call(), [t.data for t in sets[0] if t.spec in case.writes])[1]
        for name, fn in (("torch", case.peer), ("torch.compile", compiled(self.torch, case))) if self.peers else ():
            given = [[t.data for t in s if t.first is not None] for s in sets]
            found[name] = [lambda g=g, fn=fn: fn(*g, *numbers) for g in given], lambda call: call()
        return found

    def run(self, case):
        turns = min(8, max(3, CYCLED // case.bytes))
        sets = [[Tensor(self.m, a) for a in case.args] for _ in range(turns)]
        times, wrong = {}, {}
        self.torch._dynamo.reset()
        for name, (calls, outputs) in self.contestants(case, sets).items():
            try:
                for t in sets[0]: t.reset()
                problem = self.wrong(case, sets[0], outputs(calls[0]))
                if not problem and not all(t.intact() for t in sets[0]): problem = "memory outside of a tensor was written"
                for call in calls: call()
            except Exception as e:
                problem = (str(e) or type(e).__name__).split("\n")[0]
            if problem: wrong[name] = problem
            else: times[name] = calls, []
        step = -(-min(case.bytes // 2, COPIED) // 4096) * 4096
        half = [(self.copied[i:i + case.bytes // 2], self.source[i:i + case.bytes // 2]) for i in range(0, max(1, COPIED - step), step)][:turns]
        times["copy"] = [lambda to=to, of=of: to.copy_(of) for to, of in half], []
        for _ in range(self.rounds):
            for name in self.shuffle.sample(list(times), len(times)):
                calls, found = times[name]
                found.append(self.seconds(calls, max(4, 2 * turns)))
        return dict(name=case.name, family=case.family, bytes=case.bytes, wrong=wrong, us={n: [s * 1e6 for s in t] for n, (_, t) in times.items()})


def interval(ratios):
    """The median of paired ratios and its 95 % interval, by order statistics."""
    r = sorted(ratios)
    k = max(0, int(len(r) / 2 - 0.98 * math.sqrt(len(r))))
    return statistics.median(r), r[k], r[-1 - k]


def ratio(row):
    """The best peer's time over ours, round by round; None where ours is wrong."""
    us = row["us"]
    ours = us.get("f_ws")
    peers = [us[p] for p in PEERS if p in us]
    return interval([min(p[i] for p in peers) / ours[i] for i in range(len(ours))]) if ours and peers else None


def summary(rows):
    known = [(r, ratio(r)) for r in rows]
    good = [(r, q) for r, q in known if q]
    print("\n%d cases, geometric mean of the best peer's time over ours: %.3f" % (
        len(rows), math.exp(statistics.mean(math.log(q[0]) for _, q in good)) if good else 0))
    below = [r["name"] for r, q in good if q[2] < 0.95]
    print("below 0.95 with their whole interval: %d%s" % (len(below), "".join("\n  " + n for n in below)))
    fast = [r for r, _ in good if statistics.median(r["us"]["copy"]) / statistics.median(r["us"]["f_ws"]) >= 0.92]
    print("at 92 %% of a copy of their size: %d" % len(fast))
    print("wrong or refused: %s" % (", ".join(r["name"] for r, q in known if not q) or "none"))


def run(o):
    start, rows = time.monotonic(), []
    runner = Runner(o)
    with open(os.path.join(o.dir, "build.json")) as f: versions = json.load(f)
    versions.update(torch=runner.torch.__version__, cuda=runner.torch.version.cuda)
    result = dict(device=runner.torch.cuda.get_device_name(), versions=versions, seed=o.seed, points=o.points, rounds=o.rounds,
                  clocks_before=clocks(), rows=rows)
    for case in chosen(o, runner.m):
        try:
            row = runner.run(case)
        except Exception as e:
            row = dict(name=case.name, family=case.family, bytes=case.bytes, us={}, wrong={"case": (str(e) or type(e).__name__).split("\n")[0]})
        runner.torch.cuda.empty_cache()
        q = ratio(row)
        print("%-44s %-24s %s %s" % (row["name"], row["family"], "x%.2f (%.2f to %.2f)" % q if q else "-", row["wrong"] or ""), flush=True)
        rows.append(row)
        result.update(seconds=round(time.monotonic() - start), clocks_after=clocks())
        if o.json:
            with open(o.json, "w") as f: json.dump(result, f, indent=1)        # each time: a run that is cut off keeps what it has
    summary(rows)
    return 1 if not rows or any("f_ws" in r["wrong"] or "case" in r["wrong"] for r in rows) else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("step", choices=["build", "warm", "run"])
    p.add_argument("paths", nargs="+")
    p.add_argument("--nvcc", default="nvcc")
    p.add_argument("--seed", default="1")
    p.add_argument("--points", type=int, default=1, help="so often each kernel, with other extents")
    p.add_argument("--only", default="")
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--part", default="1/1", help="I/N: every N-th case from the I-th")
    p.add_argument("--jobs", type=int, default=0, help="warm: processes that share the GPU and compile")
    p.add_argument("--limit", type=float, default=240, help="warm: seconds, after which processes that still compile are ended")
    p.add_argument("--no-peers", action="store_true", help="ours and the copy alone: what a change does to a case that was measured before")
    p.add_argument("--json")
    o = p.parse_args()
    if len(o.paths) != (2 if o.step == "build" else 1): p.error("build CTILEC DIR, warm DIR or run DIR")
    o.ctilec, o.dir = o.paths[0], o.paths[-1]
    sys.exit({"build": build, "warm": warm, "run": run}[o.step](o) or 0)


if __name__ == "__main__":
    main()
