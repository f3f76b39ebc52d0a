/* lay.c: questions about one layout; lay.h says what a layout is.
 *
 * The algebra is in three more files: lay_make.c, lay_change.c, and lay_solve.c for two layouts at a time. What
 * follows holds for all of them.
 *
 * Owns: nothing; every function is a function of its arguments.
 * Assumes: layouts were made by this module (lay_ok) or are the bad one.
 * Guarantees: no allocation, no abort; results satisfy lay_ok or are the bad layout; columns past the last
 * input bit and extents past the last axis are zero, so that lay_eq may compare fields.
 */
#include "layout/lay_int.h"

#include <string.h>

/* ---- parts of a layout ---- */

bool lay_has_hw(Hw h)
{
	return (int)h >= 0 && h < HW_N;
}

Hw lay_hw_of(Lay l, int i)
{
	int h = HW_REG;

	while (i >= l.in[h])
		i -= l.in[h++];
	return (Hw)h;
}

Lay lay_drop_inputs(Lay l, uint32_t gone)
{
	Lay r = l;
	int n = lay_inbits(l), k = 0;

	if (!gone)
		return l;
	memset(r.col, 0, sizeof r.col);
	for (int i = 0; i < n; i++) {
		if (gone >> i & 1)
			r.in[lay_hw_of(l, i)]--;
		else
			r.col[k++] = l.col[i];
	}
	return r;
}

uint32_t lay_repack(const Lay *from, const Lay *to, const uint8_t skip[], uint32_t v)
{
	uint32_t r = 0;
	int at = 0, into = 0;         /* where the axis begins in `from` and in `to` */

	for (int a = from->naxis - 1; a >= 0; a--) {
		r |= f2_shl(f2_shr(v, at) & f2_low(from->out[a]), into + (skip ? skip[a] : 0));
		at += from->out[a];
		into += to->out[a];
	}
	return r;
}

int lay_nth_axis(int naxis, const uint8_t order[], int i)
{
	return order ? order[i] : naxis - 1 - i;
}

bool lay_good_shape(int naxis, const uint8_t shape_log2[], const uint8_t order[])
{
	unsigned seen = 0;
	int bits = 0;

	if (naxis < 0 || naxis > LAY_AXES)
		return false;
	for (int i = 0; i < naxis; i++) {
		int a = lay_nth_axis(naxis, order, i);

		if (a >= naxis)
			return false;
		seen |= 1u << a;
		bits += shape_log2[i];
	}
	return seen == f2_low(naxis) && bits <= LAY_BITS;
}

/* ---- questions ---- */

bool lay_ok(Lay l)
{
	static const uint32_t none[LAY_BITS];
	int in = 0, out = 0;
	uint32_t used = 0;

	if (l.naxis > LAY_AXES)
		return false;
	for (int h = 0; h < HW_N; h++)
		in += l.in[h];
	for (int a = 0; a < LAY_AXES; a++) {
		if (a >= l.naxis && l.out[a])
			return false;
		out += l.out[a];
	}
	if (in > LAY_BITS || out > LAY_BITS)
		return false;
	for (int i = 0; i < LAY_BITS; i++)
		used |= l.col[i];
	return !(used & ~f2_low(out)) && !memcmp(l.col + in, none, (size_t)(LAY_BITS - in) * sizeof *none);
}

bool lay_has_shape(Lay l, int naxis, const uint8_t shape_log2[])
{
	if (lay_is_bad(l) || l.naxis != naxis)
		return false;
	for (int a = 0; a < naxis; a++)
		if (l.out[a] != shape_log2[a])
			return false;
	return true;
}

int lay_rank(Lay l)
{
	return f2_rank(l.col, lay_inbits(l), UINT32_MAX);
}

bool lay_onto(Lay l)
{
	return !lay_is_bad(l) && lay_rank(l) == lay_outbits(l);
}

bool lay_oneone(Lay l)
{
	return !lay_is_bad(l) && lay_rank(l) == lay_inbits(l);
}

uint32_t lay_dead(Lay l, Hw h)
{
	uint32_t dead = 0;

	if (lay_is_bad(l) || !lay_has_hw(h))
		return 0;
	for (int i = 0; i < l.in[h]; i++)
		if (l.col[lay_first(l, h) + i] == 0)
			dead |= (uint32_t)1 << i;
	return dead;
}

