/* Names, strings and comments in emitted text. */
#include "emit/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/json.h"
#include "base/show.h"
#include "base/vec.h"

enum { KEPT = 1024 };   /* names */

/* What is a keyword or a macro somewhere, or what emitted text says where names of the author are visible: variables,
 * parameters and entries of these names get another one. tests/names compiles programs that are named after each
 * identifier in emitted text. */
static const char *const reserved[] = {
	"alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
		"char16_t",
	"char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const", "const_cast",
	"consteval",
	"constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else",
	"enum", "explicit",
	"export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "main", "mutable",
	"namespace", "new",
	"noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register",
	"reinterpret_cast",
	"requires", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct",
	"switch",
	"template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "union",
	"unsigned",
	"using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "linux", "unix", "stdin", "stdout",
	"stderr", "errno",
	"NULL", "EOF", "INT32_MAX", "INT64_MAX", "size_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t",
	"uint32_t",
	"uint64_t", "uintptr_t", "stream", "workspace", "bytes", "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize",
	"cluster",
	"I", "signbit", "isnan", "isinf", "isfinite", "isnormal", "isgreater", "isgreaterequal", "isless", "islessequal",
	"islessgreater",
	"isunordered", "issignaling", "iszero", "iseqsig", "iscanonical", "issubnormal", "fpclassify", "complex",
	"imaginary", "assert",
	"offsetof", "math_errhandling", "signgam", "environ", "memcpy", "memset", "malloc", "free", "printf", "fprintf",
	"fputs", "snprintf",
	"vsnprintf", "va_list", "va_start", "va_end", "va_arg", "va_copy", "abort", "fma", "fmaf", "atomicAdd", "dim3",
	"CUstream_st",
};

/* What the C library's headers may define as macros: M_PIf, and words of capitals. */
static bool is_macro(Str s, size_t n)
{
	if (!strncmp(s, "M_", 2) || !strncmp(s, "L_", 2) || !strncmp(s, "P_", 2)) return true;
	for (size_t i = 0; i < n; i++)
		if (s[i] >= 'a' && s[i] <= 'z') return false;
	return n > 2 && s[0] >= 'A' && s[0] <= 'Z';
}

/* What headers of C, POSIX and CUDA declare: an entry of such a name would meet the library's, in a header of the
 * caller's or, what is worse, in the linker. */
static const char *const library[] = {
#include "emit/library.def"
};

static bool in_list(const char *const *list, size_t n, const char *s, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (*list[i] == *s && strlen(list[i]) == len && !memcmp(list[i], s, len)) return true;
	return false;
}

static int by_name(const void *a, const void *b) { return strcmp(a, *(const char *const *)b); }

/* cudaError_t: of CUDA's runtime. */
static bool is_of_runtime(const char *s) { return !strncmp(s, "cuda", 4) && s[4] >= 'A' && s[4] <= 'Z'; }

/* sinf32x: functions have forms for _Float16, _Float32x and the like. */
static size_t without_float_form(const char *s, size_t n)
{
	if (n && s[n - 1] == 'x') n--;
	size_t digits = n;
	while (digits > 0 && s[digits - 1] >= '0' && s[digits - 1] <= '9') digits--;
	return digits > 1 && digits < n && s[digits - 1] == 'f' ? digits - 1 : 0;
}

static bool is_library(const char *s, size_t n)
{
	if (!n) return false;
	if (is_of_runtime(s)) return true;
	Str name = str_intern_n(s, n);
	if (bsearch(name, library, sizeof library / sizeof *library, sizeof *library, by_name)) return true;
	return is_library(s, without_float_form(s, n));
}

static bool is_reserved(const char *s, size_t n) { return in_list(reserved, sizeof reserved / sizeof *reserved, s, n); }

