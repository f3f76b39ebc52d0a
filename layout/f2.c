/* Linear algebra over F2; f2.h has the contract. */
#include "layout/f2.h"

#include <stddef.h>

int f2_count(uint32_t x)
{
	int n = 0;

	for (; x; x &= x - 1)
		n++;
	return n;
}

/* What is left of x after the basis is subtracted, which has none of its highest bits; *from collects the
 * columns used. */
static uint32_t basis_reduce(const Basis *b, uint32_t x, uint32_t *from)
{
	for (uint32_t hit = x & b->tops; hit; hit = x & b->tops) {
		int top = 31 - __builtin_clz(hit);

		x ^= b->vec[top];
		*from ^= b->from[top];
	}
	return x;
}

bool basis_add(Basis *b, uint32_t x, uint32_t tag, uint32_t *rel)
{
	uint32_t from = tag;

	x = basis_reduce(b, x, &from);
	if (rel)
		*rel = from;
	if (!x)
		return false;
	int top = 31 - __builtin_clz(x);

	b->tops |= (uint32_t)1 << top;
	b->vec[top] = x;
	b->from[top] = from;
	return true;
}

bool basis_has(const Basis *b, uint32_t x, uint32_t *from)
{
	*from = 0;
	return basis_reduce(b, x, from) == 0;
}

int f2_rank(const uint32_t v[], int n, uint32_t mask)
{
	uint32_t by_top[32] = { 0 };    /* the vector of the basis whose highest bit this is */
	int rank = 0;

	for (int i = 0; i < n; i++) {
		uint32_t x = v[i] & mask;

		while (x) {
			uint32_t *with = &by_top[31 - __builtin_clz(x)];

			if (!*with) {
				*with = x;
				rank++;
				break;
			}
			x ^= *with;
		}
	}
	return rank;
}
