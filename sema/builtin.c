/* Calls of operations: the signature column of ops.def is read once into a Sig, arguments are bound to it in order and
 * by name, and the accessors below evaluate each one as its kind says. What is wrong with a call
 * as such is reported here. */
#include "ast/foreign.h"
#include "ir/exact.h"
#include "sema/build.h"
#include "sema/scope.h"

#include <stdio.h>
#include <string.h>

/* ---- signatures ---- */

/* "x, axis:a?; squeeze:b?, nan" */
static Sig *sig_parse(const char *text)
{
	Sig *s = NEW(A_UNIT, Sig);
	bool named = false;
	const char *p = text;
	while (*p) {
		while (*p == ' ' || *p == ',') p++;
		if (*p == ';') {
			named = true;
			p++;
			continue;
		}
		size_t n = strcspn(p, ",;:? ");
		if (!n) break;
		if (s->n == MAX_ARGS) bug("signature `%s` has more than %d arguments", text, MAX_ARGS);
		ArgSpec *a = &s->p[s->n++];
		a->name = str_intern_n(p, n);
		a->kind = 'v';
		a->named = a->optional = named;  /* what is given by name only may always be left out, but for shift's fill */
		p += n;
		if (*p == ':') {
			a->kind = p[1];
			p += 2;
		}
		if (*p == '?') {
			a->optional = true;
			p++;
		}
	}
	return s;
}

/* What the first argument is, where that decides what the others are. */
typedef enum SigForm { SIG_PLAIN, SIG_POINTER, SIG_TILE, SIG_FORMS } SigForm;

static const char *const other_sigs[OP_COUNT][SIG_FORMS] = {
#undef OP_FORM
#define OP_FORM(id, of, signature) [OP_##id][SIG_##of] = signature,
#define OP(id, name, form, sig, type, layout, flags, c, cuda, tile, needs, check, sim, print, doc)
#include "ir/ops.def"
#undef OP
#undef OP_FORM
};

static const Sig *sig_of(OpCode op, SigForm form)
{
	static const Sig *known[OP_COUNT][SIG_FORMS];
	const Sig **slot = &known[op][form];
	if (!*slot) *slot = sig_parse(form ? other_sigs[op][form] : op_rows[op].sig);
	return *slot;
}

Str call_what(const Call *c)
{
	return str_fmt("`%s`", c->name);
}

/* ---- binding ---- */

int arg_index(const Call *c, const char *name)
{
	for (int i = 0; i < c->sig->n; i++)
		if (!strcmp(c->sig->p[i].name, name)) return i;
	return -1;
}

bool arg_given(const Call *c, const char *name)
{
	int i = arg_index(c, name);
	return i >= 0 && c->arg[i].given;
}

static Str sig_text(const Sig *s, bool method)
{
	Str t = str_intern("");
	for (int i = method ? 1 : 0; i < s->n; i++) {
		const ArgSpec *a = &s->p[i];
		Str one = a->named ? str_fmt("%s:", a->name) : a->optional ? str_fmt("[%s]", a->name) : a->name;
		t = *t ? str_fmt("%s, %s", t, one) : one;
	}
	return t;
}

/* permute(1, 0): the numbers from the list's place on are one list. */
static bool help_list(const Call *c, Diag *d, bool recv)
{
	const ArgVec *a = &c->e->u.call.args;
	int at = recv ? 0 : 1, n = a->n;
	const char *spec = c->sig->n > 1 ? c->sig->p[1].name : "";
	bool list = !strcmp(spec, "axes") || !strcmp(spec, "shape") || !strcmp(spec, "index");
	if (!list || n <= at + 1) return false;
	for (int i = at; i < n; i++)
		if (a->p[i].name.s || a->p[i].value->kind == EX_LIST) return false;
	Span all = span_join(a->p[at].value->span, a->p[n - 1].value->span);
	Str fix = str_fmt("[%s]", span_source(all));
	diag_help(d, "write `%s`", fix);
	diag_edit(d, all, fix);
	return true;
}

