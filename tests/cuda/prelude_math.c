/* The mathematical functions of f32 that the CUDA target computes itself, run on the host: their own text (cuda.inc, each
 * ct_<name> called cu_<name>) over the C target's functions in place of single instructions (c.inc). What the hardware only
 * approximates is exact here, or off by the error that PTX states for it, in either direction: the functions must keep the
 * error that they state in all those cases. Operands: every STRIDE-th bit pattern of f32, and edges. The reference is the C
 * library's double function. rows.inc: ROW1(name, ulp) and ROW2(name, ulp). */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "c.inc"

enum { STRIDE = 1021, PAIRS = 1 << 22 };        /* 4.2 million operands */
static double ex2_off, rcp_off, rsqrt_off;        /* errors of the moment, in units of the last place */

static float flush(float a) { return fabsf(a) < 0x1p-126f ? copysignf(0, a) : a; }
static float off(double exact, double units)
{
	int e = 0;
	frexp(exact, &e);
	return flush((float)(isfinite(exact) && exact >= 0x1p-126 ? exact + units * ldexp(1, e - 24) : exact));
}
static float cu_exp2_f32_ftz(float a) { return off(exp2(flush(a)), ex2_off); }
static float cu_rcp_f32_ftz(float a) { return off(1 / (double)flush(a), rcp_off); }
static float cu_rsqrt_f32_ftz(float a) { return off(1 / sqrt(flush(a)), rsqrt_off); }
static float cu_lg2_f32(float a) { return (float)(log2(a) + ex2_off * 0x1p-23); }
static float cu_lg2_f32_ftz(float a) { return cu_lg2_f32(flush(a)); }
static float cu_fma_f32_sat(float a, float b, float c) { return fminf(fmaxf(fmaf(a, b, c), 0), 1); }
#include "cuda.inc"

/* of operands that are not above 0 */
static float cu_exp_low_f32(float a) { return cu_exp_f32_low(-fabsf(a)); }
static double exp_low(double a) { return exp(-fabs(a)); }

static void approximate(int how)
{
	static const double signs[5][3] = { { 0, 0, 0 }, { 1, 1, 1 }, { -1, -1, -1 }, { 1, -1, -1 }, { -1, 1, 1 } };
	ex2_off = signs[how][0];        /* and the rounding to f32: 1.5 ulp, as CUDA's own expf, 1 ulp, needs at least */
	rcp_off = signs[how][1] * 0.5;        /* 1 ulp */
	rsqrt_off = signs[how][2] * 1.5;        /* 2 ulp */
}

/* Units in the last place of the rounded reference; 1e9 for another kind of value or sign. */
static double distance(float got, double want)
{
	float nearest = (float)want;
	if (want != want || got != got)
		return want != want && got != got ? 0 : 1e9;
	if ((want == 0 || nearest == 0 || got == 0) && signbit(got) != signbit(nearest))
		return 1e9;
	if (want == 0 || isinf(want))
		return got == nearest ? 0 : 1e9;
	int e;
	frexp(want, &e);
	double unit = ldexp(1, e < -125 ? -149 : e > 128 ? 104 : e - 24), top = isinf(got) ? copysign(0x1p128, got) : got;
	return fabs(top - (fabs(want) > 0x1p128 ? copysign(0x1p128, want) : want)) / unit;
}

static int failures, functions;
typedef struct Worst { double ulp; float a, b; int how; } Worst;

static void note(Worst *w, double ulp, float a, float b, int how)
{
	if (ulp > w->ulp)
		*w = (Worst){ ulp, a, b, how };
}

static void report(const char *name, double bound, const Worst *w)
{
	functions++;
	failures += !(w->ulp <= bound);
	printf("%s%s: %.3f ulp of at most %g, at %a %a, approximations %d\n", w->ulp <= bound ? "" : "FAIL ", name, w->ulp, bound,
		(double)w->a, (double)w->b, w->how);
}

