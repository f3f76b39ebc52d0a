/* Rows of any length, by as many warps as they need.
 *
 * A tile has a power of two of columns, rows have any number of them, and a thread block with warps whose elements are
 * all pads holds registers and shared memory, takes part in barriers, and computes. So in kernels that reduce rows each
 * warp holds neighbouring elements (Fn.by_warp), and the launcher starts as many warps as the longest row of the call
 * has elements for, and as many thread blocks of a cluster. Partial results of warps that are not there are those of
 * pads: 0 for a sum; a maximum or minimum has a pad's own in the last warp that is there, which has at least one. That
 * pads do not matter is proved as for versions that leave out registers (cut.c).
 *
 * by_warp_plan looks at the TYPED kernel, before layouts are chosen. by_warp_place looks at what it has become: threads
 * may exchange data by partial results of warps alone. */
#include "base/diag.h"
#include "ir/valsym.h"
#include "lower/placed.h"

static void find_reduce(void *ctx, Op *op) { *(bool *)ctx |= op_is_reduce(op); }

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
	if (!fn->row_log2) cut_plan(fn);
	fn->by_warp = fn->row_log2 && rows_fit(fn);
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
	unsigned f = op_rows[op->code].flags;
	if (op->nregion) return false;
	for (int i = 0; i < op->nout; i++)
		if (op->out[i]->lay && !is_apart(fn, op->out[i])) return false;
	switch (op->code) {
	case OP_STORE_SHARED: return is_partial(fn, ir_in(op, 1));
	case OP_EXCHANGE:
		for (int i = 0; i < op->nin; i++)
			if (!is_partial(fn, ir_in(op, i))) return false;
		return !op_broadcasts(op);
	case OP_GATHER: return type_log2_size(op->out[0]->type) == 0 && !one_thread_reads(op);
	case OP_SCATTER: case OP_TO_SCALAR: return type_log2_size(ir_in(op, op->nin - 1)->type) == 0;
	case OP_LOAD: case OP_STORE: return type_is_tile(ir_accessed(op)->type);
	case OP_CONST: case OP_IOTA: case OP_BROADCAST: case OP_RESHAPE: case OP_PERMUTE: case OP_BID: case OP_LAUNCH:
	case OP_VIEW:
	case OP_RETURN: case OP_REDUCE_REGS: case OP_REDUCE_LANES: case OP_CONVERT_REGS: case OP_CONVERT_LANES:
	case OP_ALLOC_SHARED:
	case OP_LOAD_SHARED: case OP_BARRIER: case OP_PHASE: return true;
	default: return (f & OPF_ELEMWISE) && !(f & (OPF_READ | OPF_WRITE));
	}
}

void by_warp_place(Fn *fn)
{
	bool yes = fn->by_warp && !fn->packed && !fn->persistent;
	for (const Op *op = fn->body->first; op && yes; op = op->next) yes = suits(fn, op);
	fn->fewer = yes;
	if (yes || fn->by_element) return;
	fn->row_log2 = 0;               /* nothing else in this placement asks for it */
	fn->below.n = 0;
}
