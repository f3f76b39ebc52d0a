/* One text file with everything needed to run a compilation again: version, arguments, all files read so far. */
#ifndef DRIVER_REPRO_H
#define DRIVER_REPRO_H
#include "driver/options.h"

const char *repro_path(const Options *o);
bool repro_save(const Options *o, const char *message);         /* message: the internal error, or NULL */
void repro_on_bug(const Options *o);            /* from now on an internal error saves one */
#endif
