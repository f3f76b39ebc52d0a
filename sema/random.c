/* Random numbers that are the same in every tile block, and are stored by all of them: a pattern that repeats from tile
 * to tile. They are followed through elementwise operations and changes of shape. What a product or a reduction takes
 * in may have to be the same, such as the matrix of a random projection. */
#include "sema/findings.h"

#include <string.h>

static bool draws(const Op *op)
{
	return op->code == OP_RAND || op->code == OP_RANDN || op->code == OP_RANDINT;
}

static bool passes_on(const Op *op)
{
	switch (op->code) {
	case OP_BROADCAST: case OP_RESHAPE: case OP_PERMUTE: case OP_CAT: return true;
	default: return (op_rows[op->code].flags & OPF_ELEMWISE) != 0;
	}
}

/* The type that the offset has in the source: what the operation takes is u64. */
static Elem offset_elem(const Op *op)
{
	const Val *v = ir_in(op, 1);
	bool converted = v->def && v->def->code == OP_CAST && strncmp(span_source(v->def->span), "element_cast", 12) != 0;
	return converted ? ir_in(v->def, 0)->type->elem : v->type->elem;
}

/* A kernel whose only axis of the grid counts these tiles: the number of the block is added to the offset, which is the
 * last argument. */
static void mend(Diag *d, const Fn *fn, const Op *op)
{
	Str text = span_source(op->span);
	size_t n = strlen(text);
	const Type *t = op->out[0]->type;
	bool plain = n && text[n - 1] == ')' && !strpbrk(text, ":?<>&|^=");
	if (fn->ngrid != 1 || op->parent != fn->body || fn->generics.n || !type_is_tile(t) || !plain) {
		diag_help(d, "the number of the first element of the block's tile is added to the offset");
		return;
	}
	Elem e = offset_elem(op);
	Str block = e == EL_I32 ? "bid(0)" : str_fmt("%s(bid(0))", elem_name(e));
	Str fix = str_fmt(" + %s * %lld", block, 1LL << type_log2_size(t));
	diag_help(d, "the number of the first element of the block's tile is added to the offset: write `%s)`",
		str_fmt("%.*s%s", (int)n - 1, text, fix));
	diag_edit(d, (Span){ op->span.hi - 1, op->span.hi - 1 }, fix);
}

static void stored(const Fn *fn, const Op **of, const Val *v)
{
	const Op *op = of[v->id];
	if (!op) return;
	mend(diag0(D_SAME_RANDOM, op->span), fn, op);
	for (int i = 0; i <= fn->nval; i++)
		if (of[i] == op) of[i] = NULL;
}

void random_op(const Fn *fn, const Op **of, const Op *op, unsigned dep, unsigned under)
{
	if (under) return;
	if (draws(op)) {
		if (!dep) of[op->out[0]->id] = op;
	} else if (op->code == OP_STORE || op->code == OP_SCATTER || op->code == OP_STORE_PTR) {
		int value = op->code == OP_STORE ? op->nin - 1 : op->code == OP_STORE_PTR ? 1 : 1 + ir_in(op, 0)->type->rank;
		stored(fn, of, ir_in(op, value));
	} else if (passes_on(op) && op->nout == 1) {
		for (int i = 0; i < op->nin && !of[op->out[0]->id]; i++) of[op->out[0]->id] = of[ir_in(op, i)->id];
	}
}
