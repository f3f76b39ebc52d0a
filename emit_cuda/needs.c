/* What the launcher is asked so that a kernel's text for aligned tensors may run: that each piece of each access lies at a
 * multiple of its size, and wholly inside or wholly outside. A slice is asked like its tensor, if where it begins and ends is
 * known at launch but for factors that do not matter: block 5 of rows of 2 * half elements begins at a multiple of 8 if
 * half is one of 4. */
#include "base/diag.h"
#include "emit/names.h"
#include "emit_cuda/access.h"

typedef struct Ask { Cu *g; VEC(Str) needs; } Ask;

static bool is_among(const Str *p, int n, Str s)
{
	for (int i = 0; i < n; i++)
		if (p[i] == s) return true;
	return false;
}

static void add(Ask *k, Str s)
{
	if (!is_among(k->needs.p, k->needs.n, s)) vec_push(A_TMP, &k->needs, s);
}

static Str multiple_text(Str x, int64_t n) { return str_fmt("((%s) & %lld) == 0", x, (long long)n - 1); }

/* Asks for v to be a multiple of n, a power of two; false: the launcher does not know it. Steps bounds the search. */
static bool ask_multiple(Ask *k, const Val *v, int64_t n, int steps)
{
	int keep = k->needs.n;
	if (access_multiple(v) % n == 0) return true;
	if (!v->def || steps == 0) return false;
	switch (v->def->code) {
	case OP_LAUNCH: add(k, multiple_text(cu_launch(k->g, ir_attr(v->def, AT_SYM)->u.sym), n)); return true;
	case OP_CAST: return ask_multiple(k, ir_in(v->def, 0), n, steps - 1);
	case OP_ADD: case OP_SUB: case OP_MIN: case OP_MAX:
		return ask_multiple(k, ir_in(v->def, 0), n, steps - 1) && ask_multiple(k, ir_in(v->def, 1), n, steps - 1);
	case OP_SELECT:
		return ask_multiple(k, ir_in(v->def, 1), n, steps - 1) && ask_multiple(k, ir_in(v->def, 2), n, steps - 1);
	case OP_MUL:
		for (int i = 0; i < 2; i++) {
			if (ask_multiple(k, ir_in(v->def, i), n, steps - 1)) return true;
			k->needs.n = keep;
		}
		return false;
	default: return false;
	}
}

enum { STEPS = 8 };

/* A view's extent or stride along an axis as a value of the kernel; NULL: it is its parameter's. */
static const Val *along(const Val *view, int axis, bool stride)
{
	for (; view->def && view->def->code == OP_PERMUTE; view = ir_in(view->def, 0))
		axis = (int)ir_attr(view->def, AT_AXES)->u.ints.p[axis];
	return view->def ? ir_in(view->def, 2 + (stride ? view->type->rank : 0) + axis) : NULL;
}

static bool ask_along(Ask *k, const Access *x, int axis, bool stride, int64_t n)
{
	const Val *v = along(ir_in(x->op, 0), axis, stride);
	if (v) return ask_multiple(k, v, n, STEPS);
	add(k, multiple_text(stride ? x->v->str[axis] : x->v->ext[axis], n));
	return true;
}

static bool ask_begin(Ask *k, const Val *view, int bytes, int64_t n)
{
	for (; view->def; view = ir_in(view->def, 0)) {
		if (view->type->kind != TY_VIEW || (view->def->code != OP_VIEW && view->def->code != OP_PERMUTE)) return false;
		if (view->def->code == OP_VIEW && !ask_multiple(k, ir_in(view->def, 1), n, STEPS)) return false;
	}
	if (view->type->kind != TY_VIEW || view->block != k->g->fn->body) return false;
	add(k, str_fmt("((uintptr_t)%s & %lld) == 0", name_c(k->g->fn->params.p[view->index].name), (long long)n * bytes - 1));
	return true;
}

static bool ask(Ask *k, const Access *x)
{
	int bytes = elem_bytes(x->v->elem), f = x->fast;
	int64_t n = (int64_t)1 << x->vec;
	if (access_origin_multiple(x, f) % n || x->offset[f] % n || !ask_begin(k, ir_in(x->op, 0), bytes, n)) return false;
	for (int a = 0; a < x->rank; a++)
		if (a != f && x->v->multiple[a] % n && !ask_along(k, x, a, true, n)) return false;
	return x->proved[f] || ask_along(k, x, f, false, n);
}

void access_ask_launcher(const Access *x)
{
	Cu *g = x->g;
	Ask all = { .g = g };
	int words = cu_regs(x->data) * elem_bytes(x->v->elem) / 4;
	if (words > g->widest) g->widest = words;
	for (int i = 0; i < g->needs.n; i++) vec_push(A_TMP, &all.needs, g->needs.p[i]);
	if (!ask(&all, x)) {
		g->undecided = true;
		return;
	}
	for (int i = g->needs.n; i < all.needs.n; i++) vec_push(A_TMP, &g->needs, all.needs.p[i]);
}

int64_t access_launched_multiple(Cu *g, const Val *v)
{
	while (v->def && (v->def->code == OP_CAST || v->def->code == OP_BROADCAST)) v = ir_in(v->def, 0);
	if (!g->aligned || !v->def || v->def->code != OP_LAUNCH) return 1;
	const Sym *s = ir_attr(v->def, AT_SYM)->u.sym;
	if (s->kind != SYM_ATOM || s->atom != ATOM_DIM) return 1;
	Str dim = sym_c(s);
	if (!g->relied) g->relied = g->needs.n + 1;
	for (int n = 16; n > 1; n /= 2) {               /* elements of the widest piece */
		Str need = multiple_text(dim, n);
		if (is_among(g->asked, g->asked_n, need) || is_among(g->needs.p, g->needs.n, need)) return n;
	}
	return 1;
}
