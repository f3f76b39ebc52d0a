/* The growth rule of vectors: doubling from 4, so pushes cost constant time on average. */
#include "base/vec.h"

#include <limits.h>

#include "base/diag.h"

int vec_cap_(int cap, int want)
{
	if (want < 0 || want > INT_MAX / 2) die("out of memory: a list has more than %d elements", INT_MAX / 2);
	if (cap >= want) return cap;
	int c = cap ? cap : 4;
	while (c < want) c *= 2;
	return c;
}
