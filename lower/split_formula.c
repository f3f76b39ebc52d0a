/* Which carried values go together though no reduction says so: each iteration combines them with as many of its own
 * by a formula that is associative, such as means and sums of squares by their counts,
 *
 *   let all = n + k, d = c - m;
 *   m += d * (k / all);
 *   q += r + d * d * (n * k / all);
 *   n = all;
 *
 * where k, c and r are what an iteration has. As with sums, regrouping changes how results are rounded and nothing
 * else. A formula of sums, differences, products and quotients is a rational function f of what was carried, u, and
 * of the iteration's own, w. What is asked of it are identities of such functions, with e, what the loop begins with:
 * f(e, w) is w, which also says what part of u each own value is combined with; f(u, e) = u; and f(f(u, v), w) =
 * f(u, f(v, w)). Each is evaluated at random points modulo a prime: sides that differ agree at one of them with a
 * probability of their degree by the prime.
 *
 * Both operands may be e in a share, or where shares are combined, of which the formula itself may know nothing: 0 / 0,
 * where an iteration counts no elements and none were counted before. So the function that is made of it, and a share,
 * take the other operand where one is e. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/cost.h"
#include "ir/fold.h"
#include "lower/placed.h"
#include "lower/split.h"

/* 2^31 - 1: powers of two repeat after 31 of them */
static const uint32_t prime = 0x7fffffff;
static const int prime_bits = 31;

typedef struct Formula {
	const Fn *fn;
	const Op *loop;
	int n, members;         /* parts; those that are combined by the formula alone stand first */
	int at[COST_SPLIT_TUPLE];       /* their numbers among the carried values */
	Num begin[COST_SPLIT_TUPLE];
	bool *follows;          /* by Val id: from what is carried */
	VEC(const Op *) ops;    /* in their order */
	VEC(const Val *) own;   /* what the iteration has */
	int part[COST_SPLIT_TUPLE];     /* of each of these */
	uint32_t *is;           /* by Val id, at the point that is evaluated */
	uint64_t seed;
} Formula;

/* ---- the integers modulo a prime ---- */
static uint32_t times(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b % prime); }
static uint32_t plus(uint32_t a, uint32_t b) { return (uint32_t)(((uint64_t)a + b) % prime); }
static uint32_t minus(uint32_t a, uint32_t b) { return plus(a, prime - b); }

static uint32_t inverse(uint32_t a)             /* a^(prime - 2) */
{
	uint32_t r = 1;
	for (uint32_t e = prime - 2; e; e >>= 1, a = times(a, a))
		if (e & 1) r = times(r, a);
	return r;
}

static uint32_t residue(double f)
{
	int e;
	double m = ldexp(frexp(fabs(f), &e), DBL_MANT_DIG);
	int power = (e - DBL_MANT_DIG) % prime_bits;
	uint32_t r = times((uint32_t)((uint64_t)m % prime), 1u << (power < 0 ? power + prime_bits : power));
	return f < 0 ? minus(0, r) : r;
}

static uint32_t drawn(Formula *x)
{
	x->seed = x->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((x->seed >> 33) % (prime - 1)) + 1;
}

/* ---- the formula ---- */
static bool is_one(const Type *t) { return type_is_scalar(t) || (type_is_tile(t) && !type_log2_size(t)); }

static bool only_reshapes(const Op *op)
{
	return op->code == OP_RESHAPE || op->code == OP_TO_SCALAR || op->code == OP_BROADCAST;
}

static bool is_finite_const(const Val *v, Num *n)
{
	if (v->def && v->def->code == OP_BROADCAST) return is_finite_const(ir_in(v->def, 0), n);
	return ir_const_value(v, n) && isfinite(n->f);
}

/* The value of the iteration itself that v stands for at every element. */
static const Val *spread_from(const Val *v)
{
	while (v->def && only_reshapes(v->def) && is_one(ir_in(v->def, 0)->type)) v = ir_in(v->def, 0);
	return v;
}

static bool may_stand(const Op *op, const Type *shape)
{
	const Type *t = op->nout == 1 ? op->out[0]->type : NULL;
	if (!t || !elem_is_any_float(t->elem) || elem_bytes(t->elem) < 4) return false;
	if (!is_one(t) && type_size(t) != type_size(shape)) return false;
	if (only_reshapes(op)) return is_one(ir_in(op, 0)->type) || type_size(t) == type_size(ir_in(op, 0)->type);
	if (ir_int(op, AT_ROUNDING, 0) || ir_int(op, AT_SUBNORMALS, 0)) return false;
	return op->code == OP_ADD || op->code == OP_SUB || op->code == OP_MUL || op->code == OP_DIV || op->code == OP_FMA
		|| op->code == OP_NEG;
}

