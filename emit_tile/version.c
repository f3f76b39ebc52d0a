/* What the version of CUDA Tile C++ and the architectures have (emit/targets.def). What they lack is written out where
 * the printers ask tl_offers; what cannot be written out is refused here, before anything is printed. */
#include "base/diag.h"
#include "emit_tile/emit_tile.h"
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

bool tl_adds_bf16(const Op *op)
{
	return (op->code == OP_ATOMIC_RMW || op->code == OP_ATOMIC_RMW_PTR) && memory_elem(ir_in(op, 0)) == EL_BF16;
}

static const ArchRow *least_arch(const EmitOptions *opt) { return opt->archs.n ? opt->archs.p[0] : NULL; }

bool tl_has_bf16_atomics(const EmitOptions *opt)
{
	const ArchRow *least = least_arch(opt);
	return offered(opt, TILE_BF16_ATOMICS) && !(least && least->number < 90);
}

static const char *arch_option(const Asked *a) { return a->opt->tile_archs.n ? "--tile-arch" : "--arch"; }

static bool lacks_fp8(const Asked *a, const Op *op)
{
	const ArchRow *least = least_arch(a->opt);
	if (!least || least->number >= 90) return false;
	Diag *d = diag(D_TILE_ARCH, op->span, "an fp8 element type", arch_option(a), least->name);
	diag_help(d, "keep these elements in bf16, or leave %s out of `%s`", least->name, arch_option(a));
	return true;
}

/* log2 of the bytes of one warpgroup's registers that an accumulator may take. */
enum { ACCUMULATOR = 16 };

int tile_accumulator(const ArchVec *archs) { return archs->n && archs->p[0]->number >= 100 ? 0 : ACCUMULATOR; }

/* Pass refine has divided what can be divided. */
static void warn_spill(const Asked *a, const Op *op)
{
	int64_t bytes = type_size(op->out[0]->type) * elem_rows[op->out[0]->type->elem].bytes;
	int most = tile_accumulator(&a->opt->archs);
	if (!most || bytes <= INT64_C(1) << most) return;
	Diag *d = diag(D_TILE_SPILL, op->span, str_i64(bytes >> 10));
	diag_help(d, "multiply smaller tiles, of at most 16,384 elements of f32 in the result");
}

static void check_op(void *ctx, Op *op)
{
	Asked *a = ctx;
	if (op->code == OP_MMA) warn_spill(a, op);
	if (!a->fp8_said && op->span.hi && names_fp8(op)) a->fp8_said = lacks_fp8(a, op);
}

void tl_refuse_missing(Fn *fn, const EmitOptions *opt)
{
	Asked a = { opt, false };
	ir_walk(fn->body, check_op, &a);
}
