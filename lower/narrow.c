/* Versions for rows much shorter than their tile.
 *
 * A tile has the extents that its author chose, tensors have those of a call: a row of 20 elements uses 20 lanes of a
 * tile of 512. In kernels whose tiles only move and map elements results do not depend on how elements are assigned to
 * tile blocks, so such a kernel may have a version that divides its tile along rows, into parts of 32 elements, and
 * along the other axes of the grid, and joins as many neighbours along the axis whose elements lie farthest apart
 * instead (widen.c does both). It has a grid of its own and serves all calls; the launcher takes it where it computes
 * far fewer elements than the author's tiles would. Where accesses of single elements serve tensors that are not
 * aligned (unaligned.c), a warp accesses 32 neighbours of a row whatever the tile, so the version for those calls is
 * this one.
 *
 * Rows that are looked up, as those of an embedding or of tokens in another order, are joined too: the loads of
 * neighbours become a gather.
 *
 * A row of one tile (`where cols <= N`) first becomes one of a grid: the axis has one tile
 * block, before it is divided. */
#include <string.h>

#include "base/cost.h"
#include "base/diag.h"
#include "ir/valsym.h"
#include "lower/placed.h"
#include "lower/steps.h"
#include "lower/widen.h"

enum {
	GRID_RANK = 4
};

typedef struct Narrow {
	Fn *fn;
	bool (*plan)(Widen *w, Fn *fn, int axis);
	const Op *store;        /* of the largest tile */
	int kept;               /* the axis of the grid along which neighbours are joined */
	int parts;              /* log2, of a tile, so far */
	int64_t tile;           /* elements of the author's tile along the axes that are divided; */
	const Sym *inside;      /* those of them that lie in the tensor, */
	const Sym *used;        /* and those that this version computes */
} Narrow;

/* overlaps: loads that share elements, which a thread reads once if it has neighbours along several axes, or gathers
 * that may; math: functions of tiles; looks_up: single elements, such as indices */
typedef struct Look {
	const Op *store;
	bool suits, overlaps, math, looks_up, scatters;
	bool *gathered;         /* by Val id: views */
} Look;

static void look_at(void *ctx, Op *op)
{
	Look *l = ctx;
	l->suits &= op->code != OP_MMA && !op_has(op, OPF_ATOMIC) && !op_is_reduce(op) && !op_is_scan(op) && !op->nregion;
	l->math |= op_has(op, OPF_MATH | OPF_RANDOM) && op->nout && type_is_tile(op->out[0]->type);
	l->looks_up |= op->code == OP_GATHER;
	l->scatters |= op->code == OP_SCATTER;
	if (op->code == OP_STORE && type_is_tile(ir_accessed(op)->type)
		&& (!l->store || type_log2_size(ir_accessed(op)->type)
		> type_log2_size(ir_accessed(l->store)->type))) l->store = op;
	if (op->code != OP_GATHER || !type_is_tile(op->out[0]->type)) return;
	bool *gathered = &l->gathered[ir_in(op, 0)->id];
	l->overlaps |= *gathered;
	*gathered = true;
}

static Look look(const Fn *fn)
{
	ArenaMark mark = arena_mark(A_TMP);
	Look l = { .suits = true, .overlaps = overlaps_any(fn), .gathered = NEW_ARRAY(A_TMP, bool, fn->nval) };
	ir_walk(fn->body, look_at, &l);
	arena_release(A_TMP, mark);
	l.gathered = NULL;
	return l;
}

/* ---- rows of one tile ---- */
static bool begins_row(const Op *op, int axis)
{
	Num n;
	const IrAttr *offsets = ir_attr(op, AT_OFFSETS);
	return ir_const_value(ir_in(op, 1 + axis), &n) && n.i == 0 && (!offsets || !offsets->u.ints.p[axis]);
}

/* Of what one store, found where facts are known: its axis that is longest, from the tensor's
 * begin to its end or beyond. */
