/* What the files of flat.c share. */
#ifndef LOWER_FLAT_H
#define LOWER_FLAT_H

#include "base/cost.h"
#include "ir/valsym.h"
#include "lower/placed.h"

enum { NONE = -1 };

/* The place of each element along an axis of a tile: add + sign * its place in the author's tile along an axis of what
 * is stored; or `tile`; axis NONE: just add. */
typedef struct Along { int axis, sign; int64_t add; Val *tile; } Along;

typedef struct Pulled { const Val *of; bool early; Along at[TILE_RANK]; Val *v; } Pulled;

/* A number of each group: of the row that it begins in, and of the next one; plus `step` times an element's place in
 * its group. whole: of each element; late: made after all loads; early: it was made before them, to be found again.
 * What has no entry is the same in both rows. */
typedef struct Twin { Val *first, *second; int64_t step; Val *whole, *late; bool early; } Twin;

typedef struct Flat {
	Fn *fn;
	ValSyms syms;
	const Op *like;         /* a store, whose tensor's shape all have */
	const Type *tile;
	int rank;
	int grid[TENSOR_RANK];  /* the axis of the grid along an axis of what is stored; NONE: there is one tile */
	int along[4];   /* and the other way */
	const Sym *extent[TENSOR_RANK], *all;   /* of what is stored; its elements */
	Val *place[TENSOR_RANK], *block;        /* of each element; of the tile block */
	Val *begin, *element;   /* the number of the tile block's first element; of each element in the block */
	uint8_t *differs;       /* by Val id: between tile blocks, along these axes of the grid */
	int group;              /* log2 of the elements of a group; 0: there are none */
	int run;                /* the last axis that is not of one element: groups lie along it */
	const Sym *width;       /* of a group: its elements, or a row's if these are fewer */
	VEC(Twin) twins;
	VEC(Val *) numbers;     /* constants */
	Val *first;             /* the number of each group's first element, as of its elements; */
	Val *rest;              /* of each group: its elements in the row that it begins in */
	Val *in_group, *after, *slot;   /* of each element: its place in the group; it is of the next row; there is one */
	Op *first_late;         /* before it stand all loads */
	VEC(Pulled) pulled;
	Val *valid;             /* by element: it is one */
	Span span;              /* of the operation under way */
	int work, most, depth;
	int gathered;           /* bytes of an element that its group loads one by one */
	bool fails, wide;
	bool draws, counts;     /* random numbers; of neighbours whose offsets may be counted */
} Flat;

/* A place as rest + terms: sign[a] times the place along axis a of what is stored, and others. */
typedef struct Spot { const Sym *rest; int64_t by[4]; int sign[TENSOR_RANK]; bool others; } Spot;

/* An integer, modulo 2^n for a type of n bits: rest + by[a] * the place along axis a of what is stored. numbers: that
 * is rest and the element's number, by[] of the last axis times. */
typedef struct Sum { const Sym *rest, *by[TENSOR_RANK]; bool numbers; } Sum;

/* ---- operations (flat_groups.c) ---- */
const Type *flat_type(const Flat *f, Elem e);           /* of each element, */
const Type *flat_groups_type(const Flat *f, Elem e);    /* and of each group */
Builder flat_early(const Flat *f);
Val *flat_emit(Flat *f, bool late, OpCode code, const Type *t, int nin, Val *const *in);
Twin *flat_twin(Flat *f, Val *v);
Val *flat_whole(Flat *f, bool late, Val *v);
Val *flat_apply(Flat *f, bool late, OpCode code, const Type *t, int nin, Val *const *in, const Op *like);
Val *flat_make(Flat *f, OpCode code, const Type *t, int nin, Val *const *in);
Val *flat_number(Flat *f, const Type *t, int64_t n);
Val *flat_spread(Flat *f, Val *v);
Val *flat_launched(Flat *f, const Sym *s, Elem e);

static inline bool is_of_group(const Flat *f, const Val *v)
{
	return f->group && type_is_tile(v->type) && v->type->rank == 2 && !v->type->log2[1];
}

static inline bool is_of_row(Flat *f, Val *v) { return is_of_group(f, v) && !flat_twin(f, v)->step; }

static inline bool is_full(const Flat *f, const Val *v) { return v->type == flat_type(f, v->type->elem); }

static inline Val *make2(Flat *f, OpCode code, Val *x, Val *y)
{
	return flat_make(f, code, x->type, 2, (Val *[]){ x, y });
}

static inline Val *with(Flat *f, OpCode code, Val *x, int64_t n)
{
	return make2(f, code, x, flat_number(f, x->type, n));
}

static inline Val *constant(Flat *f, Elem e, int64_t n)
{
	return flat_number(f, f->group ? type_scalar(e) : flat_type(f, e), n);
}

static inline Val *cast(Flat *f, Val *v, Elem e)
{
	const Type *t = type_with_elem(v->type, e);
	return v->type == t ? v : flat_make(f, OP_CAST, t, 1, &v);
}

/* ---- what is stored (flat_look.c) ---- */
const IrParam *flat_dense(const Flat *f, const Val *view);
bool flat_is_small(const Flat *f, const Sym *extent);
void flat_learn_extents(Flat *f);
bool flat_suits(Flat *f);

/* ---- places (flat_places.c) ---- */
void flat_find_places(Flat *f);
Val *flat_block_at(Flat *f, int a);
Val *flat_place_of(Flat *f, const Along *x);
bool flat_plan_place(const Flat *f, const Sym *at, const Along *x, Spot *p);
bool flat_is_inside(const Flat *f, const Spot *p, const Sym *extent);
bool flat_is_near(const Flat *f, const Spot *p, const Sym *extent);
Val *flat_add_up(Flat *f, const Spot *p, const Along *x, Elem e);
Val *flat_number_of(Flat *f, Elem e);   /* of each element, as memory is counted */

/* ---- sums of places (flat_sums.c) ---- */
void flat_learn_places(Flat *f);
bool flat_sum(Flat *f, const Val *v, const Along *at, Sum *p);
bool flat_sum_is_inside(const Flat *f, const Sum *p, const Sym *extent);
Val *flat_sum_up(Flat *f, const Sum *p, Elem e);

#endif
