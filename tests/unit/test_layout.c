/* test_layout.c: the layout module against formulas, brute force and its own equations.
 *
 * Fragments are compared with the formulas of the PTX manual on all points; ldmatrix, shuffles, reductions
 * and bank conflicts with a simulation of what the hardware does; the algebra with its defining equations
 * on random maps (the generator is seeded, so that every run is the same).  Prints one line per failing
 * check; returns 1 if any failed.
 */
#include "layout/frag.h"
#include "layout/lay.h"
#include "layout/lay_text.h"
#include "layout/swz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long checks, failures;

static bool check_at(int line, bool ok, const char *what)
{
	checks++;
	if (!ok && failures++ < 50)
		printf("test_layout.c:%d: %s\n", line, what);
	return ok;
}

#define CHECK(c) check_at(__LINE__, (c), #c)

/* ---- random maps ---- */

static uint64_t rng_state = 0x9e3779b97f4a7c15u;

static uint32_t rnd(uint32_t n)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return n ? (uint32_t)(rng_state >> 32) % n : (uint32_t)(rng_state >> 32);
}

static uint32_t low_bits(int n)
{
	return n >= 32 ? UINT32_MAX : ((uint32_t)1 << n) - 1;
}

/* Any tile of at most `bits` coordinate bits. */
static Lay rnd_shape(int naxis, int bits)
{
	Lay l = lay_unit(naxis);

	for (int i = 0; naxis && i < bits; i++)
		l.out[rnd((uint32_t)naxis)]++;
	return l;
}

/* Any map from some registers, lanes and warps into the tile. */
static Lay rnd_lay(Lay shape, int nreg, int nlane, int nwarp)
{
	Lay l = shape;

	l.in[HW_REG] = (uint8_t)nreg;
	l.in[HW_LANE] = (uint8_t)nlane;
	l.in[HW_WARP] = (uint8_t)nwarp;
	for (int i = 0; i < nreg + nlane + nwarp; i++)
		l.col[i] = rnd(0) & low_bits(lay_outbits(l));
	return l;
}

/* The same, with every element somewhere: needs enough input bits. */
static Lay rnd_onto(Lay shape, int nreg, int nlane, int nwarp)
{
	Lay l;

	do
		l = rnd_lay(shape, nreg, nlane, nwarp);
	while (!lay_onto(l));
	return l;
}

/* A bit permutation with duplicates: what passes mostly meet. */
static Lay rnd_plain(Lay shape, int nreg, int nlane, int nwarp)
{
	int n = nreg + nlane + nwarp, bits = lay_outbits(shape);
	Lay l = rnd_lay(shape, nreg, nlane, nwarp);

	for (int i = 0; i < n; i++)
		l.col[i] = i < bits ? (uint32_t)1 << i : 0;
	for (int i = n - 1; i > 0; i--) {
		int j = (int)rnd((uint32_t)i + 1);
		uint32_t t = l.col[i];

		l.col[i] = l.col[j];
		l.col[j] = t;
	}
	return l;
}

static uint32_t nplaces(Lay l)
{
	return (uint32_t)1 << lay_inbits(l);
}

/* ---- making ---- */

static void test_make(void)
{
	Hw hw[LAY_BITS];
	uint8_t bit[LAY_BITS];
	const uint8_t s2[2] = { 4, 6 }, s0[1] = { 0 }, order[2] = { 0, 1 };
	uint32_t in[HW_N] = { 0 };
	Lay l = lay_id(2, HW_LANE, 1, 3);

	CHECK(lay_ok(l) && l.out[1] == 3 && l.out[0] == 0 && l.in[HW_LANE] == 3);
	in[HW_LANE] = 5;
	CHECK(lay_apply(l, in) == 5);
	CHECK(lay_ok(lay_unit(0)) && lay_onto(lay_unit(0)) && lay_oneone(lay_unit(8)));
	CHECK(!lay_ok(lay_unit(9)) && !lay_ok(lay_id(2, HW_REG, 2, 1)) && !lay_ok(lay_id(2, HW_REG, 0, 33)));
	CHECK(!lay_ok(lay_mul(lay_id(1, HW_REG, 0, 20), lay_id(1, HW_LANE, 0, 13))));
	CHECK(!lay_ok(lay_mul(lay_bad(), l)) && !lay_ok(lay_drop(lay_bad(), 0)));
	CHECK(!lay_ok(lay_push(lay_bad(), HW_REG, 0, 1)));
	CHECK(lay_ok(lay_id(1, HW_OFF, 0, 32)) && lay_rank(lay_id(1, HW_OFF, 0, 32)) == 32);
	CHECK(lay_dead(lay_mul(l, lay_bcast(2, HW_LANE, 2)), HW_LANE) == 0x18);

	l = lay_stored(2, s2, NULL);
	CHECK(lay_has_shape(l, 2, s2) && lay_image(l, 67) == 67);
	CHECK(lay_coord(l, 67, 0) == 1 && lay_coord(l, 67, 1) == 3);
	l = lay_stored(2, s2, order);
	CHECK(lay_coord(l, lay_image(l, 35), 0) == 3 && lay_coord(l, lay_image(l, 35), 1) == 2);
	CHECK(lay_ok(lay_stored(0, s0, NULL)));
	CHECK(lay_read("[4]{reg:(1) (1) (2)}", &l) && lay_run(l, 0, NULL) == 0);
	CHECK(lay_read("[4]{reg:(2) (1) (0)}", &l) && lay_run(l, 0, NULL) == 2);
	CHECK(lay_read("[2,16]{reg:(0,4) (1,0) lane:(0,1) (0,2) warp:(0,8)}", &l) && lay_walk(l, 1, hw, bit) == 3);
	CHECK(hw[0] == HW_LANE && bit[0] == 0 && hw[1] == HW_LANE && bit[1] == 1 && hw[2] == HW_REG && bit[2] == 0);
	CHECK(hw[3] == HW_WARP && bit[3] == 0 && lay_walk(l, 0, hw, bit) == 1 && hw[0] == HW_REG && bit[0] == 1);
	CHECK(lay_walk(l, 2, hw, bit) == -1);
	CHECK(lay_read("[16]{reg:(1) (8) lane:(2) warp:(4)}", &l) && lay_walk(l, 0, hw, bit) == 2);
	CHECK(lay_read("[16]{reg:(1) lane:(2) (8) warp:(4)}", &l) && lay_walk(l, 0, hw, bit) == -1);     /* a lane above a warp */
	CHECK(lay_read("[16]{reg:(1) (1) lane:(2) (8) (4)}", &l) && lay_walk(l, 0, hw, bit) == -1);      /* twice */
	CHECK(lay_read("[16]{reg:(1) (3) lane:(4) (8)}", &l) && lay_walk(l, 0, hw, bit) == -1);
	CHECK(lay_read("[2,2]{reg:(1,1) (0,1)}", &l) && lay_walk(l, 0, hw, bit) == -1);
}

