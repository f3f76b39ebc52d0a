/* What is known of the strides of views, in elements. */
#ifndef IR_STRIDES_H
#define IR_STRIDES_H
#include "ir/ir.h"

bool known_stride(const Fn *fn, const Val *view, int axis, int64_t *s);
bool unit_axis(const Fn *fn, const Val *view, int axis);        /* is its stride known to be 1? */
/* The parameter that a view is, perhaps permuted, and which of its axes stands at *axis; NULL: it is more than that. */
const IrParam *param_of_view(const Fn *fn, const Val *view, int *axis);
int fast_axis(const Fn *fn, const Val *view);   /* the axis whose stride is 1, else the last */
#endif
