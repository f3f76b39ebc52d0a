/* The C target: TYPED IR as portable C11, one function per kernel, one call per tile block, a loop over the grid. */
#ifndef EMIT_C_EMIT_C_H
#define EMIT_C_EMIT_C_H
#include "emit/emit.h"

/* Appends a whole .c file. m: TYPED, after the shared passes. */
void emit_c(Out *o, const Module *m, const EmitOptions *opt);
#endif
