/* What passes ask of the architecture that they place for, and of operations. */
#include <string.h>

#include "base/machine.h"
#include "lower/placed.h"

int lower_arch(const LowerCx *cx, Fn *fn)
{
	fn->by_arch = true;
	return cx->target_arch;
}

int hinted_warps(Fn *fn, const LowerCx *cx)
{
	return (int)ir_hint(fn, "warps", ir_hint_by_arch(fn, "warps") ? lower_arch(cx, fn) : 0);
}

/* ---- roles ---- */
int consumer_regs(int groups)
{
	int n = (machine_registers() / WARPGROUP - COST_PRODUCER_REGS) / groups / WARPGROUP_REGS * WARPGROUP_REGS;
	return n > COST_CONSUMER_REGS ? COST_CONSUMER_REGS : n;
}

int producer_regs(int groups)
{
	int all = groups + 1, start = machine_registers() / WARPGROUP / all / WARPGROUP_REGS * WARPGROUP_REGS;
	return groups > 1 ? all * start - groups * consumer_regs(groups) : 0;
}

int64_t shared_room(const LowerCx *cx, Fn *fn)
{
	int64_t all = (int64_t)machine_of(lower_arch(cx, fn))->shared_block << 10;
	/* other entries serve architectures with less, too */
	return cx->target_only && all == MACHINE_SHARED_90 ? all : COST_SHARED_LIMIT;
}

