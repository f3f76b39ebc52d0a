/* half: rows of at most half their tile, by a kernel whose tile is half as long.
 *
 * A family of kernels has tiles of some lengths, and rows that are a little longer than one of them fall to the next: then most of what
 * threads compute are pads. Texts that leave registers out (cut.c) keep the warps of the long tile, and thread blocks that wait for each
 * other. So where the rows of a kernel have one length, and what lies behind them makes no difference (cut_plan has proved that), it is
 * placed by element once more, as if its author had written half the tile, with the shorter texts that belong to it. The launcher takes
 * them for rows that are short enough.
 *
 * This is a change of types: every tile of the kernel is a row that begins with its tensor. Not where rows are peeled, for that has texts
 * for such rows (peel.c), nor where a tile is a warp's: those rows are short, and pads cost little. */
#include "ir/fold.h"
#include "lower/placed.h"

enum { HALF_ROW = 12 };         /* log2 of the elements of a tile, at least */

static bool begins_with_row(const Op *op)
{
	const Val *v = ir_accessed(op);
	Num n;
	if (!v || !type_is_tile(v->type) || !type_log2_size(v->type)) return true;
	return ir_const_value(ir_in(op, 1 + type_row_axis(v->type)), &n) && n.i == 0;
}

bool half_wanted(const Fn *fn, const Placements *p)
{
	const Fn *odd = p->odd;
	if (!odd || p->peeled.n || odd->row_log2 < HALF_ROW || odd->below.n != 1 || odd->lanes || odd->dense) return false;
	bool reduces = false;
	for (const Op *op = fn->body->first; op; op = op->next) {
		reduces |= op_is_reduce(op);
		if (op->nregion || !begins_with_row(op)) return false;
	}
	return reduces;
}

static const Type *halved(const Type *t)
{
	uint8_t log2[TILE_RANK];
	if (!type_is_tile(t) || !type_log2_size(t)) return t;
	for (int a = 0; a < t->rank; a++) log2[a] = (uint8_t)(t->log2[a] - (t->log2[a] != 0));
	return type_tile(t->elem, t->rank, log2);
}

void half_rows(Fn *fn)
{
	for (Op *op = fn->body->first; op; op = op->next)
		for (int i = 0; i < op->nout; i++) op->out[i]->type = halved(op->out[i]->type);
}
