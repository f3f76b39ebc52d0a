/* Tiles and buffers of rings: stores and loads by threads, copies in the background (cp.async),
 * fragments for products of a warp. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "ir/ir_frag.h"
#include "sim/group.h"

Coords coords_of(Run *r, const Val *v)
{
	const Type *t = v->type;
	Coords c = { .regs = sim_regs(v), .each = 1 << v->lay->in[HW_REG], .down = t->log2[0], .right = t->log2[1],
		.parts = 1 + t->more[1] };
	c.row = map_of(r, *v->lay, 0);
	c.col = map_of(r, *v->lay, 1);
	return c;
}

int64_t row_at(const Coords *c, int reg, int lane, int warp)
{
	return ((int64_t)(reg / c->each / c->parts) << c->down) + map_at(&c->row, reg % c->each, lane, warp);
}

int64_t col_at(const Coords *c, int reg, int lane, int warp)
{
	return ((int64_t)(reg / c->each % c->parts) << c->right) + map_at(&c->col, reg % c->each, lane, warp);
}

/* ---- by threads ---- */
typedef struct Slab { Coords c; Lay l; Elem e; int vec; uint8_t bit[LAY_BITS]; } Slab;

void *plan_slab(Run *r, const Val *data)
{
	Slab *s = NEW(r->mem, Slab);
	s->c = coords_of(r, data);
	s->l = *data->lay;
	s->e = data->type->elem;
	s->vec = lay_run(s->l, 1, s->bit);
	while (s->vec + elem_log2(s->e) > 4) s->vec--;
	return s;
}

static void each_slab(Warp *w, const Slab *s, const Buf *b, uint32_t lanes, const SimVal *from, Cell *to)
{
	uint32_t bits = vector_bits(s->bit, s->vec);
	for (int reg = 0; reg < s->c.regs && !sim_failed(w->u->r); reg++) {
		Request q = { .lanes = lanes, .bytes = elem_bytes(s->e) << s->vec };
		const Cell *src[16];
		Cell *dst[16];
		if (!is_first_reg(bits, reg % s->c.each)) continue;
		for (int l = 0; l < LANES; l++)
			q.at[l] = (uint64_t)buf_at(b, row_at(&s->c, reg, l, w->num), col_at(&s->c, reg, l, w->num));
		for (int k = 0; k < 1 << s->vec; k++) {
			uint32_t at = ((uint32_t)reg ^ vector_reg(s->bit, s->vec, (uint32_t)k)) * LANES;
			if (from) src[k] = from->p + (at & from->mask);
			else dst[k] = to + at;
		}
		if (from) shared_put(w, s->e, &q, 1 << s->vec, src);
		else shared_get(w, s->e, &q, 1 << s->vec, dst);
	}
}

Go run_slab(Warp *w, const Step *st)
{
	const Slab *s = st->plan;
	Buf b = sim_buf(w, ir_in(st->op, 0));
	if (st->op->code == OP_STORE_SHARED)
		each_slab(w, s, &b, first_lanes(s->l, w->num) & w->active, sim_val(w, ir_in(st->op, 1)), NULL);
	else each_slab(w, s, &b, UINT32_MAX, NULL, sim_def(w, st->op->out[0], s->c.regs));
	return GO_NEXT;
}

/* ---- rows that begin at any address ---- */
void *plan_load_shifted(Run *r, const Op *op) { return plan_slab(r, op->out[0]); }

/* The aligned vectors that a warp loads: at most two for each lane. */
static void count_shifted(Warp *w, const uint64_t *at)
{
	SimCount *c = &w->u->r->count[w->at->number];
	uint64_t seen[2 * LANES];
	int n = 0;
	for (int l = 0; l < 2 * LANES; l++) {
		uint64_t sector = (at[l / 2] + (l % 2 ? VECTOR_BYTES - 1 : 0)) / SECTOR;
		int k = 0;
		while (k < n && seen[k] != sector) k++;
		if (k == n) seen[n++] = sector;
	}
	c->requests += 2;
	c->bytes += LANES * VECTOR_BYTES;
	c->sectors += n;
	c->least += LANES * VECTOR_BYTES / SECTOR;
}

