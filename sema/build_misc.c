/* Block indices, promises, and what helps debugging. */
#include "sema/build.h"

#include <string.h>

/* ---- the grid ---- */

static Sv grid_index(Cx *cx, Call *c)
{
	int64_t axis;
	Elem e = EL_I32;
	if (!arg_int(cx, c, 0, &axis)) return sv_poison(c->span);
	const Sym *s = axis >= 0 && axis < 4 ? sema_grid(cx, (int)axis, &e) : NULL;
	if (!s) {
		Diag *d = cx_diag(cx, D_GRID_AXIS, c->span, call_what(c), str_i64(axis), str_i64(sema_grid_rank(cx)));
		diag_note(d, "axes of the grid count from 0");
		return sv_poison(c->span);
	}
	int64_t k;
	if (c->op == OP_NUM_BLOCKS) return sym_is_const(s, &k) ? sv_int(k, c->span) : sv_val(sema_launch(cx, e, s), c->span);
	Val *v = ir_op1(at_span(cx, c->span), OP_BID, type_scalar(e), 0, NULL);
	ir_set_int(v->def, AT_AXIS, axis);
	const Sym *b = sym_atom(ATOM_BID, NULL, (int)axis);
	if (cx->facts && !facts_lt(cx->facts, b, s)) {
		facts_range(cx->facts, b, 0, e == EL_I64 ? INT64_MAX - 1 : INT32_MAX - 1);
		facts_bound(cx->facts, b, sym_const(0), s);
	}
	return sv_val(v, c->span);
}

/* ---- promises ---- */

static Sv hint(Cx *cx, Sv x, Str text, Span at)
{
	if (sv_is_const(x)) return x;
	Val *v = ir_unary(at_span(cx, at), OP_HINT, x.type, x.u.val);
	ir_set_str(v->def, AT_TEXT, text);
	return sv_val(v, at);
}

/* No two elements of an index tile are equal: sorted, each differs from the one before it. */
static Val *all_different(Cx *cx, Val *x)
{
	uint8_t log2[TILE_RANK] = { (uint8_t)type_log2_size(x->type) };
	const Type *flat = type_tile(x->type->elem, 1, log2), *index = type_tile(EL_I32, 1, log2);
	if (!log2[0]) return val_int(cx, EL_BOOL, 1);
	Val *s = x->type == flat ? x : ir_unary(&cx->b, OP_RESHAPE, flat, x);
	s = ir_unary(&cx->b, OP_SORT, flat, s);
	ir_set_int(s->def, AT_AXIS, 0);
	Val *before = ir_unary(&cx->b, OP_ROTATE, flat, s);
	ir_set_int(before->def, AT_AXIS, 0);
	ir_set_int(before->def, AT_SHIFT, 1);
	Val *first = val_cmp(cx, OP_EQ, ir_op1(&cx->b, OP_IOTA, index, 0, NULL), const_val(cx, index, num_int(0)));
	return val_op2(cx, OP_OR, first, val_cmp(cx, OP_NE, s, before));
}

/* lo <= x <= hi, where the bounds are values of the type; beyond it they say nothing, or are never met. */
static Val *within(Cx *cx, Val *x, int64_t lo, int64_t hi)
{
	Num n;
	Elem e = x->type->elem;
	Val *ok = const_val(cx, type_with_elem(x->type, EL_BOOL), num_int(1));
	Sv low = sv_int(lo, (Span){ 0, 0 }), high = sv_int(hi, (Span){ 0, 0 });
	if (lit_fit(low, e, &n) == FIT_OK) ok = val_cmp(cx, OP_GE, x, const_val(cx, x->type, n));
	else if (lo > 0) ok = const_val(cx, ok->type, num_int(0));
	if (lit_fit(high, e, &n) == FIT_OK) ok = val_op2(cx, OP_AND, ok, val_cmp(cx, OP_LE, x, const_val(cx, x->type, n)));
	else if (hi < 0) ok = const_val(cx, ok->type, num_int(0));
	return ok;
}

