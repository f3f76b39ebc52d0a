#!/usr/bin/env python3
"""Writes placed GEMM kernels for sm_80 as IR text: c[m, n] = a[m, k] b[k, n] of f16 or bf16, f32 accumulation, by cp.async,
ldmatrix and mma.sync: several stages of shared memory are filled ahead, and fragments are loaded one step ahead of the products.
Usage: gemm_sm80.py DIR (writes DIR/gemm_sm80.tir), gemm_sm80.py --check DIR (fails where the file is old)."""
import os
import sys
from gemm import Text, log2


class Schedule:
    """A block's tile is rows x cols x depth; its warps stand in warps_m rows of warps_n."""

    def __init__(self, rows, cols, depth, stages, warps_m, warps_n, speed, blocks=1, group=8):
        self.speed, self.blocks = speed, blocks         # relative, per multiprocessor; thread blocks of one that run at once
        self.rows, self.cols, self.depth, self.stages = rows, cols, depth, stages
        self.warps_m, self.warps_n, self.group = warps_m, warps_n, group
        self.name = f'{rows}x{cols}x{depth}'
        self.span_x, self.span_y = min(depth * 2, 128), min(cols * 2, 128)     # bytes of a swizzled row

    def cost(self):
        """Of all rounds of thread blocks: elements of c times the time of one."""
        tiles, at_once = f'cdiv(m, {self.rows}) * cdiv(n, {self.cols})', f'{self.blocks} * sms' if self.blocks > 1 else 'sms'
        return f'{self.blocks * self.rows * self.cols * 100 // self.speed} * cdiv({tiles}, {at_once})'


SCHEDULES = [
    Schedule(128, 256, 32, 4, 2, 4, speed=100),
    Schedule(256, 128, 32, 4, 4, 2, speed=101),
    Schedule(128, 128, 32, 4, 2, 2, speed=98, blocks=2),
]


def steps(axis, first, last):
    """Bits that walk along an axis, from one extent to another."""
    return [f'({1 << i},0)' if axis == 0 else f'(0,{1 << i})' for i in range(log2(first), log2(last))]


def layout(rows, cols, reg, lane, warp):
    return f'[{rows},{cols}]' + '{reg:' + ' '.join(reg) + ' lane:' + ' '.join(lane) + ' warp:' + ' '.join(warp) + '}'


class Layouts:
    """Fragments of mma.m16n8k16, repeated in a warp; warps outermost, those along m before those along n."""

    def __init__(self, s):
        wm, wn = s.rows // s.warps_m, s.cols // s.warps_n
        rows, cols = steps(0, 16, wm), steps(1, 8, wn)
        self.a = layout(s.rows, 16, ['(0,1)', '(8,0)', '(0,8)'] + rows, ['(0,2)', '(0,4)', '(1,0)', '(2,0)', '(4,0)'],
                        steps(0, wm, s.rows) + ['(0,0)'] * log2(s.warps_n))
        self.b = layout(16, s.cols, ['(1,0)', '(8,0)'] + cols, ['(2,0)', '(4,0)', '(0,1)', '(0,2)', '(0,4)'],
                        ['(0,0)'] * log2(s.warps_m) + steps(1, wn, s.cols))
        self.c = layout(s.rows, s.cols, ['(0,1)', '(8,0)'] + cols + rows, ['(0,2)', '(0,4)', '(1,0)', '(2,0)', '(4,0)'],
                        steps(0, wm, s.rows) + steps(1, wn, s.cols))


def params(t, elem):
    for d in 'mnk':
        t.put(f'dim {d}: i32')
    t.put(f'param a: in tensor<{elem}, [m, k]> strides [k, 1] right')
    t.put(f'param b: in tensor<{elem}, [k, n]> strides [n, 1] right')
    t.put(f'param c: out tensor<{elem}, [m, n]> strides [n, 1] right')


