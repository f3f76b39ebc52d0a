/* Powers of e whose exponents are only compared, subtracted and powers of: computed as powers of 2, of exponents
 * that are scaled by log2 e where they begin, with a factor that all elements share. In softmax and its kin that
 * is the scale of the scores, so that a power takes a subtraction and one instruction:
 *
 *	s = x * scale;  m' = max(m, max of s);  exp(s - m'), exp(m - m')
 *	s = x * (scale log2 e);  the same m', scaled;  exp2(s - m'), exp2(m - m')
 *
 * Scaling by a positive number changes no comparison, no 0, no infinity. An exponent's rounding is as large as it
 * was beside its value, and exponents that differ by d have powers whose quotient errs by d / 2^24: over all
 * iterations of a loop, by what the maximum grew. So only where some such power need not be exact (relax.c). Powers
 * below 2^-126 become 0. */
#include <math.h>

#include "base/diag.h"
#include "lower/placed.h"

enum { SCALED = 1, ROOT = 2 };  /* ROOT: a product, one factor of which is scaled */

typedef VEC(Val *) Vals;
typedef VEC(Op *) Ops;

typedef struct Scale {
	int nval;
	uint8_t *is;            /* by Val id: SCALED, ROOT */
	Ops *users;             /* by Val id */
	Vals todo;
	bool fails;
	bool loose;             /* some power need not be exact */
} Scale;

static bool is_f32(const Val *v)
{
	return (type_is_tile(v->type) || type_is_scalar(v->type)) && v->type->elem == EL_F32;
}

static bool is_unchanged(const Val *v)
{
	Num n;
	return ir_const_value(v, &n) && (n.f == 0 || isinf(n.f));
}

static void scale(Scale *s, Val *v)
{
	if (s->is[v->id]) return;
	s->is[v->id] = SCALED;
	vec_push(A_TMP, &s->todo, v);
}

/* The factor of a product that all elements share; -1: there is none. */
static int shared_factor(const Op *op)
{
	for (int i = 0; i < 2; i++) {
		const Op *d = ir_in(op, i)->def;
		if (type_is_scalar(ir_in(op, i)->type)) return i;
		if (d && d->code == OP_BROADCAST && type_is_scalar(ir_in(d, 0)->type)) return i;
	}
	return -1;
}

static void scale_loop(Scale *s, const Op *loop, int i)
{
	const IrBlock *b = loop->region[0];
	scale(s, ir_in(loop, 3 + i));
	scale(s, b->args.p[1 + i]);
	scale(s, ir_in(b->last, i));
	scale(s, loop->out[i]);
}

/* What the loop carries for v, an operand of it or of its yield from `first` on. */
static void scale_carried(Scale *s, const Op *loop, const Op *op, int first, const Val *v)
{
	for (int i = first; i < op->nin; i++)
		if (ir_in(op, i) == v) scale_loop(s, loop, i - first);
}

static bool scales(const Op *op)
{
	return op->nout == 1 && (op_is(op, OPT_SCALES) || op_has(op, OPF_FREE));
}

static void scale_operands(Scale *s, const Op *op)
{
	for (int i = op->code == OP_SELECT; i < op->nin; i++) scale(s, ir_in(op, i));
}

static void scale_made(Scale *s, Val *v)
{
	Op *op = v->def;
	if (!op) {
		const Op *loop = v->block->owner;
		if (!loop || loop->code != OP_FOR || !v->index) s->fails = true;
		else scale_loop(s, loop, v->index - 1);
	} else if (is_unchanged(v)) {
		return;
	} else if (op->code == OP_FOR) {
		scale_loop(s, op, v->index);
	} else if (op->code == OP_MUL && !ir_int(op, AT_ROUNDING, 0) && shared_factor(op) >= 0) {
		s->is[v->id] = ROOT;
	} else if (scales(op)) {
		scale_operands(s, op);
	} else {
		s->fails = true;
	}
}

