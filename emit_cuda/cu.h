/* Inside the CUDA target. How a placed kernel is printed:
 *
 * A scalar is a const variable that every thread computes. A tile is an array of what one thread holds, `T x[R]` (a
 * plain variable where R is 1), and each operation a loop over it: unrolled up to COST_UNROLL_REGS, so that nvcc keeps
 * the array in registers; beyond that a plain loop over local memory. Neighbouring operations that touch one register
 * at a time share one loop, and what only they need is a variable of the loop. What one operation alone needs, of the
 * same line and without a name of the author's, is part of its expression; a loop of one statement stands in one line
 * with the array that it fills. Constants and broadcasts of scalars have no array: each use names the scalar. Reshapes
 * and permutations are other names for the same array. A comment after a value says its type. Every name of ours begins
 * with ct_. Which element of a tile a register holds is an expression over ct_lane, ct_warp and the register's number,
 * printed from its layout (layout/lay.h). */
#ifndef EMIT_CUDA_CU_H
#define EMIT_CUDA_CU_H
#include "emit/emit.h"
#include "emit/names.h"
#include "emit/snippet.h"
#include "ir/fold.h"
#include "layout/lay.h"
#include "placed/placed.h"

typedef struct CuView {         /* expressions of 64-bit integers, without side effects */
	Str base;               /* pointer to element 0 */
	Str ext[TENSOR_RANK], str[TENSOR_RANK];
	bool unit[TENSOR_RANK]; /* stride is 1 */
	int64_t multiple[TENSOR_RANK];  /* a number that divides the stride */
	int rank;
	bool constant;          /* nobody writes it while the kernel runs */
	bool own;               /* in shared memory: private.c */
	bool param;             /* a tensor parameter, perhaps permuted: the launcher knows its pointer and strides */
	Elem elem;
} CuView;

typedef struct CuVal {
	Str name;
	bool splat;             /* every register holds `name` */
	bool scalar;            /* and that is a scalar */
	CuView *view;
	struct CuShared *shared;        /* group.h: what buffer an address points into */
	struct CuShifted *shifted;      /* slab.c: loaded, and shifted where it is stored */
	Str next;  /* next.c: of a loaded tile, the words that the loop holds; of a loop's counter, what it will be */
	const Val *as;          /* next.c: of a loop's counter, its constant value in the first iteration; NULL: none */
	int group;              /* loop in which it is computed; 0: none */
	bool inside;            /* used in that loop only */
	bool unread;            /* numbers of elements that only comparisons use which print them themselves */
	bool declared;          /* before it is computed, part by part (peel.c) */
} CuVal;

typedef struct Frame {          /* where the ends of the innermost constructs put their values */
	struct Frame *up;
	const Op *op;
	Str label;              /* of a scope */
} Frame;

typedef VEC(const Sym *) CuSyms;

struct Cu;
typedef struct CuPrinters {     /* of operations: control.c has them */
	void (*op)(struct Cu *g, Op *op);
	void (*ops)(struct Cu *g, Op *op, const Op *end);
} CuPrinters;

/* An integer expression of emitted code, such as the number of a register or an offset, with what the surrounding
 * expression depends on, so that no printer looks at its characters. */
typedef struct CuInt {
	Str text;
	int64_t value;          /* of a literal */
	enum { INT_LITERAL, INT_OPERAND, INT_COMPOUND } kind;   /* compound: an operand only within parentheses */
} CuInt;

typedef struct Cu {
	Out *o;
	const CuPrinters *printers;
	const Fn *fn;
	const EmitOptions *opt;
	CuVal *val;             /* by Val id */
	int nval;
	int *uses;              /* by Val id */
	const Op **user;        /* by Val id: the last operation that uses it */
	CuSyms *launch;         /* what the launcher computes: ct_l0, ct_l1 ... */
	struct CuTmaps *maps;   /* what it encodes: ct_m0, ct_m1 ... (tmap.h) */
	size_t prologue;        /* bytes of o before the first access of the device's memory */
	Frame *frame;
	NameSet names;
	const struct CuChunks *late;    /* a loop whose chunks the store that follows prints (chunk.c) */
	int ntemp, ngroup;
	bool started;           /* the cluster has met */
	const Sym *guard, *time;        /* of the version */
	bool prints;            /* calls printf */
	/* the kernel has roles or rings: registers are loop variables that must be constants, always unrolled */
	bool roles;
	const struct CuGroup *group;    /* who runs what is being printed; NULL: the thread block */

	/* What is printed is for one vector of a peeled row, number ct_part, or for its end (peel.c). */
	enum { PART_NONE, PART_PIECE, PART_END } part;
	bool shifted;           /* place p of a row holds element p - ct_phase (Fn.row_shifts) */
	int shift_log2;         /* log2 of the first registers, which may hold what lies before the row */
	bool loads_first;       /* rows_load_first */
	bool row_shares;        /* row_share_registers */
	int64_t rotated;         /* elements of rows that are rotated by ct_phase; 0: none are (lower/rotate.c) */
} Cu;

