/* Inside the CUDA Tile C++ target. How a kernel becomes a __tile_global__ function:
 *
 * Tile C++ has tiles as values, so TYPED IR is printed nearly as it stands: each result is a const of its type, loops
 * carry mutable variables, scalars are scalars. Layouts, threads and shared memory are the
 * business of NVIDIA's compiler.
 *
 *   types.c    names, types, literals            control.c  statements; which op is printed by whom
 *   ops.c      elementwise operations, by the column of ops.def, and changes of shape
 *   view.c     views; loads and stores of tiles  access.c   gathers, scatters, pointers, atomics
 *   aligned.c  the version for aligned tensors   parts.c    which loaded tiles operations take apart
 *   reduce.c   reductions and scans              mma.c      products
 *   debug.c    print, checks
 *   written.c  operations that Tile C++ lacks, written in those that it has
 *   prelude.def  small functions that emitted text calls
 *   hints.c    hints and promises
 *   version.c  what the version of CUDA Tile C++ and the architectures have
 *   launch.c   how a launcher starts a kernel    emit_tile.c  the file around all of that
 *
 * What Tile C++ leaves undefined and the language defines is written out: signed arithmetic runs in unsigned, divisors
 * and shift counts are made legal first, a tile that may lie wholly outside its tensor is not asked for. */
#ifndef EMIT_TILE_TILE_H
#define EMIT_TILE_TILE_H
#include "emit/emit.h"
#include "emit/names.h"
#include "emit/regions.h"
#include "emit/snippet.h"
#include "ir/valsym.h"

typedef struct TView {          /* texts; all integers are long long expressions without side effects */
	Str ptr, off;           /* typed pointer; element offset of element 0 */
	Str ext[TENSOR_RANK], str[TENSOR_RANK];
	Str span;  /* of the whole view, a tensor_span; NULL: not declared, for it is only accessed by pointers */
	const char *index;      /* the type of the span's extents and strides */
	Elem elem;
	int rank;
} TView;

typedef struct TVal { Str text; TView *view; } TVal;   /* text: a name, or a literal */

/* What a span promises in the version for aligned tensors. */
typedef struct TSpan {
	const Val *view;
	int align;              /* bytes that divide its address */
	int ext[TENSOR_RANK], str[TENSOR_RANK];         /* powers of two that divide its extents and strides */
	bool narrow;            /* offsets of its elements fit 32 bits */
} TSpan;
typedef struct TAligned {
	VEC(const Sym *) guard; /* all hold; none: there is no such version */
	VEC(TSpan) spans;
} TAligned;

typedef struct TAlias { const Type *type; Str name; } TAlias;

typedef struct Tg {
	Out *o;
	const Fn *fn;
	const EmitOptions *opt;
	TVal *val;              /* by Val id */
	int *uses;              /* by Val id */
	bool *rounded;          /* by Val id: a product that must be rounded before it is added to (ops.c) */
	bool *spanned;          /* by Val id: a view that some access takes as a partition_view or a strided_view */
	bool *factor;  /* by Val id: a loaded tile that a product takes, where the copy engine may load it (hints.c) */
	bool may_write_maps;    /* tensor maps of views that the kernel makes (hints.c) */
	bool mixes_products;    /* of three kinds (mma.c) */
	VEC(TAlias) aliases;    /* types of tiles that the kernel names */
	VEC(const Sym *) launch; /* values that the launcher computes: ct_l0, ct_l1 ... */
	TAligned aligned;
	Out *tables;            /* constant arrays before the kernel */
	int *ntable;            /* of the file */
	Regions regions;
	int ntemp;
	NameSet names;
	Str *given;             /* by Val id: its name, once it has one */
	Span at;                /* of the op that is being printed */
} Tg;

/* hints.c */
Str tl_kernel_hints(const Fn *fn);              /* attributes, each with a space after it; "" */
bool *tl_factors(const Fn *fn);
bool tl_may_write_maps(const Module *m);
Str tl_access_hints(const Tg *g, const Op *op, bool by_view);
Str tl_promised(const Op *op, Str x);  /* x with the promise of a hint op; x as it is where Tile C++ has none like it */

/* version.c: what the version of CUDA Tile C++ and the architectures have */
bool tl_offers(const Tg *g, TileFeature f);
bool tl_adds_bf16(const Op *op);                /* atomically */
bool tl_has_bf16_atomics(const EmitOptions *opt);
void tl_refuse_missing(Fn *fn, const EmitOptions *opt);

/* types.c */
const char *tl_elem(Elem e);                    /* "float", "long long", "float *" */
const char *tl_memory(Elem e);                  /* as it lies in memory: bool is unsigned char */
Str tl_from_memory(Elem e, Str x);              /* what was loaded as a value; the other way round */
Str tl_to_memory(Elem e, Str x);
Str tl_shape(const Type *t);                    /* "ct::shape<1, 1024>" */
Str tl_type(Tg *g, const Type *t);              /* "f32_1x1024", declared at the head of the kernel; "float" */
Str tl_typed(Tg *g, Elem e, const Type *shape); /* of another element type in the same shape; a scalar's is a scalar */
Str tl_num(Elem e, Num n);                      /* literal of a scalar */
Str tl_full(Tg *g, const Type *t, Str scalar);  /* a tile of equal elements; a scalar as it is */
Str tl_temp(Tg *g, const char *what);           /* fresh name ct_<what><n> */
Str tl_named(Tg *g, const char *what, Str text); /* the text under a fresh name; a name or a number stays */
Str tl_name(Tg *g, const Val *v);               /* the author's name, made unique */
Str tl_text(const Tg *g, const Val *v);         /* what stands for a value that has been printed */
Str tl_launch(Tg *g, const Sym *s);
Str tl_where(Span s);                           /* "k.tile:12", for messages */
void tl_define(Tg *g, const Val *v, Str text);  /* const T name = text; */
void tl_define_with(Tg *g, const Val *v, Str hints, Str text);  /* T name; hints name = text; */

