/*
 * What the programs that measure accuracy share (measure_c.c, measure_cuda.cu): number formats, references, the order of
 * inputs, and the judgement of one result.
 *
 * References are double functions of the C library or of CUDA, off by a few units of f64, which are 2^-27 units of f32; fmod
 * is exact, in integers. A result of f64 is compared with long double (measure_c.c).
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define HD __host__ __device__
#else
#define HD
#endif

enum Elem { F16, BF16, F32, F64, ELEMS };
enum Direction { NEAREST, TOWARD_ZERO, TOWARD_NEGATIVE, TOWARD_POSITIVE };
/* What differs beyond an error in units. */
enum Fault { FAULT_NAN, FAULT_INF, FAULT_SIGN, FAULT_DIRECTION, FAULTS };

typedef struct Format { int digits, least, greatest, bytes; } Format;        /* exponents of the least and the greatest normal numbers */

/* One function in one element type. r0 + r1 |a|: the relative error that the table states, or 0. */
typedef struct Row {
	const char *name, *type;
	int reference, arity;
	enum Elem in, out;
	enum Direction direction;
	int flush_in, flush_out, divisors;        /* divisors: the error is stated for those of 2^-126 to 2^126 */
	double r0, r1;
	int (*call)(const void *a, const void *b, void *y, int64_t n);
} Row;

/* Name, reference. */
#define REFERENCES1(X) \
	X(exp, exp(a)) X(exp_low, exp(-fabs(a))) X(exp2, exp2(a)) X(log, log(a)) X(log2, log2(a)) X(log10, log10(a)) X(log1p, log1p(a)) \
	X(expm1, expm1(a)) X(sqrt, sqrt(a)) X(rsqrt, 1 / sqrt(a)) X(sin, sin(a)) X(cos, cos(a)) X(tan, tan(a)) X(asin, asin(a)) \
	X(acos, acos(a)) X(atan, atan(a)) X(sinh, sinh(a)) X(cosh, cosh(a)) X(tanh, tanh(a)) X(erf, erf(a)) X(erfc, erfc(a)) \
	X(cbrt, cbrt(a)) X(ceil, ceil(a)) X(floor, floor(a)) X(round, round(a)) X(rint, rint(a)) X(trunc, trunc(a))
#define REFERENCES2(X) \
	X(div, a / b) X(atan2, atan2(a, b)) X(pow, pow(a, b)) X(hypot, hypot(a, b)) X(fmod, whole_fmod(a, b))
#define REFERENCE_ENUM(name, text) REF_##name,
enum Reference { REFERENCES1(REFERENCE_ENUM) REFERENCES2(REFERENCE_ENUM) REFERENCE_COUNT };

HD static inline uint64_t bits_of(double a)
{
	uint64_t u;
	memcpy(&u, &a, 8);
	return u;
}
HD static inline double of_bits(uint64_t u)
{
	double a;
	memcpy(&a, &u, 8);
	return a;
}
HD static inline double power_of_two(int k) { return of_bits((uint64_t)(k + 1023) << 52); }        /* -1022 to 1023 */
HD static inline float float_of_bits(uint32_t u)
{
	float a;
	memcpy(&a, &u, 4);
	return a;
}
HD static inline uint32_t bits_of_float(float a)
{
	uint32_t u;
	memcpy(&u, &a, 4);
	return u;
}

/* The remainder of numbers of at most 24 digits: (m 2^(i - j)) mod n in integers, by repeated squaring of 2. */
HD static inline double whole_fmod(double a, double b)
{
	int i, j;
	double x = fabs(a), y = fabs(b);

	if (!(x < INFINITY) || !(y > 0))
		return NAN;
	if (x < y || y != y)
		return y != y ? NAN : a;
	uint64_t m = (uint64_t)(frexp(x, &i) * 0x1p24), n = (uint64_t)(frexp(y, &j) * 0x1p24), factor = 2, k;
	m %= n;
	factor %= n;
	for (k = (uint64_t)(i - j); k; k >>= 1) {
		if (k & 1)
			m = m * factor % n;
		factor = factor * factor % n;
	}
	return copysign(ldexp((double)m, j - 24), a);
}