uint32_t lay_free(Lay l)
{
	Basis b;
	uint32_t gone = 0;
	int n = lay_inbits(l);

	b.tops = 0;
	for (int i = 0; i < n; i++)
		if (!basis_add(&b, l.col[i], 0, NULL))
			gone |= (uint32_t)1 << i;
	return gone;
}

/* The only input bit that touches coordinate bit `bit`, if it is a register bit that touches nothing else. */
static int sole_register(Lay l, uint32_t bit)
{
	int found = -1, n = lay_inbits(l);

	for (int i = 0; i < n; i++) {
		if (!(l.col[i] & bit))
			continue;
		if (found >= 0 || i >= l.in[HW_REG] || l.col[i] != bit)
			return -1;
		found = i;
	}
	return found;
}

bool lay_adds(Lay l, int axis)
{
	uint32_t reg = 0, thread = 0;

	for (int i = 0; i < lay_inbits(l); i++)
		*(i < l.in[HW_REG] ? &reg : &thread) |= axis < 0 ? l.col[i] : lay_coord(l, l.col[i], axis);
	return !(reg & thread);
}

int lay_run(Lay l, int axis, uint8_t bit[LAY_BITS])
{
	int n = 0;

	if (!lay_has_axis(l, axis))
		return 0;
	for (; n < l.out[axis]; n++) {
		int r = sole_register(l, (uint32_t)1 << (lay_shift(l, axis) + n));

		if (r < 0)
			break;
		if (bit)
			bit[n] = (uint8_t)r;
	}
	return n;
}

/* Bits of the axis in a column. */
static uint32_t along(Lay l, int axis, uint32_t col)
{
	return (uint32_t)((uint64_t)col >> lay_shift(l, axis) & (((uint64_t)1 << l.out[axis]) - 1));
}

int lay_walk(Lay l, int axis, Hw hw[LAY_BITS], uint8_t bit[LAY_BITS])
{
	uint32_t seen = 0;
	int n, below = 0;

	if (!lay_has_axis(l, axis))
		return -1;
	n = l.out[axis];
	for (int h = 0; h < HW_N; h++)
		for (int i = 0; i < l.in[h]; i++) {
			uint32_t c = l.col[lay_first(l, (Hw)h) + i], own = along(l, axis, c);
			int k = 0;

			if (!own)
				continue;
			if ((c & (c - 1)) || (seen & own))
				return -1;
			while (own >> k != 1)
				k++;
			seen |= own;
			hw[k] = (Hw)h;
			bit[k] = (uint8_t)i;
		}
	if (seen != along(l, axis, ~(uint32_t)0))
		return -1;
	while (below < n && hw[below] <= HW_LANE)
		below++;
	for (int k = below; k < n; k++)
		if (hw[k] != HW_REG && hw[k] != HW_WARP)
			return -1;
	return below;
}

uint32_t lay_apply(Lay l, const uint32_t in[HW_N])
{
	uint32_t place = 0;

	for (int h = 0; h < HW_N; h++)
		place |= f2_shl(in[h] & f2_low(l.in[h]), lay_first(l, (Hw)h));
	return lay_image(l, place);
}

void lay_sort(Lay l, int n, uint32_t *places)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k > 0 && lay_image(l, places[k]) < lay_image(l, places[k - 1]); k--) {
			uint32_t t = places[k];
			places[k] = places[k - 1];
			places[k - 1] = t;
		}
}

bool lay_place(Lay l, uint32_t packed, uint32_t *packed_in)
{
	Basis b = { 0 };
	uint32_t from;
	int n = lay_inbits(l);

	for (int i = 0; i < n; i++)
		basis_add(&b, l.col[i], (uint32_t)1 << i, NULL);
	if (lay_is_bad(l) || !basis_has(&b, packed, &from))
		return false;
	*packed_in = from;
	return true;
}

uint32_t lay_pack(Lay l, const uint32_t coord[])
{
	uint32_t r = 0;

	for (int a = 0; a < l.naxis && a < LAY_AXES; a++)
		r |= f2_shl(coord[a] & f2_low(l.out[a]), lay_shift(l, a));
	return r;
}
