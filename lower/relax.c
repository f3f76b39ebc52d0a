/* relax: an f32 quotient or power of e whose every use ends in rounding to a float of 16 or 8 bits need not be
 * rounded correctly itself. A quotient takes the form of `rounding: full` (at most 2 ulp, 2^-22 relative), whose
 * reciprocal of a divisor that a whole row shares is computed once; `exp`, marked by the same word, takes three
 * instructions instead of eight (at most 2^-16 relative where the result is above 0). Between it and the rounding
 * stand only operations that keep a relative error as small as it is: products, quotients, roots, changes of sign
 * and of place, a choice, and sums of what is never negative (nothing cancels there).
 *
 * x - select(iota == t, a, 0), as in the gradient of cross-entropy, is x but for one element: it becomes
 * select(iota == t, x - a, x).
 *
 * Where some uses need all digits and others do not, the latter take a copy, in two cases. What only one element
 * of a row needs exactly (the label in cross-entropy, where p - 1 cancels) is computed for that one alone
 * (rare.c). And where threads of a large tile wait for others between an exact sum of powers and a product that is
 * rounded, and a power is made of what is held in words anyway (pass remat), nobody holds powers of f32 at the
 * wait: a thread has room for twice the elements.
 *
 * 1 + tanh(x) is 2 / (1 + exp(-2 x)), which has all its digits where tanh is near -1, and takes half the instructions;
 * y / 2 times that is y times 1 / (1 + exp(-2 x)).
 *
 * A quotient of small integers by a constant takes one or two products that give the same numbers (quotient.c).
 *
 * A quotient that only becomes an integer, by rounding to the nearest, has the bits that matter without the branches
 * of a correctly rounded one (`domain: whole`).
 *
 * A sum that a loop carries may be added to and scaled from round to round: a relative error of what is added
 * stays as it is in the sum, that of a factor would grow with each iteration.
 *
 * One walk from the end to the beginning: when an operation is reached, all uses of its result have been seen.
 * What leaves a region otherwise counts as used exactly. */
#include <math.h>

#include "base/diag.h"
#include "lower/placed.h"

typedef VEC(Op *) Ops;

typedef struct Relax {
	const Fn *fn;
	bool *exact;            /* by Val id: some use needs all digits */
	bool *often;            /* for more than one element of a row */
	bool *rare;             /* of rare.c */
	bool *carried;          /* by Val id: a sum that a loop carries, on its way to the next iteration */
	const int *uses;
	Ops *loose;             /* by Val id: its uses that do not need them */
	Ops ops;
	bool rounds;            /* some of them round to so few bits */
} Relax;

static bool is_f32(const Val *v)
{
	return (v->type->kind == TY_TILE || v->type->kind == TY_SCALAR) && v->type->elem == EL_F32;
}

bool never_below_zero(const Val *v, int depth)
{
	const Op *op = v->def;
	Num n;
	if (!op || depth == 0) return false;
	if (ir_const_value(v, &n)) return is_f32(v) && n.f >= 0;
	if (op_is(op, OPT_POSITIVE) || (op->code == OP_MUL && ir_in(op, 0) == ir_in(op, 1))) return true;
	bool all = op_is(op, OPT_KEEPS_SIGN) || op_has(op, OPF_FREE);
	for (int i = op->code == OP_SELECT; all && i < op->nin; i++) all = never_below_zero(ir_in(op, i), depth - 1);
	return all;
}

enum { DEPTH = 12 };            /* of the question above: enough for any formula written by hand */

/* Does op hand a small relative error of its operands on as it is? */
static bool keeps_error(const Op *op)
{
	bool all = op_is(op, OPT_KEEPS_ERROR | OPT_ADDS_UP) || op_has(op, OPF_FREE);
	for (int i = 0; all && op_is(op, OPT_ADDS_UP) && i < op->nin; i++) all = never_below_zero(ir_in(op, i), DEPTH);
	return all;
}

/* ---- sums that loops carry ---- */
static bool is_positive(const Val *v) { return never_below_zero(v, DEPTH); }

