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

/* ---- messages of the usual form, with what to write ---- */

static bool with_help(Gram *g, Expected e, const char *help)
{
	Diag *d = diag(D_SYNTAX, g->last.span, expect_list(e), expect_found(g, &g->last));
	diag_help(d, "%s", help);
	return true;
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
	diag_help(d, "write `%s` where it ends", *open == '{' ? "}" : *open == '[' ? "]" : ")");
	return true;
}

static bool wrong_closer(Gram *g)
{
	const Token *t = &g->last;
	const Open *inner = g->nopen ? &g->open[g->nopen - 1] : NULL;
	if (!is_closer(t->kind) || (inner && inner->kind == opener_of(t->kind))) return false;
	if (!inner || inner->block) {
		diag(D_STRAY_CLOSER, t->span, token_text(t->kind));
		return true;
	}
	Diag *d = diag(D_MISMATCH, t->span, token_text(inner->kind), token_text(t->kind));
	diag_label(d, inner->span, "this one is open");
	return true;
}

/* ---- C and Python ---- */

static bool doc_place(Gram *g)
{
	if (g->last.kind != TOK_DOC) return false;
	Diag *d = diag0(D_DOC_PLACE, g->last.span);
	diag_help(d, "write `//`");
	if (!parse_line_between(g, g->last.span.lo, g->last.span.hi))
		diag_edit(d, parse_span(g->last.span.lo, g->last.span.lo + 3), "//");
	return true;
}

/* Looking ahead from the current token. */
typedef struct Ahead { const Gram *g; Lex lex; Token t; } Ahead;

static Ahead ahead(const Gram *g)
{
	Ahead a = { g, g->lex, g->last };
	a.lex.quiet = true;
	return a;
}

static const Token *step(Ahead *a)
{
	lex_token(&a->lex, &a->t);
	return &a->t;
}

/* Goes to the first token of kind `stop` outside of brackets; false at a brace or the end. */
static bool step_to(Ahead *a, int stop)
{
	for (int depth = 0, left = 200; left && (depth || a->t.kind != stop); left--, step(a)) {
		int k = a->t.kind;
		if (k == TOK_LBRACE || k == TOK_RBRACE || k == TOK_END || (k == TOK_SEMI && stop != TOK_SEMI)) return false;
		depth += (k == TOK_LPAREN || k == TOK_LBRACK) - (k == TOK_RPAREN || k == TOK_RBRACK);
		if (depth < 0) return false;
	}
	return a->t.kind == stop;
}

/* The text from `lo` to the current token, without the blanks before it. */
static const char *text_to(const Ahead *a, uint32_t lo)
{
	const char *s = parse_source(a->g, parse_span(lo, a->t.span.lo));
	size_t n = strlen(s);
	while (n && strchr(" \t\r\n", s[n - 1])) n--;
	return arena_strndup(A_UNIT, s, n);
}

/* (int i = A; i < B; i++) -> "i in A .. B"; NULL if the loop is not of that form. */
static const char *range_of_c_for(Ahead *a)
{
	if (step(a)->kind != TOK_IDENT || step(a)->kind != TOK_IDENT) return NULL;
	Str i = a->t.v.name.s;
	if (step(a)->kind != TOK_ASSIGN) return NULL;
	uint32_t lo = step(a)->span.lo;
	if (!step_to(a, TOK_SEMI)) return NULL;
	const char *from = text_to(a, lo);
	if (step(a)->kind != TOK_IDENT || a->t.v.name.s != i || step(a)->kind != TOK_LT) return NULL;
	lo = step(a)->span.lo;
	if (!step_to(a, TOK_SEMI)) return NULL;
	const char *to = text_to(a, lo);
	bool post = step(a)->kind == TOK_IDENT && a->t.v.name.s == i;
	if (post) step(a);
	if (a->t.kind != TOK_PLUS || step(a)->kind != TOK_PLUS) return NULL;
	step(a);
	if (!post && (a->t.kind != TOK_IDENT || a->t.v.name.s != i || (step(a), false))) return NULL;
	return a->t.kind == TOK_RPAREN && *from && *to ? arena_printf(A_UNIT, "%s in %s .. %s", i, from, to) : NULL;
}

