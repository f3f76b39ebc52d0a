/* A kernel that is rewritten before it is placed: its new grid, and which attributes of the old one still hold. */
#include <string.h>

#include "lower/placed.h"

void kernel_regrid(Fn *fn, const Sym *blocks)
{
	fn->ngrid = 1;
	memset(fn->grid, 0, sizeof fn->grid);
	memset(fn->sweep, 0, sizeof fn->sweep);
	memset(fn->joined, 0, sizeof fn->joined);
	fn->grid[0] = blocks;
}

void kernel_again(Fn *fn, const LowerCx *cx)
{
	simplify_kernel(fn, cx);
	bound_accesses(fn);
	ir_number(fn);
}

void kernel_set_warps(Fn *fn, int64_t warps)
{
	Hint h = { .name = str_intern("warps"), .n = 1, .span = fn->span };
	h.v[0].value = warps;
	vec_push(A_UNIT, &fn->hints, h);
}