static bool bind_positional(Cx *cx, Call *c, const Arg *a, int *next, bool recv)
{
	while (*next < c->sig->n && !c->sig->p[*next].named && c->arg[*next].given) ++*next;
	if (*next >= c->sig->n || c->sig->p[*next].named) {
		Diag *d = cx_diag(cx, D_OP_ARG_EXTRA, a->value->span, call_what(c));
		diag_note(d, "it is written `%s(%s)`", c->name, sig_text(c->sig, recv));
		if (help_list(c, d, recv)) return false;
		if (c->pointer && a->value->kind == EX_LIST)
			diag_help(d, "a pointer has no extents; `unsafe tensor_span(p, [n])` is a tensor");
		else if (*next < c->sig->n)
			diag_help(d, "the arguments after these are given by name, as in `%s: ...`", c->sig->p[*next].name);
		return false;
	}
	c->arg[*next].e = a->value;
	c->arg[*next].given = true;
	c->arg[*next].span = a->value->span;
	++*next;
	return true;
}

/* All arguments that have another name elsewhere: one remedy for them. */
static void translate_arguments(const Call *c, Diag *d)
{
	const ArgVec *a = &c->e->u.call.args;
	for (int i = 0; i < a->n; i++) {
		const char *ours = a->p[i].name.s && arg_index(c, a->p[i].name.s) < 0
			? foreign_word(FW_ARGUMENT, a->p[i].name.s) : NULL;
		if (ours && arg_index(c, ours) >= 0) diag_edit(d, a->p[i].name.span, ours);
	}
}

/* max(x, axis: 0), max(x): another operation was meant. */
static bool help_instead(const Call *c, Diag *d, const char *arg)
{
	const Expr *f = c->e->u.call.callee;
	const char *other = foreign_word(FW_INSTEAD, str_fmt("%s.%s", op_rows[c->op].name, arg));
	if (!other || (f->kind != EX_NAME && f->kind != EX_MEMBER)) return false;
	diag_help(d, "`%s` works element by element: write `%s`", c->name, other);
	diag_edit(d, f->kind == EX_NAME ? f->span : f->u.mem.name.span, other);
	const ArgVec *a = &c->e->u.call.args;
	for (int i = 0; i < a->n; i++)
		if (a->p[i].name.s && !strcmp(a->p[i].name.s, "dim")) diag_edit(d, a->p[i].name.span, "axis");
	return true;
}

static void unknown_argument(Cx *cx, const Call *c, Name name, bool recv)
{
	Near near;
	near_begin(&near, name.s);
	for (int k = 0; k < c->sig->n; k++) near_offer(&near, c->sig->p[k].name);
	const char *ours = foreign_word(FW_ARGUMENT, name.s), *needless = foreign_word(FW_NEEDLESS, name.s);
	if (ours && arg_index(c, ours) < 0) ours = NULL;
	Diag *d = cx_diag(cx, D_OP_ARG_NAME, name.span, call_what(c), name.s);
	if (help_instead(c, d, foreign_word(FW_ARGUMENT, name.s) ? foreign_word(FW_ARGUMENT, name.s) : name.s)) return;
	if (needless) {
		diag_help(d, "%s", needless);
	} else if (ours) {
		diag_help(d, "write `%s:`", ours);
		translate_arguments(c, d);
	} else if (near.best) {
		diag_ask(d, near.best);
	} else {
		diag_help(d, "it is written `%s(%s)`", c->name, sig_text(c->sig, recv));
	}
}

static bool bind_named(Cx *cx, Call *c, const Arg *a, bool recv)
{
	int i = arg_index(c, a->name.s);
	if (i < 0 || (i == 0 && recv)) {
		unknown_argument(cx, c, a->name, recv);
		return false;
	}
	if (c->arg[i].given) {
		Diag *d = cx_diag(cx, D_OP_ARG_TWICE, a->name.span, call_what(c), a->name.s);
		diag_label(d, c->arg[i].span, "given here already");
		return false;
	}
	c->arg[i].e = a->value;
	c->arg[i].given = true;
	c->arg[i].span = a->value->span;
	return true;
}

/* cat([a, b], 0): the tiles stand one by one. */
static bool help_listed(const Call *c, Diag *d)
{
	const ArgVec *a = &c->e->u.call.args;
	const Expr *first = a->n ? a->p[0].value : NULL;
	if ((c->op != OP_CAT && c->op != OP_JOIN) || !first || (first->kind != EX_LIST && first->kind != EX_TUPLE))
		return false;
	if (first->u.list.n != 2) return false;
	Str fix = str_fmt("%s, %s", span_source(first->u.list.p[0]->span), span_source(first->u.list.p[1]->span));
	diag_help(d, "write `%s`, without brackets", fix);
	diag_edit(d, first->span, fix);
	return true;
}

