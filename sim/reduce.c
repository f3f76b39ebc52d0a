/* Reductions and scans, in the order that combine.c promises. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "sim/sim_int.h"

enum { KIND_MAX_ELEMENT = 4, KIND_MIN_ELEMENT = 5, KIND_CUSTOM = 9, MOST = TILE_RANK };

static const OpCode kinds[] = { OP_ADD, OP_MUL, OP_MAX, OP_MIN, OP_MAX, OP_MIN, OP_AND, OP_OR, OP_XOR };

typedef struct Reduce {
	int n, kind;            /* tiles */
	uint32_t v[LAY_BITS];
	int nv;
	uint32_t kept;          /* the register bits that the result keeps */
	int regs;               /* of the result */
	ElemPlan combine, isnan, eq, better;
	Elem e[MOST];
	int size[MOST];         /* bytes */
} Reduce;

typedef struct Lane32 { Cell c[LANES]; } Lane32;

static void sort_by_image(Lay l, int n, uint32_t *v)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k > 0 && lay_image(l, v[k]) < lay_image(l, v[k - 1]); k--) {
			uint32_t t = v[k];
			v[k] = v[k - 1];
			v[k - 1] = t;
		}
}

static ElemPlan test(const Op *op, OpCode code, Elem e, int nin)
{
	ElemPlan p = elem_combining(op, code, e);
	p.r = EL_BOOL;
	p.nin = nin;
	p.modes = (FoldModes){ 0 };
	return p;
}

static void plan_kind(Reduce *p, const Op *op, int kind)
{
	Elem e = ir_in(op, 0)->type->elem;
	p->kind = kind;
	for (int i = 0; i < p->n; i++) p->e[i] = ir_in(op, i)->type->elem;
	if (kind == KIND_CUSTOM) return;
	p->combine = elem_combining(op, kinds[kind], e);
	p->isnan = test(op, OP_ISNAN, e, 1);
	p->eq = test(op, OP_EQ, e, 2);
	p->better = test(op, kind == KIND_MAX_ELEMENT ? OP_GT : OP_LT, e, 2);
}

static Reduce *plan_reduce(Run *r, const Op *op, int levels)
{
	Reduce *p = NEW(r->mem, Reduce);
	const Val *x = ir_in(op, 0);
	int axis = (int)ir_int(op, AT_AXIS, 0);
	Lay l = lay_reduced(*x->lay, axis, levels, &p->nv, p->v);
	sort_by_image(*x->lay, p->nv, p->v);
	p->n = op->nin;
	p->kept = lay_reduced_regs(*x->lay, axis, levels);
	p->regs = 1 << l.in[HW_REG];
	plan_kind(p, op, (int)ir_int(op, AT_KIND, 0));
	return p;
}

void *plan_reduce_regs(Run *r, const Op *op) { return plan_reduce(r, op, 1); }
void *plan_reduce_lanes(Run *r, const Op *op) { return plan_reduce(r, op, 2); }

static void apply(const ElemPlan *p, const Lane32 *x, const Lane32 *y, Lane32 *out)
{
	const Cell *in[2] = { x->c, y->c };
	const uint32_t mask[2] = { LANES - 1, LANES - 1 };
	elem_each(p, LANES, in, mask, out->c);
}

static void load_lanes(const SimVal *v, int reg, Lane32 *to)
{
	for (int l = 0; l < LANES; l++) to->c[l] = sim_at(v, reg, l);
}

/* Of equal elements the first; a NaN wins when propagated, else it loses. */
static void better_element(const Reduce *p, Lane32 *a, const Lane32 *b)
{
	Lane32 gt, eq, an, bn;
	bool flt = elem_is_any_float(p->e[0]), nan = p->combine.modes.nan != 0;
	apply(&p->better, &b[0], &a[0], &gt);
	apply(&p->eq, &b[0], &a[0], &eq);
	if (flt) {
		apply(&p->isnan, &a[0], &a[0], &an);
		apply(&p->isnan, &b[0], &b[0], &bn);
	}
	for (int l = 0; l < LANES; l++) {
		bool later = (uint64_t)b[1].c[l].i < (uint64_t)a[1].c[l].i, wins = gt.c[l].i || (eq.c[l].i && later);
		if (flt && nan) wins = wins || (bn.c[l].i && (!an.c[l].i || later));
		if (flt && !nan) wins = wins || (an.c[l].i && (!bn.c[l].i || later));
		if (!wins) continue;
		a[0].c[l] = b[0].c[l];
		a[1].c[l] = b[1].c[l];
	}
}

