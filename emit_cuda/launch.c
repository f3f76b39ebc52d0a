/* How the launcher takes a text of a kernel for a call, and starts it. */
#include "emit_cuda/texts.h"

#include "base/diag.h"
#include "emit/device.h"
#include "emit/host.h"
#include "emit/names.h"
#include "emit_cuda/beside.h"
#include "emit_cuda/peel.h"
#include "emit_cuda/start.h"

/* Of the module whose launchers are being printed: HostTarget.start names them by their Fn. */
static const CuKernels *kernels;

Str cu_launch(Cu *g, const Sym *s)
{
	CuSyms *v = g->launch;
	if (s->kind == SYM_CONST || (s->kind == SYM_ATOM && (s->atom == ATOM_DIM || s->atom == ATOM_STRIDE))) return sym_c(s);
	for (int i = 0; i < v->n; i++)
		if (v->p[i] == s) return str_fmt("ct_l%d", i);
	vec_push(A_UNIT, v, s);
	return str_fmt("ct_l%d", v->n - 1);
}

static bool is_peeled(TextKind t) { return t >= TEXT_PEELED && t < TEXT_ALIGNED; }        /* twins are, too */
static bool is_twin(TextKind t) { return t >= TEXT_TWIN && t < TEXT_ALIGNED; }

static Str table_name(TextKind t)
{
	if (t == TEXT_ANY) return "ct_k";
	if (is_twin(t)) return str_fmt("ct_k_twin%d", t - TEXT_TWIN);
	if (is_peeled(t)) return str_fmt("ct_k_peeled%d", t - TEXT_PEELED);
	if (t == TEXT_PAIRED) return "ct_k_paired";
	if (t == TEXT_WHOLE) return "ct_k_whole";
	return t == TEXT_ALIGNED ? str_intern("ct_k_aligned") : str_fmt("ct_k_below%d", t);
}

static void kernel_row(Out *o, const CuKernel *k, const EmitOptions *opt, int arch, TextKind t)
{
	const ArchRow *a = opt->archs.p[arch];
	const Fn *fn = k->by_arch[arch].of[t].fn;
	int cluster = fn->cluster ? fn->cluster : 1, packed = fn->packed ? fn->packed : 1, tiles = fn->tiles ? fn->tiles : packed;
	if (fn->apart) tiles = -2 * fn->apart;
	if (follow_distance(fn)) tiles = -(follow_distance(fn) * FOLLOW_CODE + follow_groups(fn));
	out_printf(o, "\t{ (const void *)%s, %d, %d, %d, %d, %d, %lld, \"%s\" },\n", text_name(fn, a, t), a->number, a->specific,
		cu_threads(fn), cluster, tiles, (long long)(fn->shared_bytes * packed + fn->warp_bytes * cu_threads(fn) / 32), a->name);
}

/* Of two rows of one architecture the later one comes first into question. */
static int kernel_rows(const CuKernel *k, const EmitOptions *opt)
{
	int n = opt->archs.n;
	for (int i = 0; i < opt->archs.n; i++) n += k->by_arch[i].of[TEXT_PORTABLE].fn != NULL;
	return n;
}

static void kernel_table(Out *o, const CuKernel *k, const EmitOptions *opt, TextKind t)
{
	out_printf(o, "static const CtKernel %s[] = {\n", table_name(t));
	for (int i = 0; i < opt->archs.n; i++) {
		if (k->by_arch[i].of[TEXT_PORTABLE].fn) kernel_row(o, k, opt, i, TEXT_PORTABLE);
		kernel_row(o, k, opt, i, k->by_arch[i].of[t].fn ? t : TEXT_ANY);
	}
	out_printf(o, "};\nstatic volatile signed char %s_pick[CT_DEVICES];\n", table_name(t));
}

static void launch_text(Out *o, const CuKernel *k, const EmitOptions *opt, const char *name, TextKind t)
{
	Str table = table_name(t);
	out_printf(o, "return ct_launch(\"%s\", %s_pick, %s, %d, ct_blocks, ct_args, stream);\n", name, table, table, kernel_rows(k, opt));
}

static bool is_half(TextKind t) { return t >= TEXT_HALF && t < TEXT_PEELED; }
static bool is_cut(TextKind t) { return t >= TEXT_CUT && t < TEXT_PEELED; }

/* Do its tile blocks follow each other in a cluster? */
static bool follows(const CuKernel *k, const EmitOptions *opt, TextKind t)
{
	for (int i = 0; i < opt->archs.n; i++)
		if (k->by_arch[i].of[t].fn && follow_distance(k->by_arch[i].of[t].fn)) return true;
	return false;
}

static void launch_if(Out *o, const CuKernel *k, const EmitOptions *opt, const char *name, TextKind t)
{
	bool aligned = text_is_for_aligned(t);
	const Conditions *v = aligned ? &k->needs : &k->lengths;
	out_puts(o, "if (");
	if (t == TEXT_PAIRED || is_twin(t)) out_puts(o, "ct_blocks >= CT_PAIRS\n\t&& ");
	if (is_cut(t) && follows(k, opt, t)) out_puts(o, "ct_blocks >= 4 * CT_PAIRS\n\t&& ");
	for (int i = 0; i < v->n; i++) {
		out_puts(o, i ? "\n\t&& " : "");
		if (aligned) out_puts(o, v->p[i]);
		else out_printf(o, "%s >= %lld && %s < %lld", v->p[i], (long long)k->sure[t], v->p[i], (long long)k->kept[t]);
	}
	if (t == TEXT_WHOLE) out_printf(o, "\n\t&& %s", k->whole);
	for (int i = 0; is_peeled(t) && i < k->phases.n; i++) out_printf(o, "\n\t&& %s", k->phases.p[i]);
	out_puts(o, ")\n\t");
	launch_text(o, k, opt, name, t);
}

