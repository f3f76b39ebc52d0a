/* What a run writes, compared with what it reads. */
#ifndef DRIVER_OUTPUTS_H
#define DRIVER_OUTPUTS_H
#include "driver/options.h"

typedef struct Output { const char *what, *path; } Output;     /* what: "the header" */
typedef VEC(Output) OutputVec;

/* Ends with a usage error where two of them are one file, or one is a file that has been read or is to be read: the
 * input, imported files, tuning lists, response files. Links and other spellings of a path count. */
void outputs_check(const Options *o, const OutputVec *v);
bool outputs_meet_inputs(const Options *o, const char *path);
#endif