Go run_load_shifted(Warp *w, const Step *st)
{
	const Slab *s = st->plan;
	const Op *op = st->op;
	const SimVal *v = sim_val(w, ir_in(op, 0));
	const IrAttr *steps = ir_attr(op, AT_STEPS), *offsets = ir_attr(op, AT_OFFSETS);
	int64_t from[2], ext[2];
	int size = elem_bytes(s->e);
	Cell *to = sim_def(w, op->out[0], s->c.regs);
	for (int a = 0; a < 2; a++) {
		from[a] = sim_scalar(w, ir_in(op, 1 + a)) * steps->u.ints.p[a] + (offsets ? offsets->u.ints.p[a] : 0);
		ext[a] = sim_at(v, VIEW_EXT + a, 0).i;
	}
	for (int reg = 0; reg < s->c.regs; reg++) {
		uint64_t first[LANES];
		for (int l = 0; l < LANES; l++) {
			int64_t row = from[0] + row_at(&s->c, reg, l, w->num), col = from[1] + col_at(&s->c, reg, l, w->num);
			uint64_t bits = 0;
			if (row >= ext[0]) row = ext[0] - 1;
			bool in = row >= 0 && col >= 0 && col < ext[1];
			first[l] = (uint64_t)sim_at(v, VIEW_BASE, l).i
				+ (uint64_t)(row * sim_at(v, VIEW_STR, l).i + col * sim_at(v, VIEW_STR + 1, l).i) * (uint64_t)size;
			if (in) memcpy(&bits, (const void *)(uintptr_t)first[l], (size_t)size);
			to[reg * LANES + l] = cell_from(s->e, bits);
		}
		if (is_first_reg(vector_bits(s->bit, s->vec), reg % s->c.each)) count_shifted(w, first);
	}
	return GO_NEXT;
}

/* ---- copies in the background ---- */
typedef struct CopyAsync { Map row, col; int pieces; Lay l; } CopyAsync;

void *plan_copy_async(Run *r, const Op *op)
{
	CopyAsync *c = NEW(r->mem, CopyAsync);
	CopyPlan p;
	if (!copy_plan(ir_in(op, 0), log2_of(group_warps(op)), &p)) bug("a buffer that takes no pieces");
	c->l = p.piece;
	c->row = map_of(r, p.piece, 0);
	c->col = map_of(r, p.piece, 1);
	c->pieces = 1 << p.piece.in[HW_REG];
	return c;
}

typedef struct From { uint64_t base; int64_t at[2], ext[2], str[2]; } From;

static void copy_piece(Warp *w, const Op *op, const CopyAsync *c, const From *f, const Buf *b, int i)
{
	Elem e = ir_in(op, 0)->type->elem;
	int size = elem_bytes(e), n = VECTOR_BYTES / size;
	uint32_t lanes = first_lanes(c->l, w->num);
	Request q = { .bytes = VECTOR_BYTES };
	for (int l = 0; l < LANES && !sim_failed(w->u->r); l++) {
		int64_t row = map_at(&c->row, i, l, w->num), col = map_at(&c->col, i, l, w->num), x = f->at[0] + row,
			y = f->at[1] + col;
		if (!(lanes >> l & 1)) continue;
		int64_t have = x >= 0 && x < f->ext[0] && y >= 0 ? f->ext[1] - y : 0, at = buf_at(b, row, col);
		unsigned char *to = shared_copy(w, at, VECTOR_BYTES);
		if (!to) return;
		uint64_t from = f->base + (uint64_t)(x * f->str[0] + y * f->str[1]) * (uint64_t)size;
		have = have < 0 ? 0 : have > n ? n : have;
		memset(to, 0, VECTOR_BYTES);
		if (have && from % VECTOR_BYTES)
			sim_fault(w, "lane %d copies 16 bytes at once from an address that is no multiple of them", l);
		if (have) memcpy(to, (const void *)(uintptr_t)from, (size_t)(have * size));
		q.at[l] = from;
		if (have == n) q.lanes |= (uint32_t)1 << l;
	}
	count_global(w, &q, false);
}

