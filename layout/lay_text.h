/* lay_text.h: layouts as text, to print and to read back.
 *
 * The text form gives the extents of the tile, then for each hardware coordinate the image of each of its
 * bits, bit 0 first, as coordinates in the order of the tile's axes:  [16,8]{reg:(0,1) (8,0) lane:(0,2)
 * (0,4) (1,0) (2,0) (4,0)} Hardware coordinates without bits are left out.  The bad layout prints as
 * `bad`.
 *
 * Functions that write into buf return the length of the whole text, as snprintf does: text longer than
 * n-1 is cut, and buf always ends in a zero byte if n > 0.
 */
#ifndef LAYOUT_LAY_TEXT_H
#define LAYOUT_LAY_TEXT_H

#include "layout/lay.h"

size_t lay_print(char *buf, size_t n, Lay l);

/* Reads what lay_print writes, spaces between tokens allowed.  False for anything else. */
bool   lay_read(const char *s, Lay *l);

#endif
