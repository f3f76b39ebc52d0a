/* Reductions and scans: one op for each axis, the axis kept with length 1 unless `squeeze: true`; custom combining
 * functions become a region over scalars. */
#include "placed/placed.h"
#include "sema/build.h"

#include <string.h>

enum { MAX_TUPLE = 8 };

/* ---- axes ---- */

/* One axis, a list of them, or all; *n of them, in descending order. */
static bool axes_arg(Cx *cx, Call *c, const Type *t, int *n, int *axes)
{
	bool on[TILE_RANK] = { false };
	int64_t list[TILE_RANK];
	int k = 0, one;
	if (!t->rank) {
		Diag *d = cx_diag(cx, D_NO_AXES, c->span, call_what(c), type_text(t));
		label_operand(d, c->arg[0].sv);
		return false;
	}
	if (!c->arg[1].given) {
		for (int i = 0; i < t->rank; i++) on[i] = true;
	} else if (c->arg[1].e->kind == EX_LIST) {
		if (!arg_ints(cx, c, 1, &k, list, TILE_RANK)) return false;
		for (int i = 0; i < k; i++) {
			bool outside = list[i] < 0 || list[i] >= t->rank;
			if (outside || on[list[i]]) {
				Span at = c->arg[1].e->u.list.p[i]->span;
				if (outside) cx_diag(cx, D_AXIS_RANGE, at, str_i64(list[i]), type_text(t));
				else cx_diag(cx, D_AXIS_TWICE, at, str_i64(list[i]));
				return false;
			}
			on[list[i]] = true;
		}
	} else {
		if (!arg_axis(cx, c, 1, t, &one)) return false;
		on[one] = true;
	}
	*n = 0;
	for (int i = t->rank - 1; i >= 0; i--)
		if (on[i]) axes[(*n)++] = i;
	return true;
}

static Val *squeezed(Cx *cx, Val *v, int n, const int *axes)
{
	uint8_t log2[TILE_RANK] = { 0 };
	int rank = 0;
	for (int i = 0; i < v->type->rank; i++) {
		bool drop = false;
		for (int k = 0; k < n; k++) drop |= axes[k] == i;
		if (!drop) log2[rank++] = v->type->log2[i];
	}
	return ir_unary(&cx->b, OP_RESHAPE, type_tile(v->type->elem, rank, log2), v);
}

/* ---- the operations of the table ---- */

static OpCode plain_op(OpCode op)
{
	switch (op) {
	case OP_ARGMAX: return OP_MAX_ELEMENT;
	case OP_ARGMIN: return OP_MIN_ELEMENT;
	case OP_ANY_OF: return OP_REDUCE_OR;
	case OP_ALL_OF: return OP_REDUCE_AND;
	case OP_CUMSUM_: return OP_CUMSUM;
	case OP_CUMPROD_: return OP_CUMPROD;
	default: return op;
	}
}

static Sv to_bool_tile(Cx *cx, Sv x, Str shown)
{
	Elem e = x.type->elem;
	if (!elem_is_ptr(e) && elem_rows[e].cls == EC_RFLOAT) {
		cx_diag(cx, D_RESTRICTED, x.span, shown, elem_name(e));
		return sv_poison(x.span);
	}
	at_span(cx, x.span);
	return sv_val(val_bool(cx, x.u.val), x.span);
}

/* The index among several axes counts their elements in row-major order: one axis, the last, takes the place of all.
 * axes are in descending order. */
static Val *one_axis(Cx *cx, Val *x, int n, const int *axes)
{
	int64_t order[TILE_RANK];
	uint8_t log2[TILE_RANK] = { 0 };
	int rank = 0;
	unsigned on = 0;
	for (int i = 0; i < n; i++) on |= 1u << axes[i];
	for (unsigned pass = 0; pass < 2; pass++)
		for (int i = 0; i < x->type->rank; i++)
			if ((on >> i & 1) == pass) order[rank++] = i;
	for (int i = 0; i < rank; i++) log2[i] = x->type->log2[order[i]];
	Val *v = ir_unary(&cx->b, OP_PERMUTE, type_tile(x->type->elem, rank, log2), x);
	ir_set_ints(v->def, AT_AXES, rank, order);
	for (int i = rank - n + 1; i < rank; i++) log2[rank - n] = (uint8_t)(log2[rank - n] + log2[i]);
	return ir_unary(&cx->b, OP_RESHAPE, type_tile(x->type->elem, rank - n + 1, log2), v);
}

