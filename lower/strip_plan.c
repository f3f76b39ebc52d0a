/* What pass strip cuts, and how many loops that takes.
 *
 * A tile is cut along one axis. From one tile the axis spreads to all tiles connected to it: elementwise operations cut
 * operands and results alike, a broadcast cuts its operand where that has the axis, a reduction along another axis cuts
 * its result. A reduction along the axis ends a loop: its result is whole, and what depends on it runs in a later loop.
 * Loads, and what is computed from them, run again in each loop that needs them. So the number of an operation's loop
 * is the length of the longest chain of such reductions before it.
 *
 * A sum of exp(x - m) need not wait for m, the maximum of x: exp(x - r) with the greatest x so far in place of m
 * differs by a factor of exp(r - m), which is known after the loop, and one of exp(r - r')
 * wherever r gives way to a greater r'.
 *
 * Memory keeps the order of the program: an access of what an earlier one writes, or a write of what an earlier one
 * reads, runs in a later loop than all runs of the earlier one, or in the same loop after it where
 * both are of the same slice. */
#include <string.h>

#include "base/diag.h"
#include "ir/monoid.h"
#include "lower/strip.h"

enum { UNKNOWN = -2, MOST_ROUNDS = 64 };

bool strip_is_cut(const StripPlan *p, const Val *v)
{
	return v->id < p->nval && type_is_tile(v->type) && p->axis[v->id] >= 0;
}

/* Of nothing but scalars and numbers of elements. */
static bool strip_is_made(const Val *v)
{
	if (!v->def) return false;
	OpCode c = v->def->code;
	return c == OP_CONST || c == OP_IOTA || (c == OP_BROADCAST && !type_is_tile(ir_in(v->def, 0)->type));
}

/* ---- the axis of each value ---- */
typedef struct Spread { StripPlan *p; int log2; bool changed, failed; } Spread;

static void set(Spread *s, const Val *v, int axis)
{
	if (!type_is_tile(v->type)) return;
	int8_t *a = &s->p->axis[v->id];
	if (*a == axis) return;
	if (*a != UNKNOWN || (axis >= 0 && v->type->log2[axis] < s->log2)) s->failed = true;
	*a = (int8_t)axis;
	s->changed = true;
}

static int axis_of(const Spread *s, const Val *v) { return type_is_tile(v->type) ? s->p->axis[v->id] : UNKNOWN; }

static int log2_before(const Type *t, int axis)
{
	int n = 0;
	for (int a = 0; a < axis; a++) n += t->log2[a];
	return n;
}

/* Cutting an axis divides by its slowest part: so the axis of another shape of the same elements is one that begins at
 * the same place and is at least as long. */
static int reshaped_axis(const Spread *s, const Type *from, int axis, const Type *to)
{
	int before = log2_before(from, axis);
	for (int a = 0; a < to->rank; a++)
		if (to->log2[a] >= s->log2 && log2_before(to, a) == before) return a;
	return SLICE_WHOLE;
}

static void spread_all(Spread *s, const Op *op)        /* one shape, one axis */
{
	int axis = UNKNOWN;
	for (int i = 0; i < op->nin && axis < 0; i++) axis = axis_of(s, ir_in(op, i));
	for (int i = 0; i < op->nout && axis < 0; i++) axis = axis_of(s, op->out[i]);
	if (axis < 0) return;
	for (int i = 0; i < op->nin; i++) set(s, ir_in(op, i), axis);
	for (int i = 0; i < op->nout; i++) set(s, op->out[i], axis);
}

static void spread_broadcast(Spread *s, const Op *op)
{
	const Val *x = ir_in(op, 0), *r = op->out[0];
	int pad = r->type->rank - (type_is_tile(x->type) ? x->type->rank : r->type->rank), a = axis_of(s, r);
	if (axis_of(s, x) >= 0) set(s, r, axis_of(s, x) + pad);
	if (a < pad) return;
	set(s, x, type_is_tile(x->type) && x->type->log2[a - pad] ? a - pad : SLICE_WHOLE);
}

