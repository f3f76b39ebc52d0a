/* What tile blocks compute from their index, and is not loaded: scalars such as `n - bid(0)`, tiles of places, masks,
 * what is gathered at such places. It has no axis along which neighbours lie: where it is combined with a tile that has
 * one, it becomes a tile of the neighbours' values, one after the other. That is the same computation with one more
 * leading axis: broadcasts, elementwise operations and gathers need no change for it.
 *
 * The other way, a part of a tile of numbers has those numbers from its begin on. */
#include "base/cost.h"
#include "ir/fold.h"
#include "ir/ir_copy.h"
#include "lower/widen_write.h"

/* ---- one axis more ---- */
static bool lifts_alone(const Widen *w, const Op *op)
{
	if (op->nout != 1 || op->nregion || op->out[0]->type->rank == TILE_RANK) return false;
	if (op->code == OP_BID || op_has(op, OPF_FREE)) return true;
	if (op->code == OP_GATHER) return !ir_int(op, AT_ORDER, 0);
	if (op->code == OP_HINT) return false;
	/* random numbers of a tile have one key */
	if (op_has(op, OPF_RANDOM) && !(type_is_tile(op->out[0]->type) && widen_along(w, ir_in(op, 0)) == WIDEN_SAME))
		return false;
	return op_has(op, OPF_ELEMWISE) && op_has(op, OPF_PURE);
}

/* An operand that neighbours share: a view, a pad, a key. */
static bool is_shared(const Op *op, int i)
{
	const Val *v = ir_in(op, i);
	return v->type->kind == TY_VIEW || (op->code == OP_GATHER && i == 1 + ir_in(op, 0)->type->rank)
		|| (op_has(op, OPF_RANDOM) && i == 0);
}

static bool lifts(Widen *w, const Op *op)
{
	bool yes = op && lifts_alone(w, op);
	for (int i = 0; yes && i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		int a = widen_along(w, v);
		yes = a == WIDEN_SAME || (a == WIDEN_DIFFERS && !is_shared(op, i) && widen_lifts(w, v));
	}
	return yes;
}

bool widen_lifts(Widen *w, const Val *v)
{
	if (!w->lifts[v->id]) {
		bool yes = ++w->depth <= COST_FORMULA_DEPTH && lifts(w, v->def);
		w->depth--;
		w->lifts[v->id] = yes ? 1 : 2;
	}
	return w->lifts[v->id] == 1;
}

static const Type *lifted_type(const Wide *x, const Type *t)
{
	uint8_t log2[TILE_RANK] = { (uint8_t)x->log2 };
	int rank = type_is_tile(t) ? t->rank : 0;
	for (int i = 0; i < rank; i++) log2[1 + i] = t->log2[i];
	return type_tile(t->elem, 1 + rank, log2);
}

/* v, which is lifted, spread to the shape of t, which is not. */
static Val *lift_broadcast(const Wide *x, Builder *b, Val *v, const Type *t)
{
	const Type *whole = lifted_type(x, type_with_elem(t, v->type->elem));
	uint8_t log2[TILE_RANK] = { (uint8_t)x->log2 };
	for (int i = 1; i < v->type->rank; i++) log2[whole->rank - v->type->rank + i] = v->type->log2[i];
	const Type *mid = type_tile(t->elem, whole->rank, log2);
	if (mid != v->type) v = ir_unary(b, OP_RESHAPE, mid, v);
	return mid == whole ? v : ir_unary(b, OP_BROADCAST, whole, v);
}

