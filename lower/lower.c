/* The runner of the passes: lower/passes.def in its order. After each pass the module is numbered and verified. */
#include "lower/lower.h"

#include "base/diag.h"
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
		ArenaMark mark = arena_mark(A_TMP);
		run[i](m, cx);
		arena_release(A_TMP, mark);
		for (int k = 0; k < m->fns.n; k++) ir_number(m->fns.p[k]);
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

bool lower_typed(Module *m, const LowerOptions *o)
{
	LowerCx cx = { o, 0, false, false };
	return run_form(m, STAGE_TYPED, &cx);
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

/* A further placement of some kernels. Nobody watches its passes: what they print would be printed twice. */
typedef struct Further {
	LowerOptions o;
	LowerCx cx;             /* with these options: stays where it is */
	Module *some;           /* kernels, TYPED, */
	VEC(Fn *) firsts;       /* and their first placements */
} Further;

static void begin_further(Further *f, const Module *m, const LowerCx *cx)
{
	*f = (Further){ .o = *cx->o, .cx = *cx, .some = ir_module(m->path) };
	f->o.after = NULL;
	f->cx.o = &f->o;
}

/* The kernels of rows among those of m, TYPED, placed for accesses of single elements (odd.c): what goes to Fn.odd of the same
 * kernels in `placed`. */
static bool place_odd(const Module *m, Module *placed, const LowerCx *cx)
{
	Further f;
	begin_further(&f, m, cx);
	for (int i = 0; i < m->fns.n; i++) {
		if (!odd_wanted(m->fns.p[i], placed->fns.p[i])) continue;
		vec_push(A_UNIT, &f.some->fns, m->fns.p[i]);
		vec_push(A_UNIT, &f.firsts, placed->fns.p[i]);
	}
	Module *copy = copy_module(f.some);
	for (int i = 0; i < copy->fns.n; i++) {
		copy->fns.p[i]->by_element = true;
		cut_plan(copy->fns.p[i]);
		dense_plan(copy->fns.p[i]);
	}
	if (!run_form(copy, STAGE_PLACED, &f.cx)) return false;
	for (int i = 0; i < copy->fns.n; i++) {
		if (!odd_serves(copy->fns.p[i], f.firsts.p[i])) continue;
		cut_place(copy->fns.p[i]);
		follow_undo(copy->fns.p[i]);    /* serves few rows, too */
		for (Fn *fn = copy->fns.p[i]; fn; fn = fn->cut) dense_place(fn);
		f.firsts.p[i]->odd = copy->fns.p[i];
		f.firsts.p[i]->by_arch |= copy->fns.p[i]->by_arch;
	}
	return true;
}

/* Once more for two tile blocks at once: Fn.paired. */
static bool place_paired(const Module *m, Module *placed, const LowerCx *cx)
{
	Further f;
	begin_further(&f, m, cx);
	for (int i = 0; i < m->fns.n; i++) {
		Fn *fn = placed->fns.p[i];
		if (!pair_wanted(fn)) continue;
		Fn *copy = copy_kernel(m->fns.p[i]);
		if (!pair_blocks(copy)) continue;
		ir_number(copy);
		vec_push(A_UNIT, &f.some->fns, copy);
		vec_push(A_UNIT, &f.firsts, fn);
	}
	pass_bounds(f.some, cx);
	if (!run_form(f.some, STAGE_PLACED, &f.cx)) return false;
	for (int i = 0; i < f.some->fns.n; i++) f.firsts.p[i]->paired = f.some->fns.p[i];
	return true;
}

/* Once more for rows as long as their tile: Fn.whole. */
static bool place_whole(const Module *m, Module *placed, const LowerCx *cx)
{
	Further f;
	begin_further(&f, m, cx);
	for (int i = 0; i < m->fns.n; i++) {
		Fn *fn = placed->fns.p[i];
		if (!whole_wanted(fn)) continue;
		Fn *copy = copy_kernel(m->fns.p[i]);
		whole_rows(copy, fn);
		ir_number(copy);
		vec_push(A_UNIT, &f.some->fns, copy);
		vec_push(A_UNIT, &f.firsts, fn);
	}
	pass_simplify(f.some, cx);
	for (int i = 0; i < f.some->fns.n; i++) ir_number(f.some->fns.p[i]);
	pass_bounds(f.some, cx);
	if (!run_form(f.some, STAGE_PLACED, &f.cx)) return false;
	for (int i = 0; i < f.some->fns.n; i++) f.firsts.p[i]->whole = f.some->fns.p[i];
	return true;
}

/* The kernels of rows among those of m for which cut.c has proved that pads do not matter, placed for pieces of rows that begin anywhere
 * (peel.c): Fn.peel of the same kernels in `placed`; two: those for two tile blocks at once, Fn.twin. */
static bool place_peeled(const Module *m, Module *placed, const LowerCx *cx, bool two)
{
	Further f;
	begin_further(&f, m, cx);
	for (int i = 0; i < m->fns.n; i++) {
		Fn *fn = placed->fns.p[i];
		if (!fn->odd || !peel_wanted(fn->odd) || (two && (!fn->peel || !pair_wanted(fn)))) continue;
		Fn *copy = copy_kernel(m->fns.p[i]);
		if (two && !twin_blocks(copy)) continue;
		copy->peels = true;
		ir_number(copy);
		vec_push(A_UNIT, &f.some->fns, copy);
		vec_push(A_UNIT, &f.firsts, fn);
	}
	if (!run_form(f.some, STAGE_PLACED, &f.cx)) return false;
	for (int i = 0; i < f.some->fns.n; i++) {
		Fn *fn = f.some->fns.p[i], *first = f.firsts.p[i];
		*(two ? &first->twin : &first->peel) = peel_place(fn, first->odd, fn->cluster ? shared_room(cx, fn) : 0);
		first->by_arch |= fn->by_arch;
		for (Fn *one = two ? first->peel : NULL; one; one = one->cut) one->twin = first->twin;
		for (Fn *one = first->odd; one; one = one->cut) one->rest = first->peel != NULL;
	}
	return true;
}

/* The kernels among those of m that `placed` spreads over clusters of more thread blocks than is portable, once more: Fn.portable. */
static bool place_portable(const Module *m, Module *placed, const LowerCx *cx)
{
	Further f;
	begin_further(&f, m, cx);
	f.cx.portable = true;
	for (int i = 0; i < m->fns.n; i++) {
		Fn *fn = placed->fns.p[i];
		bool wide = fn->cluster > 1 << CLUSTER_PORTABLE || (fn->odd && fn->odd->cluster > 1 << CLUSTER_PORTABLE);
		if (!wide && !(fn->peel && fn->peel->cluster > 1 << CLUSTER_PORTABLE)) continue;
		vec_push(A_UNIT, &f.some->fns, m->fns.p[i]);
		vec_push(A_UNIT, &f.firsts, fn);
	}
	Module *copy = copy_module(f.some);
	if (!run_form(copy, STAGE_PLACED, &f.cx)) return false;
	for (int i = 0; i < copy->fns.n; i++) f.firsts.p[i]->portable = copy->fns.p[i];
	return true;
}

Module *lower_place(const Module *m, int arch, bool only, const Module *like, const LowerOptions *o)
{
	LowerCx cx = { o, arch, only, false };
	const Module *from = like ? kernels_apart(m, like) : m;
	Module *copy = copy_module(from);
	if (!run_form(copy, STAGE_PLACED, &cx)) return NULL;
	if (o->level > 0 && (!place_odd(from, copy, &cx) || !place_peeled(from, copy, &cx, false) || !place_peeled(from, copy, &cx, true)))
		return NULL;
	if (o->level > 0 && (!place_paired(from, copy, &cx) || !place_whole(from, copy, &cx))) return NULL;
	for (int i = 0; o->level > 0 && i < from->fns.n; i++)
		if (copy->fns.p[i]->odd) planes_place(copy_kernel(from->fns.p[i]), copy->fns.p[i]);
	if (!place_portable(from, copy, &cx)) return NULL;
	return like ? joined(like, copy) : copy;
}
