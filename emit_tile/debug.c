/* print, and what a checked build verifies. Tile C++ prints scalars: a tile is printed element by element. */
#include <string.h>

#include "base/diag.h"
#include "emit_tile/tile.h"

/* ---- print ---- */
typedef struct Line { Out *format, *args; } Line;       /* of the printf that is being put together */

static void flush(Tg *g, Line *l)
{
	if (l->format->n)
		out_printf(g->o, "printf(%s%s);\n", c_string(str_intern(l->format->p)), l->args->p ? l->args->p : "");
	out_free(l->format);
	out_free(l->args);
	*l = (Line){ out_new(), out_new() };
}

static void put_plain(Out *o, const char *from, const char *to)
{
	for (const char *p = from; p < to; p++) {
		if ((*p == '{' || *p == '}') && p + 1 < to && p[1] == *p) p++;
		if (*p == '%') out_raw(o, "%", 1);
		out_raw(o, p, 1);
	}
}

/* A bool is a word, and which one is known when it runs. */
static void put_scalar(Tg *g, Line *l, Elem e, Str x)
{
	if (e == EL_BOOL) {
		flush(g, l);
		out_printf(g->o, "if (%s) printf(\"true\");\nelse printf(\"false\");\n", x);
	} else if (elem_is_ptr(e)) {
		out_puts(l->format, "%p");
		out_printf(l->args, ", (void *)%s", x);
	} else if (elem_is_any_float(e)) {
		out_puts(l->format, "%g");
		out_printf(l->args, ", ct::element_cast<double>(%s)", x);
	} else {
		out_puts(l->format, elem_is_signed(e) ? "%lld" : "%llu");
		out_printf(l->args, ", (%s)%s", elem_is_signed(e) ? "long long" : "unsigned long long", x);
	}
}

/* [[1, 2], [3, 4]] in row order. A loop for each axis; its counters number the sub-tile of one element. NVIDIA's
 * compiler unrolls a loop over ct::irange, and does not end within 100 s for 512 copies of printf. */
static void put_tile(Tg *g, Line *l, const Val *v)
{
	const Type *t = v->type;
	uint8_t log2[TILE_RANK] = { 0 };
	Out *index = out_new();
	flush(g, l);
	for (int i = 0; i < t->rank; i++) {
		Str k = tl_temp(g, "i");
		out_printf(g->o, "printf(\"[\");\nfor (int %s = 0; %s < %lld; %s++) {\n", k, k,
			(long long)type_extent(t, i), k);
		out_in(g->o);
		out_printf(g->o, "if (%s > 0) printf(\", \");\n", k);
		out_printf(index, ", %s", k);
	}
	const Type *one = type_tile(t->elem, t->rank, log2);
	put_scalar(g, l, t->elem, str_fmt("ct_scalar<%s>(ct::extract(%s, %s{}%s))", tl_elem(t->elem), tl_text(g, v),
		tl_shape(one), out_take(index)));
	flush(g, l);
	for (int i = 0; i < t->rank; i++) {
		out_off(g->o);
		out_puts(g->o, "}\nprintf(\"]\");\n");
	}
}

void tl_print(Tg *g, const Op *op)
{
	const IrAttr *text = ir_attr(op, AT_TEXT);
	const char *p = text ? text->u.s : "", *from = p;
	Line l = { out_new(), out_new() };
	int arg = 0;
	for (; *p; p++) {
		if (p[0] == '{' && p[1] == '{') p++;
		else if (p[0] == '{' && p[1] == '}' && arg < op->nin) {
			const Val *v = ir_in(op, arg++);
			put_plain(l.format, from, p);
			if (type_is_tile(v->type) && type_size(v->type) > 1) put_tile(g, &l, v);
			else
				put_scalar(g, &l, v->type->elem, type_is_tile(v->type)
					? str_fmt("ct_scalar<%s>(%s)", tl_elem(v->type->elem), tl_text(g, v)) :
				tl_text(g, v));
			from = p + 2;
			p++;
		}
	}
	put_plain(l.format, from, p);
	if (!ir_int(op, AT_PARTIAL, 0)) out_puts(l.format, "\n");
	flush(g, &l);
}

/* ---- checks ---- */
void tl_check(Tg *g, const Op *op)
{
	const Val *c = ir_in(op, 0);
	const IrAttr *text = ir_attr(op, AT_TEXT), *source = ir_attr(op, AT_SOURCE);
	const char *what = text && *text->u.s ? text->u.s : source ? source->u.s : "check";
	Str ok = tl_temp(g, "ok"), all = tl_text(g, c);
	if (type_is_tile(c->type))
		all = str_fmt("ct_scalar<bool>(ct::all_of<0>(ct::reshape<ct::shape<%lld>>(%s)))", (long long)type_size(c->type),
			all);
	out_printf(g->o, "const bool %s = %s;\nassert(%s && %s);\n", ok, all, ok,
		c_string(str_fmt("%s: %s failed: %s", tl_where(op->span), op_rows[op->code].name, what)));
}
