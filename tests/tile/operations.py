"""The table of docs/operations.md for target cuda-tile against what the emitter prints: a kernel for each operation, and for each class of
element types that its row tells apart. The text of the kernel must have the call or operator that the row names. An operation without
a kernel here fails, unless its row is empty."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

TYPE = {"b": "bool", "s": "i32", "u": "u32", "h": "f16", "f": "f32", "r": "tf32", "*": "f32"}
# the statements of a kernel with tiles x, y, z of type T and shape [8, 16], views X of x's tensor and W of an i32 one, and i of i32
BODY = {
    "full": "put(full([8, 16], X[0, 0], T));", "zeros": "put(zeros([8, 16], T) + x);", "ones": "put(ones([8, 16], T) + x);",
    "iota": "put(element_cast(reshape(iota([128], i32), [8, 16]), T));", "arange": "put(element_cast(reshape(arange(128), [8, 16]), T));",
    "rand": "put(rand(u64(7), element_cast(i, u64)));", "randn": "put(randn(u64(7), element_cast(i, u64)));", "randint": "put(element_cast(randint(u64(7), element_cast(i, u64)), T));",
    "bid": "put(x + T(bid(0)));", "reshape": "put(reshape(reshape(x, [16, 8]), [8, 16]));", "broadcast": "put(broadcast(extract(x, [1, 16], [0, 0]), [8, 16]));",
    "permute": "put(reshape(permute(x, [1, 0]), [8, 16]));", "transpose": "put(reshape(transpose(x), [8, 16]));",
    "cat": "put(extract(cat(x, y, 0), [8, 16], [bid(0), 0]));", "extract": "put(broadcast(extract(x, [1, 16], [bid(0), 0]), [8, 16]));",
    "insert": "put(insert(x, extract(y, [1, 16], [0, 0]), [bid(0), 0]));", "expand": "put(reshape(expand(x, 0), [8, 16]));",
    "flip": "put(flip(x, 0));", "shift": "put(shift(x, 0, 1, 0));", "rotate": "put(rotate(x, 1, 3));", "sort": "put(sort(x, 1));",
    "topk": "let (a, b) = topk(x, 4); put(broadcast(extract(a, [8, 1], [0, 0]), [8, 16]));",
    "histogram": "put(broadcast(element_cast(reshape(histogram(i, 16), [1, 16]), T), [8, 16]));",
    "join": "let j = join(x, y); put(reshape(extract(j, [8, 16, 1], [0, 0, bid(0)]), [8, 16]));",
    "split": "let (a, b) = split(join(x, y)); put(a + b);",
    "pack": "put(broadcast(element_cast(extract(pack(element_cast(i, u8)), [8, 1], [0, 0]), T), [8, 16]));",
    "unpack": "put(element_cast(extract(unpack(element_cast(i, u8), u4), [8, 16], [0, 0]), T));",
    "element_cast": "put(element_cast(element_cast(x, f64), f32));", "element_bitcast": "put(element_bitcast(element_bitcast(x, u32) + 1, f32));",
    "fma": "put(fma(x, y, z));", "select": "put(select(i > 3, x, y));", "clamp": "put(clamp(x, y, z));",
    "mma": "put(mma(x, reshape(full([16, 16], X[0, 0], T), [16, 16]), y));", "matmul": "put(matmul(x, full([16, 16], X[0, 0], T)));",
    "mma_scaled": "let a = element_cast(cat(x, x, 1), f8e4m3), s = element_cast(i, u8); "
    "put(mma_scaled(a, extract(s, [8, 1], [0, 0]), full([32, 16], f8e4m3(X[0, 0]), f8e4m3), extract(s, [1, 16], [0, 0]), y));",
    "reduce": "put(broadcast(reduce(x, 0, 0, fn(a, b) a + b), [8, 16]));", "scan": "put(scan(x, 0, 0, fn(a, b) a + b));",
    "load": "put(X.load([bid(0), 0], [8, 16]));", "load_at": "put(X.load_at([bid(0) - 3, 3], [8, 16]));",
    "store": "put(x);", "store_at": "W.store_at([bid(0) - 3, 3], i); put(x);", "partition": "put(X.partition([8, 16]).load([bid(0), 0]));",
    "strided": "put(X.strided([8, 16], [4, 16]).load([bid(0), 0]));", "gather_scatter": "put(X.gather_scatter([8, 16], 0).load([iota([8], i32), 0]));",
    "mask": "put(element_cast(X.mask([bid(0), 0], [8, 16]), T));", "gather": "put(X.gather([i, i]));", "scatter": "W.scatter([i, i], i); put(x);",
    "slice": "put(X.slice(0, 1, 20).load([bid(0), 0], [8, 16]));", "tensor_span": "put(unsafe tensor_span(p, [8, 16]).load([bid(0), 0], [8, 16]));",
    "atomic_load": "put(element_cast(atomic_load(W, [i, i]), T));", "atomic_store": "atomic_store(W, [i, i], i); put(x);",
    "atomic_compare_exchange": "put(element_cast(atomic_compare_exchange(W, [i, i], i, full([8, 16], 4, i32)), T));",
    "print": 'print("{}", bid(0)); put(x);', "assert": "assert(bid(0) < 100); put(x);",
}
BODY.update({"atomic_" + n: "put(element_cast(atomic_%s(W, [i, i], i), T));" % n for n in "add sub min max and or xor xchg".split()})
for n in "sum prod reduce_max reduce_min any_of all_of reduce_bitand reduce_bitor reduce_bitxor max_element min_element argmax argmin".split():
    BODY[n] = "put(element_cast(broadcast(%s(x, 1), [8, 16]), T));" % n
for n in "partial_sum partial_prod partial_max partial_min cumsum cumprod".split():
    BODY[n] = "put(%s(x, 1));" % n
ONLY_INTS = "reduce_bitand reduce_bitor reduce_bitxor histogram".split()
LOOP = "kernel k(x: tensor<i32, [n]>, y: out tensor<i32, [8]>) grid [1] { y.store([0], broadcast(%s(x.load([0], [8]), 0, 0, fn(a, b) { var r = a; while r < 9 { r += b; } return r; }), [8])); }"
ADD = "kernel k(i: tensor<i32, [n]>, y: inout tensor<bf16, [m]>) grid [1] { let _ = atomic_add(y, [i.load([0], [64], pad: -1)], full([64], 1, bf16)); }"
# programs that a table of operations does not tell apart, and what is printed of them where Tile C++ has no operation
WRITTEN = [(LOOP % "reduce", [], "ct_any<"), (LOOP % "scan", [], "ct_any<"), (ADD, [], "ct_atomic_add_bf16<64, false>("), (ADD, ["--arch=sm_80"], "ct_atomic_add_bf16<64, false>(")]


def alternatives(column):
    """(classes, text) of each part of a row's column"""
    return [a.split("=", 1) for a in column.split(";") if a]


