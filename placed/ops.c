/* Kinds of operations. */
#include <string.h>

#include "placed/placed.h"

bool op_sums_products(const Op *op) { return op->code == OP_REDUCE_REGS && op->nin == 2 && op->nout == 1; }

bool op_loads_one(const Op *op) { return op->code == OP_LOAD && type_log2_size(op->out[0]->type) == 0; }

bool same_scalar(const Val *x, const Val *y)
{
	Num m, n;
	if (x == y) return true;
	return x->type == y->type && ir_const_value(x, &m) && ir_const_value(y, &n) && m.i == n.i
		&& !memcmp(&m.f, &n.f, sizeof m.f);
}

static int64_t number_at(const Op *op, AttrKey key, int axis, int64_t dflt)
{
	const IrAttr *a = ir_attr(op, key);
	return a ? a->u.ints.p[axis] : dflt;
}

bool same_elements(const Op *load, const Op *store)
{
	const Val *view = ir_in(load, 0), *x = ir_accessed(load), *y = ir_accessed(store);
	if (!x || !y || view != ir_in(store, 0) || !type_same_shape(x->type, y->type)) return false;
	for (int a = 0; a < view->type->rank; a++) {
		if (!same_scalar(ir_in(load, 1 + a), ir_in(store, 1 + a))) return false;
		if (number_at(load, AT_STEPS, a, 1) != number_at(store, AT_STEPS, a, 1)) return false;
		if (number_at(load, AT_OFFSETS, a, 0) != number_at(store, AT_OFFSETS, a, 0)) return false;
	}
	return true;
}

int exchange_slot(Elem e) { return elem_bytes(e) < 4 ? 4 : elem_bytes(e); }

Op *shared_source(const Val *v, int axis[TILE_RANK])
{
	for (int a = 0; a < TILE_RANK; a++) axis[a] = a;
	for (; v->def && v->def->code == OP_PERMUTE; v = ir_in(v->def, 0)) {
		const int64_t *from = ir_attr(v->def, AT_AXES)->u.ints.p;
		for (int a = 0; a < v->type->rank; a++) axis[a] = (int)from[axis[a]];
	}
	return v->def && v->def->code == OP_LOAD_SHARED ? v->def : NULL;
}

bool is_straight_line(const IrBlock *block)
{
	for (const Op *op = block->first; op; op = op->next)
		if (op->nregion || op->code == OP_MMA || op->code == OP_MMA_SYNC || op->code == OP_SORT || op->code == OP_TOPK
			|| op->code == OP_HISTOGRAM || op_has(op, OPF_SCAN | OPF_GROUP)) return false;
	return true;
}

bool jam_asks(const Op *op)
{
	return op->code == OP_LOAD && type_is_tile(op->out[0]->type) && type_log2_size(op->out[0]->type) > 0;
}

Op *jam_after(const Op *loop)
{
	Op *op = loop->region[0]->first;
	while (jam_asks(op) || (op->nout == 1 && op_has(op, OPF_PURE) && type_is_scalar(op->out[0]->type)))
		op = op->next;
	return op;
}
