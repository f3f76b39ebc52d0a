/* Rules of copy_async, ldmatrix, as_frag and mma_frag, each by itself; when a copy may be read is ir_copies.c. */
#include "ir/ir_check.h"
#include "ir/ir_frag.h"
#include "ir/strides.h"

static int log2_of_warps(int n)
{
	int k = 0;
	while (1 << k < n) k++;
	return 1 << k == n ? k : -1;
}

/* Every row that a vector is taken from begins at a multiple of 16 bytes: for all calls, by the where clauses. */
static bool chk_aligned_rows(Check *c, const IrParam *p, int fast, int bytes)
{
	Facts *f = facts_new(NULL, A_UNIT);
	int64_t one;
	for (int i = 0; i < c->fn->dims.n; i++)
		if (!c->fn->dims.p[i].is_stride) facts_range(f, sym_atom(ATOM_DIM, c->fn->dims.p[i].name, 0), 0, INT32_MAX);
	for (int i = 0; i < c->fn->where.n; i++) facts_assume(f, c->fn->where.p[i].cond);
	NEED(sym_is_const(p->stride[fast], &one) && one == 1, "`%s` is not contiguous along its last axis", p->name);
	NEED(facts_holds(f, sym_aligned(p->name, 16)), "no where clause says that `%s` is aligned to 16 bytes", p->name);
	for (int i = 0; i < p->rank; i++)
		NEED(i == fast || facts_gcd(f, p->stride[i]) * bytes % 16 == 0, "no where clause says that stride %d of "
			"`%s` is a multiple of 16 bytes", i, p->name);
	return true;
}

bool chk_copy_async(Check *c, const Op *op)
{
	const Type *s = chk_in(op, 0), *v = chk_in(op, 1);
	const IrAttr *steps = ir_attr(op, AT_STEPS), *offs = ir_attr(op, AT_OFFSETS);
	int fast = 1;
	const IrParam *p = param_of_view(c->fn, ir_in(op, 1), &fast);
	int bytes = elem_bytes(s->elem), last = v->rank - 1, warps = log2_of_warps(group_warps(op));
	CopyPlan plan;
	NEED(s->rank == 2 && v->rank == 2 && s->elem == v->elem, "`%s` does not fill `%s`", type_text(v), type_text(s));
	NEED(op->nin == 2 + v->rank && steps->u.ints.n == v->rank, "one index and one step for each axis needed");
	NEED(p && p->rank == 2, "only parameters are copied in pieces of 16 bytes");
	NEED(steps->u.ints.p[last] * bytes % 16 == 0 && (!offs || offs->u.ints.p[last] * bytes % 16 == 0),
		"copies begin at multiples of 16 bytes along the last axis");
	NEED(warps >= 0 && copy_plan(ir_in(op, 0), warps, &plan), "the buffer does not take pieces of 16 bytes");
	return chk_aligned_rows(c, p, fast, bytes);
}

bool chk_ldmatrix(Check *c, const Op *op)
{
	const Type *s = chk_in(op, 0), *f = chk_out(op, 0);
	const IrAttr *axes = ir_attr(op, AT_AXES);
	LdmPlan plan;
	NEED(!axes || (axes->u.ints.n == 2 && axes->u.ints.p[0] == 1 && axes->u.ints.p[1] == 0),
		"{axes} swaps rows and columns");
	NEED(s->elem == f->elem && s->rank == 2 && f->rank == 2 && type_extent(s, axes != NULL) == type_extent(f, 0)
		&& type_extent(s, !axes) == type_extent(f, 1), "the result has the buffer's type, transposed where it says so");
	NEED(elem_bytes(f->elem) <= 4 && ldm_plan(op, &plan),
		"ldmatrix cannot load this layout from the buffer");
	return true;
}

bool chk_as_frag(Check *c, const Op *op)
{
	const Type *t = chk_in(op, 0), *f = chk_out(op, 0);
	NEED(t->elem == f->elem && type_same_shape(t, f) && lay_eq(*ir_in(op, 0)->lay, *op->out[0]->lay),
		"the result has the tile's type and layout");
	NEED(elem_bytes(t->elem) <= 4 && (elem_bytes(t->elem) << ir_in(op, 0)->lay->in[HW_REG]) % 4 == 0,
		"a thread holds whole words of 32 bits");
	return true;
}

static bool is_byte(Elem e) { return e == EL_I8 || e == EL_U8; }

bool chk_mma_frag(Check *c, const Op *op)
{
	const Type *a = chk_in(op, 0), *b = chk_in(op, 1), *d = chk_in(op, 2);
	MmaFragPlan p;
	NEED(a->rank == 2 && b->rank == 2 && d->rank == 2 && d == chk_out(op, 0)
		&& lay_eq(*ir_in(op, 2)->lay, *op->out[0]->lay),
		"the result has the accumulator's type and layout");
	bool ints = is_byte(a->elem) && is_byte(b->elem);
	NEED(ints || (a->elem == b->elem && (a->elem == EL_F16 || a->elem == EL_BF16 || a->elem == EL_TF32)),
		"both factors are f16, bf16 or tf32, or integers of 8 bits");
	NEED(d->elem == (ints ? EL_I32 : EL_F32), "the accumulator is f32, of integers i32");
	NEED(a->log2[1] == b->log2[0] && a->log2[0] == d->log2[0] && b->log2[1] == d->log2[1],
		"`%s` is not the product of `%s` and `%s`", type_text(d), type_text(a), type_text(b));
	NEED(mma_frag_plan(op, &p), "the layouts are not those of one mma instruction, repeated");
	return true;
}
