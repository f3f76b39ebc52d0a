/* Instances: values for a kernel's generic parameters, sets of them as variants in
 * lexicographic order, `where` to prune. */
#include "sema/scope.h"

typedef struct Choice { int var; VEC(Sv) v; } Choice;   /* values of one generic parameter */
typedef struct Choices { Cx *cx; Global *kernel; VEC(Choice) c; } Choices;

static Global *target_kernel(Cx *cx, const Item *it)
{
	Name t = it->u.inst.target, m = it->u.inst.module;
	bool bad = false;
	Global *g;
	if (m.s) {
		Unit *u = unit_module(cx->unit, m.s);
		if (!u) {
			unknown_name(cx, m.s, m.span);
			return NULL;
		}
		g = map_get(&u->names, t.s);
		if (!g) cx_diag(cx, D_MODULE_MEMBER, t.span, src_mapped(u->path), t.s);
	} else {
		g = scope_global(cx, t.s, t.span, &bad);
		if (!g && !bad) unknown_name(cx, t.s, t.span);
	}
	if (!g || g->item->kind == IT_KERNEL) return g;
	Diag *d = cx_diag(cx, D_INSTANCE_TARGET, t.span, t.s);
	diag_label(d, g->item->name.span, "declared here");
	return NULL;
}

static bool add_value(Choices *s, Choice *c, const SolveVar *p, const Expr *e)
{
	Sv v = solve_value(s->cx, p, e);
	if (sv_bad(v)) return false;
	Solve *test = solve_new(s->kernel->item, s->kernel->unit, false);
	Cx *at = cx_new(s->cx->s, s->kernel->unit, s->kernel->item, s->kernel->name);
	scope_open(at);
	bool ok = solve_set(at, test, c->var, v, e->span);
	scope_close(at);
	if (ok) vec_push(A_UNIT, &c->v, test->var.p[c->var].val);
	return ok;
}

static void unknown_generic(Cx *cx, const Solve *vars, Name n)
{
	Near near;
	near_begin(&near, n.s);
	for (int i = 0; i < vars->var.n; i++) near_offer(&near, vars->var.p[i].name.s);
	Diag *d = cx_diag(cx, D_GENERIC_UNKNOWN, n.span, vars->fname, n.s);
	for (int i = 0; i < vars->var.n; i++) diag_label(d, vars->var.p[i].name.span, "a generic parameter");
	diag_ask(d, near.best);
	Str list = NULL;
	for (int i = 0; i < vars->var.n; i++)
		list = list ? str_fmt("%s, `%s`", list, vars->var.p[i].name.s) : str_fmt("`%s`", vars->var.p[i].name.s);
	if (!near.best && list) diag_help(d, "its generic parameters are %s", list);
}

/* Variants share one C function: only numbers and bools may differ between them. */
static bool values_only(Cx *cx, const Choice *c, const Expr *set)
{
	Int i;
	bool b;
	for (int k = 0; k < c->v.n; k++) {
		if (sv_get_int(c->v.p[k], &i) || sv_get_bool(c->v.p[k], &b)) continue;
		Diag *d = cx_diag(cx, D_SET_TYPES, set->u.list.p[k]->span, sema_source(set->u.list.p[k]));
		diag_help(d, "each takes an `instance` of its own");
		return false;
	}
	return true;
}

static void too_many_generics(const Choices *s, const Solve *vars, Span at, int given)
{
	Diag *d = cx_diag(s->cx, D_GENERIC_COUNT, at, s->kernel->name, str_i64(vars->var.n), str_i64(given));
	Str names = str_intern("");
	for (int i = 0; i < vars->var.n; i++) names = str_fmt("%s%s`%s`", names, i ? ", " : "", vars->var.p[i].name.s);
	if (vars->var.n) diag_help(d, "they are, in their order, %s", names);
	else diag_help(d, "what instances choose is declared after the kernel's name, as in `%s<N: int>`", s->kernel->name);
}

