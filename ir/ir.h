/* Tile IR: SSA values, structured control flow, monomorphic. Two forms with one set of data structures:
 *   TYPED   what the program means; no threads.
 *   PLACED  each tile value has a layout; conversions, shared memory, barriers are explicit ops.
 * Ops are the rows of ops.def. Text form: ir_print, ir_read (identity). Everything lives in A_UNIT. */
#ifndef IR_IR_H
#define IR_IR_H
#include <stdbool.h>
#include <stdint.h>
#include "base/out.h"
#include "base/src.h"
#include "base/vec.h"
#include "ir/sym.h"
#include "ir/type.h"
#include "layout/lay.h"

typedef struct Val Val;
typedef struct Op Op;
typedef struct IrBlock IrBlock;
typedef struct Fn Fn;
typedef struct Entry Entry;
typedef struct Module Module;

/* ---- the op table ---- */
typedef enum OpCode {
#define OP(id, name, form, sig, type, layout, flags, c, cuda, tile, needs, check, sim, print, doc) OP_##id,
#include "ir/ops.def"
#undef OP
	OP_COUNT
} OpCode;

typedef enum OpForm {
	FORM_SUGAR,     /* in the language only: sema builds other ops */
	FORM_BOTH,      /* TYPED and PLACED */
	FORM_TYPED,     /* TYPED only: lowered on the way to PLACED */
	FORM_PLACED     /* PLACED only */
} OpForm;

enum {                          /* the number of a flag's bit */
#define OP_FLAG(id, doc) OPB_##id,
#include "ir/flags.def"
#undef OP_FLAG
};

enum {                          /* flags of an op */
#define OP_FLAG(id, doc) OPF_##id = 1 << OPB_##id,
#include "ir/flags.def"
#undef OP_FLAG
	/* each element of the result depends on one of each operand at most: no thread needs what
	 * others hold, if operands lie as the result does */
	OPF_POINTWISE = OPF_ELEMWISE | OPF_FREE | OPF_PLACE
};

enum {                          /* the number of a trait's bit */
#define TRAIT(id, doc) OPTB_##id,
#include "ir/traits.def"
#undef TRAIT
};

enum {                          /* traits of an op */
#define TRAIT(id, doc) OPT_##id = 1 << OPTB_##id,
#include "ir/traits.def"
#undef TRAIT
};

typedef enum TypeRule {         /* operand types -> result type: rules.c has one function for each */
#define TYPE_RULE(id, doc) TR_##id,
#include "ir/rules.def"
#undef TYPE_RULE
	TR_COUNT
} TypeRule;

typedef enum LayoutRule {       /* layouts of operands and results: lower/layouts_ops.c has the functions of each */
	LR_NONE,        /* no tile, or nothing that is placed */
	LR_CHOOSE,      /* any: memory or the users decide */
	LR_ANY,         /* takes what comes */
	LR_GIVEN,       /* stated in the operation: conversions */
	LR_SAME,        /* operands and results share one */
	LR_SCAN,        /* the same, and the bits of the axis are those of registers, lanes and warps, one by one */
	LR_REDUCE,      /* the result has the operand's without the axis */
	LR_COMBINE,     /* the same of neighbours along the axis, which a function of the author's meets in order */
	LR_MOVE,        /* the elements keep their threads under another shape or order of axes */
	LR_BROADCAST,
	LR_CAT,         /* halves are registers: along an axis, */
	LR_JOIN,        /* or along a new one; */
	LR_SPLIT,       /* the other way round */
	LR_TAKE,        /* the result has that of the index */
	LR_MMA,         /* fragments */
	LR_STORE,       /* suits memory */
	LR_LOOP,        /* initial values have that of what the loop carries */
	LR_END,         /* so do the values of a block's end */
	LR_COUNT
} LayoutRule;

typedef struct OpRow {
	const char *id, *name;
	OpForm form;
	const char *sig;        /* arguments in the language; see ops.def */
	TypeRule type;
	LayoutRule layout;
	unsigned flags;
	const char *c, *cuda, *tile;    /* templates of elementwise ops; "" = the uniform call ct_<name>_<elem> */
	uint64_t needs;         /* attributes: a bit for each AttrKey */
	const char *doc;
} OpRow;
extern const OpRow op_rows[OP_COUNT];
extern const unsigned op_traits[OP_COUNT];
bool op_by_name(Str name, OpCode *op);          /* language names and IR names are the same */
typedef enum OpsFormat { OPS_TEXT, OPS_MARKDOWN, OPS_JSON } OpsFormat;
void ops_list(Out *o, OpsFormat format);        /* --list-ops: what the language has */

