/* Where to go on after a syntax error. In a block: after the broken statement's `;`, or before the block it was the
 * header of, the next statement or the closing brace. Outside: after the broken item or before its body. Brackets are
 * counted, so a mistake inside parentheses costs one statement and one message. */
#include "parser/parse_impl.h"
#include <string.h>
#include "grammar/tile_tab.h"

/* The innermost open block, or -1. */
static int inner_block(const Gram *g)
{
	int i = g->nopen - 1;
	while (i >= 0 && !g->open[i].block) i--;
	return i;
}

static bool statement_word(int k)
{
	return k == TOK_LET || k == TOK_VAR || k == TOK_FOR || k == TOK_WHILE || k == TOK_IF || k == TOK_RETURN ||
		k == TOK_BREAK || k == TOK_CONTINUE || k == TOK_CONST;
}

static bool bodiless(int first)
{
	return first == TOK_INSTANCE || first == TOK_TUNE || first == TOK_PARAM || first == TOK_CONST
		|| first == TOK_IMPORT;
}

static bool in_column_1(const Gram *g, const Token *t)
{
	return t->span.lo == g->lex.src->base || g->lex.src->text[t->span.lo - g->lex.src->base - 1] == '\n';
}

/* Does what follows the body of the function whose name l comes to belong to a block: is it neither the file's end nor
 * a word that items begin with? */
static bool stands_in_block(const Gram *g, Lex l)
{
	enum { FAR = 500 };     /* tokens that are looked at */
	Token t;
	int depth = 0, left = FAR;
	l.quiet = true;
	do {
		lex_token(&l, &t);
		depth += (t.kind == TOK_LBRACE) - (t.kind == TOK_RBRACE);
	} while (--left && t.kind != TOK_END && depth >= 0 && !(t.kind == TOK_RBRACE && !depth));
	if (t.kind != TOK_RBRACE || depth) return false;
	lex_token(&l, &t);
	if (t.kind == TOK_RBRACE || t.kind == TOK_IDENT) return true;
	return statement_word(t.kind) && !in_column_1(g, &t);
}

/* t begins an item. Inside a block only words in the first column count, which is where items begin. */
bool recover_item_word(const Gram *g, const Token *t, bool inside)
{
	Token next;
	if (!t->span.hi || !parse_first_on_line(g, t->span.lo)) return false;
	if (t->kind == TOK_KERNEL) return true;
	if (inside && !in_column_1(g, t)) return false;
	Lex l = g->lex;
	l.cur = l.src->text + (t->span.hi - l.src->base);
	lex_peek(&l, &next, 1);
	switch (t->kind) {
	case TOK_FN: return next.kind == TOK_IDENT && !(inside && stands_in_block(g, l));
	case TOK_ENTRY: case TOK_INSTANCE: case TOK_TUNE: case TOK_PARAM:
		return next.kind == TOK_IDENT;
	case TOK_IMPORT: return next.kind == TOK_STRING;
	case TOK_CONST: return true;
	default: return false;
	}
}

/* Does the first line that is not indented deeper than the header begin with `}`? */
static bool closed_below(const Gram *g, uint32_t header)
{
	const Src *src = g->lex.src;
	uint32_t indent = parse_indent(g, header);
	const char *p = src->text + (g->last.span.lo - src->base), *end = g->lex.end;
	while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		const char *q = ++p;
		while (q < end && (*q == ' ' || *q == '\t' || *q == '\r')) q++;
		if (q == end) return false;
		if (*q != '\n' && (uint32_t)(q - p) <= indent) return *q == '}';
	}
	return false;
}

/* `a = 1; }` on the header's own line */
static bool closed_beside(const Gram *g)
{
	Lex l = g->lex;
	Token t = g->last, before = t;
	l.quiet = true;
	for (int left = 100; left && t.kind != TOK_END && t.kind != TOK_LBRACE && t.kind != TOK_RBRACE; left--) {
		before = t;
		lex_token(&l, &t);
	}
	return t.kind == TOK_RBRACE && before.kind == TOK_SEMI && !parse_line_between(g, g->last.span.lo, t.span.lo);
}

bool recover_missing_brace(const Gram *g, Expected e)
{
	const Token *t = &g->last;
	if (!expects(e, "{") || expects(e, ";") || expects(e, "a string")) return false;
	if (!statement_word(t->kind) && t->kind != TOK_IDENT && t->kind != TOK_SCRATCH) return false;
	return parse_first_on_line(g, t->span.lo) ? closed_below(g, g->stmt) : closed_beside(g);
}

