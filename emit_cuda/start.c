/* What all launchers of a file share: C functions that choose a kernel for the device and start it. */
#include "emit_cuda/start.h"

static const char host_head[] =
	"/* Versions of a kernel by architecture, of each in the order in which they are asked. Where its code is left out, one has room for\n"
	" * one thread only. */\n"
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

static const char host_usable[] =
	"/* Does the device run it? few, most: of one that has more threads than that. e: another failure. */\n"
	"static int ct_usable(const CtKernel *k, const CtKernel **few, int *most, cudaError_t *e)\n"
	"{\n"
	"\tcudaFuncAttributes a;\n"
	"\t*e = cudaFuncGetAttributes(&a, k->fn);\n"
	"\tif (*e == cudaErrorInvalidDeviceFunction || *e == cudaErrorNoKernelImageForDevice) {\n"
	"\t\tcudaGetLastError();\n"
	"\t\t*e = cudaSuccess;\n"
	"\t\treturn 0;\n"
	"\t}\n"
	"\tif (*e == cudaSuccess && a.ptxVersion < k->arch) return 0;        /* what is there is code for an older one */\n"
	"\tif (*e == cudaSuccess && a.maxThreadsPerBlock < k->threads) {\n"
	"\t\tif (!*few) *few = k, *most = a.maxThreadsPerBlock;\n"
	"\t\treturn 0;\n"
	"\t}\n"
	"\tif (*e == cudaSuccess && k->shared > 48 * 1024)\n"
	"\t\t*e = cudaFuncSetAttribute(k->fn, cudaFuncAttributeMaxDynamicSharedMemorySize, k->shared);\n";
static const char host_asks_room[] = "\tif (*e == cudaSuccess && k->cluster > 8 && !ct_has_room(k)) return 0;\n";
static const char host_usable_end[] = "\treturn *e == cudaSuccess;\n}\n\n";

static const char host_find[] =
	"/* Versions that the device runs, of the newest architecture of which it runs the last, which serves all calls: the number of the first\n"
	" * in the high half, a bit for each from there on in the low half; 0: *status says why. */\n"
	"static unsigned long long ct_find(const char *name, int device, const CtKernel *k, int n, int *status)\n"
	"{\n"
	"\tint major = 0, minor = 0, at = 0, most = 0, first;\n"
	"\tchar list[160] = \"\";\n"
	"\tconst CtKernel *few = NULL;\n"
	"\tcudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);\n"
	"\tcudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);\n"
	"\tfor (int end = n; end > 0; end = first) {\n"
	"\t\tunsigned long long runs = 0;\n"
	"\t\tfor (first = end - 1; first > 0 && k[first - 1].arch == k[first].arch && k[first - 1].only == k[first].only; first--) continue;\n"
	"\t\tif (k[first].only ? k[first].arch != 10 * major + minor : k[first].arch > 10 * major + minor) continue;\n"
	"\t\tfor (int i = first; i < end; i++) {\n"
	"\t\t\tcudaError_t e;\n"
	"\t\t\truns |= (unsigned long long)ct_usable(&k[i], &few, &most, &e) << (i - first);\n"
	"\t\t\tif (e != cudaSuccess) return *status = ct_fail(CTILE_CUDA, \"%s: %s\", name, cudaGetErrorString(e)), 0;\n"
	"\t\t}\n"
	"\t\tif (runs >> (end - 1 - first)) return (unsigned long long)first << 32 | runs;\n"
	"\t}\n"
	"\tif (few) return *status = ct_fail(CTILE_CUDA, \"%s: the kernel for sm_%d%d has %d threads a thread block, and the device runs at most %d of it\", name, major, minor, few->threads, most), 0;\n"
	"\tfor (int i = 0; i < n && at < 140; i++)\n"
	"\t\tif (!i || strcmp(k[i].name, k[i - 1].name)) at += snprintf(list + at, sizeof list - (size_t)at, \"%s%s\", i ? \", \" : \"\", k[i].name);\n";
