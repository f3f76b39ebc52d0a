/* Threads of a thread block, and tile blocks that follow each other in a persistent cluster: see pass persist. */
#include "ir/ir.h"

const Op *follow_mark(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op->code == OP_BID && ir_int(op, AT_FOLLOWS, 0)) return op;
	return NULL;
}

int follow_distance(const Fn *fn)
{
	const Op *mark = fn->cluster ? follow_mark(fn) : NULL;
	return mark ? (int)ir_int(mark, AT_FOLLOWS, 0) : 0;
}

int follow_groups(const Fn *fn) { return follow_distance(fn) ? (int)ir_int(follow_mark(fn), AT_GROUPS, 1) : 1; }

int tile_threads(const Fn *fn) { return fn->warps * 32 / (fn->cluster ? fn->cluster : 1); }

int block_threads(const Fn *fn)
{
	if (fn->packed) return fn->packed * (fn->lanes ? fn->lanes : 32);
	return tile_threads(fn) * follow_groups(fn);
}

int64_t block_shared(const Fn *fn, int threads)
{
	return fn->shared_bytes * (fn->packed ? fn->packed : 1) + fn->warp_bytes * (threads / 32);
}
