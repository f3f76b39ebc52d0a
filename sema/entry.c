/* Entries: the C functions of the module. Kernels and instances become one launch; the body of an `entry` becomes host
 * statements whose numbers are symbolic integers over the entry's dimensions and integer parameters. */
#include "sema/scope.h"

#include <string.h>

typedef struct EntryCx {
	Cx *cx;
	Entry *e;
	VEC(const View *) tensor;       /* parameters by index, then scratch: as HostArg counts; NULL: a scalar */
} EntryCx;

static HostStmt *host_new(HostKind kind, Span at)
{
	HostStmt *h = NEW(A_UNIT, HostStmt);
	h->kind = kind;
	h->span = at;
	return h;
}

static const Sym *dim_atom(const IrDim *d)
{
	return sym_atom(d->is_stride ? ATOM_STRIDE : ATOM_DIM, d->name, 0);
}

/* A tensor is known by its declaration; a view is known by the tensor that it is a view of. */
static bool same_tensor(const View *a, const View *b)
{
	return a && b && a->kind == VK_TENSOR && b->kind == VK_TENSOR && a->root == b->root && a->decl.lo == b->decl.lo;
}

/* ---- kernels and instances ---- */
static void whole_entry(Sema *s, const Item *it, const Variants *v)
{
	const Fn *fn = v->fn.p[0];
	Entry *e = NEW(A_UNIT, Entry);
	HostStmt *h = host_new(HOST_LAUNCH, it->name.span);
	e->name = it->name.s;
	e->doc = it->doc ? it->doc : fn->doc;
	e->span = it->name.span;
	for (int i = 0; i < fn->params.n; i++) {
		IrParam p = fn->params.p[i];
		HostArg a = { .is_tensor = p.is_tensor, .tensor = p.is_tensor ? i : -1, .scalar = p.is_tensor ? -1 : i };
		p.val = NULL;
		vec_push(A_UNIT, &e->params, p);
		vec_push(A_UNIT, &h->u.launch.args, a);
	}
	for (int i = 0; i < fn->dims.n; i++) {
		vec_push(A_UNIT, &e->dims, fn->dims.p[i]);
		vec_push(A_UNIT, &h->u.launch.dims, dim_atom(&fn->dims.p[i]));
	}
	for (int i = 0; i < v->fn.n; i++) vec_push(A_UNIT, &h->u.launch.variants, (Variant){ v->fn.p[i] });
	vec_push(A_UNIT, &e->body, h);
	tune_rules(s, it, h);
	vec_push(A_UNIT, &s->mod->entries, e);
}

/* What the launcher asks before it runs a variant. */
static bool always_fits(const Facts *f, const Fn *fn)
{
	for (int i = 0; i < fn->where.n; i++)
		if (!facts_holds(f, fn->where.p[i].cond)) return false;
	return true;
}

static const Fn *in_front_of(const Variants *v, int at)
{
	const Fn *fn = v->fn.p[at];
	Facts *f = facts_new(NULL, A_UNIT);
	for (int i = 0; i < fn->dims.n; i++) {
		const IrDim *d = &fn->dims.p[i];
		facts_range(f, dim_atom(d), 0, d->elem == EL_I64 ? INT64_MAX : INT32_MAX);
		if (d->def) facts_assume(f, sym_cmp(SYM_EQ, dim_atom(d), d->def));
	}
	for (int i = 0; i < fn->where.n; i++) facts_assume(f, fn->where.p[i].cond);
	for (int i = 0; i < at; i++)
		if (always_fits(f, v->fn.p[i])) return v->fn.p[i];
	return NULL;
}

/* Variants are tried in their order: one whose every call is taken by another before it never runs. */
static void warn_unreached(const Item *it, const Variants *v)
{
	const Fn *first = NULL, *front = NULL;
	int n = 0;
	for (int i = 1; i < v->fn.n; i++) {
		const Fn *by = in_front_of(v, i);
		n += by != NULL;
		if (!by || first) continue;
		first = v->fn.p[i];
		front = by;
	}
	if (!first) return;
	Diag *d = diag(D_VARIANT_UNREACHED, it->name.span, first->name, it->name.s, front->name);
	if (n > 1) diag_note(d, "the same holds of %d more", n - 1);
	if (front->where.n)
		diag_help(d, "the first variant whose `where` clauses hold runs: write the values in another order");
	else diag_help(d, "write an `instance` for each, or a `where` clause that tells them apart");
}

static void instance_entry(Sema *s, Global *g)
{
	Global *kernel;
	Solve *first = NULL;
	Variants v = instance_variants(s, g, &kernel, &first);
	if (v.bad) return;
	whole_entry(s, g->item, &v);
	if (g->item->kind == IT_INSTANCE) warn_unreached(g->item, &v);
}

static void kernel_entry(Sema *s, Global *g)
{
	Variants v = default_variants(s, g, NULL);
	if (!v.bad) whole_entry(s, g->item, &v);
}

/* Once for an entry: what was meant is a kernel, and each of its lines would be the same mistake. */
static void say_launches_only(Cx *cx, Span at, const char *what)
{
	if (cx->s->entry_said == cx->frame->item) return;
	cx->s->entry_said = cx->frame->item;
	Diag *d = cx_diag(cx, D_ENTRY_STMT, at, what);
	diag_help(d, "an entry launches kernels: launches, `scratch`, `let`, `const` and `if` stand in it");
}

