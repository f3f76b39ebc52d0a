/* Sorting and counting in shared memory: a bitonic network over (value, index). A tile too large for shared memory
 * stays in its registers, and each step of the network exchanges it in pieces. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "sim/sim_int.h"

typedef struct Sort {
	Elem e;
	Map off, out[2];        /* of the operand; of the results, in the sorted tile */
	int shift, n;           /* of the axis, log2 */
	int64_t size, piece, vals, idx;
	bool descending, nan_first;
	int steps;              /* of the network */
	uint32_t spare;
} Sort;

/* Places of the elements of a result, which may be shorter along the axis. */
static Map result_map(Run *r, const Val *v, const Type *from, int axis)
{
	Lay l = *v->lay;
	int shift = type_axis_shift(v->type, axis), rlog = v->type->log2[axis], xlog = from->log2[axis];
	for (int i = 0; i < lay_inbits(l); i++) {
		uint32_t c = l.col[i], low = shift + rlog >= 32 ? c : c & (((uint32_t)1 << (shift + rlog)) - 1);
		l.col[i] = low | (c ^ low) << (xlog - rlog);
	}
	return map_of(r, l, -1);
}

void *plan_sort(Run *r, const Op *op)
{
	Sort *p = NEW(r->mem, Sort);
	const Val *x = ir_in(op, 0);
	bool topk = op->code == OP_TOPK;
	int axis = (int)ir_int(op, AT_AXIS, x->type->rank - 1);
	p->e = x->type->elem;
	p->off = map_of(r, *x->lay, -1);
	for (int i = 0; i < op->nout; i++) p->out[i] = result_map(r, op->out[i], x->type, axis);
	p->shift = type_axis_shift(x->type, axis);
	p->n = x->type->log2[axis];
	p->size = type_size(x->type);
	p->piece = sort_piece(x->type);
	p->idx = ir_int(op, AT_SLOT, 0);
	p->vals = p->piece < p->size ? p->idx + 4 * p->piece : p->idx + (p->size * 4 + 15) / 16 * 16;
	p->descending = topk || ir_int(op, AT_DESCENDING, 0);
	p->nan_first = topk;
	p->steps = p->n * (p->n + 1) / 2;
	return p;
}

/* The second of a pair belongs before the first: a NaN last, in topk first. */
static bool before(const Sort *p, Cell x, int64_t ix, Cell y, int64_t iy)
{
	if (!elem_is_any_float(p->e)) {
		if (x.i == y.i) return iy < ix;
		bool lt = p->e == EL_U64 ? (uint64_t)y.i < (uint64_t)x.i : y.i < x.i;
		return p->descending ? !lt : lt;
	}
	if (isnan(x.f) && isnan(y.f)) return iy < ix;
	if (isnan(x.f)) return !p->nan_first;
	if (isnan(y.f)) return p->nan_first;
	if (x.f == y.f) return iy < ix;
	return p->descending ? y.f > x.f : y.f < x.f;
}

static void step_of(const Sort *p, int step, int *k, int *j)   /* of the network: k = 1 .. n, j = k - 1 .. 0 */
{
	*k = 1;
	while (step >= *k) step -= (*k)++;
	*j = *k - 1 - step;
	(void)p;
}

static void request(Request *q, int lane, int64_t base, int bytes, int64_t index)
{
	q->at[lane] = (uint64_t)(base + index * bytes);
	q->bytes = bytes;
}

/* Values and indices of a register of all lanes, at these places of the tile. */
static void transfer(Warp *w, const Sort *p, const int64_t *at, uint32_t lanes, Cell *v, Cell *i, bool store)
{
	Request qv = { .lanes = lanes }, qi = { .lanes = lanes };
	for (int l = 0; l < LANES; l++) {
		request(&qv, l, p->vals, elem_bytes(p->e), at[l] % p->piece);
		request(&qi, l, p->idx, 4, at[l] % p->piece);
	}
	if (v && store) shared_store(w, p->e, &qv, v);
	else if (v) shared_load(w, p->e, &qv, v);
	if (i && store) shared_store(w, EL_I32, &qi, i);
	else if (i) shared_load(w, EL_I32, &qi, i);
}

