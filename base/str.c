/* The table of interned strings and the search for the nearest name. Each text is stored once after a small head
 * with its length and hash; open addressing, power-of-two table, at most half full. A slot has the hash too: a text
 * that another one stands in the way of is not read, which in a large program is a wait for memory. */
#include "base/str.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/fmt.h"
#include "base/hash.h"

typedef struct StrHead { uint32_t hash; size_t len; char text[]; } StrHead;

static Arena *str_arena;
typedef struct StrSlot { StrHead *head; uint32_t hash; } StrSlot;

static StrSlot *str_table;
static size_t str_cap, str_count;

static const StrHead *str_head(Str s)
{
	return (const StrHead *)(const void *)(s - offsetof(StrHead, text));
}

static void str_rehash(void)
{
	size_t cap = str_cap ? str_cap * 2 : 1024;
	StrSlot *t = arena_array(str_arena, cap, sizeof *t);
	for (size_t i = 0; i < str_cap; i++) {
		if (!str_table[i].head) continue;
		size_t k = str_table[i].hash & (cap - 1);
		while (t[k].head) k = (k + 1) & (cap - 1);
		t[k] = str_table[i];
	}
	str_table = t;
	str_cap = cap;
}

Str str_intern_n(const char *s, size_t n)
{
	if (!str_arena) str_arena = arena_new();
	if (str_count * 2 >= str_cap) str_rehash();
	uint32_t h = hash_bytes(s, n);
	size_t k = h & (str_cap - 1);
	for (; str_table[k].head; k = (k + 1) & (str_cap - 1)) {
		StrHead *e = str_table[k].head;
		if (str_table[k].hash == h && e->len == n && (!n || memcmp(e->text, s, n) == 0)) return e->text;
	}
	StrHead *e = arena_alloc(str_arena, sizeof *e + n + 1);
	e->hash = h;
	e->len = n;
	if (n) memcpy(e->text, s, n);
	str_table[k] = (StrSlot){ e, h };
	str_count++;
	return e->text;
}

Str str_intern(const char *s)
{
	return str_intern_n(s, strlen(s));
}

Str str_fmt(const char *fmt, ...)
{
	char buf[256];
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = fmt_text(buf, sizeof buf, fmt, ap);
	va_end(ap);
	Str s;
	if (n < (int)sizeof buf) {
		s = str_intern_n(buf, (size_t)(n < 0 ? 0 : n));
	} else {
		Arena *tmp = arena_new();
		char *p = arena_alloc(tmp, (size_t)n + 1);
		fmt_text(p, (size_t)n + 1, fmt, again);
		s = str_intern_n(p, (size_t)n);
		arena_free(tmp);
	}
	va_end(again);
	return s;
}

size_t str_len(Str s)
{
	return str_head(s)->len;
}

uint32_t str_hash(Str s)
{
	return str_head(s)->hash;
}

const char *str_i64(int64_t v)
{
	return str_fmt("%lld", (long long)v);
}

/* ---- nearest name ---- */
enum { NEAR_MAX = 2, NEAR_LEN = 120 };

static int min_int(int a, int b) { return a < b ? a : b; }

/* Edits with swaps of neighbours (optimal string alignment), three rolling rows. */
static int near_dist(const char *a, int n, const char *b, int m)
{
	int row[3][NEAR_LEN + 1];
	for (int j = 0; j <= m; j++) row[0][j] = j;
	for (int i = 1; i <= n; i++) {
		int *cur = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];
		cur[0] = i;
		for (int j = 1; j <= m; j++) {
			int d = min_int(min_int(up[j], cur[j - 1]) + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
			bool swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
			cur[j] = swap ? min_int(d, up2[j - 2] + 1) : d;
		}
	}
	return row[n % 3][m];
}

void near_begin(Near *n, const char *word)
{
	*n = (Near){ NULL, NEAR_LEN, word };
}

/* The shorter is the beginning of the longer, which goes on within a word: `reduce_max` and `reduce_maximum`. */
static bool near_begins(const char *a, size_t n, const char *b, size_t m)
{
	if (n > m) return near_begins(b, m, a, n);
	return n >= 3 && m <= 2 * n + 1 && strncmp(a, b, n) == 0 && b[n] >= 'a' && b[n] <= 'z';
}

/* A short word with another first letter is another word, not a slip: `celu` and `gelu`. */
void near_offer(Near *n, Str candidate)
{
	size_t a = strlen(n->word), b = str_len(candidate);
	size_t gap = a > b ? a - b : b - a;
	if (gap && (int)gap + NEAR_MAX < n->dist && near_begins(n->word, a, candidate, b)) {
		n->best = candidate;
		n->dist = (int)gap + NEAR_MAX;
	}
	if (gap > NEAR_MAX || a > NEAR_LEN || b > NEAR_LEN) return;
	int d = near_dist(n->word, (int)a, candidate, (int)b);
	if (d > NEAR_MAX || (size_t)d * 2 >= a || d >= n->dist) return;
	bool swap = a > 1 && b > 1 && n->word[0] == candidate[1] && n->word[1] == candidate[0];
	if (n->word[0] != candidate[0] && !swap && (size_t)d * 4 >= a) return;
	n->best = candidate;
	n->dist = d;
}
