/* Steps of reductions, which combine, defer and rebase share. */
#ifndef LOWER_COMBINE_H
#define LOWER_COMBINE_H
#include "lower/placed.h"

/* tiles that are combined together, in one layout */
typedef struct Parts { int n; Val *v[TILE_RANK]; Lay lay; } Parts;

const Type *reduced_type(const Type *t, int axis, int n_log2);    /* with 2^n_log2 elements along the axis */
void combine_registers(Builder *b, const Op *op, Parts *x);     /* what each thread holds */
void combine_threads(Builder *b, const Op *op, Parts *x);       /* registers, then lanes */
/* The same of one tile of which no other warps hold parts: its combination, in this layout. */
Val *combine_to(Builder *b, const Op *op, Val *x, Lay to);

/* Sums of squares of what depends on another sum wait together with it (rebase.c). */
void rebase_squares(Fn *fn);
/* Sums of powers that depend on a maximum wait together with it (online.c). */
void merge_powers(Fn *fn);
#endif