Go run_copy_async(Warp *w, const Step *s)
{
	const Op *op = s->op;
	const CopyAsync *c = s->plan;
	const SimVal *v = sim_val(w, ir_in(op, 1));
	const IrAttr *steps = ir_attr(op, AT_STEPS), *offsets = ir_attr(op, AT_OFFSETS);
	Buf b = sim_buf(w, ir_in(op, 0));
	From f = { .base = (uint64_t)sim_at(v, VIEW_BASE, 0).i };
	for (int a = 0; a < 2; a++) {
		f.at[a] = sim_scalar(w, ir_in(op, 2 + a)) * steps->u.ints.p[a] + (offsets ? offsets->u.ints.p[a] : 0);
		f.ext[a] = sim_at(v, VIEW_EXT + a, 0).i;
		f.str[a] = sim_at(v, VIEW_STR + a, 0).i;
	}
	for (int i = 0; i < c->pieces && !sim_failed(w->u->r); i++) copy_piece(w, op, c, &f, &b, i);
	w->copying = true;
	return GO_NEXT;
}

Go run_copy_commit(Warp *w, const Step *s)
{
	(void)s;
	w->copies++;
	w->copying = false;
	return GO_NEXT;
}

Go run_copy_wait(Warp *w, const Step *s)
{
	int64_t done = w->copies - ir_int(s->op, AT_PENDING, 0);
	uint32_t *seen = &w->clock[actor_of_copies(w)];
	if (done > (int64_t)*seen) *seen = (uint32_t)done;
	return GO_NEXT;
}

/* ---- fragments ---- */
typedef struct Frags { Coords c; LdmPlan p; Map addr; } Frags;

void *plan_ldmatrix(Run *r, const Op *op)
{
	Frags *f = NEW(r->mem, Frags);
	f->c = coords_of(r, op->out[0]);
	if (!ldm_plan(op, &f->p)) bug("a fragment that ldmatrix cannot load");
	f->addr = map_of(r, f->p.addr, LAY_HWAXIS(HW_OFF));
	return f;
}

static void count_matrices(Warp *w, const Frags *f, int64_t base, int size)
{
	SimCount *c = &w->u->r->count[w->at->number];
	for (int i = 0; i < 1 << f->addr.nreg; i++)
		for (int m = 0; m < 8 << f->p.x_log2; m += 8) {
			Request q = { .bytes = VECTOR_BYTES, .lanes = 0xff };
			int least;
			for (int l = 0; l < 8; l++)
				q.at[l] = (uint64_t)(base + (int64_t)(map_at(&f->addr, i, m + l, w->num) ^ f->p.begin) * size);
			c->shared += m == 0;
			c->wavefronts += bank_wavefronts(&q, &least);
			c->ideal += least;
		}
}

/* Address of an element of the part that is loaded: a ring's buffers have the hardware's layout,
 * a single buffer its own. */
static int64_t element_at(const Frags *f, const Buf *b, int size, int row, int col)
{
	const BufferAt *at = &f->p.at;
	uint32_t coord[LAY_AXES] = { (uint32_t)(row + at->begin[0]), (uint32_t)(col + at->begin[1]) }, place = 0;
	if (at->alloc->code != OP_ALLOC_SHARED) return buf_at(b, row, col);
	lay_place(at->whole, lay_pack(at->whole, coord), &place);
	return ir_int(at->alloc, AT_SLOT, 0) + (int64_t)lay_hwcoord(at->whole, place, HW_OFF) * size;
}

