/* Loops of which several iterations issue their loads before the first of them computes (lower/jam.c): two loops over
 * such iterations, which nvcc unrolls. The first loads, to arrays with an element for each iteration; the second does
 * the rest, and recomputes the scalars that it needs. Remaining iterations run one by one through both. */
#include "base/diag.h"
#include "emit_cuda/cu.h"

/* Arrays for what the first loop loads. */
static void declare_asked(Cu *g, const Op *first, const Op *after, int iterations)
{
	for (const Op *op = first; op != after; op = op->next) {
		const Val *v = op->out[0];
		if (op->code != OP_LOAD) continue;
		Str name = cu_name(g, v);
		int n = regs_of(v);
		if (n > 1) out_printf(g->o, "%s %s[%d][%d];\n", cu_held(v), name, iterations, n);
		else out_printf(g->o, "%s %s[%d];\n", cu_held(v), name, iterations);
		cu_val(g, v)->name = str_fmt("%s[ct_round]", name);
		cu_val(g, v)->declared = true;
	}
}

static void need(bool *needed, const Op *op)
{
	for (int i = 0; i < op->nin; i++) needed[ir_in(op, i)->id] = true;
}

/* By Val id: what the second loop uses of the scalars that the first has made. */
static bool *needed_after(Cu *g, const Op *first, const Op *after)
{
	bool *needed = NEW_ARRAY(A_TMP, bool, g->nval);
	for (const Op *op = after; op; op = op->next) need(needed, op);
	for (const Op *op = after->prev; op; op = op == first ? NULL : op->prev)
		if (op->code != OP_LOAD && needed[op->out[0]->id]) need(needed, op);
	return needed;
}

/* One of those iterations. After the first nvcc knows that all are there. */
static void begin(Cu *g, const Val *counter, int iterations, Str from, int64_t step)
{
	cu_head(g, "ct_round", 0, iterations, true);
	cu_open(g);
	out_puts(g->o, "if (ct_round > 0 && !ct_all) break;\n");
	if (!counter) return;
	const char *t = cu_type(counter->type->elem);
	cu_val(g, counter)->name = cu_name(g, counter);
	out_printf(g->o, "const %s %s = (%s)(%s + ", t, cu_scalar(g, counter), t, from);
	out_printf(g->o, step > 1 ? "ct_round * %lld);\n" : "ct_round);\n", (long long)step);
}

void jam_print(Cu *g, const Op *loop, Str from, int64_t step)
{
	IrBlock *b = loop->region[0];
	const Val *counter = b->args.p[0];
	Op *after = jam_after(loop);
	int iterations = (int)ir_int(loop, AT_JAM, 1);
	declare_asked(g, b->first, after, iterations);
	begin(g, counter, iterations, from, step);
	control_ops(g, b->first, after);
	cu_end(g);
	const bool *needed = needed_after(g, b->first, after);
	begin(g, needed[counter->id] ? counter : NULL, iterations, from, step);
	for (Op *op = b->first; op != after; op = op->next)
		if (op->code != OP_LOAD && needed[op->out[0]->id]) control_ops(g, op, op->next);
	control_ops(g, after, NULL);
	cu_end(g);
}
