/* The order of what a role does: buffers that copies or products may still read, fences, waits, and where an
 * operation may stand. Each role is run once on paper: a loop's body twice, with its carried values; both sides of
 * an `if`, whose states are then put together, unless constants decide it. A buffer is told from another by its ring
 * and the number of its place: a root that nothing is known about, and a distance from it (constants added, cursors
 * advanced). Places with different roots may be the same; about them nothing is said here, and `sim` sees them. */
#include "ir/ir_check.h"

enum { ACQUIRE_RELEASE = 3 };   /* of attribute order */
enum { ITERATIONS = 2 };      /* of a loop, on paper */

typedef struct Num2 { int root, off; } Num2;   /* root -1: the number off itself */
typedef struct Spot { const Val *ring; Num2 at; } Spot;
typedef enum Written { WRITTEN, FENCED, READY } Written;
typedef struct Write { Spot at; Written state; } Write;
typedef struct Store { Spot at; int group; bool waited, met; } Store;
typedef struct Read { Spot at; int group; } Read;
typedef struct Wait { Num2 at; int group; bool met; } Wait;     /* group: of the first product after it, -1: none yet */

typedef struct State {
	VEC(Write) writes;      /* by threads, of buffers */
	VEC(Store) stores;      /* copies out of buffers, by hardware */
	VEC(Read) reads;        /* of buffers, by products */
	VEC(Wait) waits;
	VEC(const Val *) sent;  /* rings (NULL: tensors) to which other thread blocks send registers, before all have met */
	bool reaches;           /* it has reached into the shared memory of other thread blocks since they last met */
	int commits;            /* groups of copies */
	int products, done;     /* groups of products: committed, known to be over */
} State;

typedef struct Known { const Op *op; Num2 in[3]; int root; } Known;

typedef struct Walk {
	Check *c;
	State s;
	Num2 *num;              /* by value */
	Spot *place;
	int *group;             /* of the last product of an async value */
	VEC(Known) known;
	int roots;
	bool one_warp, elect;
	int warps;
	const Op *role;
} Walk;

/* ---- numbers ---- */
static bool same_num(Num2 a, Num2 b) { return a.root == b.root && a.off == b.off; }

static bool same_place(Spot a, Spot b) { return a.ring == b.ring && a.ring && same_num(a.at, b.at); }

static int fresh(Walk *w) { return w->roots++; }

/* The same operation on the same numbers gives the same number. */
static int root_of(Walk *w, const Op *op)
{
	Known k = { .op = op };
	for (int i = 0; i < 3; i++) k.in[i] = i < op->nin ? w->num[ir_in(op, i)->id] : (Num2){ -1, 0 };
	for (int i = 0; i < w->known.n; i++) {
		const Known *q = &w->known.p[i];
		if (q->op == op && same_num(q->in[0], k.in[0]) && same_num(q->in[1], k.in[1]) && same_num(q->in[2], k.in[2]))
			return q->root;
	}
	k.root = fresh(w);
	vec_push(A_TMP, &w->known, k);
	return k.root;
}

static Num2 number_of(Walk *w, const Op *op)
{
	Num n;
	if (ir_const_value(op->out[0], &n) && type_is_scalar(op->out[0]->type)) return (Num2){ -1, (int)n.i };
	if (op->code == OP_ADVANCE) {
		Num2 x = w->num[ir_in(op, 0)->id];
		return (Num2){ x.root, (x.off + 1) % op->out[0]->type->count };
	}
	if (op->nin == 2) {
		Num2 x = w->num[ir_in(op, 0)->id], y = w->num[ir_in(op, 1)->id];
		bool equal = same_num(x, y), apart = x.root == y.root && x.off != y.off;
		if ((op->code == OP_EQ || op->code == OP_NE) && (equal || apart))
			return (Num2){ -1, equal == (op->code == OP_EQ) };
		if (op->code == OP_LT && x.root == -1 && y.root == -1) return (Num2){ -1, x.off < y.off };
	}
	for (int i = 0; op->code == OP_ADD && i < 2; i++)
		if (ir_const_value(ir_in(op, i), &n)) {
			Num2 x = w->num[ir_in(op, 1 - i)->id];
			return (Num2){ x.root, x.off + (int)n.i };
		}
	return (Num2){ root_of(w, op), 0 };
}

