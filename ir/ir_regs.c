/* Registers of placed tiles; ir_regs.h has the contract. */
#include "ir/ir_regs.h"

#include "layout/wgmma.h"

int regs_count(const Val *v) { return (int)type_parts(v->type) << v->lay->in[HW_REG]; }

static uint32_t packed_at(const Lay *l, int64_t row, int64_t col)
{
	return lay_pack(*l, (uint32_t[LAY_AXES]){ (uint32_t)row, (uint32_t)col });
}

/* The register of thread 0 that holds this element of a tile (or async) of two axes; -1: another thread holds it. */
static int regs_at(const Val *v, int64_t row, int64_t col)
{
	const Type *t = v->type;
	const Lay *l = v->lay;
	int64_t r = (int64_t)1 << t->log2[0], c = (int64_t)1 << t->log2[1], part = row / r * (1 + t->more[1]) + col / c;
	uint32_t in;
	if (!lay_place(*l, packed_at(l, row % r, col % c), &in)) return -1;
	if (lay_hwcoord(*l, in, HW_LANE) || lay_hwcoord(*l, in, HW_WARP)) return -1;
	return (int)(part << l->in[HW_REG]) + (int)lay_hwcoord(*l, in, HW_REG);
}

/* Do lanes and warps hold what they hold of a wgmma result? */
static bool threads_as_wgmma(const Lay *l)
{
	if (l->in[HW_LANE] != 5 || l->in[HW_WARP] != 2) return false;
	for (int i = 0; i < 7; i++) {
		FragAt at = wg_d_at(0, 1 << i);
		if (l->col[l->in[HW_REG] + i] != packed_at(l, at.row, at.col)) return false;
	}
	return true;
}

int regs_wgmma(const Val *v, int mi)
{
	const Type *t = v->type;
	if (t->rank != 2 || type_extent(t, 0) < 64 * (mi + 1) || 1 << t->log2[0] < WG_M || 1 << t->log2[1] < 8) return -1;
	int n = (int)type_extent(t, 1), first = threads_as_wgmma(v->lay) ? regs_at(v, 64 * mi, 0) : -1;
	for (int r = 0; first >= 0 && r < wg_d_regs(n); r++) {
		FragAt at = wg_d_at(r, 0);
		if (regs_at(v, 64 * mi + at.row, at.col) != first + r) first = -1;
	}
	return first;
}

/* Threads differ alike in both, so what holds for thread 0 holds for all. */
static bool same_threads(const Val *a, const Val *b)
{
	const Lay *x = a->lay, *y = b->lay;
	if (x->in[HW_LANE] != y->in[HW_LANE] || x->in[HW_WARP] != y->in[HW_WARP]) return false;
	for (int i = 0; i < x->in[HW_LANE] + x->in[HW_WARP]; i++) {
		uint32_t p = x->col[x->in[HW_REG] + i], q = y->col[y->in[HW_REG] + i];
		if (lay_coord(*x, p, 0) != lay_coord(*y, q, 0) || lay_coord(*x, p, 1) != lay_coord(*y, q, 1)) return false;
	}
	return true;
}

bool regs_cut(const Val *r, const Val *x, const int64_t *offsets, int *where)
{
	const Type *t = r->type;
	int each = 1 << r->lay->in[HW_REG], parts = 1 + t->more[1];
	if (t->rank != 2 || !same_threads(r, x)) return false;
	for (int i = 0; i < regs_count(r); i++) {
		uint32_t at = lay_image(*r->lay, (uint32_t)(i % each));
		int part = i / each;
		int64_t row = offsets[0] + ((int64_t)(part / parts) << t->log2[0]) + lay_coord(*r->lay, at, 0);
		int64_t col = offsets[1] + ((int64_t)(part % parts) << t->log2[1]) + lay_coord(*r->lay, at, 1);
		where[i] = regs_at(x, row, col);
		if (where[i] < 0) return false;
	}
	return true;
}
