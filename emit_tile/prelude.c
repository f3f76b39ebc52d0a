/* The table of tile_prelude. */
#include "emit_tile/tile.h"

static const Snippet rows[] = {
#define SNIPPET(name, text) SNIPPET_ROW(name, text),
#include "emit_tile/prelude.def"
};
_Static_assert(sizeof rows / sizeof *rows <= SNIP_MAX, "SNIP_MAX is too small");

extern const SnipNames emit_tile_prelude_names;
const SnipTable tile_prelude = SNIP_TABLE(rows, &emit_tile_prelude_names);
