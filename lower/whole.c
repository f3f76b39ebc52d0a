/* whole: a text for rows exactly as long as their tile.
 *
 * Rows of 128 elements in tiles of 128 are common, and so short that what a thread does besides its few elements is most of its work:
 * comparisons with the row's end, two ways for each access, quotients by the length. All of it is known once the length is: so a kernel
 * whose tile block has a warp or less, and whose rows have one length (cut.c has found which), is placed once more with that of the tile
 * (Fn.whole), a constant that the passes and nvcc fold. The launcher asks for it. */
#include "ir/fold.h"
#include "lower/placed.h"

typedef struct Known { const Sym *length, *value; } Known;

static const Sym *known(void *ctx, const Sym *atom)
{
	const Known *k = ctx;
	return atom == k->length ? k->value : NULL;
}

bool whole_wanted(const Placements *p)
{
	const Fn *odd = p->odd;
	if (!p->first->packed || !odd || !odd->row_log2 || odd->below.n != 1) return false;
	return odd->below.p[0]->kind == SYM_ATOM && odd->below.p[0]->atom == ATOM_DIM;
}

static void fold(const Known *k, Op *op)
{
	int64_t n;
	if (op->code != OP_LAUNCH) return;
	const Sym *s = sym_subst(ir_attr(op, AT_SYM)->u.sym, known, (void *)k);
	if (!sym_is_const(s, &n)) return;
	Builder b = build_before(op);
	ir_replace(op->out[0], ir_const_num(&b, op->out[0]->type, num_int(n)));
	ir_remove(op);
}

void whole_rows(Fn *fn, const Placements *p)
{
	Known k = { p->odd->below.p[0], sym_const((int64_t)1 << p->odd->row_log2) };
	for (int i = 0; i < fn->params.n; i++) {
		IrParam *t = &fn->params.p[i];
		for (int a = 0; t->is_tensor && a < t->rank; a++) {
			t->extent[a] = sym_subst(t->extent[a], known, &k);
			t->stride[a] = sym_subst(t->stride[a], known, &k);
		}
	}
	for (int i = 0; i < fn->ngrid; i++) fn->grid[i] = sym_subst(fn->grid[i], known, &k);
	for (Op *op = fn->body->first, *next; op; op = next) {
		next = op->next;
		fold(&k, op);
	}
}
