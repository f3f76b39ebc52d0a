"""What a case is, and how its extents are drawn.

A case calls one C function on data of one shape. Its `args` are the tensors in the order of the C function: `t.normal`, `t.ints` ...
are read, `Out` is written, `Both(...)` is both; then come `numbers` and `dims`. `want` takes what is read and the numbers, and gives
what is written, in f64 or exact; `peer` takes the same and is what a user of torch writes: it runs as it is and by torch.compile.

Extents come from a seed: columns log-uniform from 17 to 300,000 in the alignment classes 1, 2, 8 and 64, few rows or many, so that a
case moves 4 MiB to 1 GiB. A small table, for checking values, draws from 1 to a few hundred.

Groups of cases are generators, whose formulas name the extents of the case that was drawn last: a case is run before the next one is
asked for."""
import math
import random

TOLERANCE = dict(f16=2e-3, bf16=8e-3, f32=1e-4, f64=1e-12, f8e4m3=6e-2, f8e5m2=2e-1)    # relative error in the norm; others: equal
SIZE = dict(f16=2, bf16=2, f32=4, f64=8, f8e4m3=1, f8e5m2=1, i8=1, i32=4, i64=8, u8=1, u32=4, bool=1)
ALIGNED = (1, 2, 8, 64)


class In:
    def __init__(self, type, shape, make): self.type, self.shape, self.make = type, shape, make


class Out:
    def __init__(self, type, *shape): self.type, self.shape = type, shape


class Both(In):
    def __init__(self, x): super().__init__(x.type, x.shape, x.make)


class Case:
    def __init__(self, **fields): self.__dict__.update(fields)

    @property
    def reads(self): return [a for a in self.args if isinstance(a, In)]

    @property
    def writes(self): return [a for a in self.args if not isinstance(a, In) or isinstance(a, Both)]


class Table:
    """m: arrays.Numpy or arrays.Torch. device: None, or where torch's tensors are made."""

    def __init__(self, m, seed, small=False, device=None):
        self.m, self.small, self.device = m, small, device
        self.draw = random.Random("%s" % seed)
        if m.torch:
            self.source = m.torch.Generator(device=device).manual_seed(self.draw.getrandbits(48))
        else:
            self.source = m.np.random.default_rng(self.draw.getrandbits(48))

    # ---- extents ----

    def between(self, lo, hi, multiple=1):
        """Log-uniform, rounded to a multiple."""
        n = round(math.exp(self.draw.uniform(math.log(lo), math.log(hi))))
        return max(multiple, n // multiple * multiple)

    def columns(self, lo=17, hi=300000):
        if self.small: return self.between(1, min(hi, 700))
        return max(lo, self.between(lo, hi, self.draw.choice(ALIGNED)))

    def rows(self, cols, size):
        """Few rows, or as many as fill 64 MiB to 1 GiB."""
        if self.small: return self.between(1, 40)
        if self.draw.random() < 0.25: return self.between(max(16, (4 << 20) // (cols * size)), max(32, (64 << 20) // (cols * size)))
        return max(1, self.between(64 << 20, 1 << 30) // (cols * size))

    def length(self, size):
        """Elements of a vector."""
        if self.small: return self.between(1, 20000)
        return self.between((4 << 20) // size, (1 << 30) // size, self.draw.choice(ALIGNED))

    def side(self, lo=32, hi=4096):
        return self.between(1, 150) if self.small else self.between(lo, hi, self.draw.choice(ALIGNED))

    def count(self, others, size):
        """A further extent, so that all together are 64 MiB to 1 GiB."""
        if self.small: return self.between(1, 5)
        return max(1, self.between(64 << 20, 1 << 30) // (others * size))

    # ---- data ----

    def normal(self, type, *shape):
        def make():
            if self.m.torch: return self.m.torch.randn(shape, generator=self.source, device=self.device).to(self.m.types[type])
            return self.source.standard_normal(shape, self.m.np.float32).astype(self.m.types[type])
        return In(type, shape, make)

    def uniform(self, type, lo, hi, *shape):
        def make():
            if self.m.torch:
                x = self.m.torch.rand(shape, generator=self.source, device=self.device)
                return (lo + (hi - lo) * x).to(self.m.types[type])
            return (lo + (hi - lo) * self.source.random(shape, self.m.np.float32)).astype(self.m.types[type])
        return In(type, shape, make)

    def ints(self, type, lo, hi, *shape):
        """lo to hi - 1"""
        def make():
            if self.m.torch:
                return self.m.torch.randint(lo, hi, shape, generator=self.source, device=self.device).to(self.m.types[type])
            return self.source.integers(lo, hi, shape).astype(self.m.types[type])
        return In(type, shape, make)

    def order(self, n, of):
        """n different numbers below `of`, in any order"""
        def make():
            if self.m.torch:
                return self.m.torch.randperm(of, generator=self.source, device=self.device)[:n].int()
            return self.source.permutation(of)[:n].astype(self.m.np.int32)
        return In("i32", (n,), make)

    def borders(self, m, n):
        """m numbers from 0 to n that do not decrease: where parts begin and end"""
        def make():
            cuts = sorted([0, n] + [self.draw.randint(0, n) for _ in range(m - 2)])
            if self.m.torch: return self.m.torch.tensor(cuts, dtype=self.m.torch.int32, device=self.device)
            return self.m.np.array(cuts, self.m.np.int32)
        return In("i32", (m,), make)

    # ---- cases ----

    def case(self, family, call, args, want, peer, numbers=(), dims=(), tol=None, moved=None):
        """call: FILE.FUNCTION. moved: bytes that have to be read and written, where they are not those of all tensors."""
        tensors = sum(SIZE[a.type] * math.prod(a.shape) * (2 if isinstance(a, Both) else 1) for a in args)
        file, function = call.split(".")
        return Case(family=family, file=file, function=function, args=args, want=want, peer=peer,
                    numbers=numbers, dims=dims,
                    tol=tol, bytes=moved if moved is not None else tensors,
                    name="%s %s" % (function, "x".join(map(str, dims))))
