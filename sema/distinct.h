/* Along which axes the elements of an index tile surely differ. */
#ifndef SEMA_DISTINCT_H
#define SEMA_DISTINCT_H
#include "ir/ir.h"

/* Elements of a tile differ where their places differ along one of these axes. promise: the
 * assume_unique that says so. */
typedef struct Distinct { unsigned axes; const Op *promise; } Distinct;
Distinct distinct_of(const Val *v);
unsigned long_axes(const Type *t);      /* axes of more than one element */
bool may_fold(const Val *v);            /* a remainder, say, may make elements equal that differ */
#endif
