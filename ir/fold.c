/* See fold.h. Integers by hand; floats through exact.c, or through double where one more rounding cannot matter. */
#include "ir/fold.h"

#include <math.h>
#include <string.h>

#include "ir/exact.h"

/* ---- numbers ---- */

Num num_int(int64_t v) { return (Num){ .i = v }; }
Num num_float(double v) { return (Num){ .f = isnan(v) ? NAN : v }; }

static bool is_flt(Elem e)
{
	return !elem_is_ptr(e) && elem_is_any_float(e);
}

Num num_zero(Elem e)
{
	(void)e;
	return (Num){ 0 };
}

Num num_one(Elem e)
{
	return is_flt(e) ? num_float(1) : num_int(1);
}

int elem_bits(Elem e)
{
	return e == EL_BOOL ? 1 : 8 * elem_bytes(e);
}

Num num_wrap(Elem e, uint64_t bits)
{
	int w = elem_bits(e);
	if (w < 64) {
		bits &= (UINT64_C(1) << w) - 1;
		if (elem_is_signed(e) && bits >> (w - 1)) bits |= ~((UINT64_C(1) << w) - 1);
	}
	int64_t v;
	memcpy(&v, &bits, sizeof v);
	return num_int(v);
}

bool num_is_true(Elem e, Num n)
{
	return is_flt(e) ? n.f != 0 : n.i != 0;
}

Num num_least(Elem e)
{
	if (is_flt(e)) return num_float(-num_greatest(e).f);
	return elem_is_signed(e) ? num_wrap(e, UINT64_C(1) << (elem_bits(e) - 1)) : num_int(0);
}

Num num_greatest(Elem e)
{
	if (is_flt(e)) {
		Num n;
		exact_round(exact_f64(0x1.fffffffffffffp1023), e, ROUND_ZERO, &n);
		return n;
	}
	uint64_t all = elem_bits(e) == 64 ? UINT64_MAX : (UINT64_C(1) << elem_bits(e)) - 1;
	return num_wrap(e, elem_is_signed(e) ? all >> 1 : all);
}

/* ---- bits ---- */

typedef struct Format { int exp_bits, frac_bits, bias, shift; } Format;

static Format format_of(Elem e)
{
	switch (e) {
	case EL_F16: return (Format){ 5, 10, 15, 0 };
	case EL_BF16: return (Format){ 8, 7, 127, 0 };
	case EL_TF32: return (Format){ 8, 10, 127, 13 };        /* the low bits of the 32 are zero */
	case EL_F8E4M3: return (Format){ 4, 3, 7, 0 };
	case EL_F8E5M2: return (Format){ 5, 2, 15, 0 };
	case EL_F32: return (Format){ 8, 23, 127, 0 };
	default: return (Format){ 11, 52, 1023, 0 };
	}
}

static uint64_t special_bits(Elem e, Format f, double v)
{
	uint64_t top = (UINT64_C(1) << f.exp_bits) - 1;
	if (e == EL_F8E4M3) return 0x7f;                /* one NaN, no infinity */
	return isnan(v) ? top << f.frac_bits | UINT64_C(1) << (f.frac_bits - 1) : top << f.frac_bits;
}

uint64_t num_bits(Elem e, Num n)
{
	if (e == EL_BOOL) return n.i != 0;
	if (!is_flt(e))
		return elem_bytes(e) == 8 ? (uint64_t)n.i : (uint64_t)n.i & ((UINT64_C(1) << 8 * elem_bytes(e)) - 1);
	Format f = format_of(e);
	uint64_t bits = 0, sign = signbit(n.f) && !isnan(n.f);
	if (isnan(n.f) || isinf(n.f)) {
		bits = special_bits(e, f, n.f);
	} else if (n.f != 0) {
		int x;
		double m = frexp(fabs(n.f), &x);        /* m in [1/2, 1) */
		int exp = x - 1 + f.bias;
		if (exp >= 1)
			bits = (uint64_t)exp << f.frac_bits | ((uint64_t)ldexp(m, f.frac_bits + 1)
				& ((UINT64_C(1) << f.frac_bits) - 1));
		else bits = (uint64_t)ldexp(m, f.frac_bits + exp);
	}
	return (bits | sign << (f.exp_bits + f.frac_bits)) << f.shift;
}

