/* Scans, in the order that emit_cuda/scan.c describes: neighbours in registers, then bit by bit of the axis lanes in
 * pairs and groups of registers one after the other, then warps through shared memory. T: the total of the block that a
 * group of neighbours is in so far; P: the combination of what comes before the group in it. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "ir/monoid.h"
#include "layout/f2.h"
#include "sim/reduce.h"

typedef struct Scan {
	Reduce r;
	ScanPlan plan;
	Lay lay;
	Map totals;             /* places of totals in shared memory */
	int regs, groups;       /* log2 */
	uint32_t rows;          /* register bits that are not on the axis */
	int shift;              /* of the axis in the number of a total */
	bool back, exclusive;
	int64_t slot[MOST];
	int bar;                /* in a cluster: where totals arrive */
	int64_t expect;         /* bytes of them; 0: they stay in the thread block */
} Scan;

static uint32_t bits_of(const Scan *s, Hw h, int from, int to) { return scan_bits(&s->plan, h, from, to); }

static uint32_t low_bits(const Scan *s) { return bits_of(s, HW_REG, 0, s->plan.low); }

static uint32_t as_groups(const Scan *s, uint32_t regs) { return scan_group_bits(&s->plan, s->regs, regs); }

/* What number n of bits from..to of the axis adds to the register or warp that holds them. */
static uint32_t walk(const Scan *s, uint32_t n, Hw h, int from, int to)
{
	uint32_t r = 0;
	for (int k = from; k < to; k++)
		if (s->plan.hw[k] == h && n >> (k - from) & 1) r |= (uint32_t)1 << s->plan.bit[k];
	return r;
}

void *plan_scan(Run *r, const Op *op)
{
	Scan *s = NEW(r->mem, Scan);
	s->r.n = scan_values(op);
	reduce_plan_kind(&s->r, op, monoid_kind(op->code));
	s->plan = scan_plan_of(op);
	s->lay = *ir_in(op, 0)->lay;
	s->regs = s->lay.in[HW_REG];
	s->groups = s->regs - s->plan.low;
	s->rows = (((uint32_t)1 << s->regs) - 1) & ~bits_of(s, HW_REG, 0, s->plan.n);
	s->back = ir_int(op, AT_DIRECTION, 0) != 0;
	s->exclusive = ir_int(op, AT_EXCLUSIVE, 0) != 0;
	for (int i = 0; i < s->r.n; i++) s->slot[i] = ir_int(op, AT_SLOT, 0) + scan_offset(op, &s->plan, i);
	if (s->plan.warps == s->plan.n) return s;
	if (op_exchanges(op)) {
		int64_t elems;
		exchange_size(op, &elems, &s->expect);
		s->bar = r->nbar++;
	}
	s->totals = map_of(r, s->plan.totals, -1);
	s->shift = lay_shift(s->plan.totals, ir_axis(op));
	return s;
}

/* ---- what a warp holds while it scans ---- */
typedef struct State { Warp *w; const Step *st; const Scan *s; Cell *t, *p, *has; } State;

static State state_of(Warp *w, const Step *st)
{
	const Scan *s = st->plan;
	size_t groups = (size_t)1 << s->groups, n = (size_t)s->r.n;
	Cell *c = sim_scratch(w, (int)(groups * (2 * n + 1)));
	return (State){ w, st, s, c, c + groups * n * LANES, c + 2 * groups * n * LANES };
}

static Cell *at(const State *x, Cell *of, int value, uint32_t group)
{
	return of + (((size_t)value << x->s->groups) + group) * LANES;
}

static void get(const State *x, Cell *of, uint32_t group, Lane32 *v)
{
	for (int i = 0; i < x->s->r.n; i++) memcpy(v[i].c, at(x, of, i, group), sizeof v[i].c);
}

static void put(const State *x, Cell *of, uint32_t group, const Lane32 *v)
{
	for (int i = 0; i < x->s->r.n; i++) memcpy(at(x, of, i, group), v[i].c, sizeof v[i].c);
}