/* ---- what an entry launches ---- */
static Global *launch_target(EntryCx *x, const Expr *f)
{
	Cx *cx = x->cx;
	bool bad = false;
	Global *g = NULL;
	if (f->kind == EX_MEMBER && f->u.mem.base->kind == EX_NAME) {
		Unit *u = unit_module(cx->unit, f->u.mem.base->u.name);
		if (!u) {
			if (scope_find(cx, f->u.mem.base->u.name)) say_launches_only(cx, f->span, "an operation");
			else unknown_name(cx, f->u.mem.base->u.name, f->u.mem.base->span);
			return NULL;
		}
		g = map_get(&u->names, f->u.mem.name.s);
		if (!g) cx_diag(cx, D_MODULE_MEMBER, f->u.mem.name.span, src_mapped(u->path), f->u.mem.name.s);
	} else if (f->kind == EX_NAME) {
		g = scope_global(cx, f->u.name, f->span, &bad);
		OpCode op;
		if (!g && !bad && op_by_name(f->u.name, &op)) cx_diag(cx, D_LAUNCH_TARGET, f->span, f->u.name, "an operation");
		else if (!g && !bad) unknown_name(cx, f->u.name, f->span);
	} else {
		cx_diag(cx, D_LAUNCH_TARGET, f->span, sema_source(f), "no name of a kernel");
	}
	if (!g) return NULL;
	ItemKind k = g->item->kind;
	if (k == IT_KERNEL || k == IT_INSTANCE || k == IT_TUNE) return g;
	Diag *d = cx_diag(cx, D_LAUNCH_TARGET, f->span, g->name, k == IT_ENTRY ? "an entry" : "no kernel");
	diag_label(d, g->item->name.span, "declared here");
	if (k == IT_FN) diag_help(d, "call it in a kernel, and launch that");
	return NULL;
}

/* ---- arguments ---- */
typedef struct Launch {
	const Expr *call;
	const FnItem *f;
	Str name;
	const Expr **arg;               /* by parameter */
	Sv *val;                        /* tensors: SV_VIEW; scalars of known type: as found; else SV_NONE */
	HostView *view;                 /* tensors */
	IrWhereVec where;
	VEC(Arg) dims;                  /* dimensions given by name */
	Solve *solve;
	Cx *callee;                     /* in which the kernel's own names are read */
} Launch;

static bool sort_args(EntryCx *x, Launch *l)
{
	Cx *cx = x->cx;
	const ArgVec *a = &l->call->u.call.args;
	bool ok = true;
	int np = l->f->params.n, n = 0;
	for (int i = 0; i < a->n; i++) {
		int p = a->p[i].name.s ? param_index(l->f, a->p[i].name.s) : n++;
		int k = a->p[i].name.s ? solve_index(l->solve, a->p[i].name.s) : -1;
		if (p >= 0 && p < np && l->arg[p]) {
			cx_diag(cx, D_ARG_TWICE, a->p[i].value->span, l->f->params.p[p].name.s);
			ok = false;
		} else if (p >= 0 && p < np) {
			l->arg[p] = a->p[i].value;
		} else if (k >= 0) {
			ok &= solve_set(cx, l->solve, k, solve_value(cx, &l->solve->var.p[k], a->p[i].value), a->p[i].value->span);
		} else if (a->p[i].name.s) {
			vec_push(A_UNIT, &l->dims, a->p[i]);
		}
	}
	if (n > np) {
		Diag *d = cx_diag(cx, D_ARG_COUNT, l->call->span, l->name, str_fmt("%d argument%s", np, np == 1 ? "" : "s"),
			str_i64(n));
		const Expr *more = np < a->n ? a->p[np].value : NULL;
		if (!more || a->p[np].name.s) return false;
		diag_label(d, more->span, "one too many");
		if (l->solve && l->solve->var.n) {
			Str by = str_fmt("%s: %s", l->solve->var.p[0].name.s, sema_source(more));
			diag_help(d, "a generic parameter is given by its name, as in `%s`; dimensions follow from tensors", by);
			return false;
		}
		diag_help(d, "leave `%s` out: a launch takes the kernel's parameters, and dimensions follow from its tensors",
			sema_source(more));
		return false;
	}
	for (int i = 0; i < np && ok; i++) {
		if (l->arg[i]) continue;
		Diag *d = cx_diag(cx, D_ARG_MISSING, l->call->span, l->name, l->f->params.p[i].name.s);
		diag_label(d, l->f->params.p[i].span, "declared here");
		return false;
	}
	return ok;
}

static bool read_tensor(EntryCx *x, Launch *l, int i)
{
	Cx *cx = x->cx;
	const Param *p = &l->f->params.p[i];
	HostView *h = &l->view[i];
	ExprKind kind = l->arg[i]->kind;
	h->where = &l->where;
	Sv v = kind == EX_INDEX || kind == EX_CALL ? sv_none(l->arg[i]->span) : sema_expr(cx, l->arg[i], NULL);
	if (sv_bad(v)) return false;
	if (v.kind != SV_NONE && v.kind != SV_VIEW) {
		cx_diag(cx, D_ARG_KIND, v.span, p->name.s, l->name, sema_source(p->type), sv_what(v));
		return false;
	}
	if (v.kind == SV_VIEW) {
		h->view = *v.u.view;
		h->root = v.u.view;
	} else if (!host_view(cx, l->arg[i], h)) {
		return false;
	}
	v = sv_view(&h->view, l->arg[i]->span);
	l->val[i] = v;
	Mode want = p->mode == MODE_NONE ? MODE_IN : p->mode, have = v.u.view->mode;
	if (have != MODE_INOUT && have != want) {
		Diag *d = cx_diag(cx, D_ARG_MODE, v.span, p->name.s, l->name, mode_word(want), v.u.view->root, mode_word(have));
		diag_label(d, v.u.view->decl, "`%s` is declared here", v.u.view->root);
		diag_label(d, p->span, "`%s` is declared here", p->name.s);
		if (have == MODE_OUT)
			diag_help(d, "declare `%s` as `inout`, or write to a `scratch` tensor first", v.u.view->root);
		return false;
	}
	return true;
}

