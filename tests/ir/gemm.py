#!/usr/bin/env python3
"""Writes the placed GEMM kernels as IR text: c[m, n] = a[m, k] b[k, n], f32 accumulation, by the schedules that are fastest on
sm_90a. Usage: gemm.py (writes gemm_<elem>.tir beside it), gemm.py --check (fails where a file is old)."""
import os
import sys


class Schedule:
    """A block's tile is rows x cols x 64: rows are those of wgmma's first factor, cols the columns of its second."""

    def __init__(self, name, rows, cols, stages, consumers, cluster=1, group=16, slots=2, wait=1, swap=False, regs=(24, 240), split=1,
                 soft=False, apart=1, across=False):
        self.name, self.rows, self.cols, self.stages, self.consumers = name, rows, cols, stages, consumers
        self.cluster, self.group, self.slots, self.wait, self.swap, self.regs = cluster, group, slots, wait, swap, regs
        self.split = split                                  # thread blocks of a cluster that share the depth of one tile
        self.apart = apart                                  # clusters that share the depth of a tile, through global memory
        # Tiles of a cluster lie below each other and share the second factor, or beside each other and share the first.
        self.down, self.over = (1, cluster) if across else (cluster, 1)
        self.blocks = cluster * split
        self.soft = soft                                    # rows along k may begin anywhere: threads copy them
        self.mine = rows // consumers                       # rows of a warpgroup
        self.warps = 4 * (1 + consumers)


SCHEDULES = [
    Schedule('128x256', 128, 256, 4, 2, cluster=2, group=8),
    Schedule('192x160t', 192, 160, 4, 3, group=8, slots=1, wait=0, swap=True, regs=(32, 160)),
    Schedule('192x192', 192, 192, 4, 3, cluster=2, group=8, slots=1, regs=(32, 160), across=True),
    Schedule('128x128', 128, 128, 6, 2),
    Schedule('128x64', 128, 64, 8, 2, slots=1),
    Schedule('128x64t', 128, 64, 8, 1, group=1, slots=1, swap=True, regs=None, split=2),
    Schedule('128x16t', 128, 16, 10, 1, group=1, slots=1, swap=True, regs=None, split=2),
    Schedule('128x128d', 128, 128, 6, 2, cluster=2, group=1, slots=1, apart=2),
    Schedule('128x256s', 128, 256, 4, 2, regs=None, soft=True),
]


# Which schedule: of those that take the call the one with the least waves * area / speed; the speeds are measured. Rows that
# are no multiple of 128 bytes touch two lines of L2 for each row of a box, and small tiles pay most.
SPEED = {           # percent: rows of whole lines; else, b row-major and left
    '128x256': (100, 97, 96),
    '192x160t': (100, 93, 99),
    '192x192': (103, 97, 97),
    '128x128': (93, 63, 75),
    '128x64': (62, 42, 46),
}


def choice(schedules, left):
    """The rules of a launch."""
    names = [s.name for s in schedules if s.apart == 1]
    rules = [f'when any, m <= {rows} && k >= 128 use {names.index(name)}' for rows, name in ((16, '128x16t'), (64, '128x64t'))]
    lines = 'k % 64 == 0 && n % 64 == 0'
    for s in schedules:
        if s.name not in SPEED:
            continue
        rows, cols = ('n', 'm') if s.swap else ('m', 'n')
        tiles = f'{s.cluster} * cdiv({rows}, {s.rows * s.down}) * cdiv({cols}, {s.cols * s.over})'
        for when, speed in (lines, SPEED[s.name][0]), (f'!({lines})', SPEED[s.name][2 if left else 1]):
            rules.append(f'when any, {when} use {names.index(s.name)} cost {s.rows * s.cols * 100 // speed} * cdiv({tiles}, sms)')
    return rules


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
    tiles_of = f'cdiv({rows_of}, {s.rows * s.down}) * cdiv({cols_of}, {s.cols * s.over})'
    if s.apart > 1:
        t.put(f'param ws: inout tensor<f32, [{tiles_of} * {s.cluster * s.rows * s.cols}]> strides [1] right')
        t.put(f'param met: inout tensor<i32, [{tiles_of} * {s.cluster}]> strides [1] right')
    t.put(f'grid [{tiles_of}{f" * {s.apart}" if s.apart > 1 else ""}]')
    t.put('where k > 0 text "k > 0"')
    if not s.soft:
        t.put('where k % 8 == 0 text "k % 8 == 0"')
    t.put('where n % 8 == 0 text "n % 8 == 0"')
    for p in ('c' if left else 'bc') if s.soft else 'abc':
        t.put(f'where aligned({p}, 16) text "{p} is aligned to 16 bytes"')
    t.put('arch 90')
    t.put('specific')
    if s.split == 1 and s.apart == 1:
        t.put('persistent')
    t.put(f'warps {s.warps * s.blocks}')
    if s.blocks > 1:
        t.put(f'cluster {s.blocks}')


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
    if s.down > 1:
        i = t.op('add', t.op('mul', i, t.num(s.down)), rank)
    if s.over > 1:
        j = t.op('add', t.op('mul', j, t.num(s.over)), rank)
    return t.op('mul', i, t.num(s.rows)), t.op('mul', j, t.num(s.cols))


