/* "expected ..., found ..." in words. The set of tokens that could stand at a place is long; people think of a few
 * things: an expression, a type, a name, `;`. */
#include "parser/parse_impl.h"
#include <string.h>

bool expects(Expected e, const char *text)
{
	for (int i = 0; i < e.n; i++)
		if (!strcmp(e.p[i], text)) return true;
	return false;
}

/* The groups: a row applies if all of `needs` and nothing of `unless` is expected; then its words, if it has any, stand
 * for all of `covers`. A row without words leaves `covers` out where something else is left to say. */
typedef struct Group { const char *say, *needs, *unless, *covers; } Group;

#define NAMES "a name|out|inout|grid|where|step|instance|tune|import|entry|scratch|param|as|dims|"
#define TYPES "tile|tensor|ptr|"
#define STARTS NAMES TYPES "an integer|a float literal|a string|_|(|[|+|-|!|~|unsafe|fn|"
#define OPERATORS "+|-|*|/|%|@|&|\\||^|&&|\\|\\||==|!=|<|<=|<<|>|> then >|> then =|> then >=|?|.|[|(|"
#define ASSIGNS "=|+=|-=|*=|/=|%=|@=|&=|\\|=|^=|<<=|> then >=|"
#define CLOSE ">|> then >|> then =|> then >=|"

static const Group groups[] = {
	{ "a statement", "let|while|", "", STARTS "let|var|for|while|if|break|continue|return|const|@|{|a doc comment|;|" },
	{ "a kernel, a function or another declaration", "kernel|fn|", "",
		NAMES "kernel|fn|const|@|a doc comment|;|end of file|" },
	{ "an expression", "an integer|-|", "", STARTS },
	{ "a type", "tile|tensor|", "", NAMES TYPES "in|(|" },
	{ "a name", "a name|out|", "", NAMES },
	{ NULL, "", "", "end of file|a place to go on|a body to go on with|" },
	{ NULL, "", "", "a doc comment|" },
	{ NULL, "+=|", "", ASSIGNS },
	{ NULL, ")|,|", "", ":|=|" },
	{ "`>`", "> then =|> then >=|", "+=|", CLOSE },
	{ NULL, "", "", OPERATORS },
};

/* Is text one of the words of a list a|b|c| ? A bar in a token is written \|. */
static bool listed(const char *list, const char *text)
{
	while (*list) {
		const char *t = text;
		for (; *list && *list != '|'; list++) {
			if (*list == '\\') list++;
			if (t && *t == *list) t++;
			else t = NULL;
		}
		if (t && !*t) return true;
		list++;
	}
	return false;
}

static int count_listed(Expected e, const char *list)
{
	int n = 0;
	for (int i = 0; i < e.n; i++) n += listed(list, e.p[i]);
	return n;
}

static int words_of(const char *list)
{
	int n = 0;
	for (; *list; list++) {
		if (*list == '\\') list++;
		else n += *list == '|';
	}
	return n;
}

static int remove_listed(const char **p, int n, const char *list, bool keep_one)
{
	int m = 0, hits = 0;
	for (int i = 0; i < n; i++) hits += listed(list, p[i]);
	if (keep_one && hits == n) return n;
	for (int i = 0; i < n; i++)
		if (!listed(list, p[i])) p[m++] = p[i];
	return m;
}

static const char *quoted(const char *text)
{
	if (!strncmp(text, "> then", 6)) return "`>`";
	return strchr(text, ' ') ? text : arena_printf(A_UNIT, "`%s`", text);
}

static const char *joined(const char *const *say, int n)
{
	Out *o = out_new();
	for (int i = 0; i < n; i++) out_printf(o, "%s%s", i == 0 ? "" : i == n - 1 ? " or " : ", ", say[i]);
	return o->n ? o->p : "nothing more";
}

static bool said(const char *const *say, int n, const char *text)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(say[i], text)) return true;
	return false;
}

const char *expect_list(Expected e)
{
	enum { MAX_SAY = 5 };
	const char **rest = NEW_ARRAY(A_UNIT, const char *, e.n + 1), *say[MAX_SAY];
	int n = e.n, k = 0;
	for (int i = 0; i < n; i++) rest[i] = e.p[i];
	for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
		const Group *g = &groups[i];
		Expected now = { rest, n };
		if (count_listed(now, g->needs) != words_of(g->needs) || count_listed(e, g->unless)) continue;
		n = remove_listed(rest, n, g->covers, !g->say && !k);
		if (g->say && k < MAX_SAY) say[k++] = g->say;
	}
	for (int i = 0; i < n && k < MAX_SAY; i++) {
		const char *q = quoted(rest[i]);
		if (!said(say, k, q)) say[k++] = q;
	}
	return joined(say, k);
}

const char *expect_found(const Gram *g, const Token *t)
{
	if (g->part_end && t->span.lo >= g->part_end) return "the end of the condition";
	switch (t->kind) {
	case TOK_END: return "the end of the file";
	case TOK_STRING: return "a string";
	case TOK_DOC: return "a doc comment";
	default: return arena_printf(A_UNIT, "`%s`", parse_text(g, t->span));
	}
}

Diag *expect_say(Gram *g, Expected e)
{
	return diag(D_SYNTAX, g->last.span, expect_list(e), expect_found(g, &g->last));
}

bool expect_with(Gram *g, Expected e, const char *help)
{
	diag_help(expect_say(g, e), "%s", help);
	return true;
}

bool expect_write(Diag *d, Span at, const char *fix)
{
	diag_help(d, "write `%s`", fix);
	diag_edit(d, at, fix);
	return true;
}
