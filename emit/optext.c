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
	if (ir_int(op, AT_DOMAIN, 0) && !ir_int(op, AT_ROUNDING, 0)) out_puts(o, op->code == OP_EXP ? "_low" : "_whole");
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
	if (!snip_cvt(name, sizeof name, elem_rows[to].name, elem_rows[from].name,
		r ? attr_word_text(AT_ROUNDING, r) : NULL,
		v ? attr_word_text(AT_OVERFLOW, v) : NULL)) bug("no conversion from %s to %s", elem_name(from), elem_name(to));
	return str_fmt("%s(%s)", name, arg);
}

static Str pointer_text(const OpDialect *d, const Op *op, const Str *arg)
{
	static const char *const cmp[] = { "==", "!=", "<", "<=", ">", ">=" };
	Elem to = op->out[0]->type->elem;
	if (op_compares(op->code))
		return str_fmt("(%s)(%s %s %s)", d->type(EL_BOOL), arg[0], cmp[op->code - OP_EQ], arg[1]);
	if (op->code == OP_CAST && to == EL_BOOL) return str_fmt("(%s)(%s != 0)", d->type(EL_BOOL), arg[0]);
	if (op->code == OP_CAST || op->code == OP_BITCAST) return str_fmt("((%s)%s)", d->type(to), arg[0]);
	return NULL;
}

Str op_expand(const char *t, const Op *op, const Str *arg, bool (*put)(void *g, Out *o, const Op *op, char what),
	void *g)
{
	Out *o = out_new();
	for (const char *p = t; *p; p++) {
		size_t n = strcspn(p, "%");
		out_raw(o, p, n);
		p += n;
		if (!*p++) break;
		if (*p >= '0' && *p <= '2') out_puts(o, arg[*p - '0']);
		else if (!put(g, o, op, *p)) bug("%%%c in the template of %s", *p, op_rows[op->code].name);
	}
	return out_take(o);
}

static bool put_part(void *g, Out *o, const Op *op, char what)
{
	(void)g;
	switch (what) {
	case 't': out_puts(o, elem_name(ir_in(op, 0)->type->elem)); return true;
	case 'r': out_puts(o, elem_name(op->out[0]->type->elem)); return true;
	case 'm': put_modes(o, op); return true;
	default: return false;
	}
}

Str op_text(const OpDialect *d, const Op *op, const Str *arg)
{
	Elem from = ir_in(op, 0)->type->elem, to = op->out[0]->type->elem;
	const char *column = d->column(&op_rows[op->code]);
	Str s;
	if ((elem_is_ptr(from) || elem_is_ptr(to)) && (s = pointer_text(d, op, arg))) return s;
	if (op->code == OP_CAST) return cast_text(op, from, to, arg[0]);
	if (op->code == OP_BITCAST && from == to) return arg[0];
	return *column ? op_expand(column, op, arg, put_part, NULL) : uniform_call(op, from, arg);
}

ElemAccess elem_access(const Op *op)
{
	const Val *x = ir_in(op, 0);
	bool view = x->type->kind == TY_VIEW;
	bool load = !op_has(op, OPF_WRITE), store = !op_has(op, OPF_READ);
	return (ElemAccess){ view ? x->type->rank : 0, op_values(op), !view, load, store };
}

const Type *elem_access_type(const Op *op)
{
	if (op->nout) return op->out[0]->type;
	for (int i = op->nin - 1; i >= 0; i--)
		if (type_is_tile(ir_in(op, i)->type)) return ir_in(op, i)->type;
	return ir_in(op, op->nin - 1)->type;
}

bool op_has_tile(const Op *op)
{
	for (int i = 0; i < op->nout; i++)
		if (type_is_tile(op->out[i]->type)) return true;
	for (int i = 0; i < op->nin; i++)
		if (type_is_tile(ir_in(op, i)->type)) return true;
	return false;
}

bool op_is_dead(const Op *op, const int *uses)
{
	if (!op_is_pure(op)) return false;
	for (int i = 0; i < op->nout; i++)
		if (uses[op->out[i]->id]) return false;
	return true;
}

/* ---- comments ---- */
static Str operand(const OpNames *names, const Val *v)
{
	Num n;
	if (v->def && v->def->code == OP_CONST && ir_const_value(v, &n)) {
		if (elem_is_any_float(v->type->elem)) return str_fmt("%g", n.f);
		return str_fmt("%lld", (long long)n.i);
	}
	Str text = names->text(names->g, v);
	if (text) return text;
	while (!v->name && v->def && v->def->nin) v = ir_in(v->def, 0);
	return v->name ? v->name : "memory";
}

void op_comment(Out *to, const Op *op, const OpNames *names, const char *how)
{
	Out *o = out_new();
	bool pads = op->code == OP_LOAD || op->code == OP_GATHER;       /* their last operand */
	for (int i = 0; i < op->nout; i++) out_printf(o, "%s%s", i ? ", " : "", names->name(names->g, op->out[i]));
	out_printf(o, "%s%s(", op->nout ? " = " : "", op_rows[op->code].name);
	for (int i = 0; i < op->nin - pads && i < 8; i++)
		out_printf(o, "%s%s", i ? ", " : "", operand(names, ir_in(op, i)));
	const Type *t = op->nout ? op->out[0]->type : NULL;
	for (int i = op->nin - 1; i >= 0 && !t; i--)
		if (type_is_tile(ir_in(op, i)->type)) t = ir_in(op, i)->type;
	out_printf(o, ")%s%s%s", t ? ": " : "", t ? type_text(t) : "", how);
	out_printf(to, "/* %s */\n", o->p);
	out_free(o);
}
