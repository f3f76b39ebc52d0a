/* Writing the placed kernel of roles around a loop of products: what the files that do it share. */
#ifndef LOWER_PIPELINE_WRITE_H
#define LOWER_PIPELINE_WRITE_H
#include "lower/pipeline.h"

enum {
	STAGES_MOST = 8, STAGES_LEAST = 2,
	BOX_COLS = 64,          /* of a stored box; rows are those of a group */
	MBAR_BYTES = 8, SWIZZLE_ALIGN = 1024,
	/* attribute words (ir/attrs.def) */
	MAJOR_MN = 1, PHASE_PREVIOUS = 1, ACQUIRE_RELEASE = 3
};

/* Of a tile that the copy engine moves: its map, its buffers. */
typedef struct Moved {
	Val *map, *ring;
	const Type *type;       /* of a buffer */
	const Type *part;       /* what this thread block copies of it; the others of its cluster copy the rest for it */
	bool transposed;            /* the buffer holds the transposed tile */
} Moved;

/* By Val id of a TYPED kernel: what stands for it in all roles; in the one that is written. */
typedef struct Names { Val **common, **own; } Names;

/* Iterations that are dealt out. A share has `each` of them; the tiles from number `whole` on have `rest`. */
typedef struct Shares {
	int count;              /* of shares: one for each cluster; 0: each tile is one cluster's */
	Val *flags, *sums;      /* in workspace: of each group of each share */
	Val *each, *whole, *rest, *iterations;      /* iterations: of a tile */
	Val *waves;             /* tiles that a cluster has for itself */
	/* of the tile under way: the cluster's share, the first that has iterations of it, its first iteration here, its
	 * end */
	Val *own, *first, *lo, *hi;
} Shares;

typedef struct Write {
	Pipe p, part;           /* the kernel; the same by parts of the columns, for what follows the loop */
	int parts;
	Fn *fn;
	Names whole, by_part, *names;   /* of p, of part; those that are used */
	bool *needed;           /* of p: by the producer */
	Builder b;              /* where operations are added */
	Moved in[PIPE_LOADS];
	Moved out[PIPE_LOADS];  /* of stores by the copy engine, in their order; map NULL: there are no more */
	Val *boxes;             /* their ring, of the same number of boxes for each group */
	int nbox, turns;        /* how often a part takes one */
	int iteration;              /* parts of a tile that have boxes of their own; 0: there is one box */
	Val *ahead[PIPE_LOADS]; /* what the first part of a tile loads, asked for before the loop */
	int asked;
	Val *box;               /* of the part under way: the first; NULL: the group's first */
	Val *full, *empty;
	Val *rank, *all;        /* of a cluster: the thread block's number, the mask of all; NULL: there is none */
	Val *rows, *tiles;      /* of tiles along the rows; in all */
	Val *cols;
	Val *row, *col;         /* indices of the tile under way, of the blocks that p has */
	Shares shares;
	int stages;
	int64_t stage_bytes, at;        /* of shared memory given out so far */
} Write;

/* ---- building ---- */
static inline const Type *i32(void) { return type_scalar(EL_I32); }
static inline Val *number(Write *x, int64_t n) { return ir_const_int(&x->b, i32(), n); }
static inline Op *add(Write *x, OpCode code, int nin, Val *const *in) { return ir_op(&x->b, code, nin, in, 0, NULL); }

static inline Val *named(Val *v, const char *name)
{
	v->name = str_intern(name);
	return v;
}

static inline Val *make(Write *x, OpCode code, const Type *t, int nin, Val *const *in)
{
	return ir_op1(&x->b, code, t, nin, in);
}

static inline Val *sum_of(Write *x, Val *a, Val *b) { return ir_binary(&x->b, OP_ADD, i32(), a, b); }
static inline Val *times(Write *x, Val *a, int64_t n)
{
	return n == 1 ? a : ir_binary(&x->b, OP_MUL, i32(), a, number(x, n));
}

static inline const Type *shaped(TypeKind kind, const Type *t, int count)
{
	return type_placed(kind, t->elem, t->rank, t->log2, t->more, count);
}

/* Of any extents: each an odd number times a power of two. */
static inline const Type *matrix(TypeKind kind, Elem e, int64_t rows, int64_t cols, int count)
{
	uint8_t log2[2], more[2];
	for (int a = 0; a < 2; a++) {
		int64_t n = a ? cols : rows;
		log2[a] = (uint8_t)log2_of(n & -n);
		more[a] = (uint8_t)((n >> log2[a]) - 1);
	}
	return type_placed(kind, e, 2, log2, more, count);
}

