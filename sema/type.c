/* Types and shapes as written: element types, tile<..>, ptr<..>, tensor<..>, type_of(e), generic
 * names; compile-time numbers. */
#include "sema/build.h"
#include "sema/scope.h"

#include <string.h>

static void not_a_type(Cx *cx, const Expr *e, Sv v)
{
	if (e->kind == EX_ERROR || sv_bad(v)) return;
	Diag *d = cx_diag(cx, D_NOT_A_TYPE, e->span, sema_source(e));
	if (v.kind != SV_NONE) diag_label(d, e->span, "this is %s", sv_what(v));
	Str elem = habit_element(cx, e);
	Str word = e->kind == EX_TYPE && v.kind == SV_NONE ? e->u.type.name.s : NULL;
	if (word && !sv_bad(v) && (!strcmp(word, "Tensor") || !strcmp(word, "Tile") || !strcmp(word, "Ptr"))) {
		Str ours = str_fmt("%c%s", *word + 'a' - 'A', word + 1);
		diag_help(d, "write `%s`", ours);
		diag_edit(d, e->u.type.name.span, ours);
	} else if (word && v.kind == SV_NONE && strcmp(word, "tile") && strcmp(word, "tensor") && strcmp(word, "ptr")) {
		diag_help(d, "values side by side are a type such as `tile<f32, [64]>`, memory is a "
			"`tensor<f32, [n]>`, an address a `ptr<f32>`");
	}
	if (elem) {
		diag_help(d, "write `%s`", elem);
		diag_edit(d, e->span, elem);
	}
}

/* A dimension may have the name of a type, which it hides. */
static Sv dimension_type(Cx *cx, const Expr *e, const Bind *b)
{
	Elem elem;
	Diag *d = cx_diag(cx, D_NOT_A_TYPE, e->span, b->name);
	diag_label(d, e->span, "this is a dimension");
	if (b->at.hi) diag_label(d, b->at, "`%s` is declared here", b->name);
	if (elem_by_name(b->name, &elem)) diag_help(d, "the type can be named where no dimension is called `%s`", b->name);
	return sv_poison(e->span);
}

/* The names of element types, and of types held by generic parameters. */
static Sv named_type(Cx *cx, const Expr *e)
{
	Bind *b = scope_find(cx, e->u.name);
	Elem elem;
	if (b) {
		b->used = true;
		if (b->kind == BIND_DIM) return dimension_type(cx, e, b);
		bool type = b->kind == BIND_SV && (b->sv.kind == SV_TYPE || b->sv.kind == SV_TUPLE);
		if (type || sv_bad(b->sv)) return b->sv;
		not_a_type(cx, e, b->sv);
		return sv_poison(e->span);
	}
	bool bad;
	Global *g = scope_global(cx, e->u.name, e->span, &bad);
	if (bad) return sv_poison(e->span);
	if (!g && elem_by_name(e->u.name, &elem)) return sv_type(type_scalar(elem), e->span);
	if (g || name_is_class(e->u.name)) {
		Diag *d = cx_diag(cx, D_NOT_A_TYPE, e->span, e->u.name);
		if (g) diag_label(d, g->item->name.span, "declared here");
		else diag_note(d, "`%s` is a class of types: it can only follow the `:` of a generic parameter", e->u.name);
		const char *meant = g ? NULL : known_elsewhere(e->u.name);
		if (meant) {
			diag_help(d, "write `%s`", meant);
			diag_edit(d, e->span, meant);
		}
		return sv_poison(e->span);
	}
	return unknown_type(cx, e->u.name, e->span);
}

bool sema_elem(Cx *cx, const Expr *e, Elem *out)
{
	Sv v = sema_type(cx, e);
	if (sv_bad(v)) return false;
	if (v.kind == SV_TYPE && v.type->kind == TY_SCALAR) {
		*out = v.type->elem;
		return true;
	}
	cx_diag(cx, D_NOT_ELEM, e->span, sema_source(e));
	return false;
}

