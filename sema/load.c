/* Files: imports are searched, read and parsed once; their items get into the tables of names; -D sets params.
 * Paths are compared as text after `.` and `..` are worked out: a file reached by two links counts twice. */
#include "sema/scope.h"

#include <errno.h>
#include <string.h>

#include "base/sys.h"
#include "parser/parse.h"

/* "a/./b/../c.tile" -> "a/c.tile"; a leading ".." stays. */
static Str path_clean(const char *path)
{
	VEC(Str) part = { 0 };
	bool root = path[0] == '/';
	for (const char *p = path; *p;) {
		size_t n = strcspn(p, "/");
		Str s = str_intern_n(p, n);
		bool up = strcmp(s, "..") == 0;
		if (up && part.n && strcmp(part.p[part.n - 1], "..") != 0) part.n--;
		else if (n && strcmp(s, ".") != 0 && !(up && root)) vec_push(A_TMP, &part, s);
		p += n + (p[n] == '/');
	}
	Out *o = out_new();
	if (root) out_puts(o, "/");
	for (int i = 0; i < part.n; i++) out_printf(o, "%s%s", i ? "/" : "", part.p[i]);
	if (!o->n) out_puts(o, ".");
	return out_take(o);
}

static Str path_join(Str folder, Str name)
{
	if (name[0] == '/') return path_clean(name);
	return path_clean(str_fmt("%s/%s", folder[0] ? folder : ".", name));
}

static Str folder_of(Str path)
{
	const char *slash = strrchr(path, '/');
	if (!slash) return str_intern(".");
	return slash == path ? str_intern("/") : str_intern_n(path, (size_t)(slash - path));
}

/* ---- items into the table of names ---- */
static bool has_name(const Item *it)
{
	return it->kind != IT_ERROR && it->kind != IT_IMPORT && it->name.s;
}

static void declare_items(Sema *s, Unit *u)
{
	for (int i = 0; i < u->ast->items.n; i++) {
		Item *it = u->ast->items.p[i];
		if (!has_name(it)) continue;
		Global *old = map_get(&u->names, it->name.s);
		if (old) {
			Diag *d = diag(D_NAME_TWICE, it->name.span, it->name.s);
			diag_label(d, old->item->name.span, "`%s` is declared here first", it->name.s);
			s->twice++;
			continue;
		}
		Global *g = NEW(A_UNIT, Global);
		g->name = it->name.s;
		g->item = it;
		g->unit = u;
		map_put(&u->names, g->name, g);
		vec_push(A_UNIT, &u->globals, g);
	}
}

/* ---- imports ---- */
typedef struct Loading { const struct Loading *up; Unit *unit; } Loading;

static Unit *unit_new(Sema *s, Ast *ast, Str path)
{
	Unit *u = NEW(A_UNIT, Unit);
	u->ast = ast;
	u->path = path;
	vec_push(A_UNIT, &s->units, u);
	map_put(&s->unit_by_path, path, u);
	return u;
}

static void report_cycle(const Loading *l, const Unit *u, Span at)
{
	Out *o = out_new();
	VEC(Str) chain = { 0 };
	for (; l; l = l->up) {
		vec_push(A_TMP, &chain, src_mapped(l->unit->path));
		if (l->unit == u) break;
	}
	for (int i = chain.n - 1; i >= 0; i--) out_printf(o, "`%s` imports ", chain.p[i]);
	out_printf(o, "`%s`", src_mapped(u->path));
	diag(D_IMPORT_CYCLE, at, src_mapped(u->path), o->p);
}

/* ---- what could be imported ---- */
static void library_read(Sema *s)
{
	if (s->library_read) return;
	s->library_read = true;
	for (int i = 0; i < s->opt->import_dirs.n; i++) {
		const char **names, *why = NULL;
		int n = sys_folder(s->opt->import_dirs.p[i], &names);
		for (int k = 0; k < n; k++) {
			size_t len = strlen(names[k]);
			if (len < 6 || strcmp(names[k] + len - 5, ".tile") != 0) continue;
			char *text = src_read(path_join(s->opt->import_dirs.p[i], names[k]), &len, &why);
			if (text) vec_push(A_UNIT, &s->library, ((LibraryFile){ names[k], text }));
		}
	}
}

