/* remat: tiles that live across a barrier occupy few registers.
 *
 * Between two barriers a thread holds what it needs after the second one. If that follows, in a few instructions, from
 * a tile of elements of one or two bytes packed into words, only the words are held and the rest is computed once more
 * (rematerialised): a row of bf16 takes half the registers that it takes as f32. The operation `opaque` hides from nvcc
 * that it could keep the unpacked elements.
 *
 * Small loads that are needed after a barrier (the weights of a row) are issued before it, so that they arrive
 * meanwhile. Rows that are accessed by single elements (unaligned.c) are excluded: their loads fill a register for each
 * element, and the warps that these registers displace cost more than the wait. Loops that hold the tiles of their next
 * iteration (prefetch.c) are excluded as well: they have registers enough, and rematerialising only costs instructions.
 *
 * What a thread holds at a barrier determines the registers that the kernel needs (Fn.held). The launch bounds request
 * as many thread blocks as fit an SM with that many registers: the more blocks are resident, the less each wait costs.
 * Figures: bench/notes/rows.md. */
#include "base/diag.h"
#include "lower/placed.h"

enum {
	TOO_MUCH = 1 << 20,
	DEPTH = 12,             /* of expressions that are looked at */
	ROUNDS = 8
};

typedef struct Remat {
	Fn *fn;
	const LowerCx *cx;
	const bool *rare;       /* by Val id: only one element of a row needs it (rare.c) */
	const bool *far;        /* by Val id: needed after a wait for more than that */
	int nval;               /* values that the pass did not make */
	bool loads;             /* move loads; else compute */
	int *place;             /* by Val id: in which stretch between waits it is computed */
	Val **made;             /* by Val id: the newest copy */
	int *made_in;           /* in this stretch */
	int now, last;          /* this stretch; the newest */
	IrBlock *block;
	bool crosses;           /* does this stretch begin with a wait, or with a loop's body? */
	Op *wait;               /* of this block, that begins it; NULL: none does */
	int held;               /* words, at `wait` */
	int changes;
} Remat;

static bool waits(const Op *op)
{
	if (op->code == OP_EXCHANGE) return !op_broadcasts(op);
	return op->code == OP_LOAD_SHARED || op->code == OP_BARRIER || (scratch_bytes(op) > 0 && !op->nregion);
}

static int registers_of(const Val *v) { return type_is_tile(v->type) && v->lay ? 1 << v->lay->in[HW_REG] : 0; }

/* Words of a thread that hold v. */
static int words_of(const Val *v) { return (int)((registers_of(v) * (int64_t)elem_bytes(v->type->elem) + 3) / 4); }

static bool is_packed(const Val *v)
{
	return registers_of(v) >= COST_TILE_REGS && v->type->elem != EL_BOOL && elem_bytes(v->type->elem) <= 2;
}

static bool is_old(const Remat *a, const Val *v) { return v->id < a->nval; }

/* ---- what is rematerialised ---- */
typedef struct Cost { int effort, leaves; } Cost;      /* leaves: packed tiles that only this keeps */

/* Of one operation. An exponential is few instructions where relax.c says so, and worth them where as much is held as
 * would leave no room for other thread blocks. */
static int effort_of(const Remat *a, const Val *v, bool rare)
{
	const Op *op = v->def;
	if (op_has(op, OPF_CHEAP)) return elem_bytes(v->type->elem) <= 4 ? 1 : TOO_MUCH;
	if (rare && op->code == OP_EXP) return 1;
	bool exp = op->code == OP_EXP || op->code == OP_EXP2;
	bool much = a->cx->peels && ir_int(op, AT_ROUNDING, 0) && words_of(v) > COST_WAIT_HELD;
	return exp && much ? COST_REMAT_EXP : TOO_MUCH;
}

/* What only one element needs costs nothing, whatever it is. */
static void price(const Remat *a, Val *v, int depth, bool rare, Cost *c)
{
	const Op *op = v->def;
	if (registers_of(v) < COST_TILE_REGS) return;
	if (is_packed(v)) {
		c->leaves += op && op->parent == a->block;
		return;
	}
	if (!op || !depth) {
		c->effort = TOO_MUCH;
		return;
	}
	bool moves = op_has(op, OPF_FREE | OPF_PLACE) || op->code == OP_CONVERT_REGS;
	if (!moves) c->effort += effort_of(a, v, rare);
	for (int i = 0; i < op->nin && c->effort <= COST_REMAT_SLOTS; i++) price(a, ir_in(op, i), depth - 1, rare, c);
}

