/* The generated parser's supply of tokens: brackets are counted, slips mended, and after an error the rest of the
 * broken part is gone. */
#include "parser/parse_impl.h"
#include <string.h>
#include "grammar/tile_tab.h"

/* ---- brackets ---- */

static int closer_of(int open)
{
	return open == TOK_LPAREN ? TOK_RPAREN : open == TOK_LBRACK ? TOK_RBRACK : TOK_RBRACE;
}

static bool after_set(int kind)
{
	return kind == TOK_LT || kind == TOK_COMMA || kind == TOK_COLON || kind == TOK_ASSIGN;
}

static void open_bracket(Gram *g, const Token *t)
{
	int before = g->prev[0].kind;
	if (g->nopen == MAX_OPEN) return;
	g->open[g->nopen++] = (Open){ .kind = t->kind, .span = t->span,
		.block = t->kind == TOK_LBRACE && !after_set(before),
		.orphan = t->kind == TOK_LBRACE && (before == TOK_SYNC || before == TOK_BODY),
		.lambda = t->kind == TOK_LPAREN && before == TOK_FN,
		.attr = t->kind == TOK_LPAREN && g->prev[1].kind == TOK_AT };
}

static void close_bracket(Gram *g, const Token *t)
{
	int i = g->nopen - 1;
	while (t->kind == TOK_RBRACE && i >= 0 && g->open[i].kind != TOK_LBRACE) i--;
	if (i < 0 || closer_of(g->open[i].kind) != t->kind) return;
	const Open *o = &g->open[i];
	g->closed_orphan = o->orphan;
	g->closed_header = o->lambda || o->attr;
	if (o->block && !g->suspect.hi && parse_first_on_line(g, t->span.lo) &&
	    parse_indent(g, t->span.lo) != parse_indent(g, o->span.lo))
		g->suspect = o->span;
	g->nopen = i;
}

/* What the parser did with the last token: it shifted it. */
static void shifted(Gram *g)
{
	const Token *t = &g->last;
	switch (t->kind) {
	case TOK_LPAREN: case TOK_LBRACK: case TOK_LBRACE: open_bracket(g, t); break;
	case TOK_RPAREN: case TOK_RBRACK: case TOK_RBRACE: close_bracket(g, t); break;
	default: break;
	}
	if (g->prev[0].kind == TOK_KERNEL) g->kernel = t->v.name;
	memmove(g->prev + 1, g->prev, (PREV - 1) * sizeof *g->prev);
	g->prev[0] = *t;
}

/* ---- the supply ---- */

static void stop(Gram *g, Token *t)
{
	g->stopped = true;
	*t = (Token){ .kind = TOK_END, .span = t->span };
}

static bool is_opener(int k) { return k == TOK_LPAREN || k == TOK_LBRACK || k == TOK_LBRACE; }

/* The next token for the parser; false if it has to be dropped. */
static bool take(Gram *g, Token *t)
{
	if (g->iqueue < g->nqueue) {
		*t = g->queue[g->iqueue++];
		return true;
	}
	lex_token(&g->lex, t);
	if (g->part_end && t->span.lo >= g->part_end) {
		*t = (Token){ .kind = g->prev[0].kind == TOK_SEMI ? TOK_END : TOK_SEMI, .span = { g->part_end, g->part_end } };
		return true;
	}
	if (g->stopped || diag_full()) stop(g, t);
	if (t->kind == TOK_ELSE && g->prev[0].kind == TOK_RBRACE && g->closed_orphan) return false;
	return slip_mend(g, t);
}

static bool is_boundary(int k)
{
	return k == TOK_SEMI || k == TOK_LBRACE || k == TOK_RBRACE || k == TOK_SYNC || k == TOK_BODY || k == TOK_END ||
		k == TOK_DOC;
}

static bool is_plain(int k)
{
	return k == TOK_IDENT || k == TOK_DOT || k == TOK_LBRACK || k == TOK_RBRACK || k == TOK_INT || k == TOK_COMMA;
}

int tile_yylex(TILE_YYSTYPE *value, Span *at, Gram *g)
{
	Token t;
	shifted(g);
	g->begins = is_boundary(g->prev[0].kind);
	while (!take(g, &t)) { }
	if (g->begins) {
		g->stmt = t.span.lo;
		g->first = t.kind;
		if (t.kind == TOK_IDENT) g->first_name = t.v.name;
	}
	g->plain = (g->begins || g->plain) && is_plain(t.kind);
	if (is_opener(t.kind) && g->nopen == MAX_OPEN) {
		diag(D_NESTING, t.span, str_i64(MAX_OPEN));
		stop(g, &t);
	}
	g->last = t;
	*value = t.v;
	*at = t.span;
	return t.kind;
}

/* ---- what the grammar calls ---- */

void gram_item(Gram *g, Item *it)
{
	if (it) vec_push(A_UNIT, &g->ast->items, it);
}

void gram_overflow(Gram *g)
{
	if (!g->stopped) diag(D_NESTING, g->last.span, str_i64(AST_MAX_DEPTH));
	g->stopped = true;
}

void gram_error(Gram *g, const char *const *expected, int n)
{
	Expected e = { expected, n };
	g->broken = true;
	bool vague = g->lex.error && g->lex.error >= g->stmt;   /* a precise message stands nearby already */
	if (!g->stopped && !diag_full() && !vague && !advice_say(g, e))
		diag(D_SYNTAX, g->last.span, expect_list(e), expect_found(g, &g->last));
	recover_skip(g, e);
}

static void begin(Gram *g, Src *src)
{
	g->ast = NEW(A_UNIT, Ast);
	g->ast->src = src;
	g->last.kind = g->prev[0].kind = TOK_END;
}

Ast *parse_file(Src *src)
{
	Gram state = { 0 }, *g = &state;
	begin(g, src);
	int before = diag_errors();
	if (!src->len) diag0(D_EMPTY_FILE, ((Span){ src->base, src->base }));
	lex_begin(&g->lex, src);
	bool broken = tile_yyparse(g) || g->broken;
	if (broken && diag_errors() == before && !diag_full()) bug("a syntax error without a message");
	return g->ast;
}

/* The grammar knows whole files only: the part is read as the value of a constant. */
const Expr *parse_part(Src *src, uint32_t lo, uint32_t hi)
{
	Gram state = { .part_end = src->base + hi }, *g = &state;
	Span at = { src->base + lo, src->base + lo };
	int before = diag_errors();
	begin(g, src);
	lex_begin(&g->lex, src);
	g->lex.cur = src->text + lo;
	parse_push(g, TOK_CONST, at);
	parse_push(g, TOK_IDENT, at);
	g->queue[1].v.name = (Name){ str_intern("part"), at };
	parse_push(g, TOK_ASSIGN, at);
	(void)tile_yyparse(g);
	const ItemVec *items = &g->ast->items;
	if (diag_errors() > before || items->n != 1 || items->p[0]->kind != IT_CONST) return NULL;
	return items->p[0]->u.constant.value;
}
