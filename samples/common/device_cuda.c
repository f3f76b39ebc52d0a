/*
 * Device memory through the CUDA runtime, for kernels compiled with --target=cuda. Plain C: any C compiler
 * takes it with CUDA's include folder on its path; link with the runtime.
 */
#include "device.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

static void check(cudaError_t e, const char *what)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
		exit(2);
	}
}

void *dev_alloc(size_t bytes)
{
	void *p = NULL;

	check(cudaMalloc(&p, bytes ? bytes : 1), "cannot allocate device memory");
#ifndef DEV_NO_FILL	/* a tool that looks for reads of unwritten memory must see it unwritten */
	check(cudaMemset(p, 0xa5, bytes ? bytes : 1), "cannot fill device memory");
#endif
	return p;
}

void dev_free(void *memory)
{
	check(cudaFree(memory), "cannot free device memory");
}

void dev_upload(void *device, const void *host, size_t bytes)
{
	check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "cannot copy to the device");
}

void dev_download(void *host, const void *device, size_t bytes)
{
	check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "cannot copy from the device");
}

void dev_sync(void)
{
	check(cudaDeviceSynchronize(), "a kernel failed");
}

const char *dev_name(void)
{
	static struct cudaDeviceProp prop;
	int dev = 0;

	check(cudaGetDevice(&dev), "no CUDA device");
	check(cudaGetDeviceProperties(&prop, dev), "no CUDA device");
	return prop.name;
}
