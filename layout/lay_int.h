/* Inside lay*.c: the parts of a layout. */
#ifndef LAYOUT_LAY_INT_H
#define LAYOUT_LAY_INT_H
#include "layout/f2.h"
#include "layout/lay.h"

bool lay_has_hw(Hw h);
Hw   lay_hw_of(Lay l, int i);                         /* what input bit i belongs to                     */
Lay  lay_drop_inputs(Lay l, uint32_t gone);           /* without the input bits in this packed set       */

/* The packed coordinate v of a tile shaped like `from`, as one of a tile shaped like `to`, each axis moved
 * up by skip[axis] (NULL: not at all). */
uint32_t lay_repack(const Lay *from, const Lay *to, const uint8_t skip[], uint32_t v);

int  lay_nth_axis(int naxis, const uint8_t order[], int i);     /* the i-th axis from the fastest          */

/* Whether order (may be NULL) names each axis once and the shape fits into a packed coordinate. */
bool lay_good_shape(int naxis, const uint8_t shape_log2[], const uint8_t order[]);

#endif
