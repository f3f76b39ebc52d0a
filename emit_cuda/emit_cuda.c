/* The CUDA target: the file around the kernels, and how the launchers start them. */
#include "emit_cuda/emit_cuda.h"

#include <string.h>

#include "base/diag.h"
#include "emit/host.h"
#include "emit/lines.h"
#include "emit/names.h"
#include "emit_cuda/cu.h"
#include "emit_cuda/device.h"
#include "emit_cuda/group.h"
#include "emit_cuda/peel.h"
#include "emit_cuda/tmap.h"
#include "lower/access.h"

/* ---- values that the launcher computes ---- */
/* A kernel has up to so many texts; the launcher takes the last one that serves a call but the first. */
typedef enum TextKind {
	TEXT_ANY,               /* serves all calls */
	TEXT_CUT,               /* rows that end early in their tile: the fewer elements kept, the later (lower/cut.c) */
	TEXT_PEELED = TEXT_CUT + CUT_TEXTS,     /* rows at one phase in pieces: the fewer elements kept, the later (lower/peel.c) */
	TEXT_TWIN = TEXT_PEELED + PEEL_TEXTS,   /* the same for two rows at once (lower/twin.c) */
	TEXT_ALIGNED = TEXT_TWIN + PEEL_TEXTS,
	TEXT_PAIRED,            /* two tile blocks at once, of aligned tensors (lower/pair.c) */
	TEXTS_FOR_CALLS,
	TEXT_PORTABLE = TEXTS_FOR_CALLS,        /* serves all calls, where a device does not run the clusters of the others */
	TEXTS
} TextKind;

typedef VEC(Str) Conditions;    /* of the launcher */

typedef struct KernelText {
	const Fn *fn;           /* TYPED: what the launchers know */
	CuSyms launch;          /* ct_l0, ct_l1 ... */
	CuTmaps maps;           /* ct_m0, ct_m1 ... */
	const Fn **text[TEXTS]; /* by architecture; NULL: there is no such text */
	struct Body *body;      /* by architecture, which may share texts with the one before */
	int64_t sure[TEXTS], kept[TEXTS];       /* a text with fewer registers is for rows from the one to below the other */
	bool packed;            /* one of them shares thread blocks */
	bool prints;            /* one of them calls printf */
	bool starts;            /* one of them needs more of a launch than its grid */
	Conditions needs;       /* what makes tensors aligned */
	Conditions lengths;     /* what has to lie between them */
	Conditions phases;      /* what makes rows begin at one phase */
} KernelText;

enum { ALIGNED_WORDS = 16 };    /* registers of a tile from which two texts are worth nvcc's time, also where no row is turned */
static VEC(KernelText) kernels;

Str cu_launch(Cu *g, const Sym *s)
{
	CuSyms *v = g->launch;
	if (s->kind == SYM_CONST || (s->kind == SYM_ATOM && (s->atom == ATOM_DIM || s->atom == ATOM_STRIDE))) return sym_c(s);
	for (int i = 0; i < v->n; i++)
		if (v->p[i] == s) return str_fmt("ct_l%d", i);
	vec_push(A_UNIT, v, s);
	return str_fmt("ct_l%d", v->n - 1);
}

/* ---- one kernel ---- */
static Str arch_macro(const ArchRow *a) { return str_fmt("CT_SM%d%s", a->number, a->specific ? "A" : ""); }
static Str kernel_name(const Fn *fn, const ArchRow *a) { return str_fmt("%s_sm%d%s", name_entry(fn->name), a->number, a->specific ? "a" : ""); }

/* fn: the placed kernel */
static Str text_name(const Fn *fn, const ArchRow *a, TextKind t)
{
	Str name = kernel_name(fn, a);
	if (t == TEXT_ALIGNED) return str_fmt("%s_aligned", name);
	if (t == TEXT_PAIRED) return str_fmt("%s_paired", name);
	if (t == TEXT_PORTABLE) return str_fmt("%s_portable", name);
	if (fn->peel_line) return str_fmt("%s_%s_%d", name, fn->apart ? "twin" : "peeled", fn->row_regs);
	return t == TEXT_ANY ? name : str_fmt("%s_below_%lld", name, (long long)cut_kept(fn));
}

static void title(Out *o, const Fn *fn, TextKind kind)
{
	Out *t = out_new();
	out_printf(t, "%s", fn->source_name ? fn->source_name : fn->name);
	for (int i = 0; i < fn->generics.n; i++)
		out_printf(t, "%s%s = %s", i ? ", " : ": ", fn->generics.p[i].name, fn->generics.p[i].value);
	if (fn->lanes) out_printf(t, "; %d lane%s", fn->lanes, fn->lanes == 1 ? "" : "s");
	else out_printf(t, "; %d warp%s", fn->warps, fn->warps == 1 ? "" : "s");
	if (fn->cluster) out_printf(t, " in a cluster of %d thread blocks", fn->cluster);
	if (fn->packed) out_printf(t, ", up to %d tile blocks in a thread block", fn->packed);
	out_printf(t, ", %lld bytes of shared memory%s", (long long)fn->shared_bytes, fn->cluster || fn->packed ? " each" : "");
	if (kind == TEXT_ALIGNED) out_puts(t, "; for aligned tensors");
	else if (kind == TEXT_PAIRED) out_printf(t, "; for aligned tensors, %d tile blocks at once", fn->tiles);
	else if (kind == TEXT_PORTABLE) out_puts(t, "; for devices without larger clusters");
	else if (fn->peel_line) out_printf(t, "; for rows of %lld elements or more, less than %lld, that begin at one phase%s",
		(long long)fn->peel_least, (long long)peel_below(fn), fn->apart ? ", 2 tile blocks at once" : "");
	else if (kind != TEXT_ANY) out_printf(t, "; for rows of %lld elements or more, less than %lld", (long long)cut_sure(fn),
		(long long)cut_kept(fn));
	comment_text(o, t->p, "// ");
	out_free(t);
}

