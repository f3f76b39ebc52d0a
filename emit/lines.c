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

void lines_put(Out *o, const char *p, const EmitOptions *opt)
{
	const char *want = NULL, *have = NULL;          /* marks; NULL: lines of the output */
	size_t want_n = 0;
	unsigned long line = 0, count = 0;              /* of want; what the compiler takes the next line for */
	bool inside = false;                            /* a statement that goes on */
	for (size_t n; p && *p; p += n + (p[n] == '\n')) {
		n = strcspn(p, "\n");
		size_t lead = strspn(p, "\t");
		const char *s = p + lead;
		if (*s == '\001') {
			want = n > lead + 1 ? s + 1 : NULL;
			want_n = n - lead - 1;
			if (want) line = strtoul(want, NULL, 10);
			else if (have) out_printf(o, "#line %d %s\n", o->line + 1, c_string(opt->output_name ? opt->output_name : "out"));
			if (!want) have = NULL;
			continue;
		}
		if (want && !inside && is_code(s, n - lead)) {
			const char *file = strchr(want, ' '), *known = have ? strchr(have, ' ') : NULL;
			bool same = known && !strncmp(file, known, want_n - (size_t)(file - want) + 1);
			if (!same || count != line) {
				out_raw(o, "#line ", 6);
				out_raw(o, want, same ? (size_t)(file - want) : want_n);
				out_puts(o, "\n");
				count = line;
			}
			have = want;
		}
		out_raw(o, p, n);
		if (n > lead) inside = strchr(",(=+*|&?", p[n - 1]) != NULL;
		if (p[n]) out_puts(o, "\n");
		count++;
	}
}
