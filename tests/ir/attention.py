#!/usr/bin/env python3
"""Writes placed attention kernels for sm_90a as IR text: o = softmax(scale q k^T) v for each of `heads` independent heads, forward,
head dimensions 64 and 128, all keys or (causal) those up to the query's own.
Usage: attention.py DIR (writes DIR/attention_<elem>.tir), attention.py --check DIR (fails where a file is old).

One warp copies q, k and v; each consumer group holds 64 rows of queries. The product with k of one block and that with v of the
block before it run together; what comes between, the exponentials of a block, overlaps with the other groups' products. Blocks
of keys go from right to left, so that those that need a mask come first. Tiles of unequal length,
and those of few blocks, are drawn from a counter, the longest first, and in groups of heads whose keys and values stay in L2."""
import os
import sys
from gemm import Text, acc_layout


class Schedule:
    def __init__(self, d, causal, groups, keys, together, regs, queries=1, drawn=False):
        self.d, self.causal, self.groups, self.keys, self.together, self.regs = d, causal, groups, keys, together, regs
        self.queries, self.drawn = queries, drawn       # buffers for q; whether tiles are drawn
        self.rows = 64 * groups
        self.name = f'd{d}_{"causal" if causal else "full"}'


SCHEDULES = [
    Schedule(128, False, 2, 128, 1, (40, 232), queries=2, drawn=True),
    Schedule(128, True, 2, 128, 8, (40, 232), queries=2, drawn=True),
    Schedule(64, False, 3, 128, 1, (32, 160), queries=2),
    Schedule(64, True, 3, 128, 8, (32, 160), queries=2, drawn=True),
]

# What becomes of a product's layout along its rows: a thread's partial results, and those of its row.
PART = '[64,4]{reg:(8,0) lane:(0,1) (0,2) (1,0) (2,0) (4,0) warp:(16,0) (32,0)}'
ROW = '[64,1]{reg:(8,0) lane:(0,0) (0,0) (1,0) (2,0) (4,0) warp:(16,0) (32,0)}'


def column_layout(n):
    reg = ['(0,1)'] + [f'(0,{8 << i})' for i in range(n.bit_length() - 4)]
    return f'[1,{n}]' + '{reg:' + ' '.join(reg) + ' lane:(0,2) (0,4) (0,0) (0,0) (0,0) warp:(0,0) (0,0)}'


