/* Forms of C, CUDA, Python and Rust that are syntax errors here: the message says what is written instead, as an edit
 * where all of it is in sight. */
#include "parser/parse_impl.h"
#include <stdlib.h>
#include <string.h>
#include "ast/foreign.h"
#include "grammar/tile_tab.h"

static bool is_name(const Token *t) { return t->kind == TOK_IDENT; }

static bool is_word(const Token *t, const char *word) { return is_name(t) && !strcmp(t->v.name.s, word); }

/* (int i = A; i < B; i++) -> "i in A .. B"; NULL if the loop is not of that form. */
static const char *range_of_c_for(Ahead *a)
{
	if (ahead_step(a)->kind != TOK_IDENT || ahead_step(a)->kind != TOK_IDENT) return NULL;
	Str i = a->t.v.name.s;
	if (ahead_step(a)->kind != TOK_ASSIGN) return NULL;
	uint32_t lo = ahead_step(a)->span.lo;
	if (!ahead_to(a, TOK_SEMI)) return NULL;
	const char *from = ahead_text(a, lo);
	if (ahead_step(a)->kind != TOK_IDENT || a->t.v.name.s != i || ahead_step(a)->kind != TOK_LT) return NULL;
	lo = ahead_step(a)->span.lo;
	if (!ahead_to(a, TOK_SEMI)) return NULL;
	const char *to = ahead_text(a, lo);
	bool post = ahead_step(a)->kind == TOK_IDENT && a->t.v.name.s == i;
	if (post) ahead_step(a);
	if (a->t.kind != TOK_PLUS || ahead_step(a)->kind != TOK_PLUS) return NULL;
	ahead_step(a);
	if (!post && (a->t.kind != TOK_IDENT || a->t.v.name.s != i || (ahead_step(a), false))) return NULL;
	return a->t.kind == TOK_RPAREN && *from && *to ? arena_printf(A_UNIT, "%s in %s .. %s", i, from, to) : NULL;
}

/* (i in A .. B) -> "i in A .. B" */
static const char *range_in_brackets(const Gram *g, Ahead *a)
{
	*a = ahead_from(g);
	if (ahead_step(a)->kind != TOK_IDENT) return NULL;
	uint32_t lo = a->t.span.lo;
	if (ahead_step(a)->kind != TOK_IN) return NULL;
	return ahead_to(a, TOK_RPAREN) && strstr(ahead_text(a, lo), "..") ? ahead_text(a, lo) : NULL;
}

static bool c_for(Gram *g)
{
	if (g->last.kind != TOK_LPAREN || g->prev[0].kind != TOK_FOR) return false;
	Ahead a = ahead_from(g);
	const char *range = range_of_c_for(&a);
	if (!range) range = range_in_brackets(g, &a);
	Diag *d = diag0(D_C_FOR, parse_span(g->prev[0].span.lo, g->last.span.hi));
	if (range) diag_help(d, "write `for %s`", range);
	else diag_help(d, "a loop runs over a range, as in `for i in 0 .. n` or `for i in 0 .. n step 2`");
	if (range) diag_edit(d, parse_span(g->last.span.lo, a.t.span.hi), range);
	return true;
}

/* let or var x: f32; a question of whether it is assigned further down */
static const char *our_declaration(const Gram *g, Str name, const char *type)
{
	const char *word = ahead_assigned(g, name) ? "var" : "let";
	return *type ? arena_printf(A_UNIT, "%s %s: %s", word, name, type) : arena_printf(A_UNIT, "%s %s", word, name);
}

/* float x = 1; float x[8]; at a statement's start */
static bool c_declaration(Gram *g)
{
	const Token *type = &g->prev[0], *t = &g->last;
	if (!is_name(t) || !is_name(type) || type->span.lo != g->stmt) return false;
	if (parse_line_between(g, type->span.hi, t->span.lo)) return false;
	Token next;
	lex_peek(&g->lex, &next, 1);
	const char *ours = foreign_word(FW_TYPE, type->v.name.s);
	if (next.kind != TOK_ASSIGN && (!ours || (next.kind != TOK_SEMI && next.kind != TOK_LBRACK))) return false;
	Span all = parse_span(type->span.lo, t->span.hi);
	Diag *d = diag0(D_C_DECLARATION, all);
	if (next.kind == TOK_LBRACK) {
		diag_help(d, "an array is a tile, as in `var %s: tile<%s, [64]> = 0;`", t->v.name.s, *ours ? ours : "f32");
	} else if (next.kind == TOK_SEMI) {
		diag_help(d, "a variable begins with a value, as in `var %s: %s = 0;`", t->v.name.s, *ours ? ours : "f32");
	} else if (ours) {
		const char *fix = our_declaration(g, t->v.name.s, ours);
		diag_help(d, "write `%s`", fix);
		diag_edit(d, all, fix);
	} else {
		diag_help(d, "a declaration begins with `let` or `var`, and the type follows the name");
	}
	return true;
}

/* let mut x = 1; */
static bool let_mut(Gram *g)
{
	const Token *p = g->prev;
	if (p[1].kind != TOK_LET || !is_name(&p[0]) || strcmp(p[0].v.name.s, "mut")) return false;
	Diag *d = diag(D_MISSPELT, p[0].span, p[0].v.name.s);
	diag_help(d, "write `var`");
	diag_edit(d, parse_span(p[1].span.lo, p[0].span.hi), "var");
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
	if (declares && let_mut(g)) return true;
	const char *ours = foreign_word(FW_TYPE, type->v.name.s);
	Span all = parse_span(type->span.lo, t->span.hi);
	Diag *d = diag0(D_C_PARAMETER, all);
	const char *fix = arena_printf(A_UNIT, "%s: %s", t->v.name.s, ours && *ours ? ours : type->v.name.s);
	if (ours && !*ours && declares) {
		all.lo = g->prev[1].span.lo;
		fix = arena_printf(A_UNIT, "%s %s", before == TOK_CONST ? "let" : token_text(before), t->v.name.s);
	}
	if (ours && (*ours || declares)) {
		diag_help(d, "write `%s`", fix);
		diag_edit(d, all, fix);
	} else {
		diag_help(d, "a name stands before its type, as in `x: f32`");
	}
	return true;
}

