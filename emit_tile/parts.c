/* Which loaded tiles are taken apart: an operation that is printed with ct::extract takes them, or values made of them
 * element by element or by changes of shape.
 *
 * nvcc 13.4 turns an extract of an extract of a loaded tile into loads of fewer elements. Where the view promises
 * alignment these are vectors, as if the elements that are left were neighbours: other values, or addresses that are
 * not aligned (fault `neighbours` of tests/tile/faults.py). A view without promises is read one element at a time. */
#include "emit_tile/tile.h"

static bool takes_parts(const Op *op)
{
	if (op->code == OP_CUMSUM || op->code == OP_CUMPROD) return ir_int(op, AT_EXCLUSIVE, 0) != 0;
	return op_is(op, OPT_PARTS);
}

/* Each result takes all of a line, or of two: no load can stand for a part of it. */
static bool takes_lines(const Op *op)
{
	if (op->code == OP_MMA || op->code == OP_HISTOGRAM) return true;
	return op_has(op, OPF_REDUCE | OPF_SCAN) && !takes_parts(op);
}

/* by Val id: views; tiles; tiles of which a product is made */
typedef struct Parts { bool *apart, *seen, *factor; } Parts;

static void follow_inputs(void *ctx, Op *op);

static void follow(Parts *p, const Val *v)
{
	Op *op = v->def ? v->def : v->block->owner;
	if (!type_is_tile(v->type) || p->seen[v->id]) return;
	p->seen[v->id] = true;
	if (!op || takes_lines(op)) return;
	if (op->code == OP_LOAD) p->apart[ir_in(op, 0)->id] = true;
	follow_inputs(p, op);
	for (int i = 0; i < op->nregion; i++) ir_walk(op->region[i], follow_inputs, p);
}

static void follow_inputs(void *ctx, Op *op)
{
	for (int i = 0; i < op->nin; i++) follow(ctx, ir_in(op, i));
}

/* nvcc takes a product's factors in parts of the inner dimension: extracts, and of what was reshaped since it was
 * loaded, extracts of an extract. */
static void follow_factor(Parts *p, const Val *v)
{
	Op *op = v->def;
	if (!type_is_tile(v->type) || p->factor[v->id]) return;
	p->factor[v->id] = true;
	if (!op || op->nregion || takes_lines(op)) return;
	if (op->code == OP_RESHAPE) follow_inputs(p, op);
	else
		for (int i = 0; i < op->nin; i++) follow_factor(p, ir_in(op, i));
}

static void begin(void *ctx, Op *op)
{
	if (takes_parts(op)) follow_inputs(ctx, op);
	for (int i = 0; op->code == OP_MMA && i < 2; i++) follow_factor(ctx, ir_in(op, i));
}

bool *tl_taken_apart(const Fn *fn)
{
	Parts p = { NEW_ARRAY(A_TMP, bool, fn->nval + 1), NEW_ARRAY(A_TMP, bool, fn->nval + 1),
		NEW_ARRAY(A_TMP, bool, fn->nval + 1) };
	ir_walk(fn->body, begin, &p);
	return p.apart;
}
