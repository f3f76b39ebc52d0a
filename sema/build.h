/* What the files that know types and operations share: literal.c, conv.c, operator.c, builtin.c, build_*.c.
 * Every builder sets the place of the ops it makes, answers poison for poison, and reports before it gives poison. */
#ifndef SEMA_BUILD_H
#define SEMA_BUILD_H
#include "ir/fold.h"
#include "ir/rules.h"
#include "sema/sema_int.h"

static inline Builder *at_span(Cx *cx, Span at)
{
	cx->b.span = at;
	return &cx->b;
}

/* ---- text for messages ---- */
void label_operand(Diag *d, Sv v);              /* its place and what it is */
void label_operands(Cx *cx, Diag *d, Sv x, Sv y);               /* two operands, and where named ones got their types */
void help_shape(Cx *cx, Diag *d, Sv x, const char *op, const Type *to);       /* op(x, shape) gives it the shape */
Str shortened(Span at);            /* the text of a place, or `..` where it is long */
void help_cast(Cx *cx, Diag *d, Sv v, Elem to);         /* "write `element_cast(x, f16)`", with the edit */
/* A reduction that kept an axis which the shape has not (log2 NULL: any shape of that rank): "squeeze: true" */
bool help_squeeze(Diag *d, Sv v, int rank, const uint8_t *log2);

/* ---- constants ---- */
Flt exact_of(Sv v);                             /* INT, FLOAT: its exact value */
typedef enum FitWhy { FIT_OK, FIT_RANGE, FIT_FRACTION, FIT_INEXACT, FIT_OVERFLOW, FIT_UNDERFLOW, FIT_POINTER } FitWhy;
FitWhy lit_fit(Sv x, Elem e, Num *n);           /* an untyped constant as a value of e */
Sv lit_adapt(Cx *cx, Sv x, Elem e, Sv met);     /* that as a CONST; else reported with what it met (poison: nothing) */
Sv lit_alone(Cx *cx, Sv x);                     /* an integer that meets no type: an i32, else reported */
void warn_cut(Cx *cx, Sv x);                    /* an integer quotient that lost its fraction meets a float */
static inline bool sv_untyped(Sv v) { return v.kind == SV_INT || v.kind == SV_FLOAT; }
static inline bool sv_open(Sv v) { return sv_untyped(v) || v.kind == SV_LIT; }  /* takes the type of what it meets */
bool sv_open_float(Sv v);                       /* open, and some number of it is a float */
/* A tile literal: its expression, shape and elements; one of them is a float. */
typedef struct TileLit { const Expr *whole; Shape s; int n; Sv *v; bool has_float; } TileLit;
Sv lit_make(Cx *cx, const TileLit *l, Elem e, Sv met);    /* its tile of e; untyped elements become e */
Sv lit_divides(Cx *cx, Sv x, Elem e, Sv met);   /* reports a float that divides integers */
Sv lit_give(Cx *cx, Sv x, Elem e, Sv met);      /* an open value gets its type: lit_adapt, or a tile of e */
Sv lit_zero(Cx *cx, Sv x, Elem e);              /* 0 of type e in the shape of an open value */
Sv lit_default(Cx *cx, Sv x);                   /* a tile literal that meets nothing: i32 or f32; others: themselves */
Str range_text(Elem e);                         /* "u8 holds 0 .. 255" */

