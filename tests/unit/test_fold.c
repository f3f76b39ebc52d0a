/* Exact constants and constant evaluation: literals against the C library and against bit patterns worked out by hand,
 * arithmetic of narrow floats against all rounding directions by definition, integers against 128-bit arithmetic. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "ir/exact.h"
#include "ir/fold.h"

static int failures;
#define CHECK(c) ((c) ? (void)0 : (void)(failures++, printf("%s:%d: %s\n", __FILE__, __LINE__, #c)))

static uint64_t seed = 88172645463325252u;
static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* ---- literals ---- */

static void literal_is(const char *text, Elem e, uint64_t bits)
{
	Num n;
	exact_round(exact_parse(text), e, ROUND_NEAREST, &n);
	if (num_bits(e, n) == bits) return;
	failures++;
	printf("%s as %s: got %llx, want %llx\n", text, elem_name(e), (unsigned long long)num_bits(e, n), (unsigned long long)bits);
}

static void literals(void)
{
	literal_is("1.0", EL_F16, 0x3c00);
	literal_is("65504.0", EL_F16, 0x7bff);
	literal_is("65519.99", EL_F16, 0x7bff);
	literal_is("65520.0", EL_F16, 0x7c00);
	literal_is("5.9604644775390625e-8", EL_F16, 1);
	literal_is("2.98023223876953125e-8", EL_F16, 0);
	literal_is("2.9802322387695313e-8", EL_F16, 1);
	literal_is("0.1", EL_BF16, 0x3dcd);
	literal_is("0.1", EL_F32, 0x3dcccccd);
	literal_is("16777217", EL_F32, 0x4b800000);
	literal_is("3.4028235677973367e38", EL_F32, 0x7f800000);
	literal_is("3.4028235677973366e38", EL_F32, 0x7f7fffff);
	literal_is("1.401298464324817e-45", EL_F32, 1);
	literal_is("0x1.8p3", EL_F32, 0x41400000);
	literal_is("0x1.00000100000000000001p0", EL_F32, 0x3f800001);
	literal_is("0x1.000001p0", EL_F32, 0x3f800000);
	literal_is("448.0", EL_F8E4M3, 0x7e);
	literal_is("0.001953125", EL_F8E4M3, 1);
	literal_is("57344.0", EL_F8E5M2, 0x7b);
	literal_is("1.0009765625", EL_TF32, 0x3f802000);
	literal_is("1.00048828125", EL_TF32, 0x3f802000);          /* tf32: ties away from zero, as cvt.rna */
	literal_is("2.2250738585072011e-308", EL_F64, 0x000fffffffffffffu);
	literal_is("1.7976931348623157e308", EL_F64, 0x7fefffffffffffffu);
	literal_is("1.7976931348623159e308", EL_F64, 0x7ff0000000000000u);
	CHECK(!exact_parse("1.0e99999999999"));
	CHECK(!exact_parse("1.0e9000"));
	CHECK(exact_is_zero(exact_parse("0.0e99999")));
	for (int i = 0; i < 3000; i++) {
		char text[64];
		snprintf(text, sizeof text, "%llu.%llue%d", (unsigned long long)(next() >> 40), (unsigned long long)(next() >> 20), (int)(next() % 600) - 300);
		Num n;
		exact_round(exact_parse(text), EL_F64, ROUND_NEAREST, &n);
		if (n.f != strtod(text, NULL)) failures++, printf("%s: %.17g\n", text, n.f);
		exact_round(exact_parse(text), EL_F32, ROUND_NEAREST, &n);
		if (n.f != (double)strtof(text, NULL)) failures++, printf("%s as f32: %.9g\n", text, n.f);
	}
}

