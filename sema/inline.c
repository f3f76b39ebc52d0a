/* Calls of functions: arguments are bound, generic parameters inferred, and the body is built in place. A function
 * whose return stands in a run-time if becomes a `scope` op that its returns leave. */
#include "sema/scope.h"

#include <string.h>

/* ---- where we are ---- */
typedef struct Saved {
	Unit *unit;
	Frame *frame;
	const CallSite *site;
	LoopCx *loop;
	RetCx *ret;
	int unsafe;
	bool no_contract, dead;
} Saved;

static Saved save(const Cx *cx)
{
	return (Saved){ cx->unit, cx->frame, cx->site, cx->loop, cx->ret, cx->unsafe, cx->no_contract, cx->dead };
}

static void restore(Cx *cx, Saved s)
{
	cx->unit = s.unit;
	cx->frame = s.frame;
	cx->site = s.site;
	cx->loop = s.loop;
	cx->ret = s.ret;
	cx->unsafe = s.unsafe;
	cx->no_contract = s.no_contract;
	cx->dead = s.dead;
}

/* f calls g calls f: refused, with the way round. */
static bool recursive(Cx *cx, const Global *g, Span at)
{
	const CallSite *c = cx->site;
	VEC(Str) chain = { 0 };
	for (; c && c->item != g->item; c = c->up) vec_push(A_TMP, &chain, c->name);
	bool checked = !c && cx->recursion && cx->recursion->item == g->item;
	if (!c && !checked) return false;
	vec_push(A_TMP, &chain, g->name);
	Out *o = out_new();
	for (int i = chain.n - 1; i >= 0; i--) out_printf(o, "`%s` calls ", chain.p[i]);
	out_printf(o, "`%s`", g->name);
	Diag *d = cx_diag(cx, D_RECURSION, at, g->name, o->p);
	diag_help(d, "functions are inlined, and a loop repeats");
	return true;
}

static bool enter(Cx *cx, const Global *g, Span at)
{
	if (recursive(cx, g, at)) return false;
	CallSite *c = NEW(A_UNIT, CallSite);
	c->up = cx->site;
	c->name = g->name;
	c->at = at;
	c->item = g->item;
	c->depth = cx->site ? cx->site->depth + 1 : 1;
	cx->site = c;
	cx->unit = g->unit;
	cx->frame = frame_new(g->item);
	cx->loop = NULL;
	cx->unsafe = 0;
	cx->dead = false;
	scope_open(cx);
	return true;
}

/* ---- arguments ---- */
typedef struct Args { Sv *v; int n; } Args;     /* by parameter; SV_NONE: not given */

static void offer_params(Diag *d, const FnItem *f, const Solve *s, Name n)
{
	Near near;
	near_begin(&near, n.s);
	for (int i = 0; i < f->params.n; i++) near_offer(&near, f->params.p[i].name.s);
	for (int i = 0; i < s->var.n; i++) near_offer(&near, s->var.p[i].name.s);
	diag_ask(d, near.best);
}

/* The element type that a tile literal as an argument takes: that of tile<f16, [4]>, when it is written out. */
static const Type *literal_want(const Solve *s, const Param *p, const Expr *arg)
{
	Elem elem;
	if (arg->kind != EX_LIST || !p->type || p->type->kind != EX_TYPE || p->type->u.type.args.n != 2) return NULL;
	const Expr *e = p->type->u.type.args.p[0].value;
	if (e->kind != EX_NAME || solve_index(s, e->u.name) >= 0 || unit_find(s->unit, e->u.name, NULL)) return NULL;
	return elem_by_name(e->u.name, &elem) ? type_scalar(elem) : NULL;
}

