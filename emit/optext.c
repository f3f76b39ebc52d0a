/* Texts of elementwise operations. */
#include "emit/optext.h"

#include "base/diag.h"
#include "emit/snippet.h"

static void put_modes(Out *o, const Op *op)
{
	static const AttrKey modes[] = { AT_ROUNDING, AT_NAN, AT_SUBNORMALS };
	for (int i = 0; i < 3; i++) {
		int w = (int)ir_int(op, modes[i], 0);
		const char *s = w ? snip_mode(attr_word_text(modes[i], w)) : NULL;
		if (s) out_puts(o, s);
	}
	if (ir_int(op, AT_DOMAIN, 0) && !ir_int(op, AT_ROUNDING, 0)) out_puts(o, "_low");
}

Str op_combine(const char *name, const Op *op, Elem e)
{
	Out *o = out_new();
	out_printf(o, "ct_%s_%s", name, elem_rows[e].name);
	put_modes(o, op);
	return out_take(o);
}

static Str uniform_call(const Op *op, Elem e, const Str *arg)
{
	Out *o = out_new();
	out_puts(o, op_combine(op_rows[op->code].name, op, e));
	for (int i = 0; i < op->nin; i++) out_printf(o, "%s%s", i ? ", " : "(", arg[i]);
	out_puts(o, ")");
	return out_take(o);
}

static Str cast_text(const Op *op, Elem from, Elem to, Str arg)
{
	char name[96];
	int r = (int)ir_int(op, AT_ROUNDING, 0), v = (int)ir_int(op, AT_OVERFLOW, 0);
	if (from == to && (!v || !elem_is_any_float(to))) return arg;         /* an infinity may have another value */
	if (!snip_cvt(name, sizeof name, elem_rows[to].name, elem_rows[from].name, r ? attr_word_text(AT_ROUNDING, r) : NULL,
		v ? attr_word_text(AT_OVERFLOW, v) : NULL)) bug("no conversion from %s to %s", elem_name(from), elem_name(to));
	return str_fmt("%s(%s)", name, arg);
}

static Str pointer_text(const OpDialect *d, const Op *op, const Str *arg)
{
	static const char *const cmp[] = { "==", "!=", "<", "<=", ">", ">=" };
	Elem to = op->out[0]->type->elem;
	if (op->code >= OP_EQ && op->code <= OP_GE) return str_fmt("(%s)(%s %s %s)", d->type(EL_BOOL), arg[0], cmp[op->code - OP_EQ], arg[1]);
	if (op->code == OP_CAST && to == EL_BOOL) return str_fmt("(%s)(%s != 0)", d->type(EL_BOOL), arg[0]);
	if (op->code == OP_CAST || op->code == OP_BITCAST) return str_fmt("((%s)%s)", d->type(to), arg[0]);
	return NULL;
}

static Str expand(const char *t, const Op *op, const Str *arg)
{
	Out *o = out_new();
	for (const char *p = t; *p; p++) {
		if (*p != '%') {
			out_raw(o, p, 1);
			continue;
		}
		p++;
		if (*p >= '0' && *p <= '2') out_puts(o, arg[*p - '0']);
		else if (*p == 't') out_puts(o, elem_name(ir_in(op, 0)->type->elem));
		else if (*p == 'r') out_puts(o, elem_name(op->out[0]->type->elem));
		else if (*p == 'm') put_modes(o, op);
		else bug("%%%c in the template of %s", *p, op_rows[op->code].name);
	}
	return out_take(o);
}

Str op_text(const OpDialect *d, const Op *op, const Str *arg)
{
	Elem from = ir_in(op, 0)->type->elem, to = op->out[0]->type->elem;
	const char *column = d->column(&op_rows[op->code]);
	Str s;
	if ((elem_is_ptr(from) || elem_is_ptr(to)) && (s = pointer_text(d, op, arg))) return s;
	if (op->code == OP_CAST) return cast_text(op, from, to, arg[0]);
	if (op->code == OP_BITCAST && from == to) return arg[0];
	return *column ? expand(column, op, arg) : uniform_call(op, from, arg);
}
