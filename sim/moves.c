/* What makes values, and what moves them between registers and lanes. */
#include <string.h>

#include "base/diag.h"
#include "sim/sim_int.h"

static void fill(Warp *w, const Val *v, Cell c)
{
	Cell *p = sim_def(w, v, 1);
	for (int l = 0; l < LANES; l++) p[l] = c;
}

/* ---- making ---- */
Go run_const(Warp *w, const Step *s)
{
	const Val *v = s->op->out[0];
	Num n = { 0 };
	ir_const_value(v, &n);
	fill(w, v, cell_of(v->type->elem, n));
	return GO_NEXT;
}

void *plan_literal(Run *r, const Op *op)
{
	Map *m = NEW(r->mem, Map);
	*m = map_of(r, *op->out[0]->lay, -1);
	return m;
}

void *plan_iota(Run *r, const Op *op) { return plan_literal(r, op); }

Go run_literal(Warp *w, const Step *s)
{
	const Map *m = s->plan;
	const Val *v = s->op->out[0];
	const IrAttr *values = ir_attr(s->op, AT_VALUES);
	int regs = sim_regs(v);
	Cell *p = sim_def(w, v, regs);
	for (int k = 0; k < regs * LANES; k++) {
		uint32_t at = map_at(m, k / LANES, k % LANES, w->num);
		p[k] = values ? cell_of(v->type->elem, values->u.nums.p[at]) : sim_val(w, ir_in(s->op, (int)at))->p[k % LANES];
	}
	return GO_NEXT;
}

Go run_iota(Warp *w, const Step *s)
{
	const Map *m = s->plan;
	const Val *v = s->op->out[0];
	int regs = sim_regs(v);
	bool rotated = w->u->r->rotated && type_size(v->type) > 1;
	bool moved = row_moves(w->u->r, *v->lay);
	int64_t phase = rotated || moved ? sim_phase(w) : 0, none = moved ? (int64_t)1 << w->u->r->fn->row_log2 : 0;
	Cell *p = sim_def(w, v, regs);
	for (int k = 0; k < regs * LANES; k++) {
		bool end = row_is_end(w->u->r, *v->lay, k / LANES);
		int64_t at = end ? 0 : map_at(m, k / LANES, k % LANES, w->num);
		if (rotated) at = (at - phase) & (w->u->r->rotated - 1);
		if (moved) at = row_element(w, phase, at, end, k % LANES);
		if (at < 0) at = none;
		p[k] = cell_of(v->type->elem, num_wrap(v->type->elem, (uint64_t)at));
	}
	return GO_NEXT;
}

Go run_launch(Warp *w, const Step *s)
{
	int64_t v = 0;
	const Val *out = s->op->out[0];
	if (!sim_sym(w->u->r->call, ir_attr(s->op, AT_SYM)->u.sym, &v)) bug("a value that the launcher did not check");
	fill(w, out, cell_of(out->type->elem, num_wrap(out->type->elem, (uint64_t)v)));
	return GO_NEXT;
}

/* Tile blocks are numbered along the kernel's sweep over the grid. */
Go run_bid(Warp *w, const Step *s)
{
	const Run *r = w->u->r;
	Cell *p = sim_def(w, s->op->out[0], 1);
	int axis = ir_axis(s->op);
	for (int l = 0; l < LANES; l++) {
		int64_t t = w->tile[l];
		for (int i = 0; ir_sweep(r->fn, i) != axis; i++) t /= r->grid[ir_sweep(r->fn, i)];
		p[l].i = t % r->grid[axis];
	}
	return GO_NEXT;
}

Go run_to_scalar(Warp *w, const Step *s)
{
	memcpy(sim_def(w, s->op->out[0], 1), sim_val(w, ir_in(s->op, 0))->p, LANES * sizeof(Cell));
	return GO_NEXT;
}

Go run_nothing(Warp *w, const Step *s)
{
	(void)w, (void)s;
	return GO_NEXT;
}

/* ---- within a thread ---- */
/* From which register each of the result's comes: part of the register, part of the thread. */
static Map *pulled(Run *r, Lay to, Lay from, CvtKind most)
{
	Lay c;
	Map *m = NEW(r->mem, Map);
	if (lay_pull(to, from, &c) > most) bug("a conversion moves data further than it says");
	*m = map_of(r, c, LAY_HWAXIS(HW_REG));
	return m;
}

