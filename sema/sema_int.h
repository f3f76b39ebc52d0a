/* What the files of sema share; nobody else includes it.
 *
 * The checker walks a body once and builds TYPED IR as it goes. An expression gives an Sv: a compile-time value, an SSA
 * value, a view, a type ... Nothing is evaluated twice. An Sv of kind SV_POISON has been reported: whoever gets one as
 * an operand answers with poison and says nothing.
 *
 * Who does what: expr.c dispatches; operator.c, conv.c, literal.c, builtin.c and build_*.c know types and operations;
 * load.c, scope.c, item.c, generic.c, tensor.c, stmt.c, inline.c, entry.c know names, items and statements. */
#ifndef SEMA_SEMA_INT_H
#define SEMA_SEMA_INT_H
#include "base/diag.h"
#include "ir/exact.h"
#include "sema/sema.h"

typedef struct Cx Cx;
typedef struct Sema Sema;
typedef struct Frame Frame;
typedef struct Unit Unit;
__extension__ typedef __int128 Int;     /* untyped integers are exact within these 128 bits; beyond: D_CONST_RANGE */

/* An untyped float is an exact rational (ir/exact.h), so each type rounds once:
 * exact_f64(0.5), exact_inf(true), exact_nan(). */
typedef const Exact *Flt;

/* ---- values of the checker ---- */
typedef enum SvKind {
	SV_POISON,      /* wrong, and reported: zero, so that a cleared Sv is poison */
	SV_NONE,        /* no value: a call without result */
	SV_INT,         /* untyped compile-time integer: u.i (generic `N: int`, literals, arithmetic of those) */
	SV_FLOAT,       /* untyped float constant: u.f */
	SV_CONST,  /* scalar constant of element type type->elem: u.num (bool, suffixed literals, `const X: f32`, null) */
	SV_VAL,         /* scalar or tile at run time: u.val; type = its type */
	SV_VIEW,        /* tensor, sub-view, partition ...: u.view; type = TY_VIEW */
	SV_TYPE,        /* a type: `type` (scalar, tile or TY_VIEW); a tuple of types is SV_TUPLE of SV_TYPE */
	SV_SHAPE,       /* u.shape: value of a generic `S: shape` */
	SV_TUPLE,       /* u.tuple */
	SV_FN,          /* function or lambda: u.fn */
	SV_OP,          /* the name of an operation, as in reduce(x, 0, 0, max): u.op */
	SV_STRING,      /* u.str */
	/* an extent or stride known only at the launch, for static_stride: compared with == and != only; u.str: which */
	SV_DYNAMIC,
	SV_LAYOUT,      /* u.layout: layout_of(t), compared with == and != only */
	SV_LIT,  /* a tile literal whose elements have no type yet: u.lit. From sema_operand only, for who gives it one */
	SV_WORD         /* a name that stands for nothing else, where a word is expected (rounding: toward_zero): u.str */
} SvKind;

typedef struct Sv Sv;
typedef struct Shape { int rank; uint8_t log2[TILE_RANK]; int hole; } Shape;   /* hole: axis of `_`, -1: none */
typedef struct Tuple { int n; Sv *p; } Tuple;

typedef struct Callee {         /* one of the two */
	Item *item; Unit *unit;         /* a fn item; a lambda has the unit, too */
	struct Global *global;
	const Expr *lambda; Frame *frame;       /* a lambda and where its free names live */
} Callee;

typedef enum ViewKind { VK_TENSOR, VK_PARTITION, VK_STRIDED, VK_GATHER } ViewKind;

typedef struct ViewDim {
	const Sym *sym;         /* extent, when it is known at launch */
	Val *val;               /* extent as an i64 scalar; NULL: not made yet (view_extent makes it from sym) */
	Elem elem;              /* type of the extent and of its indices: i32 or i64 */
	const Sym *ssym;        /* stride in elements, when it is known at launch */
	Val *sval;              /* stride as an i64 scalar; NULL: not made yet */
} ViewDim;

