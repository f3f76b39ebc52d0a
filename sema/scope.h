/* Names: files and their items, frames and the scopes in them. Used by the files that
 * own names, items and statements. */
#ifndef SEMA_SCOPE_H
#define SEMA_SCOPE_H
#include "sema/sema_int.h"

void *map_get(const Map *m, Str key);
void map_put(Map *m, Str key, void *val);

typedef enum GlobalState { G_NEW, G_BUSY, G_DONE } GlobalState;
typedef struct Global {
	Str name;
	Item *item;
	Unit *unit;
	GlobalState state;      /* of a const or param: evaluated on first use */
	Sv sv;
	bool used;              /* kernels: an instance or an entry of the main file launches it */
	Str define;             /* param: its value by -D, or NULL */
} Global;

typedef struct Import { Unit *unit; Str as; Span at; } Import;
struct Unit {
	Ast *ast;
	Str path;
	Map names;                      /* own items: Global * */
	VEC(Global *) globals;          /* the same, in order */
	VEC(Import) imports;
	bool loading;
};

typedef struct LibraryFile { Str name; const char *text; } LibraryFile;

struct Sema {
	const SemaOptions *opt;
	Module *mod;
	TypeNoteVec *notes;
	VEC(Unit *) units;              /* main first, then in order of loading */
	Map unit_by_path;
	Map fns;                        /* variants by key: Fn * */
	Map fn_names;                   /* names given to Fns */
	VEC(LibraryFile) library;       /* read once, when a name is not known */
	bool library_read;
	Map noted;                      /* type notes given: one per place */
	int depth;                      /* nesting of expressions and statements under way, inlined ones included */
	int stamp;                      /* of the last collection of assigned names */
	const Item *entry_said;         /* the last entry of which it was said that it holds launches only */
	uint32_t coordinate;            /* place of the last `threadIdx` and its kin that was met, or 0 */
	SpanVec copied;                 /* unrolled loops */
	int twice;                      /* items left out, for their name was taken */
	Src *tune_list;                 /* that `--tune` names, */
	bool tune_read, tune_bad;       /* once it is read; a line with a name in it is wrong */
	bool depth_said, ops_said;      /* the limits are reported once */
};

struct Frame {
	Map names;                      /* innermost Bind * of each name */
	VEC(Bind *) open;               /* first bind of each open scope (a list by next) */
	VEC(Bind *) idle;               /* unused ones of scopes that are closed, until the last one closes */
	int barrier;                    /* binds of scopes below may be read, not assigned (lambdas) */
	const Item *item;               /* function, kernel or entry; NULL: constants */
	bool generic;                   /* it has generic parameters: shapes differ from instance to instance */
	Str values;                     /* theirs, as lines `T = f32`, or NULL */
};

Cx *cx_new(Sema *s, Unit *u, const Item *item, Str name);        /* a fresh Fn, frame and body block */
Frame *frame_new(const Item *item);
void scope_open(Cx *cx);
void scope_close(Cx *cx);                       /* warns of what was not used */
/* Adds a name to the innermost scope; a second one of the same scope is reported (and shadows the first). */
Bind *scope_add(Cx *cx, BindKind kind, Name n);
Bind *scope_add_sv(Cx *cx, Name n, Sv v);
Bind *scope_find(const Cx *cx, Str name);       /* NULL: not a local name */
/* An item: own ones hide imported ones. *other: the second of two imports that have it. */
Global *unit_find(const Unit *u, Str name, Global **other);
Unit *unit_module(const Unit *u, Str as);       /* import ... as; NULL: none */
/* As unit_find, an ambiguous name is reported at `at` and *bad set. */
Global *scope_global(Cx *cx, Str name, Span at, bool *bad);
/* constant.c */
Sv global_value(Cx *cx, Global *g, Span at);    /* of a const or param */
Sv constant_eval(Cx *cx, const Item *it, Str define);    /* define: text of -D, or NULL */
/* scope.c */
bool name_is_class(Str name);
void classes_offer(Near *n);
bool name_is_upper(Str name);                   /* begins with a capital letter: a compile-time name */

/* unknown.c: each reports. */
Sv unknown_name(Cx *cx, Str name, Span at);     /* with the nearest name */
Sv unknown_call(Cx *cx, const Expr *call);      /* name(..) */
Sv unknown_type(Cx *cx, Str name, Span at);     /* in the place of a type */
void unknown_target(Cx *cx, Str name, Span at); /* of an assignment */
/* of a grid or condition, where a parameter would do; false: no */
bool unknown_extent_name(Cx *cx, Str name, Span at);
void unknown_extent(Cx *cx, Str name, Span at); /* of a tensor, with a capital letter */

