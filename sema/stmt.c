/* Statements. Variables are SSA: a Bind holds a variable's current value, and an if or a loop carries those that it
 * assigns as operands, region arguments and results of its op. Code after break, continue and return is not built. */
#include "sema/build.h"
#include "sema/scope.h"

#include <stdlib.h>
#include <string.h>

static void stmt(Cx *cx, const Stmt *s);

/* ---- carried values ---- */
static Val **bind_values(const BindVec *v, int extra)
{
	Val **p = NEW_ARRAY(A_TMP, Val *, v->n + extra);
	for (int i = 0; i < v->n; i++) p[i] = v->p[i]->sv.u.val;
	return p;
}

static const Type **bind_types(const BindVec *v, int extra)
{
	const Type **p = NEW_ARRAY(A_TMP, const Type *, v->n + extra);
	for (int i = 0; i < v->n; i++) p[i] = v->p[i]->type;
	return p;
}

static void bind_set(Bind *b, Val *v)
{
	if (!v->name) v->name = b->name;
	b->sv = sv_val(v, b->at);
}

static void bind_restore(const BindVec *v, Val *const *to)
{
	for (int i = 0; i < v->n; i++) bind_set(v->p[i], to[i]);
}

static void bind_args(const BindVec *v, IrBlock *region)
{
	for (int i = 0; i < v->n; i++) bind_set(v->p[i], ir_arg(region, v->p[i]->type, v->p[i]->name));
}

bool region_ended(const Cx *cx)
{
	const Op *last = cx->b.block->last;
	return last && op_has(last, OPF_TERM);
}

/* Ends the region that is being built, unless a break or the like has ended it. */
void region_end(Cx *cx, OpCode code, int n, Val *const *v)
{
	if (!region_ended(cx)) ir_op(&cx->b, code, n, v, 0, NULL);
}

bool stmt_too_large(Cx *cx, Span at)
{
	enum { MAX_OPS = 1000000 };
	if (!cx->s->ops_said && cx->fn->nval < MAX_OPS - cx->copies) return false;
	if (!cx->s->ops_said) cx_diag(cx, D_TOO_LARGE, at, str_i64(MAX_OPS));
	cx->s->ops_said = true;
	return true;
}

/* ---- declarations ---- */
void type_note(Cx *cx, Name n, Sv v)
{
	TypeNoteVec *notes = cx->s->notes;
	if (!notes || sv_bad(v)) return;
	Str key = str_fmt("%u", (unsigned)n.span.lo);
	if (map_get(&cx->s->noted, key)) return;
	map_put(&cx->s->noted, key, cx);
	Str fn = cx->frame->item ? cx->frame->item->name.s : str_intern("");
	vec_push(A_UNIT, notes, ((TypeNote){ n.span, n.s, sv_what(v), fn }));
}

static void name_value(Sv v, Str name)
{
	if (v.kind == SV_VAL && !v.u.val->name) v.u.val->name = name;
}

/* A variable holds a scalar or a tile; v has its type already where one is written. */
static void bind_var(Cx *cx, Name n, Sv v)
{
	if (!sv_bad(v)) v = conv_default(cx, v);
	bool ok = sv_bad(v) || v.kind == SV_CONST || v.kind == SV_VAL;
	if (!ok) {
		Diag *d = cx_diag(cx, D_VAR_KIND, v.span, n.s, sv_what(v));
		diag_help(d, "declare it with `let`");
	}
	Val *val = ok && !sv_bad(v) ? conv_val(cx, v) : NULL;
	Bind *b = scope_add(cx, BIND_VAR, n);
	b->local = true;
	b->sv = sv_absent(n.span);
	if (!val) return;
	b->type = val->type;
	bind_set(b, val);
	type_note(cx, n, b->sv);
}

static void bind_let(Cx *cx, Name n, Sv v)
{
	if (v.kind == SV_INT || v.kind == SV_FLOAT) v = conv_default(cx, v);
	if (v.kind == SV_NONE) {
		cx_diag(cx, D_NO_VALUE, v.span, span_source(v.span));
		v = sv_absent(v.span);
	}
	name_value(v, n.s);
	Bind *b = scope_add_sv(cx, n, v);
	b->local = true;
	type_note(cx, n, v);
}

static int pattern_size(const Expr *pat)
{
	return pat->kind == EX_TUPLE ? pat->u.list.n : 1;
}

static Sv pattern_part(Sv v, int i)
{
	return v.kind == SV_TUPLE ? v.u.tuple->p[i] : v;
}

