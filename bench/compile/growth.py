#!/usr/bin/env python3
"""Time and memory of ctilec itself on generated programs of growing size.

Usage: bench/compile/growth.py [CTILEC] [--lines 1000,10000,100000] [--rounds 5]
Prints a table: lines, median seconds and the spread, peak memory, growth against the row before. The start-up row is
`ctilec --version`. Programs are deterministic: functions, kernels with loops, reductions and products, instances.
"""
import argparse, os, resource, statistics, subprocess, sys, tempfile, time

KERNEL = """\
/// y = activation(x) * scale, row by row, in blocks.
kernel k{i}<T: float = f32, N: int = {n}>(x: tensor<T, [rows, cols]>, y: out tensor<T, [rows, cols]>, scale: f32)
    grid [rows]
{{
    let row = bid(0);
    var m: tile<f32, [1, 1]> = -inf;
    for j in 0 .. cdiv(cols, N) {{
        let v = element_cast(x.load([row, j], [1, N], pad: -inf), f32);
        m = max(m, reduce_max(v, 1));
    }}
    for j in 0 .. cdiv(cols, N) {{
        let v = element_cast(x.load([row, j], [1, N]), f32);
        let e = smooth{i}(v - m) * scale;
        y.store([row, j], element_cast(e / (1.0 + abs(e)), T));
    }}
}}
"""
FUNCTION = """\
/// A smooth step, element by element.
fn smooth{i}(x: tile<f32, [M, N]>) -> tile<f32, [M, N]> {{
    let a = exp(x);
    let b = a / (1 + a);
    return b * {c}.5 + x * 0.25;
}}
"""


def program(lines):
    """A program of at least this many lines, and how many it has."""
    out, n, i = [], 0, 0
    while n < lines:
        text = FUNCTION.format(i=i, c=i % 7) + KERNEL.format(i=i, n=1 << (5 + i % 4))
        out.append(text)
        n += text.count("\n")
        i += 1
    return "".join(out), n


def once(command):
    """Seconds and peak bytes of one run."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"failed: {' '.join(command)}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def main():
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("ctilec", nargs="?", default=os.path.join(top, "build", "ctilec"))
    ap.add_argument("--lines", default="1000,10000,100000")
    ap.add_argument("--rounds", type=int, default=5)
    ap.add_argument("--target", default="c,cuda")
    a = ap.parse_args()
    print(f"{'what':<22} {'lines':>8} {'median s':>9} {'least':>8} {'most':>8} {'peak MiB':>9} {'growth':>7}")
    runs = [once([a.ctilec, "--version"]) for _ in range(4 * a.rounds)]
    t = [r[0] for r in runs]
    print(f"{'start':<22} {0:>8} {statistics.median(t):>9.4f} {min(t):>8.4f} {max(t):>8.4f} {max(r[1] for r in runs) / 2**20:>9.1f}")
    with tempfile.TemporaryDirectory() as d:
        for mode in ["check"] + a.target.split(","):
            last = None
            for want in map(int, a.lines.split(",")):
                text, n = program(want)
                path = os.path.join(d, "p.tile")
                with open(path, "w") as f:
                    f.write(text)
                command = [a.ctilec, path, "--check"] if mode == "check" else \
                    [a.ctilec, path, f"--target={mode}", "-o", os.path.join(d, "p.out"), "--no-header"]
                runs = [once(command) for _ in range(a.rounds if n < 50000 else 3)]
                t = [r[0] for r in runs]
                m = statistics.median(t)
                growth = f"{m / last:.1f}x" if last else ""
                print(f"{mode:<22} {n:>8} {m:>9.4f} {min(t):>8.4f} {max(t):>8.4f} {max(r[1] for r in runs) / 2**20:>9.1f} {growth:>7}", flush=True)
                last = m


if __name__ == "__main__":
    main()
