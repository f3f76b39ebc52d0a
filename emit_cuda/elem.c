/* Operations that work register by register, and the loops they share. */
#include <string.h>

#include "base/diag.h"
#include "emit/optext.h"
#include "emit_cuda/access.h"
#include "emit_cuda/peel.h"
#include "ir/monoid.h"
#include "placed/loops.h"

/* ---- text of one operation ---- */
static const char *cuda_column(const OpRow *r) { return r->cuda; }

static const OpDialect cuda_dialect = { cu_type, cuda_column };

/* An elementwise operation as an expression over those of its operands. */
static Str elem_text(Cu *g, const Op *op, const Str *arg)
{
	(void)g;
	return op_text(&cuda_dialect, op, arg);
}

Str elem_combine(const Op *op, int kind, Elem e, Str a, Str b)
{
	return str_fmt("%s(%s, %s)", op_combine(op_rows[monoid_of_kind(kind)].name, op, e), a, b);
}

static void find_user(void *user, Op *op)
{
	for (int i = 0; i < op->nin; i++) ((const Op **)user)[ir_in(op, i)->id] = op;
}

/* Does the comparison say the numbers of elements that are its first operand, instead of reading them? */
static bool says_numbers(Cu *g, const Op *op)
{
	if (op->nin != 2 || g->rotated || !op_has(op, OPF_ELEMWISE)) return false;
	const Val *x = ir_in(op, 0), *y = ir_in(op, 1);
	if (!x->def || x->def->code != OP_IOTA || x->type->elem != EL_I32 || regs_of(op->out[0]) == 1
		|| !cu_val(g, y)->splat)
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

static void find_read(void *ctx, Op *op)
{
	Cu *g = ctx;
	for (int i = 0; i < op->nin; i++)
		if (i || !says_numbers(g, op)) cu_val(g, ir_in(op, i))->unread = false;
}

static void find_numbers(void *ctx, Op *op)
{
	if (op->code == OP_IOTA) cu_val(ctx, op->out[0])->unread = true;
}

/* Numbers in rotated rows are read: where an element lies is no sum. */
static void find_rotated(void *found, Op *op)
{
	*(bool *)found |= op->code == OP_PHASE && ir_int(op, AT_ROWS, ROWS_ROTATED) == ROWS_ROTATED
		&& ir_int(op, AT_NUMBER, 0);
}

void elem_begin(Cu *g)
{
	g->user = NEW_ARRAY(A_TMP, const Op *, g->nval);
	ir_walk(g->fn->body, find_user, g->user);
	Loops l = loops_of(g->fn, A_TMP);
	for (int i = 0; i < g->nval; i++) {
		g->val[i].group = l.loop[i];
		g->val[i].splat = l.splat[i];
		g->val[i].inside = l.inside[i];
	}
	bool rotated = false;
	ir_walk(g->fn->body, find_rotated, &rotated);
	if (rotated) return;
	ir_walk(g->fn->body, find_numbers, g);
	ir_walk(g->fn->body, find_read, g);
}

bool elem_is_name(Cu *g, const Op *op)
{
	const CuVal *v = cu_val(g, op->out[0]);
	return v->splat || v->unread || op_renames(op);
}

static bool is_printed(Cu *g, const Op *op) { return !elem_is_name(g, op); }

static bool same_line(Span a, Span b)
{
	if (!a.hi || !b.hi) return false;
	Place p = src_place(a.lo), q = src_place(b.lo);
	return p.src == q.src && p.line == q.line;
}

enum { LONGEST = 80 };   /* characters of an expression that is part of another */

/* Is it without a name of the author's, and does one operation of the same block and line alone need it? So it may be
 * part of that one's expression, but not as an arm of a select, which would be evaluated under its condition. */
static const Op *only_user(const Cu *g, const Op *op, Str text)
{
	const Val *r = op->out[0];
	const Op *user = g->user[r->id];
	bool alone = g->uses[r->id] == 1 && !r->name && user && user->parent == op->parent;
	if (!alone || (user->code == OP_SELECT && ir_in(user, 0) != r)) return NULL;
	return str_len(text) <= LONGEST && same_line(op->span, user->span) ? user : NULL;
}

/* ---- printing ---- */
static Str iota_text(const Cu *g, const Op *op, const char *reg)
{
	const Lay *l = op->out[0]->lay;
	CuMap m = cu_map_row(g, *l, LAY_PACKED);
	if (peel_row(g->fn, *l)) return str_fmt("(%s)%s", cu_type(op->out[0]->type->elem), peel_iota(g, *l, reg));
	bool wide = elem_bytes(op->out[0]->type->elem) == 8;    /* what an address is made of may be a sum */
	Str of_thread = cu_map_thread(&m), of_reg = cu_map_reg(&m, reg);
	Str at = (wide && lay_adds(*l, LAY_PACKED)) || m.share ? cu_sum(of_thread, of_reg) : cu_xor(of_thread, of_reg);
	bool shifts = g->shifted && holds_row(g->fn, *l);       /* places before the row: numbers beyond its end */
	int64_t n = shifts ? (int64_t)1 << g->fn->row_log2 : g->rotated;
	if (n && type_size(op->out[0]->type) > 1)
		return str_fmt("(%s)(((unsigned int)%s - (unsigned int)ct_phase) & %lldu)", cu_type(op->out[0]->type->elem),
			cu_operand(at), (long long)n - 1);
	return str_fmt("(%s)%s", cu_type(op->out[0]->type->elem), cu_operand(at));
}

/* An element's number compared with a scalar: with what the thread's part leaves of the scalar, so that a register
 * costs one instruction. */
static Str compared_text(Cu *g, const Op *op, const char *reg)
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
	Str thread = cu_map_thread(&m);
	/* what lies before a row is never stored: it may equal what it likes */
	if (op->code == OP_EQ || op->code == OP_NE)
		return str_fmt("(unsigned char)(%s %s (unsigned int)%s - (unsigned int)%s%s)",
			cu_map_reg(&m, str_fmt("(unsigned int)%s", reg)),
			op->code == OP_EQ ? "==" : "!=", cu_val(g, y)->name, thread, shifts ? " + (unsigned int)ct_phase" : "");
	while (op->code != signs[i].code) i++;
	Out *o = out_new();
	out_printf(o, "(unsigned char)%s(", signs[i].negated ? "!" : "");
	if (sure) out_printf(o, "(%s%s%s < %d) || (", shifts ? reg : "", shifts ? " && " : "", reg, g->fn->row_sure);
	if (shifts)     /* what lies in front counts as after */
		out_printf(o, "(%s || (int)%s%s >= ct_phase) && ", cu_after_first(g, reg), thread,
			g->fn->aligned ? str_fmt(" + (int)%s", cu_map_reg(&m, reg)) : "");
	Str left = str_fmt("ct_within((long long)%s - (int)%s%s)", cu_val(g, y)->name, thread, shifts ? " + ct_phase" : "");
	if (!strcmp(thread, "0") && !shifts) left = cu_val(g, y)->name;   /* a thread has whole rows */
	out_printf(o, "(int)%s %s %s%s)", cu_map_reg(&m, reg), signs[i].sign, left, sure ? ")" : "");
	return out_take(o);
}

