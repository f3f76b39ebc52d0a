/* What the launchers of every GPU target ask of the device, through CUDA's runtime: C functions of emitted text. */
#include "emit/device.h"

const char device_on_arch[] =
	"/* Whether the current device is of this architecture: for the lines of tune files. */\n"
	"CT_HELPER int ct_on_arch(int arch)\n"
	"{\n"
	"\tint device = 0, major = 0, minor = 0;\n"
	"\tif (cudaGetDevice(&device) != cudaSuccess) return 0;\n"
	"\tcudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);\n"
	"\tcudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);\n"
	"\treturn arch == 10 * major + minor;\n"
	"}\n"
	"\n";

const char device_multiprocessors[] =
	"CT_HELPER int64_t ct_multiprocessors(void)\n"
	"{\n"
	"\tint device = 0, n = 0;\n"
	"\tif (cudaGetDevice(&device) != cudaSuccess) return 1;\n"
	"\treturn cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device) == cudaSuccess && n > 0 ? n : 1;\n"
	"}\n"
	"\n";

const char device_clear[] =
	"static int ct_clear(const char *entry, void *p, int64_t bytes, struct CUstream_st *stream)\n"
	"{\n"
	"\tconst cudaError_t e = bytes > 0 ? cudaMemsetAsync(p, 0, (size_t)bytes, stream) : cudaSuccess;\n"
	"\treturn e == cudaSuccess ? CTILE_OK : ct_fail(CTILE_CUDA, \"%s: %s\", entry, cudaGetErrorString(e));\n"
	"}\n\n";
