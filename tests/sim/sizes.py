"""The sizes of --report: integer parameters are sizes, unknown names are refused, and what would take long is run with less."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "run"))
from common import *

GRID = """kernel k(x: inout tensor<f32, [n]>, g: i32, a: i32) grid [g] { x.store([bid(0)], x.load([bid(0)], [64]) + f32(a)); }
"""
BAGS = """kernel bags(x: tensor<f32, [m, 64]>, y: out tensor<f32, [n, 64]>, per: i32) grid [n] where m == n * per, per >= 1, per <= 9 {
    var s: tile<f32, [1, 64]> = 0;
    for i in bid(0) * per .. (bid(0) + 1) * per { s += x.load([i, 0], [1, 64]); }
    y.store([bid(0), 0], s);
}
"""
LONG = """kernel long(x: tensor<f32, [k]>, y: out tensor<f32, [1]>) grid [1] {
    var s = 0.0;
    for i in 0 .. k { for j in 0 .. k { s = s * 0.5 + x[j]; } }
    y[0] = s;
}
"""
ENDLESS = """kernel endless(x: inout tensor<f32, [n]>) grid [1] { while x[0] == x[0] { x[1] = 1.0; } }
"""
SPANS = """kernel scale_all<N: int = 1024>(at: tensor<u64, [count]>, lengths: tensor<i64, [count]>, a: f32) grid [count] {
    let x = unsafe tensor_span(element_bitcast(at[bid(0)], ptr<f32>), [lengths[bid(0)]]);
    for i in 0 .. cdiv(lengths[bid(0)], N) { x.store([i], a * x.load([i], [N])); }
}
"""

with tmpdir() as where:
    def report(name, text, option="--report"):
        path = os.path.join(where, name + ".tile")
        write(path, text)
        return ctilec(option, path, timeout=120)

    r = report("grid", GRID)
    check(r.code == 0 and b"n = 1000, g = 1000:" in r.out and b"not run" not in r.out, "an integer in the grid: %r" % r.out)
    r = report("grid", GRID, "--report=g=40,n=100")
    check(r.code == 0 and b"n = 100, g = 40: 40 of 40 tile blocks" in r.out, "a named integer: %r" % r.out)
    r = report("bags", BAGS)
    check(r.code == 0 and b"per = 1:" in r.out, "an integer in conditions: %r" % r.out)
    for wrong in ("g=40,q=3", "a=1", "m=1"):
        r = report("grid", GRID, "--report=" + wrong)
        check(r.code == 2 and "no kernel has a dimension" in r.text and not r.out, "%s: %s" % (wrong, r.text))
    r = report("long", LONG)
    check(r.code == 0 and b"1000 would take long" in r.out and b"k = 256" in r.out, "a long run: %r" % r.out)
    r = report("endless", ENDLESS)
    check(r.code == 1 and b"fault " in r.out and b"stopped " in r.out, "a loop that never ends: %r" % r.out)
    r = report("spans", SPANS)
    check(r.code == 0 and b"not run   takes addresses as numbers" in r.out, "addresses in tensors: %r" % r.out)
    r = report("grid", GRID, "--report=g=40,n=99999999999")
    check(r.code == 0 and b"more than 268435456 bytes" in r.out, "sizes that are too large: %r" % r.out)
finish()
