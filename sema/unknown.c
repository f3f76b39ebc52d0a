/* Names that nothing declares: what is said of them. The nearest name that is visible, the word of another language
 * that is meant, the file of the library that has it, or where it is declared too late. */
#include "sema/scope.h"

#include <string.h>

#include "ast/foreign.h"

static void offer_units(Near *n, const Unit *u)
{
	for (int i = 0; i < u->globals.n; i++) near_offer(n, u->globals.p[i]->name);
	for (int i = 0; i < u->imports.n; i++) {
		const Import *im = &u->imports.p[i];
		if (im->as) near_offer(n, im->as);
		for (int k = 0; !im->as && k < im->unit->globals.n; k++) near_offer(n, im->unit->globals.p[k]->name);
	}
}

/* Nearest name among what is visible here; NULL: none. */
static Str scope_near(Cx *cx, Str name)
{
	Near n;
	near_begin(&n, name);
	for (int i = cx->frame->open.n - 1; i >= 0; i--)
		for (const Bind *b = cx->frame->open.p[i]; b; b = b->next) near_offer(&n, b->name);
	offer_units(&n, cx->unit);
	for (int i = 0; i < EL_COUNT; i++)
		if (i != EL_VOID) near_offer(&n, str_intern(elem_rows[i].name));
	for (int i = 0; i < OP_COUNT; i++)
		if (!(op_rows[i].flags & OPF_HIDDEN)) near_offer(&n, str_intern(op_rows[i].name));
	return n.best;
}

/* The name in a pattern; no place: none. */
static Span pattern_with(const Expr *pat, Str name)
{
	Span none = { 0, 0 };
	if (pat->kind == EX_NAME && pat->u.name == name) return pat->span;
	for (int i = 0; pat->kind == EX_TUPLE && i < pat->u.list.n && !none.hi; i++)
		none = pattern_with(pat->u.list.p[i], name);
	return none;
}

/* A declaration of a name in the function that is being checked. */
typedef struct Search {
	Str name;
	Span at;                /* where the name stands */
	bool later;             /* further down than that, else before it, in a block that has ended */
	bool counter;           /* found: it is the counter of a loop */
} Search;

static Span declared_in(const Block *b, Search *s);

static Span declared_by(const Stmt *st, Search *s)
{
	Span found = { 0, 0 };
	switch (st->kind) {
	case ST_LET: case ST_VAR:
		for (int k = 0; k < st->u.decls.n && !found.hi; k++) found = pattern_with(st->u.decls.p[k].pat, s->name);
		break;
	case ST_FOR: case ST_WHILE:
		s->counter = !s->later && st->kind == ST_FOR && st->u.loop.name.s == s->name;
		found = s->counter ? st->u.loop.name.span : declared_in(st->u.loop.body, s);
		break;
	case ST_IF:
		found = declared_in(st->u.ifs.then, s);
		if (!found.hi && st->u.ifs.other) found = declared_by(st->u.ifs.other, s);
		break;
	case ST_BLOCK: case ST_UNSAFE:
		found = declared_in(st->u.block, s);
		break;
	default:
		break;
	}
	if (s->later ? found.lo < s->at.lo : found.lo >= s->at.lo) found.hi = 0;
	return found;
}

static Span declared_in(const Block *b, Search *s)
{
	Span found = { 0, 0 };
	for (int i = 0; b && i < b->stmts.n && !found.hi; i++) found = declared_by(b->stmts.p[i], s);
	return found;
}

/* Its place; none: there is no such declaration. */
static Span declared(const Cx *cx, Search *s)
{
	const Item *it = cx->frame->item;
	bool body = it && (it->kind == IT_FN || it->kind == IT_KERNEL || it->kind == IT_ENTRY);
	return body ? declared_in(it->u.fn.body, s) : (Span){ 0, 0 };
}

/* Where an unknown name stands. */
typedef struct Unknown { Str name; Span at; const Expr *call; bool type; } Unknown;     /* call: name(..), or NULL */

static bool help_import(Cx *cx, Diag *d, const Unknown *u, bool sure)
{
	bool fits;
	Str file = library_with(cx->s, u->name, u->call ? u->call->u.call.args.n : -1, &fits);
	if (!file || (sure && !fits)) return false;
	if (fits) habit_import(cx, d, file);
	else diag_help(d, "`%s` of the library has a function of that name, with other parameters", file);
	return true;
}

/* What other languages mean by the word; false: nothing is known of it. */
static bool help_foreign(Cx *cx, Diag *d, const Unknown *u)
{
	const char *ours = known_elsewhere(u->name), *thought = foreign_word(FW_SAY, u->name);
	if (u->call && habit_call(cx, d, u->name, u->call, NULL)) return true;
	if (ours) {
		diag_help(d, "write `%s`", ours);
		diag_edit(d, u->at, ours);
		return true;
	}
	if (help_import(cx, d, u, true)) return true;
	if (thought) diag_help(d, "%s", thought);
	else if (!name_is_upper(u->name) && foreign_word(FW_PREFIX, u->name)) diag_help(d, "operations have no prefix");
	else return help_import(cx, d, u, false);
	return true;
}