def kernel(t, s, elem, left):
    name = f'gemm_{elem}_{"left_" if left else ""}{s.name}'
    head(t, s, elem, left, name)
    # Where the factors lie: [rows, 64] contiguous along k, or [64, rows] along the other axis.
    bmajor = 'k' if left else 'mn'
    xmajor, ymajor = (bmajor, 'k') if s.swap else ('k', bmajor)
    xshape = [s.rows, 64] if xmajor == 'k' else [64, s.rows]
    yshape = [s.cols, 64] if ymajor == 'k' else [64, s.cols]
    xshare, share = s.rows // s.over, s.cols // s.down      # rows and columns of the factors that this block loads
    xbytes, ybytes = s.rows * 128, s.cols * 128
    box_rows = {160: 80}.get(s.cols, s.cols) if s.swap else 64              # of c
    boxes = s.mine // 64 * (s.cols // box_rows if s.swap else s.cols // 64)
    box = box_rows * 128
    at_y = s.stages * xbytes
    at_c = at_y + s.stages * ybytes
    at_bar = at_c + s.consumers * s.slots * box
    send = s.mine * s.cols // s.split               # f32 that a block gets of each other one
    at_sent = (at_bar + 16 * s.stages + 15) // 16 * 16
    t.put(f'shared {at_sent + 4 * send if s.split > 1 else at_bar + 16 * s.stages}')
    more = ', %ws: tensor<f32, [_]>, %met: tensor<i32, [_]>' if s.apart > 1 else ''
    t.put(f'body (%a: tensor<{elem}, [_, _]>, %b: tensor<{elem}, [_, _]>, %c: tensor<{elem}, [_, _]>{more}) {{')
    if left:
        t.put(f'%bt = permute %b {{axes = [1, 0]}} : tensor<{elem}, [_, _]>')
    b = '%bt' if left else '%b'
    x, y = (b, '%a') if s.swap else ('%a', b)
    xbox = [xshare, 64] if xmajor == 'k' else [64, 64]
    ybox = [share, 64] if ymajor == 'k' else [64, 64]
    if not s.soft:
        t.put(f'%tx = tensor_map {x} {{swizzle = 128}} : tmap<{elem}, {xbox}>')
    if not s.soft or not left:
        t.put(f'%ty = tensor_map {y} {{swizzle = 128}} : tmap<{elem}, {ybox}>')
    t.put(f'%tc = tensor_map %c {{swizzle = 128}} : tmap<{elem}, {[box_rows, 64]}>')
    t.put(f'%X = alloc_ring {{slot = 0, swizzle = 128}} : ring<{elem}, {xshape}, {s.stages}>')
    t.put(f'%Y = alloc_ring {{slot = {at_y}, swizzle = 128}} : ring<{elem}, {yshape}, {s.stages}>')
    t.put(f'%C = alloc_ring {{slot = {at_c}, swizzle = 128}} : ring<{elem}, {[box_rows, 64]}, {s.consumers * s.slots}>')
    filled = 1 if not s.soft else 4 if left else 5      # arrivals: of mbar_expect, of each warp that copies
    t.put(f'%full = alloc_mbar {{count = {filled}, slot = {at_bar}}} : mbar<{s.stages}>')
    t.put(f'%empty = alloc_mbar {{count = {s.consumers * s.cluster}, slot = {at_bar + 8 * s.stages}}} : mbar<{s.stages}>')
    if s.split > 1:
        t.put(f'%S = alloc_ring {{slot = {at_sent}}} : ring<f32, [{send}], 1>')
    t.put('mbar_init %full, %empty')
    rows_of, cols_of = ('n', 'm') if s.swap else ('m', 'n')
    nx = t.let('nx', f'launch {{sym = cdiv({rows_of}, {s.rows * s.down})}} : i32')
    ny = t.let('ny', f'launch {{sym = cdiv({cols_of}, {s.cols * s.over})}} : i32')
    count = t.let('tiles', f'launch {{sym = cdiv({rows_of}, {s.rows * s.down}) * cdiv({cols_of}, {s.cols * s.over})}} : i32')
    steps = t.let('steps', 'launch {sym = cdiv(k, 64)} : i32')
    order = (nx, ny, count)
    zero, one = t.num(0), t.num(1)
    rank = t.let('rank', 'cluster_rank : i32') if s.blocks > 1 else None
    first, last = zero, steps
    turn = None                     # which part of the depth: the clusters of a tile follow each other
    if s.apart > 1:
        turn = t.op('remainder', t.let('block', 'bid {axis = 0} : i32'), t.num(s.apart))
        first = t.op('div', t.op('mul', turn, steps), t.num(s.apart))
        last = t.op('div', t.op('mul', t.op('add', turn, one), steps), t.num(s.apart))
    if s.split > 1:
        first = t.op('div', t.op('mul', rank, steps), t.num(s.split))
        last = t.op('div', t.op('mul', t.op('add', rank, one), steps), t.num(s.split))
    hint = [', cache = evict_first', ', cache = evict_last'] if s.swap and s.cols <= 64 else ['', '']
    hint = [f' {{{h[2:]}}}' if h else '' for h in hint]
    mask = t.num((1 << s.cluster) - 1) if s.cluster > 1 else None
    cur = f'cursor<{s.stages}>'

    t.put('')
    t.put('role {' + (f'regs = {s.regs[0]}, ' if s.regs else '') + 'text = "producer"} do (%pw: i32) {')
    if not s.soft:
        t.put('one_warp do {')
    if not s.soft and s.apart == 1:
        t.put('grid_wait')
        t.put('grid_launch_dependents')
    c0 = t.let('start', f'cursor : {cur}')
    if s.apart > 1:
        it, c1, out = t.op('div', t.let('block', 'bid {axis = 0} : i32'), t.num(s.apart)), c0, None
    else:
        loop = tiles(t, s, order)
        it, c1, out = t.new('t'), t.new('at'), t.new('end')
        t.put(f'{out} = {loop}, {c0} : {cur} do ({it}: i32, {c1}: {cur}) {{')
    row, col = coordinates(t, s, order, it, rank)
    if s.down > 1:
        col = t.op('add', col, t.op('mul', rank, t.num(share)))
    if s.over > 1:
        row = t.op('add', row, t.op('mul', rank, t.num(xshare)))
    p, c2, out2 = t.new('p'), t.new('at'), t.new('end')
    t.put(f'{out2} = for {first}, {last}, {one}, {c1} : {cur} do ({p}: i32, {c2}: {cur}) {{')
    depth = t.op('mul', p, t.num(64))
    if s.soft:
        copying_producer(t, s, elem, left, row, col, p, depth, c2, xshape, yshape, ybytes)
        finish_producer(t, s, cur, c2, out2)
        consumer(t, s, elem, turn, order, rank, zero, one, first, last, cur, mask, xmajor, ymajor, xshape, yshape, box_rows, boxes, send)
        return
    t.put(f'mbar_wait %empty, {c2} {{phase = previous}}')
    t.put('elect do {')
    t.put(f'mbar_expect %full, {c2} {{bytes = {xbytes + ybytes}}}')
    for ring, shape, major, own, begin, shared, say in (('X', xshape, xmajor, xshare, row, s.over > 1, hint[0]),
                                                        ('Y', yshape, ymajor, share, col, s.down > 1, hint[1])):
        to = t.let(ring.lower(), f'slot %{ring}, {c2} : shared<{elem}, {shape}>')
        at = f'{begin}, {depth}' if major == 'k' else f'{depth}, {begin}'
        if shared:
            part = [own, 64] if major == 'k' else [64, own]
            which = f'{rank}, {zero}' if major == 'k' else f'{zero}, {rank}'
            to = t.let('part', f'part {to}, {which} {{steps = {part}}} : shared<{elem}, {part}>')
            at, say = f'{at}, {mask}', ' {multicast = true}'
        t.put(f'tma_load {to}, %t{ring.lower()}, %full, {c2}, {at}{say}')
    t.put('yield')
    t.put('}')
    finish_producer(t, s, cur, c2, out2)
    consumer(t, s, elem, turn, order, rank, zero, one, first, last, cur, mask, xmajor, ymajor, xshape, yshape, box_rows, boxes, send)