/* The whole of blocked layouts: each element held, the first of a thread contiguous, surplus threads
 * copies. */
static void test_blocked(void)
{
	for (int round = 0; round < 3000; round++) {
		int naxis = (int)rnd(9), bits = naxis ? (int)rnd(25) : 0, vec = (int)rnd(5), warps = (int)rnd(5);
		Lay shape = rnd_shape(naxis, bits);
		uint8_t order[LAY_AXES] = { 0 };
		int fast, want;
		Lay l;

		for (int i = 0; i < naxis; i++)
			order[i] = (uint8_t)i;
		for (int i = naxis - 1; i > 0; i--) {
			uint32_t j = rnd((uint32_t)i + 1);
			uint8_t t = order[i];

			order[i] = order[j];
			order[j] = t;
		}
		l = lay_blocked(naxis, shape.out, vec, 5, warps, order);
		fast = naxis ? shape.out[order[0]] : 0;
		want = vec < fast ? vec : fast;
		CHECK(lay_ok(l) && lay_onto(l) && lay_has_shape(l, naxis, shape.out));
		CHECK(l.in[HW_LANE] == 5 && l.in[HW_WARP] == warps);
		CHECK(naxis == 0 || lay_run(l, order[0], NULL) >= want);
		CHECK(lay_inbits(l) == (bits > want + 5 + warps ? bits : want + 5 + warps));
		for (int h = 0; h < HW_N; h++)     /* every bit is a unit step or a copy */
			for (int i = 0; i < l.in[h]; i++) {
				uint32_t c = l.col[lay_first(l, (Hw)h) + i];

				CHECK((c & (c - 1)) == 0 && (c || h != HW_REG));
			}
		if (naxis > 0) {
			int axis = (int)rnd((uint32_t)naxis);
			Lay r = lay_rows(naxis, shape.out, axis, vec, 5, warps);

			CHECK(lay_ok(r) && lay_onto(r) && lay_has_shape(r, naxis, shape.out));
			CHECK(r.in[HW_LANE] == 5 && r.in[HW_WARP] == warps);
		}
	}
	{
		const uint8_t s[2] = { 5, 6 };
		Lay l = lay_blocked(2, s, 2, 5, 2, NULL), want;

		CHECK(lay_read("[32,64]{reg:(0,1) (0,2) (8,0) (16,0) lane:(0,4) (0,8) (0,16) (0,32) (1,0) "
		               "warp:(2,0) (4,0)}", &want) && lay_eq(l, want));
		l = lay_rows(2, s, 0, 1, 5, 2);
		CHECK(lay_read("[32,64]{reg:(1,0) (0,8) (0,16) (0,32) lane:(2,0) (4,0) (8,0) (16,0) (0,1) "
		               "warp:(0,2) (0,4)}", &want) && lay_eq(l, want));
		/* rows of 64 fit into a warp of lay_rows, two of 128 are shared by four warps each */
		l = lay_rows(2, s, 1, 0, 5, 3);
		CHECK(lay_read("[32,64]{reg:(0,32) (8,0) (16,0) lane:(0,1) (0,2) (0,4) (0,8) (0,16) "
		               "warp:(1,0) (2,0) (4,0)}", &want) && lay_eq(l, want));
		l = lay_rows(2, (const uint8_t[]){ 1, 7 }, 1, 0, 5, 3);
		CHECK(lay_read("[2,128]{lane:(0,1) (0,2) (0,4) (0,8) (0,16) warp:(1,0) (0,32) (0,64)}", &want)
		      && lay_eq(l, want));
	}
}

/* ---- algebra on random maps ---- */

static void test_linear(void)
{
	for (int round = 0; round < 500; round++) {
		Lay l = rnd_lay(rnd_shape(1 + (int)rnd(8), (int)rnd(25)), (int)rnd(6), 5, (int)rnd(4));
		uint32_t in[HW_N] = { rnd(0), rnd(0), rnd(0), rnd(0), rnd(0) }, coord[LAY_AXES];
		uint32_t x = rnd(nplaces(l)), y = rnd(nplaces(l)), p = lay_image(l, x);

		CHECK(lay_ok(l));
		CHECK(lay_image(l, x ^ y) == (p ^ lay_image(l, y)));
		for (int a = 0; a < l.naxis; a++)
			coord[a] = lay_coord(l, p, a);
		CHECK(lay_pack(l, coord) == p);
		for (int h = 0; h < HW_N; h++)
			in[h] = lay_hwcoord(l, x, (Hw)h);
		CHECK(lay_apply(l, in) == p);
	}
}

static void test_permute_reshape(void)
{
	for (int round = 0; round < 2000; round++) {
		int naxis = 1 + (int)rnd(8), perm[LAY_AXES], back[LAY_AXES];
		Lay l = rnd_lay(rnd_shape(naxis, (int)rnd(25)), (int)rnd(6), 5, (int)rnd(4)), r, s, other;
		uint32_t x = rnd(nplaces(l));

		for (int i = 0; i < naxis; i++)
			perm[i] = i;
		for (int i = naxis - 1; i > 0; i--) {
			int j = (int)rnd((uint32_t)i + 1), t = perm[i];

			perm[i] = perm[j];
			perm[j] = t;
		}
		r = lay_permute(l, perm);
		CHECK(lay_ok(r));
		for (int i = 0; i < naxis; i++) {
			CHECK(lay_coord(r, lay_image(r, x), i) == lay_coord(l, lay_image(l, x), perm[i]));
			back[perm[i]] = i;
		}
		CHECK(lay_eq(lay_permute(r, back), l));

		other = rnd_shape(1 + (int)rnd(8), lay_outbits(l));
		CHECK(lay_reshape(l, other.naxis, other.out, &s) && lay_ok(s));
		CHECK(lay_image(s, x) == lay_image(l, x));          /* the linear index stays */
		CHECK(lay_has_shape(s, other.naxis, other.out));
		if (lay_outbits(l) > 0) {
			Lay smaller = rnd_shape(other.naxis, lay_outbits(l) - 1);

			CHECK(!lay_reshape(l, smaller.naxis, smaller.out, &s));
		}
		if (naxis < LAY_AXES) {
			int at = (int)rnd((uint32_t)naxis + 1);

			s = lay_expand(l, at);
			CHECK(lay_ok(s) && s.out[at] == 0 && lay_image(s, x) == lay_image(l, x));
			CHECK(lay_squeeze(s, at, &s) && lay_eq(s, l));
		}
	}
	{
		const int twice[2] = { 0, 0 };

		CHECK(!lay_ok(lay_permute(lay_unit(2), twice)));
	}
}

