/* Kernels with a loop of chained matrix products: one product's result goes through operations on registers into a
 * factor of another. What the files of this part of pass pipeline share.
 *
 *	chain_find.c    which kernels; which operations of an iteration wait for which product
 *	chain_join.c    two iterations as one
 *	chain_mask.c    masks that do nothing in the first iterations
 *	chain_layout.c  layouts of all tiles, which follow from the accumulators'
 *	chain.c         the placed kernel: rings, roles, the loop rotated by one product */
#ifndef LOWER_CHAIN_H
#define LOWER_CHAIN_H
#include "lower/placed.h"

enum {
	CHAIN_LOADS = 8, CHAIN_PRODUCTS = 4,    /* of a loop, at most */
	CHAIN_CARRIED = 8,                      /* values */
	CHAIN_ROWS_LOG2 = 6                     /* of a group's tile: those of one wgmma */
};

/* Where an access of a matrix lies in the tensor of a parameter: a view of two of its axes at fixed indices of the
 * others. */
typedef struct ChainPlace {
	int param;
	int axis[2];                            /* of the tensor, by axis of the view */
	Val *at[TENSOR_RANK];                   /* index along the others, i32; NULL: 0 */
} ChainPlace;

/* When a buffer is filled: once for each tile of the kernel, or once an iteration, for the products of a level. */
typedef enum ChainRing { RING_HELD, RING_FIRST, RING_SECOND, RING_COUNT } ChainRing;

/* A load whose tile is a factor of products. */
typedef struct ChainLoad {
	Op *op;
	ChainRing ring;
	ChainPlace place;
	bool transposed;                        /* the buffer holds the transposed tile, whose last axis is contiguous */
	bool differs;                           /* each group multiplies rows of its own */
} ChainLoad;

typedef struct ChainFactor {
	int load;                               /* -1: a value in registers */
	bool mn_major;                          /* products are not summed along the buffer's last axis */
} ChainFactor;

typedef struct ChainProduct {
	Op *op;
	int level;                              /* 1: a factor follows from a product of level 0 of the same iteration */
	ChainFactor a, b;
	int carried;                            /* of level 1: which of the loop's values is its sum */
} ChainProduct;

typedef struct Chain {
	Fn *fn;
	Op *loop;
	ChainLoad load[CHAIN_LOADS];
	ChainProduct product[CHAIN_PRODUCTS];
	int loads, products;
	int row_axis;                           /* of the grid: neighbours have other rows, and are groups of a block */
	bool ragged;                            /* neighbours have other numbers of iterations */
	unsigned *axes;                         /* by Val id: of the grid, which the value depends on (bits) */
	bool *late;                             /* by Val id, in the loop: it needs the iteration before's sum of level 1 */
} Chain;

/* Operations `select` that choose their first operand in each iteration before the least element of each limit / its
 * columns. */
enum { CHAIN_LIMITS = 4 };
typedef struct ChainMasks {
	int masks, limits;
	Op *mask[CHAIN_LIMITS];
	Val *limit[CHAIN_LIMITS];
	int64_t columns[CHAIN_LIMITS];
} ChainMasks;
ChainMasks chain_masks(const Chain *c);
/* A tile of n consecutive numbers from n times the iteration's on. */
bool chain_is_column(const Chain *c, const Val *v);

/* Makes two iterations one; c is to be found again. What lies after the author's last iteration: zeros, or (OPEN)
 * elements that must not be multiplied. NONE: the loop cannot join iterations. */
typedef enum ChainTail { TAIL_NONE, TAIL_ZERO, TAIL_OPEN } ChainTail;
ChainTail chain_join(Chain *c);

bool chain_find(Chain *c, Fn *fn);              /* TYPED; numbers fn. false: the kernel has no such loop, or more */
void chain_unshare(Fn *fn);                     /* before it is found: values that cost nothing are made for each use */
/* Sets Val.lay of all tiles that registers hold. false: some has none, or two. */
bool chain_layouts(const Chain *c);
bool chain_is_vector(const Chain *c, const Op *op);     /* in the loop: an operation on registers, or on scalars */
const ChainLoad *chain_load_of(const Chain *c, const Op *op);
const ChainProduct *chain_product_of(const Chain *c, const Op *op);
bool chain_place_of(const Fn *fn, const Op *access, ChainPlace *p);     /* of a load or store; false: it is another */
#endif
