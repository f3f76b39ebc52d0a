/* Pass offsets: the constants that indices of accesses end in become {offsets}, so that accesses a constant apart are
 * seen to be so: load_at([r + 1 - 1]) and load_at([r]) have one index. Only where the sum is proved not to wrap:
 * offsets are exact. */
#include "base/diag.h"
#include "ir/valsym.h"
#include "lower/lower.h"

enum { FAR = 1 << 20 };         /* larger constants stay: no offset comes near the end of 64 bits */

/* v = *rest + k for a constant k, v without wrapping; the sums on the way may. */
static bool peel(ValSyms *b, Val *v, Val **rest, int64_t *k)
{
	const Sym *all = valsym(b, v);
	Num n;
	*k = 0;
	for (*rest = v;;) {
		const Op *op = (*rest)->def;
		if (!op || (op->code != OP_ADD && op->code != OP_SUB) || !elem_is_int(v->type->elem)) return false;
		int at = ir_const_value(ir_in(op, 1), &n) ? 1 : op->code == OP_ADD && ir_const_value(ir_in(op, 0), &n) ? 0 : -1;
		if (at < 0 || n.i > FAR || n.i < -FAR || *k > FAR || *k < -FAR) return false;
		*rest = ir_in(op, 1 - at);
		*k += op->code == OP_ADD ? n.i : -n.i;
		if (all == sym_add(valsym(b, *rest), sym_const(*k))) return true;
	}
}

static void visit_access(ValSyms *b, Op *op)
{
	const IrAttr *steps = ir_attr(op, AT_STEPS), *offs = ir_attr(op, AT_OFFSETS);
	int rank = ir_in(op, 0)->type->rank;
	int64_t off[TENSOR_RANK], k;
	bool any = false;
	for (int a = 0; a < rank; a++) {
		off[a] = offs ? offs->u.ints.p[a] : 0;
		Val *v = ir_in(op, 1 + a), *rest;
		while (off[a] <= FAR && off[a] >= -FAR && steps->u.ints.p[a] <= FAR && peel(b, v, &rest, &k)) {
			off[a] += k * steps->u.ints.p[a];
			v = op->in[1 + a] = rest;
		}
		any |= off[a] != 0;
	}
	if (any || offs) ir_set_ints(op, AT_OFFSETS, rank, off);
}

void pass_offsets(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) valsyms_accesses(m->fns.p[i], visit_access, NULL);
}
