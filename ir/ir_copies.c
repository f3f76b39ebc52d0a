/* When a buffer that copy_async fills may be read, and when it may be filled again.
 *
 * cp.async gives no sign of its own: a thread knows that its copies are done when it has waited for the group they were
 * committed in (PTX: cp.async.wait_group), and other threads know it only once a barrier follows. Buffers of a ring are
 * filled some iterations of a loop before they are read, so the rule is about a sequence of iterations, not about
 * one text. It is checked by walking: the ops are followed in order with the places of all cursors known; the kernel
 * once for each number of iterations of its innermost loops, 0, 1, 2 .. up to twice the longest ring and two: by
 * then every ring has come around. Of an `if` both ways are followed; what holds after it held on both.
 *
 * 	read    each copy into the buffer is in a group that was waited for, and a barrier stands after that wait
 * 	fill    every reader of these bytes has come to a barrier since, and no copy into them runs
 * 	if      both ways commit equally many groups
 *
 * The groups of a role are its threads' own: each role is followed by itself. */
#include <string.h>

#include "ir/ir_check.h"
#include "ir/ir_frag.h"

enum { NEVER = -1, OUTER_ROUNDS = 3 };

typedef struct Buf {            /* of a ring */
	int group;              /* in which its newest copies are, NEVER: none */
	bool there;             /* those copies are visible to all */
	bool read;              /* since the last barrier */
	int64_t lo, hi;         /* its bytes */
} Buf;

typedef struct Ring { const Op *alloc; int first, count; } Ring;

typedef struct State {
	int committed, waited;  /* groups: how many were committed; those below `waited` are done */
	bool open;              /* copies that no group has */
	Buf *place;
} State;

typedef struct Walk {
	Check *c;
	int nring, nplace, most, iterations;        /* iterations: of innermost loops, in this walk */
	Ring *ring;
	int *cursor;            /* by Val id: a place, NEVER: not known */
	State s;
} Walk;

static void count_ring(void *ctx, Op *op)
{
	Walk *w = ctx;
	if (op->code != OP_ALLOC_RING && op->code != OP_ALLOC_SHARED) return;
	int n = op->code == OP_ALLOC_RING ? op->out[0]->type->count : 1;
	if (w->ring) w->ring[w->nring] = (Ring){ op, w->nplace, n };
	w->nring++;
	w->nplace += n;
	if (2 * n + 2 > w->most) w->most = 2 * n + 2;
}

static void find_copies(void *found, Op *op)
{
	if (op->code == OP_COPY_ASYNC) *(bool *)found = true;
}

static const Ring *ring_of(const Walk *w, const Op *alloc)
{
	for (int i = 0; i < w->nring; i++)
		if (w->ring[i].alloc == alloc) return &w->ring[i];
	return NULL;
}

static int place_of(const Walk *w, const Val *v)
{
	Num n;
	if (v->type->kind == TY_CURSOR) return w->cursor[v->id];
	return ir_const_value(v, &n) && n.i >= 0 && n.i < 1 << 16 ? (int)n.i : NEVER;
}

/* The places that a buffer may be: one, or all of its ring where the index is not known. */
static bool places(const Walk *w, const Val *buf, int *lo, int *n)
{
	const Val *which = NULL;
	while (buf->def && buf->def->code == OP_PART) buf = ir_in(buf->def, 0);
	const Op *alloc = buf->def;
	if (alloc && alloc->code == OP_SLOT) {
		which = ir_in(alloc, 1);
		alloc = ir_in(alloc, 0)->def;
	}
	const Ring *r = alloc ? ring_of(w, alloc) : NULL;
	if (!r) return false;
	int at = which ? place_of(w, which) : 0;
	*lo = r->first + (at == NEVER ? 0 : at % r->count);
	*n = at == NEVER ? r->count : 1;
	return true;
}

static Str buffer_name(const Val *v) { return v->name ? str_fmt("%%%s", v->name) : str_fmt("%%%d", v->id); }

static bool read_buffer(Walk *w, const Val *buf)
{
	Check *c = w->c;
	int lo, n;
	if (!places(w, buf, &lo, &n)) return true;
	for (int i = lo; i < lo + n; i++) {
		Buf *p = &w->s.place[i];
		bool running = p->group != NEVER && p->group >= w->s.waited;
		NEED(!running, "%s is read before `copy_wait` has waited for its copy (buffer %d of its ring)",
			buffer_name(buf), i - lo);
		NEED(p->group == NEVER || p->there, "%s is read before a barrier has followed the `copy_wait` for its copy",
			buffer_name(buf));
		p->read = true;
	}
	return true;
}