/* Names that only the emitters make begin so; those of the author, and what they become, get another beginning. */
static bool begins_as_ours(const char *s)
{
	while (s[0] == 'u' && s[1] == '_') s += 2;
	if (s[0] == '_') return s[1] == '_' || (s[1] >= 'A' && s[1] <= 'Z');
	return !strncmp(s, "ct_", 3) || !strncmp(s, "CT", 2) || !strncmp(s, "Ct", 2) || !strncmp(s, "ctile_", 6);
}

/* The functions that belong to an entry or a kernel f end so: f_ws, f_workspace, f_sm80_aligned. */
static bool ends_as_ours(const char *s, size_t n)
{
	if ((n > 3 && !memcmp(s + n - 3, "_ws", 3)) || (n > 10 && !memcmp(s + n - 10, "_workspace", 10))) return true;
	for (size_t i = 1; i + 3 < n; i++)
		if (!memcmp(s + i, "_sm", 3) && s[i + 3] >= '0' && s[i + 3] <= '9') return true;
	return false;
}

/* The length without underscores at the end: `int_` stays apart from what `int` becomes. */
static size_t stem(Str s)
{
	size_t n = str_len(s);
	while (n > 1 && s[n - 1] == '_') n--;
	return n;
}

/* What a name becomes, kept where a name recurs all over a program. */
typedef struct Kept { Str from, to; } Kept;

static Str kept_name(Kept cache[KEPT], Str s, Str (*make)(Str s))
{
	Kept *k = &cache[str_hash(s) % KEPT];
	if (k->from != s) *k = (Kept){ s, make(s) };
	return k->to;
}

static Str entry_of(Str s)
{
	size_t n = stem(s);
	const char *rest = s;
	while (rest[0] == 'u' && rest[1] == '_') rest += 2;
	if (*rest == '_' || begins_as_ours(s)) return str_fmt("u_%s", s);
	return is_library(s, n) || is_reserved(s, n) ? str_fmt("%s_", s) : s;
}

static Str c_of(Str s)
{
	size_t n = stem(s);
	if (begins_as_ours(s)) return str_fmt("u_%s", s);
	return is_reserved(s, n) || is_macro(s, n) || is_of_runtime(s) || ends_as_ours(s, n) ? str_fmt("%s_", s) : s;
}

Str name_entry(Str s)
{
	static Kept cache[KEPT];
	return kept_name(cache, s, entry_of);
}

Str name_c(Str s)
{
	static Kept cache[KEPT];
	return kept_name(cache, s, c_of);
}

Str name_dim(const Fn *fn, int i) { return name_c(fn->dims.p[i].name); }

/* Where s stands, or would. */
static NameSlot *name_slot(const NameSet *t, Str s)
{
	uint32_t mask = (uint32_t)t->cap - 1, i = str_hash(s) & mask;
	while (t->p[i].name && t->p[i].name != s) i = (i + 1) & mask;
	return &t->p[i];
}

static void names_grow(NameSet *t)
{
	NameSet old = *t;
	t->cap = old.cap ? old.cap * 2 : 64;
	t->p = NEW_ARRAY(A_TMP, NameSlot, t->cap);
	for (int i = 0; i < old.cap; i++)
		if (old.p[i].name) *name_slot(t, old.p[i].name) = old.p[i];
}

bool names_has(const NameSet *t, Str s) { return t->n && name_slot(t, s)->name; }

bool names_take(NameSet *t, Str s)
{
	if (t->n * 2 >= t->cap) names_grow(t);
	NameSlot *at = name_slot(t, s);
	if (at->name) return false;
	at->name = s;
	t->n++;
	return true;
}

Str names_new(NameSet *t, Str wanted)
{
	Str base = wanted ? name_c(wanted) : NULL, s = base;
	if (!base) {
		do s = str_fmt("v%d", t->unnamed++); while (!names_take(t, s));
		return s;
	}
	if (names_take(t, base)) return base;
	int i = name_slot(t, base)->next;       /* names are never given back: all numbers below are in use */
	if (!i) i = 2;
	do s = str_fmt("%s_%d", base, i++); while (!names_take(t, s));
	name_slot(t, base)->next = i;
	return s;
}

