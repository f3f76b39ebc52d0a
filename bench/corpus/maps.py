"""Kernels of elements: optimisers, activations, embeddings, rotary embeddings, random numbers, sparse rows, counts."""
from table import Both, Out


def optimisers(t):
    m = t.m
    RATE, B1, B2, DECAY = ("f32", 1e-3), ("f32", 0.9), ("f32", 0.99), ("f32", 0.01)

    def variance(n): return t.uniform("f32", 0.1, 1, n)

    def adam(p, a, v, g, lr, b1, b2, decay=0.0):
        p, a, v, g = m.f(p), m.f(a), m.f(v), m.f(g)
        a, v = b1 * a + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        return [p - lr * (a / (m.sqrt(v) + 1e-8) + decay * p), a, v]

    def peer_adam(p, a, v, g, lr, b1, b2, decay=0.0):
        a, v = b1 * a + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        return [p - lr * (a / (v.sqrt() + 1e-8) + decay * p), a, v]

    n = t.length(28)
    yield t.case("optimisers", "optimisers.adamw", [Both(t.normal("f32", n)), Both(t.normal("f32", n)), Both(variance(n)), t.normal("f32", n)],
           numbers=[RATE, B1, B2, DECAY], dims=[n], want=adam, peer=peer_adam)
    n = t.length(28)

    def mixed(f):
        def both(p, a, v, g, lr, b1, b2):
            out = f(p, a, v, g.float() if m.torch else g, lr, b1, b2)
            return out + [out[0] if f is adam else out[0].bfloat16()]
        return both

    yield t.case("optimisers", "optimisers.adamw_mixed", [Both(t.normal("f32", n)), Both(t.normal("f32", n)), Both(variance(n)),
                                                    t.normal("bf16", n), Out("bf16", n)], numbers=[RATE, B1, B2], dims=[n],
           want=mixed(adam), peer=mixed(peer_adam))
    n = t.length(20)
    yield t.case("optimisers", "optimisers.sgd_momentum", [Both(t.normal("f32", n)), Both(t.normal("f32", n)), t.normal("f32", n)],
           numbers=[RATE, B1], dims=[n], want=lambda p, a, g, lr, b: [m.f(p) - lr * (b * m.f(a) + m.f(g)), b * m.f(a) + m.f(g)],
           peer=lambda p, a, g, lr, b: [p - lr * (b * a + g), b * a + g])
    n = t.length(10)

    def lion(p, a, g, lr, b1, b2):
        p, a, g = m.f(p), m.f(a), m.f(g)
        return [p - lr * m.sign(b1 * a + (1 - b1) * g), b2 * a + (1 - b2) * g]

    def peer_lion(p, a, g, lr, b1, b2):
        x, y = a.float(), g.float()
        return [(p.float() - lr * (b1 * x + (1 - b1) * y).sign()).bfloat16(), (b2 * x + (1 - b2) * y).bfloat16()]

    yield t.case("optimisers", "optimisers.lion", [Both(t.normal("bf16", n)), Both(t.normal("bf16", n)), t.normal("bf16", n)],
           numbers=[RATE, B1, B2], dims=[n], want=lion, peer=peer_lion)
    n = t.length(20)
    yield t.case("optimisers", "optimisers.adagrad", [Both(t.normal("f32", n)), Both(variance(n)), t.normal("f32", n)], numbers=[RATE], dims=[n],
           want=lambda p, s, g, lr: [m.f(p) - lr * m.f(g) / (m.sqrt(m.f(s) + m.f(g) * m.f(g)) + 1e-10), m.f(s) + m.f(g) * m.f(g)],
           peer=lambda p, s, g, lr: [p - lr * g / ((s + g * g).sqrt() + 1e-10), s + g * g])
    n = t.length(10)
    yield t.case("optimisers", "optimisers.ema", [Both(t.normal("f32", n)), t.normal("bf16", n)], numbers=[("f32", 0.01)], dims=[n],
           want=lambda a, p, k: [m.f(a) + k * (m.f(p) - m.f(a))], peer=lambda a, p, k: [a + k * (p.float() - a)])


