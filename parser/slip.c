/* Habits from other languages that are never right here: said once, mended, and the parser goes on as if they had been
 * written well. The first half mends rows of tokens, the second is called by productions of the grammar. */
#include "parser/parse_impl.h"
#include <string.h>
#include "ast/foreign.h"
#include "grammar/tile_tab.h"

/* ---- rows of tokens. g->prev[0] stands before t, the lexer after it. ---- */

static bool is_operand_end(int k)
{
	return k == TOK_IDENT || k == TOK_INT || k == TOK_FLOAT || k == TOK_RPAREN || k == TOK_RBRACK;
}

static bool is_operand_start(int k)
{
	return k == TOK_IDENT || k == TOK_INT || k == TOK_FLOAT || k == TOK_LPAREN || k == TOK_MINUS || k == TOK_BANG;
}

static bool is_word(const Token *t, const char *text)
{
	return t->kind == TOK_IDENT && !strcmp(t->v.name.s, text);
}

static void drop_next(Gram *g)
{
	Token t;
	lex_token(&g->lex, &t);
}

/* 64 x 64 x 8: returns where it ends and its text as a list. */
static uint32_t shape_chain(const Gram *g, const Token *x, Out *list)
{
	Lex l = g->lex;
	Token t = *x;
	uint32_t end = x->span.lo;
	l.quiet = true;
	out_puts(list, parse_source(g, g->prev[0].span));
	while (is_word(&t, "x")) {
		lex_token(&l, &t);
		if (t.kind != TOK_INT && t.kind != TOK_IDENT) break;
		out_printf(list, ", %s", parse_source(g, t.span));
		end = t.span.hi;
		lex_token(&l, &t);
	}
	return end;
}

static bool mend_shape(Gram *g, Token *t, const Token *next)
{
	const Token *before = &g->prev[0];
	if (!is_word(t, "x") || (before->kind != TOK_INT && before->kind != TOK_IDENT)) return false;
	if (next->kind != TOK_INT && next->kind != TOK_IDENT) return false;
	if (t->span.lo >= g->shape_end) {
		Out *list = out_new();
		g->shape_end = shape_chain(g, t, list);
		bool inside = g->nopen && g->open[g->nopen - 1].kind == TOK_LBRACK;
		Span all = parse_span(before->span.lo, g->shape_end);
		Diag *d = diag(D_SHAPE_X, all, parse_text(g, all));
		diag_help(d, inside ? "write `%s`" : "write `[%s]`", list->p);
		diag_edit(d, all, inside ? list->p : arena_printf(A_UNIT, "[%s]", list->p));
	}
	*t = (Token){ .kind = TOK_COMMA, .span = t->span };
	return true;
}

/* i++ and ++i; false: t is dropped as well. */
static bool mend_increment(Gram *g, Token *t, bool *keep)
{
	Token n[3];
	lex_peek(&g->lex, n, 3);
	int k = n[1].kind;
	bool post = k == TOK_SEMI || k == TOK_RPAREN || k == TOK_LBRACE || k == TOK_RBRACK || k == TOK_COMMA || k == TOK_LT
		|| k == TOK_GT || k == TOK_LE || k == TOK_EQ || k == TOK_NE;
	bool pre = g->begins && n[1].kind == TOK_IDENT;
	if (n[0].kind != t->kind || !parse_adjacent(t, &n[0])) return false;
	if (!pre && !(post && is_operand_end(g->prev[0].kind))) return false;
	Span at = parse_span(t->span.lo, n[0].span.hi);
	const char *op = t->kind == TOK_PLUS ? "++" : "--", *inst = t->kind == TOK_PLUS ? "+= 1" : "-= 1";
	Diag *d = diag(D_NO_INCREMENT, at, op);
	if (pre && n[2].kind == TOK_SEMI) {
		diag_help(d, "write `%s %s`", parse_text(g, n[1].span), inst);
		diag_edit(d, parse_span(at.lo, n[1].span.hi), arena_printf(A_UNIT, "%s %s", parse_text(g, n[1].span), inst));
	} else if (!pre && g->plain) {
		diag_help(d, "write `%s %s`", parse_text(g, parse_span(g->stmt, at.lo)), inst);
		diag_edit(d, at, arena_printf(A_UNIT, " %s", inst));
	} else {
		diag_help(d, "a variable grows by a statement of its own, as in `i %s;`", inst);
	}
	drop_next(g);
	*keep = false;
	return true;
}

