/* Generic parameters: their classes, what arguments say about them, defaults. A call or an instance fills a Solve, then
 * binds its values as names of the new frame. */
#include "sema/build.h"
#include "sema/scope.h"

#include <string.h>

/* ---- collecting the parameters ---- */
static void solve_add(Solve *s, Name n, const Expr *class_, const Expr *dflt)
{
	SolveVar v = { .name = n, .class_ = class_, .dflt = dflt };
	v.val = sv_none(n.span);
	vec_push(A_UNIT, &s->var, v);
}

int solve_index(const Solve *s, Str name)
{
	for (int i = 0; i < s->var.n; i++)
		if (s->var.p[i].name.s == name) return i;
	return -1;
}

/* A free capital name in a parameter's type is a generic parameter of any kind. */
static void add_implicit(Solve *s, const Expr *e)
{
	switch (e->kind) {
	case EX_NAME:
		if (name_is_upper(e->u.name) && solve_index(s, e->u.name) < 0 && !unit_find(s->unit, e->u.name, NULL))
			solve_add(s, (Name){ e->u.name, e->span }, NULL, NULL);
		break;
	case EX_TYPE:
		for (int i = 0; i < e->u.type.args.n; i++) add_implicit(s, e->u.type.args.p[i].value);
		break;
	case EX_LIST: case EX_TUPLE:
		for (int i = 0; i < e->u.list.n; i++) add_implicit(s, e->u.list.p[i]);
		break;
	case EX_UNARY: add_implicit(s, e->u.un.x); break;
	case EX_BINARY:
		add_implicit(s, e->u.bin.l);
		add_implicit(s, e->u.bin.r);
		break;
	case EX_CALL:
		for (int i = 0; i < e->u.call.args.n; i++) add_implicit(s, e->u.call.args.p[i].value);
		break;
	default: break;
	}
}

Solve *solve_new(const Item *it, Unit *u, bool implicit)
{
	Solve *s = NEW(A_UNIT, Solve);
	s->fn = &it->u.fn;
	s->fname = it->name.s;
	s->unit = u;
	for (int i = 0; i < s->fn->generics.n; i++) {
		const Generic *g = &s->fn->generics.p[i];
		solve_add(s, g->name, g->class_, g->dflt);
	}
	for (int i = 0; implicit && i < s->fn->params.n; i++)
		if (s->fn->params.p[i].type) add_implicit(s, s->fn->params.p[i].type);
	return s;
}

/* ---- classes ---- */
static bool elem_in_class(Elem e, Str c)
{
	if (elem_is_ptr(e) || e == EL_VOID) return false;
	switch (c[0]) {
	case 'f': return elem_is_float(e);
	case 'a': return strcmp(c, "arith") == 0 ? elem_is_arith(e) : elem_is_any_float(e);
	case 'i': return elem_is_integral(e);
	case 's': return elem_is_int(e) && elem_is_signed(e);
	case 'u': return elem_is_int(e) && !elem_is_signed(e);
	default: return elem_is_numeric(e);
	}
}

static bool class_is(const Expr *c, const char *word)
{
	return c && c->kind == EX_NAME && strcmp(c->u.name, word) == 0;
}

/* Whether v belongs to the class; *ok false: the class itself is wrong, reported. */
static bool in_class(Cx *cx, const Expr *c, Sv v, bool *ok)
{
	Int i;
	bool b;
	if (!c || class_is(c, "any")) return true;
	if (class_is(c, "int")) return sv_get_int(v, &i);
	if (class_is(c, "bool")) return sv_get_bool(v, &b);
	if (class_is(c, "shape")) return v.kind == SV_SHAPE;
	if (c->kind == EX_ALT) {
		for (int k = 0; k < c->u.list.n; k++) {
			const Expr *one = c->u.list.p[k];        /* among types bool is one */
			if (class_is(one, "bool") ? v.kind == SV_TYPE && v.type == type_scalar(EL_BOOL) : in_class(cx, one, v, ok))
				return true;
		}
		return false;
	}
	if (c->kind == EX_NAME && name_is_class(c->u.name))
		return v.kind == SV_TYPE && v.type->kind == TY_SCALAR && elem_in_class(v.type->elem, c->u.name);
	Sv t = sema_type(cx, c);
	if (sv_bad(t)) *ok = false;
	return t.kind == SV_TYPE && v.kind == SV_TYPE && t.type == v.type;
}