static void exact_arithmetic(void)
{
	const Exact *third = exact_div(exact_i64(1), exact_i64(3)), *one = exact_i64(1);
	CHECK(exact_cmp(exact_mul(third, exact_i64(3)), one) == 0);
	CHECK(exact_cmp(exact_add(third, exact_add(third, third)), one) == 0);
	CHECK(exact_cmp(exact_sub(exact_parse("0.3"), exact_parse("0.1")), exact_parse("0.2")) == 0);
	CHECK(exact_cmp(exact_rem(exact_neg(exact_parse("7.5")), exact_i64(2)), exact_neg(exact_parse("1.5"))) == 0);
	CHECK(!exact_div(one, exact_i64(0)));
	CHECK(exact_is_nan(exact_sub(exact_inf(false), exact_inf(false))));
	CHECK(exact_is_nan(exact_mul(exact_inf(false), exact_i64(0))));
	CHECK(exact_cmp(exact_nan(), one) == 2 && exact_cmp(exact_inf(true), one) == -1);
	CHECK(exact_is_neg(exact_mul(exact_neg(exact_i64(0)), one)));
	CHECK(exact_is_int(exact_parse("2.5e1")) && !exact_is_int(exact_parse("2.5")));
	uint64_t u;
	int64_t i;
	CHECK(exact_to_u64(exact_u64(UINT64_MAX), &u) && u == UINT64_MAX);
	CHECK(!exact_to_i64(exact_u64(UINT64_MAX), &i) && !exact_to_u64(exact_i64(-1), &u));
	CHECK(exact_to_i64(exact_i64(INT64_MIN), &i) && i == INT64_MIN);
	CHECK(!exact_to_i64(exact_sub(exact_i64(INT64_MIN), one), &i));
	CHECK(exact_text(exact_parse("1.0e-5")) == str_intern("1e-05") && exact_text(exact_i64(-12)) == str_intern("-12"));
	CHECK(exact_low_bits(exact_neg(exact_parse("1.5"))) == UINT64_MAX);
	const Exact *far = exact_parse("0x1.0p9000");
	CHECK(far && exact_cmp(far, exact_parse("0x1.0p-9000")) == 1 && exact_cmp(exact_neg(far), one) == -1);
}

/* ---- bits ---- */

static void bits(void)
{
	static const Elem small[] = { EL_F16, EL_BF16, EL_F8E4M3, EL_F8E5M2 };
	for (int k = 0; k < 4; k++) {
		uint64_t n = UINT64_C(1) << (8 * elem_bytes(small[k]));
		for (uint64_t b = 0; b < n; b++) {
			Num v = num_from_bits(small[k], b);
			if (!isnan(v.f)) CHECK(num_bits(small[k], v) == b);
		}
	}
	for (int i = 0; i < 100000; i++) {
		uint32_t b = (uint32_t)next();
		uint64_t d = next();
		float f;
		double g;
		memcpy(&f, &b, 4);
		memcpy(&g, &d, 8);
		if (!isnan(f)) CHECK(num_from_bits(EL_F32, b).f == (double)f && num_bits(EL_F32, num_float(f)) == b);
		if (!isnan(g)) CHECK(num_bits(EL_F64, num_float(g)) == d && num_bits(EL_F64, num_from_bits(EL_F64, d)) == d);
	}
	CHECK(num_bits(EL_F32, num_float(NAN)) == 0x7fc00000 && num_bits(EL_F16, num_float(NAN)) == 0x7e00);
	CHECK(num_bits(EL_F8E4M3, num_float(NAN)) == 0x7f && num_bits(EL_F64, num_float(-INFINITY)) == 0xfff0000000000000u);
	CHECK(num_bits(EL_TF32, num_float(1)) == 0x3f800000 && num_from_bits(EL_BOOL, 7).i == 1);
	CHECK(num_bits(EL_I16, num_int(-2)) == 0xfffe && num_from_bits(EL_I16, 0xfffe).i == -2);
}

/* ---- casts ---- */

static void cast_is(Elem from, double v, Elem to, int rounding, int overflow, uint64_t want)
{
	Num x = elem_is_any_float(from) ? num_float(v) : num_int((int64_t)v);
	Num r = fold_cast(x, from, to, (FoldModes){ .rounding = rounding, .overflow = overflow });
	if (num_bits(to, r) == want) return;
	failures++;
	printf("%s %g to %s: got %llx, want %llx\n", elem_name(from), v, elem_name(to), (unsigned long long)num_bits(to, r),
		(unsigned long long)want);
}

