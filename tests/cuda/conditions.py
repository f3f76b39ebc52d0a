"""A load stays under the condition of its access: conditions.py, by nvcc's PTX. In the loop below the weights' place is the same in each round, so
that nvcc would like to load them before the loop, where nobody has asked whether they are aligned and inside: on a GPU that was a misaligned
address, or an illegal one."""
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *

KERNEL = """kernel weighed(x: tensor<bf16, [m, n], layout_right_padded<64>>, w: tensor<f32, [n]>, s: out tensor<f32, [8, n]>)
    grid [2, cdiv(n, 32)]
{
    var c: tile<f32, [4, 32]> = 0;
    for i in bid(0) .. cdiv(m, 4) step 2 {
        let v = element_cast(x.load([i, bid(1)], [4, 32]), f32);
        let u = reshape(w.load([bid(1)], [32], pad: 1), [1, 32]);
        c += select(v <= 1, broadcast(u, [4, 32]), v);
    }
    s.store([bid(0), bid(1)], c);
}
"""

if not NVCC: skip("needs nvcc")
with tempfile.TemporaryDirectory() as tmp:
    tile, cu, ptx = [os.path.join(tmp, "weighed." + e) for e in ("tile", "cu", "ptx")]
    with open(tile, "w") as f: f.write(KERNEL)
    must([CTILEC, "-w", "--target=cuda", tile, "-o", cu])
    for arch in ("sm_80", "sm_90a"):
        must([NVCC, "-std=c++17", "-arch=" + arch, "-ptx", cu, "-o", ptx])
        with open(ptx) as f: text = f.read()
        before, loop = text.split("nounroll", 1)
        check("ld.global.nc" in loop, "%s: no load in the loop: is this still the kernel that is meant?" % arch)
        found = re.findall(r"^\s*ld\.global\S* .*", before, re.M)
        check(not found, "%s: before the loop, under no condition: %s" % (arch, "; ".join(l.strip() for l in found)))
finish()
