/* Rows shorter than their tile: versions that leave out the registers after the row.
 *
 * Extents of tiles are powers of two, rows are of any length: up to half of what threads compute are pads. In the
 * second placement of a kernel of rows (unaligned.c) register r of a thread holds element r * threads + thread, so the
 * last registers of all threads lie beyond a row that is short enough, and a version may do without them; the launcher
 * asks whether it is.
 *
 * Dropping them must not change results. Elements after the end of all tensors are loaded as pads, so what is computed
 * from them is the same number in each, unless an operation depends on elements' numbers or on their order. Maxima and
 * minima are the same without all but one of them, with which their result is combined, or without any where all their
 * uses combine them with more; sums are where the number is 0; or NaN, where a version keeps at least one of them in
 * its last register. No rounding changes: the results have the same bits.
 *
 * Such a version is for rows that are also not shorter than what the version with the next fewer registers keeps, or
 * than half a tile, where another kernel of a family takes over: so all but its last registers need no condition.
 *
 * cut_plan looks at the TYPED kernel: it proves this, and collects the lengths that have to be less than what a version
 * keeps. cut_place makes a copy of the placed kernel for each version. */
#include <math.h>

#include "base/diag.h"
#include "ir/fold.h"
#include "ir/monoid.h"
#include "lower/beyond.h"
#include "lower/placed.h"
#include "placed/access.h"

/* Sixteenths: what rows have at least, and what versions keep. Where rows lie side by side (dense.c), pads are most of
 * what they cost. */
enum { CUT_OF = 16 };
static const int cut_parts[] = { COST_CUT_LEAST, COST_CUT_FEW, COST_CUT_MOST };
static const int cut_parts_dense[1 + CUT_COPIES] = {
	COST_CUT_LEAST, COST_CUT_DENSE_FEW, COST_CUT_DENSE, COST_CUT_MOST
};

typedef VEC(Op *) OpVec;
typedef struct Cut {
	Fn *fn;
	int log2;               /* of the rows; -1: none yet */
	bool ok;
	bool pads;              /* some reduction counts on an element beyond the row */
	OpVec joined;           /* reductions that are the same without one if their result is combined with it */
	bool by_warp;           /* whole warps are left out, not registers */
	Beyonds beyond;
	ValSyms syms;
} Cut;

static bool is_single(const Val *v) { return !type_is_tile(v->type) || type_log2_size(v->type) == 0; }

static bool has_places(const void *cut, const Val *v)
{
	(void)cut;
	return !is_single(v);
}

/* What a version leaves out lies after this length, too. */
static bool must_be_short(void *cut, const Sym *s)
{
	Fn *fn = ((Cut *)cut)->fn;
	for (int i = 0; i < fn->below.n; i++)
		if (fn->below.p[i] == s) return true;
	vec_push(A_UNIT, &fn->below, s);
	return true;
}

/* A tile of a parameter that begins at element 0 or later: what its row has left is at most the extent. */
static bool ends_with_tensor(Cut *c, const Op *op, const Val *data)
{
	const Val *view = ir_in(op, 0);
	int a = type_row_axis(data->type), offset;
	if (view->block != c->fn->body || data->type->rank != view->type->rank) return false;
	if (c->log2 >= 0 && data->type->log2[a] != c->log2) return false;
	c->log2 = data->type->log2[a];
	const IrAttr *offsets = ir_attr(op, AT_OFFSETS), *inside = ir_attr(op, AT_INSIDE);
	offset = offsets ? (int)offsets->u.ints.p[a] : 0;
	if (offset < 0 || !index_never_below(ir_in(op, 1 + a)) || (inside && inside->u.ints.p[a] == 1)) return false;
	must_be_short(c, c->fn->params.p[view->index].extent[a]);
	return true;
}

/* Is v NaN where all elements of the row are, of which this is the greatest? A sum of powers of what they lie below
 * it is. */