enum { SATURATE = 1, INF, NAN_, WRAP };

static void casts(void)
{
	cast_is(EL_F32, 3.9, EL_I32, 0, 0, 3);
	cast_is(EL_F32, -3.9, EL_I32, 0, 0, 0xfffffffd);
	cast_is(EL_F32, 1e20, EL_I32, 0, 0, 0x7fffffff);
	cast_is(EL_F32, NAN, EL_I32, 0, 0, 0);
	cast_is(EL_F32, -1, EL_U8, 0, 0, 0);
	cast_is(EL_F32, 300, EL_U8, 0, 0, 255);
	cast_is(EL_F32, 300, EL_U8, 0, WRAP, 44);
	cast_is(EL_F64, 18446744073709551615.0, EL_U64, 0, 0, UINT64_MAX);
	cast_is(EL_F64, -INFINITY, EL_I64, 0, 0, 0x8000000000000000u);
	cast_is(EL_F64, INFINITY, EL_I64, 0, WRAP, 0);
	cast_is(EL_I32, 300, EL_U8, 0, 0, 44);
	cast_is(EL_I32, 300, EL_U8, 0, SATURATE, 255);
	cast_is(EL_I32, -1, EL_U64, 0, 0, UINT64_MAX);
	cast_is(EL_I32, 2, EL_BOOL, 0, 0, 1);
	cast_is(EL_F32, -0.0, EL_BOOL, 0, 0, 0);
	cast_is(EL_F32, NAN, EL_BOOL, 0, 0, 1);
	cast_is(EL_F32, 0.25, EL_BOOL, 0, 0, 1);
	cast_is(EL_I32, 16777217, EL_F32, 0, 0, 0x4b800000);
	cast_is(EL_I32, 16777217, EL_F32, ROUND_UP, 0, 0x4b800001);
	cast_is(EL_F64, 1e6, EL_F16, 0, 0, 0x7c00);
	cast_is(EL_F64, 1e6, EL_F16, ROUND_ZERO, 0, 0x7bff);
	cast_is(EL_F64, 1e6, EL_F16, 0, SATURATE, 0x7bff);
	cast_is(EL_F64, INFINITY, EL_F16, 0, SATURATE, 0x7bff);
	cast_is(EL_F64, -1e6, EL_F16, 0, NAN_, 0x7e00);
	cast_is(EL_F32, 1e9, EL_F8E4M3, 0, 0, 0x7e);
	cast_is(EL_F32, -INFINITY, EL_F8E4M3, 0, 0, 0xfe);
	cast_is(EL_F32, NAN, EL_F8E4M3, 0, 0, 0x7f);
	cast_is(EL_F32, 464, EL_F8E4M3, 0, 0, 0x7e);
	cast_is(EL_F32, 1e9, EL_F8E4M3, 0, NAN_, 0x7f);
	cast_is(EL_F32, INFINITY, EL_F8E5M2, 0, 0, 0x7b);
	cast_is(EL_F32, INFINITY, EL_F8E5M2, 0, INF, 0x7c);
	cast_is(EL_F32, 17, EL_F8E4M3, 0, 0, 0x58);
	cast_is(EL_F32, 19, EL_F8E4M3, 0, 0, 0x5a);
	cast_is(EL_F32, 1.00048828125, EL_TF32, 0, 0, 0x3f802000);
	cast_is(EL_U64, 0, EL_F16, 0, 0, 0);
	CHECK(num_bits(EL_F16, fold_cast(num_int(-1), EL_U64, EL_F16, (FoldModes){ 0 })) == 0x7c00);
	CHECK(fold_fits(num_int(255), EL_I32, EL_U8) && !fold_fits(num_int(256), EL_I32, EL_U8));
	CHECK(!fold_fits(num_float(NAN), EL_F32, EL_I32) && fold_fits(num_float(-0.5), EL_F32, EL_U8));
}

