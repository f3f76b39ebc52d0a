/* Explicit casts: of any value to an element type, and of scalars and constants as f32(x). */
#include "sema/build.h"

#include <math.h>
#include <string.h>

/* Float to integer with a rounding word: to a whole number first. */
static Val *whole_first(Cx *cx, Val *v, int rounding)
{
	static const OpCode how[] = { OP_RINT, OP_TRUNC, OP_FLOOR, OP_CEIL };
	if (!elem_is_float(v->type->elem)) v = val_cast(cx, v, EL_F32, (FoldModes){ 0 });
	return ir_unary(&cx->b, how[rounding], v->type, v);
}

void warn_cast(Cx *cx, Sv x, Str value, Elem to, Num n, Span at)
{
	Diag *d = cx_diag(cx, D_CAST_RANGE, x.span.hi ? x.span : at, value, elem_name(to), ir_num_text(to, n));
	diag_help(d, "say that it is meant with `overflow:` and one of its words, or use a wider type");
}

Sv elem_cast(Cx *cx, Sv x, Elem to, const Modes *m, Span at)
{
	if (!is_value(cx, x, "a cast")) return sv_poison(at);
	if (sv_untyped(x)) x = lit_adapt(cx, x, to, sv_absent(at));
	if (sv_bad(x)) return x;
	Elem from = x.type->elem;
	if (!rule_converts(from, to)) {
		Diag *d = cx_diag(cx, D_CAST_NONE, at, sv_what(x), elem_name(to));
		if (elem_is_ptr(from) && elem_is_ptr(to)) diag_help(d, "`element_bitcast` reinterprets a pointer");
		return sv_poison(at);
	}
	if (!result_fits(cx, to, x.type, x, x, at, str_fmt("the conversion to `%s`", elem_name(to)))) return sv_poison(at);
	Modes mm = *m;
	bool whole = elem_is_any_float(from) && elem_is_integral(to) && to != EL_BOOL;
	if (whole && mm.word[MD_ROUNDING] > 3) whole = false;
	if (whole) mm.word[MD_ROUNDING] = -1;
	if (!modes_allowed(cx, OP_CAST, to, &mm)) return sv_poison(at);
	FoldModes f = modes_fold(&mm);
	if (to == EL_TF32 && mm.word[MD_ROUNDING] == ROUND_NEAREST) f.rounding = ROUND_TIES_EVEN;
	Val *v;
	if (x.kind == SV_CONST && !(whole && m->word[MD_ROUNDING] >= 0)) {
		Num n = fold_cast(x.u.num, from, to, f);
		if (!f.overflow && to != EL_BOOL && !fold_fits(x.u.num, from, to))
			warn_cast(cx, x, ir_num_text(from, x.u.num), to, n, at);
		return sv_const(to, n, at);
	}
	v = conv_val(cx, x);
	at_span(cx, at);
	if (whole && m->word[MD_ROUNDING] >= 0) v = whole_first(cx, v, m->word[MD_ROUNDING]);
	if (to == EL_BOOL) return sv_folded(val_bool(cx, v), at);
	Val *r = val_cast(cx, v, to, f);
	if (!f.overflow && r != v) check_cast(cx, v, r, at);
	return sv_val(r, at);
}

/* ---- explicit casts of scalars: f32(x) ---- */

static bool cast_modes(Cx *cx, const Expr *call, Modes *m)
{
	*m = no_modes;
	for (int i = 1; call && i < call->u.call.args.n; i++) {
		const Arg *a = &call->u.call.args.p[i];
		bool rounding = a->name.s && !strcmp(a->name.s, "rounding"), over = a->name.s && !strcmp(a->name.s, "overflow");
		int w = a->value->kind == EX_NAME ? attr_word(rounding ? AT_ROUNDING : AT_OVERFLOW, a->value->u.name) : -1;
		if ((!rounding && !over) || w < 0) {
			cx_diag(cx, D_CAST_ARGS, a->value->span, span_source(call->u.call.callee->span));
			return false;
		}
		m->word[rounding ? MD_ROUNDING : MD_OVERFLOW] = w;
		m->at[rounding ? MD_ROUNDING : MD_OVERFLOW] = a->value->span;
	}
	return true;
}