/* Marks the way from an argument of a loop to what the next iteration gets for it; false: more happens to it than that
 * it is scaled by and added to what is not below 0. */
static bool mark_sum(Relax *r, const Val *v, const Val *arg)
{
	const Op *op = v->def;
	if (v == arg) return r->uses[v->id] == 1;
	if (!op || op->parent != arg->block || r->uses[v->id] != 1) return false;
	bool scales = op->code == OP_MUL || op->code == OP_FMA;
	if (!scales && op->code != OP_ADD) return false;
	r->carried[v->id] = true;
	for (int i = 0; i < op->nin; i++) {
		bool others = true;
		for (int k = 0; k < op->nin; k++) others &= k == i || is_positive(ir_in(op, k));
		if (others && mark_sum(r, ir_in(op, i), arg)) return true;
	}
	return r->carried[v->id] = false;
}

/* What the sum is made of: only what is added may have an error. */
static bool is_added(const Relax *r, const Op *op, int i)
{
	bool last = i == op->nin - 1;
	if (op->code == OP_ADD || (op->code == OP_FMA && last)) return true;
	return r->carried[ir_in(op, i)->id];
}

static bool is_zero(const Val *v)
{
	Num n;
	return is_f32(v) && ir_const_value(v, &n) && n.f == 0;
}

/* A comparison with 0 has the same result. */
static bool compares_with_zero(const Op *op)
{
	return op_compares(op->code) && (is_zero(ir_in(op, 0)) || is_zero(ir_in(op, 1)));
}

static bool rounds_coarsely(const Op *op)
{
	if (op->code != OP_CAST || ir_int(op, AT_ROUNDING, 0)) return false;
	Elem to = op->out[0]->type->elem;
	bool coarse = to == EL_F16 || to == EL_BF16 || to == EL_F8E4M3 || to == EL_F8E5M2;
	return coarse && is_f32(ir_in(op, 0));
}

/* ---- two forms of one value ---- */
static bool is_packed(const Val *v) { return type_is_tile(v->type) && elem_bytes(v->type->elem) <= 2; }

/* Is v widened from 16 bits, or made of that and of what is the same for many elements? */
static bool is_made_of_packed(const Val *v, int depth)
{
	const Op *op = v->def;
	if (!op || !depth) return false;
	switch (op->code) {
	case OP_CAST: return is_packed(ir_in(op, 0));
	case OP_NEG: return is_made_of_packed(ir_in(op, 0), depth - 1);
	case OP_ADD: case OP_SUB: case OP_MUL: break;
	default: return false;
	}
	for (int i = 0; i < 2; i++) {
		const Op *other = ir_in(op, 1 - i)->def;
		if (other && (other->code == OP_BROADCAST || other->code == OP_CONST)
			&& is_made_of_packed(ir_in(op, i), depth - 1))
			return true;
	}
	return false;
}

static bool waits_between(const Op *from, const Op *to)
{
	for (const Op *op = from->next; op && op != to; op = op->next)
		if (op_is_reduce(op)) return true;
	return false;
}

static bool is_one_of(const Ops *ops, const Op *op)
{
	for (int i = 0; i < ops->n; i++)
		if (ops->p[i] == op) return true;
	return false;
}

/* The first of its loose uses, if all stand in its block; NULL: there is none. */
static Op *first_loose(const Op *op, const Ops *users)
{
	for (int i = 0; i < users->n; i++)
		if (users->p[i]->parent != op->parent) return NULL;
	Op *at = op->next;
	while (at && !is_one_of(users, at)) at = at->next;
	return at;
}

static bool may_relax(const Op *op)
{
	return (op->code == OP_DIV || op->code == OP_EXP) && !ir_int(op, AT_ROUNDING, 0) && !ir_int(op, AT_SUBNORMALS, 0);
}

static void note_loose(Relax *r, Op *op)
{
	for (int i = 0; i < op->nin; i++) vec_push(A_TMP, &r->loose[ir_in(op, i)->id], op);
}

