/* share: barriers, and places in shared memory.
 *
 * Barriers. The program means that accesses of a tile block happen in its order; threads keep that order only across a
 * barrier. So one is put before an access that another thread's earlier access could conflict with: for shared memory
 * between writes and reads of any buffer (buffers reuse each other's place), for tensors and pointers between accesses
 * of one tensor (or any two pointers) of which one writes. No barrier is needed where the earlier and the later access
 * divide the same view into the same tiles in the same layout: then each thread accesses only its own elements. A
 * loop's body begins with everything pending that an iteration of it leaves.
 *
 * In a cluster other thread blocks may still send: the place of an exchange is its own while the kernel runs, and it
 * needs no barrier but its mbarrier.
 *
 * Small buffers, of partial results, have places of their own, and wait only for who read them themselves.
 *
 * Places. A buffer lives from its first store to its last load; buffers whose lives do not overlap share bytes, first
 * fit in program order. Scratch of an operation lives only there. */
#include <limits.h>
#include <string.h>

#include "base/diag.h"
#include "lower/placed.h"

/* ---- barriers ---- */
typedef VEC(const Op *) OpVec;
typedef VEC(const Val *) Buffers;
typedef struct Pending {
	bool shared_read, shared_write; /* of places that buffers share */
	Buffers own_reads;      /* buffers with places of their own that were read */
	OpVec reads, writes;    /* of global memory, since the last barrier */
} Pending;

/* dry: put nothing in; keep: and take no barrier into account, so that whatever is accessed stays pending;
 * own: by Val id, the buffers with places of their own */
typedef struct Sync { Fn *fn; bool dry, keep; bool *own; } Sync;

static bool touches_memory(const Op *op, bool *read, bool *write)
{
	if (!op->nin || op->code == OP_STORE_SHARED || op->code == OP_LOAD_SHARED) return false;
	const Type *t = ir_in(op, 0)->type;
	bool view = t->kind == TY_VIEW, ptr = (type_is_scalar(t) || type_is_tile(t)) && elem_is_ptr(t->elem);
	if ((!view && !ptr) || !op_has(op, OPF_READ | OPF_WRITE) || op->code == OP_PRINT) return false;
	*read = op_has(op, OPF_READ);
	*write = op_has(op, OPF_WRITE);
	return true;
}

static const Val *root_of(const Op *op)         /* NULL: some pointer */
{
	const Val *v = ir_tensor(ir_in(op, 0));
	return v->type->kind == TY_VIEW ? v : NULL;
}

static bool whole_partition(const Op *op)
{
	const Val *v = ir_accessed(op);
	const IrAttr *steps = ir_attr(op, AT_STEPS);
	if (!v || !type_is_tile(v->type) || !steps) return false;
	const Type *t = v->type;
	for (int a = 0; a < t->rank; a++)
		if (steps->u.ints.p[a] != type_extent(t, a)) return false;
	return true;
}

static bool same_offsets(const Op *x, const Op *y)
{
	const IrAttr *a = ir_attr(x, AT_OFFSETS), *b = ir_attr(y, AT_OFFSETS);
	if (!a || !b) return a == b;
	return !memcmp(a->u.ints.p, b->u.ints.p, (size_t)a->u.ints.n * sizeof *a->u.ints.p);
}

/* Updates whose order nobody can see: of one kind, which commutes, without their old values. */
static bool is_update(const Op *op)
{
	bool rmw = op_updates(op) && !op_has(op, OPF_CAS);
	return rmw && !op->nout && ir_int(op, AT_RMW, 0) != attr_word(AT_RMW, str_intern("xchg"));
}

/* A single element is always the first thread's. */
static bool is_single(const Op *op)
{
	const Val *v = op->nout ? op->out[0] : ir_in(op, ir_in(op, 0)->type->kind == TY_VIEW ? 1 + ir_in(op, 0)->type->rank
		: 1);
	return !type_is_tile(v->type);
}

/* Atomics of one tile block take effect in the order of the program like all accesses, unless no program can observe
 * the difference. */
static bool atomics_apart(const Op *x, const Op *y)
{
	if (ir_int(x, AT_APART, 0) && ir_int(y, AT_APART, 0)) return true;
	return (is_update(x) && is_update(y) && ir_int(x, AT_RMW, 0) == ir_int(y, AT_RMW, 0))
		|| (is_single(x) && is_single(y));
}

