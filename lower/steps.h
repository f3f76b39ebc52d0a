/* Versions of a kernel in several launches, with workspace (Module.steps). */
#ifndef LOWER_STEPS_H
#define LOWER_STEPS_H
#include "lower/lower.h"

bool has_steps(const Fn *fn, const LowerCx *cx);
/* What is begun so stands in cx->steps; the runner of the passes lists the steps in the module. */
Steps *steps_begin(Fn *fn, const LowerCx *cx, const Sym *guard, const Sym *gain);
void steps_add(Steps *s, Fn *step);     /* complete: numbers it */
Fn *steps_kernel(const Fn *from, const char *name);    /* without operations: FROM_NAME, with its parameters */
/* A further parameter of a step, under this name or a longer one. All steps of a kernel have the
 * same ones in the same order. */
Val *add_workspace_view(Fn *step, const char *name, Elem e, int rank, const Sym *const *extent);
Val *steps_grid_index(Builder *b, int axis);
Val *steps_block_number(Builder *b, const Fn *fn);      /* of a tile block in the kernel's grid */
Fn *steps_clear_kernel(const Module *m, Span at);
#endif
