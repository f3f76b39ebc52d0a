/* Rows split over thread blocks: what longrows_plan.c finds out about a kernel of long rows, and longrows.c and
 * longrows_numbers.c write. */
#ifndef LOWER_LONGROWS_H
#define LOWER_LONGROWS_H
#include "lower/lower.h"

typedef enum PartKind {
	PART_PLAIN,             /* of what is known before any sum: parts are combined like elements */
	PART_POWERS,            /* sum of exp(x - m), m the maximum of x */
	PART_SQUARES,           /* sum of (x - m)^2, m made of the sum of x */
	PART_PLACE              /* the place of the greatest or the smallest element: a part publishes that element, too */
} PartKind;

/* A reduction along the row. A part takes POWERS and SQUARES from what it knows itself, its maximum or its mean. */
typedef struct PartSum {
	Op *op;
	PartKind kind;
	int first;              /* the number of the maximum, or of the sum of x */
	Val *x, *m, *mask;      /* mask: where elements count; NULL: everywhere */
	bool packed;            /* x is widened from 16 bits */
	bool linear;  /* of SQUARES: a part also publishes its sum of x - mean, which rounding makes other than 0 */
	int word;               /* index of its first number among those that a part publishes */
} PartSum;

enum { PART_WORDS = 8, PART_GIVEN = 4 };

/* side[] of values: no tile of a row is SMALL, known for a row as a whole */
typedef enum PartSide { SIDE_SMALL, SIDE_LONG } PartSide;

typedef struct PartsPlan {
	Fn *fn;
	int log2;               /* of the elements of a row's tile; 0: there is none */
	const Sym *extent;      /* of rows */
	bool numbers;           /* no row is stored */
	bool ends;              /* elements after a row's end change nothing, so parts there are left out, */
	bool pads;              /* or the first of them does for all (numbers) */
	bool reads_stored;      /* a single element of a tensor that rows are stored to */
	uint8_t *side;          /* by Val id */
	bool *late;             /* known once all partial results of the row are */
	VEC(Op *) ops;
	VEC(PartSum) sums;
	VEC(Op *) scans;        /* then there are no sums */
	int words;              /* that a part publishes */
} PartsPlan;

bool parts_plan(PartsPlan *p, Fn *fn);          /* false: it is no kernel of long rows, or does what parts cannot */
/* gives its kernel a version in two steps: longrows_numbers.c */
void numbers_divide(const PartsPlan *p, const LowerCx *cx);
/* the same where rows are scanned: longrows_scans.c */
void scans_divide(const PartsPlan *p, const LowerCx *cx);
int parts_sum_of(const PartsPlan *p, const Op *op);     /* its number; -1: none */
int64_t parts_element_bytes(const PartsPlan *p);        /* of an element, of all tensors that rows are loaded from */
#endif
