/* Rows that begin anywhere in memory, by the vectors of the version for aligned tensors, in place of that version.
 *
 * A row is shifted by its phase (rotate.c), so that the vectors of all threads lie at multiples of their size, and only
 * the first and the last of a row may be cut: their elements are accessed one by one, in a branch that the other
 * threads do not take. The launcher asks whether rows of all tensors begin at one phase, and whether the tile has room
 * for the longest shift; aligned tensors, whose rows begin at phase 0, need none. There are pads before a row, too, so
 * results must not depend on pads (cut.c).
 *
 * Kernels of one row each of elements of 16 bits and fewer gain: of 32 bits single elements take half as many
 * instructions a byte. What compares the numbers of elements does so for each element then, not for each vector, and
 * what is combined with rows (weights) begins at a phase of its own: there the version for aligned tensors stays
 * (bench/notes/rows.md). Rows of fewer lanes than a warp, and several in a thread block, stay as they are. */
#include "lower/shift.h"
#include "placed/access.h"

static bool is_from_first(const Op *op, const AccessPlan *x, int axis)
{
	Num n;
	bool first = ir_const_value(ir_in(op, 1 + axis), &n) && !n.i && !x->offset[axis];
	return first && x->fast == axis && lay_adds(x->l, axis);
}

/* Does an operation know rows as vectors from their phase on? *loads: those of rows. */
static bool suits(const Fn *fn, const Op *op, int *loads)
{
	const Val *v = ir_accessed(op);
	bool numbers = op->code == OP_IOTA && type_log2_size(op->out[0]->type);
	if (op->nregion || op_has(op, OPF_RANDOM) || numbers) return false;
	if (!v || !type_is_tile(v->type) || !type_log2_size(v->type)) return true;
	AccessPlan x = access_plan(op, v, false);
	*loads += op->code == OP_LOAD;
	return holds_row(fn, *v->lay) && rows_begin(fn, op) && is_from_first(op, &x, type_row_axis(v->type));
}

static Fn *shifted_rows(Fn *first)
{
	const Op *phase = peel_phase_of(first);
	int loads = 0;
	bool plain = first->fewer && !first->lanes && !rows_share(first) && !rows_are_dense(first) && !first->by_element;
	if (!phase || !first->row_log2 || !plain || row_vector_log2(first) < 1) return NULL;
	const IrParam *p = peel_param(first, phase);
	if (!p || elem_bytes(p->elem) >= 4) return NULL;
	for (const Op *op = first->body->first; op; op = op->next)
		if (!suits(first, op, &loads)) return NULL;
	if (loads != 1) return NULL;
	Fn *fn = copy_kernel(first);
	ir_number(fn);
	fn->row_few = 0;
	ir_set_int((Op *)peel_phase_of(fn), AT_ROWS, ROWS_SHIFTED);
	fn->aligned = true;
	return rows_shift_unit(fn, 1) == (int64_t)1 << row_vector_log2(fn) ? fn : NULL;
}

Shifted shifted_version(Fn *first)
{
	Shifted r = { .fn = shifted_rows(first), .places = (int64_t)1 << first->row_log2 };
	if (!r.fn) return shifted_slices(first);
	for (int i = 0; i < r.fn->below.n; i++) vec_push(A_TMP, &r.lengths, r.fn->below.p[i]);
	return r;
}