static void bind(Walk *w, const Val *to, const Val *from)
{
	w->num[to->id] = w->num[from->id];
	w->place[to->id] = w->place[from->id];
	w->group[to->id] = w->group[from->id];
}

/* ---- buffers that threads write and hardware reads ---- */
static void event_write(Walk *w, const Op *op)
{
	Spot at = w->place[ir_in(op, 0)->id];
	for (int i = 0; i < w->s.stores.n; i++) {
		const Store *s = &w->s.stores.p[i];
		if (!same_place(s->at, at)) continue;
		if (!s->waited) chk_fail(w->c, "the last store of this buffer may still read it: no bulk_wait covers it");
		else if (!s->met) chk_fail(w->c,
			"only one thread knows that the last store has read this buffer: a group_barrier is missing");
	}
	for (int i = 0; i < w->s.writes.n; i++)
		if (same_place(w->s.writes.p[i].at, at)) {
			w->s.writes.p[i].state = WRITTEN;
			return;
		}
	vec_push(A_TMP, &w->s.writes, ((Write){ at, WRITTEN }));
}

static void need_ready(Walk *w, Spot at)
{
	for (int i = 0; i < w->s.writes.n; i++) {
		const Write *x = &w->s.writes.p[i];
		if (!same_place(x->at, at) || x->state == READY) continue;
		chk_fail(w->c, x->state == WRITTEN ? "hardware reads what threads wrote without a proxy_fence after it"
			: "hardware reads what other threads wrote: a barrier after their proxy_fence is missing");
	}
}

static void event_store(Walk *w, const Op *op)
{
	Spot at = w->place[ir_in(op, 1)->id];
	need_ready(w, at);
	int n = 0;
	for (int i = 0; i < w->s.stores.n; i++)
		if (!same_place(w->s.stores.p[i].at, at)) w->s.stores.p[n++] = w->s.stores.p[i];
	w->s.stores.n = n;
	vec_push(A_TMP, &w->s.stores, ((Store){ at, w->s.commits, false, false }));
}

static void event_bulk_wait(Walk *w, int pending)
{
	for (int i = 0; i < w->s.stores.n; i++) {
		Store *s = &w->s.stores.p[i];
		if (s->group < w->s.commits - pending) s->waited = true;
	}
}

static void event_barrier(Walk *w)
{
	for (int i = 0; i < w->s.writes.n; i++)
		if (w->s.writes.p[i].state == FENCED) w->s.writes.p[i].state = READY;
	for (int i = 0; i < w->s.stores.n; i++) w->s.stores.p[i].met |= w->s.stores.p[i].waited;
	for (int i = 0; i < w->s.waits.n; i++) w->s.waits.p[i].met = true;
}

/* ---- products ---- */
static void event_wgmma(Walk *w, const Op *op)
{
	int g = w->s.products;
	w->group[op->out[0]->id] = g;
	for (int i = 1; i <= 2; i++) {
		const Val *v = ir_in(op, i);
		if (v->type->kind != TY_SHARED) continue;
		need_ready(w, w->place[v->id]);
		vec_push(A_TMP, &w->s.reads, ((Read){ w->place[v->id], g }));
	}
	for (int i = 0; i < w->s.waits.n; i++)
		if (w->s.waits.p[i].group < 0) w->s.waits.p[i].group = g;
}

static void event_wgmma_wait(Walk *w, const Op *op)
{
	int pending = (int)ir_int(op, AT_PENDING, 0), done = w->s.products - pending;
	if (done > w->s.done) w->s.done = done;
	for (int i = 0; i < op->nin; i++) {
		int g = w->group[ir_in(op, i)->id];
		if (g >= w->s.products) chk_fail(w->c, "operand %d is part of a product that is not committed", i);
		else if (g >= w->s.done)
			chk_fail(w->c, "the group of operand %d may still run: %d groups are left pending", i, pending);
	}
}

static void event_wait(Walk *w, const Op *op)
{
	Num2 at = w->num[ir_in(op, 1)->id];
	int n = 0;
	for (int i = 0; i < w->s.waits.n; i++)
		if (!same_num(w->s.waits.p[i].at, at)) w->s.waits.p[n++] = w->s.waits.p[i];
	w->s.waits.n = n;
	vec_push(A_TMP, &w->s.waits, ((Wait){ at, -1, false }));
}

