/* tma.h: the boxes of tensor maps that fill a tile in shared memory, or empty it.
 *
 * A bulk tensor copy moves one box, and writes it densely: rows of the box's first extent, one after the
 * other.  So a tile (smem.h) takes one copy for each slab, and more where the slow axis exceeds a box.
 * Limits are those of cuTensorMapEncodeTiled (CUDA driver API).  Tensor-map dimensions are numbered innermost
 * first, unlike axes.
 */
#ifndef LAYOUT_TMA_H
#define LAYOUT_TMA_H

#include "layout/smem.h"

enum {
	TMA_RANK = 5,
	TMA_BOX_MOST = 256,           /* elements of a box along one dimension                         */
	TMA_ELEM_STRIDE_MOST = 8,
	TMA_BASE_ALIGN = 16,          /* bytes: of the tensor's first element (no interleave)          */
	TMA_STRIDE_ALIGN = 16,        /* of each stride but the innermost                              */
	TMA_STRIDE_LOG2 = 40,         /* strides are less than 2^40 bytes                              */
	TMA_EXTENT_LOG2 = 32          /* extents are at most 2^32                                      */
};

typedef struct TmaBox {
	int      rank;
	uint32_t box[TMA_RANK];       /* innermost first, as the driver wants it: in steps of elements */
	uint32_t elem_stride[TMA_RANK];
	int      swizzle;             /* CUtensorMapSwizzle: 0 none, 1 to 3: 32, 64, 128 bytes         */
	int      slow_dim;            /* the dimension of the tile's slow axis                         */
	int      fast_step, slow_step;/* elements of the tile that one copy covers                     */
	int      fast_count, slow_count;
	int64_t  bytes;               /* that one copy moves: what an mbarrier must expect             */
} TmaBox;

int tma_swizzle(int span);                            /* CUtensorMapSwizzle of a span of a tile (smem.h) */

/* The boxes of a tile whose fast axis is dimension 0 of a tensor of this rank and whose slow axis is
 * slow_dim (1 to rank-1; ignored for rank 1, where the slow extent must be 1); it takes every slow_stride-th
 * element of the slow axis. False if there are none. */
bool tma_box(Smem t, int rank, int slow_dim, int slow_stride, TmaBox *b);

int  tma_copies(const TmaBox *b);

/* Copy i of a tile: which elements (of the tile) it begins at, and at which byte of the tile. */
void tma_copy(Smem t, const TmaBox *b, int i, int *fast, int *slow, int64_t *byte);

#endif
