/* What a thread block has for itself of a tensor that it updates, in its shared memory: cleared before the first
 * update, added to the tensor after the last. Updates of shared memory go by CUDA's functions: nvcc sees where the
 * pointer comes from, and has instructions for integers; sums of floats are compared and swapped. */
#include <string.h>

#include "emit_cuda/access.h"

/* Threads take elements in turn: ct_i. */
static void open_elements(Cu *g, const CuView *v)
{
	out_printf(g->o, "for (unsigned int ct_i = %s; ct_i < %s; ct_i += %d) {\n", cu_thread(g), v->ext[0],
		g->fn->warps * 32);
	out_in(g->o);
}

void private_open(Cu *g, const Op *op)
{
	const CuView *of = cu_val(g, ir_in(op, 0))->view;
	CuView *v = NEW(A_TMP, CuView);
	const char *type = elem_rows[of->elem].cuda;
	*v = *of;
	v->str[0] = str_intern("1");
	v->unit[0] = v->own = true;
	v->param = false;
	CuVal *r = cu_val(g, op->out[0]);
	r->view = v;
	v->base = r->name = cu_name(g, op->out[0]);
	cu_say(g, op);
	out_printf(g->o, "%s *const %s = (%s *)%s;\n", type, v->base, type,
		words_shared(str_fmt("%lld", (long long)ir_int(op, AT_SLOT, 0))));
	open_elements(g, v);
	out_printf(g->o, "%s[ct_i] = %s;\n", v->base, cu_num(of->elem, update_identity(op, of->elem)));
	cu_end(g);
	cu_sync(g);
}

/* What is subtracted adds up to what is added. */
static const char *word_of(const Op *op)
{
	const char *word = attr_word_text(AT_RMW, (int)ir_int(op, AT_RMW, 0));
	return strcmp(word, "sub") ? word : "add";
}

/* By their bits: 0 is no -0, which a sum of floats begins with. */
void private_publish(Cu *g, const Op *op)
{
	const CuView *from = cu_val(g, ir_in(op, 0))->view, *to = cu_val(g, ir_in(op, 1))->view;
	const ElemRow *e = &elem_rows[from->elem];
	Str none = cu_num(from->elem, update_identity(op, from->elem)), x = str_intern("ct_x");
	cu_say(g, op);
	open_elements(g, from);
	out_printf(g->o, "const %s ct_x = %s[ct_i];\n", e->cuda, from->base);
	cu_line(g, op);
	if (elem_is_any_float(from->elem))
		out_printf(g->o, "if (ct_bits_u%d_%s(ct_x) != ct_bits_u%d_%s(%s)) ", 8 * elem_bytes(from->elem), e->name,
			8 * elem_bytes(from->elem), e->name, none);
	else out_printf(g->o, "if (ct_x != %s) ", none);
	out_printf(g->o, "ct_atomic_%s_%s_relaxed_device(%s + %s, %s);\n", word_of(op), e->name, to->base,
		access_scaled(str_intern("(long long)ct_i"), to, 0), x);
	cu_end(g);
}