static bool is_part(const Formula *x, const Val *v)
{
	for (int k = 0; k < x->n; k++)
		if (x->loop->region[0]->args.p[1 + x->at[k]] == v) return true;
	return false;
}

static bool note_own(Formula *x, const Val *v)
{
	Num n;
	if (x->follows[v->id]) return v->def || is_part(x, v);
	if (ir_const_value(spread_from(v), &n)) return isfinite(n.f);
	v = spread_from(v);
	for (int i = 0; i < x->own.n; i++)
		if (x->own.p[i] == v) return true;
	vec_push(A_TMP, &x->own, v);
	return x->own.n <= x->n;
}

/* What the parts are made of, from the end of the iteration back, and then in its order. */
static bool find_ops(Formula *x, const Type *shape)
{
	const IrBlock *body = x->loop->region[0];
	bool *needed = NEW_ARRAY(A_TMP, bool, x->fn->nval);
	for (int k = 0; k < x->n; k++) {
		const Val *v = ir_in(body->last, x->at[k]);
		if (!x->follows[v->id]) return false;
		needed[v->id] = true;
	}
	for (const Op *op = body->last->prev; op; op = op->prev) {
		bool any = false;
		for (int i = 0; i < op->nout; i++) any |= needed[op->out[i]->id] && x->follows[op->out[i]->id];
		if (!any) continue;
		if (!may_stand(op, shape)) return false;
		for (int i = 0; i < op->nin; i++) needed[ir_in(op, i)->id] = true;
	}
	for (const Op *op = body->first; op != body->last; op = op->next) {
		if (op->nout != 1 || !needed[op->out[0]->id] || !x->follows[op->out[0]->id]) continue;
		vec_push(A_TMP, &x->ops, op);
		for (int i = 0; i < op->nin; i++)
			if (!note_own(x, ir_in(op, i))) return false;
	}
	return x->own.n == x->n;
}

static uint32_t at_point(const Formula *x, const Val *v)
{
	Num n;
	if (x->follows[v->id]) return x->is[v->id];
	v = spread_from(v);
	return ir_const_value(v, &n) ? residue(n.f) : x->is[v->id];
}

/* From what is carried, and what the iteration has, in the order of x->own. false: it divides by 0. */
static bool evaluate(Formula *x, const uint32_t *carried, const uint32_t *own, uint32_t *result)
{
	const IrBlock *body = x->loop->region[0];
	for (int k = 0; k < x->n; k++) {
		x->is[body->args.p[1 + x->at[k]]->id] = carried[k];
		x->is[x->own.p[k]->id] = own[k];
	}
	for (int i = 0; i < x->ops.n; i++) {
		const Op *op = x->ops.p[i];
		uint32_t a = at_point(x, ir_in(op, 0)), b = op->nin > 1 ? at_point(x, ir_in(op, 1)) : 0;
		uint32_t *r = &x->is[op->out[0]->id];
		switch (op->code) {
		case OP_ADD: *r = plus(a, b); break;
		case OP_SUB: *r = minus(a, b); break;
		case OP_MUL: *r = times(a, b); break;
		case OP_FMA: *r = plus(times(a, b), at_point(x, ir_in(op, 2))); break;
		case OP_NEG: *r = minus(0, a); break;
		case OP_DIV:
			if (!b) return false;
			*r = times(a, inverse(b));
			break;
		default: *r = a; break;
		}
	}
	for (int k = 0; k < x->n; k++) result[k] = at_point(x, ir_in(body->last, x->at[k]));
	return true;
}

/* f of two values of all parts. */
static bool combine_at(Formula *x, const uint32_t *u, const uint32_t *w, uint32_t *result)
{
	uint32_t own[COST_SPLIT_TUPLE];
	for (int i = 0; i < x->n; i++) own[i] = w[x->part[i]];
	return evaluate(x, u, own, result);
}

static void draw(Formula *x, uint32_t *v)
{
	for (int k = 0; k < x->n; k++) v[k] = drawn(x);
}

static bool same(const Formula *x, const uint32_t *v, const uint32_t *w)
{
	return !memcmp(v, w, sizeof *v * (size_t)x->n);
}

