/* expand: operations without a placed form of their own become `take` (a tile read at computed indices along one axis):
 * flip, rotate, extract and insert. A `take` outside its tile gives its pad, which is all that insert needs. The
 * greatest k elements are found one after the other, or are the first of all, sorted. Sums and products of f16 and bf16
 * are kept in f32 and rounded once. Matrix products are cut into parts that shared memory holds. */
#include <string.h>

#include "base/cost.h"
#include "base/diag.h"
#include "ir/fold.h"
#include "lower/placed.h"

/* 0, 1, 2 ... along axis, extent 1 elsewhere. */
static Val *iota_along(Builder *b, int rank, int axis, int n_log2)
{
	uint8_t shape[TILE_RANK] = { 0 };
	shape[axis] = (uint8_t)n_log2;
	return ir_op1(b, OP_IOTA, type_tile(EL_I32, rank, shape), 0, NULL);
}

static Val *spread(Builder *b, Val *v, const Type *shape)
{
	const Type *t = type_with_elem(shape, v->type->elem);
	return v->type == t ? v : ir_unary(b, OP_BROADCAST, t, v);
}

static Val *with_const(Builder *b, OpCode op, Val *v, int64_t c)
{
	return ir_binary(b, op, v->type, v, ir_const_int(b, v->type, c));
}

static Val *take(Builder *b, Val *x, Val *index, Val *pad, int axis)
{
	uint8_t shape[TILE_RANK];
	for (int a = 0; a < x->type->rank; a++) shape[a] = a == axis ? index->type->log2[a] : x->type->log2[a];
	Val *full = spread(b, index, type_tile(EL_I32, x->type->rank, shape));
	Val *r = ir_op1(b, OP_TAKE, type_with_elem(full->type, x->type->elem), 3, (Val *[]){ x, full, pad });
	ir_set_int(r->def, AT_AXIS, axis);
	return r;
}

static Val *zero_of(Builder *b, Elem e) { return ir_const_num(b, type_scalar(e), num_zero(e)); }

static Val *expand_turn(Builder *b, Op *op)
{
	Val *x = ir_in(op, 0);
	int axis = ir_axis(op), n = x->type->log2[axis];
	int64_t extent = (int64_t)1 << n, by = ir_int(op, AT_SHIFT, 0);
	Val *i = iota_along(b, x->type->rank, axis, n), *pad = zero_of(b, x->type->elem);
	if (op->code == OP_FLIP) return take(b, x, with_const(b, OP_XOR, i, extent - 1), pad, axis);
	by = ((by % extent) + extent) % extent;
	return take(b, x, with_const(b, OP_AND, with_const(b, OP_SUB, i, by), extent - 1), pad, axis);
}

/* The element offset of sub-tile `index` as i32: outside of the whole, an offset that is outside for every element. */
static Val *part_offset(Builder *b, Val *index, int whole_log2, int part_log2)
{
	const Type *i64 = type_scalar(EL_I64), *i32 = type_scalar(EL_I32);
	int64_t parts = (int64_t)1 << (whole_log2 - part_log2), far = (int64_t)1 << 30;
	Num n;
	if (ir_const_value(index, &n)) {
		bool inside = n.i >= 0 && n.i < parts;
		return ir_const_int(b, i32, inside ? n.i << part_log2 : far);
	}
	Val *x = index->type == i64 ? index : ir_unary(b, OP_CAST, i64, index);
	if (index->type->elem == EL_U64) x = ir_unary(b, OP_BITCAST, i64, index);
	const Type *bool_ = type_scalar(EL_BOOL);
	Val *below = ir_binary(b, OP_LT, bool_, x, ir_const_int(b, i64, parts));
	Val *ok = ir_binary(b, OP_AND, bool_, ir_binary(b, OP_GE, bool_, x, ir_const_int(b, i64, 0)), below);
	Val *small = ir_op1(b, OP_SELECT, i64, 3, (Val *[]){ ok, x, ir_const_int(b, i64, far >> part_log2) });
	return with_const(b, OP_MUL, ir_unary(b, OP_CAST, i32, small), (int64_t)1 << part_log2);
}

static bool is_whole(const Val *index, int whole_log2, int part_log2)
{
	Num n;
	return whole_log2 == part_log2 && ir_const_value(index, &n) && n.i == 0;
}

