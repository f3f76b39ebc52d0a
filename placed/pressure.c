/* How many registers a thread of a placed version needs: one walk over its operations, for the pass that chooses launch
 * bounds and for --explain-schedule; tests/cuda/registers.py compares the estimate with ptxas.
 *
 * A stretch of operations (ir/stretches.h) ends where threads wait for each other, where lanes combine values (later
 * operations need the whole tile, so values used on both sides are live), and where a loop or a branch begins or ends.
 * Values defined before a loop and used in it live as long as the loop; a carried value replaces the previous
 * iteration's. Tiles of two iterations are live where one loads the next one's ({held}), and of several where their
 * loads are issued together ({jam}). Elements of less than 32 bits share a register, except those that are loaded one
 * by one and used immediately. Values that nvcc rematerialises at no cost, such as constants and numbers of elements,
 * do not count, and tiles of few elements count with the scalars. */
#include "base/machine.h"
#include "ir/stretches.h"
#include "placed/loops.h"

typedef struct Held { const Val *v; Life life; } Held;

typedef struct Walk {
	const Fn *fn;
	const bool *splat;
	int *held;              /* by Val id: the place in `tiles` of whose registers the value names; -1: of none */
	VEC(Held) tiles;
	VEC(const Op *) first;  /* of each stretch from 1 on */
	int now;                /* the stretch */
	bool math, stores, draws, scans, sorts;
	int beside;             /* tiles that a scan has beside its first */
} Walk;

static int middle(const Walk *w) { return 2 * w->now; }

static void next_stretch(Walk *w, const Op *op)
{
	w->now++;
	vec_push(A_TMP, &w->first, op);
}

/* ---- words ---- */
/* Tiles that overlap share the registers of their patch: the first stands for all. */
static int64_t regs_of_patch(const Val *v)
{
	Patch p;
	const Op *op = v->def;
	if (v != op->out[0]) return 0;
	bool box = patch_of(*v->lay, op->nout, ir_attr(op, AT_OFFSETS)->u.ints.p, &p);
	return box ? p.wanted : (int64_t)regs_of(v) * op->nout;
}

static bool is_loaded_apart(const Fn *fn, const Op *op)
{
	if (op->code == OP_GATHER || op->code == OP_LOAD_PTR) return true;
	if (op->code != OP_LOAD && op->code != OP_LOADS) return false;
	int64_t ways = ir_int(op, AT_WAYS, WAYS_ANY);
	return ways == WAYS_SINGLE || (ways == WAYS_ANY && !fn->aligned);
}

/* Iterations whose tiles of this value are there at once. */
static int64_t iterations_of(const Val *v)
{
	const Op *loop = v->def ? v->def->parent->owner : NULL;
	return loop && loop->code == OP_FOR && jam_asks(v->def) ? ir_int(loop, AT_JAM, 1) : 1;
}

static int words_of(const Fn *fn, const Held *h)
{
	const Op *def = h->v->def;
	int64_t n = def && def->code == OP_LOADS ? regs_of_patch(h->v) : regs_of(h->v) * iterations_of(h->v);
	if (held_in_words(h->v->type)) return (int)n;
	if (h->v->type->elem == EL_BOOL) return (int)((n + 31) / 32);   /* predicates, packed */
	int bytes = elem_bytes(h->v->type->elem);
	bool at_once = (h->life.begin + 1) / 2 == (h->life.end + 1) / 2;
	if (bytes < 4 && at_once && def && is_loaded_apart(fn, def)) bytes = 4;
	return (int)((n * bytes + 3) / 4);
}

/* ---- lives ---- */
static bool is_name(const Op *op)       /* of registers that another value has */
{
	if (op->code == OP_BROADCAST) return type_is_tile(ir_in(op, 0)->type);
	return op_renames(op) || op->code == OP_CONVERT_REGS || op->code == OP_OPAQUE;
}

static bool takes_registers(const Walk *w, const Val *v)
{
	bool many = (type_is_tile(v->type) && v->lay) || held_in_words(v->type) || v->type->kind == TY_ASYNC;
	if (!many || w->splat[v->id] || regs_of(v) * iterations_of(v) < COST_TILE_REGS) return false;
	return !v->def || !(op_is_made(v->def) || (v->def->code == OP_LITERAL && !v->def->nin));
}

static void begin(Walk *w, const Val *v, int at)
{
	w->held[v->id] = -1;
	if (v->def && type_is_tile(v->type) && is_name(v->def)) w->held[v->id] = w->held[ir_in(v->def, 0)->id];
	else if (takes_registers(w, v)) {
		Held h = { .v = v, .life = { .begin = at, .end = at } };
		w->held[v->id] = w->tiles.n;
		vec_push(A_TMP, &w->tiles, h);
	}
}

static void use(Walk *w, const Val *v, int at)
{
	int i = w->held[v->id];
	if (i >= 0 && w->tiles.p[i].life.end < at) w->tiles.p[i].life.end = at;
}

static void walk(Walk *w, const IrBlock *b);

typedef struct Loop { Walk *w; int begin, end; } Loop;

static void stay_in_loop(void *ctx, Op *op)
{
	const Loop *l = ctx;
	for (int i = 0; i < op->nin; i++) {
		int k = l->w->held[ir_in(op, i)->id];
		if (k >= 0 && l->w->tiles.p[k].life.begin < l->begin) use(l->w, ir_in(op, i), l->end);
	}
	if (op->code != OP_LOAD || !ir_int(op, AT_HELD, 0) || l->w->held[op->out[0]->id] < 0) return;
	Held next = { .v = op->out[0], .life = { .begin = l->begin, .end = l->end } };
	vec_push(A_TMP, &l->w->tiles, next);
}