/* Do two atomics stand apart from the same others? */
static bool same_atomics(const Op *x, const Op *y)
{
	bool same_form = is_single(x) == is_single(y) && x->code == y->code;
	return same_form && ir_int(x, AT_APART, 0) == ir_int(y, AT_APART, 0) && is_update(x) && is_update(y)
		&& ir_int(x, AT_RMW, 0) == ir_int(y, AT_RMW, 0);
}

static bool own_elements(const Op *x, const Op *y)
{
	if (op_has(x, OPF_ATOMIC) && op_has(y, OPF_ATOMIC)) return atomics_apart(x, y);
	if (!root_of(x)) return false;          /* elements of a span may lie in one place */
	if (!whole_partition(x) || !whole_partition(y) || ir_in(x, 0) != ir_in(y, 0) || !same_offsets(x, y)) return false;
	const Val *a = ir_accessed(x), *b = ir_accessed(y);
	return a->type == b->type && lay_eq(*a->lay, *b->lay);
}

static bool conflicts(const OpVec *v, const Op *op)
{
	for (int i = 0; i < v->n; i++)
		if (root_of(v->p[i]) == root_of(op) && !own_elements(v->p[i], op)) return true;
	return false;
}

/* Does x conflict with exactly what y conflicts with? One access of each such kind is enough to remember. */
static bool same_access(const Op *x, const Op *y)
{
	if (x == y) return true;
	if (root_of(x) != root_of(y)) return false;
	bool atomic = op_has(x, OPF_ATOMIC);
	if (atomic || op_has(y, OPF_ATOMIC)) return atomic && op_has(y, OPF_ATOMIC) && same_atomics(x, y);
	return own_elements(x, y) || (!whole_partition(x) && !whole_partition(y));
}

static void remember(OpVec *v, const Op *op)
{
	for (int i = 0; i < v->n; i++)
		if (same_access(v->p[i], op)) return;
	vec_push(A_TMP, v, op);
}

/* Partial results of a reduction are few bytes: their buffer has its place alone, and needs
 * no barrier against others. */
static void remember_buffer(Buffers *v, const Val *buffer)
{
	for (int i = 0; i < v->n; i++)
		if (v->p[i] == buffer) return;
	vec_push(A_TMP, v, buffer);
}

static bool was_read(const Pending *p, const Val *buffer)
{
	for (int i = 0; i < p->own_reads.n; i++)
		if (p->own_reads.p[i] == buffer) return true;
	return false;
}

/* Says whether there is more now. */
static bool merge(Pending *to, const Pending *from)
{
	int n = to->own_reads.n + to->reads.n + to->writes.n + to->shared_read + to->shared_write;
	for (int i = 0; i < from->own_reads.n; i++) remember_buffer(&to->own_reads, from->own_reads.p[i]);
	to->shared_read |= from->shared_read;
	to->shared_write |= from->shared_write;
	for (int i = 0; i < from->reads.n; i++) remember(&to->reads, from->reads.p[i]);
	for (int i = 0; i < from->writes.n; i++) remember(&to->writes, from->writes.p[i]);
	return to->own_reads.n + to->reads.n + to->writes.n + to->shared_read + to->shared_write > n;
}

static Pending copy_pending(const Pending *p)
{
	Pending r = { 0 };
	merge(&r, p);
	return r;
}

static void put_barrier(Builder b) { ir_op(&b, OP_BARRIER, 0, NULL, 0, NULL); }

static void barrier(Sync *s, Pending *p, Op *before)
{
	if (s->keep) return;
	if (!s->dry) put_barrier(build_before(before));
	*p = (Pending){ 0 };
}

static void sync_shared(Sync *s, Pending *p, Op *op)
{
	bool scratch = scratch_bytes(op) > 0 && !op_exchanges(op), store = op->code == OP_STORE_SHARED;
	bool load = op->code == OP_LOAD_SHARED || op->code == OP_MMA_SYNC;
	const Val *own = (store || op->code == OP_LOAD_SHARED) && s->own[ir_in(op, 0)->id] ? ir_in(op, 0) : NULL;
	bool after_read = own ? was_read(p, own) : p->shared_read;
	if ((scratch && (p->shared_read || p->shared_write)) || (store && after_read) || (load && p->shared_write))
		barrier(s, p, op);
	if (scratch && !s->keep) {      /* its own barriers order what came before, too */
		OpVec none = { 0 };
		p->reads = p->writes = none;
		p->own_reads = (Buffers){ 0 };
		p->shared_write = false;
	}
	p->shared_write |= store;
	if (load && own) remember_buffer(&p->own_reads, own);
	p->shared_read |= (load && !own) || scratch;
}

