/* Masks that choose every element in the first iterations of a loop.
 *
 * select(col < limit, x, y), where col is iteration * n + 0 .. n - 1 along an axis, is x in each iteration for which
 * (iteration + 1) * n is at most every limit: those before the least limit / n. What a loop does after that, up to its
 * end, it does with masks. */
#include "lower/chain.h"

static bool is_iteration(const Chain *c, const Val *v)
{
	return !v->def && v->block == c->loop->region[0] && !v->index;
}

/* A scalar that is the number of the iteration times `by`. */
static bool counts_by(const Chain *c, const Val *v, int64_t by)
{
	Num n;
	if (is_iteration(c, v)) return by == 1;
	if (!v->def || v->def->code != OP_MUL) return false;
	for (int i = 0; i < 2; i++)
		if (ir_const_value(ir_in(v->def, i), &n) && n.i == by) return is_iteration(c, ir_in(v->def, 1 - i));
	return false;
}

bool chain_is_column(const Chain *c, const Val *v)
{
	const Op *op = v->def;
	if (op && op->code == OP_BROADCAST) return chain_is_column(c, ir_in(op, 0));
	if (!op || op->code != OP_ADD) return false;
	for (int i = 0; i < 2; i++) {
		const Op *from = ir_in(op, i)->def, *count = ir_in(op, 1 - i)->def;
		if (!from || !count || from->code != OP_BROADCAST || count->code != OP_IOTA) continue;
		int64_t n = INT64_C(1) << type_log2_size(count->out[0]->type);
		return type_is_scalar(ir_in(from, 0)->type) && counts_by(c, ir_in(from, 0), n);
	}
	return false;
}

static bool in_loop(const Chain *c, const Val *v, int depth)
{
	if (!v->def) return v->block == c->loop->region[0];
	if (v->def->parent != c->loop->region[0]) return false;
	if (!depth) return true;
	for (int i = 0; i < v->def->nin; i++)
		if (in_loop(c, ir_in(v->def, i), depth - 1)) return true;
	return false;
}

/* Can the least element of a loop-invariant tile be determined? */
static bool has_least(const Chain *c, const Val *v)
{
	const Op *op = v->def;
	Num n;
	if (ir_const_value(v, &n)) return true;
	if (type_is_scalar(v->type)) return !in_loop(c, v, 8);
	if (!op) return false;
	switch (op->code) {
	case OP_IOTA: return true;
	case OP_BROADCAST: return has_least(c, ir_in(op, 0));
	case OP_ADD: case OP_MIN: return has_least(c, ir_in(op, 0)) && has_least(c, ir_in(op, 1));
	default: return false;
	}
}

static bool add_limits(const Chain *c, const Val *cond, ChainMasks *m)
{
	const Op *op = cond->def;
	if (!op) return false;
	if (op->code == OP_BROADCAST) return add_limits(c, ir_in(op, 0), m);
	if (op->code == OP_AND) return add_limits(c, ir_in(op, 0), m) && add_limits(c, ir_in(op, 1), m);
	bool less = op->code == OP_LT || op->code == OP_LE, greater = op->code == OP_GT || op->code == OP_GE;
	if (!less && !greater) return false;
	Val *col = ir_in(op, less ? 0 : 1), *limit = ir_in(op, less ? 1 : 0);
	if (limit->type->elem != EL_I32 || m->limits == CHAIN_LIMITS) return false;
	if (!chain_is_column(c, col) || !has_least(c, limit)) return false;
	const Op *add = col->def;
	while (add->code == OP_BROADCAST) add = ir_in(add, 0)->def;
	m->columns[m->limits] = INT64_C(1) << type_log2_size(add->out[0]->type);
	m->limit[m->limits++] = limit;
	return true;
}

ChainMasks chain_masks(const Chain *c)
{
	ChainMasks m = { 0 };
	const IrBlock *b = c->loop->region[0];
	for (Op *op = b->first; op != b->last; op = op->next) {
		int before = m.limits;
		if (op->code != OP_SELECT || !type_is_tile(op->out[0]->type) || m.masks == CHAIN_LIMITS) continue;
		if (add_limits(c, ir_in(op, 0), &m)) m.mask[m.masks++] = op;
		else m.limits = before;
	}
	return m;
}
