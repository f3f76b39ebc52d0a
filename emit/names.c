/* Names, strings and comments in emitted text. */
#include "emit/names.h"

#include <string.h>

#include "base/vec.h"

/* Words that C11, C++20 or CUDA C reserve or define as macros in what our output includes. */
static const char *const reserved[] = {
	"alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char", "char16_t",
	"char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const", "const_cast", "consteval",
	"constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit",
	"export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "main", "mutable", "namespace", "new",
	"noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
	"requires", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch",
	"template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "union", "unsigned",
	"using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "linux", "unix", "stdin", "stdout", "stderr", "errno",
	"NULL", "EOF", "INT32_MAX", "INT64_MAX", "size_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t",
	"uint64_t", "uintptr_t", "stream", "workspace", "bytes", "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "cluster",
	"I", "signbit", "isnan", "isinf", "isfinite", "assert", "math_errhandling", "memcpy", "memset", "malloc", "free", "printf",
	"fprintf", "abort", "fma", "fmaf",
};

/* What the C library's headers may define as macros: M_PIf, and words of capitals. */
static bool is_macro(Str s, size_t n)
{
	if (!strncmp(s, "M_", 2) || !strncmp(s, "L_", 2) || !strncmp(s, "P_", 2)) return true;
	for (size_t i = 0; i < n; i++)
		if (s[i] >= 'a' && s[i] <= 'z') return false;
	return n > 2 && s[0] >= 'A' && s[0] <= 'Z';
}

static Str rename_reserved(Str s)
{
	if (!strncmp(s, "ct_", 3) || !strncmp(s, "CT", 2) || !strncmp(s, "__", 2)) return str_fmt("u_%s", s);
	for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
		if (!strcmp(s, reserved[i])) return str_fmt("%s_", s);
	size_t n = str_len(s);          /* keep `int_` apart from the renamed `int` */
	if (n > 1 && s[n - 1] == '_') {
		char *t = arena_strndup(A_TMP, s, n);
		while (n && t[n - 1] == '_') t[--n] = 0;
		for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
			if (!strcmp(t, reserved[i])) return str_fmt("%s_", s);
	}
	return s;
}

Str name_entry(Str s) { return rename_reserved(s); }

Str name_c(Str s)
{
	static struct { Str from, to; } cache[1024];    /* names recur all over a kernel */
	uint32_t i = str_hash(s) & 1023;
	if (cache[i].from != s) {
		cache[i].to = is_macro(s, str_len(s)) ? str_fmt("%s_", s) : rename_reserved(s);
		cache[i].from = s;
	}
	return cache[i].to;
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
	t->p = NEW_ARRAY(A_UNIT, NameSlot, t->cap);
	for (int i = 0; i < old.cap; i++)
		if (old.p[i].name) *name_slot(t, old.p[i].name) = old.p[i];
}

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

void comment_text(Out *o, Str doc, const char *prefix)
{
	if (!doc) return;
	for (const char *p = doc; *p;) {
		size_t n = strcspn(p, "\n");
		out_puts(o, prefix);
		for (size_t i = 0; i < n;) {
			size_t run = 0;         /* what may stand in a comment as it is */
			while (i + run < n && p[i + run] != '*' && p[i + run] != '/' && p[i + run] != '\\' &&
				((unsigned char)p[i + run] >= ' ' || p[i + run] == '\t')) run++;
			out_raw(o, p + i, run);
			i += run;
			if (i >= n) break;
			char c = p[i++];
			if ((unsigned char)c < ' ') continue;
			if (c == '\\' && i == n) c = '.';       /* no line splice in a line comment */
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

/* ---- symbolic integers as plain C ---- */
static void print_c(Out *o, const Sym *s);

static void print_infix(Out *o, const Sym *s, const char *op)
{
	out_puts(o, "(");
	for (int i = 0; i < s->n; i++) {
		if (i) out_printf(o, " %s ", op);
		print_c(o, s->arg[i]);
	}
	out_puts(o, ")");
}

static void print_helper(Out *o, const Sym *s, const char *name)
{
	out_printf(o, "%s(", name);
	print_c(o, s->arg[0]);
	out_puts(o, ", ");
	print_c(o, s->arg[1]);
	out_puts(o, ")");
}

static void print_c(Out *o, const Sym *s)
{
	switch (s->kind) {
	case SYM_CONST:
		if (s->value == (int32_t)s->value) out_printf(o, s->value < 0 ? "(%lld)" : "%lld", (long long)s->value);
		else if (s->value == INT64_MIN) out_puts(o, "(-9223372036854775807LL - 1)");
		else out_printf(o, s->value < 0 ? "(%lldLL)" : "%lldLL", (long long)s->value);
		return;
	case SYM_ATOM:
		if (s->atom == ATOM_BID) out_printf(o, "ct_bid%d", s->index);
		else out_puts(o, name_c(s->name));
		return;
	case SYM_ADD: print_infix(o, s, "+"); return;
	case SYM_MUL: print_infix(o, s, "*"); return;
	case SYM_DIV: print_infix(o, s, "/"); return;
	case SYM_MOD: print_infix(o, s, "%"); return;
	case SYM_EQ: print_infix(o, s, "=="); return;
	case SYM_NE: print_infix(o, s, "!="); return;
	case SYM_LT: print_infix(o, s, "<"); return;
	case SYM_LE: print_infix(o, s, "<="); return;
	case SYM_AND: print_infix(o, s, "&&"); return;
	case SYM_OR: print_infix(o, s, "||"); return;
	case SYM_CDIV: print_helper(o, s, "ct_ceildiv_i64"); return;
	case SYM_MIN: print_helper(o, s, "ct_min_i64"); return;
	case SYM_MAX: print_helper(o, s, "ct_max_i64"); return;
	case SYM_NOT: out_puts(o, "!"); print_c(o, s->arg[0]); return;
	case SYM_ALIGNED: out_printf(o, "((uintptr_t)%s %% %lld == 0)", name_c(s->name), (long long)s->value); return;
	case SYM_SELECT:
		out_puts(o, "(");
		print_c(o, s->arg[0]);
		out_puts(o, " ? ");
		print_c(o, s->arg[1]);
		out_puts(o, " : ");
		print_c(o, s->arg[2]);
		out_puts(o, ")");
		return;
	}
}

Str sym_c(const Sym *s)
{
	Out *o = out_new();
	print_c(o, s);
	return out_take(o);
}
