/* Expressions: which rule answers for which form. Names, members, tuples and lambdas are done here;
 * the rest is handed on. */
#include "sema/scope.h"

#include <string.h>

/* ---- names ---- */
static Sv predeclared(Str name, Span at, bool *found)
{
	static Str inf, nan, null, yes, no, dynamic;
	if (!inf) {
		inf = str_intern("inf");
		nan = str_intern("nan");
		null = str_intern("null");
		yes = str_intern("true");
		no = str_intern("false");
		dynamic = str_intern("dynamic_extent");
	}
	*found = true;
	if (name == inf) return sv_float(exact_inf(false), at);
	if (name == nan) return sv_float(exact_nan(), at);
	if (name == yes || name == no) return sv_bool(name == yes, at);
	if (name == null) return sv_const(elem_ptr_to(EL_VOID), (Num){ 0 }, at);
	if (name == dynamic) return sv_dynamic(str_intern("`dynamic_extent`"), at);
	*found = false;
	return sv_absent(at);
}

static Sv bound_value(Cx *cx, Bind *b, Span at)
{
	b->used = true;
	if (b->scalar_meant_tile) return sv_poison(at);
	if (b->kind == BIND_DIM && b->sv.kind != SV_VAL) {
		b->sv = sv_val(sema_launch(cx, b->typed ? b->said : b->elem, b->sym), at);
		b->sv.name = b->name;
	}
	Sv v = b->sv;
	v.span = at;
	if (b->kind != BIND_SV || b->name) v.name = b->name;
	return v;
}

static const char *item_word(ItemKind k)
{
	switch (k) {
	case IT_KERNEL: return "a kernel";
	case IT_ENTRY: return "an entry";
	case IT_INSTANCE: case IT_TUNE: return "an instance";
	case IT_FN: return "a function";
	default: return "an item";
	}
}

static Sv fn_value(Global *g, Span at)
{
	Sv v = sv_none(at);
	Callee *c = NEW(A_UNIT, Callee);
	c->item = g->item;
	c->unit = g->unit;
	c->global = g;
	v.kind = SV_FN;
	v.name = g->name;
	v.u.fn = c;
	return v;
}

static Sv global_expr(Cx *cx, Global *g, Span at)
{
	if (g->item->kind == IT_FN) return fn_value(g, at);
	if (g->item->kind == IT_CONST || g->item->kind == IT_PARAM) {
		Sv v = global_value(cx, g, at);
		v.span = at;
		v.name = g->name;
		return v;
	}
	cx_diag(cx, D_NOT_A_VALUE, at, g->name, item_word(g->item->kind));
	return sv_poison(at);
}

static Sv name_expr(Cx *cx, Str name, Span at)
{
	Bind *b = scope_find(cx, name);
	bool found, bad;
	if (b) return bound_value(cx, b, at);
	Global *g = scope_global(cx, name, at, &bad);
	if (bad) return sv_poison(at);
	if (g) return global_expr(cx, g, at);
	Sv v = predeclared(name, at, &found);
	if (found) return v;
	Elem elem;
	OpCode op;
	if (elem_by_name(name, &elem)) return sv_type(type_scalar(elem), at);
	if (op_by_name(name, &op) && !(op_rows[op].flags & OPF_HIDDEN)) {
		v = sv_none(at);
		v.kind = SV_OP;
		v.name = name;
		v.u.op = op;
		return v;
	}
	return unknown_name(cx, name, at);
}

/* ---- calls ---- */
static Sv not_callable(Cx *cx, const Expr *callee, Sv f)
{
	OpCode op;
	if (sv_bad(f)) return sv_poison(callee->span);
	Diag *d = cx_diag(cx, D_NOT_CALLABLE, callee->span, sema_source(callee), sv_what(f));
	if (f.kind == SV_VIEW)
		diag_help(d, "`%s.load(index, shape)` loads a tile, and `%s[i]` is an element", sema_source(callee),
			sema_source(callee));
	if (callee->kind == EX_NAME && op_by_name(callee->u.name, &op))
		diag_help(d, "a name of this program hides the operation `%s`: give it another one", callee->u.name);
	return sv_poison(callee->span);
}

