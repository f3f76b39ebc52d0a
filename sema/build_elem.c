/* Elementwise operations: conversions of operands by the rules, constant folding, select, fma. */
#include <math.h>
#include <string.h>

#include "ir/exact.h"
#include "sema/build.h"
#include "sema/scope.h"

/* ---- unary and binary ---- */

static Sv folded(OpCode op, FoldModes m, Elem e, Elem r, int n, const Num *in, Span at)
{
	Num out;
	if (fold_op(op, m, e, r, n, in, &out)) return sv_const(r, out, at);
	return sv_poison(at);
}

static Sv untyped_unary(Cx *cx, OpCode op, Sv x, Span at)
{
	Flt v = exact_of(x);
	switch (op) {
	case OP_ABS:
		if (x.kind == SV_INT) {
			Int r = x.u.i;
			if (r < 0 && __builtin_sub_overflow((Int)0, r, &r)) break;
			return sv_int(r, at);
		}
		return sv_float(exact_abs(v), at);
	default: break;
	}
	return conv_default(cx, x);
}

/* What the range of v's type decides. sign: a number below 0 was looked for. */
static void say_decided(Cx *cx, Span at, Str what, Str result, Sv v, bool sign)
{
	Diag *d = cx_diag(cx, D_DECIDED, at, what, result, elem_name(v.type->elem));
	label_operand(d, v);
	diag_note(d, "%s", range_text(v.type->elem));
	if (sign) diag_help(d, "what may be less than 0 is computed in a signed type: its operands are cast first, as by "
		"`element_cast(..., i64)`");
	else diag_help(d, "it is left out, or another bound is meant");
}

static bool may_be_negative(Sv v)
{
	const Op *op = v.kind == SV_VAL ? v.u.val->def : NULL;
	return op && (op->code == OP_SUB || op->code == OP_NEG) && elem_rows[v.type->elem].cls == EC_UINT;
}

/* abs(a - b) of unsigned numbers: what is below 0 has wrapped already. */
static void warn_unsigned(Cx *cx, OpCode op, Sv x, Span at, Str shown)
{
	if (op != OP_ABS || x.kind != SV_VAL || elem_is_ptr(x.type->elem) || elem_rows[x.type->elem].cls != EC_UINT) return;
	if (!elem_varies(cx, x.type->elem)) say_decided(cx, at, shown, "its operand", x, may_be_negative(x));
}

Sv elem_unary(Cx *cx, OpCode op, Sv x, const Modes *m, Span at, Str shown)
{
	if (!is_value(cx, x, shown)) return sv_poison(at);
	if (x.kind == SV_LIT) {
		bool flt = op_rows[op].type == TR_SAME_FLT || op_rows[op].type == TR_TO_BOOL;
		x = flt ? lit_give(cx, x, EL_F32, sv_absent(at)) : lit_default(cx, x);
		if (sv_bad(x)) return sv_poison(at);
	}
	if (sv_untyped(x)) {
		bool flt = op_rows[op].type == TR_SAME_FLT || op_rows[op].type == TR_TO_BOOL;
		if (x.kind == SV_INT && flt) x = lit_adapt(cx, x, EL_F32, sv_absent(at));
		else x = untyped_unary(cx, op, x, at);
		if (sv_bad(x) || sv_untyped(x)) return x;
	}
	Ruling r = rule_unary(op_rows[op].type, x.type);
	if (r.why != RULE_OK) {
		report_ruling(cx, r, x, x, at, shown);
		return sv_poison(at);
	}
	if (!modes_allowed(cx, op, x.type->elem, m)) return sv_poison(at);
	if (x.kind == SV_CONST) {
		Sv c = folded(op, modes_fold(m), x.type->elem, r.type->elem, 1, &x.u.num, at);
		if (!sv_bad(c)) return c;
	}
	warn_unsigned(cx, op, x, at, shown);
	Val *v = conv_val(cx, x);
	check_opposite(cx, op, v, at);
	Val *res = ir_unary(at_span(cx, at), op, r.type, v);
	modes_put(res->def, m);
	return sv_val(res, at);
}

