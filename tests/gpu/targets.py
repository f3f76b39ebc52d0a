#!/usr/bin/env python3
"""The same programs through the targets c, cuda and cuda-tile on a GPU: the value suites, the samples' and the library's mains, and kernels
drawn at random (cuda/drawn.py, cuda/mixed.py).

  targets.py prepare CTILEC FOLDER [--random N] [--seed S] [--only REGEX] [--jobs N]   emits all texts; compiles those of cuda-tile with the
                        nvcc that has Tile C++, for sm_90. No GPU. What nvcc does not compile within its limit is named in FOLDER/refused.json.
  targets.py prepare ... --machine-code there   leaves the step from Tile IR to machine code, the longest by far, to `run`, which has more
                        cores: that part of NVIDIA's compiler travels in FOLDER/tools
  targets.py run FOLDER [--json FILE] [--seconds N] [--targets c,cuda,cuda-tile] [--only REGEX] [--first REGEX] [--jobs N]

`run` compiles the texts of c and cuda where they lie and calls everything. A group of programs has a process for each target: it says
before each case what it begins, so that a case that hangs or crashes is known and the next process begins after it. A suite's values
are numpy's: equal bits, or within the published bound; a drawn kernel of cuda or cuda-tile must agree with c. Verdicts: right, wrong,
hangs, crashes, refused (the compiler says so, or nvcc does), not built, not run (no time was left). Exit status 1: something is not right."""
import argparse
import collections
import concurrent.futures
import contextlib
import ctypes
import importlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
SUITES = {"casts": 16, "control": 6, "elementwise": 8, "memory": 3, "modes": 6, "products": 4, "rand": 1, "reductions": 12, "shapes": 8, "spans": 1}
TARGETS = "c", "cuda", "cuda-tile"
LONGEST = 60            # seconds that nvcc may take for the tile kernels of one file ...
MEMORY = 6 << 20        # ... and KiB of memory
A_CASE = 60             # seconds that a case may take, and the end of a process
ON_GPU = 6              # processes at a time: each makes a context, and more of them wait for each other
AS_FOUND = 15           # seconds between two writings of the results
RESTARTS = 6            # of the process of a group, each after a case that did not end well
BATCH = 16              # drawn kernels in a file
AT_ONCE = 128           # kernels at most that are drawn before it is asked which of them all targets take
SMALL = 70000           # bytes of CUDA of a drawn kernel at most
TILE = 8192             # elements of a tile of it at most


def folders(*names):
    """Where the modules lie: in the tree, or in a prepared folder."""
    for n in names:
        for d in (os.path.join(HERE, n), os.path.join(ROOT, "tests", n)):
            if os.path.isdir(d) and d not in sys.path: sys.path.insert(0, d)


# ---- prepare ----

def emitted(ctilec, target, tile, out, *options):
    return subprocess.run([ctilec, "-w", "--target=" + target, *options, tile, "-o", out], capture_output=True, text=True)


def tile_nvcc():
    r = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "get.py"), "--there", "nvcc-tile"], capture_output=True, text=True)
    if r.returncode: sys.exit(r.stderr.strip() + "\n`sh tools/setup.sh test` gets it")
    return r.stdout.strip()