/* v has been converted. A poisoned tuple poisons every name. */
void pattern_bind(Cx *cx, const Expr *pat, Sv v, bool is_var)
{
	if (pat->kind == EX_NAME) {
		Name n = { pat->u.name, pat->span };
		if (is_var) bind_var(cx, n, v);
		else bind_let(cx, n, v);
		return;
	}
	if (pat->kind != EX_TUPLE) return;
	int n = pattern_size(pat);
	if (!sv_bad(v) && (v.kind != SV_TUPLE || v.u.tuple->n != n)) {
		Diag *d = cx_diag(cx, D_PATTERN, pat->span, str_i64(n), sv_what(v));
		if (v.kind != SV_TUPLE && pat->u.list.p[0]->kind == EX_NAME) {
			diag_help(d, "it is one value: write `%s`", pat->u.list.p[0]->u.name);
			diag_edit(d, pat->span, pat->u.list.p[0]->u.name);
		}
		v = sv_absent(v.span);
	}
	for (int i = 0; i < n; i++) pattern_bind(cx, pat->u.list.p[i], pattern_part(v, i), is_var);
}

static Str pattern_name(const Expr *pat)
{
	return pat->kind == EX_NAME ? pat->u.name : sema_source(pat);
}

/* The value of a declaration, converted to its written type (element by element for tuples). */
static Sv convert_to_written(Cx *cx, Sv v, Sv type, ConvWhy why, Str what, const Expr *written)
{
	if (sv_bad(v) || sv_bad(type)) return sv_poison(v.span);
	if (type.kind != SV_TUPLE) {
		bool view = v.kind == SV_VIEW && type.type->kind == TY_VIEW && v.type == type.type;
		if (!view) return conv_to(cx, v, type.type, why, what, written->span);
		Str of = str_fmt(why == CONV_RETURN ? "the result of `%s`" : "the type of `%s`", what);
		return view_fits(cx, written, of, v) ? v : sv_poison(v.span);
	}
	const Tuple *t = type.u.tuple;
	if (v.kind != SV_TUPLE || v.u.tuple->n != t->n) {
		Out *o = out_new();
		out_printf(o, why == CONV_RETURN ? "`%s` returns (" : "`%s` is (", what);
		for (int i = 0; i < t->n; i++) out_printf(o, "%s%s", i ? ", " : "", sv_value_text(t->p[i]));
		Str goal = str_fmt("%s)", out_take(o));
		Diag *d = cx_diag(cx, D_CONVERT_KIND, v.span, goal, sv_what(v));
		diag_label(d, written->span, "%s", goal);
		return sv_poison(v.span);
	}
	Sv *p = NEW_ARRAY(A_TMP, Sv, t->n);
	for (int i = 0; i < t->n; i++) {
		const Expr *part = written->kind == EX_TUPLE ? written->u.list.p[i] : written;
		p[i] = convert_to_written(cx, v.u.tuple->p[i], t->p[i], why, what, part);
		if (sv_bad(p[i])) return p[i];
	}
	return sv_tuple(t->n, p, v.span);
}

static void note_word(Cx *cx, const Stmt *s)
{
	const Expr *pat = s->u.decls.p[0].pat;
	Span word = { s->span.lo, s->span.lo + 3 };
	Bind *b = pat->kind == EX_NAME ? scope_find(cx, pat->u.name) : NULL;
	if (b && s->u.decls.n == 1 && !strcmp(span_source(word), s->kind == ST_VAR ? "var" : "let")) b->word = word;
}

static void declare(Cx *cx, const Stmt *s)
{
	for (int i = 0; i < s->u.decls.n; i++) {
		const Decl *d = &s->u.decls.p[i];
		Sv type = d->type ? sema_type(cx, d->type) : sv_none(s->span);
		Sv v = sema_expr(cx, d->init, type.kind == SV_TYPE ? type.type : NULL);
		if (d->type) v = convert_to_written(cx, v, type, CONV_INIT, pattern_name(d->pat), d->type);
		pattern_bind(cx, d->pat, v, s->kind == ST_VAR);
	}
	note_word(cx, s);
}

/* ---- assignment ---- */
static const char *fixed_word(const Bind *b, const Cx *cx)
{
	if (b->kind == BIND_DIM) return "a dimension";
	if (b->kind == BIND_VAR) return "a variable outside of the function value";
	if (b->depth <= 1 && !b->local) return "a parameter";
	return b->local && b->counter ? "the counter of a loop" : cx->frame->item ? "declared with `let`" : "a constant";
}

