/* Pass bounds: which accesses are proved to lie inside their tensors. Each tile load and store gets {inside}, one number per
 * axis: 1 = no mask needed, 0 = masked. Facts come from the dimensions' types, where clauses, the grid and loop bounds.
 *
 * An SSA integer becomes a symbolic one only where its own arithmetic is proved not to wrap; else it is opaque. */
#include "base/diag.h"
#include "ir/fold.h"
#include "lower/lower.h"

typedef struct Bounds {
	const Fn *fn;
	const Sym **sym;        /* by Val id; NULL: not asked yet */
	Facts *facts;
} Bounds;

static const Sym *sym_of(Bounds *b, const Val *v);

static const Sym *opaque(Bounds *b, const Val *v)
{
	const Sym *s = sym_atom(ATOM_VAL, v->name, v->id);
	if (elem_is_integral(v->type->elem) && v->type->elem != EL_U64)
		facts_range(b->facts, s, num_least(v->type->elem).i, num_greatest(v->type->elem).i);
	return s;
}

static bool fits(Bounds *b, const Sym *s, Elem e)
{
	Range r = facts_eval_range(b->facts, s);
	if (e == EL_U64) return r.lo >= 0;
	return r.lo != INT64_MIN && r.hi != INT64_MAX && r.lo >= num_least(e).i && r.hi <= num_greatest(e).i;
}

static bool positive(Bounds *b, const Sym *s) { return facts_eval_range(b->facts, s).lo > 0; }
static bool not_negative(Bounds *b, const Sym *s) { return facts_eval_range(b->facts, s).lo >= 0; }

static const Sym *binary(Bounds *b, const Op *op)
{
	const Sym *x = sym_of(b, ir_in(op, 0)), *y = sym_of(b, ir_in(op, 1));
	switch (op->code) {
	case OP_ADD: return sym_add(x, y);
	case OP_SUB: return sym_sub(x, y);
	case OP_MUL: return sym_mul(x, y);
	case OP_MIN: return sym_min(x, y);
	case OP_MAX: return sym_max(x, y);
	case OP_DIV: case OP_FLOORDIV: return not_negative(b, x) && positive(b, y) ? sym_div(x, y) : NULL;
	case OP_CEILDIV: return not_negative(b, x) && positive(b, y) ? sym_cdiv(x, y) : NULL;
	case OP_REM: case OP_FLOORMOD: return not_negative(b, x) && positive(b, y) ? sym_mod(x, y) : NULL;
	default: return NULL;
	}
}

static const Sym *compute(Bounds *b, const Val *v)
{
	Num n;
	const Op *op = v->def;
	const Sym *s = NULL;
	if (!op || v->type->kind != TY_SCALAR || !elem_is_int(v->type->elem)) return NULL;
	if (ir_const_value(v, &n)) return v->type->elem == EL_U64 && n.i < 0 ? NULL : sym_const(n.i);
	switch (op->code) {
	case OP_LAUNCH: return ir_attr(op, AT_SYM)->u.sym;
	case OP_BID: return sym_atom(ATOM_BID, NULL, (int)ir_int(op, AT_AXIS, 0));
	case OP_CAST:
		if (!elem_is_int(ir_in(op, 0)->type->elem)) return NULL;
		s = sym_of(b, ir_in(op, 0));
		break;
	default: s = op->nin == 2 && elem_is_int(ir_in(op, 1)->type->elem) ? binary(b, op) : NULL;
	}
	return s && s->size <= SYM_SIZE_MAX && fits(b, s, v->type->elem) ? s : NULL;
}

static const Sym *sym_of(Bounds *b, const Val *v)
{
	if (!b->sym[v->id]) {
		const Sym *s = compute(b, v);
		b->sym[v->id] = s ? s : opaque(b, v);
	}
	return b->sym[v->id];
}

static const Sym *extent_of(Bounds *b, const Val *view, int axis)
{
	if (view->def && view->def->code == OP_VIEW) return sym_of(b, ir_in(view->def, 2 + axis));
	for (int i = 0; i < b->fn->params.n; i++)
		if (b->fn->body->args.p[i] == view) return b->fn->params.p[i].extent[axis];
	return NULL;
}

