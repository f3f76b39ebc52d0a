/* Loops over registers: which operations work register by register, and which of them share a loop ({loop}). */
#ifndef PLACED_LOOPS_H
#define PLACED_LOOPS_H
#include "placed/placed.h"

/* register r of its result needs what register r of its operands says, or a number */
bool op_is_pointwise(const Op *op);
bool op_renames(const Op *op);                  /* its result is another name of its operand's registers */
Lay broadcast_source(const Op *op);             /* where its operand holds what each register of the result shows */
bool op_in_own_loop(const Op *op);              /* it serves several registers at once */
/* the registers of four neighbours differ in these bits; false: it holds none */
bool random_neighbours(const Val *v, int *a, int *b);
bool reduces_in_order(const Op *op);            /* one result, of a thread's registers in their order */

/* Of a kernel, by Val id. */
typedef struct Loops {
	int *loop;              /* of the operation that makes it; 0: none */
	bool *splat;            /* one number in all registers */
	bool *inside;           /* read in its loop alone: a variable of it, in no array */
} Loops;
Loops loops_of(const Fn *fn, Arena *a);         /* of {loop} */
bool *splats_of(const Fn *fn, Arena *a);
#endif
