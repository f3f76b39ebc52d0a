/* Operators: on untyped constants exactly, on typed values through the elementwise builders. `&&` and `||` of two
 * scalars and `?:` evaluate only what they need. */
#include "sema/build.h"

#include <string.h>

/* ---- untyped constants ---- */

static Sv too_large(Cx *cx, Span at)
{
	cx_diag0(cx, D_CONST_RANGE, at);
	return sv_poison(at);
}

static Sv zero_division(Cx *cx, Span at)
{
	cx_diag0(cx, D_CONST_DIV_ZERO, at);
	return sv_poison(at);
}

/* Whole floats are integers to whoever needs one; everything else stays what it is. */
static Sv int_shift(Cx *cx, BinOp op, Int a, Int b, Span at)
{
	if (b < 0 || b > 126) return too_large(cx, at);
	if (op == BIN_SHR) return sv_int(a >> (int)b, at);
	Int r;
	if (__builtin_mul_overflow(a, (Int)1 << (int)b, &r)) return too_large(cx, at);
	return sv_int(r, at);
}

static Sv int_arith(Cx *cx, BinOp op, Int a, Int b, Span at)
{
	Int r = 0;
	bool over = false;
	switch (op) {
	case BIN_ADD: over = __builtin_add_overflow(a, b, &r); break;
	case BIN_SUB: over = __builtin_sub_overflow(a, b, &r); break;
	case BIN_MUL: over = __builtin_mul_overflow(a, b, &r); break;
	case BIN_DIV: case BIN_MOD:
		if (!b) return zero_division(cx, at);
		if (b == -1) {          /* the quotient of the least integer does not fit */
			over = op == BIN_DIV && __builtin_sub_overflow((Int)0, a, &r);
			break;
		}
		r = op == BIN_DIV ? a / b : a % b;
		break;
	case BIN_AND: r = a & b; break;
	case BIN_OR: r = a | b; break;
	case BIN_XOR: r = a ^ b; break;
	case BIN_SHL: case BIN_SHR: return int_shift(cx, op, a, b, at);
	default: return sv_poison(at);
	}
	return over ? too_large(cx, at) : sv_int(r, at);
}

static bool is_compare(BinOp op)
{
	return op >= BIN_EQ && op <= BIN_GE;
}

static Sv compared(BinOp op, int c, Span at)    /* c: -1 0 1, 2: unordered */
{
	bool r = false;
	switch (op) {
	case BIN_EQ: r = c == 0; break;
	case BIN_NE: r = c != 0; break;
	case BIN_LT: r = c == -1; break;
	case BIN_LE: r = c == -1 || c == 0; break;
	case BIN_GT: r = c == 1; break;
	default: r = c == 1 || c == 0; break;
	}
	return sv_bool(r, at);
}

static Sv float_arith(Cx *cx, BinOp op, Sv l, Sv r, Span at)
{
	Flt a = exact_of(l), b = exact_of(r), v = NULL;
	switch (op) {
	case BIN_ADD: v = exact_add(a, b); break;
	case BIN_SUB: v = exact_sub(a, b); break;
	case BIN_MUL: v = exact_mul(a, b); break;
	case BIN_DIV:
		if (exact_is_zero(b)) return zero_division(cx, at);
		v = exact_div(a, b);
		break;
	case BIN_MOD:
		if (exact_is_zero(b)) return zero_division(cx, at);
		v = exact_rem(a, b);
		break;
	default:
		cx_diag(cx, D_NEED_INT, at, str_fmt("`%s`", binop_text(op)), sv_what(l.kind == SV_FLOAT ? l : r));
		return sv_poison(at);
	}
	return v ? sv_float(v, at) : too_large(cx, at);
}

static Sv untyped_binary(Cx *cx, BinOp op, Sv l, Sv r, Span at, Span whole)
{
	Sv v;
	if (is_compare(op)) return compared(op, exact_cmp(exact_of(l), exact_of(r)), whole);
	if (l.kind == SV_INT && r.kind == SV_INT) {
		v = int_arith(cx, op, l.u.i, r.u.i, at);
		v.cut = l.cut || r.cut || (op == BIN_DIV && !sv_bad(v) && r.u.i != -1 && l.u.i % r.u.i);
	} else {
		warn_cut(cx, l);
		warn_cut(cx, r);
		v = float_arith(cx, op, l, r, at);
	}
	v.span = whole;
	return v;
}

