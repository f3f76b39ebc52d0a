/* The checks of --checked, and of arithmetic among them: overflow, division by zero, shift counts, casts. */
#include "sema/build.h"

Val *check_truth(Cx *cx, Sv c, Span at)
{
	if (sv_untyped(c)) c = conv_cond(cx, c, at);
	if (!is_value(cx, c, "`assert`")) return NULL;
	if (!elem_is_ptr(c.type->elem) && elem_rows[c.type->elem].cls == EC_RFLOAT) {
		cx_diag(cx, D_RESTRICTED, at, "a condition", elem_name(c.type->elem));
		return NULL;
	}
	Val *v = conv_val(cx, c);
	at_span(cx, at);
	return val_bool(cx, v);
}

void build_check(Cx *cx, Sv cond, Str text, Span at)
{
	Num n;
	if (!cx->opt->checked || sv_bad(cond) || (cond.kind == SV_CONST && cond.u.num.i)) return;
	Val *v = check_truth(cx, cond, at);
	if (!v || (ir_const_value(v, &n) && n.i)) return;
	Op *op = ir_op(at_span(cx, at), OP_CHECK, 1, &v, 0, NULL);
	ir_set_str(op, AT_TEXT, text);
}

static void check_not_zero(Cx *cx, Val *y, Span at)
{
	Num n;
	if (!cx->opt->checked || (ir_const_value(y, &n) && n.i)) return;
	Val *ok = val_cmp(cx, OP_NE, y, const_val(cx, y->type, num_int(0)));
	build_check(cx, sv_val(ok, at), str_fmt("division by zero in `%s`", span_source(at)), at);
}

static void check_overflow(Cx *cx, OpCode op, Val *x, Val *y, Val *r, Span at)
{
	Val *ok = NULL;
	if (!cx->opt->checked || !elem_is_signed(x->type->elem)) return;
	if (op == OP_ADD || op == OP_SUB) {
		ok = val_cmp(cx, OP_EQ, r, ir_binary(&cx->b, op == OP_ADD ? OP_ADD_SAT : OP_SUB_SAT, x->type, x, y));
	} else if (op == OP_DIV || op == OP_CEILDIV || op == OP_FLOORDIV) {
		Num n;
		if (ir_const_value(y, &n) && n.i != -1) return;
		Val *other = val_cmp(cx, OP_NE, y, const_val(cx, y->type, num_int(-1)));
		ok = val_op2(cx, OP_OR, val_cmp(cx, OP_NE, x, const_val(cx, x->type, num_least(x->type->elem))), other);
	} else if (op == OP_MUL) {
		Val *sign = const_val(cx, x->type, num_int(elem_bits(x->type->elem) - 1));
		Val *signs = ir_binary(&cx->b, OP_SHR, x->type, r, sign);
		ok = val_cmp(cx, OP_EQ, ir_binary(&cx->b, OP_MULHI_SIGNED, x->type, x, y), signs);
	}
	if (ok) build_check(cx, sv_val(ok, at), str_fmt("integer overflow in `%s`", span_source(at)), at);
}

static void check_count(Cx *cx, Val *y, Span at)
{
	if (!cx->opt->checked) return;
	Val *top = const_val(cx, y->type, num_int(elem_bits(y->type->elem) - 1));
	Val *below = val_cmp(cx, OP_LE, y, top);
	Val *ok = val_op2(cx, OP_AND, val_cmp(cx, OP_GE, y, const_val(cx, y->type, num_int(0))), below);
	build_check(cx, sv_val(ok, at), str_fmt("shift count outside the width in `%s`", span_source(at)), at);
}

void check_arith(Cx *cx, OpCode op, Val *x, Val *y, Val *r, Span at)
{
	if (!elem_is_int(x->type->elem)) return;
	switch (op) {
	case OP_DIV: case OP_REM: case OP_CEILDIV: case OP_FLOORDIV: case OP_FLOORMOD:
		check_not_zero(cx, y, at);
		check_overflow(cx, op, x, y, r, at);
		break;
	case OP_SHL: case OP_SHR: check_count(cx, y, at); break;
	default: check_overflow(cx, op, x, y, r, at); break;
	}
}

/* The least integer has no opposite. */
void check_opposite(Cx *cx, OpCode op, Val *x, Span at)
{
	if (!cx->opt->checked || (op != OP_NEG && op != OP_ABS) || !elem_is_int(x->type->elem)
		|| !elem_is_signed(x->type->elem))
		return;
	Val *ok = val_cmp(cx, OP_NE, x, const_val(cx, x->type, num_least(x->type->elem)));
	build_check(cx, sv_val(ok, at), str_fmt("integer overflow in `%s`", span_source(at)), at);
}

void check_cast(Cx *cx, Val *x, Val *r, Span at)
{
	Elem from = x->type->elem, to = r->type->elem;
	if (!cx->opt->checked || to == EL_BOOL || !elem_is_int(to) || !rule_narrows(from, to) || elem_is_ptr(from)) return;
	Val *ok;
	if (elem_is_any_float(from)) {
		Val *wide = val_cast(cx, x, EL_F64, (FoldModes){ 0 });
		/* the bounds are exact in f64 but for the upper one of 64 bits, which is written as
		 * the first value too large */
		double lo = (double)num_least(to).i - (elem_bytes(to) == 8 ? 0 : 1);
		double hi = elem_is_signed(to) ? -(double)num_least(EL_I64).i : 18446744073709551616.0;
		if (elem_bytes(to) < 8) hi = (double)num_greatest(to).i + 1;
		Val *below = val_cmp(cx, OP_LT, wide, const_val(cx, wide->type, num_float(hi)));
		Val *least = const_val(cx, wide->type, num_float(elem_is_signed(to) ? lo : -1));
		ok = val_op2(cx, OP_AND, val_cmp(cx, elem_bytes(to) == 8 && elem_is_signed(to) ? OP_GE : OP_GT, wide, least),
			below);
	} else {
		ok = val_cmp(cx, OP_EQ, val_cast(cx, r, from, (FoldModes){ 0 }), x);
		Val *zero_x = const_val(cx, x->type, num_int(0)), *zero_r = const_val(cx, r->type, num_int(0));
		Val *sign_r = val_cmp(cx, OP_LT, r, zero_r), *signs = val_cmp(cx, OP_EQ, val_cmp(cx, OP_LT, x, zero_x), sign_r);
		ok = val_op2(cx, OP_AND, ok, signs);
	}
	build_check(cx, sv_val(ok, at), str_fmt("value of `%s` outside %s", span_source(at), elem_name(to)), at);
}