static const char host_no_arch[] =
	"\treturn *status = ct_fail(CTILE_ARCH, \"%s: the device is sm_%d%d, compiled in is code for %s\", name, major, minor, list), 0;\n";
static const char host_no_arch_beside[] =
	"\treturn *status = ct_fail(CTILE_ARCH, \"%s: the device is sm_%d%d, compiled in is code for %s%s\", name, major, minor, list, CT_TILE_LIST), 0;\n";

static const char host_launch[] =
	"}\n"
	"\n"
	"/* The first version that the current device runs and whose guard holds (fits; NULL: all do). runs: what was found for each device;\n"
	" * writing it twice writes the same. */\n"
	"static int ct_pick(const char *name, volatile unsigned long long *runs, const CtKernel **k, const char *fits, int n, int *device)\n"
	"{\n"
	"\tunsigned long long found;\n"
	"\tint status = CTILE_OK;\n"
	"\tcudaError_t e = cudaGetDevice(device);\n"
	"\tif (e != cudaSuccess) return ct_fail(CTILE_CUDA, \"%s: %s\", name, cudaGetErrorString(e));\n"
	"\tfound = *device < CT_DEVICES ? runs[*device] : 0;\n"
	"\tif (!found) found = ct_find(name, *device, *k, n, &status);\n"
	"\tif (found && *device < CT_DEVICES) runs[*device] = found;\n"
	"\tif (!found) return status;\n"
	"\tfor (int i = (int)(found >> 32); (unsigned int)found; found = (found & 0xffffffffu) >> 1, i++)\n"
	"\t\tif (found & 1 && (!fits || fits[i])) {\n"
	"\t\t\t*k += i;\n"
	"\t\t\treturn CTILE_OK;\n"
	"\t\t}\n"
	"\treturn ct_fail(CTILE_CUDA, \"%s: the device runs no version of the kernel that serves this call\", name);\n"
	"}\n"
	"\n"
	"CT_HELPER int ct_launch(const char *name, volatile unsigned long long *runs, const CtKernel *k, const char *fits, int n, int64_t blocks,\n"
	"\tvoid **args, struct CUstream_st *stream)\n"
	"{\n"
	"\tint device = 0, status = ct_pick(name, runs, &k, fits, n, &device);\n"
	"\tcudaError_t e;\n"
	"\tif (status) return status;\n"
	"\tint threads = k->threads, packed = k->packed, shared = k->shared;\n"
	"\t/* few tile blocks are spread over more thread blocks, so that all multiprocessors take part */\n";

/* Thread blocks of clusters stay what they are. */
static const char host_spread[] =
	"\tfor (; k->cluster == 1 && packed > 1 && threads > 32 && blocks < 512ll * packed; packed /= 2) threads /= 2, shared /= 2;\n";
static const char host_least[] =
	"/* Tile blocks from which a version for many of them runs; tests ask for fewer. */\n"
	"#ifndef CT_LEAST\n#define CT_LEAST(n) (n)\n#endif\n\n";

static const char host_blocks[] = "\tblocks = (blocks + packed - 1) / packed;\n";
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
	if (n->blocks) out_puts(o, host_least);
	if (n->wide) out_puts(o, host_room);
	out_puts(o, host_usable);
	if (n->wide) out_puts(o, host_asks_room);
	out_puts(o, host_usable_end);
	out_puts(o, host_find);
	out_puts(o, n->beside ? host_no_arch_beside : host_no_arch);
	out_puts(o, host_launch);
	out_puts(o, host_spread);
	if (n->follows) out_puts(o, host_blocks_follow);
	out_puts(o, host_blocks + n->follows);  /* without its tab */
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
	"CT_HELPER int ct_start(const char *name, volatile unsigned long long *runs, volatile int *most, const CtKernel *kernels,\n"
	"\tconst char *fits, const CtStart *how, int n, int64_t blocks, void **args, struct CUstream_st *stream)\n"
	"{\n"
	"\tconst CtKernel *k = kernels;\n"
	"\tint device = 0, fit = 0, sms = 0;\n"
	"\tint status = ct_pick(name, runs, &k, fits, n, &device);\n"
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