static bool bind_missing(Cx *cx, Call *c, bool recv)
{
	for (int i = 0; i < c->sig->n; i++) {
		if (c->arg[i].given || c->sig->p[i].optional) continue;
		Diag *d = cx_diag(cx, D_OP_ARG_MISSING, c->span, call_what(c), c->sig->p[i].name);
		const char *meant = foreign_word(FW_LACKS, str_fmt("%s.%s", op_rows[c->op].name, c->sig->p[i].name));
		if (help_instead(c, d, c->sig->p[i].name) || help_listed(c, d)) return false;
		if (meant) diag_note(d, "it is written `%s(%s)`", c->name, sig_text(c->sig, recv));
		if (meant) diag_help(d, "%s", meant);
		else diag_help(d, "it is written `%s(%s)`", c->name, sig_text(c->sig, recv));
		return false;
	}
	return true;
}

static bool bind(Cx *cx, Call *c, const Sv *recv, const Sv *first)
{
	int next = 0;
	bool variadic = c->op == OP_PRINT || c->op == OP_STATIC_PRINT;
	const ArgVec *args = &c->e->u.call.args;
	if (recv) {
		c->arg[0] = (BoundArg){ .given = true, .done = true, .sv = *recv, .span = recv->span };
		next = 1;
	}
	for (int i = 0; i < args->n; i++) {
		const Arg *a = &args->p[i];
		if (variadic && i > 0 && !a->name.s) {
			c->rest = c->nrest++ ? c->rest : a;
			continue;
		}
		if (!(a->name.s ? bind_named(cx, c, a, recv != NULL) : bind_positional(cx, c, a, &next, recv != NULL)))
			return false;
		if (first && i == 0 && !a->name.s) {
			c->arg[0].sv = *first;
			c->arg[0].done = true;
		}
	}
	return bind_missing(cx, c, recv != NULL);
}

/* ---- accessors ---- */

Sv arg_value(Cx *cx, Call *c, int i, const Type *want)
{
	BoundArg *a = &c->arg[i];
	if (!a->given) return sv_none(c->span);
	if (!a->done) {
		a->sv = sema_expr(cx, a->e, want);
		a->done = true;
	}
	return a->sv;
}

Sv arg_operand(Cx *cx, Call *c, int i)
{
	BoundArg *a = &c->arg[i];
	if (a->given && !a->done) {
		a->sv = sema_operand(cx, a->e);
		a->done = true;
	}
	return arg_value(cx, c, i, NULL);
}

Sv arg_tile(Cx *cx, Call *c, int i)
{
	Sv v = arg_value(cx, c, i, NULL);
	if (sv_bad(v) || sv_is_tile(v)) return v;
	Diag *d = cx_diag(cx, D_NEED_TILE, v.span, call_what(c), sv_what(v));
	if (sv_is_scalar(v)) {
		const char *elem = v.type ? elem_word(cx, v.type->elem) : v.kind == SV_INT ? "i32" : "f32";
		diag_help(d, "`full` makes a tile of it, as in `full([64], %s, %s)`", span_source(v.span), elem);
	}
	if (v.kind == SV_VIEW) diag_help(d, "`%s.load(...)` loads a tile from it", span_source(v.span));
	return sv_poison(c->span);
}

static bool missing(Cx *cx, Call *c, int i)
{
	if (c->arg[i].given) return false;
	cx_diag(cx, D_OP_ARG_MISSING, c->span, call_what(c), c->sig->p[i].name);
	return true;
}

bool arg_shape(Cx *cx, Call *c, int i, bool hole, Shape *out)
{
	return !missing(cx, c, i) && sema_shape(cx, c->arg[i].e, hole, out);
}

bool arg_elem(Cx *cx, Call *c, int i, Elem *out)
{
	return !missing(cx, c, i) && sema_elem(cx, c->arg[i].e, out);
}