static const char *param_type(const IrParam *p)
{
	if (p->is_tensor) return str_fmt("%s%s *", p->mode == PM_IN ? "const " : "", cu_type(p->elem));
	return elem_is_ptr(p->elem) ? cu_type(p->elem) : str_fmt("const %s ", cu_type(p->elem));
}

static void kernel_params(Out *o, const KernelText *k)
{
	int n = 0;
	const Fn *fn = k->fn;
	for (int i = 0; i < fn->params.n; i++) out_printf(o, "%s%s%s", n++ ? ", " : "", param_type(&fn->params.p[i]), name_c(fn->params.p[i].name));
	for (int i = 0; i < fn->dims.n; i++) out_printf(o, "%sconst long long %s", n++ ? ", " : "", name_dim(fn, i));
	for (int i = 0; i < k->launch.n; i++) out_printf(o, "%sconst long long ct_l%d", n++ ? ", " : "", i);
	for (int i = 0; i < k->maps.n; i++) out_printf(o, "%sconst __grid_constant__ ct_tensor_map ct_m%d", n++ ? ", " : "", i);
	for (int i = 0; i + 1 < fn->ngrid; i++)
		out_printf(o, "%sconst unsigned int ct_g%d, const unsigned long long ct_d%d", n++ ? ", " : "", ir_sweep(fn, i), ir_sweep(fn, i));
	if (k->packed) out_printf(o, "%sconst unsigned int ct_blocks", n++ ? ", " : "");
}

/* Tile blocks are numbered along the kernel's sweep over the grid. Everything else of a block waits for its index, so the
 * launcher makes what a division by an extent takes (ct_divisor). */
static void block_index(Cu *g)
{
	Out *o = g->o;
	const Fn *fn = g->fn;
	if (fn->apart) {                /* of 2 * apart rows, each of the first ones with one behind them; a cluster without rows ends */
		out_printf(o, "const unsigned int ct_two = blockIdx.x / %d, ct_bid0 = ct_two / %d * %d + ct_two %% %d;\n", fn->cluster, fn->apart,
			2 * fn->apart, fn->apart);
		out_printf(o, "if (ct_bid0 >= %s) return;\n", cu_launch(g, fn->grid[0]));
		return;
	}
	Str rest = fn->cluster ? str_fmt("blockIdx.x / %d", fn->cluster) : str_intern(fn->packed ? "ct_block" : "blockIdx.x");
	for (int i = 0; i < fn->ngrid; i++) {
		int a = ir_sweep(fn, i);
		if (i + 1 == fn->ngrid) {
			out_printf(o, "const unsigned int ct_bid%d = %s;\n", a, rest);
		} else {
			out_printf(o, "const unsigned int ct_rest%d = ct_div(%s, ct_d%d);\n", i, rest, a);
			out_printf(o, "const unsigned int ct_bid%d = %s - ct_rest%d * ct_g%d;\n", a, rest, i, a);
		}
		out_printf(o, "(void)ct_bid%d;\n", a);
		rest = str_fmt("ct_rest%d", i);
	}
}

static void bind_params(Cu *g)
{
	memory_params(g);
	for (int i = 0; i < g->fn->params.n; i++) {
		const IrParam *p = &g->fn->params.p[i];
		Val *v = g->fn->body->args.p[i];
		cu_reserve(g, name_c(p->name));
		if (!p->is_tensor) cu_val(g, v)->name = name_c(p->name);
	}
	for (int i = 0; i < g->fn->dims.n; i++) cu_reserve(g, name_dim(g->fn, i));
}

/* Which thread of which tile block this is. Tile blocks of fewer lanes than a warp exchange data by instructions in which the
 * whole warp takes part: lanes beyond the grid work on its last tile block and store nothing; warps beyond it end. */
static void thread_index(Cu *g)
{
	Out *o = g->o;
	const Fn *fn = g->fn;
	if (!fn->packed) {
		if (fn->shared_bytes) out_puts(o, "extern __shared__ __align__(16) unsigned char ct_smem[];\n");
		out_puts(o, "const unsigned int ct_lane = threadIdx.x & 31, ct_warp = threadIdx.x >> 5;\n");
		return;
	}
	int lanes = fn_threads(fn).lanes;
	out_printf(o, "const unsigned int ct_lane = threadIdx.x & %d, ct_warp = 0;\n", (1 << lanes) - 1);
	out_printf(o, "const unsigned int ct_at = blockIdx.x * (blockDim.x >> %d) + (threadIdx.x >> %d);\n", lanes, lanes);
	if (fn->lanes) {
		out_printf(o, "if ((ct_at & ~%du) >= ct_blocks) return;\n", 32 / fn->lanes - 1);
		out_puts(o, "const bool ct_live = ct_at < ct_blocks;\n");
		out_puts(o, "const unsigned int ct_block = ct_live ? ct_at : ct_blocks - 1;\n");
		out_printf(o, "const unsigned int ct_first = threadIdx.x & %d;\n(void)ct_live;\n(void)ct_first;\n", 32 - fn->lanes);
	} else {
		out_puts(o, "const unsigned int ct_block = ct_at;\nif (ct_block >= ct_blocks) return;\n");
	}
	if (fn->shared_bytes || fn->warp_bytes) out_puts(o, "extern __shared__ __align__(16) unsigned char ct_all_smem[];\n");
	if (fn->warp_bytes) dense_begin(g);
	if (!fn->shared_bytes) return;
	out_printf(o, "unsigned char *const ct_smem = ct_all_smem + (threadIdx.x >> %d) * %lld;\n", lanes, (long long)fn->shared_bytes);
}