HD static inline double element(enum Elem e, uint32_t bits)        /* of 16 or 32 bits */
{
	if (e == F32)
		return float_of_bits(bits);
	if (e == BF16)
		return float_of_bits(bits << 16);
	int x = bits >> 10 & 31;
	double m = bits & 1023, v = x == 31 ? (m != 0 ? NAN : INFINITY) : x ? (m + 1024) * power_of_two(x - 25) : m * 0x1p-24;
	return bits & 0x8000 ? -v : v;
}

/* ---- the judgement of one result ---- */
typedef struct Verdict {
	double ulp;        /* error in units in the last place of the format, of the reference's binade */
	double part;        /* of the relative error that is stated, where one is */
	int fault;        /* or -1 */
} Verdict;

HD static inline Verdict judge(const Format *f, const Row *r, double got, double want, double a)
{
	Verdict v = { 0, 0, -1 };
	double size = fabs(want), tiny = power_of_two(f->least), limit = f->greatest < 1023 ? power_of_two(f->greatest + 1) : INFINITY;

	if (want != want || got != got) {
		v.fault = (want != want) == (got != got) ? -1 : FAULT_NAN;
		return v;
	}
	if (r->flush_out && size < tiny * (1 + 0x1p-14) && size != 0) {        /* about the border it may go either way */
		if (got == 0 && size >= tiny * (1 - 0x1p-14) && !signbit(got) == !signbit(want))
			return v;
		if (size < tiny * (1 - 0x1p-14))
			size = 0;
	}
	int e = size >= tiny ? (int)(bits_of(size) >> 52) - 1023 : f->least;
	double unit = power_of_two((e > f->greatest ? f->greatest : e) - f->digits + 1);
	if ((got == 0 || size < unit / 2) && !signbit(got) != !signbit(want)) {
		v.fault = FAULT_SIGN;
		return v;
	}
	if (isinf(want)) {
		v.fault = got == want ? -1 : FAULT_INF;
		return v;
	}
	want = copysign(size, want);
	int away = r->direction == NEAREST || (r->direction == TOWARD_NEGATIVE && want < 0) || (r->direction == TOWARD_POSITIVE && want > 0);
	if (isinf(got)) {
		if (!signbit(got) != !signbit(want) || !away || size < limit * (1 - 0x1p-6)) {
			v.fault = FAULT_INF;
			return v;
		}
		got = copysign(size < limit ? limit : size, want);
	} else if (!away && size >= limit) {
		v.fault = fabs(got) == limit - unit ? -1 : FAULT_INF;
		return v;
	}
	v.ulp = fabs(got - want) / unit;
	if (r->r0 != 0) {
		double bound = (r->r0 + r->r1 * fabs(a)) * size + (size < tiny || r->out < F32 ? unit / 2 : 0);
		v.part = got == want ? 0 : fabs(got - want) / bound;
	}
	if ((r->direction == TOWARD_ZERO && fabs(got) > size) || (r->direction == TOWARD_NEGATIVE && got > want)
			|| (r->direction == TOWARD_POSITIVE && got < want))
		v.fault = FAULT_DIRECTION;
	return v;
}

HD static inline double flushed(double a) { return fabs(a) < 0x1p-126 ? copysign(0.0, a) : a; }
HD static inline int out_of_domain(const Row *r, double b) { return r->divisors && !(fabs(b) >= 0x1p-126 && fabs(b) <= 0x1p126); }

HD static inline int is_signalling(enum Elem e, uint32_t bits)
{
	return e == F32 ? (bits & 0x7fc00000) == 0x7f800000 && (bits & 0x3fffff)
		: e == BF16 ? (bits & 0x7fc0) == 0x7f80 && (bits & 0x3f) : (bits & 0x7e00) == 0x7c00 && (bits & 0x1ff);
}

/* The judgement of a result of 16 or 32 bits by its operands' bits. A signalling NaN may give NaN where another would not: pow(1, NaN). */
HD static inline Verdict judge_result(const Format *f, const Row *r, double got, double want, double a, uint32_t a_bits, uint32_t b_bits)
{
	Verdict v = judge(f, r, got, want, a);

	if (v.fault == FAULT_NAN && got != got && (is_signalling(r->in, a_bits) || (r->arity == 2 && is_signalling(r->in, b_bits))))
		v.fault = -1;
	return v;
}