/* With --checked a promise is verified where it is made. */
static void check_promise(Cx *cx, Call *c, Sv x, int64_t a, int64_t b)
{
	Val *v = conv_val(cx, x), *ok;
	if (!cx->opt->checked || !v) return;
	at_span(cx, c->span);
	if (elem_is_ptr(v->type->elem)) v = ir_unary(&cx->b, OP_BITCAST, type_with_elem(v->type, EL_U64), v);
	const Type *t = v->type;
	Num n;
	switch (c->op) {
	case OP_ASSUME_ALIGNED: case OP_ASSUME_DIVISIBLE:
		ok = NULL;
		if (lit_fit(sv_int(a, c->span), t->elem, &n) == FIT_OK) ok = val_op2(cx, OP_REM, v, const_val(cx, t, n));
		ok = val_cmp(cx, OP_EQ, ok ? ok : v, const_val(cx, t, num_int(0)));
		break;
	case OP_ASSUME_BOUNDED: ok = within(cx, v, a, b); break;
	case OP_ASSUME_BOUNDED_BELOW: ok = within(cx, v, a, INT64_MAX); break;
	case OP_ASSUME_BOUNDED_ABOVE: ok = within(cx, v, INT64_MIN, a); break;
	default: ok = type_is_tile(t) ? all_different(cx, v) : const_val(cx, type_scalar(EL_BOOL), num_int(1)); break;
	}
	build_check(cx, sv_val(ok, c->span), str_fmt("`%s` does not hold", span_source(c->span)), c->span);
}

static bool promise_type(Cx *cx, Call *c, Sv x, bool pointer, bool either)
{
	Elem e = x.type->elem;
	bool ok = either ? elem_is_ptr(e) || elem_is_int(e) : pointer ? elem_is_ptr(e) : !elem_is_ptr(e) && elem_is_int(e);
	if (ok) return true;
	if (pointer) cx_diag(cx, D_NEED_POINTER, x.span, call_what(c), sv_what(x));
	else cx_diag(cx, D_NEED_INT, x.span, call_what(c), sv_what(x));
	return false;
}

static Sv aligned_view(Cx *cx, Call *c)
{
	Diag *d = cx_diag(cx, D_ALIGNED_TENSOR, c->span, span_source(c->arg[0].span));
	diag_help(d, "say it in the kernel's header, where the launcher checks it: `where aligned(%s, 16)`", span_source(c->arg[0].span));
	return sv_poison(c->span);
}

static Sv promise(Cx *cx, Call *c)
{
	int64_t a = 0, b = 0;
	Sv x = arg_value(cx, c, 0, NULL);
	if (x.kind == SV_VIEW && c->op == OP_ASSUME_ALIGNED) return aligned_view(cx, c);
	x = conv_default(cx, x);
	if (!is_value(cx, x, call_what(c))) return sv_poison(c->span);
	if (c->sig->n > 1 && !arg_int(cx, c, 1, &a)) return sv_poison(c->span);
	if (c->sig->n > 2 && !arg_int(cx, c, 2, &b)) return sv_poison(c->span);
	Str text = NULL;
	switch (c->op) {
	case OP_ASSUME_ALIGNED:
		if (!promise_type(cx, c, x, true, false)) return sv_poison(c->span);
		text = str_fmt("aligned %lld", (long long)a);
		break;
	case OP_ASSUME_DIVISIBLE: text = str_fmt("divisible %lld", (long long)a); break;
	case OP_ASSUME_BOUNDED: text = str_fmt("bounded %lld %lld", (long long)a, (long long)b); break;
	case OP_ASSUME_BOUNDED_BELOW: text = str_fmt("bounded %lld %lld", (long long)a, (long long)INT64_MAX); break;
	case OP_ASSUME_BOUNDED_ABOVE: text = str_fmt("bounded %lld %lld", (long long)INT64_MIN, (long long)a); break;
	default: text = str_intern("unique"); break;
	}
	if (c->op != OP_ASSUME_ALIGNED && !promise_type(cx, c, x, false, c->op == OP_ASSUME_DIVISIBLE)) return sv_poison(c->span);
	bool multiple = c->op == OP_ASSUME_ALIGNED || c->op == OP_ASSUME_DIVISIBLE;
	if ((multiple && a < 1) || (c->op == OP_ASSUME_ALIGNED && (a & (a - 1))) || (c->op == OP_ASSUME_BOUNDED && a > b)) {
		cx_diag(cx, D_ASSUME_ARG, c->span, call_what(c));
		return sv_poison(c->span);
	}
	check_promise(cx, c, x, a, b);
	return hint(cx, x, text, c->span);
}

