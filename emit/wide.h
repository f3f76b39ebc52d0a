/* Which dimensions of a kernel an entry may give values beyond 32 bits: the launcher checks those. */
#ifndef EMIT_WIDE_H
#define EMIT_WIDE_H
#include <stdint.h>
#include "ir/ir.h"

typedef struct WideDims WideDims;
WideDims *wide_dims_new(const Module *m);       /* one walk over all entries; in A_UNIT */
/* Bit i: dimension i may be given more than INT32_MAX, or less than 0. Dimensions from 64 on are not asked about. */
uint64_t wide_dims_of(const WideDims *w, const Fn *fn);
#endif
