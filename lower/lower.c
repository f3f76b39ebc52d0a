/* The runner of the passes: lower/passes.def in its order. After each pass the module is numbered and verified. */
#include "lower/lower.h"

#include <string.h>

#include "base/diag.h"
#include "lower/space.h"
#include "lower/steps.h"
#include "lower/placed.h"

const PassRow pass_rows[] = {
#define PASS(id, name, form, level, doc) { name, PASS_##form, level, doc },
#include "lower/passes.def"
	{ NULL, PASS_TYPED, 0, NULL }
};

static void (*const run[])(Module *m, const LowerCx *cx) = {
#undef PASS
#define PASS(id, name, form, level, doc) pass_##id,
#include "lower/passes.def"
	NULL
};

/* Test builds verify after every pass, others after the last TYPED one, and then the versions that are kept: the check
 * costs as much as a pass. */
#ifdef CT_ARENA_MALLOC
enum { VERIFY_EACH = 1 };
#else
enum { VERIFY_EACH = 0 };
#endif

static bool last_typed(int i, const LowerCx *cx)
{
	if (pass_rows[i].form != PASS_TYPED) return false;
	for (int k = i + 1; pass_rows[k].name; k++)
		if (pass_rows[k].form == pass_rows[i].form && pass_rows[k].level <= cx->o->level && !(cx->o->without >> k & 1))
			return false;
	return true;
}

static void number_all(Module *m, PassForm form)
{
	for (int k = 0; k < m->fns.n && form != PASS_VERSION; k++) ir_number(m->fns.p[k]);
	for (int k = 0; k < m->versions.n && form == PASS_VERSION; k++) ir_number(m->versions.p[k].fn);
}

/* The passes over the module, or over a part of it: kernels without entries. */
static bool run_passes(Module *m, PassForm form, const LowerCx *cx)
{
	for (int i = 0; pass_rows[i].name; i++) {
		const PassRow *p = &pass_rows[i];
		if (p->form != form || p->level > cx->o->level || cx->o->without >> i & 1) continue;
		int before = diag_errors();
		ArenaMark mark = arena_mark(A_TMP);
		run[i](m, cx);
		arena_release(A_TMP, mark);
		number_all(m, form);
		if (diag_errors() > before) return false;
		if (VERIFY_EACH || last_typed(i, cx)) ir_verify(m, p->name);
		if (cx->o->after && !cx->o->after(cx->o->ctx, p->name, cx->target_arch, m)) return false;
	}
	return true;
}

static bool run_form(Module *m, PassForm form, const LowerCx *cx)
{
	bool ok = true;
	if (cx->o->whole || VERIFY_EACH) return run_passes(m, form, cx);
	for (int i = 0; i < m->fns.n; i++) {
		Module one = { .path = m->path };
		vec_push(A_UNIT, &one.fns, m->fns.p[i]);
		ok = run_passes(&one, form, cx) && ok;
	}
	ir_verify_lists(m, "lowering");
	return ok;
}

/* The module takes what the passes have found. Steps stand before the kernel that they serve, and first of all what
 * clears workspace. */
static bool add_steps(Module *m, const LowerCx *cx)
{
	Module more = { .path = m->path }, all = { .path = m->path };
	Fn *clear = NULL;
	StepsList found = { .n = 0 };
	for (int i = m->steps.n; i < cx->steps->n; i++) ir_add_steps(&found, cx->steps->p[i]);
	for (int i = 0; i < m->fns.n; i++) {
		Steps *s = ir_steps(&found, m->fns.p[i]);
		if (s && s->clears) {
			if (!clear) vec_push(A_UNIT, &more.fns, clear = steps_clear_kernel(m, m->fns.p[i]->span));
			s->clear = clear;
		}
		for (int k = 0; s && k < s->fns.n; k++) {
			s->fns.p[k]->name = kernel_name_apart(m, s->fns.p[k]->name);
			vec_push(A_UNIT, &more.fns, s->fns.p[k]);
			vec_push(A_UNIT, &all.fns, s->fns.p[k]);
		}
		vec_push(A_UNIT, &all.fns, m->fns.p[i]);
	}
	if (!more.fns.n) return true;
	m->steps = *cx->steps;
	m->fns.n = 0;
	if (clear) vec_push(A_UNIT, &m->fns, clear);
	for (int i = 0; i < all.fns.n; i++) vec_push(A_UNIT, &m->fns, all.fns.p[i]);
	ir_verify_lists(m, "lowering");
	return run_form(&more, PASS_TYPED, cx);
}

Module *lower_copy(const Module *m)
{
	Module *copy = copy_module(m);
	for (int i = 0; i < copy->fns.n; i++) ir_number(copy->fns.p[i]);
	return copy;
}