bool solve_set(Cx *cx, Solve *s, int i, Sv v, Span at)
{
	SolveVar *p = &s->var.p[i];
	bool ok = true;
	Int n;
	if (sv_bad(v)) return false;
	if (class_is(p->class_, "int") && sv_get_int(v, &n)) v = sv_int(n, at);
	if (!p->class_ && v.kind == SV_CONST && sv_get_int(v, &n)) v = sv_int(n, at);
	if (p->val.kind != SV_NONE) {
		if (sv_equal(p->val, v)) return true;
		Diag *d = cx_diag(cx, D_GENERIC_CONFLICT, at, p->name.s, s->fname, sv_value_text(p->val), sv_value_text(v));
		if (p->from.hi) diag_label(d, p->from, "`%s` is %s here", p->name.s, sv_value_text(p->val));
		diag_label(d, at, "and %s here", sv_value_text(v));
		if (v.kind == SV_TYPE)
			diag_help(d, "`element_cast` gives both one type; else the function has a generic parameter for each");
		else diag_help(d, "arguments that differ need a generic parameter for each");
		return false;
	}
	if (!in_class(cx, p->class_, v, &ok)) {
		if (!ok) return false;
		Diag *d = cx_diag(cx, D_GENERIC_CLASS, at, p->name.s, s->fname, sema_source(p->class_), sv_value_text(v));
		diag_label(d, p->name.span, "declared here");
		diag_help(d, "`%s` takes what its class lists", p->name.s);
		return false;
	}
	p->val = v;
	p->from = at;
	return true;
}

/* A class that there is not, with the nearest there is. */
static bool class_known(Cx *cx, const Expr *c)
{
	Elem e;
	bool bad;
	Near n;
	if (!c || c->kind != EX_NAME || name_is_class(c->u.name) || elem_by_name(c->u.name, &e)) return true;
	near_begin(&n, c->u.name);
	classes_offer(&n);
	if (!n.best || scope_find(cx, c->u.name) || scope_global(cx, c->u.name, c->span, &bad)) return true;
	Diag *d = cx_diag(cx, D_NAME_UNKNOWN, c->span, c->u.name);
	diag_ask(d, n.best);
	return false;
}

/* The generic parameters of an item as they are declared, whether anything gives them values or not. */
void generics_check(Cx *cx, const FnItem *f)
{
	for (int i = 0; i < f->generics.n; i++) {
		const Generic *g = &f->generics.p[i];
		bool ok = true;
		if (!name_is_upper(g->name.s)) {
			Diag *d = cx_diag(cx, D_GENERIC_NAME, g->name.span, g->name.s);
			diag_note(d, "in shapes a small first letter marks a dimension, known at the launch");
			diag_help(d, "call it `%c%s`", g->name.s[0] >= 'a' && g->name.s[0] <= 'z' ? g->name.s[0] - 32 : 'T',
				g->name.s + 1);
		}
		for (int k = 0; k < i; k++) {
			if (f->generics.p[k].name.s != g->name.s) continue;
			Diag *d = cx_diag(cx, D_NAME_TWICE, g->name.span, g->name.s);
			diag_label(d, f->generics.p[k].name.span, "`%s` is declared here first", g->name.s);
		}
		if (class_known(cx, g->class_)) in_class(cx, g->class_, sv_none(g->name.span), &ok);
	}
}

