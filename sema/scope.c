/* Names: the map, frames with their nested scopes, items of files, classes of types. */
#include "sema/build.h"
#include "sema/scope.h"

#include <stdlib.h>
#include <string.h>

/* ---- the map: open addressing, never shrinks ---- */
static int map_slot(const Map *m, Str key)
{
	int i = (int)(str_hash(key) & (uint32_t)(m->cap - 1));
	while (m->key[i] && m->key[i] != key) i = (i + 1) & (m->cap - 1);
	return i;
}

void *map_get(const Map *m, Str key)
{
	return m->cap ? m->val[map_slot(m, key)] : NULL;
}

static void map_grow(Map *m)
{
	Map old = *m;
	m->cap = old.cap ? old.cap * 2 : 8;
	m->key = NEW_ARRAY(A_UNIT, Str, m->cap);
	m->val = NEW_ARRAY(A_UNIT, void *, m->cap);
	for (int i = 0; i < old.cap; i++) {
		if (!old.key[i]) continue;
		int k = map_slot(m, old.key[i]);
		m->key[k] = old.key[i];
		m->val[k] = old.val[i];
	}
}

void map_put(Map *m, Str key, void *val)
{
	if ((m->n + 1) * 2 > m->cap) map_grow(m);
	int i = map_slot(m, key);
	if (!m->key[i]) m->n++;
	m->key[i] = key;
	m->val[i] = val;
}

/* ---- contexts, frames and scopes ---- */
Frame *frame_new(const Item *item)
{
	Frame *f = NEW(A_UNIT, Frame);
	f->item = item;
	return f;
}

Cx *cx_new(Sema *s, Unit *u, const Item *item, Str name)
{
	Cx *cx = NEW(A_UNIT, Cx);
	Span at = item ? item->span : (Span){ 0, 0 };
	cx->s = s;
	cx->opt = s->opt;
	cx->mod = s->mod;
	cx->unit = u;
	cx->fn = ir_fn(name, at);
	if (!cx->fn->body) cx->fn->body = ir_block(cx->fn, NULL);
	cx->b = (Builder){ cx->fn, cx->fn->body, NULL, at };
	cx->frame = frame_new(item);
	cx->facts = facts_new(NULL, A_UNIT);
	return cx;
}

void scope_open(Cx *cx)
{
	vec_push(A_UNIT, &cx->frame->open, NULL);
}

/* Where something is wrong, what looks unused may stand in the part that was not understood. */
static void warn_unused(Cx *cx, const Bind *b)
{
	if (diag_errors()) return;
	if (!b->used) {
		cx_diag(cx, D_UNUSED, b->at, b->name);
	} else {
		Diag *d = cx_diag(cx, D_NEVER_ASSIGNED, b->at, b->name);
		diag_help(d, "declare it with `let`");
		if (b->word.hi) diag_edit(d, b->word, "let");
	}
}

static bool idle(const Bind *b)
{
	return b->local && b->name[0] != '_' && b->at.hi && (!b->used || (b->kind == BIND_VAR && !b->assigned));
}

static int by_place(const void *a, const void *b)
{
	uint32_t x = (*(Bind *const *)a)->at.lo, y = (*(Bind *const *)b)->at.lo;
	return (x > y) - (x < y);
}

/* What is idle is said when the last scope closes, in the order of declaration: a name that a block has and does not
 * use may be meant after the block, where it is unknown. */
static void warn_idle(Cx *cx)
{
	Frame *f = cx->frame;
	if (f->idle.n) qsort(f->idle.p, (size_t)f->idle.n, sizeof *f->idle.p, by_place);
	for (int i = 0; i < f->idle.n; i++) warn_unused(cx, f->idle.p[i]);
	f->idle.n = 0;
}

void scope_close(Cx *cx)
{
	Frame *f = cx->frame;
	Bind *first = f->open.p[--f->open.n];
	for (Bind *b = first; b; b = b->next) {
		if (idle(b)) vec_push(A_UNIT, &f->idle, b);
		map_put(&f->names, b->name, b->shadowed);
	}
	if (!f->open.n) warn_idle(cx);
}

