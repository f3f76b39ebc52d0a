/* Operations that change the shape, reductions and products against their rows. */
#include "ir/ir_check.h"

#include "ir/rules.h"

/* ---- shape ---- */
/* The result is x's type but for the extent along axis, which is 2^log2. */
static bool differs_in(const Type *r, const Type *x, int axis, int log2)
{
	Type want = *x;
	want.log2[axis] = (uint8_t)log2;
	return r->kind == x->kind && r->elem == x->elem && type_same_shape(r, &want);
}

bool chk_permute(Check *c, const Op *op)
{
	if (!chk_arity(c, op, 1, 1)) return false;
	const Type *x = chk_in(op, 0), *r = chk_out(op, 0);
	const int64_t *axes = ir_attr(op, AT_AXES)->u.ints.p;
	unsigned seen = 0;
	NEED(r->kind == x->kind && r->elem == x->elem && r->rank == x->rank,
		"the result must be of the same kind and rank");
	for (int i = 0; i < x->rank; i++) {
		NEED(axes[i] >= 0 && axes[i] < x->rank && !(seen >> axes[i] & 1), "`axes` is no permutation");
		seen |= 1u << axes[i];
		NEED(r->log2[i] == x->log2[axes[i]], "extent %d of the result is wrong", i);
	}
	return true;
}

bool chk_indices(Check *c, const Op *op, int first, int n)
{
	NEED(op->nin == first + n, "one index for each axis needed");
	for (int i = first; i < op->nin; i++) NEED(chk_is_index(chk_in(op, i)),
		"operand %d must be an integer scalar", i);
	return true;
}

bool chk_extract(Check *c, const Op *op)
{
	bool insert = op->code == OP_INSERT;
	NEED(op->nin >= 1 + insert && op->nout == 1, "operands are missing");
	if (!chk_tile_in(c, op, 0) || (insert && !chk_tile_in(c, op, 1))) return false;
	const Type *whole = chk_in(op, 0), *part = insert ? chk_in(op, 1) : chk_out(op, 0);
	NEED(type_is_tile(part) && part->elem == whole->elem && part->rank == whole->rank,
		"the part must be a tile of the same element type and rank");
	for (int i = 0; i < part->rank; i++) NEED(part->log2[i] <= whole->log2[i],
		"the part is larger than the whole along axis %d", i);
	if (insert) NEED(chk_out(op, 0) == whole, "the result must have the whole's type");
	return chk_indices(c, op, 1 + insert, whole->rank);
}

bool chk_take(Check *c, const Op *op)
{
	if (!chk_arity(c, op, 3, 1) || !chk_tile_in(c, op, 0) || !chk_tile_in(c, op, 1)) return false;
	const Type *x = chk_in(op, 0), *index = chk_in(op, 1);
	int axis = ir_axis(op);
	NEED(elem_is_int(index->elem), "the index must be integers");
	NEED(index->rank == x->rank, "the index must have the operand's rank");
	for (int i = 0; i < x->rank; i++)
		NEED(i == axis || index->log2[i] == x->log2[i],
			"the index has another extent along axis %d", i);
	NEED(chk_is_scalar_of(chk_in(op, 2), x->elem), "the pad must be a scalar of the operand's type");
	NEED(chk_out(op, 0) == type_with_elem(index, x->elem),
		"the result must have the index's shape and the operand's element type");
	return true;
}

bool chk_reshape(Check *c, const Op *op)
{
	if (!chk_arity(c, op, 1, 1)) return false;
	const Type *x = chk_in(op, 0), *r = chk_out(op, 0);
	NEED(type_is_tile(x) && type_is_tile(r), "operand and result must be tiles");
	NEED(x->elem == r->elem && type_log2_size(x) == type_log2_size(r),
		"element type and number of elements must stay");
	return true;
}

bool chk_broadcast(Check *c, const Op *op)
{
	if (!chk_arity(c, op, 1, 1)) return false;
	const Type *x = chk_in(op, 0), *r = chk_out(op, 0);
	int axis;
	NEED(chk_is_data(x) && type_is_tile(r) && x->elem == r->elem,
		"the result must be a tile of the operand's element type");
	NEED(type_is_scalar(x) || rule_one_way(x, r->rank, r->log2, &axis),
		"the operand does not broadcast to the result's shape");
	return true;
}