/* f(const float *x): the words up to the last one are the type. */
static bool c_const_parameter(Gram *g, Expected e)
{
	if (g->last.kind != TOK_CONST || !expects(e, "a name") || expects(e, "let") || expects(e, "kernel")) return false;
	Ahead a = ahead_from(g);
	if (ahead_step(&a)->kind != TOK_IDENT) return false;
	Str type = a.t.v.name.s;
	bool pointer = ahead_step(&a)->kind == TOK_STAR;
	if (pointer) ahead_step(&a);
	if (a.t.kind != TOK_IDENT) return false;
	const char *ours = foreign_word(FW_TYPE, type);
	Diag *d = diag0(D_C_PARAMETER, parse_span(g->last.span.lo, a.t.span.hi));
	if (!ours || !*ours) ours = type;
	if (pointer) {
		diag_help(d, "memory is a tensor, whose extent belongs to its type, as in `%s: tensor<%s, [n]>`", a.t.v.name.s,
			ours);
		return true;
	}
	const char *fix = arena_printf(A_UNIT, "%s: %s", a.t.v.name.s, ours);
	return expect_write(d, parse_span(g->last.span.lo, a.t.span.hi), fix);
}

/* if c: a = 1; */
static bool python_block(Gram *g, Expected e)
{
	if (g->last.kind != TOK_COLON || !expects(e, "{")) return false;
	Diag *d = diag0(D_COLON_BLOCK, g->last.span);
	Ahead a = ahead_from(g);
	ahead_step(&a);
	uint32_t colon = g->last.span.hi;
	if (!parse_line_between(g, colon, a.t.span.lo) && ahead_to(&a, TOK_SEMI)
		&& !parse_line_between(g, colon, a.t.span.lo)) {
		diag_help(d, "write `{` here, and `}` after the statement");
		diag_edit(d, g->last.span, " {");
		diag_edit(d, parse_span(a.t.span.hi, a.t.span.hi), " }");
	} else {
		diag_help(d, "a block stands in `{ }`");
	}
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
	bool rust = t->kind == TOK_AS && (is_name(&p[0]) || p[0].kind == TOK_INT || p[0].kind == TOK_RPAREN)
		&& is_name(&to);
	if (!c && !rust) return false;
	Diag *d = diag0(D_CAST_FORM, c ? parse_span(p[2].span.lo, p[0].span.hi) : t->span);
	Str type = c ? p[1].v.name.s : to.v.name.s;
	const char *ours = foreign_word(FW_TYPE, type);
	if (!ours || !*ours) ours = type;
	Ahead a = ahead_from(g);
	uint32_t from = c ? t->span.lo : parse_primary_start(g, p[0].span.hi), end = c ? ahead_primary(&a) : p[0].span.hi;
	if (!end) {
		diag_help(d, "`element_cast(x, %s)` converts scalars and tiles", ours);
		return true;
	}
	const char *fix = arena_printf(A_UNIT, "element_cast(%s, %s)", parse_source(g, parse_span(from, end)), ours);
	return expect_write(d, c ? parse_span(p[2].span.lo, end) : parse_span(from, to.span.hi), fix);
}

/* import nn; from nn import relu */
static bool import_name(Gram *g, Expected e)
{
	bool from = is_name(&g->prev[0]) && g->prev[0].span.lo == g->stmt && !strcmp(g->prev[0].v.name.s, "from");
	bool first = is_name(&g->last) && g->last.span.lo == g->stmt && !strcmp(g->last.v.name.s, "from")
		&& expects(e, "kernel");
	if (!first && ((g->prev[0].kind != TOK_IMPORT && !from) || !is_name(&g->last))) return false;
	Ahead a = ahead_from(g);
	if (first && ahead_step(&a)->kind != TOK_IDENT) return false;
	Str file = str_fmt("\"%s.tile\"", a.t.v.name.s);
	uint32_t end = a.t.span.hi;
	while (ahead_step(&a)->kind != TOK_END && a.t.kind != TOK_SEMI && !parse_line_between(g, end, a.t.span.lo))
		end = a.t.span.hi;
	if (a.t.kind == TOK_SEMI && !parse_line_between(g, end, a.t.span.lo)) end = a.t.span.hi;
	Diag *d = diag(D_SYNTAX, g->last.span, first ? "`import`" : expect_list(e), expect_found(g, &g->last));
	Str fix = str_fmt("import %s;", file);
	return expect_write(d, parse_span(g->stmt, end), fix);
}