static void test_mul_div(void)
{
	int divided = 0;

	for (int round = 0; round < 3000; round++) {
		int naxis = 1 + (int)rnd(8);
		Lay a = rnd_lay(rnd_shape(naxis, (int)rnd(12)), (int)rnd(4), (int)rnd(4), (int)rnd(2));
		Lay b = rnd_lay(rnd_shape(naxis, (int)rnd(12)), (int)rnd(4), (int)rnd(4), (int)rnd(2)), m, q;
		uint32_t x = rnd(nplaces(a)), y = rnd(nplaces(b)), in[HW_N];

		m = lay_mul(a, b);
		CHECK(lay_ok(m));
		for (int h = 0; h < HW_N; h++)
			in[h] = lay_hwcoord(a, x, (Hw)h) | lay_hwcoord(b, y, (Hw)h) << a.in[h];
		for (int i = 0; i < naxis; i++)
			CHECK(lay_coord(m, lay_apply(m, in), i)
			      == (lay_coord(a, lay_image(a, x), i) | lay_coord(b, lay_image(b, y), i) << a.out[i]));
		CHECK(lay_div(m, a, &q) && lay_eq(q, b));
		if (lay_inbits(m) && lay_outbits(m)) {
			m.col[rnd((uint32_t)lay_inbits(m))] ^= (uint32_t)1 << rnd((uint32_t)lay_outbits(m));
			if (lay_div(m, a, &q)) {
				divided++;
				CHECK(lay_eq(lay_mul(a, q), m));
			}
		}
	}
	CHECK(divided > 50 && divided < 2900);
}

static void test_solve(void)
{
	int yes = 0, no = 0;

	for (int round = 0; round < 20000; round++) {
		Lay shape = rnd_shape(1 + (int)rnd(4), (int)rnd(12));
		Lay a = rnd_lay(shape, (int)rnd(6), 5, (int)rnd(3)), b = rnd_lay(shape, (int)rnd(6), (int)rnd(6), 1), c, ab;
		uint32_t place;

		if (lay_solve(a, b, &c)) {
			yes++;
			CHECK(lay_ok(c) && lay_compose(a, c, &ab) && lay_eq(ab, b));
			for (int i = 0; i < lay_inbits(c); i++)
				CHECK((c.col[i] & lay_free(a)) == 0);
			CHECK(c.out[LAY_HWAXIS(HW_LANE)] == 5);
		} else {
			Lay both = a;          /* some column of b is outside the span of a */
			bool outside = false;

			no++;
			both.in[HW_OFF]++;
			for (int i = 0; i < lay_inbits(b); i++) {
				both.col[lay_inbits(a)] = b.col[i];
				outside |= lay_rank(both) > lay_rank(a);
			}
			CHECK(outside);
		}
		if (lay_place(a, b.col[0], &place))
			CHECK(lay_image(a, place) == b.col[0]);
	}
	CHECK(yes > 1000 && no > 1000);
}

/* Rank, onto, one-one and the store predicate by counting. */
static void test_counts(void)
{
	for (int round = 0; round < 1000; round++) {
		Lay l = rnd_lay(rnd_shape(2, (int)rnd(8)), (int)rnd(4), (int)rnd(6), (int)rnd(3));
		uint16_t held[256] = { 0 }, stored[256] = { 0 };
		uint32_t distinct = 0;
		bool twice = false, once = true;

		for (uint32_t x = 0; x < nplaces(l); x++) {
			distinct += held[lay_image(l, x)]++ == 0;
			if (!(x & lay_free(l)))
				stored[lay_image(l, x)]++;
		}
		for (uint32_t e = 0; e < 256; e++) {
			twice |= held[e] > 1;
			once &= stored[e] == (held[e] > 0);
		}
		CHECK(distinct == (uint32_t)1 << lay_rank(l));
		CHECK(once);
		CHECK(lay_onto(l) == (distinct == (uint32_t)1 << lay_outbits(l)));
		CHECK(lay_oneone(l) == !twice);
	}
}

/* ---- reductions and broadcasts ---- */

/* Combines as generated code would: for each partner every place adds the value of its partner place. */
static bool reduce_is_right(Lay l, int axis)
{
	enum { MAX = 1 << 12 };
	static uint32_t v[MAX], w[MAX], want[MAX];
	uint32_t partner[LAY_BITS], n = nplaces(l), keep;
	int np = lay_partners(l, axis, partner);

	keep = ~(low_bits(l.out[axis]) << lay_shift(l, axis));
	memset(want, 0, sizeof want);
	for (uint32_t e = 0; e < (uint32_t)1 << lay_outbits(l); e++)
		want[e & keep] += e * 2654435761u;
	for (uint32_t x = 0; x < n; x++)
		v[x] = lay_image(l, x) * 2654435761u;
	for (int i = 0; i < np; i++) {
		for (uint32_t x = 0; x < n; x++)
			w[x] = v[x] + v[x ^ partner[i]];
		memcpy(v, w, sizeof v);
	}
	for (uint32_t x = 0; x < n; x++)
		if (v[x] != want[lay_image(l, x) & keep])
			return false;
	return true;
}

static void test_reduce(void)
{
	uint32_t p[LAY_BITS];
	Lay c = lay_frag(FRAG_M16N8K16, ROLE_C);

	CHECK(lay_partners(c, 1, p) == 3 && p[0] == 1 && p[1] == 4 && p[2] == 8);
	CHECK(lay_partners(c, 0, p) == 4 && p[0] == 2 && p[1] == 16 && p[2] == 32 && p[3] == 64);
	for (int round = 0; round < 600; round++) {
		int naxis = 1 + (int)rnd(3);
		Lay shape = rnd_shape(naxis, (int)rnd(8));
		Lay l = round & 1 ? rnd_onto(shape, 2 + (int)rnd(3), 4, 2 + (int)rnd(2))
		                  : rnd_plain(shape, 2 + (int)rnd(3), 4, 2 + (int)rnd(2));
		int axis = (int)rnd((uint32_t)naxis);

		CHECK(reduce_is_right(l, axis));
	}
}

