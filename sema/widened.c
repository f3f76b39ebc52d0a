/* Casts that come too late: sums, differences and products of small integers that are widened or divided when they
 * have wrapped already, and floats that become a small integer by way of a wider one, which saturates where the small
 * one wraps. And casts of what two numbers of a small type make back to that type, where it wraps. */
#include <math.h>

#include "ir/fold.h"
#include "sema/findings.h"

static bool holds(Elem e, double lo, double hi)
{
	return lo >= (double)num_least(e).i && hi <= (double)num_greatest(e).i;
}

/* The value that a tile repeats, has in another shape or as another type. */
static const Val *bare(const Val *v)
{
	for (const Op *op = v->def; op && (op->code == OP_BROADCAST || op->code == OP_RESHAPE || op->code == OP_TO_SCALAR
		|| op->code == OP_CAST || op->code == OP_HINT); op = v->def) v = ir_in(op, 0);
	return v;
}

/* Whether v is the greatest, or the least, of some numbers, and x is among these. */
static bool is_extreme(const Val *v, const Val *x, OpCode two, OpCode reduced)
{
	for (const Op *op = bare(v)->def; op && (op->code == two || op->code == reduced); op = bare(ir_in(op, 0))->def) {
		if (bare(ir_in(op, 0)) == bare(x)) return true;
		if (op->code == two) return bare(ir_in(op, 1)) == bare(x);
	}
	return false;
}

/* x - y where y is no greater whatever the numbers are: the greatest less any, any less the least, and what is left of
 * an unsigned number without some of its bits, or without a part or rest of it. */
static bool never_below(const Op *op)
{
	const Val *x = ir_in(op, 0), *y = ir_in(op, 1);
	const Op *part = bare(y)->def;
	if (is_extreme(x, y, OP_MAX, OP_REDUCE_MAX) || is_extreme(y, x, OP_MIN, OP_REDUCE_MIN)) return true;
	if (!part || part->nin != 2 || value_reach(x).lo < 0) return false;
	bool taken = part->code == OP_AND || part->code == OP_SHR || part->code == OP_DIV || part->code == OP_REM;
	return taken && (bare(ir_in(part, 0)) == bare(x) || (part->code == OP_AND && bare(ir_in(part, 1)) == bare(x)));
}

