/* What the version of CUDA Tile C++ and the architectures have (emit/targets.def). What they lack is written out where
 * the printers ask tl_offers; what cannot be written out is refused here, before anything is printed. */
#include "base/diag.h"
#include "emit_tile/tile.h"

static bool offered(const EmitOptions *opt, TileFeature f) { return opt->tile_version >= tile_feature_rows[f].since; }
bool tl_offers(const Tg *g, TileFeature f) { return offered(g->opt, f); }

/* ---- of one operation ---- */
typedef struct Asked { const EmitOptions *opt; bool fp8_said; } Asked;

static Elem memory_elem(const Val *v) { return v->type->kind == TY_VIEW ? v->type->elem : elem_pointee(v->type->elem); }

static bool is_fp8(const Val *v)
{
	Elem e = memory_elem(v);
	return e == EL_F8E4M3 || e == EL_F8E5M2;
}

static bool names_fp8(const Op *op)
{
	for (int i = 0; i < op->nout; i++)
		if (is_fp8(op->out[i])) return true;
	for (int i = 0; i < op->nin; i++)
		if (is_fp8(ir_in(op, i))) return true;
	return false;
}

static bool adds_bf16(const Op *op)
{
	return (op->code == OP_ATOMIC_RMW || op->code == OP_ATOMIC_RMW_PTR) && memory_elem(ir_in(op, 0)) == EL_BF16;
}

static bool lacks_version(const Asked *a, const Op *op, TileFeature f, Str what)
{
	const char *since = tile_version_name(tile_feature_rows[f].since);
	if (offered(a->opt, f)) return false;
	Diag *d = diag(D_TILE_VERSION, op->span, what, since, tile_version_name(a->opt->tile_version));
	diag_help(d, "add in f32, or compile with `--tile-version=%s` where nvcc is that new", since);
	return true;
}

static const char *arch_option(const Asked *a) { return a->opt->tile_archs.n ? "--tile-arch" : "--arch"; }

static Diag *lacks_arch(const Asked *a, const Op *op, const char *what)
{
	const ArchRow *least = a->opt->archs.n ? a->opt->archs.p[0] : NULL;
	return least && least->number < 90 ? diag(D_TILE_ARCH, op->span, what, arch_option(a), least->name) : NULL;
}

/* Registers of one warpgroup that an accumulator may take. */
enum { ACCUMULATOR = 64 << 10 };

static void warn_spill(const Asked *a, const Op *op)
{
	int64_t bytes = type_size(op->out[0]->type) * elem_rows[op->out[0]->type->elem].bytes;
	if (bytes <= ACCUMULATOR || (a->opt->archs.n && a->opt->archs.p[0]->number >= 100)) return;
	Diag *d = diag(D_TILE_SPILL, op->span, str_i64(bytes >> 10));
	diag_help(d, "multiply smaller tiles, of at most 16,384 elements of f32 in the result");
}

static void check_op(void *ctx, Op *op)
{
	Asked *a = ctx;
	if (op->code == OP_MMA) warn_spill(a, op);
	if (adds_bf16(op)) {
		Str what = str_fmt("`atomic_%s` of bf16", attr_word_text(AT_RMW, (int)ir_int(op, AT_RMW, 0)));
		if (lacks_version(a, op, TILE_BF16_ATOMICS, what)) return;
		Diag *d = lacks_arch(a, op, what);
		if (d) diag_help(d, "add in f32, or leave %s out of `%s`", a->opt->archs.p[0]->name, arch_option(a));
	} else if (!a->fp8_said && op->span.hi && names_fp8(op)) {
		Diag *d = lacks_arch(a, op, "an fp8 element type");
		a->fp8_said = d != NULL;
		if (d)
			diag_help(d, "keep these elements in bf16, or leave %s out of `%s`", a->opt->archs.p[0]->name,
				arch_option(a));
	}
}

void tl_refuse_missing(Fn *fn, const EmitOptions *opt)
{
	Asked a = { opt, false };
	ir_walk(fn->body, check_op, &a);
}
