/* Elementwise operations on cells. What is frequent is computed here in the host's own arithmetic; everything else by
 * ir/fold, which is the model that the targets agree with. Functions of 16-bit floats are computed in f32 and rounded
 * once, as the targets do. */
#include "sim/sim_int.h"

#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "ir/exact.h"

Cell cell_of(Elem e, Num n)
{
	return !elem_is_ptr(e) && elem_is_any_float(e) ? (Cell){ .f = n.f } : (Cell){ .i = n.i };
}
Num num_of(Elem e, Cell c) { return !elem_is_ptr(e) && elem_is_any_float(e) ? (Num){ .f = c.f } : (Num){ .i = c.i }; }

static uint32_t f32_bits(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	return u;
}

static float f32_of(uint32_t u)
{
	float f;
	memcpy(&f, &u, sizeof f);
	return f;
}

/* The exponent and fraction as those of an f32, which is then off by a power of two. */
static float f16_of(uint32_t u)
{
	uint32_t low = (u & 0x7fff) << 13, top = UINT32_C(31) << 23;
	float f = low < top ? f32_of(low) * 0x1p112f : low == top ? INFINITY : NAN;
	return u & 0x8000 ? -f : f;
}

/* Moving a NaN keeps its bits: those of narrower types stand in the low half of one that says so. */
#define NAN_OF_BITS UINT64_C(0x7ffc000000000000)

static bool is_nan_bits(Elem e, uint64_t bits) { return isnan(num_from_bits(e, bits).f); }

static uint64_t nan_bits(Elem e, Cell c)
{
	uint64_t u = (uint64_t)c.i, low = u & UINT32_MAX;
	if (e == EL_F64) return u;
	return (u & ~(uint64_t)UINT32_MAX) == NAN_OF_BITS && is_nan_bits(e, low) ? low : num_bits(e, (Num){ .f = NAN });
}

uint64_t cell_bits(Elem e, Cell c)
{
	if (elem_is_ptr(e)) return (uint64_t)c.i;
	if (!elem_is_any_float(e)) return num_bits(e, (Num){ .i = c.i });
	if (isnan(c.f)) return nan_bits(e, c);
	switch (e) {
	case EL_F32: return f32_bits((float)c.f);
	case EL_BF16: return f32_bits((float)c.f) >> 16;
	default: return num_bits(e, (Num){ .f = c.f });
	}
}

Cell cell_from(Elem e, uint64_t bits)
{
	Cell c;
	if (elem_is_ptr(e) || e == EL_F64) return (Cell){ .i = (int64_t)bits };
	switch (e) {
	case EL_F32: c.f = f32_of((uint32_t)bits); break;
	case EL_BF16: c.f = f32_of((uint32_t)bits << 16); break;
	case EL_F16: c.f = f16_of((uint32_t)bits); break;
	case EL_I32: return (Cell){ .i = (int32_t)bits };
	case EL_U8: return (Cell){ .i = (uint8_t)bits };
	default: c = cell_of(e, num_from_bits(e, bits));
	}
	return elem_is_any_float(e) && isnan(c.f) ? (Cell){ .i = (int64_t)(NAN_OF_BITS | bits) } : c;
}

static uint64_t sign_bit(Elem e) { return UINT64_C(1) << (8 * elem_bytes(e) - 1); }
static bool sign_of(Elem e, Cell c) { return (cell_bits(e, c) & sign_bit(e)) != 0; }

/* A NaN whose sign is turned, or as given. */
static Cell signed_nan(Elem e, Cell c, bool turned, bool sign)
{
	uint64_t bits = cell_bits(e, c), top = sign_bit(e);
	return cell_from(e, turned ? bits ^ top : sign ? bits | top : bits & ~top);
}

/* ---- rounding ---- */
/* To `digits` significant bits, ties to even; beyond max: an infinity. Subnormals end at 2^least. */
static double round_digits(double v, int digits, int least, double max)
{
	if (v == 0 || !isfinite(v)) return v;
	uint64_t u;
	memcpy(&u, &v, sizeof u);
	int e = (int)(u >> 52 & 0x7ff) - 1022, drop = 53 - digits;
	if (e - digits > least) {       /* the bits that are dropped, and half of the last one that stays */
		u += (UINT64_C(1) << (drop - 1)) - 1 + (u >> drop & 1);
		u = u >> drop << drop;
		memcpy(&v, &u, sizeof v);
	} else {                        /* beside it the last place of a double is 2^least */
		double large = ldexp(1.5, 52 + least);
		v = copysign(fabs(v) + large - large, v);
	}
	return fabs(v) > max ? copysign(INFINITY, v) : v;
}

