/* One compilation, from the input file to the files written. */
#ifndef DRIVER_COMPILE_H
#define DRIVER_COMPILE_H
#include "driver/options.h"

int compile(const Options *o);          /* the exit code */
#endif
