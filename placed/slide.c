/* How a tile is shifted within warps: see pass slide. */
#include "placed/placed.h"

/* Which input bit of l makes bit k of the coordinate, and nothing else; -1: none. */
static int maker(Lay l, int axis, int k)
{
	uint32_t bit = (uint32_t)1 << (lay_shift(l, axis) + k);
	int at = -1, n = 0;
	for (int i = 0; i < lay_inbits(l); i++)
		if (l.col[i] & bit) at = i, n++;
	return n == 1 && l.col[at] == bit ? at : -1;
}

bool slide_plan(Lay l, int axis, SlidePlan *p)
{
	int k = 0, of, regs = l.in[HW_REG], end = regs + l.in[HW_LANE], n = l.out[axis];
	*p = (SlidePlan){ 0 };
	for (; k < n && (of = maker(l, axis, k)) >= 0 && of < regs && !p->lanes; k++) p->low[p->lows++] = (uint8_t)of;
	for (; k < n && (of = maker(l, axis, k)) >= regs && of < end; k++) {
		if (p->lanes && of - regs != p->lane + p->lanes) return false;
		if (!p->lanes++) p->lane = of - regs;
	}
	for (; k < n && (of = maker(l, axis, k)) >= 0 && of < regs; k++) {
		if (p->highs && of != p->high + p->highs) return false;
		if (!p->highs++) p->high = of;
	}
	return k == n;
}

int slide_carry(const SlidePlan *p, int from) { return from >= 0 ? from >> p->lows : -((-from - 1) >> p->lows) - 1; }