static bool add_choice(Choices *s, const Solve *vars, const Arg *a, int position)
{
	Cx *cx = s->cx;
	int i = a->name.s ? solve_index(vars, a->name.s) : position;
	if (i < 0 || i >= vars->var.n) {
		if (a->name.s) unknown_generic(cx, vars, a->name);
		else too_many_generics(s, vars, a->value->span, position + 1);
		return false;
	}
	for (int k = 0; k < s->c.n; k++) {
		if (s->c.p[k].var != i) continue;
		cx_diag(cx, D_ARG_TWICE, a->name.s ? a->name.span : a->value->span, vars->var.p[i].name.s);
		return false;
	}
	Choice c = { .var = i };
	bool ok = true, set = a->value->kind == EX_SET;
	for (int k = 0; k < (set ? a->value->u.list.n : 1); k++)
		ok &= add_value(s, &c, &vars->var.p[i], set ? a->value->u.list.p[k] : a->value);
	if (set && ok && !values_only(cx, &c, a->value)) return false;
	vec_push(A_UNIT, &s->c, c);
	return ok;
}

static bool read_choices(Choices *s, const Item *it, const Solve *vars)
{
	bool ok = true, named = false;
	for (int i = 0; i < it->u.inst.args.n; i++) {
		const Arg *a = &it->u.inst.args.p[i];
		named |= a->name.s != NULL;
		if (named && !a->name.s) {
			cx_diag(s->cx, D_EXPR_PLACE, a->value->span, "an unnamed argument after named ones");
			ok = false;
			continue;
		}
		ok &= add_choice(s, vars, a, i);
	}
	return ok;
}

/* Values of the given and the default parameters; false: pruned or wrong. */
static bool complete(Sema *s, const Item *it, Global *kernel, Solve *v, bool *bad)
{
	Cx *cx = cx_new(s, kernel->unit, kernel->item, kernel->name);
	scope_open(cx);
	bool ok = solve_finish(cx, v, it->name.span);
	scope_close(cx);
	*bad |= !ok;
	return ok;
}

static bool pruned(Choices *c, const Item *it, const Solve *v, bool *bad)
{
	Cx *cx = c->cx;
	bool out = false;
	scope_open(cx);
	for (int i = 0; i < v->var.n; i++) scope_add_sv(cx, (Name){ v->var.p[i].name.s, { 0, 0 } }, v->var.p[i].val);
	for (int i = 0; i < it->u.inst.where.n; i++) {
		bool yes = true;
		*bad |= !sema_const_bool(cx, it->u.inst.where.p[i], &yes);
		out |= !yes;
	}
	scope_close(cx);
	return out;
}

enum { MAX_VARIANTS = 1024 };

static bool count_variants(Choices *c, const Item *it)
{
	int64_t n = 1;
	for (int i = 0; i < c->c.n; i++) n *= c->c.p[i].v.n > 0 && n <= MAX_VARIANTS ? c->c.p[i].v.n : 1;
	if (n <= MAX_VARIANTS) return true;
	cx_diag(c->cx, D_VARIANT_COUNT, it->name.span, it->name.s, str_i64(MAX_VARIANTS));
	return false;
}

/* The next combination, the last set fastest; false: all done. */
static bool advance(const Choices *c, int *at)
{
	for (int i = c->c.n - 1; i >= 0; i--) {
		if (++at[i] < c->c.p[i].v.n) return true;
		at[i] = 0;
	}
	return false;
}

/* ---- what all variants share: one C function, so one list of parameters ---- */
static Str listed(const Sym *const *s, int n)
{
	Out *o = out_new();
	out_puts(o, "[");
	for (int i = 0; i < n; i++) out_printf(o, "%s%s", i ? ", " : "", sym_text(s[i]));
	out_puts(o, "]");
	return out_take(o);
}

static bool same_syms(const Sym *const *a, const Sym *const *b, int n)
{
	for (int i = 0; i < n; i++)
		if (a[i] != b[i]) return false;
	return true;
}

/* What differs between two types of a parameter, one text for each; false: nothing. */
static bool param_differs(const IrParam *a, const IrParam *b, Str *ta, Str *tb)
{
	*ta = elem_name(a->elem);
	*tb = elem_name(b->elem);
	if (a->is_tensor && !same_syms(a->extent, b->extent, a->rank)) {
		*ta = str_fmt("tensor<%s, %s>", *ta, listed(a->extent, a->rank));
		*tb = str_fmt("tensor<%s, %s>", *tb, listed(b->extent, b->rank));
		return true;
	}
	if (a->is_tensor && !same_syms(a->stride, b->stride, a->rank)) {
		*ta = str_fmt("a tensor with the strides %s", listed(a->stride, a->rank));
		*tb = str_fmt("one with the strides %s", listed(b->stride, b->rank));
		return true;
	}
	return a->elem != b->elem;
}

