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

static bool map_same(const CuTmap *a, const CuTmap *b)
{
	if (a->guard != b->guard || a->time != b->time || a->param != b->param) return false;
	if (a->rank != b->rank || a->box.swizzle != b->box.swizzle) return false;
	for (int i = 0; i < a->rank; i++)
		if (a->extent[i] != b->extent[i] || a->stride[i] != b->stride[i] || a->box.box[i] != b->box.box[i]
			|| a->box.elem_stride[i] != b->box.elem_stride[i]) return false;
	return true;
}

Str cu_tmap(Cu *g, const CuTmap *map)
{
	CuTmap own = *map, *m = &own;
	own.guard = g->guard;
	own.time = g->time;
	if (m->rank < 1 || m->rank > TMA_RANK || m->rank != m->box.rank) bug("a tensor map of rank %d", m->rank);
	int i = 0;
	while (i < g->maps->n && !map_same(&g->maps->p[i], m)) i++;
	if (i == g->maps->n) vec_push(A_UNIT, g->maps, *m);
	return str_fmt("ct_m%d", i);
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

void tmap_encode(Out *o, const Fn *fn, const CuTmap *m, int i, Str when)
{
	const IrParam *p = &fn->params.p[m->param];
	const char *kernel = fn->source_name ? fn->source_name : fn->name;
	out_printf(o, "ct_tensor_map ct_m%d = { { 0 } };\n", i);
	if (when) out_printf(o, "if (%s) ", when);
	out_puts(o, "{\n");
	out_in(o);
	out_printf(o, "static const CtBox ct_box = { \"%s\", %d, %d, %d, %d, { ", p->name, map_type(p->elem),
		elem_bytes(p->elem), m->rank, m->box.swizzle);
	for (int k = 0; k < m->rank; k++) out_printf(o, "%s%u", k ? ", " : "", (unsigned)m->box.box[k]);
	out_puts(o, " }, { ");
	for (int k = 0; k < m->rank; k++) out_printf(o, "%s%u", k ? ", " : "", (unsigned)m->box.elem_stride[k]);
	out_puts(o, " } };\n");
	print_list(o, "ct_extent", m->rank, m->extent);
	print_list(o, "ct_stride", m->rank, m->stride);
	host_overflow(o, kernel, "a size");
	out_printf(o, "const int ct_status = ct_encode(\"%s\", &ct_m%d, &ct_box, %s, ct_extent, ct_stride);\n"
		"if (ct_status) return ct_status;\n", kernel, i, name_c(p->name));
	out_off(o);
	out_puts(o, "}\n");
}