/* Whether all results of a sum, difference or product of integers are certain to be values of the type e. */
static bool surely_fits(const Op *op, Elem e)
{
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
	if (op->code == OP_SUB && never_below(op)) return holds(e, 0, x.hi);
	if (op->code == OP_SUB) return holds(e, x.lo - y.hi, x.hi - y.lo);
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

/* The arithmetic that wraps, by the word for its result; NULL for all else. */
static const char *result_word(const Op *op)
{
	switch (op->code) {
	case OP_ADD: case OP_SUM: case OP_CUMSUM: return "sum";
	case OP_SUB: return "difference";
	case OP_MUL: case OP_PROD: return "product";
	default: return NULL;
	}
}

static const char *operand_word(const Op *op)
{
	return op->code == OP_MUL || op->code == OP_PROD ? "multiplied" : op->code == OP_SUB ? "subtracted" : "added";
}

static bool with_constant(const Op *op)
{
	Num c;
	return op->nin == 2 && (ir_const_value(ir_in(op, 0), &c) || ir_const_value(ir_in(op, 1), &c));
}

/* Of a sum such as u + v + 1 the part that may wrap, and not merely because a constant is added to what may be small:
 * the outermost one. NULL: there is none. */
static const Op *wrapping_part(const Op *op)
{
	Elem e = op->out[0]->type->elem;
	const Op *part = NULL;
	if (!result_word(op)) return NULL;
	if (!with_constant(op) || op->code == OP_MUL) return surely_fits(op, e) ? NULL : op;
	for (int i = 0; i < 2 && !part; i++) {
		const Op *in = ir_in(op, i)->def;
		if (in && ir_in(op, i)->type->elem == e) part = wrapping_part(in);
	}
	return part;
}

/* (u + v) / 2 of bytes: the mean of 200 and 100 is 22. A product that is shifted may be a hash, whose low bits alone
 * are wanted. */
void halved_op(const Op *op)
{
	Num n;
	const Val *x = ir_in(op, 0);
	Elem e = op->out[0]->type->elem;
	bool shift = op->code == OP_SHR;
	while (x->def && (x->def->code == OP_TO_SCALAR || x->def->code == OP_RESHAPE)) x = ir_in(x->def, 0);
	if (!x->def || !elem_is_int(e) || e == EL_BOOL || elem_bits(e) > 16) return;
	if (ir_const_value(ir_in(op, 1), &n) && n.i < (shift ? 1 : 2)) return;
	const Op *part = wrapping_part(x->def);
	if (!part || (shift && part->code == OP_MUL)) return;
	Diag *d = diag(D_HALVED, part->span, result_word(part), elem_name(e), shift ? "shifted" : "divided");
	diag_help(d, "what is %s is cast before, by `element_cast(..., i32)`, and the %s is cast back", operand_word(part),
		shift ? "result" : "quotient");
}

/* |u - v| of signed bytes: 100 and -100 are 200 apart, which wraps to -56. (Of unsigned ones W1114 tells.) */
void apart_op(const Op *op)
{
	const Op *from = ir_in(op, 0)->def;
	Elem e = op->out[0]->type->elem;
	if (!from || from->code != OP_SUB || !elem_is_int(e) || !elem_is_signed(e) || elem_bits(e) > 16) return;
	if (with_constant(from) || surely_fits(from, e)) return;
	Diag *d = diag(D_HALVED, from->span, result_word(from), elem_name(e), "made positive");
	diag_help(d, "what is subtracted is cast before, by `element_cast(..., i32)`");
}

/* A sum, difference or product of two values of a small type goes back to it: it wraps there, as in that type. */
static void cast_back(const Op *cast, const Op *op, Elem to)
{
	if (op->code != OP_ADD && op->code != OP_SUB && op->code != OP_MUL) return;
	if (elem_bits(to) > 16 || elem_bits(to) >= elem_bits(op->out[0]->type->elem)) return;
	if (ir_attr(cast, AT_OVERFLOW) || surely_fits(op, to)) return;
	for (int i = 0; i < 2; i++) {
		Reach r = value_reach(ir_in(op, i));
		if (!holds(to, r.lo, r.hi)) return;
	}
	Diag *d = diag(D_CAST_BACK, cast->span, result_word(op), elem_name(to));
	diag_help(d, "`overflow: saturate` takes what is beyond %s to its limits; `overflow: wrap` says that the low "
		"bits are meant", elem_name(to));
}

/* The arithmetic whose result is cast to a type that would have had room for it before it wrapped; else NULL. */
static const Op *cast_late(const Val *x, Elem to)
{
	const Op *of = x->def && x->def->code == OP_TO_SCALAR ? ir_in(x->def, 0)->def : x->def;
	Elem from = x->type->elem;
	if (!of || !result_word(of) || elem_is_ptr(from) || elem_is_ptr(to) || !elem_is_int(from)) return NULL;
	bool wider = elem_is_any_float(to) || elem_bits(to) > elem_bits(from);
	return from != EL_BOOL && elem_bits(from) <= 16 && wider && to != EL_BOOL && !surely_fits(of, from) ? of : NULL;
}

bool help_cast_early(Diag *d, const Val *x, Elem to)
{
	const Op *of = cast_late(x, to);
	if (of) diag_help(d, "what is %s is cast before, by `element_cast(..., %s)`", operand_word(of), elem_name(to));
	return of != NULL;
}

void widened_op(const Op *op)
{
	const Val *x = ir_in(op, 0);
	const Op *of = x->def && x->def->code == OP_TO_SCALAR ? ir_in(x->def, 0)->def : x->def;
	Elem from = x->type->elem, to = op->out[0]->type->elem;
	if (!of || elem_is_ptr(from) || elem_is_ptr(to) || !elem_is_int(from) || from == EL_BOOL || to == EL_BOOL) return;
	narrowed(op, of, from, to);
	if (elem_is_int(to)) cast_back(op, of, to);
	of = cast_late(x, to);
	if (of) help_cast_early(diag(D_WIDENED, of->span, span_source(of->span), elem_name(from), elem_name(to)), x, to);
}
