/* Layouts made from nothing, and from smaller ones. */
#include "layout/lay_int.h"

Lay lay_bad(void)
{
	Lay l = { 0 };

	l.naxis = LAY_BAD;
	return l;
}

Lay lay_unit(int naxis)
{
	Lay l = { 0 };

	if (naxis < 0 || naxis > LAY_AXES)
		return lay_bad();
	l.naxis = (uint8_t)naxis;
	return l;
}

Lay lay_id(int naxis, Hw h, int axis, int n)
{
	Lay l = lay_unit(naxis);

	if (!lay_has_axis(l, axis) || !lay_has_hw(h) || n < 0 || n > LAY_BITS)
		return lay_bad();
	l.in[h] = (uint8_t)n;
	l.out[axis] = (uint8_t)n;
	for (int i = 0; i < n; i++)
		l.col[i] = (uint32_t)1 << i;
	return l;
}

Lay lay_bcast(int naxis, Hw h, int n)
{
	Lay l = lay_unit(naxis);

	if (lay_is_bad(l) || !lay_has_hw(h) || n < 0 || n > LAY_BITS)
		return lay_bad();
	l.in[h] = (uint8_t)n;
	return l;
}

Lay lay_mul(Lay inner, Lay outer)
{
	Lay r;
	int k = 0, from_inner = 0, from_outer = 0;

	if (lay_is_bad(inner) || lay_is_bad(outer) || inner.naxis != outer.naxis
	    || lay_inbits(inner) + lay_inbits(outer) > LAY_BITS
	    || lay_outbits(inner) + lay_outbits(outer) > LAY_BITS)
		return lay_bad();
	r = lay_unit(inner.naxis);
	for (int a = 0; a < r.naxis; a++)
		r.out[a] = (uint8_t)(inner.out[a] + outer.out[a]);
	for (int h = 0; h < HW_N; h++) {
		r.in[h] = (uint8_t)(inner.in[h] + outer.in[h]);
		for (int i = 0; i < inner.in[h]; i++)
			r.col[k++] = lay_repack(&inner, &r, NULL, inner.col[from_inner++]);
		for (int i = 0; i < outer.in[h]; i++)
			r.col[k++] = lay_repack(&outer, &r, inner.out, outer.col[from_outer++]);
	}
	return r;
}

Lay lay_push(Lay l, Hw h, int axis, int n)
{
	if (lay_is_bad(l) || (n == 0 && lay_has_axis(l, axis) && lay_has_hw(h)))
		return l;
	return lay_mul(l, lay_id(l.naxis, h, axis, n));
}

Lay lay_xor(Lay l, int dst_axis, int dst_bit, int src_axis, int src_bit, int n)
{
	int n_in, d, s;

	if (!lay_has_axis(l, dst_axis) || !lay_has_axis(l, src_axis) || dst_bit < 0 || src_bit < 0 || n < 0
	    || dst_bit + n > l.out[dst_axis] || src_bit + n > l.out[src_axis])
		return lay_bad();
	n_in = lay_inbits(l);
	d = lay_shift(l, dst_axis) + dst_bit;
	s = lay_shift(l, src_axis) + src_bit;
	for (int i = 0; i < n_in; i++)
		l.col[i] ^= f2_shl(f2_shr(l.col[i], s) & f2_low(n), d);
	return l;
}

Lay lay_stored(int naxis, const uint8_t shape_log2[], const uint8_t order[])
{
	Lay l = lay_unit(naxis);

	if (!lay_good_shape(naxis, shape_log2, order))
		return lay_bad();
	for (int i = 0; i < naxis; i++) {
		int a = lay_nth_axis(naxis, order, i);

		l = lay_push(l, HW_OFF, a, shape_log2[a]);
	}
	return l;
}

/* Deals up to n bits of h out over the axes of order, from rank i0 (0: the fastest) to rank i1-1, as far
 * as `left` has elements.  Returns the bits that found none. */
static int deal(Lay *l, uint8_t left[], const uint8_t order[], int i0, int i1, Hw h, int n)
{
	for (int i = i0; i < i1 && !lay_is_bad(*l); i++) {
		int a = lay_nth_axis(l->naxis, order, i);
		int k = left[a] < n ? left[a] : n;

		*l = lay_push(*l, h, a, k);
		left[a] = (uint8_t)(left[a] - k);
		n -= k;
	}
	return n;
}

static void deal_copies(Lay *l, Hw h, int n)
{
	if (!lay_is_bad(*l) && n > 0)
		*l = lay_mul(*l, lay_bcast(l->naxis, h, n));
}

Lay lay_blocked(int naxis, const uint8_t shape_log2[], int vec_log2, int nlanes_log2, int nwarps_log2,
                const uint8_t order[])
{
	uint8_t left[LAY_AXES] = { 0 };
	Lay l = lay_unit(naxis);

	if (!lay_good_shape(naxis, shape_log2, order) || vec_log2 < 0 || nlanes_log2 < 0 || nwarps_log2 < 0)
		return lay_bad();
	for (int i = 0; i < naxis; i++)
		left[i] = shape_log2[i];
	deal(&l, left, order, 0, naxis > 0, HW_REG, vec_log2);
	deal_copies(&l, HW_LANE, deal(&l, left, order, 0, naxis, HW_LANE, nlanes_log2));
	deal_copies(&l, HW_WARP, deal(&l, left, order, 0, naxis, HW_WARP, nwarps_log2));
	deal(&l, left, order, 0, naxis, HW_REG, LAY_BITS);
	return l;
}

Lay lay_rows(int naxis, const uint8_t shape_log2[], int axis, int vec_log2, int nlanes_log2, int nwarps_log2)
{
	uint8_t left[LAY_AXES] = { 0 }, order[LAY_AXES] = { 0 };
	Lay l = lay_unit(naxis);
	int k = 0, n;

	if (!lay_has_axis(l, axis) || !lay_good_shape(naxis, shape_log2, NULL)
	    || vec_log2 < 0 || nlanes_log2 < 0 || nwarps_log2 < 0)
		return lay_bad();
	order[k++] = (uint8_t)axis;
	for (int a = naxis - 1; a >= 0; a--) {
		left[a] = shape_log2[a];
		if (a != axis)
			order[k++] = (uint8_t)a;
	}
	deal(&l, left, order, 0, 1, HW_REG, vec_log2);
	deal_copies(&l, HW_LANE, deal(&l, left, order, 0, naxis, HW_LANE, nlanes_log2));
	n = deal(&l, left, order, 1, naxis, HW_WARP, nwarps_log2);
	deal_copies(&l, HW_WARP, deal(&l, left, order, 0, 1, HW_WARP, n));
	deal(&l, left, order, 0, naxis, HW_REG, LAY_BITS);
	return l;
}
