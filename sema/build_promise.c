/* Promises: trusted, so that nothing is emitted for them but a `hint` op that keeps the words; with --checked each is
 * verified where it is made, but `assume_unique` where an access has it as its index, which knows
 * what is masked off or outside. */
#include "sema/build.h"

static Sv hint(Cx *cx, Sv x, Str text, Span at)
{
	if (sv_is_const(x)) return x;
	Val *v = ir_unary(at_span(cx, at), OP_HINT, x.type, x.u.val);
	ir_set_str(v->def, AT_TEXT, text);
	return sv_val(v, at);
}

/* No two elements of an index tile are equal: sorted, each differs from the one before it. */
static Val *all_different(Cx *cx, Val *x)
{
	uint8_t log2[TILE_RANK] = { (uint8_t)type_log2_size(x->type) };
	const Type *flat = type_tile(x->type->elem, 1, log2), *index = type_tile(EL_I32, 1, log2);
	if (!log2[0]) return val_int(cx, EL_BOOL, 1);
	Val *s = x->type == flat ? x : ir_unary(&cx->b, OP_RESHAPE, flat, x);
	s = ir_unary(&cx->b, OP_SORT, flat, s);
	ir_set_int(s->def, AT_AXIS, 0);
	Val *before = ir_unary(&cx->b, OP_ROTATE, flat, s);
	ir_set_int(before->def, AT_AXIS, 0);
	ir_set_int(before->def, AT_SHIFT, 1);
	Val *zero = const_val(cx, index, num_int(0));
	Val *first = val_cmp(cx, OP_EQ, ir_op1(&cx->b, OP_IOTA, index, 0, NULL), zero);
	return val_op2(cx, OP_OR, first, val_cmp(cx, OP_NE, s, before));
}

/* What is not used gets a negative number of its own. */
Val *used_differ(Cx *cx, Val *x, Val *used)
{
	Val *number = val_i64(cx, ir_op1(&cx->b, OP_IOTA, type_with_elem(x->type, EL_I32), 0, NULL));
	return all_different(cx, val_select(cx, used, x, val_op2(cx, OP_SUB, const_val(cx, x->type, num_int(-1)), number)));
}

/* lo <= x <= hi, where the bounds are values of the type; beyond it they say nothing, or are never met. */
static Val *within(Cx *cx, Val *x, int64_t lo, int64_t hi)
{
	Num n;
	Elem e = x->type->elem;
	Val *ok = const_val(cx, type_with_elem(x->type, EL_BOOL), num_int(1));
	Sv low = sv_int(lo, (Span){ 0, 0 }), high = sv_int(hi, (Span){ 0, 0 });
	if (lit_fit(low, e, &n) == FIT_OK) ok = val_cmp(cx, OP_GE, x, const_val(cx, x->type, n));
	else if (lo > 0) ok = const_val(cx, ok->type, num_int(0));
	if (lit_fit(high, e, &n) == FIT_OK) ok = val_op2(cx, OP_AND, ok, val_cmp(cx, OP_LE, x, const_val(cx, x->type, n)));
	else if (hi < 0) ok = const_val(cx, ok->type, num_int(0));
	return ok;
}

/* Whether an element is the first of its group of `every` along an axis: a bool tile of the shape of t. */
static Val *first_of_group(Cx *cx, const Type *t, int axis, int64_t every)
{
	uint8_t log2[TILE_RANK] = { 0 };
	log2[axis] = t->log2[axis];
	const Type *line = type_tile(EL_I32, t->rank, log2);
	int64_t n = type_extent(t, axis);
	Val *i = ir_op1(&cx->b, OP_IOTA, line, 0, NULL);
	if (every < n) i = val_op2(cx, OP_REM, i, const_val(cx, line, num_int(every)));
	return val_broadcast(cx, val_cmp(cx, OP_EQ, i, const_val(cx, line, num_int(0))), type_with_elem(t, EL_BOOL));
}

static Val *neighbour(Cx *cx, Val *x, int axis)         /* each element's neighbour at the next lower index */
{
	Val *v = ir_unary(&cx->b, OP_ROTATE, x->type, x);
	ir_set_int(v->def, AT_AXIS, axis);
	ir_set_int(v->def, AT_SHIFT, 1);
	return v;
}

/* The elements of each block are equal: each equals its neighbour before it along each axis,
 * unless it is the first there. */
static Val *all_blocked(Cx *cx, Val *x, int n, const int64_t *block)
{
	Val *ok = const_val(cx, type_with_elem(x->type, EL_BOOL), num_int(1));
	for (int i = 0; i < n; i++) {
		if (block[i] == 1 || !x->type->log2[i]) continue;
		Val *same = val_cmp(cx, OP_EQ, x, neighbour(cx, x, i));
		ok = val_op2(cx, OP_AND, ok, val_op2(cx, OP_OR, first_of_group(cx, x->type, i, block[i]), same));
	}
	return ok;
}

