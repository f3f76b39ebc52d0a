"""Hints in emitted CUDA: the copies of loops and the bounds of launches, for each architecture its own."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

# kernel, architecture: (threads, blocks or None, copies of the loops in their order)
WANT = {
    ("loops", "80"): (256, None, [2, 3]), ("loops", "89"): (256, None, [4, 3]), ("loops", "90A"): (256, None, [8, 3]),
    ("many", "80"): (128, 2, []), ("many", "89"): (128, 12, []), ("many", "90A"): (128, 16, []),
    ("large", "80"): (1024, 1, []), ("large", "89"): (1024, 1, []), ("large", "90A"): (1024, 2, []),
}
KERNEL = re.compile(r"__launch_bounds__\((.*?)\)\n(\w+)\((.*?)^}", re.M | re.S)


def number(text, arch):
    """What `CT_SM80 || CT_SM89 ? 2 : CT_SM90A ? 4 : 0` is for an architecture."""
    for macros, n in re.findall(r"((?:CT_SM\w+(?: \|\| )?)+) \? (\d+)", text):
        if "CT_SM" + arch in macros.split(" || "): return int(n)
    return None


with tmpdir() as tmp:
    out = os.path.join(tmp, "hints.cu")
    check(ctilec("--line=off", "--arch=sm_80,sm_89,sm_90a", os.path.join(ROOT, "tests", "cuda", "hints.tile"), "-o", out).code == 0, "hints.tile does not compile")
    found = {}
    for bounds, name, body in KERNEL.findall(read(out)):
        if re.search("_(share|whole|rest)", name): continue      # steps of a version with workspace
        kernel = next(k for k in ("loops", "many", "large") if k in name)
        copies = [int(n) for n in re.findall(r"#pragma unroll (\d+)", body) if n != "1"]
        threads, _, blocks = bounds.partition(", ")
        for arch in sorted(set(re.findall(r"CT_SM(\w+)", threads))):
            found.setdefault((kernel, arch), set()).add((number(threads, arch), number(blocks, arch), tuple(copies)))
    for key, (threads, blocks, copies) in WANT.items():
        check(found.get(key) == {(threads, blocks, tuple(copies))}, "%s: want %s, found %s" % (key, (threads, blocks, copies), found.get(key)))
    # rows that are cut into slices are not taken two at a time, whatever the cluster
    source = os.path.join(tmp, "rows.tile")
    with open(source, "w") as f:
        f.write("""@cluster(16)
kernel norm_of<BN: int>(x: tensor<bf16, [m, n]>, w: tensor<bf16, [n]>, b: tensor<bf16, [n]>, y: out tensor<bf16, [m, n]>) grid [m] where n <= BN {
    let v = element_cast(x.load([bid(0), 0], [1, BN]), f32);
    let d = select(iota([1, BN], i32) < n, v - sum(v, 1) / n, 0), r = rsqrt(sum(d * d, 1) / n + 0.5);
    let wv = element_cast(w.load([0], [BN]), f32), bv = element_cast(b.load([0], [BN]), f32);
    y.store([bid(0), 0], element_cast(d * r * wv + bv, bf16));
}
instance norm = norm_of<524288>;
""")
    check(ctilec("--arch=sm_90a", source, "-o", out).code == 0, "rows.tile does not compile")
    check("norm_of_524288_sm90a_aligned" in read(out), "no version for aligned rows")
finish()