static void sync_memory(Sync *s, Pending *p, Op *op)
{
	bool read, write;
	if (!touches_memory(op, &read, &write) || (!write && memory_is_constant(s->fn, ir_in(op, 0)))) return;
	int64_t order = ir_int(op, AT_ORDER, 0);
	bool before = order >= 2;       /* release */
	if (before || conflicts(&p->writes, op) || (write && conflicts(&p->reads, op))) barrier(s, p, op);
	bool broadcast = s->fn->cluster && one_thread_reads(op);     /* all thread blocks wait for the element */
	if (read && !broadcast) remember(&p->reads, op);
	if (write) remember(&p->writes, op);
	if ((order == 1 || order == 3) && !s->keep) {
		if (!s->dry) put_barrier(build_after(op));
		*p = (Pending){ 0 };
	}
}

static void sync_block(Sync *s, Pending *p, IrBlock *b);

static void find_jump(void *ctx, Op *op)
{
	*(bool *)ctx |= op_has(op, OPF_JUMP);
}

static void sync_regions(Sync *s, Pending *p, Op *loop)
{
	for (int i = 0; i < loop->nregion; i++) sync_block(s, p, loop->region[i]);
}

/* Its body may be left anywhere: everything of the body is pending at its begin, and after the loop. */
static void sync_loop_with_jumps(Sync *s, Pending *p, Op *op)
{
	Sync all = { s->fn, true, true, s->own };
	sync_regions(&all, p, op);
	if (s->dry) return;
	Pending body = copy_pending(p);
	sync_regions(s, &body, op);
	merge(p, &body);
}

/* What is pending at the begin of an iteration is what was before the loop or what an iteration leaves, which
 * depends on it. */
static void sync_loop(Sync *s, Pending *p, Op *op)
{
	bool jumps = false;
	for (int i = 0; i < op->nregion; i++) ir_walk(op->region[i], find_jump, &jumps);
	if (s->keep || jumps || op->code == OP_WHILE) {
		sync_loop_with_jumps(s, p, op);
		return;
	}
	Sync dry = { s->fn, true, false, s->own };
	Pending iteration;
	do {
		iteration = copy_pending(p);
		sync_regions(&dry, &iteration, op);
	} while (merge(p, &iteration));
	if (s->dry) return;
	iteration = copy_pending(p);
	sync_regions(s, &iteration, op);
}

static void sync_branches(Sync *s, Pending *p, Op *op)
{
	Pending all = { 0 };
	for (int i = 0; i < op->nregion; i++) {
		Pending one = copy_pending(p);
		sync_block(s, &one, op->region[i]);
		merge(&all, &one);
	}
	if (s->keep || op->code == OP_SCOPE_) merge(&all, p);   /* a scope may be left early */
	*p = all;
}

static void sync_block(Sync *s, Pending *p, IrBlock *b)
{
	for (Op *op = b->first, *next; op; op = next) {
		next = op->next;
		if (op->code == OP_BARRIER && !s->keep) *p = (Pending){ 0 };
		sync_memory(s, p, op);
		sync_shared(s, p, op);
		if (op_has(op, OPF_LOOP)) sync_loop(s, p, op);
		else if (op->code == OP_IF || op->code == OP_SCOPE_) sync_branches(s, p, op);
	}
}

/* ---- places ---- */
typedef struct Piece { Op *op; int first, last; int64_t bytes, at; } Piece;
typedef struct Slots { VEC(Piece) p; int now; int *piece_of; const bool *own; } Slots;

static void find_pieces(void *ctx, Op *op)
{
	Slots *s = ctx;
	s->now++;
	for (int i = 0; i < op->nin; i++) {
		Val *v = ir_in(op, i);
		if (v->type->kind != TY_SHARED) continue;
		Piece *q = &s->p.p[s->piece_of[v->id]];
		if (s->own[v->id]) continue;
		if (!q->first) q->first = s->now;
		q->last = s->now;
	}
	int64_t bytes = op->code == OP_ALLOC_SHARED ? type_bytes(op->out[0]->type) : scratch_bytes(op);
	if (!bytes) return;
	Piece piece = { op, op->code == OP_ALLOC_SHARED ? 0 : s->now, s->now, (bytes + 15) / 16 * 16, 0 };
	if (op_exchanges(op) || op->code == OP_PRIVATE || (op->code == OP_ALLOC_SHARED && s->own[op->out[0]->id]))
		piece.first = 0, piece.last = INT_MAX;
	if (op->code == OP_ALLOC_SHARED) s->piece_of[op->out[0]->id] = s->p.n;
	vec_push(A_TMP, &s->p, piece);
}

/* Buffers that have a place and whose lives may overlap that of a later one, by place. */
typedef VEC(int) Placed;

