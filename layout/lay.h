/* lay.h: tile layouts, one linear map over F2 each.
 *
 * THE ONE IDEA.  Tile extents are powers of two, so the coordinates of an element are bit strings; so are
 * the register number, the lane, the warp, the block within its cluster and the offset in shared memory.
 * A layout says which element lives at which place.  Every layout that hardware asks for (row-major,
 * blocked, transposed, replicated, the fragments of the tensor cores, the order of ldmatrix, all XOR
 * swizzles) has the property
 *
 *	L(x ^ y) = L(x) ^ L(y)
 *
 * that is, it is linear over the field F2 with the elements 0 and 1, where `^` is the sum.  A linear map
 * is known once its value on each single input bit is known.  So a layout is a short list of columns:
 * column i is the coordinate that input bit i adds.  Reading one layout:
 *
 *	[16,8]{reg:(0,1) (8,0) lane:(0,2) (0,4) (1,0) (2,0) (4,0)}
 *
 * register bit 0 steps one column, register bit 1 steps eight rows, lane bit 0 steps two columns ...: the
 * accumulator of mma.m16n8.  Register 3 of lane 5 is (0,1) ^ (8,0) ^ (0,2) ^ (1,0) = row 9, column 3.
 *
 * What a pass would otherwise decide case by case is then linear algebra on at most 32 columns:
 *
 *	transpose, reshape, expand   reorder or regroup the rows of the matrix; no data moves
 *	broadcast, duplicates        zero columns (or, in general, the kernel)
 *	convert from A to B          the solution C of A . C = B: for each place of B, the place of A to read
 *	vector width                 how many low offset bits are single register bits
 *	bank conflicts               rank(word address) - rank(word address mod 32 banks)
 *	reduction along an axis      the kernel of L without that axis: which registers, lanes, warps to combine
 *	address of a register        L(r, t) = L(r, 0) ^ L(0, t): one base per thread, one constant per register
 *
 * NOT EXPRESSIBLE, and therefore kept beside the map by whoever needs it: padding, extents that are not
 * powers of two (the caller holds `rep [r0, r1] of atom`; this module describes the atom), more than 32
 * coordinate bits.
 *
 * ORDER OF AXES.  Axis numbers are those of the tile type: axis 0 is the slowest, axis naxis-1 the
 * fastest. Coordinates are packed with the LAST axis in the low bits.  A packed coordinate is therefore
 * the row-major linear index of the element, and a shape here is the array of log2 extents in the order
 * the source writes it: nothing is ever reversed by a caller.  lay_pack and lay_coord go between
 * coordinates and packed words. Inputs are packed the other way round for the same reason, what varies
 * fastest is low: register bits lowest, then lane, warp, block, offset.  When places themselves are the
 * result of a map (lay_solve, lay_pull), they are the axes of that result: axis LAY_HWAXIS(h) is the
 * coordinate of hardware level h.
 *
 * FAILURE.  The module allocates nothing, never aborts, and keeps no state.  Functions that may have no
 * answer return bool.  Those that return a Lay give the bad layout for arguments that make no sense (an
 * axis out of range, more than LAY_BITS columns); it goes through every function like a NaN and lay_ok
 * finds it.
 */
#ifndef LAYOUT_LAY_H
#define LAYOUT_LAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "layout/f2.h"

/* Hardware coordinates.  HW_OFF counts elements, not bytes. */
typedef enum { HW_REG, HW_LANE, HW_WARP, HW_CTA, HW_OFF, HW_N } Hw;

enum { LAY_AXES = 8, LAY_BITS = 32, LAY_BAD = 0xff };

/* The axis of a map into places (lay_solve, lay_pull) that holds hardware coordinate h. */
#define LAY_HWAXIS(h) (HW_N - 1 - (int)(h))

/* A layout: a value, copied freely, compared with lay_eq.  Columns past the last input bit are zero. */
typedef struct Lay {
	uint8_t  in[HW_N];        /* log2 extent of each hardware coordinate                           */
	uint8_t  naxis;           /* 0 to LAY_AXES, or LAY_BAD                                         */
	uint8_t  out[LAY_AXES];   /* log2 extent of each tile axis, slowest first; 0 past naxis        */
	uint32_t col[LAY_BITS];   /* packed coordinate of each input bit; inputs in the order of Hw    */
} Lay;

/* How a value in one layout becomes the same value in another, cheapest first. */
typedef enum {
	CVT_NONE,                 /* the same layout                                                   */
	CVT_REGS,                 /* each thread renames its registers                                 */
	CVT_SHFL,                 /* data stays in its warp: shuffles                                  */
	CVT_SMEM,                 /* data stays in its block: through shared memory                    */
	CVT_CLUSTER,              /* data crosses blocks                                               */
	CVT_BAD                   /* the source does not hold every element the destination asks for   */
} CvtKind;

