/* Sorting and counting, in shared memory.
 *
 * A sort is a bitonic network over (value, index): the index makes all pairs different, so the result is the stable
 * one. A tile too large for shared memory stays in its registers, and each step exchanges it in pieces. */
#include "base/diag.h"
#include "emit_cuda/cu.h"

static Str slot_at(int64_t slot, int bytes, Str i) { return str_fmt("%lld + (%s) * %d", (long long)slot, i, bytes); }

/* The second of a pair (ct_y, ct_iy) belongs before the first: a NaN last, in topk first. */
static Str before(Elem e, bool descending, bool nan_first)
{
	const char *t = elem_rows[e].name, *cmp = descending ? "gt" : "lt";
	if (!elem_is_float(e)) return str_fmt("ct_%s_%s(ct_y, ct_x) || (ct_eq_%s(ct_x, ct_y) && ct_iy < ct_ix)", cmp, t, t);
	Str same = str_fmt("(ct_eq_%s(ct_x, ct_y) || (ct_isnan_%s(ct_x) && ct_isnan_%s(ct_y)))", t, t, t);
	Str nan = nan_first ? str_fmt("(ct_isnan_%s(ct_y) && !ct_isnan_%s(ct_x))", t, t)
		: str_fmt("(!ct_isnan_%s(ct_y) && ct_isnan_%s(ct_x))", t, t);
	return str_fmt("ct_%s_%s(ct_y, ct_x) || %s || (%s && ct_iy < ct_ix)", cmp, t, nan, same);
}

/* Each thread of those that own an element puts it, and its index, into shared memory. */
static void put_all(Cu *g, const Op *op, const Val *x, int64_t vals, int64_t idx, int axis)
{
	CuMap off = cu_map(*x->lay, LAY_PACKED);
	Elem e = x->type->elem;
	Str copies = cu_copies(*x->lay);
	int shift = type_axis_shift(x->type, axis);
	out_printf(g->o, "const unsigned int ct_t = %s;\n", cu_map_thread(&off));
	cu_loop(g, "ct_b", regs_of(x));
	out_printf(g->o, "const unsigned int ct_f = %s;\n", cu_xor(str_intern("ct_t"), cu_map_reg(&off, "ct_b")));
	cu_line(g, op);
	if (copies) out_printf(g->o, "if (%s) {\n", copies);
	words_store_shared(g, e, slot_at(vals, elem_bytes(e), str_intern("ct_f")), cu_at(g, x, "ct_b"));
	out_printf(g->o, "*(int *)(ct_smem + %s) = (int)(ct_f >> %d & %lldu);\n", slot_at(idx, 4, str_intern("ct_f")),
		shift, (long long)type_extent(x->type, axis) - 1);
	if (copies) out_puts(g->o, "}\n");
	cu_end(g);
	cu_sync(g);
}

static void network(Cu *g, const Op *op, const Type *t, int64_t vals, int64_t idx, int axis, Str swap)
{
	int shift = type_axis_shift(t, axis), n = t->log2[axis], size = elem_bytes(t->elem);
	const char *type = cu_type(t->elem);
	int64_t pairs = type_size(t) / 2;
	if (!n) return;
	out_printf(g->o, "#pragma unroll 1\nfor (int ct_k = 1; ct_k <= %d; ct_k++) {\n", n);
	out_in(g->o);
	out_puts(g->o, "#pragma unroll 1\nfor (int ct_j = ct_k - 1; ct_j >= 0; ct_j--) {\n");
	out_in(g->o);
	out_printf(g->o, "#pragma unroll 1\nfor (unsigned int ct_p = %s; ct_p < %lldu; ct_p += %du) {\n", cu_thread(g),
		(long long)pairs, g->fn->warps * 32);
	out_in(g->o);
	out_printf(g->o, "const int ct_bit = ct_j + %d;\n", shift);
	out_puts(g->o, "const unsigned int ct_u = (ct_p >> ct_bit << (ct_bit + 1)) | (ct_p & ((1u << ct_bit) - 1));\n");
	out_puts(g->o, "const unsigned int ct_v = ct_u | 1u << ct_bit;\n");
	out_printf(g->o, "const bool ct_down = ct_k < %d && (ct_u >> (ct_k + %d) & 1);\n", n, shift);
	cu_line(g, op);
	for (int i = 0; i < 2; i++) {
		Str at = str_intern(i ? "ct_v" : "ct_u");
		out_printf(g->o, "const %s ct_%c = %s;\n", type, i ? 'y' : 'x',
			words_load_shared(t->elem, slot_at(vals, size, at)));
		out_printf(g->o, "const int ct_i%c = *(const int *)(ct_smem + %s);\n", i ? 'y' : 'x', slot_at(idx, 4, at));
	}
	out_printf(g->o, "const bool ct_swap = %s;\n", swap);
	out_puts(g->o, "if (ct_swap != ct_down) {\n");
	out_in(g->o);
	words_store_shared(g, t->elem, slot_at(vals, size, str_intern("ct_u")), str_intern("ct_y"));
	words_store_shared(g, t->elem, slot_at(vals, size, str_intern("ct_v")), str_intern("ct_x"));
	out_printf(g->o, "*(int *)(ct_smem + %s) = ct_iy;\n*(int *)(ct_smem + %s) = ct_ix;\n",
		slot_at(idx, 4, str_intern("ct_u")), slot_at(idx, 4, str_intern("ct_v")));
	cu_end(g);
	cu_end(g);
	cu_sync(g);
	cu_end(g);
	cu_end(g);
}