void *plan_convert_regs(Run *r, const Op *op) { return pulled(r, *op->out[0]->lay, *ir_in(op, 0)->lay, CVT_REGS); }

/* The place of the operand's element: the result's, without the axes along which it repeats. */
void *plan_broadcast(Run *r, const Op *op)
{
	const Val *x = ir_in(op, 0), *out = op->out[0];
	unsigned axes = 0;
	if (!type_is_tile(x->type)) return NULL;
	int pad = out->type->rank - x->type->rank;
	for (int a = 0; a < x->type->rank; a++)
		if (x->type->log2[a]) axes |= 1u << (pad + a);
	Lay p = lay_pick(*out->lay, ~0u, axes);
	for (int i = 0; i < pad; i++)
		if (!lay_squeeze(p, 0, &p)) bug("a broadcast has no layout");
	return pulled(r, p, *x->lay, CVT_REGS);
}

Go run_convert_regs(Warp *w, const Step *s)
{
	const Map *m = s->plan;
	const SimVal *x = sim_val(w, ir_in(s->op, 0));
	const Val *out = s->op->out[0];
	int regs = x->mask == LANES - 1 ? 1 : sim_regs(out);
	if (regs > 1 || !m || x->mask == LANES - 1) {
		Cell *p = sim_def(w, out, regs);
		for (int k = 0; k < regs * LANES; k++) {
			bool end = row_is_end(w->u->r, *out->lay, k / LANES),
				row = end && holds_row(w->u->r->fn, *ir_in(s->op, 0)->lay);
			int from = m && x->mask != LANES - 1 ? (int)(map_at(m, end ? 0 : k / LANES, k % LANES, w->num)) : 0;
			if (row) from = k / LANES;
			p[k] = sim_at(x, from, k % LANES);
		}
		return GO_NEXT;
	}
	Cell *p = sim_def(w, out, 1);
	for (int l = 0; l < LANES; l++) p[l] = sim_at(x, (int)(map_at(m, 0, l, w->num)), l);
	return GO_NEXT;
}

Go run_broadcast(Warp *w, const Step *s) { return run_convert_regs(w, s); }

/* The added coordinate is the highest register bit. */
Go run_cat(Warp *w, const Step *s)
{
	int n = sim_regs(ir_in(s->op, 0));
	Cell *p = sim_def(w, s->op->out[0], 2 * n);
	for (int i = 0; i < 2; i++) {
		const SimVal *x = sim_val(w, ir_in(s->op, i));
		for (int k = 0; k < n * LANES; k++) p[i * n * LANES + k] = x->p[(uint32_t)k & x->mask];
	}
	return GO_NEXT;
}

Go run_split(Warp *w, const Step *s)
{
	const SimVal *x = sim_val(w, ir_in(s->op, 0));
	for (int i = 0; i < 2; i++) {
		int n = sim_regs(s->op->out[i]);
		Cell *p = sim_def(w, s->op->out[i], n);
		for (int k = 0; k < n * LANES; k++) p[k] = x->p[(uint32_t)(i * n * LANES + k) & x->mask];
	}
	return GO_NEXT;
}

/* ---- within a warp ---- */
typedef struct Lanes { Map reg, lane; int shuffles; } Lanes;

void *plan_convert_lanes(Run *r, const Op *op)
{
	Lanes *p = NEW(r->mem, Lanes);
	Lay c, to = *op->out[0]->lay;
	if (lay_pull(to, *ir_in(op, 0)->lay, &c) > CVT_SHFL) bug("convert_lanes leaves the warp");
	p->reg = map_of(r, c, LAY_HWAXIS(HW_REG));
	p->lane = map_of(r, c, LAY_HWAXIS(HW_LANE));
	/* all lanes take part in a shuffle of each register that one of them may choose */
	int choices = lay_rank(lay_pick(c, 1u << HW_LANE | 1u << HW_WARP, 1u << LAY_HWAXIS(HW_REG)));
	p->shuffles = (elem_bytes(op->out[0]->type->elem) > 4 ? 2 : 1) << (to.in[HW_REG] + choices);
	return p;
}

