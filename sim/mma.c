/* Matrix products of warps. The order of an element's sum is increasing K, one product after the other, each added to
 * the accumulator with one rounding; 16-bit results are kept in f32. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "sim/sim_int.h"

typedef struct Side {           /* a factor */
	Elem e;
	int64_t slot;
	int bytes;
	Map place, coord;       /* of fragments: offset in the buffer, coordinate in the factor */
	int regs;
	MmaFactor f;
	Map issue;              /* by ldmatrix: offsets of the rows that lanes name */
	int rows, cols;         /* log2 */
	int64_t size;           /* elements of all batches */
} Side;

typedef struct Mma { MmaPlan plan; Side side[2]; Map c[TILE_RANK]; Elem acc; int regs, k; } Mma;

static int log2_of_axis(const Type *t, int from_end) { return t->log2[t->rank - from_end]; }

static void plan_side(Run *r, const Op *op, Mma *m, int i)
{
	Side *s = &m->side[i];
	const Val *buf = ir_in(op, i);
	*s = (Side){ .e = buf->type->elem, .slot = ir_int(buf->def, AT_SLOT, 0), .bytes = elem_bytes(buf->type->elem) };
	s->rows = log2_of_axis(buf->type, 2);
	s->cols = log2_of_axis(buf->type, 1);
	s->size = type_size(buf->type);
	if (!m->plan.tensor) return;
	Lay c;
	s->f = mma_factor(op, i, &m->plan);
	if (!lay_solve(s->f.smem, s->f.frag, &c)) bug("a factor is not in its buffer");
	s->place = map_of(r, c, LAY_HWAXIS(HW_OFF));
	s->coord = map_of(r, s->f.frag, -1);
	s->regs = 1 << s->f.frag.in[HW_REG];
	if (s->f.matrices) s->issue = map_of(r, s->f.off, LAY_HWAXIS(HW_OFF));
}

void *plan_mma_sync(Run *r, const Op *op)
{
	Mma *m = NEW(r->mem, Mma);
	m->plan = mma_plan(op, r->fn->arch, log2_of(r->fn->warps));
	for (int i = 0; i < 2; i++) plan_side(r, op, m, i);
	Lay l = *op->out[0]->lay;
	for (int a = 0; a < l.naxis; a++) m->c[a] = map_of(r, l, a);
	m->acc = op->out[0]->type->elem;
	m->regs = sim_regs(op->out[0]);
	m->k = 1 << log2_of_axis(ir_in(op, 0)->type, 1);
	return m;
}

static uint64_t byte_at(const Side *s, int64_t offset) { return (uint64_t)(s->slot + offset * s->bytes); }

/* What the loads of a factor cost. ldmatrix takes eight rows of 16 bytes for each matrix;
 * else words of up to 4 bytes. */
static void count_side(Warp *w, const Side *s)
{
	if (s->f.matrices) {
		int lanes = 8 << s->f.x;
		for (uint32_t i = 0; i < (uint32_t)1 << s->issue.nreg; i++) {
			SimCount *c = &w->u->r->count[w->at->number];
			c->shared++;
			for (int m = 0; m < lanes; m += 8) {
				Request q = { .bytes = 16, .lanes = UINT32_C(0xff) };
				int least;
				for (int l = 0; l < 8; l++) q.at[l] = byte_at(s, map_at(&s->issue, (int)i, m + l, w->num));
				c->wavefronts += bank_wavefronts(&q, &least);
				c->ideal += least;
			}
		}
		return;
	}
	int per = s->bytes < 4 ? 4 / s->bytes : 1;
	bool run = true;        /* neighbouring registers lie side by side: one word */
	for (int k = 1; k < per && k < s->regs; k++) run = run && s->place.reg[k] == (uint32_t)k;
	for (int reg = 0; reg < s->regs; reg += run ? per : 1) {
		Request q = { .bytes = run ? per * s->bytes : s->bytes, .lanes = UINT32_MAX };
		for (int l = 0; l < LANES; l++) q.at[l] = byte_at(s, map_at(&s->place, reg, l, w->num));
		count_shared(w, &q);
	}
}

