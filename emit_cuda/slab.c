/* Threads that do the copy engine's work: tiles into and out of swizzled buffers, and rows of tensors that begin at
 * any address. The place of an element in a buffer is that of layout/smem.h, as an expression. */
#include "base/diag.h"
#include "emit_cuda/group.h"

/* A tile walked vector by vector: a thread's registers that are adjacent along the last axis. */
typedef struct Pieces { const Val *v; CuMap row, col; int n, each, count; uint8_t bit[LAY_BITS]; } Pieces;

static Pieces pieces_of(const Val *v, int most)
{
	Pieces p = { .v = v, .row = cu_map(*v->lay, 0), .col = cu_map(*v->lay, 1) };
	int run = lay_run(*v->lay, 1, p.bit), n = 0;
	while (n < run && 2 << n <= most) n++;
	p.n = 1 << n;
	p.each = regs_of(v) / (int)type_parts(v->type);
	p.count = regs_of(v) / p.n;
	return p;
}

/* Registers of vector i, and the coordinates of its first element. */
static void piece_at(const Pieces *p, int i, int *reg, Str *row, Str *col)
{
	const Type *t = p->v->type;
	uint32_t low = 0, first = 0;
	int bits = 0, per = p->each / p->n, part = i / per, parts = 1 + t->more[1];
	while (1 << bits < p->n) low |= (uint32_t)1 << p->bit[bits++];
	for (int b = 0, at = i % per; b < p->row.nreg; b++) {
		if (low >> b & 1) continue;
		if (at & 1) first |= (uint32_t)1 << b;
		at >>= 1;
	}
	for (int k = 0; k < p->n; k++) {
		uint32_t r = first;
		for (int b = 0; b < bits; b++)
			if (k >> b & 1) r |= (uint32_t)1 << p->bit[b];
		reg[k] = part * p->each + (int)r;
	}
	CuInt at = cu_int(first);
	*row = cu_map_place(&p->row, at).text;
	*col = cu_map_place(&p->col, at).text;
	int64_t down = (int64_t)(part / parts) << t->log2[0], right = (int64_t)(part % parts) << t->log2[1];
	if (down) *row = str_fmt("(%s + %lld)", *row, (long long)down);
	if (right) *col = str_fmt("(%s + %lld)", *col, (long long)right);
}

/* Byte of an element: the slab, its row, and the vector of the row, which the swizzle moves by bits of the row's
 * place. */
static Str place_in(Cu *g, const Val *buf, Str row, Str col)
{
	const Smem s = cu_val(g, buf)->shared->whole;
	int wide = smem_slab_elems(s), bytes = wide << s.elem_log2, mask = s.span > 16 ? (s.span / 16 - 1) << 7 : 0;
	Str at = str_fmt("%s + %s * %d", cu_scalar(g, buf), row, bytes);
	Str in = str_fmt("((%s) %% %d << %d)", col, wide, s.elem_log2);
	if (smem_slabs(s) > 1) at = str_fmt("%s + (%s) / %d * %lld", at, col, wide, (long long)smem_slab_bytes(s));
	return mask ? str_fmt("%s + (%s ^ (%s * %d & %d) >> 3)", at, in, row, bytes, mask) : str_fmt("%s + %s", at, in);
}

static void shift_all(Cu *g, const Val *r, const CuShifted *s);

void slab_store(Cu *g, const Op *op)
{
	const Val *buf = ir_in(op, 0), *x = ir_in(op, 1);
	Elem e = x->type->elem;
	Pieces p = pieces_of(x, 16 / elem_bytes(e));
	if (cu_val(g, x)->shifted) shift_all(g, x, cu_val(g, x)->shifted);
	Str copies = cu_copies(*x->lay);
	out_printf(g->o, "%s%s%s{\n", copies ? "if (" : "", copies ? copies : "", copies ? ") " : "");
	out_in(g->o);
	for (int i = 0; i < p.count; i++) {
		int reg[16];
		Str row, col, from[16];
		piece_at(&p, i, reg, &row, &col);
		for (int k = 0; k < p.n; k++) from[k] = cu_at(g, x, str_i64(reg[k]));
		Str w = words_pack(g, e, p.n, from);
		out_printf(g->o, "ct_put_shared_b%d(%s, %s);\n", 8 * p.n * elem_bytes(e), place_in(g, buf, row, col), w);
	}
	cu_end(g);
}

