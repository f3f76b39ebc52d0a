/* What tiles hold beyond the end of their tensors: beyond.h. */
#include "lower/beyond.h"

#include <math.h>

#include "base/diag.h"
#include "ir/fold.h"
#include "placed/placed.h"

enum { DEPTH = 32 };

/* A number that the launcher can compute from those of the call; NULL: v is none. */
static const Sym *known_at_launch(Beyonds *b, const Val *v)
{
	while (v->def && v->def->code == OP_BROADCAST) v = ir_in(v->def, 0);
	if (!b->syms || type_is_tile(v->type) || !elem_is_int(v->type->elem)) return NULL;
	const Sym *s = valsym(b->syms, v);
	return sym_is_of_call(s) ? s : NULL;
}

/* Comparison of an element's number with a place within the row, or with a length. */
static bool of_compare(Beyonds *b, const Op *op, Beyond *r)
{
	OpCode code = op->code;
	if (code == OP_EQ || code == OP_NE) {
		bool counts = beyond_end(b, ir_in(op, 0)).kind == BEYOND_COUNTS;
		const Sym *at = known_at_launch(b, ir_in(op, counts ? 1 : 0));
		if (!at || beyond_end(b, ir_in(op, counts ? 0 : 1)).kind != BEYOND_COUNTS) return false;
		if (!b->ends(b->of, sym_add(at, sym_const(1)))) return false;
		*r = (Beyond){ .kind = BEYOND_NUMBER, .n = num_int(code == OP_NE) };
		return true;
	}
	if (!op_compares(code)) return false;
	bool first = beyond_end(b, ir_in(op, 0)).kind == BEYOND_COUNTS;
	const Val *with = ir_in(op, first ? 1 : 0);
	const Sym *s = launched_sym(with);
	if (beyond_end(b, ir_in(op, first ? 0 : 1)).kind != BEYOND_COUNTS) return false;
	if (s && (first ? code == OP_LT || code == OP_GE : code == OP_GT || code == OP_LE) && b->ends(b->of, s)) {
		*r = (Beyond){ .kind = BEYOND_NUMBER, .n = num_int(first ? code == OP_GE : code == OP_LE) };
		return true;
	}
	bool below = first ? code == OP_LT || code == OP_LE : code == OP_GT || code == OP_GE;
	BeyondKind than = beyond_end(b, with).kind;
	if (!below || (than != BEYOND_SAME && than != BEYOND_NUMBER)) return false;
	*r = (Beyond){ .kind = BEYOND_FIRST };
	return true;
}

static bool is_float_zero(Elem e, Beyond b) { return b.kind == BEYOND_NUMBER && elem_is_any_float(e) && b.n.f == 0; }

bool beyond_is_least(Elem e, Beyond b)
{
	return b.kind == BEYOND_NUMBER && elem_is_any_float(e) && isinf(b.n.f) && b.n.f < 0;
}

bool beyond_is_number(Beyond x) { return x.kind == BEYOND_NUMBER && !x.or_else && !x.first; }

bool beyond_is_shape(const Op *op)
{
	return op && (op->code == OP_BROADCAST || op->code == OP_RESHAPE || op->code == OP_TO_SCALAR);
}

const Val *beyond_shaped(const Val *v)
{
	while (beyond_is_shape(v->def)) v = ir_in(v->def, 0);
	return v;
}

/* Is y, the same everywhere, the greatest of a row of which x is the elements? */
bool beyond_is_greatest_of(const Val *y, const Val *x)
{
	const Op *max = beyond_shaped(y)->def;
	return max && max->code == OP_REDUCE_MAX && beyond_shaped(ir_in(max, 0)) == beyond_shaped(x);
}

/* A zero times any number, or divided by one: 0 or NaN. */
static Beyond of_zero(Beyond zero)
{
	bool nan = !zero.or_else || zero.nan;
	return (Beyond){ .kind = BEYOND_NUMBER, .n = num_float(0), .or_else = true, .nan = nan };
}

/* Operations of which one operand decides, whatever number the other is, the same everywhere: but for NaN and
 * infinities. What lies below the greatest of its row by infinity is NaN only where that is -inf or NaN: then so is
 * what each element lies below it. What holds at first places alone is followed through what a softmax does: that
 * others are greater or NaN while the first are not is excluded by the greatest of the row. SAME: of others. */
