/* Operations that work register by register, and the loops they share. */
#include <string.h>

#include "base/diag.h"
#include "emit/optext.h"
#include "emit_cuda/access.h"
#include "emit_cuda/peel.h"

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
	static const char *const fns[] = { [KIND_SUM] = "add", [KIND_PROD] = "mul", [KIND_MAX] = "max", [KIND_MIN] = "min",
		[KIND_AND] = "bitand", [KIND_OR] = "bitor", [KIND_XOR] = "bitxor" };
	return str_fmt("%s(%s, %s)", op_combine(fns[kind], op, e), a, b);
}

/* ---- what works register by register ---- */
bool elem_is_pointwise(const Op *op)
{
	unsigned f = op_rows[op->code].flags;
	if (op->nout != 1 || !type_is_tile(op->out[0]->type)) return false;
	switch (op->code) {
	case OP_CONST: case OP_IOTA: case OP_BROADCAST: case OP_RESHAPE: case OP_PERMUTE: case OP_CONVERT_REGS: return true;
	case OP_LITERAL: return op->nin == 0;
	default: return f & OPF_ELEMWISE && !(f & (OPF_READ | OPF_WRITE));
	}
}

/* Where the operand of a broadcast holds what each register of the result shows. */
Lay elem_broadcast_source(const Op *op)
{
	const Val *x = ir_in(op, 0), *r = op->out[0];
	int pad = r->type->rank - x->type->rank;
	unsigned axes = 0;
	for (int a = 0; a < x->type->rank; a++)
		if (x->type->log2[a]) axes |= 1u << (pad + a);
	Lay p = lay_pick(*r->lay, ~0u, axes), c;
	for (int i = 0; i < pad; i++)
		if (!lay_squeeze(p, 0, &p)) bug("a broadcast has no layout");
	if (lay_pull(p, *x->lay, &c) > CVT_REGS) bug("a broadcast moves data between threads");
	return c;
}

/* Is register i of the result register i of the operand? */
static bool keeps_registers(const Op *op)
{
	if (op->code != OP_BROADCAST || cu_regs(ir_in(op, 0)) != cu_regs(op->out[0])) return false;
	CuMap m = cu_map(elem_broadcast_source(op), LAY_HWAXIS(HW_REG));
	for (int i = 0; i < m.nreg + m.nlane + m.nwarp; i++)
		if (m.col[i] != (i < m.nreg ? (uint32_t)1 << i : 0)) return false;
	return true;
}

static bool moves_registers(const Op *op)
{
	return op->code == OP_CONVERT_REGS || (op->code == OP_BROADCAST && type_is_tile(ir_in(op, 0)->type) && !keeps_registers(op));
}

static bool is_splat(Cu *g, const Op *op)
{
	if (op->code == OP_CONST || (op->code == OP_BROADCAST && !type_is_tile(ir_in(op, 0)->type))) return true;
	return (op->code == OP_RESHAPE || op->code == OP_PERMUTE || op->code == OP_CONVERT_REGS || op->code == OP_BROADCAST)
		&& cu_val(g, ir_in(op, 0))->splat;
}

static bool is_alias(const Op *op) { return op->code == OP_RESHAPE || op->code == OP_PERMUTE; }

/* Rounding to 16 bits takes two numbers an instruction: such a cast has a loop of its own, over pairs of registers. */
static bool in_pairs(const Op *op)
{
	Elem to = op->out[0]->type->elem;
	return op->code == OP_CAST && (to == EL_F16 || to == EL_BF16) && ir_in(op, 0)->type->elem == EL_F32 && cu_regs(op->out[0]) > 1
		&& !ir_int(op, AT_ROUNDING, 0) && !ir_int(op, AT_OVERFLOW, 0);
}

static bool in_own_loop(const Cu *g, const Op *op)
{
	return in_pairs(op) || random_by_fours(g, op) || (op->code == OP_OPAQUE && cu_regs(op->out[0]) > 1);
}