/* min, max and the divisions of two untyped constants stay untyped: sizes are computed with them. */
static Sv untyped_binary(Cx *cx, OpCode op, Sv x, Sv y, Span at)
{
	Flt a = exact_of(x), b = exact_of(y);
	int c = exact_cmp(a, b);
	if (op == OP_MIN || op == OP_MAX) {
		if (c == 2) return exact_is_nan(a) ? y : x;
		Sv r = (c < 0) == (op == OP_MIN) ? x : y;
		if (x.kind != y.kind && r.kind == SV_INT) r = sv_float(exact_of(r), at);
		return r;
	}
	if (x.kind != SV_INT || y.kind != SV_INT) return sv_poison(at);
	if (op != OP_CEILDIV && op != OP_FLOORDIV && op != OP_FLOORMOD && op != OP_DIV && op != OP_REM)
		return sv_poison(at);
	if (!y.u.i) {
		cx_diag0(cx, D_CONST_DIV_ZERO, at);
		return sv_none(at);
	}
	Int q, r;
	if (y.u.i == -1 && __builtin_sub_overflow((Int)0, x.u.i, &q)) {
		cx_diag0(cx, D_CONST_RANGE, at);
		return sv_none(at);
	}
	q = x.u.i / y.u.i;
	r = x.u.i % y.u.i;
	bool other_signs = r && (r < 0) != (y.u.i < 0);
	switch (op) {
	case OP_CEILDIV: return sv_int(q + (r && !other_signs), at);
	case OP_FLOORDIV: return sv_int(q - other_signs, at);
	case OP_FLOORMOD: return sv_int(other_signs ? r + y.u.i : r, at);
	case OP_DIV: return sv_int(q, at);
	default: return sv_int(r, at);
	}
}

/* Gives an open operand the type of the other one. In comparisons a float constant makes integers compare in f64. */
static Sv meet(Cx *cx, OpCode op, TypeRule rule, Sv x, Sv other)
{
	Elem e = other.type->elem;
	bool steps = op == OP_ADD || op == OP_SUB, flt = sv_open_float(x);
	if (elem_is_ptr(e) && !flt) return lit_give(cx, x, EL_I64, other);
	if (elem_is_ptr(e)) return steps ? lit_zero(cx, x, EL_F32) : lit_give(cx, x, e, other);
	/* refused by the rule, with its own words */
	bool ints = rule == TR_CONV_INT || rule == TR_SHIFT, restricted = elem_rows[e].cls == EC_RFLOAT
		&& rule != TR_CONV_ANY_FLT;
	if (restricted || (ints && !elem_is_integral(e))) return lit_zero(cx, x, e);
	if (rule == TR_CMP && flt && elem_is_integral(e)) return lit_give(cx, x, EL_F64, other);
	if ((rule == TR_CONV_FLT || rule == TR_CONV_ANY_FLT) && elem_is_integral(e)) return lit_zero(cx, x, EL_F32);
	if (rule == TR_CONV_TO_FLT && elem_is_integral(e)) return lit_zero(cx, x, e);
	if (ints && flt) return lit_zero(cx, x, EL_F32);
	if (op == OP_DIV && x.kind == SV_FLOAT && elem_is_int(e)) return lit_divides(cx, x, e, other);
	return lit_give(cx, x, e, other);
}

static bool meet_both(Cx *cx, OpCode op, TypeRule rule, Sv *x, Sv *y)
{
	if (sv_open(*x) && sv_open(*y)) {
		bool flt = sv_open_float(*x) || sv_open_float(*y) || rule == TR_CONV_FLT || rule == TR_CONV_ANY_FLT ||
			rule == TR_CONV_TO_FLT;
		Elem e = flt ? EL_F32 : EL_I32;
		*x = lit_give(cx, *x, e, sv_absent(y->span));
		*y = lit_give(cx, *y, e, sv_absent(x->span));
	} else if (sv_open(*x)) {
		*x = meet(cx, op, rule, *x, *y);
	} else if (sv_open(*y)) {
		*y = meet(cx, op, rule, *y, *x);
	}
	return !sv_bad(*x) && !sv_bad(*y);
}

static bool is_null(Sv v)
{
	return v.kind == SV_CONST && elem_is_ptr(v.type->elem) && !v.u.num.i;
}

static Val *operand(Cx *cx, Sv x, Elem e, const Type *shape, Span at)
{
	at_span(cx, at);
	if (x.kind == SV_CONST)
		return const_val(cx, type_with_elem(shape, e), fold_cast(x.u.num, x.type->elem, e, (FoldModes){ 0 }));
	Val *v = conv_val(cx, x);
	at_span(cx, at);
	v = val_cast(cx, v, e, (FoldModes){ 0 });
	return val_broadcast(cx, v, shape);
}

static Sv warn_shift(Cx *cx, OpCode op, Sv x, Sv y)
{
	Num n;
	if ((op != OP_SHL && op != OP_SHR) || !sv_const_num(y, &n) || !elem_is_integral(y.type->elem)) return y;
	int w = elem_bits(x.type->elem);
	if (n.i >= 0 && n.i < w) return y;
	Diag *d = cx_diag(cx, D_SHIFT_COUNT, y.span, str_i64(n.i), elem_name(x.type->elem));
	diag_note(d, "counts are taken modulo the width: this shifts by %d", (int)((uint64_t)n.i % (unsigned)w));
	return y;
}

