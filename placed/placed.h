/* What operations of the PLACED form say of threads and memory: facts that follow from an operation, its layouts and
 * attributes. Passes decide by them, the CUDA target prints them, sim carries them out; so all
 * three agree. Nothing here chooses. */
#ifndef PLACED_PLACED_H
#define PLACED_PLACED_H
#include "base/cost.h"
#include "base/machine.h"
#include "ir/ir.h"
#include "ir/strides.h"
#include "layout/frag.h"

#define MACHINE(number, threads, blocks, registers, shared, shared_block, ...) \
	_Static_assert(COST_SHARED_LIMIT <= (shared_block) << 10, "an architecture has less");
#include "base/machine.def"
#undef MACHINE

/* ---- kinds of operations: ops.c ---- */
static inline bool op_is_reduce(const Op *op)   /* one that combine splits */
{
	return op_has(op, OPF_REDUCE) && op_rows[op->code].form != FORM_PLACED;
}

static inline bool op_is_scan(const Op *op) { return op_has(op, OPF_SCAN); }
/* a sum of what a thread holds of the products of its two operands (products.c) */
bool op_sums_products(const Op *op);
bool op_loads_one(const Op *op);                 /* a load of a single element */
bool same_scalar(const Val *x, const Val *y);           /* one value, or equal constants */
/* The load_shared that v is, under another order of axes: axis a of v is axis[a] of its result. NULL: it is none. */
Op *shared_source(const Val *v, int axis[TILE_RANK]);
bool is_straight_line(const IrBlock *block);     /* no loops, products, sorts, scans, or operations of groups */
bool jam_asks(const Op *op);                    /* a load whose tiles of several iterations are on their way at once */
Op *jam_after(const Op *loop);  /* of a loop with {iterations}: the first operation after what these ask for together */

/* ---- registers.c ---- */
int regs_of_layout(const Fn *fn, Lay l);        /* registers of a thread for a tile in this layout */
int regs_of(const Val *v);                      /* for a tile or fragment */
bool held_in_words(const Type *t);              /* several elements of it share a register */

/* ---- pressure.c ---- */
/* What a thread of a placed version holds in registers of 32 bits, as far as it can be said before ptxas. */
typedef struct Pressure {
	int words;              /* of tiles, at most at once */
	const Op *at;           /* where, the first operation of a stretch between waits; NULL: no tiles are held */
	int regs;               /* that a thread needs: those, and what is beside tiles; */
	int taken;              /* and with those that scans and sorts take if there are more */
	int together;           /* more that hold tiles which are loaded for one stretch alone, beside the first of them */
} Pressure;
Pressure pressure_of(const Fn *fn);             /* numbered */
/* How many of them ptxas takes under launch bounds of `threads` threads and `blocks` thread blocks; 0: none given. */
int regs_taken(const Fn *fn, int threads, int blocks);

/* ---- layouts: layouts.c ---- */
/* Of a tile block, log2; piece: of the bytes that a thread accesses at once, at most; blocks: of a cluster, where what
 * warps hold side by side belongs to each of its thread blocks in turn; apart: each warp holds
 * neighbouring elements of a row. */
typedef struct Threads { int lanes, warps, piece, blocks; bool apart; } Threads;
Threads fn_threads(const Fn *fn);
int log2_of(int64_t v);                         /* of a power of two */
int elem_log2(Elem e);                          /* log2 of its bytes */
Lay lay_default(const Type *t, int fast, Threads n);            /* coalesced along axis fast */
Lay lay_single(int rank, Threads n);            /* one element, held by every thread */
Lay lay_neighbours(const Type *t, int axis, Threads n);         /* along axis: registers, then lanes, then warps */
Lay lay_cat(Lay half, int axis);                /* two of them side by side */
bool lay_broadcast_operand(Lay result, const Type *from, const Type *to, Lay *r);
/* The layout after combining along axis what registers (levels 1), also lanes (2), also warps (3) hold. The axis keeps
 * one bit for each direction that is left. v: basis of the places combined in this step, packed inputs of l. */
