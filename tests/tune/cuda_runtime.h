/* As much of CUDA's runtime as the program of `ctilec tune` calls, on the host: memory is memory, and an event is the number of calls. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef int cudaError_t;
enum { cudaSuccess = 0, cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
typedef struct cudaDeviceProp { int major, minor; char name[64]; } cudaDeviceProp;
typedef double *cudaEvent_t;
extern "C" double fake_clock;           /* which candidates wind */
inline const char *cudaGetErrorString(cudaError_t e) { return e ? "no CUDA-capable device is detected" : "success"; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int) { p->major = 9, p->minor = 0; strcpy(p->name, "Fake GPU"); return getenv("FAKE_NO_GPU") ? 100 : 0; }
inline cudaError_t cudaMalloc(void **p, size_t n) { return !(*p = malloc(n)); }
inline cudaError_t cudaMemset(void *p, int v, size_t n) { memset(p, v, n); return 0; }
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t n, int) { memcpy(to, from, n); return 0; }
inline cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) { *free_bytes = *total = (size_t)1 << 28; return 0; }
inline cudaError_t cudaDeviceSynchronize() { return 0; }
inline cudaError_t cudaEventCreate(cudaEvent_t *e) { *e = (double *)calloc(1, sizeof(double)); return 0; }
inline cudaError_t cudaEventRecord(cudaEvent_t e, int) { *e = fake_clock; return 0; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return 0; }
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b) { *ms = (float)(*b - *a); return 0; }
