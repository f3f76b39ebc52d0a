/* See snippet.h. The closure is one pass from the last row to the first, because a row stands after those it calls. */
#include <stdio.h>
#include <string.h>
#include "emit/snippet.h"

static const bool in_words[UCHAR_MAX + 1] = {
	['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['0' ... '9'] = true, ['_'] = true
};

static bool is_word(char c) { return in_words[(unsigned char)c]; }

static size_t word_len(const char *s)
{
	size_t n = 0;
	while (is_word(s[n])) n++;
	return n;
}

/* As tools/snippets.awk has it. */
static unsigned first_slot(const char *name, size_t n)
{
	uint32_t h = 0;
	for (size_t i = SNIP_PREFIX; i < n; i++) h = h * SNIP_FACTOR + (unsigned char)name[i];
	return h % SNIP_SLOTS;
}

/* The row that the word of n characters at `name` names. Most words are variables of kernels. */
static int find_word(const SnipSet *s, const char *name, size_t n)
{
	const SnipNames *names = s->table->names;
	if (n <= SNIP_PREFIX || !(names->lengths[(unsigned char)name[SNIP_PREFIX]] >> n % 32 & 1)) return -1;
	for (unsigned h = first_slot(name, n); names->slot[h]; h = (h + 1) % SNIP_SLOTS) {
		const Snippet *row = &s->table->rows[names->slot[h] - 1];
		if ((size_t)row->length == n && !memcmp(row->name, name, n))
			return names->slot[h] - 1;
	}
	return -1;
}

void snip_init(SnipSet *s, const SnipTable *t)
{
	memset(s, 0, sizeof *s);
	s->table = t;
}

int snip_find(const SnipSet *s, const char *name)
{
	return find_word(s, name, strlen(name));
}

bool snip_use(SnipSet *s, const char *name)
{
	int i = snip_find(s, name);
	if (i < 0)
		return false;
	s->used[i] = true;
	return true;
}

/* The next row named in the text at *p, which moves past it; -1 at the end. */
static int next_name(const SnipSet *s, const char **p)
{
	const char *q = *p;
	while ((q = strstr(q, "ct_"))) {
		size_t n = word_len(q);
		bool within = q > *p && is_word(q[-1]);         /* a longer word */
		int row = within ? -1 : find_word(s, q, n);
		q += n;
		if (row >= 0) {
			*p = q;
			return row;
		}
	}
	return -1;
}

int snip_use_text(SnipSet *s, const char *text)
{
	int fresh = 0;
	for (int i; (i = next_name(s, &text)) >= 0; ) {
		fresh += !s->used[i];
		s->used[i] = true;
	}
	return fresh;
}

void snip_needs(const SnipSet *s, int i, void (*fn)(void *ctx, int row), void *ctx)
{
	const char *p = s->table->rows[i].text;
	for (int r; (r = next_name(s, &p)) >= 0; )
		if (r != i)
			fn(ctx, r);
}

void snip_print(SnipSet *s, SnipPut *put, void *ctx)
{
	const SnipTable *t = s->table;
	for (int i = t->count - 1; i >= 0; i--)
		if (s->used[i])
			snip_use_text(s, t->rows[i].text);
	s->used[0] = true;
	for (int i = 0; i < t->count; i++)
		if (s->used[i])
			put(ctx, t->rows[i].text);
}

/* What decides which values of one type another can hold. digits: significand with the hidden bit, or value bits of an
 * integer; emax, emin: exponents of the greatest and of the least normal number; inf: has infinities. */
typedef struct Num { const char *name; char kind; int digits, emax, emin; bool inf; } Num;
static const Num nums[] = {
	{ "bool", 'b', 1, 0, 0, false },
	{ "i8", 's', 7, 0, 0, false }, { "i16", 's', 15, 0, 0, false },
	{ "i32", 's', 31, 0, 0, false }, { "i64", 's', 63, 0, 0, false },
	{ "u8", 'u', 8, 0, 0, false }, { "u16", 'u', 16, 0, 0, false },
	{ "u32", 'u', 32, 0, 0, false }, { "u64", 'u', 64, 0, 0, false },
	{ "f8e4m3", 'f', 4, 8, -6, false }, { "f8e5m2", 'f', 3, 15, -14, true },
	{ "f16", 'f', 11, 15, -14, true }, { "bf16", 'f', 8, 127, -126, true },
	{ "tf32", 'f', 11, 127, -126, true }, { "f32", 'f', 24, 127, -126, true },
	{ "f64", 'f', 53, 1023, -1022, true },
};

static const Num *num_of(const char *name)
{
	for (size_t i = 0; i < sizeof nums / sizeof *nums; i++)
		if (!strcmp(nums[i].name, name))
			return &nums[i];
	return NULL;
}

/* Every finite value of s is a value of d (d a float). The least subnormal decides at the lower end; -2^n of a signed
 * integer is a power of two and never needs more digits. */
static bool holds(const Num *d, const Num *s)
{
	if (s->kind != 'f')
		return s->digits <= d->digits && s->digits <= d->emax;
	return s->digits <= d->digits && s->emax <= d->emax && s->emin - s->digits >= d->emin - d->digits;
}

/* Some value of s becomes an infinity, or what stands for one, in d. */
static bool overflows(const Num *d, const Num *s)
{
	if (s->kind != 'f')
		return s->digits > d->emax;
	return s->inf || s->emax > d->emax;
}

static const struct { const char *word, *suffix; } modes[] = {
	{ "nearest_even", "" }, { "toward_zero", "_rz" }, { "toward_negative", "_rm" }, { "toward_positive", "_rp" },
	{ "approximate", "_approx" }, { "full", "_full" }, { "ties_even", "_re" }, { "preserve", "" }, { "flush", "_ftz" },
	{ "suppress", "" }, { "propagate", "_nan" },
	{ "default", "" }, { "saturate", "_sat" }, { "inf", "_inf" }, { "nan", "_nan" }, { "wrap", "_wrap" },
};

const char *snip_mode(const char *word)
{
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(modes[i].word, word))
			return modes[i].suffix;
	return NULL;
}