static bool aliases(EntryCx *x, const Launch *l)
{
	for (int i = 0; i < l->f->params.n; i++) {
		for (int k = 0; k < i; k++) {
			if (l->val[i].kind != SV_VIEW || l->val[k].kind != SV_VIEW
				|| !same_tensor(l->val[i].u.view, l->val[k].u.view))
				continue;
			Mode a = l->f->params.p[i].mode, b = l->f->params.p[k].mode;
			if (a != MODE_OUT && a != MODE_INOUT && b != MODE_OUT && b != MODE_INOUT) continue;
			Diag *d = cx_diag(x->cx, D_LAUNCH_ALIAS, l->arg[i]->span, l->val[i].u.view->root, l->name);
			diag_help(d, "a kernel that works in place has one `inout` parameter for it; else a `scratch` "
				"tensor takes the result");
			return true;
		}
	}
	return false;
}

/* Tensors are looked at first; what is still open follows from scalars that have a type. */
static bool infer_launch(EntryCx *x, Launch *l)
{
	Cx *cx = x->cx;
	bool ok = true;
	for (int i = 0; i < l->f->params.n; i++) {
		l->val[i] = sv_none(l->call->span);
		if (type_is_tensor(l->f->params.p[i].type)) ok &= read_tensor(x, l, i);
	}
	if (!ok || aliases(x, l)) return false;
	for (int i = 0; i < l->f->params.n; i++)
		if (l->val[i].kind == SV_VIEW) ok &= solve_param(cx, l->solve, &l->f->params.p[i], l->val[i], 0);
	for (int i = 0; ok && i < l->f->params.n; i++) {
		const Expr *e = l->arg[i];
		Bind *b = e->kind == EX_NAME ? scope_find(cx, e->u.name) : NULL;
		if (l->val[i].kind == SV_VIEW || !b || b->kind != BIND_SV || b->sv.kind != SV_VAL) continue;
		ok &= solve_param(cx, l->solve, &l->f->params.p[i], b->sv, 1);
	}
	return ok;
}

/* Dimensions that the launch names, then those that stand in expressions. */
static bool solve_dims(EntryCx *x, Launch *l, Global *kernel)
{
	l->callee = cx_new(x->cx->s, kernel->unit, kernel->item, kernel->name);
	scope_open(l->callee);
	for (int i = 0; i < l->dims.n; i++) {
		SymVal v = sema_sym(x->cx, l->dims.p[i].value);
		bool known = !v.sym;
		for (int k = 0; k < l->solve->dim.n; k++) known |= l->solve->dim.p[k].name.s == l->dims.p[i].name.s;
		if (!v.sym) return false;
		if (!known)
			vec_push(A_UNIT, &l->solve->dim, ((SolveDim){ .name = l->dims.p[i].name, .sym = v.sym, .elem = v.elem }));
	}
	return extents_solve(l->callee, x->cx->facts, l->solve, l->val);
}

/* ---- the kernel's dimensions in terms of the entry's ---- */
typedef struct DimMap { const Fn *fn; const Sym **value; const Sym *const *param; } DimMap;

static const Sym *mapped_atom(void *ctx, const Sym *atom)
{
	const DimMap *m = ctx;
	for (int i = 0; i < m->fn->dims.n; i++)
		if (dim_atom(&m->fn->dims.p[i]) == atom) return m->value[i];
	for (int i = 0; m->param && atom->atom == ATOM_PARAM && i < m->fn->params.n; i++)
		if (m->fn->params.p[i].name == atom->name) return m->param[i];
	return NULL;
}

static const Sym *stride_value(const Launch *l, const Fn *fn, const IrDim *d)
{
	for (int i = 0; i < fn->params.n; i++)
		for (int k = 0; fn->params.p[i].is_tensor && k < fn->params.p[i].rank; k++)
			if (fn->params.p[i].stride[k] == dim_atom(d)) return l->val[i].u.view->dim[k].ssym;
	return NULL;
}

static bool map_dims(EntryCx *x, Launch *l, const Fn *fn, HostStmt *h)
{
	Cx *cx = x->cx;
	const Sym **value = NEW_ARRAY(A_UNIT, const Sym *, fn->dims.n);
	DimMap m = { fn, value, NULL };
	for (int i = 0; i < fn->dims.n; i++) {
		const IrDim *d = &fn->dims.p[i];
		if (d->is_stride) value[i] = stride_value(l, fn, d);
		for (int k = 0; k < l->solve->dim.n; k++)       /* an alignment is no stride of a tensor: it is named */
			if (!value[i] && l->solve->dim.p[k].name.s == d->name) value[i] = l->solve->dim.p[k].sym;
	}
	for (int i = 0; i < fn->dims.n; i++) {
		const IrDim *d = &fn->dims.p[i];
		if (!value[i] && d->def) value[i] = sym_subst(d->def, mapped_atom, &m);
		if (!value[i] && extents_explain(l->callee, cx->facts, l->solve, l->val, d->name)) return false;
		if (!value[i]) {
			Diag *g = cx_diag(cx, D_LAUNCH_DIM, l->call->span, d->name, l->name);
			diag_help(g, "its value is given by name, as in `%s: ...`", d->name);
			return false;
		}
		vec_push(A_UNIT, &h->u.launch.dims, value[i]);
	}
	return true;
}

