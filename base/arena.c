/* Arenas as chains of blocks; see arena.h. A block larger than the standard size holds one large object.
 *
 * Blocks come from the system: its pages are zero, and cost nothing until they are touched. Not pages of 2 MiB: where
 * the system is a guest, the host has to find memory for each of them, and 100,000 lines took a fifth longer. */
#define _DEFAULT_SOURCE
#include "base/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/diag.h"
#include "base/fmt.h"

enum { BLOCK = 1 << 20, KEPT = 4 };

typedef struct ArenaBlock {
	struct ArenaBlock *prev;
	size_t size, used;      /* bytes with this head; bytes of data that were given out when another block came on top */
	_Alignas(max_align_t) char data[];
} ArenaBlock;

Arena *A_UNIT;
Arena *A_TMP;

_Noreturn void out_of_memory(const char *more)
{
	fprintf(stderr, "ctilec: error: out of memory%s\n", more);
	exit(1);
}

Arena *arena_new(void)
{
	Arena *a = calloc(1, sizeof *a);
	if (!a) out_of_memory("");
	return a;
}

/* ---- blocks ---- */
#ifdef CT_ARENA_MALLOC
static ArenaBlock *block_new(size_t size) { return calloc(1, size); }

static void block_free(ArenaBlock *b, size_t used) { (void)used, free(b); }
#else
/* Blocks of the standard size that were given back, cleared, for any arena: to clear one costs less than new pages from
 * the system, of which a mark at a block's end and each thread block of the simulator would take some. */
static ArenaBlock *kept;
static int nkept;

static ArenaBlock *block_new(size_t size)
{
	if (size == BLOCK && kept) {
		ArenaBlock *b = kept;
		kept = b->prev;
		nkept--;
		return b;
	}
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* used: bytes of its data that may not be 0 */
static void block_free(ArenaBlock *b, size_t used)
{
	if (b->size != BLOCK || nkept == KEPT) {
		munmap(b, b->size);
		return;
	}
	memset(b->data, 0, used);
	b->prev = kept;
	kept = b;
	nkept++;
}
#endif

/* The rest of the top block is left: what comes next may be larger than that. */
static void arena_push(Arena *a, size_t room)
{
	if (room > SIZE_MAX / 2) out_of_memory("");
	size_t size = sizeof *a->top + room;
#ifndef CT_ARENA_MALLOC
	if (size < BLOCK) size = BLOCK;
#endif
	ArenaBlock *b = block_new(size);
	if (!b) out_of_memory("");
	b->size = size;
	a->bytes += size;
	if (a->top) a->top->used = (size_t)(a->at - a->top->data);
	b->prev = a->top;
	a->top = b;
	a->at = b->data;
	a->end = (char *)b + b->size;
}

static void arena_pop(Arena *a)
{
	ArenaBlock *b = a->top;
	size_t used = (size_t)(a->at - b->data);
	a->top = b->prev;
	a->at = a->top ? a->top->data + a->top->used : NULL;
	a->end = a->top ? (char *)a->top + a->top->size : NULL;
	a->bytes -= b->size;
	block_free(b, used);
}

void arena_free(Arena *a)
{
	if (!a) return;
	while (a->top) arena_pop(a);
	free(a);
}

/* ---- objects ---- */
void *arena_from_next(Arena *a, size_t n)
{
#ifdef CT_ARENA_MALLOC
	arena_push(a, n ? n : 1);
	a->at += n;
	return a->top->data;
#else
	arena_push(a, n > SIZE_MAX - ARENA_ALIGN ? n : n + ARENA_ALIGN);
	return arena_alloc(a, n);
#endif
}

void arena_too_large(void) { out_of_memory(""); }

#ifndef CT_ARENA_MALLOC
/* Is p, of n bytes, what was allocated last, and room for so many bytes behind it? */
static bool is_last(const Arena *a, const char *p, size_t n, size_t bytes)
{
	if (!p) return false;
	const char *end = p + (n + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
	return end == a->at && (size_t)(a->end - p) > bytes + ARENA_ALIGN;
}
#endif

void *arena_grow(Arena *a, void *p, size_t old_n, size_t new_n, size_t size)
{
#ifndef CT_ARENA_MALLOC
	size_t bytes;
	if (!__builtin_mul_overflow(new_n, size, &bytes) && is_last(a, p, old_n * size, bytes) && new_n >= old_n) {
		a->at = (char *)p + (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
		return p;
	}
#endif
	void *q = arena_array(a, new_n, size);
	if (old_n) memcpy(q, p, (old_n < new_n ? old_n : new_n) * size);
	return q;
}

char *arena_strndup(Arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1);
	if (n) memcpy(p, s, n);
	return p;
}

char *arena_printf(Arena *a, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = fmt_text(NULL, 0, fmt, ap);
	va_end(ap);
	char *p = arena_alloc(a, (size_t)(n < 0 ? 0 : n) + 1);
	if (n > 0) fmt_text(p, (size_t)n + 1, fmt, again);
	va_end(again);
	return p;
}

ArenaMark arena_mark(Arena *a)
{
	return (ArenaMark){ a->top, a->at };
}

void arena_release(Arena *a, ArenaMark m)
{
	while (a->top && a->top != m.block) arena_pop(a);
	if (!a->top) return;
	/* memory is promised zeroed, so what is given back is cleared for the next owner */
	memset(m.at, 0, (size_t)(a->at - (char *)m.at));
	a->at = m.at;
}

size_t arena_bytes(const Arena *a)
{
	return a->bytes;
}