/* ---- integers ---- */

__extension__ typedef __int128 wide;

static wide value(Elem e, Num n)
{
	return elem_is_signed(e) ? (wide)n.i : (wide)(uint64_t)n.i;
}

static wide floor_div(wide a, wide b)
{
	wide q = a / b;
	return a % b && (a < 0) != (b < 0) ? q - 1 : q;
}

static Num op2(OpCode op, Elem e, Num x, Num y)
{
	Num r = { 0 };
	CHECK(fold_op(op, (FoldModes){ 0 }, e, e, 2, (Num[]){ x, y }, &r));
	return r;
}

/* What arithmetic leaves of an exact result: the low bits; of bool, whether it is not zero. */
static Num wrapped(Elem e, uint64_t v) { return e == EL_BOOL ? num_int(v != 0) : num_wrap(e, v); }

static void integer_pair(Elem e, Num x, Num y)
{
	wide a = value(e, x), b = value(e, y), lo = value(e, num_least(e)), hi = value(e, num_greatest(e));
	int w = elem_bits(e);
	wide mask = ((wide)1 << w) - 1;
	CHECK(op2(OP_ADD, e, x, y).i == wrapped(e, (uint64_t)(a + b)).i);
	CHECK(op2(OP_SUB, e, x, y).i == wrapped(e, (uint64_t)(a - b)).i);
	CHECK(op2(OP_MUL, e, x, y).i == wrapped(e, (uint64_t)x.i * (uint64_t)y.i).i);
	CHECK(op2(OP_DIV, e, x, y).i == wrapped(e, (uint64_t)(b ? a / b : 0)).i);
	CHECK(op2(OP_REM, e, x, y).i == wrapped(e, (uint64_t)(b ? a % b : 0)).i);
	CHECK(op2(OP_FLOORDIV, e, x, y).i == wrapped(e, (uint64_t)(b ? floor_div(a, b) : 0)).i);
	CHECK(op2(OP_FLOORMOD, e, x, y).i == wrapped(e, (uint64_t)(b ? a - b * floor_div(a, b) : 0)).i);
	CHECK(op2(OP_CEILDIV, e, x, y).i == wrapped(e, (uint64_t)(b ? -floor_div(-a, b) : 0)).i);
	CHECK(op2(OP_MIN, e, x, y).i == (a < b ? x : y).i && op2(OP_MAX, e, x, y).i == (a < b ? y : x).i);
	wide sat = a + b < lo ? lo : a + b > hi ? hi : a + b, dif = a - b < lo ? lo : a - b > hi ? hi : a - b;
	CHECK(value(e, op2(OP_ADD_SAT, e, x, y)) == sat && value(e, op2(OP_SUB_SAT, e, x, y)) == dif);
	__extension__ typedef unsigned __int128 uwide;
	uwide product = (uwide)(a & mask) * (uwide)(b & mask);
	CHECK(op2(OP_MULHI, e, x, y).i == num_wrap(e, (uint64_t)(product >> w)).i);
	if (elem_is_signed(e)) CHECK(op2(OP_MULHI_SIGNED, e, x, y).i == num_wrap(e, (uint64_t)((a * b) >> w)).i);
	int s = (int)((uint64_t)y.i % (unsigned)w);
	CHECK(op2(OP_SHL, e, x, y).i == num_wrap(e, (uint64_t)x.i << s).i);
	CHECK(op2(OP_SHR, e, x, y).i == num_wrap(e, (uint64_t)(a >> s)).i);
}