static Str literal_text(Cu *g, const Op *op, const char *reg)
{
	CuMap m = cu_map(*op->out[0]->lay, LAY_PACKED);
	return str_fmt("ct_%s_values[%s]", cu_val(g, op->out[0])->name, cu_xor(cu_map_thread(&m), cu_map_reg(&m, reg)));
}

/* Of a comparison that comes out alike for a vector of an element's numbers: the text of operand i
 * for all of it. NULL: it does not. */
static Str of_piece(const Op *op, int i, Str text)
{
	int vec = (int)ir_int(op, AT_VEC, 1);
	bool counts = i == 0 ? op->code == OP_LT || op->code == OP_GE : op->code == OP_GT || op->code == OP_LE;
	return vec > 1 && counts ? str_fmt("(%s & ~%d)", text, vec - 1) : NULL;
}

static Str point_text(Cu *g, const Op *op, const char *reg)
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
	if (says_numbers(g, op)) return compared_text(g, op, reg);
	for (int i = 0; i < op->nin && i < 4; i++) {
		arg[i] = cu_at(g, ir_in(op, i), reg);
		Str piece = of_piece(op, i, arg[i]);
		if (piece) arg[i] = piece;
	}
	return elem_text(g, op, arg);
}

static void literal_table(Cu *g, const Op *op)
{
	const IrAttr *a = ir_attr(op, AT_VALUES);
	Elem e = op->out[0]->type->elem;
	out_printf(g->o, "%sct_%s_values[%d] = { ", cu_const(e), cu_val(g, op->out[0])->name, a->u.nums.n);
	for (int i = 0; i < a->u.nums.n; i++) out_printf(g->o, "%s%s", i ? ", " : "", cu_num(e, a->u.nums.p[i]));
	out_puts(g->o, " };\n");
}

