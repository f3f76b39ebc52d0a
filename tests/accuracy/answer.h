/* What the parts of the GPU's program share: the answer of a kernel that judges, and its launch. */
#ifndef ANSWER_H
#define ANSWER_H

#include "measure.h"

enum { PARTS = 8 };        /* the reference functions are compiled in so many parts at once */

/* A greatest error and where it is as one number: the bits of a float, then the number of the input. */
typedef struct Answer {
	unsigned long long ulp, part, inputs, faults[FAULTS], fault_at[FAULTS];
} Answer;

typedef struct Task {
	Row r;
	Format f;
	const void *a, *b, *y;
	uint64_t first;        /* number of the first input */
	int64_t n;
	Answer *answer;
} Task;

typedef void Launch(const Task *t);
extern Launch *const launches[PARTS];

#endif
