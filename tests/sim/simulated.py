"""Entries of a program for the simulator (--target=sim), called with numpy arrays."""
import os
import subprocess
import sys

import numpy as np

SCALARS = {"f32": "float", "f64": "double", "i32": "int32_t", "i64": "int64_t", "u32": "uint32_t", "u64": "uint64_t"}


def must(*args):
    r = subprocess.run(args, capture_output=True, text=True)
    if r.returncode:
        sys.exit("%s\n%s%s" % (" ".join(args), r.stdout, r.stderr))


class Simulated:
    """A program that calls entries one after the other, so that it reads its kernels once: for each call it takes the entry's number, the
    seed of the order of warps, dimensions and arrays, and gives the status, its text and the arrays."""
    def __init__(self, source, library, tmp, entries):
        self.program, self.process, self.number, self.why = source + ".exe", None, {e["name"]: i for i, e in enumerate(entries)}, ""
        calls = []
        for i, e in enumerate(entries):
            args, sizes, arrays = [], [], 0         # sizes: what f_workspace takes
            for p in e["params"]:
                scalar = "shape" not in p
                args.append(("*(%s *)arrays[%d]" % (SCALARS[p["type"]], arrays)) if scalar else "(void *)arrays[%d]" % arrays)
                if scalar and p["type"][0] in "iu": sizes.append(args[-1])
                arrays += 1
            dims = ["dim[%d]" % k for k in range(len(e["dims"]))]
            calls.append("case %d: room = %s_workspace(%s); work = sim_memory(room); status = %s_ws(%s); break;" %
                         (i, e["name"], ", ".join(sizes + dims), e["name"], ", ".join(args + dims + ["work", "room", "NULL"])))
        with open(source, "a") as f:
            f.write("""
static void *sim_memory(size_t bytes) { return aligned_alloc(256, (bytes + 511) / 256 * 256); }

static int64_t sim_take(void)
{
	int64_t n;
	if (fread(&n, sizeof n, 1, stdin) != 1) exit(feof(stdin) ? 0 : 2);
	return n;
}

int main(void)
{
	for (;;) {
		char *held[16], *arrays[16] = { 0 }, seed[24];
		int64_t entry = sim_take(), dim[32] = { 0 }, bytes[16], n;
		int status = -1;
		size_t room;
		void *work = NULL;
		snprintf(seed, sizeof seed, "%%lld", (long long)sim_take());
		setenv("CTILE_SIM_SEED", seed, 1);
		n = sim_take();
		for (int i = 0; i < n; i++) dim[i] = sim_take();
		n = sim_take();
		for (int i = 0; i < n; i++) {
			int64_t front = sim_take();
			bytes[i] = sim_take();
			held[i] = sim_memory((size_t)(front + bytes[i]));
			arrays[i] = held[i] + front;
			if (fread(arrays[i], 1, (size_t)bytes[i], stdin) != (size_t)bytes[i]) return 2;
		}
		switch (entry) { %s }
		const char *text = ctile_status_text(status);
		int64_t said[2] = { status, (int64_t)strlen(text) };
		fwrite(said, sizeof said, 1, stdout);
		fwrite(text, 1, strlen(text), stdout);
		for (int i = 0; i < n; i++) fwrite(arrays[i], 1, (size_t)bytes[i], stdout), free(held[i]);
		fflush(stdout);
		free(work);
	}
}
""" % " ".join(calls))
        must("gcc", "-std=gnu11", "-O1", "-w", "-DCT_STEPS=1", "-I" + tmp, "-o", self.program, source, library, "-lm")

    def take(self, n):
        got = self.process.stdout.read(n)
        if len(got) != n:
            sys.exit("%s: the program ends with %d" % (self.program, self.process.wait()))
        return got

    def call(self, entry, arrays, dims, phases=None):
        if not self.process:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        phases = phases or [0] * len(arrays)
        seed = int(os.environ.get("CTILE_SIM_SEED", "0"))
        head = np.array([self.number[entry], seed, len(dims), *dims, len(arrays)], "i8").tobytes()
        try:
            self.process.stdin.write(head)
            for a, phase in zip(arrays, phases):
                self.process.stdin.write(np.array([phase * a.itemsize, a.nbytes], "i8").tobytes() + a.tobytes())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass                    # take says how the program ended
        status, length = np.frombuffer(self.take(16), "i8")
        self.why = self.take(int(length)).decode("utf-8", "replace")
        return int(status), [np.frombuffer(self.take(a.nbytes), a.dtype).reshape(a.shape) for a in arrays]

    def text(self, status):
        return self.why