/* "`+`", not "`add`": only the operators know pointers. */
static bool is_operator(Str shown)
{
	return shown[0] == '`' && !(shown[1] >= 'a' && shown[1] <= 'z');
}

static void warn_zero(Cx *cx, OpCode op, Sv y, Elem e)
{
	Num n;
	bool divides = op == OP_DIV || op == OP_REM || op == OP_CEILDIV || op == OP_FLOORDIV || op == OP_FLOORMOD;
	if (!divides || elem_is_ptr(e) || !elem_is_integral(e) || !sv_const_num(y, &n) || n.i) return;
	cx_diag0(cx, D_DIVIDE_ZERO, y.span);
}

static bool is_nan(Sv x)
{
	Num n;
	return sv_const_num(x, &n) && !elem_is_ptr(x.type->elem) && elem_is_any_float(x.type->elem) && isnan(n.f);
}

static void warn_nan(Cx *cx, OpCode op, Sv x, Sv y, Span at, Str shown)
{
	if (!op_compares(op) || (!is_nan(x) && !is_nan(y))) return;
	Sv v = is_nan(x) ? y : x;
	Diag *d = cx_diag(cx, D_NAN_COMPARE, at, shown, op == OP_NE ? "true" : "false");
	if (op != OP_EQ && op != OP_NE) return;
	Str fix = str_fmt("%sisnan(%s)", op == OP_NE ? "!" : "", span_source(v.span));
	diag_help(d, "write `%s`", fix);
	diag_edit(d, (Span){ x.span.lo, y.span.hi }, fix);
}

/* The result of a comparison with c of every number from lo to hi; false: it depends on the number. */
static bool decided(OpCode op, Flt lo, Flt hi, Flt c, bool *result)
{
	int least = exact_cmp(lo, c), greatest = exact_cmp(hi, c);
	bool below = greatest < 0, above = least > 0;
	switch (op) {
	case OP_LT: *result = below; return below || least >= 0;
	case OP_LE: *result = greatest <= 0; return *result || above;
	case OP_GT: *result = above; return above || greatest <= 0;
	case OP_GE: *result = least >= 0; return *result || below;
	default: *result = op == OP_NE; return below || above;
	}
}

/* A comparison of integers that the range of their type decides. In generic code the type or the number may be another
 * one in another instance. */
static void warn_decided(Cx *cx, OpCode op, Sv x, Sv y, Span at, Str shown)
{
	static const OpCode turned[] = { OP_EQ, OP_NE, OP_GT, OP_GE, OP_LT, OP_LE };
	Num n;
	bool result, turn = sv_const_num(x, &n);
	if (!op_compares(op) || is_nan(x) || is_nan(y)) return;
	Sv v = turn ? y : x, c = turn ? x : y;
	Elem e = v.type->elem;
	if (sv_const_num(v, &n) || !sv_const_num(c, &n) || elem_is_ptr(e) || !elem_is_integral(e)) return;
	if (elem_is_ptr(c.type->elem) || elem_varies(cx, e)) return;
	Str number = span_source(c.span);
	if (cx->frame->generic && !strchr("-0123456789", *number)) return;
	OpCode as = turn ? turned[op - OP_EQ] : op;
	if (!decided(as, exact_num(e, num_least(e)), exact_num(e, num_greatest(e)), exact_num(c.type->elem, n), &result))
		return;
	bool sign = elem_rows[e].cls == EC_UINT && ((as == OP_LT && !result) || (as == OP_GE && result));
	say_decided(cx, at, str_fmt("%s with %s", shown, number), result ? "true" : "false", v, sign);
}

/* Whether v is a constant of known value: of its type, or exact without one. */
static bool exact_const(Sv v, Flt *c)
{
	Num n;
	if (sv_untyped(v)) *c = exact_of(v);
	else if (sv_const_num(v, &n) && !elem_is_ptr(v.type->elem)) *c = exact_num(v.type->elem, n);
	else return false;
	return !exact_is_nan(*c);
}

/* Whether the range of an integer's type decides what min or max with a constant is: the operand or the constant. */
static bool decided_bound(Cx *cx, OpCode op, Sv v, Sv bound, bool *operand)
{
	Flt c;
	if (!exact_const(bound, &c) || sv_untyped(v) || v.kind == SV_LIT || v.kind == SV_CONST) return false;
	Elem e = v.type->elem;
	if (elem_is_ptr(e) || !elem_is_integral(e) || elem_varies(cx, e)) return false;
	if (cx->frame->generic && !strchr("-0123456789", *span_source(bound.span))) return false;
	bool least = exact_cmp(exact_num(e, num_least(e)), c) >= 0, most = exact_cmp(exact_num(e, num_greatest(e)), c) <= 0;
	*operand = op == OP_MAX ? least : most;
	return least || most;
}

