"""Kernels that move elements, and kernels of fields: transpositions, gathers, images, stencils, particles."""
from table import Both, Out


def moved(t):
    m = t.m
    for kind in ("f32", "bf16", "i8"):
        c = t.side(hi=32768)
        r = t.rows(c, 8 if kind == "f32" else 4)
        x = t.ints("i8", -128, 128, r, c) if kind == "i8" else t.normal(kind, r, c)
        yield t.case("transpositions", "move.transpose_" + kind, [x, Out(kind, c, r)], dims=[r, c], want=lambda x: [m.permute(x, (1, 0))],
               peer=lambda x: [m.copied(x.T)], tol=0)

    def permuted(family, call, kind, shape, axes, dims=None):
        return t.case(family, call, [t.normal(kind, *shape), Out(kind, *[shape[a] for a in axes])], dims=list(dims or shape), tol=0,
               want=lambda x: [m.permute(x, axes)], peer=lambda x: [m.copied(x.permute(axes))])

    r, c = t.side(), t.side()
    yield permuted("transpositions", "move.transpose_batched", "f16", (t.count(r * c, 4), r, c), (0, 2, 1))
    h, d = t.between(1, 64), t.between(16, 128, 8)
    k = t.side(16, 8192)
    yield permuted("permutations", "move.heads_first", "bf16", (t.count(h * d * k, 4), k, h, d), (0, 2, 1, 3))
    p, c = t.side(), t.side()
    yield permuted("permutations", "move.channels_first", "f32", (t.count(p * c, 8), p, c), (0, 2, 1))
    b, c = t.side(hi=512), t.side(hi=512)
    yield permuted("permutations", "move.reverse_axes", "f32", (min(t.count(b * c, 8), 2048), b, c), (2, 1, 0))
    c = t.columns()
    r = t.rows(c, 8)
    yield t.case("permutations", "move.flip_columns", [t.normal("f32", r, c), Out("f32", r, c)], dims=[r, c], tol=0,
           want=lambda x: [m.flip(m.f(x), 1)], peer=lambda x: [x.flip(1)])
    c, k = t.columns(), t.columns()
    r = t.rows(c + k, 8)
    yield t.case("gathers", "move.take_along", [t.normal("f32", r, c), t.ints("i32", 0, c, r, k), Out("f32", r, k)], dims=[r, c, k], tol=0,
           want=lambda x, i: [m.along(m.f(x), m.i(i), 1)], peer=lambda x, i: [x.gather(1, i.long())])
    c = t.columns(hi=16384)
    r = t.rows(c, 4)
    s = r + t.between(1, r + 1)
    yield t.case("row gathers", "move.put_rows", [t.normal("bf16", r, c), t.order(r, s), Both(t.normal("bf16", s, c))], dims=[r, c, s], tol=0,
           want=lambda x, i, y: [m.put_rows(m.f(y), m.i(i), m.f(x))], peer=lambda x, i, y: [y.index_copy(0, i.long(), x)], moved=4 * r * c)
    h, w = t.side(), t.side()
    c = t.count(h * w, 8)
    yield t.case("padding", "move.pad_image", [t.normal("f32", c, h, w), Out("f32", c, h + 2, w + 2)], dims=[c, h, w], tol=0,
           want=lambda x: [m.pad(m.f(x), ((0, 0), (1, 1), (1, 1)))], peer=lambda x: [m.torch.nn.functional.pad(x, (1, 1, 1, 1))])
    h, w = t.side(), t.side()
    c = t.count(h * w, 4)
    yield t.case("padding", "move.crop_image", [t.normal("bf16", c, h + 8, w + 8), Out("bf16", c, h, w)], dims=[c, h, w], tol=0,
           want=lambda x: [m.f(x[:, 4:4 + h, 4:4 + w])], peer=lambda x: [m.copied(x[:, 4:4 + h, 4:4 + w])], moved=4 * c * h * w)
    n, k = t.columns(hi=32768), t.columns(hi=32768)
    r = t.rows(n + k, 4)
    yield t.case("padding", "move.concat_columns", [t.normal("bf16", r, n), t.normal("bf16", r, k), Out("bf16", r, n + k)], dims=[r, n, k], tol=0,
           want=lambda x, y: [m.cat([m.f(x), m.f(y)], 1)], peer=lambda x, y: [m.torch.cat([x, y], 1)])
    h, w = t.side(), t.side()
    c = t.count(h * w * 4, 4)
    yield t.case("pixels", "move.pixel_shuffle", [t.normal("f16", c, 2, 2, h, w), Out("f16", c, 2 * h, 2 * w)], dims=[c, h, w], tol=0,
           want=lambda x: [m.permute(m.f(x), (0, 3, 1, 4, 2)).reshape(c, 2 * h, 2 * w)],
           peer=lambda x: [x.permute(0, 3, 1, 4, 2).reshape(c, 2 * h, 2 * w)])
    h, d = t.between(1, 32), t.between(16, 128, 8)
    n = t.count(h * d * 5, 2)
    yield t.case("gathers", "move.repeat_heads", [t.normal("bf16", n, h, d), Out("bf16", n, h, 4, d)], dims=[n, h, d], tol=0,
           want=lambda x: [m.repeat(m.f(x)[:, :, None], 4, 2)], peer=lambda x: [x[:, :, None].expand(n, h, 4, d).contiguous()])


