#!/usr/bin/env python3
"""Broken programs that the rules of copies in the background (ir/ir_copies.c) and of fragments (ir/ir_check_async.c) must refuse:
kernels of gemm_sm80.tir, each with one change."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from edits import nth as replace, refused

BASE = 'bf16_128x256x32'

# what the message says; what is replaced (a regular expression), by what, which match (None: all)
BROKEN = [
    # read before the wait, or before the barrier after it
    ('before `copy_wait` has waited', r'copy_wait \{pending = 2\}', 'copy_wait {pending = 3}', 1),
    ('before `copy_wait` has waited', r'copy_wait \{pending = 2\}', 'copy_wait {pending = 3}', 2),
    ('before `copy_wait` has waited', r'\n\t*copy_wait \{pending = 2\}', '', 2),
    ('before `copy_wait` has waited', r'\n\t*copy_commit', '', 2),
    ('before a barrier has followed', r'\n\t*barrier(?=\n)', '', 1),
    ('before a barrier has followed', r'\n\t*barrier(?=\n)', '', 2),
    ('before a barrier has followed', r'(\t*copy_wait \{pending = 2\}\n)(\t*barrier\n)', r'\2\1', 2),
    # filled while it is read, or while a copy into the same bytes runs
    ('may still read it', r'(= for %zero, %steps, %one, %sum\d+, %a\d+, %b\d+, %at\d+, )%fill\d+', r'\1%at1', 1),
    ('may still read it', r'(yield %sum\d+, %a\d+, %b\d+, )%at\d+, (%fill\d+)', r'\1\2, \2', 1),
    ('may still read it', r'%Y = alloc_ring \{slot = 32768', '%Y = alloc_ring {slot = 24576', 1),
    ('into the same bytes may run', r'%Y = alloc_ring \{slot = 32768', '%Y = alloc_ring {slot = 0', 1),
    ('into the same bytes may run', r'%X = alloc_ring \{slot = 0', '%X = alloc_ring {slot = 65536', 1),
    # groups
    ('is in no group', r'(\t*copy_wait\n)', r'\1barrier\n%more = slot %X, %at1 : shared<bf16, [128, 32]>\n'
     r'copy_async %more, %a, %i, %zero {steps = [128, 32]}\n', 1),
    ('is in no group', r'(\t*copy_wait\n)', r'\1barrier\n%more = slot %Y, %at1 : shared<bf16, [32, 256]>\n'
     r'copy_async %more, %b, %zero, %j {steps = [32, 256]}\n', 1),
    ('is in no group', r'(\t*return\n)', r'barrier\n%more = slot %X, %zero : shared<bf16, [128, 32]>\n'
     r'copy_async %more, %a, %i, %one {steps = [128, 32]}\n\1', 1),
    ('into the same bytes may run', r'%X = alloc_ring \{slot = 0', '%X = alloc_ring {slot = 32768', 1),
    ('commits more groups', r'(\t*copy_commit\n)', r'%odd = ne %zero, %one : bool\nif %odd do {\n\1yield\n} do {\nyield\n}\n', 1),
    ('commits more groups', r'(\t*copy_async %x\d+[^\n]*\n)', r'%odd = ne %zero, %one : bool\nif %odd do {\n\1yield\n} do {\nyield\n}\n', 2),
    ('commits more groups', r'(\t*copy_commit\n)', r'%odd = ne %zero, %one : bool\nif %odd do {\nyield\n} do {\n\1yield\n}\n', 4),
    # a buffer for what is copied
    ('does not fill', r'tensor<bf16,', 'tensor<f16,', None),
    ('one index and one step for each axis', r'(copy_async %y\d+, %b, %\w+), %\w+', r'\1', 1),
    # pieces of 16 bytes
    ('is a multiple of 16 bytes', r'\n\t*where k % 8 == 0[^\n]*', '', 1),
    ('is a multiple of 16 bytes', r'where n % 8 == 0', 'where n % 4 == 0', 1),
    ('is aligned to 16 bytes', r'\n\t*where aligned\(a, 16\)[^\n]*', '', 1),
    ('is aligned to 16 bytes', r'where aligned\(b, 16\)', 'where aligned(b, 8)', 1),
    ('is a multiple of 16 bytes', r'\n\t*where n % 8 == 0[^\n]*', '', 1),
    ('is aligned to 16 bytes', r'where aligned\(a, 16\)', 'where aligned(c, 16)', 1),
    ('not contiguous along its last axis', r'(param b[^\n]*) strides \[n, 1\] right', r'\1 strides [1, k] left', 1),
    ('not contiguous along its last axis', r'(param a[^\n]*) strides \[k, 1\] right', r'\1 strides [k, 2] strided', 1),
    ('begin at multiples of 16 bytes', r'steps = \[32, 256\]', 'steps = [32, 36]', 1),
    ('begin at multiples of 16 bytes', r'steps = \[128, 32\]\}', 'steps = [128, 32], offsets = [0, 4]}', 2),
    ('not contiguous along its last axis', r'strides \[k, 1\] right', 'strides [1, k] left', 1),
    ('begin at multiples of 16 bytes', r'steps = \[128, 32\]', 'steps = [128, 4]', 1),
    ('not contiguous along its last axis', r'copy_async (%x\d+), %a,', r'%pa = permute %a {axes = [1, 0]} : tensor<bf16, [_, _]>\ncopy_async \1, %pa,', 1),
    # fragments
    ('ldmatrix cannot load', r'(= ldmatrix %x\d+[^@]*@ \[128,16\][^l]*lane:)\(0,2\) \(0,4\)', r'\1(0,4) (0,2)', 2),
    ('ldmatrix cannot load', r'(= ldmatrix %y\d+[^l]*lane:\(2,0\) \(4,0\)) \(0,1\) \(0,2\)', r'\1 (0,2) (0,1)', 2),
    ('ldmatrix cannot load', r'(= ldmatrix %x\d+[^@]*@ \[128,16\]\{reg:)\(0,1\) \(8,0\)', r'\1(8,0) (0,1)', 1),
    ('swaps rows and columns', r'(= ldmatrix %x\d+)', r'\1 {axes = [0, 1]}', 1),
    ("has the buffer's type", r'(= ldmatrix %x\d+)', r'\1 {axes = [1, 0]}', 1),
    ("has the buffer's type", r'(= ldmatrix %x\d+ : frag<)bf16', r'\1f16', 1),
    ('not those of one mma instruction', r'(\[16,256\]\{reg:\(1,0\) \(8,0\)) \(0,8\) \(0,16\)', r'\1 (0,16) (0,8)', None),
    ('not those of one mma instruction', r'(\[128,16\]\{reg:\(0,1\) \(8,0\) \(0,8\)) \(16,0\) \(32,0\)', r'\1 (32,0) (16,0)', None),
    ('not those of one mma instruction', r'(\[128,256\][^@]*warp:)\(64,0\) \(0,64\)', r'\1(0,64) (64,0)', None),
    ('is not the product of', r'mma_frag (%a\d+), (%b\d+)', r'mma_frag \1, \1', 1),
]


def kernel_of(text):
    start = text.index(f'kernel gemm_sm80_{BASE} placed')
    return 'module "broken.tir"\n' + text[start:text.index('\n}\n', start) + 3]


def main():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'gemm_sm80.tir')) as f:
        good = kernel_of(f.read())
    return refused((says, good, replace(pattern, by, good, n)) for says, pattern, by, n in BROKEN) != 0


if __name__ == '__main__':
    sys.exit(main())