static Sv pointer_type(Cx *cx, const Expr *e)
{
	const ArgVec *a = &e->u.type.args;
	Elem elem;
	if (a->n != 1) {
		not_a_type(cx, e, sv_none(e->span));
		return sv_poison(e->span);
	}
	if (!sema_elem(cx, a->p[0].value, &elem)) return sv_poison(e->span);
	if (elem_is_ptr(elem)) {
		cx_diag(cx, D_PTR_PTR, e->span, elem_name(elem));
		return sv_poison(e->span);
	}
	return sv_type(type_scalar(elem_ptr_to(elem)), e->span);
}

/* tile<f32, 16, 16> was meant to be tile<f32, [16, 16]>. */
static Str listed_extents(const ArgVec *a)
{
	if (a->n < 2) return str_intern("tile<f32, [4, 8]>");
	Out *o = out_new();
	for (int i = 1; i < a->n; i++) out_printf(o, "%s%s", i > 1 ? ", " : "", sema_source(a->p[i].value));
	return str_fmt("tile<%s, [%s]>", sema_source(a->p[0].value), out_take(o));
}

static Sv tile_type(Cx *cx, const Expr *e)
{
	const ArgVec *a = &e->u.type.args;
	Elem elem;
	Shape s;
	bool swapped = a->n == 2 && a->p[0].value->kind == EX_LIST;
	if (a->n != 2 || swapped) {
		Diag *d = cx_diag(cx, D_TILE_TYPE, e->span, sema_source(e));
		if (swapped) {
			Str fix = str_fmt("tile<%s, %s>", span_source(a->p[1].value->span), span_source(a->p[0].value->span));
			diag_help(d, "the element type stands first: write `%s`", fix);
			diag_edit(d, e->span, fix);
		} else if (a->n > 2) {
			diag_help(d, "write `%s`", listed_extents(a));
			diag_edit(d, e->span, listed_extents(a));
		} else {
			diag_help(d, "an element type and a shape belong to it, as in `tile<f32, [4, 8]>`");
		}
		return sv_poison(e->span);
	}
	bool ok = sema_elem(cx, a->p[0].value, &elem);
	ok &= sema_shape(cx, a->p[1].value, false, &s);
	if (ok && elem == EL_VOID) {
		cx_diag(cx, D_NOT_ELEM, a->p[0].value->span, elem_name(elem));
		ok = false;
	}
	const Type *t = ok ? sema_tile_type(cx, elem, s, e->span) : NULL;
	return t ? sv_type(t, e->span) : sv_poison(e->span);
}

static Sv tensor_type(Cx *cx, const Expr *e)
{
	const ArgVec *a = &e->u.type.args;
	Elem elem;
	if (a->n < 2 || a->p[1].value->kind != EX_LIST) return sv_poison(e->span);
	if (!sema_elem(cx, a->p[0].value, &elem)) return sv_poison(e->span);
	int rank = a->p[1].value->u.list.n;
	if (rank > TENSOR_RANK) {
		cx_diag(cx, D_TENSOR_RANK, a->p[1].value->span, str_i64(rank), str_i64(TENSOR_RANK));
		return sv_poison(e->span);
	}
	return sv_type(type_view(elem, rank), e->span);
}

static Sv tuple_type(Cx *cx, const Expr *e)
{
	int n = e->u.list.n;
	Sv *p = NEW_ARRAY(A_TMP, Sv, n);
	bool ok = true;
	for (int i = 0; i < n; i++) {
		p[i] = sema_type(cx, e->u.list.p[i]);
		ok &= !sv_bad(p[i]);
	}
	return ok ? sv_tuple(n, p, e->span) : sv_poison(e->span);
}