/* A value written for a generic parameter: a type, a number, a condition or a shape, by its class. */
Sv solve_value(Cx *cx, const SolveVar *p, const Expr *e)
{
	const Expr *c = p->class_;
	Shape shape;
	if (class_is(c, "shape") || (e->kind == EX_LIST && !c))
		return sema_shape(cx, e, false, &shape) ? sv_shape(shape, e->span) : sv_poison(e->span);
	if (e->kind == EX_TYPE) return sema_type(cx, e);
	Sv v = sema_expr(cx, e, NULL);
	if (sv_bad(v) || v.kind == SV_TYPE || v.kind == SV_SHAPE || v.kind == SV_INT || v.kind == SV_CONST) return v;
	if (c && v.kind == SV_FLOAT) return v;  /* no class has it */
	Diag *d = cx_diag(cx, D_NOT_CONST, e->span, sema_source(e));
	if (e->kind == EX_LIST) {
		Str set = str_fmt("{%s}", src_of(e->span) ? str_intern_n(src_of(e->span)->text
			+ (e->span.lo + 1 - src_of(e->span)->base), e->span.hi - e->span.lo - 2) : "");
		diag_help(d, "a set of variants stands in braces: write `%s`", set);
		diag_edit(d, e->span, set);
	}
	return sv_poison(e->span);
}

/* ---- inference ---- */
static bool infer_name(Cx *cx, Solve *s, const Expr *e, Sv v)
{
	int i = e->kind == EX_NAME ? solve_index(s, e->u.name) : -1;
	return i < 0 || solve_set(cx, s, i, v, v.span);
}

static bool infer_shape(Cx *cx, Solve *s, const Expr *e, const Type *t, Span at)
{
	Shape shape = { .rank = t->rank, .hole = -1 };
	memcpy(shape.log2, t->log2, sizeof shape.log2);
	if (e->kind == EX_NAME) return infer_name(cx, s, e, sv_shape(shape, at));
	if (e->kind != EX_LIST) return true;
	for (int i = 0; i < t->rank; i++)
		if (!infer_name(cx, s, e->u.list.p[i], sv_int((Int)1 << t->log2[i], at))) return false;
	return true;
}

static bool infer_elem(Cx *cx, Solve *s, const Expr *e, Elem elem, Span at)
{
	bool ptr = e->kind == EX_TYPE && e->u.type.name.s == str_intern("ptr") && e->u.type.args.n == 1;
	if (ptr && elem_is_ptr(elem)) return infer_elem(cx, s, e->u.type.args.p[0].value, elem_pointee(elem), at);
	return infer_name(cx, s, e, sv_type(type_scalar(elem), at));
}

static bool wrong_kind(Cx *cx, const Solve *s, const Param *p, Sv arg)
{
	Diag *d = cx_diag(cx, D_ARG_KIND, arg.span, p->name.s, s->fname, sema_source(p->type), sv_what(arg));
	diag_label(d, p->span, "declared here");
	if (arg.kind == SV_VIEW && !type_is_tensor(p->type))
		diag_help(d, "`%s.load(...)` loads a tile from it", span_source(arg.span));
	bool views = arg.kind == SV_VIEW && type_is_tensor(p->type) && p->type->u.type.args.n >= 2;
	const Expr *shape = views ? p->type->u.type.args.p[1].value : NULL;
	if (shape && shape->kind == EX_LIST && shape->u.list.n < arg.u.view->rank)
		diag_help(d, "an index for some dimensions and `:` for others, as in `t[0, :]`, is a view of lower rank");
	const ArgVec *targs = p->type->kind == EX_TYPE ? &p->type->u.type.args : NULL;
	const Expr *extents = targs && !views && targs->n == 2 ? targs->p[1].value : NULL;
	if (extents && extents->kind == EX_LIST && sv_is_tile(arg)) help_squeeze(d, arg, extents->u.list.n, NULL);
	if (arg.kind == SV_FN || arg.kind == SV_OP)
		diag_help(d, "functions take values: a function is called in `%s` by its own name", s->fname);
	return false;
}