Lay lay_reduced(Lay l, int axis, int levels, int *n, uint32_t v[LAY_BITS]);
uint32_t lay_reduced_regs(Lay l, int axis, int levels);         /* the register bits of l that the result keeps */
/* Can lanes combine along axis: is each direction in which they do one of lanes alone? */
bool lay_combines_simply(Lay l, int axis);
/* l without what lies along axis, and instead 2^n elements along it in each warp: in lanes that would hold copies, the
 * rest in registers. */
Lay lay_gathered(Lay l, int axis, int n);
Lay lay_spread(Lay l, int most);                /* warps that hold copies take registers, until 2^most are left */
/* Of operations that move no element from its thread, one layout follows from the other. */
bool lay_of_moved(const Op *op, Lay in, Lay *r);        /* reshape, permute */
bool lay_before_moved(const Op *op, Lay out, Lay *r);
Lay lay_of_pairs(Lay half);                             /* join, split */
Lay lay_of_halves(Lay pair);                            /* what is left when the last axis is dropped */
Lay lay_of_reduced(const Op *op, Lay in);
/* Of 2^cluster thread blocks, whose number is the highest bits of a warp's: does each hold in
 * `from` all that it holds in `to`? */
bool lay_in_block(Lay from, Lay to, int cluster);
/* What it costs to move a value between this layout and global memory, one axis contiguous; in the unit of swz_cost. */
int64_t lay_memory_cost(Lay l, Elem e, int fast, bool loads);

/* ---- scans: scan.c ---- */
/* Who holds the bits of the axis, from the lowest on: bit bit[k] of registers, lanes or warps hw[k]. */
typedef struct ScanPlan {
	int n;
	Hw hw[LAY_BITS];
	uint8_t bit[LAY_BITS];
	int low;                /* how many of the lowest bits are registers' */
	int warps;              /* from this one on: warps and registers */
	Lay totals;             /* of what lies below that one */
} ScanPlan;
uint32_t scan_bits(const ScanPlan *p, Hw h, int from, int to);  /* the bits of h that hold bits from..to of the axis */
/* The register bits in regs, of `bits` in all, as bits of the number of a group of neighbours. */
uint32_t scan_group_bits(const ScanPlan *p, int bits, uint32_t regs);
bool scan_plan(Lay l, int axis, ScanPlan *p);   /* false: the layout is more than such bits */
ScanPlan scan_plan_of(const Op *op);            /* of a placed scan */
bool scan_walks(const Op *op, Lay l);           /* and does with little shared memory */
int scan_values(const Op *op);                  /* tiles scanned together */
int scan_slot(const Op *op, int value);         /* bytes of a value's total in shared memory */
int64_t scan_offset(const Op *op, const ScanPlan *p, int value);       /* of its first */
/* what it chooses for free operands, of which 1 << vec elements along axis `fast` are accessed at once */
Lay lay_scan(const Op *op, int fast, int vec, Threads n);

/* ---- sorts: sort.c ---- */
/* A key: the bits of an element, above `low` bits that tell equal ones apart, in `words` words of 32 bits. chunk: keys
 * of a thread that are in shared memory at once, where warps exchange them. */
typedef struct SortPlan {
	ScanPlan at;            /* its n, hw and bit */
	bool index, sign, down; /* the low bits have the place along the axis; a zero's sign; the greatest first */
	int low, words, regs, threads, chunk;
	int64_t bytes;          /* of shared memory */
} SortPlan;
/* Whose key a key is compared with: the one that many register, lane and warp bits away; bit `top` of hw says which of
 * the two places is the upper one. */
typedef struct SortStep { uint32_t reg, lane, warp; Hw hw; uint32_t top; } SortStep;
bool sort_walks(const Op *op, Lay l);
SortPlan sort_plan_of(const Op *op);            /* of a placed sort or topk */
/* 2^j places away; j < 0: in the mirrored place of the stage */
SortStep sort_step(const SortPlan *p, int stage, int j);

/* ---- loads that overlap: patch.c ---- */
/* What a thread needs of the elements around it for n tiles at these offsets (n times one number for each axis): a box
 * of ext[] elements that begins lo[] elements from the thread's own first, row-major. */
