/* Layouts of the tiles around a loop of products: sums have the one that wgmma gives them, everything else the one that
 * follows from that, so that no element leaves its thread. */
#include "lower/pipeline.h"

#include "layout/wgmma.h"

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

typedef struct Spread { bool changed, fails; } Spread;

static void give(Spread *s, Val *v, Lay l)
{
	if (!type_is_tile(v->type)) return;
	if (v->lay) {
		s->fails |= !lay_eq(*v->lay, l);
		return;
	}
	ir_set_layout(v, l);
	s->changed = true;
}

static void spread_elementwise(Spread *s, Op *op)
{
	const Lay *l = op->out[0]->lay;
	for (int i = 0; i < op->nin && !l; i++) l = ir_in(op, i)->lay;
	if (!l) return;
	give(s, op->out[0], *l);
	for (int i = 0; i < op->nin; i++) give(s, ir_in(op, i), *l);
}

static void spread_shape(Spread *s, Op *op)
{
	Val *x = ir_in(op, 0), *r = op->out[0];
	Lay l;
	if (!type_is_tile(x->type) || !type_is_tile(r->type)) return;
	if (op->code == OP_BROADCAST) {
		if (!r->lay) return;
		if (lay_broadcast_operand(*r->lay, x->type, r->type, &l)) give(s, x, l);
		else s->fails = true;
		return;
	}
	if (r->lay && !x->lay) {
		if (lay_before_moved(op, *r->lay, &l)) give(s, x, l);
		else s->fails = true;
	} else if (x->lay) {
		if (lay_of_moved(op, *x->lay, &l)) give(s, r, l);
		else s->fails = true;
	}
}

static void spread(Spread *s, Op *op)
{
	if (op->code == OP_BROADCAST || op->code == OP_RESHAPE || op->code == OP_PERMUTE) spread_shape(s, op);
	else if (op->nout == 1 && op_rows[op->code].flags & OPF_ELEMWISE) spread_elementwise(s, op);
}

/* Do all tiles have one? */
static bool is_whole(const Op *op)
{
	for (int i = 0; i < op->nout; i++)
		if (type_is_tile(op->out[i]->type) && !op->out[i]->lay) return false;
	return true;
}

bool pipe_layouts(const Pipe *p)
{
	Spread s = { false, false };
	for (int i = 0; i < p->products; i++) {
		Lay l = pipe_sum_layout(p->product[i].op->out[0]->type);
		give(&s, ir_in(p->loop, 3 + p->product[i].sum), l);
		give(&s, p->loop->out[p->product[i].sum], l);
	}
	do {
		s.changed = false;
		for (Op *op = p->fn->body->last; op; op = op->prev) spread(&s, op);
		for (Op *op = p->fn->body->first; op; op = op->next) spread(&s, op);
	} while (s.changed && !s.fails);
	for (const Op *op = p->fn->body->first; op && !s.fails; op = op->next) s.fails |= !is_whole(op);
	return !s.fails;
}
