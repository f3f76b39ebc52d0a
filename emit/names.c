/* Names, strings and comments in emitted text. */
#include "emit/names.h"

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

/* Capitals that the headers of emitted text define, for names that are not renamed for their capitals alone. */
static bool is_own_macro(const char *s, size_t n)
{
	static const char *const begin[] = {
		"INT", "UINT", "PTRDIFF_", "SIG_", "SIZE_", "WCHAR_", "WINT_", "FP_", "M_", "HUGE_", "MATH_", "SEEK_", "EXIT_",
			"L_", "P_", "TMP_",
		"RAND_", "MB_", "BUFSIZ", "FILENAME_", "FOPEN_", "EOF", "NULL", "NAN", "INFINITY", "CUDART_", "EDOM", "ERANGE",
		"EILSEQ",
		"CHAR_", "SCHAR_", "UCHAR_", "SHRT_", "USHRT_", "LONG_", "ULONG_", "LLONG_", "ULLONG_", "FLT_", "DBL_", "LDBL_",
		"CLOCKS_", "CLOCK_",
	};
	for (size_t i = 0; is_macro(s, n) && i < sizeof begin / sizeof *begin; i++)
		if (!strncmp(s, begin[i], strlen(begin[i]))) return true;
	return false;
}

/* Functions and types of the C library and of CUDA: an entry of such a name would meet the library's, in the header of
 * one or, what is worse, in the linker. Mathematical functions have an `f` and an `l` form. */
static const char *const library_math[] = {
	"acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "cospi",
	"cyl_bessel_i0", "cyl_bessel_i1", "drem", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "exp", "exp10", "exp2",
	"expm1", "fabs", "fdim", "fdivide", "finite", "floor", "fma", "fmax", "fmin", "fmod", "frexp", "gamma", "hypot",
	"ilogb", "j0", "j1", "jn", "ldexp", "lgamma", "llrint", "llround", "log", "log10", "log1p", "log2", "logb",
	"lrint", "lround", "modf", "nan", "nearbyint", "nextafter", "nexttoward", "norm", "norm3d", "norm4d", "normcdf",
	"normcdfinv", "pow", "rcbrt", "remainder", "remquo", "rhypot", "rint", "rnorm", "rnorm3d", "rnorm4d", "round",
	"rsqrt", "scalb", "scalbln", "scalbn", "significand", "sin", "sincos", "sincospi", "sinh", "sinpi", "sqrt",
	"tan", "tanh", "tgamma", "trunc", "y0", "y1", "yn",
};
static const char *const library[] = {
	"cuda", "nv", "std",     /* namespaces */
	"half", "half2", "nv_bfloat16", "nv_bfloat162", "nv_half", "nv_half2",  /* of cuda_fp16.h and cuda_bf16.h */
	"FILE", "a64l", "abort", "abs", "accept", "access", "aligned_alloc", "alloca", "alphasort", "asctime",
	"asprintf", "at_quick_exit", "atexit", "atof", "atoi", "atol", "atoll", "basename", "bcmp", "bcopy", "bind",
	"bsearch", "bzero", "calloc", "clearerr", "clock", "clock64", "clock_t", "close", "connect", "ctermid", "ctime",
	"difftime", "dim3", "div", "div_t", "dprintf", "drand48", "dup", "ecvt", "erand48", "exit", "fclose", "fcvt",
	"fdopen", "feof", "ferror", "fflush", "ffs", "ffsl", "ffsll", "fgetc", "fgetpos", "fgets", "fileno", "fmemopen",
	"fopen", "fork", "fpos_t", "fprintf", "fputc", "fputs", "fread", "free", "freopen", "fscanf", "fseek", "fsetpos",
	"ftell", "fwrite", "gcvt", "getc", "getchar", "getdate", "getdelim", "getenv", "getline", "getpt", "gets",
	"getsubopt", "getw", "gmtime", "index", "initstate", "intmax_t", "intptr_t", "jrand48", "kill", "l64a", "labs",
	"lcong48", "ldiv", "ldiv_t", "link", "listen", "llabs", "lldiv", "llmax", "llmin", "localtime", "lrand48",
	"lseek", "malloc", "max", "max_align_t", "mblen", "mbstowcs", "mbtowc", "memccpy", "memchr", "memcmp", "memcpy",
	"memmove", "mempcpy", "memset", "min", "mkdtemp", "mkstemp", "mktemp", "mktime", "mrand48", "nanosleep",
	"nrand48", "off_t", "open", "pause", "pclose", "perror", "pid_t", "pipe", "poll", "popen", "printf", "pselect",
	"ptrdiff_t", "ptsname", "putc", "putchar", "putenv", "puts", "putw", "qsort", "quick_exit", "raise", "rand",
	"rand_r", "random", "read", "realloc", "realpath", "recv", "remove", "rename", "rewind", "rindex", "rpmatch",
	"scanf", "seed48", "select", "send", "setbuf", "setenv", "setstate", "setvbuf", "signal", "sleep", "snprintf",
	"sprintf", "srand", "srand48", "srandom", "sscanf", "ssize_t", "stpcpy", "stpncpy", "strcat", "strchr", "strcmp",
	"strcoll", "strcpy", "strcspn", "strdup", "strerror", "strlen", "strncat", "strncmp", "strncpy", "strndup",
	"strpbrk", "strrchr", "strsep", "strsignal", "strspn", "strstr", "strtod", "strtof", "strtok", "strtol",
	"strtold", "strtoll", "strtoul", "strtoull", "strxfrm", "swab", "sync", "system", "tempnam", "time", "time_t",
	"times", "tmpfile", "tmpnam", "truncate", "uint", "uintmax_t", "ullmax", "ullmin", "ulong", "umax", "umin",
	"ungetc", "unlink", "unsetenv", "ushort", "va_list", "valloc", "vfprintf", "vfscanf", "vprintf", "vscanf",
	"vsnprintf", "vsprintf", "vsscanf", "wait", "wcstombs", "wctomb", "write",
};

