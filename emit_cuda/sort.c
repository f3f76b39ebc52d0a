/* Sorting, and counting in shared memory. placed/sort.c says what a sort exchanges. */
#include <math.h>
#include <string.h>

#include "emit_cuda/cu.h"

typedef struct Sort {
	Cu *g;
	const Op *op;
	SortPlan p;
	const char *key;        /* how functions call the type of keys */
	bool unrolled;          /* steps between lanes: short networks, whose loops would be most of them */
} Sort;

/* Bits of the axis that follow each other in registers, lanes or warps. */
typedef struct Bits { int from, n; } Bits;

static const char *key_type(const SortPlan *p)
{
	return p->words == 1 ? "unsigned int" : p->words == 2 ? "unsigned long long" : "ct_wide";
}

static Bits bits_from(const Sort *s, int from)
{
	const ScanPlan *at = &s->p.at;
	Bits b = { from, 1 };
	while (from + b.n < at->n && at->hw[from + b.n] == at->hw[from] && at->bit[from + b.n] == at->bit[from] + b.n)
		b.n++;
	return b;
}

/* ---- keys ---- */
/* Do all warps, or lanes, of the tile have a part of the row? NaNs count as pads where some are left out (by_warp.c).
 * NULL: always. */
static Str is_whole(const Fn *fn)
{
	if (fn->short_rows) return str_fmt("ct_log2 == %d", fn_threads(fn).lanes);
	return fn->fewer ? str_fmt("%s == %d", cu_warps_started(fn), fn->warps) : NULL;
}

static void make_keys(const Sort *s)
{
	Cu *g = s->g;
	const SortPlan *p = &s->p;
	const Val *x = ir_in(s->op, 0);
	Elem e = x->type->elem;
	const char *type = key_type(p), *name = elem_rows[e].name;
	CuMap off = cu_map_row(g, *x->lay, ir_axis(s->op));
	out_printf(g->o, "%s ct_k[%d];\n", type, p->regs);
	if (p->index) out_printf(g->o, "const unsigned int ct_t = %s;\n", cu_map_thread(&off).text);
	Str whole = p->sign ? is_whole(g->fn) : NULL;
	if (whole) out_printf(g->o, "const bool ct_all = %s;\n", whole);
	CuInt i = cu_loop(g, "ct_b", p->regs);
	Str reg = i.text, v = cu_at(g, x, reg);
	cu_line(g, s->op);
	if (whole) {
		out_printf(g->o, "const %s ct_x = ct_all || !ct_isnan_%s(%s) ? %s : %s;\n", cu_type(e), name, v, v,
			cu_num(e, num_float(p->down ? -INFINITY : INFINITY)));
		v = str_intern("ct_x");
	}
	Str down = str_intern(p->down ? "true" : "false"), low = NULL;
	Str bits = elem_is_any_float(e) ? str_fmt("ct_key_%s(%s, %s, %s)", name, v, down,
		s->op->code == OP_TOPK ? "true" : "false") : str_fmt("ct_key_%s(%s, %s)", name, v, down);
	if (p->index) low = cu_xor(cu_var("ct_t"), cu_map_reg(&off, i)).text;
	if (p->sign) low = str_fmt("%s << 1 | ct_key_sign_%s(%s)", low, name, v);
	if (p->words == 4) out_printf(g->o, "ct_k[%s].hi = %s;\nct_k[%s].lo = %s;\n", reg, bits, reg, low);
	else if (p->index) out_printf(g->o, "ct_k[%s] = (%s)%s << %d | %s;\n", reg, type, bits, p->low, low);
	else out_printf(g->o, "ct_k[%s] = %s;\n", reg, bits);
	cu_end(g);
}

static void take_values(const Sort *s)
{
	Cu *g = s->g;
	const SortPlan *p = &s->p;
	const Op *op = s->op;
	Elem e = op->out[0]->type->elem;
	const char *down = p->down ? "true" : "false";
	Str reg = cu_loop(g, "ct_b", p->regs).text;
	Str high = str_fmt(p->words == 4 ? "ct_k[%s].hi" : "ct_k[%s]", reg);
	Str low = str_fmt(p->words == 4 ? "ct_k[%s].lo" : "ct_k[%s]", reg);
	if (p->low && p->words < 4) high = str_fmt("%s >> %d", high, p->low);
	cu_line(g, op);
	if (p->words == 2 && elem_bytes(e) <= 4) high = str_fmt("(unsigned int)(%s)", high);
	Str value = p->sign ? str_fmt("ct_unkey_%s(%s, %s, %s & 1)", elem_rows[e].name, high, down, low)
		: str_fmt("ct_unkey_%s(%s, %s)", elem_rows[e].name, high, down);
	out_printf(g->o, "%s = %s;\n", cu_at(g, op->out[0], reg), value);
	if (op->nout > 1) out_printf(g->o, "%s = (int)(%s >> %d) & %lld;\n", cu_at(g, op->out[1], reg), low, p->sign,
		(long long)type_extent(op->out[0]->type, ir_axis(op)) - 1);
	cu_end(g);
}

