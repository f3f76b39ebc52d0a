#!/usr/bin/env python3
"""Memory-bound kernels beside their peers. README.md has the method.

  bench.py build CTILEC DIR [--nvcc PATH] [--target c]     compile the sources beside this file into DIR; no GPU needed
  bench.py check DIR [--device cpu] [--only REGEX]         values alone, on small odd shapes; cpu: after --target c
  bench.py check DIR --alone [--only REGEX] [--part I/N]   data and formulas on the host: the device runs our kernels, nothing else
  bench.py warm DIR [--jobs N] [--only REGEX]              compile what torch.compile will run, in N processes at once
  bench.py run DIR [--only REGEX] [--peers LIST] [--rounds N] [--part I/N] [--json FILE]

check, warm and run need torch. Exit status 1 where a value is wrong or a case did not run."""
import argparse
import concurrent.futures
import ctypes
import gc
import json
import multiprocessing
import os
import random
import re
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import cases
import compiled

FILES = ("elementwise", "reduce", "scan", "softmax", "norms", "backward", "move", "stencil")
OURS = ("ctilec", "cuda-tile")          # whose values are the language's; ../tile/bench.py has both
PEERS = ("torch", "torch.compile", "triton", "cub")
NVCC_OPTIONS = ["-O3", "-std=c++17", "-arch=sm_90a", "-shared", "-Xcompiler", "-fPIC,-Wall,-Wextra"]
COPIED = 1 << 31                # bytes of the copy that the rates are compared with
CYCLED = 1 << 30                # cases take turns with copies of their data, of so many bytes in all ...
TURNS = 3                       # ... and no fewer than these, so that no cache holds what the next call reads, whatever it was asked to keep
SLEEP = 4000000                 # cycles, about two milliseconds: the host is ahead when the timing starts
CLOCKS = "name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,clocks.max.mem,power.draw,power.limit,temperature.gpu"


# ---- build ----

def output_of(command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def build_file(o, name):
    """One library: of a .tile file, which is emitted first, or of a .cu file of this folder."""
    if name in FILES:
        source = os.path.join(o.dir, name + (".cu" if o.target == "cuda" else ".c"))
        emit = ["--arch=sm_90a"] if o.target == "cuda" else ["--target=c"]
        subprocess.run([o.ctilec, os.path.join(HERE, name + ".tile"), *emit, "-o", source], check=True)
    else:
        source = os.path.join(HERE, name + ".cu")
    compiler = [o.nvcc, *NVCC_OPTIONS] if o.target == "cuda" else ["cc", "-std=c11", "-O2", "-shared", "-fPIC"]
    subprocess.run([*compiler, "-o", os.path.join(o.dir, name + ".so"), source, "-lm"], check=True)


def build(o):
    os.makedirs(o.dir, exist_ok=True)
    versions = {"ctilec": output_of([o.ctilec, "--version"]).split("\n")[0]}
    if o.target == "cuda":
        versions["nvcc"] = re.search(r"V([\d.]+)", output_of([o.nvcc, "--version"])).group(1)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda name: build_file(o, name), FILES + (("cub", "launch") if o.target == "cuda" else ())))
    with open(os.path.join(o.dir, "build.json"), "w") as f:
        json.dump(versions, f)


# ---- data ----

class Data:
    """What the arguments of a case are made of. In a small run extents are cut, rows less than their number."""

    def __init__(self, torch, device, small):
        self.torch, self.device, self.small = torch, device, small
        torch.manual_seed(1)

    def dims(self, *extents):
        if not self.small:
            return extents
        return (*[min(e, 37 + 10 * i) for i, e in enumerate(extents[:-1])], min(extents[-1], 300007))

    def randn(self, shape, dtype):
        return self.torch.randn(shape, device=self.device, dtype=dtype)

    def normal(self, shape, dtype):
        return lambda: self.randn(shape, dtype)

    def ints(self, shape, dtype, low, high):
        return lambda: self.torch.randint(low, high, shape, device=self.device, dtype=dtype)

    def any(self, shape, dtype):
        return self.normal(shape, dtype) if dtype.is_floating_point else self.ints(shape, dtype, -128, 128)

    def distinct(self, count, limit):
        return lambda: self.torch.randperm(limit, device=self.device)[:count].to(self.torch.int32)

    def cosines(self, positions, half, sine):
        """The table of a rotary embedding with base 10000."""
        def make():
            torch = self.torch
            i = torch.arange(half, device=self.device, dtype=torch.float64)
            a = torch.arange(positions, device=self.device, dtype=torch.float64)[:, None] * 10000.0 ** (-i / half)
            return (torch.sin(a) if sine else torch.cos(a)).float()
        return make

    @staticmethod
    def u64(value):
        return U64(value)


