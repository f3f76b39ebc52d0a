/* One mistake, one message: of each sample every token in turn is deleted, or replaced by another, and the messages are
 * counted. What is lost must be reported, and hardly ever more than once. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include "base/diag.h"
#include "lexer/lex.h"
#include "parser/parse.h"

static int failures;
static FILE *null;

typedef struct Count { int total, many, most; } Count;

static int messages(const char *text)
{
	int before = diag_errors();
	parse_file(src_add(str_intern("text"), text, strlen(text)));
	diag_flush(null);
	return diag_errors() - before;
}

/* Each token of the file in turn becomes `by`; more than `few` messages are many. */
static void replace(const char *text, const char *by, int few, Count *c)
{
	Lex l;
	Token t;
	Src *s = src_add(str_intern("text"), text, strlen(text));
	lex_begin(&l, s);
	for (lex_token(&l, &t); t.kind != TOK_END; lex_token(&l, &t)) {
		if (t.kind == TOK_DOC) continue;
		const char *lo = text + (t.span.lo - s->base), *hi = text + (t.span.hi - s->base);
		int n = messages(arena_printf(A_UNIT, "%.*s%s%s", (int)(lo - text), text, by, hi));
		c->total++;
		c->many += n > few;
		if (n > c->most) c->most = n;
	}
}

/* Per thousand, at most so many of the mutants may have more than `few` messages. */
static void all(const char *by, int few, int per_thousand, int most)
{
	Count c = { 0 };
	DIR *d = opendir("samples");
	struct dirent *e;
	while (d && (e = readdir(d))) {
		size_t n;
		const char *why, *path = arena_printf(A_UNIT, "samples/%s/%s.tile", e->d_name, e->d_name);
		const char *text = e->d_name[0] == '.' ? NULL : src_read(path, &n, &why);
		if (text) replace(text, by, few, &c);
	}
	if (d) closedir(d);
	bool ok = c.total > 1000 && c.many * 1000 <= per_thousand * c.total && c.most <= most;
	printf("`%s`: %d of %d with more than %d messages, at most %d%s\n", by, c.many, c.total, few, c.most, ok ? "" : ": FAILED");
	failures += !ok;
}

int main(void)
{
	A_UNIT = arena_new();
	A_TMP = arena_new();
	null = fopen("/dev/null", "w");
	if (!null) return 77;
	diag_options(&(DiagOptions){ .format = DIAG_SHORT });
	all("", 1, 15, 3);
	all("(", 2, 5, 3);
	all(";", 2, 10, 4);
	all("x", 2, 25, 4);
	all("\"", 2, 5, 3);
	all("1 2", 2, 5, 3);
	return failures != 0;
}
