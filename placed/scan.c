/* How scans walk layouts.
 *
 * A scan needs to know, for each bit of an element's number along the axis, which bit of a register, lane or warp it
 * is. The bits are taken from the lowest to the highest, and each level scans the totals of the one below: elements
 * that are neighbours in registers one after the other; then, in whatever order the layout has them, lanes pairwise by
 * shuffles and groups of registers further apart one after the other; last warps, and what registers lie above them,
 * through shared memory. */
#include <string.h>

#include "base/diag.h"
#include "base/least.h"
#include "placed/placed.h"

enum {
	STEPS_MOST = 8,                 /* log2 of those that a thread combines one after the other */
	VEC_MOST = 3                    /* log2 of the neighbours in registers before lanes follow */
};

static Lay totals_layout(Lay l, int axis, int bits)
{
	int at = lay_shift(l, axis), n = l.out[axis];
	Lay r = l;
	r.out[axis] = (uint8_t)(n - bits);
	for (int i = 0; i < lay_inbits(l); i++) {
		uint64_t c = l.col[i];
		uint64_t below = c & (((uint64_t)1 << at) - 1), own = c >> at & (((uint64_t)1 << n) - 1), above = c >> (at + n);
		r.col[i] = (uint32_t)(below | own >> bits << at | above << (at + n - bits));
	}
	return r;
}

bool scan_plan(Lay l, int axis, ScanPlan *p)
{
	memset(p, 0, sizeof *p);
	p->n = l.out[axis];
	p->warps = lay_walk(l, axis, p->hw, p->bit);
	if (p->warps < 0) return false;
	while (p->low < p->n && p->hw[p->low] == HW_REG) p->low++;
	p->totals = totals_layout(l, axis, p->warps);
	return true;
}

ScanPlan scan_plan_of(const Op *op)
{
	ScanPlan p;
	if (!scan_plan(*ir_in(op, 0)->lay, ir_axis(op), &p)) bug("a scan of a layout that none walks");
	return p;
}

int scan_values(const Op *op) { return op->code == OP_SCAN ? op->nout : 1; }

int scan_slot(const Op *op, int value)
{
	Elem e = ir_in(op, value)->type->elem;
	return op->parent->fn->cluster ? exchange_slot(e) : elem_bytes(e);
}

int64_t scan_offset(const Op *op, const ScanPlan *p, int value)
{
	int64_t slots = (int64_t)1 << lay_outbits(p->totals), at = op->parent->fn->cluster ? EXCHANGE_BAR : 0;
	if (p->warps == p->n) return 0;
	for (int i = 0; i < value; i++) at += (slots * scan_slot(op, i) + 15) / 16 * 16;
	return at;
}

bool scan_walks(const Op *op, Lay l)
{
	ScanPlan p;
	if (!scan_plan(l, ir_axis(op), &p)) return false;
	return p.n - p.warps <= STEPS_MOST && scan_offset(op, &p, scan_values(op)) <= COST_SCAN_SHARED;
}

/* ---- the layout that a scan chooses itself ----
 *
 * That of memory, for coalesced accesses, but warps on top: neighbours in 16 bytes, lanes along the fast axis, then
 * along the scan's, registers, and warps along the scan's axis only where no other is left. */
typedef struct Deal { Lay l; const Type *t; int axis, fast, left[TILE_RANK]; } Deal;

static int deal(Deal *d, Hw h, int axis, int n)
{
	int k = imin(n, d->left[axis]);
	d->l = lay_push(d->l, h, axis, k);
	d->left[axis] -= k;
	return n - k;
}

static int deal_others(Deal *d, Hw h, int n)
{
	if (d->fast != d->axis) n = deal(d, h, d->fast, n);
	for (int a = d->t->rank - 1; a >= 0; a--)
		if (a != d->axis) n = deal(d, h, a, n);
	return n;
}

static Lay along(const Type *t, int axis, int fast, int vec, Threads all)
{
	Deal d = { .l = lay_unit(t->rank), .t = t, .axis = axis, .fast = fast };
	int regs = type_log2_size(t) - all.lanes - all.warps, lanes = all.lanes, warps = all.warps;
	for (int a = 0; a < t->rank; a++) d.left[a] = t->log2[a];
	vec = deal(&d, HW_REG, fast, imin(vec, regs < 0 ? 0 : regs));
	deal(&d, HW_REG, axis, vec);
	lanes = deal(&d, HW_LANE, fast, lanes);
	lanes = deal(&d, HW_LANE, axis, lanes);
	lanes = deal_others(&d, HW_LANE, lanes);
	warps = deal_others(&d, HW_WARP, warps);
	int top = imin(warps, d.left[axis]);
	deal(&d, HW_REG, axis, d.left[axis] - top);
	deal(&d, HW_WARP, axis, top);
	d.l = lay_mul(d.l, lay_bcast(t->rank, HW_LANE, lanes));
	d.l = lay_mul(d.l, lay_bcast(t->rank, HW_WARP, warps - top));
	deal_others(&d, HW_REG, LAY_BITS);
	return d.l;
}

Lay lay_scan(const Op *op, int fast, int vec, Threads n)
{
	const Type *t = ir_in(op, 0)->type;
	int axis = ir_axis(op);
	Lay l = along(t, axis, fast, imin(vec, VEC_MOST), n);
	return scan_walks(op, l) ? l : along(t, axis, axis, 0, n);
}

uint32_t scan_bits(const ScanPlan *p, Hw h, int from, int to)
{
	uint32_t mask = 0;
	for (int k = from; k < to; k++)
		if (p->hw[k] == h) mask |= (uint32_t)1 << p->bit[k];
	return mask;
}

uint32_t scan_group_bits(const ScanPlan *p, int bits, uint32_t regs)
{
	uint32_t low = scan_bits(p, HW_REG, 0, p->low), r = 0;
	for (int b = 0, to = 0; b < bits; b++)
		if (!(low >> b & 1)) r |= (regs >> b & 1) << to++;
	return r;
}
