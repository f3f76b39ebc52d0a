/* Arenas: all memory of the compiler lives in one of these and dies with it.
 * Owns: every allocation outside the C library. Guarantees: memory is zeroed and aligned for any type; an
 * allocation never fails from the caller's view: out of memory is a plain sentence and exit 1 (out_of_memory).
 * With -DCT_ARENA_MALLOC each object is a block of its own, so that memory checkers see its bounds. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H
#include <stddef.h>
#include <stdint.h>

_Noreturn void out_of_memory(const char *more);         /* more: what else the message says, or "" */

typedef struct Arena {
	char *at, *end;                 /* the room that is left in the top block */
	struct ArenaBlock *top;
	size_t bytes;
} Arena;
typedef struct ArenaMark { void *block, *at; } ArenaMark;

Arena *arena_new(void);
void arena_free(Arena *a);                              /* the arena and all that was allocated from it */
void *arena_from_next(Arena *a, size_t n);              /* arena_alloc where the top block has no room */
_Noreturn void arena_too_large(void);
void *arena_grow(Arena *a, void *p, size_t old_n, size_t new_n, size_t size);   /* old contents copied */
char *arena_strndup(Arena *a, const char *s, size_t n);
char *arena_printf(Arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
ArenaMark arena_mark(Arena *a);
void arena_release(Arena *a, ArenaMark m);              /* frees what was allocated since the mark */
size_t arena_bytes(const Arena *a);                     /* bytes obtained from the system */

enum { ARENA_ALIGN = sizeof(max_align_t) > 16 ? 16 : sizeof(max_align_t) };

/* n bytes, zeroed; n = 0 gives a valid pointer. */
static inline void *arena_alloc(Arena *a, size_t n)
{
#ifndef CT_ARENA_MALLOC
	size_t room = (n + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
	if (room >= n && (size_t)(a->end - a->at) > room) {
		void *p = a->at;
		a->at += room;
		return p;
	}
#endif
	return arena_from_next(a, n);
}

/* n * size bytes, the product checked. */
static inline void *arena_array(Arena *a, size_t n, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, size, &bytes)) arena_too_large();
	return arena_alloc(a, bytes);
}

/* Lifetimes (architecture): the unit lives as long as the compilation; temporaries as long as a pass. */
extern Arena *A_UNIT;
extern Arena *A_TMP;

#define NEW(arena, T) ((T *)arena_alloc((arena), sizeof(T)))
#define NEW_ARRAY(arena, T, n) ((T *)arena_array((arena), (size_t)(n), sizeof(T)))
#endif
