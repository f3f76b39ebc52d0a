/* evict: what a kernel reads stays in the L2 cache longer than what it writes.
 *
 * A kernel that reads and writes streams leaves both in the cache, which evicts lines in the order of their last use. If lines that were
 * read have a higher priority, written lines leave for memory soon, in the order in which they were written, and memory moves more bytes
 * per second (bench/notes/moves.md). Nothing is gained if nothing is written, so loads of reductions and of factors of products keep the
 * default. Cache hints of the author take precedence. The printer decides which accesses carry the priority (emit_cuda/memory.c), and
 * the prelude knows which architectures have it (ct_ldnc_evict_last_b128): kernels do not depend on that. */
#include "lower/placed.h"

enum { WRITTEN = 3 };   /* log2 of how much less may be written than is read */

typedef struct Store { int depth, bytes; } Store;
typedef struct Stream { VEC(Store) stores; VEC(Op *) loads; } Stream;

static int loops_around(const Op *op)
{
	int n = 0;
	for (const Op *o = op->parent->owner; o; o = o->parent->owner) n += o->code == OP_FOR || o->code == OP_WHILE;
	return n;
}

static int log2_bytes(const Val *v) { return type_log2_size(v->type) + elem_log2(v->type->elem); }

/* Weights: the cache has them anyway, and a policy takes instructions at each place with loads. */
static bool is_same_for_all(const Op *load)
{
	for (int i = 0; i < ir_in(load, 0)->type->rank; i++)
		if (!ir_in(load, 1 + i)->def || ir_in(load, 1 + i)->def->code != OP_CONST) return false;
	return true;
}

static void find_access(void *ctx, Op *op)
{
	Stream *s = ctx;
	if (op->code == OP_STORE && type_is_tile(ir_in(op, op->nin - 1)->type)) {
		Store store = { loops_around(op), log2_bytes(ir_in(op, op->nin - 1)) };
		vec_push(A_TMP, &s->stores, store);
	}
	bool load = (op->code == OP_LOAD || op->code == OP_LOADS) && type_is_tile(op->out[0]->type);
	if (load && !ir_int(op, AT_CACHE, 0) && !is_same_for_all(op)) vec_push(A_TMP, &s->loads, op);
}

/* Is about as much written as this load reads, and as often? */
static bool is_written_too(const Stream *s, const Op *load)
{
	int depth = loops_around(load), bytes = log2_bytes(load->out[0]);
	for (int i = 0; i < s->stores.n; i++)
		if (s->stores.p[i].depth >= depth && s->stores.p[i].bytes + WRITTEN >= bytes) return true;
	return false;
}

void pass_evict(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) {
		ArenaMark mark = arena_mark(A_TMP);
		Stream s = { { 0 }, { 0 } };
		ir_walk(m->fns.p[i]->body, find_access, &s);
		for (int k = 0; k < s.loads.n; k++)
			if (is_written_too(&s, s.loads.p[k])) ir_set_int(s.loads.p[k], AT_L2_EVICT_LAST, 1);
		arena_release(A_TMP, mark);
	}
}