/* f(e, w) = w: what is combined with which part? */
static bool find_parts(Formula *x)
{
	uint32_t e[COST_SPLIT_TUPLE], own[COST_SPLIT_TUPLE], r[COST_SPLIT_TUPLE];
	bool taken[COST_SPLIT_TUPLE] = { false };
	for (int k = 0; k < x->n; k++) e[k] = residue(x->begin[k].f);
	draw(x, own);
	if (!evaluate(x, e, own, r)) return false;
	for (int i = 0; i < x->n; i++) {
		int k = 0;
		while (k < x->n && (taken[k] || r[k] != own[i])) k++;
		if (k == x->n) return false;
		taken[x->part[i] = k] = true;
	}
	return true;
}

/* Parts that are no members have to be sums. */
static bool is_associative(Formula *x)
{
	uint32_t e[COST_SPLIT_TUPLE], u[COST_SPLIT_TUPLE], v[COST_SPLIT_TUPLE], w[COST_SPLIT_TUPLE], r[COST_SPLIT_TUPLE],
		left[COST_SPLIT_TUPLE], right[COST_SPLIT_TUPLE];
	for (int k = 0; k < x->n; k++) e[k] = residue(x->begin[k].f);
	for (int i = 0; i < COST_SPLIT_POINTS; i++) {
		draw(x, u), draw(x, v), draw(x, w);
		if (!combine_at(x, e, w, r) || !same(x, r, w) || !combine_at(x, u, e, r) || !same(x, r, u)) return false;
		if (!combine_at(x, u, v, r)) return false;
		for (int k = x->members; k < x->n; k++)
			if (r[k] != plus(u[k], v[k])) return false;
		if (!combine_at(x, r, w, left) || !combine_at(x, v, w, r) || !combine_at(x, u, r, right)) return false;
		if (!same(x, left, right)) return false;
	}
	return true;
}

/* ---- as a function ---- */
static Val *is_identity(Builder *b, const Formula *x, Val *const *args)
{
	Val *all = NULL;
	for (int k = 0; k < x->n; k++) {
		Val *e = ir_const_num(b, args[k]->type, x->begin[k]);
		Val *is = ir_binary(b, OP_EQ, type_scalar(EL_BOOL), args[k], e);
		all = all ? ir_binary(b, OP_AND, is->type, all, is) : is;
	}
	return all;
}

static Val *in_function(Builder *b, const Formula *x, Val *const *as, const Val *v)
{
	Num n;
	if (x->follows[v->id]) return as[v->id];
	v = spread_from(v);
	return ir_const_value(v, &n) ? ir_const_num(b, type_scalar(v->type->elem), n) : as[v->id];
}

static void write_body(Builder *b, const Formula *x, Val *const *args, Val **result)
{
	const IrBlock *body = x->loop->region[0];
	Val **as = NEW_ARRAY(A_TMP, Val *, x->fn->nval);
	for (int k = 0; k < x->n; k++) {
		as[body->args.p[1 + x->at[k]]->id] = args[k];
		as[x->own.p[k]->id] = args[x->n + x->part[k]];
	}
	for (int i = 0; i < x->ops.n; i++) {
		const Op *op = x->ops.p[i];
		Val *in[3], **r = &as[op->out[0]->id];
		for (int k = 0; k < op->nin; k++) in[k] = in_function(b, x, as, ir_in(op, k));
		if (only_reshapes(op)) {
			*r = in[0];
			continue;
		}
		*r = ir_op1(b, op->code, type_scalar(op->out[0]->type->elem), op->nin, in);
		copy_attrs((*r)->def, op);
		(*r)->name = op->out[0]->name;
	}
	Val *first = is_identity(b, x, args), *second = is_identity(b, x, args + x->n);
	for (int k = 0; k < x->n; k++) {
		const Type *t = args[k]->type;
		Val *v = in_function(b, x, as, ir_in(body->last, x->at[k]));
		v = ir_op1(b, OP_SELECT, t, 3, (Val *[]){ first, args[x->n + k], v });
		result[k] = ir_op1(b, OP_SELECT, t, 3, (Val *[]){ second, args[k], v });
	}
}

