/* Which texts a kernel has, and what the launcher must ask before it takes one; texts.h has the picture. */
#include "emit_cuda/texts.h"

#include "emit/names.h"
#include "emit_cuda/peel.h"
#include "lower/access.h"

enum { ALIGNED_WORDS = 16 };    /* registers of a tile from which two texts are worth nvcc's time, also where no row is turned */

static int bound_of_any(const Fn *fn, bool specific)
{
	if (fn->peel_line) return bound_of_peeled(fn, specific);
	int wide = bound_of_wide(fn);
	if (follow_distance(fn)) return bound_of_follow(fn);
	return wide ? wide : bound_of_products(fn) || bound_of_few(fn, specific);
}

static void put_body(CuTexts *b, TextKind t, const Fn *fn, Cu *g)
{
	CuText *to = &b->of[t];
	to->fn = fn;
	to->roles = g->roles;
	to->o = out_new();
	to->line = lines_set(to->o, g->o->p, g->prologue, g->opt);
	out_free(g->o);
	for (int specific = 0; specific < 2; specific++)
		to->blocks[specific] = fn->apart || (fn->peel_line && fn->twin) ? bound_of_twin(fn, specific)
			: g->aligned && !bound_of_wide(fn) && !follow_distance(fn) ? bound_blocks(g, specific) : bound_of_any(fn, specific);
}

static void add_body(CuTexts *b, CuKernel *k, TextKind t, const Fn *fn, const EmitOptions *opt)
{
	Cu g = text_body(k, fn, opt, text_is_for_aligned(t));
	put_body(b, t, fn, &g);
}

static void add_text(Conditions *v, Str s)
{
	for (int i = 0; i < v->n; i++)
		if (v->p[i] == s) return;
	vec_push(A_UNIT, v, s);
}

static void add_cut(CuTexts *b, CuKernel *k, TextKind t, const Fn *fn, const EmitOptions *opt)
{
	Cu g = { .launch = &k->launch };
	add_body(b, k, t, fn, opt);
	if (!k->kept[t] || cut_kept(fn) < k->kept[t]) k->kept[t] = cut_kept(fn);        /* of all architectures */
	if (cut_sure(fn) > k->sure[t]) k->sure[t] = cut_sure(fn);
	for (int i = 0; i < fn->below.n; i++) add_text(&k->lengths, cu_launch(&g, fn->below.p[i]));
}

/* t: the text behind them */
static void add_cuts(CuTexts *b, CuKernel *k, const Fn *odd, int t, const EmitOptions *opt)
{
	for (const Fn *fn = odd->cut; fn; fn = fn->cut) add_cut(b, k, --t, fn, opt);
}

static void add_phase(void *phases, Str s) { add_text(phases, s); }

/* t: the text behind them */
static void add_peeled(CuTexts *b, CuKernel *k, const Fn *first, int t, const EmitOptions *opt)
{
	Cu g = { .launch = &k->launch };
	for (const Fn *fn = first; fn; fn = fn->cut) {
		add_body(b, k, --t, fn, opt);
		if (!k->kept[t] || peel_below(fn) < k->kept[t]) k->kept[t] = peel_below(fn);    /* of all architectures */
		if (fn->peel_least > k->sure[t]) k->sure[t] = fn->peel_least;
	}
	if (!first) return;
	peel_ask(first, add_phase, &k->phases);
	add_text(&k->lengths, cu_launch(&g, first->below.p[0]));
}

static void ask_all(CuKernel *k, const Cu *g)
{
	for (int i = 0; i < g->needs.n; i++) add_text(&k->needs, g->needs.p[i]);
}

/* What the launcher is asked for must be known before a text relies on it. */
static bool ask_further(CuKernel *k, const Fn *fn, const EmitOptions *opt)
{
	if (!fn) return false;
	Cu g = text_body(k, fn, opt, false);
	if (!g.undecided) ask_all(k, &g);
	out_free(g.o);
	return !g.undecided;
}

/* Behind the text for aligned tensors: the same is asked, and the length. */
static void add_whole(CuTexts *b, CuKernel *k, const Fn *fn, const EmitOptions *opt)
{
	if (!ask_further(k, fn->whole, opt)) return;
	Cu g = { .launch = &k->launch };
	add_body(b, k, TEXT_WHOLE, fn->whole, opt);
	k->whole = str_fmt("%s == %lld", cu_launch(&g, fn->odd->below.p[0]), 1ll << fn->odd->row_log2);
}

/* The text for aligned tensors of a kernel whose other texts are of another placement: what the launcher is asked shows while it is
 * printed. It is printed again if it relied on that before all was asked. */
