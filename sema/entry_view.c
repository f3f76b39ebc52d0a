/* Views of tensors as arguments of launches. A kernel builds IR for a slice; here the launcher computes an offset,
 * extents and strides, all symbolic integers. An index that may lie outside becomes a
 * condition that the launcher checks. */
#include "sema/build.h"
#include "sema/scope.h"

#include <string.h>

static void not_a_view(Cx *cx, const Expr *e)
{
	Diag *d = cx_diag(cx, D_LAUNCH_VIEW, e->span, sema_source(e));
	diag_help(d, "a launch takes tensors, and `x[i, :]`, `x.slice(axis, lo, hi)`, `x.permute([1, 0])` and "
		"`x.transpose()` of them; other "
		"views are made in the kernel");
}

static bool view_base(Cx *cx, const Expr *e, HostView *h)
{
	Sv v = e->kind == EX_INDEX || e->kind == EX_CALL ? sv_none(e->span) : sema_expr(cx, e, NULL);
	if (v.kind == SV_NONE) return host_view(cx, e, h);
	if (v.kind == SV_VIEW) {
		h->view = *v.u.view;
		h->root = v.u.view;
		return true;
	}
	if (!sv_bad(v)) not_a_view(cx, e);
	return false;
}

static void derive(HostView *h)
{
	h->view.layout = ML_STRIDED;
	h->view.pad = 0;
	if (!h->offset) h->offset = sym_const(0);
}

/* Known to hold, or checked by the launcher. */
static void need(Cx *cx, HostView *h, const Sym *cond, Str text, Span at)
{
	if (!facts_holds(cx->facts, cond)) vec_push(A_UNIT, h->where, ((IrWhere){ cond, text, at, false }));
}

static const Sym *index_sym(Cx *cx, const Expr *e)
{
	SymVal v = sema_sym(cx, e);
	if (v.sym && v.elem == EL_BOOL)
		cx_diag(cx, D_SYM_EXPR, e->span, sema_source(e), "it is a condition, and a number is needed");
	return v.elem == EL_BOOL ? NULL : v.sym;
}

static bool fixed(Cx *cx, const Expr *e, HostView *h)
{
	const ExprVec *items = &e->u.idx.items;
	View v = h->view;
	int rank = 0;
	if (items->n != v.rank) {
		cx_diag(cx, D_VIEW_RANK, e->span, str_fmt("`%s`", v.root), str_i64(v.rank), str_i64(items->n));
		return false;
	}
	derive(h);
	for (int i = 0; i < v.rank; i++) {
		const Expr *x = items->p[i];
		const Sym *s = x->kind == EX_ALL ? NULL : index_sym(cx, x);
		if (x->kind == EX_ALL) {
			h->view.dim[rank++] = v.dim[i];
			continue;
		}
		if (!s) return false;
		Str ext = sym_text(v.dim[i].sym);
		need(cx, h, sym_cmp(SYM_LE, sym_const(0), s), str_fmt("%s >= 0", sema_source(x)), x->span);
		need(cx, h, sym_cmp(SYM_LT, s, v.dim[i].sym), str_fmt("%s < %s", sema_source(x), ext), x->span);
		h->offset = sym_add(h->offset, sym_mul(s, v.dim[i].ssym));
	}
	h->view.rank = rank;
	memset(h->view.dim + rank, 0, (size_t)(TENSOR_RANK - rank) * sizeof *h->view.dim);
	if (rank) return true;
	not_a_view(cx, e);
	return false;
}

/* The value of an argument by position or name; NULL: not given. */
static const Expr *given(const ArgVec *a, int first, int i, const char *name)
{
	for (int k = 0; k < a->n; k++)
		if (a->p[k].name.s && !strcmp(a->p[k].name.s, name)) return a->p[k].value;
	return first + i < a->n && !a->p[first + i].name.s ? a->p[first + i].value : NULL;
}

static bool axis_of(Cx *cx, const Expr *e, const View *v, int *axis)
{
	Int a;
	if (!sema_const_int(cx, e, &a)) return false;
	*axis = a < 0 || a >= v->rank ? -1 : (int)a;
	if (*axis >= 0) return true;
	cx_diag(cx, D_AXIS_RANGE, e->span, str_i64((int64_t)a), sv_what(sv_view(v, e->span)));
	return false;
}