/* `v = ...` as Python declares: taken for a declaration, so that the name's uses are not reported as well. */
static void assign_unknown(Cx *cx, const Expr *lhs)
{
	unknown_target(cx, lhs->u.name, lhs->span);
	scope_add_sv(cx, (Name){ lhs->u.name, lhs->span }, sv_absent(lhs->span))->used = true;
}

static void assign_name(Cx *cx, const Expr *lhs, Sv v)
{
	Bind *b = scope_find(cx, lhs->u.name);
	bool bad;
	if (!b) {
		Global *g = scope_global(cx, lhs->u.name, lhs->span, &bad);
		if (g) cx_diag(cx, D_ASSIGN_FIXED, lhs->span, g->name, "declared outside of the kernel");
		else if (!bad) assign_unknown(cx, lhs);
		return;
	}
	if (b->kind != BIND_VAR || b->depth < cx->frame->barrier) {
		Diag *d = cx_diag(cx, D_ASSIGN_FIXED, lhs->span, b->name, fixed_word(b, cx));
		if (b->at.hi) diag_label(d, b->at, "declared here");
		if (b->sv.kind == SV_VIEW)
			diag_help(d, "memory is written by `%s.store(index, x)`, one element by `%s[index] = x`", b->name, b->name);
		else if (b->kind == BIND_SV && b->depth <= 1 && !b->local)
			diag_help(d, "a parameter keeps its value; a `var` begins with it, and `return` gives a result back");
		if (b->kind == BIND_VAR) diag_help(d, "a function value gives what it computes back, as its result");
		if (b->counter)
			diag_help(d, "`step` says how far a counter goes; a `while` loop with a `var` counts in any way");
		if (b->local && b->kind == BIND_SV && !b->counter) diag_help(d, "declare it with `var` instead of `let`");
		if (b->local && b->kind == BIND_SV && !b->counter && b->word.hi) diag_edit(d, b->word, "var");
		return;
	}
	b->assigned = true;
	b->scalar_meant_tile |= b->type && type_is_scalar(b->type) && (sv_bad(v) || (sv_is_tile(v) && !sv_one_element(v)));
	if (sv_bad(v) || sv_bad(b->sv)) return;
	v = conv_to(cx, v, b->type, CONV_ASSIGN, b->name, b->at);
	Val *val = sv_bad(v) ? NULL : conv_val(cx, v);
	if (val) bind_set(b, val);
}

static void assign_tuple(Cx *cx, const Stmt *s)
{
	const Expr *lhs = s->u.assign.lhs;
	Sv v = sema_expr(cx, s->u.assign.rhs, NULL);
	int n = lhs->u.list.n;
	if (sv_bad(v)) return;
	if (v.kind != SV_TUPLE || v.u.tuple->n != n) {
		cx_diag(cx, D_PATTERN, lhs->span, str_i64(n), sv_what(v));
		return;
	}
	for (int i = 0; i < n; i++) {
		const Expr *e = lhs->u.list.p[i];
		if (e->kind == EX_NAME) assign_name(cx, e, v.u.tuple->p[i]);
		else if (e->kind != EX_UNDER) cx_diag(cx, D_ASSIGN_PLACE, e->span, sema_source(e));
	}
}

static bool is_product(const Expr *e) { return e->kind == EX_BINARY && e->u.bin.op == BIN_MATMUL; }

/* acc += a @ b, acc = acc + a @ b: what a message about the product would have written instead. */
static void note_added(Cx *cx, const Stmt *s, const Bind *b)
{
	const Expr *r = s->u.assign.rhs;
	BinOp op = s->u.assign.op;
	cx->added.name = NULL;
	if (!b || b->kind != BIND_VAR || !b->type || !type_is_tile(b->type) || b->type->elem != EL_F32) return;
	if (op == BIN_NONE && r->kind == EX_BINARY && r->u.bin.op == BIN_ADD && r->u.bin.l->kind == EX_NAME
		&& r->u.bin.l->u.name == b->name) r = r->u.bin.r;
	else if (op != BIN_ADD) return;
	if (!is_product(r)) return;
	cx->added.name = b->name;
	cx->added.product = r->span;
	cx->added.whole = (Span){ s->u.assign.lhs->span.lo, s->u.assign.rhs->span.hi };
}