static Sv index_axes(Cx *cx, Call *c, OpCode op, Sv x, int n, const int *axes, bool squeeze)
{
	at_span(cx, c->span);
	Val *v = one_axis(cx, x.u.val, n, axes);
	int last = v->type->rank - 1;
	v = ir_unary(&cx->b, op, rule_reduce(op_rows[op].type, v->type, last).type, v);
	ir_set_int(v->def, AT_AXIS, last);
	uint8_t log2[TILE_RANK];
	memcpy(log2, x.type->log2, sizeof log2);
	for (int i = 0; i < n; i++) log2[axes[i]] = 0;
	v = ir_unary(&cx->b, OP_RESHAPE, type_tile(EL_U32, x.type->rank, log2), v);
	if (c->op == OP_ARGMAX || c->op == OP_ARGMIN) v = val_cast(cx, v, EL_I32, (FoldModes){ 0 });
	return sv_val(squeeze ? squeezed(cx, v, n, axes) : v, c->span);
}

static Sv reduce_axes(Cx *cx, Call *c, OpCode op, Sv x, const Modes *m)
{
	int n, axes[TILE_RANK];
	bool squeeze;
	if (!axes_arg(cx, c, x.type, &n, axes) || !arg_bool(cx, c, "squeeze", &squeeze)) return sv_poison(c->span);
	if (op_rows[op].type == TR_REDUCE_INDEX && n > 1) return index_axes(cx, c, op, x, n, axes, squeeze);
	Val *v = x.u.val;
	if (op == OP_SUM) warn_count(cx, x, x, c->span, call_what(c));
	at_span(cx, c->span);
	for (int i = 0; i < n; i++) {
		Ruling r = rule_reduce(op_rows[op].type, v->type, axes[i]);
		if (r.why != RULE_OK) {
			report_ruling(cx, r, x, x, c->span, call_what(c));
			return sv_poison(c->span);
		}
		v = ir_unary(&cx->b, op, r.type, v);
		ir_set_int(v->def, AT_AXIS, axes[i]);
		modes_put(v->def, m);
	}
	if (c->op == OP_ARGMAX || c->op == OP_ARGMIN) v = val_cast(cx, v, EL_I32, (FoldModes){ 0 });
	if (squeeze) v = squeezed(cx, v, n, axes);
	return sv_val(v, c->span);
}

static bool scan_words(Cx *cx, Call *c, int *backward, int *exclusive)
{
	return arg_word(cx, c, AT_DIRECTION, backward) && arg_word(cx, c, AT_EXCLUSIVE, exclusive);
}

static void put_scan(Op *op, int axis, int backward, int exclusive)
{
	ir_set_int(op, AT_AXIS, axis);
	if (backward) ir_set_int(op, AT_DIRECTION, backward);
	if (exclusive) ir_set_int(op, AT_EXCLUSIVE, exclusive);
}

static Sv scan_axis(Cx *cx, Call *c, OpCode op, Sv x, const Modes *m)
{
	int axis, backward, exclusive;
	if (!arg_axis(cx, c, 1, x.type, &axis) || !scan_words(cx, c, &backward, &exclusive)) return sv_poison(c->span);
	Ruling r = rule_reduce(TR_SCAN, x.type, axis);
	if (r.why != RULE_OK) {
		report_ruling(cx, r, x, x, c->span, call_what(c));
		return sv_poison(c->span);
	}
	Val *v = ir_unary(at_span(cx, c->span), op, x.type, x.u.val);
	put_scan(v->def, axis, backward, exclusive);
	modes_put(v->def, m);
	return sv_val(v, c->span);
}