static void integers(void)
{
	static const Elem types[] = { EL_BOOL, EL_I8, EL_U8, EL_I16, EL_U16, EL_I32, EL_U32, EL_I64, EL_U64 };
	for (int t = 0; t < 9; t++) {
		Elem e = types[t];
		Num edge[8] = { num_int(0), num_one(e), num_wrap(e, UINT64_MAX), num_least(e), num_greatest(e), num_wrap(e, 2),
			num_wrap(e, (uint64_t)num_least(e).i + 1), num_wrap(e, 7) };
		for (int i = 0; i < 8; i++)
			for (int k = 0; k < 8; k++) integer_pair(e, edge[i], edge[k]);
		for (int i = 0; i < 2000; i++) integer_pair(e, num_wrap(e, next()), num_wrap(e, next() >> (next() % 64)));
	}
	Num x = num_int(-1171259281), y = num_int(-1170105035), r;
	CHECK(op2(OP_MULHI, EL_I32, x, y).i == -2022270762 && op2(OP_MULHI_SIGNED, EL_I32, x, y).i == 319093554);
	CHECK(op2(OP_ADD, EL_U8, num_int(200), num_int(100)).i == 44);
	CHECK(op2(OP_DIV, EL_I32, num_int(INT32_MIN), num_int(-1)).i == INT32_MIN);
	CHECK(op2(OP_DIV, EL_I64, num_int(INT64_MIN), num_int(-1)).i == INT64_MIN);
	CHECK(fold_op(OP_ABS, (FoldModes){ 0 }, EL_I8, EL_I8, 1, (Num[]){ num_int(-128) }, &r) && r.i == -128);
	CHECK(fold_op(OP_NEG, (FoldModes){ 0 }, EL_U8, EL_U8, 1, (Num[]){ num_int(1) }, &r) && r.i == 255);
	CHECK(fold_op(OP_CLZ, (FoldModes){ 0 }, EL_I16, EL_I16, 1, (Num[]){ num_int(1) }, &r) && r.i == 15);
	CHECK(fold_op(OP_CLZ, (FoldModes){ 0 }, EL_U64, EL_U64, 1, (Num[]){ num_int(0) }, &r) && r.i == 64);
	CHECK(fold_op(OP_CTZ, (FoldModes){ 0 }, EL_I32, EL_I32, 1, (Num[]){ num_int(-8) }, &r) && r.i == 3);
	CHECK(fold_op(OP_POPCOUNT, (FoldModes){ 0 }, EL_I32, EL_I32, 1, (Num[]){ num_int(-1) }, &r) && r.i == 32);
	CHECK(fold_op(OP_BITREVERSE, (FoldModes){ 0 }, EL_I8, EL_I8, 1, (Num[]){ num_int(1) }, &r) && r.i == -128);
	CHECK(fold_op(OP_LT, (FoldModes){ 0 }, EL_U32, EL_BOOL, 2, (Num[]){ num_int(1), num_int(0xffffffff) }, &r) && r.i == 1);
}

/* ---- floats ---- */

/* The neighbours of a value in a format, by counting bit patterns. */
static double above(Elem e, double v)
{
	if (v == 0) return num_from_bits(e, 1).f;
	uint64_t b = num_bits(e, num_float(fabs(v)));
	return v > 0 ? num_from_bits(e, b + 1).f : -num_from_bits(e, b - 1).f;
}

/* r is the right rounding of the exact value of (op x y), decided with long double for sums and products of narrow types,
 * which are exact there or far from every boundary. */
static void rounded(Elem e, int mode, long double exact, double r)
{
	double hi = above(e, r), lo = -above(e, -r);
	if (isinf(r) || isnan(r)) return;
	switch (mode) {
	case ROUND_ZERO: CHECK(exact >= 0 ? (long double)r <= exact && exact < hi : (long double)r >= exact && exact > lo); break;
	case ROUND_DOWN: CHECK((long double)r <= exact && exact < hi); break;
	case ROUND_UP: CHECK((long double)r >= exact && exact > lo); break;
	default: CHECK(fabsl(exact - r) <= fabsl(exact - hi) && fabsl(exact - r) <= fabsl(exact - lo)); break;
	}
}

