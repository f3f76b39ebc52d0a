/* What all launchers of a file share: C functions that choose a kernel for the device and start it. */
#include "emit_cuda/start.h"

static const char host_head[] =
	"/* A version of a kernel on an architecture; where its code is left out, it has room for one thread only. how: a "
	"set of CT_... */\n"
	"typedef struct CtKernel { const void *fn; int arch, only, threads, cluster, packed, shared, how; const char "
	"*name; } CtKernel;\n"
	"enum { CT_DEVICES = 64, CT_PERSISTENT = 1, CT_DEPENDENT = 2, CT_TOGETHER = 4 };\n"
	"\n";

/* What a call starts of a version: tile blocks, threads, thread blocks of a cluster; tile blocks of a thread block. */
static const char host_own_type[] =
	"typedef struct CtOwn { int64_t blocks; int threads, cluster, packed; } CtOwn;\n\n";

/* Asked only where a cluster of more than 8 thread blocks is compiled in. */
static const char host_room[] =
	"/* Whether the device runs a cluster of so many thread blocks, which not every one of the architecture does. */\n"
	"static int ct_has_room(const CtKernel *k)\n"
	"{\n"
	"\tcudaLaunchConfig_t c = {};\n"
	"\tcudaLaunchAttribute a[1] = {};\n"
	"\tint n = 0;\n"
	"\tcudaError_t e = cudaFuncSetAttribute(k->fn, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);\n"
	"\ta[0].id = cudaLaunchAttributeClusterDimension;\n"
	"\ta[0].val.clusterDim.x = (unsigned int)k->cluster;\n"
	"\ta[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;\n"
	"\tc.gridDim = dim3((unsigned int)k->cluster, 1, 1);\n"
	"\tc.blockDim = dim3((unsigned int)k->threads, 1, 1);\n"
	"\tc.dynamicSmemBytes = (size_t)k->shared;\n"
	"\tc.attrs = a;\n"
	"\tc.numAttrs = 1;\n"
	"\tif (e == cudaSuccess) e = cudaOccupancyMaxActiveClusters(&n, k->fn, &c);\n"
	"\tif (e != cudaSuccess) cudaGetLastError();\n"
	"\treturn e == cudaSuccess && n > 0;\n"
	"}\n"
	"\n";

static const char host_usable[] =
	"/* Does the device run it? few, most: of one that has more threads than that. e: another failure. */\n"
	"static int ct_usable(const CtKernel *k, const CtKernel **few, int *most, cudaError_t *e)\n"
	"{\n"
	"\tcudaFuncAttributes a;\n"
	"\t*e = cudaFuncGetAttributes(&a, k->fn);\n"
	"\tif (*e == cudaErrorInvalidDeviceFunction || *e == cudaErrorNoKernelImageForDevice)\n"
	"\t\treturn cudaGetLastError(), *e = cudaSuccess, 0;\n"
	"\tif (*e != cudaSuccess || a.ptxVersion < k->arch) return 0;        /* what is there is code for an older one */\n"
	"\tif (a.maxThreadsPerBlock < k->threads && !*few) *few = k, *most = a.maxThreadsPerBlock;\n"
	"\tif (a.maxThreadsPerBlock < k->threads) return 0;\n";
static const char host_more_shared[] =
	"\tif (k->shared > 48 * 1024) *e = cudaFuncSetAttribute(k->fn, "
	"cudaFuncAttributeMaxDynamicSharedMemorySize, k->shared);\n";
static const char host_asks_room[] = "\tif (*e == cudaSuccess && k->cluster > 8 && !ct_has_room(k)) return 0;\n";
static const char host_usable_end[] = "\treturn *e == cudaSuccess;\n}\n\n";