bool chk_join(Check *c, const Op *op)
{
	bool join = op->code == OP_JOIN;
	if (!chk_arity(c, op, join ? 2 : 1, join ? 1 : 2)) return false;
	const Type *half = join ? chk_in(op, 0) : chk_out(op, 0), *pair = join ? chk_out(op, 0) : chk_in(op, 0);
	NEED(half == (join ? chk_in(op, 1) : chk_out(op, 1)), "both halves must have one type");
	NEED(type_is_tile(half) && type_is_tile(pair) && half->elem == pair->elem,
		"all must be tiles of one element type");
	NEED(pair->rank == half->rank + 1 && pair->log2[half->rank] == 1,
		"the last axis of the pairs must have length 2");
	for (int i = 0; i < half->rank; i++) NEED(pair->log2[i] == half->log2[i], "extent %d must stay", i);
	return true;
}

bool chk_topk(Check *c, const Op *op)
{
	if (!chk_arity(c, op, 1, 2) || !chk_tile_in(c, op, 0)) return false;
	const Type *x = chk_in(op, 0), *r = chk_out(op, 0);
	int axis = ir_axis(op);
	int64_t k = ir_int(op, AT_NUMBER, 0);
	NEED(type_is_tile(r) && r->rank == x->rank && type_extent(r, axis) == k,
		"the results must have `count` elements along `axis`");
	NEED(differs_in(r, x, axis, r->log2[axis]) && r->log2[axis] <= x->log2[axis],
		"the other extents must stay");
	NEED(chk_out(op, 1) == type_with_elem(r, EL_I32), "the indices must be i32 of the values' shape");
	NEED(elem_is_arith(x->elem), "the operation is for arithmetic types");
	return true;
}

/* One tile in, the same type out; some with a scalar of the element type. */
static bool chk_same_tile(Check *c, const Op *op, int nin)
{
	if (!chk_arity(c, op, nin, 1) || !chk_tile_in(c, op, 0)) return false;
	NEED(chk_out(op, 0) == chk_in(op, 0), "the result must have the operand's type");
	return true;
}

bool chk_turned(Check *c, const Op *op) { return chk_same_tile(c, op, 1); }

bool chk_shift(Check *c, const Op *op)
{
	if (!chk_same_tile(c, op, 2)) return false;
	NEED(chk_is_scalar_of(chk_in(op, 1), chk_in(op, 0)->elem), "the fill must be a scalar of the operand's type");
	return true;
}

bool chk_sort(Check *c, const Op *op)
{
	if (!chk_same_tile(c, op, 1)) return false;
	NEED(elem_is_arith(chk_in(op, 0)->elem), "the operation is for arithmetic types");
	return true;
}

bool chk_cat(Check *c, const Op *op)
{
	if (!chk_arity(c, op, 2, 1) || !chk_tile_in(c, op, 0)) return false;
	const Type *x = chk_in(op, 0);
	int axis = ir_axis(op);
	NEED(chk_in(op, 1) == x, "both operands must have one type");
	NEED(differs_in(chk_out(op, 0), x, axis, x->log2[axis] + 1),
		"the result must be twice as long along `axis`");
	return true;
}

bool chk_to_scalar(Check *c, const Op *op)
{
	if (!chk_arity(c, op, 1, 1)) return false;
	const Type *x = chk_in(op, 0);
	NEED(type_is_tile(x) && type_size(x) == 1, "the operand must be a tile of one element");
	NEED(chk_is_scalar_of(chk_out(op, 0), x->elem), "the result must be a scalar of its type");
	return true;
}

/* ---- reductions, scans, mma ---- */
bool chk_reduce(Check *c, const Op *op)
{
	TypeRule rule = op_rows[op->code].type;
	if (!chk_arity(c, op, 1, 1) || !chk_tile_in(c, op, 0)) return false;
	const Type *x = chk_in(op, 0);
	NEED(rule == TR_REDUCE_INT ? elem_is_integral(x->elem) : elem_is_arith(x->elem),
		"the operation does not take the element type");
	const Type *want = rule == TR_REDUCE_INDEX ? type_with_elem(x, EL_U32) : x;
	if (rule == TR_SCAN) NEED(chk_out(op, 0) == x, "the result must have the operand's type");
	else NEED(differs_in(chk_out(op, 0), want, ir_axis(op), 0),
		"the result must have length 1 along `axis`, and be %s",
		elem_name(want->elem));
	return true;
}