typedef enum Go { GO_ON, GO_BEFORE, GO_AFTER, GO_OUT } Go;

typedef struct Skip {
	int paren;              /* ( and [ open inside the broken part */
	int brace;              /* nested blocks and sets that are skipped whole */
	bool values;            /* in an item without a body: braces are sets */
	bool outside;           /* everything goes up to the next item */
	bool lambda;            /* an `fn` was seen: a `{` in parentheses is its body */
	bool choice;            /* an `if` where a value belongs: its blocks are values */
	int before;             /* kind of the token before */
} Skip;

static bool set_brace(int before)
{
	return before == TOK_LT || before == TOK_COMMA || before == TOK_COLON || before == TOK_ASSIGN;
}

static Go nested(Skip *s, int kind)
{
	s->brace += (kind == TOK_LBRACE) - (kind == TOK_RBRACE);
	return GO_ON;
}

/* Does more of the broken text follow on the line of t? */
static bool line_goes_on(const Gram *g, const Token *t)
{
	Token next;
	lex_peek(&g->lex, &next, 1);
	int k = next.kind;
	if (parse_line_between(g, t->span.hi, next.span.lo) || statement_word(k)) return false;
	return k != TOK_END && k != TOK_KERNEL && k != TOK_ENTRY && k != TOK_FN && k != TOK_AT && k != TOK_DOC &&
		k != TOK_RBRACE && !bodiless(k);
}

static bool header(int first)
{
	return first == TOK_IF || first == TOK_FOR || first == TOK_WHILE || first == TOK_KERNEL || first == TOK_ENTRY ||
		first == TOK_FN || first == TOK_RBRACE;
}

static Go open_brace(const Gram *g, Skip *s)
{
	bool body = s->lambda && (s->paren || !header(g->first));
	if (!set_brace(s->before) && !s->values && !body && !s->choice) return GO_BEFORE;
	return nested(s, TOK_LBRACE);
}

/* The token that is wrong is a `{` amid a line. If it is closed there the two go; else it is taken for a slip of the
 * keyboard and goes alone. */
static bool stray_brace(Gram *g, Skip *s, const Token *t, Expected e)
{
	if (t->kind != TOK_LBRACE || expects(e, "{") || header(g->first) || !line_goes_on(g, t)) return false;
	Lex l = g->lex;
	Token n = *t;
	l.quiet = true;
	int depth = 1;
	while (depth && n.kind != TOK_END) {
		lex_token(&l, &n);
		depth += (n.kind == TOK_LBRACE) - (n.kind == TOK_RBRACE);
	}
	if (!depth && !parse_line_between(g, t->span.lo, n.span.lo)) s->brace++;
	return true;
}

/* What to do at token t of a broken statement. */
static Go in_block(const Gram *g, Skip *s, const Token *t)
{
	if (t->kind == TOK_END || recover_item_word(g, t, true)) return GO_OUT;
	if (s->brace) return nested(s, t->kind);
	if (statement_word(t->kind) && parse_first_on_line(g, t->span.lo)) return GO_BEFORE;
	switch (t->kind) {
	case TOK_LBRACE: return open_brace(g, s);
	case TOK_RBRACE: return GO_BEFORE;
	case TOK_SEMI: return s->paren && line_goes_on(g, t) ? GO_ON : GO_AFTER;
	case TOK_LPAREN: case TOK_LBRACK: s->paren++; break;
	case TOK_RPAREN: case TOK_RBRACK: s->paren -= s->paren > 0; break;
	case TOK_FN: s->lambda = true; break;
	default: break;
	}
	return GO_ON;
}

/* A statement where an item should begin: a block ended too early, so all up to the next item belongs to it. */
static bool statement_outside(const Gram *g, const Token *t)
{
	if (t->span.lo != g->stmt || !parse_first_on_line(g, t->span.lo)) return false;
	return statement_word(t->kind) || ((t->kind == TOK_IDENT || t->kind == TOK_SCRATCH) && parse_indent(g, t->span.lo));
}

