/* Which rows reach a variant. A launch takes the first of its variants whose where clause holds, so the variant for
 * rows of at most 2,048 elements after one for 256 is not asked for shorter ones: what serves those is no use to it.
 * Rules of a launch may ask all the same, and find rows served as long ones are. */
#include "lower/placed.h"

/* "n <= 256", a where clause of this condition alone: 256, of n; 0: there is another one. */
static int64_t most_of(const Fn *fn, const Sym **length)
{
	const Sym *s = fn->where.n == 1 ? fn->where.p[0].cond : NULL;
	int64_t most;
	if (!s || s->kind != SYM_LE || !sym_is_const(s->arg[1], &most)) return 0;
	*length = s->arg[0];
	return most;
}

static void note_launch(const HostStmt *h)
{
	const Sym *of = NULL, *length = NULL;
	int64_t taken = 0;
	for (int i = 0; i < h->u.launch.variants.n; i++) {
		Fn *fn = h->u.launch.variants.p[i].fn;
		int64_t most = most_of(fn, &length), here = most && of == length ? taken : 0;
		if (here < fn->rows_taken) fn->rows_taken = here;
		if (!most || (of && of != length)) continue;
		of = length;
		if (most > taken) taken = most;
	}
}

static void note_body(const HostVec *body)
{
	for (int i = 0; i < body->n; i++) {
		const HostStmt *h = body->p[i];
		if (h->kind == HOST_LAUNCH) note_launch(h);
		if (h->kind != HOST_IF) continue;
		note_body(&h->u.ifs.then);
		note_body(&h->u.ifs.other);
	}
}

void note_variants(Module *m)
{
	for (int i = 0; i < m->fns.n; i++) m->fns.p[i]->rows_taken = INT64_MAX;
	for (int i = 0; i < m->entries.n; i++) note_body(&m->entries.p[i]->body);
	for (int i = 0; i < m->fns.n; i++)
		if (m->fns.p[i]->rows_taken == INT64_MAX) m->fns.p[i]->rows_taken = 0;
}
