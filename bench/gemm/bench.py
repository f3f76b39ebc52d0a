#!/usr/bin/env python3
"""Products of matrices beside cuBLAS, in one process on one GPU.

  bench.py check LIB ELEM [--schedules A,B]            values of every schedule: edges, guard zones, a second launch
  bench.py run LIB ELEM [--schedules A,B] [--peer SO] [--rounds N] [--shapes MxNxK,...]

LIB is gemm_<elem>.tir, printed by ctilec and compiled by nvcc to a shared library. What is compared runs from CUDA graphs, in
rounds of random order with a pause before each measurement; ratios are those of one round (cuBLAS' time / ours) and the median of
all rounds counts, since a GPU at its power limit drifts. --peer: another library with gemm_<elem> and gemm_<elem>_left."""
import argparse
import ctypes
import random
import statistics
import time

import torch

ELEMS = {'bf16': torch.bfloat16, 'f16': torch.float16}
SHAPES = '8192x8192x8192,4096x4096x4096,2048x2048x2048,4000x4008x4016,8192x8192x512'
SCHEDULES = 'auto,128x256,192x160t,192x192,128x128,128x64,128x64t,128x16t,128x128d,128x256s'
# auto: what the launcher chooses
EDGES = [(1, 8, 8), (128, 256, 64), (129, 264, 72), (64, 64, 64), (256, 512, 256), (300, 520, 200), (1000, 1000, 1000), (2048, 136, 640),
         (17, 4096, 8), (4000, 8, 512), (700, 1400, 2104), (1, 2048, 4096), (2500, 3000, 64), (513, 769, 8)]
ODD = [(4, 8, 1), (130, 264, 7), (300, 520, 199), (1000, 1000, 1001), (128, 256, 63), (257, 1024, 2047), (2500, 3000, 65)]
EMPTY = [(33, 40, 0), (1, 8, 0), (500, 1000, 0)]
GUARD = 4096


class Lib:
    def __init__(self, path):
        self.dll = ctypes.CDLL(path)

    def call(self, name):
        scratch = not hasattr(self.dll, name)
        f = getattr(self.dll, name + '_ws' if scratch else name)
        f.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * 3 + [ctypes.c_void_p, ctypes.c_size_t] * scratch + [ctypes.c_void_p]
        f.restype = ctypes.c_int
        memory = {}

        def workspace(m, n, k):
            if (m, n, k) not in memory:
                size = getattr(self.dll, name + '_workspace')
                size.argtypes, size.restype = [ctypes.c_int64] * 3, ctypes.c_size_t
                memory[m, n, k] = torch.full((size(m, n, k),), 255, device='cuda', dtype=torch.uint8)
            w = memory[m, n, k]
            return w.data_ptr(), w.numel()

        def run(a, b, c, m, n, k):
            status = f(a.data_ptr(), b.data_ptr(), c.data_ptr(), m, n, k, *(workspace(m, n, k) if scratch else ()),
                       torch.cuda.current_stream().cuda_stream)
            if status:
                raise RuntimeError(f'{name} {m}x{n}x{k}: status {status}')
        return run


def entry(lib, elem, left, schedule):
    where = 'left_' if left else ''
    return lib.call(f'gemm_{elem}{where[:-1] and "_left"}' if schedule == 'auto' else f'run_gemm_{elem}_{where}{schedule}')


def inputs(m, n, k, left, dtype, exact):
    def fill(*shape):
        if exact:
            return torch.randint(-2, 3, shape, device='cuda').to(dtype)
        return (torch.rand(shape, device='cuda') * 2 - 1).to(dtype)
    a = fill(m, k)
    b = fill(n, k).t() if left else fill(k, n)
    return a, b


def guarded(m, n, dtype):
    flat = torch.full((m * n + 2 * GUARD,), float('nan'), device='cuda', dtype=dtype)
    return flat, flat[GUARD:GUARD + m * n].view(m, n)


