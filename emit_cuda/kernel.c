/* One version of a kernel: its head, which thread of which tile block runs it, its body. */
#include "base/diag.h"
#include "emit/names.h"
#include "emit_cuda/group.h"
#include "emit_cuda/versions.h"

Str arch_macro(const ArchRow *a) { return str_fmt("CT_SM%d%s", a->number, a->specific ? "A" : ""); }

static const ArchRow *first_arch(const Version *v, const EmitOptions *opt)
{
	int a = 0;
	while (!(v->archs >> a & 1)) a++;
	return opt->archs.p[a];
}

/* Named after the first architecture that it serves. A C function of the author's may be called `f_sm80`. */
Str version_name(const NameSet *entries, const Version *v, const EmitOptions *opt)
{
	const ArchRow *a = first_arch(v, opt);
	Str name = str_fmt("%s_sm%d%s%s%s", name_entry(v->of->name), a->number, a->specific ? "a" : "", *v->name ? "_" : "",
		v->name);
	return names_has(entries, name) ? str_fmt("ct_%s", name) : name;
}

/* The longest row that 2^log2 lanes have. */
static int64_t longest_of(const CuVersion *t, int log2) { return t->parts[log2].p[t->parts[log2].n - 1].most; }

static int64_t longest_short(const CuVersion *t) { return longest_of(t, t->short_lanes); }

static void title(Out *o, const CuVersion *k)
{
	const Version *v = &k->v;
	const Fn *fn = v->fn;
	int64_t known;
	Out *t = out_new();
	out_printf(t, "%s", fn->source_name ? fn->source_name : fn->name);
	for (int i = 0; i < fn->generics.n; i++)
		out_printf(t, "%s%s = %s", i ? ", " : ": ", fn->generics.p[i].name, fn->generics.p[i].value);
	if (fn->lanes) out_printf(t, "; %d lane%s", fn->lanes, fn->lanes == 1 ? "" : "s");
	else out_printf(t, "; %d warp%s", fn->warps, fn->warps == 1 ? "" : "s");
	if (fn->cluster) out_printf(t, " in a cluster of %d thread blocks", fn->cluster);
	if (fn->packed) out_printf(t, ", up to %d tile blocks in a thread block", fn->packed);
	out_printf(t, ", %lld bytes of shared memory%s", (long long)fn->shared_bytes,
		fn->cluster || fn->packed ? " each" : "");
	if (fn->warp_rows) out_puts(t, "; rows of one warp share a thread block");
	if (fn->short_rows)
		out_printf(t, "; rows of up to %lld elements by fewer lanes%s", (long long)longest_short(k),
			k->short_lanes == fn_threads(fn).lanes ? " or registers" : "");
	if (!sym_is_const(v->guard, &known)) out_printf(t, "; for %s", sym_text(v->guard));
	else if (*v->name) out_printf(t, "; %s", v->name);
	comment_text(o, t->p, "// ");
	out_free(t);
}

static const char *param_type(const IrParam *p)
{
	if (p->is_tensor) return str_fmt("%s%s *", p->mode == PM_IN ? "const " : "", cu_type(p->elem));
	return elem_is_ptr(p->elem) ? cu_type(p->elem) : str_fmt("const %s ", cu_type(p->elem));
}

static void add_param(CuParams *params, const char *type, Str name)
{
	vec_push(A_UNIT, params, ((CuParam){ type, name, name }));
}

/* ---- grids ---- */
static bool same_grid(const Fn *a, const Fn *b)
{
	bool same = a->ngrid == b->ngrid;
	for (int i = 0; same && i < a->ngrid; i++) same = a->grid[i] == b->grid[i] && ir_sweep(a, i) == ir_sweep(b, i);
	return same;
}

int version_grid(const CuKernel *k, const Fn *fn)
{
	int i = 0;
	if (fn->persistent) return 0;   /* it counts its tile blocks itself */
	while (i < k->grids.n && !same_grid(k->grids.p[i], fn)) i++;
	if (i == k->grids.n) bug("a version of `%s` has a grid that nobody noted", k->fn->name);
	return i;
}