/* An arrival says that the group is done with this place of its ring. */
static void event_arrive(Walk *w, const Op *op)
{
	enum { BY_GROUP };
	Num2 at = w->num[ir_in(op, 1)->id];
	int count = ir_in(op, 1)->type->count;
	for (int i = 0; i < w->s.reads.n; i++) {
		const Read *r = &w->s.reads.p[i];
		if (r->at.ring && r->at.ring->type->count == count && same_num(r->at.at, at) && r->group >= w->s.done)
			chk_fail(w->c, "a product may still read the buffer that is given back: no wgmma_wait covers it");
	}
	for (int i = 0; i < w->s.waits.n; i++) {
		const Wait *x = &w->s.waits.p[i];
		bool met = x->met || (x->group >= 0 && x->group < w->s.done);
		if (same_num(x->at, at) && !met && w->warps > 1 && !w->one_warp && ir_int(op, AT_BY, 0) == BY_GROUP)
			chk_fail(w->c, "one thread arrives for a group whose other warps may not have passed their mbar_wait: "
				"a finished product or a group_barrier between them is missing");
	}
	for (int i = 0; i < w->s.writes.n; i++)
		if (w->s.writes.p[i].state == WRITTEN && same_num(w->s.writes.p[i].at.at, at))
			chk_fail(w->c, "threads wrote the buffer that is handed over, without a proxy_fence after it");
}

/* Registers of a factor are lent anew: what reads the ones before must be over. */
static void event_fence(Walk *w, const Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		const Val *x = ir_in(op, i);
		w->group[op->out[i]->id] = x->type->kind == TY_ASYNC ? w->group[x->id] : -1;
	}
}

/* ---- one operation ---- */
static void walk_block(Walk *w, const IrBlock *b);

/* Groups of copies are counted back from the last one: so many more of them may be left pending. */
static void join(State *a, const State *b)
{
	for (int i = 0; i < b->writes.n; i++) vec_push(A_TMP, &a->writes, b->writes.p[i]);
	for (int i = 0; i < b->stores.n; i++) {
		vec_push(A_TMP, &a->stores, b->stores.p[i]);
		a->stores.p[a->stores.n - 1].group += a->commits - b->commits;
	}
	for (int i = 0; i < b->reads.n; i++) vec_push(A_TMP, &a->reads, b->reads.p[i]);
	for (int i = 0; i < b->waits.n; i++) vec_push(A_TMP, &a->waits, b->waits.p[i]);
	for (int i = 0; i < b->sent.n; i++) vec_push(A_TMP, &a->sent, b->sent.p[i]);
	a->reaches |= b->reaches;
}

static State copy_state(const State *s)
{
	State r = { .commits = s->commits, .products = s->products, .done = s->done };
	join(&r, s);
	return r;
}

static bool same_events(const State *a, const State *b)
{
	return a->writes.n == b->writes.n && a->stores.n == b->stores.n && a->reads.n == b->reads.n
		&& a->waits.n == b->waits.n
		&& a->sent.n == b->sent.n && a->reaches == b->reaches;
}

static void walk_branch(Walk *w, const Op *op, const IrBlock *b)
{
	walk_block(w, b);
	for (int i = 0; i < op->nout && b->last->code == OP_YIELD; i++) bind(w, op->out[i], ir_in(b->last, i));
}

static void walk_if(Walk *w, const Op *op)
{
	Num2 test = w->num[ir_in(op, 0)->id];
	if (test.root == -1) {
		walk_branch(w, op, op->region[test.off ? 0 : 1]);
		return;
	}
	State before = copy_state(&w->s);
	walk_block(w, op->region[0]);
	const Op *end = op->region[0]->last;
	bool ends = end->code != OP_YIELD;
	for (int i = 0; i < op->nout && !ends; i++) bind(w, op->out[i], ir_in(end, i));
	State then = w->s;
	w->s = before;
	walk_block(w, op->region[1]);
	end = op->region[1]->last;
	if (end->code != OP_YIELD) {
		w->s = then;
		return;
	}
	for (int i = 0; i < op->nout; i++)
		if (ends || !same_num(w->num[op->out[i]->id], w->num[ir_in(end, i)->id])) {
			bind(w, op->out[i], ir_in(end, i));
			if (!ends) w->num[op->out[i]->id] = (Num2){ fresh(w), 0 };
		}
	if (ends) return;
	if (!same_events(&w->s, &then)) join(&w->s, &then);
	if (then.done < w->s.done) w->s.done = then.done;
}

