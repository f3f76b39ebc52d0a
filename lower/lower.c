/* The runner of the passes: lower/passes.def in its order. After each pass the module is numbered and verified. */
#include "lower/lower.h"

#include "base/diag.h"
#include "lower/parts.h"
#include "lower/placed.h"

const PassRow pass_rows[] = {
#define TYPED STAGE_TYPED
#define PLACED STAGE_PLACED
#define PASS(id, name, form, level, doc) { name, form, level, doc },
#include "lower/passes.def"
	{ NULL, STAGE_TYPED, 0, NULL }
};

static void (*const run[])(Module *m, const LowerCx *cx) = {
#undef PASS
#define PASS(id, name, form, level, doc) pass_##id,
#include "lower/passes.def"
	NULL
};

/* Test builds verify after every pass, others after the last of each form: the check costs as much as a pass. */
#ifdef CT_ARENA_MALLOC
enum { VERIFY_EACH = 1 };
#else
enum { VERIFY_EACH = 0 };
#endif

static bool last_of_form(int i, const LowerCx *cx)
{
	for (int k = i + 1; pass_rows[k].name; k++)
		if (pass_rows[k].form == pass_rows[i].form && pass_rows[k].level <= cx->o->level) return false;
	return true;
}

/* The passes over the module, or over a part of it: kernels without entries. */
static bool run_passes(Module *m, IrStage form, const LowerCx *cx)
{
	for (int i = 0; pass_rows[i].name; i++) {
		const PassRow *p = &pass_rows[i];
		if (p->form != form || p->level > cx->o->level) continue;
		int before = diag_errors();
		unsigned long edits = ir_edits();
		ArenaMark mark = arena_mark(A_TMP);
		run[i](m, cx);
		arena_release(A_TMP, mark);
		for (int k = 0; k < m->fns.n && (VERIFY_EACH || ir_edits() != edits); k++) ir_number(m->fns.p[k]);
		if (diag_errors() > before) return false;
		if (VERIFY_EACH || last_of_form(i, cx)) ir_verify(m, p->name);
		if (cx->o->after && !cx->o->after(cx->o->ctx, p->name, cx->target_arch, m)) return false;
	}
	return true;
}

static bool run_form(Module *m, IrStage form, const LowerCx *cx)
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

/* Kernels by parts of rows stand in front of those that they serve (pass parts), and first of all the one that clears their workspace. */
static bool add_parts(Module *m, const LowerCx *cx)
{
	Module more = { .path = m->path }, all = { .path = m->path };
	Fn *clear = NULL;
	for (int i = 0; i < m->fns.n; i++) {
		Fn *fn = m->fns.p[i];
		if (!fn->parts || fn->parts_clear) continue;    /* that was read with its kernel by parts */
		if (!clear) clear = parts_clear_kernel(m, fn->span);
		fn->parts_clear = clear;
		vec_push(A_UNIT, &more.fns, fn->parts);
	}
	if (!clear) return true;
	vec_push(A_UNIT, &more.fns, clear);
	vec_push(A_UNIT, &all.fns, clear);
	for (int i = 0; i < m->fns.n; i++) {
		if (m->fns.p[i]->parts_clear == clear) vec_push(A_UNIT, &all.fns, m->fns.p[i]->parts);
		vec_push(A_UNIT, &all.fns, m->fns.p[i]);
	}
	m->fns.p = all.fns.p;
	m->fns.n = all.fns.n;
	m->fns.cap = all.fns.cap;
	return run_form(&more, STAGE_TYPED, cx);
}

Module *lower_copy(const Module *m)
{
	Module *copy = copy_module(m);
	for (int i = 0; i < copy->fns.n; i++) ir_number(copy->fns.p[i]);
	return copy;
}

bool lower_typed(Module *m, const LowerOptions *o)
{
	LowerCx cx = { o, 0, false, false };
	return run_form(m, STAGE_TYPED, &cx) && add_parts(m, &cx);
}

int lower_arch(const LowerCx *cx, Fn *fn)
{
	fn->by_arch = true;
	return cx->target_arch;
}

