#!/usr/bin/env python3
"""Broken protocols: each rule of ir/ir_protocol.c and of ir/ir_check_group.c has programs that it must refuse. They are the
kernels of gemm_bf16.tir and attention_bf16.tir, each with one change."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from edits import nth, refused

# rule: what the message says (None: the program is accepted); kernel; what is replaced (a regular expression), by what, the how many-th place
BROKEN = [
    # bytes expected = bytes that arrive
    ('bytes are expected', '128x256', r'bytes = 49152', 'bytes = 32768', 1),
    ('bytes are expected', '128x256', r', multicast = true\}|\{multicast = true\}', '', 1, r', %n\d+ (?=\n)', '', None),
    ('bytes are expected', '192x160t', r'\n[^\n]*tma_load %x[^\n]*', '', 1),
    ('no mbar_expect', '128x128', r'\n[^\n]*mbar_expect[^\n]*', '', 1),
    ('no mbar_expect', '192x160t', r'\n[^\n]*mbar_expect[^\n]*', '', 1),
    ('no mbar_expect', '128x256', r'(\t*mbar_expect[^\n]*\n)', r'', 1),
    ('0 arrive in each', '128x128', r'mbar_expect %full', 'mbar_expect %empty', 1),
    # arrivals = count
    ('a phase ends with', '128x256', r'count = 4', 'count = 2', 1),
    ('a phase ends with', '128x256', r'count = 1,', 'count = 2,', 1),
    ('a phase ends with', '192x192', r'groups = 3', 'groups = 2', 1, r'warps 32', 'warps 24', 1),
    ('a phase ends with', '192x160t', r'(mbar_arrive %empty, %at\d+)', r'\1 {by = warp}', 1),
    ('the role arrives', '128x256', r'(mbar_arrive %empty, %prev\d+), %n\d+', r'\1', 1),
    # the waits of a slot cover its last store
    ('no bulk_wait covers it', '128x256', r'pending = 1\}\n(\t*yield\n\t*\}\n\t*group_barrier)', r'pending = 2}\n\1', 1),
    ('no bulk_wait covers it', '192x160t', r'elect do \{\n\t*bulk_wait\n\t*yield\n\t*\}\n(\t*group_barrier\n)', r'\1', 2),
    ('no bulk_wait covers it', '128x128', r'\n[^\n]*bulk_commit', '', 1),
    ('only one thread knows', '128x256', r'(bulk_wait \{pending = 1\}\n\t*yield\n\t*\}\n)\t*group_barrier\n', r'\1', 1),
    ('the role ends while stores', '128x256', r'elect do \{\n\t*bulk_wait\n\t*yield\n\t*\}\n', '', 1),
    # a generic write reaches an asynchronous reader through a fence and a barrier
    ('without a proxy_fence', '128x256', r'\n[^\n]*proxy_fence', '', 1),
    ('without a proxy_fence', '192x160t', r'(\t*stmatrix[^\n]*\n)(\t*proxy_fence\n)', r'\2\1', 1),
    ('a barrier after their proxy_fence', '128x256', r'(proxy_fence\n)\t*group_barrier\n', r'\1', 1),
    ('a barrier after their proxy_fence', '128x128', r'(\t*proxy_fence\n)(\t*group_barrier\n)', r'\2\1', 2),
    # registers that are lent: untouched until the wait
    ('must be a tile', '128x256', r'cut %sum\d+', 'cut %SUM', 1, r'(%sum\d+)(?= = wgmma %)', r'\1', 1),
    ('was handed on before', '128x256', r'(yield %next\d+, %at\d+, )%sum\d+', r'\1%LENT', 1),
    ('in each iteration of a loop', '128x256', r'(%sum\d+)( = wgmma_fence %sum\d+ : async[^\n]*\n[^\n]* = for [^\n]*\n[^\n]*\n\t*%sum\d+ = wgmma_fence )%sum\d+', r'\1\2\1', 1),
    ('may still run', '128x256', r'(%sum\d+ = wgmma_wait %sum\d+)', r'\1 {pending = 1}', 1),
    ('a product may still read', '128x128', r'\n[^\n]*wgmma_commit\n[^\n]*wgmma_wait[^\n]*', '', 1),
    ('a product may still read', '128x256', r'wgmma_wait \{pending = 1\}', 'wgmma_wait {pending = 2}', 1),
    ('a product may still read', '192x160t', r'\n\t*wgmma_wait\n', '\n', 1),
    ('a product may still read', '128x128', r'mbar_arrive %empty, %prev\d+(\n\t*yield)', r'mbar_arrive %empty, %AT\1', 1),
    # what a descriptor can describe
    ('no descriptor describes', '128x128', r'(%Y = alloc_ring \{slot = \d+), swizzle = 128', r'\1', 1, r'(%ty = tensor_map %b) \{swizzle = 128\}', r'\1', 1),
    ('another swizzle', '128x128', r'(%X = alloc_ring \{slot = \d+), swizzle = 128', r'\1, swizzle = 64', 1),
    ('parts begin at multiples', '192x160t', r'steps = \[64, 64\]', 'steps = [64, 32]', 1),
    ('parts begin at multiples', '128x64t', r'(part %x\d+, %n\d+, %w \{steps = \[64, )128', r'\g<1>16', 1),
    ('the part lies outside', '128x128', r'steps = \[64, 64\]\}', 'steps = [64, 64], offsets = [0, 64]}', 1),
    ('is not the product of', '128x128', r'\{b_major = mn\}', '{a_major = mn}', 1),
    # all warps of a warpgroup
    ('not in `one_warp`', '128x256', r'(\t*wgmma_commit\n)', r'one_warp do {\n\1yield\n}\n', 1),
    ('not in `elect`', '128x256', r'(\t*stmatrix[^\n]*\n)', r'elect do {\n\1yield\n}\n', 1),
    ('not in `elect`', '128x256', r'\n\t*(mbar_wait %full[^\n]*\n)', r'\nelect do {\n\1yield\n}\n', 1),
    ('other warps may not have passed', '128x128', r'\n[^\n]*= wgmma %[^\n]*\n', '\n', 1, r'(yield %next\d+, %at\d+, )%sum\d+', r'\1%FENCED', 1),
    ('one thread: it stands in an `elect`', '128x256', r'elect do \{\n(\t*tma_store[^\n]*\n\t*bulk_commit\n)\t*yield\n\t*\}\n', r'\1', 1),
    ('equally often', '128x256', r'(\t*mbar_wait %full[^\n]*\n)', r'cluster_barrier\n\1', 1),
    ('cluster_barriers', '128x256', r'(role \{[^\n]*"consumer"[^\n]*\n)', r'\1cluster_barrier\n', 1),
    # registers sent to another thread block
    ('may still send', '128x16t', r'cluster_barrier \{order = acquire_release\}', 'cluster_barrier', 2),
    ('cluster_barriers', '128x16t', r'\n[^\n]*cluster_barrier \{order = acquire_release\}', '', 2),
    ('may still send', '128x64t', r'cluster_barrier \{order = acquire_release\}', 'cluster_barrier {order = release}', 2),
    # to global memory is no reach into another thread block: the kernel may end
    (None, '128x128', r'(\tgrid \[)', r'\tparam ws: inout tensor<f32, [n]> strides [1] right\n\1', 1, r'(body \([^\n]*)\) \{', r'\1, %ws: tensor<f32, [_]>) {', 1,
     r'((%sum\d+) = wgmma_wait %sum\d+ : tile[^\n]*\n)', r'\1%wide = const {value = 8192} : i64\n%one = const {value = 1} : i64\n'
     r'%place = view %ws, %one, %wide, %one : tensor<f32, [_]>\nstore_regs %place, \2\n', 1),
    # a thread block ends when nobody reaches into its memory any more
    ('a thread block may end', '128x256', r'cluster_barrier \{order = acquire_release\}(\n\t*return)', r'cluster_barrier\1', 1),
    ('a thread block may end', '192x192', r'\n[^\n]*cluster_barrier \{order = acquire_release\}(\n\t*return)', r'\1', 1),
    ('a grid_barrier is missing', '128x128d', r'\n[^\n]*grid_barrier[^\n]*', '', 1),
    ('a grid_barrier is missing', '128x128d', r'grid_barrier[^\n]*', 'group_barrier', 1),
    ('at least two thread blocks', '128x128d', r'\{count = 2\}\n', '{count = 1}\n', 1),
    # threads that copy
    ('threads wrote the buffer that is handed over', '128x256s', r'\n[^\n]*proxy_fence', '', 1),
    ('threads wrote the buffer that is handed over', '128x256s', r'(\t*store_shared[^\n]*\n)(\t*proxy_fence\n)', r'\2\1', 1),
    ('a phase ends with', '128x256s', r' \{by = warp\}', '', 1),
    ('8 neighbours', '128x256s', r'reg:\(0,1\) \(0,2\) \(0,4\) \(16,0\)', 'reg:(0,1) (0,2) (16,0) (0,4)', None),
    ('contiguous along its last axis', '128x256s', r'(param a:[^\n]*)strides \[k, 1\] right', r'\1strides [1, k] left', 1),
    ('is no place for', '128x16t', r'(%sent\d+ = slot %S, %n\d+ : shared<f32, \[)1024', r'\g<1>512', 1, r'ring<f32, \[1024\]', 'ring<f32, [512]', 1),
    # budgets
    ('registers, there are', '128x256', r'regs = 240', 'regs = 256', 1),
    ('registers, there are', '192x192', r'regs = 32', 'regs = 64', 1),
    ('do not fit', '128x256', r'groups = 2', 'groups = 3', 1, r'warps 24', 'warps 32', 1, r'count = 4', 'count = 6', 1, r'regs = 240', 'regs = 160', 1),
    ('128 registers are lent to products at once', 'd128_full', r'regs = 232', 'regs = 120', 1),
    ('128 registers are lent to products at once', 'd128_causal', r'regs = 232', 'regs = 120', 1),
    (None, 'd128_full', r'regs = 232', 'regs = 168', 1),
    ('stand in a role', 'd128_full', r'(\t*%no = const[^\n]*\n)((?:.*\n)*?[^\n]*wgmma_fence[^\n]*: async(<f32, \[64, 128\]> @ [^\n]*)\n)',
     r'\1%lone = const {value = 0} : tile\3\n%lent = wgmma_fence %lone : async\3\n\2', 1),
    ('named barriers', '128x256', r'warps 24', 'warps 56', 1, r'(role \{groups = 2, )regs = 240, (text = "consumer")', r'\1\2', 1,
     r'regs = 24, ', '', 1, r'(\t*role \{groups = 2)', r'role {groups = 16, text = "idle", warps = 1} do (%idle: i32) {\nyield\n}\n\1', 1),
    ('the roles have', '128x256', r'warps 24', 'warps 16', 1),
    ('are outside the kernel', '128x256', r'shared \d+', 'shared 229376', 1),
    ('overlaps', '128x256', r'slot = 65536', 'slot = 64512', 1),
    ('at most 227 KiB of shared memory', '128x256', r'shared \d+', 'shared 232449', 1),
    # attention: two products in flight, numbers drawn for a group
    ('other warps may not have passed', 'd128_causal', r'\t*group_barrier\n(\t*mbar_arrive %tempty)', r'\1', 1),
    ('other warps may not have passed', 'd64_causal', r'(\t*group_barrier\n)(\t*mbar_arrive %tempty[^\n]*\n)', r'\2\1', 1),
    ('may still run', 'd128_full', r'(%s\d+ = wgmma_wait %s\d+) \{pending = 1\}', r'\1 {pending = 2}', 1),
    ('a product may still read', 'd128_full', r'(\t*%o\d+ = wgmma_wait %o\d+[^\n]*\n)(\t*mbar_arrive %vempty[^\n]*\n)', r'\2\1', 1),
    ('a product may still read', 'd128_causal', r'(\t*%o\d+ = wgmma_wait %o\d+[^\n]*\n)(\t*mbar_arrive %vempty[^\n]*\n)', r'\2\1', 1),
    ('a product may still read', 'd64_full', r'(\t*%s\d+ = wgmma_wait %s\d+[^\n]*\n)(\t*mbar_arrive %kempty[^\n]*\n)', r'\2\1', 2),
    ('was handed on before', 'd64_full', r'(%s\d+ = wgmma_wait )%s\d+( : )', r'\1%HELD\2', 1),
    ('bytes are expected', 'd128_causal', r'(mbar_expect %vfull, %v\d+ \{bytes = )32768', r'\g<1>16384', 1),
    ('a phase ends with', 'd128_causal', r'(%tempty = alloc_mbar \{count = )2', r'\g<1>3', 1),
    ('one warp draws', 'd128_causal', r'(role \{text = "consumer"[^\n]*\n)', r'\1%mine = draw %counter, %tiles : i32\n', 1),
    # mbarriers
    ('makes these mbarriers ready', '128x256', r'mbar_init %full, %empty', 'mbar_init %full', 1),
    ('the cursor is of', '128x256', r': mbar<4>', ': mbar<2>', 1),
    ('was handed on before', '192x160t', r'%sum\d+( = wgmma_fence %sum\d+ : async<[^\n]*\n)', r'\g<0>%again\1', 2),
]


def kernel_of(text, name):
    """The module with this kernel alone."""
    start = text.index(f'_bf16_{name} placed')
    start = text.rindex('kernel ', 0, start)
    return 'module "broken.tir"\n' + text[start:text.index('\n}\n', start) + 3]


def names(text, change):
    """Stand-ins for values whose names depend on the order of writing."""
    values = {'%HELD': r'(%s\d+) = wgmma_fence', '%SUM': r'(%sum\d+)(?:, %\w+)* = wgmma_fence %sum\d+', '%LENT': r'(%sum\d+) = wgmma_fence(?=[^\n]*\n[^\n]*slot %X)',
              '%FENCED': r'(%sum\d+) = wgmma_fence(?=[^\n]*\n[^\n]*slot %X)', '%AT': r'mbar_wait %full, (%at\d+)'}
    for k, pattern in values.items():
        if k in change:
            change = change.replace(k, re.search(pattern, text).group(1))
    return change


def programs():
    good = ''
    for name in ('gemm', 'attention'):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), f'{name}_bf16.tir')) as f:
            good += f.read()
    for says, name, *edits in BROKEN:
        text = original = kernel_of(good, name)
        for pattern, by, n in zip(edits[0::3], edits[1::3], edits[2::3]):
            text = nth(pattern, names(original, by), text, n) if text else None
        yield says, original, text


if __name__ == '__main__':
    sys.exit(refused(programs()) != 0)