static Val *expand_extract(Builder *b, Op *op)
{
	Val *x = ir_in(op, 0);
	const Type *part = op->out[0]->type;
	for (int a = 0; a < part->rank; a++) {
		Val *index = ir_in(op, 1 + a);
		if (is_whole(index, x->type->log2[a], part->log2[a])) continue;
		Val *i = iota_along(b, part->rank, a, part->log2[a]);
		Val *at = part_offset(b, index, x->type->log2[a], part->log2[a]);
		i = ir_binary(b, OP_ADD, i->type, i, spread(b, at, i->type));
		x = take(b, x, i, zero_of(b, x->type->elem), a);
	}
	return x;
}

static Val *expand_insert(Builder *b, Op *op)
{
	Val *x = ir_in(op, 0), *y = ir_in(op, 1), *inside = NULL;
	const Type *whole = x->type, *bools = type_with_elem(whole, EL_BOOL);
	for (int a = 0; a < whole->rank; a++) {
		Val *index = ir_in(op, 2 + a);
		int part = op->in[1]->type->log2[a];
		if (is_whole(index, whole->log2[a], part)) continue;
		Val *i = iota_along(b, whole->rank, a, whole->log2[a]);
		Val *at = part_offset(b, index, whole->log2[a], part);
		i = ir_binary(b, OP_SUB, i->type, i, spread(b, at, i->type));
		const Type *t = type_with_elem(i->type, EL_BOOL);
		Val *below = ir_binary(b, OP_LT, t, i, ir_const_int(b, i->type, (int64_t)1 << part));
		Val *ok = ir_binary(b, OP_AND, t, ir_binary(b, OP_GE, t, i, ir_const_int(b, i->type, 0)), below);
		ok = spread(b, ok, bools);
		inside = inside ? ir_binary(b, OP_AND, bools, inside, ok) : ok;
		y = take(b, y, i, zero_of(b, y->type->elem), a);
	}
	return inside ? ir_op1(b, OP_SELECT, whole, 3, (Val *[]){ inside, y, x }) : y;
}

/* ---- the k greatest ---- */
/* All elements in their order, then the first k of them. */
static void sort_all(Builder *b, Op *op, Val **result)
{
	Val *x = ir_in(op, 0);
	int axis = ir_axis(op), n = op->out[0]->type->log2[axis];
	const Type *t[2] = { x->type, type_with_elem(x->type, EL_I32) };
	Op *all = ir_op(b, OP_TOPK, 1, &x, 2, t);
	ir_set_int(all, AT_AXIS, axis);
	ir_set_int(all, AT_NUMBER, type_extent(x->type, axis));
	Val *i = iota_along(b, x->type->rank, axis, n);
	for (int k = 0; k < 2; k++) result[k] = take(b, all->out[k], i, zero_of(b, t[k]->elem), axis);
}

/* Integers in the order of floats: of all zeros 0, of all NaNs the greatest, and none the least, which says that an
 * element was taken. */
static Val *keys_of(Builder *b, Val *x)
{
	if (x->type->elem != EL_F32) x = ir_unary(b, OP_CAST, type_with_elem(x->type, EL_F32), x);
	const Type *keys = type_with_elem(x->type, EL_I32), *bools = type_with_elem(x->type, EL_BOOL);
	Val *u = ir_unary(b, OP_BITCAST, keys, x), *zero = ir_const_int(b, keys, 0);
	Val *below = ir_binary(b, OP_SUB, keys, ir_const_int(b, keys, INT32_MIN), u);
	u = ir_op1(b, OP_SELECT, keys, 3, (Val *[]){ ir_binary(b, OP_LT, bools, u, zero), below, u });
	Val *is_nan = ir_unary(b, OP_ISNAN, bools, x);
	return ir_op1(b, OP_SELECT, keys, 3, (Val *[]){ is_nan, ir_const_int(b, keys, INT32_MAX), u });
}

static Val *reduce_along(Builder *b, OpCode code, Val *x, int axis)
{
	uint8_t log2[TILE_RANK];
	memcpy(log2, x->type->log2, sizeof log2);
	log2[axis] = 0;
	Val *r = ir_unary(b, code, type_tile(x->type->elem, x->type->rank, log2), x);
	ir_set_int(r->def, AT_AXIS, axis);
	return r;
}

