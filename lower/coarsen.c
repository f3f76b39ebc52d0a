/* coarsen: one tile block for several that lie side by side along an axis of the grid, where the author's tile is too
 * small for the accesses that it makes.
 *
 * Rows of a tile. Memory moves in sectors of 32 bytes and does best with lines of 128. A tile of several rows that are
 * shorter shares its lines with its neighbours, so that each is asked for by several thread blocks. What an access
 * costs beyond its bytes is taken as COST_RUN_BYTES bytes for each run of adjacent elements, and neighbours along the
 * runs are joined until that is little.
 *
 * Transpositions. A tile is stored row by row along one axis of the grid and loaded so along another, and how large it
 * is follows from shared memory: longer runs of one access are shorter ones of the other. A run that begins anywhere
 * ends within a line. Such lines are found in the cache when they are loaded again, but written in two parts they may
 * reach memory twice, so runs that are stored are to be longer than those that are loaded.
 *
 * Overlapping rows. A stencil of one row loads each row of its tensor once for each offset. Neighbours across the rows
 * are joined until most of what a tile loads is its own: then a thread reads what its elements share once (overlap).
 *
 * widen.c says which kernels can be joined so, and does it. A kernel whose author says how many warps or thread blocks
 * it takes is what he wants it to be. */
#include <limits.h>

#include "base/cost.h"
#include "base/diag.h"
#include "lower/pins.h"
#include "lower/placed.h"
#include "lower/space.h"
#include "lower/widen.h"

enum {
	/* Where all runs are lines the tile stays. In kernels with loops, blocks may be few, and only such runs are joined
	 * as are less than a sector, which is fetched as one, or of a tile of one row less than 8 bytes a lane. Log2. */
	ROW = 8,
	/* log2 of the elements of a joined tile: any; one that is transposed, which takes shared memory; one of overlapping
	 * rows; one that is reduced, by the warps of one thread block */
	MOST_MOVED = COST_TILE_MOST, MOST_TRANSPOSED = COST_TRANSPOSED_MOST, MOST_OVERLAP = COST_OVERLAP_MOST,
	MOST_REDUCED = LANES_LOG2 + 3 + COST_CLUSTER_REGS
};

typedef struct Coarse {
	const Widen *w;
	int64_t all, along, runs;       /* bytes accessed; those in runs that the neighbours continue; how many runs */
	bool loops;                     /* some accesses are in loops; */
	int longer;                     /* log2 of the neighbours whose runs are long enough there */
	int largest;                    /* log2 of the elements of a tile */
	bool cut;                       /* some runs are less than a line */
	bool works, turns, turned;      /* reduces or scans; permutes; transposes, and is joined for that already */
	int64_t far, extent;  /* how far overlapping loads lie apart along the axis, and the extent of their tile */
} Coarse;

static bool in_loop(const Op *op)
{
	const Op *o = op->parent->owner;
	while (o && o->code != OP_FOR) o = o->parent->owner;
	return o != NULL;
}

static void look_at_access(Coarse *c, const Op *op)
{
	const Val *view = ir_in(op, 0);
	const Type *t = op->code == OP_LOAD ? op->out[0]->type : ir_in(op, op->nin - 1)->type;
	if (!type_is_tile(t) || t->rank != view->type->rank) return;
	int a = widen_access(c->w, op);
	c->loops |= in_loop(op);
	c->all += type_bytes(t);
	if (a != fast_axis(c->w->fn, view) || !unit_axis(c->w->fn, view, a)) return;
	int run = t->log2[a] + elem_log2(t->elem);
	int least = type_log2_size(t) == t->log2[a] ? ROW : SECTOR_LOG2;
	if (in_loop(op) && least - run > c->longer) c->longer = least - run;
	if (type_log2_size(t) == t->log2[a]) return;
	c->along += type_bytes(t);
	c->runs += type_size(t) >> t->log2[a];
	c->cut |= run < LINE_LOG2;
}

static void look_at_overlap(void *ctx, const Op *x, const Op *y)
{
	Coarse *c = ctx;
	int a = widen_access(c->w, x);
	if (a < 0 || a == fast_axis(c->w->fn, ir_in(x, 0))) return;
	int64_t by = load_offset(y, a) - load_offset(x, a), extent = type_extent(x->out[0]->type, a);
	if (by < 0) by = -by;
	if (by * c->extent > c->far * extent || !c->extent) c->far = by, c->extent = extent;
}

