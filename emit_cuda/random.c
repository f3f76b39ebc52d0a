/* rand, randn and randint four at a time: numbers 4k to 4k + 3 come from one block of Philox. Where the offsets are counted
 * along the last axis from a multiple of 4 and a thread holds four neighbours that begin at one, it calls once for them. */
#include "base/diag.h"
#include "emit_cuda/access.h"

enum { FOUR = 4, FOUR_LOG2 = 2, DEPTH = 16 /* of an expression of offsets; deeper ones count as unknown */ };

/* Is integer v the same along the last axis, and a multiple of 4? */
static bool is_base(const Val *v, int depth)
{
	const Op *op = v->def;
	if (!type_is_tile(v->type)) return access_multiple(v) % FOUR == 0;
	if (!op || !depth) return false;
	switch (op->code) {
	case OP_CONST: return access_multiple(v) % FOUR == 0;
	case OP_BROADCAST: {
		const Val *x = ir_in(op, 0);
		return (!x->type->rank || !x->type->log2[x->type->rank - 1]) && is_base(x, depth - 1);
	}
	case OP_ADD: case OP_SUB: return is_base(ir_in(op, 0), depth - 1) && is_base(ir_in(op, 1), depth - 1);
	default: return false;
	}
}

/* Do four neighbours along the last axis, from a multiple of 4 on, have offsets that are so too? */
static bool counts(const Val *v, int depth)
{
	const Op *op = v->def;
	if (!type_is_tile(v->type) || !v->type->rank || v->type->log2[v->type->rank - 1] < FOUR_LOG2 || !op || !depth) return false;
	switch (op->code) {
	case OP_IOTA: return true;
	case OP_BROADCAST: case OP_RESHAPE: case OP_CONVERT_REGS: return counts(ir_in(op, 0), depth - 1);
	case OP_CAST: return elem_is_int(ir_in(op, 0)->type->elem) && counts(ir_in(op, 0), depth - 1);
	case OP_ADD:
		if (counts(ir_in(op, 1), depth - 1)) return is_base(ir_in(op, 0), depth - 1);
		return counts(ir_in(op, 0), depth - 1) && is_base(ir_in(op, 1), depth - 1);
	default: return false;
	}
}

/* The registers of four neighbours differ in bits *a and *b. */
static bool neighbours(const Val *v, int *a, int *b)
{
	uint8_t bit[LAY_BITS];
	if (!v->type->rank || lay_run(*v->lay, v->type->rank - 1, bit) < FOUR_LOG2) return false;
	*a = bit[0];
	*b = bit[1];
	return true;
}

bool random_by_fours(const Cu *g, const Op *op)
{
	int a, b;
	if (op->code != OP_RAND && op->code != OP_RANDN && op->code != OP_RANDINT) return false;
	const Val *r = op->out[0];
	return !g->turned && !type_is_tile(ir_in(op, 0)->type) && type_is_tile(r->type) && neighbours(r, &a, &b)
		&& counts(ir_in(op, 1), DEPTH);
}

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
	if (!neighbours(r, &a, &b)) bug("random numbers of no neighbours");
	cu_registers(g, *r->lay, (uint32_t)1 << a | (uint32_t)1 << b);
	cu_line(g, op);
	out_printf(g->o, "const ct_philox_out ct_w = ct_philox(%s, %s >> %d);\n", cu_scalar(g, ir_in(op, 0)), cu_at(g, ir_in(op, 1), "ct_b"), FOUR_LOG2);
	for (int i = 0; i < FOUR; i++) {
		uint32_t at = (uint32_t)(i & 1) << a | (uint32_t)(i >> 1) << b;
		cu_line(g, op);
		out_printf(g->o, "%s = %s;\n", cu_at(g, r, cu_xor(str_intern("ct_b"), str_fmt("%u", (unsigned)at))), number(op, i));
	}
	cu_end(g);
}
