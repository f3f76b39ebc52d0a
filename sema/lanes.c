/* Index tiles as one number for all elements plus a known number for each: `bid(0) * 64 + iota([64], i32) / 2`. Exact
 * or not at all; tiles of more elements than MAX_LANES are not looked at. */
#include "sema/findings.h"

#include "ir/rules.h"

enum { MAX_LANES = 4096 };

LaneSyms lanes_new(ValSyms *vs, const Fn *fn)
{
	return (LaneSyms){ vs, NEW_ARRAY(A_TMP, const Lanes *, fn->nval + 1), NEW_ARRAY(A_TMP, bool, fn->nval + 1) };
}

static Lanes *same(const Sym *base, int64_t n)
{
	Lanes *l = NEW(A_TMP, Lanes);
	*l = (Lanes){ base, NEW_ARRAY(A_TMP, int64_t, n), n };
	return l;
}

static Lanes *with(const Sym *base, int64_t n, int64_t *at)
{
	Lanes *l = NEW(A_TMP, Lanes);
	*l = (Lanes){ base, at, n };
	return l;
}

static const Lanes *of_iota(const Type *t)
{
	int64_t n = type_size(t), *at = NEW_ARRAY(A_TMP, int64_t, n);
	for (int64_t i = 0; i < n; i++) at[i] = i;
	return with(sym_const(0), n, at);
}

/* Element i of the result is which element of the source? Shapes are aligned at their last axes. */
static int64_t source_of(const Type *t, const Type *from, int64_t i)
{
	int64_t place = 0, stride = 1;
	for (int a = from->rank - 1; a >= 0; a--) {
		int axis = a + t->rank - from->rank, below = 0;
		for (int k = axis + 1; k < t->rank; k++) below += t->log2[k];
		int64_t at = i >> below & (type_extent(t, axis) - 1);
		if (from->log2[a]) place += at * stride;
		stride <<= from->log2[a];
	}
	return place;
}

static const Lanes *of_broadcast(LaneSyms *c, const Op *op)
{
	const Type *t = op->out[0]->type, *from = ir_in(op, 0)->type;
	int64_t n = type_size(t);
	if (!type_is_tile(from)) return same(valsym(c->vs, ir_in(op, 0)), n);
	const Lanes *x = lanes_of(c, ir_in(op, 0));
	if (!x) return NULL;
	int64_t *at = NEW_ARRAY(A_TMP, int64_t, n);
	for (int64_t i = 0; i < n; i++) at[i] = x->at[source_of(t, from, i)];
	return with(x->base, n, at);
}

static bool number(OpCode code, int64_t x, int64_t y, int64_t *r)
{
	bool whole = x >= 0 && y > 0;
	switch (code) {
	case OP_MIN: *r = x < y ? x : y; return true;
	case OP_MAX: *r = x > y ? x : y; return true;
	case OP_DIV: case OP_FLOORDIV: *r = whole ? x / y : 0; return whole;
	case OP_REM: case OP_FLOORMOD: *r = whole ? x % y : 0; return whole;
	case OP_CEILDIV: *r = whole ? x / y + (x % y != 0) : 0; return whole;
	case OP_AND: *r = x & y; return x >= 0 && y >= 0;
	case OP_OR: *r = x | y; return x >= 0 && y >= 0;
	case OP_XOR: *r = x ^ y; return x >= 0 && y >= 0;
	case OP_SHR: *r = x >> (y & 63); return x >= 0 && y >= 0 && y < 31;
	case OP_SHL: *r = x << (y & 31); return x >= 0 && x <= INT32_MAX && y >= 0 && y < 31;
	case OP_EQ: *r = x == y; return true;
	case OP_NE: *r = x != y; return true;
	case OP_LT: *r = x < y; return true;
	case OP_LE: *r = x <= y; return true;
	case OP_GT: *r = x > y; return true;
	case OP_GE: *r = x >= y; return true;
	default: return false;
	}
}

static const Lanes *of_binary(LaneSyms *c, const Op *op)
{
	const Lanes *x = lanes_of(c, ir_in(op, 0)), *y = x ? lanes_of(c, ir_in(op, 1)) : NULL;
	int64_t k, j;
	if (!y || x->n != y->n) return NULL;
	int64_t *at = NEW_ARRAY(A_TMP, int64_t, x->n);
	bool linear = op->code == OP_ADD || op->code == OP_SUB, over = false;
	bool xc = sym_is_const(x->base, &k), yc = sym_is_const(y->base, &j);
	const Sym *base = op->code == OP_ADD ? sym_add(x->base, y->base) : sym_sub(x->base, y->base);
	if (op->code == OP_MUL) {
		if (!yc && xc) {
			const Lanes *t = x;
			x = y;
			y = t;
			j = k;
			yc = true;
		}
		for (int64_t i = 1; i < y->n; i++) over |= y->at[i] != y->at[0];
		if (!yc || over) return NULL;
		base = sym_mul(x->base, sym_const(j + y->at[0]));
	}
	for (int64_t i = 0; i < x->n; i++) {
		if (op->code == OP_ADD) over |= __builtin_add_overflow(x->at[i], y->at[i], &at[i]);
		else if (op->code == OP_SUB) over |= __builtin_sub_overflow(x->at[i], y->at[i], &at[i]);
		else if (op->code == OP_MUL) over |= __builtin_mul_overflow(x->at[i], j + y->at[i], &at[i]);
		else if (!xc || !yc || !number(op->code, k + x->at[i], j + y->at[i], &at[i])) return NULL;
		over |= at[i] > INT32_MAX || at[i] < INT32_MIN;
	}
	if (over) return NULL;
	return with(linear || op->code == OP_MUL ? base : sym_const(0), x->n, at);
}

static const Lanes *compute(LaneSyms *c, const Val *v)
{
	const Op *op = v->def;
	Num n;
	if (!elem_is_integral(v->type->elem) || v->type->elem == EL_U64) return NULL;
	if (!type_is_tile(v->type)) return elem_is_int(v->type->elem) ? same(valsym(c->vs, v), 1) : NULL;
	if (!op || type_size(v->type) > MAX_LANES) return NULL;
	if (ir_const_value(v, &n)) return same(sym_const(n.i), type_size(v->type));
	switch (op->code) {
	case OP_IOTA: return of_iota(v->type);
	case OP_BROADCAST: return of_broadcast(c, op);
	case OP_RESHAPE: return lanes_of(c, ir_in(op, 0));
	case OP_LITERAL: {
		int64_t *at = NEW_ARRAY(A_TMP, int64_t, op->nin);
		for (int i = 0; i < op->nin; i++) {
			if (!ir_const_value(ir_in(op, i), &n)) return NULL;
			at[i] = n.i;
		}
		return with(sym_const(0), op->nin, at);
	}
	case OP_CAST: {
		Elem from = ir_in(op, 0)->type->elem;
		return elem_is_integral(from) && !rule_narrows(from, v->type->elem) ? lanes_of(c, ir_in(op, 0)) : NULL;
	}
	default: return op->nin == 2 && type_is_tile(ir_in(op, 1)->type) ? of_binary(c, op) : NULL;
	}
}

const Lanes *lanes_of(LaneSyms *c, const Val *v)
{
	if (!c->done[v->id]) {
		c->done[v->id] = true;
		c->of[v->id] = compute(c, v);
	}
	return c->of[v->id];
}
