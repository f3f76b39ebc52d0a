/* What passes ask of the architecture that they place for, and of operations. */
#include <string.h>

#include "base/machine.h"
#include "lower/placed.h"

int lower_arch(const LowerCx *cx, Fn *fn)
{
	fn->by_arch = true;
	return cx->target_arch;
}

/* ---- roles ---- */
enum { GROUP_THREADS = 128, REGS_STEP = 8 };    /* of a warpgroup; registers that setmaxnreg can say */

int consumer_regs(int groups)
{
	int n = (machine_registers() / GROUP_THREADS - COST_PRODUCER_REGS) / groups / REGS_STEP * REGS_STEP;
	return n > COST_CONSUMER_REGS ? COST_CONSUMER_REGS : n;
}

int producer_regs(int groups)
{
	int all = groups + 1, start = machine_registers() / GROUP_THREADS / all / REGS_STEP * REGS_STEP;
	return groups > 1 ? all * start - groups * consumer_regs(groups) : 0;
}

int64_t shared_room(const LowerCx *cx, Fn *fn)
{
	int64_t all = (int64_t)machine_of(lower_arch(cx, fn))->shared_block << 10;
	/* other entries serve architectures with less, too */
	return cx->target_only && all == SHARED_LARGE ? all : SHARED_LIMIT;
}