/* The registers of r that vector i fills, where it lies, and a name for its words. */
static void piece_to(Cu *g, const Pieces *p, const Val *r, int i, Str *row, Str *col, Str *to, Str *w)
{
	int reg[16];
	*w = cu_fresh(g, "w");
	piece_at(p, i, reg, row, col);
	for (int k = 0; k < p->n; k++) to[k] = cu_at(g, r, str_i64(reg[k]));
}

void slab_load(Cu *g, const Op *op)
{
	const Val *buf = ir_in(op, 0), *r = op->out[0];
	Elem e = r->type->elem;
	Pieces p = pieces_of(r, 16 / elem_bytes(e));
	cu_val(g, r)->name = cu_name(g, r);
	cu_declare(g, r);
	for (int i = 0; i < p.count; i++) {
		Str row, col, to[16], w;
		piece_to(g, &p, r, i, &row, &col, to, &w);
		out_printf(g->o, "const %s %s = ct_get_shared_b%d(%s);\n", words_type(p.n * elem_bytes(e)), w,
			8 * p.n * elem_bytes(e),
			place_in(g, buf, row, col));
		words_unpack(g, e, p.n, w, to);
	}
}

/* ---- rows that begin anywhere ---- */
/* Loaded, not yet shifted: where the tile is only stored, the shifts are printed there, so that what is between (a
 * wait for room, mostly) happens while the loads are under way. */
struct CuShifted { const CuView *v; Str raw, origin[2]; };

static void around(Cu *g, const CuShifted *s, const char *fn, int i, Str row, Str col)
{
	const CuView *v = s->v;
	out_printf(g->o, "%s(%s + %d, %s, %s + %s, %s, %s, %s + %s, %s);\n", fn, s->raw, 8 * i, v->base, s->origin[0], row,
		v->ext[0], v->str[0],
		s->origin[1], col, v->ext[1]);
}

static void shift_all(Cu *g, const Val *r, const CuShifted *s)
{
	Pieces p = pieces_of(r, 8);
	cu_val(g, r)->name = cu_name(g, r);
	cu_declare(g, r);
	for (int i = 0; i < p.count; i++) {
		Str row, col, to[16], w;
		piece_to(g, &p, r, i, &row, &col, to, &w);
		out_printf(g->o, "const ct_u32x4 %s = ", w);
		around(g, s, "ct_shift_around", i, row, col);
		words_unpack(g, r->type->elem, p.n, w, to);
	}
}

/* Rows outside the view repeat its last one, so that what is loaded lies in it; columns outside are zero. */
void slab_load_shifted(Cu *g, const Op *op)
{
	const Val *r = op->out[0];
	const IrAttr *steps = ir_attr(op, AT_STEPS), *offsets = ir_attr(op, AT_OFFSETS);
	CuShifted *s = NEW(A_TMP, CuShifted);
	Pieces p = pieces_of(r, 8);
	s->v = cu_val(g, ir_in(op, 0))->view;
	s->raw = cu_fresh(g, "raw");
	cu_say(g, op);
	for (int a = 0; a < 2; a++) {
		s->origin[a] = cu_fresh(g, "from");
		out_printf(g->o, "const long long %s = (long long)%s * %lld + %lld;\n", s->origin[a],
			cu_scalar(g, ir_in(op, 1 + a)),
			(long long)steps->u.ints.p[a], (long long)(offsets ? offsets->u.ints.p[a] : 0));
	}
	out_printf(g->o, "unsigned int %s[%d];\n", s->raw, 8 * p.count);
	for (int i = 0; i < p.count; i++) {
		int reg[16];
		Str row, col;
		piece_at(&p, i, reg, &row, &col);
		around(g, s, "ct_load_around", i, row, col);
	}
	if (ir_int(op, AT_LATE, 0)) cu_val(g, r)->shifted = s;
	else shift_all(g, r, s);
}

void slab_prefetch(Cu *g, const Op *op)
{
	const CuView *v = cu_val(g, ir_in(op, 0))->view;
	const IrAttr *steps = ir_attr(op, AT_STEPS);
	Str row = cu_fresh(g, "line"), col = cu_fresh(g, "col");
	out_printf(g->o, "const long long %s = (long long)%s * %lld + ct_tid, %s = (long long)%s * %lld;\n", row,
		cu_scalar(g, ir_in(op, 1)),
		(long long)steps->u.ints.p[0], col, cu_scalar(g, ir_in(op, 2)), (long long)steps->u.ints.p[1]);
	out_printf(g->o, "if (ct_tid < %lld && %s < %s && %s < %s) ct_prefetch_l2(%s + %s * %s + %s);\n",
		(long long)steps->u.ints.p[0], row, v->ext[0],
		col, v->ext[1], v->base, row, v->str[0], col);
}