/* a becomes the combination of `first` and `second`, where lanes say so. */
static void combine(Warp *w, const Step *s, const Reduce *p, Lane32 *a, const Lane32 *first, const Lane32 *second, const bool *where)
{
	Lane32 r[MOST];
	if (p->kind == KIND_MAX_ELEMENT || p->kind == KIND_MIN_ELEMENT) {
		better_element(p, a, second);
		return;
	}
	if (p->kind == KIND_CUSTOM) {
		Lane32 copy[2 * MOST];
		Cell *args[2 * MOST], *yields[MOST];
		for (int i = 0; i < p->n; i++) {
			copy[i] = first[i], copy[p->n + i] = second[i];
			args[i] = copy[i].c, args[p->n + i] = copy[p->n + i].c;
			yields[i] = r[i].c;
		}
		sim_region(w, &s->region[0], args, yields);
	} else {
		apply(&p->combine, first, second, r);
	}
	for (int i = 0; i < p->n; i++)
		for (int l = 0; l < LANES; l++)
			if (!where || where[l]) a[i].c[l] = r[i].c[l];
}

/* The greatest or smallest of a thread first, then the least index of what is equal to it. */
static void thread_element(const Reduce *p, const SimVal *const *x, int at, Lane32 *a)
{
	Lane32 b, is, eq;
	bool flt = elem_is_any_float(p->e[0]);
	load_lanes(x[0], at, &a[0]);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = pass ? 0 : 1; i < (uint32_t)1 << p->nv; i++) {
			uint32_t from = (uint32_t)at;
			for (int k = 0; k < p->nv; k++)
				if (i >> k & 1) from ^= p->v[k];
			load_lanes(x[0], (int)from, &b);
			if (!pass) {
				Lane32 old = a[0];
				apply(&p->combine, &old, &b, &a[0]);
				continue;
			}
			apply(&p->eq, &b, &a[0], &eq);
			if (flt) apply(&p->isnan, &b, &b, &is);
			for (int l = 0; l < LANES; l++) {
				bool same = flt && isnan(a[0].c[l].f) ? is.c[l].i != 0 : eq.c[l].i != 0;
				uint64_t index = (uint64_t)sim_at(x[1], (int)from, l).i;
				if (same && index < (uint64_t)a[1].c[l].i) a[1].c[l].i = (int64_t)index;
			}
		}
		if (!pass)
			for (int l = 0; l < LANES; l++) a[1].c[l].i = INT64_MAX;
	}
}

static void put(Warp *w, const Step *s, const Reduce *p, int q, const Lane32 *a)
{
	for (int i = 0; i < p->n; i++) memcpy(sim_def(w, s->op->out[i], p->regs) + q * LANES, a[i].c, sizeof a[i].c);
}

Go run_reduce_regs(Warp *w, const Step *s)
{
	const Reduce *p = s->plan;
	const SimVal *x[MOST];
	Lane32 a[MOST], b[MOST], was[MOST];
	for (int i = 0; i < p->n; i++) x[i] = sim_val(w, ir_in(s->op, i));
	for (int q = 0; q < p->regs; q++) {
		uint32_t at = bits_along(p->kept, (uint32_t)q);
		if (p->kind == KIND_MAX_ELEMENT || p->kind == KIND_MIN_ELEMENT) {
			thread_element(p, x, (int)at, a);
			put(w, s, p, q, a);
			continue;
		}
		for (int i = 0; i < p->n; i++) load_lanes(x[i], (int)at, &a[i]);
		for (uint32_t k = 1; k < (uint32_t)1 << p->nv; k++) {
			uint32_t from = at;
			for (int j = 0; j < p->nv; j++)
				if (k >> j & 1) from ^= p->v[j];
			for (int i = 0; i < p->n; i++) load_lanes(x[i], (int)from, &b[i]), was[i] = a[i];
			combine(w, s, p, a, was, b, NULL);
		}
		put(w, s, p, q, a);
	}
	return GO_NEXT;
}

static void count_shuffles(Warp *w, const Reduce *p)
{
	for (int i = 0; i < p->n; i++) w->u->r->count[w->at->number].shuffles += elem_bytes(p->e[i]) > 4 ? 2 : 1;
}