/* The layout of [M,1], broadcast to [M,N], needs only other register numbers to become l. */
static void test_broadcast(void)
{
	for (int round = 0; round < 3000; round++) {
		int naxis = 1 + (int)rnd(4);
		Lay shape = rnd_shape(naxis, (int)rnd(11));
		Lay l = round & 1 ? rnd_onto(shape, 6, 5, 2) : rnd_plain(shape, 6, 5, 2), small, wide, c, back;
		uint8_t sub[LAY_AXES] = { 0 };
		CvtKind kind;

		for (int a = 0; a < naxis; a++)
			sub[a] = rnd(2) ? shape.out[a] : 0;
		CHECK(lay_operand(l, sub, &small) && lay_has_shape(small, naxis, sub) && lay_onto(small));
		CHECK(small.in[HW_LANE] == l.in[HW_LANE] && small.in[HW_WARP] == l.in[HW_WARP]);
		CHECK(lay_oneone(lay_pick(small, 1u << HW_REG, ~0u)) || memcmp(sub, shape.out, sizeof sub) == 0);
		wide = small;
		for (int a = 0; a < naxis; a++)
			if (sub[a] != shape.out[a])
				wide = lay_broadcast(wide, a, shape.out[a]);
		if (!CHECK(lay_ok(wide) && lay_has_shape(wide, naxis, shape.out)))
			continue;
		kind = lay_pull(l, wide, &c);
		CHECK(kind == CVT_NONE || kind == CVT_REGS);
		CHECK(lay_compose(wide, c, &back) && lay_eq(back, l));
	}
	CHECK(!lay_ok(lay_broadcast(lay_id(1, HW_LANE, 0, 2), 0, 2)));
}

/* ---- conversions ---- */

/* Every destination place gets its element, and the data moves at the level that was promised. */
static void pull_is_right(Lay dst, Lay src)
{
	Lay c, got, any;
	CvtKind kind = lay_pull(dst, src, &c);
	uint32_t stay = kind == CVT_SMEM ? 0 : lay_inmask(dst, HW_WARP);

	CHECK(kind == lay_cvt(dst, src));
	if (kind == CVT_BAD) {
		CHECK(!lay_solve(src, dst, &any));
		return;
	}
	CHECK(lay_compose(src, c, &got) && lay_eq(got, dst));
	if (kind <= CVT_REGS)
		stay |= lay_inmask(dst, HW_LANE);
	for (uint32_t x = 0; x < nplaces(dst); x += 1 + rnd(7)) {
		uint32_t from = lay_image(c, x);

		if (stay & lay_inmask(dst, HW_WARP))
			CHECK(lay_hwcoord(src, from, HW_WARP) == lay_hwcoord(dst, x, HW_WARP));
		if (stay & lay_inmask(dst, HW_LANE))
			CHECK(lay_hwcoord(src, from, HW_LANE) == lay_hwcoord(dst, x, HW_LANE));
	}
}

/* The cheapest kind by search: is each destination place's element in its own lane, in its own warp? */
static CvtKind cheapest(Lay dst, Lay src)
{
	CvtKind kind = CVT_REGS;

	if (lay_eq(dst, src))
		return CVT_NONE;
	for (uint32_t x = 0; x < nplaces(dst); x++) {
		CvtKind need = CVT_BAD;

		for (uint32_t y = 0; y < nplaces(src) && need > CVT_REGS; y++) {
			CvtKind k = CVT_SMEM;

			if (lay_image(src, y) != lay_image(dst, x))
				continue;
			if (lay_hwcoord(src, y, HW_WARP) == lay_hwcoord(dst, x, HW_WARP))
				k = lay_hwcoord(src, y, HW_LANE) == lay_hwcoord(dst, x, HW_LANE) ? CVT_REGS : CVT_SHFL;
			need = k < need ? k : need;
		}
		kind = need > kind ? need : kind;
	}
	return kind;
}

static void test_convert(void)
{
	int seen[CVT_BAD + 1] = { 0 };

	for (int round = 0; round < 6000; round++) {
		Lay shape = rnd_shape(2, 3 + (int)rnd(4)), src, dst;
		int nreg = 1 + (int)rnd(3);

		src = rnd(3) ? rnd_plain(shape, nreg, 3, 1) : rnd_lay(shape, nreg, 3, 1);
		dst = src;
		switch (rnd(4)) {
		case 0:
			dst = rnd_plain(shape, 3, 3, 1);
			break;
		case 1:                                           /* mix registers into anything */
			dst.col[rnd((uint32_t)nreg + 4)] ^= src.col[rnd((uint32_t)nreg)];
			break;
		case 2:                                           /* exchange a register and a lane bit */
			dst.col[0] = src.col[nreg];
			dst.col[nreg] = src.col[0];
			break;
		default:
			dst.col[rnd((uint32_t)nreg + 4)] = src.col[rnd((uint32_t)nreg + 4)];
		}
		pull_is_right(dst, src);
		CHECK(lay_cvt(dst, src) == cheapest(dst, src));
		seen[lay_cvt(dst, src)]++;
	}
	for (int k = 0; k <= CVT_BAD; k++)
		CHECK(k == CVT_CLUSTER || seen[k] > 50);
	{
		Lay a = lay_push(lay_id(1, HW_REG, 0, 1), HW_CTA, 0, 1);
		Lay b = lay_push(lay_id(1, HW_CTA, 0, 1), HW_REG, 0, 1);

		CHECK(lay_cvt(a, a) == CVT_NONE && lay_cvt(a, b) == CVT_CLUSTER);
		CHECK(swz_convert_cost(a, b, 2) == -1);
		a = lay_push(lay_id(1, HW_REG, 0, 1), HW_LANE, 0, 2);       /* another number of lanes, of warps */
		b = lay_mul(a, lay_bcast(1, HW_LANE, 1));
		CHECK(lay_cvt(a, b) == CVT_SHFL && lay_cvt(b, a) == CVT_SHFL);
		b = lay_mul(a, lay_bcast(1, HW_WARP, 1));
		CHECK(lay_cvt(a, b) == CVT_SMEM && lay_cvt(b, a) == CVT_SMEM);
	}
}

/* ---- fragments, against the manual's formulas ---- */

typedef struct Point {
	int row, col;
} Point;

static Point manual(Frag f, Role r, int lane, int i)
{
	int g = lane >> 2, t = lane % 4;

	if (r == ROLE_C)
		return f == FRAG_M8N8K4 ? (Point){ g, t * 2 + (i & 1) } : (Point){ i < 2 ? g : g + 8, t * 2 + (i & 1) };
	switch (f) {
	case FRAG_M16N8K16:
		if (r == ROLE_A)
			return (Point){ (i >= 0 && i < 2) || (i >= 4 && i < 6) ? g : g + 8,
			                i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8 };
		return (Point){ i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g };
	case FRAG_M16N8K8_H:
		return r == ROLE_A ? (Point){ i < 2 ? g : g + 8, t * 2 + (i & 1) } : (Point){ t * 2 + i, g };
	case FRAG_M16N8K8:
		if (r == ROLE_A)
			return (Point){ i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4 };
		return (Point){ i == 0 ? t : t + 4, g };
	case FRAG_M16N8K4:
		return r == ROLE_A ? (Point){ i == 0 ? g : g + 8, t } : (Point){ t, g };
	case FRAG_M16N8K32:
		if (r == ROLE_A)
			return (Point){ i < 4 || (i >= 8 && i < 12) ? g : g + 8,
			                i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16 };
		return (Point){ i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g };
	case FRAG_M16N8K16_B:
		return r == ROLE_A ? (Point){ i < 4 ? g : g + 8, t * 4 + (i & 3) } : (Point){ t * 4 + i, g };
	case FRAG_M8N8K4:
		return r == ROLE_A ? (Point){ g, t } : (Point){ t, g };
	default:
		return (Point){ -1, -1 };
	}
}

