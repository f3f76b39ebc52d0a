/* Sums of powers that a loop carries relative to the greatest exponent so far, as in the online softmax,
 *
 *   let n = max(m, reduce_max(v, 1));
 *   s = s * exp(m - n) + sum(exp(v - n) * w, 1);
 *   m = n;
 *
 * where an iteration has v and w: s is the sum of exp(v - m) * w for the m that the loop ends with, in any order.
 * So a share's sums are moved to the greatest of all shares by one power each. What an iteration adds may be any
 * expression of which all terms have one such power as a factor. The base n may be replaced where it is -inf, and is in
 * a share, which may have nothing but -inf where the loop as a whole has more: -inf - -inf would be a NaN. */
#include <math.h>

#include "ir/fold.h"
#include "lower/placed.h"
#include "lower/split.h"

typedef struct Powers {
	const Op *loop;
	const bool *follows;    /* by Val id: from what is carried */
	const Val *old, *most, *base;   /* the greatest so far, with this iteration's, and what powers are relative to */
	OpCode code;            /* OP_COUNT: no power was met yet */
	double factor;          /* of exponents */
} Powers;

typedef struct Follow { bool *follows, any; } Follow;

static void look_follows(void *ctx, Op *op)
{
	Follow *f = ctx;
	for (int i = 0; i < op->nin; i++) f->any |= f->follows[ir_in(op, i)->id];
}

bool *split_follows(const Fn *fn, const Op *loop, const bool *on)
{
	const IrBlock *body = loop->region[0];
	Follow f = { .follows = NEW_ARRAY(A_TMP, bool, fn->nval) };
	for (int i = 0; i < loop->nout; i++) f.follows[body->args.p[1 + i]->id] = on[i];
	for (Op *op = body->first; op; op = op->next) {
		f.any = false;
		look_follows(&f, op);
		for (int r = 0; r < op->nregion; r++) ir_walk(op->region[r], look_follows, &f);
		for (int i = 0; i < op->nout; i++) f.follows[op->out[i]->id] = f.any;
	}
	return f.follows;
}

/* ---- exponents ---- */
static const Val *spread_from(const Val *v)
{
	while (v->def && (v->def->code == OP_BROADCAST || v->def->code == OP_RESHAPE || v->def->code == OP_TO_SCALAR))
		v = ir_in(v->def, 0);
	return v;
}

static bool is_number(const Val *v, double n)
{
	Num k;
	return ir_const_value(spread_from(v), &k) && k.f == n;
}

static bool is_base(const Powers *p, const Val *v)
{
	v = spread_from(v);
	return v == p->base || v == p->most;
}

static bool is_less_base(const Powers *p, const Val *v)
{
	v = spread_from(v);
	return v->def && v->def->code == OP_NEG && is_base(p, ir_in(v->def, 0));
}

/* x of (x - base) * factor */
static const Val *apart_from_base(const Powers *p, const Val *v, double *factor)
{
	Num n;
	const Op *op = v->def;
	*factor = 1;
	for (int i = 0; op && op->code == OP_MUL && i < 2; i++) {
		if (!ir_const_value(spread_from(ir_in(op, i)), &n)) continue;
		*factor = n.f;
		op = ir_in(op, 1 - i)->def;
	}
	return op && op->code == OP_SUB && is_base(p, ir_in(op, 1)) ? ir_in(op, 0) : NULL;
}

static bool is_power(Powers *p, const Val *v)
{
	const Op *op = v->def;
	return op && (op->code == OP_EXP || op->code == OP_EXP2) && (p->code == OP_COUNT || p->code == op->code)
		&& !ir_int(op, AT_ROUNDING, 0) && !ir_int(op, AT_SUBNORMALS, 0);
}

static bool note_power(Powers *p, OpCode code, double factor)
{
	if (!(factor > 0) || (p->code != OP_COUNT && p->factor != factor)) return false;
	p->code = code;
	p->factor = factor;
	return true;
}

/* x may be a product. */
static bool is_own_power(Powers *p, const Val *v)
{
	double factor;
	if (!is_power(p, v)) return false;
	const Val *at = ir_in(v->def, 0), *x = apart_from_base(p, at, &factor);
	const Op *fma = at->def;
	if (x) return !p->follows[x->id] && note_power(p, v->def->code, factor);
	if (!fma || fma->code != OP_FMA || !is_less_base(p, ir_in(fma, 2))) return false;
	return !p->follows[ir_in(fma, 0)->id] && !p->follows[ir_in(fma, 1)->id] && note_power(p, v->def->code, 1);
}

/* ---- what an iteration adds ---- */
/* How many powers are a factor of each term: none, one, as many as one likes of 0; or they differ. */
typedef enum PowersIn { NO_POWER, ONE_POWER, ANY_POWER, MIXED } PowersIn;

static PowersIn powers_in(Powers *p, const Val *v);

