/* Strings, and bytes that belong to no token. */
#include "lexer/lex_impl.h"
#include <string.h>
#include "base/json.h"

/* ---- strings ---- */

static void put_utf8(Out *o, uint32_t c)
{
	char b[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const uint32_t lead[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
	for (size_t i = n; i-- > 1; c >>= 6) b[i] = (char)(0x80 | (c & 0x3F));
	b[0] = (char)(lead[n] | c);
	out_raw(o, b, n);
}

/* \u{hex}: returns the end, or NULL if it is malformed. */
static const char *code_point(const char *p, const char *hi, uint32_t *c)
{
	*c = 0;
	if (p >= hi || *p++ != '{') return NULL;
	const char *from = p;
	for (; p < hi && strchr("0123456789abcdefABCDEF", *p) && p - from < 6; p++)
		*c = *c * 16 + (uint32_t)(*p <= '9' ? *p - '0' : (*p | 0x20) - 'a' + 10);
	if (p == from || p >= hi || *p != '}' || !*c || *c > 0x10FFFF || (*c >= 0xD800 && *c < 0xE000)) return NULL;
	return p + 1;
}

static const char *escape(Lex *l, Out *o, const char *p, const char *hi)
{
	static const char from[] = "nrt\\\"", to[] = "\n\r\t\\\"";
	const char *k = p[1] ? strchr(from, p[1]) : NULL, *q;
	uint32_t c;
	if (k) {
		out_raw(o, &to[k - from], 1);
		return p + 2;
	}
	if (p[1] == 'u' && (q = code_point(p + 2, hi, &c))) {
		put_utf8(o, c);
		return q;
	}
	const char *end = p + 2;
	while (end < hi && ((unsigned char)*end & 0xC0) == 0x80) end++;
	Diag *d = lex_report(l, D_BAD_ESCAPE, p, end, lex_quote(p, end), NULL);
	if (d) diag_help(d, "escapes are `\\n`, `\\r`, `\\t`, `\\\\`, `\\\"` and `\\u{1F600}`");
	return end;
}

Str lex_string(Lex *l, const char *lo, const char *hi)
{
	if (!memchr(lo, '\\', (size_t)(hi - lo))) return str_intern_n(lo, (size_t)(hi - lo));
	Out *o = out_new();
	for (const char *p = lo; p < hi; ) {
		if (*p == '\\') p = escape(l, o, p, hi);
		else out_raw(o, p++, 1);
	}
	return out_take(o);
}

/* ---- the bytes of a file ---- */

static const char *find_bad_utf8(const char *p, const char *end)
{
	int n;
	while (p < end) {
		if ((unsigned char)*p < 0x80) {
			p++;
			continue;
		}
		if (utf8_next(p, (size_t)(end - p), &n) < 0) return p;
		p += n;
	}
	return NULL;
}

static void say_not_utf8(Lex *l, const char *at)
{
	const char *t = l->src->text;
	bool utf16 = l->src->len >= 2 && (!memcmp(t, "\xFF\xFE", 2) || !memcmp(t, "\xFE\xFF", 2));
	Diag *d = lex_report(l, D_NOT_UTF8, at, at + 1, arena_printf(A_UNIT, "0x%02x", (unsigned char)*at), NULL);
	if (d) diag_help(d, utf16 ? "it looks like UTF-16: save it as UTF-8" : "save the file as UTF-8");
	l->not_utf8 = true;
}

/* A file with both kinds of damage is no text: one message, and no tokens. */
void lex_check_bytes(Lex *l)
{
	const char *bad = find_bad_utf8(l->cur, l->end);
	const char *nul = l->cur < l->end ? memchr(l->cur, 0, (size_t)(l->end - l->cur)) : NULL;
	if (bad) say_not_utf8(l, bad);
	if (bad && nul) {
		l->cur = l->end;
		return;
	}
	if (nul) lex_report(l, D_CONTROL, nul, nul + 1, "U+0000", NULL);
	l->control = nul != NULL;
}

/* ---- stray bytes ---- */

/* Characters that look like something else, mostly pasted from formatted text. */
typedef struct Like { int32_t c; const char *text; int kind; } Like;
static const Like likes[] = {
	{ 0x00D7, "*", TOK_STAR }, { 0x2217, "*", TOK_STAR }, { 0x00B7, "*", TOK_STAR }, { 0x22C5, "*", TOK_STAR },
	{ 0x2212, "-", TOK_MINUS }, { 0x2013, "-", TOK_MINUS }, { 0x2014, "-", TOK_MINUS }, { 0x00F7, "/", TOK_SLASH },
	{ 0x2264, "<=", TOK_LE }, { 0x2265, ">=", TOK_LE }, { 0x2260, "!=", TOK_NE }, { 0x2192, "->", TOK_ARROW },
	{ 0x2026, "..", TOK_DOTDOT }, { 0xFF08, "(", TOK_LPAREN }, { 0xFF09, ")", TOK_RPAREN },
	{ 0xFF0C, ",", TOK_COMMA }, { 0xFF1B, ";", TOK_SEMI }, { 0xFF1A, ":", TOK_COLON },
	{ 0x037E, ";", TOK_SEMI }, { 0x00A0, " ", 0 }, { 0x2007, " ", 0 }, { 0x202F, " ", 0 }, { 0x3000, " ", 0 },
	{ 0x200B, "", 0 }, { 0x200C, "", 0 }, { 0x200D, "", 0 }, { 0x2060, "", 0 }, { 0xFEFF, "", 0 },
};

static const Like *like_of(int32_t c)
{
	for (size_t i = 0; i < sizeof likes / sizeof likes[0]; i++)
		if (likes[i].c == c) return &likes[i];
	return NULL;
}

/* Quotation marks other than ": their text is the string that was meant. */
static bool odd_quotes(Lex *l, const char *lo, const char *open, const char *close, Token *t)
{
	size_t n = strlen(open), m = strlen(close);
	const char *from = lo + n, *p = from;
	if ((size_t)(l->end - lo) < n || memcmp(lo, open, n)) return false;
	while (p < l->end && *p != '\n' && ((size_t)(l->end - p) < m || memcmp(p, close, m))) p++;
	if (p == l->end || *p == '\n') return false;
	l->cur = p + m;
	Diag *d = lex_report(l, D_STRING_QUOTES, lo, l->cur, NULL, NULL);
	const char *text = arena_strndup(A_UNIT, from, (size_t)(p - from));
	bool plain = !strpbrk(text, "\"\\");
	bool number = !strcmp(text, "inf") || !strcmp(text, "-inf") || !strcmp(text, "nan");    /* float('inf') */
	if (d && number) diag_help(d, "it is a number, without quotation marks: write `%s`", text);
	else if (d && plain) diag_help(d, "write `\"%s\"`", lex_quote(from, p));
	if (d && plain) diag_edit(d, lex_place(l, lo, l->cur), arena_printf(A_UNIT, number ? "%s" : "\"%s\"", text));
	t->kind = TOK_STRING;
	t->v.str = str_intern("");
	return true;
}

bool lex_is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A name with other letters in it: [lo, l->cur) is its ASCII beginning. */
bool lex_foreign_name(Lex *l, const char *lo, Token *t)
{
	const char *p = l->cur;
	bool foreign = false;
	int n = 1;
	for (; p < l->end; p += n) {
		n = 1;
		if (lex_is_name_byte(*p)) continue;
		if ((unsigned char)*p < 0x80) break;
		int32_t c = utf8_next(p, (size_t)(l->end - p), &n);
		if (c < 0 || like_of(c) || (c >= 0x2000 && c < 0x2C00)) break;
		foreign = true;
	}
	if (!foreign) return false;
	l->cur = p;
	lex_report(l, D_FOREIGN_NAME, lo, p, lex_quote(lo, p), NULL);
	t->kind = TOK_IDENT;
	t->span = lex_place(l, lo, p);
	t->v.name = (Name){ str_intern_n(lo, (size_t)(p - lo)), t->span };
	return true;
}

static bool other_character(Lex *l, const char *lo, Token *t)
{
	int n;
	int32_t c = utf8_next(lo, (size_t)(l->end - lo), &n);
	l->cur = lo + (c < 0 ? 1 : n);
	if (c < 0) return false;        /* not UTF-8: said for the whole file */
	if (odd_quotes(l, lo, "\xE2\x80\x9C", "\xE2\x80\x9D", t)) return true;
	const Like *k = like_of(c);
	if (!k && (c < 0x2000 || c >= 0x2C00)) {
		l->cur = lo;
		if (lex_foreign_name(l, lo, t)) return true;
		l->cur = lo + n;
	}
	const char *shown = k && !k->kind ? arena_printf(A_UNIT, "U+%04X", (unsigned)c) : lex_quote(lo, l->cur);
	Diag *d = lex_report(l, D_STRAY_CHARACTER, lo, l->cur, shown, NULL);
	if (d && k && k->kind) diag_help(d, "write `%s`", k->text);
	else if (d && k) diag_help(d, "it looks like a blank or like nothing: delete it");
	if (d && k) diag_edit(d, lex_place(l, lo, l->cur), k->text);
	if (k) t->kind = k->kind;
	return k && k->kind;
}

static bool control_character(Lex *l, const char *lo)
{
	while (l->cur < l->end && ((unsigned char)*l->cur < 0x20 || *l->cur == 0x7F) && !strchr("\t\r\n\v\f", *l->cur))
		l->cur++;
	if (!l->control) lex_report(l, D_CONTROL, lo, l->cur, arena_printf(A_UNIT, "U+%04X", (unsigned)*lo), NULL);
	if (!l->quiet) l->control = true;
	return false;
}

/* `#include "nn.tile"` and `#define N 64` as they are written here; NULL: something else. */
static const char *directive(const char *p, const char *end, const char *word)
{
	while (p < end && (*p == ' ' || *p == '\t')) p++;
	while (end > p && strchr(" \t\r", end[-1])) end--;
	const char *name = p;
	if (!strcmp(word, "#include"))
		return end - p > 7 && *p == '"' && !memcmp(end - 6, ".tile\"", 6)
			? arena_printf(A_UNIT, "import %.*s;", (int)(end - p), p) : NULL;
	if (strcmp(word, "#define")) return NULL;
	while (p < end && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '_'))
		p++;
	const char *value = p;
	while (value < end && *value == ' ') value++;
	size_t digits = strspn(value, "0123456789.");
	if (p == name || value == p || value + digits != end) return NULL;
	return arena_printf(A_UNIT, "const %.*s = %.*s;", (int)(p - name), name, (int)(end - value), value);
}

static bool hash(Lex *l, const char *lo)
{
	static const struct { const char *word, *help; } directives[] = {
		{ "#include", "a file is read by `import \"nn.tile\";`" },
			{ "#define", "a number has a name by `const NAME = 128;`" },
		{ "#pragma", "`@unroll(4)` stands before a loop" }, { "#if", "what the compiler decides is `if const c { }`" },
		{ "#ifdef", "what the compiler decides is `if const c { }`" },
	};
	while (l->cur < l->end && *l->cur != '\n') l->cur++;
	const char *p = lo + 1;
	while (p < l->cur && *p >= 'a' && *p <= 'z') p++;
	size_t n = (size_t)(p - lo);
	for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
		if (strlen(directives[i].word) != n || memcmp(lo, directives[i].word, n)) continue;
		Diag *d = lex_report(l, D_NO_PREPROCESSOR, lo, p, lex_quote(lo, p), NULL);
		const char *fix = d ? directive(p, l->cur, directives[i].word) : NULL;
		if (d) diag_help(d, fix ? "write `%s`" : "%s", fix ? fix : directives[i].help);
		if (fix) diag_edit(d, lex_place(l, lo, l->cur), fix);
		return false;
	}
	Diag *d = lex_report(l, D_HASH_COMMENT, lo, lo + 1, NULL, NULL);
	if (d) diag_help(d, "write `//`");
	if (d) diag_edit(d, lex_place(l, lo, lo + 1), "//");
	return false;
}

bool lex_stray(Lex *l, const char *lo, Token *t)
{
	if ((unsigned char)*lo >= 0x80) return other_character(l, lo, t);
	if ((unsigned char)*lo < 0x20 || *lo == 0x7F) return control_character(l, lo);
	if (*lo == '#') return hash(l, lo);
	if (odd_quotes(l, lo, "'", "'", t)) return true;
	bool line_end = *lo == '\\' && (lo[1] == '\n' || lo[1] == '\r');
	while (l->cur < l->end && *l->cur == *lo) l->cur++;
	Diag *d = lex_report(l, D_STRAY_CHARACTER, lo, l->cur, lex_quote(lo, l->cur), NULL);
	if (d && line_end) diag_help(d, "a statement goes on until its `;`: delete it");
	if (d && line_end) diag_edit(d, lex_place(l, lo, l->cur), "");
	return false;
}
