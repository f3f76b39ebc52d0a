/* One walk over the launches of all entries notes for each kernel what it may be given: asking the entries again for
 * each kernel made programs of many kernels take quadratic time. Kernels are found by address;
 * no output depends on that order. */
#include "emit/wide.h"

#include <stdlib.h>

#include "base/arena.h"

typedef struct Row { const Fn *fn; uint64_t wide; } Row;
struct WideDims { int n; Row *rows; };

static int by_address(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const Row *)a)->fn, y = (uintptr_t)((const Row *)b)->fn;
	return x < y ? -1 : x > y;
}

static Row *row_of(const WideDims *w, const Fn *fn)
{
	Row key = { fn, 0 };
	return w->n ? bsearch(&key, w->rows, (size_t)w->n, sizeof key, by_address) : NULL;
}

static bool fits_i32(const Entry *e, const Sym *x)
{
	int64_t c;
	if (!x) return false;
	if (sym_is_const(x, &c)) return c >= 0 && c <= INT32_MAX;
	for (int d = 0; x->kind == SYM_ATOM && x->atom == ATOM_DIM && d < e->dims.n; d++)
		if (e->dims.p[d].name == x->name && e->dims.p[d].elem == EL_I32) return true;
	return false;
}

static void note_launch(const WideDims *w, const Entry *e, const HostStmt *s)
{
	for (int v = 0; v < s->u.launch.variants.n; v++) {
		Row *r = row_of(w, s->u.launch.variants.p[v].fn);
		for (int k = 0; r && k < r->fn->dims.n && k < 64; k++)
			if (!fits_i32(e, s->u.launch.dims.p[k])) r->wide |= UINT64_C(1) << k;
	}
}

static void note_body(const WideDims *w, const Entry *e, const HostVec *body)
{
	for (int i = 0; i < body->n; i++) {
		const HostStmt *s = body->p[i];
		if (s->kind == HOST_LAUNCH) note_launch(w, e, s);
		if (s->kind == HOST_IF) {
			note_body(w, e, &s->u.ifs.then);
			note_body(w, e, &s->u.ifs.other);
		}
	}
}

WideDims *wide_dims_new(const Module *m)
{
	WideDims *w = NEW(A_UNIT, WideDims);
	w->n = m->fns.n;
	w->rows = NEW_ARRAY(A_UNIT, Row, (size_t)w->n + 1);
	for (int i = 0; i < w->n; i++) w->rows[i].fn = m->fns.p[i];
	qsort(w->rows, (size_t)w->n, sizeof *w->rows, by_address);
	for (int i = 0; i < m->entries.n; i++) note_body(w, m->entries.p[i], &m->entries.p[i]->body);
	return w;
}

uint64_t wide_dims_of(const WideDims *w, const Fn *fn)
{
	const Row *r = row_of(w, fn);
	return r ? r->wide : 0;
}
