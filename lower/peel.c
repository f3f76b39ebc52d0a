/* Unaligned rows in vectors of 16 bytes: a version of a kernel of rows in addition to that for single elements
 * (unaligned.c).
 *
 * Each row is peeled: its body begins at a multiple of `peel_line` bytes and is a whole number of vectors, and what
 * lies before it and after it are its ends, so few that one more register of each thread holds them. So the placement
 * for aligned tensors is used unchanged, with the place of element e of the body shifted to e - head: each vector is
 * one access under one condition, and no thread takes a branch. Registers are numbered as always, and the one of the
 * end comes last (cu_regs_of).
 *
 * The first threads hold the elements before the body, those after them the ones after it. Pads in the other threads
 * and after the body do not change results: cut_plan has proved that one pad is as good as many, and as a row is
 * shorter than its tile there is at least one.
 *
 * All tensors of rows begin at one phase, which the guard tests; other tensors loaded along the rows (weights, tables)
 * have a phase of their own, and a vector of it lies in smaller ones that are aligned. So that none goes beyond a
 * tensor, the body then keeps away from both ends of the row by as many elements as an aligned vector has (peel_apart).
 *
 * A version with fewer registers serves rows that are short enough, as in cut.c. */
#include "base/diag.h"
#include "lower/placed.h"
#include "placed/access.h"

enum { PEEL_OF = 16 };
/* Of PEEL_OF: what versions keep of the registers; the first for short rows. */
static const int peel_parts[PEEL_COPIES] = {
	COST_PEEL_SHORT, COST_PEEL_FEW, COST_PEEL_MORE, COST_PEEL_MOST, PEEL_OF
};

/* It begins with the row of a parameter's elements, and lies inside along the other axes. */
static bool is_plain(const Fn *fn, const Op *op)
{
	const Val *data = ir_accessed(op);
	const IrParam *p = peel_param(fn, op);
	AccessPlan x = access_plan(op, data, false);
	int axis = type_row_axis(data->type);
	Num n;
	if (!p || data->type->rank != x.rank || x.fast != axis || x.offset[axis]) return false;
	if ((elem_bytes(p->elem) != 2 && elem_bytes(p->elem) != 4) || ir_int(op, AT_CACHE, 0)) return false;
	if (!ir_const_value(ir_in(op, 1 + axis), &n) || n.i) return false;
	for (int a = 0; a < x.rank; a++)
		if (a != axis && !x.proved[a]) return false;
	return true;
}

/* Registers: a vector's, then what lies a step of all threads apart; neighbouring threads hold neighbouring vectors.
 * What is spread over a row from each warp (rebase.h) has several axes. */
static bool is_in_order(const Fn *fn, Lay l, int vec)
{
	uint8_t one[1] = { (uint8_t)fn->row_log2 };
	int regs = l.in[HW_REG];
	if (lay_free(l) || !lay_reshape(l, 1, one, &l)) return false;
	for (int i = 0; i < regs; i++)
		if (lay_coord(l, l.col[i], 0) != (uint32_t)1 << (i < vec ? i : fn->row_log2 - regs + i)) return false;
	for (int i = 0; i < l.in[HW_LANE] + l.in[HW_WARP]; i++)
		if (lay_coord(l, l.col[regs + i], 0) != (uint32_t)1 << (vec + i)) return false;
	return true;
}

/* Operations that know which registers a row has. */
static bool suits(Fn *fn, const Op *op)
{
	bool row = false;
	for (int i = 0; i < op->nin; i++) row |= peel_is_row(fn, ir_in(op, i));
	for (int i = 0; i < op->nout; i++) row |= peel_is_row(fn, op->out[i]);
	if (op->nregion) return false;
	if (!row) return true;
	if (op->code == OP_LOAD || op->code == OP_STORE) {
		if (!is_plain(fn, op)) return false;
		if (peel_begins(fn, op)) return true;
		if (op->code == OP_STORE || !memory_is_constant(fn, ir_in(op, 0))) return false;
		if (elem_bytes(peel_param(fn, op)->elem) != peel_elem_size(fn)) return false;
		fn->peel_apart = VECTOR_BYTES / peel_elem_size(fn);
		return true;
	}
	if (op->code == OP_REDUCE_REGS) return op->nout == 1 && !op->out[0]->lay->in[HW_REG];
	if (op->code == OP_IOTA && elem_bytes(op->out[0]->type->elem) < 4) return false;
	return op_has(op, OPF_POINTWISE);
}

/* Rows are shorter. */
static int64_t below_of(const Fn *fn)
{
	bool all = fn->row_regs == 1 << fn->row_regs_log2;
	return all ? (int64_t)1 << fn->row_log2 : cut_kept(fn) + peel_after(fn) + fn->peel_apart;
}

