/* stream: what ends in a store is done vector by vector.
 *
 * The last thing that a kernel does with a tile is to compute it element by element and store it. Loops over all
 * registers, one for each kind of operation, make nvcc hold every element of every step: all are unpacked before the
 * first one is stored. One loop over the vectors of the store instead, in which each operation does what the vector
 * needs, holds what one vector needs, and the first is stored while the others wait: ptxas keeps that order where each
 * waits for copies (`staged`). Figures: bench/notes/rows.md.
 *
 * Only where there are such copies, in versions with one way to access tiles: both ways would have to be in the loop.
 * And only where register r of an operation needs registers of its operands that belong to the same vector. The
 * operations have {pieces}. */
#include "lower/placed.h"
#include "placed/access.h"
#include "placed/loops.h"

/* Register r shows register r of the operand, or that without its highest bits. */
static bool keeps_low_registers(const Op *op)
{
	Lay from = broadcast_source(op);
	int regs = from.in[HW_REG], low = ir_in(op, 0)->lay->in[HW_REG];
	for (int i = 0; i < lay_inbits(from); i++)
		if (lay_coord(from, from.col[i], LAY_HWAXIS(HW_REG)) != (i < regs && i < low ? (uint32_t)1 << i : 0))
			return false;
	return true;
}

/* Can op, whose result is a tile, be done piece by piece? least: registers below which a value is in no pieces. */
static bool suits(const bool *splat, const Op *op, int least)
{
	if (op->code == OP_STAGED) return true;
	if (!op_is_pointwise(op) || op->code == OP_LITERAL || op->code == OP_CONVERT_REGS) return false;
	if (splat[op->out[0]->id]) return true;
	if (regs_of(op->out[0]) < least) return false;
	if (op->code == OP_RAND || op->code == OP_RANDN || op->code == OP_RANDINT) return false;
	return op->code != OP_BROADCAST || regs_of(ir_in(op, 0)) < least || keeps_low_registers(op);
}

static Op *last_store(const Fn *fn)
{
	Op *op = fn->body->last;
	while (op && op->code == OP_RETURN) op = op->prev;
	return op && op->code == OP_STORE && type_is_tile(ir_in(op, op->nin - 1)->type) ? op : NULL;
}

static void stream(Fn *fn)
{
	Op *store = last_store(fn);
	if (!store || ir_int(store, AT_WAYS, WAYS_ANY) != WAYS_MASKED) return;
	const Val *v = ir_in(store, store->nin - 1);
	AccessPlan p = access_plan(store, v, rows_turn(fn));
	int piece = 1 << p.vec, least = 2 * piece, regs = regs_of(v);
	if (piece < 2 || regs < least || regs > UNROLL_REGS || p.turn >= 0 || lay_free(p.l))
		return;
	for (int i = 0; i < p.vec; i++)
		if (p.bit[i] != i) return;
	const bool *splat = splats_of(fn, A_TMP);
	Op *first = store;
	bool staged = false;
	for (; first->prev && suits(splat, first->prev, least); first = first->prev)
		staged |= first->prev->code == OP_STAGED;
	for (Op *op = first; staged && op != store->next; op = op->next) ir_set_int(op, AT_PIECES, 1);
}

void pass_stream(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->versions.n; i++) {
		ArenaMark mark = arena_mark(A_TMP);
		stream(m->versions.p[i].fn);
		arena_release(A_TMP, mark);
	}
}
