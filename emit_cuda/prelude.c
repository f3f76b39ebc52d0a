/* The table of cuda_prelude. */
#include "emit_cuda/prelude.h"

#undef bool             /* rows are named after the element type `bool` */

static const Snippet rows[] = {
#define SNIPPET(name, text) SNIPPET_ROW(name, text),
#include "emit_cuda/prelude.def"
};
_Static_assert(sizeof rows / sizeof *rows <= SNIP_MAX, "SNIP_MAX is too small");

extern const SnipNames emit_cuda_prelude_names;
const SnipTable cuda_prelude = SNIP_TABLE(rows, &emit_cuda_prelude_names);
