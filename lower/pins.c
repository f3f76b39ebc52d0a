/* Pinned plans: what `--plan` and lines of tuning lists require of a kernel, and errors where no pass could do it. */
#include "lower/pins.h"

#include <string.h>

#include "base/diag.h"
#include "lower/placed.h"

int plan_pinned(const Fn *fn, Coord c)
{
	int v;
	return plan_pins(fn->plan, c, &v) ? v : PLAN_FREE;
}

bool plan_alone(const Fn *fn)
{
	int cluster = plan_pinned(fn, PC_CLUSTER);
	return cluster == 0 || (cluster == PLAN_FREE && plan_pinned(fn, PC_WARPS) != PLAN_FREE);
}

bool plan_pins_grid(const Fn *fn) { return !fn->regrouped && fn->plan & ~plan_digits_below(PC_GRID0); }

static Str counted(Coord c, int v)
{
	if (c == PC_BLOCKS) return str_fmt("%d", v);
	if (v < 0) return str_fmt("a %dth", 1 << -v);
	return str_fmt("%d", 1 << v);
}

static Str thing(Coord c)
{
	static const char *const things[] = { "warps of a thread block", "thread blocks that share a tile block",
		"tile blocks that share a thread block", "thread blocks of a multiprocessor" };
	return c < PC_GRID0 ? str_intern(things[c]) : str_fmt("tile blocks along axis %d of the grid as one", c - PC_GRID0);
}

void plan_refuse(const Fn *fn, Coord c, int need, PlanRange have)
{
	Str name = fn->source_name ? fn->source_name : fn->name;
	Str limit = have.least == have.most ? str_fmt("only %s", counted(c, have.most))
		: str_fmt("%s to %s", counted(c, have.least), counted(c, have.most));
	Str is = str_fmt("it has %s %s", counted(c, need), thing(c));
	Diag *d = diag(D_PLAN, fn->plan_at, plan_id_text(fn->plan), name, is, limit);
	diag_help(d, "`--explain-schedule` prints plans that the kernel can have");
}

/* ---- who asks ---- */
void plan_pin(Fn *fn, uint32_t id, Span at)
{
	fn->plan = id;
	fn->plan_at = at;
}

/* The kernel with a plan of its own, made when it is first asked for. */
static int pinned_variant(Module *m, HostStmt *h, const LaunchRule *r)
{
	Fn *of = h->u.launch.variants.p[r->variant].fn;
	Str name = str_fmt("%s_plan_%s", of->name, plan_id_text(r->plan));
	for (int i = 0; i < h->u.launch.variants.n; i++)
		if (h->u.launch.variants.p[i].fn->name == name) return i;
	Fn *fn = NULL;
	for (int i = 0; i < m->fns.n && !fn; i++)
		if (m->fns.p[i]->name == name) fn = m->fns.p[i];
	if (!fn) {
		fn = copy_kernel(of);
		fn->name = name;
		plan_pin(fn, r->plan, r->at);
		vec_push(A_UNIT, &m->fns, fn);
	}
	vec_push(A_UNIT, &h->u.launch.variants, (Variant){ fn });
	return h->u.launch.variants.n - 1;
}

static void pin_rules(void *ctx, HostStmt *h)
{
	for (int k = 0; k < h->u.launch.rules.n; k++) {
		LaunchRule *r = &h->u.launch.rules.p[k];
		if (r->plan) r->variant = pinned_variant(ctx, h, r);
		r->plan = 0;
	}
}

void lower_pins(Module *m)
{
	ir_walk_launches(m, pin_rules, m);
}
