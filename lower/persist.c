/* persist: a cluster runs several tile blocks in turn.
 *
 * Rows of one tensor share what does not depend on the row: weights, biases, tables. Where a row is spread over a
 * cluster and registers have no room for two, its thread blocks process several rows in turn, and what all rows need is
 * copied to shared memory once (stage.c): a thread block has the same columns of all its rows.
 *
 * Clusters start in order, as others end. The first ones take many tile blocks, later ones half as many, and so on; the
 * last ones take one each (ct_follow). So faster multiprocessors do more, and all end together. The tile blocks of a
 * thread block are so far apart that their rows begin at one phase whatever their length, and threads hold the same
 * columns of all (rotate.c).
 *
 * A thread block has several tile blocks at once, each with its own warps and exchanges, because the L1 cache must not
 * get too small: a thread block may not take more than two thirds of a multiprocessor's shared memory
 * (bench/notes/rows.md).
 *
 * The second `bid`, with {follows}, marks where the work on one tile block begins. What precedes it is done once. */
#include "base/machine.h"
#include "lower/placed.h"

enum {
	LINE = 128,             /* bytes: phases count from multiples of it */
	APART = 64,             /* tile blocks, at least */
	/* thread blocks of a cluster: of fewer, the L1 cache holds what they share (stage.c); rows of more are few */
	LEAST = 4, MOST = 8,
	THREADS = 512,          /* of a thread block, of which two share a multiprocessor, */
	SHARED = 70 << 10       /* and bytes of what they share: the L1 cache needs the rest for what is on its way */
};

/* ---- whether ---- */
/* bytes of a tile block; words: of a thread, of its own */
typedef struct Traffic { int64_t own, shared, stored; int words; } Traffic;

static int64_t tile_bytes(const Val *v)
{
	return type_is_tile(v->type) ? type_size(v->type) * elem_bytes(v->type->elem) : 0;
}

static bool takes_own(const Op *op)
{
	for (int a = 0; a < ir_in(op, 0)->type->rank; a++)
		if (ir_in(op, 1 + a)->def && ir_in(op, 1 + a)->def->code == OP_BID) return true;
	return false;
}

static void count_traffic(void *ctx, Op *op)
{
	Traffic *t = ctx;
	if (op->code == OP_STORE) t->stored += tile_bytes(ir_in(op, op->nin - 1));
	if (op->code != OP_LOAD || !type_is_tile(op->out[0]->type)) return;
	const Val *r = op->out[0];
	if (!takes_own(op)) {
		t->shared += tile_bytes(r);
		return;
	}
	t->own += tile_bytes(r);
	t->words += (int)(((int64_t)elem_bytes(r->type->elem) << r->lay->in[HW_REG]) / 4);
}

static bool is_cut(const Fn *fn)        /* into slices, for its registers do not hold one row */
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op->nregion) return true;
	return false;
}

/* More than the L2 cache gives beside what memory reads and writes. */
static bool shares_much(const Machine *m, const Traffic *t)
{
	return t->own && 100 * (t->own + t->shared) > m->l2_percent * (t->own + t->stored);
}

/* Bytes of what tile blocks share, where that is much, but registers have no room for the rows of two; else 0. */
static int64_t bytes_shared(const Fn *fn, const Machine *m)
{
	enum { WORDS = 32, TWO = 2 };   /* that a thread holds of rows */
	Traffic t = { 0 };
	if (fn->cluster < 2 || is_cut(fn)) return 0;
	ir_walk(fn->body, count_traffic, &t);
	return shares_much(m, &t) && t.words <= WORDS && TWO * t.words > WORDS ? t.shared : 0;
}

/* How many tile blocks should a thread block have at once? They share what is the same for all. By architecture, for
 * others have less shared memory. */
static int groups(Fn *fn, const LowerCx *cx)
{
	if (fn->cluster < LEAST || fn->cluster > MOST) return 0;
	int arch = lower_arch(cx, fn), threads = 32 * fn->warps / fn->cluster;
	const Machine *m = machine_of(arch);
	int64_t shared = bytes_shared(fn, m) / fn->cluster;
	if (!shared || shared > SHARED || m->shared_block << 10 < SHARED_LARGE) return 0;
	return THREADS / threads;
}

/* Threads wait for each other in exchanges alone, to which each warp sends something: none
 * is two rounds behind another. */
static bool suits(const Op *op)
{
	if (op->nregion || op_broadcasts(op)) return false;
	switch (op->code) {
	case OP_EXCHANGE:
		for (int i = 0; i < op->nin; i++)
			if (lay_hwcoord(*ir_in(op, i)->lay, lay_free(*ir_in(op, i)->lay), HW_WARP)) return false;
		return true;
	case OP_LOAD: return !one_thread_reads(op);
	case OP_STORE: case OP_RETURN: case OP_REDUCE_REGS: case OP_REDUCE_LANES: return true;
	default: return (op_rows[op->code].flags & OPF_PURE) && !scratch_bytes(op) && !op_is_scan(op);
	}
}

/* least: bytes of a row's element */
typedef struct Follow { Fn *fn; Op *bid, *after; bool exchanges; int least; } Follow;

static bool all_suit(Follow *f)
{
	for (Op *op = f->fn->body->first; op; op = op->next) {
		if (!suits(op)) return false;
		f->exchanges |= op->code == OP_EXCHANGE;
		if (op->code == OP_PHASE) {
			f->after = op;
			f->least = elem_bytes(ir_in(op, 0)->type->elem);
		}
		if (op->code != OP_BID) continue;
		if (f->bid) return false;
		f->bid = f->after = op;
	}
	return f->bid && f->exchanges;
}

/* Between the index and the phase, which is that of all rows, nothing else may depend on the index. */
static bool once(const Follow *f)
{
	for (const Op *op = f->bid->next; f->after != f->bid && op != f->after; op = op->next)
		for (int i = 0; i < op->nin; i++)
			if (ir_in(op, i) == f->bid->out[0]) return false;
	return true;
}

static void follow_fn(Fn *fn, const LowerCx *cx)
{
	Follow f = { .fn = fn };
	int n = groups(fn, cx);
	bool other = fn->peels || fn->ordered || fn->alternate;
	if (!n || other || fn->ngrid != 1 || !all_suit(&f) || !once(&f)) return;
	Builder b = build_before(f.after->next);
	b.span = f.bid->span;
	Val *index = ir_op1(&b, OP_BID, f.bid->out[0]->type, 0, NULL);
	copy_attrs(index->def, f.bid);
	int apart = f.least ? n * LINE / f.least : APART;
	ir_set_int(index->def, AT_FOLLOWS, apart < APART ? APART : apart);
	if (n > 1) ir_set_int(index->def, AT_GROUPS, n);
	index->name = f.bid->out[0]->name;
	for (Op *op = index->def->next; op; op = op->next)
		for (int i = 0; i < op->nin; i++)
			if (ir_in(op, i) == f.bid->out[0]) op->in[i] = index;
	if (f.after == f.bid) ir_remove(f.bid);
}

void follow_undo(Fn *fn)
{
	const Op *mark = follow_mark(fn);
	if (!mark) return;
	int64_t bytes = follow_bytes(fn);
	ir_set_int((Op *)mark, AT_FOLLOWS, 0);
	fn->shared_bytes = bytes;
}

void pass_persist(Module *m, const LowerCx *cx)
{
	for (int i = 0; i < m->fns.n; i++) follow_fn(m->fns.p[i], cx);
}
