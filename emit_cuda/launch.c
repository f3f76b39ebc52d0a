/* How the launcher takes a version of a kernel for a call, and starts it. */
#include "emit_cuda/versions.h"

#include "base/cost.h"
#include "base/diag.h"
#include "emit/device.h"
#include "emit/host.h"
#include "emit/names.h"
#include "emit_cuda/beside.h"
#include "emit_cuda/start.h"

/* Of a module: HostTarget.kernels. next: where the search for a kernel begins, as they are started in their order. */
typedef struct Launchers { const CuKernels *kernels; StartNeeds needs; int next; } Launchers;

/* ---- guards ---- */
static Str guard_text(Cu *g, const Sym *s);

static bool is_power_of_2(const Sym *s, int64_t *v) { return sym_is_const(s, v) && *v > 0 && !(*v & (*v - 1)); }

static Str address(const Sym *phase) { return str_fmt("(uintptr_t)%s", name_c(phase->name)); }

/* s == 0, or phases that are equal modulo a power of 2; NULL: something else. */
static Str multiple_text(Cu *g, const Sym *s)
{
	const Sym *a = s->arg[0], *b = s->arg[1];
	int64_t n, zero;
	if (a->kind != SYM_MOD || !is_power_of_2(a->arg[1], &n)) return NULL;
	if (sym_is_const(b, &zero) && !zero) return str_fmt("(%s & %lld) == 0", guard_text(g, a->arg[0]), (long long)n - 1);
	if (b->kind != SYM_MOD || b->arg[1] != a->arg[1] || a->arg[0]->atom != ATOM_PHASE || b->arg[0]->atom != ATOM_PHASE)
		return NULL;
	return str_fmt("((%s ^ %s) & %lld) == 0", address(a->arg[0]), address(b->arg[0]), (long long)n - 1);
}

static Str compare_text(Cu *g, const Sym *s, const char *op)
{
	return str_fmt("%s %s %s", guard_text(g, s->arg[0]), op, guard_text(g, s->arg[1]));
}

static Str part_text(Cu *g, const Sym *s)
{
	return s->kind == SYM_OR ? str_fmt("(%s)", guard_text(g, s)) : guard_text(g, s);
}

/* Of what versions.c asks; whatever else is known at launch is a number that the launcher has computed. */
static Str guard_text(Cu *g, const Sym *s)
{
	Str r;
	int64_t n;
	if (s->kind == SYM_ATOM && s->atom == ATOM_BLOCKS) return "ct_blocks";
	switch (s->kind) {
	case SYM_AND: return str_fmt("%s && %s", part_text(g, s->arg[0]), part_text(g, s->arg[1]));
	case SYM_OR: return str_fmt("(%s) || (%s)", guard_text(g, s->arg[0]), guard_text(g, s->arg[1]));
	case SYM_EQ: return (r = multiple_text(g, s)) ? r : compare_text(g, s, "==");
	case SYM_LT: return compare_text(g, s, "<");
	case SYM_LE:
		if (sym_is_const(s->arg[0], &n) && s->arg[1]->atom == ATOM_BLOCKS)
			return str_fmt("ct_blocks >= CT_LEAST(%lld)", (long long)n);
		return compare_text(g, s, "<=");
	case SYM_ALIGNED: return str_fmt("((uintptr_t)%s & %lld) == 0", name_c(s->name), (long long)s->value - 1);
	default: return cu_launch(g, s);
	}
}

static bool serves_all(const Version *v) { return sym_is_const(v->guard, NULL); }

void launch_guards(CuKernel *k)
{
	Cu g = { .launch = &k->launch };
	for (int i = 0; i < k->versions.n; i++)
		if (!serves_all(&k->versions.p[i].v)) guard_text(&g, k->versions.p[i].v.guard);
	for (int i = 0; i < k->versions.n; i++)
		if (k->versions.p[i].v.fn->short_rows) version_lanes(k, &k->versions.p[i]);
}

/* ---- the table of versions, by architecture ---- */
/* Versions of a kernel of which none walks over its tile blocks or lets others begin wait for the
 * kernel before them first of all. */
