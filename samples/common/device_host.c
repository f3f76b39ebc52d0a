/*
 * Device memory for kernels compiled with --target=c: the host's own. C11 only.
 */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *dev_alloc(size_t bytes)
{
	size_t whole = (bytes / 256 + 1) * 256;	/* aligned_alloc wants a multiple of the alignment */
	void *p = aligned_alloc(256, whole);

	if (!p) {
		fprintf(stderr, "cannot allocate %zu bytes\n", bytes);
		exit(2);
	}
	memset(p, 0xa5, whole);	/* so that an element no kernel wrote is noticed */
	return p;
}

void dev_free(void *memory)
{
	free(memory);
}

void dev_upload(void *device, const void *host, size_t bytes)
{
	if (bytes)
		memcpy(device, host, bytes);
}

void dev_download(void *host, const void *device, size_t bytes)
{
	if (bytes)
		memcpy(host, device, bytes);
}

void dev_sync(void)
{
}

const char *dev_name(void)
{
	return "the CPU";
}
