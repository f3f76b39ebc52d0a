/* Operands of matrix instructions of one warp (mma.sync) between shared memory and registers: what ldmatrix, copy_async
 * and mma_frag do, worked out once for the verifier, the CUDA target and sim. */
#ifndef IR_IR_FRAG_H
#define IR_IR_FRAG_H
#include "ir/ir.h"
#include "layout/frag.h"
#include "layout/smem.h"

/* Where a buffer lies: which ring or allocation, which of its buffers, and the element its part begins at. */
typedef struct BufferAt {
	const Op *alloc;        /* alloc_ring or alloc_shared */
	const Val *which;       /* cursor or i32 of the slot; NULL: the only buffer */
	Lay whole;              /* HW_OFF (elements) -> coordinates of the whole buffer */
	int64_t begin[2];       /* constant */
} BufferAt;

/* ldmatrix: `addr` as frag_ldmatrix gives it, over the whole buffer; a thread adds (xor) `begin` elements.
 * transposed: the fragment's rows are the buffer's columns. */
typedef struct LdmPlan { BufferAt at; Lay addr; int x_log2; bool trans, transposed; uint32_t begin; } LdmPlan;
bool ldm_plan(const Op *op, LdmPlan *p);

/* copy_async: vectors of 16 bytes. `piece` gives the coordinates of a thread's vectors in the part (its register bits
 * count them), `off` the places in the whole buffer, as a map into HW_OFF; a thread adds (xor) `begin` elements. */
typedef struct CopyPlan { BufferAt at; Lay piece, off; uint32_t begin; } CopyPlan;
bool copy_plan(const Val *buf, int warps_log2, CopyPlan *p);

/* mma_frag: blocks of one instruction along M and N, and its steps along K, of each warp; log2. */
typedef struct MmaFragPlan { Frag frag; int mrep, nrep, steps; int a_words, b_words; } MmaFragPlan;
bool mma_frag_plan(const Op *op, MmaFragPlan *p);

int group_warps(const Op *op);                  /* warps of the group of threads that runs it */
int frag_words(const Val *v);                   /* 32-bit registers of a thread for a value `frag` */
#endif
