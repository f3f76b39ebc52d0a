/* lay.c: the algebra of layouts; lay.h says what a layout is.
 *
 * Owns: nothing; every function is a function of its arguments.
 * Assumes: layouts were made by this module (lay_ok) or are the bad one.
 * Guarantees: no allocation, no abort; results satisfy lay_ok or are the bad layout; columns past the last
 * input bit and extents past the last axis are zero, so that lay_eq may compare fields.
 */
#include "layout/lay.h"

#include <string.h>

/* Shifts and masks that are defined for all 0 <= n <= 32. */
static uint32_t low(int n)
{
	return n >= 32 ? UINT32_MAX : ((uint32_t)1 << n) - 1;
}

static uint32_t shl(uint32_t x, int n)
{
	return n >= 32 ? 0 : x << n;
}

static uint32_t shr(uint32_t x, int n)
{
	return n >= 32 ? 0 : x >> n;
}

/* ---- linear algebra ---- */

/* An independent set of vectors in echelon form.  from[i] names which of the inserted columns make vec[i]. */
typedef struct Basis {
	int      n;
	uint32_t vec[32];
	uint32_t from[32];
} Basis;

static uint32_t top_bit(uint32_t x)
{
	while (x & (x - 1))
		x &= x - 1;
	return x;
}

/* What is left of x after the basis is subtracted; *from collects the columns used. */
static uint32_t basis_reduce(const Basis *b, uint32_t x, uint32_t *from)
{
	for (int i = 0; i < b->n; i++) {
		if (x & top_bit(b->vec[i])) {
			x ^= b->vec[i];
			*from ^= b->from[i];
		}
	}
	return x;
}

/* Adds x, known as the column(s) `tag`.  False if it was in the span; *rel is then the relation found: a
 * set of columns, tag among them, that sums to zero. */
static bool basis_add(Basis *b, uint32_t x, uint32_t tag, uint32_t *rel)
{
	uint32_t from = tag;

	x = basis_reduce(b, x, &from);
	if (rel)
		*rel = from;
	if (!x)
		return false;
	b->vec[b->n] = x;
	b->from[b->n++] = from;
	return true;
}

static bool basis_has(const Basis *b, uint32_t x, uint32_t *from)
{
	*from = 0;
	return basis_reduce(b, x, from) == 0;
}

static int rank_of(const uint32_t v[], int n, uint32_t mask)
{
	Basis b = { 0 };

	for (int i = 0; i < n; i++)
		basis_add(&b, v[i] & mask, 0, NULL);
	return b.n;
}

/* ---- parts of a layout ---- */

static bool is_bad(Lay l)
{
	return l.naxis == LAY_BAD;
}

static bool axis_in(Lay l, int axis)
{
	return !is_bad(l) && axis >= 0 && axis < l.naxis;
}

static bool hw_in(Hw h)
{
	return (int)h >= 0 && h < HW_N;
}

static Hw hw_of(Lay l, int i)
{
	int h = HW_REG;

	while (i >= l.in[h])
		i -= l.in[h++];
	return (Hw)h;
}

/* Without the input bits in the packed set `gone`. */
static Lay drop_inputs(Lay l, uint32_t gone)
{
	Lay r = l;
	int n = lay_inbits(l), k = 0;

	memset(r.col, 0, sizeof r.col);
	for (int i = 0; i < n; i++) {
		if (gone >> i & 1)
			r.in[hw_of(l, i)]--;
		else
			r.col[k++] = l.col[i];
	}
	return r;
}

/* The packed coordinate v of a tile shaped like `from`, as one of a tile shaped like `to`, each axis moved
 * up by skip[axis] (NULL: not at all). */
static uint32_t repack(Lay from, Lay to, const uint8_t skip[], uint32_t v)
{
	uint32_t r = 0;
	int at = 0, into = 0;         /* where the axis begins in `from` and in `to` */

	for (int a = from.naxis - 1; a >= 0; a--) {
		r |= shl(shr(v, at) & low(from.out[a]), into + (skip ? skip[a] : 0));
		at += from.out[a];
		into += to.out[a];
	}
	return r;
}

/* ---- make ---- */

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

	if (!axis_in(l, axis) || !hw_in(h) || n < 0 || n > LAY_BITS)
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

	if (is_bad(l) || !hw_in(h) || n < 0 || n > LAY_BITS)
		return lay_bad();
	l.in[h] = (uint8_t)n;
	return l;
}