static Cell shared_cell(Warp *w, const Side *s, int64_t offset, int lane)
{
	const unsigned char *p = shared_at(w, w->rank, s->slot + offset * s->bytes, s->bytes, lane, SHARED_READ);
	uint64_t bits = 0;
	for (int i = 0; i < s->bytes; i++) bits |= (uint64_t)p[i] << (8 * i);
	return cell_from(s->e, bits);
}

/* The fragments of this warp, each element at its coordinate in the factor. */
static Cell *fragments(Warp *w, const Side *s)
{
	Cell *x = NEW_ARRAY(w->u->r->mem, Cell, s->size);
	count_side(w, s);
	for (int reg = 0; reg < s->regs && !sim_failed(w->u->r); reg++)
		for (int l = 0; l < LANES && !sim_failed(w->u->r); l++)
			x[map_at(&s->coord, reg, l, w->num)] =
				shared_cell(w, s, map_at(&s->place, reg, l, w->num), l);
	return x;
}

static bool is_wide(Elem acc) { return acc == EL_F64; }

/* acc + x y in the accumulator's arithmetic. */
static inline Cell multiply_add(Elem acc, Elem a, Elem b, Cell x, Cell y, Cell sum)
{
	if (!elem_is_any_float(acc)) return (Cell){ .i = num_wrap(acc, (uint64_t)sum.i + (uint64_t)x.i * (uint64_t)y.i).i };
	double p = elem_is_any_float(a) ? x.f : (double)x.i, q = elem_is_any_float(b) ? y.f : (double)y.i;
	if (is_wide(acc)) return (Cell){ .f = fma(p, q, sum.f) };
	return (Cell){ .f = fmaf((float)p, (float)q, (float)sum.f) };
}

static Cell finished(Elem acc, Cell sum)
{
	if (acc != EL_F16) return sum;
	ArenaMark mark = arena_mark(A_UNIT);
	Num n = fold_cast((Num){ .f = sum.f }, EL_F32, EL_F16, (FoldModes){ 0 });
	arena_release(A_UNIT, mark);
	return (Cell){ .f = n.f };
}

/* Where an accumulator stands in the result: batch, row, column. */
typedef struct Spot { int64_t z, row, col; } Spot;

static Spot spot_of(const Warp *w, const Mma *m, int rank, int c)
{
	int reg = c / LANES, l = c % LANES;
	Spot p = { 0, map_at(&m->c[rank - 2], reg, l, w->num), map_at(&m->c[rank - 1], reg, l, w->num) };
	if (rank == 3) p.z = map_at(&m->c[0], reg, l, w->num);
	return p;
}

/* The first element of the row (of a) or column (of b) that a place needs, and how far apart its elements are. */
static int64_t line_of(const Op *op, const Side *s, int i, Spot p)
{
	const Type *t = ir_in(op, i)->type;
	int64_t batch = t->rank == 3 && t->log2[0] ? p.z << (s->rows + s->cols) : 0;
	return batch + (i ? p.col : p.row << s->cols);
}

static int64_t apart(const Side *s, int i) { return i ? INT64_C(1) << s->cols : 1; }

/* By fma: what the places of this warp need of a factor, read once for all of them; the
 * target reads it for each register. */
static Cell *lines(Warp *w, const Step *st, const Mma *m, int i)
{
	const Side *s = &m->side[i];
	const Op *op = st->op;
	int rank = op->out[0]->type->rank;
	int64_t size = type_size(ir_in(op, i)->type);
	Cell *x = NEW_ARRAY(w->u->r->mem, Cell, size);
	bool *have = NEW_ARRAY(w->u->r->mem, bool, size);
	for (int reg = 0; reg < m->regs && !sim_failed(w->u->r); reg++) {
		Request q = { .bytes = s->bytes, .lanes = UINT32_MAX };
		for (int l = 0; l < LANES; l++) {
			int64_t at = line_of(op, s, i, spot_of(w, m, rank, reg * LANES + l));
			q.at[l] = (uint64_t)(s->slot + at * s->bytes);
			if (have[at]) continue;
			have[at] = true;
			for (int k = 0; k < m->k && !sim_failed(w->u->r); k++)
				x[at + k * apart(s, i)] = shared_cell(w, s, at + k * apart(s, i), SEVERAL);
		}
		for (int k = 0; k < m->k; k++) count_shared(w, &q);
	}
	return x;
}