static Sv cast_literal_value(Cx *cx, Elem to, Sv x, FoldModes m, Span at)
{
	Num n;
	Flt v = exact_of(x);
	if (elem_is_ptr(to)) return lit_adapt(cx, x, to, sv_absent(at));
	if (to == EL_BOOL) return sv_bool(!exact_is_zero(v), at);
	if (elem_is_any_float(to)) {
		int flags = exact_round(v, to, m.rounding, &n);
		if (!(flags & EXACT_OVERFLOW) && !(exact_is_inf(v) && to == EL_F8E4M3)) return sv_const(to, n, at);
		Num wide;
		exact_round(v, EL_F64, m.rounding, &wide);
		return sv_const(to, fold_cast(wide, EL_F64, to, m), at);
	}
	if (x.kind == SV_INT && m.overflow != attr_word(AT_OVERFLOW, str_intern("saturate")))
		return sv_const(to, num_wrap(to, exact_low_bits(v)), at);
	Num wide;
	exact_round(v, EL_F64, ROUND_ZERO, &wide);
	return sv_const(to, fold_cast(wide, EL_F64, to, m), at);
}

static Sv cast_literal(Cx *cx, Elem to, Sv x, FoldModes m, Span at)
{
	Num n;
	Sv r = cast_literal_value(cx, to, x, m, at);
	if (r.kind != SV_CONST || elem_is_ptr(to) || to == EL_BOOL || m.overflow) return r;
	FitWhy fit = lit_fit(x, to, &n);
	bool outside = fit == FIT_RANGE || (fit == FIT_OVERFLOW && !exact_is_inf(exact_of(x)));
	if (x.kind == SV_FLOAT && elem_is_integral(to)) {
		Num wide;
		exact_round(exact_of(x), EL_F64, ROUND_ZERO, &wide);
		double end = to == EL_U64 ? 18446744073709551616.0 : (double)num_greatest(to).i + 1;
		outside = !(trunc(wide.f) >= (to == EL_U64 ? 0 : (double)num_least(to).i) && trunc(wide.f) < end);
	}
	if (outside)
		warn_cast(cx, x, x.kind == SV_INT ? exact_text(exact_of(x)) : float_text(exact_of(x)), to, r.u.num, at);
	return r;
}

/* float("-inf") of Python */
static void help_number(Diag *d, Sv text)
{
	Str s = text.u.str;
	bool negative = *s == '-';
	Sv v;
	if (*s == '-' || *s == '+') s++;
	if (!strcmp(s, "infinity") || !strcmp(s, "Infinity") || !strcmp(s, "Inf")) s = str_intern("inf");
	if (!strcmp(s, "NaN")) s = str_intern("nan");
	if (!lit_number(s, negative, &v)) return;
	Str fix = str_fmt("%s%s", negative ? "-" : "", s);
	diag_help(d, "a number is no text: write `%s`", fix);
	diag_edit(d, text.span, fix);
}

Sv conv_cast(Cx *cx, Elem to, Sv x, const Expr *call)
{
	Span at = call ? call->span : x.span;
	Modes m;
	if (sv_bad(x) || report_dynamic(cx, x, x.span) || !cast_modes(cx, call, &m)) return sv_poison(at);
	if (sv_untyped(x)) return cast_literal(cx, to, x, modes_fold(&m), at);
	if (!sv_is_scalar(x) && !sv_one_element(x)) {
		Diag *d = cx_diag(cx, D_CAST_SCALAR, at, elem_name(to), sv_what(x));
		if (sv_is_tile(x)) {
			Str fix = str_fmt("element_cast(%s, %s)", span_source(x.span), elem_name(to));
			const Op *op = x.u.val->def;
			bool most = op && op->code == OP_MAX, least = op && op->code == OP_MIN;
			if (most || least) diag_note(d, "`%s` compares element by element; `%s(x)` is the %s element",
				op_rows[op->code].name, most ? "reduce_max" : "reduce_min", most ? "greatest" : "least");
			diag_help(d, "convert all elements: `%s`", fix);
			if (call && call->u.call.args.n == 1) diag_edit(d, at, fix);
		}
		if (x.kind == SV_STRING) help_number(d, x);
		return sv_poison(at);
	}
	if (x.kind == SV_VAL && sv_is_tile(x)) {
		at_span(cx, at);
		x = sv_val(one_scalar(cx, x.u.val), x.span);
	}
	return elem_cast(cx, x, to, &m, at);
}