static int how_of(const CuKernel *k, const CuVersion *t, const ArchRow *a)
{
	bool dependent = k->starts ? t->dependent : a->number >= DEPENDENT_FROM;
	return (t->v.fn->persistent ? HOW_PERSISTENT : 0) | (dependent ? HOW_DEPENDENT : 0)
		| (t->together ? HOW_TOGETHER : 0);
}

/* In words of the table's own (start.c). */
static Str how_text(int how)
{
	static const struct { int bit; const char *name; } words[] = {
		{ HOW_PERSISTENT, "CT_PERSISTENT" }, { HOW_DEPENDENT, "CT_DEPENDENT" }, { HOW_TOGETHER, "CT_TOGETHER" },
	};
	Str text = NULL;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (how & words[i].bit) text = text ? str_fmt("%s | %s", text, words[i].name) : str_intern(words[i].name);
	return text ? text : str_intern("0");
}

static long long shared_of(const CuVersion *t) { return (long long)block_shared(t->v.fn, t->threads); }

/* Of a version, or of its kernel for short rows: the shared memory there is that of one tile block. */
static void print_row(Out *o, const CuKernel *k, const CuVersion *t, const ArchRow *arch, bool is_short)
{
	const Fn *fn = t->v.fn;
	out_printf(o, "\t{ (const void *)%s%s, %d, %d, %d, %d, %d, %lld, %s, \"%s\" },\n", t->name,
		is_short ? "_short" : "", arch->number, arch->specific, is_short ? COST_SHORT_THREADS : t->threads,
		fn->cluster ? fn->cluster : 1, fn->packed && !is_short ? fn->packed : 1,
		is_short ? (long long)fn->shared_bytes : shared_of(t), how_text(how_of(k, t, arch)), arch->name);
}

/* ct_k, and how many rows it has. */
static int print_rows(Out *o, const CuKernel *k, const EmitOptions *opt)
{
	int n = 0;
	out_puts(o, "static const CtKernel ct_k[] = {\n");
	for (int a = 0; a < opt->archs.n; a++)
		for (int i = 0; i < k->versions.n; i++) {
			const CuVersion *t = &k->versions.p[i];
			if (!(t->v.archs >> a & 1)) continue;
			if (rows_share(t->v.fn)) print_row(o, k, t, opt->archs.p[a], true), n++;
			print_row(o, k, t, opt->archs.p[a], false);
			n++;
		}
	out_puts(o, "};\n");
	return n;
}

/* ---- predicted times ---- */
/* Of the version among those of its kernel that have one; -1: it has none. */
static int time_index(const CuKernel *k, const Sym *time)
{
	for (int i = 0, n = 0; time && i < k->versions.n; n += k->versions.p[i++].v.time != NULL)
		if (k->versions.p[i].v.time == time) return n;
	return -1;
}

/* A time that does not fit 64 bits is any: the call is slower at most. */
static void print_times(Out *o, const CuKernel *k)
{
	const Sym **time = NEW_ARRAY(A_TMP, const Sym *, k->versions.n);
	int n = 0;
	for (int i = 0; i < k->versions.n; i++)
		if (k->versions.p[i].v.time) time[n++] = k->versions.p[i].v.time;
	if (!n) return;
	out_puts(o, "int ct_fastest = 0;\n{\n");
	out_in(o);
	out_puts(o, "int ct_bad = 0;\n");
	HostLets *lets = host_lets(time, n, "ct_c");
	host_lets_print(o, lets);
	out_puts(o, "const int64_t ct_time[] = {\n");
	for (int i = 0; i < n; i++) {
		out_puts(o, "\t");
		host_expr_by(o, time[i], lets);
		out_puts(o, ",\n");
	}
	out_printf(o, "};\nfor (int i = 1; i < %d; i++)\n\tif (ct_time[i] < ct_time[ct_fastest]) ct_fastest = i;\n"
		"(void)ct_bad;\n", n);
	out_off(o);
	out_puts(o, "}\n");
}

/* ---- conditions of versions ---- */
/* Which of those that print_guards asks is a guard; -1: it holds for all calls. */
static int guard_index(const CuKernel *k, const Sym *guard)
{
	int n = 0;
	if (sym_is_const(guard, NULL)) return -1;
	for (int i = 0; i < k->versions.n; i++) {
		const Sym *s = k->versions.p[i].v.guard;
		bool before = sym_is_const(s, NULL);
		for (int j = 0; j < i; j++) before |= k->versions.p[j].v.guard == s;
		if (before) continue;
		if (s == guard) return n;
		n++;
	}
	bug("no version asks for %s", sym_text(guard));
}