static void narrow_floats(void)
{
	static const Elem types[] = { EL_F16, EL_BF16, EL_F32 };
	for (int i = 0; i < 60000; i++) {
		Elem e = types[next() % 3];
		int mode = (int)(next() % 4);
		uint64_t m = e == EL_F32 ? 0xffffffff : 0xffff;
		Num x = num_from_bits(e, next() & m), y = num_from_bits(e, next() & m), r;
		/* exponents near each other, so that the long double is exact */
		if (!isfinite(x.f) || !isfinite(y.f) || x.f == 0 || y.f == 0 || abs(ilogb(x.f) - ilogb(y.f)) > 16) continue;
		FoldModes fm = { .rounding = mode };
		CHECK(fold_op(OP_ADD, fm, e, e, 2, (Num[]){ x, y }, &r));
		rounded(e, mode, (long double)x.f + y.f, r.f);
		CHECK(fold_op(OP_MUL, fm, e, e, 2, (Num[]){ x, y }, &r));
		rounded(e, mode, (long double)x.f * y.f, r.f);
		CHECK(fold_op(OP_DIV, fm, e, e, 2, (Num[]){ x, y }, &r));
		long double q = (long double)x.f / y.f;
		if (e != EL_F32 || (double)q != (double)(float)q) rounded(e, mode, q, r.f);
	}
}

static void native_floats(void)
{
	for (int i = 0; i < 100000; i++) {
		uint32_t p = (uint32_t)next(), q = (uint32_t)next(), s = (uint32_t)next();
		float a, b, c, d;
		memcpy(&a, &p, 4);
		memcpy(&b, &q, 4);
		memcpy(&c, &s, 4);
		if (isnan(a) || isnan(b) || isnan(c)) continue;
		Num in[3] = { num_float(a), num_float(b), num_float(c) }, r;
		CHECK(fold_op(OP_ADD, (FoldModes){ 0 }, EL_F32, EL_F32, 2, in, &r));
		d = a + b;
		CHECK(num_same(EL_F32, r, num_float(d)));
		CHECK(fold_op(OP_DIV, (FoldModes){ 0 }, EL_F32, EL_F32, 2, in, &r));
		d = a / b;
		CHECK(num_same(EL_F32, r, num_float(d)));
		CHECK(fold_op(OP_FMA, (FoldModes){ 0 }, EL_F32, EL_F32, 3, in, &r));
		CHECK(num_same(EL_F32, r, num_float(fmaf(a, b, c))));
		CHECK(fold_op(OP_SQRT, (FoldModes){ 0 }, EL_F32, EL_F32, 1, in, &r));
		CHECK(num_same(EL_F32, r, num_float(sqrtf(a))));
		CHECK(fold_op(OP_REM, (FoldModes){ 0 }, EL_F32, EL_F32, 2, in, &r));
		CHECK(num_same(EL_F32, r, num_float(fmodf(a, b))));
	}
}

static Num flt2(OpCode op, FoldModes m, double x, double y)
{
	Num r = { 0 };
	CHECK(fold_op(op, m, EL_F32, EL_F32, 2, (Num[]){ num_float(x), num_float(y) }, &r));
	return r;
}

static bool is(Num n, double v)
{
	return num_same(EL_F64, n, num_float(v));
}