static Sv assume(Cx *cx, Call *c)
{
	Sv x = conv_cond(cx, arg_value(cx, c, 0, NULL), c->arg[0].span);
	if (sv_bad(x)) return x;
	if (x.kind == SV_CONST) {
		if (!x.u.num.i) cx_diag(cx, D_ASSUME_FALSE, c->span, span_source(c->arg[0].span));
		return sv_none(c->span);
	}
	Val *v = conv_val(cx, x);
	build_check(cx, x, str_fmt("`%s` does not hold", span_source(c->span)), c->span);
	Op *op = ir_op(at_span(cx, c->span), OP_ASSUME, 1, &v, 0, NULL);
	ir_set_str(op, AT_SOURCE, span_source(c->arg[0].span));
	return sv_none(c->span);
}

/* ---- assert and print ---- */

static Val *truth(Cx *cx, Sv c, Span at)
{
	if (sv_untyped(c)) c = conv_cond(cx, c, at);
	if (!is_value(cx, c, "`assert`")) return NULL;
	if (!elem_is_ptr(c.type->elem) && elem_rows[c.type->elem].cls == EC_RFLOAT) {
		cx_diag(cx, D_RESTRICTED, at, "a condition", elem_name(c.type->elem));
		return NULL;
	}
	Val *v = conv_val(cx, c);
	at_span(cx, at);
	return val_bool(cx, v);
}

void build_assert(Cx *cx, Sv cond, Str text, Str source, Span at)
{
	Val *v = truth(cx, cond, at);
	if (!v) return;
	Op *op = ir_op(at_span(cx, at), OP_ASSERT, 1, &v, 0, NULL);
	if (text) ir_set_str(op, AT_TEXT, text);
	if (source) ir_set_str(op, AT_SOURCE, source);
}

void build_check(Cx *cx, Sv cond, Str text, Span at)
{
	Num n;
	if (!cx->opt->checked || sv_bad(cond) || (cond.kind == SV_CONST && cond.u.num.i)) return;
	Val *v = truth(cx, cond, at);
	if (!v || (ir_const_value(v, &n) && n.i)) return;
	Op *op = ir_op(at_span(cx, at), OP_CHECK, 1, &v, 0, NULL);
	ir_set_str(op, AT_TEXT, text);
}

static Sv call_assert(Cx *cx, Call *c)
{
	Str text = c->arg[1].given ? arg_string(cx, c, 1) : NULL;
	Sv x = arg_value(cx, c, 0, NULL);
	if (c->arg[1].given && !text) return sv_poison(c->span);
	if (!sv_bad(x)) build_assert(cx, x, text, span_source(c->arg[0].span), c->span);
	return sv_none(c->span);
}

static Sv call_static_assert(Cx *cx, Call *c)
{
	bool ok = false;
	Str text = c->arg[1].given ? arg_string(cx, c, 1) : NULL;
	if (c->arg[1].given && !text) return sv_poison(c->span);
	if (!sema_const_bool(cx, c->arg[0].e, &ok)) return sv_poison(c->span);
	if (ok) return sv_none(c->span);
	cx_diag(cx, D_STATIC_ASSERT, c->span, span_source(c->arg[0].span), text ? str_fmt(": %s", text) : str_intern(""));
	return sv_poison(c->span);
}

/* `{}` takes the next argument; `{{` and `}}` are braces. -1: a brace that is none of these. */
static int holes(Str text)
{
	int n = 0;
	for (const char *p = text; *p; p++) {
		if (*p != '{' && *p != '}') continue;
		if (p[0] == '{' && p[1] == '}') n++;
		else if (p[0] != p[1]) return -1;
		p++;
	}
	return n;
}