static bool named_arg(Cx *cx, Solve *s, const Arg *a, Args *args)
{
	int i = param_index(s->fn, a->name.s), k = solve_index(s, a->name.s);
	if (i >= 0) {
		if (args->v[i].kind != SV_NONE) {
			Diag *d = cx_diag(cx, D_ARG_TWICE, a->name.span, a->name.s);
			if (args->v[i].span.hi) diag_label(d, args->v[i].span, "it is given here");
			diag_help(d, "leave one of the two out");
			return false;
		}
		args->v[i] = sema_expr(cx, a->value, literal_want(s, &s->fn->params.p[i], a->value));
		return !sv_bad(args->v[i]);
	}
	if (k < 0) {
		offer_params(cx_diag(cx, D_ARG_UNKNOWN, a->name.span, s->fname, a->name.s), s->fn, s, a->name);
		return false;
	}
	if (s->var.p[k].val.kind != SV_NONE) {
		cx_diag(cx, D_ARG_TWICE, a->name.span, a->name.s);
		return false;
	}
	return solve_set(cx, s, k, solve_value(cx, &s->var.p[k], a->value), a->value->span);
}

static Str count_text(const FnItem *f)
{
	int least = 0;
	for (int i = 0; i < f->params.n; i++) least += !f->params.p[i].dflt;
	const char *s = f->params.n == 1 ? "" : "s";
	if (least == f->params.n) return str_fmt("%d argument%s", least, s);
	return str_fmt("%d to %d arguments", least, f->params.n);
}

/* The written arguments, evaluated from left to right where the call stands. */
static bool read_args(Cx *cx, Solve *s, const Expr *call, const Sv *recv, Args *args)
{
	const FnItem *f = s->fn;
	const ArgVec *a = &call->u.call.args;
	bool ok = true, named = false;
	int n = 0;
	args->n = f->params.n;
	args->v = NEW_ARRAY(A_UNIT, Sv, f->params.n);
	for (int i = 0; i < f->params.n; i++) args->v[i] = sv_none(call->span);
	if (recv && f->params.n) args->v[n] = *recv;
	n += recv != NULL;
	for (int i = 0; i < a->n; i++) {
		named |= a->p[i].name.s != NULL;
		if (named && !a->p[i].name.s) {
			cx_diag(cx, D_EXPR_PLACE, a->p[i].value->span, "an unnamed argument after named ones");
			ok = false;
		} else if (named) {
			ok &= named_arg(cx, s, &a->p[i], args);
		} else if (n < f->params.n) {
			args->v[n] = sema_expr(cx, a->p[i].value, literal_want(s, &f->params.p[n], a->p[i].value));
			ok &= !sv_bad(args->v[n++]);
		} else {
			n++;
		}
	}
	if (n <= f->params.n) return ok;
	Diag *d = cx_diag(cx, D_ARG_COUNT, call->span, s->fname, count_text(f), str_i64(n));
	int first = f->params.n - (recv != NULL);
	if (first < 0 || first >= a->n) return false;
	diag_label(d, a->p[first].value->span, "one too many");
	bool last = first == a->n - 1 && first > 0;
	diag_help(d, "leave `%s` out", sema_source(a->p[first].value));
	if (last) diag_edit(d, (Span){ a->p[first - 1].value->span.hi, a->p[first].value->span.hi }, "");
	return false;
}

static bool fill_args(Cx *cx, Solve *s, Args *args, Span at)
{
	for (int i = 0; i < args->n; i++) {
		const Param *p = &s->fn->params.p[i];
		if (args->v[i].kind != SV_NONE) continue;
		if (!p->dflt) {
			Diag *d = cx_diag(cx, D_ARG_MISSING, at, s->fname, p->name.s);
			diag_label(d, p->span, "declared here");
			diag_help(d, "a value is given in its place, or by name, as in `%s: ...`", p->name.s);
			return false;
		}
	}
	return true;
}

static bool infer(Cx *cx, Solve *s, const Args *args)
{
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < args->n; i++)
			if (args->v[i].kind != SV_NONE && !solve_param(cx, s, &s->fn->params.p[i], args->v[i], pass)) return false;
	return true;
}

/* ---- parameters ---- */

