/* smem.h: tiles in shared memory as TMA writes them and wgmma, ldmatrix and stmatrix read them.
 *
 * A tile of two axes is cut along its fast axis (the one whose elements are adjacent in global memory) into
 * SLABS of `span` bytes.  A slab holds all positions of the slow axis, one row of `span` bytes each; slabs
 * follow each other.  Within each 8 rows of a slab the 16-byte chunks are permuted by the swizzle of that
 * span:
 *
 *	span 128   address bits 4-6 ^= bits 7-9
 *	span  64   address bits 4-5 ^= bits 7-8
 *	span  32   address bit  4   ^= bit  7
 *	span  16   none: eight rows are one core matrix of 128 bytes
 *	span   0   none, and one slab as wide as the tile: plain rows, which wgmma cannot read
 *
 * The hardware takes the bits of the ADDRESS, so a tile begins at a multiple of smem_align.  Since the slow
 * axis may have any multiple of 8 rows, tiles need not be powers of two here; smem_lay gives the linear map
 * of those that are.  What is derived from such a tile lies in the same module: matrix descriptors
 * (wgmma.h) and the boxes of tensor maps (tma.h).
 */
#ifndef LAYOUT_SMEM_H
#define LAYOUT_SMEM_H

#include "layout/lay.h"

typedef struct Smem {
	uint8_t elem_log2;        /* log2 of the bytes of an element, 0 to 3                           */
	uint8_t fast;             /* the axis along which elements are adjacent: 1 rows, 0 columns     */
	uint8_t span;             /* bytes of a row of a slab: 0, 16, 32, 64, 128                      */
	int     extent[2];        /* elements; any, if smem_ok                                         */
} Smem;

/* Whole slabs, and with a span whole groups of 8 rows. */
bool     smem_ok(Smem t);

int      smem_align(int span);                        /* of the first byte: the swizzle's period         */
int64_t  smem_bytes(Smem t);
int      smem_slabs(Smem t);
int      smem_slab_elems(Smem t);                     /* extent of a slab along the fast axis            */
int64_t  smem_slab_bytes(Smem t);

uint32_t smem_swizzle(int span, uint32_t address);    /* its own inverse                                 */
int64_t  smem_at(Smem t, int i, int j);               /* byte of element (i,j), from the tile's first    */
Lay      smem_lay(Smem t);                            /* HW_OFF to coordinates; bad: not powers of two   */

#endif
