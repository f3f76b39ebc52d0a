/* Sorts, as placed/sort.c says: keys of two words, of which small ones use the lower. Counting in shared memory. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "sim/sim_int.h"

typedef struct Key { uint64_t hi, lo; } Key;

typedef struct Sort {
	SortPlan p;
	Elem e;
	Map off;                /* along the axis */
	int64_t slot;
	bool nan_first;
	bool nan_pads;          /* they count as pads, as which they would lie behind all numbers of a longer tile */
} Sort;

void *plan_sort(Run *r, const Op *op)
{
	Sort *s = NEW(r->mem, Sort);
	const Val *x = ir_in(op, 0);
	s->p = sort_plan_of(op);
	s->e = x->type->elem;
	s->off = map_of(r, *x->lay, ir_axis(op));
	s->slot = ir_int(op, AT_SLOT, 0);
	s->nan_first = op->code == OP_TOPK;
	s->nan_pads = r->call->shortened && s->p.sign;
	return s;
}

/* ---- keys ---- */
static uint64_t ones(int bits) { return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1; }

static Key key_of(const Sort *s, Cell c, uint64_t index)
{
	int width = 8 * elem_bytes(s->e);
	if (s->nan_pads && isnan(c.f)) c.f = s->p.down ? -INFINITY : INFINITY;
	uint64_t all = ones(width), top = UINT64_C(1) << (width - 1), b = cell_bits(s->e, c) & all, k = b, low = 0;
	if (s->p.sign) k = b == top ? top : b & top ? b ^ all : b | top;
	else if (elem_is_signed(s->e)) k = b ^ top;
	if (s->p.down) k ^= all;
	if (s->p.sign && isnan(c.f)) k = s->nan_first ? 0 : all;
	if (s->p.index) low = index << s->p.sign | (s->p.sign && b == top);
	return s->p.words == 4 ? (Key){ k, low } : (Key){ 0, s->p.low ? k << s->p.low | low : k };
}

static Cell cell_of_key(const Sort *s, Key key)
{
	int width = 8 * elem_bytes(s->e);
	uint64_t all = ones(width), top = UINT64_C(1) << (width - 1);
	uint64_t k = s->p.words == 4 ? key.hi : s->p.low ? key.lo >> s->p.low : key.lo;
	if (s->p.down) k ^= all;
	if (s->p.sign) k = (k & top ? k ^ top : k ^ all) | (key.lo & 1 ? top : 0);
	else if (elem_is_signed(s->e)) k ^= top;
	return cell_from(s->e, k);
}

static bool less(Key a, Key b) { return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo); }

/* ---- steps ---- */
static uint32_t hw_at(const SortStep *t, int reg, int lane, int warp)
{
	return t->hw == HW_REG ? (uint32_t)reg : t->hw == HW_LANE ? (uint32_t)lane : (uint32_t)warp;
}

static Key chosen(const Warp *w, const SortStep *t, int reg, int lane, Key own, Key other)
{
	bool upper = (hw_at(t, reg, lane, w->num) & t->top) != 0;
	return less(other, own) != upper ? other : own;
}

static void step_in_warp(const Warp *w, const Sort *s, const SortStep *t, Key *k)
{
	Key *old = k + s->p.regs * LANES;
	memcpy(old, k, (size_t)s->p.regs * LANES * sizeof *k);
	for (int r = 0; r < s->p.regs; r++)
		for (int l = 0; l < LANES; l++)
			k[r * LANES + l] = chosen(w, t, r, l, old[r * LANES + l],
				old[(r ^ (int)t->reg) * LANES + (l ^ (int)t->lane)]);
}

/* Register i in an order in which those that are compared follow each other. */
static int sort_place(const SortStep *t, int i)
{
	int flip = (int)t->reg, low = flip & -flip;
	return low ? ((i >> 1 & ~(low - 1)) << 1 | (i >> 1 & (low - 1))) ^ (i & 1 ? flip : 0) : i;
}

static void through_shared(Warp *w, const Sort *s, int slot, uint32_t thread, Cell *lo, Cell *hi, bool store)
{
	int bytes = 4 * s->p.words, part = bytes < 8 ? 4 : 8;
	Elem e = part == 4 ? EL_U32 : EL_U64;
	for (int n = 0; n < bytes / part; n++) {
		Request q = { .lanes = UINT32_MAX, .bytes = part };
		Cell *c = n == bytes / part - 1 ? lo : hi;
		for (int l = 0; l < LANES; l++)
			q.at[l] = (uint64_t)(s->slot + ((int64_t)slot * s->p.threads + (thread ^ (uint32_t)l)) * bytes + n * part);
		if (store) shared_store(w, e, &q, c);
		else shared_load(w, e, &q, c);
	}
}

static void put_chunk(Warp *w, const Sort *s, const SortStep *t, const Key *k, int chunk)
{
	for (int i = 0; i < s->p.chunk && !sim_failed(w->u->r); i++) {
		const Key *of = k + sort_place(t, chunk * s->p.chunk + i) * LANES;
		Cell lo[LANES], hi[LANES];
		for (int l = 0; l < LANES; l++) lo[l].i = (int64_t)of[l].lo, hi[l].i = (int64_t)of[l].hi;
		through_shared(w, s, i, (uint32_t)w->num * LANES, lo, hi, true);
	}
}