int64_t shared_room(const LowerCx *cx, Fn *fn)
{
	int arch = lower_arch(cx, fn);
	bool large = cx->target_only && (arch == 90 || arch == 100);    /* other entries serve architectures with less, too */
	return large ? SHARED_LARGE : SHARED_LIMIT;
}

/* The kernels of m that cannot be shared with `like`. */
static Module *kernels_apart(const Module *m, const Module *like)
{
	Module *r = ir_module(m->path);
	for (int i = 0; i < m->fns.n; i++)
		if (like->fns.p[i]->by_arch) vec_push(A_UNIT, &r->fns, m->fns.p[i]);
	return r;
}

/* The kernels of `like`, those of `apart` in place of the ones that cannot be shared. */
static Module *joined(const Module *like, const Module *apart)
{
	Module *r = ir_module(like->path);
	int next = 0;
	for (int i = 0; i < like->fns.n; i++) {
		Fn *fn = like->fns.p[i];
		vec_push(A_UNIT, &r->fns, fn->by_arch ? apart->fns.p[next++] : fn);
	}
	return r;
}

/* A further placement of those kernels that are worth it. */
typedef struct Further {
	Fn *(*begin)(Fn *fn, Fn *first);        /* what is placed for a kernel, TYPED, whose first placement is this; NULL: nothing */
	void (*prepare)(Module *some, const LowerCx *cx);       /* the TYPED passes that it then needs; may be NULL */
	void (*end)(Fn *fn, Fn *first, const LowerCx *cx);      /* gives what was placed to the first placement */
	bool portable;          /* in clusters that every device runs */
} Further;

/* Nobody watches its passes: what they print would be printed twice. */
static bool place_further(const Module *m, Module *placed, const LowerCx *cx, const Further *f)
{
	LowerOptions o = *cx->o;
	LowerCx own = *cx;
	Module *some = ir_module(m->path);
	VEC(Fn *) firsts = { 0 };
	o.after = NULL;
	own.o = &o;
	own.portable = f->portable;
	for (int i = 0; i < m->fns.n; i++) {
		Fn *fn = f->begin(m->fns.p[i], placed->fns.p[i]);
		if (!fn) continue;
		ir_number(fn);
		vec_push(A_UNIT, &some->fns, fn);
		vec_push(A_UNIT, &firsts, placed->fns.p[i]);
	}
	if (f->prepare) f->prepare(some, &own);
	if (!run_form(some, STAGE_PLACED, &own)) return false;
	for (int i = 0; i < some->fns.n; i++) f->end(some->fns.p[i], firsts.p[i], cx);
	return true;
}

/* Kernels of rows for accesses of single elements (odd.c): Fn.odd. */
static Fn *begin_odd(Fn *fn, Fn *first)
{
	if (!odd_wanted(fn, first)) return NULL;
	Fn *copy = copy_kernel(fn);
	copy->by_element = true;
	cut_plan(copy);
	dense_plan(copy);
	return copy;
}

static void end_odd(Fn *fn, Fn *first, const LowerCx *cx)
{
	(void)cx;
	if (!odd_serves(fn, first)) return;
	cut_place(fn);
	follow_undo(fn);        /* serves few rows, too */
	for (Fn *one = fn; one; one = one->cut) dense_place(one);
	first->odd = fn;
	first->by_arch |= fn->by_arch;
}

/* Kernels of rows for which cut.c has proved that pads do not matter, for pieces of rows that begin anywhere (peel.c): Fn.peel. */
static Fn *begin_peel(Fn *fn, Fn *first)
{
	if (!first->odd || !peel_wanted(first->odd)) return NULL;
	Fn *copy = copy_kernel(fn);
	copy->peels = true;
	return copy;
}

static Fn *peeled(Fn *fn, Fn *first, const LowerCx *cx)
{
	Fn *r = peel_place(fn, first->odd, fn->cluster ? shared_room(cx, fn) : 0);
	first->by_arch |= fn->by_arch;          /* room asks, too */
	return r;
}

static void end_peel(Fn *fn, Fn *first, const LowerCx *cx)
{
	first->peel = peeled(fn, first, cx);
	for (Fn *one = first->odd; one; one = one->cut) one->rest = first->peel != NULL;
}