/* ---- attributes ---- */
typedef enum AttrKey {
#define ATTR(id, name, kind, words, of, doc) AT_##id,
#include "ir/attrs.def"
#undef ATTR
	AT_COUNT
} AttrKey;
typedef enum AttrKind { AK_INT, AK_INTS, AK_WORD, AK_STR, AK_SYM, AK_NUM, AK_NUMS, AK_LAY } AttrKind;
typedef struct AttrRow { const char *name; AttrKind kind; const char *words; const char *doc; } AttrRow;
extern const AttrRow attr_rows[AT_COUNT];
/* {inside}, {ways}, {stage}, {rows} and {kind}, by the numbers of their words in attrs.def */
enum { INSIDE_WHOLE = 1, INSIDE_LAUNCH = 2, INSIDE_NEAR = 3 };
typedef enum Ways { WAYS_ANY, WAYS_ALIGNED, WAYS_MASKED, WAYS_SINGLE } Ways;     /* {ways} */
enum { STAGE_ASK = 1, STAGE_AWAIT = 2, STAGE_BOTH = 3 };        /* {stage} */
enum { ROWS_ROTATED, ROWS_SHIFTED, ROWS_PEELED };                /* {rows} */
enum {
	KIND_SUM, KIND_PROD, KIND_MAX, KIND_MIN, KIND_MAX_ELEMENT, KIND_MIN_ELEMENT, KIND_AND, KIND_OR, KIND_XOR,
	KIND_CUSTOM
};
enum { OP_ARGS = 12 };
typedef struct OpArg { Str name; char kind; bool optional, named; AttrKey word; } OpArg;     /* word: AT_COUNT: none */
int op_args(OpCode op, OpArg out[OP_ARGS]);     /* the signature in the table, taken apart; how many */
int attr_word(AttrKey key, Str word);           /* index in the list, -1: none */
bool op_takes_order(OpCode op, int word);       /* may it have this memory order? */
Str attr_word_text(AttrKey key, int index);

/* A constant of some element type. Integers, bool and null in i (u64 reinterpreted); floats in f, exactly representable
 * in the element type (every narrower float is a double). NaN is one value: the canonical quiet NaN of the type. */
typedef struct Num { int64_t i; double f; } Num;

typedef struct IrAttr {
	AttrKey key;
	union {
		int64_t i;              /* INT, WORD (index) */
		struct { int n; const int64_t *p; } ints;
		Str s;
		const Sym *sym;
		Num num;
		struct { int n; const Num *p; } nums;
		const Lay *lay;
	} u;
} IrAttr;

/* ---- values, ops, blocks ---- */
struct Val {
	const Type *type;
	int id;                 /* unique in the function; renumbered by ir_number */
	Str name;               /* the author's name, or NULL */
	Op *def;                /* NULL: an argument of block */
	IrBlock *block;         /* whose argument it is */
	int index;              /* which result or argument */
	const Lay *lay;         /* PLACED tiles: which thread holds which element; NULL in TYPED */
	Val *fwd;               /* replaced by (ir_replace); followed by ir_in */
};

struct Op {
	OpCode code;
	Span span;              /* where the author asked for it */
	int nin, nout, nattr, nregion;
	Val **in;
	Val **out;
	IrAttr *attr;           /* sorted by key */
	IrBlock **region;
	Op *prev, *next;
	IrBlock *parent;
};

struct IrBlock {
	VEC(Val *) args;
	Op *first, *last;
	Op *owner;              /* NULL: body of fn */
	Fn *fn;
};

/* ---- kernels ---- */
typedef enum LayoutKind { ML_RIGHT, ML_LEFT, ML_RIGHT_PADDED, ML_LEFT_PADDED, ML_STRIDED } LayoutKind;
typedef enum ParamMode { PM_IN, PM_OUT, PM_INOUT } ParamMode;

typedef struct IrParam {        /* parameter of a kernel or entry */
	Str name, doc;
	Span span;
	bool is_tensor;         /* else a scalar (also ptr<T>) */
	ParamMode mode;
	Elem elem;
	int rank;
	const Sym *extent[TENSOR_RANK];
	const Sym *stride[TENSOR_RANK]; /* in elements; all kinds of layout are resolved into these */
	LayoutKind layout;
	int64_t pad;            /* A of the padded layouts */
	bool zeroed;            /* a scratch tensor: its bytes are 0 when the entry begins */
	Val *val;               /* kernels: the block argument (view or scalar) */
} IrParam;

