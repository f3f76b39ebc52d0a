/* The functions that emitted C calls; see emit/snippet.h. Rows: emit_c/prelude.def. */
#ifndef EMIT_C_PRELUDE_H
#define EMIT_C_PRELUDE_H
#include "emit/snippet.h"

extern const SnipTable c_prelude;
#endif