static bool is_nan_as_row(const Val *v, const Val *greatest)
{
	const Op *op = beyond_shaped(v)->def, *power, *sub;
	while (op && (op->code == OP_LOG || op->code == OP_LOG2))
		op = beyond_shaped(ir_in(op, 0))->def;
	if (!op || op->code != OP_SUM) return false;
	power = beyond_shaped(ir_in(op, 0))->def;
	if (!power || (power->code != OP_EXP && power->code != OP_EXP2)) return false;
	sub = beyond_shaped(ir_in(power, 0))->def;
	return sub && sub->code == OP_SUB && beyond_shaped(ir_in(sub, 1)) == greatest
		&& beyond_is_greatest_of(ir_in(sub, 1), ir_in(sub, 0));
}

/* Is the greatest of a row only subtracted from its elements, or combined with what is NaN where all of these are? Then
 * it is NaN or what pads are, by how many pads there are; the differences are NaN either way. */
static bool is_only_subtracted(const Fn *fn, const Val *greatest)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		for (int i = 0; i < op->nin; i++) {
			if (beyond_shaped(ir_in(op, i)) != greatest || beyond_is_shape(op)) continue;
			bool from = op->code == OP_SUB && i == 1 && beyond_is_greatest_of(greatest, ir_in(op, 0));
			bool with = (op->code == OP_ADD || op->code == OP_SUB) && is_nan_as_row(ir_in(op, 1 - i), greatest);
			if (!from && !with) return false;
		}
	return true;
}

/* Do all uses take the greatest, or the least, of a row together with a constant that is n or beyond it? Then another n
 * changes nothing, nor does another NaN. Zeros have signs, so the constant is no zero where n is one. */
static bool is_bounded_by_uses(const Fn *fn, const Op *reduce, Num n)
{
	bool max = reduce->code == OP_REDUCE_MAX;
	if (!elem_is_any_float(reduce->out[0]->type->elem) || ir_int(reduce, AT_NAN, 0)) return false;
	for (const Op *op = fn->body->first; op; op = op->next)
		for (int i = 0; i < op->nin; i++) {
			Num with;
			if (beyond_shaped(ir_in(op, i)) != reduce->out[0] || beyond_is_shape(op)) continue;
			if (op->code != (max ? OP_MAX : OP_MIN) || ir_int(op, AT_NAN, 0)) return false;
			if (!ir_const_value(beyond_shaped(ir_in(op, 1 - i)), &with)) return false;
			if (max ? with.f < n.f : with.f > n.f) return false;
			if (isnan(with.f) || isnan(n.f) || (with.f == n.f && n.f == 0)) return false;
		}
	return true;
}

/* Is the result the same without any of the equal elements after the row? The greatest of NaNs alone is NaN, with a pad
 * it is the pad. */
static bool none_does(const Fn *fn, const Op *op, Beyond x)
{
	Elem e = ir_in(op, 0)->type->elem;
	bool extreme = op->code == OP_REDUCE_MAX || op->code == OP_REDUCE_MIN;
	bool or_nan = x.kind == BEYOND_NUMBER && !x.first && (!x.or_else || x.nan);
	if (extreme && or_nan && is_bounded_by_uses(fn, op, x.n)) return true;
	if (x.kind != BEYOND_NUMBER || (x.or_else && !(x.as_row && op->code == OP_SUM))) return false;
	switch (op->code) {
	case OP_SUM: return true;
	case OP_REDUCE_MAX: return beyond_is_least(e, x) && is_only_subtracted(fn, op->out[0]);
	default: return false;
	}
}

/* What combines two elements as a reduction does that is the same for an element once more; OP_COUNT: none. */
static OpCode combines_again(const Op *op)
{
	OpCode by = monoid_of_kind(monoid_kind(op->code));
	return monoid_idempotent(by) && monoid_reduction(by) == op->code ? by : OP_COUNT;
}

/* Does one of the equal elements after the row do for all? Of those that are equal, too, the first is the one whose
 * place counts. */