Sv sema_type(Cx *cx, const Expr *e)
{
	switch (e->kind) {
	case EX_ERROR: return sv_poison(e->span);
	case EX_NAME: return named_type(cx, e);
	case EX_TUPLE: return tuple_type(cx, e);
	case EX_TYPE:
		if (e->u.type.name.s == str_intern("tile")) return tile_type(cx, e);
		if (e->u.type.name.s == str_intern("ptr")) return pointer_type(cx, e);
		if (type_is_tensor(e)) return tensor_type(cx, e);
		not_a_type(cx, e, sv_none(e->span));
		return sv_poison(e->span);
	case EX_CALL: {
		Sv v = sema_expr(cx, e, NULL);
		if (v.kind == SV_TYPE || sv_bad(v)) return v;
		not_a_type(cx, e, v);
		return sv_poison(e->span);
	}
	case EX_MEMBER: if (habit_prefixed(cx, e, NULL)) return sv_poison(e->span); /* fallthrough */
	default:
		not_a_type(cx, e, sv_none(e->span));
		return sv_poison(e->span);
	}
}

/* (32, 64), as Python has it */
static void help_brackets(Diag *d, const Expr *e)
{
	const Expr *last = e->u.list.p[e->u.list.n - 1];
	Str inside = str_fmt("[%s]", span_source((Span){ e->u.list.p[0]->span.lo, last->span.hi }));
	diag_help(d, "a list stands in brackets: write `%s`", inside);
	diag_edit(d, e->span, inside);
}

/* ---- compile-time numbers ---- */
static void say_why_not_const(Cx *cx, Diag *d, const Expr *e, const char *instead)
{
	const Bind *b = e->kind == EX_NAME ? scope_find(cx, e->u.name) : NULL;
	if (e->kind == EX_TUPLE) help_brackets(d, e);
	else if (!b) diag_help(d, "a compile-time value is %s", instead);
	if (!b) return;
	if (b->kind == BIND_VAR) {
		diag_note(d, "`%s` is a variable; `let` and `const` keep what the compiler knows", b->name);
		return;
	}
	if (b->kind == BIND_DIM) diag_note(d, "`%s` is a dimension: its value is known at the launch", b->name);
	else if (b->at.hi) diag_label(d, b->at, "`%s` gets its value at run time", b->name);
	bool parameter = b->kind == BIND_SV && b->depth <= 1 && !b->local;
	Str capital = str_fmt("%c%s", *b->name >= 'a' && *b->name <= 'z' ? *b->name - 'a' + 'A' : *b->name, b->name + 1);
	diag_help(d, "a compile-time value is %s%s", instead, b->kind == BIND_DIM ? "; a tile may reach beyond its tensor"
		: parameter ? str_fmt(", as `<%s: int>` after the kernel's name declares it", capital) : "");
}

static Str run_time_word(Sv x)
{
	return x.kind == SV_VAL ? str_fmt("%s at run time", sv_what(x)) : sv_what(x);
}

static bool const_int(Cx *cx, const Expr *e, Int *v, bool of_tile)
{
	Sv x = sema_expr(cx, e, NULL);
	if (sv_bad(x)) return false;
	if (sv_get_int(x, v)) return true;
	if (report_dynamic(cx, x, e->span)) return false;
	Diag *d = cx_diag(cx, D_NOT_CONST_INT, e->span, sema_source(e), run_time_word(x));
	say_why_not_const(cx, d, e, "a number or a generic parameter");
	const Bind *b = e->kind == EX_NAME ? scope_find(cx, e->u.name) : NULL;
	bool number = x.kind == SV_VAL && type_is_scalar(x.type) && elem_is_int(x.type->elem);
	if (of_tile && number && !(b && b->kind == BIND_DIM))
		diag_help(d, "tiles of a fixed length go over one of run time, as in `for i in 0 .. cdiv(%s, 64)`",
			shortened(e->span));
	return false;
}

bool sema_const_int(Cx *cx, const Expr *e, Int *v) { return const_int(cx, e, v, false); }

bool sema_const_bool(Cx *cx, const Expr *e, bool *v)
{
	Sv x = sema_expr(cx, e, NULL);
	if (sv_bad(x)) return false;
	if (sv_get_bool(x, v)) return true;
	Diag *d = cx_diag(cx, D_NOT_CONST_BOOL, e->span, sema_source(e), run_time_word(x));
	say_why_not_const(cx, d, e, "a condition on generic parameters, or `if` alone");
	return false;
}

