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


def words(seed, offset):
    return philox((seed & M, seed >> 32), (offset & M, offset >> 32, 0, 0))


S.add("drawn", """kernel drawn(seed: u64, first: u64, u: out tensor<f32, [n]>, g: out tensor<f32, [n]>, i: out tensor<u32, [n]>) grid [cdiv(n, 64)] {
    let at = first + element_cast(bid(0), u64) * 64 + iota([64], u64);
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
            w = [words(seed, (first + k) % 2 ** 64) for k in range(n)]
            u = np.array([(v[0] >> 8) / 2 ** 24 for v in w], np.float32)
            g = np.array([math.sqrt(-2 * math.log((v[0] + 1) / 2 ** 32)) * math.cos(2 * math.pi * v[1] / 2 ** 32) for v in w], np.float32)
            yield Call("drawn", np.uint64(seed), np.uint64(first), Out(u), Out(g, bound=np.spacing(np.abs(g) + np.float32(1e-6)).astype(np.float64)),
                       Out(np.array([v[0] for v in w], np.uint32)), n)
        u = np.array([(words(seed, k << 33)[0] >> 8) / 2 ** 24 for k in range(16)], np.float32).reshape(2, 4, 2)
        yield Call("drawn_shapes", np.uint64(seed), Out(u), Out(np.array([words(seed, 5)[0]], np.uint32)), Out(np.array([words(7, 9)[0]] * 2, np.uint32)))


def spread(suite, folder, target):
    """Means and deviations of the reference itself: what the kernels are held to is a good generator."""
    w = np.array([words(3, k)[:2] for k in range(4000)], np.float64)
    u = w[:, 0] / 2 ** 32
    g = np.sqrt(-2 * np.log((w[:, 0] + 1) / 2 ** 32)) * np.cos(2 * np.pi * w[:, 1] / 2 ** 32)
    return [f"{what} is {got}" for what, got, want, far in (("mean of rand", u.mean(), 0.5, 0.02), ("deviation of rand", u.std(), 12 ** -0.5, 0.01),
            ("mean of randn", g.mean(), 0, 0.06), ("deviation of randn", g.std(), 1, 0.04)) if abs(got - want) > far]


S.after.append(spread)

if __name__ == "__main__":
    S.main(__doc__)