/* max(v, 0) of an unsigned number. */
static void warn_bound(Cx *cx, OpCode op, Sv x, Sv y, Span at, Str shown)
{
	bool operand;
	Sv v = decided_bound(cx, op, x, y, &operand) ? x : y, c = v.span.lo == x.span.lo ? y : x;
	if (!decided_bound(cx, op, v, c, &operand)) return;
	Str number = span_source(c.span);
	say_decided(cx, at, str_fmt("%s with %s", shown, number), operand ? "its other operand" : number, v,
		elem_rows[v.type->elem].cls == EC_UINT && (op == OP_MAX) == operand);
}

/* A bound of clamp that does nothing may be there because clamp takes two, unless a difference was to be cut at 0. */
static void warn_clamped(Cx *cx, Sv x, Sv lo, Sv hi, Span at, Str shown)
{
	bool least, most = false;
	if (!decided_bound(cx, OP_MAX, x, lo, &least) || !least) return;
	bool both = decided_bound(cx, OP_MIN, x, hi, &most) && most;
	if (!both && !may_be_negative(x)) return;
	say_decided(cx, at, str_fmt("%s with %s .. %s", shown, span_source(lo.span), span_source(hi.span)),
		both ? "its operand" : "only an upper bound", x, may_be_negative(x));
}

/* A quotient that is written where it becomes a float: it has lost its fraction. */
static void warn_quotient(Cx *cx, OpCode code, Sv x, Elem to)
{
	bool arithmetic = code == OP_ADD || code == OP_SUB || code == OP_MUL || code == OP_DIV;
	if (arithmetic && x.kind == SV_CONST && !elem_is_ptr(to) && elem_is_any_float(to)) warn_cut(cx, x);
	const Op *op = arithmetic && x.kind == SV_VAL ? x.u.val->def : NULL;
	if (!op || op->code != OP_DIV || elem_is_ptr(to) || !elem_is_any_float(to) || !elem_is_integral(x.type->elem))
		return;
	if (op->span.lo < x.span.lo || op->span.hi > x.span.hi) return;
	bool brackets = span_source(x.span)[0] == '(';
	Span at = { x.span.lo + brackets, x.span.hi - brackets };
	Str one = sv_is_tile(x) ? "element_cast(..., f32)" : "f32(...)";
	Diag *d = cx_diag(cx, D_QUOTIENT_CUT, at, span_source(at), "a whole number");
	diag_help(d,
		"`%s` around an operand divides floats, and around the quotient it says that the whole number is meant", one);
}

void warn_count(Cx *cx, Sv x, Sv y, Span at, Str shown)
{
	if (x.type->elem != EL_BOOL || y.type->elem != EL_BOOL || x.kind != SV_VAL) return;
	Diag *d = cx_diag(cx, D_BOOL_SUM, at, shown);
	label_operand(d, x);
	help_cast(cx, d, x, EL_I32);
}

/* [8] with [8, 1]: nobody asked for [8, 8]. */
static void warn_grown(Cx *cx, Sv x, Sv y, const Type *r, Span at, Str shown)
{
	if (!sv_is_tile(x) || !sv_is_tile(y) || x.type->rank == y.type->rank || !x.type->rank || !y.type->rank) return;
	int size = type_log2_size(r);
	if (size == type_log2_size(x.type) || size == type_log2_size(y.type)) return;
	Sv less = x.type->rank < y.type->rank ? x : y;
	Diag *d = cx_diag(cx, D_RANK_RAISED, at, shown, sv_what(x), sv_what(y), type_text(r));
	label_operand(d, x);
	label_operand(d, y);
	if (r->rank - less.type->rank != 1 || str_len(span_source(less.span)) > 40) return;
	Str text = str_fmt("expand(%s, 0)", span_source(less.span));
	diag_help(d, "if that is meant, say so: `%s`", text);
	diag_edit(d, less.span, text);
}

