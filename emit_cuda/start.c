/* What all launchers of a file share: C functions that choose a kernel for the device and start it. */
#include "emit_cuda/start.h"

static const char host_head[] =
	"/* A kernel is compiled for each architecture of the list; where its text is left out, it has room for one thread only. */\n"
	"typedef struct CtKernel { const void *fn; int arch, only, threads, cluster, packed, shared; const char *name; } CtKernel;\n"
	"#define CT_DEVICES 64\n"
	"\n";

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
static const char host_asks_room[] = "\t\tif (e == cudaSuccess && k[i].cluster > 8 && !ct_has_room(&k[i])) continue;\n";

static const char host_choose[] =
	"/* The number, from 1, of the newest kernel that the device runs; minus a status where there is none. */\n"
	"static int ct_choose(const char *name, int device, const CtKernel *k, int n)\n"
	"{\n"
	"\tint major = 0, minor = 0, at = 0, few = 0, most = 0;\n"
	"\tchar list[160] = \"\";\n"
	"\tcudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);\n"
	"\tcudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);\n"
	"\tfor (int i = n - 1; i >= 0; i--) {\n"
	"\t\tcudaFuncAttributes a;\n"
	"\t\tcudaError_t e;\n"
	"\t\tif (k[i].only ? k[i].arch != 10 * major + minor : k[i].arch > 10 * major + minor) continue;\n"
	"\t\te = cudaFuncGetAttributes(&a, k[i].fn);\n"
	"\t\tif (e == cudaErrorInvalidDeviceFunction || e == cudaErrorNoKernelImageForDevice) {\n"
	"\t\t\tcudaGetLastError();\n"
	"\t\t\tcontinue;\n"
	"\t\t}\n"
	"\t\tif (e == cudaSuccess && a.maxThreadsPerBlock < k[i].threads) {\n"
	"\t\t\tif (!few) few = k[i].threads, most = a.maxThreadsPerBlock;\n"
	"\t\t\tcontinue;\n"
	"\t\t}\n"
	"\t\tif (e == cudaSuccess && k[i].shared > 48 * 1024)\n"
	"\t\t\te = cudaFuncSetAttribute(k[i].fn, cudaFuncAttributeMaxDynamicSharedMemorySize, k[i].shared);\n";

static const char host_chosen[] =
	"\t\tif (e != cudaSuccess) return -ct_fail(CTILE_CUDA, \"%s: %s\", name, cudaGetErrorString(e));\n"
	"\t\treturn i + 1;\n"
	"\t}\n"
	"\tif (few) return -ct_fail(CTILE_CUDA, \"%s: the kernel for sm_%d%d has %d threads a thread block, and the device runs at most %d of it\", name, major, minor, few, most);\n"
	"\tfor (int i = 0; i < n && at < 140; i++) at += snprintf(list + at, sizeof list - (size_t)at, \"%s%s\", i ? \", \" : \"\", k[i].name);\n";
static const char host_no_arch[] =
	"\treturn -ct_fail(CTILE_ARCH, \"%s: the device is sm_%d%d, compiled in is code for %s\", name, major, minor, list);\n";
static const char host_no_arch_beside[] =
	"\treturn -ct_fail(CTILE_ARCH, \"%s: the device is sm_%d%d, compiled in is code for %s%s\", name, major, minor, list, CT_TILE_LIST);\n";

static const char host_launch[] =
	"}\n"
	"\n"
	"/* The kernel for the current device. pick: what was chosen for each; writing it twice writes the same. */\n"
	"static int ct_pick(const char *name, volatile signed char *pick, const CtKernel **k, int n, int *device)\n"
	"{\n"
	"\tint which;\n"
	"\tcudaError_t e = cudaGetDevice(device);\n"
	"\tif (e != cudaSuccess) return ct_fail(CTILE_CUDA, \"%s: %s\", name, cudaGetErrorString(e));\n"
	"\twhich = *device < CT_DEVICES ? pick[*device] : 0;\n"
	"\tif (!which) {\n"
	"\t\twhich = ct_choose(name, *device, *k, n);\n"
	"\t\tif (which < 0) return -which;\n"
	"\t\tif (*device < CT_DEVICES) pick[*device] = (signed char)which;\n"
	"\t}\n"
	"\t*k += which - 1;\n"
	"\treturn CTILE_OK;\n"
	"}\n"
	"\n"
	"CT_HELPER int ct_launch(const char *name, volatile signed char *pick, const CtKernel *k, int n, int64_t blocks, void **args,\n"
	"\tstruct CUstream_st *stream)\n"
	"{\n"
	"\tint device = 0, status = ct_pick(name, pick, &k, n, &device);\n"
	"\tcudaError_t e;\n"
	"\tif (status) return status;\n"
	"\tint threads = k->threads, packed = k->packed, shared = k->shared;\n"
	"\t/* few tile blocks are spread over more thread blocks, so that all multiprocessors take part */\n";

