/* Tensor maps; tmap.h has the contract. */
#include "emit_cuda/tmap.h"

#include "base/diag.h"
#include "emit/host.h"

/* CUtensorMapDataType. Types the map does not know travel as integers of their size: a copy changes no bits. */
static int map_type(Elem e)
{
	static const int8_t known[EL_COUNT] = {
		[EL_U16] = 1, [EL_U32] = 2, [EL_I32] = 3, [EL_U64] = 4, [EL_I64] = 5, [EL_F16] = 6, [EL_F32] = 7, [EL_F64] = 8,
		[EL_BF16] = 9, [EL_I16] = 1, [EL_TF32] = 7
	};
	return known[e];        /* 0: bytes */
}

const char tmap_host[] =
	"/* Tensor maps. The driver's function comes from the runtime and its enumerations are numbers, so that this "
	"file needs neither\n"
	" * cuda.h nor the driver's library. */\n"
	"typedef int CtEncode(void *map, int type, unsigned int rank, void *p, const uint64_t *extent, "
	"const uint64_t *stride,\n"
	"\tconst uint32_t *box, const uint32_t *step, int interleave, int swizzle, int promotion, int fill);\n"
	"typedef struct CtBox { const char *tensor; int type, bytes, rank, swizzle; uint32_t box[5], step[5]; } CtBox;\n"
	"\n"
	"static CtEncode *ct_encoder(void)\n"
	"{\n"
	"\tstatic void *volatile found;        /* the same for every device; writing it twice writes the same */\n"
	"\tvoid *f = found;\n"
	"\tif (!f) {\n"
	"\t\tenum cudaDriverEntryPointQueryResult r = cudaDriverEntryPointSymbolNotFound;\n"
	"#if CUDART_VERSION >= 12050\n"
	"\t\tcudaError_t e = cudaGetDriverEntryPointByVersion(\"cuTensorMapEncodeTiled\", &f, 12000, "
	"cudaEnableDefault, &r);\n"
	"#else\n"
	"\t\tcudaError_t e = cudaGetDriverEntryPoint(\"cuTensorMapEncodeTiled\", &f, cudaEnableDefault, &r);\n"
	"#endif\n"
	"\t\tif (e != cudaSuccess) cudaGetLastError();\n"
	"\t\tif (e != cudaSuccess || r != cudaDriverEntryPointSuccess) f = NULL;\n"
	"\t\tfound = f;\n"
	"\t}\n"
	"\treturn (CtEncode *)f;\n"
	"}\n"
	"\n"
	"/* extent, stride: innermost first, stride in elements. Devices before sm_90 run kernels without maps. */\n"
	"CT_HELPER int ct_encode(const char *name, ct_tensor_map *map, const CtBox *b, const void *p, "
	"const int64_t *extent,\n"
	"\tconst int64_t *stride)\n"
	"{\n"
	"\tuint64_t ext[5], str[5];\n"
	"\tint device = 0, major = 0, r;\n"
	"\tCtEncode *encode;\n"
	"\tcudaError_t e = cudaGetDevice(&device);\n"
	"\tif (e == cudaSuccess) e = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);\n"
	"\tif (e != cudaSuccess) return ct_fail(CTILE_CUDA, \"%s: %s\", name, cudaGetErrorString(e));\n"
	"\tif (major < 9) return CTILE_OK;\n"
	"\tfor (int i = 0; i < b->rank; i++)\n"
	"\t\tif (extent[i] <= 0) return CTILE_OK;        /* no copy reads an empty tensor */\n"
	"\tif ((uintptr_t)p % 16 != 0)\n"
	"\t\treturn ct_fail(CTILE_ALIGNMENT, \"%s: %s is not aligned to the 16 bytes that bulk copies "
	"need\", name, b->tensor);\n"
	"\tfor (int i = 0; i < b->rank; i++) {\n"
	"\t\tint64_t s = extent[i] == 1 ? 16 : stride[i];        /* the stride of one element is never used */\n"
	"\t\tif (extent[i] > INT64_C(1) << 32)\n"
	"\t\t\treturn ct_fail(CTILE_DIMENSION, \"%s: an extent of %s is %lld, bulk copies need at most "
	"2^32\", name, b->tensor,\n"
	"\t\t\t\t(long long)extent[i]);\n"
	"\t\tif (i && (s * b->bytes % 16 != 0 || s >= (INT64_C(1) << 40) / b->bytes))\n"
	"\t\t\treturn ct_fail(CTILE_STRIDE, \"%s: a stride of %s is %lld elements; bulk copies need multiples of 16 "
	"bytes below 2^40\",\n"
	"\t\t\t\tname, b->tensor, (long long)s);\n"
	"\t\text[i] = (uint64_t)extent[i];\n"
	"\t\tif (i) str[i - 1] = (uint64_t)s * (uint64_t)b->bytes;\n"
	"\t}\n"
	"\tencode = ct_encoder();\n"
	"\tif (!encode) return ct_fail(CTILE_CUDA, \"%s: the driver has no cuTensorMapEncodeTiled\", name);\n"
	"\tr = encode(map, b->type, (unsigned int)b->rank, (void *)(uintptr_t)p, ext, str, b->box, b->step, 0, "
	"b->swizzle, 2, 0);\n"
	"\treturn r ? ct_fail(CTILE_CUDA, \"%s: the driver refuses a tensor map of %s (error %d)\", name, "
	"b->tensor, r) : CTILE_OK;\n"
	"}\n"
	"\n";

