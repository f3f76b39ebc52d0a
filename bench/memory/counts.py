#!/usr/bin/env python3
"""What `ctilec --report` predicts beside what the hardware counts: requests and sectors of global memory, wavefronts of shared memory.

  counts.py measure DIR CSV        after `bench.py build CTILEC DIR`; needs a GPU of sm_90a, torch and ncu (Nsight Compute)
  counts.py compare CTILEC CSV     the table; needs no GPU

Each kernel runs once, with no more tile blocks than --report runs, so that both count the same work."""
import csv
import io
import os
import subprocess
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

METRICS = {     # what ncu calls it -> what the report has
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "load requests",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "load sectors",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": "store requests",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "store sectors",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": "shared wavefronts",
}
LABELS = list(METRICS.values())

# file, C function, kernel, sizes in the order of the function's arguments; tensors: "name type extents", a number is itself
CASES = [
    ("elementwise", "add_f32", "add_of_f32_2048", dict(n=20000), ["f32 n", "f32 n", "f32 n"]),
    ("move", "transpose_f32", "transpose_of_f32_128x64", dict(m=100, n=200), ["f32 m n", "f32 n m"]),
    ("move", "transpose_bf16", "transpose_of_bf16_128x128", dict(m=200, n=264), ["bf16 m n", "bf16 n m"]),
    ("move", "transpose_i8", "transpose_bytes_8", dict(m=128, n=768), ["i8 m n", "i8 n m"]),
    ("move", "rope", "rope_64x16", dict(tokens=4, heads=32, half=64, positions=64),
     ["bf16 tokens heads two half", "index tokens", "f32 positions half", "f32 positions half"]),
    ("softmax", "softmax_f32", "softmax_of_f32_1024", dict(rows=8, cols=1000), ["f32 rows cols", "f32 rows cols"]),
    ("softmax", "softmax_bf16", "softmax_of_bf16_4096", dict(rows=8, cols=4096), ["bf16 rows cols", "bf16 rows cols"]),
    ("norms", "rmsnorm_bf16", "rmsnorm_of_bf16_4096", dict(rows=8, cols=4096), ["bf16 rows cols", "bf16 cols", "bf16 rows cols", 1e-5]),
    ("norms", "layernorm_f32", "layernorm_of_f32_4096", dict(rows=8, cols=3000), ["f32 rows cols", "f32 cols", "f32 cols", "f32 rows cols", 1e-5]),
    ("scan", "cumsum_f32", "cumsum_of_f32_4096", dict(rows=8, cols=4096), ["f32 rows cols", "f32 rows cols"]),
    ("stencil", "blur3", "blur3_of_16x128", dict(h=32, w=256), ["f32 h w", "f32 h w"]),
    ("stencil", "laplace", "laplace_of_8x128", dict(d=8, h=16, w=256), ["f32 d h w", "f32 d h w"]),
]


def launch(folder):
    """Calls each case once: what ncu runs."""
    import torch
    import bench
    b = bench.Bench(types.SimpleNamespace(dir=folder, rounds=1, device="cuda", peers="", step="check"))
    kinds = dict(f32=torch.float32, bf16=torch.bfloat16, i8=torch.int8)

    def tensor(text, sizes):
        kind, *extents = text.split()
        shape = [2 if e == "two" else sizes[e] for e in extents]
        if kind == "index":
            return torch.randint(0, sizes["positions"], shape, device="cuda", dtype=torch.int32)
        return (torch.randn(shape, device="cuda") * 8).to(kinds[kind])

    torch.manual_seed(1)
    for file, function, _, sizes, arguments in CASES:
        args = [tensor(a, sizes) if isinstance(a, str) else a for a in arguments] + list(sizes.values())
        b.ours(dict(call=(file, function), out=[]), args)()
        torch.cuda.synchronize()


def measure(folder, path):
    command = ["ncu", "--csv", "--print-units", "base", "--kernel-name", "regex:_sm90a", "--metrics", ",".join(METRICS),
               sys.executable, os.path.abspath(__file__), "launch", folder]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    with open(path, "w") as f:
        f.writelines(line for line in text.splitlines(True) if line.startswith('"'))


def counted(path):
    """Launches in their order: (kernel's name, counts)."""
    found = {}
    with open(path) as f:
        for row in csv.DictReader(io.StringIO(f.read())):
            name, counts = found.setdefault(int(row["ID"]), (row["Kernel Name"], {}))
            counts[METRICS[row["Metric Name"]]] = int(float(row["Metric Value"].replace(",", "")))
    return [found[i] for i in sorted(found)]


def predicted(ctilec, file, kernel, sizes):
    """Sums over the rows of the kernel's report."""
    text = subprocess.run([ctilec, os.path.join(HERE, file + ".tile"), "-w", "--arch=sm_90a",
                           "--report=" + ",".join("%s=%d" % v for v in sizes.items())], check=True, stdout=subprocess.PIPE, text=True).stdout
    part = text[text.index("kernel %s," % kernel):].split("\n\n")[0]
    counts, table = dict.fromkeys(LABELS, 0), ""
    for line in part.splitlines():
        words = line.split()
        if line.startswith("  memory:") or line.startswith("  shared memory:"):
            table = words[0]
        elif table == "memory:" and len(words) == 8 and words[3].isdigit():
            side = "store" if words[1] in ("store", "scatter") else "load"
            counts[side + " requests"] += int(words[3])
            counts[side + " sectors"] += int(words[5])
        elif table == "shared" and len(words) == 5 and words[3].isdigit():
            counts["shared wavefronts"] += int(words[3])
    return counts


def compare(ctilec, path):
    print("| kernel | sizes | " + " | ".join(LABELS) + " |\n|---|---|" + "---|" * len(LABELS))
    for (file, _, kernel, sizes, _), (name, hardware) in zip(CASES, counted(path), strict=True):
        if not name.startswith(kernel + "_"):
            sys.exit("ncu counted %s where %s was to run" % (name, kernel))
        ours = predicted(ctilec, file, kernel, sizes)
        cells = ["%d" % ours[k] if ours[k] == hardware[k] else "%d / %d" % (ours[k], hardware[k]) for k in LABELS]
        print("| %s | %s | %s |" % (kernel, ", ".join("%s %d" % v for v in sizes.items()), " | ".join(cells)))


if __name__ == "__main__":
    steps = dict(launch=launch, measure=measure, compare=compare)
    if len(sys.argv) < 3 or sys.argv[1] not in steps:
        sys.exit(__doc__)
    steps[sys.argv[1]](*sys.argv[2:])