static bool c_for(Gram *g)
{
	if (g->last.kind != TOK_LPAREN || g->prev[0].kind != TOK_FOR) return false;
	Ahead a = ahead(g);
	const char *range = range_of_c_for(&a);
	Diag *d = diag0(D_C_FOR, parse_span(g->prev[0].span.lo, g->last.span.hi));
	if (range) diag_help(d, "write `for %s`", range);
	else diag_help(d, "write `for i in 0 .. n`, or `for i in 0 .. n step 2`");
	if (range) diag_edit(d, parse_span(g->last.span.lo, a.t.span.hi), range);
	return true;
}

/* float x = 1; at a statement's start */
static bool c_declaration(Gram *g)
{
	const Token *type = &g->prev[0], *t = &g->last;
	if (!is_name(t) || !is_name(type) || type->span.lo != g->stmt) return false;
	if (parse_line_between(g, type->span.hi, t->span.lo)) return false;
	Token next;
	lex_peek(&g->lex, &next, 1);
	const char *ours = foreign_word(FW_TYPE, type->v.name.s);
	if (next.kind != TOK_ASSIGN && (!ours || next.kind != TOK_SEMI)) return false;
	Span all = parse_span(type->span.lo, t->span.hi);
	Diag *d = diag0(D_C_DECLARATION, all);
	const char *fix = ours && *ours ? arena_printf(A_UNIT, "var %s: %s", t->v.name.s, ours) :
		arena_printf(A_UNIT, "var %s", t->v.name.s);
	diag_help(d, "write `%s`, or `let` if it never changes", fix);
	if (ours && next.kind == TOK_ASSIGN) diag_edit(d, all, fix);
	return true;
}

/* f(float *x) */
static bool c_pointer(Gram *g, Expected e)
{
	Token name;
	const Token *type = &g->prev[0];
	lex_peek(&g->lex, &name, 1);
	if (g->last.kind != TOK_STAR || !is_name(type) || !is_name(&name)) return false;
	if (!expects(e, ":") || expects(e, ",")) return false;
	const char *ours = foreign_word(FW_TYPE, type->v.name.s);
	Diag *d = diag0(D_C_PARAMETER, parse_span(type->span.lo, name.span.hi));
	diag_help(d, "write `%s: tensor<%s, [n]>`: its extent belongs to its type", name.v.name.s,
		ours && *ours ? ours : type->v.name.s);
	return true;
}

/* f(float x), const float x = 1; */
static bool c_parameter(Gram *g, Expected e)
{
	const Token *type = &g->prev[0], *t = &g->last;
	int before = g->prev[1].kind;
	bool declares = before == TOK_CONST || before == TOK_LET || before == TOK_VAR || before == TOK_PARAM;
	bool parameter = (before == TOK_LPAREN || before == TOK_COMMA || before == TOK_DOC) && !expects(e, ",");
	if (!is_name(t) || !is_name(type) || !expects(e, ":") || !(declares || parameter)) return false;
	if (parse_line_between(g, type->span.hi, t->span.lo)) return false;
	const char *ours = foreign_word(FW_TYPE, type->v.name.s);
	Span all = parse_span(type->span.lo, t->span.hi);
	Diag *d = diag0(D_C_PARAMETER, all);
	const char *fix = arena_printf(A_UNIT, "%s: %s", t->v.name.s, ours && *ours ? ours : type->v.name.s);
	if (ours && !*ours && declares) {
		all.lo = g->prev[1].span.lo;
		fix = arena_printf(A_UNIT, "%s %s", before == TOK_CONST ? "let" : token_text(before), t->v.name.s);
	}
	diag_help(d, "write `%s`", fix);
	if (ours && (*ours || declares)) diag_edit(d, all, fix);
	return true;
}

/* f(const float *x): the words up to the last one are the type. */
static bool c_const_parameter(Gram *g, Expected e)
{
	if (g->last.kind != TOK_CONST || !expects(e, "a name") || expects(e, "let") || expects(e, "kernel")) return false;
	Ahead a = ahead(g);
	if (step(&a)->kind != TOK_IDENT) return false;
	Str type = a.t.v.name.s;
	bool pointer = step(&a)->kind == TOK_STAR;
	if (pointer) step(&a);
	if (a.t.kind != TOK_IDENT) return false;
	const char *ours = foreign_word(FW_TYPE, type);
	Diag *d = diag0(D_C_PARAMETER, parse_span(g->last.span.lo, a.t.span.hi));
	if (!ours || !*ours) ours = type;
	if (pointer) diag_help(d, "write `%s: tensor<%s, [n]>`: its extent belongs to its type", a.t.v.name.s, ours);
	else diag_help(d, "write `%s: %s`", a.t.v.name.s, ours);
	return true;
}

