"""The warnings about races and padding, case by case: which small programs must warn, which must be quiet.

W1004 blocks store to one element, W1005 two elements of an index may be equal, W1007 tiles of neighbouring blocks overlap, W1008 two
elements of an index are equal, W1010 padding enters a reduction. What the documents say of masks, `pad:` and `assume_unique` decides:
an index that is masked off or outside reaches nothing, so it meets nobody; a pad that is written in the load is meant; only a proof
warns of padding, a possibility warns of a race."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

HEAD = ("kernel k%d(x: tensor<f32, [n]>, u: tensor<u8, [n]>, s: tensor<i8, [n]>, o: tensor<i32, [n]>, a: tensor<f32, [m, n]>, "
        "y: inout tensor<f32, [l]>, q: inout tensor<i32, [l]>, z: inout tensor<f32, [m, w]>, t: f32) grid [%s] {\nlet b = bid(0);\n")
INDEX = "let i = o.load([b], [32], pad: -1);\nlet v = x.load([b], [32]);\n"
WIDE = "let i = o.load([b], [32], pad: -1);\nlet v = zeros([32, 16], f32), c = iota([1, 16], i32);\n"
LOAD = "let v = x.load([b], [32]);\n"
TWO = "let v = a.load([b, 0], [16, 32]);\n"

# name, code or "", statements[, grid]
CASES = [
    # ---- scatter: an index from memory ----
    ("loaded", "W1005", INDEX + "y.scatter([i], v);"),
    ("quotient and rest of a number", "", LOAD + "let c = iota([32], i32);\nz.scatter([4 * b + c / 8, c % 8], v);"),
    ("quotient and rest of its shapes", "", LOAD + "let c = iota([32], i32);\n"
        "z.scatter([4 * b + reshape(c, [4, 8]) / 8, reshape(c, [4, 8]) % 8], reshape(v, [4, 8]));"),
    ("quotient and rest of a promise", "", INDEX + "let j = assume_unique(i);\nz.scatter([j / 8, j % 8], v);"),
    ("quotient and rest of a promise by two numbers", "W1005", INDEX + "let j = assume_unique(i);\nz.scatter([j / 8, j % 4], v);"),
    ("quotient and rest of a promise by a dimension", "", INDEX + "let j = assume_unique(i);\nz.scatter([j / w, j % w], v);"),
    ("quotient and rest of a promise in two shapes", "", INDEX + "let j = assume_unique(i);\nz.scatter([j[:, _] / w, (j % w)[:, _]], v[:, _]);"),
    ("quotient and rest of loaded numbers", "W1005", INDEX + "z.scatter([i / 8, i % 8], v);"),
    ("quotient and rest of two numbers", "W1005", LOAD + "let c = iota([32], i32);\nz.scatter([4 * b + c / 8, o.load([b], [32]) % 8], v);"),
    ("quotient and rest by two numbers", "W1008", LOAD + "let c = iota([32], i32);\nz.scatter([4 * b + c / 8, c % 4], v);"),
    ("promised where used", "", INDEX + "y.scatter([assume_unique(i)], v);"),
    ("promised before", "", INDEX + "let j = assume_unique(i);\ny.scatter([j], v);"),
    ("promised, then moved", "", INDEX + "let j = assume_unique(i);\ny.scatter([j + 4 * b], v);"),
    ("promised, then scaled", "", INDEX + "let j = assume_unique(i);\ny.scatter([2 * j + 1], v);"),
    ("promised, then widened", "", INDEX + "let j = assume_unique(i);\ny.scatter([element_cast(j, i64)], v);"),
    ("promised, then reshaped", "", INDEX + "let j = reshape(assume_unique(i), [4, 8]);\ny.scatter([j], reshape(v, [4, 8]));"),
    ("promised, then halved", "W1005", INDEX + "let j = assume_unique(i);\ny.scatter([j / 2], v);"),
    ("promised, then added to another", "W1005", INDEX + "let j = assume_unique(i);\ny.scatter([j + i], v);"),
    ("promised, others left out", "", INDEX + "let j = assume_unique(i);\ny.scatter([select(v > 0, j, -1)], v);"),
    ("promised, others to one place", "W1005", INDEX + "let j = assume_unique(i);\ny.scatter([select(v > 0, j, 0)], v);"),
    ("another promise", "W1005", INDEX + "y.scatter([assume_bounded(i, 0, 7)], v);"),
    ("two promises", "", INDEX + "y.scatter([assume_bounded(assume_unique(i), 0, 99)], v);"),
    ("masked, loaded", "W1005", INDEX + "y.scatter([i], v, mask: v > 0);"),
    ("masked, promised", "", INDEX + "y.scatter([assume_unique(i)], v, mask: v > 0);"),
    ("places by counting", "W1005", LOAD + "let k = v > 0;\ny.scatter([o[b] + cumsum(element_cast(k, i32), 0, exclusive: true)], v, mask: k);"),
    ("places by counting, promised", "",
     LOAD + "let k = v > 0;\ny.scatter([assume_unique(o[b] + cumsum(element_cast(k, i32), 0, exclusive: true))], v, mask: k);"),
    # ---- several axes ----
    ("rows", "", WIDE + "z.scatter([assume_unique(i)[:, _], c], v);"),
    ("rows, loaded", "W1005", WIDE + "z.scatter([i[:, _], c], v);"),
    ("rows, one column", "W1005", WIDE + "z.scatter([assume_unique(i)[:, _], full([1, 16], 3, i32)], v);"),
    ("rows, columns by block", "", WIDE + "z.scatter([assume_unique(i)[:, _], bid(0) * 16 + c], v);"),
    ("columns", "", WIDE + "z.scatter([iota([32, 1], i32), assume_unique(i.extract([16], [0]))[_, :]], v);"),
    ("rows and columns", "", WIDE + "z.scatter([assume_unique(i)[:, _], assume_unique(i.extract([16], [1]))[_, :]], v);"),
    ("rows twice", "W1005", WIDE + "z.scatter([assume_unique(i)[:, _], 2 * i[:, _] + 0 * c], v);"),
    ("all of a tile", "", WIDE + "z.scatter([b, assume_unique(i[:, _] * 16 + c)], v);"),
    ("a view, loaded", "W1005", WIDE + "z.gather_scatter([32, 16], 0).store([i, 0], v);"),
    ("a view, promised", "", WIDE + "z.gather_scatter([32, 16], 0).store([assume_unique(i), 0], v);"),
    ("a view, promised before", "", WIDE + "let j = assume_unique(i);\nz.gather_scatter([32, 16], 0).store([j, b], v);"),
    ("a view of columns", "", WIDE + "let j = assume_unique(i.extract([16], [0]));\nz.gather_scatter([32, 16], 1).store([b, j], v);"),
    ("a slice, loaded", "W1005", INDEX + "y.slice(0, 2, 900).scatter([i], v);"),
    ("a slice, promised", "", INDEX + "y.slice(0, 2, 900).scatter([assume_unique(i)], v);"),
    # ---- an index without memory ----
    ("numbers", "", LOAD + "y.scatter([b * 32 + iota([32], i32)], v);"),
    ("numbers by a stride", "", LOAD + "y.scatter([b * 32 * w + iota([32], i32) * w], v);"),
    ("pairs", "W1008", LOAD + "y.scatter([b * 32 + iota([32], i32) / 2], v);"),
    ("pairs, one masked off", "", LOAD + "let k = iota([32], i32);\ny.scatter([b * 32 + k / 2], v, mask: k % 2 == 0);"),
    ("a remainder", "W1005", LOAD + "y.scatter([(b * 32 + iota([32], i32)) % w], v);"),
    ("row and column", "", LOAD + "let k = b * 32 + iota([32], i32);\nz.scatter([k / w, k % w], v);"),
    ("row only", "W1005", LOAD + "let k = b * 32 + iota([32], i32);\nz.scatter([k / w, 0], v);"),
    ("clamped", "W1005", LOAD + "y.scatter([min(b * 32 + iota([32], i32), l - 1)], v);"),
    ("clamped and masked", "", LOAD + "let k = b * 32 + iota([32], i32);\ny.scatter([min(k, l - 1)], v, mask: k < l);"),
    ("one element", "", "y.scatter([b], t);"),
    # ---- what reads, and what is ordered ----
    ("gather", "", INDEX + "y.store([b], x.gather([i]));"),
    ("atomics", "", INDEX + "atomic_add(y, [i], v);"),
    ("atomics of numbers", "", LOAD + "atomic_add(y, [iota([32], i32) / 2], v);"),
    ("atomics of a view", "", LOAD + "y.partition([32]).atomic_add([0], v);"),
    # ---- blocks ----
    ("one place", "W1004", LOAD + "y.store([0], v);"),
    ("one place, one block", "", LOAD + "y.store([0], v);", "1"),
    ("one block stores", "", LOAD + "if b == 0 { y.store([0], v); }"),
    ("a place each", "", LOAD + "y.store([b], v);"),
    ("one axis of two", "W1004", "z.store([bid(0), 0], zeros([8, 16], f32));", "cdiv(m, 8), cdiv(w, 16)"),
    ("both axes", "", "z.store([bid(0), bid(1)], zeros([8, 16], f32));", "cdiv(m, 8), cdiv(w, 16)"),
    ("overlapping", "W1007", LOAD + "y.store_at([b * 16], v);"),
    ("apart", "", LOAD + "y.store_at([b * 32], v);"),
    ("a view of windows", "W1007", LOAD + "y.strided([32], [16], [0]).store([b], v);"),
    ("a slice for each", "", LOAD + "y.slice(0, b * 32, b * 32 + 32).store([0], v);"),
    ("one slice", "W1004", LOAD + "y.slice(0, 4, 40).store([0], v);"),
    # ---- padding: one axis ----
    ("sum", "", LOAD + "y[b] = f32(sum(v));"),
    ("max", "W1010", LOAD + "y[b] = f32(reduce_max(v));"),
    ("max of what is carried from 0 on", "", "var m: tile<f32, [1]> = 0;\nfor i in 0 .. 4 { m = max(m, reduce_max(x.load([4 * b + i], [32]), 0)); }\ny.store([b], m);"),
    ("max of what is carried from -1 on", "W1010",
     "var m: tile<f32, [1]> = -1;\nfor i in 0 .. 4 { m = max(m, reduce_max(x.load([4 * b + i], [32]), 0)); }\ny.store([b], m);"),
    ("max of what is carried and changed", "W1010",
     "var m: tile<f32, [1]> = 0;\nfor i in 0 .. 4 { m = max(m, reduce_max(x.load([4 * b + i], [32]), 0)) - 1; }\ny.store([b], m);"),
    ("max, at least 0", "", LOAD + "y.store([b], max(reduce_max(v, 0), 0));"),
    ("min, at least 0", "W1010", LOAD + "y.store([b], max(reduce_min(v, 0), 0));"),
    ("max, its own pad", "", "y[b] = f32(reduce_max(x.load([b], [32], pad: -inf)));"),
    ("max, another pad", "", "y[b] = f32(reduce_max(x.load([b], [32], pad: 1)));"),
    ("max, a pad that is doubled", "W1010", "y[b] = f32(reduce_max(2 * x.load([b], [32], pad: 1)));"),
    ("min", "W1010", LOAD + "y[b] = f32(reduce_min(v));"),
    ("min of magnitudes", "W1010", LOAD + "y[b] = f32(reduce_min(abs(v)));"),
    ("min of negated magnitudes", "", LOAD + "y[b] = f32(reduce_min(-abs(v)));"),
    ("max of magnitudes", "", LOAD + "y[b] = f32(reduce_max(abs(v)));"),
    ("max of magnitudes, pad -inf", "W1010", "y[b] = f32(reduce_max(abs(x.load([b], [32], pad: -inf))));"),
    ("max of squares", "", LOAD + "y[b] = f32(reduce_max(v * v));"),
    ("max of relu", "", LOAD + "y[b] = f32(reduce_max(max(v, 0)));"),
    ("max of roots", "", LOAD + "y[b] = f32(reduce_max(sqrt(v)));"),
    ("max of exponentials", "W1010", LOAD + "y[b] = f32(reduce_max(exp(v)));"),
    ("max of exponentials, pad -inf", "", "y[b] = f32(reduce_max(exp(x.load([b], [32], pad: -inf))));"),
    ("max of what is at least 1", "", LOAD + "y[b] = f32(reduce_max(max(v, 1)));"),
    ("sum of exponentials", "W1010", LOAD + "y[b] = f32(sum(exp(v)));"),
    ("sum of exponentials, pad -inf", "", "y[b] = f32(sum(exp(x.load([b], [32], pad: -inf))));"),
    ("sum of distances", "W1010", LOAD + "let d = v - sum(v, 0) / 32;\ny[b] = f32(sum(d * d));"),
    ("sum of scaled", "", LOAD + "y[b] = f32(sum(v * t));"),
    ("sum of moved", "W1010", LOAD + "y[b] = f32(sum(v + 1));"),
    ("sum of selected", "", LOAD + "y[b] = f32(sum(select(x.mask([b], [32]), v + 1, 0)));"),
    ("product", "W1010", LOAD + "y[b] = f32(prod(v));"),
    ("product, pad 1", "", "y[b] = f32(prod(x.load([b], [32], pad: 1)));"),
    ("max of bytes", "", "q[b] = i32(reduce_max(element_cast(u.load([b], [32]), i32)));"),
    ("max of signed bytes", "W1010", "q[b] = i32(reduce_max(element_cast(s.load([b], [32]), i32)));"),
    ("min of bytes", "W1010", "q[b] = i32(reduce_min(element_cast(u.load([b], [32]), i32)));"),
    ("max of halves' magnitudes", "", LOAD + "y[b] = f32(reduce_max(abs(element_cast(element_cast(v, f16), f32))));"),
    ("any above", "", LOAD + "q[b] = any_of(v > 0) ? 1 : 0;"),
    ("any equal", "W1010", LOAD + "q[b] = any_of(v == 0) ? 1 : 0;"),
    ("all above", "W1010", LOAD + "q[b] = all_of(v > 0) ? 1 : 0;"),
    ("all at least", "", LOAD + "q[b] = all_of(v >= 0) ? 1 : 0;"),
    ("place of the greatest", "W1010", LOAD + "q[b] = i32(argmax(v, 0));"),
    ("place of the greatest magnitude", "", LOAD + "q[b] = i32(argmax(abs(v), 0));"),
    ("the same, from before the tensor on", "W1010", "q[b] = i32(argmax(abs(x.load_at([32 * b - 1], [32])), 0));"),
    ("the greatest four", "W1010", LOAD + "let (g, i) = topk(v, 4);\ny.store([b], g);"),
    ("the greatest four magnitudes", "", LOAD + "let (g, i) = topk(abs(v), 4);\ny.store([b], g);"),
    ("counts", "W1010", "q.store([b], histogram(element_cast(u.load([b], [32]), i32), 256));"),
    # ---- padding: several axes ----
    ("sum, both axes", "", TWO + "y[b] = f32(sum(v, [0, 1]));"),
    ("max, both axes", "W1010", TWO + "y[b] = f32(reduce_max(v, [0, 1]));"),
    ("max of magnitudes, both axes", "", TWO + "y[b] = f32(reduce_max(abs(v), [0, 1]));"),
    ("max of magnitudes, all axes", "", TWO + "y[b] = f32(reduce_max(abs(v)));"),
    ("max of magnitudes, axis by axis", "", TWO + "y[b] = f32(reduce_max(reduce_max(abs(v), 1), 0));"),
    ("max of relu, both axes", "", TWO + "y[b] = f32(reduce_max(max(v, 0), [0, 1]));"),
    ("min of magnitudes, both axes", "W1010", TWO + "y[b] = f32(reduce_min(abs(v), [0, 1]));"),
    ("max of sums", "W1010", TWO + "y[b] = f32(reduce_max(sum(v, 1), 0));"),
    ("max of sums of magnitudes", "", TWO + "y[b] = f32(reduce_max(sum(abs(v), 1), 0));"),
    ("max of sums of squares, root", "", TWO + "y[b] = f32(reduce_max(sqrt(sum(v * v, 1)), 0));"),
    ("min of negated magnitudes, both axes", "", TWO + "y[b] = f32(reduce_min(-abs(v), [1, 0]));"),
    ("max, transposed", "W1010", TWO + "y[b] = f32(reduce_max(transpose(v), 0, squeeze: true).reduce_max(0));"),
    ("max of magnitudes, transposed", "", TWO + "y[b] = f32(reduce_max(reduce_max(transpose(abs(v)), 0), 1));"),
    ("rows that the store drops", "", "y.store([b], reduce_max(a.load([b, 0], [16, 32], pad: -inf), 1, squeeze: true));"),
    ("max, pad -inf, both axes", "", "y[b] = f32(reduce_max(a.load([b, 0], [16, 32], pad: -inf), [0, 1]));"),
    ("all bytes, both axes", "", "let v = element_cast(element_cast(a.load([b, 0], [16, 32]), u8), i32);\nq[b] = i32(reduce_max(v, [0, 1]));"),
]


def main():
    text, first = "", {}
    for i, case in enumerate(CASES):
        first[text.count("\n") + 1] = i
        text += HEAD % (i, case[3] if len(case) > 3 else "cdiv(n, 32)") + case[2] + "\n}\n"
    with tmpdir() as where:
        write(os.path.join(where, "k.tile"), text)
        r = ctilec("--check", "--diagnostics=short", "--color=never", "-Wrace", "-Wpadding", "--error-limit=0", "k.tile", cwd=where)
    found = {i: set() for i in range(len(CASES))}
    starts = sorted(first)
    for line in r.text.splitlines():
        m = re.match(r"k\.tile:(\d+):\d+: (?:warning|error): .*\[(\w+)\]$", line)
        if not check(m, line):
            continue
        found[first[max(s for s in starts if s <= int(m.group(1)))]].add(m.group(2))
    for i, case in enumerate(CASES):
        said = {c for c in found[i] if c in ("W1004", "W1005", "W1007", "W1008", "W1010") or c.startswith("E")}
        check(said == ({case[1]} if case[1] else set()), "%s: wanted %s, got %s" % (case[0], case[1] or "nothing", ", ".join(sorted(said)) or "nothing"))
    check(len(CASES) >= 100, "%d cases" % len(CASES))
    finish()


main()
