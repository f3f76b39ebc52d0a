/* refine: divides a tile block whose tile is larger than suits a thread block, or whose accumulator is larger than the
 * target's compiler keeps in registers, if its parts are independent.
 *
 * A thread block that moves many bytes loads, computes and stores in step, and the registers of a large tile leave room
 * for few thread blocks. Tiles are divided along the first axis of the grid along which that is possible (widen.c); if
 * elements are adjacent along that axis, only as far as accesses stay long. Kernels that reduce, scan or loop divide
 * their work themselves (bench/notes/loops.md). Accumulators are halved along their longer side, so that what a tile
 * block loads of both factors stays small. */
#include "base/diag.h"
#include "lower/pins.h"
#include "lower/placed.h"
#include "lower/widen.h"

typedef struct Fine {
	const Widen *w;
	int largest;            /* log2 of the elements of a tile */
	int most;               /* log2 of the parts that leave runs and rows long enough */
	bool works, turns;      /* reduces, scans or loops; permutes */
} Fine;

static void limit(void *ctx, Op *op)
{
	Fine *f = ctx;
	if (op->code != OP_LOAD && op->code != OP_STORE) return;
	int a = widen_access(f->w, op);
	const Type *t = op->code == OP_LOAD ? op->out[0]->type : ir_in(op, op->nin - 1)->type;
	if (a < 0) return;
	bool run = a == fast_axis(f->w->fn, ir_in(op, 0));
	int least = run ? COST_RUN_LEAST - elem_log2(t->elem) : 0;
	if (t->log2[a] - least < f->most) f->most = t->log2[a] - least;
}

static void limit_overlap(void *ctx, const Op *x, const Op *y)
{
	Fine *f = ctx;
	int a = widen_access(f->w, x), least = 0;
	if (a < 0 || a == fast_axis(f->w->fn, ir_in(x, 0))) return;
	int64_t by = load_offset(y, a) - load_offset(x, a);
	while ((int64_t)1 << least < COST_ENOUGH_ROWS * (by < 0 ? -by : by) && least < TILE_LOG2) least++;
	if (x->out[0]->type->log2[a] - least < f->most) f->most = x->out[0]->type->log2[a] - least;
}

static void look_at(void *ctx, Op *op)
{
	Fine *f = ctx;
	for (int i = 0; i < op->nout; i++) {
		const Type *t = op->out[i]->type;
		if (type_is_tile(t) && op->code != OP_CONST && type_log2_size(t) > f->largest) f->largest = type_log2_size(t);
	}
	f->works |= op->nregion || op_is_reduce(op) || op_is_scan(op) || op->code == OP_MMA;
	f->turns |= op->code == OP_PERMUTE && type_is_tile(op->out[0]->type);
}

/* The tile's parts along an axis of the grid; false: it stays, or is small enough already. */
static bool refine_axis(Fn *fn, int axis)
{
	Widen w;
	Fine f = { .w = &w, .most = TILE_LOG2 };
	ir_walk(fn->body, look_at, &f);
	int n = f.largest - (f.turns ? COST_TRANSPOSED_MOST : COST_REFINED_MOST);
	if (f.works || n <= 0 || !widen_plan(&w, fn, axis)) return false;
	ir_walk(fn->body, limit, &f);
	overlaps_walk(fn, limit_overlap, &f);
	if (n > f.most) n = f.most;
	while (n > 0 && !widen_parts(&w, n)) n--;
	if (n <= 0) return false;
	widen_divide(&w, n);
	return true;
}

/* ---- accumulators ---- */
static int accumulator_log2(const Op *product)
{
	const Type *t = product->out[0]->type;
	return type_log2_size(t) + elem_log2(t->elem);
}

static void find_largest(void *ctx, Op *op)
{
	Op **largest = ctx;
	if (op->code != OP_MMA) return;
	if (!*largest || accumulator_log2(op) > accumulator_log2(*largest)) *largest = op;
}

/* The kernel whose tile blocks have one half of the product along an axis of its result; false: it stays. */
static bool halve(Fn *fn, const Op *product, int side)
{
	Widen w;
	for (int axis = 0; axis < fn->ngrid; axis++) {
		if (!widen_plan(&w, fn, axis) || w.along[product->out[0]->id] != side || !widen_parts(&w, 1)) continue;
		widen_divide(&w, 1);
		return true;
	}
	return false;
}

static bool divide_accumulators(Fn *fn, int most)
{
	for (bool changed = false;; changed = true) {
		Op *product = NULL;
		ir_walk(fn->body, find_largest, &product);
		if (!product || accumulator_log2(product) <= most || fn->ordered) return changed;
		const Type *t = product->out[0]->type;
		int longer = t->log2[t->rank - 2] > t->log2[t->rank - 1] ? t->rank - 2 : t->rank - 1,
			other = 2 * t->rank - 3 - longer;
		if (!halve(fn, product, longer) && !halve(fn, product, other)) return changed;
	}
}

/* ---- batches ---- */
/* Tensor cores take one matrix: a tile block for each, where they would take it. */
static bool divide_batches(Fn *fn)
{
	Op *product = NULL;
	ir_walk(fn->body, find_largest, &product);
	if (!product || fn->ordered || ir_hints_threads(fn)) return false;
	const Type *t = product->out[0]->type;
	int n = t->rank == 3 ? t->log2[0] : 0;
	if (!n || !mma_suits_tensor(product)) return false;
	for (int axis = 0; axis < fn->ngrid; axis++) {
		Widen w;
		if (!widen_plan(&w, fn, axis) || w.along[product->out[0]->id] != 0 || !widen_parts(&w, n)) continue;
		widen_divide(&w, n);
		return true;
	}
	return false;
}

/* ---- the pass ---- */
static bool refine_fn(Fn *fn)
{
	bool changed = false, hints = ir_hints_threads(fn);
	if (plan_pins_grid(fn)) {       /* coarsen has carried it out */
		fn->regrouped = true;
		return false;
	}
	for (int axis = 0; axis < fn->ngrid && !fn->ordered && !hints; axis++) changed |= refine_axis(fn, axis);
	return changed;
}

void pass_refine(Module *m, const LowerCx *cx)
{
	for (int i = 0; i < m->fns.n; i++) {
		Fn *fn = m->fns.p[i];
		bool changed = cx->o->by_threads && divide_batches(fn);
		changed |= cx->o->by_threads && refine_fn(fn);
		if (cx->o->accumulator) changed |= divide_accumulators(fn, cx->o->accumulator);
		if (changed) simplify_kernel(fn, cx);
	}
}