/* Two tokens without a blank that are one operator elsewhere. */
typedef struct Pair { int a, b, into; const char *text, *help; } Pair;
static const Pair pairs[] = {
	{ TOK_ANDAND, TOK_ASSIGN, TOK_AMP_ASSIGN, "&&=", "it is `a = a && b`" },
	{ TOK_OROR, TOK_ASSIGN, TOK_BAR_ASSIGN, "||=", "it is `a = a || b`" },
	{ TOK_STAR, TOK_STAR, TOK_STAR, "**", "a power is `pow(x, y)`" },
	{ TOK_EQ, TOK_ASSIGN, TOK_EQ, "===", "write `==`" },
	{ TOK_NE, TOK_ASSIGN, TOK_NE, "!==", "write `!=`" },
	{ TOK_DOTDOT, TOK_ASSIGN, TOK_DOTDOT, "..=", "the end of a range does not belong to it, as in `a .. b + 1`" },
	{ TOK_DOTDOT, TOK_LT, TOK_DOTDOT, "..<", "the end of a range does not belong to it: write `..`" },
	{ TOK_DOTDOT, TOK_DOT, TOK_DOTDOT, "...", "the end of a range does not belong to it: write `..`" },
	{ TOK_LT, TOK_GT, TOK_NE, "<>", "write `!=`" },
	{ TOK_COLON, TOK_ASSIGN, TOK_ASSIGN, ":=", "write `=`" },
	{ TOK_COLON, TOK_COLON, TOK_DOT, "::", "a name of an import is `nn.name`: write `.`" },
};

/* std::exp */
static bool module_prefix(const Gram *g, Diag *d, Span at)
{
	const Token *name = &g->prev[0];
	if (name->kind != TOK_IDENT || !foreign_word(FW_PREFIX, name->v.name.s)) return false;
	diag_help(d, "operations have no prefix: leave `%s::` out", name->v.name.s);
	diag_edit(d, parse_span(name->span.lo, at.hi), "");
	return true;
}

/* Two tokens further on an operand begins, and one ends here. */
static bool between_operands(const Gram *g)
{
	Ahead a = ahead_from(g);
	ahead_step(&a);
	int k = ahead_step(&a)->kind;
	return is_operand_end(g->prev[0].kind) && (k == TOK_IDENT || k == TOK_INT || k == TOK_FLOAT || k == TOK_MINUS);
}

/* x >>> n; an operand follows, as it never does where three lists of generic arguments end. */
static bool mend_triple(Gram *g, const Token *t)
{
	Token n[3];
	lex_peek(&g->lex, n, 3);
	bool three = n[0].kind == TOK_GT_GT && n[1].kind == TOK_GT;
	three = three && parse_adjacent(t, &n[0]) && parse_adjacent(&n[0], &n[1]);
	bool operand = n[2].kind == TOK_IDENT || n[2].kind == TOK_INT;
	if (!three || !operand || !is_operand_end(g->prev[0].kind)) return false;
	Diag *d = diag(D_NO_OPERATOR, parse_span(t->span.lo, n[1].span.hi), ">>>");
	diag_help(d, "`>>` of an unsigned type brings in zeros; `element_bitcast(x, u32)` makes one of `i32`");
	drop_next(g);
	return true;
}

