/*
 * The few calls a sample needs to own memory where its kernels run. One header, two implementations:
 * device_host.c (malloc and memcpy, for kernels compiled with --target=c) and device_cuda.c (the CUDA
 * runtime). The same main.c is linked with one or the other. A failing call prints a plain sentence and
 * ends the program with status 2: a sample has nothing to repair.
 */
#ifndef SAMPLES_COMMON_DEVICE_H
#define SAMPLES_COMMON_DEVICE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of at least one byte, aligned to 256 bytes; its contents are unspecified. */
void *dev_alloc(size_t bytes);
void dev_free(void *memory);

void dev_upload(void *device, const void *host, size_t bytes);
/* Waits for the kernels launched before. */
void dev_download(void *host, const void *device, size_t bytes);
void dev_sync(void);

/* "the CPU" or the name of the GPU. */
const char *dev_name(void);

#ifdef __cplusplus
}
#endif
#endif
