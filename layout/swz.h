/* swz.h: the choice of a layout in shared memory, and what moving a tile through it costs.
 *
 * A swizzle exchanges offsets o with o ^ ((o >> shift) & (mask of `bits` bits from `base`)): some bits of
 * the row are added to the number of the 16-byte chunk (or of the word), so that a column of the tile
 * meets different banks.  It is its own inverse, since shift >= bits keeps what is read apart from what is
 * written.  Units are elements.
 */
#ifndef LAYOUT_SWZ_H
#define LAYOUT_SWZ_H

#include "layout/lay.h"

typedef struct Swz {
	uint8_t bits;             /* how many bits are changed; 0: no swizzle                          */
	uint8_t base;             /* the lowest of them                                                */
	uint8_t shift;            /* how far above each of them the bit that is added lies             */
} Swz;

/* How a register layout is loaded or stored. */
typedef enum {
	SWZ_PLAIN,                /* ld.shared / st.shared of up to 16 bytes                           */
	SWZ_LDM,                  /* ldmatrix or stmatrix                                              */
	SWZ_LDM_T                 /* the same with .trans                                              */
} SwzVia;

/* One access pattern that the shared tile must serve. */
typedef struct SwzUse {
	Lay    reg;               /* the registers on the other side                                   */
	SwzVia via;
	int    count;             /* how often, relative to the other uses                             */
} SwzUse;

/* The answer of swz_choose. */
typedef struct SwzPick {
	Swz     swz;
	uint8_t order[LAY_AXES];  /* axes of the storage, fastest first                                */
	Lay     smem;             /* HW_OFF to coordinates: swz_lay of the above                       */
	int     cost;             /* sum over the uses of count * swz_cost                             */
} SwzPick;

uint32_t swz_apply(Swz s, uint32_t off);

/* The storage of a tile: lay_stored with its offsets swizzled.  Bad if the swizzle does not fit the tile. */
Lay  swz_lay(int naxis, const uint8_t shape_log2[], const uint8_t order[], Swz s);

/* The hardware swizzle of TMA and wgmma with a span of 32, 64 or 128 bytes; 0 bytes: none.  False for
 * others. */
bool swz_tma(int span_bytes, int elem_log2, Swz *s);

/* What one warp pays to move all its registers between reg and smem: wavefronts plus instructions, with
 * the best vector width.  -1: not possible this way. */
int  swz_cost(Lay reg, Lay smem, int elem_log2, SwzVia via);

enum { SWZ_USES = 4 };        /* at most, of one storage */

/* The cheapest storage for all uses; the simplest among equals.  Either of the two trailing axes may
 * become the fastest, unless order fixes it (fastest first; NULL: free).  False if no storage serves every
 * use. */
bool swz_choose(int naxis, const uint8_t shape_log2[], const uint8_t order[], int elem_log2, int nuse,
                const SwzUse use[], SwzPick *pick);

/* The cost of the conversion src to dst in the unit of swz_cost, by its cheapest way; an estimate for
 * comparing layouts.  -1: cannot be converted within a block. */
int  swz_convert_cost(Lay dst, Lay src, int elem_log2);

#endif