static void order_chunk(Warp *w, const Sort *s, const SortStep *t, Key *k, int chunk)
{
	uint32_t other = ((uint32_t)w->num ^ t->warp) * LANES ^ t->lane;
	for (int i = 0; i < s->p.chunk && !sim_failed(w->u->r); i++) {
		int r = sort_place(t, chunk * s->p.chunk + i);
		Cell lo[LANES] = { { 0 } }, hi[LANES] = { { 0 } };
		through_shared(w, s, t->reg ? i ^ 1 : i, other, lo, hi, false);
		for (int l = 0; l < LANES; l++)
			k[r * LANES + l] = chosen(w, t, r, l, k[r * LANES + l], (Key){ (uint64_t)hi[l].i, (uint64_t)lo[l].i });
	}
}

/* ---- the network ---- */
/* Those that a warp holds, then room for what they were before a step. */
static Key *held_keys(Warp *w, const Sort *s)
{
	_Static_assert(sizeof(Key) == 2 * sizeof(Cell), "a key is two cells");
	return (Key *)sim_scratch(w, 4 * s->p.regs);
}

static void make_keys(Warp *w, const Step *st, const Sort *s, Key *k)
{
	const SimVal *v = sim_val(w, ir_in(st->op, 0));
	for (int r = 0; r < s->p.regs; r++)
		for (int l = 0; l < LANES; l++)
			k[r * LANES + l] = key_of(s, sim_at(v, r, l), map_at(&s->off, r, l, w->num));
}

static void take_values(Warp *w, const Step *st, const Sort *s, const Key *k)
{
	for (int i = 0; i < st->op->nout; i++) {
		Cell *to = sim_def(w, st->op->out[i], s->p.regs);
		for (int c = 0; c < s->p.regs * LANES; c++) {
			if (i) to[c].i = (int64_t)(k[c].lo >> s->p.sign & ones(s->p.at.n));
			else to[c] = cell_of_key(s, k[c]);
		}
	}
}

/* Steps in which warps exchange keys have two phases for each chunk: before it is put, and before it is read. A phase
 * counts those of all steps. */
Go run_sort(Warp *w, const Step *st)
{
	const Sort *s = st->plan;
	Key *k = held_keys(w, s);
	int phase = 0;
	bool runs = !w->phase && !w->met;        /* else it goes on from a barrier */
	if (runs) make_keys(w, st, s, k);
	for (int stage = 1; stage <= s->p.at.n; stage++)
		for (int j = stage - 1; j >= 0; j--) {
			SortStep t = sort_step(&s->p, stage, j == stage - 1 ? -1 : j);
			if (!t.warp) {
				if (phase == w->phase && runs) step_in_warp(w, s, &t, k);
				continue;
			}
			for (int c = 0; c < 2 * (s->p.regs / s->p.chunk); c++, phase++) {
				if (phase < w->phase) continue;
				if (!sim_sync(w)) return GO_WAIT;
				w->phase++;
				runs = true;
				if (c % 2) order_chunk(w, s, &t, k, c / 2);
				else put_chunk(w, s, &t, k, c / 2);
			}
		}
	take_values(w, st, s, k);
	return GO_NEXT;
}

/* ---- histogram: counts of as many bins as fit, one iteration for each such group ---- */
typedef struct Bins { Map out; int64_t bins, iterations, slot; } Bins;

static void request(Request *q, int lane, int64_t base, int bytes, int64_t index)
{
	q->at[lane] = (uint64_t)(base + index * bytes);
	q->bytes = bytes;
}

void *plan_histogram(Run *r, const Op *op)
{
	Bins *p = NEW(r->mem, Bins);
	p->bins = piece_elems(op->out[0]->type);
	p->iterations = type_size(op->out[0]->type) / p->bins;
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

static void count_bins(Warp *w, const Step *s, const Bins *p, int iteration)
{
	const Val *x = ir_in(s->op, 0);
	const SimVal *v = sim_val(w, x);
	uint32_t lanes = first_lanes(*x->lay, w->num), spare = lay_hwcoord(*x->lay, lay_free(*x->lay), HW_REG);
	for (int reg = 0; reg < sim_regs(x); reg++) {
		Request q = { .bytes = 4 };
		for (int l = 0; l < LANES && is_first_reg(spare, reg); l++) {
			uint64_t j = (uint64_t)sim_at(v, reg, l).i - (uint64_t)(iteration * p->bins);
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

static void read_bins(Warp *w, const Step *s, const Bins *p, int iteration)
{
	const Val *r = s->op->out[0];
	Cell *to = sim_def(w, r, sim_regs(r));
	for (int reg = 0; reg < sim_regs(r); reg++) {
		Request q = { .bytes = 4 };
		for (int l = 0; l < LANES; l++) {
			int64_t at = map_at(&p->out, reg, l, w->num);
			request(&q, l, p->slot, 4, at % p->bins);
			q.lanes |= (uint32_t)(at / p->bins == iteration) << l;
		}
		shared_load(w, EL_I32, &q, to + reg * LANES);
	}
}

/* Three phases an iteration: before bins are cleared, before they count, before they are read. */
Go run_histogram(Warp *w, const Step *s)
{
	const Bins *p = s->plan;
	for (;; w->phase++) {
		int iteration = w->phase / 3;
		if (iteration == p->iterations) return GO_NEXT;
		if ((w->phase % 3 || p->iterations > 1) && !sim_sync(w)) return GO_WAIT;
		if (w->phase % 3 == 0) clear_bins(w, p);
		else if (w->phase % 3 == 1) count_bins(w, s, p, iteration);
		else read_bins(w, s, p, iteration);
	}
}