/* The least place for q, 0 or 128-byte aligned after another buffer, that is free for all of q's life. */
static int64_t first_fit(const Slots *s, const Placed *placed, const Piece *q)
{
	int64_t at = 0;
	for (int i = 0; i < placed->n; i++) {
		const Piece *o = &s->p.p[placed->p[i]];
		if (o->first > q->last || q->first > o->last) continue;
		if (at + q->bytes <= o->at) break;
		int64_t after = (o->at + o->bytes + 127) / 128 * 128;
		if (after > at) at = after;
	}
	return at;
}

/* Drops the buffers whose lives end before any other begins. */
static void let_go(const Slots *s, Placed *placed, int begin)
{
	int n = 0;
	for (int i = 0; i < placed->n; i++)
		if (s->p.p[placed->p[i]].last >= begin) placed->p[n++] = placed->p[i];
	placed->n = n;
}

static void put_in_place(const Slots *s, Placed *placed, int piece)
{
	vec_push(A_TMP, placed, piece);
	for (int i = placed->n - 1; i > 0 && s->p.p[placed->p[i - 1]].at > s->p.p[piece].at; i--) {
		placed->p[i] = placed->p[i - 1];
		placed->p[i - 1] = piece;
	}
}

static void give_places(Fn *fn, const bool *own, const LowerCx *cx)
{
	const Op *beyond = NULL;        /* the first that has no room */
	Slots s = { .piece_of = NEW_ARRAY(A_TMP, int, fn->nval), .own = own };
	Placed placed = { 0 };
	fn->shared_bytes = 0;
	ir_walk(fn->body, find_pieces, &s);
	int *begin = NEW_ARRAY(A_TMP, int, s.p.n + 1);  /* the first life of this piece and those after it */
	begin[s.p.n] = INT_MAX;
	for (int i = s.p.n - 1; i >= 0; i--) begin[i] = s.p.p[i].first < begin[i + 1] ? s.p.p[i].first : begin[i + 1];
	for (int i = 0; i < s.p.n; i++) {
		Piece *q = &s.p.p[i];
		let_go(&s, &placed, begin[i]);
		q->at = first_fit(&s, &placed, q);
		put_in_place(&s, &placed, i);
		ir_set_int(q->op, AT_SLOT, q->at);
		if (q->at + q->bytes > fn->shared_bytes) fn->shared_bytes = q->at + q->bytes;
		if (!beyond && fn->shared_bytes > COST_SHARED_LIMIT) beyond = q->op;
	}
	if (!beyond) return;
	if (cx->misfits) vec_push(A_UNIT, cx->misfits, fn);
	else diag(D_NOT_SUPPORTED, beyond->span, "an operation that needs more than 96 KiB of shared memory", "cuda");
}

/* An atomic whose old value nobody wants has none. */
static void drop_old_value(void *ctx, Op *op)
{
	const int *uses = ctx;
	bool rmw = op_updates(op);
	if (rmw && op->nout && !uses[op->out[0]->id]) op->nout = 0;
}

typedef struct Own { bool *own; int n; } Own;

static void find_own(void *ctx, Op *op)
{
	Own *o = ctx;
	if (op->code != OP_ALLOC_SHARED || type_bytes(op->out[0]->type) > COST_OWN_BYTES || o->n == COST_OWN_MOST) return;
	o->own[op->out[0]->id] = true;
	o->n++;
}

/* Who else reads a buffer, a product, is not distinguished from readers of shared places: such a
 * buffer stays one of those. */
static void find_other_use(void *ctx, Op *op)
{
	Own *o = ctx;
	if (op->code == OP_STORE_SHARED || op->code == OP_LOAD_SHARED) return;
	for (int i = 0; i < op->nin; i++)
		if (ir_in(op, i)->type->kind == TY_SHARED) o->own[ir_in(op, i)->id] = false;
}

void pass_share(Module *m, const LowerCx *cx)
{
	for (int i = 0; i < m->fns.n; i++) {
		Fn *fn = m->fns.p[i];
		Pending p = { 0 };
		ir_walk(fn->body, drop_old_value, ir_use_counts(fn, A_TMP));
		ir_number(fn);          /* barriers have no values: numbers stay */
		Own own = { NEW_ARRAY(A_TMP, bool, fn->nval), 0 };
		ir_walk(fn->body, find_own, &own);
		ir_walk(fn->body, find_other_use, &own);
		Sync s = { fn, false, false, own.own };
		sync_block(&s, &p, fn->body);
		give_places(fn, own.own, cx);
	}
}