/* Is a copy for the uses from `first` on worth its instructions? */
static bool is_split(const Relax *r, const Op *op, const Op *first)
{
	enum { FORMULA = 4 };           /* operations between the tile and its power */
	const Val *x = op->out[0];
	if (op->code != OP_EXP) return keeps_error(op) && op->code != OP_SUM && !r->often[x->id];
	return may_relax(op) && !r->fn->by_element && type_log2_size(x->type) >= COST_RELAX_COPIED
		&& waits_between(op, first) && is_made_of_packed(ir_in(op, 0), FORMULA);
}

static void split(Relax *r, Op *op)
{
	Val *x = op->out[0];
	Ops *users = &r->loose[x->id];
	Op *first = first_loose(op, users);
	if (!first || !type_is_tile(x->type) || !is_split(r, op, first)) return;
	Builder b = build_before(first);
	Op *copy = ir_op(&b, op->code, op->nin, op->in, 1, &x->type);
	copy_attrs(copy, op);
	copy->span = op->span;
	copy->out[0]->name = x->name;
	if (may_relax(op)) ir_set_int(copy, AT_ROUNDING, attr_word(AT_ROUNDING, str_intern("full")));
	for (int i = 0; i < users->n; i++)
		for (int k = 0; k < users->p[i]->nin; k++)
			if (ir_in(users->p[i], k) == x) users->p[i]->in[k] = copy->out[0];
	if (op->code != OP_EXP) note_loose(r, copy);
}

static void use_exactly(Relax *r, const Val *v) { r->exact[v->id] = r->often[v->id] = true; }

static void visit_sum(Relax *r, Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		if (is_added(r, op, i)) vec_push(A_TMP, &r->loose[ir_in(op, i)->id], op);
		else use_exactly(r, ir_in(op, i));
	}
}

/* What follows the loop has been seen. */
static void visit_yield(Relax *r, Op *op)
{
	const Op *loop = op->parent->owner;
	for (int i = 0; i < op->nin; i++) {
		const Val *arg = op->parent->args.p[1 + i];
		bool loose = is_f32(arg) && !r->exact[loop->out[i]->id] && is_positive(ir_in(loop, 3 + i));
		if (!loose || !mark_sum(r, ir_in(op, i), arg)) use_exactly(r, ir_in(op, i));
	}
}

/* ---- sums with a hyperbolic tangent ---- */
static bool is_one(const Val *v)
{
	Num n;
	return ir_const_value(v, &n) && n.f == 1;
}

static Val *same_number(Builder *b, const Val *like, double n) { return ir_const_num(b, like->type, (Num){ .f = n }); }

static double constant(const Val *v)
{
	Num n;
	return ir_const_value(v, &n) ? n.f : NAN;
}

static bool is_plain(const Op *op) { return !ir_int(op, AT_ROUNDING, 0) && !ir_int(op, AT_SUBNORMALS, 0); }

/* The factor of a product with this constant; NULL: v is none. */
static Val *times_constant(const Val *v, double *n)
{
	const Op *op = v->def;
	if (!op || op->code != OP_MUL || !is_plain(op)) return NULL;
	for (int i = 0; i < 2; i++) {
		*n = constant(ir_in(op, i));
		if (!isnan(*n)) return ir_in(op, 1 - i);
	}
	return NULL;
}

/* The only use of a sum, if it is a product with half of a number: that number. */
static Val *halved_beside(const Relax *r, const Op *sum, Op **product)
{
	const Val *x = sum->out[0];
	double n;
	if (r->uses[x->id] != 1 || r->loose[x->id].n != 1) return NULL;
	Op *use = *product = r->loose[x->id].p[0];
	if (use->code != OP_MUL || !is_plain(use)) return NULL;
	Val *other = times_constant(ir_in(use, ir_in(use, 0) == x), &n);
	return other && n == 0.5 ? other : NULL;
}

/* e^(by x), which is added to 1: what is subnormal does not count. Constant factors are one. */
static Val *power_beside_one(Builder *b, Val *x, double by)
{
	double n;
	Val *of = times_constant(x, &n);
	if (of) x = of, by *= n;
	Val *log2 = ir_binary(b, OP_MUL, x->type, x, same_number(b, x, (float)(by * 1.4426950408889634)));
	Val *power = ir_unary(b, OP_EXP2, x->type, log2);
	ir_set_int(power->def, AT_SUBNORMALS, attr_word(AT_SUBNORMALS, str_intern("flush")));
	return power;
}

