/* Collecting diagnostics: the rows, the warning switches, the limit. Printing is in diag_text.c and diag_data.c. */
#include "base/diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag_impl.h"
#include "base/show.h"
#include "base/version.h"

const DiagRow diag_rows[D_COUNT] = {
#define DIAG(id, code, sev, group, text, explain) { #id, code, sev, group, text, explain },
#include "base/diags.def"
#undef DIAG
};

enum { SAME_WINDOW = 256 };     /* how many earlier diagnostics are compared with a new one */

static DiagOptions opts = { DIAG_RICH, false, 20, false, false };
static DiagVec list;
static Diag *latest;
static int errors;              /* reported, those beyond the limit included */
static int repeated;            /* the same again, which is not printed */

/* Warning switches. A class is on or off; a name may say otherwise; a name may be an error. */
typedef enum { SW_UNSET, SW_OFF, SW_ON } Switch;
static const char *const classes[] = { "default", "all", "extra", "perf" };
enum { N_CLASS = sizeof classes / sizeof *classes };
static Switch class_on[N_CLASS] = { SW_ON };
static Switch row_on[D_COUNT], row_error[D_COUNT];

void diag_options(const DiagOptions *o)
{
	opts = *o;
}

/* "unused:all": the name before the colon, the class after it; no class means "default". */
static size_t group_name_len(const char *group)
{
	return strcspn(group, ":");
}

static int group_class(const char *group)
{
	const char *c = strchr(group, ':');
	for (int i = 0; c && i < N_CLASS; i++)
		if (strcmp(c + 1, classes[i]) == 0) return i;
	return 0;
}

Str diag_group(const DiagRow *r)
{
	return str_intern_n(r->group, group_name_len(r->group));
}

static Severity diag_severity(DiagCode c, bool *drop)
{
	const DiagRow *r = &diag_rows[c];
	*drop = false;
	if (r->sev != SEV_WARNING) return r->sev;
	Switch on = row_on[c] ? row_on[c] : class_on[group_class(r->group)];
	if (opts.no_warnings || on != SW_ON) *drop = true;
	bool error = row_error[c] ? row_error[c] == SW_ON : opts.werror;
	return error ? SEV_ERROR : SEV_WARNING;
}

/* Sets a switch on every warning called `name`; false when there is none. */
static bool set_rows(Switch *table, const char *name, Switch v, Near *near)
{
	bool found = false;
	for (int i = 0; i < D_COUNT; i++) {
		if (diag_rows[i].sev != SEV_WARNING) continue;
		Str g = diag_group(&diag_rows[i]);
		near_offer(near, g);
		if (strcmp(g, name) != 0) continue;
		table[i] = v;
		found = true;
	}
	return found;
}

/* As set_rows, for every warning of a class. */
static bool set_class(Switch *table, const char *name, Switch v, Near *near)
{
	int k = 0;
	while (k < N_CLASS && strcmp(name, classes[k]) != 0) near_offer(near, str_intern(classes[k++]));
	for (int i = 0; k < N_CLASS && i < D_COUNT; i++)
		if (diag_rows[i].sev == SEV_WARNING && group_class(diag_rows[i].group) == k) table[i] = v;
	return k < N_CLASS;
}

/* -WNAME, -Wno-NAME: a class is a default that a warning's own switch overrides. */
static bool set_on(const char *name, Switch v, Near *near)
{
	for (int i = 0; i < N_CLASS; i++) {
		near_offer(near, str_intern(classes[i]));
		if (strcmp(name, classes[i]) != 0) continue;
		class_on[i] = v;
		return true;
	}
	return set_rows(row_on, name, v, near);
}

static bool set_error(const char *name, Switch v, Near *near)
{
	if (!set_class(row_error, name, v, near) && !set_rows(row_error, name, v, near)) return false;
	return v == SW_OFF || set_on(name, SW_ON, near);
}

bool diag_warning_option(const char *w, Str *near)
{
	Near n;
	bool off = strncmp(w, "no-", 3) == 0;
	const char *name = off ? w + 3 : w;
	bool error = strncmp(name, "error", 5) == 0 && (!name[5] || name[5] == '='), ok = true;
	near_begin(&n, error && name[5] ? name + 6 : name);
	if (error && !name[5]) opts.werror = !off;
	else if (error) ok = set_error(name + 6, off ? SW_OFF : SW_ON, &n);
	else ok = set_on(name, off ? SW_OFF : SW_ON, &n);
	if (near) *near = ok ? NULL : n.best;
	return ok;
}

