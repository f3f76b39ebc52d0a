#!/usr/bin/env python3
"""Attention forward beside cuDNN's, in one process on one GPU.

  bench.py check LIB ELEM                     values of every kernel: edges, guard zones, a second launch
  bench.py run LIB ELEM [--peer SO] [--rounds N] [--lengths A,B]

LIB is attention_<elem>.tir, printed by ctilec and compiled by nvcc to a shared library. Rounds are in random order with a pause before
each measurement and a launch before the timed ones, since a GPU at its power limit drifts; ratios are those of one round, and the
median counts. --peer: another library, with attention_forward(bf16, q, k, v, o, heads, sq, sk, d, causal, scale, ticket, stream)."""
import argparse
import ctypes
import random
import statistics
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

ELEMS = {'bf16': torch.bfloat16, 'f16': torch.float16}
TOLERANCE = {'bf16': 6e-3, 'f16': 1e-3}
SQUARE = [(1, 1), (2, 17), (3, 64), (2, 100), (400, 100), (5, 128), (3, 130), (2, 300), (7, 1000), (3, 1537), (33, 2048), (1, 7001)]
OTHER = [(2, 100, 700), (2, 700, 100), (140, 257, 129), (1, 64, 5000)]
GUARD = 1024


class Lib:
    def __init__(self, path, elem):
        self.dll, self.elem = ctypes.CDLL(path), elem
        self.work = torch.full((1024,), 255, device='cuda', dtype=torch.uint8)

    def attention(self, q, k, v, o, causal):
        d = q.shape[-1]
        f = getattr(self.dll, f'attention_{self.elem}_d{d}_{"causal" if causal else "full"}_ws')
        f.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_float] + [ctypes.c_int64] * 3 + [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
        heads = q.numel() // (q.shape[-2] * d)
        status = f(q.data_ptr(), k.data_ptr(), v.data_ptr(), o.data_ptr(), d ** -0.5, heads, q.shape[-2], k.shape[-2], self.work.data_ptr(),
                   self.work.numel(), torch.cuda.current_stream().cuda_stream)
        if status:
            raise RuntimeError(f'status {status}')


class Peer:
    def __init__(self, path):
        self.f = ctypes.CDLL(path).attention_forward
        self.f.argtypes = [ctypes.c_int] + [ctypes.c_void_p] * 4 + [ctypes.c_int] * 5 + [ctypes.c_float] + [ctypes.c_void_p] * 2
        self.ticket = torch.zeros(64, dtype=torch.int32, device='cuda')

    def attention(self, q, k, v, o, causal):
        d = q.shape[-1]
        heads = q.numel() // (q.shape[-2] * d)
        if self.f(int(q.dtype == torch.bfloat16), q.data_ptr(), k.data_ptr(), v.data_ptr(), o.data_ptr(), heads, q.shape[-2], k.shape[-2], d,
                  int(causal), d ** -0.5, self.ticket.data_ptr(), torch.cuda.current_stream().cuda_stream):
            raise RuntimeError('the peer fails')


def check(lib, elem):
    bad = done = 0
    for d in (128, 64):
        for causal in (False, True):
            for heads, sq, sk in [(h, s, s) for h, s in SQUARE] + ([] if causal else OTHER):
                q, k, v = (torch.randn(heads, n, d, device='cuda', dtype=ELEMS[elem]) for n in (sq, sk, sk))
                flat = torch.full((heads * sq * d + 2 * GUARD,), float('nan'), device='cuda', dtype=ELEMS[elem])
                o = flat[GUARD:-GUARD].view(heads, sq, d)
                lib.attention(q, k, v, o, causal)
                first = o.clone()
                lib.attention(q, k, v, o, causal)
                s = q.float() @ k.float().transpose(-1, -2) * d ** -0.5
                if causal:
                    s.masked_fill_(torch.ones(sq, sk, device='cuda', dtype=torch.bool).triu(1), float('-inf'))
                want = torch.softmax(s, -1) @ v.float()
                error = float((o.float() - want).norm() / want.norm())
                same, guards = torch.equal(first, o), bool(torch.isnan(flat[:GUARD]).all() and torch.isnan(flat[-GUARD:]).all())
                done += 1
                if not error < TOLERANCE[elem] or not same or not guards:
                    bad += 1
                    print(f'WRONG d{d} {"causal" if causal else "full"} {heads}x{sq}x{sk}: error {error:.1e}, same twice {same}, guards {guards}')
    print(f'{elem}: {done} cases, {bad} wrong', flush=True)
    return bad


def timed(f, launches):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    time.sleep(0.01)
    f()
    begin.record()
    for _ in range(launches):
        f()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3 / launches


def row(lib, peer, elem, d, length, causal, rounds):
    batch, heads = max(1, 16384 // length), 2048 // d
    q, k, v = (torch.randn(batch, heads, length, d, device='cuda', dtype=ELEMS[elem]) for _ in range(3))
    o = torch.empty_like(q)
    flops = 4.0 * batch * heads * length * length * d * (0.5 if causal else 1)

    def cudnn():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    runs = {'cudnn': cudnn, 'this': lambda: lib.attention(q, k, v, o, causal)}
    if peer:
        runs['peer'] = lambda: peer.attention(q, k, v, o, causal)
    times = {name: [] for name in runs}
    launches = max(2, min(12, int(3e12 / flops)))
    for _ in range(rounds):
        order = list(runs)
        random.shuffle(order)
        for name in order:
            times[name].append(timed(runs[name], launches))
    line = f'{elem:4} d{d:<3} {"causal" if causal else "full":6} {length:5}:'
    for name in runs:
        ratio = sorted(x / y for x, y in zip(times[name], times['this']))
        line += f'  {name} {flops / statistics.median(times[name]) * 1e-12:5.0f} TFLOP/s'
        if name != 'this':
            line += f', {name}/this {statistics.median(ratio):.3f} [{ratio[0]:.3f} {ratio[-1]:.3f}]'
    print(line, flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('what', choices=['check', 'run'])
    p.add_argument('lib')
    p.add_argument('elem', choices=list(ELEMS))
    p.add_argument('--peer')
    p.add_argument('--rounds', type=int, default=9)
    p.add_argument('--lengths', default='2048,8192,16384')
    o = p.parse_args()
    random.seed(1)
    torch.manual_seed(1)
    lib = Lib(o.lib, o.elem)
    if o.what == 'check':
        return check(lib, o.elem)
    for d in (128, 64):
        for length in map(int, o.lengths.split(',')):
            for causal in (False, True):
                row(lib, Peer(o.peer) if o.peer else None, o.elem, d, length, causal, o.rounds)
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
