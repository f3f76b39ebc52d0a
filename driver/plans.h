/* What --explain-schedule says of plans. */
#ifndef DRIVER_PLANS_H
#define DRIVER_PLANS_H
#include "base/out.h"
#include "lower/space.h"

void plans_print(Out *o, const Module *m, const Planned *p);
#endif
