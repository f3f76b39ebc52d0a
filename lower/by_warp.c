/* Rows of any length, by as many warps as they need.
 *
 * A tile has a power of two of columns, rows have any number of them, and a thread block with warps whose elements are
 * all pads holds registers and shared memory, takes part in barriers, and computes. So in kernels that reduce rows each
 * warp holds neighbouring elements (Fn.by_warp), and the launcher starts as many warps as the longest row of the call
 * has elements for, and as many thread blocks of a cluster. Partial results of warps that are not there are those of
 * pads: 0 for a sum; a maximum or minimum has a pad's own in the last warp that is there, which has at least one. That
 * pads do not matter is proved as for versions that leave out registers (cut.c).
 *
 * Rows that are sorted have a power of two of warps, so that the network has fewer stages; pads come last. A NaN comes
 * after them, so the tile as a whole has all its pads between a row's numbers and its NaNs: where warps are left out,
 * rows are at most half a tile, of whose places none is a NaN's then, and each NaN counts as a pad. So it is where
 * lanes are left out, of a warp or of those of a smaller tile.
 *
 * Rows that half a warp holds get fewer lanes than a warp has, and share it (Fn.short_rows). A lane has as many
 * registers as with longer rows, neighbouring elements, or vectors of 16 bytes, still lie in neighbouring lanes, and
 * the launcher chooses how many lanes there are. So one function serves rows of all lengths. It is compiled for each
 * number of lanes: registers at constant places take fewer instructions than at those that a call chooses
 * (bench/notes/rows.md).
 *
 * A lane of a row that is accessed in vectors holds four of them where the whole tile is there (pack.c), and rows
 * have as many lanes as suffice with two or three vectors each: the function is compiled for that many registers,
 * too. A lane of another short row has elements of one sector at most (row_of_lanes), and half of the rows that a
 * warp holds take half of its registers. Where a lane has 8 registers of single elements, rows have as many lanes as
 * suffice with 4 or 6 of them (row_part_registers). Fn.row_few: the function is compiled for fewer registers as well.
 *
 * The last warp of a row of several often holds mostly pads. Where three quarters of a lane's registers hold an equal
 * share of the row, the function takes the number of registers as a constant argument and is compiled for both numbers
 * (row_share_registers).
 *
 * A scan gives a row what it would have without what comes after it; backwards, pads change nothing. Of places of
 * extremes, the first pad stands for all.
 *
 * Where all such rows are an earlier variant's, rows of one warp share a thread block in their place (Fn.warp_rows): a
 * multiprocessor starts a thread block in the time in which memory delivers about 1.5 KiB to it.
 *
 * by_warp_plan looks at the TYPED kernel, before layouts are chosen. by_warp_place looks at what it has become: threads
 * may exchange data by partial results of warps alone. */
#include "base/diag.h"
#include "ir/valsym.h"
#include "lower/placed.h"

static void find_reduce(void *ctx, Op *op)
{
	*(bool *)ctx |= op_is_reduce(op) || op_is_scan(op) || op->code == OP_SORT;
}

/* Rows are no longer than their tile, so a call has few warps only where its rows are short. */
static bool rows_fit(const Fn *fn)
{
	ValSyms b = valsyms_new(fn);
	for (int i = 0; i < fn->below.n; i++)
		if (!facts_le(b.facts, fn->below.p[i], sym_const((int64_t)1 << fn->row_log2))) return false;
	return fn->below.n > 0;
}

void by_warp_plan(Fn *fn)
{
	bool reduces = false;
	ir_walk(fn->body, find_reduce, &reduces);
	if (!reduces || ir_hints_threads(fn)) return;
	if (!fn->row_log2) cut_plan(fn, true);
	fn->by_warp = fn->short_rows = fn->row_log2 && rows_fit(fn);
}

/* Does each warp hold a part of the row, the first warp the first? Whatever the shape: all elements are those of it. */
static bool is_apart(const Fn *fn, const Val *v)
{
	if (!type_is_tile(v->type) || type_log2_size(v->type) != fn->row_log2) return true;
	int warps = v->lay->in[HW_WARP], first = lay_first(*v->lay, HW_WARP);
	if (1 << warps != fn->warps) return false;
	for (int i = 0; i < warps; i++)
		if (v->lay->col[first + i] != (uint32_t)1 << (fn->row_log2 - warps + i)) return false;
	return true;
}

/* What a warp has found of the row, perhaps a sum that was cast. */
static bool is_partial(const Fn *fn, const Val *v)
{
	const Op *d = v->def;
	if (type_size(v->type) != fn->warps || v->lay->in[HW_REG]) return false;
	bool cast = d && d->code == OP_CAST;
	if (cast) d = ir_in(d, 0)->def;
	if (!d || (d->code != OP_REDUCE_LANES && d->code != OP_REDUCE_REGS)) return false;
	switch (ir_int(d, AT_KIND, 0)) {
	case KIND_SUM: return elem_bytes(v->type->elem) >= 4;
	case KIND_MAX: case KIND_MIN: return elem_bytes(v->type->elem) >= 4 && !cast;
	case KIND_MAX_ELEMENT: case KIND_MIN_ELEMENT: return !fn->cluster && !cast;
	default: return false;
	}
}

