/* The versions that a kernel has for an architecture, and which calls each is for; the launcher asks their guards in
 * the order of the list.
 *
 * Aligned tensors: each vector of each access lies at a multiple of its size, and wholly inside or wholly outside of
 * its tensor. A slice is tested like its tensor, if its begin and end are known at launch up to integer factors, which
 * keep multiples: block 5 of rows of 2 * half elements begins at a multiple of 8 if half is one of 4. */
#include "base/diag.h"
#include "lower/placed.h"
#include "placed/access.h"

/* ---- guards ---- */
static const Sym *all_of(const Sym *a, const Sym *b) { return sym_logic(SYM_AND, a, b); }

static void ask_too(const Sym **guard, const Sym *s) { *guard = all_of(*guard, s); }

static void ask_multiple_of(const Sym **guard, const Sym *s, int64_t n)
{
	ask_too(guard, sym_cmp(SYM_EQ, sym_mod(s, sym_const(n)), sym_const(0)));
}

/* Asks for v to be a multiple of n, a power of two; false: the launcher does not know it. Steps bounds the search. */
static bool ask_multiple(const Sym **guard, const Val *v, int64_t n, int steps)
{
	const Sym *keep = *guard;
	if (access_multiple(v) % n == 0) return true;
	if (!v->def || steps == 0 || !elem_is_int(v->type->elem)) return false;
	switch (v->def->code) {
	case OP_LAUNCH: ask_multiple_of(guard, ir_attr(v->def, AT_SYM)->u.sym, n); return true;
	case OP_CAST: return keeps_multiples(v->def) && ask_multiple(guard, ir_in(v->def, 0), n, steps - 1);
	case OP_MUL:
		for (int i = 0; i < 2; i++) {
			if (ask_multiple(guard, ir_in(v->def, i), n, steps - 1)) return true;
			*guard = keep;
		}
		return false;
	default: break;
	}
	bool all = op_is(v->def, OPT_KEEPS_MULTIPLE);
	for (int i = v->def->code == OP_SELECT; all && i < v->def->nin; i++)
		all = ask_multiple(guard, ir_in(v->def, i), n, steps - 1);
	return all;
}

enum { STEPS = 8 };

/* A view's extent or stride along an axis: of its parameter, or a value of the kernel. */
static bool ask_along(const Sym **guard, const Fn *fn, const Val *view, int axis, bool stride, int64_t n)
{
	for (; view->def && view->def->code == OP_PERMUTE; view = ir_in(view->def, 0))
		axis = (int)ir_attr(view->def, AT_AXES)->u.ints.p[axis];
	if (view->def) {
		const Val *v = ir_in(view->def, 2 + (stride ? view->type->rank : 0) + axis);
		return access_multiple(v) % n == 0 || ask_multiple(guard, v, n, STEPS);
	}
	const IrParam *p = &fn->params.p[view->index];
	const Sym *s = stride ? p->stride[axis] : p->extent[axis];
	if (stride && sym_multiple(s) % n == 0) return true;
	ask_multiple_of(guard, s, n);
	return true;
}

static bool ask_begin(const Sym **guard, const Fn *fn, const Val *view, int bytes, int64_t n)
{
	for (; view->def; view = ir_in(view->def, 0)) {
		if (view->type->kind != TY_VIEW || (view->def->code != OP_VIEW && view->def->code != OP_PERMUTE)) return false;
		if (view->def->code == OP_VIEW && !ask_multiple(guard, ir_in(view->def, 1), n, STEPS)) return false;
	}
	if (view->type->kind != TY_VIEW || view->block != fn->body) return false;
	ask_too(guard, sym_aligned(fn->params.p[view->index].name, n * bytes));
	return true;
}

static bool ask_access(const Sym **guard, const Fn *fn, const Op *op, const AccessPlan *x)
{
	const Val *view = ir_in(op, 0);
	int bytes = elem_bytes(view->type->elem), f = x->fast;
	int64_t n = (int64_t)1 << x->vec;
	if (access_origin_multiple(op, x, f) % n || x->offset[f] % n || !ask_begin(guard, fn, view, bytes, n)) return false;
	for (int a = 0; a < x->rank; a++)
		if (a != f && !ask_along(guard, fn, view, a, true, n)) return false;
	return x->proved[f] || ask_along(guard, fn, view, f, false, n);
}

/* sure: the launcher can know it; some: of some accesses. widest: 32-bit registers of the widest tile in an access of
 * vectors. */
