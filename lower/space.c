/* The plans that passes can carry out for a TYPED kernel: what each coordinate of a plan may be. The passes
 * themselves are asked. */
#include "lower/space.h"

#include "base/diag.h"
#include "lower/pins.h"
#include "lower/placed.h"
#include "lower/widen.h"

static void fix(Space *s, Coord c, int value) { s->range[c] = (PlanRange){ (int8_t)value, (int8_t)value }; }

static void find_ordered(void *ctx, Op *op) { *(bool *)ctx |= ir_int(op, AT_ORDER, 0) != 0; }
static void find_work(void *ctx, Op *op)
{
	*(bool *)ctx |= op->nregion || op_is_reduce(op) || op_is_scan(op) || op->code == OP_MMA;
}


/* ---- the grid ---- */
static PlanRange axis_range(Fn *fn, int axis, int log2, bool products)
{
	PlanRange all = plan_range((Coord)(PC_GRID0 + axis)), r = { 0, 0 };
	bool works = false;
	int64_t blocks;
	Widen w;
	if (fn->ordered || ir_hints_threads(fn) || products || !widen_plan(&w, fn, axis)) return r;
	ir_walk(fn->body, find_work, &works);
	r.most = all.most;
	while (r.most > 0 && r.most + log2 > COST_TILE_MOST) r.most--;
	while (r.most > 0 && sym_is_const(fn->grid[axis], &blocks) && blocks < (int64_t)1 << r.most) r.most--;
	while (!works && r.least > all.least && log2 + r.least > COST_TILE_LEAST && widen_parts(&w, 1 - r.least)) r.least--;
	if (works) r.least = (int8_t)-rows_apart(fn, axis);
	return r;
}

typedef struct Largest { int log2; bool products; } Largest;

static void find_largest(void *ctx, Op *op)
{
	Largest *l = ctx;
	l->products |= op->code == OP_MMA;
	for (int i = 0; i < op->nout; i++) {
		const Type *t = op->out[i]->type;
		if (type_is_tile(t) && op->code != OP_CONST && type_log2_size(t) > l->log2) l->log2 = type_log2_size(t);
	}
}

PlanRange plan_axis_range(Fn *fn, int axis)
{
	Largest l = { 0, false };
	ir_walk(fn->body, find_largest, &l);
	return axis_range(fn, axis, l.log2, l.products);
}

/* ---- clusters ---- */
static int cluster_range(Fn *fn, const Machine *m)
{
	bool reduces = false;
	if (m->cluster <= 1) return 0;
	if (!kernel_suits_cluster(fn)) return 0;
	for (const Op *op = fn->body->first; op; op = op->next) reduces |= op_is_reduce(op) || op_is_scan(op);
	return reduces ? CLUSTER_PORTABLE : 0;
}

static int pack_range(const Fn *fn)
{
	bool ordered = false, suits = true;
	ir_walk(fn->body, find_ordered, &ordered);
	for (const Op *op = fn->body->first; op; op = op->next) suits &= pack_suits(op);
	return ordered ? 0 : suits ? plan_range(PC_PACK).most : COST_PACK_WARPS;
}

Space space_of(Fn *fn, const Machine *m, const Skeleton *k, const Calls *calls)
{
	Space s = { .k = k, .m = m, .calls = calls };
	int v;
	s.range[PC_WARPS] = plan_range(PC_WARPS);
	s.range[PC_CLUSTER].most = (int8_t)cluster_range(fn, m);
	s.range[PC_PACK].most = (int8_t)pack_range(fn);
	for (int g = 0; g < fn->ngrid; g++) s.range[PC_GRID0 + g] = axis_range(fn, g, k->log2, k->products);
	int warps = (int)ir_hint(fn, "warps", m->number), cluster = (int)ir_hint(fn, "cluster", m->number);
	if (warps > 0) fix(&s, PC_WARPS, log2_of(warps) > 5 ? 5 : log2_of(warps)), fix(&s, PC_CLUSTER, 0);
	if (cluster > 0 && s.range[PC_CLUSTER].most >= log2_of(cluster)) fix(&s, PC_CLUSTER, log2_of(cluster));
	fix(&s, PC_BLOCKS, (int)ir_hint(fn, "occupancy", m->number) & 15);
	for (int c = 0; c < PC_COUNT; c++)
		if (plan_pins(fn->plan, (Coord)c, &v) && v >= s.range[c].least && v <= s.range[c].most) fix(&s, (Coord)c, v);
	return s;
}

/* ---- what lowering chose ---- */
Plan plan_of_placed(const Fn *fn)
{
	Plan p = { { 0 } };
	p.at[PC_CLUSTER] = (int8_t)(fn->cluster ? log2_of(fn->cluster) : 0);
	p.at[PC_WARPS] = (int8_t)(log2_of(fn->warps) - p.at[PC_CLUSTER]);
	p.at[PC_PACK] = (int8_t)(fn->packed ? log2_of(fn->packed) : 0);
	for (int g = 0; g < 4; g++) p.at[PC_GRID0 + g] = (int8_t)fn->joined[g];
	return p;
}

void plans_check(const Fn *fn, const Fn *placed, int arch)
{
	Plan is = plan_of_placed(placed);
	bool clusters = machine_of(arch)->cluster > 1;
	for (int c = 0; c <= PC_PACK; c++) {
		int v = plan_pinned(fn, (Coord)c);
		if (v == PLAN_FREE || v == is.at[c]) continue;
		if (!clusters && plan_pinned(fn, PC_CLUSTER) > 0) return;       /* for other architectures */
		plan_refuse(fn, (Coord)c, v, (PlanRange){ is.at[c], is.at[c] });
		return;
	}
}

void plans_find(Planned *p, Fn *fn, int arch)
{
	ArenaMark mark = arena_mark(A_TMP);
	Skeleton k = skeleton_of(fn);
	Calls calls = calls_of(fn);
	PlannedFn f = { .fn = fn, .arch = arch };
	bool known = !p->extents || calls_at(fn, p->extents, &k, &calls);
	k.packs = pack_range(fn) > COST_PACK_WARPS;
	k.pairs = !k.moves && pack_pairs(fn);
	Space s = space_of(fn, machine_of(arch), &k, &calls);
	s.smallest = COST_TILE_LEAST;
	f.asked = calls;
	if (known && !k.products) f.ranked = plan_search(&s);   /* products have plans of their own (pipeline_plan.c) */
	for (int i = 0; i < f.ranked.n; i++) f.cost[i] = cost_at(&k, &f.ranked.at[i].plan, s.m, &calls.at[0]);
	f.skeleton = k;
	f.skeleton.node = NEW_ARRAY(A_UNIT, Node, k.n);
	for (int i = 0; i < k.n; i++) f.skeleton.node[i] = k.node[i];
	for (int i = 0; known && i < p->drawn; i++) {
		Plan one;
		int n = 0;
		uint32_t seed = (uint32_t)(i + 1) * 2654435761u;
		while (n < PLANS_COSTED && plan_nth(&s, n, &one)) n++;
		if (n && plan_nth(&s, (int)(seed % (uint32_t)n), &one)) vec_push(A_UNIT, &f.drawn, one);
	}
	arena_release(A_TMP, mark);
	vec_push(A_UNIT, &p->fns, f);
}