typedef struct Row { const Op *store; int axis; const Sym *extent; } Row;

static void find_row(ValSyms *b, Op *op)
{
	Row *row = b->ctx;
	if (op != row->store) return;
	const Type *t = ir_accessed(op)->type;
	for (int a = 0; a < t->rank; a++) {
		const Sym *extent = valsym_extent(b, ir_in(op, 0), a);
		if (t->log2[a] <= COST_NARROW_ROW || !begins_row(op, a) || !extent || sym_is_const(extent, NULL)
			|| !sym_is_of_call(extent))
			continue;
		if (!facts_le(b->facts, extent, sym_const(type_extent(t, a)))) continue;
		if (row->axis >= 0 && t->log2[a] <= t->log2[row->axis]) continue;
		row->axis = a;
		row->extent = extent;
	}
}

/* A tile of a row, all of which begin with it, becomes the one tile of an axis of the grid. */
typedef struct Onto { int log2, axis; Val *bid; } Onto;

static void index_rows(void *ctx, Op *op)
{
	const Onto *x = ctx;
	if (op->code != OP_LOAD && op->code != OP_STORE) return;
	const Type *t = ir_accessed(op)->type;
	int64_t steps[TENSOR_RANK];
	for (int a = 0; type_is_tile(t) && t->rank == ir_in(op, 0)->type->rank && a < t->rank; a++) {
		if (t->log2[a] != x->log2 || !begins_row(op, a)) continue;
		const IrAttr *old = ir_attr(op, AT_STEPS);
		for (int i = 0; i < old->u.ints.n; i++) steps[i] = i == a ? type_extent(t, a) : old->u.ints.p[i];
		ir_set_ints(op, AT_STEPS, old->u.ints.n, steps);
		op->in[1 + a] = x->bid;
		return;
	}
}

static void put_rows_on_grid(Narrow *n)
{
	Fn *fn = n->fn;
	Row row = { n->store, -1, NULL };
	if (fn->ngrid == GRID_RANK) return;
	valsyms_accesses(fn, find_row, &row);
	if (row.axis < 0) return;
	const Type *t = ir_accessed(n->store)->type;
	Builder b = build_before(fn->body->first);
	Onto x = { t->log2[row.axis], fn->ngrid, ir_op1(&b, OP_BID, type_scalar(EL_I32), 0, NULL) };
	ir_set_int(x.bid->def, AT_AXIS, x.axis);
	for (int i = fn->ngrid; ir_sweeps(fn) && i > 0; i--) fn->sweep[i] = fn->sweep[i - 1];
	if (ir_sweeps(fn)) fn->sweep[0] = x.axis;
	fn->grid[fn->ngrid++] = sym_cdiv(row.extent, sym_const(type_extent(t, row.axis)));
	ir_walk(fn->body, index_rows, &x);
}

/* ---- axes of the grid ---- */
/* The axis of the store along which tiles of neighbours lie; -1: they cannot be joined or divided. */
static int axis_of(Narrow *n, Widen *w, int axis)
{
	return n->plan(w, n->fn, axis) ? widen_access(w, n->store) : -1;
}

/* Of whose neighbours tiles lie farthest apart in what is stored. */
static int find_kept(Narrow *n)
{
	Widen w;
	int best = -1, at = TENSOR_RANK;
	for (int a = 0; a < n->fn->ngrid; a++) {
		int along = axis_of(n, &w, a);
		if (along >= 0 && along < at) best = a, at = along;
	}
	return best;
}

/* Parts of rows that are looked up run one after the other: they share lines, and whole rows of the author's tiles do
 * not any more, of which the same part would be found in the cache. */
static void sweep_first(Fn *fn, int axis)
{
	int at = 0;
	bool sweeps = ir_sweeps(fn), same = true;
	for (int i = 0; !sweeps && i < fn->ngrid; i++) fn->sweep[i] = i;
	while (fn->sweep[at] != axis) at++;
	for (; at > 0; at--) fn->sweep[at] = fn->sweep[at - 1];
	fn->sweep[0] = axis;
	for (int i = 0; i < fn->ngrid; i++) same &= fn->sweep[i] == i;
	if (same) memset(fn->sweep, 0, sizeof fn->sweep);
}

