/*
 * What every sample's main shares: a seeded generator, 16-bit floats in plain C, and the checks. Everything
 * here is host code that knows nothing of the compiler, so that it can serve as the reference.
 */
#ifndef SAMPLES_COMMON_SAMPLE_H
#define SAMPLES_COMMON_SAMPLE_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

/* A small linear congruential generator; the high bits are good enough for test data. */
static inline uint32_t rnd_u32(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 32);
}

/* Uniform in [-1, 1), a multiple of 2^-23: exact in f32. */
static inline float rnd_f32(uint64_t *seed)
{
	return (float)((int32_t)(rnd_u32(seed) >> 8) - (1 << 23)) / (float)(1 << 23);
}

static inline void *host_alloc(size_t bytes)
{
	void *p = calloc(bytes ? bytes : 1, 1);

	if (!p) {
		fprintf(stderr, "cannot allocate %zu bytes\n", bytes);
		exit(2);
	}
	return p;
}

static inline float *rnd_array(size_t count, uint64_t seed)
{
	float *a = (float *)host_alloc(count * sizeof *a);
	size_t i;

	for (i = 0; i < count; i++)
		a[i] = rnd_f32(&seed);
	return a;
}

/* Allocates on the device and copies. */
static inline void *dev_copy_of(const void *host, size_t bytes)
{
	void *d = dev_alloc(bytes);

	dev_upload(d, host, bytes);
	return d;
}

/* f32 to binary16 or bfloat16: nearest, ties to even. */
static inline uint16_t f16_from(float x)
{
	uint32_t u, sign, mant, rest, half;
	int32_t exp;

	memcpy(&u, &x, 4);
	sign = u >> 16 & 0x8000u;
	exp = (int32_t)(u >> 23 & 255);
	mant = u & 0x7fffffu;
	if (exp == 255)
		return (uint16_t)(sign | 0x7c00u | (mant ? 0x200u : 0));
	exp -= 112;
	if (exp >= 31)
		return (uint16_t)(sign | 0x7c00u);
	if (exp < -10)
		return (uint16_t)sign;
	if (exp <= 0) {	/* subnormal: shift the significand, its hidden bit included */
		mant |= 0x800000u;
		half = mant >> (14 - exp);
		rest = mant << (18 + exp);
	} else {
		half = (uint32_t)exp << 10 | mant >> 13;
		rest = mant << 19;
	}
	if (rest > 0x80000000u || (rest == 0x80000000u && (half & 1)))
		half++;	/* a carry into the exponent is right, up to infinity */
	return (uint16_t)(sign | half);
}

/* The exponent and fraction as those of an f32, which is then off by a power of two. */
static inline float f16_to(uint16_t h)
{
	uint32_t u = (uint32_t)(h & 0x7fff) << 13;
	float x;

	memcpy(&x, &u, 4);
	x = u < 31u << 23 ? x * 0x1p112f : u == 31u << 23 ? INFINITY : NAN;
	return h & 0x8000 ? -x : x;
}

static inline uint16_t bf16_from(float x)
{
	uint32_t u;

	memcpy(&u, &x, 4);
	if (x != x)
		return (uint16_t)(u >> 16 | 0x40u);
	return (uint16_t)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}

static inline float bf16_to(uint16_t h)
{
	uint32_t u = (uint32_t)h << 16;
	float x;

	memcpy(&x, &u, 4);
	return x;
}

/* The element types of the samples' arrays, for mains that test several. */
enum elem { ELEM_F32, ELEM_F16, ELEM_BF16 };

static inline const char *elem_name(enum elem e)
{
	return e == ELEM_F32 ? "f32" : e == ELEM_F16 ? "f16" : "bf16";
}

static inline size_t elem_size(enum elem e)
{
	return e == ELEM_F32 ? 4 : 2;
}

/* Half a unit in the last place, relative. */
static inline double elem_eps(enum elem e)
{
	return e == ELEM_F32 ? 0x1p-24 : e == ELEM_F16 ? 0x1p-11 : 0x1p-8;
}

static inline float elem_get(enum elem e, const void *a, size_t i)
{
	return e == ELEM_F32 ? ((const float *)a)[i] : e == ELEM_F16 ? f16_to(((const uint16_t *)a)[i])
		: bf16_to(((const uint16_t *)a)[i]);
}

/* All elements as floats, which hold them exactly. */
static inline float *elem_floats(enum elem e, const void *a, size_t count)
{
	float *f = (float *)host_alloc(count * sizeof *f);
	size_t i;

	for (i = 0; i < count; i++)
		f[i] = elem_get(e, a, i);
	return f;
}

static inline void elem_set(enum elem e, void *a, size_t i, float x)
{
	if (e == ELEM_F32)
		((float *)a)[i] = x;
	else
		((uint16_t *)a)[i] = e == ELEM_F16 ? f16_from(x) : bf16_from(x);
}

static inline void *rnd_elems(enum elem e, size_t count, uint64_t seed)
{
	void *a = host_alloc(count * elem_size(e));
	size_t i;

	for (i = 0; i < count; i++)
		elem_set(e, a, i, rnd_f32(&seed));
	return a;
}

/* Collects the largest error and whether any element passed its bound. A NaN passes no bound. */
struct check {
	double max_error;
	size_t wrong, first;
	double got, want;
};

static inline void check_value(struct check *c, size_t i, double got, double want, double bound)
{
	double e = got == want ? 0 : fabs(got - want);

	if (e > c->max_error)
		c->max_error = e;
	if (!(e <= bound) && c->wrong++ == 0) {
		c->first = i;
		c->got = got;
		c->want = want;
	}
}

/* Prints the sample's one line; the result is main's contribution to the exit status. */
static inline int check_report(const struct check *c, const char *name, const char *size)
{
	if (c->wrong) {
		printf("%s: %s, WRONG: %zu elements, first at %zu: got %.9g, expected %.9g\n", name, size, c->wrong,
			c->first, c->got, c->want);
		return 1;
	}
	printf("%s: %s, ok, max error %.3g\n", name, size, c->max_error);
	return 0;
}

/* A call that must succeed did not: says so. */
static inline int status_report(const char *name, const char *size, int status, const char *text)
{
	printf("%s: %s, FAILED with status %d: %s\n", name, size, status, text);
	return 1;
}

/* A call that must be refused: its status and a word its text must hold. */
static inline int refusal_report(const char *name, const char *size, int status, const char *text,
	const char *word)
{
	if (status == 0 || !strstr(text, word)) {
		printf("%s: %s, WRONG: expected a refusal that names `%s`, got %d: %s\n", name, size, word, status,
			text);
		return 1;
	}
	printf("%s: %s, ok, refused: %s\n", name, size, text);
	return 0;
}

#endif
