/* What passes ask of the architecture that they place for, and of operations. */
#include <string.h>

#include "lower/placed.h"

int lower_arch(const LowerCx *cx, Fn *fn)
{
	fn->by_arch = true;
	return cx->target_arch;
}

int64_t shared_room(const LowerCx *cx, Fn *fn)
{
	int arch = lower_arch(cx, fn);
	bool large = cx->target_only && (arch == 90 || arch == 100);    /* other entries serve architectures with less, too */
	return large ? SHARED_LARGE : SHARED_LIMIT;
}

bool op_is_reduce(const Op *op) { return (op_rows[op->code].flags & OPF_REDUCE) != 0 && op_rows[op->code].form != FORM_PLACED; }
bool op_is_scan(const Op *op) { return (op_rows[op->code].flags & OPF_SCAN) != 0; }
bool op_is_atomic(const Op *op) { return strncmp(op_rows[op->code].name, "atomic_", 7) == 0; }
