/* Values of number literals, and what is wrong with those that are none. */
#include "lexer/lex_impl.h"
#include <ctype.h>
#include <string.h>

/* Where the suffix begins. Hexadecimal digits may look like one: there only i and u start a suffix, and f, b, t only
 * after the exponent. */
static const char *suffix_of(const char *lo, const char *hi)
{
	const char *p = lo, *set = "iufbt";
	if (hi - lo > 2 && lo[0] == '0' && (lo[1] == 'x' || lo[1] == 'b')) {
		p = lo + 2;
		set = "iu";
		for (const char *q = p; q < hi && lo[1] == 'x'; q++)
			if (*q == 'p' || *q == 'P') {
				p = q;
				set = "fbt";
				break;
			}
	}
	while (p < hi && !strchr(set, *p)) p++;
	return p;
}

static Str without_separators(const char *lo, const char *hi)
{
	char *s = NEW_ARRAY(A_TMP, char, hi - lo + 1);
	size_t n = 0;
	for (const char *p = lo; p < hi; p++)
		if (*p != '_') s[n++] = *p;
	return str_intern_n(s, n);
}

static Literal split(const char *lo, const char *hi)
{
	Literal lit = { 0 };
	ArenaMark m = arena_mark(A_TMP);
	const char *s = suffix_of(lo, hi);
	lit.text = without_separators(lo, s);
	lit.suffix = s < hi ? str_intern_n(s, (size_t)(hi - s)) : NULL;
	arena_release(A_TMP, m);
	return lit;
}

static uint64_t digit(char c)
{
	return (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

Literal lex_integer(Lex *l, const char *lo, const char *hi)
{
	Literal lit = split(lo, hi);
	uint64_t base = 10;
	const char *p = lit.text;
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'b')) {
		base = p[1] == 'x' ? 16 : 2;
		p += 2;
	}
	for (; *p; p++) {
		uint64_t d = digit(*p);
		if (lit.i > (UINT64_MAX - d) / base) {
			Diag *e = lex_report(l, D_BIG_INTEGER, lo, hi, lex_quote(lo, hi), NULL);
			if (e) diag_note(e, "the largest integer is 18446744073709551615");
			return (Literal){ 0 };
		}
		lit.i = lit.i * base + d;
	}
	return lit;
}

Literal lex_float(Lex *l, const char *lo, const char *hi)
{
	(void)l;
	return split(lo, hi);
}

/* ---- bad numbers ---- */

typedef struct Bad { const char *why, *help, *edit; } Bad;

static const char *digits_end(const char *p, const char *hi)
{
	while (p < hi && ((*p >= '0' && *p <= '9') || *p == '_')) p++;
	return p;
}

/* 64x64x8 -> "64, 64, 8"; NULL if it is something else. */
static const char *as_shape(const char *lo, const char *hi)
{
	Out *o = out_new();
	if (*lo == '0') return NULL;
	for (const char *p = lo, *q; ; p = q + 1) {
		q = digits_end(p, hi);
		if (q == p) return NULL;
		out_raw(o, p, (size_t)(q - p));
		if (q == hi) return o->p;
		if (*q != 'x') return NULL;
		out_raw(o, ", ", 2);
	}
}

/* tensor<64x64xf32> -> "f32, [64, 64]"; NULL if it is something else. */
static const char *as_type(const Lex *l, const char *lo, const char *hi)
{
	const char *elem = hi;
	while (elem > lo && elem[-1] != 'x') elem--;
	bool first = lo > l->src->text && lo[-1] == '<', letter = elem < hi && (*elem < '0' || *elem > '9');
	if (elem - lo < 2 || !first || !letter) return NULL;
	const char *shape = as_shape(lo, elem - 1);
	return shape ? arena_printf(A_UNIT, "%.*s, [%s]", (int)(hi - elem), elem, shape) : NULL;
}