typedef struct IrDim {          /* a dimension or a free stride, in order of first appearance (or of `dims [...]`) */
	Str name;
	Elem elem;              /* EL_I32 or EL_I64; strides I64 */
	bool is_stride;
	const Sym *def;         /* where name == expr: computed by the launcher, not an argument; else NULL */
	Span span;
} IrDim;

/* text: the clause as written. of_type: no clause; `cond` is what the type of a dimension holds, DIM <= CONST. */
typedef struct IrWhere { const Sym *cond; Str text; Span span; bool of_type; } IrWhere;
typedef VEC(IrParam) IrParamVec;
typedef VEC(IrDim) IrDimVec;
typedef VEC(IrWhere) IrWhereVec;

typedef struct HintValue { Str arch; int64_t value; } HintValue;        /* arch NULL: every architecture */
typedef struct Hint { AttrKey unused; Str name; int n; HintValue v[8]; Span span; } Hint;  /* @warps(8, sm_90: 4) */
typedef struct IrGeneric { Str name, value; } IrGeneric;

typedef enum IrStage { STAGE_TYPED, STAGE_PLACED } IrStage;

/* A version of a kernel in several launches, for f_ws, which takes workspace. Its steps run one after the other and
 * have the kernel's parameters and dimensions and, after those, the tensors in workspace. */
typedef struct Steps {
	Fn *of;                 /* the kernel, whose work they do */
	const Sym *guard;       /* calls that it serves: a condition over dimensions; */
	const Sym *gain;        /* those of them in which it is faster, */
	int arch;               /* on devices of this architecture; 0: of all */
	int clears;             /* how many of the tensors in workspace, the first ones, are cleared before, */
	Fn *clear;              /* by this kernel, whose only parameter they are, of `n` elements */
	VEC(Fn *) fns;
} Steps;
/* of a kernel at most once; found by the kernel (ir_steps) */
typedef struct StepsList { Steps **p; int n, cap; Steps **slot; uint32_t slots; } StepsList;

struct Fn {                     /* one monomorphic kernel */
	Str name;               /* readable and unique in the module: gemm_bf16_128x256x64 */
	Str source_name;        /* the kernel's name in the source */
	Str doc;
	Span span;
	IrStage stage;
	IrParamVec params;
	IrDimVec dims;
	const Sym *grid[4];     /* extents of the grid; unused: NULL */
	int ngrid;
	/* the axes of the grid in the order in which blocks run over them, the fastest first; all 0: in theirs */
	int sweep[4];
	IrWhereVec where;
	VEC(Hint) hints;
	VEC(IrGeneric) generics;        /* for comments and the manifest: T = bf16, BM = 128 */
	uint32_t plan;          /* coordinates of its plan that are pinned: plan/plan.h; 0: none */
	Span plan_at;           /* who pinned them */
	bool regrouped;         /* what the plan says of the grid is carried out */
	/* along each axis of the grid, log2 of the author's tile blocks that one does; below 0: of its parts */
	int joined[4];
	bool ordered, no_contract;
	bool brief;             /* the next kernel in the stream, which waits for its end, may start while it runs */
	IrBlock *body;          /* arguments: the parameters in order; ends in return */
	int nval;               /* next Val id */
	unsigned long numbered; /* the state of all kernels when ir_number was here; 0: never */
	bool is_step;           /* of another kernel's version (Module.steps): no entry launches it by itself */
	/* a step whose last two parameters are flags and partial sums, which blocks that share a tile hand each other
	 * (lower/pipeline.c); its operations do not use them */
	bool stream_k;
	/* PLACED */
	int arch;               /* 80, 90 ...: whose instructions it may use; the oldest of those that share the kernel */
	bool specific;          /* for that architecture alone: sm_90a */
	bool persistent;        /* no more clusters are started than run at once; each walks over several tile blocks */
	bool by_arch;           /* lowering depended on the architecture: no other one can share the kernel */
	int warps;              /* warps of a tile block */
	int cluster;            /* thread blocks that share a tile block and its warps; 0: one */
	bool by_warp;           /* each warp of a kernel of rows holds neighbouring elements (lower/by_warp.c); */
	bool fewer;             /* and a call starts as many warps, and thread blocks of a cluster, as its rows need */
	int64_t rows_taken;     /* TYPED: elements of rows for which all launches take an earlier variant, at most */
	bool short_rows;        /* and calls of short rows run it with fewer lanes for each, which share a warp; */
	int lanes_least;        /* log2 of the fewest of them */
	bool warp_rows;         /* or, of rows that a warp holds, with a warp for each, which share a thread block */
	/* how many of a lane's registers hold rows that are shorter still (lower/by_warp.c); 0: all */
	int row_few;
	bool row_pads;          /* a row needs a place for a pad after it, or a reduction would miss it */
	bool alternate;         /* neighbouring vectors of a row belong to neighbouring thread blocks of the cluster */
	int lanes;  /* of a tile block that makes use of fewer than a warp has, and shares its warp; 0: of whole warps */
	int packed;             /* how many tile blocks share a thread block, at most; 0: none do */
	int64_t shared_bytes;   /* of a tile block */
	int64_t warp_bytes;     /* of shared memory that each warp has for that */
	bool by_element;        /* placed for accesses of single elements: neighbouring lanes hold neighbours */
	/* each vector of each access lies at a multiple of its size, and wholly inside its tensor or wholly outside */
	bool aligned;
	/* Of a kernel of rows: log2 of the elements of a row of its tiles, where registers after shorter ones may be left
	 * out (lower/cut.c); else 0. Rows are shorter where all `below` are less than what is kept. */
	int row_log2;
	VEC(const Sym *) below;
	int row_regs_log2;      /* of the registers of such a row */
	int row_regs;           /* those of them that this version has; 0: all */
	int row_sure;           /* how many of them are inside every row that this version is for */
	/* Rows in a body of aligned vectors and ends, of which each thread has one element in a
	 * register after the others (lower/peel.c) */
	int peel_line;          /* bytes at a multiple of which the body begins; 0: rows are not peeled */
	int64_t stage_at;       /* of shared memory, where what has another phase is staged; 0: it is not */
	int peel_apart;         /* how many elements at least lie before the body and after it */
};