/* 1 + tanh(x) or 1 - tanh(x), not needed exactly: 2 / (1 + e^(-2 x)), which becomes 0 below 2^-126, as the sum does
 * that is rounded to 2^-24 of 1. Half of y times that is y times half of the quotient. */
static bool make_quotient(Relax *r, Op *op)
{
	bool minus = op->code == OP_SUB;
	if (!minus && op->code != OP_ADD) return false;
	int of = minus || is_one(ir_in(op, 0)) ? 1 : 0;
	Op *tanh = ir_in(op, of)->def, *product;
	if (!tanh || tanh->code != OP_TANH || !is_one(ir_in(op, 1 - of)) || r->uses[tanh->out[0]->id] != 1) return false;
	if (!is_plain(op) || ir_int(tanh, AT_ROUNDING, 0)) return false;
	Val *x = ir_in(tanh, 0), *whole = halved_beside(r, op, &product);
	Builder b = build_before(op);
	Val *sum = ir_binary(&b, OP_ADD, x->type, ir_in(op, 1 - of), power_beside_one(&b, x, minus ? 2 : -2));
	Val *q = ir_binary(&b, OP_DIV, x->type, same_number(&b, x, whole ? 1 : 2), sum);
	ir_set_int(q->def, AT_ROUNDING, attr_word(AT_ROUNDING, str_intern("approximate")));
	ir_set_int(q->def, AT_SUBNORMALS, attr_word(AT_SUBNORMALS, str_intern("flush")));
	q->name = op->out[0]->name;
	ir_replace(op->out[0], q);
	if (whole) product->in[ir_in(product, 0) == q] = whole;
	ir_remove(op);
	ir_remove(tanh);
	use_exactly(r, x);
	return true;
}

static void visit(Relax *r, Op *op)
{
	const Val *from;
	if (op->code == OP_YIELD && op->parent->owner->code == OP_FOR) {
		visit_yield(r, op);
		return;
	}
	if (op->nout == 1 && r->carried[op->out[0]->id]) {
		visit_sum(r, op);
		return;
	}
	bool loose = rounds_coarsely(op) || compares_with_zero(op), picks = rare_number(op, &from) != NULL;
	bool rare = op->nout == 1 && r->rare[op->out[0]->id] && op_has(op, OPF_ELEMWISE);
	if (op->nout == 1 && is_f32(op->out[0])) {
		bool exact = r->exact[op->out[0]->id];
		loose = loose || (!exact && keeps_error(op));
		if (!exact && make_quotient(r, op)) return;
		if (exact) split(r, op);
		else if (may_relax(op)) ir_set_int(op, AT_ROUNDING, attr_word(AT_ROUNDING, str_intern("full")));
	}
	if (loose) {
		note_loose(r, op);
		return;
	}
	for (int i = 0; i < op->nin; i++) {
		r->exact[ir_in(op, i)->id] = true;
		if (!rare && !(picks && i == 1)) r->often[ir_in(op, i)->id] = true;
	}
}

/* ---- what becomes an integer ---- */
static bool is_limit(const Val *v)
{
	Num n;
	return ir_const_value(v, &n) || (v->def && v->def->code == OP_BROADCAST && ir_const_value(ir_in(v->def, 0), &n));
}

static bool is_shared_divisor(const Val *v)
{
	return !type_is_tile(v->type) || !type_log2_size(v->type) || (v->def && v->def->code == OP_BROADCAST);
}

/* What is rounded to the nearest whole number for a conversion to an integer is so by the conversion. A quotient that
 * is used for nothing else, by a divisor of a whole row, is needed exactly only where it is neither small nor large. */