def activations(t):
    m = t.m
    C = 0.7978845608

    def sigmoid(x): return 1 / (1 + m.exp(-x))
    def gelu(x): return 0.5 * x * (1 + m.erf(x * 0.5 ** 0.5))
    def functional(): return m.torch.nn.functional

    def map_of(name, kind, want, peer):
        n = t.length(8 if kind == "f32" else 4)
        return t.case("activations", "activations." + name, [t.normal(kind, n), Out(kind, n)], dims=[n], want=lambda x: [want(m.f(x))],
               peer=lambda x: [peer(x)])

    yield map_of("gelu_tanh", "bf16", lambda v: 0.5 * v * (1 + m.tanh(C * (v + 0.044715 * v * v * v))),
           lambda x: functional().gelu(x, approximate="tanh"))
    yield map_of("gelu_erf", "f16", gelu, lambda x: functional().gelu(x))
    yield map_of("silu", "f32", lambda v: v * sigmoid(v), lambda x: functional().silu(x))
    yield map_of("squared_relu", "bf16", lambda v: m.maximum(v, 0.0) * m.maximum(v, 0.0), lambda x: x.relu().square())
    yield map_of("mish", "f32", lambda v: v * m.tanh(m.log1p(m.exp(v))), lambda x: functional().mish(x))
    n = t.length(6)

    def gelu_gradient(x, dy):
        v = m.f(x)
        return [m.f(dy) * (0.5 * (1 + m.erf(v * 0.5 ** 0.5)) + v * 0.3989422804 * m.exp(-0.5 * v * v))]

    def peer_gelu_gradient(x, dy):
        v = x.float()
        return [(dy.float() * (0.5 * (1 + (v * 0.5 ** 0.5).erf()) + v * 0.3989422804 * (-0.5 * v * v).exp())).bfloat16()]

    yield t.case("activation gradients", "activations.gelu_erf_backward", [t.normal("bf16", n), t.normal("bf16", n), Out("bf16", n)], dims=[n],
           want=gelu_gradient, peer=peer_gelu_gradient)
    h = t.columns(hi=32768)
    r = t.rows(h, 6)

    def halves(x):
        v = m.f(x)
        return [v[:, :h] * sigmoid(v[:, :h]) * v[:, h:]]

    yield t.case("gated products", "activations.swiglu_packed", [t.normal("bf16", r, 2 * h), Out("bf16", r, h)], dims=[r, h], want=halves,
           peer=lambda x: [functional().silu(x[:, :h]) * x[:, h:]])
    n = t.length(6)
    yield t.case("gated products", "activations.geglu", [t.normal("f16", n), t.normal("f16", n), Out("f16", n)], dims=[n],
           want=lambda a, b: [gelu(m.f(a)) * m.f(b)], peer=lambda a, b: [functional().gelu(a) * b])
    n = t.length(10)

    def gate_gradients(a, b, dy):
        u, v, g = m.f(a), m.f(b), m.f(dy)
        s = sigmoid(u)
        return [g * v * s * (1 + u * (1 - s)), g * u * s]

    def peer_gate_gradients(a, b, dy):
        u, v, g = a.float(), b.float(), dy.float()
        s = u.sigmoid()
        return [(g * v * s * (1 + u * (1 - s))).bfloat16(), (g * u * s).bfloat16()]

    yield t.case("activation gradients", "activations.swiglu_backward", [t.normal("bf16", n), t.normal("bf16", n), t.normal("bf16", n),
                                                                   Out("bf16", n), Out("bf16", n)], dims=[n], want=gate_gradients,
           peer=peer_gate_gradients)
    c = t.columns()
    r = t.rows(c, 9)
    yield t.case("activations", "activations.bias_relu_mask", [t.normal("f32", r, c), t.normal("f32", c), Out("f32", r, c), Out("bool", r, c)],
           dims=[r, c], want=lambda x, b: [m.maximum(m.f(x) + m.f(b), 0.0), (x + b) > 0], peer=lambda x, b: [(x + b).relu(), x + b > 0])