static const char *dim_kind(const IrDim *d)
{
	return d->def ? sym_text(d->def) : d->is_stride ? "a stride that is given" : d->elem == EL_I64
		? "a number of type i64 that is given"
		: "a number that is given";
}

static bool dim_differs(const IrDim *a, const IrDim *b)
{
	return a->name != b->name || a->elem != b->elem || a->is_stride != b->is_stride || a->def != b->def;
}

/* The header states the first variant's shapes and the launcher checks memory by them, whichever variant it runs. */
static bool agrees(Cx *cx, const Item *it, const Fn *first, const Fn *fn)
{
	Str name = NULL, a = NULL, b = NULL;
	Span at = fn->span;
	for (int i = 0; !name && i < fn->params.n; i++) {
		if (!param_differs(&first->params.p[i], &fn->params.p[i], &a, &b)) continue;
		name = fn->params.p[i].name;
		at = fn->params.p[i].span;
	}
	for (int i = 0; !name && i < fn->dims.n && i < first->dims.n; i++) {
		if (!dim_differs(&first->dims.p[i], &fn->dims.p[i])) continue;
		name = fn->dims.p[i].name;
		at = fn->dims.p[i].span;
		a = dim_kind(&first->dims.p[i]);
		b = dim_kind(&fn->dims.p[i]);
	}
	if (!name) return true;
	Diag *d = cx_diag(cx, D_VARIANTS_DIFFER, it->name.span, name, a, first->name, b, fn->name);
	diag_label(d, at, "`%s` stands here", name);
	diag_help(d, "variants share one C function: write an `instance` for each");
	return false;
}

static void add_variant(Sema *s, const Item *it, Variants *out, Global *kernel, Solve *v, Span at, Solve **first)
{
	Fn *fn = kernel_variant(s, kernel, v, it, at, &out->bad);
	if (!fn) return;
	if (out->fn.n && !agrees(cx_new(s, kernel->unit, kernel->item, kernel->name), it, out->fn.p[0], fn)) {
		out->bad = true;
		return;
	}
	if (!out->fn.n && first) *first = v;
	vec_push(A_UNIT, &out->fn, fn);
}

Variants instance_variants(Sema *s, Global *g, Global **kernel, Solve **first)
{
	Variants out = { 0 };
	const Item *it = g->item;
	Choices c = { .cx = cx_new(s, g->unit, it, it->name.s) };
	scope_open(c.cx);
	*kernel = c.kernel = target_kernel(c.cx, it);
	out.bad = !c.kernel;
	if (!c.kernel) return out;
	c.kernel->used = true;
	const Solve *vars = solve_new(c.kernel->item, c.kernel->unit, false);
	out.bad = !read_choices(&c, it, vars) || !count_variants(&c, it);
	int *at = NEW_ARRAY(A_TMP, int, c.c.n);
	for (bool more = !out.bad; more && !out.bad; more = advance(&c, at)) {
		Solve *v = solve_new(c.kernel->item, c.kernel->unit, false);
		for (int i = 0; i < c.c.n; i++) v->var.p[c.c.p[i].var].val = c.c.p[i].v.p[at[i]];
		if (!complete(s, it, c.kernel, v, &out.bad) || pruned(&c, it, v, &out.bad)) continue;
		add_variant(s, it, &out, c.kernel, v, it->name.span, first);
	}
	if (!out.bad && !out.fn.n) cx_diag(c.cx, D_INSTANCE_EMPTY, it->name.span, it->name.s);
	out.bad |= !out.fn.n;
	return out;
}

bool has_defaults(const Item *kernel)
{
	for (int i = 0; i < kernel->u.fn.generics.n; i++)
		if (!kernel->u.fn.generics.p[i].dflt) return false;
	return true;
}

Variants default_variants(Sema *s, Global *kernel, Solve **first)
{
	Variants out = { 0 };
	Solve *v = solve_new(kernel->item, kernel->unit, false);
	if (complete(s, kernel->item, kernel, v, &out.bad))
		add_variant(s, kernel->item, &out, kernel, v, kernel->item->name.span, first);
	if (!out.bad && !out.fn.n) diag(D_INSTANCE_EMPTY, kernel->item->name.span, kernel->name);
	out.bad |= !out.fn.n;
	return out;
}