/* ---- values ---- */
Val *const_val(Cx *cx, const Type *t, Num n);
Val *val_cast(Cx *cx, Val *v, Elem to, FoldModes m);            /* the same when it has that type */
Val *val_broadcast(Cx *cx, Val *v, const Type *to);  /* shape of `to`, element type kept; scalar `to`: itself */
Diag *report_axes(Cx *cx, Span at, int rank);                    /* the list at `at` does not name each axis once */
bool spreads_to(Sv x, const Type *to);  /* broadcasts one way; a scalar has the shape of rank 0 */
/* the shape of `to`, where spreads_to says yes; scalar `to`: a scalar */
Val *val_spread(Cx *cx, Val *v, const Type *to);
Val *val_i64(Cx *cx, Val *v);
Val *val_bool(Cx *cx, Val *v);                  /* scalar or tile to bool: x != 0 */
Val *val_int(Cx *cx, Elem e, int64_t v);
Val *val_op2(Cx *cx, OpCode op, Val *x, Val *y);        /* scalars of one type, or equal tiles: folded where constant */
Val *val_cmp(Cx *cx, OpCode op, Val *x, Val *y);
Val *val_select(Cx *cx, Val *c, Val *a, Val *b);
const Sym *val_sym(Cx *cx, Val *v);             /* its value as an exact symbolic integer, or NULL */
bool sym_at_launch(const Sym *s);               /* no block index, no loop counter in it */
Sv sv_folded(Val *v, Span at);                  /* a scalar `const` becomes a CONST again */
bool is_value(Cx *cx, Sv v, const char *whose); /* scalar or tile; else reported */
bool sv_one_element(Sv v);                      /* a tile of one element */
Val *one_scalar(Cx *cx, Val *v);                /* a scalar of a scalar or one-element tile */

/* ---- modes of arithmetic ---- */
typedef struct Modes {
	int word[4];            /* rounding, subnormals, nan, overflow: index in attrs.def; -1: not given */
	Span at[4];
} Modes;
enum { MD_ROUNDING, MD_SUBNORMALS, MD_NAN, MD_OVERFLOW };
extern const Modes no_modes;
bool modes_allowed(Cx *cx, OpCode op, Elem e, const Modes *m);  /* else reported with the allowed ones */
void modes_put(Op *op, const Modes *m);
FoldModes modes_fold(const Modes *m);

/* A remark where the oldest GPU that code is made for has no instruction for what stands here: it works, and slower. */
void warn_emulated(Cx *cx, int since_arch, Str what, Elem e, const char *how, Span at);

/* ---- elementwise operations ---- */
Sv elem_unary(Cx *cx, OpCode op, Sv x, const Modes *m, Span at, Str shown);
Sv elem_binary(Cx *cx, OpCode op, Sv x, Sv y, const Modes *m, Span at, Str shown);
Sv elem_cast(Cx *cx, Sv x, Elem to, const Modes *m, Span at);
Sv elem_logic(Cx *cx, OpCode op, Sv x, Sv y, Span at, Str shown);       /* AND, OR of anything as bool */
void warn_count(Cx *cx, Sv x, Sv y, Span at, Str shown);       /* bool + bool: whoever counts is told */
void warn_cast(Cx *cx, Sv x, Str value, Elem to, Num n, Span at);      /* a constant that the type cannot hold */
/* Whether a tile of t's shape and element type e may be; else reported as the result of an operation on x and y. */
bool result_fits(Cx *cx, Elem e, const Type *t, Sv x, Sv y, Span at, Str shown);
void report_ruling(Cx *cx, Ruling r, Sv x, Sv y, Span at, Str shown);
Str operand_types(Sv x, Sv y);                  /* "tile<f16, [8]> and i32" */
Sv pointer_arith(Cx *cx, OpCode op, Sv x, Sv y, Span at, Str shown);
typedef struct Product {
	Sv a, b;
	const Sv *acc;          /* NULL: zeros */
	int precision;          /* word of AT_PRECISION, 0: exact */
	Span precision_at;
	Span at, whole;         /* the call or operator, and with its operands */
	Str shown;              /* its name as the author wrote it */
} Product;
Sv mma_of(Cx *cx, Product p);

/* ---- what --checked adds: checked.c ---- */
void check_opposite(Cx *cx, OpCode op, Val *x, Span at);       /* the least integer has none */
void check_arith(Cx *cx, OpCode op, Val *x, Val *y, Val *r, Span at);
void check_cast(Cx *cx, Val *x, Val *r, Span at);
Val *check_truth(Cx *cx, Sv c, Span at);       /* of a condition that is asserted; NULL: reported */

/* Of an i64 tile whose used elements are not negative: no two of those are equal. */
Val *used_differ(Cx *cx, Val *x, Val *used);

