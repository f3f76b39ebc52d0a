/* Copies of operations and of kernels, for passes and for what runs a kernel as a call asks. */
#ifndef IR_IR_COPY_H
#define IR_IR_COPY_H
#include "ir/ir.h"

Module *copy_module(const Module *m);           /* kernels are copied, entries shared */
Fn *copy_kernel(Fn *from);
/* The ops of `from` after the end of b->block, or before b->before; args: what stands for from's arguments. */
void copy_block(Builder *b, const IrBlock *from, Val *const *args);
/* One op of these operands, without regions; own: by id of from's results, what stands for them. */
Op *copy_op(Builder *b, const Op *from, Val *const *in, Val **own);
void copy_attrs(Op *to, const Op *from);
void forget_inside(Op *op);                     /* of an access that goes elsewhere than what was proved of it */
Builder build_before(Op *op);
Builder build_after(Op *op);
#endif