static inline const Type *cursor_type(const Write *x)
{
	return type_placed(TY_CURSOR, EL_VOID, 0, NULL, NULL, x->stages);
}

/* Opens a region of op; returns where to go on after it. */
static inline Builder enter(Write *x, Op *op)
{
	Builder back = x->b;
	x->b = (Builder){ x->fn, ir_region(op), NULL, op->span };
	return back;
}

static inline void leave(Write *x, Builder back, int n, Val *const *v)
{
	add(x, OP_YIELD, n, v);
	x->b = back;
}

static inline Op *region_op(Write *x, OpCode code, Builder *back)
{
	Op *op = add(x, code, 0, NULL);
	*back = enter(x, op);
	return op;
}

static inline Val *least(Write *x, Val *a, Val *b) { return ir_binary(&x->b, OP_MIN, i32(), a, b); }

static inline Val *compare(Write *x, OpCode code, Val *a, Val *b)
{
	return ir_binary(&x->b, code, type_scalar(EL_BOOL), a, b);
}
static inline Val *advance(Write *x, Val *at) { return make(x, OP_ADVANCE, at->type, 1, &at); }
static inline Val *slot(Write *x, const Moved *m, Val *at)
{
	return make(x, OP_SLOT, m->type, 2, (Val *[]){ m->ring, at });
}
static inline Val *cursor(Write *x) { return make(x, OP_CURSOR, cursor_type(x), 0, NULL); }

/* ---- pipeline_copy.c: copies of the kernel's own operations ---- */
Val *pipe_value(const Write *x, const Val *v);          /* what stands for v in the role that is written */
void pipe_copy_op(Write *x, const Op *from, Val **own);
bool pipe_is_common(const Write *x, const Op *op);      /* the same in all roles, and known before them */
bool pipe_is_named(const Write *x, const Op *op);       /* it stands in this role already */
void pipe_find_needed(Write *x);                        /* by the producer */
/* Scalars of a block; producer: those alone that it needs. */
void pipe_copy_scalars(Write *x, const Op *first, const Op *end, bool producer);
void pipe_need_operands(bool *needed, const Op *op);    /* by Val id */
bool pipe_gives_needed(const bool *needed, const Op *op);

/* ---- pipeline_memory.c ---- */
bool pipe_map_loads(Write *x);  /* false: a buffer does not begin where another one's swizzle does */
void pipe_map_stores(Write *x);
bool pipe_give_memory(Write *x, int64_t room);          /* false: it is too little */
bool pipe_is_boxed(const Write *x, const Op *op);       /* can the copy engine store it? */
int64_t pipe_box_cols(const Type *tile);                /* how many columns of a tile fit a box */
/* Where rows of memory are columns of the tile, it is transposed. */
const Type *pipe_box_of(const Write *x, const Op *store);

/* ---- pipeline_tiles.c: the walk over tiles and iterations ---- */
typedef struct Walk { Op *loop; Builder back; Val *at; struct { Op *loop; Builder back; } shares; } Walk;

int pipe_along_cluster(const Write *x, int axis);       /* thread blocks of a cluster along an axis of the sums */
void pipe_name_block(Write *x, const Fn *fn, Val *row, Val *col);      /* what the indices of fn's grid are */
/* Over the tiles of this thread block; at: a cursor that is carried from one to the next; group: of the consumers,
 * NULL: the first. */
Walk pipe_begin_tiles(Write *x, Val *start, Val *group);
void pipe_end_tiles(Write *x, Walk w, Val *at);
/* Arguments: the counter, the cursor and others. */
Walk pipe_begin_iterations(Write *x, Val *at, int n, Val *const *carried);
Val *pipe_coordinate(Write *x, const Op *op, int axis); /* the first element of an access along an axis */

/* ---- pipeline_stream_k.c: iterations that are dealt out ---- */
void pipe_add_others(Write *x, Val **sum, Val *group);  /* to what this share has itself what the others left */
void pipe_leave_sums(Write *x, Val *const *sum, Val *group);    /* for who stores the tile */

/* ---- pipeline_epilogue.c ---- */
void pipe_begin_tail(Write *x);                                 /* before the loop: what is loaded after it */
void pipe_write_tail(Write *x, Val *const *sum, Val *group);    /* what follows the loop */

/* ---- pipeline_consume.c ---- */
void pipe_write_consumers(Write *x);

/* ---- pipeline.c ---- */
Op *pipe_begin_role(Write *x, const char *name, int groups, int regs, Builder *back);
#endif
