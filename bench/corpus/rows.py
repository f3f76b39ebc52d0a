"""Kernels of rows: norms, softmax and its relatives, quantisation, reductions, scans."""
from table import Both, Out

EPS = ("f32", 1e-5)


def norms(t):
    m = t.m

    def rms(v, eps=1e-5): return v / m.sqrt(m.mean(v * v, 1, True) + eps)
    def centred(v, axis=1): return v - m.mean(v, axis, True)

    def layer(v, eps=1e-5):
        d = centred(v)
        return d / m.sqrt(m.mean(d * d, 1, True) + eps)

    def rows_cols(size):
        c = t.columns()
        return t.rows(c, size), c

    def functional(): return m.torch.nn.functional

    r, c = rows_cols(4)
    yield t.case("rms norm", "norms.rms_norm", [t.normal("bf16", r, c), t.normal("f32", c), Out("bf16", r, c)], numbers=[EPS], dims=[r, c],
           want=lambda x, w, e: [rms(m.f(x)) * m.f(w)],
           peer=lambda x, w, e: [(functional().rms_norm(x.float(), x.shape[1:], w, e)).bfloat16()])
    r, c = rows_cols(8)
    yield t.case("rms norm", "norms.rms_norm_f32", [t.normal("f32", r, c), t.normal("f32", c), Out("f32", r, c)], numbers=[EPS], dims=[r, c],
           want=lambda x, w, e: [rms(m.f(x)) * m.f(w)], peer=lambda x, w, e: [functional().rms_norm(x, x.shape[1:], w, e)])
    r, c = rows_cols(4)
    yield t.case("layer norm", "norms.layer_norm", [t.normal("bf16", r, c), t.normal("f32", c), t.normal("f32", c), Out("bf16", r, c)],
           numbers=[EPS], dims=[r, c], want=lambda x, w, b, e: [layer(m.f(x)) * m.f(w) + m.f(b)],
           peer=lambda x, w, b, e: [functional().layer_norm(x.float(), x.shape[1:], w, b, e).bfloat16()])
    r, c = rows_cols(4)
    yield t.case("layer norm", "norms.layer_norm_plain", [t.normal("f16", r, c), Out("f16", r, c)], dims=[r, c],
           want=lambda x: [layer(m.f(x))], peer=lambda x: [functional().layer_norm(x, x.shape[1:])])
    r, c = rows_cols(8)
    yield t.case("rms norm", "norms.add_rms_norm", [t.normal("bf16", r, c), t.normal("bf16", r, c), t.normal("bf16", c), Out("bf16", r, c),
                                              Out("bf16", r, c)], numbers=[EPS], dims=[r, c],
           want=lambda x, s, w, e: [m.f(x) + m.f(s), rms(m.f(x) + m.f(s)) * m.f(w)],
           peer=lambda x, s, w, e: [(x + s), functional().rms_norm(x.float() + s.float(), x.shape[1:], w.float(), e).bfloat16()])
    n = t.columns()
    g = t.between(1, 64)
    b = t.count(g * n, 8)
    yield t.case("group norms", "norms.group_norm", [t.normal("f32", b, g, n), t.normal("f32", g), t.normal("f32", g), Out("f32", b, g, n)],
           numbers=[EPS], dims=[b, g, n],
           want=lambda x, w, s, e: [(layer(m.f(x).reshape(b * g, n)).reshape(b, g, n)) * m.f(w)[:, None] + m.f(s)[:, None]],
           peer=lambda x, w, s, e: [functional().group_norm(x, g, w, s, e)])
    r, c = rows_cols(4)
    yield t.case("group norms", "norms.instance_norm", [t.normal("bf16", r, c), Out("bf16", r, c), Out("f32", r)], dims=[r, c],
           want=lambda x: [layer(m.f(x)), m.mean(m.f(x), 1)],
           peer=lambda x: [functional().layer_norm(x.float(), x.shape[1:]).bfloat16(), x.float().mean(1)])
    r, c = rows_cols(4)
    channel = [t.normal("f32", c), t.uniform("f32", 0.5, 2, c), t.normal("f32", c), t.normal("f32", c)]
    yield t.case("group norms", "norms.batch_norm", [t.normal("bf16", r, c), *channel, Out("bf16", r, c)], dims=[r, c],
           want=lambda x, u, v, w, s: [(m.f(x) - m.f(u)) / m.sqrt(m.f(v) + 1e-5) * m.f(w) + m.f(s)],
           peer=lambda x, u, v, w, s: [((x - u) * (w * (v + 1e-5).rsqrt()) + s).bfloat16()])
    r, c = rows_cols(8)
    yield t.case("group norms", "norms.l2_normalise", [t.normal("f32", r, c), Out("f32", r, c)], dims=[r, c],
           want=lambda x: [m.f(x) / m.sqrt(m.sum(m.f(x) * m.f(x), 1, True))], peer=lambda x: [functional().normalize(x, dim=1)])
    r, c = rows_cols(3)

    def to_int8(v):
        s = m.maximum(m.max(m.abs(v), 1, True), 1e-12) / 127
        return [m.round(v / s), s[:, 0]]

    def peer_int8(x, w, e):
        v = functional().rms_norm(x.float(), x.shape[1:], w, e)
        s = v.abs().amax(1, keepdim=True).clamp(min=1e-12) / 127
        return [(v / s).round().to(m.torch.int8), s[:, 0]]

    yield t.case("row quantisation", "norms.rms_norm_int8", [t.normal("bf16", r, c), t.normal("f32", c), Out("i8", r, c), Out("f32", r)],
           numbers=[EPS], dims=[r, c], want=lambda x, w, e: to_int8(rms(m.f(x)) * m.f(w)), peer=peer_int8, tol=1e-2)
    r, c = rows_cols(6)

    def backward(x, w, dy, k):
        k = m.f(k)[:, None]
        v, g = m.f(x) * k, m.f(dy) * m.f(w)
        return [(g - v * m.mean(g * v, 1, True)) * k]

    def peer_backward(x, w, dy, k):
        v, g = x.float() * k[:, None], dy.float() * w
        return [((g - v * (g * v).mean(1, keepdim=True)) * k[:, None]).bfloat16()]

    yield t.case("norm gradients", "norms.rms_norm_dx", [t.normal("bf16", r, c), t.normal("f32", c), t.normal("bf16", r, c),
                                                   t.uniform("f32", 0.5, 2, r), Out("bf16", r, c)], dims=[r, c], want=backward,
           peer=peer_backward)