/* Of a version; NULL: it serves all calls. */
static Str condition(const CuKernel *k, const Sym *guard, const Sym *time)
{
	int g = guard_index(k, guard), t = time_index(k, time);
	if (g < 0) return t < 0 ? NULL : str_fmt("ct_fastest == %d", t);
	return t < 0 ? str_fmt("ct_if%d", g) : str_fmt("ct_if%d && ct_fastest == %d", g, t);
}

static bool asks(const CuKernel *k)
{
	for (int i = 0; i < k->versions.n; i++) {
		const Version *v = &k->versions.p[i].v;
		if (!serves_all(v) || v->time || rows_share(v->fn)) return true;
	}
	return false;
}

/* The first version whose rows share thread blocks when those of version i do, and as many. */
static int short_number(const CuKernel *k, int i)
{
	const CuVersion *v = k->versions.p;
	for (int first = 0;; first++) {
		const CuVersion *a = &v[first], *b = &v[i];
		if (a->v.fn->warp_rows != b->v.fn->warp_rows || a->v.fn->short_rows != b->v.fn->short_rows) continue;
		if (b->v.fn->warp_rows ? a->warps == b->warps : version_same_lanes(a, b)) return first;
	}
}

/* ct_fits: which versions may serve the call, in the order of the table. Each condition is asked once. */
static void print_guards(Out *o, CuKernel *k, const EmitOptions *opt)
{
	Cu g = { .launch = &k->launch };
	print_times(o, k);
	for (int i = 0, n = 0; i < k->versions.n; i++) {
		const Sym *s = k->versions.p[i].v.guard;
		if (guard_index(k, s) == n) out_printf(o, "const char ct_if%d = %s;\n", n++, guard_text(&g, s));
	}
	if (!asks(k)) return;
	out_puts(o, "const char ct_fits[] = { ");
	for (int a = 0, n = 0; a < opt->archs.n; a++)
		for (int i = 0; i < k->versions.n; i++) {
			const Version *v = &k->versions.p[i].v;
			if (!(v->archs >> a & 1)) continue;
			Str when = condition(k, v->guard, v->time);
			Str also = when ? str_fmt("%s && ", when) : "";
			if (rows_share(v->fn))
				out_printf(o, "%s%sct_rows_%d > 0", n++ ? ", " : "", also, short_number(k, i));
			if (version_grid(k, v->fn))
				out_printf(o, "%s%s%s >= 0", n++ ? ", " : "", also,
					version_grid_name("ct_blocks", version_grid(k, v->fn)));
			else out_printf(o, "%s%s", n++ ? ", " : "", when ? when : "1");
		}
	out_puts(o, " };\n");
}

static bool has_fewer(const CuKernel *k)
{
	for (int i = 0; i < k->versions.n; i++)
		if (k->versions.p[i].warps || rows_share(k->versions.p[i].v.fn)) return true;
	return false;
}

static bool has_own(const CuKernel *k) { return k->grids.n > 1 || has_fewer(k); }

static void print_launch(Out *o, const CuKernel *k, const StartNeeds *needs, const EmitOptions *opt)
{
	const char *name = k->fn->source_name ? k->fn->source_name : k->fn->name;
	int n = print_rows(o, k, opt);
	bool persistent = false;
	out_puts(o, "static volatile unsigned long long ct_runs[CT_DEVICES];\n");
	for (int i = 0; i < k->versions.n; i++) persistent |= k->versions.p[i].v.fn->persistent != 0;
	if (persistent) out_printf(o, "static volatile int ct_most[%d * CT_DEVICES];\n", n);
	out_printf(o, "return ct_launch(\"%s\", ct_runs, %sct_k, %s, %d, ct_blocks, %sct_args, stream);\n", name,
		persistent ? "ct_most, " : needs->persistent ? "NULL, " : "", asks(k) ? "ct_fits" : "NULL", n,
		!needs->own ? "" : has_own(k) ? "ct_own, " : "NULL, ");
}

