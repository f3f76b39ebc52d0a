/* Loads that overlap (lower/overlap.c): each thread reads its patch of the tensor once, then copies each tile's
 * elements out of it, which costs nothing: all indices are constants once the loops are unrolled.
 *
 * A patch is a box of rows along the axis of stride 1. Where that axis is aligned, a row is read in the largest vectors
 * that lie at multiples of their size and of which every element is needed; rows that take the same vectors share a
 * loop. Vectors either lie inside or outside if the tensor's border is at a multiple of a vector too; else it is read
 * element by element. */
#include <string.h>

#include "base/diag.h"
#include "emit_cuda/access.h"

typedef struct Reader {
	Access x;
	PatchPlan q;
	bool checks;            /* what is outside is not read */
} Reader;               /* x.patch holds the rows one after the other */

/* ---- reading it ---- */
/* Coordinate of row ct_i, or of column `at`, relative to the thread's first element. */
static CuInt place(const Reader *r, int a, int at)
{
	int below = 1, above = 1;
	if (a == r->q.row) return cu_int(at + r->q.p.lo[a]);
	for (int b = 0; b < r->q.p.rank; b++) {
		if (b == r->q.row) continue;
		if (b > a) below *= r->q.p.ext[b];
		if (b < a) above *= r->q.p.ext[b];
	}
	if (r->q.p.ext[a] == 1) return cu_int(r->q.p.lo[a]);
	Str c = below > 1 ? str_fmt("ct_i / %d", below) : str_intern("ct_i");
	if (above > 1) c = str_fmt("%s %% %d", c, r->q.p.ext[a]);
	int64_t lo = r->q.p.lo[a];
	if (lo) return cu_var(str_fmt("(%s %s %lld)", c, lo < 0 ? "-" : "+", (long long)(lo < 0 ? -lo : lo)));
	return cu_var(below > 1 || above > 1 ? str_fmt("(%s)", c) : c);
}

static Str inside(const Reader *r, int at, int log2)
{
	Out *o = out_new();
	int n = 0;
	for (int a = 0; a < r->q.p.rank; a++) {
		if (r->x.plan.proved[a]) continue;
		CuInt c = place(r, a, at);
		if (a == r->q.row && log2)
			out_printf(o, "%s%s <= ct_hi%d", n++ ? " && " : "", cu_sum(c, cu_int(1 << log2)).text, a);
		else out_printf(o, "%s%s < ct_hi%d", n++ ? " && " : "", cu_operand(c), a);
		if (r->x.plan.low[a]) out_printf(o, " && %s >= ct_lo%d", cu_operand(c), a);
	}
	Str s = out_take(o);
	return n ? s : NULL;
}

static Str address(const Reader *r, int at)
{
	Out *o = out_new();
	out_puts(o, "ct_p");
	for (int a = 0; a < r->q.p.rank; a++) {
		CuInt c = place(r, a, at);
		if (!cu_is(c, 0)) out_printf(o, " + %s", access_scaled(cu_operand(c), r->x.v, a));
	}
	return out_take(o);
}

