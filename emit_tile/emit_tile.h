/* The CUDA Tile C++ target: TYPED IR as tile kernels over cuda::tiles, and the launchers that all targets share. */
#ifndef EMIT_TILE_EMIT_TILE_H
#define EMIT_TILE_EMIT_TILE_H
#include "emit/emit.h"

/* Appends a whole .cu file. m: TYPED, after the shared passes. What the target cannot express
 * is reported where it stands. */
void emit_tile(Out *o, Module *m, const EmitOptions *opt);
/* log2 of the bytes of a product's accumulator that NVIDIA's compiler keeps in registers; 0: for these architectures it
 * keeps any. */
int tile_accumulator(const ArchVec *archs);
/* The same kernels for a file of target cuda. */
Beside tile_beside(Module *m, const EmitOptions *opt);
#endif
