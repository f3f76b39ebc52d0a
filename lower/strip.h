/* Inside pass strip: what a kernel falls apart into (strip_plan.c), of which strip.c takes the best, and its loops
 * (strip_write.c). */
#ifndef LOWER_STRIP_H
#define LOWER_STRIP_H
#include "lower/placed.h"

enum {
	SLICE_WHOLE = -1, SLICE_LOOPS = 8 /* of one kernel, at most */,
	SLICE_AXES = 2 /* that partial results take besides */
};

typedef struct StripOp {
	Op *op;
	bool cut;               /* works on a slice at a time */
	bool part;              /* reduces along the axis that is cut: its result is known after the loop */
	bool scan;  /* scans along the axis that is cut: slices in its order, with what came before */
	int online;  /* the sum of exp(x - max x): which of ops is that maximum, in whose loop this runs; else -1 */
	int level;              /* cut: the first loop that runs it; else: it stands before that loop */
	int least;              /* level that the order of memory asks for */
	unsigned runs;  /* cut: the loops that run it, as bits; loads and what is computed from them again in each */
} StripOp;

typedef struct StripPlan {
	Fn *fn;
	IrBlock *block;         /* the kernel's body, or that of a loop in it */
	int nval;               /* what came before has ids below */
	int8_t *axis;           /* by Val id: along which a tile is cut, or SLICE_WHOLE */
	int *def;               /* by Val id: which of ops defines it; -1: none */
	StripOp *ops;           /* of the block, in order */
	int n;
	int loops;
} StripPlan;

/* The plan that cuts the tile `seed` along `axis` and whatever has to be cut with it, into 2^log2
 * slices; false: there is none. */
bool strip_plan(IrBlock *block, Val *seed, int axis, int log2, StripPlan *p);
bool strip_is_cut(const StripPlan *p, const Val *v);
/* Of the question whether a place comes before an end: the numbers of the places. NULL: v is another one, or its
 * operands are narrower than the places of a tile of 2^log2 elements. */
const Val *strip_places(const Val *v, int log2, const Val **end);
bool strip_by_index(const Op *op);              /* its result is the number of an element: of equal ones, the first */
bool strip_is_backward(const StripPlan *p, int level);  /* the loop begins with the last slice, for a backward scan */
Val *strip_exponent(const StripOp *o);          /* of an online sum: x */

typedef struct StripIndex { const Val *i; int64_t times_i, times_k; Val *made; } StripIndex;

/* What is being written. */
typedef struct Slicer {
	StripPlan p;
	int log2;               /* of the number of slices */
	/* log2 of the elements of a slice that a thread has: pieces of memory, and elements of such a piece */
	int far, near;
	Val **now;              /* by Val id: the slice, in the loop that is being written */
	Val **sum;              /* by index in plan.ops: what the reduction has so far */
	Val **top;  /* the same of an online sum: the greatest exponent so far; of an extreme: its place */
	Val ***before;          /* of a scan: for each of its values what came before the slice */
	Val *counter;           /* of the loop */
	VEC(StripIndex) indices;        /* made in it */
	Val *count;             /* of slices that a loop works on; NULL: nobody asked yet */
} Slicer;

/* strip_write.c */
void strip_write(Slicer *s);                    /* all loops of the plan */
const Type *strip_type(const Slicer *s, const Val *v);
Val *strip_val(const Slicer *s, Val *v);        /* v, or its slice */
Val *strip_times(Builder *b, Val *x, int64_t n);

Val *strip_count(Slicer *s, Builder *b, int level);     /* how many slices that loop works on: strip_count.c */

/* Reductions and scans: strip_parts.c */
/* what a loop carries for each of its values, */
const Type *strip_partial(const Slicer *s, const Op *op, int value);
Val *strip_begin(Builder *b, const Op *op, int value, const Type *t);   /* and begins with: of this type */
void strip_reduce(Slicer *s, Builder *b, int i);        /* adds a slice to the partial results of ops[i] */
/* Each value of what a scan met before, x, and of y: tiles. */
void strip_combine(Builder *b, const Op *scan, Val *const *x, Val *const *y, Val **r);
void strip_scan(Slicer *s, Builder *b, int i);  /* its part of the results; adds the slice to what came before */
Val *strip_result(Slicer *s, Builder *b, int i, Val *x, Val *more);     /* of ops[i], from x (and what stands in top) */
#endif
