/* Syntax errors whose cause can be guessed: the message says the cause instead of what could have stood there. */
#include "parser/parse_impl.h"
#include <string.h>
#include "ast/foreign.h"
#include "grammar/tile_tab.h"

static bool is_reserved(int kind)
{
	for (int i = 0; i < token_count; i++)
		if (token_rows[i].kind == kind) return token_rows[i].cls == TC_RESERVED;
	return false;
}

static bool is_closer(int k) { return k == TOK_RPAREN || k == TOK_RBRACK || k == TOK_RBRACE; }
static bool is_name(const Token *t) { return t->kind == TOK_IDENT; }

static int opener_of(int closer)
{
	return closer == TOK_RPAREN ? TOK_LPAREN : closer == TOK_RBRACK ? TOK_LBRACK : TOK_LBRACE;
}

/* ---- brackets ---- */

static bool unclosed(Gram *g)
{
	const Token *t = &g->last;
	if (!recover_item_word(g, t, true)) t = recover_item_word(g, &g->prev[0], true) ? &g->prev[0] : t;
	if (!g->nopen || (t->kind != TOK_END && !recover_item_word(g, t, true))) return false;
	int i = g->nopen - 1;
	if (t->kind != TOK_END)
		while (i >= 0 && !g->open[i].block) i--;
	if (i < 0) return false;
	Span at = g->open[i].span;
	if (g->open[i].block && g->suspect.lo > at.lo) at = g->suspect;
	if (at.lo == at.hi) return true;        /* supplied by us: said already */
	Diag *d = diag(D_UNCLOSED, at, parse_text(g, at));
	if (t->kind == TOK_END) diag_note(d, "the file ends before it is");
	else diag_label(d, t->span, "the next item begins here");
	const char *open = parse_text(g, at);
	diag_help(d, "`%s` is missing where it ends", *open == '{' ? "}" : *open == '[' ? "]" : ")");
	return true;
}

static bool wrong_closer(Gram *g)
{
	const Token *t = &g->last;
	const Open *inner = g->nopen ? &g->open[g->nopen - 1] : NULL;
	if (!is_closer(t->kind) || (inner && inner->kind == opener_of(t->kind))) return false;
	if (!inner || inner->block) {
		Diag *d = diag(D_STRAY_CLOSER, t->span, token_text(t->kind));
		diag_help(d, "delete it, or open it further up");
		diag_edit(d, t->span, "");
		return true;
	}
	Diag *d = diag(D_MISMATCH, t->span, token_text(inner->kind), token_text(t->kind));
	diag_label(d, inner->span, "this one is open");
	const char *close = inner->kind == TOK_LPAREN ? ")" : "]";
	diag_help(d, "write `%s`", close);
	diag_edit(d, t->span, close);
	return true;
}

/* ---- C and Python ---- */

static bool doc_place(Gram *g)
{
	if (g->last.kind != TOK_DOC) return false;
	Diag *d = diag0(D_DOC_PLACE, g->last.span);
	if (parse_line_between(g, g->last.span.lo, g->last.span.hi)) {
		diag_help(d, "a comment that documents nothing begins with `//`");
		return true;
	}
	diag_help(d, "write `//`");
	diag_edit(d, parse_span(g->last.span.lo, g->last.span.lo + 3), "//");
	return true;
}

/* f(out y: tensor<..>) */
static bool mode_first(Gram *g, Expected e)
{
	const Token *mode = &g->prev[0], *t = &g->last;
	Token next;
	if ((mode->kind != TOK_OUT && mode->kind != TOK_INOUT) || !is_name(t) || !expects(e, ":")) return false;
	lex_peek(&g->lex, &next, 1);
	const char *fix = arena_printf(A_UNIT, "%s: %s", t->v.name.s, token_text(mode->kind));
	if (next.kind != TOK_COLON)
		return expect_with(g, e, "the mode stands before the type, as in `x: out tensor<f32, [n]>`");
	Diag *d = diag(D_SYNTAX, t->span, expect_list(e), expect_found(g, t));
	diag_help(d, "the mode stands before the type: write `%s`", fix);
	diag_edit(d, parse_span(mode->span.lo, next.span.hi), fix);
	return true;
}

static bool arrow_member(Gram *g, Expected e)
{
	if (g->last.kind != TOK_ARROW || !expects(e, ".")) return false;
	Diag *d = diag(D_NO_OPERATOR, g->last.span, "->");
	diag_help(d, "write `.`");
	diag_edit(d, g->last.span, ".");
	return true;
}

