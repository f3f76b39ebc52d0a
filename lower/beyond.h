/* What a tile holds beyond the end of its tensors along one axis: loads give pads there, so what is computed from them
 * is the same number at each place, unless an operation counts places or meets them one by one. Passes that leave such
 * places out (strip, cut, longrows) ask here what a reduction would miss. */
#ifndef LOWER_BEYOND_H
#define LOWER_BEYOND_H
#include "ir/valsym.h"

/* COUNTS: the number of its place; FIRST: a condition that holds up to some place, perhaps at all or none. NUMBER: n,
 * or with or_else perhaps NaN or an infinity, the same everywhere: with nan, only NaN; with as_row, NaN where all
 * elements of the row are; with first, perhaps that at some first places, and n at the others. */
typedef enum BeyondKind {
	BEYOND_UNKNOWN, BEYOND_DIFFERS, BEYOND_SAME, BEYOND_NUMBER, BEYOND_COUNTS, BEYOND_FIRST
} BeyondKind;
typedef struct Beyond { BeyondKind kind; Num n; bool or_else, nan, as_row, first; } Beyond;

typedef struct Beyonds {
	Beyond *at;             /* by Val id; all UNKNOWN at first */
	bool (*has_places)(const void *of, const Val *v);       /* along the axis: what has none is the SAME at all */
	bool (*ends)(void *of, const Sym *s);   /* may every place beyond the tensors be taken for one at s or after it? */
	void *of;
	ValSyms *syms;          /* NULL: a place is not compared with another one within the row */
	int depth;
} Beyonds;

/* Loads of has_places end with their tensors, which the caller has to make sure of. */
Beyond beyond_end(Beyonds *b, const Val *v);
bool beyond_is_number(Beyond x);        /* n and nothing else */
bool beyond_is_least(Elem e, Beyond x); /* -inf, with what else it may be */

/* Before changes of shape. */
bool beyond_is_shape(const Op *op);
const Val *beyond_shaped(const Val *v);
/* Is y, the same everywhere, the greatest of a row of which x is the elements? */
bool beyond_is_greatest_of(const Val *y, const Val *x);
#endif