/* Splats and aliases: names only. */
static bool name_only(Cu *g, const Op *op)
{
	CuVal *r = cu_val(g, op->out[0]);
	Num n;
	if (r->splat) {
		if (op->code == OP_CONST && ir_const_value(op->out[0], &n)) r->name = cu_num(op->out[0]->type->elem, n);
		else r->name = cu_scalar(g, ir_in(op, 0));
		return true;
	}
	if (r->unread) return true;
	if (!op_renames(op)) return false;
	CuVal *x = cu_val(g, ir_in(op, 0));
	r->name = x->name;
	return true;
}

static bool in_group(Cu *g, const Op *op, int group)
{
	if (!op_is_pointwise(op)) return false;
	const CuVal *v = cu_val(g, op->out[0]);
	return v->splat || v->group == group;
}

/* Registers 2 * pair and 2 * pair + 1. */
static void print_pair(Cu *g, const Op *op, const char *pair)
{
	const Val *r = op->out[0];
	Elem e = r->type->elem;
	Str lo = *pair == '0' ? str_intern("0") : str_fmt("2 * %s", pair), hi = cu_sum(lo, str_intern("1"));
	out_printf(g->o, "ct_split_b%d(&%s, ct_cvt_%sx2_f32%s(%s, %s));\n", 8 * elem_bytes(e), cu_at(g, r, lo),
		elem_rows[e].name, elem_is_int(e) ? "_re" : "", cu_at(g, ir_in(op, 0), lo), cu_at(g, ir_in(op, 0), hi));
}

static void print_pairs(Cu *g, const Op *op)
{
	const Val *r = op->out[0];
	Str last = str_i64(regs_of(r) - 1);
	cu_line(g, op);
	if (g->part == PART_END) {
		out_printf(g->o, "%s = %s;\n", cu_at(g, r, last), point_text(g, op, last));
		return;
	}
	if (!g->part && regs_of(r) > 2) {
		if (cu_leaves_out(g, *r->lay)) cu_reached(g, "ct_r", 0, 1);
		else cu_each(g, "ct_r", regs_of(r) / 2);
		print_pair(g, op, "ct_r");
		return;
	}
	print_pair(g, op, peel_loop(g, "ct_r", regs_of(r) / 2, *r->lay, 1));
	cu_end(g);
}

static void print_point(Cu *g, const Op *op, bool many, Str x)
{
	const Val *r = op->out[0];
	cu_line(g, op);
	if (cu_val(g, r)->inside || !many)
		out_printf(g->o, "%s%s = %s;%s\n", cu_const(r->type->elem), cu_scalar(g, r), x, cu_said(g, r));
	else out_printf(g->o, "%s[ct_r] = %s;\n", cu_scalar(g, r), x);
}

