/* Values of the checker: making them, asking what they are, naming them in messages. */
#include "sema/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Sv sv_new(SvKind k, Span at)
{
	Sv v;
	memset(&v, 0, sizeof v);
	v.kind = k;
	v.span = at;
	return v;
}

/* Where our source first made poison before any error was reported; NULL: nowhere. */
static const char *unsaid_file;
static int unsaid_line;

Sv sv_poison_from(Span at, const char *file, int line)
{
	if (!unsaid_file && !diag_errors()) {
		unsaid_file = file;
		unsaid_line = line;
	}
	return sv_new(SV_POISON, at);
}

void sv_poison_said(void)
{
	if (unsaid_file && !diag_errors())
		bug_at(unsaid_file, unsaid_line, "something is wrong with the program, and nothing was said");
	unsaid_file = NULL;
}

Sv sv_absent(Span at) { return sv_new(SV_POISON, at); }
Sv sv_none(Span at) { return sv_new(SV_NONE, at); }

Sv sv_int(Int i, Span at)
{
	Sv v = sv_new(SV_INT, at);
	v.u.i = i;
	return v;
}

Sv sv_float(Flt f, Span at)
{
	Sv v = sv_new(SV_FLOAT, at);
	v.u.f = f;
	return v;
}

Sv sv_const(Elem e, Num n, Span at)
{
	Sv v = sv_new(SV_CONST, at);
	v.type = type_scalar(e);
	v.u.num = n;
	return v;
}

Sv sv_bool(bool b, Span at)
{
	return sv_const(EL_BOOL, (Num){ .i = b }, at);
}

Sv sv_val(Val *val, Span at)
{
	Sv v = sv_new(SV_VAL, at);
	v.type = val->type;
	v.name = val->name;
	v.u.val = val;
	return v;
}

Sv sv_view(const View *view, Span at)
{
	Sv v = sv_new(SV_VIEW, at);
	View *copy = NEW(A_UNIT, View);
	*copy = *view;
	v.type = type_view(view->elem, view->rank);
	v.u.view = copy;
	return v;
}

Sv sv_type(const Type *t, Span at)
{
	Sv v = sv_new(SV_TYPE, at);
	v.type = t;
	return v;
}

Sv sv_shape(Shape s, Span at)
{
	Sv v = sv_new(SV_SHAPE, at);
	Shape *p = NEW(A_UNIT, Shape);
	*p = s;
	v.u.shape = p;
	return v;
}

Sv sv_tuple(int n, const Sv *p, Span at)
{
	Sv v = sv_new(SV_TUPLE, at);
	Tuple *t = NEW(A_UNIT, Tuple);
	t->n = n;
	t->p = NEW_ARRAY(A_UNIT, Sv, n);
	for (int i = 0; i < n; i++) t->p[i] = p[i];
	v.u.tuple = t;
	return v;
}

Sv sv_string(Str s, Span at)
{
	Sv v = sv_new(SV_STRING, at);
	v.u.str = s;
	return v;
}

Sv sv_dynamic(Str which, Span at)
{
	Sv v = sv_new(SV_DYNAMIC, at);
	v.u.str = which;
	return v;
}

bool report_dynamic(Cx *cx, Sv v, Span at)
{
	if (v.kind != SV_DYNAMIC) return false;
	Diag *d = cx_diag(cx, D_STATIC_STRIDE, at, v.u.str);
	if (v.u.str[0] == '`') diag_help(d, "`==` and `!=` compare with it, as in `x.static_stride(0) == dynamic_extent`");
	else diag_help(d, "`stride` and `extent` give it at run time; here it may be compared with `dynamic_extent`");
	return true;
}

bool sv_is_const(Sv v)
{
	return v.kind == SV_INT || v.kind == SV_FLOAT || v.kind == SV_CONST;
}

bool sv_is_scalar(Sv v)
{
	return sv_is_const(v) || (v.kind == SV_VAL && v.type->kind == TY_SCALAR);
}

bool sv_is_tile(Sv v)
{
	return v.kind == SV_VAL && v.type->kind == TY_TILE;
}

bool sv_get_int(Sv v, Int *i)
{
	if (v.kind == SV_INT) {
		*i = v.u.i;
		return true;
	}
	if (v.kind != SV_CONST || !elem_is_int(v.type->elem)) return false;
	*i = elem_is_signed(v.type->elem) ? (Int)v.u.num.i : (Int)(uint64_t)v.u.num.i;
	return true;
}

bool sv_get_bool(Sv v, bool *b)
{
	if (v.kind != SV_CONST || v.type->elem != EL_BOOL) return false;
	*b = v.u.num.i != 0;
	return true;
}

/* ---- words for messages ---- */
static Str int_text(Int i)
{
	char buf[64], *p = buf + sizeof buf;
	bool neg = i < 0;
	*--p = 0;
	do {
		int d = (int)(i % 10);
		*--p = (char)('0' + (d < 0 ? -d : d));
		i /= 10;
	} while (i);
	if (neg) *--p = '-';
	return str_intern(p);
}

