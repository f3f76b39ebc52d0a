/* A set of the numbers below some n, walked in order while it changes: the places a walk must come by again. Each
 * operation takes a step per factor of 64 in n. */
#ifndef BASE_WORKLIST_H
#define BASE_WORKLIST_H
#include <stdint.h>
#include "base/arena.h"

enum { WORKLIST_LEVELS = 6 };       /* 64^6 is more than an int holds */
typedef struct Worklist {
	int n, levels;
	uint64_t *bits[WORKLIST_LEVELS];    /* [0]: a bit per member; [k + 1]: a bit per word of [k] that is not 0 */
} Worklist;

Worklist worklist_new(Arena *a, int n);         /* empty */
void worklist_add(Worklist *t, int i);
void worklist_remove(Worklist *t, int i);
void worklist_fill(Worklist *t);                /* all numbers below n */
int worklist_next(const Worklist *t, int from); /* the least member >= from; -1: none */
int worklist_prev(const Worklist *t, int from); /* the greatest member <= from; -1: none */
#endif
