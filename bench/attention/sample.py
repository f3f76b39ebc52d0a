#!/usr/bin/env python3
"""Attention forward of samples/attention beside cuDNN's, in one process on one GPU.

  sample.py write CTILEC DIR [', BM, BN']           one CUDA file for each element type, head dimension and kind of mask
  sample.py run DIR [--seed N] [--shapes N] [--rounds N] [--only TEXT]    shared libraries built of them, in DIR

Shapes are drawn from the seed: for each kernel lengths log-uniform from 1,024 to 16,384, batch and heads so that a call has about 2^25
elements of q. Values are compared with those in f32 first: rows drawn from all heads, and edges, also of lengths and heads that no tile
divides. Rounds are in random order with a pause before each measurement and a launch before the timed ones; ratios are those of one round, and
the median counts."""
import argparse
import ctypes
import math
import os
import random
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNELS = [(elem, d, causal) for elem in ('f16', 'bf16') for d in (128, 64) for causal in (False, True)]
TOLERANCE = {'f16': 1e-3, 'bf16': 6e-3}
EDGES = [(1, 1, 1, 1), (2, 3, 17, 17), (1, 2, 100, 100), (2, 2, 128, 128), (1, 3, 130, 130), (3, 5, 300, 300), (1, 2, 1537, 1537), (2, 33, 1024, 1024),
         (1, 2, 100, 700), (1, 2, 700, 100), (7, 20, 257, 129), (1, 1, 64, 5000)]


def name(elem, d, causal): return 'attention_%s_%d_%s' % (elem, d, 'causal' if causal else 'full')


def write(ctilec, folder, tiles=''):
    with open(os.path.join(ROOT, 'samples', 'attention', 'attention.tile')) as f:
        kernel = f.read().split('\ninstance ')[0] + '\n'
    for elem, d, causal in KERNELS:
        base = os.path.join(folder, name(elem, d, causal))
        with open(base + '.tile', 'w') as f:
            f.write(kernel + 'instance %s = attention<%s, %d, %s%s>;\n' % (name(elem, d, causal), elem, d, str(causal).lower(), tiles))
        subprocess.run([ctilec, '-w', '--no-header', '--arch=sm_90a', base + '.tile', '-o', base + '.cu'], check=True)


class Kernel:
    def __init__(self, folder, elem, d, causal):
        import torch
        self.name = name(elem, d, causal)
        self.f = getattr(ctypes.CDLL(os.path.join(folder, self.name + '.so')), self.name)
        self.f.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_float] + [ctypes.c_int64] * 5 + [ctypes.c_void_p]
        self.elem, self.type = elem, {'f16': torch.float16, 'bf16': torch.bfloat16}[elem]
        self.d, self.causal = d, causal

    def __call__(self, q, k, v, o):
        import torch
        b, h, rows, d = q.shape
        status = self.f(q.data_ptr(), k.data_ptr(), v.data_ptr(), o.data_ptr(), d ** -0.5, b, h, rows, k.shape[2], d,
                        torch.cuda.current_stream().cuda_stream)
        if status:
            raise RuntimeError('%s: status %d' % (self.name, status))


def reference(q, k, v, causal, rows):
    """Of some rows, in f32."""
    import torch
    s = q[:, :, rows].float() @ k.float().transpose(-1, -2) * q.shape[-1] ** -0.5
    if causal:
        s.masked_fill_(torch.arange(k.shape[2], device='cuda')[None, :] > rows[:, None], float('-inf'))
    return torch.softmax(s, -1) @ v.float()


def error(kernel, q, k, v, rows):
    """Relative to the result's norm; guard zones and a second launch are looked at, too."""
    import torch
    guard, n = 1024, q.numel()
    flat = torch.full((n + 2 * guard,), float('nan'), device='cuda', dtype=kernel.type)
    o = flat[guard:guard + n].view(q.shape)
    kernel(q, k, v, o)
    first = o.clone()
    kernel(q, k, v, o)
    want = reference(q, k, v, kernel.causal, rows)
    wrong = float((o[:, :, rows].float() - want).norm() / want.norm())
    whole = bool(torch.isfinite(o).all()) and torch.equal(first, o)
    guards = bool(torch.isnan(flat[:guard]).all() and torch.isnan(flat[guard + n:]).all())
    return wrong if whole and guards else math.inf


