"""Faults of NVIDIA's compiler of CUDA Tile C++, each by the smallest program that shows it. None needs a GPU: the Tile IR that the front end
makes, a message, the machine code or what it asks of the driver says enough. The page docs/coming-from.md lists them with these programs.

A case fails where a pinned nvcc no longer has the fault: then what target cuda-tile prints in its place can become shorter.

Reading cuda_tile.h takes most of the compiler's time, so what it makes Tile IR of is one file, a namespace for each case; what it refuses or
ends at, and what shows in the whole file of machine code, is a file of its own."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
from common import *

HEAD = """#include <cuda_tile.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_tf32.h>
#include <stdio.h>
namespace ct = cuda::tiles;
using F = ct::tile<float, ct::shape<64>>;
using I = ct::tile<int, ct::shape<64>>;
"""
CASE = """namespace in_%s {
%s
__tile_global__ void k(%s) { const auto at = ct::iota<I>(); %s }
}
"""
# name, what stands before the kernel, parameters, body, and in what the fault shows: "ir" Tile IR, "says" the messages, "code" machine code,
# "stack" its use of memory, "file" the whole file of it
CASES = [
    ("least", "", "const int *x, int *y", "ct::store(y + at, ct::broadcast<ct::shape<64>>(ct::reduce_min<0>(ct::load(x + at))));", "ir", r"identities=\[-1 : i32\].*\n.*\n.*mini"),
    ("fused", "", "const float *x, float *y", "const F v = ct::load(x + at); const ct::round_toward_zero_t rz{}; ct::store(y + at, ct::add(ct::mul(v, v, rz), v, rz));", "ir", r"\bfma\b"),
    ("counted", "", "float *y, int n", "F s = ct::zeros<F>(); for (int i = 0; i < n; i++) s = ct::add(s, ct::full<F>(1.0f)); ct::store(y + at, s);", "ir", r"= loop\b"),
    ("break", "", "float *y, int n", "F s = ct::zeros<F>(); for (const int i : ct::irange(0, n)) { s = ct::add(s, ct::full<F>(1.0f)); if (i * i > n) break; } ct::store(y + at, s);",
     "says", r"#20344-D"),
    ("negative_zero", "static __tile__ const float values[64] = { 1.0f, -0.0f };", "float *y", "ct::store(y + at, ct::load(values + at));", "ir", r'values\w* .*"0x0000803F00000000'),
    ("constant_scalar", "", "const float *x, float *y", "const auto s = ct::sum<0>(ct::load(x + at)); ct::store(y, (float)s);", "says", r"no suitable conversion function"),
    ("tf32_bits", "", "const __nv_tf32 *x, int *y", "ct::store(y + at, ct::element_bitcast<int>(ct::load(x + at)));", "says", r"Internal Compiler Error"),
    ("fp8_condition", "", "const __nv_fp8_e4m3 *x, bool *y", "ct::store(y + at, !ct::load(x + at));", "says", r"Internal Compiler Error"),
    ("rank_0_view", "", "float *x, float *y", "const auto s = ct::tensor_span(x, ct::layout_right_mapping(ct::extents<int>{})); ct::store(y, ct::partition_view(s, ct::shape<>{}).load());",
     "says", r"failed to get result type"),
    ("crash", "static __device__ const int values[64] = { 1 };", "int *y", "ct::store(y + at, ct::load(values + at));", "says", r"Segmentation fault"),
    # no STS: nothing takes the value of one warp to the others
    ("atomic_load", "", "unsigned *flag, int *y",
     "int n = 0; while (ct::atomic_load(flag, ct::memory_order_relaxed_t{}, ct::thread_scope_device_t{}) == 0u) n = n + 1; ct::store(y + at, ct::full<I>(n));",
     "code", r"(?s)\A(?!.*\bSTS\b).*\bLDG\.E\.STRONG"),
    # b0, which s[1] must be where k is 0, is not read at all
    ("last_value", "", "int *s, int k, int a0, int b0",
     "int b = b0, a = a0; for (const int i : ct::irange(0, k)) { const int c = a * i + 3; b = c; a = c; } ct::store(s, a); ct::store(s + 1, b);",
     "code", r"(?s)\A(?!.*c\[0x0\]\[0x220\]).*c\[0x0\]\[0x21c\]"),
    # eight bytes are read at an address that is a multiple of four
    ("neighbours", "", "const int *x, int *y",
     "const auto s = ct::tensor_span(ct::assume_aligned<16>(x), ct::layout_right_mapping(ct::extents<int, 8>{})); const auto v = ct::partition_view(s, ct::shape<8>{}).load(0);"
     " const auto odd = ct::reshape<ct::shape<2, 2>>(ct::extract(ct::reshape<ct::shape<4, 2>>(v), ct::shape<4, 1>{}, 0, 1));"
     " ct::store(y + ct::iota<ct::tile<int, ct::shape<4>>>(), ct::reshape<ct::shape<4>>(ct::cat<1>(ct::extract(odd, ct::shape<2, 1>{}, 0, 1), ct::extract(odd, ct::shape<2, 1>{}, 0, 0))));",
     "code", r"\bLDG\.E\.64\b[^;]*\+0x4\]"),
    # 8 bytes of shared memory (and 1,024 that are reserved): the maxima of four rows by two warps; of a thread block, which has two rows, there are four
    ("shared_parts", "[[cutile::hint(900, num_cta_in_cga=2)]]", "const unsigned char *x, unsigned char *y, unsigned char *z",
     "const auto n = ct::reshape<ct::shape<4, 4>>(ct::iota<ct::tile<int, ct::shape<16>>>()); const auto row = ct::reshape<ct::shape<4, 1>>(ct::iota<ct::tile<int, ct::shape<4>>>());"
     " const auto v = ct::load(x + n); ct::store(y + n, v); ct::store(z + row, ct::reduce_max<1>(v));", "stack", r"SHARED:1032\b"),
    # 138 bytes of shared memory (and 1,024 that are reserved) for an exchange of 64: thread t writes its pair of bytes at 16 * (t & 1) + 16 * (t >> 2 & 7) + ..., so that
    # threads 1 and 4 write to one address
    ("byte_exchange", "template<int... N> using S = ct::shape<N...>;", "const unsigned char *x, unsigned char *y",
     "using H = S<2, 2, 1, 1, 8>; const auto half = ct::reshape<H>(ct::iota<ct::tile<int, S<32>>>());"
     " ct::store(y + ct::reshape<S<2, 2, 2, 1, 8>>(at), ct::cat<2>(ct::load(x + half), ct::load(x + 32 + half)));", "stack", r"SHARED:1162\b"),
    # In the code that the driver runs before a launch: the second kernel's tensor maps lie 0x380000 bytes or more after the first's (224 multiprocessors,
    # two maps each), whatever the device has, though the memory for all is as large as its multiprocessors ask for.
    ("tensor_maps", """using E = ct::extents<int, ct::dynamic_extent, ct::dynamic_extent>;