/* ---- building ---- */
/* A text of one line, whatever the names in it hold; what is endless is cut between two characters. */
static Str one_line(const char *p, size_t n)
{
	enum { LONGEST = 900 };
	size_t end = n;
	if (n > LONGEST)
		for (end = LONGEST; end && ((unsigned char)p[end] & 0xC0) == 0x80;) end--;
	Out *o = out_new();
	show_text(o, p, end);
	if (end < n) out_puts(o, "...");
	return out_take(o);
}

static Str fill(const char *text, const char *const *args, int nargs)
{
	Out *o = out_new();
	for (const char *p = text; *p; p++) {
		bool hole = p[0] == '{' && p[1] >= '0' && p[1] <= '9' && p[2] == '}';
		if (!hole) {
			out_raw(o, p, 1);
			continue;
		}
		int k = p[1] - '0';
		if (k >= nargs || !args[k]) bug("a message lacks its argument %d: %s", k, text);
		out_raw(o, args[k], strlen(args[k]));
		p += 2;
	}
	Str all = out_take(o);
	return one_line(all, str_len(all));
}

/* ---- instances ---- */
typedef struct Begun { Str key, id; } Begun;
static VEC(Begun) begun;                /* each instance once */
static DiagInstance now;

static Str instance_id(const DiagInstance *i) { return str_fmt("%s\n%s", i->name, i->values); }

DiagInstance diag_instance(DiagInstance i)
{
	DiagInstance before = now;
	now = i;
	if (!i.key) return before;
	Str id = instance_id(&i);
	for (int k = 0; k < begun.n; k++)
		if (begun.p[k].key == i.key && begun.p[k].id == id) return before;
	vec_push(A_UNIT, &begun, ((Begun){ i.key, id }));
	return before;
}

/* The same mistake in an earlier instance, or NULL. */
static Diag *in_other_instance(const Diag *d)
{
	for (int i = list.n - 1; now.key && i >= 0; i--) {
		Diag *e = list.p[i];
		if (e->in.key == now.key && e->code == d->code && e->at.lo == d->at.lo && e->at.hi == d->at.hi
			&& e->last != d->last)
			return e;
	}
	return NULL;
}

static bool is_word_of(const char *text, const char *word, size_t n)
{
	for (const char *p = strstr(text, word); p; p = strstr(p + 1, word)) {
		bool left = p == text || !(p[-1] == '_' || (p[-1] >= '0' && p[-1] <= '9') || (p[-1] >= 'a' && p[-1] <= 'z'));
		bool right = !(p[n] == '_' || (p[n] >= '0' && p[n] <= '9') || (p[n] >= 'a' && p[n] <= 'z'));
		if (left && right) return true;
	}
	return false;
}

/* Does the message show a value of its instance? */
static bool shows_value(const Diag *d)
{
	for (const char *p = d->in.values; *p; ) {
		size_t n = strcspn(p, "\n");
		const char *eq = strstr(p, " = ");
		Str value = eq && eq < p + n ? str_intern_n(eq + 3, (size_t)(p + n - eq - 3)) : str_intern("");
		if (*value && is_word_of(d->text, value, str_len(value))) return true;
		for (int i = 0; *value && i < d->labels.n; i++)
			if (is_word_of(d->labels.p[i].text, value, str_len(value))) return true;
		p += n + (p[n] == '\n');
	}
	return false;
}

/* Names the instance of each message that has to do with its values. */
static void note_instances(void)
{
	for (int i = 0; i < list.n; i++) {
		Diag *d = list.p[i];
		int all = 0;
		if (!d->in.key || !*d->in.values) continue;
		for (int k = 0; k < begun.n; k++) all += begun.p[k].key == d->in.key;
		if (!d->varies && d->instances == all && !(all == 1 && shows_value(d))) continue;
		Out *o = out_new();
		for (const char *p = d->in.values; *p; p++) out_printf(o, *p == '\n' ? ", " : "%c", *p);
		DiagNote n = { .text = d->instances > 1
			? str_fmt("in %s, %s, and %d other%s", d->in.name, o->p, d->instances - 1, d->instances > 2 ? "s" : "")
			: str_fmt("in %s, %s", d->in.name, o->p) };
		vec_push(A_UNIT, &d->notes, n);
		memmove(d->notes.p + 1, d->notes.p, (size_t)(d->notes.n - 1) * sizeof *d->notes.p);
		d->notes.p[0] = n;
	}
}

static bool is_repeated(const Diag *d)
{
	for (int i = list.n - 1; i >= 0 && i >= list.n - SAME_WINDOW; i--) {
		const Diag *e = list.p[i];
		if (e->code == d->code && e->at.lo == d->at.lo && e->at.hi == d->at.hi && e->text == d->text) return true;
	}
	return false;
}