class Kernel:
    def __init__(self, t, s, elem):
        self.t, self.s, self.elem, self.lay = t, s, elem, Layouts(s)
        self.cur = f'cursor<{s.stages}>'

    def fill(self, at, p):
        """Stage `at` gets the factors' blocks number p along k."""
        t, s = self.t, self.s
        x = t.let('x', f'slot %X, {at} : shared<{self.elem}, {[s.rows, s.depth]}>')
        t.put(f'copy_async {x}, %a, %i, {p} {{steps = {[s.rows, s.depth]}}}')
        y = t.let('y', f'slot %Y, {at} : shared<{self.elem}, {[s.depth, s.cols]}>')
        t.put(f'copy_async {y}, %b, {p}, %j {{steps = {[s.depth, s.cols]}}}')
        t.put('copy_commit')

    def fragments(self, at, step):
        t, s, e = self.t, self.s, self.elem
        k = t.num(step)
        x = t.let('x', f'slot %X, {at} : shared<{e}, {[s.rows, s.depth]}>')
        x = t.let('x', f'part {x}, %zero, {k} {{steps = {[s.rows, 16]}}} : shared<{e}, {[s.rows, 16]}>')
        a = t.let('a', f'ldmatrix {x} : frag<{e}, {[s.rows, 16]}> @ {self.lay.a}')
        y = t.let('y', f'slot %Y, {at} : shared<{e}, {[s.depth, s.cols]}>')
        y = t.let('y', f'part {y}, {k}, %zero {{steps = {[16, s.cols]}}} : shared<{e}, {[16, s.cols]}>')
        b = t.let('b', f'ldmatrix {y} : frag<{e}, {[16, s.cols]}> @ {self.lay.b}')
        return a, b

    def shown(self):
        """The oldest stage in flight has arrived, and all threads know; nobody reads the one before it any more."""
        self.t.put(f'copy_wait {{pending = {self.s.stages - 2}}}')
        self.t.put('barrier')

    def loop(self, at, fill):
        t, s, e = self.t, self.s, self.elem
        acc = f'tile<f32, {[s.rows, s.cols]}> @ {self.lay.c}'
        fa, fb = f'frag<{e}, {[s.rows, 16]}> @ {self.lay.a}', f'frag<{e}, {[16, s.cols]}> @ {self.lay.b}'
        d0 = t.let('sum', f'const {{value = 0.0}} : {acc}')
        self.shown()
        a0, b0 = self.fragments(at, 0)
        names = [t.new(x) for x in ('sum', 'a', 'b', 'at', 'fill')]
        d, a, b, r, w = (t.new(x) for x in ('sum', 'a', 'b', 'at', 'fill'))
        types = [acc, fa, fb, self.cur, self.cur]
        args = ', '.join(f'{v}: {ty}' for v, ty in zip((d, a, b, r, w), types))
        t.put(f'{", ".join(names)} = for %zero, %steps, %one, {d0}, {a0}, {b0}, {at}, {fill} : {", ".join(types)} do (%p: i32, {args}) {{')
        ahead = t.op('add', '%p', t.num(s.stages - 1))
        later = r
        for step in range(s.depth // 16):
            last = step == s.depth // 16 - 1
            if last:
                self.shown()
                later = t.let('at', f'advance {r} : {self.cur}')
            a2, b2 = self.fragments(later, 0 if last else step + 1)
            if step == 0:
                self.fill(w, ahead)
            d = t.let('sum', f'mma_frag {a}, {b}, {d} : {acc}')
            a, b = a2, b2
        w2 = t.let('fill', f'advance {w} : {self.cur}')
        t.put(f'yield {d}, {a}, {b}, {later}, {w2}')
        t.put('}')
        return names[0]

    def write(self):
        t, s, e = self.t, self.s, self.elem
        t.put(f'kernel gemm_sm80_{e}_{s.name} placed {{')
        t.put('source gemm_sm80')
        params(t, e)
        t.put(f'grid [cdiv(m, {s.rows}) * cdiv(n, {s.cols})]')
        t.put('where k % 8 == 0 text "k % 8 == 0"')
        t.put('where n % 8 == 0 text "n % 8 == 0"')
        for p in 'ab':
            t.put(f'where aligned({p}, 16) text "{p} is aligned to 16 bytes"')
        t.put('arch 80')
        t.put(f'warps {s.warps_m * s.warps_n}')
        at_y = s.stages * s.rows * s.depth * 2
        t.put(f'shared {at_y + s.stages * s.cols * s.depth * 2}')
        t.put(f'body (%a: tensor<{e}, [_, _]>, %b: tensor<{e}, [_, _]>, %c: tensor<{e}, [_, _]>) {{')
        t.put(f'%X = alloc_ring {{slot = 0, swizzle = {s.span_x}}} : ring<{e}, {[s.rows, s.depth]}, {s.stages}>')
        t.put(f'%Y = alloc_ring {{slot = {at_y}, swizzle = {s.span_y}}} : ring<{e}, {[s.depth, s.cols]}, {s.stages}>')
        t.put(f'%nx = launch {{sym = cdiv(m, {s.rows})}} : i32')
        t.put(f'%ny = launch {{sym = cdiv(n, {s.cols})}} : i32')
        t.put(f'%steps = launch {{sym = cdiv(k, {s.depth})}} : i32')
        t.put('%zero = const {value = 0} : i32')
        t.put('%one = const {value = 1} : i32')
        t.put('%tile = bid {axis = 0} : i32')
        t.put(f'%i, %j = tile_order %tile, %nx, %ny {{groups = {s.group}}} : i32, i32')
        at = t.let('at', f'cursor : {self.cur}')
        fill = at
        for p in range(s.stages - 1):
            self.fill(fill, t.num(p))
            fill = t.let('fill', f'advance {fill} : {self.cur}')
        d = self.loop(at, fill)
        t.put('copy_wait')
        c = t.let('c', f'element_cast {d} : tile<{e}, {[s.rows, s.cols]}> @ {self.lay.c}')
        t.put(f'store %c, %i, %j, {c} {{steps = {[s.rows, s.cols]}}}')
        t.put('return')
        t.put('}')
        t.put('}')


def entry(t, elem, called, names, costs):
    t.put('')
    t.put(f'entry {called} {{')
    params(t, elem)
    t.put('body {')
    if costs:
        t.put('let sms = multiprocessors')
    t.put(f'launch {", ".join(names)} (@a.0, @b.1, @c.2) dims [m, n, k]' + (' tuned {' if costs else ''))
    for i, cost in enumerate(costs):
        t.put(f'when any use {i} cost {cost}')
    if costs:
        t.put('}')
    t.put('}')
    t.put('}')


def module():
    t = Text()
    t.put('// Written by gemm_sm80.py: products of matrices in several stages, for sm_80, as placed IR.')
    t.put('module "gemm_sm80.tir"')
    for e in ('bf16', 'f16'):
        for s in SCHEDULES:
            t.put('')
            t.n = 0
            Kernel(t, s, e).write()
    for e in ('bf16', 'f16'):
        names = [f'gemm_sm80_{e}_{s.name}' for s in SCHEDULES]
        entry(t, e, f'gemm_{e}', names, [s.cost() for s in SCHEDULES])
        for s, name in zip(SCHEDULES, names):
            entry(t, e, f'run_gemm_{e}_{s.name}', [name], [])
    return '\n'.join(t.lines) + '\n'


def main(args):
    path = os.path.join(args[-1], 'gemm_sm80.tir')
    if args[0] != '--check':
        with open(path, 'w') as f:
            f.write(module())
        return 0
    with open(path) as f:
        if f.read() == module():
            return 0
    print(f'{path} is not what gemm_sm80.py writes')
    return 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
