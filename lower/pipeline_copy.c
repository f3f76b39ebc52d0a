/* Copies of a kernel's own operations in the roles that do its work, and which of them the producer needs. */
#include "base/diag.h"
#include "ir/ir_copy.h"
#include "lower/pipeline_write.h"

Val *pipe_value(const Write *x, const Val *v)
{
	Val *r = x->names->own[v->id] ? x->names->own[v->id] : x->names->common[v->id];
	if (!r) bug("pipeline: %%%d is not known in this role", v->id);
	return r;
}

void pipe_copy_op(Write *x, const Op *from, Val **own)
{
	Val *in[OP_ARGS];
	if (from->nin > OP_ARGS || from->nregion) bug("pipeline: `%s`", op_rows[from->code].name);
	for (int i = 0; i < from->nin; i++) in[i] = pipe_value(x, ir_in(from, i));
	forget_inside(copy_op(&x->b, from, in, own));   /* a group's tile may begin after the grid's last */
}

static bool is_of_scalars(const Op *op)
{
	for (int i = 0; i < op->nout; i++)
		if (!type_is_scalar(op->out[i]->type)) return false;
	return op->nout && op_has(op, OPF_PURE);
}

bool pipe_is_common(const Write *x, const Op *op)
{
	bool view = op->nout == 1 && op->out[0]->type->kind == TY_VIEW;
	if (op->code == OP_BID || (!is_of_scalars(op) && !view)) return false;
	for (int i = 0; i < op->nin; i++)
		if (!x->names->common[ir_in(op, i)->id]) return false;
	return true;
}

bool pipe_is_named(const Write *x, const Op *op)
{
	return op->nout && (x->names->own[op->out[0]->id] || x->names->common[op->out[0]->id]);
}

/* ---- what is needed ---- */
void pipe_need_operands(bool *needed, const Op *op)
{
	for (int i = 0; i < op->nin; i++) needed[ir_in(op, i)->id] = true;
}

bool pipe_gives_needed(const bool *needed, const Op *op)
{
	for (int i = 0; i < op->nout; i++)
		if (needed[op->out[i]->id]) return true;
	return false;
}

static void need_before(Write *x, const Op *last)
{
	for (const Op *op = last; op; op = op->prev)
		if (is_of_scalars(op) && pipe_gives_needed(x->needed, op)) pipe_need_operands(x->needed, op);
}

void pipe_find_needed(Write *x)
{
	for (int i = 0; i < x->p.loads; i++) pipe_need_operands(x->needed, x->p.load[i].op);
	need_before(x, x->p.loop->region[0]->last);
	for (int i = 0; i < 3; i++) x->needed[ir_in(x->p.loop, i)->id] = true;
	need_before(x, x->p.loop->prev);
}

void pipe_copy_scalars(Write *x, const Op *first, const Op *end, bool producer)
{
	for (const Op *op = first; op != end; op = op->next) {
		bool left = producer && !pipe_gives_needed(x->needed, op);
		if (!pipe_is_named(x, op) && is_of_scalars(op) && !left) pipe_copy_op(x, op, x->names->own);
	}
}
