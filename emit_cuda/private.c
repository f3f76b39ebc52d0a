/* A thread block's private copy of a tensor that it updates, in shared memory: cleared before the first update, added
 * to the tensor after the last. Updates of shared memory call CUDA's functions: nvcc sees the address space, and has
 * instructions for integers of 32 bits; others are compared and swapped. Each element has a power of two of adjacent
 * copies, of which a thread updates the one of its number, so that lanes access different banks. */
#include <string.h>

#include "emit_cuda/access.h"
#include "ir/monoid.h"

typedef struct Own {
	Cu *g;
	const CuView *of;       /* the tensor */
	bool once;              /* there is one copy */
	Str all, log2;          /* pointer to the first element; log2 of the copies */
} Own;

static Own own_of(Cu *g, const Op *private, Str name)
{
	Num n;
	bool once = ir_const_value(ir_in(private, 1), &n) && n.i == 1;
	return (Own){ g, cu_val(g, ir_in(private, 0))->view, once, str_fmt("%s%s", once ? "" : "ct_all_", name),
		str_fmt("ct_log2_%s", name) };
}

/* Threads take elements round robin: ct_i. */
static void open_elements(const Own *w, Str count)
{
	out_printf(w->g->o, "for (unsigned int ct_i = %s; ct_i < %s; ct_i += %d) {\n", cu_thread(w->g), count,
		w->g->fn->warps * 32);
	out_in(w->g->o);
}

static void print_copies(const Own *w, const Op *op, Str name, const char *type)
{
	Str copies = cu_at(w->g, ir_in(op, 1), "0");
	out_printf(w->g->o, "const int %s = 31 - (int)ct_clz_u32((unsigned int)%s);\n", w->log2, copies);
	out_printf(w->g->o, "%s *const %s = %s + (%s & ((1 << %s) - 1));\n", type, name, w->all, cu_thread(w->g), w->log2);
}

void private_open(Cu *g, const Op *op)
{
	Str name = cu_name(g, op->out[0]);
	Own w = own_of(g, op, name);
	CuView *v = NEW(A_TMP, CuView);
	const char *type = elem_rows[w.of->elem].cuda;
	*v = *w.of;
	v->str[0] = w.once ? str_intern("1") : str_fmt("(1 << %s)", w.log2);
	v->unit[0] = w.once;
	v->own = true;
	v->param = false;
	CuVal *r = cu_val(g, op->out[0]);
	r->view = v;
	v->base = r->name = name;
	cu_say(g, op);
	out_printf(g->o, "%s *const %s = (%s *)%s;\n", type, w.all, type,
		words_shared(cu_int(ir_int(op, AT_SLOT, 0))));
	if (!w.once) print_copies(&w, op, name, type);
	open_elements(&w, w.once ? v->ext[0] : str_fmt("%s << %s", v->ext[0], w.log2));
	out_printf(g->o, "%s[ct_i] = %s;\n", w.all, cu_num(v->elem, update_identity(op, v->elem)));
	cu_end(g);
	cu_sync(g);
}

/* The second half of each element's copies is added to the first until there is one. */
static void join_copies(const Own *w, const Op *op)
{
	Cu *g = w->g;
	Elem e = w->of->elem;
	int kind = monoid_kind(monoid_reduction(update_combine(op)));
	out_printf(g->o, "for (int ct_c = %s - 1; ct_c >= 0; ct_c--) {\n", w->log2);
	out_in(g->o);
	open_elements(w, str_fmt("%s << ct_c", w->of->ext[0]));
	out_printf(g->o, "%s *const ct_x = %s + ((ct_i >> ct_c << %s) + (ct_i & ((1 << ct_c) - 1)));\n", elem_rows[e].cuda,
		w->all, w->log2);
	out_printf(g->o, "*ct_x = %s;\n", elem_combine(op, kind, e, str_intern("*ct_x"), str_intern("ct_x[1 << ct_c]")));
	cu_end(g);
	cu_sync(g);
	cu_end(g);
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
	Own w = own_of(g, ir_in(op, 0)->def, from->base);
	const ElemRow *e = &elem_rows[from->elem];
	Str none = cu_num(from->elem, update_identity(op, from->elem)), x = str_intern("ct_x");
	cu_say(g, op);
	if (!w.once) join_copies(&w, op);
	open_elements(&w, from->ext[0]);
	out_printf(g->o, "const %s ct_x = %s[%s];\n", e->cuda, w.all, w.once ? "ct_i" : str_fmt("ct_i << %s", w.log2));
	cu_line(g, op);
	if (elem_is_any_float(from->elem))
		out_printf(g->o, "if (ct_bits_u%d_%s(ct_x) != ct_bits_u%d_%s(%s)) ", 8 * elem_bytes(from->elem), e->name,
			8 * elem_bytes(from->elem), e->name, none);
	else out_printf(g->o, "if (ct_x != %s) ", none);
	out_printf(g->o, "ct_atomic_%s_%s_relaxed_device(%s + %s, %s);\n", word_of(op), e->name, to->base,
		access_scaled(str_intern("(long long)ct_i"), to, 0), x);
	cu_end(g);
}