/* The names of the files of the import folders. */
static void library_offer(const Sema *s, Near *n)
{
	for (int i = 0; i < s->library.n; i++) near_offer(n, s->library.p[i].name);
}

/* A line that begins with `fn name(` or `fn name<`. */
static const char *declared(const char *text, Str fn)
{
	size_t n = str_len(fn);
	for (const char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (strncmp(p, "fn ", 3) == 0 && strncmp(p + 3, fn, n) == 0 && (p[3 + n] == '(' || p[3 + n] == '<'))
			return p + 3 + n;
	}
	return NULL;
}

/* Of `<T: float>(x: tile<T, [M, N]>, eps: f32)`: the parameters in parentheses. */
static int parameters(const char *p)
{
	int depth = 0, n = 0;
	for (p += strcspn(p, "("); *p; p++) {
		depth += (*p == '(' || *p == '[' || *p == '<') - (*p == ')' || *p == ']' || *p == '>');
		n += depth == 1 && *p == ':';
		if (!depth) break;
	}
	return n;
}

Str library_with(Sema *s, Str fn, int args, bool *fits)
{
	library_read(s);
	for (int i = 0; i < s->library.n; i++) {
		const char *at = declared(s->library.p[i].text, fn);
		if (!at) continue;
		*fits = args < 0 || parameters(at) == args;
		return s->library.p[i].name;
	}
	*fits = false;
	return NULL;
}

static void help_missing(Sema *s, Diag *d, Str name, Span at)
{
	Near near;
	library_read(s);
	Str whole = str_fmt("%s.tile", name);
	near_begin(&near, whole);
	library_offer(s, &near);
	if (near.best != whole) {
		near_begin(&near, name);
		library_offer(s, &near);
	}
	if (!near.best) {
		diag_help(d, "give its folder with -I FOLDER");
		return;
	}
	if (whole == near.best) {
		diag_help(d, "write `\"%s\"`", whole);
		diag_edit(d, at, str_fmt("\"%s\"", whole));
	} else {
		diag_ask(d, near.best);
	}
}

/* The first of the folders that has the file; NULL after a report. */
static char *find_text(Sema *s, const Unit *from, const Item *it, Str *path, size_t *len)
{
	Str name = it->u.import.path;
	VEC(Str) tried = { 0 };
	vec_push(A_TMP, &tried, path_join(folder_of(from->path), name));
	for (int i = 0; i < s->opt->import_dirs.n; i++)
		vec_push(A_TMP, &tried, path_join(s->opt->import_dirs.p[i], name));
	for (int i = 0; i < tried.n; i++) {
		const char *why = NULL;
		*path = tried.p[i];
		if (map_get(&s->unit_by_path, *path)) return NULL;
		char *text = src_read(*path, len, &why);
		if (text) return text;
		if (strcmp(why, sys_error(ENOENT)) == 0) continue;
		diag(D_FILE_READ, it->u.import.at, *path, why);
		*path = NULL;
		return NULL;
	}
	Diag *d = diag(D_IMPORT_MISSING, it->u.import.at, name);
	for (int i = 0; i < tried.n; i++) diag_note(d, "no `%s`", src_mapped(tried.p[i]));
	help_missing(s, d, name, it->u.import.at);
	*path = NULL;
	return NULL;
}

static void load_imports(Sema *s, Unit *u, const Loading *up);