static void print_start(Out *o, const CuKernel *k, const EmitOptions *opt, const char *name)
{
	int n = opt->archs.n;
	out_puts(o, "static const CtStart ct_how[] = {\n");
	for (int i = 0; i < n; i++) {
		const Fn *fn = k->by_arch[i].of[TEXT_ANY].fn;
		out_printf(o, "\t{ %d, %d, %d },\n", fn->persistent, text_dependent(fn), text_together(fn));
	}
	out_printf(o, "};\nstatic volatile int ct_most[%d * CT_DEVICES];\n", n);
	out_printf(o, "return ct_start(\"%s\", ct_k_pick, ct_most, ct_k, ct_how, %d, ct_blocks, ct_args, stream);\n", name, n);
}

/* Before the text for aligned tensors, which computes all pads of short rows? Where it does on all architectures. In a cluster single
 * elements cost more than pads: layer norm of 20,000 columns of f32 would fall from 94 to 89 % of the copy rate. */
static bool goes_first(const CuKernel *k, const EmitOptions *opt, TextKind t)
{
	bool first = is_peeled(t) || is_half(t) || is_cut(t);
	for (int i = 0; first && i < opt->archs.n; i++) {
		const CuText *of = k->by_arch[i].of;
		first = of[t].fn && (is_half(t) || (is_cut(t) ? of[TEXT_HALF].fn && !of[t].fn->cluster : peel_leads(of[t].fn)));
	}
	return first;
}

static const CuKernel *find_kernel(const Fn *fn)
{
	static int next;                /* kernels are started in their order: the search goes on where it ended */
	int tried = 0;
	while (tried < kernels->n && kernels->p[(next + tried) % kernels->n].fn != fn) tried++;
	if (tried == kernels->n) bug("no text for kernel %s", fn->name);
	next = (next + tried) % kernels->n;
	return &kernels->p[next];
}

static void print_args(Out *o, const CuKernel *k)
{
	out_puts(o, "void *ct_args[] = { ");
	for (int i = 0; i < k->params.n; i++) out_printf(o, "%s(void *)&%s", i ? ", " : "", k->params.p[i].given);
	out_printf(o, "%s };\n", k->params.n ? "" : "NULL");
}

static void start_kernel(Out *o, const Module *m, const Fn *fn, const EmitOptions *opt)
{
	const CuKernel *k = find_kernel(fn);
	(void)m;
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
		if (texts_any(k, opt, t)) kernel_table(o, k, opt, t);
	print_args(o, k);
	const char *name = fn->source_name ? fn->source_name : fn->name;
	if (k->starts) {
		print_start(o, k, opt, name);
		return;
	}
	for (int t = TEXTS_FOR_CALLS - 1; t > TEXT_ANY; t--)
		if (texts_any(k, opt, t) && goes_first(k, opt, t)) launch_if(o, k, opt, name, t);
	for (int t = TEXTS_FOR_CALLS - 1; t > TEXT_ANY; t--)
		if (texts_any(k, opt, t) && !goes_first(k, opt, t)) launch_if(o, k, opt, name, t);
	launch_text(o, k, opt, name, TEXT_ANY);
}

static const HostTarget host_cuda = { .cpp = true, .multiprocessors = device_multiprocessors, .on_arch = device_on_arch,
	.start = start_kernel, .instead = beside_instead, .clear = device_clear };

void launch_host(Out *o, const Module *m, const CuKernels *all, const EmitOptions *opt, const Beside *beside)
{
	bool maps = false;
	StartNeeds needs = { .beside = beside != NULL };
	for (int i = 0; i < opt->archs.n; i++) needs.dependent |= opt->archs.p[i]->number >= DEPENDENT_FROM;
	for (int i = 0; i < all->n; i++) {
		const CuKernel *k = &all->p[i];
		maps |= k->maps.n > 0;
		needs.divides |= k->fn->ngrid > 1;
		needs.attributes |= k->starts;
		needs.wide |= kernel_rows(k, opt) > opt->archs.n;
		for (int t = TEXT_TWIN; t < TEXT_ALIGNED; t++) needs.twins |= texts_any(k, opt, t);
		for (int t = 0; t < TEXTS; t++) needs.follows |= follows(k, opt, t);
		needs.pairs |= needs.twins || needs.follows || texts_any(k, opt, TEXT_PAIRED);
	}
	Out *starts = out_new();
	start_functions(starts, &needs);
	if (maps) out_puts(starts, tmap_host);
	if (needs.attributes) out_puts(starts, start_with_attributes);
	beside_host(starts, beside);
	kernels = all;
	host_print(o, m, opt, &host_cuda, starts->p);
	out_free(starts);
}