static Go in_item(const Gram *g, Skip *s, const Token *t)
{
	if (t->kind == TOK_END) return GO_OUT;
	if (s->outside) return recover_item_word(g, t, true) ? GO_BEFORE : GO_ON;
	if (s->brace) return nested(s, t->kind);
	if (recover_item_word(g, t, false)) return GO_BEFORE;
	switch (t->kind) {
	case TOK_LBRACE: return open_brace(g, s);
	case TOK_RBRACE: return s->values ? GO_ON : GO_AFTER;
	case TOK_SEMI: return line_goes_on(g, t) ? GO_ON : GO_AFTER;
	default: return GO_ON;
	}
}

/* `for (int i = 0; i < n; i++)`: its semicolons end nothing. */
static void skip_parentheses(Gram *g, Token *t)
{
	int depth = 0;
	do {
		if (t->kind == TOK_LBRACE || t->kind == TOK_RBRACE || t->kind == TOK_END) return;
		depth += (t->kind == TOK_LPAREN) - (t->kind == TOK_RPAREN);
		lex_token(&g->lex, t);
	} while (depth > 0);
}

static int parens_above(const Gram *g, int block)
{
	int n = 0;
	for (int i = block + 1; i < g->nopen; i++) n += g->open[i].kind != TOK_LBRACE;
	return n;
}

static bool lambda_above(const Gram *g, int block)
{
	for (int i = block + 1; i < g->nopen; i++)
		if (g->open[i].lambda) return true;
	return false;
}

/* The parser drops the token it has; it gets a place to go on, the braces that are missing, and the rest. */
static void go_on(Gram *g, Go go, const Token *t, int block)
{
	g->nqueue = g->iqueue = 0;
	g->nopen = block + 1;
	bool body = block < 0 && go == GO_BEFORE && t->kind == TOK_LBRACE;
	parse_push(g, body ? TOK_BODY : TOK_SYNC, (Span){ t->span.lo, t->span.lo });
	for (int i = block; go == GO_OUT && i >= 0; i--)
		if (g->open[i].block) parse_push(g, TOK_RBRACE, (Span){ t->span.lo, t->span.lo });
	if (go != GO_AFTER) g->queue[g->nqueue++] = *t;
	g->last = (Token){ .kind = TOK_SYNC, .span = { t->span.lo, t->span.lo } };
}

/* The word before was taken for a name, but began an item: `instance f = ..` in a block that is not closed. */
static bool item_before(Gram *g, int block)
{
	const Token word = g->prev[0], t = g->last;
	if (block < 0 || !bodiless(word.kind) || word.kind == TOK_CONST || !recover_item_word(g, &word, true)) return false;
	go_on(g, GO_OUT, &word, block);
	g->queue[g->nqueue++] = t;
	return true;
}

/* As if the `{` stood before the current token. */
static void add_brace(Gram *g, int block)
{
	Span at = { g->last.span.lo, g->last.span.lo };
	const Token t = g->last;
	go_on(g, GO_AFTER, &t, block);
	if (block < 0) g->queue[0].kind = TOK_BODY;
	parse_push(g, TOK_LBRACE, at);
	g->queue[g->nqueue++] = t;
}

void recover_skip(Gram *g, Expected e)
{
	Token t = g->last;
	int block = inner_block(g);
	Skip s = { .paren = block < 0 ? 0 : parens_above(g, block),
		.lambda = lambda_above(g, block) || (g->prev[2].kind == TOK_RBRACK && g->prev[3].kind == TOK_LBRACK),
		.values = block < 0 && bodiless(g->first), .outside = block < 0 && statement_outside(g, &t),
		.before = g->prev[0].kind, .choice = t.kind == TOK_IF && expects(e, "an integer") };
	if (t.kind == TOK_END || item_before(g, block)) return;         /* at the end the parser gives up by itself */
	if (recover_missing_brace(g, e)) {
		add_brace(g, block);
		return;
	}
	if (s.before == TOK_FOR && t.kind == TOK_LPAREN) skip_parentheses(g, &t);
	while (g->iqueue < g->nqueue && !s.paren) g->iqueue++;
	if (stray_brace(g, &s, &t, e)) lex_token(&g->lex, &t);
	for (;;) {
		Go go = block < 0 ? in_item(g, &s, &t) : in_block(g, &s, &t);
		if (go != GO_ON) {
			go_on(g, go, &t, block);
			return;
		}
		s.before = t.kind;
		lex_token(&g->lex, &t);
	}
}