static void walk_regions(Walk *w, const Op *op)
{
	next_stretch(w, op);
	Loop l = { .w = w, .begin = middle(w) - 1 };
	for (int r = 0; r < op->nregion; r++) {
		const IrBlock *b = op->region[r];
		for (int i = 0; i < b->args.n; i++) begin(w, b->args.p[i], middle(w) - 1);
		walk(w, b);
		for (int i = 0; b->last && i < b->last->nin && !b->last->nregion; i++)
			use(w, ir_in(b->last, i), middle(w) + 1);
	}
	l.end = middle(w) + 1;
	for (int r = 0; r < op->nregion && op_has(op, OPF_LOOP); r++) ir_walk(op->region[r], stay_in_loop, &l);
	next_stretch(w, op->next ? op->next : op);
}

static void walk_op(Walk *w, const Op *op)
{
	bool scan = op_is_scan(op), sort = op->code == OP_SORT || op->code == OP_TOPK;
	bool regions = op->nregion && !op_has(op, OPF_REDUCE | OPF_SCAN);
	bool waits = waits_for_threads(op) || op->code == OP_REDUCE_LANES;      /* whose result needs the whole tile */
	w->scans |= scan;
	if (scan && scan_values(op) - 1 > w->beside) w->beside = scan_values(op) - 1;
	w->sorts |= sort;
	w->draws |= op_has(op, OPF_RANDOM);
	w->math |= op_has(op, OPF_MATH) && !ir_int(op, AT_ROUNDING, 0) && regs_of(op->out[0]) >= COST_TILE_REGS;
	w->stores |= op->code == OP_STORE && regs_of(ir_accessed(op)) >= COST_TILE_REGS;
	if (waits && (scan || sort)) next_stretch(w, op);       /* in whose middle the operands are still there */
	for (int i = 0; i < op->nin; i++) use(w, ir_in(op, i), middle(w) + regions);
	if (waits && !scan && !sort) next_stretch(w, op);
	if (regions) walk_regions(w, op);
	bool early = op_has(op, OPF_READ) || regions;
	for (int i = 0; i < op->nout; i++) begin(w, op->out[i], middle(w) - early);
}

static void walk(Walk *w, const IrBlock *b)
{
	for (const Op *op = b->first; op; op = op->next) walk_op(w, op);
}

/* Words of tiles that are loaded for the stretch in which another is loaded, too; of each no more than ptxas loads
 * ahead. */
static int loaded_beside(const Walk *w, const Life *lives)
{
	int *loaded = NEW_ARRAY(A_TMP, int, 2 * w->now + 3), most = 0;  /* by the end of a life */
	for (int i = 0; i < w->tiles.n; i++) {
		if (!lives[i].sinks) continue;
		int *here = &loaded[lives[i].end];
		*here += lives[i].words < COST_TOGETHER ? lives[i].words : COST_TOGETHER;
		if (*here - COST_TOGETHER > most) most = *here - COST_TOGETHER;
	}
	return most;
}

Pressure pressure_of(const Fn *fn)
{
	ArenaMark mark = arena_mark(A_TMP);
	Walk w = { .fn = fn, .splat = splats_of(fn, A_TMP), .held = NEW_ARRAY(A_TMP, int, fn->nval) };
	for (int i = 0; i < fn->nval; i++) w.held[i] = -1;      /* such as those in functions of reductions and scans */
	next_stretch(&w, fn->body->first);
	for (int i = 0; i < fn->body->args.n; i++) begin(&w, fn->body->args.p[i], middle(&w) - 1);
	walk(&w, fn->body);
	Life *lives = NEW_ARRAY(A_TMP, Life, w.tiles.n);
	for (int i = 0; i < w.tiles.n; i++) {
		const Held *h = &w.tiles.p[i];
		lives[i] = h->life;
		lives[i].words = words_of(fn, h);
		lives[i].sinks = h->v->def && (h->v->def->code == OP_LOAD || h->v->def->code == OP_LOADS)
			&& h->life.end == h->life.begin + 1;
	}
	int where;
	Pressure p = { .words = stretches_most(lives, w.tiles.n, w.now, &where) };
	p.together = loaded_beside(&w, lives);
	p.at = where ? w.first.p[where - 1] : NULL;
	p.regs = p.words + COST_AROUND + (w.math && w.stores ? COST_FOR_MATH : 0) + (w.draws ? COST_FOR_RANDOM : 0)
		+ w.beside * COST_FOR_SCAN;
	p.taken = p.regs + (w.scans ? COST_FOR_SCAN : 0) + (w.sorts ? COST_FOR_SORT : 0);
	arena_release(A_TMP, mark);
	return p;
}

/* ---- what ptxas does with it ---- */
/* Registers of each thread where this many thread blocks share a multiprocessor. */
static int regs_most(int threads, int blocks)
{
	int n = machine_registers() / threads / (blocks ? blocks : 1) / REGS_UNIT * REGS_UNIT;
	return n > REGS_MOST ? REGS_MOST : n;
}

/* Given a number of thread blocks, ptxas 13.0 takes more than it needs, of those that they leave. */
int regs_taken(const Fn *fn, int threads, int blocks)
{
	int most = regs_most(threads, blocks), regs = pressure_of(fn).taken + (blocks ? COST_FILLED : 0);
	if (regs > most) return most;
	return regs < COST_REGS_LEAST ? COST_REGS_LEAST : regs;
}