Num num_from_bits(Elem e, uint64_t bits)
{
	if (e == EL_BOOL) return num_int((bits & 0xff) != 0);
	if (!is_flt(e)) return num_wrap(e, bits);
	Format f = format_of(e);
	bits >>= f.shift;
	uint64_t frac = bits & ((UINT64_C(1) << f.frac_bits) - 1);
	int exp = (int)(bits >> f.frac_bits & ((UINT64_C(1) << f.exp_bits) - 1));
	bool neg = bits >> (f.exp_bits + f.frac_bits) & 1, top = exp == (1 << f.exp_bits) - 1;
	double v;
	if (e == EL_F8E4M3 && top && frac == 7) return num_float(NAN);
	if (e != EL_F8E4M3 && top) v = frac ? NAN : INFINITY;
	else if (exp) v = ldexp((double)(frac | UINT64_C(1) << f.frac_bits), exp - f.bias - f.frac_bits);
	else v = ldexp((double)frac, 1 - f.bias - f.frac_bits);
	return num_float(neg ? -v : v);
}

bool num_same(Elem e, Num a, Num b)
{
	return num_bits(e, a) == num_bits(e, b);
}

/* ---- casts ---- */

enum { OVER_DEFAULT, OVER_SATURATE, OVER_INF, OVER_NAN, OVER_WRAP };

static Num to_int(const Exact *x, Elem to, int overflow)
{
	if (exact_is_nan(x)) return num_int(0);
	const Exact *t = exact_trunc(x);
	if (overflow == OVER_WRAP) return num_wrap(to, exact_low_bits(t));
	if (exact_cmp(t, exact_num(to, num_least(to))) < 0) return num_least(to);
	if (exact_cmp(t, exact_num(to, num_greatest(to))) > 0) return num_greatest(to);
	return num_wrap(to, exact_low_bits(t));
}

static double overflow_value(double v, Elem to, int overflow)
{
	double big = num_greatest(to).f;
	if (overflow == OVER_NAN) return NAN;
	if (overflow == OVER_INF) return v < 0 ? -INFINITY : INFINITY;
	return v < 0 ? -big : big;
}

static Num to_float(const Exact *x, Elem to, FoldModes m)
{
	Num n;
	bool over = exact_round(x, to, m.rounding, &n) & EXACT_OVERFLOW || exact_is_inf(x),
		fp8 = to == EL_F8E4M3 || to == EL_F8E5M2;
	if (!over || (m.overflow == OVER_DEFAULT && !fp8)) return num_float(n.f);
	return num_float(overflow_value(exact_is_neg(x) ? -1 : 1, to, m.overflow));
}

Num fold_cast(Num x, Elem from, Elem to, FoldModes m)
{
	if (from == to && (!is_flt(to) || m.overflow == OVER_DEFAULT)) return x;
	if (to == EL_BOOL) return num_int(num_is_true(from, x));
	if (elem_is_ptr(from) || elem_is_ptr(to)) return x;
	bool ff = is_flt(from), ft = is_flt(to);
	if (!ff && !ft && m.overflow != OVER_SATURATE) return num_wrap(to, (uint64_t)x.i);
	if (ff && !ft && m.rounding == ROUND_TIES_EVEN) x = num_float(rint(x.f));
	const Exact *v = exact_num(from, x);
	return ft ? to_float(v, to, m) : to_int(v, to, m.overflow);
}

bool fold_fits(Num x, Elem from, Elem to)
{
	if (to == EL_BOOL || from == to || elem_is_ptr(from) || elem_is_ptr(to)) return true;
	const Exact *v = exact_num(from, x);
	if (is_flt(to)) {
		Num n;
		return !(exact_round(v, to, ROUND_NEAREST, &n) & EXACT_OVERFLOW) && !(to == EL_F8E4M3 && exact_is_inf(v));
	}
	v = exact_trunc(v);
	return !exact_is_nan(v) && exact_cmp(v, exact_num(to, num_least(to))) >= 0 &&
		exact_cmp(v, exact_num(to, num_greatest(to))) <= 0;
}

/* ---- integers ---- */

