/* Arenas as chains of blocks; see arena.h. A block larger than the standard size holds one large object. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/fmt.h"

enum { ALIGN = sizeof(max_align_t) > 16 ? 16 : sizeof(max_align_t), BLOCK = 64 * 1024 };

typedef struct ArenaBlock {
	struct ArenaBlock *prev;
	size_t size, used;
	_Alignas(max_align_t) unsigned char data[];
} ArenaBlock;

struct Arena {
	ArenaBlock *top;
	ArenaBlock *spare;      /* one cleared block kept back: a mark at a block's end must not cost a calloc each time */
	size_t bytes;
};

Arena *A_UNIT;
Arena *A_TMP;

static _Noreturn void arena_oom(void)
{
	die("out of memory");
}

Arena *arena_new(void)
{
	Arena *a = calloc(1, sizeof *a);
	if (!a) arena_oom();
	return a;
}

static void arena_push(Arena *a, size_t size)
{
	ArenaBlock *b = a->spare;
	if (b && size == b->size) {
		a->spare = NULL;
	} else {
		b = size > SIZE_MAX / 2 ? NULL : calloc(1, sizeof *b + size);
		if (!b) arena_oom();
		b->size = size;
		a->bytes += sizeof *b + size;
	}
	b->prev = a->top;
	a->top = b;
}

static void arena_pop(Arena *a)
{
	ArenaBlock *b = a->top;
	a->top = b->prev;
#ifndef CT_ARENA_MALLOC
	if (!a->spare && b->size == BLOCK) {
		memset(b->data, 0, b->used);
		b->used = 0;
		a->spare = b;
		return;
	}
#endif
	a->bytes -= sizeof *b + b->size;
	free(b);
}

void arena_free(Arena *a)
{
	if (!a) return;
	while (a->top) arena_pop(a);
	free(a->spare);
	free(a);
}

void *arena_alloc(Arena *a, size_t n)
{
#ifdef CT_ARENA_MALLOC
	arena_push(a, n ? n : 1);
	a->top->used = n;
	return a->top->data;
#else
	if (n > SIZE_MAX / 2) arena_oom();
	n = (n + ALIGN - 1) / ALIGN * ALIGN;
	if (!a->top || a->top->size - a->top->used < n) arena_push(a, n > BLOCK ? n : BLOCK);
	void *p = a->top->data + a->top->used;
	a->top->used += n;
	return p;
#endif
}

void *arena_array(Arena *a, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size) arena_oom();
	return arena_alloc(a, n * size);
}

void *arena_grow(Arena *a, void *p, size_t old_n, size_t new_n, size_t size)
{
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
	return (ArenaMark){ a->top, a->top ? a->top->used : 0 };
}

void arena_release(Arena *a, ArenaMark m)
{
	while (a->top && a->top != m.block) arena_pop(a);
	if (!a->top) return;
	/* memory is promised zeroed, so what is given back is cleared for the next owner */
	memset(a->top->data + m.used, 0, a->top->used - m.used);
	a->top->used = m.used;
}

size_t arena_bytes(const Arena *a)
{
	return a->bytes;
}