/* The shortest decimal text that reads back as the same double. */
static Str double_text(double d)
{
	char buf[40];
	if (d != d) return str_intern("nan");
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(buf, sizeof buf, "%.*g", digits, d);
		if (strtod(buf, NULL) == d) break;
	}
	return str_intern(buf);
}

static Str num_text(Elem e, Num n)
{
	if (e == EL_BOOL) return str_intern(n.i ? "true" : "false");
	if (elem_is_ptr(e)) return str_intern("null");
	if (elem_is_any_float(e)) return double_text(n.f);
	return int_text(elem_is_signed(e) ? (Int)n.i : (Int)(uint64_t)n.i);
}

static Str shape_value_text(const Shape *s)
{
	return shape_text(s->rank, s->log2);
}

/* With a point, so that nobody takes it for an integer. */
Str float_text(const Exact *x)
{
	Str s = exact_text(x);
	return s[strspn(s, "-0123456789")] ? s : str_fmt("%s.0", s);
}

Str sv_value_text(Sv v)
{
	switch (v.kind) {
	case SV_INT: return int_text(v.u.i);
	case SV_FLOAT: return float_text(v.u.f);
	case SV_CONST: return num_text(v.type->elem, v.u.num);
	case SV_TYPE: return type_text(v.type);
	case SV_SHAPE: return shape_value_text(v.u.shape);
	default: return sv_what(v);
	}
}

static Str view_text(const View *w)
{
	Out *o = out_new();
	out_printf(o, "tensor<%s, [", elem_name(w->elem));
	for (int i = 0; i < w->rank; i++)
		out_printf(o, "%s%s", i ? ", " : "", w->dim[i].sym ? sym_text(w->dim[i].sym) : "...");
	out_puts(o, "]>");
	Str t = out_take(o);
	if (w->kind == VK_TENSOR) return t;
	static const char *const kind[] = { "", "partition", "strided view", "gather-scatter view" };
	return str_fmt("%s of %s in tiles %s", kind[w->kind], t, shape_value_text(&w->tile));
}

static Str tuple_text(const Tuple *t)
{
	Out *o = out_new();
	out_puts(o, "(");
	for (int i = 0; i < t->n; i++) out_printf(o, "%s%s", i ? ", " : "", sv_what(t->p[i]));
	out_puts(o, ")");
	return out_take(o);
}

Str sv_what(Sv v)
{
	switch (v.kind) {
	case SV_POISON: return str_intern("a value in error");
	case SV_NONE: return str_intern("no value");
	case SV_INT: return str_fmt("integer constant %s", int_text(v.u.i));
	case SV_FLOAT: return str_fmt("float constant %s", float_text(v.u.f));
	case SV_CONST: case SV_VAL: return type_text(v.type);
	case SV_VIEW: return view_text(v.u.view);
	case SV_TYPE: return str_fmt("type %s", type_text(v.type));
	case SV_SHAPE: return str_fmt("shape %s", shape_value_text(v.u.shape));
	case SV_TUPLE: return tuple_text(v.u.tuple);
	case SV_FN: return str_intern("a function");
	case SV_OP: return str_intern("an operation");
	case SV_STRING: return str_intern("text");
	case SV_DYNAMIC: return str_intern("a number known only at the launch");
	case SV_LAYOUT: return str_intern("a layout");
	case SV_LIT: return str_intern("a tile literal");
	case SV_WORD: return str_intern("a word");
	}
	return str_intern("a value");
}

bool sv_equal(Sv a, Sv b)
{
	if (a.kind != b.kind) {
		Int x, y;
		return sv_get_int(a, &x) && sv_get_int(b, &y) && x == y;
	}
	switch (a.kind) {
	case SV_INT: return a.u.i == b.u.i;
	case SV_FLOAT: return exact_cmp(a.u.f, b.u.f) == 0;
	case SV_CONST: return a.type == b.type && a.u.num.i == b.u.num.i && a.u.num.f == b.u.num.f;
	case SV_TYPE: return a.type == b.type;
	case SV_SHAPE:
		return a.u.shape->rank == b.u.shape->rank
			&& memcmp(a.u.shape->log2, b.u.shape->log2, (size_t)a.u.shape->rank) == 0;
	default: return false;
	}
}

bool sv_is_static(Sv v)
{
	if (v.kind == SV_TUPLE) {
		for (int i = 0; i < v.u.tuple->n; i++)
			if (!sv_is_static(v.u.tuple->p[i])) return false;
		return true;
	}
	return sv_is_const(v) || v.kind == SV_TYPE || v.kind == SV_SHAPE || v.kind == SV_STRING || v.kind == SV_FN;
}

bool sv_const_num(Sv v, Num *n)
{
	if (v.kind == SV_CONST) *n = v.u.num;
	else if (v.kind != SV_VAL || !ir_const_value(v.u.val, n)) return false;
	return true;
}

Str list_or(int n, const char *const *w)
{
	Str t = n ? str_intern(w[0]) : str_intern("");
	for (int i = 1; i < n; i++) t = str_fmt("%s%s%s", t, i + 1 == n ? " or " : ", ", w[i]);
	return t;
}