/* Statements that other languages have. */
static bool foreign_statement(Gram *g)
{
	static const char *const rows[][2] = {
		{ "switch", "a choice is `if a { } else if b { } else { }`" },
		{ "match", "a choice is `if a { } else if b { } else { }`" },
		{ "case", "a choice is `if a { } else if b { } else { }`" },
		{ "do", "a loop has its condition first, `while c { }`, or leaves by `break`" },
		{ "loop", "a loop without an end is `while true { }`" },
		{ "goto", "there are `while`, `break` and `continue`" },
		{ "throw", "a mistake is found by `assert(c, \"text\")`" },
		{ "try", "a mistake is found by `assert(c, \"text\")`" },
		{ "template", "its parameters follow the name, as in `kernel f<T: float, N: int>(...)`" },
		{ "export", "it is left out: every kernel without open generic parameters is a C function" },
		{ "struct", "its parts are passed one by one: there are scalars, tiles and tensors" },
		{ "class", "its parts are passed one by one: there are scalars, tiles and tensors" },
		{ "enum", "each is a `const`" },
		{ "type", "the type is written in its place, or a generic parameter stands for it" },
		{ "using", "the type is written in its place, or a generic parameter stands for it" },
		{ "typedef", "the type is written in its place, or a generic parameter stands for it" },
		{ "namespace", "it is left out: `--namespace=NS` adds one to the header" },
		{ "extern", "it is left out: every kernel without open generic parameters is a C function" },
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

/* x // 2; where Python divides: the place of the comment's last `;`, or 0 */
static uint32_t operator_comment(const Gram *g, uint32_t at, uint32_t *right)
{
	const Src *s = g->lex.src;
	const char *text = s->text + (at - s->base), *p = text + strspn(text, " \t");
	size_t n = strcspn(p, "\n");
	while (n && strchr(" \t\r", p[n - 1])) n--;
	if (n <= 3 || p[0] != '/' || p[1] != '/' || p[2] == '/' || p[n - 1] != ';') return 0;
	const char *r = p + 2 + strspn(p + 2, " \t");
	*right = s->base + (uint32_t)(r - s->text);
	return s->base + (uint32_t)(p + n - 1 - s->text);
}

/* grid [n // 64] { : the bracket is closed in the comment, from which the parser goes on. */
bool habit_quotient_inside(Gram *g, Expected e)
{
	const Src *s = g->lex.src;
	const Open *o = g->nopen ? &g->open[g->nopen - 1] : NULL;
	uint32_t end = g->prev[0].span.hi;
	if (!o || o->block || !end || (o->kind != TOK_LPAREN && o->kind != TOK_LBRACK)) return false;
	const char *close = o->kind == TOK_LPAREN ? ")" : "]", *text = s->text + (end - s->base);
	const char *p = text + strspn(text, " \t"), *r = p + 2;
	if (p[0] != '/' || p[1] != '/' || p[2] == '/') return false;
	r += strspn(r, " \t");
	size_t n = strspn(r, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.");
	const char *after = r + n + strspn(r + n, " \t");
	if (!n || (*after != *close && *after != ',')) return false;
	uint32_t at = s->base + (uint32_t)(p - s->text);
	Span l = parse_span(parse_primary_start(g, end), end), all = parse_span(l.lo, at + (uint32_t)(r + n - p));
	Diag *d = diag(D_SYNTAX, parse_span(at, at + 2), expect_list(e), "a comment");
	bool launch = !g->open[0].block;        /* what is computed there is not negative */
	uint32_t before = l.lo - s->base;
	if (before >= 3 && !strncmp(s->text + before - 3, "-(-", 3) && *after == ')') {        /* -(-n // 64) */
		const char *up = arena_printf(A_UNIT, "cdiv(%s, %.*s)", parse_source(g, l), (int)n, r);
		diag_help(d, "`//` begins a comment, and rounded up a quotient is `cdiv`: write `%s`", up);
		diag_edit(d, parse_span(l.lo - 3, s->base + (uint32_t)(after + 1 - s->text)), up);
		g->lex.cur = r;
		g->nqueue = g->iqueue = 0;
		lex_token(&g->lex, &g->last);
		return true;
	}
	const char *fix = arena_printf(A_UNIT, launch ? "%s / %.*s" : "floordiv(%s, %.*s)", parse_source(g, l), (int)n, r);
	diag_help(d, "`//` begins a comment: write `%s`", fix);
	diag_edit(d, all, fix);
	g->lex.cur = r;
	g->nqueue = g->iqueue = 0;
	lex_token(&g->lex, &g->last);
	return true;
}

bool habit_quotient(Gram *g, Diag *d)
{
	uint32_t end = g->prev[0].span.hi, right = 0, semi = operator_comment(g, end, &right);
	if (!semi) return false;
	Span l = parse_span(parse_primary_start(g, end), end), r = parse_span(right, semi);
	const char *fix = arena_printf(A_UNIT, "floordiv(%s, %s)", parse_source(g, l), parse_source(g, r));
	if (strpbrk(parse_source(g, r), "+-*/%;,")) {
		diag_help(d, "`//` begins a comment; a quotient that is rounded down is `floordiv(x, y)`");
	} else {
		diag_help(d, "`//` begins a comment: write `%s`", fix);
		diag_edit(d, parse_span(l.lo, semi), fix);
	}
	return true;
}

/* f<f32>(x): a type or number where a call takes none. */
static bool call_generics(Gram *g)
{
	Ahead a = ahead_from(g);
	const Token *p = g->prev;
	if (g->last.kind != TOK_GT || p[1].kind != TOK_LT || !is_name(&p[2]) || ahead_step(&a)->kind != TOK_LPAREN)
		return false;
	Diag *d = diag(D_CALL_GENERICS, parse_span(p[1].span.lo, g->last.span.hi));
	if (!strcmp(p[2].v.name.s, "static_cast") && is_name(p)) {
		const char *ours = foreign_word(FW_TYPE, p[0].v.name.s);
		if (!ours || !*ours) ours = p[0].v.name.s;
		diag_help(d, "write `%s`", ours);
		diag_edit(d, parse_span(p[2].span.lo, g->last.span.hi), ours);
		return true;
	}
	Str class, by = ahead_generic(g, p[2].v.name.s, &class);
	Span open = a.t.span, close = ahead_close(&a);
	if (!by || !close.hi || (p[0].kind == TOK_INT) != !strcmp(class, "int")) {
		diag_help(d, "they follow the other arguments, each with the name that the function declares it by");
		return true;
	}
	const char *type = is_name(p) ? foreign_word(FW_TYPE, p[0].v.name.s) : NULL;
	const char *args = parse_source(g, parse_span(open.hi, close.hi - 1));
	Str fix = str_fmt("%s(%s%s%s: %s)", p[2].v.name.s, args, *args ? ", " : "", by,
		type && *type ? type : parse_text(g, p[0].span));
	diag_help(d, "write `%s`", fix);
	diag_edit(d, parse_span(p[2].span.lo, close.hi), fix);
	return true;
}

/* lambda a, b: a + b, and |a, b| a + b */
static bool lambda(Gram *g, Expected e)
{
	const Token *p = g->prev;
	bool word = is_word(&p[0], "lambda") && (g->last.kind == TOK_IDENT || g->last.kind == TOK_COLON);
	bool bar = g->last.kind == TOK_BAR && expects(e, "an integer");
	if (!word && !bar) return false;
	Ahead a = ahead_from(g);
	uint32_t from = word ? p[0].span.lo : a.t.span.lo;
	if (bar) ahead_step(&a);
	uint32_t names = a.t.span.lo;
	while (a.t.kind == TOK_IDENT || a.t.kind == TOK_COMMA) ahead_step(&a);
	Diag *d = expect_say(g, e);
	if (g->nopen && !g->open[0].block) {    /* in a grid or a condition */
		diag_help(d, "what the launcher computes is written as it is: leave `%s` out",
			ahead_text(&a, from)[0] && a.t.kind == TOK_COLON ? parse_text(g, parse_span(from, a.t.span.hi)) : "lambda");
		if (a.t.kind == TOK_COLON) {
			uint32_t end = a.t.span.hi;
			diag_edit(d, parse_span(from, ahead_step(&a)->span.lo > end ? a.t.span.lo : end), "");
		}
		return true;
	}
	if (a.t.kind == (word ? TOK_COLON : TOK_BAR)) {
		const char *fix = arena_printf(A_UNIT, "fn(%s)", ahead_text(&a, names));
		diag_help(d, "a function value begins with `fn`: write `%s`", fix);
		diag_edit(d, parse_span(from, a.t.span.hi), fix);
	} else {
		diag_help(d, "a function value begins with `fn` and its names, as in `fn(a, b) a + b`");
	}
	return true;
}

/* (a) => a + 1 */
static bool arrow_function(Gram *g, Expected e)
{
	const Token *p = g->prev;
	Token next;
	lex_peek(&g->lex, &next, 1);
	if (g->last.kind != TOK_ASSIGN || next.kind != TOK_GT || !parse_adjacent(&g->last, &next)
		|| p[0].kind != TOK_RPAREN) return false;
	Span l = parse_span(parse_primary_start(g, p[0].span.hi), p[0].span.hi);
	Diag *d = diag(D_SYNTAX, parse_span(g->last.span.lo, next.span.hi), expect_list(e), "`=>`");
	const char *fix = arena_printf(A_UNIT, "fn%s", parse_source(g, l));
	diag_help(d, "a function value begins with `fn`: write `%s`", fix);
	diag_edit(d, parse_span(l.lo, next.span.hi), fix);
	return true;
}

static bool cpp_lambda(Gram *g, Expected e)
{
	const Token *p = g->prev;
	int i = p[0].kind == TOK_IDENT ? 1 : 0;
	if (p[i].kind != TOK_LPAREN || p[i + 1].kind != TOK_RBRACK
		|| (p[i + 2].kind != TOK_LBRACK && p[i + 2].kind != TOK_AMP)) return false;
	return expect_with(g, e, "a function value begins with `fn` and its names, as in `fn(a, b) a + b`");
}

/* r := v */
static bool walrus(Gram *g, Expected e)
{
	const Token *name = &g->prev[0];
	Token next;
	lex_peek(&g->lex, &next, 1);
	if (g->last.kind != TOK_COLON || next.kind != TOK_ASSIGN || !parse_adjacent(&g->last, &next)) return false;
	if (!is_name(name) || name->span.lo != g->stmt) return false;
	Diag *d = diag(D_SYNTAX, parse_span(g->last.span.lo, next.span.hi), expect_list(e), "`:=`");
	const char *fix = arena_printf(A_UNIT, "%s =", our_declaration(g, name->v.name.s, ""));
	return expect_write(d, parse_span(name->span.lo, next.span.hi), fix);
}

/* assert c, "text" */
static bool assert_statement(Gram *g, Expected e)
{
	const Token *word = &g->prev[0];
	if (word->span.lo != g->stmt || !is_name(word) || strcmp(word->v.name.s, "assert")) return false;
	Diag *d = expect_say(g, e);
	Ahead a = ahead_from(g);
	uint32_t lo = a.t.span.lo;
	if (!ahead_to(&a, TOK_SEMI) || a.t.span.lo == lo) {
		diag_help(d, "it is a call, as in `assert(c, \"text\")`");
		return true;
	}
	const char *fix = arena_printf(A_UNIT, "(%s)", ahead_text(&a, lo));
	diag_help(d, "it is a call: write `assert%s`", fix);
	diag_edit(d, parse_span(word->span.hi, a.t.span.lo), fix);
	return true;
}

/* for i: i32 in 0 .. 4 */
static bool typed_counter(Gram *g, Expected e)
{
	if (g->last.kind != TOK_COLON || g->prev[1].kind != TOK_FOR || !expects(e, "in")) return false;
	Ahead a = ahead_from(g);
	Diag *d = expect_say(g, e);
	if (ahead_step(&a)->kind == TOK_IDENT && ahead_step(&a)->kind == TOK_IN) {
		diag_help(d, "a counter has the type of its bounds: leave the type out");
		diag_edit(d, parse_span(g->last.span.lo, a.t.span.lo), " ");
	} else {
		diag_help(d, "a counter has the type of its bounds, and none is written");
	}
	return true;
}

/* for i in 0 .. 8 by 2 */
static bool step_word(Gram *g, Expected e)
{
	if (g->first != TOK_FOR || !is_name(&g->last) || strcmp(g->last.v.name.s, "by") || !expects(e, "step"))
		return false;
	Diag *d = expect_say(g, e);
	diag_help(d, "write `step`");
	diag_edit(d, g->last.span, "step");
	return true;
}

/* The bounds of `[a:b]`, literals or left out; false: others. */
static bool literal_bounds(const char *inside, long *lo, long *hi)
{
	char *end;
	*lo = strtol(inside, &end, 10);
	end += strspn(end, " ");
	if (*end++ != ':') return false;
	end += strspn(end, " ");
	if (*end < '0' || *end > '9') return false;
	*hi = strtol(end, &end, 10);
	return !end[strspn(end, " ")];
}

/* v[:128], x[i, 0:64] */
static bool part_by_colon(Gram *g, Expected e)
{
	Span open = g->open[g->nopen - 1].span;
	Ahead a = ahead_from(g);
	const char *of = parse_text(g, parse_span(parse_primary_start(g, open.lo), open.lo));
	while (a.t.kind == TOK_COLON) ahead_step(&a);
	long lo, hi;
	bool closed = ahead_to(&a, TOK_RBRACK) && *of;
	if (!*of) of = "x";
	if (closed && literal_bounds(ahead_text(&a, open.hi), &lo, &hi) && hi > lo && lo % (hi - lo) == 0)
		return expect_with(g, e, arena_printf(A_UNIT, "an index has no range; `extract(%s, [%ld], [%ld])` is that part "
			"of a tile, `%s.slice(0, %ld, %ld)` of a tensor", of, hi - lo, lo / (hi - lo), of, lo, hi));
	if (closed && ahead_step(&a)->kind == TOK_ASSIGN)
		return expect_with(g, e, arena_printf(A_UNIT, "an index has no range; `%s.store([i], x)` stores tile number i "
			"of a tensor", of));
	return expect_with(g, e, arena_printf(A_UNIT, "an index has no range; `%s.load([i], [N])` is tile number i of a "
		"tensor, `%s.slice(axis, lo, hi)` a view, and `extract(%s, shape, index)` a part of a tile", of, of, of));
}

/* x.load([a[1 : 2]]), x[..., 0] */
static bool python_index(Gram *g, Expected e)
{
	int k = g->last.kind;
	bool index = g->nopen && g->open[g->nopen - 1].kind == TOK_LBRACK;
	if (!index) return false;
	bool bound = g->prev[0].kind == TOK_COLON && (k == TOK_IDENT || k == TOK_INT || k == TOK_MINUS || k == TOK_LPAREN);
	if ((k == TOK_COLON || bound) && expects(e, "]")) return part_by_colon(g, e);
	if (k == TOK_DOTDOT && expects(e, "an integer"))
		return expect_with(g, e, "each axis that stays is a `:` of its own");
	if (k == TOK_FOR)
		return expect_with(g, e, "`iota([N], i32)` numbers the elements of a tile, and operations "
			"take all of them at once");
	return false;
}

/* f"{n} of {m}": "{} of {}", n, m; NULL where a place has more than a name. */
static const char *values_behind(const char *text)
{
	Out *o = out_new(), *values = out_new();
	while (*text) {
		out_printf(o, "%c", *text);
		if (*text++ != '{') continue;
		size_t n = strcspn(text, "}:!{\"");
		if (!n || text[n] != '}') return NULL;
		out_printf(values, ", %.*s", (int)n, text);
		text += n;
	}
	out_puts(o, values->p ? values->p : "");
	return o->p;
}

/* print(f"n = {n}") */
static bool format_string(Gram *g, Expected e)
{
	const char *fix = values_behind(parse_source(g, g->last.span));
	Diag *d = expect_say(g, e);
	diag_help(d, fix ? "values follow the text: write `%s`" : "values follow the text, as in `%s`", fix ? fix
		: "print(\"n = {}\", n)");
	if (fix) diag_edit(d, parse_span(g->prev[0].span.lo, g->last.span.hi), fix);
	return true;
}

/* atomicAdd(&s[0], x), f(&x) */
static bool address(Gram *g, Expected e)
{
	const Token *p = g->prev;
	Ahead a = ahead_from(g);
	bool atomic = p[0].kind == TOK_LPAREN && is_name(&p[1]) && !strncmp(p[1].v.name.s, "atomic", 6);
	if (!atomic || ahead_step(&a)->kind != TOK_IDENT)
		return expect_with(g, e, "there are no addresses: a tensor is passed by its name");
	const char *name = a.t.v.name.s;
	uint32_t open = ahead_step(&a)->span.lo;
	uint32_t end = a.t.kind == TOK_LBRACK ? ahead_close(&a).hi : 0;
	if (!end) return expect_with(g, e, "an element is named by its tensor and its index, as in `s, [0]`");
	const char *fix = arena_printf(A_UNIT, "%s, %s", name, parse_source(g, parse_span(open, end)));
	Diag *d = expect_say(g, e);
	diag_help(d, "an element is named by its tensor and its index: write `%s`", fix);
	diag_edit(d, parse_span(g->last.span.lo, end), fix);
	return true;
}

/* The text of the one expression of a block that begins at the current token, which goes on after it; NULL: it holds
 * something else. *end: the end of the block */
static const char *block_value(Ahead *a, uint32_t *end)
{
	if (a->t.kind != TOK_LBRACE) return NULL;
	uint32_t lo = ahead_step(a)->span.lo;
	if (a->t.kind == TOK_RBRACE || !ahead_to(a, TOK_RBRACE)) return NULL;
	const char *text = ahead_text(a, lo);
	*end = a->t.span.hi;
	ahead_step(a);
	return text;
}

/* let r = if c { v } else { w }; */
static bool rust_choice(Gram *g, Expected e)
{
	if (g->last.kind != TOK_IF || !expects(e, "an integer")) return false;
	Ahead a = ahead_from(g);
	uint32_t lo = ahead_step(&a)->span.lo, end = 0;
	const char *c = ahead_to(&a, TOK_LBRACE) || a.t.kind == TOK_LBRACE ? ahead_text(&a, lo) : NULL;
	const char *v = c ? block_value(&a, &end) : NULL;
	const char *w = v && a.t.kind == TOK_ELSE && ahead_step(&a) ? block_value(&a, &end) : NULL;
	if (!w)
		return expect_with(g, e, "an `if` has no value: `c ? v : w` chooses, or a `var` that its blocks assign");
	const char *fix = arena_printf(A_UNIT, "%s ? %s : %s", c, v, w);
	return expect_write(expect_say(g, e), parse_span(g->last.span.lo, end), fix);
}

/* a if c else b, tensor<f32> */
static bool python_expression(Gram *g, Expected e)
{
	const Token *p = g->prev;
	int k = g->last.kind;
	if (k == TOK_IF && expects(e, "?"))
		return expect_with(g, e, "a choice is `c ? a : b`; `select(c, a, b)` chooses by element");
	if (k == TOK_STRING && is_name(&p[0]) && p[0].v.name.s == str_intern("f") && parse_adjacent(&p[0], &g->last))
		return format_string(g, e);
	if (k == TOK_GT && p[1].kind == TOK_LT && p[2].kind == TOK_TENSOR)
		return expect_with(g, e, "its dimensions belong to its type, as in `tensor<f32, [n]>`");
	bool pointer = k == TOK_GT && p[0].kind == TOK_STAR && p[2].kind == TOK_LT && is_name(&p[3]);
	if (pointer && strstr(p[3].v.name.s, "_cast"))
		return expect_with(g, e, "memory is not read by a cast: a tile is loaded as a whole, and `element_bitcast` "
			"takes its bits for another type");
	if (k == TOK_COLON && (p[0].kind == TOK_TILE || p[0].kind == TOK_TENSOR || p[0].kind == TOK_PTR))
		return expect_with(g, e, "no argument has this name, which begins a type");
	if (k == TOK_PLUS && expects(e, "let"))
		return expect_with(g, e, "a statement begins with no `+`: is the `;` before it one too many?");
	if (k == TOK_AMP && expects(e, "an integer"))
		return address(g, e);
	return rust_choice(g, e) || lambda(g, e) || arrow_function(g, e) || cpp_lambda(g, e) || python_index(g, e);
}

/* ---- heads of items ---- */

/* `(`..`)` or `[`..`]` around what stands in other brackets here. */
static bool other_brackets(Gram *g, Expected e, const char *open, const char *close)
{
	Ahead a = ahead_from(g);
	Span to = ahead_close(&a);
	Diag *d = expect_say(g, e);
	diag_help(d, "write `%s` .. `%s`", open, close);
	if (to.hi) {
		diag_edit(d, g->last.span, open);
		diag_edit(d, to, close);
	}
	return true;
}

/* grid dim3(m, n), grid m */
static bool bare_grid(Gram *g, Expected e)
{
	Ahead a = ahead_from(g);
	uint32_t from = a.t.span.lo, inside = ahead_step(&a)->span.hi;
	if (a.t.kind != TOK_LPAREN) return expect_with(g, e, "the extents stand in one list, as in `grid [m, n]`");
	Span close = ahead_close(&a);
	Diag *d = expect_say(g, e);
	diag_help(d, "the extents stand in one list: write `[` .. `]`");
	if (close.hi && !strncmp(parse_source(g, parse_span(from, inside)), "dim3", 4)) {
		diag_edit(d, parse_span(from, inside), "[");
		diag_edit(d, close, "]");
	} else if (close.hi) {
		diag_edit(d, parse_span(from, from), "[");
		diag_edit(d, parse_span(close.hi, close.hi), "]");
	}
	return true;
}

/* grid (n), grid = [n], tensor[f32, [n]], tensor(f32, [n]), kernel k[T: float](..) */
static bool brackets_of_head(Gram *g, Expected e)
{
	int k = g->last.kind, p = g->prev[0].kind;
	if (k == TOK_LPAREN && p == TOK_GRID && expects(e, "[")) return other_brackets(g, e, "[", "]");
	bool type = p == TOK_TENSOR || p == TOK_TILE || p == TOK_PTR;
	bool item = p == TOK_IDENT && (g->prev[1].kind == TOK_KERNEL || g->prev[1].kind == TOK_FN);
	if (expects(e, "<") && ((k == TOK_LBRACK && (type || item)) || (k == TOK_LPAREN && type)))
		return other_brackets(g, e, "<", ">");
	if (is_name(&g->last) && p == TOK_GRID && expects(e, "[")) return bare_grid(g, e);
	if (k == TOK_LT && p == TOK_RPAREN && g->first == TOK_KERNEL && expects(e, "grid"))
		return expect_with(g, e, arena_printf(A_UNIT, "generic parameters follow the name, as in `kernel %s<T: float>"
			"(...)`", g->kernel.s));
	if (k == TOK_ASSIGN && p == TOK_GRID && expects(e, "[")) {
		Diag *d = expect_say(g, e);
		diag_help(d, "the extents follow at once: leave `=` out");
		diag_edit(d, parse_span(g->prev[0].span.hi, g->last.span.hi), "");
		return true;
	}
	return false;
}

/* instance k = k<BN=64>; kernel k<typename T>, kernel k<int N> */
static bool generics_of_head(Gram *g, Expected e)
{
	const Token *p = g->prev, *t = &g->last;
	bool instance = g->first == TOK_INSTANCE || g->first == TOK_TUNE;
	if (t->kind == TOK_ASSIGN && is_name(&p[0]) && instance && expects(e, ":")) {
		Diag *d = expect_say(g, e);
		diag_help(d, "write `:`");
		diag_edit(d, parse_span(p[0].span.hi, t->span.hi), ": ");
		return true;
	}
	if (t->kind == TOK_LT && is_name(&p[0]) && instance && expects(e, "="))
		return expect_with(g, e, "an instance has a name and a kernel, as in `instance copy_f16 = copy<f16>;`");
	bool begins = p[1].kind == TOK_LT || p[1].kind == TOK_COMMA;
	if (!is_name(t) || !is_name(&p[0]) || !begins || instance || !expects(e, ":") || expects(e, ")")) return false;
	const char *word = p[0].v.name.s, *type = foreign_word(FW_TYPE, word);
	bool alone = !strcmp(word, "typename") || !strcmp(word, "class");
	if (!alone && !type) return false;
	Diag *d = expect_say(g, e);
	bool number = type && (strstr(type, "32") || strstr(type, "64")) && *type != 'f';
	const char *class_ = number ? "int" : !strcmp(word, "bool") ? word : type;
	const char *fix = alone ? t->v.name.s : arena_printf(A_UNIT, "%s: %s", t->v.name.s, class_);
	return expect_write(d, parse_span(p[0].span.lo, t->span.hi), fix);
}

/* y: Out tensor<..>, y: mut tensor<..> */
static bool foreign_mode(Gram *g, Expected e)
{
	static const char *const rows[][2] = {
		{ "Out", "out" }, { "OUT", "out" }, { "output", "out" }, { "Output", "out" }, { "write", "out" },
		{ "writeonly", "out" }, { "result", "out" }, { "dst", "out" }, { "InOut", "inout" }, { "INOUT", "inout" },
		{ "mut", "inout" }, { "readwrite", "inout" }, { "rw", "inout" }, { "ref", "inout" }, { "volatile", "inout" },
		{ "In", "in" }, { "IN", "in" }, { "input", "in" }, { "Input", "in" }, { "read", "in" }, { "readonly", "in" },
	};
	const Token *word = &g->prev[0];
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i][0], word->v.name.s)) return expect_write(expect_say(g, e), word->span, rows[i][1]);
	return expect_with(g, e, "memory that is written is `out`, that is read and written `inout`, that is read only has "
		"no mode");
}