bool arg_int(Cx *cx, Call *c, int i, int64_t *out)
{
	Int v;
	if (missing(cx, c, i) || !sema_const_int(cx, c->arg[i].e, &v)) return false;
	if (v < INT64_MIN || v > INT64_MAX) {
		cx_diag0(cx, D_CONST_RANGE, c->arg[i].span);
		return false;
	}
	*out = (int64_t)v;
	return true;
}

bool arg_ints(Cx *cx, Call *c, int i, int *n, int64_t *out, int max)
{
	const Expr *e = c->arg[i].e;
	if (missing(cx, c, i)) return false;
	if (e->kind != EX_LIST || e->u.list.n > max) {
		Diag *d = cx_diag(cx, D_NEED_LIST, c->arg[i].span, str_fmt("`%s` of %s", c->sig->p[i].name, call_what(c)));
		if (e->kind == EX_LIST) diag_note(d, "it has at most %d elements", max);
		else diag_help(d, "write `[%s]`", span_source(e->span));
		if (e->kind != EX_LIST) diag_edit(d, e->span, str_fmt("[%s]", span_source(e->span)));
		return false;
	}
	*n = e->u.list.n;
	for (int k = 0; k < *n; k++) {
		Int v;
		if (!sema_const_int(cx, e->u.list.p[k], &v)) return false;
		if (v < INT32_MIN || v > INT32_MAX) {
			cx_diag0(cx, D_CONST_RANGE, e->u.list.p[k]->span);
			return false;
		}
		out[k] = (int64_t)v;
	}
	return true;
}

bool arg_bool(Cx *cx, Call *c, const char *name, bool *out)
{
	int i = arg_index(c, name);
	*out = false;
	return i < 0 || !c->arg[i].given || sema_const_bool(cx, c->arg[i].e, out);
}

bool arg_axis(Cx *cx, Call *c, int i, const Type *t, int *out)
{
	int64_t v;
	if (!arg_int(cx, c, i, &v)) return false;
	if (v >= 0 && v < t->rank) {
		*out = (int)v;
		return true;
	}
	Diag *d = cx_diag(cx, D_AXIS_RANGE, c->arg[i].span, str_i64(v), type_text(t));
	if (t->rank) diag_note(d, "axes count from 0, the slowest: 0 .. %d", t->rank - 1);
	if (v < 0 && -v <= t->rank) {
		diag_help(d, "the same axis from the front: `%d`", (int)(t->rank + v));
		diag_edit(d, c->arg[i].span, str_fmt("%d", (int)(t->rank + v)));
	} else if (t->rank) {
		diag_help(d, "the last axis is `%d`", t->rank - 1);
		diag_edit(d, c->arg[i].span, str_fmt("%d", t->rank - 1));
	}
	return false;
}

/* Word w of an attribute, NULL after the last one that the language has: `ties_even` is the IR's alone. */
static Str word_text(AttrKey key, int w)
{
	return key == AT_ROUNDING && w >= ROUND_TIES_EVEN ? NULL : attr_word_text(key, w);
}

static Str words_of(AttrKey key)
{
	const char *w[16];
	int n = 0;
	for (; n < 16 && word_text(key, n); n++) w[n] = word_text(key, n);
	return list_or(n, w);
}

static bool is_flag(AttrKey key)
{
	return !strcmp(attr_word_text(key, 0), "false");
}

bool arg_word(Cx *cx, Call *c, AttrKey key, int *out)
{
	int i = arg_index(c, attr_rows[key].name);
	*out = 0;
	if (i < 0 || !c->arg[i].given) return true;
	const Expr *e = c->arg[i].e;
	if (is_flag(key)) {
		bool b = false;
		if (!sema_const_bool(cx, e, &b)) return false;
		*out = b;
		return true;
	}
	int w = e->kind == EX_NAME ? attr_word(key, e->u.name) : -1;
	if (w >= 0 && word_text(key, w)) {
		*out = w;
		return true;
	}
	Diag *d = cx_diag(cx, D_ARG_WORD, e->span, attr_rows[key].name, span_source(e->span));
	Near near;
	near_begin(&near, e->kind == EX_NAME ? e->u.name : "");
	for (int k = 0; word_text(key, k); k++) near_offer(&near, word_text(key, k));
	if (near.best && e->kind == EX_NAME) {
		diag_ask(d, near.best);
	} else {
		diag_note(d, "the words are %s", words_of(key));
	}
	return false;
}