bool lower_typed(Module *m, const LowerOptions *o)
{
	Wholes wholes = { { 0 } };
	StepsList steps = { .n = 0 };
	LowerCx cx = { .o = o, .wholes = &wholes, .steps = &steps };
	for (int i = 0; i < m->steps.n; i++) ir_add_steps(&steps, m->steps.p[i]);
	note_variants(m);
	return run_form(m, PASS_TYPED, &cx) && add_steps(m, &cx);
}

/* ---- versions ---- */
/* A further placement of those kernels that are worth it. */
typedef struct Further {
	const char *name;       /* after that of the kernel, in dumps */
	/* What is placed for a kernel, TYPED, which is placed so already; NULL: nothing. */
	Fn *(*begin)(Fn *fn, Placements *p, const LowerCx *cx);
	void (*end)(Fn *fn, Placements *p, const LowerCx *cx);      /* takes what was placed */
	bool portable, peels;   /* as in LowerCx */
} Further;

/* Kernels of a module, and beside each what it is placed as. */
typedef struct Placing { VEC(Fn *) typed; Placements *of; } Placing;

static bool is_among(const FnVec *v, const Fn *fn)
{
	for (int i = 0; i < v->n; i++)
		if (v->p[i] == fn) return true;
	return false;
}

static bool place_further(Placing *all, Str path, const LowerCx *cx, const Further *f)
{
	LowerCx own = *cx;
	Module *some = ir_module(path);
	VEC(Placements *) of = { 0 };
	FnVec misfits = { 0 };
	own.portable = f->portable;
	own.misfits = f->portable ? NULL : &misfits;
	own.peels = f->peels;
	for (int i = 0; i < all->typed.n; i++) {
		Fn *fn = f->begin(all->typed.p[i], &all->of[i], cx);
		if (!fn) continue;
		fn->name = str_fmt("%s.%s", fn->name, f->name);
		ir_number(fn);
		vec_push(A_UNIT, &some->fns, fn);
		vec_push(A_UNIT, &of, &all->of[i]);
	}
	if (!run_form(some, PASS_PLACED, &own)) return false;
	for (int i = 0; i < some->fns.n; i++) {
		if (!is_among(&misfits, some->fns.p[i])) f->end(some->fns.p[i], of.p[i], cx);
		of.p[i]->first->by_arch |= some->fns.p[i]->by_arch;
	}
	return true;
}

/* Kernels of rows for accesses of single elements (unaligned.c). */
static Fn *begin_odd(Fn *fn, Placements *p, const LowerCx *cx)
{
	(void)cx;
	if (!unaligned_wanted(fn, p->first)) return NULL;
	Fn *copy = copy_kernel(fn);
	copy->by_element = true;
	cut_plan(copy, false);
	by_warp_plan(copy);
	dense_plan(copy);
	return copy;
}

static void end_odd(Fn *fn, Placements *p, const LowerCx *cx)
{
	(void)cx;
	if (!unaligned_pays(fn, p->first)) return;
	cut_place(fn, p->most > VERSIONS_ROWS ? &p->cuts : NULL);
	by_warp_place(fn);
	dense_place(fn);
	for (int i = 0; i < p->cuts.n; i++) dense_place(p->cuts.p[i]);
	p->unaligned = fn;
}

/* Kernels of rows for which cut.c has proved that pads do not matter, for vectors of rows
 * that begin anywhere (peel.c). */
static Fn *begin_peel(Fn *fn, Placements *p, const LowerCx *cx)
{
	(void)cx;
	if (!p->unaligned || p->most <= VERSIONS_ROWS || !peel_wanted(p->unaligned)) return NULL;
	return copy_kernel(fn);
}

static void peel(Fn *fn, Placements *p, const LowerCx *cx, PeeledVec *to)
{
	/* room asks for the architecture, too */
	peel_place(fn, p->unaligned, fn->cluster ? shared_room(cx, fn) : 0, to);
}

static void end_peel(Fn *fn, Placements *p, const LowerCx *cx)
{
	peel(fn, p, cx, &p->peeled);
}

/* Maps of elements in the order of memory (flat.c), unless rows go through shared memory side by side; or with tiles
 * for rows much shorter than the author's (narrow.c), by single elements where these serve such rows. */
static Fn *begin_narrow(Fn *fn, Placements *p, const LowerCx *cx)
{
	bool vectors = false, dense = p->unaligned && rows_are_dense(p->unaligned);
	Fn *narrow = dense ? NULL : flat_version(fn, cx, false, &p->narrow_guard, &vectors);
	p->flat = narrow != NULL;
	if (!narrow) narrow = narrow_version(fn, cx, &p->narrow_guard, &p->narrow_apart);
	if (!narrow && !dense) {
		narrow = flat_version(fn, cx, true, &p->narrow_guard, &vectors);
		p->short_flat = narrow != NULL;
	}
	if (narrow) narrow->by_element = p->unaligned != NULL && !((p->flat || p->short_flat) && vectors);
	return narrow;
}