/* habit.c: what other languages write. All but the first add remedies; false: there is none. */
const char *known_elsewhere(Str name);          /* what C, CUDA or Python call `name` is called here; or NULL */
bool habit_call(Cx *cx, Diag *d, Str word, const Expr *call, const Expr *recv);         /* word(..), recv.word(..) */
bool habit_member(Cx *cx, Diag *d, const Expr *member, const Expr *call);               /* x.word, x.word(..) */
bool habit_prefixed(Cx *cx, const Expr *member, const Expr *call);              /* tl.word, tl.word(..); reports */
bool habit_extent(Cx *cx, const Expr *index, Sv base);                          /* x.shape[0]; reports */
void habit_import(Cx *cx, Diag *d, Str file);
Str habit_element(Cx *cx, const Expr *e);       /* x.dtype: the element type; NULL: it is none */
/* words.c */
Str elem_word(Cx *cx, Elem e);                                  /* f16, or T where it is that in this instance */
bool elem_varies(Cx *cx, Elem e);                               /* it may be another type in another instance */
/* 64, or the name that has this value where it differs between instances; NULL: no name, or several, have it. */
Str extent_name(Cx *cx, int log2);
Str extent_names(Cx *cx, int rank, const uint8_t *log2);        /* [BM, 64]; NULL: as above */
Str tile_words(Cx *cx, Str elem, int rank, const uint8_t *log2);        /* tile<T, [BM, 64]>; NULL: as above */

/* load.c */
/* A file of the import folders that declares the function: "nn.tile"; NULL: none. *fits: with so
 * many parameters; args -1: any. */
Str library_with(Sema *s, Str fn, int args, bool *fits);
bool load_all(Sema *s, Ast *main);
void load_defines(Sema *s);

/* tensor.c */
/* elem: i32, i64, or bool for a condition; sym NULL: reported */
typedef struct SymVal { const Sym *sym; Elem elem; } SymVal;
SymVal sema_sym(Cx *cx, const Expr *e);
bool names_kernel(Cx *cx, const Expr *e);        /* a kernel, an instance or a tune of the file or an import */
/* Declares the dimensions and free strides of a tensor type in the frame and in dims, and fills the extents, strides,
 * element type and layout of p. False: reported. */
typedef VEC(IrDim) DimVec;
typedef VEC(IrWhere) WhereVec;
/* dims, strides NULL: new names are errors. where: what the launcher must check of alignments; NULL: nobody checks. */
typedef struct TensorCx { Cx *cx; DimVec *dims, *strides; WhereVec *where; } TensorCx;
bool tensor_resolve(TensorCx *t, const Expr *type, Mode mode, IrParam *p, Elem elem[TENSOR_RANK]);
bool type_is_tensor(const Expr *type);          /* written tensor<..> */
bool layout_by_name(Str name, LayoutKind *kind, bool *arg);     /* *arg: it takes an alignment or strides */
/* A view that a launch passes: x[0, :], x.slice(0, lo, hi), x.permute([1, 0]), and views of those. False: reported. */
typedef struct HostView {
	View view;              /* without IR values */
	const View *root;       /* the tensor it is a view of, as declared */
	const Sym *offset;      /* in elements; NULL: the tensor itself */
	IrWhereVec *where;      /* what the launcher must check of its indices */
} HostView;
bool host_view(Cx *cx, const Expr *e, HostView *h);
const View *tensor_view(const IrParam *p, Val *val, const Elem elem[TENSOR_RANK]);

/* expr.c: one level deeper in the checker's own recursion; false: too deep, reported once. The
 * caller takes the level back. */
enum { SEMA_DEPTH = 1000 };
bool sema_deeper(Cx *cx, Span at);

/* generic.c */
typedef struct SolveVar {
	Name name;
	const Expr *class_, *dflt;
	Sv val;                         /* SV_NONE: not known yet */
	Span from;                      /* where the value came from */
} SolveVar;
typedef struct SolveDim {
	Name name;
	const Sym *sym;                 /* known at launch; else NULL */
	Val *val;                       /* i64, at run time; NULL: not made yet, it is the extent below or comes from sym */
	const View *view;
	int axis;
	Elem elem;
	Span from;
} SolveDim;
typedef struct Solve {                  /* generic parameters of one call or instance, the explicit ones first */
	const FnItem *fn;
	Str fname;
	Unit *unit;
	VEC(SolveVar) var;
	VEC(SolveDim) dim;              /* dimensions of a function's tensors */
} Solve;
Solve *solve_new(const Item *it, Unit *u, bool implicit);       /* implicit: free capitals of parameter types too */
int solve_index(const Solve *s, Str name);
Sv solve_value(Cx *cx, const SolveVar *p, const Expr *e);       /* a written value, by the parameter's class */
bool solve_set(Cx *cx, Solve *s, int i, Sv v, Span at);         /* checks the class; a second value must be equal */
bool solve_param(Cx *cx, Solve *s, const Param *p, Sv arg, int pass);  /* infers from one argument; false: reported */
void generics_check(Cx *cx, const FnItem *f);
bool solve_finish(Cx *cx, Solve *s, Span at);                   /* defaults; binds all in cx's frame; false: reported */
Str solve_values(const Solve *s);       /* lines `T = f32` */
Str sv_value_text(Sv v);                        /* "128", "f16", "true", "[4, 8]" */
bool sv_equal(Sv a, Sv b);

