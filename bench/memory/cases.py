"""The table: which function, on which shapes, checked against which formula, and what one call has to move.

Each group is a generator of cases; `t` makes the data (bench.Data), `t.dims(...)` gives the extents, smaller in a small run.
A case is a dict:
  name    what the report shows
  call    (file without .tile, C function)
  args    of the C function in order: functions that make a tensor, then ints and floats
  out     which of the arguments are outputs, by index
  keep    which of these are read, too: not poisoned before a check
  want    arguments -> the outputs, in f64 or exact
  torch   arguments -> the outputs in the arguments' type: what torch runs
  plain   the same as a user writes it, without `out=`: what torch.compile compiles; where left out: `torch`
  triton  name of a function of triton_peers, cub: name of a function of cub.cu
  bytes   what has to be read and written at least
  tol     greatest relative error in the norm of an output; 0: exact
  valid   (arguments, outputs) -> whether they may be so: instead of `want`, for peers whose random numbers are others
"""

FLOATS = ("f32", "bf16")
HELD_BY_CLUSTER = dict(f32=131072, bf16=262144)       # columns


def types():
    import torch
    return dict(f32=(torch.float32, 4), bf16=(torch.bfloat16, 2), i8=(torch.int8, 1), i32=(torch.int32, 4))


def elementwise(t):
    import torch
    F = torch.nn.functional
    f32, bf16 = torch.float32, torch.bfloat16

    def vec(n, dtype, off=0):
        return lambda: t.randn((n + off,), dtype)[off:]

    for n, off in ((1 << 28, 0), ((1 << 28) + 3, 0), (1 << 28, 1), (1000, 0)):
        n, = t.dims(n)
        yield dict(name="add %d%s f32" % (n, " off by one" if off else ""), call=("elementwise", "add_f32"),
                   args=[vec(n, f32, off), vec(n, f32, off), vec(n, f32, off), n], out=[2],
                   want=lambda x, y, z, n: [x.double() + y.double()], torch=lambda x, y, z, n: [torch.add(x, y, out=z)],
                   plain=lambda x, y, z, n: [x + y], bytes=12 * n, tol=1e-7, triton="add")
    n, = t.dims(1 << 28)
    yield dict(name="saxpy %d f32" % n, call=("elementwise", "saxpy"), args=[0.5, vec(n, f32), vec(n, f32), n], out=[2], keep=[2],
               want=lambda a, x, y, n: [a * x.double() + y.double()], torch=lambda a, x, y, n: [y.add_(x, alpha=a)],
               bytes=12 * n, tol=1e-7)
    r, c = t.dims(16384, 14336)
    n = r * c
    yield dict(name="swiglu %dx%d bf16" % (r, c), call=("elementwise", "swiglu_bf16"), args=[vec(n, bf16), vec(n, bf16), vec(n, bf16), n],
               out=[2], want=lambda x, y, z, n: [F.silu(x.double()) * y.double()], torch=lambda x, y, z, n: [F.silu(x) * y],
               bytes=6 * n, tol=3e-3, triton="swiglu")
    yield dict(name="gelu %dx%d bf16" % (r, c), call=("elementwise", "gelu_bf16"), args=[vec(n, bf16), vec(n, bf16), n], out=[1],
               want=lambda x, y, n: [F.gelu(x.double())], torch=lambda x, y, n: [F.gelu(x)], bytes=4 * n, tol=3e-3)
    yield dict(name="bias + residual %dx%d bf16" % (r, c), call=("elementwise", "bias_bf16"),
               args=[t.normal((r, c), bf16), vec(c, bf16), t.normal((r, c), bf16), t.normal((r, c), bf16), r, c], out=[3],
               want=lambda x, b, s, y, r, c: [x.double() + b.double() + s.double()], torch=lambda x, b, s, y, r, c: [x + b + s],
               bytes=6 * n, tol=6e-3)
    n, = t.dims(1 << 28)

    def dropped(x, y, p, seed, n):
        return [torch.where(philox(torch, seed, 0, n, x.device) >= p, x.double() / (1 - p), 0)]

    def may_be_dropped(args, outs):
        x, y, p = args[0], outs[0], args[2]
        zero = y == 0
        return (abs(float(zero.float().mean()) - p) < 1e-3 + 3 / y.numel() ** 0.5
                and torch.allclose(torch.where(zero, x, y * (1 - p)), x, rtol=1e-5, atol=0))

    yield dict(name="dropout %d f32" % n, call=("elementwise", "dropout"), args=[vec(n, f32), vec(n, f32), 0.25, t.u64(12345), n], out=[1],
               want=dropped, torch=lambda x, y, p, seed, n: [F.dropout(x, p)], bytes=8 * n, tol=1e-6, triton="dropout", valid=may_be_dropped)