static double rounded(Elem e, double v)
{
	switch (e) {
	case EL_F16: return round_digits(v, 11, -24, 65504.0);
	case EL_BF16: return round_digits(v, 8, -133, 0x1.fep127);
	case EL_F32: return (float)v;
	default: return v;
	}
}

static int64_t wrapped(Elem e, uint64_t v)
{
	switch (e) {
	case EL_BOOL: return v != 0;
	case EL_I8: return (int8_t)v;
	case EL_I16: return (int16_t)v;
	case EL_I32: return (int32_t)v;
	case EL_U8: return (uint8_t)v;
	case EL_U16: return (uint16_t)v;
	case EL_U32: return (uint32_t)v;
	default: return (int64_t)v;
	}
}

/* ---- what is frequent ---- */
#define EACH(expr, field) do { \
	for (int k = 0; k < n; k++) { \
		const Cell a = A[(uint32_t)k & ma], b = B ? B[(uint32_t)k & mb] : a, c = C ? C[(uint32_t)k & mc] : a; \
		(void)b, (void)c; \
		out[k].field = (expr); \
	} \
	return true; \
} while (0)
#define ARGS \
	const Elem e, int n, const Cell *A, uint32_t ma, const Cell *B, uint32_t mb, const Cell *C, uint32_t mc, Cell *out
#define PASS e, n, A, ma, B, mb, C, mc, out

static bool int_each(OpCode code, ARGS)
{
	bool u64 = e == EL_U64;
	if (e == EL_BOOL && (code == OP_ADD || code == OP_SUB || code == OP_MUL)) return false;
	switch (code) {
	case OP_ADD: EACH(wrapped(e, (uint64_t)a.i + (uint64_t)b.i), i);
	case OP_SUB: EACH(wrapped(e, (uint64_t)a.i - (uint64_t)b.i), i);
	case OP_MUL: EACH(wrapped(e, (uint64_t)a.i * (uint64_t)b.i), i);
	case OP_AND: EACH(a.i & b.i, i);
	case OP_OR: EACH(a.i | b.i, i);
	case OP_XOR: EACH(a.i ^ b.i, i);
	case OP_EQ: EACH(a.i == b.i, i);
	case OP_NE: EACH(a.i != b.i, i);
	case OP_LT: EACH(u64 ? (uint64_t)a.i < (uint64_t)b.i : a.i < b.i, i);
	case OP_LE: EACH(u64 ? (uint64_t)a.i <= (uint64_t)b.i : a.i <= b.i, i);
	case OP_GT: EACH(u64 ? (uint64_t)a.i > (uint64_t)b.i : a.i > b.i, i);
	case OP_GE: EACH(u64 ? (uint64_t)a.i >= (uint64_t)b.i : a.i >= b.i, i);
	case OP_MIN: EACH((u64 ? (uint64_t)b.i < (uint64_t)a.i : b.i < a.i) ? b.i : a.i, i);
	case OP_MAX: EACH((u64 ? (uint64_t)a.i < (uint64_t)b.i : a.i < b.i) ? b.i : a.i, i);
	default: return false;
	}
}

static double least(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}
static double greatest(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}

/* The functions of the C library that the C target calls. */
static bool math_each(OpCode code, ARGS)
{
#define MATH(id, fn) case OP_##id: if (e == EL_F64) EACH(fn(a.f), f); else EACH(rounded(e, fn##f((float)a.f)), f);
#define MATH2(id, fn) \
	case OP_##id: if (e == EL_F64) EACH(fn(a.f, b.f), f); else EACH(rounded(e, fn##f((float)a.f, (float)b.f)), f);
	switch (code) {
	MATH(EXP, exp) MATH(EXP2, exp2) MATH(LOG, log) MATH(LOG2, log2) MATH(LOG10, log10) MATH(LOG1P, log1p) MATH(EXPM1,
		expm1)
	MATH(SIN, sin) MATH(COS, cos) MATH(TAN, tan) MATH(ASIN, asin) MATH(ACOS, acos) MATH(ATAN, atan) MATH(SINH,
		sinh) MATH(COSH, cosh)
	MATH(TANH, tanh) MATH(ERF, erf) MATH(ERFC, erfc) MATH(CBRT, cbrt) MATH2(ATAN2, atan2) MATH2(POW, pow) MATH2(HYPOT,
		hypot)
	case OP_RSQRT:
		if (e == EL_F64) EACH(1 / sqrt(a.f), f); else EACH(rounded(e, (float)(1 / sqrt((double)(float)a.f))), f);
	default: return false;
	}
#undef MATH
#undef MATH2
}

