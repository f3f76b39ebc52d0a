/* Coordinates of plans that somebody pinned. */
#ifndef LOWER_PINS_H
#define LOWER_PINS_H
#include "lower/lower.h"
#include "plan/plan.h"

enum { PLAN_FREE = -128 };

int plan_pinned(const Fn *fn, Coord c);         /* PLAN_FREE: the compiler chooses */
bool plan_alone(const Fn *fn);          /* no cluster: the plan says none, or how many warps and nothing of clusters */
bool plan_pins_grid(const Fn *fn);              /* does it join or divide tile blocks, which has not been done yet? */
void plan_pin(Fn *fn, uint32_t id, Span at);
/* Reports that the kernel cannot have what its plan pins. */
void plan_refuse(const Fn *fn, Coord c, int need, PlanRange have);
/* Kernels of their own for rules of tuning lists that pin a plan. */
void lower_pins(Module *m);
/* collapse.c: nests of loops over axes that follow each other in memory, as one. */
void lower_collapse(Module *m);
/* single_trip.c: adds to launches the variants for rows that one tile holds, in which loops have one iteration. */
void lower_single_trips(Module *m);
/* single_tile.c: those of a kernel whose tiles lie side by side along a row, with a tile block for each row, the one
 * for the shortest rows first; false: it has none. */
bool single_tile(Fn *fn, FnVec *to);
/* variants.c: a copy, NAME_suffix, for rows of 1 to `tile` elements; one more condition of its launch. */
Fn *variant_of_rows(Fn *fn, const char *suffix, const Sym *length, int64_t tile);
void variant_asks(Fn *fn, const Sym *cond);
/* Tile blocks of one row each along an axis of the grid; false: rows need each other (divide_rows.c). */
bool divide_rows(Fn *fn, int axis);
/* log2 of the rows of a tile that are reduced, and alone have as many lanes as they need; 0: none.
 * And the kernel of these, along the first axis that has some; false: it stays. */
int rows_apart(Fn *fn, int axis);
bool divide_into_rows(Fn *fn);
/* Variants for tensors much shorter than the tiles that hold whole axes of them (short_axes.c). */
void short_axes(Fn *fn, FnVec *to);
#endif
