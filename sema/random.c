/* Random numbers that are the same in several tile blocks or iterations of a loop, and are stored by all of them: a
 * pattern that repeats from tile to tile. They are followed through elementwise operations and changes of shape. What
 * a product or a reduction takes in may have to be the same, such as the matrix of a random projection. */
#include "sema/findings.h"

#include <string.h>

static bool draws(const Op *op)
{
	return op_has(op, OPF_RANDOM);
}

static bool passes_on(const Op *op)
{
	return op_has(op, OPF_ELEMWISE | OPF_FREE) || op->code == OP_CAT;
}

/* The type that the offset has in the source: what the operation takes is u64. */
static Elem offset_elem(const Op *op)
{
	const Val *v = ir_in(op, 1);
	bool converted = v->def && v->def->code == OP_CAST && strncmp(span_source(v->def->span), "element_cast", 12) != 0;
	return converted ? ir_in(v->def, 0)->type->elem : v->type->elem;
}

/* The number of the tile block among all, as an operand of `*`. */
static Str block_number(const Fn *fn, Elem e)
{
	bool plain = e == EL_I32;
	Str number = plain ? "bid(0)" : str_fmt("%s(bid(0))", elem_name(e));
	for (int i = 1; i < fn->ngrid; i++) {
		if (i > 1) number = str_fmt("(%s)", number);
		number = plain ? str_fmt("%s * num_blocks(%d) + bid(%d)", number, i, i)
			: str_fmt("%s * %s(num_blocks(%d)) + %s(bid(%d))", number, elem_name(e), i, elem_name(e), i);
	}
	return fn->ngrid > 1 ? str_fmt("(%s)", number) : number;
}

/* In a kernel whose numbers depend on no block, the number of the block is added to the offset, which is the last
 * argument. */
static void mend(Diag *d, const Fn *fn, const Op *op, bool no_block)
{
	Str text = span_source(op->span);
	size_t n = strlen(text);
	const Type *t = op->out[0]->type;
	bool plain = n && text[n - 1] == ')' && !strpbrk(text, ":?<>&|^=");
	if (!no_block || op->parent != fn->body || fn->generics.n || !type_is_tile(t) || !plain) {
		diag_help(d, "an offset that is the number of the element in the tensor is different everywhere");
		return;
	}
	Str fix = str_fmt(" + %s * %lld", block_number(fn, offset_elem(op)), 1LL << type_log2_size(t));
	diag_help(d, "the number of the first element of the block's tile is added to the offset: write `%s)`",
		str_fmt("%.*s%s", (int)n - 1, text, fix));
	diag_edit(d, (Span){ op->span.hi - 1, op->span.hi - 1 }, fix);
}

static void say(const Random *r, const Op *op, Str who, Str what, bool no_block)
{
	mend(diag(D_SAME_RANDOM, op->span, who, what), r->fn, op, no_block);
	for (int i = 0; i <= r->fn->nval; i++)
		if (r->of[i] == op) r->of[i] = NULL;
}

/* ---- tile blocks ---- */
static Str blocks_text(unsigned axes, const char *between)
{
	Out *o = out_new();
	for (int i = 0; i < 4; i++)
		if (axes >> i & 1) out_printf(o, "%s`bid(%d)`", o->n ? between : "", i);
	return out_take(o);
}

/* place: the block indices on which the place of the store depends. Blocks that store to one place race, which is said
 * elsewhere. */
static bool same_in_blocks(const Random *r, const Op *op, unsigned place)
{
	unsigned with = r->dep[op->out[0]->id] & r->axes, missing = r->axes & ~with;
	if (with) missing &= place;
	if (!missing) return false;
	if (!with) say(r, op, "every tile block stores", "`bid`", true);
	else say(r, op, str_fmt("tile blocks with the same %s store", blocks_text(with, " and ")),
		blocks_text(missing, " or "), false);
	return true;
}

/* ---- iterations of a loop ---- */
/* Whether v may differ from round to round. */
static bool varies(const IrBlock *body, const Val *v, int depth)
{
	if (!v->def) {
		for (const IrBlock *b = v->block; b && b->owner; b = b->owner->parent)
			if (b == body) return true;
		return false;
	}
	if (!depth || v->def->nregion || op_has(v->def, OPF_READ)) return true;
	for (int i = 0; i < v->def->nin; i++)
		if (varies(body, ir_in(v->def, i), depth - 1)) return true;
	return false;
}

/* Each iteration of a loop that counts stores to another place. */
static void same_in_rounds(const Random *r, const Op *op, const Op *store, int value)
{
	enum { DEPTH = 12 };
	const IrBlock *body = store->parent;
	if (!body->owner || body->owner->code != OP_FOR) return;
	const Val *counter = body->args.p[0];
	bool moves = false;
	for (int i = 0; i < value; i++) moves |= varies(body, ir_in(store, i), DEPTH);
	if (!moves || varies(body, op->out[0], DEPTH)) return;
	Str on = counter->name ? str_fmt("`%s`", counter->name) : str_intern("its counter");
	say(r, op, "each iteration of the loop stores", on, false);
}

static void stored(const Random *r, const Op *store, int value, unsigned place)
{
	const Op *op = r->of[ir_in(store, value)->id];
	if (op && !same_in_blocks(r, op, place)) same_in_rounds(r, op, store, value);
}

void random_op(const Random *r, const Op *op, unsigned under)
{
	if (under) return;
	if (draws(op)) {
		r->of[op->out[0]->id] = op;
	} else if (op->code == OP_STORE || op->code == OP_SCATTER || op->code == OP_STORE_PTR) {
		int value = op->code == OP_STORE ? op->nin - 1 : op->code == OP_STORE_PTR ? 1 : 1 + ir_in(op, 0)->type->rank;
		unsigned place = 0;
		for (int i = 0; i < op->nin; i++)
			if (i != value) place |= r->dep[ir_in(op, i)->id];
		stored(r, op, value, place);
	} else if (passes_on(op) && op->nout == 1) {
		for (int i = 0; i < op->nin && !r->of[op->out[0]->id]; i++) r->of[op->out[0]->id] = r->of[ir_in(op, i)->id];
	}
}
