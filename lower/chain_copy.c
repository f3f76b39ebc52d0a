/* Copies of a kernel's own operations in the roles of a loop of chained products. */
#include <string.h>

#include "base/diag.h"
#include "ir/fold.h"
#include "lower/chain_write.h"
#include "lower/combine.h"

Val **chain_names(const Write *x)
{
	Val **own = NEW_ARRAY(A_TMP, Val *, x->c.fn->nval);
	memcpy(own, x->own, (size_t)x->c.fn->nval * sizeof *own);
	return own;
}

Region chain_enter(Write *x, Op *op)
{
	Region r = { x->b, x->own };
	x->own = chain_names(x);
	x->b = (Builder){ x->fn, ir_region(op), NULL, op->span };
	return r;
}

void chain_leave(Write *x, Region r, int n, Val *const *v)
{
	add(x, OP_YIELD, n, v);
	x->b = r.back;
	x->own = r.own;
}

Region chain_begin(Write *x, OpCode code, Op **op)
{
	Op *o = add(x, code, 0, NULL);
	if (op) *op = o;
	return chain_enter(x, o);
}

/* ---- copies of the kernel's own operations ---- */
Val *chain_value(Write *x, const Val *v);

void chain_copy_op(Write *x, const Op *from)
{
	Val *in[OP_ARGS];
	Num n;
	if (from->nin > OP_ARGS || from->nregion) bug("chain: `%s`", op_rows[from->code].name);
	for (int i = 0; i < from->nin; i++) in[i] = chain_value(x, ir_in(from, i));
	if (from->nout == 1 && type_is_scalar(from->out[0]->type) && fold_known(from, in, &n)) {
		x->own[from->out[0]->id] = ir_const_num(&x->b, from->out[0]->type, n);
		return;
	}
	forget_inside(copy_op(&x->b, from, in, x->own));        /* a group's tile may begin after the grid's last */
}

/* What stands for v; scalars, views and loops' invariants are made where they are first needed. */
Val *chain_value(Write *x, const Val *v)
{
	if (x->own[v->id]) return x->own[v->id];
	if (!v->def || v->def->nregion) bug("chain: %%%d is not known in this role", v->id);
	chain_copy_op(x, v->def);
	return x->own[v->id];
}

static void write_reduction(Write *x, const Op *op)
{
	Val *v = chain_value(x, ir_in(op, 0));
	Parts parts = { .n = 1, .v = { v }, .lay = *v->lay };
	x->b.span = op->span;
	combine_threads(&x->b, op, &parts);
	parts.v[0]->name = op->out[0]->name;
	x->own[op->out[0]->id] = parts.v[0];
}

void chain_write_vector(Write *x, const Op *op)
{
	if (op_is_reduce(op) && type_is_tile(op->out[0]->type)) write_reduction(x, op);
	else chain_copy_op(x, op);
}
