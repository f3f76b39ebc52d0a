"""Placed kernels that break their protocol, each with one change (tests/ir/protocol.py, tests/ir/copies.py): the verifier refuses them;
here nobody does, and the simulator must find what is wrong by running them. broken.py PROGRAM (fault.c)"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [os.path.join(TESTS, "run"), os.path.join(TESTS, "ir")]
from common import *
import copies
import protocol

# What no run shows: programs that are accepted, budgets, what hardware cannot describe, and what goes wrong between thread blocks through global memory only.
UNSEEN = {"another swizzle", "parts begin at multiples", "a grid_barrier is missing", "registers, there are", "are outside the kernel",
          "at most 227 KiB of shared memory", "one warp draws", "is a multiple of 16 bytes", "is aligned to 16 bytes", "begin at multiples of 16 bytes",
          "not contiguous along its last axis", "commits more groups", "in each iteration of a loop", "128 registers are lent to products at once",
          "stand in a role", None}
# Found in some of their programs; in the others another wait happens to order what the missing one should.
SOMETIMES = {"other warps may not have passed", "was handed on before", "may still read it", "into the same bytes may run"}
GEMM, ATTENTION = "m=700,n=776,k=200", "heads=3,sq=400,sk=400"


def changed(text, edits, names):
    for pattern, by, n in zip(edits[0::3], edits[1::3], edits[2::3]):
        text = protocol.nth(pattern, names(by), text, n) if text else None
    return text


def programs():
    good = "".join(read(os.path.join(TESTS, "ir", n + "_bf16.tir")) for n in ("gemm", "attention"))
    for says, name, *edits in protocol.BROKEN:
        text = protocol.kernel_of(good, name)
        is_gemm = "gemm_bf16_%s placed" % name in text
        yield says, name, changed(text, edits, lambda by: protocol.names(text, by)), GEMM if is_gemm else ATTENTION
    sm80 = read(os.path.join(TESTS, "ir", "gemm_sm80.tir"))
    start = sm80.index("kernel gemm_sm80_%s placed" % copies.BASE)
    text = 'module "broken.tir"\n' + sm80[start:sm80.index("\n}\n", start) + 3]
    for says, *edits in copies.BROKEN:
        yield says, copies.BASE, changed(text, edits, lambda by: by), "m=200,n=264,k=200"


def main(program):
    seen, found = {}, 0
    with tmpdir() as tmp:
        path = os.path.join(tmp, "broken.tir")
        for says, name, text, size in programs():
            if text is None or says in UNSEEN:
                continue
            write(path, text.encode())
            r = subprocess.run([program, path, size], capture_output=True, text=True, timeout=120)
            fault = re.search(r"fault +(.*)", r.stdout)
            refused = "E0607" in r.stdout
            found += fault is not None
            seen[says] = seen.get(says, False) or fault is not None or refused
            if says not in SOMETIMES:
                check(fault or refused, "%s: a kernel for which `%s` has no fault:\n%s%s" % (name, says, r.stdout[:300], r.stderr[:300]))
    for says in sorted(SOMETIMES):
        check(seen.get(says, True), "no kernel for which `%s` has a fault" % says)
    check(found >= 60, "only %d broken kernels have a fault" % found)
    print("%d broken kernels have a fault" % found)
    finish()


main(sys.argv[1])