/* x: tensor<..> out, x: &mut tensor<..>, f(x) */
static bool parameter_of_head(Gram *g, Expected e)
{
	const Token *p = g->prev, *t = &g->last;
	Token next[2];
	lex_peek(&g->lex, next, 2);
	bool after_type = p[0].kind == TOK_GT || p[0].kind == TOK_GT_GT;
	if ((t->kind == TOK_OUT || t->kind == TOK_INOUT) && after_type && expects(e, ")")) {
		const Src *s = g->lex.src;
		uint32_t at = t->span.lo;
		while (at > s->base && strncmp(s->text + (at - s->base), "tensor", 6) != 0) at--;
		Diag *d = expect_say(g, e);
		diag_help(d, "the mode stands before the type");
		diag_edit(d, parse_span(at, at), arena_printf(A_UNIT, "%s ", token_text(t->kind)));
		diag_edit(d, parse_span(p[0].span.hi, t->span.hi), "");
		return true;
	}
	if (t->kind == TOK_TENSOR && is_name(&p[0]) && p[1].kind == TOK_COLON) return foreign_mode(g, e);
	if (t->kind == TOK_AMP && p[0].kind == TOK_COLON && expects(e, "tensor") && !habit_reference(g)) {
		Diag *d = expect_say(g, e);
		bool mut = is_name(&next[0]) && !strcmp(next[0].v.name.s, "mut");
		diag_help(d, mut ? "memory that is read and written is `inout`" : "memory that is read only has no mode");
		diag_edit(d, parse_span(t->span.lo, mut ? next[0].span.hi : next[0].span.lo), mut ? "inout" : "");
		return true;
	}
	if (t->kind == TOK_FN && p[0].kind == TOK_COLON)
		return expect_with(g, e, "a parameter is no function: functions are called by their names, and what differs "
			"between calls is a generic parameter, as in `RELU: bool`");
	if (is_name(t) && next[0].kind == TOK_COLON && after_type && expects(e, ")") && expects(e, ",")) {
		Diag *d = expect_say(g, e);
		diag_help(d, "write `,` before it");
		diag_edit(d, parse_span(p[0].span.hi, p[0].span.hi), ",");
		return true;
	}
	if ((t->kind == TOK_RPAREN || t->kind == TOK_COMMA) && is_name(&p[0]) && expects(e, ":") && !expects(e, ")"))
		return expect_with(g, e, "a parameter has a type, as in `a: f32`, and a function may be generic, as "
			"in `x: tile<T, [N]>`");
	return false;
}