static void read_piece(Reader *r, const PatchPiece *p)
{
	Access *x = &r->x;
	Cu *g = x->g;
	int n = 1 << p->log2, bits = 8 * n * elem_bytes(x->v->elem);
	Str to[16], ok = r->checks ? inside(r, p->at, p->log2) : NULL;
	uint64_t all = r->q.nrow == 64 ? ~UINT64_C(0) : ((uint64_t)1 << r->q.nrow) - 1;
	const char *nc = x->v->constant ? "nc" : "";
	bool alone = n == 1 && bits <= 32 && p->rows == all && r->q.nrow > 1;
	cu_line(g, x->op);
	CuInt turn = cu_var("ct_i");
	if (alone) cu_each(g, turn.text, r->q.nrow);
	else turn = cu_loop(g, turn.text, r->q.nrow);
	if (p->rows != all) {
		out_printf(g->o, "if (0x%llxull >> ct_i & 1) {\n", (unsigned long long)p->rows);
		out_in(g->o);
	}
	CuInt row = cu_times(turn, r->q.p.ext[r->q.row]);
	for (int k = 0; k < n; k++) to[k] = str_fmt("%s[%s]", x->patch, cu_sum(row, cu_int(p->at + k)).text);
	x->plan.vec = p->log2;
	if (alone) {
		Str word = ok ? str_fmt("ct_ld%s_b%d_if(%s, %s, %s)", nc, bits, address(r, p->at), ok, access_pad(x))
			: str_fmt("ct_ld%s_b%d(%s)", nc, bits, address(r, p->at));
		words_unpack(g, x->v->elem, 1, word, to);
		return;
	}
	cu_line(g, x->op);
	if (ok) {
		out_printf(g->o, "const %s ct_pad = %s;\n", words_type(bits / 8), access_pad(x));
		out_printf(g->o, "const %s ct_w = ct_ld%s_b%d_if(%s, %s, ct_pad);\n", words_type(bits / 8), nc, bits,
			address(r, p->at), ok);
	} else {
		out_printf(g->o, "const %s ct_w = ct_ld%s_b%d(%s);\n", words_type(bits / 8), nc, bits, address(r, p->at));
	}
	words_unpack(g, x->v->elem, n, "ct_w", to);
	if (p->rows != all) cu_end(g);
	cu_end(g);
}

static void read_rows(Reader *r, int log2)
{
	patch_cut(&r->q, log2);
	for (int i = 0; i < r->q.n; i++) read_piece(r, &r->q.piece[i]);
}

/* ---- which way ---- */
/* The condition that the patches of all threads lie inside, along these axes (a set); NULL: they do. */
static Str whole_text(const Reader *r, unsigned axes)
{
	const Access *x = &r->x;
	Out *o = out_new();
	int n = 0;
	for (int a = 0; a < x->plan.rank; a++) {
		if (x->plan.proved[a] || !(axes >> a & 1)) continue;
		int64_t beyond = r->q.p.lo[a] + r->q.p.ext[a] - 1;
		for (int i = 0; i < x->plan.l.in[HW_REG]; i++) beyond -= x->map[a].col[i];   /* of offsets alone */
		if (x->plan.low[a]) out_printf(o, "%sct_o%d >= %lld", n++ ? " && " : "", a, (long long)-r->q.p.lo[a]);
		out_printf(o, "%sct_o%d + %lld <= %s", n++ ? " && " : "", a,
			(long long)(type_extent(x->data->type, a) + beyond), x->v->ext[a]);
	}
	return n ? str_intern_n(o->p, o->n) : NULL;
}

static void open_branch(Cu *g, const char *word, Str condition)
{
	out_printf(g->o, condition ? "%s (%s) {\n" : "%s {\n", word, condition);
	out_in(g->o);
}

static Str both(Str a, Str b) { return !a ? b : !b ? a : str_fmt("%s && %s", a, b); }

static void open_else(Cu *g)
{
	out_off(g->o);
	out_puts(g->o, "} else {\n");
	out_in(g->o);
}

/* Where a vector may be cut by the border, or does not lie at a multiple of its size. */
static void read_elements_else(Reader *r, int log2)
{
	Access *x = &r->x;
	Cu *g = x->g;
	int mask = (1 << log2) - 1;
	open_branch(g, "if", x->plan.proved[r->q.row] ? str_intern("ct_aligned")
		: str_fmt("ct_aligned && ((ct_hi%d%s) & %d) == 0", r->q.row,
		x->plan.low[r->q.row] ? str_fmt(" | ct_lo%d", r->q.row) : "", mask));
	read_rows(r, log2);
	open_else(g);
	read_rows(r, 0);
	cu_end(g);
}

/* A tensor with unaligned rows is accessed by single elements, so that comparisons cost as much as loads; and where
 * rows are short, each tile contains the end of some. So tiles that lie inside along all other axes compare along this
 * one alone. */
static void read_single_elements(Reader *r)
{
	Access *x = &r->x;
	bool proved[TENSOR_RANK];
	Str others = whole_text(r, ~(1u << r->q.row));
	if (others) {
		open_branch(x->g, "if", others);
		memcpy(proved, x->plan.proved, sizeof proved);
		for (int a = 0; a < x->plan.rank; a++) x->plan.proved[a] |= a != r->q.row;
		read_rows(r, 0);
		memcpy(x->plan.proved, proved, sizeof proved);
		open_else(x->g);
	}
	read_rows(r, 0);
	if (others) cu_end(x->g);
}