/* type_of(e): e is checked, what it builds is thrown away. */
static Sv type_of(Cx *cx, const Expr *e)
{
	if (e->u.call.args.n != 1) {
		cx_diag(cx, D_ARG_COUNT, e->span, "type_of", "1 argument", str_i64(e->u.call.args.n));
		return sv_poison(e->span);
	}
	Spot s = spot_enter(cx, ir_block(cx->fn, NULL));
	Sv v = conv_default(cx, sema_expr(cx, e->u.call.args.p[0].value, NULL));
	spot_leave(cx, s);
	switch (v.kind) {
	case SV_POISON: return v;
	case SV_CONST: case SV_VAL: case SV_VIEW: case SV_TYPE: return sv_type(v.type, e->span);
	default:
		cx_diag(cx, D_NO_VALUE, e->span, sema_source(e->u.call.args.p[0].value));
		return sv_poison(e->span);
	}
}

static Sv call_type(Cx *cx, const Expr *e, Sv type)
{
	const ArgVec *a = &e->u.call.args;
	if (type.kind != SV_TYPE || type.type->kind != TY_SCALAR) return not_callable(cx, e->u.call.callee, type);
	if (a->n < 1 || a->p[0].name.s) {
		cx_diag(cx, D_ARG_COUNT, e->span, elem_name(type.type->elem), "1 argument", str_i64(a->n));
		return sv_poison(e->span);
	}
	Sv x = sema_expr(cx, a->p[0].value, NULL);
	return sv_bad(x) ? x : conv_cast(cx, type.type->elem, x, e);
}

static Sv call_lambda(Cx *cx, const Expr *e, Sv f)
{
	const ArgVec *a = &e->u.call.args;
	Sv *v = NEW_ARRAY(A_TMP, Sv, a->n);
	for (int i = 0; i < a->n; i++) v[i] = sema_expr(cx, a->p[i].value, NULL);
	return sema_call_values(cx, f, a->n, v, e->span);
}

static Sv call_global(Cx *cx, Global *g, const Expr *e, const Sv *recv)
{
	switch (g->item->kind) {
	case IT_FN: return inline_call(cx, g, e, recv);
	case IT_KERNEL: case IT_ENTRY: case IT_INSTANCE: case IT_TUNE: {
		Diag *d = cx_diag(cx, D_LAUNCH_PLACE, e->span, g->name);
		diag_help(d, "kernels are launched from an `entry`; what two kernels share is a `fn`");
		return sv_poison(e->span);
	}
	default: return not_callable(cx, e->u.call.callee, global_value(cx, g, e->span));
	}
}

static Sv call_name(Cx *cx, const Expr *e)
{
	const Expr *f = e->u.call.callee;
	Bind *b = scope_find(cx, f->u.name);
	bool bad;
	if (b) {
		Sv v = bound_value(cx, b, f->span);
		if (v.kind == SV_TYPE) return call_type(cx, e, v);
		if (v.kind == SV_FN && v.u.fn->lambda) return call_lambda(cx, e, v);
		if (v.kind == SV_FN) return call_global(cx, v.u.fn->global, e, NULL);
		return not_callable(cx, f, v);
	}
	Global *g = scope_global(cx, f->u.name, f->span, &bad);
	if (bad) return sv_poison(e->span);
	if (g) return call_global(cx, g, e, NULL);
	Elem elem;
	OpCode op;
	if (elem_by_name(f->u.name, &elem)) return call_type(cx, e, sv_type(type_scalar(elem), f->span));
	if (op_by_name(f->u.name, &op) && !(op_rows[op].flags & OPF_HIDDEN))
		return op == OP_TYPE_OF ? type_of(cx, e) : builtin_call(cx, op, e, NULL);
	return unknown_call(cx, e);
}

