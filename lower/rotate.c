/* rotate: rows that begin anywhere in memory are accessed by aligned vectors.
 *
 * If each tile of a kernel is a row - one axis of the same extent N, all others of extent 1 - it does not matter which
 * thread holds which element, as long as all tiles agree. So a row whose first element is not aligned to 16 bytes is
 * rotated: index e holds element e - phase, modulo N, where phase counts the elements between the last multiple of 128
 * bytes and the row's first element. Each thread's vector accesses are then aligned, except at the ends of the row,
 * which are accessed element by element. The unit is 128 bytes, so that the access of a warp
 * consists of whole cache lines.
 *
 * In the placement for unaligned tensors (unaligned.c) accesses are of single elements, but a warp should still access
 * whole lines. There rows are shifted by their phase, without wrapping around, if the tile has room after the row; a
 * row that fills its tile stays.
 *
 * The phase is that of one access; a tensor of another phase is accessed element by element. A phase of 0 is the common
 * case and costs one comparison. The phase affects only the order of a reduction. Kernels with control flow are left
 * alone, and so are those with operations that depend on element numbers: scans, custom reductions,
 * and whatever moves elements. */
#include "base/diag.h"
#include "lower/placed.h"

typedef struct Turn {
	int log2;               /* of N; -1: no row yet */
	Op *anchor;             /* the access whose phase counts */
	Op *first;              /* the first operation that knows elements by their number */
	int loads;              /* of rows */
	bool scatters;          /* a number beside each row */
} Turn;

static bool is_row(Turn *t, const Type *type)
{
	int a = type_only_axis(type);
	if (a < 0 || (t->log2 >= 0 && type->log2[a] != t->log2)) return false;
	t->log2 = type->log2[a];
	return true;
}

/* Rows of a matrix begin at different phases; vectors mostly at none. */
static bool better_anchor(const Op *now, const Op *op)
{
	return !now || (ir_in(now, 0)->type->rank == 1 && ir_in(op, 0)->type->rank > 1);
}

static bool visit_access(Turn *t, Op *op, const Type *data)
{
	if (type_log2_size(data) == 0) return true;
	if (!is_row(t, data)) return false;
	t->loads += op->code == OP_LOAD;
	if (!t->first) t->first = op;
	int a = type_only_axis(data);
	if (data->rank == ir_in(op, 0)->type->rank && a == fast_axis(op->parent->fn, ir_in(op, 0))
		&& elem_bytes(data->elem) < 16 && better_anchor(t->anchor, op)) t->anchor = op;
	return true;
}

/* Is op what spreads partial results over their warps (rebase.c)? Each place gets what its own warp has, whatever
 * element is there. No other tile of a few elements comes so far: tiles that are loaded or count elements are rows. */
static bool spreads(const Turn *t, const Op *op)
{
	const Type *from = op->nin ? ir_in(op, 0)->type : NULL;
	if (op->code != OP_BROADCAST && op->code != OP_RESHAPE) return false;
	return t->log2 >= 0 && (!type_is_tile(from) || !type_is_row(from) || type_log2_size(from) < t->log2);
}

static bool visit(Turn *t, Op *op)
{
	for (int i = 0; i < op->nout; i++)
		if (type_is_tile(op->out[i]->type) && !type_is_row(op->out[i]->type) && !spreads(t, op)) return false;
	if (op->nregion) return false;
	switch (op->code) {
	case OP_LOAD: return visit_access(t, op, op->out[0]->type);
	case OP_STORE: return visit_access(t, op, ir_in(op, op->nin - 1)->type);
	case OP_IOTA:
		if (!t->first) t->first = op;
		return type_log2_size(op->out[0]->type) == 0 || is_row(t, op->out[0]->type);
	case OP_GATHER: return type_log2_size(op->out[0]->type) == 0;
	case OP_SCATTER:
		t->scatters = true;
		return type_log2_size(ir_in(op, op->nin - 1)->type) == 0;
	case OP_LITERAL: return op->nin == 0 && type_log2_size(op->out[0]->type) == 0;
	case OP_TO_SCALAR: return true;
	default: return op_has(op, OPF_POINTWISE | OPF_UNIFORM | OPF_STEP);
	}
}

/* Do the anchor's operands stand before op? */
static bool known_before(const Op *anchor, const Op *op)
{
	for (int i = 0; i <= ir_in(anchor, 0)->type->rank; i++) {
		const Op *d = ir_in(anchor, i)->def;
		for (const Op *o = op; o && d; o = o->next)
			if (o == d) return false;
	}
	return true;
}

static void turn_fn(Fn *fn)
{
	Turn t = { .log2 = -1 };
	if (fn->by_element && !fn->row_log2) return;
	if (fn->lanes) return;          /* so few pieces are not worth the search for those at the ends */
	for (Op *op = fn->body->first; op; op = op->next)
		if (!visit(&t, op)) return;
	if (!t.anchor || t.log2 <= 0 || !known_before(t.anchor, t.first)) return;
	if (t.scatters && t.loads > 1) return;  /* a phase takes registers, and shift.c has no use for it */
	const Op *a = t.anchor;
	Builder b = { fn, fn->body, t.first, a->span };
	Val *in[1 + TENSOR_RANK];
	int n = 1 + ir_in(a, 0)->type->rank;
	for (int i = 0; i < n; i++) in[i] = ir_in(a, i);
	Val *p = ir_op1(&b, OP_PHASE, type_scalar(EL_I32), n, in);
	static const AttrKey keys[] = { AT_STEPS, AT_OFFSETS };
	for (int k = 0; k < 2; k++) {
		const IrAttr *from = ir_attr(a, keys[k]);
		if (from) ir_set_ints(p->def, keys[k], from->u.ints.n, from->u.ints.p);
	}
	ir_set_int(p->def, AT_NUMBER, (int64_t)1 << t.log2);
}

void pass_rotate(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) turn_fn(m->fns.p[i]);
}
