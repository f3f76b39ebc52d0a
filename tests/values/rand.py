#!/usr/bin/env python3
"""rand, randn and randint against Philox4x32-10 written here from its definition.

Usage: rand.py build FOLDER --ctilec PATH [--target c|cuda]
       rand.py run FOLDER [--target c|cuda]
       rand.py test --ctilec PATH        builds and runs the C target in a temporary folder
"""
import math
import numpy as np
from suite import Call, Out, Suite

S = Suite("rand")
M = 0xFFFFFFFF


def philox(key, counter):
    """Four words from a key of two words and a counter of four: ten rounds."""
    k, c = list(key), list(counter)
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k[0], q & M, (p >> 32) ^ c[3] ^ k[1], p & M]
        k = [(k[0] + 0x9E3779B9) & M, (k[1] + 0xBB67AE85) & M]
    return c


# the known answers that come with the definition
assert philox((0, 0), (0, 0, 0, 0)) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert philox((M, M), (M, M, M, M)) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def block(seed, offset):
    return philox((seed & M, seed >> 32), (offset >> 2 & M, offset >> 34, 0, 0))


def word(seed, offset):
    return block(seed, offset)[offset & 3]


def normal(seed, offset):
    """Two words of a block make two numbers."""
    a, b = block(seed, offset)[offset & 2:][:2]
    return math.sqrt(-2 * math.log((a + 1) / 2 ** 32)) * (math.sin if offset & 1 else math.cos)(2 * math.pi * b / 2 ** 32)


S.add("drawn", """kernel drawn(seed: u64, first: u64, u: out tensor<f32, [n]>, g: out tensor<f32, [n]>, i: out tensor<u32, [n]>) grid [cdiv(n, 64)] {
    let at = first + element_cast(bid(0), u64) * 64 + iota([64], u64);
    u.store([bid(0)], rand(seed, at));
    g.store([bid(0)], randn(seed, at));
    i.store([bid(0)], randint(seed, at));
}
/// Offsets that are known to count from a multiple of 4.
kernel drawn_blocks(seed: u64, first: i64, u: out tensor<f32, [n]>, g: out tensor<f32, [n]>, i: out tensor<u32, [n]>) grid [cdiv(n, 64)] {
    let at = u64(first + bid(0)) * 64 + iota([64], u64);
    u.store([bid(0)], rand(seed, at));
    g.store([bid(0)], randn(seed, at));
    i.store([bid(0)], randint(seed, at));
}
kernel drawn_shapes(seed: u64, u: out tensor<f32, [2, 4, 2]>, i: out tensor<u32, [1]>, c: out tensor<u32, [2]>) grid [1] {
    u.store([0, 0, 0], reshape(rand(seed, iota([4, 4], u64) << 33), [2, 4, 2]));
    i[0] = u32(randint(seed, full([1], 5, u64)));
    c.store([0], randint(7, full([2], 9, u64)));
}
""", lambda rng: calls())


def calls():
    for seed in (0, 1, 42, 2 ** 32, 2 ** 64 - 1, 0x0123456789ABCDEF):
        for first, n in ((0, 200), (2 ** 32 - 3, 7), (2 ** 63, 1)):
            at = [(first + k) % 2 ** 64 for k in range(n)]
            w = [word(seed, o) for o in at]
            u = np.array([v / 2 ** 24 for v in np.array(w) >> 8], np.float32)
            g = np.array([normal(seed, o) for o in at], np.float32)
            yield Call("drawn", np.uint64(seed), np.uint64(first), Out(u), Out(g, bound=np.spacing(np.abs(g) + np.float32(1e-6)).astype(np.float64)),
                       Out(np.array(w, np.uint32)), n)
        for first, n in ((0, 200), (2 ** 28, 65)):
            yield Call("drawn_blocks", np.uint64(seed), np.int64(first), *drawn_blocks(seed, 64 * first, n), n)
        u = np.array([(word(seed, k << 33) >> 8) / 2 ** 24 for k in range(16)], np.float32).reshape(2, 4, 2)
        yield Call("drawn_shapes", np.uint64(seed), Out(u), Out(np.array([word(seed, 5)], np.uint32)), Out(np.array([word(7, 9)] * 2, np.uint32)))


def drawn_blocks(seed, first, n):
    at = [first + k for k in range(n)]
    g = np.array([normal(seed, o) for o in at], np.float32)
    return (Out(np.array([(word(seed, o) >> 8) / 2 ** 24 for o in at], np.float32)),
            Out(g, bound=np.spacing(np.abs(g) + np.float32(1e-6)).astype(np.float64)), Out(np.array([word(seed, o) for o in at], np.uint32)))


def spread(suite, folder, target):
    """Means and deviations of the reference itself: what the kernels are held to is a good generator."""
    u = np.array([word(3, k) for k in range(4000)], np.float64) / 2 ** 32
    g = np.array([normal(3, k) for k in range(4000)])
    return [f"{what} is {got}" for what, got, want, far in (("mean of rand", u.mean(), 0.5, 0.02), ("deviation of rand", u.std(), 12 ** -0.5, 0.01),
            ("mean of randn", g.mean(), 0, 0.06), ("deviation of randn", g.std(), 1, 0.04)) if abs(got - want) > far]


S.after.append(spread)

if __name__ == "__main__":
    S.main(__doc__)