__tile__ void product(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n) {
    const int m = ct::assume_divisible<8>(n), at = 64 * (int)ct::bid().x;
    const auto x = ct::tensor_span(ct::assume_aligned<16>(a + at), ct::layout_right_mapping(E(m, m))), y = ct::tensor_span(ct::assume_aligned<16>(b + at), ct::layout_right_mapping(E(m, m)));
    auto s = ct::zeros<ct::tile<float, ct::shape<64, 64>>>();
    for (const int i : ct::irange(0, m / 64)) s = ct::mma(ct::partition_view(x, ct::shape<64, 64>{}).load_masked(0, i), ct::partition_view(y, ct::shape<64, 64>{}).load_masked(i, 0), s);
    ct::partition_view(ct::tensor_span(c, ct::layout_right_mapping(E(m, m))), ct::shape<64, 64>{}).store_masked(s, 0, 0);
}
__tile_global__ void first(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n) { product(a, b, c, n); }""",
     "const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n", "product(a, b, c, n);", "file", r"(?s)\xba\x00\x00[\x38-\xff]\x00H\x03V\x08"),
    # a call of printf for each element, in a loop of a few lines
    ("unrolled_print", "__tile__ inline float scalar(ct::tile<float, ct::shape<1>> v) { return (float)v; }", "const float *x",
     "const F v = ct::load(x + at); for (const int i : ct::irange(0, 64)) printf(\"%g\", (double)scalar(ct::extract(v, ct::shape<1>{}, i)));", "code", r"(?s)(?:CALL\..*?){64}"),
    # malloc and free
    ("local_array", "", "float *y", "const float c[] = { 0.5f, 0.25f, 0.125f }; F p = ct::load(y + at); for (int i = 0; i < 3; i++) p = ct::add(p, ct::full<F>(c[i])); ct::store(y + at, p);",
     "code", r"CALL\.ABS"),
    ("spill", "using A = ct::tile<float, ct::shape<128, 256>>;", "const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n",
     "using E = ct::extents<int, ct::dynamic_extent, ct::dynamic_extent>; const auto x = ct::tensor_span(a, ct::layout_right_mapping(E(n, n))), y = ct::tensor_span(b, ct::layout_right_mapping(E(n, n)));"
     " const auto z = ct::tensor_span(c, ct::layout_right_mapping(E(n, n))); A s = ct::zeros<A>();"
     " for (const int i : ct::irange(0, n / 16)) s = ct::mma(ct::partition_view(x, ct::shape<128, 16>{}).load_masked(0, i), ct::partition_view(y, ct::shape<16, 256>{}).load_masked(i, 0), s);"
     " ct::partition_view(z, ct::shape<128, 256>{}).store_masked(s, 0, 0);", "stack", r"STACK:[1-9]"),
]

NEWER = {"neighbours"}          # faults that nvcc 13.3 has not
# what the target prints of a program does not have the form
AVOIDED = {
    "shared_parts": ("@cluster(2) kernel most(x: tensor<u8, [4, 4]>, y: out tensor<u8, [4, 1]>) grid [1] { y.store([0, 0], reduce_max(x.load([0, 0], [4, 4]), 1)); }", "num_cta_in_cga"),
    "byte_exchange": ("kernel most(x: tensor<u8, [2, 4, 8]>, y: out tensor<u8, [2, 4, 8]>) grid [1] { y.store([0, 0, 0], sort(flip(partial_max(x.load([0, 0, 0], [2, 4, 8]), 1), 2), 1)); }",
                      r"ct::reshape<ct::shape<[\d, ]+>>\(v\d"),
    "spill": ("kernel product(x: tensor<bf16, [m, k]>, y: tensor<bf16, [k, n]>, z: out tensor<f32, [m, n]>) grid [cdiv(m, 128), cdiv(n, 256)] { var s = zeros([128, 256], f32); "
              "for i in 0 .. cdiv(k, 16) { s = mma(x.load([bid(0), i], [128, 16]), y.load([i, bid(1)], [16, 256]), s); } z.store([bid(0), bid(1)], s); }",
              r"ct::tile<float, ct::shape<128, 256>>"),
    "unrolled_print": ("kernel said(x: tensor<f16, [64]>) grid [1] { print(\"{}\", x.load([0], [64])); }", "irange"),
    "neighbours": ("kernel odd(x: tensor<i32, [8]>, y: out tensor<i32, [4]>) grid [1] { let o = extract(reshape(x.load([0], [8]), [4, 2]), [4, 1], [0, 1]); y.store([0], reshape(flip(reshape(o, [2, 2]), 1), [4])); }",
                   r"ct_base<ct_aligned>\(x\)"),
    "tensor_maps": ("".join("kernel products_%d(x: tensor<bf16, [b, m, k]>, y: tensor<bf16, [b, k, n]>, z: out tensor<f32, [b, m, n]>) dims [b, m, n, k] grid [cdiv(m, 64), cdiv(n, 64), b] { "
                            "let u = x[bid(2), :, :], v = y[bid(2), :, :]; var s = zeros([64, 64], f32); for i in 0 .. cdiv(k, 64) { s = mma(u.load([bid(0), i], [64, 64]), v.load([i, bid(1)], "
                            "[64, 64]), s); } z[bid(2), :, :].store([bid(0), bid(1)], s); }\n" % n for n in (1, 2)), r"(?<!allow_tma=false\)\]\] )\bv\d+ = ct::partition_view"),
}
# a program of this language, what in its text avoids the fault, and what the last stage says without it
UNDONE = {
    "three_products": ("kernel three(x: tensor<f32, [m, k]>, y: tensor<f32, [k, n]>, z: out tensor<f32, [m, n]>, p: tensor<i8, [m, k]>, q: tensor<i8, [k, n]>) grid [1] { "
                       "let a = x.load([0, 0], [16, 32]), b = y.load([0, 0], [32, 8]), i = p.load([0, 0], [16, 32]) @ q.load([0, 0], [32, 8]), t = matmul(a, b, precision: tf32); "
                       "let g = reshape(element_cast(a, f16), [1, 16, 32]) @ broadcast(reshape(element_cast(b, f16), [1, 32, 8]), [4, 32, 8]); "
                       "z.store([0, 0], t + element_cast(i, f32)); print(\"{}\", g); }", "if (ct_always()) ", r"Instruction does not dominate all uses|Segmentation fault"),
}


def tool(package, name="nvcc"):
    r = run([sys.executable, os.path.join(ROOT, "tools", "get.py"), "--there", package])
    if not check(r.code == 0, r.text.strip() + "\n`sh tools/setup.sh test` gets it"):
        finish()
    return os.path.join(os.path.dirname(r.out.decode().strip()), name)


def compiled(package, stage, path):
    """Of the program: (exit status, what the compiler says)"""
    r = run([tool(package), "--enable-tile", "-std=c++20", "-arch=sm_90", stage, "-o", path + ".out", path], timeout=300)
    return r.code, r.text + r.out.decode("utf-8", "replace")


def sections(text, head):
    """{name of the case: what is said of its kernel}, of a text with such a line before each; what stands before them all under \"\""""
    parts = re.split(head, text, flags=re.M)
    found = {"": parts[0]}
    for name, part in zip(parts[1::2], parts[2::2]):
        found[name] = part
    return found


