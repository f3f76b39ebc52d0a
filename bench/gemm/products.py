#!/usr/bin/env python3
"""Products that the compiler plans, beside cuBLAS, on shapes drawn from a seed.

  products.py check LIB...                                  values: edges in every dimension, guard zones, a second launch
  products.py run LIB... [--seed N] [--shapes N] [--add MxNxK,...] [--rounds N] [--only REGEX] [--json FILE]

LIB is products.tile, printed by ctilec and compiled by nvcc to a shared library; its functions are KIND_ELEM_TILE. Shapes are log-uniform
from 1,024 to 16,384, multiples of 8. What is compared runs from CUDA graphs, in rounds of random order; a ratio is that of one round (the
peer's time / ours), and the median of all rounds counts. Values of each shape are checked before its times: against f64 on rows drawn at
random and on the last ones, and all elements against the peer. Exit status 1 where a value is wrong."""
import argparse
import ctypes
import json
import math
import random
import re
import statistics
import sys
import time

import torch

ELEMS = {'bf16': torch.bfloat16, 'f16': torch.float16}
EDGES = [(1, 8, 8), (64, 256, 64), (128, 256, 64), (129, 264, 72), (64, 64, 64), (256, 512, 256), (300, 520, 200), (1000, 1000, 1000),
         (2048, 136, 640), (17, 4096, 8), (4000, 8, 512), (700, 1400, 2104), (1, 2048, 4096), (2500, 3000, 64), (513, 769, 8), (192, 192, 0),
         (193, 385, 1024), (1030, 5000, 136), (128, 128, 16384), (384, 200, 8200), (130, 263, 70), (77, 33, 129)]
GUARD = 4096
LEAST, MOST, MULTIPLE = 1024, 16384, 8
LARGE = 50e6            # bytes of L2: smaller inputs rotate
BOUND = {'bf16': 4e-3, 'f16': 5e-4}     # of the relative error of all elements: rounding of the result


def functions(paths, only):
    """{name: (dll, kind, elem)} of the libraries."""
    out = {}
    for path in paths:
        dll = ctypes.CDLL(path)
        with open(path, 'rb') as f: symbols = re.findall(rb'(?<=\0)((?:row|left|relu|gelu)_(?:bf16|f16)_\w+)(?=\0)', f.read())
        for name in sorted({s.decode() for s in symbols}):
            kind, elem, rest = name.split('_', 2)
            if not rest.endswith(('_ws', '_workspace')) and hasattr(dll, name) and re.search(only, name): out[name] = dll, kind, elem
    return out


def caller(dll, name, kind):
    """f(a, b, bias, c); a workspace is used where there is one."""
    tensors = 4 if kind in ('relu', 'gelu') else 3
    scratch = hasattr(dll, name + '_ws')
    f = getattr(dll, name + '_ws' if scratch else name)
    f.argtypes = [ctypes.c_void_p] * tensors + [ctypes.c_int64] * 3 + [ctypes.c_void_p, ctypes.c_size_t] * scratch + [ctypes.c_void_p]
    f.restype = ctypes.c_int
    if scratch:
        size = getattr(dll, name + '_workspace')
        size.argtypes, size.restype = [ctypes.c_int64] * 3, ctypes.c_size_t
    memory = {}

    def run(a, b, bias, c):
        (m, k), n = a.shape, b.shape[1]
        if scratch and (m, n, k) not in memory:
            memory.clear()
            memory[m, n, k] = torch.full((size(m, n, k) + 256,), 255, device='cuda', dtype=torch.uint8)
        more = (memory[m, n, k].data_ptr(), memory[m, n, k].numel()) if scratch else ()
        given = [x.data_ptr() for x in ((a, b, bias, c) if tensors == 4 else (a, b, c))]
        status = f(*given, m, n, k, *more, torch.cuda.current_stream().cuda_stream)
        if status: raise RuntimeError(f'{name} {m}x{n}x{k}: status {status}')
    return run


def peer(kind):
    if kind in ('relu', 'gelu'):
        return lambda a, b, bias, c: torch._addmm_activation(bias, a, b, use_gelu=kind == 'gelu', out=c)
    return lambda a, b, bias, c: torch.matmul(a, b, out=c)


def formula(kind, a, b, bias):
    x = a.double() @ b.double()
    if kind == 'relu': return torch.relu(x + bias.double())
    if kind == 'gelu': return torch.nn.functional.gelu(x + bias.double(), approximate='tanh')
    return x


def inputs(m, n, k, left, dtype, exact=False):
    def fill(*shape):
        if exact: return torch.randint(-2, 3, shape, device='cuda').to(dtype)
        return (torch.rand(shape, device='cuda') * 2 - 1).to(dtype)
    return fill(m, k), fill(n, k).t() if left else fill(k, n), fill(n)


def check(all_of):
    bad = done = 0
    for name, (dll, kind, elem) in all_of.items():
        run, dtype = caller(dll, name, kind), ELEMS[elem]
        for m, n, k in EDGES:
            a, b, bias = inputs(m, n, k, kind == 'left', dtype, True)
            want = formula(kind, a, b, bias)
            flat = torch.full((m * n + 2 * GUARD,), float('nan'), device='cuda', dtype=dtype)
            c = flat[GUARD:GUARD + m * n].view(m, n)
            run(a, b, bias, c)
            first = c.clone()
            run(a, b, bias, c)
            torch.cuda.synchronize()
            guards = bool(torch.isnan(flat[:GUARD]).all() and torch.isnan(flat[GUARD + m * n:]).all())
            same = torch.equal(c, first)
            right = torch.equal(c, want.to(dtype)) if kind != 'gelu' else float((c.double() - want).abs().max()) <= 0.01 * max(float(want.abs().max()), 1)
            done += 1
            if not (guards and same and right):
                bad += 1
                print(f'WRONG {name} {m}x{n}x{k}: {int((c != want.to(dtype)).sum())} of {m * n} elements, guards {guards}, same twice {same}', flush=True)
    print(f'{done} cases, {bad} wrong', flush=True)
    return bad