def finish_producer(t, s, cur, c2, out2):
    c3 = t.let('next', f'advance {c2} : {cur}')
    t.put(f'yield {c3}')
    t.put('}')
    if s.apart == 1:
        t.put(f'yield {out2}')
        t.put('}')
    if not s.soft:
        t.put('yield')
        t.put('}')
    if s.split > 1:
        t.put('cluster_barrier {order = acquire_release}')
    t.put('yield')
    t.put('}')


COPIED = '[128,64]{reg:(0,1) (0,2) (0,4) (16,0) (32,0) (64,0) lane:(0,8) (0,16) (0,32) (1,0) (2,0) warp:(4,0) (8,0)}'
AHEAD = 4       # steps of depth that the rows are asked for before they are needed


def copying_producer(t, s, elem, left, row, col, p, depth, c2, xshape, yshape, ybytes):
    """Threads load 128 rows at a time, wait for a free buffer, and store them as the copy engine would."""
    later = t.op('add', p, t.num(AHEAD))
    zero = t.num(0)

    def load(what, at):
        return t.let('rows', f'load_shifted {what}, {at}, {depth} {{steps = [1, 1]}} : tile<{elem}, [128, 64]> @ {COPIED}')

    def ask(what, at):
        t.put(f'prefetch_rows {what}, {t.op("div", at, t.num(128))}, {later} {{steps = [128, 64]}}')

    def store(ring, shape, rows, n):
        b = t.let('slot', f'slot {ring}, {c2} : shared<{elem}, {shape}>')
        if shape[0] > 128:
            b = t.let('part', f'part {b}, {n}, {zero} {{steps = [128, 64]}} : shared<{elem}, [128, 64]>')
        t.put(f'store_shared {b}, {rows}')

    rows = load('%a', row)
    ask('%a', row)
    t.put(f'mbar_wait %empty, {c2} {{phase = previous}}')
    if not left:
        t.put('elect do {')
        t.put(f'mbar_expect %full, {c2} {{bytes = {ybytes}}}')
        ys = t.let('y', f'slot %Y, {c2} : shared<{elem}, {yshape}>')
        t.put(f'tma_load {ys}, %ty, %full, {c2}, {depth}, {col}')
        t.put('yield')
        t.put('}')
    store('%X', xshape, rows, 0)
    if left:                # a loop that stays one: all rows at once would not fit the registers
        n = t.new('n')
        t.put(f'for {zero}, {t.num(s.cols // 128)}, {t.num(1)} do ({n}: i32) {{')
        at = t.op('add', col, t.op('mul', n, t.num(128)))
        rows = load('%bt', at)
        ask('%bt', at)
        t.put(f'mbar_wait %empty, {c2} {{phase = previous}}')       # over already; the compiler keeps all loads before it
        store('%Y', yshape, rows, n)
        t.put('yield')
        t.put('}')
    t.put('proxy_fence')
    t.put(f'mbar_arrive %full, {c2} {{by = warp}}')