/* Neighbours of one register count share a loop, unless one needs all registers of another. */
static void plan_block(Cu *g, IrBlock *b)
{
	int group = 0, regs = 0;
	for (Op *op = b->first; op; op = op->next) {
		for (int i = 0; i < op->nregion; i++) plan_block(g, op->region[i]);
		if (op == g->stream.first) group = 0;
		if (!elem_is_pointwise(op)) {
			group = 0;
			continue;
		}
		CuVal *r = cu_val(g, op->out[0]);
		if (is_splat(g, op)) {
			r->splat = true;
			continue;
		}
		int n = cu_regs(op->out[0]);
		bool whole = moves_registers(op) && cu_val(g, ir_in(op, 0))->group == group && group;
		bool moved = moves_registers(op) && is_alias(ir_in(op, 0)->def ? ir_in(op, 0)->def : op);
		if (!group || n != regs || whole || moved || in_own_loop(g, op)) group = ++g->ngroup;
		regs = n;
		r->group = group;
		if (in_own_loop(g, op)) group = 0;
	}
}

/* What no one else reads is a variable of the loop. */
static void count_outside(void *ctx, Op *op)
{
	Cu *g = ctx;
	bool point = elem_is_pointwise(op);
	int own = point ? cu_val(g, op->out[0])->group : 0;
	for (int i = 0; i < op->nin; i++) {
		CuVal *v = cu_val(g, ir_in(op, i));
		if (v->group && (v->group != own || is_alias(op))) v->inside = false;
	}
}

static void start_inside(void *ctx, Op *op)
{
	Cu *g = ctx;
	if (!elem_is_pointwise(op)) return;
	CuVal *v = cu_val(g, op->out[0]);
	v->inside = v->group && cu_regs(op->out[0]) > 1 && !is_alias(op);
}

void elem_plan(Cu *g)
{
	plan_block(g, g->fn->body);
	stream_plan(g);
	g->ngroup = 0;
	plan_block(g, g->fn->body);     /* no loop goes from in front of the stream into it */
	ir_walk(g->fn->body, start_inside, g);
	ir_walk(g->fn->body, count_outside, g);
	g->rare = rare_values(g->fn, A_TMP);
}

/* ---- printing ---- */
static Str iota_text(const Cu *g, const Op *op, const char *reg)
{
	const Lay *l = op->out[0]->lay;
	CuMap m = cu_map(*l, LAY_PACKED);
	if (peel_row(g->fn, *l)) return str_fmt("(%s)%s", cu_type(op->out[0]->type->elem), peel_iota(g, *l, reg));
	Str at = cu_xor(cu_map_thread(&m), cu_map_reg(&m, reg));
	bool shifts = g->shifted && holds_row(g->fn, *l);       /* places before the row: numbers beyond its end */
	int64_t n = shifts ? (int64_t)1 << g->fn->row_log2 : g->turned;
	if (n && type_size(op->out[0]->type) > 1)
		return str_fmt("(%s)(((unsigned int)(%s) - (unsigned int)ct_phase) & %lldu)", cu_type(op->out[0]->type->elem), at, (long long)n - 1);
	return str_fmt("(%s)%s", cu_type(op->out[0]->type->elem), str_fmt("(%s)", at));
}

/* An element's number compared with a scalar: with what the thread's part leaves of the scalar, so that a register costs one
 * instruction. NULL: another comparison. */
