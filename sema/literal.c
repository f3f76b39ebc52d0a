/* Constants that have no type yet: reading literals, and fitting a constant into the type it meets (language.md 3):
 * integers exactly, floats rounded once, neither to infinity nor from non-zero to zero. */
#include "sema/build.h"
#include "sema/findings.h"

#include <string.h>

/* ---- exact values ---- */

static Flt exact_int(Int v)
{
	if (v >= INT64_MIN && v <= INT64_MAX) return exact_i64((int64_t)v);
	Flt two64 = exact_mul(exact_u64(UINT64_C(1) << 32), exact_u64(UINT64_C(1) << 32));
	return exact_add(exact_mul(exact_i64((int64_t)(v >> 64)), two64), exact_u64((uint64_t)v));
}

Flt exact_of(Sv v)
{
	if (v.kind == SV_INT) return exact_int(v.u.i);
	if (v.kind == SV_FLOAT) return v.u.f;
	return exact_num(v.type->elem, v.u.num);
}

static FitWhy fit_int(Flt x, Elem e, Num *n)
{
	if (!exact_is_int(x)) return FIT_FRACTION;
	if (exact_cmp(x, exact_num(e, num_least(e))) < 0) return FIT_RANGE;
	if (exact_cmp(x, exact_num(e, num_greatest(e))) > 0) return FIT_RANGE;
	*n = num_wrap(e, exact_low_bits(x));
	return FIT_OK;
}

static FitWhy fit_float(Sv x, Elem e, Num *n)
{
	Flt v = exact_of(x);
	int flags = exact_round(v, e, ROUND_NEAREST, n);
	if (e == EL_F8E4M3 && exact_is_inf(v)) return FIT_OVERFLOW;
	if (flags & EXACT_OVERFLOW) return FIT_OVERFLOW;
	if (x.kind == SV_INT) return flags & EXACT_INEXACT ? FIT_INEXACT : FIT_OK;
	return flags & EXACT_UNDERFLOW ? FIT_UNDERFLOW : FIT_OK;
}

FitWhy lit_fit(Sv x, Elem e, Num *n)
{
	*n = (Num){ 0 };
	if (elem_is_ptr(e)) return FIT_POINTER;
	if (x.kind == SV_FLOAT && !elem_is_any_float(e)) return FIT_FRACTION;
	ArenaMark mark = arena_mark(A_UNIT);    /* of exact numbers on the way nothing is kept */
	FitWhy why = elem_is_any_float(e) ? fit_float(x, e, n) : fit_int(exact_of(x), e, n);
	arena_release(A_UNIT, mark);
	return why;
}

/* ---- reports ---- */

/* The narrowest type that holds the number and what the other operand can be; false: there is none. */
static bool help_wider(Diag *d, Sv x, Elem e, Sv met)
{
	static const Elem ints[] = { EL_I16, EL_U16, EL_I32, EL_U32, EL_I64, EL_U64 }, floats[] = { EL_F32, EL_F64 };
	Num n;
	if (met.kind != SV_VAL || elem_is_ptr(e)) return false;
	bool whole = elem_is_int(e);
	const Elem *order = whole ? ints : floats;
	for (int i = 0; i < (whole ? 6 : 2); i++) {
		if (order[i] == e || rule_narrows(e, order[i]) || lit_fit(x, order[i], &n) != FIT_OK) continue;
		if (help_cast_early(d, met.u.val, order[i])) return true;
		Str src = span_source(met.span), to = elem_name(order[i]);
		diag_help(d, "`%s` has room for it", sv_is_tile(met) ? str_fmt("element_cast(%s, %s)", src, to)
			: str_fmt("%s(%s)", to, src));
		return true;
	}
	return false;
}

static Str least_positive(Elem e)
{
	Num n;
	exact_round(exact_parse("1e-2000"), e, ROUND_UP, &n);
	return exact_text(exact_num(e, n));
}

/* A literal as it is written; of anything else its value. */
static Str constant_text(Sv x)
{
	Str src = span_source(x.span);
	const char *digits = *src == '-' ? src + 1 : src;
	bool literal = x.kind == SV_FLOAT && *digits >= '0' && *digits <= '9' &&
		!digits[strspn(digits, "0123456789.eEpPxXabcdfABCDF_+-")];
	return literal && str_len(src) <= 40 ? src : exact_text(exact_of(x));
}

Str range_text(Elem e)
{
	if (e == EL_BOOL) return str_intern("bool holds 0 and 1");
	if (elem_is_any_float(e))
		return str_fmt("the greatest %s is %s", elem_name(e), exact_text(exact_num(e, num_greatest(e))));
	return str_fmt("%s holds %s .. %s", elem_name(e), exact_text(exact_num(e, num_least(e))),
		exact_text(exact_num(e, num_greatest(e))));
}