/* Functions of tiles that all parts along an axis would compute again. */
typedef struct Shared { const Widen *w; bool any; } Shared;

static void find_shared(void *ctx, Op *op)
{
	Shared *s = ctx;
	if (op->nout && op_has(op, OPF_MATH | OPF_RANDOM) && type_is_tile(op->out[0]->type))
		s->any |= type_log2_size(op->out[0]->type) && s->w->along[op->out[0]->id] == WIDEN_SAME;
}

static void divide(Narrow *n, int axis, const Look *l)
{
	Widen w;
	int64_t by;
	int along = axis_of(n, &w, axis);
	const Type *t = ir_accessed(n->store)->type;
	if (along < 0) return;
	bool is_row = along == fast_axis(n->fn, ir_in(n->store, 0)) || t->log2[along] > COST_NARROW_ROW;
	int k = is_row ? t->log2[along] - COST_NARROW_ROW : l->overlaps ? 0 : t->log2[along];
	int64_t tile = type_extent(t, along);
	const Sym *grid = n->fn->grid[axis];
	Shared shared = { &w, false };
	if (!is_row) ir_walk(n->fn->body, find_shared, &shared);
	if (shared.any) return;
	if (k <= 0 || grid->kind != SYM_CDIV || !sym_is_const(grid->arg[1], &by) || by != tile || !widen_parts(&w, k))
		return;
	widen_divide(&w, k);
	if (is_row && l->looks_up) sweep_first(n->fn, axis);
	const Sym *inside = sym_min(grid->arg[0], sym_const(tile)), *part = sym_const(tile >> k);
	n->parts += k;
	n->tile *= tile;
	n->inside = sym_mul(n->inside, inside);
	n->used = sym_mul(n->used, sym_mul(sym_cdiv(inside, part), part));
}

bool narrow_puts(const Fn *fn, const Fn *of) { return look(fn).scatters && !look(of).scatters; }

Fn *narrow_version(const Fn *of, const LowerCx *cx, const Sym **guard, const Sym **apart)
{
	Look l = look(of);
	Widen w;
	bool hints = ir_hints_threads(of);
	if (!cx->o->by_threads || hints || of->ordered || has_steps(of, cx) || !l.suits || !l.store) return NULL;
	Fn *fn = copy_kernel((Fn *)of);
	Narrow n = { .fn = fn, .plan = cx->o->checked ? widen_plan : widen_plan_places, .store = look(fn).store,
		.kept = -1, .tile = 1, .inside = sym_const(1), .used = sym_const(1) };
	put_rows_on_grid(&n);
	n.kept = find_kept(&n);
	for (int a = 0; n.kept >= 0 && a < fn->ngrid; a++)
		if (a != n.kept) divide(&n, a, &l);
	if (n.parts < COST_NARROW_PARTS || !n.plan(&w, fn, n.kept)) return NULL;
	int size = type_log2_size(ir_accessed(n.store)->type);
	bool block = size > COST_NARROW_TILE && l.math && !l.overlaps;
	int join = (block ? COST_NARROW_BLOCK : COST_NARROW_TILE) - size;
	if (join > 0) widen_do(&w, join);
	kernel_again(fn, cx);
	*apart = sym_cmp(SYM_LE, sym_mul(n.used, sym_const(100)), sym_const(n.tile * COST_NARROW_APART));
	*guard = sym_cmp(SYM_LE, n.used, sym_const(n.tile / COST_NARROW_MATH));
	int most = narrow_puts(fn, of) ? COST_NARROW_STORED : COST_NARROW;
	if (!l.math) *guard = sym_logic(SYM_AND, sym_cmp(SYM_LE, n.inside, sym_const(n.tile * most / 100)), *guard);
	return fn;
}