/* What cannot stand in the header of an item. */
static bool in_header(Gram *g, Expected e)
{
	const Token *t = &g->last, *p = g->prev;
	if (t->kind == TOK_LT && p[1].kind == TOK_ENTRY)
		return expect_with(g, e, "an entry is a C function, with one type for each parameter; kernels and "
			"functions are generic");
	if (t->kind == TOK_DOT && p[1].kind == TOK_AT && g->first == TOK_AT)
		return expect_with(g, e, "a kernel needs no decorator: it begins with `kernel`, a function with `fn`");
	if (t->kind == TOK_GRID && p[1].kind == TOK_KERNEL)
		return expect_with(g, e, "the parameters follow the kernel's name, before `grid`");
	if (t->kind != TOK_SEMI || !expects(e, "{") || !expects(e, "where")) return false;
	Token next;
	lex_peek(&g->lex, &next, 1);
	if (next.kind != TOK_LBRACE) return expect_with(g, e, "a body follows, in `{ }`");
	Diag *d = expect_say(g, e);
	diag_help(d, "the body belongs to it: leave the `;` out");
	diag_edit(d, t->span, "");
	return true;
}

/* @autotune instance .. */
static bool attribute_of_none(Gram *g)
{
	const Token *t = &g->last;
	bool bare = t->kind == TOK_INSTANCE || t->kind == TOK_TUNE || t->kind == TOK_CONST || t->kind == TOK_IMPORT;
	if (!bare || g->first != TOK_AT) return false;
	Diag *d = diag(D_SYNTAX, parse_span(g->stmt, g->prev[0].span.hi), "a kernel or a function after the attribute",
		expect_found(g, t));
	diag_help(d, "an attribute stands before a kernel, a function or a statement");
	return true;
}