Bind *scope_add(Cx *cx, BindKind kind, Name n)
{
	Frame *f = cx->frame;
	Bind *b = NEW(A_UNIT, Bind), *old = map_get(&f->names, n.s);
	if (old && old->depth == f->open.n) {
		Diag *d = cx_diag(cx, D_NAME_TWICE, n.span, n.s);
		if (old->at.hi) diag_label(d, old->at, "`%s` is declared here first", n.s);
		if (old->local) diag_help(d, "take another name, or declare the first with `var` and assign it");
	}
	b->kind = kind;
	b->name = n.s;
	b->at = n.span;
	b->depth = f->open.n;
	b->shadowed = old;
	b->next = f->open.p[f->open.n - 1];
	f->open.p[f->open.n - 1] = b;
	map_put(&f->names, n.s, b);
	return b;
}

Bind *scope_add_sv(Cx *cx, Name n, Sv v)
{
	Bind *b = scope_add(cx, BIND_SV, n);
	v.name = n.s;
	b->sv = v;
	return b;
}

Bind *scope_find(const Cx *cx, Str name)
{
	return map_get(&cx->frame->names, name);
}

/* ---- items ---- */
Global *unit_find(const Unit *u, Str name, Global **other)
{
	Global *g = map_get(&u->names, name);
	if (other) *other = NULL;
	if (g) return g;
	for (int i = 0; i < u->imports.n; i++) {
		if (u->imports.p[i].as) continue;
		Global *h = map_get(&u->imports.p[i].unit->names, name);
		if (!h || h == g) continue;
		if (!g) g = h;
		else if (other) *other = h;
	}
	return g;
}

Unit *unit_module(const Unit *u, Str as)
{
	for (int i = 0; i < u->imports.n; i++)
		if (u->imports.p[i].as == as) return u->imports.p[i].unit;
	return NULL;
}

Global *scope_global(Cx *cx, Str name, Span at, bool *bad)
{
	Global *other, *g = unit_find(cx->unit, name, &other);
	*bad = other != NULL;
	if (!other) return g;
	Diag *d = cx_diag(cx, D_NAME_AMBIGUOUS, at, name, src_mapped(g->unit->path), src_mapped(other->unit->path));
	diag_label(d, g->item->name.span, "one of them");
	diag_label(d, other->item->name.span, "the other");
	diag_help(d, "one of the files is imported under a name, as in `import \"%s\" as other;`, and has it as `other.%s`",
		src_mapped(other->unit->path), name);
	return NULL;
}

/* ---- kinds of names ---- */
static const char *const classes[] = {
	"float", "any_float", "integral", "signed", "unsigned", "arith", "numeric", "any", "int", "shape"
};

bool name_is_class(Str name)
{
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
		if (strcmp(classes[i], name) == 0) return true;
	return name == str_intern("bool");
}

void classes_offer(Near *n)
{
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) near_offer(n, str_intern(classes[i]));
	near_offer(n, str_intern("bool"));
}

bool name_is_upper(Str name)
{
	while (*name == '_') name++;
	return *name >= 'A' && *name <= 'Z';
}

/* ---- diagnostics of inlined code ---- */
/* In a function the instance is that of the function, if it is generic. */
static Diag *reported_in(const Cx *cx, DiagCode code, Span at, const char *const *args, int nargs)
{
	const Item *it = cx->frame ? cx->frame->item : NULL;
	if (!it || it->kind != IT_FN) return diag_at(code, at, args, nargs);
	DiagInstance in = { NULL, NULL, NULL };
	if (cx->frame->generic) in = (DiagInstance){ it->name.s, str_fmt("`%s`", it->name.s), cx->frame->values };
	in = diag_instance(in);
	Diag *d = diag_at(code, at, args, nargs);
	diag_instance(in);
	return d;
}

Diag *cx_diag_at(Cx *cx, DiagCode code, Span at, const char *const *args, int nargs)
{
	Diag *d = reported_in(cx, code, at, args, nargs);
	const CallSite *c = cx->site;
	for (int i = 0; c && i < 3; i++, c = c->up) diag_call(d, c->at, c->name);
	int between = 0;
	for (; c && c->up; c = c->up) between++;
	if (c) diag_call(d, c->at, c->name);
	if (between) diag_note(d, "%d calls more lie between", between);
	return d;
}