static void walk_for(Walk *w, const Op *op)
{
	const IrBlock *b = op->region[0];
	for (int i = 1; i < b->args.n; i++) bind(w, b->args.p[i], ir_in(op, 2 + i));
	for (int iteration = 0; iteration < ITERATIONS && !w->c->msg; iteration++) {
		w->num[b->args.p[0]->id] = iteration ? (Num2){ fresh(w), 0 } : w->num[ir_in(op, 0)->id];
		walk_block(w, b);
		for (int i = 0; i < op->nout && b->last->code == OP_YIELD; i++) bind(w, op->out[i], ir_in(b->last, i));
		for (int i = 0; i < op->nout && b->last->code == OP_YIELD; i++) bind(w, b->args.p[1 + i], op->out[i]);
	}
}

static void walk_while(Walk *w, const Op *op)
{
	const IrBlock *test = op->region[0], *body = op->region[1];
	for (int i = 0; i < test->args.n; i++) bind(w, test->args.p[i], ir_in(op, i));
	for (int iteration = 0; iteration < ITERATIONS && !w->c->msg; iteration++) {
		walk_block(w, test);
		for (int i = 0; i < body->args.n && test->last->code == OP_CONDITION; i++)
			bind(w, body->args.p[i], ir_in(test->last, 1 + i));
		walk_block(w, body);
		for (int i = 0; i < test->args.n && body->last->code == OP_YIELD; i++)
			bind(w, test->args.p[i], ir_in(body->last, i));
	}
	for (int i = 0; i < op->nout; i++) bind(w, op->out[i], body->args.p[i]);
}

static void walk_region(Walk *w, const Op *op, bool *inside)
{
	bool outer = *inside;
	*inside = true;
	walk_block(w, op->region[0]);
	*inside = outer;
}

static bool chk_where(Walk *w, const Op *op)
{
	Check *c = w->c;
	if (op_is(op, OPT_ONE_THREAD)) NEED(w->elect, "this is done by one thread: it stands in an `elect`");
	if (op_is(op, OPT_WARPGROUP))
		NEED(!w->elect && !w->one_warp && w->warps == 4,
			"all four warps of a warpgroup take part: not in `elect`, not in `one_warp`");
	if (op_is(op, OPT_WARP_OR_GROUP)) NEED(!w->elect, "all threads of the group take part: not in `elect`");
	if (op_is(op, OPT_WHOLE_GROUP))
		NEED(!w->elect && !w->one_warp, "all threads of the group take part: not in `elect`, not in `one_warp`");
	switch (op->code) {
	case OP_DRAW:
		NEED(!w->elect && (w->one_warp || w->warps == 1), "one warp draws: in a role of one or in `one_warp`");
		return true;
	case OP_CLUSTER_BARRIER:
		NEED(!w->elect && !w->one_warp, "all threads of the cluster take part: not in `elect`, not in `one_warp`");
		return true;
	default: return true;
	}
}

static void all_sent(Walk *w, bool rings)
{
	int n = 0;
	for (int i = 0; i < w->s.sent.n; i++)
		if ((w->s.sent.p[i] != NULL) != rings) w->s.sent.p[n++] = w->s.sent.p[i];
	w->s.sent.n = n;
}