/* Steps of a placed reduction may leave the axis at any length up to the operand's: what is
 * left is spread over threads. */
bool chk_reduce_step(Check *c, const Op *op)
{
	int axis = ir_axis(op);
	bool products = op->code == OP_REDUCE_REGS && op->nin == 2 && op->nout == 1;
	NEED(products || (op->nin >= 1 && op->nout == op->nin), "one result for each operand needed");
	if (products) {
		NEED(ir_int(op, AT_KIND, 0) == KIND_SUM && elem_is_any_float(chk_in(op, 0)->elem),
			"two operands with one result are the factors of a sum of floats");
		NEED(chk_in(op, 0) == chk_in(op, 1), "factors must have one type");
	}
	for (int i = 0; i < op->nin; i++) {
		const Type *x = chk_in(op, i), *r = chk_out(op, products ? 0 : i);
		NEED(type_is_tile(x) && type_is_tile(r) && x->rank == r->rank,
			"operand and result must be tiles of one rank");
		NEED(type_same_shape(x, chk_in(op, 0)), "operands must have one shape");
		NEED(r->log2[axis] <= x->log2[axis], "`axis` must not grow");
		NEED(differs_in(r, x, axis, r->log2[axis]), "element type and the other extents must stay");
	}
	NEED((ir_int(op, AT_KIND, 0) == KIND_CUSTOM) == (op->nregion == 1),
		"a region belongs to `kind = custom`, and only there");
	return true;
}

bool chk_reduce_region(Check *c, const Op *op)
{
	bool step = op->code == OP_REDUCE_REGS || op->code == OP_REDUCE_LANES, scan = op->code == OP_SCAN;
	int n = step ? op->nin : op->nin / 2;
	if (!step) {
		NEED(n >= 1 && op->nin == 2 * n && op->nout == n,
			"n tiles, n identities and n results needed");
		for (int i = 0; i < n; i++) {
			const Type *x = chk_in(op, i), *first = chk_in(op, 0);
			if (!chk_tile_in(c, op, i)) return false;
			NEED(type_same_shape(x, first), "the tiles must have one shape");
			NEED(chk_is_scalar_of(chk_in(op, n + i), x->elem),
				"identity %d must be a scalar of its tile's type", i);
			NEED(differs_in(chk_out(op, i), x, ir_axis(op), scan ? x->log2[ir_axis(op)] : 0),
				scan ? "result %d must have its tile's type" : "result %d must have length 1 along `axis`", i);
		}
	}
	NEED(op->nregion == 1, "one region needed");
	const IrBlock *b = op->region[0];
	NEED(b->args.n == 2 * n, "the region needs two arguments for each tile");
	for (int i = 0; i < 2 * n; i++)
		NEED(chk_is_scalar_of(b->args.p[i]->type, chk_in(op, i % n)->elem),
			"argument %d of the region must be a scalar of its tile's type", i);
	return true;
}

bool chk_mma(Check *c, const Op *op)
{
	static const struct { RuleWhy why; const char *text; } texts[] = {
		{ RULE_RANK, "ranks must be 2 or 3" }, { RULE_INNER, "inner extents differ" },
		{ RULE_ROWS, "the accumulator has another number of rows" },
			{ RULE_COLS, "the accumulator has another number of columns" },
		{ RULE_BATCH, "batches differ" },
			{ RULE_MMA_ACC, "the accumulator's element type does not go with the factors'" }
	};
	if (!chk_arity(c, op, 3, 1)) return false;
	const Type *t[3];
	for (int i = 0; i < 3; i++) {
		t[i] = chk_in(op, i);
		if (op->code == OP_MMA_SYNC && i < 2 && t[i]->kind == TY_SHARED)
			t[i] = type_tile(t[i]->elem, t[i]->rank, t[i]->log2);
		NEED(type_is_tile(t[i]), "operand %d must be a tile", i);
	}
	NEED(chk_out(op, 0) == chk_in(op, 2), "the result must have the accumulator's type");
	Ruling r = rule_mma(t[0], t[1], t[2]);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) NEED(r.why != texts[i].why,
		"%s", texts[i].text);
	NEED(r.why == RULE_OK, "the factors' element types do not go together");
	return true;
}
