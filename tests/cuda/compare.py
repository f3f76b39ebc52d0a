"""One program built for two targets, called with the same numpy arrays: what diff.py and tests/gpu/texts.py share.

A line `// sizes: {"m": 1}, {"m": 7}` of the source gives the extents to call with in place of the usual ones; `// phases: 0, 1, 5` has
each tensor begin some elements after a multiple of 256 bytes, another one in each call. What lies around tensors must stay as it is.
Float sums may differ in their last bits (the order of combination is the target's); all else must be equal bit for bit."""
import ctypes
import itertools
import json
import os
import re
import sys

import numpy as np

SIZES = [{}, {"m": 1, "n": 1, "k": 1}, {"m": 7, "n": 5, "k": 9}, {"m": 64, "n": 64, "k": 64}, {"m": 129, "n": 70, "k": 33},
         {"m": 2, "n": 1000, "k": 17}, {"m": 3, "n": 4096, "k": 3}, {"m": 1, "n": 65536, "k": 1}, {"m": 100, "n": 700, "k": 40}]
DTYPE = {"bool": "u1", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
         "f16": "f2", "bf16": "u2", "tf32": "f4", "f32": "f4", "f64": "f8", "f8e4m3": "u1", "f8e5m2": "u1"}


def data(kind, shape, rng, name, dims):
    if kind == "bool":
        return rng.integers(0, 3, shape).astype("u1")
    if kind == "bf16":
        return (rng.integers(-8, 8, shape).astype("f4").view("u4") >> 16).astype("u2")
    if kind in ("f8e4m3", "f8e5m2"):
        return rng.choice(np.array([0, 0x38, 0xb8, 0x3c, 0x40, 0xc0], "u1"), shape)
    if kind[0] in "iu":
        if name == "k":                 # indices, some outside
            top = max(dims.get("n", 1), 1)
            if kind == "i64":
                return rng.permutation(top).astype("i8")[: int(np.prod(shape))].reshape(shape)
            return rng.integers(-3, top + 3, shape).astype(DTYPE[kind])
        lo, hi = (0, 100) if kind[0] == "u" else (-50, 50)
        return rng.integers(lo, hi, shape).astype(DTYPE[kind])
    if kind == "f16" or kind == "tf32":
        return rng.integers(-8, 8, shape).astype(DTYPE[kind])
    return (rng.integers(-64, 64, shape) / 4).astype(DTYPE[kind])


def anything(kind, shape, rng, name, dims):
    """Small numbers, or any bits."""
    if kind == "bool" or rng.random() < 0.4: return data(kind, shape, rng, "", dims)
    t = np.dtype(DTYPE[kind])
    a = np.frombuffer(rng.bytes(int(np.prod(shape)) * t.itemsize), "u%d" % t.itemsize).copy()
    if kind == "tf32": a &= np.uint32(0xffffe000)
    if kind[0] in "iu" and rng.random() < 0.3: a = (a % 5).astype(a.dtype)
    return a.view(t).reshape(shape)


def evaluate(text, dims):
    text = re.sub(r"cdiv\(([^,]+), ([^)]+)\)", r"(-(-(\1) // (\2)))", text)
    return int(eval(text.replace("/", "//").replace("////", "//"), {}, dict(dims)))


def extents(param, dims):
    """Of a tensor, or how many elements it has from its first to its last where others lie between them."""
    shape, strides = [[evaluate(s, dims) for s in param[what]] for what in ("shape", "strides")]
    span = 1 + sum((n - 1) * s for n, s in zip(shape, strides)) if all(shape) else 0
    return shape if span == int(np.prod(shape)) else [span]


def each_variant(text):
    """An instance for each member of its sets: else only the first that fits would run."""
    def split(m):
        name, rest = m.group(1), m.group(2)
        sets = re.findall(r"\{([^}]*)\}", rest)
        out = []
        for i, combo in enumerate(itertools.product(*[[v.strip() for v in s.split(",")] for s in sets])):
            one = rest
            for v in combo:
                one = re.sub(r"\{[^}]*\}", v, one, count=1)
            out.append("instance %s_%d = %s;" % (name, i, one))
        return " ".join(out)
    return re.sub(r"(?m)^instance (\w+) = (.*\{.*);$", split, text)


def section(text, name):
    parts = re.split(r"(?m)^// ---- ", text)
    found = [p for p in parts[1:] if p.startswith(name)]
    if name and len(found) != 1:
        sys.exit("no section `%s`" % name)
    return "// " + found[0] if name else text


def told(text, what, usual):
    """The list of a line `// what: ...` of a source."""
    own = re.search(r"(?m)^// %s: (.*)$" % what, text)
    return json.loads("[%s]" % own.group(1)) if own else usual


