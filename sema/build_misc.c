/* Block indices, and what helps debugging. */
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
		diag_help(d, "axes of the grid count from 0, and the last one is %d; another is another extent in `grid [...]`",
			sema_grid_rank(cx) - 1);
		return sv_poison(c->span);
	}
	int64_t k;
	if (c->op == OP_NUM_BLOCKS)
		return sym_is_const(s, &k) ? sv_int(k, c->span) : sv_val(sema_launch(cx, e, s), c->span);
	Val *v = ir_op1(at_span(cx, c->span), OP_BID, type_scalar(e), 0, NULL);
	ir_set_int(v->def, AT_AXIS, axis);
	const Sym *b = sym_atom(ATOM_BID, NULL, (int)axis);
	if (cx->facts && !facts_lt(cx->facts, b, s)) {
		facts_range(cx->facts, b, 0, e == EL_I64 ? INT64_MAX - 1 : INT32_MAX - 1);
		facts_bound(cx->facts, b, sym_const(0), s);
	}
	return sv_val(v, c->span);
}

/* ---- assert and print ---- */

/* Run-time: an assert op. */
static void build_assert(Cx *cx, Sv cond, Str text, Str source, Span at)
{
	Val *v = check_truth(cx, cond, at);
	if (!v) return;
	Op *op = ir_op(at_span(cx, at), OP_ASSERT, 1, &v, 0, NULL);
	if (text) ir_set_str(op, AT_TEXT, text);
	if (source) ir_set_str(op, AT_SOURCE, source);
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

/* The text with `{}` in place of each `%d` of C; NULL: it has another number of them. */
static Str places_of_c(Str text, int want)
{
	Out *o = out_new();
	int n = 0;
	for (const char *p = text; *p; p++) {
		size_t spec = *p == '%' ? strspn(p + 1, "0123456789.+-# lhz") : 0;
		bool place = *p == '%' && p[1 + spec] && strchr("diufgecxsp", p[1 + spec]);
		if (place) out_puts(o, "{}");
		else out_printf(o, "%c", *p);
		n += place;
		if (place) p += 1 + spec;
	}
	return n == want ? out_take(o) : NULL;
}

/* A place as Python has it, `{:.2f}`, `{0}`, `{n}`: where it ends; NULL: none begins here. */
static const char *python_place(const char *p)
{
	const char *end = *p == '{' && p[1] != '{' ? p + strcspn(p, "}\"") : NULL;
	return end && *end == '}' && !memchr(p + 1, '{', (size_t)(end - p - 1)) ? end : NULL;
}

/* The text with `{}` in place of each of these; NULL: it has another number of them. */
static Str places_of_python(Str text, int want)
{
	Out *o = out_new();
	int n = 0;
	for (const char *p = text; *p; p++) {
		const char *end = python_place(p);
		out_printf(o, end ? "{}" : "%c", *p);
		n += end != NULL;
		if (end) p = end;
	}
	return n == want ? out_take(o) : NULL;
}

/* What the text has in place of `{}`. */
static Str wrong_place(Str text)
{
	for (const char *p = text; *p; p++) {
		const char *end = python_place(p);
		if (end && end > p + 1) return str_fmt("`%.*s`", (int)(end + 1 - p), p);
		if (p[0] == p[1] && (*p == '{' || *p == '}')) p++;
	}
	return str_intern("a single brace");
}

/* The text as it is written, in its quotes. */
static void help_places(Diag *d, const Call *c, Str text, int have)
{
	Str source = span_source(c->arg[0].span);
	Str fix = have == 0 && c->nrest && strchr(text, '%') ? places_of_c(source, c->nrest) : NULL;
	size_t end = str_len(source) - 1;
	if (!fix && have < 0 && c->nrest) fix = places_of_python(source, c->nrest);
	if (!fix && have >= 0 && have < c->nrest && c->nrest - have < 8) {
		while (end > 2 && source[end - 1] == 'n' && source[end - 2] == '\\') end -= 2;
		fix = str_intern_n(source, end);
		for (int i = have; i < c->nrest; i++) fix = str_fmt("%s {}", fix);
		fix = str_fmt("%s%s", fix, source + end);
	}
	if (!fix) {
		diag_help(d, "there are as many places `{}` as values");
		return;
	}
	diag_help(d, "write `%s`", fix);
	diag_edit(d, c->arg[0].span, fix);
}

static bool print_args(Cx *cx, Call *c, Str text)
{
	int n = holes(text);
	if (n == c->nrest) return true;
	Diag *d = cx_diag(cx, D_FORMAT, c->arg[0].span, n < 0 ? wrong_place(text) : str_fmt("%d `{}`", n),
		str_i64(c->nrest));
	diag_note(d, "each `{}` takes the next argument; `{{` and `}}` are braces");
	help_places(d, c, text, n);
	return false;
}

/* A line is one op, or several where views stand in it: `partial` ones and a last one. */
static void print_part(Cx *cx, Str text, int n, Val *const *in, bool partial, Span at)
{
	if (partial && !*text) return;
	Op *op = ir_op(at_span(cx, at), OP_PRINT, n, in, 0, NULL);
	ir_set_str(op, AT_TEXT, text);
	if (partial) ir_set_int(op, AT_PARTIAL, 1);
}

/* A comma before each element but the first. */
static void print_comma(Cx *cx, Val *i, Span at)
{
	Val *later = val_cmp(cx, OP_GT, i, val_int(cx, EL_I64, 0));
	Op *op = ir_op(at_span(cx, at), OP_IF, 1, &later, 0, NULL);
	for (int k = 0; k < 2; k++) {
		Spot s = spot_enter(cx, ir_region(op));
		if (!k) print_part(cx, str_intern(", "), 0, NULL, true, at);
		ir_op(at_span(cx, at), OP_YIELD, 0, NULL, 0, NULL);
		spot_leave(cx, s);
	}
}

/* [[1, 2], [3, 4]], as tiles are printed: its extents are run-time values, so the op is inside loops. */
static void print_view(Cx *cx, const View *v, int axis, Sv *index, Span at)
{
	if (axis == v->rank) {
		Val *x = element_read(cx, v, index, at).u.val;
		print_part(cx, str_intern("{}"), 1, &x, true, at);
		return;
	}
	print_part(cx, str_intern("["), 0, NULL, true, at);
	Val *from = val_int(cx, EL_I64, 0), *to = view_extent(cx, v, axis), *in[3] = { from, to, val_int(cx, EL_I64, 1) };
	Op *op = ir_op(at_span(cx, at), OP_FOR, 3, in, 0, NULL);
	IrBlock *body = ir_region(op);
	Spot s = spot_enter(cx, body);
	Val *i = ir_arg(body, type_scalar(EL_I64), NULL);
	index[axis] = sv_val(i, at);
	print_comma(cx, i, at);
	print_view(cx, v, axis + 1, index, at);
	ir_op(at_span(cx, at), OP_YIELD, 0, NULL, 0, NULL);
	spot_leave(cx, s);
	print_part(cx, str_intern("]"), 0, NULL, true, at);
}

/* v: a view, or else *in: a scalar or tile. */
static bool print_value(Cx *cx, const Arg *a, Sv *v, Val **in)
{
	*v = conv_default(cx, sema_expr(cx, a->value, NULL));
	if (sv_bad(*v)) return false;
	if (v->kind == SV_VIEW && v->u.view->kind == VK_TENSOR)
		return view_readable(cx, v->u.view, v->span, str_intern("printed"));
	*in = is_value(cx, *v, "`print`") ? conv_val(cx, *v) : NULL;
	return *in != NULL;
}

/* A text of `end:` as a format: its braces stand for themselves. */
static Str as_format(Str text)
{
	Out *o = out_new();
	for (const char *p = text; *p; p++) out_printf(o, *p == '{' || *p == '}' ? "%c%c" : "%c", *p, *p);
	return out_take(o);
}

static Sv call_print(Cx *cx, Call *c)
{
	Str text = arg_string(cx, c, 0), end = c->arg[1].given ? arg_string(cx, c, 1) : NULL;
	if (c->arg[1].given && !end) return sv_poison(c->span);
	if (!text || !print_args(cx, c, text)) return sv_poison(c->span);
	Sv *v = NEW_ARRAY(A_UNIT, Sv, c->nrest);
	Val **in = NEW_ARRAY(A_UNIT, Val *, c->nrest);
	for (int i = 0; i < c->nrest; i++)
		if (!print_value(cx, &c->rest[i], &v[i], &in[i])) return sv_poison(c->span);
	const char *from = text;
	int first = 0, next = 0;
	for (const char *p = text; *p; p++) {
		if (*p != '{' && *p != '}') continue;
		const Sv *x = p[1] == '}' && *p == '{' ? &v[next++] : NULL;
		p++;
		if (!x || x->kind != SV_VIEW) continue;
		Sv index[TENSOR_RANK];
		print_part(cx, str_intern_n(from, (size_t)(p - 1 - from)), next - 1 - first, in + first, true, c->span);
		print_view(cx, x->u.view, 0, index, c->span);
		from = p + 1;
		first = next;
	}
	Str last = end ? str_fmt("%s%s", from, as_format(end)) : str_intern(from);
	print_part(cx, last, next - first, in + first, end != NULL, c->span);
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
	size_t n = str_len(out);
	if (n && out[n - 1] == '\n') out = str_intern_n(out, n - 1);           /* a message ends its line by itself */
	cx_diag(cx, D_STATIC_PRINT, c->span, out);
	return sv_none(c->span);
}

Sv build_misc(Cx *cx, Call *c)
{
	switch (c->op) {
	case OP_BID: case OP_NUM_BLOCKS: return grid_index(cx, c);
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
