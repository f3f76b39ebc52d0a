/* The table of cuda_device. */
#include "emit_cuda/device.h"

#undef bool             /* rows are named after the element type `bool` */

static const Snippet rows[] = {
#define SNIPPET(name, text) SNIPPET_ROW(name, text),
#include "emit_cuda/prelude.def"
#include "emit_cuda/device.def"
#include "emit_cuda/group.def"
};
_Static_assert(sizeof rows / sizeof *rows <= SNIP_MAX, "SNIP_MAX is too small");

extern const SnipNames emit_cuda_device_names;
const SnipTable cuda_device = SNIP_TABLE(rows, &emit_cuda_device_names);
