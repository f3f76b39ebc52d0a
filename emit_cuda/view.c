/* Views: tensors, and parts of them with extents and strides of their own. */
#include "base/diag.h"
#include "emit/names.h"
#include "emit_cuda/access.h"

static Str i64_text(Cu *g, const Sym *s)
{
	int64_t v;
	if (sym_is_const(s, &v)) return str_fmt(v == (int32_t)v ? "%lld" : "%lldll", (long long)v);
	return cu_launch(g, s);
}

void memory_params(Cu *g)
{
	for (int i = 0; i < g->fn->params.n; i++) {
		const IrParam *p = &g->fn->params.p[i];
		if (!p->is_tensor || !p->val) continue;
		CuView *v = NEW(A_TMP, CuView);
		v->base = name_c(p->name);
		v->param = true;
		v->rank = p->rank;
		v->elem = p->elem;
		v->constant = p->mode == PM_IN;
		for (int a = 0; a < p->rank; a++) {
			int64_t s;
			v->ext[a] = i64_text(g, p->extent[a]);
			v->str[a] = i64_text(g, p->stride[a]);
			v->unit[a] = sym_is_const(p->stride[a], &s) && s == 1;
			v->multiple[a] = sym_multiple(p->stride[a]);
		}
		CuVal *c = cu_val(g, p->val);
		c->view = v;
		c->name = v->base;
	}
}

Str access_wide(Cu *g, const Val *v)            /* an integer scalar as long long */
{
	Num n;
	if (ir_const_value(v, &n)) return str_fmt(n.i == (int32_t)n.i ? "%lld" : "%lldll", (long long)n.i);
	Str s = cu_scalar(g, v);
	return v->type->elem == EL_I64 ? s : str_fmt("(long long)%s", s);
}

static void permute_view(Cu *g, const Op *op)
{
	const CuView *x = cu_val(g, ir_in(op, 0))->view;
	CuView *v = NEW(A_TMP, CuView);
	const int64_t *axes = ir_attr(op, AT_AXES)->u.ints.p;
	*v = *x;
	for (int a = 0; a < x->rank; a++) {
		v->ext[a] = x->ext[axes[a]];
		v->str[a] = x->str[axes[a]];
		v->unit[a] = x->unit[axes[a]];
		v->multiple[a] = x->multiple[axes[a]];
	}
	cu_val(g, op->out[0])->view = v;
	cu_val(g, op->out[0])->name = x->base;
}

void memory_view(Cu *g, const Op *op)
{
	const Val *base = ir_in(op, 0);
	CuView *v = NEW(A_TMP, CuView);
	Num n;
	if (op->code == OP_PERMUTE) {
		permute_view(g, op);
		return;
	}
	bool view = base->type->kind == TY_VIEW;
	const CuView *x = view ? cu_val(g, base)->view : NULL;
	v->rank = op->out[0]->type->rank;
	v->elem = op->out[0]->type->elem;
	v->constant = x && x->constant;
	for (int a = 0; a < v->rank; a++) {
		const Val *s = ir_in(op, 2 + v->rank + a);
		v->ext[a] = access_wide(g, ir_in(op, 2 + a));
		v->str[a] = access_wide(g, s);
		v->unit[a] = ir_const_value(s, &n) && n.i == 1;
		v->multiple[a] = access_multiple(s);
	}
	CuVal *r = cu_val(g, op->out[0]);
	Str from = view ? x->base : cu_scalar(g, base);
	r->view = v;
	if (ir_const_value(ir_in(op, 1), &n) && n.i == 0) {
		v->base = r->name = from;
		return;
	}
	v->base = r->name = cu_name(g, op->out[0]);
	cu_line(g, op);
	out_printf(g->o, "%s%s *const %s = %s + %s;\n", v->constant ? "const " : "", elem_rows[v->elem].cuda, v->base, from,
		access_wide(g, ir_in(op, 1)));
}