static int64_t place(const Map *m, const Warp *w, int reg, int lane) { return map_at(m, reg, lane, w->num); }

static int64_t index_of(const Sort *p, int64_t at) { return at >> p->shift & ((INT64_C(1) << p->n) - 1); }

static void put_all(Warp *w, const Step *s, const Sort *p)
{
	const Val *x = ir_in(s->op, 0);
	const SimVal *v = sim_val(w, x);
	uint32_t lanes = first_lanes(*x->lay, w->num);
	for (int reg = 0; reg < sim_regs(x); reg++) {
		int64_t at[LANES];
		Cell c[LANES], i[LANES];
		for (int l = 0; l < LANES; l++) {
			at[l] = place(&p->off, w, reg, l);
			c[l] = sim_at(v, reg, l);
			i[l].i = index_of(p, at[l]);
		}
		transfer(w, p, at, lanes, c, i, true);
	}
}

static void network_step(Warp *w, const Sort *p, int step)
{
	int k, j, threads = w->u->nwarp * LANES;
	step_of(p, step, &k, &j);
	int bit = j + p->shift;
	for (int64_t from = (int64_t)w->num * LANES; from < p->size / 2 && !sim_failed(w->u->r); from += threads) {
		int64_t u[LANES], v[LANES];
		Cell x[LANES], y[LANES], ix[LANES], iy[LANES];
		uint32_t in = 0, swap = 0;
		for (int l = 0; l < LANES; l++) {
			int64_t q = from + l;
			in |= (uint32_t)(q < p->size / 2) << l;
			u[l] = (q >> bit << (bit + 1)) | (q & ((INT64_C(1) << bit) - 1));
			v[l] = u[l] | INT64_C(1) << bit;
		}
		transfer(w, p, u, in, x, ix, false);
		transfer(w, p, v, in, y, iy, false);
		for (int l = 0; l < LANES && !sim_failed(w->u->r); l++) {
			if (!(in >> l & 1)) continue;
			bool down = k < p->n && (u[l] >> (k + p->shift) & 1);
			if (before(p, x[l], ix[l].i, y[l], iy[l].i) != down) swap |= (uint32_t)1 << l;
		}
		transfer(w, p, u, swap, y, iy, true);
		transfer(w, p, v, swap, x, ix, true);
	}
}

static void get_all(Warp *w, const Step *s, const Sort *p)
{
	for (int i = 0; i < s->op->nout; i++) {
		const Val *r = s->op->out[i];
		Cell *to = sim_def(w, r, sim_regs(r));
		for (int reg = 0; reg < sim_regs(r) && !sim_failed(w->u->r); reg++) {
			int64_t at[LANES];
			for (int l = 0; l < LANES; l++) at[l] = place(&p->out[i], w, reg, l);
			transfer(w, p, at, UINT32_MAX, i ? NULL : to + reg * LANES, i ? to + reg * LANES : NULL, false);
		}
	}
}

static Go sort_whole(Warp *w, const Step *s, const Sort *p)
{
	for (;;) {              /* phase: steps of the network that are done, with the barrier that follows to come */
		if (!w->met) {
			if (!w->phase) put_all(w, s, p);
			else network_step(w, p, w->phase - 1);
		}
		if (!sim_sync(w)) return GO_WAIT;
		if (w->phase++ == p->steps) break;
	}
	get_all(w, s, p);
	return GO_NEXT;
}

/* ---- large tiles ---- */
typedef struct Held { Cell *v, *n, *nv, *nn; int regs; } Held;  /* values and indices; the next ones */