static Val *multiple(Cx *cx, Val *x, int64_t by)
{
	Num n;
	Val *zero = const_val(cx, x->type, num_int(0));
	if (lit_fit(sv_int(by, (Span){ 0, 0 }), x->type->elem, &n) != FIT_OK) return val_cmp(cx, OP_EQ, x, zero);
	return val_cmp(cx, OP_EQ, val_op2(cx, OP_REM, x, const_val(cx, x->type, n)), zero);
}

/* The first element of each group of `every` is a multiple, and each other one is its neighbour plus `unit`. */
static Val *groups_rise(Cx *cx, Val *x, int64_t by, int64_t every, int axis, int64_t unit)
{
	if (every == 1) return multiple(cx, x, by);
	Val *prev = neighbour(cx, x, axis);
	Val *next = val_op2(cx, OP_ADD, prev, const_val(cx, x->type, num_int(unit)));
	Val *more = val_cmp(cx, OP_LT, prev, x), *rises = val_op2(cx, OP_AND, val_cmp(cx, OP_EQ, x, next), more);
	Val *begins = multiple(cx, x, by);
	return val_select(cx, first_of_group(cx, x->type, axis, every), begins, rises);
}

/* With --checked a promise is verified where it is made, that of a constant always. False: reported. */
static bool check_promise(Cx *cx, Call *c, Sv x, int64_t a, int64_t b)
{
	Num n;
	Val *v = conv_val(cx, x), *ok;
	if (!v || c->op == OP_ASSUME_UNIQUE || (!cx->opt->checked && x.kind != SV_CONST)) return true;
	at_span(cx, c->span);
	if (elem_is_ptr(v->type->elem)) v = ir_unary(&cx->b, OP_BITCAST, type_with_elem(v->type, EL_U64), v);
	switch (c->op) {
	case OP_ASSUME_ALIGNED: case OP_ASSUME_DIVISIBLE: ok = multiple(cx, v, a); break;
	case OP_ASSUME_BOUNDED: ok = within(cx, v, a, b); break;
	case OP_ASSUME_BOUNDED_BELOW: ok = within(cx, v, a, INT64_MAX); break;
	default: ok = within(cx, v, INT64_MIN, a); break;
	}
	if (x.kind == SV_CONST && ir_const_value(ok, &n) && !n.i) {
		cx_diag(cx, D_ASSUME_FALSE, c->span, span_source(c->span));
		return false;
	}
	build_check(cx, sv_val(ok, c->span), str_fmt("`%s` does not hold", span_source(c->span)), c->span);
	return true;
}

static bool promise_type(Cx *cx, Call *c, Sv x, bool pointer, bool either)
{
	Elem e = x.type->elem;
	bool ok = either ? elem_is_ptr(e) || elem_is_int(e) : pointer ? elem_is_ptr(e) : !elem_is_ptr(e) && elem_is_int(e);
	if (ok) return true;
	if (pointer) cx_diag(cx, D_NEED_POINTER, x.span, call_what(c), sv_what(x));
	else cx_diag(cx, D_NEED_INT, x.span, call_what(c), sv_what(x));
	return false;
}

static Sv aligned_view(Cx *cx, Call *c)
{
	Diag *d = cx_diag(cx, D_ALIGNED_TENSOR, c->span, span_source(c->arg[0].span));
	diag_help(d, "the launcher checks it in the kernel's header, as `where aligned(%s, 16)`",
		span_source(c->arg[0].span));
	return sv_poison(c->span);
}

static Sv promise(Cx *cx, Call *c)
{
	int64_t a = 0, b = 0;
	Sv x = arg_value(cx, c, 0, NULL);
	if (x.kind == SV_VIEW && c->op == OP_ASSUME_ALIGNED) return aligned_view(cx, c);
	x = conv_default(cx, x);
	if (!is_value(cx, x, call_what(c))) return sv_poison(c->span);
	if (c->sig->n > 1 && !arg_int(cx, c, 1, &a)) return sv_poison(c->span);
	if (c->sig->n > 2 && !arg_int(cx, c, 2, &b)) return sv_poison(c->span);
	Str text = NULL;
	switch (c->op) {
	case OP_ASSUME_ALIGNED:
		if (!promise_type(cx, c, x, true, false)) return sv_poison(c->span);
		text = str_fmt("aligned %lld", (long long)a);
		break;
	case OP_ASSUME_DIVISIBLE: text = str_fmt("divisible %lld", (long long)a); break;
	case OP_ASSUME_BOUNDED: text = str_fmt("bounded %lld %lld", (long long)a, (long long)b); break;
	case OP_ASSUME_BOUNDED_BELOW: text = str_fmt("bounded %lld %lld", (long long)a, (long long)INT64_MAX); break;
	case OP_ASSUME_BOUNDED_ABOVE: text = str_fmt("bounded %lld %lld", (long long)INT64_MIN, (long long)a); break;
	default: text = str_intern("unique"); break;
	}
	if (c->op != OP_ASSUME_ALIGNED && !promise_type(cx, c, x, false, c->op == OP_ASSUME_DIVISIBLE))
		return sv_poison(c->span);
	bool multiple = c->op == OP_ASSUME_ALIGNED || c->op == OP_ASSUME_DIVISIBLE;
	if ((multiple && a < 1) || (c->op == OP_ASSUME_ALIGNED && (a & (a - 1))) || (c->op == OP_ASSUME_BOUNDED && a > b)) {
		cx_diag(cx, D_ASSUME_ARG, c->span, call_what(c));
		return sv_poison(c->span);
	}
	if (!check_promise(cx, c, x, a, b)) return sv_poison(c->span);
	return hint(cx, x, text, c->span);
}