bool arg_modes(Cx *cx, Call *c, Modes *m)
{
	static const AttrKey keys[] = { AT_ROUNDING, AT_SUBNORMALS, AT_NAN, AT_OVERFLOW };
	*m = no_modes;
	for (int k = 0; k < 4; k++) {
		int i = arg_index(c, attr_rows[keys[k]].name);
		if (i < 0 || !c->arg[i].given) continue;
		if (!arg_word(cx, c, keys[k], &m->word[k])) return false;
		m->at[k] = c->arg[i].span;
	}
	return true;
}

Str arg_string(Cx *cx, Call *c, int i)
{
	Sv v = arg_value(cx, c, i, NULL);
	if (v.kind == SV_STRING) return v.u.str;
	if (sv_bad(v)) return NULL;
	Diag *d = cx_diag(cx, D_NEED_STRING, v.span, call_what(c), sv_what(v));
	if ((c->op != OP_PRINT && c->op != OP_STATIC_PRINT) || i) return NULL;
	Str places = str_intern("{}");
	for (int k = 0; k < c->nrest; k++) places = str_fmt("%s {}", places);
	diag_help(d, "values follow a text with a place for each: write `\"%s\", %s`", places, span_source(v.span));
	diag_edit(d, (Span){ v.span.lo, v.span.lo }, str_fmt("\"%s\", ", places));
	return NULL;
}

/* What there is for a value in the place of what is said of memory. */
static void help_no_view(Diag *d, const Call *c, Sv v)
{
	static const struct { OpCode op; const char *text; } said[] = {
		{ OP_LOAD, "a tile is loaded already; a part of it is `extract(t, shape, index)`" },
		{ OP_LOAD_AT, "a tile is loaded already; a part of it is `extract(t, shape, index)`" },
		{ OP_SLICE, "a part of a tile is `extract(t, shape, index)`" },
		{ OP_PARTITION, "a part of a tile is `extract(t, shape, index)`" },
		{ OP_STRIDED, "a part of a tile is `extract(t, shape, index)`" },
		{ OP_STORE, "a tile is a value, which a tensor stores, as in `y.store([i], t)`; `insert` changes a part" },
		{ OP_STORE_AT, "a tile is a value, which a tensor stores, as in `y.store_at([i], t)`" },
		{ OP_SCATTER, "a tile is a value, whose elements a tensor stores, as in `y.scatter([i], t)`" },
		{ OP_EXTENT, "the extents of a tile belong to its type, and are compile-time values" },
		{ OP_STRIDE, "a tile has no strides: where its elements lie is the compiler's" },
		{ OP_MASK, "a mask is that of a tensor, as in `x.mask([i], [N])`: which elements of a tile lie inside" },
	};
	if (v.type && v.kind == SV_VAL && elem_is_ptr(v.type->elem)) {
		diag_note(d, "pointers take `load(p, ..)`, `store(p, x, ..)` and atomics");
		return;
	}
	for (size_t i = 0; sv_is_tile(v) && i < sizeof said / sizeof *said; i++) {
		if (said[i].op != c->op) continue;
		diag_help(d, "%s", said[i].text);
		return;
	}
	diag_help(d, "memory is a parameter of the kernel or function, as in `x: tensor<f32, [n]>`, or a view of one");
}

const View *arg_view(Cx *cx, Call *c, int i)
{
	Sv v = arg_value(cx, c, i, NULL);
	if (v.kind == SV_VIEW) return v.u.view;
	if (!sv_bad(v)) {
		help_no_view(cx_diag(cx, D_NEED_VIEW, v.span, call_what(c), sv_what(v)), c, v);
	}
	return NULL;
}

/* ---- dispatch ---- */

typedef Sv (*Build)(Cx *cx, Call *c);

/* The table of operations as it is written: a builder, and then the operations that are its own. */
static const struct { Build build; OpCode op; } built[] = {
#undef OP_BUILDS
#define OP_BUILDS(builder) { build_##builder, OP_COUNT },
#define OP(id, name, form, sig, type, layout, flags, c, cuda, tile, needs, check, sim, print, doc) { NULL, OP_##id },
#include "ir/ops.def"
#undef OP
};

