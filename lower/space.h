/* Which plans passes can carry out, and the plans that a search finds for kernels: for --explain-schedule and
 * `ctilec tune`. */
#ifndef LOWER_SPACE_H
#define LOWER_SPACE_H
#include "plan/plan.h"


/* A kernel, as it was before its tile blocks were joined or divided, and its plans for an architecture. */
typedef struct PlannedFn {
	const Fn *fn;
	int arch;
	Skeleton skeleton;
	Calls asked;
	Ranked ranked;
	Cost cost[PLANS_KEPT];  /* of the first call, by rank */
	VEC(Plan) drawn;        /* legal plans, drawn uniformly */
} PlannedFn;

typedef struct Planned Planned;
struct Planned {
	VEC(int) archs;
	const Extents *extents; /* of the call that matters; NULL: those that users may make */
	int drawn;              /* plans to draw of each kernel */
	VEC(PlannedFn) fns;
};

Space space_of(Fn *fn, const Machine *m, const Skeleton *k, const Calls *calls);
PlanRange plan_axis_range(Fn *fn, int axis);    /* TYPED: how many tile blocks along an axis of the grid one can do */
Plan plan_of_placed(const Fn *fn);              /* what passes chose, as a plan */
void plans_check(const Fn *fn, const Fn *placed, int arch);     /* reports where its placement is not what it pins */
void plans_find(Planned *p, Fn *fn, int arch);
#endif
