/* Tuning lists: `arch: condition on dimensions -> variant`, a line each. A condition is read as .tile source; a variant
 * is named by its values as in `bf16_128x256x64`, or in full. A line `[NAME]` says which `tune` the lines below it are
 * for; those before any such line are for each. Blank lines and what follows `#` count for nothing. */
#include "sema/scope.h"

#include <errno.h>
#include <string.h>

#include "base/sys.h"
#include "parser/parse.h"
#include "plan/plan.h"

typedef struct TuneCx { Sema *s; const Item *it; HostStmt *h; Cx *cx; Src *src; bool headed; } TuneCx;

static Span span_at(const Src *src, const char *p, size_t n)
{
	uint32_t lo = src->base + (uint32_t)(p - src->text);
	return (Span){ lo, lo + (uint32_t)n };
}

static const char *trim(const char *p, const char **end)
{
	while (p < *end && (*p == ' ' || *p == '\t')) p++;
	while (*end > p && ((*end)[-1] == ' ' || (*end)[-1] == '\t' || (*end)[-1] == '\r')) --*end;
	return p;
}

static int find_variant(const TuneCx *t, const char *p, size_t n)
{
	for (int i = 0; i < t->h->u.launch.variants.n; i++) {
		const Fn *fn = t->h->u.launch.variants.p[i].fn;
		size_t all = str_len(fn->name), head = str_len(fn->source_name);
		if (n == all && memcmp(fn->name, p, n) == 0) return i;
		if (n < all && fn->name[all - n - 1] == '_' && all - n > head && memcmp(fn->name + all - n, p, n) == 0)
			return i;
	}
	return -1;
}

static void wrong(const TuneCx *t, Span at, const char *why)
{
	cx_diag(t->cx, D_TUNE_LINE, at, t->it->name.s, why);
}

/* Another `tune` of the program: the list may be for both. */
static Str other_tune(const TuneCx *t)
{
	const Unit *u = t->s->units.p[0];
	for (int i = 0; i < u->globals.n; i++) {
		const Item *it = u->globals.p[i]->item;
		if (it->kind == IT_TUNE && it != t->it) return it->name.s;
	}
	return NULL;
}

static bool is_tune(const TuneCx *t, Str name)
{
	for (int i = 0; i < t->s->units.n; i++) {
		const Global *g = unit_find(t->s->units.p[i], name, NULL);
		if (g && (g->item->kind == IT_TUNE || g->item->kind == IT_INSTANCE || g->item->kind == IT_KERNEL)) return true;
	}
	return false;
}

/* Said once of a list that several items read. */
static bool wrong_head(const TuneCx *t, Span at, const char *why)
{
	if (!t->s->tune_bad) wrong(t, at, why);
	t->s->tune_bad = true;
	return false;
}

/* `[NAME]`: *mine says whether the lines below are for this `tune`. */
static bool read_head(TuneCx *t, const char *p, const char *end, bool *mine)
{
	Span at = span_at(t->src, p, (size_t)(end - p));
	const char *ne = end - 1, *n = trim(p + 1, &ne);
	if (end[-1] != ']') {
		return wrong_head(t, at, "a line that says whose the lines below are reads `[NAME]`");
	}
	Str name = str_intern_n(n, (size_t)(ne > n ? ne - n : 0));
	if (!is_tune(t, name)) {
		return wrong_head(t, at, "no `tune`, instance or kernel of the program has this name");
	}
	t->headed = true;
	*mine = name == t->it->name.s;
	return true;
}

/* `@8` after a variant: a pinned plan. *end: where the variant ends. */
static bool read_plan(const TuneCx *t, const char *v, const char **end, uint32_t *plan)
{
	const char *at = memchr(v, '@', (size_t)(*end - v)), *stop = *end;
	Coord c;
	*plan = 0;
	if (!at) return true;
	const char *id = trim(at + 1, &stop);
	*end = at;
	trim(v, end);
	if (plan_id_read(id, (size_t)(stop - id), plan) && plan_id_ok(*plan, &c)) return true;
	wrong(t, span_at(t->src, at, (size_t)(stop - at)), "this is no plan: `--explain-schedule` prints plans");
	return false;
}

static bool read_line(TuneCx *t, const char *p, const char *end)
{
	uint32_t plan;
	const char *arrow = NULL, *colon = memchr(p, ':', (size_t)(end - p)), *all = end;
	Span at = span_at(t->src, p, (size_t)(end - p));
	for (const char *q = p; q + 1 < end; q++)
		if (q[0] == '-' && q[1] == '>') arrow = q;
	if (!colon || !arrow || arrow < colon) {
		wrong(t, at, "a line reads `arch: condition -> variant`");
		return false;
	}
	const char *ae = colon, *ce = arrow, *a = trim(p, &ae), *c = trim(colon + 1, &ce), *v = trim(arrow + 2, &all);
	if (!read_plan(t, v, &all, &plan)) return false;
	int k = find_variant(t, v, (size_t)(all - v));
	if (k < 0) {
		Diag *d = cx_diag(t->cx, D_TUNE_LINE, span_at(t->src, v, (size_t)(all - v)), t->it->name.s,
			"no variant has this name");
		for (int i = 0; i < t->h->u.launch.variants.n && i < 8; i++)
			diag_note(d, "there is `%s`", t->h->u.launch.variants.p[i].fn->name);
		if (!t->headed && other_tune(t))
			diag_help(d, "lines below `[%s]`, a line of its own, are for `%s` alone", other_tune(t), other_tune(t));
		return false;
	}
	const Sym *cond = sym_const(1);
	bool any = ce == c || (ce - c == 1 && *c == '*');
	if (!any) {
		int errors = diag_errors();
		const Expr *e = parse_part(t->src, (uint32_t)(c - t->src->text), (uint32_t)(ce - t->src->text));
		if (!e && diag_errors() == errors) wrong(t, span_at(t->src, c, (size_t)(ce - c)), "this is no condition");
		SymVal s = e ? sema_sym(t->cx, e) : (SymVal){ NULL, EL_I32 };
		if (!s.sym) return false;
		if (s.elem != EL_BOOL) {
			wrong(t, span_at(t->src, c, (size_t)(ce - c)), "this is no condition");
			return false;
		}
		cond = s.sym;
	}
	Str arch = ae - a == 1 && *a == '*' ? NULL : str_intern_n(a, (size_t)(ae - a));
	if (arch && t->s->opt->arch_known && !t->s->opt->arch_known(arch)) {
		wrong(t, span_at(t->src, a, (size_t)(ae > a ? ae - a : 1)), "this is no architecture; `*` stands for all");
		return false;
	}
	int n = t->h->u.launch.rules.n;
	vec_reserve(A_UNIT, &t->h->u.launch.rules, n + 1);
	t->h->u.launch.rules.p[n].arch = arch;
	t->h->u.launch.rules.p[n].cond = cond;
	t->h->u.launch.rules.p[n].variant = k;
	t->h->u.launch.rules.p[n].plan = plan;
	t->h->u.launch.rules.p[n].at = at;
	t->h->u.launch.rules.n++;
	return true;
}