static bool is_scratch(const EntryCx *x, const Expr *arg)
{
	const Bind *b = arg->kind == EX_NAME ? scope_find(x->cx, arg->u.name) : NULL;
	return b && b->kind == BIND_SV && b->sv.kind == SV_VIEW && b->local;
}

/* The length of an array of the entry's own is what its declaration says, whatever the caller gives. */
static void help_scratch(Diag *d, const Expr *arg, const IrParam *p, int axis, const Sym *want)
{
	Str name = arg->u.name;
	if (p->rank > 1)
		diag_help(d, "declare `%s` with the length `%s` in dimension %d", name, sym_text(want), axis);
	else
		diag_help(d, "declare it as long as it is used, as in `scratch %s: tensor<%s, [%s]>;`", name,
			elem_name(p->elem), sym_text(want));
}

/* What the kernel's types promise of its tensors must hold of the arguments: their
 * lengths first, then their layouts. */
static bool check_tensors(EntryCx *x, const Launch *l, const Fn *fn, const HostStmt *h, bool strides)
{
	DimMap m = { fn, h->u.launch.dims.p, NULL };
	for (int i = 0; i < fn->params.n; i++) {
		const IrParam *p = &fn->params.p[i];
		for (int k = 0; p->is_tensor && k < p->rank; k++) {
			const ViewDim *have = &l->val[i].u.view->dim[k];
			const Sym *want = sym_subst(strides ? p->stride[k] : p->extent[k], mapped_atom, &m);
			const Sym *is = strides ? have->ssym : have->sym;
			if (want == is || facts_eq(x->cx->facts, want, is)) continue;
			DiagCode code = strides ? D_LAUNCH_LAYOUT : D_LAUNCH_EXTENT;
			Diag *d = cx_diag(x->cx, code, l->arg[i]->span, p->name, l->name, sym_text(want), str_i64(k), sym_text(is));
			diag_label(d, l->f->params.p[i].type->span, "`%s` is declared here", p->name);
			diag_label(d, l->arg[i]->span, "%s", sv_what(l->val[i]));
			if (!strides && is_scratch(x, l->arg[i])) help_scratch(d, l->arg[i], p, k, want);
			else if (!strides) extent_remedy(d, x->cx->facts, is, want);
			return false;
		}
	}
	return true;
}

/* Whether an expression of constants has a float in it: those are no symbolic integers. */
static bool has_float(EntryCx *x, const Expr *e)
{
	bool bad;
	switch (e->kind) {
	case EX_FLOAT: return true;
	case EX_UNARY: return has_float(x, e->u.un.x);
	case EX_BINARY: return has_float(x, e->u.bin.l) || has_float(x, e->u.bin.r);
	case EX_NAME: {
		const Bind *b = scope_find(x->cx, e->u.name);
		Global *g = b ? NULL : scope_global(x->cx, e->u.name, e->span, &bad);
		Sv v = b ? b->sv : sv_none(e->span);
		if (g && (g->item->kind == IT_CONST || g->item->kind == IT_PARAM)) v = global_value(x->cx, g, e->span);
		return v.kind == SV_FLOAT || (v.kind == SV_CONST && elem_is_any_float(v.type->elem));
	}
	default: return false;
	}
}

static bool check_elems(EntryCx *x, const Launch *l, const Fn *fn)
{
	for (int i = 0; i < fn->params.n; i++) {
		const IrParam *p = &fn->params.p[i];
		if (!p->is_tensor || p->elem == l->val[i].u.view->elem) continue;
		Diag *d = cx_diag(x->cx, D_ARG_KIND, l->arg[i]->span, p->name, l->name, sema_source(l->f->params.p[i].type),
			sv_what(l->val[i]));
		diag_label(d, l->f->params.p[i].span, "declared here");
		return false;
	}
	return true;
}

static bool bad_scalar(EntryCx *x, const Launch *l, const IrParam *p, const Expr *e)
{
	Diag *d = cx_diag(x->cx, D_LAUNCH_SCALAR, e->span, p->name, l->name, elem_name(p->elem), sema_source(e));
	const Bind *b = e->kind == EX_NAME ? scope_find(x->cx, e->u.name) : NULL;
	if (b && b->sv.kind == SV_VAL) {
		diag_label(d, b->at, "`%s` is %s", b->name, sv_what(b->sv));
		diag_help(d, "declare `%s` in the entry as the kernel takes it, %s, or convert it in the kernel", b->name,
			elem_name(p->elem));
	} else if (elem_is_any_float(p->elem)) {
		diag_help(d, "the launcher computes with integers only: compute this in the kernel, or let the caller pass it");
	}
	return false;
}

static int scalar_index(const EntryCx *x, const Bind *b)
{
	for (int i = 0; b && i < x->e->params.n; i++)
		if (!x->e->params.p[i].is_tensor && x->e->params.p[i].name == b->name && b->depth == 1) return i;
	return -1;
}