/* ---- unary ---- */

static Sv untyped_unary(Cx *cx, UnOp op, Sv x, Span at)
{
	if (op == UN_PLUS) {
		x.span = at;
		return x;
	}
	if (op == UN_NOT) return sv_bool(exact_is_zero(exact_of(x)), at);
	if (x.kind == SV_FLOAT) {
		if (op == UN_NEG) return sv_float(exact_neg(x.u.f), at);
		cx_diag(cx, D_NEED_INT, at, "`~`", sv_what(x));
		return sv_poison(at);
	}
	if (op == UN_BITNOT) return sv_int(~x.u.i, at);
	Int r;
	if (__builtin_sub_overflow((Int)0, x.u.i, &r)) return too_large(cx, at);
	return sv_int(r, at);
}

/* Unary + promotes small integers to i32 and leaves pointers alone, as documented. */
static Sv promote(Cx *cx, Sv x, Span at)
{
	if (elem_is_ptr(x.type->elem)) return x;
	if (elem_rows[x.type->elem].cls == EC_RFLOAT) {
		cx_diag(cx, D_RESTRICTED, at, "`+`", elem_name(x.type->elem));
		return sv_poison(at);
	}
	if (!elem_is_integral(x.type->elem) || elem_bytes(x.type->elem) >= 4) return x;
	return elem_cast(cx, x, EL_I32, &no_modes, at);
}

static Sv logical_not(Cx *cx, Sv x, Span at)
{
	Elem e = x.type->elem;
	if (!elem_is_ptr(e) && elem_rows[e].cls == EC_RFLOAT) {
		cx_diag(cx, D_RESTRICTED, at, "`!`", elem_name(e));
		return sv_poison(at);
	}
	if (x.kind == SV_CONST) return sv_bool(!num_is_true(e, x.u.num), at);
	at_span(cx, at);
	Val *b = val_bool(cx, x.u.val);
	return sv_val(val_op2(cx, OP_XOR, b, const_val(cx, b->type, num_int(1))), at);
}

Sv op_unary(Cx *cx, const Expr *e, Sv x)
{
	UnOp op = e->u.un.op;
	if (sv_bad(x)) return x;
	if (!is_value(cx, x, str_fmt("`%s`", unop_text(op)))) return sv_poison(e->span);
	if (sv_untyped(x)) return untyped_unary(cx, op, x, e->span);
	switch (op) {
	case UN_PLUS: return promote(cx, x, e->span);
	case UN_NOT: return logical_not(cx, x, e->span);
	case UN_NEG: return elem_unary(cx, OP_NEG, x, &no_modes, e->span, str_intern("`-`"));
	default: return elem_unary(cx, OP_NOT, x, &no_modes, e->span, str_intern("`~`"));
	}
}

/* ---- types, shapes, layouts ---- */

static bool same_shape(const Shape *a, const Shape *b)
{
	return a->rank == b->rank && !memcmp(a->log2, b->log2, (size_t)a->rank);
}

static bool same_tuple(const Tuple *a, const Tuple *b)
{
	if (a->n != b->n) return false;
	for (int i = 0; i < a->n; i++)
		if (a->p[i].kind != SV_TYPE || b->p[i].kind != SV_TYPE || a->p[i].type != b->p[i].type) return false;
	return true;
}

/* True: l and r are of a kind that only == and != take; *equal is set. */
static bool compare_meta(Sv l, Sv r, bool *equal)
{
	if (l.kind == SV_DYNAMIC || r.kind == SV_DYNAMIC) {
		*equal = l.kind == r.kind;
		return *equal || l.kind == SV_INT || r.kind == SV_INT;
	}
	if (l.kind != r.kind) return false;
	switch (l.kind) {
	case SV_TYPE: *equal = l.type == r.type; return true;
	case SV_SHAPE: *equal = same_shape(l.u.shape, r.u.shape); return true;
	case SV_STRING: *equal = l.u.str == r.u.str; return true;
	case SV_TUPLE: *equal = same_tuple(l.u.tuple, r.u.tuple); return l.u.tuple->n && l.u.tuple->p[0].kind == SV_TYPE;
	default: return false;
	}
}

/* ---- binary ---- */

