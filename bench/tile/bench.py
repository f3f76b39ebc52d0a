#!/usr/bin/env python3
"""Our CUDA beside NVIDIA's compiler, from the same source: targets cuda and cuda-tile, and a library for scale. README.md has the method.

  bench.py build CTILEC DIR [--nvcc NVCC] [--tile-nvcc NVCC] [--side cuda|cuda-tile|both]   compile the sources; no GPU needed
  bench.py emit CTILEC DIR                             the same without nvcc: `build --side cuda` in DIR then needs no ctilec
  bench.py run DIR [--only REGEX] [--rounds N] [--seconds N] [--json FILE]
  bench.py run DIR --dry                               no GPU: which libraries are there, which rows have all their functions

`run` needs torch. Each part (gemm, attention, memory) is a process of its own, and is begun again behind a row that hangs or crashes.
Exit status 1 where a value is wrong or a row did not run."""
import argparse
import concurrent.futures
import ctypes
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "memory")]
SIDES = "cuda", "cuda-tile"
NAMES = dict(zip(SIDES, ("ctilec", "cuda-tile")))       # in results, as in those of ../memory
ROWS = 1024, 4096, 16384        # elements of a row in one tile: those of 262,144 keep NVIDIA's compiler for minutes
A_ROW = 40                      # seconds that a row may take
COMPILE = 400                   # seconds that nvcc may take for one file
PARTS = "memory", "gemm", "attention"
# of ../memory: what the cases below call
MEMORY = dict(elementwise="add_f32 saxpy swiglu_bf16 gelu_bf16 bias_bf16 dropout", reduce="sum_rows max_rows sum_cols", scan="cumsum_f32",
              softmax="softmax_bf16 softmax_f32", norms="rmsnorm_bf16 layernorm_bf16 add_rmsnorm_bf16",
              move="transpose_f32 transpose_bf16 permute_bf16 embedding_bf16 rope", stencil="blur3 laplace")
# gemm: BM, BN, BK; attention: BM, BN
TILES = [(128, 128, 32), (128, 128, 64), (128, 64, 64), (64, 128, 64)]
BLOCKS = [(64, 64), (128, 64), (128, 128)]
SHAPES = [(8192, 8192, 8192), (4096, 4096, 4096), (2048, 2048, 2048), (4000, 4008, 4016), (8192, 8192, 512)]
LENGTHS = 2048, 8192, 16384
ELEMS = "bf16", "f16"
CASES = ["add 268435456 f32", "saxpy 268435456 f32", "swiglu 16384x14336 bf16", "gelu 16384x14336 bf16", "bias + residual 16384x14336 bf16",
         "dropout 268435456 f32", "sum of rows 16384x16384 f32", "max of rows 16384x16384 f32", "sum of columns 16384x16384 f32",
         "cumsum 16384x16384 f32", "softmax 262144x1024 bf16", "softmax 65536x4096 bf16", "softmax 16384x16384 bf16", "softmax 65536x4096 f32",
         "rmsnorm 65536x4096 bf16", "rmsnorm 16384x16384 bf16", "layernorm 262144x1024 bf16", "layernorm 65536x4096 bf16",
         "add + rmsnorm 65536x4096 bf16", "transpose 16384x16384 f32", "transpose 16384x16384 bf16", "permute 32x1024x16x128 bf16",
         "embedding 65536x4096 bf16", "rope 16384x32x128 bf16", "blur 3x3 16384x16384 f32", "laplace 512x512x512 f32"]


# ---- sources and libraries ----

def instances():
    """A file for each product and each attention, for only one kernel of a file writes tensor maps (docs/coming-from.md): {name: text}."""
    with open(os.path.join(HERE, "products.tile")) as f: kernels = f.read()
    out = {}
    for e in ELEMS:
        for kernel, short in (("gemm_row", "row"), ("gemm", "left")):
            for t in TILES:
                name = "g_%s_%s_%dx%dx%d" % (short, e, *t)
                out[name] = kernels + "instance %s = %s<%s, BM: %d, BN: %d, BK: %d>;\n" % (name, kernel, e, *t)
        for d in (64, 128):
            for causal in ("full", "causal"):
                for b in BLOCKS:
                    name = "a_%s_d%d_%s_%dx%d" % (e, d, causal, *b)
                    out[name] = kernels + "instance %s = attention<%s, %d, %s, %d, %d>;\n" % (name, e, d, "true" if causal == "causal" else "false", *b)
    return out


