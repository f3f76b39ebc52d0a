"""Values of the corpus on target c, without torch or a GPU: check.py CTILEC DIR [--seed S] [--only REGEX] [--built]

Builds every source of this folder into DIR (--built: they lie there), draws small cases (table.py) and compares what the C functions write with the formulas,
by numpy. Around each array lie guards that must be untouched. Exit status 1 where a value is wrong."""
import argparse
import concurrent.futures
import ctypes
import glob
import math
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import arrays
import maps
import moves
import rows
import table

GUARD = 256
NUMBERS = dict(f32=ctypes.c_float, i32=ctypes.c_int32, u64=ctypes.c_uint64)


def integers(case):
    """Those of the numbers that f_workspace takes."""
    return [NUMBERS[k](v) for k, v in case.numbers if k != "f32"]


def cases(m, seed, small, device=None):
    t = table.Table(m, seed, small, device)
    for group in rows.GROUPS + maps.GROUPS + moves.GROUPS: yield from group(t)


def sources():
    return sorted(os.path.basename(p)[:-5] for p in glob.glob(os.path.join(HERE, "*.tile")))


def build_c(ctilec, cc, folder):
    def one(name):
        text, lib = os.path.join(folder, name + ".c"), os.path.join(folder, name + ".so")
        r = subprocess.run([ctilec, "-Wall", "--target=c", "-o", text, os.path.join(HERE, name + ".tile")], capture_output=True, text=True)
        if r.returncode or r.stderr:
            sys.exit(r.stderr or "ctilec failed")
        subprocess.run([cc, "-std=c11", "-O0", "-shared", "-fPIC", "-o", lib, text, "-lm"], check=True)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, sources()))


class Caller:
    """Runs cases through the C functions of DIR."""

    def __init__(self, m, folder):
        self.m, self.folder, self.libs = m, folder, {}

    def library(self, name):
        if name not in self.libs:
            self.libs[name] = ctypes.CDLL(os.path.join(self.folder, name + ".so"))
            self.libs[name].ctile_status_text.restype = ctypes.c_char_p
        return self.libs[name]

    def guarded(self, a, read):
        """Bytes with guards around the array's own."""
        np = self.m.np
        size = table.SIZE[a.type] * math.prod(a.shape)
        data = np.full(size + 2 * GUARD, 0xA5, np.uint8)
        if read is not None: data[GUARD:GUARD + size] = np.ascontiguousarray(read).reshape(-1).view(np.uint8)
        return data

    def run(self, case, inputs):
        """What is written, in order; or a message."""
        np, lib = self.m.np, self.library(case.file)
        given = iter(inputs)
        memory = [self.guarded(a, next(given) if isinstance(a, table.In) else None) for a in case.args]
        dims = [ctypes.c_int64(d) for d in case.dims]
        size = getattr(lib, case.function + "_workspace")
        size.restype = ctypes.c_size_t
        need = size(*integers(case), *dims)
        space = np.zeros(need + 512, np.uint8)
        at = (space.ctypes.data + 255) // 256 * 256
        status = getattr(lib, case.function + "_ws")(*[ctypes.c_void_p(d.ctypes.data + GUARD) for d in memory],
                                                    *[NUMBERS[k](v) for k, v in case.numbers], *dims, ctypes.c_void_p(at),
                                                    ctypes.c_size_t(need), None)
        if status: return lib.ctile_status_text(status).decode()
        for d in memory:
            if (d[:GUARD] != 0xA5).any() or (d[len(d) - GUARD:] != 0xA5).any(): return "memory outside of a tensor was written"
        return [d[GUARD:len(d) - GUARD].view(self.m.types[a.type]).reshape(a.shape)
                for a, d in zip(case.args, memory) if a in case.writes]


def differ(np, case, outs, want):
    """'' or what is wrong."""
    for a, got, w in zip(case.writes, outs, want, strict=True):
        tol = case.tol if case.tol is not None else table.TOLERANCE.get(a.type, 0)
        got, w = got.astype(np.float64).reshape(-1), np.asarray(w, np.float64).reshape(-1)
        if got.shape != w.shape: return "%d elements instead of %d" % (got.size, w.size)
        same = (got == w) | (np.isnan(got) & np.isnan(w))
        if tol == 0:
            if not same.all(): return "differs at %d of %d" % ((~same).sum(), got.size)
            continue
        d = np.where(same, 0, got - w)
        error = math.sqrt((d * d).sum() / max(1e-300, (np.where(np.isfinite(w), w, 0) ** 2).sum()))
        if not error <= tol: return "relative error %.1e" % error
    return ""


def sampled_wrong(np, case, inputs, outs):
    """Random numbers by their moments: loose, for few of them."""
    x = outs[0].astype(np.float64)
    many = 6 / math.sqrt(x.size)
    if case.function == "normal_numbers": return "" if abs(x.mean()) < many and abs(x.var() - 1) < 2 * many else "not normal"
    if case.function == "points_in_circle": return "" if abs(x.mean() / 8192 - math.pi / 4) < 0.02 else "not pi / 4"
    if case.function == "option_price": return "" if (x > 0.01).all() and (x < 0.3).all() else "out of range"
    kept = (x - inputs[2].astype(np.float64) if case.function == "bias_dropout_add" else x) != 0
    return "" if abs(kept.mean() - 0.75) < many + 0.01 else "keeps %.3f of all" % kept.mean()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("ctilec")
    p.add_argument("folder")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="")
    p.add_argument("--built", action="store_true")
    o = p.parse_args()
    os.makedirs(o.folder, exist_ok=True)
    if not o.built: build_c(os.path.abspath(o.ctilec), os.environ.get("CC", "cc"), o.folder)
    m = arrays.Numpy()
    caller, failed, named, families = Caller(m, o.folder), 0, set(), set()
    for case in cases(m, o.seed, True):
        named.add((case.file, case.function))
        families.add(case.family)
        if not re.search(o.only, case.name): continue
        inputs = [a.make() for a in case.reads]
        outs = caller.run(case, inputs)
        with m.np.errstate(all="ignore"):
            wrong = outs if isinstance(outs, str) else sampled_wrong(m.np, case, inputs, outs) if case.want is None else differ(
                m.np, case, outs, case.want(*inputs, *[v for _, v in case.numbers]))
        if wrong:
            failed += 1
            print("%s, seed %d: %s" % (case.name, o.seed, wrong))
    there = {(s, f) for s in sources() for f in re.findall(r"^int (\w+)_ws\(", open(os.path.join(o.folder, s + ".h")).read(), re.M)}
    for name in sorted(there ^ named): print("%s.%s: %s" % (*name, "without a case" if name in there else "not there"))
    print("%d cases of %d families, %d failed" % (len(named), len(families), failed))
    return 1 if failed or there != named or len(named) < 120 or len(families) < 24 else 0


if __name__ == "__main__":
    sys.exit(main())
