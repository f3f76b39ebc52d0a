/* What the type of a tensor parameter says of its argument: `[n, 2 * r]` with the layout that is written, if one is.
 *
 * A dimension that is a whole length has the argument's (generic.c). One that stands in an expression is solved for,
 * where the expression is linear in it and exactly one number fits: that the division leaves no rest and the number is
 * not negative has to be proved. Then all lengths and strides are compared. What is known at launch must be proved to
 * be equal; what is known at run time only is checked by --checked, and nothing is assumed of it, since a view keeps
 * its own extents. */
#include "sema/scope.h"

#include <string.h>

/* One length or stride as it is written, and what the argument has there. */
typedef struct Measure {
	const Param *p;
	const Expr *e;
	const View *v;
	int axis;
	bool stride;
	Span at;
} Measure;

typedef VEC(Measure) MeasureVec;

static const Expr *stride_list(const Expr *type)
{
	const ArgVec *a = &type->u.type.args;
	const Expr *l = a->n > 2 ? a->p[2].value : NULL;
	if (!l || l->kind != EX_TYPE || l->u.type.name.s != str_intern("layout_strided") || l->u.type.args.n != 1)
		return NULL;
	return l->u.type.args.p[0].value->kind == EX_LIST ? l->u.type.args.p[0].value : NULL;
}

static void add_measures(MeasureVec *out, const Param *p, const ExprVec *l, Sv arg, bool stride)
{
	for (int i = 0; i < l->n && i < arg.u.view->rank; i++)
		vec_push(A_TMP, out, ((Measure){ p, l->p[i], arg.u.view, i, stride, arg.span }));
}

static MeasureVec measures_of(const Solve *s, const Sv *args)
{
	MeasureVec out = { 0 };
	for (int i = 0; i < s->fn->params.n; i++) {
		const Param *p = &s->fn->params.p[i];
		if (args[i].kind != SV_VIEW || !type_is_tensor(p->type)) continue;
		const ArgVec *a = &p->type->u.type.args;
		const Expr *strides = stride_list(p->type);
		if (a->n >= 2 && a->p[1].value->kind == EX_LIST) add_measures(&out, p, &a->p[1].value->u.list, args[i], false);
		if (strides) add_measures(&out, p, &strides->u.list, args[i], true);
	}
	return out;
}

static const Sym *measured(const Measure *m)
{
	return m->stride ? m->v->dim[m->axis].ssym : m->v->dim[m->axis].sym;
}

/* ---- names without a value ---- */
static const SolveDim *dim_of(const Solve *s, Str name)
{
	for (int i = 0; i < s->dim.n; i++)
		if (s->dim.p[i].name.s == name) return &s->dim.p[i];
	return NULL;
}

typedef struct Open { const Solve *s; Name name; bool several, late; } Open;

/* ctx: an Open. */
static void look_at(void *ctx, Name n)
{
	Open *o = ctx;
	int k = solve_index(o->s, n.s);
	const SolveDim *d = dim_of(o->s, n.s);
	o->late |= d && !d->sym;
	if (k >= 0 ? o->s->var.p[k].val.kind != SV_NONE : d || name_is_upper(n.s)) return;
	o->several |= o->name.s && o->name.s != n.s;
	o->name = n;
}

/* ---- one unknown ---- */
static const Sym *replaced(void *ctx, const Sym *atom)
{
	const Sym *const *pair = ctx;
	return atom == pair[0] ? pair[1] : NULL;
}

static const Sym *at_value(const Sym *s, const Sym *x, int64_t v)
{
	const Sym *pair[2] = { x, sym_const(v) };
	return sym_subst(s, replaced, pair);
}

static void bind_length(Cx *cx, Str name, const Sym *s)
{
	Bind *b = scope_add(cx, BIND_DIM, (Name){ name, { 0, 0 } });
	b->sym = s;
	b->elem = EL_I64;
}

/* The expression with the unknown as an atom of its own; names of the argument's lengths mean the caller's, and may be
 * equal to those of the function. */
static const Sym *with_unknown(Cx *cx, const Solve *s, const Measure *m, Name name, const Sym *x)
{
	scope_open(cx);
	for (int i = 0; i < s->var.n; i++)
		if (s->var.p[i].val.kind != SV_NONE) scope_add_sv(cx, (Name){ s->var.p[i].name.s, { 0, 0 } }, s->var.p[i].val);
	for (int i = 0; i < s->dim.n; i++)
		if (s->dim.p[i].sym) bind_length(cx, s->dim.p[i].name.s, s->dim.p[i].sym);
	bind_length(cx, name.s, x);
	SymVal v = sema_sym(cx, m->e);
	scope_close(cx);
	return v.elem == EL_BOOL ? NULL : v.sym;
}