typedef struct Aligned { const Fn *fn; const Sym *guard; bool sure, some; int widest; } Aligned;

static void look_at_access(void *ctx, Op *op)
{
	Aligned *r = ctx;
	const Val *data = op->code == OP_LOADS ? op->out[0] : ir_accessed(op);
	if (!data || !type_is_tile(data->type) || ir_in(op, 0)->type->kind != TY_VIEW) return;
	if (op->code != OP_LOAD && op->code != OP_STORE && op->code != OP_LOADS) return;
	AccessPlan x = access_plan(op, data, false);
	if (op->code == OP_LOADS) x.vec = patch_plan(op).vec;
	if (!x.vec) return;
	int words = (elem_bytes(ir_in(op, 0)->type->elem) << data->lay->in[HW_REG]) / 4;
	if (words > r->widest) r->widest = words;
	const Sym *guard = r->guard;
	bool ask = ask_access(&guard, r->fn, op, &x);
	if (ask) r->guard = guard;
	r->sure &= ask;
	r->some |= ask;
}

static Aligned ask_aligned(const Fn *fn)
{
	Aligned r = { .fn = fn, .guard = sym_const(1), .sure = true };
	ir_walk(fn->body, look_at_access, &r);
	return r;
}

/* ---- rows in vectors, wherever they begin (shift.c) ---- */

typedef struct Phases { const Fn *fn; const Sym *guard; } Phases;

static void ask_phase(void *ctx, Op *op)
{
	Phases *r = ctx;
	if (!row_access_shifts(r->fn, op)) return;
	const IrParam *p = peel_param(r->fn, op), *first = peel_param(r->fn, peel_phase_of(r->fn));
	int own = elem_bytes(p->elem), size = elem_bytes(first->elem);
	int64_t unit = rows_shift_unit(r->fn, 1) * size;
	if (own != size) {
		ask_too(&r->guard, sym_aligned(first->name, unit));
		ask_too(&r->guard, sym_aligned(p->name, ((int64_t)1 << access_plan(op, ir_accessed(op), false).vec) * own));
	} else if (p->name != first->name) {
		const Sym *at = sym_mod(sym_atom(ATOM_PHASE, first->name, 0), sym_const(unit));
		ask_too(&r->guard, sym_cmp(SYM_EQ, at, sym_mod(sym_atom(ATOM_PHASE, p->name, 0), sym_const(unit))));
	}
}

/* Rows begin at one phase, which leaves room for them in their tile, or all is aligned, which is phase 0. */
static const Sym *guard_of_shifted(const Shifted *s, const Sym *aligned)
{
	const Fn *fn = s->fn;
	Phases r = { fn, sym_const(1) };
	for (int i = 0; i < s->lengths.n; i++)
		ask_too(&r.guard, sym_cmp(SYM_LE, s->lengths.p[i], sym_const(s->places - rows_shift_unit(fn, 1) + 1)));
	ir_walk(fn->body, ask_phase, &r);
	return sym_logic(SYM_OR, r.guard, aligned);
}

/* ---- pipelines ---- */
enum { MAP_ALIGN = 16, MAP_EXTENT = INT32_MAX - (1 << 13) /* tiles beyond the end have coordinates of 32 bits, too */ };

/* What a kernel asks of a call beyond what the author's asks. */
static void ask_where(const Sym **guard, const Fn *fn, const Fn *of)
{
	for (int i = of->where.n; i < fn->where.n; i++) ask_too(guard, fn->where.p[i].cond);
}

/* Asks for a tensor that the copy engine can read or write: it begins, and each of its rows does,
 * at a multiple of 16 bytes. */
static void ask_map(void *ctx, Op *op)
{
	Aligned *r = ctx;
	if (op->code != OP_TENSOR_MAP) return;
	const Val *view = ir_in(op, 0);
	while (view->def) view = ir_in(view->def, 0);
	const IrParam *p = &r->fn->params.p[view->index];
	int64_t known;
	ask_too(&r->guard, sym_aligned(p->name, MAP_ALIGN));
	for (int a = 0; a < p->rank; a++) {
		bool one = sym_is_const(p->stride[a], &known) && known == 1;
		if (!one) ask_multiple_of(&r->guard, p->stride[a], MAP_ALIGN / elem_bytes(p->elem));
		ask_too(&r->guard, sym_cmp(SYM_LE, p->extent[a], sym_const(MAP_EXTENT)));
	}
}

