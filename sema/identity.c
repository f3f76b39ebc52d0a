/* Identities of reductions and scans with a function of the author's. f(identity, x) must be x; it is computed for a
 * few x that the elements may have, where the function folds. */
#include <math.h>

#include "ir/fold.h"
#include "sema/findings.h"

typedef struct Call { const IrBlock *body; Num arg[2]; } Call;

enum { DEEP = 16 };     /* operations under one another */

static bool value_of(const Call *c, const Val *v, int depth, Num *r)
{
	if (!v->def && v->block == c->body && v->index < 2) {
		*r = c->arg[v->index];
		return true;
	}
	if (ir_const_value(v, r)) return true;
	const Op *op = v->def;
	Num in[3];
	if (!op || !depth || op->nregion || op->nin < 1 || op->nin > 3 || !op_has(op, OPF_ELEMWISE))
		return false;
	for (int i = 0; i < op->nin; i++)
		if (elem_is_ptr(ir_in(op, i)->type->elem) || !value_of(c, ir_in(op, i), depth - 1, &in[i])) return false;
	Elem e = ir_in(op, op->code == OP_SELECT)->type->elem, to = v->type->elem;
	if (op->code == OP_BITCAST || elem_is_ptr(to)) return false;
	if (op->code == OP_CAST) *r = fold_cast(in[0], e, to, fold_modes(op));
	else return fold_op(op->code, fold_modes(op), e, to, op->nin, in, r);
	return true;
}

static bool same(Elem e, Num a, Num b) { return elem_is_any_float(e) ? a.f == b.f : a.i == b.i; }

static const int tried[] = { 1, -1, 3, -5, 0 };

/* A number that may be an element for which f(identity, x) is another one; false: none is found. */
static bool refuted(const Op *op, Num identity, Num *x, Num *made)
{
	const IrBlock *body = op->region[0];
	Elem e = ir_in(op, 0)->type->elem;
	Reach reach = value_reach(ir_in(op, 0));
	for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
		if (tried[i] < reach.lo || tried[i] > reach.hi) continue;
		*x = elem_is_any_float(e) ? num_float(tried[i]) : num_int(tried[i]);
		Call c = { body, { identity, *x } };
		if (value_of(&c, ir_in(body->last, 0), DEEP, made) && !same(e, *made, *x)) return true;
	}
	return false;
}

/* The number that changes nothing on either side, where there is one. */
static void help_identity(Diag *d, const Op *op)
{
	const IrBlock *body = op->region[0];
	Elem e = ir_in(op, 0)->type->elem;
	bool floats = elem_is_any_float(e);
	Num offered[] = { floats ? num_float(0) : num_int(0), floats ? num_float(1) : num_int(1),
		floats ? num_float(-INFINITY) : num_least(e), floats ? num_float(INFINITY) : num_greatest(e), num_int(-1) };
	for (size_t i = 0; i < sizeof offered / sizeof *offered - floats; i++) {
		Num x, made;
		bool fits = !refuted(op, offered[i], &x, &made);
		for (size_t k = 0; k < sizeof tried / sizeof *tried && fits; k++) {
			x = floats ? num_float(tried[k]) : num_int(tried[k]);
			Call c = { body, { x, offered[i] } };
			fits = value_of(&c, ir_in(body->last, 0), DEEP, &made) && same(e, made, x);
		}
		if (!fits) continue;
		diag_help(d, "its identity is `%s`", ir_num_text(e, offered[i]));
		return;
	}
	diag_help(d, "no number changes nothing here, and the function is none to reduce by: differences, say, are sums of "
		"what is negated first");
}

void identity_op(const Op *op)
{
	const Val *x = ir_in(op, 0);
	Elem e = x->type->elem;
	Num identity, n, r;
	if (op->nin != 2 || op->nout != 1 || elem_is_ptr(e) || !ir_const_value(ir_in(op, 1), &identity)) return;
	const IrBlock *body = op->region[0];
	if (body->args.n != 2 || !body->last || body->last->code != OP_YIELD || body->last->nin != 1) return;
	if (!refuted(op, identity, &n, &r)) return;
	Diag *d = diag(D_IDENTITY, op->span, ir_num_text(e, identity), ir_num_text(e, n), ir_num_text(e, r));
	help_identity(d, op);
}
