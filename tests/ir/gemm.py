#!/usr/bin/env python3
"""Writes the placed GEMM kernels as IR text: c[m, n] = a[m, k] b[k, n], f32 accumulation, by the schedules that are fastest on
sm_90a. Usage: gemm.py (writes gemm_<elem>.tir beside it), gemm.py --check (fails where a file is old)."""
import os
import sys


class Schedule:
    """A block's tile is rows x cols x 64: rows are those of wgmma's first factor, cols the columns of its second."""

    def __init__(self, name, rows, cols, stages, consumers, cluster=1, group=16, slots=2, wait=1, swap=False, regs=(24, 240)):
        self.name, self.rows, self.cols, self.stages, self.consumers = name, rows, cols, stages, consumers
        self.cluster, self.group, self.slots, self.wait, self.swap, self.regs = cluster, group, slots, wait, swap, regs
        self.mine = rows // consumers                       # rows of a warpgroup
        self.warps = 4 * (1 + consumers)


SCHEDULES = [
    Schedule('128x256', 128, 256, 4, 2, cluster=2, group=8),
    Schedule('192x160t', 192, 160, 4, 3, group=8, slots=1, wait=0, swap=True, regs=(32, 160)),
    Schedule('192x192', 192, 192, 4, 3, group=8, slots=1, regs=(32, 160)),
    Schedule('128x128', 128, 128, 6, 2),
    Schedule('128x64', 128, 64, 8, 2, slots=1),
]


def pow2(n):
    return n & -n


def log2(n):
    return n.bit_length() - 1


def acc_layout(rows, cols):
    """Of a wgmma result: the power-of-two part that repeats."""
    r, c = pow2(rows), pow2(cols)
    reg = ['(0,1)', '(8,0)'] + [f'(0,{8 << i})' for i in range(log2(c) - 3)] + [f'({64 << i},0)' for i in range(log2(r) - 6)]
    return f'[{r},{c}]' + '{reg:' + ' '.join(reg) + ' lane:(0,2) (0,4) (1,0) (2,0) (4,0) warp:(16,0) (32,0)}'


class Text:
    def __init__(self):
        self.lines, self.depth, self.n = [], 0, 0

    def put(self, s):
        if s.startswith('}'):
            self.depth -= 1
        self.lines.append('\t' * self.depth + s if s else '')
        if s.endswith('{'):
            self.depth += 1

    def new(self, what):
        self.n += 1
        return f'%{what}{self.n}'

    def let(self, what, text):
        v = self.new(what)
        self.put(f'{v} = {text}')
        return v

    def num(self, n):
        return self.let('n', f'const {{value = {n}}} : i32')

    def op(self, name, *args):
        return self.let('x', f'{name} {", ".join(args)} : i32')


def head(t, s, elem, left, name):
    rows_of, cols_of = ('n', 'm') if s.swap else ('m', 'n')
    t.put(f'kernel {name} placed {{')
    t.put('source gemm')
    for d in 'mnk':
        t.put(f'dim {d}: i32')
    t.put(f'param a: in tensor<{elem}, [m, k]> strides [k, 1] right')
    t.put(f'param b: in tensor<{elem}, [k, n]> strides ' + ('[1, k] left' if left else '[n, 1] right'))
    t.put(f'param c: out tensor<{elem}, [m, n]> strides [n, 1] right')
    t.put(f'grid [cdiv({rows_of}, {s.rows * s.cluster}) * cdiv({cols_of}, {s.cols})]')
    t.put('where k > 0 text "k > 0"')
    t.put('where k % 8 == 0 text "k % 8 == 0"')
    t.put('where n % 8 == 0 text "n % 8 == 0"')
    for p in 'abc':
        t.put(f'where aligned({p}, 16) text "{p} is aligned to 16 bytes"')
    t.put('arch 90')
    t.put('specific')
    t.put('persistent')
    t.put(f'warps {s.warps * s.cluster}')
    if s.cluster > 1:
        t.put(f'cluster {s.cluster}')


def tiles(t, s, order):
    """The loop over the tiles of this cluster: returns its head and the coordinates of the block's tile."""
    nx, ny, count = order
    first = t.let('first', 'bid {axis = 0} : i32')
    step = t.let('step', 'num_started : i32')
    return f'for {first}, {count}, {step}'


def coordinates(t, s, order, it, rank):
    nx, ny, count = order
    i, j = t.new('i'), t.new('j')
    t.put(f'{i}, {j} = tile_order {it}, {nx}, {ny} {{groups = {s.group}}} : i32, i32')
    if s.cluster > 1:
        i = t.op('add', t.op('mul', i, t.num(s.cluster)), rank)
    return t.op('mul', i, t.num(s.rows)), t.op('mul', j, t.num(s.cols))