static void read_patch(Reader *r, int log2)
{
	Access *x = &r->x;
	Cu *g = x->g;
	Str whole = whole_text(r, ~0u), aligned = NULL;
	if (log2) {
		x->plan.vec = log2;
		if (x->ways == WAYS_ANY || x->ways == WAYS_SINGLE)
			out_printf(g->o, "const int ct_aligned = %s;\n", access_aligned(x));
		aligned = x->ways == WAYS_ANY || x->ways == WAYS_SINGLE ? str_intern("ct_aligned") : NULL;
	}
	r->checks = false;
	if (!both(aligned, whole)) {
		read_rows(r, log2);
		return;
	}
	open_branch(g, "if", both(aligned, whole));
	read_rows(r, log2);
	open_else(g);
	access_bounds(x);
	r->checks = true;
	if (x->ways == WAYS_SINGLE) read_single_elements(r);
	else if (aligned && whole) read_elements_else(r, log2);
	else read_rows(r, aligned ? 0 : log2);
	cu_end(g);
}

/* The patch, where access_thread is printed. */
static void fill(Access *x)
{
	Reader r = { .x = *x, .q = *x->patch_plan };
	read_patch(&r, r.q.vec);
}

/* ---- the tiles ---- */
static void print_tile(const Reader *r, const Val *v, const int64_t *offsets)
{
	Cu *g = r->x.g;
	CuInt place = cu_int(0);
	int size = 1, at = 0;
	int64_t col[LAY_BITS] = { 0 };  /* of the bits of a register's number */
	int rowsize = r->q.p.ext[r->q.row];
	/* it holds rows one after the other, whichever axis they are of */
	for (int a = r->q.p.rank - 1; a >= 0; a--) {
		int step = a == r->q.row ? 1 : size * rowsize;
		if (a != r->q.row) size *= r->q.p.ext[a];
		at += (int)(offsets[a] - r->q.p.lo[a]) * step;
		CuMap m = cu_map_row(g, r->x.plan.l, a);
		for (int i = 0; i < m.nreg; i++) col[i] += (int64_t)m.col[i] * step;
		CuInt c = cu_map_reg(&m, cu_var("ct_r"));
		place = cu_sum(place, cu_times(c, step));
	}
	bool run = regs_of(v) > 1;
	for (int i = 0; i < r->x.plan.l.in[HW_REG]; i++) run &= col[i] == 1ll << i;
	if (run) {      /* the patch has its registers as they are */
		cu_val(g, v)->name = at ? str_fmt("(%s + %d)", r->x.patch, at) : r->x.patch;
		return;
	}
	cu_val(g, v)->name = cu_name(g, v);
	cu_fill(g, v);
	out_printf(g->o, "%s = %s[%s];%s\n", cu_at(g, v, "ct_r"), r->x.patch, cu_sum(place, cu_int(at)).text,
		cu_said(g, v));
}

void patch_loads(Cu *g, const Op *op)
{
	Reader r = { .q = patch_plan(op) };
	Access *x = &r.x;
	const int64_t *off = ir_attr(op, AT_OFFSETS)->u.ints.p;
	int size = r.q.nrow * r.q.p.ext[r.q.row];
	access_open(x, g, op, op->out[0], false);
	x->plan.rotated_axis = -1;
	for (int a = 0; a < x->plan.rank; a++) x->plan.low[a] |= r.q.p.lo[a] < 0;
	x->patch = cu_fresh(g, "x");
	x->patch_plan = &r.q;
	out_printf(g->o, "%s %s[%d];        /* %s of %d places */\n", cu_type(x->v->elem), x->patch, size,
		type_text(op->out[0]->type), op->nout);
	x->pad = words_pad(g, x->v->elem, ir_in(op, op->nin - 1));
	if (!tilefn_print(x, fill)) {
		cu_open(g);
		access_origin(x);
		access_thread(x);
		fill(x);
		cu_end(g);
	}
	for (int k = 0; k < op->nout; k++) print_tile(&r, op->out[k], off + k * x->plan.rank);
}
