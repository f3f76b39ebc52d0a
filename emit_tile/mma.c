/* Matrix products: one call, whatever the element types; f32 operands with precision tf32 are rounded to it first. */
#include "base/diag.h"
#include "emit_tile/tile.h"

/* precision: tf32x3: x as hi + lo, both tf32, and lo * lo is left out. */
static void three_products(Tg *g, const Op *op)
{
	Str part[2][2];
	for (int i = 0; i < 2; i++) {
		Str x = tl_text(g, ir_in(op, i));
		for (int k = 0; k < 2; k++) part[i][k] = tl_temp(g, k ? "lo" : "hi");
		out_printf(g->o, "const auto %s = %s;\n", part[i][0], tl_cast(g, EL_TF32, EL_F32, x, NULL));
		out_printf(g->o, "const auto %s = ct_to_tf32(ct::sub(%s, ct::element_cast<float>(%s)));\n", part[i][1], x,
			part[i][0]);
	}
	Str acc = tl_text(g, ir_in(op, 2));
	for (int k = 2; k >= 0; k--) {          /* the smaller ones first */
		Str a = part[0][k == 2], b = part[1][k == 1];
		acc = str_fmt("ct::mma(%s, %s, %s)", a, b, acc);
	}
	tl_define(g, op->out[0], acc);
}

void tl_mma(Tg *g, const Op *op)
{
	int precision = (int)ir_int(op, AT_PRECISION, 0);
	Str x[2];
	if (precision > 1) {
		three_products(g, op);
		return;
	}
	for (int i = 0; i < 2; i++) {
		const Val *v = ir_in(op, i);
		x[i] = tl_text(g, v);
		if (v->type->elem == EL_F32 && precision) x[i] = tl_cast(g, EL_TF32, EL_F32, x[i], NULL);
	}
	tl_define(g, op->out[0], str_fmt("ct::mma(%s, %s, %s)", x[0], x[1], tl_text(g, ir_in(op, 2))));
}