class U64(int):
    """An argument that is a number and no extent."""


# ---- contestants ----

class Bench:
    def __init__(self, o):
        import torch
        self.torch, self.folder, self.rounds, self.cuda = torch, o.dir, o.rounds, o.device == "cuda"
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cuda.matmul.allow_tf32 = False
        self.peers = o.peers.split(",")
        self.missing = {}
        self.libs = {}
        self.random = random.Random(1)
        self.triton = None
        self.compiler = compiled.Compiler(torch, o.dir) if "torch.compile" in self.peers else None
        if "triton" in self.peers:
            try:
                import triton_peers
                self.triton = triton_peers
            except ImportError as e:
                self.missing["triton"] = str(e)
        if "cub" in self.peers and not os.path.exists(os.path.join(o.dir, "cub.so")):
            self.missing["cub"] = "cub.so is not in " + o.dir
        if o.step == "run":
            self.source = torch.randint(0, 255, (COPIED,), device="cuda", dtype=torch.uint8)
            self.copied = torch.empty_like(self.source)

    def lib(self, name):
        if name not in self.libs:
            lib = self.libs[name] = ctypes.CDLL(os.path.join(self.folder, name + ".so"))
            if name in FILES:
                lib.ctile_status_text.restype = ctypes.c_char_p
        return self.libs[name]

    def stream(self):
        return ctypes.c_void_p(self.torch.cuda.current_stream().cuda_stream if self.cuda else 0)

    def ours(self, case, args):
        lib, name = self.lib(case["call"][0]), case["call"][1]
        fn, size = getattr(lib, name + "_ws"), getattr(lib, name + "_workspace")
        size.restype = ctypes.c_size_t
        sizes = [(ctypes.c_uint64 if type(a) is U64 else ctypes.c_int64)(a) for a in args if type(a) in (int, U64)]
        need = size(*sizes)
        space = self.torch.empty(need + 256, dtype=self.torch.uint8, device=args_device(args))
        c = []
        for a in args:
            if type(a) is U64: c.append(ctypes.c_uint64(a))
            elif type(a) is int: c.append(ctypes.c_int64(a))
            elif type(a) is float: c.append(ctypes.c_float(a))
            else: c.append(ctypes.c_void_p(a.data_ptr()))
        c += [ctypes.c_void_p(space.data_ptr() + 255 & -256), ctypes.c_size_t(need), self.stream()]

        def call(space=space):          # which keeps the workspace alive
            status = fn(*c)
            if status:
                raise RuntimeError("%s: %s" % (name, lib.ctile_status_text(status).decode()))
            return [args[i] for i in case["out"]]
        return call

    def cub(self, case, args):
        fn = getattr(self.lib("cub"), case["cub"])
        x, out = args[0], args[case["out"][0]]
        need = ctypes.c_size_t(0)
        rest = [ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(out.data_ptr()), *[ctypes.c_int64(e) for e in x.shape], self.stream()]
        fn(None, ctypes.byref(need), *rest)
        space = self.torch.empty(max(need.value, 1), dtype=self.torch.uint8, device="cuda")

        def call():
            status = fn(ctypes.c_void_p(space.data_ptr()), ctypes.byref(need), *rest)
            if status:
                raise RuntimeError("cub: error %d" % status)
            return [out]
        return call

    def contestants(self, case, args):
        """Name -> a function that runs it once and gives the outputs; ours and the peers that are here."""
        yield "ctilec", lambda: self.ours(case, args)
        if "torch" in self.peers:
            yield "torch", lambda: lambda: case["torch"](*args)
        if self.compiler:
            fn = self.compiler(case)
            yield "torch.compile", lambda: lambda: fn(*args)
        if self.triton and case.get("triton"):
            yield "triton", lambda: lambda: getattr(self.triton, case["triton"])(*args)
        if "cub" in self.peers and "cub" not in self.missing and case.get("cub"):
            yield "cub", lambda: self.cub(case, args)

    # ---- values ----

    def check(self, case, name, args, call, want):
        """'' or what is wrong with the outputs of one call. The arguments are as before, then."""
        kept = [a.clone() if hasattr(a, "clone") else None for a in args]
        for i in case["out"]:
            if i not in case.get("keep", ()):
                args[i].fill_(float("nan") if args[i].dtype.is_floating_point else 77)
        got = [g.clone() for g in call()]
        for a, k in zip(args, kept):
            if k is not None: a.copy_(k)
        if name not in OURS and "valid" in case:
            return "" if case["valid"](args, got) else "differs"
        return self.differ(case, got, want)

    def differ(self, case, got, want):
        for g, w in zip(got, want, strict=True):
            g = g.reshape(w.shape)
            if case["tol"] == 0:
                if not self.torch.equal(g.to(w.dtype), w): return "differs"
                continue
            error = self.error(g, w)
            if not error <= case["tol"]: return "relative error %.1e" % error
        return ""

    def error(self, g, w):
        """Of the norm; in slices, so that copies in f64 stay small."""
        num = den = 0.0
        for a, b in zip(g.reshape(-1).split(1 << 26), w.reshape(-1).split(1 << 26)):
            d = a.double() - b.double()
            num += float((d * d).sum())
            den += float((b.double() * b.double()).sum())
        return (num / max(den, 1e-300)) ** 0.5

    def there(self, a, read):
        """An argument of the host on the device, in an allocation of its own, aligned as here; what is not read stays as memory was."""
        if not hasattr(a, "device"):
            return a
        off = a.storage_offset()
        there = self.torch.empty(off + a.numel(), dtype=a.dtype, device="cuda" if self.cuda else "cpu")
        if read: there[off:].copy_(a.reshape(-1))
        return there[off:].view(a.shape)

    def alone(self, case):
        """As `check`, with the data and the formula of the host: what a sanitizer then sees is ours."""
        args = arguments(case)
        outs, keep = case["out"], case.get("keep", ())
        want = case["want"](*[a.clone() if i in outs else a for i, a in enumerate(args)])
        call = self.ours(case, [self.there(a, i not in outs or i in keep) for i, a in enumerate(args)])
        return self.differ(case, [g.cpu() for g in call()], want)

    def checked(self, case, args, sets):
        """Name -> calls, one for each set of arguments; and what was wrong."""
        want = case["want"](*[a.clone() if i in case["out"] else a for i, a in enumerate(args)])
        calls, wrong = {}, {}
        for name, make in self.contestants(case, args):
            try:
                call = make()
                problem = self.check(case, name, args, call, want)
            except Exception as e:
                problem = (str(e) or type(e).__name__).split("\n")[0]
            if problem: wrong[name] = problem
            else: calls[name] = [call]
        del want
        for more in sets:
            for name, make in self.contestants(case, more):
                if name in calls:
                    calls[name].append(make())
        for each in calls.values():         # what a peer does once for each set of arguments is done now
            for call in each: call()
        return calls, wrong

    # ---- times ----

    def time(self, calls, n):
        """Seconds of one call: n in a row, which take turns."""
        torch = self.torch
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(SLEEP)
        a.record()
        for i in range(n): calls[i % len(calls)]()
        b.record()
        b.synchronize()
        return a.elapsed_time(b) / n * 1e-3

    def copies_of(self, moved, turns):
        """Calls that copy, each elsewhere, so that in all they read and write so many bytes a call."""
        half = min(max(moved // 2, 1), COPIED)
        step = -(-half // 4096) * 4096          # all begin as allocations do

        def copy(begin):
            to, of = self.copied[begin:begin + half], self.source[begin:begin + half]
            return lambda: to.copy_(of)
        return [copy(i * step) for i in range(max(1, min(turns, COPIED // step)))]

    def run(self, case):
        args = arguments(case)
        turns = min(8, max(TURNS, CYCLED // case["bytes"]))
        calls, wrong = self.checked(case, args, [arguments(case) for _ in range(turns - 1)])
        n = max(4, 2 * turns)
        contestants = {name: (each, n) for name, each in calls.items()}
        contestants["copy"] = self.copies_of(2 * COPIED, 1), 2
        contestants["same"] = self.copies_of(case["bytes"], turns), n
        times = {name: [] for name in contestants}
        for _ in range(self.rounds):
            for name in self.random.sample(list(contestants), len(contestants)):
                times[name].append(self.time(*contestants[name]))
        copy = 2 * COPIED / statistics.median(times.pop("copy"))
        share = lambda seconds: case["bytes"] / seconds / copy
        same = share(statistics.median(times.pop("same")))
        rates = {name: dict(us=statistics.median(t) * 1e6, share=share(statistics.median(t)), low=share(max(t)), high=share(min(t)))
                 for name, t in times.items()}
        return dict(name=case["name"], bytes=case["bytes"], copy=copy, same=same, wrong=wrong, rates=rates)

    def launch(self):
        """What the host pays for one call of 1,000 elements, in microseconds; medians."""
        x = [self.torch.zeros(1000, device="cuda") for _ in range(3)]
        lib = self.lib("launch")
        lib.launch_seconds.restype = ctypes.c_double
        p = [ctypes.c_void_p(a.data_ptr()) for a in x]
        add = ctypes.cast(self.lib("elementwise").add_f32, ctypes.c_void_p)
        times = {"ctilec": [], "<<<>>>": []}
        for _ in range(max(self.rounds, 3) + 1):
            for name, fn in (("ctilec", add), ("<<<>>>", None)):
                times[name].append(lib.launch_seconds(fn, *p, ctypes.c_int64(1000), self.stream(), 500) * 1e6)
        return {name: statistics.median(t[1:]) for name, t in times.items()}


def arguments(case):
    return [a() if callable(a) else a for a in case["args"]]


def args_device(args):
    return next(a.device for a in args if hasattr(a, "device"))


def all_cases(o):
    import torch
    part, parts = [int(v) for v in o.part.split("/")]
    data = Data(torch, "cpu" if o.alone else o.device, o.step == "check" or o.device == "cpu")
    found = [c for group in cases.GROUPS for c in group(data) if re.search(o.only, c["name"])]
    return found[part - 1::parts]


# ---- reports ----

def show(row):
    rates = row["rates"]
    own = rates.get("ctilec")
    peers = [v["share"] for n, v in rates.items() if n != "ctilec"]
    shares = "  ".join("%s %.1f" % (n, 100 * v["share"]) for n, v in rates.items())
    ratio = "x%.2f" % (own["share"] / max(peers)) if own and peers else "-"
    wrong = "".join("  %s: %s" % w for w in row["wrong"].items())
    print("%-36s %10s  %-6s %s  (copy of its size %.1f)%s" % (
        row["name"], "%.1f us" % own["us"] if own else "WRONG", ratio, shares, 100 * row["same"], wrong), flush=True)


def clocks():
    try:
        line = output_of(["nvidia-smi", "--query-gpu=" + CLOCKS, "--format=csv,noheader", "--id=0"])
    except (OSError, subprocess.CalledProcessError):
        return {}
    return dict(zip(CLOCKS.split(","), [v.strip() for v in line.split(",")]))


def write(path, result):
    if path:
        with open(path, "w") as f:
            json.dump(result, f, indent=1)
            f.write("\n")


def run(o):
    import torch
    start = time.monotonic()
    bench = Bench(o)
    with open(os.path.join(o.dir, "build.json")) as f:
        versions = json.load(f)
    versions.update(torch=torch.__version__, cuda=torch.version.cuda)
    if bench.triton: versions["triton"] = bench.triton.triton.__version__
    result = dict(device=torch.cuda.get_device_name(), versions=versions, rounds=o.rounds, peers=bench.peers, missing=bench.missing,
                  clocks_before=clocks(), launch_us=bench.launch(), rows=[])
    for name, why in bench.missing.items(): print("%s is left out: %s" % (name, why))
    print("launch path: " + "  ".join("%s %.2f us" % v for v in result["launch_us"].items()))
    for case in all_cases(o):
        try:
            row = bench.run(case)
        except Exception as e:
            row = dict(name=case["name"], bytes=case["bytes"], copy=0, same=0, rates={}, wrong={"case": (str(e) or type(e).__name__).split("\n")[0]})
        torch.cuda.empty_cache()
        show(row)
        result["rows"].append(row)
        result["seconds"] = round(time.monotonic() - start)
        write(o.json, result)           # each time: a run that is cut off keeps what it has
    result["clocks_after"] = clocks()
    write(o.json, result)
    failed = [r["name"] for r in result["rows"] if "ctilec" not in r["rates"]]
    print("%d cases in %d s, %d failed%s" % (len(result["rows"]), time.monotonic() - start, len(failed), ": " + ", ".join(failed) if failed else ""))
    return 1 if failed or not result["rows"] else 0


def check(o):
    bench = Bench(o)
    failed = count = 0
    for case in all_cases(o):
        start = time.monotonic()
        if o.alone:
            problem = bench.alone(case)
            wrong = {"ctilec": problem} if problem else {}
        else:
            wrong = bench.checked(case, arguments(case), [])[1]
        print("%-44s %5.1f s  %s" % (case["name"], time.monotonic() - start, wrong or "ok"), flush=True)
        failed += "ctilec" in wrong
        count += 1
    print("%d of %d cases failed" % (failed, count))
    return 1 if failed or not count else 0


def begin_warming(o):
    """In each process of `warm`."""
    global warming
    import torch
    torch.set_num_threads(1)
    compiled.measure_briefly()
    warming = compiled.Compiler(torch, o.dir), all_cases(o)


def warm_case(i):
    """Name, seconds, what was wrong, and whether the graph holds a choice between libraries."""
    compiler, found = warming
    start, wrong, chosen = time.monotonic(), "", False
    try:
        chosen = compiled.warm(compiler, found[i], arguments(found[i]))
    except Exception as e:
        wrong = (str(e) or type(e).__name__).split("\n")[0]
    gc.collect()
    compiler.torch.cuda.empty_cache()
    return found[i]["name"], time.monotonic() - start, wrong, chosen


def warm(o):
    start = time.monotonic()
    count, chosen, failed = len(all_cases(o)), [], 0
    with concurrent.futures.ProcessPoolExecutor(o.jobs, multiprocessing.get_context("spawn"), begin_warming, (o,)) as pool:
        for name, seconds, wrong, choice in pool.map(warm_case, reversed(range(count))):      # the slowest stand last in the table
            print("%-44s %5.1f s  %s" % (name, seconds, wrong), flush=True)
            failed += wrong != ""
            if choice: chosen.append(name)
    with open(compiled.chosen_file(o.dir), "w") as f:
        json.dump(chosen, f)
    print("%d of %d cases compiled in %d s" % (count - failed, count, time.monotonic() - start))
    return 1 if failed == count else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("step", choices=["build", "check", "warm", "run"])
    p.add_argument("paths", nargs="+")
    p.add_argument("--nvcc", default="nvcc")
    p.add_argument("--target", choices=["cuda", "c"], default="cuda")
    p.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    p.add_argument("--alone", action="store_true", help="check: nothing but our kernels on the device, for compute-sanitizer")
    p.add_argument("--only", default="", help="cases whose names this regular expression matches")
    p.add_argument("--peers", default="torch,triton,cub", help="of %s; warm makes torch.compile cheaper" % ", ".join(PEERS))
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes of warm; each takes up to 8 GiB of the device")
    p.add_argument("--part", default="1/1", help="I/N: every N-th case from the I-th, for a machine that one has for a short time")
    p.add_argument("--json")
    o = p.parse_args()
    if len(o.paths) != (2 if o.step == "build" else 1):
        p.error("build CTILEC DIR, check DIR, warm DIR or run DIR")
    if not set(o.peers.split(",")) <= {*PEERS, ""}:
        p.error("peers are %s" % ", ".join(PEERS))
    if not re.fullmatch(r"[1-9]\d*/[1-9]\d*", o.part) or min(o.rounds, o.jobs) < 1:
        p.error("--part is I/N, --rounds and --jobs at least 1")
    o.dir = o.paths[-1]
    o.ctilec = o.paths[0]
    if o.step == "warm" or "torch.compile" in o.peers:
        compiled.prepare(o.dir, o.jobs if o.step == "warm" else 1)
    sys.exit({"build": build, "check": check, "warm": warm, "run": run}[o.step](o) or 0)


if __name__ == "__main__":
    main()
