/* swz.c: search over XOR swizzles by their closed-form cost; swz.h has the contract. */
#include "layout/swz.h"

#include "base/cost.h"
#include "layout/f2.h"
#include "layout/frag.h"

uint32_t swz_apply(Swz s, uint32_t off)
{
	uint32_t mask = (((uint32_t)1 << s.bits) - 1) << s.base;

	return s.bits ? off ^ (off >> s.shift & mask) : off;
}

static bool swz_fits(Swz s, int total_bits)
{
	return s.bits == 0 || (s.shift >= s.bits && s.base + s.shift + s.bits <= total_bits);
}

/* The swizzle is its own inverse, so offset bit i holds what stood at offset swz(1 << i). */
Lay swz_lay(int naxis, const uint8_t shape_log2[], const uint8_t order[], Swz s)
{
	Lay plain = lay_stored(naxis, shape_log2, order), l = plain;

	if (!lay_ok(plain) || !swz_fits(s, lay_outbits(plain)))
		return lay_bad();
	for (int i = 0; i < plain.in[HW_OFF]; i++)
		l.col[i] = lay_image(plain, swz_apply(s, (uint32_t)1 << i));
	return l;
}

bool swz_tma(int span_bytes, int elem_log2, Swz *s)
{
	int bits = 0;

	while (bits <= 3 && span_bytes != (bits ? 16 << bits : 0))
		bits++;
	if (bits > 3 || elem_log2 < 0 || elem_log2 > 4)
		return false;
	*s = bits ? (Swz){ (uint8_t)bits, (uint8_t)(4 - elem_log2), 3 } : (Swz){ 0 };
	return true;
}

/* log2 of the distinct elements among a thread's registers: copies are neither loaded nor stored. */
static int reg_rank(Lay l)
{
	return f2_rank(l.col, l.in[HW_REG], UINT32_MAX);
}

/* The costs of an access from the map c of its registers into the places of shared memory. */
static int plain_cost(Lay c, int elem_log2)
{
	int best = -1, vec = lay_vec_of(c), rank = reg_rank(c);

	for (int v = 0; v <= vec && elem_log2 + v <= 4; v++) {
		int bytes = elem_log2 + v;
		int waves = (bytes > 2 ? bytes - 2 : 0) + lay_conflicts_of(c, elem_log2, v);
		int cost = rank - v + waves > 24 ? INT32_MAX / 64 : (1 << (rank - v)) * ((1 << waves) + 1);

		if (best < 0 || cost < best)
			best = cost;
	}
	return best;
}

static int ldmatrix_cost(Lay c, int elem_log2, bool trans)
{
	Lay addr;

	for (int x = 2; x >= 0; x--)
		if (frag_ldmatrix_of(c, elem_log2, x, trans, &addr))
			return (1 << addr.in[HW_REG]) * ((1 << (x + frag_ldmatrix_conflicts(addr, elem_log2))) + 1);
	return -1;
}

static int map_cost(Lay c, int elem_log2, SwzVia via)
{
	return via == SWZ_PLAIN ? plain_cost(c, elem_log2) : ldmatrix_cost(c, elem_log2, via == SWZ_LDM_T);
}

int swz_cost(Lay reg, Lay smem, int elem_log2, SwzVia via)
{
	Lay c;

	return lay_solve(smem, reg, &c) ? map_cost(c, elem_log2, via) : -1;
}

/* What a search is about, apart from the storage that it varies. */
typedef struct Search {
	int            naxis;
	const uint8_t *shape;
	int            elem_log2;
	int            nuse;
	const SwzUse  *use;
	Lay            map[SWZ_USES];     /* of each use into the storage of this order, not swizzled  */
	SwzPick        best;              /* cost -1: none yet                                         */
} Search;

/* A swizzle is its own inverse: what lies at offset o without it is at swz(o) with it. */
static Lay swizzled(Lay c, Swz s)
{
	for (int i = 0; s.bits && i < LAY_BITS; i++)
		c.col[i] = swz_apply(s, c.col[i]);
	return c;
}

