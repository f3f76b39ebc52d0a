/* Pass bounds: which accesses are proved to lie inside their tensors. Each tile load and store gets {inside}, one
 * number per axis: 1 = no mask needed, 3 = masked, but the tile begins at or before the tensor's end and not before its
 * begin, apart from a small {offset}, and 32 bits count both; 0 = masked. Facts come from the dimensions' types, where
 * clauses, the grid and loop bounds. */
#include "base/diag.h"
#include "ir/valsym.h"
#include "lower/lower.h"

static bool axis_inside(ValSyms *b, const Op *op, const Type *t, int axis)
{
	const Sym *ext = valsym_extent(b, ir_in(op, 0), axis);
	if (!ext) return false;
	const Sym *at = valsym_access(b, op, axis);
	return facts_le(b->facts, sym_const(0), at) && facts_le(b->facts, sym_add(at, sym_const(type_extent(t, axis))),
		ext);
}

enum { NEAR = 1 << 20 };

/* So that what is left of the tensor from there on can be computed in 32 bits. */
static bool axis_near(ValSyms *b, const Op *op, int axis)
{
	const Sym *ext = valsym_extent(b, ir_in(op, 0), axis), *most = sym_const(INT32_MAX);
	const IrAttr *offsets = ir_attr(op, AT_OFFSETS);
	int64_t off = offsets ? offsets->u.ints.p[axis] : 0;
	if (!ext || off < -NEAR || off > NEAR) return false;
	const Sym *at = sym_sub(valsym_access(b, op, axis), sym_const(off));
	return facts_le(b->facts, sym_const(0), at) && facts_le(b->facts, at, most) && facts_le(b->facts, ext, most)
		&& facts_le(b->facts, at, sym_add(ext, sym_const(NEAR)));
}

static void mark_access(ValSyms *b, Op *op)
{
	const Type *t = op->code == OP_LOAD ? op->out[0]->type : ir_in(op, op->nin - 1)->type;
	int64_t inside[TENSOR_RANK];
	if (!t->rank) return;
	for (int i = 0; i < t->rank; i++)
		inside[i] = axis_inside(b, op, t, i) ? INSIDE_WHOLE : axis_near(b, op, i) ? INSIDE_NEAR : 0;
	ir_set_ints(op, AT_INSIDE, t->rank, inside);
}

void pass_bounds(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) valsyms_accesses(m->fns.p[i], mark_access);
}
