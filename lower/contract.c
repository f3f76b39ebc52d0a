/* Pass contract: a * b + c written as one expression becomes fma (language: numbers). It runs before the targets part,
 * so all round alike, and before equal products are merged, so that a product's other places in the source change
 * nothing. The product must have no name of its own and no other use; both ops must have the default modes, or flush
 * both; @no_contract on the kernel or statement forbids it. Of a * b + c * d the left product is contracted. */
#include "base/diag.h"
#include "lower/lower.h"

typedef struct Con { const int *uses; } Con;

static bool plain(const Op *op, Elem e)
{
	return elem_is_float(e) && !ir_int(op, AT_ROUNDING, 0) && !ir_int(op, AT_CONTRACT, 0);
}

static Op *product(const Con *c, const Op *sum, const Val *v)
{
	Op *m = v->def;
	if (!m || m->code != OP_MUL || v->name || c->uses[v->id] != 1 || m->parent != sum->parent) return NULL;
	if (v->type != sum->out[0]->type || !plain(m, v->type->elem)) return NULL;
	return ir_int(m, AT_SUBNORMALS, 0) == ir_int(sum, AT_SUBNORMALS, 0) ? m : NULL;
}

static Val *negated(Builder *b, Val *x) { return ir_unary(b, OP_NEG, x->type, x); }

static void contract_op(void *ctx, Op *op)
{
	const Con *c = ctx;
	if ((op->code != OP_ADD && op->code != OP_SUB) || !plain(op, op->out[0]->type->elem)) return;
	Val *x = ir_in(op, 0), *y = ir_in(op, 1);
	Op *left = product(c, op, x), *right = left ? NULL : product(c, op, y);
	if (!left && !right) return;
	Builder b = { op->parent->fn, op->parent, op, op->span };
	Op *m = left ? left : right;
	Val *in[3] = { ir_in(m, 0), ir_in(m, 1), left ? y : x };
	if (op->code == OP_SUB && left) in[2] = negated(&b, y);         /* a * b - c = fma(a, b, -c): negation is exact */
	if (op->code == OP_SUB && right) in[0] = negated(&b, in[0]);    /* c - a * b = fma(-a, b, c) */
	const Type *t = op->out[0]->type;
	Op *f = ir_op(&b, OP_FMA, 3, in, 1, &t);
	ir_set_int(f, AT_SUBNORMALS, ir_int(op, AT_SUBNORMALS, 0));
	f->out[0]->name = op->out[0]->name;
	ir_replace(op->out[0], f->out[0]);
	ir_remove(op);
	ir_remove(m);
}

void pass_contract(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) {
		Fn *fn = m->fns.p[i];
		if (fn->no_contract) continue;
		Con c = { ir_use_counts(fn, A_TMP) };
		ir_walk(fn->body, contract_op, &c);
	}
}
