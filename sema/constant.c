/* Values of constants, of the file and of bodies: what -D gives, what the declaration says, each evaluated once. */
#include "sema/build.h"
#include "sema/scope.h"

#include <string.h>

/* The text of -D: a number, true or false, with a sign. */
static bool define_value(Cx *cx, const Item *it, Str text, Sv *v)
{
	bool neg = text[0] == '-';
	if (lit_number(str_intern(text + neg), neg, v)) {
		v->span = it->u.constant.value->span;
		return true;
	}
	cx_diag(cx, D_DEFINE_VALUE, it->name.span, it->name.s, text, "a number, `true` or `false`");
	return false;
}

/* A constant's value as its written type has it; `int` and no type leave it untyped. */
static Sv constant_value(Cx *cx, const Item *it, Str define)
{
	const Expr *type = it->u.constant.type;
	bool is_int = type && type->kind == EX_NAME && type->u.name == str_intern("int");
	const Type *want = NULL;
	if (type && !is_int) {
		Sv t = sema_type(cx, type);
		if (t.kind != SV_TYPE) return sv_poison(it->span);
		want = t.type;
	}
	Sv v;
	if (!define) v = sema_expr(cx, it->u.constant.value, want);
	else if (!define_value(cx, it, define, &v)) return sv_poison(it->span);
	if (is_int) {
		Int i;
		if (sv_bad(v) || sv_get_int(v, &i)) return sv_bad(v) ? v : sv_int(i, v.span);
		if (define) {
			cx_diag(cx, D_DEFINE_VALUE, it->name.span, it->name.s, define, "an integer");
			return sv_poison(v.span);
		}
		if (report_dynamic(cx, v, v.span)) return sv_poison(v.span);
		Diag *d = cx_diag(cx, D_NOT_CONST_INT, v.span, sema_source(it->u.constant.value), sv_what(v));
		diag_help(d, "`const` holds numbers, constants and generic parameters; `let` holds a value of run time");
		return sv_poison(v.span);
	}
	int errors = diag_errors();
	if (want && !sv_bad(v)) v = conv_to(cx, v, want, CONV_INIT, it->name.s, type->span);
	if (define && diag_errors() > errors)
		diag_note(diag_latest(), "its value here is that of option `-D %s=%s`", it->name.s, define);
	return v;
}

Sv constant_eval(Cx *cx, const Item *it, Str define)
{
	Sv v = constant_value(cx, it, define);
	if (sv_bad(v) || sv_is_static(v)) return v;
	if (report_dynamic(cx, v, v.span)) return sv_poison(v.span);
	Diag *d = cx_diag(cx, D_NOT_CONST, it->u.constant.value->span, sema_source(it->u.constant.value));
	Span word = { it->span.lo, it->span.lo + 5 };
	bool in_body = cx->frame->item != it;
	bool local = in_body && !it->u.constant.type && !strcmp(span_source(word), "const");
	if (!in_body && (v.kind == SV_LIT || sv_is_tile(v)))
		diag_help(d, "a tile is made where it is used: a function may return it, as in "
			"`fn table() -> tile<f32, [4]> { return [1, 2, 3, 4]; }`");
	if (in_body) diag_help(d, "declare it with `let`: it gets its value at run time");
	if (local) diag_edit(d, word, "let");
	return sv_poison(v.span);
}

Sv global_value(Cx *cx, Global *g, Span at)
{
	if (g->state == G_DONE) return g->sv;
	if (g->state == G_BUSY) {
		Diag *d = cx_diag(cx, D_CONST_CYCLE, g->item->name.span, g->name);
		diag_label(d, at, "needed again here");
		return sv_poison(at);
	}
	g->state = G_BUSY;
	Cx *in = cx_new(cx->s, g->unit, g->item, g->name);
	scope_open(in);
	Sv v = constant_eval(in, g->item, g->define);
	scope_close(in);
	g->state = G_DONE;
	g->sv = v;
	return v;
}
