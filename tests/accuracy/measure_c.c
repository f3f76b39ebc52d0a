/*
 * Measures functions of the C target: measure [BITS] [SECONDS] [JOBS]. Of each function with inputs of 32 bits, one or two operands together,
 * 2^BITS inputs (default 32: all), of each of f64 2^22; a line of JSON each. After SECONDS in all (0: no limit) what is left takes part in
 * a quarter of a second each. accuracy.py writes rows.inc.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "measure.h"
#include "kernels.h"
#include "rows.inc"
#include "judge64.h"
#include "report.h"

enum { CHUNK = 1 << 12 };

static const Row rows[] = { ROWS };
enum { ROW_COUNT = sizeof rows / sizeof *rows };

/* ---- references ---- */
#define REFERENCE1(name, text) static double ref_##name(double a, double b) { (void)b; return text; }
#define REFERENCE2(name, text) static double ref_##name(double a, double b) { return text; }
REFERENCES1(REFERENCE1) REFERENCES2(REFERENCE2)
#define POINTER(name, text) ref_##name,
static double (*const references[])(double, double) = { REFERENCES1(POINTER) REFERENCES2(POINTER) };

/* All references of a chunk. With VECTOR_REFERENCES most come four at once from glibc's libmvec, good to 4 units of f64: what they find
 * suspicious is judged again by the functions above. */
#ifdef VECTOR_REFERENCES
#include <immintrin.h>
#define VECTORS1(X) X(exp) X(exp2) X(log) X(log2) X(log10) X(log1p) X(expm1) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) \
	X(tanh) X(erf) X(erfc) X(cbrt)
