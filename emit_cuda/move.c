/* Tiles on their way between threads: shared memory, shuffles, and what large tiles do in pieces. */
#include <string.h>

#include "base/diag.h"
#include "emit_cuda/access.h"
#include "placed/access.h"

/* ---- between registers and shared memory ---- */
typedef struct Shared {
	Cu *g;
	const Op *op;
	const Val *data;
	Elem e;
	Lay l;                  /* of data */
	CuMap off;              /* places -> element offset */
	int vec;
	uint8_t bit[LAY_BITS];
	int64_t slot;           /* byte offset of the buffer */
} Shared;

static void start_shared(Shared *s, Cu *g, const Op *op, const Val *data, Lay smem, int64_t slot)
{
	SharedPlan p = shared_plan(*data->lay, smem, data->type->elem);
	*s = (Shared){ .g = g, .op = op, .data = data, .e = data->type->elem, .l = *data->lay,
		.slot = slot };
	s->off = cu_map(p.map, LAY_HWAXIS(HW_OFF));
	s->vec = p.vec;
	memcpy(s->bit, p.bit, sizeof s->bit);
}

static uint32_t vec_mask(const Shared *s)
{
	return vector_bits(s->bit, s->vec);
}

static void regs_of_piece(const Shared *s, CuInt first, Str *reg)
{
	for (int k = 0; k < 1 << s->vec; k++) {
		uint32_t add = 0;
		for (int i = 0; i < s->vec; i++)
			if (k >> i & 1) add |= (uint32_t)1 << s->bit[i];
		reg[k] = cu_at(s->g, s->data, cu_xor(first, cu_int(add)).text);
	}
}

static CuInt piece_at(const Shared *s, CuInt first)
{
	return words_offset(s->slot, cu_map_place(&s->off, first), elem_bytes(s->e));
}

/* Also in the places of those that were not started, each of which one that was takes over. */
static void begin_warps(Cu *g, const Op *op)
{
	const Val *x = ir_in(op, 1);
	out_printf(g->o, "for (unsigned int ct_to = ct_warp; ct_to < %d; ct_to += %s) {\n", g->fn->warps,
		cu_warps_started(g->fn));
	out_in(g->o);
	Str own = cu_at(g, x, "0"), none = cu_of_no_warp(g, x);
	if (own == none) out_printf(g->o, "const %s ct_x = %s;\n", cu_type(x->type->elem), own);
	else out_printf(g->o, "const %s ct_x = ct_to == ct_warp ? %s : %s;\n", cu_type(x->type->elem), own, none);
	out_puts(g->o, "const unsigned int ct_warp = ct_to;\n");
}

void move_store_shared(Cu *g, const Op *op)
{
	Shared s;
	Str reg[16];
	bool opened;
	const Val *buf = ir_in(op, 0);
	if (g->fn->fewer) begin_warps(g, op);
	start_shared(&s, g, op, ir_in(op, 1), *ir_attr(buf->def, AT_LAYOUT)->u.lay, ir_int(buf->def, AT_SLOT, 0));
	Str copies = cu_copies_of_block(g, s.l);
	cu_line(g, op);
	if (copies) out_printf(g->o, "if (%s) ", copies);
	CuInt first = cu_vectors(g, s.l, vec_mask(&s) | lay_hwcoord(s.l, lay_free(s.l), HW_REG), &opened);
	regs_of_piece(&s, first, reg);
	int n = 1 << s.vec, bytes = n * elem_bytes(s.e);
	bool run = n == 1 || words_pack_is_pure(g, s.data, s.bit, s.vec);
	if (!opened && !run) cu_open(g);
	Str w = n > 1 ? words_pack_vector(g, s.data, s.bit, s.vec, reg) : NULL;
	CuInt at = piece_at(&s, first);
	if (n == 1) words_store_shared(g, s.e, at, g->fn->fewer ? str_intern("ct_x") : reg[0]);
	else out_printf(g->o, "*(%s *)%s = %s;\n", words_type(bytes), words_shared(at), w);
	if (opened || !run) cu_end(g);
	if (g->fn->fewer) cu_end(g);
}

