/* Typed growable arrays over an arena. `VEC(T) v = {0}; vec_push(arena, &v, x); v.p[i], v.n`.
 * Freed with the arena; growing copies, so pointers to elements die at the next push. */
#ifndef BASE_VEC_H
#define BASE_VEC_H
#include "base/arena.h"

#define VEC(T) struct { T *p; int n, cap; }

#define vec_reserve(arena, v, want) \
	((void)((v)->cap >= (want) || \
	((v)->p = arena_grow((arena), (v)->p, (size_t)(v)->n, (size_t)vec_cap_((v)->cap, (want)), sizeof *(v)->p), \
	 (v)->cap = vec_cap_((v)->cap, (want)))))
#define vec_push(arena, v, x) (vec_reserve(arena, v, (v)->n + 1), (void)((v)->p[(v)->n++] = (x)))

int vec_cap_(int cap, int want);        /* next capacity: doubling, at least want; too large is a fatal sentence */
#endif