static bool missing_brace(Gram *g, Expected e)
{
	if (!recover_missing_brace(g, e)) return false;
	uint32_t end = g->prev[0].span.hi;
	Diag *d = diag(D_BARE_BODY, g->last.span, parse_text(g, g->last.span));
	diag_help(d, "the block is closed below: open it with `{`");
	diag_edit(d, parse_span(end, end), " {");
	return true;
}

static bool bare_body(Gram *g, Expected e)
{
	const Token *t = &g->last;
	bool only_block = expects(e, "{") && !expects(e, ";") && !expects(e, "where") && !expects(e, "a name");
	if (!only_block || expects(e, "kernel")) return false;
	if (t->kind != TOK_IDENT && t->kind != TOK_RETURN && t->kind != TOK_BREAK && t->kind != TOK_CONTINUE) return false;
	Diag *d = diag(D_BARE_BODY, t->span, parse_text(g, t->span));
	Ahead a = ahead_from(g);
	bool word = is_name(t) && (!strcmp(t->v.name.s, "then") || !strcmp(t->v.name.s, "begin"));
	if (word && ahead_step(&a)->kind == TOK_LBRACE) {
		diag_help(d, "the block follows at once: leave `%s` out", t->v.name.s);
		diag_edit(d, parse_span(t->span.lo, a.t.span.lo), "");
		return true;
	}
	a = ahead_from(g);
	diag_help(d, "put the statement in `{ }`");
	if (ahead_to(&a, TOK_SEMI)) {
		diag_edit(d, parse_span(t->span.lo, t->span.lo), "{ ");
		diag_edit(d, parse_span(a.t.span.hi, a.t.span.hi), " }");
	}
	return true;
}

/* ---- names ---- */

static bool reserved_name(Gram *g, Expected e)
{
	const Token *t = &g->last;
	if (!is_reserved(t->kind) || !expects(e, "a name") || expects(e, "an integer") || expects(e, "let")) return false;
	if (parse_first_on_line(g, t->span.lo)) return false;
	if (t->kind == TOK_CONST && g->prev[0].kind == TOK_COLON && is_name(&g->prev[1]))
		return expect_with(g, e, "a tensor is read only without `out` or `inout`: leave `const` out");
	g->reserved = t->kind;
	Diag *d = diag(D_RESERVED, t->span, parse_text(g, t->span));
	diag_help(d, "a name is another word, such as `%s_`", parse_text(g, t->span));
	return true;
}

/* `let tile = 1; return tile;`: the second place is the same mistake. */
static bool reserved_again(const Gram *g, Expected e)
{
	return g->reserved && (g->prev[0].kind == g->reserved || (g->last.kind == g->reserved && expects(e, "a name")));
}

/* What stands between the word and the body says the grid. */
static bool has_grid(const Token *word)
{
	Span s = word->span;
	const Src *src = src_of(s);
	const char *p = src ? src->text + (s.lo - src->base) : "", *body = strchr(p, '{'), *grid = strstr(p, "grid");
	return grid && body && grid < body;
}

/* `kernal f(..)`, `retrun x;`: `word` is nearly a word that could begin something here. */
static bool misspelt(const Token *word, const char *list)
{
	static const char *const foreign[][2] = {
		{ "def", "fn" }, { "func", "fn" }, { "function", "fn" }, { "proc", "fn" }, { "include", "import" },
		{ "from", "import" }, { "__global__", "kernel" }, { "__device__", "fn" }, { "static", "const" },
		{ "constexpr", "const" }, { "elif", "else if" }, { "elseif", "else if" },
	};
	Near near;
	const char *best = NULL;
	near_begin(&near, word->v.name.s);
	for (const char *p = list; *p; p += strcspn(p, " "), p += *p == ' ')
		near_offer(&near, str_intern_n(p, strcspn(p, " ")));
	best = near.best;
	for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
		if (!strcmp(foreign[i][0], word->v.name.s)) best = foreign[i][1];
	if (!best || strlen(word->v.name.s) < 3) return false;
	if (!strcmp(word->v.name.s, "def") && has_grid(word)) best = "kernel";
	Diag *d = diag(D_MISSPELT, word->span, word->v.name.s);
	diag_help(d, "write `%s`", best);
	diag_edit(d, word->span, best);
	return true;
}