Go run_reduce_lanes(Warp *w, const Step *s)
{
	const Reduce *p = s->plan;
	Lay l0 = *ir_in(s->op, 0)->lay;
	Lane32 a[MOST], b[MOST], first[MOST], second[MOST];
	for (int q = 0; q < p->regs; q++) {
		uint32_t at = bits_along(p->kept, (uint32_t)q);
		for (int i = 0; i < p->n; i++) load_lanes(sim_val(w, ir_in(s->op, i)), (int)at, &a[i]);
		for (int k = 0; k < p->nv; k++) {
			uint32_t lane = lay_hwcoord(l0, p->v[k], HW_LANE);
			count_shuffles(w, p);
			for (int i = 0; i < p->n; i++)
				for (int l = 0; l < LANES; l++) {
					bool late = p->kind == KIND_CUSTOM && ((uint32_t)l & lane & (~lane + 1));
					b[i].c[l] = a[i].c[(uint32_t)l ^ lane];
					first[i].c[l] = late ? b[i].c[l] : a[i].c[l];
					second[i].c[l] = late ? a[i].c[l] : b[i].c[l];
				}
			combine(w, s, p, a, first, second, NULL);
		}
		put(w, s, p, q, a);
	}
	return GO_NEXT;
}

/* ---- scans ---- */
typedef struct Scan { Reduce r; int regs, lanes, warps, rows; bool back, exclusive; } Scan;

static int scan_kind(const Op *op)
{
	switch (op->code) {
	case OP_CUMSUM: return 0;
	case OP_CUMPROD: return 1;
	case OP_CUMMAX: return 2;
	case OP_CUMMIN: return 3;
	default: return KIND_CUSTOM;
	}
}

static int along(Lay l, int axis, Hw h)
{
	int n = 0;
	uint32_t mask = (((uint32_t)1 << l.out[axis]) - 1) << lay_shift(l, axis);
	for (int i = 0; i < l.in[h]; i++) n += (l.col[lay_first(l, h) + i] & mask) != 0;
	return n;
}

void *plan_scan(Run *r, const Op *op)
{
	Scan *p = NEW(r->mem, Scan);
	int axis = (int)ir_int(op, AT_AXIS, 0);
	Lay l = *ir_in(op, 0)->lay;
	p->r.n = op->code == OP_SCAN ? op->nout : 1;
	plan_kind(&p->r, op, scan_kind(op));
	p->regs = along(l, axis, HW_REG);
	p->lanes = along(l, axis, HW_LANE);
	p->warps = along(l, axis, HW_WARP);
	p->rows = l.in[HW_REG] - p->regs;
	p->back = ir_int(op, AT_DIRECTION, 0) != 0;
	p->exclusive = ir_int(op, AT_EXCLUSIVE, 0) != 0;
	return p;
}

static Cell identity(Warp *w, const Op *op, const Scan *p, int i, int lane)
{
	Elem e = p->r.e[i];
	bool flt = elem_is_any_float(e);
	switch (op->code) {
	case OP_SCAN: return sim_val(w, ir_in(op, p->r.n + i))->p[lane];
	case OP_CUMPROD: return cell_of(e, num_one(e));
	case OP_CUMMAX: return flt ? (Cell){ .f = -INFINITY } : cell_of(e, num_least(e));
	case OP_CUMMIN: return flt ? (Cell){ .f = INFINITY } : cell_of(e, num_greatest(e));
	default: return cell_of(e, num_zero(e));
	}
}

/* a: the combination of what the scan met before and what it met after. */
static void ordered(Warp *w, const Step *s, const Scan *p, Lane32 *a, const Lane32 *before, const Lane32 *after, const bool *where)
{
	combine(w, s, &p->r, a, p->back ? after : before, p->back ? before : after, where);
}

static void scan_thread(Warp *w, const Step *s, const Scan *p, int base, Lane32 *t)
{
	Lane32 x[MOST], was[MOST];
	int len = 1 << p->regs, all = 1 << (p->regs + p->rows);
	for (int i = 0; i < p->r.n; i++)
		for (int l = 0; l < LANES; l++) t[i].c[l] = identity(w, s->op, p, i, l);
	for (int j = 0; j < len; j++) {
		int r = p->back ? base + len - 1 - j : base + j;
		for (int i = 0; i < p->r.n; i++) {
			load_lanes(sim_val(w, ir_in(s->op, i)), r, &x[i]);
			was[i] = t[i];
			if (p->exclusive) memcpy(sim_def(w, s->op->out[i], all) + r * LANES, t[i].c, sizeof t[i].c);
		}
		if (j) ordered(w, s, p, t, was, x, NULL);
		else memcpy(t, x, (size_t)p->r.n * sizeof *t);
		for (int i = 0; !p->exclusive && i < p->r.n; i++) memcpy(sim_def(w, s->op->out[i], all) + r * LANES, t[i].c, sizeof t[i].c);
	}
}

static void shift_lanes(Warp *w, const Scan *p, const Lane32 *t, int by, Lane32 *o)
{
	count_shuffles(w, &p->r);
	for (int i = 0; i < p->r.n; i++)
		for (int l = 0; l < LANES; l++) {
			int from = p->back ? l + by : l - by;
			o[i].c[l] = t[i].c[from < 0 || from >= LANES ? l : from];
		}
}