Sv elem_binary(Cx *cx, OpCode op, Sv x, Sv y, const Modes *m, Span at, Str shown)
{
	TypeRule rule = op_rows[op].type;
	if (!is_value(cx, x, shown) || !is_value(cx, y, shown)) return sv_poison(at);
	if (sv_untyped(x) && sv_untyped(y)) {
		Sv r = untyped_binary(cx, op, x, y, at);
		if (r.kind == SV_NONE) return sv_poison(at);
		if (!sv_bad(r)) return r;
	}
	if (rule == TR_CONV && shown == str_intern("`%`")) rule = TR_CONV_INT;
	if (!meet_both(cx, op, rule, &x, &y)) return sv_poison(at);
	bool pointers = elem_is_ptr(x.type->elem) || elem_is_ptr(y.type->elem);
	if (pointers && (is_null(x) || is_null(y)) && op >= OP_LT && op <= OP_GE) {
		Diag *d = cx_diag(cx, D_NULL_ORDER, at, shown);
		diag_help(d, "compare with `==` or `!=`");
		return sv_poison(at);
	}
	if (is_null(x) && elem_is_ptr(y.type->elem)) x = sv_const(y.type->elem, x.u.num, x.span);
	else if (is_null(y) && elem_is_ptr(x.type->elem)) y = sv_const(x.type->elem, y.u.num, y.span);
	if (pointers && (op == OP_ADD || op == OP_SUB) && is_operator(shown)) return pointer_arith(cx, op, x, y, at, shown);
	Ruling r = rule_binary(rule, x.type, y.type);
	if (r.why != RULE_OK) {
		report_ruling(cx, r, x, y, at, shown);
		return sv_poison(at);
	}
	if (!modes_allowed(cx, op, r.elem, m)) return sv_poison(at);
	y = warn_shift(cx, op, x, y);
	warn_zero(cx, op, y, r.elem);
	if (op == OP_ADD) warn_count(cx, x, y, at, shown);
	warn_nan(cx, op, x, y, at, shown);
	warn_decided(cx, op, x, y, at, shown);
	warn_quotient(cx, op, x, r.elem);
	warn_quotient(cx, op, y, r.elem);
	warn_grown(cx, x, y, r.type, at, shown);
	if (x.kind == SV_CONST && y.kind == SV_CONST) {
		Num in[2] = { fold_cast(x.u.num, x.type->elem, r.elem, (FoldModes){ 0 }),
			fold_cast(y.u.num, y.type->elem, r.elem, (FoldModes){ 0 }) };
		Sv c = folded(op, modes_fold(m), r.elem, r.type->elem, 2, in, at);
		if (!sv_bad(c)) return c;
	}
	Val *a = operand(cx, x, r.elem, r.type, at), *b = operand(cx, y, r.elem, r.type, at);
	Val *res = ir_binary(&cx->b, op, r.type, a, b);
	modes_put(res->def, m);
	if (cx->no_contract && (op == OP_MUL || op == OP_ADD || op == OP_SUB)) ir_set_int(res->def, AT_CONTRACT, 1);
	check_arith(cx, op, a, b, res, at);
	return sv_val(res, at);
}

Sv elem_logic(Cx *cx, OpCode op, Sv x, Sv y, Span at, Str shown)
{
	if (sv_untyped(x)) x = conv_cond(cx, x, x.span);
	if (sv_untyped(y)) y = conv_cond(cx, y, y.span);
	x = lit_default(cx, x);
	y = lit_default(cx, y);
	if (!is_value(cx, x, shown) || !is_value(cx, y, shown)) return sv_poison(at);
	Ruling r = rule_binary(TR_LOGIC, x.type, y.type);
	if (r.why != RULE_OK) {
		report_ruling(cx, r, x, y, at, shown);
		return sv_poison(at);
	}
	Val *a = conv_val(cx, x), *b = conv_val(cx, y);
	at_span(cx, at);
	a = val_broadcast(cx, val_bool(cx, a), r.type);
	b = val_broadcast(cx, val_bool(cx, b), r.type);
	return sv_folded(val_op2(cx, op, a, b), at);
}

/* ---- select, fma, clamp ---- */

/* An open arm takes the type of the other, and its shape unless it has one. */
static Sv arm_like(Cx *cx, Sv x, Sv other)
{
	Sv v = lit_give(cx, x, other.type->elem, other);
	if (sv_bad(v) || !sv_is_tile(other) || sv_is_tile(v)) return v;
	Val *s = conv_val(cx, v);
	at_span(cx, x.span);
	return sv_val(val_broadcast(cx, s, other.type), x.span);
}

/* `true`, `false` and other bools that are known have a type of their own, but take a shape as numbers do. */
static bool is_known_bool(Sv x) { return x.kind == SV_CONST && x.type->elem == EL_BOOL; }

static void bool_like(Cx *cx, Sv *x, const Type *t)
{
	if (!is_known_bool(*x)) return;
	Val *s = conv_val(cx, *x);
	at_span(cx, x->span);
	*x = sv_val(val_broadcast(cx, s, t), x->span);
}