/* static inline __global__: goes after such words. *kernel: one of them says so; false: there are none. */
static bool qualifiers(Ahead *a, bool *kernel)
{
	static const char *const words[] = {
		"static", "constexpr", "inline", "__device__", "__global__", "__host__", "__forceinline__", "extern",
	};
	bool any = false;
	for (bool on = true; on; any |= on) {
		on = a->t.kind == TOK_CONST;
		for (size_t i = 0; i < sizeof words / sizeof *words; i++) on |= is_word(&a->t, words[i]);
		*kernel |= is_word(&a->t, "__global__");
		if (on) ahead_step(a);
	}
	return any;
}

/* __global__ void k(..), float f(float x) { .. }, constexpr int N = 1; */
static bool c_item(Gram *g, Expected e)
{
	const Token *t = &g->last;
	bool kernel = false;
	if (!expects(e, "kernel")) return false;
	if (attribute_of_none(g)) return true;
	if (!is_name(t)) return false;
	if (is_word(t, "__launch_bounds__"))
		return expect_with(g, e, "the compiler chooses the threads of a block; `@warps(8)` asks for so many warps");
	Ahead a = ahead_from(g);
	qualifiers(&a, &kernel);
	const char *type = !is_name(&a.t) ? NULL : is_word(&a.t, "void") ? "" : foreign_word(FW_TYPE, a.t.v.name.s);
	if (!type || ahead_step(&a)->kind != TOK_IDENT) return false;
	Str name = a.t.v.name.s;
	Span head = parse_span(t->span.lo, a.t.span.hi);
	int next = ahead_step(&a)->kind;
	if (next == TOK_ASSIGN && *type)
		return expect_write(expect_say(g, e), head, arena_printf(A_UNIT, "const %s: %s", name, type));
	if (kernel && !*type)
		return expect_write(diag(D_MISSPELT, t->span, t->v.name.s), head, arena_printf(A_UNIT, "kernel %s", name));
	if (next != TOK_LPAREN) return false;
	return expect_with(g, e, "a function begins with `fn`, and types follow names, as in `fn f(x: f32) "
		"-> f32 { return x; }`");
}