static void assign_value(Cx *cx, const Stmt *s)
{
	const Expr *lhs = s->u.assign.lhs;
	Bind *b = scope_find(cx, lhs->u.name);
	Sv v;
	note_added(cx, s, b);
	if (b && b->kind == BIND_SV && b->sv.kind == SV_VIEW) {
		v = sv_absent(lhs->span);
	} else if (s->u.assign.op == BIN_NONE) {
		v = sema_expr(cx, s->u.assign.rhs, b ? b->type : NULL);
	} else {
		Sv old = sema_expr(cx, lhs, NULL), rhs = sema_operand(cx, s->u.assign.rhs);
		if (sv_bad(old) || sv_bad(rhs)) return;
		DiagMark m = diag_mark();
		v = op_binary(cx, s->u.assign.op, old, rhs, s->u.assign.at, s->span);
		bool grown = sv_is_tile(v) && sv_is_tile(old) && !type_same_shape(v.type, old.type);
		if (grown) diag_rollback(m);    /* it is not assigned, which is what is said */
		v.span = s->u.assign.rhs->span;
	}
	assign_name(cx, lhs, v);
}

static void assign(Cx *cx, const Stmt *s)
{
	const Expr *lhs = s->u.assign.lhs;
	if (lhs->kind == EX_NAME) {
		assign_value(cx, s);
	} else if (lhs->kind == EX_TUPLE) {
		assign_tuple(cx, s);
	} else if (lhs->kind == EX_INDEX) {
		Sv base = sema_indexed(cx, lhs);
		if (!sv_bad(base)) build_index_store(cx, base, lhs, s->u.assign.op, s->u.assign.rhs, s->u.assign.at);
	} else if (lhs->kind != EX_ERROR) {
		cx_diag(cx, D_ASSIGN_PLACE, lhs->span, sema_source(lhs));
	}
}

/* ---- if ---- */
static bool branch(Cx *cx, IrBlock *region, const Block *b, const Stmt *s, const BindVec *carried)
{
	Spot spot = spot_enter(cx, region);
	if (b) stmt_block(cx, b);
	if (s) stmt(cx, s);
	bool dead = cx->dead;
	region_end(cx, OP_YIELD, carried->n, bind_values(carried, 0));
	spot_leave(cx, spot);
	return dead;
}

static Val *condition(Cx *cx, const Expr *e)
{
	Sv c = sema_expr(cx, e, NULL);
	if (!sv_bad(c)) c = conv_cond(cx, c, e->span);
	return conv_val(cx, sv_bad(c) ? sv_bool(false, e->span) : c);
}

static void if_run(Cx *cx, const Stmt *s)
{
	Val *c = condition(cx, s->u.ifs.cond);
	BindVec carried = assigned_in(cx, s->u.ifs.then, s->u.ifs.other);
	Val **before = bind_values(&carried, 0);
	cx->b.span = s->span;
	Op *op = ir_op(&cx->b, OP_IF, 1, &c, carried.n, bind_types(&carried, 0));
	IrBlock *then = ir_region(op), *other = ir_region(op);
	bool dead = branch(cx, then, s->u.ifs.then, NULL, &carried);
	bind_restore(&carried, before);
	dead &= branch(cx, other, NULL, s->u.ifs.other, &carried);
	bind_restore(&carried, op->out);
	cx->dead = dead;
}

static void if_const(Cx *cx, const Stmt *s)
{
	bool c;
	if (!sema_const_bool(cx, s->u.ifs.cond, &c)) return;
	if (c) names_touch(cx, NULL, s->u.ifs.other);
	else names_touch(cx, s->u.ifs.then, NULL);
	if (c) stmt_block(cx, s->u.ifs.then);
	else if (s->u.ifs.other) stmt(cx, s->u.ifs.other);
}

/* ---- loops ---- */
static void loop_body(Cx *cx, const Stmt *s, const BindVec *carried, Val *counter)
{
	LoopCx loop = { .up = cx->loop, .carried = carried };
	cx->loop = &loop;
	scope_open(cx);
	if (counter) {
		Bind *b = scope_add_sv(cx, s->u.loop.name, sv_val(counter, s->u.loop.name.span));
		b->local = b->counter = b->used = true;
		type_note(cx, s->u.loop.name, b->sv);
	}
	stmt_body(cx, s->u.loop.body);
	scope_close(cx);
	region_end(cx, OP_YIELD, carried->n, bind_values(carried, 0));
	cx->loop = loop.up;
}

static bool step_positive(Cx *cx, Sv step, const Expr *e)
{
	Int i;
	if (!sv_get_int(step, &i) || i >= 1) return true;
	Diag *d = cx_diag(cx, D_LOOP_STEP, e->span, sv_value_text(step));
	diag_help(d, "count upwards, and use `n - 1 - i`");
	return false;
}

