/* How many slices a loop of pass strip works on, where rows may be shorter than their tile.
 *
 * All accesses of the kernel begin at the beginning of one axis, which ends at the same extent. Slices after that read
 * nothing but pads and store nothing. One of them is as good as all where it changes a partial result in the same way
 * as the next one does: a sum by zero, a maximum by one number. So a loop ends with the
 * first slice that lies outside. Where no loop has a result that such a slice changes, as in a scan from the first
 * slice to the last, it ends with the last slice that has elements. */
#include "base/diag.h"
#include "ir/fold.h"
#include "ir/monoid.h"
#include "lower/beyond.h"
#include "lower/strip.h"

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

/* ---- what is beyond the end ---- */
typedef struct End { const StripPlan *plan; const Sym *extent; } End;

static bool is_cut(const void *end, const Val *v) { return strip_is_cut(((const End *)end)->plan, v); }

static bool is_extent(void *end, const Sym *s) { return s == ((const End *)end)->extent; }

/* Does one slice beyond the end change the result as all of them do? */
static bool settles(Beyonds *b, const StripOp *o)
{
	const Val *v = o->online < 0 ? ir_in(o->op, 0) : strip_exponent(o);
	Elem e = v->type->elem;
	Beyond x = beyond_end(b, v);
	if (o->online >= 0) return beyond_is_number(x) && x.n.f == -1.0 / 0.0;
	switch (o->op->code) {
	case OP_SUM:
		return x.kind == BEYOND_NUMBER && (elem_is_any_float(e) ? x.n.f == 0 : x.n.i == 0);
	case OP_CUMSUM: case OP_REDUCE_XOR:
		return beyond_is_number(x) && (elem_is_any_float(e) ? x.n.f == 0 : x.n.i == 0);
	case OP_PROD: case OP_CUMPROD: return beyond_is_number(x) && num_same(e, x.n, num_one(e));
	default:
		return monoid_idempotent(monoid_of_kind(monoid_kind(o->op->code))) && !x.first
			&& (x.kind == BEYOND_NUMBER || x.kind == BEYOND_SAME);
	}
}

Val *strip_count(Slicer *s, Builder *b, int level)
{
	const StripPlan *p = &s->p;
	const Sym *extent = common_extent(p);
	const Type *wide = type_scalar(EL_U64);         /* so whatever the minimum becomes is not above it */
	int64_t all = (int64_t)1 << s->log2, size = 0;
	End end = { p, extent };
	Beyonds beyond = { NEW_ARRAY(A_TMP, Beyond, p->nval), is_cut, is_extent, &end, NULL, 0 };
	bool outside = false;                           /* does a slice outside change a result? */
	for (int i = 0; i < p->n && extent; i++) {
		const StripOp *o = &p->ops[i];
		if (o->cut && o->op->code == OP_LOAD)
			size = type_extent(o->op->out[0]->type, p->axis[o->op->out[0]->id]) >> s->log2;
		bool meets = o->part || (o->scan && ir_int(o->op, AT_DIRECTION, 0));   /* slices before the row's end */
		outside |= meets;
		if (meets && o->runs >> level & 1 && !settles(&beyond, o)) extent = NULL;
	}
	if (!extent || !size || all < 2) return ir_const_int(b, type_scalar(EL_I32), all);
	if (s->count) return s->count;
	Val *more = ir_const_int(b, wide, (outside ? 2 : 1) * size - 1);
	Val *n = ir_binary(b, OP_ADD, wide, ir_launch(b, EL_U64, extent), more);
	n = ir_binary(b, OP_DIV, wide, n, ir_const_int(b, wide, size));
	n = ir_binary(b, OP_MIN, wide, n, ir_const_int(b, wide, all));
	return s->count = ir_unary(b, OP_CAST, type_scalar(EL_I32), n);
}