static void test_frag(void)
{
	static const int mnke[FRAG_N][4] = {
		[FRAG_M16N8K16] = { 16, 8, 16, 2 }, [FRAG_M16N8K8_H] = { 16, 8, 8, 2 }, [FRAG_M16N8K8] = { 16, 8, 8, 4 },
		[FRAG_M16N8K4] = { 16, 8, 4, 4 }, [FRAG_M16N8K32] = { 16, 8, 32, 1 }, [FRAG_M16N8K16_B] = { 16, 8, 16, 1 },
		[FRAG_M8N8K4] = { 8, 8, 4, 8 },
	};

	for (int f = 0; f < FRAG_N; f++) {
		CHECK(1 << frag_m((Frag)f) == mnke[f][0] && 1 << frag_n((Frag)f) == mnke[f][1]);
		CHECK(1 << frag_k((Frag)f) == mnke[f][2] && 1 << frag_elem((Frag)f) == mnke[f][3]);
		for (int r = 0; r < ROLE_N; r++) {
			Lay l = lay_frag((Frag)f, (Role)r);
			int rows = mnke[f][r == ROLE_B ? 2 : 0], cols = mnke[f][r == ROLE_A ? 2 : 1];

			CHECK(lay_ok(l) && lay_onto(l) && lay_oneone(l));
			CHECK(1 << l.out[0] == rows && 1 << l.out[1] == cols && 32 << l.in[HW_REG] == rows * cols);
			for (int lane = 0; lane < 32; lane++)
				for (int i = 0; i < 1 << l.in[HW_REG]; i++) {
					uint32_t in[HW_N] = { (uint32_t)i, (uint32_t)lane }, p = lay_apply(l, in);
					Point want = manual((Frag)f, (Role)r, lane, i);

					CHECK((int)lay_coord(l, p, 0) == want.row && (int)lay_coord(l, p, 1) == want.col);
				}
		}
	}
	CHECK(!lay_ok(lay_frag(FRAG_N, ROLE_A)) && !lay_ok(lay_frag(FRAG_M16N8K16, ROLE_N)));
}

/* PTX manual, wgmma, D of m64nN: row = 16 * warp + lane / 4 (+ 8), col = 8 * (i / 4) + 2 * (lane % 4) + i
 * % 2. */
static void test_wgmma(void)
{
	Lay c = frag_wgmma(FRAG_M16N8K16, ROLE_C, 7), a = frag_wgmma(FRAG_M16N8K16, ROLE_A, 7);

	CHECK(lay_ok(c) && c.out[0] == 6 && c.out[1] == 7 && lay_oneone(c) && lay_onto(c));
	CHECK(lay_ok(a) && a.out[0] == 6 && a.out[1] == 4 && lay_oneone(a) && lay_onto(a));
	for (uint32_t warp = 0; warp < 4; warp++)
		for (uint32_t lane = 0; lane < 32; lane++)
			for (uint32_t i = 0; i < 64; i++) {
				uint32_t in[HW_N] = { i, lane, warp }, p = lay_apply(c, in);

				CHECK(lay_coord(c, p, 0) == 16 * warp + lane / 4 + 8 * (i / 2 % 2));
				CHECK(lay_coord(c, p, 1) == 8 * (i / 4) + 2 * (lane % 4) + i % 2);
			}
	CHECK(!lay_ok(frag_wgmma(FRAG_M16N8K16, ROLE_B, 7)) && !lay_ok(frag_wgmma(FRAG_M16N8K16, ROLE_C, 9)));
}

/* Operands of one product agree: a warp that owns rows of C owns the same rows of A, and columns of B. */
static void test_frag_tile(void)
{
	for (int f = 0; f < FRAG_N; f++)
		for (int wm = 0; wm < 3; wm++)
			for (int wn = 0; wn < 3; wn++) {
				int m = frag_m((Frag)f) + (int)rnd(3), n = frag_n((Frag)f) + (int)rnd(3);
				int k = frag_k((Frag)f) + (int)rnd(3);
				Lay a = frag_tile((Frag)f, ROLE_A, m, k, wm, wn), b = frag_tile((Frag)f, ROLE_B, k, n, wm, wn);
				Lay c = frag_tile((Frag)f, ROLE_C, m, n, wm, wn), q;

				CHECK(lay_ok(a) && lay_ok(b) && lay_ok(c) && lay_onto(a) && lay_onto(b) && lay_onto(c));
				CHECK(a.in[HW_WARP] == wm + wn && b.in[HW_WARP] == wm + wn && c.in[HW_WARP] == wm + wn);
				CHECK(lay_div(a, lay_frag((Frag)f, ROLE_A), &q) && lay_div(b, lay_frag((Frag)f, ROLE_B), &q));
				CHECK(lay_div(c, lay_frag((Frag)f, ROLE_C), &q));
				for (int w = 0; w < wm + wn; w++) {
					uint32_t pa = a.col[lay_first(a, HW_WARP) + w], pb = b.col[lay_first(b, HW_WARP) + w];
					uint32_t pc = c.col[lay_first(c, HW_WARP) + w];

					CHECK(lay_coord(c, pc, 0) == lay_coord(a, pa, 0) && lay_coord(a, pa, 1) == 0);
					CHECK(lay_coord(c, pc, 1) == lay_coord(b, pb, 1) && lay_coord(b, pb, 0) == 0);
				}
			}
	CHECK(!lay_ok(frag_tile(FRAG_M16N8K16, ROLE_A, 3, 4, 0, 0)));
	/* repeats in registers: those along K (of C: N) vary fastest */
	CHECK(frag_tile(FRAG_M16N8K16, ROLE_A, 5, 5, 0, 0).col[3] == 16);
	CHECK(frag_tile(FRAG_M16N8K16, ROLE_B, 5, 4, 0, 0).col[2] == 16 << 4);
	CHECK(frag_tile(FRAG_M16N8K16, ROLE_C, 5, 4, 0, 0).col[2] == 8);
}