/* The same elements of a tensor, in steps of the same size, perhaps by other boxes. */
static bool same_tensor(const CuTmap *a, const CuTmap *b)
{
	if (a->param != b->param || a->rank != b->rank || a->box.swizzle != b->box.swizzle) return false;
	for (int i = 0; i < a->rank; i++)
		if (a->extent[i] != b->extent[i] || a->stride[i] != b->stride[i]
			|| a->box.elem_stride[i] != b->box.elem_stride[i]) return false;
	return true;
}

static bool same_box(const CuTmap *a, const CuTmap *b)
{
	for (int i = 0; i < a->rank; i++)
		if (a->box.box[i] != b->box.box[i]) return false;
	return true;
}

static bool same_version(const CuTmap *a, const CuTmap *b) { return a->guard == b->guard && a->time == b->time; }

/* Of versions whose times differ one runs, so that their maps are one, by the box of that version. */
static bool may_share(const CuTmap *a, const CuTmap *b)
{
	return same_tensor(a, b) && a->time && b->time && a->time != b->time;
}

static bool is_free(const CuTmaps *maps, int slot, const CuTmap *m)
{
	for (int i = 0; i < maps->n; i++)
		if (maps->p[i].slot == slot && !may_share(&maps->p[i], m)) return false;
	return true;
}

int tmap_slots(const CuTmaps *maps)
{
	int n = 0;
	for (int i = 0; i < maps->n; i++)
		if (maps->p[i].slot >= n) n = maps->p[i].slot + 1;
	return n;
}

Str cu_tmap(Cu *g, const CuTmap *map)
{
	CuTmap own = *map, *m = &own;
	own.guard = g->guard;
	own.time = g->time;
	if (m->rank < 1 || m->rank > TMA_RANK || m->rank != m->box.rank) bug("a tensor map of rank %d", m->rank);
	for (int i = 0; i < g->maps->n; i++) {
		const CuTmap *o = &g->maps->p[i];
		if (same_version(o, m) && same_tensor(o, m) && same_box(o, m)) return str_fmt("ct_m%d", o->slot);
	}
	while (!is_free(g->maps, own.slot, m)) own.slot++;
	vec_push(A_UNIT, g->maps, own);
	return str_fmt("ct_m%d", own.slot);
}