static bool float_each(OpCode code, bool nan, ARGS)
{
	switch (code) {
	/* twice the digits and two more: rounding twice gives what rounding once would */
	case OP_ADD: EACH(rounded(e, a.f + b.f), f);
	case OP_SUB: EACH(rounded(e, a.f - b.f), f);
	case OP_MUL: EACH(rounded(e, a.f * b.f), f);
	case OP_DIV: EACH(rounded(e, a.f / b.f), f);
	case OP_SQRT: EACH(rounded(e, sqrt(a.f)), f);
	case OP_FMA:
		if (e == EL_F64) EACH(fma(a.f, b.f, c.f), f);
		if (e == EL_F32) EACH(fmaf((float)a.f, (float)b.f, (float)c.f), f);
		return false;
	case OP_NEG: if (e == EL_F64) EACH(-a.f, f); else EACH(isnan(a.f) ? signed_nan(e, a, true, true).f : -a.f, f);
	case OP_ABS:
		if (e == EL_F64) EACH(fabs(a.f), f); else EACH(isnan(a.f) ? signed_nan(e, a, false, false).f : fabs(a.f), f);
	case OP_SIGNBIT: EACH(sign_of(e, a), i);
	case OP_COPYSIGN: EACH(cell_from(e, (cell_bits(e, a) & ~sign_bit(e)) | (cell_bits(e, b) & sign_bit(e))).i, i);
	case OP_MIN: EACH(nan && (isnan(a.f) || isnan(b.f)) ? NAN : least(a.f, b.f), f);
	case OP_MAX: EACH(nan && (isnan(a.f) || isnan(b.f)) ? NAN : greatest(a.f, b.f), f);
	case OP_EQ: EACH(a.f == b.f, i);
	case OP_NE: EACH(a.f != b.f, i);
	case OP_LT: EACH(a.f < b.f, i);
	case OP_LE: EACH(a.f <= b.f, i);
	case OP_GT: EACH(a.f > b.f, i);
	case OP_GE: EACH(a.f >= b.f, i);
	case OP_ISNAN: EACH(isnan(a.f) != 0, i);
	default: return math_each(code, PASS);
	}
}

static bool cast_each(Elem r, ARGS)
{
	bool from = elem_is_any_float(e), to = elem_is_any_float(r), narrow = r == EL_F32 || r == EL_F16 || r == EL_BF16;
	if (r == EL_BOOL || e == EL_TF32) return false;
	if (!from && !to) EACH(wrapped(r, (uint64_t)a.i), i);
	if (from && r == EL_F64) EACH(a.f, f);
	if (from && narrow) EACH(rounded(r, a.f), f);
	if (!from && r == EL_F64 && e != EL_U64) EACH((double)a.i, f);
	if (!from && narrow && elem_bytes(e) < 8) EACH(rounded(r, (double)a.i), f);
	return false;
}

/* ---- random numbers: words of blocks of Philox4x32-10, key = seed; see emit/prelude_half.def ---- */
static void philox(uint64_t seed, uint64_t block, uint32_t c[4])
{
	uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
	c[0] = (uint32_t)block, c[1] = (uint32_t)(block >> 32), c[2] = c[3] = 0;
	for (int i = 0; i < 10; i++, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) {
		uint64_t p = UINT64_C(0xd2511f53) * c[0], q = UINT64_C(0xcd9e8d57) * c[2];
		c[0] = (uint32_t)(q >> 32) ^ c[1] ^ k0;
		c[1] = (uint32_t)q;
		c[2] = (uint32_t)(p >> 32) ^ c[3] ^ k1;
		c[3] = (uint32_t)p;
	}
}