static void print_each(Cu *g, Op *first, const Op *end, int n)
{
	const Op *like = first;         /* one that has registers */
	while (!is_printed(g, like)) like = like->next;
	if (n > 1) (void)!peel_loop(g, "ct_r", n, *like->out[0]->lay, 0);
	for (Op *op = first; op != end; op = op->next)
		if (is_printed(g, op)) print_point(g, op, n > 1, point_text(g, op, n > 1 ? "ct_r" : "0"));
	if (n > 1) cu_end(g);
}

/* ---- what one element alone needs ---- */
/* A select of a loop that takes its first arm for one number of an element (placed/rare.c). made: by Val id, what the
 * loop makes of it. */
typedef struct Pick { const Op *select; const Val *numbers, *from; CuMap m; bool *made; } Pick;

static bool *made_of(const Cu *g, const Op *select, const Op *end)
{
	bool *made = NEW_ARRAY(A_UNIT, bool, g->fn->nval);
	made[select->out[0]->id] = true;
	for (const Op *op = select->next; op != end; op = op->next)
		for (int i = 0; i < op->nin; i++)
			if (made[ir_in(op, i)->id]) made[op->out[0]->id] = true;
	return made;
}

static bool is_picked(const Pick *p, const Op *op) { return op != p->select && ir_int(op, AT_RARE, 0); }

static Pick find_pick(const Cu *g, const Op *first, const Op *end)
{
	for (const Op *op = first; op != end; op = op->next) {
		const Val *from, *x = ir_int(op, AT_RARE, 0) ? rare_number(op, &from) : NULL;
		if (x) return (Pick){ op, x, from, cu_map_row(g, *x->lay, LAY_PACKED), made_of(g, op, end) };
	}
	return (Pick){ 0 };
}

/* May one of so many registers from `first` on, a power of two, hold the number? */
static Str picked_text(Cu *g, const Pick *p, const char *first, int chunk)
{
	Str number = cu_val(g, ir_in(ir_in(p->select, 0)->def, 1))->name, near = cu_map_reg(&p->m, str_i64(chunk - 1));
	if (g->part) number = str_fmt("(unsigned int)%s - (unsigned int)ct_begin", number);
	if (p->from) number = str_fmt("(unsigned int)%s - (unsigned int)%s", number, cu_val(g, p->from)->name);
	if (g->shifted && holds_row(g->fn, *p->numbers->lay)) number = str_fmt("(unsigned int)%s + ct_phase", number);
	return str_fmt("((((unsigned int)(%s)) ^ (%s)) & ~%s%s) == 0", number,
		cu_xor(cu_map_thread(&p->m), cu_map_reg(&p->m, first)), near, p->m.by_lanes ? "" : "u");
}

/* A loop over part of the registers: those of a chunk, or half of their numbers. */
static void print_registers(Cu *g, const char *from, int count)
{
	out_printf(g->o, "CT_UNROLL(ct_r, ct_k%s, ct_k%s + %d) {\n", from, from, count);
	out_in(g->o);
}

static void print_rounding(Cu *g, const Op *pairs, int chunk)
{
	if (!pairs) return;
	cu_line(g, pairs);
	print_registers(g, " / 2", chunk / 2);
	print_pair(g, pairs, "ct_r");
	cu_end(g);
}

/* What a loop's last value goes through at once: rounding in pairs or a reduction. NULL: neither. */
typedef struct Next { const Op *pairs, *sum; } Next;

/* A loop in chunks of registers, each with what one of its elements alone needs (no pick.select: nothing) and with what
 * is next: so few values are in registers at once. */
typedef struct CuChunks { Op *first; const Op *end; int n, each; Pick pick; Next next; } CuChunks;

