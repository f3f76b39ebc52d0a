/* Reading the command line. The table decides how an option is spelled and what it takes;
 * options_set says what it means. */
#define _POSIX_C_SOURCE 200809L
#include "driver/options.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emit/names.h"
#include "plan/plan.h"

const OptRow opt_rows[] = {
#define GROUP(title) { title, OPT_COUNT, "", ARG_NONE, "", "", "" },
#define OPT(id, spellings, argument, metavar, words, help) \
	{ NULL, OPT_##id, spellings, ARG_##argument, metavar, words, help },
#include "driver/options.def"
#undef OPT
#undef GROUP
};
const int opt_nrows = sizeof opt_rows / sizeof *opt_rows;

enum { NEST_MAX = 16 };         /* response files in response files */

_Noreturn void usage_error(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	die_with(2, fmt, ap);
}

/* Calls f for each word of a list with spaces; stops when f is true. */
static bool each_word(const char *list, bool (*f)(void *ctx, Str word, int index), void *ctx)
{
	for (int i = 0; *list; i++) {
		size_t n = strcspn(list, " ");
		if (f(ctx, str_intern_n(list, n), i)) return true;
		list += n + (list[n] == ' ');
	}
	return false;
}

typedef struct WordSearch { Str want; int found; Near near; Out *all; } WordSearch;

static bool match_word(void *ctx, Str word, int index)
{
	WordSearch *w = ctx;
	if (word == w->want) w->found = index;
	near_offer(&w->near, word);
	out_printf(w->all, "%s`%s`", index ? ", " : "", word);
	return false;
}

int options_word(const char *what, const char *word, const char *words)
{
	WordSearch w = { str_intern(word), -1, { 0 }, out_new() };
	near_begin(&w.near, word);
	each_word(words, match_word, &w);
	if (w.found >= 0) return w.found;
	if (w.near.best) usage_error("`%s` does not take `%s`; did you mean `%s`?", what, word, w.near.best);
	usage_error("`%s` does not take `%s`; it takes one of %s", what, word, w.all->p);
}

/* ---- what each option means ---- */
static int number(const char *what, const char *text)
{
	char *end;
	long v = strtol(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || v > 1000000) usage_error("`%s` takes a number, not `%s`", what, text);
	return (int)v;
}

static void set_plan(Options *o, const char *v)
{
	const char *eq = strrchr(v, '=');
	Coord wrong;
	uint32_t id;
	if (!eq || eq == v) usage_error("`--plan` takes KERNEL=PLAN, not `%s`", v);
	if (!plan_id_read(eq + 1, strlen(eq + 1), &id) || !plan_id_ok(id, &wrong))
		usage_error("`--plan`: `%s` is no plan; `--explain-schedule` prints plans", eq + 1);
	vec_push(A_UNIT, &o->plans, ((PinnedPlan){ str_intern_n(v, (size_t)(eq - v)), id }));
}

static void set_entry(Options *o, const char *v)
{
	const char *eq = strchr(v, '=');
	if (eq == v || (eq && !eq[1])) usage_error("`--entry` takes NAME or NAME=KERNEL, not `%s`", v);
	o->entry = eq ? str_intern_n(v, (size_t)(eq - v)) : str_intern(v);
	o->variant = eq ? str_intern(eq + 1) : NULL;
}

static void set_extent(Options *o, const char *v)
{
	const char *eq = strchr(v, '=');
	char *end = NULL;
	long long n = eq ? strtoll(eq + 1, &end, 10) : 0;
	if (!eq || eq == v || !isdigit((unsigned char)eq[1]) || *end)
		usage_error("`--extent` takes NAME=VALUE, not `%s`", v);
	vec_push(A_UNIT, &o->extents, ((PinnedExtent){ str_intern_n(v, (size_t)(eq - v)), n }));
}

static void set_define(Options *o, const char *v)
{
	const char *eq = strchr(v, '=');
	if (!eq || eq == v || !eq[1]) usage_error("`-D` takes NAME=VALUE, not `%s`", v);
	Define d = { str_intern_n(v, (size_t)(eq - v)), eq + 1 };
	vec_push(A_UNIT, &o->defines, d);
}

static void set_prefix_map(const char *v)
{
	const char *eq = strchr(v, '=');
	if (!eq) usage_error("`--file-prefix-map` takes OLD=NEW, not `%s`", v);
	src_prefix_map(str_intern_n(v, (size_t)(eq - v)), eq + 1);
}

static void set_color(Options *o, int when)
{
	o->diag.color = when == 1;
	if (when != 0) return;
	const char *no = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE"), *term = getenv("TERM");
	bool forced = force && *force && strcmp(force, "0") != 0;
	bool terminal = isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
	o->diag.color = !(no && *no) && (forced || terminal);
}

/* `a` or `a::b`: names that C++ takes. */
static const char *namespace_of(const char *v)
{
	for (const char *p = v;; p += 2) {
		size_t n = 0;
		while (isalnum((unsigned char)p[n]) || p[n] == '_') n++;
		Str word = str_intern_n(p, n);
		if (!n || isdigit((unsigned char)*p) || name_entry(word) != word)
			usage_error("`--namespace` takes names as in `a::b`, not `%s`", v);
		p += n;
		if (!*p) return v;
		if (p[0] != ':' || p[1] != ':') usage_error("`--namespace` takes names as in `a::b`, not `%s`", v);
	}
}

/* `m=64,n=1000` */
static const char *sizes_of(const char *v)
{
	for (const char *p = v; p && *p; p++) {
		size_t n = 0;
		while (isalnum((unsigned char)p[n]) || p[n] == '_') n++;
		const char *number_at = p + n + 1;
		size_t digits = p[n] == '=' ? strspn(number_at, "0123456789") : 0;
		p = number_at + digits;
		if (!n || !digits || digits > 12 || (*p && *p != ','))
			usage_error("`--report` takes sizes as in `m=64,n=1000`, not `%s`", v);
		if (!*p) break;
	}
	return v;
}

static void options_set(Options *o, const OptRow *r, const char *name, const char *v)
{
	int word = v && *r->words ? options_word(name, v, r->words) : -1;
	switch (r->id) {
	case OPT_DEFINE: set_define(o, v); break;
	case OPT_INCLUDE: vec_push(A_UNIT, &o->include, v); break;
	case OPT_STDIN_NAME: o->stdin_name = v; break;
	case OPT_TUNE: o->tune = v; break;
	case OPT_OUTPUT: o->output = v; break;
	case OPT_HEADER: o->want_header = true; o->no_header = false; o->header = v; break;
	case OPT_NO_HEADER: o->no_header = true; o->want_header = false; break;
	case OPT_NAMESPACE: o->ns = namespace_of(v); break;
	case OPT_TARGET: o->target = v; break;
	case OPT_ARCH: o->arch = v; break;
	case OPT_TILE_VERSION: o->tile_version = v; break;
	case OPT_TILE_ARCH: o->tile_arch = v; break;
	case OPT_EMIT: o->emit = (EmitKind)(word + 1); break;
	case OPT_CHECK: o->check = true; break;
	case OPT_LIST_OUTPUTS: o->list_outputs = true; break;
	case OPT_LINE: o->line = (LineMode)word; break;
	case OPT_PREFIX_MAP: set_prefix_map(v); break;
	case OPT_OPTIMIZE: o->level = word; break;
	case OPT_VERSIONS:
		o->versions = number(name, v);
		if (!o->versions) usage_error("`--versions` takes a number from 1 on: one version serves all calls");
		break;
	case OPT_CHECKED: o->checked = true; break;
	case OPT_PLAN: set_plan(o, v); break;
	case OPT_ENTRY: set_entry(o, v); break;
	case OPT_EXTENT: set_extent(o, v); break;
	case OPT_BEST: o->best = number(name, v); break;
	case OPT_DRAWN: o->drawn = number(name, v); break;
	case OPT_NVCC: o->nvcc = v; break;
	case OPT_DEP_ONLY: o->dep_only = true; break;
	case OPT_DEP: o->dep = true; break;
	case OPT_DEP_FILE: o->dep_file = v; break;
	case OPT_DEP_TARGET: vec_push(A_UNIT, &o->dep_targets, v); break;
	case OPT_DEP_PHONY: o->dep_phony = true; break;
	case OPT_WARN: vec_push(A_UNIT, &o->warnings, v); break;
	case OPT_NO_WARN: o->diag.no_warnings = true; break;
	case OPT_COLOR: set_color(o, word); break;
	case OPT_DIAGNOSTICS: o->diag.format = (DiagFormat)word; break;
	case OPT_ERROR_LIMIT: o->diag.error_limit = number(name, v); break;
	case OPT_PRINT_PARAMS: o->print_params = true; break;
	case OPT_EXPLAIN_SCHEDULE: o->explain_schedule = true; break;
	case OPT_REPORT: o->report = true; o->report_sizes = sizes_of(v); break;
	case OPT_DUMP_AFTER: vec_push(A_UNIT, &o->dump_after, v); break;
	case OPT_WITHOUT_PASS: vec_push(A_UNIT, &o->without, v); break;
	case OPT_STOP_AFTER: o->stop_after = v; break;
	case OPT_TIME_REPORT: o->time_report = true; break;
	case OPT_SAVE_REPRO: o->save_repro = true; o->repro_file = v; break;
	case OPT_EXPLAIN: case OPT_LIST_DIAGNOSTICS: case OPT_LIST_OPS: case OPT_LIST_PASSES: case OPT_PRINT_ARCH:
	case OPT_HELP: case OPT_VERSION:
		if (o->action == OPT_COUNT) {
			o->action = r->id;
			o->action_arg = v;
		}
		break;
	case OPT_COUNT: break;
	}
}

/* ---- spelling ---- */
typedef struct OptMatch {
	const char *arg;                /* the argument being read */
	const OptRow *row;              /* best so far */
	Str name;
	const char *value;              /* after `=` or joined; NULL: none there */
	const OptRow *trying;
	Near near;
} OptMatch;

/* An exact name beats `name=value`, which beats `-nvalue`; among joined ones the longest name wins (-MF before -M). */
static bool match_spelling(void *ctx, Str name, int index)
{
	(void)index;
	OptMatch *m = ctx;
	size_t n = str_len(name);
	bool is_short = name[1] != '-';
	near_offer(&m->near, name);
	if (strncmp(m->arg, name, n) != 0) return false;
	const char *rest = m->arg + n;
	OptArg a = m->trying->arg;
	bool joined = is_short && (a == ARG_ONE || a == ARG_JOIN) && *rest;
	if (*rest && !joined && !(*rest == '=' && a != ARG_NONE)) return false;
	if (m->row && str_len(m->name) >= n) return false;
	m->row = m->trying;
	m->name = name;
	m->value = !*rest ? NULL : *rest == '=' && a != ARG_JOIN ? rest + 1 : rest;
	return false;
}

static OptMatch match_option(const char *arg)
{
	OptMatch m = { arg, NULL, NULL, NULL, NULL, { 0 } };
	near_begin(&m.near, str_intern_n(arg, arg[1] == '-' ? strcspn(arg, "=") : strlen(arg)));
	for (int i = 0; i < opt_nrows; i++) {
		if (opt_rows[i].group) continue;
		m.trying = &opt_rows[i];
		each_word(opt_rows[i].spellings, match_spelling, &m);
	}
	return m;
}

/* A single dash before a long name is a frequent slip: offer the name with two. */
static _Noreturn void unknown_option(const char *arg, Str best)
{
	if (!best && arg[0] == '-' && arg[1] != '-') {
		OptMatch m = match_option(str_fmt("-%s", arg));
		best = m.row ? m.name : m.near.best;
	}
	if (best) usage_error("unknown option `%s`; did you mean `%s`?", arg, best);
	usage_error("unknown option `%s`; `ctilec --help` lists all", arg);
}

static void read_option(Options *o, int *i)
{
	const char *arg = o->all.p[*i];
	OptMatch m = match_option(arg);
	if (!m.row) unknown_option(arg, m.near.best);
	const char *v = m.value;
	if (m.row->arg == ARG_ONE && !v) {
		if (*i + 1 >= o->all.n) usage_error("`%s` needs a value: `%s %s`", arg, m.name, m.row->metavar);
		v = o->all.p[++*i];
	}
	if (m.row->arg == ARG_JOIN && !v) usage_error("`%s` needs a value: `%s%s`", arg, m.name, m.row->metavar);
	if (m.row->arg != ARG_NONE && v && !*v) usage_error("`%s` has an empty value", m.name);
	options_set(o, m.row, m.name, v);
}

static void read_input(Options *o, const char *arg)
{
	if (!*arg) usage_error("an empty file name");
	if (o->input) usage_error("one input file at a time: `%s` and `%s`", o->input, arg);
	o->input = arg;
}

/* ---- response files: words between spaces, '...' and "..." and \x as in a shell ---- */
static void add_argument(Options *o, const char *arg, int depth);

static void read_response(Options *o, const char *path, int depth)
{
	size_t n;
	const char *why;
	char *p = src_read(path, &n, &why);
	if (!p) usage_error("cannot read `@%s`: %s", path, why);
	vec_push(A_UNIT, &o->response, path);
	if (depth >= NEST_MAX) usage_error("`@%s` is read by itself, or nested more than %d deep", path, NEST_MAX);
	for (size_t i = 0; i < n; ) {
		if (isspace((unsigned char)p[i]) || !p[i]) {
			i++;
			continue;
		}
		Out *w = out_new();
		char quote = 0;
		for (; i < n && p[i] && (quote || !isspace((unsigned char)p[i])); i++) {
			if (p[i] == '\\' && quote != '\'' && i + 1 < n) out_raw(w, &p[++i], 1);
			else if (quote ? p[i] == quote : p[i] == '\'' || p[i] == '"') quote = quote ? 0 : p[i];
			else out_raw(w, &p[i], 1);
		}
		if (quote) usage_error("`@%s`: a %c is not closed", path, quote);
		add_argument(o, w->p, depth + 1);
	}
}

static void add_argument(Options *o, const char *arg, int depth)
{
	if (arg[0] == '@' && arg[1]) read_response(o, arg + 1, depth);
	else vec_push(A_UNIT, &o->all, arg);
}

static void apply_warnings(const Options *o)
{
	diag_options(&o->diag);
	for (int i = 0; i < o->warnings.n; i++) {
		Str near = NULL;
		const char *w = o->warnings.p[i];
		if (diag_warning_option(w, &near)) continue;
		if (near) usage_error("unknown warning `-W%s`; did you mean `%s`?", w, near);
		usage_error("unknown warning `-W%s`; `ctilec --list-diagnostics` lists all", w);
	}
}

void options_read(Options *o, int argc, char **argv)
{
	*o = (Options){ .level = 2, .action = OPT_COUNT, .diag = { .error_limit = 20 } };
	set_color(o, 0);
	if (argc == 2 && strcmp(argv[1], "explain") == 0)
		usage_error("`explain` needs a code, as in `ctilec explain E0262`");
	if (argc == 3 && strcmp(argv[1], "explain") == 0) {
		o->action = OPT_EXPLAIN;
		o->action_arg = argv[2];
		return;
	}
	o->tune_it = argc > 1 && strcmp(argv[1], "tune") == 0;
	o->best = TUNE_BEST;
	for (int i = 1 + o->tune_it; i < argc; i++) add_argument(o, argv[i], 0);
	bool only_files = false;
	for (int i = 0; i < o->all.n; i++) {
		const char *a = o->all.p[i];
		if (!only_files && strcmp(a, "--") == 0) only_files = true;
		else if (!only_files && a[0] == '-' && a[1]) read_option(o, &i);
		else read_input(o, a);
	}
	apply_warnings(o);
	if (!o->input && o->action == OPT_COUNT) usage_error("no input file; `ctilec --help` shows the usage");
}