/* It may stand in a comment as it is. */
static inline bool is_plain(char at)
{
	unsigned char c = (unsigned char)at;
	if (c > '/') return c != '\\' && c < 0x80;
	return (c >= ' ' && c != '*' && c != '/') || c == '\t';
}

/* The length of the character at p if it may stand in a comment: compilers warn of bytes that are no UTF-8, and of
 * marks that turn the direction of text around. 0: it may not; *len is how much to leave out. */
static int plain_character(const char *p, size_t n, int *len)
{
	int32_t c = utf8_next(p, n, len);
	return c < 0 || show_is_control(c) ? 0 : *len;
}

void comment_text(Out *o, Str doc, const char *prefix)
{
	if (!doc) return;
	for (const char *p = doc; *p;) {
		size_t n = strcspn(p, "\n");
		out_puts(o, prefix);
		for (size_t i = 0; i < n;) {
			size_t run = 0;
			while (i + run < n && is_plain(p[i + run])) run++;
			out_raw(o, p + i, run);
			i += run;
			if (i >= n) break;
			int len, whole = (unsigned char)p[i] < 0x80 ? 0 : plain_character(p + i, n - i, &len);
			if ((unsigned char)p[i] >= 0x80) {
				out_raw(o, p + i, (size_t)whole);
				i += (size_t)len;
				continue;
			}
			char c = p[i++];
			if ((unsigned char)c < ' ') continue;
			bool splice = c == '\\' || (c == '/' && i > 2 && p[i - 2] == '?' && p[i - 3] == '?');
			if (splice && i == n) c = '.';          /* no line splice in a line comment */
			out_raw(o, &c, 1);
			if (i < n && ((c == '*' && p[i] == '/') || (c == '/' && p[i] == '*'))) out_raw(o, " ", 1);
		}
		out_puts(o, "\n");
		p += n + (p[n] == '\n');
	}
}

Str c_string(Str s)
{
	Out *o = out_new();
	out_raw(o, "\"", 1);
	for (const unsigned char *p = (const unsigned char *)s; *p; p++) {
		char buf[8];
		if (*p == '"' || *p == '\\') out_raw(o, (char[]){ '\\', (char)*p }, 2);
		else if (*p == '\n') out_raw(o, "\\n", 2);
		else if (*p == '?') out_raw(o, "\\?", 2);       /* no trigraphs */
		else if (*p < ' ' || *p >= 127) {
			int n = 0;
			buf[n++] = '\\';
			buf[n++] = (char)('0' + (*p >> 6));
			buf[n++] = (char)('0' + (*p >> 3 & 7));
			buf[n++] = (char)('0' + (*p & 7));
			out_raw(o, buf, (size_t)n);
		} else {
			out_raw(o, (const char *)p, 1);
		}
	}
	out_raw(o, "\"", 1);
	return out_take(o);
}

/* ---- symbolic integers as plain C: what is combined of several is printed by those who check the arithmetic ---- */
Str sym_c(const Sym *s)
{
	switch (s->kind) {
	case SYM_CONST:
		if (s->value == (int32_t)s->value) return str_fmt(s->value < 0 ? "(%lld)" : "%lld", (long long)s->value);
		if (s->value == INT64_MIN) return str_intern("(-9223372036854775807LL - 1)");
		return str_fmt(s->value < 0 ? "(%lldLL)" : "%lldLL", (long long)s->value);
	case SYM_ATOM: return s->atom == ATOM_BID ? str_fmt("ct_bid%d", s->index) : name_c(s->name);
	case SYM_ALIGNED: return str_fmt("((uintptr_t)%s %% %lld == 0)", name_c(s->name), (long long)s->value);
	default: bug("a symbolic integer of kind %d is no leaf", (int)s->kind);
	}
}