/* ---- grids ---- */
/* What kernels get as parameters about a grid. */
static void print_grid(Out *o, const CuKernel *k, int grid)
{
	const Fn *fn = k->grids.p[grid];
	Str extents = version_grid_name("ct_grid", grid);
	for (int i = 0; i + 1 < fn->ngrid; i++) {
		int a = ir_sweep(fn, i);
		Str g = version_grid_name(str_fmt("ct_g%d", a), grid);
		out_printf(o, "const unsigned int %s = (unsigned int)%s[%d];\nconst unsigned long long %s = ct_divisor(%s);\n",
			g, extents, a, version_grid_name(str_fmt("ct_d%d", a), grid), g);
	}
	if (k->packed)
		out_printf(o, "const unsigned int %s = (unsigned int)%s;\n", version_grid_name("ct_count", grid),
			version_grid_name("ct_blocks", grid));
}

/* Threads and thread blocks of a cluster that a call starts of a version: as many warps as its rows need, evenly, in
 * small thread blocks, so that several of them share a multiprocessor. */
static void print_fewer(Out *o, const CuVersion *t, int number)
{
	const Fn *fn = t->v.fn;
	int most = t->threads / 32;
	if (!fn->cluster) {
		out_printf(o, "const int ct_threads_%d = 32 * (int)", number);
		host_expr(o, t->warps);
		out_printf(o, ", ct_cluster_%d = 1;\n", number);
		return;
	}
	out_printf(o, "const int ct_warps_%d = (int)", number);
	host_expr(o, t->warps);
	int few = most < COST_STARTED_WARPS ? most : COST_STARTED_WARPS;
	if (few == most) out_printf(o, ", ct_cluster_%d = (ct_warps_%d + %d) / %d", number, number, few - 1, few);
	else out_printf(o, ", ct_cluster_%d = ct_warps_%d < %d ? (ct_warps_%d + %d) / %d : %d", number, number,
		few * fn->cluster, number, few - 1, few, fn->cluster);
	out_printf(o, ";\nconst int ct_threads_%d = (ct_warps_%d + ct_cluster_%d - 1) / ct_cluster_%d * 32;\n", number,
		number, number, number);
}

/* How many rows of the call share a thread block, short ones or those of a warp; 0: none, they are longer. */
static void print_short(Out *o, const CuKernel *k, int number)
{
	const CuVersion *t = &k->versions.p[number];
	if (short_number(k, number) != number) return;
	if (t->v.fn->warp_rows) {
		out_printf(o, "const int ct_rows_%d = ct_threads_%d == 32 ? %d : 0;\n", number, number,
			COST_SHORT_THREADS / LANES);
		return;
	}
	out_printf(o, "const int ct_rows_%d = %s ? %d >> (%s) : 0;\n", number, version_short(k, t), COST_SHORT_THREADS,
		version_lanes(k, t));
}

/* Grids of versions that have one of their own; ct_own: what a call starts of each version in the table. */
static void print_own(Out *o, const CuKernel *k, const EmitOptions *opt)
{
	print_grid(o, k, 0);
	for (int i = 1; i < k->grids.n; i++) {
		host_grid(o, k->grids.p[i], version_grid_name("ct_grid", i), version_grid_name("ct_blocks", i));
		print_grid(o, k, i);
	}
	if (!has_own(k)) return;
	for (int i = 0; i < k->versions.n; i++)
		if (k->versions.p[i].warps) print_fewer(o, &k->versions.p[i], i);
	for (int i = 0; i < k->versions.n; i++)
		if (rows_share(k->versions.p[i].v.fn)) print_short(o, k, i);
	out_puts(o, "const CtOwn ct_own[] = { ");
	for (int a = 0, n = 0; a < opt->archs.n; a++)
		for (int i = 0; i < k->versions.n; i++) {
			const Version *v = &k->versions.p[i].v;
			if (!(v->archs >> a & 1)) continue;
			Str blocks = version_grid_name("ct_blocks", version_grid(k, v->fn));
			if (rows_share(v->fn))
				out_printf(o, "%s{ %s, %d, 1, ct_rows_%d }", n++ ? ", " : "", blocks, COST_SHORT_THREADS,
					short_number(k, i));
			out_printf(o, "%s{ %s, ", n++ ? ", " : "", blocks);
			if (k->versions.p[i].warps) out_printf(o, "ct_threads_%d, ct_cluster_%d, ", i, i);
			else out_printf(o, "%d, %d, ", k->versions.p[i].threads, v->fn->cluster ? v->fn->cluster : 1);
			out_printf(o, "%d }", v->fn->packed ? v->fn->packed : 1);
		}
	out_puts(o, " };\n");
}