/* All of a chunk's loop, or what most elements need. */
static void print_part(Cu *g, const CuChunks *c, bool all)
{
	const Op *select = c->pick.select;
	print_registers(g, "", c->each);
	for (Op *op = c->first; op != c->end; op = op->next) {
		bool made = all ? !cu_val(g, op->out[0])->inside && !c->pick.made[op->out[0]->id]
			: select && is_picked(&c->pick, op);
		if (!is_printed(g, op) || made) continue;
		print_point(g, op, true, op == select && !all ? cu_at(g, ir_in(op, 2), "ct_r") : point_text(g, op, "ct_r"));
	}
	if (c->next.sum) reduce_register(g, c->next.sum, "ct_r");
	cu_end(g);
	print_rounding(g, c->next.pairs, c->each);
}

/* The few threads that hold the number compute the chunk twice, so that nothing but its result
 * is live where they part. */
static void print_chunk(Cu *g, const CuChunks *c)
{
	print_part(g, c, false);
	if (!c->pick.select) return;
	out_printf(g->o, "if (%s) {\n", picked_text(g, &c->pick, "ct_k", c->each));
	out_in(g->o);
	print_part(g, c, true);
	cu_end(g);
}

/* By Val id: what the loop makes of the select, and what that takes but for the condition and what others take. */
static bool *needed_once(const Cu *g, const CuChunks *c)
{
	bool *needed = NEW_ARRAY(A_TMP, bool, g->fn->nval);
	VEC(const Op *) ops = { 0 };
	for (const Op *op = c->first; op != c->end; op = op->next) vec_push(A_TMP, &ops, op);
	for (int k = ops.n - 1; k >= 0; k--) {
		const Op *op = ops.p[k];
		int id = op->out[0]->id;
		needed[id] |= c->pick.made[id];
		for (int i = 0; needed[id] && i < op->nin; i++)
			if (op != c->pick.select || i == 1) needed[ir_in(op, i)->id] = true;
	}
	return needed;
}

/* Has each register of its result what the same register of its operands has, whichever it is? */
static bool is_of_register(Cu *g, const Op *op)
{
	if (says_numbers(g, op)) return false;
	switch (op->code) {
	case OP_IOTA: case OP_LITERAL: case OP_CONVERT_REGS: return false;
	case OP_BROADCAST: return regs_of(ir_in(op, 0)) == 1;
	default: return !op_in_own_loop(op);
	}
}

/* Is the number that of register ct_r? */
static Str is_here_text(Cu *g, const Pick *p)
{
	bool shifts = g->shifted && holds_row(g->fn, *p->numbers->lay);
	return str_fmt("ct_same_u32(%s, (unsigned int)%s - (unsigned int)%s%s)", cu_map_reg(&p->m, "(unsigned int)ct_r"),
		cu_val(g, ir_in(ir_in(p->select, 0)->def, 1))->name, cu_map_thread(&p->m),
		shifts ? " + (unsigned int)ct_phase" : "");
}

/* Of few registers: what one element alone needs is not made in turn for each register that some thread of the warp has
 * it in, as in short rows, of which a warp has many, but once, of what a thread takes from its own register. NULL: by
 * registers. */
static const bool *made_once(Cu *g, const CuChunks *c)
{
	if (!c->pick.select || c->each != 1 || c->pick.from || g->part) return NULL;
	const bool *needed = needed_once(g, c);
	for (const Op *op = c->first; op != c->end; op = op->next)
		if (needed[op->out[0]->id] && !is_of_register(g, op)) return NULL;
	return needed;
}

/* What a value is named meanwhile, and what it was. */
typedef struct Named { const Val *v; CuVal was; } Named;
typedef VEC(Named) Names;

static void name_once(Cu *g, Names *names, const Val *v, Str name)
{
	vec_push(A_TMP, names, ((Named){ v, *cu_val(g, v) }));
	cu_val(g, v)->name = name;
	cu_val(g, v)->inside = true;
}