static Str compared_text(Cu *g, const Op *op, const char *reg)
{
	static const struct { OpCode code; const char *sign; bool negated; } signs[] = {
		{ OP_LT, "<", false }, { OP_LE, "<=", false }, { OP_GT, "<=", true }, { OP_GE, "<", true }
	};
	const Val *x = ir_in(op, 0), *y = ir_in(op, 1);
	if (g->turned || cu_regs(op->out[0]) == 1 || !x->def || x->def->code != OP_IOTA || x->type->elem != EL_I32 || !cu_val(g, y)->splat)
		return NULL;
	if (peel_row(g->fn, *x->lay)) {
		if (op->code == OP_EQ || op->code == OP_NE) return peel_equals(g, *x->lay, reg, cu_val(g, y)->name, op->code == OP_EQ ? "==" : "!=");
		bool length = (op->code == OP_LT || op->code == OP_GE) && cut_is_length(g->fn, y);
		return length ? str_fmt("(unsigned char)%s%s", op->code == OP_GE ? "!" : "", peel_below_length(g, *x->lay, reg)) : NULL;
	}
	CuMap m = cu_map(*x->lay, LAY_PACKED);
	uint32_t in_reg = 0, in_thread = 0;
	for (int i = 0; i < m.nreg; i++) in_reg |= m.col[i];
	for (int i = m.nreg; i < m.nreg + m.nlane + m.nwarp; i++) in_thread |= m.col[i];
	if (in_reg & in_thread) return NULL;
	bool row = holds_row(g->fn, *x->lay), shifts = g->shifted && row, sure = g->fn->row_sure && row && cut_is_length(g->fn, y);
	int i = 0;
	Str thread = cu_map_thread(&m);
	if (op->code == OP_EQ || op->code == OP_NE)     /* what lies in front of a row is never stored: it may equal what it likes */
		return str_fmt("(unsigned char)(%s %s (unsigned int)%s - (unsigned int)%s%s)", cu_map_reg(&m, str_fmt("(unsigned int)%s", reg)),
			op->code == OP_EQ ? "==" : "!=", cu_val(g, y)->name, thread, shifts ? " + (unsigned int)ct_phase" : "");
	while (i < 4 && op->code != signs[i].code) i++;
	if (i == 4) return NULL;
	Out *o = out_new();
	out_printf(o, "(unsigned char)%s(", signs[i].negated ? "!" : "");
	if (sure) out_printf(o, "(%s%s%s < %d) || (", shifts ? reg : "", shifts ? " && " : "", reg, g->fn->row_sure);
	if (shifts) out_printf(o, "(%s || (int)%s >= ct_phase) && ", reg, thread);     /* what lies in front counts as after */
	Str left = str_fmt("ct_within((long long)%s - (int)%s%s)", cu_val(g, y)->name, thread, shifts ? " + ct_phase" : "");
	if (!in_thread && !shifts) left = cu_val(g, y)->name;   /* a thread has whole rows */
	out_printf(o, "(int)%s %s %s%s)", cu_map_reg(&m, reg), signs[i].sign, left, sure ? ")" : "");
	return out_take(o);
}

static Str literal_text(Cu *g, const Op *op, const char *reg)
{
	CuMap m = cu_map(*op->out[0]->lay, LAY_PACKED);
	return str_fmt("ct_%s_values[%s]", cu_val(g, op->out[0])->name, cu_xor(cu_map_thread(&m), cu_map_reg(&m, reg)));
}

static bool is_asked(const Sym *guard, const Sym *s)
{
	return guard == s || (guard->kind == SYM_AND && (is_asked(guard->arg[0], s) || is_asked(guard->arg[1], s)));
}

/* A power of two that divides an extent where the version's guard holds. 1: nothing is known. */
static int64_t asked_multiple(const Cu *g, const Val *v)
{
	enum { MOST = 16 };     /* elements of the widest piece */
	while (v->def && (v->def->code == OP_CAST || v->def->code == OP_BROADCAST)) v = ir_in(v->def, 0);
	if (!g->aligned || !v->def || v->def->code != OP_LAUNCH) return 1;
	const Sym *s = ir_attr(v->def, AT_SYM)->u.sym;
	if (s->kind != SYM_ATOM || s->atom != ATOM_DIM) return 1;
	for (int n = MOST; n > 1; n /= 2)
		if (is_asked(g->guard, sym_cmp(SYM_EQ, sym_mod(s, sym_const(n)), sym_const(0)))) return n;
	return 1;
}

/* For aligned tensors, whose extents are multiples of a piece: the elements of a piece lie before an extent if the first does, so
 * one comparison serves all. The text of operand i of a comparison that so becomes the same for the whole piece; NULL: it is none. */
