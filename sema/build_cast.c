/* Calls of casts, and arithmetic with pointers. */
#include "sema/build.h"

/* ---- casts ---- */

Sv elem_bitcast_call(Cx *cx, Call *c)
{
	Elem to;
	Sv x = arg_value(cx, c, 0, NULL);
	if (!arg_elem(cx, c, 1, &to)) return sv_poison(c->span);
	x = conv_default(cx, x);
	if (!is_value(cx, x, call_what(c))) return sv_poison(c->span);
	Elem from = x.type->elem;
	if (elem_bytes(from) != elem_bytes(to)) {
		Diag *d = cx_diag(cx, D_BITCAST_SIZE, c->span, sv_what(x), elem_name(to), str_i64(elem_bytes(from)),
			str_i64(elem_bytes(to)));
		label_operand(d, x);
		return sv_poison(c->span);
	}
	if (from == to) return x;
	Val *v = conv_val(cx, x);
	return sv_folded(ir_unary(at_span(cx, c->span), OP_BITCAST, type_with_elem(v->type, to), v), c->span);
}

Sv elem_cast_call(Cx *cx, Call *c)
{
	Elem to;
	Modes m;
	Sv x = arg_value(cx, c, 0, NULL);
	if (!arg_elem(cx, c, 1, &to) || !arg_modes(cx, c, &m) || sv_bad(x)) return sv_poison(c->span);
	return elem_cast(cx, x, to, &m, c->span);
}

/* ---- pointers ---- */

static bool pointee_known(Cx *cx, Sv p, Span at, Str shown)
{
	if (elem_pointee(p.type->elem) != EL_VOID) return true;
	Diag *d = cx_diag(cx, D_PTR_VOID, at, shown);
	label_operand(d, p);
	return false;
}

static Sv pointer_shapes(Cx *cx, Sv x, Sv y, const Type **t, Elem e, Span at, Str shown)
{
	Ruling r = rule_binary(TR_LOGIC, x.type, y.type);       /* any types: only the shapes matter */
	if (r.why != RULE_OK) {
		report_ruling(cx, r, x, y, at, shown);
		return sv_poison(at);
	}
	if (!result_fits(cx, e, r.type, x, y, at, shown)) return sv_poison(at);
	*t = type_with_elem(r.type, e);
	return sv_none(at);
}

Sv pointer_arith(Cx *cx, OpCode op, Sv x, Sv y, Span at, Str shown)
{
	bool px = elem_is_ptr(x.type->elem), py = elem_is_ptr(y.type->elem);
	const Type *t = NULL;
	bool diff = px && py && op == OP_SUB && x.type->elem == y.type->elem;
	bool step = px != py && elem_is_integral(px ? y.type->elem : x.type->elem) && (px || op == OP_ADD);
	if (!diff && !step) {
		Diag *d = cx_diag(cx, D_PTR_ARITH, at, shown, operand_types(x, y));
		label_operand(d, x);
		label_operand(d, y);
		diag_help(d, "pointers take `p + i`, `i + p`, `p - i` and `p - q`, where `i` counts elements");
		return sv_poison(at);
	}
	if (!pointee_known(cx, px ? x : y, at, shown)) return sv_poison(at);
	if (sv_bad(pointer_shapes(cx, x, y, &t, px ? x.type->elem : y.type->elem, at, shown))) return sv_poison(at);
	Val *a = conv_val(cx, px ? x : y), *b = conv_val(cx, px ? y : x);
	at_span(cx, at);
	if (diff) {
		a = val_broadcast(cx, a, t);
		b = val_broadcast(cx, b, t);
		return sv_val(ir_binary(&cx->b, OP_PTR_DIFF, type_with_elem(t, EL_I64), a, b), at);
	}
	b = val_i64(cx, b);
	if (op == OP_SUB) b = val_op2(cx, OP_SUB, const_val(cx, b->type, num_int(0)), b);
	b = val_broadcast(cx, b, t);
	a = val_broadcast(cx, a, t);
	return sv_val(ir_binary(&cx->b, OP_PTR_ADD, t, a, b), at);
}