static bool scalar_arg(EntryCx *x, const Launch *l, const IrParam *p, const Expr *e, HostArg *a)
{
	Cx *cx = x->cx;
	Bind *b = e->kind == EX_NAME ? scope_find(cx, e->u.name) : NULL;
	int i = scalar_index(x, b);
	a->scalar = -1;
	a->tensor = -1;
	if (i >= 0 && x->e->params.p[i].elem == p->elem) {
		b->used = true;
		a->scalar = i;
		return true;
	}
	if (i >= 0 && !elem_is_integral(x->e->params.p[i].elem)) return bad_scalar(x, l, p, e);
	if (elem_is_integral(p->elem)) {
		SymVal v = sema_sym(cx, e);
		int64_t c;
		if (!v.sym) return false;
		if ((v.elem == EL_BOOL) != (p->elem == EL_BOOL)) return bad_scalar(x, l, p, e);
		a->value = v.sym;
		if (!sym_is_const(v.sym, &c)) return true;
		Sv n = p->elem == EL_BOOL ? sv_bool(c != 0, e->span) : sv_int(c, e->span);
		n = conv_to(cx, n, type_scalar(p->elem), CONV_ARG, p->name, p->span);
		a->is_num = true;
		a->num = n.kind == SV_CONST ? n.u.num : (Num){ 0 };
		return !sv_bad(n);
	}
	bool number = e->kind != EX_CALL && !has_float(x, e);
	SymVal n = number ? sema_sym(cx, e) : (SymVal){ NULL, EL_I32 };
	int64_t c;
	if (number && !n.sym) return false;
	if (number && (n.elem == EL_BOOL || !sym_is_const(n.sym, &c))) return bad_scalar(x, l, p, e);
	Sv v = number ? sv_int(c, e->span) : sema_expr(cx, e, NULL);
	if (!sv_bad(v) && sv_is_const(v)) v = conv_to(cx, v, type_scalar(p->elem), CONV_ARG, p->name, p->span);
	if (sv_bad(v)) return false;
	if (v.kind != SV_CONST) return bad_scalar(x, l, p, e);
	a->is_num = true;
	a->num = v.u.num;
	return true;
}

static bool launch_args(EntryCx *x, const Launch *l, const Fn *fn, HostStmt *h)
{
	for (int i = 0; i < fn->params.n; i++) {
		HostArg a = { .is_tensor = fn->params.p[i].is_tensor, .scalar = -1 };
		if (!a.is_tensor && !scalar_arg(x, l, &fn->params.p[i], l->arg[i], &a)) return false;
		for (int k = 0; a.is_tensor && k < x->tensor.n; k++)
			if (same_tensor(x->tensor.p[k], l->view[i].root)) a.tensor = k;
		if (a.is_tensor) a.offset = l->view[i].offset;
		vec_push(A_UNIT, &h->u.launch.args, a);
	}
	return true;
}

/* A `where` clause of the kernel that no call of the entry can fulfil; NULL: there is none, or it may hold. */
static const IrWhere *impossible(EntryCx *x, const Fn *fn, const HostStmt *h)
{
	const Sym **param = NEW_ARRAY(A_UNIT, const Sym *, fn->params.n);
	for (int i = 0; i < fn->params.n; i++) {
		const HostArg *a = &h->u.launch.args.p[i];
		if (a->is_tensor) continue;
		if (a->scalar >= 0) param[i] = sym_atom(ATOM_PARAM, x->e->params.p[a->scalar].name, 0);
		else param[i] = a->is_num && elem_is_integral(fn->params.p[i].elem) ? sym_const(a->num.i) : a->value;
	}
	DimMap m = { fn, h->u.launch.dims.p, param };
	for (int i = 0; i < fn->where.n; i++)
		if (facts_fails(x->cx->facts, sym_subst(fn->where.p[i].cond, mapped_atom, &m))) return &fn->where.p[i];
	return NULL;
}

static bool check_wheres(EntryCx *x, const Launch *l, const HostStmt *h)
{
	const IrWhere *w = NULL;
	for (int i = 0; i < h->u.launch.variants.n; i++) {
		w = impossible(x, h->u.launch.variants.p[i].fn, h);
		if (!w) return true;
	}
	Diag *d = cx_diag(x->cx, D_WHERE_FAILS, l->call->span, l->name, w->text);
	diag_label(d, w->span, "stated here");
	return false;
}

static bool unknown_dims(EntryCx *x, const Launch *l, const Fn *fn)
{
	for (int i = 0; i < l->dims.n; i++) {
		bool found = false;
		for (int k = 0; k < fn->dims.n; k++) found |= fn->dims.p[k].name == l->dims.p[i].name.s;
		if (found) continue;
		cx_diag(x->cx, D_ARG_UNKNOWN, l->dims.p[i].name.span, l->name, l->dims.p[i].name.s);
		return true;
	}
	return false;
}