static bool misspelt_word(Gram *g, Expected e)
{
	const Token *t = &g->last, *p = &g->prev[0];
	if (is_name(t) && expects(e, "kernel"))
		return misspelt(t, "kernel fn entry instance tune import param const");
	if (!is_name(p) || p->span.lo != g->stmt || parse_line_between(g, p->span.hi, t->span.lo)) return false;
	if (t->kind != TOK_IDENT && t->kind != TOK_INT && t->kind != TOK_LBRACE && t->kind != TOK_IF) return false;
	return misspelt(p, "let var for while if else return break continue scratch unsafe const");
}

/* ---- operators and ends ---- */

/* The text after a comment that seemed to hold another one. */
static bool comment_end(Gram *g)
{
	const Src *s = g->lex.src;
	const char *from = s->text + (g->last.span.lo - s->base), *p = from, *before = from;
	while (p + 1 < g->lex.end && *p != '\n' && (p[0] != '*' || p[1] != '/')) p++;
	if (p + 1 >= g->lex.end || *p == '\n') return false;
	while (before > s->text && (before[-1] == ' ' || before[-1] == '\t')) before--;
	if (before < s->text + 2 || before[-1] != '/' || before[-2] != '*') return false;
	uint32_t at = s->base + (uint32_t)(p - s->text);
	diag0(D_STRAY_COMMENT_END, parse_span(at, at + 2));
	g->lex.error = at;
	return true;
}

static bool comparison(int k)
{
	return k == TOK_EQ || k == TOK_NE || k == TOK_LT || k == TOK_LE || k == TOK_GT || k == TOK_GT_EQ;
}

static bool chained(Gram *g, Expected e)
{
	if (!comparison(g->last.kind) || !expects(e, "&&") || expects(e, "==")) return false;
	if (habit_generics(g)) return true;
	Diag *d = diag0(D_CHAINED, g->last.span);
	diag_help(d, "two comparisons are joined, as in `a < b && b < c`");
	return true;
}

/* The place is the end of what lacks it, not the next line. */
static bool missing_semicolon(Gram *g, Expected e)
{
	const Token *t = &g->last;
	uint32_t end = g->prev[0].span.hi;
	if (!expects(e, ";") || expects(e, "let") || expects(e, "kernel")) return false;
	if (t->kind != TOK_RBRACE && !parse_line_between(g, end, t->span.lo)) return false;
	Diag *d = diag(D_MISSING_SEMICOLON, parse_span(end - 1, end), parse_text(g, g->prev[0].span));
	if (habit_quotient(g, d)) return true;
	diag_help(d, "write `;` here");
	diag_edit(d, parse_span(end, end), ";");
	return true;
}

static bool late_grid(Gram *g, Expected e)
{
	if (g->last.kind != TOK_GRID || !expects(e, "{")) return false;
	Lex l = g->lex;
	l.cur = l.src->text + (g->stmt - l.src->base);
	l.quiet = true;
	for (Token t = g->prev[0]; ; ) {
		lex_token(&l, &t);
		if (t.span.lo >= g->last.span.lo || t.kind == TOK_END) break;
		if (t.kind == TOK_GRID)
			return expect_with(g, e, "a kernel has one grid, whose extents stand in one list, as in `grid [m, n]`");
	}
	Diag *d = diag0(D_LATE_GRID, g->last.span);
	diag_help(d, "the order is `dims`, `grid`, `where`");
	return true;
}

static bool instance_parens(Gram *g, Expected e)
{
	bool brackets = g->last.kind == TOK_LBRACK;
	if ((g->last.kind != TOK_LPAREN && !brackets) || !expects(e, "<") || !expects(e, ";") || !expects(e, "where"))
		return false;
	Diag *d = diag0(D_INSTANCE_ARGUMENTS, g->last.span);
	Ahead a = ahead_from(g);
	uint32_t lo = ahead_step(&a)->span.lo;
	if (!ahead_to(&a, brackets ? TOK_RBRACK : TOK_RPAREN) || a.t.span.lo == lo) {
		diag_help(d, "its generic arguments stand in `< >`, as in `<f32, 128>`");
		return true;
	}
	const char *fix = arena_printf(A_UNIT, "<%s>", ahead_text(&a, lo));
	diag_help(d, "write `%s`", fix);
	diag_edit(d, parse_span(g->last.span.lo, a.t.span.hi), fix);
	return true;
}