static OpCode binary_op(BinOp op)
{
	static const OpCode ops[] = {
		[BIN_ADD] = OP_ADD, [BIN_SUB] = OP_SUB, [BIN_MUL] = OP_MUL, [BIN_DIV] = OP_DIV, [BIN_MOD] = OP_REM,
		[BIN_AND] = OP_AND, [BIN_OR] = OP_OR, [BIN_XOR] = OP_XOR, [BIN_SHL] = OP_SHL, [BIN_SHR] = OP_SHR,
		[BIN_EQ] = OP_EQ, [BIN_NE] = OP_NE, [BIN_LT] = OP_LT, [BIN_LE] = OP_LE, [BIN_GT] = OP_GT, [BIN_GE] = OP_GE,
		[BIN_ANDAND] = OP_AND, [BIN_OROR] = OP_OR
	};
	return ops[op];
}

Sv op_binary(Cx *cx, BinOp op, Sv l, Sv r, Span at, Span whole)
{
	Str shown = str_fmt("`%s`", binop_text(op));
	bool equal = false;
	if (sv_bad(l) || sv_bad(r)) return sv_poison(whole);
	if ((op == BIN_EQ || op == BIN_NE) && compare_meta(l, r, &equal)) return sv_bool(equal == (op == BIN_EQ), whole);
	if ((op == BIN_EQ || op == BIN_NE) && l.kind == SV_LAYOUT && r.kind == SV_LAYOUT) {
		Sv same = layouts_equal(cx, l.u.layout, r.u.layout, whole);
		return op == BIN_EQ ? same : logical_not(cx, same, whole);
	}
	if (!is_value(cx, l, shown) || !is_value(cx, r, shown)) return sv_poison(whole);
	if (op == BIN_MATMUL) {
		Sv v = mma_of(cx, (Product){ .a = l, .b = r, .precision_at = at, .at = at, .whole = whole,
			.shown = shown });
		v.span = whole;
		return v;
	}
	Sv v;
	if (op == BIN_ANDAND || op == BIN_OROR) v = elem_logic(cx, binary_op(op), l, r, at, shown);
	else if (sv_untyped(l) && sv_untyped(r)) return untyped_binary(cx, op, l, r, at, whole);
	/* `%` is for integers; the function `remainder` takes floats too */
	else v = elem_binary(cx, binary_op(op), l, r, &no_modes, at, shown);
	v.span = whole;
	return v;
}

/* ---- && and || ---- */

static bool plain_region(const IrBlock *b)
{
	for (const Op *op = b->first; op; op = op->next)
		if (!op_is_pure(op)) return false;
	return true;
}

/* Everything in the region goes before its op, which goes away. */
static void dissolve(Op *op, IrBlock *region)
{
	while (region->first) ir_move_before(region->first, op);
	ir_remove(op);
}

static Sv run_time_logic(Cx *cx, const Expr *e, Sv l)
{
	bool is_and = e->u.bin.op == BIN_ANDAND;
	OpCode code = is_and ? OP_AND : OP_OR;
	Str shown = str_fmt("`%s`", binop_text(e->u.bin.op));
	l = conv_cond(cx, l, l.span);
	if (sv_bad(l)) return sv_poison(e->span);
	Val *c = conv_val(cx, l);
	const Type *bool_type = type_scalar(EL_BOOL);
	Op *op = ir_op(at_span(cx, e->u.bin.at), OP_IF, 1, &c, 1, &bool_type);
	IrBlock *then = ir_region(op), *other = ir_region(op), *taken = is_and ? then : other,
		*rest = is_and ? other : then;
	Spot s = spot_enter(cx, taken);
	Sv r = sema_expr(cx, e->u.bin.r, NULL);
	bool scalar = is_value(cx, r, shown) && sv_is_scalar(r);
	if (scalar) r = conv_cond(cx, r, r.span);
	Val *rv = scalar ? conv_val(cx, r) : NULL;
	if (!rv || plain_region(taken)) {
		spot_leave(cx, s);
		dissolve(op, taken);
		if (sv_bad(r) || (!scalar && !sv_is_tile(r))) return sv_poison(e->span);
		Sv v = elem_logic(cx, code, sv_val(c, l.span), scalar ? sv_val(rv, r.span) : r, e->u.bin.at, shown);
		v.span = e->span;
		return v;
	}
	ir_op(at_span(cx, e->u.bin.at), OP_YIELD, 1, &rv, 0, NULL);
	spot_leave(cx, s);
	s = spot_enter(cx, rest);
	Val *known = val_int(cx, EL_BOOL, !is_and);
	ir_op(at_span(cx, e->u.bin.at), OP_YIELD, 1, &known, 0, NULL);
	spot_leave(cx, s);
	return sv_val(op->out[0], e->span);
}