def consumer(t, s, elem, turn, order, rank, zero, one, first, last, cur, mask, xmajor, ymajor, xshape, yshape, box_rows, boxes, send):
    shape = [s.mine, s.cols]
    lay = acc_layout(*shape)
    acc = f'{shape}> @ {lay}'
    t.put('')
    t.put('role {groups = ' + str(s.consumers) + (f', regs = {s.regs[1]}' if s.regs else '') + ', text = "consumer"} do (%w: i32) {')
    c0 = t.let('start', f'cursor : {cur}')
    r0 = t.let('sum', f'const {{value = 0.0}} : tile<f32, {acc}')
    mine = t.op('mul', '%w', t.num(s.slots))
    if s.split > 1:
        it, c1, r1 = t.let('first', 'bid {axis = 0} : i32'), c0, r0
    elif s.apart > 1:
        it, c1, r1 = t.op('div', t.let('block', 'bid {axis = 0} : i32'), t.num(s.apart)), c0, r0
    else:
        loop = tiles(t, s, order)
        it, c1, r1, out, rout = t.new('t'), t.new('at'), t.new('sum'), t.new('end'), t.new('sum')
        t.put(f'{out}, {rout} = {loop}, {c0}, {r0} : {cur}, tile<f32, {acc} do ({it}: i32, {c1}: {cur}, {r1}: tile<f32, {acc}) {{')
    row, col = coordinates(t, s, order, it, rank)
    row = t.op('add', row, t.op('mul', '%w', t.num(s.mine)))
    a1 = t.let('sum', f'wgmma_fence {r1} : async<f32, {acc}')
    p, c2, pv, a2, out2, prev, aout = t.new('p'), t.new('at'), t.new('prev'), t.new('sum'), t.new('end'), t.new('prev'), t.new('sum')
    arrive = f', {mask}' if mask else ''
    t.put(f'{out2}, {prev}, {aout} = for {first}, {last}, {one}, {c1}, {c1}, {a1} : {cur}, {cur}, async<f32, {acc} '
          f'do ({p}: i32, {c2}: {cur}, {pv}: {cur}, {a2}: async<f32, {acc}) {{')
    t.put(f'mbar_wait %full, {c2}')
    a3 = t.let('sum', f'wgmma_fence {a2} : async<f32, {acc}')
    xs = t.let('x', f'slot %X, {c2} : shared<{elem}, {xshape}>')
    part = [s.mine, 64] if xmajor == 'k' else [64, s.mine]
    which = f'%w, {zero}' if xmajor == 'k' else f'{zero}, %w'
    xs = t.let('mine', f'part {xs}, {which} {{steps = {part}}} : shared<{elem}, {part}>')
    ys = t.let('y', f'slot %Y, {c2} : shared<{elem}, {yshape}>')
    later = t.let('later', f'ne {p}, {first} : bool')
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
    if s.split > 1:
        exchange(t, s, elem, r2, row, col, mine, box_rows, send, rank)
    elif s.apart > 1:
        exchange_apart(t, s, elem, r2, row, col, mine, box_rows, boxes, it, rank, turn)
    else:
        for n in range(boxes):
            store_box(t, s, elem, r2, row, col, mine, box_rows, boxes, n)
        t.put(f'yield {out2}, {r2}')
        t.put('}')
    t.put('elect do {')
    t.put('bulk_wait')
    t.put('yield')
    t.put('}')
    t.put('yield')
    t.put('}')
    if s.cluster > 1:
        t.put('cluster_barrier {order = acquire_release}')     # no arrival may come when its thread block has ended
    t.put('return')
    t.put('}')
    t.put('}')


