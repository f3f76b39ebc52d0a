/* Matrix operands of a warp; ir_frag.h has the contract. */
#include "ir/ir_frag.h"

#include <string.h>

#include "base/diag.h"

static bool whole_buffer(const Op *alloc, const Type *t, Lay *whole)
{
	if (alloc->code == OP_ALLOC_SHARED) {
		*whole = *ir_attr(alloc, AT_LAYOUT)->u.lay;
		return lay_ok(*whole) && whole->naxis == 2;
	}
	Smem s = { (uint8_t)0, 1, (uint8_t)ir_int(alloc, AT_SWIZZLE, 0),
		{ (int)type_extent(t, 0), (int)type_extent(t, 1) } };
	while (1 << s.elem_log2 < elem_bytes(t->elem)) s.elem_log2++;
	*whole = smem_lay(s);
	return lay_ok(*whole);
}

/* False: the buffer is no matrix, has extents that are no powers of two, or its part begins at an element known only at
 * run time or not at a multiple of its extents. */
static bool buffer_at(const Val *buf, BufferAt *at)
{
	*at = (BufferAt){ 0 };
	if (buf->type->rank != 2) return false;
	const Type *part = buf->type;
	while (buf->def && buf->def->code == OP_PART) {
		const Op *op = buf->def;
		const IrAttr *steps = ir_attr(op, AT_STEPS), *offs = ir_attr(op, AT_OFFSETS);
		for (int i = 0; i < 2; i++) {
			Num n;
			if (!ir_const_value(ir_in(op, 1 + i), &n)) return false;
			at->begin[i] += n.i * steps->u.ints.p[i] + (offs ? offs->u.ints.p[i] : 0);
		}
		buf = ir_in(op, 0);
	}
	if (!buf->def) return false;
	at->alloc = buf->def;
	if (buf->def->code == OP_SLOT) {
		at->which = ir_in(buf->def, 1);
		at->alloc = ir_in(buf->def, 0)->def;
	}
	if (!at->alloc || (at->alloc->code != OP_ALLOC_RING && at->alloc->code != OP_ALLOC_SHARED)) return false;
	for (int i = 0; i < 2; i++) {
		int64_t begin = at->begin[i];
		if (part->more[i] || begin < 0 || begin % type_extent(part, i) || begin >= type_extent(buf->type, i))
			return false;
	}
	return whole_buffer(at->alloc, buf->type, &at->whole);
}

/* Parts begin at multiples of their extents, so the bits of begin and those within the part are different ones. */
static bool begin_of(const BufferAt *at, uint32_t *begin)
{
	uint32_t coord[LAY_AXES] = { (uint32_t)at->begin[0], (uint32_t)at->begin[1] }, place;
	if (!lay_place(at->whole, lay_pack(at->whole, coord), &place)) return false;
	*begin = lay_hwcoord(at->whole, place, HW_OFF);
	return true;
}

static int bytes_log2(Elem e)
{
	int n = 0;
	while (1 << n < elem_bytes(e)) n++;
	return n;
}

bool ldm_plan(const Op *op, LdmPlan *p)
{
	const Val *buf = ir_in(op, 0);
	Lay frag = *op->out[0]->lay;
	*p = (LdmPlan){ .transposed = ir_attr(op, AT_AXES) != NULL };
	if (!buffer_at(buf, &p->at) || !begin_of(&p->at, &p->begin)) return false;
	if (p->transposed) frag = lay_permute(frag, (const int[]){ 1, 0 });
	Lay f = lay_within(frag, p->at.whole.out);
	for (p->x_log2 = 2; lay_ok(f) && p->x_log2 >= 0; p->x_log2--)
		for (int trans = 0; trans < 2; trans++)
			if (frag_ldmatrix(f, p->at.whole, bytes_log2(buf->type->elem), p->x_log2, trans, &p->addr)) {
				p->trans = trans;
				return true;
			}
	return false;
}

bool copy_plan(const Val *buf, int warps_log2, CopyPlan *p)
{
	const Type *t = buf->type;
	int chunk = 4 - bytes_log2(t->elem);
	Lay l, c;
	*p = (CopyPlan){ 0 };
	if (!buffer_at(buf, &p->at) || !begin_of(&p->at, &p->begin) || chunk < 0 || t->log2[1] < chunk) return false;
	l = lay_blocked(2, t->log2, chunk, 5, warps_log2, NULL);
	if (!lay_ok(l) || !lay_solve(p->at.whole, lay_within(l, p->at.whole.out), &c)) return false;
	/* the elements of a vector lie side by side: the hardware's swizzles move 16 bytes */
	for (int i = 0; i < chunk; i++)
		if (c.col[i] != (uint32_t)1 << i) return false;
	p->piece = p->off = l;
	p->off = c;
	for (int k = 0; k < 2; k++) {
		Lay *x = k ? &p->off : &p->piece;
		int n = lay_inbits(*x);
		memmove(x->col, x->col + chunk, (size_t)(n - chunk) * sizeof *x->col);
		for (int i = n - chunk; i < n; i++) x->col[i] = 0;
		x->in[HW_REG] = (uint8_t)(x->in[HW_REG] - chunk);
	}
	return true;
}