static void look_at(void *ctx, Op *op)
{
	Coarse *c = ctx;
	for (int i = 0; i < op->nout; i++) {
		const Type *t = op->out[i]->type;
		if (type_is_tile(t) && op->code != OP_CONST && type_log2_size(t) > c->largest) c->largest = type_log2_size(t);
	}
	c->works |= op_is_reduce(op) || op_is_scan(op);
	c->turns |= op->code == OP_PERMUTE && type_is_tile(op->out[0]->type);
	if (op->code == OP_LOAD || op->code == OP_STORE) look_at_access(c, op);
}

/* log2 of how many tile blocks one is to be. */
static int wanted(const Coarse *c)
{
	int most = (c->works ? MOST_REDUCED : c->turns ? MOST_TRANSPOSED : MOST_MOVED) - c->largest, n = 0;
	if (c->loops) return c->longer < most ? c->longer : most;
	if (c->cut && !c->turned && c->runs * COST_RUN_BYTES * 100 > c->all * COST_RUNS_LEAST)
		while (n < most && (c->runs * COST_RUN_BYTES * 100 >> n) > c->along * COST_RUNS_MOST) n++;
	if (c->extent < COST_FEW_ROWS * c->far)
		while (n < MOST_OVERLAP - c->largest && c->extent << n < COST_ENOUGH_ROWS * c->far) n++;
	return n;
}

/* Short runs: without them or overlapping loads, whatever the axis, no neighbours are wanted. */
static void find_reason(void *ctx, Op *op)
{
	bool *found = ctx;
	if (*found || (op->code != OP_LOAD && op->code != OP_STORE)) return;
	const Type *t = op->code == OP_LOAD ? op->out[0]->type : ir_in(op, op->nin - 1)->type;
	int a = fast_axis(op->parent->fn, ir_in(op, 0));
	if (!type_is_tile(t)) return;
	*found = a < t->rank && t->log2[a] + elem_log2(t->elem) < ROW;
}

/* ---- transpositions ---- */
/* What a kernel accesses along an axis of the grid. log2 of elements: of the largest tile, of that which is loaded
 * across its rows, and of that which is stored along them. log2 of bytes: of the largest tile, and of the shortest runs
 * that are loaded and stored. */
typedef struct Turned { const Widen *w; int largest, across, along, bytes, run[2]; bool other; } Turned;

static int larger(int a, int b) { return a > b ? a : b; }

static void look_at_turned(void *ctx, Op *op)
{
	Turned *c = ctx;
	c->other |= op->nregion || op_is_reduce(op) || op_is_scan(op);
	for (int i = 0; i < op->nout; i++) {
		const Type *t = op->out[i]->type;
		if (!type_is_tile(t) || op->code == OP_CONST) continue;
		c->largest = larger(c->largest, type_log2_size(t));
		c->bytes = larger(c->bytes, type_log2_size(t) + elem_log2(t->elem));
	}
	if (op->code != OP_LOAD && op->code != OP_STORE) return;
	const Val *view = ir_in(op, 0);
	const Type *t = ir_accessed(op)->type;
	int a = widen_access(c->w, op), store = op->code == OP_STORE;
	if (!type_is_tile(t) || t->rank != view->type->rank || a < 0) return;
	if (a == fast_axis(c->w->fn, view) && unit_axis(c->w->fn, view, a)) {
		int run = t->log2[a] + elem_log2(t->elem);
		if (run < c->run[store]) c->run[store] = run;
		if (store) c->along = larger(c->along, type_log2_size(t));
	} else if (!store && a != fast_axis(c->w->fn, view)) {
		c->across = larger(c->across, type_log2_size(t));
	}
}

static bool plan_turned(Turned *c, Widen *w, Fn *fn, int axis)
{
	*c = (Turned){ .w = w, .across = -1, .along = -1, .run = { INT_MAX, INT_MAX } };
	if (!widen_plan(w, fn, axis)) return false;
	ir_walk(fn->body, look_at_turned, c);
	return !c->other;
}

/* Along some axis of the grid, whole tiles are stored row by row that are loaded across rows. w: what widen_plan finds
 * for each axis, where there is none. */