/* ---- calls of operations ---- */
enum { MAX_ARGS = 8 };
typedef struct ArgSpec { Str name; char kind; bool optional, named; } ArgSpec;
typedef struct Sig { int n; ArgSpec p[MAX_ARGS]; } Sig;
typedef struct BoundArg { const Expr *e; bool given, done; Sv sv; Span span; } BoundArg;
typedef struct Call {
	OpCode op;
	Str name;               /* as the author wrote it */
	const Expr *e;
	Span span;
	const Sig *sig;
	bool pointer;           /* the form on pointer tiles */
	BoundArg arg[MAX_ARGS];
	int nrest; const Arg *rest;     /* of print */
} Call;
Sv elem_cast_call(Cx *cx, Call *c);
Sv elem_bitcast_call(Cx *cx, Call *c);

int arg_index(const Call *c, const char *name);         /* -1: the operation has no such argument */
bool arg_given(const Call *c, const char *name);
Sv arg_value(Cx *cx, Call *c, int i, const Type *want); /* evaluated once; poison where wrong */
Sv arg_operand(Cx *cx, Call *c, int i);                 /* the same, an SV_LIT for a tile literal of untyped numbers */
Sv arg_tile(Cx *cx, Call *c, int i);                    /* a tile; else reported */
bool arg_shape(Cx *cx, Call *c, int i, bool hole, Shape *out);
bool arg_elem(Cx *cx, Call *c, int i, Elem *out);
bool arg_int(Cx *cx, Call *c, int i, int64_t *out);
bool arg_ints(Cx *cx, Call *c, int i, int *n, int64_t *out, int max);  /* [a, b, c] */
bool all_axes(Cx *cx, Call *c, int n, const int64_t *axes, int rank);   /* argument 1: each axis once, else reported */
bool arg_bool(Cx *cx, Call *c, const char *name, bool *out);            /* absent: false */
bool arg_axis(Cx *cx, Call *c, int i, const Type *t, int *out);
bool arg_word(Cx *cx, Call *c, AttrKey key, int *out);  /* absent: 0. False: reported */
bool arg_modes(Cx *cx, Call *c, Modes *m);
Str arg_string(Cx *cx, Call *c, int i);                 /* NULL: reported */
const View *arg_view(Cx *cx, Call *c, int i);           /* NULL: reported */
Str call_what(const Call *c);                           /* `name` */

/* Each gives the value of the call (SV_NONE: none). */
Sv build_tile(Cx *cx, Call *c);         /* full zeros ones iota arange rand* */
Sv build_shape(Cx *cx, Call *c);        /* reshape ... histogram, join, split, pack, unpack */
Sv build_elem(Cx *cx, Call *c);         /* elementwise, casts, select, fma, mma, matmul */
Sv build_product(Cx *cx, Call *c);      /* mma, matmul, mma_scaled */
Sv build_reduce(Cx *cx, Call *c);       /* reductions and scans */
Sv build_view(Cx *cx, Call *c);  /* partition strided gather_scatter slice extent ... permute, reshape of views */
Sv build_span(Cx *cx, Call *c);         /* tensor_span */
Sv build_memory(Cx *cx, Call *c);       /* load store gather scatter mask */
Sv build_atomic(Cx *cx, Call *c);
Sv build_promise(Cx *cx, Call *c);      /* assume and its kin */
Sv build_misc(Cx *cx, Call *c);         /* bid, print, assert, static_* */

Sv tile_gather(Cx *cx, Call *c);                        /* gather(x, index, axis) inside a tile */
Sv view_permute(Cx *cx, Call *c);
Sv view_reshape(Cx *cx, Call *c);
Sv view_mask(Cx *cx, const View *v, Val *const *index, const Shape *s, const int64_t *steps, const int64_t *offsets,
	Span at);
Sv layouts_equal(Cx *cx, const View *a, const View *b, Span at);  /* a bool, known where all extents and strides are */
bool view_readable(Cx *cx, const View *v, Span at, Str op);     /* else reported */
bool view_writable(Cx *cx, const View *v, Span at, Str op);
bool view_index(Cx *cx, const Call *c, const View *v);  /* argument 1 lists one index for each axis; else reported */
/* Elements of a list argument as typed integer scalars, one for each axis of the view; else reported. */
bool index_list(Cx *cx, const Expr *e, Str what, int rank, Sv *out);
Sv element_read(Cx *cx, const View *v, const Sv *index, Span at);
#endif