enum { PATCH_MOST = 160, PATCH_ROWS = 64 };
typedef struct Patch {
	int rank;
	int64_t lo[TENSOR_RANK];
	int ext[TENSOR_RANK];
	bool want[PATCH_MOST];
	int wanted;
} Patch;
bool patch_of(Lay l, int n, const int64_t *offsets, Patch *p); /* false: its elements are no box, or too many */

/* ---- tiles shifted within warps: slide.c ---- */
/* Where coordinate bits along the axis are, the lowest first: register bits low[], lane bits from `lane` on, register
 * bits from `high` on. */
typedef struct SlidePlan { uint8_t low[LAY_BITS]; int lows, lane, lanes, high, highs; } SlidePlan;
bool slide_plan(Lay l, int axis, SlidePlan *p);         /* false: they are not */
int slide_carry(const SlidePlan *p, int from);  /* how many lanes on is the element `from` after a vector's first */

/* ---- products: mma.c ---- */
typedef struct MmaPlan {
	bool tensor;            /* by tensor cores; else fma */
	Frag frag;
	const char *name;       /* what {shape} says */
	Elem a, b, acc;         /* element types */
	Elem as;                /* what the factors are multiplied as */
	int wm, wn;             /* log2 of the warps along M and N */
	Lay c;                  /* of the accumulator */
} MmaPlan;
MmaPlan mma_plan(const Op *mma, int arch, int warps_log2);
bool mma_suits_tensor(const Op *mma);    /* do tensor cores take the product, or that of each batch, where it is one? */
/* Factors too large for shared memory: what part of each axis is there at once, all log2; bytes of the two parts. */
typedef struct MmaPieces { int z, m, n, k; int64_t a_bytes, b_bytes; } MmaPieces;
MmaPieces mma_pieces(const Op *mma);

/* ---- exchanges: scratch.c ---- */
/* An exchange between the thread blocks of a cluster: an mbarrier, then its elements in slots of 4 or 8 bytes. */
enum { EXCHANGE_BAR = 16 };
int exchange_slot(Elem e);                      /* bytes of an element */
/* of an `exchange`: where tile k begins after the mbarrier; k = nout: the end */
int64_t exchange_at(const Op *op, int k);
/* In a loop it has two places, for every other iteration: nobody sends for the next but one before all have what was
 * sent for the next one, which they send when they have read what came before. */
bool exchange_repeats(const Op *op);
int64_t exchange_bytes(const Op *op);           /* of one place */
bool op_exchanges(const Op *op);                /* an exchange, or a scan that makes one */
bool op_broadcasts(const Op *op);  /* an exchange that only sends a scalar: the to_scalar of its result waits */
void exchange_size(const Op *op, int64_t *elems, int64_t *bytes);      /* that arrive in each thread block */

/* ---- scratch.c: operations that exchange data through shared memory of their own, with barriers of their own ---- */
int64_t scratch_bytes(const Op *op);            /* 0: none */
int64_t piece_elems(const Type *t);             /* elements of a tile that are in shared memory at once */
bool one_thread_reads(const Op *op);  /* each element is accessed once, then handed to the threads that hold copies */
bool memory_is_constant(const Fn *fn, const Val *view);         /* nobody writes it while the kernel runs */
bool waits_for_threads(const Op *op);           /* do threads wait for each other there? */

/* ---- rows: rows.c ---- */
bool holds_row(const Fn *fn, Lay l);
int64_t cut_kept(const Fn *cut);  /* rows are shorter: elements of a row that the copy has registers for */
int cut_step(const Fn *fn);                     /* elements between two registers of a thread */
/* Of a kernel with {fewer}: elements that a warp holds, and the warps that a call needs, one of which has a pad unless
 * all are needed. */
int64_t row_part(const Fn *fn);
const Sym *row_warps(const Fn *fn);
bool rows_are_sorted(const Fn *fn);             /* then that is a power of two */
bool rows_scan_back(const Fn *fn);              /* from their ends */
/* Of a kernel with {short_rows}: elements of the longest row that 2^log2 lanes hold. */
int row_few_unit(const Fn *fn); /* registers that are left out together: whole vectors, and chunks (lower/chunk.c) */
int row_share_registers(const Fn *fn);  /* of each lane, where the warps of a row have equal shares of it; 0: all */
bool rows_share(const Fn *fn);                  /* short rows, or those of a warp, share a thread block */
int64_t row_of_lanes(const Fn *fn, int log2);
int short_lanes(const Fn *fn);                  /* log2 of the most lanes of a row that counts as short */
/* Of rows that 2^log2 lanes have, or a warp: how many registers of each lane the code uses. The last part is of all
 * that are left. */