/* ---- entries: what the header declares ---- */
typedef enum HostKind {
	HOST_SCRATCH,   /* scratch */
	HOST_LAUNCH,    /* launch */
	HOST_IF,        /* cond, then, other */
	HOST_LET        /* name = value; no value: the multiprocessors of the current device */
} HostKind;
typedef struct HostStmt HostStmt;
typedef VEC(HostStmt *) HostVec;
typedef struct HostArg {
	bool is_tensor;
	int tensor;
	const Sym *offset, *value;
	Num num;
	bool is_num;
	int scalar;
} HostArg;
/* tensor: index into entry params, or nparams + index of scratch; offset: NULL, or how many elements on a view of it
 * begins. Scalars: entry parameter index in scalar (>= 0), else a constant num, else value (integers computed from
 * dimensions). */
/* tune: first rule that holds; arch NULL: any, cond NULL: always */
/* cost: not by order; of those whose conditions hold and whose variants accept the call, after the
 * rules without one, the least */
/* plan: what the rule pins of the variant (plan/plan.h), until lower_pins makes that a
 * variant of its own; 0: nothing */
typedef struct LaunchRule {
	Str arch;
	const Sym *cond;
	int variant;
	const Sym *cost;
	uint32_t plan;
	Span at;
} LaunchRule;
typedef struct Variant { Fn *fn; } Variant;     /* fn->where and alignment must hold for it to run */
struct HostStmt {
	HostKind kind;
	Span span;
	union {
		struct { IrParam tensor; } scratch;
		struct {
			VEC(Variant) variants;          /* first whose where holds; all share one signature */
			VEC(HostArg) args;              /* one per kernel parameter */
			VEC(const Sym *) dims;          /* value of each fn->dims entry in terms of the entry's dims */
			IrWhereVec where;               /* what views need of their indices: checked first */
			bool tuned;                     /* tune: chosen by rules first */
			VEC(LaunchRule) rules;
		} launch;
		struct { const Sym *cond; HostVec then, other; } ifs;
		struct { Str name; const Sym *value; } let;      /* an ATOM_PARAM-like local; name unique in the entry */
	} u;
};
struct Entry {
	Str name, doc;
	Span span;
	IrParamVec params;
	IrDimVec dims;
	IrWhereVec where;
	HostVec body;
};

/* A kernel placed under what is assumed of a call. A launch goes through its variants in their author's order; of a
 * variant's versions for the newest architecture that the device runs, the first one runs whose guard holds, and whose
 * cluster the device has room for; of those with a time only the first that takes least is asked. */
