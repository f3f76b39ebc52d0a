/* Layouts of the tiles around a loop of products: sums have the one that the products give them, everything else the
 * one that follows from that, so that no element leaves its thread. */
#include "lower/pipeline.h"

#include "layout/wgmma.h"
#include "lower/spread.h"

Lay pipe_sum_layout(const Type *t)
{
	Lay l = lay_push(lay_unit(2), HW_REG, 1, 1);
	l = lay_push(l, HW_LANE, 1, 2);
	l = lay_push(l, HW_LANE, 0, 3);
	l = lay_push(l, HW_REG, 0, 1);
	l = lay_push(l, HW_WARP, 0, 2);
	l = lay_push(l, HW_REG, 1, t->log2[1] - 3);
	return lay_push(l, HW_REG, 0, t->log2[0] - PIPE_ROWS_LOG2);
}

/* Do all tiles have one? */
static bool is_whole(const Op *op)
{
	for (int i = 0; i < op->nout; i++)
		if (type_is_tile(op->out[i]->type) && !op->out[i]->lay) return false;
	return true;
}

bool pipe_layouts(const Pipe *p, const Lay *sums)
{
	Spread s = { false, false };
	for (int i = 0; i < p->products; i++) {
		spread_give(&s, ir_in(p->loop, 3 + p->product[i].sum), sums[i]);
		spread_give(&s, p->loop->out[p->product[i].sum], sums[i]);
	}
	do {
		s.changed = false;
		for (Op *op = p->fn->body->last; op; op = op->prev) spread_op(&s, op);
		for (Op *op = p->fn->body->first; op; op = op->next) spread_op(&s, op);
	} while (s.changed && !s.fails);
	for (const Op *op = p->fn->body->first; op && !s.fails; op = op->next) s.fails |= !is_whole(op);
	return !s.fails;
}
