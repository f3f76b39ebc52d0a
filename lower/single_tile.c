/* Variants for rows that one tile holds, of kernels whose tiles lie side by side along a row.
 *
 * A kernel that reduces each tile along the row, as one that gives blocks of 128 elements a scale each, `grid [cdiv(m,
 * 16), cdiv(n, 128)]`, computes all of a tile for a row of 17 elements, too, and several tiles where they were joined
 * (coarsen). Where one tile holds the row, it is a kernel of rows that fit their tile: with a tile block for each row,
 * rows get as many lanes as they need (by_warp.c). So such a kernel gets a variant NAME_single_tile before it, `where 1
 * <= n` and `n <= 128`, with no axis of the grid along the row. It has none where rows of a tile block need each other,
 * or where lanes of short rows cannot be chosen at launch; where tiles are small; and where only elements are moved and
 * mapped, which has versions of another kind (narrow.c).
 *
 * Rows of 16 to 32 elements get one more, NAME_small_tile, before it, whose tiles have 32: as rows that small, they lie
 * side by side in the tiles of a thread block and cross shared memory together (dense.c), wherever they begin. A lane
 * of it has a whole row, so shorter ones have theirs by fewer registers in the other. */
#include "base/cost.h"
#include "ir/ir_copy.h"
#include "ir/valsym.h"
#include "lower/pins.h"
#include "lower/placed.h"

/* The index along the axis is 0, and the grid has the axis no more. */
static void drop_axis(Fn *fn, int axis)
{
	for (Op *op = fn->body->first, *next; op; op = next) {
		next = op->next;
		if (op->code != OP_BID || ir_axis(op) < axis) continue;
		if (ir_axis(op) > axis) {
			ir_set_int(op, AT_AXIS, ir_axis(op) - 1);
			continue;
		}
		Builder b = build_before(op);
		ir_replace(op->out[0], ir_const_int(&b, op->out[0]->type, 0));
		ir_remove(op);
	}
	fn->ngrid--;
	for (int i = axis; i < fn->ngrid; i++) fn->grid[i] = fn->grid[i + 1];
	fn->grid[fn->ngrid] = NULL;
}

/* The kernel serves calls of which a tile block for each row would be more than a grid has. */
static void ask_blocks(Fn *fn)
{
	const Sym *blocks = sym_const(1), *most = sym_const(INT32_MAX);
	for (int a = 0; a < fn->ngrid; a++) blocks = sym_mul(blocks, fn->grid[a]);
	ValSyms b = valsyms_new(fn);
	if (!facts_le(b.facts, blocks, most)) variant_asks(fn, sym_cmp(SYM_LE, blocks, most));
}

static void find_reduction(void *ctx, Op *op) { *(bool *)ctx |= op_is_reduce(op) || op_is_scan(op); }

static void find_region(void *ctx, Op *op) { *(bool *)ctx |= op->nregion && !op_is_scan(op) && !op_is_reduce(op); }

/* Tiles of few elements along the row, where rows are no longer and fill half of them. */
typedef struct Shorter { int64_t from; int to; } Shorter;

static void shorten(void *ctx, Op *op)
{
	const Shorter *x = ctx;
	for (int i = 0; i < op->nout; i++) {
		const Type *t = op->out[i]->type;
		uint8_t log2[TILE_RANK];
		if (!type_is_tile(t) || type_size(t) != x->from) continue;
		for (int a = 0; a < t->rank; a++) log2[a] = (uint8_t)(t->log2[a] ? x->to : 0);
		op->out[i]->type = type_with_shape(t, t->rank, log2);
	}
}

/* NULL: pads of a longer tile might be missed, of which asked, the variant for all rows of one tile, knows. */
static Fn *small_tile(const Fn *fn, Fn *single, const Fn *asked, const Sym *length, int64_t tile)
{
	Shorter x = { tile, COST_NARROW_ROW };
	const Sym *all = sym_cmp(SYM_LE, length, sym_const(tile)), *least = sym_cmp(SYM_LE, sym_const(1), length);
	bool pads = asked->row_pads || asked->nval > single->nval;        /* what combines results with a pad was added */
	if (pads || single->ngrid != 1) return NULL;
	Fn *small = copy_kernel(single);
	IrWhereVec where = { 0 };
	small->name = str_fmt("%s_small_tile", fn->name);
	for (int i = 0; i < single->where.n; i++) {
		const Sym *cond = single->where.p[i].cond;
		if (cond != all && cond != least) vec_push(A_UNIT, &where, single->where.p[i]);
	}
	small->where = where;
	variant_asks(small, sym_cmp(SYM_LE, length, sym_const(1 << x.to)));
	variant_asks(small, sym_cmp(SYM_LE, sym_const(1 << (x.to - 1)), length));
	ir_walk(small->body, shorten, &x);
	ir_number(small);
	return small;
}

static bool single_tile_along(Fn *fn, int axis, FnVec *to)
{
	const Sym *grid = fn->grid[axis], *length;
	int64_t tile;
	if (grid->kind != SYM_CDIV || !sym_is_const(grid->arg[1], &tile) || tile < COST_SINGLE_TILE) return false;
	length = grid->arg[0];
	if (sym_is_const(length, NULL) || !sym_is_of_call(length)) return false;
	Fn *single = variant_of_rows(fn, "single_tile", length, tile);
	drop_axis(single, axis);
	for (int a = 0; a < single->ngrid; a++) {
		if (!divide_rows(single, a)) return false;
		single->joined[a] = 0;
	}
	drop_dead(single);                        /* uses of the axis */
	ask_blocks(single);
	Fn *asked = copy_kernel(single);          /* what is found is noted there */
	by_warp_plan(asked);
	ir_number(single);
	if (!asked->short_rows || tile != (int64_t)1 << asked->row_log2) return false;
	Fn *small = small_tile(fn, single, asked, length, tile);
	if (small) vec_push(A_UNIT, to, small);
	vec_push(A_UNIT, to, single);
	return true;
}

bool single_tile(Fn *fn, FnVec *to)
{
	bool reduces = false, loops = false;
	ir_walk(fn->body, find_reduction, &reduces);
	ir_walk(fn->body, find_region, &loops);
	if (!reduces || loops || fn->ngrid < 2 || fn->ordered || ir_sweeps(fn)) return false;
	for (int axis = fn->ngrid - 1; axis >= 0; axis--)
		if (single_tile_along(fn, axis, to)) return true;
	return false;
}