void move_load_shared(Cu *g, const Op *op)
{
	Shared s;
	Str reg[16];
	bool opened;
	const Val *buf = ir_in(op, 0);
	if (ir_int(op, AT_LATE, 0)) return;
	start_shared(&s, g, op, op->out[0], *ir_attr(buf->def, AT_LAYOUT)->u.lay, ir_int(buf->def, AT_SLOT, 0));
	int n = 1 << s.vec;
	bool run = n == 1 || words_vector_is_run(g, s.data, s.bit, s.vec);
	cu_line(g, op);
	Str said = cu_declare_before(g, op->out[0], run && !cu_opens_vectors(g, s.l, vec_mask(&s)));
	CuInt first = cu_vectors(g, s.l, vec_mask(&s), &opened);
	regs_of_piece(&s, first, reg);
	const char *type = words_type(n * elem_bytes(s.e));
	CuInt at = piece_at(&s, first);
	if (!opened && !run) cu_open(g);
	if (n == 1) {
		out_printf(g->o, "%s = %s;%s\n", reg[0], words_load_shared(s.e, at), said);
	} else if (run) {
		Str word = str_fmt("*(const %s *)%s", type, words_shared(at));
		out_printf(g->o, "%s;%s\n", words_unpack_run(s.data, s.vec, word, reg[0]), said);
	} else {
		out_printf(g->o, "const %s ct_w = *(const %s *)%s;\n", type, type, words_shared(at));
		words_unpack_vector(g, s.data, s.bit, s.vec, "ct_w", reg);
	}
	if (opened || !run) cu_end(g);
}

/* ---- shuffles ---- */
typedef struct Shuffle { Cu *g; const Val *x; Str lane; } Shuffle;

/* All lanes take part in each shuffle, also those that then choose another candidate: so each is a statement. */
static Str shuffled(void *ctx, Str reg)
{
	Shuffle *s = ctx;
	Elem e = s->x->type->elem;
	Str t = cu_fresh(s->g, "s");
	if (elem_is_ptr(e)) {
		out_printf(s->g->o, "%s%s = (%s)ct_shfl_idx_u64((unsigned long long)%s, (int)%s);\n", cu_type(e), t, cu_type(e),
			cu_at(s->g, s->x, reg), s->lane);
		return t;
	}
	out_printf(s->g->o, "const %s %s = ct_shfl_idx_%s(%s, (int)%s);\n", cu_type(e), t, elem_rows[e].name,
		cu_at(s->g, s->x, reg), s->lane);
	return t;
}

void move_lanes(Cu *g, const Op *op)
{
	const Val *x = ir_in(op, 0), *r = op->out[0];
	Lay c;
	cu_say(g, op);
	if (lay_pull(*r->lay, *x->lay, &c) > CVT_SHFL) bug("convert_lanes leaves the warp");
	CuMap lane = cu_map(c, LAY_HWAXIS(HW_LANE));
	cu_declare(g, r);
	CuInt reg = cu_loop(g, "ct_r", regs_of(r)), from = cu_map_place(&lane, reg);
	Shuffle s = { g, x, (g->fn->lanes ? cu_xor(cu_var(cu_first_lane(g)), from) : from).text };
	cu_line(g, op);
	Str chosen = cu_pick(c, reg, shuffled, &s);
	out_printf(g->o, "%s = %s;\n", cu_at(g, r, reg.text), chosen);
	cu_end(g);
}

/* ---- in pieces ---- */
/* Row-major storage of a tile of which `elems` elements are in shared memory at once: piece ct_k holds the offsets
 * ct_k * elems and on. */
typedef struct Pieces { Cu *g; const Op *op; Elem e; int64_t elems, count, slot; } Pieces;

static Pieces pieces_of(Cu *g, const Op *op, const Type *t)
{
	Pieces p = { .g = g, .op = op, .e = t->elem, .elems = piece_elems(t), .slot = ir_int(op, AT_SLOT, 0) };
	p.count = type_size(t) / p.elems;
	return p;
}

static void open_pieces(const Pieces *p)
{
	if (p->count == 1) {
		out_puts(p->g->o, "{\n");
		out_in(p->g->o);
		return;
	}
	out_printf(p->g->o, "#pragma unroll 1\nfor (unsigned int ct_k = 0; ct_k < %lld; ct_k++) {\n", (long long)p->count);
	out_in(p->g->o);
	cu_sync(p->g);
}