def tile_command(nvcc, limit, *args):
    """Under limits of time and memory: some kernels keep NVIDIA's compiler for minutes and take all memory."""
    line = [nvcc, "--enable-tile", "-std=c++20", "-arch=sm_90", "-w", "-O0", "-cudart", "shared", *args]
    with tempfile.TemporaryDirectory() as d:
        p = subprocess.Popen(["sh", "-c", 'ulimit -v %d; exec "$@"' % MEMORY, "sh", *line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, start_new_session=True, env=dict(os.environ, TMPDIR=d))
        try:
            said = p.communicate(timeout=limit)[0]
            return "" if p.returncode == 0 else (said.strip() or "status %d" % p.returncode)[:300]
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            p.communicate()
            return "nvcc takes more than %d seconds" % limit


def tile_library(nvcc, text, limit=LONGEST):
    said = tile_command(nvcc, limit, "-shared", "-Xcompiler", "-fPIC", "-o", text[:-3] + ".so", text)
    if not said: subprocess.run(["strip", "-s", text[:-3] + ".so"])
    return said


# What stands for the machine code in an object file that has none yet.
LATER = """#ifndef __SKIP_INTERNAL_FATBINARY_HEADERS
#include "fatbinary_section.h"
#endif
extern "C" { extern const unsigned long long ct_machine_code[] __attribute__((visibility("hidden"))); }
static const __fatBinC_Wrapper_t __fatDeviceTextAlt __attribute__((aligned(8), section(".nvFatBinSegmentAlt"))) = { 0x466243b1, 1, ct_machine_code, 0 };
"""


def front_end(nvcc, text, limit=LONGEST):
    """Beside the text: its Tile IR (.tilebc) and its host part (.o). '' or what is wrong. The steps are nvcc's own, up to the one that makes machine code."""
    with tempfile.TemporaryDirectory() as d:
        stem, name = text[:-3], os.path.basename(text)[:-3]
        steps = subprocess.run([nvcc, "--enable-tile", "-std=c++20", "-arch=sm_90", "-w", "-O0", "-Xcompiler", "-fPIC", "-c", "-o", stem + ".o", text, "--dryrun", "--keep",
                                "--keep-dir", d], capture_output=True, text=True).stderr
        later = os.path.join(d, name + ".tile.fatbin.c")
        lines = [l[3:] for l in steps.splitlines() if l.startswith("#$ ")]
        lines = ["export " + l if re.match(r"(PATH|CICC_PATH|\w+_ROOT)=", l) else l for l in lines
                 if not (l.startswith(("tileiras", "rm ")) or later in l or re.match(r"(?!PATH|CICC_PATH|\w+_ROOT)\w+=", l))]
        with open(later, "w") as f: f.write(LATER)
        try: p = subprocess.run(["bash", "-ec", "\n".join(lines)], capture_output=True, text=True, timeout=limit, env=dict(os.environ, TMPDIR=d))
        except subprocess.TimeoutExpired: return "nvcc takes more than %d seconds" % limit
        if p.returncode: return (p.stderr.strip() or "status %d" % p.returncode)[:300]
        shutil.copy(os.path.join(d, name + ".tilebc"), stem + ".tilebc")
    subprocess.run(["strip", "--strip-unneeded", stem + ".o"])
    return ""


def prepare_suite(o, nvcc, name, parts):
    python = sys.executable
    at = os.path.join(HERE, "..", "values", name + ".py")
    for target in TARGETS:
        r = subprocess.run([python, "-B", at, "emit", os.path.join(o.folder, "texts", target), "--target", target, "--ctilec", o.ctilec, "--parts", str(parts)],
                           capture_output=True, text=True)
        if r.returncode: sys.exit("%s for %s: %s%s" % (name, target, r.stdout, r.stderr))
    lost = {"%s/%s" % (name, case): "the compiler refuses it" for case in re.findall(r"^refused: (\S+)", r.stdout, re.M)}
    folder = os.path.join(o.folder, "texts", "cuda-tile")
    files = sorted(f for f in os.listdir(folder) if f.split(".")[0].split("-")[0] == name and f.endswith(".cu"))
    compile = front_end if o.later else tile_library
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for f, said in zip(files, pool.map(lambda f: compile(nvcc, os.path.join(folder, f), 4 * LONGEST), files)):
            if said: lost["%s (a whole part)" % f] = said
    return lost


def mains(folder):
    """(name, main, .tile)"""
    found = []
    for n in sorted(os.listdir(os.path.join(ROOT, "samples"))):
        d = os.path.join(ROOT, "samples", n)
        if n != "picture" and os.path.exists(os.path.join(d, n + ".tile")): found.append((n, os.path.join(d, "main.c"), os.path.join(d, n + ".tile")))
    for d, n in [("stdlib", f[:-2]) for f in sorted(os.listdir(os.path.join(ROOT, "tests", "stdlib"))) if f.endswith(".c")] + [("orders", "litmus")]:
        tile = os.path.join(ROOT, "tests", d, n + ".tile")
        found.append((n, os.path.join(ROOT, "tests", d, n + ".c"), tile if os.path.exists(tile) else os.path.join(ROOT, "stdlib", n + ".tile")))
    return found


def prepare_main(o, nvcc, name, main, tile):
    """main.c with kernels of each target in a folder for it."""
    for target in TARGETS:
        d = os.path.join(o.folder, "texts", target, "mains", name)
        os.makedirs(d, exist_ok=True)
        with open(main) as f: text = f.read().replace("../../samples/common/", "")
        with open(os.path.join(d, "main.c"), "w") as f: f.write(text)
        r = emitted(o.ctilec, target, tile, os.path.join(d, name + (".c" if target == "c" else ".cu")))
        if r.returncode: return {"mains/" + name: r.stderr[:300]}
    inc = ["-I", d, "-I", os.path.join(ROOT, "samples", "common"), "-I", os.path.join(os.path.dirname(os.path.dirname(nvcc)), "include")]
    for source, out in ((os.path.join(d, "main.c"), "m.o"), (os.path.join(ROOT, "samples", "common", "device_cuda.c"), "d.o")):
        subprocess.run(["gcc", "-std=c11", "-O2", "-w", *inc, "-c", source, "-o", os.path.join(d, out)], check=True)
    if o.later:
        said = front_end(nvcc, os.path.join(d, name + ".cu"), 2 * LONGEST)
        if not said:
            subprocess.run(["ld", "-r", "-o", os.path.join(d, "run.o"), *[os.path.join(d, f) for f in (name + ".o", "m.o", "d.o")]], check=True)
            os.rename(os.path.join(d, name + ".tilebc"), os.path.join(d, "run.tilebc"))
    else: said = tile_command(nvcc, 2 * LONGEST, "-o", os.path.join(d, "run"), os.path.join(d, name + ".cu"), os.path.join(d, "m.o"), os.path.join(d, "d.o"), "-lm")
    for f in os.listdir(d):
        if f.split(".")[0] != "run": os.remove(os.path.join(d, f))
    return {"mains/" + name: said} if said else {}


def small(module, kernel, text):
    """Are its tiles small? Larger ones take NVIDIA's compiler long."""
    if module.__name__ == "mixed": return kernel.most <= TILE
    sizes = [n for m in re.findall(r"\[([\d, ]+)\]", text) for n in [eval("*".join(m.replace(" ", "").strip(",").split(",")))]]
    return max(sizes, default=0) <= TILE


def draw(o):
    """(module, kernel, text): those that all targets take, and whose CUDA is small."""
    folders("cuda", "run", "sim")
    os.environ["CTILEC"] = o.ctilec
    import drawn
    import mixed

    def taken(k):
        text = k.text()
        if not small(sys.modules[type(k).__module__], k, text): return None
        p = [subprocess.run([o.ctilec, "-w", "--no-header", "--line=off", t, "-", "-o", "-"], input=text, capture_output=True, text=True)
             for t in ("--target=cuda", "--target=cuda-tile")]
        return None if any(r.returncode for r in p) or len(p[0].stdout) > SMALL else text
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for module, count in ((drawn, o.random - o.random * 3 // 5), (mixed, o.random * 3 // 5)):
            begun = found = 0
            while found < count:
                some = [module.Kernel(o.seed, begun + i) for i in range(min(AT_ONCE, 8 * count))]
                begun += len(some)
                for k, text in zip(some, pool.map(taken, some)):
                    if text and found < count:
                        found += 1
                        yield module.__name__, k, text


def calls_of(module, kernel):
    if module == "mixed": return [{"sizes": kernel.sizes, "phases": kernel.phases, "mixed": True}]
    return [{"sizes": [size], "phases": phases, "exact": kernel.exact, "special": special} for size, special, phases in kernel.calls]


def prepare_drawn(o, nvcc, name, kernels):
    """A file of drawn kernels; those that nvcc does not compile alone either are left out."""
    def emit(stem, some):
        tile = os.path.join(o.folder, "texts", "cuda-tile", stem + ".tile")
        with open(tile, "w") as f: f.write("\n".join(text for _, text in some))
        texts = {}
        for target in TARGETS:
            texts[target] = os.path.join(o.folder, "texts", target, stem + (".c" if target == "c" else ".cu"))
            r = emitted(o.ctilec, target, tile, texts[target], "--line=off", "--no-header")
            if r.returncode: sys.exit("%s: %s" % (stem, r.stderr))
        return tile, texts
    lost = {}
    tile, texts = emit(name, kernels)
    library = front_end if o.later else tile_library
    if library(nvcc, texts["cuda-tile"]):
        left = []
        for k, text in kernels:
            _, one = emit(name + "_one", [(k, text)])
            said = library(nvcc, one["cuda-tile"], LONGEST // 2)
            if said: lost["%s/%s" % (name, k.name)] = said
            else: left.append((k, text))
            for t in one.values(): os.remove(t)
        for f in (name + "_one" + e for e in (".so", ".o", ".tilebc", ".tile")):
            if os.path.exists(os.path.join(o.folder, "texts", "cuda-tile", f)): os.remove(os.path.join(o.folder, "texts", "cuda-tile", f))
        kernels = left
        if not kernels: return lost
        tile, texts = emit(name, kernels)
        said = library(nvcc, texts["cuda-tile"], 4 * LONGEST)
        if said: return {**lost, name: said}
    manifest = subprocess.run([o.ctilec, "-w", "--emit=manifest", tile, "-o", "-"], check=True, capture_output=True, text=True)
    of = {k.name: k for k, _ in kernels}
    entries = [dict(entry=e, calls=calls_of(name.split("_")[0], of[e["name"]])) for e in json.loads(manifest.stdout)["entries"]]
    with open(os.path.join(o.folder, name + ".json"), "w") as f: json.dump(entries, f)
    return lost


def prepare(o):
    for t in TARGETS: os.makedirs(os.path.join(o.folder, "texts", t), exist_ok=True)
    nvcc, tasks, lost = tile_nvcc(), [], {}
    o.ctilec = os.path.abspath(o.ctilec)
    for n, parts in SUITES.items():
        if re.search(o.only, n): tasks.append((n, prepare_suite, n, parts))
    for m in mains(o.folder):
        if re.search(o.only, "mains/" + m[0]): tasks.append((m[0], prepare_main, *m))
    batches = collections.defaultdict(list)
    if re.search(o.only, "random"):
        for module, k, text in draw(o): batches[module].append((k, text))
    for module, all in batches.items():
        for i in range(0, len(all), BATCH): tasks.append(("%s_%d" % (module, i), prepare_drawn, "%s_%d" % (module, i), all[i:i + BATCH]))
    begin = time.monotonic()

    def one(name, f, *args):
        return f(o, nvcc, *args) if not name.startswith(("drawn_", "mixed_")) or time.monotonic() - begin < 60 * o.minutes else {}
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for f in concurrent.futures.as_completed([pool.submit(one, *t) for t in tasks]):
            lost.update(f.result())
            with open(os.path.join(o.folder, "refused.json"), "w") as out: json.dump(lost, out, indent=1)
    finish(o, nvcc)
    for name, why in lost.items(): print("left out: %s: %s" % (name, why.split("\n")[0]))
    print("%d tasks, %d left out" % (len(tasks), len(lost)))
    return 0


def finish(o, nvcc):
    """What a run needs beside the programs, and nothing that it does not."""
    folder = os.path.join(o.folder, "texts", "cuda-tile")
    for f in os.listdir(folder):
        if f.endswith((".cu", ".h", ".tile")): os.remove(os.path.join(folder, f))
    for t in ("c", "cuda"):
        for f in os.listdir(os.path.join(o.folder, "texts", t)):
            drawn = re.match(r"(drawn|mixed)_\d+", f)
            if f.endswith(".tile") or drawn and not os.path.exists(os.path.join(o.folder, drawn[0] + ".json")): os.remove(os.path.join(o.folder, "texts", t, f))
    for d, files in (("values", [n + ".py" for n in (*SUITES, "reference", "runner", "suite", "tables")]), ("cuda", ["compare.py"])):
        os.makedirs(os.path.join(o.folder, d), exist_ok=True)
        for n in files: shutil.copy(os.path.join(ROOT, "tests", d, n), os.path.join(o.folder, d))
    shutil.copytree(os.path.join(ROOT, "samples", "common"), os.path.join(o.folder, "common"), dirs_exist_ok=True)
    shutil.copy(os.path.abspath(__file__), o.folder)
    os.makedirs(os.path.join(o.folder, "lib"), exist_ok=True)
    cuda = os.path.dirname(os.path.dirname(nvcc))
    shutil.copy(os.path.join(cuda, "lib", "libcudart.so.13"), os.path.join(o.folder, "lib"))
    if o.later:
        for f in ("bin/tileiras", "bin/ptxas", "bin/fatbinary", "lib/libnvvm.so.4"):
            os.makedirs(os.path.dirname(os.path.join(o.folder, "tools", f)), exist_ok=True)
            shutil.copy(os.path.join(cuda, f), os.path.join(o.folder, "tools", f))


# ---- a worker: one group, one target ----

def say(**what):
    sys.stdout.write("\n" + json.dumps(what) + "\n")         # a kernel may have printed part of a line
    sys.stdout.flush()


def context(lib, target):
    """Made before the clock of the first case runs."""
    if target == "c": return
    status = lib.cudaFree(None)
    if status: raise SystemExit("no context: CUDA error %d" % status)


def worker_suite(o, name, part, parts, begun):
    folders("values")
    import runner
    module = importlib.import_module(name)
    stem = runner.part_name(name, part, parts)
    if not hasattr(module, "S"):
        module.PART = (part, parts)
        lib, dev = runner.load(os.path.join(o.folder, "texts", o.target, stem + ".so"), o.target)
        context(lib, o.target)
        for case, fault in module.verdicts(lib, dev, begun): say(case=case, fault=fault)
        return
    suite = module.S
    suite.keep_part(part, parts)
    with open(os.path.join(o.folder, "refused.json")) as f: lost = json.load(f) if o.target == "cuda-tile" else {}
    libs = {g: runner.load(suite.library(os.path.join(o.folder, "texts", o.target), g), o.target)[0] for g in suite.used()}
    for lib in libs.values(): context(lib, o.target)
    for case, _, make, g in suite.cases:
        if not make or not begun(case): continue
        if "%s/%s" % (name, case) in lost: say(case=case, refused=lost["%s/%s" % (name, case)])
        else: say(case=case, fault=suite.called(libs[g], o.target, case, make)[1])
    for f in suite.after:
        if begun(f.__name__, 2 * A_CASE): say(case=f.__name__, fault="; ".join(f(suite, os.path.join(o.folder, "texts", o.target), o.target)) or None)


def worker_drawn(o, name, begun):
    """The values of c are called again in each process: they cost little."""
    folders("cuda")
    import io
    from compare import Gpu, Target, anything, compare, equal, nearly
    host = Target(os.path.join(o.folder, "texts", "c", name + ".so"))
    device = host if o.target == "c" else Gpu(os.path.join(o.folder, "texts", o.target, name + ".so"))
    context(device.lib, o.target)
    with open(os.path.join(o.folder, name + ".json")) as f: entries = json.load(f)
    for e in entries:
        if not begun(e["entry"]["name"]): continue
        heard, bad = io.StringIO(), 0
        with contextlib.redirect_stdout(heard):
            for p in e["calls"]:
                how = dict(agree=equal, make=anything) if "mixed" in p else dict(agree=nearly(p["exact"]), special=p["special"])
                bad += compare(host, device, [e["entry"]], p["sizes"], p["phases"], ["0"], most=1 << 26, **how)[1]
        say(case=e["entry"]["name"], fault=heard.getvalue().strip()[:600] or "%d calls" % bad if bad else None)


def worker(o):
    """o.skip: cases that are done, or that ended a process before."""
    skip = set(o.skip.split(",")) if o.skip else set()

    def begun(case, seconds=A_CASE):
        if case in skip: return False
        say(begins=case, seconds=seconds)
        return True
    m = re.fullmatch(r"values/(\w+?)(?:\.(\d+)of(\d+))?", o.group)
    if m: worker_suite(o, m[1], int(m[2] or 1), int(m[3] or 1), begun)
    else: worker_drawn(o, o.group.split("/")[1], begun)
    say(ended=True)
    sys.stdout.flush()
    os._exit(0)         # what the CUDA runtime undoes at exit is no test's business


# ---- run ----

class Run:
    def __init__(self, o):
        self.o, self.verdicts, self.lock = o, collections.defaultdict(dict), threading.Lock()
        self.cuda = os.path.dirname(os.path.dirname(shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"))
        self.begin, self.gpu = time.monotonic(), threading.BoundedSemaphore(ON_GPU)

    def left(self): return self.o.seconds - (time.monotonic() - self.begin)

    def turn(self, target): return contextlib.nullcontext() if target == "c" else self.gpu

    def note(self, group, case, target, verdict, why=""):
        with self.lock: self.verdicts["%s/%s" % (group, case)][target] = [verdict, why] if why else [verdict]

    def env(self, target):
        first = os.path.join(self.o.folder, "lib") if target == "cuda-tile" else os.path.join(self.cuda, "lib64")
        return dict(os.environ, LD_LIBRARY_PATH=first + os.pathsep + os.environ.get("LD_LIBRARY_PATH", ""), PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1",
                    OPENBLAS_NUM_THREADS="1")

    def command(self, line, seconds, target="cuda", env={}):
        """(status, output): ended with its children when its time is over."""
        p = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
                             env=dict(self.env(target), **env))
        try:
            out = p.communicate(timeout=max(seconds, 1))[0]
            return p.returncode, out
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            try: p.communicate(timeout=5)
            except subprocess.TimeoutExpired: pass
            return None, "more than %d seconds" % seconds

    def compile(self, target, text, out, *more):
        if target == "c": line = ["gcc", "-std=c11", "-O1", "-w", "-ffp-contract=off", "-o", out, text, *more, "-lm"]
        else: line = ["nvcc", "-O0", "-std=c++17", "-w", "-arch=" + os.environ.get("CUDA_ARCH", "sm_90a"), "-cudart", "shared", "-o", out, text, *more]
        status, said = self.command(line, min(150, self.left() - 5))
        return "" if status == 0 else "status %s: %s" % (status, said[:300])

    def machine_code(self, at, out, *more):
        """of AT.tilebc, linked with AT.o"""
        tools = os.path.join(self.o.folder, "tools")
        env = dict(CUDA_ROOT=tools, PATH=os.path.join(tools, "bin") + os.pathsep + os.environ["PATH"])
        for line in ([os.path.join(tools, "bin", "tileiras"), "-w", "--host-arch=x86_64", "--host-os=linux", "-arch=sm_90", at + ".tilebc", "-o", at + ".cubin"],
                     [os.path.join(tools, "bin", "fatbinary"), "-64", "--create=" + at + ".fatbin", "--image3=kind=elf,sm=90,file=" + at + ".cubin"]):
            status, said = self.command(line, min(5 * LONGEST, self.left() - 5), env=env)
            if status != 0: return "status %s: %s" % (status, said[:300])
        with open(at + ".fat.s", "w") as f:
            f.write('.section .nv_fatbin, "a"\n.align 8\n.globl ct_machine_code\n.hidden ct_machine_code\nct_machine_code:\n.incbin "%s.fatbin"\n'
                    '.section .note.GNU-stack, ""\n' % at)
        status, said = self.command(["gcc", *more, "-o", out, at + ".o", at + ".fat.s", "-L" + os.path.join(self.o.folder, "lib"), "-l:libcudart.so.13", "-lstdc++", "-lm"], 60)
        return "" if status == 0 else said[:300]

    # ---- groups ----
    def libraries(self, stems, target):
        """What is wrong with building them; empty when they are there."""
        for stem in stems:
            at = os.path.join(self.o.folder, "texts", target, stem)
            if target == "cuda-tile":
                if os.path.exists(at + ".tilebc"):
                    said = self.machine_code(at, at + ".so", "-shared")
                    if said: return said
                elif not os.path.exists(at + ".so"): return "nvcc does not compile it (refused.json)"
                continue
            shared = ["-shared", "-fPIC"] if target == "c" else ["-shared", "-Xcompiler", "-fPIC"]
            said = self.compile(target, at + (".c" if target == "c" else ".cu"), at + ".so", *shared)
            if said: return said
        return ""

    def group(self, name, stems):
        """Of libraries: a suite's part or drawn kernels."""
        host = ["c"] if name.startswith("random/") or "c" in self.o.targets else []
        for target in [*host, *[t for t in self.o.targets if t != "c"]]:
            if self.left() < 8:
                self.note(name, "*", target, "not run")
                continue
            said = self.libraries(stems, target)
            if said: self.note(name, "*", target, "not built", said)
            elif target in self.o.targets: self.worked(name, target)

    def worked(self, name, target):
        done = []
        for _ in range(RESTARTS + 1):
            if self.left() < 4: return self.note(name, "*", target, "not run")
            with self.turn(target): ended, case = self.process(name, target, done)
            if ended or case is None: return None
        return self.note(name, "*", target, "not run", "its process ended %d times" % (RESTARTS + 1))

    def process(self, name, target, done):
        """(it ended, the case at which it did not); done: cases that it has not to run, to which what it ran is added."""
        o = self.o
        line = [sys.executable, "-B", os.path.abspath(__file__), "worker", o.folder, "--group", name, "--target", target, "--skip", ",".join(done)]
        p = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
                             env=self.env(target))
        lines, errors = queue.Queue(), []
        threading.Thread(target=lambda: [lines.put(l) for l in p.stdout] and None or lines.put(None), daemon=True).start()
        threading.Thread(target=lambda: errors.extend(p.stderr), daemon=True).start()
        case, how, limit = None, "", 2 * A_CASE
        while True:
            try: line = lines.get(timeout=max(1, min(limit, self.left() - 1)))
            except queue.Empty:
                how = "hangs"
                break
            if line is None: break
            try: said = json.loads(line)
            except ValueError: continue         # a kernel prints, too
            if not isinstance(said, dict): continue
            if "begins" in said: case, limit = said["begins"], said["seconds"]
            elif "ended" in said:
                try: p.wait(A_CASE)
                except subprocess.TimeoutExpired: os.killpg(p.pid, signal.SIGKILL)
                return True, None
            elif "case" in said:
                verdict = "refused" if "refused" in said else "wrong" if said["fault"] else "right"
                self.note(name, said["case"], target, verdict, said.get("refused") or said["fault"] or "")
                done.append(said["case"])
                case = None
        try: os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError: pass
        try: p.wait(5)
        except subprocess.TimeoutExpired: pass
        time.sleep(0.05)
        why = " ".join("".join(errors).split())[-300:]
        verdict = "not run" if how and self.left() < 2 else how or "crashes"
        if case is None:
            self.note(name, "*", target, verdict, why or "between two cases")
            return False, None
        self.note(name, case, target, verdict, why)
        done.append(case)
        return False, case

    def main(self, name):
        """A main with the kernels of each target: right when it says so."""
        for target in self.o.targets:
            d = os.path.join(self.o.folder, "texts", target, "mains", name)
            if self.left() < 8: self.note("mains", name, target, "not run")
            elif not os.path.isdir(d): self.note("mains", name, target, "not built")
            else:
                built = os.path.join(d, "run")
                if target != "cuda-tile": said = self.main_built(d, name, target)
                else: said = self.machine_code(built, built) if os.path.exists(built + ".tilebc") else ""
                if not said and not os.path.exists(os.path.join(d, "run")): said = "nvcc does not compile it (refused.json)"
                if said:
                    self.note("mains", name, target, "not built", said)
                    continue
                os.chmod(os.path.join(d, "run"), 0o755)
                with self.turn(target): status, text = self.command([os.path.join(d, "run")], max(2, min(A_CASE, self.left() - 2)), target)
                verdict = "right" if status == 0 else "hangs" if status is None else "crashes" if status < 0 else "wrong"
                wrong = [line for line in text.splitlines() if ", ok" not in line]
                self.note("mains", name, target, verdict, "" if status == 0 else " ".join((" ".join(wrong) or text).split())[-400:])

    def main_built(self, d, name, target):
        """'' or what a compiler says."""
        here, common = lambda *n: os.path.join(d, *n), os.path.join(self.o.folder, "common")
        if target == "c":
            return self.compile("c", here(name + ".c"), here("run"), here("main.c"), os.path.join(common, "device_host.c"), "-I", d, "-I", common)
        for source, out in ((here("main.c"), here("m.o")), (os.path.join(common, "device_cuda.c"), here("d.o"))):
            status, text = self.command(["gcc", "-std=c11", "-O2", "-w", "-I", d, "-I", common, "-I", os.path.join(self.cuda, "include"), "-c", source,
                                         "-o", out], 60)
            if status != 0: return text[:300]
        return self.compile("cuda", here(name + ".cu"), here("run"), here("m.o"), here("d.o"))

    def tasks(self):
        """Those of --first, and those that take longest first."""
        folder = os.path.join(self.o.folder, "texts", "cuda")
        size = lambda f: os.path.getsize(os.path.join(folder, f))
        found = []
        mains = os.path.join(folder, "mains")
        for n in os.listdir(mains) if os.path.isdir(mains) else []: found.append((size("mains/%s/%s.cu" % (n, n)) * 2, self.main, n))
        stems = {}
        for f in os.listdir(folder):
            if f.endswith(".cu"): stems.setdefault(re.sub(r"^(control[^-]*)-\w+", r"\1", f[:-3]), []).append(f[:-3])
        for stem, all in stems.items():
            drawn = re.match(r"(drawn|mixed)_", stem)
            found.append((sum(size(s + ".cu") for s in all), self.group, ("random/" if drawn else "values/") + stem, sorted(all)))
        name = lambda t: "mains/" + t[2] if t[1] == self.main else t[2]
        found.sort(key=lambda t: (not re.search(self.o.first, name(t)), -t[0]))
        return [t[1:] for t in found if re.search(self.o.only, name(t))]


def counted(verdicts, targets):
    """kind -> target -> verdict -> how many cases."""
    out = {}
    for case, of in verdicts.items():
        for target, v in of.items():
            if target in targets:
                c = out.setdefault(case.split("/")[0], {}).setdefault(target, collections.Counter())
                c[v[0]] += 1
    return out


def device():
    try: return subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip()
    except OSError: return "none"


def run(o):
    o.folder, o.targets = os.path.abspath(o.folder), o.targets.split(",")
    r = Run(o)
    with open(os.path.join(o.folder, "refused.json")) as f: refused = json.load(f)

    def one(task):
        try: task[0](*task[1:])
        except Exception as e: r.note("harness", task[1], "all", "wrong", repr(e)[:300])

    def results():
        with r.lock: result = dict(device=gpu, seconds=round(time.monotonic() - r.begin), counts=counted(r.verdicts, [*o.targets, "all"]), refused=refused,
                                   verdicts={c: dict(of) for c, of in sorted(r.verdicts.items())})
        if o.json:
            with open(o.json + ".part", "w") as f: json.dump(result, f, indent=0)
            os.replace(o.json + ".part", o.json)
        return result
    gpu = device()
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        waiting = {pool.submit(one, t) for t in r.tasks()}
        while waiting:          # a run that is cut off has left what it found by then
            waiting = concurrent.futures.wait(waiting, AS_FOUND)[1]
            results()
    result = results()
    bad = {c: of for c, of in sorted(r.verdicts.items()) if any(v[0] not in ("right", "refused") for v in of.values())}
    for case, of in list(bad.items())[:60]:
        print("%s: %s" % (case, "; ".join("%s %s" % (t, ": ".join(v)[:160]) for t, v in of.items())))
    for kind, of in sorted(result["counts"].items()):
        for target, c in of.items(): print("%-8s %-10s %s" % (kind, target, "  ".join("%s %d" % v for v in sorted(c.items()))))
    print("%d cases in %d s on %s, %d not right, %d left out before" % (len(r.verdicts), result["seconds"], result["device"], len(bad), len(refused)))
    return 1 if bad or not r.verdicts else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("step", choices=["prepare", "run", "worker"])
    p.add_argument("paths", nargs="+")
    p.add_argument("--random", type=int, default=1000)
    p.add_argument("--seed", type=int, default=16)
    p.add_argument("--minutes", type=float, default=25, help="prepare: no drawn kernels are begun later")
    p.add_argument("--machine-code", choices=["here", "there"], default="here")
    p.add_argument("--only", default="")
    p.add_argument("--first", default="", help="run: what begins before the others")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--json")
    p.add_argument("--seconds", type=float, default=230)
    p.add_argument("--targets", default=",".join(TARGETS))
    p.add_argument("--target")
    p.add_argument("--group")
    p.add_argument("--skip", default="")
    o = p.parse_args()
    o.folder, o.later = o.paths[-1], o.machine_code == "there"
    if o.step == "prepare": o.ctilec = o.paths[0]
    sys.exit(globals()[o.step](o))


if __name__ == "__main__":
    main()