Go run_convert_lanes(Warp *w, const Step *s)
{
	const Lanes *p = s->plan;
	const Val *out = s->op->out[0];
	const SimVal *x = sim_val(w, ir_in(s->op, 0));
	int regs = sim_regs(out), lanes = sim_lanes(w->u->r);
	Cell *to = sim_def(w, out, regs);
	w->u->r->count[s->number].shuffles += p->shuffles;
	for (int k = 0; k < regs * LANES; k++) {
		int l = k % LANES, reg = (int)(map_at(&p->reg, k / LANES, l, w->num));
		int lane = (int)(map_at(&p->lane, k / LANES, l, w->num));
		to[k] = sim_at(x, reg, (l & ~(lanes - 1)) + lane);
	}
	return GO_NEXT;
}

typedef struct Slides { Map packed, at; int shift, extent, shuffles; } Slides;

/* As many as a lane sends: for each distance in lanes, and each place in a vector that one of the results asks for. */
static int slide_shuffles(const Op *op, const SlidePlan *p, int regs)
{
	const int64_t *from = ir_attr(op, AT_OFFSETS)->u.ints.p;
	int n = 0, size = 1 << p->lows;
	for (int k = 0; p->lanes && k < op->nout; k++)
		for (int low = 0; low < size; low++) {
			int64_t at = from[k] + low;
			bool again = slide_carry(p, (int)at) == 0;
			for (int j = 0; j < k && !again; j++) again = at >= from[j] && at < from[j] + size;
			n += !again;
		}
	return n * (regs >> p->lows) * (elem_bytes(op->out[0]->type->elem) > 4 ? 2 : 1);
}

void *plan_slide(Run *r, const Op *op)
{
	Slides *s = NEW(r->mem, Slides);
	SlidePlan p;
	Lay l = *ir_in(op, 0)->lay;
	int axis = ir_axis(op);
	if (!slide_plan(l, axis, &p)) bug("slide leaves its warp");
	s->packed = map_of(r, l, -1);
	s->at = map_of(r, l, axis);
	s->shift = lay_shift(l, axis);
	s->extent = 1 << l.out[axis];
	s->shuffles = slide_shuffles(op, &p, sim_regs(ir_in(op, 0)));
	return s;
}

Go run_slide(Warp *w, const Step *st)
{
	const Slides *s = st->plan;
	const Op *op = st->op;
	const Val *x = ir_in(op, 0);
	const SimVal *v = sim_val(w, x), *pad = sim_val(w, ir_in(op, 1));
	int regs = sim_regs(x), lanes = sim_lanes(w->u->r);
	ArenaMark mark = arena_mark(w->u->mem);
	int64_t size = type_size(x->type);
	const Cell **held = NEW_ARRAY(w->u->mem, const Cell *, size * (LANES / lanes));
	w->u->r->count[st->number].shuffles += s->shuffles;
	for (int k = 0; k < regs * LANES; k++) {
		int64_t at = map_at(&s->packed, k / LANES, k % LANES, w->num);
		held[k % LANES / lanes * size + at] = v->p + ((uint32_t)k & v->mask);
	}
	for (int i = 0; i < op->nout; i++) {
		Cell *to = sim_def(w, op->out[i], regs);
		int64_t from = ir_attr(op, AT_OFFSETS)->u.ints.p[i];
		for (int k = 0; k < regs * LANES; k++) {
			int64_t c = map_at(&s->at, k / LANES, k % LANES, w->num), want = c + from;
			int64_t at = (map_at(&s->packed, k / LANES, k % LANES, w->num)) + (from << s->shift);
			if (want < 0 || want >= s->extent) to[k] = pad->p[k % LANES];
			else if (held[k % LANES / lanes * size + at]) to[k] = *held[k % LANES / lanes * size + at];
			else sim_fault(w, "element %lld is in another warp", (long long)want);
		}
	}
	arena_release(w->u->mem, mark);
	return GO_NEXT;
}

/* ---- between thread blocks of a cluster ---- */
typedef struct Sent { Map from, to; uint32_t spare; } Sent;
typedef struct Exchange { Sent *tile; int bar, places; } Exchange;    /* bar: the first of as many as it has places */

void *plan_exchange(Run *r, const Op *op)
{
	Exchange *x = NEW(r->mem, Exchange);
	x->tile = NEW_ARRAY(r->mem, Sent, op->nin);
	x->places = exchange_repeats(op) ? 2 : 1;
	x->bar = r->nbar;
	r->nbar += x->places;
	for (int k = 0; k < op->nin; k++) {
		Lay l = *ir_in(op, k)->lay;
		x->tile[k] = (Sent){ map_of(r, l, -1), map_of(r, *op->out[k]->lay, -1), lay_hwcoord(l, lay_free(l), HW_REG) };
	}
	return x;
}

