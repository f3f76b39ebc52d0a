#!/usr/bin/env python3
"""The same work by tiles of many sizes: how far each lies below the best. README.md has the method.

  sweep.py build CTILEC DIR [--nvcc PATH] [--only REGEX]     compile every tile of every family into DIR; no GPU needed
  sweep.py run DIR [--only REGEX] [--rounds N] [--json FILE]
  sweep.py meter CTILEC DIR [--arch LIST] [--record FILE]    registers, instructions, local memory of each tile; no GPU needed
  sweep.py page FILE.json ... [--json FILE]                  a table of each family; several parts of a run are joined

run needs torch and a GPU of sm_90a. Exit status 1 where a value is wrong or a case did not run."""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MEMORY = os.path.join(os.path.dirname(HERE), "memory")
sys.path[:0] = [HERE, MEMORY]
import bench

WORK = 27                               # log2 of the elements of a case
ROWS = ("softmax", "rmsnorm", "layernorm", "row_sum", "cumsum")
BAR = 0.85                              # of the best tile for the same work
COLUMNS = ("texts", "regs", "sass", "local")
LINE = [1 << n for n in range(5, 21)]   # tiles of one axis: 32 elements to 2^20
SQUARES = [(8, 8), (16, 16), (32, 32), (64, 64), (128, 128), (256, 256)]
FLAT = [(1, 32), (1, 256), (1, 1024), (1, 4096), (4, 256), (4, 1024), (16, 64), (16, 256), (64, 16), (256, 16), (1024, 4)]
LOOPS = [(1, 32), (1, 128), (1, 512), (1, 2048), (4, 32), (4, 512), (8, 256), (32, 32), (32, 64), (64, 64), (64, 16), (64, 256), (128, 128), (256, 16), (32, 2048)]
ONES = [(1, 1024), (4, 1024), (8, 8), (32, 32), (64, 64), (16, 256), (128, 128), (256, 256), (256, 16), (1024, 64)]
TURNED = SQUARES + [(8, 256), (256, 8), (32, 128), (128, 32), (64, 1024)]
STENCILS = [(1, 128), (1, 1024), (4, 32), (8, 8), (8, 32), (16, 64), (16, 128), (32, 32), (64, 64), (64, 16), (32, 256), (128, 128), (64, 1024), (256, 256)]


class Family:
    """One kernel and its tiles. `kernel` has a %s for the tile, args and want give what a tile of these extents needs."""

    def __init__(self, name, source, kernel, tiles, dims, arrays, want, out, tol):
        self.name, self.source, self.kernel, self.tiles = name, source, kernel, tiles
        self.dims, self.arrays, self.want, self.out, self.tol = dims, arrays, want, out, tol

    def instance(self, tile):
        return "%s_%s" % (self.name, words(tile))

    def text(self):
        lines = ['import "%s.tile";' % self.source]
        for tile in self.tiles:
            lines.append("instance %s = %s;" % (self.instance(tile), self.kernel % ", ".join(map(str, tile))))
        return "\n".join(lines) + "\n"

    def case(self, torch, data, tile):
        dims = self.dims(*tile)
        arrays = self.arrays(torch, data, tile, *dims)
        moved = 0
        args = []
        for shape, dtype in arrays:
            args.append(data.normal(shape, dtype))
            size = 1
            for e in shape: size *= e
            moved += size * torch.empty(0, dtype=dtype).element_size()
        out = self.out
        if self.name.startswith(("rmsnorm", "layernorm")): args.append(1e-5)
        return dict(name=self.instance(tile), call=(self.name, self.instance(tile)), args=[*args, *dims], out=[out],
                    want=lambda *a: [self.want(torch, tile, *a)], torch=None, bytes=moved, tol=self.tol)


def words(tile):
    return "x".join(map(str, tile))


def one(tiles):
    return [(n,) for n in tiles]


def rows_of(n):
    return 1 << WORK - n.bit_length() + 1, n


