/* The C target: the file around the kernels. */
#include "emit_c/emit_c.h"

#include <string.h>

#include "base/diag.h"
#include "base/show.h"
#include "emit/host.h"
#include "emit/lines.h"
#include "emit/names.h"
#include "emit_c/cg.h"
#include "emit_c/prelude.h"

static const char helpers[] =
	"#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)     /* products of mma: one rounding where that is fast */\n"
	"#define CT_MACF(a, b, c) fmaf(a, b, c)\n"
	"#define CT_MAC(a, b, c) fma(a, b, c)\n"
	"#else\n"
	"#define CT_MACF(a, b, c) ((a) * (b) + (c))\n"
	"#define CT_MAC(a, b, c) ((a) * (b) + (c))\n"
	"#endif\n"
	"#if defined(__GNUC__) && !defined(__clang__)\n"
	"#pragma GCC diagnostic ignored \"-Wunknown-pragmas\"\n"
	"#endif\n"
	"#ifdef __GNUC__\n#define CT_UNUSED __attribute__((unused))\n#else\n#define CT_UNUSED\n#endif\n"
	"/* Element offset of a tile index; far outside where it leaves 62 bits. */\n"
	"CT_HELPER int64_t ct_tile_at(int64_t index, int64_t step, int64_t offset)\n"
	"{\n"
	"\tconst int64_t far = INT64_C(1) << 62;\n"
	"\tif (index > far / step || index < -far / step) return -far;\n"
	"\treturn index * step + offset;\n"
	"}\n"
	"CT_HELPER int ct_clip(int64_t v, int n) { return v < 0 ? 0 : v > n ? n : (int)v; }\n"
	"/* Rounds of `for i in lo .. hi step s`; s is 1 or more. */\n"
	"CT_HELPER uint64_t ct_trips(int64_t lo, int64_t hi, int64_t step)\n"
	"{ return lo >= hi ? 0 : ((uint64_t)hi - (uint64_t)lo - 1) / (uint64_t)step + 1; }\n"
	"CT_HELPER uint64_t ct_trips_u(uint64_t lo, uint64_t hi, uint64_t step)\n"
	"{ return lo >= hi ? 0 : (hi - lo - 1) / step + 1; }\n"
	"CT_HELPER void ct_trap(const char *message) { fprintf(stderr, \"%s\\n\", message); abort(); }\n"
	"\n";

typedef struct KernelText {
	const Fn *fn;
	const Sym **launch;
	int nlaunch;
	int64_t bytes;
	Out *text;              /* the function of a tile block */
	bool lines;             /* which has #line directives */
} KernelText;
/* In the order of the module; next: of which the launcher is printed next, as they are in the same order. */
typedef struct KernelTexts { KernelText *p; int n, cap, next; } KernelTexts;

static void block_params(Out *o, const KernelText *k)
{
	int n = 0;
	for (int i = 0; i < k->fn->params.n; i++)
		out_printf(o, "%s%s%s", n++ ? ", " : "", host_type(&k->fn->params.p[i]), name_c(k->fn->params.p[i].name));
	for (int i = 0; i < k->fn->dims.n; i++)
		out_printf(o, "%sint64_t %s", n++ ? ", " : "", name_c(k->fn->dims.p[i].name));
	for (int i = 0; i < k->nlaunch; i++) out_printf(o, "%sint64_t ct_l%d", n++ ? ", " : "", i);
	for (int i = 0; i < 4; i++) out_printf(o, "%sint64_t ct_bid%d", n++ ? ", " : "", i);
	out_puts(o, ", char *ct_mem");
}

static void print_title(Out *o, const Fn *fn)
{
	out_printf(o, "/* One tile block of %s", fn->source_name ? fn->source_name : fn->name);
	for (int i = 0; i < fn->generics.n; i++)
		out_printf(o, "%s%s = %s", i ? ", " : ": ", fn->generics.p[i].name, fn->generics.p[i].value);
	out_puts(o, " */\n");
}

