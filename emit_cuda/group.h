/* Inside the CUDA target: kernels with roles (group.c), copies by hardware (tma.c), products of a warpgroup (wgmma.c),
 * exchange between groups and thread blocks (exchange.c). */
#ifndef EMIT_CUDA_GROUP_H
#define EMIT_CUDA_GROUP_H
#include "emit_cuda/cu.h"
#include "layout/tma.h"

typedef struct CuGroup {        /* which warps run the code that is being printed */
	int first;              /* warp of the thread block */
	int warps, groups;      /* of a group; groups of the role */
	int barrier;            /* named barrier of group 0; that of all groups is barrier + groups */
	Str number;             /* of the group in its role */
} CuGroup;

typedef struct CuShifted CuShifted;
typedef struct CuShared { Smem whole; } CuShared;  /* the buffer that an address points into: rows, slabs, swizzle */

bool group_has_roles(const Fn *fn);
bool group_needs_base(const Fn *fn);            /* it has operations of groups, with or without roles */
void group_begin(Cu *g);
void group_roles(Cu *g, const Op *op);
void group_one_warp(Cu *g, const Op *op);
void group_elect(Cu *g, const Op *op);
void group_barrier(Cu *g, const Op *op);
void group_cluster_barrier(Cu *g, const Op *op);
void group_alloc(Cu *g, const Op *op);
void group_slot(Cu *g, const Op *op);
void group_part(Cu *g, const Op *op);
void group_cursor(Cu *g, const Op *op);
void group_declare_cursor(Cu *g, const Val *v);
void group_mbar_init(Cu *g, const Op *op);
void group_mbar_wait(Cu *g, const Op *op);
void group_mbar_arrive(Cu *g, const Op *op);
void group_tile_order(Cu *g, const Op *op);
void group_ragged_order(Cu *g, const Op *op);
void group_stream_k(Cu *g, const Op *op);
void group_number(Cu *g, const Op *op);
Str group_bar(Cu *g, const Op *op, int i);

void frag_copy(Cu *g, const Op *op);            /* frag.c: copies in the background, products of a warp */
void frag_copy_group(Cu *g, const Op *op);
void frag_ldmatrix_op(Cu *g, const Op *op);
void frag_of_tile(Cu *g, const Op *op);
void frag_mma(Cu *g, const Op *op);

void tma_map(Cu *g, const Op *op);
void tma_load(Cu *g, const Op *op);
void tma_store(Cu *g, const Op *op);
void tma_wait(Cu *g, const Op *op);

void slab_store(Cu *g, const Op *op);           /* slab.c: threads do the copy engine's work */
void slab_load(Cu *g, const Op *op);
void slab_load_shifted(Cu *g, const Op *op);
void slab_prefetch(Cu *g, const Op *op);

void exchange_store(Cu *g, const Op *op);
void exchange_load(Cu *g, const Op *op);
void exchange_put(Cu *g, const Op *op);
void exchange_get(Cu *g, const Op *op);
void exchange_draw(Cu *g, const Op *op);
void exchange_grid_barrier(Cu *g, const Op *op);
void exchange_signal(Cu *g, const Op *op);
void exchange_await(Cu *g, const Op *op);

/* Registers in use by asynchronous products keep their array: the results of these operations are other names for it.
 * */
void wgmma_fence(Cu *g, const Op *op);
void wgmma_product(Cu *g, const Op *op);
void wgmma_wait(Cu *g, const Op *op);
void wgmma_cut(Cu *g, const Op *op);
void wgmma_stmatrix(Cu *g, const Op *op);
void wgmma_functions(Out *o);                   /* those that the kernels printed so far call */
#endif
