/* The text of one elementwise operation, from its row of ops.def: shared by the targets, whose
 * values have the same names. */
#ifndef EMIT_OPTEXT_H
#define EMIT_OPTEXT_H
#include "ir/ir.h"

typedef struct OpDialect {
	const char *(*type)(Elem e);            /* how a value of the element type is held */
	const char *(*column)(const OpRow *r);  /* the row's template for this target; "" = ct_<name>_<elem><modes>(...) */
} OpDialect;

Str op_text(const OpDialect *d, const Op *op, const Str *arg);  /* arg: texts of the operands */
/* A row's template with the operands for %0 to %2; `put` prints what another letter stands for, false: nothing. */
Str op_expand(const char *t, const Op *op, const Str *arg, bool (*put)(void *g, Out *o, const Op *op, char what),
	void *g);
Str op_combine(const char *name, const Op *op, Elem e);         /* "ct_add_f32_rz": a function with the op's modes */

/* Operands of an element by element access: a view or pointers, then indices, values, a pad, and perhaps a mask. */
typedef struct ElemAccess { int nindex, nvalue; bool ptr, pad, store; } ElemAccess;
ElemAccess elem_access(const Op *op);
/* Is op one? Its result, and what it stores, lie as its indices and pointers do. */
static inline bool op_is_elem_access(const Op *op)
{
	return op_has(op, OPF_READ | OPF_WRITE) && op_rows[op->code].layout == LR_SAME;
}
const Type *elem_access_type(const Op *op);     /* of its elements: scalars are broadcast */

bool op_has_tile(const Op *op);                 /* among operands or results */
bool op_is_dead(const Op *op, const int *uses); /* pure, and nothing reads it; uses: by Val id */

/* The comment over an operation: its name, operands and type. `name`: of a result; `text`: of an operand that is
 * printed as a name or a number, NULL of a view, for which the nearest name of the author stands. */
typedef struct OpNames { void *g; Str (*name)(void *g, const Val *v), (*text)(void *g, const Val *v); } OpNames;
void op_comment(Out *o, const Op *op, const OpNames *names, const char *how);
#endif