EMPTY = '[16,256]{reg:(0,1) (0,2) (0,4) (4,0) (8,0) lane:(0,8) (0,16) (0,32) (0,64) (0,128) warp:(1,0) (2,0)}'


def empty(t, elem, left):
    """Of depth 0: zeros, by equal threads."""
    name = f'gemm_{elem}_{"left_" if left else ""}empty'
    t.put(f'kernel {name} placed {{')
    t.put('source gemm')
    for d in 'mnk':
        t.put(f'dim {d}: i32')
    t.put(f'param a: in tensor<{elem}, [m, k]> strides [k, 1] right')
    t.put(f'param b: in tensor<{elem}, [k, n]> strides ' + ('[1, k] left' if left else '[n, 1] right'))
    t.put(f'param c: out tensor<{elem}, [m, n]> strides [n, 1] right')
    t.put('grid [cdiv(m, 16), cdiv(n, 256)]')
    t.put('where k == 0 text "k == 0"')
    t.put('arch 90')
    t.put('specific')
    t.put('warps 4')
    t.put(f'body (%a: tensor<{elem}, [_, _]>, %b: tensor<{elem}, [_, _]>, %c: tensor<{elem}, [_, _]>) {{')
    i, j = t.let('i', 'bid {axis = 0} : i32'), t.let('j', 'bid {axis = 1} : i32')
    zero = t.let('zero', f'const {{value = 0.0}} : tile<{elem}, [16, 256]> @ {EMPTY}')
    t.put(f'store %c, {i}, {j}, {zero} {{steps = [16, 256]}}')
    t.put('return')
    t.put('}')
    t.put('}')
    return name


