/* Arenas: all memory of the compiler lives in one of these and dies with it.
 * Owns: every allocation outside the C library. Guarantees: memory is zeroed and aligned for any type; an
 * allocation never fails from the caller's view: out of memory is a plain sentence and exit 1 (out_of_memory).
 * With -DCT_ARENA_MALLOC each object is a block of its own, so that memory checkers see its bounds. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H
#include <stddef.h>

_Noreturn void out_of_memory(const char *more);         /* more: what else the message says, or "" */

typedef struct Arena Arena;
typedef struct ArenaMark { void *block, *at; } ArenaMark;

Arena *arena_new(void);
void arena_free(Arena *a);                              /* the arena and all that was allocated from it */
void *arena_alloc(Arena *a, size_t n);                  /* n bytes, zeroed; n = 0 gives a valid pointer */
void *arena_array(Arena *a, size_t n, size_t size);     /* n * size with the product checked */
void *arena_grow(Arena *a, void *p, size_t old_n, size_t new_n, size_t size);   /* old contents copied */
char *arena_strndup(Arena *a, const char *s, size_t n);
char *arena_printf(Arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
ArenaMark arena_mark(Arena *a);
void arena_release(Arena *a, ArenaMark m);              /* frees what was allocated since the mark */
size_t arena_bytes(const Arena *a);                     /* bytes obtained from the system */

/* Lifetimes (architecture): the unit lives as long as the compilation; temporaries as long as a pass. */
extern Arena *A_UNIT;
extern Arena *A_TMP;

#define NEW(arena, T) ((T *)arena_alloc((arena), sizeof(T)))
#define NEW_ARRAY(arena, T, n) ((T *)arena_array((arena), (size_t)(n), sizeof(T)))
#endif
