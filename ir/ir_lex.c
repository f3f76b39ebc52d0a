/* The scanner of the IR's text form. Places are bytes; comments run from // to the end of the line. */
#include "ir/ir_lex.h"

#include <ctype.h>
#include <string.h>

#include "base/vec.h"

Span lex_span(const Lex *l)
{
	return (Span){ l->src->base + l->lo, l->src->base + l->pos };
}

Diag *lex_fail(Lex *l, DiagCode code, Span at, const char *const *args, int nargs)
{
	Diag *d = l->failed ? NULL : diag_at(code, at, args, nargs);
	l->failed = true;
	l->tok = T_END;
	l->lo = l->pos = l->src->len;
	return d;
}

Diag *lex_expected(Lex *l, const char *what)
{
	if (l->tok == T_END) return lex_error(l, D_IR_SYNTAX, lex_span(l), what, "the end of the file");
	uint32_t n = l->pos - l->lo;
	Str shown = str_fmt("`%.*s%s`", n > 40 ? 40 : (int)n, l->src->text + l->lo, n > 40 ? "..." : "");
	return lex_error(l, D_IR_SYNTAX, lex_span(l), what, shown);
}

bool lex_is(const Lex *l, const char *word)
{
	return l->tok == T_NAME && strcmp(l->text, word) == 0;
}

bool lex_accept(Lex *l, int tok)
{
	if (l->tok != tok) return false;
	lex_next(l);
	return true;
}

bool lex_accept_word(Lex *l, const char *word)
{
	if (!lex_is(l, word)) return false;
	lex_next(l);
	return true;
}

bool lex_need(Lex *l, int tok, const char *what)
{
	if (lex_accept(l, tok)) return true;
	lex_expected(l, what);
	return false;
}

Str lex_name(Lex *l, const char *what)
{
	Str s = l->text;
	if (l->tok != T_NAME && l->tok != T_STRING) {
		lex_expected(l, what);
		return NULL;
	}
	lex_next(l);
	return s;
}

int64_t lex_int(Lex *l, const char *what)
{
	bool neg = lex_accept(l, '-');
	uint64_t v = 0;
	if (l->tok != T_NUMBER) {
		lex_expected(l, what);
		return 0;
	}
	for (const char *s = l->text; *s; s++) {
		unsigned digit = (unsigned)(unsigned char)*s - '0';
		if (digit > 9) {
			lex_expected(l, what);
			return 0;
		}
		if (v > (UINT64_C(1) << 63) / 10 || v * 10 + digit > (uint64_t)INT64_MAX + neg) {
			lex_error(l, D_IR_NUMBER, lex_span(l), l->text, "i64");
			return 0;
		}
		v = v * 10 + digit;
	}
	lex_next(l);
	return neg ? -(int64_t)(v - (v != 0)) - (v != 0) : (int64_t)v;
}

/* ---- scanning ---- */
static void skip_blank(Lex *l)
{
	const char *s = l->src->text;
	for (;; l->pos++) {
		if (s[l->pos] == '/' && s[l->pos + 1] == '/')
			while (l->pos < l->src->len && s[l->pos] != '\n') l->pos++;
		if (s[l->pos] == '\n') l->nl = true;
		else if (s[l->pos] != ' ' && s[l->pos] != '\t' && s[l->pos] != '\r') return;
		if (l->pos >= l->src->len) return;
	}
}

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static Str scan_word(Lex *l)
{
	uint32_t lo = l->pos;
	while (word_char(l->src->text[l->pos])) l->pos++;
	return str_intern_n(l->src->text + lo, l->pos - lo);
}

/* Digits, letters and points, and a sign after the letter of an exponent: 12, 0.5, 1e-7, 0x1.8p-3. */
static Str scan_number(Lex *l)
{
	const char *s = l->src->text;
	uint32_t lo = l->pos;
	bool hex = s[lo] == '0' && (s[lo + 1] == 'x' || s[lo + 1] == 'X');
	for (; word_char(s[l->pos]) || s[l->pos] == '.'; l->pos++) {
		char c = (char)tolower((unsigned char)s[l->pos]);
		if (c == (hex ? 'p' : 'e') && (s[l->pos + 1] == '-' || s[l->pos + 1] == '+')) l->pos++;
	}
	return str_intern_n(s + lo, l->pos - lo);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9') return c - '0';
	if (c >= 'a' && c <= 'f') return c - 'a' + 10;
	return -1;
}