/* Offsets in the sorted tile of the elements of a result, which may be shorter along the axis. */
static CuMap result_offsets(const Val *r, const Type *from, int axis)
{
	CuMap off = cu_map(*r->lay, LAY_PACKED);
	int shift = type_axis_shift(r->type, axis), rlog = r->type->log2[axis], xlog = from->log2[axis];
	for (int i = 0; i < LAY_BITS; i++) {
		uint32_t c = off.col[i], low = shift + rlog >= 32 ? c : c & (((uint32_t)1 << (shift + rlog)) - 1);
		off.col[i] = low | (c ^ low) << (xlog - rlog);
	}
	return off;
}

static void get_all(Cu *g, const Op *op, const Val *r, const Type *from, int64_t slot, int axis)
{
	CuMap off = result_offsets(r, from, axis);
	out_puts(g->o, "{\n");
	out_in(g->o);
	out_printf(g->o, "const unsigned int ct_t = %s;\n", cu_map_thread(&off));
	cu_loop(g, "ct_b", regs_of(r));
	Str f = cu_xor(str_intern("ct_t"), cu_map_reg(&off, "ct_b"));
	cu_line(g, op);
	out_printf(g->o, "%s = %s;\n", cu_at(g, r, "ct_b"), words_load_piece(r->type->elem,
		slot_at(slot, elem_bytes(r->type->elem), f)));
	cu_end(g);
	cu_end(g);
}

/* ---- tiles too large for shared memory: values stay with their threads, each step of the
 * network exchanges pieces ---- */
typedef struct Big {
	Cu *g;
	const Op *op;
	const Type *t;
	Lay l;                  /* in which values are held */
	CuMap off;
	int regs, piece;
	int64_t vals, idx;      /* byte offsets of a piece */
	int axis;
} Big;

static Str mine(const Big *b, const char *off) { return str_fmt("%s / %du == ct_c", off, b->piece); }
static Str in_piece(const Big *b, const char *off) { return str_fmt("%s %% %du", off, b->piece); }

static void open_pieces(const Big *b)
{
	out_printf(b->g->o, "#pragma unroll 1\nfor (unsigned int ct_c = 0; ct_c < %lldu; ct_c++) {\n",
		(long long)(type_size(b->t) / b->piece));
	out_in(b->g->o);
	cu_sync(b->g);
	cu_loop(b->g, "ct_b", b->regs);
	out_printf(b->g->o, "const unsigned int ct_f = %s;\n", cu_xor(cu_map_thread(&b->off), cu_map_reg(&b->off, "ct_b")));
	out_printf(b->g->o, "if (%s) {\n", mine(b, "ct_f"));
	out_in(b->g->o);
	words_store_shared(b->g, b->t->elem, slot_at(b->vals, elem_bytes(b->t->elem), in_piece(b, "ct_f")),
		str_intern("ct_v[ct_b]"));
	out_printf(b->g->o, "*(int *)(ct_smem + %s) = ct_n[ct_b];\n", slot_at(b->idx, 4, in_piece(b, "ct_f")));
	cu_end(b->g);
	cu_end(b->g);
	cu_sync(b->g);
}