static Val *lift(Wide *x, Builder *b, Op *op)
{
	Val *v = op->out[0];
	const Type *t = lifted_type(x, v->type);
	Val **in = NEW_ARRAY(A_TMP, Val *, op->nin + 1);
	for (int i = 0; i < op->nin; i++) {
		bool one = op->code == OP_GATHER && type_is_tile(v->type) && type_is_scalar(ir_in(op, i)->type);
		bool raw = is_shared(op, i) || (one && widen_along(x->w, ir_in(op, i)) == WIDEN_SAME);
		in[i] = raw ? ir_in(op, i) : widen_lifted(x, b, ir_in(op, i));
		if (one && !raw) in[i] = lift_broadcast(x, b, in[i], v->type);
	}
	if (op->code == OP_BID) {
		Val *all = ir_unary(b, OP_BROADCAST, t, v);
		vec_push(A_TMP, &x->ops, ((Was){ all->def, v->type, t, -1, -1 }));      /* that becomes of the first one */
		return ir_binary(b, OP_ADD, t, all, ir_op1(b, OP_IOTA, t, 0, NULL));
	}
	if (op->code == OP_BROADCAST) return lift_broadcast(x, b, in[0], v->type);
	Val *r = ir_op1(b, op->code, t, op->nin, in);
	copy_attrs(r->def, op);
	if (op->code == OP_PERMUTE) {
		int64_t axes[TILE_RANK] = { 0 };
		for (int i = 0; i < v->type->rank; i++) axes[1 + i] = 1 + ir_attr(op, AT_AXES)->u.ints.p[i];
		ir_set_ints(r->def, AT_AXES, 1 + v->type->rank, axes);
	}
	return r;
}

Val *widen_lifted(Wide *x, Builder *b, Val *v)
{
	if (widen_along(x->w, v) == WIDEN_SAME) return ir_unary(b, OP_BROADCAST, lifted_type(x, v->type), v);
	if (!x->lifted[v->id]) {
		Builder own = build_after(v->def);
		Val *r = lift(x, &own, v->def);
		r->name = v->name;
		x->lifted[v->id] = r;
	}
	return x->lifted[v->id];
}

Val *widen_joined(Wide *x, Builder *b, Val *v, const Type *t, int axis)
{
	Val *all = widen_lifted(x, b, v);
	int64_t axes[TILE_RANK];
	uint8_t log2[TILE_RANK];
	int before = 0;
	all = lift_broadcast(x, b, all, t);
	for (int i = 0; i < t->rank; i++) {
		before += i < axis ? t->log2[i] : 0;
		log2[i] = (uint8_t)(t->log2[i] + (i == axis ? x->log2 : 0));
	}
	if (before) {
		uint8_t to[TILE_RANK];
		for (int i = 0; i <= t->rank; i++) axes[i] = i < axis ? i + 1 : i == axis ? 0 : i;
		for (int i = 0; i <= t->rank; i++) to[i] = all->type->log2[axes[i]];
		all = ir_unary(b, OP_PERMUTE, type_tile(v->type->elem, t->rank + 1, to), all);
		ir_set_ints(all->def, AT_AXES, t->rank + 1, axes);
	}
	return ir_unary(b, OP_RESHAPE, type_tile(v->type->elem, t->rank, log2), all);
}

/* ---- parts ---- */
/* The axis of an operand that becomes an axis of the result as it is; -1: the operand has no such axis. */
static int axis_before(const Op *op, int axis)
{
	const Type *from = ir_in(op, 0)->type, *to = op->out[0]->type;
	if (op->code == OP_PERMUTE) return (int)ir_attr(op, AT_AXES)->u.ints.p[axis];
	for (int a = 0; op->code == OP_RESHAPE && a < from->rank; a++)
		if (from->log2[a] && widen_reshaped_axis(from, to, a) == axis) return a;
	int a = axis - (to->rank - from->rank);
	return op->code == OP_BROADCAST && type_is_tile(from) && a >= 0 && from->log2[a] ? a : -1;
}

static bool counts_along(const Type *t, int axis)
{
	for (int a = 0; a < t->rank; a++)
		if (a != axis && t->log2[a]) return false;
	return true;
}