def trimmed(text, used):
    """Only the instances and entries that are used, in the variants of ROWS."""
    def instance(m):
        kept = [v for v in re.split(r",\s*", (m[3] or "").strip("{}")) if v.isdigit() and int(v) in ROWS]
        return "" if m[1] not in used else m[0].replace(m[3], "{%s}" % ", ".join(kept)) if kept else m[0]
    text = re.sub(r"(?m)^///.*\n", "", text)
    text = re.sub(r"(?m)^instance (\w+)( *=[^{;\n]*)(\{[^}]*\})?.*\n", instance, text)
    text = re.sub(r"(?ms)^entry (\w+).*?^\}\n", lambda m: m[0] if m[1] in used else "", text)
    return text


def sources():
    out = instances()
    for n, used in MEMORY.items():
        with open(os.path.join(os.path.dirname(HERE), "memory", n + ".tile")) as f: out[n] = trimmed(f.read(), used.split())
    return out


def called():
    """(file, function) of everything that is measured."""
    return [(name, name) for name in instances()] + [(file, fn) for file, used in MEMORY.items() for fn in used.split()]


def emit_side(o, side):
    """The texts; those of the samples that define instances of their own, too, lose these."""
    folder = os.path.join(o.dir, side)
    os.makedirs(folder, exist_ok=True)
    kernels = os.path.join(o.dir, "kernels")
    os.makedirs(kernels, exist_ok=True)
    for n in ("gemm", "attention"):
        with open(os.path.join(ROOT, "samples", n, n + ".tile")) as f: text = re.sub(r"(?m)^instance .*\n", "", f.read())
        with open(os.path.join(kernels, n + ".tile"), "w") as f: f.write(text)
    for name, text in sources().items():
        tile = os.path.join(folder, name + ".tile")
        with open(tile, "w") as f: f.write(text)
        target = ["--target=cuda-tile"] if side == "cuda-tile" else ["--arch=sm_90a"]
        subprocess.run([o.ctilec, "-w", "--line=off", "-I", kernels, *target, tile, "-o", tile[:-5] + ".cu"], check=True)
        os.remove(tile)


def compiled(o, side, text):
    """'' or why there is no library."""
    if side == "cuda": line = [o.nvcc, "-O3", "-std=c++17", "-w", "-arch=" + os.environ.get("CUDA_ARCH", "sm_90a")]
    else: line = [o.tile_nvcc, "-O3", "-std=c++20", "-w", "--enable-tile", "-arch=sm_90"]
    line += ["-cudart", "static", "-shared", "-Xcompiler", "-fPIC", "-o", text[:-3] + ".so", text]
    p = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try: said = p.communicate(timeout=COMPILE)[0]
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        return "nvcc takes more than %d seconds" % COMPILE
    return "" if p.returncode == 0 else "status %d: %s" % (p.returncode, said[:300])


def compile_side(o, side):
    folder = os.path.join(o.dir, side)
    texts = sorted((os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".cu")), key=lambda f: -os.path.getsize(f))
    bad = {}
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for text, said in zip(texts, pool.map(lambda t: compiled(o, side, t), texts)):
            if said:
                bad[os.path.basename(text)] = said
                print("%s, %s: %s" % (side, os.path.basename(text), said), flush=True)
    with open(os.path.join(folder, "build.json"), "w") as f:
        command = [o.nvcc if side == "cuda" else o.tile_nvcc, "--version"]
        json.dump(dict(nvcc=re.search(r"V([\d.]+)", subprocess.run(command, capture_output=True, text=True).stdout)[1], failed=bad), f)
    return bad