/* nn.f(..) for `import ... as nn`, when no local name hides nn. */
static Unit *module_of(Cx *cx, const Expr *base)
{
	if (base->kind != EX_NAME || scope_find(cx, base->u.name)) return NULL;
	return unit_module(cx->unit, base->u.name);
}

static Global *module_member(Cx *cx, const Unit *u, const Expr *m)
{
	Global *g = map_get(&u->names, m->u.mem.name.s);
	if (g) return g;
	Diag *d = cx_diag(cx, D_MODULE_MEMBER, m->u.mem.name.span, src_mapped(u->path), m->u.mem.name.s);
	Near n;
	near_begin(&n, m->u.mem.name.s);
	for (int i = 0; i < u->globals.n; i++) near_offer(&n, u->globals.p[i]->name);
	diag_ask(d, n.best);
	return NULL;
}

/* x.f(y): an operation of that name, unless a function of the program has it and x is no view. */
static Sv call_member(Cx *cx, const Expr *e)
{
	const Expr *m = e->u.call.callee;
	Unit *u = module_of(cx, m->u.mem.base);
	if (u) {
		Global *g = module_member(cx, u, m);
		return g ? call_global(cx, g, e, NULL) : sv_poison(e->span);
	}
	if (habit_prefixed(cx, m, e)) return sv_poison(e->span);
	Sv base = sema_expr(cx, m->u.mem.base, NULL);
	if (sv_bad(base)) return base;
	bool bad, view = base.kind == SV_VIEW;
	OpCode op;
	bool is_op = op_by_name(m->u.mem.name.s, &op) && !(op_rows[op].flags & OPF_HIDDEN);
	Global *g = scope_global(cx, m->u.mem.name.s, m->u.mem.name.span, &bad);
	if (bad) return sv_poison(e->span);
	if (g && g->item->kind == IT_FN && !(view && is_op)) return call_global(cx, g, e, &base);
	if (is_op) return builtin_call(cx, op, e, &base);
	return build_member(cx, base, m, e);
}

static Sv call_expr(Cx *cx, const Expr *e)
{
	const Expr *f = e->u.call.callee;
	if (f->kind == EX_NAME) return call_name(cx, e);
	if (f->kind == EX_MEMBER) return call_member(cx, e);
	Sv v = f->kind == EX_TYPE ? sema_type(cx, f) : sema_expr(cx, f, NULL);
	if (v.kind == SV_FN && v.u.fn->lambda) return call_lambda(cx, e, v);
	if (v.kind == SV_TYPE) return call_type(cx, e, v);
	return not_callable(cx, f, v);
}

/* ---- members and indices of compile-time things ---- */
static Sv member_base(Cx *cx, const Expr *e)
{
	if (habit_prefixed(cx, e, NULL)) return sv_poison(e->span);
	return e->u.mem.base->kind == EX_TYPE ? sema_type(cx, e->u.mem.base) : sema_expr(cx, e->u.mem.base, NULL);
}

static Sv member_of(Cx *cx, Sv base, const Expr *e)
{
	bool rank = e->u.mem.name.s == str_intern("rank");
	if (sv_bad(base)) return base;
	if (rank && base.kind == SV_SHAPE) return sv_int(base.u.shape->rank, e->span);
	if (rank && (base.kind == SV_TYPE || base.kind == SV_VAL || base.kind == SV_VIEW))
		return sv_int(base.type->rank, e->span);
	return build_member(cx, base, e, NULL);
}

static Sv member_expr(Cx *cx, const Expr *e)
{
	Unit *u = module_of(cx, e->u.mem.base);
	if (!u) return member_of(cx, member_base(cx, e), e);
	Global *g = module_member(cx, u, e);
	return g ? global_expr(cx, g, e->span) : sv_poison(e->span);
}

