/* Expressions that the launcher evaluates: extents, grids, conditions, arguments of launches in entries. They are read
 * as symbolic integers over dimensions, free strides, integer scalar parameters and compile-time values. */
#include "sema/scope.h"

#include <string.h>

static const SymVal NO_SYM = { NULL, EL_I32 };

bool names_kernel(Cx *cx, const Expr *e)
{
	bool bad;
	const Global *g = e->kind == EX_NAME && !scope_find(cx, e->u.name) ? scope_global(cx, e->u.name, e->span, &bad)
		: NULL;
	return g && (g->item->kind == IT_KERNEL || g->item->kind == IT_INSTANCE || g->item->kind == IT_TUNE);
}

static bool makes_tile(Str name)
{
	static const char *const all[] = { "zeros", "ones", "full", "empty", "iota", "arange" };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(name, all[i])) return true;
	return false;
}

static void help_launch(Cx *cx, Diag *d, const Expr *e)
{
	const Expr *f = e->kind == EX_CALL ? e->u.call.callee : NULL;
	Str name = !f ? NULL : f->kind == EX_NAME ? f->u.name : f->kind == EX_MEMBER ? f->u.mem.name.s : NULL;
	const Expr *x = f && e->u.call.args.n ? e->u.call.args.p[0].value : NULL;
	const Expr *of = f && f->kind == EX_MEMBER ? f->u.mem.base : x;
	bool length = name && (!strcmp(name, "len") || !strcmp(name, "size") || !strcmp(name, "shape"));
	if (name && !strcmp(name, "ceil") && x->kind == EX_BINARY && x->u.bin.op == BIN_DIV) {
		Str fix = str_fmt("cdiv(%s, %s)", sema_source(x->u.bin.l), sema_source(x->u.bin.r));
		diag_help(d, "integers alone are computed there: write `%s`", fix);
		diag_edit(d, e->span, fix);
	} else if (length && of && of->kind == EX_NAME && (f->kind == EX_NAME || x)) {
		Str fix = str_fmt("%s.extent(%s)", sema_source(of), f->kind == EX_NAME ? "0" : sema_source(x));
		diag_help(d, "write `%s`", fix);
		diag_edit(d, e->span, fix);
	} else if (name && (name == str_intern("ceil") || name == str_intern("floor")))
		diag_help(d, "integers alone are computed there, and `cdiv(a, b)` rounds a quotient up");
	else if (name && name == str_intern("load"))
		diag_help(d, "memory is read in a kernel, which an entry launches");
	else if (names_kernel(cx, f ? f : e))
		diag_help(d, "a launch gives no value: what the kernel writes is passed to it, as in `%s(x, y);`",
			sema_source(f ? f : e));
	else if (name && makes_tile(name))
		diag_help(d, "memory between kernels is declared, as in `scratch t: tensor<f32, [n]>;`, and a kernel fills it");
	else if (e->kind == EX_NAME || e->kind == EX_FLOAT)
		diag_help(d, "what depends on anything else is decided by the caller, or in the kernel");
	else
		diag_help(d, "it is computed in the kernel, or passed as an `i32` parameter");
}

static SymVal not_launch(Cx *cx, const Expr *e, const char *what)
{
	bool body = cx->frame->item && cx->frame->item->kind == IT_ENTRY && e->kind == EX_CALL;
	if (body) cx->s->entry_said = cx->frame->item;
	Diag *d = cx_diag(cx, D_SYM_EXPR, e->span, sema_source(e), what);
	help_launch(cx, d, e);
	return NO_SYM;
}

/* The option `-D` that gave a parameter of the program its value; NULL: it has that of its declaration, or is none. */
static Str defined_by(Cx *cx, Str name)
{
	const Global *g = scope_find(cx, name) ? NULL : unit_find(cx->unit, name, NULL);
	return g && g->define ? str_fmt("-D %s=%s", name, g->define) : NULL;
}

/* A name in a divisor has its value from elsewhere: an instance, an option. */
static SymVal zero_launch(Cx *cx, const Expr *e, const Expr *by)
{
	Diag *d = cx_diag(cx, D_SYM_EXPR, e->span, sema_source(e), "it divides by zero");
	if (by->kind == EX_NAME) {
		diag_label(d, by->span, "`%s` is 0", by->u.name);
		Str option = defined_by(cx, by->u.name);
		if (option) diag_note(d, "`%s` on the command line gives it that value", option);
		diag_help(d, "give `%s` another value %s", by->u.name, option ? "there" : "where it is set");
	} else {
		diag_help(d, "the divisor is another one");
	}
	return NO_SYM;
}