/* extents.c: tensor parameters and the lengths of their arguments; args by parameter. */
/* Values for the names that expressions such as `2 * r` determine; cx is in the callee's frame, f what its caller
 * knows. False: reported. */
bool extents_solve(Cx *cx, const Facts *f, Solve *s, const Sv *args);
/* why `name` has no value; false: nothing said */
bool extents_explain(Cx *cx, const Facts *f, Solve *s, const Sv *args, Str name);
bool extents_known(Cx *cx, Solve *s, const Sv *args);           /* all dimensions have values; else reported */
bool extents_fit(Cx *cx, const Solve *s, const Param *p, Sv arg);       /* lengths and layout agree; else reported */
bool view_fits(Cx *cx, const Expr *type, Str of, Sv v);  /* the same of a written type; of: "the result of `f`" */
void extent_remedy(Diag *d, const Facts *f, const Sym *is, const Sym *want);

/* item.c */
typedef struct Variants { VEC(Fn *) fn; bool bad; } Variants;
/* One kernel with values for its generics, built once; NULL: pruned by a where clause. *bad: something was reported. */
/* of: what asks for it */
Fn *kernel_variant(Sema *s, Global *g, const Solve *vals, const Item *of, Span at, bool *bad);
void tensors_resolve(TensorCx *t, const FnItem *f, IrParam *p, Elem (*elem)[TENSOR_RANK], bool *bad);
void report_where_kind(Cx *cx, const Expr *e);
void wheres_read(Cx *cx, const FnItem *f, DimVec *dims, WhereVec *out, bool *pruned, bool *bad);
void dims_order(Cx *cx, const FnItem *f, DimVec *dims);
void bind_param(Cx *cx, const Param *p, Sv v, const Sym *sym);
bool scalar_param(Cx *cx, const Param *p, IrParam *ip);
void fn_check(Sema *s, Global *g);              /* inline.c: a function that nothing calls */

/* unused.c */
void names_touch(Cx *cx, const Block *b, const Stmt *s);  /* code that is not built: what it names counts as used */
void unused_report(const Sema *s);              /* items, parameters, imports of the main file */

/* hazard.c */
void unwritten_report(const Entry *e);           /* -Wscratch */
void hazards_report(Fn *fn);                    /* -Wrace, -Wprogress */

/* assigned.c */
typedef VEC(Bind *) BindVec;
typedef VEC(Val *) ValVec;
BindVec assigned_in(Cx *cx, const Block *b, const Stmt *s);     /* variables in scope here that b or s assigns */
bool block_returns_early(const Block *b);       /* a return inside a run-time if */
bool block_breaks_early(const Block *b);        /* break or continue of the loop around b inside a run-time if */

/* stmt.c */
typedef struct LoopCx {
	struct LoopCx *up;
	const BindVec *carried;
	bool unrolled;                  /* `for const` */
	bool scoped;                    /* unrolled, and left at run time: each iteration is a scope */
	bool broke, left;               /* unrolled and not scoped: left at compile time; left: in this round */
} LoopCx;
typedef struct RetCx {
	Sv type;                        /* SV_NONE: no result; SV_TYPE or SV_TUPLE of those */
	const Expr *written;            /* the result type */
	Str name;
	bool kernel, loose;             /* loose: of a lambda; the result is what it is */
	bool scoped;                    /* the body is in a scope op: a return leaves it */
	bool done;
	Sv value;                       /* not scoped */
} RetCx;
void stmt_block(Cx *cx, const Block *b);        /* in a scope of its own */
void stmt_body(Cx *cx, const Block *b);         /* without one */
bool region_ended(const Cx *cx);
bool stmt_too_large(Cx *cx, Span at);            /* unrolling and inlining have made too much; said once */
void region_end(Cx *cx, OpCode code, int n, Val *const *v);
void type_note(Cx *cx, Name n, Sv v);
void pattern_bind(Cx *cx, const Expr *pat, Sv v, bool is_var);

/* attr.c */
void attrs_of_stmt(Cx *cx, const Stmt *s);
void attrs_of_fn(Cx *cx, const Item *it);       /* @contract, @no_contract of a function */
void attrs_of_kernel(Cx *cx, const Item *it);   /* into cx->fn */

/* inline.c */
Sv inline_call(Cx *cx, Global *g, const Expr *call, const Sv *recv);

/* instance.c */
Variants instance_variants(Sema *s, Global *g, Global **kernel, Solve **first);
Variants default_variants(Sema *s, Global *kernel, Solve **first);
bool has_defaults(const Item *kernel);

/* tune.c */
void tune_rules(Sema *s, const Item *it, HostStmt *launch);

/* entry.c */
void entries_build(Sema *s);
#endif
