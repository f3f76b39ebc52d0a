/* Hints that no placement of a kernel follows: reported once all architectures are placed. */
#include "lower/lower.h"

#include <string.h>

#include "base/diag.h"

static const Hint *cluster_hint(const Fn *fn)
{
	for (int i = 0; i < fn->hints.n; i++)
		if (!strcmp(fn->hints.p[i].name, "cluster")) return &fn->hints.p[i];
	return NULL;
}

/* Does a version of one of the kernels with this hint, on one architecture, share tile blocks among several thread
 * blocks? *asked: the hint asks for it somewhere. */
static bool followed(const Hint *h, const Module *m, bool *asked)
{
	for (int i = 0; i < m->fns.n; i++) {
		const Hint *own = cluster_hint(m->fns.p[i]);
		if (!own || own->span.lo != h->span.lo) continue;
		for (int a = 0; a < m->archs.n; a++) *asked |= ir_hint(m->fns.p[i], "cluster", m->archs.p[a].number) > 1;
		Versions v = ir_versions(m, m->fns.p[i], 0);
		for (int k = 0; k < v.n; k++)
			if (m->versions.p[v.first + k].fn->cluster > 1) return true;
	}
	return false;
}

void lower_hints(const Module *m)
{
	for (int i = 0; i < m->fns.n; i++) {
		const Hint *h = cluster_hint(m->fns.p[i]), *before = NULL;
		bool asked = false, said = false;
		for (int k = 0; h && k < i && !said; k++)
			said = (before = cluster_hint(m->fns.p[k])) && before->span.lo == h->span.lo;
		if (!h || said || followed(h, m, &asked) || !asked) continue;
		Str name = m->fns.p[i]->source_name ? m->fns.p[i]->source_name : m->fns.p[i]->name;
		Diag *d = diag(D_HINT_REFUSED, h->span, "`@cluster`", m->archs.p[m->archs.n - 1].number < 90
			? "no architecture that is compiled for has clusters"
			: str_fmt("the tiles of `%s` cannot be spread over several thread blocks, or are too small for it", name));
		diag_help(d, "leave it out");
	}
}