def tile_nvcc():
    r = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "get.py"), "--there", "nvcc-tile"], capture_output=True, text=True)
    if r.returncode: sys.exit(r.stderr.strip() + "\n`sh tools/setup.sh test` gets it")
    return r.stdout.strip()


def build(o):
    bad = {}
    for side in SIDES if o.side == "both" else [o.side]:
        if side == "cuda-tile" and not o.tile_nvcc: o.tile_nvcc = tile_nvcc()
        if o.ctilec: emit_side(o, side)
        bad.update(compile_side(o, side))
    if o.ctilec: version(o)
    return 1 if bad else 0


def emit(o):
    for side in SIDES: emit_side(o, side)
    version(o)
    return 0


def version(o):
    with open(os.path.join(o.dir, "ctilec.json"), "w") as f:
        json.dump(subprocess.run([o.ctilec, "--version"], capture_output=True, text=True).stdout.split("\n")[0], f)


# ---- run: one part, in a process of its own ----

class Harness:
    """ours(side, file, function, args): a call without arguments, or an exception that says what is missing."""
    def __init__(self, o):
        import torch
        self.torch, self.o, self.libs, self.shuffle = torch, o, {}, random.Random(16)
        torch.manual_seed(16)

    def lib(self, side, name):
        if (side, name) not in self.libs:
            # each has its own CUDA runtime: that of torch is another version
            lib = ctypes.CDLL(os.path.join(self.o.dir, side, name + ".so"), mode=os.RTLD_NOW | os.RTLD_DEEPBIND)
            lib.ctile_status_text.restype = ctypes.c_char_p
            self.libs[side, name] = lib
        return self.libs[side, name]

    def ours(self, side, file, name, args):
        lib = self.lib(side, file)
        size = getattr(lib, name + "_workspace")
        size.restype = ctypes.c_size_t
        need = size(*[ctypes.c_int64(a) for a in args if type(a) is int])
        space = self.torch.empty(need + 256, dtype=self.torch.uint8, device="cuda")
        c = [ctypes.c_int64(a) if type(a) is int else ctypes.c_float(a) if type(a) is float else ctypes.c_void_p(a.data_ptr()) for a in args]
        c += [ctypes.c_void_p(space.data_ptr() + 255 & -256), ctypes.c_size_t(need)]
        fn = getattr(lib, name + "_ws")

        def call(space=space):          # which keeps the workspace alive
            status = fn(*c, ctypes.c_void_p(self.torch.cuda.current_stream().cuda_stream))
            if status: raise RuntimeError("%s: %s" % (name, lib.ctile_status_text(status).decode()))
        return call

    def seconds(self, calls, n):
        torch = self.torch
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(1000000)
        a.record()
        for i in range(n): calls[i % len(calls)]()
        b.record()
        b.synchronize()
        return a.elapsed_time(b) / n * 1e-3

    def row(self, name, flops, sets, contestants, want, tolerance, library):
        """contestants: name -> a function of a set of arguments that gives a call; each writes sets[.][-1]. Ours are named SIDE TILE."""
        torch, wrong, calls, least = self.torch, {}, {}, {}
        for who, make in contestants.items():
            try:
                each = [make(s) for s in sets]
                sets[0][-1].fill_(float("nan"))
                got = each[0]()         # a library gives what it made, ours write what they were given
                torch.cuda.synchronize()
                error = want(sets[0][-1] if got is None else got)
                if not error <= tolerance: wrong[who] = "relative error %.1e" % error
                else:
                    for call in each: call()
                    torch.cuda.synchronize()
                    calls[who], least[who] = each, self.seconds(each, 1)
            except (RuntimeError, OSError, AttributeError) as e:
                wrong[who] = str(e).split("\n")[0][:200]
                if "CUDA error" in wrong[who] or "illegal" in wrong[who]: raise SystemExit("%s, %s: %s" % (name, who, wrong[who]))
        best = min(least.values(), default=1)
        slow = {who: t for who, t in least.items() if t > 20 * best}           # measured once
        times = {who: [] for who in calls if who not in slow}
        for _ in range(self.o.rounds):
            for who in self.shuffle.sample(list(times), len(times)):
                time.sleep(0.003)
                times[who].append(self.seconds(calls[who], max(2, min(40, int(8e-3 / least[who])))))
        times.update({who: [t] for who, t in slow.items()})
        rates, tiles = {}, {}
        scale = statistics.median(times[library]) if library in times else best
        for side in SIDES:
            mine = {who.split()[1]: statistics.median(t) for who, t in times.items() if who.startswith(side + " ")}
            if mine:
                tiles[NAMES[side]] = {k: flops / v * 1e-12 for k, v in mine.items()}
                rates[NAMES[side]] = figures(times["%s %s" % (side, min(mine, key=mine.get))], scale, flops, min(mine, key=mine.get))
        if library in times: rates[library] = figures(times[library], scale, flops)
        return dict(name=name, rates=rates, tiles=tiles, wrong=wrong)