static void scale_used(Scale *s, Val *v)
{
	for (int i = 0; i < s->users[v->id].n; i++) {
		Op *op = s->users[v->id].p[i];
		if (op->code == OP_EXP) s->loose |= ir_int(op, AT_ROUNDING, 0) != 0;
		else if (op->code == OP_FOR) scale_carried(s, op, op, 3, v);
		else if (op->code == OP_YIELD && op->parent->owner->code == OP_FOR)
			scale_carried(s, op->parent->owner, op, 0, v);
		else if (op_compares(op->code)) scale_operands(s, op);
		else if (scales(op)) scale(s, op->out[0]);
		else s->fails = true;
	}
}

static void note_users(void *ctx, Op *op)
{
	Scale *s = ctx;
	for (int i = 0; i < op->nin; i++) vec_push(A_TMP, &s->users[ir_in(op, i)->id], op);
}

/* All that is scaled with the exponent of a power. Constants, which are shared by what has nothing to do with each
 * other, stay. */
static void settle(Scale *s, Op *seed)
{
	scale(s, ir_in(seed, 0));
	while (s->todo.n && !s->fails) {
		Val *v = s->todo.p[--s->todo.n];
		if (!is_f32(v)) s->fails = true;
		else if (!is_unchanged(v)) {
			scale_made(s, v);
			scale_used(s, v);
		}
	}
}

/* ---- writing ---- */
static Val *times_log2e(Val *x, Op *before)
{
	Builder b = build_before(before);
	b.span = before->span;
	return ir_binary(&b, OP_MUL, x->type, x, ir_const_num(&b, x->type, (Num){ .f = (float)1.4426950408889634 }));
}

/* Where a scalar of the kernel is multiplied: before the loop. */
static Op *early(Op *op, const Val *x)
{
	const IrBlock *of = x->def ? x->def->parent : x->block;
	while (op->parent->owner && op->parent != of) op = op->parent->owner;
	return op;
}

static void write(void *ctx, Op *op)
{
	Scale *s = ctx;
	if (op->code == OP_EXP && ir_in(op, 0)->id < s->nval && s->is[ir_in(op, 0)->id]) {
		bool loose = ir_int(op, AT_ROUNDING, 0) != 0;
		op->code = OP_EXP2;
		op->nattr = 0;
		if (loose) ir_set_int(op, AT_SUBNORMALS, attr_word(AT_SUBNORMALS, str_intern("flush")));
	} else if (op->code == OP_MUL && op->nout == 1 && op->out[0]->id < s->nval && s->is[op->out[0]->id] == ROOT) {
		int i = shared_factor(op);
		Val *x = ir_in(op, i);
		Op *spread = type_is_tile(x->type) ? x->def : NULL;
		Val *scalar = spread ? ir_in(spread, 0) : x;
		Val *more = times_log2e(scalar, early(op, scalar));
		if (spread) {
			Builder b = build_before(op);
			more = ir_op1(&b, OP_BROADCAST, x->type, 1, &more);
		}
		op->in[i] = more;
	}
}

typedef struct Seeds { VEC(Op *) v; } Seeds;

static void find_seed(void *ctx, Op *op)
{
	Seeds *s = ctx;
	if (op->code == OP_EXP && is_f32(op->out[0]) && ir_int(op, AT_ROUNDING, 0)) vec_push(A_TMP, &s->v, op);
}

void base2_powers(Fn *fn)
{
	Seeds seeds = { 0 };
	ir_number(fn);
	ir_walk(fn->body, find_seed, &seeds);
	for (int i = 0; i < seeds.v.n; i++) {
		if (seeds.v.p[i]->code != OP_EXP) continue;
		ir_number(fn);
		Scale s = { .nval = fn->nval, .is = NEW_ARRAY(A_TMP, uint8_t, fn->nval) };
		s.users = NEW_ARRAY(A_TMP, Ops, fn->nval);
		ir_walk(fn->body, note_users, &s);
		settle(&s, seeds.v.p[i]);
		if (!s.fails && s.loose) ir_walk(fn->body, write, &s);
	}
}