static Sv dispatch(Cx *cx, Call *c)
{
	static Build by_op[OP_COUNT];
	Build build = NULL;
	for (size_t i = 0; !by_op[c->op] && i < sizeof built / sizeof *built; i++) {
		if (built[i].build) build = built[i].build;
		else by_op[built[i].op] = build;
	}
	return by_op[c->op](cx, c);
}

/* load, store and atomics exist on tensors and on pointer tiles, gather on tensors and inside tiles: the first argument
 * decides. It is evaluated here, once. */
static SigForm form_of(Cx *cx, OpCode op, const Expr *call, const Sv *recv, Sv *first)
{
	const ArgVec *args = &call->u.call.args;
	*first = sv_none(call->span);
	bool pointer = other_sigs[op][SIG_POINTER], tile = other_sigs[op][SIG_TILE];
	if (!pointer && !tile) return SIG_PLAIN;
	if (recv) *first = *recv;
	else if (args->n && !args->p[0].name.s) *first = sema_expr(cx, args->p[0].value, NULL);
	if (pointer && first->kind != SV_VIEW && first->type && first->kind != SV_TYPE && elem_is_ptr(first->type->elem))
		return SIG_POINTER;
	return tile && sv_is_tile(*first) ? SIG_TILE : SIG_PLAIN;
}

/* v.max(1): in NumPy the greatest along an axis, here each element and 1. Written as a function,
 * `max(v, 1)`, it is not asked. */
static void warn_axis(Cx *cx, const Call *c, const Sv *recv, const Expr *arg)
{
	Sv n;
	bool minus = arg->kind == EX_UNARY && arg->u.un.op == UN_NEG && arg->u.un.x->kind == EX_INT;
	int rank = recv->type->rank;
	if (!minus && arg->kind != EX_INT) return;
	Int i = lit_number(minus ? span_source(arg->u.un.x->span) : span_source(arg->span), minus, &n) && n.kind == SV_INT
		? n.u.i : INT64_MAX;
	if (i < -rank || i > rank) return;
	Str v = span_source(recv->span), text = sema_source(arg);
	const char *greatest = c->op == OP_MAX ? "greater" : "lesser",
		*reduce = c->op == OP_MAX ? "reduce_max" : "reduce_min";
	Diag *d = cx_diag(cx, D_AXIS_MEANT, c->span, sema_source(c->e), greatest, text);
	Str axis = str_i64(i < 0 ? (int64_t)i + rank : i < rank ? (int64_t)i : rank - 1);
	diag_help(d, "is an axis meant? then `%s(%s, %s)` is it; `%s(%s, %s)` says that the number is", reduce, v, axis,
		c->name, v, text);
}

Sv builtin_call(Cx *cx, OpCode op, const Expr *call, const Sv *recv)
{
	const Expr *callee = call->u.call.callee;
	Sv first;
	if (recv && sv_bad(*recv)) return *recv;
	SigForm form = form_of(cx, op, call, recv, &first);
	if (sv_bad(first)) return first;
	Call c = { .op = op, .e = call, .span = call->span, .sig = sig_of(op, form), .pointer = form == SIG_POINTER };
	c.name = str_intern(op_rows[op].name);
	if (callee->kind == EX_NAME) c.name = callee->u.name;
	else if (callee->kind == EX_MEMBER) c.name = callee->u.mem.name.s;
	if (recv && recv->kind == SV_VIEW && c.sig->n && c.sig->p[0].kind != 'w' && op != OP_PERMUTE && op != OP_RESHAPE &&
		op != OP_TRANSPOSE) {
		Diag *d = cx_diag(cx, D_NO_METHOD, c.span, sv_what(*recv), c.name);
		diag_help(d, "tiles have it, which are loaded first, as in `%s.load(...).%s(...)`", span_source(recv->span),
			c.name);
		return sv_poison(c.span);
	}
	if (!bind(cx, &c, recv, first.kind == SV_NONE || recv ? NULL : &first)) return sv_poison(c.span);
	bool one = recv && sv_is_tile(*recv) && recv->type->rank && call->u.call.args.n == 1;
	if (one && (op == OP_MAX || op == OP_MIN)) warn_axis(cx, &c, recv, call->u.call.args.p[0].value);
	Span before = cx->b.span;
	Sv v = dispatch(cx, &c);
	cx->b.span = before;
	v.span = c.span;
	return v;
}
