/* All functions that emitted CUDA calls: the rows of prelude.def, then those of device.def. */
#ifndef EMIT_CUDA_DEVICE_H
#define EMIT_CUDA_DEVICE_H
#include "emit/snippet.h"

extern const SnipTable cuda_device;
#endif
