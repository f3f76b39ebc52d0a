/* products: sums of products add them unrounded.
 *
 * What a thread adds of `sum(x * y)` takes two instructions an element, or one fma. A product without a name that only
 * the sum uses is one of a * b + c written as one expression, in whatever order, and is contracted as those are
 * (contract.c). Norms of short and of peeled rows are bound by their instructions. */
#include "lower/placed.h"

static bool is_plain(const Op *op)
{
	return !ir_int(op, AT_ROUNDING, 0) && !ir_int(op, AT_SUBNORMALS, 0) && !ir_int(op, AT_CONTRACT, 0);
}

/* The product that op sums; NULL: it sums something else. */
static Op *product_of(const Op *op)
{
	if (op->code != OP_REDUCE_REGS || op->nin != 1 || op->nregion || !is_plain(op)) return NULL;
	if (ir_int(op, AT_KIND, 0) != KIND_SUM) return NULL;
	const Val *x = ir_in(op, 0);
	if (x->name || !x->def || x->def->code != OP_MUL || x->def->parent != op->parent || !is_plain(x->def)) return NULL;
	return x->type->elem == EL_F32 || x->type->elem == EL_F64 ? x->def : NULL;
}

typedef struct Sums { VEC(Op *) ops; } Sums;

static void find_sum(void *ctx, Op *op)
{
	Sums *s = ctx;
	if (product_of(op)) vec_push(A_TMP, &s->ops, op);
}

static void add_unrounded(Op *sum, Op *product)
{
	Val *in[] = { ir_in(product, 0), ir_in(product, 1) };
	Builder b = build_before(sum);
	b.span = sum->span;
	const Type *t = sum->out[0]->type;
	Op *op = ir_op(&b, OP_REDUCE_REGS, 2, in, 1, &t);
	copy_attrs(op, sum);
	ir_set_layout(op->out[0], *sum->out[0]->lay);
	op->out[0]->name = sum->out[0]->name;
	ir_replace(sum->out[0], op->out[0]);
	ir_remove(sum);
	ir_remove(product);
}

static void products_in(Fn *fn)
{
	Sums s = { { 0 } };
	if (fn->no_contract) return;
	ir_walk(fn->body, find_sum, &s);
	if (!s.ops.n) return;
	ir_number(fn);
	const int *uses = ir_use_counts(fn, A_TMP);
	for (int i = 0; i < s.ops.n; i++) {
		Op *product = product_of(s.ops.p[i]);
		if (uses[product->out[0]->id] == 1) add_unrounded(s.ops.p[i], product);
	}
}

void pass_products(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) {
		ArenaMark mark = arena_mark(A_TMP);
		products_in(m->fns.p[i]);
		arena_release(A_TMP, mark);
	}
}
