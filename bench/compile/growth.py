#!/usr/bin/env python3
"""Time and memory of ctilec itself on generated programs of growing size.

Usage: bench/compile/growth.py [CTILEC] [--lines 1000,10000,100000] [--kernels 100,1000,10000] [--shapes 1000,4000,16000]
                               [--only SHAPE,SHAPE] [--rounds 5] [--target c,cuda]
Prints a table: lines, seconds by the clock (median, least, most), seconds of the processor (median), peak memory, and
growth of processor time against the row before. The start-up row is `ctilec --version`. Programs are deterministic:
functions and kernels with loops and reductions; then one kernel with so many of one thing (`shapes`), where growth beyond that
of the size is a pass that looks at everything again and again. A busy machine shows in the clock far more than in the processor's time.
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


def kernel(body, shape="[1, 64]", elem="f32"):
    """One kernel whose tile v the body changes."""
    return f"kernel k(x: tensor<{elem}, [m, 64]>, y: inout tensor<{elem}, [m, 64]>) grid [m] {{\n    let b = bid(0);\n" \
           f"    var v = x.load([b, 0], {shape});\n{body}    y.store([b, 0], v);\n}}\n"


def times(n, text):
    """text for each i below n, unrolled by the compiler."""
    return f"    for const i in 0 .. {n} {{ {text} }}\n"


def lines(n, text):
    """text n times in the source, @ standing for the number."""
    return "".join(f"    {text}\n".replace("@", str(i)) for i in range(n))


PRODUCT = "element_cast(mma({}, {}, zeros([16, 16], f32)), f16)"
SHAPES = {
    "flips": lambda n: kernel(times(n, "v = exp(flip(v, 1));")),
    "products": lambda n: kernel(times(n, f"v = {PRODUCT.format('v', 'v')};"), "[16, 16]", "f16"),
    "factors": lambda n: kernel(lines(n, "let a@ = x.load([b, @], [16, 16]);") + lines(n, f"v = v + {PRODUCT.format('a@', 'v')};"), "[16, 16]", "f16"),
    "reduced": lambda n: kernel(times(n, "v = exp(v - reduce_max(v, 1));")),
    "loads": lambda n: kernel(times(n, "v = v + x.load([b + i, 0], [1, 64]);")),
    "alive": lambda n: kernel(lines(n, "let a@ = x.load([b + @, 0], [1, 64]);") + lines(n, "v = v * a@;")),
    "stores": lambda n: kernel(times(n, "y.store([b + i, 0], v);")),
    "barriers": lambda n: kernel(times(n, "y.store([b, 0], v); v = exp(y.load_at([b, 1], [1, 64]));")),
    "sorts": lambda n: kernel(lines(n, "let s@ = sort(v * @.5, 0);") + lines(n, "v = v + s@;"), "[16, 16]"),
    "ifs": lambda n: kernel(lines(n, "if b == @ { v = exp(v); }")),
    "loops": lambda n: kernel(lines(n, "for i in 0 .. b { v = exp(v) + element_cast(i + @, f32); }")),
    "carried": lambda n: kernel(lines(n, "var a@ = v + @.5;") + "    for i in 0 .. b {\n" + lines(n, "a@ = exp(a@);") + "    }\n" + lines(n, "v = v + a@;")),
    "scalars": lambda n: kernel("    var s = b;\n" + lines(n, "s = s ^ ((b + @) * s / 3);") + "    v = v + element_cast(s, f32);\n"),
}


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
    print(f"{what:<13} {lines:>8} {statistics.median(clock):>9.4f} {min(clock):>8.4f} {max(clock):>8.4f} {m:>11.4f} "
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


def command_of(ctilec, path, mode):
    if mode == "check":
        return [ctilec, path, "--check"]
    return [ctilec, path, f"--target={mode}", "-o", os.path.join(os.path.dirname(path), "p.out"), "--no-header"]


def main():
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("ctilec", nargs="?", default=os.path.join(top, "build", "ctilec"))
    ap.add_argument("--lines", default="1000,10000,100000")
    ap.add_argument("--kernels", default="100,1000,10000", help="files of so many kernels, checked only")
    ap.add_argument("--shapes", default="1000,4000,16000", help="kernels with so many of one thing")
    ap.add_argument("--only", default=",".join(SHAPES), help="which things")
    ap.add_argument("--rounds", type=int, default=5)
    ap.add_argument("--target", default="c,cuda")
    a = ap.parse_args()
    print(machine(a.ctilec))
    print(f"{'what':<13} {'lines':>8} {'clock s':>9} {'least':>8} {'most':>8} {'processor s':>11} {'peak MiB':>9} {'growth':>7}")
    row("start", 0, [once([a.ctilec, "--version"]) for _ in range(4 * a.rounds)], None)
    with tempfile.TemporaryDirectory() as d:
        for mode in ["check"] + a.target.split(","):
            last = None
            for want in map(int, filter(None, a.lines.split(","))):
                text, n = program(want)
                path = os.path.join(d, "p.tile")
                with open(path, "w") as f:
                    f.write(text)
                last = row(mode, n, [once(command_of(a.ctilec, path, mode)) for _ in range(a.rounds if n < 50000 else min(a.rounds, 3))], last)
        last = None
        for count in map(int, filter(None, a.kernels.split(","))):
            text, n = kernels(count)
            path = os.path.join(d, "p.tile")
            with open(path, "w") as f:
                f.write(text)
            last = row(f"{count} k", n, [once([a.ctilec, path, "--check"]) for _ in range(a.rounds)], last)
        for name in filter(None, a.only.split(",") if a.shapes else []):
            for mode in a.target.split(","):
                last = None
                for n in map(int, a.shapes.split(",")):
                    path = os.path.join(d, "p.tile")
                    with open(path, "w") as f:
                        f.write(SHAPES[name](n))
                    last = row(f"{name} {mode}", n, [once(command_of(a.ctilec, path, mode) + ["-w"])], last)


if __name__ == "__main__":
    main()