/* lo, hi and step as values of one type; false: reported. */
static bool loop_bounds(Cx *cx, const Stmt *s, Val *in[3])
{
	const Expr *e = s->u.loop.step;
	Sv lo = sema_expr(cx, s->u.loop.lo, NULL), hi = sema_expr(cx, s->u.loop.hi, NULL);
	Sv step = e ? sema_expr(cx, e, NULL) : sv_int(1, s->u.loop.hi->span);
	if (sv_bad(lo) || sv_bad(hi) || sv_bad(step)) return false;
	const Type *t = conv_common(cx, lo, hi, span_join(lo.span, hi.span));
	if (!t || (e && !step_positive(cx, step, e))) return false;
	lo = conv_to(cx, lo, t, CONV_INIT, s->u.loop.name.s, lo.span);
	hi = conv_to(cx, hi, t, CONV_INIT, s->u.loop.name.s, hi.span);
	step = conv_to(cx, step, t, CONV_INIT, s->u.loop.name.s, lo.span);
	if (sv_bad(lo) || sv_bad(hi) || sv_bad(step)) return false;
	in[0] = conv_val(cx, lo);
	in[1] = conv_val(cx, hi);
	in[2] = conv_val(cx, step);
	if (e && step.kind != SV_CONST && cx->opt->checked) {
		Val *one = ir_const_int(&cx->b, t, 1);
		Val *ok = ir_binary(&cx->b, OP_GE, type_scalar(EL_BOOL), in[2], one);
		build_check(cx, sv_val(ok, e->span), str_fmt("the step `%s` is not positive", sema_source(e)), e->span);
	}
	return in[0] && in[1] && in[2];
}

static void put_unroll(const Cx *cx, Op *op)
{
	const Hint *h = cx->unroll;
	if (!h) return;
	ir_set_int(op, AT_UNROLL, h->v[0].value);
	int64_t on[2 * (sizeof h->v / sizeof *h->v)];
	int n = 0;
	for (int i = 1; i < h->n; i++) {
		on[n++] = strtoll(h->v[i].arch + strlen("sm_"), NULL, 10);
		on[n++] = h->v[i].value;
	}
	if (n) ir_set_ints(op, AT_UNROLL_ON, n, on);
}

static void for_run(Cx *cx, const Stmt *s)
{
	Val *bound[3];
	bool ok = loop_bounds(cx, s, bound);
	cx->b.span = s->span;
	for (int i = 0; !ok && i < 3; i++) bound[i] = ir_const_int(&cx->b, type_scalar(EL_I32), 0);
	BindVec carried = assigned_in(cx, s->u.loop.body, NULL);
	Val **in = bind_values(&carried, 3);
	memmove(in + 3, in, (size_t)carried.n * sizeof *in);
	memcpy(in, bound, sizeof bound);
	Op *op = ir_op(&cx->b, OP_FOR, 3 + carried.n, in, carried.n, bind_types(&carried, 0));
	put_unroll(cx, op);
	IrBlock *body = ir_region(op);
	Spot spot = spot_enter(cx, body);
	Val *counter = ir_arg(body, bound[0]->type, s->u.loop.name.s);
	bind_args(&carried, body);
	loop_body(cx, s, &carried, counter);
	spot_leave(cx, spot);
	bind_restore(&carried, op->out);
}

static void while_run(Cx *cx, const Stmt *s)
{
	BindVec carried = assigned_in(cx, s->u.loop.body, NULL);
	Val **init = bind_values(&carried, 0);
	Op *op = ir_op(&cx->b, OP_WHILE, carried.n, init, carried.n, bind_types(&carried, 0));
	put_unroll(cx, op);
	IrBlock *test = ir_region(op), *body = ir_region(op);
	Spot spot = spot_enter(cx, test);
	bind_args(&carried, test);
	Val **in = bind_values(&carried, 1);
	memmove(in + 1, in, (size_t)carried.n * sizeof *in);
	in[0] = condition(cx, s->u.loop.lo);
	ir_op(&cx->b, OP_CONDITION, 1 + carried.n, in, 0, NULL);
	spot_leave(cx, spot);
	spot = spot_enter(cx, body);
	bind_args(&carried, body);
	loop_body(cx, s, &carried, NULL);
	spot_leave(cx, spot);
	bind_restore(&carried, op->out);
}

