/* The scanner's texts become tokens here: words are told from names by the %token list, literals get values. */
#include "lexer/lex_impl.h"
#include <string.h>

/* ---- the token list ---- */

const TokenRow token_rows[] = {
#define TOKEN(id, text, cls) { TOK_##id, text, TC_##cls },
#include "grammar/tokens.inc"
#undef TOKEN
};
const int token_count = (int)(sizeof token_rows / sizeof token_rows[0]);

const char *token_text(int kind)
{
	for (int i = 0; i < token_count; i++)
		if (token_rows[i].kind == kind) return token_rows[i].text;
	return "?";
}

/* Words by first letter: a short list per letter, compared by pointer. */
enum { PER_LETTER = 8 };
typedef struct Word { Str s; int kind; } Word;
static Word words[26][PER_LETTER];

static void words_init(void)
{
	for (int i = 0; i < token_count; i++) {
		const TokenRow *r = &token_rows[i];
		if (r->cls != TC_RESERVED && r->cls != TC_CONTEXTUAL) continue;
		int k = 0;
		while (k < PER_LETTER && words[r->text[0] - 'a'][k].s) k++;
		if (k == PER_LETTER) bug("more than %d words begin with %c", PER_LETTER, r->text[0]);
		words[r->text[0] - 'a'][k] = (Word){ str_intern(r->text), r->kind };
	}
}

static int word_kind(Str s)
{
	if (s[0] < 'a' || s[0] > 'z') return TOK_IDENT;
	const Word *w = words[s[0] - 'a'];
	for (int k = 0; k < PER_LETTER && w[k].s; k++)
		if (w[k].s == s) return w[k].kind;
	return TOK_IDENT;
}

/* ---- reports ---- */

Span lex_place(const Lex *l, const char *lo, const char *hi)
{
	return (Span){ l->src->base + (uint32_t)(lo - l->src->text), l->src->base + (uint32_t)(hi - l->src->text) };
}

Diag *lex_report(Lex *l, DiagCode code, const char *lo, const char *hi, const char *a, const char *b)
{
	if (l->quiet) return NULL;
	l->error = lex_place(l, lo, hi).lo;
	return diag_at(code, lex_place(l, lo, hi), (const char *const[]){ a, b }, b ? 2 : a ? 1 : 0);
}

const char *lex_quote(const char *lo, const char *hi)
{
	enum { MAX = 40 };
	size_t n = (size_t)(hi - lo), keep = n > MAX ? MAX : n;
	while (keep < n && keep && ((unsigned char)lo[keep] & 0xC0) == 0x80) keep--;
	char *s = arena_printf(A_UNIT, "%.*s%s", (int)keep, lo, keep < n ? "..." : "");
	for (char *p = s; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7F || *p == '`') *p = '.';
	return s;
}

/* ---- tokens ---- */

void lex_begin(Lex *l, Src *src)
{
	if (!words['f' - 'a'][0].s) words_init();
	*l = (Lex){ .src = src, .cur = src->text, .end = src->text + src->len };
	if (src->len >= 3 && !memcmp(src->text, "\xEF\xBB\xBF", 3)) l->cur += 3;
	lex_check_bytes(l);
}

/* Without the slashes, one blank before and all blanks after. */
static void doc_line(const char *lo, const char *hi, const char **from, int *n)
{
	lo += 3;
	if (lo < hi && *lo == ' ') lo++;
	while (hi > lo && (hi[-1] == ' ' || hi[-1] == '\t' || hi[-1] == '\r')) hi--;
	*from = lo;
	*n = (int)(hi - lo);
}

/* Doc lines that follow each other are one token. */
static void doc_token(Lex *l, const char *lo, Token *t)
{
	Out *o = out_new();
	const char *hi = l->cur, *from, *next = lo;
	int n, kind = TOK_DOC;
	for (bool first = true; kind == TOK_DOC; first = false) {
		doc_line(next, hi, &from, &n);
		if (!first) out_raw(o, "\n", 1);
		out_raw(o, from, (size_t)n);
		l->cur = hi;
		hi = scan_token(l->cur, l->end, &next, &kind);
	}
	t->kind = TOK_DOC;
	t->span = lex_place(l, lo, l->cur);
	t->v.str = out_take(o);
}