static bool select_arms(Cx *cx, Sv c, Sv *a, Sv *b)
{
	if (sv_untyped(*a) && sv_untyped(*b)) {
		Elem e = a->kind == SV_FLOAT || b->kind == SV_FLOAT ? EL_F32 : EL_I32;
		*a = lit_adapt(cx, *a, e, sv_absent(b->span));
		*b = lit_adapt(cx, *b, e, sv_absent(a->span));
		if (sv_bad(*a) || sv_bad(*b)) return false;
		if (!sv_is_tile(c)) return true;
		Val *va = conv_val(cx, *a), *vb = conv_val(cx, *b);
		*a = sv_val(val_broadcast(cx, va, c.type), a->span);
		*b = sv_val(val_broadcast(cx, vb, c.type), b->span);
		return true;
	}
	if (sv_open(*a) && sv_open(*b)) {       /* a tile literal decides for both */
		Sv *lit = a->kind == SV_LIT ? a : b;
		*lit = lit_give(cx, *lit, sv_open_float(*a) || sv_open_float(*b) ? EL_F32 : EL_I32, sv_absent(lit->span));
		if (sv_bad(*lit)) return false;
	}
	if (sv_open(*a)) *a = arm_like(cx, *a, *b);
	else if (sv_open(*b)) *b = arm_like(cx, *b, *a);
	if (sv_bad(*a) || sv_bad(*b)) return false;
	const Type *t = is_known_bool(*a) ? b->type : is_known_bool(*b) ? a->type : NULL;
	if (t && t->elem == EL_BOOL && !type_is_tile(t)) t = sv_is_tile(c) && is_known_bool(*a) && is_known_bool(*b)
		? type_with_elem(c.type, EL_BOOL) : NULL;
	if (t && t->elem == EL_BOOL) bool_like(cx, a, t), bool_like(cx, b, t);
	return true;
}

/* Arms have one shape: where arithmetic would broadcast them to each other, both are broadcast to what that gives. */
static void help_arms(Cx *cx, Diag *d, Sv a, Sv b)
{
	uint8_t log2[TILE_RANK];
	int rank, axis;
	if (!sv_is_tile(a) || !sv_is_tile(b) || !rule_mutual(a.type, b.type, &rank, log2, &axis)) return;
	Str shape = extent_names(cx, rank, log2);
	if (!shape) shape = str_intern("shape");
	diag_help(d, "arms are not broadcast to each other, but `broadcast(%s, %s)` and `broadcast(%s, %s)` have one shape",
		shortened(a.span), shape, shortened(b.span), shape);
}

/* `0u8`: the number without its type; else NULL. */
static Str bare_literal(Sv x)
{
	Str src = span_source(x.span), suffix = x.type ? elem_name(x.type->elem) : "";
	size_t n = str_len(src), k = strlen(suffix);
	bool number = x.kind == SV_CONST && src[0] >= '0' && src[0] <= '9' && n > k && !strcmp(src + n - k, suffix);
	return number && src[strspn(src, "0123456789.")] == suffix[0] ? str_intern_n(src, n - k) : NULL;
}

static Sv report_arms(Cx *cx, Sv a, Sv b, Span at)
{
	Diag *d = cx_diag(cx, D_ARMS, at, "`select`", sv_what(a), sv_what(b));
	label_operand(d, a);
	label_operand(d, b);
	int axis;
	Sv small = sv_is_tile(b) && (!sv_is_tile(a) || type_size(a.type) < type_size(b.type)) ? a : b;
	const Type *big = small.span.lo == a.span.lo ? b.type : a.type;
	Str bare = bare_literal(small);
	if (a.type->elem != b.type->elem) {
		help_cast(cx, d, b, a.type->elem);
	} else if (type_is_tile(big) && bare) {
		diag_help(d, "a number without a type takes the other value's type and shape: write `%s`", bare);
		diag_edit(d, small.span, bare);
	} else if (type_is_tile(big) && rule_one_way(small.type, big->rank, big->log2, &axis)) {
		help_shape(cx, d, small, "broadcast", big);
	} else {
		help_arms(cx, d, a, b);
	}
	return sv_poison(at);
}

/* Scalars chosen by a tile: those that have a type are broadcast; a number without one takes the shape of the other. */
static void help_scalar_arms(Cx *cx, Diag *d, const Type *c, const Sv arm[2])
{
	Str shape = extent_names(cx, c->rank, c->log2), text[2];
	if (!shape) shape = shape_text(c->rank, c->log2);
	int n = 0;
	for (int i = 0; i < 2; i++)
		if (!sv_open(arm[i])) text[n++] = str_fmt("broadcast(%s, %s)", shortened(arm[i].span), shape);
	if (n == 2) diag_help(d, "the values are not broadcast by themselves: write `%s` and `%s`", text[0], text[1]);
	else diag_help(d, "the number without a type takes the shape of the other value: write `%s`", text[0]);
	for (int i = 0; i < 2; i++)
		if (!sv_open(arm[i])) diag_edit(d, arm[i].span, str_fmt("broadcast(%s, %s)", span_source(arm[i].span), shape));
}