/* Of functions, kernels and entries. */
void bind_param(Cx *cx, const Param *p, Sv v, const Sym *sym)
{
	Bind *old = scope_find(cx, p->name.s);
	if (old && old->kind == BIND_DIM) {
		Diag *d = cx_diag(cx, D_DIM_NAME, p->name.span, p->name.s);
		diag_label(d, old->at, "the dimension `%s`", p->name.s);
		diag_help(d, "leave the parameter out; `%s` has its value in the body, and the C function takes it", p->name.s);
		return;
	}
	Bind *b = scope_add_sv(cx, p->name, v);
	b->sym = sym;
	b->elem = v.type ? v.type->elem == EL_BOOL ? EL_BOOL : elem_bytes(v.type->elem) == 8 ? EL_I64 : EL_I32 : EL_I32;
	type_note(cx, p->name, v);
}

static Sv bind_view(Cx *cx, const Solve *s, const Param *p, Sv arg, const Type *t)
{
	const View *v = arg.u.view;
	Mode want = p->mode == MODE_NONE ? MODE_IN : p->mode;
	if (v->elem != t->elem || v->rank != t->rank) {
		Diag *d = cx_diag(cx, D_ARG_KIND, arg.span, p->name.s, s->fname, sema_source(p->type), sv_what(arg));
		diag_label(d, p->span, "declared here");
		if (v->rank > t->rank)
			diag_help(d, "an index for some dimensions and `:` for others, as in `t[0, :]`, is a view of lower rank");
		return sv_poison(arg.span);
	}
	if (v->mode != MODE_INOUT && v->mode != want) {
		Diag *d = cx_diag(cx, D_ARG_MODE, arg.span, p->name.s, s->fname, mode_word(want), v->root ? v->root : "it",
			mode_word(v->mode));
		diag_label(d, p->span, "declared here");
		if (v->decl.hi) diag_label(d, v->decl, "`%s` is declared here", v->root);
		return sv_poison(arg.span);
	}
	if (!extents_fit(cx, s, p, arg)) return sv_poison(arg.span);
	View *w = NEW(A_UNIT, View);
	*w = *v;
	w->mode = want;
	return sv_view(w, arg.span);
}

/* The argument as the parameter's type has it. cx stands in the function's frame already. */
static Sv convert_arg(Cx *cx, const Solve *s, const Param *p, Sv arg)
{
	if (!p->type || sv_bad(arg)) return arg;
	Sv t = sema_type(cx, p->type);
	if (t.kind != SV_TYPE) {
		if (t.kind == SV_TUPLE)
			cx_diag(cx, D_ARG_KIND, arg.span, p->name.s, s->fname, sema_source(p->type), sv_what(arg));
		return sv_poison(arg.span);
	}
	if (arg.kind == SV_VIEW && type_is_tensor(p->type)) return bind_view(cx, s, p, arg, t.type);
	if (p->mode != MODE_NONE) {
		Diag *d = cx_diag(cx, D_PARAM_MODE, p->span, p->name.s, mode_word(p->mode));
		diag_help(d, "a function gives its results by `return`: leave `%s` out", mode_word(p->mode));
		diag_edit(d, (Span){ p->name.span.hi, p->type->span.lo }, ": ");
		return sv_poison(arg.span);
	}
	if (arg.kind == SV_VIEW && t.type == arg.type) return arg;
	return conv_to(cx, arg, t.type, CONV_ARG, p->name.s, p->type->span);
}

static bool bind_params(Cx *cx, const Solve *s, const Args *args)
{
	bool ok = true;
	for (int i = 0; i < args->n; i++) {
		const Param *p = &s->fn->params.p[i];
		Sv v = args->v[i];
		if (v.kind == SV_NONE) v = sema_expr(cx, p->dflt, NULL);
		v = convert_arg(cx, s, p, v);
		ok &= !sv_bad(v);
		if (v.kind == SV_VAL && !v.u.val->name) v.u.val->name = p->name.s;
		scope_add_sv(cx, p->name, v);
		type_note(cx, p->name, v);
	}
	return ok;
}