Lay lay_mul(Lay inner, Lay outer)
{
	Lay r;
	int k = 0;

	if (is_bad(inner) || is_bad(outer) || inner.naxis != outer.naxis
	    || lay_inbits(inner) + lay_inbits(outer) > LAY_BITS
	    || lay_outbits(inner) + lay_outbits(outer) > LAY_BITS)
		return lay_bad();
	r = lay_unit(inner.naxis);
	for (int a = 0; a < r.naxis; a++)
		r.out[a] = (uint8_t)(inner.out[a] + outer.out[a]);
	for (int h = 0; h < HW_N; h++) {
		r.in[h] = (uint8_t)(inner.in[h] + outer.in[h]);
		for (int i = 0; i < inner.in[h]; i++)
			r.col[k++] = repack(inner, r, NULL, inner.col[lay_first(inner, (Hw)h) + i]);
		for (int i = 0; i < outer.in[h]; i++)
			r.col[k++] = repack(outer, r, inner.out, outer.col[lay_first(outer, (Hw)h) + i]);
	}
	return r;
}

Lay lay_push(Lay l, Hw h, int axis, int n)
{
	if (is_bad(l) || (n == 0 && axis_in(l, axis) && hw_in(h)))
		return l;
	return lay_mul(l, lay_id(l.naxis, h, axis, n));
}

Lay lay_xor(Lay l, int dst_axis, int dst_bit, int src_axis, int src_bit, int n)
{
	int n_in, d, s;

	if (!axis_in(l, dst_axis) || !axis_in(l, src_axis) || dst_bit < 0 || src_bit < 0 || n < 0
	    || dst_bit + n > l.out[dst_axis] || src_bit + n > l.out[src_axis])
		return lay_bad();
	n_in = lay_inbits(l);
	d = lay_shift(l, dst_axis) + dst_bit;
	s = lay_shift(l, src_axis) + src_bit;
	for (int i = 0; i < n_in; i++)
		l.col[i] ^= shl(shr(l.col[i], s) & low(n), d);
	return l;
}

/* The i-th axis from the fastest. */
static int nth_axis(int naxis, const uint8_t order[], int i)
{
	return order ? order[i] : naxis - 1 - i;
}

/* Whether order (may be NULL) names each axis once and the shape fits into a packed coordinate. */
static bool good_shape(int naxis, const uint8_t shape_log2[], const uint8_t order[])
{
	unsigned seen = 0;
	int bits = 0;

	if (naxis < 0 || naxis > LAY_AXES)
		return false;
	for (int i = 0; i < naxis; i++) {
		int a = nth_axis(naxis, order, i);

		if (a >= naxis)
			return false;
		seen |= 1u << a;
		bits += shape_log2[i];
	}
	return seen == low(naxis) && bits <= LAY_BITS;
}

Lay lay_stored(int naxis, const uint8_t shape_log2[], const uint8_t order[])
{
	Lay l = lay_unit(naxis);

	if (!good_shape(naxis, shape_log2, order))
		return lay_bad();
	for (int i = 0; i < naxis; i++) {
		int a = nth_axis(naxis, order, i);

		l = lay_push(l, HW_OFF, a, shape_log2[a]);
	}
	return l;
}

/* Deals up to n bits of h out over the axes of order, from rank i0 (0: the fastest) to rank i1-1, as far
 * as `left` has elements.  Returns the bits that found none. */
static int deal(Lay *l, uint8_t left[], const uint8_t order[], int i0, int i1, Hw h, int n)
{
	for (int i = i0; i < i1 && !is_bad(*l); i++) {
		int a = nth_axis(l->naxis, order, i);
		int k = left[a] < n ? left[a] : n;

		*l = lay_push(*l, h, a, k);
		left[a] = (uint8_t)(left[a] - k);
		n -= k;
	}
	return n;
}

static void deal_copies(Lay *l, Hw h, int n)
{
	if (!is_bad(*l) && n > 0)
		*l = lay_mul(*l, lay_bcast(l->naxis, h, n));
}