static void spread_reshape(Spread *s, const Op *op)
{
	const Val *x = ir_in(op, 0), *r = op->out[0];
	int from = axis_of(s, x), to = axis_of(s, r);
	if (from >= 0) set(s, r, reshaped_axis(s, x->type, from, r->type));
	else if (to >= 0) set(s, x, reshaped_axis(s, r->type, to, x->type));
	if ((from >= 0) != (axis_of(s, r) >= 0) && from != UNKNOWN) s->failed = true;
}

static void spread_permute(Spread *s, const Op *op)
{
	const Val *x = ir_in(op, 0), *r = op->out[0];
	const int64_t *axes = ir_attr(op, AT_AXES)->u.ints.p;
	for (int a = 0; a < r->type->rank; a++) {
		if (axis_of(s, x) == axes[a]) set(s, r, a);
		else if (axis_of(s, r) == a) set(s, x, (int)axes[a]);
	}
}

static bool splits_up(OpCode c)         /* a reduction whose parts combine by one operation, in any order */
{
	return op_rows[c].flags & OPF_REDUCE && monoid_kind(c) != KIND_CUSTOM;
}

static void spread_reduce(Spread *s, const Op *op)
{
	const Val *x = ir_in(op, 0), *r = op->out[0];
	int axis = ir_axis(op), a = axis_of(s, x);
	if (a < 0) a = axis_of(s, r);
	if (a < 0) return;
	set(s, x, a);
	set(s, r, a == axis ? SLICE_WHOLE : a);
	if (a == axis && !splits_up(op->code)) s->failed = true;
}

/* Numbers count in row-major order: those of a slice are the first slice's plus a constant where all axes before have
 * extent 1. */
static void check_numbers(Spread *s, const Val *r)
{
	if (axis_of(s, r) >= 0 && log2_before(r->type, axis_of(s, r))) s->failed = true;
}

/* A scan of one value, or forward by a function of the author's whose operations work element by element, so that they
 * work on tiles as well. */
static bool goes_on(const Op *op)
{
	if (!op_is_scan(op)) return false;
	if (!op->nregion) return op->nin == 1;
	for (int i = 0; i < scan_values(op); i++)
		if (!elem_is_int(ir_in(op, i)->type->elem) && !elem_is_any_float(ir_in(op, i)->type->elem)) return false;
	const IrBlock *f = op->region[0];
	for (const Op *o = f->first; o != f->last; o = o->next)
		if (o->nregion || o->nout != 1 || !(o->code == OP_CONST || op_has(o, OPF_ELEMWISE))) return false;
	return !ir_int(op, AT_DIRECTION, 0);
}

/* Elements that move along one axis: the others may be cut. A scan knows of all slices that its loop, which begins with
 * the first or, for a backward scan, with the last, has met. */
static void spread_along(Spread *s, const Op *op)
{
	spread_all(s, op);
	if (axis_of(s, op->out[0]) != ir_axis(op)) {
		s->failed |= op->nregion > 0;
		return;
	}
	if (op->code == OP_SHIFT || !goes_on(op)) s->failed = true;
}

static bool meets_cut(const Spread *s, const Op *op)
{
	for (int i = 0; i < op->nin; i++)
		if (axis_of(s, ir_in(op, i)) >= 0) return true;
	for (int i = 0; i < op->nout; i++)
		if (axis_of(s, op->out[i]) >= 0) return true;
	return false;
}