/* The pointer types of the interface are void for 16-bit floats; inside, the type that holds the bits. */
static void bind_params(Cg *g)
{
	for (int i = 0; i < g->fn->params.n; i++) {
		const IrParam *p = &g->fn->params.p[i];
		Val *v = g->fn->body->args.p[i];
		if (!p->is_tensor) {
			Str n = name_c(p->name);
			if (elem_is_ptr(p->elem)) {
				n = temp(g, p->name);
				out_printf(g->o, "%sconst %s = (%s)%s;\n(void)%s;\n", c_type(p->elem), n, c_type(p->elem),
					name_c(p->name), n);
			}
			g->val[v->id] = (CVal){ .kind = CV_SCALAR, .name = n };
			continue;
		}
		view_param(g, p, v);
		CView *w = g->val[v->id].view;
		Str ptr = str_fmt("ct_%s_ptr", p->name);
		out_printf(g->o, "%s%s *const %s = (%s%s *)%s;\n", p->mode == PM_IN ? "const " : "", c_type(p->elem), ptr,
			p->mode == PM_IN ? "const " : "", c_type(p->elem), w->ptr);
		out_printf(g->o, "(void)%s;\n", ptr);
		w->ptr = ptr;
	}
}

static void make_text(KernelTexts *all, const Module *m, const Fn *fn, const EmitOptions *opt)
{
	ArenaMark mark = arena_mark(A_TMP);     /* what is known while the body is printed */
	Out *body = out_new();
	Cg g = { .o = body, .m = m, .fn = fn, .opt = opt };
	control_init(&g);
	g.given = NEW_ARRAY(A_TMP, Str, fn->nval + 1);
	for (int i = 0; i < fn->params.n; i++) names_take(&g.names, name_c(fn->params.p[i].name));
	for (int i = 0; i < fn->dims.n; i++) names_take(&g.names, name_dim(fn, i));
	g.val = NEW_ARRAY(A_TMP, CVal, fn->nval + 1);
	g.stored = plan_stored(fn);
	g.uses = ir_use_counts((Fn *)fn, A_TMP);
	out_in(body);
	bind_params(&g);
	for (int i = 0; i < fn->params.n; i++)
		if (!fn->params.p[i].is_tensor) out_printf(body, "(void)%s;\n", name_c(fn->params.p[i].name));
	for (int i = 0; i < fn->dims.n; i++) out_printf(body, "(void)%s;\n", name_c(fn->dims.p[i].name));
	for (int i = 0; i < 4; i++) out_printf(body, "(void)ct_bid%d;\n", i);
	out_puts(body, "(void)ct_mem;\n");
	emit_block(&g, fn->body);
	out_off(body);
	out_puts(body, "}\n");
	arena_release(A_TMP, mark);
	Out *o = out_new();
	KernelText k = { fn, g.launch.p, g.launch.n, g.mem_peak, o, false };
	print_title(o, fn);
	out_printf(o, "static void ct_block_%s(", fn->name);
	block_params(o, &k);
	out_puts(o, ")\n{\n");
	for (int i = 0; i < k.nlaunch; i++) out_printf(o, "\t(void)ct_l%d;\n", i);
	k.lines = lines_set(o, body->p, 0, opt).any;
	out_free(body);
	vec_push(A_UNIT, all, k);
}

static void print_kernels(Out *o, const KernelTexts *all, const EmitOptions *opt)
{
	bool lines = false;
	size_t n = 0;
	for (int i = 0; i < all->n; i++) {
		lines |= all->p[i].lines;
		n += all->p[i].text->n;
	}
	out_reserve(o, n);
	if (lines) lines_begin(o);
	for (int i = 0; i < all->n; i++) {
		const KernelText *k = &all->p[i];
		out_raw(o, k->text->p, k->text->n);
		out_free(k->text);
		if (k->lines) lines_own(o, opt);
		out_puts(o, "\n");
	}
}

