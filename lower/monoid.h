/* Operations by which a loop, a slice or a share of a loop combines what it has so far with more. */
#ifndef LOWER_MONOID_H
#define LOWER_MONOID_H
#include "ir/ir.h"

OpCode monoid_combine(OpCode reduction);        /* of two values; a scan stands for the reduction of which it keeps every step */
OpCode monoid_reduction(OpCode combine);        /* of an axis; OP_COUNT: no reduction combines so */
/* What changes no element, its sign and its being a NaN included. nan_wins: attribute AT_NAN of the reduction. */
Num monoid_identity(OpCode reduction, Elem e, bool nan_wins);
bool monoid_idempotent(OpCode combine);         /* x, x: x */
#endif