/* 2 ** x: the operands, where both are one term */
bool habit_power(Gram *g, Diag *d, Span op)
{
	if (!g->prev[0].span.hi) return false;          /* the file begins with it */
	Ahead a = ahead_from(g);
	a.lex.cur = a.lex.src->text + (op.hi - a.lex.src->base);
	ahead_step(&a);
	uint32_t lo = parse_primary_start(g, g->prev[0].span.hi), right = a.t.span.lo, hi = ahead_primary(&a);
	if (!hi || lo >= g->prev[0].span.hi || g->prev[0].kind == TOK_FLOAT) return false;
	const char *fix = arena_printf(A_UNIT, "pow(%s, %s)", parse_source(g, parse_span(lo, g->prev[0].span.hi)),
		parse_source(g, parse_span(right, hi)));
	return expect_write(d, parse_span(lo, hi), fix);
}

/* shared s: tile<..> = e; __shared__ float s[64]; */
static bool storage_word(Gram *g)
{
	static const char *const words[] = {
		"shared", "__shared__", "local", "__local", "register", "fragment", "global", "volatile", "mut",
	};
	bool is = false;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		is |= g->first == TOK_IDENT && !strcmp(g->first_name.s, words[i]);
	if (!is || !is_name(&g->last)) return false;
	Ahead a = ahead_from(g);
	Str name = a.t.v.name.s;
	int after = ahead_step(&a)->kind;
	Diag *d = diag(D_MISSPELT, g->first_name.span, g->first_name.s);
	if ((after == TOK_COLON || after == TOK_ASSIGN) && ahead_to(&a, TOK_ASSIGN)) {
		const char *ours = ahead_assigned(g, name) ? "var" : "let";
		diag_help(d, "a tile is a value, and the compiler places it: write `%s`", ours);
		diag_edit(d, g->first_name.span, ours);
	} else {
		diag_help(d, "it is left out: a tile is a value, which the compiler places, as in `var %s: tile<f32, [64]> = "
			"0;`", after == TOK_COLON || after == TOK_ASSIGN || after == TOK_SEMI ? name : "s");
	}
	return true;
}