/* Takes an operand from the register that holds the number. */
static void take_picked(Cu *g, Names *names, const Val *v, const CuChunks *c, Str here)
{
	const CuVal *x = cu_val(g, v);
	Str at = cu_at(g, v, "ct_r");
	if (!type_is_tile(v->type) || x->splat || x->inside || at == x->name) return;
	Str name = cu_name(g, v);
	out_printf(g->o, "%s %s = %s;\n", cu_held(v), name, cu_at(g, v, "0"));
	(void)!peel_loop(g, "ct_r", c->n, *v->lay, 0);
	out_printf(g->o, "%s = %s ? %s : %s;\n", name, here, at, name);
	cu_end(g);
	name_once(g, names, v, name);
}

static bool is_of_loop(const CuChunks *c, const Val *v)
{
	for (const Op *op = c->first; op != c->end; op = op->next)
		if (op == v->def) return true;
	return false;
}

static void make_picked(Cu *g, Names *names, const CuChunks *c, Op *op)
{
	Str x = op == c->pick.select ? cu_at(g, ir_in(op, 1), "0") : point_text(g, op, "0");
	if (!cu_val(g, op->out[0])->inside) name_once(g, names, op->out[0], cu_name(g, op->out[0]));
	print_point(g, op, true, x);
}

static void print_picked(Cu *g, const CuChunks *c, const bool *needed)
{
	Str here = is_here_text(g, &c->pick);
	Names names = { 0 };
	out_printf(g->o, "if (%s) {\n", picked_text(g, &c->pick, "0", 1 << log2_of(c->n)));
	out_in(g->o);
	for (const Op *op = c->first; op != c->end; op = op->next)
		for (int i = 0; is_printed(g, op) && needed[op->out[0]->id] && i < op->nin; i++)
			if (!is_of_loop(c, ir_in(op, i))) take_picked(g, &names, ir_in(op, i), c, here);
	int taken = names.n;
	for (Op *op = c->first; op != c->end; op = op->next)
		if (is_printed(g, op) && needed[op->out[0]->id]) make_picked(g, &names, c, op);
	for (int i = 0; i < names.n; i++) {
		const Val *v = names.p[i].v;
		Str name = cu_val(g, v)->name;
		*cu_val(g, v) = names.p[i].was;
		if (i < taken) continue;
		(void)!peel_loop(g, "ct_r", c->n, *v->lay, 0);
		Str at = cu_at(g, v, "ct_r");
		out_printf(g->o, "%s = %s ? %s : %s;\n", at, here, name, at);
		cu_end(g);
	}
	cu_end(g);
}

static void print_once(Cu *g, const CuChunks *c, const bool *needed)
{
	const Op *like = c->first, *select = c->pick.select;
	while (!is_printed(g, like)) like = like->next;
	(void)!peel_loop(g, "ct_r", c->n, *like->out[0]->lay, 0);
	for (const Op *op = c->first; op != c->end; op = op->next)
		if (is_printed(g, op) && !is_picked(&c->pick, op))
			print_point(g, op, true, op == select ? cu_at(g, ir_in(op, 2), "ct_r") : point_text(g, op, "ct_r"));
	cu_end(g);
	print_picked(g, c, needed);
}

static void print_chunks(Cu *g, const CuChunks *c)
{
	const bool *needed = made_once(g, c);
	if (needed) {
		print_once(g, c, needed);
		return;
	}
	out_puts(g->o, "#pragma unroll\n");
	const Op *like = c->first;      /* one that has registers */
	while (!is_printed(g, like)) like = like->next;
	Str n = cu_leaves_out(g, *like->out[0]->lay) ? str_intern("ct_used") : str_i64(c->n);
	out_printf(g->o, "for (int ct_k = 0; ct_k < %s; ct_k += %d) {\n", n, c->each);
	out_in(g->o);
	print_chunk(g, c);
	cu_end(g);
}

void elem_print_late(Cu *g, Str reg)
{
	if (!g->late) return;
	out_printf(g->o, "const int ct_k = %s;\n", reg);
	print_chunk(g, g->late);
}