typedef struct View {
	ViewKind kind;
	Val *val;               /* IR view of type type_view(elem, rank) */
	Mode mode;              /* MODE_IN, MODE_OUT, MODE_INOUT */
	Elem elem;
	int rank;
	ViewDim dim[TENSOR_RANK];
	LayoutKind layout;      /* of a parameter; derived views: ML_STRIDED */
	int64_t pad;
	Str root;               /* the parameter or scratch it came from, for messages */
	Span decl;              /* where that was declared */
	Shape tile;             /* PARTITION, STRIDED, GATHER: shape of its tiles, rank = rank */
	int64_t steps[TENSOR_RANK], offsets[TENSOR_RANK];      /* PARTITION: steps = tile extents, offsets 0 */
	int axis;               /* GATHER: the axis of the index tile */
} View;

struct Sv {
	SvKind kind;
	Span span;              /* the expression */
	Str name;               /* the author's name when it is one; else NULL */
	const Type *type;
	bool cut;               /* INT, CONST: a quotient that lost its fraction; warned of when it meets a float */
	union {
		Int i;
		Flt f;
		Num num;
		Val *val;
		const View *view;
		const Shape *shape;
		const Tuple *tuple;
		const Callee *fn;
		const View *layout;
		Str str;
		OpCode op;
		const struct TileLit *lit;
	} u;
};

/* After an error, or for an operand that is poison; sv_absent stands for no value, where nothing is wrong yet. */
#define sv_poison(at) sv_poison_from(at, __FILE__, __LINE__)
Sv sv_poison_from(Span at, const char *file, int line);
Sv sv_absent(Span at);
void sv_poison_said(void);  /* a bug where poison was made and nothing reported: a statement would be lost */
Sv sv_none(Span at);
Sv sv_int(Int i, Span at);
Sv sv_float(Flt f, Span at);
Sv sv_const(Elem e, Num n, Span at);
Sv sv_bool(bool b, Span at);
Sv sv_val(Val *v, Span at);                     /* type and name from the value */
Sv sv_view(const View *v, Span at);             /* *v is copied */
Sv sv_type(const Type *t, Span at);
Sv sv_shape(Shape s, Span at);
Sv sv_tuple(int n, const Sv *p, Span at);       /* copied */
Sv sv_string(Str s, Span at);
Sv sv_dynamic(Str which, Span at);              /* "the stride of axis 0 of `x`" */
static inline bool sv_bad(Sv v) { return v.kind == SV_POISON; }
bool sv_is_const(Sv v);                         /* INT, FLOAT, CONST */
bool sv_is_scalar(Sv v);                        /* those, and a scalar VAL */
bool sv_is_tile(Sv v);                          /* a tile VAL */
bool sv_get_int(Sv v, Int *i);                  /* INT, or CONST of integer type (not bool) */
bool sv_get_bool(Sv v, bool *b);                /* CONST of type bool */
bool sv_const_num(Sv v, Num *n);                        /* CONST, or a VAL made by `const` */
Str list_or(int n, const char *const *w);               /* "a, b or c" */
bool sv_is_static(Sv v);  /* known at compile time: constants, types, shapes ..., tuples of those */
Str float_text(const Exact *x);                         /* of a constant, for messages: "2.0", "1e-5" */
/* for messages: "tile<f32, [4, 8]>", "f32", "integer constant 3", "tensor<f32, [m, n]>", "a type", "a function" */
Str sv_what(Sv v);

/* ---- names ---- */
typedef enum BindKind { BIND_SV, BIND_VAR, BIND_DIM } BindKind;
typedef struct Bind {
	BindKind kind;
	Str name;
	Span at;                /* its declaration */
	Sv sv;                  /* SV: the value; VAR: the current value (SV_VAL); DIM: the launch value once made */
	const Type *type;       /* VAR: its one type */
	const Sym *sym;         /* DIM */
	Elem elem;              /* DIM: i32 or i64, as its indices have */
	bool typed;             /* DIM: declared as `n: said`, the type of its value; else that is elem */
	Elem said;
	int depth;              /* of the scope it is in */
	bool used;
	bool local;             /* a let, var, const or loop counter: unused ones are warned about */
	bool counter;
	bool assigned;          /* a var: by some assignment, also one in a branch that is not built */
	bool scalar_meant_tile; /* a var that was assigned a tile or what is no value, as was reported: its uses are not */
	Span word;              /* a let or var alone in its statement: that word */
	int mark;               /* the last collection of assigned names that has it */
	struct Bind *shadowed, *next;   /* same name further out; next in the scope */
} Bind;