/* Carries out ldmatrix as the manual says, on shared memory whose element at an offset is its own
 * coordinate. */
static void run_ldmatrix(Lay frag, Lay smem, int elem, int x, bool trans, Lay addr)
{
	uint32_t per = 4u >> elem, bytes = 16u >> elem, wrong = 0;

	for (uint32_t warp = 0; warp < 1u << frag.in[HW_WARP]; warp++)
		for (uint32_t issue = 0; issue < 1u << addr.in[HW_REG]; issue++)
			for (uint32_t j = 0; j < 1u << x; j++)
				for (uint32_t t = 0; t < 32 * per; t++) {
					uint32_t lane = t / per, h = t % per, off;
					uint32_t row = trans ? 2 * (lane % 4) + h : lane / 4;
					uint32_t e = trans ? lane / 4 : lane % 4 * per + h;
					uint32_t from[HW_N] = { issue, 8 * j + row, warp };
					uint32_t to[HW_N] = { h + per * (j + (issue << x)), lane, warp };

					off = lay_hwcoord(smem, lay_apply(addr, from), HW_OFF);
					wrong += off % bytes != 0 || lay_image(smem, off + e) != lay_apply(frag, to);
				}
	CHECK(wrong == 0);
}

static int wavefront_ways(const uint32_t word[], int n)
{
	int ways = 0;

	for (uint32_t bank = 0; bank < 32; bank++) {
		int k = 0;

		for (int i = 0; i < n; i++) {
			bool fresh = word[i] % 32 == bank;

			for (int j = 0; j < i; j++)
				fresh &= word[j] != word[i];
			k += fresh;
		}
		ways = k > ways ? k : ways;
	}
	return ways;
}

static void check_ldmatrix_conflicts(Lay addr, int elem, int x)
{
	int ways = 0;

	for (uint32_t j = 0; j < 1u << x; j++) {
		uint32_t word[32];

		for (uint32_t i = 0; i < 32; i++) {
			uint32_t in[HW_N] = { 0, 8 * j + i / 4, 0 };

			word[i] = (lay_apply(addr, in) << elem >> 2) + i % 4;
		}
		ways = wavefront_ways(word, 32) > ways ? wavefront_ways(word, 32) : ways;
	}
	CHECK(1 << frag_ldmatrix_conflicts(addr, elem) == ways);
}

/* Each condition of a layout that ldmatrix reads, broken alone. */
static void test_no_ldmatrix(void)
{
	Lay addr, frag = lay_frag(FRAG_M16N8K16, ROLE_A), c, d;

	if (!CHECK(lay_solve(lay_stored(2, frag.out, NULL), frag, &c) && frag_ldmatrix_of(c, 1, 2, false, &addr)))
		return;
	CHECK(!frag_ldmatrix_of(c, 1, 3, false, &addr) && !frag_ldmatrix_of(c, 1, -1, false, &addr));
	CHECK(!frag_ldmatrix_of(c, 2, 1, true, &addr) && !frag_ldmatrix_of(c, 3, 1, false, &addr) && !frag_ldmatrix_of(c, -1, 1, false, &addr));
	d = c;                          /* places along another axis, too */
	d.out[LAY_HWAXIS(HW_OFF)]--, d.out[LAY_HWAXIS(HW_WARP)]++;
	CHECK(!frag_ldmatrix_of(d, 1, 2, false, &addr));
	d = c;                          /* four lanes, and a register more */
	d.in[HW_LANE]--, d.in[HW_WARP]++;
	CHECK(!frag_ldmatrix_of(d, 1, 2, false, &addr));
	d = c;                          /* it begins at a place */
	d.in[HW_OFF] = 1;
	CHECK(!frag_ldmatrix_of(d, 1, 2, false, &addr));
	d = c;                          /* fewer registers than matrices */
	d.in[HW_REG]--, d.in[HW_WARP]++;
	CHECK(!frag_ldmatrix_of(d, 1, 2, false, &addr));
}

static void test_ldmatrix(void)
{
	static const struct { Frag f; Role r; int elem; bool trans, col_major; } cases[] = {
		{ FRAG_M16N8K16, ROLE_A, 1, false, false }, { FRAG_M16N8K16, ROLE_A, 1, true, true },
		{ FRAG_M16N8K16, ROLE_B, 1, true, false },  { FRAG_M16N8K16, ROLE_B, 1, false, true },
		{ FRAG_M16N8K8, ROLE_A, 2, false, false },  { FRAG_M16N8K8, ROLE_B, 2, false, true },
		{ FRAG_M16N8K32, ROLE_A, 0, false, false }, { FRAG_M16N8K32, ROLE_B, 0, false, true },
		{ FRAG_M16N8K16, ROLE_C, 1, false, false },                       /* stmatrix of f16 results */
	};
	const uint8_t cm[2] = { 0, 1 };
	Lay addr, a = lay_frag(FRAG_M16N8K16, ROLE_A);

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (int x = 0; x < 3; x++)
			for (int bits = 0; bits < 4; bits++) {
				Lay one = lay_frag(cases[i].f, cases[i].r);
				int rows = one.out[0] + 2, cols = one.out[1] + 2;
				Lay frag = frag_tile(cases[i].f, cases[i].r, rows, cols, 1, 0), smem;
				const uint8_t shape[2] = { (uint8_t)rows, (uint8_t)cols };
				Swz s = { (uint8_t)bits, (uint8_t)(4 - cases[i].elem), 3 };

				smem = swz_lay(2, shape, cases[i].col_major ? cm : NULL, s);
				if (!lay_ok(smem))
					continue;
				if (!CHECK(frag_ldmatrix(frag, smem, cases[i].elem, x, cases[i].trans, &addr)))
					continue;
				run_ldmatrix(frag, smem, cases[i].elem, x, cases[i].trans, addr);
				CHECK(lay_dead(addr, HW_LANE) == (24u & ~low_bits(3 + x)));
				check_ldmatrix_conflicts(addr, cases[i].elem, x);
				if (cases[i].elem == 1)
					CHECK(!frag_ldmatrix(frag, smem, 1, x, !cases[i].trans, &addr));
			}
	/* the form in every manual: x4, lane -> row lane % 16, column 8 * (lane / 16) */
	CHECK(frag_ldmatrix(a, lay_stored(2, a.out, NULL), 1, 2, false, &addr));
	for (uint32_t lane = 0; lane < 32; lane++) {
		uint32_t in[HW_N] = { 0, lane };

		CHECK(lay_apply(addr, in) == lane % 16 * 16 + 8 * (lane / 16));
	}
	a = lay_frag(FRAG_M8N8K4, ROLE_A);
	CHECK(!frag_ldmatrix(a, lay_stored(2, a.out, NULL), 3, 0, false, &addr));
}