/* One where threads exchange what they load, as in a transposition, or for short rows alone, is a version more
 * (versions.c). */
static void end_narrow(Fn *fn, Placements *p, const LowerCx *cx)
{
	if (!p->unaligned || unaligned_serves(fn, p->unaligned)) p->narrow = fn;
	else p->flat = p->short_flat = false;
	p->puts = p->narrow && !p->flat && !p->short_flat && narrow_puts(fn, p->first);
	bool more = p->unaligned && (p->puts || p->short_flat || (!p->flat && unaligned_exchanges(p->unaligned)));
	if (p->narrow && more && !cx->o->versions) p->most++;
}

/* Kernels of updates, for those that go to few places. */
static Fn *begin_private(Fn *fn, Placements *p, const LowerCx *cx)
{
	return p->pipelined.n ? NULL : private_version(fn, cx, &p->private_guard);
}

static void end_private(Fn *fn, Placements *p, const LowerCx *cx)
{
	(void)cx;
	fn->by_arch = true;     /* as many thread blocks as its device runs at once */
	p->privatised = fn;
}

/* Kernels whose version for all calls is spread over clusters of more thread blocks than every device runs. */
static bool is_wide(const Fn *fn) { return fn && fn->cluster > 1 << CLUSTER_PORTABLE; }

static Fn *begin_portable(Fn *fn, Placements *p, const LowerCx *cx)
{
	(void)cx;
	return is_wide(p->unaligned ? p->unaligned : p->first) ? copy_kernel(fn) : NULL;
}

static void end_portable(Fn *fn, Placements *p, const LowerCx *cx)
{
	(void)cx;
	p->portable = fn;
}

/* Each may ask what those above it gave. */
static const Further furthers[] = {
	{ .name = "by_element", .begin = begin_odd, .end = end_odd },
	{ .name = "peeled", .begin = begin_peel, .end = end_peel, .peels = true },
	{ .name = "narrow", .begin = begin_narrow, .end = end_narrow },
	{ .name = "private", .begin = begin_private, .end = end_private },
};
static const Further portable = { .name = "portable", .begin = begin_portable, .end = end_portable, .portable = true };

/* The first placement of kernels, and those that it makes worth while. */
static bool place_kernels(Placing *all, Module *from, const LowerCx *cx)
{
	Module *copy = copy_module(from);
	bool optimize = cx->o->level > 0;
	for (int i = 0; optimize && i < copy->fns.n; i++) by_warp_plan(copy->fns.p[i]);
	if (!run_form(copy, PASS_PLACED, cx)) return false;
	for (int i = 0; optimize && i < copy->fns.n; i++) by_warp_place(copy->fns.p[i]);
	all->of = NEW_ARRAY(A_UNIT, Placements, from->fns.n);
	for (int i = 0; i < from->fns.n; i++) {
		vec_push(A_UNIT, &all->typed, from->fns.p[i]);
		all->of[i].first = copy->fns.p[i];
		if (from->fns.p[i]->plan) plans_check(from->fns.p[i], copy->fns.p[i], cx->target_arch);
		all->of[i].most = budget_of(from->fns.p[i], cx->o->versions);
		if (optimize) pipe_place(from->fns.p[i], cx, &all->of[i].pipelined);
		if (optimize && !all->of[i].pipelined.n) chain_place(from->fns.p[i], cx, &all->of[i].pipelined);
	}
	for (size_t i = 0; optimize && i < sizeof furthers / sizeof *furthers; i++)
		if (!place_further(all, from->path, cx, &furthers[i])) return false;
	return place_further(all, from->path, cx, &portable);
}

/* Versions of one kernel for all architectures so far. */
typedef struct Kept { VEC(Version) v; bool by_arch; } Kept;

/* What has other threads or another number of values is distinguished before any code is printed. */
static bool same_text(const Fn *a, Fn *b)
{
	if (a->nval != b->nval || a->warps != b->warps || a->cluster != b->cluster) return false;
	Out *x = out_new(), *y = out_new();
	int arch = b->arch;
	b->arch = a->arch;
	ir_print_fn(x, a);
	ir_print_fn(y, b);
	b->arch = arch;
	bool same = x->n == y->n && !memcmp(x->p, y->p, x->n);
	out_free(x);
	out_free(y);
	return same;
}

static bool same_calls(const Version *a, const Version *b)
{
	return a->name == b->name && a->guard == b->guard && a->time == b->time;
}

/* Among those from `at` on the one that does what v does; -1: none. */
static int find_same(const Kept *k, int at, const Version *v)
{
	for (; at < k->v.n; at++)
		if (same_calls(&k->v.p[at], v) && same_text(k->v.p[at].fn, v->fn)) return at;
	return -1;
}