def by_side(t, first, body):
    """Each of two owners has its own text: what it owns is a constant there."""
    t.put(f'if {first} do {{')
    body(0)
    t.put('yield')
    t.put('} do {')
    body(1)
    t.put('yield')
    t.put('}')


def sum_in_order(t, own, mine, other, part):
    """The first owner's part first, whoever adds."""
    a, b = (mine, other) if own == 0 else (other, mine)
    return t.let('both', f'add {a}, {b} : tile<f32, {part}> @ {acc_layout(*part)}')


def exchange(t, s, elem, acc, row, col, first_slot, box_rows, send, rank):
    """Each block of the cluster owns half of the boxes: it sends the other half and adds what it gets, always in the same order."""
    part = [s.mine // 2, s.cols]
    lay = acc_layout(*part)
    first = t.let('first', f'eq {rank}, {t.num(0)} : bool')
    sent = t.let('sent', f'slot %S, {t.num(0)} : shared<f32, [{send}]>')

    def cut(own):
        return t.let('half', f'cut {acc} {{offsets = {[own * s.mine // 2, 0]}}} : tile<f32, {part}> @ {lay}')

    def give(own):
        t.put(f'store_regs {sent}, {cut(1 - own)}, {t.num(1 - own)}')

    def take(own):
        mine = cut(own)
        other = t.let('other', f'load_regs {sent} : tile<f32, {part}> @ {lay}')
        both = sum_in_order(t, own, mine, other, part)
        store_box(t, s, elem, both, row, col, first_slot, box_rows, 1, 0, at=own * s.mine // 2, first=True)
    by_side(t, first, give)
    t.put('cluster_barrier {order = acquire_release}')
    by_side(t, first, take)


def exchange_apart(t, s, elem, acc, row, col, first_slot, box_rows, boxes, tile, rank, turn):
    """The same through global memory: each cluster of a tile owns a box of each warpgroup. Where: [block][owner][group]."""
    part = [s.mine, s.cols // s.apart]
    lay, n = acc_layout(*part), part[0] * part[1]
    block = t.op('add', t.op('mul', tile, t.num(s.cluster)), rank)
    first = t.let('first', f'eq {turn}, {t.num(0)} : bool')
    wide = [t.let('wide', f'const {{value = {x}}} : i64') for x in (n, 1)]
    counter = t.let('counter', f'element_cast {block} : i64')
    counter = t.let('counter', f'view %met, {counter}, {wide[1]}, {wide[1]} : tensor<i32, [_]>')

    def place(own):
        at = t.op('add', t.op('mul', block, t.num(s.apart)), t.num(own))
        at = t.op('add', t.op('mul', at, t.num(s.consumers)), '%w')
        at = t.let('place', f'element_cast {at} : i64')
        at = t.let('place', f'mul {at}, {wide[0]} : i64')
        return t.let('place', f'view %ws, {at}, {wide[0]}, {wide[1]} : tensor<f32, [_]>')

    def cut(own):
        return t.let('half', f'cut {acc} {{offsets = {[0, own * part[1]]}}} : tile<f32, {part}> @ {lay}')

    def give(own):
        t.put(f'store_regs {place(1 - own)}, {cut(1 - own)}')

    def take(own):
        other = t.let('other', f'load_regs {place(own)} : tile<f32, {part}> @ {lay}')
        both = sum_in_order(t, own, cut(own), other, part)
        store_box(t, s, elem, both, row, t.op('add', col, t.num(own * part[1])), first_slot, box_rows, 1, 0, at=0, first=True)
    by_side(t, first, give)
    t.put(f'grid_barrier {counter}, {first} {{count = {s.apart}}}')
    by_side(t, first, take)


def store_box(t, s, elem, acc, row, col, first_slot, box_rows, boxes, n, at=None, first=False):
    """c is written in boxes of 64 columns; swapped, a box is [box_rows, 64] of the transposed tile. first: of its slot, ever."""
    each = max(boxes // (s.mine // 64), 1)
    wide = box_rows if s.swap else 64
    mi, q = n // each, n % each
    lay = acc_layout(64, wide)
    if not first:
        t.put('elect do {')
        t.put(f'bulk_wait {{pending = {s.slots - 1}}}' if s.slots > 1 else 'bulk_wait')
        t.put('yield')
        t.put('}')
        t.put('group_barrier')
    sl = t.op('add', first_slot, t.num(n % s.slots)) if s.slots > 1 else first_slot
    sl = t.let('box', f'slot %C, {sl} : shared<{elem}, {[box_rows, 64]}>')
    if not first:
        acc = t.let('cut', f'cut {acc} {{offsets = {[mi * 64, q * wide]}}} : tile<f32, {[64, wide]}> @ {lay}')
    h = t.let('half', f'element_cast {acc} : tile<{elem}, {[64, wide]}> @ {lay}')
    t.put(f'stmatrix {sl}, {h}{" {trans = true}" if s.swap else ""}')
    t.put('proxy_fence')
    t.put('group_barrier')
    at = mi * 64 if at is None else at
    r = t.op('add', row, t.num(at)) if at else row
    c = t.op('add', col, t.num(q * wide)) if q else col
    t.put('elect do {')
    t.put(f'tma_store %tc, {sl}, ' + (f'{c}, {r}' if s.swap else f'{r}, {c}'))
    t.put('bulk_commit')
    t.put('yield')
    t.put('}')


def entry(t, elem, left, names, called, rules=(), s=None):
    t.put(f'entry {called} {{')
    for d in 'mnk':
        t.put(f'dim {d}: i32')
    t.put(f'param a: in tensor<{elem}, [m, k]> strides [k, 1] right')
    t.put(f'param b: in tensor<{elem}, [k, n]> strides ' + ('[1, k] left' if left else '[n, 1] right'))
    t.put(f'param c: out tensor<{elem}, [m, n]> strides [n, 1] right')
    t.put('body {')
    more = ''
    if s and s.apart > 1:
        tiles_of = f'cdiv(m, {s.rows * s.cluster}) * cdiv(n, {s.cols})'
        t.put(f'scratch ws: inout tensor<f32, [{tiles_of} * {s.cluster * s.rows * s.cols}]> strides [1] right')
        t.put(f'scratch met: inout tensor<i32, [{tiles_of} * {s.cluster}]> strides [1] right zeroed')
        more = ', @ws.3, @met.4'
    if rules:
        t.put('let sms = multiprocessors')
    t.put(f'launch {", ".join(names)} (@a.0, @b.1, @c.2{more}) dims [m, n, k]' + (' tuned {' if rules else ''))
    for rule in rules:
        t.put(rule)
    if rules:
        t.put('}')
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
            if s.apart == 1:
                names.append(f'gemm_{elem}_{"left_" if left else ""}{s.name}')
        t.put('')
        t.n = 0
        names.insert(-1, empty(t, elem, left))          # the last variant's conditions are what a call is told
        for s in SCHEDULES:
            t.put('')
            name = f'gemm_{elem}_{"left_" if left else ""}{s.name}'
            entry(t, elem, left, [name], f'run_{name}', s=s)
        t.put('')
        entry(t, elem, left, names, f'gemm_{elem}{"_left" if left else ""}', choice(SCHEDULES, left))
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