/* The left side has decided. A tile on the right still gives its shape to the result; a scalar is only checked; and
 * what makes no sense under this left side, as in `S.rank == 2 && S[1] > 4`, is left alone. */
static Sv decided_logic(Cx *cx, const Expr *e, bool value)
{
	Val *known = val_int(cx, EL_BOOL, value);
	Op *here = ir_op(at_span(cx, e->u.bin.at), OP_IF, 1, &known, 0, NULL);
	IrBlock *tried = ir_region(here);
	DiagMark m = diag_mark();
	Spot s = spot_enter(cx, tried);
	Sv r = sema_expr(cx, e->u.bin.r, NULL), checked = sv_is_scalar(r) ? conv_cond(cx, r, r.span) : r;
	spot_leave(cx, s);
	if (sv_is_tile(r)) {
		dissolve(here, tried);
		return op_binary(cx, e->u.bin.op, sv_bool(value, e->u.bin.l->span), r, e->u.bin.at, e->span);
	}
	ir_remove(here);
	if (sv_is_scalar(r)) return sv_bad(checked) ? sv_poison(e->span) : sv_bool(value, e->span);
	diag_rollback(m);
	return sv_bool(value, e->span);
}

Sv op_logic(Cx *cx, const Expr *e)
{
	bool is_and = e->u.bin.op == BIN_ANDAND;
	Str shown = str_fmt("`%s`", binop_text(e->u.bin.op));
	Sv l = sema_expr(cx, e->u.bin.l, NULL);
	if (sv_bad(l)) return l;
	if (!is_value(cx, l, shown)) return sv_poison(e->span);
	if (sv_is_const(l)) {
		Sv c = conv_cond(cx, l, l.span);
		if (sv_bad(c)) return c;
		if ((c.u.num.i != 0) != is_and) return decided_logic(cx, e, !is_and);
		Sv r = sema_expr(cx, e->u.bin.r, NULL);
		if (sv_bad(r) || !is_value(cx, r, shown)) return sv_poison(e->span);
		if (sv_is_const(r)) return conv_cond(cx, r, e->span);
		return op_binary(cx, e->u.bin.op, c, r, e->u.bin.at, e->span);
	}
	if (sv_is_scalar(l)) return run_time_logic(cx, e, l);
	Sv r = sema_expr(cx, e->u.bin.r, NULL);
	return op_binary(cx, e->u.bin.op, l, r, e->u.bin.at, e->span);
}

/* ---- c ? a : b ---- */

static Sv arms_differ(Cx *cx, Sv a, Sv b, Span at)
{
	Diag *d = cx_diag(cx, D_ARMS, at, "`?:`", sv_what(a), sv_what(b));
	label_operand(d, a);
	label_operand(d, b);
	return sv_poison(at);
}

/* Does x become a value of type `to` by itself? A scalar becomes a tile of rank 0, never the other way round. */
static bool arm_converts(Sv x, const Type *to)
{
	bool shape = type_same_shape(x.type, to) && (type_is_tile(to) || type_is_scalar(x.type));
	return shape && !rule_narrows(x.type->elem, to->elem);
}

/* The one type of both arms: that of the one to which the other converts; NULL: they differ. */
static const Type *arms_type(Sv a, Sv b, const Type *want)
{
	if (sv_untyped(a) && sv_untyped(b)) {
		if (want && type_is_scalar(want)) return want;
		return type_scalar(a.kind == SV_FLOAT || b.kind == SV_FLOAT ? EL_F32 : EL_I32);
	}
	if (sv_untyped(a)) return b.type;
	if (sv_untyped(b)) return a.type;
	if (a.type->elem == EL_BOOL && b.type->elem == EL_BOOL && (sv_is_const(a) || sv_is_const(b)))
		return sv_is_const(a) ? b.type : a.type;        /* a bool that is known takes a shape, as a literal does */
	return arm_converts(b, a.type) ? a.type : arm_converts(a, b.type) ? b.type : NULL;
}

static Val *arm_value(Cx *cx, IrBlock *region, Sv x, const Type *t)
{
	Spot s = spot_enter(cx, region);
	Sv v = conv_to(cx, x, t, CONV_INIT, NULL, (Span){ 0, 0 });
	Val *r = sv_bad(v) ? NULL : conv_val(cx, v);
	spot_leave(cx, s);
	return r;
}

