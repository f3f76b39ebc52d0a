/* Products of a warpgroup, and what becomes of their registers.
 *
 * Its four warps come to a product together; the last of them carries it out for all. Sums are of f32, one product
 * after the other by increasing k, each added with one rounding. What a product reads counts as read by the first
 * warp's products until that warp has waited for their group. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "ir/ir_regs.h"
#include "layout/wgmma.h"
#include "sim/group.h"

enum { WARPS = 4 };

/* ---- registers that are lent, and given back ---- */
static const SimVal *lent(Warp *w, const Val *v)
{
	const SimVal *x = sim_val(w, v);
	if (x->moved) sim_fault(w, "registers are taken that a later product has as its own");
	return x;
}

static void copy_val(Warp *w, const Val *from, const Val *to)
{
	const SimVal *x = lent(w, from);
	int regs = sim_regs(to), group = x->group;
	Cell *p = sim_def(w, to, regs);
	for (uint32_t k = 0; k < (uint32_t)(regs * LANES); k++) p[k] = x->p[k & x->mask];
	w->val[to->id].group = group;
}

Go run_wgmma_fence(Warp *w, const Step *s)
{
	for (int i = 0; i < s->op->nin; i++) copy_val(w, ir_in(s->op, i), s->op->out[i]);
	return GO_NEXT;
}

/* The warp that counts a warpgroup's products. */
static Warp *leader(Warp *w) { return w - w->num % WARPS; }

Go run_wgmma_wait(Warp *w, const Step *s)
{
	int64_t done = w->products - ir_int(s->op, AT_PENDING, 0);
	uint32_t *seen = &w->clock[actor_of_products(leader(w))];
	if (done > (int64_t)*seen) *seen = (uint32_t)done;
	for (int i = 0; i < s->op->nin; i++)
		if (sim_val(w, ir_in(s->op, i))->group > done)
			sim_fault(w, "registers are given back while a product may still write them");
	return run_wgmma_fence(w, s);
}

Go run_wgmma_commit(Warp *w, const Step *s)
{
	(void)s;
	w->products++;
	return GO_NEXT;
}

/* ---- products ---- */
typedef struct Product { Coords acc, a; int m, n, k; bool a_regs, amn, bmn; } Product;

void *plan_wgmma(Run *r, const Op *op)
{
	Product *p = NEW(r->mem, Product);
	const Val *a = ir_in(op, 1);
	*p = (Product){ .amn = ir_int(op, AT_A_MAJOR, 0), .bmn = ir_int(op, AT_B_MAJOR, 0),
		.a_regs = a->type->kind == TY_ASYNC };
	p->acc = coords_of(r, op->out[0]);
	if (p->a_regs) p->a = coords_of(r, a);
	p->m = (int)type_extent(op->out[0]->type, 0);
	p->n = (int)type_extent(op->out[0]->type, 1);
	p->k = (int)type_extent(a->type, p->amn ? 0 : 1);
	return p;
}

/* A factor in shared memory as [rows, k]; which warps take it must have seen who wrote it. */
static float *from_buffer(Warp *w, const Val *v, bool mn, int rows, int k)
{
	Warp *first = leader(w);
	Buf b = sim_buf(w, v);
	Elem e = v->type->elem;
	int size = elem_bytes(e), step = 16 / size;
	float *x = NEW_ARRAY(w->u->r->mem, float, (size_t)rows * (size_t)k);
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < k; j++) {
			int64_t at = mn ? buf_at(&b, j, i) : buf_at(&b, i, j);
			bool begins = mn ? i % step == 0 : j % step == 0;       /* a chunk of 16 bytes: looked at once */
			for (int n = 0; begins && n < WARPS && !sim_failed(w->u->r); n++)
				shared_async(first + n, w->rank, at, 16, actor_of_products(first), (uint32_t)first->products + 1,
					false);
			if (sim_failed(w->u->r)) return x;
			uint64_t bits = 0;
			memcpy(&bits, w->u->shared[w->rank].mem + at, (size_t)size);
			x[i * k + j] = (float)cell_from(e, bits).f;
		}
	return x;
}

static float *from_registers(Warp *w, const Product *p, const Val *v)
{
	float *x = NEW_ARRAY(w->u->r->mem, float, (size_t)p->m * (size_t)p->k);
	for (int n = 0; n < WARPS; n++) {
		Warp *q = leader(w) + n;
		const SimVal *a = sim_val(q, v);
		for (int c = 0; c < p->a.regs * LANES; c++)
			x[row_at(&p->a, c / LANES, c % LANES, n) * p->k + col_at(&p->a, c / LANES, c % LANES, n)] =
				(float)sim_at(a, c / LANES, c % LANES).f;
	}
	return x;
}

