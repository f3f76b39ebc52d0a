/* tensor_span(p, [n, m], layout): a view of memory that a raw pointer points to. Extents, strides and the alignment of
 * padded layouts may be run-time values. What the launcher can compute of them stays symbolic, so that accesses are
 * analysed as those of a parameter are. */
#include "sema/build.h"
#include "sema/scope.h"

#include <string.h>

/* An integer of a span as an i64 scalar: known at launch (sym), else val. */
typedef struct Size { const Sym *sym; Val *val; Elem elem; } Size;

static Val *size_val(Cx *cx, const Size *s)
{
	return s->val ? s->val : sema_launch(cx, EL_I64, s->sym);
}

static Size size_const(int64_t n)
{
	return (Size){ .sym = sym_const(n), .elem = n > INT32_MAX ? EL_I64 : EL_I32 };
}

static Size size_times(Cx *cx, Size a, Size b)
{
	if (a.sym && b.sym) return (Size){ .sym = sym_mul(a.sym, b.sym), .elem = EL_I64 };
	Val *x = size_val(cx, &a), *y = size_val(cx, &b);
	return (Size){ .val = val_op2(cx, OP_MUL, x, y), .elem = EL_I64 };
}

/* n rounded up to a multiple of a. */
static Size size_padded(Cx *cx, Size n, Size a)
{
	if (n.sym && a.sym) return (Size){ .sym = sym_mul(sym_cdiv(n.sym, a.sym), a.sym), .elem = EL_I64 };
	Val *x = size_val(cx, &n), *y = size_val(cx, &a);
	return (Size){ .val = val_op2(cx, OP_MUL, val_op2(cx, OP_CEILDIV, x, y), y), .elem = EL_I64 };
}

/* An integer that is `least` or more: what is less counts as `least`, and traps in the checked build. A constant that
 * is less is reported. */
static bool size_read(Cx *cx, const Expr *e, int64_t least, const char *what, Size *out)
{
	Sv v = sema_expr(cx, e, NULL);
	Int k;
	if (sv_get_int(v, &k)) {
		if (k < least || k > INT64_MAX) {
			cx_diag(cx, D_SPAN_VALUE, e->span, what, sv_value_text(v), str_i64(least));
			return false;
		}
		*out = size_const((int64_t)k);
		if (v.kind == SV_CONST && elem_bytes(v.type->elem) == 8) out->elem = EL_I64;
		return true;
	}
	v = conv_index(cx, v, e->span);
	if (sv_bad(v)) return false;
	Val *x = conv_val(cx, v);
	bool wide = elem_bytes(x->type->elem) == 8 || x->type->elem == EL_U32;
	const Sym *s = val_sym(cx, x), *bound = sym_const(least);
	bool sure = s && cx->facts && facts_le(cx->facts, bound, s);
	at_span(cx, e->span);
	Val *i = val_i64(cx, x);        /* a u64 that it cannot hold becomes negative */
	if (!sure && cx->opt->checked) build_check(cx, sv_val(val_cmp(cx, OP_GE, i, val_int(cx, EL_I64, least)), e->span),
		str_fmt("the %s `%s` of `tensor_span` is less than %lld", what, span_source(e->span), (long long)least),
		e->span);
	*out = (Size){ .elem = wide ? EL_I64 : EL_I32 };
	at_span(cx, e->span);
	if (s && sym_at_launch(s)) out->sym = sure ? s : sym_max(s, bound);
	else out->val = sure ? i : val_op2(cx, OP_MAX, i, val_int(cx, EL_I64, least));
	return true;
}

static bool size_list(Cx *cx, Call *c, const Expr *e, const char *what, int rank, Size *out, int *n)
{
	if (!e || e->kind != EX_LIST) {
		cx_diag(cx, D_NEED_LIST, e ? e->span : c->span, str_fmt("the %ss of %s", what, call_what(c)));
		return false;
	}
	*n = e->u.list.n;
	if (*n > TENSOR_RANK) {
		cx_diag(cx, D_TENSOR_RANK, e->span, str_i64(*n), str_i64(TENSOR_RANK));
		return false;
	}
	if (rank >= 0 && *n != rank) {
		cx_diag(cx, D_STRIDE_COUNT, e->span, str_i64(*n), str_i64(rank));
		return false;
	}
	for (int i = 0; i < *n; i++)
		if (!size_read(cx, e->u.list.p[i], 0, what, &out[i])) return false;
	return true;
}

/* ---- layouts ---- */
typedef struct SpanShape { int rank; Size ext[TENSOR_RANK], str[TENSOR_RANK], pad; LayoutKind layout; } SpanShape;

