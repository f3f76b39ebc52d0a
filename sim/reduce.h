/* What reductions and scans share: combinations of 32 lanes at once. */
#ifndef SIM_REDUCE_H
#define SIM_REDUCE_H
#include "sim/sim_int.h"

enum { MOST = TILE_RANK };

typedef struct Reduce {
	int n, kind;            /* tiles */
	uint32_t v[LAY_BITS];
	int nv;
	uint32_t kept;          /* the register bits that the result keeps */
	int regs;               /* of the result */
	ElemPlan combine, isnan, eq, better;
	Elem e[MOST];
	int size[MOST];         /* bytes */
} Reduce;

typedef struct Lane32 { Cell c[LANES]; } Lane32;

void reduce_plan_kind(Reduce *p, const Op *op, int kind);
/* a becomes the combination of `first` and `second`, in the lanes where `where` says so (NULL: in all). */
void reduce_combine_lanes(Warp *w, const Step *s, const Reduce *p, Lane32 *a, const Lane32 *first, const Lane32 *second,
	const bool *where);
void reduce_count_shuffles(Warp *w, const Reduce *p);
#endif
