/* Reductions that depend on each other and yet wait together: what rebase.c and online.c share. */
#ifndef LOWER_REBASE_H
#define LOWER_REBASE_H
#include "lower/combine.h"

/* sum = the sum along axis of what is made of x - m where mask holds (NULL: everywhere); m is made of first, a
 * reduction of x. */
typedef struct Pair {
	Op *first, *sum;
	int axis;
	Val *x, *m, *mask;
} Pair;

/* What a warp has of a row lies along the axis as [far, warps, near]: spread, so that each element
 * finds what its warp has. */
typedef struct Groups {
	const Type *one, *all;  /* [.., 1, warps, 1, ..] and [.., far, warps, near, ..] */
	Lay one_lay, all_lay;
} Groups;

/* How far the partial results of warps are from being combined: layouts of what they hold and
 * of what each thread gets. */
typedef struct Places { const Type *type; Lay part, gathered, m; Groups groups; } Places;

/* ---- finding them ---- */
bool pair_plain(const Op *op);                          /* of the default rounding and so on */
Op *pair_made_by(const Val *v, OpCode code);            /* by such an operation; NULL: it is not */
/* Is x made of elements of one or two bytes? Then f32 has digits enough for a part's mean. */
bool pair_is_packed(const Val *x);
bool pair_differs(const Val *v, Pair *p);               /* v is x - m, m the same along axis */
bool pair_places(const Pair *p, Places *at);            /* false: warps hold nothing that could be moved */

/* ---- writing them; results have their operands' layout ---- */
Val *pair_laid(Val *v, Lay l);
Val *pair_both(Builder *b, OpCode code, Val *x, Val *y);
Val *pair_number(Builder *b, const Val *like, double v);
Val *pair_choose(Builder *b, Val *c, Val *x, Val *y);
Val *pair_equals(Builder *b, Val *x, double v);
Val *pair_of_warp(Builder *b, const Op *as, Val *x);    /* what a warp has of x, combined like `as` */
Val *pair_spread(Builder *b, const Pair *p, const Groups *g, Val *c);
void pair_stand(Val *v, Op *at);                        /* v before `at`, with what it is made of */
void pair_sink(const Op *first, const Op *last);        /* what is needed after both comes to whoever needs it */
void pair_take_place(Op *old, Val *now);
void pair_drop(Fn *fn, Op *op, int depth);              /* op and what only op needed, if nobody needs it */
#endif
