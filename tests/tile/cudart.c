/* CUDA's runtime in place of a GPU, for mixed.py: a device of CAPABILITY (90, 100 ...), and of each kernel the threads that a block of it
 * may have, as the table IMAGES says: lines `sm_90a _Z8ct_probev 32`, one for each kernel in each piece of machine code. A launch
 * prints the kernel's name, its grid and its block. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_IMAGE = 209, CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };     /* of the runtime's own enumerations */
typedef struct Dim { unsigned int x, y, z; } Dim;
typedef struct Attributes {    /* cudaFuncAttributes, as far as launchers read it */
	size_t shared, constant, local;
	int max_threads, registers, ptx, rest[64];
} Attributes;
typedef struct Config { Dim grid, block; size_t shared; void *stream; void *attrs; unsigned int n; } Config;

static struct { const void *stub; char name[512]; } known[1024];
static int known_n;

static int capability(void) { return atoi(getenv("CAPABILITY")); }

/* Threads of the image that a driver would take, and the architecture of its code: one for the device alone, else the newest of the same generation that is not newer. */
static int threads_of(const char *name, int *arch)
{
	char line[1024], image[64], kernel[512];
	int threads, best = -1, found = -1;
	FILE *f = fopen(getenv("IMAGES"), "r");
	if (!f) abort();
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%63s %511s %d", image, kernel, &threads) != 3) abort();
		const int number = atoi(image + 3), only = image[strlen(image) - 1] == 'a';
		if (strcmp(kernel, name) || number / 10 != capability() / 10 || (only ? number != capability() : number > capability())) continue;
		if (2 * number + only <= best) continue;
		best = 2 * number + only;
		*arch = number;
		found = threads;
	}
	fclose(f);
	return found;
}

static const char *name_of(const void *stub)
{
	for (int i = 0; i < known_n; i++)
		if (known[i].stub == stub) return known[i].name;
	abort();
}

static int launched(const void *stub, Dim grid, Dim block)
{
	const char *name = name_of(stub);
	int arch, threads = threads_of(name, &arch);
	if (threads < 0) return NO_IMAGE;
	if ((int)block.x > threads) return 1;
	printf("%s %u %u\n", name, grid.x, block.x);
	return 0;
}

void **__cudaRegisterFatBinary(void *p);
void __cudaRegisterFatBinaryEnd(void **h);
void __cudaUnregisterFatBinary(void **h);
void __cudaRegisterFunction(void **h, const char *stub, char *in_device, const char *name, int limit, void *a, void *b, void *c, void *d, int *e);
int cudaGetDevice(int *device);
int cudaDeviceGetAttribute(int *value, int which, int device);
int cudaFuncGetAttributes(Attributes *a, const void *stub);
int cudaFuncSetAttribute(const void *stub, int which, int value);
int cudaGetDriverEntryPointByVersion(const char *name, void **f, unsigned int version, unsigned long long flags, int *found);
int cudaOccupancyMaxActiveClusters(int *n, const void *stub, const Config *c);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *stub, int threads, size_t shared);
int cudaGetLastError(void);
const char *cudaGetErrorString(int e);
int cudaLaunchKernel(const void *stub, Dim grid, Dim block, void **args, size_t shared, void *stream);
int cudaLaunchKernelExC(const Config *c, const void *stub, void **args);
unsigned int __cudaPopCallConfiguration(Dim *grid, Dim *block, size_t *shared, void *stream);
int __cudaGetKernel(void **kernel, const void *stub);
int __cudaLaunchKernel(void *kernel, Dim grid, Dim block, void **args, size_t shared, void *stream);
char __cudaInitModule(void **h);

void **__cudaRegisterFatBinary(void *p) { (void)p; static void *handle; return &handle; }
void __cudaRegisterFatBinaryEnd(void **h) { (void)h; }
void __cudaUnregisterFatBinary(void **h) { (void)h; }

void __cudaRegisterFunction(void **h, const char *stub, char *in_device, const char *name, int limit, void *a, void *b, void *c, void *d, int *e)
{
	(void)h, (void)in_device, (void)limit, (void)a, (void)b, (void)c, (void)d, (void)e;
	if (known_n == 1024) abort();
	known[known_n].stub = stub;
	snprintf(known[known_n++].name, sizeof known->name, "%s", name);
}

int cudaGetDevice(int *device) { *device = 0; return 0; }

int cudaDeviceGetAttribute(int *value, int which, int device)
{
	(void)device;
	*value = which == CAPABILITY_MAJOR ? capability() / 10 : which == CAPABILITY_MINOR ? capability() % 10 : 1;
	return 0;
}

int cudaFuncGetAttributes(Attributes *a, const void *stub)
{
	const int threads = threads_of(name_of(stub), &a->ptx);
	if (threads < 0) return NO_IMAGE;
	a->max_threads = threads;
	return 0;
}

int cudaFuncSetAttribute(const void *stub, int which, int value) { (void)stub, (void)which, (void)value; return 0; }
int cudaGetLastError(void) { return 0; }

/* There is no driver to ask: launchers take the versions that need no tensor map. */
int cudaGetDriverEntryPointByVersion(const char *name, void **f, unsigned int version, unsigned long long flags, int *found)
{
	(void)name, (void)version, (void)flags;
	*f = NULL;
	*found = 1;     /* cudaDriverEntryPointSymbolNotFound */
	return 0;
}

int cudaOccupancyMaxActiveClusters(int *n, const void *stub, const Config *c)
{
	(void)stub, (void)c;
	*n = 1;
	return 0;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *stub, int threads, size_t shared)
{
	(void)stub, (void)threads, (void)shared;
	*n = 1;
	return 0;
}
const char *cudaGetErrorString(int e) { return e == NO_IMAGE ? "no kernel image" : "error"; }

int cudaLaunchKernel(const void *stub, Dim grid, Dim block, void **args, size_t shared, void *stream)
{
	(void)args, (void)shared, (void)stream;
	return launched(stub, grid, block);
}

int cudaLaunchKernelExC(const Config *c, const void *stub, void **args) { (void)args; return launched(stub, c->grid, c->block); }

/* of kernels that are started with <<< >>>: no launcher does that */
unsigned int __cudaPopCallConfiguration(Dim *grid, Dim *block, size_t *shared, void *stream) { (void)grid, (void)block, (void)shared, (void)stream; abort(); }
int __cudaGetKernel(void **kernel, const void *stub) { (void)kernel, (void)stub; abort(); }
int __cudaLaunchKernel(void *kernel, Dim grid, Dim block, void **args, size_t shared, void *stream)
{
	(void)kernel, (void)grid, (void)block, (void)args, (void)shared, (void)stream;
	abort();
}

char __cudaInitModule(void **h) { (void)h; abort(); }