Go run_mma_sync(Warp *w, const Step *s)
{
	const Mma *m = s->plan;
	const Side *a = &m->side[0], *b = &m->side[1];
	const SimVal *acc = sim_val(w, ir_in(s->op, 2));
	Cell *to = sim_def(w, s->op->out[0], m->regs);
	ArenaMark mark = arena_mark(w->u->r->mem);
	int rank = s->op->out[0]->type->rank;
	const Cell *x = m->plan.tensor ? fragments(w, a) : lines(w, s, m, 0),
		*y = m->plan.tensor ? fragments(w, b) : lines(w, s, m, 1);
	for (int c = 0; c < m->regs * LANES && !sim_failed(w->u->r); c++) {
		Spot p = spot_of(w, m, rank, c);
		const Cell *row = x + line_of(s->op, a, 0, p), *col = y + line_of(s->op, b, 1, p);
		int64_t step = apart(b, 1);
		Cell sum = sim_at(acc, c / LANES, c % LANES);
		for (int k = 0; k < m->k; k++) sum = multiply_add(m->acc, a->e, b->e, row[k], col[k * step], sum);
		to[c] = finished(m->acc, sum);
	}
	arena_release(w->u->r->mem, mark);
	return GO_NEXT;
}

/* ---- in pieces: factors too large for shared memory ---- */
typedef struct MmaParts { MmaPieces p; Map in[2], out; int sizes[4]; int64_t slot; Elem acc; } MmaParts;

void *plan_mma(Run *r, const Op *op)
{
	MmaParts *m = NEW(r->mem, MmaParts);
	const Type *c = op->out[0]->type, *a = ir_in(op, 0)->type;
	m->p = mma_pieces(op);
	for (int i = 0; i < 2; i++) m->in[i] = map_of(r, *ir_in(op, i)->lay, -1);
	m->out = map_of(r, *op->out[0]->lay, -1);
	int sizes[4] = { (c->rank == 3 ? c->log2[0] : 0) - m->p.z, log2_of_axis(c, 2) - m->p.m, log2_of_axis(c, 1) - m->p.n,
		log2_of_axis(a, 1) - m->p.k };
	memcpy(m->sizes, sizes, sizeof sizes);
	m->slot = ir_int(op, AT_SLOT, 0);
	m->acc = c->elem;
	return m;
}

typedef struct Part { uint32_t z, m, n, k; } Part;

static Part part_of(const MmaParts *m, int i)
{
	Part p;
	p.k = (uint32_t)i & ((1u << m->sizes[3]) - 1), i >>= m->sizes[3];
	p.n = (uint32_t)i & ((1u << m->sizes[2]) - 1), i >>= m->sizes[2];
	p.m = (uint32_t)i & ((1u << m->sizes[1]) - 1), i >>= m->sizes[1];
	p.z = (uint32_t)i;
	return p;
}

static void fill_factor(Warp *w, const Step *s, const MmaParts *m, int i, Part at)
{
	const Val *x = ir_in(s->op, i);
	const Type *t = x->type;
	const SimVal *v = sim_val(w, x);
	int cols = log2_of_axis(t, 1), rows = log2_of_axis(t, 2), pc = i ? m->p.n : m->p.k, pr = i ? m->p.k : m->p.m;
	bool batches = t->rank == 3 && t->log2[0];
	int z = batches ? m->p.z : 0;
	uint32_t lanes = first_lanes(*x->lay, w->num);
	for (int reg = 0; reg < sim_regs(x) && !sim_failed(w->u->r); reg++) {
		Request q = { .bytes = elem_bytes(t->elem) };
		Cell c[LANES];
		for (int l = 0; l < LANES; l++) {
			uint32_t f = map_at(&m->in[i], reg, l, w->num);
			uint32_t col = f & ((1u << cols) - 1), row = f >> cols & ((1u << rows) - 1),
				zz = rows + cols >= 32 ? 0 : f >> (rows + cols);
			bool in = col >> pc == (i ? at.n : at.k) && row >> pr == (i ? at.k : at.m)
				&& zz >> z == (batches ? at.z : 0);
			uint32_t o = ((zz & ((1u << z) - 1)) << (pc + pr)) + ((row & ((1u << pr) - 1)) << pc)
				+ (col & ((1u << pc) - 1));
			q.at[l] = (uint64_t)(m->slot + (i ? m->p.a_bytes : 0) + (int64_t)o * q.bytes);
			if (lanes >> l & 1 && in) q.lanes |= (uint32_t)1 << l;
			c[l] = sim_at(v, reg, l);
		}
		shared_store(w, t->elem, &q, c);
	}
}