static bool sliced(Cx *cx, const Expr *e, const ArgVec *a, int first, HostView *h)
{
	const Expr *axis_at = given(a, first, 0, "axis"), *lo_at = given(a, first, 1, "lo"),
		*hi_at = given(a, first, 2, "hi");
	const Expr *step_at = given(a, a->n, 0, "step");
	int axis;
	Int step = 1;
	if (!axis_at || !lo_at || !hi_at) {
		not_a_view(cx, e);
		return false;
	}
	if (!axis_of(cx, axis_at, &h->view, &axis) || (step_at && !sema_const_int(cx, step_at, &step))) return false;
	if (step < 1 || step > INT32_MAX) {
		cx_diag(cx, D_STEP_VALUE, step_at->span, str_i64((int64_t)step));
		return false;
	}
	const Sym *lo = index_sym(cx, lo_at), *hi = lo ? index_sym(cx, hi_at) : NULL;
	if (!hi) return false;
	ViewDim *d = &h->view.dim[axis];
	derive(h);
	need(cx, h, sym_cmp(SYM_LE, sym_const(0), lo), str_fmt("%s >= 0", sema_source(lo_at)), lo_at->span);
	need(cx, h, sym_cmp(SYM_LE, lo, d->sym), str_fmt("%s <= %s", sema_source(lo_at), sym_text(d->sym)), lo_at->span);
	h->offset = sym_add(h->offset, sym_mul(lo, d->ssym));
	const Sym *end = facts_le(cx->facts, hi, d->sym) ? hi : sym_min(hi, d->sym);
	const Sym *n = sym_sub(end, lo);
	if (!facts_le(cx->facts, sym_const(0), n)) n = sym_max(n, sym_const(0));
	d->sym = step > 1 ? sym_cdiv(n, sym_const((int64_t)step)) : n;
	d->ssym = sym_mul(d->ssym, sym_const((int64_t)step));
	return true;
}

static bool permuted(Cx *cx, const Expr *e, const Expr *list, HostView *h)
{
	View v = h->view;
	unsigned seen = 0;
	bool ok = list && list->kind == EX_LIST && list->u.list.n == v.rank;
	derive(h);
	for (int i = 0; ok && i < v.rank; i++) {
		int axis;
		if (!axis_of(cx, list->u.list.p[i], &v, &axis)) return false;
		seen |= 1u << axis;
		h->view.dim[i] = v.dim[axis];
	}
	if (ok && seen == (1u << v.rank) - 1) return true;
	report_axes(cx, list ? list->span : e->span, v.rank);
	return false;
}

static bool transposed(Cx *cx, const Expr *e, const ArgVec *a, int first, HostView *h)
{
	const Expr *i_at = given(a, first, 0, "i"), *j_at = given(a, first, 1, "j");
	int i = 0, j = 1;
	if (!i_at != !j_at || h->view.rank < 2) {
		not_a_view(cx, e);
		return false;
	}
	if (i_at && (!axis_of(cx, i_at, &h->view, &i) || !axis_of(cx, j_at, &h->view, &j))) return false;
	derive(h);
	ViewDim d = h->view.dim[i];
	h->view.dim[i] = h->view.dim[j];
	h->view.dim[j] = d;
	return true;
}

bool host_view(Cx *cx, const Expr *e, HostView *h)
{
	if (e->kind == EX_INDEX) return view_base(cx, e->u.idx.base, h) && fixed(cx, e, h);
	if (e->kind != EX_CALL) return view_base(cx, e, h);
	const Expr *f = e->u.call.callee;
	const ArgVec *a = &e->u.call.args;
	bool method = f->kind == EX_MEMBER;
	Str name = method ? f->u.mem.name.s : f->kind == EX_NAME ? f->u.name : str_intern("");
	int first = method ? 0 : 1;
	const Expr *base = method ? f->u.mem.base : a->n && !a->p[0].name.s ? a->p[0].value : NULL;
	bool slice = method && !strcmp(name, "slice"), permute = !strcmp(name, "permute"),
		transpose = !strcmp(name, "transpose");
	if (!base || !(slice || permute || transpose)) {
		not_a_view(cx, e);
		return false;
	}
	if (!view_base(cx, base, h)) return false;
	if (slice) return sliced(cx, e, a, first, h);
	return permute ? permuted(cx, e, given(a, first, 0, "axes"), h) : transposed(cx, e, a, first, h);
}