/* break outer; */
static bool labelled_jump(Gram *g, Expected e)
{
	int k = g->prev[0].kind;
	if (!is_name(&g->last) || (k != TOK_BREAK && k != TOK_CONTINUE) || !expects(e, ";")) return false;
	return expect_with(g, e, "loops have no names: it is the innermost one that is meant, and a further one ends by a "
		"condition of its own");
}

/* where T: float */
static bool class_in_where(Gram *g, Expected e)
{
	const Token *p = g->prev;
	bool begins = p[1].kind == TOK_WHERE || p[1].kind == TOK_COMMA;
	if (g->last.kind != TOK_COLON || !is_name(&p[0]) || !begins) return false;
	if (!expects(e, "{") || (g->first != TOK_KERNEL && g->first != TOK_FN)) return false;
	Token word;
	lex_peek(&g->lex, &word, 1);
	return expect_with(g, e, arena_printf(A_UNIT, "the class of a generic parameter stands where it is declared, as in "
		"`<%s: %s>`", p[0].v.name.s, is_name(&word) ? word.v.name.s : "float"));
}

/* for i in 0:n { */
static bool range_by_colon(Gram *g, Expected e)
{
	if (g->last.kind != TOK_COLON || g->first != TOK_FOR || g->prev[1].kind == TOK_FOR) return false;
	Ahead a = ahead_from(g);
	uint32_t colon = g->last.span.hi;
	if (ahead_step(&a)->kind == TOK_LBRACE || !ahead_to(&a, TOK_LBRACE)) return false;
	if (parse_line_between(g, colon, a.t.span.lo)) return false;
	const char *fix = strstr(parse_source(g, parse_span(g->stmt, g->last.span.lo)), "..") ? " step " : " .. ";
	Diag *d = expect_say(g, e);
	diag_help(d, "a range is `a .. b` or `a .. b step c`: write `%s`", fix);
	diag_edit(d, g->last.span, fix);
	return true;
}

bool habit_statement(Gram *g, Expected e)
{
	return c_for(g) || storage_word(g) || labelled_jump(g, e) || class_in_where(g, e) || range_by_colon(g, e)
		|| foreign_statement(g) || import_name(g, e) || in_header(g, e) || c_item(g, e) ||
		walrus(g, e) || typed_counter(g, e) || step_word(g, e) ||
		brackets_of_head(g, e) || generics_of_head(g, e) || parameter_of_head(g, e);
}

bool habit_declaration(Gram *g, Expected e)
{
	return c_declaration(g) || habit_type(g, e) || c_parameter(g, e) || python_block(g, e);
}

/* var(x, 0), x.var(0): a word of the syntax that is a function elsewhere. */
bool habit_reserved(Gram *g, Expected e)
{
	Token next;
	const char *say = is_name(&g->last) ? NULL : foreign_word(FW_SAY, parse_text(g, g->last.span));
	if (!say) return false;
	lex_peek(&g->lex, &next, 1);
	return next.kind == TOK_LPAREN && expect_with(g, e, say);
}

bool habit_expression(Gram *g, Expected e)
{
	return cast(g) || assert_statement(g, e) || python_expression(g, e);
}

bool habit_generics(Gram *g) { return call_generics(g); }
bool habit_const_parameter(Gram *g, Expected e) { return c_const_parameter(g, e); }