def kernel(t, s, elem, left):
    name = f'gemm_{elem}_{"left_" if left else ""}{s.name}'
    head(t, s, elem, left, name)
    # Where the factors lie: [rows, 64] contiguous along k, or [64, rows] along the other axis.
    bmajor = 'k' if left else 'mn'
    xmajor, ymajor = (bmajor, 'k') if s.swap else ('k', bmajor)
    xshape = [s.rows, 64] if xmajor == 'k' else [64, s.rows]
    yshape = [s.cols, 64] if ymajor == 'k' else [64, s.cols]
    share = s.cols // s.cluster                     # columns of the second factor that this block loads for all of the cluster
    xbytes, ybytes = s.rows * 128, s.cols * 128
    box_rows = {160: 80}.get(s.cols, min(s.cols, 64)) if s.swap else 64     # of c
    boxes = s.mine // 64 * (s.cols // box_rows if s.swap else s.cols // 64)
    box = box_rows * 128
    at_y = s.stages * xbytes
    at_c = at_y + s.stages * ybytes
    at_bar = at_c + s.consumers * s.slots * box
    t.put(f'shared {at_bar + 16 * s.stages}')
    t.put(f'body (%a: tensor<{elem}, [_, _]>, %b: tensor<{elem}, [_, _]>, %c: tensor<{elem}, [_, _]>) {{')
    if left:
        t.put(f'%bt = permute %b {{axes = [1, 0]}} : tensor<{elem}, [_, _]>')
    b = '%bt' if left else '%b'
    x, y = (b, '%a') if s.swap else ('%a', b)
    xbox = xshape if xmajor == 'k' else [64, 64]
    ybox = [share, 64] if ymajor == 'k' else [64, 64]
    t.put(f'%tx = tensor_map {x} {{swizzle = 128}} : tmap<{elem}, {xbox}>')
    t.put(f'%ty = tensor_map {y} {{swizzle = 128}} : tmap<{elem}, {ybox}>')
    t.put(f'%tc = tensor_map %c {{swizzle = 128}} : tmap<{elem}, {[box_rows, 64]}>')
    t.put(f'%X = alloc_ring {{slot = 0, swizzle = 128}} : ring<{elem}, {xshape}, {s.stages}>')
    t.put(f'%Y = alloc_ring {{slot = {at_y}, swizzle = 128}} : ring<{elem}, {yshape}, {s.stages}>')
    t.put(f'%C = alloc_ring {{slot = {at_c}, swizzle = 128}} : ring<{elem}, {[box_rows, 64]}, {s.consumers * s.slots}>')
    t.put(f'%full = alloc_mbar {{count = 1, slot = {at_bar}}} : mbar<{s.stages}>')
    t.put(f'%empty = alloc_mbar {{count = {s.consumers * s.cluster}, slot = {at_bar + 8 * s.stages}}} : mbar<{s.stages}>')
    t.put('mbar_init %full, %empty')
    rows_of, cols_of = ('n', 'm') if s.swap else ('m', 'n')
    nx = t.let('nx', f'launch {{sym = cdiv({rows_of}, {s.rows * s.cluster})}} : i32')
    ny = t.let('ny', f'launch {{sym = cdiv({cols_of}, {s.cols})}} : i32')
    count = t.let('tiles', f'launch {{sym = cdiv({rows_of}, {s.rows * s.cluster}) * cdiv({cols_of}, {s.cols})}} : i32')
    steps = t.let('steps', 'launch {sym = cdiv(k, 64)} : i32')
    order = (nx, ny, count)
    zero, one = t.num(0), t.num(1)
    rank = t.let('rank', 'cluster_rank : i32') if s.cluster > 1 else None
    mask = t.num((1 << s.cluster) - 1) if s.cluster > 1 else None
    cur = f'cursor<{s.stages}>'

    t.put('')
    t.put(f'role {{text = "producer", regs = {s.regs[0]}}} do (%pw: i32) {{')
    t.put('one_warp do {')
    t.put('grid_wait')
    t.put('grid_launch_dependents')
    c0 = t.let('start', f'cursor : {cur}')
    loop = tiles(t, s, order)
    it, c1, out = t.new('t'), t.new('at'), t.new('end')
    t.put(f'{out} = {loop}, {c0} : {cur} do ({it}: i32, {c1}: {cur}) {{')
    row, col = coordinates(t, s, order, it, rank)
    if s.cluster > 1:
        col = t.op('add', col, t.op('mul', rank, t.num(share)))
    p, c2, out2 = t.new('p'), t.new('at'), t.new('end')
    t.put(f'{out2} = for {zero}, {steps}, {one}, {c1} : {cur} do ({p}: i32, {c2}: {cur}) {{')
    depth = t.op('mul', p, t.num(64))
    t.put(f'mbar_wait %empty, {c2} {{phase = previous}}')
    t.put('elect do {')
    t.put(f'mbar_expect %full, {c2} {{bytes = {xbytes + ybytes}}}')
    xs = t.let('x', f'slot %X, {c2} : shared<{elem}, {xshape}>')
    at = f'{row}, {depth}' if xmajor == 'k' else f'{depth}, {row}'
    t.put(f'tma_load {xs}, %tx, %full, {c2}, {at}')
    ys = t.let('y', f'slot %Y, {c2} : shared<{elem}, {yshape}>')
    at = f'{col}, {depth}' if ymajor == 'k' else f'{depth}, {col}'
    if s.cluster > 1:
        part = [share, 64] if ymajor == 'k' else [64, share]
        which = f'{rank}, {zero}' if ymajor == 'k' else f'{zero}, {rank}'
        ys = t.let('part', f'part {ys}, {which} {{steps = {part}}} : shared<{elem}, {part}>')
        t.put(f'tma_load {ys}, %ty, %full, {c2}, {at}, {mask} {{multicast = true}}')
    else:
        t.put(f'tma_load {ys}, %ty, %full, {c2}, {at}')
    t.put('yield')
    t.put('}')
    c3 = t.let('next', f'advance {c2} : {cur}')
    t.put(f'yield {c3}')
    t.put('}')
    t.put(f'yield {out2}')
    t.put('}')
    t.put('yield')
    t.put('}')
    t.put('yield')
    t.put('}')

    shape = [s.mine, s.cols]
    lay = acc_layout(*shape)
    acc = f'{shape}> @ {lay}'
    t.put('')
    t.put(f'role {{text = "consumer", groups = {s.consumers}, regs = {s.regs[1]}}} do (%w: i32) {{')
    c0 = t.let('start', f'cursor : {cur}')
    r0 = t.let('sum', f'const {{value = 0.0}} : tile<f32, {acc}')
    mine = t.op('mul', '%w', t.num(s.slots))
    loop = tiles(t, s, order)
    it, c1, r1, out, rout = t.new('t'), t.new('at'), t.new('sum'), t.new('end'), t.new('sum')
    t.put(f'{out}, {rout} = {loop}, {c0}, {r0} : {cur}, tile<f32, {acc} do ({it}: i32, {c1}: {cur}, {r1}: tile<f32, {acc}) {{')
    row, col = coordinates(t, s, order, it, rank)
    row = t.op('add', row, t.op('mul', '%w', t.num(s.mine)))
    a1 = t.let('sum', f'wgmma_fence {r1} : async<f32, {acc}')
    p, c2, pv, a2, out2, prev, aout = t.new('p'), t.new('at'), t.new('prev'), t.new('sum'), t.new('end'), t.new('prev'), t.new('sum')
    arrive = f', {mask}' if mask else ''
    t.put(f'{out2}, {prev}, {aout} = for {zero}, {steps}, {one}, {c1}, {c1}, {a1} : {cur}, {cur}, async<f32, {acc} '
          f'do ({p}: i32, {c2}: {cur}, {pv}: {cur}, {a2}: async<f32, {acc}) {{')
    t.put(f'mbar_wait %full, {c2}')
    a3 = t.let('sum', f'wgmma_fence {a2} : async<f32, {acc}')
    xs = t.let('x', f'slot %X, {c2} : shared<{elem}, {xshape}>')
    part = [s.mine, 64] if xmajor == 'k' else [64, s.mine]
    which = f'%w, {zero}' if xmajor == 'k' else f'{zero}, %w'
    xs = t.let('mine', f'part {xs}, {which} {{steps = {part}}} : shared<{elem}, {part}>')
    ys = t.let('y', f'slot %Y, {c2} : shared<{elem}, {yshape}>')
    later = t.let('later', f'ne {p}, {zero} : bool')
    majors = ', '.join(f'{w}_major = mn' for w, major in (('a', xmajor), ('b', ymajor)) if major == 'mn')
    a4 = t.let('sum', f'wgmma {a3}, {xs}, {ys}, {later}{" {" + majors + "}" if majors else ""} : async<f32, {acc}')
    t.put('wgmma_commit')
    if s.wait:
        t.put(f'wgmma_wait {{pending = {s.wait}}}')
        t.put(f'if {later} do {{')
        t.put(f'mbar_arrive %empty, {pv}{arrive}')
        t.put('yield')
        t.put('} do {')
        t.put('yield')
        t.put('}')
    else:
        t.put('wgmma_wait')
        t.put(f'mbar_arrive %empty, {c2}{arrive}')
    c3 = t.let('next', f'advance {c2} : {cur}')
    t.put(f'yield {c3}, {c2}, {a4}')
    t.put('}')
    r2 = t.let('sum', f'wgmma_wait {aout} : tile<f32, {acc}')
    if s.wait:
        t.put(f'mbar_arrive %empty, {prev}{arrive}')
    store_boxes(t, s, elem, r2, row, col, mine, box_rows, boxes)
    t.put(f'yield {out2}, {r2}')
    t.put('}')
    t.put('elect do {')
    t.put('bulk_wait')
    t.put('yield')
    t.put('}')
    t.put('yield')
    t.put('}')
    if s.cluster > 1:
        t.put('cluster_barrier')
    t.put('return')
    t.put('}')
    t.put('}')