static void launch(EntryCx *x, const Expr *call, HostVec *out)
{
	Cx *cx = x->cx;
	Global *g = launch_target(x, call->u.call.callee), *kernel = g;
	Variants v = { 0 };
	Solve *first = NULL;
	if (!g) return;
	bool instance = g->item->kind != IT_KERNEL;
	if (instance) v = instance_variants(cx->s, g, &kernel, &first);
	if (v.bad) return;
	Launch l = { .call = call, .f = &kernel->item->u.fn, .name = g->name };
	l.arg = NEW_ARRAY(A_UNIT, const Expr *, l.f->params.n);
	l.val = NEW_ARRAY(A_UNIT, Sv, l.f->params.n);
	l.view = NEW_ARRAY(A_UNIT, HostView, l.f->params.n);
	l.solve = instance ? first : solve_new(kernel->item, kernel->unit, false);
	l.solve->dim.n = 0;
	if (!sort_args(x, &l) || !infer_launch(x, &l) || !solve_dims(x, &l, kernel)) return;
	if (!instance) {
		Cx *in = cx_new(cx->s, kernel->unit, kernel->item, kernel->name);
		Solve fill = *l.solve;
		fill.dim.n = 0;
		scope_open(in);
		bool ok = solve_finish(in, &fill, call->span);
		scope_close(in);
		if (!ok) return;
		Fn *fn = kernel_variant(cx->s, kernel, &fill, NULL, call->span, &v.bad);
		if (!fn && !v.bad) cx_diag(cx, D_INSTANCE_EMPTY, call->span, g->name);
		if (!fn) return;
		vec_push(A_UNIT, &v.fn, fn);
	}
	HostStmt *h = host_new(HOST_LAUNCH, call->span);
	const Fn *fn = v.fn.p[0];
	for (int i = 0; i < v.fn.n; i++) vec_push(A_UNIT, &h->u.launch.variants, (Variant){ v.fn.p[i] });
	if (unknown_dims(x, &l, fn) || !map_dims(x, &l, fn, h)) return;
	if (!check_elems(x, &l, fn) || !check_tensors(x, &l, fn, h, false) || !check_tensors(x, &l, fn, h, true)) return;
	if (!launch_args(x, &l, fn, h) || !check_wheres(x, &l, h)) return;
	for (int i = 0; i < l.where.n; i++) vec_push(A_UNIT, &h->u.launch.where, l.where.p[i]);
	if (g->item->kind == IT_TUNE || g->item->kind == IT_INSTANCE || g->item->kind == IT_KERNEL)
		tune_rules(cx->s, g->item, h);
	vec_push(A_UNIT, out, h);
}

/* ---- statements of an entry ---- */
static void host_block(EntryCx *x, const Block *b, HostVec *out);
static void host_stmt(EntryCx *x, const Stmt *s, HostVec *out);

static void find_param(void *ctx, const Sym *atom)
{
	const Sym **found = ctx;
	if (atom->atom == ATOM_PARAM) *found = atom;
}

/* Of dimensions alone: those are checked before the workspace is, conditions of parameters after it. */
static bool scratch_size(Cx *cx, const Decl *d, const IrParam *p)
{
	const Sym *param = NULL;
	for (int i = 0; i < p->rank; i++) {
		sym_atoms(p->extent[i], find_param, &param);
		sym_atoms(p->stride[i], find_param, &param);
	}
	if (!param) return true;
	Diag *g = cx_diag(cx, D_SCRATCH_SIZE, d->type->span, p->name, param->name);
	diag_help(g, "let the size depend on dimensions only; a bound of `%s` will do", param->name);
	return false;
}

static void scratch(EntryCx *x, const Stmt *s, HostVec *out)
{
	const Decl *d = &s->u.decls.p[0];
	Cx *cx = x->cx;
	HostStmt *h = host_new(HOST_SCRATCH, s->span);
	IrParam *p = &h->u.scratch.tensor;
	TensorCx t = { cx, NULL, NULL, NULL };
	Elem elem[TENSOR_RANK];
	Name n = { d->pat->u.name, d->pat->span };
	p->name = n.s;
	p->doc = s->doc;
	p->span = n.span;
	if (!type_is_tensor(d->type)) {
		if (d->type->kind != EX_ERROR) cx_diag(cx, D_TENSOR_SHAPE, d->type->span, sema_source(d->type));
		scope_add_sv(cx, n, sv_absent(n.span));
		return;
	}
	if (!tensor_resolve(&t, d->type, MODE_INOUT, p, elem) || !scratch_size(cx, d, p)) {
		scope_add_sv(cx, n, sv_absent(n.span));
		return;
	}
	const View *v = tensor_view(p, NULL, elem);
	vec_push(A_UNIT, &x->tensor, v);
	scope_add_sv(cx, n, sv_view(v, n.span))->local = true;
	vec_push(A_UNIT, out, h);
}

static void let_constant(EntryCx *x, const Decl *d)
{
	Sv v = sema_expr(x->cx, d->init, NULL);
	if (!sv_bad(v) && !sv_is_static(v)) {
		cx_diag(x->cx, D_NOT_CONST, d->init->span, sema_source(d->init));
		v = sv_absent(v.span);
	}
	scope_add_sv(x->cx, (Name){ d->pat->u.name, d->pat->span }, v)->local = true;
}

static void host_let(EntryCx *x, const Stmt *s)
{
	Cx *cx = x->cx;
	for (int i = 0; i < s->u.decls.n; i++) {
		const Decl *d = &s->u.decls.p[i];
		if (d->pat->kind != EX_NAME) {
			cx_diag(cx, D_ENTRY_STMT, d->pat->span, "a tuple");
			continue;
		}
		if (has_float(x, d->init)) {
			let_constant(x, d);
			continue;
		}
		SymVal v = sema_sym(cx, d->init);
		Bind *b = scope_add(cx, BIND_DIM, (Name){ d->pat->u.name, d->pat->span });
		b->sym = v.sym ? v.sym : sym_const(0);
		b->elem = v.elem;
		b->local = true;
	}
}