static PowersIn of_two(Powers *p, const Val *a, const Val *b)
{
	PowersIn x = powers_in(p, a), y = powers_in(p, b);
	if (x == MIXED || y == MIXED) return MIXED;
	return x == ANY_POWER ? y : y == ANY_POWER || x == y ? x : MIXED;
}

static PowersIn of_product(Powers *p, const Val *a, const Val *b)
{
	PowersIn x = powers_in(p, a), y = powers_in(p, b);
	if (x == MIXED || y == MIXED || (x == ONE_POWER && y == ONE_POWER)) return MIXED;
	return x > y ? x : y;
}

static PowersIn powers_in(Powers *p, const Val *v)
{
	const Op *op = v->def;
	if (!p->follows[v->id]) return is_number(v, 0) ? ANY_POWER : NO_POWER;
	if (!op || ir_int(op, AT_ROUNDING, 0) || ir_int(op, AT_SUBNORMALS, 0)) return MIXED;
	switch (op->code) {
	case OP_EXP: case OP_EXP2: return is_own_power(p, v) ? ONE_POWER : MIXED;
	case OP_NEG: case OP_SUM: case OP_BROADCAST: case OP_RESHAPE: case OP_TO_SCALAR: return powers_in(p, ir_in(op, 0));
	case OP_CAST: return elem_is_any_float(v->type->elem) ? powers_in(p, ir_in(op, 0)) : MIXED;
	case OP_ADD: case OP_SUB: return of_two(p, ir_in(op, 0), ir_in(op, 1));
	case OP_SELECT: return p->follows[ir_in(op, 0)->id] ? MIXED : of_two(p, ir_in(op, 1), ir_in(op, 2));
	case OP_MUL: return of_product(p, ir_in(op, 0), ir_in(op, 1));
	case OP_FMA: {
		PowersIn x = of_product(p, ir_in(op, 0), ir_in(op, 1)), y = powers_in(p, ir_in(op, 2));
		return x == ANY_POWER ? y : y == ANY_POWER || x == y ? x : MIXED;
	}
	case OP_DIV: return p->follows[ir_in(op, 1)->id] ? MIXED : powers_in(p, ir_in(op, 0));
	default: return MIXED;
	}
}

/* Is v `from`, and by exp((old - base) * factor)? */
static bool is_moved(Powers *p, const Val *v, const Val *from, const Val *by)
{
	double factor;
	by = spread_from(by);
	if (v != from || !is_power(p, by)) return false;
	const Val *x = apart_from_base(p, ir_in(by->def, 0), &factor);
	return x && spread_from(x) == p->old && note_power(p, by->def->code, factor);
}

static bool is_sum(Powers *p, const Val *from, const Val *yielded)
{
	const Op *op = yielded->def;
	if (!op || (op->code != OP_ADD && op->code != OP_FMA) || ir_int(op, AT_ROUNDING, 0)) return false;
	for (int i = 0; i < 2; i++) {
		const Op *mul = op->code == OP_FMA ? op : ir_in(op, i)->def;
		const Val *own = ir_in(op, op->code == OP_FMA ? 2 : 1 - i);
		if (!mul || (mul->code != OP_MUL && mul->code != OP_FMA) || (mul->code == OP_FMA && mul != op)) continue;
		bool moved = is_moved(p, ir_in(mul, 0), from, ir_in(mul, 1)) || is_moved(p, ir_in(mul, 1), from, ir_in(mul, 0));
		if (moved && powers_in(p, own) == ONE_POWER) return true;
	}
	return false;
}

/* ---- the greatest ---- */
/* select(most == -inf, 0, most), or most itself. */
static const Val *base_of(const Val *most, const Op *op)
{
	const Op *c = op->code == OP_SELECT ? ir_in(op, 0)->def : NULL;
	if (!c || c->code != OP_EQ || ir_in(op, 2) != most || !is_number(ir_in(op, 1), 0)) return NULL;
	bool asks = (ir_in(c, 0) == most && is_number(ir_in(c, 1), -INFINITY))
		|| (ir_in(c, 1) == most && is_number(ir_in(c, 0), -INFINITY));
	return asks ? op->out[0] : NULL;
}

static bool find_most(Powers *p, const Val *yielded)
{
	const Op *op = yielded->def;
	if (!op || op->code != OP_MAX || ir_int(op, AT_NAN, 0)) return false;
	bool second = ir_in(op, 1) == p->old;
	if (ir_in(op, second) != p->old || p->follows[ir_in(op, !second)->id]) return false;
	p->most = p->base = yielded;
	for (const Op *o = p->loop->region[0]->first; o; o = o->next) {
		const Val *base = base_of(yielded, o);
		if (base) p->base = base;
	}
	return true;
}

static bool fits(const Type *sum, const Type *most)
{
	bool one = !type_is_tile(most) || !type_log2_size(most);
	return elem_is_any_float(sum->elem) && elem_bytes(sum->elem) >= 4 && (one || type_same_shape(sum, most));
}

