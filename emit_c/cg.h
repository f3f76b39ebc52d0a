/* Inside the C target. How a kernel becomes C:
 *
 * A scalar is a const variable. A tile is either STORED, an array in row-major order, or INLINE, computed where it is
 * used: inside a loop nest the element at given indices is asked for (elem), which prints the operations it takes as
 * statements of the loop body. So chains of elementwise operations fuse into the nest of their consumer, and
 * broadcasts, reshapes and permutations are arithmetic on indices. plan.c decides; what is used twice, crosses a loop
 * or would be recomputed by a broadcast is stored. Arrays up to a few KiB are local; larger ones share one block of
 * memory per thread. */
#ifndef EMIT_C_CG_H
#define EMIT_C_CG_H
#include "emit/emit.h"
#include "emit/literal.h"
#include "emit/names.h"
#include "emit/regions.h"
#include "emit/snippet.h"

typedef enum CvKind { CV_UNSET, CV_SCALAR, CV_STORED, CV_INLINE, CV_VIEW } CvKind;

typedef struct CView {          /* texts; all integers are int64_t expressions without side effects */
	Str ptr, off;           /* typed pointer; element offset of element 0 */
	Str ext[TENSOR_RANK], str[TENSOR_RANK];
	int rank;
} CView;

typedef struct CVal { CvKind kind; Str name; CView *view; } CVal;

typedef struct Memo { const Val *v; Str idx[TILE_RANK]; Str text; } Memo;

typedef struct Cg {
	Out *o;
	const Module *m;
	const Fn *fn;
	const EmitOptions *opt;
	CVal *val;              /* by Val id */
	bool *stored;           /* by Val id: plan.c */
	int *uses;              /* by Val id */
	VEC(Memo) memo;         /* elements already computed in the innermost loop body */
	VEC(const Sym *) launch; /* values the launcher computes: ct_l0, ct_l1 ... */
	Regions regions;
	int64_t mem_top, mem_peak;      /* bytes of the thread's block of memory */
	int64_t stack;
	int ntemp;
	NameSet names;
	Str *given;             /* by Val id: its name, once it has one */
	Span at;                /* of the op that is being printed */
} Cg;

/* plan.c */
bool *plan_stored(const Fn *fn);
bool plan_is_map(const Op *op);         /* only renames elements: free to repeat */

/* cg.c: names, types, storage */
const char *c_type(Elem e);             /* "float", "uint16_t", "float *" */
const char *c_const(Elem e);            /* of a variable that is not changed: "const float", "float *const" */
Str temp(Cg *g, const char *what);      /* fresh name ct_<what><n> */
Str val_name(Cg *g, const Val *v);      /* the author's name, made unique */
Str num_c(Elem e, Num n);
Str array_new(Cg *g, const Type *t, Str name);
Str launch_c(Cg *g, const Sym *s);
Str scalar(Cg *g, const Val *v);        /* C name or literal of a scalar */
Str where_c(Span s);                    /* "k.tile:12", for messages */
Str op_template(Cg *g, const Op *op, const Str *arg);   /* the C text of an elementwise op over element texts */
const char *combine_name(const Op *op, Elem e);         /* ct_add_f32 ... of a reduction or scan */

/* elem.c */
Str elem(Cg *g, const Val *v, const Str *idx);  /* element of a tile (or a scalar), as text; may print statements */
Str linear(const Type *t, const Str *idx);              /* row-major offset */
typedef struct Nest { int rank; Str idx[TILE_RANK]; int open; int memo; } Nest;
void nest_open(Cg *g, Nest *n, const Type *t);          /* loops over all elements; extents of 1 have the index "0" */
/* in this order; others set by the caller */
void nest_open_axes(Cg *g, Nest *n, const Type *t, const int *axes, int naxes);
void nest_close(Cg *g, Nest *n);
void store_value(Cg *g, const Val *v, Str array);       /* array[...] = v for all elements */

/* memory.c */
void view_param(Cg *g, const IrParam *p, const Val *v);
void emit_view(Cg *g, const Op *op);
void emit_load(Cg *g, const Op *op);
void emit_store(Cg *g, const Op *op);
void emit_elementwise_access(Cg *g, const Op *op);      /* gather, scatter, pointers, atomics */

/* tiles.c */
void emit_mma(Cg *g, const Op *op, Str into);           /* into: array to use, or NULL */
void emit_reduce(Cg *g, const Op *op);
void emit_reduce_index(Cg *g, const Op *op);
void emit_scan(Cg *g, const Op *op);
void emit_custom(Cg *g, const Op *op);                  /* reduce and scan with a region */
void emit_sort(Cg *g, const Op *op);
void emit_topk(Cg *g, const Op *op);
void emit_histogram(Cg *g, const Op *op);
void emit_print(Cg *g, const Op *op);
void emit_check(Cg *g, const Op *op);

/* control.c */
void emit_block(Cg *g, const IrBlock *b);
void control_init(Cg *g);               /* once g->o is there */
#endif