static bool mend_pair(Gram *g, Token *t, const Token *next)
{
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		const Pair *p = &pairs[i];
		if (p->a != t->kind || p->b != next->kind || !parse_adjacent(t, next)) continue;
		if (p->a == TOK_COLON && g->prev[0].kind != TOK_IDENT) continue;        /* x[::2] is no module's name */
		if (p->a == TOK_LT && !between_operands(g)) continue;                   /* k<>(x) */
		if (p->b == TOK_DOT && !between_operands(g)) continue;                  /* x[..., 0] */
		bool declared = g->prev[1].kind == TOK_LET || g->prev[1].kind == TOK_VAR;
		if (p->into == TOK_ASSIGN && !declared) continue;       /* r := x declares */
		Span at = parse_span(t->span.lo, next->span.hi);
		Diag *d = diag(D_NO_OPERATOR, at, p->text);
		if (!(p->a == TOK_STAR && habit_power(g, d, at)) && !(p->b == TOK_COLON && module_prefix(g, d, at))) {
			diag_help(d, "%s", p->help);
			bool same = p->into == TOK_EQ || p->into == TOK_NE || p->into == TOK_DOT || p->b == TOK_LT
				|| p->b == TOK_DOT || p->into == TOK_ASSIGN;
			if (same) diag_edit(d, at, token_text(p->into));
		}
		drop_next(g);
		*t = (Token){ .kind = p->into, .span = at };
		return true;
	}
	return false;
}

/* Words that are operators elsewhere, between operands; those that could begin a statement are so on one line only. */
typedef struct WordOperator { const char *word; int into; bool one_line; } WordOperator;
static const WordOperator word_operators[] = {
	{ "and", TOK_ANDAND, false },
	{ "or", TOK_OROR, false },
	{ "xor", TOK_CARET, true },
	{ "mod", TOK_PERCENT, true },
	{ "div", TOK_SLASH, true },
	{ "is", TOK_EQ, true },
};

static bool mend_word_operator(Gram *g, Token *t, const Token *next)
{
	bool left = is_operand_end(g->prev[0].kind) && !(g->prev[0].kind == TOK_RPAREN && g->closed_header);
	bool not = !left && is_word(t, "not") && (next->kind == TOK_IDENT || next->kind == TOK_INT);
	int into = not ? TOK_BANG : 0;
	for (size_t i = 0; left && i < sizeof word_operators / sizeof *word_operators; i++) {
		const WordOperator *w = &word_operators[i];
		if (!is_word(t, w->word) || !is_operand_start(next->kind)) continue;
		if (!w->one_line || !parse_line_between(g, g->prev[0].span.hi, t->span.lo)) into = w->into;
	}
	if (!into) return false;
	Span at = t->span;
	if (into == TOK_EQ && is_word(next, "not")) {
		at.hi = next->span.hi;
		into = TOK_NE;
		drop_next(g);
	}
	Diag *d = diag(D_NO_OPERATOR, at, parse_text(g, at));
	diag_help(d, "write `%s`", token_text(into));
	diag_edit(d, not ? parse_span(at.lo, next->span.lo) : at, token_text(into));
	*t = (Token){ .kind = into, .span = at };
	return true;
}

/* if constexpr (c) */
static bool mend_constexpr(Gram *g, Token *t)
{
	if (g->prev[0].kind != TOK_IF || !is_word(t, "constexpr")) return false;
	Diag *d = diag(D_MISSPELT, t->span, t->v.name.s);
	diag_help(d, "write `const`");
	diag_edit(d, t->span, "const");
	*t = (Token){ .kind = TOK_CONST, .span = t->span };
	return true;
}

static bool mend_elif(Gram *g, Token *t, const Token *next)
{
	bool condition = next->kind == TOK_IDENT || next->kind == TOK_INT || next->kind == TOK_BANG;
	if (g->prev[0].kind != TOK_RBRACE || !condition || !(is_word(t, "elif") || is_word(t, "elseif"))) return false;
	Diag *d = diag(D_NO_ELIF, t->span, t->v.name.s);
	diag_help(d, "write `else if`");
	diag_edit(d, t->span, "else if");
	*t = (Token){ .kind = TOK_ELSE, .span = t->span };
	parse_push(g, TOK_IF, t->span);
	return true;
}

/* A doc comment before something that ends. */
static bool idle_doc(Gram *g, const Token *t, const Token *next)
{
	int k = next->kind;
	if (k != TOK_RBRACE && k != TOK_RPAREN && k != TOK_END && k != TOK_SEMI && k != TOK_ELSE) return false;
	Diag *d = diag0(D_DOC_PLACE, t->span);
	if (parse_line_between(g, t->span.lo, t->span.hi)) {
		diag_help(d, "a comment that documents nothing begins with `//`");
	} else {
		diag_help(d, "write `//`");
		diag_edit(d, parse_span(t->span.lo, t->span.lo + 3), "//");
	}
	return true;
}

