/* Two iterations of a loop of chained products as one: tiles along which iterations lie side by side become twice as
 * long, and what an iteration costs besides its elements is paid half as often.
 *
 * A loop may join its iterations if its values are what a fold over all elements carries: the maximum m of elements x,
 * and sums over elements that are scaled to it,
 *
 * 	m' = max(m, max of x);  l' = l exp(m - m') + sum of exp(x - m');  o' = o exp(m - m') + exp(x - m') v
 *
 * with m' replaced by another number in powers where it is -infinity. Then two iterations give what one with both
 * iterations' elements gives, but for rounding. If their number is odd, the elements after the last iteration's become
 * -infinity by a mask that the kernel has anyway, and the factors v that belong to them, which may be anything, are not
 * multiplied. */
#include <math.h>

#include "base/diag.h"
#include "ir/valsym.h"
#include "lower/chain.h"

/* Along which axis iterations lie side by side; a scalar that differs. */
enum { SAME = -1, DIFFERS = TILE_RANK };

typedef struct Join {
	Chain *c;
	int8_t *along;          /* by Val id */
	bool *column;           /* by Val id: numbers of elements */
	int64_t n;              /* elements of an iteration */
	bool fails;
} Join;

static IrBlock *body_of(const Join *j) { return j->c->loop->region[0]; }
static Val *counter_of(const Join *j) { return body_of(j)->args.p[0]; }
static bool in_loop(const Join *j, const Val *v)
{
	return v->def ? v->def->parent == body_of(j) : v->block == body_of(j);
}
static bool is_op(const Val *v, OpCode code) { return v->def && v->def->code == code; }

/* ---- which tiles become longer ---- */
static void lie(Join *j, const Val *v, int axis)
{
	int64_t n = type_extent(v->type, axis);
	if (!j->n) j->n = n;
	j->fails |= j->n != n;
	j->along[v->id] = (int8_t)axis;
}

static void look_at_load(Join *j, const Op *op)
{
	const IrAttr *steps = ir_attr(op, AT_STEPS), *offsets = ir_attr(op, AT_OFFSETS);
	for (int a = 0; a < 2 && chain_load_of(j->c, op); a++) {
		bool other = j->along[ir_in(op, 2 - a)->id] == SAME && ir_in(op, 2 - a) != counter_of(j);
		bool side = steps->u.ints.p[a] == type_extent(op->out[0]->type, a) && (!offsets || !offsets->u.ints.p[a]);
		if (ir_in(op, 1 + a) != counter_of(j) || !other || !side) continue;
		lie(j, op->out[0], a);
		return;
	}
	j->fails = true;
}

/* A tile that is the same for all elements along the axis. */
static void lengthen(Join *j, Val *v, int axis)
{
	const Op *op = v->def;
	if (j->along[v->id] == axis || !type_is_tile(v->type)) return;
	bool plain = op && in_loop(j, v) && j->along[v->id] == SAME;
	if (plain && op->code == OP_BROADCAST) {
		const Val *x = ir_in(op, 0);
		plain = j->along[x->id] == SAME && (type_is_scalar(x->type) || !x->type->log2[axis]);
	} else if (plain && op->code != OP_CONST) {
		plain = op_has(op, OPF_ELEMWISE);
		for (int i = 0; i < op->nin && plain; i++) lengthen(j, ir_in(op, i), axis);
	}
	if (plain) lie(j, v, axis);
	else j->fails = true;
}

static void look_at_product(Join *j, const Op *op)
{
	int a = j->along[ir_in(op, 0)->id], b = j->along[ir_in(op, 1)->id];
	if (a == 1 && b == 0) {
		j->fails |= j->along[ir_in(op, 2)->id] != SAME;
	} else if (a == SAME && b == 1) {
		lengthen(j, ir_in(op, 2), 1);
		lie(j, op->out[0], 1);
	} else {
		j->fails |= a != SAME || b != SAME;
	}
}