static void big_step(const Big *b, Str swap)
{
	Cu *g = b->g;
	const char *type = cu_type(b->t->elem);
	int shift = type_axis_shift(b->t, b->axis), n = b->t->log2[b->axis];
	out_printf(g->o, "const int ct_bit = ct_j + %d;\n", shift);
	open_pieces(b);
	cu_loop(g, "ct_b", b->regs);
	out_printf(g->o, "const unsigned int ct_f = %s;\n", cu_xor(cu_map_thread(&b->off), cu_map_reg(&b->off, "ct_b")));
	out_puts(g->o, "const unsigned int ct_o = ct_f ^ 1u << ct_bit;\n");
	out_printf(g->o, "if (%s) {\n", mine(b, "ct_o"));
	out_in(g->o);
	cu_line(g, b->op);
	out_printf(g->o, "const bool ct_high = ct_f >> ct_bit & 1;\n"
		"const bool ct_down = ct_k < %d && (ct_f >> (ct_k + %d) & 1);\n", n, shift);
	out_printf(g->o, "const %s ct_other = %s;\nconst int ct_io = %s;\n", type,
		words_load_piece(b->t->elem, slot_at(b->vals, elem_bytes(b->t->elem), in_piece(b, "ct_o"))),
		words_load_piece(EL_I32, slot_at(b->idx, 4, in_piece(b, "ct_o"))));
	out_printf(g->o, "const %s ct_x = ct_high ? ct_other : ct_v[ct_b], ct_y = ct_high ? ct_v[ct_b] : ct_other;\n",
		type);
	out_puts(g->o, "const int ct_ix = ct_high ? ct_io : ct_n[ct_b], ct_iy = ct_high ? ct_n[ct_b] : ct_io;\n");
	out_printf(g->o, "const bool ct_swap = %s;\n", swap);
	out_puts(g->o, "ct_w[ct_b] = ct_swap != ct_down ? ct_other : ct_v[ct_b];\n"
		"ct_p[ct_b] = ct_swap != ct_down ? ct_io : ct_n[ct_b];\n");
	cu_end(g);
	cu_end(g);
	cu_end(g);
	cu_loop(g, "ct_b", b->regs);
	out_puts(g->o, "ct_v[ct_b] = ct_w[ct_b];\nct_n[ct_b] = ct_p[ct_b];\n");
	cu_end(g);
}

static void big_get(const Big *b, const Val *r, int64_t slot)
{
	Cu *g = b->g;
	CuMap off = result_offsets(r, b->t, b->axis);
	Elem e = r->type->elem;
	cu_loop(g, "ct_b", regs_of(r));
	out_printf(g->o, "const unsigned int ct_f = %s;\n", cu_xor(cu_map_thread(&off), cu_map_reg(&off, "ct_b")));
	out_printf(g->o, "if (%s) %s = %s;\n", mine(b, "ct_f"), cu_at(g, r, "ct_b"),
		words_load_piece(e, slot_at(slot, elem_bytes(e), in_piece(b, "ct_f"))));
	cu_end(g);
}

static void big_sort(Cu *g, const Op *op, int axis, Str swap)
{
	const Val *x = ir_in(op, 0);
	Big b = { .g = g, .op = op, .t = x->type, .l = *x->lay, .off = cu_map(*x->lay, LAY_PACKED), .regs = regs_of(x),
		.piece = (int)sort_piece(x->type), .idx = ir_int(op, AT_SLOT, 0), .axis = axis };
	const char *type = cu_type(x->type->elem);
	b.vals = b.idx + 4 * b.piece;
	out_printf(g->o, "%s ct_v[%d], ct_w[%d];\nint ct_n[%d], ct_p[%d];\n", type, b.regs, b.regs, b.regs, b.regs);
	cu_loop(g, "ct_b", b.regs);
	out_printf(g->o, "const unsigned int ct_f = %s;\n", cu_xor(cu_map_thread(&b.off), cu_map_reg(&b.off, "ct_b")));
	out_printf(g->o, "ct_v[ct_b] = %s;\nct_n[ct_b] = (int)(ct_f >> %d & %lldu);\n", cu_at(g, x, "ct_b"),
		type_axis_shift(x->type, axis), (long long)type_extent(x->type, axis) - 1);
	cu_end(g);
	out_printf(g->o, "#pragma unroll 1\nfor (int ct_k = 1; ct_k <= %d; ct_k++) {\n", x->type->log2[axis]);
	out_in(g->o);
	out_puts(g->o, "#pragma unroll 1\nfor (int ct_j = ct_k - 1; ct_j >= 0; ct_j--) {\n");
	out_in(g->o);
	big_step(&b, swap);
	cu_end(g);
	cu_end(g);
	open_pieces(&b);
	big_get(&b, op->out[0], b.vals);
	if (op->nout > 1) big_get(&b, op->out[1], b.idx);
	cu_end(g);
}

