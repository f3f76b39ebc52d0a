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
	int slot;               /* its number among the parameters */
} CuTmap;

typedef struct CuTmaps { CuTmap *p; int n, cap; } CuTmaps;      /* a VEC, named for cu.h */

/* The kernel's parameter for this map; equal maps of a version are one, and those of a tensor of versions of which one
 * runs. */
Str cu_tmap(Cu *g, const CuTmap *m);
int tmap_slots(const CuTmaps *maps);    /* how many parameters there are */

extern const char tmap_host[];          /* ct_encode: printed where a kernel has maps */
/* Statements that fill `ct_m<slot>` or return a status, if one of its maps' conditions holds (by map; NULL: always). In
 * scope: what HostTarget.start has. */
void tmap_encode(Out *o, const Fn *fn, const CuTmaps *maps, int slot, const Str *when);
#endif
