/* Snippets: small functions that emitted text calls, kept as rows of a table and printed only where used.
 * Owns: the closure of used rows over what they call, and the names of conversions.
 * Assumes: every name a row defines or calls begins with `ct_`, and a row stands after those it calls (tested). What a
 * row needs is read from its text, and where a name is found is computed in each build (tools/snippets.awk), so no
 * second list can go stale.
 * Guarantees: each row at most once, in table order: the same set of used names gives the same
 * bytes. Depends on libc only. */
#ifndef EMIT_SNIPPET_H
#define EMIT_SNIPPET_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Snippet { const char *name, *text; int length; } Snippet;        /* of the name */
#ifndef SNIPPET_ROW     /* else the rows are read by tools/snippets.awk */
#define SNIPPET_ROW(name, text) { name, text, (int)sizeof name - 1 }
#endif

/* Where names are found: made with the compiler, since filling a table with thousands of names takes a small program a
 * twentieth of its time. Every name begins with ct_. */
enum { SNIP_PREFIX = 3, SNIP_FACTOR = 31, SNIP_SLOTS = 8191 };
typedef struct SnipNames {
	uint32_t lengths[UCHAR_MAX + 1];        /* of names, modulo 32, by their first character after ct_ */
	short slot[SNIP_SLOTS];                 /* row + 1, at the hash of the name or after it */
} SnipNames;

/* rows[0] is the head ("ct_head"): what must open the file. It is printed whenever snip_print is called. */
typedef struct SnipTable { const Snippet *rows; const SnipNames *names; int count; } SnipTable;

enum { SNIP_MAX = 4096 };
#define SNIP_TABLE(rows, names) { (rows), (names), (int)(sizeof(rows) / sizeof *(rows)) }

/* What one emitted file uses. */
typedef struct SnipSet {
	const SnipTable *table;
	bool used[SNIP_MAX];
} SnipSet;

typedef void SnipPut(void *ctx, const char *text);

void snip_init(SnipSet *s, const SnipTable *t);
int snip_find(const SnipSet *s, const char *name);              /* row, or -1 */
bool snip_use(SnipSet *s, const char *name);                    /* false: the table has no such row */
int snip_use_text(SnipSet *s, const char *text);                /* every row named in text; how many were new */
void snip_print(SnipSet *s, SnipPut *put, void *ctx);           /* head, used rows and what they need, in table order */
/* Calls fn once for each row that row i calls, in order of appearance (a row named twice is reported twice). */
void snip_needs(const SnipSet *s, int i, void (*fn)(void *ctx, int row), void *ctx);

/* Name of the conversion from element type src to dst ("f16", "i64", ...). rounding and overflow: the language's words
 * or NULL for the default. A mode without effect on the pair (an exact conversion, an overflow that cannot happen, the
 * type's default) leaves no trace in the name, so that every answer is a row. False: not a numeric type, a word that
 * the pair does not allow (`wrap` to a float, `inf` to f8e4m3 or an integer), or the buffer is too short. */
bool snip_cvt(char *buf, size_t n, const char *dst, const char *src, const char *rounding, const char *overflow);
/* Suffix of a mode: "toward_zero" -> "_rz", "flush" -> "_ftz", "propagate" -> "_nan" ...; "" for a
 * default, NULL for no mode. */
const char *snip_mode(const char *word);
#endif