class Kernel:
    def __init__(self, t, s, elem):
        self.t, self.s, self.elem = t, s, elem
        self.score = f'[64, {s.keys}]> @ {acc_layout(64, s.keys)}'
        self.value = f'[64, {s.d}]> @ {acc_layout(64, s.d)}'
        self.cur_q = f'cursor<{s.queries}>'
        self.part, self.row = f'[64, 4]> @ {PART}', f'[64, 1]> @ {ROW}'

    # ---- operations ----
    def tile(self, what, text, elem, shape):
        return self.t.let(what, f'{text} : tile<{elem}, {shape}')

    def wide(self, x, shape, elem='f32'):
        return self.tile('wide', f'broadcast {x}', elem, shape)

    def constant(self, value, shape, elem='f32'):
        return self.tile('all', f'const {{value = {value}}}', elem, shape)

    def op(self, name, *args, shape, elem='f32'):
        return self.tile('x', f'{name} {", ".join(args)}', elem, shape)

    def reduce(self, x, kind, lanes=True):
        r = self.tile('part', f'reduce_regs {x} {{axis = 1{kind}}}', 'f32', self.part)
        return self.tile('whole', f'reduce_lanes {r} {{axis = 1{kind}}}', 'f32', self.row) if lanes else r

    # ---- what both roles count alike ----
    def place(self, it):
        """The tile's head and first row, and how many blocks of keys it meets."""
        t, s = self.t, self.s
        head, block = t.new('head'), t.new('block')
        t.put(f'{head}, {block} = tile_order {it}, %heads, %rowblocks {{groups = {s.together}}} : i32, i32')
        if s.causal:                                    # those with the most keys first
            block = t.op('sub', t.op('sub', '%rowblocks', '%one'), block)
        row = t.op('mul', block, t.num(s.rows))
        end = t.op('min', t.op('add', row, t.num(s.rows)), '%sk') if s.causal else '%sk'
        blocks = t.op('div', t.op('add', end, t.num(s.keys - 1)), t.num(s.keys))
        return head, row, blocks

    def tiles(self, draws, carried, body):
        """A loop over this block's tiles. carried: (name, type, first value); body writes a round from the tile's number and the
        carried values, and returns those of the next round."""
        t = self.t
        names, types, start = [n for n, _, _ in carried], [ty for _, ty, _ in carried], [x for _, _, x in carried]
        if not self.s.drawn:
            first, step = t.let('first', 'bid {axis = 0} : i32'), t.let('step', 'num_started : i32')
            it, args, out = t.new('t'), [t.new(n) for n in names], [t.new('end') for _ in names]
            t.put(f'{", ".join(out)} = for {first}, %tiles, {step}, {", ".join(start)} : {", ".join(types)} do ({it}: i32, '
                  + ', '.join(f'{a}: {ty}' for a, ty in zip(args, types)) + ') {')
            t.put(f'yield {", ".join(body(it, *args))}')
            t.put('}')
            return
        at = t.let('at', 'cursor : cursor<2>')
        names, types, start = names + ['at'], types + ['cursor<2>'], start + [at]
        args, out, inner, it = [t.new(n) for n in names], [t.new('end') for _ in names], [t.new(n) for n in names], t.new('t')
        t.put(f'{", ".join(out + [t.new("end")])} = while {", ".join(start)} : {", ".join(types + ["i32"])} do ('
              + ', '.join(f'{a}: {ty}' for a, ty in zip(args, types)) + ') {')
        at = args[-1]
        if draws:
            n = t.let('n', 'draw %counter, %tiles : i32')
            t.put(f'mbar_wait %tempty, {at} {{phase = previous}}')
            t.put(f'put {t.let("to", f"slot %T, {at} : shared<i32, [1]>")}, {n}')
            t.put(f'mbar_arrive %tfull, {at}')
        else:
            t.put(f'mbar_wait %tfull, {at}')
            x = t.let('from', f'slot %T, {at} : shared<i32, [1]>')
            n = t.let('n', f'get {x} : i32')
            t.put('group_barrier')
            t.put(f'mbar_arrive %tempty, {at}')
        more = t.let('more', f'lt {n}, %tiles : bool')
        after = t.let('next', f'advance {at} : cursor<2>')
        t.put(f'condition {", ".join([more] + args[:-1] + [after, n])}')
        t.put('} do (' + ', '.join(f'{a}: {ty}' for a, ty in zip(inner + [it], types + ['i32'])) + ') {')
        t.put(f'yield {", ".join(list(body(it, *inner[:-1])) + [inner[-1]])}')
        t.put('}')

    # ---- the producer ----
    def load(self, ring, tmap, bars, at, head, row, rows):
        t, s = self.t, self.s
        t.put(f'mbar_wait {bars}empty, {at} {{phase = previous}}')
        t.put('elect do {')
        t.put(f'mbar_expect {bars}full, {at} {{bytes = {rows * s.d * 2}}}')
        x = t.let('to', f'slot {ring}, {at} : shared<{self.elem}, {[rows, s.d]}>')
        t.put(f'tma_load {x}, {tmap}, {bars}full, {at}, {head}, {row}, %zero')
        t.put('yield')
        t.put('}')

    def producer(self):
        t, s = self.t, self.s
        t.put(f'role {{text = "producer", regs = {s.regs[0]}}} do (%pw: i32) {{')
        t.put('one_warp do {')
        t.put('grid_wait')
        t.put('grid_launch_dependents')
        q0 = t.let('at', f'cursor : {self.cur_q}')
        k0 = t.let('at', 'cursor : cursor<2>')
        v0 = t.let('at', 'cursor : cursor<2>')
        self.tiles(True, [('q', self.cur_q, q0), ('k', 'cursor<2>', k0), ('v', 'cursor<2>', v0)], self.fill)
        for _ in range(2):
            t.put('yield')
            t.put('}')

    def fill(self, it, q1, k1, v1):
        """Copies what one tile needs, in the order in which it is used."""
        t, s = self.t, self.s
        head, row, blocks = self.place(it)
        self.load('%Q', '%tq', '%q', q1, head, row, s.rows)
        q2 = t.let('next', f'advance {q1} : {self.cur_q}')
        last = t.op('sub', blocks, '%one')
        self.load('%K', '%tk', '%k', k1, head, t.op('mul', last, t.num(s.keys)), s.keys)
        k2 = t.let('next', f'advance {k1} : cursor<2>')
        p, k3, v3, k5, v5 = (t.new(x) for x in ('p', 'k', 'v', 'end', 'end'))
        t.put(f'{k5}, {v5} = for %one, {blocks}, %one, {k2}, {v1} : cursor<2>, cursor<2> do ({p}: i32, {k3}: cursor<2>, {v3}: cursor<2>) {{')
        j = t.op('mul', t.op('sub', last, p), t.num(s.keys))
        self.load('%K', '%tk', '%k', k3, head, j, s.keys)
        self.load('%V', '%tv', '%v', v3, head, t.op('add', j, t.num(s.keys)), s.keys)
        k4 = t.let('next', f'advance {k3} : cursor<2>')
        v4 = t.let('next', f'advance {v3} : cursor<2>')
        t.put(f'yield {k4}, {v4}')
        t.put('}')
        self.load('%V', '%tv', '%v', v5, head, '%zero', s.keys)
        v6 = t.let('next', f'advance {v5} : cursor<2>')
        return q2, k5, v6

    # ---- a consumer ----
    def scores(self, old, q, k):
        """Issues q k^T into the registers of `old`."""
        t, s = self.t, self.s
        t.put(f'mbar_wait %kfull, {k}')
        a = t.let('s', f'wgmma_fence {old} : async<f32, {self.score}')
        x = t.let('keys', f'slot %K, {k} : shared<{self.elem}, {[s.keys, s.d]}>')
        r = t.let('s', f'wgmma {a}, {q}, {x}, %no : async<f32, {self.score}')
        t.put('wgmma_commit')
        return r

    def products(self, o, p, v, keep):
        """Issues o += p v."""
        t, s = self.t, self.s
        t.put(f'mbar_wait %vfull, {v}')
        oa, pa = t.new('o'), t.new('p')
        t.put(f'{oa}, {pa} = wgmma_fence {o}, {p} : async<f32, {self.value}, async<{self.elem}, {self.score}')
        x = t.let('values', f'slot %V, {v} : shared<{self.elem}, {[s.keys, s.d]}>')
        r = t.let('o', f'wgmma {oa}, {pa}, {x}, {keep} {{b_major = mn}} : async<f32, {self.value}')
        t.put('wgmma_commit')
        return r

    def mask(self, x, block, row):
        """Keys beyond the last one, or (causal) beyond the query's own, get no weight."""
        s = self.s
        col = column_layout(s.keys)
        first = self.t.op('mul', block, self.t.num(s.keys))
        left = self.t.op('sub', '%sk', first)
        c = self.tile('col', 'iota', 'i32', f'[1, {s.keys}]> @ {col}')
        cs = self.wide(c, self.score, 'i32')
        if s.causal:
            here = self.t.op('add', self.t.op('sub', row, first), '%one')
            r = self.op('add', self.tile('row', 'iota', 'i32', self.row), self.wide(here, self.row, 'i32'), shape=self.row, elem='i32')
            limit = self.op('min', r, self.wide(left, self.row, 'i32'), shape=self.row, elem='i32')
            limit = self.wide(limit, self.score, 'i32')
        else:
            limit = self.wide(left, self.score, 'i32')
        inside = self.op('lt', cs, limit, shape=self.score, elem='bool')
        return self.op('select', inside, x, self.constant('-inf', self.score), shape=self.score)

    def softmax(self, x, m, l):
        """The exponentials of a block, the new maxima and sums, and by how much earlier results shrink. The first block: m is None."""
        big = self.reduce(x, ', kind = max')
        if m:
            big = self.op('max', m, big, shape=self.row)
        c = self.wide('%c', self.row)
        none = self.op('eq', big, self.constant('-inf', self.row), shape=self.row, elem='bool')
        mc = self.op('select', none, self.constant('0.0', self.row), self.op('mul', big, c, shape=self.row), shape=self.row)
        less = self.op('neg', mc, shape=self.row)
        e = self.op('fma', x, self.wide('%c', self.score), self.wide(less, self.score), shape=self.score)
        e = self.tile('e', f'exp2 {e} {{subnormals = flush}}', 'f32', self.score)
        sums = self.reduce(e, '', lanes=False)
        if not m:
            return e, big, sums, None
        shrink = self.tile('shrink', f'exp2 {self.op("fma", m, c, less, shape=self.row)} {{subnormals = flush}}', 'f32', self.row)
        sums = self.op('fma', l, self.wide(shrink, self.part), sums, shape=self.part)
        return e, big, sums, shrink

    def packed(self, e):
        h = self.tile('half', f'element_cast {e}', self.elem, self.score)
        return self.t.let('p', f'wgmma_fence {h} : async<{self.elem}, {self.score}')

    def blocks(self, first, end, carried, q, last, row, masked):
        """A loop over blocks, counted from the right: returns what it carries."""
        t, s = self.t, self.s
        types = ['cursor<2>', 'cursor<2>', f'tile<f32, {self.score}', f'tile<f32, {self.value}', f'async<{self.elem}, {self.score}',
                 f'tile<f32, {self.row}', f'tile<f32, {self.part}', 'bool']
        names = ('k', 'v', 's', 'o', 'p', 'm', 'l', 'keep')
        out = [t.new(n) for n in names]
        k, v, sc, o, p, m, l, keep = args = [t.new(n) for n in names]
        i = t.new('i')
        t.put(f'{", ".join(out)} = for {first}, {end}, %one, {", ".join(carried)} : {", ".join(types)} do ({i}: i32, '
              + ', '.join(f'{a}: {ty}' for a, ty in zip(args, types)) + ') {')
        sa = self.scores(sc, q, k)
        oa = self.products(o, p, v, keep)
        x = t.let('s', f'wgmma_wait {sa} {{pending = 1}} : tile<f32, {self.score}')
        t.put(f'mbar_arrive %kempty, {k}')
        if masked:
            x = self.mask(x, t.op('sub', last, i), row)
        e, m2, l2, shrink = self.softmax(x, m, l)
        o2 = t.let('o', f'wgmma_wait {oa} : tile<f32, {self.value}')
        t.put(f'mbar_arrive %vempty, {v}')
        o3 = self.op('mul', o2, self.wide(shrink, self.value), shape=self.value)
        p2 = self.packed(e)
        k2 = t.let('next', f'advance {k} : cursor<2>')
        v2 = t.let('next', f'advance {v} : cursor<2>')
        t.put(f'yield {k2}, {v2}, {e}, {o3}, {p2}, {m2}, {l2}, %yes')
        t.put('}')
        return out

    def consumer(self):
        t, s = self.t, self.s
        t.put(f'role {{text = "consumer", groups = {s.groups}, regs = {s.regs[1]}}} do (%w: i32) {{')
        q0 = t.let('at', f'cursor : {self.cur_q}')
        k0 = t.let('at', 'cursor : cursor<2>')
        v0 = t.let('at', 'cursor : cursor<2>')
        self.mine = t.op('mul', '%w', t.num(s.d // 64))
        s0, o0 = self.constant('0.0', self.score), self.constant('0.0', self.value)
        self.tiles(False, [('q', self.cur_q, q0), ('k', 'cursor<2>', k0), ('v', 'cursor<2>', v0), ('s', f'tile<f32, {self.score}', s0),
                           ('o', f'tile<f32, {self.value}', o0)], self.attend)
        t.put('elect do {')
        t.put('bulk_wait')
        t.put('yield')
        t.put('}')
        t.put('yield')
        t.put('}')

    def attend(self, it, q1, k1, v1, s1, o1):
        """One tile: a group's 64 rows of queries against their keys."""
        t, s = self.t, self.s
        head, row, blocks = self.place(it)
        row = t.op('add', row, t.op('mul', '%w', t.num(64)))
        last = t.op('sub', blocks, '%one')
        t.put(f'mbar_wait %qfull, {q1}')
        qs = t.let('q', f'slot %Q, {q1} : shared<{self.elem}, {[s.rows, s.d]}>')
        q = t.let('mine', f'part {qs}, %w, %zero {{steps = {[64, s.d]}}} : shared<{self.elem}, {[64, s.d]}>')
        sa = self.scores(s1, q, k1)
        x = t.let('s', f'wgmma_wait {sa} : tile<f32, {self.score}')
        t.put(f'mbar_arrive %kempty, {k1}')
        x = self.mask(x, last, row)
        e, m, l, _ = self.softmax(x, None, None)
        p = self.packed(e)
        k2 = t.let('next', f'advance {k1} : cursor<2>')
        carried = [k2, v1, e, o1, p, m, l, '%no']
        first = '%one'
        if s.causal and s.rows != s.keys:
            # the first row of the tile sees all keys of the blocks before its own
            tile_row = t.op('sub', row, t.op('mul', '%w', t.num(64)))
            free = t.op('min', t.op('div', tile_row, t.num(s.keys)), t.op('div', '%sk', t.num(s.keys)))
            edge = t.op('max', t.op('sub', blocks, free), '%one')
            carried = self.blocks('%one', edge, carried, q, last, row, True)
            first = edge
        k3, v3, s3, o3, p3, m3, l3, keep = self.blocks(first, blocks, carried, q, last, row, False)
        t.put(f'mbar_arrive %qempty, {q1}')
        oa = self.products(o3, p3, v3, keep)
        total = self.tile('whole', f'reduce_lanes {l3} {{axis = 1}}', 'f32', self.row)
        inverse = self.op('div', self.constant('1.0', self.row), total, shape=self.row)
        o4 = t.let('o', f'wgmma_wait {oa} : tile<f32, {self.value}')
        t.put(f'mbar_arrive %vempty, {v3}')
        self.store(o4, inverse, head, row)
        q2 = t.let('next', f'advance {q1} : {self.cur_q}')
        v4 = t.let('next', f'advance {v3} : cursor<2>')
        return q2, k3, v4, s3, o4

    def store(self, o, inverse, head, row):
        t, s = self.t, self.s
        t.put('elect do {')
        t.put('bulk_wait')
        t.put('yield')
        t.put('}')
        t.put('group_barrier')
        boxes = []
        for b in range(s.d // 64):
            shape = f'[64, 64]> @ {acc_layout(64, 64)}'
            slot = t.let('box', f'slot %O, {t.op("add", self.mine, t.num(b))} : shared<{self.elem}, [64, 64]>')
            x = self.tile('cut', f'cut {o} {{offsets = [0, {64 * b}]}}', 'f32', shape)
            x = self.op('mul', x, self.wide(inverse, shape), shape=shape)
            h = self.tile('half', f'element_cast {x}', self.elem, shape)
            t.put(f'stmatrix {slot}, {h}')
            boxes.append((slot, t.num(64 * b)))
        t.put('proxy_fence')
        t.put('group_barrier')
        t.put('elect do {')
        for slot, col in boxes:
            t.put(f'tma_store %to, {slot}, {head}, {row}, {col}')
        t.put('bulk_commit')
        t.put('yield')
        t.put('}')

    # ---- the kernel ----
    def write(self):
        t, s, e = self.t, self.s, self.elem
        t.put(f'kernel attention_{e}_{s.name} placed {{')
        t.put('source attention')
        params(t, e, s.d)
        if s.drawn:
            t.put('param counter: ptr<i32>')
        tiles = f'cdiv(sq, {s.rows}) * heads'
        t.put(f'grid [{tiles}]')
        for w in ('0 < sk', 'aligned(q, 16)', 'aligned(k, 16)', 'aligned(v, 16)', 'aligned(o, 16)'):
            t.put(f'where {w} text "{w}"')
        t.put('arch 90')
        t.put('specific')
        t.put('persistent')
        t.put(f'warps {4 + 4 * s.groups}')
        kv = s.keys * s.d * 2
        at_k = s.queries * s.rows * s.d * 2
        at_v, at_o = at_k + 2 * kv, at_k + 4 * kv
        at_bar = at_o + s.rows * s.d * 2
        rings = [('q', s.queries), ('k', 2), ('v', 2)] + [('t', 2)] * s.drawn
        at_t = at_bar + sum(16 * n for _, n in rings)
        t.put(f'shared {at_t + 8 * s.drawn}')
        any3 = f'tensor<{e}, [_, _, _]>'
        counter = ', %counter: ptr<i32>' if s.drawn else ''
        t.put(f'body (%q: {any3}, %k: {any3}, %v: {any3}, %o: {any3}, %scale: f32{counter}) {{')
        t.put(f'%tq = tensor_map %q {{swizzle = 128}} : tmap<{e}, {[1, s.rows, 64]}>')
        t.put(f'%tk = tensor_map %k {{swizzle = 128}} : tmap<{e}, {[1, s.keys, 64]}>')
        t.put(f'%tv = tensor_map %v {{swizzle = 128}} : tmap<{e}, {[1, s.keys, 64]}>')
        t.put(f'%to = tensor_map %o {{swizzle = 128}} : tmap<{e}, [1, 64, 64]>')
        t.put(f'%Q = alloc_ring {{slot = 0, swizzle = 128}} : ring<{e}, {[s.rows, s.d]}, {s.queries}>')
        t.put(f'%K = alloc_ring {{slot = {at_k}, swizzle = 128}} : ring<{e}, {[s.keys, s.d]}, 2>')
        t.put(f'%V = alloc_ring {{slot = {at_v}, swizzle = 128}} : ring<{e}, {[s.keys, s.d]}, 2>')
        t.put(f'%O = alloc_ring {{slot = {at_o}, swizzle = 128}} : ring<{e}, [64, 64], {s.groups * s.d // 64}>')
        bars, at = [], at_bar
        for name, n in rings:
            for end, count in (('full', 1), ('empty', s.groups)):
                t.put(f'%{name}{end} = alloc_mbar {{count = {count}, slot = {at}}} : mbar<{n}>')
                at += 8 * n
                bars.append(f'%{name}{end}')
        if s.drawn:
            t.put(f'%T = alloc_ring {{slot = {at_t}}} : ring<i32, [1], 2>')
        t.put(f'mbar_init {", ".join(bars)}')
        t.put('%sk = launch {sym = sk} : i32')
        t.put('%heads = launch {sym = heads} : i32')
        t.put(f'%rowblocks = launch {{sym = cdiv(sq, {s.rows})}} : i32')
        t.put(f'%tiles = launch {{sym = {tiles}}} : i32')
        t.put('%zero = const {value = 0} : i32')
        t.put('%one = const {value = 1} : i32')
        t.put('%no = const {value = false} : bool')
        t.put('%yes = const {value = true} : bool')
        t.put('%log2e = const {value = 1.44269502} : f32')
        t.put('%c = mul %scale, %log2e : f32')
        t.put('')
        self.producer()
        t.put('')
        self.consumer()
        t.put('return')
        t.put('}')
        t.put('}')


def clear(t):
    """The workspace of a call is not cleared by whoever gives it."""
    t.put('kernel clear placed {')
    t.put('source clear')
    t.put('param counter: out tensor<i32, [1]> strides [1] right')
    t.put('grid [1]')
    t.put('arch 90')
    t.put('specific')
    t.put('warps 1')
    t.put('body (%counter: tensor<i32, [_]>) {')
    t.put('%at = const {value = 0} : i32')
    t.put('%none = const {value = 0} : i32')
    t.put('store %counter, %at, %none {steps = [1]}')
    t.put('return')
    t.put('}')
    t.put('}')


def params(t, e, d):
    for n in ('heads', 'sq', 'sk'):
        t.put(f'dim {n}: i32')
    for name, mode, rows in (('q', 'in', 'sq'), ('k', 'in', 'sk'), ('v', 'in', 'sk'), ('o', 'out', 'sq')):
        t.put(f'param {name}: {mode} tensor<{e}, [heads, {rows}, {d}]> strides [{d} * {rows}, {d}, 1] right')
    t.put('param scale: f32')


def module(e):
    t = Text()
    t.put('// Written by attention.py: attention forward for sm_90a, as placed IR.')
    t.put(f'module "attention_{e}.tir"')
    t.put('')
    clear(t)
    for s in SCHEDULES:
        t.put('')
        t.n = 0
        Kernel(t, s, e).write()
    for s in SCHEDULES:
        t.put('')
        t.put(f'entry attention_{e}_{s.name} {{')
        params(t, e, s.d)
        t.put('body {')
        if s.drawn:
            t.put('scratch counter: inout tensor<i32, [1]> strides [1] right')
            t.put('launch clear (@counter.5) dims []')
        t.put(f'launch attention_{e}_{s.name} (@q.0, @k.1, @v.2, @o.3, @scale.4{", @counter.5" if s.drawn else ""}) dims [heads, sq, sk]')
        t.put('}')
        t.put('}')
    return '\n'.join(t.lines) + '\n'


def main(args):
    check, old = args[0] == '--check', 0
    for e in ('bf16', 'f16'):
        path = os.path.join(args[-1], f'attention_{e}.tir')
        if not check:
            with open(path, 'w') as f:
                f.write(module(e))
            continue
        with open(path) as f:
            if f.read() != module(e):
                print(f'{path} is not what attention.py writes')
                old = 1
    return old


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