CuInt cu_int(int64_t n);
CuInt cu_var(Str text);                                 /* a name, a call or what stands in parentheses */
CuInt cu_compound(Str text);                            /* any other expression */
bool cu_is(CuInt a, int64_t n);                         /* a literal of this value */
Str cu_operand(CuInt a);                                /* in parentheses where it needs them as an operand */

Str cu_launch(Cu *g, const Sym *s);                     /* an integer known at launch */

/* cu.c: names, types, and expressions of layouts */
const char *cu_type(Elem e);
const char *cu_const(Elem e);
Str cu_num(Elem e, Num n);
Str cu_fresh(Cu *g, const char *what);                  /* ct_<what><n> */
void cu_reserve(Cu *g, Str name);
Str cu_name(Cu *g, const Val *v);                       /* the author's name, made unique */
void cu_say(Cu *g, const Op *op);                       /* the comment of a tile operation */
void cu_line(Cu *g, const Op *op);                      /* what is printed from here on is of this line */
Str cu_where(Span s);                                   /* "k.tile:12" */
CuVal *cu_val(Cu *g, const Val *v);
Str cu_scalar(Cu *g, const Val *v);
const char *cu_held(const Val *v);                      /* the type of each */
Str cu_at(Cu *g, const Val *v, const char *reg);        /* register `reg` (an expression) of a tile, or a scalar */
Str cu_said(Cu *g, const Val *v);                       /* its type as a comment that ends a line */
void cu_fill(Cu *g, const Val *v);  /* declares it and opens a loop over its registers, ct_r: a statement follows */
void cu_declare(Cu *g, const Val *v);                   /* names it; "float x[8];" */
/* The same where a statement follows that sets it, in one_line: before that statement. The comment that then ends the
 * line. */
Str cu_declare_before(Cu *g, const Val *v, bool one_line);
bool cu_unrolled(int regs);
/* for (int var = 0; var < n; var++) { -- a block where n is 1. What stands for the number: var, or "0". */
CuInt __attribute__((warn_unused_result)) cu_loop(Cu *g, const char *var, int64_t n);
void cu_end(Cu *g);
void cu_open(Cu *g);                                    /* "{", up to cu_end */
/* The head of a loop, without its body: a statement, or cu_open. cu_each: as cu_loop prints it, n > 1. */
void cu_head(Cu *g, const char *var, int64_t from, int64_t to, bool unroll);
const char *cu_rolled(const Cu *g);             /* what stands before a `for` that is not unrolled */
void cu_each(Cu *g, const char *var, int64_t n);
/* Whether a loop of n turns within an unrolled one of `outer` is unrolled: only where the whole stays within the
 * budget, as it does for every tile that lives in registers. */
bool cu_inner_unroll(int64_t outer, int64_t n);
/* Does a tile of this layout hold a row of which a lane may leave out registers (Fn.row_few)? The head of a loop over
 * those that it has, or groups of 2^each of them; their number, ct_used, is a constant of each kernel. */
bool cu_leaves_out(const Cu *g, Lay l);
void cu_reached(Cu *g, const char *var, int from, int each);
/* The same over the registers of l but those of bits `skip`; what stands for the register, and in the loop for how many
 * came before this one. */