static void name_token(Lex *l, const char *lo, Token *t)
{
	if (l->cur < l->end && (unsigned char)*l->cur >= 0x80 && lex_foreign_name(l, lo, t)) return;
	Str s = str_intern_n(lo, (size_t)(l->cur - lo));
	t->span = lex_place(l, lo, l->cur);
	t->kind = word_kind(s);
	t->v.name = (Name){ s, t->span };
}

static void open_string(Lex *l, const char *lo, Token *t)
{
	const char *hi = l->cur;
	while (hi > lo + 1 && (hi[-1] == '\r' || hi[-1] == ' ')) hi--;
	bool at_nul = l->cur < l->end && !*l->cur;
	Diag *d = at_nul ? NULL : lex_report(l, D_OPEN_STRING, lo, hi, NULL, NULL);
	if (d) diag_help(d, "close it with `\"` on the same line; a line break is written `\\n`");
	t->kind = TOK_STRING;
	t->v.str = str_intern("");
}

/* The parser may have said so already. */
static void stray_close(Lex *l, const char *lo)
{
	if (l->error != lex_place(l, lo, lo).lo) lex_report(l, D_STRAY_COMMENT_END, lo, lo + 2, NULL, NULL);
}

/* The parts of the work that may give no token at all; then the caller scans on. */
static bool odd_token(Lex *l, const char *lo, int kind, Token *t)
{
	switch (kind) {
	case SCAN_OPEN_STRING: open_string(l, lo, t); return true;
	case SCAN_OPEN_COMMENT: lex_report(l, D_OPEN_COMMENT, lo, lo + 2, NULL, NULL); return false;
	case SCAN_STRAY_CLOSE: stray_close(l, lo); return false;
	case SCAN_BAD_NUMBER: t->kind = TOK_INT; t->v.lit = lex_bad_number(l, lo, l->cur); return true;
	case SCAN_BAD_POINT: t->kind = TOK_INT; t->v.lit = lex_bad_point(l, lo, l->cur); return true;
	default: return lex_stray(l, lo, t);
	}
}

void lex_token(Lex *l, Token *t)
{
	const char *lo;
	int kind;
	for (;;) {
		l->cur = scan_token(l->cur, l->end, &lo, &kind);
		if (kind >= 0) break;
		if (!odd_token(l, lo, kind, t)) continue;
		t->span = lex_place(l, lo, l->cur);
		return;
	}
	t->kind = kind;
	t->span = lex_place(l, lo, l->cur);
	if (kind == TOK_IDENT) name_token(l, lo, t);
	else if (kind == TOK_INT) t->v.lit = lex_integer(l, lo, l->cur);
	else if (kind == TOK_FLOAT) t->v.lit = lex_float(l, lo, l->cur);
	else if (kind == TOK_STRING) t->v.str = lex_string(l, lo + 1, l->cur - 1);
	else if (kind == TOK_DOC) doc_token(l, lo, t);
}

void lex_peek(const Lex *l, Token *t, int n)
{
	Lex copy = *l;
	copy.quiet = true;
	for (int i = 0; i < n; i++) lex_token(&copy, &t[i]);
}

/* ---- --emit=tokens ---- */

static const char *class_word(int kind)
{
	switch (kind) {
	case TOK_IDENT: return "name";
	case TOK_INT: return "integer";
	case TOK_FLOAT: return "float";
	case TOK_STRING: return "string";
	case TOK_DOC: return "doc";
	}
	for (int i = 0; i < token_count; i++)
		if (token_rows[i].kind == kind && token_rows[i].cls <= TC_CONTEXTUAL)
			return token_rows[i].cls == TC_RESERVED ? "word" : "contextual";
	return "mark";
}

/* LINE:COLUMN, class, text: the source text, for a doc comment its first line. */
void lex_dump(Out *o, Src *src)
{
	Lex l;
	Token t;
	for (lex_begin(&l, src), lex_token(&l, &t); t.kind != TOK_END && !diag_full(); lex_token(&l, &t)) {
		Place p = src_place(t.span.lo);
		const char *text = src->text + (t.span.lo - src->base);
		size_t n = t.span.hi - t.span.lo;
		const char *nl = memchr(text, '\n', n);
		out_printf(o, "%u:%u\t%s\t", (unsigned)p.line, (unsigned)p.col, class_word(t.kind));
		out_raw(o, text, nl ? (size_t)(nl - text) : n);
		out_raw(o, "\n", 1);
	}
}