#define VECTORS2(X) X(atan2) X(pow) X(hypot)
#define DECLARE1(name) __m256d _ZGVdN4v_##name(__m256d);
#define DECLARE2(name) __m256d _ZGVdN4vv_##name(__m256d, __m256d);
VECTORS1(DECLARE1) VECTORS2(DECLARE2)
#define VECTOR1(name) case REF_##name: \
	for (int i = 0; i < CHUNK; i += 4) \
		_mm256_storeu_pd(w + i, _ZGVdN4v_##name(_mm256_loadu_pd(a + i))); \
	return;
#define VECTOR2(name) case REF_##name: \
	for (int i = 0; i < CHUNK; i += 4) \
		_mm256_storeu_pd(w + i, _ZGVdN4vv_##name(_mm256_loadu_pd(a + i), _mm256_loadu_pd(b + i))); \
	return;
#else
#define VECTORS1(X)
#define VECTORS2(X)
#endif
#define PLAIN(name, text) case REF_##name: \
	for (int i = 0; i < CHUNK; i++) \
		w[i] = ref_##name(a[i], b[i]); \
	return;
static void quick_references(enum Reference which, const double *restrict a, const double *restrict b, double *restrict w)
{
	switch (which) {
	VECTORS1(VECTOR1) VECTORS2(VECTOR2)
	default: break;
	}
	switch (which) {
	REFERENCES1(PLAIN) REFERENCES2(PLAIN)
	default: break;
	}
}

/* ---- one function, many threads ---- */
typedef struct Job {
	const Row *r;
	uint64_t chunks, next, limit_ns;
	int bits;        /* 32: inputs in order within a chunk; fewer: scattered */
	Worst worst;
	pthread_mutex_t lock;
} Job;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

typedef struct Buffers {
	uint32_t bits[CHUNK], bits_b[CHUNK];        /* b: of pairs of f32 */
	double a[CHUNK], b[CHUNK], got[CHUNK], want[CHUNK];
	uint64_t suspicious[CHUNK];
	union { uint16_t h[CHUNK]; float f[CHUNK]; double d[CHUNK]; } xa, xb, y;
} Buffers;

/* Input number i of a function of 32 bits in all. */
static uint32_t input_of(const Job *j, uint64_t i) { return j->bits == 32 ? (uint32_t)i : (uint32_t)i * 0x9e3779b1u; }

static void fill(const Job *j, Buffers *u, uint64_t chunk)
{
	const Row *r = j->r;
	uint64_t first = chunk * CHUNK;

	for (int i = 0; i < CHUNK; i++) {
		u->bits[i] = input_of(j, first + (uint64_t)i);
		u->bits_b[i] = u->bits[i] >> 16;
	}
	if (r->in == F64) {
		for (int i = 0; i < CHUNK; i++) {
			u->a[i] = u->xa.d[i] = sample_f64(1, (uint32_t)first + (uint32_t)i, 0);
			u->b[i] = u->xb.d[i] = sample_f64(1, (uint32_t)first + (uint32_t)i, 1);
		}
		return;
	}
	if (r->in < F32) {
		for (int i = 0; i < CHUNK; i++) {
			u->xa.h[i] = (uint16_t)(u->bits[i] &= 0xffff);
			u->xb.h[i] = (uint16_t)u->bits_b[i];
			u->a[i] = element(r->in, u->bits[i]);
			u->b[i] = element(r->in, u->bits_b[i]);
		}
		return;
	}
	for (int i = 0; i < CHUNK && r->arity == 1 && j->bits < 32 && first + (uint64_t)i < EDGES_IN_ALL; i++)
		u->bits[i] = bits_of_float(edge((uint32_t)first + (uint32_t)i));
	for (int i = 0; i < CHUNK && r->arity == 2; i++) {
		float a, b;
		sample_pair(1, (uint32_t)first + (uint32_t)i, &a, &b);
		u->bits[i] = bits_of_float(a);
		u->bits_b[i] = bits_of_float(b);
	}
	memcpy(u->xa.f, u->bits, sizeof u->xa.f);
	memcpy(u->xb.f, u->bits_b, sizeof u->xb.f);
	for (int i = 0; i < CHUNK; i++) {
		u->a[i] = r->flush_in ? flushed(u->xa.f[i]) : (double)u->xa.f[i];
		u->b[i] = r->flush_in ? flushed(u->xb.f[i]) : (double)u->xb.f[i];
	}
}

static void results(const Row *r, Buffers *u)
{
	for (int i = 0; i < CHUNK && r->out == F32; i++)
		u->got[i] = u->y.f[i];
	for (int i = 0; i < CHUNK && r->out == F64; i++)
		u->got[i] = u->y.d[i];
	for (int i = 0; i < CHUNK && r->out < F32; i++)
		u->got[i] = element(r->out, u->y.h[i]);
}

static uint64_t place(const Row *r, const Buffers *u, int i)
{
	return r->in != F32 ? u->bits[i] | (uint64_t)u->bits_b[i] << 16 : u->bits[i] | (uint64_t)u->bits_b[i] << 32;
}

static void judge_chunk_f64(const Row *r, Buffers *u, Worst *w)
{
	for (int i = 0; i < CHUNK; i++) {
		Verdict v = judge64(r, u->got[i], u->a[i], u->b[i]);
		w->inputs++;
		note(w, &v, bits_of(u->a[i]), u->b[i]);
	}
}

/* Normal results with an error below the greatest so far need no more. */
static void find_suspicious(const Row *r, Buffers *u, double least_error)
{
	const Format *f = &formats[r->out];
	double least = power_of_two(f->least), greatest = power_of_two(f->greatest) * 2, unit = power_of_two(1 - f->digits);
	int all = r->r0 != 0 || r->direction != NEAREST || r->divisors;

	for (int i = 0; i < CHUNK; i++) {
		double size = fabs(u->want[i]), binade = of_bits(bits_of(size) & 0x7ff0000000000000u);
		u->suspicious[i] = all | !(size >= least) | !(size < greatest) | !(fabs(u->got[i] - u->want[i]) < least_error * unit * binade);
	}
}

static void judge_chunk(const Row *r, Buffers *u, Worst *w)
{
	quick_references((enum Reference)r->reference, u->a, u->b, u->want);
	find_suspicious(r, u, w->ulp - 0x1p-20);
	for (int i = 0; i < CHUNK; i++) {
		if (out_of_domain(r, u->b[i]))
			continue;
		w->inputs++;
		if (u->suspicious[i]) {
			double want = references[r->reference](u->a[i], u->b[i]);
			Verdict v = judge_result(&formats[r->out], r, u->got[i], want, u->a[i], u->bits[i], u->bits_b[i]);
			note(w, &v, place(r, u, i), u->b[i]);
		}
	}
}

static void join(Worst *into, const Worst *w)
{
	into->inputs += w->inputs;
	if (w->ulp > into->ulp)
		into->ulp = w->ulp, into->ulp_at = w->ulp_at, into->ulp_b = w->ulp_b;
	if (w->part > into->part)
		into->part = w->part, into->part_at = w->part_at, into->part_b = w->part_b;
	for (int k = 0; k < FAULTS; k++) {
		if (!into->faults[k])
			into->fault_at[k] = w->fault_at[k], into->fault_b[k] = w->fault_b[k];
		into->faults[k] += w->faults[k];
	}
}

static void *work(void *ctx)
{
	Job *j = ctx;
	Buffers *u = calloc(1, sizeof *u);
	Worst w = { 0 };
	uint64_t from = now_ns(), order = 0x9e3779b1u | 1;

	for (;;) {
		uint64_t k = __atomic_fetch_add(&j->next, 1, __ATOMIC_RELAXED);
		if (k >= j->chunks || (j->limit_ns && now_ns() - from > j->limit_ns))
			break;
		fill(j, u, j->bits == 32 ? k * order % j->chunks : k);        /* chunks are a power of two: each comes once, far from the last */
		if (j->r->call(&u->xa, &u->xb, &u->y, CHUNK)) {
			fprintf(stderr, "%s %s: no launch\n", j->r->name, j->r->type);
			exit(1);
		}
		results(j->r, u);
		if (j->r->in == F64)
			judge_chunk_f64(j->r, u, &w);
		else
			judge_chunk(j->r, u, &w);
	}
	pthread_mutex_lock(&j->lock);
	join(&j->worst, &w);
	pthread_mutex_unlock(&j->lock);
	free(u);
	return NULL;
}

static void measure(const Row *r, int bits, uint64_t limit_ns, int jobs)
{
	pthread_t threads[256];
	Job j = { .r = r, .bits = bits, .limit_ns = limit_ns, .lock = PTHREAD_MUTEX_INITIALIZER };
	uint64_t all = r->in == F64 ? 1u << (bits < 22 ? bits : 22) : r->arity == 1 && r->in != F32 ? 1u << 16 : 1ull << bits, from = now_ns();

	if (r->arity == 1 && r->in < F32)
		j.bits = 32;
	j.chunks = all / CHUNK;
	for (int i = 0; i < jobs; i++)
		pthread_create(&threads[i], NULL, work, &j);
	for (int i = 0; i < jobs; i++)
		pthread_join(threads[i], NULL);
	report("c", r, all, &j.worst, (double)(now_ns() - from) * 1e-9);
}

static const char *library(void)
{
	static char text[100] = "no glibc";

#ifdef __GLIBC__
	snprintf(text, sizeof text, "glibc %s", gnu_get_libc_version());
#ifdef __x86_64__
	if (__builtin_cpu_supports("fma"))        /* glibc has other functions for these */
		snprintf(text, sizeof text, "glibc %s, x86-64 with FMA", gnu_get_libc_version());
#endif
#endif
	return text;
}

int main(int argc, char **argv)
{
	int bits = argc > 1 ? atoi(argv[1]) : 32, jobs = argc > 3 ? atoi(argv[3]) : 2;
	double seconds = argc > 2 ? atof(argv[2]) : 0;
	uint64_t quarter = 250000000, end = now_ns() + (uint64_t)(seconds * 1e9);

	if (bits < 16 || bits > 32 || jobs < 1 || jobs > 256)
		return 2;
	report_machine("c", library());
	for (int i = 0; i < ROW_COUNT; i++)
		measure(&rows[i], bits, seconds > 0 ? end > now_ns() + quarter ? end - now_ns() : quarter : 0, jobs);
	return 0;
}
