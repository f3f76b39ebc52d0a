/* Inside the CUDA target: tile kernels in the same file, which serve some architectures (--tile-arch). */
#ifndef EMIT_CUDA_BESIDE_H
#define EMIT_CUDA_BESIDE_H
#include "emit/emit.h"

/* CT_TILES: nvcc compiles tile kernels; CT_TILED: and they serve this pass */
void beside_macros(Out *o, const EmitOptions *opt);
void beside_print(Out *o, const Beside *b, void (*print)(Out *o, void *part));
/* ct_on_tiles and the runners, after what they call; b: what beside_instead prints for, or NULL. */
void beside_host(Out *o, const Beside *b);
void beside_instead(Out *o, const Fn *fn);
#endif