static bool check_where(Cx *cx, const Solve *s, Span at)
{
	for (int i = 0; i < s->fn->where.n; i++) {
		const Expr *e = s->fn->where.p[i];
		bool yes;
		Sv c = sema_expr(cx, e, NULL);
		if (!sv_bad(c)) c = conv_cond(cx, c, e->span);
		if (sv_bad(c)) return false;
		if (sv_get_bool(c, &yes) && !yes) {
			Diag *d = cx_diag(cx, D_WHERE_FAILS, at, s->fname, sema_source(e));
			diag_label(d, e->span, "stated here");
			return false;
		}
		if (c.kind == SV_VAL) build_check(cx, c, str_fmt("`%s` of `%s` does not hold", sema_source(e), s->fname), at);
	}
	return true;
}

/* ---- results ---- */
static void flat_types(Sv t, const Type **out, int *n)
{
	if (t.kind == SV_TUPLE) {
		for (int i = 0; i < t.u.tuple->n; i++) flat_types(t.u.tuple->p[i], out, n);
	} else if (t.kind == SV_TYPE) {
		if (out) out[*n] = t.type;
		++*n;
	}
}

static Sv unflatten(Sv t, Val **v, int *i, Span at)
{
	if (t.kind == SV_TYPE) return sv_val(v[(*i)++], at);
	if (t.kind != SV_TUPLE) return sv_none(at);
	Sv *p = NEW_ARRAY(A_TMP, Sv, t.u.tuple->n);
	for (int k = 0; k < t.u.tuple->n; k++) p[k] = unflatten(t.u.tuple->p[k], v, i, at);
	return sv_tuple(t.u.tuple->n, p, at);
}

static bool has_view(Sv t)
{
	if (t.kind == SV_TYPE) return t.type->kind == TY_VIEW;
	for (int i = 0; t.kind == SV_TUPLE && i < t.u.tuple->n; i++)
		if (has_view(t.u.tuple->p[i])) return true;
	return false;
}

static void missing_return(Cx *cx, const Item *it)
{
	if (stmt_too_large(cx, it->span)) return;       /* the rest of the body was not looked at */
	Span end = it->u.fn.body->span;
	Diag *d = cx_diag(cx, D_RETURN_MISSING, it->name.span, it->name.s);
	diag_label(d, it->u.fn.result->span, "a result is promised here");
	if (end.hi > end.lo) diag_label(d, (Span){ end.hi - 1, end.hi }, "this end can be reached");
	diag_help(d, "end it with `return ...;`");
}

static Sv plain_body(Cx *cx, const Item *it, RetCx *r)
{
	stmt_block(cx, it->u.fn.body);
	if (r->type.kind == SV_NONE) return sv_bad(r->value) ? r->value : sv_none(it->span);
	if (r->done) return r->value;
	missing_return(cx, it);
	return sv_poison(it->span);
}

static Sv scoped_body(Cx *cx, const Item *it, RetCx *r, Span at)
{
	int n = 0, k = 0;
	flat_types(r->type, NULL, &n);
	const Type **types = NEW_ARRAY(A_TMP, const Type *, n);
	flat_types(r->type, types, &k);
	cx->b.span = at;
	Op *op = ir_op(&cx->b, OP_SCOPE_, 0, NULL, n, types);
	Spot spot = spot_enter(cx, ir_region(op));
	stmt_block(cx, it->u.fn.body);
	if (!cx->dead && n) missing_return(cx, it);
	if (!region_ended(cx)) {                /* every path has returned: what stands here never runs */
		Val **zero = NEW_ARRAY(A_TMP, Val *, n);
		for (int i = 0; i < n; i++) zero[i] = ir_const_num(&cx->b, types[i], (Num){ 0 });
		region_end(cx, OP_LEAVE, n, zero);
	}
	spot_leave(cx, spot);
	if (r->type.kind == SV_NONE) return sv_bad(r->value) ? r->value : sv_none(at);
	k = 0;
	return unflatten(r->type, op->out, &k, at);
}