typedef struct IrArch { int number; bool specific; } IrArch;    /* sm_90, sm_90a */
typedef struct Version {
	Fn *of;                 /* the kernel, TYPED: parameters, dimensions, what must hold of a call */
	Str name;               /* distinguishes it from the kernel's other versions: "aligned"; "": serves all calls */
	const Sym *guard;  /* a condition over dimensions, parameters, tensors' addresses, blocks(); 1: serves all calls */
	uint32_t archs;         /* bits: of Module.archs */
	Fn *fn;                 /* PLACED */
	/* Thread blocks that should fit a multiprocessor, of each architecture that it serves in their order; 0: as many as
	 * the compiler likes. NULL: 0 for all. */
	const int *resident;
	const Sym *time;        /* of a call, in a unit of its kernel's; NULL: none is predicted */
} Version;

struct Module {
	Str path;               /* main source as shown */
	VEC(Fn *) fns;          /* kernels that some entry launches, in order of first use */
	StepsList steps;        /* a kernel's steps stand in fns before it */
	VEC(IrArch) archs;      /* for which there are versions, in ascending order */
	/* in the order of fns; of each, by architecture, then in the order in which guards are asked */
	VEC(Version) versions;
	VEC(Entry *) entries;   /* in order of the source */
	VEC(Src *) sources;     /* main file first, then imports in order of loading: for the depfile */
};

/* ---- building ---- */
typedef struct Builder { Fn *fn; IrBlock *block; Op *before; Span span; } Builder;     /* before NULL: append */

Module *ir_module(Str path);
Fn *ir_fn(Str name, Span span);
IrBlock *ir_block(Fn *fn, Op *owner);
Val *ir_arg(IrBlock *b, const Type *t, Str name);
Op *ir_op(Builder *b, OpCode code, int nin, Val *const *in, int nout, const Type *const *out);     /* inserted */
Val *ir_op1(Builder *b, OpCode code, const Type *t, int nin, Val *const *in);                       /* one result */
Val *ir_unary(Builder *b, OpCode code, const Type *t, Val *x);
Val *ir_binary(Builder *b, OpCode code, const Type *t, Val *x, Val *y);
Val *ir_const_int(Builder *b, const Type *t, int64_t v);
Val *ir_const_num(Builder *b, const Type *t, Num v);
Val *ir_launch(Builder *b, Elem e, const Sym *s);               /* a value known at launch (or a constant) */
IrBlock *ir_region(Op *op);                                     /* appends an empty region */
void ir_set_int(Op *op, AttrKey key, int64_t v);                /* INT, WORD; a WORD's default is not stored */
void ir_set_ints(Op *op, AttrKey key, int n, const int64_t *v);
void ir_set_str(Op *op, AttrKey key, Str s);
void ir_set_sym(Op *op, AttrKey key, const Sym *s);
void ir_set_num(Op *op, AttrKey key, Num v);
void ir_set_nums(Op *op, AttrKey key, int n, const Num *v);
void ir_set_lay(Op *op, AttrKey key, Lay l);
void ir_drop_attr(Op *op, AttrKey key);
const IrAttr *ir_attr(const Op *op, AttrKey key);               /* NULL: absent */
int64_t ir_int(const Op *op, AttrKey key, int64_t dflt);        /* WORD absent: 0 */
bool ir_same_attrs(const Op *x, const Op *y);           /* with the same values, bit by bit; layouts never are */
static inline bool op_has(const Op *op, unsigned flags) { return (op_rows[op->code].flags & flags) != 0; }
static inline bool op_is(const Op *op, unsigned traits) { return (op_traits[op->code] & traits) != 0; }
/* No effect and no region: may be moved, copied, left out. */
static inline bool op_is_pure(const Op *op) { return op_has(op, OPF_PURE) && !op->nregion; }
/* ==, !=, <, <=, >, >= of two values */
static inline bool op_compares(OpCode code) { return op_rows[code].type == TR_CMP; }
/* Of an access to memory: how many values it takes. An update gives the old value back. */
static inline int op_values(const Op *op) { return op_has(op, OPF_CAS) ? 2 : op_has(op, OPF_WRITE); }
static inline bool op_updates(const Op *op)
{
	return op_has(op, OPF_ATOMIC) && op_has(op, OPF_READ) && op_has(op, OPF_WRITE);
}
/* Does a thread have elements of the result without holding them: constants, numbers, one value for all? */
static inline bool op_is_made(const Op *op) { return op_has(op, OPF_PLACE) || op->code == OP_BROADCAST; }
const Val *ir_tensor(const Val *v);     /* the tensor or pointer into which a view looks */
int ir_axis(const Op *op);              /* the axis that it works along; 0 where it says none */
bool ir_sweeps(const Fn *fn);                   /* in another order of axes than theirs */
int ir_sweep(const Fn *fn, int i);              /* the i-th axis from the fastest on */
bool ir_hints_threads(const Fn *fn);             /* of warps, of thread blocks of a cluster or of a multiprocessor */
bool ir_has_hint(const Fn *fn, const char *name);
bool ir_hint_by_arch(const Fn *fn, const char *name);   /* has it a value for some architecture alone? */
int64_t ir_hint(const Fn *fn, const char *name, int arch);  /* for this architecture (90), else for all; 0: nothing */
void ir_set_layout(Val *v, Lay l);