def figures(times, scale, flops, tile=None):
    t = statistics.median(times)
    out = dict(us=t * 1e6, share=scale / t, low=scale / max(times), high=scale / min(times), tflops=flops / t * 1e-12)
    return dict(out, tile=tile) if tile else out


def norm_error(got, want):
    d = got.double() - want.double()
    return float(d.norm() / want.double().norm())


def gemm_rows(h):
    """Inputs take turns over more than the 60 MB of L2."""
    torch = h.torch
    for e in ELEMS:
        dtype = dict(bf16=torch.bfloat16, f16=torch.float16)[e]
        for m, n, k in SHAPES:
            for short in ("row", "left"):
                def run(e=e, dtype=dtype, m=m, n=n, k=k, short=short):
                    copies = max(2, min(8, int(200e6 / (2 * (m * k + k * n + m * n))) + 1))
                    sets = []
                    for _ in range(copies):
                        a, b = ((torch.rand(s, device="cuda") * 2 - 1).to(dtype) for s in ((m, k), (k, n) if short == "row" else (n, k)))
                        sets.append((a, b, torch.empty(m, n, device="cuda", dtype=dtype)))
                    view = (lambda b: b) if short == "row" else (lambda b: b.t())
                    rows = torch.randint(0, m, (min(m, 96),), device="cuda")
                    exact = sets[0][0][rows].double() @ view(sets[0][1]).double()

                    def want(c): return float("nan") if bool(torch.isnan(c).any()) else norm_error(c[rows], exact)
                    contestants = {"cuBLAS": lambda s: lambda: torch.matmul(s[0], view(s[1]), out=s[2])}
                    for side in SIDES:
                        for t in TILES:
                            contestants["%s %dx%dx%d" % (side, *t)] = lambda s, side=side, name="g_%s_%s_%dx%dx%d" % (short, e, *t): h.ours(
                                side, name, name, [*s, m, n, k])
                    return h.row(name, 2.0 * m * n * k, sets, contestants, want, 4e-3 if e == "bf16" else 6e-4, "cuBLAS")
                name = "gemm %s, b %s, %dx%dx%d" % (e, short, m, n, k)
                yield name, run