/* ---- unrolled loops ---- */
static void unrolled_body(Cx *cx, const Stmt *s, LoopCx *loop, Int i)
{
	cx->loop = loop;
	scope_open(cx);
	Bind *b = scope_add_sv(cx, s->u.loop.name, sv_int(i, s->u.loop.name.span));
	b->local = b->counter = b->used = true;
	stmt_body(cx, s->u.loop.body);
	scope_close(cx);
	cx->loop = loop->up;
}

/* One round whose break or continue depends on run-time values: a scope that gives the carried
 * values and whether to stop. */
static Val *scoped_round(Cx *cx, const Stmt *s, LoopCx *loop, Int i)
{
	const BindVec *carried = loop->carried;
	const Type **types = bind_types(carried, 1);
	types[carried->n] = type_scalar(EL_BOOL);
	Op *op = ir_op(&cx->b, OP_SCOPE_, 0, NULL, carried->n + 1, types);
	Spot spot = spot_enter(cx, ir_region(op));
	unrolled_body(cx, s, loop, i);
	Val **end = bind_values(carried, 1);
	if (!region_ended(cx)) {
		end[carried->n] = ir_const_int(&cx->b, type_scalar(EL_BOOL), 0);
		region_end(cx, OP_LEAVE, carried->n + 1, end);
	}
	spot_leave(cx, spot);
	bind_restore(carried, op->out);
	return op->out[carried->n];
}

static Val *guarded_round(Cx *cx, const Stmt *s, LoopCx *loop, Int i, Val *done)
{
	const BindVec *carried = loop->carried;
	const Type **types = bind_types(carried, 1);
	types[carried->n] = type_scalar(EL_BOOL);
	Val **keep = bind_values(carried, 1);
	keep[carried->n] = done;
	Op *op = ir_op(&cx->b, OP_IF, 1, &done, carried->n + 1, types);
	IrBlock *then = ir_region(op), *other = ir_region(op);
	Spot spot = spot_enter(cx, then);
	ir_op(&cx->b, OP_YIELD, carried->n + 1, keep, 0, NULL);
	spot_leave(cx, spot);
	spot = spot_enter(cx, other);
	Val *stop = scoped_round(cx, s, loop, i);
	Val **end = bind_values(carried, 1);
	end[carried->n] = stop;
	ir_op(&cx->b, OP_YIELD, carried->n + 1, end, 0, NULL);
	spot_leave(cx, spot);
	bind_restore(carried, op->out);
	return op->out[carried->n];
}

static void note_copied(Cx *cx, const Stmt *s)
{
	SpanVec *v = &cx->s->copied;
	for (int i = 0; i < v->n; i++)
		if (v->p[i].lo == s->span.lo) return;
	vec_push(A_UNIT, v, s->span);
}

static void for_const(Cx *cx, const Stmt *s)
{
	Int lo, hi, step = 1;
	if (!sema_const_int(cx, s->u.loop.lo, &lo) || !sema_const_int(cx, s->u.loop.hi, &hi)) return;
	if (s->u.loop.step && !sema_const_int(cx, s->u.loop.step, &step)) return;
	if (s->u.loop.step && !step_positive(cx, sv_int(step, s->span), s->u.loop.step)) return;
	bool scoped = block_breaks_early(s->u.loop.body);
	BindVec carried = { 0 };
	if (scoped) carried = assigned_in(cx, s->u.loop.body, NULL);
	LoopCx loop = { .up = cx->loop, .unrolled = true, .scoped = scoped, .carried = &carried };
	Val *done = NULL;
	int errors = diag_errors();
	if (lo >= hi) names_touch(cx, s->u.loop.body, NULL);
	note_copied(cx, s);
	for (Int i = lo; i < hi && !loop.broke && !stmt_too_large(cx, s->span); i += step) {
		cx->copies++;
		if (!scoped) unrolled_body(cx, s, &loop, i);
		else done = done ? guarded_round(cx, s, &loop, i, done) : scoped_round(cx, s, &loop, i);
		if (cx->dead && !loop.left) break;      /* a return */
		cx->dead = loop.left = false;
		if (diag_errors() > errors) break;      /* the next iterations would say the same */
	}
}