def check(lib, elem, schedules, layouts):
    """Small integers: every sum is exact, so the result is known to the bit."""
    bad = done = 0
    # libraries for sm_80 take depths of multiples of 8
    odd = ODD + EMPTY if hasattr(lib.dll, f'run_gemm_{elem}_128x256s') else []
    for left in (layout == 'left' for layout in layouts):
        for m, n, k in EDGES + odd:
            n = (n + 7) // 8 * 8
            small = 4 * -(-m // 256) * -(-n // 128) <= 132      # blocks that wait for each other must run at once
            a, b = inputs(m, n, k, left, ELEMS[elem], True)
            want = (a.double() @ b.double()).to(ELEMS[elem])
            for s in schedules:
                if k == 0 and s != 'auto':
                    continue
                if (k % 8 and s not in ('auto', '128x256s')) or (s == '128x128d' and not small):
                    continue
                run = entry(lib, elem, left, s)
                flat, c = guarded(m, n, ELEMS[elem])
                run(a, b, c, m, n, k)
                first = c.clone()
                run(a, b, c, m, n, k)
                torch.cuda.synchronize()
                guards = torch.isnan(flat[:GUARD]).all() and torch.isnan(flat[GUARD + m * n:]).all()
                ok = torch.equal(c, want) and torch.equal(c, first) and bool(guards)
                done += 1
                if not ok:
                    bad += 1
                    print(f'WRONG {s} {"left" if left else "row"} {m}x{n}x{k}: {int((c != want).sum())} of {m * n} elements, '
                          f'guards {bool(guards)}, same twice {torch.equal(c, first)}', flush=True)
    print(f'{elem}: {done} cases, {bad} wrong', flush=True)
    return bad


def graph_of(run, launches):
    run()
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        for _ in range(launches):
            run()
    g.replay()
    torch.cuda.synchronize()
    return g


def measure(g, launches):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    time.sleep(0.005)
    begin.record()
    g.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3 / launches


def row(lib, peer, elem, schedules, m, n, k, left, rounds):
    dtype = ELEMS[elem]
    copies = max(1, min(8, int(150e6 / (2 * (m * k + k * n + m * n))) + 1))
    sets = [inputs(m, n, k, left, dtype, False) + (torch.empty(m, n, device='cuda', dtype=dtype),) for _ in range(copies)]
    turn = [0]

    def with_set(f):
        def run():
            turn[0] = (turn[0] + 1) % copies
            f(*sets[turn[0]])
        return run
    runs = {'cublas': with_set(lambda a, b, c: torch.matmul(a, b, out=c))}
    for s in schedules:
        f = entry(lib, elem, left, s)
        runs[s] = with_set(lambda a, b, c, f=f: f(a, b, c, m, n, k))
    if peer:
        f = peer.call(f'gemm_{elem}{"_left" if left else ""}')
        runs['peer'] = with_set(lambda a, b, c: f(a, b, c, m, n, k))
    flops = 2 * m * n * k
    if k % 8:
        runs = {s: run for s, run in runs.items() if s in ('cublas', 'peer', 'auto', '128x256s')}
    launches = max(4, min(40, int(12e-3 / (flops / 600e12))))
    a, b, c = sets[0]
    want = a[:64].double() @ b.double()
    errors = {}
    for name in runs:
        c.fill_(float('nan'))
        turn[0] = -1
        runs[name]()
        errors[name] = float((c[:64].double() - want).norm() / want.norm()) if copies == 1 or turn[0] == 0 else float('nan')
    graphs = {name: graph_of(run, launches) for name, run in runs.items()}
    times = {name: [] for name in runs}
    for _ in range(rounds):
        order = list(runs)
        random.shuffle(order)
        for name in order:
            times[name].append(measure(graphs[name], launches))
    base = times['cublas']
    print(f'{m}x{n}x{k} {elem} {"left" if left else "row"}:')
    for name in runs:
        ratio = sorted(x / y for x, y in zip(base, times[name]))
        t = statistics.median(times[name])
        print(f'  {name:10s} {flops / t * 1e-12:7.1f} TFLOP/s {t * 1e6:9.1f} us  cublas/this {statistics.median(ratio):.3f} '
              f'[{ratio[0]:.3f} {ratio[-1]:.3f}]  error {errors[name]:.2e}', flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('what', choices=['check', 'run'])
    p.add_argument('lib')
    p.add_argument('elem', choices=list(ELEMS))
    p.add_argument('--schedules', default=SCHEDULES)
    p.add_argument('--peer')
    p.add_argument('--rounds', type=int, default=7)
    p.add_argument('--shapes', default=SHAPES)
    p.add_argument('--layouts', default='row,left')
    o = p.parse_args()
    random.seed(1)
    torch.manual_seed(1)
    lib, schedules = Lib(o.lib), o.schedules.split(',')
    if o.what == 'check':
        return check(lib, o.elem, schedules, o.layouts.split(','))
    for shape in o.shapes.split(','):
        m, n, k = map(int, shape.split('x'))
        for layout in o.layouts.split(','):
            row(lib, Lib(o.peer) if o.peer else None, o.elem, schedules, m, n, k, layout == 'left', o.rounds)
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
