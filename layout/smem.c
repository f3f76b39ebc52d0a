/* smem.c: slabs and their swizzles; smem.h has the contract. */
#include "layout/smem.h"

#include "layout/swz.h"

enum { PATTERN_ROWS = 8, TMA_ALIGN = 128, CHUNK_LOG2 = 4 };

static bool span_ok(int span)
{
	return span == 0 || span == 16 || span == 32 || span == 64 || span == 128;
}

bool smem_ok(Smem t)
{
	int fast, slow;

	if (t.elem_log2 > 3 || t.fast > 1 || !span_ok(t.span) || t.extent[0] <= 0 || t.extent[1] <= 0)
		return false;
	fast = t.extent[t.fast];
	slow = t.extent[1 - t.fast];
	if (fast > INT32_MAX >> 3 || (fast << t.elem_log2) % 16 != 0)
		return false;
	return t.span == 0 || ((fast << t.elem_log2) % t.span == 0 && slow % PATTERN_ROWS == 0);
}

int smem_align(int span)
{
	return span * PATTERN_ROWS > TMA_ALIGN ? span * PATTERN_ROWS : TMA_ALIGN;
}

int smem_slab_elems(Smem t)
{
	return t.span ? t.span >> t.elem_log2 : t.extent[t.fast];
}

int smem_slabs(Smem t)
{
	return t.extent[t.fast] / smem_slab_elems(t);
}

int64_t smem_slab_bytes(Smem t)
{
	return ((int64_t)smem_slab_elems(t) << t.elem_log2) * t.extent[1 - t.fast];
}

int64_t smem_bytes(Smem t)
{
	return smem_slab_bytes(t) * smem_slabs(t);
}

uint32_t smem_swizzle(int span, uint32_t address)
{
	Swz s;

	/* swz_tma counts elements; here they are bytes */
	return span > 16 && swz_tma(span, 0, &s) ? swz_apply(s, address) : address;
}

int64_t smem_at(Smem t, int i, int j)
{
	int fast = t.fast ? j : i, slow = t.fast ? i : j, width = smem_slab_elems(t);
	int64_t slab = smem_slab_bytes(t) * (fast / width);
	uint32_t within = (uint32_t)(((int64_t)slow * width + fast % width) << t.elem_log2);

	/* a slab is a multiple of the swizzle's period, so its place has no part in the swizzle */
	return slab + smem_swizzle(t.span, within);
}

static int log2_exact(int n)
{
	int k = 0;

	while (n > 1 && n % 2 == 0) {
		n /= 2;
		k++;
	}
	return n == 1 ? k : -1;
}

Lay smem_lay(Smem t)
{
	int width, rows, slabs;
	Lay plain, l;
	Swz s = { 0 };

	if (!smem_ok(t))
		return lay_bad();
	width = log2_exact(smem_slab_elems(t));
	rows = log2_exact(t.extent[1 - t.fast]);
	slabs = log2_exact(smem_slabs(t));
	if (width < 0 || rows < 0 || slabs < 0 || width + rows + slabs > LAY_BITS)
		return lay_bad();
	plain = lay_push(lay_unit(2), HW_OFF, t.fast, width);
	plain = lay_push(plain, HW_OFF, 1 - t.fast, rows);
	plain = lay_push(plain, HW_OFF, t.fast, slabs);
	l = plain;
	if (t.span > 16 && !swz_tma(t.span, t.elem_log2, &s))
		return lay_bad();
	for (int i = 0; i < plain.in[HW_OFF]; i++)
		l.col[i] = lay_image(plain, swz_apply(s, (uint32_t)1 << i));
	return l;
}