static SymVal of_const(Cx *cx, const Expr *e, Sv v)
{
	Int i;
	bool b;
	if (sv_bad(v)) return NO_SYM;
	if (sv_get_bool(v, &b)) return (SymVal){ sym_const(b), EL_BOOL };
	if (!sv_get_int(v, &i)) {
		return not_launch(cx, e, sv_is_const(v) ? "only integers and conditions are computed there"
			: "only dimensions, integer parameters and compile-time values are known there");
	}
	if (i < INT64_MIN || i > INT64_MAX) return not_launch(cx, e, "it does not fit i64");
	return (SymVal){ sym_const((int64_t)i), v.kind == SV_CONST ? v.type->elem == EL_I64 ? EL_I64 : EL_I32 : EL_I32 };
}

static SymVal of_name(Cx *cx, const Expr *e)
{
	Bind *b = scope_find(cx, e->u.name);
	bool bad;
	if (b) {
		b->used = true;
		if (b->sym) return (SymVal){ b->sym, b->elem };
		return of_const(cx, e, b->sv);
	}
	Global *g = scope_global(cx, e->u.name, e->span, &bad);
	if (bad) return NO_SYM;
	if (g && (g->item->kind == IT_CONST || g->item->kind == IT_PARAM))
		return of_const(cx, e, global_value(cx, g, e->span));
	if (e->u.name == str_intern("true") || e->u.name == str_intern("false"))
		return (SymVal){ sym_const(e->u.name == str_intern("true")), EL_BOOL };
	if (!unknown_extent_name(cx, e->u.name, e->span)) unknown_name(cx, e->u.name, e->span);
	return NO_SYM;
}

static Elem wider(SymVal a, SymVal b)
{
	return a.elem == EL_I64 || b.elem == EL_I64 ? EL_I64 : EL_I32;
}

static bool is_zero(const Sym *s)
{
	int64_t v;
	return sym_is_const(s, &v) && v == 0;
}

static bool want_int(Cx *cx, const Expr *e, SymVal v)
{
	if (v.sym && v.elem == EL_BOOL) not_launch(cx, e, "it is a condition, and a number is needed");
	return v.sym && v.elem != EL_BOOL;
}

static bool want_cond(Cx *cx, const Expr *e, SymVal v)
{
	if (v.sym && v.elem != EL_BOOL) not_launch(cx, e, "it is a number, and a condition is needed");
	return v.sym && v.elem == EL_BOOL;
}

static SymVal of_compare(Cx *cx, const Expr *e, SymVal l, SymVal r)
{
	bool both_bool = l.elem == EL_BOOL && r.elem == EL_BOOL;
	BinOp op = e->u.bin.op;
	if (!both_bool && (!want_int(cx, e->u.bin.l, l) || !want_int(cx, e->u.bin.r, r))) return NO_SYM;
	switch (op) {
	case BIN_EQ: return (SymVal){ sym_cmp(SYM_EQ, l.sym, r.sym), EL_BOOL };
	case BIN_NE: return (SymVal){ sym_cmp(SYM_NE, l.sym, r.sym), EL_BOOL };
	case BIN_LT: return (SymVal){ sym_cmp(SYM_LT, l.sym, r.sym), EL_BOOL };
	case BIN_LE: return (SymVal){ sym_cmp(SYM_LE, l.sym, r.sym), EL_BOOL };
	case BIN_GT: return (SymVal){ sym_cmp(SYM_LT, r.sym, l.sym), EL_BOOL };
	default: return (SymVal){ sym_cmp(SYM_LE, r.sym, l.sym), EL_BOOL };
	}
}

static SymVal shift_left(Cx *cx, const Expr *e, SymVal l, SymVal r)
{
	int64_t n;
	if (!sym_is_const(r.sym, &n) || n < 0 || n > 62)
		return not_launch(cx, e, "the count of a shift must be a constant below 63");
	return (SymVal){ sym_mul(l.sym, sym_const((int64_t)1 << n)), wider(l, r) };
}