static const char host_find[] =
	"/* Versions that the device runs, of the newest architecture of which it runs the last, which serves all calls: "
	"the number of the first\n"
	" * in the high half, a bit for each from there on in the low half; 0: *status says why. */\n"
	"static unsigned long long ct_find(const char *name, int device, const CtKernel *k, int n, int *status)\n"
	"{\n"
	"\tint major = 0, minor = 0, most = 0, end = n;\n"
	"\tconst CtKernel *few = NULL;\n"
	"\tcudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);\n"
	"\tcudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);\n"
	"\tunsigned long long runs = 0;\n"
	"\tfor (int i = n - 1; i >= 0; i--) {\n"
	"\t\tif (k[i].only ? k[i].arch == 10 * major + minor : k[i].arch <= 10 * major + minor) {\n"
	"\t\t\tcudaError_t e;\n"
	"\t\t\truns = runs << 1 | (unsigned long long)ct_usable(&k[i], &few, &most, &e);\n"
	"\t\t\tif (e != cudaSuccess) return *status = ct_fail(CTILE_CUDA, \"%s: %s\", name, cudaGetErrorString(e)), 0;\n"
	"\t\t}\n"
	"\t\tif (i && !strcmp(k[i - 1].name, k[i].name)) continue;\n"
	"\t\tif (runs >> (end - 1 - i)) return (unsigned long long)i << 32 | runs;\n"
	"\t\truns = 0, end = i;\n"
	"\t}\n"
	"\tif (few)\n"
	"\t\treturn *status = ct_fail(CTILE_CUDA, \"%s: the kernel for sm_%d%d has %d threads a thread block, and the "
	"device runs at most %d of it\",\n"
	"\t\t\tname, major, minor, few->threads, most), 0;\n"
	"\treturn *status = ct_fail(CTILE_ARCH, \"%s: the device is sm_%d%d, compiled in is code for ";

static const char host_pick[] =
	"}\n"
	"\n"
	"/* Moves k to the first version that the current device runs and whose guard holds (fits; NULL: all do). runs: "
	"what was found for each\n"
	" * device; writing it twice writes the same. */\n"
	"static int ct_pick(const char *name, volatile unsigned long long *runs, const CtKernel **k, const char *fits, "
	"int n, int *device)\n"
	"{\n"
	"\tint status = CTILE_OK;\n"
	"\tconst cudaError_t e = cudaGetDevice(device);\n"
	"\tif (e != cudaSuccess) return ct_fail(CTILE_CUDA, \"%s: %s\", name, cudaGetErrorString(e));\n"
	"\tunsigned long long found = *device < CT_DEVICES ? runs[*device] : 0;\n"
	"\tif (!found && !(found = ct_find(name, *device, *k, n, &status))) return status;\n"
	"\tif (*device < CT_DEVICES) runs[*device] = found;\n"
	"\tfor (int i = (int)(found >> 32); (unsigned int)found; found = (found & 0xffffffffu) >> 1, i++)\n"
	"\t\tif (found & 1 && (!fits || fits[i])) return *k += i, CTILE_OK;\n"
	"\treturn ct_fail(CTILE_CUDA, \"%s: the device runs no version of the kernel that serves this call\", name);\n"
	"}\n"
	"\n";

static const char host_launch[] =
	"CT_HELPER int ct_launch(const char *name, volatile unsigned long long *runs, const CtKernel *k, const char *fits, "
	"int n, int64_t blocks,\n"
	"\t";
static const char host_launch_persistent[] =
	"/* most: how many clusters of a version run at once on each device; writing it twice writes the same. */\n"
	"CT_HELPER int ct_launch(const char *name, volatile unsigned long long *runs, volatile int *most, const CtKernel "
	"*k, const char *fits, int n,\n"
	"\tint64_t blocks, ";
static const char host_own[] = "const CtOwn *own, ";
static const char host_launch_args[] = "void **args, struct CUstream_st *stream)\n{\n";
static const char host_first[] = "\tconst CtKernel *const first = k;\n";
static const char host_taken[] =
	"\tint device = 0, status = ct_pick(name, runs, &k, fits, n, &device);\n"
	"\tif (status) return status;\n";
