/* The plans of kernels, for --explain-schedule: the one that lowering took, its time and bound by
 * the model, and the next best. */
#include "driver/plans.h"

#include "base/show.h"

enum { SHOWN = 5 };

static Str microseconds(int64_t ps)
{
	return str_fmt("%lld.%02lld", (long long)(ps / 1000000), (long long)(ps / 10000 % 100));
}

static void print_plan(Out *o, const char *mark, const Plan *p, const Cost *c)
{
	out_printf(o, "  %s %-9s %8s us  %3d %%  %-17s %3d registers, %2d thread blocks, %3lld KiB in flight%s  %s\n", mark,
		plan_id_text(plan_id(p)),
		microseconds(c->ps), (int)(c->least * 100 / c->ps), term_name[c->bound], c->regs, c->blocks,
		(long long)(c->in_flight >> 10), c->sliced ? ", sliced" : "", plan_text(p));
}

/* The first version of the kernel for an architecture. */
static const Fn *placed_for(const Module *m, const PlannedFn *f)
{
	for (int i = 0; i < m->versions.n; i++) {
		const Version *v = &m->versions.p[i];
		if (v->of->name != f->fn->name) continue;
		for (int a = 0; a < m->archs.n; a++)
			if (v->archs >> a & 1 && m->archs.p[a].number == f->arch) return v->fn;
	}
	return NULL;
}

static void print_fn(Out *o, const Module *m, const PlannedFn *f)
{
	const Fn *placed = placed_for(m, f);
	if (!placed || !placed->warps || !f->ranked.n) return;
	Plan now = plan_of_placed(placed);
	Cost c = cost_at(&f->skeleton, &now, machine_of(f->arch), &f->asked.at[0]);
	out_printf(o, "plans of %s, sm_%d, %d costed, for %lld tile blocks%s\n", f->fn->name, f->arch, f->ranked.costed,
		(long long)f->asked.at[0].blocks, f->fn->is_step ? "; a step of another kernel: not to be pinned" : "");
	print_plan(o, "taken", &now, &c);
	for (int i = 0; i < f->ranked.n && i < SHOWN; i++)
		print_plan(o, i ? "next " : "best ", &f->ranked.at[i].plan, &f->cost[i]);
}

void plans_print(Out *o, const Module *m, const Planned *p)
{
	for (int i = 0; i < p->fns.n; i++) print_fn(o, m, &p->fns.p[i]);
}