static bool is_open(const Carried *c) { return c->combine == OP_COUNT && c->tuple < 0; }

/* Does anything else that is carried follow from these? */
static bool leak(const Fn *fn, const Op *loop, const SplitLoop *l, int most)
{
	bool *on = NEW_ARRAY(A_TMP, bool, loop->nout);
	for (int i = 0; i < loop->nout; i++) on[i] = i == most || l->carried.p[i].power == most;
	const bool *follows = split_follows(fn, loop, on);
	for (int i = 0; i < loop->nout; i++)
		if (!on[i] && follows[ir_in(loop->region[0]->last, i)->id]) return true;
	return false;
}

static void find_with(const Fn *fn, const Op *loop, SplitLoop *l, int most, const bool *follows)
{
	const IrBlock *body = loop->region[0];
	Powers p = { .loop = loop, .follows = follows, .old = body->args.p[1 + most], .code = OP_COUNT };
	int n = 0;
	if (l->carried.p[most].type->elem != EL_F32 || !find_most(&p, ir_in(body->last, most))) return;
	for (int i = 0; i < loop->nout; i++) {
		Carried *c = &l->carried.p[i];
		if (i == most || !is_open(c) || !fits(c->type, p.old->type)) continue;
		if (!is_sum(&p, body->args.p[1 + i], ir_in(body->last, i))) continue;
		c->power = most;
		n++;
	}
	bool ok = n && !leak(fn, loop, l, most);
	for (int i = 0; i < loop->nout; i++) {
		Carried *c = &l->carried.p[i];
		if (c->power != most) continue;
		if (ok) c->combine = p.code, c->factor = p.factor;
		else c->power = -1;
	}
	if (ok) l->carried.p[most].combine = OP_MAX;
}

void split_find_powers(const Fn *fn, const Op *loop, SplitLoop *l)
{
	bool *all = NEW_ARRAY(A_TMP, bool, loop->nout);
	for (int i = 0; i < loop->nout; i++) all[i] = true;
	const bool *follows = split_follows(fn, loop, all);
	for (int i = 0; i < loop->nout; i++)
		if (is_open(&l->carried.p[i])) find_with(fn, loop, l, i, follows);
}

/* ---- in split.c's kernels ---- */
Val *split_base(Builder *b, Val *most)
{
	Val *none = ir_const_num(b, most->type, (Num){ .f = -INFINITY });
	Val *zero = ir_const_num(b, most->type, num_zero(most->type->elem));
	Val *is = ir_binary(b, OP_EQ, type_with_elem(most->type, EL_BOOL), most, none);
	return ir_op1(b, OP_SELECT, most->type, 3, (Val *[]){ is, zero, most });
}

typedef struct Replace { Val *from, *with; const Op *but[2]; } Replace;

static void replace_in(void *ctx, Op *op)
{
	const Replace *r = ctx;
	if (op == r->but[0] || op == r->but[1] || op->code == OP_YIELD) return;
	for (int i = 0; i < op->nin; i++)
		if (ir_in(op, i) == r->from) op->in[i] = r->with;
}

void split_guard_powers(Op *loop, const SplitLoop *l)
{
	bool *done = NEW_ARRAY(A_TMP, bool, loop->nout);
	for (int i = 0; i < loop->nout; i++) {
		int m = l->carried.p[i].power;
		if (m < 0 || done[m]) continue;
		done[m] = true;
		Val *most = ir_in(loop->region[0]->last, m);
		Builder b = build_before(most->def->next);
		Val *base = split_base(&b, most);
		Replace r = { most, base, { base->def, ir_in(base->def, 0)->def } };
		ir_walk(loop->region[0], replace_in, &r);
	}
}

static Val *spread_like(Builder *b, Val *v, const Type *t)
{
	if (type_same_shape(v->type, t)) return v;
	if (type_is_tile(v->type) && (!type_is_tile(t) || v->type->rank != t->rank))
		v = ir_unary(b, OP_TO_SCALAR, type_scalar(v->type->elem), v);
	return type_is_tile(t) ? ir_unary(b, OP_BROADCAST, type_with_elem(t, v->type->elem), v) : v;
}

Val *split_move(Builder *b, const Carried *c, Val *x, Val *from, Val *to)
{
	Val *d = ir_binary(b, OP_SUB, from->type, from, spread_like(b, to, from->type));
	if (c->factor != 1) d = ir_binary(b, OP_MUL, d->type, d, ir_const_num(b, d->type, (Num){ .f = c->factor }));
	Val *e = spread_like(b, ir_unary(b, c->combine, d->type, d), x->type);
	if (e->type->elem != x->type->elem) e = ir_unary(b, OP_CAST, x->type, e);
	return ir_binary(b, OP_MUL, x->type, x, e);
}
