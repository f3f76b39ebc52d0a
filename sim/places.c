/* Layouts as tables: the coordinate of a place is the XOR of the parts of its register, its lane and its warp. */
#include "sim/sim_int.h"

static uint32_t image(const uint32_t *col, int n, uint32_t x)
{
	uint32_t r = 0;
	for (int i = 0; i < n; i++)
		if (x >> i & 1) r ^= col[i];
	return r;
}

Map map_of(Run *r, Lay l, int axis)
{
	Map m = { .nreg = l.in[HW_REG], .nlane = l.in[HW_LANE], .nwarp = l.in[HW_WARP] };
	uint32_t col[LAY_BITS];
	for (int i = 0; i < lay_inbits(l); i++) col[i] = axis < 0 ? l.col[i] : lay_coord(l, l.col[i], axis);
	m.reg = NEW_ARRAY(r->mem, uint32_t, (size_t)1 << m.nreg);
	for (uint32_t i = 0; i < (uint32_t)1 << m.nreg; i++) m.reg[i] = image(col, m.nreg, i);
	for (uint32_t i = 0; i < LANES; i++) m.lane[i] = image(col + m.nreg, m.nlane, i);
	for (int i = 0; i < m.nwarp; i++) m.warp[i] = col[m.nreg + m.nlane + i];
	return m;
}

static uint32_t first_of(Lay l, uint32_t warp)
{
	uint32_t spare = lay_free(l), lane = lay_hwcoord(l, spare, HW_LANE), r = 0;
	if (lay_hwcoord(l, spare, HW_WARP) & warp) return 0;
	for (uint32_t i = 0; i < LANES; i++)
		if (!(lane & i)) r |= (uint32_t)1 << i;
	return r;
}

uint32_t first_lanes(Lay l, int warp) { return first_of(l, (uint32_t)warp); }

uint32_t first_lanes_of_block(const Warp *w, Lay l)
{
	return first_of(l, (uint32_t)(w->num % (w->u->nwarp / w->u->nrank)));
}

bool is_first_reg(uint32_t spare, int reg) { return !(spare & (uint32_t)reg); }

uint32_t bits_along(uint32_t mask, uint32_t n)
{
	uint32_t r = 0;
	for (int i = 0, k = 0; i < 32; i++)
		if (mask >> i & 1) r |= (n >> k++ & 1) << i;
	return r;
}
