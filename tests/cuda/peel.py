"""Which kernels of peel.tile have texts for rows that begin anywhere in pieces (lower/peel.c): where another pass writes something that
peeled rows do not know, these texts vanish, and values stay right."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

WITHOUT = {"counted"}                   # numbers its elements in 16 bits

with tmpdir() as tmp:
    out = os.path.join(tmp, "peel.cu")
    r = ctilec("-w", "--versions=16", "--arch=sm_90a", os.path.join(ROOT, "tests", "cuda", "peel.tile"), "-o", out)
    check(r.code == 0, "peel.tile does not compile:\n%s" % r.text)
    text = read(out)
    kernels = re.findall(r"^(\w+)_sm90a(\w*)\(", text, re.M)
    peeled = {name for name, kind in kernels if kind.startswith("_peeled_")}
    names = {name for name, _ in kernels}
    check(len(names) > len(WITHOUT), "no kernel found")
    check(names - peeled == WITHOUT, "without a peeled text: %s; expected: %s" % (sorted(names - peeled), sorted(WITHOUT)))
    # what has another phase comes in three pieces of 8 bytes, not in two of 16
    around = re.findall(r"ct_skewed_b\d+\((.*)\);", text[text.index("/* ---- kernels"):])
    check(around and all(len(re.findall(r"_b64_if\(", a)) == 3 and "b128" not in a for a in around), "pieces of another phase: %s" % around[:3])
    # a long row has a thread block of 8 warps on each of 16 multiprocessors, if it is no shorter than a quarter of its tile
    wide = os.path.join(tmp, "wide.cu")
    r = ctilec("-w", "--versions=16", "--arch=sm_90a", os.path.join(ROOT, "tests", "cuda", "wide.tile"), "-o", wide)
    check(r.code == 0, "wide.tile does not compile:\n%s" % r.text)
    for kernel, warps in (("norm_of: T = bf16, BN = 262144", 128), ("scaled_of: T = bf16, BN = 262144", 128), ("scaled_of: T = f32, BN = 524288", 256)):
        said = re.findall(r"^// %s; (\d+) warps in a cluster of 16 .*; for (\d+) <= \w+ && .*phase\(" % kernel, read(wide), re.M)
        size = int(kernel.split()[-1])
        check(said and all(int(n) == warps for n, _ in said), "%s: peeled texts by %s" % (kernel, said))
        check(min((int(least) for _, least in said), default=0) == size // 4, "%s: peeled texts for %s" % (kernel, said))
    # threads that hold most make the numbers of a row again after a wait, in a way that ptxas does not see through
    for name, words in re.findall(r"^(\w+)_sm90a_peeled_(\d+)\w*\(", read(wide), re.M):
        body = read(wide).split("%s_sm90a_peeled_%s(" % (name, words))[1].split("\n}\n")[0]
        many = "_f32_" in name and int(words) > 48
        check(("ct_head + ct_cluster_zero()" in body) == many, "%s by %s elements: numbers of rows" % (name, words))
    # of one part: nvcc would warn of what the parts before it leave
    for body in re.split(r"(?m)^}", text):
        check("const int ct_part = 0;" not in body or " = ct_part ? " not in body, "a sum over one part asks for those before it:" + body[:400])
finish()