/* Names what op makes, and declares it where others need it. false: it is a name only. */
static bool begin_point(Cu *g, const Op *op)
{
	if (name_only(g, op)) return false;
	CuVal *v = cu_val(g, op->out[0]);
	if (!v->declared) v->name = cu_name(g, op->out[0]);
	if (op->code == OP_LITERAL) {
		cu_line(g, op);
		literal_table(g, op);
	}
	if (!v->inside && regs_of(op->out[0]) > 1) cu_declare(g, op->out[0]);
	return true;
}

/* A vector of a peeled row is a chunk. */
static void print_of_part(Cu *g, const CuChunks *c)
{
	if (g->part == PART_END || !c->each) {
		print_each(g, c->first, c->end, c->n);
		return;
	}
	out_printf(g->o, "{\nconst int ct_k = ct_part * %d;\n", c->each);
	print_chunk(g, c);
	out_puts(g->o, "}\n");
}

static int chunk_of(Cu *g, const Op *first, const Op *end)
{
	for (const Op *op = first; op != end; op = op->next)
		if (!cu_val(g, op->out[0])->splat) return (int)ir_int(op, AT_CHUNK, 0);
	return 0;
}

static Op *print_loop(Cu *g, Op *first, Op *end, int n)
{
	CuChunks *c = NEW(A_TMP, CuChunks);
	*c = (CuChunks){ first, end, n, chunk_of(g, first, end), find_pick(g, first, end), { NULL, NULL } };
	if (g->part) {
		print_of_part(g, c);
		return end;
	}
	if (end && ir_attr(end, AT_CHUNK) && end->code == OP_CAST && op_in_own_loop(end)) c->next.pairs = end;
	if (end && ir_attr(end, AT_CHUNK) && end->code == OP_REDUCE_REGS) c->next.sum = end;
	if (c->next.pairs) begin_point(g, end);
	if (c->next.sum) reduce_begin(g, end);
	const Op *store = c->next.pairs ? end->next : end;
	if (store && store->code == OP_STORE && ir_attr(store, AT_CHUNK)) g->late = c;
	else print_chunks(g, c);
	return c->next.pairs || c->next.sum ? end->next : end;
}

/* ---- loops over all registers ---- */
typedef struct Statement { const Op *op; Str text; } Statement;
typedef VEC(Statement) Statements;

static bool is_part(Cu *g, const Op *op, Str text)
{
	const Op *user = only_user(g, op, text);
	return user && op->code != OP_LITERAL && op_is_pointwise(user) && is_printed(g, user) && !op_in_own_loop(user)
		&& cu_val(g, user->out[0])->group == cu_val(g, op->out[0])->group;
}

/* What a loop does. waiting: expressions that will be part of others, from `done` on; nvcc evaluates arguments in their
 * order, so that all is computed in the order in which the operations stand. */
typedef struct Body { Statements lines, waiting; int done; } Body;

/* Those that wait become statements of their own. */
static void flush(Cu *g, Body *b, int to)
{
	for (; b->done < to; b->done++) {
		Statement *s = &b->waiting.p[b->done];
		cu_val(g, s->op->out[0])->name = cu_name(g, s->op->out[0]);
		vec_push(A_TMP, &b->lines, *s);
	}
}

/* Are the operands of op that wait the last ones, in order? *n: how many there are. */
static bool takes_last(const Body *b, const Op *op, int *n)
{
	*n = 0;
	for (int i = 0; i < op->nin; i++)
		for (int k = b->done; k < b->waiting.n; k++) *n += b->waiting.p[k].op->out[0] == ir_in(op, i);
	int k = b->waiting.n - *n;
	for (int i = 0; i < op->nin; i++)
		if (k < b->waiting.n && b->waiting.p[k].op->out[0] == ir_in(op, i)) k++;
	return k == b->waiting.n;
}