static uint64_t low(Elem e, Num n)              /* the value bits, zero-extended */
{
	int w = elem_bits(e);
	return w == 64 ? (uint64_t)n.i : (uint64_t)n.i & ((UINT64_C(1) << w) - 1);
}

static Num int_div(Elem e, Num x, Num y, Num *rem)
{
	*rem = num_int(0);
	if (!y.i) return num_int(0);
	if (!elem_is_signed(e)) {
		*rem = num_wrap(e, low(e, x) % low(e, y));
		return num_wrap(e, low(e, x) / low(e, y));
	}
	if (y.i == -1) return num_wrap(e, 0 - (uint64_t)x.i);
	*rem = num_int(x.i % y.i);
	return num_int(x.i / y.i);
}

static Num int_floor(Elem e, Num x, Num y, bool mod)
{
	Num r, q = int_div(e, x, y, &r);
	bool down = r.i && elem_is_signed(e) && (r.i < 0) != (y.i < 0);
	if (mod) return down ? num_int(r.i + y.i) : r;
	return down ? num_int(q.i - 1) : q;
}

static Num int_ceil(Elem e, Num x, Num y)
{
	Num r, q = int_div(e, x, y, &r);
	bool up = r.i && (!elem_is_signed(e) || (r.i < 0) == (y.i < 0));
	return up ? num_wrap(e, (uint64_t)q.i + 1) : q;
}

static uint64_t high64(uint64_t a, uint64_t b)
{
	uint64_t al = a & 0xffffffff, ah = a >> 32, bl = b & 0xffffffff, bh = b >> 32;
	uint64_t mid = (al * bl >> 32) + (ah * bl & 0xffffffff) + al * bh;
	return ah * bh + (ah * bl >> 32) + (mid >> 32);
}

static Num int_mulhi(Elem e, Num x, Num y, bool sign)
{
	int w = elem_bits(e);
	uint64_t a = low(e, x), b = low(e, y);
	uint64_t hi = w == 64 ? high64(a, b) : w == 32 ? a * b >> 32 : a * b >> w;
	if (sign) {     /* each negative operand contributes -2^w times the other */
		if (a >> (w - 1)) hi -= b;
		if (b >> (w - 1)) hi -= a;
	}
	return num_wrap(e, hi);
}

static bool int_less(Elem e, Num x, Num y)
{
	return elem_is_signed(e) ? x.i < y.i : (uint64_t)x.i < (uint64_t)y.i;
}

static Num int_sat(Elem e, Num x, Num y, bool sub)
{
	uint64_t r = sub ? (uint64_t)x.i - (uint64_t)y.i : (uint64_t)x.i + (uint64_t)y.i;
	Num n = num_wrap(e, r);
	if (!elem_is_signed(e)) {
		if (sub) return int_less(e, x, y) ? num_int(0) : n;
		return int_less(e, n, x) ? num_greatest(e) : n;
	}
	bool neg_y = sub ? y.i >= 0 : y.i < 0;          /* whether the step goes down; y == 0 never overflows */
	if (!y.i) return x;
	if (neg_y && n.i > x.i) return num_least(e);
	return !neg_y && n.i < x.i ? num_greatest(e) : n;
}

static Num int_shift(OpCode code, Elem e, Num x, Num y)
{
	int w = elem_bits(e), s = (int)((uint64_t)y.i % (unsigned)w);
	if (code == OP_SHL) return num_wrap(e, low(e, x) << s);
	uint64_t r = low(e, x) >> s;
	if (elem_is_signed(e) && x.i < 0 && s) r |= ~(UINT64_MAX >> s) | ~((UINT64_C(1) << (w - s)) - 1);
	return num_wrap(e, r);
}

static Num int_bits(OpCode code, Elem e, Num x)
{
	int w = elem_bits(e), n = 0;
	uint64_t v = low(e, x), r = 0;
	for (int i = 0; i < w; i++) {
		if (v >> i & 1) r |= UINT64_C(1) << (w - 1 - i);
		n += (int)(v >> i & 1);
	}
	if (code == OP_BITREVERSE) return num_wrap(e, r);
	if (code == OP_POPCOUNT) return num_wrap(e, (uint64_t)n);
	uint64_t from_low = code == OP_CTZ ? v : r;     /* the leading zeros of v are the trailing ones of its reverse */
	int z = 0;
	while (z < w && !(from_low >> z & 1)) z++;
	return num_wrap(e, (uint64_t)z);
}

