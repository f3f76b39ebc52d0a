/* Loops over registers in chunks of some of them, so that few values are in registers at once, and what only one
 * element of a row needs (placed/rare.c). */
#include "base/diag.h"
#include "emit_cuda/elem.h"
#include "emit_cuda/peel.h"
#include "placed/loops.h"

/* ---- what one element alone needs ---- */
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

/* May one of `chunk` registers from `first` on, a power of two, hold the number? */
static Str picked_text(Cu *g, const Pick *p, CuInt first, int chunk)
{
	Str number = cu_val(g, ir_in(ir_in(p->select, 0)->def, 1))->name, near = cu_map_reg(&p->m, cu_int(chunk - 1)).text;
	if (g->part) number = str_fmt("(unsigned int)%s - (unsigned int)ct_begin", number);
	if (p->from) number = str_fmt("(unsigned int)%s - (unsigned int)%s", number, cu_val(g, p->from)->name);
	if (g->shifted && holds_row(g->fn, *p->numbers->lay)) number = str_fmt("(unsigned int)%s + ct_phase", number);
	return str_fmt("((((unsigned int)(%s)) ^ (%s)) & ~%s%s) == 0", number,
		cu_map_place(&p->m, first).text, near, p->m.by_lanes ? "" : "u");
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
	elem_print_pair(g, pairs, cu_var("ct_r"));
	cu_end(g);
}

/* All of a chunk's loop, or what most elements need. */
static void print_part(Cu *g, const CuChunks *c, bool all)
{
	const Op *select = c->pick.select;
	print_registers(g, "", c->each);
	for (Op *op = c->first; op != c->end; op = op->next) {
		bool made = all ? !cu_val(g, op->out[0])->inside && !c->pick.made[op->out[0]->id]
			: select && is_picked(&c->pick, op);
		if (!elem_is_printed(g, op) || made) continue;
		elem_print_point(g, op, true, op == select && !all ? cu_at(g, ir_in(op, 2), "ct_r")
			: elem_point(g, op, cu_var("ct_r")));
	}
	if (c->next.sum) reduce_register(g, c->next.sum, cu_var("ct_r"));
	cu_end(g);
	print_rounding(g, c->next.pairs, c->each);
}

/* The few threads that hold the number compute the chunk twice, so that nothing but its result
 * is live where they part. */
void chunks_print_one(Cu *g, const CuChunks *c)
{
	print_part(g, c, false);
	if (!c->pick.select) return;
	out_printf(g->o, "if (%s) {\n", picked_text(g, &c->pick, cu_var("ct_k"), c->each));
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
	if (elem_says_numbers(g, op)) return false;
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
	return str_fmt("ct_same_u32(%s, (unsigned int)%s - (unsigned int)%s%s)",
		cu_map_reg(&p->m, cu_compound("(unsigned int)ct_r")).text,
		cu_val(g, ir_in(ir_in(p->select, 0)->def, 1))->name, cu_map_thread(&p->m).text,
		shifts ? " + (unsigned int)ct_phase" : "");
}

/* With few registers, what a single element needs is not computed for each register in which some thread of the warp
 * holds it - a warp has many short rows - but once, from the register that each thread selects. NULL: by registers. */
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
	(void)peel_loop(g, "ct_r", c->n, *v->lay, 0).text;
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
	Str x = op == c->pick.select ? cu_at(g, ir_in(op, 1), "0") : elem_point(g, op, cu_int(0));
	if (!cu_val(g, op->out[0])->inside) name_once(g, names, op->out[0], cu_name(g, op->out[0]));
	elem_print_point(g, op, true, x);
}

static void print_picked(Cu *g, const CuChunks *c, const bool *needed)
{
	Str here = is_here_text(g, &c->pick);
	Names names = { 0 };
	out_printf(g->o, "if (%s) {\n", picked_text(g, &c->pick, cu_int(0), 1 << log2_of(c->n)));
	out_in(g->o);
	for (const Op *op = c->first; op != c->end; op = op->next)
		for (int i = 0; elem_is_printed(g, op) && needed[op->out[0]->id] && i < op->nin; i++)
			if (!is_of_loop(c, ir_in(op, i))) take_picked(g, &names, ir_in(op, i), c, here);
	int taken = names.n;
	for (Op *op = c->first; op != c->end; op = op->next)
		if (elem_is_printed(g, op) && needed[op->out[0]->id]) make_picked(g, &names, c, op);
	for (int i = 0; i < names.n; i++) {
		const Val *v = names.p[i].v;
		Str name = cu_val(g, v)->name;
		*cu_val(g, v) = names.p[i].was;
		if (i < taken) continue;
		(void)peel_loop(g, "ct_r", c->n, *v->lay, 0).text;
		Str at = cu_at(g, v, "ct_r");
		out_printf(g->o, "%s = %s ? %s : %s;\n", at, here, name, at);
		cu_end(g);
	}
	cu_end(g);
}

static void print_once(Cu *g, const CuChunks *c, const bool *needed)
{
	const Op *like = c->first, *select = c->pick.select;
	while (!elem_is_printed(g, like)) like = like->next;
	(void)peel_loop(g, "ct_r", c->n, *like->out[0]->lay, 0).text;
	for (const Op *op = c->first; op != c->end; op = op->next)
		if (elem_is_printed(g, op) && !is_picked(&c->pick, op))
			elem_print_point(g, op, true, op == select ? cu_at(g, ir_in(op, 2), "ct_r")
				: elem_point(g, op, cu_var("ct_r")));
	cu_end(g);
	print_picked(g, c, needed);
}

void chunks_print(Cu *g, const CuChunks *c)
{
	const bool *needed = made_once(g, c);
	if (needed) {
		print_once(g, c, needed);
		return;
	}
	out_puts(g->o, "#pragma unroll\n");
	const Op *like = c->first;      /* one that has registers */
	while (!elem_is_printed(g, like)) like = like->next;
	Str n = cu_leaves_out(g, *like->out[0]->lay) ? str_intern("ct_used") : str_i64(c->n);
	out_printf(g->o, "for (int ct_k = 0; ct_k < %s; ct_k += %d) {\n", n, c->each);
	out_in(g->o);
	chunks_print_one(g, c);
	cu_end(g);
}

void elem_print_late(Cu *g, CuInt reg)
{
	if (!g->late) return;
	out_printf(g->o, "const int ct_k = %s;\n", reg.text);
	chunks_print_one(g, g->late);
}

int chunks_each(Cu *g, const Op *first, const Op *end)
{
	for (const Op *op = first; op != end; op = op->next)
		if (!cu_val(g, op->out[0])->splat) return (int)ir_int(op, AT_CHUNK, 0);
	return 0;
}

CuChunks *chunks_of(Cu *g, Op *first, const Op *end, int n)
{
	CuChunks *c = NEW(A_TMP, CuChunks);
	*c = (CuChunks){ first, end, n, chunks_each(g, first, end), find_pick(g, first, end), { NULL, NULL } };
	return c;
}