/* ---- make: lay_make.c ---- */

Lay lay_bad(void);                                    /* the layout that is none                         */
Lay lay_unit(int naxis);                              /* one element in one register                     */
Lay lay_id(int naxis, Hw h, int axis, int n);         /* n bits of h walk along axis                     */
Lay lay_bcast(int naxis, Hw h, int n);                /* n bits of h that change nothing                 */
Lay lay_mul(Lay inner, Lay outer);                    /* direct sum: copies of inner, arranged as outer  */
Lay lay_push(Lay l, Hw h, int axis, int n);           /* lay_mul(l, lay_id(.., h, axis, n))              */

/* Coordinate bits dst_bit.. of dst_axis become themselves ^ bits src_bit.. of src_axis, n of them. */
Lay lay_xor(Lay l, int dst_axis, int dst_bit, int src_axis, int src_bit, int n);

/* Row-major storage: offset bit i is bit i of the linear index.  order[0] is the fastest axis; NULL: the
 * last. */
Lay lay_stored(int naxis, const uint8_t shape_log2[], const uint8_t order[]);

/* The coalesced default: vec elements per thread along the fastest axis, then lanes, then warps, then what
 * is left in registers.  Thread bits that find no element left are zero columns (every thread holds a
 * copy). */
Lay lay_blocked(int naxis, const uint8_t shape_log2[], int vec_log2, int nlanes_log2, int nwarps_log2,
                const uint8_t order[]);

/* For work along `axis` (reductions, scans): like lay_blocked with `axis` fastest, except that warps go
 * along the other axes first, so that a row stays within a warp whenever there are enough rows. */
Lay lay_rows(int naxis, const uint8_t shape_log2[], int axis, int vec_log2, int nlanes_log2, int nwarps_log2);

/* ---- change: lay_change.c ---- */

Lay  lay_permute(Lay l, const int perm[]);            /* new axis i is old axis perm[i]; free            */
bool lay_reshape(Lay l, int naxis, const uint8_t shape_log2[], Lay *r);  /* row-major; equal sizes: free  */
Lay  lay_expand(Lay l, int at);                       /* a unit axis before axis `at`                    */
bool lay_squeeze(Lay l, int axis, Lay *r);            /* without this axis, which must be a unit axis    */
Lay  lay_pick(Lay l, unsigned hwset, unsigned axisset);  /* keep inputs 1<<h; other axes become unit axes */

/* The same map into the first part of a larger tile; bad if it is not larger. */
Lay  lay_within(Lay l, const uint8_t shape_log2[]);

/* The layout in which the tile reduced along axis comes out: the axis becomes a unit axis, lane and warp
 * bits keep their place (those along the axis turn into duplicates), registers that would repeat a value
 * are removed. */
Lay  lay_drop(Lay l, int axis);

/* The layout of an operand with this shape (each extent that of l, or 1) that broadcasts to l by register
 * renaming alone: lay_drop on each axis where the operand has extent 1. */
bool lay_operand(Lay l, const uint8_t shape_log2[], Lay *r);

Lay  lay_broadcast(Lay l, int axis, int n);           /* unit axis to 2^n, in n registers bits on top     */

/* The basis of the places to combine over to reduce along axis, modulo duplicates, as packed inputs:
 * vectors with register bits only come first, then those that reach lanes, then warps.  Returns how many. */
int  lay_partners(Lay l, int axis, uint32_t v[LAY_BITS]);

/* ---- two layouts: lay_solve.c ---- */

bool lay_div(Lay whole, Lay tile, Lay *rest);         /* whole = lay_mul(tile, rest)                     */
bool lay_compose(Lay a, Lay c, Lay *r);               /* a . c: c maps into the places of a              */

/* c with a . c = b: for each place of b, a place of a with the same element.  Of several, the one that
 * leaves the redundant input bits of a (lay_free) at 0.  a and b must have one shape. */
bool lay_solve(Lay a, Lay b, Lay *c);

/* Like lay_solve(src, dst), but of several solutions the one that moves data least: where possible, places
 * keep their warp, then their lane.  CVT_BAD leaves *c alone.  Conversions between registers must pull,
 * that is ask for each destination its source: pushing leaves duplicates of the destination unfilled. */
CvtKind lay_pull(Lay dst, Lay src, Lay *c);
CvtKind lay_cvt(Lay dst, Lay src);                    /* lay_pull without the map                        */

/* lay_run along the offsets of smem: log2 of elements per shared-memory access, -1 if smem lacks elements. */
int lay_vec(Lay reg, Lay smem);

/* log2 of the n-way bank conflict when a warp accesses smem from reg, 2^vec_log2 elements of 2^elem_log2
 * bytes at a time (elem and vector at most 16 bytes).  -1: not possible with that vector.  See Note [banks]
 * in lay_solve.c. */