static void multiply(Warp *w, const Step *s)
{
	const Product *p = s->plan;
	const Op *op = s->op;
	/* before what is given back below */
	for (int n = 0; n < WARPS; n++) sim_def(leader(w) + n, op->out[0], p->acc.regs);
	ArenaMark mark = arena_mark(w->u->r->mem);
	bool keep = op->nin < 4 || sim_scalar(w, ir_in(op, 3)) != 0;
	const float *a = p->a_regs ? from_registers(w, p, ir_in(op, 1)) : from_buffer(w, ir_in(op, 1), p->amn, p->m, p->k);
	const float *b = from_buffer(w, ir_in(op, 2), p->bmn, p->n, p->k);
	for (int n = 0; n < WARPS && !sim_failed(w->u->r); n++) {
		Warp *q = leader(w) + n;
		const SimVal *acc = lent(q, ir_in(op, 0));
		Cell *to = sim_def(q, op->out[0], p->acc.regs);
		for (int c = 0; c < p->acc.regs * LANES; c++) {
			const float *x = a + row_at(&p->acc, c / LANES, c % LANES, n) * p->k;
			const float *y = b + col_at(&p->acc, c / LANES, c % LANES, n) * p->k;
			float sum = keep ? (float)sim_at(acc, c / LANES, c % LANES).f : 0;
			/* products of such elements are exact in f32 */
			for (int k = 0; k < p->k; k++) sum += x[k] * y[k];
			to[c].f = sum;
		}
		q->val[ir_in(op, 0)->id].moved = true;
		q->val[op->out[0]->id].group = q->products + 1;
	}
	arena_release(w->u->r->mem, mark);
}

Go run_wgmma(Warp *w, const Step *s)
{
	int group = (w->group.first + w->group.number * w->group.warps + w->num) / WARPS;
	if (w->met != 2) {
		int here = 1;
		for (int n = 0; n < WARPS; n++) {
			const Warp *q = leader(w) + n;
			here += q != w && q->met == 1 && q->at == s;
		}
		for (int n = 0; here == WARPS && n < WARPS; n++)
			if ((leader(w) + n)->products != w->products)
				sim_fault(w, "the warps of a group have committed different numbers of products");
		if (here == WARPS && !sim_failed(w->u->r)) multiply(w, s);
	}
	return sim_meet(w, MEET_WGMMA + group, WARPS, false) ? GO_NEXT : GO_WAIT;
}

/* ---- parts of tiles ---- */
void *plan_cut(Run *r, const Op *op)
{
	int n = sim_regs(op->out[0]), *where = NEW_ARRAY(r->mem, int, n);
	if (!regs_cut(op->out[0], ir_in(op, 0), ir_attr(op, AT_OFFSETS)->u.ints.p, where))
		bug("the part of a tile is in other threads");
	return where;
}

Go run_cut(Warp *w, const Step *s)
{
	const int *where = s->plan;
	const SimVal *x = sim_val(w, ir_in(s->op, 0));
	int n = sim_regs(s->op->out[0]);
	int64_t first = s->op->nin > 1 ? where[0] * (sim_scalar(w, ir_in(s->op, 1)) - 1) : 0;
	if (first + where[0] < 0 || first + where[n - 1] >= sim_regs(ir_in(s->op, 0))) {
		sim_fault(w, "a part that the tile does not have");
		return GO_NEXT;
	}
	Cell *p = sim_def(w, s->op->out[0], n);
	for (int k = 0; k < n * LANES; k++) p[k] = sim_at(x, (int)first + where[k / LANES], k % LANES);
	return GO_NEXT;
}

/* ---- registers into buffers ---- */
void *plan_stmatrix(Run *r, const Op *op)
{
	Coords *c = NEW(r->mem, Coords);
	*c = coords_of(r, ir_in(op, 1));
	return c;
}

static void put_element(Warp *w, int64_t at, Elem e, Cell c)
{
	int size = elem_bytes(e);
	uint64_t bits = cell_bits(e, c);
	unsigned char *p = shared_at(w, w->rank, at, size, SEVERAL, SHARED_WRITE);
	if (!sim_failed(w->u->r)) memcpy(p, &bits, (size_t)size);
}

