"""A suite: a list of cases, each some lines of `.tile` and calls of what they make, with the values that must come out.

    S = Suite("shapes")
    S.add("name", "kernel name(...) ...", lambda rng: [Call("name", x, Out(want), 7)])
    S.main(__doc__)

Every call runs twice. Its arrays lie once at aligned addresses and once as far up as their memory goes, so that an access
behind the end meets a page that is not there (C), or bytes whose change is seen (both targets). Inputs must come back unchanged.
"""
import argparse, copy, ctypes, mmap, os, re, subprocess, sys, tempfile, zlib
import numpy as np
import reference as ref
import runner
from runner import DTYPE

NAMES = {DTYPE[t]: t for t in DTYPE if t not in ("bool", "tf32")}
CANARY = 0xC9


class Out:
    """An array that is written: `want` is what it must hold afterwards, `start` what it holds before (other bytes when absent).
    bound: how far each element may be from `want`; without it bits must be equal, but that any NaN is any other.
    accept: a function of the array that was written, instead of `want`, which then gives the type and shape only.
    what: said when it is wrong."""
    def __init__(self, want, start=None, bound=None, accept=None, what=None):
        self.want, self.bound, self.accept, self.what = np.asarray(want, order="C"), bound, accept, what
        if start is None:
            start = np.full(self.want.nbytes, 0xA5, np.uint8).view(self.want.dtype).reshape(self.want.shape)
        self.start = np.ascontiguousarray(np.broadcast_to(start, self.want.shape)).astype(self.want.dtype)

    def fault(self, got):
        """None, or what is wrong."""
        if self.accept:
            return self.accept(got)
        if self.bound is not None:
            w, g = self.want.astype(np.longdouble), got.astype(np.longdouble)
            with np.errstate(all="ignore"):
                ok = (np.abs(g - w) <= self.bound) | (np.isnan(g) & np.isnan(w)) | (g == w)
        else:
            ok = ref.same(NAMES[self.want.dtype], got, self.want)
        if np.all(ok):
            return None
        at = tuple(int(i) for i in np.argwhere(~np.asarray(ok))[0])
        where = f" at {list(at)}" if at else ""
        return f"{int(np.sum(~ok))} of {ok.size} elements{where}: got {got[at]}, want {self.want[at]}"


class Workspace:
    """Bytes that may change: an argument of f_ws, aligned to 256."""
    def __init__(self, n, fill=0x5A):
        self.data = np.full(n, fill, np.uint8)


class At:
    """An address inside, or beside, the memory of another argument, which serves that alone: it is not passed itself."""
    def __init__(self, argument, offset):
        self.argument, self.offset = argument, offset


class Call:
    """args: arrays that are read, Out, numbers (Python ints are dimensions, numpy scalars have their own type), None for null.
    Without `status` the call must succeed; with it, it must refuse with that number and a text that contains `text`.
    aligned: never the tight placement."""
    def __init__(self, name, *args, status=0, text=None, aligned=False):
        self.name, self.args, self.status, self.text, self.aligned = name, list(args), status, text, aligned


def scalar(a):
    if isinstance(a, (bool, np.bool_)):
        return ctypes.c_uint8(int(a))
    if isinstance(a, int):
        return ctypes.c_int64(a)
    if a is None or isinstance(a, ctypes._SimpleCData):
        return ctypes.c_void_p(None) if a is None else a
    t = NAMES[a.dtype]
    if t in ("f16", "bf16"):
        return ctypes.c_uint16(int(a.view(np.uint16)))
    if t in ("f8e4m3", "f8e5m2"):
        return ctypes.c_uint8(int(a.view(np.uint8)))
    c = {"f32": ctypes.c_float, "f64": ctypes.c_double}.get(t) or getattr(ctypes, f"c_{'u' if t[0] == 'u' else ''}int{t[1:]}")
    return c(float(a) if t[0] == "f" else int(a))