static Str of_piece(Cu *g, const Op *op, int i, Str text)
{
	bool below = i == 0 ? op->code == OP_LT || op->code == OP_GE : op->code == OP_GT || op->code == OP_LE;
	const Val *x = ir_in(op, i);
	uint8_t bit[LAY_BITS];
	if (!below || !type_is_tile(x->type) || !x->def || x->def->code != OP_IOTA || !elem_is_int(x->type->elem)) return NULL;
	int64_t multiple = asked_multiple(g, ir_in(op, 1 - i));
	int axis = x->type->rank - 1, run = x->lay->out[axis] ? lay_run(*x->lay, axis, bit) : 0;
	while (run > 0 && multiple % ((int64_t)1 << run)) run--;
	return run ? str_fmt("(%s & ~%d)", text, (1 << run) - 1) : NULL;
}

static Str point_text(Cu *g, const Op *op, const char *reg)
{
	Str arg[4];
	Lay c;
	switch (op->code) {
	case OP_IOTA: return iota_text(g, op, reg);
	case OP_LITERAL: return literal_text(g, op, reg);
	case OP_BROADCAST: return cu_pulled(g, ir_in(op, 0), elem_broadcast_source(op), reg);
	case OP_CONVERT_REGS:
		if (lay_pull(*op->out[0]->lay, *ir_in(op, 0)->lay, &c) > CVT_REGS) bug("convert_regs moves data between threads");
		return cu_pulled(g, ir_in(op, 0), c, reg);
	default: break;
	}
	bool pieces = false;
	for (int i = 0; i < op->nin && i < 4; i++) {
		arg[i] = cu_at(g, ir_in(op, i), reg);
		Str piece = of_piece(g, op, i, arg[i]);
		if (piece) arg[i] = piece, pieces = true;
	}
	if (op->nin == 2 && !pieces && compared_text(g, op, reg)) return compared_text(g, op, reg);
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
	if (!is_alias(op)) return false;
	CuVal *x = cu_val(g, ir_in(op, 0));
	r->name = x->name;
	return true;
}

static bool in_group(Cu *g, const Op *op, int group)
{
	if (!elem_is_pointwise(op)) return false;
	const CuVal *v = cu_val(g, op->out[0]);
	return v->splat || v->group == group;
}

static void print_pair(Cu *g, const Op *op)
{
	const Val *r = op->out[0];
	Str lo = str_intern("2 * ct_r"), hi = str_intern("2 * ct_r + 1");
	out_printf(g->o, "const unsigned int ct_w = ct_cvt_%sx2_f32(%s, %s);\n", elem_rows[r->type->elem].name, cu_at(g, ir_in(op, 0), lo),
		cu_at(g, ir_in(op, 0), hi));
	out_printf(g->o, "%s = ct_get_b16(ct_w, 0);\n%s = ct_get_b16(ct_w, 1);\n", cu_at(g, r, lo), cu_at(g, r, hi));
}

static void print_pairs(Cu *g, const Op *op)
{
	const Val *r = op->out[0];
	Str last = str_i64(cu_regs(r) - 1);
	cu_line(g, op);
	if (g->part == PART_END) {
		out_printf(g->o, "%s = %s;\n", cu_at(g, r, last), point_text(g, op, last));
		return;
	}
	peel_loop(g, "ct_r", cu_regs(r) / 2, *r->lay, 1);
	print_pair(g, op);
	cu_end(g);
}

static void print_point(Cu *g, const Op *op, bool many, Str x)
{
	CuVal *v = cu_val(g, op->out[0]);
	if (v->splat || is_alias(op)) return;
	cu_line(g, op);
	if (v->inside || !many) out_printf(g->o, "%s%s = %s;\n", cu_const(op->out[0]->type->elem), v->name, x);
	else out_printf(g->o, "%s[ct_r] = %s;\n", v->name, x);
}