/* T == f32 and S == [4, 8] are conditions too: decided here and now. */
static bool about_types(Cx *cx, const Expr *e, SymVal *out)
{
	const Expr *l = e->u.bin.l;
	bool call = l->kind == EX_CALL && l->u.call.callee->kind == EX_NAME
		&& l->u.call.callee->u.name == str_intern("type_of");
	bool type = l->kind == EX_TYPE || call;
	Elem elem;
	if (l->kind == EX_NAME) {
		const Bind *b = scope_find(cx, l->u.name);
		type = b ? b->kind == BIND_SV && (b->sv.kind == SV_TYPE || b->sv.kind == SV_SHAPE)
			: elem_by_name(l->u.name, &elem);
	}
	if (!type) return false;
	*out = of_const(cx, e, sema_expr(cx, e, NULL));
	return true;
}

static SymVal of_binary(Cx *cx, const Expr *e)
{
	BinOp op = e->u.bin.op;
	SymVal t;
	if ((op == BIN_EQ || op == BIN_NE) && about_types(cx, e, &t)) return t;
	SymVal l = sema_sym(cx, e->u.bin.l), r = l.sym ? sema_sym(cx, e->u.bin.r) : NO_SYM;
	if (!l.sym || !r.sym) return NO_SYM;
	if (op == BIN_ANDAND || op == BIN_OROR) {
		if (!want_cond(cx, e->u.bin.l, l) || !want_cond(cx, e->u.bin.r, r)) return NO_SYM;
		return (SymVal){ sym_logic(op == BIN_ANDAND ? SYM_AND : SYM_OR, l.sym, r.sym), EL_BOOL };
	}
	if (op >= BIN_EQ && op <= BIN_GE) return of_compare(cx, e, l, r);
	if (!want_int(cx, e->u.bin.l, l) || !want_int(cx, e->u.bin.r, r)) return NO_SYM;
	if ((op == BIN_DIV || op == BIN_MOD) && is_zero(r.sym)) return zero_launch(cx, e, e->u.bin.r);
	switch (op) {
	case BIN_ADD: return (SymVal){ sym_add(l.sym, r.sym), wider(l, r) };
	case BIN_SUB: return (SymVal){ sym_sub(l.sym, r.sym), wider(l, r) };
	case BIN_MUL: return (SymVal){ sym_mul(l.sym, r.sym), wider(l, r) };
	case BIN_DIV: return (SymVal){ sym_div(l.sym, r.sym), wider(l, r) };
	case BIN_MOD: return (SymVal){ sym_mod(l.sym, r.sym), wider(l, r) };
	case BIN_SHL: return shift_left(cx, e, l, r);
	default: return not_launch(cx, e, "only + - * / % << and comparisons are computed there");
	}
}

static SymVal of_aligned(Cx *cx, const Expr *e)
{
	const ArgVec *a = &e->u.call.args;
	Int bytes;
	if (a->n != 2 || a->p[0].value->kind != EX_NAME)
		return not_launch(cx, e, "`aligned` takes a tensor and a number of bytes");
	Bind *b = scope_find(cx, a->p[0].value->u.name);
	bool memory = b && b->kind == BIND_SV && (b->sv.kind == SV_VIEW || (b->sv.type && elem_is_ptr(b->sv.type->elem)));
	if (!memory) return not_launch(cx, a->p[0].value, "`aligned` takes a tensor parameter");
	b->used = true;
	if (!sema_const_int(cx, a->p[1].value, &bytes)) return NO_SYM;
	if (bytes < 1 || bytes > 4096 || (bytes & (bytes - 1)))
		return not_launch(cx, a->p[1].value, "an alignment is a power of two from 1 to 4096");
	return (SymVal){ sym_aligned(b->name, (int64_t)bytes), EL_BOOL };
}

static SymVal of_extent(Cx *cx, const Expr *e)
{
	const Expr *m = e->u.call.callee;
	Int axis;
	Bind *b = m->u.mem.base->kind == EX_NAME ? scope_find(cx, m->u.mem.base->u.name) : NULL;
	if (!b || b->kind != BIND_SV || b->sv.kind != SV_VIEW || m->u.mem.name.s != str_intern("extent"))
		return not_launch(cx, e, "of tensors only x.extent(i) is known there");
	b->used = true;
	if (e->u.call.args.n != 1 || !sema_const_int(cx, e->u.call.args.p[0].value, &axis)) return NO_SYM;
	const View *v = b->sv.u.view;
	if (axis < 0 || axis >= v->rank || !v->dim[axis].sym) return not_launch(cx, e, "the tensor has no such dimension");
	return (SymVal){ v->dim[axis].sym, v->dim[axis].elem };
}