Lay lay_blocked(int naxis, const uint8_t shape_log2[], int vec_log2, int nlanes_log2, int nwarps_log2,
                const uint8_t order[])
{
	uint8_t left[LAY_AXES] = { 0 };
	Lay l = lay_unit(naxis);

	if (!good_shape(naxis, shape_log2, order) || vec_log2 < 0 || nlanes_log2 < 0 || nwarps_log2 < 0)
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

	if (!axis_in(l, axis) || !good_shape(naxis, shape_log2, NULL)
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

/* ---- change ---- */

Lay lay_permute(Lay l, const int perm[])
{
	Lay r = l;
	unsigned seen = 0;
	int n;

	if (is_bad(l))
		return l;
	for (int a = 0; a < l.naxis; a++) {
		if (perm[a] < 0 || perm[a] >= l.naxis)
			return lay_bad();
		seen |= 1u << perm[a];
		r.out[a] = l.out[perm[a]];
	}
	if (seen != low(l.naxis))
		return lay_bad();
	n = lay_inbits(l);
	for (int i = 0; i < n; i++) {
		r.col[i] = 0;
		for (int a = 0; a < l.naxis; a++)
			r.col[i] |= shl(lay_coord(l, l.col[i], perm[a]), lay_shift(r, a));
	}
	return r;
}

/* Packed coordinates are row-major indices, and a reshape keeps those: only the names of the bits change. */
bool lay_reshape(Lay l, int naxis, const uint8_t shape_log2[], Lay *r)
{
	if (is_bad(l) || !good_shape(naxis, shape_log2, NULL))
		return false;
	*r = l;
	r->naxis = (uint8_t)naxis;
	for (int a = 0; a < LAY_AXES; a++)
		r->out[a] = a < naxis ? shape_log2[a] : 0;
	return lay_outbits(*r) == lay_outbits(l);
}

Lay lay_expand(Lay l, int at)
{
	if (is_bad(l) || at < 0 || at > l.naxis || l.naxis == LAY_AXES)
		return lay_bad();
	for (int a = l.naxis; a > at; a--)
		l.out[a] = l.out[a - 1];
	l.out[at] = 0;
	l.naxis++;
	return l;
}

bool lay_squeeze(Lay l, int axis, Lay *r)
{
	if (!axis_in(l, axis) || l.out[axis] != 0)
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

	if (is_bad(l))
		return l;
	r = l;
	n = lay_inbits(l);
	for (int a = 0; a < l.naxis; a++)
		if (!(axisset >> a & 1))
			r.out[a] = 0;
	for (int i = 0; i < n; i++) {
		r.col[i] = 0;
		for (int a = 0; a < l.naxis; a++)
			if (axisset >> a & 1)
				r.col[i] |= shl(lay_coord(l, l.col[i], a), lay_shift(r, a));
	}
	for (int h = 0; h < HW_N; h++)
		if (!(hwset >> h & 1))
			gone |= lay_inmask(l, (Hw)h);
	return drop_inputs(r, gone);
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

	if (!axis_in(l, axis))
		return lay_bad();
	r = lay_pick(l, ~0u, ~(1u << axis));
	for (int i = 0; i < r.in[HW_REG]; i++)
		if (!basis_add(&b, r.col[i], 0, NULL))
			gone |= (uint32_t)1 << i;
	return drop_inputs(r, gone);
}

bool lay_operand(Lay l, const uint8_t shape_log2[], Lay *r)
{
	if (is_bad(l))
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
	if (!axis_in(l, axis) || l.out[axis] != 0)
		return lay_bad();
	return lay_push(l, HW_REG, axis, n);
}

/* Register bits that choose the slice go; each becomes a pivot and is subtracted from the other register
 * bits that touch the slice number, so that these stay within slice 0. */
bool lay_cut(Lay l, int axis, int keep_log2, Lay *r)
{
	uint32_t top, gone = 0;
	Lay s;
	int n;

	if (!axis_in(l, axis) || keep_log2 < 0 || keep_log2 > l.out[axis])
		return false;
	n = lay_inbits(l);
	top = shl(low(l.out[axis] - keep_log2), lay_shift(l, axis) + keep_log2);
	for (int i = l.in[HW_REG]; i < n; i++)
		if (l.col[i] & top)
			return false;
	for (uint32_t bit = top_bit(top); bit & top; bit >>= 1) {
		int p = -1;

		for (int i = 0; i < l.in[HW_REG]; i++)
			if (l.col[i] & bit && !(gone >> i & 1))
				p = i;
		if (p < 0)
			return false;
		gone |= (uint32_t)1 << p;
		for (int i = 0; i < l.in[HW_REG]; i++)
			if (i != p && l.col[i] & bit)
				l.col[i] ^= l.col[p];
	}
	s = drop_inputs(l, gone);
	n = lay_inbits(s);
	s.out[axis] = (uint8_t)keep_log2;
	for (int i = 0; i < n; i++)
		s.col[i] = repack(l, s, NULL, s.col[i]);
	*r = s;
	return true;
}

/* K, the places that differ along the axis alone, is the kernel of l without that axis.  Relations come
 * out in the order of their highest column, hence registers first.  One is kept if l moves it somewhere
 * new: modulo D, the kernel of l, or an element held twice would be combined twice. */
int lay_partners(Lay l, int axis, uint32_t v[LAY_BITS])
{
	Basis others = { 0 }, along = { 0 };
	int n = 0, n_in;
	uint32_t mask;

	if (!axis_in(l, axis))
		return 0;
	n_in = lay_inbits(l);
	mask = shl(low(l.out[axis]), lay_shift(l, axis));
	for (int i = 0; i < n_in; i++) {
		uint32_t rel;

		if (basis_add(&others, l.col[i] & ~mask, (uint32_t)1 << i, &rel))
			continue;
		if (basis_add(&along, lay_image(l, rel), 0, NULL))
			v[n++] = rel;
	}
	return n;
}

bool lay_div(Lay whole, Lay tile, Lay *rest)
{
	Lay q;
	int k = 0;

	if (is_bad(whole) || is_bad(tile) || whole.naxis != tile.naxis)
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
				q.col[k] |= shl(shr(lay_coord(whole, c, a), tile.out[a]), lay_shift(q, a));
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

	if (is_bad(a) || is_bad(c) || lay_outbits(c) != lay_inbits(a))
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
	return !is_bad(a) && !is_bad(b) && lay_has_shape(a, b.naxis, b.out);
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
		int g = (int)hw_of(dst, i);
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

/* ---- ask ---- */

bool lay_ok(Lay l)
{
	int in = 0, out = 0;

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
		if (l.col[i] & (i < in ? ~low(out) : UINT32_MAX))
			return false;
	return true;
}

int lay_inbits(Lay l)
{
	return lay_first(l, HW_N);
}

int lay_outbits(Lay l)
{
	int n = 0;

	for (int a = 0; a < LAY_AXES; a++)
		n += l.out[a];
	return n;
}

int lay_first(Lay l, Hw h)
{
	int n = 0;

	for (int g = 0; g < (int)h; g++)
		n += l.in[g];
	return n;
}

uint32_t lay_inmask(Lay l, Hw h)
{
	return shl(low(l.in[h]), lay_first(l, h));
}

int lay_shift(Lay l, int axis)
{
	int n = 0;

	for (int a = axis + 1; a < LAY_AXES; a++)
		n += l.out[a];
	return n;
}

bool lay_has_shape(Lay l, int naxis, const uint8_t shape_log2[])
{
	if (is_bad(l) || l.naxis != naxis)
		return false;
	for (int a = 0; a < naxis; a++)
		if (l.out[a] != shape_log2[a])
			return false;
	return true;
}

int lay_rank(Lay l)
{
	return rank_of(l.col, lay_inbits(l), UINT32_MAX);
}

bool lay_onto(Lay l)
{
	return !is_bad(l) && lay_rank(l) == lay_outbits(l);
}

bool lay_oneone(Lay l)
{
	return !is_bad(l) && lay_rank(l) == lay_inbits(l);
}

uint32_t lay_dead(Lay l, Hw h)
{
	uint32_t dead = 0;

	if (is_bad(l) || !hw_in(h))
		return 0;
	for (int i = 0; i < l.in[h]; i++)
		if (l.col[lay_first(l, h) + i] == 0)
			dead |= (uint32_t)1 << i;
	return dead;
}

uint32_t lay_free(Lay l)
{
	Basis b = { 0 };
	uint32_t gone = 0;
	int n = lay_inbits(l);

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

int lay_run(Lay l, int axis, uint8_t bit[LAY_BITS])
{
	int n = 0;

	if (!axis_in(l, axis))
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

int lay_vec(Lay reg, Lay smem)
{
	Lay c;

	return lay_solve(smem, reg, &c) ? lay_run(c, LAY_HWAXIS(HW_OFF), NULL) : -1;
}

/* Note [banks].  Shared memory has 32 banks of 4 bytes; an access is served in wavefronts of at most 128
 * bytes: 32 lanes for up to 4 bytes each, 16 lanes for 8, 8 lanes for 16.  Lanes that ask for the same
 * word share it.  The map from (lanes of a wavefront, word within the vector) to word address is linear;
 * let W be its image, and B the image of W under `mod 32`.  All fibres of a linear map have one size, so
 * each bank that is hit is hit by |W| / |B| distinct words: the conflict is 2^(rank W - rank B)-way, for
 * every wavefront alike. */
int lay_conflicts(Lay reg, Lay smem, int elem_log2, int vec_log2)
{
	uint32_t word[LAY_BITS + 4];
	int bytes = elem_log2 + vec_log2, n = 0, lanes;
	Lay c;

	if (elem_log2 < 0 || vec_log2 < 0 || bytes > 4 || !lay_solve(smem, reg, &c)
	    || lay_run(c, LAY_HWAXIS(HW_OFF), NULL) < vec_log2)
		return -1;
	lanes = bytes <= 2 ? 5 : 7 - bytes;
	for (int i = 0; i < lanes && i < c.in[HW_LANE]; i++)
		word[n++] = (uint32_t)((uint64_t)c.col[lay_first(c, HW_LANE) + i] << elem_log2 >> 2);
	for (int i = 2; i < bytes; i++)
		word[n++] = (uint32_t)1 << (i - 2);
	return rank_of(word, n, UINT32_MAX) - rank_of(word, n, 31);
}

CvtKind lay_cvt(Lay dst, Lay src)
{
	Lay c;

	return lay_pull(dst, src, &c);
}

bool lay_eq(Lay a, Lay b)
{
	return a.naxis == b.naxis && memcmp(a.in, b.in, sizeof a.in) == 0
	    && memcmp(a.out, b.out, sizeof a.out) == 0 && memcmp(a.col, b.col, sizeof a.col) == 0;
}

static uint32_t hash_byte(uint32_t h, uint32_t x)
{
	return (h ^ (x & 0xff)) * 16777619u;
}

uint32_t lay_hash(Lay l)
{
	uint32_t h = hash_byte(2166136261u, l.naxis);

	for (int i = 0; i < HW_N; i++)
		h = hash_byte(h, l.in[i]);
	for (int a = 0; a < LAY_AXES; a++)
		h = hash_byte(h, l.out[a]);
	for (int i = 0; i < LAY_BITS; i++)
		for (int b = 0; b < 32; b += 8)
			h = hash_byte(h, l.col[i] >> b);
	return h;
}

uint32_t lay_apply(Lay l, const uint32_t in[HW_N])
{
	uint32_t place = 0;

	for (int h = 0; h < HW_N; h++)
		place |= shl(in[h] & low(l.in[h]), lay_first(l, (Hw)h));
	return lay_image(l, place);
}

uint32_t lay_image(Lay l, uint32_t packed_in)
{
	uint32_t r = 0;
	int n = lay_inbits(l);

	for (int i = 0; i < n; i++)
		if (packed_in >> i & 1)
			r ^= l.col[i];
	return r;
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
	if (is_bad(l) || !basis_has(&b, packed, &from))
		return false;
	*packed_in = from;
	return true;
}

uint32_t lay_coord(Lay l, uint32_t packed, int axis)
{
	return axis_in(l, axis) ? shr(packed, lay_shift(l, axis)) & low(l.out[axis]) : 0;
}

uint32_t lay_pack(Lay l, const uint32_t coord[])
{
	uint32_t r = 0;

	for (int a = 0; a < l.naxis && a < LAY_AXES; a++)
		r |= shl(coord[a] & low(l.out[a]), lay_shift(l, a));
	return r;
}

uint32_t lay_hwcoord(Lay l, uint32_t packed_in, Hw h)
{
	return shr(packed_in, lay_first(l, h)) & low(l.in[h]);
}