void sort_print(Cu *g, const Op *op)
{
	const Val *x = ir_in(op, 0);
	const Type *t = x->type;
	bool topk = op->code == OP_TOPK;
	int axis = (int)ir_int(op, AT_AXIS, t->rank - 1);
	int64_t slot = ir_int(op, AT_SLOT, 0), vals = slot + (type_size(t) * 4 + 15) / 16 * 16;
	Str swap = before(t->elem, topk || ir_int(op, AT_DESCENDING, 0), topk);
	for (int i = 0; i < op->nout; i++) cu_val(g, op->out[i])->name = cu_name(g, op->out[i]);
	cu_say(g, op);
	for (int i = 0; i < op->nout; i++) cu_declare(g, op->out[i]);
	out_puts(g->o, "{\n");
	out_in(g->o);
	if (sort_piece(t) < type_size(t)) {
		big_sort(g, op, axis, swap);
	} else {
		put_all(g, op, x, vals, slot, axis);
		network(g, op, t, vals, slot, axis, swap);
		get_all(g, op, op->out[0], t, vals, axis);
		if (topk) get_all(g, op, op->out[1], t, slot, axis);
	}
	cu_end(g);
}

/* ---- histogram: counts of as many bins as fit, one round for each such group ---- */
void sort_histogram(Cu *g, const Op *op)
{
	const Val *x = ir_in(op, 0), *r = op->out[0];
	int64_t bins = piece_elems(r->type), rounds = type_size(r->type) / bins, slot = ir_int(op, AT_SLOT, 0);
	CuMap off = cu_map(*r->lay, LAY_PACKED);
	Str copies = cu_copies(*x->lay), v = cu_at(g, x, "ct_b");
	int threads = g->fn->warps * 32;
	cu_val(g, r)->name = cu_name(g, r);
	cu_say(g, op);
	cu_declare(g, r);
	out_printf(g->o, "#pragma unroll 1\nfor (unsigned long long ct_k = 0; ct_k < %lld; ct_k++) {\n", (long long)rounds);
	out_in(g->o);
	if (rounds > 1) cu_sync(g);
	out_printf(g->o, "for (unsigned int ct_i = %s; ct_i < %lldu; ct_i += %du) *(int *)(ct_smem + "
		"%lld + ct_i * 4) = 0;\n", cu_thread(g), (long long)bins, threads, (long long)slot);
	cu_sync(g);
	cu_registers(g, *x->lay, lay_hwcoord(*x->lay, lay_free(*x->lay), HW_REG));
	out_printf(g->o, "const unsigned long long ct_j = (unsigned long long)%s%s - ct_k * %lldu;\n",
		elem_is_signed(x->type->elem) ? "(long long)" : "", v, (long long)bins);
	cu_line(g, op);
	out_printf(g->o, "if (%s%sct_j < %lldu) atomicAdd((int *)(ct_smem + %lld) + ct_j, 1);\n", copies ? copies : "",
		copies ? " && " : "", (long long)bins, (long long)slot);
	cu_end(g);
	cu_sync(g);
	out_printf(g->o, "const unsigned int ct_t = %s;\n", cu_map_thread(&off));
	cu_loop(g, "ct_b", regs_of(r));
	out_printf(g->o, "const unsigned int ct_f = %s;\n", cu_xor(str_intern("ct_t"), cu_map_reg(&off, "ct_b")));
	if (rounds > 1) out_printf(g->o, "if (ct_f / %lldu == ct_k) ", (long long)bins);
	Str at = str_fmt("%lld + (ct_f %% %lldu) * 4", (long long)slot, (long long)bins);
	out_printf(g->o, "%s = %s;\n", cu_at(g, r, "ct_b"), rounds > 1 ? words_load_piece(EL_I32, at)
		: str_fmt("*(const int *)(ct_smem + %s)", at));
	cu_end(g);
	cu_end(g);
}
