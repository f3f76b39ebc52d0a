/* The CUDA Tile C++ target: the whole file, kernels first, then the launchers. */
#include "emit_tile/emit_tile.h"

#include <string.h>

#include "base/diag.h"
#include "base/show.h"
#include "emit/lines.h"
#include "emit_tile/tile.h"

static void put_text(void *ctx, const char *text) { out_puts(ctx, text); }

/* ---- one kernel ---- */
static void add_param(TKernel *k, const char *type, Str name)
{
	vec_push(A_UNIT, &k->params, ((TParam){ type, name }));
}

static const char *param_type(const IrParam *p)
{
	if (p->is_tensor) return str_fmt("%s%s *", p->mode == PM_IN ? "const " : "", tl_memory(p->elem));
	return elem_is_ptr(p->elem) ? tl_elem(p->elem) : str_fmt("const %s ", tl_memory(p->elem));
}

static void make_params(TKernel *k)
{
	const Fn *fn = k->fn;
	for (int i = 0; i < fn->params.n; i++) add_param(k, param_type(&fn->params.p[i]), name_c(fn->params.p[i].name));
	for (int i = 0; i < fn->dims.n; i++) add_param(k, "const long long ", name_dim(fn, i));
	for (int i = 0; i < k->launch.n; i++) add_param(k, "const long long ", str_fmt("ct_l%d", i));
	for (int i = 0; i + 1 < fn->ngrid; i++) add_param(k, "const unsigned int ", str_fmt("ct_g%d", ir_sweep(fn, i)));
}

static void print_head(Out *o, const TKernel *k)
{
	const Fn *fn = k->fn;
	out_printf(o, "/* %s", fn->source_name ? fn->source_name : fn->name);
	for (int i = 0; i < fn->generics.n; i++)
		out_printf(o, "%s%s = %s", i ? ", " : ": ", fn->generics.p[i].name, fn->generics.p[i].value);
	out_printf(o, " */\n");
	if (k->aligned.n) out_puts(o, "template<bool ct_aligned>\n");
	Str hints = tl_kernel_hints(fn);
	if (*hints) out_printf(o, "%.*s\n", (int)str_len(hints) - 1, hints);   /* without its last space */
	out_printf(o, "static __tile_global__ void %s(", tl_kernel_name(fn));
	for (int i = 0; i < k->params.n; i++)
		out_printf(o, "%s%s%s", i ? ", " : "", k->params.p[i].type, k->params.p[i].name);
	out_puts(o, ")\n{\n");
}

/* Tile blocks are numbered along the kernel's sweep over the grid. */
static void block_index(Tg *g)
{
	const Fn *fn = g->fn;
	Str rest = str_intern("ct::bid().x");
	for (int i = 0; i < fn->ngrid; i++) {
		int a = ir_sweep(fn, i);
		bool last = i + 1 == fn->ngrid;
		Str left = last ? rest : str_fmt("ct_rest%d", i);
		if (!last) out_printf(g->o, "const unsigned int %s = %s;\n", left, rest);
		out_printf(g->o, last ? "const unsigned int ct_bid%d = %s;\n" : "const unsigned int ct_bid%d = %s %% ct_g%d;\n",
			a, left, a);
		rest = str_fmt("%s / ct_g%d", left, a);
	}
}

static void bind_params(Tg *g)
{
	for (int i = 0; i < g->fn->params.n; i++) {
		const IrParam *p = &g->fn->params.p[i];
		Val *v = g->fn->body->args.p[i];
		if (p->is_tensor) tl_view_param(g, p, v);
		else if (p->elem == EL_BOOL) tl_define(g, v, str_fmt("%s != 0", name_c(p->name)));
		else g->val[v->id].text = name_c(p->name);
	}
}

