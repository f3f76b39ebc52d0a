/* What a file declares and never mentions. The question is asked of the source, not of what was built: a name that only
 * an untaken `if const` mentions is used. */
#include "sema/scope.h"

/* ---- code that is not built ---- */
static void touch(void *ctx, Str name, bool assigned)
{
	Bind *b = scope_find(ctx, name);
	if (!b) return;
	b->used |= !assigned;
	b->assigned |= assigned;
}

void names_touch(Cx *cx, const Block *b, const Stmt *s)
{
	NameVisit v = { touch, cx };
	if (b) ast_names_block(b, &v);
	if (s) ast_names_stmt(s, &v);
}

/* ---- items ---- */
static void note(void *ctx, Str name, bool assigned)
{
	(void)assigned;
	Map *m = ctx;
	if (!map_get(m, name)) map_put(m, name, m);
}

static Map mentioned_in(const Item *it)
{
	Map m = { 0 };
	NameVisit v = { note, &m };
	ast_names_item(it, &v);
	return m;
}

static bool silent(Str name) { return name[0] == '_'; }

static void parameters(const Item *it)
{
	Map m = mentioned_in(it);
	const FnItem *f = &it->u.fn;
	const char *what = it->kind == IT_KERNEL ? "kernel" : it->kind == IT_ENTRY ? "entry" : "function";
	for (int i = 0; i < f->generics.n + f->params.n; i++) {
		Name n = i < f->generics.n ? f->generics.p[i].name : f->params.p[i - f->generics.n].name;
		if (silent(n.s) || map_get(&m, n.s)) continue;
		if (i >= f->generics.n && f->params.p[i - f->generics.n].mode == MODE_OUT) {
			Diag *d = diag(D_UNSTORED, n.span, n.s, what, it->name.s);
			diag_help(d, "store to it, leave it out, or name it `_%s`", n.s);
			continue;
		}
		Diag *d = diag(D_PARAM_UNUSED, n.span, n.s, what, it->name.s);
		diag_help(d, "leave it out, or name it `_%s`", n.s);
	}
}

/* Functions and constants of a file that makes C functions; else they are what the file is for. */
static void items(const Sema *s, const Unit *u, const Map *m)
{
	for (int i = 0; s->mod->entries.n && i < u->globals.n; i++) {
		const Global *g = u->globals.p[i];
		ItemKind k = g->item->kind;
		if ((k == IT_FN || k == IT_CONST || k == IT_PARAM) && !silent(g->name) && !map_get(m, g->name))
			diag(D_UNUSED, g->item->name.span, g->name);
	}
}

static bool gives(const Unit *u, const Map *m)
{
	for (int i = 0; i < u->globals.n; i++)
		if (map_get(m, u->globals.p[i]->name)) return true;
	return false;
}

static void imports(const Unit *u, const Map *m)
{
	for (int i = 0; i < u->imports.n; i++) {
		const Import *p = &u->imports.p[i];
		if (p->as ? map_get(m, p->as) != NULL : gives(p->unit, m)) continue;
		Diag *d = diag(D_IMPORT_UNUSED, p->at, p->as ? p->as : src_mapped(p->unit->path));
		diag_help(d, "leave the import out");
	}
}

void unused_report(const Sema *s)
{
	const Unit *u = s->units.p[0];
	Map all = { 0 };
	NameVisit v = { note, &all };
	for (int i = 0; i < u->ast->items.n; i++) {
		const Item *it = u->ast->items.p[i];
		ast_names_item(it, &v);
		if (it->kind == IT_KERNEL || it->kind == IT_ENTRY || it->kind == IT_FN) parameters(it);
	}
	items(s, u, &all);
	imports(u, &all);
}
