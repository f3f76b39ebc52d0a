/* Sets of numbers that are walked in order: bits, and above them bits that say which words hold any. */
#include "base/worklist.h"

static int words(int n) { return n / 64 + (n % 64 != 0); }

Worklist worklist_new(Arena *a, int n)
{
	Worklist t = { .n = n };
	int count = n;
	do {
		count = words(count);
		t.bits[t.levels++] = NEW_ARRAY(a, uint64_t, count ? count : 1);
	} while (count > 1);
	return t;
}

void worklist_add(Worklist *t, int i)
{
	for (int k = 0; k < t->levels; k++, i /= 64) t->bits[k][i / 64] |= (uint64_t)1 << i % 64;
}

void worklist_remove(Worklist *t, int i)
{
	for (int k = 0; k < t->levels; k++, i /= 64)
		if (t->bits[k][i / 64] &= ~((uint64_t)1 << i % 64)) return;
}

void worklist_fill(Worklist *t)
{
	for (int k = 0, n = t->n; k < t->levels; k++, n = words(n))
		for (int i = 0; i < words(n); i++) t->bits[k][i] = n - 64 * i >= 64 ? UINT64_MAX : ((uint64_t)1 << n % 64) - 1;
}

static int lowest(uint64_t w) { return __builtin_ctzll(w); }    /* the least bit of w != 0 */
static int highest(uint64_t w) { return 63 - __builtin_clzll(w); }

int worklist_next(const Worklist *t, int from)
{
	int i = from, count = t->n;
	for (int k = 0; k < t->levels && i < count; k++, i = i / 64 + 1, count = words(count)) {
		uint64_t w = t->bits[k][i / 64] >> i % 64 << i % 64;
		if (!w) continue;
		for (i = i / 64 * 64 + lowest(w); k > 0; i = i * 64 + lowest(t->bits[k][i])) k--;
		return i;
	}
	return -1;
}

int worklist_prev(const Worklist *t, int from)
{
	int i = from;
	for (int k = 0; k < t->levels && i >= 0; k++, i = i / 64 - 1) {
		uint64_t w = t->bits[k][i / 64] << (63 - i % 64) >> (63 - i % 64);
		if (!w) continue;
		for (i = i / 64 * 64 + highest(w); k > 0; i = i * 64 + highest(t->bits[k][i])) k--;
		return i;
	}
	return -1;
}