def store_boxes(t, s, elem, acc, row, col, first_slot, box_rows, boxes):
    """c is written in boxes of 64 columns; swapped, a box is [box_rows, 64] of the transposed tile."""
    n = 0
    for mi in range(s.mine // 64):
        for q in range(boxes // (s.mine // 64)):
            wide = box_rows if s.swap else 64
            lay = acc_layout(64, wide)
            t.put('elect do {')
            t.put(f'bulk_wait {{pending = {s.slots - 1}}}' if s.slots > 1 else 'bulk_wait')
            t.put('yield')
            t.put('}')
            t.put('group_barrier')
            at = t.op('add', first_slot, t.num(n % s.slots)) if s.slots > 1 else first_slot
            sl = t.let('box', f'slot %C, {at} : shared<{elem}, {[box_rows, 64]}>')
            x = t.let('cut', f'cut {acc} {{offsets = {[mi * 64, q * wide]}}} : tile<f32, {[64, wide]}> @ {lay}')
            h = t.let('half', f'element_cast {x} : tile<{elem}, {[64, wide]}> @ {lay}')
            t.put(f'stmatrix {sl}, {h}{" {trans = true}" if s.swap else ""}')
            t.put('proxy_fence')
            t.put('group_barrier')
            r = t.op('add', row, t.num(mi * 64)) if mi else row
            c = t.op('add', col, t.num(q * wide)) if q else col
            t.put('elect do {')
            t.put(f'tma_store %tc, {sl}, ' + (f'{c}, {r}' if s.swap else f'{r}, {c}'))
            t.put('bulk_commit')
            t.put('yield')
            t.put('}')
            n += 1


def entry(t, elem, left, names, called):
    t.put(f'entry {called} {{')
    for d in 'mnk':
        t.put(f'dim {d}: i32')
    t.put(f'param a: in tensor<{elem}, [m, k]> strides [k, 1] right')
    t.put(f'param b: in tensor<{elem}, [k, n]> strides ' + ('[1, k] left' if left else '[n, 1] right'))
    t.put(f'param c: out tensor<{elem}, [m, n]> strides [n, 1] right')
    t.put('body {')
    t.put(f'launch {", ".join(names)} (@a.0, @b.1, @c.2) dims [m, n, k]')
    t.put('}')
    t.put('}')


def module(elem):
    t = Text()
    t.put('// Written by gemm.py: the fastest products of matrices known for sm_90a, as placed IR.')
    t.put(f'module "gemm_{elem}.tir"')
    for left in (False, True):
        names = []
        for s in SCHEDULES:
            t.put('')
            t.n = 0
            kernel(t, s, elem, left)
            names.append(f'gemm_{elem}_{"left_" if left else ""}{s.name}')
        for name in names:
            t.put('')
            entry(t, elem, left, [name], f'run_{name}')
        t.put('')
        entry(t, elem, left, names, f'gemm_{elem}{"_left" if left else ""}')
    return '\n'.join(t.lines) + '\n'


def main(args):
    folder = os.path.dirname(os.path.abspath(__file__))
    old = 0
    for elem in ('bf16', 'f16'):
        path, text = os.path.join(folder, f'gemm_{elem}.tir'), module(elem)
        if args != ['--check']:
            with open(path, 'w') as f:
                f.write(text)
            continue
        with open(path) as f:
            if f.read() != text:
                print(f'{path} is not what gemm.py writes')
                old = 1
    return old


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
