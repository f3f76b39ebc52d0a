/* #line directives: see lines.h. A mark is a line of its own, \001 and the operands of #line. */
#include "emit/lines.h"

#include <limits.h>
#include <string.h>

#include "base/json.h"
#include "emit/names.h"

/* A path as #line may name it. Once a preprocessor has run, it stands there without escapes, and nvcc's front end reads
 * it again: it refuses bytes that are no UTF-8 and warns of trigraphs. */
static Str line_name(Str path)
{
	int len;
	Out *o = out_new();
	for (const char *p = path; *p; p += len) {
		bool trigraph = p > path && p[0] == '?' && p[-1] == '?';
		if (utf8_next(p, strlen(p), &len) < 0 || trigraph) out_printf(o, "\\x%02x", (unsigned char)*p);
		else out_raw(o, p, (size_t)len);
	}
	return c_string(out_take(o));
}

/* The name of a source as #line has it. Marks of one source follow each other. */
static Str shown_path(const Src *src, const EmitOptions *opt)
{
	static struct { const Src *src; const EmitOptions *opt; Str text; } last;
	if (last.src != src || last.opt != opt) {
		last.text = line_name(opt->line == LINE_ABS && opt->abs_path ? opt->abs_path(src->path)
			: src_mapped(src->path));
		last.src = src;
		last.opt = opt;
	}
	return last.text;
}

void lines_mark(Out *o, const EmitOptions *opt, Span s)
{
	if (opt->line == LINE_OFF || !s.hi) return;
	Place p = src_place(s.lo);
	if (!p.src) return;
	/* not by out_printf: there are as many marks as operations, and they need no indentation */
	Str path = shown_path(p.src, opt);
	enum { NUMBER = 16, PATH = 112 };
	char mark[NUMBER + PATH], *end = mark + NUMBER, *at = end;
	size_t n = str_len(path);
	uint32_t line = p.line;
	*--at = ' ';
	do *--at = (char)('0' + line % 10); while (line /= 10);
	*--at = '\001';
	if (n < PATH) {
		memcpy(end, path, n);
		end[n] = '\n';
		out_raw(o, at, (size_t)(end - at) + n + 1);
		return;
	}
	out_raw(o, at, (size_t)(end - at));
	out_raw(o, path, n);
	out_raw(o, "\n", 1);
}

/* Not comments, directives, an opening brace. Compilers give jumps and the ends of lifetimes to a closing one, and mark
 * declarations too. */
static bool is_code(const char *p, size_t n)
{
	if (!n || *p == '#' || (n > 1 && p[0] == '/' && (p[1] == '*' || p[1] == '/'))) return false;
	return n > 1 || *p == '}';
}

static bool is_unroll(const char *p)
{
	static const char word[] = "#pragma unroll";
	return *p == '#' && !strncmp(p, word, strlen(word));
}

typedef struct Put {
	Out *o;
	const EmitOptions *opt;
	const char *end;                /* of the text */
	const char *want, *have;        /* marks; NULL: none yet */
	const char *file, *last_file;   /* in these, from the blank before it */
	size_t want_n;
	unsigned long line, count;      /* of want; what the compiler takes the next line for */
	bool inside;                    /* a statement that goes on */
} Put;

/* Of the text: tabs follow. A mark's text is what stands after \001. */
typedef struct Line { const char *begin, *text, *stop, *next; } Line;

static Line line_at(const Put *t, const char *p)
{
	const char *nl = memchr(p, '\n', (size_t)(t->end - p));
	Line l = { .begin = p, .text = p, .stop = nl ? nl : t->end, .next = nl ? nl + 1 : t->end };
	while (*l.text == '\t') l.text++;
	return l;
}

static size_t line_len(const Line *l) { return (size_t)(l->stop - l->text); }

static bool goes_on(const Line *l)
{
	switch (l->begin < l->stop ? l->stop[-1] : 0) {
	case ',': case '(': case '=': case '+': case '*': case '|': case '&': case '?': return true;
	default: return false;
	}
}

static void take_mark(Put *t, const char *mark, size_t n)
{
	t->want = mark;
	t->want_n = n;
	t->line = 0;
	for (; *mark != ' '; mark++) t->line = 10 * t->line + (unsigned long)(*mark - '0');
	t->file = mark;
}

/* The next line is code of the mark that holds. */
static bool needs_line(Put *t, bool *same)
{
	/* a mark is the whole of its line, whose end stands after the file's name in both */
	*same = t->have && !strncmp(t->file, t->last_file, t->want_n - (size_t)(t->file - t->want) + 1);
	t->have = t->want;
	t->last_file = t->file;
	return !*same || t->count != t->line;
}

static void put_directive(Put *t, bool same)
{
	out_raw(t->o, "#line ", 6);
	out_raw(t->o, t->want, same ? (size_t)(t->file - t->want) : t->want_n);
	out_puts(t->o, "\n");
	t->count = t->line;
}

/* ---- lines that share a directive ---- */
/* Parentheses that open less those that close, from depth on; INT_MIN: one closes below 0. Braces do not count: an
 * argument of a macro may have one without the other. *comment: the line ends with one. */