static Beyond of_absorbing(const Op *op, const Beyond *in)
{
	const Beyond least = { .kind = BEYOND_NUMBER, .n = num_float(-INFINITY), .or_else = true };
	const Beyond zero = { .kind = BEYOND_NUMBER, .n = num_float(0), .or_else = true };
	Beyond r = { .kind = in[0].first || in[1].first ? BEYOND_DIFFERS : BEYOND_SAME };
	Elem e = ir_in(op, 0)->type->elem, to = op->out[0]->type->elem;
	switch (op->code) {
	case OP_SUB:
		if (!beyond_is_least(e, in[0])) return r;
		if (in[0].first && !beyond_is_greatest_of(ir_in(op, 1), ir_in(op, 0))) return r;
		r = least;
		r.first = in[0].first;
		r.as_row = !in[0].or_else && beyond_is_greatest_of(ir_in(op, 1), ir_in(op, 0));
		return r;
	case OP_EXP: case OP_EXP2:
		if (!beyond_is_least(e, in[0])) return r;
		r = zero;
		r.or_else = in[0].or_else;
		r.as_row = in[0].as_row;
		r.first = in[0].first;
		return r;
	case OP_ADD:
		return r.kind == BEYOND_SAME && (beyond_is_least(e, in[0]) || beyond_is_least(e, in[1])) ? least : r;
	case OP_MUL: case OP_DIV:
		if (r.kind == BEYOND_DIFFERS) return r;
		if (is_float_zero(e, in[0])) return of_zero(in[0]);
		if (op->code == OP_MUL && is_float_zero(e, in[1])) return of_zero(in[1]);
		return beyond_is_least(e, in[0]) || (op->code == OP_MUL && beyond_is_least(e, in[1])) ? least : r;
	case OP_ABS: case OP_NEG:
		return is_float_zero(e, in[0]) && !in[0].first ? in[0] : r;
	case OP_CAST:
		if (in[0].kind != BEYOND_NUMBER || !elem_is_any_float(e) || !elem_is_any_float(to) || in[0].first) return r;
		if (in[0].or_else && (to == EL_F8E4M3 || to == EL_F8E5M2 || ir_int(op, AT_OVERFLOW, 0))) return r;
		r = in[0];
		r.n = fold_cast(in[0].n, e, to, fold_modes(op));
		return r;
	default: return r;
	}
}

static Beyond of_elementwise(Beyonds *b, const Op *op)
{
	Beyond in[8] = { { .kind = BEYOND_SAME } }, r = { .kind = BEYOND_SAME };
	Num n[8];
	bool numbers = true, same = true, first = false;
	if (op->nin > 8) return (Beyond){ .kind = BEYOND_DIFFERS };
	for (int i = 0; i < op->nin; i++) {
		in[i] = beyond_end(b, ir_in(op, i));
		n[i] = in[i].n;
		numbers &= in[i].kind == BEYOND_NUMBER && !in[i].or_else;
		same &= in[i].kind == BEYOND_SAME || in[i].kind == BEYOND_NUMBER;
		first |= in[i].first;
	}
	if (op->code == OP_SELECT && in[0].kind == BEYOND_NUMBER && !in[0].or_else)
		return in[num_is_true(EL_BOOL, in[0].n) ? 1 : 2];
	if (op->code == OP_SELECT && in[0].kind == BEYOND_FIRST && in[1].kind == BEYOND_NUMBER
		&& in[2].kind == BEYOND_NUMBER && !first && !in[2].or_else
		&& num_same(op->out[0]->type->elem, in[1].n, in[2].n)) {
		r = in[1];
		r.first = r.or_else;
		return r;
	}
	if (of_compare(b, op, &r)) return r;
	if (same) r = of_absorbing(op, in);
	if (numbers && fold_is_exact(op->code)
		&& fold_op(op->code, fold_modes(op), ir_in(op, op->code == OP_SELECT)->type->elem, op->out[0]->type->elem,
		op->nin, n, &r.n)) r = (Beyond){ .kind = BEYOND_NUMBER, .n = r.n };
	return same ? r : (Beyond){ .kind = BEYOND_DIFFERS };
}

/* Numbers of places, of a type that tells those of the tile apart. */
static bool counts_places(Beyonds *b, const Op *op)
{
	const Type *t = op->out[0]->type;
	if (op->code != OP_IOTA && (op->code != OP_CAST || beyond_end(b, ir_in(op, 0)).kind != BEYOND_COUNTS)) return false;
	return !elem_is_any_float(t->elem) && type_log2_size(t) < 8 * elem_bytes(t->elem) - 1;
}

static Beyond of_op(Beyonds *b, const Op *op)
{
	if (op->code == OP_LOAD) return beyond_end(b, ir_in(op, op->nin - 1));
	if (counts_places(b, op)) return (Beyond){ .kind = BEYOND_COUNTS };
	if (op_has(op, OPF_FREE)) return beyond_end(b, ir_in(op, 0));
	return op_has(op, OPF_ELEMWISE) ? of_elementwise(b, op) : (Beyond){ .kind = BEYOND_DIFFERS };
}

Beyond beyond_end(Beyonds *b, const Val *v)
{
	Num n;
	if (elem_is_ptr(v->type->elem)) return (Beyond){ .kind = BEYOND_DIFFERS };
	if (ir_const_value(v, &n)) return (Beyond){ .kind = BEYOND_NUMBER, .n = n };
	if (!b->has_places(b->of, v)) return (Beyond){ .kind = BEYOND_SAME };
	if (b->at[v->id].kind != BEYOND_UNKNOWN) return b->at[v->id];
	if (!v->def || b->depth == DEPTH) return (Beyond){ .kind = BEYOND_DIFFERS };
	b->depth++;
	b->at[v->id] = of_op(b, v->def);
	b->depth--;
	return b->at[v->id];
}
