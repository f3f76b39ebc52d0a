"""Triton kernels in the manner of its tutorials, as peers. Each takes the arguments of its case and gives the outputs."""
import torch
import triton
import triton.language as tl


def warps(block):
    return 4 if block <= 2048 else 8 if block <= 8192 else 16 if block <= 32768 else 32


def block_of(cols, most=1 << 20):
    block = triton.next_power_of_2(cols)
    if block > most: raise ValueError("a row of %d is too long for one block" % cols)
    return block


# ---- elementwise ----

@triton.jit
def _add(x, y, z, n, B: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    m = i < n
    tl.store(z + i, tl.load(x + i, m) + tl.load(y + i, m), m)


def add(x, y, z, n):
    _add[(triton.cdiv(n, 1024),)](x, y, z, n, B=1024)
    return [z]


@triton.jit
def _swiglu(x, y, z, n, B: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    m = i < n
    v = tl.load(x + i, m).to(tl.float32)
    w = tl.load(y + i, m).to(tl.float32)
    tl.store(z + i, (v / (1 + tl.exp(-v)) * w).to(tl.bfloat16), m)


def swiglu(x, y, z, n):
    _swiglu[(triton.cdiv(n, 2048),)](x, y, z, n, B=2048)
    return [z]


@triton.jit
def _dropout(x, y, n, p, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    keep = tl.rand(seed, i) > p
    tl.store(y + i, tl.where(keep, tl.load(x + i, m) / (1 - p), 0.0), m)


def dropout(x, y, p, seed, n):
    _dropout[(triton.cdiv(n, 1024),)](x, y, n, p, int(seed), B=1024)
    return [y]


# ---- rows ----

@triton.jit
def _sum_rows(x, s, cols, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    t = tl.zeros((B,), tl.float32)
    for at in range(0, cols, B):
        c = at + tl.arange(0, B)
        t += tl.load(x + r * cols + c, c < cols, 0.0)
    tl.store(s + r, tl.sum(t, 0))


def sum_rows(x, s, rows, cols):
    _sum_rows[(rows,)](x, s, cols, B=4096, num_warps=8)
    return [s]


@triton.jit
def _cumsum(x, y, cols, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    v = tl.load(x + r * cols + c, c < cols, 0.0).to(tl.float32)
    tl.store(y + r * cols + c, tl.cumsum(v, 0).to(y.dtype.element_ty), c < cols)


def cumsum(x, y, rows, cols):
    b = block_of(cols)
    _cumsum[(rows,)](x, y, cols, B=b, num_warps=warps(b))
    return [y]


@triton.jit
def _softmax(x, y, cols, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    v = tl.load(x + r * cols + c, c < cols, float("-inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + r * cols + c, (e / tl.sum(e, 0)).to(y.dtype.element_ty), c < cols)


def softmax(x, y, rows, cols):
    b = block_of(cols, 1 << 18)
    _softmax[(rows,)](x, y, cols, B=b, num_warps=warps(b))
    return [y]


@triton.jit
def _argmax(x, k, cols, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    tl.store(k + r, tl.argmax(tl.load(x + r * cols + c, c < cols, float("-inf")), 0))


def argmax(x, k, rows, cols):
    b = block_of(cols)
    _argmax[(rows,)](x, k, cols, B=b, num_warps=warps(b))
    return [k]


@triton.jit
def _cross_entropy(x, target, loss, scale, cols, B: tl.constexpr):
    """As in Liger: one pass for the maximum and the sum, one for the gradient."""
    r = tl.program_id(0).to(tl.int64)
    t = tl.load(target + r)
    at_target = tl.load(x + r * cols + t).to(tl.float32)
    m = float("-inf")
    s = 0.0
    for at in range(0, cols, B):
        c = at + tl.arange(0, B)
        v = tl.load(x + r * cols + c, c < cols, float("-inf")).to(tl.float32)
        new = tl.maximum(m, tl.max(v, 0))
        s = s * tl.exp(m - new) + tl.sum(tl.exp(v - new), 0)
        m = new
    tl.store(loss + r, m + tl.log(s) - at_target)
    for at in range(0, cols, B):
        c = at + tl.arange(0, B)
        v = tl.load(x + r * cols + c, c < cols, float("-inf")).to(tl.float32)
        p = tl.exp(v - m) / s
        p = tl.where(c == t, p - 1, p) * scale
        tl.store(x + r * cols + c, p.to(x.dtype.element_ty), c < cols)


def cross_entropy(x, target, loss, scale, rows, cols):
    _cross_entropy[(rows,)](x, target, loss, scale, cols, B=block_of(min(cols, 32768)), num_warps=32)
    return [x, loss]


# ---- norms ----

@triton.jit
def _rmsnorm(x, w, y, eps, cols, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    v = tl.load(x + r * cols + c, c < cols, 0.0).to(tl.float32)
    k = tl.rsqrt(tl.sum(v * v, 0) / cols + eps)
    g = tl.load(w + c, c < cols, 0.0).to(tl.float32)
    tl.store(y + r * cols + c, (v * k * g).to(y.dtype.element_ty), c < cols)


def rmsnorm(x, w, y, eps, rows, cols):
    b = block_of(cols, 1 << 18)
    _rmsnorm[(rows,)](x, w, y, eps, cols, B=b, num_warps=warps(b))
    return [y]


@triton.jit
def _add_rmsnorm(x, s, w, y, eps, cols, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    m = c < cols
    t = tl.load(x + r * cols + c, m, 0.0).to(tl.float32) + tl.load(s + r * cols + c, m, 0.0).to(tl.float32)
    t = t.to(s.dtype.element_ty)
    tl.store(s + r * cols + c, t, m)
    v = t.to(tl.float32)
    k = tl.rsqrt(tl.sum(v * v, 0) / cols + eps)
    tl.store(y + r * cols + c, (v * k * tl.load(w + c, m, 0.0).to(tl.float32)).to(y.dtype.element_ty), m)


def add_rmsnorm(x, s, w, y, eps, rows, cols):
    b = block_of(cols, 1 << 18)
    _add_rmsnorm[(rows,)](x, s, w, y, eps, cols, B=b, num_warps=warps(b))
    return [s, y]


@triton.jit
def _layernorm(x, w, b, y, eps, cols, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    m = c < cols
    v = tl.load(x + r * cols + c, m, 0.0).to(tl.float32)
    d = tl.where(m, v - tl.sum(v, 0) / cols, 0.0)
    k = tl.rsqrt(tl.sum(d * d, 0) / cols + eps)
    out = d * k * tl.load(w + c, m, 0.0).to(tl.float32) + tl.load(b + c, m, 0.0).to(tl.float32)
    tl.store(y + r * cols + c, out.to(y.dtype.element_ty), m)


def layernorm(x, w, b, y, eps, rows, cols):
    n = block_of(cols, 1 << 18)
    _layernorm[(rows,)](x, w, b, y, eps, cols, B=n, num_warps=warps(n))
    return [y]


@triton.jit
def _norm_backward(x, w, dy, mean, rstd, dx, pw, pb, rows, cols, PARTS: tl.constexpr, B: tl.constexpr, CENTRED: tl.constexpr):
    part = tl.program_id(0)
    c = tl.arange(0, B)
    m = c < cols
    wv = tl.load(w + c, m, 0.0).to(tl.float32)
    sw = tl.zeros((B,), tl.float32)
    sb = tl.zeros((B,), tl.float32)
    for i in range(part, rows, PARTS):
        at = i.to(tl.int64) * cols + c
        v = tl.load(x + at, m, 0.0).to(tl.float32)
        d = tl.load(dy + at, m, 0.0).to(tl.float32)
        k = tl.load(rstd + i)
        if CENTRED: v = tl.where(m, v - tl.load(mean + i), 0.0)
        n = v * k
        g = d * wv
        out = g - n * (tl.sum(g * n, 0) / cols)
        if CENTRED: out -= tl.sum(g, 0) / cols
        tl.store(dx + at, (k * out).to(dx.dtype.element_ty), m)
        sw += d * n
        if CENTRED: sb += d
    tl.store(pw + part * cols + c, sw, m)
    if CENTRED: tl.store(pb + part * cols + c, sb, m)


@triton.jit
def _sum_parts(p, s, cols, PARTS: tl.constexpr, B: tl.constexpr):
    c = tl.program_id(0) * B + tl.arange(0, B)
    at = tl.arange(0, PARTS)[:, None] * cols + c[None, :]
    t = tl.sum(tl.load(p + at, (c < cols)[None, :] & (at >= 0), 0.0), 0)
    tl.store(s + c, t.to(s.dtype.element_ty), c < cols)


def norm_backward(x, w, dy, mean, rstd, dx, sums, cols, rows):
    parts = 256
    p = [torch.empty((parts, cols), device=x.device, dtype=torch.float32) for _ in sums]
    b = block_of(cols)
    _norm_backward[(parts,)](x, w, dy, mean, rstd, dx, p[0], p[-1], rows, cols, PARTS=parts, B=b, CENTRED=len(sums) == 2, num_warps=warps(b))
    for q, s in zip(p, sums): _sum_parts[(triton.cdiv(cols, 32),)](q, s, cols, PARTS=parts, B=32)
    return [dx, *sums]


def layernorm_backward(x, w, dy, mean, rstd, dx, dw, db, rows, cols):
    return norm_backward(x, w, dy, mean, rstd, dx, [dw, db], cols, rows)


def rmsnorm_backward(x, w, dy, rstd, dx, dw, rows, cols):
    return norm_backward(x, w, dy, rstd, rstd, dx, [dw], cols, rows)


# ---- data moved ----

@triton.jit
def _transpose(x, y, m, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    v = tl.load(x + i[:, None].to(tl.int64) * n + j[None, :], (i < m)[:, None] & (j < n)[None, :])
    tl.store(y + j[:, None].to(tl.int64) * m + i[None, :], tl.trans(v), (j < n)[:, None] & (i < m)[None, :])


def transpose(x, y, m, n):
    b = 64 if x.element_size() == 4 else 128
    _transpose[(triton.cdiv(m, b), triton.cdiv(n, b))](x, y, m, n, B=b, num_warps=8)
    return [y]


@triton.jit
def _embedding(table, index, y, cols, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    at = tl.load(index + r).to(tl.int64)
    tl.store(y + r * cols + c, tl.load(table + at * cols + c, c < cols), c < cols)


def embedding(table, index, y, v, cols, rows):
    b = block_of(cols)
    _embedding[(rows,)](table, index, y, cols, B=b)
    return [y]


@triton.jit
def _append(k, v, slot, kc, vc, cols, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    at = tl.load(slot + r).to(tl.int64)
    tl.store(kc + at * cols + c, tl.load(k + r * cols + c, c < cols), c < cols)
    tl.store(vc + at * cols + c, tl.load(v + r * cols + c, c < cols), c < cols)


def append(k, v, slot, kc, vc, rows, cols, slots):
    _append[(rows,)](k, v, slot, kc, vc, cols, B=block_of(cols))
    return [kc, vc]


@triton.jit
def _rope(x, position, cosines, sines, heads, half, HEADS: tl.constexpr, H: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    h = tl.arange(0, HEADS)[:, None]
    i = tl.arange(0, H)[None, :]
    m = (h < heads) & (i < half)
    at = tl.load(position + r)
    c = tl.load(cosines + at * half + i, i < half)
    s = tl.load(sines + at * half + i, i < half)
    first = x + (r * heads + h) * 2 * half + i
    a = tl.load(first, m).to(tl.float32)
    b = tl.load(first + half, m).to(tl.float32)
    tl.store(first, (a * c - b * s).to(tl.bfloat16), m)
    tl.store(first + half, (b * c + a * s).to(tl.bfloat16), m)


def rope(x, position, cosines, sines, tokens, heads, half, positions):
    _rope[(tokens,)](x, position, cosines, sines, heads, half, HEADS=triton.next_power_of_2(heads), H=triton.next_power_of_2(half))
    return [x]


# ---- stencils ----

@triton.jit
def _blur(x, y, h, w, K: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    r = tl.program_id(0) * M + tl.arange(0, M)[:, None]
    c = tl.program_id(1) * N + tl.arange(0, N)[None, :]
    s = tl.zeros((M, N), tl.float32)
    for i in tl.static_range(K):
        for j in tl.static_range(K):
            wi: tl.constexpr = 1 if i % (K - 1) == 0 else (2 if K == 3 else (6 if i == 2 else 4))
            wj: tl.constexpr = 1 if j % (K - 1) == 0 else (2 if K == 3 else (6 if j == 2 else 4))
            a = r + i - K // 2
            b = c + j - K // 2
            inside = (a >= 0) & (a < h) & (b >= 0) & (b < w)
            s += (wi * wj) * tl.load(x + a.to(tl.int64) * w + b, inside, 0.0)
    tl.store(y + r.to(tl.int64) * w + c, s / (16 if K == 3 else 256), (r < h) & (c < w))


def blur3(x, y, h, w):
    _blur[(triton.cdiv(h, 16), triton.cdiv(w, 128))](x, y, h, w, K=3, M=16, N=128)
    return [y]


def blur5(x, y, h, w):
    _blur[(triton.cdiv(h, 16), triton.cdiv(w, 128))](x, y, h, w, K=5, M=16, N=128)
    return [y]


@triton.jit
def _laplace(x, y, d, h, w, B: tl.constexpr, C: tl.constexpr):
    i = tl.program_id(0)
    j = tl.program_id(1) * B + tl.arange(0, B)[:, None]
    k = tl.program_id(2) * C + tl.arange(0, C)[None, :]
    at = x + (i.to(tl.int64) * h + j) * w + k
    m = (j < h) & (k < w)
    plane = h.to(tl.int64) * w
    s = tl.load(at - plane, m & (i > 0), 0.0) + tl.load(at + plane, m & (i + 1 < d), 0.0)
    s += tl.load(at - w, m & (j > 0), 0.0) + tl.load(at + w, (j + 1 < h) & (k < w), 0.0)
    s += tl.load(at - 1, m & (k > 0), 0.0) + tl.load(at + 1, m & (k + 1 < w), 0.0)
    tl.store(y + (i.to(tl.int64) * h + j) * w + k, s - 6 * tl.load(at, m, 0.0), m)


def laplace(x, y, d, h, w):
    _laplace[(d, triton.cdiv(h, 8), triton.cdiv(w, 128))](x, y, d, h, w, B=8, C=128)
    return [y]