/* A diagnostic that is not wanted is still returned, so that callers can add to it; it is just not in the list. */
Diag *diag_at(DiagCode code, Span at, const char *const *args, int nargs)
{
	Diag *d = NEW(A_UNIT, Diag);
	bool drop;
	d->code = code;
	d->at = at;
	d->sev = diag_severity(code, &drop);
	d->text = fill(diag_rows[code].text, args, nargs);
	d->in = now;
	d->instances = 1;
	d->last = now.key ? instance_id(&now) : NULL;
	latest = d;
	if (drop) return d;
	Diag *same = in_other_instance(d);
	if (same) {
		same->instances++;
		same->last = d->last;
		same->varies |= same->text != d->text;
	}
	if (same || is_repeated(d)) {
		repeated += d->sev == SEV_ERROR;
		return d;
	}
	if (d->sev == SEV_ERROR && ++errors > opts.error_limit && opts.error_limit > 0) return d;
	vec_push(A_UNIT, &list, d);
	return d;
}

static Str vtext(const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	char *p = arena_alloc(A_UNIT, (size_t)(n < 0 ? 0 : n) + 1);
	if (n > 0) vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	return one_line(p, n < 0 ? 0 : (size_t)n);
}

void diag_label(Diag *d, Span at, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	Str text = vtext(fmt, ap);
	va_end(ap);
	vec_push(A_UNIT, &d->labels, ((DiagLabel){ at, text, NULL }));
}

void diag_call(Diag *d, Span at, Str name)
{
	diag_label(d, at, "in `%s`, called from here", name);
	d->labels.p[d->labels.n - 1].call = name;
}

static void add_note(Diag *d, bool help, Str text)
{
	DiagNote n = { help, text, { NULL, 0, 0 } };
	vec_push(A_UNIT, &d->notes, n);
}

void diag_note(Diag *d, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_note(d, false, vtext(fmt, ap));
	va_end(ap);
}

void diag_help(Diag *d, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_note(d, true, vtext(fmt, ap));
	va_end(ap);
}

void diag_edit(Diag *d, Span at, const char *replacement)
{
	if (!d->notes.n || !d->notes.p[d->notes.n - 1].help) bug("an edit without a help");
	DiagNote *n = &d->notes.p[d->notes.n - 1];
	vec_push(A_UNIT, &n->edits, ((DiagEdit){ at, str_intern(replacement) }));
}

void diag_ask(Diag *d, const char *name)
{
	if (name) diag_help(d, "did you mean `%s`?", name);
}

Diag *diag_latest(void)
{
	return latest;
}

int diag_errors(void)
{
	return errors + repeated;
}

DiagMark diag_mark(void)
{
	return (DiagMark){ list.n, errors, repeated };
}

void diag_rollback(DiagMark m)
{
	list.n = m.n;
	errors = m.errors;
	repeated = m.repeated;
	latest = list.n ? list.p[list.n - 1] : NULL;
}

bool diag_full(void)
{
	return opts.error_limit > 0 && errors >= opts.error_limit;
}

void diag_flush(FILE *to)
{
	note_instances();
	Out *o = out_new();
	bool cut = opts.error_limit > 0 && errors > opts.error_limit;
	switch (opts.format) {
	case DIAG_RICH:
		diag_print_rich(o, &list, opts.color);
		break;
	case DIAG_SHORT:
		diag_print_short(o, &list);
		break;
	case DIAG_JSON:
		diag_print_json(o, &list);
		break;
	case DIAG_SARIF:
		diag_print_sarif(o, &list);
		break;
	}
	bool text = opts.format == DIAG_RICH || opts.format == DIAG_SHORT;
	if (cut && text)
		out_printf(o, "ctilec: stopped after %d error%s; --error-limit=0 shows all\n",
			opts.error_limit, opts.error_limit == 1 ? "" : "s");
	if (o->n) fwrite(o->p, 1, o->n, to);
	fflush(to);
	list.n = 0;
}

/* ---- not about the user's program ---- */
void (*bug_hook)(const char *message);

_Noreturn void bug_at(const char *file, int line, const char *fmt, ...)
{
	static bool nested;
	char msg[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	fputs("ctilec: internal error: ", stderr);
	show_to(stderr, msg);
	fprintf(stderr, "\n  at %s:%d of ctilec " CTILEC_VERSION "\n"
		"  this is a mistake in ctilec, not in your program: please report it\n", file, line);
	if (bug_hook && !nested) {
		nested = true;
		bug_hook(msg);
	}
	exit(70);
}

_Noreturn void die_with(int status, const char *fmt, va_list ap)
{
	char text[4096];        /* no memory is asked for: there may be none left */
	vsnprintf(text, sizeof text, fmt, ap);
	fputs("ctilec: error: ", stderr);
	show_to(stderr, text);
	fputc('\n', stderr);
	exit(status);
}

_Noreturn void die(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	die_with(1, fmt, ap);
}