KERNEL = r"_ZN\d+in_(\w+?)1kE\w*"


def of_kernels(package, cases, tmp):
    """{how: {name: text}} of the cases from which Tile IR can be made, as one file"""
    path = os.path.join(tmp, package + ".cu")
    write(path, HEAD + "".join(CASE % c[:4] for c in cases))
    code, said = compiled(package, "--tilebc", path)
    if not check(code == 0, "%s:\n%s" % (package, said[:3000])):
        finish()
    made, at = path + ".out", os.path.dirname(tool(package))
    env = dict(os.environ, CUDA_ROOT=os.path.dirname(at), PATH=at + os.pathsep + os.environ["PATH"])
    must([os.path.join(at, "tileiras"), "--host-arch=x86_64", "--host-os=linux", "-arch=sm_90", made, "-o", made + ".cubin"], env=env)
    ir = must([tool("nvcc-tile", "tileirdisasm"), made]).out.decode()
    dump = {how: must([tool("nvcc", "cuobjdump"), option, made + ".cubin"]).out.decode()
            for how, option in (("code", "--dump-sass"), ("stack", "--dump-resource-usage"))}
    texts = {"ir": sections(ir, r"^ *entry @" + KERNEL), "code": sections(dump["code"], r"^\s*Function : " + KERNEL + "$"),
             "stack": sections(dump["stack"], r"^ *Function " + KERNEL + ":")}
    for how, found in texts.items():
        check(set(found) == {"", *(c[0] for c in cases)}, "%s, %s: %s" % (package, how, sorted(found)))
    return texts