/* ---- the network ---- */
/* The expression for place n of bits that begin at `bit`. */
static Str bit_text(CuInt n, int bit) { return cu_operand(cu_sum(n, cu_int(bit))); }

/* Lanes of a row are chosen at launch: stages among those alone. */
static bool fewer_lanes(const Sort *s) { return s->g->fn->short_rows && s->op->code == OP_SORT; }

/* The bits of hw below `from`, and of that hardware those of `b` up to n, or bit n alone. */
static CuInt mask_text(const Sort *s, Hw hw, const Bits *b, bool mirrored, CuInt n)
{
	const ScanPlan *at = &s->p.at;
	uint32_t below = mirrored ? scan_bits(at, hw, 0, b->from) : 0;
	if (at->hw[b->from] != hw)
		return below && hw == HW_LANE && fewer_lanes(s) ? cu_compound("ct_lanes - 1") : cu_int(below);
	int bit = at->bit[b->from];
	if (cu_is(n, 0)) return cu_int(below | 1u << bit);
	if (!mirrored) return cu_compound(str_fmt("1 << %s", bit_text(n, bit)));
	Str own = bit ? str_fmt("((2 << %s) - 1) << %d", n.text, bit) : str_fmt("(2 << %s) - 1", n.text);
	return cu_compound(below ? str_fmt("%u | %s", (unsigned)below, own) : own);
}

/* Keys of bit ct_n of these, mirrored or one bit away. */
static void print_step(const Sort *s, const Bits *b, bool mirrored, CuInt n)
{
	Cu *g = s->g;
	const ScanPlan *at = &s->p.at;
	Hw hw = at->hw[b->from];
	Str reg = mask_text(s, HW_REG, b, mirrored, n).text;
	CuInt lane = mask_text(s, HW_LANE, b, mirrored, n), warp = mask_text(s, HW_WARP, b, mirrored, n);
	bool lanes = !cu_is(lane, 0), warps = !cu_is(warp, 0);
	const char *thread = cu_thread(g), *places = hw == HW_LANE ? "ct_lane" : "ct_warp";
	Str top = hw != HW_REG ? str_intern("0") : mask_text(s, HW_REG, b, false, n).text, upper = str_intern("false");
	if (hw != HW_REG) upper = str_fmt("%s >> %s & 1", places, bit_text(n, at->bit[b->from]));
	if (warps) {
		Str other = str_fmt("(%s) << %d", warp.text, LANES_LOG2);
		if (lanes) other = str_fmt("(%s | %s)", other, lane.text);
		out_printf(g->o, "ct_order_warps_%s(ct_k, %d, %d, %s, %s, %s, %s, %s, %s ^ %s, %du);\n", s->key,
			s->p.regs, s->p.chunk, reg, top, upper, cu_sum(cu_var("ct_smem"), cu_int(ir_int(s->op, AT_SLOT, 0))).text,
			thread, thread, other, s->p.threads);
	} else if (lanes) {
		if (fewer_lanes(s) && hw == HW_REG)     /* of one lane */
			out_printf(g->o, "if (!ct_log2) ct_order_regs_%s(ct_k, %d, %s, %s);\nelse ", s->key, s->p.regs, reg, top);
		out_printf(g->o, "ct_order_lanes_%s(ct_k, %d, %s, %s, %s, %s);\n", s->key, s->p.regs, reg, top, upper,
			lane.text);
	} else {
		out_printf(g->o, "ct_order_regs_%s(ct_k, %d, %s, %s);\n", s->key, s->p.regs, reg, top);
	}
}

static bool loop_unrolled(const Sort *s, const Bits *b)
{
	return s->p.regs <= COST_UNROLL_REGS && (s->p.at.hw[b->from] == HW_REG || s->unrolled);
}

/* The launcher starts a power of two of warps, or gives rows that many lanes: stages among those alone. The condition
 * of a loop over these; NULL: all bits are there. */
static Str fewer_bits(const Sort *s, const Bits *b)
{
	const Fn *fn = s->g->fn;
	Hw hw = s->p.at.hw[b->from];
	if (hw == HW_LANE && fewer_lanes(s)) return str_intern("ct_n < ct_log2");
	if (hw != HW_WARP || !fn->fewer || s->op->code != OP_SORT) return NULL;
	return str_fmt("1u << ct_n < %s", cu_warps_started(fn));
}

/* Keys one bit away: from bit `last` of these down to the lowest. */
static void print_merges(const Sort *s, const Bits *b, const char *last)
{
	out_puts(s->g->o, loop_unrolled(s, b) ? "_Pragma(\"unroll\")\n" : "#pragma unroll 1\n");
	out_printf(s->g->o, "for (int ct_j = %s; ct_j >= 0; ct_j--) ", last);
	print_step(s, b, false, cu_var("ct_j"));
}