static const char host_spread[] = "\tfor (; packed > 1 && threads > 32 && blocks < 512ll * packed; packed /= 2) threads /= 2, shared /= 2;\n";

/* Where tile blocks are paired, too: thread blocks of clusters stay what they are. */
static const char host_spread_alone[] =
	"\tfor (; k->cluster == 1 && packed > 1 && threads > 32 && blocks < 512ll * packed; packed /= 2) threads /= 2, shared /= 2;\n";
static const char host_least[] =
	"#ifndef CT_PAIRS\n#define CT_PAIRS 256        /* tile blocks from which two at once, thread blocks from which large ones leave no multiprocessor idle */\n#endif\n\n";

static const char host_blocks[] = "\tblocks = (blocks + packed - 1) / packed;\n";
static const char host_blocks_twin[] =
	"\tif (packed < 0) blocks = (blocks - packed - 1) / -packed * (-packed / 2);      /* of so many, half have one behind them each */\n"
	"\telse blocks = (blocks + packed - 1) / packed;\n";

/* Where tile blocks follow each other in a cluster: as ct_follow counts them. */
static const char host_blocks_follow[] =
	"\tif (packed < -256) {\n"
	"\t\tconst int apart = -packed / 256, at_once = -packed % 256;\n"
	"\t\tint64_t left = blocks;\n"
	"\t\tfor (blocks = 0; left >= 2 * apart; blocks += apart) left -= left / (2 * apart) * apart;\n"
	"\t\tblocks = (blocks + left / apart * apart) / at_once + (left % apart < apart / at_once ? left % apart : apart / at_once);\n"
	"\t} else ";

/* Below sm_90 there are no clusters, and kernels begin when the one before them has ended. */
static const char host_start_plain[] =
	"\te = cudaLaunchKernel(k->fn, dim3((unsigned int)blocks, 1, 1), dim3((unsigned int)threads, 1, 1), args, (size_t)shared, stream);\n";

static const char host_start[] =
	"\tif (k->arch < 90) {\n"
	"\t\te = cudaLaunchKernel(k->fn, dim3((unsigned int)blocks, 1, 1), dim3((unsigned int)threads, 1, 1), args, (size_t)shared, stream);\n"
	"\t} else {\n"
	"\t\tcudaLaunchConfig_t c = {};\n"
	"\t\tcudaLaunchAttribute a[2] = {};\n"
	"\t\tc.gridDim = dim3((unsigned int)(blocks * k->cluster), 1, 1);\n"
	"\t\tc.blockDim = dim3((unsigned int)threads, 1, 1);\n"
	"\t\tc.dynamicSmemBytes = (size_t)shared;\n"
	"\t\tc.stream = stream;\n"
	"\t\tc.attrs = a;\n"
	"\t\tif (k->cluster > 1) {\n"
	"\t\t\ta[c.numAttrs].id = cudaLaunchAttributeClusterDimension;\n"
	"\t\t\ta[c.numAttrs].val.clusterDim.x = (unsigned int)k->cluster;\n"
	"\t\t\ta[c.numAttrs].val.clusterDim.y = a[c.numAttrs].val.clusterDim.z = 1;\n"
	"\t\t\tc.numAttrs++;\n"
	"\t\t}\n"
	"#if CUDART_VERSION >= 12030    /* from which on graphs capture it */\n"
	"\t\t/* it may begin while the kernel before it in the stream ends, and waits for that itself (ct_grid_wait) */\n"
	"\t\ta[c.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;\n"
	"\t\ta[c.numAttrs++].val.programmaticStreamSerializationAllowed = 1;\n"
	"#endif\n"
	"\t\te = blocks < (1ll << 31) / k->cluster ? cudaLaunchKernelExC(&c, k->fn, args) : cudaErrorInvalidConfiguration;\n"
	"\t}\n";

static const char host_launched[] =
	"\treturn e == cudaSuccess ? CTILE_OK : ct_fail(CTILE_CUDA, \"%s: %s\", name, cudaGetErrorString(e));\n"
	"}\n"
	"\n";

static const char host_divisor[] =
	"/* What ct_div takes to divide numbers below 2^31 by d, 1 to 2^31: m in the low half, s in the high one, where 2^(s - 31) >= d and\n"
	" * m = (2^s + e) / d with 0 <= e < d. Then n * m / 2^s = n / d + n * e / (d * 2^s), and the second part is below 1 / d. */\n"
	"CT_HELPER unsigned long long ct_divisor(unsigned int d)\n"
	"{\n"
	"\tint s = 31;\n"
	"\twhile (1ull << (s - 31) < d) s++;\n"
	"\treturn ((1ull << s) + d - 1) / d | (unsigned long long)s << 32;\n"
	"}\n"
	"\n";

