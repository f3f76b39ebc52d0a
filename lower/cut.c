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
#include "ir/valsym.h"
#include "lower/placed.h"
#include "placed/access.h"

/* Sixteenths: what rows have at least, and what versions keep. Where rows lie side by side (dense.c), pads are most of
 * what they cost. */
enum { CUT_OF = 16 };
static const int cut_parts[] = { COST_CUT_LEAST, COST_CUT_FEW, COST_CUT_MOST };
static const int cut_parts_dense[1 + CUT_COPIES] = {
	COST_CUT_LEAST, COST_CUT_DENSE_FEW, COST_CUT_DENSE, COST_CUT_MOST
};

/* What a value is at the places that lie beyond all tensors. COUNTS: the number of its place; FIRST: a condition that
 * holds up to some place, perhaps at all or none. NUMBER: n, or with or_else perhaps NaN or an infinity, the same
 * everywhere: with nan, only NaN; with as_row, NaN where all elements of the row are; with first, perhaps that at some
 * first places, and n at the others. */
typedef enum Kind { DIFFERS, SAME, NUMBER, COUNTS, FIRST } Kind;
typedef struct Beyond { Kind kind; Num n; bool or_else, nan, as_row, first; } Beyond;

typedef VEC(Op *) OpVec;
typedef struct Cut {
	Fn *fn;
	int log2;               /* of the rows; -1: none yet */
	Beyond *at;             /* by Val id */
	bool ok;
	bool pads;              /* some reduction counts on an element beyond the row */
	OpVec joined;           /* reductions that are the same without one if their result is combined with it */
	bool by_warp;           /* whole warps are left out, not registers */
	ValSyms syms;
} Cut;

static bool is_single(const Val *v) { return !type_is_tile(v->type) || type_log2_size(v->type) == 0; }