static CuKernel *find_kernel(Launchers *l, const Fn *fn)
{
	const CuKernels *all = l->kernels;
	int tried = 0;
	while (tried < all->n && all->p[(l->next + tried) % all->n].fn != fn) tried++;
	if (tried == all->n) bug("no versions of kernel %s", fn->name);
	l->next = (l->next + tried) % all->n;
	return &all->p[l->next];
}

static void print_args(Out *o, const CuKernel *k)
{
	out_puts(o, "void *ct_args[] = { ");
	for (int i = 0; i < k->params.n; i++) out_printf(o, "%s(void *)&%s", i ? ", " : "", k->params.p[i].given);
	out_printf(o, "%s };\n", k->params.n ? "" : "NULL");
}

static void print_maps(Out *o, const Fn *fn, const CuKernel *k)
{
	Str *when = NEW_ARRAY(A_TMP, Str, k->maps.n);
	for (int i = 0; i < k->maps.n; i++) when[i] = condition(k, k->maps.p[i].guard, k->maps.p[i].time);
	for (int i = 0; i < tmap_slots(&k->maps); i++) tmap_encode(o, fn, &k->maps, i, when);
}

static void start_kernel(const HostTarget *t, Out *o, const Fn *fn, const EmitOptions *opt)
{
	Launchers *l = t->kernels;
	CuKernel *k = find_kernel(l, fn);
	host_sizes(o, fn->name, k->launch.p, k->launch.n);
	print_own(o, k, opt);
	print_guards(o, k, opt);
	print_maps(o, fn, k);
	print_args(o, k);
	print_launch(o, k, &l->needs, opt);
}

static void find_blocks(void *ctx, const Sym *atom) { *(bool *)ctx |= atom->atom == ATOM_BLOCKS; }

static void add_needs(StartNeeds *needs, const CuKernel *k, const EmitOptions *opt)
{
	for (int i = 0; i < k->grids.n; i++) needs->divides |= k->grids.p[i]->ngrid > 1;
	needs->own |= has_own(k);
	for (int i = 0; i < k->versions.n; i++) {
		const CuVersion *t = &k->versions.p[i];
		const Version *v = &t->v;
		const Fn *fn = v->fn;
		needs->wide |= fn->cluster > 1 << CLUSTER_PORTABLE;
		needs->cluster |= fn->cluster > 1;
		needs->packed |= fn->packed > 1 || rows_share(fn);
		needs->shared |= shared_of(t) > 48 * 1024;
		for (int a = 0; a < opt->archs.n; a++) {
			int how = v->archs >> a & 1 ? how_of(k, t, opt->archs.p[a]) : 0;
			needs->persistent |= (how & HOW_PERSISTENT) != 0;
			needs->dependent |= (how & HOW_DEPENDENT) != 0;
			needs->together |= (how & HOW_TOGETHER) != 0;
		}
		sym_atoms(v->guard, find_blocks, &needs->blocks);
	}
}

void launch_host(Out *o, const Module *m, const CuKernels *all, const EmitOptions *opt, const Beside *beside)
{
	bool maps = false;
	Launchers l = { .kernels = all, .needs = { .beside = beside != NULL, .archs = str_intern("") } };
	HostTarget target = { .multiprocessors = device_multiprocessors, .on_arch = device_on_arch,
		.start = start_kernel, .kernels = &l, .instead = beside_instead, .clear = device_clear };
	for (int i = 0; i < opt->archs.n; i++)
		l.needs.archs = str_fmt("%s%s%s", l.needs.archs, i ? ", " : "", opt->archs.p[i]->name);
	for (int i = 0; i < all->n; i++) {
		maps |= all->p[i].maps.n > 0;
		add_needs(&l.needs, &all->p[i], opt);
	}
	Out *starts = out_new();
	start_functions(starts, &l.needs);
	if (maps) out_puts(starts, tmap_host);
	beside_host(starts, beside);
	host_print(o, m, starts->p, host_launchers(m, opt, &target));
	out_free(starts);
}
