/* spill: values carried by a loop are kept in shared memory where registers do not hold them.
 *
 * A thread block has 64 registers for each of 1024 threads, 128 for each of 512. A loop that carries sums of 16,384
 * columns, and whose iterations load two such tiles of 16 bits, needs more, and nvcc would spill to local memory. A
 * carried sum is needed only where an iteration adds to it, so it is loaded there and stored afterwards. Each thread
 * accesses only its own elements, so no barrier is needed. If that does not suffice, widened elements defined before
 * the loop (weights) are loaded and widened in each iteration.
 *
 * Where a cluster shares the tile (threads.c), registers suffice. */
#include "base/diag.h"
#include "base/machine.h"
#include "lower/placed.h"

enum {
	AROUND = 16,            /* registers beside tiles, and those of two tiles whose elements are computed with */
	LEAST = 8               /* elements of a thread from which a tile counts */
};

static int registers_of(const Val *v)
{
	bool counts = type_is_tile(v->type) && v->lay && v->type->elem != EL_BOOL && v->lay->in[HW_REG] >= log2_of(LEAST);
	return counts ? 1 << v->lay->in[HW_REG] : 0;
}

static int words_of(const Val *v) { return (int)(((int64_t)elem_bytes(v->type->elem) * registers_of(v) + 3) / 4); }

typedef struct Room { const Op *loop; int words; bool *seen, waits, other; } Room;

static void count_op(void *ctx, Op *op)
{
	Room *r = ctx;
	r->waits |= waits_for_threads(op);
	r->other |= op->nregion || op->code == OP_BREAK || op->code == OP_CONTINUE || op->code == OP_LEAVE;
	r->other |= op->code == OP_MMA || op->code == OP_MMA_SYNC;
	if (op->code == OP_LOAD) r->words += words_of(op->out[0]);
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		if (r->seen[v->id] || !is_outside(v, r->loop)) continue;
		if (v->def && (v->def->code == OP_CONST || v->def->code == OP_IOTA || v->def->code == OP_BROADCAST)) continue;
		r->seen[v->id] = true;
		r->words += words_of(v);
	}
}

static Op *first_use(const IrBlock *block, const Val *v)
{
	for (Op *op = block->first; op; op = op->next)
		for (int i = 0; i < op->nin; i++)
			if (ir_in(op, i) == v) return op;
	return block->last;
}

static Val *fetch(Builder b, Val *buffer, const Val *like)
{
	Val *v = ir_op1(&b, OP_LOAD_SHARED, like->type, 1, &buffer);
	ir_set_layout(v, *like->lay);
	v->name = like->name;
	return v;
}

static void put(Builder b, Val *buffer, Val *v) { ir_op(&b, OP_STORE_SHARED, 2, (Val *[]){ buffer, v }, 0, NULL); }

/* The loop no longer carries its value k. */
static void leave_out(Op *loop, int k)
{
	IrBlock *body = loop->region[0];
	Op *yield = body->last;
	for (int i = 3 + k; i + 1 < loop->nin; i++) loop->in[i] = loop->in[i + 1];
	for (int i = k; i + 1 < yield->nin; i++) yield->in[i] = yield->in[i + 1];
	for (int i = k; i + 1 < loop->nout; i++) loop->out[i] = loop->out[i + 1], loop->out[i]->index = i;
	for (int i = 1 + k; i + 1 < body->args.n; i++) body->args.p[i] = body->args.p[i + 1], body->args.p[i]->index = i;
	loop->nin--, loop->nout--, yield->nin--, body->args.n--;
}

typedef struct Uses { const Val *v; const IrBlock *block; bool converted, other; } Uses;

static void count_use(void *ctx, Op *op)
{
	Uses *u = ctx;
	for (int i = 0; i < op->nin; i++)
		if (ir_in(op, i) == u->v)
			*(op->code == OP_CONVERT && op->parent == u->block ? &u->converted : &u->other) = true;
}

/* After the loop. What is only wanted in other layouts is read so: to be converted it would go through shared memory
 * once more, beside what the loop carries in registers. */
static void fetch_after(Op *loop, Val *buffer, Val *out)
{
	Uses u = { .v = out, .block = loop->parent };
	ir_walk(loop->parent, count_use, &u);
	if (!u.converted || u.other) ir_replace(out, fetch(build_after(loop), buffer, out));
	for (Op *op = loop->next, *next; op && !u.other; op = next) {
		next = op->next;
		if (op->code != OP_CONVERT || ir_in(op, 0) != out) continue;
		ir_replace(op->out[0], fetch(build_after(loop), buffer, op->out[0]));
		ir_remove(op);
	}
}

static bool needs(const Op *op, const Val *v)
{
	for (int i = 0; i < op->nin; i++)
		if (ir_in(op, i) == v) return true;
	return false;
}

/* A round adds to it when it has summed up in registers what it loaded, so that nvcc holds no
 * results of elements meanwhile. */
