/* Inside the CUDA target: the C functions that all launchers of a file share. */
#ifndef EMIT_CUDA_START_H
#define EMIT_CUDA_START_H
#include "base/out.h"

typedef struct StartNeeds {     /* of some kernel of the file */
	bool dependent;         /* compiled for an architecture with clusters, whose kernels may begin early */
	bool wide;              /* clusters that not every device runs */
	bool follows;           /* versions whose tile blocks follow each other in a cluster */
	bool blocks;            /* versions that ask how many tile blocks there are */
	bool divides;           /* grids of several axes: ct_divisor */
	bool attributes;        /* start_with_attributes */
	bool beside;            /* tile kernels stand in the file: CT_TILE_LIST names what they serve */
} StartNeeds;

void start_functions(Out *o, const StartNeeds *n);      /* CtKernel, ct_pick, ct_launch ... */
enum { FOLLOW_CODE = 256 };     /* CtKernel.packed of such a version: -(how far apart * 256 + how many at once) */
extern const char start_with_attributes[];              /* ct_start: where a kernel is persistent, dependent or together */
#endif
