/* What passes ask of the architecture that they place for, and of operations. */
#include <string.h>

#include "base/machine.h"
#include "lower/placed.h"

int lower_arch(const LowerCx *cx, Fn *fn)
{
	fn->by_arch = true;
	return cx->target_arch;
}

int64_t shared_room(const LowerCx *cx, Fn *fn)
{
	int64_t all = (int64_t)machine_of(lower_arch(cx, fn))->shared_block << 10;
	/* other entries serve architectures with less, too */
	return cx->target_only && all == SHARED_LARGE ? all : SHARED_LIMIT;
}

