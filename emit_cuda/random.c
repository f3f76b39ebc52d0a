/* rand, randn and randint four at a time: numbers 4k to 4k + 3 come from one block of Philox. Where the offsets are
 * counted along the last axis from a multiple of 4 and a thread holds four neighbours that begin at
 * one, it calls once for them. */
#include "base/diag.h"
#include "emit_cuda/cu.h"
#include "placed/loops.h"

enum { FOUR = 4, FOUR_LOG2 = 2 };

static Str number(const Op *op, int i)
{
	switch (op->code) {
	case OP_RAND: return str_fmt("ct_unit_f32(ct_w.v[%d])", i);
	case OP_RANDINT: return str_fmt("ct_w.v[%d]", i);
	default: return str_fmt("ct_cvt_f32_f64(ct_normal_f64(ct_w.v[%d], ct_w.v[%d], %d))", i & 2, (i & 2) + 1, i & 1);
	}
}

void random_print(Cu *g, const Op *op)
{
	const Val *r = op->out[0];
	int a, b;
	if (!random_neighbours(r, &a, &b)) bug("random numbers of no neighbours");
	cu_registers(g, *r->lay, (uint32_t)1 << a | (uint32_t)1 << b);
	cu_line(g, op);
	out_printf(g->o, "const ct_philox_out ct_w = ct_philox(%s, %s >> %d);\n", cu_scalar(g, ir_in(op, 0)),
		cu_at(g, ir_in(op, 1), "ct_b"), FOUR_LOG2);
	for (int i = 0; i < FOUR; i++) {
		uint32_t at = (uint32_t)(i & 1) << a | (uint32_t)(i >> 1) << b;
		cu_line(g, op);
		out_printf(g->o, "%s = %s;\n", cu_at(g, r, cu_xor(str_intern("ct_b"), str_fmt("%u", (unsigned)at))),
			number(op, i));
	}
	cu_end(g);
}
