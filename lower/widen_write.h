/* What the files of widen.c share that make one tile block of several, or several of one. */
#ifndef LOWER_WIDEN_WRITE_H
#define LOWER_WIDEN_WRITE_H
#include "lower/widen.h"

/* An operation as it was: from, to: the neighbours' axis of its first operand and of its result, or -1. */
typedef struct Was { Op *op; const Type *in, *out; int from, to; } Was;
typedef struct Wide {
	Widen *w;
	int log2, nval;         /* log2 below 0: parts */
	VEC(Was) ops;
	Val **lifted, **part;   /* by Val id: what each of the neighbours has; the part of a tile; NULL: not made yet */
	Val *which;             /* of a part: its number in the author's tile; NULL: not asked yet */
} Wide;

static inline int widen_along(const Widen *w, const Val *v) { return w->along[v->id]; }

/* The axis of the result of a reshape that lies as an axis of its operand does; -1: none. */
int widen_reshaped_axis(const Type *from, const Type *to, int axis);

/* Of a value whose type is t for one tile block, with the neighbours along that axis. */
const Type *widen_type(const Wide *x, const Type *t, int axis);

/* ---- what each of the neighbours has (widen_each.c) ---- */
/* Can it be computed for each of the neighbours, from their index? */
bool widen_lifts(Widen *w, const Val *v);
/* A tile of it: one axis of the neighbours before its own. */
Val *widen_lifted(Wide *x, Builder *b, Val *v);
/* The same, spread to the shape of t where it has less, side by side along an axis. */
Val *widen_joined(Wide *x, Builder *b, Val *v, const Type *t, int axis);

/* ---- parts of what all of them have (widen_each.c) ---- */
/* Does a part of it, 2^log2 smaller along an axis, follow from where the part begins? */
bool widen_has_parts(Widen *w, const Val *v, int axis, int log2);
Val *widen_part(Wide *x, Val *v, int axis);
#endif