static Held held(Warp *w, const Val *x)
{
	int regs = sim_regs(x);
	Cell *c = sim_scratch(w, 4 * regs);
	return (Held){ c, c + regs * LANES, c + 2 * regs * LANES, c + 3 * regs * LANES, regs };
}

static void fill_piece(Warp *w, const Sort *p, const Held *h, int64_t piece)
{
	for (int reg = 0; reg < h->regs; reg++) {
		int64_t at[LANES];
		uint32_t in = 0;
		for (int l = 0; l < LANES; l++) {
			at[l] = place(&p->off, w, reg, l);
			in |= (uint32_t)(at[l] / p->piece == piece) << l;
		}
		transfer(w, p, at, in, h->v + reg * LANES, h->n + reg * LANES, true);
	}
}

static void compare_piece(Warp *w, const Sort *p, const Held *h, int step, int64_t piece)
{
	int k, j;
	step_of(p, step, &k, &j);
	int bit = j + p->shift;
	for (int reg = 0; reg < h->regs && !sim_failed(w->u->r); reg++) {
		int64_t at[LANES];
		Cell v[LANES], n[LANES];
		uint32_t in = 0;
		for (int l = 0; l < LANES; l++) {
			at[l] = place(&p->off, w, reg, l) ^ INT64_C(1) << bit;
			in |= (uint32_t)(at[l] / p->piece == piece) << l;
		}
		transfer(w, p, at, in, v, n, false);
		for (int l = 0; l < LANES && !sim_failed(w->u->r); l++) {
			int c = reg * LANES + l;
			if (!(in >> l & 1)) continue;
			int64_t f = at[l] ^ INT64_C(1) << bit;
			bool high = f >> bit & 1, down = k < p->n && (f >> (k + p->shift) & 1);
			bool swap = high ? before(p, v[l], n[l].i, h->v[c], h->n[c].i)
				: before(p, h->v[c], h->n[c].i, v[l], n[l].i);
			h->nv[c] = swap != down ? v[l] : h->v[c];
			h->nn[c] = swap != down ? n[l] : h->n[c];
		}
	}
}

static void get_piece(Warp *w, const Step *s, const Sort *p, int64_t piece)
{
	for (int i = 0; i < s->op->nout; i++) {
		const Val *r = s->op->out[i];
		Cell *to = sim_def(w, r, sim_regs(r));
		for (int reg = 0; reg < sim_regs(r) && !sim_failed(w->u->r); reg++) {
			int64_t at[LANES];
			uint32_t in = 0;
			for (int l = 0; l < LANES; l++) {
				at[l] = place(&p->out[i], w, reg, l);
				in |= (uint32_t)(at[l] / p->piece == piece) << l;
			}
			transfer(w, p, at, in, i ? NULL : to + reg * LANES, i ? to + reg * LANES : NULL, false);
		}
	}
}

/* Each step, and at last taking the results, goes piece by piece; a piece is phases 2 q, before it
 * is filled, and 2 q + 1. */
static Go sort_pieces(Warp *w, const Step *s, const Sort *p)
{
	const Val *x = ir_in(s->op, 0);
	Held h = held(w, x);
	int64_t pieces = p->size / p->piece;
	if (!w->phase && !w->met)
		for (int c = 0; c < h.regs * LANES; c++) {
			h.v[c] = sim_at(sim_val(w, x), c / LANES, c % LANES);
			h.n[c].i = index_of(p, place(&p->off, w, c / LANES, c % LANES));
		}
	for (;; w->phase++) {
		int q = w->phase / 2, step = (int)(q / pieces);
		if (step > p->steps) return GO_NEXT;
		if (!sim_sync(w)) return GO_WAIT;
		if (w->phase % 2 == 0) {
			fill_piece(w, p, &h, q % pieces);
			continue;
		}
		if (step == p->steps) get_piece(w, s, p, q % pieces);
		else compare_piece(w, p, &h, step, q % pieces);
		if (step < p->steps && q % pieces == pieces - 1) memcpy(h.v, h.nv, 2 * (size_t)h.regs * LANES * sizeof *h.v);
	}
}

