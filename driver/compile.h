/* One compilation, from the input file to the files written. */
#ifndef DRIVER_COMPILE_H
#define DRIVER_COMPILE_H
#include "driver/options.h"
#include "lower/space.h"

/* What `ctilec tune` needs of a file: the program, checked, with the functions that options ask for; then the plans of
 * its kernels for an architecture. NULL, false: it was reported why not. */
Module *compile_read(const Options *o);
bool compile_plans(const Options *o, Module *m, Planned *p);
int compile(const Options *o);          /* the exit code */
#endif