Str version_grid_name(const char *what, int grid) { return grid ? str_fmt("%s_%d", what, grid) : str_intern(what); }

void version_note_grid(CuKernel *k, const Fn *fn)
{
	if (k->grids.n && fn->persistent) return;
	for (int i = 0; i < k->grids.n; i++)
		if (same_grid(k->grids.p[i], fn)) return;
	vec_push(A_UNIT, &k->grids, fn);
}

static Str of_axis(const char *what, int axis, int grid)
{
	return version_grid_name(str_fmt("%s%d", what, axis), grid);
}

static void grid_params(CuKernel *k, int grid)
{
	CuParams *params = &k->params;
	const Fn *fn = k->grids.p[grid];
	for (int i = 0; i + 1 < fn->ngrid; i++) {
		add_param(params, "const unsigned int ", of_axis("ct_g", ir_sweep(fn, i), grid));
		add_param(params, "const unsigned long long ", of_axis("ct_d", ir_sweep(fn, i), grid));
	}
	if (!k->packed) return;
	add_param(params, "const unsigned int ", version_grid_name("ct_blocks", grid));
	params->p[params->n - 1].given = version_grid_name("ct_count", grid);   /* ct_blocks is of 64 bits there */
}

void version_params(CuKernel *k)
{
	CuParams *params = &k->params;
	const Fn *fn = k->fn;
	for (int i = 0; i < fn->params.n; i++)
		add_param(params, param_type(&fn->params.p[i]), name_c(fn->params.p[i].name));
	for (int i = 0; i < fn->dims.n; i++) add_param(params, "const long long ", name_dim(fn, i));
	for (int i = 0; i < k->launch.n; i++) add_param(params, "const long long ", str_fmt("ct_l%d", i));
	for (int i = 0; i < tmap_slots(&k->maps); i++)
		add_param(params, "const __grid_constant__ ct_tensor_map ", str_fmt("ct_m%d", i));
	for (int i = 0; i < k->grids.n; i++) grid_params(k, i);
}

static void note_axis(void *axes, Op *op)
{
	if (op->code == OP_BID) *(unsigned *)axes |= 1u << ir_axis(op);
}

/* The axes of the grid along which operations ask for the block's index, a set. */
static unsigned axes_asked(const Fn *fn)
{
	unsigned axes = 0;
	ir_walk(fn->body, note_axis, &axes);
	return axes;
}

/* Tile blocks are numbered along the kernel's sweep over the grid. Everything else of a block waits for its index, so
 * the launcher makes what a division by an extent takes (ct_divisor). Only what operations ask for is computed. */