def softmax(t):
    m = t.m

    def logs(v):
        d = v - m.max(v, 1, True)
        return d - m.log(m.sum(m.exp(d), 1, True))

    def soft(v): return m.exp(logs(v))
    def functional(): return m.torch.nn.functional

    def rows_cols(size):
        c = t.columns()
        return t.rows(c, size), c

    for name, kind in (("softmax", "bf16"), ("softmax_f32", "f32")):
        r, c = rows_cols(8 if kind == "f32" else 4)
        yield t.case("softmax", "softmax." + name, [t.normal(kind, r, c), Out(kind, r, c)], dims=[r, c],
               want=lambda x: [soft(m.f(x))], peer=lambda x: [x.softmax(1)])
    r, c = rows_cols(8)
    yield t.case("softmax", "softmax.log_softmax", [t.normal("f32", r, c), Out("f32", r, c)], dims=[r, c],
           want=lambda x: [logs(m.f(x))], peer=lambda x: [x.log_softmax(1)])
    r, c = rows_cols(4)
    NONE = float("-inf")

    def causal(x, k):
        seen = m.arange(c)[None, :] <= m.arange(r)[:, None]
        return [soft(m.where(seen, m.f(x) * k, m.zeros(1) + NONE))]

    def peer_causal(x, k):
        seen = m.torch.ones(r, c, dtype=m.torch.bool, device=x.device).tril()
        return [(x.float() * k).masked_fill(~seen, NONE).softmax(1).bfloat16()]

    yield t.case("masked softmax", "softmax.causal_softmax", [t.normal("bf16", r, c), Out("bf16", r, c)], numbers=[("f32", 0.125)], dims=[r, c],
           want=causal, peer=peer_causal)
    r, c = rows_cols(5)

    def masked(x, k, b):
        v = m.where(k, m.f(x) + m.f(b), m.zeros(1) - 1e300)
        e = m.where(k, m.exp(v - m.max(v, 1, True)), m.zeros(1))
        return [e / m.maximum(m.sum(e, 1, True), 1e-30)]

    yield t.case("masked softmax", "softmax.masked_softmax", [t.normal("f16", r, c), t.ints("bool", 0, 2, r, c), t.normal("f32", c),
                                                        Out("f16", r, c)], dims=[r, c], want=masked,
           peer=lambda x, k, b: [(x.float() + b).masked_fill(~k, NONE).softmax(1).nan_to_num(0).half()])
    r, c = rows_cols(4)
    yield t.case("masked softmax", "softmax.capped_softmax", [t.normal("bf16", r, c), Out("bf16", r, c)], numbers=[("f32", 30.0)], dims=[r, c],
           want=lambda x, k: [soft(k * m.tanh(m.f(x) / k))], peer=lambda x, k: [(k * (x.float() / k).tanh()).softmax(1).bfloat16()])
    r, c = rows_cols(6)

    def softmax_gradient(y, dy):
        p, g = m.f(y), m.f(dy)
        return [p * (g - m.sum(p * g, 1, True))]

    def peer_gradient(y, dy):
        p, g = y.float(), dy.float()
        return [(p * (g - (p * g).sum(1, keepdim=True))).bfloat16()]

    yield t.case("softmax gradients", "softmax.softmax_backward", [t.normal("bf16", r, c), t.normal("bf16", r, c), Out("bf16", r, c)],
           dims=[r, c], want=softmax_gradient, peer=peer_gradient)
    r, c = rows_cols(2)
    yield t.case("losses", "softmax.nll", [t.normal("bf16", r, c), t.ints("i64", 0, c, r), Out("f32", r)], dims=[r, c],
           want=lambda x, k: [-m.along(logs(m.f(x)), m.i(k)[:, None], 1)[:, 0]],
           peer=lambda x, k: [functional().cross_entropy(x.float(), k, reduction="none")])
    r, c = rows_cols(4)

    def nll_gradient(x, k, s):
        hit = m.arange(c)[None, :] == m.i(k)[:, None]
        return [(soft(m.f(x)) - hit) * s if not m.torch else (soft(m.f(x)) - hit.double()) * s]

    def peer_nll_gradient(x, k, s):
        return [((x.float().softmax(1) - functional().one_hot(k, c)) * s).bfloat16()]

    yield t.case("losses", "softmax.nll_backward", [t.normal("bf16", r, c), t.ints("i64", 0, c, r), Out("bf16", r, c)],
           numbers=[("f32", 0.5)], dims=[r, c], want=nll_gradient, peer=peer_nll_gradient)
    r, c = rows_cols(4)
    yield t.case("losses", "softmax.log_sum_exp", [t.normal("f32", r, c), Out("f32", r)], dims=[r, c],
           want=lambda x: [m.log(m.sum(m.exp(m.f(x)), 1))], peer=lambda x: [x.logsumexp(1)])
    r, c = rows_cols(8)
    yield t.case("losses", "softmax.kl", [t.normal("f32", r, c), t.normal("f32", r, c), Out("f32", r)], dims=[r, c], tol=1e-3,
           want=lambda p, q: [m.sum(m.exp(m.f(q)) * (m.f(q) - m.f(p)), 1)], peer=lambda p, q: [(q.exp() * (q - p)).sum(1)])


