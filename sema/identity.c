/* Identities of reductions and scans with a function of the author's. f(identity, x) must be x; it is computed for a
 * few x that the elements may have, where the function folds. */
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

void identity_op(const Op *op)
{
	static const int tried[] = { 1, -1, 3, -5, 0 };
	const Val *x = ir_in(op, 0);
	Elem e = x->type->elem;
	Num identity, r;
	if (op->nin != 2 || op->nout != 1 || elem_is_ptr(e) || !ir_const_value(ir_in(op, 1), &identity)) return;
	const IrBlock *body = op->region[0];
	if (body->args.n != 2 || !body->last || body->last->code != OP_YIELD || body->last->nin != 1) return;
	Reach reach = value_reach(x);
	for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
		if (tried[i] < reach.lo || tried[i] > reach.hi) continue;
		Num n = elem_is_any_float(e) ? num_float(tried[i]) : num_int(tried[i]);
		Call c = { body, { identity, n } };
		if (!value_of(&c, ir_in(body->last, 0), DEEP, &r) || same(e, r, n)) continue;
		diag(D_IDENTITY, op->span, ir_num_text(e, identity), ir_num_text(e, n), ir_num_text(e, r));
		return;
	}
}