def embeddings(t):
    m = t.m

    def shape(size):
        c = t.columns(hi=16384)
        return t.rows(c, size), c, t.between(10, 100 if t.small else 130000)

    r, c, w = shape(4)
    w = min(w, max(64, (1 << 31) // c))
    yield t.case("embeddings", "embeddings.embedding", [t.normal("bf16", w, c), t.ints("i64", 0, w, r), Out("bf16", r, c)], dims=[w, c, r],
           want=lambda x, i: [m.f(x[m.i(i)])], peer=lambda x, i: [x[i]], tol=0, moved=4 * r * c)
    r, c, w = shape(10)
    w = min(w, max(64, (1 << 30) // c))
    yield t.case("embeddings", "embeddings.embedding_with_position",
           [t.normal("f32", w, c), t.normal("f32", r, c), t.ints("i32", 0, w, r), Out("bf16", r, c)], dims=[w, c, r],
           want=lambda x, p, i: [m.f(x)[m.i(i)] + m.f(p)], peer=lambda x, p, i: [(x[i] + p).bfloat16()], moved=10 * r * c)
    r, c, w = shape(36)
    w = min(w, max(64, (1 << 29) // c))
    yield t.case("embeddings", "embeddings.bag", [t.normal("f32", w, c), t.ints("i32", 0, w, r, 8), Out("f32", r, c)], dims=[w, c, r],
           want=lambda x, i: [m.mean(m.f(x)[m.i(i)], 1)], peer=lambda x, i: [m.torch.nn.functional.embedding_bag(i, x, mode="mean")],
           moved=36 * r * c)
    r, c, w = shape(6)
    w = min(w, max(64, (1 << 29) // c))
    yield t.case("embedding gradients", "embeddings.embedding_backward",
           [t.normal("bf16", r, c), t.ints("i32", 0, w, r), Both(t.normal("f32", w, c))], dims=[r, c, w],
           want=lambda dy, i, dw: [m.add_rows(m.f(dw), m.i(i), m.f(dy))], peer=lambda dy, i, dw: [dw.index_add(0, i, dy.float())],
           moved=10 * r * c)
    r, c, w = shape(4)
    yield t.case("row gathers", "embeddings.permute_tokens", [t.normal("bf16", r, c), t.order(r, r), Out("bf16", r, c)], dims=[r, c],
           want=lambda x, i: [m.f(x[m.i(i)])], peer=lambda x, i: [x[i]], tol=0)


def rope(t):
    m = t.m

    def shape(size):
        half = t.draw.choice((16, 32, 48, 64, 40))
        heads = t.between(1, 64)
        return t.count(heads * half * 2, size), heads, half

    def turn(a, b, c, s): return a * c - b * s, b * c + a * s

    def halves(back):
        def f(x, c, s):
            v, c, s = m.f(x), m.f(c)[:, None], m.f(s)[:, None]
            h = v.shape[2] // 2
            return [m.cat(turn(v[:, :, :h], v[:, :, h:], c, -s if back else s), 2)]

        def peer(x, c, s):
            v, c, s = x.float(), c[:, None], s[:, None]
            h = v.shape[2] // 2
            return [m.torch.cat(turn(v[:, :, :h], v[:, :, h:], c, -s if back else s), 2).to(x.dtype)]
        return f, peer

    for name, back in (("rope_halves", False), ("rope_halves_backward", True)):
        n, h, d = shape(4)
        want, peer = halves(back)
        yield t.case("rotary embeddings", "rope." + name, [t.normal("bf16", n, h, 2 * d), t.normal("f32", n, d), t.normal("f32", n, d),
                                                     Out("bf16", n, h, 2 * d)], dims=[n, h, d], want=want, peer=peer)
    n, h, d = shape(4)

    def pairs(x, c, s):
        v, c, s = m.f(x), m.f(c)[:, None], m.f(s)[:, None]
        return [m.stack(turn(v[..., 0], v[..., 1], c, s), 3)]

    def peer_pairs(x, c, s):
        v, c, s = x.float(), c[:, None], s[:, None]
        return [m.torch.stack(turn(v[..., 0], v[..., 1], c, s), 3).half()]

    yield t.case("rotary embeddings", "rope.rope_pairs", [t.normal("f16", n, h, d, 2), t.normal("f32", n, d), t.normal("f32", n, d),
                                                    Out("f16", n, h, d, 2)], dims=[n, h, d], want=pairs, peer=peer_pairs)
    n, h, d = shape(4)
    n = min(n, 2000)

    def angles(x, first):
        a = (first + m.f(m.arange(n)))[:, None, None] * m.exp(m.f(m.arange(d)) * (-9.210340372 / d))
        v = m.f(x)
        return [m.stack(turn(v[:, :, 0], v[:, :, 1], m.cos(a), m.sin(a)), 2)]

    def peer_angles(x, first):
        T = m.torch
        a = (first + T.arange(n, device=x.device).float())[:, None, None] * T.exp(T.arange(d, device=x.device) * (-9.210340372 / d))
        v = x.float()
        return [T.stack(turn(v[:, :, 0], v[:, :, 1], a.cos(), a.sin()), 2).bfloat16()]

    yield t.case("rotary embeddings", "rope.rope_computed", [Both(t.normal("bf16", n, h, 2, d))], numbers=[("i32", 5)], dims=[n, h, d],
           want=angles, peer=peer_angles)


def counts(t):
    m = t.m
    n = t.length(1)
    yield t.case("histograms", "counts.histogram_bytes", [t.ints("u8", 0, 256, n), Both(t.ints("i32", 0, 9, 256))], dims=[n],
           want=lambda x, y: [m.i(y) + m.counts(m.i(x), 256)], peer=lambda x, y: [y + m.torch.bincount(x.int(), minlength=256).int()])
    n = t.length(4)

    def bins(x, y, lo, width):
        k = m.floor((m.f(x) - m.f(m.zeros(1) + lo)) / width)
        return [m.i(y) + m.counts(m.i(k[(k >= 0) & (k < 64)]), 64)]

    def peer_bins(x, y, lo, width):
        return [y + m.torch.histc(x, 64, lo, lo + 64 * width).int()]

    yield t.case("histograms", "counts.histogram_floats", [t.normal("f32", n), Both(t.ints("i32", 0, 9, 64))], numbers=[("f32", -4.0), ("f32", 0.125)],
           dims=[n], want=bins, peer=peer_bins, tol=1e-5)
    n, k = t.length(4), t.between(100, 1000 if t.small else 1000000)
    yield t.case("histograms", "counts.bincount", [t.ints("i32", 0, k, n), Both(t.ints("i32", 0, 9, k))], dims=[n, k],
           want=lambda x, y: [m.i(y) + m.counts(m.i(x), k)], peer=lambda x, y: [y + m.torch.bincount(x, minlength=k).int()])

    def short(size):
        c = t.between(1, 4096)
        return t.rows(c, size), c

    r, c = short(8)
    yield t.case("sorted rows", "counts.sort_rows", [t.normal("f32", r, c), Out("f32", r, c)], dims=[r, c], want=lambda x: [m.sort(m.f(x), 1)],
           peer=lambda x: [x.sort(1)[0]], tol=0)
    r, c = short(8)
    yield t.case("sorted rows", "counts.sort_integers", [t.ints("i32", -9999, 9999, r, c), Out("i32", r, c)], dims=[r, c],
           want=lambda x: [m.flip(m.sort(m.i(x), 1), 1)], peer=lambda x: [x.sort(1, descending=True)[0]])
    r, c = short(4)
    yield t.case("sorted rows", "counts.median_rows", [t.normal("f32", r, c), Out("f32", r)], dims=[r, c],
           want=lambda x: [m.sort(m.f(x), 1)[:, (c - 1) // 2]], peer=lambda x: [x.median(1)[0]], tol=0)
    n = t.length(132) if t.small else t.length(4) // 32 + 1
    yield t.case("packed bits", "counts.pack_signs", [t.normal("f32", 32 * n), Out("u32", n)], dims=[n],
           want=lambda x: [m.sum(m.i(x.reshape(n, 32) > 0) * 2 ** m.arange(32), 1)],
           peer=lambda x: [((x.view(n, 32) > 0) * (2 ** m.torch.arange(32, device=x.device))).sum(1).to(m.torch.int32)])
    n = t.length(68)
    yield t.case("packed bits", "counts.unpack_signs", [t.ints("u32", 0, 2 ** 31, n), Out("bf16", 32 * n)], dims=[n], tol=0,
           want=lambda x: [m.f(2 * (m.i(x)[:, None] // 2 ** m.arange(32) % 2) - 1).reshape(32 * n)],
           peer=lambda x: [(2 * (x[:, None] >> m.torch.arange(32, device=x.device) & 1) - 1).bfloat16().view(-1)])
    c = t.columns(hi=1024)
    r = t.rows(c, 4)

    def bits(x):
        total = 0
        for k in range(31): total = total + x // 2 ** k % 2
        return total

    def differ(x, q):
        """a ^ b has bits(a) + bits(b) - 2 bits(a & b) ones; bit by bit, so that both kinds of arrays do it alike."""
        x, q = m.i(x), m.i(q)
        total = 0
        for k in range(31): total = total + (x // 2 ** k % 2 != q // 2 ** k % 2)
        return [m.sum(m.i(total), 1)]

    def peer_differ(x, q):
        v = x ^ q
        v = v - (v >> 1 & 0x55555555)
        v = (v & 0x33333333) + (v >> 2 & 0x33333333)
        return [((v + (v >> 4) & 0x0f0f0f0f) * 0x01010101 >> 24).sum(1).int()]

    yield t.case("packed bits", "counts.hamming", [t.ints("u32", 0, 2 ** 31, r, c), t.ints("u32", 0, 2 ** 31, c), Out("i32", r)], dims=[r, c],
           want=differ, peer=peer_differ)


def sampled(t):
    """Random numbers differ from torch's: what is checked of them are their moments; peers run as they are."""
    m = t.m
    SEED = ("u64", 12345)
    n = t.length(4)
    yield t.case("random numbers", "random.normal_numbers", [Out("f32", n)], numbers=[SEED], dims=[n], want=None,
           peer=lambda s: [m.torch.randn(n, device=t.device)])
    n = t.length(4)
    yield t.case("random numbers", "random.dropout", [t.normal("bf16", n), Out("bf16", n)], numbers=[("f32", 0.25), SEED], dims=[n], want=None,
           peer=lambda x, p, s: [m.torch.nn.functional.dropout(x, p)])
    c = t.columns()
    r = min(t.rows(c, 6), (1 << 31) // c - 1)
    yield t.case("random numbers", "random.bias_dropout_add", [t.normal("f16", r, c), t.normal("f16", c), t.normal("f16", r, c), Out("f16", r, c)],
           numbers=[("f32", 0.25), SEED], dims=[r, c], want=None,
           peer=lambda x, b, s, p, seed: [s + m.torch.nn.functional.dropout(x + b, p)])
    n = t.between(2, 9) if t.small else t.between(1000, 100000)
    yield t.case("Monte Carlo", "random.points_in_circle", [Out("i32", n)], numbers=[SEED], dims=[n], want=None,
           peer=lambda s: [(m.torch.rand(2, n, 8192, device=t.device).square().sum(0) < 1).sum(1, dtype=m.torch.int32)])
    n, k = (3, 4) if t.small else (t.between(1000, 20000), t.between(8, 64))
    path = [SEED, ("i32", k), ("f32", 0.001), ("f32", 0.05), ("f32", 1.0)]

    def peer_paths(s, steps, drift, sigma, strike):
        x = m.torch.zeros(n, 512, device=t.device)
        for _ in range(steps): x = x + drift + sigma * m.torch.randn(n, 512, device=t.device)
        return [(x.exp() - strike).clamp(min=0).mean(1)]

    yield t.case("Monte Carlo", "random.option_price", [Out("f32", n)], numbers=path, dims=[n], want=None, peer=peer_paths)
    r = t.length(132)
    n = t.between(100, 500 if t.small else 4000000)
    yield t.case("sparse rows", "random.spmv_padded", [t.normal("f32", r, 16), t.ints("i32", 0, n, r, 16), t.normal("f32", n), Out("f32", r)],
           dims=[r, n], want=lambda v, k, x: [m.sum(m.f(v) * m.f(x)[m.i(k)], 1)], peer=lambda v, k, x: [(v * x[k]).sum(1)],
           moved=132 * r + 4 * n)
    e = t.length(8)
    k = max(2, e // t.between(8, 512))

    def product(v, c, first, x):
        p = m.f(v) * m.f(x)[m.i(c)]
        total = m.cat([m.zeros(1), m.cumsum(p, 0)], 0)
        return [total[m.i(first[1:])] - total[m.i(first[:-1])]]

    def peer_product(v, c, first, x):
        T = m.torch
        return [T.sparse_csr_tensor(first, c, v, (k - 1, n)) @ x]

    yield t.case("sparse rows", "random.spmv_rows", [t.normal("f32", e), t.ints("i32", 0, n, e), t.borders(k, e), t.normal("f32", n),
                                               Out("f32", k - 1)], dims=[e, k, n], want=product, peer=peer_product, tol=1e-3,
           moved=8 * e + 4 * k + 4 * n)


def plain(t):
    m = t.m
    n = t.length(12)
    yield t.case("maps", "elementwise.add", [t.normal("f32", n), t.normal("f32", n), Out("f32", n)], dims=[n],
           want=lambda x, y: [m.f(x) + m.f(y)], peer=lambda x, y: [x + y])
    n = t.length(10)
    yield t.case("maps", "elementwise.lerp", [t.normal("f16", n), t.normal("f16", n), t.uniform("f32", 0, 1, n), Out("f16", n)], dims=[n],
           want=lambda x, y, k: [m.f(x) + m.f(k) * (m.f(y) - m.f(x))], peer=lambda x, y, k: [(x + k * (y - x)).half()])
    n = t.length(24)

    def product(x, y):
        x, y = m.f(x), m.f(y)
        return [m.stack([x[:, 0] * y[:, 0] - x[:, 1] * y[:, 1], x[:, 0] * y[:, 1] + x[:, 1] * y[:, 0]], 1)]

    yield t.case("maps", "elementwise.complex_product", [t.normal("f32", n, 2), t.normal("f32", n, 2), Out("f32", n, 2)], dims=[n], want=product,
           peer=lambda x, y: [m.torch.view_as_real(m.torch.view_as_complex(x) * m.torch.view_as_complex(y))])
    c = t.columns()
    r = t.rows(c, 6)
    yield t.case("maps", "elementwise.bias_residual", [t.normal("bf16", r, c), t.normal("f32", c), t.normal("bf16", r, c), Out("bf16", r, c)],
           dims=[r, c], want=lambda x, b, s: [m.f(x) + m.f(b) + m.f(s)], peer=lambda x, b, s: [(x + b + s).bfloat16()])
    n = t.length(13)
    yield t.case("maps", "elementwise.where_positive", [t.ints("i8", -9, 9, n), t.normal("f32", n), t.normal("f32", n), Out("f32", n)], dims=[n],
           want=lambda c, x, y: [m.where(c > 0, m.f(x), m.f(y))], peer=lambda c, x, y: [m.torch.where(c > 0, x, y)], tol=0)
    n = t.length(6)
    yield t.case("maps", "elementwise.to_bf16", [t.normal("f32", n), Out("bf16", n)], dims=[n], want=lambda x: [m.f(m.to(x, "bf16"))],
           peer=lambda x: [x.bfloat16()], tol=0)
    n = t.length(16)

    def polynomial(v): return ((((0.5 * v + 1.5) * v - 2.0) * v + 0.25) * v - 1.0) * v + 3.0

    yield t.case("maps", "elementwise.polynomial", [t.normal("f64", n), Out("f64", n)], dims=[n], want=lambda x: [polynomial(x)],
           peer=lambda x: [polynomial(x)])
    c = t.columns()
    r = t.rows(c, 4)
    yield t.case("maps", "elementwise.outer", [t.normal("f32", r), t.normal("f32", c), Out("f32", r, c)], dims=[r, c],
           want=lambda u, v: [m.f(u)[:, None] * m.f(v)], peer=lambda u, v: [u[:, None] * v])
    c = t.columns()
    r = t.rows(c, 4)
    yield t.case("maps", "elementwise.scale_rows", [t.normal("bf16", r, c), t.uniform("f32", 1, 2, r), Out("bf16", r, c)], dims=[r, c],
           want=lambda x, s: [m.f(x) / m.f(s)[:, None]], peer=lambda x, s: [(x / s[:, None]).bfloat16()])


GROUPS = (optimisers, activations, embeddings, rope, counts, sampled, plain)
