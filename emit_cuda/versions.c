/* The bodies of a kernel's versions; versions.h has the picture. */
#include "emit_cuda/versions.h"

#include "emit_cuda/peel.h"

static void add_version(CuKernel *k, const NameSet *entries, const Version *v, const EmitOptions *opt)
{
	const Fn *fn = v->fn;
	Cu g = version_body(k, v, opt);
	CuVersion to = { .v = *v, .name = version_name(entries, v, opt), .o = out_new() };
	bool any = !fn->aligned && !fn->by_element && !fn->peel_line;  /* it waits for the kernel before it first of all */
	to.line = lines_set(to.o, g.o->p, any ? 0 : g.prologue, opt);
	out_fit(to.o);          /* it stays until the file is written */
	out_free(g.o);
	version_ask(&to);
	vec_push(A_UNIT, &k->versions, to);
	k->packed |= fn->packed > 0 || rows_share(fn);
	k->starts |= fn->persistent || to.dependent || to.together;
}

void versions_make(CuKernel *k, const Module *m, Versions of, const NameSet *entries, const EmitOptions *opt,
	SnipSet *used)
{
	ArenaMark mark = arena_mark(A_TMP);     /* what is known while bodies are printed */
	version_note_grid(k, k->fn);
	for (int i = of.first; i < of.first + of.n; i++) version_note_grid(k, m->versions.p[i].fn);
	for (int i = of.first; i < of.first + of.n; i++) {
		add_version(k, entries, &m->versions.p[i], opt);
		const CuVersion *t = &k->versions.p[k->versions.n - 1];
		snip_use_text(used, t->o->p);
		if (version_waits(t, opt) && t->v.fn->brief) snip_use_text(used, version_lets);
		if (version_waits(t, opt)) snip_use_text(used, version_wait);
	}
	if (k->maps.n) snip_use(used, "ct_tensor_map");
	launch_guards(k);
	version_params(k);
	arena_release(A_TMP, mark);
}

void versions_print(Out *o, const CuKernel *k, const EmitOptions *opt)
{
	for (int i = 0; i < k->versions.n; i++) version_print(o, k, &k->versions.p[i], opt);
}