static Statements statements_of(Cu *g, Op *first, const Op *end)
{
	Body b = { .done = 0 };
	for (Op *op = first; op != end; op = op->next) {
		CuVal *v = cu_val(g, op->out[0]);
		int n = regs_of(op->out[0]), taken;
		if (name_only(g, op) || (v->inside && !g->uses[op->out[0]->id])) continue;
		if (op->code == OP_LITERAL) {
			if (!v->declared) v->name = cu_name(g, op->out[0]);
			cu_line(g, op);
			literal_table(g, op);
		}
		if (!takes_last(&b, op, &taken)) {
			flush(g, &b, b.waiting.n);
			taken = 0;
		}
		Statement s = { op, point_text(g, op, n > 1 ? "ct_r" : "0") };
		b.waiting.n -= taken;
		if (!v->declared && is_part(g, op, s.text)) {
			v->name = s.text;
			vec_push(A_TMP, &b.waiting, s);
			continue;
		}
		flush(g, &b, b.waiting.n);
		if (!v->declared && op->code != OP_LITERAL) v->name = cu_name(g, op->out[0]);
		vec_push(A_TMP, &b.lines, s);
	}
	flush(g, &b, b.waiting.n);
	return b.lines;
}

static void print_statements(Cu *g, const Statements *s)
{
	if (!s->n) return;
	const Val *r = s->p[0].op->out[0];
	int n = regs_of(r);
	cu_line(g, s->p[0].op);
	if (s->n == 1 && n > 1) {
		cu_fill(g, r);
		out_printf(g->o, "%s[ct_r] = %s;%s\n", cu_val(g, r)->name, s->p[0].text, cu_said(g, r));
		return;
	}
	for (int i = 0; i < s->n && n > 1; i++)
		if (!cu_val(g, s->p[i].op->out[0])->inside) cu_declare(g, s->p[i].op->out[0]);
	if (n > 1) (void)!peel_loop(g, "ct_r", n, *r->lay, 0);
	for (int i = 0; i < s->n; i++) print_point(g, s->p[i].op, n > 1, s->p[i].text);
	if (n > 1) cu_end(g);
}

Op *elem_group(Cu *g, Op *first, const Op *limit)
{
	int group = 0, n = 1;
	Op *end = first;
	for (; end != limit && op_is_pointwise(end); end = end->next) {
		if (!group && !cu_val(g, end->out[0])->splat) group = cu_val(g, end->out[0])->group;
		if (!in_group(g, end, group)) break;
	}
	const Op *own = NULL;
	for (const Op *op = first; op != end; op = op->next)
		if (!cu_val(g, op->out[0])->splat && op_in_own_loop(op)) own = op;
	if (!own && !g->part && !chunk_of(g, first, end)) {
		Statements s = statements_of(g, first, end);
		print_statements(g, &s);
		return end;
	}
	const Op *made = NULL;          /* the first that makes something */
	for (Op *op = first; op != end; op = op->next) {
		if (!made && is_printed(g, op)) cu_line(g, made = op);
		if (begin_point(g, op)) n = regs_of(op->out[0]);
	}
	if (!made) return end;
	cu_line(g, made);
	if (own && own->code == OP_CAST) print_pairs(g, own);
	else if (own && own->code == OP_OPAQUE) words_opaque(g, own);
	else if (own) random_print(g, own);
	else return print_loop(g, first, end, n);
	return end;
}

static bool is_scalar_op(const Op *op)
{
	return op_has(op, OPF_ELEMWISE) && op->nout == 1 && type_is_scalar(op->out[0]->type);
}

void elem_scalar(Cu *g, const Op *op)
{
	Str arg[4];
	CuVal *r = cu_val(g, op->out[0]);
	const Type *t = op->out[0]->type;
	for (int i = 0; i < op->nin && i < 4; i++) arg[i] = cu_scalar(g, ir_in(op, i));
	Str x = elem_text(g, op, arg);
	const Op *user = only_user(g, op, x);
	if (user && is_scalar_op(user)) {
		r->name = x;
		return;
	}
	r->name = cu_name(g, op->out[0]);
	cu_line(g, op);
	out_printf(g->o, "%s%s = %s;\n", cu_const(t->elem), r->name, x);
}