static void look_at_elements(Join *j, const Op *op)
{
	int axis = SAME;
	for (int i = 0; i < op->nin; i++) {
		int a = j->along[ir_in(op, i)->id];
		j->fails |= a == DIFFERS || (axis != SAME && a != SAME && a != axis);
		if (a != SAME) axis = a;
	}
	if (axis == SAME || j->fails) return;
	for (int i = 0; i < op->nin; i++) lengthen(j, ir_in(op, i), axis);
	lie(j, op->out[0], axis);
}

static void look_at_broadcast(Join *j, const Op *op)
{
	int a = j->along[ir_in(op, 0)->id];
	if (a != SAME && a != DIFFERS) lie(j, op->out[0], a);
	else j->along[op->out[0]->id] = (int8_t)a;
}

static void look_at_column(Join *j, const Op *op)
{
	for (int i = 0; i < 2; i++)
		if (is_op(ir_in(op, i), OP_IOTA)) lie(j, ir_in(op, i), 1);
	lie(j, op->out[0], 1);
	j->column[op->out[0]->id] = true;
}

static void look_at(Join *j, const Op *op)
{
	if (!op->nout) return;
	Val *r = op->out[0];
	j->along[r->id] = SAME;
	if (type_is_scalar(r->type)) {
		for (int i = 0; i < op->nin; i++)
			if (j->along[ir_in(op, i)->id] == DIFFERS) j->along[r->id] = DIFFERS;
	} else if (op->code == OP_LOAD) {
		look_at_load(j, op);
	} else if (op->code == OP_MMA) {
		look_at_product(j, op);
	} else if (op->code == OP_PERMUTE) {
		int a = j->along[ir_in(op, 0)->id];
		j->along[r->id] = (int8_t)(a == SAME ? SAME : 1 - a);
	} else if (op->code == OP_BROADCAST) {
		look_at_broadcast(j, op);
	} else if (op_is_reduce(op)) {
		int a = j->along[ir_in(op, 0)->id];
		j->fails |= a != SAME && a != ir_axis(op);
	} else if (op->code == OP_ADD && chain_is_column(j->c, r)) {
		look_at_column(j, op);
	} else {
		look_at_elements(j, op);
	}
}

/* ---- what the loop carries ---- */
/* The maximum, the next iteration's, its elements. */
typedef struct Fold { const Join *j; const Val *m, *next, *x; } Fold;

static int uses_of(const Join *j, const Val *v)
{
	int n = 0;
	for (const Op *op = body_of(j)->first; op; op = op->next)
		for (int i = 0; i < op->nin; i++) n += ir_in(op, i) == v;
	return n;
}

static bool is_plain(const Op *op) { return !ir_int(op, AT_ROUNDING, 0) && !ir_int(op, AT_NAN, 0); }

static bool is_less_infinity(const Val *v)
{
	Num n;
	return ir_const_value(v, &n) && isinf(n.f) && n.f < 0;
}

/* The new maximum, or where it is -infinity another number. */
static bool is_base(const Fold *f, const Val *v)
{
	if (is_op(v, OP_BROADCAST)) return is_base(f, ir_in(v->def, 0));
	if (v == f->next) return true;
	if (!is_op(v, OP_SELECT) || ir_in(v->def, 2) != f->next || !is_op(ir_in(v->def, 0), OP_EQ)) return false;
	Num n;
	const Op *eq = ir_in(v->def, 0)->def;
	if (ir_in(eq, 0) != f->next || !is_less_infinity(ir_in(eq, 1))) return false;
	return ir_const_value(ir_in(v->def, 1), &n) && isfinite(n.f);
}

static bool is_power(const Fold *f, const Val *v, const Val *of)
{
	if (is_op(v, OP_BROADCAST)) return is_power(f, ir_in(v->def, 0), of);
	if (!is_op(v, OP_EXP) && !is_op(v, OP_EXP2)) return false;
	const Val *d = ir_in(v->def, 0);
	return is_op(d, OP_SUB) && ir_in(d->def, 0) == of && is_base(f, ir_in(d->def, 1));
}