/* ---- shared memory ---- */

static void check_conflicts(Lay reg, Lay smem, int elem, int vec)
{
	int bytes = 1 << (elem + vec), lanes = bytes <= 4 ? 32 : 128 / bytes;
	int per = bytes <= 4 ? 1 : bytes / 4, got = lay_conflicts(reg, smem, elem, vec);
	uint8_t bit[LAY_BITS];
	Lay c;
	int ways = 0;

	if (!CHECK(lay_solve(smem, reg, &c)))
		return;
	if (lay_vec(reg, smem) < vec) {
		CHECK(got == -1);
		return;
	}
	CHECK(lay_run(c, LAY_HWAXIS(HW_OFF), bit) >= vec);
	for (uint32_t r = 0; r < 1u << reg.in[HW_REG]; r++) {
		bool first = true;

		for (int i = 0; i < vec; i++)
			first &= !(r >> bit[i] & 1);
		for (int l0 = 0; l0 < 32 && first; l0 += lanes) {
			uint32_t word[32];

			for (int i = 0; i < lanes * per; i++) {
				uint32_t in[HW_N] = { r, (uint32_t)(l0 + i / per) };

				word[i] = (lay_apply(c, in) << elem >> 2) + (uint32_t)(i % per);
			}
			ways = wavefront_ways(word, lanes * per) > ways ? wavefront_ways(word, lanes * per) : ways;
		}
	}
	CHECK(1 << got == ways);
}

static void test_conflicts(void)
{
	const uint8_t s[2] = { 4, 6 };
	Lay c = frag_tile(FRAG_M16N8K16, ROLE_C, 4, 6, 0, 0), rm = lay_stored(2, s, NULL);
	Lay sw = swz_lay(2, s, NULL, (Swz){ 3, 3, 3 });
	int seen[6] = { 0 };

	CHECK(lay_vec(c, rm) == 1 && lay_conflicts(c, rm, 1, 1) == 3);
	CHECK(lay_conflicts(c, sw, 1, 1) == 0 && lay_vec(c, sw) == 1);
	CHECK(lay_eq(sw, lay_xor(rm, 1, 3, 0, 0, 3)));
	CHECK(lay_conflicts(c, rm, 1, 2) == -1 && lay_conflicts(c, rm, 3, 2) == -1);
	for (int round = 0; round < 1500; round++) {
		int bits = 8 + (int)rnd(4), nreg = 1 + (int)rnd(5);
		Lay shape = rnd_shape(2, bits), smem, reg = rnd_plain(shape, bits > nreg + 5 ? bits - 5 : nreg, 5, 0);
		Swz z = { (uint8_t)rnd(4), (uint8_t)rnd(4), (uint8_t)(3 + rnd(3)) };
		int elem = (int)rnd(4), vec = (int)rnd(5 - (uint32_t)elem);

		smem = swz_lay(2, shape.out, NULL, z);
		if (!lay_ok(smem))
			continue;
		if (rnd(2)) {                    /* make a vector likely */
			reg = lay_blocked(2, shape.out, 4, 5, 0, rnd(2) ? NULL : (const uint8_t[]){ 0, 1 });
			if (rnd(2))
				reg.col[reg.in[HW_REG] + (int)rnd(5)] ^= reg.col[rnd(reg.in[HW_REG])];
		}
		for (int i = 0; i < 3; i++) {    /* lanes mixed arbitrarily */
			int k = reg.in[HW_REG] + (int)rnd(5), m = reg.in[HW_REG] + (int)rnd(5);

			if (k != m)
				reg.col[k] ^= reg.col[m];
		}
		check_conflicts(reg, smem, elem, vec);
		if (lay_conflicts(reg, smem, elem, vec) >= 0)
			seen[lay_conflicts(reg, smem, elem, vec)]++;
	}
	CHECK(seen[0] > 20 && seen[1] > 20 && seen[2] > 20);
}

/* Vector width by looking at the offsets of each thread. */
static void test_vec(void)
{
	for (int round = 0; round < 2000; round++) {
		Lay shape = rnd_shape(2, 8), reg = rnd_plain(shape, 4, 4, 0), c;
		Lay smem = swz_lay(2, shape.out, NULL, (Swz){ (uint8_t)rnd(3), (uint8_t)rnd(3), 3 });
		uint8_t bit[LAY_BITS];
		int v;

		if (rnd(2))
			reg.col[rnd(8)] ^= reg.col[rnd(8)];
		if (!lay_onto(reg) || !lay_ok(smem))
			continue;
		v = lay_vec(reg, smem);
		CHECK(lay_solve(smem, reg, &c) && lay_run(c, LAY_HWAXIS(HW_OFF), bit) == v);
		for (uint32_t x = 0; x < nplaces(reg); x++) {
			bool first = true;

			for (int i = 0; i < v; i++) {
				CHECK(lay_image(c, x ^ 1u << bit[i]) == (lay_image(c, x) ^ 1u << i));
				first &= !(x >> bit[i] & 1);
			}
			CHECK(!first || lay_image(c, x) % (1u << v) == 0);
		}
	}
	{
		Lay far = lay_id(1, HW_REG, 0, 4);

		CHECK(lay_vec(far, lay_bcast(1, HW_OFF, 2)) == -1);
		CHECK(lay_vec(far, lay_id(1, HW_OFF, 0, 4)) == 4);
	}
}

