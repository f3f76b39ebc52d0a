/* Results of f64, on either target, beside long double: 64 digits, so the reference is good to 2^-10 units. */
#ifndef JUDGE64_H
#define JUDGE64_H

#include <float.h>

#include "measure.h"

#if LDBL_MANT_DIG < 64
#error "f64 is compared with a long double of 64 digits or more"
#endif

static const Format formats[ELEMS] = { { 11, -14, 15, 2 }, { 8, -126, 127, 2 }, { 24, -126, 127, 4 }, { 53, -1022, 1023, 8 } };

static long double reference64(enum Reference which, long double a, long double b)
{
	switch (which) {
#define SAME(name) case REF_##name: return name##l(a);
	SAME(exp) SAME(exp2) SAME(log) SAME(log2) SAME(log10) SAME(log1p) SAME(expm1) SAME(sqrt) SAME(sin) SAME(cos) SAME(tan) SAME(asin)
	SAME(acos) SAME(atan) SAME(sinh) SAME(cosh) SAME(tanh) SAME(erf) SAME(erfc) SAME(cbrt) SAME(ceil) SAME(floor) SAME(round) SAME(rint)
	SAME(trunc)
	case REF_rsqrt: return 1 / sqrtl(a);
	case REF_exp_low: return expl(-fabsl(a));
	case REF_div: return a / b;
	case REF_atan2: return atan2l(a, b);
	case REF_pow: return powl(a, b);
	case REF_hypot: return hypotl(a, b);
	case REF_fmod: return fmodl(a, b);
	default: return NAN;
	}
}

static Verdict judge64(const Row *r, double got, double a, double b)
{
	Verdict v = { 0, 0, -1 };
	long double want = reference64((enum Reference)r->reference, a, b), size = fabsl(want), limit = 0x1p1024L;
	int e;

	if (want != want || got != got) {
		v.fault = (want != want) == (got != got) ? -1 : FAULT_NAN;
		return v;
	}
	frexpl(size, &e);
	e = size < 0x1p-1022L ? -1022 : e - 1 > 1023 ? 1023 : e - 1;
	long double unit = ldexpl(1, e - 52);
	int away = r->direction == NEAREST || (r->direction == TOWARD_NEGATIVE && want < 0) || (r->direction == TOWARD_POSITIVE && want > 0);
	if ((got == 0 || size < unit / 2) && !signbit(got) != !signbit(want)) {
		v.fault = FAULT_SIGN;
		return v;
	}
	if (isinf(want)) {
		v.fault = got == want ? -1 : FAULT_INF;
		return v;
	}
	long double value = got;
	if (isinf(got)) {
		if (!signbit(got) != !signbit(want) || !away || size < limit * (1 - 0x1p-6L)) {
			v.fault = FAULT_INF;
			return v;
		}
		value = copysignl(size < limit ? limit : size, want);
	} else if (!away && size >= limit) {
		v.fault = fabs(got) == DBL_MAX ? -1 : FAULT_INF;
		return v;
	}
	v.ulp = (double)(fabsl(value - want) / unit);
	/* the reference itself is rounded: a direction shows only where more than that lies between */
	if (v.ulp > 0x1p-9 && ((r->direction == TOWARD_ZERO && fabsl(value) > size) || (r->direction == TOWARD_NEGATIVE && value > want)
			|| (r->direction == TOWARD_POSITIVE && value < want)))
		v.fault = FAULT_DIRECTION;
	return v;
}

#endif