class Target:
    """The C target: arrays are the host's."""
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.ctile_status_text.restype = ctypes.c_char_p

    def text(self, status):
        return self.lib.ctile_status_text(status).decode()

    def workspace(self, entry, dims):
        """How many bytes of it a call makes use of: `entry` runs without, another way."""
        need = getattr(self.lib, entry + "_workspace")
        need.restype = ctypes.c_size_t
        return need(*[ctypes.c_int64(d) for d in dims])

    def run(self, entry, args, dims, workspace=None, size=0):
        given = [ctypes.c_void_p(a) for a in args] + [ctypes.c_int64(d) for d in dims]
        if not size: return getattr(self.lib, entry)(*given, None)
        return getattr(self.lib, entry + "_ws")(*given, ctypes.c_void_p(workspace), ctypes.c_size_t(size), None)

    def call(self, entry, arrays, dims, phases):
        held = []
        for a in arrays:
            raw = np.zeros(a.nbytes + 256, "u1")
            at = -raw.ctypes.data % 256
            b = raw[at: at + a.nbytes].view(a.dtype).reshape(a.shape)
            b[...] = a
            held.append(b)
        status = self.run(entry, [b.ctypes.data for b in held], dims)
        return status, [b.copy() for b in held]


class Device(Target):
    """Arrays are copied to memory of its own, which `allocate`, `put`, `get` and `free` know, with bytes around them that nobody may change."""
    BEHIND = 0

    def call(self, entry, arrays, dims, phases, size=0):
        """size: of the workspace, in which any bytes lie; 0: there is none."""
        held, out = [], []
        for a, phase in zip(arrays, phases):
            front = phase * a.itemsize
            p = self.allocate(front + a.nbytes + self.BEHIND)
            self.put(p, b"\xa5" * front + a.tobytes() + b"\xa5" * self.BEHIND)
            held.append((p, front))
        workspace = self.allocate(size + self.BEHIND) if size else None
        if size: self.put(workspace, b"\x5a" * (size + self.BEHIND))
        status = self.run(entry, [p + front for p, front in held], dims, workspace, size)
        if size:
            if self.get(workspace + size, self.BEHIND) != b"\x5a" * self.BEHIND: sys.exit("%s writes behind its workspace" % entry)
            self.free(workspace)
        for a, (p, front) in zip(arrays, held):
            b = self.get(p, front + a.nbytes + self.BEHIND)
            if b[:front] != b"\xa5" * front or b[front + a.nbytes:] != b"\xa5" * self.BEHIND:
                sys.exit("%s writes around a tensor" % entry)
            self.free(p)
            out.append(np.frombuffer(b, a.dtype, a.size, front).reshape(a.shape))
        return status, out


class Emulated(Device):
    """The emulation itself stops at what reaches beyond its memory."""
    def __init__(self, path):
        super().__init__(path)
        self.lib.dev_alloc.restype = ctypes.c_void_p

    def allocate(self, size): return self.lib.dev_alloc(ctypes.c_size_t(size))
    def put(self, p, b): ctypes.memmove(p, b, len(b))
    def get(self, p, size): return ctypes.string_at(p, size)
    def free(self, p): self.lib.dev_free(ctypes.c_void_p(p))


class Gpu(Device):
    """A GPU, through the CUDA runtime that the library is linked with."""
    BEHIND = 4096

    def checked(self, name, *args):
        status = getattr(self.lib, name)(*args)
        if status:
            sys.exit("%s: CUDA error %d" % (name, status))

    def run(self, entry, args, dims, *workspace):
        status = super().run(entry, args, dims, *workspace)
        self.checked("cudaDeviceSynchronize")
        return status

    def allocate(self, size):
        p = ctypes.c_void_p()
        self.checked("cudaMalloc", ctypes.byref(p), ctypes.c_size_t(size))
        return p.value

    def put(self, p, b): self.checked("cudaMemcpy", ctypes.c_void_p(p), b, ctypes.c_size_t(len(b)), 1)

    def get(self, p, size):
        b = ctypes.create_string_buffer(size)
        self.checked("cudaMemcpy", b, ctypes.c_void_p(p), ctypes.c_size_t(size), 2)
        return b.raw

    def free(self, p): self.checked("cudaFree", ctypes.c_void_p(p))


class Interpreted(Device):
    """CUDA Tile C++, whose kernels tests/tile/interpret.py runs."""
    BEHIND = 256

    def __init__(self, path):
        super().__init__(path)
        import emulation_tile
        emulation_tile.attach(self.lib, path)
        self.held = {}

    def allocate(self, size):
        raw = np.zeros(size + 256, "u1")
        p = raw.ctypes.data + -raw.ctypes.data % 256
        self.held[p] = raw
        return p

    def put(self, p, b): ctypes.memmove(p, b, len(b))
    def get(self, p, size): return ctypes.string_at(p, size)
    def free(self, p): del self.held[p]


