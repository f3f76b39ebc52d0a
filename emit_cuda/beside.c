/* Tile kernels beside those of the CUDA target. nvcc compiles a file for several architectures, once for each: in such
 * a pass either the tile kernels have bodies or the others. The launcher finds out which of them the code of the
 * current device has by the attributes of a kernel whose launch bounds differ between the two, so it agrees with nvcc's
 * options, whatever they are. With an older nvcc, or one that is not asked for tile kernels, the file is compiled as if
 * it had none. */
#include "emit_cuda/beside.h"

#include "emit/host.h"

/* The first architecture above a that is not served by the same kernels; 0: there is none. */
static int served_below(const EmitOptions *opt, const ArchRow *a)
{
	int next = 0;
	for (int i = opt->archs.n - 1; i >= 0; i--)
		if (!opt->archs.p[i]->specific && opt->archs.p[i]->number > a->number) next = opt->archs.p[i]->number;
	for (int i = opt->tile_archs.n - 1; i >= 0; i--) {  /* one that tile kernels serve, too, has a range of its own */
		int number = opt->tile_archs.p[i]->number;
		if (number > a->number && (!next || number <= next)) next = number;
	}
	return next;
}

void beside_macros(Out *o, const EmitOptions *opt)
{
	out_puts(o, "/* Tile kernels serve");
	for (int i = 0; i < opt->tile_archs.n; i++) out_printf(o, "%s %s", i ? "," : "", opt->tile_archs.p[i]->name);
	out_puts(o, " where nvcc is asked for them: --enable-tile -std=c++20. */\n"
		"#if defined(__CUDACC_TILE__) && !defined(__CUDACC_RTC__)\n#define CT_TILES 1\n#define CT_TILE_LIST \"");
	for (int i = 0; i < opt->tile_archs.n; i++) out_printf(o, ", %s (tile kernels)", opt->tile_archs.p[i]->name);
	out_puts(o, "\"\n#else\n#define CT_TILES 0\n#define CT_TILE_LIST \"\"\n#endif\n"
		"#if CT_TILES && defined(__CUDA_ARCH__)");
	for (int i = 0; i < opt->archs.n; i++)
		if (opt->archs.p[i]->specific)
			out_printf(o, " && !defined(__CUDA_ARCH_FEAT_SM%d_ALL)", opt->archs.p[i]->number);
	out_puts(o, " \\\n\t&& (");
	for (int i = 0; i < opt->tile_archs.n; i++) {
		int below = served_below(opt, opt->tile_archs.p[i]);
		out_printf(o, "%s(__CUDA_ARCH__ >= %d", i ? " || " : "", opt->tile_archs.p[i]->number * 10);
		if (below) out_printf(o, " && __CUDA_ARCH__ < %d", below * 10);
		out_puts(o, ")");
	}
	out_puts(o, ")\n#define CT_TILED 1\n#else\n#define CT_TILED 0\n#endif\n");
}

void beside_print(Out *o, const Beside *b, void (*print)(Out *o, void *part))
{
	out_puts(o, "#if CT_TILES\n");
	print(o, b->part);
	out_puts(o, "#endif\n\n");
}

static const char on_tiles[] =
	"#if CT_TILES\n"
	"/* Its bounds say which kernels the code for a device has. */\n"
	"static __global__ void __launch_bounds__(CT_TILED ? 64 : 32) ct_probe(void) {}\n"
	"\n"
	"/* Whether tile kernels serve the current device. known: what was found for each; writing it twice "
	"writes the same. */\n"
	"static int ct_on_tiles(void)\n"
	"{\n"
	"\tstatic volatile signed char known[CT_DEVICES];\n"
	"\tcudaFuncAttributes a;\n"
	"\tint device = 0, on;\n"
	"\tif (cudaGetDevice(&device) != cudaSuccess) return 0;\n"
	"\tif (device < CT_DEVICES && known[device]) return known[device] == 2;\n"
	"\tif (cudaFuncGetAttributes(&a, (const void *)ct_probe) != cudaSuccess) {\n"
	"\t\tcudaGetLastError();\n"
	"\t\treturn 0;\n"
	"\t}\n"
	"\ton = a.maxThreadsPerBlock == 64;\n"
	"\tif (device < CT_DEVICES) known[device] = on ? 2 : 1;\n"
	"\treturn on;\n"
	"}\n"
	"#endif\n"
	"\n";

/* Of the file whose launchers are being printed. */
static const Beside *beside;

void beside_host(Out *o, const Beside *b)
{
	beside = b;
	if (!b) return;
	out_puts(o, on_tiles);
	beside_print(o, b, b->runners);
}

void beside_instead(Out *o, const Fn *fn)
{
	if (!beside || !beside->has(beside->part, fn->name)) return;
	out_raw(o, "#if CT_TILES\n", 13);
	out_printf(o, "if (ct_on_tiles()) return ct_tiled::ct_run_%s(", fn->name);
	host_args(o, &fn->params, &fn->dims);
	out_puts(o, "stream);\n");
	out_raw(o, "#endif\n", 7);
}
