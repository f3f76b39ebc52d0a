/* The CUDA target: PLACED IR as plain CUDA C for nvcc 12 and newer, NVRTC and clang; one kernel for each architecture. */
#ifndef EMIT_CUDA_EMIT_CUDA_H
#define EMIT_CUDA_EMIT_CUDA_H
#include "emit/emit.h"

/* Appends a whole .cu file. The versions of m are for opt->archs. beside: the tile kernels for opt->tile_archs, or NULL. */
void emit_cuda(Out *o, const Module *m, const EmitOptions *opt, const Beside *beside);
/* For people: how each kernel uses threads, registers and memory, and why. */
void cuda_schedule(Out *o, const Module *m, const EmitOptions *opt);
#endif
