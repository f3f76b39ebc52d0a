/* See valsym.h. */
#include "ir/valsym.h"

#include "base/diag.h"
#include "ir/fold.h"

static const Sym *opaque(ValSyms *b, const Val *v)
{
	const Sym *s = sym_atom(ATOM_VAL, v->name, v->id);
	if (elem_is_integral(v->type->elem) && v->type->elem != EL_U64)
		facts_range(b->facts, s, num_least(v->type->elem).i, num_greatest(v->type->elem).i);
	return s;
}

static bool fits(ValSyms *b, const Sym *s, Elem e)
{
	Range r = facts_eval_range(b->facts, s);
	if (e == EL_U64) return r.lo >= 0;
	return r.lo != INT64_MIN && r.hi != INT64_MAX && r.lo >= num_least(e).i && r.hi <= num_greatest(e).i;
}

static bool positive(ValSyms *b, const Sym *s) { return facts_eval_range(b->facts, s).lo > 0; }
static bool not_negative(ValSyms *b, const Sym *s) { return facts_eval_range(b->facts, s).lo >= 0; }

static const Sym *binary(ValSyms *b, const Op *op)
{
	const Sym *x = valsym(b, ir_in(op, 0)), *y = valsym(b, ir_in(op, 1));
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

/* x + k for v = x plus and minus constants, whatever those sums on the way: what wraps there comes
 * back. NULL: none is added. */
static const Sym *plus_constants(ValSyms *b, const Val *v)
{
	int64_t k = 0;
	const Val *x = v;
	for (Num n; x->def && (x->def->code == OP_ADD || x->def->code == OP_SUB); x = ir_in(x->def, 0)) {
		if (!ir_const_value(ir_in(x->def, 1), &n) || n.i > INT32_MAX || n.i < -INT32_MAX || k > INT32_MAX
			|| k < -INT32_MAX)
			break;
		k += x->def->code == OP_ADD ? n.i : -n.i;
	}
	return x == v ? NULL : sym_add(valsym(b, x), sym_const(k));
}

static const Sym *compute(ValSyms *b, const Val *v)
{
	Num n;
	const Op *op = v->def;
	const Sym *s = NULL;
	if (!op || v->type->kind != TY_SCALAR || !elem_is_int(v->type->elem)) return NULL;
	if (ir_const_value(v, &n)) return v->type->elem == EL_U64 && n.i < 0 ? NULL : sym_const(n.i);
	switch (op->code) {
	case OP_LAUNCH: return ir_attr(op, AT_SYM)->u.sym;
	case OP_BID: return sym_atom(ATOM_BID, NULL, ir_axis(op));
	case OP_CAST:
		if (!elem_is_int(ir_in(op, 0)->type->elem)) return NULL;
		s = valsym(b, ir_in(op, 0));
		break;
	default: s = op->nin == 2 && elem_is_int(ir_in(op, 1)->type->elem) ? binary(b, op) : NULL;
	}
	if (s && s->size <= SYM_SIZE_MAX && fits(b, s, v->type->elem)) return s;
	s = plus_constants(b, v);
	return s && s->size <= SYM_SIZE_MAX && fits(b, s, v->type->elem) ? s : NULL;
}

const Sym *valsym(ValSyms *b, const Val *v)
{
	if (!b->sym[v->id]) {
		const Sym *s = compute(b, v);
		b->sym[v->id] = s ? s : opaque(b, v);
	}
	return b->sym[v->id];
}

/* ---- elements of tiles ---- */
enum { ELEMENT_OPS = 256 };     /* of a formula: its operations may be shared, as a tree it may be exponential */

static const Sym *element(ValSyms *b, const Val *v, const Sym *const *place, int *left);

/* Where the operand's element lies that an operation takes as it is; false: it splits or joins axes. */
static bool source_place(const Op *op, const Sym *const *place, const Sym **at)
{
	const Type *from = ir_in(op, 0)->type, *to = op->out[0]->type;
	int next = 0;
	for (int a = 0; type_is_tile(from) && a < from->rank; a++) {
		at[a] = sym_const(0);
		if (op->code == OP_BROADCAST && from->log2[a]) at[a] = place[a + to->rank - from->rank];
		if (op->code != OP_RESHAPE || !from->log2[a]) continue;
		while (next < to->rank && !to->log2[next]) next++;
		if (next == to->rank || to->log2[next] != from->log2[a]) return false;
		at[a] = place[next++];
	}
	for (int a = 0; op->code == OP_PERMUTE && a < to->rank; a++) at[ir_attr(op, AT_AXES)->u.ints.p[a]] = place[a];
	return true;
}

static const Sym *element_of_op(ValSyms *b, const Op *op, const Sym *const *place, int *left)
{
	const Type *t = op->out[0]->type;
	const Sym *at[TILE_RANK], *x, *y;
	switch (op->code) {
	case OP_IOTA:
		x = sym_const(0);
		for (int a = t->rank - 1, below = 0; a >= 0; below += t->log2[a--])
			if (t->log2[a]) x = sym_add(x, sym_mul(place[a], sym_const((int64_t)1 << below)));
		return x;
	case OP_BROADCAST: case OP_RESHAPE: case OP_PERMUTE:
		return source_place(op, place, at) ? element(b, ir_in(op, 0), at, left) : NULL;
	case OP_CAST:
		if (!elem_is_int(ir_in(op, 0)->type->elem)) return NULL;
		x = element(b, ir_in(op, 0), place, left);
		if (x && ir_int(op, AT_OVERFLOW, 0) && !fits(b, x, t->elem)) return NULL;   /* the limit, perhaps */
		if (!x || elem_bytes(t->elem) <= elem_bytes(ir_in(op, 0)->type->elem)) return x;
		return fits(b, x, ir_in(op, 0)->type->elem) ? x : NULL;     /* else its sign, or zeros, are what is added */
	case OP_ADD: case OP_SUB: case OP_MUL:
		x = element(b, ir_in(op, 0), place, left);
		y = x ? element(b, ir_in(op, 1), place, left) : NULL;
		if (!y) return NULL;
		return op->code == OP_ADD ? sym_add(x, y) : op->code == OP_SUB ? sym_sub(x, y) : sym_mul(x, y);
	default: return NULL;
	}
}

static const Sym *element(ValSyms *b, const Val *v, const Sym *const *place, int *left)
{
	Num n;
	if (!elem_is_int(v->type->elem) || --*left < 0) return NULL;
	if (ir_const_value(v, &n)) return sym_const(n.i);
	const Sym *s = v->def ? element_of_op(b, v->def, place, left) : NULL;
	if (!s && type_is_scalar(v->type)) s = valsym(b, v);
	return s && s->size <= SYM_SIZE_MAX ? s : NULL;
}

const Sym *valsym_element(ValSyms *b, const Val *v, const Sym *const *place)
{
	int left = ELEMENT_OPS;
	return element(b, v, place, &left);
}

/* ---- views ---- */
static const IrParam *param_of(const ValSyms *b, const Val *view)
{
	return view->type->kind == TY_VIEW && view->block == b->fn->body ? &b->fn->params.p[view->index] : NULL;
}

static bool derived(const Val *view) { return view->def && view->def->code == OP_VIEW; }

const IrParam *valsym_root(const ValSyms *b, const Val *view)
{
	while (derived(view)) view = ir_in(view->def, 0);
	return param_of(b, view);
}

/* The view whose axes are permuted; axis: its axis. */
static const Val *unpermuted(const Val *view, int *axis)
{
	for (; view->def && view->def->code == OP_PERMUTE; view = ir_in(view->def, 0))
		*axis = (int)ir_attr(view->def, AT_AXES)->u.ints.p[*axis];
	return view;
}

const Sym *valsym_extent(ValSyms *b, const Val *view, int axis)
{
	view = unpermuted(view, &axis);
	if (derived(view)) return valsym(b, ir_in(view->def, 2 + axis));
	const IrParam *p = param_of(b, view);
	return p ? p->extent[axis] : NULL;
}

const Sym *valsym_stride(ValSyms *b, const Val *view, int axis)
{
	view = unpermuted(view, &axis);
	if (derived(view)) return valsym(b, ir_in(view->def, 2 + view->type->rank + axis));
	const IrParam *p = param_of(b, view);
	return p ? p->stride[axis] : NULL;
}

const Sym *valsym_access(ValSyms *b, const Op *op, int axis)
{
	const IrAttr *steps = ir_attr(op, AT_STEPS), *offs = ir_attr(op, AT_OFFSETS);
	const Sym *at = sym_mul(valsym(b, ir_in(op, 1 + axis)), sym_const(steps ? steps->u.ints.p[axis] : 1));
	return offs ? sym_add(at, sym_const(offs->u.ints.p[axis])) : at;
}

/* ---- conditions ---- */
static bool int_operands(const Op *op)
{
	const Type *t = ir_in(op, 0)->type;
	return t->kind == TY_SCALAR && elem_is_int(t->elem);
}

/* A bool scalar as a condition; NULL: none that is understood. */
static const Sym *valsym_cond(ValSyms *b, const Val *v)
{
	const Op *op = v->def;
	Num n;
	if (!op || v->type->kind != TY_SCALAR || v->type->elem != EL_BOOL) return NULL;
	if (ir_const_value(v, &n)) return sym_const(n.i != 0);
	if (op->code == OP_LAUNCH) return ir_attr(op, AT_SYM)->u.sym;
	if (!op_compares(op->code) || !int_operands(op)) return NULL;
	const Sym *x = valsym(b, ir_in(op, 0)), *y = valsym(b, ir_in(op, 1));
	switch (op->code) {
	case OP_EQ: return sym_cmp(SYM_EQ, x, y);
	case OP_NE: return sym_cmp(SYM_NE, x, y);
	case OP_LT: return sym_cmp(SYM_LT, x, y);
	case OP_LE: return sym_cmp(SYM_LE, x, y);
	case OP_GT: return sym_cmp(SYM_LT, y, x);
	case OP_GE: return sym_cmp(SYM_LE, y, x);
	default: return NULL;
	}
}

/* ---- regions ---- */
/* Inside the body the counter lies in lo .. hi, a multiple of the step away from lo. */
static void learn_loop(ValSyms *b, const Op *op)
{
	const Val *iv = op->region[0]->args.p[0];
	const Sym *lo = valsym(b, ir_in(op, 0)), *hi = valsym(b, ir_in(op, 1)), *i = opaque(b, iv);
	int64_t step;
	b->sym[iv->id] = i;
	facts_bound(b->facts, i, lo, hi);
	if (sym_is_const(valsym(b, ir_in(op, 2)), &step) && step > 1) {
		facts_divisible(b->facts, sym_sub(i, lo), step);
		int64_t v;
		if (sym_is_const(lo, &v) && v % step == 0) facts_divisible(b->facts, i, step);
	}
}

ValSpot valsyms_enter(ValSyms *b, const Op *op, int region, bool conditions, bool *runs)
{
	ValSpot s = { b->facts };
	*runs = true;
	b->facts = facts_new(s.outer, A_TMP);
	if (op->code == OP_FOR) learn_loop(b, op);
	if (op->code == OP_FOR && conditions) *runs = !facts_le(b->facts, valsym(b, ir_in(op, 1)), valsym(b, ir_in(op, 0)));
	const Sym *c = conditions && op->code == OP_IF ? valsym_cond(b, ir_in(op, 0)) : NULL;
	if (c) *runs = facts_assume(b->facts, region ? sym_logic(SYM_NOT, c, NULL) : c);
	return s;
}

void valsyms_leave(ValSyms *b, ValSpot s)
{
	b->facts = s.outer;
}

/* What holds in every launch of the kernel. */
static Facts *launch_facts(const Fn *fn)
{
	Facts *f = facts_new(NULL, A_TMP);
	for (int i = 0; i < fn->dims.n; i++) {
		const IrDim *d = &fn->dims.p[i];
		const Sym *s = sym_atom(d->is_stride ? ATOM_STRIDE : ATOM_DIM, d->name, 0);
		facts_range(f, s, 0, d->elem == EL_I32 ? INT32_MAX : INT64_MAX);
	}
	for (int i = 0; i < fn->dims.n; i++)
		if (fn->dims.p[i].def)
			facts_assume(f, sym_cmp(SYM_EQ, sym_atom(ATOM_DIM, fn->dims.p[i].name, 0), fn->dims.p[i].def));
	for (int i = 0; i < fn->where.n; i++) facts_assume(f, fn->where.p[i].cond);
	for (int i = 0; i < fn->ngrid; i++) {
		const Sym *bid = sym_atom(ATOM_BID, NULL, i);
		facts_range(f, bid, 0, INT32_MAX);
		facts_bound(f, bid, sym_const(0), fn->grid[i]);
	}
	return f;
}

ValSyms valsyms_new(const Fn *fn)
{
	return (ValSyms){ fn, NEW_ARRAY(A_TMP, const Sym *, fn->nval + 1), launch_facts(fn), NULL };
}

static void walk_accesses(ValSyms *b, const IrBlock *block, void (*visit)(ValSyms *b, Op *op))
{
	for (Op *op = block->first; op; op = op->next) {
		if (op->code == OP_LOAD || op->code == OP_STORE) visit(b, op);
		if (op->code == OP_ASSUME) facts_assume(b->facts, sym_cmp(SYM_EQ, valsym(b, ir_in(op, 0)), sym_const(1)));
		for (int i = 0; i < op->nregion; i++) {
			bool runs;
			ValSpot spot = valsyms_enter(b, op, i, false, &runs);
			walk_accesses(b, op->region[i], visit);
			valsyms_leave(b, spot);
		}
	}
}

void valsyms_accesses_where(Fn *fn, const Sym *guard, void (*visit)(ValSyms *b, Op *op), void *ctx)
{
	ir_number(fn);
	ValSyms b = valsyms_new(fn);
	b.ctx = ctx;
	facts_assume(b.facts, guard);
	walk_accesses(&b, fn->body, visit);
}

void valsyms_accesses(Fn *fn, void (*visit)(ValSyms *b, Op *op), void *ctx)
{
	valsyms_accesses_where(fn, sym_const(1), visit, ctx);
}