/* A round takes the first of the greatest keys out, and notes its place. keys, places: so far */
static void take_greatest(Builder *b, Val *round, int axis, Val **keys, Val **places)
{
	const Type *t = (*keys)->type, *found = (*places)->type;
	int rank = t->rank;
	Val *number = spread(b, iota_along(b, rank, axis, t->log2[axis]), t);
	Val *best = spread(b, reduce_along(b, OP_REDUCE_MAX, *keys, axis), t);
	Val *hit = ir_binary(b, OP_EQ, type_with_elem(t, EL_BOOL), *keys, best), *none = ir_const_int(b, t, INT32_MAX);
	Val *at = reduce_along(b, OP_REDUCE_MIN, ir_op1(b, OP_SELECT, t, 3, (Val *[]){ hit, number, none }), axis);
	Val *slot = spread(b, iota_along(b, rank, axis, found->log2[axis]), found);
	Val *now = ir_binary(b, OP_EQ, type_with_elem(found, EL_BOOL), slot, spread(b, round, found));
	*places = ir_op1(b, OP_SELECT, found, 3, (Val *[]){ now, spread(b, at, found), *places });
	Val *gone = ir_binary(b, OP_EQ, type_with_elem(t, EL_BOOL), number, spread(b, at, t));
	*keys = ir_op1(b, OP_SELECT, t, 3, (Val *[]){ gone, ir_const_int(b, t, INT32_MIN), *keys });
}

/* One after the other, k rounds. */
static void take_each(Builder *b, Op *op, Val **result)
{
	Val *x = ir_in(op, 0), *keys = keys_of(b, x);
	const Type *i32 = type_scalar(EL_I32), *t[2] = { keys->type, op->out[1]->type };
	int axis = ir_axis(op);
	Val *zero = ir_const_int(b, i32, 0), *one = ir_const_int(b, i32, 1), *none = ir_const_int(b, t[1], 0);
	Val *in[5] = { zero, ir_const_int(b, i32, type_extent(t[1], axis)), one, keys, none };
	Op *loop = ir_op(b, OP_FOR, 5, in, 2, t);
	IrBlock *body = ir_region(loop);
	Builder inside = { b->fn, body, NULL, op->span };
	Val *round = ir_arg(body, i32, NULL), *end[2] = { ir_arg(body, t[0], NULL), ir_arg(body, t[1], NULL) };
	take_greatest(&inside, round, axis, &end[0], &end[1]);
	ir_op(&inside, OP_YIELD, 2, end, 0, NULL);
	result[1] = loop->out[1];
	result[0] = take(b, x, loop->out[1], zero_of(b, x->type->elem), axis);
}

/* Few rounds take less than a network that sorts 2^n elements, which has n (n + 1) / 2 steps. */
static bool has_few_rounds(const Op *op)
{
	const Type *t = ir_in(op, 0)->type;
	int n = t->log2[ir_axis(op)], k = op->out[0]->type->log2[ir_axis(op)];
	bool keys = t->elem == EL_F32 || t->elem == EL_F16 || t->elem == EL_BF16;
	return keys && ((int64_t)COST_TOPK_ROUND << k) <= n * (n + 1) / 2;
}

static void expand_topk(Builder *b, Op *op)
{
	int axis = ir_axis(op);
	Val *result[2];
	if (op->out[0]->type->log2[axis] == ir_in(op, 0)->type->log2[axis]) return;
	if (has_few_rounds(op)) take_each(b, op, result);
	else sort_all(b, op, result);
	for (int k = 0; k < 2; k++) {
		result[k]->name = op->out[k]->name;
		ir_replace(op->out[k], result[k]);
	}
	ir_remove(op);
}

/* ---- products whose factors do not fit shared memory: batches one half at a time, then halves along K, then along
 * the longer of M and N ---- */
static int64_t factor_bytes(const Val *x)       /* as multiplied: 8-bit floats as f16 */
{
	Elem e = x->type->elem;
	return type_size(x->type) * (e == EL_F8E4M3 || e == EL_F8E5M2 ? 2 : elem_bytes(e));
}

/* up to this many parts are written out; more are multiplied in a loop (MMA in PLACED) */
enum { PRODUCT_PARTS = 4 };

static bool product_fits(const Val *x, const Val *y, int parts)
{
	return factor_bytes(x) + factor_bytes(y) <= parts * (int64_t)COST_SHARED_LIMIT;
}

static Val *half_of(Builder *b, Val *x, int axis, int which)
{
	if (!x->type->log2[axis]) return x;             /* a batch of one serves both halves */
	int n = x->type->log2[axis] - 1;
	Val *i = iota_along(b, x->type->rank, axis, n);
	if (which) i = with_const(b, OP_ADD, i, (int64_t)1 << n);
	return take(b, x, i, zero_of(b, x->type->elem), axis);
}

static int axis_to_halve(const Val *x, const Val *y, int r)    /* K: r; otherwise an axis of the result */
{
	enum { LEAST_K = 4 };   /* log2: what one instruction takes of f16 */
	int k = x->type->log2[r - 1], m = x->type->log2[r - 2], n = y->type->log2[r - 1];
	if (r == 3 && (x->type->log2[0] || y->type->log2[0])) return 0;
	if (k > LEAST_K || (!m && !n)) return r;
	return m >= n ? r - 2 : r - 1;
}