def images(t):
    m = t.m
    NONE = float("-inf")

    def functional(): return m.torch.nn.functional

    def planes(size, least=1):
        h, w = max(least, t.side(16, 2048)), max(least, t.side(16, 2048))
        return t.count(h * w, size), h, w

    c, h, w = planes(20)
    yield t.case("pooling", "images.max_pool", [t.normal("f32", c, 2 * h, 2 * w), Out("f32", c, h, w)], dims=[c, h, w], tol=0,
           want=lambda x: [m.max(m.max(m.f(x).reshape(c, h, 2, w, 2), 4), 2)], peer=lambda x: [functional().max_pool2d(x, 2)])
    c, h, w = planes(20)

    def windows(x):
        p = m.pad(m.f(x), ((0, 0), (1, 1), (1, 1)), NONE)
        best = p[:, 0:2 * h:2, 0:2 * w:2]
        for i in range(3):
            for j in range(3): best = m.maximum(best, p[:, i:i + 2 * h:2, j:j + 2 * w:2])
        return [best]

    yield t.case("pooling", "images.max_pool_overlapping", [t.normal("f32", c, 2 * h, 2 * w), Out("f32", c, h, w)], dims=[c, h, w], tol=0,
           want=windows, peer=lambda x: [functional().max_pool2d(x, 3, 2, 1)])

    def near(p, h, w): return [[p[..., i:i + h, j:j + w] for j in range(3)] for i in range(3)]

    def nine(x, h, w, pad): return near(pad(x, [(0, 0)] * (x.ndim - 2) + [(1, 1), (1, 1)]), h, w)

    def torch_pad(x, widths): return functional().pad(x, [k for pair in reversed(widths) for k in pair])

    c, h, w = planes(4)
    yield t.case("pooling", "images.average_pool", [t.normal("f16", c, h, w), Out("f16", c, h, w)], dims=[c, h, w],
           want=lambda x: [sum(sum(row) for row in nine(m.f(x), h, w, m.pad)) / 9], peer=lambda x: [functional().avg_pool2d(x, 3, 1, 1)])
    p, c = t.side(), t.columns(hi=4096)
    b = t.count(p * c, 2)
    yield t.case("pooling", "images.global_average", [t.normal("bf16", b, p, c), Out("f32", b, c)], dims=[b, p, c],
           want=lambda x: [m.mean(m.f(x), 1)], peer=lambda x: [x.float().mean(1)])
    c, h, w = planes(10)
    yield t.case("resizing", "images.nearest_twice", [t.normal("bf16", c, h, w), Out("bf16", c, 2 * h, 2 * w)], dims=[c, h, w], tol=0,
           want=lambda x: [m.repeat(m.repeat(m.f(x), 2, 1), 2, 2)],
           peer=lambda x: [functional().interpolate(x[None], scale_factor=2, mode="nearest")[0]])
    oh, ow = max(2, t.side(16, 2048)), max(2, t.side(16, 2048))
    h, w = max(2, oh * 3 // 5), max(2, ow * 2 // 3)
    c = t.count(oh * ow, 6)

    def between(x):
        v = m.f(x)
        r, q = m.f(m.arange(oh)) * ((h - 1) / (oh - 1)), m.f(m.arange(ow)) * ((w - 1) / (ow - 1))
        i, j = m.minimum(m.i(m.floor(r + 1e-9)), h - 1), m.minimum(m.i(m.floor(q + 1e-9)), w - 1)
        u, s, k, l = (r - i)[:, None], q - j, m.minimum(i + 1, h - 1), m.minimum(j + 1, w - 1)
        top = v[:, i][:, :, j] * (1 - s) + v[:, i][:, :, l] * s
        low = v[:, k][:, :, j] * (1 - s) + v[:, k][:, :, l] * s
        return [top * (1 - u) + low * u]

    yield t.case("resizing", "images.bilinear", [t.normal("f32", c, h, w), Out("f32", c, oh, ow)], dims=[c, h, w, oh, ow], want=between, tol=1e-3,
           peer=lambda x: [functional().interpolate(x[None], (oh, ow), mode="bilinear", align_corners=True)[0]])

    def gradient(a, sqrt):
        u = (a[0][2] + 2 * a[1][2] + a[2][2]) - (a[0][0] + 2 * a[1][0] + a[2][0])
        v = (a[2][0] + 2 * a[2][1] + a[2][2]) - (a[0][0] + 2 * a[0][1] + a[0][2])
        return [sqrt(u * u + v * v)]

    h = t.columns(hi=16384)
    w = t.rows(h, 8)
    yield t.case("filters", "images.sobel", [t.normal("f32", w, h), Out("f32", w, h)], dims=[w, h],
           want=lambda x: gradient(nine(m.f(x), *x.shape, m.pad), m.sqrt),
           peer=lambda x: gradient(nine(x, *x.shape, torch_pad), lambda v: v.sqrt()))
    c, h, w = planes(8)

    def filtered(x, f):
        a = nine(m.f(x), h, w, m.pad)
        return [sum(a[i][j] * m.f(f)[:, i, j][:, None, None] for i in range(3) for j in range(3))]

    yield t.case("depthwise convolutions", "images.depthwise", [t.normal("f32", c, h, w), t.normal("f32", c, 3, 3), Out("f32", c, h, w)],
           dims=[c, h, w], want=filtered, peer=lambda x, f: [functional().conv2d(x[None], f[:, None], padding=1, groups=c)[0]])
    h, w = t.side(16, 512), t.side(16, 512)
    c = t.columns(hi=1024)

    def filtered_last(x, f):
        a = nine(m.permute(m.f(x), (2, 0, 1)), h, w, m.pad)
        return [m.permute(sum(a[i][j] * m.f(f)[i, j][:, None, None] for i in range(3) for j in range(3)), (1, 2, 0))]

    def peer_last(x, f):
        y = functional().conv2d(x.permute(2, 0, 1)[None], f.permute(2, 0, 1)[:, None], padding=1, groups=c)
        return [y[0].permute(1, 2, 0).contiguous()]

    yield t.case("depthwise convolutions", "images.depthwise_last", [t.normal("bf16", h, w, c), t.normal("bf16", 3, 3, c), Out("bf16", h, w, c)],
           dims=[h, w, c], want=filtered_last, peer=peer_last)
    c = t.columns(hi=16384)
    r = t.rows(c, 4)

    def causal(x, f, pad):
        p = pad(x, ((3, 0), (0, 0)))
        return sum(p[k:k + r] * f[k] for k in range(4))

    def smooth(v): return [v / (1 + m.exp(-v))]

    yield t.case("causal convolutions", "images.causal_conv", [t.normal("bf16", r, c), t.normal("f32", 4, c), Out("bf16", r, c)], dims=[r, c],
           want=lambda x, f: smooth(causal(m.f(x), m.f(f), m.pad)),
           peer=lambda x, f: [functional().silu(functional().conv1d(x.T.float()[None], f.T[:, None].contiguous(), padding=3, groups=c)
                                                [0, :, :r]).T.bfloat16().contiguous()])
    n = t.length(4)
    yield t.case("colours", "images.grey", [t.ints("u8", 0, 256, n, 3), Out("u8", n)], dims=[n], tol=1e-2,
           want=lambda x: [m.round(m.f(x)[:, 0] * 0.299 + m.f(x)[:, 1] * 0.587 + m.f(x)[:, 2] * 0.114)],
           peer=lambda x: [(x[:, 0] * 0.299 + x[:, 1] * 0.587 + x[:, 2] * 0.114).round().byte()])
    n = t.length(15)
    yield t.case("colours", "images.normalise_image", [t.ints("u8", 0, 256, n, 3), t.normal("f32", 3), t.uniform("f32", 1, 2, 3), Out("f32", 3, n)],
           dims=[n], want=lambda x, u, s: [m.permute((m.f(x) / 255 - m.f(u)) * m.f(s), (1, 0))],
           peer=lambda x, u, s: [((x / 255 - u) * s).T.contiguous()])
    n = t.length(2)
    yield t.case("colours", "images.look_up", [t.ints("u8", 0, 256, n), t.ints("u8", 0, 256, 256), Out("u8", n)], dims=[n],
           want=lambda x, k: [k[m.i(x)]], peer=lambda x, k: [k[x.int()]])
    n = t.length(48)
    yield t.case("colours", "images.blend", [t.normal("f32", n, 4), t.normal("f32", n, 4), Out("f32", n, 4)], dims=[n],
           want=lambda a, b: [m.f(a) * m.f(a)[:, 3:] + m.f(b) * (1 - m.f(a)[:, 3:])], peer=lambda a, b: [a * a[:, 3:] + b * (1 - a[:, 3:])])


def fields(t):
    m = t.m

    def torch_pad(x, widths): return m.torch.nn.functional.pad(x, [k for pair in reversed(widths) for k in pair])

    def plane(size):
        w = t.columns(hi=32768)
        return t.rows(w, size), w

    def around(x, pad):
        p = pad(x, ((1, 1), (1, 1)))
        h, w = x.shape
        return p[:h, 1:1 + w] + p[2:, 1:1 + w] + p[1:1 + h, :w] + p[1:1 + h, 2:]

    def heat(x, k, pad): return [x + k * (around(x, pad) - 4 * x)]
    def wave(u, v, c, pad): return [2 * u - v + c * (around(u, pad) - 4 * u)]

    h, w = plane(8)
    yield t.case("plane stencils", "stencils.heat", [t.normal("f32", h, w), Out("f32", h, w)], numbers=[("f32", 0.1)], dims=[h, w],
           want=lambda x, k: heat(m.f(x), k, m.pad), peer=lambda x, k: heat(x, k, torch_pad))
    h, w = plane(12)
    yield t.case("plane stencils", "stencils.wave", [t.normal("f32", h, w), Both(t.normal("f32", h, w))], numbers=[("f32", 0.2)], dims=[h, w],
           want=lambda u, v, c: wave(m.f(u), m.f(v), c, m.pad), peer=lambda u, v, c: wave(u, v, c, torch_pad))
    h, w = plane(2)

    def life(x, pad, byte):
        p, (h, w) = pad(x, ((1, 1), (1, 1))), x.shape
        s = sum(p[i:i + h, j:j + w] for i in range(3) for j in range(3))
        return [byte((s == 3) | ((s == 4) & (x == 1)))]

    yield t.case("plane stencils", "stencils.life", [t.ints("u8", 0, 2, h, w), Out("u8", h, w)], dims=[h, w], want=lambda x: life(m.i(x), m.pad, m.i),
           peer=lambda x: life(x, torch_pad, lambda v: v.byte()))
    d, h, w = t.side(8, 512), t.side(8, 512), t.side(8, 512)

    def laplace(x, pad):
        p = pad(x, ((1, 1), (1, 1), (1, 1)))
        s = p[:-2, 1:-1, 1:-1] + p[2:, 1:-1, 1:-1] + p[1:-1, :-2, 1:-1] + p[1:-1, 2:, 1:-1] + p[1:-1, 1:-1, :-2] + p[1:-1, 1:-1, 2:]
        return [s - 6 * x]

    yield t.case("space stencils", "stencils.laplace_space", [t.normal("f64", d, h, w), Out("f64", d, h, w)], dims=[d, h, w],
           want=lambda x: laplace(x, m.pad), peer=lambda x: laplace(x, torch_pad))
    h, w = plane(12)

    def flow(u, v, pad):
        p, q, (h, w) = pad(u, ((0, 0), (1, 1))), pad(v, ((1, 1), (0, 0))), u.shape
        return [0.5 * (p[:, 2:] - p[:, :w] + q[2:] - q[:h])]

    yield t.case("plane stencils", "stencils.divergence", [t.normal("f32", h, w), t.normal("f32", h, w), Out("f32", h, w)], dims=[h, w],
           want=lambda u, v: flow(m.f(u), m.f(v), m.pad), peer=lambda u, v: flow(u, v, torch_pad))
    h, w = plane(8)

    def averages(x, pad):
        p = pad(x, ((0, 0), (7, 0)))
        return [sum(p[:, k:k + x.shape[1]] for k in range(8)) / 8]

    yield t.case("filters", "stencils.moving_average", [t.normal("f32", h, w), Out("f32", h, w)], dims=[h, w],
           want=lambda x: averages(m.f(x), m.pad), peer=lambda x: averages(x, torch_pad))
    n = t.between(5, 300) if t.small else t.between(2000, 20000)

    def forces(p):
        d = p[:3, None, :] - p[:3, :, None]
        r = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01) ** -0.5
        return [(d * (p[3] * r * r * r)).sum(2)]

    yield t.case("particles", "stencils.nbody", [t.normal("f32", 4, n), Out("f32", 3, n)], dims=[n], want=lambda p: forces(m.f(p)), peer=forces,
           tol=1e-3)
    a = t.side(hi=8192)
    b = t.rows(a, 4)

    def squared(a, b):
        u, v = a[:, None, 0] - b[:, 0], a[:, None, 1] - b[:, 1]
        return [u * u + v * v]

    yield t.case("particles", "stencils.distances", [t.normal("f32", b, 2), t.normal("f32", a, 2), Out("f32", b, a)], dims=[b, a],
           want=lambda a, b: squared(m.f(a), m.f(b)), peer=squared)


def chains(t):
    """Of tensors of which one, of 16 to 40 MiB, lies in the L2 cache from the first kernel to the second."""
    m = t.m
    n = t.length(2) if t.small else t.between(16 << 19, 40 << 19, 8)
    yield t.case("chains", "chains.add_then_silu", [t.normal("bf16", n), t.normal("bf16", n), Out("bf16", n), Out("bf16", n)], dims=[n],
           want=lambda x, y: [m.f(x) + m.f(y), (m.f(x) + m.f(y)) / (1 + m.exp(-m.f(x) - m.f(y)))],
           peer=lambda x, y: [x + y, m.torch.nn.functional.silu(x + y)])
    c = t.columns(hi=20000)
    r = t.rows(c, 8) if t.small else max(1, t.between(16 << 18, 40 << 18) // c)
    yield t.case("chains", "chains.rows_over_greatest", [t.normal("f32", r, c), Out("f32", r), Out("f32", r, c)], dims=[r, c],
           want=lambda x: [m.max(m.abs(m.f(x)), 1), m.f(x) / m.max(m.abs(m.f(x)), 1, True)],
           peer=lambda x: [m.max(m.abs(x), 1), x / m.max(m.abs(x), 1, True)])


GROUPS = (moved, images, fields, chains)
