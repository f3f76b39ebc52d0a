/* Layouts that follow from given ones, so that no element leaves its thread: for kernels whose matrix products
 * prescribe the layouts of their sums. */
#ifndef LOWER_SPREAD_H
#define LOWER_SPREAD_H
#include "lower/placed.h"

/* changed: some tile has got a layout; fails: one would have two. */
typedef struct Spread { bool changed, fails; } Spread;

void spread_give(Spread *s, Val *v, Lay l);             /* nothing where v is no tile */
void spread_same(Spread *s, Val *const *v, int n);      /* tiles of one layout: the first that is known */
/* What the operands' layouts say of the result's, and the other way round: operations element by element, `broadcast`,
 * and those that move elements to other coordinates. Others say nothing. */
void spread_op(Spread *s, const Op *op);
#endif
