/* The program that `ctilec tune` measures candidates with. */
#ifndef DRIVER_HARNESS_H
#define DRIVER_HARNESS_H
#include "base/out.h"
#include "plan/plan.h"

/* Why an entry cannot be measured, or NULL. */
const char *harness_refuses(const Entry *e);
/* Calls e with these extents from shared libraries, which it is given as arguments. header: of one of them. */
void harness_print(Out *o, const Entry *e, const Extents *x, const char *header);
#endif
