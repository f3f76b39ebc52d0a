/* Inside pass combine: a sum of exp(x - m), where m is the maximum of x, is exchanged together with that maximum.
 *
 * In a cluster a sum that needs a maximum first waits for other thread blocks twice (see rebase.c). But each warp may
 * take its own maximum c instead of m, and the sum is
 *
 *   sum of exp(x - m) = sum over warps of exp(c - m) * (sum of exp(x - c) of the warp)
 *
 * Nothing cancels and nothing overflows, for c is at most m and x at most c; a warp whose elements are all -infinity
 * has the sum 0. The order is that of any sum of a cluster (combine.c), of the products.
 *
 * Where powers are needed for more than the sum they would be computed twice, or be multiplied once more, which costs
 * more than the wait, except where few elements need them (rare.c): cross-entropy, whose rounded gradient has powers of
 * its own (relax.c). */
#include <math.h>

#include "base/diag.h"
#include "ir/fold.h"
#include "lower/rebase.h"

enum { DEPTH = 12 };    /* of expressions that are looked at */

typedef struct Users { const Val *v; const Op *but; const bool *rare; bool common; } Users;

static void find_user(void *ctx, Op *op)
{
	Users *u = ctx;
	for (int i = 0; i < op->nin; i++)
		if (ir_in(op, i) == u->v && op != u->but) u->common |= op->nout != 1 || !u->rare[op->out[0]->id];
}

/* Does only the sum need all of the powers? */
static bool is_for_sum(const Fn *fn, const Val *e, const Op *sum)
{
	Users u = { e, sum, rare_values(fn, A_TMP), false };
	ir_walk(fn->body, find_user, &u);
	return !u.common;
}

static bool find(const Fn *fn, Op *sum, Pair *p, Places *at)
{
	*p = (Pair){ .sum = sum };
	if (sum->code != OP_SUM || !pair_plain(sum) || !type_is_tile(ir_in(sum, 0)->type)) return false;
	const Op *e = pair_made_by(ir_in(sum, 0), OP_EXP);
	p->axis = ir_axis(sum);
	if (!e || e->out[0]->type->elem != EL_F32 || !pair_differs(ir_in(e, 0), p)) return false;
	p->first = pair_made_by(p->m, OP_REDUCE_MAX);
	if (!p->first || p->first->parent != sum->parent || ir_in(p->first, 0) != p->x) return false;
	return ir_axis(p->first) == p->axis && pair_places(p, at) && is_for_sum(fn, e->out[0], sum);
}

/* x: not above 0, a difference from what is no less */
static Val *power(Builder *b, Val *x)
{
	Val *e = pair_laid(ir_unary(b, OP_EXP, x->type, x), *x->lay);
	note_low_power(e->def);
	return e;
}

/* An element that is broadcast to all thread blocks is sent before they wait, as it was before the sum (combine.c). */
static void send_before(Op *first, const Op *last, Op *at)
{
	for (Op *op = first, *next; op != last; op = next) {
		next = op->next;
		if (!op_broadcasts(op)) continue;
		pair_stand(ir_in(op, 0), at);
		ir_move_before(op, at);
	}
}

/* What is computed from elements of 16 bits for the maximum is rematerialised for the sum, so that
 * no thread holds it unpacked. */
static Val *unpacked(Builder *b, Val *x)
{
	const Op *cast = pair_made_by(x, OP_CAST);
	if (!cast || elem_bytes(ir_in(cast, 0)->type->elem) > 2) return x;
	Val *packed = ir_in(cast, 0);
	packed = pair_laid(ir_unary(b, OP_OPAQUE, packed->type, packed), *packed->lay);
	return pair_laid(ir_unary(b, OP_CAST, x->type, packed), *x->lay);
}

static void merge(Fn *fn, const Pair *p, const Places *at)
{
	Builder b = build_before(p->first);
	Val *v[2], *e = ir_in(p->sum, 0);
	v[0] = pair_of_warp(&b, p->first, p->x);
	Val *zero = pair_number(&b, v[0], 0), *c = pair_choose(&b, pair_equals(&b, v[0], -INFINITY), zero, v[0]);
	c = pair_spread(&b, p, &at->groups, c);
	Val *d = pair_both(&b, OP_SUB, unpacked(&b, p->x), c);
	v[1] = pair_of_warp(&b, p->sum, power(&b, d));
	const Type *t[2] = { v[0]->type, v[1]->type };
	Op *exchange = ir_op(&b, OP_EXCHANGE, 2, v, 2, t);
	for (int i = 0; i < 2; i++) v[i] = pair_laid(exchange->out[i], at->gathered);
	send_before(p->first, p->sum, exchange);
	Val *all = combine_to(&b, p->first, v[0], *p->first->out[0]->lay);
	Val *m = pair_laid(ir_unary(&b, OP_BROADCAST, at->type, all), at->gathered);
	Val *parts = pair_both(&b, OP_MUL, v[1], power(&b, pair_both(&b, OP_SUB, v[0], m)));
	Val *sum = combine_to(&b, p->sum, parts, *p->sum->out[0]->lay);
	const Op *after = p->sum->next;
	pair_take_place(p->first, all);
	pair_take_place(p->sum, sum);
	pair_drop(fn, e->def, DEPTH);
	pair_sink(sum->def, after);
}

void merge_powers(Fn *fn)
{
	Pair p;
	Places at;
	for (Op *op = fn->body->first, *next; fn->cluster && op; op = next) {
		next = op->next;
		if (find(fn, op, &p, &at)) merge(fn, &p, &at);
	}
}