/* store(y, index=i, tile=v): in a call the word can only be a name, and the checker says which arguments there are. */
static void mend_argument_name(const Gram *g, Token *t)
{
	Token next;
	bool call = g->nopen > 1 && g->open[g->nopen - 1].kind == TOK_LPAREN && g->open[0].block;
	if (!call || (g->prev[0].kind != TOK_LPAREN && g->prev[0].kind != TOK_COMMA)) return;
	lex_peek(&g->lex, &next, 1);
	if (next.kind != TOK_ASSIGN && next.kind != TOK_COLON) return;
	Str word = str_intern(parse_text(g, t->span));
	*t = (Token){ .kind = TOK_IDENT, .span = t->span, .v.name = { word, t->span } };
}

bool slip_mend(Gram *g, Token *t)
{
	Token next;
	bool keep = true;
	switch (t->kind) {
	case TOK_PLUS: case TOK_MINUS:
		mend_increment(g, t, &keep);
		return keep;
	case TOK_TILE:
		mend_argument_name(g, t);
		return true;
	case TOK_GT_GT:
		mend_triple(g, t);
		return true;
	case TOK_IDENT: case TOK_ANDAND: case TOK_OROR: case TOK_STAR: case TOK_EQ: case TOK_NE: case TOK_COLON:
	case TOK_LT:
	case TOK_DOC:
	case TOK_DOTDOT:
		break;
	default:
		return true;
	}
	if (t->kind == TOK_IDENT && (g->prev[0].kind == TOK_AT || g->prev[1].kind == TOK_AT)) return true;      /* @and x */
	if (t->kind == TOK_IDENT && mend_constexpr(g, t)) return true;
	if (t->kind == TOK_IDENT && (t->span.hi - t->span.lo > 6 || !strchr("xaonemdi", t->v.name.s[0]))) return true;
	lex_peek(&g->lex, &next, 1);
	if (t->kind == TOK_DOC) return !idle_doc(g, t, &next);
	if (t->kind != TOK_IDENT) mend_pair(g, t, &next);
	else if (!mend_shape(g, t, &next) && !mend_word_operator(g, t, &next)) mend_elif(g, t, &next);
	return true;
}

/* ---- productions ---- */

Expr *slip_condition(Gram *g, Expr *l, Span at, Expr *r)
{
	(void)g;
	Diag *d = diag0(D_ASSIGN_IN_CONDITION, at);
	diag_help(d, "compare with `==`");
	diag_edit(d, at, "==");
	return ex_binary(BIN_EQ, at, l, r);
}

Arg slip_argument(Gram *g, Expr *l, Span at, Expr *r)
{
	if (l->kind != EX_NAME) {
		Diag *d = diag0(D_ASSIGN_IN_ARGUMENT, at);
		diag_help(d, "`==` compares, and an assignment is a statement of its own");
		return (Arg){ { 0 }, r };
	}
	Span all = parse_span(l->span.lo, r->span.lo);
	const char *fix = arena_printf(A_UNIT, "%s: ", l->u.name);
	uint32_t call = g->nopen ? g->open[g->nopen - 1].span.lo : 0;
	if (g->assigned_in == call && call) {
		diag_edit(g->assigned, all, fix);       /* all arguments of one call are one mistake */
		return (Arg){ { l->u.name, l->span }, r };
	}
	g->before_assigned = diag_mark();
	Diag *d = diag0(D_ASSIGN_IN_ARGUMENT, at);
	diag_help(d, "an argument is named by `:`: write `%s: %s`", l->u.name, parse_text(g, r->span));
	diag_edit(d, all, fix);
	g->assigned = d;
	g->assigned_in = call;
	return (Arg){ { l->u.name, l->span }, r };
}

void slip_semicolon(Gram *g, Span at)
{
	(void)g;
	Diag *d = diag0(D_STRAY_SEMICOLON, at);
	diag_help(d, "delete it");
	diag_edit(d, at, "");
}

