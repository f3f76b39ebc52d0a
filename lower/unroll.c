/* unroll: how often the body of a loop is printed, {unroll}; without the attribute nvcc must not
 * copy it: bodies of tiles are large.
 *
 * An iteration that loads little and waits for nobody is copied, so that the loads of several are issued at once, as
 * for a sum over columns that takes one element of each row at a time. What the author asked for stands. */
#include "lower/placed.h"

static bool asks_for_little(const Op *loop)
{
	int n = 0, bytes = 0;
	for (const Op *op = loop->region[0]->first; op; op = op->next) {
		bool loads = op->code == OP_LOAD;
		if (op->nregion || ++n > COST_UNROLL_OPS || (!loads && op_has(op, OPF_READ | OPF_WRITE))
			|| scratch_bytes(op))
			return false;
		if (loads && op->out[0]->lay) bytes += elem_bytes(op->out[0]->type->elem) << op->out[0]->lay->in[HW_REG];
	}
	return bytes && bytes <= COST_UNROLL_BYTES;
}

static void visit(void *ctx, Op *op)
{
	(void)ctx;
	bool free = op->code == OP_FOR && !ir_attr(op, AT_JAM) && !ir_attr(op, AT_UNROLL);
	if (free && asks_for_little(op)) ir_set_int(op, AT_UNROLL, COST_UNROLL_COPIES);
}

void pass_unroll(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->versions.n; i++) ir_walk(m->versions.p[i].fn->body, visit, NULL);
}