static const char host_own_blocks[] =
	"\tif (own) blocks = own[k - first].blocks;\n"
	"\tif (!blocks) return CTILE_OK;        /* a grid of the version's own: there is nothing to store */\n";
static const char host_prepared[] =
	"\tcudaError_t e = cudaSuccess;\n"
	"\tcudaLaunchConfig_t c = {};\n"
	"\tcudaLaunchAttribute a[3] = {};\n";
static const char host_sizes_of_table[] = "\tint threads = k->threads, cluster = k->cluster, shared = k->shared;\n";
static const char host_sizes_of_own[] =
	"\tint threads = own ? own[k - first].threads : k->threads, cluster = own ? own[k - first].cluster : k->cluster, "
	"shared = k->shared;\n";

/* Thread blocks of clusters stay what they are. */
static const char host_packed[] = "\tint packed = k->packed;\n";
static const char host_packed_own[] =
	"\tint packed = own ? own[k - first].packed : k->packed;\n"
	"\tif (packed > k->packed) shared *= packed;        /* that of one */\n";
static const char host_spread[] =
	"\tfor (; cluster == 1 && packed > 1 && threads > 32 && blocks < 512ll * packed; packed /= 2) threads "
	"/= 2, shared /= 2;        /* few: on all multiprocessors */\n";
static const char host_blocks[] = "\tblocks = (blocks + packed - 1) / packed;\n";
static const char host_least[] =
	"/* Tile blocks from which a version for many of them runs; tests ask for fewer. */\n"
	"#ifndef CT_LEAST\n#define CT_LEAST(n) (n)\n#endif\n\n";

static const char host_config[] =
	"\tc.blockDim = dim3((unsigned int)threads, 1, 1), c.dynamicSmemBytes = (size_t)shared;\n"
	"\tc.stream = stream, c.attrs = a;\n";
/* Also one of one thread block, where others of the kernel have more: st.async is an illegal
 * instruction without a cluster. */
static const char host_cluster[] =
	"\tif (k->cluster > 1) {\n"
	"\t\ta[c.numAttrs].id = cudaLaunchAttributeClusterDimension;\n"
	"\t\ta[c.numAttrs].val.clusterDim.x = (unsigned int)cluster;\n"
	"\t\ta[c.numAttrs].val.clusterDim.y = a[c.numAttrs].val.clusterDim.z = 1;\n"
	"\t\tc.numAttrs++;\n"
	"\t}\n";
static const char host_persistent[] =
	"\tif (k->how & CT_PERSISTENT) {        /* as many thread blocks as run at once walk over the tile blocks */\n"
	"\t\tint sms = 1, fit = 0;\n"
	"\t\tmost += (k - first) * CT_DEVICES;\n"
	"\t\tif (device < CT_DEVICES) fit = most[device];\n"
	"\t\tc.gridDim = dim3((unsigned int)cluster, 1, 1);\n"
	"\t\tif (!fit && cluster > 1) {\n"
	"\t\t\te = cudaOccupancyMaxActiveClusters(&fit, k->fn, &c);\n"
	"\t\t} else if (!fit) {\n"
	"\t\t\te = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, k->fn, threads, (size_t)shared);\n"
	"\t\t\tif (e == cudaSuccess) e = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);\n"
	"\t\t\tfit *= sms;\n"
	"\t\t}\n"
	"\t\tif (e != cudaSuccess) return ct_fail(CTILE_CUDA, \"%s: %s\", name, cudaGetErrorString(e));\n"
	"\t\tif (fit < 1) return ct_fail(CTILE_CUDA, \"%s: the device has no room for one cluster of %d thread "
	"blocks\", name, cluster);\n"
	"\t\tif (device < CT_DEVICES) most[device] = fit;\n"
	"\t\tif (blocks > fit) blocks = fit;\n"
	"\t}\n";
