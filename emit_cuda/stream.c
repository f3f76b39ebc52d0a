/* What ends in a store, piece by piece.
 *
 * The last thing that a kernel does with a tile is to compute it element by element and store it. Loops over all registers, one for
 * each kind of operation, make nvcc hold every element of every step: all are unpacked before the first one is stored. One loop over
 * the pieces of the store instead, in which each operation does what the piece needs, holds what one piece needs, and the first
 * piece is stored while the others wait: ptxas keeps that order where each piece waits for copies (ct_copied). Layer norm of 65,536
 * columns of bf16 takes 40 registers so, and spilled with 48.
 *
 * Only where there are such copies, in versions with one way to access tiles: both ways would have to be in the loop. And only where
 * register r of an operation needs registers of its operands that belong to the same piece. */
#include "base/diag.h"
#include "emit_cuda/access.h"

/* Register r shows register r of the operand, or that without its highest bits. */
static bool keeps_low_registers(const Op *op)
{
	CuMap m = cu_map(elem_broadcast_source(op), LAY_HWAXIS(HW_REG));
	int low = ir_in(op, 0)->lay->in[HW_REG];
	for (int i = 0; i < m.nreg + m.nlane + m.nwarp; i++)
		if (m.col[i] != (i < m.nreg && i < low ? (uint32_t)1 << i : 0)) return false;
	return true;
}

/* Can op, whose result is a tile, be done piece by piece? least: registers below which a value is in no pieces. */
static bool suits(Cu *g, const Op *op, int least)
{
	if (op->code == OP_STAGED) return true;
	if (!elem_is_pointwise(op) || op->code == OP_LITERAL || op->code == OP_CONVERT_REGS) return false;
	if (cu_val(g, op->out[0])->splat) return true;
	if (cu_regs(op->out[0]) < least) return false;
	if (op->code == OP_RAND || op->code == OP_RANDN || op->code == OP_RANDINT) return false;
	return op->code != OP_BROADCAST || cu_regs(ir_in(op, 0)) < least || keeps_low_registers(op);
}

static const Op *last_store(const Fn *fn)
{
	const Op *op = fn->body->last;
	while (op && (op->code == OP_RETURN)) op = op->prev;
	return op && op->code == OP_STORE && type_is_tile(ir_in(op, op->nin - 1)->type) ? op : NULL;
}

void stream_plan(Cu *g)
{
	bool one_way = (g->aligned && g->one_way) || (g->fn->by_element && follow_distance(g->fn));
	const Op *store = one_way ? last_store(g->fn) : NULL;
	if (!store) return;
	const Val *v = ir_in(store, store->nin - 1);
	AccessPlan p = access_plan(store, v, g->turned != 0);
	int piece = 1 << p.vec, least = 2 * piece, regs = cu_regs(v);
	if ((piece < 2 && !g->fn->by_element) || regs < least || regs > UNROLL_REGS || p.turn >= 0 || lay_free(p.l)) return;
	for (int i = 0; i < p.vec; i++)
		if (p.bit[i] != i) return;
	const Op *first = store;
	for (; first->prev && suits(g, first->prev, least); first = first->prev) {
		const Val *r = first->prev->out[0];
		if (!cu_val(g, r)->splat && cu_regs(r) < regs) regs = cu_regs(r);
	}
	bool staged = false;
	for (const Op *op = first; op != store; op = op->next) staged |= op->code == OP_STAGED;
	if (!staged) return;
	g->stream = (Stream){ .first = first, .store = store, .piece = piece, .regs = regs };
}

void stream_print(Cu *g)
{
	Stream *s = &g->stream;
	out_printf(g->o, "#pragma unroll\nfor (int ct_piece = 0; ct_piece < %d; ct_piece++) {\n", s->regs / s->piece);
	out_in(g->o);
	s->open = true;
	control_ops(g, (Op *)s->first, s->store->next);
	s->open = false;
	cu_end(g);
}

/* Opens a loop over `count` times `each` registers: over those of them that belong to the piece. */