static bool infer_tile(Cx *cx, Solve *s, const Param *p, Sv arg)
{
	const ArgVec *a = &p->type->u.type.args;
	if (a->n != 2) return true;             /* reported when the type is resolved */
	const Expr *shape = a->p[1].value;
	if (sv_is_scalar(arg)) {
		if (shape->kind == EX_LIST && shape->u.list.n > 0) return wrong_kind(cx, s, p, arg);
		arg = conv_default(cx, arg);
		if (sv_bad(arg)) return false;
		const Type *t = type_tile(arg.type->elem, 0, arg.type->log2);
		return infer_elem(cx, s, a->p[0].value, t->elem, arg.span) && infer_shape(cx, s, shape, t, arg.span);
	}
	if (!sv_is_tile(arg)) return wrong_kind(cx, s, p, arg);
	if (shape->kind == EX_LIST && shape->u.list.n != arg.type->rank) return wrong_kind(cx, s, p, arg);
	return infer_elem(cx, s, a->p[0].value, arg.type->elem, arg.span) && infer_shape(cx, s, shape, arg.type, arg.span);
}

/* ---- dimensions of tensor parameters of functions ---- */
static bool same_extent(Cx *cx, const Sym *a, const Sym *b)
{
	return a == b || facts_eq(cx->facts, a, b);
}

static bool dim_conflict(Cx *cx, const Solve *s, const SolveDim *d, const Sym *sym, Span at)
{
	Diag *g = cx_diag(cx, D_GENERIC_CONFLICT, at, d->name.s, s->fname, sym_text(d->sym), sym_text(sym));
	diag_label(g, d->from, "`%s` is %s here", d->name.s, sym_text(d->sym));
	extent_remedy(g, cx->facts, d->sym, sym);
	return false;
}

static Val *dim_value(Cx *cx, const SolveDim *d)
{
	return d->val ? d->val : view_extent(cx, d->view, d->axis);
}

static bool infer_dim(Cx *cx, Solve *s, Name n, const View *v, int axis, Span at)
{
	for (int i = 0; i < s->dim.n; i++) {
		SolveDim *d = &s->dim.p[i];
		if (d->name.s != n.s) continue;
		const Sym *sym = v->dim[axis].sym;
		if (sym && d->sym) return same_extent(cx, d->sym, sym) || dim_conflict(cx, s, d, sym, at);
		if (cx->opt->checked) {
			Val *known = dim_value(cx, d), *extent = view_extent(cx, v, axis);
			Val *eq = ir_binary(&cx->b, OP_EQ, type_scalar(EL_BOOL), known, extent);
			build_check(cx, sv_val(eq, at), str_fmt("two lengths of `%s` differ", n.s), at);
		}
		return true;
	}
	vec_push(A_UNIT, &s->dim, ((SolveDim){ n, v->dim[axis].sym, NULL, v, axis, v->dim[axis].elem, at }));
	return true;
}

static bool infer_extent(Cx *cx, Solve *s, const Expr *e, const View *v, int axis, Span at)
{
	const Sym *sym = v->dim[axis].sym;
	int64_t c;
	if (e->kind == EX_DIM) return infer_dim(cx, s, e->u.dim.name, v, axis, at);
	if (e->kind != EX_NAME) return true;
	if (!name_is_upper(e->u.name)) return infer_dim(cx, s, (Name){ e->u.name, e->span }, v, axis, at);
	if (sym && sym_is_const(sym, &c)) return infer_name(cx, s, e, sv_int(c, at));
	return true;
}

static bool infer_tensor(Cx *cx, Solve *s, const Param *p, Sv arg)
{
	const ArgVec *a = &p->type->u.type.args;
	if (arg.kind != SV_VIEW || arg.u.view->kind != VK_TENSOR) return wrong_kind(cx, s, p, arg);
	if (a->n < 2 || a->p[1].value->kind != EX_LIST) return true;
	const ExprVec *l = &a->p[1].value->u.list;
	const View *v = arg.u.view;
	if (l->n != v->rank) return wrong_kind(cx, s, p, arg);
	if (!infer_elem(cx, s, a->p[0].value, v->elem, arg.span)) return false;
	for (int i = 0; i < l->n; i++)
		if (!infer_extent(cx, s, l->p[i], v, i, arg.span)) return false;
	return true;
}

