/* Dependency files: one make rule, escaped so that GNU make, Ninja and CMake read back the same names. */
#ifndef DRIVER_DEPFILE_H
#define DRIVER_DEPFILE_H
#include <stdbool.h>
#include "base/out.h"

bool depfile_can_name(const char *path, bool target);   /* false: no spelling means this name to make and to Ninja */
/* targets: the generated program first. As they are when verbatim (they come from -MT). Phony: a rule for each
 * dependency but the first. */
void depfile_print(Out *o, int ntargets, const char *const *targets, bool verbatim, int ndeps, const char *const *deps,
	bool phony);
#endif
