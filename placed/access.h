/* How threads access memory: decided here once, printed by the CUDA target and carried out by sim.
 *
 * A tile of a view is accessed in vectors of 2^vec elements along the axis of stride 1. Where the tile lies wholly
 * inside and its vectors at multiples of their size, no vector has a condition. Else each vector that is inside (and
 * aligned) is accessed as one, and the elements of the other vectors one by one; tile blocks of fewer lanes than a warp
 * access all elements one by one where the tile is not aligned or an end of the tensor may cut a
 * vector. vec 0: element by element. */
#ifndef PLACED_ACCESS_H
#define PLACED_ACCESS_H
#include "placed/placed.h"

typedef struct AccessPlan {
	Lay l;                          /* of the tile; of a scalar: every thread has it */
	int rank, fast;                 /* fast: the axis of stride 1 along which threads hold elements, or -1 */
	int vec;                        /* log2 of the elements of a vector */
	uint8_t bit[LAY_BITS];          /* the register bits that count them */
	bool proved[TENSOR_RANK];       /* inside along this axis */
	/* begins inside but for its offset, and the number of elements from there to the end fits 32 bits */
	bool near[TENSOR_RANK];
	bool low[TENSOR_RANK];          /* may be below 0 */
	int64_t step[TENSOR_RANK], offset[TENSOR_RANK];         /* element offset of the tile: index * step + offset */
	int rotated_axis;                       /* the axis of a row that is rotated (rotate.c), else -1 */
	int shifted_axis;       /* of a slice of a row that begins as many elements earlier as the phase says, else -1 */
} AccessPlan;

/* Element by element - gathers, scatters, sums in memory - a thread accesses 2^vec neighbours at once, where the index
 * along the view's axis `fast`, of stride 1, grows by 1 from each register of a vector to the next, and all others
 * stay: if the vector lies inside, at a multiple of its size, and its mask holds for all of it. */
typedef struct ElementsPlan {
	int vec, fast;                  /* vec 0: one by one */
	uint8_t bit[LAY_BITS];
} ElementsPlan;
ElementsPlan elements_plan(const Op *op, const Val *like);      /* like: the value that says how many there are */

/* Updates of memory whose old values nobody takes, such as sums: a thread combines those of registers that follow each
 * other and go to one place before it accesses that. */
/* Are they such, and may several go to one place? uses: by Val id. */
bool updates_combine(const Op *op, const int *uses);
/* The register bits that count such elements: along axes in whose direction no index is known to step. Registers that
 * hold an element once more have none. */
typedef struct ElementsRun { uint32_t bits; int log2; } ElementsRun;    /* log2 0: none are combined */
ElementsRun elements_run(const Op *op);
OpCode update_combine(const Op *op);    /* by which operation; OP_COUNT: none */
Num update_identity(const Op *op, Elem e);      /* what changes no element by it */
/* Has shared memory no instruction that updates such elements? They are compared and swapped, by one thread after
 * another where several go to one place. */
bool shared_swaps(Elem e);
/* Is it such an update of what a thread block has for itself? Where a warp's lanes have at most COST_PRIVATE_RUNS runs
 * of neighbours that go to one place, each run is combined by shuffles first, for its first lane to update. */
bool update_swaps(const Op *op);
/* Before updates of memory, lanes do so at the last of neighbours in the tile that a thread holds: the bits that such a
 * register has; 0: none do. Orders that have no runs pay for one register of four or more. */
uint32_t update_joins(const Op *op);

/* op: load, store, or phase (data NULL). rotated: rows of the kernel are. */
AccessPlan access_plan(const Op *op, const Val *data, bool rotated);
bool index_never_below(const Val *v);           /* 0 */
/* Powers of two that divide an integer whatever its atoms are; a value; the tile's offset
 * along axis a, but for {offsets}. */
int64_t sym_multiple(const Sym *s);
int64_t access_multiple(const Val *v);
bool keeps_multiples(const Op *op);             /* a conversion after which the same powers of two divide a number */
int64_t access_origin_multiple(const Op *op, const AccessPlan *x, int a);
uint32_t vector_bits(const uint8_t *bit, int vec);       /* as a set of register bits */
/* what element k of a vector adds to the vector's register */
uint32_t vector_reg(const uint8_t *bit, int vec, uint32_t k);
int64_t rotated_rows(const Fn *fn);              /* elements of its rows; 0: they are not rotated */

/* Between registers and a buffer in shared memory: places -> offset of the buffer, in vectors. */
typedef struct SharedPlan { Lay map; int vec; uint8_t bit[LAY_BITS]; } SharedPlan;
SharedPlan shared_plan(Lay reg, Lay smem, Elem e);

/* What loads that overlap read (loads, overlap.c): a patch is a box of rows along the axis of stride 1. Where that axis
 * is aligned, a row is read in the largest vectors that lie at multiples of their size and of
 * which every element is wanted. */
typedef struct PatchPiece { int at, log2; uint64_t rows; } PatchPiece;  /* column in the box; in which rows */
typedef struct PatchPlan {
	Patch p;
	int row, nrow;                  /* the axis of rows; how many: they count along the other axes, the last fastest */
	int vec;                        /* log2 of the elements of the largest vector */
	PatchPiece piece[PATCH_MOST];
	int n;
} PatchPlan;
PatchPlan patch_plan(const Op *op);
void patch_cut(PatchPlan *r, int log2);         /* into vectors of at most 2^log2 elements */
/* of a row along another axis, from the thread's first element */
int64_t patch_place(const PatchPlan *r, int row, int axis);

/* A factor of a product on tensor cores, on its way from its buffer into fragments. */
typedef struct MmaFactor {
	Elem e;
	Lay frag, smem;
	int words;                      /* 32-bit words (f64: elements) of one fragment of a thread */
	int reps, steps;                /* log2 of the blocks along M or N, and along K */
	int batches;                    /* log2 of those that a warp has */
	bool matrices, trans;           /* by ldmatrix */
	int x;                          /* log2 of matrices at once */
	Lay off;                        /* fragment place -> offset; by ldmatrix: issue, lane, warp -> offset */
} MmaFactor;
MmaFactor mma_factor(const Op *op, int i, const MmaPlan *p);
#endif