static Unit *load_one(Sema *s, Unit *from, Item *it, const Loading *l)
{
	Str path;
	size_t len = 0;
	char *text = find_text(s, from, it, &path, &len);
	if (!path) return NULL;
	Unit *u = map_get(&s->unit_by_path, path);
	if (u) {
		if (u->loading) report_cycle(l, u, it->u.import.at);
		return u->loading ? NULL : u;
	}
	Src *src = src_add(path, text, len);
	if (!src) {
		diag(D_FILE_READ, it->u.import.at, path, SRC_FULL);
		return NULL;
	}
	u = unit_new(s, parse_file(src), path);
	vec_push(A_UNIT, &s->mod->sources, src);
	declare_items(s, u);
	load_imports(s, u, l);
	return u;
}

static bool module_twice(const Unit *u, const Item *it)
{
	if (!it->name.s) return false;
	Global *g = map_get(&u->names, it->name.s);
	Span first = g ? g->item->name.span : (Span){ 0, 0 };
	for (int i = 0; i < u->imports.n && !g; i++)
		if (u->imports.p[i].as == it->name.s) first = u->imports.p[i].at;
	if (!first.hi) return false;
	Diag *d = diag(D_NAME_TWICE, it->name.span, it->name.s);
	diag_label(d, first, "`%s` is declared here first", it->name.s);
	return true;
}

enum { IMPORT_DEPTH = 200 };

static void load_imports(Sema *s, Unit *u, const Loading *up)
{
	Loading l = { up, u };
	int depth = 0;
	for (const Loading *p = up; p; p = p->up) depth++;
	u->loading = true;
	for (int i = 0; i < u->ast->items.n; i++) {
		Item *it = u->ast->items.p[i];
		if (it->kind != IT_IMPORT || module_twice(u, it)) continue;
		if (depth > IMPORT_DEPTH) {
			diag(D_CALL_DEPTH, it->u.import.at, "imports", str_i64(IMPORT_DEPTH));
			break;
		}
		Unit *v = load_one(s, u, it, &l);
		bool known = false;
		for (int k = 0; k < u->imports.n; k++) known |= u->imports.p[k].unit == v && u->imports.p[k].as == it->name.s;
		if (v && !known)
			vec_push(A_UNIT, &u->imports, ((Import){ v, it->name.s, it->name.s ? it->name.span : it->span }));
	}
	u->loading = false;
}

bool load_all(Sema *s, Ast *main)
{
	Unit *u = unit_new(s, main, path_clean(main->src->path));
	vec_push(A_UNIT, &s->mod->sources, main->src);
	declare_items(s, u);
	load_imports(s, u, NULL);
	return diag_errors() == s->twice;       /* the second of two items counts for nothing; the rest can be checked */
}

/* ---- -D ---- */
static bool define_in(Unit *u, const SemaDefine *d)
{
	Global *g = map_get(&u->names, d->name);
	if (!g || g->item->kind != IT_PARAM) return false;
	g->define = d->value;
	return true;
}

static void define_unknown(Sema *s, const SemaDefine *d)
{
	Near n;
	near_begin(&n, d->name);
	Diag *g = diag(D_DEFINE_UNKNOWN, ((Span){ 0, 0 }), d->name, d->value);
	for (int i = 0; i < s->units.n; i++) {
		const Unit *u = s->units.p[i];
		for (int k = 0; k < u->globals.n; k++) {
			const Global *p = u->globals.p[k];
			if (p->item->kind == IT_PARAM) near_offer(&n, p->name);
			if (p->item->kind == IT_CONST && p->name == d->name)
				diag_note(g, "`%s` is a `const`; declare it with `param` to set it from the command line", d->name);
		}
	}
	if (n.best) diag_help(g, "-D %s=%s", n.best, d->value);
}

void load_defines(Sema *s)
{
	for (int i = 0; i < s->opt->defines.n; i++) {
		const SemaDefine *d = &s->opt->defines.p[i];
		bool found = false;
		for (int k = 0; k < s->units.n; k++) found |= define_in(s->units.p[k], d);
		if (!found) define_unknown(s, d);
	}
}