static void look_at_cast(Relax *r, Op *cast)
{
	if (cast->code != OP_CAST) return;
	Val *x = ir_in(cast, 0);
	Elem to = cast->out[0]->type->elem;
	if (!is_f32(x) || !elem_is_int(to) || elem_bytes(to) > 4) return;
	if (ir_int(cast, AT_ROUNDING, 0) || ir_int(cast, AT_OVERFLOW, 0)) return;
	while (x->def && (x->def->code == OP_MAX || x->def->code == OP_MIN) && r->uses[x->id] == 1) {
		bool first = is_limit(ir_in(x->def, 0));
		if (!first && !is_limit(ir_in(x->def, 1))) break;
		x = ir_in(x->def, first ? 1 : 0);
	}
	Op *rint = x->def;
	if (!rint || rint->code != OP_RINT || r->uses[x->id] != 1) return;
	Op *div = ir_in(rint, 0)->def;
	bool alone = div && div->code == OP_DIV && r->uses[div->out[0]->id] == 1 && may_relax(div);
	if (alone && is_shared_divisor(ir_in(div, 1)))
		ir_set_int(div, AT_DOMAIN, attr_word(AT_DOMAIN, str_intern("whole")));
	if (x != ir_in(cast, 0)) return;
	cast->in[0] = ir_in(rint, 0);
	ir_set_int(cast, AT_ROUNDING, attr_word(AT_ROUNDING, str_intern("ties_even")));
	ir_remove(rint);
}

/* x - 0 is x, -0 and NaN included. What is chosen between numbers is left as it is: where x is 0, the choice would be
 * one of this kind again. */
static void part_difference(const Relax *r, Op *op)
{
	const Val *from;
	Op *select = op->code == OP_SUB && is_f32(op->out[0]) ? ir_in(op, 1)->def : NULL;
	if (!select || ir_int(op, AT_ROUNDING, 0) || ir_int(op, AT_SUBNORMALS, 0) || !rare_number(select, &from)) return;
	Num n;
	const Val *none = ir_in(select, 2);
	if (none->def && none->def->code == OP_BROADCAST) none = ir_in(none->def, 0);
	if (!ir_const_value(none, &n) || n.f != 0 || signbit(n.f) || is_limit(ir_in(op, 0))) return;
	Builder b = build_before(op);
	Val *x = ir_in(op, 0), *one = ir_binary(&b, OP_SUB, x->type, x, ir_in(select, 1));
	Val *parted = ir_op1(&b, OP_SELECT, x->type, 3, (Val *[]){ ir_in(select, 0), one, x });
	parted->name = op->out[0]->name;
	ir_replace(op->out[0], parted);
	ir_remove(op);
	if (r->uses[select->out[0]->id] == 1) ir_remove(select);
}

static void collect(void *ctx, Op *op)
{
	Relax *r = ctx;
	vec_push(A_TMP, &r->ops, op);
	r->rounds |= rounds_coarsely(op);
}

void relax_kernel(Fn *fn)
{
	Relax r = { .fn = fn };
	bool divides = false;
	ir_walk(fn->body, collect, &r);
	for (int k = 0; k < r.ops.n; k++) divides |= divide_by_products(r.ops.p[k]);
	if (divides) {
		ir_number(fn);
		r.ops.n = 0;
		ir_walk(fn->body, collect, &r);
	}
	r.uses = ir_use_counts(fn, A_TMP);
	for (int k = r.ops.n - 1; k >= 0; k--) look_at_cast(&r, r.ops.p[k]);
	if (!r.rounds) return;
	for (int k = 0; k < r.ops.n; k++) part_difference(&r, r.ops.p[k]);
	ir_number(fn);
	r.ops.n = 0;
	ir_walk(fn->body, collect, &r);
	r.exact = NEW_ARRAY(A_TMP, bool, fn->nval);
	r.often = NEW_ARRAY(A_TMP, bool, fn->nval);
	r.carried = NEW_ARRAY(A_TMP, bool, fn->nval);
	r.uses = ir_use_counts(fn, A_TMP);
	r.rare = rare_values(fn, A_TMP);
	r.loose = NEW_ARRAY(A_TMP, Ops, fn->nval);
	for (int k = r.ops.n - 1; k >= 0; k--) visit(&r, r.ops.p[k]);
}

void pass_relax(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) relax_kernel(m->fns.p[i]);
}
