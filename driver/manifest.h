/* --emit=manifest: what a binding generator needs to know about a module, as JSON. */
#ifndef DRIVER_MANIFEST_H
#define DRIVER_MANIFEST_H
#include "base/out.h"
#include "ir/ir.h"

void manifest_print(Out *o, const Module *m);
#endif
