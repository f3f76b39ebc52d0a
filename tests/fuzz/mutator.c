/* Half of the mutations are of bytes, libFuzzer's own; the other half are of tokens: words, numbers, operators and lines change
 * places, come again, go, or become others of their kind. So a text stays nearly right, which is where most code lies. */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed);

enum { TOKENS = 4096, ROOM = 1 << 16 };
typedef struct Text { uint8_t *p; size_t n, most; int ntok; uint32_t tok[TOKENS + 1]; } Text;

static uint64_t state;

static uint32_t below(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return n ? (uint32_t)(state >> 33) % n : 0;
}

static bool in_word(uint8_t c) { return isalnum(c) || c == '_'; }

static void split(Text *t)
{
	t->ntok = 0;
	for (size_t i = 0; i < t->n && t->ntok < TOKENS;) {
		t->tok[t->ntok++] = (uint32_t)i;
		if (in_word(t->p[i]))
			while (i < t->n && in_word(t->p[i])) i++;
		else i++;
	}
	t->tok[t->ntok] = (uint32_t)(t->ntok < TOKENS ? t->n : t->tok[t->ntok - 1] + 1);
}

/* Puts `with` in the place of bytes [lo, hi). */
static void replace(Text *t, size_t lo, size_t hi, const uint8_t *with, size_t n)
{
	static uint8_t copy[ROOM];
	if (n > ROOM || t->n - (hi - lo) + n > t->most) return;
	if (n) memcpy(copy, with, n);
	memmove(t->p + lo + n, t->p + hi, t->n - hi);
	if (n) memcpy(t->p + lo, copy, n);
	t->n = t->n - (hi - lo) + n;
}

static int word_like(const Text *t, int as)
{
	bool word = in_word(t->p[t->tok[as]]), number = isdigit(t->p[t->tok[as]]);
	for (int tries = 0; tries < 64; tries++) {
		int k = (int)below((uint32_t)t->ntok);
		uint8_t c = t->p[t->tok[k]];
		if (in_word(c) == word && (isdigit(c) != 0) == number && !isspace(c)) return k;
	}
	return as;
}

static int solid(const Text *t)
{
	int k = 0;
	for (int tries = 0; tries < 64; tries++) {
		k = (int)below((uint32_t)t->ntok);
		if (!isspace(t->p[t->tok[k]])) break;
	}
	return k;
}

static void put_word(Text *t, int at)
{
	static const char *const words[] = {
		"0", "1", "2", "3", "4", "8", "16", "31", "32", "64", "65", "128", "1024", "65536", "2147483647", "2147483648", "4294967296",
		"9223372036854775807", "9223372036854775808", "18446744073709551615", "-1", "0.5", "1e38", "1e400", "f32", "f16", "bf16", "i32",
		"i64", "u8", "bool", "f8e4m3", "n", "x", "out", "inout", "unsafe", "for", "if", "let", "var", "<", ">", "(", ")", "[", "]", "{",
		"}", ",", ";", ":", ".", "..", "->", "=", "==", "&&", "||", "<<", ">>", "*", "%%", "@", "#", "\"", "\\", "//", "/*", "*/"
	};
	const char *w = words[below(sizeof words / sizeof *words)];
	replace(t, t->tok[at], t->tok[at + 1], (const uint8_t *)w, strlen(w));
}

/* The line around a byte, with its end. */
static void line_of(const Text *t, size_t at, size_t *lo, size_t *hi)
{
	*lo = *hi = at;
	while (*lo && t->p[*lo - 1] != '\n') --*lo;
	while (*hi < t->n && t->p[*hi] != '\n') ++*hi;
	if (*hi < t->n) ++*hi;
}

static void mutate_once(Text *t)
{
	split(t);
	if (t->ntok < 2) return;
	int i = solid(t), k = solid(t), run = 1 + (int)below(10);
	int end_i = i + run < t->ntok ? i + run : t->ntok, end_k = k + run < t->ntok ? k + run : t->ntok;
	size_t lo, hi, lo2, hi2;
	switch (below(10)) {
	case 0: replace(t, t->tok[i], t->tok[i + 1], NULL, 0); break;
	case 1: replace(t, t->tok[i], t->tok[end_i], NULL, 0); break;
	case 2: replace(t, t->tok[i], t->tok[i], t->p + t->tok[k], t->tok[end_k] - t->tok[k]); break;
	case 3: case 4:
		k = word_like(t, i);
		replace(t, t->tok[i], t->tok[i + 1], t->p + t->tok[k], t->tok[k + 1] - t->tok[k]);
		break;
	case 5: case 6: put_word(t, i); break;
	case 7:
		line_of(t, t->tok[i], &lo, &hi);
		replace(t, lo, hi, NULL, 0);
		break;
	case 8:
		line_of(t, t->tok[i], &lo, &hi);
		line_of(t, t->tok[k], &lo2, &hi2);
		replace(t, lo, lo, t->p + lo2, hi2 - lo2);
		break;
	case 9: replace(t, t->tok[i], t->tok[end_i], t->p + t->tok[k], t->tok[k + 1] - t->tok[k]); break;
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed)
{
	static Text t;
	state = seed * 0x9E3779B97F4A7C15u + n;
	if (n < 4 || below(2)) return LLVMFuzzerMutate(data, n, most);
	t.p = data;
	t.n = n;
	t.most = most;
	for (int k = 1 + (int)below(3); k > 0; k--) mutate_once(&t);
	return t.n ? t.n : LLVMFuzzerMutate(data, n, most);
}