static bool is_worth(const Remat *a, Val *v, bool rare)
{
	Cost c = { 0, 0 };
	if (!is_old(a, v) || is_packed(v) || registers_of(v) < COST_TILE_REGS || !v->def) return false;
	price(a, v, DEPTH, rare, &c);
	return c.effort > 0 && c.effort <= COST_REMAT_SLOTS && c.leaves <= 1;
}

/* A copy made in an inner block is not known after it. */
static Val *newest(const Remat *a, Val *v)
{
	Val *r = a->made[v->id];
	return r && r->def->parent == a->block ? r : v;
}

static Val *copy_of(Remat *a, Builder *b, Val *v)
{
	if (!is_old(a, v) || registers_of(v) < COST_TILE_REGS || a->place[v->id] == a->now) return v;
	if (a->made[v->id] && a->made_in[v->id] == a->now) return a->made[v->id];
	Op *op = v->def, *to;
	if (is_packed(v)) {
		Val *from = newest(a, v);
		to = ir_op(b, OP_OPAQUE, 1, &from, 1, &v->type);
	} else {
		Val **in = NEW_ARRAY(A_TMP, Val *, op->nin);
		for (int i = 0; i < op->nin; i++) in[i] = copy_of(a, b, ir_in(op, i));
		to = ir_op(b, op->code, op->nin, in, 1, &v->type);
		copy_attrs(to, op);
		to->span = op->span;
	}
	to->out[0]->name = v->name;
	to->out[0]->lay = v->lay;
	a->made[v->id] = to->out[0];
	a->made_in[v->id] = a->now;
	a->changes++;
	return to->out[0];
}

/* ---- loads before a wait ---- */
/* Can op stand before the wait, with the scalars that it needs? */
static bool may_move(const Remat *a, const Op *op, int depth)
{
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		const Op *d = v->def;
		if (d && d == a->wait) return false;            /* regions that end in an index */
		if (a->place[v->id] != a->now) continue;
		if (!d || !depth || type_is_tile(v->type) || !op_is_pure(d)
			|| !may_move(a, d, depth - 1)) return false;
	}
	return true;
}

static void move(Remat *a, Op *op)
{
	for (int i = 0; i < op->nin; i++)
		if (a->place[ir_in(op, i)->id] == a->now) move(a, ir_in(op, i)->def);
	ir_move_before(op, a->wait);
	a->changes++;
	for (int i = 0; i < op->nout; i++) a->place[op->out[i]->id] = 0;
}

/* Words that are held at the wait for what comes after it in its block. */
static int held_at(const Remat *a, const Op *wait)
{
	bool *seen = NEW_ARRAY(A_TMP, bool, a->nval);
	int n = 0;
	for (const Op *op = wait->prev; op; op = op->prev)
		for (int i = 0; i < op->nout; i++) seen[op->out[i]->id] = true;
	for (const Op *op = wait->next; op; op = op->next)
		for (int i = 0; i < op->nin; i++) {
			const Val *v = ir_in(op, i);
			if (!seen[v->id]) continue;
			seen[v->id] = false;
			if (registers_of(v) >= COST_TILE_REGS && !op_is_made(v->def)) n += words_of(v);
		}
	return n;
}

static void visit_load(Remat *a, Op *op)
{
	const Val *r = op->out[0];
	int words = words_of(r);
	if (!a->wait || registers_of(r) < COST_TILE_REGS) return;
	if (!memory_is_constant(a->fn, ir_in(op, 0)) || one_thread_reads(op)) return;
	if (a->held < 0) a->held = held_at(a, a->wait);
	if (words > COST_WAIT_LOADED || a->held + words > COST_WAIT_HELD || !may_move(a, op, DEPTH)) return;
	move(a, op);
	a->held += words;
}