def attention_rows(h):
    """batch x length = 16,384, heads x d = 2,048: q, k, v and o are 67 MB each, more than L2."""
    torch = h.torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    for e in ELEMS:
        dtype = dict(bf16=torch.bfloat16, f16=torch.float16)[e]
        for d in (128, 64):
            for length in LENGTHS:
                for causal in (False, True):
                    def run(e=e, dtype=dtype, d=d, length=length, causal=causal):
                        batch, heads = max(1, 16384 // length), 2048 // d
                        q, k, v = (torch.randn(batch, heads, length, d, device="cuda", dtype=dtype) for _ in range(3))
                        out = torch.empty_like(q)
                        which = [(h.shuffle.randrange(batch), h.shuffle.randrange(heads)) for _ in range(2)]
                        exact = []
                        for b, i in which:
                            s = q[b, i].float() @ k[b, i].float().t() * d ** -0.5
                            if causal: s.masked_fill_(torch.ones(length, length, device="cuda", dtype=torch.bool).triu(1), float("-inf"))
                            exact.append(torch.softmax(s, -1) @ v[b, i].float())
                        exact = torch.stack(exact)

                        def want(o):
                            return float("nan") if bool(torch.isnan(o).any()) else norm_error(torch.stack([o[b, i] for b, i in which]), exact)

                        def library(s):
                            def call():
                                with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                                    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
                            return call
                        contestants = {"cuDNN": library}
                        for side in SIDES:
                            for t in BLOCKS:
                                contestants["%s %dx%d" % (side, *t)] = lambda s, side=side, name="a_%s_d%d_%s_%dx%d" % (
                                    e, d, "causal" if causal else "full", *t): h.ours(side, name, name, [q, k, v, s[-1], d ** -0.5, batch, heads, length, length, d])
                        return h.row(name, 4.0 * batch * heads * length * length * d * (0.5 if causal else 1), [(out,)], contestants, want,
                                     6e-3 if e == "bf16" else 1e-3, "cuDNN")
                    name = "attention %s d%d %s %d" % (e, d, "causal" if causal else "full", length)
                    yield name, run


def memory_rows(h):
    memory = memory_module()

    class Both(memory.Bench):
        """The same cases with two of our libraries."""
        side = "cuda"

        def lib(self, name): return h.lib(self.side, name)

        def ours_of(self, side, case, args):
            self.side = side
            return self.ours(case, args)

        def contestants(self, case, args):
            for side in SIDES: yield NAMES[side], lambda side=side: self.ours_of(side, case, args)
            yield "torch", lambda: lambda: case["torch"](*args)
    o = argparse.Namespace(dir=h.o.dir, rounds=h.o.rounds, device="cuda", peers="torch", step="run")
    bench, data = Both(o), memory.Data(h.torch, "cuda", False)
    for group in memory.cases.GROUPS:
        for case in group(data):
            if case["name"] in CASES: yield case["name"], lambda case=case: bench.run(case)


def memory_module():
    """../memory/bench.py, which has this file's name."""
    import importlib.util
    spec = importlib.util.spec_from_file_location("memory_bench", os.path.join(os.path.dirname(HERE), "memory", "bench.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def part(o):
    """Rows as lines of JSON; o.skip: those that are done."""
    h, skip = Harness(o), set(json.loads(o.skip))
    for name, run in dict(gemm=gemm_rows, attention=attention_rows, memory=memory_rows)[o.part](h):
        if name in skip or not re.search(o.only, name): continue
        print(json.dumps(dict(begins=name)), flush=True)
        try: row = run()
        except (RuntimeError, OSError, AttributeError) as e: row = dict(name=name, rates={}, wrong={"row": (str(e) or type(e).__name__).split("\n")[0][:300]})
        h.torch.cuda.empty_cache()
        print(json.dumps(dict(row=row)), flush=True)
    print(json.dumps(dict(ended=True)), flush=True)
    os._exit(0)


# ---- run: all parts ----

def rows_of(o, name, until):
    """The rows of one part; a process that hangs or crashes is begun again behind the row."""
    import queue
    import threading
    rows, done = [], []
    while time.monotonic() < until - 5:
        p = subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), "part", o.dir, "--part", name, "--rounds", str(o.rounds), "--only", o.only,
                              "--skip", json.dumps(done)], stdout=subprocess.PIPE, text=True, start_new_session=True)
        lines, current, ended, why = queue.Queue(), None, False, "crashes"
        threading.Thread(target=lambda p=p, lines=lines: [lines.put(l) for l in p.stdout] and None or lines.put(None), daemon=True).start()
        while True:
            try: line = lines.get(timeout=max(1, min(A_ROW if current else 2 * A_ROW, until - time.monotonic())))
            except queue.Empty:
                why = "hangs" if time.monotonic() < until else "no time was left"
                break
            if line is None: break
            try: said = json.loads(line)
            except ValueError: continue
            if "begins" in said: current = said["begins"]
            if "row" in said:
                rows.append(said["row"])
                show(said["row"])
                done.append(said["row"]["name"])
                current = None
            if "ended" in said:
                ended = True
                break
        try: os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError: pass
        p.wait()
        if ended: return rows
        if current is None:
            rows.append(dict(name=name + ": its process", rates={}, wrong={"process": why}))
            show(rows[-1])
            return rows
        rows.append(dict(name=current, rates={}, wrong={"row": why}))
        show(rows[-1])
        done.append(current)
    rows.append(dict(name=name + ": the rest", rates={}, wrong={"process": "no time was left"}))
    show(rows[-1])
    return rows