static Sv run_body(Cx *cx, const Global *g, Span at)
{
	const FnItem *f = &g->item->u.fn;
	RetCx r = { .type = f->result ? sema_type(cx, f->result) : sv_none(at), .written = f->result, .name = g->name };
	if (sv_bad(r.type)) return r.type;
	r.scoped = block_returns_early(f->body);
	r.value = sv_none(at);
	if (r.scoped && has_view(r.type)) {
		cx_diag(cx, D_RETURN_VIEW, f->result->span, g->name);
		return sv_poison(at);
	}
	cx->ret = &r;
	attrs_of_fn(cx, g->item);
	return r.scoped ? scoped_body(cx, g->item, &r, at) : plain_body(cx, g->item, &r);
}

/* A call has its own scopes, parameters and inferred types, even if its body makes no operation at all. */
enum { CALL_COST = 8 };

static Sv call_with(Cx *cx, Global *g, Solve *s, Args *args, Span at)
{
	cx->copies += CALL_COST;
	if (stmt_too_large(cx, at) || !fill_args(cx, s, args, at) || !infer(cx, s, args)) return sv_poison(at);
	Saved saved = save(cx);
	if (!enter(cx, g, at)) return sv_poison(at);
	Sv v = sv_absent(at);
	if (sema_deeper(cx, at)) {
		const CallSite *site = cx->site;
		cx->site = saved.site;          /* what is wrong with the call itself is wrong in the caller */
		bool ok = extents_solve(cx, cx->facts, s, args->v) && extents_known(cx, s, args->v);
		ok = ok && solve_finish(cx, s, at);
		ok = ok && bind_params(cx, s, args);
		ok = ok && check_where(cx, s, at);
		cx->site = site;
		if (ok) v = run_body(cx, g, at);
		cx->s->depth--;
	}
	scope_close(cx);
	restore(cx, saved);
	cx->b.span = at;
	v.span = at;
	return v;
}

Sv inline_call(Cx *cx, Global *g, const Expr *call, const Sv *recv)
{
	Solve *s = solve_new(g->item, g->unit, true);
	Args args;
	g->used = true;
	if (!read_args(cx, s, call, recv, &args)) return sv_poison(call->span);
	return call_with(cx, g, s, &args, call->span);
}

/* ---- lambdas, and calls with values ---- */
static Sv lambda_block(Cx *cx, const Expr *e)
{
	if (block_returns_early(e->u.lam.block)) {
		cx_diag0(cx, D_RETURN_LAMBDA, e->span);
		return sv_poison(e->span);
	}
	stmt_body(cx, e->u.lam.block);
	return cx->ret->value;
}

static Sv inline_lambda(Cx *cx, const Callee *f, int n, const Sv *args, Span at)
{
	const Expr *e = f->lambda;
	if (e->u.lam.params.n != n) {
		cx_diag(cx, D_ARG_COUNT, e->span, "fn", str_fmt("%d argument%s", e->u.lam.params.n,
			e->u.lam.params.n == 1 ? "" : "s"), str_i64(n));
		return sv_poison(at);
	}
	cx->copies += CALL_COST;
	if (stmt_too_large(cx, at)) return sv_poison(at);
	Saved saved = save(cx);
	cx->frame = f->frame;
	cx->unit = f->unit;
	int barrier = cx->frame->barrier;
	scope_open(cx);
	cx->frame->barrier = cx->frame->open.n;
	cx->loop = NULL;
	RetCx r = { .loose = true, .name = str_intern("fn") };
	r.type = r.value = sv_none(at);
	cx->ret = &r;
	for (int i = 0; i < n; i++) pattern_bind(cx, e->u.lam.params.p[i], args[i], false);
	for (Bind *b = cx->frame->open.p[cx->frame->open.n - 1]; b; b = b->next) b->local = false;
	Sv v = e->u.lam.body ? sema_expr(cx, e->u.lam.body, NULL) : lambda_block(cx, e);
	scope_close(cx);
	cx->frame->barrier = barrier;
	restore(cx, saved);
	return v;
}

