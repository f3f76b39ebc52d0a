/* A quotient of small integers by a constant, such as x / 255 of the bytes of an image, by products.
 *
 * A division in f32 that rounds correctly takes some eight instructions and a branch. With r the reciprocal of the
 * divisor and s what rounding took from r, x r or x r + x s, each rounded once at its end, are the same number for
 * nearly all divisors (Brisebarre, Muller and Raina, Accelerating correctly rounded floating-point division when the
 * divisor is known in advance, IEEE Transactions on Computers 53(8), 2004). Integers of up to 16 bits are few enough
 * that all of them are tried here; where neither form gives every quotient, the division stays. */
#include <math.h>

#include "ir/fold.h"
#include "lower/placed.h"

/* r: the factor; s: of a second product, if it is not 0 */
typedef struct Factors { float r, s; } Factors;

static bool constant_f32(const Val *v, float *c)
{
	Num n;
	if (v->def && v->def->code == OP_BROADCAST) v = ir_in(v->def, 0);
	if (v->type->elem != EL_F32 || !ir_const_value(v, &n)) return false;
	*c = (float)n.f;
	return true;
}

/* The type of the integers that v is; EL_COUNT: of none. */
static Elem integers_of(const Val *v)
{
	const Op *op = v->def;
	while (op && op_has(op, OPF_FREE)) op = ir_in(op, 0)->def;
	if (!op || op->code != OP_CAST || op->out[0]->type->elem != EL_F32) return EL_COUNT;
	Elem from = ir_in(op, 0)->type->elem;
	return elem_is_int(from) && elem_bytes(from) <= 2 ? from : EL_COUNT;
}

static float product(float x, Factors f) { return f.s != 0 ? fmaf(x, f.r, x * f.s) : x * f.r; }

static bool divides(Elem of, float c, Factors f)
{
	int64_t n = (int64_t)1 << elem_bits(of), least = elem_is_signed(of) ? -n / 2 : 0;
	for (int64_t i = least; i < least + n; i++) {
		float want = (float)i / c, got = product((float)i, f);
		if (got != want || !signbit(got) != !signbit(want)) return false;
	}
	return true;
}

static bool find_factors(Elem of, float c, Factors *f)
{
	f->r = 1 / c, f->s = 0;
	if (!isfinite(c) || !isfinite(f->r)) return false;
	if (divides(of, c, *f)) return true;
	f->s = (float)(1 / (double)c - (double)f->r);
	return f->s != 0 && divides(of, c, *f);
}

bool divide_by_products(Op *div)
{
	float c;
	Factors f;
	if (div->code != OP_DIV || ir_int(div, AT_ROUNDING, 0) || ir_int(div, AT_SUBNORMALS, 0)) return false;
	Val *x = ir_in(div, 0);
	Elem of = integers_of(x);
	if (of == EL_COUNT || !constant_f32(ir_in(div, 1), &c) || !find_factors(of, c, &f)) return false;
	const Type *t = div->out[0]->type;
	Builder b = build_before(div);
	Val *r = ir_const_num(&b, t, num_float((double)f.r)), *q;
	if (f.s != 0) {
		Val *less = ir_binary(&b, OP_MUL, t, x, ir_const_num(&b, t, num_float((double)f.s)));
		q = ir_op1(&b, OP_FMA, t, 3, (Val *[]){ x, r, less });
	} else {
		q = ir_binary(&b, OP_MUL, t, x, r);
	}
	q->name = div->out[0]->name;
	ir_replace(div->out[0], q);
	ir_remove(div);
	return true;
}