static Cell random_cell(OpCode code, Elem r, uint64_t seed, uint64_t offset)
{
	uint32_t v[4];
	bool pair = code != OP_RANDN && elem_bytes(r) == 8;
	philox(seed, offset >> (pair ? 1 : 2), v);
	uint64_t wide = (uint64_t)v[2 * (offset & 1)] << 32 | v[2 * (offset & 1) + 1];
	uint32_t word = v[offset & 3];
	if (code == OP_RANDINT) return (Cell){ .i = wrapped(r, pair ? wide : word) };
	if (code == OP_RANDN) {         /* Box-Muller */
		const uint32_t *two = v + (offset & 2);
		double x = ((double)two[0] + 1.0) * 2.3283064365386963e-10, y = (double)two[1] * 1.4629180792671596e-9;
		return (Cell){ .f = rounded(r, sqrt(-2.0 * log(x)) * (offset & 1 ? sin(y) : cos(y))) };
	}
	if (r == EL_F64) return (Cell){ .f = (double)(wide >> 11) * 1.1102230246251565e-16 };
	Num n = { .f = (double)(word >> 8) * 5.9604644775390625e-8 };
	if (r == EL_F32) return (Cell){ .f = n.f };
	return cell_of(r, fold_cast(n, EL_F32, r, (FoldModes){ .rounding = 1 }));
}

/* ---- all ---- */
static Cell pointer_op(const ElemPlan *p, Cell a, Cell b)
{
	uint64_t x = (uint64_t)a.i, y = (uint64_t)b.i;
	switch (p->code) {
	case OP_PTR_ADD: return (Cell){ .i = (int64_t)(x + y * (uint64_t)elem_bytes(elem_pointee(p->e))) };
	case OP_PTR_DIFF: return (Cell){ .i = (int64_t)(x - y) / elem_bytes(elem_pointee(p->e)) };
	case OP_EQ: return (Cell){ .i = x == y };
	case OP_NE: return (Cell){ .i = x != y };
	case OP_LT: return (Cell){ .i = x < y };
	case OP_LE: return (Cell){ .i = x <= y };
	case OP_GT: return (Cell){ .i = x > y };
	case OP_GE: return (Cell){ .i = x >= y };
	case OP_CAST: return (Cell){ .i = p->r == EL_BOOL ? x != 0 : a.i };
	default: return a;
	}
}

/* The NaN that `overflow: nan` gives, on all targets (ct_ovf_nan_*); rounding a NaN to a narrow type gives the same. */
static uint64_t cast_nan(Elem e)
{
	switch (e) {
	case EL_F16: case EL_BF16: return 0x7fff;
	case EL_TF32: case EL_F32: return 0x7fffe000;
	case EL_F64: return UINT64_C(0x7ff8000000000000);
	default: return 0x7f;
	}
}

/* The bits of an f32 that ct_cvt_f32_* makes of those of a NaN. */
static uint32_t nan_f32(Elem e, uint32_t bits)
{
	switch (e) {
	case EL_F8E4M3: return (bits & 0x80) << 24 | 0x7fffffff;
	case EL_F8E5M2: return (bits & 0x80) << 24 | 0x7f800000 | (bits & 3) << 21;
	case EL_F16: return (bits & 0x8000) << 16 | 0x7f800000 | (bits & 0x3ff) << 13;
	case EL_BF16: return bits << 16;
	default: return bits;
	}
}

/* What a NaN of type e becomes, with the bits that the C target gives it: exact conversions move
 * them, `overflow` or not. */
static Cell nan_as(Elem e, Elem r, Cell a)
{
	bool wide = e == EL_F32 || e == EL_F64;
	uint32_t low = (uint32_t)cell_bits(e, a);
	if (e == r) return a;
	if (r == EL_F64) return (Cell){ .f = (double)f32_of(nan_f32(e, low)) };
	if (e == EL_F64 && r == EL_F32) return cell_from(r, f32_bits((float)a.f));
	if (r == EL_F32 || (r == EL_TF32 && !wide)) return cell_from(r, nan_f32(e, low));
	return cell_from(r, e == EL_F8E5M2 && r == EL_F16 ? low << 8 : cast_nan(r));
}

/* By the model. Its big numbers live only as long as one element. */
static Cell folded(const ElemPlan *p, const Cell *x)
{
	Num in[3] = { 0 }, r = { 0 };
	ArenaMark mark = arena_mark(A_UNIT);
	FoldModes m = p->modes;
	/* approximate, full: the C target has one form, too */
	if (m.rounding > 3 && m.rounding != ROUND_TIES_EVEN) m.rounding = 0;
	for (int i = 0; i < p->nin; i++) in[i] = num_of(p->code == OP_SELECT && i == 0 ? EL_BOOL : p->e, x[i]);
	if (!fold_op(p->code, m, p->e, p->r, p->nin, in, &r))
		bug("no value of `%s` of %s", op_rows[p->code].name, elem_name(p->e));
	arena_release(A_UNIT, mark);
	if (p->code == OP_CAST && elem_is_any_float(p->r) && isnan(r.f))
		return elem_is_any_float(p->e) && isnan(x->f) ? nan_as(p->e, p->r, *x) : cell_from(p->r, cast_nan(p->r));
	return cell_of(p->r, r);
}

