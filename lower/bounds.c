/* Pass bounds: which accesses are proved to lie inside their tensors. Each tile load and store gets {inside}, one
 * number per axis: 1 = no mask needed, 3 = masked, but the tile begins at or before the tensor's end and not before its
 * begin, apart from a small {offset}, and 32 bits count both; 0 = masked. Facts come from the dimensions' types, where
 * clauses, the grid and loop bounds. */
#include "base/diag.h"
#include "ir/valsym.h"
#include "lower/placed.h"

enum { NEAR = 1 << 20 };

/* INSIDE_NEAR, if the number of elements from `at` to the end of the tensor, without the offset, can be computed in 32
 * bits. */
static int64_t near(const Facts *f, const Sym *at, const Sym *ext)
{
	const Sym *most = sym_const(INT32_MAX);
	bool is = facts_le(f, at, most) && facts_le(f, ext, most) && facts_le(f, at, sym_add(ext, sym_const(NEAR)));
	return is ? INSIDE_NEAR : 0;
}

static int64_t axis_inside(ValSyms *b, const Op *op, const Type *t, int axis)
{
	const Sym *ext = valsym_extent(b, ir_in(op, 0), axis), *zero = sym_const(0);
	if (!ext) return 0;
	const Sym *at = valsym_access(b, op, axis);
	bool begins = facts_le(b->facts, zero, at);
	if (begins && facts_le(b->facts, sym_add(at, sym_const(type_extent(t, axis))), ext)) return INSIDE_WHOLE;
	const IrAttr *offsets = ir_attr(op, AT_OFFSETS);
	int64_t off = offsets ? offsets->u.ints.p[axis] : 0;
	if (!off) return begins ? near(b->facts, at, ext) : 0;
	if (off < -NEAR || off > NEAR) return 0;
	at = sym_sub(at, sym_const(off));
	return facts_le(b->facts, zero, at) ? near(b->facts, at, ext) : 0;
}

static void mark_access(ValSyms *b, Op *op)
{
	const Type *t = op->code == OP_LOAD ? op->out[0]->type : ir_in(op, op->nin - 1)->type;
	int64_t inside[TENSOR_RANK];
	if (!t->rank) return;
	for (int i = 0; i < t->rank; i++) inside[i] = axis_inside(b, op, t, i);
	ir_set_ints(op, AT_INSIDE, t->rank, inside);
}

void bound_accesses(Fn *fn) { valsyms_accesses(fn, mark_access, NULL); }

void pass_bounds(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) bound_accesses(m->fns.p[i]);
}
