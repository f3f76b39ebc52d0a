/* The two versions of a kernel: for any call, and for calls whose tensors are aligned.
 *
 * NVIDIA's compiler accesses 16-bit elements one at a time, and does not use the copy engine, unless it knows that a
 * span's address and row pitch are multiples of 16 bytes and that element offsets fit 32 bits. The language does not
 * require that of a call, so the launcher tests it: a kernel is a template of `bool ct_aligned`, whose spans promise
 * all three when it is true. One body serves both versions; bench/tile/README.md has what each reaches.
 *
 * The launcher asks about the tensors that spans come from. What a view made in the kernel may promise is derived:
 * powers of two divide sums and products whatever wraps, and sizes that the launcher can compute are asked of it. */
#include "emit_tile/tile.h"

/* bytes of the widest access of a thread, and what the copy engine takes for addresses and strides */
enum { VECTOR = 16 };
enum { STEPS = 12 };    /* operations before a value that are looked at */

/* ---- the guard ---- */
typedef struct TUnit { const Sym *s; int n; } TUnit;   /* s is a multiple of n */
typedef VEC(TUnit) TUnits;

static void need(TAligned *a, const Sym *cond)
{
	for (int i = 0; i < a->guard.n; i++)
		if (a->guard.p[i] == cond) return;
	vec_push(A_UNIT, &a->guard, cond);
}

/* s is a multiple of n wherever the guard holds. */
static void need_multiple(TUnits *units, const Sym *s, int n)
{
	int64_t known;
	if (n == 1 || sym_is_const(s, &known)) return;
	for (int i = 0; i < units->n; i++) {
		TUnit *u = &units->p[i];
		if (u->s != s) continue;
		if (u->n < n) u->n = n;
		return;
	}
	vec_push(A_TMP, units, ((TUnit){ s, n }));
}

static bool is_one(const Sym *s)
{
	int64_t v;
	return s && sym_is_const(s, &v) && v == 1;
}

static bool is_contiguous(const IrParam *p)
{
	for (int i = 0; i < p->rank; i++)
		if (is_one(p->stride[i])) return true;
	return false;
}

static void need_tensor(TAligned *a, TUnits *units, const IrParam *p)
{
	int unit = VECTOR / elem_bytes(p->elem);
	need(a, sym_aligned(p->name, VECTOR));
	for (int i = 0; i < p->rank; i++) need_multiple(units, is_one(p->stride[i]) ? p->extent[i] : p->stride[i], unit);
}

/* Elements up to the last one of a view; NULL: not known. */
static const Sym *size_of(ValSyms *b, const Val *view)
{
	const Sym *size = sym_const(1);
	for (int i = 0; i < view->type->rank; i++) {
		const Sym *ext = valsym_extent(b, view, i), *str = valsym_stride(b, view, i);
		if (!ext || !str) return NULL;
		size = sym_add(size, sym_mul(sym_sub(ext, sym_const(1)), str));
	}
	return size;
}

static bool need_narrow(TAligned *a, ValSyms *b, const Val *view)
{
	const Sym *size = size_of(b, view), *cond = size ? sym_cmp(SYM_LE, size, sym_const(INT32_MAX)) : NULL;
	if (!cond) return false;
	if (facts_holds(b->facts, cond)) return true;
	if (!sym_is_of_call(cond)) return false;
	need(a, cond);
	return true;
}

/* ---- what divides a value ---- */
static int power_in(int64_t n)
{
	int r = 1;
	while (r < VECTOR && n % (2 * r) == 0) r *= 2;
	return r;
}

static int least(int a, int b) { return a < b ? a : b; }

/* A power of two, VECTOR at most. */
static int multiple_of(ValSyms *b, const Val *v, int steps)
{
	Num n;
	const Op *op = v->def;
	if (ir_const_value(v, &n)) return power_in(n.i);
	if (!op || steps == 0 || v->type->kind != TY_SCALAR) return 1;
	switch (op->code) {
	case OP_LAUNCH: return power_in(facts_gcd(b->facts, ir_attr(op, AT_SYM)->u.sym));
	case OP_CAST: return elem_is_int(ir_in(op, 0)->type->elem) ? multiple_of(b, ir_in(op, 0), steps - 1) : 1;
	case OP_MUL:
		return least(VECTOR, multiple_of(b, ir_in(op, 0), steps - 1) * multiple_of(b, ir_in(op, 1), steps - 1));
	default: break;
	}
	if (!op_is(op, OPT_KEEPS_MULTIPLE)) return 1;
	int r = VECTOR;
	for (int i = op->code == OP_SELECT; i < op->nin; i++) r = least(r, multiple_of(b, ir_in(op, i), steps - 1));
	return r;
}

static int multiple_along(ValSyms *b, const Val *view, int axis, bool stride)
{
	if (view->def) return multiple_of(b, ir_in(view->def, 2 + (stride ? view->type->rank : 0) + axis), STEPS);
	const Sym *s = stride ? valsym_stride(b, view, axis) : valsym_extent(b, view, axis);
	return power_in(facts_gcd(b->facts, s));
}