typedef enum Found { FOUND, NOT_LINEAR, IMPOSSIBLE, UNPROVED } Found;

/* x with by * x == rest. *need: what is not proved. */
static Found divided(const Facts *f, const Sym *rest, const Sym *by, const Sym **x, const Sym **need)
{
	int64_t k, c;
	bool fixed = sym_is_const(by, &k);
	if (fixed ? k == 0 || k == INT64_MIN : !facts_lt(f, sym_const(0), by)) return NOT_LINEAR;
	if (fixed && k < 0) {
		rest = sym_sub(sym_const(0), rest);
		by = sym_const(k = -k);
	}
	if (fixed && sym_is_const(rest, &c) && (c % k || c / k < 0)) return IMPOSSIBLE;
	*x = sym_div(rest, by);
	if (fixed && facts_gcd(f, rest) % k != 0) {
		*need = sym_cmp(SYM_EQ, sym_mod(rest, by), sym_const(0));
		return facts_fails(f, *need) ? IMPOSSIBLE : UNPROVED;
	}
	if (by->kind == SYM_ATOM) *x = at_value(rest, by, 1);
	if (!fixed && sym_mul(*x, by) != rest) return NOT_LINEAR;
	*need = sym_cmp(SYM_LE, sym_const(0), *x);
	if (facts_fails(f, *need)) return IMPOSSIBLE;
	return facts_holds(f, *need) ? FOUND : UNPROVED;
}

static Found solved(Cx *cx, const Facts *f, const Solve *s, const Measure *m, Name name, const Sym **x,
	const Sym **need)
{
	const Sym *atom = sym_atom(ATOM_DIM, str_intern("(unknown)"), 0), *is = measured(m);
	const Sym *want = is ? with_unknown(cx, s, m, name, atom) : NULL;
	if (!want) return NOT_LINEAR;
	const Sym *zero = at_value(want, atom, 0), *by = sym_sub(at_value(want, atom, 1), zero);
	if (want != sym_add(sym_mul(by, atom), zero)) return NOT_LINEAR;
	return divided(f, sym_sub(is, zero), by, x, need);
}

/* A length that is known at run time only, as a * x + b with numbers a and b: the quotient is computed there. */
static bool solved_late(Cx *cx, Solve *s, const Measure *m, Name name)
{
	const Sym *atom = sym_atom(ATOM_DIM, str_intern("(unknown)"), 0), *want = with_unknown(cx, s, m, name, atom);
	int64_t a, b;
	if (!want || !sym_is_const(at_value(want, atom, 0), &b)) return false;
	if (!sym_is_const(sym_sub(at_value(want, atom, 1), sym_const(b)), &a)) return false;
	if (a <= 0 || b == INT64_MIN || want != sym_add(sym_mul(sym_const(a), atom), sym_const(b))) return false;
	const Type *i64 = type_scalar(EL_I64);
	Val *v = m->stride ? view_stride(cx, m->v, m->axis) : view_extent(cx, m->v, m->axis);
	if (b) v = ir_binary(&cx->b, OP_SUB, i64, v, ir_const_num(&cx->b, i64, (Num){ .i = b }));
	if (a > 1) v = ir_binary(&cx->b, OP_DIV, i64, v, ir_const_num(&cx->b, i64, (Num){ .i = a }));
	Elem elem = m->stride ? EL_I64 : m->v->dim[m->axis].elem;
	vec_push(A_UNIT, &s->dim, ((SolveDim){ .name = name, .val = v, .elem = elem, .from = m->at }));
	return true;
}

static bool set_solved(Cx *cx, Solve *s, const Measure *m, Name name, const Sym *x)
{
	int k = solve_index(s, name.s);
	int64_t c;
	if (k >= 0 && !sym_is_const(x, &c)) return false;
	if (k >= 0) return solve_set(cx, s, k, sv_int(c, m->at), m->at);
	Elem elem = m->stride ? EL_I64 : m->v->dim[m->axis].elem;
	vec_push(A_UNIT, &s->dim, ((SolveDim){ .name = name, .sym = x, .elem = elem, .from = m->at }));
	return true;
}

/* The one name of m without a value; false: there is none, or several. */
static bool one_open(const Solve *s, const Measure *m, Open *o)
{
	*o = (Open){ .s = s };
	ast_length_names(m->e, look_at, o);
	return o->name.s && !o->several && !o->late;
}