/* f(out y: tensor<..>) */
static bool mode_first(Gram *g, Expected e)
{
	const Token *mode = &g->prev[0], *t = &g->last;
	Token next;
	if ((mode->kind != TOK_OUT && mode->kind != TOK_INOUT) || !is_name(t) || !expects(e, ":")) return false;
	lex_peek(&g->lex, &next, 1);
	Diag *d = diag(D_SYNTAX, t->span, expect_list(e), expect_found(g, t));
	const char *fix = arena_printf(A_UNIT, "%s: %s", t->v.name.s, token_text(mode->kind));
	diag_help(d, "the mode stands before the type: write `%s`", fix);
	if (next.kind == TOK_COLON) diag_edit(d, parse_span(mode->span.lo, next.span.hi), fix);
	return true;
}

static bool python_block(Gram *g, Expected e)
{
	if (g->last.kind != TOK_COLON || !expects(e, "{")) return false;
	Diag *d = diag0(D_COLON_BLOCK, g->last.span);
	diag_help(d, "write `{` here and `}` at the block's end");
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
	Ahead a = ahead(g);
	diag_help(d, "put the statement in `{ }`");
	if (step_to(&a, TOK_SEMI)) {
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
	g->reserved = t->kind;
	diag(D_RESERVED, t->span, parse_text(g, t->span));
	return true;
}

/* `let tile = 1; return tile;`: the second place is the same mistake. */
static bool reserved_again(const Gram *g, Expected e)
{
	return g->reserved && (g->prev[0].kind == g->reserved || (g->last.kind == g->reserved && expects(e, "a name")));
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

/* The text behind a comment that seemed to hold another one. */
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

/* f<f32>(x): a type or number where a call takes none. */
static bool call_generics(Gram *g)
{
	Ahead a = ahead(g);
	const Token *p = g->prev;
	if (g->last.kind != TOK_GT || p[1].kind != TOK_LT || !is_name(&p[2]) || step(&a)->kind != TOK_LPAREN) return false;
	Diag *d = diag(D_CALL_GENERICS, parse_span(p[1].span.lo, g->last.span.hi));
	diag_help(d, "write `%s(x, %s: %s)` with the parameter's name", p[2].v.name.s, is_name(p) ? "T" : "N", parse_text(g, p[0].span));
	return true;
}

static bool chained(Gram *g, Expected e)
{
	if (!comparison(g->last.kind) || !expects(e, "&&") || expects(e, "==")) return false;
	if (call_generics(g)) return true;
	Diag *d = diag0(D_CHAINED, g->last.span);
	diag_help(d, "write `a < b && b < c`");
	return true;
}

/* x // 2; where Python divides */
static bool operator_comment(const Gram *g, uint32_t at)
{
	const char *p = g->lex.src->text + (at - g->lex.src->base);
	p += strspn(p, " \t");
	size_t n = strcspn(p, "\n");
	while (n && strchr(" \t\r", p[n - 1])) n--;
	return n > 3 && p[0] == '/' && p[1] == '/' && p[2] != '/' && p[n - 1] == ';';
}

/* The place is the end of what lacks it, not the next line. */
static bool missing_semicolon(Gram *g, Expected e)
{
	const Token *t = &g->last;
	uint32_t end = g->prev[0].span.hi;
	if (!expects(e, ";") || expects(e, "let") || expects(e, "kernel")) return false;
	if (t->kind != TOK_RBRACE && !parse_line_between(g, end, t->span.lo)) return false;
	Diag *d = diag(D_MISSING_SEMICOLON, parse_span(end - 1, end), parse_text(g, g->prev[0].span));
	if (operator_comment(g, end)) {
		diag_help(d, "`//` begins a comment: write `floordiv(x, y)`, or `/`, which truncates");
		return true;
	}
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
		if (t.kind == TOK_GRID) return with_help(g, e, "a kernel has one grid: its extents stand in one list, `grid [m, n]`");
	}
	Diag *d = diag0(D_LATE_GRID, g->last.span);
	diag_help(d, "the order is `dims`, `grid`, `where`");
	return true;
}

static bool instance_parens(Gram *g, Expected e)
{
	if (g->last.kind != TOK_LPAREN || !expects(e, "<") || !expects(e, ";") || !expects(e, "where")) return false;
	Diag *d = diag0(D_INSTANCE_ARGUMENTS, g->last.span);
	Ahead a = ahead(g);
	uint32_t lo = step(&a)->span.lo;
	if (!step_to(&a, TOK_RPAREN) || a.t.span.lo == lo) {
		diag_help(d, "write `<f32, 128>`");
		return true;
	}
	const char *fix = arena_printf(A_UNIT, "<%s>", text_to(&a, lo));
	diag_help(d, "write `%s`", fix);
	diag_edit(d, parse_span(g->last.span.lo, a.t.span.hi), fix);
	return true;
}

/* (f32) x, x as f32 */
static bool cast(Gram *g)
{
	const Token *p = g->prev, *t = &g->last;
	bool c = p[0].kind == TOK_RPAREN && is_name(&p[1]) && p[2].kind == TOK_LPAREN && p[3].kind != TOK_IDENT &&
		(is_name(t) || t->kind == TOK_INT || t->kind == TOK_FLOAT) && !parse_line_between(g, p[0].span.hi, t->span.lo);
	Token to;
	lex_peek(&g->lex, &to, 1);
	bool rust = t->kind == TOK_AS && (is_name(&p[0]) || p[0].kind == TOK_INT || p[0].kind == TOK_RPAREN) && is_name(&to);
	if (!c && !rust) return false;
	Diag *d = diag0(D_CAST_FORM, c ? parse_span(p[2].span.lo, p[0].span.hi) : t->span);
	const char *value = c ? parse_text(g, t->span) : is_name(&p[0]) ? p[0].v.name.s : "x";
	Str type = c ? p[1].v.name.s : to.v.name.s;
	const char *ours = foreign_word(FW_TYPE, type);
	diag_help(d, "write `%s(%s)`", ours && *ours ? ours : type, value);
	return true;
}

/* import nn; */
static bool import_name(Gram *g, Expected e)
{
	if (g->prev[0].kind != TOK_IMPORT || !is_name(&g->last)) return false;
	Str file = str_fmt("\"%s.tile\"", g->last.v.name.s);
	Diag *d = diag(D_SYNTAX, g->last.span, expect_list(e), expect_found(g, &g->last));
	diag_help(d, "write `import %s`", file);
	diag_edit(d, g->last.span, file);
	return true;
}

/* Statements that other languages have. */
static bool foreign_statement(Gram *g)
{
	static const char *const rows[][2] = {
		{ "switch", "write `if a { } else if b { } else { }`" }, { "match", "write `if a { } else if b { } else { }`" },
		{ "case", "write `if a { } else if b { } else { }`" }, { "do", "write `while` with the condition first" },
		{ "loop", "write `while true { }`" }, { "goto", "use `while`, `break` and `continue`" },
		{ "throw", "use `assert(c, \"text\")`" }, { "try", "use `assert(c, \"text\")`" },
		{ "template", "write its parameters behind the name: `kernel f<T: float, N: int>(...)`" },
		{ "__shared__", "leave it out: a tile is a value, `let s = x.load(...)`, and the compiler places it" },
		{ "export", "leave it out: every kernel without open generic parameters is a C function" },
		{ "struct", "pass its parts: there are scalars, tiles and tensors" }, { "class", "pass its parts: there are scalars, tiles and tensors" },
		{ "enum", "write a `const` for each" }, { "type", "write the type in its place, or a generic parameter" },
		{ "using", "write the type in its place, or a generic parameter" }, { "typedef", "write the type in its place, or a generic parameter" },
		{ "namespace", "leave it out: `--namespace=NS` adds one to the header" },
		{ "extern", "leave it out: every kernel without open generic parameters is a C function" },
	};
	int k = g->last.kind;
	if (g->first != TOK_IDENT || (k != TOK_LBRACE && k != TOK_IDENT && k != TOK_INT)) return false;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (strcmp(rows[i][0], g->first_name.s)) continue;
		Diag *d = diag(D_MISSPELT, g->first_name.span, g->first_name.s);
		diag_help(d, "%s", rows[i][1]);
		return true;
	}
	return false;
}