class HostMemory:
    """Pages of their own, and one after them that cannot be touched."""
    def __init__(self, data, tight):
        page = mmap.PAGESIZE
        self.size = max(1, -(-data.nbytes // page)) * page
        libc = HostMemory.libc
        self.base = libc.mmap(None, self.size + page, 3, 0x22, -1, 0)
        libc.mprotect(ctypes.c_void_p(self.base + self.size), page, 0)
        self.view = np.ctypeslib.as_array((ctypes.c_uint8 * self.size).from_address(self.base))
        self.view[:] = CANARY
        self.at = self.size - data.nbytes if tight else 0
        self.bytes = data.nbytes
        self.view[self.at:self.at + self.bytes] = data.view(np.uint8).reshape(-1)
        self.pointer = ctypes.c_void_p(self.base + self.at)

    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

    def read(self):
        return self.view[:self.at].copy(), self.view[self.at:self.at + self.bytes].copy(), self.view[self.at + self.bytes:].copy()

    def free(self):
        HostMemory.libc.munmap(self.base, self.size + mmap.PAGESIZE)


class EmulatedMemory:
    """Memory that ends with the array: the emulation stops at an access after it. The tight placement has the alignment of one
    element only."""
    def __init__(self, lib, data, tight):
        lib.dev_alloc.restype = ctypes.c_void_p
        self.lib, self.bytes = lib, data.nbytes
        self.at = data.dtype.itemsize if tight else 0
        self.base = lib.dev_alloc(ctypes.c_size_t(self.at + self.bytes))
        ctypes.memset(self.base, CANARY, self.at)
        ctypes.memmove(self.base + self.at, data.ctypes.data, self.bytes)
        self.pointer = ctypes.c_void_p(self.base + self.at)

    def read(self):
        all = np.frombuffer(ctypes.string_at(self.base, self.at + self.bytes), np.uint8)
        return all[:self.at], all[self.at:], all[:0]

    def free(self):
        self.lib.dev_free(ctypes.c_void_p(self.base))


class CudaMemory:
    """Marked bytes before and after; the tight placement has the alignment of one element only. The arguments of one call lie in one
    piece of memory, so that two copies move them all: several processes share the GPU, and each copy waits for its turn."""
    MARGIN, ALIGN = 512, 512
    lib = device = host = None
    used = 0

    def __init__(self, lib, data, tight):
        own, self.bytes = CudaMemory, data.nbytes
        start = own.used
        self.at = start + own.MARGIN + (data.dtype.itemsize if tight else 0)
        self.end = self.at + self.bytes + own.MARGIN
        self.start, own.used = start, -(-self.end // own.ALIGN) * own.ALIGN
        own.make_room(lib, own.used)
        own.host[start:own.used] = CANARY
        own.host[self.at:self.at + self.bytes] = data.view(np.uint8).reshape(-1)

    @property
    def pointer(self):
        return ctypes.c_void_p(self.device.value + self.at)

    @classmethod
    def make_room(own, lib, size):
        if own.lib is lib and size <= len(own.host):
            return
        room, old = 1 << max(22, (size - 1).bit_length()), own.host
        if own.lib is not None:
            own.lib.cudaFree(own.device)
        own.lib, own.host, own.device = lib, np.empty(room, np.uint8), ctypes.c_void_p()
        if old is not None:
            own.host[:min(room, len(old))] = old[:room]
        own.check(lib.cudaMalloc(ctypes.byref(own.device), ctypes.c_size_t(room)), "cudaMalloc")

    @classmethod
    def upload(own):
        if own.used:
            own.check(own.lib.cudaMemcpy(own.device, ctypes.c_void_p(own.host.ctypes.data), ctypes.c_size_t(own.used), 1), "cudaMemcpy")

    @classmethod
    def download(own):
        if own.used:
            own.check(own.lib.cudaMemcpy(ctypes.c_void_p(own.host.ctypes.data), own.device, ctypes.c_size_t(own.used), 2), "a kernel")

    @staticmethod
    def check(status, what):
        if status:
            raise SystemExit(f"{what}: CUDA error {status}")

    def read(self):
        all = self.host[self.start:self.end].copy()
        at = self.at - self.start
        return all[:at], all[at:at + self.bytes], all[at + self.bytes:]

    def free(self):
        CudaMemory.used = 0


class Suite:
    def __init__(self, name):
        self.name, self.cases = name, []        # (case, source, calls, group)
        self.groups = {"": []}                  # name -> options of ctilec
        self.static = []                        # tests of the compiler alone: functions of (suite, ctilec) that give a list of faults
        self.after = []                         # further tests: functions of (suite, folder, target) that give a list of faults
        self.after_all = False                  # they call functions of any case

    def add(self, case, source, calls=None, group=""):
        assert case not in [c[0] for c in self.cases], case
        self.cases.append((case, source, calls, group))

    def case(self, source, group=""):
        """A decorator: the function's name is the case's, the function gives the calls."""
        def take(f):
            self.add(f.__name__, source, f, group)
            return f
        return take

    def keep_part(self, part, parts):
        """Leaves every parts-th case from the part-th, under a name of its own, and what has no calls, which others may use;
        further tests stay with the first part, unless they are of cases of all parts."""
        with_calls = [c for c in self.cases if c[2]]
        kept = with_calls[part - 1::parts]
        self.cases = [c for c in self.cases if not c[2] or c in kept]
        self.name = runner.part_name(self.name, part, parts)
        if part > 1 or self.after_all and parts > 1:
            self.after = self.static = []

    # ---- building ----
    def source(self, group=""):
        return "".join(s if s.endswith("\n") else s + "\n" for _, s, _, g in self.cases if g == group)

    def used(self):
        return [g for g in self.groups if any(c[3] == g for c in self.cases)]

    def library(self, folder, group):
        return os.path.join(folder, self.name + ("-" + group if group else "") + ".so")

    def build(self, ctilec, target, folder, flags=(), step=runner.build):
        """step: runner.build, or runner.emit for the texts alone."""
        for g in self.used():
            stem = os.path.basename(self.library(folder, g))[:-3]
            step(ctilec, target, self.source(g), folder, stem, [*self.groups[g], *flags])

    def each(self, ctilec, target, folder):
        """Which case does not compile?"""
        bad = 0
        for case, source, _, g in self.cases:
            try:
                runner.build(ctilec, target, source, folder, "case", [*self.groups[g]])
            except subprocess.CalledProcessError:
                print("FAILED to build", case)
                bad += 1
        return bad

    # ---- running ----
    def memory(self, lib, target, data, tight):
        if target in ("c", "tile"):
            return HostMemory(data, tight)
        return (CudaMemory if target in runner.ON_GPU else EmulatedMemory)(lib, data, tight)

    def once(self, lib, target, call, tight):
        """None, or what is wrong with one call."""
        held, where = [], {}
        for i, a in enumerate(call.args):
            if isinstance(a, (Out, np.ndarray, Workspace)):
                data = np.ascontiguousarray(a.start if isinstance(a, Out) else a.data if isinstance(a, Workspace) else a)
                where[i] = self.memory(lib, target, data, tight and not isinstance(a, Workspace) and not call.aligned)
                held.append((i, a, data, where[i]))
        if target in runner.ON_GPU:
            CudaMemory.upload()
        c, memory_only = [], {a.argument for a in call.args if isinstance(a, At)}
        for i, a in enumerate(call.args):
            if i in memory_only:
                continue
            if isinstance(a, At):
                c.append(ctypes.c_void_p(where[a.argument].pointer.value + a.offset))
            else:
                c.append(where[i].pointer if i in where else scalar(a))
        f = getattr(lib, call.name)
        f.restype = ctypes.c_int
        status = f(*c, ctypes.c_void_p(None))
        text = lib.ctile_status_text(status).decode()
        fault = None
        if status == 0 and target in runner.ON_GPU:
            status = lib.cudaDeviceSynchronize()
            if status:
                raise SystemExit(f"{call.name}: CUDA error {status} while running")
            CudaMemory.download()
        if status != call.status:
            fault = f"status {status} ({text}), want {call.status}"
        elif call.text is not None and call.text not in text:
            fault = f"the text of status {status} is {text!r}, it lacks {call.text!r}"
        for i, a, data, m in held:
            before, got, behind = m.read()
            if fault is None and not (np.all(before == CANARY) and np.all(behind == CANARY)):
                fault = f"argument {i}: bytes outside the array were written"
            got = got.view(data.dtype).reshape(data.shape)
            if fault is None:
                if isinstance(a, Workspace):
                    fault = None
                elif isinstance(a, Out) and call.status == 0:
                    fault = a.fault(got)
                elif not np.array_equal(got.view(np.uint8), data.view(np.uint8)):
                    fault = f"argument {i}, which is not to be written, was changed"
                if fault and not fault.startswith("argument"):
                    fault = f"{getattr(a, 'what', None) or f'argument {i}'}: {fault}"
            m.free()
        return fault

    def called(self, lib, target, case, make):
        """The number of calls of a case, and None or what is wrong with the first that is."""
        with np.errstate(all="ignore"):
            todo = list(make(np.random.default_rng(zlib.crc32(case.encode())))) if make else []
        bad = None
        for n, call in enumerate(todo):
            for tight in (False, True):
                fault = self.once(lib, target, call, tight)
                if fault and not bad:
                    ints = [a for a in call.args if isinstance(a, int) and not isinstance(a, bool)]
                    bad = f"call {n}, {call.name}{tuple(ints)}{', tight' if tight else ''}: {fault}"
        return 2 * len(todo), bad

    def run(self, folder, target):
        """Gives the number of cases that failed."""
        return runner.guarded(self.name, lambda box: self.inside(folder, target, box))

    def inside(self, folder, target, box):
        libs = {g: runner.load(self.library(folder, g), target)[0] for g in self.used()}
        failed = calls = 0
        for case, _, make, g in self.cases:
            runner.say(box, case)
            done, bad = self.called(libs[g], target, case, make)
            calls += done
            if bad:
                failed += 1
                print(f"FAILED {case}: {bad}")
        for f in self.after:
            runner.say(box, f.__name__)
            for fault in f(self, folder, target):
                failed += 1
                print(f"FAILED {f.__name__}: {fault}")
        total = len(self.cases) + len(self.after)
        print(f"{self.name}, target {target}: {total - failed} of {total} cases right, {calls} calls")
        return failed

    def main(self, doc):
        ap = argparse.ArgumentParser(description=doc.replace("%", "%%"), formatter_class=argparse.RawDescriptionHelpFormatter)
        ap.add_argument("what", choices=["emit", "build", "run", "test", "source", "each"])
        ap.add_argument("folder", nargs="?")
        ap.add_argument("--ctilec", default=os.environ.get("CTILEC", "build/ctilec"))
        ap.add_argument("--target", default="c")
        ap.add_argument("--option", action="append", default=[], help="a further option of ctilec")
        ap.add_argument("--only", default="", help="cases whose name contains this")
        ap.add_argument("--part", type=runner.part_of, default=(1, 1), help="I/N: every N-th case from the I-th")
        ap.add_argument("--parts", type=int, default=1, help="emit and build: all of them, each with texts of its own")
        a = ap.parse_args()
        self.keep_part(*a.part)
        if a.only:
            self.cases = [c for c in self.cases if a.only in c[0]]
            self.after = self.static = []
        if a.what == "source":
            for g in self.used():
                print(self.source(g), end="")
        elif a.what in ("emit", "build"):
            for i in range(1, a.parts + 1):
                part = copy.copy(self)
                part.keep_part(i, a.parts)
                part.build(a.ctilec, a.target, a.folder, a.option, getattr(runner, a.what))
        elif a.what == "run":
            sys.exit(self.run(a.folder, a.target) != 0)
        else:
            with tempfile.TemporaryDirectory() as d:
                if a.what == "each":
                    sys.exit(self.each(a.ctilec, a.target, d) != 0)
                self.build(a.ctilec, a.target, d, a.option)
                failed = self.run(d, a.target)
                for f in self.static if a.target == "c" else []:
                    for fault in f(self, a.ctilec):
                        failed += 1
                        print(f"FAILED {f.__name__}: {fault}")
                sys.exit(failed != 0)
