/* Operations that work register by register: what elem.c, point.c and chunk.c share. */
#ifndef EMIT_CUDA_ELEM_H
#define EMIT_CUDA_ELEM_H
#include "emit_cuda/cu.h"

/* A select of a loop that takes its first arm for one number of an element (placed/rare.c). made: by Val id, what the
 * loop makes of it. */
typedef struct Pick { const Op *select; const Val *numbers, *from; CuMap m; bool *made; } Pick;

/* What a loop's last value goes through at once: rounding in pairs or a reduction. NULL: neither. */
typedef struct Next { const Op *pairs, *sum; } Next;

/* A loop in chunks of registers, each with what one of its elements alone needs (no pick.select: nothing) and with what
 * is next: so few values are in registers at once. */
typedef struct CuChunks { Op *first; const Op *end; int n, each; Pick pick; Next next; } CuChunks;

/* point.c */
Str elem_text(const Op *op, const Str *arg);     /* an elementwise operation over expressions of its operands */
bool elem_is_printed(Cu *g, const Op *op);              /* its result is more than another name */
/* Does the comparison print the numbers of elements that are its first operand, instead of reading them? */
bool elem_says_numbers(Cu *g, const Op *op);
Str elem_point(Cu *g, const Op *op, CuInt reg);         /* the expression of a register of its result */
/* the statement that sets it to x; many: in a loop over ct_r */
void elem_print_point(Cu *g, const Op *op, bool many, Str x);
void elem_print_pair(Cu *g, const Op *op, CuInt pair);  /* registers 2 * pair and 2 * pair + 1 of a cast */

/* chunk.c */
int chunks_each(Cu *g, const Op *first, const Op *end);         /* registers of a chunk; 0: all at once */
CuChunks *chunks_of(Cu *g, Op *first, const Op *end, int n);    /* of the operations of a loop over n registers */
void chunks_print_one(Cu *g, const CuChunks *c);        /* the chunk that begins at register ct_k */
void chunks_print(Cu *g, const CuChunks *c);            /* all of them */
#endif
