/* The functions that emitted CUDA calls; see emit/snippet.h. Rows: emit_cuda/prelude.def. */
#ifndef EMIT_CUDA_PRELUDE_H
#define EMIT_CUDA_PRELUDE_H
#include "emit/snippet.h"

extern const SnipTable cuda_prelude;
#endif