/* A reduction by the formula, in no kernel. */
static const Op *as_reduction(const Formula *x)
{
	Fn *home = ir_fn(x->fn->name, x->loop->span);
	Builder b = { home, home->body, NULL, x->loop->span };
	Val *in[2 * COST_SPLIT_TUPLE], *args[2 * COST_SPLIT_TUPLE], *result[COST_SPLIT_TUPLE];
	const Type *type[COST_SPLIT_TUPLE];
	for (int k = 0; k < x->n; k++) {
		const Val *v = x->loop->out[x->at[k]];
		type[k] = type_scalar(v->type->elem);
		in[k] = in[x->n + k] = ir_const_num(&b, type[k], x->begin[k]);
	}
	Op *op = ir_op(&b, OP_REDUCE, 2 * x->n, in, x->n, type);
	IrBlock *f = ir_region(op);
	for (int i = 0; i < 2 * x->n; i++) args[i] = ir_arg(f, type[i % x->n], x->loop->out[x->at[i % x->n]]->name);
	Builder inside = { home, f, NULL, x->loop->span };
	write_body(&inside, x, args, result);
	ir_op(&inside, OP_YIELD, x->n, result, 0, NULL);
	ir_number(home);
	return op;
}

/* ---- carried values that nothing else explains ---- */
/* The first tile, or scalar, that others are combined with, element by element. */
static const Type *shape_of(const SplitLoop *l)
{
	const Type *shape = NULL;
	for (int i = 0; i < l->carried.n; i++) {
		const Carried *c = &l->carried.p[i];
		if (c->combine != OP_COUNT || c->tuple >= 0 || c->type->kind > TY_TILE) continue;
		if (!shape || (type_is_tile(c->type) && !type_is_tile(shape))) shape = c->type;
	}
	return shape;
}

/* Scalars beside tiles, such as a count for all of them, stand last, and have to be sums. */
static bool take_parts(Formula *x, const SplitLoop *l, const Type *shape)
{
	for (int scalars = 0; scalars < 2; scalars++) {
		for (int i = 0; i < l->carried.n; i++) {
			const Carried *c = &l->carried.p[i];
			bool fits = c->type->kind <= TY_TILE && type_same_shape(c->type, shape);
			if (c->combine != OP_COUNT || c->tuple >= 0 || fits == scalars) continue;
			if (!fits && !type_is_scalar(c->type)) return false;
			bool small = !elem_is_any_float(c->type->elem) || elem_bytes(c->type->elem) < 4;
			if (x->n == COST_SPLIT_TUPLE || small) return false;
			if (!is_finite_const(ir_in(x->loop, 3 + i), &x->begin[x->n])) return false;
			x->at[x->n++] = i;
		}
		if (!scalars) x->members = x->n;
	}
	return true;
}

/* Sums of what follows from such values are no sums of an iteration's own: they belong to the formula. */
static bool take_followers(const Fn *fn, const Op *loop, SplitLoop *l)
{
	bool *on = NEW_ARRAY(A_TMP, bool, loop->nout), more = true;
	while (more) {
		more = false;
		for (int i = 0; i < loop->nout; i++) on[i] = l->carried.p[i].combine == OP_COUNT && l->carried.p[i].tuple < 0;
		const bool *follows = split_follows(fn, loop, on);
		for (int i = 0; i < loop->nout; i++) {
			Carried *c = &l->carried.p[i];
			if (on[i] || !follows[ir_in(loop->region[0]->last, i)->id]) continue;
			if (c->tuple >= 0 || c->combine != OP_ADD) return false;
			c->combine = OP_COUNT;
			more = true;
		}
	}
	return true;
}

static bool find(const Fn *fn, const Op *loop, SplitLoop *l)
{
	Formula x = { .fn = fn, .loop = loop, .is = NEW_ARRAY(A_TMP, uint32_t, fn->nval), .seed = 1 };
	bool *all = NEW_ARRAY(A_TMP, bool, loop->nout);
	const Type *shape = take_followers(fn, loop, l) ? shape_of(l) : NULL;
	if (!shape || !take_parts(&x, l, shape)) return false;
	memset(all, true, sizeof *all * (size_t)loop->nout);
	x.follows = split_follows(fn, loop, all);
	if (!find_ops(&x, shape) || !find_parts(&x) || !is_associative(&x)) return false;
	CarriedTuple t = { as_reduction(&x), x.n, { 0 }, false, { 0 } };
	for (int i = 0; i < x.ops.n; i++) t.divides |= x.ops.p[i]->code == OP_DIV;
	for (int i = 0; i < x.n; i++) t.own[x.part[i]] = x.own.p[i]->id;
	for (int k = 0; k < x.n; k++) {
		Carried *c = &l->carried.p[x.at[k]];
		t.at[k] = x.at[k];
		c->part = k;
		if (k < x.members) c->tuple = l->tuples.n;
		else c->combine = OP_ADD;
	}
	vec_push(A_TMP, &l->tuples, t);
	return true;
}