/* The integers that a float meets compute as floats. */
static void help_floats(Diag *d, Sv met)
{
	if (met.kind == SV_VAL && help_cast_early(d, met.u.val, EL_F32)) return;
	Str cast = str_fmt(type_is_scalar(met.type) ? "f32(%s)" : "element_cast(%s, f32)", span_source(met.span));
	diag_help(d, "convert the other operand: `%s`", cast);
	diag_edit(d, met.span, cast);
}

static void report_fraction(Cx *cx, Sv x, Elem e, Sv met)
{
	Flt v = exact_of(x);
	Diag *d = cx_diag(cx, D_LITERAL_FLOAT, x.span, float_text(v), elem_name(e));
	if (!sv_bad(met)) label_operand(d, met);
	if (exact_is_inf(v)) {
		bool least = exact_is_neg(v);
		diag_help(d, "there is no infinity, and the %s %s is `%s`", least ? "least" : "greatest", elem_name(e),
			exact_text(exact_num(e, least ? num_least(e) : num_greatest(e))));
	} else if (exact_is_int(v)) {
		bool scalar = met.kind == SV_VAL && type_is_scalar(met.type);
		Str floats = scalar ? str_fmt(", or `f32(%s)` to compute with floats", span_source(met.span)) : str_intern("");
		diag_help(d, scalar ? "the integer is `%s`%s" : "write `%s`%s", exact_text(v), floats);
		if (!scalar) diag_edit(d, x.span, exact_text(v));
	} else if (!sv_bad(met) && (met.kind == SV_VAL || met.kind == SV_CONST)) {
		help_floats(d, met);
	}
}

Sv lit_divides(Cx *cx, Sv x, Elem e, Sv met)
{
	Diag *d = cx_diag(cx, D_LITERAL_FLOAT, x.span, float_text(exact_of(x)), elem_name(e));
	label_operand(d, met);
	if (met.kind == SV_VAL || met.kind == SV_CONST) help_floats(d, met);
	return sv_poison(x.span);
}

static void report_fit(Cx *cx, FitWhy why, Sv x, Elem e, Sv met)
{
	if (why == FIT_FRACTION) {
		report_fraction(cx, x, e, met);
		return;
	}
	Diag *d = cx_diag(cx, D_LITERAL_RANGE, x.span, constant_text(x), elem_name(e));
	if (!sv_bad(met)) label_operand(d, met);
	Num near;
	switch (why) {
	case FIT_INEXACT:
		exact_round(exact_of(x), e, ROUND_NEAREST, &near);
		diag_note(d, "integers become floats only when nothing is lost; the nearest %s is %s", elem_name(e),
			exact_text(exact_num(e, near)));
		if (strspn(span_source(x.span), "0123456789") != str_len(span_source(x.span))) break;
		diag_help(d, "write it as a float, which is rounded: `%s.0`", span_source(x.span));
		diag_edit(d, (Span){ x.span.hi, x.span.hi }, ".0");
		break;
	case FIT_UNDERFLOW:
		diag_note(d, "it would become zero: the least positive %s is %s", elem_name(e), least_positive(e));
		if (!help_wider(d, x, e, met)) diag_help(d, "zero is `0.0`, and other numbers are farther from it");
		break;
	case FIT_POINTER: diag_help(d, "the only pointer constant is `null`"); break;
	default:
		diag_note(d, "%s", range_text(e));
		if (why == FIT_RANGE) help_wider(d, x, e, met);
		else if (why == FIT_OVERFLOW && !exact_is_inf(exact_of(x)) && !help_wider(d, x, e, met) && e != EL_F8E4M3)
			diag_help(d, "infinity is `%sinf`", exact_is_neg(exact_of(x)) ? "-" : "");
		break;
	}
}

void warn_cut(Cx *cx, Sv x)
{
	if (!x.cut || (x.kind == SV_CONST && !elem_is_int(x.type->elem))) return;
	Str src = span_source(x.span);
	Diag *d = cx_diag(cx, D_QUOTIENT_CUT, x.span, src, exact_text(exact_of(x)));
	diag_help(d, "one of the numbers is a float, as in `1.0 / 2`, or `%s` for the integer", exact_text(exact_of(x)));
}

Sv lit_alone(Cx *cx, Sv x)
{
	Sv v = lit_adapt(cx, x, EL_I32, sv_absent(x.span));
	Str src = span_source(x.span);
	Num n;
	Elem e = lit_fit(x, EL_I64, &n) == FIT_OK ? EL_I64 : EL_U64;
	bool plain = *src >= '0' && *src <= '9' && !src[strspn(src, "0123456789abcdefABCDEFxX_")];
	if (sv_bad(v) && plain && lit_fit(x, e, &n) == FIT_OK) {
		Diag *d = diag_latest();
		diag_help(d, "a type that holds it stands behind the number: write `%s%s`", src, elem_name(e));
		diag_edit(d, (Span){ x.span.hi, x.span.hi }, elem_name(e));
	}
	return v;
}

