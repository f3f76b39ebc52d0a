/* Places and their text, and tokens of our own: what all files of the parser need, and needs none of them. */
#include "parser/parse_impl.h"
#include <string.h>

Span parse_span(uint32_t lo, uint32_t hi) { return (Span){ lo, hi }; }

static const char *at_place(const Gram *g, uint32_t at)
{
	return g->lex.src->text + (at - g->lex.src->base);
}

const char *parse_source(const Gram *g, Span s)
{
	return arena_strndup(A_UNIT, at_place(g, s.lo), s.hi - s.lo);
}

const char *parse_text(const Gram *g, Span s)
{
	enum { MAX = 40 };
	const char *p = at_place(g, s.lo);
	uint32_t n = s.hi - s.lo, keep = n < MAX ? n : MAX;
	const char *nl = memchr(p, '\n', keep);
	if (nl) keep = (uint32_t)(nl - p);
	while (keep < n && keep && ((unsigned char)p[keep] & 0xC0) == 0x80) keep--;
	return arena_printf(A_UNIT, "%.*s%s", (int)keep, p, keep < n ? "..." : "");
}

bool parse_first_on_line(const Gram *g, uint32_t at)
{
	const char *p = at_place(g, at);
	while (p > g->lex.src->text && (p[-1] == ' ' || p[-1] == '\t')) p--;
	return p == g->lex.src->text || p[-1] == '\n';
}

bool parse_line_between(const Gram *g, uint32_t lo, uint32_t hi)
{
	return lo < hi && memchr(at_place(g, lo), '\n', hi - lo) != NULL;
}

bool parse_adjacent(const Token *a, const Token *b) { return a->span.hi == b->span.lo; }

uint32_t parse_indent(const Gram *g, uint32_t at)
{
	const char *p = at_place(g, at), *text = g->lex.src->text;
	while (p > text && p[-1] != '\n') p--;
	uint32_t n = 0;
	while (p[n] == ' ' || p[n] == '\t') n++;
	return n;
}

void parse_push(Gram *g, int kind, Span at)
{
	if (g->iqueue == g->nqueue) g->iqueue = g->nqueue = 0;
	if (g->nqueue == QUEUE) bug("token queue is full");
	g->queue[g->nqueue++] = (Token){ .kind = kind, .span = at };
}