def philox(torch, seed, first, n, device):
    """rand(seed, first + i): word i mod 4 of Philox4x32-10 with counter i / 4; in slices. first: a multiple of 4."""
    low = 0xffffffff
    parts = []
    for at in range(first, first + n, 1 << 25):
        end = min(at + (1 << 25), first + n)
        c = [torch.arange(at // 4, (end + 3) // 4, device=device, dtype=torch.int64)]
        c = [c[0] & low, c[0] >> 32, torch.zeros_like(c[0]), torch.zeros_like(c[0])]
        k0, k1 = seed & low, seed >> 32
        for _ in range(10):
            p, q = c[0] * 0xd2511f53, c[2] * 0xcd9e8d57         # wrap: the low 64 bits are right
            c = [(q >> 32 & low) ^ c[1] ^ k0, q & low, (p >> 32 & low) ^ c[3] ^ k1, p & low]
            k0, k1 = (k0 + 0x9e3779b9) & low, (k1 + 0xbb67ae85) & low
        parts.append((torch.stack(c, 1).reshape(-1)[:end - at] >> 8).float() * 2.0 ** -24)
    return torch.cat(parts)


def reductions(t):
    import torch
    f32 = torch.float32
    f64 = torch.float64
    rows = (("sum", lambda x, s, r, c: [x.sum(1, dtype=f64)], lambda x, s, r, c: [x.sum(1)]),
            ("mean", lambda x, s, r, c: [x.mean(1, dtype=f64)], lambda x, s, r, c: [x.mean(1)]),
            ("max", lambda x, s, r, c: [x.amax(1)], lambda x, s, r, c: [x.amax(1)]))
    cols = (("sum", lambda x, s, r, c: [x.sum(0, dtype=f64)], lambda x, s, r, c: [x.sum(0)]),
            ("mean", lambda x, s, r, c: [x.mean(0, dtype=f64)], lambda x, s, r, c: [x.mean(0)]),
            ("max", lambda x, s, r, c: [x.amax(0)], lambda x, s, r, c: [x.amax(0)]))
    for fn, shape, table in (("rows", (16384, 16384), rows), ("cols", (16384, 16384), cols), ("long", (1, 1 << 28), rows),
                             ("long", (7, 10**8), rows)):
        r, c = t.dims(*shape)
        for op, want, plain in table:
            cub = op + ("_f32" if r == 1 else "_rows_f32")
            yield dict(name="%s of %s %dx%d f32" % (op, "columns" if fn == "cols" else "rows", r, c), call=("reduce", "%s_%s" % (op, fn)),
                       args=[t.normal((r, c), f32), t.normal((c if fn == "cols" else r,), f32), r, c], out=[1], want=want, torch=plain,
                       bytes=4 * r * c, tol=0 if op == "max" else 1e-4, cub=None if op == "mean" or fn == "cols" else cub,
                       triton="sum_rows" if op == "sum" and fn == "rows" else None)
    r, c = t.dims(1, 1 << 30)
    yield dict(name="sum of rows %dx%d i8" % (r, c), call=("reduce", "sum_int8"),
               args=[t.ints((r, c), torch.int8, -128, 128), t.ints((r,), torch.int32, 0, 9), r, c], out=[1], want=lambda x, s, r, c: [x.sum(1, dtype=torch.int64)], torch=lambda x, s, r, c: [x.sum(1, dtype=torch.int32)],
               bytes=r * c, tol=0, cub="sum_i8")


def scans(t):
    import torch
    for fn, shape, short in (("cumsum_f32", (16384, 16384), "f32"), ("cumsum_bf16", (16384, 16384), "bf16"), ("cumsum_long", (1, 1 << 28), "f32"),
                             ("cumsum_long", (7, 10**7), "f32")):
        dtype, size = types()[short]
        r, c = t.dims(*shape)
        yield dict(name="cumsum %dx%d %s" % (r, c, short), call=("scan", fn), args=[t.normal((r, c), dtype), t.normal((r, c), dtype), r, c], out=[1],
                   want=lambda x, y, r, c: [torch.cumsum(x.double(), 1)], torch=lambda x, y, r, c: [torch.cumsum(x, 1)],
                   bytes=2 * size * r * c, tol=3e-3 if size == 2 else 1e-5, cub="scan_f32" if fn == "cumsum_long" else None,
                   triton="cumsum" if fn != "cumsum_long" else None)


def entry_for(name, short, cols):
    """One tile a row, or rows in parts: those of layer norm as soon as it takes a cluster of 16 to hold one."""
    held = HELD_BY_CLUSTER["f32" if name == "layernorm" else short]
    return "%s_%s%s" % (name, "long_" if cols > held else "", short)


def rows_of(cols):
    return max(1, (1 << 28) // cols)


def softmax(t):
    import torch
    F = torch.nn.functional
    for short in FLOATS:
        dtype, size = types()[short]
        for shape in [(rows_of(c), c) for c in (1024, 4096, 16384, 65536, 50257, 17, 1025)] + [(128, 262144), (64, 1000000)]:
            r, c = t.dims(*shape)
            yield dict(name="softmax %dx%d %s" % (r, c, short), call=("softmax", entry_for("softmax", short, c)),
                       args=[t.normal((r, c), dtype), t.normal((r, c), dtype), r, c], out=[1],
                       want=lambda x, y, r, c: [torch.softmax(x.double(), 1)], torch=lambda x, y, r, c: [torch.softmax(x, 1)],
                       bytes=2 * size * r * c, tol=3e-3 if size == 2 else 1e-6, triton="softmax")

    def loss(x, target, out, scale, r, c):
        p = torch.softmax(x.double(), 1)
        i = torch.arange(r, device=x.device)
        p[i, target.long()] -= 1
        return [p * scale, F.cross_entropy(x.double(), target.long(), reduction="none")]

    def plain(x, target, out, scale, r, c):
        v = x.float()
        p = torch.softmax(v, 1)
        hit = torch.arange(c, device=x.device) == target[:, None]
        return [((p - hit.to(p.dtype)) * scale).to(x.dtype), F.cross_entropy(v, target.long(), reduction="none")]

    for (r, c), short in (((8192, 128256), "bf16"), ((16384, 32000), "bf16"), ((16384, 32000), "f32"), ((1000, 50257), "f32")):
        r, c = t.dims(r, c)
        dtype, size = types()[short]
        yield dict(name="cross-entropy %dx%d %s" % (r, c, short), call=("softmax", "cross_entropy_" + short),
                   args=[t.normal((r, c), dtype), t.ints((r,), torch.int32, 0, c), t.normal((r,), torch.float32), 1.0, r, c], out=[0, 2], keep=[0],
                   want=loss, torch=plain, bytes=2 * size * r * c, tol=3e-3 if size == 2 else 1e-5, triton="cross_entropy")

    def first(x, k, r, c):
        top = x.amax(1, keepdim=True)
        hit = torch.where(torch.isnan(top), torch.isnan(x), x == top)
        return [torch.where(hit, torch.arange(c, device=x.device, dtype=torch.int32), c).amin(1)]

    def tied(shape, nan):
        def make():
            x = (t.randn(shape, torch.float32) * 4).round()
            if nan:
                x[::5, ::101] = float("nan")
            return x
        return make

    r, c = t.dims(4096, 32000)
    for label, make in (("", t.normal((r, c), torch.float32)), (" ties", tied((r, c), False)), (" ties, NaN", tied((r, c), True))):
        yield dict(name="argmax %dx%d f32%s" % (r, c, label), call=("softmax", "argmax_f32"), args=[make, t.ints((r,), torch.int32, 0, 9), r, c], out=[1],
                   want=first, torch=lambda x, k, r, c: [x.argmax(1)], bytes=4 * r * c, tol=0, triton="argmax" if not label else None)


def norms(t):
    import torch
    F = torch.nn.functional
    lengths = dict(bf16=(1024, 4096, 16384, 65536, 50257, 4097, 17, 1025), f32=(4096, 16384, 65536, 50257))
    extra = dict(bf16=[(221184, 128), (128, 262144), (64, 1000000)], f32=[])
    for short in FLOATS:
        shapes = [(rows_of(c), c) for c in lengths[short]] + extra[short]
        dtype, size = types()[short]
        for shape in shapes:
            r, c = t.dims(*shape)
            x, w = t.normal((r, c), dtype), t.normal((c,), dtype)
            tol = 5e-3 if size == 2 else 1e-5
            yield dict(name="rmsnorm %dx%d %s" % (r, c, short), call=("norms", entry_for("rmsnorm", short, c)), args=[x, w, x, 1e-5, r, c], out=[2],
                       want=lambda x, w, y, e, r, c: [F.rms_norm(x.double(), (c,), w.double(), e)],
                       torch=lambda x, w, y, e, r, c: [F.rms_norm(x, (c,), w, e)], bytes=2 * size * r * c, tol=tol, triton="rmsnorm")
            yield dict(name="layernorm %dx%d %s" % (r, c, short), call=("norms", entry_for("layernorm", short, c)), args=[x, w, w, x, 1e-5, r, c], out=[3],
                       want=lambda x, w, b, y, e, r, c: [F.layer_norm(x.double(), (c,), w.double(), b.double(), e)],
                       torch=lambda x, w, b, y, e, r, c: [F.layer_norm(x, (c,), w, b, e)], bytes=2 * size * r * c, tol=tol, triton="layernorm")
    bf16 = torch.bfloat16

    def both(x, s, w, y, e, r, c):
        v = (x.float() + s.float()).to(x.dtype)
        return [v, F.rms_norm(v, (c,), w, e)]

    for shape in [(221184, 128)] + [(rows_of(c), c) for c in (1024, 4096, 16384, 65536, 50257, 4097)] + [(128, 262144), (64, 1000000)]:
        r, c = t.dims(*shape)
        x, w = t.normal((r, c), bf16), t.normal((c,), bf16)
        yield dict(name="add + rmsnorm %dx%d bf16" % (r, c), call=("norms", "add_rmsnorm_bf16"), args=[x, x, w, x, 1e-5, r, c], out=[1, 3], keep=[1],
                   want=both, torch=both, bytes=8 * r * c, tol=6e-3, triton="add_rmsnorm")

    def stats(r, centre, spread):
        """What the forward pass kept of each row: a mean, or one over a deviation."""
        return lambda: t.randn((r,), torch.float32) * spread + centre

    def rms_back(x, w, dy, k, dx, dw, r, c):
        x, w, dy, k = x.double(), w.double(), dy.double(), k.double()[:, None]
        n, g = x * k, dy * w
        return [k * (g - n * (g * n).mean(1, keepdim=True)), (dy * n).sum(0)]

    def rms_back_torch(x, w, dy, k, dx, dw, r, c):
        fused = getattr(torch.ops.aten, "_fused_rms_norm_backward", None)
        if fused and x.is_cuda: return list(fused(dy, x, (c,), k[:, None], w, [True, True]))
        x, w, dy, k = x.float(), w.float(), dy.float(), k[:, None]
        n, g = x * k, dy * w
        return [(k * (g - n * (g * n).mean(1, keepdim=True))).bfloat16(), (dy * n).sum(0).bfloat16()]

    def layer_back(x, w, dy, mean, k, dx, dw, db, r, c):
        x, w, dy, mean, k = x.double(), w.double(), dy.double(), mean.double()[:, None], k.double()[:, None]
        n, g = (x - mean) * k, dy * w
        return [k * (g - g.mean(1, keepdim=True) - n * (g * n).mean(1, keepdim=True)), (dy * n).sum(0), dy.sum(0)]

    def layer_back_torch(x, w, dy, mean, k, dx, dw, db, r, c):
        return list(torch.ops.aten.native_layer_norm_backward(dy, x, (c,), mean[:, None], k[:, None], w, w, [True, True, True]))

    for shape in ((16384, 4096), (513, 12288)):
        r, c = t.dims(*shape)
        x, w, g, mean, k = t.normal((r, c), bf16), t.normal((c,), bf16), t.normal((1, c), bf16), stats(r, 0, 0.1), stats(r, 1, 0.1)
        yield dict(name="rmsnorm backward %dx%d bf16" % (r, c), call=("backward", "rmsnorm_backward"), args=[x, w, x, k, x, g, r, c], out=[4, 5],
                   want=rms_back, torch=rms_back_torch, bytes=6 * r * c + 4 * r, tol=8e-3, triton="rmsnorm_backward")
        yield dict(name="layernorm backward %dx%d bf16" % (r, c), call=("backward", "layernorm_backward"),
                   args=[x, w, x, mean, k, x, g, g, r, c], out=[5, 6, 7],
                   want=layer_back, torch=layer_back_torch, bytes=6 * r * c + 8 * r, tol=8e-3, triton="layernorm_backward")


def moving(t):
    import torch
    F = torch.nn.functional
    bf16 = torch.bfloat16
    for m, n, short in ((16384, 16384, "f32"), (16384, 16384, "bf16"), (16384, 16384, "i8"), (4096, 4096, "f32"), (4097, 8193, "f32")):
        dtype, size = types()[short]
        m, n = t.dims(m, n)
        plain = lambda x, y, m, n: [x.t().contiguous()]
        yield dict(name="transpose %dx%d %s" % (m, n, short), call=("move", "transpose_" + short), args=[t.any((m, n), dtype), t.any((n, m), dtype), m, n],
                   out=[1], want=lambda x, y, m, n: [x.t()], torch=plain, bytes=2 * size * m * n, tol=0, triton="transpose")
    for shape in ((32, 1024, 16, 128), (33, 1023, 33, 33)):
        a, b, c, d = t.dims(*shape)
        yield dict(name="permute %dx%dx%dx%d bf16" % (a, b, c, d), call=("move", "permute_bf16"),
                   args=[t.any((a, b, c, d), bf16), t.any((a, c, b, d), bf16), a, b, c, d], out=[1], want=lambda x, y, *n: [x.permute(0, 2, 1, 3)],
                   torch=lambda x, y, *n: [x.permute(0, 2, 1, 3).contiguous()], bytes=4 * a * b * c * d, tol=0)
    for r, c, repeat in ((65536, 4096, 1), (65536, 4096, 64), (65536, 33, 1)):
        r, c, v = t.dims(r, c, 100000)
        v = max(v // repeat, 1)             # fewer rows than indices: most are read many times
        unique = min(r, v) if repeat > 1 else r
        yield dict(name="embedding %dx%d bf16%s" % (r, c, " repeated" if repeat > 1 else ""), call=("move", "embedding_bf16"),
                   args=[t.any((v, c), bf16), t.ints((r,), torch.int32, 0, v), t.any((r, c), bf16), v, c, r], out=[2],
                   want=lambda x, i, y, *n: [x[i.long()]], torch=lambda x, i, y, *n: [F.embedding(i, x)], bytes=2 * (r + unique) * c, tol=0, triton="embedding")

    def put(k, v, slot, kc, vc, *n):
        i = slot.long()
        kc[i] = k
        vc[i] = v
        return [kc, vc]

    r, c, s = t.dims(65536, 1024, 131072)
    s = max(s, 2 * r)
    yield dict(name="kv-cache append %dx%d bf16" % (r, c), call=("move", "append"),
               args=[t.any((r, c), bf16), t.any((r, c), bf16), t.distinct(r, s), t.any((s, c), bf16), t.any((s, c), bf16), r, c, s], out=[3, 4], keep=[3, 4],
               want=put, torch=put, bytes=8 * r * c, tol=0, triton="append")

    def turn(x, at, c, s, *n):
        v = x.to(c.dtype)
        cc, ss = c[at.long()][:, None, :], s[at.long()][:, None, :]
        a, b = v[:, :, 0, :], v[:, :, 1, :]
        return torch.stack([a * cc - b * ss, b * cc + a * ss], 2)

    r, h, d, p = t.dims(16384, 32, 64, 4096)
    yield dict(name="rope %dx%dx%d bf16" % (r, h, 2 * d), call=("move", "rope"),
               args=[t.any((r, h, 2, d), bf16), t.ints((r,), torch.int32, 0, p), t.cosines(p, d, 0), t.cosines(p, d, 1), r, h, d, p], out=[0], keep=[0],
               want=lambda x, at, c, s, *n: [turn(x, at, c.double(), s.double())], torch=lambda x, at, c, s, *n: [turn(x, at, c, s).to(x.dtype)],
               bytes=8 * r * h * d, tol=3e-3, triton="rope")


def stencils(t):
    import torch
    f32 = torch.float32
    F = torch.nn.functional

    def blur(*weights):
        def both(x, y, h, w):
            k = torch.tensor(weights, device=x.device, dtype=x.dtype)
            k = k / k.sum()
            v = F.conv2d(x[None, None], k[None, None, :, None], padding=(len(weights) // 2, 0))
            return [F.conv2d(v, k[None, None, None, :], padding=(0, len(weights) // 2))[0, 0]]
        return both

    def laplace(x, y, d, h, w):
        p = F.pad(x, (1, 1, 1, 1, 1, 1))
        s = p[:-2, 1:-1, 1:-1] + p[2:, 1:-1, 1:-1] + p[1:-1, :-2, 1:-1] + p[1:-1, 2:, 1:-1] + p[1:-1, 1:-1, :-2] + p[1:-1, 1:-1, 2:]
        return [s - 6 * x]

    h, w = t.dims(16384, 16384)
    for name, fn, weights in (("blur 3x3", "blur3", (1., 2., 1.)), ("blur 3x3 separable", "blur3_separable", (1., 2., 1.)),
                              ("blur 5x5 separable", "blur5_separable", (1., 4., 6., 4., 1.))):
        plain = blur(*weights)
        yield dict(name="%s %dx%d f32" % (name, h, w), call=("stencil", fn), args=[t.normal((h, w), f32), t.normal((h, w), f32), h, w], out=[1],
                   want=lambda x, y, h, w, plain=plain: plain(x.double(), y, h, w), torch=plain, bytes=8 * h * w, tol=1e-6, triton="blur%d" % len(weights))
    for shape in ((512, 512, 512), (1023, 515, 77)):
        d, h, w = t.dims(*shape)
        yield dict(name="laplace %dx%dx%d f32" % (d, h, w), call=("stencil", "laplace"), args=[t.normal((d, h, w), f32), t.normal((d, h, w), f32), d, h, w],
                   out=[1], want=lambda x, *n: laplace(x.double(), *n), torch=laplace, bytes=8 * d * h * w, tol=1e-6, triton="laplace")


GROUPS = (elementwise, reductions, scans, softmax, norms, moving, stencils)