static bool fold_int(OpCode code, Elem e, const Num *in, Num *out)
{
	Num x = in[0], y = in[1], r;
	uint64_t a = (uint64_t)x.i, b = (uint64_t)y.i;
	switch (code) {
	case OP_ADD: *out = num_wrap(e, e == EL_BOOL ? a | b : a + b); break;       /* true + true is 2, so true */
	case OP_SUB: *out = num_wrap(e, a - b); break;
	case OP_MUL: *out = num_wrap(e, a * b); break;
	case OP_DIV: *out = int_div(e, x, y, &r); break;
	case OP_REM: int_div(e, x, y, out); break;
	case OP_CEILDIV: *out = int_ceil(e, x, y); break;
	case OP_FLOORDIV: *out = int_floor(e, x, y, false); break;
	case OP_FLOORMOD: *out = int_floor(e, x, y, true); break;
	case OP_NEG: *out = num_wrap(e, 0 - a); break;
	case OP_ABS: *out = elem_is_signed(e) && x.i < 0 ? num_wrap(e, 0 - a) : x; break;
	case OP_MULHI: *out = int_mulhi(e, x, y, false); break;
	case OP_MULHI_SIGNED: *out = int_mulhi(e, x, y, true); break;
	case OP_MIN: *out = int_less(e, y, x) ? y : x; break;
	case OP_MAX: *out = int_less(e, x, y) ? y : x; break;
	case OP_AND: *out = num_wrap(e, a & b); break;
	case OP_OR: *out = num_wrap(e, a | b); break;
	case OP_XOR: *out = num_wrap(e, a ^ b); break;
	case OP_NOT: *out = num_wrap(e, ~a); break;
	case OP_SHL: case OP_SHR: *out = int_shift(code, e, x, y); break;
	case OP_POPCOUNT: case OP_CLZ: case OP_CTZ: case OP_BITREVERSE: *out = int_bits(code, e, x); break;
	case OP_ADD_SAT: *out = int_sat(e, x, y, false); break;
	case OP_SUB_SAT: *out = int_sat(e, x, y, true); break;
	default: return false;
	}
	return true;
}

static bool compare_int(OpCode code, Elem e, Num x, Num y, bool *r)
{
	switch (code) {
	case OP_EQ: *r = x.i == y.i; return true;
	case OP_NE: *r = x.i != y.i; return true;
	case OP_LT: *r = int_less(e, x, y); return true;
	case OP_LE: *r = !int_less(e, y, x); return true;
	case OP_GT: *r = int_less(e, y, x); return true;
	case OP_GE: *r = !int_less(e, x, y); return true;
	default: return false;
	}
}

static bool compare_flt(OpCode code, double x, double y, bool *r)
{
	switch (code) {
	case OP_EQ: *r = x == y; return true;
	case OP_NE: *r = x != y; return true;
	case OP_LT: *r = x < y; return true;
	case OP_LE: *r = x <= y; return true;
	case OP_GT: *r = x > y; return true;
	case OP_GE: *r = x >= y; return true;
	case OP_ISNAN: *r = isnan(x); return true;
	case OP_ISINF: *r = isinf(x); return true;
	case OP_ISFINITE: *r = isfinite(x); return true;
	case OP_SIGNBIT: *r = signbit(x); return true;
	default: return false;
	}
}

/* ---- floats ---- */

static double round_to(double v, Elem e)
{
	Num n;
	exact_round(exact_f64(v), e, ROUND_NEAREST, &n);
	return n.f;
}

static double flush(double v)
{
	return v != 0 && fabs(v) < 0x1p-126 ? copysign(0, v) : v;
}

static double flt_min(double x, double y, int nan, bool max)
{
	if (isnan(x) || isnan(y)) return nan || (isnan(x) && isnan(y)) ? NAN : isnan(x) ? y : x;
	if (x == y) return signbit(x) == max ? y : x;   /* +0 is greater than -0 */
	return (x < y) == max ? y : x;
}

