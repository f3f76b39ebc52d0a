/* Tensor maps: what a kernel's bulk tensor copies read of a tensor, and how the launcher makes it.
 *
 * A map is a parameter `const __grid_constant__ ct_tensor_map ct_m0` of the kernel, 128 bytes that the driver fills
 * (CUDA driver API, cuTensorMapEncodeTiled). ct_tensor_map has the size and alignment of CUtensorMap, so that emitted
 * text needs neither cuda.h nor the driver's library: the launcher asks the runtime for the function. */
#ifndef EMIT_CUDA_TMAP_H
#define EMIT_CUDA_TMAP_H
#include "emit_cuda/cu.h"
#include "layout/tma.h"

typedef struct CuTmap {
	int param;              /* of the kernel: its pointer */
	int rank;
	const Sym *extent[TMA_RANK];    /* innermost first, as everything here */
	const Sym *stride[TMA_RANK];    /* in elements; the first is 1 */
	TmaBox box;
	const Sym *guard, *time;        /* of the version that has it: other calls need no map */
} CuTmap;

typedef struct CuTmaps { CuTmap *p; int n, cap; } CuTmaps;      /* a VEC, named for cu.h */

/* The kernel's parameter for this map; equal maps are one. */
Str cu_tmap(Cu *g, const CuTmap *m);

extern const char tmap_host[];          /* ct_encode: printed where a kernel has maps */
/* Statements that fill `ct_m<i>` or return a status, if a condition holds (NULL: always). In scope: what
 * HostTarget.start has. */
void tmap_encode(Out *o, const Fn *fn, const CuTmap *m, int i, Str when);
#endif