static bool fill_buffer(Walk *w, const Val *buf, bool async)
{
	Check *c = w->c;
	int lo, n;
	if (!places(w, buf, &lo, &n)) return true;
	for (int i = lo; i < lo + n; i++) {
		Buf *p = &w->s.place[i];
		for (int k = 0; k < w->nplace; k++) {
			const Buf *q = &w->s.place[k];
			if (q->hi <= p->lo || p->hi <= q->lo) continue;
			NEED(!q->read, "%s is filled while threads that have not come to a barrier may still read it",
				buffer_name(buf));
			NEED(q->group == NEVER || q->there || (k == i && async),
				"%s is filled while a copy into the same bytes may run", buffer_name(buf));
		}
		if (!async) continue;
		p->group = w->s.committed;
		p->there = false;
	}
	w->s.open |= async;
	return true;
}

static void barrier(Walk *w)
{
	for (int i = 0; i < w->nplace; i++) {
		Buf *p = &w->s.place[i];
		p->read = false;
		p->there |= p->group < w->s.waited;
	}
}

static State state_copy(const Walk *w, const State *s)
{
	State r = *s;
	r.place = NEW_ARRAY(A_TMP, Buf, w->nplace + 1);
	memcpy(r.place, s->place, (size_t)w->nplace * sizeof *r.place);
	return r;
}

static bool walk_block(Walk *w, const IrBlock *b);

static void set_cursor(Walk *w, const Val *to, const Val *from)
{
	if (to->type->kind == TY_CURSOR) w->cursor[to->id] = w->cursor[from->id];
}

/* What is carried out of or around a region. */
static void carry(Walk *w, int n, Val *const *to, const Op *end, int first)
{
	int *at = NEW_ARRAY(A_TMP, int, n + 1);
	for (int i = 0; i < n; i++)
		if (to[i]->type->kind == TY_CURSOR) at[i] = w->cursor[ir_in(end, first + i)->id];
	for (int i = 0; i < n; i++)
		if (to[i]->type->kind == TY_CURSOR) w->cursor[to[i]->id] = at[i];
}

static bool walk_if(Walk *w, const Op *op)
{
	Check *c = w->c;
	State before = state_copy(w, &w->s), one;
	int *at = NEW_ARRAY(A_TMP, int, op->nout + 1);
	if (!walk_block(w, op->region[0])) return false;
	if (op->region[0]->last->code == OP_YIELD) carry(w, op->nout, op->out, op->region[0]->last, 0);
	for (int i = 0; i < op->nout; i++)
		if (op->out[i]->type->kind == TY_CURSOR) at[i] = w->cursor[op->out[i]->id];
	one = w->s;
	w->s = before;
	if (!walk_block(w, op->region[1])) return false;
	if (op->region[1]->last->code == OP_YIELD) carry(w, op->nout, op->out, op->region[1]->last, 0);
	c->op = op;
	NEED(w->s.committed == one.committed && w->s.open == one.open,
		"one way commits more groups of copies than the other");
	for (int i = 0; i < op->nout; i++)
		if (op->out[i]->type->kind == TY_CURSOR && at[i] != w->cursor[op->out[i]->id])
			w->cursor[op->out[i]->id] = NEVER;
	if (one.waited < w->s.waited) w->s.waited = one.waited;
	for (int i = 0; i < w->nplace; i++) {
		Buf *p = &w->s.place[i], *q = &one.place[i];
		if (q->group > p->group) p->group = q->group;
		p->there = p->there && q->there;
		p->read |= q->read;
	}
	return true;
}

static bool has_loop(const IrBlock *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		if (op_has(op, OPF_LOOP)) return true;
		for (int i = 0; i < op->nregion; i++)
			if (has_loop(op->region[i])) return true;
	}
	return false;
}

static bool walk_for(Walk *w, const Op *op)
{
	const IrBlock *b = op->region[0];
	int n = b->args.n - 1, iterations = has_loop(b) ? OUTER_ROUNDS : w->iterations;
	for (int i = 0; i < n; i++) set_cursor(w, b->args.p[1 + i], ir_in(op, 3 + i));
	for (int k = 0; k < iterations; k++) {
		if (!walk_block(w, b)) return false;
		if (b->last->code != OP_YIELD) break;
		carry(w, n, b->args.p + 1, b->last, 0);
	}
	for (int i = 0; i < n && i < op->nout; i++) set_cursor(w, op->out[i], b->args.p[1 + i]);
	return true;
}

