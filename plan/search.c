/* The search: all legal plans depth first, at most PLANS_COSTED of them costed. */
#include "base/cost.h"
#include "plan/plan.h"

/* The elements of the largest tile with the axes of the grid that are known. */
static int largest(const Space *s, const Plan *p)
{
	int n = s->k->log2;
	for (int g = 0; g < s->k->ngrid; g++) n += p->at[PC_GRID0 + g];
	return n < 0 ? 0 : n;
}

/* A tile block that shares a thread block with others has no cluster, and one or COST_PACK_FEW warps. */
static bool can_pack(const Skeleton *k, const Plan *p)
{
	if (p->at[PC_CLUSTER]) return false;
	if (!p->at[PC_WARPS]) return true;
	return k->pairs && 1 << p->at[PC_WARPS] <= COST_PACK_FEW && p->at[PC_WARPS] + p->at[PC_PACK] <= COST_PACK_WARPS;
}

bool plan_legal(const Space *s, const Plan *p, int n)
{
	if (n == PC_CLUSTER + 1 && p->at[PC_CLUSTER] > 0 && p->at[PC_WARPS] < 2) return false;
	if (n == PC_PACK + 1 && p->at[PC_PACK] && !can_pack(s->k, p)) return false;
	if (n < PC_COUNT) return !s->legal || s->legal(s, p, n);
	int each = largest(s, p) - LANES_LOG2 - p->at[PC_WARPS] - p->at[PC_CLUSTER], divided = 0, joined = 0;
	for (int g = 0; g < s->k->ngrid; g++) {
		divided |= p->at[PC_GRID0 + g] < 0;
		joined |= p->at[PC_GRID0 + g] > 0;
	}
	if (divided && (joined || largest(s, p) < s->smallest)) return false;
	if (!p->at[PC_WARPS] && !p->at[PC_CLUSTER]) {   /* warps that tile blocks share, and how many */
		int warps = p->at[PC_PACK] - (LANES_LOG2 - plan_lanes(s->k, p));
		if (warps < 0 || warps > COST_PACK_WARPS) return false;
	}
	/* threads without an element of their own, but for the smallest tiles; tiles that would be sliced, where another
	 * plan holds them */
	bool fixed = s->range[PC_WARPS].least == s->range[PC_WARPS].most;
	if (!fixed && each < 0 && p->at[PC_WARPS] > 0) return false;
	if (!fixed && each > COST_HELD_EACH && p->at[PC_WARPS] < s->range[PC_WARPS].most) return false;
	return !s->legal || s->legal(s, p, n);
}

/* ---- in the order of the coordinates, the grid first ---- */
typedef bool Visit(void *ctx, const Plan *p);   /* false: enough */

static const Coord order[PC_COUNT] = { PC_GRID3, PC_GRID2, PC_GRID1, PC_GRID0, PC_WARPS, PC_CLUSTER, PC_PACK,
	PC_BLOCKS };

/* What is left as it is comes first, then the least change. */
static int nth_value(PlanRange r, int i)
{
	int first = r.least > 0 ? r.least : r.most < 0 ? r.most : 0, up = r.most - first, down = first - r.least;
	int both = up < down ? up : down;
	if (i <= 2 * both) return i % 2 ? first + (i + 1) / 2 : first - i / 2;
	return up > down ? first + i - both : first - (i - both);
}

static bool visit_from(const Space *s, Plan *p, int depth, Visit *f, void *ctx)
{
	if (depth == PC_COUNT) return !plan_legal(s, p, PC_COUNT) || f(ctx, p);
	Coord c = order[depth];
	for (int i = 0; i <= s->range[c].most - s->range[c].least; i++) {
		p->at[c] = (int8_t)nth_value(s->range[c], i);
		if (c <= PC_BLOCKS && !plan_legal(s, p, c + 1)) continue;
		if (!visit_from(s, p, depth + 1, f, ctx)) return false;
	}
	return true;
}

static void visit_all(const Space *s, Visit *f, void *ctx)
{
	Plan p = { { 0 } };
	visit_from(s, &p, 0, f, ctx);
}

/* ---- the best ---- */
int64_t plan_ps(const Space *s, const Plan *p) { return cost_of_calls(s->k, p, s->m, s->calls); }

typedef struct Search { const Space *s; Ranked r; } Search;

static bool cost_one(void *ctx, const Plan *p)
{
	Search *w = ctx;
	Ranked *r = &w->r;
	int64_t ps = plan_ps(w->s, p);
	int i = r->n < PLANS_KEPT ? r->n++ : PLANS_KEPT;
	if (i == PLANS_KEPT && ps >= r->at[PLANS_KEPT - 1].ps) return ++r->costed < PLANS_COSTED;
	if (i == PLANS_KEPT) i--;
	for (; i > 0 && r->at[i - 1].ps > ps; i--) r->at[i] = r->at[i - 1];
	r->at[i] = (RankedPlan){ *p, ps };
	return ++r->costed < PLANS_COSTED;
}

static int distance(int a, int b) { return a < b ? b - a : a - b; }

/* How far a plan is from what is taken where the model sees no difference: little that changes the author's tile
 * blocks, no cluster, and COST_THREAD_BYTES of the widest load for each thread. */
static int unlike(const Space *s, const Plan *p)
{
	int n = 0, bytes = s->k->widest ? s->k->widest : 4, target = 0;
	for (int g = 0; g < s->k->ngrid; g++) n += COST_UNLIKE_GRID * distance(p->at[PC_GRID0 + g], 0);
	while (bytes << target < COST_THREAD_BYTES) target++;
	int each = largest(s, p) - LANES_LOG2 - p->at[PC_WARPS] - p->at[PC_CLUSTER];
	return n + COST_UNLIKE_CLUSTER * p->at[PC_CLUSTER] + COST_UNLIKE_EACH * distance(each, target) + p->at[PC_PACK];
}

Ranked plan_search(const Space *s)
{
	Search w = { .s = s };
	visit_all(s, cost_one, &w);
	Ranked *r = &w.r;
	int best = 0;
	for (int i = 1; i < r->n && r->at[i].ps * 100 <= r->at[0].ps * (100 + COST_PLANS_ALIKE); i++)
		if (unlike(s, &r->at[i].plan) < unlike(s, &r->at[best].plan)) best = i;
	RankedPlan first = r->n ? r->at[best] : (RankedPlan){ { { 0 } }, 0 };
	for (int i = best; i > 0; i--) r->at[i] = r->at[i - 1];
	if (r->n) r->at[0] = first;
	return *r;
}

typedef struct Nth { int left; Plan found; bool done; } Nth;

static bool count_one(void *ctx, const Plan *p)
{
	Nth *n = ctx;
	if (n->left-- > 0) return true;
	n->found = *p;
	n->done = true;
	return false;
}

bool plan_nth(const Space *s, int i, Plan *p)
{
	Nth n = { i, { { 0 } }, false };
	visit_all(s, count_one, &n);
	*p = n.found;
	return n.done;
}