static Cu kernel_body(KernelText *k, const Fn *fn, const EmitOptions *opt, bool aligned)
{
	Cu g = { .o = out_new(), .fn = fn, .opt = opt, .nval = fn->nval, .launch = &k->launch, .maps = &k->maps,
		.aligned = aligned, .one_way = aligned && bound_one_way(fn), .asked = k->needs.p, .asked_n = k->needs.n };
	g.val = NEW_ARRAY(A_TMP, CuVal, fn->nval);
	g.uses = ir_use_counts((Fn *)fn, A_TMP);
	out_in(g.o);
	g.roles = group_needs_base(fn);
	if (fn->apart) block_index(&g);         /* thread blocks without rows end before anybody sends them something */
	if (g.roles) group_begin(&g);
	else if (fn->cluster) cluster_begin(&g);
	else thread_index(&g);
	out_puts(g.o, "(void)ct_lane;\n(void)ct_warp;\n");
	if (!fn->apart) block_index(&g);
	bind_params(&g);
	elem_plan(&g);
	g.prologue = g.o->n;
	control_block(&g, fn->body);
	out_off(g.o);
	out_puts(g.o, "#endif\n}\n");
	k->prints |= g.prints;
	return g;
}

/* o: NULL where there is none; blocks: how many of it should fit a multiprocessor (bound.c), in a text for several architectures
 * and in one that is specific for its own; line: what lines_set says, whose split is the first access of memory */
typedef struct Body { Out *o[TEXTS]; Lined line[TEXTS]; const Fn *fn[TEXTS]; int blocks[TEXTS][2]; bool roles[TEXTS]; } Body;

static int bound_of_any(const Fn *fn)
{
	int wide = bound_of_wide(fn);
	return wide ? wide : bound_of_products(fn);
}

static void put_body(Body *b, TextKind t, const Fn *fn, Cu *g)
{
	b->fn[t] = fn;
	b->roles[t] = g->roles;
	b->o[t] = out_new();
	b->line[t] = lines_set(b->o[t], g->o->p, g->prologue, g->opt);
	out_free(g->o);
	for (int specific = 0; specific < 2; specific++)
		b->blocks[t][specific] = fn->apart || (fn->peel_line && fn->twin) ? bound_of_twin(fn, specific)
			: g->aligned && !bound_of_wide(fn) ? bound_blocks(g, specific) : bound_of_any(fn);
}

static void add_body(Body *b, KernelText *k, TextKind t, const Fn *fn, const EmitOptions *opt)
{
	Cu g = kernel_body(k, fn, opt, t == TEXT_ALIGNED || t == TEXT_PAIRED);
	put_body(b, t, fn, &g);
}

static void add_text(Conditions *v, Str s)
{
	for (int i = 0; i < v->n; i++)
		if (v->p[i] == s) return;
	vec_push(A_UNIT, v, s);
}

static void add_cuts(Body *b, KernelText *k, const Fn *odd, const EmitOptions *opt)
{
	Cu g = { .launch = &k->launch };
	int t = TEXT_PEELED;
	for (const Fn *fn = odd->cut; fn; fn = fn->cut) {
		add_body(b, k, --t, fn, opt);
		if (!k->kept[t] || cut_kept(fn) < k->kept[t]) k->kept[t] = cut_kept(fn);        /* of all architectures */
		if (cut_sure(fn) > k->sure[t]) k->sure[t] = cut_sure(fn);
	}
	for (int i = 0; odd->cut && i < odd->below.n; i++) add_text(&k->lengths, cu_launch(&g, odd->below.p[i]));
}

static void add_phase(void *phases, Str s) { add_text(phases, s); }

/* t: the text behind them */
static void add_peeled(Body *b, KernelText *k, const Fn *first, int t, const EmitOptions *opt)
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

static void ask_all(KernelText *k, const Cu *g)
{
	for (int i = 0; i < g->needs.n; i++) add_text(&k->needs, g->needs.p[i]);
}

/* What the launcher is asked for must be known before a text relies on it. */
static bool ask_paired(KernelText *k, const Fn *paired, const EmitOptions *opt)
{
	if (!paired) return false;
	Cu g = kernel_body(k, paired, opt, false);
	if (!g.undecided) ask_all(k, &g);
	out_free(g.o);
	return !g.undecided;
}

/* The text for aligned tensors of a kernel whose other texts are of another placement: what the launcher is asked shows while it is
 * printed. It is printed again if it relied on that before all was asked. */
static bool add_aligned(Body *b, KernelText *k, const Fn *fn, const EmitOptions *opt)
{
	Cu g = kernel_body(k, fn, opt, true);
	bool serves = !g.undecided && g.needs.n, again = serves && g.relied && g.needs.n >= g.relied;
	if (serves) ask_all(k, &g);
	if (!serves || again) out_free(g.o);
	if (again) g = kernel_body(k, fn, opt, true);
	if (serves) put_body(b, TEXT_ALIGNED, fn, &g);
	return serves;
}

static void add_odd(Body *b, KernelText *k, const Fn *fn, const EmitOptions *opt)
{
	add_body(b, k, TEXT_ANY, fn->odd, opt);
	add_cuts(b, k, fn->odd, opt);
	add_peeled(b, k, fn->peel, TEXT_TWIN, opt);
	add_peeled(b, k, fn->twin, TEXT_ALIGNED, opt);
}