static Sv elem_select(Cx *cx, Sv c, Sv a, Sv b, Span at)
{
	if (sv_bad(c) || sv_bad(a) || sv_bad(b)) return sv_poison(at);
	c = sv_untyped(c) ? conv_cond(cx, c, c.span) : lit_default(cx, c);
	if (!is_value(cx, c, "`select`") || !is_value(cx, a, "`select`") || !is_value(cx, b, "`select`"))
		return sv_poison(at);
	if (!elem_is_ptr(c.type->elem) && elem_rows[c.type->elem].cls == EC_RFLOAT) {
		cx_diag(cx, D_RESTRICTED, c.span, "a condition", elem_name(c.type->elem));
		return sv_poison(at);
	}
	at_span(cx, at);
	const Sv given[2] = { a, b };
	if (!select_arms(cx, c, &a, &b)) return sv_poison(at);
	if (a.type != b.type) return report_arms(cx, a, b, at);
	if (!spreads_to(c, a.type)) {
		uint8_t log2[TILE_RANK];
		int rank, axis;
		Diag *d = cx_diag(cx, D_SELECT_COND, at, sv_what(c), sv_what(a));
		label_operand(d, c);
		label_operand(d, a);
		if (sv_is_tile(c) && sv_is_scalar(a)) help_scalar_arms(cx, d, c.type, given);
		else if (sv_is_tile(c) && sv_is_tile(a) && rule_mutual(c.type, a.type, &rank, log2, &axis)) {
			Str shape = extent_names(cx, rank, log2);
			diag_help(d, "the arms say the shape: give both that of the result, as in `broadcast(%s, %s)`",
				shortened(a.span), shape ? shape : shape_text(rank, log2));
		}
		return sv_poison(at);
	}
	Val *cv = conv_val(cx, c), *av = conv_val(cx, a), *bv = conv_val(cx, b);
	at_span(cx, at);
	return sv_folded(val_select(cx, val_spread(cx, val_bool(cx, cv), a.type), av, bv), at);
}

static Sv elem_fma(Cx *cx, Sv a, Sv b, Sv acc, const Modes *m, Span at)
{
	Sv *x[3] = { &a, &b, &acc };
	for (int i = 0; i < 3; i++)
		if (!is_value(cx, *x[i], "`fma`")) return sv_poison(at);
	if (a.kind == SV_LIT && sv_open(b) && sv_open(acc)) a = lit_give(cx, a, EL_F32, acc);
	if (b.kind == SV_LIT && sv_open(a) && sv_open(acc)) b = lit_give(cx, b, EL_F32, acc);
	if (sv_open(acc) && sv_open(a) && sv_open(b)) acc = lit_give(cx, acc, EL_F32, a);
	else if (sv_open(acc)) acc = arm_like(cx, acc, sv_open(a) || (sv_is_scalar(a) && sv_is_tile(b)) ? b : a);
	if (sv_bad(acc)) return acc;
	const Type *t = acc.type;
	if (elem_is_ptr(t->elem) || !elem_is_float(t->elem)) {
		Diag *d = cx_diag(cx, D_NEED_FLOAT, at, "`fma`", sv_what(acc));
		label_operand(d, acc);
		return sv_poison(at);
	}
	Val *v[3];
	for (int i = 0; i < 2; i++) {
		Sv f = sv_open(*x[i]) ? lit_give(cx, *x[i], t->elem, acc) : *x[i];
		if (sv_bad(f)) return f;
		if (!elem_is_ptr(f.type->elem) && elem_rows[f.type->elem].cls == EC_RFLOAT) {
			Diag *d = cx_diag(cx, D_RESTRICTED, at, "`fma`", elem_name(f.type->elem));
			label_operand(d, f);
			help_cast(cx, d, f, t->elem);
			return sv_poison(at);
		}
		bool shape = spreads_to(f, t);
		if (!shape || rule_narrows(f.type->elem, t->elem)) {
			Diag *d = cx_diag(cx, D_FMA_FACTOR, at, sv_what(f), sv_what(acc));
			label_operand(d, f);
			label_operand(d, acc);
			if (shape) help_cast(cx, d, f, t->elem);
			return sv_poison(at);
		}
		Val *fv = conv_val(cx, f);
		at_span(cx, at);
		v[i] = val_spread(cx, val_cast(cx, fv, t->elem, (FoldModes){ 0 }), t);
	}
	if (!modes_allowed(cx, OP_FMA, t->elem, m)) return sv_poison(at);
	v[2] = conv_val(cx, acc);
	Num in[3], r;
	bool constant = type_is_scalar(t);
	for (int i = 0; i < 3; i++) constant &= ir_const_value(v[i], &in[i]);
	if (constant && fold_op(OP_FMA, modes_fold(m), t->elem, t->elem, 3, in, &r)) return sv_const(t->elem, r, at);
	Val *res = ir_op1(at_span(cx, at), OP_FMA, t, 3, v);
	modes_put(res->def, m);
	return sv_val(res, at);
}