/* a if c else b, lambda a, b: a + b, x[lo : hi], tensor<f32> */
static bool python_expression(Gram *g, Expected e)
{
	const Token *p = g->prev;
	int k = g->last.kind;
	if (k == TOK_IF && expects(e, "?")) return with_help(g, e, "a choice is written `c ? a : b`; `select(c, a, b)` chooses by element");
	if (is_name(&p[0]) && !strcmp(p[0].v.name.s, "lambda") && (k == TOK_IDENT || k == TOK_COLON))
		return with_help(g, e, "a function value is written `fn(a, b) a + b`");
	if (k == TOK_COLON && g->nopen && g->open[g->nopen - 1].kind == TOK_LBRACK && expects(e, "]"))
		return with_help(g, e, "an index has no range: `x.slice(axis, lo, hi)` is a part of a tensor");
	if (k == TOK_STRING && is_name(&p[0]) && p[0].v.name.s == str_intern("f") && parse_adjacent(&p[0], &g->last))
		return with_help(g, e, "values follow the text: `print(\"n = {}\", n)`");
	if (p[0].span.lo == g->stmt && is_name(&p[0]) && !strcmp(p[0].v.name.s, "assert"))
		return with_help(g, e, "it is a call: `assert(c, \"text\")`");
	if (k == TOK_GT && p[1].kind == TOK_LT && p[2].kind == TOK_TENSOR)
		return with_help(g, e, "its dimensions belong to its type: `tensor<f32, [n]>`");
	return false;
}