/* Bytes by which a view's first element is aligned where its tensor is. */
static int alignment_of(ValSyms *b, const Val *view)
{
	int bytes = elem_bytes(view->type->elem), r = VECTOR;
	for (; view->def; view = ir_in(view->def, 0)) r = least(r, bytes * multiple_of(b, ir_in(view->def, 1), STEPS));
	return r;
}

/* ---- spans ---- */
static void promise(TSpan *s, ValSyms *b)
{
	s->align = alignment_of(b, s->view);
	for (int i = 0; i < s->view->type->rank; i++) {
		s->ext[i] = multiple_along(b, s->view, i, false);
		s->str[i] = multiple_along(b, s->view, i, true);
	}
}

/* What follows from the other multiples need not be asked. */
static bool follows(const TUnits *units, int of, const Fn *fn)
{
	ValSyms b = valsyms_new(fn);
	for (int i = 0; i < units->n; i++)
		if (i != of) facts_divisible(b.facts, units->p[i].s, units->p[i].n);
	return facts_gcd(b.facts, units->p[of].s) % units->p[of].n == 0;
}

static void need_units(TAligned *a, TUnits *units, const Fn *fn)
{
	for (int i = units->n - 1; i >= 0; i--) {
		if (!follows(units, i, fn)) continue;
		for (int k = i + 1; k < units->n; k++) units->p[k - 1] = units->p[k];
		units->n--;
	}
	for (int i = 0; i < units->n; i++)
		need(a, sym_cmp(SYM_EQ, sym_mod(units->p[i].s, sym_const(units->p[i].n)), sym_const(0)));
}

/* The guard of the spans that are left. */
static void ask(TAligned *a, ValSyms *b)
{
	TUnits units = { 0 };
	a->guard.n = 0;
	for (int i = 0; i < a->spans.n; i++) need_tensor(a, &units, valsym_root(b, a->spans.p[i].view));
	for (int i = 0; i < a->spans.n; i++) a->spans.p[i].narrow = need_narrow(a, b, a->spans.p[i].view);
	need_units(a, &units, b->fn);
}

/* Spans whose views turn out to promise nothing take their part of the guard with them. */
static bool drop_useless(TAligned *a, const Fn *fn)
{
	int n = 0, before = a->spans.n;
	ValSyms b = valsyms_new(fn);
	facts_assume(b.facts, tl_aligned_guard(a));
	for (int i = 0; i < before; i++) {
		promise(&a->spans.p[i], &b);
		if (a->spans.p[i].align == VECTOR) a->spans.p[n++] = a->spans.p[i];
	}
	a->spans.n = n;
	return n < before;
}

static void collect(void *ctx, Op *op)
{
	Tg *g = ctx;
	if (op->code == OP_VIEW && g->spanned[op->out[0]->id])
		vec_push(A_TMP, &g->aligned.spans, ((TSpan){ .view = op->out[0] }));
}

/* The views that have a span, come from a tensor with neighbouring elements, and whose tiles
 * are not taken apart (parts.c). */
static void find_spans(Tg *g)
{
	TAligned *a = &g->aligned;
	const bool *apart = tl_taken_apart(g->fn);
	const IrBlock *body = g->fn->body;
	ValSyms b = valsyms_new(g->fn);
	int n = 0;
	for (int i = 0; i < body->args.n; i++)
		if (g->spanned[body->args.p[i]->id]) vec_push(A_TMP, &a->spans, ((TSpan){ .view = body->args.p[i] }));
	ir_walk(g->fn->body, collect, g);
	for (int i = 0; i < a->spans.n; i++) {
		const IrParam *root = valsym_root(&b, a->spans.p[i].view);
		if (root && is_contiguous(root) && !apart[a->spans.p[i].view->id]) a->spans.p[n++] = a->spans.p[i];
	}
	a->spans.n = n;
}

void tl_find_aligned(Tg *g)
{
	TAligned *a = &g->aligned;
	ValSyms b = valsyms_new(g->fn);
	find_spans(g);
	do ask(a, &b);
	while (drop_useless(a, g->fn));
}

const TSpan *tl_aligned_span(const TAligned *a, const Val *view)
{
	for (int i = 0; i < a->spans.n; i++)
		if (a->spans.p[i].view == view) return &a->spans.p[i];
	return NULL;
}

void tl_need_some(TAligned *a, ValSyms *b, const Val *view, int axis)
{
	const Sym *ext = valsym_extent(b, view, axis);
	if (ext && sym_is_of_call(ext)) need(a, sym_cmp(SYM_LT, sym_const(0), ext));
}

const Sym *tl_aligned_guard(const TAligned *a)
{
	const Sym *r = sym_const(1);
	for (int i = 0; i < a->guard.n; i++) r = sym_logic(SYM_AND, r, a->guard.p[i]);
	return r;
}

void tl_aligned_end(TAligned *a)
{
	int n = 0;
	bool never = false;
	for (int i = 0; i < a->guard.n; i++) {
		int64_t holds;
		if (!sym_is_const(a->guard.p[i], &holds)) a->guard.p[n++] = a->guard.p[i];
		else never |= !holds;
	}
	a->guard.n = n;
	if (never || !n) *a = (TAligned){ 0 };
}
