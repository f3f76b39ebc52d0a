/* One layout made from another: axes reordered, dropped, cut. */
#include "layout/lay_int.h"

Lay lay_permute(Lay l, const int perm[])
{
	Lay r = l;
	unsigned seen = 0;
	int n;

	if (lay_is_bad(l))
		return l;
	for (int a = 0; a < l.naxis; a++) {
		if (perm[a] < 0 || perm[a] >= l.naxis)
			return lay_bad();
		seen |= 1u << perm[a];
		r.out[a] = l.out[perm[a]];
	}
	if (seen != f2_low(l.naxis))
		return lay_bad();
	n = lay_inbits(l);
	for (int i = 0; i < n; i++) {
		r.col[i] = 0;
		for (int a = 0; a < l.naxis; a++)
			r.col[i] |= f2_shl(lay_coord(l, l.col[i], perm[a]), lay_shift(r, a));
	}
	return r;
}

/* Packed coordinates are row-major indices, and a reshape keeps those: only the names of the bits change. */
bool lay_reshape(Lay l, int naxis, const uint8_t shape_log2[], Lay *r)
{
	if (lay_is_bad(l) || !lay_good_shape(naxis, shape_log2, NULL))
		return false;
	*r = l;
	r->naxis = (uint8_t)naxis;
	for (int a = 0; a < LAY_AXES; a++)
		r->out[a] = a < naxis ? shape_log2[a] : 0;
	return lay_outbits(*r) == lay_outbits(l);
}

Lay lay_expand(Lay l, int at)
{
	if (lay_is_bad(l) || at < 0 || at > l.naxis || l.naxis == LAY_AXES)
		return lay_bad();
	for (int a = l.naxis; a > at; a--)
		l.out[a] = l.out[a - 1];
	l.out[at] = 0;
	l.naxis++;
	return l;
}

bool lay_squeeze(Lay l, int axis, Lay *r)
{
	if (!lay_has_axis(l, axis) || l.out[axis] != 0)
		return false;
	l.naxis--;
	for (int a = axis; a < l.naxis; a++)
		l.out[a] = l.out[a + 1];
	l.out[l.naxis] = 0;
	*r = l;
	return true;
}

Lay lay_pick(Lay l, unsigned hwset, unsigned axisset)
{
	uint32_t gone = 0;
	Lay r;
	int n;

	if (lay_is_bad(l))
		return l;
	r = l;
	n = lay_inbits(l);
	for (int a = l.naxis - 1, to = 0; a >= 0; a--) {
		if (axisset >> a & 1) {
			to += l.out[a];
			continue;
		}
		r.out[a] = 0;
		for (int i = 0; i < n; i++)     /* what lies above comes down */
			r.col[i] = (r.col[i] & f2_low(to)) | f2_shl(f2_shr(r.col[i], to + l.out[a]), to);
	}
	for (int h = 0; h < HW_N; h++)
		if (!(hwset >> h & 1))
			gone |= lay_inmask(l, (Hw)h);
	return lay_drop_inputs(r, gone);
}

Lay lay_within(Lay l, const uint8_t shape_log2[])
{
	Lay r = l;

	if (!lay_ok(l))
		return lay_bad();
	for (int a = 0; a < l.naxis; a++) {
		if (shape_log2[a] < l.out[a])
			return lay_bad();
		r.out[a] = shape_log2[a];
	}
	if (lay_outbits(r) > LAY_BITS)
		return lay_bad();
	for (int i = 0; i < lay_inbits(l); i++) {
		uint32_t coord[LAY_AXES];

		for (int a = 0; a < l.naxis; a++)
			coord[a] = lay_coord(l, l.col[i], a);
		r.col[i] = lay_pack(r, coord);
	}
	return r;
}

Lay lay_drop(Lay l, int axis)
{
	Basis b = { 0 };
	uint32_t gone = 0;
	Lay r;

	if (!lay_has_axis(l, axis))
		return lay_bad();
	r = lay_pick(l, ~0u, ~(1u << axis));
	for (int i = 0; i < r.in[HW_REG]; i++)
		if (!basis_add(&b, r.col[i], 0, NULL))
			gone |= (uint32_t)1 << i;
	return lay_drop_inputs(r, gone);
}

bool lay_operand(Lay l, const uint8_t shape_log2[], Lay *r)
{
	if (lay_is_bad(l))
		return false;
	for (int a = 0; a < l.naxis; a++) {
		if (shape_log2[a] == l.out[a])
			continue;
		if (shape_log2[a] != 0)
			return false;
		l = lay_drop(l, a);
	}
	*r = l;
	return true;
}

Lay lay_broadcast(Lay l, int axis, int n)
{
	if (!lay_has_axis(l, axis) || l.out[axis] != 0)
		return lay_bad();
	return lay_push(l, HW_REG, axis, n);
}

/* K, the places that differ along the axis alone, is the kernel of l without that axis.  Relations come
 * out in the order of their highest column, hence registers first.  One is kept if l moves it somewhere
 * new: modulo D, the kernel of l, or an element held twice would be combined twice. */
int lay_partners(Lay l, int axis, uint32_t v[LAY_BITS])
{
	Basis others, along;
	int n = 0, n_in;
	uint32_t mask;

	others.tops = along.tops = 0;
	if (!lay_has_axis(l, axis))
		return 0;
	n_in = lay_inbits(l);
	mask = f2_shl(f2_low(l.out[axis]), lay_shift(l, axis));
	for (int i = 0; i < n_in; i++) {
		uint32_t rel;

		if (basis_add(&others, l.col[i] & ~mask, (uint32_t)1 << i, &rel))
			continue;
		if (basis_add(&along, lay_image(l, rel), 0, NULL))
			v[n++] = rel;
	}
	return n;
}