/* ---- shapes ---- */
static bool extent_log2(Cx *cx, const Expr *e, uint8_t *log2)
{
	Int v, up = 1;
	int n = 0;
	if (!const_int(cx, e, &v, true)) return false;
	if (v >= 1 && (v & (v - 1)) == 0 && v <= ((Int)1 << TILE_LOG2)) {
		while (((Int)1 << n) < v) n++;
		*log2 = (uint8_t)n;
		return true;
	}
	Str text = sv_value_text(sv_int(v, e->span));
	if (v > ((Int)1 << TILE_LOG2)) {
		cx_diag(cx, D_TILE_EXTENT, e->span, text);
		return false;
	}
	Diag *d = cx_diag(cx, D_TILE_POW2, e->span, text);
	if (v == -1) diag_help(d, "`reshape` takes `_` for a length that it finds itself");
	if (v < 1) return false;
	while (up < v) up *= 2;
	Str next = sv_value_text(sv_int(up, e->span));
	diag_help(d, "the next larger is %s; what lies outside a tensor reads as the pad and is not stored", next);
	return false;
}

static bool shape_limits(Cx *cx, const Expr *e, const Shape *s)
{
	int sum = 0;
	for (int i = 0; i < s->rank; i++) sum += s->log2[i];
	if (sum <= TILE_LOG2) return true;
	Diag *d = cx_diag(cx, D_TILE_SIZE, e->span, shape_text(s->rank, s->log2));
	diag_help(d, "it is worked on by parts, in more blocks or in a loop");
	return false;
}

static bool listed_shape(Cx *cx, const Expr *e, bool hole, Shape *out)
{
	const ExprVec *l = &e->u.list;
	bool ok = true;
	if (l->n > TILE_RANK) {
		cx_diag(cx, D_TILE_RANK, e->span, str_i64(l->n), str_i64(TILE_RANK));
		return false;
	}
	out->rank = l->n;
	for (int i = 0; i < l->n; i++) {
		bool under = l->p[i]->kind == EX_UNDER;
		if (under && hole && out->hole < 0) {
			out->hole = i;
		} else if (under) {
			cx_diag(cx, D_EXPR_PLACE, l->p[i]->span, hole ? "a second `_`" : "`_`");
			ok = false;
		} else {
			ok &= extent_log2(cx, l->p[i], &out->log2[i]);
		}
	}
	return ok && shape_limits(cx, e, out);
}

/* One extent as a list, without the parentheses around all of it and a comma at their end: (64), (64,) */
static Str as_list(Str text)
{
	size_t n = str_len(text);
	if (*text != '(' || strcspn(text + 1, "()") != n - 2 || text[n - 1] != ')') return str_fmt("[%s]", text);
	n -= 2;
	while (n && strchr(" ,", text[n])) n--;
	return str_fmt("[%.*s]", (int)n, text + 1);
}

bool sema_shape(Cx *cx, const Expr *e, bool hole, Shape *out)
{
	memset(out, 0, sizeof *out);
	out->hole = -1;
	if (e->kind == EX_LIST) return listed_shape(cx, e, hole, out);
	if (e->kind == EX_ERROR) return false;
	Sv v = e->kind == EX_TYPE ? sema_type(cx, e) : sema_expr(cx, e, NULL);
	if (sv_bad(v)) return false;
	if (v.kind == SV_SHAPE) {
		*out = *v.u.shape;
		out->hole = -1;
		return true;
	}
	Diag *d = cx_diag(cx, D_NOT_A_SHAPE, e->span, sema_source(e), sv_what(v));
	Int n;
	if (sv_get_int(v, &n)) {
		Str list = as_list(sema_source(e));
		diag_help(d, "write `%s`", list);
		diag_edit(d, e->span, list);
	} else if (e->kind == EX_TUPLE) {
		help_brackets(d, e);
	}
	return false;
}

/* ---- source text ---- */
Str sema_source(const Expr *e)
{
	const Src *src = src_of(e->span);
	if (!src) {
		Out *o = out_new();
		ast_print_expr(o, e);
		return out_take(o);
	}
	Str text = span_source(e->span);
	return str_len(text) > 120 ? str_fmt("%.117s...", text) : text;
}