void start_functions(Out *o, const StartNeeds *n)
{
	out_puts(o, host_head);
	if (n->pairs) out_puts(o, host_least);
	if (n->wide) out_puts(o, host_room);
	out_puts(o, host_choose);
	if (n->wide) out_puts(o, host_asks_room);
	out_puts(o, host_chosen);
	out_puts(o, n->beside ? host_no_arch_beside : host_no_arch);
	out_puts(o, host_launch);
	out_puts(o, n->pairs ? host_spread_alone : host_spread);
	if (n->follows) out_puts(o, host_blocks_follow);
	out_puts(o, (n->twins ? host_blocks_twin : host_blocks) + n->follows);  /* without its tab */
	out_puts(o, n->dependent ? host_start : host_start_plain);
	out_puts(o, host_launched);
	if (n->divides) out_puts(o, host_divisor);
}

const char start_with_attributes[] =
	"/* A launch whose thread blocks walk over the tile blocks (persistent: as many as run at once), or which may begin before the\n"
	" * kernel before it in the stream ends (dependent), or whose thread\n"
	" * blocks wait for each other (together). most: how many clusters of a kernel run at once on each device; writing it\n"
	" * twice writes the same. */\n"
	"typedef struct CtStart { int persistent, dependent, together; } CtStart;\n"
	"\n"
	"CT_HELPER int ct_start(const char *name, volatile signed char *pick, volatile int *most, const CtKernel *kernels,\n"
	"\tconst CtStart *how, int n, int64_t blocks, void **args, struct CUstream_st *stream)\n"
	"{\n"
	"\tconst CtKernel *k = kernels;\n"
	"\tint device = 0, fit = 0, sms = 0;\n"
	"\tint status = ct_pick(name, pick, &k, n, &device);\n"
	"\tcudaLaunchConfig_t c = {};\n"
	"\tcudaLaunchAttribute a[3] = {};\n"
	"\tcudaError_t e = cudaSuccess;\n"
	"\tif (status) return status;\n"
	"\thow += k - kernels;\n"
	"\tmost += (k - kernels) * CT_DEVICES;\n"
	"\tc.gridDim = dim3((unsigned int)k->cluster, 1, 1);\n"
	"\tc.blockDim = dim3((unsigned int)k->threads, 1, 1);\n"
	"\tc.dynamicSmemBytes = (size_t)k->shared;\n"
	"\tc.stream = stream;\n"
	"\tc.attrs = a;\n"
	"\tif (k->cluster > 1) {\n"
	"\t\ta[c.numAttrs].id = cudaLaunchAttributeClusterDimension;\n"
	"\t\ta[c.numAttrs].val.clusterDim.x = (unsigned int)k->cluster;\n"
	"\t\ta[c.numAttrs].val.clusterDim.y = a[c.numAttrs].val.clusterDim.z = 1;\n"
	"\t\tc.numAttrs++;\n"
	"\t}\n"
	"\tif (how->persistent) {\n"
	"\t\tfit = device < CT_DEVICES ? most[device] : 0;\n"
	"\t\tif (!fit && k->cluster > 1) {\n"
	"\t\t\te = cudaOccupancyMaxActiveClusters(&fit, k->fn, &c);\n"
	"\t\t} else if (!fit) {\n"
	"\t\t\te = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, k->fn, k->threads, (size_t)k->shared);\n"
	"\t\t\tif (e == cudaSuccess) e = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);\n"
	"\t\t\tfit *= sms;\n"
	"\t\t}\n"
	"\t\tif (e != cudaSuccess) return ct_fail(CTILE_CUDA, \"%s: %s\", name, cudaGetErrorString(e));\n"
	"\t\tif (fit < 1) return ct_fail(CTILE_CUDA, \"%s: the device has no room for one cluster of %d thread blocks\", name, k->cluster);\n"
	"\t\tif (device < CT_DEVICES) most[device] = fit;\n"
	"\t\tif (blocks > fit) blocks = fit;\n"
	"\t}\n"
	"\tif (how->dependent) {\n"
	"\t\ta[c.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;\n"
	"\t\ta[c.numAttrs].val.programmaticStreamSerializationAllowed = 1;\n"
	"\t\tc.numAttrs++;\n"
	"\t}\n"
	"\tif (how->together) {\n"
	"\t\ta[c.numAttrs].id = cudaLaunchAttributeCooperative;\n"
	"\t\ta[c.numAttrs].val.cooperative = 1;\n"
	"\t\tc.numAttrs++;\n"
	"\t}\n"
	"\tc.gridDim = dim3((unsigned int)(blocks * k->cluster), 1, 1);\n"
	"\te = blocks < (1ll << 31) / k->cluster ? cudaLaunchKernelExC(&c, k->fn, args) : cudaErrorInvalidConfiguration;\n"
	"\treturn e == cudaSuccess ? CTILE_OK : ct_fail(CTILE_CUDA, \"%s: %s\", name, cudaGetErrorString(e));\n"
	"}\n"
	"\n";
