/* Rows in a body of aligned vectors and ends. */
#ifndef EMIT_CUDA_PEEL_H
#define EMIT_CUDA_PEEL_H
#include "emit_cuda/cu.h"

bool peel_row(const Fn *fn, Lay l);                     /* is this the layout of a peeled row? */
void peel_phase(Cu *g, const Op *op);
/* A stretch of operations on rows is printed vector by vector: what is made of a vector takes registers only till it is
 * stored or combined ({pieces}). From `first` on; returns the first operation after them. */
Op *peel_stretch(Cu *g, Op *first);
/* cu_loop, n iterations of 2^each registers; of a peeled row those of the part. */
CuInt peel_loop(Cu *g, const char *var, int64_t n, Lay l, int each);
CuInt peel_first(const Cu *g);                          /* the first register of the part */
void peel_rest(Cu *g, const char *var);                 /* a loop over the others */
void peel_stage_init(Cu *g);                            /* for thread 0 */
void peel_load(Cu *g, const Op *op);                    /* after the declaration of its result */
void peel_store(Cu *g, const Op *op);
/* The element of a register along the row, in two parts: what the register adds, and what the thread does. */
Str peel_in_body(Lay l, CuInt reg);
Str peel_of_thread(Lay l);
Str peel_iota(const Cu *g, Lay l, CuInt reg);     /* the number of the element in a register */
Str peel_below_length(const Cu *g, Lay l, CuInt reg);     /* is it one of the row? */
Str peel_equals(const Cu *g, Lay l, CuInt reg, Str y, const char *sign); /* sign: == or != */
#endif