static bool one_does(Cut *c, Op *op)
{
	Beyond x = beyond_end(&c->beyond, ir_in(op, 0));
	Elem e = ir_in(op, 0)->type->elem;
	bool number = beyond_is_number(x), none = none_does(c->fn, op, x);
	if (!none && number && combines_again(op) != OP_COUNT) vec_push(A_TMP, &c->joined, op);
	else c->pads |= !none;
	if (op->code == OP_SUM) return x.kind == BEYOND_NUMBER && (elem_is_any_float(e) ? x.n.f == 0 : x.n.i == 0);
	if (!monoid_idempotent(monoid_of_kind(monoid_kind(op->code)))) return false;
	if (x.first) return op->code == OP_REDUCE_MAX && beyond_is_least(e, x) && is_only_subtracted(c->fn, op->out[0]);
	return x.kind == BEYOND_SAME || x.kind == BEYOND_NUMBER;
}

static bool only_scalars(const Op *op)
{
	for (int i = 0; i < op->nin; i++)
		if (!is_single(ir_in(op, i))) return false;
	for (int i = 0; i < op->nout; i++)
		if (!is_single(op->out[i])) return false;
	return true;
}

/* Do pads come after all numbers? Then how many there are matters only where NaNs come after them, and those are never
 * among the elements of rows of up to half their tile (OP_SORT of by_warp.c). */
static bool pads_come_last(const Op *op, Beyond x)
{
	Elem e = ir_in(op, 0)->type->elem;
	bool down = ir_int(op, AT_DESCENDING, 0) != 0;
	if (x.kind != BEYOND_NUMBER || x.or_else || op->code != OP_SORT) return false;
	if (elem_is_any_float(e)) return isinf(x.n.f) && (x.n.f < 0) == down;
	return num_same(e, x.n, down ? num_least(e) : num_greatest(e));
}

/* What a scan gives the row is the same without what comes after it; backwards, where that changes nothing. */
static bool scans_row_alone(Cut *c, const Op *op)
{
	const Val *v = ir_in(op, 0);
	Beyond x = beyond_end(&c->beyond, v);
	if (ir_axis(op) != type_row_axis(v->type)) return false;
	if (!ir_int(op, AT_DIRECTION, 0)) return true;
	c->pads = true;
	return !op->nregion && beyond_is_number(x)
		&& num_same(v->type->elem, x.n, monoid_begin(op->code, v->type->elem));
}

static bool of_op(Cut *c, Op *op)
{
	if (op_is_scan(op)) return c->by_warp && scans_row_alone(c, op);
	if (op->nregion) return false;
	if (only_scalars(op)) return true;
	switch (op->code) {
	case OP_LOAD: return ends_with_tensor(c, op, op->out[0]);
	case OP_STORE: return ends_with_tensor(c, op, ir_in(op, op->nin - 1));
	case OP_IOTA: case OP_CONST: return true;
	case OP_SORT: return c->by_warp && pads_come_last(op, beyond_end(&c->beyond, ir_in(op, 0)));
	default: break;
	}
	if (op_is_reduce(op)) return is_single(op->out[0]) && one_does(c, op);
	if (!op_has(op, OPF_ELEMWISE | OPF_FREE)) return false;
	beyond_end(&c->beyond, op->out[0]);     /* in order, so that it looks at operands that it knows */
	return true;
}

static bool is_row_or_single(const Cut *c, const Val *v)
{
	if (is_single(v)) return true;
	int a = type_row_axis(v->type);
	return type_log2_size(v->type) == c->log2 && v->type->log2[a] == c->log2;
}

/* Is there a place beyond all tensors in the tile? */
static Val *is_short(const Cut *c, Builder *b)
{
	const Sym *all = sym_const(1);
	for (int i = 0; i < c->fn->below.n; i++)
		all = sym_logic(SYM_AND, all, sym_cmp(SYM_LT, c->fn->below.p[i], sym_const((int64_t)1 << c->log2)));
	return ir_launch(b, EL_BOOL, all);
}