static Sv cond_values(Cx *cx, Op *op, Val *a, Val *b, Span at)
{
	IrBlock *then = op->region[0], *other = op->region[1];
	if (type_is_scalar(a->type) && plain_region(then) && plain_region(other)) {
		Val *c = ir_in(op, 0);
		while (then->first) ir_move_before(then->first, op);
		dissolve(op, other);
		return sv_val(val_select(cx, c, a, b), at);
	}
	/* the results are known only now: the op is made again with them, the regions move over */
	Val *c = ir_in(op, 0);
	Op *made = ir_op(at_span(cx, at), OP_IF, 1, &c, 1, &a->type);
	for (int i = 0; i < 2; i++) {
		IrBlock *to = ir_region(made), *from = op->region[i];
		Spot s = spot_enter(cx, to);
		Op *end = ir_op(at_span(cx, at), OP_YIELD, 1, i ? &b : &a, 0, NULL);
		while (from->first) ir_move_before(from->first, end);
		spot_leave(cx, s);
	}
	ir_remove(op);
	return sv_val(made->out[0], at);
}

/* The numbers of a tile literal take the element type of the other arm; two literals are of
 * f32 if either has a float. */
static Sv arm_given(Cx *cx, IrBlock *region, Sv x, Sv other)
{
	if (x.kind != SV_LIT) return x;
	Spot s = spot_enter(cx, region);
	bool typed = sv_is_tile(other) || sv_is_scalar(other);
	bool flt = sv_open_float(x) || sv_open_float(other);
	if (sv_open(other)) x = lit_give(cx, x, flt ? EL_F32 : EL_I32, sv_absent(x.span));
	else if (typed && !elem_is_ptr(other.type->elem)) x = lit_give(cx, x, other.type->elem, other);
	else x = lit_default(cx, x);
	spot_leave(cx, s);
	return x;
}

static Sv run_time_cond(Cx *cx, const Expr *e, Sv c, const Type *want)
{
	Val *cv = conv_val(cx, c);
	Op *op = ir_op(at_span(cx, e->span), OP_IF, 1, &cv, 0, NULL);
	IrBlock *then = ir_region(op), *other = ir_region(op);
	Spot s = spot_enter(cx, then);
	Sv a = want ? sema_expr(cx, e->u.cond.a, want) : sema_operand(cx, e->u.cond.a);
	spot_leave(cx, s);
	s = spot_enter(cx, other);
	Sv b = want ? sema_expr(cx, e->u.cond.b, want) : sema_operand(cx, e->u.cond.b);
	spot_leave(cx, s);
	if (sv_bad(a) || sv_bad(b)) return sv_poison(e->span);
	Sv open = a;
	a = arm_given(cx, then, a, b);
	b = arm_given(cx, other, b, open);
	if (sv_bad(a) || sv_bad(b) || !is_value(cx, a, "`?:`") || !is_value(cx, b, "`?:`")) return sv_poison(e->span);
	const Type *t = arms_type(a, b, want);
	if (!t) return arms_differ(cx, a, b, e->span);
	Val *av = arm_value(cx, then, a, t), *bv = arm_value(cx, other, b, t);
	if (!av || !bv) return sv_poison(e->span);
	at_span(cx, e->span);
	return cond_values(cx, op, av, bv, e->span);
}

Sv op_cond(Cx *cx, const Expr *e, const Type *want)
{
	Sv c = sema_expr(cx, e->u.cond.c, NULL);
	if (sv_bad(c)) return c;
	if (sv_is_tile(c) && !sv_one_element(c)) {
		Diag *d = cx_diag(cx, D_CONDITION, c.span, sv_what(c));
		diag_help(d, "`select(%s, %s, %s)` chooses element by element", span_source(c.span),
			span_source(e->u.cond.a->span), span_source(e->u.cond.b->span));
		return sv_poison(e->span);
	}
	c = conv_cond(cx, c, c.span);
	if (sv_bad(c)) return sv_poison(e->span);
	if (c.kind == SV_VAL) return run_time_cond(cx, e, c, want);
	Sv v = sema_expr(cx, c.u.num.i ? e->u.cond.a : e->u.cond.b, want);
	v.span = e->span;
	return v;
}
