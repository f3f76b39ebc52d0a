/* What the fuzz targets share: a target is one function that takes any bytes, run by libFuzzer (run.py) or by replay.c. */
#ifndef FUZZ_COMMON_H
#define FUZZ_COMMON_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/out.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

extern FILE *nowhere;                   /* takes what is printed for people */
void fuzz_begin(size_t n);              /* arenas once, and options of messages: their form follows from n */
void fuzz_end(void);                    /* messages are printed to nowhere, and forgotten */
Src *fuzz_source(const char *name, const uint8_t *data, size_t n);
/* Calls f. A call of exit in it only ends f: that is how the compiler refuses a command line. Status 70, an internal error, aborts. */
void fuzz_until_exit(void (*f)(void *ctx), void *ctx);
#endif