/* Kernels of rows that are not peeled, with half their tile, for accesses of single elements: Fn.half of Fn.odd. */
static Fn *begin_half(Fn *fn, Fn *first)
{
	if (!half_wanted(fn, first)) return NULL;
	Fn *copy = copy_kernel(fn);
	half_rows(copy);
	copy->by_element = true;
	cut_plan(copy);
	return copy;
}

static void end_half(Fn *fn, Fn *first, const LowerCx *cx)
{
	(void)cx;
	first->by_arch |= fn->by_arch;
	if (has_loop(fn)) return;
	cut_place(fn);
	follow_undo(fn);        /* serves few rows, too */
	first->odd->half = fn;
}

/* The same for two tile blocks at once: Fn.twin. */
static Fn *begin_twin(Fn *fn, Fn *first)
{
	if (!first->peel || !pair_wanted(first)) return NULL;
	Fn *copy = begin_peel(fn, first);
	return copy && twin_blocks(copy) ? copy : NULL;
}

static void end_twin(Fn *fn, Fn *first, const LowerCx *cx)
{
	first->twin = peeled(fn, first, cx);
	for (Fn *one = first->peel; one; one = one->cut) one->twin = first->twin;
}

/* For two tile blocks at once: Fn.paired. */
static Fn *begin_paired(Fn *fn, Fn *first)
{
	Fn *copy = pair_wanted(first) ? copy_kernel(fn) : NULL;
	return copy && pair_blocks(copy) ? copy : NULL;
}

static void end_paired(Fn *fn, Fn *first, const LowerCx *cx)
{
	(void)cx;
	first->paired = fn;
}

/* For rows as long as their tile: Fn.whole. */
static Fn *begin_whole(Fn *fn, Fn *first)
{
	if (!whole_wanted(first)) return NULL;
	Fn *copy = copy_kernel(fn);
	whole_rows(copy, first);
	return copy;
}

static void prepare_whole(Module *some, const LowerCx *cx)
{
	pass_simplify(some, cx);
	for (int i = 0; i < some->fns.n; i++) ir_number(some->fns.p[i]);
	pass_bounds(some, cx);
}

static void end_whole(Fn *fn, Fn *first, const LowerCx *cx)
{
	(void)cx;
	first->whole = fn;
}

/* Kernels that a placement spreads over clusters of more thread blocks than every device runs: Fn.portable. */
static bool is_wide(const Fn *fn) { return fn && fn->cluster > 1 << CLUSTER_PORTABLE; }

static Fn *begin_portable(Fn *fn, Fn *first)
{
	bool wide = is_wide(first) || is_wide(first->odd) || is_wide(first->peel) || (first->odd && is_wide(first->odd->half));
	return wide ? copy_kernel(fn) : NULL;
}

static void end_portable(Fn *fn, Fn *first, const LowerCx *cx)
{
	(void)cx;
	first->portable = fn;
}

/* Each may ask what those above it gave. */
static const Further furthers[] = {
	{ begin_odd, NULL, end_odd, false },
	{ begin_peel, NULL, end_peel, false },
	{ begin_half, NULL, end_half, false },
	{ begin_twin, NULL, end_twin, false },
	{ begin_paired, pass_bounds, end_paired, false },
	{ begin_whole, prepare_whole, end_whole, false },
};
static const Further portable = { begin_portable, NULL, end_portable, true };

Module *lower_place(const Module *m, int arch, bool only, const Module *like, const LowerOptions *o)
{
	LowerCx cx = { o, arch, only, false };
	const Module *from = like ? kernels_apart(m, like) : m;
	Module *copy = copy_module(from);
	if (!run_form(copy, STAGE_PLACED, &cx)) return NULL;
	for (size_t i = 0; o->level > 0 && i < sizeof furthers / sizeof *furthers; i++)
		if (!place_further(from, copy, &cx, &furthers[i])) return NULL;
	if (!place_further(from, copy, &cx, &portable)) return NULL;
	return like ? joined(like, copy) : copy;
}