/* ---- mma_frag ---- */
/* The columns of l after those of one instruction: n0 register bits that step along axis alone, then register bits that
 * step along the other axis alone. False if l is not built so. */
static bool repeats(Lay l, Lay one, int axis, int *n0, int *n1)
{
	int regs = l.in[HW_REG] - one.in[HW_REG], i = 0;
	if (l.in[HW_LANE] != one.in[HW_LANE] || regs < 0 || l.in[HW_CTA] || l.in[HW_OFF]) return false;
	for (int k = 0; k < one.in[HW_REG] + one.in[HW_LANE]; k++) {
		uint32_t c = l.col[k < one.in[HW_REG] ? k : k + regs];
		for (int a = 0; a < 2; a++)
			if (lay_coord(l, c, a) != lay_coord(one, one.col[k], a)) return false;
	}
	*n0 = 0;
	for (; i < regs && !lay_coord(l, l.col[one.in[HW_REG] + i], 1 - axis); i++) ++*n0;
	for (int k = i; k < regs; k++)
		if (lay_coord(l, l.col[one.in[HW_REG] + k], axis)) return false;
	*n1 = regs - i;
	return true;
}

/* Do n bits of a from column i on step along axis as those of b from column k on along baxis? */
static bool same_steps(Lay a, int i, int axis, Lay b, int k, int baxis, int n)
{
	for (int t = 0; t < n; t++)
		if (lay_coord(a, a.col[i + t], axis) != lay_coord(b, b.col[k + t], baxis)) return false;
	return true;
}

static bool no_steps(Lay a, int i, int axis, int n)
{
	for (int t = 0; t < n; t++)
		if (lay_coord(a, a.col[i + t], axis)) return false;
	return true;
}

/* Block (i, j) of the result is the sum over steps s of blocks (i, s) of a and (s, j) of b, and a
 * warp has those that it needs. */
static bool fits_frag(Frag f, Lay a, Lay b, Lay c, MmaFragPlan *p)
{
	Lay fa = lay_frag(f, ROLE_A), fb = lay_frag(f, ROLE_B), fc = lay_frag(f, ROLE_C);
	int ra = fa.in[HW_REG], rb = fb.in[HW_REG], rc = fc.in[HW_REG], mrep, nrep, asteps, bsteps, warps = c.in[HW_WARP];
	if (!repeats(a, fa, 1, &asteps, &mrep) || !repeats(b, fb, 0, &bsteps, &nrep)) return false;
	if (c.in[HW_REG] - rc != mrep + nrep || asteps != bsteps || asteps != a.out[1] - fa.out[1]) return false;
	int n0, n1;
	if (!repeats(c, fc, 1, &n0, &n1) || n0 != nrep || n1 != mrep) return false;
	if (a.in[HW_WARP] != warps || b.in[HW_WARP] != warps || !lay_onto(c) || !lay_oneone(c)) return false;
	int wa = lay_first(a, HW_WARP), wb = lay_first(b, HW_WARP), wc = lay_first(c, HW_WARP);
	if (!same_steps(c, rc, 1, b, rb + bsteps, 1, nrep) || !same_steps(c, rc + nrep, 0, a, ra + asteps, 0, mrep))
		return false;
	if (!same_steps(a, ra, 1, b, rb, 0, asteps)) return false;
	if (!same_steps(c, wc, 0, a, wa, 0, warps) || !same_steps(c, wc, 1, b, wb, 1, warps)) return false;
	if (!no_steps(a, wa, 1, warps) || !no_steps(b, wb, 0, warps) || !lay_onto(a) || !lay_onto(b)) return false;
	*p = (MmaFragPlan){ f, mrep, nrep, asteps, 0, 0 };
	return true;
}

bool mma_frag_plan(const Op *op, MmaFragPlan *p)
{
	const Val *a = ir_in(op, 0), *b = ir_in(op, 1), *c = op->out[0];
	Elem e = a->type->elem;
	for (int f = 0; f < FRAG_N; f++) {
		if (frag_elem(f) != bytes_log2(e) || frag_elem(f) > 2 || !fits_frag(f, *a->lay, *b->lay, *c->lay, p)) continue;
		p->a_words = elem_bytes(e) * (1 << lay_frag(f, ROLE_A).in[HW_REG]) / 4;
		p->b_words = elem_bytes(e) * (1 << lay_frag(f, ROLE_B).in[HW_REG]) / 4;
		return true;
	}
	return false;
}

int group_warps(const Op *op)
{
	for (const IrBlock *b = op->parent; b && b->owner; b = b->owner->parent) {
		if (b->owner->code == OP_ONE_WARP) return 1;
		if (b->owner->code == OP_ROLE) return (int)ir_int(b->owner, AT_WARPS, 4);
	}
	const Fn *fn = op->parent->fn;
	return fn->cluster ? fn->warps / fn->cluster : fn->warps;
}

int frag_words(const Val *v)
{
	int bytes = elem_bytes(v->type->elem) << v->lay->in[HW_REG];
	if (bytes % 4) bug("a fragment of %d bytes", bytes);
	return bytes / 4;
}