static void multiply_part(Warp *w, const Step *s, const MmaParts *m, Part at, Cell *sum)
{
	const Type *a = ir_in(s->op, 0)->type, *b = ir_in(s->op, 1)->type, *c = s->op->out[0]->type;
	int cols = log2_of_axis(c, 1), rows = log2_of_axis(c, 2);
	int za = a->rank == 3 && a->log2[0] ? m->p.z : 0, zb = b->rank == 3 && b->log2[0] ? m->p.z : 0;
	for (int reg = 0; reg < sim_regs(s->op->out[0]); reg++) {
		Request qa = { .bytes = elem_bytes(a->elem) }, qb = { .bytes = elem_bytes(b->elem) };
		uint32_t ta[LANES] = { 0 }, tb[LANES] = { 0 };
		for (int l = 0; l < LANES; l++) {
			uint32_t f = map_at(&m->out, reg, l, w->num);
			uint32_t col = f & ((1u << cols) - 1), row = f >> cols & ((1u << rows) - 1),
				z = rows + cols >= 32 ? 0 : f >> (rows + cols);
			if (col >> m->p.n != at.n || row >> m->p.m != at.m || z >> m->p.z != at.z) continue;
			qa.lanes = qb.lanes |= (uint32_t)1 << l;
			ta[l] = ((z & ((1u << za) - 1)) << (m->p.m + m->p.k)) + ((row & ((1u << m->p.m) - 1)) << m->p.k);
			tb[l] = ((z & ((1u << zb) - 1)) << (m->p.k + m->p.n)) + (col & ((1u << m->p.n) - 1));
		}
		for (uint32_t k = 0; k < 1u << m->p.k && qa.lanes && !sim_failed(w->u->r); k++) {
			Cell x[LANES], y[LANES];
			for (int l = 0; l < LANES; l++) {
				qa.at[l] = (uint64_t)m->slot + (uint64_t)(ta[l] + k) * (unsigned)qa.bytes;
				qb.at[l] = (uint64_t)(m->slot + m->p.a_bytes) + (uint64_t)(tb[l] + (k << m->p.n)) * (unsigned)qb.bytes;
			}
			shared_load(w, a->elem, &qa, x);
			shared_load(w, b->elem, &qb, y);
			for (int l = 0; l < LANES && !sim_failed(w->u->r); l++)
				if (qa.lanes >> l & 1)
					sum[reg * LANES + l] = multiply_add(m->acc, a->elem, b->elem, x[l], y[l], sum[reg * LANES + l]);
		}
	}
}

/* Phase 2 i: before part i is filled; 2 i + 1: before it is multiplied. Sums are in the warp's scratch. */
Go run_mma(Warp *w, const Step *s)
{
	const MmaParts *m = s->plan;
	const Val *r = s->op->out[0];
	int regs = sim_regs(r), parts = 1 << (m->sizes[0] + m->sizes[1] + m->sizes[2] + m->sizes[3]);
	Cell *sum = sim_scratch(w, regs);
	if (!w->phase && !w->met)
		for (int c = 0; c < regs * LANES; c++) sum[c] = sim_at(sim_val(w, ir_in(s->op, 2)), c / LANES, c % LANES);
	for (; w->phase < 2 * parts; w->phase++) {
		if (!sim_sync(w)) return GO_WAIT;
		Part at = part_of(m, w->phase / 2);
		if (w->phase % 2 == 0) {
			fill_factor(w, s, m, 0, at);
			fill_factor(w, s, m, 1, at);
		} else {
			multiply_part(w, s, m, at, sum);
		}
	}
	Cell *to = sim_def(w, r, regs);
	for (int c = 0; c < regs * LANES; c++) to[c] = finished(m->acc, sum[c]);
	return GO_NEXT;
}
