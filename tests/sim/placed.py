"""Placed kernels that are given as text (tests/ir/*.tir), in the simulator: values against numpy, and no fault. placed.py FILE.tir [WORD]

Each entry runs at sizes with edges in all directions, its warps in a random order with pauses (CTILE_SIM_SEED); WORD: only entries
whose names hold it."""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *

import numpy as np
from simulated import Simulated

os.environ.setdefault("CTILE_SIM_SEED", "5")
KINDS = {"bf16": "u2", "f16": "f2", "f32": "f4"}


def encode(x, kind):
    if kind != "bf16":
        return x.astype(KINDS[kind])
    u = x.astype("f4").view("u4")
    return ((u + 0x7fff + (u >> 16 & 1)) >> 16).astype("u2")


def decode(x, kind):
    return (x.astype("u4") << 16).view("f4") if kind == "bf16" else x.astype("f4")


def near(got, want, kind):
    return np.allclose(got, want, rtol=1e-2 if kind == "bf16" else 4e-3 if kind == "f16" else 1e-5, atol=1e-2)


def gemm(p, e, rng, m, n, k):
    """Small whole numbers: their sums are exact, in whatever order."""
    kind = e["params"][0]["type"]
    left = "left" in e["name"]
    a, b = rng.integers(-2, 3, (m, k)).astype("f4"), rng.integers(-2, 3, (k, n)).astype("f4")
    held = np.ascontiguousarray(b.T) if left else b
    arrays = [encode(a, kind), encode(held, kind), encode(np.full((m, n), 77.0), kind)]
    dims = {"m": m, "n": n, "k": k}
    status, out = p.call(e["name"], arrays, [dims[d["name"]] for d in e["dims"]])
    size = "%s %dx%dx%d" % (e["name"], m, n, k)
    if check(status == 0, "%s: status %d\n%s" % (size, status, p.text(status))):
        got, want = decode(out[2], kind), decode(encode(a @ b, kind), kind)
        check(np.array_equal(got, want), "%s: %d of %d values are wrong, the first at %s" % (size, (got != want).sum(), want.size, np.argwhere(got != want)[:1]))


def attention(p, e, rng, heads, sq, sk):
    kind, d = e["params"][0]["type"], int(re.search(r"_d(\d+)", e["name"]).group(1))
    causal = "causal" in e["name"]
    q, k, v = [rng.standard_normal((heads, n, d)).astype("f4") for n in (sq, sk, sk)]
    q, k, v = [decode(encode(x, kind), kind) for x in (q, k, v)]
    scale = np.float32(d ** -0.5)
    s = np.einsum("hid,hjd->hij", q, k) * scale
    if causal:
        s = np.where(np.arange(sk)[None, None, :] <= np.arange(sq)[None, :, None] + sk - sq, s, -np.inf)
    w = np.exp(s - s.max(axis=2, keepdims=True))
    want = np.einsum("hij,hjd->hid", w / w.sum(axis=2, keepdims=True), v)
    named = {"q": encode(q, kind), "k": encode(k, kind), "v": encode(v, kind), "o": encode(np.zeros((heads, sq, d)), kind), "scale": np.array([scale], "f4")}
    arrays = [named.get(x["name"], np.zeros(4, "f4")) for x in e["params"]]
    dims = {"heads": heads, "sq": sq, "sk": sk}
    status, out = p.call(e["name"], arrays, [dims[x["name"]] for x in e["dims"]])
    size = "%s %dx%dx%d" % (e["name"], heads, sq, sk)
    if check(status == 0, "%s: status %d\n%s" % (size, status, p.text(status))):
        got = decode(out[[x["name"] for x in e["params"]].index("o")], kind)
        check(near(got, want, kind), "%s: off by %g" % (size, np.nanmax(np.abs(got - want))))


def main(path, word=""):
    rng = np.random.default_rng(1)
    with tmpdir() as tmp:
        source = os.path.join(tmp, "placed.c")
        r = ctilec("--target=sim", "-w", "-o", source, path)
        if not check(r.code == 0 and not r.text, r.text):
            finish()
        entries = json.loads(ctilec("--emit=manifest", path, "-o", "-").out)["entries"]
        ran = 0
        p = Simulated(source, os.path.join(BUILD, "libctilec.a"), tmp, entries)
        for e in entries:
            if word not in e["name"]:
                continue
            ran += 1
            if "gemm" in e["name"]:
                gemm(p, e, rng, 200, 264, 136)
            else:
                attention(p, e, rng, 2, 200, 200)
        check(ran, "no entry is called *%s*" % word)
    finish()


main(*sys.argv[1:])
