/* unmask: what is stored needs no mask where only what is masked off lies outside.
 *
 * A row shorter than its tile has pads. Where they would enter a sum the author sets them to zero, select(iota < n, x - mean, 0), and
 * mostly stores what is made of the same tile. But a store drops the elements outside of its tensor, and if it drops all for which
 * the mask is false, its value may be made of x - mean itself: an instruction less for each element, and no mask to hold. */
#include "base/diag.h"
#include "ir/valsym.h"
#include "lower/lower.h"

enum { DEPTH = 16 };            /* of expressions that are looked at */

typedef struct Unmask {
	ValSyms *facts;
	const Op *store;
	const int *uses;        /* by Val id */
} Unmask;

/* Is mask true for every element that the store keeps? Of masks `iota < n`, for the number of an element along its axis. */
static bool holds_inside(const Unmask *u, const Val *mask)
{
	const Op *lt = mask->def, *spread;
	if (!lt || lt->code != OP_LT || !ir_in(lt, 0)->def || ir_in(lt, 0)->def->code != OP_IOTA) return false;
	int axis = type_only_axis(mask->type);
	spread = ir_in(lt, 1)->def;
	if (axis < 0 || !spread || spread->code != OP_BROADCAST || type_is_tile(ir_in(spread, 0)->type)) return false;
	const Val *n = ir_in(spread, 0);
	const Sym *ext = valsym_extent(u->facts, ir_in(u->store, 0), axis);
	if (!ext || !elem_is_int(n->type->elem)) return false;
	return facts_le(u->facts->facts, sym_sub(ext, valsym_access(u->facts, u->store, axis)), valsym(u->facts, n));
}

/* The operands of op, whose result goes to the store alone. */
static void unmask_operands(const Unmask *u, Op *op, int first, int depth)
{
	for (int i = first; i < op->nin && depth; i++) {
		Val *v = ir_in(op, i);
		const Op *d = v->def;
		if (!type_is_tile(v->type) || !d || d->nregion) continue;
		bool chosen = d->code == OP_SELECT && type_is_tile(ir_in(d, 0)->type) && ir_in(d, 1)->type == v->type;
		if (chosen && holds_inside(u, ir_in(d, 0))) {
			op->in[i] = ir_in(d, 1);
			v = op->in[i];
			d = v->def;
			if (!d) continue;
		}
		unsigned f = op_rows[d->code].flags;
		if ((f & OPF_ELEMWISE) && (f & OPF_PURE) && u->uses[v->id] == 1) unmask_operands(u, v->def, 0, depth - 1);
	}
}

static void visit(ValSyms *b, Op *op)
{
	if (op->code != OP_STORE) return;
	const Val *v = ir_in(op, op->nin - 1);
	if (!type_is_tile(v->type) || v->type->rank != ir_in(op, 0)->type->rank) return;
	ArenaMark mark = arena_mark(A_TMP);
	Unmask u = { b, op, ir_use_counts(op->parent->fn, A_TMP) };
	unmask_operands(&u, op, op->nin - 1, DEPTH);
	arena_release(A_TMP, mark);
}

void pass_unmask(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) valsyms_accesses(m->fns.p[i], visit);
}