static Val *expand_product(Builder *b, const Op *op, Val *x, Val *y, Val *acc)
{
	int r = acc->type->rank;
	if (product_fits(x, y, 1)) {
		Val *v = ir_op1(b, OP_MMA, acc->type, 3, (Val *[]){ x, y, acc });
		copy_attrs(v->def, op);
		return v;
	}
	int axis = axis_to_halve(x, y, r);
	if (axis == r) {
		for (int i = 0; i < 2; i++) {
			Val *y_half = half_of(b, y, r - 2, i), *x_half = half_of(b, x, r - 1, i);
			acc = expand_product(b, op, x_half, y_half, acc);
		}
		return acc;
	}
	Val *part[2];
	for (int i = 0; i < 2; i++) {
		Val *acc_half = half_of(b, acc, axis, i), *y_part = axis == r - 2 ? y : half_of(b, y, axis, i);
		Val *x_part = axis == r - 1 ? x : half_of(b, x, axis, i);
		part[i] = expand_product(b, op, x_part, y_part, acc_half);
	}
	Val *whole = ir_op1(b, OP_CAT, acc->type, 2, part);
	ir_set_int(whole->def, AT_AXIS, axis);
	return whole;
}

static Val *of_rank(Builder *b, Val *x, int rank)
{
	const Type *t = x->type;
	uint8_t log2[TILE_RANK] = { 0 };
	for (int i = 0; i < rank && i < t->rank; i++) log2[rank - 1 - i] = t->log2[t->rank - 1 - i];
	return ir_unary(b, OP_RESHAPE, type_with_shape(t, rank, log2), x);
}

/* Batches of one are matrices, which tensor cores take. */
static Val *expand_single(Builder *b, const Op *op)
{
	Val *in[3];
	for (int i = 0; i < 3; i++) in[i] = of_rank(b, ir_in(op, i), 2);
	Val *v = ir_op1(b, OP_MMA, in[2]->type, 3, in);
	copy_attrs(v->def, op);
	return of_rank(b, v, 3);
}

static bool keeps_wide(const Op *op)
{
	bool sum = op->code == OP_SUM || op->code == OP_PROD || op->code == OP_CUMSUM || op->code == OP_CUMPROD;
	return sum && (op->out[0]->type->elem == EL_F16 || op->out[0]->type->elem == EL_BF16)
		&& !ir_int(op, AT_ROUNDING, 0);
}

static Val *expand_wide(Builder *b, Op *op)
{
	Val *x = ir_unary(b, OP_CAST, type_with_elem(ir_in(op, 0)->type, EL_F32), ir_in(op, 0));
	Val *r = ir_unary(b, op->code, type_with_elem(op->out[0]->type, EL_F32), x);
	copy_attrs(r->def, op);
	return ir_unary(b, OP_CAST, op->out[0]->type, r);
}

static void expand_op(void *ctx, Op *op)
{
	Builder b;
	Val *r = NULL;
	(void)ctx;
	if (!op->parent) return;
	b = build_before(op);
	switch (op->code) {
	case OP_SHIFT:                  /* pass slide, which knows layouts */
		if (ir_int(op, AT_SHIFT, 0)) return;
		r = ir_in(op, 0);
		break;
	case OP_FLIP: case OP_ROTATE: r = expand_turn(&b, op); break;
	case OP_EXTRACT: r = expand_extract(&b, op); break;
	case OP_INSERT: r = expand_insert(&b, op); break;
	case OP_TOPK: expand_topk(&b, op); return;
	case OP_MMA:
		if (op->out[0]->type->rank == 3 && !op->out[0]->type->log2[0] && mma_suits_tensor(op)) {
			r = expand_single(&b, op);
			break;
		}
		if (product_fits(ir_in(op, 0), ir_in(op, 1), 1)) return;
		if (!product_fits(ir_in(op, 0), ir_in(op, 1), PRODUCT_PARTS)) return;
		r = expand_product(&b, op, ir_in(op, 0), ir_in(op, 1), ir_in(op, 2));
		break;
	default:
		if (!keeps_wide(op)) return;
		r = expand_wide(&b, op);
	}
	if (op->out[0]->name && op->code != OP_SHIFT) r->name = op->out[0]->name;
	ir_replace(op->out[0], r);
	ir_remove(op);
}

void pass_expand(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) {
		ir_walk(m->fns.p[i]->body, expand_op, NULL);
		ArenaMark mark = arena_mark(A_TMP);
		drop_dead(m->fns.p[i]);         /* such as a tile that another one takes the place of as a whole */
		arena_release(A_TMP, mark);
	}
}