/* Below sm_90 kernels begin when the one before them has ended. */
static const char host_dependent[] =
	"#if CUDART_VERSION >= 12030    /* from which on graphs capture it */\n"
	"\tif (k->how & CT_DEPENDENT) {         /* it may begin while the kernel before it ends, and waits for that itself "
	"(ct_grid_wait) */\n"
	"\t\ta[c.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;\n"
	"\t\ta[c.numAttrs++].val.programmaticStreamSerializationAllowed = 1;\n"
	"\t}\n"
	"#endif\n";
static const char host_together[] =
	"\tif (k->how & CT_TOGETHER) {          /* its thread blocks wait for each other */\n"
	"\t\ta[c.numAttrs].id = cudaLaunchAttributeCooperative;\n"
	"\t\ta[c.numAttrs++].val.cooperative = 1;\n"
	"\t}\n";
static const char host_launched[] =
	"\tc.gridDim = dim3((unsigned int)(blocks * cluster), 1, 1);\n"
	"\te = blocks < (1ll << 31) / cluster ? cudaLaunchKernelExC(&c, k->fn, args) : cudaErrorInvalidConfiguration;\n"
	"\treturn e == cudaSuccess ? CTILE_OK : ct_fail(CTILE_CUDA, \"%s: %s\", name, cudaGetErrorString(e));\n"
	"}\n"
	"\n";

static const char host_divisor[] =
	"/* What ct_div takes to divide numbers below 2^31 by d, 1 to 2^31: m in the low half, s in the high one, where "
	"2^(s - 31) >= d and\n"
	" * m = (2^s + e) / d with 0 <= e < d. Then n * m / 2^s = n / d + n * e / (d * 2^s), and the second part "
	"is below 1 / d. */\n"
	"CT_HELPER unsigned long long ct_divisor(unsigned int d)\n"
	"{\n"
	"\tint s = 31;\n"
	"\tif (!d) return 0;       /* of a grid without tile blocks */\n"
	"\twhile (1ull << (s - 31) < d) s++;\n"
	"\treturn ((1ull << s) + d - 1) / d | (unsigned long long)s << 32;\n"
	"}\n"
	"\n";

static void print_choice(Out *o, const StartNeeds *n)
{
	out_puts(o, host_usable);
	if (n->shared) out_puts(o, host_more_shared);
	if (n->wide) out_puts(o, host_asks_room);
	out_puts(o, host_usable_end);
	out_puts(o, host_find);
	out_printf(o, "%s%s\", name, major, minor%s), 0;\n", n->archs, n->beside ? "%s" : "",
		n->beside ? ", CT_TILE_LIST" : "");
	out_puts(o, host_pick);
}

static void print_start(Out *o, const StartNeeds *n)
{
	out_puts(o, n->persistent ? host_launch_persistent : host_launch);
	if (n->own) out_puts(o, host_own);
	out_puts(o, host_launch_args);
	if (n->persistent || n->own) out_puts(o, host_first);
	out_puts(o, host_taken);
	if (n->own) out_puts(o, host_own_blocks);
	out_puts(o, host_prepared);
	out_puts(o, n->own ? host_sizes_of_own : host_sizes_of_table);
	if (n->packed) out_puts(o, n->own ? host_packed_own : host_packed);
	if (n->packed) out_puts(o, host_spread);
	if (n->packed) out_puts(o, host_blocks);
	out_puts(o, host_config);
	if (n->cluster) out_puts(o, host_cluster);
	if (n->persistent) out_puts(o, host_persistent);
	if (n->dependent) out_puts(o, host_dependent);
	if (n->together) out_puts(o, host_together);
	out_puts(o, host_launched);
}

void start_functions(Out *o, const StartNeeds *n)
{
	out_puts(o, host_head);
	if (n->own) out_puts(o, host_own_type);
	if (n->blocks) out_puts(o, host_least);
	if (n->wide) out_puts(o, host_room);
	print_choice(o, n);
	print_start(o, n);
	if (n->divides) out_puts(o, host_divisor);
}