typedef struct CallSite { const struct CallSite *up; Str name; Span at; const Item *item; int depth; } CallSite;

/* Text -> pointer; keeps no order (nothing is ever listed from it). */
typedef struct Map { Str *key; void **val; int n, cap; } Map;

/* ---- context of one body ---- */
struct Cx {
	Sema *s;
	const SemaOptions *opt;
	Module *mod;
	Unit *unit;             /* whose names are visible */
	Fn *fn;                 /* what is being built */
	Builder b;              /* where the next op goes; b.span is set by whoever builds */
	Frame *frame;
	const CallSite *site;   /* inlined from; NULL in the kernel itself */
	const CallSite *recursion;      /* the function checked on its own, or NULL */
	Facts *facts;           /* ranges of dimensions, where clauses */
	int unsafe;             /* > 0: inside unsafe */
	int64_t latency;        /* @latency of the statement, 0: none */
	const Hint *unroll;     /* @unroll of the loop about to be built, or NULL */
	bool no_contract;       /* @no_contract on the statement */
	/* `acc += a @ b`: a product that is added to a variable of f32, and the statement that does so; name NULL: none */
	struct { Str name; Span product, whole; } added;
	Op *prologue;           /* last op of the launch values at the start of the body */
	Map launches;           /* those made already */
	Elem grid_elem[4];      /* type of bid(i) */
	struct LoopCx *loop;
	struct RetCx *ret;
	bool dead;              /* what follows cannot be reached: the block has its end */
	int copies;             /* work done so far for copies of bodies, empty ones too, counted as operations */
};

/* ---- diagnostics: adds "in `f`, called from here" for what was inlined ---- */
Diag *cx_diag_at(Cx *cx, DiagCode code, Span at, const char *const *args, int nargs);
#define cx_diag0(cx, code, at) cx_diag_at((cx), (code), (at), NULL, 0)
#define cx_diag(cx, code, at, ...) cx_diag_at((cx), (code), (at), (const char *const[]){ __VA_ARGS__ }, \
	(int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *)))

/* ---- A: names, statements, items ---- */
Sv sema_expr(Cx *cx, const Expr *e, const Type *want);  /* want: a hint for literals, or NULL. Never converts */
Sv sema_indexed(Cx *cx, const Expr *e);                 /* x of x[i] */
Sv sema_operand(Cx *cx, const Expr *e);  /* the same, but an SV_LIT where e is a tile literal of untyped numbers */
bool sema_const_int(Cx *cx, const Expr *e, Int *v);     /* a compile-time int; else reported, false */
bool sema_const_bool(Cx *cx, const Expr *e, bool *v);
bool report_dynamic(Cx *cx, Sv v, Span at);              /* true: v is an SV_DYNAMIC, which is reported */
/* [4, BN], S, or [] as a tile shape within all limits (but for 16 MiB, which needs the element type). A hole `_` only
 * where allowed. False: reported. */
bool sema_shape(Cx *cx, const Expr *e, bool hole, Shape *out);
bool sema_elem(Cx *cx, const Expr *e, Elem *out);       /* an element type (T of full, element_cast); else reported */
Sv sema_type(Cx *cx, const Expr *e);                    /* SV_TYPE, SV_TUPLE of types, or poison (reported) */
/* tile<elem, shape> with the limit of 16 MiB checked; NULL: reported at `at`. */
const Type *sema_tile_type(Cx *cx, Elem e, Shape s, Span at);
Str sema_source(const Expr *e);                         /* its source text, one line, for run-time messages */

int sema_fn_arity(Sv fn);                               /* parameters of a function or lambda; -1: not a function */
/* Calls a function or lambda with values already evaluated, inlined at cx->b: for reduce and scan (B points cx->b at
 * the region first and puts it back). SV_OP is called as a binary operation. */
Sv sema_call_values(Cx *cx, Sv fn, int n, const Sv *args, Span at);