static const float edges[] = { 0, 0x1p-149f, 0x1.fffffcp-127f, 0x1p-126f, 0x1p-64f, 0x1p-25f, 0x1p-24f, 0x1p-12f, 0.25f, 0x1.fffffep-2f, 0.5f,
	0x1.000002p-1f, 0.5625f, 0x1.fffffep-1f, 1, 0x1.000002p0f, 1.5f, 2, 3, 4, 5, 10, 16777215.0f, 16777216.0f, 0x1p31f, 0x1p64f, 0x1.fffffcp125f, 0x1p126f,
	0x1p127f, 0x1.fffffep127f, INFINITY, NAN, 88.7228394f, 88.7228470f, 103.972076f, 103.972084f, 89.4159851f, 89.4159927f, 10.0546875f, 48000.0f };
enum { EDGES = sizeof edges / sizeof *edges };

static void one(const char *name, float (*f)(float), double (*exact)(double), double bound)
{
	Worst w = { 0, 0, 0, 0 };
	int how = 0;
	for (uint64_t i = 0; i < 1ull << 32; i += STRIDE, how++) {
		float a = ct_bits_f32_u32((uint32_t)i);
		approximate(how % 5);
		note(&w, distance(f(a), exact(a)), a, 0, how % 5);
	}
	for (int i = 0; i < 2 * EDGES; i++) {
		float a = i & 1 ? -edges[i / 2] : edges[i / 2];
		approximate(i / 2 % 5);
		note(&w, distance(f(a), exact(a)), a, 0, i / 2 % 5);
	}
	report(name, bound, &w);
}

/* Pairs: edges with edges, near powers of each other, and like exponents. */
static void two(const char *name, float (*f)(float, float), double (*exact)(double, double), double bound)
{
	Worst w = { 0, 0, 0, 0 };
	uint64_t r = 88172645463325252ull;
	for (int i = 0; i < PAIRS; i++) {
		r ^= r << 13;
		r ^= r >> 7;
		r ^= r << 17;
		float a = ct_bits_f32_u32((uint32_t)r), b = ct_bits_f32_u32((uint32_t)(r >> 32));
		if (i < 4 * EDGES * EDGES) {
			a = i & 1 ? -edges[i / 4 % EDGES] : edges[i / 4 % EDGES];
			b = i & 2 ? -edges[i / 4 / EDGES] : edges[i / 4 / EDGES];
		} else if (i % 4 == 1)        /* like exponents */
			b = ct_bits_f32_u32(((uint32_t)(r >> 32) & 0x807fffff) | ((uint32_t)r & 0x78000000) | ((uint32_t)(r >> 40) & 0x07800000));
		else if (i % 4 == 2)        /* a power within the range */
			b = (float)(((double)(uint32_t)(r >> 32) / 0x1p31 - 1) * 150 / fabs(log2(a)));
		else if (i % 4 == 3) {
			a = 1 + (float)((double)(uint32_t)r / 0x1p32 - 0.5) * ct_bits_f32_u32(0x3f800000 - (uint32_t)(r >> 60 << 23));
			b = (float)(((double)(uint32_t)(r >> 32) / 0x1p31 - 1) * 150 / fabs(log2(a)));
		}
		approximate(i % 5);
		note(&w, distance(f(a, b), exact(a, b)), a, b, i % 5);
	}
	report(name, bound, &w);
}

/* Of integers, whose reciprocal is one too small or right: each length of both, edges of each. */
static void quotients(void)
{
	uint64_t r = 1;
	int wrong = 0;
	for (int i = 0; i < PAIRS; i++) {
		r = r * 6364136223846793005u + 1442695040888963407u;
		uint32_t d = (uint32_t)(r >> 32) >> i % 32, times = (uint32_t)(r >> 8) >> i / 32 % 32;
		if (!d) d = 1;
		uint32_t n = i & 1024 ? times : times % (0xffffffffu / d) * d - (i & 2048 ? 1 : 0);
		wrong += cu_quotient(n, d) != n / d;
	}
	if (wrong) printf("quotient: %d of %d are wrong\n", wrong, PAIRS);
	failures += wrong != 0;
}

#define ROW1(name, ulp) one(#name, cu_##name##_f32, name, ulp);
#define ROW2(name, ulp) two(#name, cu_##name##_f32, name, ulp);
int main(void)
{
#include "rows.inc"
	quotients();
	printf("mathematics of CUDA on the host: %d functions, %d failures\n", functions, failures);
	return failures != 0 || functions < 10;
}