def expected(text):
    """The call or operator that stands in the kernel."""
    name = re.search(r"ct(?:::|_)(?!element_cast|splat|zeros)\w+|printf|assert", text) or re.search(r"ct::\w+", text)
    if name:
        return name.group(0)
    return re.sub(r"%\d", "", text).strip()


def kernel(row, t, number):
    name = row["name"]
    body = BODY.get(name)
    if not body:
        if row["group"].startswith("reductions") or any(a["kind"] not in ("a tile or a scalar", "word", "a condition: converted to bool, broadcast") for a in row["arguments"]):
            return None
        args = ["x", "y", "z"][:sum(not a["named"] for a in row["arguments"])]
        body = "put(element_cast(%s(%s), T));" % (name, ", ".join(args))
    body = re.sub(r"\bput\((.*)\);", r"Y.store([bid(0), 0], \1);", body)
    uses = [("X", "x", "0"), ("X", "y", "1"), ("X", "z", "2")]
    loads = "".join("    let %s = %s.load([bid(0) + %s, 0], [8, 16]);\n" % (v, w, k) for w, v, k in uses if re.search(r"\b%s\b" % v, body))
    if re.search(r"\bi\b", body):
        loads += "    let i = W.load([bid(0), 0], [8, 16]);\n"
    body = re.sub(r"\bT\b", t, body)
    return "kernel op_%d(X: tensor<%s, [m, n]>, W: inout tensor<i32, [m, n]>, Y: out tensor<%s, [m, n]>, p: ptr<%s>) grid [m] {\n%s    %s\n}\n" % (number, t, t, t, loads, body)


def main():
    rows = json.loads(must([CTILEC, "--list-ops=json"]).out)["operations"]
    with tmpdir() as tmp:
        for version in ("13.3", "13.4"):
            for number, row in enumerate(rows):
                for classes, text in alternatives(row["cuda_tile"]):
                    t = TYPE[classes[0]]
                    if t == "f32" and row["name"] in ONLY_INTS or row["name"] in ("rand", "randn") and t != "f32":
                        t = "i32"
                    if row["name"] == "strided" and version == "13.3":
                        text = "ct::load_masked"
                    source = kernel(row, t, number)
                    if not check(source, "%s has no kernel here" % row["name"]):
                        continue
                    path = os.path.join(tmp, "k.tile")
                    write(path, source)
                    r = ctilec("-w", "--line=off", "--target=cuda-tile", "--tile-version=" + version, "--no-header", *(["--checked"] if row["name"] == "assert" else []), "-o", "-", path)
                    if not check(r.code == 0, "%s of %s:\n%s\n%s" % (row["name"], t, r.text, source)):
                        continue
                    got = re.sub(r"/\*.*?\*/", "", r.out.decode().split("__tile_global__", 1)[1].split("\n}\n", 1)[0])
                    check(expected(text) in got, "%s of %s: no `%s` in\n%s" % (row["name"], t, expected(text), got))
            for source, options, form in WRITTEN:
                path = os.path.join(tmp, "k.tile")
                write(path, source)
                r = ctilec("-w", "--target=cuda-tile", "--tile-version=" + version, *options, "--no-header", "-o", "-", path)
                native = "bf16" in source and version == "13.4" and not options
                check(r.code == 0 and ((form in r.out.decode()) != native), "%s, %s: %s\n%s" % (version, options, form, r.text or r.out.decode()))
    finish()


main()
