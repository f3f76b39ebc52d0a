/* One operation that works register by register: its expression for a register, and the statement that sets it. */
#include "base/diag.h"
#include "emit/optext.h"
#include "emit_cuda/elem.h"
#include "emit_cuda/peel.h"
#include "ir/monoid.h"
#include "placed/loops.h"

static const char *cuda_column(const OpRow *r) { return r->cuda; }

static const OpDialect cuda_dialect = { cu_type, cuda_column };

/* An elementwise operation as an expression over those of its operands. */
Str elem_text(const Op *op, const Str *arg)
{
	return op_text(&cuda_dialect, op, arg);
}

Str elem_combine(const Op *op, int kind, Elem e, Str a, Str b)
{
	return str_fmt("%s(%s, %s)", op_combine(op_rows[monoid_of_kind(kind)].name, op, e), a, b);
}

bool elem_says_numbers(Cu *g, const Op *op)
{
	if (op->nin != 2 || g->rotated || !op_has(op, OPF_ELEMWISE)) return false;
	const Val *x = ir_in(op, 0), *y = ir_in(op, 1);
	if (!x->def || x->def->code != OP_IOTA || x->type->elem != EL_I32 || regs_of(op->out[0]) == 1
		|| !cu_val(g, y)->scalar)
		return false;
	bool peels = peel_row(g->fn, *x->lay);
	if (!peels && !lay_adds(*x->lay, LAY_PACKED)) return false;
	bool whole = ir_int(op, AT_VEC, 1) > 1;         /* of_piece */
	switch (op->code) {
	case OP_EQ: case OP_NE: return true;
	case OP_LT: case OP_GE: return !whole && (!peels || cut_is_length(g->fn, y));
	case OP_LE: case OP_GT: return !whole && !peels;
	default: return false;
	}
}

bool elem_is_name(Cu *g, const Op *op)
{
	const CuVal *v = cu_val(g, op->out[0]);
	return v->splat || v->unread || op_renames(op);
}

bool elem_is_printed(Cu *g, const Op *op) { return !elem_is_name(g, op); }

static Str iota_text(const Cu *g, const Op *op, CuInt reg)
{
	const Lay *l = op->out[0]->lay;
	CuMap m = cu_map_row(g, *l, LAY_PACKED);
	if (peel_row(g->fn, *l)) return str_fmt("(%s)%s", cu_type(op->out[0]->type->elem), peel_iota(g, *l, reg));
	bool wide = elem_bytes(op->out[0]->type->elem) == 8;    /* what an address is made of may be a sum */
	CuInt of_thread = cu_map_thread(&m), of_reg = cu_map_reg(&m, reg);
	CuInt at = (wide && lay_adds(*l, LAY_PACKED)) || m.share ? cu_sum(of_thread, of_reg) : cu_xor(of_thread, of_reg);
	bool shifts = g->shifted && holds_row(g->fn, *l);       /* places before the row: numbers beyond its end */
	int64_t n = shifts ? (int64_t)1 << g->fn->row_log2 : g->rotated;
	if (n && type_size(op->out[0]->type) > 1)
		return str_fmt("(%s)(((unsigned int)%s - (unsigned int)ct_phase) & %lldu)", cu_type(op->out[0]->type->elem),
			cu_operand(at), (long long)n - 1);
	return str_fmt("(%s)%s", cu_type(op->out[0]->type->elem), cu_operand(at));
}

/* An element's number compared with a scalar: with what the thread's part leaves of the scalar, so that a register
 * costs one instruction. */
