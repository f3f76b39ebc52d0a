/* Loops split over the grid: what split_plan.c finds out about a loop, and split.c writes. */
#ifndef LOWER_SPLIT_H
#define LOWER_SPLIT_H
#include "ir/ir.h"

/* A value that a loop carries. Each round combines it with something that depends on nothing that is carried; or it
 * goes with such a value (its key), and changes where a round's number is strictly less, or greater, than the key. */
typedef struct Carried {
	OpCode combine;         /* of it, or of its key */
	int64_t nan;            /* attribute AT_NAN of that operation */
	int key;                /* the number of its key among the carried values; -1: it is combined itself */
	const Type *type;
} Carried;

typedef struct SplitLoop {
	int at;                 /* the number of its operation in the kernel's body */
	Elem counter;
	const Sym *lo, *hi;
	int64_t step;
	VEC(Carried) carried;
} SplitLoop;

typedef struct SplitPlan {
	Fn *fn;
	VEC(SplitLoop) loops;   /* from the first one of the kernel on */
} SplitPlan;

bool split_plan(SplitPlan *p, Fn *fn);          /* false: there is no such loop */
#endif