static const Sym *between(const Sym *s, int64_t least, int64_t below)
{
	const Sym *most = sym_cmp(SYM_LT, s, sym_const(below));
	return least > 0 ? all_of(sym_cmp(SYM_LE, sym_const(least), s), most) : most;
}

static const Sym *guard_of_cut(const Fn *fn)
{
	const Sym *guard = sym_const(1);
	for (int i = 0; i < fn->below.n; i++) ask_too(&guard, between(fn->below.p[i], cut_sure(fn), cut_kept(fn)));
	return guard;
}

/* Rows of all tensors that have a row of their own for each tile block begin at one phase. */
static const Sym *guard_of_peeled(const Peeled *p)
{
	const Fn *fn = p->fn;
	const Sym *guard = between(fn->below.p[0], p->least, p->below), *piece = sym_const(VECTOR_BYTES), *first = NULL;
	for (const Op *op = fn->body->first; op; op = op->next) {
		const Val *v = ir_accessed(op);
		if (!v || !type_is_tile(v->type) || !holds_row(fn, *v->lay) || !peel_begins(fn, op)) continue;
		const Sym *phase = sym_mod(sym_atom(ATOM_PHASE, fn->params.p[ir_in(op, 0)->index].name, 0), piece);
		if (!first) first = phase;
		else if (phase != first) ask_too(&guard, sym_cmp(SYM_EQ, first, phase));
	}
	return guard;
}

static const Sym *is_wide(const Sym *narrow)
{
	if (narrow->kind == SYM_LT) return sym_cmp(SYM_LE, narrow->arg[1], narrow->arg[0]);
	return narrow->kind == SYM_LE ? sym_cmp(SYM_LT, narrow->arg[1], narrow->arg[0]) : sym_logic(SYM_NOT, narrow, NULL);
}

/* ---- the list ---- */
typedef struct List { Module *m; Fn *of; uint32_t arch; int begin; } List;      /* begin: of its versions in m */

/* What serves no call is no version. */
static void add(const List *l, const char *name, const Sym *guard, Fn *fn)
{
	int64_t always;
	if (sym_is_const(guard, &always) && !always) return;
	ir_number(fn);
	vec_push(A_UNIT, &l->m->versions, ((Version){ .of = l->of, .name = str_intern(name), .guard = guard,
		.archs = l->arch, .fn = fn }));
}

static void add_aligned(const List *l, const char *name, const Sym *guard, Fn *fn)
{
	fn->aligned = true;
	add(l, name, guard, fn);
}

/* Rows that are rotated use all warps and lanes. */
static void add_first(const List *l, Fn *fn)
{
	if (rotated_rows(fn)) {
		fn->fewer = fn->short_rows = fn->warp_rows = false;
		fn->row_few = 0;
	}
	add(l, "", sym_const(1), fn);
}

static void add_cut(const List *l, Fn *fn)
{
	add(l, str_fmt("below_%lld", (long long)cut_kept(fn)), guard_of_cut(fn), fn);
}

static void add_cuts(const List *l, const FnVec *v)
{
	for (int i = 0; i < v->n; i++) add_cut(l, v->p[i]);
}

static void add_peeled(const List *l, const PeeledVec *v, bool lead)
{
	for (int i = 0; i < v->n; i++) {
		const Peeled *p = &v->p[i];
		if (peel_leads(p->fn) != lead) continue;
		add(l, str_fmt("peeled_%d%s", p->fn->row_regs, p->is_short ? "_short" : ""), guard_of_peeled(p), p->fn);
	}
}

/* After the last version whose cluster not every device runs, for the calls that it is for. */
static void add_portable(const List *l, Fn *fn)
{
	int at = l->m->versions.n - 1;
	while (at >= l->begin && l->m->versions.p[at].fn->cluster <= 1 << CLUSTER_PORTABLE) at--;
	if (at < l->begin) return;
	const Sym *guard = l->m->versions.p[at].guard;
	add(l, "portable", guard, fn);
	for (int i = l->m->versions.n - 1; i > at + 1; i--) {
		Version v = l->m->versions.p[i];
		l->m->versions.p[i] = l->m->versions.p[i - 1];
		l->m->versions.p[i - 1] = v;
	}
}