def same(a, b, kind):
    if a.tobytes() == b.tobytes():
        return True
    if kind == "bf16":
        a, b = [(v.astype("u4") << 16).view("f4") for v in (a, b)]
        return np.allclose(a, b, rtol=8e-3, atol=1e-5, equal_nan=True)
    if kind in ("f32", "f64", "f16"):
        return np.allclose(a.astype("f8"), b.astype("f8"), rtol=2e-3 if kind == "f16" else 2e-5, atol=1e-5, equal_nan=True)
    return False


def nearly(exact):
    """Results of parameters that are not exact were rounded in the order of the target. 0 and -0 are equal, unless their bits count."""
    def agree(param, a, b):
        kind = param["type"]
        if exact[param["name"]] == "bits": return a.tobytes() == b.tobytes()
        if kind == "bf16": a, b = [(v.astype("u4") << 16).view("f4") for v in (a, b)]
        if exact[param["name"]]: return np.array_equal(a, b, equal_nan=kind[0] in "bf")
        unit = {"bf16": 2.0 ** -6, "f16": 2.0 ** -8, "f32": 1e-4, "f64": 1e-9}[kind]
        return np.allclose(a.astype("f8"), b.astype("f8"), rtol=unit, atol=unit, equal_nan=True)
    return agree


def equal(param, a, b):
    """0 and -0 are equal, and so are all NaN."""
    kind = param["type"]
    if kind == "bf16": a, b = [(v.astype("u4") << 16).view("f4") for v in (a, b)]
    if kind in ("f8e4m3", "f8e5m2"):
        nan = (0x7d if kind == "f8e5m2" else 0x7f)
        a, b = [np.where(v & 0x7f >= nan, 0x7f, np.where(v & 0x7f == 0, 0, v)) for v in (a, b)]
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


SPECIAL = {"bf16": [0x7f80, 0xff80, 0x7fc0, 0x8000], **{t: [np.inf, -np.inf, np.nan, -0.0] for t in ("f16", "f32", "f64")}}


def with_specials(kind, a, rng):
    """Some infinities, NaN and -0 among the elements."""
    if kind in SPECIAL and a.size:
        a.reshape(-1)[rng.integers(0, a.size, 1 + a.size // 3000)] = rng.choice(np.array(SPECIAL[kind]).astype(a.dtype))
    return a


def compare(host, device, entries, sizes, phases, orders, agree=lambda param, a, b: same(a, b, param["type"]), special=False, make=data, most=4000000):
    """Calls and how many of them were wrong, which is printed. agree: whether two results of a parameter are the same; make: of what type,
    shape, generator, name and dimensions an array is; most: elements of a call."""
    bad = calls = 0
    for e in entries:
        seen, ran = set(), 0
        for number, size in enumerate(sizes):
            dims = {d["name"]: size.get(d["name"], 6) for d in e["dims"]}
            key = tuple(dims.values())
            if key in seen:
                continue
            seen.add(key)
            rng = np.random.default_rng(number)
            shapes = [extents(p, dims) for p in e["params"]]
            if sum(int(np.prod(s)) for s in shapes) > most or ("k" in dims and (dims.get("m", 1) * dims.get("n", 1) > 10000 or dims.get("n") == 1000)):
                continue
            arrays = [make(p["type"], s, rng, p["name"], dims) for p, s in zip(e["params"], shapes)]
            if special: arrays = [with_specials(p["type"], a, rng) for p, a in zip(e["params"], arrays)]
            order = [dims[d["name"]] for d in e["dims"]]
            begin = [phases[(number + 3 * i) % len(phases)] for i in range(len(arrays))]
            s1, want = host.call(e["name"], arrays, order, begin)
            ran += s1 == 0
            need = device.workspace(e["name"], order) if s1 == 0 and hasattr(device, "workspace") else 0
            for turn, size in itertools.product(orders, (0, need) if need else (0,)):
                os.environ["EMU_ORDER"] = turn
                calls += 1
                s2, got = device.call(e["name"], arrays, order, begin, size) if size else device.call(e["name"], arrays, order, begin)
                if s1 != s2:
                    bad += 1
                    print("%s %s, order %s: status %d, expected %d: %s" % (e["name"], dims, turn, s2, s1, device.text(s2)))
                    continue
                for p, a, b in zip(e["params"], want, got):
                    if p["mode"] != "in" and not agree(p, a, b):
                        bad += 1
                        at = np.flatnonzero(a.reshape(-1) != b.reshape(-1))
                        print("%s %s, order %s: %s differs in %d of %d elements, first at %d: %s, expected %s" %
                              (e["name"], dims, turn, p["name"], len(at), a.size, at[0], b.reshape(-1)[at[0]], a.reshape(-1)[at[0]]))
                        break
        if not ran:
            bad += 1
            print("%s: no call succeeded" % e["name"])
    return calls, bad