/* ---- inputs ---- */
HD static inline uint64_t scattered(uint64_t x)        /* splitmix64 */
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Where functions change: zeros, subnormal and extreme numbers, about powers of two, ends of ranges, multiples of pi. */
enum { EDGES = 64 };
HD static inline float edge(uint32_t i)
{
	static const float positive[EDGES] = { 0, 0x1p-149f, 0x1.8p-148f, 0x1.fffffcp-127f, 0x1p-126f, 0x1.000002p-126f, 0x1p-125f, 0x1p-102f,
		0x1p-75f, 0x1p-64f, 0x1p-25f, 0x1.000002p-25f, 0x1p-24f, 0x1p-12f, 0x1p-8f, 0.1f, 0.25f, 0x1.555556p-2f, 0x1.fffffep-2f, 0.5f, 0x1.000002p-1f,
		0.5625f, 0x1.6a09e6p-1f, 0.75f, 0x1.fffffcp-1f, 0x1.fffffep-1f, 1, 0x1.000002p0f, 0x1.000004p0f, 1.25f, 0x1.6a09e6p0f, 1.5f, 0x1.921fb6p0f,
		2, 2.5f, 3, 0x1.921fb6p1f, 4, 5, 8, 10, 10.0546875f, 16.5f, 88.7228394f, 88.7228470f, 89.4159851f, 103.972076f, 103.972084f, 126, 127, 128,
		149, 150, 48000.0f, 65504, 65520, 8388607.5f, 16777215.0f, 16777216.0f, 0x1p64f, 0x1.fffffcp125f, 0x1p126f, 0x1p127f, 0x1.fffffep127f };
	float a = i >> 1 >= EDGES ? (i & 2 ? NAN : INFINITY) : positive[i >> 1];

	return i & 1 ? -a : a;
}
enum { EDGES_IN_ALL = 2 * EDGES + 4 };

/* Pair i of the sample of f32, 2^32 in all: all edges with each other, then in turn: any two numbers, two of like exponents, a power
 * within the range, a number near 1 and a power of it within the range. */
HD static inline void sample_pair(uint64_t seed, uint32_t i, float *a, float *b)
{
	uint64_t r = scattered(seed + i);
	uint32_t low = (uint32_t)r, high = (uint32_t)(r >> 32);

	*a = float_of_bits(low);
	*b = float_of_bits(high);
	if (i < EDGES_IN_ALL * EDGES_IN_ALL) {
		*a = edge(i % EDGES_IN_ALL);
		*b = edge(i / EDGES_IN_ALL);
		return;
	}
	if (i % 4 == 1)
		*b = float_of_bits((high & 0x807fffff) | (low & 0x78000000) | (uint32_t)(scattered(r) & 0x07800000));
	if (i % 4 == 3)
		*a = 1 + (float)((double)low / 0x1p32 - 0.5) * float_of_bits(0x3f800000 - ((uint32_t)(scattered(r) & 31) << 23));
	if (i % 4 >= 2)
		*b = (float)(((double)high / 0x1p31 - 1) * 150 / fabs(log2(fabs(*a))));
}

/* Number i of the sample of f64 for operand `which`: edges, any number, one of common size, one near 1, one within the range of exp. */
HD static inline double sample_f64(uint64_t seed, uint32_t i, int which)
{
	uint64_t r = scattered(scattered(seed + i) + (uint64_t)which), s = scattered(r);
	double unit = (double)(r >> 11) * 0x1p-52 - 1;        /* -1 to 1 */

	if (i < EDGES_IN_ALL * EDGES_IN_ALL)
		return edge(which ? i / EDGES_IN_ALL : i % EDGES_IN_ALL);
	switch (i % 4) {
	case 0: return of_bits(r);
	case 1: return of_bits((r & 0x800fffffffffffffu) | (uint64_t)(1023 - 20 + (int)(s % 30)) << 52);
	case 2: return 1 + unit * power_of_two(-(int)(s & 31));
	default: return unit * 760;
	}
}

/* ---- the answer ---- */
typedef struct Worst {
	double ulp, part;
	uint64_t ulp_at, part_at;        /* bits of the input; below 64 bits the second operand's above the first's */
	double ulp_b, part_b, fault_b[FAULTS];        /* of f64: the second operand */
	uint64_t inputs, faults[FAULTS], fault_at[FAULTS];
} Worst;

#endif
