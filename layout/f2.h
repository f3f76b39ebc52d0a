/* Words as vectors over F2, whose sum is ^. */
#ifndef LAYOUT_F2_H
#define LAYOUT_F2_H
#include <stdbool.h>
#include <stdint.h>

/* Shifts and masks that are defined for all 0 <= n <= 32. */
static inline uint32_t f2_low(int n)
{
	return n >= 32 ? UINT32_MAX : ((uint32_t)1 << n) - 1;
}

static inline uint32_t f2_shl(uint32_t x, int n)
{
	return n >= 32 ? 0 : x << n;
}

static inline uint32_t f2_shr(uint32_t x, int n)
{
	return n >= 32 ? 0 : x >> n;
}

int      f2_count(uint32_t x);                        /* how many bits are set                           */

/* An independent set of vectors in echelon form: no two have their highest bit in common.  The vector whose
 * highest bit is t is vec[t], and from[t] names which of the inserted columns make it. */
typedef struct Basis {
	uint32_t tops;            /* the highest bits                                                  */
	uint32_t vec[32];
	uint32_t from[32];
} Basis;                      /* empty: tops is 0, whatever the rest */

/* Adds x, known as the column(s) `tag`.  False if it was in the span; *rel (may be NULL) is then the
 * relation found: a set of columns, tag among them, that sums to zero. */
bool basis_add(Basis *b, uint32_t x, uint32_t tag, uint32_t *rel);

bool basis_has(const Basis *b, uint32_t x, uint32_t *from);     /* *from: the columns that sum to x       */
int  f2_rank(const uint32_t v[], int n, uint32_t mask);         /* of the vectors v[i] & mask              */

#endif