/* Takes this storage if it serves all uses at lower cost than the best so far. */
static void consider(Search *f, const uint8_t order[], Swz s)
{
	int64_t sum = 0, limit = f->best.cost < 0 ? INT64_MAX : f->best.cost;

	for (int i = 0; i < f->nuse && sum < limit; i++) {
		int c = map_cost(swizzled(f->map[i], s), f->elem_log2, f->use[i].via);

		if (c < 0)
			return;
		sum += (int64_t)c * f->use[i].count;
	}
	if (sum >= limit)
		return;
	f->best.swz = s;
	f->best.cost = sum < INT32_MAX ? (int)sum : INT32_MAX;
	for (int i = 0; i < f->naxis; i++)
		f->best.order[i] = order[i];
}

/* All swizzles of one order, simplest first.  Useful bases change a word or up to a 16-byte chunk: below a
 * word the bank stays, above a chunk vectors have no more to gain. */
static void search(Search *f, const uint8_t order[])
{
	Lay plain = lay_stored(f->naxis, f->shape, order);
	int total = lay_outbits(plain);

	if (!lay_ok(plain))
		return;
	for (int i = 0; i < f->nuse; i++)
		if (!lay_solve(plain, f->use[i].reg, &f->map[i]))
			return;
	consider(f, order, (Swz){ 0 });
	for (int bits = 1; bits <= 5; bits++) {
		for (int base = 4 - f->elem_log2; base >= 0 && base + f->elem_log2 >= 2; base--) {
			for (int shift = bits; base + shift + bits <= total; shift++)
				consider(f, order, (Swz){ (uint8_t)bits, (uint8_t)base, (uint8_t)shift });
		}
	}
}

bool swz_choose(int naxis, const uint8_t shape_log2[], const uint8_t order[], int elem_log2, int nuse,
                const SwzUse use[], SwzPick *pick)
{
	Search f = { naxis, shape_log2, elem_log2, nuse, use, .best.cost = -1 };
	uint8_t own[LAY_AXES] = { 0 };

	if (naxis < 0 || naxis > LAY_AXES || elem_log2 < 0 || elem_log2 > 4 || nuse > SWZ_USES)
		return false;
	for (int i = 0; i < naxis; i++)
		own[i] = order ? order[i] : (uint8_t)(naxis - 1 - i);
	search(&f, own);
	if (!order && naxis >= 2) {
		own[0] = (uint8_t)(naxis - 2);
		own[1] = (uint8_t)(naxis - 1);
		search(&f, own);
	}
	if (f.best.cost < 0)
		return false;
	*pick = f.best;
	pick->smem = swz_lay(naxis, shape_log2, pick->order, pick->swz);
	return true;
}

/* A shuffle delivers one register of the source lane.  Which one the destination wants may depend on its
 * lane: then every candidate is sent and one is selected. */
static int shuffle_cost(Lay dst, Lay c)
{
	Lay which = lay_pick(c, 1u << HW_LANE, 1u << LAY_HWAXIS(HW_REG));
	int rank = reg_rank(dst), cand = lay_rank(which);

	if (rank + cand > 24)
		return INT32_MAX / 64;
	return (1 << (rank + cand)) * COST_SHUFFLE + (1 << rank) * ((1 << cand) - 1) * COST_SELECT;
}

int swz_convert_cost(Lay dst, Lay src, int elem_log2)
{
	SwzUse use[2] = { { dst, SWZ_PLAIN, 1 }, { src, SWZ_PLAIN, 1 } };
	SwzPick pick;
	int through = -1, direct = -1;
	Lay c;
	CvtKind kind = lay_pull(dst, src, &c);

	if (kind == CVT_NONE || kind == CVT_REGS)
		return 0;
	if (kind == CVT_CLUSTER || kind == CVT_BAD)
		return -1;
	if (swz_choose(dst.naxis, dst.out, NULL, elem_log2, 2, use, &pick))
		through = pick.cost + COST_BARRIER;
	if (kind == CVT_SHFL)
		direct = shuffle_cost(dst, c);
	return direct >= 0 && (through < 0 || direct < through) ? direct : through;
}
