/* Scratch memory of an entry that a launch reads before any launch has written it. A launch under an `if` counts as one
 * that runs, and a kernel that stores to its `inout` parameter as one that does so before it reads. */
#include "sema/scope.h"

typedef struct Unwritten {
	const Entry *e;
	VEC(const HostStmt *) scratch;
	bool *written;
} Unwritten;

typedef struct Uses { const Fn *fn; int param; bool stores, reads; } Uses;

static const Val *base_of(const Val *view)
{
	while (view->def && view->def->code == OP_VIEW) view = ir_in(view->def, 0);
	return view;
}

static void note_use(void *ctx, Op *op)
{
	Uses *u = ctx;
	unsigned flags = op_rows[op->code].flags;
	if (op->code == OP_VIEW) return;
	for (int i = 0; i < op->nin; i++) {
		const Val *v = ir_in(op, i);
		if (v->type->kind != TY_VIEW || base_of(v) != u->fn->body->args.p[u->param]) continue;
		bool known = op->code == OP_LOAD || op->code == OP_GATHER || op->code == OP_ATOMIC_LOAD || op->code == OP_PRINT;
		bool adds = op->code == OP_ATOMIC_RMW && ir_int(op, AT_RMW, 0) != attr_word(AT_RMW, str_intern("xchg"));
		if (known || adds) u->reads = true;
		else if (flags & OPF_WRITE) u->stores = true;
	}
}

static void launch_reads(Unwritten *u, const HostStmt *h)
{
	const Fn *fn = h->u.launch.variants.p[0].fn;
	for (int i = 0; i < h->u.launch.args.n; i++) {
		const HostArg *a = &h->u.launch.args.p[i];
		int k = a->tensor - u->e->params.n;
		if (!a->is_tensor || k < 0 || u->written[k]) continue;
		Uses use = { .fn = fn, .param = i };
		ir_walk(fn->body, note_use, &use);
		const IrParam *p = &u->scratch.p[k]->u.scratch.tensor;
		if (use.stores || !use.reads) continue;
		Diag *d = diag(D_SCRATCH_UNWRITTEN, h->span, fn->source_name, p->name);
		diag_label(d, p->span, "its contents are unknown until a kernel has stored to it");
		if (fn->params.p[i].mode == PM_IN) diag_help(d, "a kernel that writes `%s` is launched before", p->name);
		else
			diag_help(d, "atomics add to what is there: a kernel that stores zeros to `%s` is launched before",
				p->name);
		u->written[k] = true;
	}
	for (int i = 0; i < h->u.launch.args.n; i++) {
		const HostArg *a = &h->u.launch.args.p[i];
		if (a->is_tensor && a->tensor >= u->e->params.n && fn->params.p[i].mode != PM_IN)
			u->written[a->tensor - u->e->params.n] = true;
	}
}

static void declared(Unwritten *u, const HostVec *v)
{
	for (int i = 0; i < v->n; i++) {
		const HostStmt *h = v->p[i];
		if (h->kind == HOST_SCRATCH) vec_push(A_TMP, &u->scratch, h);
		if (h->kind != HOST_IF) continue;
		declared(u, &h->u.ifs.then);
		declared(u, &h->u.ifs.other);
	}
}

static void walk(Unwritten *u, const HostVec *v)
{
	for (int i = 0; i < v->n; i++) {
		const HostStmt *h = v->p[i];
		if (h->kind == HOST_LAUNCH) launch_reads(u, h);
		if (h->kind != HOST_IF) continue;
		walk(u, &h->u.ifs.then);
		walk(u, &h->u.ifs.other);
	}
}

void unwritten_report(const Entry *e)
{
	ArenaMark mark = arena_mark(A_TMP);
	Unwritten u = { .e = e };
	declared(&u, &e->body);
	u.written = NEW_ARRAY(A_TMP, bool, u.scratch.n + 1);
	walk(&u, &e->body);
	arena_release(A_TMP, mark);
}
