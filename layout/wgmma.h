/* wgmma.h: what wgmma asks of its operands: matrix descriptors and the fragments of a warpgroup.
 *
 * Owns every number that stands in a descriptor (PTX manual, "Asynchronous Warpgroup Level Matrix
 * Instructions", Shared Memory Matrix Layout).  The operand in shared memory is a tile (smem.h); which of
 * its two axes is K decides what the manual calls its major-ness:
 *
 *	K is the fast axis    K-major     all element types
 *	K is the slow axis    MN-major    16-bit elements only; the instruction's transpose bit is set
 *
 * A descriptor is `fixed` + (address of the operand's first element >> 4, masked to 14 bits).  Further steps
 * of K and blocks of M or N add bytes / 16 to the low word (wg_step).  The mask matters: in a cluster the
 * shared addresses of rank r have r in bits 24 and up, which would otherwise land in the next field.
 */
#ifndef LAYOUT_WGMMA_H
#define LAYOUT_WGMMA_H

#include "layout/frag.h"
#include "layout/smem.h"

enum { WG_M = 64, WG_THREADS = 128 };
#define WG_ADDRESS_MASK 0x3fffu            /* of address >> 4, the low field of a descriptor */

int  wg_k(int elem_log2);                             /* extent of K of one instruction: 32 bytes        */
bool wg_n_ok(int elem_log2, bool integer, int n);     /* is there an instruction with this N             */

/* A tile as an operand. */
typedef struct WgOperand {
	bool     k_major;         /* else MN-major                                                     */
	uint64_t fixed;           /* the descriptor without address                                    */
} WgOperand;

/* False: wgmma cannot read this tile; k_axis is the tile's axis of K. */
bool wg_operand(Smem t, int k_axis, WgOperand *o);

/* Bytes from the tile's first to the operand that begins at element mn and k.  False: no operand can begin
 * there, that is, mn is no multiple of what the storage repeats after, or k no multiple of the instruction's. */
bool wg_step(Smem t, int k_axis, int mn, int k, int64_t *bytes);

/* The base offset field, for a tile that does not begin at a multiple of smem_align: 0 if it does. */
uint64_t wg_base_offset(int span, uint32_t address);

/* The whole descriptor of a tile at this shared address; add wg_step / 16. */
uint64_t wg_descriptor(WgOperand o, int span, uint32_t address);

typedef struct FragAt { int row, col; } FragAt;

/* D of m64nN: N / 2 elements a thread. */
int    wg_d_regs(int n);
FragAt wg_d_at(int reg, int thread);

/* A in registers, [64, wg_k]: elements in the order of the manual's a0, a1 ..; 4 machine registers. */
int    wg_a_elems(int elem_log2);
FragAt wg_a_at(int elem_log2, int elem, int thread);

/* D as 16-bit elements by stmatrix.x4, 16 columns (8 elements a thread) at a time: group `group` of them into a tile
 * [64, N], or with trans (the instruction's .trans) into [N, 64]; the tile's fast axis is its last.  A lane of a warp
 * passes the address (place ^ flip) * 2 + add, where place is the offset to which addr maps (lane, warp).  False: the
 * tile is not stored so. */
typedef struct WgStore { Lay addr; uint32_t flip; int64_t add; } WgStore;
bool   wg_stmatrix(Smem t, bool trans, int group, WgStore *s);

/* Where a thread finds, among the D elements of [64, wg_k] of an earlier product, element `elem` of A of the
 * next.  False: another thread holds it (all but 16-bit elements). */
bool   wg_a_from_d(int elem_log2, int elem, int *reg);

#endif