static void copy_lanes(const State *x, Lane32 *to, const Lane32 *from)
{
	memcpy(to, from, (size_t)x->s->r.n * sizeof *to);
}

/* a: the combination of what the scan met before and what it met after. */
static void ordered(const State *x, Lane32 *a, const Lane32 *before, const Lane32 *after, const bool *where)
{
	bool back = x->s->back;
	reduce_combine_lanes(x->w, x->st, &x->s->r, a, back ? after : before, back ? before : after, where);
}

/* P of a group, where there is one yet, gets v before it; else it is v. In these lanes. */
static void put_before(const State *x, uint32_t group, const Lane32 *v, const bool *where)
{
	Lane32 p[MOST], was[MOST];
	Cell *has = x->has + (size_t)group * LANES;
	bool both[LANES];
	get(x, x->p, group, p);
	copy_lanes(x, was, p);
	for (int l = 0; l < LANES; l++) both[l] = has[l].i && (!where || where[l]);
	ordered(x, p, v, was, both);
	for (int l = 0; l < LANES; l++) {
		if (both[l] || (where && !where[l])) continue;
		for (int i = 0; i < x->s->r.n; i++) p[i].c[l] = v[i].c[l];
		has[l].i = 1;
	}
	put(x, x->p, group, p);
}

/* The groups below bit k of the axis, of the block whose first group is `block`. */
static void put_before_block(const State *x, int k, uint32_t block, const Lane32 *v, const bool *where)
{
	uint32_t mask = as_groups(x->s, bits_of(x->s, HW_REG, x->s->plan.low, k));
	for (uint32_t i = 0; i < (uint32_t)1 << f2_count(mask); i++) put_before(x, block ^ bits_along(mask, i), v, where);
}

/* ---- levels ---- */
static Cell identity(const State *x, int i, int lane)
{
	const Op *op = x->st->op;
	Elem e = x->s->r.e[i];
	if (op->code == OP_SCAN) return sim_val(x->w, ir_in(op, x->s->r.n + i))->p[lane];
	return cell_of(e, monoid_begin(op->code, e));
}

static void set_result(const State *x, int i, uint32_t reg, const Lane32 *v)
{
	memcpy(sim_def(x->w, x->st->op->out[i], 1 << x->s->regs) + (size_t)reg * LANES, v->c, sizeof v->c);
}

static void scan_neighbours(const State *x, uint32_t g)
{
	const Scan *s = x->s;
	uint32_t len = (uint32_t)1 << s->plan.low, base = bits_along(~low_bits(s) & (((uint32_t)1 << s->regs) - 1), g);
	Lane32 t[MOST], v[MOST], was[MOST], none;
	for (uint32_t j = 0; j < len; j++) {
		uint32_t reg = base ^ walk(s, s->back ? len - 1 - j : j, HW_REG, 0, s->plan.low);
		for (int i = 0; i < s->r.n; i++) {
			const SimVal *from = sim_val(x->w, ir_in(x->st->op, i));
			for (int l = 0; l < LANES; l++) v[i].c[l] = sim_at(from, (int)reg, l), none.c[l] = identity(x, i, l);
			if (s->exclusive) set_result(x, i, reg, j ? &t[i] : &none);
		}
		copy_lanes(x, was, t);
		if (j) ordered(x, t, was, v, NULL);
		else copy_lanes(x, t, v);
		for (int i = 0; !s->exclusive && i < s->r.n; i++) set_result(x, i, reg, &t[i]);
	}
	put(x, x->t, g, t);
	memset(x->has + (size_t)g * LANES, 0, LANES * sizeof *x->has);
}

