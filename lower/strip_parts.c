/* What pass strip writes for a reduction along the axis that is cut: partial results that a loop carries, and what
 * becomes of them after it. */
#include "base/diag.h"
#include "ir/fold.h"
#include "ir/ir_copy.h"
#include "ir/monoid.h"
#include "lower/strip.h"

/* What changes no element, its sign and its being a NaN included; of a function of the author's, what he says. */
Val *strip_begin(Builder *b, const Op *op, int value, const Type *t)
{
	if (op->nregion) return ir_unary(b, OP_BROADCAST, t, ir_in(op, scan_values(op) + value));
	return ir_const_num(b, t, monoid_identity(op->code, t->elem, ir_int(op, AT_NAN, 0) != 0));
}

static const Type *with_extent(const Type *t, int axis, int log2)
{
	uint8_t shape[TILE_RANK];
	for (int a = 0; a < t->rank; a++) shape[a] = (uint8_t)(a == axis ? log2 : t->log2[a]);
	return type_tile(t->elem, t->rank, shape);
}

/* A reduction along the axis of memory combines 2^far times 2^near elements in each thread, another one 2^far, before
 * it adds them to the partial results. */
typedef struct Fold { int far, near; } Fold;

static Fold fold_of(const Slicer *s, const Type *slice, int axis)
{
	int n = slice->log2[axis], last = slice->rank - 1;
	Fold f = { 0, 0 };
	if (slice->rank > TILE_RANK - SLICE_AXES) return f;
	while (last > axis && !slice->log2[last]) last--;
	if (last == axis) f.near = s->near < n ? s->near : n;
	f.far = s->far < n - f.near ? s->far : n - f.near;
	return f;
}

const Type *strip_partial(const Slicer *s, const Op *op, int value)
{
	const Type *slice = strip_type(s, ir_in(op, value));
	int axis = ir_axis(op);
	if (op_is_scan(op)) return with_extent(slice, axis, 0);
	Fold f = fold_of(s, slice, axis);
	return with_extent(slice, axis, slice->log2[axis] - f.far - f.near);
}

/* The axis becomes three: what a thread combines stands in the first and the last. */
static Val *unfolded_by(Fold f, Builder *b, Val *x, int axis)
{
	const Type *t = x->type;
	uint8_t shape[TILE_RANK];
	for (int a = 0; a < axis; a++) shape[a] = t->log2[a];
	shape[axis] = (uint8_t)f.far;
	shape[axis + 1] = (uint8_t)(t->log2[axis] - f.far - f.near);
	shape[axis + 2] = (uint8_t)f.near;
	for (int a = axis + 1; a < t->rank; a++) shape[a + SLICE_AXES] = t->log2[a];
	return ir_unary(b, OP_RESHAPE, type_tile(t->elem, t->rank + SLICE_AXES, shape), x);
}

static Val *unfolded(const Slicer *s, Builder *b, Val *x, int axis)
{
	return unfolded_by(fold_of(s, x->type, axis), b, x, axis);
}

/* Combines along the first and the last of those three. */
static Val *folded(Builder *b, OpCode code, const Op *like, Val *x, int axis)
{
	for (int a = axis; a <= axis + SLICE_AXES; a += SLICE_AXES) {
		x = ir_unary(b, code, with_extent(x->type, a, 0), x);
		if (like) copy_attrs(x->def, like);
		ir_set_int(x->def, AT_AXIS, a);
	}
	return x;
}

static Val *combined(Builder *b, const Op *op, Val *x, Val *y)
{
	static const AttrKey modes[] = { AT_ROUNDING, AT_SUBNORMALS, AT_NAN };
	Val *r = ir_binary(b, monoid_combine(op->code), x->type, x, y);
	for (int k = 0; k < 3; k++)
		if (ir_int(op, modes[k], 0)) ir_set_int(r->def, modes[k], ir_int(op, modes[k], 0));
	return r;
}

static void cut_reduce(Slicer *s, Builder *b, int i)
{
	const Op *op = s->p.ops[i].op;
	Val *x = strip_val(s, ir_in(op, 0));
	int axis = ir_axis(op);
	if (x->type->rank <= TILE_RANK - SLICE_AXES)
		x = ir_unary(b, OP_RESHAPE, s->sum[i]->type, folded(b, op->code, op, unfolded(s, b, x, axis), axis));
	s->sum[i] = combined(b, op, s->sum[i], x);
}

