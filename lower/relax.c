/* relax: an f32 quotient or power of e whose every use ends in rounding to f16 or bf16 need not be rounded correctly itself. A
 * quotient takes the form of `rounding: full` (at most 2 ulp, 2^-22 relative), whose reciprocal of a divisor that a whole row shares is
 * computed once; `exp`, marked by the same word, takes three instructions instead of eight (at most 2^-16 relative where the result
 * is above 0). Between it and the rounding stand only operations that keep a relative error as small as it is: products, quotients,
 * roots, changes of sign and of place, a choice, and sums of what is never negative (nothing cancels there).
 *
 * One walk from the end to the beginning: when an operation is reached, all uses of its result have been seen. What leaves a
 * region counts as used exactly. */
#include "base/diag.h"
#include "lower/placed.h"

typedef VEC(Op *) Ops;

typedef struct Relax {
	bool *exact;            /* by Val id: some use needs all digits */
	Ops ops;
} Relax;

static void collect(void *ctx, Op *op)
{
	Relax *r = ctx;
	vec_push(A_TMP, &r->ops, op);
}

static bool is_f32(const Val *v) { return (v->type->kind == TY_TILE || v->type->kind == TY_SCALAR) && v->type->elem == EL_F32; }

/* Is v, unless it is a NaN, at least 0 (or -0)? */
static bool never_below_zero(const Val *v, int depth)
{
	const Op *op = v->def;
	Num n;
	if (!op || depth == 0) return false;
	if (ir_const_value(v, &n)) return is_f32(v) && n.f >= 0;
	switch (op->code) {
	case OP_EXP: case OP_EXP2: case OP_ABS: case OP_SQRT: case OP_RSQRT: return true;
	case OP_MUL:
		if (ir_in(op, 0) == ir_in(op, 1)) return true;
		break;
	case OP_ADD: case OP_DIV: case OP_MAX: case OP_MIN: break;
	case OP_BROADCAST: case OP_RESHAPE: case OP_PERMUTE: case OP_SUM: return never_below_zero(ir_in(op, 0), depth - 1);
	case OP_SELECT: return never_below_zero(ir_in(op, 1), depth - 1) && never_below_zero(ir_in(op, 2), depth - 1);
	default: return false;
	}
	return never_below_zero(ir_in(op, 0), depth - 1) && never_below_zero(ir_in(op, 1), depth - 1);
}

enum { DEPTH = 12 };            /* of the question above: enough for any formula written by hand */

/* Does op hand a small relative error of its operands on as it is? */
static bool keeps_error(const Op *op)
{
	switch (op->code) {
	case OP_MUL: case OP_DIV: case OP_NEG: case OP_ABS: case OP_SQRT: case OP_RSQRT: case OP_SELECT:
	case OP_BROADCAST: case OP_RESHAPE: case OP_PERMUTE: return true;
	case OP_ADD: return never_below_zero(ir_in(op, 0), DEPTH) && never_below_zero(ir_in(op, 1), DEPTH);
	case OP_SUM: return never_below_zero(ir_in(op, 0), DEPTH);
	default: return false;
	}
}

static bool rounds_to_16_bits(const Op *op)
{
	if (op->code != OP_CAST || ir_int(op, AT_ROUNDING, 0)) return false;
	Elem to = op->out[0]->type->elem;
	return (to == EL_F16 || to == EL_BF16) && is_f32(ir_in(op, 0));
}

static void visit(Relax *r, Op *op)
{
	bool loose = rounds_to_16_bits(op);
	if (op->nout == 1 && is_f32(op->out[0]) && !r->exact[op->out[0]->id]) {
		loose = loose || keeps_error(op);
		if ((op->code == OP_DIV || op->code == OP_EXP) && !ir_int(op, AT_ROUNDING, 0) && !ir_int(op, AT_SUBNORMALS, 0))
			ir_set_int(op, AT_ROUNDING, attr_word(AT_ROUNDING, str_intern("full")));
	}
	if (loose) return;
	for (int i = 0; i < op->nin; i++) r->exact[ir_in(op, i)->id] = true;
}

void pass_relax(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) {
		Fn *fn = m->fns.p[i];
		Relax r = { 0 };
		ir_number(fn);
		r.exact = NEW_ARRAY(A_TMP, bool, fn->nval);
		ir_walk(fn->body, collect, &r);
		for (int k = r.ops.n - 1; k >= 0; k--) visit(&r, r.ops.p[k]);
	}
}