Sv sema_indexed(Cx *cx, const Expr *e)
{
	const Expr *m = e->u.idx.base;
	if (m->kind != EX_MEMBER || module_of(cx, m->u.mem.base)) return sema_expr(cx, m, NULL);
	Sv base = member_base(cx, m);
	return !sv_bad(base) && habit_extent(cx, e, base) ? sv_poison(e->span) : member_of(cx, base, m);
}

static Sv shape_index(Cx *cx, Sv base, const Expr *e)
{
	const Shape *s = base.u.shape;
	Int i;
	if (e->u.idx.items.n != 1) {
		cx_diag(cx, D_SHAPE_INDEX, e->span, sema_source(e), str_i64(s->rank));
		return sv_poison(e->span);
	}
	if (!sema_const_int(cx, e->u.idx.items.p[0], &i)) return sv_poison(e->span);
	if (i >= 0 && i < s->rank) return sv_int((Int)1 << s->log2[i], e->span);
	cx_diag(cx, D_SHAPE_INDEX, e->span, sema_source(e), str_i64(s->rank));
	return sv_poison(e->span);
}

static Sv tuple_index(Cx *cx, Sv base, const Expr *e)
{
	const Tuple *t = base.u.tuple;
	Int i;
	if (e->u.idx.items.n == 1 && !sema_const_int(cx, e->u.idx.items.p[0], &i)) return sv_poison(e->span);
	if (e->u.idx.items.n == 1 && i >= 0 && i < t->n) return t->p[i];
	cx_diag(cx, D_SHAPE_INDEX, e->span, sema_source(e), str_i64(t->n));
	return sv_poison(e->span);
}

/* t[i][j] of a tensor of rank 2, as C has it */
static bool report_chain(Cx *cx, const Expr *e)
{
	const Expr *in = e->u.idx.base;
	if (in->kind != EX_INDEX || in->u.idx.base->kind != EX_NAME) return false;
	const Bind *b = scope_find(cx, in->u.idx.base->u.name);
	const ExprVec *first = &in->u.idx.items, *then = &e->u.idx.items;
	if (!b || b->kind != BIND_SV || b->sv.kind != SV_VIEW || !first->n || !then->n) return false;
	if (b->sv.u.view->rank != first->n + then->n) return false;
	Str fix = span_source((Span){ in->span.lo, first->p[first->n - 1]->span.hi });
	fix = str_fmt("%s, %s]", fix, span_source((Span){ then->p[0]->span.lo, then->p[then->n - 1]->span.hi }));
	Str rank = str_i64(first->n + then->n), of = str_fmt("`%s`", b->name);
	Diag *d = cx_diag(cx, D_VIEW_RANK, in->span, of, rank, str_i64(first->n));
	diag_help(d, "its indices stand in one list: write `%s`", fix);
	diag_edit(d, e->span, fix);
	return true;
}

static Sv index_expr(Cx *cx, const Expr *e)
{
	if (report_chain(cx, e)) return sv_poison(e->span);
	Sv base = sema_indexed(cx, e);
	if (base.kind == SV_POISON) return base;
	if (base.kind == SV_SHAPE) return shape_index(cx, base, e);
	if (base.kind == SV_TUPLE) return tuple_index(cx, base, e);
	return build_index(cx, base, e);
}


/* ---- the rest ---- */
static Sv tuple_expr(Cx *cx, const Expr *e)
{
	int n = e->u.list.n;
	Sv *p = NEW_ARRAY(A_TMP, Sv, n);
	bool ok = true;
	for (int i = 0; i < n; i++) {
		p[i] = sema_expr(cx, e->u.list.p[i], NULL);
		ok &= !sv_bad(p[i]);
	}
	return ok ? sv_tuple(n, p, e->span) : sv_poison(e->span);
}

static Sv lambda_expr(Cx *cx, const Expr *e)
{
	Sv v = sv_none(e->span);
	Callee *c = NEW(A_UNIT, Callee);
	c->lambda = e;
	c->frame = cx->frame;
	c->unit = cx->unit;
	v.kind = SV_FN;
	v.u.fn = c;
	return v;
}