/* Where tensors do not suit the copy engine, or accesses by threads are not aligned, other versions run. */
static void add_pipelined(const List *l, const Pipelined *p)
{
	Aligned a = ask_aligned(p->fn);
	if (!a.sure) a.guard = sym_const(1);
	p->fn->aligned = a.sure;
	ir_walk(p->fn->body, ask_map, &a);
	ask_where(&a.guard, p->fn, l->of);
	if (p->guard) ask_too(&a.guard, p->guard);
	add(l, p->name, a.guard, p->fn);
	l->m->versions.p[l->m->versions.n - 1].time = p->time;
}

/* Do pipelines serve what a version for aligned tensors would? */
static bool is_pipelined(const Placements *p) { return p->pipelined.n && !p->pipelined.p[0].guard; }

/* Is there a version for aligned tensors beside others? Where some access is of vectors, and they may be aligned. */
static bool is_worth(const Aligned *a, const Placements *p)
{
	if (is_pipelined(p) || p->first->stream_k) return false;
	int64_t always;
	bool asks = a->sure && !(sym_is_const(a->guard, &always) && always);
	return asks && (p->unaligned || a->widest >= COST_ALIGNED_WORDS || rotated_rows(p->first));
}

/* Does the version for rows much shorter than their tile serve all calls of tensors that are not aligned? Where threads
 * exchange what they load, as in a transposition, its short rows end within a line in one of the tensors: longer ones
 * are for the author's tile, and so are longer ones that are stored where indices say. */
static bool narrow_serves(const Placements *p)
{
	if (p->short_flat || p->puts) return false;
	return p->unaligned && p->narrow && unaligned_serves(p->unaligned, p->narrow) && !unaligned_exchanges(p->narrow);
}

/* Does no call say where anything that is accessed by vectors begins? Slices between places that memory names begin at
 * multiples of a vector by chance alone, so neighbouring lanes access single elements, unless rows are rotated to their
 * phase. */
static bool begins_anywhere(const Aligned *a, const Placements *p)
{
	return !a->sure && !a->some && p->unaligned && !is_pipelined(p) && !rotated_rows(p->first);
}

void versions_add(Module *m, Fn *of, const Placements *p, uint32_t arch)
{
	List l = { m, of, arch, m->versions.n };
	Aligned a = ask_aligned(p->first);
	for (int i = 0; i < p->pipelined.n; i++) add_pipelined(&l, &p->pipelined.p[i]);
	bool worth = is_worth(&a, p);
	/* all calls by elements in the order of memory, where tiles make threads exchange what they load as it lies */
	bool moves = p->narrow && p->flat && !worth && !unaligned_serves(p->first, p->narrow);
	if (p->privatised) {
		worth = false;          /* one version serves all other calls */
		add(&l, "private", p->private_guard, p->privatised);
	}
	bool apart = worth && p->unaligned && p->narrow && !p->short_flat && unaligned_exchanges(p->narrow);
	if (!moves && p->narrow && !narrow_serves(p) && !apart)
		add(&l, "narrow", p->narrow_guard, p->narrow);
	if (moves) {
		add(&l, "", sym_const(1), p->narrow);
	} else if (!worth) {
		add_first(&l, begins_anywhere(&a, p) ? p->unaligned : p->first);
	} else if (narrow_serves(p)) {
		add_aligned(&l, "aligned", all_of(is_wide(p->narrow_guard), a.guard), p->first);
		add(&l, "", sym_const(1), p->narrow);
	} else if (apart) {
		add_aligned(&l, "aligned", all_of(is_wide(p->narrow_guard), a.guard), p->first);
		add(&l, "narrow", p->narrow_apart, p->narrow);
		add(&l, "", sym_const(1), p->unaligned);
	} else if (p->unaligned) {
		add_peeled(&l, &p->peeled, true);
		Shifted shifted = shifted_version(p->first);
		if (shifted.fn) add_aligned(&l, "shifted", guard_of_shifted(&shifted, a.guard), shifted.fn);
		else add_aligned(&l, "aligned", a.guard, p->first);
		add_peeled(&l, &p->peeled, false);
		add_cuts(&l, &p->cuts);
		add(&l, "", sym_const(1), p->unaligned);
	} else {
		add_aligned(&l, "aligned", a.guard, copy_kernel(p->first));
		add_first(&l, p->first);
	}
	if (p->portable) add_portable(&l, p->portable);
	m->versions.n = l.begin + budget_keep(&m->versions.p[l.begin], m->versions.n - l.begin, p->most);
}