/* IEEE basic operations on special values, which do not depend on rounding. */
static double basic_f64(OpCode code, double x, double y, double z)
{
	switch (code) {
	case OP_ADD: return x + y;
	case OP_SUB: return x - y;
	case OP_MUL: return x * y;
	case OP_DIV: return x / y;
	case OP_FMA: return fma(x, y, z);
	default: return sqrt(x);
	}
}

static const Exact *basic_exact(OpCode code, const Exact *x, const Exact *y, const Exact *z)
{
	switch (code) {
	case OP_ADD: return exact_add(x, y);
	case OP_SUB: return exact_sub(x, y);
	case OP_MUL: return exact_mul(x, y);
	case OP_DIV: return exact_div(x, y);
	default: return exact_add(exact_mul(x, y), z);
	}
}

static bool basic_flt(OpCode code, Elem e, int rounding, const Num *in, double *out)
{
	if (rounding > ROUND_UP) return false;
	int n = code == OP_FMA ? 3 : code == OP_SQRT ? 1 : 2;
	double x = in[0].f, y = n > 1 ? in[1].f : 0, z = n > 2 ? in[2].f : 0;
	double d = basic_f64(code, x, y, z);
	bool special = !isfinite(x) || !isfinite(y) || !isfinite(z) || (code == OP_DIV && y == 0);
	if (special || (e == EL_F64 && rounding == ROUND_NEAREST)) {
		*out = d;
		return true;
	}
	Num r;
	if (code == OP_SQRT) {
		exact_round_sqrt(exact_f64(x), e, rounding, &r);
		*out = r.f;
		return true;
	}
	const Exact *v = basic_exact(code, exact_f64(x), exact_f64(y), exact_f64(z));
	if (!v) return false;
	exact_round(v, e, rounding, &r);
	*out = r.f;
	if (!exact_is_zero(v)) return true;
	*out = d == 0 ? d : 0;  /* the sign of an exact zero; a cancellation gives -0 when rounding down */
	bool sum = code == OP_ADD || code == OP_SUB || code == OP_FMA;
	if (sum && rounding == ROUND_DOWN && !signbit(*out)) {
		double p = code == OP_FMA ? x * y : x, q = code == OP_FMA ? z : code == OP_SUB ? -y : y;
		if (p != 0 || signbit(p) != signbit(q)) *out = -0.0;
	}
	return true;
}

static double round_half_away(double x)
{
	double t = trunc(x);
	return fabs(x - t) >= 0.5 ? t + copysign(1, x) : copysign(t, x);
}

static double round_half_even(double x)
{
	double t = trunc(x), f = fabs(x - t);
	bool away = f > 0.5 || (f == 0.5 && fmod(t, 2) != 0);
	return copysign(away ? t + copysign(1, x) : t, x);
}

/* Results that are values of the format already. */
static bool choosing_flt(OpCode code, FoldModes m, const Num *in, double *out)
{
	double x = in[0].f;
	switch (code) {
	case OP_NEG: *out = -x; break;
	case OP_ABS: *out = fabs(x); break;
	case OP_MIN: *out = flt_min(x, in[1].f, m.nan, false); break;
	case OP_MAX: *out = flt_min(x, in[1].f, m.nan, true); break;
	case OP_COPYSIGN: *out = copysign(x, in[1].f); break;
	case OP_REM: case OP_FMOD: *out = fmod(x, in[1].f); break;
	case OP_CEIL: *out = ceil(x); break;
	case OP_FLOOR: *out = floor(x); break;
	case OP_TRUNC: *out = trunc(x); break;
	case OP_ROUND: *out = isfinite(x) ? round_half_away(x) : x; break;
	case OP_RINT: *out = isfinite(x) ? round_half_even(x) : x; break;
	default: return false;
	}
	return true;
}