static Str compared_text(Cu *g, const Op *op, CuInt reg)
{
	static const struct { OpCode code; const char *sign; bool negated; } signs[] = {
		{ OP_LT, "<", false }, { OP_LE, "<=", false }, { OP_GT, "<=", true }, { OP_GE, "<", true }
	};
	const Val *x = ir_in(op, 0), *y = ir_in(op, 1);
	if (peel_row(g->fn, *x->lay)) {
		if (op->code == OP_EQ || op->code == OP_NE)
			return peel_equals(g, *x->lay, reg, cu_val(g, y)->name, op->code == OP_EQ ? "==" : "!=");
		return str_fmt("(unsigned char)%s%s", op->code == OP_GE ? "!" : "", peel_below_length(g, *x->lay, reg));
	}
	CuMap m = cu_map_row(g, *x->lay, LAY_PACKED);
	bool row = holds_row(g->fn, *x->lay), shifts = g->shifted && row,
		sure = g->fn->row_sure && row && cut_is_length(g->fn, y);
	int i = 0;
	CuInt thread = cu_map_thread(&m);
	/* what lies before a row is never stored: it may equal what it likes */
	if (op->code == OP_EQ || op->code == OP_NE)
		return str_fmt("(unsigned char)(%s %s (unsigned int)%s - (unsigned int)%s%s)",
			cu_map_reg(&m, cu_compound(str_fmt("(unsigned int)%s", reg.text))).text,
			op->code == OP_EQ ? "==" : "!=", cu_val(g, y)->name, thread.text,
			shifts ? " + (unsigned int)ct_phase" : "");
	while (op->code != signs[i].code) i++;
	Out *o = out_new();
	out_printf(o, "(unsigned char)%s(", signs[i].negated ? "!" : "");
	if (sure) out_printf(o, "(%s%s%s < %d) || (", shifts ? reg.text : "", shifts ? " && " : "", reg.text,
		g->fn->row_sure);
	if (shifts)     /* what lies in front counts as after */
		out_printf(o, "(%s || (int)%s%s >= ct_phase) && ", cu_after_first(g, reg), thread.text,
			g->fn->aligned ? str_fmt(" + (int)%s", cu_map_reg(&m, reg).text) : "");
	Str left = str_fmt("ct_within((long long)%s - (int)%s%s)", cu_val(g, y)->name, thread.text,
		shifts ? " + ct_phase" : "");
	if (cu_is(thread, 0) && !shifts) left = cu_val(g, y)->name;   /* a thread has whole rows */
	out_printf(o, "(int)%s %s %s%s)", cu_map_reg(&m, reg).text, signs[i].sign, left, sure ? ")" : "");
	return out_take(o);
}

static Str literal_text(Cu *g, const Op *op, CuInt reg)
{
	CuMap m = cu_map(*op->out[0]->lay, LAY_PACKED);
	return str_fmt("ct_%s_values[%s]", cu_val(g, op->out[0])->name, cu_map_place(&m, reg).text);
}

/* Of a comparison that comes out alike for a vector of an element's numbers: the expression of operand i
 * for all of it. NULL: it does not. */
static Str of_piece(const Op *op, int i, Str text)
{
	int vec = (int)ir_int(op, AT_VEC, 1);
	bool counts = i == 0 ? op->code == OP_LT || op->code == OP_GE : op->code == OP_GT || op->code == OP_LE;
	return vec > 1 && counts ? str_fmt("(%s & ~%d)", text, vec - 1) : NULL;
}

Str elem_point(Cu *g, const Op *op, CuInt reg)
{
	Str arg[4];
	Lay c;
	switch (op->code) {
	case OP_IOTA: return iota_text(g, op, reg);
	case OP_LITERAL: return literal_text(g, op, reg);
	case OP_BROADCAST: return cu_pulled(g, ir_in(op, 0), broadcast_source(op), reg);
	case OP_CONVERT_REGS:
		if (lay_pull(*op->out[0]->lay, *ir_in(op, 0)->lay, &c) > CVT_REGS)
			bug("convert_regs moves data between threads");
		return cu_pulled(g, ir_in(op, 0), c, reg);
	default: break;
	}
	if (elem_says_numbers(g, op)) return compared_text(g, op, reg);
	for (int i = 0; i < op->nin && i < 4; i++) {
		arg[i] = cu_at(g, ir_in(op, i), reg.text);
		Str piece = of_piece(op, i, arg[i]);
		if (piece) arg[i] = piece;
	}
	return elem_text(op, arg);
}

/* Registers 2 * pair and 2 * pair + 1. */
void elem_print_pair(Cu *g, const Op *op, CuInt pair)
{
	const Val *r = op->out[0];
	Elem e = r->type->elem;
	CuInt twice = cu_is(pair, 0) ? pair : cu_compound(str_fmt("2 * %s", pair.text));
	Str lo = twice.text, hi = cu_sum(twice, cu_int(1)).text;
	out_printf(g->o, "ct_split_b%d(&%s, ct_cvt_%sx2_f32%s(%s, %s));\n", 8 * elem_bytes(e), cu_at(g, r, lo),
		elem_rows[e].name, elem_is_int(e) ? "_re" : "", cu_at(g, ir_in(op, 0), lo), cu_at(g, ir_in(op, 0), hi));
}

void elem_print_point(Cu *g, const Op *op, bool many, Str x)
{
	const Val *r = op->out[0];
	cu_line(g, op);
	if (cu_val(g, r)->inside || !many)
		out_printf(g->o, "%s%s = %s;%s\n", cu_const(r->type->elem), cu_scalar(g, r), x, cu_said(g, r));
	else out_printf(g->o, "%s[ct_r] = %s;\n", cu_scalar(g, r), x);
}
