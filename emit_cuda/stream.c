/* What ends in a store, vector by vector (lower/stream.c): one loop over the vectors of the store, in which each
 * operation of the stretch does what the vector needs. */
#include "base/diag.h"
#include "emit_cuda/access.h"
#include "placed/loops.h"

/* The store that ends the stretch. regs: of the tiles with the fewest. */
static Stream stream_of(Cu *g, const Op *first)
{
	const Op *store = first;
	while (store->code != OP_STORE) store = store->next;
	AccessPlan p = access_plan(store, ir_in(store, store->nin - 1), g->turned != 0);
	Stream s = { .store = store, .piece = 1 << p.vec, .regs = regs_of(ir_in(store, store->nin - 1)), .open = true };
	for (const Op *op = first; op != store; op = op->next) {
		const Val *r = op->out[0];
		if (!cu_val(g, r)->splat && regs_of(r) < s.regs) s.regs = regs_of(r);
	}
	return s;
}

Op *stream_print(Cu *g, Op *first)
{
	Stream *s = &g->stream;
	*s = stream_of(g, first);
	cu_head(g, "ct_piece", 0, s->regs / s->piece, true);
	cu_open(g);
	control_ops(g, first, s->store->next);
	s->open = false;
	cu_end(g);
	return s->store->next;
}
