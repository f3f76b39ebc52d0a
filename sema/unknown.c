/* Names that nothing declares: what is said of them. The nearest name that is visible, the word of another language that is
 * meant, the file of the library that has it, or where it is declared too late. */
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

Str scope_near(Cx *cx, Str name)
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

/* sinf, __logf: C and CUDA name the type with the function. */
static const char *math_of_c(Str name)
{
	OpCode op;
	size_t lead = strncmp(name, "__", 2) ? 0 : 2, n = str_len(name);
	if (n < lead + 4 || name[n - 1] != 'f') return NULL;
	Str stem = str_intern_n(name + lead, n - lead - 1);
	return op_by_name(stem, &op) && !(op_rows[op].flags & OPF_HIDDEN) ? stem : NULL;
}

const char *known_elsewhere(Str name)
{
	const char *ours = foreign_word(FW_NAME, name);
	if (!ours) ours = foreign_word(FW_TYPE, name);
	if (!ours) ours = math_of_c(name);
	return ours && *ours ? ours : NULL;
}

/* A let or var of this name behind `at` in the function that is being checked; no place: none. */
static Span pattern_with(const Expr *pat, Str name)
{
	Span none = { 0, 0 };
	if (pat->kind == EX_NAME && pat->u.name == name) return pat->span;
	for (int i = 0; pat->kind == EX_TUPLE && i < pat->u.list.n && !none.hi; i++) none = pattern_with(pat->u.list.p[i], name);
	return none;
}

static Span declared_in(const Block *b, Str name, Span at)
{
	Span found = { 0, 0 };
	for (int i = 0; b && i < b->stmts.n && !found.hi; i++) {
		const Stmt *s = b->stmts.p[i];
		bool decl = s->kind == ST_LET || s->kind == ST_VAR;
		for (int k = 0; decl && k < s->u.decls.n && !found.hi; k++) found = pattern_with(s->u.decls.p[k].pat, name);
		if (s->kind == ST_FOR || s->kind == ST_WHILE) found = declared_in(s->u.loop.body, name, at);
		if (found.lo < at.lo) found.hi = 0;
	}
	return found;
}

static Span declared_later(const Cx *cx, Str name, Span at)
{
	const Item *it = cx->frame->item;
	bool body = it && (it->kind == IT_FN || it->kind == IT_KERNEL || it->kind == IT_ENTRY);
	return body ? declared_in(it->u.fn.body, name, at) : (Span){ 0, 0 };
}

/* False: nothing can be said of the name. */
static bool help_unknown(Cx *cx, Diag *d, Str name, Span at, bool type)
{
	const char *near = known_elsewhere(name), *thought = foreign_word(FW_SAY, name);
	Str file = near || thought ? NULL : library_with(cx->s, name);
	Span later = near || thought || file ? (Span){ 0, 0 } : declared_later(cx, name, at);
	if (!near && !thought) near = scope_near(cx, name);
	OpCode op;
	if (type && near && op_by_name(str_intern(near), &op)) near = NULL;
	if (thought) {
		diag_help(d, "%s", thought);
	} else if (file) {
		uint32_t top = cx->unit->ast->src->base;
		diag_help(d, "it is a function of the library: `import \"%s\";` at the top of the file", file);
		diag_edit(d, (Span){ top, top }, str_fmt("import \"%s\";\n", file));
	} else if (later.hi) {
		diag_label(d, later, "`%s` is declared here, further down", name);
		diag_help(d, "declare it before it is used");
	} else if (near) {
		diag_help(d, "write `%s`", near);
		diag_edit(d, at, near);
	} else if (name_is_class(name)) {
		diag_note(d, "`%s` is a class of types: it stands only behind the `:` of a generic parameter", name);
	} else if (name_is_upper(name) && cx->frame->item && cx->frame->item->kind == IT_KERNEL) {
		diag_help(d, "declare it: `<%s: int>` behind the kernel's name, or `param %s: int = ...;`", name, name);
	} else {
		return false;
	}
	return true;
}

Sv unknown_name(Cx *cx, Str name, Span at)
{
	help_unknown(cx, cx_diag(cx, D_NAME_UNKNOWN, at, name), name, at, false);
	return sv_poison(at);
}

Sv unknown_type(Cx *cx, Str name, Span at)
{
	help_unknown(cx, cx_diag(cx, D_NAME_UNKNOWN, at, name), name, at, true);
	return sv_poison(at);
}

void unknown_target(Cx *cx, Str name, Span at)
{
	Diag *d = cx_diag(cx, D_NAME_UNKNOWN, at, name);
	if (help_unknown(cx, d, name, at, false)) return;
	diag_help(d, "declare it: `let %s = ...`, or `var` if it changes", name);
	diag_edit(d, (Span){ at.lo, at.lo }, "let ");
}

/* A dimension, in all likelihood: bound, so that it is reported once. */
void unknown_extent(Cx *cx, Str name, Span at)
{
	Diag *d = cx_diag(cx, D_NAME_UNKNOWN, at, name);
	Out *o = out_new();
	for (const char *p = name; *p; p++) out_printf(o, "%c", *p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
	diag_help(d, "a dimension begins with a small letter, `%s`; a compile-time value is declared: `<%s: int>`", out_take(o), name);
	scope_add_sv(cx, (Name){ name, at }, sv_poison(at))->used = true;
}
