/*
 * Measures functions of the CUDA target: all inputs of one operand and all pairs of 16 bits, 2^32 pairs of f32, 2^22 inputs of f64 (those are
 * judged on the host). A line of JSON for each function. accuracy.py writes kernels.h and rows.inc.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "answer.h"
#include "kernels.h"
#include "rows.inc"
#include "judge64.h"
#include "report.h"

#define DECLARE(part) Launch launch_##part;
DECLARE(0) DECLARE(1) DECLARE(2) DECLARE(3) DECLARE(4) DECLARE(5) DECLARE(6) DECLARE(7)
Launch *const launches[PARTS] = { launch_0, launch_1, launch_2, launch_3, launch_4, launch_5, launch_6, launch_7 };

static const Row rows[] = { ROWS };
static const int64_t CHUNK = 1 << 28;
static const uint32_t SAMPLE_F64 = 1u << 22;
static void *xa, *xb, *y;
static Answer *answer;

static void must(cudaError_t e, const char *what)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
		exit(1);
	}
}

__global__ void fill(enum Elem e, int arity, uint64_t first, int64_t n, void *a, void *b)
{
	for (int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; k < n; k += (int64_t)gridDim.x * blockDim.x) {
		uint32_t i = (uint32_t)(first + (uint64_t)k);
		if (e != F32) {
			((uint16_t *)a)[k] = (uint16_t)i;
			((uint16_t *)b)[k] = (uint16_t)(i >> 16);
		} else if (arity == 1)
			((uint32_t *)a)[k] = i;
		else
			sample_pair(1, i, (float *)a + k, (float *)b + k);
	}
}

static void call(const Row *r, int64_t n)
{
	if (r->call(xa, xb, y, n)) {
		fprintf(stderr, "%s %s: no launch\n", r->name, r->type);
		exit(1);
	}
}

/* The operands of input i, as report() wants them. */
static uint64_t operands(const Row *r, uint64_t i)
{
	uint32_t a = 0, b = 0;

	fill<<<1, 1>>>(r->in, r->arity, i, 1, xa, xb);
	must(cudaMemcpy(&a, xa, formats[r->in].bytes, cudaMemcpyDeviceToHost), "copy");
	must(cudaMemcpy(&b, xb, formats[r->in].bytes, cudaMemcpyDeviceToHost), "copy");
	return r->arity == 1 ? a : a | (uint64_t)b << (r->in == F32 ? 32 : 16);
}

static double error_of(unsigned long long packed) { return float_of_bits((uint32_t)(packed >> 32)); }

static Worst all_inputs(const Row *r, uint64_t all)
{
	Answer h = { 0, 0, 0, { 0 }, { ~0ull, ~0ull, ~0ull, ~0ull } };
	Worst w;

	memset(&w, 0, sizeof w);
	must(cudaMemcpy(answer, &h, sizeof h, cudaMemcpyHostToDevice), "copy");
	for (uint64_t at = 0; at < all; at += CHUNK) {
		int64_t n = all - at < (uint64_t)CHUNK ? (int64_t)(all - at) : CHUNK;
		fill<<<2048, 256>>>(r->in, r->arity, at, n, xa, xb);
		call(r, n);
		Task t = { *r, formats[r->out], xa, xb, y, at, n, answer };
		launches[r->reference % PARTS](&t);
	}
	must(cudaDeviceSynchronize(), r->name);
	must(cudaMemcpy(&h, answer, sizeof h, cudaMemcpyDeviceToHost), "copy");
	w.inputs = h.inputs;
	w.ulp = error_of(h.ulp);
	w.ulp_at = operands(r, h.ulp & 0xffffffffu);
	w.part = error_of(h.part);
	w.part_at = operands(r, h.part & 0xffffffffu);
	for (int k = 0; k < FAULTS; k++) {
		w.faults[k] = h.faults[k];
		if (h.faults[k])
			w.fault_at[k] = operands(r, h.fault_at[k]);
	}
	return w;
}

static void sampled_f64(const Row *r, Worst *w)
{
	static double a[SAMPLE_F64], b[SAMPLE_F64], got[SAMPLE_F64];

	for (uint32_t i = 0; i < SAMPLE_F64; i++) {
		a[i] = sample_f64(1, i, 0);
		b[i] = sample_f64(1, i, 1);
	}
	must(cudaMemcpy(xa, a, sizeof a, cudaMemcpyHostToDevice), "copy");
	must(cudaMemcpy(xb, b, sizeof b, cudaMemcpyHostToDevice), "copy");
	call(r, SAMPLE_F64);
	must(cudaMemcpy(got, y, sizeof got, cudaMemcpyDeviceToHost), "copy");
	memset(w, 0, sizeof *w);
	w->inputs = SAMPLE_F64;
	for (uint32_t i = 0; i < SAMPLE_F64; i++) {
		Verdict v = judge64(r, got[i], a[i], b[i]);
		note(w, &v, bits_of(a[i]), b[i]);
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(void)
{
	struct cudaDeviceProp p;
	int driver = 0;
	char text[256];

	must(cudaGetDeviceProperties(&p, 0), "no device");
	must(cudaDriverGetVersion(&driver), "no driver");
	snprintf(text, sizeof text, "%s, nvcc %d.%d.%d, driver for CUDA %d.%d", p.name, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__,
		driver / 1000, driver / 10 % 100);
	report_machine("cuda", text);
	must(cudaMalloc(&xa, CHUNK * 4), "memory");
	must(cudaMalloc(&xb, CHUNK * 4), "memory");
	must(cudaMalloc(&y, CHUNK * 4), "memory");
	must(cudaMalloc(&answer, sizeof *answer), "memory");
	for (const Row *r = rows; r < rows + sizeof rows / sizeof *rows; r++) {
		uint64_t all = r->in == F64 ? SAMPLE_F64 : r->arity == 1 && r->in != F32 ? 1u << 16 : 1ull << 32;
		double from = now();
		Worst w;
		if (r->in == F64)
			sampled_f64(r, &w);
		else
			w = all_inputs(r, all);
		report("cuda", r, all, &w, now() - from);
	}
	return 0;
}
