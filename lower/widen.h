/* One tile block for 2^n that lie side by side along an axis of the grid: what widen.c finds
 * out and does for pass coarsen. */
#ifndef LOWER_WIDEN_H
#define LOWER_WIDEN_H
#include "ir/ir.h"

/* along[] of values: the same for all tile blocks of a row; a scalar that differs, or a tile computed from such ones,
 * which has no axis of its own; else the axis along which tiles of neighbours would lie side by side. */
enum { WIDEN_SAME = -1, WIDEN_DIFFERS = TILE_RANK };

typedef struct Widen {
	Fn *fn;
	int axis;               /* of the grid */
	int8_t *along;          /* by Val id */
	bool *looked_up;        /* by Val id: a scalar that depends on what lies in memory at an index that differs */
	int8_t *lifts;          /* by Val id: 1: computed for each of the neighbours, 2: it cannot be; 0: not asked */
	int8_t *parted;         /* by Val id: 1 + the axis of which it has parts, -1: it has none; 0: not asked */
	int depth;              /* of the formula that is followed */
	bool fails;
	bool changed;           /* something was marked; */
	bool again;             /* what a loop carries, which was visited before */
	bool places;            /* values may be computed for each of the neighbours */
	const Sym *end;         /* the grid's extent along the axis, */
	int parts;              /* and log2 of the parts of each tile that are counted there */
} Widen;

/* Can tile blocks along the axis be made one? Numbers fn. */
bool widen_plan(Widen *w, Fn *fn, int axis);
/* The same, where what is computed from the tile block's index may become a tile of what each of the neighbours has,
 * and rows of a tensor that indices in memory name may be gathered: those of neighbours lie anywhere. */
bool widen_plan_places(Widen *w, Fn *fn, int axis);
/* The axis of the tensor along which an access's tiles of neighbours lie side by side; -1: they are the same tile. */
int widen_access(const Widen *w, const Op *op);
/* The kernel for 2^log2 of them; after widen_plan. */
void widen_do(Widen *w, int log2);
/* The other way: can, after widen_plan, a tile block be made 2^log2, each with a part of its tiles?
 * And the kernel for that. */
bool widen_parts(Widen *w, int log2);
void widen_divide(Widen *w, int log2);
/* of a grid's axis, of which `blocks` blocks become one */
const Sym *widen_grid(const Sym *extent, int64_t blocks);
#endif
