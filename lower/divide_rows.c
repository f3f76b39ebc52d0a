/* Rows of a tile that are reduced and need nothing of each other, a tile block for each.
 *
 * A tile of several rows has threads, registers and barriers for all of them, however short the tensor's rows are. A
 * row alone has as many warps and lanes as it needs, and shares a thread block, or a warp, with others where it needs
 * few (by_warp.c, pack.c). So where rows lie whole in their tile, pass refine divides it: how many of them an author's
 * tile has makes no difference then. What is reduced across memory, as the columns of a matrix, shares lines with its
 * neighbours and stays with them. */
#include "ir/ir_copy.h"
#include "ir/valsym.h"
#include "lower/pins.h"
#include "lower/placed.h"
#include "lower/widen.h"

/* log2 of the rows that a tile block along the axis has. */
typedef struct Rows { const Widen *w; int log2; } Rows;

static void find_rows(void *ctx, Op *op)
{
	Rows *r = ctx;
	if (op->code != OP_STORE || !type_is_tile(ir_accessed(op)->type)) return;
	int a = widen_access(r->w, op);
	if (a >= 0 && ir_accessed(op)->type->log2[a] > r->log2) r->log2 = ir_accessed(op)->type->log2[a];
}

bool divide_rows(Fn *fn, int axis)
{
	Widen w;
	Rows r = { &w, 0 };
	if (!widen_plan(&w, fn, axis)) return false;
	ir_walk(fn->body, find_rows, &r);
	if (!r.log2) return true;
	if (!widen_parts(&w, r.log2)) return false;
	widen_divide(&w, r.log2);
	return true;
}

/* Neighbours along the axis of which some lie side by side in memory. */
static void find_columns(void *ctx, Op *op)
{
	Rows *r = ctx;
	const Val *v = ir_accessed(op);
	if ((op->code != OP_LOAD && op->code != OP_STORE) || !type_is_tile(v->type)) return;
	int a = widen_access(r->w, op);
	bool beside = a >= 0 && a == fast_axis(r->w->fn, ir_in(op, 0)) && type_log2_size(v->type) > v->type->log2[a];
	if (beside) r->log2 = 0;
}

static bool has_rows(Fn *fn, int axis)
{
	Widen w;
	Rows r = { &w, 0 };
	if (!widen_plan(&w, fn, axis)) return false;
	ir_walk(fn->body, find_rows, &r);
	ir_walk(fn->body, find_columns, &r);
	return r.log2 > 0;
}

/* Do all calls have few enough rows that each may have a tile block? */
static bool blocks_fit(Fn *fn)
{
	const Sym *blocks = sym_const(1);
	for (int a = 0; a < fn->ngrid; a++) blocks = sym_mul(blocks, fn->grid[a]);
	ValSyms b = valsyms_new(fn);
	return facts_le(b.facts, blocks, sym_const(INT32_MAX));
}

typedef struct Look { bool reduces, regions; } Look;

static void look_at(void *ctx, Op *op)
{
	Look *l = ctx;
	l->reduces |= op_is_reduce(op);
	l->regions |= op->nregion && !op_is_reduce(op) && !op_is_scan(op);
}

int rows_apart(Fn *fn, int axis)
{
	Look l = { false, false };
	ir_walk(fn->body, look_at, &l);
	if (!l.reduces || l.regions || fn->ordered || ir_sweeps(fn) || ir_hints_threads(fn)) return 0;
	if (!has_rows(fn, axis)) return 0;
	Fn *rows = copy_kernel(fn);
	if (!divide_rows(rows, axis) || !blocks_fit(rows)) return 0;
	drop_dead(rows);        /* of what tiles were */
	by_warp_plan(rows);
	int n = fn->joined[axis] - rows->joined[axis];
	return rows->short_rows && rows->joined[axis] >= plan_range((Coord)(PC_GRID0 + axis)).least ? n : 0;
}

bool divide_into_rows(Fn *fn)
{
	for (int axis = 0; axis < fn->ngrid; axis++)
		if (rows_apart(fn, axis)) return divide_rows(fn, axis);
	return false;
}