static void float_rules(void)
{
	FoldModes plain = { 0 }, down = { .rounding = ROUND_DOWN }, flush = { .subnormals = 1 }, propagate = { .nan = 1 };
	CHECK(is(flt2(OP_ADD, down, 8.0, 5 * 0x1p-23), 8.0));
	CHECK(is(flt2(OP_ADD, plain, 8.0, 5 * 0x1p-23), 8.0 + 8 * 0x1p-23));
	CHECK(is(flt2(OP_SUB, plain, 0x1.1p-126, 0x1.0p-126), 0x1p-130));
	CHECK(is(flt2(OP_SUB, flush, 0x1.1p-126, 0x1.0p-126), 0.0));
	CHECK(is(flt2(OP_SUB, flush, 0x1.0p-126, 0x1.1p-126), -0.0));
	CHECK(is(flt2(OP_ADD, flush, 0x1p-130, 1), 1.0));
	CHECK(is(flt2(OP_SUB, down, 1, 1), -0.0) && is(flt2(OP_SUB, plain, 1, 1), 0.0));
	CHECK(is(flt2(OP_ADD, down, 0.0, -0.0), -0.0) && is(flt2(OP_ADD, plain, 0.0, -0.0), 0.0));
	CHECK(is(flt2(OP_ADD, down, 0.0, 0.0), 0.0) && is(flt2(OP_MUL, down, 0.0, 3), 0.0));
	CHECK(is(flt2(OP_MAX, plain, NAN, 1), 1) && is(flt2(OP_MAX, propagate, NAN, 1), NAN));
	CHECK(is(flt2(OP_MIN, plain, 1, NAN), 1) && is(flt2(OP_MIN, plain, NAN, NAN), NAN));
	CHECK(is(flt2(OP_MAX, plain, 0.0, -0.0), 0.0) && is(flt2(OP_MAX, plain, -0.0, 0.0), 0.0));
	CHECK(is(flt2(OP_MIN, plain, 0.0, -0.0), -0.0) && is(flt2(OP_MIN, plain, -0.0, 0.0), -0.0));
	CHECK(is(flt2(OP_MUL, (FoldModes){ .rounding = ROUND_ZERO }, FLT_MAX, 2), FLT_MAX));
	CHECK(is(flt2(OP_MUL, plain, FLT_MAX, 2), INFINITY));
	Num r;
	CHECK(fold_op(OP_ROUND, plain, EL_F32, EL_F32, 1, (Num[]){ num_float(2.5) }, &r) && is(r, 3));
	CHECK(fold_op(OP_RINT, plain, EL_F32, EL_F32, 1, (Num[]){ num_float(2.5) }, &r) && is(r, 2));
	CHECK(fold_op(OP_RINT, plain, EL_F32, EL_F32, 1, (Num[]){ num_float(-0.5) }, &r) && is(r, -0.0));
	CHECK(fold_op(OP_ROUND, plain, EL_F64, EL_F64, 1, (Num[]){ num_float(0.49999999999999994) }, &r) && is(r, 0));
	CHECK(fold_op(OP_NE, plain, EL_F32, EL_BOOL, 2, (Num[]){ num_float(NAN), num_float(NAN) }, &r) && r.i == 1);
	CHECK(fold_op(OP_EQ, plain, EL_F32, EL_BOOL, 2, (Num[]){ num_float(0.0), num_float(-0.0) }, &r) && r.i == 1);
	CHECK(fold_op(OP_GE, plain, EL_F32, EL_BOOL, 2, (Num[]){ num_float(NAN), num_float(1) }, &r) && r.i == 0);
	CHECK(fold_op(OP_BITCAST, plain, EL_F32, EL_U32, 1, (Num[]){ num_float(1) }, &r) && r.i == 0x3f800000);
	CHECK(fold_op(OP_BITCAST, plain, EL_U8, EL_I8, 1, (Num[]){ num_int(255) }, &r) && r.i == -1);
	CHECK(!fold_op(OP_DIV, (FoldModes){ .rounding = 4 }, EL_F32, EL_F32, 2, (Num[]){ num_float(1), num_float(3) }, &r));
	CHECK(!fold_op(OP_RAND, plain, EL_U64, EL_F32, 2, (Num[]){ num_int(1), num_int(2) }, &r));
	CHECK(fold_is_exact(OP_SQRT) && fold_is_exact(OP_ADD) && !fold_is_exact(OP_EXP));
	CHECK(fold_op(OP_EXP, plain, EL_F32, EL_F32, 1, (Num[]){ num_float(0) }, &r) && is(r, 1));
	CHECK(num_greatest(EL_F16).f == 65504 && num_least(EL_BF16).f == -0x1.fep127 && num_greatest(EL_F8E4M3).f == 448);
}

int main(void)
{
	A_UNIT = arena_new();
	A_TMP = arena_new();
	literals();
	exact_arithmetic();
	bits();
	casts();
	integers();
	narrow_floats();
	native_floats();
	float_rules();
	if (!failures) puts("ok");
	return failures != 0;
}
