/* #line directives: see lines.h. A mark is a line of its own, \001 and the operands of #line; empty: the output's own lines. */
#include "emit/lines.h"

#include <stdlib.h>
#include <string.h>

#include "emit/names.h"

/* The name of a source as #line has it. Marks of one source follow each other. */
static Str shown_path(const Src *src, const EmitOptions *opt)
{
	static struct { const Src *src; const EmitOptions *opt; Str text; } last;
	if (last.src != src || last.opt != opt) {
		last.text = c_string(opt->line == LINE_ABS && opt->abs_path ? opt->abs_path(src->path) : src_mapped(src->path));
		last.src = src;
		last.opt = opt;
	}
	return last.text;
}

void lines_mark(Out *o, const EmitOptions *opt, Span s)
{
	if (opt->line == LINE_OFF || !s.hi) return;
	Place p = src_place(s.lo);
	if (p.src) out_printf(o, "\001%u %s\n", (unsigned)p.line, shown_path(p.src, opt));
}

void lines_own(Out *o, const EmitOptions *opt)
{
	if (opt->line != LINE_OFF) out_puts(o, "\001\n");
}

/* Not comments, directives, an opening brace. Compilers give jumps and the ends of lifetimes to a closing one, and mark
 * declarations too. */
static bool is_code(const char *p, size_t n)
{
	if (!n || *p == '#' || (n > 1 && p[0] == '/' && (p[1] == '*' || p[1] == '/'))) return false;
	return n > 1 || *p == '}';
}

typedef struct Put {
	Out *o;
	const EmitOptions *opt;
	const char *want, *have;        /* marks; NULL: lines of the output */
	size_t want_n;
	unsigned long line, count;      /* of want; what the compiler takes the next line for */
	bool inside;                    /* a statement that goes on */
} Put;

static void take_mark(Put *t, const char *mark, size_t n)
{
	t->want = n ? mark : NULL;
	t->want_n = n;
	if (t->want) {
		t->line = strtoul(t->want, NULL, 10);
		return;
	}
	if (t->have) out_printf(t->o, "#line %d %s\n", out_line(t->o) + 1, c_string(t->opt->output_name ? t->opt->output_name : "out"));
	t->have = NULL;
}

/* The next line is code of the mark that holds. */
static bool needs_line(Put *t, bool *same)
{
	const char *file = strchr(t->want, ' '), *known = t->have ? strchr(t->have, ' ') : NULL;
	*same = known && !strncmp(file, known, t->want_n - (size_t)(file - t->want) + 1);
	t->have = t->want;
	return !*same || t->count != t->line;
}

static void put_directive(Put *t, bool same)
{
	out_raw(t->o, "#line ", 6);
	out_raw(t->o, t->want, same ? (size_t)(strchr(t->want, ' ') - t->want) : t->want_n);
	out_puts(t->o, "\n");
	t->count = t->line;
}

/* Lines between which nothing comes are put together: from `run` on. */
void lines_put(Out *o, const char *p, const EmitOptions *opt)
{
	Put t = { .o = o, .opt = opt };
	const char *run = p, *end = p + strlen(p);
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end, *next = nl ? nl + 1 : end, *s = p;
		bool same;
		while (*s == '\t') s++;
		if (*s == '\001') {
			out_raw(o, run, (size_t)(p - run));
			take_mark(&t, s + 1, (size_t)(stop - s) - 1);
			run = next;
		} else {
			if (t.want && !t.inside && is_code(s, (size_t)(stop - s)) && needs_line(&t, &same)) {
				out_raw(o, run, (size_t)(p - run));
				put_directive(&t, same);
				run = p;
			}
			if (s < stop) t.inside = strchr(",(=+*|&?", stop[-1]) != NULL;
			t.count++;
		}
		p = next;
	}
	out_raw(o, run, (size_t)(end - run));
}