bool extents_solve(Cx *cx, const Facts *f, Solve *s, const Sv *args)
{
	MeasureVec all = measures_of(s, args);
	int errors = diag_errors();
	for (bool more = true; more; ) {
		more = false;
		for (int i = 0; i < all.n; i++) {
			const Measure *m = &all.p[i];
			const Sym *x = NULL, *need = NULL;
			Open o;
			if (!one_open(s, m, &o)) continue;
			if (measured(m)) more |= solved(cx, f, s, m, o.name, &x, &need) == FOUND && set_solved(cx, s, m, o.name, x);
			else more |= solve_index(s, o.name.s) < 0 && solved_late(cx, s, m, o.name);
		}
	}
	return diag_errors() == errors;
}

static Str what_of(const Measure *m)
{
	return str_fmt("%sdimension %d of `%s`", m->stride ? "the stride of " : "", m->axis, m->p->name.s);
}

static void label_both(Diag *d, const Measure *m)
{
	diag_label(d, m->p->type->span, "`%s` is declared here", m->p->name.s);
	diag_label(d, m->at, "%s", sv_what(sv_view(m->v, m->at)));
}

bool extents_explain(Cx *cx, const Facts *f, Solve *s, const Sv *args, Str name)
{
	MeasureVec all = measures_of(s, args);
	for (int i = 0; i < all.n; i++) {
		const Measure *m = &all.p[i];
		const Sym *x = NULL, *need = NULL;
		Open o;
		if (!one_open(s, m, &o) || o.name.s != name || !measured(m)) continue;
		Found why = solved(cx, f, s, m, o.name, &x, &need);
		if (why == IMPOSSIBLE) {
			Diag *d = cx_diag(cx, D_EXTENT_IMPOSSIBLE, m->at, name, what_of(m), sema_source(m->e),
				sym_text(measured(m)));
			label_both(d, m);
			return true;
		}
		if (why != UNPROVED) continue;
		Diag *d = cx_diag(cx, D_EXTENT_UNPROVED, m->at, name, s->fname, sym_text(need), sema_source(m->e),
			sym_text(measured(m)));
		label_both(d, m);
		diag_help(d, "state it in the header, as in `where %s`", sym_text(need));
		return true;
	}
	return false;
}

/* Each dimension that a function's tensors mention has a value; else reported. What is said of generic parameters that
 * no argument has a value for is said elsewhere, unless there is a length that names it. */
bool extents_known(Cx *cx, Solve *s, const Sv *args)
{
	MeasureVec all = measures_of(s, args);
	for (int i = 0; i < all.n; i++) {
		Open o = { .s = s };
		ast_length_names(all.p[i].e, look_at, &o);
		int k = o.name.s ? solve_index(s, o.name.s) : -1;
		if (!o.name.s || (k >= 0 && s->var.p[k].dflt)) continue;
		if (extents_explain(cx, cx->facts, s, args, o.name.s)) return false;
		if (k >= 0) continue;
		Diag *d = cx_diag(cx, D_LAUNCH_DIM, all.p[i].at, o.name.s, s->fname);
		diag_label(d, all.p[i].e->span, "no length says what `%s` is", o.name.s);
		diag_help(d, "let another tensor have `%s` as a length of its own", o.name.s);
		return false;
	}
	return true;
}

/* ---- comparing ---- */
/* What a written type is of: a parameter of a function, a `let`, a result. */
typedef struct Written { const Expr *type; Str of; Str fn; Sv v; } Written;     /* fn: of a parameter; else NULL */

typedef struct Names { const Cx *cx; bool late, open; } Names;

/* ctx: a Names. */
static void see_name(void *ctx, Name name)
{
	Names *n = ctx;
	const Bind *b = scope_find(n->cx, name.s);
	n->open |= !b && !name_is_upper(name.s);
	n->late |= b && !b->sym && !(b->kind == BIND_SV && sv_is_static(b->sv));
}

/* `where is == want`: a name on the left where one is, and nothing where it could hold of special numbers at most. */
void extent_remedy(Diag *d, const Facts *f, const Sym *is, const Sym *want)
{
	bool turn = is->kind != SYM_ATOM && want->kind == SYM_ATOM;
	const Sym *l = turn ? want : is, *r = turn ? is : want;
	if (facts_fails(f, sym_cmp(SYM_EQ, l, r)) || (l->kind == SYM_ATOM && at_value(r, l, 0) != r)) return;
	diag_help(d, "state it in the header, as in `where %s == %s`", sym_text(l), sym_text(r));
}

