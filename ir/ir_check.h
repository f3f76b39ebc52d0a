/* What the parts of the verifier share: ir_verify.c (structure, control, kernels, entries), ir_check_op.c (each
 * operation by its row) and what that asks. Nobody else includes it. */
#ifndef IR_IR_CHECK_H
#define IR_IR_CHECK_H
#include "ir/ir.h"

typedef struct Check {
	const Module *m;
	const Fn *fn;           /* of the kernel being checked, or NULL */
	const Entry *entry;     /* of the entry being checked, or NULL */
	const Op *op;           /* being checked, or NULL */
	bool guard;             /* an expression is one */
	int resident;           /* thread blocks of the kernel's launch bounds; 0: none are said, and one has to fit */
	int last_fn;            /* where is_fn_of found the last kernel */
	Str msg;                /* the first rule that is broken */
	Span at;
} Check;

/* Records the sentence (only the first); always false. */
bool chk_fail(Check *c, const char *rule, ...) __attribute__((format(printf, 2, 3)));
#define NEED(cond, ...) do { if (!(cond)) return chk_fail(c, __VA_ARGS__); } while (0)

bool chk_sym(Check *c, const Sym *s);           /* its atoms are declared in fn or entry */
/* ir_check_attr.c: order, kinds, required ones, modes only where they mean something */
bool chk_attrs(Check *c, const Op *op);
bool chk_op(Check *c, const Op *op);            /* arity, types, layouts; not control flow (OPF_REGION, OPF_TERM) */
bool chk_group(Check *c, const Op *op);         /* ir_check_group.c: an op of OPF_GROUP without a region */
/* and one with a region: operands, attributes and the region's arguments */
bool chk_group_region(Check *c, const Op *op);
/* ir_check_device.c: a device launches its thread blocks, */
bool chk_rows(Check *c, const Fn *fn);
bool chk_thread_block(Check *c, const Fn *fn);
bool chk_version_device(Check *c, const Version *v);    /* each that it serves does, with its launch bounds */
int64_t chk_start_registers(const Check *c, const Fn *fn);      /* which those leave a thread */
bool chk_protocol(Check *c, const Fn *fn);      /* ir_protocol.c: what the roles of a kernel promise each other */
/* ir_order.c: its part of the order of operations. *reaches: it may reach into the memory of other
 * thread blocks at its end. */
bool chk_role_order(Check *c, const Fn *fn, const Op *role, bool *reaches);
uint64_t chk_group_needs(OpCode code);          /* their attributes that must be there, a bit each */
/* column `check` of ops.def; what is asked of single operations */
#define NO
#define RULE(f) bool chk_##f(Check *c, const Op *op);
#define OP(id, name, form, sig, type, layout, flags, c, cuda, tile, needs, check, sim, print, doc) check
#include "ir/ops.def"
#undef OP
#undef RULE
#undef NO
bool chk_copies(Check *c, const Fn *fn);        /* ir_copies.c: what copy_async fills is read when it is there */
/* ir_check_shape.c */
bool chk_indices(Check *c, const Op *op, int first, int n);     /* n operands from `first` on are integer scalars */
bool chk_reduce(Check *c, const Op *op);        /* reductions and scans by the operations of the language */
bool chk_reduce_region(Check *c, const Op *op); /* reduce, scan: operands, results and the region's arguments */
bool chk_mma(Check *c, const Op *op);
/* ir_check_mem.c */
bool chk_access(Check *c, const Op *op);

/* ---- small questions ---- */
bool chk_arity(Check *c, const Op *op, int nin, int nout);
bool chk_tile_in(Check *c, const Op *op, int i);

static inline const Type *chk_in(const Op *op, int i) { return ir_in(op, i)->type; }
static inline const Type *chk_out(const Op *op, int i) { return op->out[i]->type; }
/* scalar or tile */
static inline bool chk_is_data(const Type *t) { return type_is_scalar(t) || type_is_tile(t); }
static inline bool chk_is_scalar_of(const Type *t, Elem e) { return type_is_scalar(t) && t->elem == e; }
static inline bool chk_is_index(const Type *t) { return type_is_scalar(t) && elem_is_int(t->elem); }
/* both scalars, or tiles of one shape */
static inline bool chk_same_form(const Type *a, const Type *b)
{
	return a->kind == b->kind && chk_is_data(a) && type_same_shape(a, b);
}
#endif