static void block_index(Cu *g, int grid)
{
	Out *o = g->o;
	const Fn *fn = g->fn;
	Str rest = fn->cluster ? str_fmt("blockIdx.x / %s", cu_blocks_started(fn))
		: str_intern(fn->packed || rows_share(fn) ? "ct_block" : "blockIdx.x");
	unsigned asked = axes_asked(fn);
	for (int i = 0; asked && i < fn->ngrid; i++) {
		int a = ir_sweep(fn, i);
		bool wanted = asked >> a & 1;
		asked &= ~(1u << a);
		if (i + 1 == fn->ngrid) {
			out_printf(o, "const unsigned int ct_bid%d = %s;\n", a, rest);
		} else {
			out_printf(o, "const unsigned int ct_rest%d = ct_div(%s, %s);\n", i, rest, of_axis("ct_d", a, grid));
			if (wanted)
				out_printf(o, "const unsigned int ct_bid%d = %s - ct_rest%d * %s;\n", a, rest, i,
					of_axis("ct_g", a, grid));
		}
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

/* Of a kernel whose tile blocks may share warps: 2^ct_log2 lanes work on each, as a call says; 32: those of a warp. */
static void lanes_index(Cu *g, Str blocks)
{
	Out *o = g->o;
	const Fn *fn = g->fn;
	const char *at = "blockIdx.x * (blockDim.x >> ct_log2) + (threadIdx.x >> ct_log2)";
	out_puts(o, "const int ct_lanes = 1 << ct_log2;\n");
	out_printf(o, "const unsigned int ct_lane = threadIdx.x & (ct_lanes - 1), ct_warp = %s;\n",
		fn->packed ? "0" : "ct_log2 < 5 ? 0 : threadIdx.x >> 5");
	out_printf(o, fn->packed ? "const unsigned int ct_at = %s;\n"
		: "const unsigned int ct_at = ct_log2 < 5 ? %s : blockIdx.x;\n", at);
	const char *some = fn->packed ? "" : "ct_log2 < 5 && ", *all = fn->packed ? "" : "ct_log2 == 5 || ";
	out_printf(o, "if (%s(ct_at & ~((32u >> ct_log2) - 1)) >= %s) return;\n", some, blocks);
	out_printf(o, "const bool ct_live = %sct_at < %s;\n", all, blocks);
	if (axes_asked(fn)) out_printf(o, "const unsigned int ct_block = ct_live ? ct_at : %s - 1;\n", blocks);
	if (!fn->shared_bytes) return;
	out_puts(o, "extern __shared__ __align__(16) unsigned char ct_all_smem[];\n");
	out_printf(o, "unsigned char *const ct_smem = ct_all_smem%s(threadIdx.x >> ct_log2) * %lld%s;\n",
		fn->packed ? " + " : " + (ct_log2 < 5 ? ", (long long)fn->shared_bytes, fn->packed ? "" : " : 0)");
}

/* Of a kernel each of whose warps has a row where ct_alone; else a thread block has one. */
static void warps_index(Cu *g, Str blocks)
{
	Out *o = g->o;
	out_puts(o, "const unsigned int ct_lane = threadIdx.x & 31, ct_warp = ct_alone ? 0 : threadIdx.x >> 5;\n");
	out_puts(o, "const unsigned int ct_block = ct_alone ? blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5) : "
		"blockIdx.x;\n");
	out_printf(o, "if (ct_alone && ct_block >= %s) return;\n", blocks);
	if (!g->fn->shared_bytes) return;
	out_puts(o, "extern __shared__ __align__(16) unsigned char ct_all_smem[];\n");
	out_printf(o, "unsigned char *const ct_smem = ct_all_smem + (ct_alone ? (threadIdx.x >> 5) * %lld : 0);\n",
		(long long)g->fn->shared_bytes);
}

/* Which thread of which tile block this is. Tile blocks of fewer lanes than a warp exchange data by instructions in
 * which the whole warp takes part: lanes beyond the grid work on its last tile block and store
 * nothing; warps beyond it end. */
static void thread_index(Cu *g, int grid)
{
	Out *o = g->o;
	const Fn *fn = g->fn;
	Str blocks = version_grid_name("ct_blocks", grid);
	if (fn->short_rows) {
		lanes_index(g, blocks);
		return;
	}
	if (fn->warp_rows) {
		warps_index(g, blocks);
		return;
	}
	if (!fn->packed) {
		if (fn->shared_bytes) out_puts(o, "extern __shared__ __align__(16) unsigned char ct_smem[];\n");
		out_puts(o, "const unsigned int ct_lane = threadIdx.x & 31, ct_warp = threadIdx.x >> 5;\n");
		return;
	}
	int lanes = fn_threads(fn).lanes, threads = lanes + fn_threads(fn).warps;       /* log2 */
	if (lanes) {
		Str warp = fn->warps > 1 ? str_fmt("threadIdx.x >> 5 & %d", fn->warps - 1) : str_intern("0");
		out_printf(o, "const unsigned int ct_lane = threadIdx.x & %d, ct_warp = %s;\n", (1 << lanes) - 1, warp);
		out_printf(o, "const unsigned int ct_at = blockIdx.x * (blockDim.x >> %d) + (threadIdx.x >> %d);\n", threads,
			threads);
	} else {
		out_puts(o, "const unsigned int ct_lane = 0, ct_warp = 0;\n");
		out_puts(o, "const unsigned int ct_at = blockIdx.x * blockDim.x + threadIdx.x;\n");
	}
	if (fn->lanes) {
		out_printf(o, "if ((ct_at & ~%du) >= %s) return;\n", 32 / fn->lanes - 1, blocks);
		out_printf(o, "const bool ct_live = ct_at < %s;\n", blocks);
		if (axes_asked(fn)) out_printf(o, "const unsigned int ct_block = ct_live ? ct_at : %s - 1;\n", blocks);
	} else {
		out_printf(o, "const unsigned int ct_block = ct_at;\nif (ct_block >= %s) return;\n", blocks);
	}
	if (fn->shared_bytes || fn->warp_bytes)
		out_puts(o, "extern __shared__ __align__(16) unsigned char ct_all_smem[];\n");
	if (fn->warp_bytes) dense_begin(g);
	if (!fn->shared_bytes) return;
	out_printf(o, "unsigned char *const ct_smem = ct_all_smem + (threadIdx.x >> %d) * %lld;\n", lanes,
		(long long)fn->shared_bytes);
}

Cu version_body(CuKernel *k, const Version *v, const EmitOptions *opt)
{
	const Fn *fn = v->fn;
	Cu g = { .o = out_new(), .printers = &control_printers, .fn = fn, .opt = opt, .nval = fn->nval,
		.launch = &k->launch, .maps = &k->maps, .guard = v->guard, .time = v->time };
	g.val = NEW_ARRAY(A_TMP, CuVal, fn->nval);
	g.uses = ir_use_counts((Fn *)fn, A_TMP);
	out_in(g.o);
	g.roles = group_needs_base(fn);
	g.loads_first = rows_load_first(fn);
	g.row_shares = row_share_registers(fn) > 0;
	int grid = version_grid(k, fn);
	if (g.roles) group_begin(&g);
	else if (fn->cluster) cluster_begin(&g);
	else thread_index(&g, grid);
	block_index(&g, grid);
	bind_params(&g);
	elem_begin(&g);
	g.prologue = g.o->n;
	control_block(&g, fn->body);
	out_off(g.o);
	out_puts(g.o, "#endif\n}\n");
	k->prints |= g.prints;
	return g;
}

/* The condition under which its body is compiled. */
static Str served(const Version *v, const EmitOptions *opt)
{
	Out *o = out_new();
	for (int a = 0; a < opt->archs.n; a++)
		if (v->archs >> a & 1) out_printf(o, "%s%s", o->n ? " || " : "", arch_macro(opt->archs.p[a]));
	return out_take(o);
}

/* A number for each architecture; 0: the compiler chooses. */
static Str launch_bounds(const CuVersion *t, const EmitOptions *opt)
{
	const Fn *fn = t->v.fn;
	Str on = served(&t->v, opt);
	Out *least = out_new();
	int threads = t->threads, first = -1, n = 0;
	bool same = true;
	if (threads > BLOCK_THREADS) bug("a thread block of `%s` would have %d threads", fn->name, threads);
	for (int i = 0; i < opt->archs.n; i++) {
		const ArchRow *a = opt->archs.p[i];
		if (!(t->v.archs >> i & 1)) continue;
		int blocks = t->v.resident ? t->v.resident[n++] : 0;
		if (first < 0) first = blocks;
		same &= blocks == first;
		out_printf(least, "%s ? %d : ", arch_macro(a), blocks);
	}
	if (!same) return str_fmt("%s ? %d : 1, %s0", on, threads, out_take(least));
	out_free(least);
	Str most = str_fmt("%s ? %d : 1", on, threads);
	return first > 1 ? str_fmt("%s, %s ? %d : 1", most, on, first) : first == 1 ? str_fmt("%s, 1", most) : most;
}

typedef struct Sought { OpCode code; bool found; } Sought;

static void look_for(void *sought, Op *op)
{
	Sought *s = sought;
	s->found |= op->code == s->code;
}

static bool has_op(const Fn *fn, OpCode code)
{
	Sought s = { code, false };
	ir_walk(fn->body, look_for, &s);
	return s.found;
}

void version_ask(CuVersion *t)
{
	const Fn *fn = t->v.fn;
	t->roles = group_has_roles(fn);
	t->dependent = has_op(fn, OP_GRID_WAIT);
	t->together = has_op(fn, OP_GRID_BARRIER);
	t->threads = block_threads(fn);
	t->warps = fn->fewer ? row_warps(fn) : NULL;
	t->share = row_share_registers(fn);
	t->beside = (fn->row_pads ? 1 : 0) + (fn->by_element && rows_shift(fn) ? cut_step(fn) - 1 : 0);
	int lanes = fn_threads(fn).lanes;
	t->short_lanes = fn->short_rows ? short_lanes(fn) : lanes - 1;
	for (int i = fn->short_rows ? fn->lanes_least : lanes; rows_share(fn) && i <= lanes; i++)
		t->parts[i] = row_parts(fn, i);
}

const char version_wait[] = "\tct_grid_wait();\n", version_lets[] = "\tct_grid_launch();\n";

/* Every kernel waits, even one that needs nothing of the last: else the next one, which waits for this one alone, could
 * begin before the last has ended. Kernels with roles say themselves who waits. */
bool version_waits(const CuVersion *t, const EmitOptions *opt)
{
	bool any = false;
	for (int a = 0; a < opt->archs.n; a++) any |= t->v.archs >> a & 1 && opt->archs.p[a]->number >= DEPENDENT_FROM;
	return any && !t->roles;
}

/* ---- rows of fewer lanes ---- */
static Str are_below(const CuKernel *k, const CuVersion *t, Str most)
{
	Cu g = { .launch = (CuSyms *)&k->launch };
	const Fn *fn = t->v.fn;
	Out *o = out_new();
	for (int i = 0; i < fn->below.n; i++)
		out_printf(o, "%s%s <= %s", i ? " && " : "", cu_launch(&g, fn->below.p[i]), most);
	return out_take(o);
}

static Str are_within(const CuKernel *k, const CuVersion *t, int64_t most) { return are_below(k, t, str_i64(most)); }

Str version_short(const CuKernel *k, const CuVersion *t) { return are_within(k, t, longest_short(t)); }

Str version_lanes(const CuKernel *k, const CuVersion *t)
{
	Out *o = out_new();
	int last = t->short_lanes;
	for (int i = t->v.fn->lanes_least; i < last; i++)
		out_printf(o, "%s ? %d : ", are_within(k, t, longest_of(t, i)), i);
	out_printf(o, "%d", last);
	return out_take(o);
}

bool version_same_lanes(const CuVersion *a, const CuVersion *b)
{
	const Fn *f = a->v.fn, *h = b->v.fn;
	bool same = a->short_lanes == b->short_lanes && f->lanes_least == h->lanes_least && f->below.n == h->below.n
		&& longest_short(a) == longest_short(b);
	for (int i = 0; same && i < f->below.n; i++) same = f->below.p[i] == h->below.p[i];
	for (int i = f->lanes_least; same && i < a->short_lanes; i++) same = longest_of(a, i) == longest_of(b, i);
	return same;
}

static void print_params(Out *o, const CuKernel *k, bool types)
{
	for (int i = 0; i < k->params.n; i++)
		out_printf(o, "%s%s%s", i ? ", " : "", types ? k->params.p[i].type : "", k->params.p[i].name);
}

static void print_call(Out *o, const CuKernel *k, Str rows, Str how, int used)
{
	out_printf(o, "%s(", rows);
	print_params(o, k, false);
	if (how) out_printf(o, ", %s", how);
	out_printf(o, used ? ", %d)" : ")", used);
}

/* Of rows that a thread block has for itself; their warps may have equal shares of fewer registers. */
static void print_whole(Out *o, const CuKernel *k, const CuVersion *t, Str rows, Str how)
{
	const Fn *fn = t->v.fn;
	out_puts(o, "\t");
	if (t->share) {
		Str most = str_fmt("%d * (int)blockDim.x", t->share);
		if (t->beside) most = str_fmt("%s - %d", most, t->beside);
		out_printf(o, "%s ? ", are_below(k, t, most));
		print_call(o, k, rows, how, t->share);
		out_puts(o, " : ");
	}
	print_call(o, k, rows, how, fn->row_few ? 1 << fn->row_regs_log2 : 0);
	out_puts(o, ";\n");
}

/* The calls for rows that have 2^log2 lanes, in one line; last: longer rows do not reach it. */
static void print_parts(Out *o, const CuKernel *k, const CuVersion *t, int log2, bool last, Str rows, Str how)
{
	const RowParts *r = &t->parts[log2];
	if (last) out_puts(o, "\t");
	else out_printf(o, "\tif (%s) return ", are_within(k, t, longest_of(t, log2)));
	for (int i = 0; i < r->n; i++) {
		if (i + 1 < r->n) out_printf(o, "%s ? ", are_within(k, t, r->p[i].most));
		print_call(o, k, rows, how, t->v.fn->row_few ? r->p[i].regs : 0);
		out_puts(o, i + 1 < r->n ? " : " : ";\n");
	}
}

/* The body as a function of the lanes of a tile block, or of whether it is a warp, and of the registers that hold a
 * row, and the two kernels that call it: for each number of lanes, since where that is a constant, an access has its
 * place in its instruction, and its bound is one comparison. */
static void print_lanes(Out *o, const CuKernel *k, const CuVersion *t, const EmitOptions *opt)
{
	Str name = t->name, rows = str_fmt("%s_rows", name);
	const Fn *fn = t->v.fn;
	int lanes = fn_threads(fn).lanes;
	out_printf(o, "static __global__ void __launch_bounds__(%s)\n%s(", launch_bounds(t, opt), name);
	print_params(o, k, true);
	out_puts(o, ")\n{\n");
	if (!rows_share(fn)) {
		print_whole(o, k, t, rows, NULL);
		out_puts(o, "}\n");
		return;
	}
	if (fn->warp_rows || t->share || t->short_lanes == lanes) {
		print_whole(o, k, t, rows, fn->warp_rows ? str_intern("false") : str_i64(lanes));
	} else {
		print_parts(o, k, t, lanes, true, rows, str_i64(lanes));
	}
	out_printf(o, "}\nstatic __global__ void __launch_bounds__(%s ? %d : 1)\n%s_short(", served(&t->v, opt),
		COST_SHORT_THREADS, name);
	print_params(o, k, true);
	out_puts(o, ")\n{\n");
	if (fn->warp_rows) print_parts(o, k, t, lanes, true, rows, "true");
	for (int i = fn->lanes_least; fn->short_rows && i <= t->short_lanes; i++)
		print_parts(o, k, t, i, i == t->short_lanes, rows, str_i64(i));
	out_puts(o, "}\n");
}

static void print_head(Out *o, const CuKernel *k, const CuVersion *t, const EmitOptions *opt)
{
	const Fn *fn = t->v.fn;
	if (rows_share(fn) || t->share) {
		out_printf(o, "CT_FN void %s_rows(", t->name);
		print_params(o, k, true);
		if (rows_share(fn)) out_puts(o, fn->warp_rows ? ", const bool ct_alone" : ", const int ct_log2");
		if (fn->row_few) out_puts(o, ", const int ct_used");
		return;
	}
	out_printf(o, "static __global__ void __launch_bounds__(%s)\n", launch_bounds(t, opt));
	/* known to the compiler, barriers of the cluster are one instruction each */
	if (fn->cluster > 1 && t->roles)
		out_printf(o, "#if %s\n__cluster_dims__(%d, 1, 1)\n#endif\n", served(&t->v, opt), fn->cluster);
	out_printf(o, "%s(", t->name);
	print_params(o, k, true);
}

void version_print(Out *o, const CuKernel *k, const CuVersion *t, const EmitOptions *opt)
{
	title(o, t);
	comment_text(o, k->fn->doc, "/// ");
	print_head(o, k, t, opt);
	out_printf(o, ")\n{\n#if %s\n", served(&t->v, opt));
	out_refer(o, t->o->p, t->line.split);
	if (version_waits(t, opt) && t->v.fn->brief) out_puts(o, version_lets);
	if (version_waits(t, opt)) out_puts(o, version_wait);
	out_refer(o, t->o->p + t->line.split, t->o->n - t->line.split);
	if (t->line.any) lines_own(o, opt);
	if (rows_share(t->v.fn) || t->share) print_lanes(o, k, t, opt);
	out_puts(o, "\n");
}
