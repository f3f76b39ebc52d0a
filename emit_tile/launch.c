/* How the launchers start a tile kernel: a grid of one axis, whose tile blocks find their index themselves, and one
 * thread in name. */
#include <string.h>

#include "base/diag.h"
#include "emit/device.h"
#include "emit/host.h"
#include "emit/names.h"
#include "emit_tile/tile.h"

Str tl_kernel_name(const Fn *fn) { return name_entry(fn->name); }

/* Kernels are started in their order: the search goes on where it ended. */
const TKernel *tl_find_named(const TKernels *in, int *next, const char *fn)
{
	for (int tried = 0; tried < in->n; tried++) {
		int i = (*next + tried) % in->n;
		if (strcmp(in->p[i].fn->name, fn) != 0) continue;
		*next = i;
		return &in->p[i];
	}
	return NULL;
}

/* Where a size of the guard overflows, the version for any call is taken. */
static void print_aligned(Out *o, const TKernel *k, const char *name)
{
	Out *guard = out_new();
	for (int i = 0; i < k->aligned.n; i++) {
		if (i) out_puts(guard, "\n\t&& ");
		host_expr(guard, k->aligned.p[i]);
	}
	out_printf(o, "if (%s%s", guard->p, host_checks() ? "\n\t&& !ct_bad" : "");
	out_free(guard);
	out_printf(o, ")\n\treturn ct_launch(\"%s\", (const void *)ct_kernels::%s<true>, ct_blocks, ct_args, stream);\n",
		name, tl_kernel_name(k->fn));
}

static void start_kernel(const HostTarget *t, Out *o, const Fn *fn, const EmitOptions *opt)
{
	TKernels *all = t->kernels;
	const TKernel *k = tl_find_named(all, &all->next, fn->name);
	(void)opt;
	if (!k) bug("no text for kernel %s", fn->name);
	host_sizes(o, fn->name, k->launch.p, k->launch.n);
	for (int i = 0; i + 1 < fn->ngrid; i++) {
		int a = ir_sweep(fn, i);
		out_printf(o, "const unsigned int ct_g%d = (unsigned int)ct_grid[%d];\n", a, a);
	}
	out_puts(o, "void *ct_args[] = { ");
	for (int i = 0; i < k->params.n; i++) out_printf(o, "%s(void *)&%s", i ? ", " : "", k->params.p[i].name);
	out_printf(o, "%s };\n", k->params.n ? "" : "NULL");
	const char *name = fn->source_name ? fn->source_name : fn->name;
	if (k->aligned.n) print_aligned(o, k, name);
	out_printf(o, "return ct_launch(\"%s\", (const void *)ct_kernels::%s%s, ct_blocks, ct_args, stream);\n", name,
		tl_kernel_name(fn), k->aligned.n ? "<false>" : "");
}

/* A kernel that was not compiled for the device has no image. */
static const char host_launch[] =
	"CT_HELPER int ct_launch(const char *name, const void *kernel, int64_t blocks, void **args, struct "
	"CUstream_st *stream)\n"
	"{\n"
	"\tconst cudaError_t e = cudaLaunchKernel(kernel, dim3((unsigned int)blocks, 1, 1), dim3(1, 1, "
	"1), args, 0, stream);\n"
	"\tint device = 0, major = 0, minor = 0;\n"
	"\tif (e == cudaSuccess) return CTILE_OK;\n"
	"\tcudaGetLastError();\n"
	"\tif (e != cudaErrorNoKernelImageForDevice && e != cudaErrorInvalidDeviceFunction)\n"
	"\t\treturn ct_fail(CTILE_CUDA, \"%s: %s\", name, cudaGetErrorString(e));\n"
	"\tcudaGetDevice(&device);\n"
	"\tcudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);\n"
	"\tcudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);\n"
	"\treturn ct_fail(CTILE_ARCH, \"%s: the device is sm_%d%d, for which no tile code was compiled\", "
	"name, major, minor);\n"
	"}\n"
	"\n";

static HostTarget target_of(TKernels *all)
{
	return (HostTarget){ .multiprocessors = device_multiprocessors, .on_arch = device_on_arch, .start = start_kernel,
		.kernels = all, .clear = device_clear };
}

void tl_host(Out *o, const Module *m, TKernels *all, const EmitOptions *opt)
{
	HostTarget t = target_of(all);
	host_print(o, m, host_launch, host_launchers(m, opt, &t));
}

void tl_runners(Out *o, const Module *m, TKernels *all, const EmitOptions *opt)
{
	HostTarget t = target_of(all);
	out_puts(o, host_launch);
	for (int i = 0; i < all->n; i++) host_run(o, m, all->p[i].fn, opt, &t);
}