static bool is_greater(Elem e, Num a, Num b)
{
	return elem_is_any_float(e) ? a.f > b.f : e == EL_U64 ? (uint64_t)a.i > (uint64_t)b.i : a.i > b.i;
}

/* Of min(max(x, lo), hi) nothing depends on x. */
static void warn_clamp(Cx *cx, const Call *c, Sv r)
{
	const Op *min = r.kind == SV_VAL ? r.u.val->def : NULL, *max = min && min->code == OP_MIN ? ir_in(min, 0)->def
		: NULL;
	Num lo, hi;
	if (!max || max->code != OP_MAX || !ir_const_value(ir_in(max, 1), &lo) || !ir_const_value(ir_in(min, 1), &hi))
		return;
	Elem e = r.type->elem;
	if (is_greater(e, lo, hi)) cx_diag(cx, D_CLAMP, c->span, ir_num_text(e, hi), ir_num_text(e, lo));
}

static Sv clamp(Cx *cx, Call *c)
{
	Sv x = arg_operand(cx, c, 0), lo = arg_operand(cx, c, 1), hi = arg_operand(cx, c, 2);
	if (sv_bad(x) || sv_bad(lo) || sv_bad(hi)) return sv_poison(c->span);
	warn_clamped(cx, x, lo, hi, c->span, call_what(c));
	x = elem_binary(cx, OP_MAX, x, lo, &no_modes, c->span, call_what(c));
	if (sv_bad(x)) return x;
	Sv r = elem_binary(cx, OP_MIN, x, hi, &no_modes, c->span, call_what(c));
	warn_clamp(cx, c, r);
	return r;
}

/* ---- calls ---- */

Sv build_elem(Cx *cx, Call *c)
{
	Modes m;
	switch (c->op) {
	case OP_CAST: return elem_cast_call(cx, c);
	case OP_BITCAST: return elem_bitcast_call(cx, c);
	case OP_CLAMP: return clamp(cx, c);
	default: break;
	}
	Sv x[3];
	int n = 0;
	for (; n < c->sig->n && !c->sig->p[n].named; n++) x[n] = arg_operand(cx, c, n);
	if (!arg_modes(cx, c, &m)) return sv_poison(c->span);
	for (int i = 0; i < n; i++)
		if (sv_bad(x[i])) return sv_poison(c->span);
	OpCode op = c->op == OP_CDIV ? OP_CEILDIV : c->op;
	if (op == OP_SELECT) return elem_select(cx, x[0], x[1], x[2], c->span);
	if (op == OP_FMA) return elem_fma(cx, x[0], x[1], x[2], &m, c->span);
	if (n == 1) return elem_unary(cx, op, x[0], &m, c->span, call_what(c));
	if (op == OP_MIN || op == OP_MAX) warn_bound(cx, op, x[0], x[1], c->span, call_what(c));
	return elem_binary(cx, op, x[0], x[1], &m, c->span, call_what(c));
}

/* How many values an operation takes as a function: its arguments that must be given. */
int op_arity(OpCode op)
{
	const char *p = op_rows[op].sig;
	int n = *p != 0 && *p != ';';
	for (; *p && *p != ';' && *p != '?'; p++) n += *p == ',';
	return n - (*p == '?');
}

Sv op_call_values(Cx *cx, OpCode op, int n, const Sv *args, Span at)
{
	Str shown = str_fmt("`%s`", op_rows[op].name);
	for (int i = 0; i < n; i++)
		if (sv_bad(args[i])) return sv_poison(at);
	bool elementwise = op_rows[op].flags & OPF_ELEMWISE && op != OP_CAST && op != OP_BITCAST;
	if (op == OP_CDIV) op = OP_CEILDIV, elementwise = true;
	if (elementwise && n == 1 && op_rows[op].type != TR_CONV) return elem_unary(cx, op, args[0], &no_modes, at, shown);
	if (elementwise && n == 2 && op != OP_SELECT && op != OP_FMA)
		return elem_binary(cx, op, args[0], args[1], &no_modes, at, shown);
	if (op == OP_SELECT && n == 3) return elem_select(cx, args[0], args[1], args[2], at);
	if (op == OP_FMA && n == 3) return elem_fma(cx, args[0], args[1], args[2], &no_modes, at);
	cx_diag(cx, D_OP_AS_FN, at, shown);
	return sv_poison(at);
}