/* r, or 0 where it is -inf, which no exponent can be compared with: nothing was summed there but exp(-inf). */
static Val *reference(Builder *b, Val *r)
{
	const Type *bools = type_with_elem(r->type, EL_BOOL);
	Val *none = ir_binary(b, OP_EQ, bools, r, ir_const_num(b, r->type, num_float(-1.0 / 0.0)));
	return ir_op1(b, OP_SELECT, r->type, 3, (Val *[]){ none, ir_const_num(b, r->type, num_zero(EL_F32)), r });
}

static Val *exp_of_difference(Builder *b, const Op *like, Val *x, Val *y)
{
	Val *e = ir_unary(b, OP_EXP, x->type, ir_binary(b, OP_SUB, x->type, x, y));
	copy_attrs(e->def, like);
	return e;
}

/* The sum so far is one of exp(x - r), r the greatest x that this place of the slice has met; when r grows, so does
 * what it is divided by. A NaN is no greatest x, and makes the sum a NaN. */
static void cut_online(Slicer *s, Builder *b, int i)
{
	const StripOp *o = &s->p.ops[i];
	const Op *sum = o->op, *e = ir_in(sum, 0)->def;
	int axis = ir_axis(sum);
	Val *x = unfolded(s, b, strip_val(s, strip_exponent(o)), axis), *old = s->top[i];
	Val *most = folded(b, OP_REDUCE_MAX, NULL, x, axis);
	Val *top = ir_binary(b, OP_MAX, old->type, old, ir_unary(b, OP_RESHAPE, old->type, most)), *r = reference(b, top);
	Val *each = ir_unary(b, OP_BROADCAST, x->type, ir_unary(b, OP_RESHAPE, most->type, r));
	Val *here = folded(b, OP_SUM, sum, exp_of_difference(b, e, x, each), axis);
	Val *scaled = ir_binary(b, OP_MUL, old->type, s->sum[i], exp_of_difference(b, e, old, r));
	s->sum[i] = combined(b, sum, scaled, ir_unary(b, OP_RESHAPE, old->type, here));
	s->top[i] = top;
}

/* After the loop: each place's sum as one of exp(x - m). */
static Val *online_result(Slicer *s, Builder *b, int i, Val *sum, Val *top)
{
	const StripOp *o = &s->p.ops[i];
	const Op *e = ir_in(o->op, 0)->def;
	const Op *broadcast = ir_in(ir_in(e, 0)->def, 1)->def;
	Val *m = ir_unary(b, OP_BROADCAST, top->type, ir_in(broadcast, 0));
	return ir_binary(b, OP_MUL, sum->type, sum, exp_of_difference(b, e, top, m));
}

/* ---- the index of the greatest or smallest element ---- */
static Val *both(Builder *b, OpCode how, Val *x, Val *y) { return ir_binary(b, how, x->type, x, y); }

static const Type *bools(const Val *x) { return type_with_elem(x->type, EL_BOOL); }

static Val *is_nan(Builder *b, Val *x) { return ir_unary(b, OP_ISNAN, bools(x), x); }

static Val *choose(Builder *b, Val *c, Val *x, Val *y)
{
	return ir_op1(b, OP_SELECT, x->type, 3, (Val *[]){ c, x, y });
}

static Val *greatest(Builder *b, const Type *t) { return ir_const_num(b, t, num_greatest(EL_U32)); }

static OpCode extreme_of(const Op *op) { return op->code == OP_MAX_ELEMENT ? OP_REDUCE_MAX : OP_REDUCE_MIN; }

/* Numbers of the elements of a slice along an axis. */
static Val *places_of(Builder *b, const Type *slice, int axis)
{
	uint8_t shape[TILE_RANK] = { 0 };
	shape[axis] = slice->log2[axis];
	return ir_op1(b, OP_IOTA, type_tile(EL_U32, slice->rank, shape), 0, NULL);
}

/* What a thread finds of a slice: the element that wins, and the first place of those that are equal to it. A NaN is
 * looked for only where it wins. Where it does not, it is found where a thread has nothing else, and then its place
 * counts only if the whole row has nothing else: it is 0, with which the loop begins. */
