/* `ctilec tune`: measures the best plans of a file's functions on this machine's GPU. */
#ifndef DRIVER_TUNE_H
#define DRIVER_TUNE_H
#include "driver/options.h"

int tune(const Options *o);     /* the exit status */
#endif