static bool is_mapped(const Op *op)
{
	bool gathers = op->code == OP_GATHER && !ir_int(op, AT_ORDER, 0);
	return op->nout == 1 && op->code != OP_HINT && (gathers || (op_has(op, OPF_ELEMWISE) && op_has(op, OPF_PURE)));
}

static bool has_parts(Widen *w, const Val *v, int axis, int log2)
{
	const Op *op = v->def;
	Num n;
	if (ir_const_value(v, &n)) return true;
	if (!op || v->type->log2[axis] < log2) return false;
	if (op->code == OP_BROADCAST) {
		int a = axis_before(op, axis);
		return a < 0 || (w->places && widen_has_parts(w, ir_in(op, 0), a, log2));
	}
	if (op->code == OP_RESHAPE || op->code == OP_PERMUTE) {
		int a = axis_before(op, axis);
		return w->places && a >= 0 && widen_has_parts(w, ir_in(op, 0), a, log2);
	}
	if (op->code == OP_IOTA) return w->places && counts_along(v->type, axis);
	bool yes = w->places && is_mapped(op);
	for (int i = 0; yes && i < op->nin; i++) yes = widen_has_parts(w, ir_in(op, i), axis, log2);
	return yes;
}

/* For each value the axis of the tiles that it is combined with. */
bool widen_has_parts(Widen *w, const Val *v, int axis, int log2)
{
	if (!type_is_tile(v->type)) return true;
	int8_t *known = &w->parted[v->id];
	if (!*known) {
		bool yes = ++w->depth <= COST_FORMULA_DEPTH && has_parts(w, v, axis, log2);
		w->depth--;
		*known = (int8_t)(yes ? 1 + axis : -1);
	}
	return *known == 1 + axis;
}

static Val *number_of_part(const Wide *x)
{
	const Type *t = type_scalar(EL_I32);
	Builder b = build_before(x->w->fn->body->first);
	Val *bid = ir_op1(&b, OP_BID, t, 0, NULL);
	ir_set_int(bid->def, AT_AXIS, x->w->axis);
	return ir_binary(&b, OP_AND, t, bid, ir_const_int(&b, t, ((int64_t)1 << -x->log2) - 1));
}

static Val *part(Wide *x, Builder *b, Val *v, int axis)
{
	Op *op = v->def;
	Num n;
	const Type *t = widen_type(x, v->type, axis);
	if (ir_const_value(v, &n)) return ir_const_num(b, t, n);
	if (op->code == OP_IOTA) {
		if (!x->which) x->which = number_of_part(x);
		const Type *one = type_scalar(t->elem);
		Val *begin = t->elem == x->which->type->elem ? x->which : ir_unary(b, OP_CAST, one, x->which);
		Val *extent = ir_const_num(b, one, num_wrap(t->elem, (uint64_t)type_extent(t, axis)));
		begin = ir_binary(b, OP_MUL, one, begin, extent);
		begin = ir_unary(b, OP_BROADCAST, t, begin);
		return ir_binary(b, OP_ADD, t, begin, ir_op1(b, OP_IOTA, t, 0, NULL));
	}
	if (op_has(op, OPF_FREE)) {
		int a = axis_before(op, axis);
		Val *r = ir_unary(b, op->code, t, a < 0 ? ir_in(op, 0) : widen_part(x, ir_in(op, 0), a));
		copy_attrs(r->def, op);
		return r;
	}
	Val **in = NEW_ARRAY(A_TMP, Val *, op->nin);
	for (int i = 0; i < op->nin; i++) in[i] = widen_part(x, ir_in(op, i), axis);
	Val *r = ir_op1(b, op->code, t, op->nin, in);
	copy_attrs(r->def, op);
	return r;
}

Val *widen_part(Wide *x, Val *v, int axis)
{
	if (!type_is_tile(v->type)) return v;
	if (!x->part[v->id]) {
		Builder b = build_after(v->def);
		Val *r = part(x, &b, v, axis);
		r->name = v->name;
		x->part[v->id] = r;
	}
	return x->part[v->id];
}
