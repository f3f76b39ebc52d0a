"""Which kernels of long rows also work by parts of rows (pass longrows), which do not, and what their launchers ask for."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

HEAD = "x: tensor<f32, [m, n]>, y: out tensor<f32, [m, n]>"
# by parts: softmax, an rms norm, sums of which one needs another
YES = {
    "softmax": "let v = x.load([i, 0], [1, N], pad: -inf), e = exp(v - reduce_max(v, 1)); y.store([i, 0], e / sum(e, 1));",
    "rms": "let v = x.load([i, 0], [1, N]); y.store([i, 0], v * rsqrt(sum(v * v, 1) / n));",
    "squares": "let v = x.load([i, 0], [1, N]), d = v - sum(v, 1) / N; y.store([i, 0], d * rsqrt(sum(d * d, 1)));",
    "numbered": "let v = x.load([i, 0], [1, N]); y.store([i, 0], v - sum(select(iota([1, N], i32) < 7, v, 0), 1));",
}
NO = {
    # the second sum can't be taken of a part by what the part knows
    "distances": "let v = x.load([i, 0], [1, N]), d = abs(v - sum(v, 1) / N); y.store([i, 0], d * sum(d, 1));",
    # not at its maximum, so powers of a part may overflow
    "powers": "let v = x.load([i, 0], [1, N]), e = exp(v - sum(v, 1)); y.store([i, 0], e / sum(e, 1));",
    # a sum of sums of products of what differs between rows
    "scan": "let v = x.load([i, 0], [1, N]); y.store([i, 0], cumsum(v, 1) * sum(v, 1));",
    # nothing is known late
    "map": "let v = x.load([i, 0], [1, N]); y.store([i, 0], v * 2);",
    # rows do not begin where they are read
    "shifted": "let v = x.load_at([i, 1], [1, N]); y.store([i, 0], v * sum(v, 1));",
    "product": "let v = x.load([i, 0], [1, N]); y.store([i, 0], v * prod(v, 1));",
}
# in two steps: nothing but numbers of rows is stored; NEVER: what parts can't have, or what might be read after it is written
NUMBERS = {
    "sums": "let v = x.load([i, 0], [1, N]); s[i] = f32(sum(v, 1));",
    "variance": "let v = x.load([i, 0], [1, N]), d = v - sum(v, 1) / N; s[i] = f32(sum(d * d, 1));",
    "place": "let v = x.load([i, 0], [1, N]); s[i] = f32(argmin(v, 1));",
    "products": "let v = x.load([i, 0], [1, N]); s[i] = f32(prod(v, 1));",
}
NEVER = {
    "deviation": "let v = x.load([i, 0], [1, N]), d = abs(v - sum(v, 1) / N); s[i] = f32(sum(d, 1));",
    "halves": "let v = element_cast(x.load([i, 0], [1, N]), f16); s[i] = f32(sum(v, 1));",
    "again": "let v = x.load([i, 0], [1, N]); s[i] = s[i] + f32(sum(v, 1));",
    "added": "let v = x.load([i, 0], [1, N]); atomic_add(s, [i], f32(sum(v, 1)));",
}
MORE = """
kernel brief(x: tensor<f32, [m, n]>, s: out tensor<f32, [m]>) grid [m] where n <= 16384 {
    s[bid(0)] = f32(sum(x.load([bid(0), 0], [1, 16384]), 1));
}
kernel inplace(x: inout tensor<f32, [m, n]>) grid [m] {
    let v = x.load([bid(0), 0], [1, 1048576]);
    x.store([bid(0), 0], v / sum(v, 1));
}
kernel neighbour(x: inout tensor<f32, [m, n]>) grid [m] {
    let v = x.load([bid(0) + 1, 0], [1, 1048576]);
    x.store([bid(0), 0], v / sum(v, 1));
}
@warps(8) kernel hinted(x: inout tensor<f32, [m, n]>) grid [m] {
    let v = x.load([bid(0), 0], [1, 1048576]);
    x.store([bid(0), 0], v / sum(v, 1));
}
kernel short(x: inout tensor<f32, [m, n]>) grid [m] {
    let v = x.load([bid(0), 0], [1, 65536]);
    x.store([bid(0), 0], v / sum(v, 1));
}
"""

with tmpdir() as tmp:
    source, out = os.path.join(tmp, "k.tile"), os.path.join(tmp, "k.ir")
    text = "".join("kernel %s<N: int = 1048576>(%s) grid [m] where n <= N {\n    let i = bid(0);\n    %s\n}\n" % (name, HEAD, body)
                   for name, body in {**YES, **NO}.items())
    text += "".join("kernel %s<N: int = 1048576>(x: tensor<f32, [m, n]>, s: inout tensor<f32, [m]>) grid [m] where n <= N {\n"
                    "    let i = bid(0);\n    %s\n}\n" % k for k in {**NUMBERS, **NEVER}.items())
    with open(source, "w") as f: f.write(text + MORE)
    r = ctilec("-w", "--stop-after=expand", source, "-o", out)
    check(r.code == 0, "the source does not compile:\n" + r.text)
    found = {n.split("_")[0] for n in re.findall(r"^\tsteps (\w+)_parts\b", read(out), re.M)}
    want = set(YES) | set(NUMBERS) | {"inplace"}
    check(found == want, "by parts: %s, expected %s" % (sorted(found), sorted(want)))
    again = os.path.join(tmp, "again.ir")
    r = ctilec("-w", "--emit=ir", out, "-o", again)
    check(r.code == 0 and read(again) == read(out), "the text does not come back as it was: " + r.text)
    r = ctilec("-w", "--target=c", source, "-o", os.path.join(tmp, "k.c"))
    check(r.code == 0 and "_parts" not in read(os.path.join(tmp, "k.c")), "the C target works by parts")
    r = ctilec("-w", source, "-o", os.path.join(tmp, "k.cu"))
    host = read(os.path.join(tmp, "k.cu"))
    check(re.search(r"int softmax\(.*\n{ return ct_entry_softmax\(.*, 0, NULL, 0, stream\);", host), "`softmax` makes use of workspace")
    check(re.search(r"int softmax_ws\(.*\n{ return ct_entry_softmax\(.*, 1, workspace, bytes, stream\);", host), "`softmax_ws` does not")

    r = ctilec("-w", os.path.join(ROOT, "tests", "cuda", "workspace.tile"), "-o", os.path.join(tmp, "w.cu"))
    check(r.code == 0, r.text)
    takes = dict(re.findall(r"ct_steps_(\w+)\((.*), int \*ct_over\)\n", read(os.path.join(tmp, "w.cu"))))
    want = {"total": "int64_t n", "scaled": "int64_t n", "copies": "int32_t p_, int64_t n, int64_t p", "few": "int32_t count, int64_t n, int64_t p",
            "both_64": "unsigned char all, int64_t n", "defined": "int32_t k", "narrow": "uint8_t count, int64_t less, int64_t n, int64_t p",
            "softmax_262144": "int32_t rows, int64_t r, int64_t c"}
    check(takes == want, "sizes of steps are computed of %s" % takes)
finish()
