/* See strides.h. */
#include "ir/strides.h"

static bool known_value(const Val *v, int64_t *s)
{
	Num n;
	if (ir_const_value(v, &n)) {
		*s = n.i;
		return true;
	}
	const IrAttr *a = v->def && v->def->code == OP_LAUNCH ? ir_attr(v->def, AT_SYM) : NULL;
	return a && sym_is_const(a->u.sym, s);
}

static bool is_one(const Val *v)
{
	int64_t s;
	return known_value(v, &s) && s == 1;
}

bool known_stride(const Fn *fn, const Val *view, int axis, int64_t *s)
{
	if (view->def && view->def->code == OP_VIEW) return known_value(ir_in(view->def, 2 + view->type->rank + axis), s);
	if (view->def && view->def->code == OP_PERMUTE)
		return known_stride(fn, ir_in(view->def, 0), (int)ir_attr(view->def, AT_AXES)->u.ints.p[axis], s);
	return view->block == fn->body && sym_is_const(fn->params.p[view->index].stride[axis], s);
}

bool unit_axis(const Fn *fn, const Val *view, int axis)
{
	int64_t s;
	return known_stride(fn, view, axis, &s) && s == 1;
}

const IrParam *param_of_view(const Fn *fn, const Val *view, int *axis)
{
	for (; view->def && view->def->code == OP_PERMUTE; view = ir_in(view->def, 0))
		*axis = (int)ir_attr(view->def, AT_AXES)->u.ints.p[*axis];
	return view->def || view->block != fn->body ? NULL : &fn->params.p[view->index];
}

int fast_axis(const Fn *fn, const Val *view)
{
	int rank = view->type->rank;
	int64_t s;
	if (view->def && view->def->code == OP_VIEW) {
		for (int a = rank - 1; a >= 0; a--)
			if (is_one(ir_in(view->def, 2 + rank + a))) return a;
	} else if (view->def && view->def->code == OP_PERMUTE) {
		int from = fast_axis(fn, ir_in(view->def, 0));
		const IrAttr *axes = ir_attr(view->def, AT_AXES);
		for (int a = 0; a < rank; a++)
			if (axes->u.ints.p[a] == from) return a;
	} else if (view->block == fn->body) {
		for (int a = rank - 1; a >= 0; a--)
			if (sym_is_const(fn->params.p[view->index].stride[a], &s) && s == 1) return a;
	}
	return rank - 1;
}