CuInt __attribute__((warn_unused_result)) cu_registers(Cu *g, Lay l, uint32_t skip);
CuInt cu_register(const Cu *g, Lay l, uint32_t skip);
CuInt cu_iteration(const Cu *g, Lay l, uint32_t skip);
/* The same for one statement, or cu_open, which follows where no block is *opened: the register's text. */
CuInt cu_vectors(Cu *g, Lay l, uint32_t skip, bool *opened);
bool cu_opens_vectors(const Cu *g, Lay l, uint32_t skip);        /* a block is opened */
const char *cu_thread(const Cu *g);                     /* the thread's number in its tile block */
Str cu_first_lane(const Cu *g);     /* in its warp, of a tile block that shares the warp with others (Fn.lanes) */
void cu_sync(Cu *g);                                    /* a barrier for the threads of the tile block */
/* XOR over the set bits of var of col[bit]; "0" if all are 0. */
CuInt cu_linear(CuInt var, int nbits, const uint32_t *col);
CuInt cu_xor(CuInt a, CuInt b);
/* A sum and a product without what adds or multiplies nothing; brackets around a factor where it needs them. */
CuInt cu_sum(CuInt a, CuInt b);
CuInt cu_times(CuInt a, int64_t n);
/* a / n and a >> bits, of an operand; itself where that changes nothing */
Str cu_quotient(Str a, int64_t n);
/* Of a shifted row: that register `reg` comes after those that may hold elements before the row */
Str cu_after_first(const Cu *g, CuInt reg);
Str cu_shifted(Str a, int bits);
CuInt cu_deposit(CuInt var, uint32_t mask);         /* the bits of var put, in order, where mask has ones */
/* places -> some number; by_lanes: registers beyond a vector count what lies ct_lanes further on; log2 of the most */
typedef struct CuMap { uint32_t col[LAY_BITS]; int nreg, nlane, nwarp, by_lanes; bool share; } CuMap;
enum { LAY_PACKED = -1 };                               /* in place of an axis: the linear index of all coordinates */
CuMap cu_map(Lay l, int axis);                          /* the coordinate along an axis */
CuMap cu_map_row(const Cu *g, Lay l, int axis);         /* the same of what may be a row whose lanes a call chooses */
CuInt cu_map_thread(const CuMap *m);                      /* the part of lane and warp */
CuInt cu_map_reg(const CuMap *m, CuInt reg);
CuInt cu_map_place(const CuMap *m, CuInt reg);          /* both parts */
Str cu_copies(Lay l);  /* condition: this thread is the first of those with copies; NULL: all are */
Str cu_copies_of_block(const Cu *g, Lay l);              /* the same where each block of a cluster keeps its own copy */
Str cu_writers(const Cu *g, Lay l);                     /* the same for what the tile block writes to memory */
/* Value of a tile at place c(reg, lane, warp) of its own thread (lay_pull): several
 * registers may come into question. */
Str cu_pulled(Cu *g, const Val *v, Lay c, CuInt reg);
Str cu_pick(Lay c, CuInt reg, Str (*candidate)(void *ctx, Str reg), void *ctx);

/* elem.c, point.c, chunk.c: operations that work register by register */
void elem_begin(Cu *g);                                 /* which of them share a loop */
/* prints a loop of ops before `limit`; returns the op after its last */
Op *elem_group(Cu *g, Op *first, const Op *limit);
void elem_print_late(Cu *g, CuInt reg);                   /* the chunk that begins there */
void elem_scalar(Cu *g, const Op *op);
/* Is its result another value's name, so that nothing is printed for it? */
bool elem_is_name(Cu *g, const Op *op);
Str elem_combine(const Op *op, int kind, Elem e, Str a, Str b);

/* random.c: random numbers whose offsets let a thread draw four at once */
void random_print(Cu *g, const Op *op);

/* words.c: values in vectors of up to 16 bytes */
void words_unpack(Cu *g, Elem e, int n, const char *word, const Str *to);      /* statements; word: a variable */
Str words_pack(Cu *g, Elem e, int n, const Str *from);  /* an expression; may print statements first */
/* The same of the vector that begins at register ct_b; bit: those that count its 2^vec elements. */
void words_unpack_vector(Cu *g, const Val *v, const uint8_t *bit, int vec, const char *word, const Str *reg);
Str words_pack_vector(Cu *g, const Val *v, const uint8_t *bit, int vec, const Str *reg);
bool words_pack_is_pure(Cu *g, const Val *v, const uint8_t *bit, int vec);     /* it prints no statements */
/* one call does it: `word` may be any expression */
bool words_vector_is_run(Cu *g, const Val *v, const uint8_t *bit, int vec);
Str words_unpack_run(const Val *v, int vec, const char *word, Str first);       /* that call */
const char *words_type(int bytes);                      /* "unsigned int", "ct_u32x4" */
/* byte offset of element `index` of what begins at `slot` of shared memory */
CuInt words_offset(int64_t slot, CuInt index, int bytes);
Str words_shared(CuInt at);                               /* a pointer to byte `at` of shared memory */
Str words_load_shared(Elem e, CuInt at);                  /* one element at byte offset `at` */
/* The same where the element is read only in one iteration of a loop over vectors: volatile, because ptxas 13.0
 * merges the loads of one address in different iterations, under different predicates, into one register that later
 * iterations overwrite. */
Str words_load_piece(Elem e, CuInt at);
void words_store_shared(Cu *g, Elem e, CuInt at, Str x);
void words_opaque(Cu *g, const Op *op);                  /* word by word, and nvcc forgets what it unpacked before */
Str words_pad(Cu *g, Elem e, const Val *pad);           /* the bits of one element, a scalar */
Str words_pad_element(Cu *g, Elem e, Str pad);          /* the same of an element of a tile */
Str words_bits(Elem e, Str x);
Str words_value(Elem e, Str bits);

