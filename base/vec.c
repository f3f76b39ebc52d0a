/* The growth rule of vectors: doubling from 4, so pushes cost constant time on average. */
#include "base/vec.h"

#include <limits.h>

#include "base/arena.h"
#include "base/diag.h"

int vec_cap_(int cap, int want)
{
	if (want < 0 || want > INT_MAX / 2) out_of_memory(": a list has more than 1073741823 elements");
	if (cap >= want) return cap;
	int c = cap ? cap : 4;
	while (c < want) c *= 2;
	return c;
}