static bool axis_inside(Bounds *b, const Op *op, const Type *t, int axis)
{
	const IrAttr *steps = ir_attr(op, AT_STEPS), *offs = ir_attr(op, AT_OFFSETS);
	const Sym *ext = extent_of(b, ir_in(op, 0), axis);
	if (!ext) return false;
	const Sym *at = sym_mul(sym_of(b, ir_in(op, 1 + axis)), sym_const(steps ? steps->u.ints.p[axis] : 1));
	if (offs) at = sym_add(at, sym_const(offs->u.ints.p[axis]));
	return facts_le(b->facts, sym_const(0), at) && facts_le(b->facts, sym_add(at, sym_const(type_extent(t, axis))), ext);
}

static void mark_access(Bounds *b, Op *op)
{
	const Type *t = op->code == OP_LOAD ? op->out[0]->type : ir_in(op, op->nin - 1)->type;
	int64_t inside[TENSOR_RANK];
	if (!t->rank) return;
	for (int i = 0; i < t->rank; i++) inside[i] = axis_inside(b, op, t, i);
	ir_set_ints(op, AT_INSIDE, t->rank, inside);
}

/* Inside the body the counter lies in lo .. hi, a multiple of the step away from lo. */
static void learn_loop(Bounds *b, const Op *op)
{
	const Val *iv = op->region[0]->args.p[0];
	const Sym *lo = sym_of(b, ir_in(op, 0)), *hi = sym_of(b, ir_in(op, 1)), *i = opaque(b, iv);
	int64_t step;
	b->sym[iv->id] = i;
	facts_bound(b->facts, i, lo, hi);
	if (sym_is_const(sym_of(b, ir_in(op, 2)), &step) && step > 1) {
		facts_divisible(b->facts, sym_sub(i, lo), step);
		int64_t v;
		if (sym_is_const(lo, &v) && v % step == 0) facts_divisible(b->facts, i, step);
	}
}

static void walk(Bounds *b, const IrBlock *block)
{
	for (Op *op = block->first; op; op = op->next) {
		if (op->code == OP_LOAD || op->code == OP_STORE) mark_access(b, op);
		if (op->code == OP_ASSUME) facts_assume(b->facts, sym_cmp(SYM_EQ, sym_of(b, ir_in(op, 0)), sym_const(1)));
		if (!op->nregion) continue;
		Facts *outer = b->facts;
		b->facts = facts_new(outer);
		if (op->code == OP_FOR) learn_loop(b, op);
		for (int i = 0; i < op->nregion; i++) walk(b, op->region[i]);
		b->facts = outer;
	}
}

/* What holds in every launch of the kernel. */
static Facts *launch_facts(const Fn *fn)
{
	Facts *f = facts_new(NULL);
	for (int i = 0; i < fn->dims.n; i++) {
		const IrDim *d = &fn->dims.p[i];
		const Sym *s = sym_atom(d->is_stride ? ATOM_STRIDE : ATOM_DIM, d->name, 0);
		facts_range(f, s, 0, d->elem == EL_I32 ? INT32_MAX : INT64_MAX);
	}
	for (int i = 0; i < fn->dims.n; i++)
		if (fn->dims.p[i].def) facts_assume(f, sym_cmp(SYM_EQ, sym_atom(ATOM_DIM, fn->dims.p[i].name, 0), fn->dims.p[i].def));
	for (int i = 0; i < fn->where.n; i++) facts_assume(f, fn->where.p[i].cond);
	for (int i = 0; i < fn->ngrid; i++) {
		const Sym *bid = sym_atom(ATOM_BID, NULL, i);
		facts_range(f, bid, 0, INT32_MAX);
		facts_bound(f, bid, sym_const(0), fn->grid[i]);
	}
	return f;
}

void pass_bounds(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) {
		Fn *fn = m->fns.p[i];
		ir_number(fn);
		Bounds b = { fn, NEW_ARRAY(A_UNIT, const Sym *, fn->nval + 1), launch_facts(fn) };
		walk(&b, fn->body);
	}
}
