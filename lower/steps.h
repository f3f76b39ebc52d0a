/* Versions of a kernel in several launches, with workspace (Fn.steps). */
#ifndef LOWER_STEPS_H
#define LOWER_STEPS_H
#include "ir/ir.h"

void steps_begin(Fn *fn, const Sym *guard, const Sym *gain);
void steps_add(Fn *fn, Fn *step);
/* A further parameter of a step, under this name or a longer one. All steps of a kernel have the
 * same ones in the same order. */
Val *add_workspace_view(Fn *step, const char *name, Elem e, int rank, const Sym *const *extent);
Val *steps_grid_index(Builder *b, int axis);
Val *steps_block_number(Builder *b, const Fn *fn);      /* of a tile block in the kernel's grid */
Fn *steps_clear_kernel(const Module *m, Span at);
#endif