/* A product that is carried may be part of it, too: p *= u beside q = u * q + v. */
static bool take_products(SplitLoop *l)
{
	bool any = false;
	for (int i = 0; i < l->carried.n; i++) {
		Carried *c = &l->carried.p[i];
		if (c->combine != OP_MUL || c->tuple >= 0) continue;
		c->combine = OP_COUNT;
		any = true;
	}
	return any;
}

/* Tables of all values stay for a loop whose formula is found alone: a kernel may have thousands of loops. */
static bool found(const Fn *fn, const Op *loop, SplitLoop *l)
{
	ArenaMark mark = arena_mark(A_TMP);
	if (find(fn, loop, l)) return true;
	arena_release(A_TMP, mark);
	return false;
}

void split_find_formula(const Fn *fn, const Op *loop, SplitLoop *l)
{
	if (!found(fn, loop, l) && take_products(l)) found(fn, loop, l);
}

/* ---- shares ---- */
typedef struct Table { Val **at; } Table;

static void note_results(void *ctx, Op *op)
{
	Table *t = ctx;
	for (int i = 0; i < op->nout; i++) t->at[op->out[i]->id] = op->out[i];
	for (int r = 0; r < op->nregion; r++)
		for (int i = 0; i < op->region[r]->args.n; i++) t->at[op->region[r]->args.p[i]->id] = op->region[r]->args.p[i];
}

/* A value as one of this shape: a single one stands for all elements. */
static Val *shaped(Builder *b, Val *v, const Type *shape)
{
	const Type *t = type_with_elem(shape, v->type->elem);
	if (v->type == t) return v;
	if (!is_one(v->type)) return ir_unary(b, OP_RESHAPE, t, v);
	if (type_is_tile(v->type)) v = ir_unary(b, OP_TO_SCALAR, type_scalar(t->elem), v);
	return type_is_tile(t) ? ir_unary(b, OP_BROADCAST, t, v) : v;
}

static Val *all_equal(Builder *b, const CarriedTuple *t, Val *const *v)
{
	Val *all = NULL;
	for (int k = 0; k < t->n; k++) {
		Val *e = ir_const_num(b, v[k]->type, split_identity(t, k));
		Val *is = ir_binary(b, OP_EQ, type_with_elem(v[k]->type, EL_BOOL), v[k], e);
		all = all ? ir_binary(b, OP_AND, is->type, all, is) : is;
	}
	return all;
}

static void guard_formula(const Table *vals, Op *loop, const SplitLoop *l, int number)
{
	const CarriedTuple *t = &l->tuples.p[number];
	IrBlock *body = loop->region[0];
	Builder b = build_before(body->last);
	const Type *shape = l->carried.p[t->at[0]].type;
	Val *u[COST_SPLIT_TUPLE], *w[COST_SPLIT_TUPLE];
	for (int k = 0; k < t->n; k++) {
		u[k] = shaped(&b, body->args.p[1 + t->at[k]], shape);
		w[k] = shaped(&b, vals->at[t->own[k]], shape);
	}
	Val *first = all_equal(&b, t, u), *second = all_equal(&b, t, w);
	for (int k = 0; k < t->n; k++) {
		Val **end = &body->last->in[t->at[k]], *v = ir_in(body->last, t->at[k]);
		if (l->carried.p[t->at[k]].tuple != number) continue;
		v = ir_op1(&b, OP_SELECT, u[k]->type, 3, (Val *[]){ second, u[k], v });
		*end = ir_op1(&b, OP_SELECT, u[k]->type, 3, (Val *[]){ first, w[k], v });
	}
}

void split_guard_formulas(Fn *copy, Op *loop, const SplitLoop *l)
{
	bool any = false;
	for (int i = 0; i < l->tuples.n; i++) any |= l->tuples.p[i].divides;
	if (!any) return;
	ir_number(copy);
	Table vals = { NEW_ARRAY(A_TMP, Val *, copy->nval) };
	for (int i = 0; i < copy->body->args.n; i++) vals.at[copy->body->args.p[i]->id] = copy->body->args.p[i];
	ir_walk(copy->body, note_results, &vals);
	for (int i = 0; i < l->tuples.n; i++)
		if (l->tuples.p[i].divides) guard_formula(&vals, loop, l, i);
}