static void print_each(Cu *g, Op *first, const Op *end, int n)
{
	const Op *like = first;         /* one that has registers */
	while (cu_val(g, like->out[0])->splat || is_alias(like)) like = like->next;
	if (n > 1) peel_loop(g, "ct_r", n, *like->out[0]->lay, 0);
	for (Op *op = first; op != end; op = op->next)
		if (!cu_val(g, op->out[0])->splat && !is_alias(op)) print_point(g, op, n > 1, point_text(g, op, n > 1 ? "ct_r" : "0"));
	if (n > 1) cu_end(g);
}

/* ---- what one element alone needs ---- */
enum {
	CHUNK = 3,              /* log2 of the registers of a chunk */
	PICK_LEAST = 16,        /* fewest registers of a tile that is cut into chunks for one element, */
	MANY = 64               /* and always */
};

/* A select of a loop that takes its first arm for one number of an element (rare.c). By Val id, made: what the loop makes of it; common:
 * what all elements need. */
typedef struct Pick { const Op *select; const Val *numbers, *from; CuMap m; bool *made, *common; } Pick;

static bool *made_of(const Cu *g, const Op *select, const Op *end)
{
	bool *made = NEW_ARRAY(A_UNIT, bool, g->fn->nval);
	made[select->out[0]->id] = true;
	for (const Op *op = select->next; op != end; op = op->next)
		for (int i = 0; i < op->nin; i++)
			if (made[ir_in(op, i)->id]) made[op->out[0]->id] = true;
	return made;
}

static bool is_picked(const Cu *g, const Pick *p, const Op *op)
{
	int id = op->out[0]->id;
	return g->val[id].inside && g->rare[id] && !p->common[id];
}

/* A value that one element alone needs may be made for all, where another loop asks for it, too: so must be what it is made of. */
static void find_common(Cu *g, const Op *first, const Op *end, Pick *p)
{
	VEC(const Op *) ops = { 0 };
	p->common = NEW_ARRAY(A_UNIT, bool, g->fn->nval);
	for (const Op *op = first; op != end; op = op->next) vec_push(A_TMP, &ops, op);
	while (ops.n) {
		const Op *op = ops.p[--ops.n];
		bool unused = is_alias(op) ? !p->common[op->out[0]->id] : is_picked(g, p, op);
		if (cu_val(g, op->out[0])->splat || unused) continue;
		for (int i = op == p->select ? 2 : 0; i < op->nin; i++) p->common[ir_in(op, i)->id] = true;
	}
}

/* Texts that leave registers out (cut.c) have any number of them; a piece of a peeled row is a chunk. */
static bool in_chunks(const Cu *g, int n) { return (g->part || n % (1 << CHUNK) == 0) && cu_unrolled(n); }

static bool find_pick(Cu *g, const Op *first, const Op *end, int n, Pick *p)
{
	*p = (Pick){ 0 };
	if (n < PICK_LEAST || !in_chunks(g, n) || g->turned) return false;
	for (const Op *op = first; op != end; op = op->next) {
		const Val *from, *x = rare_number(op, &from);
		if (!x) continue;
		if (p->select) return false;
		*p = (Pick){ op, x, from, cu_map(*x->lay, LAY_PACKED), NULL, NULL };
	}
	if (!p->select || cu_val(g, p->select->out[0])->inside || (g->shifted && holds_row(g->fn, *p->numbers->lay))) return false;
	uint32_t in_reg = 0, in_thread = 0;
	for (int i = 0; i < p->m.nreg; i++) in_reg |= p->m.col[i];
	for (int i = p->m.nreg; i < p->m.nreg + p->m.nlane + p->m.nwarp; i++) in_thread |= p->m.col[i];
	if (in_reg & in_thread) return false;
	p->made = made_of(g, p->select, end);
	find_common(g, first, end, p);
	return true;
}

