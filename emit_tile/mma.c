/* Matrix products: one call, whatever the element types; f32 operands with precision tf32 are rounded to it first.
 *
 * NVIDIA's compiler fails on some kernels that have a product of bytes, one of f32 or tf32 and a batched one (fault
 * `three_products` of tests/tile/faults.py). Of such kernels the products of floats without batches are each made in a
 * branch that is always taken, which it does not know: then it makes nothing of one together with another. With all
 * products in branches it fails on others for sm_100. */
#include "base/diag.h"
#include "emit_tile/tile.h"

/* ---- kernels with three kinds of products ---- */
enum { OF_BYTES = 1, OF_WORDS = 2, BATCHED = 4, ALL_KINDS = 7 };

static void find_kinds(void *ctx, Op *op)
{
	int *kinds = ctx;
	if (op->code != OP_MMA) return;
	Elem e = ir_in(op, 0)->type->elem;
	if (elem_is_integral(e)) *kinds |= OF_BYTES;
	if (e == EL_F32 || e == EL_TF32) *kinds |= OF_WORDS;
	if (op->out[0]->type->rank > 2) *kinds |= BATCHED;
}

bool tl_mixes_products(const Fn *fn)
{
	int kinds = 0;
	ir_walk(fn->body, find_kinds, &kinds);
	return kinds == ALL_KINDS;
}

static bool stands_apart(const Tg *g, const Op *op)
{
	return g->mixes_products && !elem_is_integral(ir_in(op, 0)->type->elem) && op->out[0]->type->rank == 2;
}

/* ---- one product ---- */
/* precision: tf32x3: x as hi + lo, both tf32, and lo * lo is left out. */
static Str three_products(Tg *g, const Op *op, Str acc)
{
	Str part[2][2];
	for (int i = 0; i < 2; i++) {
		Str x = tl_text(g, ir_in(op, i));
		for (int k = 0; k < 2; k++) part[i][k] = tl_temp(g, k ? "lo" : "hi");
		out_printf(g->o, "const auto %s = %s;\n", part[i][0], tl_cast(g, EL_TF32, EL_F32, x, NULL));
		out_printf(g->o, "const auto %s = ct_to_tf32(ct::sub(%s, ct::element_cast<float>(%s)));\n", part[i][1], x,
			part[i][0]);
	}
	for (int k = 2; k >= 0; k--) {          /* the smaller ones first */
		Str a = part[0][k == 2], b = part[1][k == 1];
		acc = str_fmt("ct::mma(%s, %s, %s)", a, b, acc);
	}
	return acc;
}

static Str product(Tg *g, const Op *op, Str acc)
{
	int precision = (int)ir_int(op, AT_PRECISION, 0);
	Str x[2];
	if (precision > 1) return three_products(g, op, acc);
	for (int i = 0; i < 2; i++) {
		const Val *v = ir_in(op, i);
		x[i] = tl_text(g, v);
		if (v->type->elem == EL_F32 && precision) x[i] = tl_cast(g, EL_TF32, EL_F32, x[i], NULL);
	}
	return str_fmt("ct::mma(%s, %s, %s)", x[0], x[1], acc);
}

void tl_mma(Tg *g, const Op *op)
{
	Val *v = op->out[0];
	Str acc = tl_text(g, ir_in(op, 2));
	if (!stands_apart(g, op)) {
		tl_define(g, v, product(g, op, acc));
		return;
	}
	Str name = tl_name(g, v);
	out_printf(g->o, "%s %s = %s;\n", tl_type(g, v->type), name, acc);
	Str text = product(g, op, name);
	out_printf(g->o, "if (ct_always()) %s = %s;\n", name, text);
	g->val[v->id].text = name;
}