static bool differs(Cx *cx, const Written *w, const Measure *m, const Sym *want)
{
	const Sym *is = measured(m);
	if (want == is || facts_eq(cx->facts, want, is)) return false;
	DiagCode code = m->stride ? D_LAUNCH_LAYOUT : D_LAUNCH_EXTENT;
	Str axis = str_i64(m->axis);
	Diag *d = w->fn ? cx_diag(cx, code, m->at, w->of, w->fn, sym_text(want), axis, sym_text(is))
		: cx_diag(cx, D_VIEW_EXTENT, m->at, w->of, m->stride ? "the stride" : "length", sym_text(want), axis,
		sym_text(is));
	diag_label(d, w->type->span, w->fn ? "`%s` is declared here" : "%s is written here", w->of);
	diag_label(d, m->at, "%s", sv_what(w->v));
	if (!m->stride) extent_remedy(d, cx->facts, is, want);
	else if (w->fn) diag_help(d, "a parameter of a function takes any strides where its type names no layout");
	return true;
}

/* --checked: the expression is computed where the names of the type are values. */
static bool check_late(Cx *cx, const Written *w, const Measure *m)
{
	if (!cx->opt->checked || m->e->kind == EX_DIM) return true;
	Sv v = sema_expr(cx, m->e, NULL);
	Val *is = m->stride ? view_stride(cx, m->v, m->axis) : view_extent(cx, m->v, m->axis);
	Val *want = sv_bad(v) ? NULL : conv_val(cx, conv_default(cx, v));
	if (!want || !type_is_scalar(want->type) || !elem_is_int(want->type->elem)) return want != NULL;
	if (want->type->elem != EL_I64) want = ir_unary(&cx->b, OP_CAST, type_scalar(EL_I64), want);
	Val *eq = ir_binary(&cx->b, OP_EQ, type_scalar(EL_BOOL), want, is);
	Str of = w->fn ? str_fmt("`%s` of `%s`", w->of, w->fn) : w->of;
	Str text = str_fmt("%sdimension %d of %s is not `%s`", m->stride ? "the stride of " : "", m->axis, of,
		sema_source(m->e));
	build_check(cx, sv_val(eq, m->at), text, m->at);
	return true;
}

/* Strides that follow from the lengths. */
static bool layout_fits(Cx *cx, const Written *w)
{
	TensorCx t = { cx, NULL, NULL, NULL };
	IrParam want = { .name = w->of, .span = w->type->span };
	Elem elem[TENSOR_RANK];
	if (!tensor_resolve(&t, w->type, MODE_IN, &want, elem)) return false;
	for (int i = 0; i < want.rank; i++) {
		Measure m = { NULL, NULL, w->v.u.view, i, true, w->v.span };
		if (measured(&m) && differs(cx, w, &m, want.stride[i])) return false;
	}
	return true;
}

static bool fits(Cx *cx, const Written *w)
{
	const ArgVec *a = &w->type->u.type.args;
	const Expr *strides = stride_list(w->type);
	MeasureVec all = { 0 };
	bool whole = true;
	if (a->n < 2 || a->p[1].value->kind != EX_LIST) return true;
	add_measures(&all, NULL, &a->p[1].value->u.list, w->v, false);
	if (strides) add_measures(&all, NULL, &strides->u.list, w->v, true);
	for (int i = 0; i < all.n; i++) {
		const Measure *m = &all.p[i];
		Names n = { .cx = cx };
		if (m->e->kind == EX_DIM) see_name(&n, m->e->u.dim.name);
		else ast_length_names(m->e, see_name, &n);
		n.late |= !measured(m);
		whole &= !n.open && !n.late;
		if (n.open) continue;
		if (n.late) {
			if (!check_late(cx, w, m)) return false;
			continue;
		}
		SymVal v = m->e->kind == EX_DIM ? (SymVal){ scope_find(cx, m->e->u.dim.name.s)->sym, EL_I64 }
			: sema_sym(cx, m->e);
		if (!v.sym || v.elem == EL_BOOL || differs(cx, w, m, v.sym)) return false;
	}
	return a->n < 3 || strides || !whole || layout_fits(cx, w);
}

bool extents_fit(Cx *cx, const Solve *s, const Param *p, Sv arg)
{
	return fits(cx, &(Written){ p->type, p->name.s, s->fname, arg });
}

bool view_fits(Cx *cx, const Expr *type, Str of, Sv v)
{
	return !type_is_tensor(type) || fits(cx, &(Written){ type, of, NULL, v });
}
