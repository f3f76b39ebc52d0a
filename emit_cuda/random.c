/* rand, randn and randint four at a time: numbers 4k to 4k + 3 come from one block of Philox. Where the offsets are
 * counted along the last axis from a multiple of 4 and a thread holds four neighbours that begin at one, it calls once
 * for them; where neighbours begin anywhere, for one block more than they would fill. */
#include "base/diag.h"
#include "emit_cuda/cu.h"
#include "placed/access.h"
#include "placed/loops.h"

enum { FOUR = 4, FOUR_LOG2 = 2, RUN_LOG2 = 3 /* of the neighbours that share blocks, at most */ };

static Str number(const Op *op, int i)
{
	switch (op->code) {
	case OP_RAND: return str_fmt("ct_unit_f32(ct_w.v[%d])", i);
	case OP_RANDINT: return str_fmt("ct_w.v[%d]", i);
	default: return str_fmt("ct_cvt_f32_f64(ct_normal_f64(ct_w.v[%d], ct_w.v[%d], %d))", i & 2, (i & 2) + 1, i & 1);
	}
}

static Str register_of(CuInt first, const uint8_t *bit, int run, int k)
{
	return cu_xor(first, cu_int(vector_reg(bit, run, (uint32_t)k))).text;
}

static void print_block(Cu *g, const Op *op, Str offset)
{
	cu_line(g, op);
	out_printf(g->o, "const ct_philox_out ct_w = ct_philox(%s, %s >> %d);\n", cu_scalar(g, ir_in(op, 0)), offset,
		FOUR_LOG2);
}

static void print_fours(Cu *g, const Op *op)
{
	const Val *r = op->out[0];
	int a, b;
	if (!random_neighbours(r, &a, &b)) bug("random numbers of no neighbours");
	uint8_t bit[2] = { (uint8_t)a, (uint8_t)b };
	CuInt first = cu_registers(g, *r->lay, vector_bits(bit, FOUR_LOG2));
	print_block(g, op, cu_at(g, ir_in(op, 1), first.text));
	for (int i = 0; i < FOUR; i++) {
		cu_line(g, op);
		out_printf(g->o, "%s = %s;\n", cu_at(g, r, register_of(first, bit, FOUR_LOG2, i)), number(op, i));
	}
	cu_end(g);
}

/* Of neighbours that begin anywhere, all numbers of the blocks that they touch; each takes its own by where the first
 * lies in its block. They touch the last block only where that is not at its beginning: nowhere in a tensor that
 * begins at a multiple of its vectors, whatever its length. Where offsets wrap, they do so between blocks. */
static void print_astride(Cu *g, const Op *op)
{
	const Val *r = op->out[0], *offset = ir_in(op, 1);
	uint8_t bit[LAY_BITS];
	int run = lay_run(*r->lay, r->type->rank - 1, bit);
	if (run > RUN_LOG2) run = RUN_LOG2;
	int n = 1 << run;
	CuInt first = cu_registers(g, *r->lay, vector_bits(bit, run));
	cu_line(g, op);
	out_printf(g->o, "const int ct_at = (int)%s & %d;\n", cu_at(g, offset, first.text), FOUR - 1);
	cu_line(g, op);
	out_printf(g->o, "%s ct_n[%d] = { 0 };\n", cu_type(r->type->elem), n + FOUR);
	for (int k = 0; k <= n; k += FOUR) {
		cu_line(g, op);
		out_puts(g->o, k < n ? "{\n" : "if (ct_at) {\n");
		out_in(g->o);
		print_block(g, op, cu_at(g, offset, register_of(first, bit, run, k < n ? k : n - 1)));
		for (int i = 0; i < FOUR; i++) {
			cu_line(g, op);
			out_printf(g->o, "ct_n[%d] = %s;\n", k + i, number(op, i));
		}
		cu_end(g);
	}
	for (int k = 0; k < n; k++) {
		cu_line(g, op);
		out_printf(g->o, "%s = ct_at & 2 ? ct_at & 1 ? ct_n[%d] : ct_n[%d] : ct_at & 1 ? ct_n[%d] : "
			"ct_n[%d];\n", cu_at(g, r, register_of(first, bit, run, k)), k + 3, k + 2, k + 1, k);
	}
	cu_end(g);
}

void random_print(Cu *g, const Op *op)
{
	if (ir_int(op, AT_ASTRIDE, 0)) print_astride(g, op);
	else print_fours(g, op);
}