int sema_fn_arity(Sv fn)
{
	if (fn.kind == SV_OP) return op_arity(fn.u.op);
	if (fn.kind != SV_FN) return -1;
	return fn.u.fn->lambda ? fn.u.fn->lambda->u.lam.params.n : fn.u.fn->item->u.fn.params.n;
}

Sv sema_call_values(Cx *cx, Sv fn, int n, const Sv *args, Span at)
{
	for (int i = 0; i < n; i++)
		if (sv_bad(args[i])) return sv_poison(at);
	if (fn.kind == SV_OP) return op_call_values(cx, fn.u.op, n, args, at);
	if (fn.u.fn->lambda) return inline_lambda(cx, fn.u.fn, n, args, at);
	Global *g = fn.u.fn->global;
	Solve *s = solve_new(g->item, g->unit, true);
	Args a = { NEW_ARRAY(A_UNIT, Sv, s->fn->params.n), s->fn->params.n };
	if (n != a.n) {
		cx_diag(cx, D_ARG_COUNT, at, g->name, count_text(s->fn), str_i64(n));
		return sv_poison(at);
	}
	for (int i = 0; i < n; i++) a.v[i] = args[i];
	return call_with(cx, g, s, &a, at);
}

/* ---- functions that nothing calls ---- */
static Sv test_arg(Cx *cx, TensorCx *t, const Param *p)
{
	if (!p->type) return sv_poison(p->span);
	if (type_is_tensor(p->type)) {
		IrParam ip = { .name = p->name.s, .span = p->name.span };
		Elem elem[TENSOR_RANK];
		if (!tensor_resolve(t, p->type, p->mode, &ip, elem)) return sv_poison(p->span);
		ip.val = ir_arg(cx->fn->body, type_view(ip.elem, ip.rank), p->name.s);
		return sv_view(tensor_view(&ip, ip.val, elem), p->span);
	}
	Sv type = sema_type(cx, p->type);
	if (type.kind != SV_TYPE || type.type->elem == EL_VOID) {
		if (!sv_bad(type)) cx_diag(cx, D_KERNEL_PARAM, p->type->span, p->name.s, sema_source(p->type));
		return sv_poison(p->span);
	}
	return sv_val(ir_arg(cx->fn->body, type.type, p->name.s), p->span);
}

/* Checks a function without generic parameters: it is built with parameters of a kernel and thrown away. */
void fn_check(Sema *s, Global *g)
{
	const FnItem *f = &g->item->u.fn;
	Solve *solve = solve_new(g->item, g->unit, true);
	if (solve->var.n) return;
	for (int i = 0; i < f->params.n; i++)
		if (!f->params.p[i].type) return;
	Cx *cx = cx_new(s, g->unit, g->item, g->name);
	DimVec dims = { 0 }, strides = { 0 };
	TensorCx t = { cx, &dims, &strides, NULL };
	CallSite site = { .name = g->name, .item = g->item, .at = g->item->name.span, .depth = 1 };
	bool ok = true;
	scope_open(cx);
	Sv *arg = NEW_ARRAY(A_TMP, Sv, f->params.n);
	for (int i = 0; i < f->params.n; i++) {
		arg[i] = test_arg(cx, &t, &f->params.p[i]);
		ok &= !sv_bad(arg[i]);
	}
	for (int i = 0; i < f->params.n; i++) bind_param(cx, &f->params.p[i], arg[i], NULL);
	cx->fn->ngrid = 4;
	for (int i = 0; i < 4; i++) {
		cx->fn->grid[i] = sym_const(1);
		cx->grid_elem[i] = EL_I32;
	}
	if (ok) {
		check_where(cx, solve, g->item->span);
		cx->recursion = &site;
		run_body(cx, g, g->item->span);
	}
	scope_close(cx);
}
