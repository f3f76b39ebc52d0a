/* test_plan.c: plans as numbers, skeletons of kernels, what the model says of simple cases, and the search.
 *
 * Expected times are not stated: the model's constants change. What is checked holds for any constants: what is more takes no less
 * time, what is pinned is kept, the same question has the same answer. Prints one line per failing check; returns 1 if any failed. */
#include "plan/plan.h"

#include "ir_tools.h"


static Fn *first_kernel(const char *path)
{
	size_t n;
	const char *why;
	char *text = src_read(path, &n, &why);
	if (!text) FAIL("%s: %s", path, why);
	Module *m = text ? ir_read(src_add(str_intern(path), text, n)) : NULL;
	if (!m || !m->fns.n) FAIL("%s: no kernel", path);
	return m && m->fns.n ? m->fns.p[0] : NULL;
}

/* ---- numbers ---- */
static void test_ids(void)
{
	for (int round = 0; round < 200; round++) {
		Plan p;
		uint32_t id;
		for (int c = 0; c < PC_COUNT; c++) {
			PlanRange r = plan_range((Coord)c);
			p.at[c] = (int8_t)(r.least + rnd(r.most - r.least + 1));
		}
		Str text = plan_id_text(plan_id(&p));
		Coord wrong;
		CHECK(plan_id_read(text, strlen(text), &id) && id == plan_id(&p) && plan_id_ok(id, &wrong));
		for (int c = 0; c < PC_COUNT; c++) {
			int v;
			CHECK(plan_pins(id, (Coord)c, &v) && v == p.at[c]);
		}
	}
	uint32_t id;
	Coord wrong;
	int v;
	CHECK(!plan_id_read("", 0, &id) && !plan_id_read("123456789", 9, &id) && !plan_id_read("g", 1, &id) && !plan_id_read("A", 1, &id));
	CHECK(!plan_id_ok(0xf, &wrong) && wrong == PC_WARPS);
	CHECK(!plan_pins(0x10, PC_WARPS, &v) && plan_pins(0x10, PC_CLUSTER, &v) && v == 0);
}

/* ---- skeletons ---- */
static int count(const Skeleton *k, NodeKind kind)
{
	int n = 0;
	for (int i = 0; i < k->n; i++) n += k->node[i].kind == kind;
	return n;
}

static Skeleton skeleton_named(const char *name) { return skeleton_of(first_kernel(str_fmt("tests/unit/plan/%s.ir", name))); }

static void test_skeletons(void)
{
	Skeleton k = skeleton_named("softmax");
	CHECK(count(&k, NODE_LOAD) == 1 && count(&k, NODE_STORE) == 1 && count(&k, NODE_REDUCE) == 2);
	CHECK(k.log2 == 12 && k.ngrid == 1 && k.straight && k.reduces && k.math && !k.scans && k.widest == 4 && k.stretches == 3);
	CHECK(k.node[0].kind == NODE_LOAD && k.node[0].log2 == 12 && k.node[0].run == 12 && k.node[0].grid == 1 && k.node[0].along < 0);
	CHECK(k.node[0].value && k.node[0].begin == 0 && k.node[0].end >= 1);
	k = skeleton_named("scaled");   /* a vector: the next tile block continues the run; its weights are the same for all */
	CHECK(k.n && k.node[0].kind == NODE_LOAD && k.node[0].along == 0 && !k.reduces && k.stretches == 1);
}

/* ---- the model ---- */
static const Call call = { 100000, 1000, 16, true };

static Cost cost_with(const Skeleton *k, int warps, const Call *c)
{
	Plan p = { { [PC_WARPS] = (int8_t)warps } };
	return cost_at(k, &p, machine_of(90), c);
}

static void test_costs(void)
{
	Skeleton k = skeleton_named("softmax");
	for (int w = 0; w <= 5; w++) {
		Cost one = cost_with(&k, w, &call);
		Call twice = call, odd = call, short_rows = call;
		twice.blocks *= 2;
		odd.aligned = false;
		short_rows.used = 500;
		CHECK(one.ps > 0 && one.least > 0 && one.least <= one.ps && one.blocks >= 1);
		CHECK(cost_with(&k, w, &twice).ps > one.ps);
		CHECK(cost_with(&k, w, &odd).ps >= one.ps);
		CHECK(cost_with(&k, w, &short_rows).ps <= one.ps);
		CHECK(one.blocks * (32 << w) <= machine_of(90)->threads);
		CHECK((int64_t)one.blocks * one.regs * (32 << w) <= machine_of(90)->registers || one.blocks == 1);
	}
	CHECK(cost_with(&k, 2, &call).regs > cost_with(&k, 4, &call).regs);     /* more elements a thread */
	Plan apart = { { [PC_WARPS] = 0 } }, together = { { [PC_WARPS] = 0, [PC_PACK] = 2 } };
	k = skeleton_named("scaled");
	CHECK(cost_at(&k, &together, machine_of(90), &call).in_flight >= cost_at(&k, &apart, machine_of(90), &call).in_flight);
}

/* ---- the search ---- */
static Space space(const Skeleton *k, const Calls *c)
{
	Space s = { .k = k, .m = machine_of(90), .calls = c };
	s.range[PC_WARPS] = plan_range(PC_WARPS);
	s.range[PC_CLUSTER].most = 3;
	s.range[PC_PACK].most = 3;
	s.range[PC_GRID0] = (PlanRange){ -2, 3 };
	return s;
}

static void test_search(void)
{
	Skeleton k = skeleton_named("softmax");
	Calls c = { .n = 1, .at = { call } };
	Space s = space(&k, &c);
	Ranked r = plan_search(&s), again = plan_search(&s);
	CHECK(r.n > 1 && r.costed <= PLANS_COSTED && r.n == again.n && !memcmp(r.at, again.at, sizeof *r.at * (size_t)r.n));
	for (int i = 2; i < r.n; i++) CHECK(r.at[i - 1].ps <= r.at[i].ps);
	for (int i = 0; i < r.n; i++)
		for (int j = 0; j < i; j++) CHECK(plan_id(&r.at[i].plan) != plan_id(&r.at[j].plan));
	s.range[PC_WARPS] = (PlanRange){ 3, 3 };
	s.range[PC_GRID0] = (PlanRange){ 1, 1 };
	r = plan_search(&s);
	CHECK(r.n > 0);
	for (int i = 0; i < r.n; i++) CHECK(r.at[i].plan.at[PC_WARPS] == 3 && r.at[i].plan.at[PC_GRID0] == 1 && !r.at[i].plan.at[PC_PACK]);
	Plan p, pair = { { [PC_WARPS] = 1, [PC_PACK] = 2 } };
	int n = 0;
	s = space(&k, &c);
	CHECK(!plan_legal(&s, &pair, PC_PACK + 1));
	k.pairs = true;
	CHECK(plan_legal(&s, &pair, PC_PACK + 1));
	pair.at[PC_WARPS] = 2;                  /* of four warps none */
	CHECK(!plan_legal(&s, &pair, PC_PACK + 1));
	k.pairs = false;
	s.range[PC_WARPS] = (PlanRange){ 3, 3 };
	s.range[PC_GRID0] = (PlanRange){ 1, 1 };
	while (n <= PLANS_COSTED && plan_nth(&s, n, &p)) n++;
	CHECK(n == r.costed);
}

int main(void)
{
	A_UNIT = arena_new();
	A_TMP = arena_new();
	test_ids();
	test_skeletons();
	test_costs();
	test_search();
	return failures != 0;
}