def show(row):
    r = row["rates"]
    ours, theirs = r.get("ctilec"), r.get("cuda-tile")
    times = "  ".join("%s %.1f us%s%s" % (n, v["us"], " %.0f TFLOP/s" % v["tflops"] if "tflops" in v else " %.1f %%" % (100 * v["share"]),
                                         " " + v["tile"] if v.get("tile") else "") for n, v in r.items())
    print("%-38s %s%s%s" % (row["name"], "x%.2f  " % (theirs["us"] / ours["us"]) if ours and theirs else "       ", times,
                            "".join("  %s: %s" % w for w in row["wrong"].items())), flush=True)


def run(o):
    if o.dry: return dry(o)
    start = time.monotonic()
    import torch
    memory = memory_module()
    versions = dict(torch=torch.__version__, cuda=torch.version.cuda)
    with open(os.path.join(o.dir, "ctilec.json")) as f: versions["ctilec"] = json.load(f)
    failed = {}
    for side in SIDES:
        with open(os.path.join(o.dir, side, "build.json")) as f: b = json.load(f)
        versions["nvcc of " + side] = b["nvcc"]
        failed.update({"%s/%s" % (side, n): w for n, w in b["failed"].items()})
    result = dict(device=torch.cuda.get_device_name(), versions=versions, rounds=o.rounds, not_compiled=failed, clocks_before=memory.clocks(), parts={})
    until = start + o.seconds
    shares = dict(zip(PARTS, (0.4, 0.7, 1)))
    for name in PARTS:
        result["parts"][name] = rows_of(o, name, min(until, start + o.seconds * shares[name]))
        result["seconds"], result["clocks_after"] = round(time.monotonic() - start), memory.clocks()
        memory.write(o.json, result)
    rows = [r for rows in result["parts"].values() for r in rows]
    bad = [r["name"] for r in rows if "ctilec" not in r["rates"] or "cuda-tile" not in r["rates"]]
    print("%d rows in %d s; without one of the two: %s" % (len(rows), result["seconds"], ", ".join(bad) or "none"))
    return 1 if bad or not rows else 0


def dry(o):
    """Every function that a row calls is in its library, on both sides."""
    missing = count = 0
    symbols = {}

    def has(side, file, name):
        if (side, file) not in symbols:
            path = os.path.join(o.dir, side, file + ".so")
            symbols[side, file] = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True).stdout if os.path.exists(path) else ""
        return re.search(r" T %s_ws\n" % re.escape(name), symbols[side, file])
    for side in SIDES if o.side == "both" else [o.side]:
        for file, name in called():
            count += 1
            if not has(side, file, name):
                missing += 1
                print("%s: %s has no %s" % (side, file, name))
    print("%d functions, %d missing" % (count, missing))
    return 1 if missing else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("step", choices=["build", "emit", "run", "part"])
    p.add_argument("paths", nargs="+")
    p.add_argument("--nvcc", default="nvcc")
    p.add_argument("--tile-nvcc", default="")
    p.add_argument("--side", default="both", choices=["both", *SIDES])
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--only", default="")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--seconds", type=float, default=200)
    p.add_argument("--json")
    p.add_argument("--part")
    p.add_argument("--skip", default="[]")
    p.add_argument("--dry", action="store_true")
    o = p.parse_args()
    o.dir = os.path.abspath(o.paths[-1])
    o.ctilec = os.path.abspath(o.paths[0]) if len(o.paths) == 2 else None
    if o.step == "emit" and not o.ctilec: p.error("emit takes CTILEC and DIR")
    return globals()[o.step](o)


if __name__ == "__main__":
    sys.exit(main())