static Str in_piece(const Pieces *p, CuInt off)  /* condition; NULL: always */
{
	return p->count == 1 ? NULL : str_fmt("%s / %lldu == ct_k", off.text, (long long)p->elems);
}

static CuInt piece_byte(const Pieces *p, CuInt off)
{
	CuInt o = p->count == 1 ? off : cu_compound(str_fmt("%s %% %lldu", off.text, (long long)p->elems));
	return words_offset(p->slot, o, elem_bytes(p->e));
}

/* Opens a loop over the registers of v, and gives the register; ct_f: its offset in the tile, ct_t that of the
 * thread. */
static CuInt open_offsets(const Pieces *p, const Val *v, const CuMap *off)
{
	Cu *g = p->g;
	cu_open(g);
	out_printf(g->o, "const unsigned int ct_t = %s;\n", cu_map_thread(off).text);
	CuInt reg = cu_loop(g, "ct_b", regs_of(v));
	out_printf(g->o, "const unsigned int ct_f = %s;\n", cu_xor(cu_var("ct_t"), cu_map_reg(off, reg)).text);
	cu_line(g, p->op);
	return reg;
}

static void close_offsets(const Pieces *p)
{
	cu_end(p->g);
	cu_end(p->g);
}

/* Puts the part of x that belongs to the piece into shared memory. Where that is all of x, each register takes one
 * statement. */
static void fill_piece(const Pieces *p, const Val *x)
{
	Cu *g = p->g;
	CuMap off = cu_map(*x->lay, LAY_PACKED);
	Str copies = cu_copies_of_block(g, *x->lay);
	if (p->count == 1) {
		bool opened;
		cu_line(g, p->op);
		if (copies) out_printf(g->o, "if (%s) ", copies);
		CuInt reg = cu_vectors(g, *x->lay, 0, &opened);
		CuInt at = cu_map_place(&off, reg);
		words_store_shared(g, p->e, piece_byte(p, at), cu_at(g, x, reg.text));
		if (opened) cu_end(g);
		return;
	}
	CuInt reg = open_offsets(p, x, &off), here = cu_var("ct_f");
	out_printf(g->o, "if (%s%s%s) ", copies ? copies : "", copies ? " && " : "", in_piece(p, here));
	words_store_shared(g, p->e, piece_byte(p, here), cu_at(g, x, reg.text));
	close_offsets(p);
}

static void read_piece(const Pieces *p, const Val *r)
{
	Cu *g = p->g;
	CuMap off = cu_map(*r->lay, LAY_PACKED);
	if (p->count == 1) {
		bool opened;
		cu_line(g, p->op);
		CuInt reg = cu_vectors(g, *r->lay, 0, &opened), at = cu_map_place(&off, reg);
		out_printf(g->o, "%s = %s;\n", cu_at(g, r, reg.text), words_load_piece(p->e, piece_byte(p, at)));
		if (opened) cu_end(g);
		return;
	}
	CuInt reg = open_offsets(p, r, &off), here = cu_var("ct_f");
	out_printf(g->o, "if (%s) %s = %s;\n", in_piece(p, here), cu_at(g, r, reg.text),
		words_load_piece(p->e, piece_byte(p, here)));
	close_offsets(p);
}

void move_pieces(Cu *g, const Op *op)
{
	Pieces p = pieces_of(g, op, op->out[0]->type);
	cu_say(g, op);
	cu_declare(g, op->out[0]);
	if (p.count > 1) open_pieces(&p);
	fill_piece(&p, ir_in(op, 0));
	cu_sync(g);
	read_piece(&p, op->out[0]);
	if (p.count > 1) cu_end(g);
}

/* One thread of those that hold an element got its value: it passes it on. */
void move_share_copies(Cu *g, const Op *op)
{
	const Val *r = op->out[0];
	int64_t slot = ir_int(op, AT_SLOT, 0);
	if (!type_is_tile(r->type)) {
		out_puts(g->o, "if (ct_lane == 0 && ct_warp == 0) ");
		words_store_shared(g, r->type->elem, cu_int(slot), cu_scalar(g, r));
		cu_sync(g);
		out_printf(g->o, "%s = %s;\n", cu_scalar(g, r), words_load_shared(r->type->elem, cu_int(slot)));
		return;
	}
	Pieces p = { g, op, r->type->elem, type_size(r->type), 1, slot };
	fill_piece(&p, r);
	cu_sync(g);
	read_piece(&p, r);
}

