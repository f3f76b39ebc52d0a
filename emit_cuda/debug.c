/* print, assert, check. A tile is printed by one thread, in row order, through shared memory. */
#include <string.h>

#include "base/diag.h"
#include "emit/names.h"
#include "emit_cuda/cu.h"

static void print_number(Cu *g, Elem e, Str x)
{
	char name[64];
	if (elem_is_ptr(e)) {
		out_printf(g->o, "printf(\"%%p\", (const void *)%s);\n", x);
	} else if (elem_is_any_float(e)) {
		if (e != EL_F64 && !snip_cvt(name, sizeof name, "f64", elem_rows[e].name, NULL, NULL))
			bug("no conversion to print");
		out_printf(g->o, "printf(\"%%g\", %s);\n", e == EL_F64 ? x : str_fmt("%s(%s)", name, x));
	} else if (e == EL_BOOL) {
		out_printf(g->o, "printf(\"%%s\", %s ? \"true\" : \"false\");\n", x);
	} else if (elem_is_signed(e)) {
		out_printf(g->o, "printf(\"%%lld\", (long long)%s);\n", x);
	} else {
		out_printf(g->o, "printf(\"%%llu\", (unsigned long long)%s);\n", x);
	}
}

static const char only_one[] = "if (ct_lane == 0 && ct_warp == 0) {\n";

/* Brackets and commas come from the element's number: one opens for each axis whose row begins there. */
static void print_tile(Cu *g, const Op *op, const Val *v)
{
	const Type *t = v->type;
	int64_t elems = piece_elems(t), count = type_size(t) / elems, slot = ir_int(op, AT_SLOT, 0);
	CuMap off = cu_map(*v->lay, LAY_PACKED);
	Str copies = cu_copies(*v->lay);
	out_printf(g->o, "#pragma unroll 1\nfor (unsigned int ct_k = 0; ct_k < %lldu; ct_k++) {\n", (long long)count);
	out_in(g->o);
	cu_sync(g);
	out_printf(g->o, "const unsigned int ct_t = %s;\n", cu_map_thread(&off).text);
	CuInt reg = cu_loop(g, "ct_b", regs_of(v));
	out_printf(g->o, "const unsigned int ct_f = %s;\n", cu_xor(cu_var("ct_t"), cu_map_reg(&off, reg)).text);
	out_printf(g->o, "if (%s%sct_f / %lldu == ct_k) ", copies ? copies : "", copies ? " && " : "", (long long)elems);
	words_store_shared(g, t->elem, words_offset(slot, cu_compound(str_fmt("ct_f %% %lldu", (long long)elems)),
		elem_bytes(t->elem)), cu_at(g, v, reg.text));
	cu_end(g);
	cu_sync(g);
	out_puts(g->o, only_one);
	out_in(g->o);
	out_printf(g->o, "#pragma unroll 1\nfor (unsigned int ct_i = 0; ct_i < %lldu; ct_i++) {\n", (long long)elems);
	out_in(g->o);
	out_printf(g->o, "const unsigned int ct_e = ct_k * %lldu + ct_i;\n", (long long)elems);
	out_puts(g->o, "if (ct_e) printf(\", \");\n");
	for (int a = 0, bits = type_log2_size(t); a < t->rank; bits -= t->log2[a], a++)
		out_printf(g->o, "if ((ct_e & %lldu) == 0) printf(\"[\");\n", (1ll << bits) - 1);
	print_number(g, t->elem, words_load_shared(t->elem, words_offset(slot, cu_var("ct_i"), elem_bytes(t->elem))));
	for (int a = 0, bits = type_log2_size(t); a < t->rank; bits -= t->log2[a], a++)
		out_printf(g->o, "if ((~ct_e & %lldu) == 0) printf(\"]\");\n", (1ll << bits) - 1);
	cu_end(g);
	cu_end(g);
	cu_end(g);
}

static void print_text(Cu *g, const char *from, const char *to)
{
	if (from == to) return;
	Out *o = out_new();
	for (const char *p = from; p < to; p++) {
		if ((*p == '{' || *p == '}') && p + 1 < to && p[1] == *p) p++;
		out_raw(o, p, 1);
	}
	out_printf(g->o, "printf(\"%%s\", %s);\n", c_string(out_take(o)));
}

static void one_thread(Cu *g, bool *open, bool want)
{
	if (*open == want) return;
	*open = want;
	if (want) {
		out_puts(g->o, only_one);
		out_in(g->o);
	} else {
		cu_end(g);
	}
}

void debug_print(Cu *g, const Op *op)
{
	g->prints = true;
	const IrAttr *text = ir_attr(op, AT_TEXT);
	const char *p = text ? text->u.s : "", *from = p;
	int arg = 0;
	bool open = false;
	cu_say(g, op);
	for (; *p; p++) {
		if (p[0] == '{' && p[1] == '{') {
			p++;
		} else if (p[0] == '{' && p[1] == '}' && arg < op->nin) {
			const Val *v = ir_in(op, arg++);
			if (from != p) one_thread(g, &open, true);
			print_text(g, from, p);
			one_thread(g, &open, !type_is_tile(v->type));
			cu_line(g, op);
			if (type_is_tile(v->type)) print_tile(g, op, v);
			else print_number(g, v->type->elem, cu_scalar(g, v));
			from = p + 2;
			p++;
		}
	}
	bool partial = ir_int(op, AT_PARTIAL, 0) != 0;
	if (!partial || from != p) one_thread(g, &open, true);
	print_text(g, from, p);
	if (!partial) out_puts(g->o, "printf(\"\\n\");\n");
	one_thread(g, &open, false);
}

void debug_check(Cu *g, const Op *op)
{
	const Val *c = ir_in(op, 0);
	const IrAttr *text = ir_attr(op, AT_TEXT), *source = ir_attr(op, AT_SOURCE);
	const char *what = text && *text->u.s ? text->u.s : source ? source->u.s : "check";
	Str message = c_string(str_fmt("%s: %s failed: %s", cu_where(op->span), op_rows[op->code].name, what));
	CuInt reg = type_is_tile(c->type) ? cu_loop(g, "ct_r", regs_of(c)) : cu_int(0);
	cu_line(g, op);
	out_printf(g->o, "if (!%s) ct_trap(%s);\n", cu_at(g, c, reg.text), message);
	if (type_is_tile(c->type)) cu_end(g);
}