/* As much of a line as leaves a thread for each element of the ends. */
static void choose_line(Fn *fn)
{
	fn->peel_line = LINE;
	while (fn->peel_line > VECTOR_BYTES && peel_front(fn) + peel_after(fn) > cut_step(fn)) fn->peel_line /= 2;
}

/* Are all rows in registers of one order, and is nothing done with them but what the version knows? */
static bool plan(Fn *fn, int vec)
{
	int regs = -1;
	for (const Op *op = fn->body->first; op; op = op->next) {
		for (int i = 0; i < op->nout; i++) {
			const Val *v = op->out[i];
			if (!peel_is_row(fn, v)) continue;
			if (regs < 0) regs = v->lay->in[HW_REG];
			if (v->lay->in[HW_REG] != regs || !is_in_order(fn, *v->lay, vec)) return false;
		}
		if (!suits(fn, op)) return false;
	}
	fn->row_regs_log2 = regs;
	return regs > vec;
}

/* ---- what has another phase ---- */

/* What a cluster's thread blocks load of weights does not stay in the caches of their multiprocessors: the copy engine
 * brings it to shared memory while threads wait for each other. Beside 64 elements of f32 a thread has few registers
 * for what is staged: then no more than every architecture has. */
static void stage(Fn *fn, int64_t room)
{
	int n = 0;
	int64_t at = (fn->shared_bytes + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES;
	if (!fn->cluster) return;
	for (const Op *op = fn->body->first; op; op = op->next) {
		bool apart = peel_is_apart(fn, op);
		if (apart && (ir_in(op, 0)->type->rank != 1 || !memory_is_constant(fn, ir_in(op, 0)))) return;
		n += apart;
	}
	if (peel_elem_size(fn) == 4 && room > COST_SHARED_LIMIT) room = COST_SHARED_LIMIT;
	int64_t end = at + STAGE_BAR + n * peel_stage_bytes(fn);
	if (!n || end > room) return;
	fn->stage_at = at;
	fn->shared_bytes = end;
}

/* Elements of 32 bits one by one are half as many instructions a byte: vectors gain in clusters, where threads wait
 * long, unless two tensors of weights take the shared memory of a fourth thread block (bench/notes/rows.md). */
static bool gains(const Fn *fn) { return peel_elem_size(fn) < 4 || (fn->cluster && peel_loads_apart(fn) < 2); }

/* Is a function of elements of 16 bits computed in many instructions? */
static bool is_long(const Fn *fn)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		if (op_has(op, OPF_MATH) && peel_is_row(fn, op->out[0]) && !ir_int(op, AT_ROUNDING, 0))
			return peel_elem_size(fn) == 2;
	return false;
}

/* A version that leaves registers out serves aligned rows better than the one that computes all their pads
 * (bench/notes/rows.md). Not in one thread block where instructions for each element are most. */
bool peel_leads(const Fn *fn)
{
	if (fn->row_regs == 1 << fn->row_regs_log2) return false;
	if (!fn->cluster) return !is_long(fn);
	return !peel_loads_apart(fn) || (fn->stage_at && fn->shared_bytes <= COST_SHARED_LIMIT);
}

bool peel_wanted(const Fn *by_element)
{
	bool is_long = by_element->row_log2 && 1 << by_element->row_log2 >= COST_PEEL_ROW;
	return is_long && by_element->below.n == 1 && !by_element->lanes;
}

void peel_place(Fn *fn, const Fn *by_element, int64_t room, PeeledVec *to)
{
	const Op *phase = peel_phase_of(fn);
	if (!phase || fn->lanes || !peel_param(fn, phase)) return;
	fn->row_log2 = by_element->row_log2;
	fn->below = by_element->below;
	if (!gains(fn) || !plan(fn, VECTOR_LOG2 - log2_of(peel_elem_size(fn)))) return;
	choose_line(fn);
	int each = VECTOR_BYTES / peel_elem_size(fn), pieces = (1 << fn->row_regs_log2) / each;
	int64_t shared = fn->shared_bytes, half = (int64_t)1 << (fn->row_log2 - 1);
	for (int i = 0; i < PEEL_COPIES; i++) {
		int64_t least = i == 0 ? half / 2 : i == 1 ? half : below_of(fn);
		int keep = (pieces * peel_parts[i] + PEEL_OF - 1) / PEEL_OF * each;
		if (i > 1 && keep == fn->row_regs) continue;
		if (to->n) fn = copy_kernel(fn);
		fn->row_regs = keep;
		fn->row_sure = (int)((least - peel_front(fn) - peel_after(fn)) >> (fn->row_log2 - fn->row_regs_log2)) / each
			* each;
		fn->shared_bytes = shared;
		fn->stage_at = 0;
		stage(fn, room);
		vec_push(A_UNIT, to, ((Peeled){ fn, least, i == 0 ? half : below_of(fn), i == 0 }));
	}
}