/* Bits from..to of the axis choose among the thread's groups. */
static void scan_groups(const State *x, int from, int to)
{
	const Scan *s = x->s;
	uint32_t below = as_groups(s, bits_of(s, HW_REG, 0, to)), all = ((uint32_t)1 << s->groups) - 1, rest = all & ~below;
	uint32_t len = (uint32_t)1 << (to - from);
	for (uint32_t k = 0; k < (uint32_t)1 << f2_count(rest); k++) {
		uint32_t h = bits_along(rest, k);
		Lane32 o[MOST], v[MOST], was[MOST];
		get(x, x->t, h ^ as_groups(s, walk(s, s->back ? len - 1 : 0, HW_REG, from, to)), o);
		for (uint32_t j = 1; j < len; j++) {
			uint32_t d = h ^ as_groups(s, walk(s, s->back ? len - 1 - j : j, HW_REG, from, to));
			put_before_block(x, from, d, o, NULL);
			get(x, x->t, d, v);
			copy_lanes(x, was, o);
			ordered(x, o, was, v, NULL);
		}
		put(x, x->t, h, o);
	}
}

/* Bit k of the axis is a bit of the lane. Both lanes of a pair learn the total. */
static void scan_pairs(const State *x, int k)
{
	const Scan *s = x->s;
	uint32_t lane = (uint32_t)1 << s->plan.bit[k], all = ((uint32_t)1 << s->groups) - 1;
	uint32_t rest = all & ~as_groups(s, bits_of(s, HW_REG, 0, k));
	bool late[LANES];
	for (uint32_t l = 0; l < LANES; l++) late[l] = ((l & lane) != 0) != s->back;
	for (uint32_t i = 0; i < (uint32_t)1 << f2_count(rest); i++) {
		uint32_t h = bits_along(rest, i);
		Lane32 t[MOST], o[MOST], before[MOST], after[MOST];
		get(x, x->t, h, t);
		reduce_count_shuffles(x->w, &s->r);
		for (int v = 0; v < s->r.n; v++)
			for (uint32_t l = 0; l < LANES; l++) {
				o[v].c[l] = t[v].c[l ^ lane];
				before[v].c[l] = late[l] ? o[v].c[l] : t[v].c[l];
				after[v].c[l] = late[l] ? t[v].c[l] : o[v].c[l];
			}
		put_before_block(x, k, h, o, late);
		ordered(x, t, before, after, NULL);
		put(x, x->t, h, t);
	}
}

/* ---- warps ---- */
static void total(const State *x, int i, const uint32_t *index, uint32_t lanes, Lane32 *v, bool store)
{
	int size = scan_slot(x->st->op, i);
	Request q = { .lanes = lanes, .bytes = elem_bytes(x->s->r.e[i]) };
	for (int l = 0; l < LANES; l++)
		q.at[l] = (uint64_t)(shared_base(x->w, l) + x->s->slot[i] + (int64_t)index[l] * size);
	if (store && x->s->expect) {
		for (int l = 0; l < LANES; l++)
			if (lanes >> l & 1) bar_send(x->w, x->s->bar, (int64_t)q.at[l], size, l, cell_bits(x->s->r.e[i], v->c[l]));
		return;
	}
	if (store) shared_store(x->w, x->s->r.e[i], &q, v->c);
	else shared_load(x->w, x->s->r.e[i], &q, v->c);
}

static void store_totals(const State *x)
{
	const Scan *s = x->s;
	Lay l = s->plan.totals;
	uint32_t spare = lay_hwcoord(l, lay_free(l), HW_REG), lanes = first_lanes(l, x->w->num);
	for (int reg = 0; reg < 1 << l.in[HW_REG]; reg++) {
		uint32_t index[LANES];
		Lane32 t[MOST];
		if (!is_first_reg(spare, reg)) continue;
		get(x, x->t, as_groups(s, (uint32_t)reg), t);
		for (int k = 0; k < LANES; k++) index[k] = map_at(&s->totals, reg, k, x->w->num);
		for (int i = 0; i < s->r.n; i++) total(x, i, index, lanes, &t[i], true);
	}
	if (s->expect) bar_sent(x->w);
}

