/* unmask: what is stored needs no mask where only what is masked off lies outside.
 *
 * A row shorter than its tile has pads. Where they would enter a sum the author sets them to zero, select(iota < n, x -
 * mean, 0), and mostly stores what is made of the same tile. But a store drops the elements outside of its tensor, and
 * if it drops all for which the mask is false, its value may be made of x - mean itself: an instruction less for each
 * element, and no mask to hold. */
#include "base/diag.h"
#include "ir/valsym.h"
#include "lower/lower.h"

enum { DEPTH = 16 };            /* of expressions that are looked at */

typedef struct Unmask {
	ValSyms *facts;
	const Op *store;
	const int *uses;        /* by Val id */
} Unmask;

typedef enum Covers { COVERS_NOT, COVERS_INSIDE, COVERS_EXACTLY } Covers;

/* Is mask true for every element that the store keeps, and only for those? Of masks `iota < n`, for the number of an
 * element along its axis. */
static Covers covers(const Unmask *u, const Val *mask)
{
	const Op *lt = mask->def, *spread;
	if (!lt || lt->code != OP_LT || !ir_in(lt, 0)->def || ir_in(lt, 0)->def->code != OP_IOTA) return COVERS_NOT;
	int axis = type_only_axis(mask->type);
	spread = ir_in(lt, 1)->def;
	if (axis < 0 || !spread || spread->code != OP_BROADCAST || type_is_tile(ir_in(spread, 0)->type)) return COVERS_NOT;
	const Val *n = ir_in(spread, 0);
	const Sym *ext = valsym_extent(u->facts, ir_in(u->store, 0), axis);
	if (!ext || !elem_is_int(n->type->elem)) return COVERS_NOT;
	const Sym *kept = sym_sub(ext, valsym_access(u->facts, u->store, axis)), *below = valsym(u->facts, n);
	if (!facts_le(u->facts->facts, kept, below)) return COVERS_NOT;
	return facts_le(u->facts->facts, below, kept) ? COVERS_EXACTLY : COVERS_INSIDE;
}

/* The operands of op, whose result goes to the store alone, or elsewhere only where the store keeps it. */
static void unmask_operands(const Unmask *u, Op *op, int first, int depth)
{
	for (int i = first; i < op->nin && depth; i++) {
		Val *v = ir_in(op, i);
		const Op *d = v->def;
		if (!type_is_tile(v->type) || !d || d->nregion) continue;
		bool alone = u->uses[v->id] == 1;
		bool chosen = d->code == OP_SELECT && type_is_tile(ir_in(d, 0)->type) && ir_in(d, 1)->type == v->type;
		Covers how = chosen ? covers(u, ir_in(d, 0)) : COVERS_NOT;
		if (how) {
			v = op->in[i] = ir_in(d, 1);
			d = v->def;
			if (!d) continue;
			alone = u->uses[v->id] == 1 && (alone || how == COVERS_EXACTLY);
		}
		unsigned f = op_rows[d->code].flags;
		if ((f & OPF_ELEMWISE) && (f & OPF_PURE) && alone) unmask_operands(u, v->def, 0, depth - 1);
	}
}

static const int *uses;         /* of the kernel that is looked at, before any operand of it was replaced */

static void visit(ValSyms *b, Op *op)
{
	if (op->code != OP_STORE) return;
	const Val *v = ir_in(op, op->nin - 1);
	if (!type_is_tile(v->type) || v->type->rank != ir_in(op, 0)->type->rank) return;
	Unmask u = { b, op, uses };
	unmask_operands(&u, op, op->nin - 1, DEPTH);
}

void pass_unmask(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) {
		ir_number(m->fns.p[i]);
		uses = ir_use_counts(m->fns.p[i], A_TMP);
		valsyms_accesses(m->fns.p[i], visit);
	}
}