/* May one of the registers from ct_k on hold the number? */
static Str picked_text(Cu *g, const Pick *p)
{
	uint32_t near = 0;
	for (int i = 0; i < CHUNK; i++) near |= p->m.col[i];
	Str number = cu_val(g, ir_in(ir_in(p->select, 0)->def, 1))->name;
	if (g->part) number = str_fmt("(unsigned int)%s - (unsigned int)ct_begin", number);
	if (p->from) number = str_fmt("(unsigned int)%s - (unsigned int)%s", number, cu_val(g, p->from)->name);
	return str_fmt("((((unsigned int)(%s)) ^ (%s)) & ~%uu) == 0", number, cu_xor(cu_map_thread(&p->m), cu_map_reg(&p->m, "ct_k")), near);
}

/* A loop over part of the registers: those of a chunk, or half of their numbers. */
static void print_registers(Cu *g, const char *from, int count)
{
	out_puts(g->o, "#pragma unroll\n");
	out_printf(g->o, "for (int ct_r = ct_k%s; ct_r < ct_k%s + %d; ct_r++) {\n", from, from, count);
	out_in(g->o);
}

static void print_rounding(Cu *g, const Op *pairs)
{
	if (!pairs) return;
	cu_line(g, pairs);
	print_registers(g, " / 2", 1 << (CHUNK - 1));
	print_pair(g, pairs);
	cu_end(g);
}

/* What a loop's last value goes through at once: rounding in pairs or a reduction. NULL: neither. */
typedef struct Next { const Op *pairs, *sum; } Next;

/* A loop in chunks of registers, each with what one of its elements alone needs (no pick.select: nothing) and with what is next: so
 * few values are in registers at once. */
typedef struct CuChunks { Op *first; const Op *end; int n; Pick pick; Next next; } CuChunks;

/* All of a chunk's loop, or what most elements need. */
static void print_part(Cu *g, const CuChunks *c, bool all)
{
	const Op *select = c->pick.select;
	print_registers(g, "", 1 << CHUNK);
	for (Op *op = c->first; op != c->end; op = op->next) {
		const CuVal *v = cu_val(g, op->out[0]);
		bool made = all ? !v->inside && !c->pick.made[op->out[0]->id] : select && is_picked(g, &c->pick, op);
		if (v->splat || is_alias(op) || made) continue;
		print_point(g, op, true, op == select && !all ? cu_at(g, ir_in(op, 2), "ct_r") : point_text(g, op, "ct_r"));
	}
	if (c->next.sum) reduce_register(g, c->next.sum, "ct_r");
	cu_end(g);
	print_rounding(g, c->next.pairs);
}

/* The few threads that hold the number compute the chunk twice, so that nothing but its result is live where they part. */
static void print_chunk(Cu *g, const CuChunks *c)
{
	print_part(g, c, false);
	if (!c->pick.select) return;
	out_printf(g->o, "if (%s) {\n", picked_text(g, &c->pick));
	out_in(g->o);
	print_part(g, c, true);
	cu_end(g);
}

static void print_chunks(Cu *g, const CuChunks *c)
{
	out_puts(g->o, "#pragma unroll\n");
	out_printf(g->o, "for (int ct_k = 0; ct_k < %d; ct_k += %d) {\n", c->n, 1 << CHUNK);
	out_in(g->o);
	print_chunk(g, c);
	cu_end(g);
}

/* Where a store in pieces of so many registers follows, and nobody else needs what it stores, each chunk is made in front of its
 * piece. */
static bool goes_to_store(const Cu *g, const Op *pairs)
{
	const Op *store = pairs->next;
	return g->aligned && g->one_way && store && store->code == OP_STORE && ir_in(store, store->nin - 1) == pairs->out[0]
		&& g->uses[pairs->out[0]->id] == 1;
}

void elem_flush(Cu *g)
{
	if (g->late) print_chunks(g, g->late);
	g->late = NULL;
}

bool elem_is_late(const Cu *g, int piece, uint32_t registers) { return g->late && piece == 1 << CHUNK && registers == (1 << CHUNK) - 1; }

void elem_print_late(Cu *g)
{
	if (!g->late) return;
	out_puts(g->o, "const int ct_k = ct_b;\n");
	print_chunk(g, g->late);
}