static Val *found_here(const Slicer *s, Builder *b, const Op *op, Val *x, Val **place)
{
	int axis = ir_axis(op);
	*place = places_of(b, x->type, axis);
	if (x->type->rank > TILE_RANK - SLICE_AXES) {
		*place = ir_unary(b, OP_BROADCAST, type_with_elem(x->type, EL_U32), *place);
		return x;
	}
	const Type *partial = strip_partial(s, op, 0);
	Val *all = unfolded(s, b, x, axis), *most = folded(b, extreme_of(op), op, all, axis);
	Val *equal = ir_binary(b, OP_EQ, bools(all), all, ir_unary(b, OP_BROADCAST, all->type, most));
	if (elem_is_any_float(x->type->elem) && ir_int(op, AT_NAN, 0)) equal = both(b, OP_OR, equal, is_nan(b, all));
	Val *at = ir_unary(b, OP_BROADCAST, type_with_elem(all->type, EL_U32),
		unfolded_by(fold_of(s, x->type, axis), b, *place, axis));
	at = folded(b, OP_REDUCE_MIN, NULL, choose(b, equal, at, greatest(b, at->type)), axis);
	*place = ir_unary(b, OP_RESHAPE, type_with_elem(partial, EL_U32), at);
	return ir_unary(b, OP_RESHAPE, partial, most);
}

/* A thread has the element that wins so far, and its place: of equal ones the first. */
static void cut_index(Slicer *s, Builder *b, int i)
{
	const Op *op = s->p.ops[i].op;
	Val *slice = strip_val(s, ir_in(op, 0)), *old = s->sum[i], *place;
	Val *x = found_here(s, b, op, slice, &place);
	Val *wins = ir_binary(b, op->code == OP_MAX_ELEMENT ? OP_GT : OP_LT, bools(x), x, old);
	if (elem_is_any_float(x->type->elem)) {
		bool first = ir_int(op, AT_NAN, 0) != 0;        /* a NaN wins, or whatever else does */
		Val *nan = is_nan(b, first ? x : old), *other = is_nan(b, first ? old : x);
		wins = both(b, OP_OR, wins, both(b, OP_AND, nan, both(b, OP_XOR, other,
			ir_const_num(b, bools(x), num_one(EL_BOOL)))));
	}
	Val *k = ir_unary(b, OP_CAST, type_scalar(EL_U32), s->counter);
	k = ir_unary(b, OP_BROADCAST, place->type, strip_times(b, k, type_extent(slice->type, ir_axis(op))));
	s->sum[i] = choose(b, wins, x, old);
	s->top[i] = choose(b, wins, both(b, OP_ADD, k, place), s->top[i]);
}

/* The least index of those that are equal to the one that wins. */
static Val *index_result(Builder *b, const Op *op, Val *x, Val *index)
{
	int axis = ir_axis(op);
	Val *most = ir_unary(b, extreme_of(op), with_extent(x->type, axis, 0), x);
	copy_attrs(most->def, op);
	most = ir_unary(b, OP_BROADCAST, x->type, most);
	Val *equal = ir_binary(b, OP_EQ, bools(x), x, most);
	if (elem_is_any_float(x->type->elem)) {
		Val *of_most = is_nan(b, most);
		equal = both(b, OP_OR, equal, both(b, OP_AND, is_nan(b, x), of_most));
	}
	Val *r = ir_unary(b, OP_REDUCE_MIN, op->out[0]->type, choose(b, equal, index, greatest(b, index->type)));
	ir_set_int(r->def, AT_AXIS, axis);
	return r;
}

/* ---- scans ---- */
/* One element along the axis: the sum of what is zero elsewhere. */
static Val *element_of(Builder *b, Val *x, int axis, int64_t number)
{
	uint8_t shape[TILE_RANK] = { 0 };
	shape[axis] = x->type->log2[axis];
	bool is_float = elem_is_any_float(x->type->elem);
	const Type *numbers = type_tile(EL_I32, x->type->rank, shape);
	Val *i = ir_op1(b, OP_IOTA, numbers, 0, NULL), *at = ir_const_int(b, numbers, number);
	Val *is_it = ir_binary(b, OP_EQ, type_with_elem(numbers, EL_BOOL), i, at);
	Val *rest = ir_const_num(b, x->type, is_float ? num_float(-0.0) : num_zero(x->type->elem));
	is_it = ir_unary(b, OP_BROADCAST, type_with_elem(x->type, EL_BOOL), is_it);
	Val *r = ir_unary(b, OP_SUM, with_extent(x->type, axis, 0),
		ir_op1(b, OP_SELECT, x->type, 3, (Val *[]){ is_it, x, rest }));
	ir_set_int(r->def, AT_AXIS, axis);
	return r;
}