static TKernel make_kernel(Fn *fn, const EmitOptions *opt, bool may_write_maps, int *ntable)
{
	ArenaMark mark = arena_mark(A_TMP);     /* what is known while the body is printed */
	Out *body = out_new();
	tl_refuse_missing(fn, opt);
	Tg g = { .o = body, .fn = fn, .opt = opt, .tables = out_new(), .ntable = ntable };
	tl_control_init(&g);
	g.given = NEW_ARRAY(A_TMP, Str, fn->nval + 1);
	g.val = NEW_ARRAY(A_TMP, TVal, fn->nval + 1);
	for (int i = 0; i < fn->params.n; i++) names_take(&g.names, name_c(fn->params.p[i].name));
	for (int i = 0; i < fn->dims.n; i++) names_take(&g.names, name_dim(fn, i));
	g.uses = ir_use_counts(fn, A_TMP);
	g.rounded = tl_rounded(fn);
	g.factor = tl_factors(fn);
	g.may_write_maps = may_write_maps;
	g.mixes_products = tl_mixes_products(fn);
	tl_find_begins(&g, fn);
	tl_find_aligned(&g);
	tl_find_aligned_begins(&g, fn);
	tl_aligned_end(&g.aligned);
	out_in(body);
	block_index(&g);
	bind_params(&g);
	tl_block(&g, fn->body);
	out_off(body);
	out_puts(body, opt->tile_archs.n ? "#endif\n}\n" : "}\n");
	TKernel k = { .fn = fn, .text = out_new() };
	k.launch.p = g.launch.p;
	k.launch.n = g.launch.n;
	k.aligned.p = g.aligned.guard.p;
	k.aligned.n = g.aligned.guard.n;
	make_params(&k);
	if (g.tables->n) out_puts(k.text, g.tables->p);
	print_head(k.text, &k);
	if (opt->tile_archs.n) out_puts(k.text, "#if CT_TILED\n");
	for (int i = 0; i < g.aliases.n; i++) {
		const TAlias *a = &g.aliases.p[i];
		out_printf(k.text, "\tusing %s = ct::tile<%s, %s>;\n", a->name, tl_elem(a->type->elem), tl_shape(a->type));
	}
	out_free(g.tables);
	arena_release(A_TMP, mark);
	k.lines = lines_set(k.text, body->p, 0, opt).any;
	out_free(body);
	return k;
}

/* ---- the file ---- */
/* Of a pointer, that of what it points to. */
static unsigned elem_bit(Elem e) { return 1u << elem_pointee(e); }

static void add_elems(void *ctx, Op *op)
{
	unsigned *elems = ctx;
	for (int i = 0; i < op->nout; i++) *elems |= elem_bit(op->out[i]->type->elem);
	for (int i = 0; i < op->nin; i++) *elems |= elem_bit(ir_in(op, i)->type->elem);
}

/* Element types, as bits, of what kernels take and compute. */
static unsigned elems_of(const Module *m)
{
	unsigned elems = 0;
	for (int i = 0; i < m->fns.n; i++) {
		const Fn *fn = m->fns.p[i];
		for (int k = 0; k < fn->params.n; k++) elems |= elem_bit(fn->params.p[k].elem);
		ir_walk(fn->body, add_elems, &elems);
	}
	return elems;
}

typedef struct TilePart {
	const Module *m;
	const EmitOptions *opt;
	TKernels kernels;
	SnipSet used;
	bool lines;             /* some of them have #line directives */
} TilePart;

static TilePart *make_part(Module *m, const EmitOptions *opt)
{
	TilePart *p = NEW(A_UNIT, TilePart);
	p->m = m;
	p->opt = opt;
	int ntable = 0;
	bool may_write_maps = tl_may_write_maps(m);
	snip_init(&p->used, &tile_prelude);
	for (int i = 0; i < m->fns.n; i++) {
		TKernel k = make_kernel(m->fns.p[i], opt, may_write_maps, &ntable);
		snip_use_text(&p->used, k.text->p);
		p->lines |= k.lines;
		vec_push(A_UNIT, &p->kernels, k);
	}
	return p;
}