static bool is_scaled(const Fold *f, const Val *v, const Val *arg)
{
	if (!is_op(v, OP_MUL)) return false;
	for (int i = 0; i < 2; i++)
		if (ir_in(v->def, i) == arg && is_power(f, ir_in(v->def, 1 - i), f->m)) return true;
	return false;
}

static bool is_sum(const Fold *f, const Val *v) { return is_op(v, OP_SUM) && is_power(f, ir_in(v->def, 0), f->x); }

/* l exp(m - m') + sum of exp(x - m') */
static bool is_folded(const Fold *f, const Val *v, const Val *arg)
{
	const Op *op = v->def;
	if (!op || uses_of(f->j, arg) != 1) return false;
	switch (op->code) {
	case OP_FMA:
		for (int i = 0; i < 2; i++)
			if (ir_in(op, i) == arg && is_power(f, ir_in(op, 1 - i), f->m)) return is_sum(f, ir_in(op, 2));
		return false;
	case OP_ADD:
		for (int i = 0; i < 2; i++)
			if (is_scaled(f, ir_in(op, i), arg)) return is_sum(f, ir_in(op, 1 - i));
		return false;
	case OP_MMA: {
		const Val *p = ir_in(op, 0);
		if (is_op(p, OP_CAST)) p = ir_in(p->def, 0);
		return is_power(f, p, f->x) && is_scaled(f, ir_in(op, 2), arg);
	}
	default: return false;
	}
}

static bool find_maximum(Fold *f)
{
	const IrBlock *b = body_of(f->j);
	for (int i = 0; i < b->last->nin; i++) {
		const Val *v = ir_in(b->last, i), *arg = b->args.p[1 + i];
		if (!is_op(v, OP_MAX) || !is_plain(v->def)) continue;
		for (int k = 0; k < 2; k++) {
			const Val *r = ir_in(v->def, 1 - k);
			if (ir_in(v->def, k) != arg || !is_op(r, OP_REDUCE_MAX) || !is_plain(r->def)) continue;
			*f = (Fold){ f->j, arg, v, ir_in(r->def, 0) };
			return uses_of(f->j, r) == 1;
		}
	}
	return false;
}

static bool is_fold(Fold *f)
{
	const IrBlock *b = body_of(f->j);
	if (!find_maximum(f)) return false;
	for (int i = 0; i < b->last->nin; i++) {
		const Val *v = ir_in(b->last, i);
		if (v != f->next && !is_folded(f, v, b->args.p[1 + i])) return false;
	}
	return true;
}

/* ---- elements after the last iteration's ---- */
/* A mask that makes elements from a scalar limit on -infinity. */
static Op *find_mask(const Fold *f)
{
	ChainMasks m = chain_masks(f->j->c);
	for (const Val *v = f->x; is_op(v, OP_SELECT) && is_less_infinity(ir_in(v->def, 2)); v = ir_in(v->def, 1)) {
		for (int i = 0; i < m.masks; i++) {
			const Val *cond = ir_in(v->def, 0);
			if (m.mask[i] != v->def) continue;
			while (is_op(cond, OP_BROADCAST)) cond = ir_in(cond->def, 0);
			Op *limit = is_op(cond, OP_LT) ? ir_in(cond->def, 1)->def : NULL;
			bool spread = limit && limit->code == OP_BROADCAST;
			if (spread && type_is_scalar(ir_in(limit, 0)->type)) return limit;
		}
	}
	return NULL;
}

