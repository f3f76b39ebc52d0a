/* pack: several tile blocks in one thread block.
 *
 * A multiprocessor holds 32 thread blocks at most, and starting one takes its time: a tile block of one warp that is a thread
 * block of its own leaves half of the places for warps empty and moves too little between start and end. So tile blocks of
 * one warp share a thread block, each with its own warp and its own part of shared memory; what were barriers of the thread
 * block are barriers of a warp. The launcher takes fewer for one thread block where the grid is small.
 *
 * As many as move PACK_BYTES together, as a thread block ends with its slowest warp: at least two. Tiles of more than
 * PACK_TILE bytes stay alone: there registers limit how many warps a multiprocessor holds. Atomics that order other accesses
 * do so through barriers of the thread block. */
#include "lower/placed.h"

enum { PACK_LOG2 = 3 /* at most 8 warps */, PACK_BYTES = 12, PACK_TILE = 11 /* log2 */, PACK_SHARED = 32 << 10 };

typedef struct Packed { int tile; bool alone; } Packed;        /* tile: log2 of the bytes of the largest */

static void look_at(void *ctx, Op *op)
{
	Packed *p = ctx;
	p->alone |= op_is_atomic(op) && ir_int(op, AT_ORDER, 0) != 0;
	for (int i = 0; i < op->nout; i++) {
		const Val *v = op->out[i];
		if (!type_is_tile(v->type) || op->code == OP_CONST) continue;
		int bytes = type_log2_size(v->type) + elem_log2(v->type->elem);
		if (bytes > p->tile) p->tile = bytes;
	}
}

static void pack_fn(Fn *fn)
{
	Packed p = { 0, fn->cluster > 0 };
	if (fn->warps != 1) return;
	ir_walk(fn->body, look_at, &p);
	if (p.alone || p.tile > PACK_TILE) return;
	int n = PACK_BYTES - p.tile;
	n = n < 1 ? 1 : n > PACK_LOG2 ? PACK_LOG2 : n;
	while (n && fn->shared_bytes << n > PACK_SHARED) n--;
	fn->packed = n ? 1 << n : 0;
}

void pass_pack(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) pack_fn(m->fns.p[i]);
}
