/* streamk: a version of loops of products whose last waves' iterations are dealt out evenly over the device (stream-k),
 * for calls whose tiles do not fill it.
 *
 * It is a version of one step: the kernel itself with two tensors in workspace, flags and sums, which blocks that share
 * a tile hand each other (pipeline.c). Where it cannot be placed so, it is placed as the kernel is. */
#include "base/cost.h"
#include "base/machine.h"
#include "ir/valsym.h"
#include "lower/pipeline.h"
#include "lower/steps.h"

static const Sym *both(const Sym *a, const Sym *b) { return sym_logic(SYM_AND, a, b); }

/* Iterations are there, and rows of all tensors begin where the copy engine can read them. */
static const Sym *guard_of(const Pipe *p, const Sym *iterations)
{
	const Sym *some = sym_cmp(SYM_LT, sym_const(0), iterations);
	const Sym *r = both(some, sym_cmp(SYM_LT, iterations, sym_const(COST_STREAM_K_MOST)));
	for (int i = 0; i < p->fn->params.n; i++) {
		const IrParam *q = &p->fn->params.p[i];
		int64_t one;
		for (int a = 0; q->is_tensor && q->rank > 1 && a < q->rank; a++) {
			if (sym_is_const(q->stride[a], &one)) continue;
			const Sym *rest = sym_mod(q->stride[a], sym_const(VECTOR_BYTES / elem_bytes(q->elem)));
			r = both(r, sym_cmp(SYM_EQ, rest, sym_const(0)));
		}
	}
	return r;
}

static const Sym *least_of(const PipeChoice *c, int n)
{
	const Sym *r = c[0].time;
	for (int i = 1; i < n; i++) r = sym_min(r, c[i].time);
	return r;
}

static int64_t sums_of(const PipeChoice *c, int n, int products)
{
	int64_t most = 0;
	for (int i = 0; i < n; i++) {
		int64_t sums = (int64_t)c[i].plan.groups * c[i].plan.rows * c[i].plan.cols * products;
		if (sums > most) most = sums;
	}
	return most;
}

static void share_out(Fn *fn, const LowerCx *cx)
{
	Pipe p;
	PipeChoice whole[PIPE_PLANS], dealt[PIPE_PLANS];
	if (has_steps(fn, cx) || fn->is_step || !pipe_find(&p, fn) || !pipe_wanted(fn, cx) || !pipe_has_roles(&p)) return;
	if (!pipe_may_stream_k(&p)) return;
	int n = pipe_plans(&p, cx, whole), k = pipe_stream_k_plans(&p, cx, dealt);
	if (!n || !k) return;
	ir_number(fn);
	ValSyms b = valsyms_new(fn);
	const Sym *iterations = valsym(&b, ir_in(p.loop, 1));
	int64_t blocks = machine_of(cx->target_arch)->sms;
	Fn *step = copy_kernel(fn);
	step->name = str_fmt("%s_stream_k", fn->name);
	step->stream_k = true;
	const Sym *flags = sym_const(blocks * PIPE_GROUPS);
	add_workspace_view(step, "flags", EL_I32, 1, &flags);
	const Sym *sums = sym_const(blocks * sums_of(dealt, k, p.products));
	add_workspace_view(step, "sums", EL_F32, 1, &sums);
	const Sym *gain = sym_cmp(SYM_LT, least_of(dealt, k), least_of(whole, n));
	Steps *s = steps_begin(fn, cx, guard_of(&p, iterations), gain);
	s->arch = 90;
	s->clears = 1;
	steps_add(s, step);
}

void pass_streamk(Module *m, const LowerCx *cx)
{
	LowerCx own = *cx;
	own.target_arch = 90;
	own.target_only = true;
	for (int i = 0; cx->o->by_threads && cx->o->roles && i < m->fns.n; i++) share_out(m->fns.p[i], &own);
}