typedef struct RowPart { int64_t most; int regs; } RowPart;     /* most: elements of its longest row */
typedef struct RowParts { RowPart p[3]; int n; } RowParts;
RowParts row_parts(const Fn *fn, int log2);
/* how many of a lane's registers rows of lanes or of a warp use where these suffice; 0: all, or half of them */
int row_part_registers(const Fn *fn, int registers);
int row_vector_log2(const Fn *fn);  /* of the largest vectors that neighbouring lanes hold; -1: they hold others */
int64_t cut_sure(const Fn *cut);                /* and those that each row has that it is for */
bool cut_is_length(const Fn *cut, const Val *v);        /* v is one of `below` */
/* the number known at launch that v is, perhaps cast or broadcast; NULL: none */
const Sym *launched_sym(const Val *v);

bool rows_rotate(const Fn *fn);                   /* of a version: its rows are rotated by their phase, */
bool rows_shift(const Fn *fn);                  /* or shifted by it */
/* the unit, in elements of `size` bytes, at whose multiples shifted rows are accessed */
int64_t rows_shift_unit(const Fn *fn, int size);
bool stands_after_wait(const Op *first);        /* after a reduction over threads */
/* Does a kernel of rows without loops load more of them before its first reduction than after it? */
bool rows_load_first(const Fn *fn);

/* Peeled rows. */
const Op *peel_phase_of(const Fn *fn);          /* the phase of its rows; NULL: it has none */
/* whose elements a load, store or phase is of; NULL: it is of a view of one */
const IrParam *peel_param(const Fn *fn, const Op *op);
int peel_vector(const Fn *fn);                   /* elements of a vector of their body */
int peel_elem_size(const Fn *fn);               /* bytes of an element of a row */
bool peel_is_row(const Fn *fn, const Val *v);
bool peel_is_apart(const Fn *fn, const Op *op); /* a load of a tile that begins at a phase of its own */
bool row_access_shifts(const Fn *fn, const Op *op);     /* is the access of a row, or of a slice that is shifted? */
bool row_slices_begin(const Fn *fn, const Op *op, int axis);    /* rows_begin, of slices along an axis */
bool rows_begin(const Fn *fn, const Op *op);    /* an access of a row that begins as many elements on as the phase's */
/* an access of a row that begins at the phase of which the launcher asks */
bool peel_begins(const Fn *fn, const Op *op);
/* How many threads, from the first on, have an element before the body, and how many after them one after it. */
int peel_front(const Fn *fn);
int peel_after(const Fn *fn);
int peel_loads_apart(const Fn *fn);             /* loads of tiles that begin at a phase of their own */
/* the number of the buffer where a load finds its tile in shared memory; -1: none */
int peel_stage(const Fn *fn, const Op *op);
int64_t peel_stage_bytes(const Fn *fn);         /* of such a buffer */
enum { STAGE_BAR = 16 };                        /* bytes before the first, for an mbarrier */

/* Rows side by side. */
bool rows_are_dense(const Fn *fn);              /* a warp moves those of its tile blocks together */
typedef enum DenseKind { DENSE_NONE, DENSE_ROW, DENSE_SAME } DenseKind;      /* the words of {dense} */
int dense_rows(const Fn *fn);                   /* of a warp */
int64_t dense_bytes(const Fn *fn, const Op *op);  /* of the longest stretch of an access, from a multiple of 16 on */

/* ---- rare.c ---- */
/* The numbers of elements, a tile, of which the condition of `select` holds for one, that of number operand 1 of the
 * comparison less *from (NULL: 0), both splats; NULL: another select. */
const Val *rare_number(const Op *select, const Val **from);
bool *rare_values(const Fn *fn, Arena *a);                /* by Val id: only such an element needs it; numbered */
#endif
