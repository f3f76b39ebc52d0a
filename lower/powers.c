/* powers: marks powers of e that are at most 1.
 *
 * `exp` in f32 takes eight instructions, two of which clamp the exponent of the result to that of a normal number.
 * Where the operand is at most 0 only one end needs a clamp, which the rounding to an integral exponent includes: seven
 * instructions (ct_exp_f32_low). Softmax and its kin are such kernels, because an element minus the maximum of its row
 * is at most 0, however the difference is rounded. A NaN may be anything. */
#include "ir/fold.h"
#include "lower/placed.h"

enum { DEPTH = 12 };            /* enough for any formula written by hand */

static bool is_constant_up_to_zero(const Val *v)
{
	Num n;
	return ir_const_value(v, &n) && n.f <= 0;
}

/* Is m, an operand of x - m, at least x, element by element? */
static bool bounds_from_above(const Val *m, const Val *x, int depth)
{
	const Op *op = m->def;
	if (m == x) return true;
	if (!op || depth == 0) return false;
	switch (op->code) {
	case OP_REDUCE_MAX: return ir_in(op, 0) == x && op->nout == 1 && m->type->rank == x->type->rank;
	case OP_MAX: return bounds_from_above(ir_in(op, 0), x, depth - 1) || bounds_from_above(ir_in(op, 1), x, depth - 1);
	case OP_SELECT:
		return bounds_from_above(ir_in(op, 1), x, depth - 1) && bounds_from_above(ir_in(op, 2), x, depth - 1);
	case OP_BROADCAST:
		return ir_in(op, 0)->type->rank == m->type->rank && bounds_from_above(ir_in(op, 0), x, depth - 1);
	default: return false;
	}
}

static bool up_to_zero(const Val *v, int depth);

static bool is_product_up_to_zero(const Val *a, const Val *b, int depth)
{
	return (up_to_zero(a, depth) && never_below_zero(b, depth)) || (never_below_zero(a, depth) && up_to_zero(b, depth));
}

static bool up_to_zero(const Val *v, int depth)
{
	const Op *op = v->def;
	if (is_constant_up_to_zero(v)) return true;
	if (!op || depth == 0) return false;
	if (op_has(op, OPF_FREE)) return up_to_zero(ir_in(op, 0), depth - 1);
	const Val *a = op->nin > 0 ? ir_in(op, 0) : NULL, *b = op->nin > 1 ? ir_in(op, 1) : NULL;
	switch (op->code) {
	case OP_NEG: return never_below_zero(a, depth - 1);
	case OP_SUB:
		return bounds_from_above(b, a, depth - 1) || (up_to_zero(a, depth - 1) && never_below_zero(b, depth - 1));
	case OP_MUL: return is_product_up_to_zero(a, b, depth - 1);
	case OP_FMA: return is_product_up_to_zero(a, b, depth - 1) && up_to_zero(ir_in(op, 2), depth - 1);
	case OP_MIN:            /* which ignores a NaN */
		return is_constant_up_to_zero(a) || is_constant_up_to_zero(b)
			|| (up_to_zero(a, depth - 1) && up_to_zero(b, depth - 1));
	case OP_ADD: case OP_MAX: return up_to_zero(a, depth - 1) && up_to_zero(b, depth - 1);
	case OP_SELECT: return up_to_zero(b, depth - 1) && up_to_zero(ir_in(op, 2), depth - 1);
	default: return false;
	}
}

void note_low_power(Op *exp) { ir_set_int(exp, AT_DOMAIN, attr_word(AT_DOMAIN, str_intern("up_to_zero"))); }

static void look_at(void *ctx, Op *op)
{
	(void)ctx;
	if (op->code != OP_EXP || op->out[0]->type->elem != EL_F32 || ir_int(op, AT_ROUNDING, 0)) return;
	if (up_to_zero(ir_in(op, 0), DEPTH)) note_low_power(op);
}

void mark_powers(Fn *fn) { ir_walk(fn->body, look_at, NULL); }

void pass_powers(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) mark_powers(m->fns.p[i]);
}
