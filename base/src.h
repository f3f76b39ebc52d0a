/* Source files and places in them. A place is a byte offset into one space shared by all files, so a span is
 * eight bytes; lines and columns are computed only when something is printed. */
#ifndef BASE_SRC_H
#define BASE_SRC_H
#include "base/vec.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/str.h"

typedef struct Span { uint32_t lo, hi; } Span;      /* [lo, hi); {0,0} = no place */
typedef VEC(Span) SpanVec;

typedef struct Src {
	Str path;                /* as shown: as given on the command line, or found by import */
	const char *text;        /* NUL-terminated, immutable, outlives all spans */
	uint32_t len;            /* bytes, without the NUL */
	uint32_t base;           /* place of its first byte; place 0 is never used */
	uint32_t *line;          /* offsets of line starts, nline of them; built on first use */
	uint32_t nline;
	uint32_t last;           /* of these the one that was asked for last: the next place is often on it, too */
	int index;               /* order of loading, 0 = main file */
} Src;

typedef struct Place { const Src *src; uint32_t line, col; } Place;   /* from 1; col in bytes */

/* Registers text as a source. text must stay alive. NULL when the shared space of 4 GiB is used up. */
Src *src_add(Str path, const char *text, size_t len);
#define SRC_FULL "all sources together are larger than 4 GiB"    /* why it gives NULL */
int src_count(void);
Src *src_at(int index);
const Src *src_of(Span s);                       /* NULL for no place */
Str span_source(Span at);                       /* the text there, in one line */
Place src_place(uint32_t pos);
static inline Span span_join(Span a, Span b)
{
	if (!a.hi) return b;
	if (!b.hi) return a;
	return (Span){ a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi };
}

/* Reads a file, or standard input for "-", whole. On failure returns NULL and *why is a plain sentence part
 * ("no such file", "is a directory", "permission denied", SRC_TOO_LARGE). Result lives in A_UNIT. All files of a run,
 * imports and lists included, have SRC_MOST bytes at most: a device that never ends is refused after so many. */
enum { SRC_MOST = 64 << 20 };
void src_begin(void);                            /* another run begins to count */
#define SRC_TOO_LARGE "all input files together are larger than 64 MiB"
char *src_read(const char *path, size_t *len, const char **why);

/* --file-prefix-map: rewrites the start of a path that goes into an output. */
void src_prefix_map(const char *from, const char *to);
void src_prefix_map_first(const char *from, const char *to);   /* of least weight: for the installed stdlib */
Str src_mapped(Str path);
#endif
