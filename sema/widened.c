/* Casts that come too late: sums and products of small integers that are widened or divided when they have wrapped
 * already, and floats that become a small integer by way of a wider one, which saturates where the small one wraps. */
#include <math.h>

#include "ir/fold.h"
#include "sema/findings.h"

static bool holds(Elem e, double lo, double hi)
{
	return lo >= (double)num_least(e).i && hi <= (double)num_greatest(e).i;
}

/* Whether all results of a sum or product of small integers are certain to be values of its type. */
static bool surely_fits(const Op *op)
{
	Elem e = op->out[0]->type->elem;
	double n = 1;
	const Op *first = op;
	for (; first->code == OP_SUM && ir_in(first, 0)->def && ir_in(first, 0)->def->code == OP_SUM;
		first = ir_in(first, 0)->def) n *= (double)type_extent(ir_in(first, 0)->type, ir_axis(first));
	Reach x = value_reach(ir_in(first, 0));
	if (op->code == OP_SUM || op->code == OP_CUMSUM) {
		n *= (double)type_extent(ir_in(first, 0)->type, ir_axis(first));
		return holds(e, n * x.lo, n * x.hi);
	}
	if (op->code == OP_PROD) return holds(e, x.lo, x.hi) && x.lo >= -1 && x.hi <= 1;
	Reach y = value_reach(ir_in(op, 1));
	if (op->code == OP_ADD) return holds(e, x.lo + y.lo, x.hi + y.hi);
	double a = x.lo * y.lo, b = x.lo * y.hi, c = x.hi * y.lo, d = x.hi * y.hi;
	return holds(e, fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)));
}

static void narrowed(const Op *op, const Op *from, Elem e, Elem to)
{
	bool floats = from && from->code == OP_CAST && elem_is_any_float(ir_in(from, 0)->type->elem);
	if (!floats || !elem_is_int(e) || !elem_is_int(to) || to == EL_BOOL) return;
	if (elem_bits(to) >= elem_bits(e) || ir_attr(op, AT_OVERFLOW)) return;
	Diag *d = diag(D_NARROWED, op->span, elem_name(e), elem_name(to));
	diag_help(d, "one cast to %s takes what is beyond its range to its limits; `overflow: wrap` says that "
		"the low bits are meant", elem_name(to));
}

/* (u + v) / 2 of bytes: the mean of 200 and 100 is 22. */
void halved_op(const Op *op)
{
	Num n, c;
	const Op *sum = ir_in(op, 0)->def;
	Elem e = op->out[0]->type->elem;
	if (!sum || sum->code != OP_ADD || !elem_is_int(e) || e == EL_BOOL || elem_bits(e) > 16) return;
	if (!ir_const_value(ir_in(op, 1), &n) || n.i < (op->code == OP_SHR ? 1 : 2) || surely_fits(sum)) return;
	if (ir_const_value(ir_in(sum, 0), &c) || ir_const_value(ir_in(sum, 1), &c)) return;     /* of what may be small */
	Diag *d = diag(D_HALVED, sum->span, elem_name(e),
		op->code == OP_SHR ? "shifted" : "divided");
	diag_help(d, "what is added is cast before, by `element_cast(..., i32)`, and the quotient is cast back");
}

void widened_op(const Op *op)
{
	const Val *x = ir_in(op, 0);
	const Op *of = x->def && x->def->code == OP_TO_SCALAR ? ir_in(x->def, 0)->def : x->def;
	Elem from = x->type->elem, to = op->out[0]->type->elem;
	if (!of || elem_is_ptr(from) || elem_is_ptr(to) || !elem_is_int(from) || from == EL_BOOL || to == EL_BOOL) return;
	narrowed(op, of, from, to);
	bool wider = elem_is_any_float(to) || elem_bits(to) > elem_bits(from);
	bool sum = of->code == OP_SUM || of->code == OP_CUMSUM || of->code == OP_ADD;
	bool wraps = sum || of->code == OP_PROD || of->code == OP_MUL;
	if (elem_bits(from) > 16 || !wider || !wraps || surely_fits(of)) return;
	Diag *d = diag(D_WIDENED, of->span, span_source(of->span), elem_name(from), elem_name(to));
	diag_help(d, "what is %s is cast before, by `element_cast(..., %s)`", sum ? "added" : "multiplied", elem_name(to));
}