static bool is_turned(Fn *fn, Widen *w)
{
	Turned c;
	for (int axis = 0; axis < fn->ngrid; axis++)
		if (plan_turned(&c, &w[axis], fn, axis) && c.along >= 0 && c.along == c.across) return true;
	return false;
}

/* ---- what is done ---- */
static bool join(Widen *w, Fn *fn, int axis, int n)
{
	int64_t blocks;
	while (n > 0 && sym_is_const(fn->grid[axis], &blocks) && blocks < (int64_t)1 << n) n--;
	if (n > 0) widen_do(w, n);
	return n > 0;
}

/* One goal after the other, as far as the tile may grow: runs of sufficient length, then longer ones for a tile that
 * stays small. */
static bool join_turned(Fn *fn)
{
	static const struct { bool store, stays; int run; } goal[] = {
		{ true, false, COST_TURNED_STORED - 1 },
		{ false, false, COST_TURNED_LOADED },
		{ true, true, COST_TURNED_STORED }
	};
	bool changed = false;
	for (int i = 0; i < 3; i++)
		for (int axis = 0; axis < fn->ngrid; axis++) {
			Widen w;
			Turned c;
			if (!plan_turned(&c, &w, fn, axis)) continue;
			int n = goal[i].run - c.run[goal[i].store];
			int room = goal[i].stays ? COST_TURNED_MOST - c.bytes : MOST_TRANSPOSED - c.largest;
			changed |= join(&w, fn, axis, n < room ? n : room);
		}
	return changed;
}

/* Products have tiles of their own (pipeline_retile.c). */
static void find_product(void *ctx, Op *op) { *(bool *)ctx |= op->code == OP_MMA; }

/* Joins and divides as the kernel's plan says, if it says anything of the grid. */
static bool carry_out(Fn *fn)
{
	bool changed = false;
	for (int axis = 0; PC_GRID0 + axis < PC_COUNT; axis++) {
		int n = plan_pinned(fn, (Coord)(PC_GRID0 + axis));
		Widen w;
		if (n == PLAN_FREE || n == 0) continue;
		PlanRange r = { 0, 0 };
		if (axis < fn->ngrid) r = plan_axis_range(fn, axis);
		if (n < r.least || n > r.most || !widen_plan(&w, fn, axis) || (n < 0 && !widen_parts(&w, -n))) {
			plan_refuse(fn, (Coord)(PC_GRID0 + axis), n, r);
			return changed;
		}
		if (n > 0) widen_do(&w, n);
		else widen_divide(&w, -n);
		changed = true;
	}
	return changed;
}

/* true: it changed */
static bool coarsen_fn(Fn *fn)
{
	bool reason = false, products = false;
	bool hints = ir_hints_threads(fn);
	if (plan_pins_grid(fn)) return carry_out(fn);
	if (fn->ordered || hints) return false;
	ir_walk(fn->body, find_product, &products);
	ir_walk(fn->body, find_reason, &reason);
	if (products || (!reason && !overlaps_any(fn))) return false;
	Widen w[sizeof fn->grid / sizeof *fn->grid];
	bool turned = is_turned(fn, w), changed = turned && join_turned(fn);
	for (int axis = 0; axis < fn->ngrid; axis++) {
		bool planned = !turned && !changed;     /* is_turned looked at this kernel */
		if (planned ? w[axis].fails : !widen_plan(&w[axis], fn, axis)) continue;
		Coarse c = { .w = &w[axis], .turned = turned };
		ir_walk(fn->body, look_at, &c);
		overlaps_walk(fn, look_at_overlap, &c);
		changed |= join(&w[axis], fn, axis, wanted(&c));
	}
	return changed;
}

void pass_coarsen(Module *m, const LowerCx *cx)
{
	for (int i = 0; cx->o->planned && i < m->fns.n; i++)
		for (int a = 0; a < cx->o->planned->archs.n; a++)
			plans_find(cx->o->planned, m->fns.p[i], cx->o->planned->archs.p[a]);
	for (int i = 0; cx->o->by_threads && i < m->fns.n; i++)
		if (coarsen_fn(m->fns.p[i])) simplify_kernel(m->fns.p[i], cx);        /* constants of the tiles that were */
}