/* ---- custom functions ---- */

typedef struct Custom { int n; Val *x[MAX_TUPLE]; Val *identity[MAX_TUPLE]; Sv fn; } Custom;

static bool custom_tiles(Cx *cx, Call *c, Sv x, Custom *k)
{
	const Sv *p = x.kind == SV_TUPLE ? x.u.tuple->p : &x;
	k->n = x.kind == SV_TUPLE ? x.u.tuple->n : 1;
	if (k->n > MAX_TUPLE || !k->n) {
		cx_diag(cx, D_TUPLE_SIZE, x.span, call_what(c), str_i64(MAX_TUPLE));
		return false;
	}
	for (int i = 0; i < k->n; i++) {
		if (sv_bad(p[i])) return false;
		if (!sv_is_tile(p[i])) {
			Diag *d = cx_diag(cx, D_NEED_TILE, p[i].span, call_what(c), sv_what(p[i]));
			if (p[i].kind == SV_VIEW) diag_help(d, "`%s.load(...)` loads a tile from it", span_source(p[i].span));
			return false;
		}
		if (!type_same_shape(p[i].type, p[0].type)) {
			Diag *d = cx_diag(cx, D_TUPLE_SHAPES, p[i].span, call_what(c), sv_what(p[0]), sv_what(p[i]));
			label_operand(d, p[0]);
			return false;
		}
		k->x[i] = p[i].u.val;
	}
	return true;
}

static bool custom_identities(Cx *cx, Call *c, Sv id, Custom *k)
{
	bool tuple = id.kind == SV_TUPLE;
	const Sv *p = tuple ? id.u.tuple->p : &id;
	if (sv_bad(id)) return false;
	if ((tuple ? id.u.tuple->n : 1) != k->n) {
		cx_diag(cx, D_TUPLE_COUNT, id.span, "identity", str_i64(k->n), sv_what(id));
		return false;
	}
	for (int i = 0; i < k->n; i++) {
		const Type *t = type_scalar(k->x[i]->type->elem);
		Sv v = p[i];
		if (sv_one_element(v)) v = sv_val(one_scalar(cx, v.u.val), v.span);
		v = conv_to(cx, v, t, CONV_ARG, str_intern("identity"), (Span){ 0, 0 });
		if (sv_bad(v)) return false;
		k->identity[i] = conv_val(cx, v);
	}
	(void)c;
	return true;
}

static bool custom_function(Cx *cx, Call *c, Sv fn, Custom *k)
{
	k->fn = fn;
	if (sv_bad(fn)) return false;
	int n = sema_fn_arity(fn);
	if (n < 0) {
		Diag *d = cx_diag(cx, D_NEED_FN, fn.span, call_what(c), sv_what(fn));
		diag_help(d, "it is a function of two values, as in `fn(a, b) a + b`");
		return false;
	}
	if (n == 2 * k->n) return true;
	Diag *d = cx_diag(cx, D_FN_ARITY, fn.span, str_i64(2 * k->n), str_i64(n));
	if (k->n > 1) diag_note(d, "over a tuple it takes the earlier values first: fn(a1, a2, b1, b2) (r1, r2)");
	return false;
}

static bool custom_results(Cx *cx, Call *c, Sv r, const Custom *k, Val **out)
{
	bool tuple = r.kind == SV_TUPLE;
	const Sv *p = tuple ? r.u.tuple->p : &r;
	if (sv_bad(r)) return false;
	if ((tuple ? r.u.tuple->n : r.kind != SV_NONE) != k->n) {
		cx_diag(cx, D_TUPLE_COUNT, r.span, "result of the function", str_i64(k->n), sv_what(r));
		return false;
	}
	for (int i = 0; i < k->n; i++) {
		Sv v = p[i];
		if (sv_one_element(v)) v = sv_val(one_scalar(cx, v.u.val), v.span);
		v = conv_to(cx, v, type_scalar(k->x[i]->type->elem), CONV_RETURN, str_intern(c->name), k->fn.span);
		if (sv_bad(v)) return false;
		out[i] = conv_val(cx, v);
	}
	return true;
}