Go run_ldmatrix(Warp *w, const Step *s)
{
	const Frags *f = s->plan;
	const Val *buf = ir_in(s->op, 0);
	Elem e = buf->type->elem;
	int size = elem_bytes(e);
	bool single = f->p.at.alloc->code == OP_ALLOC_SHARED;
	Buf b = { 0 };
	if (!single) b = sim_buf(w, buf);
	Cell *to = sim_def(w, s->op->out[0], f->c.regs);
	count_matrices(w, f, single ? ir_int(f->p.at.alloc, AT_SLOT, 0) : b.at, size);
	for (int k = 0; k < f->c.regs * LANES && !sim_failed(w->u->r); k++) {
		int row = row_at(&f->c, k / LANES, k % LANES, w->num), col = col_at(&f->c, k / LANES, k % LANES, w->num);
		int64_t at = f->p.transposed ? element_at(f, &b, size, col, row) : element_at(f, &b, size, row, col);
		const unsigned char *p = shared_at(w, w->rank, at, size, SEVERAL, SHARED_READ);
		uint64_t bits = 0;
		memcpy(&bits, p, (size_t)size);
		to[k] = cell_from(e, bits);
	}
	return GO_NEXT;
}

Go run_as_frag(Warp *w, const Step *s)
{
	const SimVal *x = sim_val(w, ir_in(s->op, 0));
	int regs = sim_regs(s->op->out[0]);
	Cell *to = sim_def(w, s->op->out[0], regs);
	for (uint32_t k = 0; k < (uint32_t)(regs * LANES); k++) to[k] = x->p[k & x->mask];
	return GO_NEXT;
}

typedef struct FragMma { Coords a, b, c; int m, n, k; } FragMma;

void *plan_mma_frag(Run *r, const Op *op)
{
	FragMma *p = NEW(r->mem, FragMma);
	p->a = coords_of(r, ir_in(op, 0));
	p->b = coords_of(r, ir_in(op, 1));
	p->c = coords_of(r, op->out[0]);
	p->m = (int)type_extent(op->out[0]->type, 0);
	p->n = (int)type_extent(op->out[0]->type, 1);
	p->k = (int)type_extent(ir_in(op, 0)->type, 1);
	return p;
}

/* What this warp holds of a factor, by row and column. */
static double *gathered(Warp *w, const Val *v, const Coords *c, int rows, int cols)
{
	double *x = NEW_ARRAY(w->u->r->mem, double, (size_t)rows * (size_t)cols);
	const SimVal *a = sim_val(w, v);
	bool ints = elem_is_int(v->type->elem);
	for (int k = 0; k < c->regs * LANES; k++) {
		Cell e = sim_at(a, k / LANES, k % LANES);
		x[row_at(c, k / LANES, k % LANES, w->num) * cols + col_at(c, k / LANES, k % LANES, w->num)] =
			ints ? (double)e.i : e.f;
	}
	return x;
}

Go run_mma_frag(Warp *w, const Step *s)
{
	const FragMma *p = s->plan;
	const Op *op = s->op;
	const SimVal *acc = sim_val(w, ir_in(op, 2));
	Cell *to = sim_def(w, op->out[0], p->c.regs);
	ArenaMark mark = arena_mark(w->u->r->mem);
	const double *a = gathered(w, ir_in(op, 0), &p->a, p->m, p->k), *b = gathered(w, ir_in(op, 1), &p->b, p->k, p->n);
	bool ints = elem_is_int(op->out[0]->type->elem);
	for (int c = 0; c < p->c.regs * LANES; c++) {
		const double *x = a + row_at(&p->c, c / LANES, c % LANES, w->num) * p->k,
			*y = b + col_at(&p->c, c / LANES, c % LANES, w->num);
		Cell old = sim_at(acc, c / LANES, c % LANES);
		double sum = ints ? (double)old.i : old.f;
		for (int k = 0; k < p->k; k++) {
			sum += x[k] * y[k * p->n];
			if (!ints) sum = (float)sum;
		}
		if (ints) to[c].i = (int32_t)(uint32_t)(int64_t)sum;
		else to[c].f = sum;
	}
	arena_release(w->u->r->mem, mark);
	return GO_NEXT;
}