static Bad prefixed(const char *lo, const char *hi)
{
	const char *text = arena_strndup(A_UNIT, lo, (size_t)(hi - lo));
	bool point = strchr(text, '.') != NULL, power = strpbrk(text + 2, "pP") != NULL;
	if (hi - lo == 2) return (Bad){ "digits are missing", NULL, NULL };
	if (lo[1] == 'o' || lo[1] == 'O')
		return (Bad){ "there are no octal numbers", "write it in decimal or hexadecimal", NULL };
	if (lo[1] == 'X' || lo[1] == 'B') {
		const char *fix = arena_printf(A_UNIT, "0%c%s", lo[1] | 0x20, text + 2);
		return (Bad){ "the letter is a small one", arena_printf(A_UNIT, "write `%s`", fix), fix };
	}
	if (lo[1] == 'b') return (Bad){ "binary digits are 0 and 1", NULL, NULL };
	if (point && !power && strspn(text + 2, "0123456789abcdefABCDEF.") == strlen(text + 2)) {
		const char *fix = arena_printf(A_UNIT, "%sp0", text);
		return (Bad){ "a hexadecimal float needs an exponent", arena_printf(A_UNIT, "write `%s`", fix), fix };
	}
	return (Bad){ point || power ? "the form is `0x1.8p-3`" : "hexadecimal digits are 0 to 9 and a to f", NULL, NULL };
}

