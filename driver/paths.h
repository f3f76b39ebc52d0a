/* Names of files that follow from other names, and where the installed library of .tile files lies. */
#ifndef DRIVER_PATHS_H
#define DRIVER_PATHS_H
#include <stdbool.h>

#include "base/str.h"

Str path_with_ending(const char *path, const char *ending);     /* the last ending replaced: a/k.cu, ".h" -> a/k.h */
Str path_base(const char *path);                                /* after the last slash */
bool path_is_system_header(Str base);  /* `#include <base>` means another file to C and CUDA programs */
Str path_absolute(const char *path);                            /* not resolved: the current folder put before it */
/* Beside the executable: ../share/ctilec/stdlib, ../stdlib, or ../../stdlib for other build
 * folders; NULL: in none of them. */
Str path_stdlib(void);
#endif