static void add_late(Op *op)
{
	Op *at = op->next;
	for (; at->next && !needs(at, op->out[0]); at = at->next) {
		unsigned f = op_rows[at->code].flags;
		bool passes = at->code == OP_REDUCE_REGS || at->code == OP_BROADCAST || at->code == OP_CONST
			|| (f & OPF_ELEMWISE && f & OPF_PURE);
		if (!passes) break;
	}
	ir_move_before(op, at);
}

static void to_shared(Op *loop, int k)
{
	IrBlock *body = loop->region[0];
	Val *arg = body->args.p[1 + k], *out = loop->out[k], *next = ir_in(body->last, k);
	const Type *t = arg->type;
	Builder b = build_before(loop);
	Val *buffer = ir_op1(&b, OP_ALLOC_SHARED, type_shared(t->elem, t->rank, t->log2), 0, NULL);
	buffer->name = arg->name;
	ir_set_lay(buffer->def, AT_LAYOUT, lay_stored(t->rank, t->log2, NULL));
	put(b, buffer, ir_in(loop, 3 + k));
	add_late(next->def);
	ir_replace(arg, fetch(build_before(first_use(body, arg)), buffer, arg));
	put(build_after(next->def), buffer, next);
	fetch_after(loop, buffer, out);
	leave_out(loop, k);
}

/* Is its next value computed in the round, for it alone, in the same places? */
static bool is_own(const IrBlock *body, int k)
{
	const Val *next = ir_in(body->last, k), *arg = body->args.p[1 + k];
	for (int i = 0; i < body->last->nin; i++)
		if (i != k && (ir_in(body->last, i) == arg || ir_in(body->last, i) == next)) return false;
	return next->def && next->def->parent == body && next->lay && lay_eq(*next->lay, *arg->lay);
}

/* The load of constant memory in front of the loop that v widens, which a round may do itself. */
static Op *widened(const Fn *fn, const Op *loop, const Val *v)
{
	Op *load = v->def && v->def->code == OP_CAST && v->def->parent == loop->parent ? ir_in(v->def, 0)->def : NULL;
	if (!load || load->code != OP_LOAD || !words_of(v) || words_of(v) <= words_of(load->out[0])) return NULL;
	return memory_is_constant(fn, ir_in(load, 0)) ? load : NULL;
}

static Val *copy_of(Builder *b, const Op *op, Val *const *in)
{
	Val *r = ir_op1(b, op->code, op->out[0]->type, op->nin, in);
	copy_attrs(r->def, op);
	r->name = op->out[0]->name;
	ir_set_layout(r, *op->out[0]->lay);
	return r;
}

static void widen_in_round(Op *loop, const Val *v, const Op *load)
{
	IrBlock *body = loop->region[0];
	Builder b = build_before(body->first);
	Val *in = copy_of(&b, load, load->in);
	Val *now = copy_of(&b, v->def, &in);
	for (Op *op = body->first; op; op = op->next)
		for (int i = 0; i < op->nin; i++)
			if (ir_in(op, i) == v) op->in[i] = now;
}

static void visit(void *ctx, Op *loop)
{
	Fn *fn = ctx;
	if (loop->code != OP_FOR || fn->cluster || fn->packed || !loop->nout) return;
	IrBlock *body = loop->region[0];
	int most = 0;
	for (int i = 1; i < body->args.n; i++)
		if (registers_of(body->args.p[i]) > most) most = registers_of(body->args.p[i]);
	if (!most) return;
	ArenaMark mark = arena_mark(A_TMP);
	Room r = { .loop = loop, .seen = NEW_ARRAY(A_TMP, bool, fn->nval), .words = AROUND + 2 * most };
	ir_walk(body, count_op, &r);
	arena_release(A_TMP, mark);
	int64_t bytes = 0;
	for (int i = 1; i < body->args.n; i++) r.words += words_of(body->args.p[i]);
	if (!r.waits || r.other) return;
	for (int k = body->args.n - 2; k >= 0 && r.words > machine_registers() / (fn->warps * 32); k--) {
		const Val *arg = body->args.p[1 + k];
		int64_t size = type_bytes(arg->type);
		if (!words_of(arg) || elem_bytes(arg->type->elem) < 4 || !is_own(body, k)) continue;
		if (bytes + size > SHARED_LIMIT - SHARED_CHUNK / 2) continue;
		bytes += size;
		r.words -= words_of(arg);
		to_shared(loop, k);
	}
	for (Op *op = body->first; op && bytes; op = op->next)
		for (int i = 0; i < op->nin && r.words > machine_registers() / (fn->warps * 32); i++) {
			const Val *v = ir_in(op, i);
			const Op *load = widened(fn, loop, v);
			if (!load) continue;
			r.words -= words_of(v) - words_of(load->out[0]);
			widen_in_round(loop, v, load);
		}
}

void pass_spill(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) {
		if (!has_loop(m->fns.p[i])) continue;
		ir_number(m->fns.p[i]);
		ir_walk(m->fns.p[i]->body, visit, m->fns.p[i]);
	}
}