static bool is_made_here(Cu *g, const Val *v, const Op *first, const Op *end)
{
	for (const Op *op = first; op != end; op = op->next)
		if (op == v->def) return !is_alias(op) && !cu_val(g, v)->splat;
	return false;
}

/* Names what op makes, and declares it where others need it. false: it is a name only. */
static bool begin_point(Cu *g, const Op *op)
{
	if (name_only(g, op)) return false;
	CuVal *v = cu_val(g, op->out[0]);
	if (!v->declared) v->name = cu_name(g, op->out[0]);
	cu_say(g, op);
	if (op->code == OP_LITERAL) {
		cu_line(g, op);
		literal_table(g, op);
	}
	if (!v->inside && cu_regs(op->out[0]) > 1) cu_declare(g, op->out[0]);
	return true;
}

static void print_of_part(Cu *g, Op *first, const Op *end, int n)
{
	CuChunks c = { first, end, n, { 0 }, { NULL, NULL } };
	if (g->part == PART_END || peel_piece(g->fn) != 1 << CHUNK || !find_pick(g, first, end, n, &c.pick)) {
		print_each(g, first, end, n);
		return;
	}
	out_printf(g->o, "{\nconst int ct_k = ct_part * %d;\n", 1 << CHUNK);
	print_chunk(g, &c);
	out_puts(g->o, "}\n");
}

static Op *print_loop(Cu *g, Op *first, Op *end, int n)
{
	Pick pick;
	if (g->part) {                  /* a piece of a peeled row is a chunk */
		print_of_part(g, first, end, n);
		return end;
	}
	bool picks = find_pick(g, first, end, n, &pick), here = end && end->nin && is_made_here(g, ir_in(end, 0), first, end);
	bool pairs = here && elem_is_pointwise(end) && in_pairs(end);
	bool many = n >= MANY && in_chunks(g, n), sums = here && !picks && many && reduce_begin(g, end);
	if (!picks && !sums && !(pairs && many)) {
		print_each(g, first, end, n);
		return end;
	}
	if (pairs) begin_point(g, end);
	CuChunks *c = NEW(A_TMP, CuChunks);
	*c = (CuChunks){ first, end, n, picks ? pick : (Pick){ 0 }, { pairs ? end : NULL, sums ? end : NULL } };
	if (pairs && many && goes_to_store(g, end)) g->late = c;
	else print_chunks(g, c);
	return pairs || sums ? end->next : end;
}

Op *elem_group(Cu *g, Op *first, const Op *limit)
{
	int group = 0, n = 1;
	Op *end = first;
	for (; end != limit && elem_is_pointwise(end); end = end->next) {
		if (!group && !cu_val(g, end->out[0])->splat) group = cu_val(g, end->out[0])->group;
		if (!in_group(g, end, group)) break;
	}
	bool any = false;
	for (Op *op = first; op != end; op = op->next) {
		if (!begin_point(g, op)) continue;
		n = cu_regs(op->out[0]);
		any = true;
	}
	if (!any) return end;
	cu_line(g, first);
	const Op *own = NULL;
	for (const Op *op = first; op != end; op = op->next)
		if (!cu_val(g, op->out[0])->splat && in_own_loop(g, op)) own = op;
	if (own && in_pairs(own)) print_pairs(g, own);
	else if (own && own->code == OP_OPAQUE) words_opaque(g, own);
	else if (own) random_print(g, own);
	else return print_loop(g, first, end, n);
	return end;
}

void elem_scalar(Cu *g, const Op *op)
{
	Str arg[4];
	CuVal *r = cu_val(g, op->out[0]);
	const Type *t = op->out[0]->type;
	for (int i = 0; i < op->nin && i < 4; i++) arg[i] = cu_scalar(g, ir_in(op, i));
	Str x = elem_text(g, op, arg);
	r->name = cu_name(g, op->out[0]);
	cu_line(g, op);
	out_printf(g->o, "%s%s = %s;\n", cu_const(t->elem), r->name, x);
}
