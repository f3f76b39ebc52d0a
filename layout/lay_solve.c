/* Two layouts: division, composition, and the solution C of A . C = B, from which follow conversions and how
 * registers meet shared memory. */
#include "layout/lay_int.h"

#include <string.h>

bool lay_div(Lay whole, Lay tile, Lay *rest)
{
	Lay q;
	int k = 0;

	if (lay_is_bad(whole) || lay_is_bad(tile) || whole.naxis != tile.naxis)
		return false;
	q = lay_unit(whole.naxis);
	for (int a = 0; a < q.naxis; a++) {
		if (whole.out[a] < tile.out[a])
			return false;
		q.out[a] = (uint8_t)(whole.out[a] - tile.out[a]);
	}
	for (int h = 0; h < HW_N; h++) {
		if (whole.in[h] < tile.in[h])
			return false;
		q.in[h] = (uint8_t)(whole.in[h] - tile.in[h]);
		for (int i = tile.in[h]; i < whole.in[h]; i++) {
			uint32_t c = whole.col[lay_first(whole, (Hw)h) + i];

			for (int a = 0; a < q.naxis; a++)
				q.col[k] |= f2_shl(f2_shr(lay_coord(whole, c, a), tile.out[a]), lay_shift(q, a));
			k++;
		}
	}
	if (!lay_eq(lay_mul(tile, q), whole))
		return false;
	*rest = q;
	return true;
}

bool lay_compose(Lay a, Lay c, Lay *r)
{
	Lay s;
	int n;

	if (lay_is_bad(a) || lay_is_bad(c) || lay_outbits(c) != lay_inbits(a))
		return false;
	s = a;
	memcpy(s.in, c.in, sizeof s.in);
	memset(s.col, 0, sizeof s.col);
	n = lay_inbits(c);
	for (int i = 0; i < n; i++)
		s.col[i] = lay_image(a, c.col[i]);
	*r = s;
	return true;
}

/* A map with the inputs of `from` into the places of `to`, all columns still zero. */
static Lay map_between(Lay from, Lay to)
{
	Lay c = lay_unit(HW_N);

	memcpy(c.in, from.in, sizeof c.in);
	for (int h = 0; h < HW_N; h++)
		c.out[LAY_HWAXIS(h)] = to.in[h];
	return c;
}

static bool same_shape(Lay a, Lay b)
{
	return !lay_is_bad(a) && !lay_is_bad(b) && lay_has_shape(a, b.naxis, b.out);
}

bool lay_solve(Lay a, Lay b, Lay *c)
{
	Basis basis = { 0 };
	Lay r;
	int na, nb;

	if (!same_shape(a, b))
		return false;
	na = lay_inbits(a);
	nb = lay_inbits(b);
	r = map_between(b, a);
	for (int i = 0; i < na; i++)
		basis_add(&basis, a.col[i], (uint32_t)1 << i, NULL);
	for (int i = 0; i < nb; i++)
		if (!basis_has(&basis, b.col[i], &r.col[i]))
			return false;
	*c = r;
	return true;
}

/* Whether data may stay at its level of hardware `h` and above, moving only below it; *r is then the map.
 * A bit at or above h must read from itself, corrected by lower levels: dst ^ src lies in the span of
 * those.  A bit below h is free, but keeps its place too if still lower levels suffice. */
static bool pull_below(Lay dst, Lay src, int h, Lay *r)
{
	Basis span[HW_N + 1] = { { 0 } };     /* span[g]: the source's columns below level g */
	int n = lay_inbits(dst);

	for (int g = h; g < HW_N; g++)
		if (dst.in[g] != src.in[g])
			return false;
	for (int g = 1; g <= h; g++) {
		int first = lay_first(src, (Hw)(g - 1));

		span[g] = span[g - 1];
		for (int i = first; i < first + src.in[g - 1]; i++)
			basis_add(&span[g], src.col[i], (uint32_t)1 << i, NULL);
	}
	*r = map_between(dst, src);
	for (int i = 0; i < n; i++) {
		int g = (int)lay_hw_of(dst, i);
		int k = i - lay_first(dst, (Hw)g) + lay_first(src, (Hw)g);
		bool own = k < lay_first(src, (Hw)g) + src.in[g];
		int under = g < h ? g : h;

		if (own && basis_has(&span[under], dst.col[i] ^ src.col[k], &r->col[i]))
			r->col[i] |= (uint32_t)1 << k;
		else if (g >= h || !basis_has(&span[h], dst.col[i], &r->col[i]))
			return false;
	}
	return true;
}

CvtKind lay_pull(Lay dst, Lay src, Lay *c)
{
	static const struct { Hw above; CvtKind kind; } step[] = {
		{ HW_LANE, CVT_REGS }, { HW_WARP, CVT_SHFL }, { HW_CTA, CVT_SMEM },
	};
	Lay r;

	if (!same_shape(dst, src))
		return CVT_BAD;
	for (int i = 0; i < 3; i++) {
		if (pull_below(dst, src, (int)step[i].above, &r)) {
			*c = r;
			return lay_eq(dst, src) ? CVT_NONE : step[i].kind;
		}
	}
	return lay_solve(src, dst, c) ? CVT_CLUSTER : CVT_BAD;
}

int lay_vec_of(Lay c)
{
	return lay_run(c, LAY_HWAXIS(HW_OFF), NULL);
}

int lay_vec(Lay reg, Lay smem)
{
	Lay c;

	return lay_solve(smem, reg, &c) ? lay_vec_of(c) : -1;
}

/* Note [banks].  Shared memory has 32 banks of 4 bytes; an access is served in wavefronts of at most 128
 * bytes: 32 lanes for up to 4 bytes each, 16 lanes for 8, 8 lanes for 16.  Lanes that ask for the same
 * word share it.  The map from (lanes of a wavefront, word within the vector) to word address is linear;
 * let W be its image, and B the image of W under `mod 32`.  All fibres of a linear map have one size, so
 * each bank that is hit is hit by |W| / |B| distinct words: the conflict is 2^(rank W - rank B)-way, for
 * every wavefront alike. */
int lay_conflicts_of(Lay c, int elem_log2, int vec_log2)
{
	uint32_t word[LAY_BITS + 4];
	int bytes = elem_log2 + vec_log2, n = 0, lanes = bytes <= 2 ? 5 : 7 - bytes;

	for (int i = 0; i < lanes && i < c.in[HW_LANE]; i++)
		word[n++] = (uint32_t)((uint64_t)c.col[lay_first(c, HW_LANE) + i] << elem_log2 >> 2);
	for (int i = 2; i < bytes; i++)
		word[n++] = (uint32_t)1 << (i - 2);
	return f2_rank(word, n, UINT32_MAX) - f2_rank(word, n, 31);
}

int lay_conflicts(Lay reg, Lay smem, int elem_log2, int vec_log2)
{
	Lay c;

	if (elem_log2 < 0 || vec_log2 < 0 || elem_log2 + vec_log2 > 4 || !lay_solve(smem, reg, &c)
		|| lay_vec_of(c) < vec_log2) return -1;
	return lay_conflicts_of(c, elem_log2, vec_log2);
}

CvtKind lay_cvt(Lay dst, Lay src)
{
	Lay c;

	return lay_pull(dst, src, &c);
}