static Sv unsafe_expr(Cx *cx, const Expr *e, const Type *want)
{
	cx->unsafe++;
	Sv v = sema_expr(cx, e->u.un.x, want);
	cx->unsafe--;
	return v;
}

static Sv binary_expr(Cx *cx, const Expr *e)
{
	if (e->u.bin.op == BIN_ANDAND || e->u.bin.op == BIN_OROR) return op_logic(cx, e);
	Sv l = sema_operand(cx, e->u.bin.l);
	Sv r = sema_operand(cx, e->u.bin.r);
	if (sv_bad(l) || sv_bad(r)) return sv_poison(e->span);
	return op_binary(cx, e->u.bin.op, l, r, e->u.bin.at, e->span);
}

static Sv misplaced(Cx *cx, const Expr *e, const char *what)
{
	cx_diag(cx, D_EXPR_PLACE, e->span, what);
	return sv_poison(e->span);
}

static Sv expr_by_kind(Cx *cx, const Expr *e, const Type *want)
{
	switch (e->kind) {
	case EX_ERROR: return sv_poison(e->span);
	case EX_NAME: return name_expr(cx, e->u.name, e->span);
	case EX_INT: return e->u.lit.text ? lit_int(cx, e) : sv_poison(e->span);
	case EX_FLOAT: return e->u.lit.text ? lit_float(cx, e) : sv_poison(e->span);
	case EX_STRING: return sv_string(e->u.str.s, e->span);
	case EX_UNDER: return misplaced(cx, e, "`_`");
	case EX_ALL: return misplaced(cx, e, "`:`");
	case EX_LIST: return lit_tile(cx, e, want);
	case EX_SET: return misplaced(cx, e, "a set of variants");
	case EX_TUPLE: return tuple_expr(cx, e);
	case EX_UNARY: {
		Sv x = sema_expr(cx, e->u.un.x, want);
		return sv_bad(x) ? x : op_unary(cx, e, x);
	}
	case EX_BINARY: return binary_expr(cx, e);
	case EX_COND: return op_cond(cx, e, want);
	case EX_CALL: return call_expr(cx, e);
	case EX_MEMBER: return member_expr(cx, e);
	case EX_INDEX: return index_expr(cx, e);
	case EX_TYPE: return sema_type(cx, e);
	case EX_LAMBDA: return lambda_expr(cx, e);
	case EX_UNSAFE: return unsafe_expr(cx, e, want);
	case EX_ALT: return misplaced(cx, e, "a list of types");
	case EX_DIM: return misplaced(cx, e, "the declaration of a dimension");
	}
	return sv_poison(e->span);
}

bool sema_deeper(Cx *cx, Span at)
{
	if (++cx->s->depth <= SEMA_DEPTH) return true;
	if (!cx->s->depth_said) cx_diag(cx, D_CALL_DEPTH, at, "expressions and calls", str_i64(SEMA_DEPTH));
	cx->s->depth_said = true;
	cx->s->depth--;
	return false;
}

Sv sema_expr(Cx *cx, const Expr *e, const Type *want)
{
	if (!sema_deeper(cx, e->span)) return sv_poison(e->span);
	Span outer = cx->b.span;
	cx->b.span = e->span;
	Sv v = expr_by_kind(cx, e, want);
	cx->b.span = outer;
	cx->s->depth--;
	v.span = e->span;
	return v;
}

Sv sema_operand(Cx *cx, const Expr *e)
{
	if (e->kind != EX_LIST) return sema_expr(cx, e, NULL);
	if (!sema_deeper(cx, e->span)) return sv_poison(e->span);
	Span outer = cx->b.span;
	cx->b.span = e->span;
	Sv v = lit_open(cx, e);
	cx->b.span = outer;
	cx->s->depth--;
	return v;
}