static int depth_after(const Line *l, int depth, bool *comment)
{
	*comment = false;
	for (const char *p = l->text; p < l->stop && (p += strcspn(p, "()\"'/\n")) < l->stop; p++) {
		switch (*p) {
		case '(': depth++; break;
		case ')':
			if (--depth < 0) return INT_MIN;
			break;
		case '"': case '\'':
			for (char quote = *p++; p < l->stop && *p != quote; p++) p += *p == '\\';
			break;
		case '/':
			if (p[1] == '/') {
				*comment = true;
				return depth;
			}
			if (p[1] == '*')
				for (p += 2; p < l->stop && (p[0] != '*' || p[1] != '/'); p++) continue;
			break;
		default: break;
		}
	}
	return depth;
}

/* From the line at p on: lines of the mark that holds, the next ones of the same line included, none of which ends
 * within a statement or at the file's level. Returns the end of them, and *last: the last line; p: there are none.
 * Their lines of code are counted up to 2. */
static const char *find_run(const Put *t, const char *p, Line *last, int *codes)
{
	const char *after = p;
	int depth = 0, seen = 0;
	for (*codes = 0; p < t->end;) {
		Line l = line_at(t, p);
		size_t n = line_len(&l);
		bool comment;
		p = l.next;
		if (*l.text == '\001') {
			if (n - 1 == t->want_n && !memcmp(l.text + 1, t->want, t->want_n)) continue;
			break;
		}
		if ((*l.text == '#' && !is_unroll(l.text)) || (l.text == l.begin && n)) break;
		depth = depth_after(&l, depth, &comment);
		if (depth < 0) break;
		if (is_code(l.text, n)) seen++;
		if (depth || comment || goes_on(&l) || !n || *l.text == '#' || *l.text == '/') continue;
		after = p;
		*last = l;
		*codes = seen > 2 ? 2 : seen;
	}
	return after;
}

/* CT_LINE( and the lines of a run but for marks, a bracket after the last. What lies between is copied together. */
static void put_run(Put *t, const char *p, const Line *last)
{
	Line l = line_at(t, p);
	const char *from = l.text;
	out_raw(t->o, l.begin, (size_t)(l.text - l.begin));
	out_raw(t->o, "CT_LINE(", 8);
	for (; p < last->next; p = l.next) {
		l = line_at(t, p);
		if (*l.text == '\001') {
			out_raw(t->o, from, (size_t)(l.begin - from));
			from = l.next;
			continue;
		}
		if (*l.text == '#') {
			out_raw(t->o, from, (size_t)(l.text - from));
			out_raw(t->o, "_Pragma(\"", 9);
			out_raw(t->o, l.text + 8, line_len(&l) - 8);
			out_raw(t->o, "\")", 2);
			from = l.stop;
		}
		t->count++;
	}
	out_raw(t->o, from, (size_t)(last->stop - from));
	out_raw(t->o, ")\n", 2);
}

/* Lines between which nothing comes are put together: from `run` on. */
static void put_lines(Put *t, const char *p)
{
	const char *run = p;
	while (p < t->end) {
		Line l = line_at(t, p), last;
		size_t n = line_len(&l);
		bool same, code = is_code(l.text, n);
		if (*l.text == '\001') {
			out_raw(t->o, run, (size_t)(p - run));
			take_mark(t, l.text + 1, n - 1);
			run = p = l.next;
			continue;
		}
		if (t->want && !t->inside && (code || *l.text == '{' || is_unroll(l.text))) {
			int codes;
			const char *after = find_run(t, p, &last, &codes);
			if (codes > 1) {
				out_raw(t->o, run, (size_t)(p - run));
				if (needs_line(t, &same)) put_directive(t, same);
				put_run(t, p, &last);
				run = p = after;
				continue;
			}
			if (code && needs_line(t, &same)) {
				out_raw(t->o, run, (size_t)(p - run));
				put_directive(t, same);
				run = p;
			}
		}
		if (l.begin < l.stop) t->inside = goes_on(&l);
		t->count++;
		p = l.next;
	}
	out_raw(t->o, run, (size_t)(t->end - run));
}

Lined lines_set(Out *o, const char *text, size_t split, const EmitOptions *opt)
{
	Put t = { .o = o, .opt = opt, .end = text + split };
	Lined r;
	put_lines(&t, text);
	r.split = o->n;
	t.count = ULONG_MAX / 2;        /* no line of a source */
	t.end += strlen(t.end);
	put_lines(&t, text + split);
	r.any = t.have != NULL;
	return r;
}

/* ---- the file ---- */
void lines_begin(Out *o)
{
	out_puts(o, "/* Compilers count what stands in brackets as one line: that of the #line in front. */\n"
		"#define CT_LINE(...) __VA_ARGS__\n");
}

void lines_own(Out *o, const EmitOptions *opt)
{
	out_printf(o, "#line %d %s\n", out_line(o) + 1, line_name(opt->output_name ? opt->output_name : str_intern("out")));
}
