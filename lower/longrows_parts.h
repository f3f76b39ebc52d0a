/* The operations of a kernel of rows, repeated for a part of a row, and what parts have of its reductions: what the
 * kernels have in common that visit a part twice (longrows.c) and those that store nothing but numbers of rows
 * (longrows_numbers.c). */
#ifndef LOWER_LONGROWS_PARTS_H
#define LOWER_LONGROWS_PARTS_H
#include "ir/fold.h"
#include "lower/longrows.h"
#include "lower/placed.h"

typedef struct Parts {
	PartsPlan p;
	const Sym *parts;       /* of a row */
	int64_t most;           /* of them */
	int part_log2;          /* of the elements of a part */
} Parts;

/* One of the places where operations of the kernel are repeated. */
typedef struct PartSpot {
	Builder b;
	Val **map;              /* by Val id of the kernel; NULL: not here */
	Val *row;               /* i32; NULL: the tile block's, by its own indices */
	Val *part;              /* i32; NULL: values of the whole row only */
	Val *first;             /* element of the part */
} PartSpot;

/* Partial results of a row side by side. */
typedef struct PartTotals {
	const Parts *k;
	PartSpot at;
	Val *numbers[PART_WORDS];
	Val *parts;             /* i32: which they are of */
} PartTotals;

PartSpot parts_place(const Parts *k, const Fn *to, Builder b, Val *row, Val *part);
bool parts_is_long(const Parts *k, const Val *v);
Val *parts_here(const PartSpot *at, const Val *v);
/* Which operations are needed for v, where what the map has is known; for all reductions. */
void parts_need(const PartSpot *at, bool *needed, const Val *v);
void parts_need_sums(const Parts *k, const PartSpot *at, bool *needed);
void parts_do(const Parts *k, PartSpot *at, const bool *needed);
void parts_repeat(const Parts *k, PartSpot *at, const Op *op);
Op *parts_repeat_access(const Parts *k, PartSpot *at, const Op *op);    /* of a tile of a row */
void parts_sums(const Parts *k, PartSpot *at, Val **numbers);   /* what a part has of each reduction: scalars */
Num parts_neutral(const Op *op);        /* what changes no result, for parts that a row has not */
/* What is stored for a row as a whole, and what it is made of, from totals on; needed: what else is, too. */
void parts_need_late(const Parts *k, const PartSpot *at, bool *needed, const Val *v);
void parts_need_stored(const Parts *k, const PartSpot *at, bool *needed);
void parts_do_late(PartTotals *g, const bool *needed);

/* ---- small things ---- */
static inline const Type *i32(void) { return type_scalar(EL_I32); }
static inline Val *num_i32(Builder *b, int64_t v) { return ir_const_int(b, i32(), v); }
static inline const Type *like(const Type *t, Elem e)
{
	return type_is_tile(t) ? type_with_elem(t, e) : type_scalar(e);
}
static inline Val *op2(Builder *b, OpCode code, Val *x, Val *y) { return ir_binary(b, code, x->type, x, y); }
static inline Val *compare(Builder *b, OpCode code, Val *x, Val *y)
{
	return ir_binary(b, code, like(x->type, EL_BOOL), x, y);
}
static inline Val *number(Builder *b, const Type *t, double v) { return ir_const_num(b, t, num_float(v)); }
static inline Val *integer(Builder *b, const Type *t, int64_t v) { return ir_const_num(b, t, num_int(v)); }
static inline Val *spread(Builder *b, const Type *t, Val *x)
{
	return x->type == t ? x : ir_unary(b, OP_BROADCAST, t, x);
}
static inline Val *cast(Builder *b, Val *x, Elem e)
{
	return x->type->elem == e ? x : ir_unary(b, OP_CAST, like(x->type, e), x);
}
static inline Val *bits(Builder *b, Val *x, Elem e)
{
	return x->type->elem == e ? x : ir_unary(b, OP_BITCAST, like(x->type, e), x);
}
static inline Val *choose(Builder *b, Val *c, Val *x, Val *y)
{
	return ir_op1(b, OP_SELECT, x->type, 3, (Val *[]){ c, x, y });
}

static inline const Type *line(Elem e, int64_t n)
{
	uint8_t log2 = (uint8_t)log2_of(n);
	return type_tile(e, 1, &log2);
}

static inline Val *scalar_of(Builder *b, Val *x)
{
	return type_is_tile(x->type) ? ir_unary(b, OP_TO_SCALAR, type_scalar(x->type->elem), x) : x;
}
#endif