static void leave_loop(Cx *cx, const Stmt *s)
{
	LoopCx *l = cx->loop;
	bool brk = s->kind == ST_BREAK;
	if (!l) {
		Diag *d = cx_diag(cx, D_LOOP_OUTSIDE, s->span, brk ? "break" : "continue");
		if (!brk) diag_note(d, "it goes on with the next iteration of a `for` or `while` around it");
		diag_help(d, "`return` leaves a function or a kernel");
		return;
	}
	cx->dead = true;
	if (l->unrolled && !l->scoped) {
		l->broke |= brk;
		l->left = true;
		return;
	}
	Val **v = bind_values(l->carried, 1);
	if (l->scoped) v[l->carried->n] = ir_const_int(&cx->b, type_scalar(EL_BOOL), brk);
	OpCode code = l->scoped ? OP_LEAVE : brk ? OP_BREAK : OP_CONTINUE;
	region_end(cx, code, l->carried->n + l->scoped, v);
}

/* ---- return ---- */
static void flatten(Cx *cx, Sv v, ValVec *out)
{
	if (v.kind == SV_TUPLE) {
		for (int i = 0; i < v.u.tuple->n; i++) flatten(cx, v.u.tuple->p[i], out);
		return;
	}
	Val *val = sv_bad(v) || v.kind == SV_NONE ? NULL : conv_val(cx, v);
	if (val) vec_push(A_TMP, out, val);
}

/* In generic code the type is written with names, as those of one call fit no other. */
static void help_result_type(Cx *cx, Diag *d, Sv v)
{
	Str words = sv_what(v);
	if (sv_is_tile(v)) words = tile_words(cx, elem_word(cx, v.type->elem), v.type->rank, v.type->log2);
	else if (sv_is_scalar(v)) words = elem_word(cx, v.type->elem);
	diag_help(d, "its result type follows the parameters%s", words ? str_fmt(", as in `-> %s`", words) : "");
}

static Sv return_value(Cx *cx, const Stmt *s)
{
	RetCx *r = cx->ret;
	bool none = r->type.kind == SV_NONE && !r->loose;
	if (!s->u.e) {
		if (!none) cx_diag(cx, D_RETURN_VALUE, s->span, r->name, r->loose ? "a value" : sema_source(r->written));
		return none ? sv_none(s->span) : sv_poison(s->span);
	}
	Sv v = sema_expr(cx, s->u.e, r->type.kind == SV_TYPE ? r->type.type : NULL);
	if (none && !sv_bad(v) && v.kind != SV_NONE) {
		Diag *d = cx_diag(cx, D_RETURN_VALUE, s->u.e->span, r->name, "nothing");
		if (!r->kernel)
			help_result_type(cx, d, conv_default(cx, v));
		else
			diag_help(d, "a kernel gives its results to `out` parameters, as in `y.store(index, %s)`",
				sema_source(s->u.e));
		return sv_poison(s->span);
	}
	if (none || r->loose) return v;
	return convert_to_written(cx, v, r->type, CONV_RETURN, r->name, r->written);
}

static void return_stmt(Cx *cx, const Stmt *s)
{
	RetCx *r = cx->ret;
	if (!r) return;
	if (cx->loop) {
		Diag *d = cx_diag0(cx, D_RETURN_LOOP, s->span);
		diag_help(d, "leave the loop with `break` and return after it");
	}
	Sv v = return_value(cx, s);
	r->done = true;
	cx->dead = true;
	if (sv_bad(v)) r->value = v;    /* what is wrong was said: callers need no value */
	if (!r->scoped || cx->loop) {
		r->value = v;
		return;
	}
	ValVec vals = { 0 };
	flatten(cx, v, &vals);
	region_end(cx, OP_LEAVE, vals.n, vals.p);
}

/* ---- the rest ---- */
/* The variable among the arguments of a call that could hold its value: mma(a, b, acc) as a statement. */
static Bind *changed(Cx *cx, const Expr *e, Sv v)
{
	Bind *found = NULL;
	for (int i = 0; e->kind == EX_CALL && i < e->u.call.args.n; i++) {
		const Expr *x = e->u.call.args.p[i].value;
		Bind *b = x->kind == EX_NAME ? scope_find(cx, x->u.name) : NULL;
		if (b && b->kind == BIND_VAR && v.kind == SV_VAL && b->type == v.type) found = b;
	}
	return found;
}

static void expression(Cx *cx, const Stmt *s)
{
	const Expr *e = s->u.e;
	Sv v = sema_expr(cx, e, NULL);
	if (sv_bad(v)) return;
	bool call = e->kind == EX_CALL || (e->kind == EX_UNSAFE && e->u.un.x->kind == EX_CALL);
	const Op *def = v.kind == SV_VAL ? v.u.val->def : NULL;
	bool pure = v.kind != SV_NONE && (!def ? v.kind != SV_TUPLE : op_has(def, OPF_PURE));
	if (call && !pure) return;
	Diag *d = cx_diag(cx, D_RESULT_UNUSED, e->span, sema_source(e));
	Bind *b = changed(cx, e, v);
	if (!b) {
		diag_help(d, "it has a name, as in `let v = ...;`, or stands where it is needed");
		return;
	}
	b->assigned = true;             /* not another mistake */
	diag_help(d, "is `%s` to take it? nothing changes an argument; `%s = ...` does", b->name, b->name);
}

