/* frag.h: the register layouts that the matrix instructions of CUDA GPUs prescribe, as layouts.
 *
 * Owns: the table of fragments (PTX manual, "Matrix Fragments for mma" and "Asynchronous warpgroup level
 * matrix instructions, Register Fragments"). Tiles here have two axes, as the operands of `mma` are
 * written: A is [M,K], B is [K,N], C (and D) is [M,N]. Register bits count elements in the order of the
 * manual's a0, a1, ..: several elements narrower than 32 bits share one machine register, the first in its
 * low bits.  So one layout of C serves f32, s32 and f16.
 */
#ifndef LAYOUT_FRAG_H
#define LAYOUT_FRAG_H

#include "layout/lay.h"

typedef enum { ROLE_A, ROLE_B, ROLE_C, ROLE_N } Role;

typedef enum {
	FRAG_M16N8K16,            /* f16, bf16                                                         */
	FRAG_M16N8K8_H,           /* f16, bf16                                                         */
	FRAG_M16N8K8,             /* tf32                                                              */
	FRAG_M16N8K4,             /* tf32                                                              */
	FRAG_M16N8K32,            /* s8, u8, e4m3, e5m2                                                */
	FRAG_M16N8K16_B,          /* s8, u8, e4m3, e5m2                                                */
	FRAG_M8N8K4,              /* f64                                                               */
	FRAG_N
} Frag;

int frag_m(Frag f);                                   /* log2 of the extents of one instruction          */
int frag_n(Frag f);
int frag_k(Frag f);
int frag_elem(Frag f);                                /* log2 of the bytes of an element of A and B      */

Lay lay_frag(Frag f, Role r);                         /* one instruction of one warp                     */

/* The operand of a whole [2^rows, 2^cols] tile: the fragment, times 2^warps_m x 2^warps_n warps (numbered
 * along M first), times repeats in registers, along K or N before M.  A warp for which no rows or columns
 * are left holds copies; so do the warps along N in A and along M in B.  Bad if the tile is smaller than
 * one instruction. */
Lay frag_tile(Frag f, Role r, int rows_log2, int cols_log2, int warps_m_log2, int warps_n_log2);

/* One wgmma of a warpgroup (4 warps, m64): A in registers, [64, k of f]; C, [64, 2^n_log2], 8 <= n <= 256.
 * B comes from shared memory and has no register layout: bad. */
Lay frag_wgmma(Frag f, Role r, int n_log2);

/* Loads of `frag` from `smem` by ldmatrix with 2^x_log2 matrices, trans as the instruction's .trans.
 * *addr maps (issue number as HW_REG, address lane, warp) into the places of smem, as lay_solve does: the
 * offset whose address this lane passes.  Issue i fills the 32-bit registers i << x_log2 onwards of each
 * thread.  Lanes whose address the instruction ignores repeat those of lower lanes.  False if ldmatrix
 * cannot deliver this. */
bool frag_ldmatrix(Lay frag, Lay smem, int elem_log2, int x_log2, bool trans, Lay *addr);

/* The same from the map that lay_solve(smem, frag) gives. */
bool frag_ldmatrix_of(Lay c, int elem_log2, int x_log2, bool trans, Lay *addr);

/* log2 of the n-way bank conflict of the loads that frag_ldmatrix describes. */
int  frag_ldmatrix_conflicts(Lay addr, int elem_log2);

#endif
