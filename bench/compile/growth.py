#!/usr/bin/env python3
"""Time and memory of ctilec itself on generated programs of growing size.

Usage: bench/compile/growth.py [CTILEC] [--lines 1000,10000,100000] [--kernels 100,1000,10000] [--rounds 5] [--target c,cuda]
Prints a table: lines, seconds by the clock (median, least, most), seconds of the processor (median), peak memory, and
growth of processor time against the row before. The start-up row is `ctilec --version`. Programs are deterministic:
functions and kernels with loops and reductions. A busy machine shows in the clock far more than in the processor's time.
"""
import argparse, os, statistics, subprocess, sys, tempfile, time

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

MANY = """\
kernel part{i}(x: tensor<f32, [m, n]>, at: tensor<i32, [m]>, y: inout tensor<f32, [m, {n}]>, z: out tensor<f32, [m]>) grid [cdiv(m, 8)] {{
    let i = bid(0), v = x.load([i, 0], [8, {n}], pad: -inf);
    let row = at.load([i], [8], pad: -1), e = exp(v - reduce_max(v, 1));
    y.scatter([row[:, _] + zeros([8, {n}], i32), iota([{n}], i32) + zeros([8, {n}], i32)], e);
    z.store([i], reshape(sum(select(x.mask([i, 0], [8, {n}]), v * {c}, 0), 1), [8]));
}}
"""


def kernels(count):
    """So many kernels that share nothing, and how many lines they are."""
    text = "".join(MANY.format(i=i, c=i % 7 + 1, n=16 << i % 4) for i in range(count))
    return text, text.count("\n")


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
    """Seconds by the clock, of the processor, and peak bytes of one run."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"failed: {' '.join(command)}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def row(what, lines, runs, last):
    """Prints one row; the median of processor time."""
    clock, cpu, peak = zip(*runs)
    m = statistics.median(cpu)
    growth = f"{m / last:.1f}x" if last else ""
    print(f"{what:<8} {lines:>8} {statistics.median(clock):>9.4f} {min(clock):>8.4f} {max(clock):>8.4f} {m:>11.4f} "
        f"{max(peak) / 2**20:>9.1f} {growth:>7}", flush=True)
    return m


def machine(ctilec):
    """What the figures belong to."""
    version = subprocess.run([ctilec, "--version"], stdout=subprocess.PIPE, text=True).stdout.strip()
    cpu = "processor not named"
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as f:
            cpu = next((l.split(":")[1].strip() for l in f if l.startswith("model name")), cpu)
    return f"# {version}; {cpu}, {os.cpu_count()} threads; load {os.getloadavg()[0]:.1f} at the start"


def main():
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("ctilec", nargs="?", default=os.path.join(top, "build", "ctilec"))
    ap.add_argument("--lines", default="1000,10000,100000")
    ap.add_argument("--kernels", default="100,1000,10000", help="files of so many kernels, checked only")
    ap.add_argument("--rounds", type=int, default=5)
    ap.add_argument("--target", default="c,cuda")
    a = ap.parse_args()
    print(machine(a.ctilec))
    print(f"{'what':<8} {'lines':>8} {'clock s':>9} {'least':>8} {'most':>8} {'processor s':>11} {'peak MiB':>9} {'growth':>7}")
    row("start", 0, [once([a.ctilec, "--version"]) for _ in range(4 * a.rounds)], None)
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
                last = row(mode, n, [once(command) for _ in range(a.rounds if n < 50000 else min(a.rounds, 3))], last)
        last = None
        for count in map(int, filter(None, a.kernels.split(","))):
            text, n = kernels(count)
            path = os.path.join(d, "p.tile")
            with open(path, "w") as f:
                f.write(text)
            last = row(f"{count} k", n, [once([a.ctilec, path, "--check"]) for _ in range(a.rounds)], last)


if __name__ == "__main__":
    main()