static void constant(Cx *cx, const Stmt *s)
{
	const Item *it = s->u.item;
	Sv v = constant_eval(cx, it, NULL);
	Bind *b = scope_add_sv(cx, it->name, v);
	b->local = true;
	type_note(cx, it->name, v);
}

static void stmt_by_kind(Cx *cx, const Stmt *s)
{
	switch (s->kind) {
	case ST_ERROR: break;
	case ST_LET: case ST_VAR: declare(cx, s); break;
	case ST_EXPR: expression(cx, s); break;
	case ST_ASSIGN: assign(cx, s); break;
	case ST_FOR:
		if (s->is_const) for_const(cx, s);
		else for_run(cx, s);
		break;
	case ST_WHILE: while_run(cx, s); break;
	case ST_IF:
		if (s->is_const) if_const(cx, s);
		else if_run(cx, s);
		break;
	case ST_BREAK: case ST_CONTINUE: leave_loop(cx, s); break;
	case ST_RETURN: return_stmt(cx, s); break;
	case ST_SCRATCH: {
		Diag *d = cx_diag(cx, D_SCRATCH_PLACE, s->span, s->u.decls.p[0].pat->u.name);
		diag_help(d, "within a kernel values are tiles, in `let` and `var`; an entry has scratch memory, and passes it "
			"to kernels as a tensor");
		break;
	}
	case ST_UNSAFE:
		cx->unsafe++;
		stmt_block(cx, s->u.block);
		cx->unsafe--;
		break;
	case ST_BLOCK: stmt_block(cx, s->u.block); break;
	case ST_CONST: constant(cx, s); break;
	}
}

static void stmt(Cx *cx, const Stmt *s)
{
	if (!sema_deeper(cx, s->span)) return;
	int64_t latency = cx->latency;
	const Hint *unroll = cx->unroll;
	bool no_contract = cx->no_contract;
	cx->unroll = NULL;
	attrs_of_stmt(cx, s);
	cx->b.span = s->span;
	stmt_by_kind(cx, s);
	cx->latency = latency;
	cx->unroll = unroll;
	cx->no_contract = no_contract;
	cx->s->depth--;
}

static bool breaks(const Block *b);

/* Does a `break` in the statement leave the loop around it? */
static bool stmt_breaks(const Stmt *s)
{
	switch (s->kind) {
	case ST_BREAK: case ST_RETURN: return true;
	case ST_IF: return breaks(s->u.ifs.then) || (s->u.ifs.other && stmt_breaks(s->u.ifs.other));
	case ST_BLOCK: case ST_UNSAFE: return breaks(s->u.block);
	case ST_FOR: return s->is_const && breaks(s->u.loop.body);      /* a `return`, too */
	default: return false;
	}
}

static bool breaks(const Block *b)
{
	for (int i = 0; b && i < b->stmts.n; i++)
		if (stmt_breaks(b->stmts.p[i])) return true;
	return false;
}

static bool ends_block(const Stmt *s)
{
	if (s->kind == ST_WHILE) {
		const Expr *c = s->u.loop.lo;
		return !strcmp(span_source(c->span), "true") && !breaks(s->u.loop.body);
	}
	return s->kind == ST_RETURN || s->kind == ST_BREAK || s->kind == ST_CONTINUE;
}

void stmt_body(Cx *cx, const Block *b)
{
	for (int i = 0; b && i < b->stmts.n && !stmt_too_large(cx, b->span); i++) {
		bool ended = i && ends_block(b->stmts.p[i - 1]);
		if (ended && (cx->dead || b->stmts.p[i - 1]->kind == ST_WHILE))
			cx_diag0(cx, D_UNREACHABLE, b->stmts.p[i]->span);
		if (cx->dead) {
			for (int k = i; k < b->stmts.n; k++) names_touch(cx, NULL, b->stmts.p[k]);
			break;
		}
		stmt(cx, b->stmts.p[i]);
	}
}

void stmt_block(Cx *cx, const Block *b)
{
	scope_open(cx);
	stmt_body(cx, b);
	scope_close(cx);
}