static bool print_args(Cx *cx, Call *c, Str text)
{
	int n = holes(text);
	if (n == c->nrest) return true;
	Diag *d = cx_diag(cx, D_FORMAT, c->arg[0].span, n < 0 ? "a single brace" : str_fmt("%d `{}`", n), str_i64(c->nrest));
	diag_note(d, "each `{}` takes the next argument; write `{{` and `}}` for braces");
	return false;
}

static Sv call_print(Cx *cx, Call *c)
{
	Str text = arg_string(cx, c, 0);
	if (!text || !print_args(cx, c, text)) return sv_poison(c->span);
	Val **in = NEW_ARRAY(A_UNIT, Val *, c->nrest);
	for (int i = 0; i < c->nrest; i++) {
		const Arg *a = &c->rest[i];
		if (a->name.s) {
			cx_diag(cx, D_OP_ARG_NAME, a->name.span, call_what(c), a->name.s);
			return sv_poison(c->span);
		}
		Sv v = conv_default(cx, sema_expr(cx, a->value, NULL));
		if (sv_bad(v)) return v;
		in[i] = is_value(cx, v, "`print`") ? conv_val(cx, v) : NULL;
		if (!in[i]) return sv_poison(c->span);
	}
	Op *op = ir_op(at_span(cx, c->span), OP_PRINT, c->nrest, in, 0, NULL);
	ir_set_str(op, AT_TEXT, text);
	return sv_none(c->span);
}

static Str static_text(Sv v)
{
	if (v.kind == SV_INT || v.kind == SV_FLOAT) return exact_text(exact_of(v));
	if (v.kind == SV_TYPE) return type_text(v.type);
	if (v.kind == SV_SHAPE) return shape_text(v.u.shape->rank, v.u.shape->log2);
	if (v.kind == SV_STRING) return v.u.str;
	if (v.kind == SV_CONST && v.type->elem == EL_BOOL) return str_intern(v.u.num.i ? "true" : "false");
	if (v.kind == SV_CONST && !elem_is_ptr(v.type->elem)) return exact_text(exact_of(v));
	return sv_what(v);
}

static Sv call_static_print(Cx *cx, Call *c)
{
	Str text = arg_string(cx, c, 0), out = str_intern("");
	if (!text || !print_args(cx, c, text)) return sv_poison(c->span);
	int next = 0;
	for (const char *p = text; *p; p++) {
		if (p[0] == '{' && p[1] == '}') {
			Sv v = sema_expr(cx, c->rest[next++].value, NULL);
			if (sv_bad(v)) return v;
			out = str_fmt("%s%s", out, static_text(v));
			p++;
			continue;
		}
		out = str_fmt("%s%c", out, *p);
		if (*p == '{' || *p == '}') p++;
	}
	cx_diag(cx, D_STATIC_PRINT, c->span, out);
	return sv_none(c->span);
}

Sv build_misc(Cx *cx, Call *c)
{
	switch (c->op) {
	case OP_BID: case OP_NUM_BLOCKS: return grid_index(cx, c);
	case OP_ASSUME: return assume(cx, c);
	case OP_ASSUME_ALIGNED: case OP_ASSUME_DIVISIBLE: case OP_ASSUME_BOUNDED: case OP_ASSUME_BOUNDED_BELOW:
	case OP_ASSUME_BOUNDED_ABOVE: case OP_ASSUME_UNIQUE:
		return promise(cx, c);
	case OP_ASSERT: return call_assert(cx, c);
	case OP_STATIC_ASSERT: return call_static_assert(cx, c);
	case OP_PRINT: return call_print(cx, c);
	case OP_STATIC_PRINT: return call_static_print(cx, c);
	case OP_TYPE_OF: {
		Sv v = conv_default(cx, arg_value(cx, c, 0, NULL));
		return sv_bad(v) ? v : sv_type(v.type, c->span);
	}
	default: bug("operation `%s` has no builder", op_rows[c->op].name);
	}
}
