/* Inside the CUDA target: the C functions that all launchers of a file share. */
#ifndef EMIT_CUDA_START_H
#define EMIT_CUDA_START_H
#include "base/out.h"

typedef struct StartNeeds {     /* of some kernel of the file */
	bool dependent;         /* kernels that may begin early */
	bool persistent, together;      /* thread blocks that walk over the tile blocks; that wait for each other */
	bool cluster;           /* clusters of several thread blocks */
	bool packed;            /* several tile blocks a thread block */
	bool shared;            /* more shared memory than a kernel has without asking for it */
	bool wide;              /* clusters that not every device runs */
	bool blocks;            /* versions that ask how many tile blocks there are */
	bool own;               /* calls start versions in other numbers than the table says, or with a grid of their own */
	bool divides;           /* grids of several axes: ct_divisor */
	Str archs;              /* for which there is code: "sm_80, sm_90a" */
	bool beside;            /* tile kernels stand in the file: CT_TILE_LIST names what they serve */
} StartNeeds;

void start_functions(Out *o, const StartNeeds *n);      /* CtKernel, ct_launch ... */
enum { HOW_PERSISTENT = 1, HOW_DEPENDENT = 2, HOW_TOGETHER = 4 };       /* CtKernel.how */
#endif
