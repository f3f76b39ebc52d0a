/* tma.c: boxes; tma.h has the contract. */
#include "layout/tma.h"

enum { SMEM_ALIGN = 128 };        /* bytes: of what a copy writes or reads in shared memory */

/* The fewest equal parts of n rows that are at most `most` each; those after the first begin where the swizzle does
 * (8 rows of a span) and at aligned bytes.  0: none. */
static int parts_of(Smem t, int n, int most)
{
	int row = smem_slab_elems(t) << t.elem_log2;

	for (int parts = 1; parts <= n; parts++) {
		int part = n / parts;

		if (n % parts == 0 && part <= most
		    && (parts == 1 || (t.span ? part % 8 == 0 : (int64_t)part * row % SMEM_ALIGN == 0)))
			return parts;
	}
	return 0;
}

int tma_swizzle(int span)
{
	return span == 128 ? 3 : span == 64 ? 2 : span == 32 ? 1 : 0;
}

bool tma_box(Smem t, int rank, int slow_dim, int slow_stride, TmaBox *b)
{
	int slow, width;

	if (!smem_ok(t) || rank < 1 || rank > TMA_RANK || slow_stride < 1 || slow_stride > TMA_ELEM_STRIDE_MOST
	    || (rank > 1 ? slow_dim < 1 || slow_dim >= rank : t.extent[1 - t.fast] != 1))
		return false;
	slow = t.extent[1 - t.fast];
	width = smem_slab_elems(t);
	*b = (TmaBox){ .rank = rank, .slow_dim = rank > 1 ? slow_dim : 0, .fast_step = width };
	b->swizzle = tma_swizzle(t.span);
	b->fast_count = smem_slabs(t);
	b->slow_count = parts_of(t, slow, TMA_BOX_MOST / slow_stride);
	if (b->slow_count == 0 || width > TMA_BOX_MOST)
		return false;
	b->slow_step = slow / b->slow_count;
	for (int i = 0; i < rank; i++)
		b->box[i] = b->elem_stride[i] = 1;
	b->box[0] = (uint32_t)width;
	if (rank > 1) {
		b->box[slow_dim] = (uint32_t)(b->slow_step * slow_stride);
		b->elem_stride[slow_dim] = (uint32_t)slow_stride;
	}
	b->bytes = ((int64_t)width << t.elem_log2) * b->slow_step;
	return true;
}

int tma_copies(const TmaBox *b)
{
	return b->fast_count * b->slow_count;
}

void tma_copy(Smem t, const TmaBox *b, int i, int *fast, int *slow, int64_t *byte)
{
	int width = smem_slab_elems(t);

	*fast = i / b->slow_count * b->fast_step;
	*slow = i % b->slow_count * b->slow_step;
	*byte = *fast / width * smem_slab_bytes(t) + (((int64_t)*slow * width) << t.elem_log2);
}
