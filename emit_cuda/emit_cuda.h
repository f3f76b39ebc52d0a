/* The CUDA target: PLACED IR as plain CUDA C for nvcc 12 and newer, NVRTC and clang;
 * one kernel for each architecture. */
#ifndef EMIT_CUDA_EMIT_CUDA_H
#define EMIT_CUDA_EMIT_CUDA_H
#include "emit/emit.h"

/* Who adds the versions of kernel i to m before they are printed, and may then free the
 * operations of those before it. */
/* false: errors were reported */
typedef struct Placer { bool (*next)(void *ctx, Module *m, int i); void *ctx; } Placer;

/* Appends a whole .cu file. The versions of m are for opt->archs. beside: the tile kernels for opt->tile_archs, or
 * NULL; placer: NULL where m has all its versions. */
void emit_cuda(Out *o, Module *m, const EmitOptions *opt, const Beside *beside, const Placer *placer);
/* For people: how each kernel uses threads, registers and memory, and why. */
void cuda_schedule(Out *o, const Module *m, const EmitOptions *opt);
#endif