static void load_total(const State *x, int reg, uint32_t number, Lane32 *v)
{
	const Scan *s = x->s;
	uint32_t index[LANES], axis = (((uint32_t)1 << (s->plan.n - s->plan.warps)) - 1) << s->shift;
	for (int l = 0; l < LANES; l++) index[l] = (map_at(&s->totals, reg, l, x->w->num) & ~axis) ^ number << s->shift;
	for (int i = 0; i < s->r.n; i++) total(x, i, index, UINT32_MAX, &v[i], false);
}

static bool is_before_all(const Scan *s, uint32_t n, uint32_t len) { return n == (s->back ? len - 1 : 0); }

/* The totals before each group of this warp, one after the other. */
static void scan_warps(const State *x, int reg)
{
	const Scan *s = x->s;
	int from = s->plan.warps, to = s->plan.n;
	uint32_t len = (uint32_t)1 << (to - from), mine = (uint32_t)x->w->num & bits_of(s, HW_WARP, from, to);
	Lane32 o[MOST], v[MOST], was[MOST];
	for (uint32_t j = 0; j < len && !sim_failed(x->w->u->r); j++) {
		uint32_t n = s->back ? len - 1 - j : j;
		if (!is_before_all(s, n, len) && walk(s, n, HW_WARP, from, to) == mine) {
			uint32_t d = as_groups(s, (uint32_t)reg ^ walk(s, n, HW_REG, from, to));
			put_before_block(x, from, d, o, NULL);
		}
		load_total(x, reg, n, v);
		copy_lanes(x, was, o);
		if (j) ordered(x, o, was, v, NULL);
		else copy_lanes(x, o, v);
	}
}

/* ---- results ---- */
static void apply_before(const State *x, uint32_t g)
{
	const Scan *s = x->s;
	uint32_t len = (uint32_t)1 << s->plan.low, base = bits_along(~low_bits(s) & (((uint32_t)1 << s->regs) - 1), g);
	Lane32 p[MOST], y[MOST], z[MOST];
	bool where[LANES];
	for (int l = 0; l < LANES; l++) where[l] = x->has[(size_t)g * LANES + (size_t)l].i != 0;
	get(x, x->p, g, p);
	for (uint32_t j = 0; j < len; j++) {
		uint32_t reg = base ^ walk(s, s->back ? len - 1 - j : j, HW_REG, 0, s->plan.low);
		for (int i = 0; i < s->r.n; i++)
			memcpy(y[i].c, x->w->val[x->st->op->out[i]->id].p + (size_t)reg * LANES, sizeof y[i].c);
		copy_lanes(x, z, y);
		if (s->exclusive && !j) {
			for (int i = 0; i < s->r.n; i++)
				for (int l = 0; l < LANES; l++)
					if (where[l]) y[i].c[l] = p[i].c[l];
		} else {
			ordered(x, y, p, z, where);
		}
		for (int i = 0; i < s->r.n; i++) set_result(x, i, reg, &y[i]);
	}
}

Go run_scan(Warp *w, const Step *st)
{
	const Scan *s = st->plan;
	State x = state_of(w, st);
	if (!w->phase) {
		for (uint32_t g = 0; g < (uint32_t)1 << s->groups; g++) scan_neighbours(&x, g);
		for (int k = s->plan.low, to; k < s->plan.warps; k = to) {
			to = k + 1;
			if (s->plan.hw[k] == HW_LANE) {
				scan_pairs(&x, k);
				continue;
			}
			while (to < s->plan.warps && s->plan.hw[to] == HW_REG) to++;
			scan_groups(&x, k, to);
		}
		if (s->plan.warps < s->plan.n) store_totals(&x);
		w->phase = 1;
	}
	if (s->plan.warps < s->plan.n) {
		if (s->expect ? !bar_arrived(w, s->bar, s->expect, 0) : !sim_sync(w)) return GO_WAIT;
		for (uint32_t i = 0; i < (uint32_t)1 << f2_count(s->rows); i++) scan_warps(&x, (int)bits_along(s->rows, i));
	}
	for (uint32_t g = 0; g < (uint32_t)1 << s->groups && s->plan.low < s->plan.n; g++) apply_before(&x, g);
	return GO_NEXT;
}