def drawn(seed, n):
    r = random.Random(seed)
    def extent(): return round(math.exp(r.uniform(math.log(LEAST), math.log(MOST))) / MULTIPLE) * MULTIPLE
    return [(extent(), extent(), extent()) for _ in range(n)]


def graph_of(run, launches):
    run()
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        for _ in range(launches): run()
    g.replay()
    torch.cuda.synchronize()
    return g


def measure(g, launches):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    time.sleep(0.002)
    begin.record()
    g.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3 / launches


def shape_row(all_of, shape, rounds):
    """{name: (median ratio, least, greatest, TFLOP/s)}; None where a value is wrong."""
    m, n, k = shape
    groups = {}
    for name, (dll, kind, elem) in all_of.items(): groups.setdefault((elem, kind), {})[name] = caller(dll, name, kind)
    out, wrong = {}, 0
    for (elem, kind), runs in groups.items():
        dtype = ELEMS[elem]
        copies = max(1, min(6, int(2 * LARGE / (2 * (m * k + k * n + m * n))) + 1))
        sets = [inputs(m, n, k, kind == 'left', dtype) + (torch.empty(m, n, device='cuda', dtype=dtype),) for _ in range(copies)]
        runs = {'peer': peer(kind), **runs}
        if kind in ('relu', 'gelu'): runs['bare'] = peer('row')
        a, b, bias, c = sets[0]
        rows = torch.cat([torch.randint(0, m, (24,), device='cuda'), torch.arange(max(0, m - 8), m, device='cuda')])
        want, whole = formula(kind, a[rows], b, bias), torch.empty_like(c)
        for name, f in runs.items():
            c.fill_(float('nan'))
            f(a, b, bias, c)
            if name == 'bare': continue
            if name == 'peer': whole.copy_(c)
            error = max(float((c[rows].double() - want).norm() / want.norm()), float((c.float() - whole.float()).norm() / whole.float().norm()))
            if not error <= BOUND[elem]:
                wrong += 1
                print(f'WRONG {name} {m}x{n}x{k}: relative error {error:.2e}', flush=True)
        turn = [0]

        def rotating(f):
            def run():
                turn[0] = (turn[0] + 1) % copies
                f(*sets[turn[0]])
            return run
        launches = max(2, min(30, int(5e-3 / (2 * m * n * k / 650e12))))
        graphs = {name: graph_of(rotating(f), launches) for name, f in runs.items()}
        times = {name: [] for name in runs}
        for _ in range(rounds):
            order = list(runs)
            random.shuffle(order)
            for name in order: times[name].append(measure(graphs[name], launches))
        for name in runs:
            if name == 'peer': continue
            ratio = sorted(x / y for x, y in zip(times['peer'], times[name]))
            key = name if name != 'bare' else f'{kind}_{elem}_bare'
            out[key] = statistics.median(ratio), ratio[0], ratio[-1], 2e-12 * m * n * k / statistics.median(times[name])
        out[f'{kind}_{elem}_peer'] = 1, 1, 1, 2e-12 * m * n * k / statistics.median(times['peer'])
        del graphs, sets
    return out, wrong


def main():
    p = argparse.ArgumentParser()
    p.add_argument('what', choices=['check', 'run'])
    p.add_argument('libs', nargs='+')
    p.add_argument('--seed', default='1')
    p.add_argument('--shapes', type=int, default=24)
    p.add_argument('--add', default='')
    p.add_argument('--rounds', type=int, default=9)
    p.add_argument('--only', default='')
    p.add_argument('--json')
    o = p.parse_args()
    random.seed(1)
    torch.manual_seed(1)
    all_of = functions(o.libs, o.only)
    if o.what == 'check': return 1 if check(all_of) else 0
    shapes = drawn(o.seed, o.shapes) + [tuple(map(int, s.split('x'))) for s in o.add.split(',') if s]
    print(f'{torch.cuda.get_device_name()}, torch {torch.__version__}, seed {o.seed}; peer\'s time / ours, peer TFLOP/s last of each kind')
    found, wrong, names = {}, 0, []
    for shape in shapes:
        row, bad = shape_row(all_of, shape, o.rounds)
        wrong += bad
        if not names:
            names = list(row)
            print('shape ' + ' '.join(names))
        found['x'.join(map(str, shape))] = row
        print('x'.join(map(str, shape)), ' '.join(f'{row[x][3]:.0f}' if x.endswith('_peer') else f'{row[x][0]:.3f}' for x in names), flush=True)
        torch.cuda.empty_cache()
    for x in names:
        if x.endswith('_peer'): continue
        ratios = [row[x][0] for row in found.values()]
        print(f'{x}: geometric mean {math.exp(statistics.mean(map(math.log, ratios))):.3f}, least {min(ratios):.3f}, '
              f'below 0.85: {sum(r < 0.85 for r in ratios)} of {len(ratios)}')
    if o.json:
        with open(o.json, 'w') as f: json.dump({'device': torch.cuda.get_device_name(), 'seed': o.seed, 'rows': found}, f)
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