static const Val *tile_of(const Op *op)
{
	for (int i = 0; i < op->nin; i++)
		if (op->in[i]->type->kind == TY_TILE) return op->in[i];
	for (int i = 0; i < op->nout; i++)
		if (op->out[i]->type->kind == TY_TILE) return op->out[i];
	return NULL;
}

static bool reads_what_changes(const Op *op)
{
	return op_has(op, OPF_READ) && op->nin && !memory_is_constant(op->parent->fn, ir_in(op, 0));
}

static bool is_known_before(const Val *v, const Op *op)
{
	const IrBlock *b = v->def ? v->def->parent : v->block;
	while (b && b->owner && b->owner != op) b = b->owner->parent;
	return !b || !b->owner;
}

static bool all_known_before(const Op *op, const Op *reduction)
{
	for (int i = 0; i < op->nin; i++)
		if (!is_known_before(ir_in(op, i), reduction)) return false;
	return true;
}

/* An element of a tensor, without a memory order: what lies outside is the pad, so that it may be read even where the
 * function is never called. What raw pointers lead to may not. */
static bool reads_element(const Op *op)
{
	return op->code == OP_GATHER && !type_is_tile(op->out[0]->type)
		&& ir_tensor(ir_in(op, 0))->type->kind == TY_VIEW;
}

/* The function stores nothing, so an element that may be written is the same in all of its calls, if its arguments have
 * no part in the indices: it is read once, before the reduction. */
static void read_before(Op *reduction)
{
	IrBlock *b = reduction->region[0];
	bool some = false;
	for (const Op *op = b->first; op; op = op->next) some |= reads_element(op) && reads_what_changes(op);
	for (Op *op = b->first, *next; some && op != b->last; op = next) {
		next = op->next;
		bool may = (op_is_pure(op) && !tile_of(op)) || reads_element(op);
		if (may && all_known_before(op, reduction)) ir_move_before(op, reduction);
	}
}

/* How often the function runs, and where, is the target's business: it works on single elements and only computes. So
 * there is no order between it and what is stored before and after. */
static bool only_computes(Cx *cx, Call *c, const IrBlock *b, const Op *reduction)
{
	for (const Op *op = b->first; op; op = op->next) {
		const Val *tile = tile_of(op);
		bool writes = op_has(op, OPF_WRITE) && op->code != OP_CHECK;
		if (writes || reads_what_changes(op)) {
			Diag *d = cx_diag(cx, D_FN_EFFECT, op->span, c->name);
			diag_label(d, c->span, "%s", "here it is used");
			if (!writes && all_known_before(op, reduction)) diag_help(d, "read it before, as in `let s = t[0];`");
			return false;
		}
		if (tile) {
			Diag *d = cx_diag(cx, D_FN_TILE, op->span, c->name, type_text(tile->type));
			diag_help(d, "take what it needs from tiles before, as in `let s = f32(t);`");
			return false;
		}
		for (int i = 0; i < op->nregion; i++)
			if (!only_computes(cx, c, op->region[i], reduction)) return false;
	}
	return true;
}

static bool custom_region(Cx *cx, Call *c, const Custom *k, Op *op)
{
	IrBlock *region = ir_region(op);
	Sv args[2 * MAX_TUPLE];
	Val *out[MAX_TUPLE];
	for (int i = 0; i < 2 * k->n; i++)
		args[i] = sv_val(ir_arg(region, type_scalar(k->x[i % k->n]->type->elem), NULL), k->fn.span);
	Spot s = spot_enter(cx, region);
	Sv r = sema_call_values(cx, k->fn, 2 * k->n, args, c->span);
	bool ok = custom_results(cx, c, r, k, out);
	if (ok) ir_op(at_span(cx, c->span), OP_YIELD, k->n, out, 0, NULL);
	spot_leave(cx, s);
	if (ok) read_before(op);
	return ok && only_computes(cx, c, region, op);
}