static void print_includes(Out *o, const TilePart *p)
{
	static const struct { unsigned elems; const char *name; } headers[] = { { 1u << EL_F16, "cuda_fp16" },
		{ 1u << EL_BF16, "cuda_bf16" }, { 1u << EL_F8E4M3 | 1u << EL_F8E5M2, "cuda_fp8" },
		{ 1u << EL_TF32, "cuda_tf32" } };
	unsigned elems = elems_of(p->m);
	if (p->used.used[snip_find(&p->used, "ct_to_tf32")]) elems |= 1u << EL_TF32;
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
		if (elems & headers[i].elems) out_printf(o, "#include <%s.h>\n", headers[i].name);
	if (p->opt->checked) out_puts(o, "#undef NDEBUG\n#include <assert.h>\n");
	out_puts(o, "#include <cuda_tile.h>\n");
}

static void print_version(Out *o, const EmitOptions *opt)
{
	out_printf(o, "#if 100 * __CUDACC_VER_MAJOR__ + __CUDACC_VER_MINOR__ < %d\n"
		"#error \"nvcc is too old: this file is for nvcc %s or newer\"\n#endif\n",
		opt->tile_version, tile_version_name(opt->tile_version));
}

static void file_head(Out *o, const TilePart *p)
{
	Out *path = out_new();
	out_printf(o, "/* Generated by ctilec %s from ", p->opt->version);
	out_puts(path, shown(src_mapped(p->m->path)));
	comment_text(o, out_take(path), "");
	out_printf(o, " * CUDA Tile C++ for nvcc %s or newer: nvcc --enable-tile -std=c++20 -arch=sm_90 ... */\n",
		tile_version_name(p->opt->tile_version));
	print_version(o, p->opt);
	out_puts(o, "#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__\n#pragma nv_diag_suppress 177, 550\n#endif\n");
	print_includes(o, p);
	out_puts(o, "#include <stdarg.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n");
	emit_include(o, p->m, p->opt);
	out_puts(o, "\n");
}

/* In a namespace without a name. */
static void print_kernels(Out *o, TilePart *p)
{
	out_puts(o, "namespace {\nnamespace ct = cuda::tiles;\n\n");
	snip_print(&p->used, put_text, o);
	out_puts(o, "\n/* ---- kernels ---- */\nnamespace ct_kernels {\n");
	if (p->lines) lines_begin(o);
	for (int i = 0; i < p->kernels.n; i++) {
		const TKernel *k = &p->kernels.p[i];
		out_raw(o, k->text->p, k->text->n);
		out_free(k->text);
		if (k->lines) lines_own(o, p->opt);
		out_puts(o, "\n");
	}
	out_puts(o, "}\n} // namespace\n\n");
}

void emit_tile(Out *o, Module *m, const EmitOptions *opt)
{
	TilePart *p = make_part(m, opt);
	if (diag_errors()) return;
	file_head(o, p);
	print_kernels(o, p);
	tl_host(o, m, &p->kernels, opt);
}

/* ---- beside kernels of target cuda ---- */
static void beside_kernels(Out *o, void *part)
{
	const TilePart *p = part;
	print_version(o, p->opt);
	print_includes(o, p);
	out_puts(o, "\nnamespace ct_tiled {\n");
	print_kernels(o, part);
	out_puts(o, "} // namespace ct_tiled\n");
}

static void beside_runners(Out *o, void *part)
{
	TilePart *p = part;
	out_puts(o, "namespace ct_tiled {\n");
	tl_runners(o, p->m, &p->kernels, p->opt);
	out_puts(o, "} // namespace ct_tiled\n");
}

static bool beside_has(const void *part, const char *fn)
{
	const TilePart *p = part;
	int next = 0;
	return tl_find_named(&p->kernels, &next, fn) != NULL;
}

Beside tile_beside(Module *m, const EmitOptions *opt)
{
	EmitOptions *own = NEW(A_UNIT, EmitOptions);
	*own = *opt;
	own->archs = opt->tile_archs;
	return (Beside){ make_part(m, own), beside_kernels, beside_runners, beside_has };
}