/* The tails C allows: 1.0f, 10u, 10UL. */
static const char *c_suffix(const char *tail, bool is_float)
{
	static const struct { const char *c, *ours; bool flt; } rows[] = {
		{ "f", "f32", true }, { "F", "f32", true }, { "h", "f16", true }, { "l", "f64", true }, { "L", "f64", true },
		{ "u", "u32", false }, { "U", "u32", false }, { "l", "i64", false }, { "L", "i64", false },
		{ "ul", "u64", false }, { "UL", "u64", false }, { "uL", "u64", false }, { "Ul", "u64", false },
		{ "ll", "i64", false }, { "LL", "i64", false }, { "ull", "u64", false }, { "ULL", "u64", false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (!strcmp(rows[i].c, tail) && (rows[i].flt == is_float || !strcmp(tail, "f"))) return rows[i].ours;
	return NULL;
}

static const char *hex_end(const char *p, const char *hi)
{
	while (p < hi && strchr("0123456789abcdefABCDEF_", *p)) p++;
	return p;
}

/* What a number with a suffix of C is here: 1.0f, 1.f, 10UL, 0xFFu; NULL: it has none. */
static const char *from_c(const char *lo, const char *hi, const char **suffix)
{
	bool hex = hi - lo > 2 && lo[0] == '0' && lo[1] == 'x', point = false;
	const char *whole = hex ? hex_end(lo + 2, hi) : digits_end(lo, hi), *part = whole, *power = whole;
	if (!hex && whole < hi && *whole == '.') {
		point = true;
		part = power = digits_end(whole + 1, hi);
	}
	if (!hex && power < hi && (*power == 'e' || *power == 'E')) {
		const char *digits = power + 1 + (power + 1 < hi && (power[1] == '+' || power[1] == '-'));
		power = digits_end(digits, hi);
		if (power == digits) return NULL;
	}
	const char *tail = arena_strndup(A_UNIT, power, (size_t)(hi - power));
	const char *ours = c_suffix(tail, point || power > part);
	if (!ours || (hex && *ours == 'f') || (whole > lo && whole[-1] == '_') || power[-1] == '_') return NULL;
	*suffix = tail;
	Out *o = out_new();
	if (whole == lo) out_puts(o, "0");
	out_raw(o, lo, (size_t)((point ? whole + 1 : part) - lo));
	if (point) out_raw(o, whole + 1, (size_t)(part - whole - 1));
	if (point && part == whole + 1) out_puts(o, "0");
	if (!point && power == part && *ours == 'f') out_puts(o, ".0");
	out_raw(o, part, (size_t)(power - part));
	out_puts(o, ours);
	return out_take(o);
}

/* The suffixes of a whole file are one mistake: the first number that has one mends the rest of them, too. */
static void report_suffix(Lex *l, const char *lo, const char *hi, const char *why, const char *fix)
{
	typedef struct Other { Span at; const char *fix; } Other;
	VEC(Other) others = { 0 };
	const char *suffix;
	Token t;
	if (l->suffixed) {
		l->error = lex_place(l, lo, hi).lo;
		return;
	}
	l->suffixed = true;
	Diag *d = lex_report(l, D_BAD_NUMBER, lo, hi, lex_quote(lo, hi), why);
	Lex rest = *l;
	rest.quiet = true;
	for (lex_token(&rest, &t); t.kind != TOK_END; lex_token(&rest, &t)) {
		const char *text = l->src->text + (t.span.lo - l->src->base), *end = l->src->text + (t.span.hi - l->src->base);
		const char *other = t.kind == TOK_INT && !t.v.lit.text ? from_c(text, end, &suffix) : NULL;
		if (other) vec_push(A_UNIT, &others, ((Other){ t.span, other }));
	}
	if (others.n) diag_help(d, "write `%s`, and the other %d numbers with suffixes of C likewise", fix, others.n);
	else diag_help(d, "write `%s`", fix);
	diag_edit(d, lex_place(l, lo, hi), fix);
	for (int i = 0; i < others.n; i++) diag_edit(d, others.p[i].at, others.p[i].fix);
}

static Bad decimal(const Lex *l, const char *lo, const char *hi)
{
	const char *p = digits_end(lo, hi);
	bool is_float = p < hi && *p == '.';
	if (is_float) p = digits_end(p + 1, hi);
	if (p < hi && (*p == 'e' || *p == 'E')) {
		const char *q = p + 1 + (p + 1 < hi && (p[1] == '+' || p[1] == '-'));
		if (q == hi || *q < '0' || *q > '9')
			return (Bad){ "digits are missing after the exponent's letter", NULL, NULL };
		is_float = true;
		p = digits_end(q, hi);
	}
	const char *tail = arena_strndup(A_UNIT, p, (size_t)(hi - p));
	if (p > lo && p[-1] == '_' && *tail) {
		const char *fix = arena_printf(A_UNIT, "%.*s%s", (int)(p - 1 - lo), lo, tail);
		return (Bad){ "`_` stands between digits only", arena_printf(A_UNIT, "write `%s`", fix), fix };
	}
	if (p > lo && p[-1] == '_') return (Bad){ "`_` stands between digits only", NULL, NULL };
	const char *type = as_type(l, lo, hi);
	if (type) return (Bad){ "extents stand in a list", arena_printf(A_UNIT, "write `%s`", type), type };
	const char *shape = as_shape(lo, hi);
	if (shape) return (Bad){ "a shape is a list", arena_printf(A_UNIT, "write `[%s]`", shape), NULL };
	return (Bad){ arena_printf(A_UNIT, "there is no suffix `%s`", tail),
		is_float ? "suffixes of floats are `f16`, `bf16`, `f32`, `f64` and the restricted types"
		: "suffixes of integers are `i8` to `i64` and `u8` to `u64`; a name does not begin with a digit", NULL };
}

Literal lex_bad_number(Lex *l, const char *lo, const char *hi)
{
	if (l->quiet) return (Literal){ 0 };
	bool prefix = hi - lo >= 2 && lo[0] == '0' && strchr("xXbBoO", lo[1]);
	const char *suffix, *fix = from_c(lo, hi, &suffix);
	if (fix) {
		report_suffix(l, lo, hi, arena_printf(A_UNIT, "there is no suffix `%s`", suffix), fix);
		return (Literal){ 0 };
	}
	Bad bad = prefix ? prefixed(lo, hi) : decimal(l, lo, hi);
	Diag *d = lex_report(l, D_BAD_NUMBER, lo, hi, lex_quote(lo, hi), bad.why);
	if (d && bad.help) diag_help(d, "%s", bad.help);
	if (d && bad.edit) diag_edit(d, lex_place(l, lo, hi), bad.edit);
	return (Literal){ 0 };
}

/* `1.` `1.f` `1.e5` `.5`: the digit that is missing is a zero. */
Literal lex_bad_point(Lex *l, const char *lo, const char *hi)
{
	if (l->quiet) return (Literal){ 0 };
	const char *why = "a float has digits on both sides of the point", *suffix, *c = from_c(lo, hi, &suffix);
	if (c) {
		report_suffix(l, lo, hi, why, c);
		return (Literal){ 0 };
	}
	const char *dot = memchr(lo, '.', (size_t)(hi - lo));
	const char *tail = arena_strndup(A_UNIT, dot + 1, (size_t)(hi - dot - 1));
	const char *fix = arena_printf(A_UNIT, "%.*s.%s%s", dot > lo ? (int)(dot - lo) : 1, dot > lo ? lo : "0",
		dot > lo ? "0" : "", tail);
	bool sure = dot == lo || !*tail || *tail == 'e' || *tail == 'E';
	Diag *d = lex_report(l, D_BAD_NUMBER, lo, hi, lex_quote(lo, hi), why);
	/* p.0 of a tuple */
	bool member = dot == lo && lo > l->src->text && (isalnum((unsigned char)lo[-1]) || strchr("_)]", lo[-1]));
	if (d && member) diag_help(d, "a tuple is taken apart by names, as in `let (a, b) = ...`");
	sure &= !member;
	if (d && sure) diag_help(d, "write `%s`", fix);
	if (d && sure) diag_edit(d, lex_place(l, lo, hi), fix);
	return (Literal){ 0 };
}
