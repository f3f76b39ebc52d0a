/* Which operations share a loop over registers, and which values are variables of theirs; see loops.h. */
#include "placed/loops.h"

#include "base/diag.h"

bool op_is_pointwise(const Op *op)
{
	if (op->nout != 1 || !type_is_tile(op->out[0]->type)) return false;
	switch (op->code) {
	case OP_CONVERT_REGS: return true;
	case OP_LITERAL: return op->nin == 0;
	default: return op_has(op, OPF_POINTWISE);
	}
}

bool op_renames(const Op *op) { return op->code == OP_RESHAPE || op->code == OP_PERMUTE; }

Lay broadcast_source(const Op *op)
{
	const Val *x = ir_in(op, 0), *r = op->out[0];
	int pad = r->type->rank - x->type->rank;
	unsigned axes = 0;
	for (int a = 0; a < x->type->rank; a++)
		if (x->type->log2[a]) axes |= 1u << (pad + a);
	Lay p = lay_pick(*r->lay, ~0u, axes), c;
	for (int i = 0; i < pad; i++)
		if (!lay_squeeze(p, 0, &p)) bug("a broadcast has no layout");
	if (lay_pull(p, *x->lay, &c) > CVT_REGS) bug("a broadcast moves data between threads");
	return c;
}

bool op_in_own_loop(const Op *op)
{
	if (op->code == OP_OPAQUE) return regs_of(op->out[0]) > 1;
	return (op->code == OP_CAST || op_has(op, OPF_RANDOM)) && ir_attr(op, AT_VEC);
}

/* ---- what is in loops alone ---- */
static bool is_splat(const Op *op, const bool *splat)
{
	if (op->code == OP_CONST || (op->code == OP_BROADCAST && !type_is_tile(ir_in(op, 0)->type))) return true;
	return (op_renames(op) || op->code == OP_CONVERT_REGS || op->code == OP_BROADCAST) && splat[ir_in(op, 0)->id];
}

static void find_splat(void *splat, Op *op)
{
	if (op_is_pointwise(op)) ((bool *)splat)[op->out[0]->id] = is_splat(op, splat);
}

bool *splats_of(const Fn *fn, Arena *a)
{
	bool *splat = NEW_ARRAY(a, bool, fn->nval);
	ir_walk(fn->body, find_splat, splat);
	return splat;
}

static void start_inside(void *ctx, Op *op)
{
	Loops *l = ctx;
	if (!op_is_pointwise(op)) return;
	int id = op->out[0]->id;
	l->splat[id] = is_splat(op, l->splat);
	l->loop[id] = (int)ir_int(op, AT_LOOP, 0);
	l->inside[id] = l->loop[id] && regs_of(op->out[0]) > 1 && !op_renames(op);
}

static void count_outside(void *ctx, Op *op)
{
	Loops *l = ctx;
	int own = op->nin && op_is_pointwise(op) ? l->loop[op->out[0]->id] : 0;
	for (int i = 0; i < op->nin; i++) {
		int id = ir_in(op, i)->id;
		if (l->loop[id] && (l->loop[id] != own || op_renames(op))) l->inside[id] = false;
	}
}

Loops loops_of(const Fn *fn, Arena *a)
{
	Loops l = { NEW_ARRAY(a, int, fn->nval), NEW_ARRAY(a, bool, fn->nval), NEW_ARRAY(a, bool, fn->nval) };
	ir_walk(fn->body, start_inside, &l);
	ir_walk(fn->body, count_outside, &l);
	return l;
}

/* ---- reductions ---- */
bool reduces_in_order(const Op *op)
{
	uint32_t v[LAY_BITS];
	int n, kind = (int)ir_int(op, AT_KIND, 0);
	if (op->code != OP_REDUCE_REGS || op->nout != 1) return false;
	if (kind == KIND_CUSTOM || kind == KIND_MAX_ELEMENT || kind == KIND_MIN_ELEMENT) return false;
	Lay r = lay_reduced(*ir_in(op, 0)->lay, ir_axis(op), 1, &n, v);
	lay_sort(*ir_in(op, 0)->lay, n, v);
	for (int i = 0; i < n; i++)
		if (v[i] != 1u << i) return false;
	return !r.in[HW_REG];
}

/* The registers of four neighbours differ in bits *a and *b. */
bool random_neighbours(const Val *v, int *a, int *b)
{
	uint8_t bit[LAY_BITS];
	if (!v->type->rank || lay_run(*v->lay, v->type->rank - 1, bit) < 2 /* log2 of four */) return false;
	*a = bit[0];
	*b = bit[1];
	return true;
}