static void walk_op(Walk *w, const Op *op)
{
	if (!chk_where(w, op)) return;
	switch (op->code) {
	case OP_FOR: walk_for(w, op); return;
	case OP_WHILE: walk_while(w, op); return;
	case OP_IF: walk_if(w, op); return;
	case OP_ONE_WARP: walk_region(w, op, &w->one_warp); return;
	case OP_ELECT: walk_region(w, op, &w->elect); return;
	case OP_SLOT: w->place[op->out[0]->id] = (Spot){ ir_in(op, 0), w->num[ir_in(op, 1)->id] }; return;
	case OP_PART: w->place[op->out[0]->id] = w->place[ir_in(op, 0)->id]; return;
	case OP_STMATRIX: case OP_STORE_SHARED: event_write(w, op); return;
	case OP_STORE_REGS:
		if (op->nin < 3 && ir_in(op, 0)->type->kind == TY_SHARED) event_write(w, op);
		else vec_push(A_TMP, &w->s.sent, w->place[ir_in(op, 0)->id].ring);
		w->s.reaches |= op->nin > 2;
		return;
	case OP_LOAD_REGS:
		for (int i = 0; i < w->s.sent.n; i++)
			if (w->s.sent.p[i] == w->place[ir_in(op, 0)->id].ring)
				chk_fail(w->c, "other thread blocks may still send: a %s is missing",
					w->s.sent.p[i] ? "cluster_barrier {order = acquire_release}" : "grid_barrier");
		return;
	case OP_PROXY_FENCE:
		for (int i = 0; i < w->s.writes.n; i++)
			if (w->s.writes.p[i].state == WRITTEN) w->s.writes.p[i].state = FENCED;
		return;
	case OP_CLUSTER_BARRIER:
		if (ir_int(op, AT_ORDER, 0) == ACQUIRE_RELEASE) {
			all_sent(w, true);
			w->s.reaches = false;
		}
		event_barrier(w);
		return;
	case OP_GRID_BARRIER:
		all_sent(w, false);
		event_barrier(w);
		return;
	case OP_GRID_SIGNAL:            /* what is sent has a reader in another thread block */
		all_sent(w, false);
		event_barrier(w);
		return;
	case OP_GRID_AWAIT: return;
	case OP_GROUP_BARRIER: event_barrier(w); return;
	case OP_TMA_STORE: event_store(w, op); return;
	case OP_BULK_COMMIT: w->s.commits++; return;
	case OP_BULK_WAIT: event_bulk_wait(w, (int)ir_int(op, AT_PENDING, 0)); return;
	case OP_WGMMA_FENCE: event_fence(w, op); return;
	case OP_WGMMA: event_wgmma(w, op); return;
	case OP_WGMMA_COMMIT: w->s.products++; return;
	case OP_WGMMA_WAIT: event_wgmma_wait(w, op); return;
	case OP_MBAR_WAIT: event_wait(w, op); return;
	case OP_MBAR_ARRIVE:
		w->s.reaches |= op->nin > 2;
		event_arrive(w, op);
		return;
	default: break;
	}
	for (int i = 0; i < op->nregion; i++) walk_block(w, op->region[i]);
	for (int i = 0; i < op->nout; i++) w->num[op->out[i]->id] = i ? (Num2){ fresh(w), 0 } : number_of(w, op);
}

static void walk_block(Walk *w, const IrBlock *b)
{
	for (const Op *op = b->first; op && !w->c->msg; op = op->next) {
		w->c->op = op;
		walk_op(w, op);
	}
}

bool chk_role_order(Check *c, const Fn *fn, const Op *role, bool *reaches)
{
	Walk w = { .c = c, .role = role, .warps = (int)ir_int(role, AT_WARPS, 4) };
	w.num = NEW_ARRAY(A_TMP, Num2, fn->nval);
	w.place = NEW_ARRAY(A_TMP, Spot, fn->nval);
	w.group = NEW_ARRAY(A_TMP, int, fn->nval);
	for (int i = 0; i < fn->nval; i++) {
		w.num[i] = (Num2){ fresh(&w), 0 };
		w.group[i] = -1;
	}
	for (const Op *op = fn->body->first; op; op = op->next) {
		Num n;
		if (op->nout == 1 && ir_const_value(op->out[0], &n)) w.num[op->out[0]->id] = (Num2){ -1, (int)n.i };
	}
	walk_block(&w, role->region[0]);
	c->op = role;
	for (int i = 0; i < w.s.stores.n; i++)
		NEED(w.s.stores.p[i].waited, "the role ends while stores may still read its buffers: a bulk_wait is missing");
	NEED(w.s.done >= w.s.products, "the role ends while its products may still run: a wgmma_wait is missing");
	*reaches |= w.s.reaches;
	return !c->msg;
}
