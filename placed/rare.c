/* What only one element of a tile needs.
 *
 * `select(iota == t, a, b)` takes a for one element of a row (the label of cross-entropy, the end of a sequence) and b
 * for all others. So what a alone is made of, and the comparison, need not be computed for each: the code for a
 * few registers at a time tests whether one of their elements has that number (lower/chunk.c). */
#include "placed/placed.h"

static bool is_splat(const Val *v)
{
	return v->def && (v->def->code == OP_CONST || (v->def->code == OP_BROADCAST
		&& !type_is_tile(ir_in(v->def, 0)->type)));
}

static bool is_numbers(const Val *v)
{
	return v->def && v->def->code == OP_IOTA && v->type->elem == EL_I32;
}

const Val *rare_number(const Op *select, const Val **from)
{
	const Op *eq = select->code == OP_SELECT && type_is_tile(select->out[0]->type) ? ir_in(select, 0)->def : NULL;
	if (!eq || eq->code != OP_EQ || !is_splat(ir_in(eq, 1))) return NULL;
	const Val *x = ir_in(eq, 0);
	*from = NULL;
	if (x->def && x->def->code == OP_ADD && is_splat(ir_in(x->def, 1))) {   /* of a slice */
		*from = ir_in(x->def, 1);
		x = ir_in(x->def, 0);
	}
	return is_numbers(x) ? x : NULL;
}

typedef struct Ops { VEC(const Op *) all; } Ops;

static void find_picks(void *ctx, Op *op)
{
	const Val *from;
	*(bool *)ctx |= op->code == OP_SELECT && rare_number(op, &from);
}

static void collect(void *ctx, Op *op)
{
	Ops *o = ctx;
	vec_push(A_TMP, &o->all, op);
}

static bool is_pointwise(const Op *op)
{
	return op->nout == 1 && type_is_tile(op->out[0]->type) && op_has(op, OPF_ELEMWISE);
}

bool *rare_values(const Fn *fn, Arena *a)
{
	const Val *from;
	Ops ops = { { 0 } };
	bool *rare = NEW_ARRAY(a, bool, fn->nval), picks_any = false;
	ir_walk(fn->body, find_picks, &picks_any);
	if (!picks_any) return rare;
	bool *common = NEW_ARRAY(A_TMP, bool, fn->nval);
	ir_walk(fn->body, collect, &ops);
	for (int k = ops.all.n - 1; k >= 0; k--) {
		const Op *op = ops.all.p[k];
		bool picks = rare_number(op, &from) != NULL, unused = is_pointwise(op) && rare[op->out[0]->id];
		for (int i = 0; i < op->nin; i++) {
			const Val *v = ir_in(op, i);
			bool here = unused || (picks && i < 2);
			if (!here) common[v->id] = true;
			rare[v->id] = !common[v->id];
		}
	}
	return rare;
}
