/* wgmma.c: matrix descriptors and warpgroup fragments; wgmma.h has the contract. */
#include "layout/wgmma.h"

enum { LEAD_SHIFT = 16, STRIDE_SHIFT = 32, BASE_SHIFT = 49, MODE_SHIFT = 62, ROWS = 8, INSTR_K_BYTES = 32 };

int wg_k(int elem_log2)
{
	return INSTR_K_BYTES >> elem_log2;
}

bool wg_n_ok(int elem_log2, bool integer, int n)
{
	if (elem_log2 < 0 || elem_log2 > 2 || n < 8 || n > 256 || n % 8 != 0)
		return false;
	/* the integer instructions have 8, 16, 24, 32 and then every 16 columns */
	return !integer || n <= 32 || n % 16 == 0;
}

/* Field of 14 bits in units of 16 bytes. */
static bool field(int64_t bytes, uint64_t *f)
{
	*f = (uint64_t)(bytes >> 4);
	return bytes >= 0 && bytes % 16 == 0 && bytes >> 4 <= WG_ADDRESS_MASK;
}

static int mode_of(int span)
{
	return span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
}

/* The manual's two offsets, by what they step over:
 *
 *	K-major, swizzled     leading: not used, 1            stride: the next 8 rows
 *	K-major, none         leading: the next 16 bytes of K stride: the next 8 rows
 *	MN-major, swizzled    leading: the next slab          stride: the next 8 of K
 *	MN-major, none        leading: the next 8 of K        stride: the next slab
 *
 * Rows (positions of the slow axis) of a slab are adjacent, so 8 of them are 8 spans. */
bool wg_operand(Smem t, int k_axis, WgOperand *o)
{
	int64_t rows = (int64_t)ROWS * t.span, slab = smem_slab_bytes(t), lead, stride;
	uint64_t lead_field, stride_field;

	if (!smem_ok(t) || t.span == 0 || t.elem_log2 > 2 || (k_axis != 0 && k_axis != 1))
		return false;
	o->k_major = t.fast == k_axis;
	if (!o->k_major && t.elem_log2 != 1)
		return false;
	if (t.span == 16) {
		lead = o->k_major ? slab : rows;
		stride = o->k_major ? rows : slab;
	} else {
		lead = o->k_major ? 16 : slab;
		stride = rows;
	}
	if (!field(lead, &lead_field) || !field(stride, &stride_field))
		return false;
	o->fixed = lead_field << LEAD_SHIFT | stride_field << STRIDE_SHIFT | (uint64_t)mode_of(t.span) << MODE_SHIFT;
	return true;
}

/* Swizzled K-major operands step within the span: the hardware adds the step before it permutes, so the
 * address of the operand's first element BEFORE the swizzle is what counts. */
bool wg_step(Smem t, int k_axis, int mn, int k, int64_t *bytes)
{
	bool k_major = t.fast == k_axis;
	int width, fast = k_major ? k : mn, slow = k_major ? mn : k;

	if (!smem_ok(t) || t.span == 0 || (k_axis != 0 && k_axis != 1) || mn < 0 || k < 0
	    || mn >= t.extent[1 - k_axis] || k >= t.extent[k_axis] || k % wg_k(t.elem_log2) != 0)
		return false;
	width = smem_slab_elems(t);
	if (slow % ROWS != 0 || (!k_major && mn % width != 0))
		return false;
	*bytes = fast / width * smem_slab_bytes(t) + (int64_t)slow * t.span + ((int64_t)(fast % width) << t.elem_log2);
	return true;
}

uint64_t wg_base_offset(int span, uint32_t address)
{
	return span > 16 && address % (uint32_t)(ROWS * span) != 0 ? address >> 7 & 7 : 0;
}

uint64_t wg_descriptor(WgOperand o, int span, uint32_t address)
{
	return o.fixed | (address >> 4 & WG_ADDRESS_MASK) | wg_base_offset(span, address) << BASE_SHIFT;
}

static FragAt place(Lay l, int reg, int thread)
{
	uint32_t in[HW_N] = { 0 };
	uint32_t packed;

	in[HW_REG] = (uint32_t)reg;
	in[HW_LANE] = (uint32_t)thread % 32;
	in[HW_WARP] = (uint32_t)thread / 32;
	packed = lay_apply(l, in);
	return (FragAt){ (int)lay_coord(l, packed, 0), (int)lay_coord(l, packed, 1) };
}

int wg_d_regs(int n)
{
	return n * WG_M / WG_THREADS;
}

/* N need not be a power of two: blocks of 8 columns follow each other in groups of 4 registers. */
FragAt wg_d_at(int reg, int thread)
{
	FragAt at = place(frag_wgmma(FRAG_M16N8K16, ROLE_C, 3), reg % 4, thread);

	at.col += reg / 4 * 8;
	return at;
}

static Lay a_lay(int elem_log2)
{
	static const Frag frags[3] = { FRAG_M16N8K32, FRAG_M16N8K16, FRAG_M16N8K8 };

	return elem_log2 < 0 || elem_log2 > 2 ? lay_bad() : frag_wgmma(frags[elem_log2], ROLE_A, 0);
}

int wg_a_elems(int elem_log2)
{
	return 16 >> elem_log2;
}

FragAt wg_a_at(int elem_log2, int elem, int thread)
{
	return place(a_lay(elem_log2), elem, thread);
}

/* One slab of the tile is looked at, in rows of a power of two: the swizzle repeats every 8 rows,
 * so further rows are further bytes. */
bool wg_stmatrix(Smem t, bool trans, int group, WgStore *s)
{
	Lay d = frag_wgmma(FRAG_M16N8K16, ROLE_C, 4), whole;
	int width = smem_slab_elems(t), col = 16 * group;
	int row_bytes = width << t.elem_log2, swap[2] = { 1, 0 };
	Smem part = t;

	if (!smem_ok(t) || t.elem_log2 != 1 || t.fast != 1 || group < 0 || width % 16 != 0
	    || t.extent[trans] != WG_M || col + 16 > t.extent[1 - trans] || (trans && width != WG_M))
		return false;
	part.extent[0] = trans ? 16 : WG_M;
	part.extent[1] = width;
	whole = smem_lay(part);
	if (!lay_ok(whole))
		return false;
	s->flip = 0;
	if (trans) {
		d = lay_permute(d, swap);
		s->add = (int64_t)col * row_bytes;
	} else {
		uint32_t coord[LAY_AXES] = { 0, (uint32_t)(col % width) }, place;

		if (!lay_place(whole, lay_pack(whole, coord), &place))
			return false;
		s->flip = lay_hwcoord(whole, place, HW_OFF);
		s->add = col / width * smem_slab_bytes(t);
	}
	return frag_ldmatrix(lay_within(d, whole.out), whole, 1, 2, trans, &s->addr);
}

bool wg_a_from_d(int elem_log2, int elem, int *reg)
{
	Lay a = a_lay(elem_log2), c;
	CvtKind kind;

	if (!lay_ok(a) || elem < 0 || elem >= wg_a_elems(elem_log2))
		return false;
	kind = lay_pull(a, frag_wgmma(FRAG_M16N8K16, ROLE_C, a.out[1]), &c);
	if (kind != CVT_NONE && kind != CVT_REGS)
		return false;
	*reg = (int)lay_coord(c, lay_image(c, (uint32_t)elem), LAY_HWAXIS(HW_REG));
	return true;
}