static bool suits(const Fn *fn, const Op *op)
{
	if (op->nregion && !op_is_scan(op)) return false;
	for (int i = 0; i < op->nout; i++)
		if (op->out[i]->lay && !is_apart(fn, op->out[i])) return false;
	switch (op->code) {
	case OP_STORE_SHARED: return is_partial(fn, ir_in(op, 1));
	case OP_EXCHANGE:
		for (int i = 0; i < op->nin; i++)
			if (!is_partial(fn, ir_in(op, i))) return false;
		return !op_broadcasts(op);
	case OP_SORT: return true;
	case OP_GATHER: return type_log2_size(op->out[0]->type) == 0 && !one_thread_reads(op);
	case OP_SCATTER: case OP_TO_SCALAR: return type_log2_size(ir_in(op, op->nin - 1)->type) == 0;
	case OP_LOAD: case OP_STORE: return type_is_tile(ir_accessed(op)->type);
	case OP_PHASE: return !rows_are_sorted(fn);
	default: return op_is_scan(op) || op_has(op, OPF_POINTWISE | OPF_UNIFORM | OPF_STEP);
	}
}

/* All lanes of a tile hold either a part of the row or what was combined of it. */
static bool is_by_lane_all(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (!suits(fn, op) || op->code == OP_CONVERT_LANES) return false;
	return row_vector_log2(fn) >= 0;
}

static int row_registers(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		for (int i = 0; i < op->nout; i++)
			if (type_is_tile(op->out[i]->type) && type_log2_size(op->out[i]->type) == fn->row_log2)
				return op->out[i]->lay->in[HW_REG];
	return 0;
}

/* How many registers of a lane suffice for rows of fewer lanes, or for shorter rows of a warp; 0: all are needed, and
 * rows that part of them would hold (row_part_registers) are not compiled separately, either. They are whole
 * vectors and, where loops go in chunks (chunk.c), whole chunks: a reduction takes all elements of a chunk. */
static int few_of_row(const Fn *fn)
{
	enum { LANES_MOST = LANES_LOG2 - 1 };
	int all = 1 << fn->row_regs_log2, unit = row_few_unit(fn), few = all / 2;
	if (fn->short_rows)
		few = (int)((row_of_lanes(fn, LANES_MOST) + fn->row_pads + (1 << LANES_MOST) - 1) >> LANES_MOST);
	few = (few + unit - 1) & -unit;
	if (all > COST_UNROLL_REGS || rows_scan_back(fn) || rows_are_sorted(fn)) return 0;
	if (few < all) return few;
	return fn->short_rows && row_part_registers(fn, all) ? all : 0;
}

/* log2 of the fewest lanes of a row; rows of those that even fewer hold are an earlier variant's. Rows of several warps
 * are better off as rows of one of them, which share a thread block, if half of what lanes hold is an earlier
 * variant's. A sort computes more for each place than it accesses, so it has no more places than it needs. */
static int fewest_lanes(const Fn *fn)
{
	int n = rows_are_sorted(fn) ? 0 : COST_SHORT_LANES, all = 1 << fn->row_regs_log2;
	bool half = fn->warps > 1 && row_vector_log2(fn) > 0 && row_part_registers(fn, all);
	while (n < fn_threads(fn).lanes && (half ? (int64_t)(all / 2) << n : row_of_lanes(fn, n)) <= fn->rows_taken) n++;
	return n;
}

/* Rows that no other kernel of a call has fewer lanes or registers for. */
static void set_shares(Fn *fn)
{
	fn->row_regs_log2 = row_registers(fn);
	fn->row_few = 1 << fn->row_regs_log2;
	if (!row_share_registers(fn)) fn->row_few = 0;
}

void by_warp_place(Fn *fn)
{
	bool yes = fn->by_warp && !fn->packed && !fn->persistent;
	for (const Op *op = fn->body->first; op && yes; op = op->next) yes = suits(fn, op);
	fn->fewer = yes;
	int lanes = fn_threads(fn).lanes;
	bool parts = rows_are_sorted(fn) || row_part_registers(fn, 1 << row_registers(fn));
	bool whole = fn->warps > 1 ? yes : !fn->lanes || (lanes && parts);
	bool turns = fn->by_element && rows_rotate(fn);
	bool room = fn->shared_bytes <= COST_SHORT_SHARED / (COST_SHORT_THREADS >> COST_SHORT_LANES);
	fn->short_rows &= whole && room && !turns && !fn->cluster && !fn->persistent && !rows_are_dense(fn)
		&& is_by_lane_all(fn);
	if (fn->short_rows) fn->row_regs_log2 = row_registers(fn);
	fn->lanes_least = fn->short_rows ? fewest_lanes(fn) : 0;
	fn->short_rows = fn->short_rows && fn->lanes_least < lanes;
	fn->warp_rows = yes && !fn->short_rows && !fn->cluster && !rows_are_dense(fn)
		&& fn->shared_bytes <= COST_SHORT_SHARED / (COST_SHORT_THREADS / 32) && row_part(fn) > fn->rows_taken;
	if (fn->warp_rows) fn->row_regs_log2 = row_registers(fn);
	if (fn->short_rows || (fn->warp_rows && is_by_lane_all(fn))) fn->row_few = few_of_row(fn);
	if (yes && !rows_share(fn) && !rows_are_dense(fn) && is_by_lane_all(fn)) set_shares(fn);
	if (yes || fn->short_rows || fn->by_element) return;
	fn->row_log2 = 0;               /* nothing else in this placement asks for it */
	fn->below.n = 0;
}
