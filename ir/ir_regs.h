/* Registers of placed tiles whose shape repeats a power of two, and of the results of wgmma. */
#ifndef IR_IR_REGS_H
#define IR_IR_REGS_H
#include "ir/ir.h"

/* The first of the adjacent registers that hold rows 64 * mi .. 64 * mi + 63 in the order of a wgmma result; -1: the
 * layout is another. */
int regs_wgmma(const Val *v, int mi);
/* where[i]: the register of x that is register i of r, a part of x that begins at offsets; false: it is in other
 * threads. */
bool regs_cut(const Val *r, const Val *x, const int64_t *offsets, int *where);
int regs_count(const Val *v);
#endif