/* The overflow suffix for d from s; NULL: not allowed. */
static const char *overflow_suffix(const Num *d, const Num *s, const char *word, bool directed)
{
	const char *o = word ? snip_mode(word) : "";
	if (!o || !*o)
		return o;
	bool sat = !strcmp(word, "saturate"), wrap = !strcmp(word, "wrap");
	if (d->kind == 'b')
		return sat || wrap ? "" : NULL;
	if (d->kind != 'f')
		return !sat && !wrap ? NULL : sat == (s->kind == 'f') ? "" : o;
	bool small = d->digits <= 4;        /* the 8-bit floats saturate by default */
	if (wrap || (!strcmp(word, "inf") && !d->inf))
		return NULL;
	/* what happens without the word: nothing to an infinity of the same type; a directed mode
	 * stops at the greatest number */
	bool usual = d == s ? !strcmp(word, "inf") : small ? sat : !strcmp(word, "inf") && !directed;
	return usual || !overflows(d, s) ? "" : o;
}

bool snip_cvt(char *buf, size_t n, const char *dst, const char *src, const char *rounding, const char *overflow)
{
	const Num *d = num_of(dst), *s = num_of(src);
	const char *r = rounding ? snip_mode(rounding) : "";
	if (!d || !s || !r)
		return false;
	bool whole = !strcmp(r, "_re") && d->kind != 'f' && s->kind == 'f';
	if (!whole && (d->kind != 'f' || holds(d, s) || (!strcmp(r, "_re") && strcmp(dst, "tf32"))))
		r = "";
	const char *o = overflow_suffix(d, s, overflow, *r && strcmp(r, "_re"));
	if (!o)
		return false;
	if (s->kind == 'b' || (d == s && d->kind != 'f'))
		o = "";
	return (size_t)snprintf(buf, n, "ct_cvt_%s_%s%s%s", dst, src, r, o) < n;
}