/* The header goes on; a `grid` after `where` is another mistake, reported where it stands. */
static bool grid_follows(const Gram *g)
{
	Lex l = g->lex;
	Token t = g->last;
	l.quiet = true;
	for (int i = 0; i < 500 && t.kind != TOK_LBRACE && t.kind != TOK_END && t.kind != TOK_KERNEL; i++) {
		lex_token(&l, &t);
		if (t.kind == TOK_GRID) return true;
	}
	return false;
}

ExprVec slip_no_grid(Gram *g)
{
	Name kernel = g->kernel;
	ExprVec none = { 0 };
	if (grid_follows(g)) return none;
	Diag *d = diag(D_NO_GRID, kernel.span, kernel.s);
	diag_help(d,
		"after the parameters, say how many tile blocks there are along each axis, as in `grid [cdiv(n, BN)]`");
	vec_push(A_UNIT, &none, ex_new(EX_ERROR, kernel.span));
	return none;
}

Expr *slip_result(Gram *g, Span at, Expr *type)
{
	(void)g;
	Diag *d = diag0(D_RESULT_ARROW, at);
	diag_help(d, "write ` ->`");
	diag_edit(d, at, " ->");
	return type;
}

/* let x; */
Expr *slip_no_value(Gram *g, Expr *pat)
{
	Diag *d = diag(D_NO_INITIAL, pat->span, parse_text(g, pat->span));
	const char *type = parse_source(g, parse_span(pat->span.hi, g->last.span.lo));
	if (strstr(type, "tensor"))
		diag_help(d, "memory of an entry is declared by `scratch %s%s;`", parse_text(g, pat->span), type);
	else if (g->last.kind == TOK_COMMA) diag_help(d, "each has a value; a tuple is taken apart by `let (a, b) = ...`");
	else diag_help(d, "it begins with a value, as in `= 0`, or is declared where its value is known");
	return ex_new(EX_ERROR, pat->span);
}

/* range(n), tl.range(0, n), T.serial(n) .. : a call that counts, whatever it adds by name. */
static bool counts(const Expr *e)
{
	static const char *const words[] = {
		"range", "xrange", "arange", "serial", "Serial", "Pipelined", "pipelined", "prange",
	};
	const Expr *f = e->kind == EX_CALL ? e->u.call.callee : NULL;
	Str name = !f ? NULL : f->kind == EX_NAME ? f->u.name : f->kind == EX_MEMBER ? f->u.mem.name.s : NULL;
	for (size_t i = 0; name && i < sizeof words / sizeof *words; i++)
		if (!strcmp(name, words[i])) return true;
	return false;
}

/* for i in e { */
Expr *slip_range(Gram *g, Expr *e)
{
	const char *part[3] = { NULL };
	int n = 0;
	bool call = counts(e), unrolled = e->kind == EX_CALL && e->u.call.callee->kind == EX_MEMBER
		&& !strcmp(e->u.call.callee->u.mem.name.s, "static_range");
	if (call && g->assigned && g->assigned_in > e->span.lo && g->assigned_in < e->span.hi
		&& g->assigned == diag_latest()) diag_rollback(g->before_assigned);     /* the whole call is the mistake */
	Diag *d = diag0(D_NO_RANGE, e->span);
	for (int i = 0; call && i < e->u.call.args.n; i++) {
		const Arg *a = &e->u.call.args.p[i];
		if (a->name.s) continue;
		if (n < 3) part[n] = parse_source(g, a->value->span);
		n++;
	}
	if (n >= 1 && n <= 3) {
		const char *fix = n == 1 ? arena_printf(A_UNIT, "0 .. %s", part[0]) :
			arena_printf(A_UNIT, "%s .. %s%s%s", part[0], part[1], n == 3 ? " step " : "", n == 3 ? part[2] : "");
		expect_write(d, e->span, fix);
	} else if (e->kind == EX_INT) {
		diag_help(d, "write `0 .. %s`", parse_source(g, e->span));
		diag_edit(d, parse_span(e->span.lo, e->span.lo), "0 .. ");
	} else if (unrolled) {
		diag_help(d, "%s", foreign_word(FW_SAY, "static_range"));
	} else {
		diag_help(d, "a loop runs over a range, as in `for i in 0 .. n`; elements of tiles are computed all at once");
	}
	return ex_new(EX_ERROR, e->span);
}
