/* Operations that Tile C++ lacks, written in those that it has. An operation whose row of ops.def calls a function of prelude.def
 * needs nothing here; this is the place of those that look at more than one element. */
#include "emit_tile/tile.h"

bool tl_written(Tg *g, const Op *op)
{
	(void)g;
	switch (op->code) {
	default: return false;
	}
}