/* Combines what a reduction gives with a pad, where there is one, so that no place of the row need hold it. */
static void join_pad(Cut *c, Op *op)
{
	Builder b = build_after(op);
	Val *r = op->out[0];
	Val *has = is_short(c, &b), *pad = ir_const_num(&b, r->type, beyond_end(&c->beyond, ir_in(op, 0)).n);
	Val *both = ir_binary(&b, combines_again(op), r->type, r, pad);
	const IrAttr *nan = ir_attr(op, AT_NAN);
	if (nan) ir_set_int(both->def, AT_NAN, ir_int(op, AT_NAN, 0));
	if (type_is_tile(r->type)) has = ir_unary(&b, OP_BROADCAST, type_with_elem(r->type, EL_BOOL), has);
	Val *either = ir_op1(&b, OP_SELECT, r->type, 3, (Val *[]){ has, both, r });
	for (Op *o = either->def->next; o; o = o->next)
		for (int i = 0; i < o->nin; i++)
			if (ir_in(o, i) == r) o->in[i] = either;
}

void cut_plan(Fn *fn, bool by_warp)
{
	ir_number(fn);
	Cut c = { .fn = fn, .log2 = -1, .ok = true, .by_warp = by_warp, .syms = valsyms_new(fn) };
	c.beyond = (Beyonds){ NEW_ARRAY(A_TMP, Beyond, fn->nval), has_places, must_be_short, &c, &c.syms, 0 };
	for (Op *op = fn->body->first; op && c.ok; op = op->next) c.ok = of_op(&c, op);
	for (const Op *op = fn->body->first; op && c.ok; op = op->next)
		for (int i = 0; i < op->nout; i++) c.ok &= is_row_or_single(&c, op->out[i]);
	fn->row_log2 = c.ok && c.log2 > 0 ? c.log2 : 0;
	fn->row_pads = fn->row_log2 && c.pads;          /* else nothing needs one but what it is combined with */
	for (int i = 0; fn->row_log2 && !c.pads && i < c.joined.n; i++) join_pad(&c, c.joined.p[i]);
	ir_number(fn);
}

/* ---- the placed kernel ---- */

/* Conversions to 16 bits take pairs of registers. */
static int registers_of(int part, int log2)
{
	int n = ((part << log2) + CUT_OF - 1) / CUT_OF;
	return n + (n & 1);
}

/* Registers count what lies a whole step apart: of all threads, or of a warp. */
static bool registers_count_steps(const Fn *fn, const Val *v, int regs_log2)
{
	int axis = type_row_axis(v->type), step = fn->by_warp ? LANES_LOG2 : fn->row_log2 - regs_log2;
	if (!v->lay || v->lay->in[HW_REG] != regs_log2) return false;
	for (int i = 0; i < regs_log2; i++)
		if (lay_coord(*v->lay, v->lay->col[i], axis) != (uint32_t)1 << (step + i)) return false;
	return true;
}

void cut_place(Fn *fn, FnVec *cuts)
{
	int regs = -1;
	Op *phase = (Op *)peel_phase_of(fn);
	if (!fn->row_log2) return;
	for (const Op *op = fn->body->first; op; op = op->next) {
		if (op->nregion || op_is_scan(op)) return;
		for (int i = 0; i < op->nout; i++) {
			const Val *v = op->out[i];
			if (!type_is_tile(v->type) || type_log2_size(v->type) != fn->row_log2) continue;
			if (regs < 0) regs = v->lay->in[HW_REG];
			if (!registers_count_steps(fn, v, regs)) return;
		}
	}
	if (regs < 0 || (regs == fn->row_log2 && !rows_are_dense(fn))) return;
	fn->row_regs_log2 = regs;
	if (phase && !fn->lanes) ir_set_int(phase, AT_ROWS, ROWS_SHIFTED);
	if (1 << regs < COST_CUT_REGS) return;
	if (!cuts || fn->by_warp) return;
	const int *part = rows_are_dense(fn) ? cut_parts_dense : cut_parts;
	int copies = rows_are_dense(fn) ? CUT_COPIES : (int)(sizeof cut_parts / sizeof *cut_parts) - 1;
	for (int i = 1; i <= copies; i++) {
		int keep = registers_of(part[i], regs), sure = registers_of(part[i - 1], regs);
		if (keep == 1 << regs || keep == sure) continue;
		Fn *cut = copy_kernel(fn);
		cut->short_rows = cut->warp_rows = false;
		cut->row_few = 0;
		cut->row_regs = keep;
		cut->row_sure = sure;
		vec_push(A_UNIT, cuts, cut);
	}
}
