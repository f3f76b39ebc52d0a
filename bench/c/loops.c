/* The C target against straightforward C loops: same compiler, same flags, same threads, values checked in the run.
 * Ours and theirs alternate in every round; the figure is the median of the rounds' ratios (theirs / ours: 1 is equal,
 * 0.5 is half as fast), with the least and the greatest. Built and run by bench/c/run.sh. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gemm.h"
#include "layer_norm.h"
#include "saxpy.h"
#include "softmax.h"

enum { ROUNDS = 9 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float *filled(size_t n, unsigned seed)
{
	float *p = aligned_alloc(64, (n * sizeof *p + 63) / 64 * 64);
	if (!p) exit(1);
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		p[i] = (float)(seed >> 8) * 0x1p-23f - 1.0f;
	}
	return p;
}

/* ---- the loops anyone would write ---- */
static void c_saxpy(int64_t n, float alpha, const float *x, float *y)
{
#pragma omp parallel for
	for (int64_t i = 0; i < n; i++) y[i] = alpha * x[i] + y[i];
}

static void c_softmax(int64_t rows, int64_t cols, const float *x, float *y)
{
#pragma omp parallel for
	for (int64_t r = 0; r < rows; r++) {
		const float *a = x + r * cols;
		float *b = y + r * cols, max = -INFINITY, sum = 0;
		for (int64_t i = 0; i < cols; i++) max = a[i] > max ? a[i] : max;
		for (int64_t i = 0; i < cols; i++) sum += b[i] = expf(a[i] - max);
		for (int64_t i = 0; i < cols; i++) b[i] /= sum;
	}
}

static void c_layer_norm(int64_t rows, int64_t cols, const float *x, const float *w, const float *bias, float eps, float *y)
{
#pragma omp parallel for
	for (int64_t r = 0; r < rows; r++) {
		const float *a = x + r * cols;
		float *b = y + r * cols, mean = 0, var = 0;
		for (int64_t i = 0; i < cols; i++) mean += a[i];
		mean /= (float)cols;
		for (int64_t i = 0; i < cols; i++) var += (a[i] - mean) * (a[i] - mean);
		float rstd = 1.0f / sqrtf(var / (float)cols + eps);
		for (int64_t i = 0; i < cols; i++) b[i] = (a[i] - mean) * rstd * w[i] + bias[i];
	}
}

/* b is column-major, as in the sample: both operands run along k. */
static void c_gemm(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c)
{
#pragma omp parallel for
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < n; j++) {
			float s = 0;
			for (int64_t p = 0; p < k; p++) s += a[i * k + p] * b[j * k + p];
			c[i * n + j] = s;
		}
}

/* ---- measuring ---- */
typedef struct Case { const char *name; int64_t n[3]; } Case;
static float *A, *B, *W, *OURS, *THEIRS;

static int ours(const Case *c)
{
	const int64_t *n = c->n;
	if (!strcmp(c->name, "saxpy")) return saxpy(1.0001f, A, OURS, n[0], NULL);
	if (!strcmp(c->name, "softmax")) return softmax_f32(A, OURS, n[0], n[1], NULL);
	if (!strcmp(c->name, "layer_norm")) return layer_norm_f32(A, W, B, OURS, 1e-5f, n[0], n[1], NULL);
	return gemm_f32(A, B, OURS, n[0], n[1], n[2], NULL);
}

static void theirs(const Case *c)
{
	const int64_t *n = c->n;
	if (!strcmp(c->name, "saxpy")) c_saxpy(n[0], 1.0001f, A, THEIRS);
	else if (!strcmp(c->name, "softmax")) c_softmax(n[0], n[1], A, THEIRS);
	else if (!strcmp(c->name, "layer_norm")) c_layer_norm(n[0], n[1], A, W, B, 1e-5f, THEIRS);
	else c_gemm(n[0], n[1], n[2], A, B, THEIRS);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int run(const Case *c)
{
	int gemm = !strcmp(c->name, "gemm"), line = !strcmp(c->name, "saxpy");
	size_t out = (size_t)(line ? c->n[0] : c->n[0] * c->n[1]), in = gemm ? (size_t)(c->n[0] * c->n[2]) : out;
	double ratio[ROUNDS], mine[ROUNDS], worst = 0;
	A = filled(in, 1);
	B = filled(gemm ? (size_t)(c->n[1] * c->n[2]) : out, 2);
	W = filled(out, 3);
	OURS = filled(out, 4);
	THEIRS = filled(out, 4);
	for (int r = -1; r < ROUNDS; r++) {     /* the first is a warm-up */
		double t[2] = { 0, 0 };
		for (int side = 0; side < 2; side++) {
			int us = side ^ (r & 1);
			double start = now();
			if (us) {
				int s = ours(c);
				if (s) return printf("%s: %s\n", c->name, ctile_status_text(s)), 1;
			} else {
				theirs(c);
			}
			t[us] = now() - start;
		}
		if (r >= 0) ratio[r] = t[0] / t[1], mine[r] = t[1];
	}
	for (size_t i = 0; i < out; i++) {
		double e = fabs((double)OURS[i] - (double)THEIRS[i]) / (1.0 + fabs((double)THEIRS[i]));
		if (!(e <= worst)) worst = e;
	}
	qsort(ratio, ROUNDS, sizeof *ratio, by_value);
	qsort(mine, ROUNDS, sizeof *mine, by_value);
	printf("%-10s %9lld %6lld %6lld  %9.3f ms  theirs/ours %.2f (%.2f to %.2f)  max error %.1e%s\n", c->name, (long long)c->n[0],
		(long long)c->n[1], (long long)c->n[2], 1e3 * mine[ROUNDS / 2], ratio[ROUNDS / 2], ratio[0], ratio[ROUNDS - 1], worst,
		worst < 1e-4 ? "" : "  WRONG");
	free(A), free(B), free(W), free(OURS), free(THEIRS);
	return !(worst < 1e-4);
}

int main(void)
{
	static const Case cases[] = {
		{ "saxpy", { 1 << 25, 1, 1 } }, { "saxpy", { 1000003, 1, 1 } }, { "softmax", { 4096, 1024, 1 } }, { "softmax", { 4096, 1000, 1 } },
		{ "softmax", { 256, 16384, 1 } }, { "layer_norm", { 4096, 1024, 1 } }, { "layer_norm", { 512, 8192, 1 } },
		{ "layer_norm", { 4096, 1000, 1 } }, { "gemm", { 512, 512, 512 } }, { "gemm", { 1024, 1024, 1024 } }, { "gemm", { 500, 300, 700 } },
	};
	int failed = 0;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) failed |= run(&cases[i]);
	return failed;
}
