/* Blocks inside of what is being printed: whoever prints a loop, a role or a reduction hands its operations back to the
 * printers of all operations, which it does not know. */
#include "emit_cuda/cu.h"

void control_op(Cu *g, Op *op) { g->printers->op(g, op); }

void control_ops(Cu *g, Op *op, const Op *end) { g->printers->ops(g, op, end); }

void control_block(Cu *g, IrBlock *b) { control_ops(g, b->first, NULL); }

void control_region(Cu *g, IrBlock *b, const Str *args, Str *yields)
{
	for (int i = 0; i < b->args.n; i++) cu_val(g, b->args.p[i])->name = args[i];
	for (Op *op = b->first; op; op = op->next) {
		if (op->code == OP_YIELD) {
			for (int i = 0; i < op->nin; i++) yields[i] = cu_scalar(g, ir_in(op, i));
			cu_line(g, b->owner);
			return;
		}
		control_op(g, op);
	}
}