/* One op over one axis; k->x become its results. */
static bool custom_axis(Cx *cx, Call *c, Custom *k, int axis, int backward, int exclusive)
{
	const Type *t = k->x[0]->type;
	Val *in[2 * MAX_TUPLE];
	const Type *out[MAX_TUPLE];
	for (int i = 0; i < k->n; i++) {
		uint8_t log2[TILE_RANK];
		memcpy(log2, t->log2, sizeof log2);
		if (c->op != OP_SCAN) log2[axis] = 0;
		in[i] = k->x[i];
		in[k->n + i] = k->identity[i];
		out[i] = type_tile(k->x[i]->type->elem, t->rank, log2);
	}
	Op *op = ir_op(at_span(cx, c->span), c->op, 2 * k->n, in, k->n, out);
	put_scan(op, axis, backward, exclusive);
	if (!custom_region(cx, c, k, op)) return false;
	for (int i = 0; i < k->n; i++) k->x[i] = op->out[i];
	return true;
}

/* Over several axes the last one first: earlier elements, in row-major order, stay earlier operands. */
static Sv custom(Cx *cx, Call *c)
{
	Custom k = { 0 };
	int n = 1, axes[TILE_RANK], backward = 0, exclusive = 0;
	bool squeeze = false, scan = c->op == OP_SCAN;
	Sv x = arg_value(cx, c, 0, NULL);
	if (sv_bad(x) || !custom_tiles(cx, c, x, &k)) return sv_poison(c->span);
	const Type *t = k.x[0]->type;
	if (scan ? !arg_axis(cx, c, 1, t, axes) : !axes_arg(cx, c, t, &n, axes)) return sv_poison(c->span);
	if (!custom_identities(cx, c, arg_value(cx, c, 2, NULL), &k)) return sv_poison(c->span);
	if (!custom_function(cx, c, arg_value(cx, c, 3, NULL), &k)) return sv_poison(c->span);
	if (scan ? !scan_words(cx, c, &backward, &exclusive) : !arg_bool(cx, c, "squeeze", &squeeze))
		return sv_poison(c->span);
	for (int i = 0; i < n; i++)
		if (!custom_axis(cx, c, &k, axes[i], backward, exclusive)) return sv_poison(c->span);
	Sv res[MAX_TUPLE];
	at_span(cx, c->span);
	for (int i = 0; i < k.n; i++) res[i] = sv_val(squeeze ? squeezed(cx, k.x[i], n, axes) : k.x[i], c->span);
	return x.kind == SV_TUPLE ? sv_tuple(k.n, res, c->span) : res[0];
}

/* ---- calls ---- */

static bool reducible(Cx *cx, Call *c, OpCode op, Sv x)
{
	Ruling r = rule_reduce(op_rows[op].type == TR_SCAN ? TR_REDUCE : op_rows[op].type, x.type, 0);
	if (r.why == RULE_OK || r.why == RULE_RANK) return true;
	report_ruling(cx, r, x, x, c->span, call_what(c));
	return false;
}

Sv build_reduce(Cx *cx, Call *c)
{
	Modes m;
	OpCode op = plain_op(c->op);
	if (op == OP_REDUCE || op == OP_SCAN) return custom(cx, c);
	Sv x = arg_tile(cx, c, 0);
	if (sv_bad(x)) return x;
	if (c->op == OP_ANY_OF || c->op == OP_ALL_OF) x = to_bool_tile(cx, x, call_what(c));
	if (sv_bad(x) || !reducible(cx, c, op, x) || !arg_modes(cx, c, &m)) return sv_poison(c->span);
	if (!modes_allowed(cx, op, x.type->elem, &m)) return sv_poison(c->span);
	if (op_rows[op].flags & OPF_SCAN) return scan_axis(cx, c, op, x, &m);
	return reduce_axes(cx, c, op, x, &m);
}
