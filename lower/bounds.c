/* Pass bounds: which accesses are proved to lie inside their tensors. Each tile load and store gets {inside}, one number per
 * axis: 1 = no mask needed, 0 = masked. Facts come from the dimensions' types, where clauses, the grid and loop bounds. */
#include "base/diag.h"
#include "ir/valsym.h"
#include "lower/lower.h"

static bool axis_inside(ValSyms *b, const Op *op, const Type *t, int axis)
{
	const Sym *ext = valsym_extent(b, ir_in(op, 0), axis);
	if (!ext) return false;
	const Sym *at = valsym_access(b, op, axis);
	return facts_le(b->facts, sym_const(0), at) && facts_le(b->facts, sym_add(at, sym_const(type_extent(t, axis))), ext);
}

static void mark_access(ValSyms *b, Op *op)
{
	const Type *t = op->code == OP_LOAD ? op->out[0]->type : ir_in(op, op->nin - 1)->type;
	int64_t inside[TENSOR_RANK];
	if (!t->rank) return;
	for (int i = 0; i < t->rank; i++) inside[i] = axis_inside(b, op, t, i);
	ir_set_ints(op, AT_INSIDE, t->rank, inside);
}

void pass_bounds(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) valsyms_accesses(m->fns.p[i], mark_access);
}
