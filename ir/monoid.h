/* Operations by which a reduction, a scan, a loop or a share of one combines what it has so far
 * with more: the one table of them. */
#ifndef IR_MONOID_H
#define IR_MONOID_H
#include "ir/ir.h"

int monoid_kind(OpCode code);  /* KIND_* of a reduction or a scan; KIND_CUSTOM: its own region combines */
OpCode monoid_of_kind(int kind);                /* what combines two values; OP_COUNT: no operation does */
/* of two values; a scan stands for the reduction of which it keeps every step */
OpCode monoid_combine(OpCode reduction);
OpCode monoid_reduction(OpCode combine);        /* of an axis; OP_COUNT: no reduction combines so */
/* What changes no element, its sign and its being a NaN included. nan_wins: attribute AT_NAN of the reduction. */
Num monoid_identity(OpCode reduction, Elem e, bool nan_wins);
Num monoid_begin(OpCode reduction, Elem e);     /* the result over no element: what an exclusive scan begins with */
bool monoid_idempotent(OpCode combine);         /* x, x: x */
#endif