/* Does every factor that products sum over end where the iterations end? */
static bool ends_with_iterations(const Join *j)
{
	const Chain *c = j->c;
	ValSyms v = valsyms_new(c->fn);
	for (int i = 0; i < c->loads; i++) {
		const ChainLoad *l = &c->load[i];
		if (l->ring != RING_SECOND || j->along[l->op->out[0]->id] != 0) continue;
		const Sym *ext = c->fn->params.p[l->place.param].extent[l->place.axis[0]];
		if (!facts_le(v.facts, ext, sym_mul(valsym(&v, ir_in(c->loop, 1)), sym_const(j->n)))) return false;
	}
	return true;
}

/* ---- joining ---- */
static void join_column(const Join *j, Op *op)
{
	for (int i = 0; i < 2; i++) {
		if (!is_op(ir_in(op, i), OP_BROADCAST)) continue;
		Builder b = build_before(op);
		Val *counter = counter_of(j), *n = ir_const_int(&b, counter->type, 2 * j->n);
		Val *first = ir_binary(&b, OP_MUL, counter->type, counter, n);
		Val *spread = ir_op1(&b, OP_BROADCAST, ir_in(op, i)->type, 1, &first);
		op->in[i] = spread;
		spread->type = op->out[0]->type;
	}
}

static void lengthen_type(Val *v, int axis)
{
	uint8_t log2[TILE_RANK];
	for (int a = 0; a < v->type->rank; a++) log2[a] = (uint8_t)(v->type->log2[a] + (a == axis));
	v->type = type_with_shape(v->type, v->type->rank, log2);
}

static void join_loop(const Join *j, Op *limit)
{
	Op *loop = j->c->loop;
	Builder before = build_before(loop), in = build_before(limit);
	const Type *t = counter_of(j)->type;
	Val *end = ir_in(loop, 1);
	Val *most = ir_binary(&before, OP_MIN, t, end, ir_const_int(&before, t, INT32_MAX / j->n));
	Val *last = ir_binary(&before, OP_MUL, t, most, ir_const_int(&before, t, j->n));
	limit->in[0] = ir_binary(&in, OP_MIN, t, ir_in(limit, 0), last);
	loop->in[1] = ir_binary(&before, OP_CEILDIV, t, end, ir_const_int(&before, t, 2));
}

/* nval: values that there were when the join was planned; operations of join_loop are newer. */
static void join(const Join *j, int nval)
{
	for (Op *op = body_of(j)->first; op; op = op->next) {
		if (!op->nout || op->out[0]->id >= nval) continue;
		Val *r = op->out[0];
		int a = j->along[r->id];
		if (!type_is_tile(r->type) || a == SAME || a == DIFFERS) continue;
		if (op->code == OP_LOAD) {
			int64_t steps[2] = { ir_attr(op, AT_STEPS)->u.ints.p[0], ir_attr(op, AT_STEPS)->u.ints.p[1] };
			steps[a] *= 2;
			ir_set_ints(op, AT_STEPS, 2, steps);
		}
		lengthen_type(r, a);
		if (j->column[r->id]) join_column(j, op);
	}
}

ChainTail chain_join(Chain *c)
{
	int n = c->fn->nval;
	Join j = { .c = c, .along = NEW_ARRAY(A_TMP, int8_t, n), .column = NEW_ARRAY(A_TMP, bool, n) };
	Fold f = { .j = &j };
	for (int i = 0; i < n; i++) j.along[i] = SAME;
	j.along[counter_of(&j)->id] = DIFFERS;
	for (const Op *op = body_of(&j)->first; op && !j.fails; op = op->next) look_at(&j, op);
	for (int i = 0; i < body_of(&j)->last->nin; i++) j.fails |= j.along[ir_in(body_of(&j)->last, i)->id] != SAME;
	if (j.fails || !j.n || !is_fold(&f)) return TAIL_NONE;
	Op *limit = find_mask(&f);
	if (!limit) return TAIL_NONE;
	ChainTail tail = ends_with_iterations(&j) ? TAIL_ZERO : TAIL_OPEN;
	join_loop(&j, limit);
	join(&j, n);
	return tail;
}