/* var at the top, fn within, kernel k() -> T, @stages = 3, *p */
static bool out_of_place(Gram *g, Expected e)
{
	const Token *p = g->prev;
	int k = g->last.kind;
	if (k == TOK_LET && expects(e, "kernel")) {
		Diag *d = diag(D_SYNTAX, g->last.span, expect_list(e), expect_found(g, &g->last));
		diag_help(d, "a value of the file is a `const`, or a `param`: write `const`");
		diag_edit(d, g->last.span, "const");
		return true;
	}
	if (k == TOK_VAR && expects(e, "kernel"))
		return expect_with(g, e, "a value of the file is a `const`, or a `param`");
	if (k == TOK_FN && expects(e, "let"))
		return expect_with(g, e, "functions stand outside of kernels; a value may be one, `let f = fn(a) a * a;`");
	if (k == TOK_ARROW && expects(e, "grid"))
		return expect_with(g, e, "a kernel gives its results to `out` parameters");
	if (k == TOK_ASSIGN && p[1].kind == TOK_AT)
		return expect_with(g, e, "an attribute takes its value in parentheses, as in `@stages(3)`");
	if (k == TOK_STAR && expects(e, "an integer")) return expect_with(g, e, "a pointer is read by `unsafe load(p)`");
	if ((k == TOK_LT || k == TOK_SHL) && is_name(&p[0]) && p[0].span.lo == g->stmt && expects(e, "+="))
		return expect_with(g, e, str_fmt("a launch has arguments only, as in `%s(x)`, generic ones by name",
			p[0].v.name.s));
	return false;
}

/* x * 2; alone, where Rust gives it as the result */
static bool idle_expression(Gram *g, Expected e)
{
	int k = g->last.kind;
	bool operator = k == TOK_PLUS || k == TOK_MINUS || k == TOK_STAR || k == TOK_SLASH || k == TOK_PERCENT
		|| k == TOK_AT;
	if (!operator || !expects(e, "+=") || expects(e, "?")) return false;
	return expect_with(g, e, "a result is given by `return`, and kept by `let y = ...`");
}

/* f((x); : the parenthesis that is open */
static bool open_at_end(Gram *g, Expected e)
{
	const Open *o = g->nopen ? &g->open[g->nopen - 1] : NULL;
	const char *close = !o ? NULL : o->kind == TOK_LPAREN ? ")" : o->kind == TOK_LBRACK ? "]" : NULL;
	if (!close || !expects(e, close) || (g->last.kind != TOK_SEMI && g->last.kind != TOK_LBRACE)) return false;
	Diag *d = diag(D_SYNTAX, g->last.span, expect_list(e), expect_found(g, &g->last));
	diag_label(d, o->span, "this one is open");
	diag_help(d, "close it with `%s`", close);
	diag_edit(d, parse_span(g->prev[0].span.hi, g->prev[0].span.hi), close);
	return true;
}

/* grid [], x[] */
static bool empty_list(Gram *g, Expected e)
{
	if (g->last.kind != TOK_RBRACK || g->prev[0].kind != TOK_LBRACK || !expects(e, "an integer")) return false;
	if (g->prev[1].kind == TOK_GRID) return expect_with(g, e, "one tile block is `grid [1]`");
	return g->prev[1].kind == TOK_IDENT && expect_with(g, e, "an element has an index for each axis, as in `x[i, j]`");
}

/* const A = 1, B = 2; */
static bool several_constants(Gram *g, Expected e)
{
	const char *text = parse_text(g, parse_span(g->stmt, g->last.span.lo));
	if (g->last.kind != TOK_COMMA || !expects(e, ";") || strncmp(text, "const ", 6) != 0) return false;
	return expect_with(g, e, "each constant has a `const` of its own");
}

/* f(a b) */
static bool missing_comma(Gram *g, Expected e)
{
	int k = g->last.kind;
	bool starts = k == TOK_IDENT || k == TOK_INT || k == TOK_FLOAT;
	if (!starts || !expects(e, ",") || !g->nopen || g->open[g->nopen - 1].block) return false;
	return expect_with(g, e, "is a `,` or an operator missing before it?");
}

bool advice_say(Gram *g, Expected e)
{
	return reserved_again(g, e) || comment_end(g) || habit_quotient_inside(g, e) || unclosed(g) || wrong_closer(g) ||
		doc_place(g) || habit_statement(g, e) ||
		misspelt_word(g, e) || habit_declaration(g, e) || arrow_member(g, e) || late_grid(g, e) ||
		instance_parens(g, e) || missing_brace(g, e) || missing_semicolon(g, e) || habit_const_parameter(g, e)
		|| mode_first(g, e) || habit_reserved(g, e) ||
		reserved_name(g, e) || chained(g, e) || bare_body(g, e) || habit_expression(g, e) || out_of_place(g, e) ||
		idle_expression(g, e) || open_at_end(g, e) || empty_list(g, e)
		|| several_constants(g, e) || missing_comma(g, e);
}
