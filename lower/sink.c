/* sink: operations on iota, constants and scalars alone move to their first user.
 *
 * A mask of the elements of a row needs no memory and one or two instructions, but a register for each of its elements
 * (or the instructions that pack and unpack predicates) from its definition to its use. */
#include "lower/placed.h"

/* by Val id: the first operation of its block that uses it, itself or in a region */
typedef struct Users { Op **first; } Users;

static void note_users(void *ctx, Op *op)
{
	Users *u = ctx;
	for (int i = 0; i < op->nin; i++) {
		Val *v = ir_in(op, i);
		if (!v->def || u->first[v->id]) continue;
		Op *at = op;
		while (at->parent != v->def->parent) at = at->parent->owner;
		u->first[v->id] = at;
	}
}

static bool is_made_of_nothing(const Val *v)
{
	if (!type_is_tile(v->type)) return true;
	if (!v->def) return false;
	switch (v->def->code) {
	case OP_CONST: case OP_IOTA: return true;
	case OP_BROADCAST: return type_log2_size(ir_in(v->def, 0)->type) == 0;
	default: return false;
	}
}

static bool sinks(const Op *op)
{
	if (!op_has(op, OPF_ELEMWISE) || op->nout != 1 || type_log2_size(op->out[0]->type) == 0) return false;
	bool any = false;
	for (int i = 0; i < op->nin; i++) {
		if (!is_made_of_nothing(ir_in(op, i))) return false;
		any |= type_is_tile(ir_in(op, i)->type);
	}
	return any;
}

static void sink_block(const Users *u, IrBlock *b)
{
	for (Op *op = b->last, *before; op; op = before) {
		before = op->prev;
		for (int i = 0; i < op->nregion; i++) sink_block(u, op->region[i]);
		Op *first = op->nout ? u->first[op->out[0]->id] : NULL;
		if (first && first != op->next && sinks(op)) ir_move_before(op, first);
	}
}

void pass_sink(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) {
		Fn *fn = m->fns.p[i];
		Users u = { NEW_ARRAY(A_TMP, Op *, fn->nval) };
		ir_walk(fn->body, note_users, &u);
		sink_block(&u, fn->body);
	}
}