/* ---- the pass ---- */
static void begin(Remat *a, Op *wait)
{
	a->now = ++a->last;
	a->wait = wait;
	a->held = -1;
}

static void visit_operands(Remat *a, Op *op)
{
	bool rare = op->nout == 1 && a->rare[op->out[0]->id];
	for (int i = 0; i < op->nin; i++) {
		Val *v = ir_in(op, i);
		if (!is_old(a, v) || registers_of(v) < COST_TILE_REGS || a->place[v->id] == a->now) continue;
		Builder b = build_before(op);
		if (is_packed(v) ? op->code == OP_CAST : is_worth(a, v, rare && !a->far[v->id])) op->in[i] = copy_of(a, &b, v);
	}
}

static void visit_block(Remat *a, IrBlock *b, bool loop);

static void visit(Remat *a, Op *op)
{
	bool loop = op_has(op, OPF_LOOP);
	if (a->loads && op->code == OP_LOAD) visit_load(a, op);
	if (!a->loads && a->crosses && !op->nregion && !op_has(op, OPF_TERM)) visit_operands(a, op);
	for (int i = 0; i < op->nregion; i++) visit_block(a, op->region[i], loop);
	for (int i = 0; i < op->nout; i++) a->place[op->out[i]->id] = a->now;
	if (!waits(op) && !op->nregion) return;
	begin(a, op);
	a->crosses = true;
}

static void visit_block(Remat *a, IrBlock *b, bool loop)
{
	Remat outer = *a;
	begin(a, NULL);
	a->block = b;
	a->crosses = loop;
	for (int i = 0; i < b->args.n; i++) a->place[b->args.p[i]->id] = a->now;
	for (Op *op = b->first, *next; op; op = next) {
		next = op->next;
		visit(a, op);
	}
	a->block = outer.block;
	a->crosses = outer.crosses;
}

typedef struct Far { const bool *rare; bool *far; int *place, now; } Far;

static void find_far(void *ctx, Op *op)
{
	Far *f = ctx;
	bool rare = op->nout == 1 && f->rare[op->out[0]->id];
	for (int i = 0; i < op->nin && !rare; i++)
		if (f->place[ir_in(op, i)->id] != f->now) f->far[ir_in(op, i)->id] = true;
	f->now += waits(op) || op->nregion;
	for (int i = 0; i < op->nout; i++) f->place[op->out[i]->id] = f->now;
}

static int walk(Fn *fn, const LowerCx *cx, bool loads)
{
	ir_number(fn);
	Far f = { rare_values(fn, A_TMP), NEW_ARRAY(A_TMP, bool, fn->nval), NEW_ARRAY(A_TMP, int, fn->nval), 0 };
	ir_walk(fn->body, find_far, &f);
	Remat a = { .fn = fn, .cx = cx, .rare = f.rare, .far = f.far, .nval = fn->nval, .loads = loads,
		.place = NEW_ARRAY(A_TMP, int, fn->nval),
		.made = NEW_ARRAY(A_TMP, Val *, fn->nval), .made_in = NEW_ARRAY(A_TMP, int, fn->nval) };
	visit_block(&a, fn->body, false);
	return a.changes;
}

/* What was made in one walk may wait, too: it is old for the next. true: nothing is left to do. */
static bool rematerialise_all(Fn *fn, const LowerCx *cx)
{
	for (int i = 0; i < ROUNDS; i++)
		if (!walk(fn, cx, false)) return true;
	return false;
}

static void find_held(void *ctx, Op *op)
{
	*(bool *)ctx |= op->code == OP_LOAD && !op_loads_one(op) && ir_int(op, AT_HELD, 0) == COST_HOLD_CARRIED;
}

/* Loads move when it is known how little the waits hold; then what they bring stays packed, too. */
void pass_remat(Module *m, const LowerCx *cx)
{
	for (int i = 0; i < m->fns.n; i++) {
		Fn *fn = m->fns.p[i];
		bool held = false;
		ir_walk(fn->body, find_held, &held);
		if (fn->by_element || held) continue;
		bool done = rematerialise_all(fn, cx);
		if (walk(fn, cx, true) || !done) rematerialise_all(fn, cx);
	}
}