static void read_lines(TuneCx *t)
{
	bool mine = t->it->kind == IT_TUNE;
	for (const char *p = t->src->text; *p; ) {
		const char *nl = strchr(p, '\n'), *end = nl ? nl : p + strlen(p), *hash = memchr(p, '#', (size_t)(end - p));
		const char *stop = hash ? hash : end, *from = trim(p, &stop);
		if (from < stop && *from == '[' ? !read_head(t, from, stop, &mine)
			: from < stop && mine && !read_line(t, from, stop))
			return;
		p = nl ? nl + 1 : end;
	}
}

/* Names a condition may use: the kernel's dimensions and integer parameters. */
static void bind_names(Cx *cx, const Fn *fn)
{
	for (int i = 0; i < fn->dims.n; i++) {
		Bind *b = scope_add(cx, BIND_DIM, (Name){ fn->dims.p[i].name, { 0, 0 } });
		b->sym = sym_atom(fn->dims.p[i].is_stride ? ATOM_STRIDE : ATOM_DIM, b->name, 0);
		b->elem = EL_I64;
	}
	for (int i = 0; i < fn->params.n; i++) {
		const IrParam *p = &fn->params.p[i];
		if (p->is_tensor || !elem_is_integral(p->elem)) continue;
		Bind *b = scope_add(cx, BIND_DIM, (Name){ p->name, { 0, 0 } });
		b->sym = sym_atom(ATOM_PARAM, p->name, 0);
		b->elem = p->elem == EL_BOOL ? EL_BOOL : EL_I64;
	}
}

/* softmax.tune beside softmax.tile: a list that is named after the file, not the `tune`; NULL: there is none. */
static Str list_of_file(Str path, Str file)
{
	size_t n = str_len(file), len;
	const char *why;
	if (n < 6 || strcmp(file + n - 5, ".tile") != 0) return NULL;
	Str other = str_fmt("%.*s.tune", (int)(n - 5), file);
	return other != path && src_read(other, &len, &why) ? other : NULL;
}

static void warn_no_list(const Item *it, Str path, Str file)
{
	Diag *d = diag(D_TUNE_LIST, it->name.span, it->name.s, src_mapped(path));
	Str other = list_of_file(path, file);
	if (other)
		diag_help(d, "is `%s` meant? a list has the name of its `tune`, or `--tune=FILE` names it", src_mapped(other));
	else diag_help(d, "a list is written, or named by `--tune=FILE`, or there is an `instance` in its place");
}

/* The list for an item, read once; NULL: there is none, or it was reported why not. */
static Src *find_list(Sema *s, const Item *it, bool several)
{
	const Src *of = src_of(it->span);
	const char *why = NULL, *slash = of ? strrchr(of->path, '/') : NULL;
	Str path = s->opt->tune_path;
	size_t len;
	if (path && s->tune_read) return s->tune_list;
	if (!path && it->kind != IT_TUNE) return NULL;
	if (!path)
		path = slash ? str_fmt("%.*s/%s.tune", (int)(slash - of->path), of->path, it->name.s)
			: str_fmt("%s.tune", it->name.s);
	char *text = src_read(path, &len, &why);
	if (!text && !s->opt->tune_path && !strcmp(why, sys_error(ENOENT)) && several)
		warn_no_list(it, path, of ? of->path : path);
	if (!text && (s->opt->tune_path || strcmp(why, sys_error(ENOENT)) != 0))
		diag(D_FILE_READ, it->name.span, path, why);
	Src *src = text ? src_add(path, text, len) : NULL;
	if (text && !src) diag(D_FILE_READ, it->name.span, path, SRC_FULL);
	if (src) vec_push(A_UNIT, &s->mod->sources, src);
	if (s->opt->tune_path) s->tune_list = src, s->tune_read = true;
	return src;
}

/* Lines for instances and kernels, which need no list, stand below a line with their names in the list of `--tune`. */
void tune_rules(Sema *s, const Item *it, HostStmt *launch)
{
	launch->u.launch.tuned = it->kind == IT_TUNE;
	Src *src = find_list(s, it, launch->u.launch.variants.n > 1);
	if (!src) return;
	TuneCx t = { s, it, launch, cx_new(s, s->units.p[0], it, it->name.s), src, false };
	scope_open(t.cx);
	bind_names(t.cx, launch->u.launch.variants.p[0].fn);
	read_lines(&t);
	scope_close(t.cx);
}