/* What the author's function makes of x, which comes first, and y: tiles, where it works on their elements. */
static void call_region(Builder *b, const Op *op, Val *const *x, Val *const *y, Val **r)
{
	const IrBlock *f = op->region[0];
	int n = scan_values(op);
	Val **now = NEW_ARRAY(A_TMP, Val *, op->parent->fn->nval);
	for (int i = 0; i < 2 * n; i++) now[f->args.p[i]->id] = i < n ? x[i] : y[i - n];
	for (const Op *o = f->first; o != f->last; o = o->next) {
		Val **in = NEW_ARRAY(A_TMP, Val *, o->nin);
		const Type *t = type_with_elem(x[0]->type, o->out[0]->type->elem);
		for (int i = 0; i < o->nin; i++) {
			Val *v = ir_in(o, i);
			in[i] = now[v->id] ? now[v->id] : ir_unary(b, OP_BROADCAST, type_with_elem(x[0]->type, v->type->elem), v);
		}
		Op *made = ir_op(b, o->code, o->nin, in, 1, &t);
		copy_attrs(made, o);
		now[o->out[0]->id] = made->out[0];
	}
	for (int i = 0; i < n; i++) {
		Val *v = ir_in(f->last, i);
		r[i] = now[v->id] ? now[v->id] : ir_unary(b, OP_BROADCAST, x[i]->type, v);
	}
}

void strip_combine(Builder *b, const Op *op, Val *const *x, Val *const *y, Val **r)
{
	if (op->nregion) call_region(b, op, x, y, r);
	else r[0] = combined(b, op, x[0], y[0]);
}

/* The scan of a slice alone. */
static Op *scan_slice(Builder *b, const Op *op, Val *const *x)
{
	int n = scan_values(op);
	Val **in = NEW_ARRAY(A_TMP, Val *, op->nin);
	const Type **out = NEW_ARRAY(A_TMP, const Type *, n);
	for (int k = 0; k < op->nin; k++) in[k] = k < n ? x[k] : ir_in(op, k);
	for (int k = 0; k < n; k++) out[k] = x[k]->type;
	Op *r = ir_op(b, op->code, op->nin, in, n, out);
	copy_attrs(r, op);
	if (!op->nregion) return r;
	const IrBlock *from = op->region[0];
	Builder inner = { b->fn, ir_region(r), NULL, b->span };
	Val **args = NEW_ARRAY(A_TMP, Val *, from->args.n);
	for (int k = 0; k < from->args.n; k++) args[k] = ir_arg(inner.block, from->args.p[k]->type, from->args.p[k]->name);
	copy_block(&inner, from, args);
	return r;
}

void strip_scan(Slicer *s, Builder *b, int i)
{
	const Op *op = s->p.ops[i].op;
	int n = scan_values(op);
	Val **x = NEW_ARRAY(A_TMP, Val *, n), **before = NEW_ARRAY(A_TMP, Val *, n), **r = NEW_ARRAY(A_TMP, Val *, n);
	for (int k = 0; k < n; k++) x[k] = strip_val(s, ir_in(op, k));
	Op *here = scan_slice(b, op, x);
	for (int k = 0; k < n; k++) before[k] = ir_unary(b, OP_BROADCAST, x[k]->type, s->before[i][k]);
	strip_combine(b, op, before, here->out, r);
	for (int k = 0; k < n; k++) {
		r[k]->name = op->out[k]->name;
		s->now[op->out[k]->id] = r[k];
	}
	int64_t last = ir_int(op, AT_DIRECTION, 0) ? 0 : type_extent(x[0]->type, ir_axis(op)) - 1;
	if (ir_int(op, AT_EXCLUSIVE, 0)) strip_combine(b, op, r, x, r);
	for (int k = 0; k < n; k++) s->before[i][k] = element_of(b, r[k], ir_axis(op), last);
}

/* ---- each of them ---- */
void strip_reduce(Slicer *s, Builder *b, int i)
{
	if (strip_by_index(s->p.ops[i].op)) cut_index(s, b, i);
	else if (s->p.ops[i].online < 0) cut_reduce(s, b, i);
	else cut_online(s, b, i);
}

Val *strip_result(Slicer *s, Builder *b, int i, Val *x, Val *more)
{
	const Op *op = s->p.ops[i].op;
	if (strip_by_index(op)) return index_result(b, op, x, more);
	if (s->p.ops[i].online >= 0) x = online_result(s, b, i, x, more);
	Val *r = ir_unary(b, op->code, op->out[0]->type, x);
	copy_attrs(r->def, op);
	return r;
}