/* assume_blocked(x, shape), assume_divisible_strided(x, by, every, along), assume_aligned_strided(p, bytes, every,
 * along): what is said of a tile as a whole, axis by axis. */
typedef struct Groups { int n; int64_t block[TILE_RANK], by, every; int axis; } Groups;

static bool read_blocks(Cx *cx, Call *c, const Type *t, Groups *g)
{
	if (!arg_ints(cx, c, 1, &g->n, g->block, TILE_RANK)) return false;
	bool ok = g->n == t->rank;
	for (int i = 0; i < g->n; i++) ok = ok && g->block[i] >= 1;
	if (!ok) {
		Diag *d = cx_diag(cx, D_ASSUME_ARG, c->span, call_what(c));
		diag_note(d, "the block has one length of at least 1 for each axis of %s", type_text(t));
	}
	return ok;
}

static bool read_groups(Cx *cx, Call *c, const Type *t, Groups *g)
{
	if (!arg_int(cx, c, 1, &g->by) || !arg_int(cx, c, 2, &g->every) || !arg_axis(cx, c, 3, t, &g->axis)) return false;
	bool power = c->op != OP_ASSUME_ALIGNED_STRIDED || (g->by & (g->by - 1)) == 0;
	if (g->by >= 1 && power && g->every >= 1) return true;
	cx_diag(cx, D_ASSUME_ARG, c->span, call_what(c));
	return false;
}

static Str groups_text(OpCode op, const Groups *g)
{
	if (op != OP_ASSUME_BLOCKED)
		return str_fmt("%s %lld every %lld along %d", op == OP_ASSUME_ALIGNED_STRIDED ? "aligned" : "divisible",
			(long long)g->by, (long long)g->every, g->axis);
	Str s = str_intern("blocked");
	for (int i = 0; i < g->n; i++) s = str_fmt("%s %lld", s, (long long)g->block[i]);
	return s;
}

static Sv tile_promise(Cx *cx, Call *c)
{
	Groups g = { 0 };
	Sv x = arg_tile(cx, c, 0);
	if (sv_bad(x)) return x;
	bool blocks = c->op == OP_ASSUME_BLOCKED;
	if (!promise_type(cx, c, x, c->op == OP_ASSUME_ALIGNED_STRIDED, blocks)) return sv_poison(c->span);
	if (!(blocks ? read_blocks : read_groups)(cx, c, x.type, &g)) return sv_poison(c->span);
	if (cx->opt->checked) {
		at_span(cx, c->span);
		Val *v = x.u.val;
		int64_t unit = elem_is_ptr(v->type->elem) ? elem_bytes(elem_pointee(v->type->elem)) : 1;
		if (elem_is_ptr(v->type->elem)) v = ir_unary(&cx->b, OP_BITCAST, type_with_elem(v->type, EL_U64), v);
		Val *ok = blocks ? all_blocked(cx, v, g.n, g.block) : groups_rise(cx, v, g.by, g.every, g.axis, unit);
		build_check(cx, sv_val(ok, c->span), str_fmt("`%s` does not hold", span_source(c->span)), c->span);
	}
	return hint(cx, x, groups_text(c->op, &g), c->span);
}

static Sv assume(Cx *cx, Call *c)
{
	Sv x = conv_cond(cx, arg_value(cx, c, 0, NULL), c->arg[0].span);
	if (sv_bad(x)) return x;
	if (x.kind == SV_CONST) {
		if (!x.u.num.i) cx_diag(cx, D_ASSUME_FALSE, c->span, span_source(c->arg[0].span));
		return sv_none(c->span);
	}
	Val *v = conv_val(cx, x);
	build_check(cx, x, str_fmt("`%s` does not hold", span_source(c->span)), c->span);
	Op *op = ir_op(at_span(cx, c->span), OP_ASSUME, 1, &v, 0, NULL);
	ir_set_str(op, AT_SOURCE, span_source(c->arg[0].span));
	return sv_none(c->span);
}

Sv build_promise(Cx *cx, Call *c)
{
	switch (c->op) {
	case OP_ASSUME: return assume(cx, c);
	case OP_ASSUME_BLOCKED: case OP_ASSUME_DIVISIBLE_STRIDED: case OP_ASSUME_ALIGNED_STRIDED:
		return tile_promise(cx, c);
	default: return promise(cx, c);
	}
}
