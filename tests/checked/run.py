"""What --checked checks: run.py c|nvcc. Each case is a kernel that traps for some data: on the C target it stops with one line that
names the place and says what was wrong, and it runs through for other data. Without --checked nothing stops."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *

# name, statements (the one that traps ends in //!), v that traps, v that does not, what the message must say
CASES = [
    ("assert_scalar", 'assert(v > 0, "v is positive"); //!\n y[0] = v;', 0, 1, "assert failed: v is positive"),
    ("assert_tile", 'let t = iota([64], i32) + v;\n assert(t < 70, "all small"); //!\n y.store([0], t);', 10, 1, "assert failed: all small"),
    ("index_read", "y[0] = x[v]; //!", 64, 63, "index"),
    ("index_negative", "y[0] = x[v]; //!", -1, 0, "index"),
    ("index_write", "y[v] = 1; //!", 64, 0, "index"),
    ("gather", "let i = iota([64], i32) + v;\n y.store([0], x.gather([i])); //!", 1, 0, "index"),
    ("scatter", "let i = iota([64], i32) + v;\n y.scatter([i], x.load([0], [64])); //!", 1, 0, "index"),
    ("gather_from_memory", "let i = iota([64], i32) + x.load([0], [64]) + v;\n y.store([0], x.gather([i])); //!", 1, 0, "index"),
    ("gather_read", "w[0] = v;\n let i = iota([64], i32) + w.load([0], [1]);\n y.store([0], x.gather([i])); //!", 1, 0, "index"),
    ("gather_pad", "let i = iota([64], i32) + v;\n y.store([0], x.gather([i], pad: 7));\n y[v] = 1; //!", 64, 60, "index"),
    ("gather_negative", "let i = iota([64], i32) + v;\n y.store([0], x.gather([i])); //!", 1, -9, "index"),
    ("gather_row", "let i = iota([1, 64], i32) + 32 * bid(0);\n y.store([0], reshape(z.gather([reshape(x.load([0], [1]), [1, 1]) + v, i + 9]), [64])); //!", 2, 1, "index"),
    ("gather_masked", "let i = iota([64], i32) + v;\n y.store([0], x.gather([i], mask: i < 64));\n y[v] = 1; //!", 64, 50, "index"),
    ("scatter_masked", "let i = iota([64], i32) + v;\n y.scatter([i], x.load([0], [64]), mask: i < 64);\n y[v] = 1; //!", 64, 50, "index"),
    ("gather_selected", "let i = iota([64], i32) + 32;\n let j = select(iota([64], i32) < x.load([0], [1]) + v, x.load([0], [64]) + 64 - i % 2, i);\n y.store([0], x.gather([j])); //!", 1, -64, "index"),
    ("gather_either", "let i = iota([64], i32);\n y.store([0], x.gather([v > 0 ? 70 - i : i + 9]));\n y[v] = 1; //!", 64, 0, "index"),
    ("gather_either_used", "let i = iota([64], i32);\n y.store([0], x.gather([(v > 0 ? 70 - i : i) + 1]));\n y[v] = 1; //!", 64, 9, "index"),
    ("gather_if", "var i = iota([64], i32);\n if v > 0 { i = 70 - i; }\n y.store([0], x.gather([i]));\n y[v] = 1; //!", 64, 9, "index"),
    ("gather_either_read", "let i = iota([64], i32) + 9;\n y.store([0], x.gather([v > 0 ? x.load([0], [64]) + 64 : i])); //!", 1, 0, "index"),
    ("gather_either_moved", "let i = iota([64], i32);\n y.store([0], x.gather([v > 0 ? i + v : i])); //!", 1, 0, "index"),
    ("atomic", "let i = iota([64], i32) + v;\n atomic_xchg(w, [i], x.load([0], [64])); //!", 1, -1, "index"),
    ("take", "let i = iota([64], i32) + v;\n y.store([0], gather(x.load([0], [64]), i, 0)); //!", 1, 0, "index"),
    ("take_pad", "let i = iota([64], i32) + v;\n y.store([0], gather(x.load([0], [64]), i, 0, pad: 7));\n y[v] = 1; //!", 64, 50, "index"),
    ("take_narrow", "let i = element_cast(iota([128], i32) - v, i8), t = reshape(z.load([0, 0], [2, 64]), [128]);\n y.store([0], extract(gather(t, i, 0), [64], [0])); //!", 1, 0, "index"),
    ("gather_carried", "var j = v;\n for k in 0 .. 1 {\n y.store([0], x.gather([iota([64], i32) + j])); //!\n j += k; }", 1, 0, "index"),
    ("unique", "let i = iota([64], i32) / v;\n y.scatter([assume_unique(i)], x.load([0], [64])); //!", 2, 1, "does not hold"),
    ("unique_used_later", "let i = assume_unique(iota([64], i32) / v);\n let j = 63 - i;\n y.scatter([j], x.load([0], [64])); //!", 2, 1, "does not hold"),
    ("unique_masked", "let i = iota([64], i32);\n y.scatter([assume_unique(i / 2)], x.load([0], [64]), mask: i % 2 < v); //!", 2, 1, "does not hold"),
    ("unique_outside", "let i = iota([64], i32);\n y.scatter([assume_unique(max(i - v, -1))], x.load([0], [64]), mask: i < 64);\n y[v] = 1; //!", 64, 40, "index"),
    ("unique_view", "let i = iota([2], i32) / v;\n z2.gather_scatter([2, 64], 0).store([assume_unique(i), 0], z.load([0, 0], [2, 64])); //!", 2, 1, "does not hold"),
    ("unique_pairs", "let i = assume_unique(iota([2], i32) / v);\n z2.scatter([i[:, _], iota([1, 64], i32)], z.load([0, 0], [2, 64])); //!", 2, 1, "does not hold"),
    ("unique_gather", "let i = iota([64], i32) / v;\n y.store([0], x.gather([assume_unique(i)])); //!", 2, 1, "does not hold"),
    ("subview", "let r = z[v, :]; //!\n y.store([0], r.load([0], [64]));", 2, 1, "index"),
    ("divide", "y[0] = 7 / v; //!", 0, 2, "division by zero"),
    ("remainder", "y[0] = 7 % v; //!", 0, 2, "division by zero"),
    ("divide_tile", "y.store([0], x.load([0], [64]) / (iota([64], i32) - v)); //!", 5, -1, "division by zero"),
    ("divide_least", "let q = x.load([0], [64]) * 0 - 2147483647 - 1;\n y.store([0], q / v); //!", -1, 2, "overflow"),
    ("add", "y[0] = v + 2000000000; //!", 2000000000, 3, "overflow"),
    ("subtract", "y[0] = -2000000000 - v; //!", 2000000000, 3, "overflow"),
    ("multiply", "y.store([0], (iota([64], i32) + 100000) * v); //!", 100000, 3, "overflow"),
    ("narrow_add", "let a = element_cast(v, i8);\n y[0] = element_cast(a + a, i32); //!", 100, 3, "overflow"),
    ("negate", "y[0] = -v; //!", -2147483648, 3, "overflow"),
    ("abs", "y[0] = abs(v); //!", -2147483648, -3, "overflow"),
    ("shift", "y[0] = 1 << v; //!", 32, 31, "shift count"),
    ("shift_negative", "y.store([0], iota([64], i32) >> v); //!", -1, 0, "shift count"),
    ("cast_int", "y[0] = element_cast(element_cast(v, u8), i32); //!", 256, 255, "outside"),
    ("cast_sign", "y[0] = element_cast(element_cast(v, u32) / 2, i32); //!", -1, 255, "outside"),
    ("cast_float", "let f = element_cast(v, f32) * 1e9;\n y[0] = element_cast(f, i32); //!", 5, 2, "outside i32"),
    ("cast_nan", "let f = sqrt(element_cast(v, f32));\n y[0] = element_cast(f, i32); //!", -1, 4, "outside i32"),
    ("assume", "assume(v < 10); //!\n y[0] = v;", 10, 9, "does not hold"),
    ("assume_divisible", "let w = assume_divisible(v, 8); //!\n y[0] = w;", 9, 16, "does not hold"),
    ("assume_bounded", "let w = assume_bounded(v, 0, 7); //!\n y[0] = w;", 8, 7, "does not hold"),
    ("assume_blocked", "let w = assume_blocked(iota([4, 16], i32) / v, [1, 4]); //!\n y.store([0], reshape(w, [64]));", 2, 4, "does not hold"),
    ("assume_blocked_cut", "let w = assume_blocked(iota([4, 16], i32) % 16 / v, [3, 6]); //!\n y.store([0], reshape(w, [64]));", 4, 6, "does not hold"),
    ("assume_strided", "let w = assume_divisible_strided(iota([4, 16], i32) * v % 64, 4, 4, 1); //!\n y.store([0], reshape(w, [64]));", 3, 1, "does not hold"),
    ("assume_strided_first", "let w = assume_divisible_strided(iota([64], i32) + v, 4, 4, 0); //!\n y.store([0], w);", 1, 8, "does not hold"),
    ("assume_aligned", "let w = assume_aligned(p + v, 16); //!\n y[0] = element_cast(w != null, i32);", 2, 4, "does not hold"),
    ("assume_aligned_strided", "let w = assume_aligned_strided(p + iota([64], i32) * v, 16, 4, 0); //!\n y[0] = i32(element_cast(w == null, i32).sum(0));", 4, 1, "does not hold"),
    ("span_extent", "let s = unsafe tensor_span(p, [v, 4]); //!\n y[0] = s.extent(0);", -1, 2, "the extent `v` of `tensor_span` is less than 0"),
    ("span_alignment", "let s = unsafe tensor_span(p, [4, 4], layout_left_padded(v)); //!\n y[0] = i32(s.stride(1));", 0, 2, "the alignment `v`"),
    ("step", "for i in 0 .. 8 step v { //!\n y[i] = i;\n }", 0, 2, "step"),
    ("in_function", "y[0] = f_in_function(v);\n", 0, 2, "division by zero"),
    ("late_length", "y[0] = f_late_length(x.slice(0, 0, v)); //!", 9, 8, "dimension 0 of `a` of `f_late_length` is not"),
    ("in_loop", "for i in 0 .. 4 {\n if i == 3 {\n y[i] = 7 / v; //!\n }\n }", 0, 2, "division by zero"),
]
FUNCTIONS = {"in_function": "fn f_in_function(a: i32) -> i32 {\n return 9 / a; //!\n}\n",
             "late_length": "fn f_late_length(a: tensor<i32, [2 * r]>) -> i32 { return a[r]; }\n"}


def program():
    """The text, and the line at which each case traps."""
    out, lines = "", {}
    for name, body, _, _, _ in CASES:
        head = "kernel k_%s(x: tensor<i32, [64]>, z: tensor<i32, [2, 64]>, y: out tensor<i32, [64]>, w: inout tensor<i32, [64]>, z2: out tensor<i32, [2, 64]>, v: i32, p: ptr<i32>) grid [1] {\n" % name
        text = FUNCTIONS.get(name, "") + head + " " + body + "\n}\n"
        lines[name] = [out.count("\n") + 1 + i for i, line in enumerate(text.split("\n")) if "//!" in line][0]
        out += text
    return out, lines


def main_c():
    calls = "".join('\tif (!strcmp(argv[1], "%s")) return k_%s(x, z, y, w, z2, v, p, 0);\n' % (c[0], c[0]) for c in CASES)
    return ('#include "k.h"\n#include <stdlib.h>\n#include <string.h>\nint main(int argc, char **argv)\n{\n\tstatic int32_t x[64], z[128], y[64], w[64], z2[128];\n'
            "\tstatic _Alignas(64) int32_t p[64];\n"
        "\tint32_t v = argc > 2 ? (int32_t)atoll(argv[2]) : 0;\n%s\treturn 99;\n}\n" % calls)


def build(where, name, *options):
    r = run([CTILEC, "--target=c", "-w", "-o", "k.c", *options, "k.tile"], cwd=where)
    if not check(r.code == 0, r.text):
        finish()
    must([CC, "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-o", name, "main.c", "k.c", "-lm"], cwd=where)


def on_c(where, lines):
    write(os.path.join(where, "main.c"), main_c())
    build(where, "checked", "--checked")
    build(where, "plain")
    for name, _, bad, good, says in CASES:
        r = run([os.path.join(where, "checked"), name, str(bad)], cwd=where)
        text = r.text.strip()
        ok = r.code == -6 and re.match(r"k\.tile:%d: " % lines[name], text) and says in text and "\n" not in text
        check(ok, "%s(%d): exit %d, wanted line %d, `%s`: %s" % (name, bad, r.code, lines[name], says, text))
        r = run([os.path.join(where, "checked"), name, str(good)], cwd=where)
        check(r.code == 0 and not r.text, "%s(%d): exit %d: %s" % (name, good, r.code, r.text))
        r = run([os.path.join(where, "plain"), name, str(bad)], cwd=where)
        check(r.code == 0 and not r.text, "%s(%d) without --checked: exit %d: %s" % (name, bad, r.code, r.text))
        if "-v" in sys.argv:
            print(text)


def on_nvcc(where, lines):
    if not NVCC:
        fail("there is no nvcc; `sh tools/setup.sh test` gets one")
        return
    r = run([CTILEC, "-w", "--checked", "-o", "k.cu", "k.tile"], cwd=where)
    if check(r.code == 0, r.text):
        must([NVCC, "-cubin", "-arch=sm_90a", "-Werror", "all-warnings", "-o", "k.cubin", "k.cu"], cwd=where)
        text = read(os.path.join(where, "k.cu"))
        for name, _, _, _, says in CASES:
            check(re.search(r'k\.tile:%d: [^"]*%s' % (lines[name], says), text), "%s: no check of line %d says `%s`" % (name, lines[name], says))


with tmpdir() as where:
    text, lines = program()
    write(os.path.join(where, "k.tile"), text)
    {"c": on_c, "nvcc": on_nvcc}[sys.argv[1]](where, lines)
finish()