/* view.c, phase.c (memory_phase), memory.c, single.c (memory_elements) */
void memory_params(Cu *g);
void memory_view(Cu *g, const Op *op);
void memory_phase(Cu *g, const Op *op);
void memory_load(Cu *g, const Op *op);
void memory_store(Cu *g, const Op *op);
void patch_loads(Cu *g, const Op *op);                  /* patch.c: loads that overlap */
void memory_elements(Cu *g, const Op *op);              /* gather, scatter, pointers, atomics */

/* tilefn.c: functions for accesses to tiles, and what of the prelude they use */
void tilefn_use(SnipSet *used);
void tilefn_functions(Out *o);

/* combine.c: the author's function of a scan or a reduction of n values: its name; NULL: it uses what its kernel
 * computes. Where pointers to the results, the first and the second values are given, in this order. */
Str combine_function(Cu *g, const Op *op, int n);
void combine_use(SnipSet *used);
void combine_functions(Out *o, const EmitOptions *opt);

/* dense.c: accesses of rows side by side */
void dense_begin(Cu *g);                                /* names of a warp's part of shared memory and of its rows */
bool dense_load(Cu *g, const Op *op);                   /* false: op is none of them */
bool dense_store(Cu *g, const Op *op);

/* cluster.c */
Str cu_of_no_warp(Cu *g, const Val *partial);  /* what warps that were not started would have reduced pads to */
Str cu_warps_started(const Fn *fn);                     /* of a tile block: all, or those that the call needs */
Str cu_blocks_started(const Fn *fn);                    /* of a cluster */
void cluster_begin(Cu *g);                              /* places of threads, mbarriers */
void cluster_exchange(Cu *g, const Op *op);
/* Elements cluster_register of layout l, values x at byte offsets `at`, go to all thread blocks; waits for those of the
 * others. */
void cluster_meet(Cu *g);  /* once: all mbarriers of the cluster are made, and all threads see that */
void cluster_before(Cu *g, const Op *loop);     /* what an exchange in it has to find done, once */
CuInt cluster_register(const Cu *g, Lay l);
void cluster_send(Cu *g, const Op *op, Lay l, int n, const Elem *e, const CuInt *at, const Str *x);
Str cluster_received(Elem e, CuInt at);
Str cluster_scalar(Cu *g, const Op *op);                  /* of one that op_broadcasts: waits */

/* slide.c */
void slide_print(Cu *g, const Op *op);                  /* tiles shifted within warps */

/* cache.c: what each thread keeps in shared memory for itself */
void keep_store(Cu *g, const Op *op);
void keep_load(Cu *g, const Op *op);

/* move.c */
void move_store_shared(Cu *g, const Op *op);
void move_load_shared(Cu *g, const Op *op);
void move_lanes(Cu *g, const Op *op);
void move_pieces(Cu *g, const Op *op);                  /* convert of a large tile */
void move_take(Cu *g, const Op *op);
void move_share_copies(Cu *g, const Op *op);            /* what one thread got, to all that hold copies */
void move_cat(Cu *g, const Op *op);                     /* cat, join, split */

/* reduce.c, scan.c, mma.c, sort.c */
void reduce_step(Cu *g, const Op *op);
void reduce_begin(Cu *g, const Op *op);  /* declares its result, which a loop over registers makes one by one */
void reduce_register(Cu *g, const Op *op, CuInt reg);     /* one more of them, in their order */
/* Statements that make a[i] the combination of a[i] and b[i], in the order `first`,
 * `second`; a holds names of variables. */
void reduce_combine(Cu *g, const Op *op, int kind, int n, const Str *a, const Str *b, const Str *first,
	const Str *second);
void scan_print(Cu *g, const Op *op);
void mma_print(Cu *g, const Op *op);
void mma_in_pieces(Cu *g, const Op *op);               /* factors too large for shared memory */
void sort_print(Cu *g, const Op *op);
void sort_histogram(Cu *g, const Op *op);
void private_open(Cu *g, const Op *op);
void private_publish(Cu *g, const Op *op);

/* control.c */
extern const CuPrinters control_printers;

/* blocks.c: what an operation has inside */
void control_block(Cu *g, IrBlock *b);
void control_ops(Cu *g, Op *op, const Op *end);         /* of one block, up to `end` */
void control_op(Cu *g, Op *op);
void control_region(Cu *g, IrBlock *b, const Str *args, Str *yields);          /* of a reduction: scalar statements */

/* jam.c: iterations of a loop with {jam}, or if !ct_all the first; its counter is `from`, and grows by `step` from
 * one to the next */
void jam_print(Cu *g, const Op *loop, Str from, int64_t step);

/* debug.c */
void debug_print(Cu *g, const Op *op);
void debug_check(Cu *g, const Op *op);
bool debug_supported(const Op *op);
#endif
