/* What sorts exchange, and with whom.
 *
 * A sort is a bitonic network over keys: unsigned numbers in the order of the elements, each thread keeping those of
 * its registers. Where equal elements can be distinguished - floats differ in bits, and topk gives places - the place
 * of an element along the axis stands below its bits in the key, and below that the sign of a zero; so no two keys are
 * equal, and the result is the stable one.
 *
 * Stage n makes sorted blocks of 2^n keys out of pairs of sorted halves: key i is compared with key i ^ (2^n - 1), then
 * with those 2^(n-2), ..., 2, 1 places away, the lesser always going to the lower place. A place is a register, a lane
 * and a warp, as the layout has them, so each comparison stays within a thread, takes a shuffle, or, for warps alone,
 * goes through shared memory. */
#include "base/diag.h"
#include "placed/placed.h"

bool sort_walks(const Op *op, Lay l)
{
	ScanPlan p;
	if (!scan_plan(l, ir_axis(op), &p)) return false;
	for (int k = p.warps; k < p.n; k++)
		if (p.hw[k] == HW_REG) return false;    /* warps are compared least often if they are on top */
	return true;
}

SortPlan sort_plan_of(const Op *op)
{
	SortPlan p = { 0 };
	const Val *x = ir_in(op, 0);
	Elem e = x->type->elem;
	bool is_float = elem_is_any_float(e);
	if (!scan_plan(*x->lay, ir_axis(op), &p.at)) bug("a sort of a layout that none walks");
	p.index = is_float || op->code == OP_TOPK;
	p.sign = is_float;
	p.down = op->code == OP_TOPK || ir_int(op, AT_DESCENDING, 0);
	p.low = p.index ? p.at.n + p.sign : 0;
	int bits = 8 * elem_bytes(e) + p.low;
	p.words = bits <= 32 ? 1 : bits <= 64 ? 2 : 4;
	p.regs = 1 << x->lay->in[HW_REG];
	p.threads = 1 << (x->lay->in[HW_LANE] + x->lay->in[HW_WARP]);
	if (!scan_bits(&p.at, HW_WARP, 0, p.at.n)) return p;
	p.chunk = p.regs;
	while (p.chunk > 2 && (int64_t)p.chunk * p.threads * 4 * p.words > COST_SHARED_WHOLE) p.chunk /= 2;
	p.bytes = (int64_t)p.chunk * p.threads * 4 * p.words;
	return p;
}

SortStep sort_step(const SortPlan *p, int stage, int j)
{
	int from = j < 0 ? 0 : j, to = j < 0 ? stage : j + 1, top = to - 1;
	SortStep s = { .reg = scan_bits(&p->at, HW_REG, from, to), .lane = scan_bits(&p->at, HW_LANE, from, to),
		.warp = scan_bits(&p->at, HW_WARP, from, to), .hw = p->at.hw[top], .top = (uint32_t)1 << p->at.bit[top] };
	return s;
}