/* Views of parameters and derived views alike. */
Val *view_extent(Cx *cx, const View *v, int axis);      /* i64 scalar */
Val *view_stride(Cx *cx, const View *v, int axis);      /* i64 scalar */
Sv view_extent_sv(Cx *cx, const View *v, int axis, Span at);  /* in the dimension's type; an untyped int when static */
Val *sema_launch(Cx *cx, Elem e, const Sym *s);         /* value known at launch, made once at the start of the body */
const Sym *sema_grid(Cx *cx, int axis, Elem *e);        /* extent of the grid and its index type; NULL: no such axis */
int sema_grid_rank(Cx *cx);

/* Regions: B's `&&` and custom reductions build ops with regions. */
typedef struct Spot { Builder b; bool dead; } Spot;
Spot spot_enter(Cx *cx, IrBlock *region);               /* the next ops go there */
void spot_leave(Cx *cx, Spot s);


/* ---- B: literals, conversions, operators, operations ---- */
Sv lit_int(Cx *cx, const Expr *e);                      /* EX_INT: untyped, or typed by its suffix */
Sv lit_float(Cx *cx, const Expr *e);
Sv lit_tile(Cx *cx, const Expr *e, const Type *want);   /* EX_LIST as a tile literal */
Sv lit_open(Cx *cx, const Expr *e);                     /* the same, an SV_LIT while its elements have no type */
bool lit_number(Str text, bool negative, Sv *out);  /* "64", "1e-5", "true" of -D: untyped or bool; false: no number */

typedef enum ConvWhy {
	CONV_INIT,      /* let/var with a written type, const: a scalar broadcasts to a tile */
	CONV_ASSIGN,    /* assignment to a var: a scalar broadcasts to a tile */
	CONV_ARG,       /* argument of a function */
	CONV_RETURN,
	CONV_STORE      /* value of a store */
} ConvWhy;
/* x as a value of type `to`, by the implicit conversions of language.md; else reported (what: the variable's or
 * parameter's name, decl: where its type was written, may be none) and poison. Constants stay
 * constants where they can. */
Sv conv_to(Cx *cx, Sv x, const Type *to, ConvWhy why, Str what, Span decl);
Sv conv_default(Cx *cx, Sv x);  /* untyped int -> i32, untyped float -> f32 (constants); else itself */
Val *conv_val(Cx *cx, Sv x);  /* a CONST or VAL as an IR value (untyped: conv_default first); NULL: poison */
Sv conv_cond(Cx *cx, Sv x, Span at);                    /* condition of if, while, ?: : a bool scalar, CONST or VAL */
Sv conv_index(Cx *cx, Sv x, Span at);  /* any integer scalar as a typed index (i32 unless it is wider) */
/* f32(x): explicit, one-element tiles become scalars; call: for named modes */
Sv conv_cast(Cx *cx, Elem to, Sv x, const Expr *call);
const Type *conv_common(Cx *cx, Sv a, Sv b, Span at);   /* common scalar type of two bounds of a loop; NULL: reported */

Sv op_unary(Cx *cx, const Expr *e, Sv x);
Sv op_binary(Cx *cx, BinOp op, Sv l, Sv r, Span at, Span whole);       /* also types, shapes, layouts with == and != */
Sv op_logic(Cx *cx, const Expr *e);                     /* EX_BINARY && ||: evaluates its operands itself */
Sv op_cond(Cx *cx, const Expr *e, const Type *want);    /* EX_COND */

/* A call of an operation; recv: the receiver of x.f(..), or NULL. Binds arguments by the row's signature. */
Sv builtin_call(Cx *cx, OpCode op, const Expr *call, const Sv *recv);
int op_arity(OpCode op);                                /* values it takes as a function */
Sv op_call_values(Cx *cx, OpCode op, int n, const Sv *args, Span at);   /* an elementwise operation on values */
/* EX_INDEX: t[i, j], q[b, h, :, :], x[:, _] (not on shapes and tuples) */
Sv build_index(Cx *cx, Sv base, const Expr *e);
/* t[i, j] = v, t[i, j] += v */
void build_index_store(Cx *cx, Sv base, const Expr *lhs, BinOp op, const Expr *rhs, Span at);
/* x.name on a value: an error; call: x.name(..), or NULL */
Sv build_member(Cx *cx, Sv base, const Expr *e, const Expr *call);
void build_check(Cx *cx, Sv cond, Str text, Span at);   /* --checked only: a check op; otherwise nothing */
#endif
