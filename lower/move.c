/* move: each `convert` becomes the cheapest operation that does it: renumbered registers (convert_regs), shuffles
 * (convert_lanes), or staging in shared memory (alloc_shared, store_shared, load_shared). A tile too large for shared
 * memory keeps its `convert`, which stages one part of it after the other. */
#include "base/diag.h"
#include "layout/swz.h"
#include "lower/placed.h"

/* Which register a thread reads may depend on its lane or warp: then all candidates are read and one is kept. */
enum { CHOICES_LOG2 = 2 };

static int choices(Lay c)
{
	return lay_rank(lay_pick(c, 1u << HW_LANE | 1u << HW_WARP, 1u << LAY_HWAXIS(HW_REG)));
}

static Val *way(Builder *b, OpCode code, Val *x, const Val *like)
{
	Val *r = ir_unary(b, code, x->type, x);
	ir_set_layout(r, *like->lay);
	return r;
}

Op *move_to_shared(Builder *b, Val *x, Lay to)
{
	const Type *t = x->type;
	SwzUse use[2] = { { *x->lay, SWZ_PLAIN, 1 }, { to, SWZ_PLAIN, 1 } };
	SwzPick pick;
	Lay smem = lay_stored(t->rank, t->log2, NULL);
	if (swz_choose(t->rank, t->log2, NULL, elem_log2(t->elem), 2, use, &pick)) smem = pick.smem;
	Val *buf = ir_op1(b, OP_ALLOC_SHARED, type_shared(t->elem, t->rank, t->log2), 0, NULL);
	buf->name = x->name;
	ir_set_lay(buf->def, AT_LAYOUT, smem);
	return ir_op(b, OP_STORE_SHARED, 2, (Val *[]){ buf, x }, 0, NULL);
}

static void move_op(void *ctx, Op *op)
{
	(void)ctx;
	if (!op->parent || op->code != OP_CONVERT) return;
	Builder b = build_before(op);
	Val *x = ir_in(op, 0), *r = NULL;
	Lay c;
	CvtKind kind = lay_pull(*op->out[0]->lay, *x->lay, &c);
	bool small = 1 << op->out[0]->lay->in[HW_REG] <= COST_UNROLL_REGS && 1 << x->lay->in[HW_REG] <= COST_UNROLL_REGS;
	bool easy = kind <= CVT_SHFL && choices(c) <= (small ? CHOICES_LOG2 : 0);
	if (kind > CVT_SMEM) bug("a conversion leaves the thread block");
	if (kind == CVT_NONE) r = x;
	else if (kind == CVT_REGS && easy) r = way(&b, OP_CONVERT_REGS, x, op->out[0]);
	else if (kind == CVT_SHFL && easy && small) r = way(&b, OP_CONVERT_LANES, x, op->out[0]);
	else if (type_bytes(x->type) <= COST_SHARED_WHOLE) {
		r = way(&b, OP_LOAD_SHARED, ir_in(move_to_shared(&b, x, *op->out[0]->lay), 0), op->out[0]);
		const Type *t = op->out[0]->type;
		r->type = t;
	}
	if (!r) return;
	if (r != x) r->name = op->out[0]->name;
	ir_replace(op->out[0], r);
	ir_remove(op);
}

void pass_move(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) ir_walk(m->fns.p[i]->body, move_op, NULL);
}
