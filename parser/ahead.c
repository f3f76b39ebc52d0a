/* Looking around the current token without moving the parser: what a message about other languages' forms needs. */
#include "parser/parse_impl.h"
#include <string.h>
#include "grammar/tile_tab.h"

enum { FAR = 500 };     /* tokens that are looked at */

Ahead ahead_from(const Gram *g)
{
	Ahead a = { g, g->lex, g->last };
	a.lex.quiet = true;
	return a;
}

const Token *ahead_step(Ahead *a)
{
	lex_token(&a->lex, &a->t);
	return &a->t;
}

bool ahead_to(Ahead *a, int stop)
{
	for (int depth = 0, left = FAR; left && (depth || a->t.kind != stop); left--, ahead_step(a)) {
		int k = a->t.kind;
		if (k == TOK_LBRACE || k == TOK_RBRACE || k == TOK_END || (k == TOK_SEMI && stop != TOK_SEMI)) return false;
		depth += (k == TOK_LPAREN || k == TOK_LBRACK) - (k == TOK_RPAREN || k == TOK_RBRACK);
		if (depth < 0) return false;
	}
	return a->t.kind == stop;
}

const char *ahead_text(const Ahead *a, uint32_t lo)
{
	const char *s = parse_source(a->g, parse_span(lo, a->t.span.lo));
	size_t n = strlen(s);
	while (n && strchr(" \t\r\n", s[n - 1])) n--;
	return arena_strndup(A_UNIT, s, n);
}

Span ahead_close(Ahead *a)
{
	Span close = { 0, 0 };
	for (int depth = 0, left = FAR; left && a->t.kind != TOK_END; left--) {
		int k = a->t.kind;
		depth += (k == TOK_LPAREN || k == TOK_LBRACK) - (k == TOK_RPAREN || k == TOK_RBRACK);
		close = a->t.span;
		ahead_step(a);
		if (depth <= 0) return close;
	}
	return (Span){ 0, 0 };
}

uint32_t ahead_primary(Ahead *a)
{
	int k = a->t.kind;
	uint32_t end = a->t.span.hi;
	if (k == TOK_LPAREN) end = ahead_close(a).hi;
	else if (k == TOK_IDENT || k == TOK_INT || k == TOK_FLOAT) ahead_step(a);
	else return 0;
	while (end && (a->t.kind == TOK_DOT || a->t.kind == TOK_LPAREN || a->t.kind == TOK_LBRACK)) {
		if (a->t.kind != TOK_DOT) {
			end = ahead_close(a).hi;
		} else {
			if (ahead_step(a)->kind != TOK_IDENT) return 0;
			end = a->t.span.hi;
			ahead_step(a);
		}
	}
	return end;
}

bool ahead_assigned(const Gram *g, Str name)
{
	Ahead a = ahead_from(g);
	bool is = false;
	for (int left = 4 * FAR; left && a.t.kind != TOK_END && a.t.kind != TOK_KERNEL && a.t.kind != TOK_ENTRY; left--) {
		int k = a.t.kind;
		if (is && k >= TOK_PLUS_ASSIGN && k <= TOK_SHL_ASSIGN) return true;
		if (is && (k == TOK_ASSIGN || k == TOK_PLUS || k == TOK_MINUS)) {
			int next = ahead_step(&a)->kind;
			if (k == TOK_ASSIGN || k == next) return true;
			is = false;
		}
		is = a.t.kind == TOK_IDENT && a.t.v.name.s == name && a.t.span.lo != g->last.span.lo;
		ahead_step(&a);
	}
	return false;
}

Str ahead_generic(const Gram *g, Str name, Str *class)
{
	const Src *src = g->lex.src;
	Lex l = { .src = g->lex.src, .cur = src->text, .end = src->text + src->len, .quiet = true };
	Token t[6] = { 0 };     /* fn name < parameter : class */
	do {
		memmove(t, t + 1, 5 * sizeof *t);
		lex_token(&l, &t[5]);
		if (t[0].kind != TOK_FN || t[1].kind != TOK_IDENT || t[1].v.name.s != name || t[2].kind != TOK_LT) continue;
		*class = t[5].kind == TOK_IDENT ? t[5].v.name.s : NULL;
		return t[3].kind == TOK_IDENT && *class ? t[3].v.name.s : NULL;
	} while (t[5].kind != TOK_END);
	return NULL;
}

static bool closing(char c) { return c == ')' || c == ']'; }

uint32_t parse_primary_start(const Gram *g, uint32_t end)
{
	const Src *s = g->lex.src;
	const char *text = s->text, *p = text + (end - s->base);
	while (p > text) {
		if (closing(p[-1])) {
			int depth = 0;
			do {
				p--;
				depth += closing(*p) - (*p == '(' || *p == '[');
			} while (depth > 0 && p > text);
		} else {
			while (p > text && lex_is_name_byte(p[-1])) p--;
		}
		if (p == text) break;
		if (p[-1] == '.' && p - 1 > text && (lex_is_name_byte(p[-2]) || closing(p[-2]))) p--;
		else if (!((*p == '(' || *p == '[') && (lex_is_name_byte(p[-1]) || closing(p[-1])))) break;
	}
	return s->base + (uint32_t)(p - text);
}
