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
 * rows are at most half a tile, of whose places none is a NaN's then, and each NaN counts as a pad.
 *
 * Rows that half a warp holds get fewer lanes than a warp has, and share it (Fn.short_rows). A lane has as many
 * registers as with longer rows, neighbouring elements, or pieces of 16 bytes, still lie in neighbouring lanes, and the
 * launcher chooses how many lanes there are. So one text serves rows of all lengths. It is compiled twice: registers at
 * constant places take fewer instructions than at those that a call chooses (bench/notes/rows.md).
 *
 * Where all such rows are an earlier variant's, rows of one warp share a thread block in their place (Fn.warp_rows): a
 * multiprocessor starts a thread block in the time in which memory delivers about 1.5 KiB to it.
 *
 * by_warp_plan looks at the TYPED kernel, before layouts are chosen. by_warp_place looks at what it has become: threads
 * may exchange data by partial results of warps alone. */
#include "base/diag.h"
#include "ir/valsym.h"
#include "lower/placed.h"

enum { SHORT_SHARED = 32 << 10 };       /* bytes of a thread block of short rows, at most */

static void find_reduce(void *ctx, Op *op) { *(bool *)ctx |= op_is_reduce(op) || op->code == OP_SORT; }

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
	if (!reduces || ir_hint(fn, "warps", 0) > 0 || ir_has_hint(fn, "cluster") || ir_has_hint(fn, "occupancy")) return;
	if (!fn->row_log2) cut_plan(fn, true);
	fn->by_warp = fn->short_rows = fn->row_log2 && rows_fit(fn);
}

/* Does each warp hold a part of the row, the first warp the first? */
static bool is_apart(const Fn *fn, const Val *v)
{
	if (!type_is_tile(v->type) || type_log2_size(v->type) != fn->row_log2) return true;
	int axis = type_row_axis(v->type), warps = v->lay->in[HW_WARP], first = lay_first(*v->lay, HW_WARP);
	if (1 << warps != fn->warps) return false;
	for (int i = 0; i < warps; i++)
		if (lay_coord(*v->lay, v->lay->col[first + i], axis) != (uint32_t)1 << (fn->row_log2 - warps + i)) return false;
	return true;
}

static bool is_partial(const Fn *fn, const Val *v)
{
	int kind = v->def && (v->def->code == OP_REDUCE_LANES || v->def->code == OP_REDUCE_REGS)
		? (int)ir_int(v->def, AT_KIND, 0) : -1;
	bool known = kind == KIND_SUM || kind == KIND_MAX || kind == KIND_MIN;
	return known && type_size(v->type) == fn->warps && v->lay->in[HW_REG] == 0 && elem_bytes(v->type->elem) >= 4;
}

static bool suits(const Fn *fn, const Op *op)
{
	if (op->nregion) return false;
	for (int i = 0; i < op->nout; i++)
		if (op->out[i]->lay && !is_apart(fn, op->out[i])) return false;
	switch (op->code) {
	case OP_STORE_SHARED: return is_partial(fn, ir_in(op, 1));
	case OP_EXCHANGE:
		for (int i = 0; i < op->nin; i++)
			if (!is_partial(fn, ir_in(op, i))) return false;
		return !op_broadcasts(op);
	case OP_SORT: return !peel_phase_of(fn);
	case OP_GATHER: return type_log2_size(op->out[0]->type) == 0 && !one_thread_reads(op);
	case OP_SCATTER: case OP_TO_SCALAR: return type_log2_size(ir_in(op, op->nin - 1)->type) == 0;
	case OP_LOAD: case OP_STORE: return type_is_tile(ir_accessed(op)->type);
	case OP_REDUCE_REGS: case OP_REDUCE_LANES: case OP_CONVERT_REGS: case OP_CONVERT_LANES: case OP_ALLOC_SHARED:
	case OP_LOAD_SHARED: case OP_BARRIER: case OP_PHASE: return true;
	default: return op_has(op, OPF_POINTWISE | OPF_UNIFORM);
	}
}

/* Do neighbouring lanes hold neighbouring elements, or pieces of them, and the other registers what lies as many lanes
 * further on? All lanes of a tile hold either a part of the row or what was combined of it. */
static bool is_by_lane(const Fn *fn, const Val *v)
{
	if (!type_is_tile(v->type) || type_log2_size(v->type) != fn->row_log2) return true;
	const Lay *l = v->lay;
	int axis = type_row_axis(v->type), first = lay_first(*l, HW_LANE), reg = lay_first(*l, HW_REG), piece = 0;
	if (l->in[HW_LANE] != LANES_LOG2) return false;
	while (piece < l->in[HW_REG] && lay_coord(*l, l->col[reg + piece], axis) == (uint32_t)1 << piece) piece++;
	for (int i = 0; i < LANES_LOG2; i++)
		if (lay_coord(*l, l->col[first + i], axis) != (uint32_t)1 << (piece + i)) return false;
	for (int i = piece; i < l->in[HW_REG]; i++)
		if (lay_coord(*l, l->col[reg + i], axis) != (uint32_t)1 << (LANES_LOG2 + i)) return false;
	return true;
}

static bool is_by_lane_all(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next) {
		if (!suits(fn, op) || op->code == OP_CONVERT_LANES || op->code == OP_SORT) return false;
		for (int i = 0; i < op->nout; i++)
			if (!is_by_lane(fn, op->out[i])) return false;
	}
	return true;
}

static int row_registers(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		for (int i = 0; i < op->nout; i++)
			if (type_is_tile(op->out[i]->type) && type_log2_size(op->out[i]->type) == fn->row_log2)
				return op->out[i]->lay->in[HW_REG];
	return 0;
}

void by_warp_place(Fn *fn)
{
	bool yes = fn->by_warp && !fn->packed && !fn->persistent;
	for (const Op *op = fn->body->first; op && yes; op = op->next) yes = suits(fn, op);
	fn->fewer = yes;
	bool whole = fn->warps == 1 ? !fn->lanes : yes, turns = fn->by_element && rows_turn(fn);
	bool room = fn->shared_bytes <= SHORT_SHARED / (SHORT_THREADS >> SHORT_LANES_LOG2);
	fn->short_rows &= whole && room && !turns && !fn->cluster && !fn->persistent && !rows_are_dense(fn)
		&& is_by_lane_all(fn);
	if (fn->short_rows) fn->row_regs_log2 = row_registers(fn);
	fn->short_rows = fn->short_rows && row_of_lanes(fn, LANES_LOG2 - 1) > fn->rows_taken;
	fn->warp_rows = yes && !fn->short_rows && !fn->cluster && !rows_are_dense(fn)
		&& fn->shared_bytes <= SHORT_SHARED / (SHORT_THREADS / 32) && row_part(fn) > fn->rows_taken;
	if (yes || fn->short_rows || fn->by_element) return;
	fn->row_log2 = 0;               /* nothing else in this placement asks for it */
	fn->below.n = 0;
}
