/* Matrix products: one call, whatever the element types; f32 operands with precision tf32 are rounded to it first. */
#include "base/diag.h"
#include "emit_tile/tile.h"

static Str factor(Tg *g, const Op *op, int i)
{
	const Val *v = ir_in(op, i);
	Str x = tl_text(g, v);
	if (v->type->elem == EL_F32 && ir_int(op, AT_PRECISION, 0) == 1) return tl_cast(g, EL_TF32, EL_F32, x, NULL);
	return x;
}

void tl_mma(Tg *g, const Op *op)
{
	if (ir_int(op, AT_PRECISION, 0) > 1) {
		tl_lacks(g, op, "`mma` with `precision: tf32x3`");
		return;
	}
	tl_define(g, op->out[0], str_fmt("ct::mma(%s, %s, %s)", factor(g, op, 0), factor(g, op, 1), tl_text(g, ir_in(op, 2))));
}
