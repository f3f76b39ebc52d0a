/* Writing the placed kernel of a loop of chained products: what the files that do it share. */
#ifndef LOWER_CHAIN_WRITE_H
#define LOWER_CHAIN_WRITE_H
#include "lower/chain.h"

enum {
	GROUPS_MOST = 3,
	CHAIN_PARTS = 2,
	CARRIED_MOST = CHAIN_CARRIED + (1 + CHAIN_PARTS) * CHAIN_PRODUCTS,
	STAGES_MOST = 4, STAGES_LEAST = 2,
	HELD_BUFFERS = 2,
	EXTENT_MOST = INT32_MAX - (1 << 13),
	MBAR_BYTES = 8, TMA_BOX = 256,
	SPAN = 128,             /* bytes of a row of the widest swizzle, */
	PATTERN = 1024,         /* after which it repeats */
	CHAIN_STORES = 2,       /* by the copy engine, at most */
	BOX_COLS_LOG2 = 6,      /* of a stored box; rows are those of a group */
	/* attribute words (ir/attrs.def) */
	MAJOR_MN = 1, PHASE_PREVIOUS = 1
};

typedef struct Ring { Val *full, *empty; int stages; int64_t bytes; } Ring;     /* its mbarriers; bytes of a stage */
typedef struct Moved { Val *map, *ring; const Type *type; } Moved;              /* type: of a buffer */

/* A store by the copy engine, from a ring of boxes in which each group has n, side by side. */
typedef struct Stored { const Op *op; ChainPlace place; Val *map, *ring; const Type *box; int n; } Stored;

typedef struct Write {
	Chain c;
	Fn *fn;
	Builder b;
	Val **own;              /* by Val id of the TYPED kernel: what stands for it where operations are added */
	int groups;
	Moved in[CHAIN_LOADS];
	Ring ring[RING_COUNT];
	Stored out[CHAIN_STORES];
	int stores;
	Val *tiles, *rows, *others;     /* of the walk: all; along the row axis; along the other ones */
	Val *started, *near;    /* thread blocks that walk; neighbours along the other axes that are walked together */
	int64_t at;             /* of shared memory given out so far */
	Val *group;             /* of the consumers; NULL: in the producer */
	Val *row;               /* index of the first group's tile block along the row axis */
	Val *iterations, *most;     /* of this group; of all of them */
	Val *place[RING_COUNT]; /* cursors */
	Val *sum[CHAIN_PRODUCTS];       /* of level 0: the tile whose registers they take; of level 1: what they add to */
	Val *factor[CHAIN_PRODUCTS][CHAIN_PARTS];       /* of level 1, while products read them, by parts of the depth */
	int parts;
	const Val *ends;        /* the author's iterations: the last of an odd number has half of the elements. NULL: all */
	Val *async[CHAIN_PRODUCTS];     /* under way */
	ChainMasks masks;
	Val *plain;             /* the iteration that is written needs none of them; NULL: not known to */
} Write;

/* ---- building ---- */
static inline const Type *i32(void) { return type_scalar(EL_I32); }
static inline Val *number(Write *x, int64_t n) { return ir_const_int(&x->b, i32(), n); }
static inline Op *add(Write *x, OpCode code, int nin, Val *const *in) { return ir_op(&x->b, code, nin, in, 0, NULL); }
static inline Val *make(Write *x, OpCode code, const Type *t, int nin, Val *const *in)
{
	return ir_op1(&x->b, code, t, nin, in);
}

static inline Val *both(Write *x, OpCode code, Val *a, Val *b) { return ir_binary(&x->b, code, i32(), a, b); }

static inline Val *plus(Write *x, Val *a, Val *b)
{
	Num n;
	if (ir_const_value(a, &n) && !n.i) return b;
	return ir_const_value(b, &n) && !n.i ? a : both(x, OP_ADD, a, b);
}

static inline Val *times(Write *x, Val *a, int64_t n)
{
	Num k;
	if (ir_const_value(a, &k)) return number(x, k.i * n);
	return n == 1 ? a : both(x, OP_MUL, a, number(x, n));
}

static inline Val *named(Val *v, const char *name)
{
	v->name = str_intern(name);
	return v;
}

static inline Val *over(Write *x, Val *a, Val *b) { return both(x, OP_DIV, a, b); }
static inline Val *less(Write *x, Val *a, Val *b) { return both(x, OP_SUB, a, b); }

/* A region of an operation: what is made in it is not known after it. */
typedef struct Region { Builder back; Val **own; } Region;

/* ---- chain_copy.c ---- */
Region chain_enter(Write *x, Op *op);           /* opens a region of op */
void chain_leave(Write *x, Region r, int n, Val *const *v);     /* which gives v */
Region chain_begin(Write *x, OpCode code, Op **op);  /* of an operation that is made; op: NULL, or where to say which */
Val **chain_names(const Write *x);              /* a copy of x->own */
/* What stands for v; scalars, views and invariants of loops are made where they are first needed. */
Val *chain_value(Write *x, const Val *v);
void chain_copy_op(Write *x, const Op *from);
void chain_write_vector(Write *x, const Op *op);        /* an operation on registers */

/* ---- chain_memory.c ---- */
bool chain_fits(const Write *x);                /* do buffers keep the swizzle's pattern? */
void chain_map_loads(Write *x);
void chain_map_stores(Write *x);
bool chain_give_memory(Write *x, int64_t room); /* false: it is too little */

/* ---- chain_tiles.c ---- */
/* Over the tiles of this thread block, or the iterations of a tile, carrying the rings' places. */
typedef struct Loop { Op *op; Region r; } Loop;
Loop chain_begin_tiles(Write *x);
void chain_end_tiles(Write *x, Loop l);
void chain_count_iterations(Write *x);              /* sets x->iterations, x->most */
void chain_advance(Write *x, ChainRing r);
void chain_name_iteration(Write *x, Val *counter);
/* The coordinates of an access in the order of the tensor map's axes; how many. */
int chain_coordinates(Write *x, const Op *op, const ChainPlace *p, bool transposed, Val **at);
/* From `first` on, carrying the rings' places and n more values; of iterations: names the counter as that of the
 * kernel. */
Loop chain_begin_loop(Write *x, Val *first, Val *end, int n, Val *const *carried, Val **arg, Val **counter);
Loop chain_begin_iterations(Write *x, Val *first, Val *end, int n, Val *const *carried, Val **arg);
void chain_end_iterations(Write *x, Loop l, int n, Val *const *next);
Region chain_begin_role(Write *x, const char *name, int groups, int regs);

/* ---- chain_consume.c ---- */
void chain_write_consumers(Write *x);
#endif