static void call_block(Out *o, const KernelText *k)
{
	int n = 0;
	out_printf(o, "ct_block_%s(", k->fn->name);
	for (int i = 0; i < k->fn->params.n; i++) out_printf(o, "%s%s", n++ ? ", " : "", name_c(k->fn->params.p[i].name));
	for (int i = 0; i < k->fn->dims.n; i++) out_printf(o, "%s%s", n++ ? ", " : "", name_c(k->fn->dims.p[i].name));
	for (int i = 0; i < k->nlaunch; i++) out_printf(o, "%sct_l%d", n++ ? ", " : "", i);
	out_printf(o, "%sct_b %% ct_grid[0], ct_b / ct_grid[0] %% ct_grid[1], ct_b / (ct_grid[0] * "
		"ct_grid[1]) %% ct_grid[2], "
		"ct_b / (ct_grid[0] * ct_grid[1] * ct_grid[2]), ct_mem);\n", n ? ", " : "");
}

/* The loop over the grid: axis 0 of the grid varies fastest. Memory for tiles is allocated once per thread. */
static void start_kernel(const HostTarget *t, Out *o, const Fn *fn, const EmitOptions *opt)
{
	KernelTexts *all = t->kernels;
	const KernelText *k = all->next < all->n ? &all->p[all->next++] : NULL;
	(void)opt;
	if (!k || k->fn != fn) bug("no text for kernel %s", fn->name);
	for (int i = 0; i < k->nlaunch; i++) {
		out_printf(o, "const int64_t ct_l%d = ", i);
		host_expr(o, k->launch[i]);
		out_puts(o, ";\n");
	}
	host_overflow(o, fn->name, "a size");
	out_puts(o, "int ct_full = 0;\n#ifdef _OPENMP\n#pragma omp parallel\n#endif\n{\n");
	out_in(o);
	out_printf(o, "char *const ct_mem = %s%lld);\n", k->bytes ? "(char *)malloc(" : "(char *)(uintptr_t)(",
		(long long)(k->bytes ? k->bytes : 1));
	out_puts(o, "if (!ct_mem) {\n#ifdef _OPENMP\n#pragma omp atomic write\n#endif\n\tct_full = 1;\n}\n");
	out_puts(o, "#ifdef _OPENMP\n#pragma omp for schedule(static)\n#endif\n");
	out_puts(o, "for (int64_t ct_b = 0; ct_b < ct_blocks; ct_b++) {\n\tif (!ct_mem) continue;\n\t");
	call_block(o, k);
	out_puts(o, "}\n");
	if (k->bytes) out_puts(o, "free(ct_mem);\n");
	out_off(o);
	out_printf(o, "}\nreturn ct_full ? ct_fail(CTILE_MEMORY, \"%s: no memory for its tiles\") : CTILE_OK;\n", fn->name);
}

static void put_text(void *ctx, const char *text) { out_puts(ctx, text); }

void emit_c(Out *o, const Module *m, const EmitOptions *opt)
{
	SnipSet *used = NEW(A_UNIT, SnipSet);
	snip_init(used, &c_prelude);
	KernelTexts kernels = { 0 };
	HostTarget target = { .start = start_kernel, .kernels = &kernels, .clear = host_clear_memory };
	for (int i = 0; i < m->fns.n; i++) make_text(&kernels, m, m->fns.p[i], opt);
	Out *launchers = host_launchers(m, opt, &target);
	for (int i = 0; i < kernels.n; i++) snip_use_text(used, kernels.p[i].text->p);
	snip_use_text(used, launchers->p);
	out_printf(o, "/* Generated by ctilec %s from ", opt->version);
	comment_text(o, shown(src_mapped(m->path)), "");
	out_puts(o, " * Portable C11: compile with any C compiler, with -fopenmp for all cores; link with -lm. */\n");
	out_puts(o, "#include <stdarg.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n");
	emit_include(o, m, opt);
	snip_print(used, put_text, o);
	out_puts(o, host_macros);
	out_puts(o, helpers);
	print_kernels(o, &kernels, opt);
	host_print(o, m, "", launchers);
}