/* ops.c */
bool *tl_rounded(const Fn *fn);
bool tl_elementwise(Tg *g, const Op *op);       /* false: the table has no template for this op and type */
bool tl_shaped(Tg *g, const Op *op);            /* constants, changes of shape; false: another op */
Str tl_words(Elem e, Str x);                    /* as elements change places: bytes as words; and back */
Str tl_of_words(Elem e, Str x);
Str tl_cast(Tg *g, Elem to, Elem from, Str x, const Op *op);   /* op: with its modes, or NULL; NULL: not written yet */
Str tl_modes(const Tg *g, const Op *op);        /* ", ct::round_toward_zero_t{}", or "" */

/* view.c */
/* Which accesses are proved to begin inside, and which views have spans; then what the version
 * for aligned tensors proves. */
void tl_find_begins(Tg *g, Fn *fn);
void tl_find_aligned_begins(Tg *g, Fn *fn);
void tl_view_param(Tg *g, const IrParam *p, const Val *v);
void tl_view(Tg *g, const Op *op);
void tl_load(Tg *g, const Op *op);
void tl_store(Tg *g, const Op *op);
TView *tl_view_of(Tg *g, const Val *v);

/* aligned.c: before anything is printed, after tl_find_begins. The guard is complete only after tl_aligned_end. */
void tl_find_aligned(Tg *g);
/* Asks for an extent that is not 0, where the launcher knows it. */
void tl_need_some(TAligned *a, ValSyms *b, const Val *view, int axis);
void tl_aligned_end(TAligned *a);               /* where no call can keep the guard, nothing is left */
const Sym *tl_aligned_guard(const TAligned *a);
const TSpan *tl_aligned_span(const TAligned *a, const Val *view);      /* NULL: it promises nothing */

/* parts.c */
bool *tl_taken_apart(const Fn *fn);     /* by Val id: a view with a loaded tile of which some operation takes parts */

/* access.c */
/* The places of a box of a view as a tile of pointers, and which of them lie inside; mask_only: nothing but that. */
typedef struct TPlaces { Str ptr, inside; } TPlaces;   /* inside NULL: all */
TPlaces tl_box(Tg *g, const TView *w, const Type *t, const Str *origin, const bool *sure, bool mask_only);
void tl_pointer_load(Tg *g, const Val *out, TPlaces at, Str pad, Str hints);
void tl_pointer_store(Tg *g, const Val *x, TPlaces at, Str hints);
void tl_access(Tg *g, const Op *op);            /* gather, scatter, pointers, atomics */

/* reduce.c, mma.c */
void tl_reduce(Tg *g, const Op *op);
void tl_reduce_index(Tg *g, const Op *op);
void tl_scan(Tg *g, const Op *op);
void tl_mma(Tg *g, const Op *op);
bool tl_mixes_products(const Fn *fn);

/* debug.c */
void tl_print(Tg *g, const Op *op);
void tl_check(Tg *g, const Op *op);

/* written.c */
bool tl_written(Tg *g, const Op *op);           /* false: not one of them */
/* running sums ... that Tile C++ has only otherwise: exclusive ones, of bool */
void tl_scan_written(Tg *g, const Op *op);

/* control.c */
void tl_control_init(Tg *g);    /* once g->o is there */
void tl_block(Tg *g, const IrBlock *b);
void tl_op(Tg *g, const Op *op);
bool tl_loop_has(const IrBlock *body, OpCode jump);     /* break or continue, of the loop whose body it is */
/* The head of a counted loop with counter i, and its block begun. The range becomes that
 * of the loop that is printed. */
typedef struct TRange { Str lo, hi, step; } TRange;
void tl_loop_open(Tg *g, const Op *op, TRange *r, Str i);

/* launch.c */
typedef struct TParam { const char *type; Str name; } TParam;  /* type: with what stands between it and the name */
typedef struct TKernel {
	const Fn *fn;
	VEC(TParam) params;
	VEC(const Sym *) launch;
	VEC(const Sym *) aligned;       /* guard of the version for aligned tensors; none: there is one version */
	Out *text;              /* the function */
	bool lines;             /* which has #line directives */
} TKernel;
typedef struct TKernels { TKernel *p; int n, cap, next; } TKernels;       /* next: where the search for one begins */
Str tl_kernel_name(const Fn *fn);
void tl_host(Out *o, const Module *m, TKernels *kernels, const EmitOptions *opt);
void tl_runners(Out *o, const Module *m, TKernels *kernels, const EmitOptions *opt);     /* ct_run_<fn> alone */
/* NULL: there is none; next: where the search begins */
const TKernel *tl_find_named(const TKernels *kernels, int *next, const char *fn);

extern const SnipTable tile_prelude;
#endif