static bool by_host(const ElemPlan *p, int n, const Cell *const *in, const uint32_t *mask, Cell *out)
{
	int rounding = p->modes.rounding;
	bool nearest = !rounding || (rounding > 3 && rounding != (int)ROUND_TIES_EVEN);
	bool plain = nearest && !p->modes.subnormals && !p->modes.overflow;
	bool two = p->nin > 1, three = p->nin > 2;
	const Cell *A = in[0], *B = two ? in[1] : NULL, *C = three ? in[2] : NULL;
	uint32_t ma = mask[0], mb = two ? mask[1] : 0, mc = three ? mask[2] : 0;
	Elem e = p->e;
	if (p->code == OP_SELECT) EACH(a.i ? b.i : c.i, i);
	if (p->code == OP_HINT) EACH(a.i, i);
	if (p->code == OP_CAST && p->e == p->r) {       /* an infinity alone has another value, where `overflow` says so */
		bool limits = p->modes.overflow && !elem_is_ptr(e) && elem_is_any_float(e);
		for (int k = 0; k < n; k++) {
			const Cell *a = &A[(uint32_t)k & ma];
			out[k] = limits && isinf(a->f) ? folded(p, a) : *a;
		}
		return true;
	}
	if (elem_is_ptr(e) || elem_is_ptr(p->r)) {
		for (int k = 0; k < n; k++) out[k] = pointer_op(p, A[(uint32_t)k & ma], B ? B[(uint32_t)k & mb] : A[0]);
		return true;
	}
	if (op_rows[p->code].flags & OPF_RANDOM) {
		for (int k = 0; k < n; k++)
			out[k] = random_cell(p->code, p->r, (uint64_t)A[(uint32_t)k & ma].i, (uint64_t)B[(uint32_t)k & mb].i);
		return true;
	}
	if (!plain) return false;
	if (p->code == OP_CAST) {
		if (!cast_each(p->r, PASS)) return false;
		for (int k = 0; k < n && elem_is_any_float(e) && elem_is_any_float(p->r); k++) {
			const Cell *a = &A[(uint32_t)k & ma];
			if (isnan(a->f)) out[k] = nan_as(e, p->r, *a);
		}
		return true;
	}
	if (p->code == OP_BITCAST) EACH(cell_from(p->r, cell_bits(e, a)).i, i);
	return elem_is_any_float(e) ? float_each(p->code, p->modes.nan != 0, PASS) : int_each(p->code, PASS);
}

void elem_each(const ElemPlan *p, int n, const Cell *const *in, const uint32_t *mask, Cell *out)
{
	if (by_host(p, n, in, mask, out)) return;
	for (int k = 0; k < n; k++) {
		Cell x[3] = { { 0 } };
		for (int i = 0; i < p->nin && i < 3; i++) x[i] = in[i][(uint32_t)k & mask[i]];
		out[k] = folded(p, x);
	}
}

ElemPlan elem_combining(const Op *op, OpCode code, Elem e)
{
	return (ElemPlan){ .code = code, .modes = fold_modes(op), .e = e, .r = e, .nin = 2 };
}

void *plan_elem(Run *r, const Op *op)
{
	ElemPlan *p = NEW(r->mem, ElemPlan);
	int first = op->code == OP_SELECT ? 1 : 0;
	*p = (ElemPlan){ .code = op->code, .modes = fold_modes(op), .e = ir_in(op, first)->type->elem,
		.r = op->out[0]->type->elem, .nin = op->nin };
	if (p->nin > 3) bug("`%s` has %d operands", op_rows[op->code].name, op->nin);
	return p;
}

Go run_elem(Warp *w, const Step *s)
{
	const ElemPlan *p = s->plan;
	const Cell *in[3];
	uint32_t mask[3];
	bool one = true;        /* the same in all registers */
	for (int i = 0; i < p->nin; i++) {
		const SimVal *v = sim_val(w, ir_in(s->op, i));
		in[i] = v->p;
		mask[i] = v->mask;
		one = one && v->mask == LANES - 1;
	}
	const Val *out = s->op->out[0];
	int regs = one ? 1 : sim_regs(out);
	elem_each(p, regs * LANES, in, mask, sim_def(w, out, regs));
	return GO_NEXT;
}