static void must_be_short(Cut *c, const Sym *s)
{
	for (int i = 0; i < c->fn->below.n; i++)
		if (c->fn->below.p[i] == s) return;
	vec_push(A_UNIT, &c->fn->below, s);
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

static Beyond beyond(const Cut *c, const Val *v)
{
	Num n;
	if (elem_is_ptr(v->type->elem)) return (Beyond){ .kind = DIFFERS };
	if (ir_const_value(v, &n)) return (Beyond){ .kind = NUMBER, .n = n };
	return is_single(v) ? (Beyond){ .kind = SAME } : c->at[v->id];
}

/* A number that the launcher can compute from those of the call; NULL: v is none. */
static const Sym *known_at_launch(Cut *c, const Val *v)
{
	while (v->def && v->def->code == OP_BROADCAST) v = ir_in(v->def, 0);
	if (type_is_tile(v->type) || !elem_is_int(v->type->elem)) return NULL;
	const Sym *s = valsym(&c->syms, v);
	return sym_is_of_call(s) ? s : NULL;
}

/* Comparison of an element's number with a place within the row, or with a length. */
static bool of_compare(Cut *c, const Op *op, Beyond *r)
{
	OpCode code = op->code;
	if (code == OP_EQ || code == OP_NE) {
		bool counts = beyond(c, ir_in(op, 0)).kind == COUNTS;
		const Sym *at = known_at_launch(c, ir_in(op, counts ? 1 : 0));
		if (!at || beyond(c, ir_in(op, counts ? 0 : 1)).kind != COUNTS) return false;
		must_be_short(c, sym_add(at, sym_const(1)));
		*r = (Beyond){ .kind = NUMBER, .n = num_int(code == OP_NE) };
		return true;
	}
	if (!op_compares(code)) return false;
	bool first = beyond(c, ir_in(op, 0)).kind == COUNTS;
	const Val *with = ir_in(op, first ? 1 : 0);
	const Sym *s = launched_sym(with);
	if (beyond(c, ir_in(op, first ? 0 : 1)).kind != COUNTS) return false;
	if (s && (first ? code == OP_LT || code == OP_GE : code == OP_GT || code == OP_LE)) {
		must_be_short(c, s);
		*r = (Beyond){ .kind = NUMBER, .n = num_int(first ? code == OP_GE : code == OP_LE) };
		return true;
	}
	bool below = first ? code == OP_LT || code == OP_LE : code == OP_GT || code == OP_GE;
	Kind than = beyond(c, with).kind;
	if (!below || (than != SAME && than != NUMBER)) return false;
	*r = (Beyond){ .kind = FIRST };
	return true;
}

static bool is_float_zero(Elem e, Beyond b) { return b.kind == NUMBER && elem_is_any_float(e) && b.n.f == 0; }
static bool is_least(Elem e, Beyond b) { return b.kind == NUMBER && elem_is_any_float(e) && isinf(b.n.f) && b.n.f < 0; }

static bool is_shape(const Op *op)
{
	return op && (op->code == OP_BROADCAST || op->code == OP_RESHAPE || op->code == OP_TO_SCALAR);
}

static const Val *before_shape(const Val *v)
{
	while (is_shape(v->def)) v = ir_in(v->def, 0);
	return v;
}

/* Is y, the same everywhere, the greatest of a row of which x is the elements? */
static bool is_greatest_of(const Val *y, const Val *x)
{
	const Op *max = before_shape(y)->def;
	return max && max->code == OP_REDUCE_MAX && before_shape(ir_in(max, 0)) == before_shape(x);
}

/* Is v NaN where all elements of the row are, of which this is the greatest? A sum of powers of what they lie below
 * it is. */
static bool is_nan_as_row(const Val *v, const Val *greatest)
{
	const Op *op = before_shape(v)->def, *power, *sub;
	while (op && (op->code == OP_LOG || op->code == OP_LOG2))
		op = before_shape(ir_in(op, 0))->def;
	if (!op || op->code != OP_SUM) return false;
	power = before_shape(ir_in(op, 0))->def;
	if (!power || (power->code != OP_EXP && power->code != OP_EXP2)) return false;
	sub = before_shape(ir_in(power, 0))->def;
	return sub && sub->code == OP_SUB && before_shape(ir_in(sub, 1)) == greatest
		&& is_greatest_of(ir_in(sub, 1), ir_in(sub, 0));
}

/* Is the greatest of a row only subtracted from its elements, or combined with what is NaN where all of these are? Then
 * it is NaN or what pads are, by how many pads there are; the differences are NaN either way. */
static bool is_only_subtracted(const Fn *fn, const Val *greatest)
{
	for (const Op *op = fn->body->first; op; op = op->next)
		for (int i = 0; i < op->nin; i++) {
			if (before_shape(ir_in(op, i)) != greatest || is_shape(op)) continue;
			bool from = op->code == OP_SUB && i == 1 && is_greatest_of(greatest, ir_in(op, 0));
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
			if (before_shape(ir_in(op, i)) != reduce->out[0] || is_shape(op)) continue;
			if (op->code != (max ? OP_MAX : OP_MIN) || ir_int(op, AT_NAN, 0)) return false;
			if (!ir_const_value(before_shape(ir_in(op, 1 - i)), &with)) return false;
			if (max ? with.f < n.f : with.f > n.f) return false;
			if (isnan(with.f) || isnan(n.f) || (with.f == n.f && n.f == 0)) return false;
		}
	return true;
}

/* A zero times any number, or divided by one: 0 or NaN. */
static Beyond of_zero(Beyond zero)
{
	bool nan = !zero.or_else || zero.nan;
	return (Beyond){ .kind = NUMBER, .n = num_float(0), .or_else = true, .nan = nan };
}

/* Operations of which one operand decides, whatever number the other is, the same everywhere: but for NaN and
 * infinities. What lies below the greatest of its row by infinity is NaN only where that is -inf or NaN: then so is
 * what each element lies below it. What holds at first places alone is followed through what a softmax does: that
 * others are greater or NaN while the first are not is excluded by the greatest of the row. SAME: of others. */
static Beyond of_absorbing(const Op *op, const Beyond *in)
{
	const Beyond least = { .kind = NUMBER, .n = num_float(-INFINITY), .or_else = true };
	const Beyond zero = { .kind = NUMBER, .n = num_float(0), .or_else = true };
	Beyond r = { .kind = in[0].first || in[1].first ? DIFFERS : SAME };
	Elem e = ir_in(op, 0)->type->elem, to = op->out[0]->type->elem;
	switch (op->code) {
	case OP_SUB:
		if (!is_least(e, in[0]) || (in[0].first && !is_greatest_of(ir_in(op, 1), ir_in(op, 0)))) return r;
		r = least;
		r.first = in[0].first;
		r.as_row = !in[0].or_else && is_greatest_of(ir_in(op, 1), ir_in(op, 0));
		return r;
	case OP_EXP: case OP_EXP2:
		if (!is_least(e, in[0])) return r;
		r = zero;
		r.or_else = in[0].or_else;
		r.as_row = in[0].as_row;
		r.first = in[0].first;
		return r;
	case OP_ADD:
		return r.kind == SAME && (is_least(e, in[0]) || is_least(e, in[1])) ? least : r;
	case OP_MUL: case OP_DIV:
		if (r.kind == DIFFERS) return r;
		if (is_float_zero(e, in[0])) return of_zero(in[0]);
		if (op->code == OP_MUL && is_float_zero(e, in[1])) return of_zero(in[1]);
		return is_least(e, in[0]) || (op->code == OP_MUL && is_least(e, in[1])) ? least : r;
	case OP_ABS: case OP_NEG:
		return is_float_zero(e, in[0]) && !in[0].first ? in[0] : r;
	case OP_CAST:
		if (in[0].kind != NUMBER || !elem_is_any_float(e) || !elem_is_any_float(to) || in[0].first) return r;
		if (in[0].or_else && (to == EL_F8E4M3 || to == EL_F8E5M2 || ir_int(op, AT_OVERFLOW, 0))) return r;
		r = in[0];
		r.n = fold_cast(in[0].n, e, to, fold_modes(op));
		return r;
	default: return r;
	}
}

static Beyond of_elementwise(Cut *c, const Op *op)
{
	Beyond in[8] = { { .kind = SAME } }, r = { .kind = SAME };
	Num n[8];
	bool numbers = true, same = true, first = false;
	if (op->nin > 8) return (Beyond){ .kind = DIFFERS };
	for (int i = 0; i < op->nin; i++) {
		in[i] = beyond(c, ir_in(op, i));
		n[i] = in[i].n;
		numbers &= in[i].kind == NUMBER && !in[i].or_else;
		same &= in[i].kind == SAME || in[i].kind == NUMBER;
		first |= in[i].first;
	}
	if (op->code == OP_SELECT && in[0].kind == NUMBER && !in[0].or_else)
		return in[num_is_true(EL_BOOL, in[0].n) ? 1 : 2];
	if (op->code == OP_SELECT && in[0].kind == FIRST && in[1].kind == NUMBER && in[2].kind == NUMBER && !first
		&& !in[2].or_else && num_same(op->out[0]->type->elem, in[1].n, in[2].n)) {
		r = in[1];
		r.first = r.or_else;
		return r;
	}
	if (of_compare(c, op, &r)) return r;
	if (same) r = of_absorbing(op, in);
	if (numbers && fold_is_exact(op->code)
		&& fold_op(op->code, fold_modes(op), ir_in(op, op->code == OP_SELECT)->type->elem, op->out[0]->type->elem,
		op->nin, n, &r.n)) r = (Beyond){ .kind = NUMBER, .n = r.n };
	return same ? r : (Beyond){ .kind = DIFFERS };
}

/* Is the result the same without any of the equal elements after the row? The greatest of NaNs alone is NaN, with a pad
 * it is the pad. */
static bool none_does(const Fn *fn, const Op *op, Beyond x)
{
	Elem e = ir_in(op, 0)->type->elem;
	bool extreme = op->code == OP_REDUCE_MAX || op->code == OP_REDUCE_MIN;
	bool or_nan = x.kind == NUMBER && !x.first && (!x.or_else || x.nan);
	if (extreme && or_nan && is_bounded_by_uses(fn, op, x.n)) return true;
	if (x.kind != NUMBER || (x.or_else && !(x.as_row && op->code == OP_SUM))) return false;
	switch (op->code) {
	case OP_SUM: return true;
	case OP_REDUCE_MAX: return is_least(e, x) && is_only_subtracted(fn, op->out[0]);
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
	Beyond x = beyond(c, ir_in(op, 0));
	Elem e = ir_in(op, 0)->type->elem;
	bool number = x.kind == NUMBER && !x.or_else && !x.first, none = none_does(c->fn, op, x);
	if (!none && number && combines_again(op) != OP_COUNT) vec_push(A_TMP, &c->joined, op);
	else c->pads |= !none;
	if (op->code == OP_SUM) return x.kind == NUMBER && (elem_is_any_float(e) ? x.n.f == 0 : x.n.i == 0);
	if (!monoid_idempotent(monoid_of_kind(monoid_kind(op->code)))) return false;
	if (x.first) return op->code == OP_REDUCE_MAX && is_least(e, x) && is_only_subtracted(c->fn, op->out[0]);
	return x.kind == SAME || x.kind == NUMBER;
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
	if (x.kind != NUMBER || x.or_else || op->code != OP_SORT) return false;
	if (elem_is_any_float(e)) return isinf(x.n.f) && (x.n.f < 0) == down;
	return num_same(e, x.n, down ? num_least(e) : num_greatest(e));
}

/* What a scan gives the row is the same without what comes after it; backwards, where that changes nothing. */
static bool scans_row_alone(Cut *c, const Op *op)
{
	const Val *v = ir_in(op, 0);
	Beyond x = beyond(c, v);
	if (ir_axis(op) != type_row_axis(v->type)) return false;
	if (!ir_int(op, AT_DIRECTION, 0)) return true;
	c->pads = true;
	return !op->nregion && x.kind == NUMBER && !x.or_else && !x.first
		&& num_same(v->type->elem, x.n, monoid_begin(op->code, v->type->elem));
}

static bool of_op(Cut *c, Op *op)
{
	if (op_is_scan(op)) return c->by_warp && scans_row_alone(c, op);
	if (op->nregion) return false;
	if (only_scalars(op)) return true;
	Beyond *r = op->nout ? &c->at[op->out[0]->id] : NULL;
	switch (op->code) {
	case OP_LOAD:
		*r = beyond(c, ir_in(op, op->nin - 1));
		return ends_with_tensor(c, op, op->out[0]);
	case OP_STORE: return ends_with_tensor(c, op, ir_in(op, op->nin - 1));
	case OP_IOTA: *r = (Beyond){ .kind = COUNTS }; return true;
	case OP_CONST: return true;
	case OP_SORT: return c->by_warp && pads_come_last(op, beyond(c, ir_in(op, 0)));
	default: break;
	}
	if (op_is_reduce(op)) return is_single(op->out[0]) && one_does(c, op);
	if (!op_has(op, OPF_ELEMWISE | OPF_FREE)) return false;
	*r = op_has(op, OPF_FREE) ? beyond(c, ir_in(op, 0)) : of_elementwise(c, op);
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
static void join_pad(const Cut *c, Op *op)
{
	Builder b = build_after(op);
	Val *r = op->out[0];
	Val *has = is_short(c, &b), *pad = ir_const_num(&b, r->type, beyond(c, ir_in(op, 0)).n);
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
	Cut c = { fn, -1, NEW_ARRAY(A_TMP, Beyond, fn->nval), true, false, { 0 }, by_warp, valsyms_new(fn) };
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