Go run_sort(Warp *w, const Step *s)
{
	const Sort *p = s->plan;
	return p->piece < p->size ? sort_pieces(w, s, p) : sort_whole(w, s, p);
}

/* ---- histogram: counts of as many bins as fit, one round for each such group ---- */
typedef struct Bins { Map out; int64_t bins, rounds, slot; } Bins;

void *plan_histogram(Run *r, const Op *op)
{
	Bins *p = NEW(r->mem, Bins);
	p->bins = piece_elems(op->out[0]->type);
	p->rounds = type_size(op->out[0]->type) / p->bins;
	p->slot = ir_int(op, AT_SLOT, 0);
	p->out = map_of(r, *op->out[0]->lay, -1);
	return p;
}

static void clear_bins(Warp *w, const Bins *p)
{
	static const Cell zero[LANES];
	for (int64_t from = (int64_t)w->num * LANES; from < p->bins; from += w->u->nwarp * LANES) {
		Request q = { .bytes = 4 };
		for (int l = 0; l < LANES; l++) {
			request(&q, l, p->slot, 4, from + l);
			q.lanes |= (uint32_t)(from + l < p->bins) << l;
		}
		shared_store(w, EL_I32, &q, zero);
	}
}

static void count_bins(Warp *w, const Step *s, const Bins *p, int round)
{
	const Val *x = ir_in(s->op, 0);
	const SimVal *v = sim_val(w, x);
	uint32_t lanes = first_lanes(*x->lay, w->num), spare = lay_hwcoord(*x->lay, lay_free(*x->lay), HW_REG);
	for (int reg = 0; reg < sim_regs(x); reg++) {
		Request q = { .bytes = 4 };
		for (int l = 0; l < LANES && is_first_reg(spare, reg); l++) {
			uint64_t j = (uint64_t)sim_at(v, reg, l).i - (uint64_t)(round * p->bins);
			if (!(lanes >> l & 1) || j >= (uint64_t)p->bins) continue;
			request(&q, l, p->slot, 4, (int64_t)j);
			q.lanes |= (uint32_t)1 << l;
		}
		count_shared(w, &q);
		for (int l = 0; l < LANES && !sim_failed(w->u->r); l++) {
			if (!(q.lanes >> l & 1)) continue;
			unsigned char *at = shared_at(w, w->rank, (int64_t)q.at[l], 4, l, SHARED_ATOMIC);
			uint32_t n;
			memcpy(&n, at, sizeof n);
			n++;
			memcpy(at, &n, sizeof n);
		}
	}
}

static void read_bins(Warp *w, const Step *s, const Bins *p, int round)
{
	const Val *r = s->op->out[0];
	Cell *to = sim_def(w, r, sim_regs(r));
	for (int reg = 0; reg < sim_regs(r); reg++) {
		Request q = { .bytes = 4 };
		for (int l = 0; l < LANES; l++) {
			int64_t at = place(&p->out, w, reg, l);
			request(&q, l, p->slot, 4, at % p->bins);
			q.lanes |= (uint32_t)(at / p->bins == round) << l;
		}
		shared_load(w, EL_I32, &q, to + reg * LANES);
	}
}

/* Three phases a round: before bins are cleared, before they count, before they are read. */
Go run_histogram(Warp *w, const Step *s)
{
	const Bins *p = s->plan;
	for (;; w->phase++) {
		int round = w->phase / 3;
		if (round == p->rounds) return GO_NEXT;
		if ((w->phase % 3 || p->rounds > 1) && !sim_sync(w)) return GO_WAIT;
		if (w->phase % 3 == 0) clear_bins(w, p);
		else if (w->phase % 3 == 1) count_bins(w, s, p, round);
		else read_bins(w, s, p, round);
	}
}
