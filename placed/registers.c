/* How many registers of a thread hold a value. */
#include "ir/ir_frag.h"
#include "placed/placed.h"

/* Of a row that is cut not all that the layout has, of one that is peeled one more. */
int regs_of_layout(const Fn *fn, Lay l)
{
	return fn->row_regs && holds_row(fn, l) ? fn->row_regs + (fn->peel_line > 0) : 1 << l.in[HW_REG];
}

/* Operands of matrix instructions: several elements share a register. */
bool held_in_words(const Type *t) { return t->kind == TY_FRAG || (t->kind == TY_ASYNC && elem_bytes(t->elem) < 4); }

int regs_of(const Val *v)
{
	if (type_is_scalar(v->type)) return 1;
	if (held_in_words(v->type)) return (int)type_parts(v->type) * frag_words(v);
	bool many = type_is_tile(v->type) || v->type->kind == TY_ASYNC;
	return many ? (int)type_parts(v->type) * regs_of_layout(v->def ? v->def->parent->fn : v->block->fn, *v->lay) : 1;
}
