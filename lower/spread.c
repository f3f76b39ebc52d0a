/* See spread.h. */
#include "lower/spread.h"

void spread_give(Spread *s, Val *v, Lay l)
{
	if (!type_is_tile(v->type)) return;
	if (v->lay) {
		s->fails |= !lay_eq(*v->lay, l);
		return;
	}
	ir_set_layout(v, l);
	s->changed = true;
}

void spread_same(Spread *s, Val *const *v, int n)
{
	const Lay *l = NULL;
	for (int i = 0; i < n && !l; i++) l = v[i]->lay;
	for (int i = 0; i < n && l; i++) spread_give(s, v[i], *l);
}

static void elementwise(Spread *s, const Op *op)
{
	Val *v[OP_ARGS + 1];
	int n = 0;
	v[n++] = op->out[0];
	for (int i = 0; i < op->nin && n <= OP_ARGS; i++) v[n++] = ir_in(op, i);
	spread_same(s, v, n);
}

static void broadcast(Spread *s, const Op *op)
{
	Val *x = ir_in(op, 0), *r = op->out[0];
	Lay l;
	if (!type_is_tile(x->type) || !r->lay) return;
	if (lay_broadcast_operand(*r->lay, x->type, r->type, &l)) spread_give(s, x, l);
	else s->fails = true;
}

static void moved(Spread *s, const Op *op)
{
	Val *x = ir_in(op, 0), *r = op->out[0];
	Lay l;
	if (x->lay) {
		if (lay_of_moved(op, *x->lay, &l)) spread_give(s, r, l);
		else s->fails = true;
	} else if (r->lay) {
		if (lay_before_moved(op, *r->lay, &l)) spread_give(s, x, l);
		else s->fails = true;
	}
}

void spread_op(Spread *s, const Op *op)
{
	if (op->code == OP_BROADCAST) broadcast(s, op);
	else if (op->code == OP_RESHAPE || op->code == OP_PERMUTE) moved(s, op);
	else if (op->nout == 1 && op_has(op, OPF_ELEMWISE)) elementwise(s, op);
}