Sv lit_adapt(Cx *cx, Sv x, Elem e, Sv met)
{
	Num n;
	FitWhy why = lit_fit(x, e, &n);
	if (!elem_is_ptr(e) && elem_is_any_float(e)) warn_cut(cx, x);
	if (why == FIT_OK) {
		Sv v = sv_const(e, n, x.span);
		v.cut = x.kind == SV_INT && x.cut && elem_is_int(e);
		return v;
	}
	report_fit(cx, why, x, e, met);
	return sv_poison(x.span);
}

/* ---- reading ---- */

/* The scanner takes whatever looks like a type's name. */
static Sv no_suffix(Cx *cx, Sv x, Str suffix)
{
	Diag *d = cx_diag(cx, D_BAD_NUMBER, x.span, span_source(x.span), str_fmt("there is no suffix `%s`", suffix));
	diag_help(d, "suffixes are `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32`, `f64` and the restricted types");
	return sv_poison(x.span);
}

static Sv typed(Cx *cx, Sv x, Str suffix)
{
	Elem e;
	if (!suffix || !*suffix) return x;
	if (!elem_by_name(str_intern(suffix), &e) || !elem_is_numeric(e)) return no_suffix(cx, x, suffix);
	return lit_adapt(cx, x, e, sv_absent(x.span));
}

Sv lit_int(Cx *cx, const Expr *e)
{
	return typed(cx, sv_int((Int)e->u.lit.i, e->span), e->u.lit.suffix);
}

Sv lit_float(Cx *cx, const Expr *e)
{
	Flt v = exact_parse(e->u.lit.text);
	if (!v) {
		cx_diag0(cx, D_CONST_RANGE, e->span);
		return sv_poison(e->span);
	}
	return typed(cx, sv_float(v, e->span), e->u.lit.suffix);
}

static bool parse_int(Str text, bool negative, Sv *out)
{
	int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
	const char *s = base == 16 ? text + 2 : text;
	Int v = 0;
	if (!*s) return false;
	for (; *s; s++) {
		const char *digits = "0123456789abcdef", *d = strchr(digits, *s >= 'A' && *s <= 'F' ? *s + 32 : *s);
		if (*s == '_') continue;
		if (!d || d - digits >= base || v > ((Int)1 << 64)) return false;
		v = v * base + (d - digits);
	}
	*out = sv_int(negative ? -v : v, (Span){ 0, 0 });
	return true;
}

bool lit_number(Str text, bool negative, Sv *out)
{
	if (!strcmp(text, "true") || !strcmp(text, "false")) {
		*out = sv_bool(text[0] == 't', (Span){ 0, 0 });
		return !negative;
	}
	if (!strcmp(text, "inf") || !strcmp(text, "nan")) {
		*out = sv_float(text[0] == 'n' ? exact_nan() : exact_inf(negative), (Span){ 0, 0 });
		return true;
	}
	if (parse_int(text, negative, out)) return true;
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	if (text[0] < '0' || text[0] > '9' || strspn(text, hex ? "0123456789abcdefABCDEFxX._pP+-" : "0123456789._eE+-")
		!= str_len(text)) return false;
	Flt v = exact_parse(text);
	if (!v) return false;
	*out = sv_float(negative ? exact_neg(v) : v, (Span){ 0, 0 });
	return true;
}

/* ---- tile literals that have been read ---- */

Sv lit_make(Cx *cx, const TileLit *l, Elem e, Sv met)
{
	const Type *t = sema_tile_type(cx, e, l->s, l->whole->span);
	if (!t) return sv_poison(l->whole->span);
	Val **in = NEW_ARRAY(A_UNIT, Val *, l->n);
	for (int i = 0; i < l->n; i++) {
		Sv v = sv_untyped(l->v[i]) ? lit_adapt(cx, l->v[i], e, met) : l->v[i];
		if (sv_bad(v)) return sv_poison(l->whole->span);
		in[i] = conv_val(cx, v);
	}
	return sv_val(ir_op1(at_span(cx, l->whole->span), OP_LITERAL, t, l->n, in), l->whole->span);
}

bool sv_open_float(Sv v)
{
	return v.kind == SV_FLOAT || (v.kind == SV_LIT && v.u.lit->has_float);
}

Sv lit_give(Cx *cx, Sv x, Elem e, Sv met)
{
	return x.kind == SV_LIT ? lit_make(cx, x.u.lit, e, met) : lit_adapt(cx, x, e, met);
}

Sv lit_zero(Cx *cx, Sv x, Elem e)
{
	if (x.kind != SV_LIT) return sv_const(e, (Num){ 0 }, x.span);
	const Shape *s = &x.u.lit->s;
	at_span(cx, x.span);
	return sv_val(const_val(cx, type_tile(e, s->rank, s->log2), (Num){ 0 }), x.span);
}

Sv lit_default(Cx *cx, Sv x)
{
	return x.kind == SV_LIT ? lit_make(cx, x.u.lit, x.u.lit->has_float ? EL_F32 : EL_I32, sv_absent(x.span)) : x;
}