static bool walk_while(Walk *w, const Op *op)
{
	const IrBlock *test = op->region[0], *body = op->region[1];
	int iterations = has_loop(body) ? OUTER_ROUNDS : w->iterations;
	for (int i = 0; i < test->args.n; i++) set_cursor(w, test->args.p[i], ir_in(op, i));
	for (int k = 0;; k++) {
		if (!walk_block(w, test)) return false;
		carry(w, body->args.n, body->args.p, test->last, 1);
		if (k == iterations) break;
		if (!walk_block(w, body)) return false;
		if (body->last->code != OP_YIELD) break;
		carry(w, test->args.n, test->args.p, body->last, 0);
	}
	for (int i = 0; i < body->args.n && i < op->nout; i++) set_cursor(w, op->out[i], body->args.p[i]);
	return true;
}

static bool walk_role(Walk *w, const Op *op)
{
	State before = state_copy(w, &w->s);
	bool ok = walk_block(w, op->region[0]);
	w->s = before;
	return ok;
}

static bool walk_op(Walk *w, const Op *op)
{
	Check *c = w->c;
	int pending = (int)ir_int(op, AT_PENDING, 0), lo, n;
	c->op = op;
	switch (op->code) {
	case OP_CURSOR: w->cursor[op->out[0]->id] = 0; return true;
	case OP_ADVANCE: {
		int at = w->cursor[ir_in(op, 0)->id];
		w->cursor[op->out[0]->id] = at == NEVER ? NEVER : (at + 1) % op->out[0]->type->count;
		return true;
	}
	case OP_COPY_ASYNC: return fill_buffer(w, ir_in(op, 0), true);
	case OP_COPY_COMMIT:
		w->s.committed++;
		w->s.open = false;
		return true;
	case OP_COPY_WAIT:
		if (w->s.committed - pending > w->s.waited) w->s.waited = w->s.committed - pending;
		return true;
	case OP_BARRIER: barrier(w); return true;
	case OP_GROUP_BARRIER:
		if (ir_int(op, AT_AMONG, 0) == 0 && op->parent->owner && op->parent->owner->code == OP_ONE_WARP) return true;
		barrier(w);
		return true;
	case OP_STORE_SHARED: case OP_STMATRIX: return fill_buffer(w, ir_in(op, 0), false);
	case OP_ROLE: return walk_role(w, op);
	case OP_FOR: return walk_for(w, op);
	case OP_WHILE: return walk_while(w, op);
	case OP_IF: return walk_if(w, op);
	case OP_SLOT: case OP_PART: return true;
	default: break;
	}
	for (int i = 0; i < op->nin; i++)
		if (ir_in(op, i)->type->kind == TY_SHARED && places(w, ir_in(op, i), &lo, &n) && !read_buffer(w, ir_in(op, i)))
			return false;
	for (int i = 0; i < op->nregion; i++)
		if (!walk_block(w, op->region[i])) return false;
	return true;
}

static bool walk_block(Walk *w, const IrBlock *b)
{
	for (const Op *op = b->first; op; op = op->next)
		if (!walk_op(w, op)) return false;
	return true;
}

static void begin(Walk *w)
{
	w->s = (State){ .place = NEW_ARRAY(A_TMP, Buf, w->nplace + 1) };
	for (int i = 0; i < w->nring; i++) {
		const Op *op = w->ring[i].alloc;
		int64_t lo = ir_int(op, AT_SLOT, 0), bytes = type_bytes(op->out[0]->type);
		for (int k = 0; k < w->ring[i].count; k++)
			w->s.place[w->ring[i].first + k] = (Buf){ .group = NEVER, .lo = lo + k * bytes,
				.hi = lo + (k + 1) * bytes };
	}
}

bool chk_copies(Check *c, const Fn *fn)
{
	Walk w = { .c = c };
	bool any = false;
	ir_walk(fn->body, find_copies, &any);
	if (!any) return true;
	ArenaMark mark = arena_mark(A_TMP);
	ir_walk(fn->body, count_ring, &w);
	w.ring = NEW_ARRAY(A_TMP, Ring, w.nring + 1);
	w.nring = w.nplace = 0;
	ir_walk(fn->body, count_ring, &w);
	w.cursor = NEW_ARRAY(A_TMP, int, fn->nval + 1);
	bool ok = true;
	for (; ok && w.iterations <= w.most; w.iterations++) {
		begin(&w);
		ok = walk_block(&w, fn->body);
	}
	if (ok && w.s.open) {
		c->op = NULL;
		ok = chk_fail(c, "the last `copy_async` is in no group: `copy_commit` is missing");
	}
	arena_release(A_TMP, mark);
	return ok;
}
