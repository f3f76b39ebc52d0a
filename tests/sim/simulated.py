"""Entries of a program for the simulator (--target=sim), called with numpy arrays."""
import subprocess
import sys

import numpy as np

SCALARS = {"f32": "float", "f64": "double", "i32": "int32_t", "i64": "int64_t", "u32": "uint32_t", "u64": "uint64_t"}


def must(*args):
    r = subprocess.run(args, capture_output=True, text=True)
    if r.returncode:
        sys.exit("%s\n%s%s" % (" ".join(args), r.stdout, r.stderr))


class Simulated:
    """A program that calls one entry: its number and dimensions as arguments, arrays through standard input and output."""
    def __init__(self, source, library, tmp, entries):
        self.program, self.number, self.why = source + ".exe", {e["name"]: i for i, e in enumerate(entries)}, b""
        calls = []
        for i, e in enumerate(entries):
            args, sizes, arrays = [], [], 0         # sizes: what f_workspace takes
            for p in e["params"]:
                scalar = "shape" not in p
                args.append(("*(%s *)arrays[%d]" % (SCALARS[p["type"]], arrays)) if scalar else "(void *)arrays[%d]" % arrays)
                if scalar and p["type"][0] in "iu": sizes.append(args[-1])
                arrays += 1
            dims = ["atoll(argv[%d])" % (2 + k) for k in range(len(e["dims"]))]
            calls.append("case %d: room = %s_workspace(%s); status = %s_ws(%s); break;" %
                         (i, e["name"], ", ".join(sizes + dims), e["name"], ", ".join(args + dims + ["aligned_alloc(256, (room + 511) / 256 * 256)", "room", "NULL"])))
        with open(source, "a") as f:
            f.write("""
int main(int argc, char **argv)
{
	char *arrays[16] = { 0 };
	int64_t bytes[16], front[16];
	int n, status = -1;
	size_t room;
	(void)argc;
	if (fread(&n, sizeof n, 1, stdin) != 1) return 2;
	for (int i = 0; i < n; i++) {
		if (fread(&front[i], 8, 1, stdin) != 1 || fread(&bytes[i], 8, 1, stdin) != 1) return 2;
		arrays[i] = (char *)aligned_alloc(256, ((size_t)(front[i] + bytes[i]) + 511) / 256 * 256) + front[i];
		if (fread(arrays[i], 1, (size_t)bytes[i], stdin) != (size_t)bytes[i]) return 2;
	}
	switch (atoi(argv[1])) { %s }
	fwrite(&status, sizeof status, 1, stdout);
	for (int i = 0; i < n; i++) fwrite(arrays[i], 1, (size_t)bytes[i], stdout);
	fprintf(stderr, "%%s", ctile_status_text(status));
	return 0;
}
""" % " ".join(calls))
        must("gcc", "-std=gnu11", "-O1", "-w", "-DCT_STEPS=1", "-I" + tmp, "-o", self.program, source, library, "-lm")

    def call(self, entry, arrays, dims, phases=None):
        phases = phases or [0] * len(arrays)
        heads = [np.array([phase * a.itemsize, a.nbytes], "i8").tobytes() for a, phase in zip(arrays, phases)]
        data = np.int32(len(arrays)).tobytes() + b"".join(h + a.tobytes() for h, a in zip(heads, arrays))
        r = subprocess.run([self.program, str(self.number[entry])] + [str(d) for d in dims], input=data, capture_output=True)
        self.why = r.stderr
        if r.returncode:
            sys.exit("%s: exit %d\n%s" % (entry, r.returncode, r.stderr.decode("utf-8", "replace")))
        status, at, out = int(np.frombuffer(r.stdout, "i4", 1)[0]), 4, []
        for a in arrays:
            out.append(np.frombuffer(r.stdout, a.dtype, a.size, at).reshape(a.shape))
            at += a.nbytes
        return status, out

    def text(self, status):
        return self.why.decode("utf-8", "replace")
