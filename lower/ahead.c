/* ahead: loops in whose rounds threads wait for each other ask for the next round's tiles.
 *
 * In such a round nothing is loaded while partial results are exchanged, and what the next one needs would only be asked for when
 * all are done. A load whose place moves with the loop's counter gets {ahead}: how many tile indices on it will be in
 * the next round. The target asks for those lines without waiting (they come into the L2 cache), at no cost of registers. */
#include "base/diag.h"
#include "lower/placed.h"

enum { DEPTH = 8 };     /* of index expressions that are looked at */

static bool waits(const Op *op)
{
	return op->code == OP_EXCHANGE || op->code == OP_LOAD_SHARED || op->code == OP_BARRIER || scratch_bytes(op) > 0;
}

/* Is v computed outside of the loop? */
static bool stays(const Val *v, const Op *loop)
{
	const IrBlock *b = v->def ? v->def->parent : v->block;
	for (; b; b = b->owner ? b->owner->parent : NULL)
		if (b == loop->region[0]) return false;
	return true;
}

static bool is_counter(const Val *v, const Op *loop, int depth)
{
	if (v == loop->region[0]->args.p[0]) return true;
	return depth && v->def && v->def->code == OP_CAST && is_counter(ir_in(v->def, 0), loop, depth - 1);
}

static void mark(Fn *fn, const Op *loop, Op *op)
{
	const Type *t = op->out[0]->type;
	int64_t ahead[TENSOR_RANK] = { 0 };
	int rank = ir_in(op, 0)->type->rank, moving = 0;
	Num step;
	if (!ir_const_value(ir_in(loop, 2), &step) || step.i < 1 || step.i > INT32_MAX || type_log2_size(t) == 0) return;
	if (!memory_is_constant(fn, ir_in(op, 0)) || !stays(ir_in(op, 0), loop)) return;
	for (int a = 0; a < rank; a++) {
		const Val *i = ir_in(op, 1 + a);
		Num n;
		if (is_counter(i, loop, DEPTH)) ahead[a] = step.i, moving++;
		else if (!ir_const_value(i, &n) && !stays(i, loop)) return;
	}
	if (moving == 1) ir_set_ints(op, AT_AHEAD, rank, ahead);
}

static void visit(void *ctx, Op *loop)
{
	Fn *fn = ctx;
	bool exchanges = false;
	if (loop->code != OP_FOR) return;
	for (const Op *op = loop->region[0]->first; op; op = op->next) exchanges |= waits(op) && !op->nregion;
	for (Op *op = loop->region[0]->first; op && exchanges; op = op->next)
		if (op->code == OP_LOAD && !one_thread_reads(op)) mark(fn, loop, op);
}

void pass_ahead(Module *m, const LowerCx *cx)
{
	(void)cx;
	for (int i = 0; i < m->fns.n; i++) ir_walk(m->fns.p[i]->body, visit, m->fns.p[i]);
}