static void strides_of(Cx *cx, SpanShape *t)
{
	bool right = t->layout == ML_RIGHT || t->layout == ML_RIGHT_PADDED;
	bool padded = t->layout == ML_RIGHT_PADDED || t->layout == ML_LEFT_PADDED;
	Size s = { .sym = sym_const(1), .elem = EL_I64 };
	for (int k = 0; k < t->rank; k++) {
		int i = right ? t->rank - 1 - k : k;
		t->str[i] = s;
		if (k < t->rank - 1) s = size_times(cx, s, padded && !k ? size_padded(cx, t->ext[i], t->pad) : t->ext[i]);
	}
}

static bool bad_layout(Cx *cx, const Expr *e)
{
	Diag *d = cx_diag(cx, D_LAYOUT, e->span, sema_source(e));
	diag_help(d, "there are `layout_right`, `layout_left`, `layout_right_padded(a)`, `layout_left_padded(a)` and "
		"`layout_strided([s0, s1])`");
	return false;
}

static bool read_layout(Cx *cx, Call *c, SpanShape *t)
{
	const Expr *e = c->arg[2].given ? c->arg[2].e : NULL;
	bool call = e && e->kind == EX_CALL, takes = false;
	const Expr *word = call ? e->u.call.callee : e;
	const Expr *arg = call && e->u.call.args.n == 1 && !e->u.call.args.p[0].name.s ? e->u.call.args.p[0].value : NULL;
	int n;
	t->layout = ML_RIGHT;
	if (e && (word->kind != EX_NAME || !layout_by_name(word->u.name, &t->layout, &takes) || takes != (arg != NULL)
		|| call != takes)) return bad_layout(cx, e);
	if (t->layout == ML_STRIDED) return size_list(cx, c, arg, "stride", t->rank, t->str, &n);
	if (takes && !size_read(cx, arg, 1, "alignment", &t->pad)) return false;
	strides_of(cx, t);
	return true;
}

/* ---- the call ---- */
static bool span_pointer(Cx *cx, Call *c, Sv *p)
{
	*p = arg_value(cx, c, 0, NULL);
	if (sv_bad(*p) || !is_value(cx, *p, call_what(c))) return false;
	if (!sv_is_scalar(*p) || sv_untyped(*p) || !elem_is_ptr(p->type->elem)) {
		Diag *d = cx_diag(cx, D_NEED_POINTER, p->span, call_what(c), sv_what(*p));
		if (sv_is_tile(*p)) diag_help(d, "one pointer says where the tensor begins: give it before `iota` is added");
		return false;
	}
	if (!cx->unsafe) {
		Diag *d = cx_diag(cx, D_UNSAFE, c->span, call_what(c));
		label_operand(d, *p);
		diag_help(d, "write `unsafe %s(...)`: nothing is known of the memory behind the pointer", c->name);
		diag_edit(d, (Span){ c->span.lo, c->span.lo }, "unsafe ");
		return false;
	}
	if (elem_pointee(p->type->elem) != EL_VOID) return true;
	label_operand(cx_diag(cx, D_PTR_VOID, c->span, call_what(c)), *p);
	return false;
}

Sv build_span(Cx *cx, Call *c)
{
	Sv p;
	SpanShape t = { 0 };
	if (!span_pointer(cx, c, &p) || !size_list(cx, c, c->arg[1].e, "extent", -1, t.ext, &t.rank)
		|| !read_layout(cx, c, &t)) return sv_poison(c->span);
	View *v = NEW(A_UNIT, View);
	v->kind = VK_TENSOR;
	v->mode = MODE_INOUT;
	v->elem = elem_pointee(p.type->elem);
	v->rank = t.rank;
	v->layout = t.layout;
	v->root = span_source(p.span);
	v->decl = c->span;
	Val *in[2 + 2 * TENSOR_RANK] = { conv_val(cx, p) };
	at_span(cx, c->span);
	in[1] = val_int(cx, EL_I64, 0);
	for (int i = 0; i < t.rank; i++) {
		v->dim[i] = (ViewDim){ t.ext[i].sym, t.ext[i].val, t.ext[i].elem, t.str[i].sym, t.str[i].val };
		in[2 + i] = view_extent(cx, v, i);
		in[2 + t.rank + i] = view_stride(cx, v, i);
	}
	at_span(cx, c->span);
	v->val = ir_op1(&cx->b, OP_VIEW, type_view(v->elem, v->rank), 2 + 2 * t.rank, in);
	return sv_view(v, c->span);
}