static void print_list(Out *o, const char *what, int n, const Sym *const *s)
{
	out_printf(o, "const int64_t %s[%d] = { ", what, n);
	for (int i = 0; i < n; i++) {
		if (i) out_puts(o, ", ");
		host_expr(o, s[i]);
	}
	out_puts(o, " };\n");
}

static void print_box(Out *o, const IrParam *p, const CuTmap *m)
{
	out_printf(o, "{ \"%s\", %d, %d, %d, %d, { ", p->name, map_type(p->elem), elem_bytes(p->elem), m->rank,
		m->box.swizzle);
	for (int k = 0; k < m->rank; k++) out_printf(o, "%s%u", k ? ", " : "", (unsigned)m->box.box[k]);
	out_puts(o, " }, { ");
	for (int k = 0; k < m->rank; k++) out_printf(o, "%s%u", k ? ", " : "", (unsigned)m->box.elem_stride[k]);
	out_puts(o, " } }");
}

/* Maps of a slot with one box, and when one of them is needed; NULL: always. */
typedef struct Boxed { const CuTmap *map; Str when; } Boxed;
typedef struct Boxes { Boxed *p; int n, cap; } Boxes;

static Boxes boxes_of(const CuTmaps *maps, int slot, const Str *when)
{
	Boxes b = { 0 };
	for (int i = 0; i < maps->n; i++) {
		const CuTmap *m = &maps->p[i];
		int k = 0;
		if (m->slot != slot) continue;
		while (k < b.n && !same_box(b.p[k].map, m)) k++;
		if (k == b.n) vec_push(A_TMP, &b, ((Boxed){ m, when[i] }));
		else b.p[k].when = str_fmt("(%s) || (%s)", b.p[k].when, when[i]);
	}
	return b;
}

static void print_boxes(Out *o, const IrParam *p, const Boxes *b, int slot)
{
	out_printf(o, "static const CtBox ct_boxes%d[] = {\n", slot);
	out_in(o);
	for (int i = 0; i < b->n; i++) {
		print_box(o, p, b->p[i].map);
		out_puts(o, ",\n");
	}
	out_off(o);
	out_printf(o, "};\nconst CtBox *const ct_box%d =", slot);
	for (int i = 0; i < b->n; i++) out_printf(o, " %s ? &ct_boxes%d[%d] :", b->p[i].when, slot, i);
	out_puts(o, " NULL;\n");
}

void tmap_encode(Out *o, const Fn *fn, const CuTmaps *maps, int slot, const Str *when)
{
	Boxes b = boxes_of(maps, slot, when);
	const CuTmap *m = b.p[0].map;
	const IrParam *p = &fn->params.p[m->param];
	const char *kernel = fn->source_name ? fn->source_name : fn->name;
	out_printf(o, "ct_tensor_map ct_m%d = { { 0 } };\n", slot);
	if (b.n > 1) print_boxes(o, p, &b, slot);
	if (b.n > 1) out_printf(o, "if (ct_box%d) ", slot);
	else if (b.p[0].when) out_printf(o, "if (%s) ", b.p[0].when);
	out_puts(o, "{\n");
	out_in(o);
	if (b.n == 1) {
		out_puts(o, "static const CtBox ct_box = ");
		print_box(o, p, m);
		out_puts(o, ";\n");
	}
	print_list(o, "ct_extent", m->rank, m->extent);
	print_list(o, "ct_stride", m->rank, m->stride);
	host_overflow(o, kernel, "a size");
	Str box = b.n > 1 ? str_fmt("ct_box%d", slot) : str_intern("&ct_box");
	out_printf(o, "const int ct_status = ct_encode(\"%s\", &ct_m%d, %s, %s, ct_extent, ct_stride);\n"
		"if (ct_status) return ct_status;\n", kernel, slot, box, name_c(p->name));
	out_off(o);
	out_puts(o, "}\n");
}
