"""A word that one thread publishes to other thread blocks is printed as an exchange: a store would queue after all earlier stores of its
multiprocessor (emit_cuda/single.c). Other atomic stores are stores."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

SOURCE = """
kernel publish(s: inout tensor<u64, [n]>, w: inout tensor<f32, [n]>) grid [n] {
    atomic_store(s, [bid(0)], 1, order: release);
    atomic_store(w, [bid(0)], 2.0);
}
kernel own(s: inout tensor<u64, [n]>) grid [n] { atomic_store(s, [bid(0)], 1, scope: block); }
kernel many(s: inout tensor<u32, [n]>) grid [cdiv(n, 64)] { atomic_store(s, [iota([64], i32) + bid(0) * 64], zeros([64], u32)); }
kernel small(s: inout tensor<u16, [n]>) grid [n] { atomic_store(s, [bid(0)], 1); }
"""
WANT = {"publish": ["xchg_u64_release_device", "xchg_f32_relaxed_device"], "own": ["store_u64_relaxed_block"], "many": ["store_u32_relaxed_device"],
        "small": ["store_u16_relaxed_device"]}


def calls(source, *flags):
    """kernel -> its calls of ct_atomic_*, of those in a function of an access where it is called"""
    with tmpdir() as tmp:
        out = os.path.join(tmp, "k.cu")
        r = ctilec("-w", "--arch=sm_90a", *flags, source, "-o", out)
        check(r.code == 0, "the source does not compile:\n" + r.text)
        text = read(out)
        accesses = dict(re.findall(r"^CT_FN void ct_(\w+_at_\w+)\(.*?^{(.*?)^}", text, re.M | re.S))
        def with_accesses(body): return re.sub(r"\bct_(\w+_at_\w+)\(", lambda m: accesses[m.group(1)], body)
        return {name: re.findall(r"ct_atomic_(\w+)\(", with_accesses(body))
                for name, body in re.findall(r"^(\w+)_sm90a\(.*?^{(.*?)^}", text, re.M | re.S)}


with tmpdir() as tmp:
    source = os.path.join(tmp, "k.tile")
    write(source, SOURCE)
    found = calls(source)
    check(found == WANT, "%s, want %s" % (found, WANT))
sums = calls(os.path.join(ROOT, "stdlib", "cumsum.tile"))       # running sums by look-back: what it is for
published = [c for calls in sums.values() for c in calls if not c.startswith("load")]
check(published and all(c.startswith("xchg_u64") for c in published), "running sums published by %s" % published)
finish()