/* In the order of its architecture: a version that is there for an older one, with the same operations in the same
 * places, serves this one too. */
static void keep_version(Kept *k, int *at, const Version *v)
{
	int same = find_same(k, *at, v);
	if (same >= 0) {
		k->v.p[same].archs |= v->archs;
		*at = same + 1;
		return;
	}
	vec_push(A_UNIT, &k->v, *v);
	for (int i = k->v.n - 1; i > *at; i--) k->v.p[i] = k->v.p[i - 1];
	k->v.p[(*at)++] = *v;
}

static void keep_versions(Kept *k, Module *m, Fn *of, const Placements *p, uint32_t arch)
{
	int from = m->versions.n, at = 0;
	versions_add(m, of, p, arch);
	for (int i = from; i < m->versions.n; i++) keep_version(k, &at, &m->versions.p[i]);
	m->versions.n = from;
	k->by_arch = p->first->by_arch;
}

/* A module of some kernels has the steps of these alone. */
static void give_steps(Module *to, const Module *from, const Fn *fn)
{
	Steps *s = ir_steps(&from->steps, fn);
	if (s) ir_add_steps(&to->steps, s);
}

/* Another architecture shares what did not ask for one, unless somebody looks at each. */
static bool place_for(Module *m, Kept *kept, int arch, const LowerOptions *o)
{
	Wholes wholes = { { 0 } };
	LowerCx cx = { .o = o, .target_arch = m->archs.p[arch].number, .target_only = m->archs.p[arch].specific,
		.wholes = &wholes, .steps = &m->steps };
	Module *from = ir_module(m->path);
	Placing all = { .of = NULL };
	VEC(Kept *) of = { 0 };
	for (int i = 0; i < m->fns.n; i++) {
		if (!arch || o->whole || kept[i].by_arch) {
			give_steps(from, m, m->fns.p[i]);
			vec_push(A_UNIT, &from->fns, m->fns.p[i]);
			vec_push(A_UNIT, &of, &kept[i]);
			continue;
		}
		for (int k = 0; k < kept[i].v.n; k++) kept[i].v.p[k].archs |= (uint32_t)1 << arch;
	}
	if (!place_kernels(&all, from, &cx)) return false;
	for (int i = 0; i < from->fns.n; i++) keep_versions(of.p[i], m, from->fns.p[i], &all.of[i], (uint32_t)1 << arch);
	return true;
}

/* The versions of some kernels of m; their verifier sees no entries. */
static bool place_some(Module *m, Fn **fns, int n, const LowerOptions *o)
{
	Module some = { .path = m->path, .archs = m->archs };
	Kept *kept = NEW_ARRAY(A_UNIT, Kept, n);
	ArenaMark mark = arena_mark(A_TMP);     /* plans and placements leave what they counted */
	for (int i = 0; i < n; i++) {
		give_steps(&some, m, fns[i]);
		vec_push(A_UNIT, &some.fns, fns[i]);
	}
	for (int i = 0; i < m->archs.n; i++)
		if (!place_for(&some, kept, i, o)) return false;
	arena_release(A_TMP, mark);
	some.versions.n = 0;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < kept[i].v.n; k++) vec_push(A_UNIT, &some.versions, kept[i].v.p[k]);
	if (!o->whole && !lower_finish(&some, o)) return false;
	for (int i = 0; i < some.versions.n; i++) vec_push(A_UNIT, &m->versions, some.versions.p[i]);
	return !o->whole || lower_finish(m, o);
}

bool lower_finish(Module *m, const LowerOptions *o)
{
	LowerCx cx = { .o = o };
	if (!run_passes(m, PASS_VERSION, &cx)) return false;
	ir_verify_versions(m, "lowering");
	return true;
}

bool lower_place(Module *m, const LowerOptions *o)
{
	if (o->whole) return place_some(m, m->fns.p, m->fns.n, o);
	for (int i = 0; i < m->fns.n; i++)
		if (!place_some(m, &m->fns.p[i], 1, o)) return false;
	return true;
}

/* what lower_place_next has made, and the first of its versions */
static struct { Arena *arena; ArenaMark begin; int first; } placed;

bool lower_place_next(Module *m, int i, const LowerOptions *o)
{
	if (!placed.arena) {
		placed.arena = arena_new();
		placed.begin = arena_mark(placed.arena);
	}
	arena_release(placed.arena, placed.begin);
	for (int k = placed.first; k < m->versions.n; k++) m->versions.p[k].fn->body = NULL;
	placed.first = m->versions.n;
	ir_set_home(placed.arena);
	return place_some(m, &m->fns.p[i], 1, o);
}