int lay_conflicts(Lay reg, Lay smem, int elem_log2, int vec_log2);

/* lay_vec and lay_conflicts from the map that lay_solve(smem, reg) gives; vec_log2 is possible. */
int lay_vec_of(Lay c);
int lay_conflicts_of(Lay c, int elem_log2, int vec_log2);

/* ---- ask; here: what takes a few instructions, less than the copy of a layout for a call ---- */

static inline bool lay_is_bad(Lay l)
{
	return l.naxis == LAY_BAD;
}

static inline bool lay_has_axis(Lay l, int axis)        /* false of the bad layout */
{
	return !lay_is_bad(l) && axis >= 0 && axis < l.naxis;
}

static inline int lay_first(Lay l, Hw h)                /* index of the first column of h */
{
	int n = 0;

	for (int g = 0; g < (int)h; g++)
		n += l.in[g];
	return n;
}

static inline int lay_inbits(Lay l)                     /* number of columns */
{
	return lay_first(l, HW_N);
}

static inline int lay_outbits(Lay l)                    /* log2 of the number of elements of the tile */
{
	int n = 0;

	for (int a = 0; a < LAY_AXES; a++)
		n += l.out[a];
	return n;
}

static inline uint32_t lay_inmask(Lay l, Hw h)          /* the packed input bits of h */
{
	return f2_shl(f2_low(l.in[h]), lay_first(l, h));
}

static inline int lay_shift(Lay l, int axis)            /* lowest bit of axis in a packed coordinate */
{
	int n = 0;

	for (int a = axis + 1; a < LAY_AXES; a++)
		n += l.out[a];
	return n;
}

static inline bool lay_eq(Lay a, Lay b)
{
	return a.naxis == b.naxis && memcmp(a.in, b.in, sizeof a.in) == 0
	    && memcmp(a.out, b.out, sizeof a.out) == 0 && memcmp(a.col, b.col, sizeof a.col) == 0;
}

static inline uint32_t lay_image(Lay l, uint32_t packed_in)     /* the packed coordinate of a packed place */
{
	uint32_t r = 0;

	for (packed_in &= f2_low(lay_inbits(l)); packed_in; packed_in &= packed_in - 1)
		r ^= l.col[__builtin_ctz(packed_in)];
	return r;
}

static inline uint32_t lay_coord(Lay l, uint32_t packed, int axis)      /* one coordinate of a packed word */
{
	return lay_has_axis(l, axis) ? f2_shr(packed, lay_shift(l, axis)) & f2_low(l.out[axis]) : 0;
}

static inline uint32_t lay_hwcoord(Lay l, uint32_t packed_in, Hw h)     /* one hardware coordinate of a packed place */
{
	return f2_shr(packed_in, lay_first(l, h)) & f2_low(l.in[h]);
}

/* ---- ask: lay.c ---- */

bool     lay_ok(Lay l);                               /* well formed, not the bad layout                 */
bool     lay_has_shape(Lay l, int naxis, const uint8_t shape_log2[]);
int      lay_rank(Lay l);
bool     lay_onto(Lay l);                             /* every element is somewhere                      */
bool     lay_oneone(Lay l);                           /* no element twice                                */
uint32_t lay_dead(Lay l, Hw h);                       /* bits of h with a zero column: plain duplicates  */

/* Packed input bits that add nothing to the lower ones.  The places with all of these bits 0 hold each
 * element exactly once: the predicate of a store or an atomic. */
uint32_t lay_free(Lay l);

/* log2 of the aligned elements along axis that a thread holds in consecutive steps of some register bits:
 * step i is register bit bit[i], and no other input bit touches coordinate bit i.  bit may be NULL. */
int      lay_run(Lay l, int axis, uint8_t bit[LAY_BITS]);

/* Do registers and threads count different bits of the coordinate along axis, or of the packed one (axis below 0)?
 * Then it is the sum of a register's part and a thread's. */
bool     lay_adds(Lay l, int axis);

/* Who holds the bits of an axis, from the lowest on: bit bit[k] of hw[k], which is nothing else.  Returns how
 * many lie below the first of a warp, above which there are warps and registers only; -1: the axis is more
 * than such bits. */
int      lay_walk(Lay l, int axis, Hw hw[LAY_BITS], uint8_t bit[LAY_BITS]);

uint32_t lay_apply(Lay l, const uint32_t in[HW_N]);   /* packed coordinate of a place; excess bits ignored */
void     lay_sort(Lay l, int n, uint32_t *places);    /* packed places by the elements that they hold   */
bool     lay_place(Lay l, uint32_t packed, uint32_t *packed_in);   /* a place that holds this element    */
uint32_t lay_pack(Lay l, const uint32_t coord[]);     /* the packed word of coordinates                  */

#endif