def tensors(kernel, b, h, rows, cols, d):
    import torch
    return [torch.randn(b, h, n, d, device='cuda', dtype=kernel.type) for n in (rows, cols, cols)]


def check(kernel):
    import torch
    bad = 0
    for b, h, rows, cols in EDGES:
        for d in (kernel.d, kernel.d - 24):
            q, k, v = tensors(kernel, b, h, rows, cols, d)
            wrong = error(kernel, q, k, v, torch.arange(rows, device='cuda'))
            if not wrong < TOLERANCE[kernel.elem]:
                bad += 1
                print('WRONG %s %dx%d heads, %d rows, %d keys, d %d: error %.1e' % (kernel.name, b, h, rows, cols, d, wrong), flush=True)
    return bad


def measure(kernel, length, rounds):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from bench import timed
    d, heads = kernel.d, 2048 // kernel.d
    batch = max(1, round(16384 / length))
    q, k, v = tensors(kernel, batch, heads, length, length, d)
    o = torch.empty_like(q)
    rows = torch.randint(length, (48,), device='cuda')
    wrong = error(kernel, q, k, v, rows)
    flops = 4.0 * batch * heads * length * length * d * (0.5 if kernel.causal else 1)

    def cudnn():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=kernel.causal)
    runs = {'cudnn': cudnn, 'this': lambda: kernel(q, k, v, o)}
    times = {n: [] for n in runs}
    launches = max(2, min(12, int(3e12 / flops)))
    for _ in range(rounds):
        order = list(runs)
        random.shuffle(order)
        for n in order:
            times[n].append(timed(runs[n], launches))
    ratios = sorted(x / y for x, y in zip(times['cudnn'], times['this']))
    median = statistics.median(ratios)
    rate = {n: flops / statistics.median(t) * 1e-12 for n, t in times.items()}
    print('%-4s d%-3d %-6s %5d: cudnn %4.0f TFLOP/s, this %4.0f, ratio %.3f [%.3f %.3f], error %.1e%s' % (
        kernel.elem, d, 'causal' if kernel.causal else 'full', length, rate['cudnn'], rate['this'], median, ratios[0], ratios[-1], wrong,
        '' if wrong < TOLERANCE[kernel.elem] else ' WRONG'), flush=True)
    return median, wrong < TOLERANCE[kernel.elem]


def main():
    p = argparse.ArgumentParser()
    p.add_argument('what', choices=['write', 'run'])
    p.add_argument('args', nargs='+')
    p.add_argument('--seed', default='1')
    p.add_argument('--shapes', type=int, default=3)
    p.add_argument('--rounds', type=int, default=9)
    p.add_argument('--only', default='')
    o = p.parse_args()
    if o.what == 'write':
        return write(*o.args)
    import torch
    random.seed(o.seed)
    torch.manual_seed(1)
    print(torch.cuda.get_device_name(), 'torch', torch.__version__, 'cuDNN', torch.backends.cudnn.version(), 'seed', o.seed)
    shapes = [(k, round(1024 * 16 ** random.random())) for _ in range(o.shapes) for k in KERNELS]
    kernels = {k: Kernel(o.args[0], *k) for k in KERNELS if o.only in name(*k)}
    bad = sum(check(k) for k in kernels.values())
    print('edges: %d wrong' % bad, flush=True)
    results = [measure(kernels[k], length, o.rounds) for k, length in shapes if k in kernels]
    ratios = [r for r, _ in results]
    bad += sum(not good for _, good in results)
    print('%d shapes, %d wrong; cuDNN / this: geometric mean %.3f, least %.3f' % (
        len(ratios), bad, math.exp(statistics.fmean(map(math.log, ratios))), min(ratios)))
    return bad != 0


if __name__ == '__main__':
    sys.exit(main())