/* The byte that an escape stands for, -1: none. pos is on the backslash and ends on the last character. */
static int scan_escape(Lex *l)
{
	const char *s = l->src->text + ++l->pos;
	switch (*s) {
	case 'n': return '\n';
	case 't': return '\t';
	case '"': case '\\': return *s;
	case 'x':
		if (hex_digit(s[1]) < 0 || hex_digit(s[2]) < 0) return -1;
		l->pos += 2;
		return hex_digit(s[1]) * 16 + hex_digit(s[2]);
	default: return -1;
	}
}

static Str scan_string(Lex *l)
{
	const char *s = l->src->text;
	VEC(char) v = { 0 };
	for (l->pos++; s[l->pos] != '"'; l->pos++) {
		int c = (unsigned char)s[l->pos];
		if (c == '\\') c = scan_escape(l);
		if (c <= 0 || s[l->pos] == '\n') {
			if (l->pos > l->src->len) l->pos = l->src->len;
			lex_error(l, D_IR_SYNTAX, lex_span(l), "the end of the string", "something else");
			return NULL;
		}
		vec_push(A_UNIT, &v, (char)c);
	}
	l->pos++;
	return str_intern_n(v.p ? v.p : "", (size_t)v.n);
}

static int64_t scan_id(Lex *l)
{
	int64_t id = 0;
	for (; isdigit((unsigned char)l->src->text[l->pos]); l->pos++)
		if (id < INT32_MAX) id = id * 10 + (l->src->text[l->pos] - '0');
	return id;
}

/* After the per cent sign: a name, quoted or not, then a point and a number; or the number alone. */
static int scan_value(Lex *l)
{
	const char *s = l->src->text;
	l->text = NULL;
	l->id = -1;
	if (isdigit((unsigned char)s[l->pos])) {
		l->id = scan_id(l);
		return T_VALUE;
	}
	l->text = s[l->pos] == '"' ? scan_string(l) : scan_word(l);
	if (s[l->pos] == '.' && isdigit((unsigned char)s[l->pos + 1])) {
		l->pos++;
		l->id = scan_id(l);
	}
	return T_VALUE;
}

static int scan_sign(Lex *l)
{
	static const struct { char text[3]; int tok; } two[] = {
		{ "==", T_EQ }, { "!=", T_NE }, { "<=", T_LE }, { ">=", T_GE }, { "&&", T_AND }, { "||", T_OR }
	};
	const char *s = l->src->text + l->pos;
	for (size_t i = 0; i < sizeof two / sizeof *two; i++)
		if (strncmp(s, two[i].text, 2) == 0) {
			l->pos += 2;
			return two[i].tok;
		}
	l->pos++;
	if (*s && strchr("{}()[]<>,:=+-*/%!?@#.", *s)) return *s;
	lex_expected(l, "a token");
	return T_END;
}

void lex_next(Lex *l)
{
	const char *s = l->src->text;
	l->nl = l->pos == 0;
	l->last = l->pos;
	if (l->failed) return;
	skip_blank(l);
	l->lo = l->pos;
	if (l->pos >= l->src->len) {
		l->tok = T_END;
		return;
	}
	char c = s[l->pos];
	if (isalpha((unsigned char)c) || c == '_') {
		l->tok = T_NAME;
		l->text = scan_word(l);
	} else if (isdigit((unsigned char)c)) {
		l->tok = T_NUMBER;
		l->text = scan_number(l);
	} else if (c == '"') {
		l->tok = T_STRING;
		l->text = scan_string(l);
	} else if (c == '%' && (word_char(s[l->pos + 1]) || s[l->pos + 1] == '"')) {
		l->pos++;
		l->tok = scan_value(l);
	} else {
		l->tok = T_NAME;        /* in case scan_sign reports: lex_expected looks at the token */
		l->tok = scan_sign(l);
	}
	if (l->failed) l->tok = T_END;
}