static bool add_aligned(CuTexts *b, CuKernel *k, const Fn *fn, const EmitOptions *opt)
{
	Cu g = text_body(k, fn, opt, true);
	bool serves = !g.undecided && g.needs.n, again = serves && g.relied && g.needs.n >= g.relied;
	if (serves) ask_all(k, &g);
	if (!serves || again) out_free(g.o);
	if (again) g = text_body(k, fn, opt, true);
	if (serves) put_body(b, TEXT_ALIGNED, fn, &g);
	return serves;
}

static void add_odd(CuTexts *b, CuKernel *k, const Fn *fn, const EmitOptions *opt)
{
	add_body(b, k, TEXT_ANY, fn->odd, opt);
	add_cuts(b, k, fn->odd, TEXT_HALF, opt);
	if (fn->odd->half) {
		add_cut(b, k, TEXT_HALF, fn->odd->half, opt);
		add_cuts(b, k, fn->odd->half, TEXT_PEELED, opt);
	}
	add_peeled(b, k, fn->peel, TEXT_TWIN, opt);
	add_peeled(b, k, fn->twin, TEXT_ALIGNED, opt);
}

static CuTexts texts_of(CuKernel *k, const Fn *fn, const EmitOptions *opt)
{
	CuTexts r = { .of = { { .fn = fn } } };
	if (fn->odd && !fn->paired && !fn->portable && !turned_rows(fn) && add_aligned(&r, k, fn, opt)) {
		add_whole(&r, k, fn, opt);
		add_odd(&r, k, fn, opt);
		return r;
	}
	Cu g = text_body(k, fn, opt, false);
	bool alone = g.undecided || !g.needs.n || (g.widest < ALIGNED_WORDS && !g.turned && !fn->odd);
	if (fn->portable) add_body(&r, k, TEXT_PORTABLE, fn->portable, opt);
	if (!alone) {
		ask_all(k, &g);
		bool pairs = ask_further(k, fn->paired, opt);
		add_body(&r, k, TEXT_ALIGNED, fn, opt);
		if (pairs) add_body(&r, k, TEXT_PAIRED, fn->paired, opt);
	}
	g.prologue = 0;
	if (alone || !fn->odd) {
		put_body(&r, TEXT_ANY, fn, &g);
	} else {
		out_free(g.o);
		add_odd(&r, k, fn, opt);
	}
	return r;
}

bool texts_any(const CuKernel *k, const EmitOptions *opt, TextKind t)
{
	for (int i = 0; i < opt->archs.n; i++)
		if (k->by_arch[i].of[t].fn) return true;
	return false;
}

static bool is_shared(const CuKernel *k, int arch, TextKind t, const EmitOptions *opt)        /* with the next architecture */
{
	return arch + 1 < opt->archs.n && k->by_arch[arch].of[t].o == k->by_arch[arch + 1].of[t].o;
}

void texts_make(CuKernel *k, int index, Module *const *placed, const EmitOptions *opt, SnipSet *used)
{
	ArenaMark mark = arena_mark(A_TMP);     /* what is known while bodies are printed */
	k->by_arch = NEW_ARRAY(A_UNIT, CuTexts, opt->archs.n);
	for (int i = 0; i < opt->archs.n; i++) {
		const Fn *fn = placed[i]->fns.p[index];
		k->by_arch[i] = i && fn == placed[i - 1]->fns.p[index] ? k->by_arch[i - 1] : texts_of(k, fn, opt);
		for (int t = 0; t < TEXTS; t++) {
			const CuText *text = &k->by_arch[i].of[t];
			if (!text->fn) continue;
			k->packed |= text->fn->packed > 0;
			if (t == TEXT_ANY) k->starts |= text->fn->persistent || text_dependent(text->fn) || text_together(text->fn);
			if (text_waits(text, opt->archs.p[i])) snip_use_text(used, text_wait);
		}
	}
	for (int i = 0; i < opt->archs.n; i++)
		for (int t = 0; t < TEXTS; t++)
			if (k->by_arch[i].of[t].o && !is_shared(k, i, t, opt)) snip_use_text(used, k->by_arch[i].of[t].o->p);
	if (k->maps.n) snip_use(used, "ct_tensor_map");
	text_params(k);
	arena_release(A_TMP, mark);
}

void texts_print(Out *o, CuKernel *k, const EmitOptions *opt)
{
	for (int i = 0; i < opt->archs.n; i++)
		for (int t = 0; t < TEXTS; t++) {
			const CuText *text = &k->by_arch[i].of[t];
			if (!text->o) continue;
			text_print(o, k, text, t, opt->archs.p[i], opt);
		}
}