def shown(package, how, case, tmp):
    """What the compiler says, or makes, of a program alone."""
    path = os.path.join(tmp, case[0] + ".cu")
    write(path, HEAD + CASE % case[:4])
    code, said = compiled(package, "--tilecubin", path)
    if how == "says":
        return said
    if not check(code == 0, "%s:\n%s" % (os.path.basename(path), said[:2000])):
        return ""
    with open(path + ".out", "rb") as f:
        return f.read().decode("latin-1")


page = read(os.path.join(ROOT, "docs", "coming-from.md"))
with tmpdir() as tmp:
    for package in ("nvcc-tile", "nvcc-tile-13.3"):
        cases = [c for c in CASES if package == "nvcc-tile" or c[0] not in NEWER]
        texts = of_kernels(package, [c for c in cases if c[4] in ("ir", "code", "stack")], tmp)
        for case in cases:
            name, _, _, body, how, fault = case
            text = texts[how][""] * (how == "ir") + texts[how][name] if how in texts else shown(package, how, case, tmp)
            check(re.search(fault, text), "%s: %s has mended it, or shows it otherwise; what cuda-tile prints instead may be needed no more:\n%s" % (name, package, body))
    for name, *_ in CASES:
        if name in AVOIDED:
            write(os.path.join(tmp, name + ".tile"), AVOIDED[name][0])
            text = must([CTILEC, "-w", "--target=cuda-tile", os.path.join(tmp, name + ".tile"), "-o", "-"]).out.decode()
            check("ct_kernels {" in text and not re.search(AVOIDED[name][1], text), "%s: the target prints the form:\n%s" % (name, text))
        check("`%s`" % name in page, "docs/coming-from.md does not list %s" % name)
    for name, (source, avoids, fault) in UNDONE.items():
        path = os.path.join(tmp, name)
        write(path + ".tile", source)
        must([CTILEC, "-w", "--target=cuda-tile", path + ".tile", "-o", path + ".cu"])
        code, said = compiled("nvcc-tile", "--tilecubin", path + ".cu")
        check(code == 0 and not said, "%s is not avoided: %s" % (name, said[:1000]))
        write(path + ".cu", read(path + ".cu").replace(avoids, ""))
        said = compiled("nvcc-tile", "--tilecubin", path + ".cu")[1]
        check(re.search(fault, said), "%s: nvcc has mended it, or says something else: %s" % (name, said[:1000]))
    listed = re.findall(r"^\| `(\w+)` \|", page.split("### Faults of nvcc", 1)[1], re.M)
    names = [*(c[0] for c in CASES), *UNDONE]
    check(sorted(listed) == sorted(names), "docs/coming-from.md lists %s" % ", ".join(sorted(set(listed) ^ set(names))))
finish()