static void spread_op(Spread *s, const Op *op)
{
	if (!meets_cut(s, op)) return;
	if (op->nregion && !goes_on(op)) s->failed = true;
	else if (op->code == OP_CONST) return;
	else if (op->code == OP_IOTA) check_numbers(s, op->out[0]);
	else if (op->code == OP_BROADCAST) spread_broadcast(s, op);
	else if (op->code == OP_RESHAPE) spread_reshape(s, op);
	else if (op->code == OP_PERMUTE) spread_permute(s, op);
	else if (op_is_reduce(op) && op->nin == 1) spread_reduce(s, op);
	else if (op->code == OP_SHIFT || op_is_scan(op)) spread_along(s, op);
	else if (op->code == OP_GATHER && memory_is_constant(s->p->fn, ir_in(op, 0))) spread_all(s, op);
	else if (op->code == OP_LOAD || op->code == OP_STORE || op_has(op, OPF_ELEMWISE)) spread_all(s, op);
	else s->failed = true;
}

/* What a block is given from outside it has whole, but for what is as quickly made again. */
static void check_outside(Spread *s, const Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		if (axis_of(s, v) >= 0 && s->p->def[v->id] < 0 && !strip_is_made(v)) s->failed = true;
	}
}

/* Where control may leave the block in its middle, what stands before and after that keeps its place. */
static void check_jump(void *ctx, Op *op)
{
	Spread *s = ctx;
	bool loop = op->code == OP_BREAK || op->code == OP_CONTINUE;
	if ((!loop && op->code != OP_LEAVE && op->code != OP_RETURN) || op->parent == s->p->block) return;
	for (const Op *o = op->parent->owner; o && op->code != OP_RETURN; o = o->parent->owner) {
		if (loop ? op_has(o, OPF_LOOP) : o->code == OP_SCOPE_) return;
		if (o->parent == s->p->block) break;
	}
	s->failed = true;
}

/* A tile of the block that an operation within a region of its own uses stays whole. */
static void keep_whole(void *ctx, Op *op)
{
	Spread *s = ctx;
	for (int i = 0; i < op->nin && op->parent != s->p->block; i++)
		if (axis_of(s, ir_in(op, i)) >= 0) s->failed = true;
}

/* ---- sums that keep up with a maximum ---- */
Val *strip_exponent(const StripOp *o)
{
	const Op *e = ir_in(o->op, 0)->def;
	return ir_in(ir_in(e, 0)->def, 0);
}

/* Which of ops is the maximum, along the same axis, that the sum's exponents subtract; -1: it is no such sum. */
static int maximum_of(const StripPlan *p, const StripOp *o)
{
	const Op *e = ir_in(o->op, 0)->def, *d = e && e->code == OP_EXP ? ir_in(e, 0)->def : NULL;
	if (o->op->code != OP_SUM || !o->part || ir_int(o->op, AT_ROUNDING, 0)) return -1;
	if (!d || d->code != OP_SUB || ir_int(d, AT_ROUNDING, 0)) return -1;
	const Op *b = ir_in(d, 1)->def;
	if (!b || b->code != OP_BROADCAST || e->out[0]->type->elem != EL_F32
		|| e->out[0]->type->rank > TILE_RANK - SLICE_AXES)
		return -1;
	int m = p->def[ir_in(b, 0)->id];
	if (m < 0 || !p->ops[m].part || p->ops[m].op->code != OP_REDUCE_MAX || ir_in(p->ops[m].op, 0) != ir_in(d, 0))
		return -1;
	return ir_axis(p->ops[m].op) == ir_axis(o->op) ? m : -1;
}

/* ---- what is cut ---- */
static bool spread(StripPlan *p, Val *seed, int axis, int log2)
{
	Spread s = { .p = p, .log2 = log2 };
	memset(p->axis, UNKNOWN, (size_t)p->fn->nval);
	set(&s, seed, axis);
	while (s.changed && !s.failed) {
		s.changed = false;
		for (int i = 0; i < p->n; i++) spread_op(&s, p->ops[i].op);
		for (int i = p->n - 1; i >= 0; i--) spread_op(&s, p->ops[i].op);
	}
	ir_walk(p->block, keep_whole, &s);
	ir_walk(p->block, check_jump, &s);
	for (int i = 0; i < p->n; i++) check_outside(&s, p->ops[i].op);
	for (int i = 0; i < p->n; i++) {
		StripOp *o = &p->ops[i];
		o->cut = meets_cut(&s, o->op);
		o->part = o->cut && op_is_reduce(o->op) && axis_of(&s, o->op->out[0]) < 0;
		o->scan = o->cut && op_is_scan(o->op) && axis_of(&s, o->op->out[0]) == ir_axis(o->op);
		o->online = -1;
	}
	for (int i = 0; i < p->n; i++)
		if (p->ops[i].part) p->ops[i].online = maximum_of(p, &p->ops[i]);
	return !s.failed;
}

