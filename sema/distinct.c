/* Along which axes the elements of an index tile surely differ: by arithmetic, or by a promise that is followed through
 * operations which keep different elements different. */
#include "sema/distinct.h"

#include "ir/fold.h"
#include "ir/rules.h"

enum { DEPTH = 24 };

unsigned long_axes(const Type *t)
{
	unsigned axes = 0;
	for (int i = 0; type_is_tile(t) && i < t->rank; i++)
		if (t->log2[i]) axes |= 1u << i;
	return axes;
}

static bool is_uniform(const Val *v, int depth)
{
	Num n;
	if (!type_is_tile(v->type) || !type_log2_size(v->type) || ir_const_value(v, &n)) return true;
	const Op *op = v->def;
	if (!op || !depth) return false;
	if (op->code != OP_BROADCAST && !op_has(op, OPF_ELEMWISE)) return false;
	for (int i = 0; i < op->nin; i++)
		if (!is_uniform(ir_in(op, i), depth - 1)) return false;
	return op->nin > 0;
}

/* All elements are surely equal. */
static bool val_uniform(const Val *v) { return is_uniform(v, DEPTH); }

static bool never_inside(const Val *v)         /* a negative index */
{
	Num n;
	if (v->def && v->def->code == OP_BROADCAST) v = ir_in(v->def, 0);
	return ir_const_value(v, &n) && elem_is_signed(v->type->elem) && n.i < 0;
}

/* Axes of length 1 come and go; where all elements differ, they do in any shape. */
static unsigned reshaped(const Type *from, const Type *to, unsigned axes)
{
	if (axes == long_axes(from)) return long_axes(to);
	unsigned r = 0;
	int k = 0;
	for (int i = 0; i < to->rank; i++) {
		if (!to->log2[i]) continue;
		while (k < from->rank && !from->log2[k]) k++;
		if (k == from->rank || from->log2[k] != to->log2[i]) return 0;
		if (axes >> k++ & 1) r |= 1u << i;
	}
	return r;
}

static unsigned permuted(const Op *op, unsigned axes)
{
	const IrAttr *order = ir_attr(op, AT_AXES);
	unsigned r = 0;
	for (int i = 0; order && i < order->u.ints.n; i++)
		if (axes >> order->u.ints.p[i] & 1) r |= 1u << i;
	return r;
}

static Distinct find(const Val *v, int depth);

static Distinct through(const Op *op, int operand, int depth) { return find(ir_in(op, operand), depth - 1); }

static Distinct find(const Val *v, int depth)
{
	const Distinct none = { 0 };
	const Op *op = v->def;
	Distinct d;
	Num n;
	if (!op || !depth || !type_is_tile(v->type)) return none;
	switch (op->code) {
	case OP_IOTA: return (Distinct){ long_axes(v->type), NULL };
	case OP_HINT: {
		const IrAttr *t = ir_attr(op, AT_TEXT);
		bool unique = t && t->u.s == str_intern("unique");
		return unique ? (Distinct){ long_axes(v->type), op } : through(op, 0, depth);
	}
	case OP_BROADCAST:
		d = through(op, 0, depth);
		if (d.axes) d.axes <<= v->type->rank - ir_in(op, 0)->type->rank;
		return d;
	case OP_RESHAPE:
		d = through(op, 0, depth);
		if (d.axes) d.axes = reshaped(ir_in(op, 0)->type, v->type, d.axes);
		return d.axes ? d : none;
	case OP_PERMUTE:
		d = through(op, 0, depth);
		d.axes = permuted(op, d.axes);
		return d;
	case OP_CAST: {
		Elem from = ir_in(op, 0)->type->elem;
		return elem_is_integral(from) && !rule_narrows(from, v->type->elem) ? through(op, 0, depth) : none;
	}
	case OP_ADD: case OP_SUB: case OP_XOR:
		if (val_uniform(ir_in(op, 1))) return through(op, 0, depth);
		return val_uniform(ir_in(op, 0)) ? through(op, 1, depth) : none;
	case OP_MUL:
		for (int i = 0; i < 2; i++)
			if (ir_const_value(ir_in(op, i), &n) && n.i) return through(op, 1 - i, depth);
		return none;
	case OP_SHL: return val_uniform(ir_in(op, 1)) ? through(op, 0, depth) : none;
	case OP_NEG: case OP_NOT: return through(op, 0, depth);
	case OP_SELECT:         /* one arm reaches nothing */
		if (never_inside(ir_in(op, 2))) return through(op, 1, depth);
		return never_inside(ir_in(op, 1)) ? through(op, 2, depth) : none;
	default: return none;
	}
}

Distinct distinct_of(const Val *v) { return find(v, DEPTH); }

/* ---- whether elements that differ may become equal, memory aside ---- */
static bool folds(const Val *v, int depth)
{
	const Op *op = v->def;
	if (!op || !depth || val_uniform(v)) return false;
	switch (op->code) {
	case OP_DIV: case OP_FLOORDIV: case OP_CEILDIV: case OP_REM: case OP_FLOORMOD:
	case OP_MIN: case OP_MAX: case OP_AND: case OP_OR: case OP_SHR: case OP_ABS: return true;
	case OP_SELECT: return !distinct_of(v).axes;
	default: break;
	}
	if (!op_has(op, OPF_ELEMWISE | OPF_FREE)) return false;
	for (int i = 0; i < op->nin; i++)
		if (folds(ir_in(op, i), depth - 1)) return true;
	return false;
}

bool may_fold(const Val *v) { return folds(v, DEPTH); }