static void network(const Sort *s)
{
	Cu *g = s->g;
	Bits done[LAY_BITS];
	int n = 0;
	for (int from = 0; from < s->p.at.n; from += done[n++].n) {
		done[n] = bits_from(s, from);
		const Bits *b = &done[n];
		Str some = fewer_bits(s, b);
		bool loop = b->n > 1 || some;
		if (some) {
			out_puts(g->o, loop_unrolled(s, b) ? "#pragma unroll\n" : "#pragma unroll 1\n");
			out_printf(g->o, "for (int ct_n = 0; %s; ct_n++) {\n", some);
			out_in(g->o);
		} else if (loop) {
			cu_head(g, "ct_n", 0, b->n, loop_unrolled(s, b));
			cu_open(g);
		}
		cu_line(g, s->op);
		print_step(s, b, true, loop ? cu_var("ct_n") : cu_int(0));
		if (loop) print_merges(s, b, "ct_n - 1");
		for (int k = n - 1; k >= 0; k--) {
			if (fewer_lanes(s) && s->p.at.hw[done[k].from] == HW_LANE) print_merges(s, &done[k], "ct_log2 - 1");
			else if (done[k].n > 1) print_merges(s, &done[k], str_fmt("%d", done[k].n - 1));
			else print_step(s, &done[k], false, cu_int(0));
		}
		if (loop) cu_end(g);
	}
}

void sort_print(Cu *g, const Op *op)
{
	Sort s = { g, op, sort_plan_of(op), NULL, false };
	int n = s.p.at.n;
	s.key = s.p.words == 1 ? "u32" : s.p.words == 2 ? "u64" : "wide";
	s.unrolled = n * (n + 1) / 2 * s.p.regs <= COST_SORT_UNROLLED;
	for (int i = 0; i < op->nout; i++) cu_val(g, op->out[i])->name = cu_name(g, op->out[i]);
	cu_say(g, op);
	for (int i = 0; i < op->nout; i++) cu_declare(g, op->out[i]);
	out_puts(g->o, "{\n");
	out_in(g->o);
	make_keys(&s);
	network(&s);
	take_values(&s);
	cu_end(g);
}

/* ---- histogram: counts of as many bins as fit, one iteration for each such group ---- */
void sort_histogram(Cu *g, const Op *op)
{
	const Val *x = ir_in(op, 0), *r = op->out[0];
	int64_t bins = piece_elems(r->type), rounds = type_size(r->type) / bins, slot = ir_int(op, AT_SLOT, 0);
	CuMap off = cu_map(*r->lay, LAY_PACKED);
	Str copies = cu_copies(*x->lay);
	int threads = g->fn->warps * 32;
	cu_val(g, r)->name = cu_name(g, r);
	cu_say(g, op);
	cu_declare(g, r);
	out_printf(g->o, "#pragma unroll 1\nfor (unsigned long long ct_k = 0; ct_k < %lld; ct_k++) {\n", (long long)rounds);
	out_in(g->o);
	if (rounds > 1) cu_sync(g);
	out_printf(g->o, "for (unsigned int ct_i = %s; ct_i < %lldu; ct_i += %du) *(int *)%s = 0;\n", cu_thread(g),
		(long long)bins, threads, words_shared(words_offset(slot, cu_var("ct_i"), 4)));
	cu_sync(g);
	Str v = cu_at(g, x, cu_registers(g, *x->lay, lay_hwcoord(*x->lay, lay_free(*x->lay), HW_REG)).text);
	out_printf(g->o, "const unsigned long long ct_j = (unsigned long long)%s%s - ct_k * %lldu;\n",
		elem_is_signed(x->type->elem) ? "(long long)" : "", v, (long long)bins);
	cu_line(g, op);
	out_printf(g->o, "if (%s%sct_j < %lldu) atomicAdd((int *)%s + ct_j, 1);\n", copies ? copies : "",
		copies ? " && " : "", (long long)bins, words_shared(cu_int(slot)));
	cu_end(g);
	cu_sync(g);
	out_printf(g->o, "const unsigned int ct_t = %s;\n", cu_map_thread(&off).text);
	CuInt reg = cu_loop(g, "ct_b", regs_of(r));
	out_printf(g->o, "const unsigned int ct_f = %s;\n", cu_xor(cu_var("ct_t"), cu_map_reg(&off, reg)).text);
	if (rounds > 1) out_printf(g->o, "if (ct_f / %lldu == ct_k) ", (long long)bins);
	CuInt at = words_offset(slot, cu_compound(str_fmt("ct_f %% %lldu", (long long)bins)), 4);
	out_printf(g->o, "%s = %s;\n", cu_at(g, r, reg.text), rounds > 1 ? words_load_piece(EL_I32, at)
		: str_fmt("*(const int *)%s", words_shared(at)));
	cu_end(g);
	cu_end(g);
}