/* pass 0: from tiles and memory; pass 1: what is still open, from scalars and from values as a whole. */
bool solve_param(Cx *cx, Solve *s, const Param *p, Sv arg, int pass)
{
	const Expr *type = p->type;
	if (!type || sv_bad(arg)) return !sv_bad(arg);
	bool written = type->kind == EX_TYPE;
	if (written && pass == 0) {
		if (type->u.type.name.s == str_intern("tile")) return infer_tile(cx, s, p, arg);
		if (type_is_tensor(type)) return infer_tensor(cx, s, p, arg);
		bool ptr = arg.type && arg.type->kind == TY_SCALAR && elem_is_ptr(arg.type->elem);
		return !ptr || arg.kind != SV_VAL || infer_elem(cx, s, type, arg.type->elem, arg.span);
	}
	if (written || type->kind != EX_NAME) return true;
	int i = solve_index(s, type->u.name);
	if (i < 0 || (sv_is_scalar(arg) && (pass == 0 || s->var.p[i].val.kind != SV_NONE))) return true;
	if (arg.kind != SV_VIEW && arg.kind != SV_TYPE) arg = conv_default(cx, arg);
	if (sv_bad(arg)) return false;
	if (arg.type && arg.kind != SV_TYPE) return solve_set(cx, s, i, sv_type(arg.type, arg.span), arg.span);
	return wrong_kind(cx, s, p, arg);
}

/* ---- binding ---- */
static bool fill_default(Cx *cx, Solve *s, int i, Span at)
{
	SolveVar *p = &s->var.p[i];
	if (p->dflt) return solve_set(cx, s, i, solve_value(cx, p, p->dflt), p->dflt->span);
	Diag *d = cx_diag(cx, D_GENERIC_INFER, at, p->name.s, s->fname);
	diag_label(d, p->name.span, "declared here");
	diag_help(d, "its value is given by name, as in `%s: ...`", p->name.s);
	return false;
}

static Sv dim_sv(Cx *cx, const SolveDim *d)
{
	int64_t c;
	if (d->view) return view_extent_sv(cx, d->view, d->axis, d->from);
	if (d->sym && sym_is_const(d->sym, &c)) return sv_int(c, d->from);
	if (d->sym) return sv_val(sema_launch(cx, d->elem, d->sym), d->from);
	return sv_val(d->elem == EL_I64 ? d->val : ir_unary(&cx->b, OP_CAST, type_scalar(d->elem), d->val), d->from);
}

static void bind_dims(Cx *cx, Solve *s)
{
	for (int i = 0; i < s->dim.n; i++) {
		const SolveDim *d = &s->dim.p[i];
		Bind *b = scope_add_sv(cx, d->name, dim_sv(cx, d));
		b->sym = d->sym;
		b->elem = d->elem;
		b->name = d->name.s;
	}
}

Str solve_values(const Solve *s)
{
	Out *o = out_new();
	for (int i = 0; i < s->var.n; i++)
		out_printf(o, "%s%s = %s", i ? "\n" : "", s->var.p[i].name.s, sv_value_text(s->var.p[i].val));
	return out_take(o);
}

bool solve_finish(Cx *cx, Solve *s, Span at)
{
	for (int i = 0; i < s->var.n; i++) {
		SolveVar *p = &s->var.p[i];
		if (p->val.kind == SV_NONE && !fill_default(cx, s, i, at)) return false;
		scope_add_sv(cx, p->name, p->val);
	}
	cx->frame->generic |= s->var.n > 0;
	if (s->var.n) cx->frame->values = solve_values(s);
	bind_dims(cx, s);
	return true;
}
