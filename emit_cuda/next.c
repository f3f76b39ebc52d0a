/* Tiles that a loop loads an iteration ahead (lower/prefetch.c): into words that it holds in registers. The first
 * iteration's are loaded before the loop; an iteration unpacks its words and issues the next iteration's loads, which
 * arrive while it computes and waits. Words, because nvcc would hold elements of 8 and 16 bits in a register each.
 *
 * Both loads are of iterations that will run, so bounds proved for the loop's own load hold for them. */
#include "emit_cuda/access.h"
#include "emit/names.h"

static bool is_held(const Op *op) { return op->code == OP_LOAD && ir_attr(op, AT_HELD); }

static void declare_words(Cu *g, const Op *op)
{
	const Val *r = op->out[0];
	AccessPlan p = access_plan(op, r, g->rotated != 0);
	cu_val(g, r)->name = cu_name(g, r);
	cu_val(g, r)->next = cu_fresh(g, "next");
	out_printf(g->o, "%s %s[%d];\n", words_type(elem_bytes(r->type->elem) << p.vec), cu_val(g, r)->next,
		regs_of(r) >> p.vec);
}

void next_begin(Cu *g, const Op *loop)
{
	Val *counter = loop->region[0]->args.p[0];
	Str lo = cu_scalar(g, ir_in(loop, 0)), hi = cu_scalar(g, ir_in(loop, 1));
	bool any = false;
	for (const Op *op = loop->region[0]->first; op; op = op->next) {
		if (!is_held(op)) continue;
		declare_words(g, op);
		any = true;
	}
	if (!any) return;
	out_printf(g->o, "if (%s < %s) {\n", lo, hi);
	out_in(g->o);
	cu_val(g, counter)->name = lo;
	cu_val(g, counter)->as = ir_const_value(ir_in(loop, 0), NULL) ? ir_in(loop, 0) : NULL;
	for (const Op *op = loop->region[0]->first; op; op = op->next)
		if (is_held(op)) access_load_held(g, op, cu_val(g, op->out[0])->next);
	cu_val(g, counter)->as = NULL;
	cu_end(g);
}

bool next_load(Cu *g, const Op *op)
{
	if (!is_held(op)) return false;
	const Op *loop = op->parent->owner;
	CuVal *counter = cu_val(g, loop->region[0]->args.p[0]);
	Str words = cu_val(g, op->out[0])->next, now = counter->name;
	const char *type = cu_type(loop->region[0]->args.p[0]->type->elem);
	access_take_held(g, op, words);
	out_printf(g->o, "if (%s < %s) {\n", counter->next, cu_scalar(g, ir_in(loop, 1)));
	out_in(g->o);
	counter->name = cu_fresh(g, "then");
	out_printf(g->o, "const %s %s = (%s)(%s);\n", type, counter->name, type, counter->next);
	access_load_held(g, op, words);
	cu_end(g);
	counter->name = now;
	return true;
}
