/* The combining region of a scan or a reduction as a function, which a scan calls at every step. Two operations share a
 * function where its text is equal, lines of the source included. It is inlined. A region that uses values of its
 * kernel is printed in place. */
#include "emit_cuda/cu.h"

#include "base/diag.h"
#include "emit/lines.h"

typedef struct Combine { Str name, text; } Combine;

static VEC(Combine) made;       /* of the file that is being printed */

typedef struct Within { const IrBlock *block; bool all; } Within;

static bool is_within(const IrBlock *b, const IrBlock *outer)
{
	while (b && b != outer) b = b->owner ? b->owner->parent : NULL;
	return b != NULL;
}

static void find_outside(void *ctx, Op *op)
{
	Within *w = ctx;
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		if (!ir_const_value(v, NULL)) w->all &= is_within(v->def ? v->def->parent : v->block, w->block);
	}
}

static Str function_of(Str text)
{
	for (int i = 0; i < made.n; i++)
		if (made.p[i].text == text) return made.p[i].name;
	Combine c = { made.n ? str_fmt("ct_combine_%d", made.n + 1) : str_intern("ct_combine"), text };
	vec_push(A_UNIT, &made, c);
	return c.name;
}

static void print_function(Cu *g, const Op *op, int n)
{
	IrBlock *b = op->region[0];
	Str args[2 * TILE_RANK], yields[TILE_RANK];
	for (int i = 0; i < 2 * n; i++) args[i] = cu_name(g, b->args.p[i]);
	out_puts(g->o, "(");
	for (int i = 0; i < n; i++) out_printf(g->o, "%s *ct_r%d, ", cu_type(b->args.p[i]->type->elem), i);
	for (int i = 0; i < 2 * n; i++) {
		Elem e = b->args.p[i]->type->elem;
		out_printf(g->o, "%s%s%s", i ? ", " : "", cu_const(e), args[i]);
	}
	out_puts(g->o, ")\n{\n");
	out_in(g->o);
	control_region(g, b, args, yields);
	for (int i = 0; i < n; i++) out_printf(g->o, "*ct_r%d = %s;\n", i, yields[i]);
	out_off(g->o);
	out_puts(g->o, "}\n");
}

Str combine_function(Cu *g, const Op *op, int n)
{
	Within w = { op->region[0], true };
	ir_walk(op->region[0], find_outside, &w);
	if (!w.all) return NULL;
	Out *o = g->o, *text = out_new();
	NameSet names = g->names;
	int ntemp = g->ntemp;
	g->o = text;
	g->names = (NameSet){ 0 };
	g->ntemp = 0;
	print_function(g, op, n);
	g->o = o;
	g->names = names;
	g->ntemp = ntemp;
	return function_of(out_take(text));
}

void combine_use(SnipSet *used)
{
	for (int i = 0; i < made.n; i++) snip_use_text(used, made.p[i].text);
}

void combine_functions(Out *o, const EmitOptions *opt)
{
	if (made.n) out_puts(o, "/* What scans and reductions combine: ct_r0, ct_r1 ... become the results. */\n");
	for (int i = 0; i < made.n; i++) {
		Out *text = out_new();
		bool lines = lines_set(text, made.p[i].text, str_len(made.p[i].text), opt).any;
		out_printf(o, "CT_FN void %s%s", made.p[i].name, text->p);
		if (lines) lines_own(o, opt);
		out_free(text);
	}
	if (made.n) out_puts(o, "\n");
	made.n = 0;
}
