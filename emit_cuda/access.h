/* Access to global memory: what view.c, address.c, memory.c, patch.c and others share. */
#ifndef EMIT_CUDA_ACCESS_H
#define EMIT_CUDA_ACCESS_H
#include "emit_cuda/cu.h"
#include "placed/access.h"

typedef struct OpAsked {                /* of the operation */
	int cache;                      /* what the author says of the L2 cache; 0: nothing */
	bool ordered;                   /* what it reads has been written by this kernel */
	bool in_region;                 /* of a loop or an if */
	bool made_again;                /* its address is not held from before a loop */
	bool asks_ahead;                /* for the tile of the loop's next iteration; how many steps on, along each axis: */
	int64_t ahead[TENSOR_RANK];
	int64_t multiple;               /* a power of two that divides the tile's begin along `fast`, but for its offset */
} OpAsked;

typedef struct Access {
	Cu *g;
	const Op *op;           /* printers ask it for nothing but its line: tilefn.c */
	const CuView *v;
	const Val *data;        /* the tile */
	AccessPlan plan;        /* vectors, axes, bounds; a printer narrows it where a branch knows more */
	CuMap map[TENSOR_RANK];
	bool apart[TENSOR_RANK];        /* coordinate bits of thread and register are apart: they add */
	bool still[TENSOR_RANK];        /* the same in all threads, which add nothing: there is no ct_c<a> */
	Str pad;                        /* bits, loads */
	Str copies;                     /* stores: condition */
	bool rotates;                   /* coordinates along plan.rotated_axis are those of the rotated row */
	bool forgotten;                 /* ct_last<a> stands for ct_hi<a> (access_forget_bounds) */
	bool store;
	Ways ways;
	OpAsked asked;
	CuInt reg;                      /* the register, or the first of the vector, that is being printed */
	Str held;                       /* next.c: the array that vectors are loaded to, instead of registers */
	Str patch;                      /* patch.c: the array that overlapping loads read their tiles from */
	const PatchPlan *patch_plan;    /* and how; NULL: it loads or stores one tile */
	bool begins;                    /* it is one with which a vector begins */
	bool words;                     /* vectors stay in ct_v until the ways of loading join (words_of_vectors) */
} Access;

/* ---- view.c ---- */
Str access_wide(Cu *g, const Val *v);           /* an integer scalar as long long */

/* ---- address.c ---- */
void access_open(Access *x, Cu *g, const Op *op, const Val *data, bool store);         /* as placed/access.h plans it */
Str access_origin_text(const Access *x, int a);
void access_origin(Access *x);                  /* the element offset of the tile along each axis: ct_o0, ct_o1 ... */
/* ct_c<a>: coordinate of the thread; ct_p: address of the thread's first element. */
void access_thread(Access *x);
Str access_of_thread(const Access *x, int a, const char *sign);  /* " + ct_c0": what apart adds; "": nothing */
Str access_scaled(Str i, const CuView *v, int a);       /* in elements, of a place along an axis */
void access_print_rotated(const Access *x, CuInt reg);    /* ct_q: that of a register of a rotated row */
CuInt access_coord(const Access *x, int a, CuInt reg);      /* of a register, relative to what ct_p counts */
Str access_address(const Access *x, CuInt reg);
/* how many elements after `begin` the tensor ends; 2^30 where that is about 2^30 or more */
Str access_end(const Access *x, int a, Str begin);
Str access_start(const Access *x, int a);       /* how many elements after the tile's begin it starts */
void access_bounds(Access *x);  /* ct_hi<a>, ct_lo<a>: bounds of the register's part of the coordinate */
void access_forget_bounds(const Access *x);
/* the condition that a register's element is inside; NULL: it is */
Str access_inside(const Access *x, CuInt reg);
/* the condition that a register's element of a shifted row is not before the row's first */
Str access_after_begin(const Access *x, int a, CuInt reg);
bool access_shifts(const Access *x);            /* by vectors, of a row that is shifted: both ends may be cut */
Str access_whole(const Access *x);              /* that the tile lies wholly inside; NULL: it does */
/* The condition that vectors are aligned: base, strides and the tile's offset are multiples of a vector. */
Str access_aligned(const Access *x);
Str access_rotated(const Access *x);             /* the same of a rotated row */
Str access_pad(const Access *x);                /* the pad of a vector, in its words */

/* aim.c: stores of what comes from shared memory, to rows at any phase. */
bool aim_store(Cu *g, const Op *op);            /* prints it, if it is such a store */

/* memory.c: a load of op's tile into the words of `held`, with the index values' present names; then from those words
 * into its registers. */
void access_load_held(Cu *g, const Op *op, Str held);
void access_take_held(Cu *g, const Op *op, Str held);

/* next.c: tiles that a loop loads an iteration ahead. */
void next_begin(Cu *g, const Op *loop);         /* before it: those of the first iteration */
bool next_load(Cu *g, const Op *op);            /* prints the load, if it is such a one */

/* tilefn.c: the access as a call of a function; false: it is printed where it stands. body: what the function has after
 * access_thread, the same for all accesses with a patch, and for all others. */
typedef void AccessBody(Access *x);
bool tilefn_print(const Access *x, AccessBody *body);
/* tilefn_add: one more argument, and its parameter. tilefn_of: the name of the function of this text, from its
 * parameters on; equal texts are one function. t: the tile's type, which becomes part of the name; NULL: none. */
typedef struct TileCall { Out *params, *args; int n; } TileCall;        /* NULL: these are not printed */
void __attribute__((format(printf, 3, 4))) tilefn_add(TileCall *c, Str arg, const char *param, ...);
Str tilefn_of(Str what, Elem e, const Type *t, Str text);

#endif
