/* Threads and shared memory of a thread block. */
#include "ir/ir.h"

int tile_threads(const Fn *fn) { return fn->warps * 32 / (fn->cluster ? fn->cluster : 1); }

int block_threads(const Fn *fn)
{
	if (fn->packed) return fn->packed * (fn->lanes ? fn->lanes : 32 * fn->warps);
	return tile_threads(fn);
}

int64_t block_shared(const Fn *fn, int threads)
{
	return fn->shared_bytes * (fn->packed ? fn->packed : 1) + fn->warp_bytes * (threads / 32);
}