/* var at the top, fn within, kernel k() -> T, @stages = 3, *p */
static bool out_of_place(Gram *g, Expected e)
{
	const Token *p = g->prev;
	int k = g->last.kind;
	if ((k == TOK_VAR || k == TOK_LET) && expects(e, "kernel")) return with_help(g, e, "a value of the file is a `const`, or a `param`");
	if (k == TOK_FN && expects(e, "let"))
		return with_help(g, e, "functions stand outside of kernels; a value may be one, `let f = fn(a) a * a;`");
	if (k == TOK_ARROW && expects(e, "grid")) return with_help(g, e, "a kernel gives its results to `out` parameters");
	if (k == TOK_ASSIGN && p[1].kind == TOK_AT) return with_help(g, e, "an attribute takes its value in parentheses: `@stages(3)`");
	if (k == TOK_STAR && expects(e, "an integer")) return with_help(g, e, "a pointer is read by `unsafe load(p)`");
	if (k == TOK_STAR && is_name(&p[0]) && foreign_word(FW_TYPE, p[0].v.name.s) && p[1].kind == TOK_COLON)
		return with_help(g, e, "a pointer is written `ptr<f32>`, memory with extents `tensor<f32, [n]>`");
	if ((k == TOK_LT || k == TOK_SHL) && is_name(&p[0]) && p[0].span.lo == g->stmt && expects(e, "+="))
		return with_help(g, e, "a launch has arguments only, generic ones by name: `k(x, y, N: 64)`");
	return false;
}

/* x * 2; alone, where Rust gives it as the result */
static bool idle_expression(Gram *g, Expected e)
{
	int k = g->last.kind;
	bool operator = k == TOK_PLUS || k == TOK_MINUS || k == TOK_STAR || k == TOK_SLASH || k == TOK_PERCENT || k == TOK_AT;
	if (!operator || !expects(e, "+=") || expects(e, "?")) return false;
	return with_help(g, e, "a result is given by `return`, and kept by `let y = ...`");
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
	return true;
}

bool advice_say(Gram *g, Expected e)
{
	return reserved_again(g, e) || comment_end(g) || unclosed(g) || wrong_closer(g) || doc_place(g) || c_for(g) ||
		foreign_statement(g) || import_name(g, e) || misspelt_word(g, e) || c_declaration(g) || c_parameter(g, e) ||
		c_pointer(g, e) || python_block(g, e) || arrow_member(g, e) || late_grid(g, e) ||
		instance_parens(g, e) || missing_brace(g, e) || missing_semicolon(g, e) || c_const_parameter(g, e) || mode_first(g, e) ||
		reserved_name(g, e) || chained(g, e) || cast(g) || bare_body(g, e) || python_expression(g, e) || out_of_place(g, e) ||
		idle_expression(g, e) || open_at_end(g, e);
}