def quantised(t):
    m = t.m

    def rows_cols(size):
        c = t.columns()
        return t.rows(c, size), c

    def by_rows(v, top, whole):
        s = m.maximum(m.max(m.abs(v), 1, True), 1e-12) / top
        return [m.round(v / s) if whole else v / s, s[:, 0]]

    def peer_rows(x, top, name):
        s = x.float().abs().amax(1, keepdim=True).clamp(min=1e-12) / top
        q = x.float() / s
        return [(q.round() if name == "i8" else q).to(m.types[name]), s[:, 0]]

    for call, kind, name, top in (("rows_to_int8", "bf16", "i8", 127), ("rows_to_int8_f32", "f32", "i8", 127),
                                  ("rows_to_fp8", "bf16", "f8e4m3", 448)):
        r, c = rows_cols(5 if kind == "f32" else 3)
        yield t.case("row quantisation", "quantise." + call, [t.normal(kind, r, c), Out(name, r, c), Out("f32", r)], dims=[r, c],
               want=lambda x, top=top, name=name: by_rows(m.f(x), top, name == "i8"),
               peer=lambda x, top=top, name=name: peer_rows(x, top, name), tol=6e-2 if name != "i8" else 1e-2)
    for kind in ("bf16", "f32"):
        r, c = rows_cols(5 if kind == "f32" else 3)
        k = -(-c // 128)

        def blocks(x, r=r, c=c, k=k):
            v = m.pad(m.f(x), ((0, 0), (0, 128 * k - c))).reshape(r, k, 128)
            s = m.maximum(m.max(m.abs(v), 2, True), 1e-12) / 448
            return [(v / s).reshape(r, 128 * k)[:, :c], s[:, :, 0]]

        def peer_blocks(x, r=r, c=c, k=k):
            v = m.torch.nn.functional.pad(x.float(), (0, 128 * k - c)).view(r, k, 128)
            s = v.abs().amax(2, keepdim=True).clamp(min=1e-12) / 448
            return [(v / s).to(m.torch.float8_e4m3fn).view(r, 128 * k)[:, :c], s[:, :, 0]]

        yield t.case("block quantisation", "quantise.blocks_to_fp8_" + kind, [t.normal(kind, r, c), Out("f8e4m3", r, c), Out("f32", r, k)],
               dims=[r, c], want=blocks, peer=peer_blocks, tol=6e-2)
    r, c = rows_cols(3)
    rk, ck = -(-r // 128), -(-c // 128)

    def squares(x):
        v = m.pad(m.f(x), ((0, 128 * rk - r), (0, 128 * ck - c))).reshape(rk, 128, ck, 128)
        s = m.maximum(m.max(m.max(m.abs(v), 3, True), 1, True), 1e-12) / 448
        return [(v / s).reshape(128 * rk, 128 * ck)[:r, :c], s[:, 0, :, 0]]

    def peer_squares(x):
        v = m.torch.nn.functional.pad(x.float(), (0, 128 * ck - c, 0, 128 * rk - r)).view(rk, 128, ck, 128)
        s = v.abs().amax((1, 3), keepdim=True).clamp(min=1e-12) / 448
        return [(v / s).to(m.torch.float8_e4m3fn).view(128 * rk, 128 * ck)[:r, :c], s[:, 0, :, 0]]

    yield t.case("block quantisation", "quantise.tiles_to_fp8", [t.normal("bf16", r, c), Out("f8e4m3", r, c), Out("f32", rk, ck)], dims=[r, c],
           want=squares, peer=peer_squares, tol=6e-2)
    r, c = rows_cols(3)
    yield t.case("dequantisation", "quantise.int8_to_bf16", [t.ints("i8", -127, 128, r, c), t.uniform("f32", 0.01, 1, r), Out("bf16", r, c)],
           dims=[r, c], want=lambda q, s: [m.f(q) * m.f(s)[:, None]], peer=lambda q, s: [(q * s[:, None]).bfloat16()])
    n = t.length(5)
    yield t.case("dequantisation", "quantise.fp8_to_f32", [t.normal("f8e5m2", n), Out("f32", n)], numbers=[("f32", 0.25)], dims=[n],
           want=lambda q, s: [m.f(q) * s], peer=lambda q, s: [q.float() * s])
    r, c = rows_cols(5)
    k = -(-c // 64)

    def nibbles(q, s):
        b = m.i(q)
        v = m.stack([b % 16, b // 16], 2)
        v = m.f(m.where(v > 7, v - 16, v)).reshape(r, 2 * c)
        return [v * m.repeat(m.f(s), 128, 1)[:, :2 * c]]

    def peer_nibbles(q, s):
        v = m.torch.stack([q & 15, q >> 4], 2).to(m.torch.int8)
        v = m.torch.where(v > 7, v - 16, v).view(r, 2 * c)
        return [(v * s.repeat_interleave(128, 1)[:, :2 * c]).bfloat16()]

    yield t.case("dequantisation", "quantise.int4_to_bf16", [t.ints("u8", 0, 256, r, c), t.uniform("f32", 0.01, 1, r, k), Out("bf16", r, 2 * c)],
           dims=[r, c], want=nibbles, peer=peer_nibbles)
    r, c = rows_cols(2)
    yield t.case("column reductions", "quantise.amax_columns", [t.normal("bf16", r, c), Out("f32", c)], dims=[r, c],
           want=lambda x: [m.max(m.abs(m.f(x)), 0)], peer=lambda x: [x.abs().amax(0).float()], tol=0)


def reductions(t):
    m = t.m

    def rows_cols(size, hi=300000):
        c = t.columns(hi=hi)
        return t.rows(c, size), c

    r, c = rows_cols(4)
    yield t.case("row reductions", "reductions.sum_rows", [t.normal("f32", r, c), Out("f32", r)], dims=[r, c],
           want=lambda x: [m.sum(m.f(x), 1)], peer=lambda x: [x.sum(1)])
    r, c = rows_cols(4)
    yield t.case("column reductions", "reductions.sum_columns", [t.normal("f32", r, c), Out("f32", c)], dims=[r, c],
           want=lambda x: [m.sum(m.f(x), 0)], peer=lambda x: [x.sum(0)], tol=1e-3)
    b, c = t.side(), t.side()
    a = t.count(b * c, 2)
    yield t.case("column reductions", "reductions.sum_middle", [t.normal("bf16", a, b, c), Out("f32", a, c)], dims=[a, b, c],
           want=lambda x: [m.sum(m.f(x), 1)], peer=lambda x: [x.float().sum(1)])
    h, w = t.side(), t.side()
    p = t.count(h * w, 2)
    yield t.case("row reductions", "reductions.max_planes", [t.normal("f16", p, h, w), Out("f16", p)], dims=[p, h, w],
           want=lambda x: [m.max(m.max(m.f(x), 2), 1)], peer=lambda x: [x.amax((1, 2))], tol=0)
    ch, s = t.between(1, 512), t.side()
    n = t.count(ch * s, 4)
    yield t.case("column reductions", "reductions.sum_outer", [t.normal("f32", n, ch, s), Out("f32", ch)], dims=[n, ch, s],
           want=lambda x: [m.sum(m.sum(m.f(x), 2), 0)], peer=lambda x: [x.sum((0, 2))], tol=1e-3)
    r, c = rows_cols(4, hi=8192)

    def spread(v, axis):
        d = v - m.mean(v, axis, True)
        return [m.mean(v, axis), m.mean(d * d, axis)]

    yield t.case("statistics", "reductions.mean_var_columns", [t.normal("f32", r, c), Out("f32", c), Out("f32", c)], dims=[r, c],
           want=lambda x: spread(m.f(x), 0), peer=lambda x: [x.mean(0), x.var(0, correction=0)], tol=1e-3)
    r, c = rows_cols(2)
    yield t.case("statistics", "reductions.mean_var_rows", [t.normal("bf16", r, c), Out("f32", r), Out("f32", r)], dims=[r, c],
           want=lambda x: spread(m.f(x), 1), peer=lambda x: [x.float().mean(1), x.float().var(1, correction=0)], tol=1e-3)
    r, c = rows_cols(4)
    yield t.case("row reductions", "reductions.dot_rows", [t.normal("bf16", r, c), t.normal("bf16", r, c), Out("f32", r)], dims=[r, c],
           want=lambda x, y: [m.sum(m.f(x) * m.f(y), 1)], peer=lambda x, y: [(x.float() * y.float()).sum(1)])
    n = t.length(2)
    yield t.case("statistics", "reductions.global_norm", [t.normal("bf16", n), Out("f32", 1)], dims=[n],
           want=lambda x: [m.sqrt(m.sum(m.f(x) * m.f(x))).reshape(1)], peer=lambda x: [x.float().square().sum().sqrt().reshape(1)])
    r, c = rows_cols(2)
    yield t.case("places of extremes", "reductions.argmax_rows", [t.uniform("bf16", -4, 4, r, c), Out("i32", r)], dims=[r, c],
           want=lambda x: [m.argmax(m.f(x), 1)], peer=lambda x: [x.argmax(1).int()])
    r, c = rows_cols(4)
    yield t.case("places of extremes", "reductions.argmin_columns", [t.normal("f32", r, c), Out("i32", c)], dims=[r, c],
           want=lambda x: [m.argmin(m.f(x), 0)], peer=lambda x: [x.argmin(0).int()])
    c = t.between(8, 1024)
    r = t.rows(c, 4)

    def best(x):
        v = m.f(x)
        if m.torch:
            values, at = v.sort(dim=1, descending=True, stable=True)     # torch's own topk says nothing of equal elements
            return [values[:, :8], at[:, :8]]
        at = m.np.argsort(-v, 1, "stable")[:, :8]
        return [m.along(v, at, 1), at]

    yield t.case("places of extremes", "reductions.top8", [t.normal("f32", r, c), Out("f32", r, 8), Out("i32", r, 8)], dims=[r, c], want=best,
           peer=lambda x: [x.topk(8, 1)[0], x.topk(8, 1)[1].int()], tol=0)


def scans(t):
    m = t.m

    def rows_cols(size, hi=300000):
        c = t.columns(hi=hi)
        return t.rows(c, size), c

    for name, kind in (("cumsum_f32", "f32"), ("cumsum_bf16", "bf16")):
        r, c = rows_cols(8 if kind == "f32" else 4)
        yield t.case("scans", "scans." + name, [t.normal(kind, r, c), Out(kind, r, c)], dims=[r, c], want=lambda x: [m.cumsum(m.f(x), 1)],
               peer=lambda x: [x.cumsum(1, dtype=m.torch.float32).to(x.dtype)])
    r, c = rows_cols(8)
    yield t.case("scans", "scans.exclusive_counts", [t.ints("i32", 0, 2, r, c), Out("i32", r, c)], dims=[r, c],
           want=lambda x: [m.cumsum(m.i(x), 1) - m.i(x)], peer=lambda x: [x.cumsum(1, dtype=m.torch.int32) - x])
    r, c = rows_cols(8)
    yield t.case("scans", "scans.cummax", [t.normal("f32", r, c), Out("f32", r, c)], dims=[r, c], want=lambda x: [m.cummax(m.f(x), 1)],
           peer=lambda x: [x.cummax(1)[0]], tol=0)
    r, c = rows_cols(8)
    yield t.case("scans", "scans.returns", [t.normal("f32", r, c), Out("f32", r, c)], dims=[r, c],
           want=lambda x: [m.flip(m.cumsum(m.flip(m.f(x), 1), 1), 1)], peer=lambda x: [x.flip(1).cumsum(1).flip(1)])

    def steps(a, b, axis):
        """h[i] = a[i] h[i - 1] + b[i]"""
        a, b, n = m.f(a), m.f(b), a.shape[axis]
        h, out = 0, []
        for i in range(n):
            h = (a[:, i] if axis else a[i]) * h + (b[:, i] if axis else b[i])
            out.append(h)
        return m.stack(out, axis)

    def doubling(a, b, axis):
        """The same by steps of 1, 2, 4 ...: what torch can do."""
        T, n, d = m.torch, a.shape[axis], 1
        a, b = (a.float(), b.float()) if axis else (a.float().T, b.float().T)
        while d < n:
            b = T.cat([b[:, :d], a[:, d:] * b[:, :-d] + b[:, d:]], 1)
            a = T.cat([a[:, :d], a[:, d:] * a[:, :-d]], 1)
            d *= 2
        return b if axis else b.T

    r, c = rows_cols(12, hi=65536)
    yield t.case("recurrences", "scans.linear_recurrence", [t.uniform("f32", 0.5, 0.99, r, c), t.normal("f32", r, c), Out("f32", r, c)],
           dims=[r, c], want=lambda a, b: [m.f(doubling(m.f(a), m.f(b), 1)) if m.torch else steps(a, b, 1)],
           peer=lambda a, b: [doubling(a, b, 1)])
    s, c = (t.between(1, 60), t.side()) if t.small else (t.between(64, 4096), t.between(1024, 65536, 8))
    yield t.case("recurrences", "scans.recurrence_over_time", [t.uniform("bf16", 0.5, 0.99, s, c), t.normal("bf16", s, c), Out("bf16", s, c)],
           dims=[s, c], want=lambda a, b: [steps(a, b, 0)], peer=lambda a, b: [doubling(a, b, 0).bfloat16()])
    n = t.columns(hi=8192)
    r = t.rows(n, 28)

    def sigmoid(x): return 1 / (1 + m.exp(-x))

    def cell(g, c):
        g = m.f(g)
        s = m.f(c) * sigmoid(g[:, 1]) + m.tanh(g[:, 2]) * sigmoid(g[:, 0])
        return [s, m.tanh(s) * sigmoid(g[:, 3])]

    def peer_cell(g, c):
        s = c * g[:, 1].sigmoid() + g[:, 2].tanh() * g[:, 0].sigmoid()
        return [s, s.tanh() * g[:, 3].sigmoid()]

    yield t.case("recurrences", "scans.lstm_cell", [t.normal("f32", r, 4, n), Both(t.normal("f32", r, n)), Out("f32", r, n)], dims=[r, n],
           want=cell, peer=peer_cell)
    c = t.columns(hi=4096)
    r = t.rows(c, 4)
    k = t.between(1, max(2, r // 4))
    yield t.case("segments", "scans.segment_sum", [t.normal("f32", r, c), t.ints("i32", 0, k, r), Both(t.normal("f32", k, c))], dims=[r, c, k],
           want=lambda x, i, y: [m.add_rows(m.f(y), m.i(i), m.f(x))], peer=lambda x, i, y: [y.index_add(0, i, x)])
    n = t.length(4)
    k = max(2, n // t.between(16, 4096))

    def greatest(x, first):
        v, at = m.f(x), [int(i) for i in first]
        out = m.zeros(len(at)) + float("-inf")
        if m.torch:
            ids = m.torch.repeat_interleave(m.arange(k - 1), m.i(first[1:] - first[:-1]))
            return [out[:-1].scatter_reduce(0, ids, v, "amax")]
        for i in range(len(at) - 1):
            if at[i] < at[i + 1]: out[i] = v[at[i]:at[i + 1]].max()
        return [out[:-1]]

    yield t.case("segments", "scans.segment_max", [t.normal("f32", n), t.borders(k, n), Out("f32", k - 1)], dims=[n, k], want=greatest,
           peer=lambda x, first: [m.torch.segment_reduce(x, "max", offsets=first.long())], tol=0)


GROUPS = (norms, softmax, quantised, reductions, scans)