static bool in_list(const char *const *list, size_t n, const char *s, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (*list[i] == *s && strlen(list[i]) == len && !memcmp(list[i], s, len)) return true;
	return false;
}

/* int4, uchar2, double4_16a: the short vectors of CUDA. */
static bool is_short_vector(const char *s, size_t n)
{
	static const char *const elems[] = { "char", "short", "int", "long", "longlong", "float", "double" };
	if (n > 4 && (!memcmp(s + n - 4, "_16a", 4) || !memcmp(s + n - 4, "_32a", 4))) n -= 4;
	if (n < 2 || s[n - 1] < '1' || s[n - 1] > '4') return false;
	n--;
	size_t k = sizeof elems / sizeof *elems;
	return in_list(elems, k, s, n) || (s[0] == 'u' && in_list(elems, k - 2, s + 1, n - 1));
}

/* cudaError_t: of CUDA's runtime. */
static bool is_of_runtime(const char *s) { return !strncmp(s, "cuda", 4) && s[4] >= 'A' && s[4] <= 'Z'; }

static bool is_library(const char *s, size_t n)
{
	size_t k = sizeof library_math / sizeof *library_math;
	if (is_of_runtime(s)) return true;
	if (n > 5 && !memcmp(s, "make_", 5)) return is_library(s + 5, n - 5);
	if (in_list(library, sizeof library / sizeof *library, s, n) || in_list(library_math, k, s, n)) return true;
	return is_short_vector(s, n) || (n > 1 && (s[n - 1] == 'f' || s[n - 1] == 'l')
		&& in_list(library_math, k, s, n - 1));
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
	if (s[0] == '_' || begins_as_ours(s)) return str_fmt("u_%s", s);
	return is_library(s, n) || is_reserved(s, n) || is_own_macro(s, n) ? str_fmt("%s_", s) : s;
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