static void test_swz(void)
{
	const uint8_t s[2] = { 6, 6 };
	uint8_t s3[3] = { 1, 5, 6 };
	SwzPick p;
	SwzUse use[2];
	Swz t;

	for (int round = 0; round < 500; round++) {
		Swz z = { (uint8_t)rnd(4), (uint8_t)rnd(5), (uint8_t)(3 + rnd(3)) };
		uint32_t o = rnd(1u << 16);
		Lay l = swz_lay(2, s, NULL, z);

		CHECK(swz_apply(z, swz_apply(z, o)) == o);
		if (lay_ok(l)) {
			CHECK(lay_onto(l) && lay_image(l, swz_apply(z, o & 4095)) == (o & 4095));
		} else {
			CHECK(z.bits + z.base + z.shift > 12);
		}
	}
	CHECK(swz_tma(128, 1, &t) && t.bits == 3 && t.base == 3 && t.shift == 3);
	CHECK(swz_tma(64, 0, &t) && t.bits == 2 && t.base == 4 && t.shift == 3);
	CHECK(swz_tma(32, 2, &t) && t.bits == 1 && t.base == 2);
	CHECK(swz_tma(0, 1, &t) && t.bits == 0 && !swz_tma(48, 1, &t) && !swz_tma(256, 1, &t));

	/* a staging buffer: written in 16-byte rows, read by ldmatrix: no conflict on either side */
	use[0] = (SwzUse){ lay_blocked(2, s, 3, 5, 2, NULL), SWZ_PLAIN, 1 };
	use[1] = (SwzUse){ frag_tile(FRAG_M16N8K16, ROLE_A, 6, 6, 2, 0), SWZ_LDM, 1 };
	CHECK(swz_choose(2, s, NULL, 1, 2, use, &p));
	CHECK(p.order[0] == 1 && p.swz.bits == 3 && lay_conflicts(use[0].reg, p.smem, 1, 3) == 0);
	CHECK(lay_eq(p.smem, swz_lay(2, s, p.order, p.swz)));
	CHECK(swz_cost(use[1].reg, p.smem, 1, SWZ_LDM) == 4 * (4 + 1));
	CHECK(p.cost == 4 * (4 + 1) + 4 * (4 + 1));
	/* B from [K,N] rows goes by .trans; without it only the column order can serve */
	use[1] = (SwzUse){ frag_tile(FRAG_M16N8K16, ROLE_B, 6, 6, 0, 2), SWZ_LDM_T, 1 };
	CHECK(swz_choose(2, s, NULL, 1, 2, use, &p) && p.order[0] == 1 && p.cost == 40);
	use[1].via = SWZ_LDM;
	CHECK(swz_choose(2, s, NULL, 1, 2, use, &p) && p.order[0] == 0);
	CHECK(!swz_choose(2, s, (const uint8_t[]){ 1, 0 }, 1, 2, use, &p));

	/* a transpose of 32-bit elements: rows in, columns out, each access without conflict */
	use[0] = (SwzUse){ lay_blocked(2, s, 0, 5, 2, NULL), SWZ_PLAIN, 1 };
	use[1] = (SwzUse){ lay_blocked(2, s, 0, 5, 2, (const uint8_t[]){ 0, 1 }), SWZ_PLAIN, 1 };
	CHECK(swz_choose(2, s, NULL, 2, 2, use, &p) && p.swz.bits == 5);
	CHECK(lay_conflicts(use[0].reg, p.smem, 2, 0) == 0 && lay_conflicts(use[1].reg, p.smem, 2, 0) == 0);
	CHECK(swz_convert_cost(use[0].reg, use[1].reg, 2) > p.cost);
	CHECK(swz_convert_cost(use[0].reg, use[0].reg, 2) == 0);

	/* three axes; the choice is never worse than no swizzle, and costs what its storage says */
	for (int round = 0; round < 12; round++) {
		int elem = (int)rnd(3), plain = 0, chosen = 0;

		s3[0] = (uint8_t)rnd(2);
		s3[1] = (uint8_t)(4 + rnd(2));
		use[0] = (SwzUse){ lay_blocked(3, s3, (int)rnd(4), 5, 1, NULL), SWZ_PLAIN, 1 };
		use[1] = (SwzUse){ rnd_onto(lay_pick(use[0].reg, 0, 7), 7, 5, 1), SWZ_PLAIN, 2 };
		for (int i = 0; i < 3; i++)
			use[1].reg.out[i] = s3[i];
		for (int i = 0; i < 2; i++)
			plain += use[i].count * swz_cost(use[i].reg, lay_stored(3, s3, NULL), elem, SWZ_PLAIN);
		CHECK(swz_choose(3, s3, NULL, elem, 2, use, &p) && p.cost <= plain && lay_onto(p.smem));
		for (int i = 0; i < 2; i++)
			chosen += use[i].count * swz_cost(use[i].reg, p.smem, elem, SWZ_PLAIN);
		CHECK(p.cost == chosen);
	}
	CHECK(swz_choose(0, s, NULL, 2, 0, NULL, &p) && p.swz.bits == 0);
}

/* ---- text ---- */

static void test_text(void)
{
	static const char *const bad[] = {
		"", "[", "[3]{}", "[2]{reg:(2)}", "[2]{reg:(0,0)}", "[2]{reg:}", "[2]{lane:(1) reg:(1)}", "[2]{reg:(1)",
		"[2]{reg:(1)} x", "[2,2,2,2,2,2,2,2,2]{}", "[65536,131072]{}", "[2]{foo:(1)}", "[99999999999]{}", "bad",
		"[2,]{}",
	};
	char buf[4096], small[8];
	Lay l, back;

	lay_print(buf, sizeof buf, lay_frag(FRAG_M16N8K16, ROLE_C));
	CHECK(strcmp(buf, "[16,8]{reg:(0,1) (8,0) lane:(0,2) (0,4) (1,0) (2,0) (4,0)}") == 0);
	CHECK(lay_print(small, sizeof small, lay_frag(FRAG_M16N8K16, ROLE_C)) == strlen(buf));
	CHECK(strcmp(small, "[16,8]{") == 0 && lay_print(NULL, 0, lay_bad()) == 3);
	CHECK(lay_read(" [ ] { lane : ( ) ( ) } ", &l) && l.naxis == 0 && l.in[HW_LANE] == 2);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (!CHECK(!lay_read(bad[i], &l)))
			printf("  accepted: %s\n", bad[i]);
	strcpy(buf, "[2]{reg:");
	for (int i = 0; i < LAY_BITS; i++)
		strcat(buf, "(1)");
	CHECK(lay_read(strcat(buf, "}"), &l) && l.in[HW_REG] == 32);
	strcpy(buf + strlen(buf) - 1, "(1)}");
	CHECK(!lay_read(buf, &l));
	for (int round = 0; round < 2000; round++) {
		l = rnd_lay(rnd_shape((int)rnd(9), (int)rnd(33)), (int)rnd(8), (int)rnd(6), (int)rnd(6));
		if (rnd(2)) {
			l.in[HW_OFF] = l.in[HW_WARP];
			l.in[HW_WARP] = 0;
		}
		CHECK(lay_print(buf, sizeof buf, l) < sizeof buf);
		CHECK(lay_read(buf, &back) && lay_eq(l, back));
	}
}

int main(void)
{
	test_make();
	test_blocked();
	test_linear();
	test_permute_reshape();
	test_mul_div();
	test_solve();
	test_counts();
	test_reduce();
	test_broadcast();
	test_convert();
	test_frag();
	test_wgmma();
	test_frag_tile();
	test_ldmatrix();
	test_no_ldmatrix();
	test_conflicts();
	test_vec();
	test_swz();
	test_text();
	printf("test_layout: %ld checks, %ld failed\n", checks, failures);
	return failures != 0;
}