static SymVal of_call(Cx *cx, const Expr *e)
{
	const Expr *f = e->u.call.callee;
	const ArgVec *a = &e->u.call.args;
	if (f->kind == EX_MEMBER && f->u.mem.base->kind == EX_NAME && scope_find(cx, f->u.mem.base->u.name))
		return of_extent(cx, e);
	if (f->kind == EX_MEMBER && habit_prefixed(cx, f, e)) return NO_SYM;
	if (f->kind != EX_NAME) return not_launch(cx, e, "only cdiv, min, max and aligned are called there");
	Str n = f->u.name;
	if (n == str_intern("aligned")) return of_aligned(cx, e);
	bool up = n == str_intern("cdiv") || n == str_intern("ceildiv"), lo = n == str_intern("min"),
		hi = n == str_intern("max");
	bool wide = n == str_intern("i64");
	if (a->n != (wide ? 1 : 2) || !(up || lo || hi || wide))
		return not_launch(cx, e, "only cdiv, min, max and aligned are called there");
	SymVal l = sema_sym(cx, a->p[0].value);
	if (!want_int(cx, a->p[0].value, l)) return NO_SYM;
	if (wide) return (SymVal){ l.sym, EL_I64 };
	SymVal r = sema_sym(cx, a->p[1].value);
	if (!want_int(cx, a->p[1].value, r)) return NO_SYM;
	if (up && is_zero(r.sym)) return zero_launch(cx, e, a->p[1].value);
	const Sym *s = up ? sym_cdiv(l.sym, r.sym) : lo ? sym_min(l.sym, r.sym) : sym_max(l.sym, r.sym);
	return (SymVal){ s, wider(l, r) };
}

static SymVal of_choice(Cx *cx, const Expr *e)
{
	SymVal c = sema_sym(cx, e->u.cond.c), a = sema_sym(cx, e->u.cond.a), b = sema_sym(cx, e->u.cond.b);
	if (!want_cond(cx, e->u.cond.c, c) || !want_int(cx, e->u.cond.a, a) || !want_int(cx, e->u.cond.b, b)) return NO_SYM;
	return (SymVal){ sym_select(c.sym, a.sym, b.sym), wider(a, b) };
}

static SymVal of_unary(Cx *cx, const Expr *e)
{
	SymVal x = sema_sym(cx, e->u.un.x);
	if (!x.sym) return NO_SYM;
	switch (e->u.un.op) {
	case UN_NOT:
		return want_cond(cx, e->u.un.x, x) ? (SymVal){ sym_logic(SYM_NOT, x.sym, NULL), EL_BOOL } : NO_SYM;
	case UN_NEG:
		return want_int(cx, e->u.un.x, x) ? (SymVal){ sym_sub(sym_const(0), x.sym), x.elem } : NO_SYM;
	case UN_PLUS:
		return want_int(cx, e->u.un.x, x) ? x : NO_SYM;
	default:
		return not_launch(cx, e, "only - and ! are computed there");
	}
}

/* S[0] of a shape and the like; elements of tensors are in memory. */
static SymVal of_index(Cx *cx, const Expr *e)
{
	const Expr *base = e->u.idx.base;
	const Bind *b = base->kind == EX_NAME ? scope_find(cx, base->u.name) : NULL;
	bool memory = base->kind == EX_INDEX || base->kind == EX_CALL || (b && b->kind == BIND_SV && b->sv.kind == SV_VIEW);
	if (memory) return not_launch(cx, e, "elements of tensors are not known there");
	return of_const(cx, e, sema_expr(cx, e, NULL));
}

static SymVal any_expr(Cx *cx, const Expr *e)
{
	switch (e->kind) {
	case EX_ERROR: return NO_SYM;
	case EX_NAME: return of_name(cx, e);
	case EX_BINARY: return of_binary(cx, e);
	case EX_UNARY: return of_unary(cx, e);
	case EX_CALL: return of_call(cx, e);
	case EX_COND: return of_choice(cx, e);
	case EX_INDEX: return of_index(cx, e);
	case EX_INT: case EX_FLOAT: case EX_MEMBER: return of_const(cx, e, sema_expr(cx, e, NULL));
	default: return not_launch(cx, e, "only dimensions, integer parameters and compile-time values are known there");
	}
}

SymVal sema_sym(Cx *cx, const Expr *e)
{
	SymVal v = any_expr(cx, e);
	if (v.sym && v.sym->size > SYM_SIZE_MAX)
		return not_launch(cx, e, "written out, with all names replaced by what they stand for, it is too long");
	return v;
}
