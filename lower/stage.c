/* stage: what is needed after a barrier is copied to shared memory before it.
 *
 * While threads wait for each other, memory should move. Small loads are issued before the barrier (remat.c), into
 * registers, but few words fit beside the row that is held. What does not fit is copied by `cp.async`: each thread
 * copies its own 16 bytes at a time to shared memory that no other thread accesses, so no barrier is needed, and loads
 * them where they are used. The load stands after those that are waited for first and has
 * {staged}; op `staged` takes its tile.
 *
 * This applies only to large clusters: what fewer thread blocks hold finds weights of its size in the L1 cache, which
 * `cp.async` bypasses.
 *
 * Copies need aligned addresses: the version for unaligned tensors loads at `staged` instead. Versions for peeled rows
 * bring their weights themselves (peel.c). Figures: bench/notes/rows.md. */
#include "base/diag.h"
#include "lower/placed.h"
#include "placed/access.h"

enum {
	PIECE_BYTES = 1 << PIECE_LOG2,
	LINE = 128,             /* sectors of memory must not be divided in shared memory */
	LEAST = 4,              /* thread blocks of a cluster */
	MOST_BYTES = 48 << 10,  /* of a thread block: four share an SM */
	DEPTH = 12              /* of expressions that are looked at */
};

typedef struct Stage {
	Fn *fn;
	Op *before;             /* after the loads that threads wait for */
	bool *known;            /* by Val id: in front of that */
	int64_t bytes;          /* of a thread block, so far */
} Stage;

static bool waits(const Op *op)
{
	return (op->code == OP_EXCHANGE && !op_broadcasts(op)) || op->code == OP_LOAD_SHARED || op->code == OP_BARRIER
		|| scratch_bytes(op) > 0;
}

/* ---- which ---- */
static bool is_zero(const Val *v)
{
	Num n;
	return ir_const_value(v, &n) && n.i == 0 && n.f == 0;
}

static int64_t thread_bytes(const Val *v)
{
	return type_is_tile(v->type) ? ((int64_t)1 << v->lay->in[HW_REG]) * elem_bytes(v->type->elem) : 0;
}

/* Are a thread's pieces of the widest kind? */
static bool in_pieces(const Op *load)
{
	AccessPlan p = access_plan(load, load->out[0], false);
	return p.turn < 0 && elem_bytes(load->out[0]->type->elem) << p.vec == PIECE_BYTES;
}

static Op *first_user(const Op *op)     /* in a block without regions */
{
	for (Op *o = op->next; o; o = o->next)
		for (int i = 0; i < o->nin; i++)
			if (ir_in(o, i) == op->out[0]) return o;
	return NULL;
}

/* Can op stand there, with the scalars that it needs? */
static bool may_move(const Stage *s, const Op *op, int depth)
{
	for (int i = 0; i < op->nin; i++) {
		const Op *d = ir_in(op, i)->def;
		if (s->known[ir_in(op, i)->id]) continue;
		if (!depth || d->nregion || d->code == OP_BID || type_is_tile(d->out[0]->type)) return false;
		if (!(op_rows[d->code].flags & OPF_PURE) || !may_move(s, d, depth - 1)) return false;
	}
	return true;
}

/* A load after the first wait, whatever uses it. */
static bool is_wanted(const Stage *s, const Op *op)
{
	if (op->code != OP_LOAD || thread_bytes(op->out[0]) < PIECE_BYTES || one_thread_reads(op)
		|| ir_int(op, AT_CACHE, 0))
		return false;
	if (!memory_is_constant(s->fn, ir_in(op, 0)) || !is_zero(ir_in(op, op->nin - 1)) || !in_pieces(op)) return false;
	return may_move(s, op, DEPTH);
}

/* ---- writing ---- */
static void move(const Stage *s, Op *op)
{
	for (int i = 0; i < op->nin; i++)
		if (!s->known[ir_in(op, i)->id]) move(s, ir_in(op, i)->def);
	ir_move_before(op, s->before);
	for (int i = 0; i < op->nout; i++) s->known[op->out[i]->id] = true;
}

static void stage(Stage *s, Op *op, int64_t bytes)
{
	Op *user = first_user(op);
	Val *v = op->out[0];
	Builder b = build_before(user);
	s->fn->shared_bytes = (s->fn->shared_bytes + LINE - 1) / LINE * LINE;
	move(s, op);
	ir_set_int(op, AT_STAGED, s->fn->shared_bytes);
	Val *r = ir_unary(&b, OP_STAGED, v->type, v);
	ir_set_layout(r, *v->lay);
	r->name = v->name;
	for (Op *o = user; o; o = o->next)
		for (int i = 0; i < o->nin; i++)
			if (ir_in(o, i) == v) o->in[i] = r;
	s->fn->shared_bytes += bytes;
	s->bytes += bytes;
}

static bool is_straight(const IrBlock *b)
{
	for (const Op *op = b->first; op; op = op->next)
		if (op->nregion) return false;
	return true;
}

static void stage_fn(Fn *fn)
{
	Stage s = { .fn = fn };
	if (fn->cluster < LEAST || fn->by_element || fn->peels || !is_straight(fn->body)) return;
	s.known = NEW_ARRAY(A_TMP, bool, fn->nval);
	for (int i = 0; i < fn->body->args.n; i++) s.known[fn->body->args.p[i]->id] = true;
	Op *wait = fn->body->first;
	for (; wait && !waits(wait); wait = wait->next)
		if (wait->code == OP_LOAD && type_is_tile(wait->out[0]->type)) s.before = wait->next;
	if (!wait || !s.before) return;
	for (const Op *op = fn->body->first; op != s.before; op = op->next)
		for (int i = 0; i < op->nout; i++) s.known[op->out[i]->id] = true;
	for (Op *op = wait->next, *next; op; op = next) {
		next = op->next;
		if (!is_wanted(&s, op) || !first_user(op)) continue;
		int64_t bytes = thread_bytes(op->out[0]) * 32 * fn->warps / fn->cluster;
		if (s.bytes + bytes <= MOST_BYTES) stage(&s, op, bytes);
	}
}

void pass_stage(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) stage_fn(m->fns.p[i]);
}
