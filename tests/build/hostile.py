"""Inputs that nobody means: each must give located errors or a plain sentence, exit 1 (or 0 where the text is fine), nothing
written, within seconds of processor time: a busy machine changes nothing."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
from common import *

HEAD = b"kernel k<N: int = 64>(x: tensor<f32, [n]>, y: out tensor<f32, [n]>) grid [cdiv(n, N)] {\n"
TAIL = b"\n}\n"


def body(b):
    return HEAD + b + TAIL


DEEP = 100000
LOAD = b"var v = x.load([bid(0)], [64]);\n"
STORE = b"y.store([bid(0)], v);"


def chain(n):
    return body(LOAD + b"let i = bid(0); if i < 1 { v = v * 2.0; }"
                + b"".join(b"\nelse if i < %d { v = v * 0.5; }" % k for k in range(2, n)) + b"y.store([i], v);")


CASES = {
    "empty": (b"", 1), "blank": (b"\n\n", 0), "nul": (b"\0", 1), "nul_inside": (body(b"let a = 1;\0"), 1),
    "not_utf8": (b"\xff\xfe kernel", 1), "bad_comment": (b"// \xff\n", 1), "bom": (b"\xef\xbb\xbf" + body(b"y.store([bid(0)], x.load([bid(0)], [N]));"), None),
    "long_line": (body(b"let a = " + b"1 + " * 2500000 + b"1;"), None),
    "long_name": (body(b"let " + b"a" * 10000000 + b" = 1;"), None),
    "long_bad_line": (body(b"let a = " + b" " * 10000000 + b"@@;"), 1),
    "long_string": (body(b'print("' + b"a" * 10000000 + b'");'), None),
    "parens": (body(b"let a = " + b"(" * DEEP + b"1" + b")" * DEEP + b";"), 1),
    "brackets": (body(b"let a = " + b"[" * DEEP + b"1" + b"]" * DEEP + b";"), 1),
    "open_parens": (body(b"let a = " + b"(" * DEEP), 1), "open_brackets": (b"[" * DEEP, 1), "braces": (body(b"{" * DEEP + b"}" * DEEP), None),
    "minuses": (body(b"let a = " + b"- " * DEEP + b"1;"), None), "nots": (body(b"let a = " + b"!" * DEEP + b"true;"), None),
    "ifs": (body(b"if (true) {" * DEEP + b"}" * DEEP), None), "else_ifs": (body(b"if n == 1 { } " + b"else if n == 2 { } " * DEEP), None),
    "else_if_facts": (chain(900), 0),       # what is known of i grows with each
    "promises": (body(LOAD + b"let i = bid(0);" + b"".join(b"assume(i != %d);" % k for k in range(40000)) + STORE), 0),       # in one scope
    "angles": (b"fn f(x: " + b"tile<" * DEEP + b"f32" + b">" * DEEP + b") { }", 1), "conds": (body(b"let a = " + b"true ? 1 : " * DEEP + b"2;"), None),
    "calls": (body(b"let a = " + b"f(" * DEEP + b"1" + b")" * DEEP + b";"), 1), "members": (body(b"let a = x" + b".y" * DEEP + b";"), 1),
    "open_string": (body(b'print("abc'), 1), "open_comment": (b"/* ", 1), "closes": (b"}" * 1000, 1),
    "big_number": (body(b"let a = " + b"9" * 100000 + b";"), 1), "big_float": (body(b"let a: f32 = 1" + b"0" * 1000 + b".0;"), 1),
    "copies": (b"fn f0() -> i32 { return 1; }\n" + b"".join(b"fn f%d() -> i32 { return f%d() + f%d(); }\n" % (i, i - 1, i - 1) for i in range(1, 30))
               + body(b"let a = f29();"), 1),
    "empty_rounds": (body(b"for const i in 0 .. 1000000000 { }"), 1),
    "product_of_sums": (b"kernel k(x: out tensor<f32, [" + b" * ".join([b"(a + b + c + d)"] * 40) + b"]>) grid [1] { }", 0),
    "doubled_size": (HEAD + TAIL + b"entry e(x: tensor<f32, [n]>, y: out tensor<f32, [n]>, z: i32) { let a0 = z;"
                     + b"".join(b"let a%d = min(a%d, a%d / 2 + 1);" % (i, i - 1, i - 1) for i in range(1, 50)) + b" k(x, y, N: 64); }", 1),
    "doubled_index": (body(b"let a0 = n;" + b"".join(b"let a%d = min(a%d, a%d / 2 + 1);" % (i, i - 1, i - 1) for i in range(1, 60))
                           + b"y.store([a59], x.load([a59], [N]));"), 0),
    "doubles": (b"kernel k(x: tensor<u8, [n]>, y: out tensor<u8, [n]>) grid [cdiv(n, 64)] {\nlet a0 = x.load([bid(0)], [64], pad: 0);\n"
                      + b"".join(b"let a%d = a%d + a%d; let b%d = (a%d + a%d) >> 1;\n" % (i, i - 1, i - 1, i, i, i - 1) for i in range(1, 211))
                      + b"y.store([bid(0)], b210);" + TAIL, 0),
    "unrolled": (body(LOAD + b"for const i in 0 .. 60000 { v = v * 0.5 + i; }\n" + STORE), 0),     # one expression of 120,000 operations
    "same_names": (body(LOAD + b"for const i in 0 .. 20000 { let w = sum(v, 0); v = v + w; }\n" + STORE), 0),
    "flips": (body(LOAD + b"for const i in 0 .. 100000 { v = flip(v, 0); }\n" + STORE), 0),
    "self_import": (b'import "self_import.tile";\n', 1), "missing_import": (b'import "nosuch.tile";\n', 1), "folder_import": (b'import ".";\n', 1),
    "two_line_import": (b'import "a\\nb\\r\\u{1b}[0m\\u{7f}";\n', 1), "endless_import": (b'import "' + b"a" * 100000 + b'";\n', 1),
}


def main():
    with tmpdir() as tmp:
        for name, (text, want) in CASES.items():
            path = os.path.join(tmp, name + ".tile")
            write(path, text)
            try:
                r = ctilec("--target=c", "--diagnostics=short", name + ".tile", "-o", "out.c", cwd=tmp, cpu=60, timeout=580)
            except subprocess.TimeoutExpired as e:
                fail("%s: still running after %d seconds" % (name, e.timeout))
                continue
            check(r.code in (0, 1) if want is None else r.code == want, "%s: exit %d: %s" % (name, r.code, r.text[:300]))
            if r.code == 1:
                check(all(l.startswith((name, "ctilec: ")) for l in r.text.splitlines()), "%s: a message of two lines: %s" % (name, r.text[:300]))
                check(any(name in l and ": error: " in l for l in r.text.splitlines()), "%s: no located error: %s" % (name, r.text[:300]))
                check(not os.path.exists(os.path.join(tmp, "out.c")), name + " wrote a program")
            check(len(r.text) < 20000, "%s: %d bytes of messages" % (name, len(r.text)))
            rich = ctilec("--check", name + ".tile", cwd=tmp, cpu=60, timeout=580)
            check(max([len(l) for l in rich.text.splitlines()] or [0]) < 1000, name + ": a message with an endless line")
            for left in ("out.c", "out.h"):
                if os.path.exists(os.path.join(tmp, left)):
                    os.remove(os.path.join(tmp, left))
        sizes = []
        for n in (200, 400):
            write(os.path.join(tmp, "chain.tile"), chain(n))
            sizes.append([len(ctilec("-w", "--target=" + target, "-o", "-", "chain.tile", cwd=tmp).out) for target in ("c", "cuda")])
        check(all(5 * long < 11 * short for short, long in zip(*sizes)), "text of `else if` chains of 200 and 400: %s bytes" % sizes)
        write(os.path.join(tmp, "a.tile"), 'import "b.tile";\n')
        write(os.path.join(tmp, "b.tile"), 'import "a.tile";\n')
        r = ctilec("--check", "--diagnostics=short", "a.tile", cwd=tmp)
        check(r.code == 1 and "error" in r.text, "an import cycle: exit %d: %s" % (r.code, r.text))
    finish()


main()