static void host_if(EntryCx *x, const Stmt *s, HostVec *out)
{
	Cx *cx = x->cx;
	HostStmt *h = host_new(HOST_IF, s->span);
	bool c = true;
	if (s->is_const) {
		if (!sema_const_bool(cx, s->u.ifs.cond, &c)) return;
		if (c) host_block(x, s->u.ifs.then, out);
		else if (s->u.ifs.other) host_stmt(x, s->u.ifs.other, out);
		return;
	}
	SymVal v = sema_sym(cx, s->u.ifs.cond);
	if (v.sym && v.elem != EL_BOOL) report_where_kind(cx, s->u.ifs.cond);
	Facts *outer = cx->facts;
	cx->facts = facts_new(outer, A_UNIT);
	if (v.sym && v.elem == EL_BOOL) facts_assume(cx->facts, v.sym);
	h->u.ifs.cond = v.sym;
	host_block(x, s->u.ifs.then, &h->u.ifs.then);
	cx->facts = facts_new(outer, A_UNIT);
	if (v.sym && v.elem == EL_BOOL) facts_assume(cx->facts, sym_logic(SYM_NOT, v.sym, NULL));
	if (s->u.ifs.other) host_stmt(x, s->u.ifs.other, &h->u.ifs.other);
	cx->facts = outer;
	if (v.sym) vec_push(A_UNIT, out, h);
}

/* k[grid](x, y), as Triton launches. */
static void say_own_grid(Cx *cx, const Expr *call)
{
	const Expr *index = call->u.call.callee;
	Diag *d = cx_diag(cx, D_ENTRY_STMT, call->span, "an expression");
	diag_help(d, "the grid is the kernel's own, and a launch is `%s(...)`", sema_source(index->u.idx.base));
	diag_edit(d, (Span){ index->u.idx.base->span.hi, index->span.hi }, "");
}

static void host_call(EntryCx *x, const Stmt *s, HostVec *out)
{
	const Expr *e = s->u.e;
	if (e->kind == EX_ERROR) return;
	const Expr *f = e->kind == EX_CALL ? e->u.call.callee : NULL;
	bool check = f && f->kind == EX_NAME && (strcmp(f->u.name, "static_assert") == 0
		|| strcmp(f->u.name, "static_print") == 0);
	if (check) sema_expr(x->cx, e, NULL);
	else if (f && (f->kind == EX_NAME || f->kind == EX_MEMBER)) launch(x, e, out);
	else if (f && f->kind == EX_INDEX && names_kernel(x->cx, f->u.idx.base)) say_own_grid(x->cx, e);
	else say_launches_only(x->cx, e->span, "an expression");
}

static void host_stmt(EntryCx *x, const Stmt *s, HostVec *out)
{
	for (int i = 0; i < s->attrs.n; i++)
		cx_diag(x->cx, D_ATTR, s->attrs.p[i].span, s->attrs.p[i].name.s, "cannot stand in an entry");
	switch (s->kind) {
	case ST_ERROR: break;
	case ST_EXPR: host_call(x, s, out); break;
	case ST_SCRATCH: scratch(x, s, out); break;
	case ST_LET: host_let(x, s); break;
	case ST_CONST: scope_add_sv(x->cx, s->u.item->name, constant_eval(x->cx, s->u.item, NULL))->local = true; break;
	case ST_IF: host_if(x, s, out); break;
	case ST_BLOCK: host_block(x, s->u.block, out); break;
	case ST_VAR: say_launches_only(x->cx, s->span, "a variable"); break;
	case ST_ASSIGN: say_launches_only(x->cx, s->span, "an assignment"); break;
	case ST_FOR: case ST_WHILE: say_launches_only(x->cx, s->span, "a loop"); break;
	case ST_RETURN: say_launches_only(x->cx, s->span, "`return`"); break;
	case ST_BREAK: case ST_CONTINUE: say_launches_only(x->cx, s->span, "a jump"); break;
	case ST_UNSAFE: say_launches_only(x->cx, s->span, "`unsafe`"); break;
	}
}

static void host_block(EntryCx *x, const Block *b, HostVec *out)
{
	scope_open(x->cx);
	for (int i = 0; b && i < b->stmts.n; i++) host_stmt(x, b->stmts.p[i], out);
	scope_close(x->cx);
}

/* ---- the entry itself ---- */
static void entry_params(EntryCx *x, const FnItem *f, IrParam *p, Elem (*elem)[TENSOR_RANK])
{
	for (int i = 0; i < f->params.n; i++) {
		const Param *q = &f->params.p[i];
		const View *v = p[i].is_tensor ? tensor_view(&p[i], NULL, elem[i]) : NULL;
		const Sym *sym = NULL;
		Val *val = v ? NULL : ir_arg(x->cx->fn->body, type_scalar(p[i].elem), q->name.s);
		if (!v && elem_is_integral(p[i].elem)) sym = sym_atom(ATOM_PARAM, q->name.s, 0);
		bind_param(x->cx, q, v ? sv_view(v, q->name.span) : sv_val(val, q->name.span), sym);
		if (q->dflt) cx_diag(x->cx, D_KERNEL_DEFAULT, q->dflt->span, q->name.s);
		vec_push(A_UNIT, &x->tensor, v);
		vec_push(A_UNIT, &x->e->params, p[i]);
	}
}