static int position(const Scan *p, int lane)
{
	int len = 1 << p->lanes;
	return p->back ? len - 1 - (lane & (len - 1)) : lane & (len - 1);
}

static void scan_lanes(Warp *w, const Step *s, const Scan *p, Lane32 *t, Lane32 *before)
{
	Lane32 o[MOST], was[MOST];
	bool where[LANES];
	for (int d = 1; d < 1 << p->lanes; d *= 2) {
		shift_lanes(w, p, t, d, o);
		memcpy(was, t, (size_t)p->r.n * sizeof *t);
		for (int l = 0; l < LANES; l++) where[l] = position(p, l) >= d;
		ordered(w, s, p, t, o, was, where);
	}
	shift_lanes(w, p, t, 1, before);
}

static void warp_part(Warp *w, const Step *s, const Scan *p, int i, int warp, uint32_t lanes, Lane32 *c, bool store)
{
	int size = elem_bytes(p->r.e[i]);
	Request q = { .lanes = lanes, .bytes = size };
	int64_t at = ir_int(s->op, AT_SLOT, 0) + 8 * w->u->r->fn->warps * i + warp * size;
	for (int l = 0; l < LANES; l++) q.at[l] = (uint64_t)(shared_base(w, l) + at);
	if (store) shared_store(w, p->r.e[i], &q, c->c);
	else shared_load(w, p->r.e[i], &q, c->c);
}

/* Each warp leaves its combination; then it takes those of the warps before it, the nearest first. */
static void scan_warps(Warp *w, const Step *s, const Scan *p, Lane32 *before, bool *has)
{
	Lane32 x[MOST], was[MOST];
	int len = 1 << p->warps;
	for (int n = 1; n < len; n++) {
		int v = (w->index & (len - 1)) + (p->back ? n : -n);
		if (v < 0 || v >= len) break;
		for (int i = 0; i < p->r.n; i++) warp_part(w, s, p, i, (w->index & ~(len - 1)) + v, UINT32_MAX, &x[i], false);
		memcpy(was, before, (size_t)p->r.n * sizeof *was);
		ordered(w, s, p, before, x, was, has);
		for (int l = 0; l < LANES; l++) {
			for (int i = 0; !has[l] && i < p->r.n; i++) before[i].c[l] = x[i].c[l];
			has[l] = true;
		}
	}
}

static void scan_apply(Warp *w, const Step *s, const Scan *p, int base, const Lane32 *before, const bool *has)
{
	Lane32 z[MOST], was[MOST];
	for (int j = 0; j < 1 << p->regs; j++) {
		for (int i = 0; i < p->r.n; i++) memcpy(z[i].c, w->val[s->op->out[i]->id].p + (base + j) * LANES, sizeof z[i].c), was[i] = z[i];
		ordered(w, s, p, z, before, was, has);
		for (int i = 0; i < p->r.n; i++) memcpy(w->val[s->op->out[i]->id].p + (base + j) * LANES, z[i].c, sizeof z[i].c);
	}
}

/* Phase q: row q is to be done; while the warp waits, what it combined is in its scratch. */
Go run_scan(Warp *w, const Step *s)
{
	const Scan *p = s->plan;
	Lane32 t[MOST], before[MOST];
	bool has[LANES];
	Cell *kept = sim_scratch(w, MOST);
	for (; w->phase < 1 << p->rows; w->phase++) {
		int base = w->phase << p->regs;
		if (!w->met) {
			scan_thread(w, s, p, base, t);
			if (!p->lanes) continue;
			scan_lanes(w, s, p, t, before);
			uint32_t last = 0;
			for (int l = 0; l < LANES; l++) last |= (uint32_t)(position(p, l) == (1 << p->lanes) - 1) << l;
			for (int i = 0; p->warps && i < p->r.n; i++) warp_part(w, s, p, i, w->index, last, &t[i], true);
			for (int i = 0; i < p->r.n; i++) memcpy(kept + i * LANES, before[i].c, sizeof before[i].c);
		}
		if (p->warps && !sim_sync(w)) return GO_WAIT;
		for (int i = 0; i < p->r.n; i++) memcpy(before[i].c, kept + i * LANES, sizeof before[i].c);
		for (int l = 0; l < LANES; l++) has[l] = position(p, l) > 0;
		if (p->warps) scan_warps(w, s, p, before, has);
		scan_apply(w, s, p, base, before, has);
	}
	return GO_NEXT;
}