/* ---- the loops ---- */
typedef struct Raise { StripPlan *p; int level; } Raise;

/* The level of what op, or an operation within, waits for. */
static void wait_for(void *ctx, Op *op)
{
	Raise *r = ctx;
	for (int i = 0; i < op->nin; i++) {
		int d = r->p->def[ir_in(op, i)->id];
		if (d < 0) continue;
		int level = r->p->ops[d].level + r->p->ops[d].part;
		if (level > r->level) r->level = level;
	}
	for (int k = 0; k < op->nregion; k++) ir_walk(op->region[k], wait_for, ctx);
}

static void find_levels(StripPlan *p)
{
	for (int i = 0; i < p->n; i++) {
		int m = p->ops[i].online;
		Raise r = { p, p->ops[i].least };
		if (m < 0) wait_for(&r, p->ops[i].op);
		else if (p->ops[m].level > r.level) r.level = p->ops[m].level;
		p->ops[i].level = r.level;
		p->ops[i].runs = 0;
	}
	for (int i = p->n - 1; i >= 0; i--) {
		StripOp *o = &p->ops[i];
		if (!o->cut) continue;
		if (!o->op->nout || o->part) o->runs = 1u << o->level;
		for (int k = 0; k < o->op->nin; k++) {
			int d = p->def[o->online < 0 ? ir_in(o->op, k)->id : strip_exponent(o)->id];
			if (d >= 0 && p->ops[d].cut && !p->ops[d].part) p->ops[d].runs |= o->runs;
		}
	}
}

static int last_run(const StripOp *o)
{
	int k = o->level;
	while (o->cut && o->runs >> k > 1) k++;
	return k;
}

/* ---- memory ---- */
typedef struct Effect { const Val *root; bool any, write, ordered; } Effect;     /* any: may be anywhere */

static void find_effect(void *ctx, Op *op)
{
	Effect *e = ctx;
	if (!op_has(op, OPF_READ | OPF_WRITE) || op->code == OP_ASSUME) return;
	e->ordered |= ir_int(op, AT_ORDER, 0) != 0;
	const Val *v = op->nin ? ir_in(op, 0) : NULL;
	bool view = v && v->type->kind == TY_VIEW;
	if (view && !op_has(op, OPF_WRITE) && memory_is_constant(op->parent->fn, v)) return;
	if (view) v = ir_tensor(v);
	view = view && v->type->kind == TY_VIEW;
	if (!view || (e->root && e->root != v)) e->any = true;
	if (view) e->root = v;
	e->write |= op_has(op, OPF_WRITE);
}

static Effect effect_of(Op *op)
{
	Effect e = { 0 };
	find_effect(&e, op);
	for (int k = 0; k < op->nregion; k++) ir_walk(op->region[k], find_effect, &e);
	return e;
}

static bool effects_meet(const Effect *a, const Effect *b)
{
	if ((!a->root && !a->any) || (!b->root && !b->any) || (!a->write && !b->write)) return false;
	return a->any || b->any || a->root == b->root;
}

static bool same_numbers(const Op *x, const Op *y, AttrKey key)
{
	const IrAttr *a = ir_attr(x, key), *b = ir_attr(y, key);
	if (!a || !b) return a == b;
	return a->u.ints.n == b->u.ints.n && !memcmp(a->u.ints.p, b->u.ints.p, (size_t)a->u.ints.n * sizeof *a->u.ints.p);
}