/* ---- take ---- */
void move_take(Cu *g, const Op *op)
{
	const Val *x = ir_in(op, 0), *index = ir_in(op, 1), *r = op->out[0];
	int axis = ir_axis(op);
	Pieces p = pieces_of(g, op, x->type);
	int shift = 0;
	for (int a = x->type->rank - 1; a > axis; a--) shift += x->type->log2[a];
	/* offset of the other coordinates in x: those of the result, past the axis moved */
	CuMap packed = cu_map(*r->lay, LAY_PACKED), other = packed;
	int rlog = r->type->log2[axis], xlog = x->type->log2[axis];
	for (int i = 0; i < LAY_BITS; i++) {
		uint32_t c = packed.col[i], low = c & (((uint32_t)1 << shift) - 1);
		uint32_t high = shift + rlog >= 32 ? 0 : c >> (shift + rlog);
		other.col[i] = low | (shift + xlog >= 32 ? 0 : high << (shift + xlog));
	}
	cu_say(g, op);
	cu_declare(g, r);
	Str pad = cu_scalar(g, ir_in(op, 2));
	open_pieces(&p);
	fill_piece(&p, x);
	cu_sync(g);
	out_printf(g->o, "const unsigned int ct_t = %s;\n", cu_map_thread(&other).text);
	CuInt reg = cu_loop(g, "ct_b", regs_of(r)), here = cu_var("ct_f");
	Str chosen = cu_at(g, index, reg.text);
	out_printf(g->o, "const unsigned long long ct_j = (unsigned long long)%s;\n",
		index->type->elem == EL_U64 ? chosen : str_fmt("(long long)%s", chosen));
	CuInt j = cu_compound(shift ? str_fmt("((unsigned int)ct_j << %d)", shift) : "(unsigned int)ct_j");
	out_printf(g->o, "const unsigned int ct_f = %s;\n",
		cu_xor(cu_xor(cu_var("ct_t"), cu_map_reg(&other, reg)), j).text);
	Str inside = str_fmt("ct_j < %lldu", (long long)type_extent(x->type, axis)), mine = in_piece(&p, here),
		to = cu_at(g, r, reg.text);
	cu_line(g, op);
	if (mine) {
		out_printf(g->o, "if (%s) {\n\tif (%s) %s = %s;\n", inside, mine, to,
			words_load_piece(p.e, piece_byte(&p, here)));
		out_printf(g->o, "} else %s = %s;\n", to, pad);
	} else {
		out_printf(g->o, "%s = %s;\nif (%s) %s = %s;\n", to, pad, inside, to,
			words_load_piece(p.e, piece_byte(&p, here)));
	}
	cu_end(g);
	cu_end(g);
}

/* ---- two tiles and one: the added coordinate is the highest register bit ---- */
static void copy_half(Cu *g, const Op *op, const Val *to, int to_at, const Val *from, int from_at, int n)
{
	CuInt reg = cu_loop(g, "ct_r", n), t = cu_sum(reg, cu_int(to_at)), f = cu_sum(reg, cu_int(from_at));
	cu_line(g, op);
	out_printf(g->o, "%s = %s;\n", cu_at(g, to, t.text), cu_at(g, from, f.text));
	cu_end(g);
}

void move_cat(Cu *g, const Op *op)
{
	cu_say(g, op);
	for (int i = 0; i < op->nout; i++) cu_declare(g, op->out[i]);
	if (op->code == OP_SPLIT) {
		const Val *x = ir_in(op, 0);
		for (int i = 0; i < 2; i++) copy_half(g, op, op->out[i], 0, x, i * regs_of(op->out[i]), regs_of(op->out[i]));
	} else {
		int n = regs_of(ir_in(op, 0));
		for (int i = 0; i < 2; i++) copy_half(g, op, op->out[0], i * n, ir_in(op, i), 0, n);
	}
}