static void entry_build(Sema *s, Global *g)
{
	const Item *it = g->item;
	const FnItem *f = &it->u.fn;
	int n = f->params.n;
	EntryCx x = { .cx = cx_new(s, g->unit, it, it->name.s), .e = NEW(A_UNIT, Entry) };
	IrParam *p = NEW_ARRAY(A_UNIT, IrParam, n);
	Elem (*elem)[TENSOR_RANK] = arena_array(A_TMP, (size_t)n, sizeof *elem);
	DimVec dims = { 0 }, strides = { 0 };
	WhereVec where = { 0 };
	TensorCx t = { x.cx, &dims, &strides, &where };
	bool bad = false, pruned = false;
	x.e->name = it->name.s;
	x.e->doc = it->doc;
	x.e->span = it->name.span;
	scope_open(x.cx);
	for (int i = 0; i < n; i++) {
		p[i].name = f->params.p[i].name.s;
		p[i].doc = f->params.p[i].doc;
		p[i].span = f->params.p[i].name.span;
		if (!type_is_tensor(f->params.p[i].type)) bad |= !scalar_param(x.cx, &f->params.p[i], &p[i]);
	}
	tensors_resolve(&t, f, p, elem, &bad);
	if (bad) return;
	entry_params(&x, f, p, elem);
	wheres_read(x.cx, f, &dims, &where, &pruned, &bad);
	if (pruned) cx_diag(x.cx, D_INSTANCE_EMPTY, it->name.span, it->name.s);
	dims_order(x.cx, f, &dims);
	for (int i = 0; i < dims.n; i++) vec_push(A_UNIT, &x.e->dims, dims.p[i]);
	for (int i = 0; i < strides.n; i++) vec_push(A_UNIT, &x.e->dims, strides.p[i]);
	for (int i = 0; i < where.n; i++) vec_push(A_UNIT, &x.e->where, where.p[i]);
	for (int i = 0; i < it->attrs.n; i++)
		cx_diag(x.cx, D_ATTR, it->attrs.p[i].span, it->attrs.p[i].name.s, "cannot stand before an entry");
	host_block(&x, f->body, &x.e->body);
	scope_close(x.cx);
	if (diag_errors() == 0) unwritten_report(x.e);
	vec_push(A_UNIT, &s->mod->entries, x.e);
}

/* ---- which kernels are entries of their own ---- */
static void mark(const Unit *u, const Expr *callee)
{
	Global *g = NULL;
	if (callee->kind == EX_NAME) g = unit_find(u, callee->u.name, NULL);
	if (g && g->item->kind == IT_KERNEL) g->used = true;
}

static void mark_block(const Unit *u, const Block *b);

static void mark_stmt(const Unit *u, const Stmt *s)
{
	if (s->kind == ST_EXPR && s->u.e->kind == EX_CALL) mark(u, s->u.e->u.call.callee);
	if (s->kind == ST_BLOCK) mark_block(u, s->u.block);
	if (s->kind != ST_IF) return;
	mark_block(u, s->u.ifs.then);
	if (s->u.ifs.other) mark_stmt(u, s->u.ifs.other);
}

static void mark_block(const Unit *u, const Block *b)
{
	for (int i = 0; b && i < b->stmts.n; i++) mark_stmt(u, b->stmts.p[i]);
}

static void mark_used(const Unit *u)
{
	for (int i = 0; i < u->globals.n; i++) {
		const Item *it = u->globals.p[i]->item;
		Global *g = NULL;
		if (it->kind == IT_INSTANCE || it->kind == IT_TUNE)
			g = it->u.inst.module.s ? NULL : unit_find(u, it->u.inst.target.s, NULL);
		if (g) g->used = true;
		if (it->kind == IT_ENTRY) mark_block(u, it->u.fn.body);
	}
}

/* The C functions of an entry f are f, f_workspace and f_ws. */
static void check_names(const Sema *s)
{
	Map names = { 0 };
	for (int i = 0; i < s->mod->entries.n; i++) map_put(&names, s->mod->entries.p[i]->name, s->mod->entries.p[i]);
	for (int i = 0; i < s->mod->entries.n; i++) {
		const Entry *e = s->mod->entries.p[i], *other = map_get(&names, str_fmt("%s_ws", e->name));
		if (!other) other = map_get(&names, str_fmt("%s_workspace", e->name));
		if (!other) continue;
		Diag *d = diag(D_ENTRY_NAME, other->span, other->name, e->name);
		diag_label(d, e->span, "`%s` makes `%s`, `%s_ws` and `%s_workspace`", e->name, e->name, e->name, e->name);
	}
}

void entries_build(Sema *s)
{
	const Unit *u = s->units.p[0];
	mark_used(u);
	int n = u->globals.n;
	bool *own = NEW_ARRAY(A_TMP, bool, n);
	for (int i = 0; i < n; i++) {
		const Global *g = u->globals.p[i];
		own[i] = g->item->kind == IT_KERNEL && !g->used && has_defaults(g->item);
	}
	for (int i = 0; i < n && !diag_full(); i++) {
		Global *g = u->globals.p[i];
		if (own[i]) kernel_entry(s, g);
		else if (g->item->kind == IT_INSTANCE || g->item->kind == IT_TUNE) instance_entry(s, g);
		else if (g->item->kind == IT_ENTRY) entry_build(s, g);
	}
	check_names(s);
}
