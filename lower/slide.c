/* slide: shifts along an axis whose elements a warp holds become `slide`.
 *
 * A shifted tile's elements are mostly the thread's own, under other numbers; those from beyond its vectors are a
 * neighbour's and come by one shuffle each, once for all shifts of one tile. Needed is that coordinate bits along the
 * axis are, in this order, bits of registers, neighbouring bits of lanes, and neighbouring bits of registers again:
 * then the neighbour's next vector is in the same registers, or, from the last lane on, in the next ones. Where the
 * layout is another, the shift is a `take` through shared memory. */
#include <string.h>

#include "base/diag.h"
#include "lower/placed.h"

/* Shifts by so much reach the next lane's vectors at most as often as there are lanes along the axis. */
static bool reaches(const SlidePlan *p, int64_t by)
{
	int64_t most = (int64_t)1 << (p->lows + p->lanes);
	return by > -most && by < most;
}

static bool slides(const Op *op, SlidePlan *p)
{
	const Val *x = ir_in(op, 0);
	return slide_plan(*x->lay, ir_axis(op), p) && reaches(p, ir_int(op, AT_SHIFT, 0))
		&& 1 << x->lay->in[HW_REG] <= COST_UNROLL_REGS && !elem_is_ptr(x->type->elem)
		&& lay_eq(*x->lay, *op->out[0]->lay);
}

static bool same_slide(const Op *x, const Op *y)
{
	return y->code == OP_SHIFT && ir_in(x, 0) == ir_in(y, 0) && same_scalar(ir_in(x, 1), ir_in(y, 1))
		&& ir_axis(x) == ir_axis(y);
}

enum { SLIDES_MOST = 16 };

static void slide(Op *head)
{
	Op *all[SLIDES_MOST];
	const Type *out[SLIDES_MOST];
	int64_t from[SLIDES_MOST];
	int n = 0;
	SlidePlan p;
	for (Op *op = head; op && n < SLIDES_MOST; op = op->next) {
		if (!same_slide(head, op) || !slides(op, &p)) continue;
		out[n] = op->out[0]->type;
		from[n] = -ir_int(op, AT_SHIFT, 0);
		all[n++] = op;
	}
	Builder b = build_before(head);
	Op *r = ir_op(&b, OP_SLIDE, 2, (Val *[]){ ir_in(head, 0), ir_in(head, 1) }, n, out);
	ir_set_int(r, AT_AXIS, ir_axis(head));
	ir_set_ints(r, AT_OFFSETS, n, from);
	for (int i = 0; i < n; i++) {
		r->out[i]->name = all[i]->out[0]->name;
		ir_set_layout(r->out[i], *all[i]->out[0]->lay);
		ir_replace(all[i]->out[0], r->out[i]);
		ir_remove(all[i]);
	}
}

/* ---- through shared memory ---- */
static Val *laid(Val *v, Lay l)
{
	ir_set_layout(v, l);
	return v;
}

static void take(Op *op)
{
	Builder b = build_before(op);
	Val *x = ir_in(op, 0), *r = op->out[0];
	int axis = ir_axis(op);
	int64_t by = ir_int(op, AT_SHIFT, 0), extent = type_extent(x->type, axis);
	uint8_t shape[TILE_RANK] = { 0 };
	shape[axis] = x->type->log2[axis];
	const Type *t = type_tile(EL_I32, x->type->rank, shape), *whole = type_with_elem(x->type, EL_I32);
	Lay l;
	by = by > extent ? extent : by < -extent ? -extent : by;
	if (!lay_broadcast_operand(*r->lay, t, whole, &l)) bug("an index along an axis has no layout");
	Val *i = laid(ir_op1(&b, OP_IOTA, t, 0, NULL), l);
	i = laid(ir_binary(&b, OP_SUB, t, i, laid(ir_const_int(&b, t, by), l)), l);
	if (t != whole) i = laid(ir_unary(&b, OP_BROADCAST, whole, i), *r->lay);
	Val *v = ir_op1(&b, OP_TAKE, r->type, 3, (Val *[]){ x, i, ir_in(op, 1) });
	ir_set_int(v->def, AT_AXIS, axis);
	v->name = r->name;
	ir_set_layout(v, *r->lay);
	ir_replace(r, v);
	ir_remove(op);
}

static void visit(void *ctx, Op *op)
{
	SlidePlan p;
	(void)ctx;
	if (!op->parent || op->code != OP_SHIFT) return;
	if (slides(op, &p)) slide(op);
	else take(op);
}

void pass_slide(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) ir_walk(m->fns.p[i]->body, visit, NULL);
}
