/* What a thread reads of tiles that overlap: see pass overlap. */
#include "placed/placed.h"

bool patch_of(Lay l, int n, const int64_t *offsets, Patch *p)
{
	*p = (Patch){ .rank = l.naxis };
	int64_t hi[TENSOR_RANK];
	int reg[LAY_BITS][TENSOR_RANK], size = 1;
	int regs = l.in[HW_REG], bits = lay_inbits(l);
	if (regs > 6) return false;
	for (int a = 0; a < p->rank; a++) {
		uint32_t mine = 0, others = 0;
		for (int i = 0; i < bits; i++) {
			uint32_t c = lay_coord(l, l.col[i], a);
			if (i < regs) mine |= c, reg[i][a] = (int)c;
			else others |= c;
		}
		if (mine & others || mine & (mine + 1)) return false;
		p->lo[a] = hi[a] = offsets[a];
		for (int k = 1; k < n; k++) {
			int64_t o = offsets[k * p->rank + a];
			if (o < p->lo[a]) p->lo[a] = o;
			if (o > hi[a]) hi[a] = o;
		}
		if (hi[a] - p->lo[a] >= PATCH_MOST) return false;
		p->ext[a] = (int)(hi[a] - p->lo[a]) + (int)mine + 1;
		size *= p->ext[a];
		if (size > PATCH_MOST) return false;
	}
	for (int k = 0; k < n; k++) {
		for (int r = 0; r < 1 << regs; r++) {
			int at = 0;
			for (int a = 0; a < p->rank; a++) {
				int c = 0;
				for (int i = 0; i < regs; i++)
					if (r >> i & 1) c ^= reg[i][a];
				at = at * p->ext[a] + c + (int)(offsets[k * p->rank + a] - p->lo[a]);
			}
			p->wanted += !p->want[at];
			p->want[at] = true;
		}
	}
	return true;
}
