/* How many slices a loop of pass strip works on, where rows may be shorter than their tile.
 *
 * All accesses of the kernel begin at the beginning of one axis, which ends at the same extent. Slices after that read
 * nothing but pads and store nothing. One of them is as good as all where it changes a partial result in the same way
 * as the next one does: a sum by zero, a maximum by one number. So a loop ends with the
 * first slice that lies outside. Where no loop has a result that such a slice changes, as in a scan from the first
 * slice to the last, it ends with the last slice that has elements. */
#include "base/diag.h"
#include "ir/fold.h"
#include "lower/strip.h"

enum { DEPTH = 32, OPERANDS = 4 };

/* The extent along the axis that is cut, which all accesses have in common; NULL: they have none. */
static const Sym *common_extent(const StripPlan *p)
{
	const Sym *all = NULL;
	for (int i = 0; i < p->n; i++) {
		const Op *op = p->ops[i].op;
		if (!p->ops[i].cut || (op->code != OP_LOAD && op->code != OP_STORE)) {
			if (p->ops[i].cut && op_has(op, OPF_READ | OPF_WRITE)) return NULL;
			continue;
		}
		const Val *v = ir_accessed(op), *view = ir_in(op, 0);
		int a = p->axis[v->id];
		const IrAttr *offsets = ir_attr(op, AT_OFFSETS);
		Num n;
		if (view->def || view->block != p->fn->body || !ir_const_value(ir_in(op, 1 + a), &n) || n.i) return NULL;
		const Sym *e = p->fn->params.p[view->index].extent[a];
		if ((offsets && offsets->u.ints.p[a]) || (all && e != all)) return NULL;
		all = e;
	}
	return all;
}

/* Can a type count all elements of a tile of 2^log2 elements? */
static bool tells_places(Elem e, int log2)
{
	if (e == EL_F32) return log2 <= 24;
	return e == EL_F64 || (!elem_is_any_float(e) && elem_bytes(e) >= 4);
}

/* Before changes of shape, and conversions that keep the places of a tile; NULL: one does not. */
static const Val *bare(const Val *v, int log2)
{
	for (; tells_places(v->type->elem, log2); v = ir_in(v->def, 0))
		if (!v->def || (v->def->code != OP_BROADCAST && v->def->code != OP_RESHAPE && v->def->code != OP_CAST))
			return v;
	return NULL;
}

const Val *strip_places(const Val *v, int log2, const Val **end)
{
	const Op *op = v->def;
	if (!op || op->code != OP_LT) return NULL;
	const Val *i = bare(ir_in(op, 0), log2);
	*end = bare(ir_in(op, 1), log2);
	return *end && i && i->def && i->def->code == OP_IOTA ? i : NULL;
}

bool strip_asks_inside(const Outside *o, const Val *v)
{
	const Val *end, *i = strip_places(v, type_log2_size(v->type), &end);
	const IrAttr *sym = i && end->def && end->def->code == OP_LAUNCH ? ir_attr(end->def, AT_SYM) : NULL;
	return sym && sym->u.sym == o->extent && o->is_cut(o->plan, i);
}

static bool number_outside(const Outside *o, const Val *v, int depth, Num *r)
{
	const Op *op = v->def;
	Num in[OPERANDS];
	if (ir_const_value(v, r)) return true;
	if (!op || !depth) return false;
	if (op_has(op, OPF_FREE)) return number_outside(o, ir_in(op, 0), depth - 1, r);
	switch (op->code) {
	case OP_LOAD: return o->is_cut(o->plan, v) && ir_const_value(ir_in(op, op->nin - 1), r);
	case OP_SELECT: return strip_asks_inside(o, ir_in(op, 0)) && number_outside(o, ir_in(op, 2), depth - 1, r);
	default: break;
	}
	if (!op_has(op, OPF_ELEMWISE) || op->nin > OPERANDS || !fold_is_exact(op->code)) return false;
	for (int i = 0; i < op->nin; i++)
		if (!number_outside(o, ir_in(op, i), depth - 1, &in[i])) return false;
	Elem e = ir_in(op, 0)->type->elem;
	if (op->code == OP_CAST) *r = fold_cast(in[0], e, v->type->elem, fold_modes(op));
	else return fold_op(op->code, fold_modes(op), e, v->type->elem, op->nin, in, r);
	return true;
}

bool strip_outside(const Outside *o, const Val *v, Num *r) { return number_outside(o, v, DEPTH, r); }

static bool is_cut(const void *plan, const Val *v) { return strip_is_cut(plan, v); }

/* Does one slice outside change the result as all of them do? */
static bool settles(const StripPlan *p, const StripOp *o, const Sym *extent)
{
	Num n;
	Elem e = ir_in(o->op, 0)->type->elem;
	Outside beyond = { p, is_cut, extent };
	if (!strip_outside(&beyond, o->online < 0 ? ir_in(o->op, 0) : strip_exponent(o), &n)) return false;
	if (o->online >= 0) return n.f == -1.0 / 0.0;
	switch (o->op->code) {
	case OP_SUM: case OP_CUMSUM: case OP_REDUCE_XOR: return elem_is_any_float(e) ? n.f == 0 : n.i == 0;
	case OP_PROD: case OP_CUMPROD: return num_same(e, n, num_one(e));
	default: return true;
	}
}

Val *strip_count(Slicer *s, Builder *b, int level)
{
	const StripPlan *p = &s->p;
	const Sym *extent = common_extent(p);
	const Type *wide = type_scalar(EL_U64);         /* so whatever the minimum becomes is not above it */
	int64_t all = (int64_t)1 << s->log2, size = 0;
	bool outside = false;                           /* does a slice outside change a result? */
	for (int i = 0; i < p->n && extent; i++) {
		const StripOp *o = &p->ops[i];
		if (o->cut && o->op->code == OP_LOAD)
			size = type_extent(o->op->out[0]->type, p->axis[o->op->out[0]->id]) >> s->log2;
		bool meets = o->part || (o->scan && ir_int(o->op, AT_DIRECTION, 0));   /* slices before the row's end */
		outside |= meets;
		if (meets && o->runs >> level & 1 && !settles(p, o, extent)) extent = NULL;
	}
	if (!extent || !size || all < 2) return ir_const_int(b, type_scalar(EL_I32), all);
	if (s->count) return s->count;
	Val *more = ir_const_int(b, wide, (outside ? 2 : 1) * size - 1);
	Val *n = ir_binary(b, OP_ADD, wide, ir_launch(b, EL_U64, extent), more);
	n = ir_binary(b, OP_DIV, wide, n, ir_const_int(b, wide, size));
	n = ir_binary(b, OP_MIN, wide, n, ir_const_int(b, wide, all));
	return s->count = ir_unary(b, OP_CAST, type_scalar(EL_I32), n);
}