def square(*tile):
    return 1 << WORK // 2, 1 << (WORK + 1) // 2


def tall(*tile):
    return 1 << 16, 1 << WORK - 16


def parted(m, n):
    """Rows, columns, and parts of the rows so that a device is filled."""
    cols = 1 << 13
    return 1 << WORK - 13, cols, min(max(8, 2048 * n // cols), (1 << WORK - 13) // m)


def families():
    half = {"f32": "float32", "bf16": "bfloat16"}
    both = [("f32", 1e-6), ("bf16", 4e-3)]
    for t, tol in both:
        ty = half[t]
        same = lambda torch, data, tile, r, c, ty=ty: [((r, c), getattr(torch, ty))] * 2
        yield Family("add_" + t, "elementwise", "add_of<%s, %%s>" % t, one(LINE), lambda n: (1 << WORK,),
                     lambda torch, data, tile, n, ty=ty: [((n,), getattr(torch, ty))] * 3, lambda torch, tile, x, y, z, n: x.double() + y.double(), 2, tol)
        yield Family("map_" + t, "tiles", "map_of<%s, %%s>" % t, FLAT + SQUARES, square, same, lambda torch, tile, x, y, m, n: x.double() * x.double() - x.double(), 1, 2 * tol)
        yield Family("softmax_" + t, "softmax", "softmax_of<%s, %%s>" % t, one(LINE), rows_of, same, lambda torch, tile, x, y, r, c: torch.softmax(x.double(), 1), 1, tol)
        norm = lambda torch, data, tile, r, c, ty=ty: [((r, c), getattr(torch, ty)), ((c,), getattr(torch, ty)), ((r, c), getattr(torch, ty))]
        yield Family("rmsnorm_" + t, "norms", "rmsnorm_of<%s, %%s>" % t, one(LINE), rows_of, norm,
                     lambda torch, tile, x, w, y, e, r, c: (lambda v: v * torch.rsqrt((v * v).mean(1, keepdim=True) + e) * w.double())(x.double()), 2, 5e-3 if t == "bf16" else 1e-6)
        full = lambda torch, data, tile, r, c, ty=ty: [((r, c), getattr(torch, ty)), ((c,), getattr(torch, ty)), ((c,), getattr(torch, ty)), ((r, c), getattr(torch, ty))]
        yield Family("layernorm_" + t, "norms", "layernorm_of<%s, %%s>" % t, one(LINE), rows_of, full,
                     lambda torch, tile, x, w, b, y, e, r, c: torch.nn.functional.layer_norm(x.double(), (c,), w.double(), b.double(), e), 3, 5e-3 if t == "bf16" else 1e-6)
        yield Family("row_sum_" + t, "tiles", "row_sum_of<%s, %%s>" % t, one(LINE), rows_of,
                     lambda torch, data, tile, r, c, ty=ty: [((r, c), getattr(torch, ty)), ((r, 1), torch.float32)], lambda torch, tile, x, s, r, c: x.sum(1, keepdim=True, dtype=torch.float64), 1, 1e-5)
        yield Family("transpose_" + t, "move", "transpose_of<%s, %%s>" % t, TURNED, square,
                     lambda torch, data, tile, m, n, ty=ty: [((m, n), getattr(torch, ty)), ((n, m), getattr(torch, ty))], lambda torch, tile, x, y, m, n: x.t(), 1, 0)
    yield Family("cumsum_f32", "scan", "cumsum_of<f32, %s>", one(LINE), rows_of, lambda torch, data, tile, r, c: [((r, c), torch.float32)] * 2,
                 lambda torch, tile, x, y, r, c: torch.cumsum(x.double(), 1), 1, 1e-5)
    f32 = lambda shape: lambda torch, data, tile, *d: [(d[:2], torch.float32), (shape(tile, *d), torch.float32)]
    yield Family("sum1_loop", "tiles", "sum1_loop_of<%s>", LOOPS, tall, f32(lambda t, r, c: (r, 1)), lambda torch, tile, x, s, r, c: x.sum(1, keepdim=True, dtype=torch.float64), 1, 1e-5)
    yield Family("sum0_loop", "tiles", "sum0_loop_of<%s>", LOOPS, parted, f32(lambda t, r, c, p: (p, c)),
                 lambda torch, tile, x, s, r, c, p: x.view(-1, p, tile[0], c).sum((0, 2), dtype=torch.float64), 1, 1e-5)
    yield Family("sum1", "tiles", "sum1_of<%s>", ONES, square, f32(lambda t, r, c: (r, c // t[1])), lambda torch, tile, x, s, r, c: x.view(r, -1, tile[1]).sum(2, dtype=torch.float64), 1, 1e-5)
    yield Family("sum0", "tiles", "sum0_of<%s>", ONES, square, f32(lambda t, r, c: (r // t[0], c)), lambda torch, tile, x, s, r, c: x.view(-1, tile[0], c).sum(1, dtype=torch.float64), 1, 1e-5)
    yield Family("blur3", "stencil", "blur3_of<%s>", STENCILS, square, f32(lambda t, r, c: (r, c)), blurred, 1, 1e-6)
    yield Family("blur_separable", "stencil", "blur_of<3, %s>", [t for t in STENCILS if t[1] > 16], square, f32(lambda t, r, c: (r, c)), blurred, 1, 1e-6)


def blurred(torch, tile, x, y, h, w):
    p = torch.nn.functional.pad(x, (1, 1, 1, 1)).double()
    p = p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]
    return (p[:-2] + 2 * p[1:-1] + p[2:]) / 16


def chosen(o):
    found = list(families())
    for f in found: f.tiles = [t for t in f.tiles if re.search(o.only, f.instance(t))]
    return [f for f in found if f.tiles]


# ---- build ----

def emitted(o, family, arch):
    source = os.path.join(o.dir, family.name + ".tile")
    with open(source, "w") as f:
        f.write(family.text())
    subprocess.run([o.ctilec, "-I", HERE, "-I", MEMORY, source, "--arch=" + arch, "-o", source[:-5] + ".cu"], check=True)
    return source[:-5] + ".cu"


def nvcc_version(o):
    return re.search(r"V([\d.]+)", bench.output_of([o.nvcc, "--version"])).group(1)


def build(o):
    os.makedirs(o.dir, exist_ok=True)

    def one_library(family):
        text = emitted(o, family, "sm_90a")
        subprocess.run([o.nvcc, *bench.NVCC_OPTIONS, "-o", text[:-3] + ".so", text], check=True)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one_library, chosen(o)))
    with open(os.path.join(o.dir, "build.json"), "w") as f:
        json.dump({"ctilec": bench.output_of([o.ctilec, "--version"]).split("\n")[0], "nvcc": nvcc_version(o)}, f)


# ---- run ----

def run(o):
    import torch
    start = time.monotonic()
    o.step, o.device, o.peers = "run", "cuda", ""
    found = [f for f in chosen(o) if os.path.exists(os.path.join(o.dir, f.name + ".so"))]
    bench.FILES = tuple(f.name for f in found)
    b = bench.Bench(o)
    data = bench.Data(torch, "cuda", False)
    with open(os.path.join(o.dir, "build.json")) as f:
        versions = json.load(f)
    result = dict(device=torch.cuda.get_device_name(), versions=versions, rounds=o.rounds, families=[])
    failed = 0
    for family in found:
        rows = []
        for tile in family.tiles:
            try:
                row = b.run(family.case(torch, data, tile))
            except Exception as e:
                row = dict(bytes=0, wrong={"case": (str(e) or type(e).__name__).split("\n")[0]}, rates={})
            torch.cuda.empty_cache()
            own = row["rates"].get("ctilec")
            rows.append(dict(tile=tile, bytes=row["bytes"], wrong="; ".join(row["wrong"].values()), **(own or {})))
            failed += not own
        result["families"].append(dict(name=family.name, rows=rows))
        show(result["families"][-1])
        result["seconds"] = round(time.monotonic() - start)
        bench.write(o.json, result)
    print("%d s, %d failed" % (time.monotonic() - start, failed))
    return 1 if failed or not found else 0


def show(family):
    best = max((r.get("share", 0) for r in family["rows"]), default=0) or 1
    print(family["name"])
    for r in family["rows"]:
        if "share" not in r:
            print("  %-10s %s" % (words(r["tile"]), r["wrong"]))
            continue
        ratio = r["share"] / best
        print("  %-10s %5.1f %% of copy, %.2f of the best%s" % (words(r["tile"]), 100 * r["share"], ratio, "" if ratio >= BAR else "  <"), flush=True)


# ---- what nvcc makes of them ----

NAMED = re.compile(r"_((?:\d+x)*\d+)(?:_(?:parts|share|whole|rest)(?:_\d+)?)?(?:_single_trip|_single_tile|_small_tile|_short_axes(?:_[123])?)?(?:_sm\d+a?)?(?:_aligned|_shifted|_below_\d+|_peeled_\d+|_narrow|_private|_short|_portable)*$")


def measured(o, family, arch):
    """(tile, arch) -> columns of each tile: the greatest of its texts. And processor seconds of nvcc for a text."""
    text = emitted(o, family, arch)
    child = subprocess.Popen([o.nvcc, "-cubin", "-arch=" + arch, "-Xptxas", "-v", "-o", text + "bin", text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status or "C75" in said or "arning" in said:
        sys.exit("%s for %s:\n%s" % (family.name, arch, said[-3000:]))
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), "compile"))
    import meter
    found = meter.from_ptxas(said)
    if o.cuobjdump: meter.add_sass(found, o.cuobjdump, text + "bin")
    rows = {}
    for name, r in found.items():
        if name.startswith("clear_partials_"): continue         # clears the partial results of longrows: of no tile
        m = NAMED.search(name)
        tile = tuple(int(n) for n in m.group(1).split("x"))[-len(family.tiles[0]):] if m else None
        if tile not in family.tiles: sys.exit("%s: which tile is %s?" % (family.name, name))
        row = rows.setdefault(tile, dict.fromkeys(COLUMNS, 0))
        row["texts"] += 1
        row["local"] += r["stack"] + r["spill"] + r.get("local", 0)
        for c in ("regs", "sass"): row[c] = max(row[c], r.get(c, 0))
    if set(rows) != set(family.tiles): sys.exit("%s: no text for %s" % (family.name, sorted(set(family.tiles) - set(rows))))
    return rows, (usage.ru_utime + usage.ru_stime) / len(found)


def meter_all(o):
    os.makedirs(o.dir, exist_ok=True)
    lines, bad, texts, slowest = [], 0, 0, (0, "")
    for family in chosen(o):
        for arch in o.arch.split(","):
            rows, seconds = measured(o, family, arch)
            slowest = max(slowest, (seconds, "%s for %s" % (family.name, arch)))
            for tile in family.tiles:
                r = rows[tile]
                lines.append("%s %s %s %s" % (family.name, words(tile), arch, " ".join(str(r[c]) for c in COLUMNS)))
                texts += r["texts"]
                bad += r["local"] > 0
                if r["local"]: print("LOCAL " + lines[-1], flush=True)
    print("%d texts, %d tiles with local memory; at most %.2f s of nvcc for a text (%s)" % (texts, bad, *slowest))
    if o.record:
        with open(o.record, "w") as f:
            f.write("What nvcc makes of each tile of bench/tiles: the greatest of its texts. Command: bench/tiles/sweep.py meter build/ctilec DIR --record FILE\n")
            f.write("nvcc %s. local: bytes of stack and spills, and accesses of local memory\n\n" % nvcc_version(o))
            f.write("family tile arch %s\n%s\n" % (" ".join(COLUMNS), "\n".join(lines)))
    return 1 if bad else 0


# ---- page ----

def elements(tile):
    n = 1
    for e in tile: n *= e
    return n


def counts(family, row):
    """Whether the bar holds for it: 32 to 65,536 elements, rows to 2^20."""
    n = elements(row["tile"])
    return 32 <= n <= (1 << 20 if family["name"].startswith(ROWS) else 1 << 16)


def joined(paths):
    """Parts of a run as one; of a tile that several have, the last one's row counts."""
    all = None
    for path in paths:
        with open(path) as f: part = json.load(f)
        if all is None: all = dict(part, families=[], versions=[])
        all["rounds"] = min(all["rounds"], part["rounds"])
        each = part["versions"]
        all["versions"] += [v for v in (each if isinstance(each, list) else [each]) if v not in all["versions"]]
        for family in part["families"]:
            known = next((f for f in all["families"] if f["name"] == family["name"]), None)
            if known is None:
                all["families"].append(family)
                continue
            rows = {tuple(r["tile"]): r for r in known["rows"] + family["rows"]}
            known["rows"] = list(rows.values())
    return all


def page(o):
    all = joined(o.paths)
    bench.write(o.json, all)
    found = all["families"]
    below, total = [], 0
    groups = {}
    for f in found:
        best = max((r.get("share", 0) for r in f["rows"] if counts(f, r)), default=0)
        for r in f["rows"]:
            r["ratio"] = r.get("share", 0) / best if best else 0
            if counts(f, r):
                total += 1
                if r["ratio"] < BAR: below.append((r["ratio"], f["name"], r))
        groups.setdefault(tuple(tuple(r["tile"]) for r in f["rows"]), []).append(f)
    print("# The same work by tiles of many sizes\n")
    versions = "; ".join("%s, nvcc %s" % (v["ctilec"], v["nvcc"]) for v in all["versions"])
    print("%s; %s; medians of %d rounds or more. Command: [bench/tiles](../tiles/README.md). Each figure is the rate of a tile size in percent of the "
          "copy rate, beside it what that is of the best tile for the same work.\n" % (all["device"], versions, all["rounds"]))
    print("%d of %d tiles of 32 to 65,536 elements (rows: to 2^20) are within %d %% of the best. Those that are not, worst first:\n" % (total - len(below), total, round(100 - 100 * BAR)))
    print("| kernel | tile | % of copy | of the best |\n|---|---|---|---|")
    for ratio, name, r in sorted(below, key=lambda b: b[0]):
        print("| %s | %s | %s | %.2f |" % (name, words(r["tile"]), "%.1f" % (100 * r["share"]) if "share" in r else r["wrong"], ratio))
    for tiles, group in groups.items():
        print("\n| tile | %s |\n|---|%s" % (" | ".join(f["name"] for f in group), "---|" * len(group)))
        for i, tile in enumerate(tiles):
            cells = [f["rows"][i] for f in group]
            print("| %s | %s |" % (words(tile), " | ".join("%.1f · %.2f" % (100 * c.get("share", 0), c["ratio"]) for c in cells)))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("step", choices=["build", "run", "page", "meter"])
    p.add_argument("paths", nargs="+")
    p.add_argument("--nvcc", default="nvcc")
    p.add_argument("--only", default="", help="instances whose names match")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--json")
    p.add_argument("--cuobjdump", default=shutil.which("cuobjdump"))
    p.add_argument("--arch", default="sm_80,sm_90a,sm_100,sm_120")
    p.add_argument("--record")
    o = p.parse_args()
    o.dir, o.ctilec = o.paths[-1], o.paths[0]
    return {"build": build, "run": run, "page": page, "meter": meter_all}[o.step](o)


if __name__ == "__main__":
    sys.exit(main() or 0)