static int64_t slot_at(const Op *op, int k, uint32_t index, int place)
{
	int64_t begin = ir_int(op, AT_SLOT, 0) + place * exchange_bytes(op) + EXCHANGE_BAR;
	return begin + exchange_at(op, k) + (int64_t)index * exchange_slot(op->out[k]->type->elem);
}

/* An element to all thread blocks; it counts for their mbarrier when it arrives. */
void bar_send(Warp *w, int bar, int64_t at, int bytes, int lane, uint64_t bits)
{
	Unit *u = w->u;
	cluster_met(w);         /* the kernel's first exchange waits for that: emit_cuda/cluster.c */
	for (int to = 0; to < u->nrank && !sim_failed(u->r) && cluster_reach(w, to); to++) {
		unsigned char *p = shared_at(w, to, at, bytes, lane, SHARED_WRITE);
		Bar *b = &u->shared[to].bar[bar];
		for (int k = 0; k < bytes; k++) p[k] = (unsigned char)(bits >> (8 * k));
		b->arrived += bytes;
		for (int k = 0; k < u->nactor; k++)
			if (w->clock[k] > b->clock[k]) b->clock[k] = w->clock[k];
	}
}

void bar_sent(Warp *w)
{
	w->clock[w->index]++;
	sim_wake(w->u);
}

bool bar_arrived(Warp *w, int bar, int64_t expect, int64_t before)
{
	Bar *b = &w->u->shared[w->rank].bar[bar];
	if (b->arrived - before > expect)
		sim_fault(w, "%lld bytes arrived for a phase of %lld", (long long)(b->arrived - before), (long long)expect);
	if (b->arrived - before < expect) return false;
	sim_learn(w, b->clock);
	return true;
}

/* Which of its places this time has: iterations take turns. */
static int place_now(const Warp *w, const Exchange *x) { return (int)(w->done[x->bar] % x->places); }

static void send(Warp *w, const Op *op, const Exchange *x, int k)
{
	int place = place_now(w, x);
	const Val *from = ir_in(op, k);
	const SimVal *v = sim_val(w, from);
	Elem e = from->type->elem;
	uint32_t lanes = first_lanes(*from->lay, w->num);
	for (int reg = 0; reg < sim_regs(from); reg++)
		for (int l = 0; is_first_reg(x->tile[k].spare, reg) && l < LANES; l++)
			if (lanes >> l & 1) {
				uint32_t at = map_at(&x->tile[k].from, reg, l, w->num);
				bar_send(w, x->bar + place, slot_at(op, k, at, place), exchange_slot(e), l,
					cell_bits(e, sim_at(v, reg, l)));
			}
}

static void receive(Warp *w, const Op *op, const Exchange *x, int k)
{
	const Val *out = op->out[k];
	Unit *u = w->u;
	int bytes = exchange_slot(out->type->elem), regs = sim_regs(out), place = place_now(w, x);
	Cell *to = sim_def(w, out, regs);
	for (int reg = 0; reg < regs; reg++) {
		Request q = { .lanes = UINT32_MAX, .bytes = bytes };
		for (int l = 0; l < LANES; l++)
			q.at[l] = (uint64_t)slot_at(op, k, map_at(&x->tile[k].to, reg, l, w->num), place);
		count_shared(w, &q);
		for (int l = 0; l < LANES && !sim_failed(u->r); l++) {
			const unsigned char *p = shared_at(w, w->rank, (int64_t)q.at[l], bytes, l, SHARED_READ);
			uint64_t bits = 0;
			for (int i = 0; i < elem_bytes(out->type->elem); i++) bits |= (uint64_t)p[i] << (8 * i);
			to[reg * LANES + l] = cell_from(out->type->elem, bits);
		}
	}
}

Go run_exchange(Warp *w, const Step *s)
{
	const Exchange *x = s->plan;
	const Op *op = s->op;
	int64_t elems, expect;
	exchange_size(op, &elems, &expect);
	if (!w->phase) {
		for (int k = 0; k < op->nin; k++) send(w, op, x, k);
		bar_sent(w);
		w->phase = 1;
	}
	if (!bar_arrived(w, x->bar + place_now(w, x), expect, w->done[x->bar] / x->places * expect)) return GO_WAIT;
	for (int k = 0; k < op->nout; k++) receive(w, op, x, k);
	w->done[x->bar]++;
	return GO_NEXT;
}