/* ---- thread blocks of a placed kernel: ir_threads.c ---- */
int block_threads(const Fn *fn);                /* threads of a thread block, at most */
int tile_threads(const Fn *fn);         /* of those, that work on one tile block; at least a warp */
int64_t block_shared(const Fn *fn, int threads);        /* bytes of shared memory of a thread block of so many */

/* The versions of a kernel are neighbours: the first of those of fn at `from` or after it, and how many; none: n 0. */
typedef struct Versions { int first, n; } Versions;
Versions ir_versions(const Module *m, const Fn *fn, int from);
void ir_add_steps(StepsList *all, Steps *s);
Steps *ir_steps(const StepsList *all, const Fn *fn);    /* those of fn; NULL: it has none */

/* to->fns are copies of from->fns in the same order: gives `to` copies of the entries that launch them, and of their
 * versions in several steps. */
void ir_copy_lists(Module *to, const Module *from);

/* ---- changing ---- */
Val *ir_settle(const Op *op, int i);
/* Operand, forwarding followed. */
static inline Val *ir_in(const Op *op, int i) { return op->in[i]->fwd ? ir_settle(op, i) : op->in[i]; }
void ir_replace(Val *old, Val *with);           /* every use of old is a use of with from now on */
/* Gives result i of op another type: a new value. The old one belongs to no operation any more; ir_replace says what
 * stands for it. */
Val *ir_retype(Op *op, int i, const Type *t);
void ir_remove(Op *op);
void ir_move_before(Op *op, Op *where);
void ir_walk(IrBlock *b, void (*f)(void *ctx, Op *op), void *ctx);  /* pre-order, regions included; f may remove op */
void ir_walk_launches(Module *m, void (*visit)(void *ctx, HostStmt *launch), void *ctx);        /* of all entries */
Arena *ir_home(void);                           /* where blocks, operations, values and attributes are made */
void ir_set_home(Arena *a);                     /* NULL: A_UNIT */
void ir_number(Fn *fn);                         /* settles forwarding and renumbers values in program order */
int *ir_use_counts(Fn *fn, Arena *a);           /* by Val id */
bool ir_const_value(const Val *v, Num *n);      /* v is a `const` (scalar, or splat tile) */
Val *ir_accessed(const Op *op);                 /* what a load gives or a store takes; NULL: another operation */

/* ---- text ---- */
Str ir_num_text(Elem e, Num n);                 /* exact: "1.5", "0.1", "-inf", "nan", "true", "null"; reads back */
Str ir_op_text(const Op *op);                   /* one line, without regions; tolerates a broken op */
void ir_print(Out *o, const Module *m);
void ir_print_places(Out *o, const Module *m);  /* with comments `// loc(line:column)` */
/* All that emitters look at: lines of the sources, too. Reading it gives the same bytes of every target. */
void ir_print_complete(Out *o, const Module *m);
void ir_print_fn(Out *o, const Fn *fn);
Module *ir_read(Src *src);                      /* NULL after diagnostics */
/* Checks the rules of the stage; a broken one is a bug naming `after` (the pass). Returns the sentence in test mode. */
extern bool ir_trusts_protocols;                /* tests of sim: roles may break what they promise each other */
const char *ir_check(const Module *m);          /* NULL: sound; else which op breaks which rule */
void ir_verify(const Module *m, const char *after);
void ir_verify_versions(const Module *m, const char *after);   /* not the TYPED kernels, which no longer change */
void ir_verify_lists(const Module *m, const char *after);      /* names and entries only, not the kernels' bodies */
#endif