/* Do two accesses divide the same view into the same slices? */
static bool same_slices(const StripPlan *p, const Op *x, const Op *y)
{
	const Val *a = ir_accessed(x), *b = ir_accessed(y);
	if (!a || !b || a->type != b->type || p->axis[a->id] != p->axis[b->id]) return false;
	for (int i = 0; i < 1 + a->type->rank; i++)
		if (ir_in(x, i) != ir_in(y, i)) return false;
	return same_numbers(x, y, AT_STEPS) && same_numbers(x, y, AT_OFFSETS);
}

static int level_after(const StripPlan *p, const StripOp *a, const StripOp *b)
{
	if (!a->cut) return a->level;
	return last_run(a) + !(b->cut && same_slices(p, a->op, b->op));
}

static bool order_memory(StripPlan *p, const Effect *effect)
{
	bool changed = false;
	for (int j = 0; j < p->n; j++)
		for (int i = 0; i < j; i++) {
			if (!effects_meet(&effect[i], &effect[j])) continue;
			int least = level_after(p, &p->ops[i], &p->ops[j]);
			if (least <= p->ops[j].level) continue;
			p->ops[j].least = least;
			p->ops[j].level = least;
			changed = true;
		}
	return changed;
}

bool strip_by_index(const Op *op) { return op->code == OP_MAX_ELEMENT || op->code == OP_MIN_ELEMENT; }

bool strip_is_backward(const StripPlan *p, int level)
{
	for (int i = 0; i < p->n; i++)
		if (p->ops[i].scan && p->ops[i].runs >> level & 1 && ir_int(p->ops[i].op, AT_DIRECTION, 0)) return true;
	return false;
}

/* Does a loop from the last slice to the first have what asks for the other order: a scan, or the first of equals? */
static bool meets_both_ways(const StripPlan *p, int level)
{
	if (!strip_is_backward(p, level)) return false;
	for (int i = 0; i < p->n; i++) {
		const StripOp *o = &p->ops[i];
		bool forward = (o->scan && !ir_int(o->op, AT_DIRECTION, 0)) || (o->part && strip_by_index(o->op));
		if (forward && o->runs >> level & 1) return true;
	}
	return false;
}

static bool find_loops(StripPlan *p)
{
	Effect *effect = NEW_ARRAY(A_TMP, Effect, p->n);
	for (int i = 0; i < p->n; i++) {
		effect[i] = effect_of(p->ops[i].op);
		if (effect[i].ordered) return false;
	}
	for (int round = 0; round < MOST_ROUNDS; round++) {
		find_levels(p);
		for (int i = 0; i < p->n; i++)
			if (p->ops[i].level >= SLICE_LOOPS) return false;
		if (order_memory(p, effect)) continue;
		unsigned runs = 0;
		for (int i = 0; i < p->n; i++) runs |= p->ops[i].runs;
		p->loops = 0;
		for (int k = 0; k < SLICE_LOOPS; k++)
			if (meets_both_ways(p, k)) return false;
		for (; runs; runs &= runs - 1) p->loops++;
		return true;
	}
	return false;
}

bool strip_plan(IrBlock *block, Val *seed, int axis, int log2, StripPlan *p)
{
	Fn *fn = block->fn;
	*p = (StripPlan){ .fn = fn, .block = block, .nval = fn->nval };
	for (const Op *op = block->first; op; op = op->next) p->n++;
	p->ops = NEW_ARRAY(A_TMP, StripOp, p->n);
	p->axis = NEW_ARRAY(A_TMP, int8_t, fn->nval);
	p->def = NEW_ARRAY(A_TMP, int, fn->nval);
	for (int i = 0; i < fn->nval; i++) p->def[i] = -1;
	int i = 0;
	for (Op *op = block->first; op; op = op->next, i++) {
		p->ops[i].op = op;
		for (int k = 0; k < op->nout; k++) p->def[op->out[k]->id] = i;
	}
	return spread(p, seed, axis, log2) && find_loops(p);
}