static bool math_flt(OpCode code, const Num *in, double *out)
{
	double x = in[0].f;
	switch (code) {
	case OP_EXP: *out = exp(x); break;
	case OP_EXP2: *out = exp2(x); break;
	case OP_LOG: *out = log(x); break;
	case OP_LOG2: *out = log2(x); break;
	case OP_LOG10: *out = log10(x); break;
	case OP_LOG1P: *out = log1p(x); break;
	case OP_EXPM1: *out = expm1(x); break;
	case OP_RSQRT: *out = 1 / sqrt(x); break;
	case OP_SIN: *out = sin(x); break;
	case OP_COS: *out = cos(x); break;
	case OP_TAN: *out = tan(x); break;
	case OP_ASIN: *out = asin(x); break;
	case OP_ACOS: *out = acos(x); break;
	case OP_ATAN: *out = atan(x); break;
	case OP_SINH: *out = sinh(x); break;
	case OP_COSH: *out = cosh(x); break;
	case OP_TANH: *out = tanh(x); break;
	case OP_ATAN2: *out = atan2(x, in[1].f); break;
	case OP_POW: *out = pow(x, in[1].f); break;
	case OP_HYPOT: *out = hypot(x, in[1].f); break;
	case OP_ERF: *out = erf(x); break;
	case OP_ERFC: *out = erfc(x); break;
	case OP_CBRT: *out = cbrt(x); break;
	default: return false;
	}
	return true;
}

static bool fold_flt(OpCode code, FoldModes m, Elem e, int n, const Num *given, Num *out)
{
	Num in[3];
	for (int i = 0; i < n && i < 3; i++) in[i] = m.subnormals ? num_float(flush(given[i].f)) : given[i];
	double r;
	bool basic = code == OP_ADD || code == OP_SUB || code == OP_MUL || code == OP_DIV || code == OP_FMA
		|| code == OP_SQRT;
	if (basic) {
		if (!basic_flt(code, e, m.rounding, in, &r)) return false;
	} else if (!choosing_flt(code, m, in, &r)) {
		int full = attr_word(AT_ROUNDING, str_intern("full"));
		if ((m.rounding && m.rounding != full) || !math_flt(code, in, &r)) return false;
		r = round_to(r, e);
	}
	*out = num_float(m.subnormals ? flush(r) : r);
	return true;
}

/* ---- operations ---- */

FoldModes fold_modes(const Op *op)
{
	return (FoldModes){
		.rounding = (int)ir_int(op, AT_ROUNDING, 0), .subnormals = (int)ir_int(op, AT_SUBNORMALS, 0),
		.nan = (int)ir_int(op, AT_NAN, 0), .overflow = (int)ir_int(op, AT_OVERFLOW, 0)
	};
}

bool fold_is_exact(OpCode code)
{
	if (!(op_rows[code].flags & OPF_MATH)) return true;
	switch (code) {
	case OP_SQRT: case OP_FMOD: case OP_CEIL: case OP_FLOOR: case OP_ROUND: case OP_RINT: case OP_TRUNC: return true;
	default: return false;
	}
}

bool fold_op(OpCode code, FoldModes m, Elem e, Elem r, int n, const Num *in, Num *out)
{
	bool random = op_rows[code].flags & OPF_RANDOM;
	bool truth;
	Num two[2] = { in[0], n > 1 ? in[1] : (Num){ 0 } };
	if (!(op_rows[code].flags & OPF_ELEMWISE) || random || code == OP_HINT) return false;
	switch (code) {
	case OP_SELECT: *out = in[0].i ? in[1] : in[2]; return true;
	case OP_CAST: *out = fold_cast(in[0], e, r, m); return true;
	case OP_BITCAST: *out = num_from_bits(r, num_bits(e, in[0])); return true;
	case OP_PTR_ADD: case OP_PTR_DIFF: return false;
	default: break;
	}
	if (is_flt(e) ? compare_flt(code, two[0].f, two[1].f, &truth) : compare_int(code, e, two[0], two[1], &truth)) {
		*out = num_int(truth);
		return true;
	}
	if (elem_is_ptr(e)) return false;
	return is_flt(e) ? fold_flt(code, m, e, n, in, out) : fold_int(code, e, two, out);
}

bool fold_known(const Op *op, Val *const *in, Num *out)
{
	enum { MOST = 3 };
	Num n[MOST];
	bool exact = op_has(op, OPF_ELEMWISE) && fold_is_exact(op->code);
	if (!exact || !op->nin || op->nin > MOST) return false;
	for (int i = 0; i < op->nin; i++)
		if (!ir_const_value(in[i], &n[i])) return false;
	Elem e = in[op->code == OP_SELECT]->type->elem;
	return fold_op(op->code, fold_modes(op), e, op->out[0]->type->elem, op->nin, n, out);
}