static Body kernel_bodies(KernelText *k, const Fn *fn, const EmitOptions *opt)
{
	Body r = { .fn = { fn } };
	if (fn->odd && !fn->paired && !fn->portable && !turned_rows(fn) && add_aligned(&r, k, fn, opt)) {
		add_odd(&r, k, fn, opt);
		return r;
	}
	Cu g = kernel_body(k, fn, opt, false);
	bool alone = g.undecided || !g.needs.n || (g.widest < ALIGNED_WORDS && !g.turned && !fn->odd);
	if (fn->portable) add_body(&r, k, TEXT_PORTABLE, fn->portable, opt);
	if (!alone) {
		ask_all(k, &g);
		bool pairs = ask_paired(k, fn->paired, opt);
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

/* The compiler of PTX refuses more thread blocks than a multiprocessor can hold (CUDA programming guide, compute capabilities):
 * 2048 threads and 32 blocks on those that only one architecture means, 1536 and 16 on whatever a text for several may run. */
static Str launch_bounds(const Fn *fn, const ArchRow *a, int blocks)
{
	int threads = cu_threads(fn);
	if (ir_has_hint(fn, "occupancy")) blocks = (int)ir_hint(fn, "occupancy", a->number);
	int by_threads = (a->specific ? 2048 : 1536) / threads, most = a->specific ? 32 : 16;
	if (blocks > by_threads) blocks = by_threads;
	if (blocks > most) blocks = most;
	Str on = str_intern(arch_macro(a));
	if (group_has_roles(fn)) blocks = 1;    /* roles change their registers: the compiler must know how many they start with */
	return blocks > 0 ? str_fmt("%s ? %d : 1, %s ? %d : 1", on, threads, on, blocks) : str_fmt("%s ? %d : 1", on, threads);
}

enum { DEPENDENT_FROM = 90 };   /* the first architecture whose kernels may begin while those before them end */

static const char wait_text[] = "\tct_grid_wait();\n";

/* Every kernel waits, even one that needs nothing of the last: else the next one, which waits for this one alone, could begin
 * before the last has ended. Kernels with roles say themselves who waits. */
static bool waits(const Body *b, TextKind t, const ArchRow *a) { return a->number >= DEPENDENT_FROM && !b->roles[t]; }

static bool any_prints(const SnipSet *used)
{
	bool prints = used->used[snip_find(used, "ct_trap")];
	for (int i = 0; i < kernels.n; i++) prints |= kernels.p[i].prints;
	return prints;
}

static bool any_lines(const EmitOptions *opt)
{
	bool any = false;
	for (int i = 0; i < kernels.n; i++)
		for (int a = 0; a < opt->archs.n; a++)
			for (int t = 0; t < TEXTS; t++) any |= kernels.p[i].body[a].line[t].any;
	return any;
}

static bool any_dependent(const EmitOptions *opt)
{
	for (int i = 0; i < opt->archs.n; i++)
		if (opt->archs.p[i]->number >= DEPENDENT_FROM) return true;
	return false;
}

static void print_text(Out *o, const KernelText *k, int arch, const EmitOptions *opt, TextKind kind)
{
	const Body *b = &k->body[arch];
	const Out *body = b->o[kind];
	const ArchRow *a = opt->archs.p[arch];
	const Fn *fn = k->text[kind][arch];
	title(o, fn, kind);
	comment_text(o, k->fn->doc, "/// ");
	out_printf(o, "static __global__ void __launch_bounds__(%s)\n", launch_bounds(fn, a, b->blocks[kind][a->specific]));
	/* known to the compiler, barriers of the cluster are one instruction each */
	if (fn->cluster > 1 && group_has_roles(fn)) out_printf(o, "#if %s\n__cluster_dims__(%d, 1, 1)\n#endif\n", arch_macro(a), fn->cluster);
	out_printf(o, "%s(", text_name(fn, a, kind));
	kernel_params(o, k);
	out_printf(o, ")\n{\n#if %s\n", arch_macro(a));
	out_raw(o, body->p, b->line[kind].split);
	if (waits(b, kind, a)) out_raw(o, wait_text, sizeof wait_text - 1);
	out_raw(o, body->p + b->line[kind].split, body->n - b->line[kind].split);
	if (b->line[kind].any) lines_own(o, opt);
	out_puts(o, "\n");
}

static bool is_shared(const KernelText *k, int arch, TextKind t, const EmitOptions *opt)        /* with the next architecture */
{
	return arch + 1 < opt->archs.n && k->body[arch].o[t] == k->body[arch + 1].o[t];
}

static void find_wait(void *found, Op *op)
{
	if (op->code == OP_GRID_WAIT) *(bool *)found = true;
}

static void find_meet(void *found, Op *op)
{
	if (op->code == OP_GRID_MEET) *(bool *)found = true;
}

/* Its thread blocks wait for each other: all must run at once. */
static bool together(const Fn *fn)
{
	bool found = false;
	ir_walk(fn->body, find_meet, &found);
	return found;
}

/* It waits for the kernel before it itself, so it may begin earlier. */
static bool dependent(const Fn *fn)
{
	bool found = false;
	ir_walk(fn->body, find_wait, &found);
	return found;
}

/* The bodies of all texts of a kernel, and what they call. */
static void make_bodies(KernelText *k, int index, Module *const *placed, const EmitOptions *opt, SnipSet *used)
{
	ArenaMark mark = arena_mark(A_TMP);     /* what is known while bodies are printed */
	k->body = NEW_ARRAY(A_UNIT, Body, opt->archs.n);
	for (int t = 0; t < TEXTS; t++) k->text[t] = NEW_ARRAY(A_UNIT, const Fn *, opt->archs.n);
	for (int i = 0; i < opt->archs.n; i++) {
		const Fn *fn = placed[i]->fns.p[index];
		k->body[i] = i && fn == placed[i - 1]->fns.p[index] ? k->body[i - 1] : kernel_bodies(k, fn, opt);
		for (int t = 0; t < TEXTS; t++) {
			const Fn *of = k->text[t][i] = k->body[i].fn[t];
			k->packed |= of && of->packed > 0;
			if (of && t == TEXT_ANY) k->starts |= of->persistent || dependent(of) || together(of);
			if (of && waits(&k->body[i], t, opt->archs.p[i])) snip_use_text(used, wait_text);
		}
	}
	for (int i = 0; i < opt->archs.n; i++)
		for (int t = 0; t < TEXTS; t++)
			if (k->body[i].o[t] && !is_shared(k, i, t, opt)) snip_use_text(used, k->body[i].o[t]->p);
	if (k->maps.n) snip_use(used, "ct_tensor_map");
	arena_release(A_TMP, mark);
}

static void print_kernel(Out *o, const KernelText *k, const EmitOptions *opt)
{
	for (int i = 0; i < opt->archs.n; i++)
		for (int t = 0; t < TEXTS; t++) {
			if (!k->body[i].o[t]) continue;
			print_text(o, k, i, opt, t);
			if (!is_shared(k, i, t, opt)) out_free(k->body[i].o[t]);
		}
}

/* About the bytes of all texts. */
static size_t size_of_texts(const EmitOptions *opt)
{
	enum { HEAD = 512 };
	size_t n = 0;
	for (int i = 0; i < kernels.n; i++)
		for (int a = 0; a < opt->archs.n; a++)
			for (int t = 0; t < TEXTS; t++)
				if (kernels.p[i].body[a].o[t]) n += kernels.p[i].body[a].o[t]->n + HEAD;
	return n;
}

/* ---- launching ---- */
static const char host_head[] =
	"/* A kernel is compiled for each architecture of the list; where its text is left out, it has room for one thread only. */\n"
	"typedef struct CtKernel { const void *fn; int arch, only, threads, cluster, packed, shared; const char *name; } CtKernel;\n"
	"#define CT_DEVICES 64\n"
	"\n";

/* Asked only where a cluster of more than 8 thread blocks is compiled in. */
static const char host_room[] =
	"/* Whether the device runs a cluster of so many thread blocks, which not every one of the architecture does. */\n"
	"static int ct_has_room(const CtKernel *k)\n"
	"{\n"
	"\tcudaLaunchConfig_t c = {};\n"
	"\tcudaLaunchAttribute a[1] = {};\n"
	"\tint n = 0;\n"
	"\tcudaError_t e = cudaFuncSetAttribute(k->fn, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);\n"
	"\ta[0].id = cudaLaunchAttributeClusterDimension;\n"
	"\ta[0].val.clusterDim.x = (unsigned int)k->cluster;\n"
	"\ta[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;\n"
	"\tc.gridDim = dim3((unsigned int)k->cluster, 1, 1);\n"
	"\tc.blockDim = dim3((unsigned int)k->threads, 1, 1);\n"
	"\tc.dynamicSmemBytes = (size_t)k->shared;\n"
	"\tc.attrs = a;\n"
	"\tc.numAttrs = 1;\n"
	"\tif (e == cudaSuccess) e = cudaOccupancyMaxActiveClusters(&n, k->fn, &c);\n"
	"\tif (e != cudaSuccess) cudaGetLastError();\n"
	"\treturn e == cudaSuccess && n > 0;\n"
	"}\n"
	"\n";
static const char host_asks_room[] = "\t\tif (e == cudaSuccess && k[i].cluster > 8 && !ct_has_room(&k[i])) continue;\n";

static const char host_choose[] =
	"/* The number, from 1, of the newest kernel that the device runs; minus a status where there is none. */\n"
	"static int ct_choose(const char *name, int device, const CtKernel *k, int n)\n"
	"{\n"
	"\tint major = 0, minor = 0, at = 0;\n"
	"\tchar list[160] = \"\";\n"
	"\tcudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);\n"
	"\tcudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);\n"
	"\tfor (int i = n - 1; i >= 0; i--) {\n"
	"\t\tcudaFuncAttributes a;\n"
	"\t\tcudaError_t e;\n"
	"\t\tif (k[i].only ? k[i].arch != 10 * major + minor : k[i].arch > 10 * major + minor) continue;\n"
	"\t\te = cudaFuncGetAttributes(&a, k[i].fn);\n"
	"\t\tif (e == cudaErrorInvalidDeviceFunction || e == cudaErrorNoKernelImageForDevice) {\n"
	"\t\t\tcudaGetLastError();\n"
	"\t\t\tcontinue;\n"
	"\t\t}\n"
	"\t\tif (e == cudaSuccess && a.maxThreadsPerBlock < k[i].threads) continue;\n"
	"\t\tif (e == cudaSuccess && k[i].shared > 48 * 1024)\n"
	"\t\t\te = cudaFuncSetAttribute(k[i].fn, cudaFuncAttributeMaxDynamicSharedMemorySize, k[i].shared);\n";

static const char host_launch[] =
	"\t\tif (e != cudaSuccess) return -ct_fail(CTILE_CUDA, \"%s: %s\", name, cudaGetErrorString(e));\n"
	"\t\treturn i + 1;\n"
	"\t}\n"
	"\tfor (int i = 0; i < n && at < 140; i++) at += snprintf(list + at, sizeof list - (size_t)at, \"%s%s\", i ? \", \" : \"\", k[i].name);\n"
	"\treturn -ct_fail(CTILE_ARCH, \"%s: the device is sm_%d%d, compiled in is code for %s\", name, major, minor, list);\n"
	"}\n"
	"\n"
	"/* The kernel for the current device. pick: what was chosen for each; writing it twice writes the same. */\n"
	"static int ct_pick(const char *name, volatile signed char *pick, const CtKernel **k, int n, int *device)\n"
	"{\n"
	"\tint which;\n"
	"\tcudaError_t e = cudaGetDevice(device);\n"
	"\tif (e != cudaSuccess) return ct_fail(CTILE_CUDA, \"%s: %s\", name, cudaGetErrorString(e));\n"
	"\twhich = *device < CT_DEVICES ? pick[*device] : 0;\n"
	"\tif (!which) {\n"
	"\t\twhich = ct_choose(name, *device, *k, n);\n"
	"\t\tif (which < 0) return -which;\n"
	"\t\tif (*device < CT_DEVICES) pick[*device] = (signed char)which;\n"
	"\t}\n"
	"\t*k += which - 1;\n"
	"\treturn CTILE_OK;\n"
	"}\n"
	"\n"
	"CT_HELPER int ct_launch(const char *name, volatile signed char *pick, const CtKernel *k, int n, int64_t blocks, void **args,\n"
	"\tstruct CUstream_st *stream)\n"
	"{\n"
	"\tint device = 0, status = ct_pick(name, pick, &k, n, &device);\n"
	"\tcudaError_t e;\n"
	"\tif (status) return status;\n"
	"\tint threads = k->threads, packed = k->packed, shared = k->shared;\n"
	"\t/* few tile blocks are spread over more thread blocks, so that all multiprocessors take part */\n";

static const char host_spread[] = "\tfor (; packed > 1 && threads > 32 && blocks < 512ll * packed; packed /= 2) threads /= 2, shared /= 2;\n";

/* Where tile blocks are paired, too: thread blocks of clusters stay what they are. */
static const char host_spread_alone[] =
	"\tfor (; k->cluster == 1 && packed > 1 && threads > 32 && blocks < 512ll * packed; packed /= 2) threads /= 2, shared /= 2;\n";
static const char host_least[] =
	"#ifndef CT_PAIRS\n#define CT_PAIRS 256        /* tile blocks from which two at once leave no multiprocessor idle */\n#endif\n\n";

static const char host_blocks[] = "\tblocks = (blocks + packed - 1) / packed;\n";
static const char host_blocks_twin[] =
	"\tif (packed < 0) blocks = (blocks - packed - 1) / -packed * (-packed / 2);      /* of so many, half have one behind them each */\n"
	"\telse blocks = (blocks + packed - 1) / packed;\n";

/* Below sm_90 there are no clusters, and kernels begin when the one before them has ended. */
static const char host_start_plain[] =
	"\te = cudaLaunchKernel(k->fn, dim3((unsigned int)blocks, 1, 1), dim3((unsigned int)threads, 1, 1), args, (size_t)shared, stream);\n";

static const char host_start[] =
	"\tif (k->arch < 90) {\n"
	"\t\te = cudaLaunchKernel(k->fn, dim3((unsigned int)blocks, 1, 1), dim3((unsigned int)threads, 1, 1), args, (size_t)shared, stream);\n"
	"\t} else {\n"
	"\t\tcudaLaunchConfig_t c = {};\n"
	"\t\tcudaLaunchAttribute a[2] = {};\n"
	"\t\tc.gridDim = dim3((unsigned int)(blocks * k->cluster), 1, 1);\n"
	"\t\tc.blockDim = dim3((unsigned int)threads, 1, 1);\n"
	"\t\tc.dynamicSmemBytes = (size_t)shared;\n"
	"\t\tc.stream = stream;\n"
	"\t\tc.attrs = a;\n"
	"\t\tif (k->cluster > 1) {\n"
	"\t\t\ta[c.numAttrs].id = cudaLaunchAttributeClusterDimension;\n"
	"\t\t\ta[c.numAttrs].val.clusterDim.x = (unsigned int)k->cluster;\n"
	"\t\t\ta[c.numAttrs].val.clusterDim.y = a[c.numAttrs].val.clusterDim.z = 1;\n"
	"\t\t\tc.numAttrs++;\n"
	"\t\t}\n"
	"#if CUDART_VERSION >= 12030    /* from which on graphs capture it */\n"
	"\t\t/* it may begin while the kernel before it in the stream ends, and waits for that itself (ct_grid_wait) */\n"
	"\t\ta[c.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;\n"
	"\t\ta[c.numAttrs++].val.programmaticStreamSerializationAllowed = 1;\n"
	"#endif\n"
	"\t\te = blocks < (1ll << 31) / k->cluster ? cudaLaunchKernelExC(&c, k->fn, args) : cudaErrorInvalidConfiguration;\n"
	"\t}\n";

static const char host_launched[] =
	"\treturn e == cudaSuccess ? CTILE_OK : ct_fail(CTILE_CUDA, \"%s: %s\", name, cudaGetErrorString(e));\n"
	"}\n"
	"\n"
	"/* What ct_div takes to divide numbers below 2^31 by d, 1 to 2^31: m in the low half, s in the high one, where 2^(s - 31) >= d and\n"
	" * m = (2^s + e) / d with 0 <= e < d. Then n * m / 2^s = n / d + n * e / (d * 2^s), and the second part is below 1 / d. */\n"
	"CT_HELPER unsigned long long ct_divisor(unsigned int d)\n"
	"{\n"
	"\tint s = 31;\n"
	"\twhile (1ull << (s - 31) < d) s++;\n"
	"\treturn ((1ull << s) + d - 1) / d | (unsigned long long)s << 32;\n"
	"}\n"
	"\n"
	"/* Whether the current device is of this architecture: for the lines of tune files. */\n"
	"CT_HELPER int ct_on_arch(int arch)\n"
	"{\n"
	"\tint device = 0, major = 0, minor = 0;\n"
	"\tif (cudaGetDevice(&device) != cudaSuccess) return 0;\n"
	"\tcudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);\n"
	"\tcudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);\n"
	"\treturn arch == 10 * major + minor;\n"
	"}\n"
	"\n";

static Str table_name(TextKind t)
{
	if (t == TEXT_ANY) return "ct_k";
	if (t >= TEXT_TWIN && t < TEXT_ALIGNED) return str_fmt("ct_k_twin%d", t - TEXT_TWIN);
	if (t >= TEXT_PEELED && t < TEXT_TWIN) return str_fmt("ct_k_peeled%d", t - TEXT_PEELED);
	if (t == TEXT_PAIRED) return "ct_k_paired";
	return t == TEXT_ALIGNED ? str_intern("ct_k_aligned") : str_fmt("ct_k_below%d", t);
}

static bool has_text(const KernelText *k, const EmitOptions *opt, TextKind t)
{
	for (int i = 0; i < opt->archs.n; i++)
		if (k->text[t][i]) return true;
	return false;
}

static void kernel_row(Out *o, const KernelText *k, const EmitOptions *opt, int arch, TextKind t)
{
	const ArchRow *a = opt->archs.p[arch];
	const Fn *fn = k->text[t][arch];
	int cluster = fn->cluster ? fn->cluster : 1, packed = fn->packed ? fn->packed : 1, tiles = fn->tiles ? fn->tiles : packed;
	if (fn->apart) tiles = -2 * fn->apart;
	out_printf(o, "\t{ (const void *)%s, %d, %d, %d, %d, %d, %lld, \"%s\" },\n", text_name(fn, a, t), a->number, a->specific,
		cu_threads(fn), cluster, tiles, (long long)(fn->shared_bytes * packed + fn->warp_bytes * cu_threads(fn) / 32), a->name);
}

/* Of two rows of one architecture the later one comes first into question. */
static int kernel_rows(const KernelText *k, const EmitOptions *opt)
{
	int n = opt->archs.n;
	for (int i = 0; i < opt->archs.n; i++) n += k->text[TEXT_PORTABLE][i] != NULL;
	return n;
}

static void kernel_table(Out *o, const KernelText *k, const EmitOptions *opt, TextKind t)
{
	out_printf(o, "static const CtKernel %s[] = {\n", table_name(t));
	for (int i = 0; i < opt->archs.n; i++) {
		if (k->text[TEXT_PORTABLE][i]) kernel_row(o, k, opt, i, TEXT_PORTABLE);
		kernel_row(o, k, opt, i, k->text[t][i] ? t : TEXT_ANY);
	}
	out_printf(o, "};\nstatic volatile signed char %s_pick[CT_DEVICES];\n", table_name(t));
}

static void launch_text(Out *o, const KernelText *k, const EmitOptions *opt, const char *name, TextKind t)
{
	Str table = table_name(t);
	out_printf(o, "return ct_launch(\"%s\", %s_pick, %s, %d, ct_blocks, ct_args, stream);\n", name, table, table, kernel_rows(k, opt));
}

static void launch_if(Out *o, const KernelText *k, const EmitOptions *opt, const char *name, TextKind t)
{
	bool aligned = t == TEXT_ALIGNED || t == TEXT_PAIRED;
	const Conditions *v = aligned ? &k->needs : &k->lengths;
	out_puts(o, "if (");
	if (t == TEXT_PAIRED || (t >= TEXT_TWIN && t < TEXT_ALIGNED)) out_puts(o, "ct_blocks >= CT_PAIRS\n\t&& ");
	for (int i = 0; i < v->n; i++) {
		out_puts(o, i ? "\n\t&& " : "");
		if (aligned) out_puts(o, v->p[i]);
		else out_printf(o, "%s >= %lld && %s < %lld", v->p[i], (long long)k->sure[t], v->p[i], (long long)k->kept[t]);
	}
	for (int i = 0; t >= TEXT_PEELED && t < TEXT_ALIGNED && i < k->phases.n; i++) out_printf(o, "\n\t&& %s", k->phases.p[i]);
	out_puts(o, ")\n\t");
	launch_text(o, k, opt, name, t);
}

static void print_start(Out *o, const KernelText *k, const EmitOptions *opt, const char *name)
{
	int n = opt->archs.n;
	out_puts(o, "static const CtStart ct_how[] = {\n");
	for (int i = 0; i < n; i++) {
		const Fn *fn = k->text[TEXT_ANY][i];
		out_printf(o, "\t{ %d, %d, %d },\n", fn->persistent, dependent(fn), together(fn));
	}
	out_printf(o, "};\nstatic volatile int ct_most[%d * CT_DEVICES];\n", n);
	out_printf(o, "return ct_start(\"%s\", ct_k_pick, ct_most, ct_k, ct_how, %d, ct_blocks, ct_args, stream);\n", name, n);
}

static bool goes_first(const KernelText *k, const EmitOptions *opt, TextKind t)
{
	bool first = t >= TEXT_PEELED && t < TEXT_ALIGNED;
	for (int i = 0; first && i < opt->archs.n; i++) first = k->text[t][i] && peel_leads(k->text[t][i]);
	return first;
}

static void start_kernel(Out *o, const Module *m, const Fn *fn, const EmitOptions *opt)
{
	static int next;                /* kernels are started in their order: the search goes on where it ended */
	int n = 0, tried = 0;
	(void)m;
	while (tried < kernels.n && kernels.p[(next + tried) % kernels.n].fn != fn) tried++;
	if (tried == kernels.n) bug("no text for kernel %s", fn->name);
	next = (next + tried) % kernels.n;
	const KernelText *k = &kernels.p[next];
	for (int i = 0; i < k->launch.n; i++) {
		out_printf(o, "const int64_t ct_l%d = ", i);
		host_value(o, k->launch.p[i]);
		out_puts(o, ";\n");
	}
	if (k->launch.n) out_printf(o, "if (ct_bad) return ct_fail(CTILE_OVERFLOW, \"%s: a size does not fit 64 bits\");\n", fn->name);
	for (int i = 0; i < k->maps.n; i++) tmap_encode(o, fn, &k->maps.p[i], i);
	for (int i = 0; i + 1 < fn->ngrid; i++) {
		int a = ir_sweep(fn, i);
		out_printf(o, "const unsigned int ct_g%d = (unsigned int)ct_grid[%d];\nconst unsigned long long ct_d%d = ct_divisor(ct_g%d);\n", a, a, a, a);
	}
	if (k->packed) out_puts(o, "const unsigned int ct_count = (unsigned int)ct_blocks;\n");
	for (int t = 0; t < TEXTS_FOR_CALLS; t++)
		if (has_text(k, opt, t)) kernel_table(o, k, opt, t);
	out_puts(o, "void *ct_args[] = { ");
	for (int i = 0; i < fn->params.n; i++) out_printf(o, "%s(void *)&%s", n++ ? ", " : "", name_c(fn->params.p[i].name));
	for (int i = 0; i < fn->dims.n; i++) out_printf(o, "%s(void *)&%s", n++ ? ", " : "", name_dim(fn, i));
	for (int i = 0; i < k->launch.n; i++) out_printf(o, "%s(void *)&ct_l%d", n++ ? ", " : "", i);
	for (int i = 0; i < k->maps.n; i++) out_printf(o, "%s(void *)&ct_m%d", n++ ? ", " : "", i);
	for (int i = 0; i + 1 < fn->ngrid; i++)
		out_printf(o, "%s(void *)&ct_g%d, (void *)&ct_d%d", n++ ? ", " : "", ir_sweep(fn, i), ir_sweep(fn, i));
	if (k->packed) out_printf(o, "%s(void *)&ct_count", n++ ? ", " : "");
	out_printf(o, "%s };\n", n ? "" : "NULL");
	const char *name = fn->source_name ? fn->source_name : fn->name;
	if (k->starts) {
		print_start(o, k, opt, name);
		return;
	}
	for (int t = TEXTS_FOR_CALLS - 1; t > TEXT_ANY; t--)
		if (has_text(k, opt, t) && goes_first(k, opt, t)) launch_if(o, k, opt, name, t);
	for (int t = TEXTS_FOR_CALLS - 1; t > TEXT_ANY; t--)
		if (has_text(k, opt, t) && !goes_first(k, opt, t)) launch_if(o, k, opt, name, t);
	launch_text(o, k, opt, name, TEXT_ANY);
}

static const char multiprocessors[] =
	"CT_HELPER int64_t ct_multiprocessors(void)\n"
	"{\n"
	"\tint device = 0, n = 0;\n"
	"\tif (cudaGetDevice(&device) != cudaSuccess) return 1;\n"
	"\treturn cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device) == cudaSuccess && n > 0 ? n : 1;\n"
	"}\n"
	"\n";

static const char host_clear[] =
	"static int ct_clear(const char *entry, void *p, int64_t bytes, struct CUstream_st *stream)\n"
	"{\n"
	"\tconst cudaError_t e = bytes > 0 ? cudaMemsetAsync(p, 0, (size_t)bytes, stream) : cudaSuccess;\n"
	"\treturn e == cudaSuccess ? CTILE_OK : ct_fail(CTILE_CUDA, \"%s: %s\", entry, cudaGetErrorString(e));\n"
	"}\n\n";

static const HostTarget host_cuda = { .cpp = true, .multiprocessors = multiprocessors, .start = start_kernel, .clear = host_clear };

/* ---- the file ---- */
static void put_text(void *ctx, const char *text) { out_puts(ctx, text); }

/* An entry is compiled for its own architecture and every newer one below the next entry that is not an `a`; an `a` entry,
 * which takes the place of the others there, only where the compiler was asked for just that one. */
static void arch_macros(Out *o, const EmitOptions *opt)
{
	for (int i = 0; i < opt->archs.n; i++) {
		const ArchRow *a = opt->archs.p[i];
		Out *c = out_new();
		if (a->specific) {
			out_printf(c, "defined(__CUDA_ARCH_FEAT_SM%d_ALL)", a->number);
		} else {
			const ArchRow *next = NULL;
			for (int k = i + 1; k < opt->archs.n && !next; k++)
				if (!opt->archs.p[k]->specific) next = opt->archs.p[k];
			out_printf(c, "defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= %d", a->number * 10);
			if (next) out_printf(c, " && __CUDA_ARCH__ < %d", next->number * 10);
			for (int k = 0; k < opt->archs.n; k++)
				if (opt->archs.p[k]->specific) out_printf(c, " && !defined(__CUDA_ARCH_FEAT_SM%d_ALL)", opt->archs.p[k]->number);
		}
		out_printf(o, "#if %s\n#define %s 1\n#else\n#define %s 0\n#endif\n", c->p, arch_macro(a), arch_macro(a));
	}
}

static void file_head(Out *o, const Module *m, const EmitOptions *opt)
{
	out_printf(o, "/* Generated by ctilec %s from ", opt->version);
	Out *path = out_new();
	out_puts(path, src_mapped(m->path));
	comment_text(o, out_take(path), "");
	out_puts(o, " * CUDA C for nvcc 12 or newer; the device part also for NVRTC. */\n");
	out_puts(o, "#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__\n#pragma nv_diag_suppress 177, 550\n#endif\n");
	arch_macros(o, opt);
}

void emit_cuda(Out *o, const Module *m, Module *const *placed, const EmitOptions *opt)
{
	SnipSet *used = NEW(A_UNIT, SnipSet);
	Out *host = out_new();
	snip_init(used, &cuda_device);
	kernels.n = 0;
	for (int i = 0; i < m->fns.n; i++) {
		KernelText k = { .fn = m->fns.p[i] };
		vec_push(A_UNIT, &kernels, k);
	}
	for (int i = 0; i < kernels.n; i++) make_bodies(&kernels.p[i], i, placed, opt, used);
	if (diag_errors()) return;
	host_prologue(host, opt, &host_cuda);
	bool maps = false, start = false, wide = false, pairs = false, twins = false;
	for (int i = 0; i < kernels.n; i++) {
		maps |= kernels.p[i].maps.n > 0;
		start |= kernels.p[i].starts;
		wide |= kernel_rows(&kernels.p[i], opt) > opt->archs.n;
		for (int t = TEXT_TWIN; t < TEXT_ALIGNED; t++) twins |= has_text(&kernels.p[i], opt, t);
		pairs |= twins || has_text(&kernels.p[i], opt, TEXT_PAIRED);
	}
	out_puts(host, host_head);
	if (pairs) out_puts(host, host_least);
	if (wide) out_puts(host, host_room);
	out_puts(host, host_choose);
	if (wide) out_puts(host, host_asks_room);
	out_puts(host, host_launch);
	out_puts(host, pairs ? host_spread_alone : host_spread);
	out_puts(host, twins ? host_blocks_twin : host_blocks);
	out_puts(host, any_dependent(opt) ? host_start : host_start_plain);
	out_puts(host, host_launched);
	if (maps) out_puts(host, tmap_host);
	if (start) out_puts(host, start_host);
	host_launchers(host, m, opt, &host_cuda);
	out_reserve(o, size_of_texts(opt) + host->n);
	file_head(o, m, opt);
	if (any_prints(used))
		out_puts(o, "#ifndef __CUDACC_RTC__\n#include <stdio.h>        /* printf on the device; NVRTC knows it */\n#endif\n");
	snip_print(used, put_text, o);
	out_puts(o, "\n/* ---- kernels ---- */\n");
	wgmma_functions(o);
	if (any_lines(opt)) lines_begin(o);
	for (int i = 0; i < kernels.n; i++) print_kernel(o, &kernels.p[i], opt);
	out_puts(o, "#ifndef __CUDACC_RTC__\n#include <stdarg.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n");
	if (opt->header_name) out_printf(o, "#include %s\n\n", c_string(opt->header_name));
	else emit_header(o, m, opt);
	out_raw(o, host->p, host->n);
	out_free(host);
	out_puts(o, "#endif\n");
}
