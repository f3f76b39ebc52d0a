/* The text of one elementwise operation, from its row of ops.def: shared by the targets, whose values have the same names. */
#ifndef EMIT_OPTEXT_H
#define EMIT_OPTEXT_H
#include "ir/ir.h"

typedef struct OpDialect {
	const char *(*type)(Elem e);            /* how a value of the element type is held */
	const char *(*column)(const OpRow *r);  /* the row's template for this target; "" = ct_<name>_<elem><modes>(...) */
} OpDialect;

Str op_text(const OpDialect *d, const Op *op, const Str *arg);  /* arg: texts of the operands */
Str op_combine(const char *name, const Op *op, Elem e);         /* "ct_add_f32_rz": a function with the op's modes */
#endif
