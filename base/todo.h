/* A set of the numbers below some n, walked in order while it changes: the places a walk must come by again. Each operation
 * takes a step per factor of 64 in n. */
#ifndef BASE_TODO_H
#define BASE_TODO_H
#include <stdint.h>
#include "base/arena.h"

enum { TODO_LEVELS = 6 };       /* 64^6 is more than an int holds */
typedef struct Todo {
	int n, levels;
	uint64_t *bits[TODO_LEVELS];    /* [0]: a bit per member; [k + 1]: a bit per word of [k] that is not 0 */
} Todo;

Todo todo_new(Arena *a, int n);         /* empty */
void todo_add(Todo *t, int i);
void todo_remove(Todo *t, int i);
void todo_fill(Todo *t);                /* all numbers below n */
int todo_next(const Todo *t, int from); /* the least member >= from; -1: none */
int todo_prev(const Todo *t, int from); /* the greatest member <= from; -1: none */
#endif