/* False: nothing can be said of the name. */
static bool help_unknown(Cx *cx, Diag *d, const Unknown *u)
{
	Str name = u->name;
	Search before = { .name = name, .at = u->at }, behind = { .name = name, .at = u->at, .later = true };
	Span ended = declared(cx, &before), later = declared(cx, &behind);
	if (ended.hi) {
		diag_label(d, ended, "this `%s` ends with its %s", name, before.counter ? "loop" : "block");
		diag_help(d, before.counter ? "a variable that is declared before the loop keeps what the counter was" :
			"what is needed after a block is declared before it, as in `var %s = ...`, and assigned in it", name);
		return true;
	}
	if (help_foreign(cx, d, u)) return true;
	const char *near = scope_near(cx, name);
	OpCode op;
	if (u->type && near && op_by_name(str_intern(near), &op)) near = NULL;
	if (later.hi) {
		diag_label(d, later, "`%s` is declared here, further down", name);
		diag_help(d, "declare it before it is used");
	} else if (near) {
		diag_ask(d, near);
	} else if (name_is_class(name)) {
		diag_note(d, "`%s` is a class of types: it can only follow the `:` of a generic parameter", name);
		if (name == str_intern("any") && !u->type)
			diag_help(d, "`any_of(x)` says whether any element of a tile is true");
	} else if (name_is_upper(name) && cx->frame->item && cx->frame->item->kind == IT_KERNEL) {
		diag_help(d, u->type ? "a type that differs between instances is declared after the kernel's name, by "
			"`<%s: float>`" : "a compile-time value is declared by `<%s: int>` after the kernel's name, or by `param`",
			name);
	} else {
		return false;
	}
	return true;
}

static Sv unknown(Cx *cx, Unknown u)
{
	help_unknown(cx, cx_diag(cx, D_NAME_UNKNOWN, u.at, u.name), &u);
	return sv_poison(u.at);
}

/* `fn f(a: tile<f32, [n]>)`: dimensions belong to tensors; what a tile's type has as an extent is inferred. */
static bool in_signature(const Cx *cx, Span at)
{
	const Item *it = cx->frame->item;
	return it && it->kind == IT_FN && it->u.fn.body && at.lo >= it->span.lo && at.lo < it->u.fn.body->span.lo;
}

Sv unknown_name(Cx *cx, Str name, Span at)
{
	Unknown u = { .name = name, .at = at };
	if (name_is_upper(name) || !in_signature(cx, at)) return unknown(cx, u);
	Diag *d = cx_diag(cx, D_NAME_UNKNOWN, at, name);
	if (help_unknown(cx, d, &u)) return sv_poison(at);
	Out *o = out_new();
	for (const char *p = name; *p; p++) out_printf(o, "%c", *p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
	diag_help(d, "a compile-time value that is inferred begins with a capital, as in `tile<f32, [%s]>`", out_take(o));
	return sv_poison(at);
}

Sv unknown_call(Cx *cx, const Expr *call)
{
	const Expr *f = call->u.call.callee;
	return unknown(cx, (Unknown){ .name = f->u.name, .at = f->span, .call = call });
}

/* Bound, so that it is reported once. */
Sv unknown_type(Cx *cx, Str name, Span at)
{
	Sv v = unknown(cx, (Unknown){ .name = name, .at = at, .type = true });
	if (name_is_upper(name) && cx->frame->open.n) scope_add_sv(cx, (Name){ name, at }, v)->used = true;
	return v;
}

void unknown_target(Cx *cx, Str name, Span at)
{
	Diag *d = cx_diag(cx, D_NAME_UNKNOWN, at, name);
	if (help_unknown(cx, d, &(Unknown){ .name = name, .at = at })) return;
	diag_help(d, "declare it by `let`, or by `var` if it changes");
	diag_edit(d, (Span){ at.lo, at.lo }, "let ");
}

/* `grid [sms]`: a number that no tensor has. */
bool unknown_extent_name(Cx *cx, Str name, Span at)
{
	const Item *it = cx->frame->item;
	const ParamVec *p = it && it->kind == IT_KERNEL ? &it->u.fn.params : NULL;
	if (!p || !p->n || name_is_upper(name) || scope_near(cx, name) || at.lo < it->span.lo || at.hi > it->span.hi)
		return false;
	Diag *d = cx_diag(cx, D_NAME_UNKNOWN, at, name);
	diag_help(d, "no tensor has it among its dimensions: declare the parameter `%s: i32`", name);
	uint32_t end = p->p[p->n - 1].span.hi;
	diag_edit(d, (Span){ end, end }, str_fmt(", %s: i32", name));
	return true;
}

/* A dimension, in all likelihood: bound, so that it is reported once. */
void unknown_extent(Cx *cx, Str name, Span at)
{
	Diag *d = cx_diag(cx, D_NAME_UNKNOWN, at, name);
	Out *o = out_new();
	for (const char *p = name; *p; p++) out_printf(o, "%c", *p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
	diag_help(d, "a dimension begins with a small letter, `%s`; a compile-time value is declared by `<%s: int>`",
		out_take(o), name);
	scope_add_sv(cx, (Name){ name, at }, sv_absent(at))->used = true;
}
