/* Steps of reductions, in the order that combine.c promises. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "sim/reduce.h"
#include "ir/monoid.h"

static ElemPlan test(const Op *op, OpCode code, Elem e, int nin)
{
	ElemPlan p = elem_combining(op, code, e);
	p.r = EL_BOOL;
	p.nin = nin;
	p.modes = (FoldModes){ 0 };
	return p;
}

void reduce_plan_kind(Reduce *p, const Op *op, int kind)
{
	Elem e = ir_in(op, 0)->type->elem;
	p->kind = kind;
	for (int i = 0; i < p->n; i++) p->e[i] = ir_in(op, i)->type->elem;
	if (kind == KIND_CUSTOM) return;
	p->combine = elem_combining(op, monoid_of_kind(kind), e);
	p->isnan = test(op, OP_ISNAN, e, 1);
	p->eq = test(op, OP_EQ, e, 2);
	p->better = test(op, kind == KIND_MAX_ELEMENT ? OP_GT : OP_LT, e, 2);
}

static Reduce *plan_reduce(Run *r, const Op *op, int levels)
{
	Reduce *p = NEW(r->mem, Reduce);
	const Val *x = ir_in(op, 0);
	int axis = ir_axis(op);
	Lay l = lay_reduced(*x->lay, axis, levels, &p->nv, p->v);
	lay_sort(*x->lay, p->nv, p->v);
	p->n = op->nout;
	p->kept = lay_reduced_regs(*x->lay, axis, levels);
	p->regs = 1 << l.in[HW_REG];
	reduce_plan_kind(p, op, (int)ir_int(op, AT_KIND, 0));
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
void reduce_combine_lanes(Warp *w, const Step *s, const Reduce *p, Lane32 *a, const Lane32 *first, const Lane32 *second,
	const bool *where)
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
static void thread_element(const Reduce *p, const SimVal *const *x, int at, int regs, Lane32 *a)
{
	Lane32 b, is, eq;
	bool flt = elem_is_any_float(p->e[0]);
	load_lanes(x[0], at, &a[0]);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = pass ? 0 : 1; i < (uint32_t)1 << p->nv; i++) {
			uint32_t from = (uint32_t)at;
			for (int k = 0; k < p->nv; k++)
				if (i >> k & 1) from ^= p->v[k];
			if ((int)from >= regs) continue;        /* left out after a short row */
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

/* Of a register: the product of the factors, then with each further one an fma. */
static void add_product(const Reduce *p, const SimVal *const *x, int reg, bool first, Lane32 *sum)
{
	Lane32 a, b, was = *sum;
	ElemPlan fma = p->combine;
	load_lanes(x[0], reg, &a);
	load_lanes(x[1], reg, &b);
	fma.code = first ? OP_MUL : OP_FMA;
	fma.nin = first ? 2 : 3;
	const Cell *in[3] = { a.c, b.c, was.c };
	const uint32_t mask[3] = { LANES - 1, LANES - 1, LANES - 1 };
	elem_each(&fma, LANES, in, mask, sum->c);
}

static void add_register(const Reduce *p, const SimVal *const *x, int reg, bool products, bool first, Lane32 *sum)
{
	Lane32 b, was = *sum;
	if (products) add_product(p, x, reg, first, sum);
	else if (first) load_lanes(x[0], reg, sum);
	else load_lanes(x[0], reg, &b), apply(&p->combine, &was, &b, sum);
}

/* A peeled row: vector by vector, then the end. */
static void reduce_peeled(Warp *w, const Step *s, const Reduce *p, const SimVal *const *x, bool products)
{
	const Fn *fn = w->u->r->fn;
	Lane32 all, part = { .c = { { 0 } } }, was;
	int each = peel_vector(fn);
	for (int reg = 0; reg <= fn->row_regs; reg += each) {
		for (int i = 0; i < each && reg + i <= fn->row_regs; i++) add_register(p, x, reg + i, products, i == 0, &part);
		was = all;
		if (reg == 0) all = part;
		else apply(&p->combine, &was, &part, &all);
	}
	put(w, s, p, 0, &all);
}

Go run_reduce_regs(Warp *w, const Step *s)
{
	const Reduce *p = s->plan;
	const SimVal *x[MOST];
	Lane32 a[MOST], b[MOST], was[MOST];
	bool products = op_sums_products(s->op);
	int regs = regs_of(ir_in(s->op, 0));
	for (int i = 0; i < s->op->nin; i++) x[i] = sim_val(w, ir_in(s->op, i));
	if (w->u->r->fn->peel_line && holds_row(w->u->r->fn, *ir_in(s->op, 0)->lay) && x[0]->mask != LANES - 1) {
		reduce_peeled(w, s, p, x, products);
		return GO_NEXT;
	}
	for (int q = 0; q < p->regs; q++) {
		uint32_t at = bits_along(p->kept, (uint32_t)q);
		if (p->kind == KIND_MAX_ELEMENT || p->kind == KIND_MIN_ELEMENT) {
			thread_element(p, x, (int)at, regs, a);
			put(w, s, p, q, a);
			continue;
		}
		if (products) add_product(p, x, (int)at, true, &a[0]);
		for (int i = 0; i < p->n && !products; i++) load_lanes(x[i], (int)at, &a[i]);
		for (uint32_t k = 1; k < (uint32_t)1 << p->nv; k++) {
			uint32_t from = at;
			for (int j = 0; j < p->nv; j++)
				if (k >> j & 1) from ^= p->v[j];
			if ((int)from >= regs) continue;        /* left out after a short row */
			if (products) {
				add_product(p, x, (int)from, false, &a[0]);
				continue;
			}
			for (int i = 0; i < p->n; i++) load_lanes(x[i], (int)from, &b[i]), was[i] = a[i];
			reduce_combine_lanes(w, s, p, a, was, b, NULL);
		}
		put(w, s, p, q, a);
	}
	return GO_NEXT;
}

void reduce_count_shuffles(Warp *w, const Reduce *p)
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
			reduce_count_shuffles(w, p);
			for (int i = 0; i < p->n; i++)
				for (int l = 0; l < LANES; l++) {
					bool late = p->kind == KIND_CUSTOM && ((uint32_t)l & lane & (~lane + 1));
					b[i].c[l] = a[i].c[(uint32_t)l ^ lane];
					first[i].c[l] = late ? b[i].c[l] : a[i].c[l];
					second[i].c[l] = late ? a[i].c[l] : b[i].c[l];
				}
			reduce_combine_lanes(w, s, p, a, first, second, NULL);
		}
		put(w, s, p, q, a);
	}
	return GO_NEXT;
}