Go run_stmatrix(Warp *w, const Step *s)
{
	const Coords *c = s->plan;
	const Val *x = ir_in(s->op, 1);
	const SimVal *v = sim_val(w, x);
	Buf b = sim_buf(w, ir_in(s->op, 0));
	bool trans = ir_int(s->op, AT_TRANS, 0) != 0;
	for (int k = 0; k < c->regs * LANES && !sim_failed(w->u->r); k++) {
		int64_t row = row_at(c, k / LANES, k % LANES, w->num), col = col_at(c, k / LANES, k % LANES, w->num);
		put_element(w, trans ? buf_at(&b, col, row) : buf_at(&b, row, col), x->type->elem,
			sim_at(v, k / LANES, k % LANES));
	}
	/* four matrices at a time, eight rows of 16 bytes each */
	for (int64_t j = 0; j < type_extent(x->type, 1) / 16; j++)
		for (int m = 0; m < 4; m++) {
			Request q = { .lanes = 0xff, .bytes = 16 };
			int least;
			for (int l = 0; l < 8; l++) {
				int64_t row = w->num * 16 + m % 2 * 8, col = 16 * j + m / 2 * 8;
				q.at[l] = (uint64_t)(trans ? buf_at(&b, col + l, row) : buf_at(&b, row + l, col));
			}
			SimCount *n = &w->u->r->count[s->number];
			n->shared += m == 0;
			n->wavefronts += bank_wavefronts(&q, &least);
			n->ideal += least;
		}
	return GO_NEXT;
}

/* Registers as they are, in vectors of 16 bytes; a vector of all threads of the group lies side by side. */
static void each_piece(Warp *w, const Op *op, const Val *tile, const SimVal *from, Cell *to, int rank)
{
	const Val *place = ir_in(op, 0);
	Elem e = tile->type->elem;
	bool shared = place->type->kind == TY_SHARED;
	int n = 16 / elem_bytes(e), threads = w->group.warps * LANES, own = w->rank;
	int64_t base = shared ? sim_buf(w, place).at : sim_scalar(w, place);
	w->rank = rank;         /* whose memory it is */
	for (int i = 0; i < sim_regs(tile) / n && !sim_failed(w->u->r); i++) {
		Request q = { .lanes = UINT32_MAX, .bytes = 16 };
		const Cell *src[16];
		Cell *dst[16];
		for (int l = 0; l < LANES; l++) q.at[l] = (uint64_t)(base + ((int64_t)i * threads + w->num * LANES + l) * 16);
		for (int k = 0; k < n; k++) {
			if (from) src[k] = from->p + ((uint32_t)((i * n + k) * LANES) & from->mask);
			else dst[k] = to + (i * n + k) * LANES;
		}
		if (shared && from) shared_put(w, e, &q, n, src);
		else if (shared) shared_get(w, e, &q, n, dst);
		if (shared) continue;
		count_global(w, &q, from != NULL);
		for (int l = 0; l < LANES && !sim_failed(w->u->r); l++)
			for (int k = 0; k < n; k++) {
				void *at = (void *)(uintptr_t)(q.at[l] + (uint64_t)(k * elem_bytes(e)));
				uint64_t bits = from ? cell_bits(e, src[k][l]) : 0;
				if (from) memcpy(at, &bits, (size_t)elem_bytes(e));
				else memcpy(&bits, at, (size_t)elem_bytes(e)), dst[k][l] = cell_from(e, bits);
			}
	}
	w->rank = own;
}

Go run_store_regs(Warp *w, const Step *s)
{
	const Val *tile = ir_in(s->op, 1);
	int rank = s->op->nin > 2 ? (int)sim_scalar(w, ir_in(s->op, 2)) : w->rank;
	if (rank < 0 || rank >= w->u->nrank) sim_fault(w, "there is no thread block %d in the cluster", rank);
	else if (cluster_reach(w, rank)) each_piece(w, s->op, tile, sim_val(w, tile), NULL, rank);
	return GO_NEXT;
}

Go run_load_regs(Warp *w, const Step *s)
{
	const Val *tile = s->op->out[0];
	int n = sim_regs(tile);
	Cell *to = sim_def(w, tile, n);
	each_piece(w, s->op, tile, NULL, to, w->rank);
	const SimVal *added = s->op->nin > 1 ? sim_val(w, ir_in(s->op, 1)) : NULL;
	for (int i = 0; added && i < n * LANES; i++) to[i].f = (float)(to[i].f + added->p[(uint32_t)i & added->mask].f);
	return GO_NEXT;
}
